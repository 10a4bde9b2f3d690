//! Recipes of a project's tools: `scripts` of package.json, rules of a Makefile, and the like.

use std::collections::BTreeMap;
use std::sync::Arc;

use plugward_commands::{RecipeTool, loads_code, read_command};
use plugward_installs::{FileVariable, blank_extensions, file_variables};
use plugward_manifest::json::{JsonNode, ParseLimits, parse};
use plugward_scanner::Lens;
use plugward_tree_lock::EntryKind;

use super::place::{Landing, directory, inside};
use super::scope::{PROJECT, PathVerdict};
use super::{Collector, Origin, joined};

/// The most bytes of a file with recipes.
pub(super) const MOST_FILE: u64 = 4 << 20;

/// A recipe as its file contains it.
struct Recipe {
    name: String,
    /// The line with its name and needs, in a file of a format of its own.
    head: Option<String>,
    /// The commands, for a shell.
    commands: String,
    /// Other recipes that run with it.
    needs: Vec<String>,
}

impl Recipe {
    /// Returns the text that the list of the closure contains and the scan reads: the commands as the shell gets them.
    fn listed(&self) -> String {
        let head = self.head.iter().map(|head| format!("# {head}\n"));
        head.chain([self.commands.clone()]).collect()
    }
}

/// A file with recipes.
struct RecipeFile {
    path: String,
    verdict: PathVerdict,
    bytes: Arc<[u8]>,
}

impl Collector<'_> {
    /// Reads a file that decides what runs, from the row's own tree if that contains it.
    pub(super) fn contents(&mut self, path: &str) -> Option<Arc<[u8]>> {
        let own = self.scope.own.as_ref().and_then(|own| self.snapshot.file(inside(path, own)?));
        let read = own.map_or_else(|| self.places.read(path, MOST_FILE), |entry| Ok(entry.bytes().into()));
        read.map_err(|error| self.unreadable(path, &error)).ok()
    }

    /// Reads a JSON file of a tool, which can accept comments.
    pub(super) fn parsed<T>(
        &mut self,
        path: &str,
        bytes: &[u8],
        read: impl FnOnce(&JsonNode<'_>) -> T,
    ) -> Option<T> {
        let mut bytes = bytes.to_vec();
        blank_extensions(&mut bytes);
        let root = parse(&bytes, &ParseLimits::standard());
        root.map(|root| read(&root)).map_err(|error| self.unreadable(path, &error.to_string())).ok()
    }

    /// Takes the lines of a recipe, and the files that they name. The rest of its file does not count.
    pub(super) fn recipe(
        &mut self,
        tool: RecipeTool,
        name: &str,
        start: &str,
        named: Option<&str>,
        origin: Origin<'_>,
    ) {
        let Some(first) = self.recipe_file(tool, start, named) else { return };
        if !self.recipes.insert((first.clone(), name.to_owned())) {
            return;
        }
        let here = directory(&first).to_owned();
        for (number, RecipeFile { path: file, verdict, bytes }) in
            self.recipe_files(tool, first, start, origin).into_iter().enumerate()
        {
            // Only the first file has the default recipe.
            if number > 0 && name.is_empty() {
                break;
            }
            let text = String::from_utf8_lossy(&bytes);
            let found = match tool {
                RecipeTool::Make => blocks(&expanded(&text, "$(", ")"), name, make_head),
                RecipeTool::Just => blocks(&expanded(&text, "{{", "}}"), name, just_head),
                RecipeTool::Task => blocks(&text, name, task_head),
                _ => {
                    let key = if tool == RecipeTool::Deno { "tasks" } else { "scripts" };
                    // A file that cannot be read is a reason already.
                    self.parsed(&file, &bytes, |root| scripts(root, key, name)).unwrap_or_default()
                }
            };
            for recipe in found {
                // The row's own tree covers its own file.
                if verdict == PathVerdict::Closure {
                    let listed = format!("{file}#{}", recipe.name.replace('/', "%2F"));
                    self.insert(&listed, EntryKind::File, recipe.listed().into_bytes().into());
                    self.set_lens(&listed, Lens::Sh);
                }
                let line = self.scope.read(&here, None, |context| read_command(&recipe.commands, context));
                self.command(line, &here, Origin::Body, &file);
                for name in recipe.needs {
                    self.recipe(tool, &name, start, named, origin);
                }
            }
        }
    }

    /// Reads a file with recipes, and those that it includes.
    fn recipe_files(
        &mut self,
        tool: RecipeTool,
        first: String,
        start: &str,
        origin: Origin<'_>,
    ) -> Vec<RecipeFile> {
        let mut found: Vec<RecipeFile> = Vec::new();
        let mut queue = vec![(first, origin)];
        while let Some((named, origin)) = queue.pop() {
            let Some((path, verdict)) = self.file_in_parts(&named, start, origin) else { continue };
            if found.iter().any(|one| one.path == path) {
                continue;
            }
            let Some(bytes) = self.contents(&path) else { continue };
            // Make includes from its working directory, and just from the directory of the file.
            let first = found.first().filter(|_| tool == RecipeTool::Make);
            let here = directory(first.map_or(&path, |one| &one.path)).to_owned();
            for pattern in included(tool, &String::from_utf8_lossy(&bytes)) {
                let files = self.matches(&joined(&here, &pattern));
                queue.extend(files.into_iter().map(|path| (path, Origin::Body)));
            }
            found.push(RecipeFile { path, verdict, bytes });
        }
        found
    }

    /// Returns a file of which only parts count, and what it is for the row. A file elsewhere is judged as a whole, and so
    /// is a special file. One that appears later adds its parts then.
    fn file_in_parts(
        &mut self,
        named: &str,
        start: &str,
        origin: Origin<'_>,
    ) -> Option<(String, PathVerdict)> {
        let landed = self.places.land(named);
        let verdict = self.scope.verdict(named, &landed, &self.places);
        let is_row = matches!(verdict, PathVerdict::Closure | PathVerdict::Own);
        match landed.landing {
            Landing::File { .. } if is_row => return Some((landed.path, verdict)),
            Landing::Absent if is_row => {}
            _ => self.take(named, &landed, None, start, origin),
        }
        None
    }

    /// Takes the variables of a file that load code. The others, such as keys, are not part of the list.
    pub(super) fn environment(&mut self, named: &str, start: &str, origin: Origin<'_>) {
        let Some((path, verdict)) = self.file_in_parts(named, start, origin) else { return };
        let Some(bytes) = self.contents(&path) else { return };
        let mut listed = String::new();
        for variable in file_variables(&bytes) {
            let FileVariable { name, value, .. } = variable;
            if loads_code(&name) {
                listed.push_str(&format!("{name}={value}\n"));
                self.variable(&name, &value, start, origin);
            }
        }
        if verdict == PathVerdict::Closure && !listed.is_empty() {
            self.insert(&format!("{path}#variables"), EntryKind::File, listed.into_bytes().into());
        }
    }

    /// Returns the file with the recipes of a tool: the one that the command names, or the nearest in the directory or
    /// above it.
    fn recipe_file(&self, tool: RecipeTool, start: &str, named: Option<&str>) -> Option<String> {
        if named.is_some() {
            return named.map(str::to_owned);
        }
        // The commands of a plugin start in the project of the user.
        if inside(start, PROJECT).is_some() {
            return None;
        }
        let names: &[&str] = match tool {
            RecipeTool::Make => &["GNUmakefile", "makefile", "Makefile"],
            RecipeTool::Just => &["justfile", "Justfile", ".justfile"],
            RecipeTool::Task => &["Taskfile.yml", "taskfile.yml", "Taskfile.yaml", "taskfile.yaml"],
            RecipeTool::Deno => &["deno.json", "deno.jsonc"],
            _ => &["package.json"],
        };
        let mut at = self.places.land(start).path;
        loop {
            for name in names {
                let path = format!("{at}/{name}");
                // What is no file is found, too, so that it is a reason.
                if !matches!(self.places.land(&path).landing, Landing::Absent | Landing::Directory) {
                    return Some(path);
                }
            }
            // Make only looks in its own directory.
            if tool == RecipeTool::Make || at == "/" {
                return None;
            }
            at = directory(&at).to_owned();
        }
    }
}

/// Returns the files that a Makefile or justfile includes, which can be patterns.
fn included(tool: RecipeTool, text: &str) -> Vec<String> {
    let verbs: &[&str] = match tool {
        RecipeTool::Make => &["include ", "-include ", "sinclude "],
        RecipeTool::Just => &["import ", "import? "],
        _ => return Vec::new(),
    };
    let rest = |line: &str| verbs.iter().find_map(|verb| line.strip_prefix(verb)).map(str::to_owned);
    let names = |line: String| {
        line.split('#')
            .next()
            .unwrap_or_default()
            .split_ascii_whitespace()
            .map(|name| name.trim_matches(['"', '\'']).to_owned())
            .collect::<Vec<_>>()
    };
    expanded(text, "$(", ")").lines().filter_map(rest).flat_map(names).collect()
}

/// Returns a script of package.json with those that run before and after it.
fn scripts(root: &JsonNode<'_>, key: &str, name: &str) -> Vec<Recipe> {
    let scripts = root.get(key);
    let names = [format!("pre{name}"), name.to_owned(), format!("post{name}")];
    let found = names.into_iter().filter_map(|name| {
        let text = scripts.and_then(|scripts| scripts.get(&name)).and_then(JsonNode::as_str)?.to_owned();
        Some(Recipe { name, head: None, commands: text, needs: Vec::new() })
    });
    found.collect()
}

/// The first line of a rule: its names, and the recipes that it needs.
struct Head {
    names: Vec<String>,
    needs: Vec<String>,
    /// A command in the same line.
    command: String,
}

/// Returns the rules with a name, which consist of a line and the indented lines after it. Without a name, the first rule
/// is the default.
fn blocks(text: &str, name: &str, head: fn(&str) -> Option<Head>) -> Vec<Recipe> {
    let mut found: Vec<Recipe> = Vec::new();
    let mut is_open = false;
    for line in text.lines() {
        let is_inner = line.starts_with([' ', '\t']) && head(line).is_none() || line.trim().is_empty();
        if is_inner {
            if let Some(recipe) = found.last_mut().filter(|_| is_open) {
                recipe.commands.push_str(&format!("\n{}", command(line)));
            }
            continue;
        }
        let Some(Head { names, needs, command: own }) = head(line) else {
            is_open &= line.starts_with('#');
            continue;
        };
        let is_default =
            name.is_empty() && found.is_empty() && !names.iter().any(|name| name.starts_with('.'));
        is_open = is_default || names.iter().any(|one| one == name);
        if is_open {
            let name = names.join(" ");
            found.push(Recipe { name, head: Some(line.to_owned()), commands: command(&own), needs });
        }
    }
    for recipe in &mut found {
        // Comments and empty lines after a rule belong to the next one.
        recipe.commands.truncate(recipe.commands.trim_end().len());
    }
    found
}

/// Replaces variables by the values that the file assigns to them, so that the list of the closure contains these. Others
/// become variables of a shell.
fn expanded(text: &str, open: &str, close: &str) -> String {
    let is_letter = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
    let is_name = |name: &str| !name.is_empty() && name.bytes().all(is_letter);
    let assignment = |line: &str| {
        let (name, value) = line.split_once('=')?;
        let name = name.trim_start_matches("export ").trim_end_matches([':', '?', '+', ' ']).to_owned();
        is_name(&name).then(|| (name, value.trim().trim_matches(['"', '\'']).to_owned()))
    };
    let values: BTreeMap<String, String> = text.lines().filter_map(assignment).collect();
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once(open) {
        out.push_str(before);
        let name = after.split_once(close).map(|(name, rest)| (name.trim(), rest));
        rest = match name.filter(|(name, _)| is_name(name)) {
            // A doubled dollar sign is one for the shell.
            Some((name, rest)) if !before.ends_with('$') => {
                out.push_str(&values.get(name).cloned().unwrap_or_else(|| format!("${{{name}}}")));
                rest
            }
            _ => {
                out.push_str(open);
                after
            }
        };
    }
    out.push_str(rest);
    out
}

/// Returns the command in a line of a recipe, as the shell reads it.
fn command(line: &str) -> String {
    let line = line.trim_start().trim_start_matches("- ").trim_start_matches("cmd:").trim_start();
    let line = line.trim_start_matches(['@', '-', '+']);
    line.replace("$$", "$").replace("{{", "${").replace("}}", "}")
}

fn words(text: &str) -> Vec<String> {
    text.split_ascii_whitespace().map(str::to_owned).collect()
}

fn make_head(line: &str) -> Option<Head> {
    if line.starts_with(['\t', ' ', '#']) {
        return None;
    }
    let (names, rest) = line.split_once(':')?;
    // `:=` and `::=` assign.
    if names.contains('=') || rest.trim_start_matches(':').starts_with('=') {
        return None;
    }
    let (needs, command) = rest.trim_start_matches(':').split_once(';').unwrap_or((rest, ""));
    Some(Head {
        names: words(names),
        needs: words(needs.trim_start_matches(':')),
        command: command.to_owned(),
    })
}

fn just_head(line: &str) -> Option<Head> {
    if line.starts_with(['\t', ' ', '#', '[']) {
        return None;
    }
    let (names, needs) = line.split_once(':').filter(|(_, rest)| !rest.starts_with('='))?;
    let name = names.trim_start_matches('@').split_ascii_whitespace().next()?.to_owned();
    let needs = needs.replace(['(', ')', '&'], " ");
    Some(Head { names: vec![name], needs: words(&needs), command: String::new() })
}

/// The name of a task, which is indented by two blanks.
fn task_head(line: &str) -> Option<Head> {
    let rest = line.strip_prefix("  ").filter(|rest| !rest.starts_with([' ', '-', '#']))?;
    let (name, command) = rest.split_once(':')?;
    Some(Head {
        names: vec![name.trim_matches(['"', '\'']).to_owned()],
        needs: Vec::new(),
        command: command.trim().to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn commands(text: &str, name: &str, head: fn(&str) -> Option<Head>) -> Vec<String> {
        blocks(text, name, head).into_iter().map(|recipe| recipe.commands.trim().to_owned()).collect()
    }

    #[test]
    fn a_rule_has_its_lines_and_no_others() {
        let text = "X := 1\n.PHONY: all\nall: lint\n\t@echo $(X) $$HOME\n\n# Lints.\nlint fast: pre ; sh own.sh\n\tsh x.sh\n";
        assert_eq!(commands(text, "lint", make_head), ["sh own.sh\nsh x.sh"]);
        assert_eq!(commands(&expanded(text, "$(", ")"), "", make_head), ["echo 1 $HOME"]);
        assert_eq!(commands(text, "missing", make_head), [] as [&str; 0]);
        assert_eq!(blocks(text, "fast", make_head).first().unwrap().needs, ["pre"]);
        let text = "x := \"1\"\n\nlint arg='1': (pre 'a')\n  @sh {{arg}}\n\nother:\n  sh y.sh\n";
        assert_eq!(commands(text, "lint", just_head), ["sh ${arg}"]);
        let text = "version: '3'\ntasks:\n  lint:\n    cmds:\n      - sh x.sh\n  other:\n    cmds:\n      - sh y.sh\n";
        assert!(commands(text, "lint", task_head).concat().contains("sh x.sh"));
        assert!(!commands(text, "lint", task_head).concat().contains("sh y.sh"));
    }

    #[test]
    fn a_script_runs_with_those_around_it() {
        let text = br#"{"scripts":{"lint":"b","prelint":"a","postlint":"c","other":"d"}}"#;
        let names: Vec<String> = scripts(&parse(text, &ParseLimits::standard()).unwrap(), "scripts", "lint")
            .into_iter()
            .map(|one| one.commands)
            .collect();
        assert_eq!(names, ["a", "b", "c"]);
    }
}
