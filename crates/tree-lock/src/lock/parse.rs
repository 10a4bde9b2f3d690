//! PLUGINS.lock, read: strictly, every fault with its place.

use std::collections::{BTreeMap, BTreeSet};

use plugward_types::PluginId;
use toml::de::{DeTable, DeValue};

use super::entry::{LockEntry, PATH, Source};
use super::error::LockError;
use super::file::{LOCK_BYTES, LOCK_ENTRIES, LockFile};
use crate::exclude::{EXCLUDABLE, Excludes};

type Spanned<T> = toml::Spanned<T>;
type Table<'i> = DeTable<'i>;

impl LockFile {
    /// Reads a file: TOML, version 1, no key that is not known, no id twice.
    ///
    /// # Errors
    /// `lock/malformed` with line and column: not UTF-8, more than [`LOCK_BYTES`] or [`LOCK_ENTRIES`], a syntax
    /// error (a merge conflict mark is one), an unknown version or key, a bad id, digest, path or address.
    pub fn parse(bytes: &[u8]) -> Result<Self, LockError> {
        if bytes.len() > LOCK_BYTES {
            return Err(LockError::new(format!("at most {LOCK_BYTES} bytes")));
        }
        let text = match core::str::from_utf8(bytes) {
            Ok(text) => text,
            Err(error) => {
                let valid = bytes.get(..error.valid_up_to()).unwrap_or_default();
                let before = core::str::from_utf8(valid).unwrap_or_default();
                return Err(LockError::at(before, before.len(), "UTF-8"));
            }
        };
        let document = DeTable::parse(text).map_err(|error| {
            if let Some(offset) = conflict(text) {
                return LockError::at(text, offset, "no merge conflict mark: keep the entries of both sides");
            }
            let offset = error.span().map_or(0, |span| span.start);
            LockError::at(text, offset, format!("TOML: {}", error.message().replace('\n', ", ")))
        })?;
        Reader { text }.file(document.get_ref())
    }
}

/// Finds the first line that `git` left of a merge. Such a line is a syntax error in TOML, and hard to read as one.
fn conflict(text: &str) -> Option<usize> {
    let mark = |line: &str| ["<<<<<<< ", ">>>>>>> ", "||||||| "].iter().any(|mark| line.starts_with(mark));
    let mut offset = 0_usize;
    for line in text.split_inclusive('\n') {
        if mark(line) || line.trim_end() == "=======" {
            return Some(offset);
        }
        offset = offset.saturating_add(line.len());
    }
    None
}

struct Reader<'t> {
    text: &'t str,
}

impl Reader<'_> {
    fn error<T>(&self, at: &Spanned<T>, expected: impl Into<String>) -> LockError {
        LockError::at(self.text, at.span().start, expected)
    }

    fn file(&self, table: &Table<'_>) -> Result<LockFile, LockError> {
        // The version first: a later version may have other keys, and should be named as what it is.
        match table.iter().find(|(key, _)| key.get_ref() == "version") {
            Some((_, value)) => match value.get_ref() {
                DeValue::Integer(number) if number.radix() == 10 && number.as_str() == "1" => {}
                other => {
                    let error = self.error(value, "version 1, the only one this plugward reads");
                    let is_newer = matches!(other, DeValue::Integer(number)
                        if number.radix() == 10 && number.as_str().parse::<u64>().is_ok_and(|found| found > 1));
                    return Err(if is_newer { error.of_newer() } else { error });
                }
            },
            None => return Err(LockError::at(self.text, 0, "a line `version = 1`")),
        }
        let mut file = LockFile::new();
        for (key, value) in table {
            match key.get_ref().as_ref() {
                "version" => {}
                "plugin" => self.plugins(value, &mut file)?,
                _ => return Err(self.error(key, "only the keys `version` and `plugin`")),
            }
        }
        Ok(file)
    }

    fn plugins(&self, value: &Spanned<DeValue<'_>>, file: &mut LockFile) -> Result<(), LockError> {
        let table = self.table(value)?;
        if table.len() > LOCK_ENTRIES {
            return Err(self.error(value, format!("at most {LOCK_ENTRIES} entries")));
        }
        for (key, value) in table {
            let id: PluginId = key
                .get_ref()
                .parse()
                .map_err(|error| self.error(key, format!("`[plugin.\"dialect:name@source\"]` ({error})")))?;
            let entry = self.entry(value).map_err(|error| error.of_plugin(id.as_str()))?;
            if let Some((key, expected)) = entry.fault() {
                let place = self.table(value)?.get(key).unwrap_or(value);
                return Err(self.error(place, format!("`{key}`: {expected}")).of_plugin(id.as_str()));
            }
            file.insert(id, entry)?;
        }
        Ok(())
    }

    fn entry(&self, value: &Spanned<DeValue<'_>>) -> Result<LockEntry, LockError> {
        const KEYS: &str = "only the keys path, source, version, manifest, entry, tree, exclude, executable, \
                            shared, surface, launchers";
        let mut path = None;
        let mut tree = None;
        let mut entry = LockEntry {
            path: String::new(),
            source: None,
            version: None,
            manifest: None,
            entry: None,
            tree: BTreeSet::new(),
            exclude: Excludes::none(),
            executable: BTreeSet::new(),
            shared: BTreeMap::new(),
            surface: None,
            launchers: BTreeSet::new(),
        };
        for (key, value) in self.table(value)? {
            match key.get_ref().as_ref() {
                "path" => path = Some(self.string(value)?),
                "source" => entry.source = Some(self.source(value)?),
                "version" => entry.version = Some(self.string(value)?),
                "manifest" => entry.manifest = Some(self.parsed(value)?),
                "entry" => entry.entry = Some(self.parsed(value)?),
                "tree" => tree = Some(self.set(value, |value| self.parsed(value))?),
                "exclude" => entry.exclude = self.exclude(value)?,
                "executable" => entry.executable = self.set(value, |value| self.string(value))?,
                "shared" => entry.shared = self.shared(value)?,
                "surface" => entry.surface = Some(self.parsed(value)?),
                "launchers" => entry.launchers = self.set(value, |value| self.string(value))?,
                _ => return Err(self.error(key, KEYS)),
            }
        }
        entry.path = path.ok_or_else(|| self.error(value, format!("a key `path`: {PATH}")))?;
        entry.tree = tree.ok_or_else(|| self.error(value, "a key `tree` with at least one tree digest"))?;
        Ok(entry)
    }

    fn source(&self, value: &Spanned<DeValue<'_>>) -> Result<Source, LockError> {
        let mut kind = None;
        let mut source = Source { kind: String::new(), url: None, rev: None, path: None };
        for (key, value) in self.table(value)? {
            match key.get_ref().as_ref() {
                "kind" => kind = Some(self.string(value)?),
                "url" => source.url = Some(self.string(value)?),
                "rev" => source.rev = Some(self.string(value)?),
                "path" => source.path = Some(self.string(value)?),
                _ => return Err(self.error(key, "only the keys kind, url, rev, path")),
            }
        }
        source.kind = kind.ok_or_else(|| self.error(value, "a key `kind`"))?;
        Ok(source)
    }

    fn exclude(&self, value: &Spanned<DeValue<'_>>) -> Result<Excludes, LockError> {
        let names = self.set(value, |value| {
            let name = self.string(value)?;
            if EXCLUDABLE.contains(&name.as_str()) {
                return Ok(name);
            }
            Err(self.error(value, format!("one of {}", EXCLUDABLE.join(", "))))
        })?;
        Excludes::new(names.iter().map(String::as_str)).map_err(|error| self.error(value, error.to_string()))
    }

    fn shared<T>(&self, value: &Spanned<DeValue<'_>>) -> Result<BTreeMap<String, T>, LockError>
    where
        T: core::str::FromStr<Err = plugward_types::ParseError>,
    {
        let mut out = BTreeMap::new();
        for (key, value) in self.table(value)? {
            out.insert(key.get_ref().to_string(), self.parsed(value)?);
        }
        Ok(out)
    }

    fn table<'v, 'i>(&self, value: &'v Spanned<DeValue<'i>>) -> Result<&'v Table<'i>, LockError> {
        value.get_ref().as_table().ok_or_else(|| self.error(value, "a table"))
    }

    fn string(&self, value: &Spanned<DeValue<'_>>) -> Result<String, LockError> {
        value.get_ref().as_str().map(str::to_owned).ok_or_else(|| self.error(value, "a string"))
    }

    fn parsed<T>(&self, value: &Spanned<DeValue<'_>>) -> Result<T, LockError>
    where
        T: core::str::FromStr<Err = plugward_types::ParseError>,
    {
        self.string(value)?.parse().map_err(|error: plugward_types::ParseError| {
            self.error(value, format!("a {} ({})", error.what(), error.help()))
        })
    }

    /// Reads a list whose order does not count and in which nothing stands twice.
    fn set<T: Ord>(
        &self,
        value: &Spanned<DeValue<'_>>,
        read: impl Fn(&Spanned<DeValue<'_>>) -> Result<T, LockError>,
    ) -> Result<BTreeSet<T>, LockError> {
        let items = value.get_ref().as_array().ok_or_else(|| self.error(value, "a list of strings"))?;
        let mut out = BTreeSet::new();
        for item in &**items {
            if !out.insert(read(item)?) {
                return Err(self.error(item, "each element once"));
            }
        }
        Ok(out)
    }
}
