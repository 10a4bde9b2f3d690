//! GitHub Copilot CLI: the record of its copies, and the marketplaces that it uses in place.

use std::collections::BTreeMap;

use plugward_manifest::json::JsonNode;
use plugward_manifest::{CommandSources, Source, read_marketplace};
use plugward_types::{InstalledId, PluginKey, escape};

use super::{Recorded, in_project, refuse_row, row_place, state_of};
use crate::collector::{Collector, absolute, clean, join, place, shown, step};
use crate::source_file::Syntax;
use crate::{HostState, InstallLayer, InstallProblem, InstallProblemKind, RecordPlace};

/// The marketplace files of a directory, in the order of the host.
const MARKETS: [&str; 5] = [
    "marketplace.json",
    ".plugin/marketplace.json",
    ".github/plugin/marketplace.json",
    ".claude-plugin/marketplace.json",
    ".agents/plugins/marketplace.json",
];

/// What the settings decide.
#[derive(Default)]
struct Settings {
    enabled: BTreeMap<InstalledId, (HostState, RecordPlace)>,
    /// The directories that are marketplaces, by name.
    directories: BTreeMap<String, String>,
}

pub(crate) fn read(found: &mut Collector<'_>) {
    let mut settings = Settings::default();
    let user = (join(&found.home, "settings.json"), InstallLayer::User);
    for (path, layer) in core::iter::once(user).chain(in_project(found, ".github/copilot/settings.json")) {
        settings.read(found, &path, layer);
    }
    let record = join(&found.home, "config.json");
    read_record(found, &record, &settings);
    settings.add_in_place(found);
}

/// Adds the rows of `installedPlugins`. Other hosts read the same record, and its keys stay those of this host.
pub(super) fn add_record(found: &mut Collector<'_>, path: &str, state: &dyn Fn(&InstalledId) -> HostState) {
    let Some(file) = found.open(path, Syntax::JsonWithCommas).filter(|file| !file.is_blank()) else { return };
    let Some(root) = found.parse(&file) else { return };
    let Some(list) = root.get("installedPlugins").filter(|list| !list.is_null()) else { return };
    let Some(rows) = list.items() else { return found.wrong_type(path, "/installedPlugins", list, "a list") };
    for (number, row) in rows.iter().enumerate() {
        let record = row_place(path, "installedPlugins", number);
        let text = |key: &str| row.get(key).and_then(JsonNode::as_str).filter(|text| !text.is_empty());
        let Some(name) = text("name") else {
            refuse_row(found, record, "expected a string as `name`".to_owned());
            continue;
        };
        let full = text("marketplace").map_or_else(|| name.to_owned(), |market| format!("{name}@{market}"));
        let Some(id) = found.id(&full, record.clone()) else { continue };
        let Some(path) = text("cache_path") else {
            refuse_row(found, record, "expected a string as `cache_path`".to_owned());
            continue;
        };
        let state = state(&id).max(state_of(row.get("enabled")));
        let key = match "copilot".parse() {
            Ok(host) => PluginKey::Installed { host, id },
            Err(_) => found.key(&id),
        };
        let (path, version) = (absolute(found.machine, path), text("version").map(ToOwned::to_owned));
        Recorded { key, path, record, state, version, marketplace: None }.add(found);
    }
}

fn read_record(found: &mut Collector<'_>, path: &str, settings: &Settings) {
    add_record(found, path, &|id| settings.enabled.get(id).map_or(HostState::On, |(state, _)| *state));
}

impl Settings {
    fn read(&mut self, found: &mut Collector<'_>, path: &str, layer: InstallLayer) {
        let base = match layer {
            InstallLayer::User => found.machine.home.to_owned(),
            InstallLayer::Project => path.trim_end_matches("/.github/copilot/settings.json").to_owned(),
        };
        found.parts_file(path, Syntax::JsonWithCommas, layer, |found, root, _| {
            for member in found.members(path, root, "enabledPlugins") {
                let record = place(path, &step("/enabledPlugins", member.key()));
                let Some(id) = found.id(member.key(), record.clone()) else { continue };
                // A project can switch a plugin on, and what it switches off can be on elsewhere.
                let known = self.enabled.get(&id).map_or(HostState::Off, |(state, _)| *state);
                let state = state_of(Some(member.node()));
                let state = if layer == InstallLayer::User { state } else { state.min(known) };
                self.enabled.insert(id, (state, record));
            }
            for member in found.members(path, root, "extraKnownMarketplaces") {
                let source = member.node().get("source").unwrap_or_else(|| member.node());
                let text = |key: &str| source.get(key).and_then(JsonNode::as_str);
                if let (Some("directory" | "local" | "file"), Some(path)) = (text("source"), text("path")) {
                    let is_full = path.starts_with(['/', '~']);
                    let path = if is_full { absolute(found.machine, path) } else { join(&base, path) };
                    self.directories.insert(member.key().to_owned(), clean(&path));
                }
            }
        });
    }

    /// Adds the plugins that the host runs in the directory of their marketplace.
    fn add_in_place(&self, found: &mut Collector<'_>) {
        for (id, (state, record)) in &self.enabled {
            let Some(directory) = id.market().and_then(|market| self.directories.get(market)) else {
                continue;
            };
            let (key, record, state) = (found.key(id), record.clone(), *state);
            match place_in(found, directory, id.name()) {
                Ok(path) => {
                    let marketplace = Some(directory.clone());
                    Recorded { key, path, record, state, version: None, marketplace }.add(found);
                }
                Err(message) => {
                    let help = "correct the marketplace, or disable the plugin";
                    let problem = found.draft(InstallProblemKind::Row, record, message, help);
                    found.report(InstallProblem { key: Some(key), state, ..problem });
                }
            }
        }
    }
}

/// Returns the directory of a plugin in a marketplace.
fn place_in(found: &Collector<'_>, directory: &str, name: &str) -> Result<String, String> {
    for file in MARKETS.map(|file| join(directory, file)) {
        let Some(bytes) = found.machine.files.read(&file).map_err(|fault| fault.message)? else { continue };
        let read = read_marketplace(&file, &bytes, CommandSources::Allowed);
        let (market, _) = read.map_err(|errors| escape::line(&errors.to_string()).into_owned())?;
        if let Some(entry) = market.entries().iter().find(|entry| entry.name() == name) {
            return match entry.source() {
                Source::Local { path } if path.is_empty() => Ok(directory.to_owned()),
                Source::Local { path } => Ok(join(directory, path)),
                other => Err(format!("the source of the plugin is `{}`, expected a directory", other.kind())),
            };
        }
        if market.refused().iter().any(|entry| entry.name() == Some(name)) {
            return Err("the entry of the marketplace is invalid".to_owned());
        }
    }
    Err(format!("no entry in a marketplace at {}", shown(directory)))
}
