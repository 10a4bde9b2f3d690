//! Words of a command after expansion, as far as their values are known.

use crate::PathText;

/// A piece of the value of a word.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum WordPart {
    /// Known text.
    Text(String),
    /// An unquoted `*`, `?` or `[`, which the shell expands to the names of files.
    Glob(char),
    /// The value of a variable that neither the text nor the caller sets.
    Variable(String),
    /// The output of a command; the text is the command as written.
    Output(String),
    /// The contents of a file.
    Contents(PathText),
    /// A value that only exists at run time, such as a line of the input; the text says which.
    Dynamic(String),
}

impl WordPart {
    /// Returns the part as written.
    pub(crate) fn shown(&self) -> String {
        match self {
            Self::Text(text) | Self::Output(text) | Self::Dynamic(text) => text.clone(),
            Self::Variable(name) => format!("${{{name}}}"),
            Self::Contents(path) => crate::read::outside(path).to_string(),
            Self::Glob(wildcard) => wildcard.to_string(),
        }
    }
}

/// The first of the private characters that stand for unknown parts in a nested text.
pub(crate) const OPAQUE: u32 = 0xF_0000;

/// Returns the number of the unknown part that a private character stands for.
pub(crate) fn opaque_index(c: char) -> Option<usize> {
    u32::from(c).checked_sub(OPAQUE).and_then(|index| usize::try_from(index).ok())
}

/// One value that a word can have.
pub(crate) type Parts = Vec<WordPart>;

/// A word of a command, with the values that it can have.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct CommandWord {
    shown: String,
    values: Vec<Parts>,
}

impl CommandWord {
    /// Creates a word from its text as written and its values.
    pub(crate) fn new(shown: impl Into<String>, mut values: Vec<Parts>) -> Self {
        values.sort();
        values.dedup();
        Self { shown: shown.into(), values }
    }

    /// Creates a word with a known value.
    pub(crate) fn known(text: impl Into<String>) -> Self {
        let text = text.into();
        Self { shown: text.clone(), values: vec![vec![WordPart::Text(text)]] }
    }

    /// Creates a word whose value is not known.
    pub(crate) fn dynamic(shown: impl Into<String>) -> Self {
        let shown = shown.into();
        Self { values: vec![vec![WordPart::Dynamic(shown.clone())]], shown }
    }

    /// Replaces the marks of the reader: the private start directory, and characters that stand for unknown parts.
    pub(crate) fn replace_private(&mut self, start: &str, opaque: &[WordPart]) {
        let clean = |text: &mut String| {
            if text.contains(start) {
                *text = text.replace(start, ".");
            }
            if text.contains(|c: char| u32::from(c) >= OPAQUE) {
                let part = |c: char| opaque_index(c).and_then(|index| opaque.get(index));
                *text =
                    text.chars().map(|c| part(c).map_or_else(|| c.to_string(), WordPart::shown)).collect();
            }
        };
        clean(&mut self.shown);
        for part in self.values.iter_mut().flatten() {
            match part {
                WordPart::Text(text)
                | WordPart::Variable(text)
                | WordPart::Output(text)
                | WordPart::Dynamic(text) => clean(text),
                WordPart::Contents(path) => *path = crate::read::outside(path),
                WordPart::Glob(_) => {}
            }
        }
    }

    /// Returns the word without its quotes, with variables as `${NAME}` and substitutions as `$(…)`.
    #[must_use]
    pub fn shown(&self) -> &str {
        &self.shown
    }

    /// Returns the value if it is known and there is only one.
    #[must_use]
    pub fn literal(&self) -> Option<String> {
        match self.values.as_slice() {
            [one] => literal(one),
            _ => None,
        }
    }

    /// Returns the values, each as its parts. There are several after branches and loops.
    pub fn values(&self) -> impl Iterator<Item = &[WordPart]> {
        self.values.iter().map(Vec::as_slice)
    }

    /// Returns the values that are known.
    pub fn literals(&self) -> impl Iterator<Item = String> {
        self.values.iter().filter_map(|parts| literal(parts))
    }

    /// Returns `true` if every value is known. A pattern of file names is not a known value.
    #[must_use]
    pub fn is_known(&self) -> bool {
        self.values.iter().all(|parts| literal(parts).is_some())
    }
}

/// Returns the text of a value without unknown parts.
pub(crate) fn literal(parts: &[WordPart]) -> Option<String> {
    let texts = parts.iter().map(|part| match part {
        WordPart::Text(text) => Some(text.as_str()),
        _ => None,
    });
    texts.collect()
}

/// Returns the text of a value with its wildcards, if it has no unknown parts.
pub(crate) fn pattern(parts: &[WordPart]) -> Option<String> {
    let mut text = String::new();
    for part in parts {
        match part {
            WordPart::Text(more) => text.push_str(more),
            WordPart::Glob(wildcard) => text.push(*wildcard),
            _ => return None,
        }
    }
    Some(text)
}

/// Adds parts, and joins adjacent texts.
pub(crate) fn extend(parts: &mut Parts, more: impl IntoIterator<Item = WordPart>) {
    for part in more {
        push(parts, part);
    }
}

/// Adds a part, and joins adjacent texts.
pub(crate) fn push(parts: &mut Parts, part: WordPart) {
    match (parts.last_mut(), part) {
        (Some(WordPart::Text(text)), WordPart::Text(more)) => text.push_str(&more),
        (Some(_), WordPart::Text(more)) if more.is_empty() => {}
        (_, part) => parts.push(part),
    }
}
