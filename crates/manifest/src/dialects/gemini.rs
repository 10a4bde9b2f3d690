//! Reads the extension manifest of Gemini CLI.

use crate::error::{ManifestCode, ManifestPlace};
use crate::json::{JsonNode, JsonValue};
use crate::manifest::Meta;
use crate::reader::text::escape;
use crate::reader::{Document, Reader, Requirement};
use crate::surface::prompts::PromptKind;
use crate::surface::servers::ServerList;
use crate::surface::{ManifestLayer, Origin, SurfaceFact, SurfaceItem, SurfaceKind};

const FILE: &str = "gemini-extension.json";

const KEYS: &[&str] = plugward_types::words![
    "$schema author contextFileName description excludeTools homepage keywords license mcpServers migratedTo",
    "name plan repository settings themes version",
];

pub(crate) fn read(reader: &mut Reader<'_>, meta: &mut Meta) {
    let Some(file) = reader.files.get(FILE) else {
        return reader.error_at(
            ManifestPlace::of_file(FILE),
            ManifestCode::MissingFile,
            format!("expected the file {FILE}"),
        );
    };
    let Some(doc) = reader.open(FILE, file.bytes) else { return };
    if let Some(members) = doc.root.members() {
        reader.keys(&doc, members, KEYS);
        identity(reader, &doc, meta);
        reader.common(&doc, meta);
        context(reader, &doc);
        if let Some(node) = doc.root.get("mcpServers") {
            reader.servers_key(&doc, node, ServerList::Mcp);
        }
        if let Some(node) = doc.root.get("settings") {
            settings(reader, &doc, node);
        }
        if let Some(node) = doc.root.get("excludeTools") {
            reader.texts(&doc, node, Requirement::Lenient);
        }
    } else {
        reader.wrong(&doc, &doc.root, "an object", Requirement::Strict);
    }
    reader.close(&doc);
    reader.standard_hooks(&["hooks/hooks.json"]);
    reader.prompt_files("commands", PromptKind::TomlCommands, Origin::Found, ManifestLayer::Plugin);
    reader.prompt_files("skills", PromptKind::Skills, Origin::Found, ManifestLayer::Plugin);
    reader.prompt_files("agents", PromptKind::Agents, Origin::Found, ManifestLayer::Plugin);
}

/// Reads name and version, which Gemini CLI requires.
fn identity(reader: &mut Reader<'_>, doc: &Document<'_>, meta: &mut Meta) {
    match doc.root.get("name") {
        None => reader.missing(doc, &doc.root, "name"),
        Some(node) => {
            meta.name = reader.name(doc, node);
            // An extension is installed under its name, so another directory name is unusual but harmless.
            let differs = |directory: &&str| meta.name.as_deref().is_some_and(|name| name != *directory);
            if let Some(directory) = reader.context.directory.filter(differs) {
                let message = format!("the directory has a different name: `{}`", escape(directory, 128));
                reader.notice(doc, node.span(), ManifestCode::NameNotDirectory, message);
            }
        }
    }
    match doc.root.get("version") {
        None => reader.missing(doc, &doc.root, "version"),
        Some(node) if node.is_null() => reader.wrong(doc, node, "a string", Requirement::Strict),
        Some(node) => meta.version = reader.loose_version(doc, node),
    }
}

/// Adds the context files; the default is `GEMINI.md`.
fn context(reader: &mut Reader<'_>, doc: &Document<'_>) {
    let Some(node) = doc.root.get("contextFileName") else {
        if reader.files.get("GEMINI.md").is_some() {
            reader.prompt_file("GEMINI.md", "context", Origin::Found, ManifestLayer::Plugin);
        }
        return;
    };
    for item in reader.texts(doc, node, Requirement::Strict) {
        let Some(path) = reader.path(doc, item) else { continue };
        if path.glob {
            reader.glob(doc, item);
        } else if reader.files.get(&path.path).is_none() {
            let place = doc.place(item.span());
            reader.missing_file(&place, &path.path);
        }
        reader.prompt_file(&path.path, "context", Origin::Declared, ManifestLayer::Plugin);
    }
}

/// Reads `[{name, description, envVar, sensitive}]`.
fn settings(reader: &mut Reader<'_>, doc: &Document<'_>, node: &JsonNode<'_>) {
    for item in reader.list(doc, node, Requirement::Lenient) {
        let Some(members) = item.members() else {
            reader.wrong(doc, item, "an object with name and envVar", Requirement::Lenient);
            continue;
        };
        reader.keys(doc, members, &["description", "envVar", "name", "sensitive"]);
        let name = item
            .get("name")
            .and_then(|name| reader.plain(doc, name, Requirement::Lenient))
            .unwrap_or_default();
        let mut setting = SurfaceItem::new(SurfaceKind::Settings, name, doc.place(item.span()), doc.layer);
        let sensitive =
            item.get("sensitive").is_some_and(|value| matches!(value.value(), JsonValue::Bool(true)));
        setting.facts.insert("sensitive", SurfaceFact::Text(sensitive.to_string()));
        if let Some(variable) =
            item.get("envVar").and_then(|name| reader.plain(doc, name, Requirement::Strict))
        {
            setting.reads_env.push(variable.to_owned());
        }
        reader.add(setting);
    }
}
