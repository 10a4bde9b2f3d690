//! The settings files: which plugins are on, and the hooks, commands, environment and servers in them.

use std::collections::BTreeMap;

use plugward_manifest::json::{JsonNode, JsonValue};
use plugward_types::{InstalledId, PlacePath, PluginKey};

use crate::collector::{Collector, join, place, step};
use crate::parts::Parts;
use crate::source_file::Syntax;
use crate::{HostState, HostSwitch, Install, InstallContents, InstallLayer, RecordPlace};

/// The settings whose value is a command.
const COMMANDS: &[&str] = &[
    "apiKeyHelper",
    "awsAuthRefresh",
    "awsCredentialExport",
    "fileSuggestion",
    "gcpAuthRefresh",
    "otelHeadersHelper",
    "statusLine",
    "subagentStatusLine",
];

/// The directories of an administrator's settings, on Linux and macOS.
const MANAGED: &[&str] = &["/etc/claude-code", "/Library/Application Support/ClaudeCode"];

/// What the settings decide about plugins.
#[derive(Default)]
pub(super) struct Settings {
    /// The value with the highest precedence, by id.
    pub(super) enabled: BTreeMap<String, Setting>,
    /// The directories of the project in which the host can look for its files.
    pub(super) directories: Vec<String>,
}

pub(super) struct Setting {
    pub(super) id: InstalledId,
    pub(super) is_on: bool,
    /// The administrator enables the plugin, so no other setting disables it.
    pub(super) is_forced: bool,
    pub(super) record: RecordPlace,
}

impl Settings {
    /// Returns the state of an id. The host does not load a plugin that its settings do not mention.
    pub(super) fn state(&self, id: &InstalledId) -> HostState {
        match self.enabled.get(id.as_str()) {
            Some(setting) if setting.is_on => HostState::On,
            _ => HostState::Off,
        }
    }

    /// Returns how an id can be disabled on the command line.
    pub(super) fn switch(&self, id: &InstalledId) -> HostSwitch {
        match self.enabled.get(id.as_str()) {
            Some(setting) if setting.is_forced => HostSwitch::None,
            _ => HostSwitch::Id(id.as_str().to_owned()),
        }
    }

    /// Adds the values of one level, which has a higher precedence than all before it.
    fn add_level(&mut self, files: Vec<Vec<Setting>>) {
        let count = files.len();
        let mut level: BTreeMap<String, (Setting, usize)> = BTreeMap::new();
        for setting in files.into_iter().flatten() {
            let off = usize::from(!setting.is_on);
            match level.get_mut(setting.id.as_str()) {
                Some((first, offs)) => {
                    *offs = offs.saturating_add(off);
                    if setting.is_on {
                        *first = setting;
                    }
                }
                None => {
                    level.insert(setting.id.as_str().to_owned(), (setting, off));
                }
            }
        }
        // The host reads one directory of a project, which depends on its version. A plugin is off only if it is off
        // in each of them.
        let sure = level.into_iter().filter(|(_, (setting, offs))| setting.is_on || *offs == count);
        self.enabled.extend(sure.map(|(id, (setting, _))| (id, setting)));
    }
}

/// Reads all settings files and adds their parts.
pub(super) fn read(found: &mut Collector<'_>) -> Settings {
    let mut settings = Settings { directories: found.project_directories(), ..Settings::default() };
    let user = join(&found.home, "settings.json");
    let level = settings_file(found, &user, InstallLayer::User);
    settings.add_level(vec![level]);
    for name in ["settings.json", "settings.local.json"] {
        let paths = settings.directories.iter().map(|at| join(at, &format!(".claude/{name}")));
        // In the home directory, the file of the project is that of the user.
        let paths: Vec<String> = paths.filter(|path| *path != user).collect();
        let level = paths.iter().map(|path| settings_file(found, path, InstallLayer::Project)).collect();
        settings.add_level(level);
    }
    for directory in MANAGED {
        read_managed(found, directory, &mut settings);
    }
    read_servers(found);
    settings
}

/// Reads the settings of the administrator, of which a later file replaces the values of an earlier one.
fn read_managed(found: &mut Collector<'_>, directory: &str, settings: &mut Settings) {
    let more = join(directory, "managed-settings.d");
    let mut paths = vec![join(directory, "managed-settings.json")];
    let names =
        found.entries(&more).into_iter().map(|entry| entry.name).filter(|name| name.ends_with(".json"));
    paths.extend(names.map(|name| join(&more, &name)));
    for path in paths {
        let mut level = settings_file(found, &path, InstallLayer::User);
        for setting in &mut level {
            setting.is_forced = setting.is_on;
        }
        settings.add_level(vec![level]);
    }
    let servers = join(directory, "managed-mcp.json");
    servers_file(found, &servers, InstallLayer::User);
}

/// Reads one settings file: adds its parts, and returns its values of `enabledPlugins`.
fn settings_file(found: &mut Collector<'_>, path: &str, layer: InstallLayer) -> Vec<Setting> {
    let Some(file) = found.open(path, Syntax::Json) else { return Vec::new() };
    let Some(root) = found.parse(&file) else { return Vec::new() };
    let mut parts = Parts::default();
    parts.add_hooks(found.members(path, &root, "hooks"), &[]);
    parts.add_env(found.members(path, &root, "env"));
    for name in COMMANDS {
        add_command(found, path, &root, name, &mut parts);
    }
    found.add_parts(path, parts, layer);
    let mut settings = Vec::new();
    for member in found.members(path, &root, "enabledPlugins") {
        let record = place(path, &step("/enabledPlugins", member.key()));
        let Some(id) = found.id(member.key(), record.clone()) else { continue };
        // Anything but `false` can load: a list of versions does, and an unknown value might.
        let is_on = !matches!(member.node().value(), JsonValue::Bool(false));
        settings.push(Setting { id, is_on, is_forced: false, record });
    }
    settings
}

fn add_command(found: &mut Collector<'_>, path: &str, root: &JsonNode<'_>, name: &str, parts: &mut Parts) {
    let Some(node) = root.get(name).filter(|node| !node.is_null()) else { return };
    match node.value() {
        JsonValue::String(_) | JsonValue::Object(_) => parts.add_command(name, node),
        _ => found.wrong_type(path, &format!("/{name}"), node, "a command"),
    }
}

/// Reads the files of MCP servers.
fn read_servers(found: &mut Collector<'_>) {
    for directory in found.project_directories() {
        servers_file(found, &join(&directory, ".mcp.json"), InstallLayer::Project);
    }
    // With the default home, the file is next to the home and not in it.
    let is_moved = found.machine.environment.get("CLAUDE_CONFIG_DIR").is_some_and(|value| !value.is_empty());
    let base = if is_moved { found.home.clone() } else { found.machine.home.to_owned() };
    let path = join(&base, ".claude.json");
    let Some(file) = found.open(&path, Syntax::Json) else { return };
    let Some(root) = found.parse(&file) else { return };
    let mut parts = Parts::default();
    parts.add_servers(found.members(&path, &root, "mcpServers"));
    found.add_parts(&path, parts, InstallLayer::User);
    for directory in found.project_directories() {
        // The object has a member for each project that the user ever opened.
        let Some(project) = root.get("projects").and_then(|projects| projects.get(&directory)) else {
            continue;
        };
        let mut parts = Parts::default();
        parts.add_servers(found.members(&path, project, "mcpServers"));
        add_project_servers(found, &path, &directory, parts.finish());
    }
}

/// Adds the servers that the user's file contains for one project.
///
/// They have a key of their own, the path of the file followed by that of the project. With the key of the file, its
/// contents would differ in each project, and each change of the directory would be a change of the file.
fn add_project_servers(found: &mut Collector<'_>, path: &str, project: &str, parts: Vec<crate::InstallPart>) {
    if parts.is_empty() {
        return;
    }
    let real = found.machine.files.real(path);
    let key = real.as_ref().and_then(|real| PlacePath::new(&format!("{real}{project}")).ok());
    let (Some(real), Some(key)) = (real, key) else {
        return found.unreadable(path, "", "the path of the file or of the project is too long or not UTF-8");
    };
    let record = place(path, &format!("{}/mcpServers", step("/projects", project)));
    let install = found.install(PluginKey::Placed(key), crate::InstallKind::Servers, real, record);
    found.add(Install { contents: InstallContents::Parts(parts), layer: InstallLayer::Project, ..install });
}

/// Reads a file that only contains MCP servers.
fn servers_file(found: &mut Collector<'_>, path: &str, layer: InstallLayer) {
    let Some(file) = found.open(path, Syntax::Json) else { return };
    let Some(root) = found.parse(&file) else { return };
    let mut parts = Parts::default();
    parts.add_servers(found.members(path, &root, "mcpServers"));
    found.add_parts(path, parts, layer);
}
