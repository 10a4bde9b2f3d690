//! Hosts whose directories are the only record, and hosts that are known but not read.

use crate::collector::{Collector, join, place};
use crate::loose::{add_directory, add_shared_skills, add_skills};
use crate::parts::Parts;
use crate::source_file::Syntax;
use crate::{Install, InstallKind, InstallLayer, InstallProblemKind, KnownHost, Machine};
use plugward_types::{PlacePath, PluginKey};

/// Reads GitHub Copilot CLI.
pub(crate) fn read_copilot(found: &mut Collector<'_>) {
    let home = found.home.clone();
    let plugins = join(&home, "installed-plugins");
    for market in found.directories(&plugins) {
        let directory = join(&plugins, &market);
        for name in found.directories(&directory) {
            // Plugins that do not come from a marketplace are in `_direct`.
            let id = if market == "_direct" { name.clone() } else { format!("{name}@{market}") };
            add_plugin(found, &directory, &name, &id, None);
        }
    }
    servers_file(found, &join(&home, "mcp-config.json"), InstallLayer::User);
    hook_files(found, &join(&home, "hooks"), InstallLayer::User);
    add_pieces(found, &home, InstallLayer::User);
    for directory in found.project_directories() {
        let github = join(&directory, ".github");
        hook_files(found, &join(&github, "hooks"), InstallLayer::Project);
        add_pieces(found, &github, InstallLayer::Project);
    }
    add_shared_skills(found);
}

/// Reads Cursor.
pub(crate) fn read_cursor(found: &mut Collector<'_>) {
    let home = found.home.clone();
    let cache = join(&home, "plugins/cache");
    for market in found.directories(&cache) {
        for name in found.directories(&join(&cache, &market)) {
            let directory = join(&cache, &format!("{market}/{name}"));
            for version in found.directories(&directory) {
                add_plugin(found, &directory, &version, &format!("{name}@{market}"), Some(version.clone()));
            }
        }
    }
    let local = join(&home, "plugins/local");
    for name in found.directories(&local) {
        add_plugin(found, &local, &name, &name, None);
    }
    let projects =
        found.project_directories().into_iter().map(|at| (join(&at, ".cursor"), InstallLayer::Project));
    for (at, layer) in core::iter::once((home, InstallLayer::User)).chain(projects).collect::<Vec<_>>() {
        servers_file(found, &join(&at, "mcp.json"), layer);
        flat_hooks(found, &join(&at, "hooks.json"), layer);
        add_pieces(found, &at, layer);
    }
    add_shared_skills(found);
}

/// Reads a host with plugins in `plugins/NAME`, in its home and in a directory of the project.
pub(crate) fn read_plain(found: &mut Collector<'_>, project: &str) {
    let plugins = join(&found.home, "plugins");
    for name in found.directories(&plugins) {
        add_plugin(found, &plugins, &name, &name, None);
    }
    let home = found.home.clone();
    add_pieces(found, &home, InstallLayer::User);
    for directory in found.project_directories() {
        let at = join(&directory, project);
        let plugins = join(&at, "plugins");
        for name in found.directories(&plugins) {
            let Some(real) = found.machine.files.real(&join(&plugins, &name)) else { continue };
            add_placed(found, &plugins, real);
        }
        add_pieces(found, &at, InstallLayer::Project);
    }
}

/// Adds a problem for each place of a host that is not read, so that silence is not mistaken for approval.
pub(crate) fn report_unread(found: &mut Collector<'_>, host: KnownHost) {
    for path in unread_places(found, host) {
        let message = format!("plugins of {} are not checked yet", host.title());
        let help = "review them by hand, or check the directory: plugward check DIR";
        found.problem(InstallProblemKind::NotRead, place(&path, ""), message, help);
    }
}

/// Returns the places at which an unread host has plugins.
fn unread_places(found: &mut Collector<'_>, host: KnownHost) -> Vec<String> {
    let home = found.home.clone();
    if host == KnownHost::Vscode {
        let path = join(&home, "settings.json");
        let read = found.machine.files.read(&path).ok().flatten().unwrap_or_default();
        // The setting is only looked for, because the file contains comments and trailing commas.
        let is_set = String::from_utf8_lossy(&read).contains("\"chat.pluginLocations\"");
        return if is_set { vec![path] } else { Vec::new() };
    }
    let mut places = vec![join(&home, "plugins")];
    if host == KnownHost::Opencode {
        places.push(join(&home, "plugin"));
        let projects = found.project_directories().into_iter();
        places
            .extend(projects.flat_map(|at| [join(&at, ".opencode/plugins"), join(&at, ".opencode/plugin")]));
    }
    places.retain(|path| !found.entries(path).is_empty());
    places
}

/// Returns the directory of the settings of Visual Studio Code, on Linux or macOS.
pub(crate) fn vscode_home(machine: &Machine<'_>) -> String {
    let mac = join(machine.home, "Library/Application Support/Code/User");
    if machine.files.kind(&mac).is_some() { mac } else { join(machine.home, ".config/Code/User") }
}

/// Adds a plugin whose directory is its record.
fn add_plugin(found: &mut Collector<'_>, directory: &str, name: &str, id: &str, version: Option<String>) {
    let at = join(directory, name);
    let Some(id) = found.id(id, place(&at, "")) else { return };
    let Some(real) = found.machine.files.real(&at) else { return };
    let is_outside =
        found.machine.files.real(&found.home).is_none_or(|home| real.relative_to(&home).is_none());
    let install = found.install(found.key(&id), InstallKind::Plugin, real, place(directory, ""));
    found.add(Install { version, is_outside, ..install });
}

fn add_placed(found: &mut Collector<'_>, directory: &str, real: PlacePath) {
    let key = PluginKey::Placed(real.clone());
    let install = found.install(key, InstallKind::Plugin, real, place(directory, ""));
    found.add(Install { layer: InstallLayer::Project, ..install });
}

fn add_pieces(found: &mut Collector<'_>, at: &str, layer: InstallLayer) {
    add_skills(found, &join(at, "skills"), layer, &[], None);
    add_directory(found, &join(at, "agents"), InstallKind::Agents, layer);
    add_directory(found, &join(at, "commands"), InstallKind::Commands, layer);
}

fn servers_file(found: &mut Collector<'_>, path: &str, layer: InstallLayer) {
    let Some(file) = found.open(path, Syntax::JsonWithComments) else { return };
    let Some(root) = found.parse(&file) else { return };
    let mut parts = Parts::default();
    parts.add_servers(found.members(path, &root, "mcpServers"));
    found.add_parts(path, parts, layer);
}

/// Adds the hooks of a file whose events list commands without matchers.
fn flat_hooks(found: &mut Collector<'_>, path: &str, layer: InstallLayer) {
    let Some(file) = found.open(path, Syntax::JsonWithComments) else { return };
    let Some(root) = found.parse(&file) else { return };
    let mut parts = Parts::default();
    parts.add_flat_hooks(found.members(path, &root, "hooks"));
    found.add_parts(path, parts, layer);
}

fn hook_files(found: &mut Collector<'_>, directory: &str, layer: InstallLayer) {
    for entry in found.entries(directory).into_iter().filter(|entry| entry.name.ends_with(".json")) {
        flat_hooks(found, &join(directory, &entry.name), layer);
    }
}
