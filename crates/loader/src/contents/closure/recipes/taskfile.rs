//! The tasks of a Taskfile. Keys that are not known make the whole file count.

use std::collections::{BTreeMap, BTreeSet};

use plugward_commands::loads_code;
use plugward_installs::yaml_as_json;
use plugward_manifest::json::{JsonNode, ParseLimits, parse};

use super::{CallValues, Expansion, Include, Recipe, RecipeBook, RecipeFile, directory, shell_name};

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
    /// Several values depend on the task.
    values: BTreeMap<String, BTreeSet<String>>,
    /// The variables with values that are not known.
    unknown: BTreeSet<String>,
    /// Those that the command sets, which only a task replaces.
    fixed: BTreeSet<String>,
    work: Expansion,
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
    pub(super) fn read(files: &[RecipeFile], values: &CallValues) -> Self {
        let mut made = Self::default();
        for name in HERE {
            let here = files.first().map(|file| directory(&file.path).to_owned());
            made.values.insert(name.to_owned(), here.into_iter().collect());
        }
        for (name, value) in &values.environment {
            made.variable(name, value.clone());
        }
        for (name, value) in &values.assignments {
            made.variable(name, Some(value.clone()));
            made.fixed.insert(name.clone());
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
        let fixed = self.fixed.clone();
        self.variables(number, root.get("vars"), &fixed);
        self.variables(number, root.get("env"), &fixed);
        self.exported(number, root.get("env"));
        self.environments.extend(strings(root.get("dotenv")));
        for include in root.get("includes").and_then(JsonNode::members).unwrap_or_default() {
            let node = include.node();
            let path = node.as_str().or_else(|| node.get("taskfile").and_then(JsonNode::as_str));
            let is_optional = node.get("optional").is_some();
            let include = |path: &str| match path.to_owned() {
                path if path.contains("{{") || path.contains("://") => Include::Open(path),
                path if is_optional => Include::File(path),
                path => Include::Required(path),
            };
            self.includes.extend(path.map(|path| (number, include(path))));
        }
        for task in root.get("tasks").and_then(JsonNode::members).unwrap_or_default() {
            let task = self.task(number, task.key(), task.node());
            self.tasks.push(task);
        }
    }

    /// Takes the values of variables, without those that the command replaces.
    fn variables(&mut self, number: usize, node: Option<&JsonNode<'_>>, replaced: &BTreeSet<String>) {
        for member in node.and_then(JsonNode::members).unwrap_or_default() {
            let shell = member.node().get("sh").and_then(JsonNode::as_str);
            self.always.extend(shell.map(|text| (number, text.to_owned())));
            if !replaced.contains(member.key()) {
                self.variable(member.key(), text_of(member.node()));
            }
        }
    }

    fn variable(&mut self, name: &str, value: Option<String>) {
        if let Some(value) = value {
            self.values.entry(name.to_owned()).or_default().insert(value);
        } else {
            self.unknown.insert(name.to_owned());
        }
    }

    /// Takes the variables of the environment that load code, as commands.
    fn exported(&mut self, number: usize, node: Option<&JsonNode<'_>>) {
        for member in node.and_then(JsonNode::members).unwrap_or_default() {
            let name = member.key();
            self.is_open |= name == "PATH";
            if loads_code(name) {
                let value = text_of(member.node());
                self.is_open |= value.is_none();
                self.always.push((number, format!("export {name}={}", value.unwrap_or_default())));
            }
        }
    }

    fn task(&mut self, file: usize, name: &str, node: &JsonNode<'_>) -> Task {
        let mut task = Task { file, names: vec![name.to_owned()], ..Task::default() };
        task.names.extend(strings(node.get("aliases")));
        let members = node.members().unwrap_or_default();
        task.is_open = name.contains('*') || !members.iter().all(|member| PLAIN.contains(&member.key()));
        task.directory = node.get("dir").and_then(JsonNode::as_str).map(str::to_owned);
        self.variables(file, node.get("vars"), &BTreeSet::new());
        self.variables(file, node.get("env"), &BTreeSet::new());
        self.exported(file, node.get("env"));
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
                "vars" => self.variables(task.file, Some(member.node()), &BTreeSet::new()),
                "msg" | "silent" | "ignore_error" | "platforms" | "set" | "shopt" => {}
                _ => task.is_open = true,
            }
        }
    }

    /// Returns a line with the values of its variables.
    fn expanded(&self, line: &str, depth: usize) -> Option<String> {
        self.work.spend(line.len())?;
        let mut parts = line.split("{{");
        let mut out = parts.next().unwrap_or_default().to_owned();
        for part in parts {
            let (name, after) = part.split_once("}}")?;
            let name = name.trim_matches(['-', ' ']).strip_prefix('.').filter(|name| shell_name(name))?;
            let value = match self.values.get(name) {
                _ if self.unknown.contains(name) => return None,
                Some(values) if depth < 20 => {
                    self.expanded(self.work.value(values)?, depth.saturating_add(1))?
                }
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
            self.work.spend(self.tasks.len())?;
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

    fn is_exhausted(&self) -> bool {
        self.work.is_exhausted()
    }

    fn all_lines(&self, file: usize) -> Vec<String> {
        let exports = self.always.iter().filter(|(_, text)| text.starts_with("export "));
        let texts = self.texts.iter().chain(exports).filter(|(number, _)| *number == file);
        let shown = |(_, text): &(usize, String)| {
            let mut lines = match self.expanded(text, 0) {
                Some(text) => BTreeSet::from([text]),
                None => self.work.of_each_choice(|| self.expanded(text, 0)),
            };
            if lines.is_empty() {
                lines.insert(text.clone());
            }
            lines
        };
        texts.flat_map(shown).collect()
    }
}

/// Returns the text of a variable, with that of a shell as its output.
fn text_of(node: &JsonNode<'_>) -> Option<String> {
    let shell = node.get("sh").and_then(JsonNode::as_str).map(|text| format!("$({text})"));
    node.as_str().map(str::to_owned).or(shell)
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
        let lines = Taskfile::read(&[file], &CallValues::default())
            .recipes(name)?
            .into_iter()
            .flat_map(|recipe| recipe.lines);
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
            ("env: {BASH_ENV: x.sh}\ntasks: {lint: [sh y.sh]}\n", "export BASH_ENV=x.sh; sh y.sh"),
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
