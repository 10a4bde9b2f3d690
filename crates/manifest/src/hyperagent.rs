//! Reads the manifest of HyperAgent, and the files outside the plugin that its entry file imports.

use std::collections::BTreeSet;

use plugward_types::Span;

use crate::code::Code;
use crate::coverage::Coverage;
use crate::error::Place;
use crate::imports::imports;
use crate::json::{Node, Value};
use crate::manifest::Meta;
use crate::name::{is_kebab, is_semver};
use crate::reader::{Ctx, Doc, Need};
use crate::surface::{Layer, Origin, SurfaceItem, SurfaceKind};
use crate::text::escape;

const FILE: &str = "plugin.json";

const KEYS: &[&str] = &[
    "companions",
    "configSchema",
    "description",
    "hints",
    "hostModules",
    "name",
    "promptKeys",
    "systemMessage",
    "version",
];
const HINTS: &[&str] = &[
    "antiPatterns",
    "commonPatterns",
    "criticalRules",
    "optionalPlugins",
    "overview",
    "relatedModules",
    "requiredPlugins",
];
const SCHEMA: &[&str] =
    &["default", "description", "items", "maxLength", "maximum", "minimum", "promptKey", "required", "type"];

/// The number of files that are searched for imports, so that a large plugin stays cheap to check.
const IMPORTERS: usize = 1000;
/// The size of a file that is searched for imports; a larger one is reported as unresolved.
const IMPORTER_BYTES: usize = 2 << 20;

pub(crate) fn read(ctx: &mut Ctx<'_>, meta: &mut Meta) {
    let Some(file) = ctx.files.get(FILE) else {
        return ctx.error_at(Ctx::whole(FILE), Code::MissingFile, "expected the file plugin.json");
    };
    let Some(doc) = ctx.open(FILE, file.bytes) else { return };
    if let Some(members) = doc.root.members() {
        ctx.keys(&doc, members, KEYS);
        who(ctx, &doc, meta);
        host_modules(ctx, &doc, meta);
        optional(ctx, &doc, meta);
        Ctx::keep_raw(&doc, meta);
    } else {
        ctx.wrong(&doc, &doc.root, "an object", Need::Error);
    }
    ctx.close(&doc);
    entry(ctx, meta);
}

fn who(ctx: &mut Ctx<'_>, doc: &Doc<'_>, meta: &mut Meta) {
    let root = &doc.root;
    match root.get("name") {
        None => ctx.missing(doc, root, "name"),
        Some(node) => {
            meta.name = ctx.name(doc, node);
            let name = meta.name.clone().unwrap_or_default();
            if meta.name.is_some() && !is_kebab(&name) {
                let message = format!(
                    "expected lowercase words of a-z and 0-9 joined by hyphens, got `{}`",
                    escape(&name, 128)
                );
                ctx.error(doc, node.span(), Code::Name, message);
            } else if let Some(folder) = ctx.at.folder.filter(|folder| meta.name.is_some() && *folder != name)
            {
                let message = format!(
                    "expected the name of the directory, `{}`, got `{}`",
                    escape(folder, 128),
                    escape(&name, 128)
                );
                ctx.error(doc, node.span(), Code::NameNotFolder, message);
            }
        }
    }
    match root.get("version") {
        None => ctx.missing(doc, root, "version"),
        Some(node) => {
            if let Some(text) = ctx.plain(doc, node, Need::Error) {
                meta.version = Some(text.to_owned());
                if text.is_empty() || text.len() > 64 {
                    ctx.error(doc, node.span(), Code::Version, "expected 1 to 64 bytes");
                } else if text.starts_with(['v', 'V']) {
                    let message =
                        format!("expected a version without a leading v, got `{}`", escape(text, 64));
                    ctx.error(doc, node.span(), Code::Version, message);
                } else if !is_semver(text) {
                    ctx.notice(
                        doc,
                        node.span(),
                        Code::Version,
                        format!("`{}` is not a SemVer version", escape(text, 64)),
                    );
                }
            }
        }
    }
    match root.get("description") {
        None => ctx.missing(doc, root, "description"),
        Some(node) => {
            if let Some(text) = ctx.text(doc, node, Need::Error) {
                meta.description = Some(crate::ForeignText::new(text.to_owned()));
                ctx.prompt_text(doc, node, "description");
            }
        }
    }
}

fn host_modules(ctx: &mut Ctx<'_>, doc: &Doc<'_>, meta: &mut Meta) {
    let Some(node) = doc.root.get("hostModules") else {
        return ctx.missing(doc, &doc.root, "hostModules");
    };
    let Some(items) = node.items().filter(|items| !items.is_empty()) else {
        let got = if node.items().is_some() { "an empty list" } else { node.type_name() };
        return ctx.error(
            doc,
            node.span(),
            Code::Type,
            format!("expected a list of at least one string, got {got}"),
        );
    };
    let mut seen = BTreeSet::new();
    for item in items {
        let Some(name) = ctx.plain(doc, item, Need::Error) else { continue };
        if name.is_empty() {
            ctx.error(doc, item.span(), Code::Type, "expected a non-empty string, got an empty one");
        } else if !seen.insert(name.to_owned()) {
            let message = format!("expected each module once, got `{}` again", escape(name, 128));
            ctx.error(doc, item.span(), Code::Type, message);
        } else {
            let place = Ctx::place(doc, item.span());
            ctx.add(SurfaceItem::new(SurfaceKind::HostModule, name, place, doc.layer));
            meta.host_modules.push(name.to_owned());
        }
    }
}

fn optional(ctx: &mut Ctx<'_>, doc: &Doc<'_>, meta: &mut Meta) {
    let root = &doc.root;
    if let Some(node) = root.get("configSchema") {
        schema(ctx, doc, node);
    }
    if let Some(node) = root.get("systemMessage")
        && ctx.text(doc, node, Need::Error).is_some()
    {
        ctx.prompt_text(doc, node, "systemMessage");
    }
    if let Some(node) = root.get("promptKeys") {
        meta.prompt_keys = words(ctx, doc, node, Need::Notice);
    }
    if let Some(node) = root.get("companions") {
        for item in ctx.list(doc, node, Need::Error) {
            if let Some(name) = ctx.plain(doc, item, Need::Error) {
                meta.companions.push(name.to_owned());
                let place = Ctx::place(doc, item.span());
                ctx.add(SurfaceItem::new(SurfaceKind::Dependency, name, place, doc.layer));
            }
        }
    }
    if let Some(node) = root.get("hints") {
        hints(ctx, doc, node);
    }
}

fn words(ctx: &mut Ctx<'_>, doc: &Doc<'_>, node: &Node<'_>, need: Need) -> Vec<String> {
    let mut words = Vec::new();
    for item in ctx.list(doc, node, need) {
        if let Some(text) = ctx.text(doc, item, need) {
            words.push(text.to_owned());
        }
    }
    words
}

/// Checks the configuration schema. HyperAgent refuses only a schema that is not an object; wrong types are notices.
fn schema(ctx: &mut Ctx<'_>, doc: &Doc<'_>, node: &Node<'_>) {
    for member in ctx.object(doc, node, Need::Error) {
        ctx.refuse_hidden(doc, member.key_span(), member.key());
        let Some(keys) = member.node().members() else {
            ctx.wrong(doc, member.node(), "an object with type", Need::Notice);
            continue;
        };
        ctx.keys(doc, keys, SCHEMA);
        for key in keys {
            let value = key.node();
            let good = match key.key() {
                "type" => value
                    .as_str()
                    .is_some_and(|kind| matches!(kind, "string" | "number" | "boolean" | "array")),
                "description" => value.as_str().is_some(),
                "required" | "promptKey" => matches!(value.value(), Value::Bool(_)),
                "minimum" | "maximum" | "maxLength" => matches!(value.value(), Value::Number(_)),
                "items" => value.members().is_some(),
                _ => true,
            };
            if !good {
                let expected = match key.key() {
                    "type" => "one of string, number, boolean, array",
                    "description" => "a string",
                    "items" => "an object",
                    "required" | "promptKey" => "a boolean",
                    _ => "a number",
                };
                ctx.wrong(doc, value, expected, Need::Notice);
            }
        }
        let place = Ctx::place(doc, member.node().span());
        ctx.add(SurfaceItem::new(SurfaceKind::Settings, member.key(), place, doc.layer));
    }
}

/// Reads hints, which reach prompts; a value that is not text is refused.
fn hints(ctx: &mut Ctx<'_>, doc: &Doc<'_>, node: &Node<'_>) {
    let members = ctx.object(doc, node, Need::Error);
    ctx.keys(doc, members, HINTS);
    for member in members.iter().filter(|member| HINTS.contains(&member.key())) {
        for item in ctx.texts(doc, member.node(), Need::Error) {
            ctx.prompt_text(doc, item, &format!("hints/{}", member.key()));
        }
    }
}

/// Adds the entry file: `index.ts` if it exists, otherwise `index.js`. Inside `node_modules` it is always `index.js`.
fn entry(ctx: &mut Ctx<'_>, meta: &mut Meta) {
    let modules = ctx.at.path.split(['/', '\\']).any(|part| part == "node_modules");
    let file = if !modules && ctx.files.get("index.ts").is_some() { "index.ts" } else { "index.js" };
    let mut item = SurfaceItem::new(SurfaceKind::Entry, file, Ctx::whole(file), Layer::Plugin);
    item.origin = Origin::Found;
    item.files = vec![file.to_owned()];
    file.clone_into(&mut item.why);
    item.run = vec![file.to_owned()];
    meta.entry_file = Some(file.to_owned());
    if ctx.files.get(file).is_none() {
        item.place = Ctx::whole(FILE);
        ctx.missing_program(&mut item, file);
        item.place = Ctx::whole(file);
    }
    ctx.add(item);
    shared(ctx, file);
}

/// Follows relative imports inside the plugin directory. An import that leaves it becomes an item.
fn shared(ctx: &mut Ctx<'_>, entry: &str) {
    let mut seen: BTreeSet<String> = BTreeSet::from([entry.to_owned()]);
    let mut left = vec![entry.to_owned()];
    let mut outside = BTreeSet::new();
    while let Some(path) = left.pop() {
        let Some(file) = ctx.files.get(&path) else { continue };
        ctx.read.insert(path.clone());
        if file.bytes.len() > IMPORTER_BYTES {
            ctx.add(unread_item(&path, "too large to search for imports"));
            continue;
        }
        let text = String::from_utf8_lossy(file.bytes);
        for import in imports(&text) {
            match resolve(&path, &import.target) {
                Target::Inside(target) => match on_disk(ctx, &target) {
                    Some(found) if !seen.contains(&found) && seen.len() < IMPORTERS => {
                        seen.insert(found.clone());
                        left.push(found);
                    }
                    Some(found) if !seen.contains(&found) && outside.insert(String::new()) => {
                        ctx.add(unread_item(&found, "too many files to search for imports"));
                    }
                    _ => {}
                },
                Target::Outside(target) if outside.insert(target.clone()) => {
                    let place = Place {
                        file: path.clone(),
                        pointer: String::new(),
                        span: Span::new(import.start, import.start.saturating_add(import.target.len())),
                        position: None,
                    };
                    ctx.add(outside_item(ctx.at.shared, place, &target));
                }
                Target::Outside(_) | Target::Package => {}
            }
        }
    }
}

/// Returns an item for a file whose imports are unknown.
fn unread_item(path: &str, why: &str) -> SurfaceItem {
    let mut item = SurfaceItem::new(SurfaceKind::Shared, path, Ctx::whole(path), Layer::Plugin);
    item.coverage = Coverage::Unresolved;
    item.why = format!("{}: {why}", escape(path, 256));
    item
}

fn outside_item(digested: &[&str], place: Place, target: &str) -> SurfaceItem {
    let mut item = SurfaceItem::new(SurfaceKind::Shared, target, place, Layer::Plugin);
    let below =
        |root: &str| target.strip_prefix(root).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
    item.coverage =
        if digested.iter().any(|root| below(root)) { Coverage::Covered } else { Coverage::Unresolved };
    item.why = format!("{} is outside the plugin directory", escape(target, 256));
    item.run = vec![target.to_owned()];
    item
}

/// Returns the file that an import means, whose extension can be missing or different.
fn on_disk(ctx: &Ctx<'_>, target: &str) -> Option<String> {
    let stem = target.strip_suffix(".js").unwrap_or(target);
    let tries = [
        target.to_owned(),
        format!("{stem}.ts"),
        format!("{stem}.js"),
        format!("{target}.ts"),
        format!("{target}.js"),
        format!("{target}/index.ts"),
        format!("{target}/index.js"),
    ];
    tries.into_iter().find(|path| ctx.files.get(path).is_some())
}

enum Target {
    Inside(String),
    Outside(String),
    Package,
}

/// Resolves an import relative to the directory of its file, component by component.
fn resolve(from: &str, target: &str) -> Target {
    if !target.starts_with("./") && !target.starts_with("../") && target != "." && target != ".." {
        let leaves = target.starts_with('/') || target.starts_with("file:");
        return if leaves { Target::Outside(target.to_owned()) } else { Target::Package };
    }
    let mut parts: Vec<&str> = from.split('/').collect();
    parts.pop();
    let mut up = 0_usize;
    for part in target.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                if parts.pop().is_none() {
                    up = up.saturating_add(1);
                }
            }
            part => parts.push(part),
        }
    }
    let inner = parts.join("/");
    if up == 0 { Target::Inside(inner) } else { Target::Outside(format!("{}{inner}", "../".repeat(up))) }
}
