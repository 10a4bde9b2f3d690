//! Reads the manifest of Codex.

use crate::code::Code;
use crate::coverage::Coverage;
use crate::json::{Node, Value};
use crate::manifest::Meta;
use crate::prompts::Prompts;
use crate::reader::{Ctx, Doc, Need};
use crate::runs::scalar_text;
use crate::servers::Servers;
use crate::surface::{Fact, Layer, Origin, SurfaceItem, SurfaceKind};

const FILE: &str = ".codex-plugin/plugin.json";

const KEYS: &[&str] = &[
    "$schema",
    "apps",
    "author",
    "description",
    "homepage",
    "hooks",
    "interface",
    "keywords",
    "license",
    "mcpServers",
    "name",
    "repository",
    "skills",
    "version",
];

const INTERFACE: &[&str] = &[
    "brandColor",
    "capabilities",
    "category",
    "composerIcon",
    "defaultPrompt",
    "developerName",
    "displayName",
    "logo",
    "logoDark",
    "longDescription",
    "privacyPolicyURL",
    "screenshots",
    "shortDescription",
    "termsOfServiceURL",
    "websiteURL",
];

/// The mark of files that were read as apps; a file can also be read for another purpose.
const APPS: &str = "apps-file";

const HOOKS: &[&str] = &["hooks/hooks.json", "hooks.json"];

pub(crate) fn read(ctx: &mut Ctx<'_>, meta: &mut Meta) {
    let Some(file) = ctx.files.get(FILE) else {
        return ctx.error_at(Ctx::whole(FILE), Code::MissingFile, format!("expected the file {FILE}"));
    };
    let Some(doc) = ctx.open(FILE, file.bytes) else { return };
    let mut has_skills = false;
    if let Some(members) = doc.root.members() {
        let known: Vec<&str> = KEYS.iter().chain(&["mcp", "mcp_servers"]).copied().collect();
        ctx.keys(&doc, members, &known);
        match doc.root.get("name") {
            None => ctx.missing(&doc, &doc.root, "name"),
            Some(node) => meta.name = ctx.name(&doc, node),
        }
        if let Some(node) = doc.root.get("version") {
            meta.version = ctx.loose_version(&doc, node);
        }
        ctx.common(&doc, meta);
        has_skills = doc.root.get("skills").is_some();
        declared(ctx, &doc, meta);
    } else {
        ctx.wrong(&doc, &doc.root, "an object", Need::Error);
    }
    ctx.close(&doc);
    entry(ctx, meta);
    ctx.standard_hooks(HOOKS);
    ctx.standard_servers(".mcp.json", Servers::Mcp);
    let fresh = !ctx.walked.contains(&(".app.json".to_owned(), APPS));
    if let Some(view) = ctx.files.get(".app.json").filter(|_| fresh) {
        apps_file(ctx, ".app.json", view.bytes, Origin::Found);
    }
    if !has_skills {
        ctx.prompt_files("skills", Prompts::Skills, Origin::Found, Layer::Plugin);
    }
}

/// Reads the components that the manifest or the marketplace entry declares.
fn declared(ctx: &mut Ctx<'_>, doc: &Doc<'_>, meta: &mut Meta) {
    let root = &doc.root;
    if let Some(node) = root.get("skills") {
        ctx.prompts_key(doc, node, Prompts::Skills);
    }
    if let Some(node) = root.get("hooks") {
        ctx.hooks_key(doc, node, HOOKS);
    }
    if let Some(node) = root.get("mcpServers") {
        ctx.servers_key(doc, node, Servers::Mcp);
    }
    ctx.misnamed_servers(doc);
    if let Some(node) = root.get("apps") {
        apps(ctx, doc, node);
    }
    if let Some(node) = root.get("interface") {
        interface(ctx, doc, node, meta);
    }
}

/// Reads the marketplace entry, whose components are added to those of the manifest.
fn entry(ctx: &mut Ctx<'_>, meta: &mut Meta) {
    let Some((entry, doc)) = ctx.open_entry(meta.name.as_deref()) else { return };
    declared(ctx, &doc, meta);
    ctx.close(&doc);
    meta.name = Some(entry.name().to_owned());
}

/// Reads the key `apps`: a path to `.app.json`, or the object itself.
fn apps(ctx: &mut Ctx<'_>, doc: &Doc<'_>, node: &Node<'_>) {
    match node.value() {
        Value::Object(_) => apps_object(ctx, doc, node, Origin::Declared),
        _ => {
            let Some(path) = ctx.path(doc, node) else { return };
            match ctx.files.get(&path.path) {
                Some(view) if !ctx.walked.contains(&(path.path.clone(), APPS)) => {
                    apps_file(ctx, &path.path, view.bytes, Origin::Declared);
                }
                Some(_) => {}
                None => {
                    let place = Ctx::place(doc, node.span());
                    ctx.missing_file(&place, &path.path);
                }
            }
        }
    }
}

fn apps_file(ctx: &mut Ctx<'_>, file: &str, bytes: &[u8], origin: Origin) {
    ctx.walked.insert((file.to_owned(), APPS));
    let Some(doc) = ctx.open(file, bytes) else { return };
    apps_object(ctx, &doc, &doc.root, origin);
    ctx.close(&doc);
}

/// Reads `{apps: {name: {id}}}`.
fn apps_object(ctx: &mut Ctx<'_>, doc: &Doc<'_>, node: &Node<'_>, origin: Origin) {
    let inner = node.get("apps").unwrap_or(node);
    for member in ctx.object(doc, inner, Need::Error) {
        ctx.refuse_hidden(doc, member.key_span(), member.key());
        let mut item = SurfaceItem::new(
            SurfaceKind::App,
            member.key(),
            Ctx::place(doc, member.node().span()),
            doc.layer,
        );
        item.origin = origin;
        item.coverage = Coverage::RemoteUrl;
        let id = match member.node().get("id") {
            Some(id) => ctx.plain(doc, id, Need::Error).unwrap_or_default().to_owned(),
            None => scalar_text(member.node()),
        };
        item.why = crate::text::escape(&id, 128);
        item.facts.insert("id", Fact::Text(id));
        ctx.add(item);
    }
}

fn interface(ctx: &mut Ctx<'_>, doc: &Doc<'_>, node: &Node<'_>, meta: &mut Meta) {
    let Some(members) = node.members() else {
        return ctx.wrong(doc, node, "an object", Need::Notice);
    };
    ctx.keys(doc, members, INTERFACE);
    if let Some(name) = node.get("displayName") {
        meta.display_name = ctx.foreign(doc, name).or(meta.display_name.take());
    }
    for key in ["composerIcon", "logo", "logoDark"] {
        if let Some(path) = node.get(key) {
            ctx.path(doc, path);
        }
    }
    if let Some(shots) = node.get("screenshots") {
        for shot in ctx.texts(doc, shots, Need::Notice) {
            ctx.path(doc, shot);
        }
    }
    if let Some(prompt) = node.get("defaultPrompt") {
        let texts = ctx.texts(doc, prompt, Need::Notice);
        let long = texts.iter().any(|text| text.as_str().is_some_and(|text| text.chars().count() > 128));
        if texts.len() > 3 || long {
            ctx.notice(
                doc,
                prompt.span(),
                Code::DefaultPrompt,
                "more than 3 default prompts, or one longer than 128 characters",
            );
        }
        ctx.prompt_text(doc, prompt, "interface/defaultPrompt");
    }
}
