//! The rules of a Makefile, with the values of variables as make would insert them.
#![expect(clippy::arithmetic_side_effects, reason = "offsets into a text in memory cannot overflow")]

use std::collections::{BTreeMap, BTreeSet};

use plugward_commands::loads_code;

use super::{ENVIRONMENT, Include, Recipe, RecipeBook, RecipeFile, shell_name};

/// The most nested variables, and bytes of one expansion.
const DEPTH: usize = 20;
const EXPANDED: usize = 1 << 20;
/// The most targets of one command.
const TARGETS: usize = 2_000;
const CONDITIONS: [&str; 6] = ["ifeq", "ifneq", "ifdef", "ifndef", "else", "endif"];
/// Texts with which a Makefile makes rules, or reads and writes other files, while it is read.
const DYNAMIC: [&str; 10] = [
    "$(eval",
    "${eval",
    "$(guile",
    "${guile",
    "$(file",
    "${file",
    "\nload ",
    "\n-load ",
    ".RECIPEPREFIX",
    ".SECONDEXPANSION",
];

/// What the files of one call of make say.
#[derive(Debug, Default)]
pub(super) struct Makefile {
    values: Variables,
    rules: Vec<Rule>,
    /// Texts for a shell that run whatever the target is.
    always: Vec<(usize, String)>,
    includes: Vec<String>,
    /// The names of the files, which make tries to remake.
    files: Vec<String>,
    /// All lines, for a file that is not understood.
    lines: Vec<(usize, String)>,
    /// `true` if not all rules are known.
    is_open: bool,
    /// `true` if one shell runs all lines of a recipe.
    has_one_shell: bool,
}

/// The values of variables as the files assign them.
#[derive(Debug, Default)]
struct Variables {
    /// Several values depend on conditions.
    values: BTreeMap<String, BTreeSet<String>>,
    /// Those with a definition of several lines.
    open: BTreeSet<String>,
    start: String,
}

#[derive(Debug)]
struct Rule {
    number: usize,
    file: usize,
    head: String,
    /// The targets, or `None` if they are not known.
    names: Option<Vec<String>>,
    needs: String,
    lines: Vec<String>,
}

impl Makefile {
    /// Reads the files in their order. `given` are variables from outside.
    pub(super) fn read(files: &[RecipeFile], start: &str, given: &[(&str, String)]) -> Self {
        let mut made = Self::default();
        start.clone_into(&mut made.values.start);
        for (name, value) in given {
            made.values.values.insert((*name).to_owned(), BTreeSet::from([value.clone()]));
        }
        if let [only] = files {
            made.values.values.insert("MAKEFILE_LIST".to_owned(), BTreeSet::from([only.path.clone()]));
        }
        for (number, file) in files.iter().enumerate() {
            made.files.extend(file.path.rsplit('/').next().map(str::to_owned));
            let text = file.text();
            made.is_open |= DYNAMIC.iter().any(|part| text.contains(part));
            made.has_one_shell |= text.contains("\n.ONESHELL");
            made.file(number, &text);
        }
        for at in 0..made.rules.len() {
            let names = made.rules.get(at).and_then(|rule| made.values.words(&rule.head, &[]));
            if let Some(rule) = made.rules.get_mut(at) {
                rule.names = names;
            }
        }
        made
    }

    fn file(&mut self, number: usize, text: &str) {
        let mut rule: Option<usize> = None;
        let mut defined: Option<usize> = None;
        for line in logical_lines(text) {
            let known = line.trim_start();
            let first = known.split_ascii_whitespace().next().unwrap_or_default();
            if let Some(depth) = &mut defined {
                *depth = match first {
                    "define" => *depth + 1,
                    "endef" => depth.saturating_sub(1),
                    _ => *depth,
                };
                self.lines.push((number, line.clone()));
                if *depth == 0 {
                    defined = None;
                }
                continue;
            }
            if let Some(inner) = line.strip_prefix('\t')
                && let Some(open) = rule.and_then(|at| self.rules.get_mut(at))
            {
                open.lines.push(inner.to_owned());
                self.lines.push((number, inner.to_owned()));
                continue;
            }
            let line = without_comment(known);
            if line.is_empty() {
                continue;
            }
            self.always.extend(shell_calls(line).into_iter().map(|call| (number, call)));
            if CONDITIONS.contains(&first) || first.starts_with("ifeq(") || first.starts_with("ifneq(") {
                self.lines.push((number, format!("# {line}")));
                continue;
            }
            if line.split_ascii_whitespace().take(3).any(|word| word == "define") {
                let name = line.split_once("define").map_or("", |(_, rest)| rest.trim());
                self.values.open.extend(name.split_ascii_whitespace().next().map(str::to_owned));
                self.lines.push((number, format!("# {line}")));
                (rule, defined) = (None, Some(1));
                continue;
            }
            rule = self.statement(number, line, first);
        }
    }

    /// Reads a line that is not a condition, and returns the rule that it opens.
    fn statement(&mut self, file: usize, line: &str, first: &str) -> Option<usize> {
        self.lines.push((file, line.to_owned()));
        match first {
            "include" | "-include" | "sinclude" => {
                self.includes.push(line.strip_prefix(first).unwrap_or_default().trim().to_owned());
                return None;
            }
            "undefine" | "unexport" | "vpath" => return None,
            _ => {}
        }
        if self.assigned(file, line) {
            return None;
        }
        let Some((names, rest)) = rule_parts(line) else {
            let is_message =
                ["$(info", "$(warning", "$(error", "export"].iter().any(|start| line.starts_with(start));
            self.is_open |= !is_message;
            return None;
        };
        let (needs, command) = rest.split_once(';').unwrap_or((rest, ""));
        // A value for one target.
        if self.assigned(file, needs.trim()) {
            return None;
        }
        let lines =
            Some(command.trim()).filter(|line| !line.is_empty()).map(str::to_owned).into_iter().collect();
        let (number, head) = (self.rules.len(), names.trim().to_owned());
        let rule = Rule { number, file, head, names: None, needs: needs.to_owned(), lines };
        self.rules.push(rule);
        Some(number)
    }

    /// Reads an assignment; returns `false` if the line is none.
    fn assigned(&mut self, number: usize, line: &str) -> bool {
        let Some((name, operator, value)) = assignment(line) else { return false };
        let value = if operator == "!" { format!("$(shell {value})") } else { value.to_owned() };
        if operator == "!" {
            self.always.extend(shell_calls(&value).into_iter().map(|call| (number, call)));
        }
        match name {
            "SHELL" | ".SHELLFLAGS" => self.always.push((number, value.clone())),
            "MAKEFLAGS" | "GNUMAKEFLAGS" => self.is_open |= value.split_ascii_whitespace().any(names_file),
            _ => self.is_open |= name.contains('$') || name == "PATH" || loads_code(name),
        }
        // A key in a file of variables is not a command, and not part of the list.
        let is_key = !value.contains([' ', '/']) || value.contains("://");
        if is_key && self.files.get(number).is_some_and(|name| name.starts_with(ENVIRONMENT)) {
            return true;
        }
        let values = self.values.values.entry(name.to_owned()).or_default();
        match operator {
            "+" if !values.is_empty() => {
                *values = values.iter().map(|before| format!("{before} {value}")).collect();
            }
            _ => drop(values.insert(value)),
        }
        true
    }

    /// Returns the targets of a command without one.
    fn goal(&self) -> Option<Vec<String>> {
        if self.values.values.contains_key(".DEFAULT_GOAL") {
            return self.values.words("$(.DEFAULT_GOAL)", &[]);
        }
        let is_goal = |name: &String| !name.contains('%') && (!name.starts_with('.') || name.contains('/'));
        for rule in &self.rules {
            let names = rule.names.as_ref()?;
            if names.iter().any(is_goal) {
                return Some(names.iter().take(1).cloned().collect());
            }
        }
        Some(Vec::new())
    }

    /// Returns the rules that can make a target. Those for patterns count without another one.
    /// `chain` has the rules that led to the target, since make uses each pattern once in a chain.
    fn rules_of(&self, target: &str, chain: &[usize]) -> Vec<&Rule> {
        let names = |rule: &&Rule, is: &dyn Fn(&str) -> bool| {
            rule.names.as_ref().is_none_or(|names| names.iter().any(|name| is(name)))
        };
        let mut found: Vec<&Rule> =
            self.rules.iter().filter(|rule| names(rule, &|name| name == target)).collect();
        let is_made = |rule: &&Rule| rule.names.is_some() && !rule.lines.is_empty();
        if !found.iter().any(is_made) {
            let fits = |name: &str| name == ".DEFAULT" || stem(name, target).is_some();
            let implied = self.rules.iter().filter(|rule| rule.names.is_some() && names(rule, &fits));
            found.extend(implied.filter(|rule| !chain.contains(&rule.number)));
        }
        found
    }

    /// Returns a rule as a recipe for one target, and the targets that it needs.
    fn recipe(&self, rule: &Rule, target: &str) -> Option<(Recipe, Vec<String>)> {
        let names = rule.names.as_deref().unwrap_or_default();
        let part = names.iter().find_map(|name| stem(name, target)).unwrap_or_default();
        let needs = rule.needs.trim_start_matches([':', '&']).replace('|', " ");
        let needs: Vec<String> =
            self.values.words(&needs, &[])?.into_iter().map(|need| need.replacen('%', part, 1)).collect();
        let all = needs.join(" ");
        let automatic = [
            ("@", target),
            ("<", needs.first().map_or("", String::as_str)),
            ("^", &all),
            ("+", &all),
            ("?", &all),
            ("*", part),
        ];
        let lines: Option<Vec<String>> =
            rule.lines.iter().map(|line| self.values.expanded(line, &automatic, 0)).collect();
        let name = if names.is_empty() { rule.head.clone() } else { names.join(" ") };
        let head = Some(format!("{name}: {all}"));
        let mut recipe = Recipe { file: rule.file, name, head, ..Recipe::default() };
        recipe.lines = lines?.iter().map(|line| super::without_prefix(line)).collect();
        if self.has_one_shell {
            recipe.lines = vec![recipe.lines.join("\n")];
        }
        Some((recipe, needs))
    }
}

impl RecipeBook for Makefile {
    fn includes(&self) -> Vec<(usize, Include)> {
        let mut found = Vec::new();
        for line in &self.includes {
            match self
                .values
                .words(&line.replace("$(wildcard ", "$(strip ").replace("${wildcard ", "${strip "), &[])
            {
                Some(names) => found.extend(names.into_iter().map(|name| {
                    let is_open = name.contains(['$', '`']);
                    (0, if is_open { Include::Open(line.clone()) } else { Include::File(name) })
                })),
                None => found.push((0, Include::Open(line.clone()))),
            }
        }
        found
    }

    fn recipes(&self, name: &str) -> Option<Vec<Recipe>> {
        if self.is_open {
            return None;
        }
        let goals = if name.is_empty() { self.goal()? } else { vec![name.to_owned()] };
        // Make remakes its own files first.
        let goals = goals.into_iter().chain(self.files.iter().cloned());
        let mut queue: Vec<(String, Vec<usize>)> = goals.map(|name| (name, Vec::new())).collect();
        let mut seen = BTreeSet::new();
        let mut found: Vec<Recipe> = Vec::new();
        for (file, call) in &self.always {
            let lines = vec![self.values.expanded(call, &[], 0)?];
            found.push(Recipe { file: *file, name: "$(shell)".to_owned(), lines, ..Recipe::default() });
        }
        while let Some((target, chain)) = queue.pop() {
            if !seen.insert(target.clone()) {
                continue;
            }
            if seen.len() > TARGETS {
                return None;
            }
            for rule in self.rules_of(&target, &chain) {
                let (recipe, needs) = self.recipe(rule, &target)?;
                let chain: Vec<usize> = chain.iter().copied().chain([rule.number]).collect();
                queue.extend(needs.into_iter().map(|need| (need, chain.clone())));
                found.push(recipe);
            }
        }
        Some(found)
    }

    fn all_lines(&self, file: usize) -> Vec<String> {
        let mut lines = Vec::new();
        for (_, line) in self.lines.iter().chain(&self.always).filter(|(number, _)| *number == file) {
            let line = match assignment(line) {
                Some((name, _, value)) if shell_name(name) => {
                    lines.push(self.values.shown(value));
                    format!("export {name}={value}")
                }
                _ => line.clone(),
            };
            lines.push(super::without_prefix(&self.values.shown(&line)));
            // The arguments of a function can be commands.
            if self.values.expanded(&line, &[], 0).is_none() {
                let parts = line.split([',', '(', ')', '{', '}']).filter(|part| part.contains([' ', '/']));
                lines.extend(parts.map(super::without_prefix));
            }
        }
        lines
    }
}

impl Variables {
    /// Returns the words of a text, or `None` if they are not known.
    fn words(&self, text: &str, automatic: &[(&str, &str)]) -> Option<Vec<String>> {
        let text = self.expanded(text, automatic, 0)?;
        let is_known = !text.contains("$(");
        is_known.then(|| text.split_ascii_whitespace().map(str::to_owned).collect())
    }

    /// Returns a text as make gives it to the shell, or `None` if it depends on more than the files. Variables without a
    /// value become those of the shell.
    fn expanded(&self, text: &str, automatic: &[(&str, &str)], depth: usize) -> Option<String> {
        if depth > DEPTH {
            return None;
        }
        let mut out = String::new();
        let mut rest = text;
        while let Some((before, after)) = rest.split_once('$') {
            out.push_str(before);
            let first = after.chars().next();
            let Some(first) = first else {
                out.push('$');
                return Some(out);
            };
            let (inner, tail) = match first {
                '$' => {
                    out.push('$');
                    rest = after.get(1..).unwrap_or_default();
                    continue;
                }
                '(' | '{' => bracketed(after)?,
                _ => after.split_at(first.len_utf8()),
            };
            out.push_str(&self.reference(inner, automatic, depth)?);
            if out.len() > EXPANDED {
                return None;
            }
            rest = tail;
        }
        out.push_str(rest);
        Some(out)
    }

    /// Returns the value of what is between brackets, or of a single letter.
    fn reference(&self, inner: &str, automatic: &[(&str, &str)], depth: usize) -> Option<String> {
        if let Some((_, value)) = automatic.iter().find(|(name, _)| *name == inner) {
            return Some((*value).to_owned());
        }
        if let Some((function, arguments)) = inner.split_once([' ', '\t']) {
            return self.call(function, &self.expanded(arguments.trim(), automatic, depth + 1)?);
        }
        let name =
            if inner.contains('$') { self.expanded(inner, automatic, depth + 1)? } else { inner.to_owned() };
        if self.open.contains(&name) {
            return None;
        }
        match self.values.get(&name) {
            Some(values) => match values.iter().collect::<Vec<_>>().as_slice() {
                [only] => self.expanded(only, automatic, depth + 1),
                _ => None,
            },
            None => shell_name(&name).then(|| format!("${{{name}}}")),
        }
    }

    /// Returns the result of a function that depends on its arguments alone. The shell runs `$(shell …)` here.
    fn call(&self, function: &str, arguments: &str) -> Option<String> {
        let words: Vec<&str> = arguments.split_ascii_whitespace().collect();
        let each =
            |of: &dyn Fn(&str) -> String| words.iter().map(|word| of(word)).collect::<Vec<_>>().join(" ");
        Some(match function {
            "shell" => format!("$({arguments})"),
            "strip" => words.join(" "),
            "info" | "warning" | "error" => String::new(),
            "firstword" => words.first().copied().unwrap_or_default().to_owned(),
            "lastword" => words.last().copied().unwrap_or_default().to_owned(),
            "dir" => each(&|word| {
                word.rsplit_once('/').map_or_else(|| "./".to_owned(), |(at, _)| format!("{at}/"))
            }),
            "abspath" | "realpath" if !arguments.contains('$') => {
                each(&|word| super::normalized(&super::joined(&self.start, word)))
            }
            _ => return None,
        })
    }

    /// Returns a text with what is known of it, for a person and the scan.
    fn shown(&self, text: &str) -> String {
        self.expanded(text, &[], 0).unwrap_or_else(|| text.replace("$$", "$").replace("$(shell ", "$("))
    }
}

/// Returns the lines, with those that a backslash continues. The lines of a recipe keep their ends for the shell.
fn logical_lines(text: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    let mut is_open = false;
    for line in text.lines() {
        match found.last_mut().filter(|_| is_open) {
            Some(last) if last.starts_with('\t') => {
                last.push('\n');
                last.push_str(line.strip_prefix('\t').unwrap_or(line));
            }
            Some(last) => {
                last.pop();
                last.push_str(line.trim_start());
            }
            None => found.push(line.to_owned()),
        }
        let slashes = line.bytes().rev().take_while(|byte| *byte == b'\\').count();
        is_open = slashes % 2 == 1;
    }
    found
}

/// Returns the text in brackets at the start, and the text after them.
fn bracketed(text: &str) -> Option<(&str, &str)> {
    let open = text.chars().next()?;
    let close = if open == '(' { ')' } else { '}' };
    let mut depth = 0_usize;
    for (at, c) in text.char_indices() {
        if c == open {
            depth += 1;
        } else if c == close {
            depth -= 1;
        }
        if depth == 0 {
            return Some((text.get(1..at)?, text.get(at + 1..)?));
        }
    }
    None
}

/// Returns the texts that make gives to a shell while it reads a line.
fn shell_calls(line: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut rest = line;
    while let Some((_, after)) = rest.split_once('$') {
        let inner = bracketed(after).map(|(inner, _)| inner);
        let call = inner.and_then(|inner| inner.strip_prefix("shell"));
        found.extend(call.filter(|text| text.starts_with([' ', '\t'])).map(|text| text.trim().to_owned()));
        rest = after;
    }
    found
}

/// Returns the name, operator and value of an assignment. The operator is `=`, or the character before it.
fn assignment(line: &str) -> Option<(&str, &str, &str)> {
    let mut line = line;
    for word in ["export", "override", "private"] {
        line = line
            .strip_prefix(word)
            .filter(|rest| rest.starts_with([' ', '\t']))
            .map_or(line, str::trim_start);
    }
    let (name, value) = line.split_once('=')?;
    let operator = match name.as_bytes().last() {
        Some(b'!') => "!",
        Some(b'+') => "+",
        Some(b'?') => "?",
        Some(b':') => ":",
        _ => "=",
    };
    let name = name.trim_end_matches(['!', '+', '?', ':']).trim();
    let is_name = !name.is_empty() && !name.contains([' ', '\t', ':', '#']) && !name.starts_with('-');
    is_name.then(|| (name, operator, value.trim()))
}

/// Returns `true` for an option of make that names a file or adds text.
fn names_file(option: &str) -> bool {
    option.contains("eval") || option.contains("file") || !option.starts_with("--") && option.contains('f')
}

/// Returns the targets of a rule, and what is after the colon.
fn rule_parts(line: &str) -> Option<(&str, &str)> {
    let mut depth = 0_usize;
    for (at, c) in line.char_indices() {
        match c {
            '(' | '{' => depth += 1,
            ')' | '}' => depth = depth.saturating_sub(1),
            ':' if depth == 0 => return Some((line.get(..at)?, line.get(at + 1..)?)),
            _ => {}
        }
    }
    None
}

/// Returns the part of a target for which the `%` of a pattern, or the name of a suffix rule, stands.
fn stem<'t>(name: &str, target: &'t str) -> Option<&'t str> {
    if let Some((before, after)) = name.split_once('%') {
        return target.strip_prefix(before)?.strip_suffix(after);
    }
    let mut suffixes = name.strip_prefix('.')?.split('.');
    let (first, second) = (suffixes.next()?, suffixes.next());
    let is_suffix = |name: &str| !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_lowercase());
    match second {
        Some(second) if is_suffix(first) => target.strip_suffix(second)?.strip_suffix('.'),
        _ => None,
    }
}

/// Returns a line without its comment, which the shell of a recipe reads itself.
fn without_comment(line: &str) -> &str {
    let is_comment = |at: usize| line.as_bytes().get(at.wrapping_sub(1)) != Some(&b'\\');
    let end = line.match_indices('#').map(|(at, _)| at).find(|at| is_comment(*at));
    line.get(..end.unwrap_or(line.len())).unwrap_or_default().trim()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn recipes(text: &str, name: &str) -> Option<String> {
        let file = RecipeFile::of_text("/p/Makefile", text);
        let made = Makefile::read(&[file], "/p", &[("MAKE", "make".to_owned()), ("CURDIR", "/p".to_owned())]);
        let lines = made.recipes(name)?.into_iter().flat_map(|recipe| recipe.lines);
        Some(lines.collect::<Vec<_>>().join("; "))
    }

    #[test]
    fn a_target_has_its_lines_and_those_of_what_it_needs() {
        let text = "X := 1\n.PHONY: all\nall: lint\n\t@echo $(X) $$HOME\n\n# Lints.\nlint fast: pre ; sh own.sh\n\t-@sh x.sh\npre:\n\ttrue\n";
        assert_eq!(recipes(text, "lint").unwrap(), "sh own.sh; sh x.sh; true");
        assert_eq!(recipes(text, "").unwrap(), "echo 1 $HOME; sh own.sh; sh x.sh; true");
        assert_eq!(recipes(text, "missing").unwrap(), "");
    }

    #[test]
    fn what_make_inserts_is_inserted() {
        for (text, expected) in [
            ("C = sh x.sh\nlint:\n\t${C} $C $(CURDIR)/a\n", "sh x.sh sh x.sh /p/a"),
            ("C = a\nC += b\nlint:\n\techo $(C)\n", "echo a b"),
            ("lint: a.sh b.sh\n\tsh $< $@ $^\n", "sh a.sh lint a.sh b.sh"),
            ("l%t: %.sh\n\tsh $< $*\n", "sh in.sh in"),
            ("%: %.sh\n\tsh $< $*\nMakefile: ;\n", "sh Makefile.sh Makefile; sh lint.sh lint"),
            ("lint:\n\tcd a && \\\n\t  sh b.sh\n", "cd a && \\\n  sh b.sh"),
            ("lint:\n\t$(MAKE) -C sub\n", "make -C sub"),
            ("lint:\n\techo $(shell date) $(ARGS)\n", "echo $(date) ${ARGS}"),
            ("V := $(shell sh v.sh)\nlint:\n\ttrue\n", "sh v.sh; true"),
            ("ifdef CI\nlint:\n\tsh a.sh\nelse\nlint:\n\tsh b.sh\nendif\n", "sh a.sh; sh b.sh"),
            ("D := $(dir $(abspath $(lastword $(MAKEFILE_LIST))))\nlint:\n\tsh $(D)x.sh\n", "sh /p/x.sh"),
            ("lint:\n\ttrue\nMakefile: ; sh r.sh\n", "sh r.sh; true"),
            ("define X\nsh x.sh\nendef\nlint:\n\ttrue\n", "true"),
        ] {
            assert_eq!(recipes(text, "lint").as_deref(), Some(expected), "{text}");
        }
    }

    #[test]
    fn what_is_not_understood_is_open() {
        for text in [
            "define X\nsh x.sh\nendef\nlint:\n\t$(X)\n",
            "lint: C = a\nlint test: C = b\nlint:\n\t$(C)\n",
            "lint:\n\t$(call f,x)\n",
            "lint: $(wildcard *.sh)\n\ttrue\n",
            "$(eval lint: ; sh x.sh)\n",
            "$(foreach x,a b,$(x))\n",
            "export BASH_ENV = ./x.sh\nlint:\n\ttrue\n",
            "A = $(A)\nlint:\n\t$(A)\n",
        ] {
            assert_eq!(recipes(text, "lint"), None, "{text}");
        }
    }
}
