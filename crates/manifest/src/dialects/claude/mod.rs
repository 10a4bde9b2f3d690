//! Reads the manifest of Claude Code, and of Cursor, Kimi, Grok and Copilot, which share its format.

mod components;

use std::collections::BTreeMap;

use crate::dialects::Dialect;
use crate::error::{ManifestCode, ManifestPlace, WarningLevel};
use crate::manifest::{Meta, MissingManifest};
use crate::reader::text::escape;
use crate::reader::{Document, Reader, Requirement};
use crate::surface::prompts::PromptKind;
use crate::surface::servers::ServerList;
use crate::surface::{Coverage, ManifestLayer, Origin, SurfaceKind};
use components::{channels, dependencies, kimi, started_key};

/// The keys of a manifest; a marketplace entry can contain them too.
pub(crate) const KEYS: &[&str] = plugward_types::words![
    "$schema agents author bin categories category channels commands components configuration defaultEnabled",
    "dependencies description displayName experimental features homepage hooks installation keywords license",
    "logo lspServers mcpServers monitors name outputStyles pricing repository requirements settings skills",
    "tags themes userConfig version workflows",
];

/// Additional keys of Kimi.
const KIMI_KEYS: &[&str] = &["interface", "sessionStart", "skillInstructions"];

/// Keys that declare something that runs or reaches a prompt.
pub(crate) const COMPONENTS: &[&str] = plugward_types::words![
    "agents bin channels commands experimental hooks lspServers mcpServers monitors outputStyles skills",
    "workflows",
];

/// The hooks file that Claude Code reads even if no key names it.
pub(crate) const HOOKS: &[&str] = &["hooks/hooks.json"];

/// The standard directories that a key replaces.
type Replaced = Vec<PromptKind>;

pub(crate) fn read(reader: &mut Reader<'_>, meta: &mut Meta) {
    let main = reader.dialect.main_file().unwrap_or_default();
    let mut replaced = Replaced::default();
    let strict = reader.context.entry.is_none_or(crate::marketplace::MarketplaceEntry::is_strict);
    let files = reader.main_files();
    if files.is_empty() && !has_other_definition(reader, meta, main) {
        let message = format!("expected the file {main}");
        return reader.error_at(ManifestPlace::of_file(main), ManifestCode::MissingFile, message);
    }
    for (file, view) in files {
        let Some(doc) = reader.open(file, view.bytes) else { return };
        let mut own = Meta::default();
        manifest(reader, &doc, &mut own, &mut replaced);
        if !strict {
            conflict(reader, &doc);
        }
        reader.close(&doc);
        meta.name = meta.name.take().or(own.name.take());
        merge(meta, own);
    }
    entry(reader, meta, &mut replaced);
    // The host reads the standard directories even if the entry alone is the definition.
    standard(reader, &replaced);
}

/// Returns `true` if something else than a manifest defines the plugin.
fn has_other_definition(reader: &mut Reader<'_>, meta: &mut Meta, main: &str) -> bool {
    match reader.context.entry {
        Some(entry) => {
            // With `strict: false`, the entry alone is the definition, so no file is missing.
            if entry.is_strict() {
                no_manifest(reader, main);
            }
            true
        }
        None if reader.context.missing_manifest == MissingManifest::StandardDirectories
            && reader.has_standard() =>
        {
            no_manifest(reader, main);
            directory_name(reader, meta, main);
            // Other hosts load this file of a directory without a manifest.
            reader.standard_servers("mcp.json", ServerList::Mcp);
            true
        }
        None => false,
    }
}

/// Reports that the plugin has no manifest but is read nevertheless.
fn no_manifest(reader: &mut Reader<'_>, main: &str) {
    reader.warn_at(
        ManifestPlace::of_file(main),
        ManifestCode::NoManifest,
        WarningLevel::Notice,
        "no manifest: standard directories are read",
    );
}

/// Uses the name of the directory as the plugin's name. Directories without a manifest have names of every kind, so
/// characters that a name cannot have become `-`.
fn directory_name(reader: &mut Reader<'_>, meta: &mut Meta, main: &str) {
    let directory = reader.context.directory.unwrap_or_default();
    if crate::reader::name::is_name(directory) {
        meta.name = Some(directory.to_owned());
        return;
    }
    let allowed = |c: char| if c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-') { c } else { '-' };
    let name: String =
        directory.chars().map(allowed).skip_while(|c| !c.is_ascii_alphanumeric()).take(128).collect();
    let name = Some(name.replace("..", "-")).filter(|name| crate::reader::name::is_name(name));
    let name = name.unwrap_or_else(|| "unnamed".to_owned());
    let message =
        format!("the directory `{}` is not the name of a plugin; read as `{name}`", escape(directory, 128));
    reader.warn_at(ManifestPlace::of_file(main), ManifestCode::Name, WarningLevel::Notice, message);
    meta.name = Some(name);
}

fn manifest(reader: &mut Reader<'_>, doc: &Document<'_>, meta: &mut Meta, replaced: &mut Replaced) {
    let Some(members) = doc.root.members() else {
        return reader.wrong(doc, &doc.root, "an object", Requirement::Strict);
    };
    let extra = if reader.dialect == Dialect::Kimi { KIMI_KEYS } else { &[] };
    let known: Vec<&str> = KEYS.iter().chain(extra).chain(&["mcp", "mcp_servers"]).copied().collect();
    reader.keys(doc, members, &known);
    match doc.root.get("name") {
        None => reader.missing(doc, &doc.root, "name"),
        Some(node) => meta.name = reader.name(doc, node),
    }
    if let Some(node) = doc.root.get("version") {
        meta.version = reader.loose_version(doc, node);
    }
    reader.common(doc, meta);
    components(reader, doc, meta, replaced);
}

/// Reads the components that a layer declares.
fn components(reader: &mut Reader<'_>, doc: &Document<'_>, meta: &mut Meta, replaced: &mut Replaced) {
    let root = &doc.root;
    for (key, which) in [
        ("commands", PromptKind::Commands),
        ("agents", PromptKind::Agents),
        ("skills", PromptKind::Skills),
        ("outputStyles", PromptKind::OutputStyles),
    ] {
        let Some(node) = root.get(key) else { continue };
        reader.prompts_key(doc, node, which);
        // An empty list declares nothing, so the host still reads the standard directory.
        if node.items().is_none_or(|items| !items.is_empty()) {
            replaced.push(which);
        }
    }
    // Cursor documents no standard hooks file, so naming it is not a duplicate.
    let standard_hooks = if reader.dialect == Dialect::Cursor { &[] } else { HOOKS };
    if let Some(node) = root.get("hooks") {
        reader.hooks_key(doc, node, standard_hooks);
    }
    for (key, which) in
        [("mcpServers", ServerList::Mcp), ("lspServers", ServerList::Lsp), ("monitors", ServerList::Monitors)]
    {
        if let Some(node) = root.get(key) {
            reader.servers_key(doc, node, which);
        }
    }
    reader.misnamed_servers(doc);
    if let Some(node) = root.get("experimental") {
        let members = reader.object(doc, node, Requirement::Strict);
        reader.keys(doc, members, &["monitors", "themes"]);
        if let Some(monitors) = node.get("monitors") {
            reader.servers_key(doc, monitors, ServerList::Monitors);
        }
    }
    for (key, kind) in [("bin", SurfaceKind::Bin), ("workflows", SurfaceKind::Workflow)] {
        if let Some(node) = root.get(key) {
            started_key(reader, doc, node, kind);
        }
    }
    for key in ["dependencies", "requirements"] {
        if let Some(node) = root.get(key) {
            dependencies(reader, doc, node, meta, key);
        }
    }
    for key in ["userConfig", "settings"] {
        if let Some(node) = root.get(key) {
            reader.settings(doc, node);
        }
    }
    if let Some(node) = root.get("channels") {
        channels(reader, doc, node);
    }
    kimi(reader, doc);
}

/// Reads the marketplace entry, the second layer.
fn entry(reader: &mut Reader<'_>, meta: &mut Meta, replaced: &mut Replaced) {
    let Some((entry, doc)) = reader.open_entry(meta.name.as_deref()) else { return };
    // The manifest takes precedence for metadata, but the id of the plugin is that of the entry.
    let mut second = Meta::default();
    if let Some(node) = doc.root.get("version") {
        second.version = reader.loose_version(&doc, node);
    }
    reader.common(&doc, &mut second);
    components(reader, &doc, &mut second, replaced);
    reader.headers_helper(&doc, &doc.root, entry.name(), Origin::Declared);
    reader.close(&doc);
    merge(meta, second);
    meta.name = Some(entry.name().to_owned());
}

/// Fills the gaps of the first layer with the second.
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
    // The dependencies of both layers apply; a single value comes from the first layer that has one.
    meta.companions.extend(second.companions);
    for (key, raw) in second.raw {
        meta.raw.entry(key).or_insert(raw);
    }
}

/// Reports the components of a manifest if `strict` is false, because the entry alone is then the definition.
fn conflict(reader: &mut Reader<'_>, doc: &Document<'_>) {
    let Some(entry) = reader.context.entry else { return };
    if !entry.has_components() {
        return;
    }
    for member in doc.root.members_or_none() {
        if COMPONENTS.contains(&member.key()) {
            let message =
                format!("expected components only in the entry (`strict` is false), got `{}`", member.key());
            reader.error(doc, member.key_span(), ManifestCode::EntryConflict, message);
        }
    }
}

/// Reads the standard files and directories that no key replaces.
pub(crate) fn standard(reader: &mut Reader<'_>, replaced: &[PromptKind]) {
    if reader.dialect == Dialect::Copilot {
        reader.standard_hooks(&["hooks.json"]);
        reader.standard_servers(".github/mcp.json", ServerList::Mcp);
        reader.standard_servers("lsp.json", ServerList::Lsp);
        reader.standard_servers(".github/lsp.json", ServerList::Lsp);
    }
    if reader.dialect != Dialect::Cursor {
        reader.standard_hooks(HOOKS);
        reader.standard_servers(".mcp.json", ServerList::Mcp);
        reader.standard_servers(".lsp.json", ServerList::Lsp);
        reader.standard_servers("monitors/monitors.json", ServerList::Monitors);
        reader.standard_settings("settings.json");
        for (directory, which) in [
            ("commands", PromptKind::Commands),
            ("agents", PromptKind::Agents),
            ("skills", PromptKind::Skills),
            ("output-styles", PromptKind::OutputStyles),
        ] {
            if !replaced.contains(&which) {
                reader.prompt_files(directory, which, Origin::Found, ManifestLayer::Plugin);
            }
        }
        if reader.files.get("SKILL.md").is_some() && !replaced.contains(&PromptKind::Skills) {
            reader.prompt_file("SKILL.md", "skill", Origin::Found, ManifestLayer::Plugin);
        }
        reader.started_files("bin", SurfaceKind::Bin);
        reader.started_files("workflows", SurfaceKind::Workflow);
    }
    check_channels(reader);
}

/// Sets the coverage of each channel to that of its server, and reports channels without a server.
fn check_channels(reader: &mut Reader<'_>) {
    let servers: BTreeMap<String, Coverage> = reader
        .items
        .iter()
        .filter(|item| item.kind == SurfaceKind::McpServer)
        .map(|item| (item.name.clone(), item.coverage))
        .collect();
    let mut unknown = Vec::new();
    for channel in reader.items.iter_mut().filter(|item| item.kind == SurfaceKind::Channel) {
        match servers.get(&channel.name) {
            Some(coverage) => channel.coverage = *coverage,
            None => unknown.push((channel.place.clone(), escape(&channel.name, 128))),
        }
    }
    for (place, name) in unknown {
        reader.error_at(
            place,
            ManifestCode::UnknownServer,
            format!("expected a server of mcpServers, got `{name}`"),
        );
    }
}
