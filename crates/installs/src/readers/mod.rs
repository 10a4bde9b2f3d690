//! Readers of the records that decide what loads, for the hosts whose other places are only rows of the table.

pub(crate) mod copilot;
pub(crate) mod cursor;
pub(crate) mod droid;
pub(crate) mod kimi;
pub(crate) mod openclaw;
pub(crate) mod opencode;
pub(crate) mod pi;
pub(crate) mod qwen;
pub(crate) mod vscode;

use plugward_manifest::json::{JsonNode, JsonValue};
use plugward_types::PluginKey;

use crate::collector::{Collector, absolute, clean, join, place, shown};
use crate::parts::Parts;
use crate::pattern::{expand, is_pattern};
use crate::{HostState, Install, InstallKind, InstallLayer, InstallProblem, InstallProblemKind, RecordPlace};

/// Returns `Off` for `false`. Anything else can load.
fn state_of(node: Option<&JsonNode<'_>>) -> HostState {
    match node.map(JsonNode::value) {
        Some(JsonValue::Bool(false)) => HostState::Off,
        _ => HostState::On,
    }
}

/// A row of a record.
struct Recorded {
    key: PluginKey,
    path: String,
    record: RecordPlace,
    state: HostState,
    version: Option<String>,
    /// The directory of the marketplace in which the host runs the plugin.
    marketplace: Option<String>,
}

impl Recorded {
    /// Adds the plugin, or the problem that it is not on disk.
    fn add(self, found: &mut Collector<'_>) {
        let Self { key, path, record, state, version, marketplace } = self;
        let files = found.machine.files;
        let Some(real) = files.real(&path).filter(|real| found.is_directory(real.as_str())) else {
            let message = format!("not on disk: {}", shown(&path));
            let help = "install the plugin again, or remove it";
            let problem = found.draft(InstallProblemKind::Missing, record, message, help);
            return found.report(InstallProblem { key: Some(key), state, ..problem });
        };
        let is_own = files.real(&found.home).is_some_and(|home| real.relative_to(&home).is_some());
        let is_outside = !is_own && marketplace.is_none();
        let install = found.install(key, InstallKind::Plugin, real, record);
        found.add(Install { version, state, is_outside, marketplace, ..install });
    }
}

/// Returns the paths that a path from a text of settings stands for. A pattern that cannot be expanded is a problem.
fn expanded(found: &mut Collector<'_>, record: RecordPlace, text: &str, path: String) -> Vec<String> {
    if !is_pattern(text) {
        return vec![path];
    }
    expand(found, &path).unwrap_or_else(|message| {
        let help = "write the paths, or a pattern with `*`";
        let problem = found.draft(InstallProblemKind::Row, record, message, help);
        found.report(problem);
        Vec::new()
    })
}

/// Adds the problem that a row of a record does not have the expected form.
fn refuse_row(found: &mut Collector<'_>, record: RecordPlace, message: String) {
    let problem = found.draft(InstallProblemKind::Row, record, message, "install the plugin again");
    found.report(problem);
}

/// What a settings file names as code: packages, files and directories.
struct CodeNames {
    /// The directory in which relative paths start.
    base: String,
    layer: InstallLayer,
    directories: Vec<String>,
}

impl CodeNames {
    fn new(file: &str, layer: InstallLayer) -> Self {
        let base = file.rsplit_once('/').map_or("/", |(directory, _)| directory).to_owned();
        Self { base, layer, directories: Vec::new() }
    }

    /// Returns the absolute path, if a text is one and not the name of a package.
    fn path(&self, found: &Collector<'_>, text: &str) -> Option<String> {
        let text = text.strip_prefix("file://").unwrap_or(text);
        if text == "~" || text.starts_with("~/") {
            return Some(absolute(found.machine, text));
        }
        let is_path = text.starts_with(['/', '.']);
        is_path.then(|| clean(&if text.starts_with('/') { text.to_owned() } else { join(&self.base, text) }))
    }

    /// Returns the paths of a text in a list that contains no packages. A relative path needs no dot.
    fn paths(&self, found: &mut Collector<'_>, record: RecordPlace, text: &str) -> Vec<String> {
        let path = self.path(found, text).unwrap_or_else(|| clean(&join(&self.base, text)));
        expanded(found, record, text, path)
    }

    /// Adds code that the host loads. A package is what its runner would download, and a file is a command.
    fn add(&mut self, found: &Collector<'_>, parts: &mut Parts, name: &str, text: &str) {
        match self.path(found, text) {
            Some(path) if found.is_directory(&path) => self.directories.push(path),
            Some(path) => parts.add_command_words(name, &["node", &path]),
            None => parts.add_command_words(name, &["npx", "-y", text]),
        }
    }

    /// Adds the directories, each as a row of its own.
    fn finish(self, found: &mut Collector<'_>) {
        for path in self.directories {
            if let Some((directory, name)) = path.rsplit_once('/') {
                found.add_placed(InstallKind::Code, directory, name, self.layer);
            }
        }
    }
}

/// Returns the texts of a list, or a text alone, each with its number. Items can be lists or objects whose text is first
/// or at a key.
fn texts<'n>(node: Option<&'n JsonNode<'_>>, key: &str) -> Vec<(String, &'n str)> {
    let Some(node) = node.filter(|node| !node.is_null()) else { return Vec::new() };
    let items = node.items().unwrap_or_else(|| core::slice::from_ref(node));
    let text = |item: &'n JsonNode<'_>| {
        let inner = item.items().and_then(<[_]>::first).or_else(|| item.get(key)).unwrap_or(item);
        inner.as_str()
    };
    let numbered =
        items.iter().enumerate().filter_map(|(number, item)| Some((number.to_string(), text(item)?)));
    numbered.collect()
}

/// Returns the layer and path of a file in each directory of the project.
fn in_project(found: &Collector<'_>, file: &str) -> Vec<(String, InstallLayer)> {
    let directories = found.project_directories();
    directories.iter().map(|at| (join(at, file), InstallLayer::Project)).collect()
}

/// Returns the place of a row in a list.
fn row_place(file: &str, list: &str, number: usize) -> RecordPlace {
    place(file, &format!("/{list}/{number}"))
}
