//! Reads an entry of a JP registry.

use plugward_types::hex;

use crate::dialects::Dialect;
use crate::error::{ManifestCode, ManifestErrors, WarningLevel};
use crate::json::{self, JsonMember, JsonValue, ParseLimits};
use crate::manifest::{Manifest, MapFiles, Meta, PluginContext, finish};
use crate::reader::name::is_name;
use crate::reader::text::escape;
use crate::reader::{Base, Document, Reader, Requirement};
use crate::surface::{Coverage, ManifestLayer, SurfaceFact, SurfaceItem, SurfaceKind};

const KEYS: &[&str] =
    &["binaries", "description", "id", "kind", "official", "repository", "requires", "suggests", "type"];

/// Reads one entry of a JP registry; `path` is its command path (`serve web`), for messages. An entry without an id has its
/// path as the id, with `-` between the words.
///
/// An entry of an unknown kind is accepted, and its surface is empty.
///
/// # Examples
/// ```
/// use plugward_manifest::read_jp_entry;
///
/// let entry = br#"{"id": "serve-web", "description": "Serves files", "kind": "command"}"#;
/// assert_eq!(read_jp_entry("serve web", entry)?.name(), "serve-web");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// Invalid JSON, `manifest/missing-key` for a missing description, and for a missing id if the path is not a name, `manifest/two-kinds`, and `market/sha`.
// In RFD-077, an unknown `type` makes the whole registry unreadable; see docs/source-documents.md.
pub fn read_jp_entry(path: &str, bytes: &[u8]) -> Result<Manifest, ManifestErrors> {
    let nothing = MapFiles::new();
    let at = PluginContext::without_directory();
    let mut reader = Reader::new(&nothing, Dialect::Jp, &at);
    let mut meta = Meta::default();
    if let Some(doc) = reader.open_as(
        path,
        bytes,
        ManifestLayer::Entry,
        Base::START,
        json::parse(bytes, &ParseLimits::marketplace()),
    ) {
        match doc.root.members() {
            Some(members) => entry(&mut reader, &doc, members, path, &mut meta),
            None => reader.wrong(&doc, &doc.root, "an object", Requirement::Strict),
        }
        reader.close(&doc);
    }
    finish(reader, meta)
}

fn entry(
    reader: &mut Reader<'_>,
    doc: &Document<'_>,
    members: &[JsonMember<'_>],
    path: &str,
    meta: &mut Meta,
) {
    reader.keys(doc, members, KEYS);
    // The example in RFD-077 has no id. Ids have no blanks.
    let by_path = path.replace(' ', "-");
    match doc.root.get("id") {
        Some(node) => meta.name = reader.name(doc, node),
        None if is_name(&by_path) => meta.name = Some(by_path),
        None => reader.missing(doc, &doc.root, "id"),
    }
    match doc.root.get("description") {
        Some(node) => {
            let text = reader.text(doc, node, Requirement::Strict);
            meta.description = text.map(|text| crate::ForeignText::new(text.to_owned()));
        }
        None => reader.missing(doc, &doc.root, "description"),
    }
    if let Some(node) = doc.root.get("official")
        && !matches!(node.value(), JsonValue::Bool(_))
    {
        reader.wrong(doc, node, "a boolean", Requirement::Strict);
    }
    if let Some(node) = doc.root.get("repository") {
        meta.repository = reader.plain(doc, node, Requirement::Lenient).map(ToOwned::to_owned);
    }
    Reader::keep_raw(doc, meta);
    let kind = kind(reader, doc);
    for key in ["requires", "suggests"] {
        let Some(node) = doc.root.get(key) else { continue };
        for item in reader.list(doc, node, Requirement::Strict) {
            let Some(name) = reader.plain(doc, item, Requirement::Strict) else { continue };
            if key == "requires" && kind == EntryKind::Command {
                meta.companions.push(name.to_owned());
                let place = doc.place(item.span());
                reader.add(SurfaceItem::new(SurfaceKind::Dependency, name, place, doc.layer));
            }
        }
    }
    if let Some(node) = doc.root.get("binaries") {
        for member in reader.object(doc, node, Requirement::Strict) {
            binary(reader, doc, member, kind);
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum EntryKind {
    Command,
    Group,
    Unknown,
}

fn kind(reader: &mut Reader<'_>, doc: &Document<'_>) -> EntryKind {
    let mut read = |key: &str| {
        let node = doc.root.get(key)?;
        reader.plain(doc, node, Requirement::Strict).map(|text| (text.to_owned(), node.span()))
    };
    // `type` is the older name of `kind`, and an entry can contain both.
    let (kind, old) = (read("kind"), read("type"));
    if let (Some((kind, _)), Some((old, span))) = (&kind, &old)
        && kind != old
    {
        let message = format!("expected one kind, got `{}` and `{}`", escape(kind, 64), escape(old, 64));
        reader.error(doc, *span, ManifestCode::TwoKinds, message);
    }
    match kind.or(old) {
        None => EntryKind::Command,
        Some((word, _)) if word == "command" => EntryKind::Command,
        Some((word, _)) if word == "command_group" => EntryKind::Group,
        Some((word, span)) => {
            let message =
                format!("unknown kind `{}`: the entry is accepted without a surface", escape(&word, 64));
            reader.notice(doc, span, ManifestCode::UnknownKind, message);
            EntryKind::Unknown
        }
    }
}

/// Reads one binary, whose digest is required because JP downloads it.
fn binary(reader: &mut Reader<'_>, doc: &Document<'_>, member: &JsonMember<'_>, kind: EntryKind) {
    reader.refuse_hidden(doc, member.key_span(), member.key());
    let node = member.node();
    let members = reader.object(doc, node, Requirement::Strict);
    reader.keys(doc, members, &["sha256", "url"]);
    let mut text = |key: &str| match node.get(key) {
        Some(value) => reader.plain(doc, value, Requirement::Strict).map(ToOwned::to_owned),
        None => {
            if node.members().is_some() {
                reader.missing(doc, node, key);
            }
            None
        }
    };
    let (url, sha256) = (text("url"), text("sha256"));
    let (Some(url), Some(sha256)) = (url, sha256) else { return };
    // JP compares digests without their case, and some tools print them in upper case.
    let digits = sha256.to_ascii_lowercase();
    if !hex::is_lower(&digits, 64) {
        let span = node.get("sha256").unwrap_or(node).span();
        let message = format!("expected 64 hex digits, got `{}`", escape(&sha256, 80));
        return reader.error(doc, span, ManifestCode::MarketSha, message);
    }
    let place = doc.place(node.span());
    if plugward_types::Address::parse(&url).scheme() != Some("https") {
        let message = format!("the URL `{}` is not https", escape(&url, 128));
        reader.warn_at(place.clone(), ManifestCode::MarketInsecureUrl, WarningLevel::Warning, message);
    }
    if kind != EntryKind::Command {
        return;
    }
    let mut item = SurfaceItem::new(SurfaceKind::Binary, member.key(), place, doc.layer);
    item.coverage = Coverage::LauncherDigest;
    item.why = escape(&url, 256);
    item.run = vec![url.clone()];
    item.facts.insert("url", SurfaceFact::Text(url));
    item.facts.insert("sha256", SurfaceFact::Text(digits));
    reader.add(item);
}
