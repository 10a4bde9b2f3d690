//! `OpenClaw`: the files that its configuration includes, and the directories that it names.

use std::collections::BTreeSet;

use plugward_manifest::json::JsonNode;

use super::{CodeNames, texts};
use crate::collector::{Collector, absolute, clean, join, place, step};
use crate::loose::add_skills_at;
use crate::source_file::{SourceFile, Syntax};
use crate::{InstallKind, InstallLayer, places};

/// The place of the configuration in the table.
const CONFIGURATION: &str = "@/openclaw.json";
/// The most files that a configuration includes.
const MOST_INCLUDES: usize = 64;

/// The directories that the configuration names.
#[derive(Default)]
struct Directories {
    plugins: Vec<String>,
    skills: Vec<String>,
    hooks: Vec<String>,
}

/// A file of the configuration.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
struct ConfigurationFile {
    path: String,
    /// The keys of the object that its contents are merged into.
    keys: Vec<String>,
    /// The file that includes it.
    from: Option<String>,
}

pub(crate) fn read(found: &mut Collector<'_>) {
    let mut directories = Directories::default();
    let first = ConfigurationFile { path: join(&found.home, "openclaw.json"), keys: Vec::new(), from: None };
    let mut known = BTreeSet::from([first.clone()]);
    let mut waiting = vec![first];
    while let Some(one) = waiting.pop() {
        if known.len() > MOST_INCLUDES {
            let message = format!("includes more than {MOST_INCLUDES} files");
            found.unreadable(one.from.as_deref().unwrap_or(&one.path), "", message);
            break;
        }
        for include in read_file(found, &one, &mut directories) {
            if known.insert(include.clone()) {
                waiting.push(include);
            }
        }
    }
    for path in directories.plugins {
        add(found, &path, InstallKind::Plugin);
    }
    for path in directories.skills {
        add_skills_at(found, &path, InstallLayer::User);
    }
    for path in directories.hooks {
        add(found, &path, InstallKind::Code);
    }
}

/// Reads one file, and returns those that it includes.
fn read_file(
    found: &mut Collector<'_>,
    one: &ConfigurationFile,
    directories: &mut Directories,
) -> Vec<ConfigurationFile> {
    let ConfigurationFile { path, keys, from } = one;
    if let Some(from) = from.as_deref().filter(|_| found.machine.files.kind(path).is_none()) {
        found.unreadable(from, "", format!("includes a file that does not exist: {path}"));
        return Vec::new();
    }
    let Some(file) = found.open(path, Syntax::Json5).filter(|file| !file.is_blank()) else {
        return Vec::new();
    };
    let file: SourceFile = file.inside(keys);
    let mut includes = Vec::new();
    {
        let Some(root) = found.parse(&file) else { return Vec::new() };
        let names = CodeNames::new(path, InstallLayer::User);
        let mut all = |pointer: &str| -> Vec<String> {
            let texts = texts(places::at(&root, pointer), "path").into_iter();
            texts
                .flat_map(|(number, text)| names.paths(found, place(path, &step(pointer, &number)), text))
                .collect()
        };
        directories.plugins.extend(all("/plugins/load/paths"));
        directories.skills.extend(all("/skills/load/extraDirs"));
        directories.hooks.extend(all("/hooks/internal/load/extraDirs"));
        included(found, path, &root, &mut Vec::new(), &mut includes);
    }
    // The row of the table reads the file that includes the others.
    if from.is_some() {
        let row = found.row;
        places::read_source(found, row, CONFIGURATION, &file, InstallLayer::User);
    }
    includes
}

/// Adds the files that are included at any depth.
fn included(
    found: &Collector<'_>,
    path: &str,
    node: &JsonNode<'_>,
    keys: &mut Vec<String>,
    into: &mut Vec<ConfigurationFile>,
) {
    let directory = path.rsplit_once('/').map_or("/", |(directory, _)| directory);
    for (_, text) in texts(node.get(places::INCLUDE), "path") {
        let is_full = text.starts_with(['/', '~']);
        let at = if is_full { absolute(found.machine, text) } else { join(directory, text) };
        into.push(ConfigurationFile { path: clean(&at), keys: keys.clone(), from: Some(path.to_owned()) });
    }
    for member in node.members().unwrap_or_default() {
        keys.push(member.key().to_owned());
        included(found, path, member.node(), keys, into);
        keys.pop();
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
