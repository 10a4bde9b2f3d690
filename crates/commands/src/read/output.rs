//! The output of programs, as far as it can become a command or a path.

use super::{Reader, VALUES, Values};
use crate::table::{base_name, has, is_filter, table};
use crate::word::{Parts, WordPart, literal};
use crate::{CommandWord, PathText, TOP_LEVEL};

/// Returns the output of two commands, one after the other.
pub(super) fn concat(before: Values, after: &Values) -> Values {
    if after.len() == 1 && after.first().is_some_and(Vec::is_empty) {
        return before;
    }
    if before.len() == 1 && before.first().is_some_and(Vec::is_empty) {
        return after.clone();
    }
    let mut all = Vec::new();
    for one in &before {
        all.extend(after.iter().map(|more| super::expand::join(one, more)));
    }
    limit(&mut all);
    all
}

/// Makes one unknown value of too many.
pub(super) fn limit(values: &mut Values) {
    values.sort();
    values.dedup();
    let parts: usize = values.iter().map(Vec::len).sum();
    if values.len() > VALUES || parts > VALUES * 16 {
        // The files in the values stay, because they can be part of what runs.
        let mut kept: Parts =
            values.iter().flatten().filter(|part| matches!(part, WordPart::Contents(_))).cloned().collect();
        kept.sort();
        kept.dedup();
        kept.push(WordPart::Output("…".to_owned()));
        *values = vec![kept];
    }
}

fn text(text: &str) -> Parts {
    vec![WordPart::Text(text.to_owned())]
}

impl Reader<'_> {
    /// Returns the output of a program or builtin.
    pub(super) fn output(&self, words: &[CommandWord], input: Option<&Values>) -> Values {
        let Some((name, arguments)) = words.split_first() else { return vec![Vec::new()] };
        let name = name.literal().unwrap_or_default();
        let base = base_name(&name);
        let operands: Vec<&CommandWord> =
            arguments.iter().filter(|word| !word.shown().starts_with('-')).collect();
        let first = operands.first().copied();
        let known = |word: &CommandWord, change: fn(&str) -> String| -> Values {
            let one = |parts: &[WordPart]| {
                literal(parts).map_or_else(|| parts.to_vec(), |path| text(&change(&path)))
            };
            word.values().map(one).collect()
        };
        match base {
            "cd" | "pushd" | "popd" | "true" | ":" | "false" | "[" | "test" | "exit" | "return" | "set"
            | "shopt" | "trap" | "source" | "." | "export" | "unset" | "shift" | "mkdir" | "rm" | "sleep"
            | "touch" | "chmod" | "cp" | "mv" => vec![Vec::new()],
            // `eval "$(direnv export bash)"` runs what the tool itself prints.
            _ if has(&table().environment_printers, base) => vec![Vec::new()],
            "echo" => joined(&operands, " ", "\n"),
            "printf" => match arguments.split_first() {
                Some((format, rest))
                    if matches!(format.literal().as_deref(), Some("%s" | "%s\\n" | "%s\n")) =>
                {
                    joined(&rest.iter().collect::<Vec<_>>(), "\n", "\n")
                }
                Some((format, [])) if format.literal().is_some_and(|text| !text.contains(['%', '\\'])) => {
                    joined(&[format], "", "")
                }
                _ => self.unknown(words, input),
            },
            "pwd" => self.directory_values(),
            "dirname" if operands.len() == 1 => first.map(|word| known(word, dirname)).unwrap_or_default(),
            "basename" if operands.len() == 1 => first.map(|word| known(word, basename)).unwrap_or_default(),
            // The loader resolves symlinks.
            "realpath" | "readlink" | "cygpath" | "wslpath" if operands.len() == 1 => {
                first.map(|word| self.absolute(word)).unwrap_or_default()
            }
            "git" if operands.first().is_some_and(|word| word.shown() == "rev-parse") => {
                let top = arguments.iter().any(|word| word.shown() == "--show-toplevel");
                match (self.context.variables)(TOP_LEVEL).filter(|_| top) {
                    Some(path) => vec![text(&path)],
                    None => self.unknown(words, None),
                }
            }
            "command" | "which" | "type"
                if !operands.is_empty() && (base != "command" || arguments.len() > operands.len()) =>
            {
                operands.iter().flat_map(|word| word.values().map(<[WordPart]>::to_vec)).collect()
            }
            "cat" | "tee" if operands.is_empty() || base == "tee" => {
                input.cloned().unwrap_or_else(|| vec![vec![WordPart::Dynamic("standard input".to_owned())]])
            }
            "cat" if operands.iter().all(|word| word.shown() != "-") => {
                let mut all = vec![Vec::new()];
                for word in operands {
                    all = concat(all, &self.contents(word));
                }
                all
            }
            _ => self.unknown(words, input),
        }
    }

    /// Returns an unknown output. The files and the input of a filter are part of it.
    fn unknown(&self, words: &[CommandWord], input: Option<&Values>) -> Values {
        let shown: Vec<&str> = words.iter().map(CommandWord::shown).collect();
        let mut parts = Parts::new();
        let name = words.first().and_then(CommandWord::literal).unwrap_or_default();
        // What was downloaded or read before a pipe stays a part of what comes out.
        let filters = is_filter(base_name(&name));
        let passed = |part: &&WordPart| match part {
            WordPart::Contents(_) => filters,
            WordPart::Output(_) => true,
            _ => false,
        };
        parts.extend(input.into_iter().flatten().flatten().filter(passed).cloned());
        if filters {
            // The first operand of these is a program or pattern.
            let has_option =
                words.iter().any(|word| matches!(word.shown(), "-e" | "-f" | "--expression" | "--file"));
            let scripted = matches!(
                base_name(&name),
                "sed" | "awk" | "gawk" | "grep" | "egrep" | "rg" | "jq" | "yq" | "tr" | "cut"
            );
            let operands = words.iter().skip(1).filter(|word| !word.shown().starts_with('-'));
            for word in operands.skip(usize::from(scripted && !has_option)) {
                let paths = word.literals().filter(|path| is_path(path));
                parts.extend(
                    paths
                        .flat_map(|path| self.places(path.trim_start_matches("if=")))
                        .map(WordPart::Contents),
                );
            }
        }
        parts.sort();
        parts.dedup();
        let mut outputs = 0_usize;
        parts.retain(|part| {
            outputs = outputs.saturating_add(usize::from(matches!(part, WordPart::Output(_))));
            outputs < 16 || !matches!(part, WordPart::Output(_))
        });
        parts.push(WordPart::Output(shown.join(" ")));
        vec![parts]
    }

    fn absolute(&self, word: &CommandWord) -> Values {
        let mut values = Vec::new();
        for parts in word.values() {
            match literal(parts) {
                Some(path) => values.extend(self.places(&path).iter().map(|path| text(path.as_str()))),
                None => values.push(parts.to_vec()),
            }
        }
        values
    }
}

/// Returns `true` if an argument of a filter looks like a path.
fn is_path(word: &str) -> bool {
    let plain = !word.starts_with('-') && !word.contains(['\n', '\'', '"', '|', '$', '(', '\\', '*', '{']);
    let extension =
        word.rsplit_once('.').is_some_and(|(stem, end)| !stem.is_empty() && end.len() < 6 && !end.is_empty());
    plain && !word.contains("://") && (word.contains('/') || extension)
}

/// Returns words as one text.
fn joined(words: &[&CommandWord], between: &str, end: &str) -> Values {
    let mut all = vec![Vec::new()];
    for (index, word) in words.iter().enumerate() {
        let values: Values = word.values().map(<[WordPart]>::to_vec).collect();
        if index > 0 {
            all = concat(all, &vec![text(between)]);
        }
        all = concat(all, &values);
    }
    if end.is_empty() { all } else { concat(all, &vec![text(end)]) }
}

fn dirname(path: &str) -> String {
    let path = path.trim_end_matches('/');
    match path.rsplit_once('/') {
        Some(("", _)) => "/".to_owned(),
        Some((directory, _)) => directory.to_owned(),
        None => ".".to_owned(),
    }
}

fn basename(path: &str) -> String {
    let path = PathText::new(path);
    let path = path.as_str();
    path.rsplit_once('/').map_or(path, |(_, name)| name).to_owned()
}
