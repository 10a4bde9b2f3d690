//! What package.json says about the modules of a directory: its main file, and the paths that names stand for.

use std::sync::Arc;

use plugward_commands::extensions;
use plugward_manifest::json::{JsonMember, JsonNode};

use super::follow::FileLanguage;
use super::place::directory;
use super::{Collector, joined};

/// What counts of a package.json.
#[derive(Debug, Default)]
pub(super) struct Package {
    name: String,
    main: Option<String>,
    imports: PathMap,
    exports: PathMap,
}

/// Names of modules with the paths that they stand for under any condition. `*` stands for a part of the name.
#[derive(Debug, Default)]
struct PathMap(Vec<(String, Vec<String>)>);

impl Collector<'_> {
    /// Returns the main file of a directory with a package.json.
    pub(super) fn main_of(&mut self, directory: &str) -> Option<String> {
        let main = joined(directory, self.package(directory)?.main.as_ref()?);
        let endings = extensions("node").iter().map(String::as_str);
        let mut tried = core::iter::once("").chain(endings).map(|end| format!("{main}{end}"));
        tried.find(|path| self.places.is_file(path))
    }

    /// Takes the files that a name stands for in the nearest package.json: `#name` in its `imports`, and its own name in
    /// its `exports`.
    pub(super) fn package_import(&mut self, name: &str, here: &str, start: &str) {
        let above = core::iter::successors(Some(here), |at| (*at != "/").then(|| directory(at)));
        let above: Vec<String> = above.map(str::to_owned).collect();
        let Some((at, package)) = above.iter().find_map(|at| Some((at, self.package(at)?))) else { return };
        let own = name.strip_prefix(package.name.as_str()).filter(|_| !package.name.is_empty());
        let found = match own.filter(|rest| rest.is_empty() || rest.starts_with('/')) {
            _ if name.starts_with('#') => package.imports.paths(name),
            Some(rest) => package.exports.paths(&format!(".{rest}")),
            None => return,
        };
        for path in found.into_iter().filter(|path| path.starts_with("./")) {
            self.first_of(&[joined(at, &path)], FileLanguage::JavaScript, here, start);
        }
    }

    /// Returns the package of a directory, if it has one. Each is read once.
    fn package(&mut self, directory: &str) -> Option<Arc<Package>> {
        if let Some(known) = self.package_files.get(directory) {
            return known.clone();
        }
        let landed = self.places.land(&format!("{directory}/package.json"));
        let bytes = landed.is_file().then(|| self.contents(&landed.path)).flatten();
        let found = bytes.and_then(|bytes| self.parsed(&landed.path, &bytes, Package::of)).map(Arc::new);
        self.package_files.insert(directory.to_owned(), found.clone());
        found
    }
}

impl Package {
    fn of(root: &JsonNode<'_>) -> Self {
        let text = |key| root.get(key).and_then(JsonNode::as_str).map(str::to_owned);
        let map = |key| root.get(key).map(PathMap::of).unwrap_or_default();
        Self {
            name: text("name").unwrap_or_default(),
            main: text("main"),
            imports: map("imports"),
            exports: map("exports"),
        }
    }
}

impl PathMap {
    /// Reads a map. Without paths as keys, it stands for the package itself.
    fn of(map: &JsonNode<'_>) -> Self {
        let members = map.members().unwrap_or_default();
        let mut all = Vec::new();
        if members.iter().any(|one| one.key().starts_with(['.', '#'])) {
            for member in members {
                let mut found = Vec::new();
                add_texts(member.node(), &mut found);
                all.push((member.key().to_owned(), found));
            }
        } else {
            let mut found = Vec::new();
            add_texts(map, &mut found);
            all.push((".".to_owned(), found));
        }
        Self(all)
    }

    /// Returns the paths that a name stands for.
    fn paths(&self, name: &str) -> Vec<String> {
        if let Some((_, paths)) = self.0.iter().find(|(key, _)| key == name) {
            return paths.clone();
        }
        let part = |key: &str| {
            let (before, after) = key.split_once('*')?;
            name.strip_prefix(before)?.strip_suffix(after)
        };
        let all = self.0.iter().filter_map(|(key, paths)| Some((part(key)?, paths)));
        all.flat_map(|(part, paths)| paths.iter().map(move |path| path.replace('*', part))).collect()
    }
}

/// Adds the texts in a node: the node itself, or those of all conditions.
pub(super) fn add_texts(node: &JsonNode<'_>, found: &mut Vec<String>) {
    found.extend(node.as_str().map(str::to_owned));
    for inner in node.members().unwrap_or_default().iter().map(JsonMember::node) {
        add_texts(inner, found);
    }
    node.items().unwrap_or_default().iter().for_each(|inner| add_texts(inner, found));
}

#[cfg(test)]
mod tests {
    use plugward_manifest::json::{ParseLimits, parse};

    use super::*;

    #[test]
    fn names_stand_for_the_paths_of_all_conditions() {
        let text = br##"{"imports":{"#a":"./a.js","#lib/*":{"node":"./lib/*.js","default":["./web/*.js"]}},"exports":"./m.js"}"##;
        let root = parse(text, &ParseLimits::standard()).unwrap();
        let package = Package::of(&root);
        let of = |map: &PathMap, name: &str| map.paths(name).join(" ");
        assert_eq!(of(&package.imports, "#a"), "./a.js");
        assert_eq!(of(&package.imports, "#lib/x"), "./lib/x.js ./web/x.js");
        assert_eq!(of(&package.imports, "#b"), "");
        assert_eq!(of(&package.exports, "."), "./m.js");
        assert_eq!(of(&package.exports, "./x"), "");
    }
}
