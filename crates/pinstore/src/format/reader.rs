//! The TOML reader. Its errors contain the place, the key and the expected value.

use core::ops::Range;

use plugward_types::{LineColumn, LineEnds, LineIndex, ParseError, Part, Timestamp};
use toml::de::{DeTable, DeValue};

use crate::error::{FormatError, FormatErrorKind};

// Longer keys are cut off in messages.
const MAX_KEY: usize = 120;

/// A key, its value, and the position of the key.
pub(crate) type Named<'t> = (&'t str, &'t str, Range<usize>);

/// Returns the lines of a document. In TOML, a CR without an LF does not end a line.
pub(crate) fn lines_of(text: &str) -> LineIndex<'_> {
    LineIndex::new(text.as_bytes(), LineEnds::Lf)
}

/// Returns the line and column of an offset, as [`FormatError`] has them.
fn place(lines: &LineIndex<'_>, offset: usize) -> (usize, usize) {
    let LineColumn { line, column } = lines.line_column(offset);
    let widen = |number: u32| usize::try_from(number).unwrap_or(usize::MAX);
    (widen(line), widen(column))
}

/// Checks that bytes are UTF-8 text.
pub(crate) fn text_of(bytes: &[u8]) -> Result<&str, FormatError> {
    if bytes.is_empty() {
        return Err(FormatError::anywhere(FormatErrorKind::Empty));
    }
    core::str::from_utf8(bytes).map_err(|error| {
        let good = bytes.part(..error.valid_up_to());
        let lines = LineIndex::new(good, LineEnds::Lf);
        FormatError::at(place(&lines, good.len()), FormatErrorKind::Utf8)
    })
}

/// Parses a whole document.
pub(crate) fn parse<'i>(text: &'i str, lines: &LineIndex<'i>) -> Result<DeTable<'i>, FormatError> {
    DeTable::parse(text).map(toml::Spanned::into_inner).map_err(|error| {
        let message: String = error.message().chars().take(MAX_KEY).flat_map(char::escape_default).collect();
        let kind = FormatErrorKind::Syntax { message };
        match error.span() {
            Some(span) => FormatError::at(place(lines, span.start), kind),
            None => FormatError::anywhere(kind),
        }
    })
}

/// A value that is stored as a string.
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
    plugward_types::PluginKey, "a plugin key: host:name, host:name@market or path:/directory";
    plugward_types::CalledName, "a plugin name: dialect:name";
}

impl FromText for String {
    const EXPECTED: &'static str = "a string";
    fn from_text(text: &str) -> Option<Self> {
        Some(text.to_owned())
    }
}

impl FromText for Timestamp {
    const EXPECTED: &'static str = "a UTC time to the second, such as 2026-11-21T21:48:03Z";
    fn from_text(text: &str) -> Option<Self> {
        Self::parse_seconds(text).ok()
    }
}

impl FromText for crate::DirectoryId {
    const EXPECTED: &'static str = Self::EXPECTED;
    fn from_text(text: &str) -> Option<Self> {
        text.parse().ok()
    }
}

/// A table of a document, with its position.
#[derive(Debug, Clone)]
pub(crate) struct Node<'t, 'i> {
    lines: &'t LineIndex<'i>,
    table: &'t DeTable<'i>,
    path: String,
    start: usize,
}

impl<'t, 'i> Node<'t, 'i> {
    pub(crate) const fn root(table: &'t DeTable<'i>, lines: &'t LineIndex<'i>) -> Self {
        Self { lines, table, path: String::new(), start: 0 }
    }

    fn key(&self, key: &str) -> String {
        let mut path = String::with_capacity(self.path.len().saturating_add(key.len()).saturating_add(1));
        path.push_str(&self.path);
        if !path.is_empty() {
            path.push('.');
        }
        // The path of every table is built, and nearly all keys need no escaping.
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

    /// Returns an error for a key of this table.
    pub(crate) fn wrong(&self, span: &Range<usize>, key: &str, expected: &'static str) -> FormatError {
        let kind = FormatErrorKind::Expected { key: self.key(key), expected };
        FormatError::at(place(self.lines, span.start), kind)
    }

    /// Returns the error for a required key.
    pub(crate) fn missing(&self, key: &str) -> FormatError {
        let kind = FormatErrorKind::Missing { key: self.key(key) };
        FormatError::at(place(self.lines, self.start), kind)
    }

    /// Returns the error for a key that is not part of the format.
    pub(crate) fn unknown(&self, key: &str) -> FormatError {
        let span = self.table.get_key_value(key).map_or(0..0, |(key, _)| key.span());
        FormatError::at(place(self.lines, span.start), FormatErrorKind::Unknown { key: self.key(key) })
    }

    /// Returns the error for a wrong check value.
    pub(crate) fn mismatch(&self) -> FormatError {
        FormatError::at(place(self.lines, self.start), FormatErrorKind::Check { key: self.path.clone() })
    }

    /// Checks that the table has no keys other than these.
    pub(crate) fn only(&self, known: &[&str]) -> Result<(), FormatError> {
        let other = self.table.keys().find(|key| !known.contains(&key.get_ref().as_ref()));
        other.map_or(Ok(()), |key| Err(self.unknown(key.get_ref())))
    }

    /// Reads the name of this table.
    pub(crate) fn name_as<T: FromText>(&self, name: &str) -> Result<T, FormatError> {
        T::from_text(name).ok_or_else(|| {
            let kind = FormatErrorKind::Expected { key: self.path.clone(), expected: T::EXPECTED };
            FormatError::at(place(self.lines, self.start), kind)
        })
    }

    /// Reads the name of an entry of this table.
    pub(crate) fn key_as<T: FromText>(&self, name: &str, span: &Range<usize>) -> Result<T, FormatError> {
        T::from_text(name).ok_or_else(|| self.wrong(span, name, T::EXPECTED))
    }

    /// Returns the names of all entries, with their positions.
    pub(crate) fn names(&self) -> impl Iterator<Item = (&'t str, Range<usize>)> {
        self.table.keys().map(|key| (key.get_ref().as_ref(), key.span()))
    }

    /// Reads one value, if it is present.
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

    /// Reads an integer that is a count.
    pub(crate) fn count(&self, key: &str) -> Result<u64, FormatError> {
        if self.table.get(key).is_none() {
            return Err(self.missing(key));
        }
        self.optional_count(key)
    }

    /// Reads an integer that is a count; without the key, it is 0.
    pub(crate) fn optional_count(&self, key: &str) -> Result<u64, FormatError> {
        let found = self.read(key, "a whole number, not negative", |value| {
            let number = value.as_integer()?;
            let read = i64::from_str_radix(number.as_str(), number.radix()).ok()?;
            u64::try_from(read).ok()
        })?;
        Ok(found.unwrap_or_default())
    }

    pub(crate) fn time(&self, key: &str) -> Result<Option<Timestamp>, FormatError> {
        self.read(key, Timestamp::EXPECTED, |value| Timestamp::from_text(&value.as_datetime()?.to_string()))
    }

    pub(crate) fn must_time(&self, key: &str) -> Result<Timestamp, FormatError> {
        self.time(key)?.ok_or_else(|| self.missing(key))
    }

    /// Reads one word of a fixed list.
    pub(crate) fn word<T>(
        &self,
        key: &str,
        expected: &'static str,
        of_word: impl FnOnce(&str) -> Option<T>,
    ) -> Result<T, FormatError> {
        self.read(key, expected, |value| of_word(value.as_str()?))?.ok_or_else(|| self.missing(key))
    }

    /// Reads an array of strings as a set.
    pub(crate) fn set<T: FromText + Ord>(
        &self,
        key: &str,
    ) -> Result<std::collections::BTreeSet<T>, FormatError> {
        let found = self.read(key, T::EXPECTED, |value| {
            value.as_array()?.iter().map(|item| T::from_text(item.get_ref().as_str()?)).collect()
        })?;
        Ok(found.unwrap_or_default())
    }

    /// Reads a table of times.
    pub(crate) fn times<K: FromText + Ord>(
        &self,
        key: &str,
    ) -> Result<std::collections::BTreeMap<K, Timestamp>, FormatError> {
        let mut found = std::collections::BTreeMap::new();
        let Some(node) = self.table(key)? else { return Ok(found) };
        for (name, span) in node.names() {
            found.insert(node.key_as(name, &span)?, node.must_time(name)?);
        }
        Ok(found)
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

    /// Reads every entry of this table as a table.
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

    /// Returns all entries, which must be strings.
    pub(crate) fn strings(&self, expected: &'static str) -> Result<Vec<Named<'t>>, FormatError> {
        let mut found = Vec::with_capacity(self.table.len());
        for (key, value) in self.table {
            let name: &'t str = key.get_ref();
            let text = value.get_ref().as_str().ok_or_else(|| self.wrong(&value.span(), name, expected))?;
            found.push((name, text, key.span()));
        }
        Ok(found)
    }
}
