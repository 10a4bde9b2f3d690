//! Reads the extension manifest of Gemini CLI.

use crate::code::Code;
use crate::json::{Node, Value};
use crate::manifest::Meta;
use crate::prompts::Prompts;
use crate::reader::{Ctx, Doc, Need};
use crate::servers::Servers;
use crate::surface::{Fact, Layer, Origin, SurfaceItem, SurfaceKind};
use crate::text::escape;

const FILE: &str = "gemini-extension.json";

const KEYS: &[&str] = &[
    "$schema",
    "author",
    "contextFileName",
    "description",
    "excludeTools",
    "homepage",
    "keywords",
    "license",
    "mcpServers",
    "migratedTo",
    "name",
    "plan",
    "repository",
    "settings",
    "themes",
    "version",
];

pub(crate) fn read(ctx: &mut Ctx<'_>, meta: &mut Meta) {
    let Some(file) = ctx.files.get(FILE) else {
        return ctx.error_at(Ctx::whole(FILE), Code::MissingFile, format!("expected the file {FILE}"));
    };
    let Some(doc) = ctx.open(FILE, file.bytes) else { return };
    if let Some(members) = doc.root.members() {
        ctx.keys(&doc, members, KEYS);
        who(ctx, &doc, meta);
        ctx.common(&doc, meta);
        context(ctx, &doc);
        if let Some(node) = doc.root.get("mcpServers") {
            ctx.servers_key(&doc, node, Servers::Mcp);
        }
        if let Some(node) = doc.root.get("settings") {
            settings(ctx, &doc, node);
        }
        if let Some(node) = doc.root.get("excludeTools") {
            ctx.texts(&doc, node, Need::Notice);
        }
    } else {
        ctx.wrong(&doc, &doc.root, "an object", Need::Error);
    }
    ctx.close(&doc);
    ctx.standard_hooks(&["hooks/hooks.json"]);
    ctx.prompt_files("commands", Prompts::TomlCommands, Origin::Found, Layer::Plugin);
    ctx.prompt_files("skills", Prompts::Skills, Origin::Found, Layer::Plugin);
    ctx.prompt_files("agents", Prompts::Agents, Origin::Found, Layer::Plugin);
}

fn who(ctx: &mut Ctx<'_>, doc: &Doc<'_>, meta: &mut Meta) {
    match doc.root.get("name") {
        None => ctx.missing(doc, &doc.root, "name"),
        Some(node) => {
            meta.name = ctx.name(doc, node);
            let differs = |folder: &&str| meta.name.as_deref().is_some_and(|name| name != *folder);
            if let Some(folder) = ctx.at.folder.filter(differs) {
                let message = format!("the directory has a different name: `{}`", escape(folder, 128));
                ctx.notice(doc, node.span(), Code::NameNotFolder, message);
            }
        }
    }
    match doc.root.get("version") {
        None => ctx.missing(doc, &doc.root, "version"),
        Some(node) if node.is_null() => ctx.wrong(doc, node, "a string", Need::Error),
        Some(node) => meta.version = ctx.loose_version(doc, node),
    }
}

/// Adds the context files; the default is `GEMINI.md`.
fn context(ctx: &mut Ctx<'_>, doc: &Doc<'_>) {
    let Some(node) = doc.root.get("contextFileName") else {
        if ctx.files.get("GEMINI.md").is_some() {
            ctx.prompt_file("GEMINI.md", "context", Origin::Found, Layer::Plugin);
        }
        return;
    };
    for item in ctx.texts(doc, node, Need::Error) {
        let Some(path) = ctx.path(doc, item) else { continue };
        if path.glob {
            ctx.glob(doc, item);
        } else if ctx.files.get(&path.path).is_none() {
            let place = Ctx::place(doc, item.span());
            ctx.missing_file(&place, &path.path);
        }
        ctx.prompt_file(&path.path, "context", Origin::Declared, Layer::Plugin);
    }
}

/// Reads `[{name, description, envVar, sensitive}]`.
fn settings(ctx: &mut Ctx<'_>, doc: &Doc<'_>, node: &Node<'_>) {
    for item in ctx.list(doc, node, Need::Notice) {
        let Some(members) = item.members() else {
            ctx.wrong(doc, item, "an object with name and envVar", Need::Notice);
            continue;
        };
        ctx.keys(doc, members, &["description", "envVar", "name", "sensitive"]);
        let name = item.get("name").and_then(|name| ctx.plain(doc, name, Need::Notice)).unwrap_or_default();
        let mut setting =
            SurfaceItem::new(SurfaceKind::Settings, name, Ctx::place(doc, item.span()), doc.layer);
        let sensitive = item.get("sensitive").is_some_and(|value| matches!(value.value(), Value::Bool(true)));
        setting.facts.insert("sensitive", Fact::Text(sensitive.to_string()));
        if let Some(variable) = item.get("envVar").and_then(|name| ctx.plain(doc, name, Need::Error)) {
            setting.reads_env.push(variable.to_owned());
        }
        ctx.add(setting);
    }
}
