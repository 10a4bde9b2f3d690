//! Reads the manifest of HyperAgent, and the files outside the plugin that its entry file imports.
#![expect(clippy::arithmetic_side_effects, reason = "offsets into a slice in memory cannot overflow")]

mod imports;

use std::collections::BTreeSet;

use plugward_types::Span;

use crate::error::{ManifestCode, ManifestPlace};
use crate::json::{JsonNode, JsonValue};
use crate::manifest::Meta;
use crate::reader::name::is_kebab;
use crate::reader::text::escape;
use crate::reader::{Document, Reader, Requirement};
use crate::surface::{Coverage, ManifestLayer, Origin, SurfaceItem, SurfaceKind};
use imports::imports;

const FILE: &str = "plugin.json";

const KEYS: &[&str] = plugward_types::words![
    "companions configSchema description hints hostModules name promptKeys systemMessage version",
];
const HINTS: &[&str] = plugward_types::words![
    "antiPatterns commonPatterns criticalRules optionalPlugins overview relatedModules requiredPlugins",
];
const SCHEMA: &[&str] =
    &["default", "description", "items", "maxLength", "maximum", "minimum", "promptKey", "required", "type"];

/// The number of files that are searched for imports, so that a large plugin stays cheap to check.
const MAX_IMPORTERS: usize = 1000;
/// The size of a file that is searched for imports; a larger one is reported as unresolved.
const MAX_IMPORTER_BYTES: usize = 2 << 20;

/// Returns `true` if HyperAgent would accept a manifest.
pub(crate) fn loads(root: &JsonNode<'_>) -> bool {
    let text = |key: &str| root.get(key).and_then(JsonNode::as_str);
    text("name").is_some()
        && text("version").is_some_and(|version| !version.starts_with(['v', 'V']))
        && text("description").is_some()
        && root
            .get("hostModules")
            .and_then(JsonNode::items)
            .is_some_and(|items| !items.is_empty() && items.iter().all(|item| item.as_str().is_some()))
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
    if let Some(members) = doc.root.members() {
        reader.keys(&doc, members, KEYS);
        identity(reader, &doc, meta);
        host_modules(reader, &doc, meta);
        optional(reader, &doc, meta);
        Reader::keep_raw(&doc, meta);
    } else {
        reader.wrong(&doc, &doc.root, "an object", Requirement::Strict);
    }
    reader.close(&doc);
    entry(reader, meta);
}

/// Reads name, version and description, which HyperAgent requires.
fn identity(reader: &mut Reader<'_>, doc: &Document<'_>, meta: &mut Meta) {
    let root = &doc.root;
    match root.get("name") {
        None => reader.missing(doc, root, "name"),
        Some(node) => {
            meta.name = reader.name(doc, node);
            let name = meta.name.clone().unwrap_or_default();
            if meta.name.is_some() && !is_kebab(&name) {
                let message = format!(
                    "expected lowercase words of a-z and 0-9 joined by hyphens, got `{}`",
                    escape(&name, 128)
                );
                reader.error(doc, node.span(), ManifestCode::Name, message);
            } else if let Some(directory) =
                reader.context.directory.filter(|directory| meta.name.is_some() && *directory != name)
            {
                let message = format!(
                    "expected the name of the directory, `{}`, got `{}`",
                    escape(directory, 128),
                    escape(&name, 128)
                );
                reader.error(doc, node.span(), ManifestCode::NameNotDirectory, message);
            }
        }
    }
    match root.get("version") {
        None => reader.missing(doc, root, "version"),
        Some(node) => {
            if let Some(text) = reader.plain(doc, node, Requirement::Strict) {
                meta.version = Some(text.to_owned());
                if text.is_empty() || text.len() > 64 {
                    reader.error(doc, node.span(), ManifestCode::Version, "expected 1 to 64 bytes");
                } else if text.starts_with(['v', 'V']) {
                    let message =
                        format!("expected a version without a leading v, got `{}`", escape(text, 64));
                    reader.error(doc, node.span(), ManifestCode::Version, message);
                } else if !plugward_commands::is_semver(text) {
                    reader.notice(
                        doc,
                        node.span(),
                        ManifestCode::Version,
                        format!("`{}` is not a SemVer version", escape(text, 64)),
                    );
                }
            }
        }
    }
    match root.get("description") {
        None => reader.missing(doc, root, "description"),
        Some(node) => {
            if let Some(text) = reader.text(doc, node, Requirement::Strict) {
                meta.description = Some(crate::ForeignText::new(text.to_owned()));
                reader.prompt_text(doc, node, "description");
            }
        }
    }
}

/// Reads the modules of the plugin. HyperAgent requires at least one.
fn host_modules(reader: &mut Reader<'_>, doc: &Document<'_>, meta: &mut Meta) {
    let Some(node) = doc.root.get("hostModules") else {
        return reader.missing(doc, &doc.root, "hostModules");
    };
    let Some(items) = node.items().filter(|items| !items.is_empty()) else {
        let got = if node.items().is_some() { "an empty list" } else { node.type_name() };
        return reader.error(
            doc,
            node.span(),
            ManifestCode::Type,
            format!("expected a list of at least one string, got {got}"),
        );
    };
    let mut seen = BTreeSet::new();
    for item in items {
        let Some(name) = reader.plain(doc, item, Requirement::Strict) else { continue };
        if name.is_empty() {
            reader.error(
                doc,
                item.span(),
                ManifestCode::Type,
                "expected a non-empty string, got an empty one",
            );
        } else if !seen.insert(name.to_owned()) {
            let message = format!("expected each module once, got `{}` again", escape(name, 128));
            reader.error(doc, item.span(), ManifestCode::Type, message);
        } else {
            let place = doc.place(item.span());
            reader.add(SurfaceItem::new(SurfaceKind::HostModule, name, place, doc.layer));
            meta.host_modules.push(name.to_owned());
        }
    }
}

fn optional(reader: &mut Reader<'_>, doc: &Document<'_>, meta: &mut Meta) {
    let root = &doc.root;
    if let Some(node) = root.get("configSchema") {
        schema(reader, doc, node);
    }
    if let Some(node) = root.get("systemMessage")
        && reader.text(doc, node, Requirement::Strict).is_some()
    {
        reader.prompt_text(doc, node, "systemMessage");
    }
    if let Some(node) = root.get("promptKeys") {
        meta.prompt_keys = words(reader, doc, node, Requirement::Lenient);
    }
    if let Some(node) = root.get("companions") {
        for item in reader.list(doc, node, Requirement::Strict) {
            if let Some(name) = reader.plain(doc, item, Requirement::Strict) {
                meta.companions.push(name.to_owned());
                let place = doc.place(item.span());
                reader.add(SurfaceItem::new(SurfaceKind::Dependency, name, place, doc.layer));
            }
        }
    }
    if let Some(node) = root.get("hints") {
        hints(reader, doc, node);
    }
}

fn words(
    reader: &mut Reader<'_>,
    doc: &Document<'_>,
    node: &JsonNode<'_>,
    requirement: Requirement,
) -> Vec<String> {
    let mut words = Vec::new();
    for item in reader.list(doc, node, requirement) {
        if let Some(text) = reader.text(doc, item, requirement) {
            words.push(text.to_owned());
        }
    }
    words
}

/// Checks the configuration schema. HyperAgent refuses only a schema that is not an object; wrong types are notices.
fn schema(reader: &mut Reader<'_>, doc: &Document<'_>, node: &JsonNode<'_>) {
    for member in reader.object(doc, node, Requirement::Strict) {
        reader.refuse_hidden(doc, member.key_span(), member.key());
        let Some(keys) = member.node().members() else {
            reader.wrong(doc, member.node(), "an object with type", Requirement::Lenient);
            continue;
        };
        reader.keys(doc, keys, SCHEMA);
        for key in keys {
            let value = key.node();
            let good = match key.key() {
                "type" => value
                    .as_str()
                    .is_some_and(|kind| matches!(kind, "string" | "number" | "boolean" | "array")),
                "description" => value.as_str().is_some(),
                "required" | "promptKey" => matches!(value.value(), JsonValue::Bool(_)),
                "minimum" | "maximum" | "maxLength" => matches!(value.value(), JsonValue::Number(_)),
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
                reader.wrong(doc, value, expected, Requirement::Lenient);
            }
        }
        let place = doc.place(member.node().span());
        reader.add(SurfaceItem::new(SurfaceKind::Settings, member.key(), place, doc.layer));
    }
}

/// Reads hints, which reach prompts; a value that is not text is refused.
fn hints(reader: &mut Reader<'_>, doc: &Document<'_>, node: &JsonNode<'_>) {
    let members = reader.object(doc, node, Requirement::Strict);
    reader.keys(doc, members, HINTS);
    for member in members.iter().filter(|member| HINTS.contains(&member.key())) {
        for item in reader.texts(doc, member.node(), Requirement::Strict) {
            reader.prompt_text(doc, item, &format!("hints/{}", member.key()));
        }
    }
}

/// Adds the entry file: `index.ts` if it exists, otherwise `index.js`. Inside `node_modules` it is always `index.js`.
fn entry(reader: &mut Reader<'_>, meta: &mut Meta) {
    // Node.js does not strip types in `node_modules`, so HyperAgent loads the compiled file there.
    let modules = reader.context.path.split(['/', '\\']).any(|part| part == "node_modules");
    let file = if !modules && reader.files.get("index.ts").is_some() { "index.ts" } else { "index.js" };
    let mut item =
        SurfaceItem::new(SurfaceKind::Entry, file, ManifestPlace::of_file(file), ManifestLayer::Plugin);
    item.origin = Origin::Found;
    item.files = vec![file.to_owned()];
    file.clone_into(&mut item.why);
    item.run = vec![file.to_owned()];
    meta.entry_file = Some(file.to_owned());
    if reader.files.get(file).is_none() {
        item.place = ManifestPlace::of_file(FILE);
        reader.missing_program(&mut item, file);
        item.place = ManifestPlace::of_file(file);
    }
    reader.add(item);
    shared(reader, file);
}

/// Follows relative imports inside the plugin directory. An import that leaves it becomes an item.
fn shared(reader: &mut Reader<'_>, entry: &str) {
    let mut seen: BTreeSet<String> = BTreeSet::from([entry.to_owned()]);
    let mut left = vec![entry.to_owned()];
    let mut outside = BTreeSet::new();
    while let Some(path) = left.pop() {
        let Some(file) = reader.files.get(&path) else { continue };
        reader.read.insert(path.clone());
        if file.bytes.len() > MAX_IMPORTER_BYTES {
            reader.add(unread_item(&path, "too large to search for imports"));
            continue;
        }
        let text = String::from_utf8_lossy(file.bytes);
        for import in imports(&text) {
            match resolve(&path, &import.target) {
                ImportTarget::Inside(target) => match on_disk(reader, &target) {
                    Some(found) if !seen.contains(&found) && seen.len() < MAX_IMPORTERS => {
                        seen.insert(found.clone());
                        left.push(found);
                    }
                    // The empty string records that the limit was reported; it cannot be the target of an import.
                    Some(found) if !seen.contains(&found) && outside.insert(String::new()) => {
                        reader.add(unread_item(&found, "too many files to search for imports"));
                    }
                    _ => {}
                },
                ImportTarget::Outside(target) if outside.insert(target.clone()) => {
                    let place = ManifestPlace {
                        file: path.clone(),
                        pointer: String::new(),
                        span: Span::new(import.start, import.start + import.target.len()),
                        position: None,
                    };
                    reader.add(outside_item(reader.context.shared, place, &target));
                }
                ImportTarget::Outside(_) | ImportTarget::Package => {}
            }
        }
    }
}

/// Returns an item for a file whose imports are unknown.
fn unread_item(path: &str, why: &str) -> SurfaceItem {
    let mut item =
        SurfaceItem::new(SurfaceKind::Shared, path, ManifestPlace::of_file(path), ManifestLayer::Plugin);
    item.coverage = Coverage::Unresolved;
    item.why = format!("{}: {why}", escape(path, 256));
    item
}

/// Returns an item for an imported file outside the plugin, which is covered if its directory is digested too.
fn outside_item(digested: &[&str], place: ManifestPlace, target: &str) -> SurfaceItem {
    let mut item = SurfaceItem::new(SurfaceKind::Shared, target, place, ManifestLayer::Plugin);
    let below =
        |root: &str| target.strip_prefix(root).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
    item.coverage =
        if digested.iter().any(|root| below(root)) { Coverage::Covered } else { Coverage::Unresolved };
    item.why = format!("{} is outside the plugin directory", escape(target, 256));
    item.run = vec![target.to_owned()];
    item
}

/// Returns the file that an import means, whose extension can be missing or different.
fn on_disk(reader: &Reader<'_>, target: &str) -> Option<String> {
    // TypeScript sources import `./x.js` when the file is `./x.ts`.
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
    tries.into_iter().find(|path| reader.files.get(path).is_some())
}

enum ImportTarget {
    Inside(String),
    Outside(String),
    Package,
}

/// Resolves an import relative to the directory of its file, component by component.
fn resolve(from: &str, target: &str) -> ImportTarget {
    if !target.starts_with("./") && !target.starts_with("../") && target != "." && target != ".." {
        // Other imports are packages, which the host resolves.
        let leaves = target.starts_with('/') || target.starts_with("file:");
        return if leaves { ImportTarget::Outside(target.to_owned()) } else { ImportTarget::Package };
    }
    let mut parts: Vec<&str> = from.split('/').collect();
    parts.pop();
    let mut up = 0_usize;
    for part in target.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                if parts.pop().is_none() {
                    up += 1;
                }
            }
            part => parts.push(part),
        }
    }
    let inner = parts.join("/");
    if up == 0 {
        ImportTarget::Inside(inner)
    } else {
        ImportTarget::Outside(format!("{}{inner}", "../".repeat(up)))
    }
}
