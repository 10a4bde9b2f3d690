//! Visual Studio Code: what its settings name, and the plugins of Copilot CLI, whose record it reads.

use plugward_manifest::json::JsonNode;
use plugward_types::PluginKey;

use super::{copilot, expanded, in_project, state_of};
use crate::collector::{Collector, absolute, clean, is_json, join, place, step};
use crate::loose::{add_directory, add_skills_at};
use crate::source_file::Syntax;
use crate::{HookShape, HostState, Install, InstallKind, InstallLayer, RecordPlace, shapes};

pub(crate) fn read(found: &mut Collector<'_>) {
    let user = (join(&found.home, "settings.json"), InstallLayer::User);
    for (path, layer) in core::iter::once(user).chain(in_project(found, ".vscode/settings.json")) {
        read_locations(found, &path, layer);
    }
    if found.is_directory(&found.home) {
        let record = join(found.machine.home, ".copilot/config.json");
        copilot::add_record(found, &record, &|_| HostState::On);
    }
}

/// The settings that name directories of texts, with the kind of the texts.
const TEXTS: [(&str, InstallKind); 3] = [
    ("chat.agentFilesLocations", InstallKind::Agents),
    ("chat.promptFilesLocations", InstallKind::Commands),
    ("chat.instructionsFilesLocations", InstallKind::Commands),
];

/// Adds what a settings file names.
fn read_locations(found: &mut Collector<'_>, path: &str, layer: InstallLayer) {
    let mut hooks = Vec::new();
    found.parts_file(path, Syntax::JsonWithCommas, layer, |found, root, _| {
        for Location { path, state, record } in locations(found, path, root, "chat.pluginLocations") {
            let Some(real) = found.machine.files.real(&path) else { continue };
            let key = PluginKey::Placed(real.clone());
            let install = found.install(key, InstallKind::Plugin, real, record);
            found.add(Install { state, layer, ..install });
        }
        for Location { path, .. } in on(locations(found, path, root, "chat.agentSkillsLocations")) {
            add_skills_at(found, &path, layer);
        }
        for (key, kind) in TEXTS {
            for Location { path, .. } in on(locations(found, path, root, key)) {
                add_directory(found, &path, kind, layer);
            }
        }
        hooks = locations(found, path, root, "chat.hookFilesLocations");
    });
    for Location { path, .. } in on(hooks) {
        if !found.is_directory(&path) {
            read_hooks(found, &path, layer);
            continue;
        }
        for name in found.entries(&path).into_iter().map(|entry| entry.name).filter(|name| is_json(name)) {
            read_hooks(found, &join(&path, &name), layer);
        }
    }
}

/// A place that a settings file names.
struct Location {
    path: String,
    state: HostState,
    record: RecordPlace,
}

/// Returns the locations that are not switched off.
fn on(all: Vec<Location>) -> impl Iterator<Item = Location> {
    all.into_iter().filter(|one| one.state == HostState::On)
}

/// Returns the places at a key. Relative ones start in the project.
fn locations(found: &mut Collector<'_>, file: &str, root: &JsonNode<'_>, key: &str) -> Vec<Location> {
    let mut all = Vec::new();
    for member in found.members(file, root, key) {
        let record = place(file, &step(&format!("/{key}"), member.key()));
        let bases = match member.key() {
            full if full.starts_with(['/', '~']) => vec![absolute(found.machine, full)],
            relative => found.project_directories().iter().map(|at| join(at, relative)).collect(),
        };
        let state = state_of(Some(member.node()));
        for base in bases {
            let paths = expanded(found, record.clone(), member.key(), clean(&base));
            all.extend(paths.into_iter().map(|path| Location { path, state, record: record.clone() }));
        }
    }
    all
}

/// Adds the hooks of a file.
fn read_hooks(found: &mut Collector<'_>, path: &str, layer: InstallLayer) {
    found.parts_file(path, Syntax::JsonWithCommas, layer, |found, root, parts| {
        let Some(hooks) = root.get("hooks").filter(|hooks| !hooks.is_null()) else { return };
        if let Err(expected) = shapes::add_hooks(parts, hooks, HookShape::Flat) {
            found.wrong_type(path, "/hooks", hooks, expected);
        }
    });
}
