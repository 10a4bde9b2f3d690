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
    let Some(real) = found.machine.files.real(path) else { return };
    let install = found.install(PluginKey::Placed(real.clone()), kind, real, place(path, ""));
    found.add(Install { layer, ..install });
}

/// Adds each skill in a directory. Symlinks are followed.
///
/// A skill with a manifest of Claude Code is a plugin there; `disabled` are the names that the settings disable.
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
        let Some(real) = found.machine.files.real(&skill) else { continue };
        let install =
            found.install(PluginKey::Placed(real.clone()), InstallKind::Skill, real, place(path, ""));
        let install = Install { layer, ..install };
        let manifest = join(&skill, ".claude-plugin/plugin.json");
        match plugin_state {
            Some(state_of) if found.machine.files.kind(&manifest).is_some() => {
                let state = manifest_name(found, &manifest).map_or(HostState::On, |name| state_of(&name));
                let switch = HostSwitch::ManifestName;
                found.add(Install { kind: InstallKind::Plugin, state, switch, ..install });
            }
            _ => found.add(install),
        }
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
