//! The rules of a Makefile, with the values of variables as make would insert them.
#![expect(clippy::arithmetic_side_effects, reason = "offsets into a text in memory cannot overflow")]

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use plugward_commands::loads_code;

use super::{
    CallValues, ENVIRONMENT, Expansion, Include, Recipe, RecipeBook, RecipeFile, joined, shell_name,
    split_outside,
};

/// The most nested variables.
const DEPTH: usize = 20;
/// The most targets of one command.
const TARGETS: usize = 2_000;
/// Words in front of an assignment or a definition.
const MODIFIERS: [&str; 3] = ["export", "override", "private"];
/// In an include, the words of `wildcard` are patterns.
const PATTERNS: (&str, &str) = ("wildcard", "");
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
    /// The texts of includes, and `true` if their files can be missing.
    includes: Vec<(String, bool)>,
    /// The directories in which make looks for included files.
    include_directories: Vec<String>,
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
    /// Those with a definition of several lines, and others whose values are not known.
    open: BTreeSet<String>,
    /// Those that the command sets, which the files only change with `override`.
    fixed: BTreeSet<String>,
    start: String,
    work: Expansion,
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
    /// Reads the files in their order. `given` are variables that make sets, and `values` are those of the call.
    pub(super) fn read(
        files: &[RecipeFile],
        start: &str,
        given: &[(&str, String)],
        values: &CallValues,
    ) -> Self {
        let mut made = Self::default();
        start.clone_into(&mut made.values.start);
        for (name, value) in given {
            made.values.values.insert((*name).to_owned(), BTreeSet::from([value.clone()]));
        }
        if let [only] = files {
            made.values.values.insert("MAKEFILE_LIST".to_owned(), BTreeSet::from([only.path.clone()]));
        }
        made.called(values);
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

    /// Takes the variables of a call.
    fn called(&mut self, values: &CallValues) {
        for (name, value) in &values.environment {
            if let Some(value) = value {
                self.values.values.entry(name.clone()).or_default().insert(value.clone());
            } else {
                self.values.open.insert(name.clone());
            }
        }
        for (name, value) in &values.assignments {
            if name == ".INCLUDE_DIRS" {
                self.include_directories.push(joined(&self.values.start, value));
                continue;
            }
            self.values.values.remove(name);
            self.is_open |= !self.assigned(0, &format!("{name}={value}"));
            self.values.open.remove(name);
            self.values.fixed.insert(name.clone());
        }
    }

    fn file(&mut self, number: usize, text: &str) {
        let mut rule: Option<usize> = None;
        let mut defined: Option<usize> = None;
        // The conditions around the current line, and around the last statement. If one of these ends, it is not known
        // which rule has the next command.
        let (mut depth, mut rule_depth, mut is_unclear) = (0_usize, 0_usize, false);
        for line in logical_lines(text) {
            let known = line.trim_start();
            let first = known.split_ascii_whitespace().next().unwrap_or_default();
            if let Some(nested) = &mut defined {
                *nested = match first {
                    _ if line.starts_with('\t') => *nested,
                    "define" => *nested + 1,
                    "endef" => nested.saturating_sub(1),
                    _ => *nested,
                };
                // If the condition around a definition is false, its end is the end of that text.
                self.is_open |= is_condition(first);
                self.lines.push((number, line.clone()));
                defined = defined.filter(|nested| *nested > 0);
                continue;
            }
            if let Some(inner) = line.strip_prefix('\t')
                && let Some(open) = rule.and_then(|at| self.rules.get_mut(at))
            {
                open.lines.push(inner.to_owned());
                self.is_open |= is_unclear;
                self.lines.push((number, inner.to_owned()));
                continue;
            }
            let line = without_comment(known);
            if line.is_empty() {
                continue;
            }
            self.calls(number, line);
            if is_condition(first) {
                if matches!(first, "else" | "endif") {
                    is_unclear |= rule_depth >= depth;
                }
                match first {
                    "else" => {}
                    "endif" => depth = depth.saturating_sub(1),
                    _ => depth += 1,
                }
                self.lines.push((number, format!("# {line}")));
                continue;
            }
            (rule_depth, is_unclear) = (depth, false);
            if let Some(name) = defined_name(line) {
                self.values.open.insert(name.to_owned());
                self.lines.push((number, format!("# {line}")));
                (rule, defined) = (None, Some(1));
                continue;
            }
            rule = self.statement(number, line, first);
        }
        self.is_open |= defined.is_some();
    }

    /// Takes the texts that make gives to a shell while it reads a line.
    fn calls(&mut self, number: usize, line: &str) {
        let found = shell_calls(line, &self.values.work);
        self.is_open |= found.is_none();
        self.always.extend(found.unwrap_or_default().into_iter().map(|call| (number, call)));
    }

    /// Reads a line that is not a condition, and returns the rule that it opens.
    fn statement(&mut self, file: usize, line: &str, first: &str) -> Option<usize> {
        self.lines.push((file, line.to_owned()));
        match first {
            "include" | "-include" | "sinclude" => {
                let text = line.strip_prefix(first).unwrap_or_default().trim();
                self.includes.push((text.to_owned(), first != "include"));
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
        let lines: Vec<String> =
            Some(command.trim()).filter(|line| !line.is_empty()).map(str::to_owned).into_iter().collect();
        if lines.is_empty() && self.files.get(file).is_some_and(|name| name.strip_suffix(".d").is_some()) {
            // The compiler writes it again with each build, and it runs nothing.
            self.lines.pop();
        }
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
            self.calls(number, &value);
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
        if self.values.fixed.contains(name) && !line.contains("override") {
            return true;
        }
        let before = self.values.values.get(name).into_iter().flatten().map(String::len).sum();
        if operator == "+" && self.values.work.spend(before).is_none() {
            self.is_open = true;
            return true;
        }
        let values = self.values.values.entry(name.to_owned()).or_default();
        match operator {
            "+" if !values.is_empty() => {
                *values = values.iter().map(|before| format!("{before} {value}")).collect();
            }
            _ => {
                values.insert(value);
            }
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
        self.values.work.spend(target.len())?;
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
        for (text, is_optional) in &self.includes {
            let names = self.values.words(text, &[PATTERNS]);
            let names = names.filter(|names| !names.iter().any(|name| name.contains(['$', '`'])));
            let Some(names) = names else {
                let is_objects = *is_optional && is_of_objects(text);
                let any = || Include::File("**/*.d".to_owned());
                found.push((0, if is_objects { any() } else { Include::Open(text.clone()) }));
                continue;
            };
            for name in names {
                let elsewhere = self.include_directories.iter().map(|at| joined(at, &name));
                found.extend(elsewhere.map(|path| (0, Include::File(path))));
                found.push((0, Include::File(name)));
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
        let mut queue: Vec<(String, Rc<[usize]>)> = goals.map(|name| (name, Rc::default())).collect();
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
            self.values.work.spend(self.rules.len() / 8)?;
            for rule in self.rules_of(&target, &chain) {
                let (recipe, needs) = self.recipe(rule, &target)?;
                let chain: Rc<[usize]> = chain.iter().copied().chain([rule.number]).collect();
                queue.extend(needs.into_iter().map(|need| (need, Rc::clone(&chain))));
                found.extend(Some(recipe).filter(|recipe| !recipe.lines.is_empty()));
            }
        }
        Some(found)
    }

    fn is_exhausted(&self) -> bool {
        self.values.work.is_exhausted()
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
                let choices = self.values.work.of_each_choice(|| self.values.expanded(&line, &[], 0));
                lines.extend(choices.iter().map(|line| super::without_prefix(line)));
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
        self.work.spend(text.len())?;
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
            if function == PATTERNS.0 && automatic.contains(&PATTERNS) {
                return self.expanded(arguments.trim(), automatic, depth + 1);
            }
            return match self.words_call(function, arguments.trim(), automatic, depth + 1) {
                Some(found) => found,
                None => self.call(function, &self.expanded(arguments.trim(), automatic, depth + 1)?),
            };
        }
        if let Some((name, change)) = inner.split_once(':').filter(|_| !inner.contains('$')) {
            let (from, to) = change.split_once('=')?;
            let words = self.reference(name, automatic, depth + 1)?;
            // Without a `%`, it changes the end.
            let start = if from.contains('%') { "" } else { "%" };
            return changed_words(&format!("{start}{from}"), &format!("{start}{to}"), &words);
        }
        let name =
            if inner.contains('$') { self.expanded(inner, automatic, depth + 1)? } else { inner.to_owned() };
        if self.open.contains(&name) {
            return None;
        }
        match self.values.get(&name) {
            Some(values) => self.expanded(self.work.value(values)?, automatic, depth + 1),
            None => shell_name(&name).then(|| format!("${{{name}}}")),
        }
    }

    /// Returns the result of a function that changes words, `Some(None)` if it is not known, and `None` for others.
    #[expect(clippy::option_option, reason = "the outer one says whether it is such a function")]
    fn words_call(
        &self,
        function: &str,
        arguments: &str,
        automatic: &[(&str, &str)],
        depth: usize,
    ) -> Option<Option<String>> {
        let count = match function {
            "patsubst" => 3,
            "addprefix" | "addsuffix" => 2,
            "basename" | "notdir" | "sort" => 1,
            _ => return None,
        };
        // Make knows no quotes.
        let count = if arguments.contains(['\'', '"', '`']) { 0 } else { count };
        let parts = split_outside(arguments, |c| c == ',', count);
        let parts = parts.iter().map(|part| self.expanded(part, automatic, depth));
        let parts: Option<Vec<String>> = parts.collect();
        let each = |words: &str, of: &dyn Fn(&str) -> String| {
            // An unknown word can be several.
            let words = Some(words).filter(|words| !words.contains('$'))?.split_ascii_whitespace();
            Some(words.map(of).collect::<Vec<_>>().join(" "))
        };
        Some(match parts.as_deref() {
            Some([from, to, words]) if function == "patsubst" => changed_words(from.trim(), to.trim(), words),
            Some([part, words]) if function == "addprefix" => each(words, &|word| format!("{part}{word}")),
            Some([part, words]) if function == "addsuffix" => each(words, &|word| format!("{word}{part}")),
            Some([words]) if function == "sort" => each(words, &str::to_owned),
            Some([words]) if function == "notdir" => {
                each(words, &|word| word.rsplit('/').next().unwrap_or_default().to_owned())
            }
            Some([words]) if function == "basename" => each(words, &|word| {
                let end = word.rfind('.').filter(|at| !word.get(*at..).is_some_and(|end| end.contains('/')));
                word.get(..end.unwrap_or(word.len())).unwrap_or_default().to_owned()
            }),
            _ => None,
        })
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
                each(&|word| super::normalized(&joined(&self.start, word)))
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

/// Returns the texts that make gives to a shell while it reads a line, or `None` at the limit of work.
fn shell_calls(line: &str, work: &Expansion) -> Option<Vec<String>> {
    let mut found = Vec::new();
    let mut rest = line;
    while let Some((_, after)) = rest.split_once('$') {
        rest = after;
        if !after.strip_prefix(['(', '{']).is_some_and(|inner| inner.starts_with("shell")) {
            continue;
        }
        work.spend(after.len())?;
        let inner = bracketed(after).map(|(inner, _)| inner);
        let call = inner.and_then(|inner| inner.strip_prefix("shell"));
        found.extend(call.filter(|text| text.starts_with([' ', '\t'])).map(|text| text.trim().to_owned()));
    }
    Some(found)
}

/// Returns words with another text for a pattern.
fn changed_words(from: &str, to: &str, words: &str) -> Option<String> {
    let (before, after) = from.split_once('%').filter(|_| !words.contains('$'))?;
    let changed = |word: &str| {
        let part = word.strip_prefix(before).and_then(|rest| rest.strip_suffix(after));
        part.map_or_else(|| word.to_owned(), |part| to.replacen('%', part, 1))
    };
    Some(words.split_ascii_whitespace().map(changed).collect::<Vec<_>>().join(" "))
}

/// Returns `true` for the files in which a compiler lists what objects depend on: `$(OBJS:.o=.d)`.
fn is_of_objects(text: &str) -> bool {
    let inner = text.strip_prefix('$').and_then(bracketed).filter(|(_, after)| after.is_empty());
    let change = inner.and_then(|(inner, _)| inner.split_once(':')).map(|(_, change)| change);
    change.and_then(|change| change.split_once('=')).is_some_and(|(_, to)| to.strip_suffix(".d").is_some())
}

fn is_condition(first: &str) -> bool {
    CONDITIONS.contains(&first) || first.starts_with("ifeq(") || first.starts_with("ifneq(")
}

/// Returns a line without the modifiers of an assignment.
fn without_modifiers(mut line: &str) -> &str {
    let after =
        |line: &'_ str, word: &str| line.strip_prefix(word).is_some_and(|rest| rest.starts_with([' ', '\t']));
    while let Some(word) = MODIFIERS.iter().find(|word| after(line, word)) {
        line = line.get(word.len()..).unwrap_or_default().trim_start();
    }
    line
}

/// Returns the name of a definition of several lines.
fn defined_name(line: &str) -> Option<&str> {
    let rest = without_modifiers(line).strip_prefix("define")?;
    let name = rest.starts_with([' ', '\t']).then(|| rest.trim_start())?;
    // `define = x` is a variable with this name.
    let is_assignment = name.trim_start_matches([':', '+', '?', '!']).starts_with('=');
    name.split_ascii_whitespace().next().filter(|_| !is_assignment)
}

/// Returns the name, operator and value of an assignment. The operator is `=`, or the character before it.
fn assignment(line: &str) -> Option<(&str, &str, &str)> {
    let line = without_modifiers(line);
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
    option.contains("eval")
        || option.contains("file")
        || option.contains("-I")
        || !option.starts_with("--") && option.contains('f')
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
        let made = Makefile::read(
            &[file],
            "/p",
            &[("MAKE", "make".to_owned()), ("CURDIR", "/p".to_owned())],
            &CallValues::default(),
        );
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
