//! Codex: its cache, configuration and loose pieces.

use std::collections::{BTreeMap, BTreeSet};

use plugward_manifest::json::{JsonNode, JsonValue};
use plugward_types::InstalledId;

use crate::collector::{Collector, clean, has_extension, join, place, step};
use crate::judge::variables::VariableReach;
use crate::judge::{FileOwner, permissions, rules};
use crate::loose::{add_directory, add_shared_skills, add_skills};
use crate::parts::Parts;
use crate::source_file::{SourceFile, Syntax};
use crate::{
    EntryKind, HostState, HostSwitch, Install, InstallKind, InstallLayer, InstallProblem, InstallProblemKind,
    RecordPlace,
};

/// The directory of an administrator's files.
const SYSTEM: &str = "/etc/codex";

const CONFIG: &str = "config.toml";

/// What the configuration decides about plugins.
#[derive(Default)]
struct Config {
    plugins: BTreeMap<InstalledId, PluginSetting>,
    /// The names of the known marketplaces.
    markets: BTreeMap<String, Option<String>>,
    /// The projects that the user trusts.
    trusted: BTreeSet<String>,
}

struct PluginSetting {
    state: HostState,
    record: RecordPlace,
}

/// Reads everything that Codex would load.
pub(crate) fn read(found: &mut Collector<'_>) {
    let mut config = Config::default();
    let home = found.home.clone();
    let system = (SYSTEM.to_owned(), InstallLayer::User);
    for (at, layer) in core::iter::once(system).chain(found.levels(".codex")) {
        read_config(found, &join(&at, CONFIG), layer, &mut config);
        if layer == InstallLayer::User {
            read_config(found, &join(&at, "managed_config.toml"), layer, &mut config);
        }
        if at == home {
            found.environment_file(&join(&at, ".env"), layer);
            // The command line chooses one of these profiles.
            let names = found.entries(&at).into_iter().map(|entry| entry.name);
            for name in names.filter(|name| name.ends_with(".config.toml")).collect::<Vec<_>>() {
                read_config(found, &join(&at, &name), layer, &mut config);
            }
        }
        let hooks = join(&at, "hooks.json");
        let judge = found.judge(&hooks, layer);
        found.parts_file(&hooks, Syntax::Json, layer, |found, root, parts| {
            let members = found.members(&hooks, root, "hooks");
            judge.hooks(parts, members);
            parts.add_hooks(members, &[]);
        });
        add_skills(found, &join(&at, "skills"), layer, &[".system"], None);
        add_directory(found, &join(&at, "agents"), InstallKind::Agents, layer);
        read_agents(found, &join(&at, "agents"), layer);
        read_rules(found, &join(&at, "rules"), layer);
        add_directory(found, &join(&at, "prompts"), InstallKind::Commands, layer);
    }
    add_shared_skills(found);
    add_cache(found, &home, &mut config);
    for (id, PluginSetting { state, record }) in config.plugins {
        let help = "install the plugin again, then run: plugward check";
        let problem = found.draft(InstallProblemKind::Missing, record, "not on disk", help);
        let switch = HostSwitch::Id(id.as_str().to_owned());
        found.report(InstallProblem { key: Some(found.key(&id)), state, switch, ..problem });
    }
}

/// Reads `config.toml` or a profile. A file of the project can enable and disable plugins too.
fn read_config(found: &mut Collector<'_>, path: &str, layer: InstallLayer, config: &mut Config) {
    let mut roles = Vec::new();
    found.parts_file(path, Syntax::Toml, layer, |found, root, parts| {
        read_parts(found, path, root, parts, layer);
        config.read(found, path, layer, root);
        let agents = found.members(path, root, "agents").iter();
        roles.extend(agents.filter_map(|agent| Some(agent.node().get("config_file")?.as_str()?.to_owned())));
    });
    let directory = path.rsplit_once('/').map_or("/", |(directory, _)| directory).to_owned();
    for role in roles {
        let role = match role.strip_prefix("~/") {
            Some(rest) => join(found.machine.home, rest),
            None if role.starts_with('/') => role,
            None => join(&directory, &role),
        };
        read_role(found, &clean(&role), layer);
    }
}

/// Reads the configuration of one agent, which has the keys of the whole configuration.
fn read_role(found: &mut Collector<'_>, path: &str, layer: InstallLayer) {
    found.parts_file(path, Syntax::Toml, layer, |found, root, parts| {
        read_parts(found, path, root, parts, layer);
    });
}

/// Reads the files of agents.
fn read_agents(found: &mut Collector<'_>, path: &str, layer: InstallLayer) {
    for entry in found.entries(path).into_iter().filter(|entry| has_extension(&entry.name, "toml")) {
        read_role(found, &join(path, &entry.name), layer);
    }
}

/// Reads the rules of a project. Those of the user are not read: the host adds one whenever the user allows a command.
fn read_rules(found: &mut Collector<'_>, path: &str, layer: InstallLayer) {
    if found.judge(path, layer).owner == FileOwner::User {
        return;
    }
    for entry in found.entries(path).into_iter().filter(|entry| has_extension(&entry.name, "rules")) {
        let path = join(path, &entry.name);
        found.text_file(&path, layer, rules::LIMIT, |found, text, parts| {
            if let Err(error) = rules::judge(text, parts) {
                let line = SourceFile::line(text, error.at);
                found.unreadable(
                    &path,
                    "",
                    format!("expected Starlark, but in line {line} {}", error.message),
                );
            }
        });
    }
}

impl Config {
    /// Reads the tables of plugins, marketplaces and trusted projects.
    fn read(&mut self, found: &mut Collector<'_>, path: &str, layer: InstallLayer, root: &JsonNode<'_>) {
        // A profile is not always used, so it disables nothing, and trusts no project.
        let is_profile = !path.ends_with("/config.toml");
        if layer == InstallLayer::User && !is_profile {
            let is_trusted =
                |node: &JsonNode<'_>| node.get("trust_level")?.as_str().map(|level| level == "trusted");
            let projects = found.members(path, root, "projects").iter();
            let trusted = projects.filter(|member| is_trusted(member.node()) == Some(true));
            self.trusted.extend(trusted.map(|member| member.key().to_owned()));
        }
        let is_trusted = !is_profile && (layer == InstallLayer::User || self.trusts(found, path));
        for member in found.members(path, root, "plugins") {
            let record = place(path, &step("/plugins", member.key()));
            let Some(id) = found.id(member.key(), record.clone()) else { continue };
            let state = state_in(member.node()).unwrap_or_else(|got| {
                let message = format!("expected a boolean as `enabled`, got {got}");
                let help = "write `enabled = true` or `enabled = false`";
                let problem = found.draft(InstallProblemKind::Row, record.clone(), message, help);
                let switch = HostSwitch::Id(id.as_str().to_owned());
                found.report(InstallProblem { key: Some(found.key(&id)), switch, ..problem });
                HostState::On
            });
            // The host ignores the file of a project that is not trusted, so it disables nothing.
            if is_trusted || state == HostState::On {
                self.plugins.insert(id, PluginSetting { state, record });
            }
        }
        for member in found.members(path, root, "marketplaces") {
            let text = |key: &str| member.node().get(key).and_then(JsonNode::as_str);
            let local = text("source").filter(|_| text("source_type") == Some("local"));
            self.markets.insert(member.key().to_owned(), local.map(ToOwned::to_owned));
        }
    }

    /// Returns `true` if the user trusts the project of a configuration.
    fn trusts(&self, found: &Collector<'_>, path: &str) -> bool {
        let own = path.strip_suffix("/.codex/config.toml").unwrap_or(path);
        let root = found.project_directories().into_iter().next();
        self.trusted.contains(own) || root.is_some_and(|root| self.trusted.contains(&root))
    }
}

/// Returns the state in the table of one plugin, or the type that `enabled` has instead.
fn state_in(table: &JsonNode<'_>) -> Result<HostState, &'static str> {
    match table.get("enabled").map(|enabled| (enabled, enabled.value())) {
        Some((_, JsonValue::Bool(false))) => Ok(HostState::Off),
        None | Some((_, JsonValue::Bool(true))) => Ok(HostState::On),
        Some((enabled, _)) => Err(enabled.type_name()),
    }
}

/// Adds the hooks, servers, commands and environment of a configuration.
fn read_parts(
    found: &mut Collector<'_>,
    path: &str,
    root: &JsonNode<'_>,
    parts: &mut Parts,
    layer: InstallLayer,
) {
    let judge = found.judge(path, layer);
    permissions::codex(&judge, root, parts);
    judge.endpoint_settings(parts, root);
    // The host stores there which hooks the user trusts.
    let hooks = found.members(path, root, "hooks");
    judge.hooks(parts, hooks);
    parts.add_hooks(hooks, &["state"]);
    let servers = found.members(path, root, "mcp_servers");
    judge.servers(parts, servers);
    parts.add_servers(servers);
    if let Some(notify) = root.get("notify") {
        match notify.items() {
            Some(_) => parts.add_command("notify", notify),
            None => found.wrong_type(path, "/notify", notify, "a list"),
        }
    }
    if let Some(policy) = root.get("shell_environment_policy") {
        let set = found.members(path, policy, "set");
        judge.variables(parts, set, VariableReach::Host);
        parts.add_env(set);
    }
    for member in found.members(path, root, "model_providers") {
        if let Some(auth) = member.node().get("auth").filter(|auth| auth.get("command").is_some()) {
            parts.add_command(&format!("model_providers.{}.auth", member.key()), auth);
        }
    }
}

/// Adds all versions in the cache. The highest one runs, so a planted directory counts; symlinks do not.
fn add_cache(found: &mut Collector<'_>, home: &str, config: &mut Config) {
    let cache = join(home, "plugins/cache");
    for market in found.real_directories(&cache) {
        for name in found.real_directories(&join(&cache, &market)) {
            let directory = join(&cache, &format!("{market}/{name}"));
            let versions = found.real_directories(&directory);
            if versions.is_empty() {
                continue;
            }
            let Some(id) = found.id(&format!("{name}@{market}"), place(&directory, "")) else { continue };
            // Plugins of the account run without a table in the configuration, so the state of others is not known.
            let state = config.plugins.remove(&id).map_or(HostState::On, |setting| setting.state);
            let clone = join(home, &format!(".tmp/marketplaces/{market}"));
            let marketplace = match config.markets.get(&market) {
                Some(Some(local)) => Some(local.clone()),
                _ => Some(clone).filter(|clone| found.is_directory(clone)),
            };
            for version in versions {
                let Some(real) = found.machine.files.real(&join(&directory, &version)) else { continue };
                let install = found.install(found.key(&id), InstallKind::Plugin, real, place(&directory, ""));
                found.add(Install {
                    version: Some(version),
                    state,
                    switch: HostSwitch::Id(id.as_str().to_owned()),
                    marketplace: marketplace.clone(),
                    ..install
                });
            }
        }
    }
}

impl Collector<'_> {
    /// Returns the names of the directories in a directory, without symlinks.
    fn real_directories(&mut self, path: &str) -> Vec<String> {
        let entries = self.entries(path).into_iter();
        entries.filter(|entry| entry.kind == EntryKind::Directory).map(|entry| entry.name).collect()
    }
}
