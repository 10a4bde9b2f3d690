//! Reads an entry of a JP registry.

use crate::at::At;
use crate::code::Code;
use crate::coverage::Coverage;
use crate::dialect::Dialect;
use crate::error::{ManifestErrors, Weight};
use crate::files::MapFiles;
use crate::json::{self, Limits, Member, Value};
use crate::manifest::{Manifest, Meta};
use crate::name::is_hex;
use crate::read::finish;
use crate::reader::{Base, Ctx, Doc, Need};
use crate::surface::{Fact, Layer, SurfaceItem, SurfaceKind};
use crate::text::escape;

const KEYS: &[&str] =
    &["binaries", "description", "id", "kind", "official", "repository", "requires", "suggests", "type"];

/// Reads one entry of a JP registry; `path` is its command path (`serve web`), for messages.
///
/// An entry of an unknown kind is accepted, and its surface is empty.
///
/// # Errors
/// Invalid JSON, `manifest/missing-key` for a missing id or description, `manifest/two-kinds`, and `market/sha`.
// In RFD-077, an unknown `type` makes the whole registry unreadable; see docs/source-documents.md.
pub fn read_jp_entry(path: &str, bytes: &[u8]) -> Result<Manifest, ManifestErrors> {
    let nothing = MapFiles::new();
    let at = At::nowhere();
    let mut ctx = Ctx::new(&nothing, Dialect::Jp, &at);
    let mut meta = Meta::default();
    if let Some(doc) =
        ctx.open_as(path, bytes, Layer::Entry, Base::START, json::parse(bytes, &Limits::market()))
    {
        match doc.root.members() {
            Some(members) => entry(&mut ctx, &doc, members, &mut meta),
            None => ctx.wrong(&doc, &doc.root, "an object", Need::Error),
        }
        ctx.close(&doc);
    }
    finish(ctx, meta)
}

fn entry(ctx: &mut Ctx<'_>, doc: &Doc<'_>, members: &[Member<'_>], meta: &mut Meta) {
    ctx.keys(doc, members, KEYS);
    match doc.root.get("id") {
        Some(node) => meta.name = ctx.name(doc, node),
        None => ctx.missing(doc, &doc.root, "id"),
    }
    match doc.root.get("description") {
        Some(node) => {
            let text = ctx.text(doc, node, Need::Error);
            meta.description = text.map(|text| crate::ForeignText::new(text.to_owned()));
        }
        None => ctx.missing(doc, &doc.root, "description"),
    }
    if let Some(node) = doc.root.get("official")
        && !matches!(node.value(), Value::Bool(_))
    {
        ctx.wrong(doc, node, "a boolean", Need::Error);
    }
    if let Some(node) = doc.root.get("repository") {
        meta.repository = ctx.plain(doc, node, Need::Notice).map(ToOwned::to_owned);
    }
    Ctx::keep_raw(doc, meta);
    let kind = kind(ctx, doc);
    for key in ["requires", "suggests"] {
        let Some(node) = doc.root.get(key) else { continue };
        for item in ctx.list(doc, node, Need::Error) {
            let Some(name) = ctx.plain(doc, item, Need::Error) else { continue };
            if key == "requires" && kind == Kind::Command {
                meta.companions.push(name.to_owned());
                let place = Ctx::place(doc, item.span());
                ctx.add(SurfaceItem::new(SurfaceKind::Dependency, name, place, doc.layer));
            }
        }
    }
    if let Some(node) = doc.root.get("binaries") {
        for member in ctx.object(doc, node, Need::Error) {
            binary(ctx, doc, member, kind);
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Command,
    Group,
    Unknown,
}

fn kind(ctx: &mut Ctx<'_>, doc: &Doc<'_>) -> Kind {
    let mut read = |key: &str| {
        let node = doc.root.get(key)?;
        ctx.plain(doc, node, Need::Error).map(|text| (text.to_owned(), node.span()))
    };
    let (kind, old) = (read("kind"), read("type"));
    if let (Some((kind, _)), Some((old, span))) = (&kind, &old)
        && kind != old
    {
        let message = format!("expected one kind, got `{}` and `{}`", escape(kind, 64), escape(old, 64));
        ctx.error(doc, *span, Code::TwoKinds, message);
    }
    match kind.or(old) {
        None => Kind::Command,
        Some((word, _)) if word == "command" => Kind::Command,
        Some((word, _)) if word == "command_group" => Kind::Group,
        Some((word, span)) => {
            let message =
                format!("unknown kind `{}`: the entry is accepted without a surface", escape(&word, 64));
            ctx.notice(doc, span, Code::UnknownKind, message);
            Kind::Unknown
        }
    }
}

fn binary(ctx: &mut Ctx<'_>, doc: &Doc<'_>, member: &Member<'_>, kind: Kind) {
    ctx.refuse_hidden(doc, member.key_span(), member.key());
    let node = member.node();
    let members = ctx.object(doc, node, Need::Error);
    ctx.keys(doc, members, &["sha256", "url"]);
    let mut text = |key: &str| match node.get(key) {
        Some(value) => ctx.plain(doc, value, Need::Error).map(ToOwned::to_owned),
        None => {
            if node.members().is_some() {
                ctx.missing(doc, node, key);
            }
            None
        }
    };
    let (url, sha256) = (text("url"), text("sha256"));
    let (Some(url), Some(sha256)) = (url, sha256) else { return };
    if !is_hex(&sha256, 64) {
        let span = node.get("sha256").unwrap_or(node).span();
        let message = format!("expected 64 lowercase hex digits, got `{}`", escape(&sha256, 80));
        return ctx.error(doc, span, Code::MarketSha, message);
    }
    let place = Ctx::place(doc, node.span());
    if !url.starts_with("https://") {
        let message = format!("the URL `{}` is not https", escape(&url, 128));
        ctx.say_at(place.clone(), Code::MarketInsecureUrl, Weight::Warning, message);
    }
    if kind != Kind::Command {
        return;
    }
    let mut item = SurfaceItem::new(SurfaceKind::Binary, member.key(), place, doc.layer);
    item.coverage = Coverage::LauncherDigest;
    item.why = escape(&url, 256);
    item.run = vec![url.clone()];
    item.facts.insert("url", Fact::Text(url));
    item.facts.insert("sha256", Fact::Text(sha256));
    ctx.add(item);
}
