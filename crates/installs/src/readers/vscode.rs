//! Visual Studio Code: the plugins in its settings, and those of Copilot CLI, whose record it reads.

use super::{copilot, in_project, state_of};
use crate::collector::{Collector, absolute, clean, join, place, step};
use crate::source_file::Syntax;
use crate::{HostState, Install, InstallKind, InstallLayer};
use plugward_types::PluginKey;

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

/// Adds the directories that a settings file names. Relative ones start in the project.
fn read_locations(found: &mut Collector<'_>, path: &str, layer: InstallLayer) {
    found.parts_file(path, Syntax::JsonWithCommas, layer, |found, root, _| {
        for member in found.members(path, root, "chat.pluginLocations") {
            let record = place(path, &step("/chat.pluginLocations", member.key()));
            let bases = match member.key() {
                full if full.starts_with(['/', '~']) => vec![absolute(found.machine, full)],
                relative => found.project_directories().iter().map(|at| join(at, relative)).collect(),
            };
            for at in bases {
                let Some(real) = found.machine.files.real(&clean(&at)) else { continue };
                let key = PluginKey::Placed(real.clone());
                let install = found.install(key, InstallKind::Plugin, real, record.clone());
                found.add(Install { state: state_of(Some(member.node())), layer, ..install });
            }
        }
    });
}
