//! The wrapper rule: which arguments of a program are a command of their own.
#![expect(clippy::arithmetic_side_effects, reason = "indices of words in memory cannot overflow")]

use crate::error::Budget;
use crate::syntax::{Command, CommandKind, Link, Piece, parse};
use crate::table::{
    Interpreter, Known, Loader, Wrapper, base_name, find, has, has_match, interpreter, loaders, role, table,
};
use crate::{CommandLimits, ProgramRole};
use plugward_types::Part;

/// The commands in the arguments of a program.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct InnerCommand {
    /// The kind of the program itself.
    pub role: ProgramRole,
    /// The commands, in the order of the words.
    pub parts: Vec<InnerPart>,
}

/// A command in the arguments of a program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum InnerPart {
    /// The words from `from` up to `to` are a program and its arguments.
    Words {
        /// The index of the program.
        from: usize,
        /// The index after the last argument.
        to: usize,
    },
    /// A text for a shell, in the word at the index from the byte `offset`.
    Text {
        /// The index of the word.
        word: usize,
        /// The first byte of the text in the word, as in `--exec=TEXT`.
        offset: usize,
    },
}

/// Finds the commands in the arguments of a program, of which the first word is the name.
///
/// A word is `None` if its value is not known. The own code and script of an interpreter are not parts.
///
/// # Examples
/// ```
/// use plugward_commands::{InnerPart, inner_command};
///
/// let words = ["xvfb-run", "-a", "bash", "-c", "id"].map(|word| Some(word.as_bytes()));
/// assert_eq!(inner_command(&words).parts, [InnerPart::Words { from: 2, to: 5 }]);
/// let words = ["git", "commit", "-m", "sh x"].map(|word| Some(word.as_bytes()));
/// assert_eq!(inner_command(&words).parts, []);
/// ```
#[must_use]
pub fn inner_command(words: &[Option<&[u8]>]) -> InnerCommand {
    let words: Vec<Option<&str>> =
        words.iter().map(|word| word.and_then(|bytes| core::str::from_utf8(bytes).ok())).collect();
    inner(&words)
}

pub(crate) type Words<'w> = [Option<&'w str>];

pub(crate) fn inner(words: &Words<'_>) -> InnerCommand {
    let name = text(words, 0);
    let base = base_name(name);
    let mut parts = match find(base) {
        _ if matches!(base, "find" | "gfind" | "fd" | "fdfind") => executed(words),
        _ if base == "git" => git(words),
        _ if base == "plugward" => plugward(words),
        Some(Known::Role(ProgramRole::Data)) => Vec::new(),
        _ if has_call(base, words) => Vec::new(),
        Some(Known::Wrapper(one)) => one.parts(words),
        Some(Known::Interpreter(_) | Known::Role(ProgramRole::Builtin)) => Vec::new(),
        _ => match exec_index(base, words) {
            Some(at) if at < words.len() => vec![InnerPart::Words { from: at, to: words.len() }],
            _ => by_form(words, 1),
        },
    };
    let own: Vec<usize> =
        loaders(base).flat_map(|one| option_values(words, &one.options())).map(|value| value.word).collect();
    parts.retain(|part| !matches!(part, InnerPart::Text { word, .. } if own.contains(word)));
    parts.extend(option_texts(words, base));
    let role = match base {
        "git" => ProgramRole::Data,
        "find" | "gfind" | "fd" | "fdfind" => ProgramRole::Wrapper,
        "plugward" if !parts.is_empty() => ProgramRole::Wrapper,
        _ => role(base),
    };
    InnerCommand { role, parts }
}

pub(crate) fn text<'w>(words: &Words<'w>, at: usize) -> &'w str {
    words.get(at).copied().flatten().unwrap_or_default()
}

/// Returns the index of the first word from `at` that is not an option.
pub(crate) fn operand(words: &Words<'_>, mut at: usize, values: &[String]) -> usize {
    while at < words.len() {
        let word = text(words, at);
        if word == "--" {
            return at + 1;
        }
        if !word.starts_with('-') || word == "-" {
            break;
        }
        at += if has(values, word) { 2 } else { 1 };
    }
    at.min(words.len())
}

/// Returns the index of the program that a package manager or container runtime starts in its environment.
pub(crate) fn exec_index(base: &str, words: &Words<'_>) -> Option<usize> {
    let options = &table().options;
    match base {
        "uv" => {
            let verb = operand(words, 1, &options.uv);
            (text(words, verb) == "run").then(|| operand(words, verb + 1, &options.uv))
        }
        "npm" | "pnpm" | "yarn" => {
            let verb = operand(words, 1, &options.node);
            let runs = text(words, verb) == "exec" || (base == "npm" && text(words, verb) == "x");
            (runs && !has_call(base, words)).then(|| operand(words, verb + 1, &options.node))
        }
        "docker" | "podman" | "nerdctl" => {
            let mut verb = operand(words, 1, &options.container_globals);
            if matches!(text(words, verb), "container" | "compose") {
                verb = operand(words, verb + 1, &options.container_globals);
            }
            let runs = matches!(text(words, verb), "run" | "create" | "exec");
            let image = operand(words, verb + 1, &options.container);
            // The words after an image are arguments of its own program, unless they are an interpreter.
            let next = image + 1;
            (runs && interpreter(base_name(text(words, next))).is_some()).then_some(next)
        }
        _ => None,
    }
}

/// Returns `true` for `npx -c TEXT` and `npm exec --call=TEXT`.
fn has_call(base: &str, words: &Words<'_>) -> bool {
    matches!(base, "npx" | "pnpx" | "npm") && !option_texts(words, base).is_empty()
}

/// Finds the commands after `-exec` of `find` and `--exec` of `fd`.
fn executed(words: &Words<'_>) -> Vec<InnerPart> {
    let starts = |word: &str| {
        matches!(word, "-exec" | "-execdir" | "-ok" | "-okdir" | "-x" | "-X" | "--exec" | "--exec-batch")
    };
    let mut parts = Vec::new();
    let mut at = 1;
    while at < words.len() {
        if starts(text(words, at)) {
            let from = at + 1;
            let end = words.iter().skip(from).position(|word| matches!(word, Some(";" | "+" | "\\;")));
            let to = end.map_or(words.len(), |end| from + end);
            if from < to {
                parts.push(InnerPart::Words { from, to });
            }
            at = to;
        }
        at += 1;
    }
    parts
}

/// The value of an option: a word from a byte.
pub(crate) struct OptionValue<'n> {
    pub(crate) name: &'n str,
    pub(crate) word: usize,
    pub(crate) offset: usize,
}

/// Finds the values of options: in the next word, after `=`, or after the letter of a short option.
pub(crate) fn option_values<'n>(words: &Words<'_>, names: &[&'n str]) -> Vec<OptionValue<'n>> {
    let mut values = Vec::new();
    let mut at = 0;
    while at < words.len() {
        let word = text(words, at);
        if word == "--" {
            break;
        }
        let find = |is: &dyn Fn(&str) -> bool| names.iter().copied().find(|name| is(name));
        let cluster = word.starts_with('-') && !word.starts_with("--") && word.len() > 2;
        let rest = |name: &str| word.strip_prefix(name).filter(|rest| !rest.is_empty());
        let ends = |name: &str| {
            name.len() == 2 && cluster && name.get(1..).is_some_and(|letter| word.ends_with(letter))
        };
        let inline = |name: &str| rest(name).is_some_and(|rest| rest.starts_with('='));
        if let Some(name) = find(&|name| word == name) {
            at += 1;
            values.push(OptionValue { name, word: at, offset: 0 });
        } else if let Some(name) = find(&inline) {
            values.push(OptionValue { name, word: at, offset: name.len() + 1 });
        } else if let Some(name) = find(&|name| !name.starts_with("--") && rest(name).is_some()) {
            values.push(OptionValue { name, word: at, offset: name.len() });
        } else if let Some(name) = find(&ends) {
            at += 1;
            values.push(OptionValue { name, word: at, offset: 0 });
        }
        at += 1;
    }
    values.retain(|value| value.word < words.len());
    values
}

/// Finds the texts for a shell in the options of a program or of a verb.
pub(crate) fn option_texts(words: &Words<'_>, name: &str) -> Vec<InnerPart> {
    let mut parts = Vec::new();
    for one in loaders(name) {
        for OptionValue { name, word, offset } in option_values(words, &one.options()) {
            let value = text(words, word).rest(offset);
            let command = match name {
                _ if has(&one.commands, name) => Some(value),
                _ if has(&one.scripts, name) => shell_command(value),
                _ if has(&one.settings, name) => one.set_command(value),
                _ => None,
            };
            let offset = command.map(|command| text(words, word).len() - command.len());
            parts.extend(offset.map(|offset| InnerPart::Text { word, offset }));
        }
    }
    parts
}

impl Loader {
    /// Returns the command in `KEY=COMMAND` or `KEY COMMAND`. The command of an alias of git follows `!`.
    fn set_command<'t>(&self, setting: &'t str) -> Option<&'t str> {
        let (key, value) = setting.split_once(['=', ' '])?;
        let key = key.to_ascii_lowercase();
        let is_other_alias = key.starts_with("alias.") && !value.starts_with('!');
        (has_match(&self.command_keys, &key) && !is_other_alias && value != "none")
            .then(|| value.trim_start_matches('!'))
    }
}

/// Returns the text for a shell in a command of an editor, debugger or database.
fn shell_command(command: &str) -> Option<&str> {
    let command = command.trim_start_matches([' ', ':', '.', '\\']);
    let rest = |verb| command.strip_prefix(verb);
    rest("!").or_else(|| rest("shell ")).or_else(|| rest("system ")).or_else(|| rest("platform shell "))
}

/// Finds the commands in options and verbs of git. Everything else is data, such as commit messages.
fn git(words: &Words<'_>) -> Vec<InnerPart> {
    let verb = operand(words, 1, &table().options.git);
    let rest = words.rest(verb);
    let from = verb + 1;
    let called = match text(words, verb) {
        "bisect" | "submodule" | "for-each-repo" => {
            let run = rest.iter().position(|word| matches!(word, Some("run" | "foreach")));
            let from = run.map_or(words.len(), |run| operand(words, from + run, &[]));
            return (from < words.len())
                .then(|| words_or_text(words, from, words.len()))
                .into_iter()
                .collect();
        }
        // The program of a clone over the network runs on the other machine.
        "clone" if is_remote(rest) => String::new(),
        name => format!("git {name}"),
    };
    let mut parts = option_texts(words, &called);
    let transports = (from..words.len()).filter(|at| text(words, *at).starts_with("ext::"));
    parts.extend(transports.map(|word| InnerPart::Text { word, offset: "ext::".len() }));
    parts
}

/// Finds the command of `plugward mcp run … -- COMMAND` and `plugward run -- COMMAND`. What follows `--` in other verbs
/// does not start, such as the arguments of a command plugin.
fn plugward(words: &Words<'_>) -> Vec<InnerPart> {
    if !matches!(words, [_, Some("run"), ..] | [_, Some("mcp"), Some("run"), ..]) {
        return Vec::new();
    }
    let from = words.iter().position(|word| *word == Some("--")).map(|at| at + 1);
    let from = from.filter(|from| *from < words.len());
    from.map(|from| InnerPart::Words { from, to: words.len() }).into_iter().collect()
}

/// Returns `true` if the repository of `clone` is on another machine.
fn is_remote(words: &Words<'_>) -> bool {
    let valued =
        ["-u", "--upload-pack", "-b", "--branch", "--depth", "-o", "--origin", "-c", "--config", "-j"];
    let repository = text(words, operand(words, 1, &valued.map(str::to_owned)));
    repository.contains(':') && !repository.starts_with(['/', '.']) && !repository.starts_with("file:")
}

/// Returns one word with blanks as a text, and anything else as words.
fn words_or_text(words: &Words<'_>, from: usize, to: usize) -> InnerPart {
    if has_blank(text(words, from)) {
        InnerPart::Text { word: from, offset: 0 }
    } else {
        InnerPart::Words { from, to }
    }
}

fn has_blank(word: &str) -> bool {
    word.trim().contains([' ', '\t', '\n', ';', '|', '&'])
}

impl Wrapper {
    /// Finds the command behind a known wrapper.
    fn parts(&self, words: &Words<'_>) -> Vec<InnerPart> {
        let mut at = 1;
        let mut operands = self.operands;
        let mut verb = self.verbs.is_empty();
        let texts = option_values(words, &self.text.iter().map(String::as_str).collect::<Vec<_>>());
        let mut parts = Vec::new();
        while at < words.len() {
            let word = text(words, at);
            if word == "--" {
                at += 1 + operands * usize::from(operands > 0 && self.text.is_empty());
                break;
            }
            if has(&self.asks, word) {
                return Vec::new();
            }
            if let Some(value) = texts.iter().find(|one| one.word - usize::from(one.offset == 0) == at) {
                at = value.word;
                let text = InnerPart::Text { word: at, offset: value.offset };
                // `nix develop -c sh x` has words, `su -c "sh x"` a text.
                let part = if value.offset > 0 { text } else { words_or_text(words, at, words.len()) };
                if matches!(part, InnerPart::Words { .. }) {
                    return vec![part];
                }
                parts.push(part);
            } else if word.len() > 1 && word.starts_with(['-', '+']) {
                let valued = has(&self.values, word) || has(&self.chdir, word) || self.ends_in_valued(word);
                at += if has(&self.pairs, word) { 2 } else { usize::from(valued) };
            } else if self.assigns && is_environment(word) {
            } else if !verb {
                if !has(&self.verbs, word) {
                    return by_form(words, 1);
                }
                verb = true;
            } else if operands > 0 {
                operands -= 1;
            } else {
                break;
            }
            at += 1;
        }
        if parts.is_empty() || self.every {
            self.program(words, at, &mut parts);
        }
        self.add_called(words, at, &mut parts);
        parts
    }

    /// Returns `true` for a cluster of letters of which only the last one takes a value, as in `env -iC DIR`.
    fn ends_in_valued(&self, word: &str) -> bool {
        let takes = |letter: char| {
            let option = format!("-{letter}");
            has(&self.values, &option) || has(&self.chdir, &option)
        };
        let letters = word.strip_prefix('-').filter(|letters| letters.chars().all(char::is_alphabetic));
        // The letters of other programs are often names.
        let letters = letters.filter(|letters| !self.chdir.is_empty() && letters.len() > 1);
        letters.is_some_and(|letters| letters.find(takes) == Some(letters.len() - 1))
    }

    /// Adds an interpreter that gets code, if it is among the words in front of the command that starts at the index: the
    /// option before it takes no value after all, or the words are tools, as in `mise exec node -- bash -c TEXT`.
    fn add_called(&self, words: &Words<'_>, at: usize, parts: &mut Vec<InnerPart>) {
        let is_called = |from: &usize| {
            interpreter(base_name(text(words, *from)))
                .is_some_and(|called| called.is_called(words, *from + 1))
        };
        let skipped = (1..at.min(words.len())).find(is_called);
        let dashes = words.iter().skip(at).position(|word| *word == Some("--")).map(|length| at + length);
        let tools = dashes.filter(|dashes| !self.verbs.is_empty() && !is_script(words.part(at..*dashes)));
        let from = skipped.or_else(|| tools.map(|dashes| dashes + 1).filter(is_called));
        parts.extend(from.map(|from| InnerPart::Words { from, to: words.len() }));
    }

    /// Adds the command that starts at the index.
    fn program(&self, words: &Words<'_>, at: usize, parts: &mut Vec<InnerPart>) {
        let to = (at..words.len()).find(|at| text(words, *at).starts_with(":::")).unwrap_or(words.len());
        if at >= words.len() {
            return;
        }
        if self.each || self.every && has_blank(text(words, at)) {
            let is_text = |at: &usize| match text(words, *at) {
                word if self.each => !word.starts_with('-') && !has(&self.values, text(words, *at - 1)),
                word => has_blank(word),
            };
            let all = (at..to).filter(is_text);
            parts.extend(all.map(|word| InnerPart::Text { word, offset: 0 }));
        } else if self.shell && at < to {
            parts.push(words_or_text(words, at, to));
        } else if at < to {
            parts.push(InnerPart::Words { from: at, to });
        }
        // `parallel ::: a b` runs its arguments.
        if self.appends {
            let runs = at == to && text(words, to) == ":::";
            let more = (to + 1..words.len()).filter(|at| runs || has_blank(text(words, *at)));
            parts.extend(more.map(|word| InnerPart::Text { word, offset: 0 }));
        }
    }
}

/// Returns `true` for an interpreter with code or a script.
fn is_script(words: &Words<'_>) -> bool {
    interpreter(base_name(text(words, 0))).is_some_and(|called| called.is_called(words, 1))
}

/// Returns the offset of the value in `--name=VALUE` and `--name=key=VALUE`.
fn value_offset(word: &str) -> usize {
    let mut offset = 0;
    while let Some((name, _)) = word.get(offset..).and_then(|rest| rest.split_once('=')) {
        let is_name = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
        if !is_name || !word.starts_with("--") {
            break;
        }
        offset += name.len() + 1;
    }
    offset
}

/// Returns `true` for `NAME=…` in the arguments of `env`, where the name can have any characters.
pub(crate) fn is_environment(word: &str) -> bool {
    word.split_once('=').is_some_and(|(name, _)| !name.is_empty() && !name.contains('/'))
}

/// Finds commands in the arguments of any program by their form.
fn by_form(words: &Words<'_>, from: usize) -> Vec<InnerPart> {
    let mut parts = Vec::new();
    let mut at = from;
    while at < words.len() {
        let word = text(words, at);
        let next = text(words, at + 1);
        let inline = word
            .split_once('=')
            .filter(|(name, _)| name.starts_with("--") && has(&table().code_options, name));
        if word == "--" && at + 1 < words.len() && !next.starts_with('-') {
            parts.push(words_or_text(words, at + 1, words.len()));
            return parts;
        }
        if let Some(called) = interpreter(base_name(word))
            && called.is_called(words, at + 1)
        {
            parts.push(InnerPart::Words { from: at, to: words.len() });
            return parts;
        }
        if let Some((name, value)) = inline {
            let offset = name.len() + 1 + make_rule(value);
            parts.push(InnerPart::Text { word: at, offset });
        } else if has(&table().code_options, word) && has_blank(next) {
            parts.push(InnerPart::Text { word: at + 1, offset: make_rule(next) });
            at += 1;
        } else if has(&table().code_options, word) && next.contains('/') {
            parts.push(InnerPart::Words { from: at + 1, to: words.len() });
            return parts;
        } else if let offset = value_offset(word)
            && word.get(offset..).is_some_and(is_pipeline)
        {
            parts.push(InnerPart::Text { word: at, offset });
        }
        at += 1;
    }
    parts
}

/// Returns the length of the target in `make --eval 'a:;COMMAND'`.
fn make_rule(text: &str) -> usize {
    let target =
        text.find(':').filter(|at| text.get(..*at).is_some_and(|name| !name.contains([' ', '/', '"', '\''])));
    target.and_then(|at| text.get(at + 1..)?.starts_with([';', '\n']).then_some(at + 2)).unwrap_or(0)
}

impl Interpreter {
    /// Returns `true` if the words after an interpreter's name call it with code or a script.
    fn is_called(&self, words: &Words<'_>, from: usize) -> bool {
        let mut at = from;
        while at < words.len() {
            let Some(word) = words.get(at).copied().flatten() else { return true };
            let name = word.split_once('=').map_or(word, |(name, _)| name);
            let option = if self.ignores_case { name.to_ascii_lowercase() } else { name.to_owned() };
            let is_option = word.starts_with('-') || (self.ignores_case && word.starts_with('/'));
            let runs = [&self.code, &self.modules, &self.files, &self.loads]
                .into_iter()
                .any(|list| has(list, &option));
            if runs || self.code_at(word).is_some() {
                return true;
            }
            if !is_option && !matches!(word, "run" | "eval") {
                let extension = word.rsplit_once('.').is_some_and(|(stem, end)| {
                    !stem.is_empty()
                        && (1..5).contains(&end.len())
                        && end.bytes().all(|byte| byte.is_ascii_alphabetic())
                });
                return word.contains('/') || extension;
            }
            if word == "eval" {
                return true;
            }
            at += if has(&self.values, word) { 2 } else { 1 };
        }
        false
    }

    /// Returns the offset of attached code, or the word's length, if a cluster of short options takes code.
    pub(crate) fn code_at(&self, word: &str) -> Option<usize> {
        let letters = word.strip_prefix('-').filter(|letters| !letters.starts_with('-'))?;
        let cut = self
            .values
            .iter()
            .chain(&self.loads)
            .chain(&self.search)
            .any(|value| value.len() == 2 && word.starts_with(value));
        let at = letters.find(|letter| self.letters.contains(letter)).filter(|_| !cut)?;
        let plain = letters.get(..at)?.bytes().all(|byte| byte.is_ascii_alphanumeric());
        // In `python -mcode`, the letter belongs to the value.
        let module = self.modules.iter().any(|option| word.starts_with(option.as_str()) && at > 0);
        (plain && !module).then_some(if self.attached { at + 2 } else { word.len() })
    }
}

/// Returns `true` for one word that is a complete command of which the last program is an interpreter.
fn is_pipeline(word: &str) -> bool {
    if !has_blank(word) {
        return false;
    }
    let mut budget = Budget::new(CommandLimits::STANDARD);
    let Ok(parsed) = parse(word, &mut budget) else { return false };
    let last = parsed.script.items.last().and_then(|item| Some((item, item.pipeline.last()?)));
    let Some((item, Command { kind: CommandKind::Simple { words, .. }, .. })) = last else { return false };
    if parsed.problem.is_some() {
        return false;
    }
    let literals: Vec<Option<String>> = words
        .iter()
        .map(|word| {
            word.pieces
                .iter()
                .map(|piece| match piece {
                    Piece::Text { text, .. } => Some(text.as_str()),
                    _ => None,
                })
                .collect()
        })
        .collect();
    let words: Vec<Option<&str>> = literals.iter().map(Option::as_deref).collect();
    let called = interpreter(base_name(text(&words, 0)));
    // `sort | python` is a command. `python is required` is a sentence.
    called.is_some_and(|called| {
        (item.pipeline.len() > 1 && item.link == Link::Then && words.len() < 4) || called.is_called(&words, 1)
    })
}
