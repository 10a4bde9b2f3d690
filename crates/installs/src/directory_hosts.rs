//! Hosts whose directories are the only record, and hosts that are known but not read.

use crate::collector::{Collector, is_json, join, place};
use crate::judge::permissions;
use crate::loose::{add_directory, add_shared_skills, add_skills};
use crate::source_file::Syntax;
use crate::{Install, InstallKind, InstallLayer, InstallProblemKind, Machine};

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
    found.servers_file(&join(&home, "mcp-config.json"), Syntax::JsonWithComments, InstallLayer::User);
    for (at, layer) in found.levels(".github") {
        let hooks = join(&at, "hooks");
        for entry in found.entries(&hooks).into_iter().filter(|entry| is_json(&entry.name)) {
            flat_hooks(found, &join(&hooks, &entry.name), layer);
        }
        add_skills(found, &join(&at, "skills"), layer, &[], None);
        add_directory(found, &join(&at, "agents"), InstallKind::Agents, layer);
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
    for (at, layer) in found.levels(".cursor") {
        found.servers_file(&join(&at, "mcp.json"), Syntax::JsonWithComments, layer);
        flat_hooks(found, &join(&at, "hooks.json"), layer);
        add_pieces(found, &at, layer);
    }
    // The host searches all directories of the project for skills. Without the host, nobody else does so.
    if found.is_directory(&home) {
        for at in [found.nested(".cursor"), found.nested(".agents")].concat() {
            add_skills(found, &join(&at, "skills"), InstallLayer::Project, &[], None);
        }
    }
    add_shared_skills(found);
}

/// Reads Grok CLI.
pub(crate) fn read_grok(found: &mut Collector<'_>) {
    read_plain(found, ".grok");
}

/// Reads gnoma.
pub(crate) fn read_gnoma(found: &mut Collector<'_>) {
    read_plain(found, ".gnoma");
}

/// Reads a host with plugins in `plugins/NAME`, in its home and in a directory of the project.
fn read_plain(found: &mut Collector<'_>, project: &str) {
    for (at, layer) in found.levels(project) {
        let plugins = join(&at, "plugins");
        for name in found.directories(&plugins) {
            match layer {
                InstallLayer::User => add_plugin(found, &plugins, &name, &name, None),
                InstallLayer::Project => found.add_placed(InstallKind::Plugin, &plugins, &name, layer),
            }
        }
        add_pieces(found, &at, layer);
    }
}

/// Reports the setting of Visual Studio Code that names plugins.
pub(crate) fn report_vscode(found: &mut Collector<'_>) {
    let path = join(&found.home, "settings.json");
    // The setting is only looked for, because the file contains comments and trailing commas.
    let is_set = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).contains("\"chat.pluginLocations\"");
    if found.machine.files.read(&path).map_or(true, |read| read.is_some_and(is_set)) {
        report_unread(found, &path);
    }
    for directory in found.project_directories() {
        let path = join(&directory, ".vscode/settings.json");
        let judge = found.judge(&path, InstallLayer::Project);
        found.parts_file(&path, Syntax::JsonWithCommas, InstallLayer::Project, |_, root, parts| {
            permissions::vscode(&judge, root, parts);
        });
    }
}

/// Reports the plugins of opencode.
pub(crate) fn report_opencode(found: &mut Collector<'_>) {
    for (at, _) in found.levels(".opencode") {
        report_directory(found, &join(&at, "plugins"));
        report_directory(found, &join(&at, "plugin"));
    }
}

/// Reports the plugins of Kimi Code.
pub(crate) fn report_kimi(found: &mut Collector<'_>) {
    report_directory(found, &join(&found.home, "plugins"));
}

fn report_directory(found: &mut Collector<'_>, path: &str) {
    if !found.entries(path).is_empty() {
        report_unread(found, path);
    }
}

/// Adds the problem that a place is not read, so that silence is not mistaken for approval.
fn report_unread(found: &mut Collector<'_>, path: &str) {
    let message = format!("plugins of {} are not checked yet", found.host);
    let help = "review them by hand, or check the directory: plugward check DIR";
    found.report(found.draft(InstallProblemKind::NotRead, place(path, ""), message, help));
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

fn add_pieces(found: &mut Collector<'_>, at: &str, layer: InstallLayer) {
    add_skills(found, &join(at, "skills"), layer, &[], None);
    add_directory(found, &join(at, "agents"), InstallKind::Agents, layer);
    add_directory(found, &join(at, "commands"), InstallKind::Commands, layer);
}

/// Adds the hooks of a file whose events list commands without matchers.
fn flat_hooks(found: &mut Collector<'_>, path: &str, layer: InstallLayer) {
    let judge = found.judge(path, layer);
    found.parts_file(path, Syntax::JsonWithComments, layer, |found, root, parts| {
        let hooks = found.members(path, root, "hooks");
        judge.hooks(parts, hooks);
        parts.add_flat_hooks(hooks);
    });
}
