//! The recipes of a justfile, with the values of its variables.
#![expect(clippy::arithmetic_side_effects, reason = "offsets into a text in memory cannot overflow")]

use std::collections::{BTreeMap, BTreeSet};

use super::{Include, Recipe, RecipeBook, RecipeFile, directory, shell_name, without_prefix};

const DEPTH: usize = 20;
/// Attributes that do not change what a recipe runs, or where.
const ATTRIBUTES: [&str; 16] = [
    "private",
    "confirm",
    "doc",
    "group",
    "linux",
    "macos",
    "unix",
    "windows",
    "openbsd",
    "no-exit-message",
    "no-quiet",
    "positional-arguments",
    "parallel",
    "default",
    "arg",
    "env",
];
/// The files of a module without a path.
const MODULE: [&str; 4] = ["{}.just", "{}/mod.just", "{}/justfile", "{}/.justfile"];

/// What a justfile says, with the files that it imports.
#[derive(Debug, Default)]
pub(super) struct Justfile {
    /// The expressions of variables. Recipes have those of their parameters.
    values: BTreeMap<String, String>,
    aliases: BTreeMap<String, String>,
    rules: Vec<Rule>,
    always: Vec<(usize, String)>,
    includes: Vec<(usize, String)>,
    environments: Vec<String>,
    has_modules: bool,
    lines: Vec<(usize, String)>,
    /// The directory of the first file.
    here: String,
    is_open: bool,
}

#[derive(Debug)]
struct Rule {
    file: usize,
    head: String,
    name: String,
    parameters: BTreeMap<String, String>,
    needs: Vec<String>,
    lines: Vec<String>,
}

impl Justfile {
    /// Reads the files in their order.
    pub(super) fn read(files: &[RecipeFile]) -> Self {
        let here = files.first().map_or_else(String::new, |file| directory(&file.path).to_owned());
        let mut made = Self { here, ..Self::default() };
        for (number, file) in files.iter().enumerate() {
            made.file(number, &file.text());
        }
        made
    }

    fn file(&mut self, number: usize, text: &str) {
        let mut is_body = false;
        for line in text.lines() {
            if line.trim().is_empty() {
                continue;
            }
            if line.starts_with([' ', '\t']) && is_body {
                self.lines.push((number, line.trim().to_owned()));
                if let Some(rule) = self.rules.last_mut() {
                    rule.lines.push(line.to_owned());
                }
                continue;
            }
            let line = line.trim();
            if line.starts_with('#') {
                continue;
            }
            self.lines.push((number, line.to_owned()));
            is_body = self.statement(number, line);
        }
    }

    /// Reads a line without indentation; returns `true` if it starts a recipe.
    fn statement(&mut self, number: usize, line: &str) -> bool {
        if let Some(attributes) = line.strip_prefix('[') {
            let is_known = |name: &str| {
                let name =
                    name.trim_start().split(['(', ':', ']', '\'', '"', ' ']).next().unwrap_or_default();
                ATTRIBUTES.contains(&name)
            };
            self.is_open |= !is_known(attributes);
            return false;
        }
        let (first, rest) = line.split_once([' ', '\t']).unwrap_or((line, ""));
        let rest = rest.trim();
        match first {
            "import" | "import?" => self.includes.push((number, unquoted(rest).to_owned())),
            "mod" | "mod?" => {
                let (name, path) = rest.split_once([' ', '\t']).unwrap_or((rest, ""));
                self.has_modules = true;
                match path {
                    "" => self.includes.extend(MODULE.map(|file| (number, file.replace("{}", name)))),
                    path => self.includes.push((number, unquoted(path.trim()).to_owned())),
                }
            }
            "alias" if rest.contains(":=") => {
                let (name, target) = rest.split_once(":=").unwrap_or_default();
                self.aliases.insert(name.trim().to_owned(), target.trim().to_owned());
            }
            "set" => self.setting(number, rest),
            _ => return self.assignment_or_rule(number, line),
        }
        false
    }

    fn setting(&mut self, number: usize, setting: &str) {
        let (name, value) = setting.split_once(":=").map_or((setting, "true"), |(name, value)| (name, value));
        let (name, value) = (name.trim(), value.trim());
        match name {
            "shell" | "windows-shell" | "script-interpreter" => {
                let words: Vec<&str> =
                    value.split(['[', ']', ',']).map(|word| unquoted(word.trim())).collect();
                self.always.push((number, words.join(" ").trim().to_owned()));
            }
            "dotenv-load" if value == "true" => self.environments.push(".env".to_owned()),
            "dotenv-path" | "dotenv-filename" => self.environments.push(unquoted(value).to_owned()),
            "working-directory" | "fallback" => self.is_open = true,
            _ => {}
        }
    }

    fn assignment_or_rule(&mut self, number: usize, line: &str) -> bool {
        let line = line.strip_prefix("export ").map_or(line, str::trim_start);
        if let Some((name, value)) = line.split_once(":=").filter(|(name, _)| shell_name(name.trim())) {
            self.always.extend(value.split('`').skip(1).step_by(2).map(|text| (number, text.to_owned())));
            // The scan reads what `shell` runs in all lines. A text in several lines is not read.
            self.is_open |= value.contains("shell(") || value.contains("'''") || value.contains("\"\"\"");
            self.values.insert(name.trim().to_owned(), value.trim().to_owned());
            return false;
        }
        let Some((names, needs)) = head_parts(line) else {
            self.is_open = true;
            return false;
        };
        let mut words = names.trim_start_matches('@').split_ascii_whitespace();
        let name = words.next().unwrap_or_default().to_owned();
        let parameter = |word: &str| {
            let (name, value) = word.split_once('=')?;
            Some((name.trim_start_matches(['+', '*', '$']).to_owned(), value.to_owned()))
        };
        let parameters = words.filter_map(parameter).collect();
        // Arguments of what it needs can be code.
        self.is_open |= needs.contains('/') || needs.contains('`');
        let needs = needs.replace(['(', ')', '&'], " ");
        let needs = needs.split_ascii_whitespace().map(str::to_owned).collect();
        let head = line.to_owned();
        self.rules.push(Rule { file: number, head, name, parameters, needs, lines: Vec::new() });
        true
    }

    /// Returns the value of an expression, or `None` if it depends on more than the files.
    fn value(&self, expression: &str, parameters: &BTreeMap<String, String>, depth: usize) -> Option<String> {
        let mut out = String::new();
        let mut rest = expression.trim();
        while let Some(first) = rest.chars().next().filter(|_| depth < DEPTH) {
            let length = match first {
                '+' | ' ' | '\t' => 1,
                '/' => {
                    out.push('/');
                    1
                }
                '\'' | '"' | '`' => {
                    let inner = rest.get(1..)?.split_once(first)?.0;
                    if inner.is_empty() && rest.get(2..).is_some_and(|after| after.starts_with(first)) {
                        return None;
                    }
                    out.push_str(&if first == '`' { format!("$({inner})") } else { inner.to_owned() });
                    inner.len() + 2
                }
                _ => {
                    let is_letter = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
                    let end = rest.find(|c| !is_letter(c)).unwrap_or(rest.len());
                    let (name, after) = rest.split_at(end);
                    if name.is_empty() {
                        return None;
                    }
                    if let Some(arguments) = after.strip_prefix('(') {
                        let (inner, _) = arguments.split_once(')')?;
                        out.push_str(&self.call(name, inner)?);
                        end + inner.len() + 2
                    } else {
                        out.push_str(&match parameters.get(name).or_else(|| self.values.get(name)) {
                            Some(value) => self.value(value, parameters, depth + 1)?,
                            None => shell_name(name).then(|| format!("${{{name}}}"))?,
                        });
                        end
                    }
                }
            };
            rest = rest.get(length..)?;
        }
        (depth < DEPTH).then_some(out)
    }

    fn call(&self, name: &str, argument: &str) -> Option<String> {
        match name {
            "justfile_directory" | "justfile_dir" | "source_directory" => Some(self.here.clone()),
            "env" | "env_var" if shell_name(unquoted(argument)) => {
                Some(format!("${{{}}}", unquoted(argument)))
            }
            _ => None,
        }
    }

    /// Returns a line with the values of its expressions.
    fn expanded(&self, line: &str, parameters: &BTreeMap<String, String>) -> Option<String> {
        let mut parts = line.split("{{");
        let mut out = parts.next().unwrap_or_default().to_owned();
        for part in parts {
            // A doubled pair of braces is one for the shell.
            let (expression, after) = part.split_once("}}")?;
            out.push_str(&self.value(expression, parameters, 0)?);
            out.push_str(after);
        }
        Some(out)
    }

    fn recipe(&self, rule: &Rule) -> Option<Recipe> {
        let indent = rule.lines.first().map_or(0, |line| line.len() - line.trim_start().len());
        let mut lines: Vec<String> = Vec::new();
        let mut is_open = false;
        let is_script = rule.lines.first().is_some_and(|line| line.trim_start().starts_with("#!"));
        for line in &rule.lines {
            let line = self.expanded(line.get(indent..).unwrap_or(line.trim_start()), &rule.parameters)?;
            match lines.last_mut() {
                Some(last) if is_script => *last = format!("{last}\n{line}"),
                Some(last) if is_open => *last = format!("{last}\n{}", line.trim_start()),
                _ => lines.push(without_prefix(&line)),
            }
            is_open = line.ends_with('\\');
        }
        let head = Some(rule.head.clone());
        Some(Recipe { file: rule.file, name: rule.name.clone(), head, lines, ..Recipe::default() })
    }
}

impl RecipeBook for Justfile {
    fn includes(&self) -> Vec<(usize, Include)> {
        let include = |(number, path): &(usize, String)| (*number, Include::File(path.clone()));
        self.includes.iter().map(include).collect()
    }

    fn environments(&self) -> Vec<String> {
        self.environments.clone()
    }

    fn recipes(&self, name: &str) -> Option<Vec<Recipe>> {
        let name = name.rsplit('/').next().unwrap_or(name);
        let known =
            |name: &str| self.rules.iter().any(|rule| rule.name == name) || self.aliases.contains_key(name);
        let is_module = self.has_modules && !name.is_empty() && !known(name);
        if self.is_open || is_module {
            return None;
        }
        let first = self.rules.iter().find(|rule| rule.file == 0).map(|rule| rule.name.clone());
        let mut queue = if name.is_empty() { first.into_iter().collect() } else { vec![name.to_owned()] };
        let call = |(file, text): &(usize, String)| Recipe {
            file: *file,
            name: "`".to_owned(),
            lines: vec![text.clone()],
            ..Recipe::default()
        };
        let mut found: Vec<Recipe> = self.always.iter().map(call).collect();
        let mut seen = BTreeSet::new();
        while let Some(name) = queue.pop() {
            if !seen.insert(name.clone()) {
                continue;
            }
            queue.extend(self.aliases.get(&name).cloned());
            if self.has_modules && name.contains("::") {
                return None;
            }
            for rule in self.rules.iter().filter(|rule| rule.name == name) {
                queue.extend(rule.needs.iter().cloned());
                found.push(self.recipe(rule)?);
            }
        }
        Some(found)
    }

    fn all_lines(&self, file: usize) -> Vec<String> {
        let lines = self.lines.iter().chain(&self.always).filter(|(number, _)| *number == file);
        let empty = BTreeMap::new();
        let shown = |line: &str| {
            let line =
                self.expanded(line, &empty).unwrap_or_else(|| line.replace("{{", "${").replace("}}", "}"));
            without_prefix(&line)
        };
        lines.map(|(_, line)| shown(line)).collect()
    }
}

/// Returns the names in front of the colon of a recipe, and what it needs.
fn head_parts(line: &str) -> Option<(&str, &str)> {
    let mut quote: Option<char> = None;
    for (at, c) in line.char_indices() {
        match quote {
            Some(open) if c == open => quote = None,
            None if matches!(c, '\'' | '"' | '`') => quote = Some(c),
            None if c == ':' => return Some((line.get(..at)?, line.get(at + 1..)?)),
            _ => {}
        }
    }
    None
}

fn unquoted(text: &str) -> &str {
    text.trim_matches(['"', '\''])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn recipes(text: &str, name: &str) -> Option<String> {
        let file = RecipeFile::of_text("/p/justfile", text);
        let lines = Justfile::read(&[file]).recipes(name)?.into_iter().flat_map(|recipe| recipe.lines);
        Some(lines.collect::<Vec<_>>().join("; "))
    }

    #[test]
    fn a_recipe_has_its_lines_and_those_of_what_it_needs() {
        for (text, expected) in [
            ("x := \"1\"\n\nlint arg='1': pre\n  @sh {{arg}} {{x}}\n\npre:\n  sh y.sh\n", "sh 1 1; sh y.sh"),
            ("alias lint := check\ncheck:\n  sh x.sh\n", "sh x.sh"),
            ("d := justfile_directory() / 'x'\nlint:\n  sh {{d}}/y.sh\n", "sh /p/x/y.sh"),
            ("v := `sh v.sh`\nlint a:\n  sh {{a}}\n", "sh v.sh; sh ${a}"),
            ("[private]\nlint:\n  #!/bin/bash\n  cd x\n  sh y.sh\n", "#!/bin/bash\ncd x\nsh y.sh"),
            ("set shell := [\"bash\", \"-uc\"]\nlint:\n  true\n", "bash -uc; true"),
        ] {
            assert_eq!(recipes(text, "lint").as_deref(), Some(expected), "{text}");
        }
        assert_eq!(recipes("a:\n  sh a.sh\nb:\n  sh b.sh\n", "").unwrap(), "sh a.sh");
    }

    #[test]
    fn what_is_not_understood_is_open() {
        for text in [
            "lint:\n  sh {{ if a == b { 'x' } else { 'y' } }}\n",
            "[script('sh')]\nlint:\n  true\n",
            "[no-cd]\nlint:\n  true\n",
            "set working-directory := 'x'\nlint:\n  true\n",
            "mod lint\n",
            "lint: (run './x.sh')\n",
            "x := shell('sh x.sh')\nlint:\n  true\n",
        ] {
            assert_eq!(recipes(text, "lint"), None, "{text}");
        }
    }
}
