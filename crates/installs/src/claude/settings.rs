//! The settings files: which plugins are on, and the hooks, commands, environment and servers in them.

use std::collections::BTreeMap;

use plugward_manifest::json::{JsonMember, JsonNode, JsonValue};
use plugward_types::{InstalledId, PlacePath, PluginKey};

use super::markets::{KnownMarket, market_of};
use crate::collector::{Collector, clean, is_json, join, path_of, place, step};
use crate::judge::variables::VariableReach;
use crate::judge::{Judge, permissions};
use crate::parts::Parts;
use crate::source_file::Syntax;
use crate::{
    EntryKind, HostState, HostSwitch, Install, InstallContents, InstallLayer, RecordPlace, SettingsParts,
};

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

/// The settings that switch off hooks of other files.
const SWITCHES: &[&str] = &["allowManagedHooksOnly", "disableAllHooks"];

/// The directories of an administrator's settings, on Linux and macOS.
const MANAGED: &[&str] = &["/etc/claude-code", "/Library/Application Support/ClaudeCode"];

/// What the settings decide about plugins.
#[derive(Default)]
pub(super) struct Settings {
    /// The value with the highest precedence.
    pub(super) enabled: BTreeMap<InstalledId, Setting>,
    /// The directories that the settings add as marketplaces, by name.
    pub(super) markets: BTreeMap<String, KnownMarket>,
    /// The variables that the user's or administrator's settings set for the host itself.
    env: BTreeMap<String, String>,
}

pub(super) struct Setting {
    pub(super) is_on: bool,
    /// The administrator enables the plugin, so no other setting disables it.
    is_forced: bool,
    pub(super) record: RecordPlace,
}

impl Settings {
    /// Returns the state of an id. The host does not load a plugin that its settings do not mention.
    pub(super) fn state(&self, id: &InstalledId) -> HostState {
        match self.enabled.get(id) {
            Some(setting) if setting.is_on => HostState::On,
            _ => HostState::Off,
        }
    }

    /// Returns how an id can be disabled on the command line.
    pub(super) fn switch(&self, id: &InstalledId) -> HostSwitch {
        match self.enabled.get(id) {
            Some(setting) if setting.is_forced => HostSwitch::None,
            _ => HostSwitch::Id(id.as_str().to_owned()),
        }
    }

    /// Returns an environment variable of the host, which its settings can set.
    pub(super) fn variable(&self, found: &Collector<'_>, name: &str) -> Option<String> {
        self.env.get(name).or_else(|| found.machine.environment.get(name)).cloned()
    }

    /// Adds the values of one level, which has a higher precedence than all before it.
    fn add_level(&mut self, files: Vec<Vec<(InstalledId, Setting)>>) {
        let count = files.len();
        let mut level: BTreeMap<InstalledId, Vec<Setting>> = BTreeMap::new();
        for (id, setting) in files.into_iter().flatten() {
            level.entry(id).or_default().push(setting);
        }
        // The host reads one directory of a project, which depends on its version. A plugin is off only if it is off
        // in each of them.
        for (id, mut group) in level {
            let on = group.iter().position(|setting| setting.is_on);
            if on.is_some() || group.len() == count {
                self.enabled.insert(id, group.swap_remove(on.unwrap_or(0)));
            }
        }
    }

    /// Reads the settings of the administrator, of which a later file replaces the values of an earlier one.
    fn read_managed(&mut self, found: &mut Collector<'_>, directory: &str) {
        let more = join(directory, "managed-settings.d");
        let mut paths = vec![join(directory, "managed-settings.json")];
        let names = found.entries(&more).into_iter().map(|entry| entry.name);
        paths.extend(names.filter(|name| is_json(name)).map(|name| join(&more, &name)));
        for path in paths {
            let mut level = self.read_file(found, &path, InstallLayer::User);
            for (_, setting) in &mut level {
                setting.is_forced = setting.is_on;
            }
            self.add_level(vec![level]);
        }
        found.servers_file(&join(directory, "managed-mcp.json"), Syntax::Json, InstallLayer::User);
    }

    /// Reads one settings file: adds its parts, and returns its values of `enabledPlugins`.
    fn read_file(
        &mut self,
        found: &mut Collector<'_>,
        path: &str,
        layer: InstallLayer,
    ) -> Vec<(InstalledId, Setting)> {
        let mut settings = Vec::new();
        let judge = found.judge(path, layer);
        found.parts_file(path, Syntax::Json, layer, |found, root, parts| {
            add_parts(found, &judge, path, root, parts);
            for member in found.members(path, root, "enabledPlugins") {
                let record = place(path, &step("/enabledPlugins", member.key()));
                let Some(id) = found.id(member.key(), record.clone()) else { continue };
                // Anything but `false` can load: what a list of versions does depends on the version of the host.
                let is_on = !matches!(member.node().value(), JsonValue::Bool(false));
                settings.push((id, Setting { is_on, is_forced: false, record }));
            }
            let base = path.rsplit_once("/.claude/").map_or(path, |(base, _)| base);
            for member in found.members(path, root, "extraKnownMarketplaces") {
                let market = market_of(found, member.node(), base);
                self.markets.extend(market.map(|market| (member.key().to_owned(), market)));
            }
            if layer == InstallLayer::User {
                let text = |member: &JsonMember<'_>| {
                    Some((member.key().to_owned(), member.node().as_str()?.to_owned()))
                };
                let members = root.members_of("env");
                self.env.extend(members.iter().filter_map(text));
            }
        });
        settings
    }
}

/// Reads all settings files and adds their parts.
pub(super) fn read(found: &mut Collector<'_>) -> Settings {
    let mut settings = Settings::default();
    let user = join(&found.home, "settings.json");
    let level = settings.read_file(found, &user, InstallLayer::User);
    settings.add_level(vec![level]);
    for name in ["settings.json", "settings.local.json"] {
        let paths = found.project_directories().into_iter().map(|at| join(&at, &format!(".claude/{name}")));
        // In the home directory, the file of the project is that of the user.
        let paths = paths.filter(|path| *path != user);
        let level = paths.map(|path| settings.read_file(found, &path, InstallLayer::Project)).collect();
        settings.add_level(level);
    }
    for directory in MANAGED {
        settings.read_managed(found, directory);
    }
    read_servers(found);
    settings
}

/// Adds the hooks, environment and commands of a settings file.
fn add_parts(
    found: &mut Collector<'_>,
    judge: &Judge<'_>,
    path: &str,
    root: &JsonNode<'_>,
    parts: &mut Parts,
) {
    let hooks = found.members(path, root, "hooks");
    judge.hooks(parts, hooks);
    parts.add_hooks(hooks, &[]);
    let env = found.members(path, root, "env");
    judge.variables(parts, env, VariableReach::Host);
    parts.add_env(env);
    permissions::claude(judge, root, parts);
    parts.add_switches(root, SWITCHES);
    for name in COMMANDS {
        let Some(node) = root.get(name).filter(|node| !node.is_null()) else { continue };
        match node.value() {
            JsonValue::String(_) | JsonValue::Object(_) => parts.add_command(name, node),
            _ => found.wrong_type(path, &format!("/{name}"), node, "a command"),
        }
    }
}

/// Reads the files of MCP servers.
fn read_servers(found: &mut Collector<'_>) {
    // The host reads those above the project too, up to the root.
    for directory in found.ancestors() {
        found.servers_file(&join(&directory, ".mcp.json"), Syntax::Json, InstallLayer::Project);
    }
    // With the default home, the file is next to the home and not in it.
    let moved = path_of(found.machine, "CLAUDE_CONFIG_DIR");
    let base = moved.unwrap_or_else(|| found.machine.home.to_owned());
    let path = join(&base, ".claude.json");
    let judge = found.judge(&path, InstallLayer::User);
    found.parts_file(&path, Syntax::Json, InstallLayer::User, |found, root, parts| {
        let servers = found.members(&path, root, "mcpServers");
        judge.servers(parts, servers);
        parts.add_servers(servers);
        let mut directories = found.project_directories();
        directories.extend(main_checkout(found));
        for directory in directories {
            // The object has a member for each project that the user ever opened.
            let Some(project) = root.get("projects").and_then(|projects| projects.get(&directory)) else {
                continue;
            };
            let mut parts = Parts::default();
            parts.add_servers(found.members(&path, project, "mcpServers"));
            if !parts.is_empty() {
                add_project_servers(found, &path, &directory, parts.finish());
            }
        }
    });
}

/// Returns the main checkout if the working directory is in a linked worktree of Git: its servers apply there too.
fn main_checkout(found: &mut Collector<'_>) -> Option<String> {
    let mut all = found.ancestors().into_iter();
    let (root, git) = all.find_map(|at| {
        let git = join(&at, ".git");
        found.machine.files.kind(&git).is_some().then_some((at, git))
    })?;
    if found.machine.files.kind(&git) != Some(EntryKind::File) {
        return None;
    }
    let read = found.machine.files.read(&git).map_err(|fault| found.unreadable(&git, "", fault.message));
    let text = String::from_utf8(read.ok()??).ok()?;
    let target = text.strip_prefix("gitdir:")?.trim();
    let target = clean(&if target.starts_with('/') { target.to_owned() } else { join(&root, target) });
    let (common, name) = target.rsplit_once("/worktrees/")?;
    let main = common.strip_suffix("/.git").unwrap_or(common);
    Some(main.to_owned()).filter(|main| !name.contains('/') && *main != root)
}

/// Adds the servers that the user's file contains for one project.
///
/// They have a key of their own, the path of the file followed by that of the project. With the key of the file, its
/// contents would differ in each project, and each change of the directory would be a change of the file.
fn add_project_servers(found: &mut Collector<'_>, path: &str, project: &str, parts: SettingsParts) {
    let real = found.machine.files.real(path);
    let key = real.as_ref().and_then(|real| PlacePath::new(&format!("{real}{project}")).ok());
    let (Some(real), Some(key)) = (real, key) else {
        return found.unreadable(path, "", "the path of the file or of the project is too long or not UTF-8");
    };
    let record = place(path, &format!("{}/mcpServers", step("/projects", project)));
    let install = found.install(PluginKey::Placed(key), crate::InstallKind::Servers, real, record);
    let directory = PlacePath::new(project).ok();
    let contents = InstallContents::Parts(parts);
    found.add(Install { contents, layer: InstallLayer::Project, directory, ..install });
}
