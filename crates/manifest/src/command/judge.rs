//! Judges commands: which programs they start, and how much of that a pin covers.
#![expect(clippy::arithmetic_side_effects, reason = "offsets into a slice in memory cannot overflow")]

use std::collections::BTreeSet;

use super::argument::{base_name, fetches, is_fetcher, plain_argument};
use super::context::{CommandAnalysis, CommandContext, CommandPart};
use super::programs::{BUILTINS, WRAPPERS};
use super::shell_lexer::{MAX_DEPTH, Piece, Word, split};
use super::simple_command::{Input, ParsedCommands, SimpleCommand, commands};
use super::{interpreter, package_runner};
use crate::surface::Coverage;

/// Judges a command text as a POSIX shell would run it.
///
/// The plugin's files are used if the context has them.
///
/// # Examples
/// ```
/// use plugward_manifest::{CommandContext, Coverage, Dialect, judge_command};
///
/// let context = CommandContext::new(Dialect::Claude);
/// let view = judge_command("python3 \"${CLAUDE_PLUGIN_ROOT}/x.py\" && curl $HOST", &context);
/// assert_eq!(view.parts().len(), 2);
/// assert_eq!(view.parts()[0].started(), Some("x.py"));
/// assert_eq!(view.reads_env(), ["HOST"]);
/// assert_eq!(view.coverage(), Coverage::InlineShell);
/// ```
#[must_use]
pub fn judge_command(text: &str, context: &CommandContext<'_>) -> CommandAnalysis {
    // The judge never fails: a text that it does not understand gets a worse label.
    let mut judge = Judge::new(context, text.len());
    let operators = judge.text(text, 0);
    let coverage = match (judge.parts.as_slice(), operators) {
        ([], _) => Coverage::InlineShell,
        ([one], false) => one.coverage,
        (parts, _) => {
            let worst = parts.iter().fold(Coverage::Covered, |worst, part| worst.worst(part.coverage));
            let on_path = parts.iter().any(|part| part.coverage == Coverage::PathBinary);
            // A text with several calls is itself part of what runs, so it is no better than inline shell.
            if on_path { worst.worst(Coverage::InlineShell) } else { worst }
        }
    };
    judge.finish(coverage)
}

/// Judges an argument list, which the host starts without a shell.
#[must_use]
pub fn judge_argv(argv: &[&str], context: &CommandContext<'_>) -> CommandAnalysis {
    let mut judge = Judge::new(context, argv.iter().map(|text| text.len()).sum());
    let words: Vec<Word> = argv.iter().map(|text| plain_argument(text)).collect();
    for word in &words {
        judge.note(word);
    }
    // Without a shell, quotes are not needed.
    judge.unquoted = false;
    judge.simple(&SimpleCommand { words, ..SimpleCommand::default() }, Upstream::Nothing, 0);
    let coverage = judge.parts.iter().fold(Coverage::Covered, |worst, part| worst.worst(part.coverage));
    let coverage = if judge.parts.is_empty() { Coverage::InlineShell } else { coverage };
    judge.finish(coverage)
}

pub(super) struct Judge<'j> {
    pub(super) context: &'j CommandContext<'j>,
    parts: Vec<CommandPart>,
    names: BTreeSet<String>,
    files: BTreeSet<String>,
    unquoted: bool,
    budget: usize,
}

/// The program that writes into the pipe from which a command reads.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Upstream {
    Nothing,
    Program,
    Fetcher,
}

/// The coverage of one simple command, with its reason.
pub(super) struct Verdict {
    pub(super) coverage: Coverage,
    pub(super) why: String,
    pub(super) started: Option<String>,
}

impl Verdict {
    pub(super) fn new(coverage: Coverage, why: impl Into<String>) -> Self {
        Self { coverage, why: why.into(), started: None }
    }

    pub(super) fn script(path: String) -> Self {
        Self { coverage: Coverage::ScriptInterpreterUncovered, why: path.clone(), started: Some(path) }
    }

    pub(super) fn at_least(self, coverage: Coverage) -> Self {
        Self { coverage: self.coverage.worst(coverage), ..self }
    }
}

impl<'j> Judge<'j> {
    /// Creates a judge with a budget of text.
    ///
    /// Nested texts are parsed again at each level. The budget limits the work to a multiple of the whole text.
    fn new(context: &'j CommandContext<'j>, length: usize) -> Self {
        let (names, files) = (BTreeSet::new(), BTreeSet::new());
        // Eight times the text covers `MAX_DEPTH` levels; the constant lets short texts nest.
        let budget = length.saturating_mul(8).saturating_add(4096);
        Self { context, parts: Vec::new(), names, files, unquoted: false, budget }
    }

    /// Returns the collected results.
    fn finish(self, coverage: Coverage) -> CommandAnalysis {
        CommandAnalysis {
            parts: self.parts,
            coverage,
            reads_env: self.names.into_iter().collect(),
            files: self.files.into_iter().collect(),
            unquoted_root: self.unquoted,
        }
    }

    /// Judges a text; returns `true` if it contains an operator.
    pub(super) fn text(&mut self, text: &str, depth: u8) -> bool {
        let within = self.budget.checked_sub(text.len());
        self.budget = within.unwrap_or_default();
        if depth > MAX_DEPTH || within.is_none() {
            let why = "too many nested commands".to_owned();
            self.parts.push(CommandPart {
                words: Vec::new(),
                coverage: Coverage::Unresolved,
                why,
                started: None,
            });
            return true;
        }
        let ParsedCommands { simple, mut operators } = commands(split(text));
        let mut upstream = Upstream::Nothing;
        for one in &simple {
            if !one.piped {
                upstream = Upstream::Nothing;
            }
            for word in one.words.iter().chain(&one.beside) {
                self.note(word);
                operators |= self.inner(word, depth);
            }
            if let Input::File(word) = &one.input {
                self.note(word);
                operators |= self.inner(word, depth);
            }
            self.simple(one, upstream, depth);
            // In `curl … | tee x | sh`, the last command still reads downloaded text.
            upstream = match upstream {
                Upstream::Nothing | Upstream::Program if !is_fetcher(one) => Upstream::Program,
                _ => Upstream::Fetcher,
            };
        }
        operators
    }

    /// Judges the command substitutions in a word; returns `true` if there are any.
    fn inner(&mut self, word: &Word, depth: u8) -> bool {
        let mut any = false;
        for piece in &word.pieces {
            if let Piece::Command(text) = piece {
                self.text(text, depth + 1);
                any = true;
            }
        }
        any
    }

    /// Records the variables and files of a word.
    fn note(&mut self, word: &Word) {
        for piece in &word.pieces {
            if let Piece::Variable { name, quoted } = piece {
                if !self.context.roots.contains(&name.as_str()) {
                    self.names.insert(name.clone());
                } else if !quoted {
                    self.unquoted = true;
                }
            }
        }
        self.files.extend(self.context.names_file(word));
    }

    fn simple(&mut self, one: &SimpleCommand, upstream: Upstream, depth: u8) {
        if let Some(verdict) = self.verdict(&one.words, one, upstream, depth) {
            let verdict = self.with_first_line(verdict);
            if let Some(started) = verdict.started.as_ref().filter(|path| !path.is_empty()) {
                self.files.insert(started.clone());
            }
            self.parts.push(CommandPart {
                words: one.words.iter().map(Word::shown).collect(),
                coverage: verdict.coverage,
                why: verdict.why,
                started: verdict.started,
            });
        }
    }

    /// Lowers the coverage of a file that starts with `#!`: an interpreter outside the plugin runs it.
    fn with_first_line(&self, mut verdict: Verdict) -> Verdict {
        let file = verdict.started.as_deref().and_then(|path| self.context.files?.get(path));
        let line = file.and_then(|file| file.bytes.strip_prefix(b"#!")).map(|rest| {
            // 128 bytes are enough for an interpreter and its option, and the text goes into a message.
            let end = rest.iter().position(|byte| *byte == b'\n').unwrap_or(rest.len());
            String::from_utf8_lossy(rest.get(..end.min(128)).unwrap_or_default()).trim().to_owned()
        });
        if let (Coverage::Covered, Some(line)) = (verdict.coverage, line) {
            verdict.coverage = Coverage::ScriptInterpreterUncovered;
            verdict.why = format!("{} by {line}", verdict.why);
        }
        verdict
    }

    /// Judges one command; returns `None` for builtins of the shell.
    pub(super) fn verdict(
        &mut self,
        words: &[Word],
        one: &SimpleCommand,
        upstream: Upstream,
        depth: u8,
    ) -> Option<Verdict> {
        let (first, rest) = words.split_first()?;
        if depth > MAX_DEPTH {
            return Some(Verdict::new(Coverage::Unresolved, "too many nested commands"));
        }
        // An empty path is the plugin directory, which cannot be started; a dot alone means `source`.
        if let Some(path) = self.context.in_tree(first).filter(|path| !path.is_empty()) {
            return Some(Verdict { coverage: Coverage::Covered, why: path.clone(), started: Some(path) });
        }
        // A path after the root variable that is not in the tree, for example with `..`.
        if self.context.is_known(first) {
            return Some(Verdict::new(Coverage::PathBinary, first.shown()));
        }
        let Some(name) = first.literal() else {
            return Some(Verdict::new(Coverage::Unresolved, format!("the program is {}", first.shown())));
        };
        if self.context.bare_is_file
            && !name.starts_with(['/', '~'])
            && !name.split('/').any(|part| part == "..")
        {
            return Some(Verdict { coverage: Coverage::Covered, why: name.clone(), started: Some(name) });
        }
        if name.contains(['*', '?', '[']) && !BUILTINS.contains(&name.as_str()) {
            return Some(Verdict::new(Coverage::Unresolved, format!("the program is the pattern {name}")));
        }
        if BUILTINS.contains(&name.as_str()) {
            return None;
        }
        let base = base_name(&name);
        match base {
            "eval" | "trap" => return Some(self.evaluated(rest, base, depth)),
            "." | "source" => return Some(self.sourced(rest)),
            _ => {}
        }
        if let Some((_, values, skipped)) = WRAPPERS.iter().find(|(wrapper, ..)| *wrapper == base) {
            // `command -v NAME` looks a program up and does not start it.
            let looks_up =
                rest.first().and_then(Word::literal).is_some_and(|first| matches!(&*first, "-v" | "-V"));
            if base == "command" && looks_up {
                return None;
            }
            let inner = self.wrapped(rest, values, *skipped, base, one, upstream, depth);
            let of_the_shell = matches!(base, "exec" | "command" | "builtin");
            return if of_the_shell {
                inner
            } else {
                inner.or_else(|| Some(Verdict::new(Coverage::PathBinary, name)))
            };
        }
        if let Some(verdict) = package_runner::judge(self, base, rest) {
            return Some(verdict);
        }
        if let Some(verdict) = interpreter::judge(self, base, rest, one, upstream, depth) {
            return Some(verdict);
        }
        Some(Verdict::new(Coverage::PathBinary, name))
    }

    /// Judges `eval TEXT` and `trap TEXT`, which run the text.
    fn evaluated(&mut self, rest: &[Word], name: &str, depth: u8) -> Verdict {
        let code = if name == "trap" { rest.get(..1).unwrap_or_default() } else { rest };
        self.code(code, depth)
    }

    /// Judges code in arguments: the result is `inline-shell`, or worse if the code calls something worse.
    pub(super) fn code(&mut self, words: &[Word], depth: u8) -> Verdict {
        if words.iter().any(fetches) {
            return Verdict::new(Coverage::LauncherFloating, "downloaded code");
        }
        let texts: Option<Vec<String>> = words.iter().map(Word::literal).collect();
        match texts {
            Some(texts) => {
                let before = self.parts.len();
                self.text(&texts.join(" "), depth + 1);
                let calls = self.parts.get(before..).unwrap_or_default();
                let worst =
                    calls.iter().fold(Coverage::InlineShell, |worst, part| worst.worst(part.coverage));
                Verdict::new(worst, "code in an argument")
            }
            None if words.iter().any(|word| word.pieces.len() > 1) => {
                // The program is fixed and only arguments vary, so the text is judged with the variables left in.
                let shown: Vec<String> = words.iter().map(Word::shown).collect();
                let before = self.parts.len();
                self.text(&shown.join(" "), depth + 1);
                let calls = self.parts.get(before..).unwrap_or_default();
                let worst =
                    calls.iter().fold(Coverage::InlineShell, |worst, part| worst.worst(part.coverage));
                Verdict::new(worst, "code in an argument")
            }
            None => Verdict::new(Coverage::Unresolved, "code from a variable"),
        }
    }

    /// Judges `source FILE` and `. FILE`.
    fn sourced(&self, rest: &[Word]) -> Verdict {
        let Some(word) = rest.first() else {
            return Verdict::new(Coverage::InlineShell, "source without a file");
        };
        if fetches(word) {
            return Verdict::new(Coverage::LauncherFloating, "downloaded code");
        }
        match (self.context.script(word), word.literal()) {
            (Some(path), _) => Verdict::script(path),
            (None, Some(name)) => Verdict::new(Coverage::PathBinary, name),
            (None, None) => Verdict::new(Coverage::Unresolved, format!("the script is {}", word.shown())),
        }
    }

    #[expect(clippy::too_many_arguments, reason = "a wrapper passes on everything that its program needs")]
    fn wrapped(
        &mut self,
        rest: &[Word],
        values: &[&str],
        skipped: usize,
        base: &str,
        one: &SimpleCommand,
        upstream: Upstream,
        depth: u8,
    ) -> Option<Verdict> {
        let mut words = rest;
        let mut left = skipped;
        while let Some((first, after)) = words.split_first() {
            let text = first.literal().unwrap_or_default();
            if text == "--" {
                words = after;
                break;
            }
            if base == "env" && matches!(text.as_str(), "-S" | "--split-string") {
                return Some(self.code(after, depth));
            }
            if base == "env" && (text.starts_with("-S") || text.starts_with("--split-string=")) {
                return Some(Verdict::new(Coverage::Unresolved, "arguments that env splits"));
            }
            let assignment = base == "env" && text.contains('=') && !text.starts_with('-');
            if values.contains(&text.as_str()) {
                words = after.get(1..).unwrap_or_default();
            } else if (text.starts_with('-') && text.len() > 1) || assignment {
                words = after;
            } else if left > 0 {
                left = left.saturating_sub(1);
                words = after;
            } else {
                break;
            }
        }
        let inner = self.verdict(words, one, upstream, depth + 1)?;
        let starts_outside = !matches!(base, "exec" | "command" | "builtin");
        // A file that another program starts is not started directly.
        Some(if starts_outside { inner.at_least(Coverage::ScriptInterpreterUncovered) } else { inner })
    }
}
