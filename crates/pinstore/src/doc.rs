//! Reading stored TOML: each value with its place, each defect with what was expected.

use core::ops::Range;

use plugward_types::ParseError;
use toml::de::{DeTable, DeValue};

use crate::error::{FormatError, FormatErrorKind};

const MAX_KEY: usize = 120;

/// A name, its text, and where the name stands.
pub(crate) type Named<'t> = (&'t str, &'t str, Range<usize>);

/// Finds line and column of a byte offset.
#[derive(Debug)]
pub(crate) struct Lines<'a> {
    text: &'a str,
    starts: Vec<usize>,
}

impl<'a> Lines<'a> {
    pub(crate) fn of(text: &'a str) -> Self {
        let after_breaks = text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n');
        let starts = core::iter::once(0).chain(after_breaks.map(|(at, _)| at.saturating_add(1))).collect();
        Self { text, starts }
    }

    pub(crate) fn line(&self, offset: usize) -> usize {
        self.starts.partition_point(|start| *start <= offset)
    }

    pub(crate) fn place(&self, offset: usize) -> (usize, usize) {
        let line = self.line(offset);
        let start = line.checked_sub(1).and_then(|index| self.starts.get(index)).copied().unwrap_or(0);
        let column = self.text.get(start..offset).map_or(1, |part| part.chars().count().saturating_add(1));
        (line, column)
    }
}

/// Takes bytes as text that ends with a line.
pub(crate) fn text_of(bytes: &[u8]) -> Result<&str, FormatError> {
    if bytes.is_empty() {
        return Err(FormatError::anywhere(FormatErrorKind::Empty));
    }
    core::str::from_utf8(bytes).map_err(|error| {
        let good = bytes.get(..error.valid_up_to()).unwrap_or_default();
        let place = core::str::from_utf8(good).map_or((1, 1), |text| Lines::of(text).place(text.len()));
        FormatError::at(place, FormatErrorKind::Utf8)
    })
}

/// Parses a whole document.
pub(crate) fn parse<'i>(text: &'i str, lines: &Lines<'i>) -> Result<DeTable<'i>, FormatError> {
    DeTable::parse(text).map(toml::Spanned::into_inner).map_err(|error| {
        let message: String = error.message().chars().take(MAX_KEY).flat_map(char::escape_default).collect();
        let kind = FormatErrorKind::Syntax { message };
        match error.span() {
            Some(span) => FormatError::at(lines.place(span.start), kind),
            None => FormatError::anywhere(kind),
        }
    })
}

/// Something that parses from a string in a file.
pub(crate) trait FromText: Sized {
    const EXPECTED: &'static str;
    fn from_text(text: &str) -> Option<Self>;
}

macro_rules! from_text {
    ($($type:ty, $expected:literal;)*) => {$(
        impl FromText for $type {
            const EXPECTED: &'static str = $expected;
            fn from_text(text: &str) -> Option<Self> {
                let parsed: Result<Self, ParseError> = text.parse();
                parsed.ok()
            }
        }
    )*};
}

from_text! {
    plugward_types::Digest, "`sha256:` and 64 lower-case hex digits";
    plugward_types::TreeDigest, "`pt1:` and 64 lower-case hex digits";
    plugward_types::SurfaceDigest, "`sf1:` and 64 lower-case hex digits";
    plugward_types::PluginId, "a plugin id: dialect:name@source";
}

impl FromText for String {
    const EXPECTED: &'static str = "a string";
    fn from_text(text: &str) -> Option<Self> {
        Some(text.to_owned())
    }
}

impl FromText for crate::Timestamp {
    const EXPECTED: &'static str = "a UTC time to the second, such as 2026-11-21T21:48:03Z";
    fn from_text(text: &str) -> Option<Self> {
        text.parse().ok()
    }
}

impl FromText for crate::Scope {
    const EXPECTED: &'static str = "`user`, or `workspace:` and 16 lower-case hex digits";
    fn from_text(text: &str) -> Option<Self> {
        text.parse().ok()
    }
}

/// One table of a document, with where it stands.
#[derive(Debug, Clone)]
pub(crate) struct Node<'t, 'i> {
    lines: &'t Lines<'i>,
    table: &'t DeTable<'i>,
    path: String,
    start: usize,
}

impl<'t, 'i> Node<'t, 'i> {
    pub(crate) const fn root(table: &'t DeTable<'i>, lines: &'t Lines<'i>) -> Self {
        Self { lines, table, path: String::new(), start: 0 }
    }

    /// The line of this table's key, from 1.
    pub(crate) fn line(&self) -> usize {
        self.lines.line(self.start)
    }

    fn key(&self, key: &str) -> String {
        let mut path = String::with_capacity(self.path.len().saturating_add(key.len()).saturating_add(1));
        path.push_str(&self.path);
        if !path.is_empty() {
            path.push('.');
        }
        // Each table's path is made, and nearly all keys are plain.
        if key.bytes().all(|byte| byte.is_ascii_graphic() && !matches!(byte, b'\\' | b'"' | b'\'')) {
            path.push_str(key);
        } else {
            path.extend(key.chars().flat_map(char::escape_default));
        }
        if path.len() > MAX_KEY {
            path.truncate(MAX_KEY);
            path.push_str("...");
        }
        path
    }

    /// Makes an error about one key of this table.
    pub(crate) fn wrong(&self, span: &Range<usize>, key: &str, expected: &'static str) -> FormatError {
        let kind = FormatErrorKind::Expected { key: self.key(key), expected };
        FormatError::at(self.lines.place(span.start), kind)
    }

    /// Makes the error for a key that must be there.
    pub(crate) fn missing(&self, key: &str) -> FormatError {
        let kind = FormatErrorKind::Missing { key: self.key(key) };
        FormatError::at(self.lines.place(self.start), kind)
    }

    /// Reads one value, if it is there.
    pub(crate) fn read<T>(
        &self,
        key: &str,
        expected: &'static str,
        read: impl FnOnce(&DeValue<'i>) -> Option<T>,
    ) -> Result<Option<T>, FormatError> {
        let Some(value) = self.table.get(key) else { return Ok(None) };
        match read(value.get_ref()) {
            Some(read) => Ok(Some(read)),
            None => Err(self.wrong(&value.span(), key, expected)),
        }
    }

    pub(crate) fn text<T: FromText>(&self, key: &str) -> Result<Option<T>, FormatError> {
        self.read(key, T::EXPECTED, |value| T::from_text(value.as_str()?))
    }

    pub(crate) fn must<T: FromText>(&self, key: &str) -> Result<T, FormatError> {
        self.text(key)?.ok_or_else(|| self.missing(key))
    }

    pub(crate) fn integer(&self, key: &str) -> Result<Option<i64>, FormatError> {
        self.read(key, "a whole number", |value| {
            let number = value.as_integer()?;
            i64::from_str_radix(number.as_str(), number.radix()).ok()
        })
    }

    /// Reads an integer that counts something.
    pub(crate) fn count(&self, key: &str) -> Result<u64, FormatError> {
        let found = self.read(key, "a whole number, not negative", |value| {
            let number = value.as_integer()?;
            let read = i64::from_str_radix(number.as_str(), number.radix()).ok()?;
            u64::try_from(read).ok()
        })?;
        found.ok_or_else(|| self.missing(key))
    }

    pub(crate) fn time(&self, key: &str) -> Result<Option<crate::Timestamp>, FormatError> {
        self.read(key, crate::Timestamp::EXPECTED, |value| {
            crate::Timestamp::from_text(&value.as_datetime()?.to_string())
        })
    }

    pub(crate) fn words(&self, key: &str) -> Result<Vec<String>, FormatError> {
        let found = self.read(key, "an array of strings", |value| {
            value.as_array()?.iter().map(|item| item.get_ref().as_str().map(str::to_owned)).collect()
        })?;
        Ok(found.unwrap_or_default())
    }

    pub(crate) fn table(&self, key: &str) -> Result<Option<Node<'t, 'i>>, FormatError> {
        let Some((at, value)) = self.table.get_key_value(key) else { return Ok(None) };
        match value.get_ref().as_table() {
            Some(table) => {
                Ok(Some(Node { lines: self.lines, table, path: self.key(key), start: at.span().start }))
            }
            None => Err(self.wrong(&value.span(), key, "a table")),
        }
    }

    /// Reads every entry of this table as a table of its own.
    pub(crate) fn tables(&self) -> Result<Vec<(&'t str, Node<'t, 'i>)>, FormatError> {
        let mut found = Vec::with_capacity(self.table.len());
        for (key, value) in self.table {
            let name: &'t str = key.get_ref();
            let Some(table) = value.get_ref().as_table() else {
                return Err(self.wrong(&value.span(), name, "a table"));
            };
            let node = Node { lines: self.lines, table, path: self.key(name), start: key.span().start };
            found.push((name, node));
        }
        Ok(found)
    }

    /// Reads a table of tables: `[[key]]`.
    pub(crate) fn list(&self, key: &str) -> Result<Vec<Node<'t, 'i>>, FormatError> {
        let Some(value) = self.table.get(key) else { return Ok(Vec::new()) };
        let wrong = || self.wrong(&value.span(), key, "tables: [[key]]");
        let array = value.get_ref().as_array().ok_or_else(wrong)?;
        let mut found = Vec::with_capacity(array.len());
        for item in array {
            let table = item.get_ref().as_table().ok_or_else(|| self.wrong(&item.span(), key, "a table"))?;
            found.push(Node { lines: self.lines, table, path: self.key(key), start: item.span().start });
        }
        Ok(found)
    }

    /// Reads every entry of a table as a name and a text: `key = { name = "text" }`.
    pub(crate) fn map<K: FromText + Ord, V: FromText>(
        &self,
        key: &str,
    ) -> Result<std::collections::BTreeMap<K, V>, FormatError> {
        let mut found = std::collections::BTreeMap::new();
        let Some(node) = self.table(key)? else { return Ok(found) };
        for (name, value) in node.table {
            let text: &str = name.get_ref();
            let key = K::from_text(text).ok_or_else(|| node.wrong(&name.span(), text, K::EXPECTED))?;
            let read = value.get_ref().as_str().and_then(V::from_text);
            let value = read.ok_or_else(|| node.wrong(&value.span(), text, V::EXPECTED))?;
            found.insert(key, value);
        }
        Ok(found)
    }

    /// Gives every entry whose value is a string, with its line; anything else is wrong.
    pub(crate) fn strings(&self, expected: &'static str) -> Result<Vec<Named<'t>>, FormatError> {
        let mut found = Vec::with_capacity(self.table.len());
        for (key, value) in self.table {
            let name: &'t str = key.get_ref();
            let text = value.get_ref().as_str().ok_or_else(|| self.wrong(&value.span(), name, expected))?;
            found.push((name, text, key.span()));
        }
        Ok(found)
    }

    pub(crate) fn line_of(&self, span: &Range<usize>) -> usize {
        self.lines.line(span.start)
    }
}
