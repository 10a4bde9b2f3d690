//! Marketplace files: which plugins there are and where they come from.

use std::collections::BTreeMap;

use crate::error::ManifestErrors;
use crate::json::Position;
use crate::manifest::Person;
use crate::reader::Base;
use crate::source::Source;
use crate::text::ForeignText;

/// A marketplace file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Market {
    pub(crate) name: String,
    pub(crate) owner: Option<Person>,
    pub(crate) description: Option<ForeignText>,
    pub(crate) version: Option<String>,
    pub(crate) plugin_root: String,
    pub(crate) renames: BTreeMap<String, String>,
    pub(crate) entries: Vec<Entry>,
    pub(crate) refused: Vec<RefusedEntry>,
}

impl Market {
    /// Gives the name; it is the source in the ids of its plugins.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Gives the owner.
    #[must_use]
    pub const fn owner(&self) -> Option<&Person> {
        self.owner.as_ref()
    }

    /// Gives the description.
    #[must_use]
    pub const fn description(&self) -> Option<&ForeignText> {
        self.description.as_ref()
    }

    /// Gives the version.
    #[must_use]
    pub fn version(&self) -> Option<&str> {
        self.version.as_deref()
    }

    /// Gives the folder in front of all local sources; empty where there is none.
    #[must_use]
    pub fn plugin_root(&self) -> &str {
        &self.plugin_root
    }

    /// Gives old names and what they became: a pin of the old name may be offered for the new one, never carried.
    #[must_use]
    pub const fn renames(&self) -> &BTreeMap<String, String> {
        &self.renames
    }

    /// Gives the entries that hold, in the order of the file.
    #[must_use]
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// Gives the entries that do not hold; each costs itself alone.
    #[must_use]
    pub fn refused(&self) -> &[RefusedEntry] {
        &self.refused
    }

    /// Gives the entry of a local folder, relative to the marketplace's root.
    #[must_use]
    pub fn entry_at(&self, path: &str) -> Option<&Entry> {
        self.entries.iter().find(|entry| matches!(&entry.source, Source::Local { path: own } if own == path))
    }
}

/// An entry that does not hold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RefusedEntry {
    pub(crate) index: usize,
    pub(crate) name: Option<String>,
    pub(crate) errors: ManifestErrors,
}

impl RefusedEntry {
    /// Gives its place in the list, from 0.
    #[must_use]
    pub const fn index(&self) -> usize {
        self.index
    }

    /// Gives its name, where it has a valid one.
    #[must_use]
    pub fn name(&self) -> Option<&str> {
        self.name.as_deref()
    }

    /// Gives what is wrong with it.
    #[must_use]
    pub const fn errors(&self) -> &ManifestErrors {
        &self.errors
    }
}

/// One plugin of a marketplace file: the second layer of its manifest.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    pub(crate) name: String,
    pub(crate) source: Source,
    pub(crate) strict: bool,
    pub(crate) components: bool,
    pub(crate) category: Option<String>,
    pub(crate) raw: String,
    pub(crate) canonical: String,
    pub(crate) file: String,
    pub(crate) pointer: String,
    pub(crate) offset: usize,
    pub(crate) position: Position,
}

impl Entry {
    /// Gives the name; the plugin's id is made of it.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Gives where the plugin comes from.
    #[must_use]
    pub const fn source(&self) -> &Source {
        &self.source
    }

    /// Says whether the entry's components add to the manifest's; else the entry is the definition.
    #[must_use]
    pub const fn is_strict(&self) -> bool {
        self.strict
    }

    /// Says whether the entry declares components.
    #[must_use]
    pub const fn has_components(&self) -> bool {
        self.components
    }

    /// Gives the category.
    #[must_use]
    pub fn category(&self) -> Option<&str> {
        self.category.as_deref()
    }

    /// Gives the JSON text as it stands in the file.
    #[must_use]
    pub fn raw(&self) -> &str {
        &self.raw
    }

    /// Gives the canonical JSON, whose SHA-256 a pin keeps: the entry's bytes are not in the plugin's tree.
    #[must_use]
    pub fn canonical(&self) -> &str {
        &self.canonical
    }

    pub(crate) fn file(&self) -> &str {
        &self.file
    }

    pub(crate) fn base(&self) -> Base<'_> {
        Base { offset: self.offset, position: self.position, pointer: &self.pointer }
    }
}
