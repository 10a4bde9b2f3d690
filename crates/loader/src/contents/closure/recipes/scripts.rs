//! Scripts of package.json and tasks of deno.json, and the workspaces with more of them.

use std::collections::BTreeSet;

use plugward_commands::RecipeTool;
use plugward_installs::yaml_as_json;
use plugward_manifest::json::{JsonMember, JsonNode};

use super::{Collector, Recipe, RecipeBook, add_texts, directory, joined};
use crate::contents::closure::patterns::glob;

impl Collector<'_> {
    /// Returns the directories of the workspaces around a directory.
    pub(in crate::contents::closure) fn workspaces(&mut self, start: &str) -> Vec<String> {
        let mut at = start.to_owned();
        while let Some(root) = self.recipe_file(RecipeTool::Npm, &at) {
            let here = directory(&root).to_owned();
            let mut patterns = Vec::new();
            if let Some(bytes) = self.places.is_file(&root).then(|| self.contents(&root)).flatten() {
                self.parsed(&root, &bytes, |root| {
                    root.get("workspaces").into_iter().for_each(|node| add_texts(node, &mut patterns));
                });
            }
            let list = format!("{here}/pnpm-workspace.yaml");
            if let Some(bytes) = self.places.is_file(&list).then(|| self.contents(&list)).flatten() {
                match yaml_as_json(&String::from_utf8_lossy(&bytes)) {
                    Ok(json) => drop(self.parsed(&list, json.as_bytes(), |root| {
                        root.get("packages").into_iter().for_each(|node| add_texts(node, &mut patterns));
                    })),
                    Err(error) => self.unreadable(&list, &error),
                }
            }
            if !patterns.is_empty() || here == "/" {
                let files = patterns.iter().filter(|pattern| !pattern.starts_with('!'));
                let files: Vec<String> = files
                    .flat_map(|pattern| self.matches(&format!("{}/package.json", joined(&here, pattern))))
                    .collect();
                let found = files.iter().filter(|file| self.places.is_file(file));
                return found.map(|file| directory(file).to_owned()).collect();
            }
            directory(&here).clone_into(&mut at);
        }
        Vec::new()
    }
}

/// The scripts of package.json, or the tasks of deno.json.
#[derive(Debug, Default)]
pub(super) struct Scripts(Vec<Script>);

#[derive(Debug)]
struct Script {
    name: String,
    command: String,
    needs: Vec<String>,
}

impl Scripts {
    pub(super) fn of(root: &JsonNode<'_>, key: &str) -> Self {
        let members = root.get(key).and_then(JsonNode::members).unwrap_or_default();
        let script = |member: &JsonMember<'_>| {
            let (name, node) = (member.key().to_owned(), member.node());
            let mut needs = Vec::new();
            node.get("dependencies").into_iter().for_each(|node| add_texts(node, &mut needs));
            let command = node.as_str().or_else(|| node.get("command").and_then(JsonNode::as_str));
            Script { name, command: command.unwrap_or_default().to_owned(), needs }
        };
        Self(members.iter().map(script).collect())
    }
}

impl RecipeBook for Scripts {
    /// Returns the scripts of a name or pattern, with those that run before and after them.
    fn recipes(&self, name: &str) -> Option<Vec<Recipe>> {
        let mut queue: Vec<String> = if name.contains('*') {
            let names = self.0.iter().map(|script| script.name.clone());
            names.filter(|script| glob(name.as_bytes(), script.as_bytes())).collect()
        } else {
            vec![name.to_owned()]
        };
        let mut seen = BTreeSet::new();
        let mut found = Vec::new();
        while let Some(name) = queue.pop() {
            if !seen.insert(name.clone()) {
                continue;
            }
            for name in [format!("pre{name}"), name.clone(), format!("post{name}")] {
                for script in self.0.iter().filter(|script| script.name == name) {
                    queue.extend(script.needs.iter().cloned());
                    found.push(recipe(&name, &script.command));
                }
            }
            // npm has a default for one script.
            if name == "start" && !self.0.iter().any(|script| script.name == name) {
                found.push(recipe(&name, "node server.js"));
            }
        }
        Some(found)
    }

    fn all_lines(&self, _: usize) -> Vec<String> {
        self.0.iter().map(|script| script.command.clone()).collect()
    }
}

fn recipe(name: &str, command: &str) -> Recipe {
    Recipe { name: name.to_owned(), lines: vec![command.to_owned()], ..Recipe::default() }
}

#[cfg(test)]
mod tests {
    use plugward_manifest::json::{ParseLimits, parse};

    use super::*;

    #[test]
    fn a_script_runs_with_those_around_it() {
        let of = |text: &[u8], key: &str, name: &str| {
            let scripts = Scripts::of(&parse(text, &ParseLimits::standard()).unwrap(), key);
            let recipes = scripts.recipes(name).unwrap();
            recipes.into_iter().flat_map(|one| one.lines).collect::<Vec<_>>().join(" ")
        };
        let text = br#"{"scripts":{"lint":"b","prelint":"a","postlint":"c","other":"d","lint:x":"e"}}"#;
        assert_eq!(of(text, "scripts", "lint"), "a b c");
        assert_eq!(of(text, "scripts", "lint:*"), "e");
        assert_eq!(of(text, "scripts", "start"), "node server.js");
        let text = br#"{"tasks":{"lint":{"command":"a","dependencies":["pre"]},"pre":"b"}}"#;
        assert_eq!(of(text, "tasks", "lint"), "a b");
    }
}
