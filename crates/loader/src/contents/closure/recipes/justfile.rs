//! The recipes of a justfile, with the values of its variables.
#![expect(clippy::arithmetic_side_effects, reason = "offsets into a text in memory cannot overflow")]

use std::collections::{BTreeMap, BTreeSet};

use plugward_commands::loads_code;

use super::{
    CallValues, Expansion, Include, Recipe, RecipeBook, RecipeFile, directory, shell_name, split_outside,
    without_prefix,
};

const DEPTH: usize = 20;
/// Attributes that do not change what a recipe runs, or where.
const ATTRIBUTES: [&str; 15] = [
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
    includes: Vec<(usize, Include)>,
    environments: Vec<String>,
    has_modules: bool,
    /// The lines outside of recipes.
    lines: Vec<(usize, String)>,
    /// The directory of the first file, and the one in which the command starts.
    here: String,
    start: String,
    /// The directory of recipes without one of their own, and of the next recipe.
    directory: Option<String>,
    next_directory: Option<String>,
    arguments: Vec<Option<String>>,
    fixed: BTreeSet<String>,
    work: Expansion,
    is_open: bool,
}

#[derive(Debug)]
struct Rule {
    file: usize,
    head: String,
    name: String,
    parameters: Vec<Parameter>,
    /// The recipes that run with it, each with the expressions of its arguments.
    needs: Vec<(String, Vec<String>)>,
    directory: Option<String>,
    lines: Vec<String>,
}

#[derive(Debug)]
struct Parameter {
    name: String,
    default: Option<String>,
    is_variadic: bool,
}

/// The values of parameters. Those without one have that of the shell.
type Bound = BTreeMap<String, String>;

impl Justfile {
    /// Reads the files in their order.
    pub(super) fn read(files: &[RecipeFile], start: &str, values: &CallValues) -> Self {
        let here = files.first().map_or_else(String::new, |file| directory(&file.path).to_owned());
        let mut made = Self { here, start: start.to_owned(), ..Self::default() };
        made.arguments.clone_from(&values.arguments);
        for (name, value) in &values.assignments {
            let quote = if value.contains('\'') { '"' } else { '\'' };
            made.is_open |= value.contains(quote);
            made.values.insert(name.clone(), format!("{quote}{value}{quote}"));
            made.fixed.insert(name.clone());
        }
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
                if let Some(rule) = self.rules.last_mut() {
                    rule.lines.push(line.to_owned());
                }
                continue;
            }
            let line = line.trim();
            if line.starts_with('#') {
                continue;
            }
            is_body = self.statement(number, line);
            if !is_body {
                self.lines.push((number, line.to_owned()));
            }
        }
    }

    /// Reads a line without indentation; returns `true` if it starts a recipe.
    fn statement(&mut self, number: usize, line: &str) -> bool {
        if line.starts_with('[') {
            self.is_open |= self.attributes(number, line).is_none();
            return false;
        }
        let (first, rest) = line.split_once([' ', '\t']).unwrap_or((line, ""));
        let rest = rest.trim();
        match first {
            "import" => self.import(number, rest, Include::Required),
            "import?" => self.import(number, rest, Include::File),
            "mod" | "mod?" => {
                let (name, path) = rest.split_once([' ', '\t']).unwrap_or((rest, ""));
                self.has_modules = true;
                if !path.trim().is_empty() && !path.trim_start().starts_with('#') {
                    self.import(number, path, Include::File);
                }
                let path = literal(path).map_or(name, |(path, _)| path);
                let files = MODULE.map(|file| (number, Include::File(file.replace("{}", path))));
                self.includes.extend(files);
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

    fn import(&mut self, number: usize, text: &str, include: fn(String) -> Include) {
        let include = match literal(text) {
            // Only a literal with an `x` has variables.
            Some((path, is_expanded)) if is_expanded || !path.contains('$') && !path.starts_with('~') => {
                include(path.to_owned())
            }
            _ => Include::Open(text.to_owned()),
        };
        self.is_open |= matches!(include, Include::Open(_));
        self.includes.push((number, include));
    }

    /// Reads a line of attributes, or returns `None` if not all are known.
    fn attributes(&mut self, number: usize, line: &str) -> Option<()> {
        let inner = line.strip_prefix('[')?;
        let (inner, after) = split_once_outside(inner, ']')?;
        let mut is_known = after.is_empty() || after.starts_with('#');
        for attribute in split_outside(inner, |c| c == ',', usize::MAX) {
            let attribute = attribute.trim();
            let (name, value) =
                attribute.split_at(attribute.find(['(', ':', ' ']).unwrap_or(attribute.len()));
            let value = value.trim_start_matches([':', ' ']);
            match name {
                "no-cd" => self.next_directory = Some(self.start.clone()),
                "working-directory" => {
                    let value = value.trim_start_matches('(').trim_end_matches(')');
                    self.next_directory = Some(plain(value)?.to_owned());
                }
                "env" => {
                    let values = value.strip_prefix('(')?.strip_suffix(')')?;
                    let (name, value) = values.split_once(',')?;
                    self.exported(number, plain(name)?, value.trim());
                }
                _ => is_known &= ATTRIBUTES.contains(&name),
            }
        }
        is_known.then_some(())
    }

    /// Takes a variable of the environment that loads code, as a command.
    fn exported(&mut self, number: usize, name: &str, expression: &str) {
        self.is_open |= name == "PATH";
        if loads_code(name) {
            self.always.push((number, format!("export {name}={{{{{expression}}}}}")));
        }
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
            "working-directory" => {
                self.directory = plain(value).map(str::to_owned);
                self.is_open |= self.directory.is_none();
            }
            "fallback" => self.is_open = true,
            _ => {}
        }
    }

    fn assignment_or_rule(&mut self, number: usize, line: &str) -> bool {
        let line = line.strip_prefix("export ").map_or(line, str::trim_start);
        if let Some((name, value)) = line.split_once(":=").filter(|(name, _)| shell_name(name.trim())) {
            self.always.extend(value.split('`').skip(1).step_by(2).map(|text| (number, text.to_owned())));
            // The scan reads what `shell` runs in all lines. A text in several lines is not read.
            self.is_open |= value.contains("shell(") || value.contains("'''") || value.contains("\"\"\"");
            let (name, value) = (name.trim(), value.trim());
            if !self.fixed.contains(name) {
                self.values.insert(name.to_owned(), value.to_owned());
            }
            self.exported(number, name, name);
            return false;
        }
        let Some((names, needs)) = split_once_outside(line, ':') else {
            self.is_open = true;
            return false;
        };
        let mut words = words_of(names.trim_start_matches('@')).into_iter();
        let name = words.next().unwrap_or_default().to_owned();
        let mut parameters = Vec::new();
        for word in words {
            let (mark, default) =
                word.split_once('=').map_or((word, None), |(name, value)| (name, Some(value)));
            let name = mark.trim_start_matches(['+', '*', '$']);
            self.is_open |= !shell_name(name) && !name.contains('-');
            if mark.contains('$') {
                self.exported(number, name, default.unwrap_or("''"));
            }
            let is_variadic = mark.starts_with(['+', '*']);
            let (name, default) = (name.to_owned(), default.map(str::to_owned));
            parameters.push(Parameter { name, default, is_variadic });
        }
        // Just evaluates a default even if no command has it.
        self.always.extend(names.split('`').skip(1).step_by(2).map(|text| (number, text.to_owned())));
        self.is_open |= names.contains('(');
        let needs = needs_of(needs);
        self.is_open |= needs.is_none();
        let directory = self.next_directory.take();
        let needs = needs.unwrap_or_default();
        let head = line.to_owned();
        self.rules.push(Rule { file: number, head, name, parameters, needs, directory, lines: Vec::new() });
        true
    }

    /// Returns the values of the parameters of a recipe with some arguments.
    fn bound(&self, rule: &Rule, arguments: &[Option<String>]) -> Option<Bound> {
        let mut bound = Bound::new();
        let mut rest = arguments.iter();
        for Parameter { name, default, is_variadic } in &rule.parameters {
            let given: Vec<&Option<String>> =
                rest.by_ref().take(if *is_variadic { usize::MAX } else { 1 }).collect();
            let value = match default {
                Some(default) if given.is_empty() => self.value(default, &bound, 0)?,
                None if given.is_empty() => continue,
                _ => given.into_iter().map(Option::as_deref).collect::<Option<Vec<_>>>()?.join(" "),
            };
            bound.insert(name.clone(), value);
        }
        Some(bound)
    }

    /// Returns the value of an expression, or `None` if it depends on more than the files.
    fn value(&self, expression: &str, parameters: &Bound, depth: usize) -> Option<String> {
        self.work.spend(expression.len())?;
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
                    // An escape sequence.
                    if first == '"' && inner.contains('\\') {
                        return None;
                    }
                    out.push_str(&if first == '`' { format!("$({inner})") } else { inner.to_owned() });
                    inner.len() + 2
                }
                _ => {
                    let is_letter = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
                    let end = rest.find(|c| !is_letter(c)).unwrap_or(rest.len());
                    let (name, after) = rest.split_at(end);
                    // The quote of an `x'$Y'` is not that of a plain text.
                    if name.is_empty() || after.starts_with(['\'', '"']) {
                        return None;
                    }
                    if let Some(arguments) = after.strip_prefix('(') {
                        let (inner, _) = arguments.split_once(')')?;
                        out.push_str(&self.call(name, inner)?);
                        end + inner.len() + 2
                    } else {
                        out.push_str(&match (parameters.get(name), self.values.get(name)) {
                            (Some(value), _) => value.clone(),
                            (None, Some(value)) => self.value(value, &Bound::new(), depth + 1)?,
                            (None, None) => shell_name(name).then(|| format!("${{{name}}}"))?,
                        });
                        end
                    }
                }
            };
            self.work.spend(out.len())?;
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
    fn expanded(&self, line: &str, parameters: &Bound) -> Option<String> {
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

    fn recipe(&self, rule: &Rule, parameters: &Bound) -> Option<Recipe> {
        let indent = rule.lines.first().map_or(0, |line| line.len() - line.trim_start().len());
        let mut lines: Vec<String> = Vec::new();
        let mut is_open = false;
        let is_script = rule.lines.first().is_some_and(|line| line.trim_start().starts_with("#!"));
        for line in &rule.lines {
            let line = self.expanded(line.get(indent..).unwrap_or(line.trim_start()), parameters)?;
            match lines.last_mut() {
                Some(last) if is_script => *last = format!("{last}\n{line}"),
                Some(last) if is_open => *last = format!("{last}\n{}", line.trim_start()),
                _ => lines.push(without_prefix(&line)),
            }
            is_open = line.ends_with('\\');
        }
        let head = Some(rule.head.clone());
        let directory = self.directory_of(rule).cloned();
        Some(Recipe { file: rule.file, name: rule.name.clone(), head, lines, directory })
    }

    fn directory_of<'a>(&'a self, rule: &'a Rule) -> Option<&'a String> {
        rule.directory.as_ref().or(self.directory.as_ref())
    }
}

impl RecipeBook for Justfile {
    fn includes(&self) -> Vec<(usize, Include)> {
        self.includes.clone()
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
        let first = self.rules.iter().find(|rule| rule.file == 0).map(|rule| rule.name.as_str());
        let first = if name.is_empty() { first.unwrap_or_default() } else { name };
        let mut queue = vec![(first.to_owned(), self.arguments.clone())];
        let mut found: Vec<Recipe> = Vec::new();
        for (file, text) in &self.always {
            let lines = vec![self.expanded(text, &Bound::new())?];
            found.push(Recipe { file: *file, name: "`".to_owned(), lines, ..Recipe::default() });
        }
        let mut seen = BTreeSet::new();
        while let Some((name, arguments)) = queue.pop() {
            if !seen.insert((name.clone(), arguments.clone())) {
                continue;
            }
            self.work.spend(self.rules.len())?;
            queue.extend(self.aliases.get(&name).map(|alias| (alias.clone(), arguments.clone())));
            if self.has_modules && name.contains("::") {
                return None;
            }
            for rule in self.rules.iter().filter(|rule| rule.name == name) {
                let bound = self.bound(rule, &arguments)?;
                for (need, expressions) in &rule.needs {
                    let values = expressions.iter().map(|text| self.value(text, &bound, 0));
                    queue.push((need.clone(), values.map(|value| value.map(Some)).collect::<Option<_>>()?));
                }
                found.push(self.recipe(rule, &bound)?);
            }
        }
        Some(found)
    }

    fn is_exhausted(&self) -> bool {
        self.work.is_exhausted()
    }

    fn all_lines(&self, file: usize) -> Vec<String> {
        let shown = |line: &str, bound: &Bound| {
            let line =
                self.expanded(line, bound).unwrap_or_else(|| line.replace("{{", "${").replace("}}", "}"));
            without_prefix(&line)
        };
        let lines = self.lines.iter().chain(&self.always).filter(|(number, _)| *number == file);
        let mut lines: Vec<String> = lines.map(|(_, line)| shown(line, &Bound::new())).collect();
        for rule in self.rules.iter().filter(|rule| rule.file == file) {
            let bound = self.bound(rule, &self.arguments).unwrap_or_default();
            let directory = self.directory_of(rule).map(|path| format!("cd {path}\n")).unwrap_or_default();
            lines.push(shown(&rule.head, &bound));
            let body = rule.lines.iter().map(|line| format!("{directory}{}", shown(line.trim(), &bound)));
            lines.extend(body);
        }
        lines
    }
}

/// Returns the parts of a text around the first such character outside of quotes and brackets.
fn split_once_outside(text: &str, end: char) -> Option<(&str, &str)> {
    match split_outside(text, |c| c == end, 2).as_slice() {
        [before, after] => Some((before, after.trim())),
        _ => None,
    }
}

fn words_of(text: &str) -> Vec<&str> {
    let words = split_outside(text, |c| matches!(c, ' ' | '\t'), usize::MAX);
    words.into_iter().filter(|word| !word.is_empty()).collect()
}

/// Returns the recipes that another one needs, with the expressions of their arguments.
fn needs_of(text: &str) -> Option<Vec<(String, Vec<String>)>> {
    let text = split_once_outside(text, '#').map_or(text, |(text, _)| text);
    let words = words_of(text).into_iter().filter(|word| *word != "&&");
    let mut found = Vec::new();
    for word in words {
        match word.strip_prefix('(') {
            Some(inner) => {
                let (name, rest) = {
                    let words = words_of(inner.strip_suffix(')')?);
                    let (name, rest) = words.split_first()?;
                    ((*name).to_owned(), rest.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>())
                };
                // An expression of several words.
                if rest.iter().any(|word| word.starts_with(['+', '/']) || word.ends_with(['+', '/'])) {
                    return None;
                }
                found.push((name, rest));
            }
            None => found.push((word.to_owned(), Vec::new())),
        }
    }
    Some(found)
}

/// Returns the text of a string literal at the start, and `true` if it can contain variables. After it, only a comment may
/// follow.
fn literal(text: &str) -> Option<(&str, bool)> {
    let text = text.trim();
    let (text, is_expanded) = text.strip_prefix('x').map_or((text, false), |rest| (rest, true));
    let quote = text.chars().next().filter(|quote| matches!(quote, '\'' | '"'))?;
    let (inner, after) = text.get(1..)?.split_once(quote)?;
    let after = after.trim();
    let is_whole = after.is_empty() || after.starts_with('#');
    let has_escape = quote == '"' && inner.contains('\\');
    (is_whole && !inner.is_empty() && !has_escape).then_some((inner, is_expanded))
}

/// Returns the text of a string literal without variables.
fn plain(text: &str) -> Option<&str> {
    literal(text).and_then(|(text, is_expanded)| (!is_expanded).then_some(text))
}

fn unquoted(text: &str) -> &str {
    text.trim_matches(['"', '\''])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn recipes(text: &str, name: &str) -> Option<String> {
        let file = RecipeFile::of_text("/p/justfile", text);
        let lines = Justfile::read(&[file], "/p", &CallValues::default())
            .recipes(name)?
            .into_iter()
            .flat_map(|recipe| recipe.lines);
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
            ("lint: (r 'a' y) # why/not\ny := 'b'\nr x z='c':\n  sh {{x}}{{z}}\n", "sh ab"),
            ("lint x=`sh v.sh`:\n  true\n", "sh v.sh; true"),
            ("export BASH_ENV := 'x.sh'\nlint:\n  true\n", "export BASH_ENV=x.sh; true"),
            ("[private, env('BASH_ENV', 'x.sh')]\nlint:\n  true\n", "export BASH_ENV=x.sh; true"),
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
            "[private, no-such]\nlint:\n  true\n",
            "set working-directory := x'$Y'\nlint:\n  true\n",
            "mod lint\n",
            "lint: (run 'a' + 'b')\n",
            "import \"m\\u{6f}re.just\"\nlint:\n  true\n",
            "x := shell('sh x.sh')\nlint:\n  true\n",
        ] {
            assert_eq!(recipes(text, "lint"), None, "{text}");
        }
    }
}
