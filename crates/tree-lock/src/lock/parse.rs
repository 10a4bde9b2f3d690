//! Reading PLUGINS.lock strictly, with the place of every error.
#![expect(clippy::arithmetic_side_effects, reason = "offsets into a slice in memory cannot overflow")]

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, btree_map};

use plugward_types::PluginId;
use toml::de::{DeTable, DeValue};

use super::entry::{LockEntry, LockSource, PATH, PATH_KEY};
use super::error::LockError;
use super::file::{LOCK_BYTES, LOCK_ENTRIES, LockFile};
use super::merge::merge;
use crate::tree::exclude::{EXCLUDABLE, Excludes};

type Spanned<T> = toml::Spanned<T>;
type Table<'i> = DeTable<'i>;

impl LockFile {
    /// Parses a file of version 1, 2 or 3.
    ///
    /// In version 1, the key `path` becomes the key of the entry. The dialect of the plugin id becomes the dialect of
    /// the entry and of its manifest, and the rest of the id is ignored. Entries with the same path are merged.
    ///
    /// # Errors
    /// `lock/malformed` with line and column, for bytes that are not UTF-8, more than [`LOCK_BYTES`] or
    /// [`LOCK_ENTRIES`], a syntax error (also a merge conflict marker), an unknown version or key, or an invalid path,
    /// digest or address. In version 1 also for an invalid plugin id, and for two entries with the same path if their
    /// trees, exclude lists, shared directories, marketplace entries or manifests of one dialect differ.
    pub fn parse(bytes: &[u8]) -> Result<Self, LockError> {
        if bytes.len() > LOCK_BYTES {
            return Err(LockError::new(format!("at most {LOCK_BYTES} bytes")));
        }
        let text = LockError::text(bytes)?;
        let document = DeTable::parse(text).map_err(|error| {
            // A merge conflict is the most frequent syntax error in a lockfile, and the parser's own message
            // would not mention it.
            if let Some(offset) = conflict(text) {
                return LockError::at(
                    text,
                    offset,
                    "no merge conflict marker (keep the entries of both sides)",
                );
            }
            let offset = error.span().map_or(0, |span| span.start);
            LockError::at(text, offset, format!("TOML: {}", error.message().replace('\n', ", ")))
        })?;
        Reader { text }.file(document.get_ref())
    }
}

/// Returns the offset of the first merge conflict marker. It is a syntax error in TOML, with an obscure message.
fn conflict(text: &str) -> Option<usize> {
    let mark = |line: &str| ["<<<<<<< ", ">>>>>>> ", "||||||| "].iter().any(|mark| line.starts_with(mark));
    let mut offset = 0_usize;
    for line in text.split_inclusive('\n') {
        if mark(line) || line.trim_end() == "=======" {
            return Some(offset);
        }
        offset += line.len();
    }
    None
}

const VERSIONS: &str = "version 1, 2 or 3, the only ones this plugward reads";

#[derive(Debug, Clone, Copy)]
enum Version {
    One,
    Two,
    Three,
}

impl Version {
    const fn number(self) -> u64 {
        match self {
            Self::One => 1,
            Self::Two => 2,
            Self::Three => 3,
        }
    }
}

/// An entry of version 1.
struct Row {
    id: PluginId,
    path: String,
    /// The place of the value of `path`.
    offset: usize,
    entry: LockEntry,
}

struct Reader<'t> {
    text: &'t str,
}

impl Reader<'_> {
    fn error<T>(&self, at: &Spanned<T>, expected: impl Into<String>) -> LockError {
        LockError::at(self.text, at.span().start, expected)
    }

    fn file(&self, table: &Table<'_>) -> Result<LockFile, LockError> {
        // The version comes first: a later version may have other keys, and the error should say that it is later.
        let version = self.version(table)?;
        let mut file = LockFile::of_version(version.number());
        for (key, value) in table {
            match (key.get_ref().as_ref(), version) {
                ("version", _) => {}
                ("plugin", Version::One) => self.plugins_by_id(value, &mut file)?,
                ("plugin", Version::Two | Version::Three) => {
                    self.plugins_by_path(value, version, &mut file)?;
                }
                _ => return Err(self.error(key, "only the keys `version` and `plugin`")),
            }
        }
        Ok(file)
    }

    fn version(&self, table: &Table<'_>) -> Result<Version, LockError> {
        let Some(value) = table.get("version") else {
            return Err(LockError::at(self.text, 0, "a line `version = 2`"));
        };
        let number = match value.get_ref() {
            DeValue::Integer(number) if number.radix() == 10 => number.as_str().parse::<u64>().ok(),
            _ => None,
        };
        match number {
            Some(1) => Ok(Version::One),
            Some(2) => Ok(Version::Two),
            Some(3) => Ok(Version::Three),
            // Marked as newer, so that the help says to update plugward and not to repair the file.
            Some(found) if found > 3 => Err(self.error(value, VERSIONS).of_newer()),
            _ => Err(self.error(value, VERSIONS)),
        }
    }

    /// Reads the tables of versions 2 and 3, which are named by path.
    fn plugins_by_path(
        &self,
        value: &Spanned<DeValue<'_>>,
        version: Version,
        file: &mut LockFile,
    ) -> Result<(), LockError> {
        for (key, value) in self.plugins(value)? {
            let path = key.get_ref().as_ref();
            let entry = self.entry_of_path(value, version).map_err(|error| error.of_plugin(path))?;
            if let Some(fault) = entry.fault(path) {
                let error = LockError::of_fault(fault);
                if fault.key == PATH_KEY {
                    return Err(error.with_place(self.text, key.span().start));
                }
                let place = self.table(value)?.get(fault.key).unwrap_or(value);
                return Err(error.with_place(self.text, place.span().start).of_plugin(path));
            }
            file.insert(path, entry)?;
        }
        Ok(())
    }

    /// Reads the tables of version 1, which are named by plugin id.
    fn plugins_by_id(&self, value: &Spanned<DeValue<'_>>, file: &mut LockFile) -> Result<(), LockError> {
        let mut rows = Vec::new();
        for (key, value) in self.plugins(value)? {
            let id: PluginId = key
                .get_ref()
                .parse()
                .map_err(|error| self.error(key, format!("`[plugin.\"dialect:name@source\"]` ({error})")))?;
            rows.push(self.row(id, value)?);
        }
        // In the order of the file, so that an error names the later of two entries.
        rows.sort_by_key(|row| row.offset);
        let mut merged: BTreeMap<String, Row> = BTreeMap::new();
        for row in rows {
            match merged.entry(row.path.clone()) {
                btree_map::Entry::Vacant(place) => {
                    place.insert(row);
                }
                btree_map::Entry::Occupied(mut first) => {
                    let first = first.get_mut();
                    merge(&mut first.entry, row.entry).map_err(|key| {
                        let expected =
                            format!("the same `{key}` as in `{}`, which has the same path", first.id);
                        LockError::at(self.text, row.offset, expected).of_plugin(row.id.as_str())
                    })?;
                }
            }
        }
        for (path, row) in merged {
            file.insert(&path, row.entry)?;
        }
        Ok(())
    }

    fn plugins<'v, 'i>(&self, value: &'v Spanned<DeValue<'i>>) -> Result<&'v Table<'i>, LockError> {
        let table = self.table(value)?;
        // Checked before the entries are read, so that an oversized file costs only its parse.
        if table.len() > LOCK_ENTRIES {
            return Err(self.error(value, format!("at most {LOCK_ENTRIES} entries")));
        }
        Ok(table)
    }

    fn entry_of_path(&self, value: &Spanned<DeValue<'_>>, version: Version) -> Result<LockEntry, LockError> {
        const KEYS: &str = "only the keys dialects, source, version, manifest, entry, tree, exclude, \
                            executable, shared, surface, launchers, and in version 3 closure, unresolved, files";
        let mut entry = LockEntry::empty();
        for (key, value) in self.table(value)? {
            match (key.get_ref().as_ref(), version) {
                ("dialects", _) => entry.dialects = self.set(value, |value| self.string(value))?,
                ("manifest", _) => entry.manifest = self.digests(value)?,
                ("closure", Version::Three) => entry.closure = Some(self.parsed(value)?),
                ("unresolved", Version::Three) => {
                    entry.unresolved = self.set(value, |value| self.parsed(value))?;
                }
                ("files", Version::Three) => entry.files = self.digests(value)?,
                _ => self.common(key, value, &mut entry, KEYS)?,
            }
        }
        self.require_tree(value)?;
        Ok(entry)
    }

    /// Reads one entry of version 1 with the path and the dialect that it has there.
    fn row(&self, id: PluginId, value: &Spanned<DeValue<'_>>) -> Result<Row, LockError> {
        const KEYS: &str = "only the keys path, source, version, manifest, entry, tree, exclude, executable, \
                            shared, surface, launchers";
        let read = || {
            let mut path = None;
            let mut entry = LockEntry::empty();
            entry.dialects.insert(id.dialect().to_owned());
            for (key, value) in self.table(value)? {
                match key.get_ref().as_ref() {
                    "path" => path = Some((self.string(value)?, value.span().start)),
                    "manifest" => {
                        entry.manifest.insert(id.dialect().to_owned(), self.parsed(value)?);
                    }
                    _ => self.common(key, value, &mut entry, KEYS)?,
                }
            }
            let (path, offset) = path.ok_or_else(|| self.error(value, format!("a key `path`: {PATH}")))?;
            self.require_tree(value)?;
            if let Some(fault) = entry.fault(&path) {
                let place = self.table(value)?.get(fault.key).unwrap_or(value);
                return Err(LockError::of_fault(fault).with_place(self.text, place.span().start));
            }
            Ok((path, offset, entry))
        };
        let (path, offset, entry) = read().map_err(|error: LockError| error.of_plugin(id.as_str()))?;
        Ok(Row { id, path, offset, entry })
    }

    /// Reads a key that all versions have.
    fn common(
        &self,
        key: &Spanned<Cow<'_, str>>,
        value: &Spanned<DeValue<'_>>,
        entry: &mut LockEntry,
        keys: &'static str,
    ) -> Result<(), LockError> {
        match key.get_ref().as_ref() {
            "source" => entry.source = Some(self.source(value)?),
            "version" => entry.version = Some(self.string(value)?),
            "entry" => entry.entry = Some(self.parsed(value)?),
            "tree" => entry.tree = self.set(value, |value| self.parsed(value))?,
            "exclude" => entry.exclude = self.exclude(value)?,
            "executable" => entry.executable = self.set(value, |value| self.string(value))?,
            "shared" => entry.shared = self.digests(value)?,
            "surface" => entry.surface = Some(self.parsed(value)?),
            "launchers" => entry.launchers = self.set(value, |value| self.string(value))?,
            _ => return Err(self.error(key, keys)),
        }
        Ok(())
    }

    fn require_tree(&self, value: &Spanned<DeValue<'_>>) -> Result<(), LockError> {
        match self.table(value)?.get("tree") {
            Some(_) => Ok(()),
            None => Err(self.error(value, "a key `tree` with at least one tree digest")),
        }
    }

    fn source(&self, value: &Spanned<DeValue<'_>>) -> Result<LockSource, LockError> {
        let mut kind = None;
        let mut source = LockSource { kind: String::new(), url: None, rev: None, path: None };
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

    fn digests<T>(&self, value: &Spanned<DeValue<'_>>) -> Result<BTreeMap<String, T>, LockError>
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

    /// Reads a list without duplicates, in any order.
    fn set<T: Ord>(
        &self,
        value: &Spanned<DeValue<'_>>,
        read: impl Fn(&Spanned<DeValue<'_>>) -> Result<T, LockError>,
    ) -> Result<BTreeSet<T>, LockError> {
        let items = value.get_ref().as_array().ok_or_else(|| self.error(value, "a list of strings"))?;
        let mut out = BTreeSet::new();
        for item in &**items {
            // A duplicate has no meaning, and two files that differ only in duplicates would be one lock with
            // two texts.
            if !out.insert(read(item)?) {
                return Err(self.error(item, "each element once"));
            }
        }
        Ok(out)
    }
}
