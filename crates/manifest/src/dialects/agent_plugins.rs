//! Reads packages of Agent Plugins, the standard of agent-plugins.org.
//!
//! A conformant host loads `skills/*/SKILL.md` and `mcp.json` only. Other hosts load the same directory in the layout of
//! Claude Code, so what it contains besides is listed as well.

use std::collections::BTreeSet;

use plugward_types::Address;

use crate::dialects::claude;
use crate::error::{ManifestCode, ManifestPlace, WarningLevel};
use crate::json::{self, JsonMember, JsonNode, JsonValue, ParseLimits};
use crate::manifest::{Files, Meta};
use crate::reader::text::escape;
use crate::reader::{Document, Reader, Requirement};
use crate::surface::prompts::PromptKind;
use crate::surface::servers::ServerList;
use crate::surface::{ManifestLayer, Origin};

const FILE: &str = "plugin.json";
const SERVERS: &str = "mcp.json";
/// The start of the address of every schema.
const SCHEMAS: &str = "https://agent-plugins.org/schemas/";
/// The versions that are known, the oldest first. They differ in advisory keys only.
const VERSIONS: [&str; 2] = ["1.0.0", "1.1.0"];

const KEYS: &[&str] = &[
    "$schema",
    "author",
    "description",
    "displayName",
    "extensions",
    "homepage",
    "icon",
    "keywords",
    "license",
    "name",
    "repository",
    "version",
];
/// The keys whose values are strings.
const TEXTS: [&str; 7] =
    ["description", "displayName", "homepage", "icon", "license", "repository", "version"];
const PERSON: [&str; 3] = ["email", "name", "url"];
const LOCAL: [&str; 5] = ["args", "command", "cwd", "env", "type"];
const REMOTE: [&str; 3] = ["headers", "type", "url"];
/// Variables that the host sets, so that a server must not.
const SET_BY_HOST: [&str; 2] = ["PLUGIN_DATA", "PLUGIN_ROOT"];

/// Returns `true` for a root `plugin.json` with a schema of the standard, whatever its version is. A schema that is not text
/// is refused by the reader.
pub(super) fn is_manifest(root: &JsonNode<'_>) -> bool {
    let schema = root.get("$schema");
    schema.is_some_and(|schema| schema.as_str().is_none_or(|text| text.starts_with(SCHEMAS)))
}

pub(crate) fn read(reader: &mut Reader<'_>, meta: &mut Meta) {
    let Some(file) = reader.files.get(FILE) else {
        let message = format!("expected the file {FILE}");
        return reader.error_at(ManifestPlace::of_file(FILE), ManifestCode::MissingFile, message);
    };
    let Some(doc) = reader.open(FILE, file.bytes) else { return };
    if let Some(members) = doc.root.members() {
        reader.keys(&doc, members, KEYS);
        schema(reader, &doc);
        identity(reader, &doc, meta);
        extensions(reader, &doc);
    } else {
        reader.wrong(&doc, &doc.root, "an object", Requirement::Strict);
    }
    reader.close(&doc);
    servers(reader);
    namespaces(reader);
    claude::standard(reader, &[]);
    super::skill::check_all(reader);
}

/// Reports a version of the schema that is not known. The manifest is then read like one of the newest known version.
fn schema(reader: &mut Reader<'_>, doc: &Document<'_>) {
    let Some(node) = doc.root.get("$schema") else { return reader.missing(doc, &doc.root, "$schema") };
    let Some(text) = reader.text(doc, node, Requirement::Strict) else { return };
    let version = text.strip_prefix(SCHEMAS).and_then(|rest| rest.strip_suffix("/plugin.schema.json"));
    if !version.is_some_and(|version| VERSIONS.contains(&version)) {
        let message = format!("unknown version of the schema: `{}`", escape(text, 128));
        reader.warning(doc, node.span(), ManifestCode::SchemaVersion, message);
    }
}

fn identity(reader: &mut Reader<'_>, doc: &Document<'_>, meta: &mut Meta) {
    let root = &doc.root;
    match root.get("name") {
        None => reader.missing(doc, root, "name"),
        Some(node) => {
            meta.name = reader.name(doc, node);
            if let Some(name) = meta.name.as_ref().filter(|name| !is_name(name)) {
                let message = format!(
                    "expected 1 to 64 of a-z 0-9 - . with a letter or digit at both ends, got `{}`",
                    escape(name, 128)
                );
                reader.error(doc, node.span(), ManifestCode::Name, message);
            }
        }
    }
    for node in TEXTS.iter().filter_map(|key| root.get(key)) {
        reader.text(doc, node, Requirement::Strict);
    }
    if let Some(node) = root.get("keywords") {
        for item in reader.list(doc, node, Requirement::Strict) {
            reader.text(doc, item, Requirement::Strict);
        }
    }
    if let Some(node) = root.get("author") {
        for member in reader.object(doc, node, Requirement::Strict) {
            reader.text(doc, member.node(), Requirement::Strict);
            if !PERSON.contains(&member.key()) {
                let message = format!("expected one of name, email, url, got `{}`", escape(member.key(), 64));
                reader.error(doc, member.key_span(), ManifestCode::UnknownKey, message);
            }
        }
    }
    if let Some(node) = root.get("version") {
        meta.version = node.as_str().map(ToOwned::to_owned);
    }
    reader.common(doc, meta);
}

/// Returns `true` for a name of the standard.
fn is_name(text: &str) -> bool {
    let is_word =
        |byte: Option<u8>| byte.is_some_and(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit());
    text.len() <= 64
        && text.bytes().all(|byte| is_word(Some(byte)) || matches!(byte, b'-' | b'.'))
        && is_word(text.bytes().next())
        && is_word(text.bytes().next_back())
        && !text.contains("--")
        && !text.contains("..")
}

/// Reports what the data of clients names and the package does not contain.
fn extensions(reader: &mut Reader<'_>, doc: &Document<'_>) {
    let Some(node) = doc.root.get("extensions") else { return };
    let (mut absent, mut first) = (0_usize, None);
    for member in reader.object(doc, node, Requirement::Lenient) {
        let lists = member.node().members_or_none();
        for item in lists.iter().flat_map(|list| list.node().items_or_none()) {
            let path = item.as_str().and_then(|text| text.strip_prefix("./"));
            if let Some(path) = path.filter(|path| !reader.has(path.trim_end_matches('/'))) {
                absent = absent.saturating_add(1);
                first.get_or_insert((item.span(), path));
            }
        }
    }
    if let Some((span, path)) = first {
        let noun = if absent == 1 { "file is" } else { "files are" };
        let message = format!("{absent} named {noun} not here, first `{}`", escape(path, 128));
        reader.notice(doc, span, ManifestCode::SurfaceMissingFile, message);
    }
}

/// Reads `mcp.json`. Servers that a conformant host skips are listed too, because other hosts start them.
fn servers(reader: &mut Reader<'_>) {
    let Some(view) = reader.files.get(SERVERS) else { return };
    if let Ok(root) = json::parse(view.bytes, &ParseLimits::standard()) {
        let servers = root.members_of("mcpServers");
        let keys = root.members_or_none();
        let other = keys.iter().find(|member| !matches!(member.key(), "$schema" | "mcpServers"));
        if let Some(other) = other {
            skipped(reader, "all servers", &format!("unknown key `{}`", escape(other.key(), 64)));
        }
        if !root
            .get("$schema")
            .is_some_and(|node| node.as_str().is_some_and(|text| text.starts_with(SCHEMAS)))
        {
            skipped(reader, "all servers", "no `$schema` of the standard");
        }
        for member in servers {
            if let Some(why) = broken_rule(member.node()) {
                skipped(reader, &format!("the server `{}`", escape(member.key(), 64)), &why);
            }
        }
    }
    reader.standard_servers(SERVERS, ServerList::Mcp);
}

fn skipped(reader: &mut Reader<'_>, what: &str, why: &str) {
    let message = format!("hosts that follow the standard skip {what}: {why}");
    reader.warn_at(ManifestPlace::of_file(SERVERS), ManifestCode::McpSkipped, WarningLevel::Warning, message);
}

/// Returns the first rule of the standard that a server breaks.
fn broken_rule(server: &JsonNode<'_>) -> Option<String> {
    let members = server.members_or_none();
    let text = |key: &str| server.get(key).and_then(JsonNode::as_str);
    let known: &[&str] = match text("type") {
        Some("stdio") => &LOCAL,
        Some("streamable-http" | "sse") => &REMOTE,
        Some(other) => return Some(format!("unknown type `{}`", escape(other, 64))),
        None => return Some("no `type`".to_owned()),
    };
    if let Some(other) = members.iter().find(|member| !known.contains(&member.key())) {
        return Some(format!("unknown key `{}`", escape(other.key(), 64)));
    }
    if text("type") == Some("stdio") { broken_local(server) } else { broken_remote(server) }
        .map(str::to_owned)
}

fn broken_local(server: &JsonNode<'_>) -> Option<&'static str> {
    let text = |key: &str| server.get(key).and_then(JsonNode::as_str);
    let command = text("command").unwrap_or_default();
    let bare = !command.contains('/') || command.starts_with("./");
    if command.is_empty() || !bare || command.contains(|c: char| c.is_whitespace() || c == '$') {
        return Some("`command` is not one bare word or a path with `./`");
    }
    let starts = ["./", "${PLUGIN_ROOT}", "${PLUGIN_DATA}"];
    if server.get("cwd").is_some()
        && !text("cwd").is_some_and(|cwd| starts.iter().any(|at| cwd.starts_with(at)))
    {
        return Some("`cwd` does not start with `./`, `${PLUGIN_ROOT}` or `${PLUGIN_DATA}`");
    }
    let env = server.members_of("env");
    if env.iter().any(|member| SET_BY_HOST.contains(&member.key())) {
        return Some("`env` sets a variable of the host");
    }
    not_texts(env).then_some("`env` contains a value that is not a string")
}

fn broken_remote(server: &JsonNode<'_>) -> Option<&'static str> {
    let url = server.get("url").and_then(JsonNode::as_str).unwrap_or_default();
    let address = Address::parse(url);
    let is_encrypted = address.scheme() == Some("https");
    if !(is_encrypted || (address.scheme() == Some("http") && address.is_loopback())) {
        return Some("`url` is neither https nor http to this machine");
    }
    if address.has_user_info() || url.contains('#') {
        return Some("`url` has a user or a fragment");
    }
    let headers = server.members_of("headers");
    let names: BTreeSet<String> = headers.iter().map(|member| member.key().to_ascii_lowercase()).collect();
    if names.len() < headers.len() {
        return Some("two headers differ only in case");
    }
    not_texts(headers).then_some("`headers` contains a value that is not a string")
}

fn not_texts(members: &[JsonMember<'_>]) -> bool {
    members.iter().any(|member| !matches!(member.node().value(), JsonValue::String(_)))
}

/// Reads the directories of clients, such as `com.github.copilot/`, and reports their other programs.
fn namespaces(reader: &mut Reader<'_>) {
    let names: BTreeSet<String> = namespaced(reader.files).collect();
    for name in names {
        reader.standard_hooks(&[&format!("{name}/hooks/hooks.json"), &format!("{name}/hooks.json")]);
        for (directory, kind) in [
            ("commands", PromptKind::Commands),
            ("agents", PromptKind::Agents),
            ("rules", PromptKind::Agents),
        ] {
            let directory = format!("{name}/{directory}");
            reader.prompt_files(&directory, kind, Origin::Found, ManifestLayer::Plugin);
        }
        let mut paths = reader.files.under(&name);
        let program = paths.find(|path| reader.files.get(path).is_some_and(|file| file.executable));
        if let Some(program) = program.map(ToOwned::to_owned) {
            let message = format!("`{}` has an executable file", escape(&name, 128));
            let place = ManifestPlace::of_file(&program);
            reader.warn_at(place, ManifestCode::Namespace, WarningLevel::Notice, message);
        }
    }
}

/// Returns the directories in the root whose names are reverse domain names.
fn namespaced(files: &dyn Files) -> impl Iterator<Item = String> + '_ {
    let is_domain = |name: &&str| {
        let is_label = |label: &str| {
            !label.is_empty() && label.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
        };
        name.split('.').count() >= 3 && name.split('.').all(is_label)
    };
    let top = files.under("").filter_map(|path| path.split_once('/').map(|(top, _)| top));
    top.filter(is_domain).map(ToOwned::to_owned)
}
