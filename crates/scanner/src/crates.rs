//! Which Rust files run while a plugin's crates are built: build scripts with their modules, procedural macros, and the
//! crates that these are built from.

use std::collections::BTreeMap;

use crate::entry::{Content, Entry, Lens, Role};

/// A manifest larger than this is judged by the words in it.
const MAX_MANIFEST: usize = 1 << 20;

/// Gives the entries with the role `build` where a `Cargo.toml` among them says so.
pub(crate) fn raised<'a>(entries: &[Entry<'a>]) -> Vec<Entry<'a>> {
    let mut entries = entries.to_vec();
    let manifests: Vec<(String, &[u8])> = entries
        .iter()
        .filter_map(|entry| match entry.content {
            Content::Bytes { bytes, .. } if is_manifest(entry.path) => {
                Some((folder(entry.path).to_owned(), bytes))
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
    for (folder, bytes) in manifests {
        let asked = Asked::of(bytes);
        for script in asked.scripts {
            queue.extend(join(&folder, &script).and_then(|path| index.get(path.as_str())));
        }
        for crate_folder in asked.folders {
            let Some(path) = join(&folder, &crate_folder) else { continue };
            let below = if path.is_empty() { String::new() } else { format!("{path}/") };
            let inside = index.range(below.as_str()..).take_while(|(path, _)| path.starts_with(&below));
            queue.extend(inside.filter(|(path, _)| is_rust(path)).map(|(_, at)| *at));
        }
    }
    raise(&mut entries, &index, queue);
    entries
}

/// Raises files and the modules that they name.
fn raise(entries: &mut [Entry<'_>], index: &BTreeMap<&str, usize>, mut queue: Vec<usize>) {
    let mut seen = std::collections::BTreeSet::new();
    while let Some(at) = queue.pop() {
        let Some(entry) = entries.get_mut(at).filter(|_| seen.insert(at)) else { continue };
        entry.role = entry.role.raised(Role::Build).and_lens(Lens::Rs);
        let Content::Bytes { bytes, .. } = entry.content else { continue };
        let path = entry.path;
        let own = folder(path);
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

/// What a manifest says of code that runs in a build.
#[derive(Default)]
struct Asked {
    scripts: Vec<String>,
    folders: Vec<String>,
}

impl Asked {
    fn of(bytes: &[u8]) -> Self {
        let text = core::str::from_utf8(bytes).ok().filter(|text| text.len() <= MAX_MANIFEST);
        let Some(table) = text.and_then(|text| text.parse::<toml::Table>().ok()) else {
            // Cargo would refuse it too; whoever mends it makes it run.
            let word = |word: &[u8]| memchr::memmem::find(bytes, word).is_some();
            let own = word(b"proc-macro") || word(b"proc_macro");
            return Self { scripts: Vec::new(), folders: own.then(String::new).into_iter().collect() };
        };
        let mut asked = Self::default();
        let get = |section: &str, key: &str| table.get(section).and_then(|section| section.get(key));
        let marked = |key: &str| get("lib", key).and_then(toml::Value::as_bool) == Some(true);
        if marked("proc-macro") || marked("proc_macro") {
            asked.folders.push(String::new());
        }
        match get("package", "build") {
            Some(toml::Value::String(path)) => asked.scripts.push(path.clone()),
            Some(toml::Value::Array(paths)) => {
                asked.scripts.extend(paths.iter().filter_map(|path| path.as_str().map(str::to_owned)));
            }
            _ => {}
        }
        let tables = [table.get("build-dependencies"), table.get("build_dependencies")];
        for (_, dependency) in tables.into_iter().flatten().filter_map(toml::Value::as_table).flatten() {
            let path = dependency.get("path").and_then(toml::Value::as_str);
            asked.folders.extend(path.map(str::to_owned));
        }
        asked
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

fn folder(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(folder, _)| folder)
}

/// Joins a folder and a relative path; `None` where it leaves the plugin.
fn join(folder: &str, path: &str) -> Option<String> {
    let mut parts: Vec<&str> = folder.split('/').filter(|part| !part.is_empty()).collect();
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
