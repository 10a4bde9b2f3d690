//! `OpenClaw`: the directories that its configuration names.

use super::{CodeNames, texts};
use crate::collector::{Collector, join};
use crate::loose::add_skills;
use crate::source_file::Syntax;
use crate::{InstallKind, InstallLayer, places};

pub(crate) fn read(found: &mut Collector<'_>) {
    let path = join(&found.home, "openclaw.json");
    let (mut plugins, mut skills, mut hooks) = (Vec::new(), Vec::new(), Vec::new());
    found.parts_file(&path, Syntax::Json5, InstallLayer::User, |found, root, _| {
        let names = CodeNames::new(&path, InstallLayer::User);
        let all = |pointer: &str| -> Vec<String> {
            let paths = texts(places::at(root, pointer), "path").into_iter();
            // A relative path starts in the directory of the file, also without a dot.
            paths
                .map(|(_, text)| names.path(found, text).unwrap_or_else(|| join(&names.base, text)))
                .collect()
        };
        plugins = all("/plugins/load/paths");
        skills = all("/skills/load/extraDirs");
        hooks = all("/hooks/internal/load/extraDirs");
    });
    for path in plugins {
        add(found, &path, InstallKind::Plugin);
    }
    for path in skills {
        add_skills(found, &path, InstallLayer::User, &[], None);
    }
    for path in hooks {
        add(found, &path, InstallKind::Code);
    }
}

/// Adds a directory, or the plugins in a directory of plugins.
fn add(found: &mut Collector<'_>, path: &str, kind: InstallKind) {
    let has = |name: &str| found.machine.files.kind(&join(path, name)).is_some();
    let is_plugin =
        ["openclaw.plugin.json", "package.json", "plugin.json", "index.ts", "index.js"].into_iter().any(has);
    let names = if kind == InstallKind::Plugin && !is_plugin { found.directories(path) } else { Vec::new() };
    if names.is_empty()
        && let Some((directory, name)) = path.rsplit_once('/')
    {
        found.add_placed(kind, directory, name, InstallLayer::User);
    }
    for name in names {
        found.add_placed(kind, path, &name, InstallLayer::User);
    }
}
