//! Expands words: variables, substitutions, tildes and wildcards.

use super::{Read, Reader, VALUES, Values};
use crate::error::CommandError;
use crate::syntax::{Operation, Piece, RemovedEnd, Word};
use crate::word::{OPAQUE, Parts, WordPart, extend, literal, opaque_index, push};
use crate::{CommandWord, PathText};
use plugward_types::{Part, glob};

/// What the shell does with the value of an expansion.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Splitting {
    /// It stays one word.
    Joined,
    /// It is split at blanks.
    Split,
}

/// One way to expand a word: its fields, of which the last one may grow.
#[derive(Clone, Default)]
struct Expansion {
    fields: Vec<Parts>,
    /// The field that is being built; `None` if nothing, not even an empty text, belongs to it yet.
    current: Option<Parts>,
}

impl Expansion {
    fn add(&mut self, parts: &[WordPart]) {
        let current = self.current.get_or_insert_default();
        extend(current, parts.iter().cloned());
    }

    fn split(&mut self) {
        self.fields.extend(self.current.take());
    }

    /// Adds the value of an unquoted expansion, which the shell splits at blanks.
    fn add_split(&mut self, parts: &[WordPart]) {
        for part in parts {
            let WordPart::Text(text) = part else {
                self.add(core::slice::from_ref(part));
                continue;
            };
            for piece in text.split_inclusive([' ', '\t', '\n']) {
                let word = piece.trim_end_matches([' ', '\t', '\n']);
                if !word.is_empty() {
                    self.add(&wildcards(word));
                }
                if word.len() < piece.len() {
                    self.split();
                }
            }
        }
    }

    fn add_fields(&mut self, fields: &[Parts], splitting: Splitting) {
        for (at, field) in fields.iter().enumerate() {
            if at > 0 {
                self.split();
            }
            if splitting == Splitting::Split {
                self.add_split(field);
            } else {
                self.add(field);
            }
        }
    }

    fn end(mut self) -> Vec<Parts> {
        self.split();
        self.fields
    }
}

impl Reader<'_> {
    /// Expands a word to its fields, for each of its values.
    pub(super) fn fields(&mut self, word: &Word) -> Read<Vec<Vec<Parts>>> {
        let mut all = vec![Expansion::default()];
        for (index, piece) in word.pieces.iter().enumerate() {
            let (values, splits) = self.piece(piece, index)?;
            if all.len().saturating_mul(values.len()) > VALUES {
                let unknown = vec![WordPart::Dynamic(shown(word))];
                return Ok(vec![vec![unknown]]);
            }
            if let [only] = values.as_slice() {
                for one in &mut all {
                    one.add_fields(only, splits);
                }
                continue;
            }
            let with = |before: &Expansion, fields: &Vec<Parts>| {
                let mut one = before.clone();
                one.add_fields(fields, splits);
                one
            };
            all =
                all.iter().flat_map(|before| values.iter().map(move |fields| with(before, fields))).collect();
        }
        let mut values: Vec<Vec<Parts>> = all.into_iter().map(Expansion::end).collect();
        values.sort();
        values.dedup();
        Ok(values)
    }

    /// Expands a word without splitting it.
    pub(super) fn single(&mut self, word: &Word) -> Read<Values> {
        let mut all: Values = vec![Vec::new()];
        for (index, piece) in word.pieces.iter().enumerate() {
            let (values, _) = self.piece(piece, index)?;
            if all.len().saturating_mul(values.len()) > VALUES {
                return Ok(vec![vec![WordPart::Dynamic(shown(word))]]);
            }
            if let [only] = values.as_slice() {
                let more = joined(only);
                for one in &mut all {
                    extend(one, more.iter().cloned());
                }
                continue;
            }
            all = all
                .iter()
                .flat_map(|before| values.iter().map(move |fields| join(before, &joined(fields))))
                .collect();
        }
        Ok(all)
    }

    /// Expands a word whose variables are not those of the command itself.
    pub(super) fn unlisted(&mut self, word: &Word) -> Read<Values> {
        self.unlisted = self.unlisted.saturating_add(1);
        let values = self.single(word)?;
        self.unlisted = self.unlisted.saturating_sub(1);
        Ok(values)
    }

    /// Expands a word that is data or a single argument.
    pub(super) fn expand_word(&mut self, word: &Word) -> Read<CommandWord> {
        Ok(CommandWord::new(shown(word), self.single(word)?))
    }

    /// Expands a piece: its values, each as fields, and whether the shell splits them.
    fn piece(&mut self, piece: &Piece, index: usize) -> Read<(Vec<Vec<Parts>>, Splitting)> {
        Ok(match piece {
            Piece::Text { text, quoted } => {
                let mut parts = self.opaque_parts(text, if *quoted { literal_parts } else { wildcards });
                if let Some(WordPart::Text(text)) = parts.first_mut().filter(|_| index == 0 && !quoted)
                    && text.starts_with('~')
                {
                    let rest = text.split_off(text.find('/').unwrap_or(text.len()));
                    let home = self.tilde(text);
                    let rest = join(&[WordPart::Text(rest)], parts.rest(1));
                    return Ok((
                        home.into_iter().map(|home| vec![join(&home, &rest)]).collect(),
                        Splitting::Joined,
                    ));
                }
                (vec![vec![parts]], Splitting::Joined)
            }
            Piece::Variable { name, operation, quoted } => {
                if !quoted && self.unlisted == 0 {
                    self.unquoted.insert(name.clone());
                }
                let (values, host) = self.variable(name, operation)?;
                (values, if *quoted || host { Splitting::Joined } else { Splitting::Split })
            }
            Piece::Output { script, source, quoted } => {
                let output = self.substitution(script, source)?;
                (
                    output.into_iter().map(|one| vec![one]).collect(),
                    if *quoted { Splitting::Joined } else { Splitting::Split },
                )
            }
            Piece::Process { script, source } => {
                let output = self.substitution(script, source)?;
                self.processes.insert(source.clone(), output);
                (vec![vec![vec![WordPart::Output(source.clone())]]], Splitting::Joined)
            }
            Piece::Arithmetic(word) => {
                self.unlisted(word)?;
                (vec![vec![vec![WordPart::Dynamic("$((…))".to_owned())]]], Splitting::Joined)
            }
        })
    }

    /// Reads a substitution in a subshell, and returns its output without the line ends after it.
    fn substitution(&mut self, script: &crate::syntax::Script, source: &str) -> Read<Values> {
        let place = self.place.clone();
        self.depth = self.depth.saturating_add(1);
        let unlisted = core::mem::take(&mut self.unlisted);
        let mut output = self.branch(|reader| reader.script(script, None))?.output;
        self.unlisted = unlisted;
        self.depth = self.depth.saturating_sub(1);
        self.place = place;
        if output.len() > VALUES || output.is_empty() {
            output = vec![vec![WordPart::Output(source.to_owned())]];
        }
        for parts in &mut output {
            if let Some(WordPart::Text(text)) = parts.last_mut() {
                text.truncate(text.trim_end_matches('\n').len());
            }
            for part in parts.iter_mut() {
                // The whole substitution is what a reader sees.
                if let WordPart::Output(inner) = part {
                    source.clone_into(inner);
                }
            }
            parts.dedup();
        }
        Ok(output)
    }

    /// Returns the value of `~`, `~+`, `~-` or `~user`.
    fn tilde(&mut self, prefix: &str) -> Values {
        match prefix {
            "~" => self.lookup("HOME").into_iter().flatten().collect(),
            "~+" => self.directory_values(),
            _ => vec![vec![WordPart::Variable(prefix.to_owned())]],
        }
    }

    /// Returns the values of a variable after its operation, and whether the host sets it.
    fn variable(&mut self, name: &str, operation: &Operation) -> Read<(Vec<Vec<Parts>>, bool)> {
        let plain = name.trim_end_matches("[@]").trim_end_matches("[]");
        let named = plain.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_');
        if named && self.unlisted == 0 && !matches!(operation, Operation::Indirect) {
            self.used.insert(plain.to_owned());
        }
        let is_set = self.variables.contains_key(plain);
        let host = !is_set && self.given(plain).is_some();
        let values = self.lookup(name);
        let unknown = vec![vec![vec![WordPart::Dynamic(format!("${{{name}…}}"))]]];
        let values = match operation {
            Operation::None => values,
            Operation::Required(word) => {
                self.unlisted(word)?;
                values
            }
            Operation::Default(word) => {
                let defaults: Vec<Vec<Parts>> =
                    self.unlisted(word)?.into_iter().map(|one| vec![one]).collect();
                match (is_set, host) {
                    (_, true) => values,
                    // An empty value takes the default as well.
                    (true, _) => values.into_iter().chain(defaults).collect(),
                    _ => defaults,
                }
            }
            Operation::Alternative(word) => {
                let mut values: Vec<Vec<Parts>> =
                    self.unlisted(word)?.into_iter().map(|one| vec![one]).collect();
                values.push(Vec::new());
                values
            }
            Operation::Remove { end, pattern } => {
                let pattern = self.single(pattern)?;
                let removed = |parts: &Parts| {
                    let (text, [pattern]) = (literal(parts)?, pattern.as_slice()) else { return None };
                    let pattern = crate::word::pattern(pattern)?;
                    Some(vec![WordPart::Text(remove(&text, &pattern, *end))])
                };
                let each = |fields: &Vec<Parts>| fields.iter().map(removed).collect::<Option<Vec<Parts>>>();
                values.iter().map(each).collect::<Option<Vec<_>>>().unwrap_or(unknown)
            }
            Operation::Indirect => unknown,
            Operation::Other(word) => {
                self.unlisted(word)?;
                unknown
            }
        };
        Ok((values, host))
    }

    /// Returns the parts of a text: wildcards, and unknown parts of the text around a nested one.
    fn opaque_parts(&self, text: &str, plain: fn(&str) -> Parts) -> Parts {
        let mut parts = Vec::new();
        let mut from = 0_usize;
        if !self.opaque.is_empty() {
            for (at, c) in text.char_indices() {
                if let Some(part) = opaque_index(c).and_then(|index| self.opaque.get(index)) {
                    extend(&mut parts, plain(text.part(from..at)));
                    push(&mut parts, part.clone());
                    from = at.saturating_add(c.len_utf8());
                }
            }
        }
        let rest = text.rest(from);
        if !rest.is_empty() || parts.is_empty() {
            extend(&mut parts, plain(rest));
        }
        parts
    }

    /// Returns a text to read as a command, in which a private character stands for each unknown part.
    pub(super) fn nest(&mut self, parts: &[WordPart]) -> Read<String> {
        let mut text = String::new();
        for part in parts {
            match part {
                WordPart::Text(more) => text.push_str(more),
                WordPart::Glob(wildcard) => text.push(*wildcard),
                unknown => {
                    let index =
                        self.opaque.iter().position(|one| one == unknown).unwrap_or(self.opaque.len());
                    if index == self.opaque.len() {
                        self.opaque.push(unknown.clone());
                    }
                    let code = u32::try_from(index)
                        .ok()
                        .filter(|index| *index < 4096)
                        .and_then(|index| char::from_u32(OPAQUE.saturating_add(index)));
                    text.push(code.ok_or(CommandError::new("unknown parts of nested commands", 4096))?);
                }
            }
        }
        Ok(text)
    }

    /// Returns the contents of the files that a word names.
    pub(super) fn contents(&self, word: &CommandWord) -> Values {
        let mut values = Vec::new();
        for parts in word.values() {
            match literal(parts).filter(|path| !path.starts_with("/dev/")) {
                Some(path) => {
                    values.extend(self.places(&path).into_iter().map(|path| vec![WordPart::Contents(path)]));
                }
                None => match parts {
                    [WordPart::Output(source)] if self.processes.contains_key(source) => {
                        values.extend(self.processes.get(source).into_iter().flatten().cloned());
                    }
                    _ => values.push(parts.to_vec()),
                },
            }
        }
        values
    }

    /// Returns a path as seen from each directory.
    pub(super) fn places(&self, path: &str) -> Vec<PathText> {
        if path.starts_with('/') {
            return vec![PathText::new(path)];
        }
        self.place.directories.iter().map(|directory| directory.join(path)).collect()
    }
}

fn literal_parts(text: &str) -> Parts {
    vec![WordPart::Text(text.to_owned())]
}

/// Splits unquoted text at its wildcards.
fn wildcards(text: &str) -> Parts {
    let mut parts = Vec::new();
    // A bracket is a wildcard only with its partner.
    let brackets = text.find('[').is_some_and(|open| text.get(open..).is_some_and(|rest| rest.contains(']')));
    for piece in text.split_inclusive(['*', '?', '[']) {
        let (before, last) = match piece.char_indices().next_back() {
            Some((at, last @ ('*' | '?'))) => (piece.part(..at), Some(last)),
            Some((at, '[')) if brackets => (piece.part(..at), Some('[')),
            _ => (piece, None),
        };
        if !before.is_empty() {
            push(&mut parts, WordPart::Text(before.to_owned()));
        }
        parts.extend(last.map(WordPart::Glob));
    }
    if parts.is_empty() {
        parts.push(WordPart::Text(String::new()));
    }
    parts
}

/// Returns two values as one.
pub(super) fn join(before: &[WordPart], after: &[WordPart]) -> Parts {
    let mut parts = before.to_vec();
    extend(&mut parts, after.iter().cloned());
    parts
}

/// Returns fields as one text.
pub(super) fn joined(fields: &[Parts]) -> Parts {
    let mut parts = Vec::new();
    for (index, field) in fields.iter().enumerate() {
        if index > 0 {
            push(&mut parts, WordPart::Text(" ".to_owned()));
        }
        extend(&mut parts, field.iter().cloned());
    }
    parts
}

/// Returns a word without quotes, with variables as `${NAME}`.
pub(super) fn shown(word: &Word) -> String {
    let mut text = String::new();
    for piece in &word.pieces {
        match piece {
            Piece::Text { text: more, .. } => text.push_str(more),
            Piece::Variable { name, operation, .. } => match operation {
                Operation::None | Operation::Default(_) | Operation::Required(_) => {
                    text.push_str("${");
                    text.push_str(name.trim_end_matches("[]"));
                    text.push('}');
                }
                _ => text.push_str(&format!("${{{name}…}}")),
            },
            Piece::Output { source, .. } | Piece::Process { source, .. } => text.push_str(source),
            Piece::Arithmetic(_) => text.push_str("$((…))"),
        }
    }
    text
}

/// Removes the shortest or longest match of a pattern from the start or end of a text.
fn remove(text: &str, pattern: &str, end: RemovedEnd) -> String {
    let prefix = matches!(end, RemovedEnd::ShortPrefix | RemovedEnd::LongPrefix);
    let mut cuts: Vec<usize> = text.char_indices().map(|(at, _)| at).chain([text.len()]).collect();
    if matches!(end, RemovedEnd::LongPrefix | RemovedEnd::ShortSuffix) {
        cuts.reverse();
    }
    let split = |at: &usize| text.split_at_checked(*at);
    let fits = cuts
        .iter()
        .filter_map(split)
        .find(|(start, end)| glob::is_shell_match(pattern, if prefix { start } else { end }));
    fits.map_or(text, |(start, end)| if prefix { end } else { start }).to_owned()
}
