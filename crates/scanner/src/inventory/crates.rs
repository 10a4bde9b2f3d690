//! Rust files that run while a plugin's crates are built: build scripts with their modules, procedural macros, and the
//! crates that these depend on.

use std::collections::BTreeMap;

use crate::scan::entry::{Content, Entry, FileKind, Lens};

/// The largest manifest that is parsed. In a larger one, single words decide.
const MAX_MANIFEST: usize = 1 << 20;

/// Returns the entries, with the role `build` for those that a `Cargo.toml` among them builds and runs.
pub(crate) fn raised<'a>(entries: &[Entry<'a>]) -> Vec<Entry<'a>> {
    let mut entries = entries.to_vec();
    let manifests: Vec<(String, &[u8])> = entries
        .iter()
        .filter_map(|entry| match entry.content {
            Content::Bytes { bytes, .. } if is_manifest(entry.path) => {
                Some((directory(entry.path).to_owned(), bytes))
            }
            _ => None,
        })
        .collect();
    if manifests.is_empty() && !entries.iter().any(|entry| is_build_script(entry.path)) {
        return entries;
    }
    let index: BTreeMap<&'a str, usize> =
        entries.iter().enumerate().map(|(at, entry)| (entry.path, at)).collect();
    let mut queue: Vec<usize> = Vec::new();
    for (path, at) in &index {
        if is_build_script(path) {
            queue.push(*at);
        }
    }
    for (directory, bytes) in manifests {
        let files = BuildFiles::of(bytes);
        for script in files.scripts {
            queue.extend(join(&directory, &script).and_then(|path| index.get(path.as_str())));
        }
        for crate_directory in files.directories {
            let Some(path) = join(&directory, &crate_directory) else { continue };
            let below = if path.is_empty() { String::new() } else { format!("{path}/") };
            let inside = index.range(below.as_str()..).take_while(|(path, _)| path.starts_with(&below));
            queue.extend(inside.filter(|(path, _)| is_rust(path)).map(|(_, at)| *at));
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
        let path = entry.path;
        let own = directory(path);
        let stem = path.rsplit('/').next().and_then(|name| name.strip_suffix(".rs")).unwrap_or_default();
        for name in crate::lex::rs::modules(bytes) {
            let found = [
                join(own, &name.path),
                join(own, &format!("{}.rs", name.path)),
                join(own, &format!("{}/mod.rs", name.path)),
                join(own, &format!("{stem}/{}.rs", name.path)),
                join(own, &format!("{stem}/{}/mod.rs", name.path)),
            ];
            queue.extend(found.into_iter().flatten().filter_map(|path| index.get(path.as_str()).copied()));
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

fn is_manifest(path: &str) -> bool {
    path == "Cargo.toml" || path.ends_with("/Cargo.toml")
}

fn is_build_script(path: &str) -> bool {
    path == "build.rs" || path.ends_with("/build.rs")
}

fn is_rust(path: &str) -> bool {
    path.rsplit_once('.').is_some_and(|(_, ending)| ending.eq_ignore_ascii_case("rs"))
}

fn directory(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(directory, _)| directory)
}

/// Joins a directory and a relative path; `None` if the result is outside the plugin.
fn join(directory: &str, path: &str) -> Option<String> {
    let mut parts: Vec<&str> = directory.split('/').filter(|part| !part.is_empty()).collect();
    for part in path.split(['/', '\\']) {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop()?;
            }
            other => parts.push(other),
        }
    }
    Some(parts.join("/"))
}
