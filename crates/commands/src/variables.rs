//! Environment variables that load code or redirect a host, as set in settings files, `.env` files and commands.

use crate::read::{Read, Reader, cut};
use crate::table::{ValueForm, Variable, has_match, interpreter, table};
use crate::word::{WordPart, literal};
use crate::{CodeLanguage, CommandContext, CommandError, CommandWord, OpenWord, ProgramRole, StartTarget};
use plugward_types::Part;

/// The effect of setting an environment variable.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum VariableEffect {
    /// Nothing that plugward judges.
    Nothing,
    /// Adds files that interpreters can import.
    AddsFiles,
    /// Runs a program or file, or changes which one runs.
    Hijack,
    /// Changes where programs are found.
    SearchPath,
    /// Changes where packages are downloaded from.
    Registry,
    /// Changes the path of network connections.
    Proxy,
    /// Changes which certificates are trusted.
    Certificate,
}

/// The effect of a variable with its value.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct VariableReading {
    /// The effect.
    pub effect: VariableEffect,
    /// The files and texts that the value names. A directory of a search path is the [`StartTarget::Pattern`] of its files.
    pub starts: Vec<StartTarget>,
    /// The words of the value that decide what runs without a known value.
    pub open_words: Vec<OpenWord>,
}

/// Reads an environment variable that a settings file sets. Variables in the value, such as `${NAME}`, are expanded.
///
/// # Errors
/// Returns [`CommandError`] if a command in the value exceeds a limit.
///
/// # Examples
/// ```
/// use plugward_commands::{CommandContext, CommandLimits, PathText, VariableEffect, read_variable};
///
/// let context = CommandContext { variables: &|_| None, directory: PathText::start(), limits: CommandLimits::STANDARD };
/// assert_eq!(read_variable("NODE_OPTIONS", "--require ./x.js", &context)?.effect, VariableEffect::Hijack);
/// assert_eq!(read_variable("NODE_OPTIONS", "--max-old-space-size=4096", &context)?.effect, VariableEffect::Nothing);
/// # Ok::<(), plugward_commands::CommandError>(())
/// ```
pub fn read_variable(
    name: &str,
    value: &str,
    context: &CommandContext<'_>,
) -> Result<VariableReading, CommandError> {
    let mut reader = Reader::new(context);
    let word = reader.argument(value)?;
    let at = reader.pseudo_program(name)?;
    let effect = reader.loader_variable(at, name, &word)?;
    let line = reader.finish();
    let starts = line.programs.into_iter().flat_map(|program| program.starts).collect();
    Ok(VariableReading { effect, starts, open_words: line.open_words })
}

fn find(name: &str) -> Option<&'static Variable> {
    table().variables.iter().find(|one| has_match(&one.names, name))
}

/// Returns `true` if a variable can load code into a program.
#[must_use]
pub fn loads_code(name: &str) -> bool {
    matches!(find(name).map(|one| one.effect), Some(VariableEffect::Hijack | VariableEffect::AddsFiles))
}

/// Returns `true` if the value of a variable is a command, which other programs start.
#[must_use]
pub fn takes_command(name: &str) -> bool {
    matches!(find(name).map(|one| one.value), Some(ValueForm::Command | ValueForm::Program))
}

impl Reader<'_> {
    /// Records a program that stands for the readers of a variable.
    fn pseudo_program(&mut self, name: &str) -> Read<usize> {
        self.emit(&CommandWord::known(name), &[], ProgramRole::Other)
    }

    /// Records what a variable with a value starts, and returns its effect.
    pub(crate) fn loader_variable(
        &mut self,
        at: usize,
        name: &str,
        value: &CommandWord,
    ) -> Read<VariableEffect> {
        let Some(one) = find(name) else { return Ok(VariableEffect::Nothing) };
        let (effect, form, loads) = (one.effect, one.value, one.loads.as_slice());
        let text = value.literal();
        Ok(match form {
            _ if text.as_deref() == Some("") => VariableEffect::Nothing,
            ValueForm::Address => effect,
            ValueForm::PathWithSlash if text.as_deref().is_some_and(|text| !text.contains('/')) => {
                VariableEffect::Nothing
            }
            ValueForm::Path | ValueForm::PathWithSlash => {
                if effect == VariableEffect::Hijack {
                    self.file(at, value);
                }
                effect
            }
            ValueForm::Directory => {
                self.file(at, &directory_pattern(value));
                effect
            }
            ValueForm::Search => self.search_value(at, effect, value),
            ValueForm::Program if text.as_deref().is_some_and(is_bare) => VariableEffect::Nothing,
            ValueForm::Shell if text.as_deref().is_some_and(is_system_shell) => VariableEffect::Nothing,
            ValueForm::Words if name == "LUA_INIT" && !value.shown().starts_with('@') => {
                self.target(at, StartTarget::Code { language: CodeLanguage::Other, text: value.clone() });
                effect
            }
            ValueForm::Words => self.word_value(at, name, loads, value),
            ValueForm::Command | ValueForm::Program | ValueForm::Shell => {
                // `less` reads a pipe from the command after `|` and `-`.
                let marks = text
                    .as_deref()
                    .filter(|_| name == "LESSOPEN")
                    .map_or(0, |text| text.len().saturating_sub(text.trim_start_matches(['|', '-']).len()));
                let value = &cut(value, marks);
                let values = value.values().map(<[WordPart]>::to_vec).collect();
                self.code(at, CodeLanguage::Shell, value, &values, None)?;
                effect
            }
            ValueForm::Options => self.option_value(at, value),
        })
    }

    /// Records the files in the directories of a search path.
    fn search_value(&mut self, at: usize, effect: VariableEffect, value: &CommandWord) -> VariableEffect {
        let saved = (core::mem::take(&mut self.place.search), self.place.search_open.take());
        self.search_path(value);
        let entries = core::mem::replace(&mut self.place.search, saved.0);
        let open = core::mem::replace(&mut self.place.search_open, saved.1);
        if let Some(word) = &open {
            word.values().for_each(|parts| self.open(word, parts));
        }
        // Package managers and virtual environments put their own directories in front.
        let is_tool = |path: &str| {
            path.ends_with("node_modules/.bin")
                || path.contains("/.venv/")
                || path.ends_with("venv/bin")
                || path.contains("/venv/")
        };
        let own: Vec<_> = entries
            .into_iter()
            .filter(|one| effect != VariableEffect::SearchPath || !is_tool(one.as_str()))
            .collect();
        for directory in &own {
            self.target(at, StartTarget::Pattern(super::read::outside(&directory.join("*"))));
        }
        if own.is_empty() && open.is_none() { VariableEffect::Nothing } else { effect }
    }

    /// Records what the words of a value load. A value that loads something else than files and modules is open.
    fn word_value(&mut self, at: usize, name: &str, loads: &[String], value: &CommandWord) -> VariableEffect {
        let (texts, mut effect) = self.option_texts(value);
        for text in texts {
            // `PYTHONBREAKPOINT=0` turns breakpoints off.
            if loads.is_empty() && text.trim() == "0" {
                continue;
            }
            let mut any = false;
            let before = self.starts(at);
            let mut words = text.split_whitespace().map(|word| word.trim_matches(['"', '\'']));
            while let Some(word) = words.next() {
                let option = loads.iter().find(|option| word.starts_with(option.as_str()));
                if option.is_none() && !loads.is_empty() {
                    continue;
                }
                let option = option.map_or("", String::as_str);
                let rest = word.rest(option.len());
                let loaded = if rest.is_empty() { words.next().unwrap_or_default() } else { rest };
                if name == "PYTEST_ADDOPTS" && loaded.starts_with("no:") {
                    continue;
                }
                any = true;
                self.loaded_by(at, name, option, loaded);
            }
            if any {
                effect = VariableEffect::Hijack;
                if self.starts(at) == before {
                    self.open(value, &[WordPart::Dynamic(text)]);
                }
            }
        }
        effect
    }

    /// Returns the known values of options. One that is not known can load anything.
    fn option_texts(&mut self, value: &CommandWord) -> (Vec<String>, VariableEffect) {
        let mut effect = VariableEffect::Nothing;
        let mut texts = Vec::new();
        for parts in value.values() {
            if let Some(text) = literal(parts) {
                texts.push(text);
            } else {
                self.open(value, parts);
                effect = VariableEffect::Hijack;
            }
        }
        (texts, effect)
    }

    fn starts(&self, at: usize) -> usize {
        self.line.programs.get(at).map_or(0, |program| program.starts.len())
    }

    /// Records the files and modules in the value of an option.
    fn loaded_by(&mut self, at: usize, name: &str, option: &str, value: &str) {
        let is_ruby_like = matches!(name, "RUBYOPT" | "PERL5OPT");
        if is_ruby_like && option == "-I" {
            return self.paths(at, &format!("{value}/*"), StartTarget::Pattern);
        }
        let is_module = matches!(name, "PYTEST_ADDOPTS" | "PYTHONBREAKPOINT")
            || is_ruby_like && !value.starts_with(['.', '/']);
        if is_module {
            return self.target(at, StartTarget::Module(CommandWord::known(value)));
        }
        // The options of an agent follow `=`.
        let value = value.strip_prefix('@').unwrap_or(value);
        let value = value.strip_prefix("/a:").or_else(|| value.strip_prefix("/p:")).unwrap_or(value);
        for path in value.trim_start_matches([':', '=']).split(':') {
            let path = path.split_once('=').map_or(path, |(path, _)| path).trim_matches(['"', '\'']);
            if path.contains(['/', '.']) {
                self.file(at, &CommandWord::known(path));
            }
        }
    }

    /// Records the files that the options of a JavaScript runtime load.
    fn option_value(&mut self, at: usize, value: &CommandWord) -> VariableEffect {
        let (texts, mut effect) = self.option_texts(value);
        for text in texts {
            let words: Vec<CommandWord> = text
                .split_whitespace()
                .map(|word| CommandWord::known(word.trim_matches(['"', '\''])))
                .collect();
            let before = self.starts(at);
            for name in ["node", "bun"] {
                self.preloads(at, name, &words);
            }
            if self.starts(at) > before || words.iter().any(|word| word.shown().starts_with("--inspect")) {
                effect = VariableEffect::Hijack;
            }
        }
        effect
    }
}

/// Returns `true` for the bare name of a program with options, such as `code --wait`.
fn is_bare(value: &str) -> bool {
    let plain = |word: &str| {
        word.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.' | b'+'))
    };
    let mut words = value.split(' ');
    words.next().is_some_and(|name| plain(name) && !name.is_empty())
        && words.all(|word| word.starts_with('-') && plain(word))
}

/// Returns `true` for a shell in a directory of the system, or the bare name of one.
fn is_system_shell(value: &str) -> bool {
    let directories = ["/bin/", "/usr/bin/", "/usr/local/bin/", "/opt/homebrew/bin/"];
    let name = directories.iter().find_map(|directory| value.strip_prefix(directory));
    name.map_or_else(
        || interpreter(value).is_some_and(|one| one.language == CodeLanguage::Shell),
        |name| !name.contains('/') && is_bare(name),
    )
}

/// Returns the word for the files of a directory.
pub(crate) fn directory_pattern(value: &CommandWord) -> CommandWord {
    let pattern = |parts: &[WordPart]| {
        let mut parts = parts.to_vec();
        crate::word::push(&mut parts, WordPart::Text("/".to_owned()));
        parts.push(WordPart::Glob('*'));
        parts
    };
    CommandWord::new(value.shown(), value.values().map(pattern).collect())
}
