//! The tasks of a Taskfile. Keys that are not known make the whole file count.

use std::collections::{BTreeMap, BTreeSet};

use plugward_installs::yaml_as_json;
use plugward_manifest::json::{JsonNode, ParseLimits, parse};

use super::{Include, Recipe, RecipeBook, RecipeFile, directory, shell_name};

/// Keys of a file and of a task that run nothing.
const PLAIN: [&str; 30] = [
    "aliases",
    "cmd",
    "cmds",
    "deps",
    "desc",
    "dir",
    "dotenv",
    "env",
    "failfast",
    "generates",
    "ignore_error",
    "includes",
    "interactive",
    "internal",
    "label",
    "method",
    "output",
    "platforms",
    "preconditions",
    "prefix",
    "prompt",
    "requires",
    "run",
    "set",
    "shopt",
    "silent",
    "sources",
    "status",
    "summary",
    "vars",
];
/// Variables with the directory of the file, or of the call.
const HERE: [&str; 3] = ["ROOT_DIR", "TASKFILE_DIR", "USER_WORKING_DIR"];

/// What the files of one call of task say.
#[derive(Debug, Default)]
pub(super) struct Taskfile {
    values: BTreeMap<String, Option<String>>,
    tasks: Vec<Task>,
    always: Vec<(usize, String)>,
    includes: Vec<(usize, Include)>,
    environments: Vec<String>,
    /// All texts, for a file that is not understood.
    texts: Vec<(usize, String)>,
    is_open: bool,
}

#[derive(Debug, Default)]
struct Task {
    file: usize,
    names: Vec<String>,
    directory: Option<String>,
    lines: Vec<String>,
    needs: Vec<String>,
    is_open: bool,
}

impl Taskfile {
    /// Reads the files. One that is not YAML is open.
    pub(super) fn read(files: &[RecipeFile]) -> Self {
        let mut made = Self::default();
        for name in HERE {
            let here = files.first().map(|file| directory(&file.path).to_owned());
            made.values.insert(name.to_owned(), here);
        }
        for (number, file) in files.iter().enumerate() {
            let text = file.text();
            let json = yaml_as_json(&text).unwrap_or_default();
            if let Ok(root) = parse(json.as_bytes(), &ParseLimits::standard()) {
                made.file(number, &root);
                continue;
            }
            made.is_open = true;
            let lines = text.lines().map(|line| line.trim_start_matches(['-', ' ', '\t']));
            made.texts.extend(lines.map(|line| (number, line.trim_start_matches("cmd:").to_owned())));
        }
        made
    }

    fn file(&mut self, number: usize, root: &JsonNode<'_>) {
        let mut texts = Vec::new();
        super::add_texts(root, &mut texts);
        self.texts.extend(texts.into_iter().map(|text| (number, text)));
        let plain = |key: &str| PLAIN.contains(&key) || matches!(key, "version" | "tasks" | "interval");
        let members = root.members().unwrap_or_default();
        self.is_open |= members.is_empty() || !members.iter().all(|member| plain(member.key()));
        for key in ["vars", "env"] {
            self.variables(number, root.get(key));
        }
        self.environments.extend(strings(root.get("dotenv")));
        for include in root.get("includes").and_then(JsonNode::members).unwrap_or_default() {
            let node = include.node();
            let path = node.as_str().or_else(|| node.get("taskfile").and_then(JsonNode::as_str));
            let is_open = path.is_some_and(|path| path.contains("{{"));
            let include = |path: &str| {
                if is_open { Include::Open(path.to_owned()) } else { Include::File(path.to_owned()) }
            };
            self.includes.extend(path.map(|path| (number, include(path))));
        }
        for task in root.get("tasks").and_then(JsonNode::members).unwrap_or_default() {
            let task = self.task(number, task.key(), task.node());
            self.tasks.push(task);
        }
    }

    /// Takes the values of variables. A name with several values is not known.
    fn variables(&mut self, number: usize, node: Option<&JsonNode<'_>>) {
        for member in node.and_then(JsonNode::members).unwrap_or_default() {
            let shell = member.node().get("sh").and_then(JsonNode::as_str);
            self.always.extend(shell.map(|text| (number, text.to_owned())));
            let value =
                member.node().as_str().map(str::to_owned).or_else(|| shell.map(|text| format!("$({text})")));
            let same = self.values.get(member.key()).is_none_or(|before| *before == value);
            self.values.insert(member.key().to_owned(), value.filter(|_| same));
        }
    }

    fn task(&mut self, file: usize, name: &str, node: &JsonNode<'_>) -> Task {
        let mut task = Task { file, names: vec![name.to_owned()], ..Task::default() };
        task.names.extend(strings(node.get("aliases")));
        let members = node.members().unwrap_or_default();
        task.is_open = name.contains('*') || !members.iter().all(|member| PLAIN.contains(&member.key()));
        task.directory = node.get("dir").and_then(JsonNode::as_str).map(str::to_owned);
        for key in ["vars", "env"] {
            self.variables(file, node.get(key));
        }
        self.environments.extend(strings(node.get("dotenv")));
        if members.is_empty() {
            self.commands(node, &mut task);
        }
        for key in ["cmd", "cmds", "deps", "preconditions", "status"] {
            let Some(part) = node.get(key) else { continue };
            if key == "deps" {
                task.needs.extend(strings(Some(part)));
                let calls = part.items().unwrap_or_default().iter().filter(|item| item.as_str().is_none());
                calls.for_each(|item| self.commands(item, &mut task));
            } else {
                self.commands(part, &mut task);
            }
        }
        task
    }

    /// Takes a command, a list of commands, or a call of another task.
    fn commands(&mut self, node: &JsonNode<'_>, task: &mut Task) {
        task.lines.extend(node.as_str().map(str::to_owned));
        for item in node.items().unwrap_or_default() {
            self.commands(item, task);
        }
        for member in node.members().unwrap_or_default() {
            match member.key() {
                "cmd" | "sh" | "defer" => self.commands(member.node(), task),
                "task" => task.needs.extend(member.node().as_str().map(str::to_owned)),
                "vars" => self.variables(task.file, Some(node).and_then(|node| node.get("vars"))),
                "msg" | "silent" | "ignore_error" | "platforms" | "set" | "shopt" => {}
                _ => task.is_open = true,
            }
        }
    }

    /// Returns a line with the values of its variables.
    fn expanded(&self, line: &str, depth: usize) -> Option<String> {
        let mut parts = line.split("{{");
        let mut out = parts.next().unwrap_or_default().to_owned();
        for part in parts {
            let (name, after) = part.split_once("}}")?;
            let name = name.trim_matches(['-', ' ']).strip_prefix('.').filter(|name| shell_name(name))?;
            let value = match self.values.get(name) {
                Some(value) if depth < 20 => self.expanded(value.as_ref()?, depth.saturating_add(1))?,
                Some(_) => return None,
                None => format!("${{{name}}}"),
            };
            out.push_str(&value);
            out.push_str(after);
        }
        Some(out)
    }
}

impl RecipeBook for Taskfile {
    fn includes(&self) -> Vec<(usize, Include)> {
        self.includes.clone()
    }

    fn environments(&self) -> Vec<String> {
        self.environments.clone()
    }

    fn recipes(&self, name: &str) -> Option<Vec<Recipe>> {
        let mut queue = vec![if name.is_empty() { "default" } else { name }.to_owned()];
        let mut found: Vec<Recipe> = Vec::new();
        for (file, text) in &self.always {
            let lines = vec![self.expanded(text, 0)?];
            found.push(Recipe { file: *file, name: "sh".to_owned(), lines, ..Recipe::default() });
        }
        let mut seen = BTreeSet::new();
        while let Some(name) = queue.pop() {
            if !seen.insert(name.clone()) {
                continue;
            }
            let tasks: Vec<&Task> = self.tasks.iter().filter(|task| task.names.contains(&name)).collect();
            // It can be a task of an included file, or have a name with a pattern.
            let is_elsewhere = !self.includes.is_empty() || self.tasks.iter().any(|task| task.is_open);
            if self.is_open || name.contains("{{") || tasks.is_empty() && is_elsewhere {
                return None;
            }
            for task in tasks {
                if task.is_open {
                    return None;
                }
                let lines: Option<Vec<String>> =
                    task.lines.iter().map(|line| self.expanded(line, 0)).collect();
                let directory = match &task.directory {
                    Some(directory) => Some(self.expanded(directory, 0)?),
                    None => None,
                };
                let head = Some(format!("{name}: {}", task.needs.join(" ")));
                queue.extend(task.needs.iter().cloned());
                found.push(Recipe { file: task.file, name: name.clone(), head, lines: lines?, directory });
            }
        }
        Some(found)
    }

    fn all_lines(&self, file: usize) -> Vec<String> {
        let texts = self.texts.iter().filter(|(number, _)| *number == file);
        let shown = |text: &String| self.expanded(text, 0).unwrap_or_else(|| text.clone());
        texts.map(|(_, text)| shown(text)).collect()
    }
}

/// Returns the texts of a list, or the only one.
fn strings(node: Option<&JsonNode<'_>>) -> Vec<String> {
    let one = node.and_then(JsonNode::as_str).map(str::to_owned);
    let items = node.and_then(JsonNode::items).unwrap_or_default();
    one.into_iter().chain(items.iter().filter_map(|item| item.as_str().map(str::to_owned))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn recipes(tasks: &str, name: &str) -> Option<String> {
        let file = RecipeFile::of_text("/p/Taskfile.yml", &format!("version: '3'\n{tasks}"));
        let lines = Taskfile::read(&[file]).recipes(name)?.into_iter().flat_map(|recipe| recipe.lines);
        Some(lines.collect::<Vec<_>>().join("; "))
    }

    #[test]
    fn a_task_has_its_commands_and_those_of_what_it_needs() {
        for (text, expected) in [
            (
                "tasks:\n  lint:\n    cmds:\n      - sh x.sh\n  other:\n    cmds:\n      - sh y.sh\n",
                "sh x.sh",
            ),
            ("tasks:\n    lint: sh x.sh\n", "sh x.sh"),
            ("tasks: {lint: {deps: [pre], cmd: sh x.sh}, pre: [sh y.sh]}\n", "sh x.sh; sh y.sh"),
            ("vars: {C: sh x.sh}\ntasks:\n  lint:\n    - '{{.C}} {{.CLI_ARGS}}'\n", "sh x.sh ${CLI_ARGS}"),
            (
                "vars: {C: {sh: sh v.sh}}\ntasks:\n  lint: [{task: a}]\n  a: echo {{.C}}\n",
                "sh v.sh; echo $(sh v.sh)",
            ),
            (
                "tasks:\n  check: {aliases: [lint], cmds: [{cmd: sh x.sh, silent: true}, {defer: sh y.sh}]}\n",
                "sh x.sh; sh y.sh",
            ),
        ] {
            assert_eq!(recipes(text, "lint").as_deref(), Some(expected), "{text}");
        }
    }

    #[test]
    fn what_is_not_understood_is_open() {
        for text in [
            "tasks:\n  lint:\n    cmds:\n      - for: [a.sh]\n        cmd: sh {{.ITEM}}\n",
            "tasks:\n  lint: sh {{.X | default \"y.sh\"}}\n",
            "tasks:\n  lint: {watch2: true}\n",
            "tasks:\n  'l*': sh {{index .MATCH 0}}\n",
            "includes: {a: ./a.yml}\ntasks:\n  b: true\n",
            "tasks: &a\n  lint: *a\n",
        ] {
            assert_eq!(recipes(text, "lint"), None, "{text}");
        }
    }
}
