//! Reads marketplace files. An invalid entry does not affect the others.
#![expect(clippy::arithmetic_side_effects, reason = "offsets into a slice in memory cannot overflow")]

use std::collections::{BTreeMap, BTreeSet};

use plugward_types::{Part, Span};

use crate::dialects::Dialect;
use crate::dialects::claude::{COMPONENTS, KEYS};
use crate::error::{ManifestCode, ManifestError, ManifestErrors, ManifestWarning};
use crate::json::{self, JsonNode, JsonValue, ParseLimits, Position, canonical};
use crate::manifest::{MapFiles, PluginContext};
use crate::marketplace::{CommandSources, Marketplace, MarketplaceEntry, RefusedEntry, Source};
use crate::reader::text::escape;
use crate::reader::{Base, Document, Reader, Requirement};
use crate::surface::ManifestLayer;

const TOP: &[&str] =
    &["$schema", "description", "interface", "metadata", "name", "owner", "plugins", "renames", "version"];

/// Keys of an entry that do not occur in manifests.
const ENTRY: &[&str] =
    &["apps", "domains", "headersHelper", "interface", "policy", "relevance", "source", "strict"];

/// Reads a marketplace file; `file` is its path, for messages.
///
/// # Guarantees
/// An error in one entry does not affect the others; see [`Marketplace::refused`].
///
/// # Errors
/// Invalid JSON, and errors outside the entries.
///
/// # Examples
/// ```
/// use plugward_manifest::{CommandSources, read_marketplace};
///
/// let text = br#"{"name": "team", "owner": {"name": "Team"}, "plugins": [{"name": "a", "source": "./a"}, 7]}"#;
/// let (market, warnings) = read_marketplace("marketplace.json", text, CommandSources::Refused)?;
/// assert!(market.entry_at("a").is_some());
/// assert_eq!(market.refused()[0].index(), 1);
/// assert!(warnings.is_empty());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn read_marketplace(
    file: &str,
    bytes: &[u8],
    commands: CommandSources,
) -> Result<(Marketplace, Vec<ManifestWarning>), ManifestErrors> {
    let nothing = MapFiles::new();
    let at = PluginContext::without_directory();
    let mut reader = Reader::new(&nothing, Dialect::Claude, &at);
    let root = json::parse(bytes, &ParseLimits::marketplace());
    let Some(doc) = reader.open_as(file, bytes, ManifestLayer::Entry, Base::START, root) else {
        return Err(errors_of(reader));
    };
    let Some(members) = doc.root.members() else {
        reader.wrong(&doc, &doc.root, "an object", Requirement::Strict);
        reader.close(&doc);
        return Err(errors_of(reader));
    };
    reader.keys(&doc, members, TOP);
    let mut market = top(&mut reader, &doc);
    let nodes = match doc.root.get("plugins") {
        Some(node) => reader.list(&doc, node, Requirement::Strict),
        None => {
            reader.missing(&doc, &doc.root, "plugins");
            &[]
        }
    };
    let mut drafts = Vec::new();
    for (index, node) in nodes.iter().enumerate() {
        let before = reader.error_count();
        let draft = entry(&mut reader, &doc, node, index, &market.plugin_root, commands);
        drafts.push(EntryDraft { span: node.span(), entry: draft, bad: reader.error_count() > before });
    }
    duplicate_names(&mut reader, &doc, nodes, &mut drafts);
    renames(&mut reader, &doc, &mut market, &drafts);
    let before = reader.more_error_count();
    reader.close(&doc);
    // Unlisted errors cannot be assigned to entries, so no entry can be called valid.
    if reader.more_error_count() > before {
        return Err(errors_of(reader));
    }
    settle(reader, &doc, market, drafts)
}

fn errors_of(reader: Reader<'_>) -> ManifestErrors {
    match reader.finish() {
        Err(errors) => errors,
        Ok(_) => ManifestErrors { errors: Vec::new() },
    }
}

struct EntryDraft {
    span: Span,
    entry: Option<MarketplaceEntry>,
    bad: bool,
}

/// Assigns each error to the entry that contains it. An error outside the entries refuses the file.
fn settle(
    mut reader: Reader<'_>,
    doc: &Document<'_>,
    mut market: Marketplace,
    drafts: Vec<EntryDraft>,
) -> Result<(Marketplace, Vec<ManifestWarning>), ManifestErrors> {
    let mut by_entry: BTreeMap<usize, Vec<ManifestError>> = BTreeMap::new();
    let mut outside = Vec::new();
    for error in core::mem::take(&mut reader.errors) {
        // Entries are in file order, so a binary search finds the one around the error.
        let at = drafts.partition_point(|draft| draft.span.end <= error.place.span.start);
        match drafts.get(at).filter(|draft| draft.span.start <= error.place.span.start) {
            Some(_) => by_entry.entry(at).or_default().push(error),
            None => outside.push(error),
        }
    }
    if !outside.is_empty() {
        reader.errors = outside;
        return Err(errors_of(reader));
    }
    let positions = json::positions_of(doc.bytes, drafts.iter().map(|draft| draft.span.start).collect());
    for (index, draft) in drafts.into_iter().enumerate() {
        let mut errors = by_entry.remove(&index).unwrap_or_default();
        if draft.bad && errors.is_empty() {
            let mut place = doc.place(draft.span);
            place.position = positions.get(&draft.span.start).copied();
            let message = "more errors than can be listed".to_owned();
            errors.push(ManifestError::new(ManifestCode::MoreErrors, message, place));
        }
        match draft.entry {
            Some(mut entry) if errors.is_empty() => {
                entry.position = positions.get(&entry.offset).copied().unwrap_or(entry.position);
                market.entries.push(entry);
            }
            entry => market.refused.push(RefusedEntry {
                index,
                name: entry.map(|entry| entry.name),
                errors: ManifestErrors { errors },
            }),
        }
    }
    let read = reader.finish_warnings()?;
    Ok((market, read.warnings))
}

/// Reads the keys outside the entries.
fn top(reader: &mut Reader<'_>, doc: &Document<'_>) -> Marketplace {
    let root = &doc.root;
    let name = match root.get("name") {
        Some(node) => reader.name(doc, node).unwrap_or_default(),
        None => {
            reader.missing(doc, root, "name");
            String::new()
        }
    };
    let owner = match root.get("owner") {
        Some(node) => reader.person(doc, node),
        // Codex does not know this key.
        None if doc.file.ends_with(".agents/plugins/marketplace.json") => None,
        None => {
            reader.notice(
                doc,
                Span::new(root.span().start, root.span().start),
                ManifestCode::MarketNoOwner,
                "the marketplace does not have an owner",
            );
            None
        }
    };
    let metadata = root.get("metadata");
    if let Some(node) = metadata {
        let members = reader.object(doc, node, Requirement::Strict);
        reader.keys(doc, members, &["description", "pluginRoot", "version"]);
    }
    if let Some(members) = root.get("interface").and_then(JsonNode::members) {
        reader.keys(doc, members, &["description", "displayName", "logo"]);
    }
    let either = |key: &str| root.get(key).or_else(|| metadata?.get(key));
    let description = either("description").and_then(|node| reader.foreign(doc, node));
    let version = either("version")
        .and_then(|node| reader.text(doc, node, Requirement::Lenient).map(ToOwned::to_owned));
    let plugin_root = match metadata.and_then(|node| node.get("pluginRoot")) {
        Some(node) => reader.path(doc, node).map(|path| path.path).unwrap_or_default(),
        None => String::new(),
    };
    let (renames, entries, refused) = (BTreeMap::new(), Vec::new(), Vec::new());
    Marketplace { name, owner, description, version, plugin_root, renames, entries, refused }
}

fn entry(
    reader: &mut Reader<'_>,
    doc: &Document<'_>,
    node: &JsonNode<'_>,
    index: usize,
    plugin_root: &str,
    commands: CommandSources,
) -> Option<MarketplaceEntry> {
    let Some(members) = node.members() else {
        reader.wrong(doc, node, "an object with name and source", Requirement::Strict);
        return None;
    };
    let known: Vec<&str> = KEYS.iter().chain(ENTRY).chain(&["mcp", "mcp_servers"]).copied().collect();
    reader.keys(doc, members, &known);
    let name = match node.get("name") {
        Some(name) => reader.name(doc, name),
        None => {
            reader.missing(doc, node, "name");
            None
        }
    };
    let source = match node.get("source") {
        Some(source) => Source::read(reader, doc, source, plugin_root, commands),
        None => {
            reader.missing(doc, node, "source");
            None
        }
    };
    // The default is the documented one of Claude Code.
    let strict = match node.get("strict").map(|strict| (strict, strict.value())) {
        Some((_, JsonValue::Bool(strict))) => *strict,
        Some((strict, _)) => {
            reader.wrong(doc, strict, "a boolean", Requirement::Strict);
            true
        }
        None => true,
    };
    metadata(reader, doc, node);
    let span = node.span();
    let mut text = String::new();
    canonical(node, &mut text);
    Some(MarketplaceEntry {
        name: name?,
        source: source?,
        strict,
        components: members.iter().any(|member| COMPONENTS.contains(&member.key())),
        category: node.get("category").and_then(JsonNode::as_str).map(ToOwned::to_owned),
        raw: String::from_utf8_lossy(doc.bytes.part(span.start..span.end)).into_owned(),
        canonical: text,
        file: doc.file.to_owned(),
        // Errors in the entry are later reported with pointers into the marketplace file.
        pointer: format!("/plugins/{index}"),
        offset: span.start,
        position: Position { line: 1, column: 1 },
    })
}

/// Checks the types and values of an entry's own metadata.
fn metadata(reader: &mut Reader<'_>, doc: &Document<'_>, node: &JsonNode<'_>) {
    if let Some(category) = node.get("category") {
        reader.text(doc, category, Requirement::Lenient);
    }
    for key in ["tags", "domains"] {
        if let Some(words) = node.get(key) {
            reader.texts(doc, words, Requirement::Lenient);
        }
    }
    let Some(policy) = node.get("policy") else { return };
    let members = reader.object(doc, policy, Requirement::Strict);
    reader.keys(doc, members, &["authentication", "installation", "products"]);
    for (key, words) in [
        ("installation", &["AVAILABLE", "INSTALLED_BY_DEFAULT", "NOT_AVAILABLE"][..]),
        ("authentication", &["ON_INSTALL", "ON_USE"][..]),
    ] {
        let Some(value) = policy.get(key) else { continue };
        if let Some(text) = reader.text(doc, value, Requirement::Strict)
            && !words.contains(&text)
        {
            let message = format!("unknown {key} policy `{}`", escape(text, 64));
            reader.notice(doc, value.span(), ManifestCode::MarketUnknownPolicy, message);
        }
    }
}

/// Refuses all entries that share a name, because a user cannot tell them apart.
fn duplicate_names(
    reader: &mut Reader<'_>,
    doc: &Document<'_>,
    nodes: &[JsonNode<'_>],
    drafts: &mut [EntryDraft],
) {
    let mut by_name: BTreeMap<String, Vec<usize>> = BTreeMap::new();
    for (index, node) in nodes.iter().enumerate() {
        if let Some(name) = node.get("name").and_then(JsonNode::as_str) {
            by_name.entry(name.to_owned()).or_default().push(index);
        }
    }
    for (name, indices) in by_name.into_iter().filter(|(_, indices)| indices.len() > 1) {
        for index in indices {
            let Some(node) = nodes.get(index) else { continue };
            let message = format!("expected one entry with the name `{}`, got another", escape(&name, 128));
            reader.error(
                doc,
                node.get("name").unwrap_or(node).span(),
                ManifestCode::MarketDuplicateName,
                message,
            );
            if let Some(draft) = drafts.get_mut(index) {
                draft.bad = true;
            }
        }
    }
}

/// Resolves renames, which can lead over several names to an entry. A target of `null` says that the plugin is gone.
///
/// They only connect an installed plugin with its former pin, so a broken one is a warning. The number of steps is limited
/// so that a cycle ends.
fn renames(reader: &mut Reader<'_>, doc: &Document<'_>, market: &mut Marketplace, drafts: &[EntryDraft]) {
    let Some(node) = doc.root.get("renames") else { return };
    let names: BTreeSet<&str> =
        drafts.iter().filter_map(|draft| draft.entry.as_ref()).map(|entry| entry.name.as_str()).collect();
    let members = reader.object(doc, node, Requirement::Lenient);
    let all: BTreeMap<&str, &str> =
        members.iter().filter_map(|member| Some((member.key(), member.node().as_str()?))).collect();
    for member in members.iter().filter(|member| !member.node().is_null()) {
        let Some(target) = reader.plain(doc, member.node(), Requirement::Lenient) else { continue };
        let mut end = target;
        let mut steps = 0_usize;
        // 64 steps are far above any real chain.
        while let Some(next) = all.get(end).filter(|_| steps <= 64 && !names.contains(end)) {
            end = next;
            steps += 1;
        }
        if names.contains(end) {
            market.renames.insert(member.key().to_owned(), end.to_owned());
        } else {
            let message = format!("`{}` does not lead to an entry", escape(member.key(), 128));
            reader.warning(doc, member.node().span(), ManifestCode::MarketRenames, message);
        }
    }
}
