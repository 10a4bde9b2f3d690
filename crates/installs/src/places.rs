//! Reads the places of a row of the table.

use std::collections::BTreeSet;

use plugward_manifest::json::{JsonMember, JsonNode, JsonValue};
use plugward_types::{Span, pointer};

use crate::collector::{Collector, join, place};
use crate::judge::{Judge, NamedSetting};
use crate::loose::{add_directory, add_skills};
use crate::parts::{Parts, Value};
use crate::source_file::{SourceFile, Syntax};
use crate::table::{HostRow, is_shared};
use crate::{EntryKind, FileFormat, Install, InstallKind, InstallLayer, PartEffect, shapes};

/// The names of directories of agents. All other directories of prompts are commands.
const AGENTS: [&str; 3] = ["agent", "agents", "droids"];

/// The key of an object that other files are merged into.
pub(crate) const INCLUDE: &str = "$include";

/// A path that a place of the table stands for.
struct Found {
    path: String,
    /// The components for which a `*` stands.
    stars: Vec<String>,
    layer: InstallLayer,
}

/// Reads all places of a row.
pub(crate) fn read(found: &mut Collector<'_>, row: &HostRow) {
    for place in counting(found, &row.plugins) {
        add_plugins(found, place);
    }
    read_files(found, row);
    for place in counting(found, &row.skills) {
        for Found { path, layer, .. } in paths(found, place) {
            add_skills(found, &path, layer, &[], None);
        }
    }
    for place in counting(found, &row.prompts) {
        let is_agents = place.rsplit('/').next().is_some_and(|name| AGENTS.contains(&name));
        let kind = if is_agents { InstallKind::Agents } else { InstallKind::Commands };
        for Found { path, layer, .. } in paths(found, place) {
            add_directory(found, &path, kind, layer);
        }
    }
    for place in counting(found, &row.code) {
        for Found { path, layer, .. } in paths(found, place) {
            add_directory(found, &path, InstallKind::Code, layer);
        }
    }
}

/// Returns the places of a list that count on this machine.
fn counting<'r>(found: &Collector<'_>, places: &'r [String]) -> Vec<&'r String> {
    places.iter().filter(|place| counts(found, place)).collect()
}

/// Returns `false` for a place that says nothing without the host: one that another host reads too, or a directory of the
/// project with an ordinary name.
fn counts(found: &Collector<'_>, place: &str) -> bool {
    let is_ordinary = place.strip_prefix("./").is_some_and(|rest| !rest.starts_with('.'));
    let is_common = is_ordinary || is_shared(place, &found.row.id, found.machine.environment);
    !is_common || found.is_directory(&found.home)
}

/// Returns the paths of a place. `*` stands for what is there.
fn paths(found: &mut Collector<'_>, place: &str) -> Vec<Found> {
    let Some((root, rest)) = place.split_once('/') else { return Vec::new() };
    let (roots, layer) = match root {
        "~" => (vec![found.machine.home.to_owned()], InstallLayer::User),
        "@" => (vec![found.home.clone()], InstallLayer::User),
        "." => (found.project_directories(), InstallLayer::Project),
        _ => (vec!["/".to_owned()], InstallLayer::User),
    };
    let mut all: Vec<Found> =
        roots.into_iter().map(|path| Found { path, stars: Vec::new(), layer }).collect();
    for part in rest.split('/') {
        all = all.into_iter().flat_map(|one| step(found, one, part)).collect();
    }
    all
}

/// Returns the paths with one more component.
fn step(found: &mut Collector<'_>, one: Found, part: &str) -> Vec<Found> {
    let Found { path, stars, layer } = one;
    let names = match part.strip_prefix('*') {
        None => return vec![Found { path: join(&path, part), stars, layer }],
        Some("") => found.directories(&path),
        Some(end) => {
            let entries = found.entries(&path).into_iter().filter(|entry| entry.kind != EntryKind::Directory);
            entries.map(|entry| entry.name).filter(|name| name.ends_with(end) && name != end).collect()
        }
    };
    let with = |name: String| {
        let path = join(&path, &name);
        Found { path, stars: stars.iter().cloned().chain([name]).collect(), layer }
    };
    names.into_iter().filter(|name| name != ".git").map(with).collect()
}

/// Adds a plugin for each directory of a place. In the host's own directory, the path says the id.
fn add_plugins(found: &mut Collector<'_>, pattern: &str) {
    for Found { path, stars, layer } in paths(found, pattern) {
        let Some((directory, name)) = path.rsplit_once('/') else { continue };
        if !pattern.starts_with("@/") {
            if !is_data(found, pattern, &path) {
                found.add_placed(InstallKind::Plugin, directory, name, layer);
            }
            continue;
        }
        let (id, version) = match stars.as_slice() {
            // Plugins that do not come from a marketplace are in `_direct`.
            [market, name] if market == "_direct" => (name.clone(), None),
            [market, name] => (format!("{name}@{market}"), None),
            [market, name, version] => (format!("{name}@{market}"), Some(version.clone())),
            _ => (name.to_owned(), None),
        };
        let Some(id) = found.id(&id, place(&path, "")) else { continue };
        let Some(real) = found.machine.files.real(&path) else { continue };
        let is_outside =
            found.machine.files.real(&found.home).is_none_or(|home| real.relative_to(&home).is_none());
        let install = found.install(found.key(&id), InstallKind::Plugin, real, place(directory, ""));
        found.add(Install { version, is_outside, ..install });
    }
}

/// Returns `true` for the directory in which the plugins of `.agents` keep their data, unless it is a plugin itself.
fn is_data(found: &mut Collector<'_>, pattern: &str, path: &str) -> bool {
    let names = |found: &mut Collector<'_>| found.entries(path).into_iter().map(|entry| entry.name);
    pattern == "~/.agents/plugins/*"
        && path.ends_with("/data")
        && !names(found).any(|name| name == "plugin.json" || name.ends_with("-plugin"))
}

/// Reads the files of servers, hooks and other settings, each once.
fn read_files(found: &mut Collector<'_>, row: &HostRow) {
    let mcp = row.mcp.iter().map(|one| (one.file.as_str(), one.format));
    let hooks = row.hooks.iter().map(|one| (one.file.as_str(), one.format));
    let parts = row.parts.iter().filter(|one| one.effect != PartEffect::Record);
    let parts = parts.map(|one| (one.file.as_str(), one.format));
    let mut seen = BTreeSet::new();
    for (file, format) in mcp.chain(hooks).chain(parts) {
        // The settings of another host count only if this one is here to read them.
        let is_shared = || is_shared(file, &found.row.id, found.machine.environment);
        if !seen.insert(file) || (!found.is_directory(&found.home) && is_shared()) {
            continue;
        }
        for Found { path, layer, .. } in paths(found, file) {
            if format == FileFormat::Env {
                found.environment_file(&path, layer);
                continue;
            }
            let source = found.open(&path, Syntax::from(format)).filter(|source| !source.is_blank());
            if let Some(source) = source {
                read_source(found, row, file, &source, layer);
            }
        }
    }
}

/// Reads a file as one of a row's places.
pub(crate) fn read_source(
    found: &mut Collector<'_>,
    row: &HostRow,
    file: &str,
    source: &SourceFile,
    layer: InstallLayer,
) {
    let judge = found.judge(&source.path, layer);
    let one = RowFile { row, file, path: &source.path, judge };
    found.source_parts(source, layer, |found, root, parts| {
        one.servers(found, root, parts);
        one.hooks(found, root, parts);
        one.settings(root, parts);
    });
}

/// A file of a row.
struct RowFile<'a> {
    row: &'a HostRow,
    /// The place in the row.
    file: &'a str,
    path: &'a str,
    judge: Judge<'a>,
}

impl RowFile<'_> {
    fn servers(&self, found: &mut Collector<'_>, root: &JsonNode<'_>, parts: &mut Parts) {
        for place in self.row.mcp.iter().filter(|one| one.file == self.file) {
            let Some(node) = at(root, &place.at).filter(|node| !node.is_null()) else { continue };
            match (place.list, node.members(), node.items()) {
                (false, Some(members), _) => {
                    // In JSON5, this key is not a server but other files.
                    let is_include = |key: &str| place.format == FileFormat::Json5 && key == INCLUDE;
                    let all = members.iter().filter(|one| !is_include(one.key()));
                    all.for_each(|one| shapes::add_server(parts, one.key(), one.node(), place.shape));
                }
                (true, _, Some(items)) => {
                    for (number, item) in items.iter().enumerate() {
                        let name = item.get("name").and_then(JsonNode::as_str);
                        let name = name.map_or_else(|| number.to_string(), ToOwned::to_owned);
                        shapes::add_server(parts, &name, item, place.shape);
                    }
                }
                (is_list, ..) => {
                    let expected = if is_list { "a list" } else { "an object" };
                    found.wrong_type(self.path, &place.at, node, expected);
                }
            }
            self.judge.variables_in(parts, node);
        }
    }

    fn hooks(&self, found: &mut Collector<'_>, root: &JsonNode<'_>, parts: &mut Parts) {
        for place in self.row.hooks.iter().filter(|one| one.file == self.file) {
            let Some(node) = at(root, &place.at).filter(|node| !node.is_null()) else { continue };
            if let Err(expected) = shapes::add_hooks(parts, node, place.shape) {
                found.wrong_type(self.path, &place.at, node, expected);
            }
            self.judge.variables_in(parts, node);
        }
    }

    fn settings(&self, root: &JsonNode<'_>, parts: &mut Parts) {
        for part in self.row.parts.iter().filter(|part| part.file == self.file) {
            for Setting { name, span, node } in settings(root, &part.at) {
                match part.effect {
                    PartEffect::Runs => parts.add_setting(&name, Value::of(node)),
                    PartEffect::Loosens => {
                        self.judge.loosens(parts, NamedSetting { name: &name, span }, Value::of(node));
                    }
                    PartEffect::TrustRoot | PartEffect::Record => {}
                }
            }
        }
    }
}

/// A setting at a pointer.
struct Setting<'n, 'f> {
    /// The keys, with dots between them.
    name: String,
    span: Span,
    node: &'n JsonNode<'f>,
}

/// Returns the settings at a pointer, without those that are `false`, `null` or empty. The empty pointer stands for each
/// key of the file.
fn settings<'n, 'f>(root: &'n JsonNode<'f>, pointer: &str) -> Vec<Setting<'n, 'f>> {
    let pointer = if pointer.is_empty() { "/*" } else { pointer };
    let mut all: Vec<Setting<'n, 'f>> = vec![Setting { name: String::new(), span: root.span(), node: root }];
    for key in pointer::keys(pointer) {
        let matching = |one: Setting<'n, 'f>| {
            let members = one.node.members_or_none().iter();
            let wanted = members.filter(|member| key == "*" || member.key() == key);
            let next = |member: &'n JsonMember<'f>| Setting {
                name: format!("{}.{}", one.name, member.key()).trim_start_matches('.').to_owned(),
                span: member.key_span(),
                node: member.node(),
            };
            wanted.map(next).collect::<Vec<_>>()
        };
        all = all.into_iter().flat_map(matching).collect();
    }
    all.retain(|one| match one.node.value() {
        JsonValue::Null | JsonValue::Bool(false) => false,
        JsonValue::String(text) => !text.is_empty(),
        JsonValue::Array(items) => !items.is_empty(),
        JsonValue::Object(members) => !members.is_empty(),
        JsonValue::Bool(true) | JsonValue::Number(_) => true,
    });
    all
}

/// Returns the value at a pointer.
pub(crate) fn at<'n, 'f>(root: &'n JsonNode<'f>, pointer: &str) -> Option<&'n JsonNode<'f>> {
    pointer::keys(pointer).iter().try_fold(root, |node, key| node.get(key))
}
