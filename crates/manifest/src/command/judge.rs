//! Judges commands: which programs they start, and how much of that a pin covers.

use std::collections::BTreeSet;

use plugward_commands::{
    CommandError, CommandLimits, CommandLine, CommandWord, PackagePrecision, PathText, ProgramRole,
    StartTarget, StartedProgram, WordPart, base_name, is_downloader, read_argv, read_script,
};
use plugward_types::Part;

use super::context::{CommandAnalysis, CommandContext, CommandPart, ROOT};
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
    judge(context, |shell| read_script(text, shell))
}

/// Judges an argument list, which the host starts without a shell.
#[must_use]
pub fn judge_argv(argv: &[&str], context: &CommandContext<'_>) -> CommandAnalysis {
    let mut view = judge(context, |shell| read_argv(argv, shell));
    // Without a shell, quotes are not needed.
    view.unquoted_root = false;
    view
}

fn judge(
    context: &CommandContext<'_>,
    read: impl FnOnce(&plugward_commands::CommandContext<'_>) -> Result<CommandLine, CommandError>,
) -> CommandAnalysis {
    let known = |name: &str| match name {
        "HOME" => Some("/~".to_owned()),
        _ => context.roots.contains(&name).then(|| ROOT.to_owned()),
    };
    let shell = plugward_commands::CommandContext {
        variables: &known,
        directory: PathText::start(),
        limits: CommandLimits::STANDARD,
    };
    match read(&shell) {
        Ok(line) => Judge { context, line: &line }.analysis(),
        Err(error) => CommandAnalysis {
            parts: vec![CommandPart::new(Vec::new(), Verdict::new(Coverage::Unresolved, error.to_string()))],
            coverage: Coverage::Unresolved,
            reads_env: Vec::new(),
            files: Vec::new(),
            unquoted_root: false,
            is_plain: false,
        },
    }
}

/// The coverage of one program, with its reason.
pub(super) struct Verdict {
    pub(super) coverage: Coverage,
    pub(super) why: String,
    pub(super) started: Option<String>,
}

impl Verdict {
    pub(super) fn new(coverage: Coverage, why: impl Into<String>) -> Self {
        Self { coverage, why: why.into(), started: None }
    }

    fn script(path: String) -> Self {
        Self { coverage: Coverage::ScriptInterpreterUncovered, why: path.clone(), started: Some(path) }
    }

    fn at_least(self, coverage: Coverage) -> Self {
        Self { coverage: self.coverage.worst(coverage), ..self }
    }

    /// Returns the worse of two verdicts. The first file that starts is kept.
    fn or_worse(self, other: Self) -> Self {
        let worse = other.coverage.is_worse_than(self.coverage);
        let (mut one, rest) = if worse { (other, self) } else { (self, other) };
        one.started = one.started.or(rest.started);
        one
    }
}

struct Judge<'j> {
    context: &'j CommandContext<'j>,
    line: &'j CommandLine,
}

impl Judge<'_> {
    fn analysis(&self) -> CommandAnalysis {
        let mut parts = Vec::new();
        let mut rest = self.line.programs.as_slice();
        while let Some((program, after)) = rest.split_first() {
            let count = after.iter().take_while(|next| next.depth > program.depth).count();
            let behind = after.part(..count);
            rest = after;
            if program.is_wrapped {
                continue;
            }
            let Some(verdict) = self.verdict(program, behind) else { continue };
            let words = core::iter::once(&program.name).chain(&program.arguments);
            parts.push(CommandPart::new(
                words.map(|word| self.context.shown(word)).collect(),
                self.with_first_line(verdict),
            ));
        }
        let worst = parts.iter().fold(Coverage::Covered, |worst, part| worst.worst(part.coverage));
        // A text with several calls is itself part of what runs, so it is no better than inline shell.
        let coverage = match parts.as_slice() {
            [] => Coverage::InlineShell,
            [_] if !self.line.is_compound => worst,
            parts if parts.iter().any(|part| part.coverage == Coverage::PathBinary) => {
                worst.worst(Coverage::InlineShell)
            }
            _ => worst,
        };
        let is_root = |name: &&String| self.context.roots.contains(&name.as_str());
        CommandAnalysis {
            files: self.files(&parts).into_iter().collect(),
            parts,
            coverage,
            reads_env: self.line.variables.iter().filter(|name| !is_root(name)).cloned().collect(),
            unquoted_root: self.line.unquoted_variables.iter().any(|name| is_root(&name)),
            is_plain: !self.line.has_operators,
        }
    }

    /// Returns the files of the tree that the words name, and those that start.
    fn files(&self, parts: &[CommandPart]) -> BTreeSet<String> {
        let words = self
            .line
            .programs
            .iter()
            .flat_map(|program| core::iter::once(&program.name).chain(&program.arguments));
        let named = words
            .chain(&self.line.other_words)
            .filter_map(|word| self.context.names_file(&self.context.shown(word)));
        let started = parts.iter().filter_map(|part| part.started.clone()).filter(|path| !path.is_empty());
        named.chain(started).collect()
    }

    /// Lowers the coverage of a file that starts with `#!`: an interpreter outside the plugin runs it.
    fn with_first_line(&self, mut verdict: Verdict) -> Verdict {
        let file = verdict.started.as_deref().and_then(|path| self.context.files?.get(path));
        let line = file.and_then(|file| file.bytes.strip_prefix(b"#!")).map(|rest| {
            // 128 bytes are enough for an interpreter and its option, and the text goes into a message.
            let end = rest.iter().position(|byte| *byte == b'\n').unwrap_or(rest.len());
            String::from_utf8_lossy(rest.part(..end.min(128))).trim().to_owned()
        });
        if let (Coverage::Covered, Some(line)) = (verdict.coverage, line) {
            verdict.coverage = Coverage::ScriptInterpreterUncovered;
            verdict.why = format!("{} by {line}", verdict.why);
        }
        verdict
    }

    /// Judges one program with those behind it; returns `None` for builtins of the shell.
    fn verdict(&self, program: &StartedProgram, behind: &[StartedProgram]) -> Option<Verdict> {
        let name = self.context.shown(&program.name);
        let base = base_name(&name);
        let wrapped = behind
            .iter()
            .enumerate()
            .find(|(_, next)| next.is_wrapped && next.depth == program.depth.saturating_add(1));
        let inner = wrapped.and_then(|(at, next)| {
            let rest = behind.get(at..)?.split_first()?.1;
            let count = rest.iter().take_while(|one| one.depth > next.depth).count();
            self.verdict(next, rest.get(..count)?)
        });
        if let Some(path) = self.context.in_tree(&name).filter(|path| !path.is_empty()) {
            return Some(Verdict { coverage: Coverage::Covered, why: path.clone(), started: Some(path) });
        }
        if is_open(self.context, &name) {
            return Some(Verdict::new(Coverage::Unresolved, format!("the program is {name}")));
        }
        if self.context.after_root(&name).is_some() {
            return Some(Verdict::new(Coverage::PathBinary, name));
        }
        if self.context.bare_is_file
            && !name.starts_with(['/', '~'])
            && !name.split('/').any(|part| part == "..")
        {
            return Some(Verdict { coverage: Coverage::Covered, why: name.clone(), started: Some(name) });
        }
        if has_wildcard(&program.name) {
            return Some(Verdict::new(Coverage::Unresolved, format!("the program is the pattern {name}")));
        }
        let own = match (program.role(), base) {
            (ProgramRole::Builtin, "." | "source") if program.arguments.is_empty() => {
                Some(Verdict::new(Coverage::InlineShell, "source without a file"))
            }
            (ProgramRole::Builtin, "eval" | "trap") => Some(self.targets(program).unwrap_or_else(|| {
                let open = program.arguments.iter().any(|word| is_open(self.context, word.shown()));
                let coverage = if open { Coverage::Unresolved } else { Coverage::InlineShell };
                Verdict::new(coverage, "code in an argument")
            })),
            (ProgramRole::Builtin, "." | "source") => Some(self.interpreted(program)),
            (ProgramRole::Builtin, _) => return None,
            // Pins contain these labels, so the programs keep those of other programs in `PATH`.
            (ProgramRole::Interpreter, "sed" | "gsed" | "awk" | "gawk" | "mawk" | "nawk" | "osascript") => {
                None
            }
            (ProgramRole::Interpreter, "deno" | "bun")
                if program.starts.is_empty() && !program.arguments.is_empty() =>
            {
                None
            }
            (ProgramRole::Interpreter, _) => Some(self.interpreted(program)),
            _ => self.managed(program, base).or_else(|| self.targets(program)),
        };
        match (program.role(), base) {
            (ProgramRole::Wrapper, "exec" | "command" | "builtin") if own.is_none() => inner,
            // A file that another program starts is not started directly.
            (ProgramRole::Wrapper, _) => Some(match (own, inner) {
                (None, Some(inner)) => inner.at_least(Coverage::ScriptInterpreterUncovered),
                (Some(own), _) => own,
                (None, None) => Verdict::new(Coverage::PathBinary, name),
            }),
            _ => {
                let own = own.unwrap_or_else(|| Verdict::new(Coverage::PathBinary, name));
                Some(match inner {
                    Some(inner) => own.or_worse(inner),
                    None => own,
                })
            }
        }
    }

    /// Judges an interpreter by its script, code or module.
    fn interpreted(&self, program: &StartedProgram) -> Verdict {
        if let Some(verdict) = self.managed(program, base_name(&self.context.shown(&program.name))) {
            return verdict;
        }
        let shown: Vec<String> = program.arguments.iter().map(|word| self.context.shown(word)).collect();
        self.targets(program).unwrap_or_else(|| match shown.iter().find(|word| is_open(self.context, word)) {
            Some(word) if downloads(word) => Verdict::new(Coverage::LauncherFloating, "downloaded code"),
            Some(word) => Verdict::new(Coverage::Unresolved, format!("the script is {word}")),
            None => Verdict::new(Coverage::Unresolved, "a script from standard input"),
        })
    }

    /// Judges the targets of a program; returns `None` if there are none.
    fn targets(&self, program: &StartedProgram) -> Option<Verdict> {
        let has_file = program.starts.iter().any(|target| matches!(target, StartTarget::File(_)));
        let verdicts = program.starts.iter().filter_map(|target| match target {
            StartTarget::File(path) => self.script(program, path),
            StartTarget::Pattern(path) => {
                Some(Verdict::new(Coverage::Unresolved, format!("the script is {path}")))
            }
            StartTarget::Code { text, .. } => Self::code(text),
            StartTarget::Module(name) if !has_file => {
                Some(Verdict::new(Coverage::PathBinary, format!("the module {}", name.shown())))
            }
            StartTarget::Package(package) => {
                let name = package.reference.literal();
                let coverage = match package.precision() {
                    PackagePrecision::Digest => Coverage::LauncherDigest,
                    PackagePrecision::Version => Coverage::LauncherVersion,
                    PackagePrecision::Floating => Coverage::LauncherFloating,
                    _ => Coverage::Unresolved,
                };
                Some(Verdict::new(coverage, name.unwrap_or_else(|| "a reference in a variable".to_owned())))
            }
            _ => None,
        });
        verdicts.reduce(Verdict::or_worse)
    }

    /// Judges the file that a program runs, by the word that names it.
    fn script(&self, program: &StartedProgram, path: &PathText) -> Option<Verdict> {
        let names = |word: &&CommandWord| {
            word.literals().any(|text| path.as_str().ends_with(PathText::new(&text).as_str()))
        };
        let word = program
            .arguments
            .iter()
            .chain(&self.line.other_words)
            .find(names)
            .map(|word| self.context.shown(word));
        if word.is_none() && program.name.literals().any(|text| PathText::new(&text) == *path) {
            return None;
        }
        let word = word.unwrap_or_else(|| path.to_string());
        Some(match self.context.script(&word) {
            Some(path) => Verdict::script(path),
            None if is_open(self.context, &word) => {
                Verdict::new(Coverage::Unresolved, format!("the script is {word}"))
            }
            None => Verdict::new(Coverage::PathBinary, word),
        })
    }

    /// Judges a text that runs; returns `None` if it is only the contents of files, which are targets of their own.
    fn code(text: &CommandWord) -> Option<Verdict> {
        let parts = || text.values().flatten();
        if parts().any(|part| matches!(part, WordPart::Output(command) if downloads(command))) {
            return Some(Verdict::new(Coverage::LauncherFloating, "downloaded code"));
        }
        let is_text = |part: &WordPart| matches!(part, WordPart::Text(text) if !text.trim().is_empty());
        if parts().any(is_text) {
            return Some(Verdict::new(Coverage::InlineShell, "code in an argument"));
        }
        let is_file = |part: &WordPart| matches!(part, WordPart::Contents(_) | WordPart::Text(_));
        (!parts().all(is_file)).then(|| Verdict::new(Coverage::Unresolved, "code from a variable"))
    }

    /// Judges package managers by their verb, and by the lockfile that pins what they run.
    fn managed(&self, program: &StartedProgram, base: &str) -> Option<Verdict> {
        let verb = program
            .arguments
            .iter()
            .map(CommandWord::shown)
            .find(|word| !word.starts_with('-'))
            .unwrap_or_default();
        let package = program.starts.iter().any(|target| matches!(target, StartTarget::Package(_)));
        let recipe = program.starts.iter().any(|target| matches!(target, StartTarget::Recipe { .. }));
        let locks: &[&str] = match (base, verb) {
            ("npm", _) if !package => &["package-lock.json", "npm-shrinkwrap.json"],
            ("pnpm", _) if !package => &["pnpm-lock.yaml"],
            ("yarn", _) if !package => &["yarn.lock"],
            ("bun", _) if recipe => &["bun.lock", "bun.lockb"],
            ("deno", "task") => &["deno.lock"],
            ("uv", "run") => &["uv.lock"],
            ("uv", "pip" | "sync" | "add" | "tool") | ("docker" | "podman", "compose" | "play" | "kube")
                if !package =>
            {
                &[]
            }
            ("npx" | "bunx" | "pnpx" | "uvx", _) if !package && self.targets(program).is_none() => &[],
            ("go", "run" | "install") if program.starts.is_empty() => {
                return Some(Verdict::new(Coverage::Unresolved, "go run without a package"));
            }
            _ => return None,
        };
        let locked = self.context.has_any(self.directory(program).as_deref(), locks);
        let coverage = if locked { Coverage::LauncherVersion } else { Coverage::LauncherFloating };
        let own = Verdict::new(coverage, format!("a package script of {base}"));
        Some(match self.targets(program).filter(|_| package) {
            Some(packages) => own.or_worse(packages),
            None => own,
        })
    }

    /// Returns the directory of the tree in an option such as `--cwd`, in which a manager looks for its lockfile.
    fn directory(&self, program: &StartedProgram) -> Option<String> {
        let options = ["--cwd", "--prefix", "-C", "--dir", "--directory", "--project"];
        let words: Vec<String> = program.arguments.iter().map(|word| self.context.shown(word)).collect();
        let values = words.iter().enumerate().filter_map(|(at, word)| match word.split_once('=') {
            Some((name, value)) if options.contains(&name) => Some(value.to_owned()),
            _ if options.contains(&word.as_str()) => words.get(at.saturating_add(1)).cloned(),
            _ => None,
        });
        let mut paths = values.filter_map(|word| self.context.in_tree(&word));
        paths.next().or_else(|| (self.context.relative == crate::RelativeBase::Root).then(String::new))
    }
}

/// Returns `true` if a word contains a variable or substitution, except a root variable at its start.
fn is_open(context: &CommandContext<'_>, word: &str) -> bool {
    let rest = context.after_root(word).unwrap_or(word);
    rest.contains("${") || rest.contains("$(") || rest.contains("<(")
}

fn has_wildcard(word: &CommandWord) -> bool {
    word.values().flatten().any(|part| matches!(part, WordPart::Glob(_)))
}

/// Returns `true` if a command calls a program that downloads, directly or as an argument.
fn downloads(command: &str) -> bool {
    let is_end =
        |c: char| c.is_whitespace() || matches!(c, '(' | ')' | '`' | '"' | '\'' | '|' | ';' | '&' | '<');
    command.split(is_end).any(is_downloader)
}
