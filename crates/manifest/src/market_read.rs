//! Reads marketplace files. An invalid entry does not affect the others.

use std::collections::{BTreeMap, BTreeSet};

use plugward_types::Span;

use crate::at::At;
use crate::claude::{COMPONENTS, KEYS};
use crate::code::Code;
use crate::dialect::Dialect;
use crate::error::{ManifestError, ManifestErrors, Notice};
use crate::files::MapFiles;
use crate::json::{self, Limits, Node, Position, Value, canonical};
use crate::market::{Entry, Market, RefusedEntry};
use crate::reader::{Base, Ctx, Doc, Need};
use crate::source::{CommandSources, Source};
use crate::surface::Layer;
use crate::text::escape;

const TOP: &[&str] =
    &["$schema", "description", "interface", "metadata", "name", "owner", "plugins", "renames", "version"];

/// Keys of an entry that do not occur in manifests.
const ENTRY: &[&str] =
    &["apps", "domains", "headersHelper", "interface", "policy", "relevance", "source", "strict"];

/// Reads a marketplace file; `file` is its path, for messages.
///
/// # Guarantees
/// An error in one entry does not affect the others; see [`Market::refused`].
///
/// # Errors
/// Invalid JSON, and errors outside the entries.
///
/// # Examples
/// ```
/// use plugward_manifest::{CommandSources, read_market};
///
/// let text = br#"{"name": "team", "owner": {"name": "Team"}, "plugins": [{"name": "a", "source": "./a"}, 7]}"#;
/// let (market, warnings) = read_market("marketplace.json", text, CommandSources::Refused)?;
/// assert!(market.entry_at("a").is_some());
/// assert_eq!(market.refused()[0].index(), 1);
/// assert!(warnings.is_empty());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn read_market(
    file: &str,
    bytes: &[u8],
    commands: CommandSources,
) -> Result<(Market, Vec<Notice>), ManifestErrors> {
    let nothing = MapFiles::new();
    let at = At::nowhere();
    let mut ctx = Ctx::new(&nothing, Dialect::Claude, &at);
    let root = json::parse(bytes, &Limits::market());
    let Some(doc) = ctx.open_as(file, bytes, Layer::Entry, Base::START, root) else {
        return Err(errors_of(ctx));
    };
    let Some(members) = doc.root.members() else {
        ctx.wrong(&doc, &doc.root, "an object", Need::Error);
        ctx.close(&doc);
        return Err(errors_of(ctx));
    };
    ctx.keys(&doc, members, TOP);
    let mut market = top(&mut ctx, &doc);
    let nodes = match doc.root.get("plugins") {
        Some(node) => ctx.list(&doc, node, Need::Error),
        None => {
            ctx.missing(&doc, &doc.root, "plugins");
            &[]
        }
    };
    let mut drafts = Vec::new();
    for (index, node) in nodes.iter().enumerate() {
        let before = ctx.error_count();
        let draft = entry(&mut ctx, &doc, node, index, &market.plugin_root, commands);
        drafts.push(Draft { span: node.span(), entry: draft, bad: ctx.error_count() > before });
    }
    duplicate_names(&mut ctx, &doc, nodes, &mut drafts);
    renames(&mut ctx, &doc, &mut market, &drafts);
    let before = ctx.more_error_count();
    ctx.close(&doc);
    if ctx.more_error_count() > before {
        return Err(errors_of(ctx));
    }
    settle(ctx, &doc, market, drafts)
}

fn errors_of(ctx: Ctx<'_>) -> ManifestErrors {
    match ctx.finish() {
        Err(errors) => errors,
        Ok(_) => ManifestErrors { errors: Vec::new() },
    }
}

struct Draft {
    span: Span,
    entry: Option<Entry>,
    bad: bool,
}

/// Assigns each error to the entry that contains it. An error outside the entries refuses the file.
fn settle(
    mut ctx: Ctx<'_>,
    doc: &Doc<'_>,
    mut market: Market,
    drafts: Vec<Draft>,
) -> Result<(Market, Vec<Notice>), ManifestErrors> {
    let mut by_entry: BTreeMap<usize, Vec<ManifestError>> = BTreeMap::new();
    let mut outside = Vec::new();
    for error in core::mem::take(&mut ctx.errors) {
        let at = drafts.partition_point(|draft| draft.span.end <= error.place.span.start);
        match drafts.get(at).filter(|draft| draft.span.start <= error.place.span.start) {
            Some(_) => by_entry.entry(at).or_default().push(error),
            None => outside.push(error),
        }
    }
    if !outside.is_empty() {
        ctx.errors = outside;
        return Err(errors_of(ctx));
    }
    let positions = json::positions_of(doc.bytes, drafts.iter().map(|draft| draft.span.start).collect());
    for (index, draft) in drafts.into_iter().enumerate() {
        let mut errors = by_entry.remove(&index).unwrap_or_default();
        if draft.bad && errors.is_empty() {
            let mut place = Ctx::place(doc, draft.span);
            place.position = positions.get(&draft.span.start).copied();
            let message = "more errors than can be listed".to_owned();
            errors.push(ManifestError::new(Code::MoreErrors, message, place));
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
    let read = ctx.finish_notices()?;
    Ok((market, read.notices))
}

fn top(ctx: &mut Ctx<'_>, doc: &Doc<'_>) -> Market {
    let root = &doc.root;
    let name = match root.get("name") {
        Some(node) => ctx.name(doc, node).unwrap_or_default(),
        None => {
            ctx.missing(doc, root, "name");
            String::new()
        }
    };
    let owner = match root.get("owner") {
        Some(node) => ctx.person(doc, node),
        None => {
            ctx.notice(
                doc,
                Span::new(root.span().start, root.span().start),
                Code::MarketNoOwner,
                "the marketplace does not have an owner",
            );
            None
        }
    };
    let metadata = root.get("metadata");
    if let Some(node) = metadata {
        let members = ctx.object(doc, node, Need::Error);
        ctx.keys(doc, members, &["description", "pluginRoot", "version"]);
    }
    if let Some(members) = root.get("interface").and_then(Node::members) {
        ctx.keys(doc, members, &["description", "displayName", "logo"]);
    }
    let either = |key: &str| root.get(key).or_else(|| metadata?.get(key));
    let description = either("description").and_then(|node| ctx.foreign(doc, node));
    let version = either("version").and_then(|node| ctx.text(doc, node, Need::Notice).map(ToOwned::to_owned));
    let plugin_root = match metadata.and_then(|node| node.get("pluginRoot")) {
        Some(node) => ctx.path(doc, node).map(|path| path.path).unwrap_or_default(),
        None => String::new(),
    };
    let (renames, entries, refused) = (BTreeMap::new(), Vec::new(), Vec::new());
    Market { name, owner, description, version, plugin_root, renames, entries, refused }
}

fn entry(
    ctx: &mut Ctx<'_>,
    doc: &Doc<'_>,
    node: &Node<'_>,
    index: usize,
    plugin_root: &str,
    commands: CommandSources,
) -> Option<Entry> {
    let Some(members) = node.members() else {
        ctx.wrong(doc, node, "an object with name and source", Need::Error);
        return None;
    };
    let known: Vec<&str> = KEYS.iter().chain(ENTRY).chain(&["mcp", "mcp_servers"]).copied().collect();
    ctx.keys(doc, members, &known);
    let name = match node.get("name") {
        Some(name) => ctx.name(doc, name),
        None => {
            ctx.missing(doc, node, "name");
            None
        }
    };
    let source = match node.get("source") {
        Some(source) => Source::read(ctx, doc, source, plugin_root, commands),
        None => {
            ctx.missing(doc, node, "source");
            None
        }
    };
    let strict = match node.get("strict").map(|strict| (strict, strict.value())) {
        Some((_, Value::Bool(strict))) => *strict,
        Some((strict, _)) => {
            ctx.wrong(doc, strict, "a boolean", Need::Error);
            true
        }
        None => true,
    };
    metadata(ctx, doc, node);
    let span = node.span();
    let mut text = String::new();
    canonical(node, &mut text);
    Some(Entry {
        name: name?,
        source: source?,
        strict,
        components: members.iter().any(|member| COMPONENTS.contains(&member.key())),
        category: node.get("category").and_then(Node::as_str).map(ToOwned::to_owned),
        raw: String::from_utf8_lossy(doc.bytes.get(span.start..span.end).unwrap_or_default()).into_owned(),
        canonical: text,
        file: doc.file.to_owned(),
        pointer: format!("/plugins/{index}"),
        offset: span.start,
        position: Position { line: 1, column: 1 },
    })
}

/// Checks the types and values of an entry's own metadata.
fn metadata(ctx: &mut Ctx<'_>, doc: &Doc<'_>, node: &Node<'_>) {
    if let Some(category) = node.get("category") {
        ctx.text(doc, category, Need::Notice);
    }
    for key in ["tags", "domains"] {
        if let Some(words) = node.get(key) {
            ctx.texts(doc, words, Need::Notice);
        }
    }
    let Some(policy) = node.get("policy") else { return };
    let members = ctx.object(doc, policy, Need::Error);
    ctx.keys(doc, members, &["authentication", "installation", "products"]);
    for (key, words) in [
        ("installation", &["AVAILABLE", "INSTALLED_BY_DEFAULT", "NOT_AVAILABLE"][..]),
        ("authentication", &["ON_INSTALL", "ON_USE"][..]),
    ] {
        let Some(value) = policy.get(key) else { continue };
        if let Some(text) = ctx.text(doc, value, Need::Error)
            && !words.contains(&text)
        {
            let message = format!("unknown {key} policy `{}`", escape(text, 64));
            ctx.notice(doc, value.span(), Code::MarketUnknownPolicy, message);
        }
    }
}

/// Refuses all entries that share a name, because a user cannot tell them apart.
fn duplicate_names(ctx: &mut Ctx<'_>, doc: &Doc<'_>, nodes: &[Node<'_>], drafts: &mut [Draft]) {
    let mut by_name: BTreeMap<String, Vec<usize>> = BTreeMap::new();
    for (index, node) in nodes.iter().enumerate() {
        if let Some(name) = node.get("name").and_then(Node::as_str) {
            by_name.entry(name.to_owned()).or_default().push(index);
        }
    }
    for (name, indices) in by_name.into_iter().filter(|(_, indices)| indices.len() > 1) {
        for index in indices {
            let Some(node) = nodes.get(index) else { continue };
            let message = format!("expected one entry with the name `{}`, got another", escape(&name, 128));
            ctx.error(doc, node.get("name").unwrap_or(node).span(), Code::MarketDuplicateName, message);
            if let Some(draft) = drafts.get_mut(index) {
                draft.bad = true;
            }
        }
    }
}

/// Resolves renames, which can lead over several names to an entry.
///
/// The number of steps is limited so that a cycle ends.
fn renames(ctx: &mut Ctx<'_>, doc: &Doc<'_>, market: &mut Market, drafts: &[Draft]) {
    let Some(node) = doc.root.get("renames") else { return };
    let names: BTreeSet<&str> =
        drafts.iter().filter_map(|draft| draft.entry.as_ref()).map(|entry| entry.name.as_str()).collect();
    let members = ctx.object(doc, node, Need::Error);
    let all: BTreeMap<&str, &str> =
        members.iter().filter_map(|member| Some((member.key(), member.node().as_str()?))).collect();
    for member in members {
        let Some(target) = ctx.plain(doc, member.node(), Need::Error) else { continue };
        let mut end = target;
        let mut steps = 0_usize;
        while let Some(next) = all.get(end).filter(|_| steps <= 64 && !names.contains(end)) {
            end = next;
            steps = steps.saturating_add(1);
        }
        if names.contains(end) {
            market.renames.insert(member.key().to_owned(), end.to_owned());
        } else {
            let message = format!("`{}` does not lead to an entry", escape(member.key(), 128));
            ctx.warning(doc, member.node().span(), Code::MarketRenames, message);
        }
    }
}
