//! Reads the manifest of Codex.

use crate::error::{ManifestCode, ManifestPlace};
use crate::json::{JsonNode, JsonValue};
use crate::manifest::Meta;
use crate::reader::{Document, Reader, Requirement};
use crate::surface::commands::scalar_text;
use crate::surface::prompts::PromptKind;
use crate::surface::servers::ServerList;
use crate::surface::{Coverage, ManifestLayer, Origin, SurfaceFact, SurfaceItem, SurfaceKind};

const FILE: &str = ".codex-plugin/plugin.json";

const KEYS: &[&str] = plugward_types::words![
    "$schema apps author description homepage hooks interface keywords license mcpServers name repository",
    "skills version",
];

const INTERFACE: &[&str] = plugward_types::words![
    "brandColor capabilities category composerIcon defaultPrompt developerName displayName logo logoDark",
    "longDescription privacyPolicyURL screenshots shortDescription termsOfServiceURL websiteURL",
];

/// The mark of files that were read as apps; a file can also be read for another purpose.
const APPS: &str = "apps-file";

const HOOKS: &[&str] = &["hooks/hooks.json", "hooks.json"];

pub(crate) fn read(reader: &mut Reader<'_>, meta: &mut Meta) {
    let Some(file) = reader.files.get(FILE) else {
        return reader.error_at(
            ManifestPlace::of_file(FILE),
            ManifestCode::MissingFile,
            format!("expected the file {FILE}"),
        );
    };
    let Some(doc) = reader.open(FILE, file.bytes) else { return };
    let mut has_skills = false;
    if let Some(members) = doc.root.members() {
        let known: Vec<&str> = KEYS.iter().chain(&["mcp", "mcp_servers"]).copied().collect();
        reader.keys(&doc, members, &known);
        match doc.root.get("name") {
            None => reader.missing(&doc, &doc.root, "name"),
            Some(node) => meta.name = reader.name(&doc, node),
        }
        if let Some(node) = doc.root.get("version") {
            meta.version = reader.loose_version(&doc, node);
        }
        reader.common(&doc, meta);
        has_skills = doc.root.get("skills").is_some();
        declared(reader, &doc, meta);
    } else {
        reader.wrong(&doc, &doc.root, "an object", Requirement::Strict);
    }
    reader.close(&doc);
    entry(reader, meta);
    reader.standard_hooks(HOOKS);
    reader.standard_servers(".mcp.json", ServerList::Mcp);
    // The manifest may already have declared the standard file.
    let fresh = !reader.visited.contains(&(".app.json".to_owned(), APPS));
    if let Some(view) = reader.files.get(".app.json").filter(|_| fresh) {
        apps_file(reader, ".app.json", view.bytes, Origin::Found);
    }
    if !has_skills {
        reader.prompt_files("skills", PromptKind::Skills, Origin::Found, ManifestLayer::Plugin);
    }
}

/// Reads the components that the manifest or the marketplace entry declares.
fn declared(reader: &mut Reader<'_>, doc: &Document<'_>, meta: &mut Meta) {
    let root = &doc.root;
    if let Some(node) = root.get("skills") {
        reader.prompts_key(doc, node, PromptKind::Skills);
    }
    if let Some(node) = root.get("hooks") {
        reader.hooks_key(doc, node, HOOKS);
    }
    if let Some(node) = root.get("mcpServers") {
        reader.servers_key(doc, node, ServerList::Mcp);
    }
    reader.misnamed_servers(doc);
    if let Some(node) = root.get("apps") {
        apps(reader, doc, node);
    }
    if let Some(node) = root.get("interface") {
        interface(reader, doc, node, meta);
    }
}

/// Reads the marketplace entry, whose components are added to those of the manifest.
fn entry(reader: &mut Reader<'_>, meta: &mut Meta) {
    let Some((entry, doc)) = reader.open_entry(meta.name.as_deref()) else { return };
    declared(reader, &doc, meta);
    reader.close(&doc);
    meta.name = Some(entry.name().to_owned());
}

/// Reads the key `apps`: a path to `.app.json`, or the object itself.
fn apps(reader: &mut Reader<'_>, doc: &Document<'_>, node: &JsonNode<'_>) {
    match node.value() {
        JsonValue::Object(_) => apps_object(reader, doc, node, Origin::Declared),
        _ => {
            let Some(path) = reader.path(doc, node) else { return };
            match reader.files.get(&path.path) {
                Some(view) if !reader.visited.contains(&(path.path.clone(), APPS)) => {
                    apps_file(reader, &path.path, view.bytes, Origin::Declared);
                }
                Some(_) => {}
                None => {
                    let place = doc.place(node.span());
                    reader.missing_file(&place, &path.path);
                }
            }
        }
    }
}

fn apps_file(reader: &mut Reader<'_>, file: &str, bytes: &[u8], origin: Origin) {
    reader.visited.insert((file.to_owned(), APPS));
    let Some(doc) = reader.open(file, bytes) else { return };
    apps_object(reader, &doc, &doc.root, origin);
    reader.close(&doc);
}

/// Reads `{apps: {name: {id}}}`.
fn apps_object(reader: &mut Reader<'_>, doc: &Document<'_>, node: &JsonNode<'_>, origin: Origin) {
    let inner = node.get("apps").unwrap_or(node);
    for member in reader.object(doc, inner, Requirement::Strict) {
        reader.refuse_hidden(doc, member.key_span(), member.key());
        let mut item =
            SurfaceItem::new(SurfaceKind::App, member.key(), doc.place(member.node().span()), doc.layer);
        item.origin = origin;
        item.coverage = Coverage::RemoteUrl;
        let id = match member.node().get("id") {
            Some(id) => reader.plain(doc, id, Requirement::Strict).unwrap_or_default().to_owned(),
            None => scalar_text(member.node()),
        };
        // The host resolves the id to an address, which the plugin does not contain.
        item.why = crate::reader::text::escape(&id, 128);
        item.facts.insert("id", SurfaceFact::Text(id));
        reader.add(item);
    }
}

/// Reads how Codex displays the plugin. Default prompts reach the model, the rest is metadata.
fn interface(reader: &mut Reader<'_>, doc: &Document<'_>, node: &JsonNode<'_>, meta: &mut Meta) {
    let Some(members) = node.members() else {
        return reader.wrong(doc, node, "an object", Requirement::Lenient);
    };
    reader.keys(doc, members, INTERFACE);
    if let Some(name) = node.get("displayName") {
        meta.display_name = reader.foreign(doc, name).or(meta.display_name.take());
    }
    for key in ["composerIcon", "logo", "logoDark"] {
        if let Some(path) = node.get(key) {
            reader.path(doc, path);
        }
    }
    if let Some(shots) = node.get("screenshots") {
        for shot in reader.texts(doc, shots, Requirement::Lenient) {
            reader.path(doc, shot);
        }
    }
    if let Some(prompt) = node.get("defaultPrompt") {
        let texts = reader.texts(doc, prompt, Requirement::Lenient);
        let long = texts.iter().any(|text| text.as_str().is_some_and(|text| text.chars().count() > 128));
        if texts.len() > 3 || long {
            reader.notice(
                doc,
                prompt.span(),
                ManifestCode::DefaultPrompt,
                "more than 3 default prompts, or one longer than 128 characters",
            );
        }
        reader.prompt_text(doc, prompt, "interface/defaultPrompt");
    }
}
