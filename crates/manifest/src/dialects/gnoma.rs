//! Reads the manifest of gnoma; keys are compared as Go compares them.
//!
//! gnoma is written in Go, whose decoder ignores the case of keys. Two spellings of one key are therefore a duplicate.

use crate::error::{ManifestCode, ManifestPlace};
use crate::hooks::gnoma::read_hooks;
use crate::json::{JsonMember, JsonNode};
use crate::manifest::Meta;
use crate::reader::name::{is_gnoma_name, is_three_numbers};
use crate::reader::text::{ForeignText, escape};
use crate::reader::{Document, Reader, Requirement};
use crate::surface::commands::StartDirectory;
use crate::surface::prompts::PromptKind;
use crate::surface::{Coverage, Origin, SurfaceFact, SurfaceItem, SurfaceKind};

const FILE: &str = "plugin.json";

pub(crate) const TOP: &[&str] =
    &["author", "capabilities", "description", "gnoma_version", "license", "name", "version"];
const CAPABILITIES: &[&str] = &["hooks", "mcp_servers", "skills"];
const SERVER: &[&str] = &["args", "command", "env", "name"];

/// Returns `true` if Go's decoder accepts a key for a known one: it ignores case and folds U+017F to `s`, U+212A to
/// `k`.
pub(crate) fn same_key(key: &str, known: &str) -> bool {
    let fold = |character: char| match character {
        '\u{17f}' => 's',
        '\u{212a}' => 'k',
        other => other.to_ascii_lowercase(),
    };
    key.chars().map(fold).eq(known.chars().map(fold))
}

/// The members of an object, each with the known key that it stands for.
pub(crate) struct Fields<'n, 'd>(Vec<(&'static str, &'n JsonMember<'d>)>);

impl<'n, 'd> Fields<'n, 'd> {
    /// Returns a value that is not `null`, which Go treats like a missing key.
    pub(crate) fn present(&self, key: &str) -> Option<&'n JsonNode<'d>> {
        self.get(key).filter(|node| !node.is_null())
    }

    pub(crate) fn get(&self, key: &str) -> Option<&'n JsonNode<'d>> {
        self.0.iter().find(|(known, _)| *known == key).map(|(_, member)| member.node())
    }
}

/// Returns `true` if gnoma would load a manifest, and something of it runs. It is as lenient as gnoma, so that a manifest
/// that is refused here still counts.
pub(crate) fn loads(root: &JsonNode<'_>) -> bool {
    let has = |node: &JsonNode<'_>, key: &str, test: &dyn Fn(&JsonNode<'_>) -> bool| {
        node.members_or_none().iter().any(|member| same_key(member.key(), key) && test(member.node()))
    };
    let text = |test: fn(&str) -> bool| move |node: &JsonNode<'_>| node.as_str().is_some_and(test);
    let is_version = |text: &str| {
        let parts = text.split('.');
        parts.clone().count() == 3 && parts.map(str::parse::<i64>).all(|part| part.is_ok())
    };
    has(root, "name", &text(is_gnoma_name))
        && has(root, "version", &text(is_version))
        && has(root, "capabilities", &|node| CAPABILITIES.iter().any(|key| has(node, key, &|_| true)))
}

pub(crate) fn read(reader: &mut Reader<'_>, meta: &mut Meta) {
    let Some(file) = reader.files.get(FILE) else {
        return reader.error_at(
            ManifestPlace::of_file(FILE),
            ManifestCode::MissingFile,
            "expected the file plugin.json",
        );
    };
    let Some(doc) = reader.open(FILE, file.bytes) else { return };
    if doc.root.members().is_none() {
        reader.wrong(&doc, &doc.root, "an object", Requirement::Strict);
    } else {
        top(reader, &doc, meta);
    }
    reader.close(&doc);
}

/// Assigns the members to the known keys. One variant of a key is read, two are refused.
pub(crate) fn fields<'n, 'd>(
    reader: &mut Reader<'_>,
    doc: &Document<'_>,
    node: &'n JsonNode<'d>,
    known: &[&'static str],
) -> Fields<'n, 'd> {
    let mut found = Fields(Vec::new());
    for member in reader.object(doc, node, Requirement::Strict) {
        let Some(word) = known.iter().find(|word| same_key(member.key(), word)) else {
            let message = format!("unknown key `{}`", escape(member.key(), 64));
            reader.unknown_key(doc, member, message);
            continue;
        };
        if let Some((_, first)) = found.0.iter().find(|(other, _)| other == word) {
            let message = format!(
                "expected one of the keys that gnoma reads as `{word}`, got `{}` and `{}`",
                escape(member.key(), 64),
                escape(first.key(), 64)
            );
            reader.error(doc, member.key_span(), ManifestCode::CaseVariant, message);
            continue;
        }
        // The key works, but only because of Go's decoder; another host would ignore it.
        if member.key() != *word {
            let message = format!("gnoma reads `{}` as `{word}`", escape(member.key(), 64));
            reader.notice(doc, member.key_span(), ManifestCode::KeyCase, message);
        }
        found.0.push((word, member));
    }
    found
}

/// Returns a string; `null` means the default, as in Go.
pub(crate) fn string<'n>(
    reader: &mut Reader<'_>,
    doc: &Document<'_>,
    node: Option<&'n JsonNode<'_>>,
) -> &'n str {
    match node {
        Some(node) if !node.is_null() => reader.text(doc, node, Requirement::Strict).unwrap_or_default(),
        _ => "",
    }
}

fn top(reader: &mut Reader<'_>, doc: &Document<'_>, meta: &mut Meta) {
    let top = fields(reader, doc, &doc.root, TOP);
    match top.get("name") {
        None => reader.missing(doc, &doc.root, "name"),
        Some(node) => {
            meta.name = reader.name(doc, node);
            if let Some(name) = meta.name.as_ref().filter(|name| !is_gnoma_name(name)) {
                let message =
                    format!("expected a lowercase letter, then a-z 0-9 _ -, got `{}`", escape(name, 128));
                reader.error(doc, node.span(), ManifestCode::Name, message);
            }
        }
    }
    match top.get("version") {
        None => reader.missing(doc, &doc.root, "version"),
        Some(node) => {
            if let Some(text) = reader.plain(doc, node, Requirement::Strict) {
                meta.version = Some(text.to_owned());
                if !is_three_numbers(text) {
                    let message = format!(
                        "expected three numbers with dots and without a sign, got `{}`",
                        escape(text, 64)
                    );
                    reader.error(doc, node.span(), ManifestCode::Version, message);
                }
            }
        }
    }
    for key in ["description", "author", "license"] {
        let text = string(reader, doc, top.get(key)).to_owned();
        match key {
            _ if text.is_empty() => {}
            "description" => meta.description = Some(ForeignText::new(text)),
            "author" => meta.author = Some(crate::Contact::from_line(&text)),
            _ => meta.license = Some(text),
        }
    }
    let wanted = string(reader, doc, top.get("gnoma_version")).to_owned();
    if let (Some(node), false) = (top.get("gnoma_version"), wanted.is_empty()) {
        host_version(reader, doc, node, &wanted);
    }
    Reader::keep_raw(doc, meta);
    if let Some(node) = top.present("capabilities") {
        capabilities(reader, doc, node);
    }
}

/// Checks the minimum version of the host, `1.2.3` or `>=1.2.3`.
fn host_version(reader: &mut Reader<'_>, doc: &Document<'_>, node: &JsonNode<'_>, wanted: &str) {
    let Some(host) = reader.context.host_version else { return };
    let parts = |text: &str| -> Option<Vec<u64>> {
        let text = text.trim().trim_start_matches('v');
        // Pre-release and build parts do not count for the comparison.
        let text = text.split(['-', '+']).next().unwrap_or(text);
        text.split('.').map(|part| part.parse().ok()).collect()
    };
    let least = wanted.trim().trim_start_matches(">=").trim();
    match (parts(least), parts(host)) {
        (Some(least), Some(host)) if host >= least => {}
        (Some(_), Some(_)) => {
            let message = format!(
                "expected a host of version {} or later, got {}",
                escape(least, 64),
                escape(host, 64)
            );
            reader.error(doc, node.span(), ManifestCode::HostVersion, message);
        }
        _ => {
            let message = format!("expected a version like 1.2.3 or >=1.2.3, got `{}`", escape(wanted, 64));
            reader.error(doc, node.span(), ManifestCode::HostVersion, message);
        }
    }
}

/// Reads skills, hooks and MCP servers.
fn capabilities(reader: &mut Reader<'_>, doc: &Document<'_>, node: &JsonNode<'_>) {
    let capabilities = fields(reader, doc, node, CAPABILITIES);
    if let Some(node) = capabilities.present("skills") {
        for item in reader.list(doc, node, Requirement::Strict) {
            skill(reader, doc, item);
        }
    }
    read_hooks(reader, doc, &capabilities);
    if let Some(node) = capabilities.present("mcp_servers") {
        for item in reader.list(doc, node, Requirement::Strict) {
            server(reader, doc, item);
        }
    }
}

/// Reads a glob; the host uses the directory before its last component.
fn skill(reader: &mut Reader<'_>, doc: &Document<'_>, node: &JsonNode<'_>) {
    let Some(path) = reader.path(doc, node) else { return };
    let directory = path.path.rsplit_once('/').unwrap_or_default().0.to_owned();
    if directory.contains(['*', '?', '[']) {
        reader.glob(doc, node);
    }
    let count = reader.prompt_files(&directory, PromptKind::Agents, Origin::Declared, doc.layer);
    if count == 0 {
        let mut item = SurfaceItem::new(SurfaceKind::Prompt, path.path, doc.place(node.span()), doc.layer);
        item.facts.insert("prompt", SurfaceFact::Text("skill".to_owned()));
        if directory.contains(['*', '?', '[']) {
            item.coverage = Coverage::Unresolved;
        } else if !reader.has(&directory) {
            let place = item.place.clone();
            reader.missing_file(&place, &directory);
        }
        reader.add(item);
    }
}

/// Adds an MCP server, whose program is a file of the plugin.
fn server(reader: &mut Reader<'_>, doc: &Document<'_>, node: &JsonNode<'_>) {
    if node.members().is_none() {
        return reader.wrong(doc, node, "an object with name and command", Requirement::Strict);
    }
    let server = fields(reader, doc, node, SERVER);
    let name = match server.present("name") {
        Some(name) => reader.plain(doc, name, Requirement::Strict).unwrap_or_default().to_owned(),
        None => String::new(),
    };
    let mut item = SurfaceItem::new(SurfaceKind::McpServer, name, doc.place(node.span()), doc.layer);
    item.facts.insert("transport", SurfaceFact::Text("stdio".to_owned()));
    if let Some(env) = server.present("env") {
        let mut map = std::collections::BTreeMap::new();
        for member in reader.object(doc, env, Requirement::Strict) {
            reader.refuse_hidden(doc, member.key_span(), member.key());
            if let Some(value) = reader.plain(doc, member.node(), Requirement::Strict) {
                map.insert(member.key().to_owned(), value.to_owned());
            }
        }
        item.facts.insert("env", SurfaceFact::Map(map));
    }
    let args = match server.present("args") {
        Some(args) => reader.arguments(doc, args),
        None => Vec::new(),
    };
    match server.present("command").filter(|command| command.as_str() != Some("")) {
        None => {
            item.coverage = Coverage::Unresolved;
            "a server without command".clone_into(&mut item.why);
            reader.add(item);
        }
        Some(command) => {
            let Some(path) = reader.path(doc, command) else { return };
            let argv = core::iter::once(path.path).chain(args).collect();
            reader.run_argv(item, argv, StartDirectory::Root);
        }
    }
}
