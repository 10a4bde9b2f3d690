//! Skills, agents and commands outside plugins.

use plugward_types::PluginKey;

use crate::collector::{Collector, join, place};
use crate::{EntryKind, HostState, HostSwitch, Install, InstallKind, InstallLayer};

/// The directories that are searched for a file before a directory counts as not empty.
const SEARCHED: usize = 256;

/// Adds a directory of agents or commands, if it contains a file.
pub(crate) fn add_directory(found: &mut Collector<'_>, path: &str, kind: InstallKind, layer: InstallLayer) {
    if !found.is_directory(path) || !has_file(found, path) {
        return;
    }
    let Some((directory, name)) = path.rsplit_once('/') else { return };
    found.add_placed(kind, directory, name, layer);
}

/// Adds each skill in a directory. Symlinks are followed.
///
/// With `plugin_state`, a skill with a manifest of Claude Code is a plugin, whose state depends on its name.
pub(crate) fn add_skills(
    found: &mut Collector<'_>,
    path: &str,
    layer: InstallLayer,
    skip: &[&str],
    plugin_state: Option<&dyn Fn(&str) -> HostState>,
) {
    for name in found.directories(path) {
        let skill = join(path, &name);
        if skip.contains(&name.as_str()) || name == ".git" {
            continue;
        }
        let manifest = join(&skill, ".claude-plugin/plugin.json");
        let Some(state_of) = plugin_state.filter(|_| found.machine.files.kind(&manifest).is_some()) else {
            found.add_placed(InstallKind::Skill, path, &name, layer);
            continue;
        };
        let Some(real) = found.machine.files.real(&skill) else { continue };
        let state = manifest_name(found, &manifest).map_or(HostState::On, |name| state_of(&name));
        let key = PluginKey::Placed(real.clone());
        let install = found.install(key, InstallKind::Plugin, real, place(path, ""));
        found.add(Install { layer, state, switch: HostSwitch::ManifestName, ..install });
    }
}

/// Adds the skill that a directory is, or each skill in it.
pub(crate) fn add_skills_at(found: &mut Collector<'_>, path: &str, layer: InstallLayer) {
    match path.rsplit_once('/') {
        Some((directory, name)) if found.machine.files.kind(&join(path, "SKILL.md")).is_some() => {
            found.add_placed(InstallKind::Skill, directory, name, layer);
        }
        _ => add_skills(found, path, layer, &[], None),
    }
}

/// Adds the skills in `.agents/skills`, which several hosts read. Those of the user count only if the host is here.
pub(crate) fn add_shared_skills(found: &mut Collector<'_>) {
    if found.is_directory(&found.home) {
        let user = join(found.machine.home, ".agents/skills");
        add_skills(found, &user, InstallLayer::User, &[], None);
    }
    for directory in found.project_directories() {
        add_skills(found, &join(&directory, ".agents/skills"), InstallLayer::Project, &[], None);
    }
}

/// Returns the name in a manifest. A manifest that cannot be read is a matter of the loader, so it has no name here.
pub(crate) fn manifest_name(found: &Collector<'_>, path: &str) -> Option<String> {
    let bytes = found.machine.files.read(path).ok()??;
    let root =
        plugward_manifest::json::parse(&bytes, &plugward_manifest::json::ParseLimits::standard()).ok()?;
    Some(root.get("name")?.as_str()?.to_owned())
}

/// Returns `true` if the directory contains a file at any depth, or too many directories to tell.
fn has_file(found: &mut Collector<'_>, path: &str) -> bool {
    let mut waiting = vec![path.to_owned()];
    for _ in 0..SEARCHED {
        let Some(directory) = waiting.pop() else { return false };
        for entry in found.entries(&directory) {
            match entry.kind {
                EntryKind::Directory => waiting.push(join(&directory, &entry.name)),
                EntryKind::File | EntryKind::Symlink | EntryKind::Special => return true,
            }
        }
    }
    !waiting.is_empty()
}
