//! Reads plugins of OpenClaw: `openclaw.plugin.json`, and `openclaw.extensions` in `package.json`.

use crate::error::{ManifestCode, ManifestPlace};
use crate::json::{self, JsonNode, ParseLimits};
use crate::manifest::{Files, Meta};
use crate::reader::name::is_name;
use crate::reader::{Document, Reader, Requirement};
use crate::surface::prompts::PromptKind;
use crate::surface::{ManifestLayer, Origin, SurfaceItem, SurfaceKind};

const FILE: &str = "openclaw.plugin.json";
const PACKAGE: &str = "package.json";
/// The files that run if nothing names another.
const ENTRIES: [&str; 3] = ["index.ts", "index.js", "index.mjs"];

/// Returns `true` if `package.json` names extensions of OpenClaw.
pub(super) fn is_package(files: &dyn Files) -> bool {
    let Some(file) = files.get(PACKAGE) else { return false };
    let root = json::parse(file.bytes, &ParseLimits::standard());
    root.is_ok_and(|root| root.get("openclaw").is_some_and(|own| own.get("extensions").is_some()))
}

pub(crate) fn read(reader: &mut Reader<'_>, meta: &mut Meta) {
    let mut starts = 0_usize;
    if let Some(file) = reader.files.get(PACKAGE).filter(|_| is_package(reader.files))
        && let Some(doc) = reader.open(PACKAGE, file.bytes)
    {
        starts = extensions(reader, &doc);
        describe(reader, &doc, meta);
        reader.close(&doc);
    }
    let has_package = meta.name.is_some() || starts > 0;
    match reader.files.get(FILE) {
        Some(file) => {
            let Some(doc) = reader.open(FILE, file.bytes) else { return };
            if doc.root.members().is_none() {
                reader.wrong(&doc, &doc.root, "an object", Requirement::Strict);
            }
            if let Some(node) = doc.root.get("id") {
                meta.name = reader.name(&doc, node);
            }
            describe(reader, &doc, meta);
            if let Some(node) = doc.root.get("skills") {
                reader.prompts_key(&doc, node, PromptKind::Skills);
            }
            reader.close(&doc);
        }
        None if !has_package => {
            let message = format!("expected the file {FILE}");
            return reader.error_at(ManifestPlace::of_file(FILE), ManifestCode::MissingFile, message);
        }
        None => {}
    }
    if starts == 0
        && let Some(entry) = ENTRIES.iter().find(|file| reader.files.get(file).is_some())
    {
        let place = ManifestPlace::of_file(entry);
        let mut item = SurfaceItem::new(SurfaceKind::Entry, *entry, place, ManifestLayer::Plugin);
        item.origin = Origin::Found;
        reader.run_file(item, entry);
    }
    reader.prompt_files("skills", PromptKind::Skills, Origin::Found, ManifestLayer::Plugin);
    let directory = reader.context.directory.filter(|name| is_name(name)).map(ToOwned::to_owned);
    meta.name = meta.name.take().or(directory).or_else(|| Some("plugin".to_owned()));
}

/// Reads the metadata, and a name that can be part of an id.
fn describe(reader: &mut Reader<'_>, doc: &Document<'_>, meta: &mut Meta) {
    let name = doc.root.get("name").and_then(JsonNode::as_str).unwrap_or_default();
    // The scope of a package is not part of the plugin's name.
    let name = name.rsplit('/').next().unwrap_or(name);
    meta.name = meta.name.take().or_else(|| is_name(name).then(|| name.to_owned()));
    if let Some(node) = doc.root.get("version") {
        meta.version = reader.loose_version(doc, node).or(meta.version.take());
    }
    reader.common(doc, meta);
}

/// Adds the files that run inside the host, and returns their number.
fn extensions(reader: &mut Reader<'_>, doc: &Document<'_>) -> usize {
    let list = doc.root.get("openclaw").and_then(|own| own.get("extensions"));
    let Some(list) = list else { return 0 };
    let nodes = reader.texts(doc, list, Requirement::Strict);
    let count = nodes.len();
    for node in nodes {
        let Some(path) = reader.path(doc, node) else { continue };
        // Of a directory, the index runs. One without an index has other parts of the plugin.
        let is_directory = reader.files.under(&path.path).next().is_some();
        let mut index = ENTRIES.iter().map(|file| format!("{}/{file}", path.path));
        let file = if is_directory {
            index.find(|file| reader.files.get(file).is_some())
        } else {
            Some(path.path.clone())
        };
        let Some(file) = file else { continue };
        let place = doc.place(node.span());
        reader.run_file(SurfaceItem::new(SurfaceKind::Entry, file.clone(), place, doc.layer), &file);
    }
    count
}
