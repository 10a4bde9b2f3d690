//! What package.json says about the modules of a directory: its main file, and the paths that names stand for.

use std::sync::Arc;

use plugward_manifest::json::{JsonMember, JsonNode, ParseLimits, parse};

use super::follow::FileLanguage;
use super::place::{Landing, directory};
use super::{Collector, joined};

/// The names that Node.js tries for a main file.
const MAIN_ENDINGS: [&str; 5] = ["", ".js", ".json", ".node", "/index.js"];

impl Collector<'_> {
    /// Returns the main file of a directory with a package.json.
    pub(super) fn main_of(&mut self, directory: &str) -> Option<String> {
        let bytes = self.package_bytes(directory)?;
        let root = parse(&bytes, &ParseLimits::standard()).ok()?;
        let main = joined(directory, root.get("main").and_then(JsonNode::as_str)?);
        let tried = MAIN_ENDINGS.iter().map(|end| format!("{main}{end}"));
        let is_file = |path: &String| matches!(self.places.land(path).landing, Landing::File { .. });
        tried.into_iter().find(is_file)
    }

    /// Takes the files that a name stands for in the nearest package.json: `#name` in its `imports`, and its own name in
    /// its `exports`.
    pub(super) fn package_import(&mut self, name: &str, here: &str, start: &str) {
        let Some((at, bytes)) = core::iter::successors(Some(here), |at| (*at != "/").then(|| directory(at)))
            .find_map(|at| Some((at.to_owned(), self.package_bytes(at)?)))
        else {
            return;
        };
        let Ok(root) = parse(&bytes, &ParseLimits::standard()) else { return };
        let own = root.get("name").and_then(JsonNode::as_str);
        let rest = own
            .and_then(|own| name.strip_prefix(own))
            .filter(|rest| rest.is_empty() || rest.starts_with('/'));
        let mut found = Vec::new();
        match (name.starts_with('#'), rest) {
            (true, _) => mapped(root.get("imports"), name, &mut found),
            (false, Some(rest)) => mapped(root.get("exports"), &format!(".{rest}"), &mut found),
            (false, None) => {}
        }
        for path in found.into_iter().filter(|path| path.starts_with("./")) {
            self.first_of(&[joined(&at, &path)], FileLanguage::JavaScript, here, start);
        }
    }

    fn package_bytes(&mut self, directory: &str) -> Option<Arc<[u8]>> {
        let landed = self.places.land(&format!("{directory}/package.json"));
        let Landing::File { .. } = landed.landing else { return None };
        self.contents(&landed.path)
    }
}

/// Adds the paths that a name stands for under any condition. A key can contain `*` for a part of the name.
fn mapped(map: Option<&JsonNode<'_>>, name: &str, found: &mut Vec<String>) {
    let Some(map) = map else { return };
    let has_paths = map.members().unwrap_or_default().iter().any(|one| one.key().starts_with(['.', '#']));
    if !has_paths {
        return if name == "." {
            paths(map, "", found)
        };
    }
    for member in map.members().unwrap_or_default() {
        if member.key() == name {
            return paths(member.node(), "", found);
        }
        let part = member
            .key()
            .split_once('*')
            .and_then(|(before, after)| name.strip_prefix(before)?.strip_suffix(after));
        if let Some(part) = part {
            paths(member.node(), part, found);
        }
    }
}

/// Adds the paths of a node: a text, or those of all conditions.
fn paths(node: &JsonNode<'_>, part: &str, found: &mut Vec<String>) {
    found.extend(node.as_str().map(|path| path.replace('*', part)));
    for inner in node.members().unwrap_or_default().iter().map(JsonMember::node) {
        paths(inner, part, found);
    }
    node.items().unwrap_or_default().iter().for_each(|inner| paths(inner, part, found));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_stand_for_the_paths_of_all_conditions() {
        let text = br##"{"imports":{"#a":"./a.js","#lib/*":{"node":"./lib/*.js","default":["./web/*.js"]}},"exports":"./m.js"}"##;
        let root = parse(text, &ParseLimits::standard()).unwrap();
        let of = |map: &str, name: &str| {
            let mut found = Vec::new();
            mapped(root.get(map), name, &mut found);
            found.join(" ")
        };
        assert_eq!(of("imports", "#a"), "./a.js");
        assert_eq!(of("imports", "#lib/x"), "./lib/x.js ./web/x.js");
        assert_eq!(of("imports", "#b"), "");
        assert_eq!(of("exports", "."), "./m.js");
        assert_eq!(of("exports", "./x"), "");
        assert_eq!(of("none", "."), "");
    }
}
