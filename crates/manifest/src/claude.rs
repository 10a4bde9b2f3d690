//! Reads the manifest of Claude Code, and of Cursor, Kimi and Grok, which share its format.

use std::collections::BTreeMap;

use crate::at::WithoutManifest;
use crate::code::Code;
use crate::coverage::Coverage;
use crate::dialect::Dialect;
use crate::error::Weight;
use crate::manifest::Meta;
use crate::parts::{channels, dependencies, kimi, started_key};
use crate::prompts::Prompts;
use crate::reader::{Ctx, Doc, Need};
use crate::servers::Servers;
use crate::surface::{Layer, Origin, SurfaceKind};
use crate::text::escape;

/// The keys of a manifest; a marketplace entry can contain them too.
pub(crate) const KEYS: &[&str] = &[
    "$schema",
    "agents",
    "author",
    "bin",
    "categories",
    "category",
    "channels",
    "commands",
    "components",
    "configuration",
    "defaultEnabled",
    "dependencies",
    "description",
    "displayName",
    "experimental",
    "features",
    "homepage",
    "hooks",
    "installation",
    "keywords",
    "license",
    "logo",
    "lspServers",
    "mcpServers",
    "monitors",
    "name",
    "outputStyles",
    "pricing",
    "repository",
    "requirements",
    "settings",
    "skills",
    "tags",
    "themes",
    "userConfig",
    "version",
    "workflows",
];

/// Additional keys of Kimi.
const KIMI_KEYS: &[&str] = &["interface", "sessionStart", "skillInstructions"];

/// Keys that declare something that runs or reaches a prompt.
pub(crate) const COMPONENTS: &[&str] = &[
    "agents",
    "bin",
    "channels",
    "commands",
    "experimental",
    "hooks",
    "lspServers",
    "mcpServers",
    "monitors",
    "outputStyles",
    "skills",
    "workflows",
];

/// The hooks file that Claude Code reads even if no key names it.
pub(crate) const HOOKS: &[&str] = &["hooks/hooks.json"];

/// The standard directories that a key replaces.
type Replaced = Vec<Prompts>;

pub(crate) fn read(ctx: &mut Ctx<'_>, meta: &mut Meta) {
    let main = ctx.dialect.main_file().unwrap_or_default();
    let mut replaced = Replaced::default();
    let file = ctx.files.get(main);
    let strict = ctx.at.entry.is_none_or(crate::market::Entry::is_strict);
    match file {
        Some(file) => {
            let Some(doc) = ctx.open(main, file.bytes) else { return };
            manifest(ctx, &doc, meta, &mut replaced);
            if !strict {
                conflict(ctx, &doc);
            }
            ctx.close(&doc);
        }
        None if ctx.at.entry.is_some() && strict => no_manifest(ctx, main),
        // With `strict: false`, the entry alone is the definition, so no file is missing.
        None if ctx.at.entry.is_some() => {}
        None if ctx.at.without_manifest == WithoutManifest::StandardFolders && ctx.has_standard() => {
            no_manifest(ctx, main);
            folder_name(ctx, meta, main);
        }
        None => {
            let message = format!("expected the file {main}");
            return ctx.error_at(Ctx::whole(main), Code::MissingFile, message);
        }
    }
    entry(ctx, meta, &mut replaced);
    // The host reads the standard directories even if the entry alone is the definition.
    standard(ctx, &replaced);
}

fn no_manifest(ctx: &mut Ctx<'_>, main: &str) {
    ctx.say_at(
        Ctx::whole(main),
        Code::NoManifest,
        Weight::Notice,
        "no manifest: standard directories are read",
    );
}

fn folder_name(ctx: &mut Ctx<'_>, meta: &mut Meta, main: &str) {
    let folder = ctx.at.folder.unwrap_or_default();
    if crate::name::is_name(folder) {
        meta.name = Some(folder.to_owned());
    } else {
        let message = format!(
            "expected a directory name of 1 to 128 characters of A-Z a-z 0-9 . _ -, got `{}`",
            escape(folder, 128)
        );
        ctx.error_at(Ctx::whole(main), Code::Name, message);
    }
}

fn manifest(ctx: &mut Ctx<'_>, doc: &Doc<'_>, meta: &mut Meta, replaced: &mut Replaced) {
    let Some(members) = doc.root.members() else {
        return ctx.wrong(doc, &doc.root, "an object", Need::Error);
    };
    let extra = if ctx.dialect == Dialect::Kimi { KIMI_KEYS } else { &[] };
    let known: Vec<&str> = KEYS.iter().chain(extra).chain(&["mcp", "mcp_servers"]).copied().collect();
    ctx.keys(doc, members, &known);
    match doc.root.get("name") {
        None => ctx.missing(doc, &doc.root, "name"),
        Some(node) => meta.name = ctx.name(doc, node),
    }
    if let Some(node) = doc.root.get("version") {
        meta.version = ctx.loose_version(doc, node);
    }
    ctx.common(doc, meta);
    components(ctx, doc, meta, replaced);
}

/// Reads the components that a layer declares.
fn components(ctx: &mut Ctx<'_>, doc: &Doc<'_>, meta: &mut Meta, replaced: &mut Replaced) {
    let root = &doc.root;
    for (key, which) in [
        ("commands", Prompts::Commands),
        ("agents", Prompts::Agents),
        ("skills", Prompts::Skills),
        ("outputStyles", Prompts::OutputStyles),
    ] {
        let Some(node) = root.get(key) else { continue };
        ctx.prompts_key(doc, node, which);
        // An empty list declares nothing, so the host still reads the standard directory.
        if node.items().is_none_or(|items| !items.is_empty()) {
            replaced.push(which);
        }
    }
    let standard_hooks = if ctx.dialect == Dialect::Cursor { &[] } else { HOOKS };
    if let Some(node) = root.get("hooks") {
        ctx.hooks_key(doc, node, standard_hooks);
    }
    for (key, which) in
        [("mcpServers", Servers::Mcp), ("lspServers", Servers::Lsp), ("monitors", Servers::Monitors)]
    {
        if let Some(node) = root.get(key) {
            ctx.servers_key(doc, node, which);
        }
    }
    ctx.misnamed_servers(doc);
    if let Some(node) = root.get("experimental") {
        let members = ctx.object(doc, node, Need::Error);
        ctx.keys(doc, members, &["monitors", "themes"]);
        if let Some(monitors) = node.get("monitors") {
            ctx.servers_key(doc, monitors, Servers::Monitors);
        }
    }
    for (key, kind) in [("bin", SurfaceKind::Bin), ("workflows", SurfaceKind::Workflow)] {
        if let Some(node) = root.get(key) {
            started_key(ctx, doc, node, kind);
        }
    }
    for key in ["dependencies", "requirements"] {
        if let Some(node) = root.get(key) {
            dependencies(ctx, doc, node, meta, key);
        }
    }
    for key in ["userConfig", "settings"] {
        if let Some(node) = root.get(key) {
            ctx.settings(doc, node);
        }
    }
    if let Some(node) = root.get("channels") {
        channels(ctx, doc, node);
    }
    kimi(ctx, doc);
}

/// Reads the marketplace entry, the second layer.
fn entry(ctx: &mut Ctx<'_>, meta: &mut Meta, replaced: &mut Replaced) {
    let Some((entry, doc)) = ctx.open_entry(meta.name.as_deref()) else { return };
    // The manifest takes precedence for metadata, but the id of the plugin is that of the entry.
    let mut second = Meta::default();
    if let Some(node) = doc.root.get("version") {
        second.version = ctx.loose_version(&doc, node);
    }
    ctx.common(&doc, &mut second);
    components(ctx, &doc, &mut second, replaced);
    ctx.headers_helper(&doc, &doc.root, entry.name(), Origin::Declared);
    ctx.close(&doc);
    merge(meta, second);
    meta.name = Some(entry.name().to_owned());
}

fn merge(meta: &mut Meta, second: Meta) {
    meta.version = meta.version.take().or(second.version);
    meta.display_name = meta.display_name.take().or(second.display_name);
    meta.description = meta.description.take().or(second.description);
    meta.author = meta.author.take().or(second.author);
    meta.homepage = meta.homepage.take().or(second.homepage);
    meta.repository = meta.repository.take().or(second.repository);
    meta.license = meta.license.take().or(second.license);
    if meta.keywords.is_empty() {
        meta.keywords = second.keywords;
    }
    meta.companions.extend(second.companions);
    for (key, raw) in second.raw {
        meta.raw.entry(key).or_insert(raw);
    }
}

/// Reports the components of a manifest if `strict` is false, because the entry alone is then the definition.
fn conflict(ctx: &mut Ctx<'_>, doc: &Doc<'_>) {
    let Some(entry) = ctx.at.entry else { return };
    if !entry.has_components() {
        return;
    }
    for member in doc.root.members().unwrap_or_default() {
        if COMPONENTS.contains(&member.key()) {
            let message =
                format!("expected components only in the entry (`strict` is false), got `{}`", member.key());
            ctx.error(doc, member.key_span(), Code::EntryConflict, message);
        }
    }
}

/// Reads the standard files and directories that no key replaces.
fn standard(ctx: &mut Ctx<'_>, replaced: &[Prompts]) {
    if ctx.dialect != Dialect::Cursor {
        ctx.standard_hooks(HOOKS);
        ctx.standard_servers(".mcp.json", Servers::Mcp);
        ctx.standard_servers(".lsp.json", Servers::Lsp);
        ctx.standard_servers("monitors/monitors.json", Servers::Monitors);
        ctx.standard_settings("settings.json");
        for (folder, which) in [
            ("commands", Prompts::Commands),
            ("agents", Prompts::Agents),
            ("skills", Prompts::Skills),
            ("output-styles", Prompts::OutputStyles),
        ] {
            if !replaced.contains(&which) {
                ctx.prompt_files(folder, which, Origin::Found, Layer::Plugin);
            }
        }
        if ctx.files.get("SKILL.md").is_some() && !replaced.contains(&Prompts::Skills) {
            ctx.prompt_file("SKILL.md", "skill", Origin::Found, Layer::Plugin);
        }
        ctx.started_files("bin", SurfaceKind::Bin);
        ctx.started_files("workflows", SurfaceKind::Workflow);
    }
    check_channels(ctx);
}

/// Gives each channel the coverage of its server, and reports channels without one.
fn check_channels(ctx: &mut Ctx<'_>) {
    let servers: BTreeMap<String, Coverage> = ctx
        .items
        .iter()
        .filter(|item| item.kind == SurfaceKind::McpServer)
        .map(|item| (item.name.clone(), item.coverage))
        .collect();
    let mut unknown = Vec::new();
    for channel in ctx.items.iter_mut().filter(|item| item.kind == SurfaceKind::Channel) {
        match servers.get(&channel.name) {
            Some(coverage) => channel.coverage = *coverage,
            None => unknown.push((channel.place.clone(), escape(&channel.name, 128))),
        }
    }
    for (place, name) in unknown {
        ctx.error_at(place, Code::UnknownServer, format!("expected a server of mcpServers, got `{name}`"));
    }
}
