//! The directories and files that hosts would load, by place.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use plugward_installs::{
    HostInventory, HostState, Install, InstallContents, InstallKind, InstallLayer, InstallProblem,
    InstallProblemKind, RecordPlace, SettingsFinding,
};
use plugward_manifest::{CommandSources, MarketplaceEntry, read_marketplace};
use plugward_types::{HostName, PlacePath, PluginKey};

/// The label of the root of a project, in reports.
pub const PROJECT_LABEL: &str = "project";

/// What the hosts of a machine would load, by place. Keys come from here.
///
/// The default is a machine without hosts: every plugin then has the key of its place.
#[derive(Debug, Clone, Default)]
pub struct InstallRecords {
    places: BTreeMap<PlacePath, Arc<InstalledPlace>>,
    problems: Vec<InstallProblem>,
    /// The hosts with a record that cannot be read.
    unreadable: BTreeSet<HostName>,
}

/// One directory or file that at least one host would load.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct InstalledPlace {
    /// The real path; see [`Install::address`].
    pub place: PlacePath,
    /// The keys, sorted. A directory that two records name has two, and both pins must match.
    pub keys: Vec<PluginKey>,
    /// The hosts that would load it.
    pub hosts: BTreeSet<HostName>,
    /// The kind. A directory with a manifest is a plugin, whatever else names it.
    pub kind: InstallKind,
    /// Whether at least one host would load it in this project.
    pub state: HostState,
    /// The version in a record or layout.
    pub version: Option<String>,
    /// The part of the place that counts.
    pub contents: InstallContents,
    /// The label of its root: a host, or [`PROJECT_LABEL`].
    pub label: String,
    /// The record that names it.
    pub record: RecordPlace,
    /// `true` if a record points outside the host's own directory of plugins.
    pub is_outside: bool,
    /// The directory of the marketplace that describes it.
    pub marketplace: Option<String>,
    /// The keys that it had before its marketplace renamed it.
    pub former_keys: Vec<PluginKey>,
    /// The directory in which relative paths of its commands start; see [`Install::directory`].
    pub directory: Option<PlacePath>,
    /// The variables that the file sets; see [`Install::environment`].
    pub environment: Vec<(String, String)>,
    /// What its settings do that a person has to know about.
    pub findings: Vec<SettingsFinding>,
    /// The names of settings that loosen the host; see [`Install::loosens`].
    pub loosens: Vec<String>,
}

impl InstallRecords {
    /// Merges what the hosts would load: a place that several hosts or records name is one plugin.
    #[must_use]
    pub fn new(inventories: impl IntoIterator<Item = HostInventory>) -> Self {
        let mut merged: BTreeMap<PlacePath, InstalledPlace> = BTreeMap::new();
        let mut records = Self::default();
        for HostInventory { installs, problems, .. } in inventories {
            let broken = problems.iter().filter(|one| one.kind == InstallProblemKind::Unreadable);
            records.unreadable.extend(broken.map(|one| one.host.clone()));
            // Several hosts read some files, and one problem of such a file is enough.
            for problem in problems {
                let is_same = |one: &&InstallProblem| {
                    one.kind == problem.kind && one.record == problem.record && one.message == problem.message
                };
                let is_shared = problem.kind == InstallProblemKind::Unreadable;
                if !is_shared || !records.problems.iter().any(|one| is_same(&one)) {
                    records.problems.push(problem);
                }
            }
            for install in installs {
                let address = Self::address(&merged, &install);
                match merged.entry(address) {
                    Entry::Occupied(mut known) => known.get_mut().add(install),
                    Entry::Vacant(free) => {
                        let place = free.key().clone();
                        free.insert(InstalledPlace::of(install)).move_to(place);
                    }
                }
            }
        }
        records.places = merged.into_iter().map(|(place, one)| (place, Arc::new(one))).collect();
        records
    }

    /// Creates the records of a host that is about to install a directory, under the key that it will have there. Without a
    /// key, it has that of its place.
    #[must_use]
    pub fn about_to_install(
        host: HostName,
        place: PlacePath,
        key: Option<PluginKey>,
        kind: InstallKind,
    ) -> Self {
        let key = key.unwrap_or_else(|| PluginKey::Placed(place.clone()));
        let label = host.to_string();
        let new = InstalledPlace::new(place.clone(), kind, BTreeSet::from([host]));
        let one = InstalledPlace { keys: vec![key], label, ..new };
        Self { places: BTreeMap::from([(place, Arc::new(one))]), ..Self::default() }
    }

    /// Returns the path that identifies an install. Two hosts can read different parts of one file, which are then
    /// judged one by one.
    fn address(merged: &BTreeMap<PlacePath, InstalledPlace>, install: &Install) -> PlacePath {
        let address = install.address();
        let is_parts = |contents: &InstallContents| matches!(contents, InstallContents::Parts(_));
        let differs = merged.get(address).is_some_and(|known| {
            known.contents != install.contents && (is_parts(&known.contents) || is_parts(&install.contents))
        });
        if !differs {
            return address.clone();
        }
        // A third host can read the same parts as the second.
        let same = merged
            .range(address.clone()..)
            .take_while(|(place, _)| place.relative_to(address).is_some())
            .find(|(_, known)| {
                known.place.parent().as_ref() == Some(address) && known.contents == install.contents
            });
        let apart = || address.join(install.host.as_str()).unwrap_or_else(|_| address.clone());
        same.map_or_else(apart, |(place, _)| place.clone())
    }

    /// Returns what is installed at a place.
    #[must_use]
    pub fn at(&self, place: &PlacePath) -> Option<&Arc<InstalledPlace>> {
        self.places.get(place)
    }

    /// Returns all places, sorted.
    pub fn places(&self) -> impl Iterator<Item = &Arc<InstalledPlace>> {
        self.places.values()
    }

    /// Returns the places with a key.
    pub fn of_key(&self, key: &PluginKey) -> impl Iterator<Item = &Arc<InstalledPlace>> {
        self.places.values().filter(move |one| one.keys.contains(key))
    }

    /// Returns the problems of the records.
    #[must_use]
    pub fn problems(&self) -> &[InstallProblem] {
        &self.problems
    }

    /// Returns the problem of a record that keeps all plugins of these hosts from loading.
    pub(crate) fn unreadable(&self, hosts: &BTreeSet<HostName>) -> Option<&InstallProblem> {
        // A place that another host would load is judged for that host.
        let all = !hosts.is_empty() && hosts.iter().all(|host| self.unreadable.contains(host));
        let is =
            |one: &&InstallProblem| one.kind == InstallProblemKind::Unreadable && hosts.contains(&one.host);
        self.problems.iter().find(is).filter(|_| all)
    }
}

impl InstalledPlace {
    /// Creates a place of a project that is on, without a key, contents of its own or settings.
    pub(crate) fn new(place: PlacePath, kind: InstallKind, hosts: BTreeSet<HostName>) -> Self {
        Self {
            keys: Vec::new(),
            place,
            hosts,
            kind,
            state: HostState::On,
            version: None,
            contents: InstallContents::Directory,
            label: PROJECT_LABEL.to_owned(),
            record: RecordPlace::new("", ""),
            is_outside: false,
            marketplace: None,
            former_keys: Vec::new(),
            directory: None,
            environment: Vec::new(),
            findings: Vec::new(),
            loosens: Vec::new(),
        }
    }

    fn of(install: Install) -> Self {
        let label = match install.layer {
            InstallLayer::User => install.host.to_string(),
            InstallLayer::Project => PROJECT_LABEL.to_owned(),
        };
        let former = former_keys(&install);
        Self {
            place: install.address().clone(),
            keys: vec![install.key],
            hosts: BTreeSet::from([install.host]),
            kind: install.kind,
            state: install.state,
            version: install.version,
            contents: install.contents,
            label,
            record: install.record,
            is_outside: install.is_outside,
            marketplace: install.marketplace,
            former_keys: former,
            directory: install.directory,
            environment: install.environment,
            findings: install.findings,
            loosens: install.loosens,
        }
    }

    /// Sets the place, which is a key if no record has one.
    fn move_to(&mut self, place: PlacePath) {
        for key in &mut self.keys {
            if key.placed().is_some() {
                *key = PluginKey::Placed(place.clone());
            }
        }
        self.place = place;
    }

    fn add(&mut self, install: Install) {
        let former = former_keys(&install);
        if !self.keys.contains(&install.key) {
            self.keys.push(install.key);
            self.keys.sort();
        }
        self.hosts.insert(install.host);
        self.kind = self.kind.min(install.kind);
        self.state = self.state.min(install.state);
        self.version = self.version.take().or(install.version);
        if self.contents != install.contents {
            self.contents = InstallContents::Directory;
        }
        self.is_outside |= install.is_outside;
        self.marketplace = self.marketplace.take().or(install.marketplace);
        self.former_keys.extend(former);
        self.directory = self.directory.take().or(install.directory);
        merge(&mut self.environment, install.environment);
        merge(&mut self.findings, install.findings);
        merge(&mut self.loosens, install.loosens);
    }
}

/// Adds the items that are not in a list yet.
fn merge<T: PartialEq>(list: &mut Vec<T>, more: Vec<T>) {
    let new: Vec<T> = more.into_iter().filter(|item| !list.contains(item)).collect();
    list.extend(new);
}

fn former_keys(install: &Install) -> Vec<PluginKey> {
    let key = |id: &plugward_types::InstalledId| PluginKey::Installed {
        host: install.host.clone(),
        id: id.clone(),
    };
    install.former_ids.iter().map(key).collect()
}

/// Returns the definition of an install without a manifest, in the form of a marketplace entry: the form in which a
/// Claude marketplace defines a plugin that has no manifest.
pub(crate) fn definition(installed: &InstalledPlace) -> Option<MarketplaceEntry> {
    let parts: Vec<&str> = match &installed.contents {
        InstallContents::Parts(parts) => parts.current.iter().map(|part| part.name).collect(),
        InstallContents::Directory | InstallContents::CacheDirectory => Vec::new(),
    };
    defined(installed.kind, &parts)
}

/// As [`definition`], for the names of the parts.
pub(crate) fn defined(kind: InstallKind, parts: &[&str]) -> Option<MarketplaceEntry> {
    let has = |name: &str| parts.contains(&name);
    let (name, components) = match kind {
        InstallKind::Plugin => return None,
        // SKILL.md at the top is a standard file.
        InstallKind::Skill => ("skill", String::new()),
        InstallKind::Agents => ("agents", r#","agents":["./"]"#.to_owned()),
        InstallKind::Commands => ("commands", r#","commands":["./"]"#.to_owned()),
        // Every file can be loaded, so each of them is a script.
        InstallKind::Code => ("code", r#","workflows":["./"]"#.to_owned()),
        InstallKind::Settings | InstallKind::Servers => {
            let files = ["hooks.json", "commands.json"].into_iter().filter(|name| has(name));
            let files: Vec<String> = files.map(|name| format!(r#""./{name}""#)).collect();
            let hooks =
                if files.is_empty() { String::new() } else { format!(r#","hooks":[{}]"#, files.join(",")) };
            let servers = if has("servers.json") { r#","mcpServers":"./servers.json""# } else { "" };
            let name = if kind == InstallKind::Servers { "servers" } else { "settings" };
            (name, format!("{hooks}{servers}"))
        }
    };
    let entry = format!(r#"{{"name":"{name}","source":"./x","strict":false{components}}}"#);
    let text = format!(r#"{{"name":"installed","owner":{{"name":"host"}},"plugins":[{entry}]}}"#);
    let read = read_marketplace("settings", text.as_bytes(), CommandSources::Refused).ok();
    read?.0.entries().first().cloned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_kind_without_a_manifest_has_a_definition() {
        let host: HostName = "claude".parse().unwrap();
        for kind in [
            InstallKind::Skill,
            InstallKind::Agents,
            InstallKind::Commands,
            InstallKind::Code,
            InstallKind::Settings,
            InstallKind::Servers,
        ] {
            let place = PlacePath::new("/home/user/.claude/x").unwrap();
            let one = InstalledPlace::new(place, kind, BTreeSet::from([host.clone()]));
            assert!(!definition(&one).unwrap().is_strict(), "{kind:?}");
        }
    }
}
