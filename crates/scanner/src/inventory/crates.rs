//! Rust files that run while a plugin's crates are built: build scripts with their modules, procedural macros, and the
//! crates that these depend on.

use std::collections::BTreeMap;

use crate::inventory::names::join;
use crate::scan::entry::{Content, Entry, FileKind, Lens};

/// The largest manifest that is parsed. In a larger one, single words decide.
const MAX_MANIFEST: usize = 1 << 20;

/// Returns the entries, with the role `build` for those that a `Cargo.toml` among them builds and runs.
pub(crate) fn raised<'a>(entries: &[Entry<'a>]) -> Vec<Entry<'a>> {
    let mut entries = entries.to_vec();
    if !entries.iter().any(|entry| matches!(name(entry.path), "Cargo.toml" | "build.rs")) {
        return entries;
    }
    let index: BTreeMap<&'a str, usize> =
        entries.iter().enumerate().map(|(at, entry)| (entry.path, at)).collect();
    let mut queue: Vec<usize> = Vec::new();
    for (at, entry) in entries.iter().enumerate() {
        match (name(entry.path), entry.content) {
            ("build.rs", _) => queue.push(at),
            ("Cargo.toml", Content::Bytes { bytes, .. }) => {
                let files = BuildFiles::of(bytes);
                let path = |path: &String| join(directory(entry.path), &path.replace('\\', "/"));
                let scripts = files.scripts.iter().filter_map(path);
                queue.extend(scripts.filter_map(|path| index.get(path.as_str()).copied()));
                for path in files.directories.iter().filter_map(path) {
                    let prefix = if path.is_empty() { path } else { format!("{path}/") };
                    let inside =
                        index.range(prefix.as_str()..).take_while(|(path, _)| path.starts_with(&prefix));
                    queue.extend(inside.filter(|(path, _)| is_rust(path)).map(|(_, at)| *at));
                }
            }
            _ => {}
        }
    }
    raise(&mut entries, &index, queue);
    entries
}

/// Raises the role of files and of the modules that they declare.
fn raise(entries: &mut [Entry<'_>], index: &BTreeMap<&str, usize>, mut queue: Vec<usize>) {
    let mut seen = std::collections::BTreeSet::new();
    while let Some(at) = queue.pop() {
        let Some(entry) = entries.get_mut(at).filter(|_| seen.insert(at)) else { continue };
        entry.role = entry.role.raised(FileKind::Build).and_lens(Lens::Rs);
        let Content::Bytes { bytes, .. } = entry.content else { continue };
        let own = directory(entry.path);
        let stem = name(entry.path).trim_end_matches(".rs");
        for module in crate::lex::rs::modules(bytes) {
            let file = format!("{module}.rs");
            let nested = format!("{module}/mod.rs");
            let paths = [&module, &file, &nested, &format!("{stem}/{file}"), &format!("{stem}/{nested}")];
            let found = paths.into_iter().filter_map(|path| join(own, path));
            queue.extend(found.filter_map(|path| index.get(path.as_str()).copied()));
        }
    }
}

/// The parts of a manifest that concern code that runs in a build.
#[derive(Default)]
struct BuildFiles {
    scripts: Vec<String>,
    directories: Vec<String>,
}

impl BuildFiles {
    fn of(bytes: &[u8]) -> Self {
        let text = core::str::from_utf8(bytes).ok().filter(|text| text.len() <= MAX_MANIFEST);
        let Some(table) = text.and_then(|text| text.parse::<toml::Table>().ok()) else {
            // Cargo refuses such a manifest too, but fixing it makes the build script run.
            let word = |word: &[u8]| memchr::memmem::find(bytes, word).is_some();
            let own = word(b"proc-macro") || word(b"proc_macro");
            return Self { scripts: Vec::new(), directories: own.then(String::new).into_iter().collect() };
        };
        let mut files = Self::default();
        let get = |section: &str, key: &str| table.get(section).and_then(|section| section.get(key));
        let marked = |key: &str| get("lib", key).and_then(toml::Value::as_bool) == Some(true);
        if marked("proc-macro") || marked("proc_macro") {
            files.directories.push(String::new());
        }
        match get("package", "build") {
            Some(toml::Value::String(path)) => files.scripts.push(path.clone()),
            Some(toml::Value::Array(paths)) => {
                files.scripts.extend(paths.iter().filter_map(|path| path.as_str().map(str::to_owned)));
            }
            _ => {}
        }
        let tables = [table.get("build-dependencies"), table.get("build_dependencies")];
        for (_, dependency) in tables.into_iter().flatten().filter_map(toml::Value::as_table).flatten() {
            let path = dependency.get("path").and_then(toml::Value::as_str);
            files.directories.extend(path.map(str::to_owned));
        }
        files
    }
}

fn name(path: &str) -> &str {
    path.rsplit_once('/').map_or(path, |(_, name)| name)
}

fn is_rust(path: &str) -> bool {
    path.rsplit_once('.').is_some_and(|(_, ending)| ending.eq_ignore_ascii_case("rs"))
}

fn directory(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(directory, _)| directory)
}
