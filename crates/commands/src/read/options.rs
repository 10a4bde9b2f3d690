//! Options that make a program load a file, whatever else it does.

use super::{Reader, cut};
use crate::inner::option_values;
use crate::table::{Loader, has, has_match, interpreter, loaders};
use crate::variables::directory_pattern;
use crate::{CommandWord, StartTarget};

impl Reader<'_> {
    /// Records the files that the options of a program or of its verb load.
    pub(super) fn loads(&mut self, at: usize, base: &str, words: &[CommandWord]) {
        loaders(base).for_each(|one| self.loaded_options(at, one, words));
        if matches!(base, "git" | "docker" | "podman" | "nerdctl") {
            let verbs = words.iter().filter(|word| !word.shown().starts_with('-'));
            for one in verbs.flat_map(|verb| loaders(&format!("{base} {}", verb.shown())).collect::<Vec<_>>())
            {
                self.loaded_options(at, one, words);
            }
        }
    }

    /// Records what the options of a runtime load, which get no program here.
    pub(crate) fn preloads(&mut self, at: usize, base: &str, options: &[CommandWord]) {
        if let Some(one) = interpreter(base) {
            for value in values_of(options, &one.loads) {
                self.loaded(at, one, &value);
            }
        }
        self.loads(at, base, options);
    }

    fn loaded_options(&mut self, at: usize, one: &Loader, words: &[CommandWord]) {
        for (name, value) in named_values(words, &one.options()) {
            if has(&one.settings, name) {
                self.setting(at, one, &value);
            } else if has(&one.scripts, name) {
                let command = value.shown().trim_start_matches([' ', ':', '.', '\\']);
                let verbs =
                    ["source ", "so ", "luafile ", "pyfile ", "read ", "i ", "ir ", "command source "];
                let file = verbs.iter().find_map(|verb| command.strip_prefix(verb));
                if let Some(file) = file.filter(|file| is_file(file)) {
                    self.file(at, &cut(&value, value.shown().len().saturating_sub(file.len())));
                }
            } else if !is_file(value.shown()) {
            } else if has(&one.files, name) {
                self.file(at, &cut(&value, usize::from(value.shown().starts_with('@'))));
            } else if has(&one.environments, name) {
                self.file_as(at, &value, StartTarget::Environment);
            } else if has(&one.directories, name) {
                self.directory(at, &value);
            }
        }
    }

    /// Records the files of a directory and of those in it.
    fn directory(&mut self, at: usize, word: &CommandWord) {
        let files = directory_pattern(word);
        self.file(at, &files);
        self.file(at, &directory_pattern(&files));
    }

    /// Records the file or directory in `KEY=PATH`.
    fn setting(&mut self, at: usize, one: &Loader, setting: &CommandWord) {
        let Some((key, text)) = setting.shown().split_once(['=', ' ']).filter(|(_, text)| is_file(text))
        else {
            return;
        };
        let value = cut(setting, key.len().saturating_add(1));
        let key = key.to_ascii_lowercase();
        if has_match(&one.directory_keys, &key) {
            self.directory(at, &value);
        } else if has_match(&one.file_keys, &key) {
            // A list or text of TOML contains words, of which those with a slash are files.
            if text.starts_with(['[', '"', '\'']) {
                let words = text.split(['"', '\'', ',', '[', ']']).filter(|word| word.contains('/'));
                words.for_each(|word| self.file(at, &CommandWord::known(word)));
            } else {
                self.file(at, &value);
            }
        }
    }
}

/// Returns the values of options.
pub(super) fn values_of(words: &[CommandWord], names: &[impl AsRef<str>]) -> Vec<CommandWord> {
    let names: Vec<&str> = names.iter().map(AsRef::as_ref).collect();
    named_values(words, &names).into_iter().map(|(_, value)| value).collect()
}

pub(super) fn named_values<'n>(words: &[CommandWord], names: &[&'n str]) -> Vec<(&'n str, CommandWord)> {
    let texts: Vec<Option<&str>> = words.iter().map(|word| Some(word.shown())).collect();
    let values = option_values(&texts, names).into_iter();
    values.filter_map(|one| Some((one.name, cut(words.get(one.word)?, one.offset)))).collect()
}

/// Returns `true` for a value that names a file, and not an input, a text or the lack of one.
fn is_file(value: &str) -> bool {
    !matches!(value, "" | "-" | "NONE" | "NORC" | "DEFAULTS" | "none")
        && !value.starts_with(['{', '-'])
        && !value.starts_with("/dev/")
        && !value.contains("://")
}
