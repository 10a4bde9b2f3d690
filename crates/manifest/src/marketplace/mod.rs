//! Marketplace files: the plugins that they list, and the source of each.

mod read;
mod source;

use std::collections::BTreeMap;

use crate::dialects::claude::COMPONENTS;
use crate::error::ManifestErrors;
use crate::json::{self, ParseLimits, Position};
use crate::manifest::Contact;
use crate::reader::Base;
use crate::reader::text::ForeignText;

pub use read::read_marketplace;
pub use source::{CommandSources, Pinning, RemoteSource, Source};

/// The contents of a marketplace file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Marketplace {
    pub(crate) name: String,
    pub(crate) owner: Option<Contact>,
    pub(crate) description: Option<ForeignText>,
    pub(crate) version: Option<String>,
    pub(crate) plugin_root: String,
    pub(crate) renames: BTreeMap<String, String>,
    pub(crate) entries: Vec<MarketplaceEntry>,
    pub(crate) refused: Vec<RefusedEntry>,
}

impl Marketplace {
    /// Returns the name, which is the source in the ids of its plugins.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the owner.
    #[must_use]
    pub const fn owner(&self) -> Option<&Contact> {
        self.owner.as_ref()
    }

    /// Returns the description.
    #[must_use]
    pub const fn description(&self) -> Option<&ForeignText> {
        self.description.as_ref()
    }

    /// Returns the version.
    #[must_use]
    pub fn version(&self) -> Option<&str> {
        self.version.as_deref()
    }

    /// Returns the directory that all local sources are relative to; empty for the marketplace root.
    #[must_use]
    pub fn plugin_root(&self) -> &str {
        &self.plugin_root
    }

    /// Returns the old names of plugins with their new names.
    ///
    /// A pin of the old name can be offered for the new name, but must not be applied without review.
    #[must_use]
    pub const fn renames(&self) -> &BTreeMap<String, String> {
        &self.renames
    }

    /// Returns the valid entries, in file order.
    #[must_use]
    pub fn entries(&self) -> &[MarketplaceEntry] {
        &self.entries
    }

    /// Returns the invalid entries; an invalid entry does not affect the others.
    #[must_use]
    pub fn refused(&self) -> &[RefusedEntry] {
        &self.refused
    }

    /// Returns the entry of a local directory, relative to the marketplace root.
    #[must_use]
    pub fn entry_at(&self, path: &str) -> Option<&MarketplaceEntry> {
        self.entries.iter().find(|entry| matches!(&entry.source, Source::Local { path: own } if own == path))
    }
}

/// An invalid entry of a marketplace file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RefusedEntry {
    pub(crate) index: usize,
    pub(crate) name: Option<String>,
    pub(crate) errors: ManifestErrors,
}

impl RefusedEntry {
    /// Returns the position in the list, from 0.
    #[must_use]
    pub const fn index(&self) -> usize {
        self.index
    }

    /// Returns the name, if it is valid.
    #[must_use]
    pub fn name(&self) -> Option<&str> {
        self.name.as_deref()
    }

    /// Returns the reasons to refuse the entry.
    #[must_use]
    pub const fn errors(&self) -> &ManifestErrors {
        &self.errors
    }
}

/// The keys of an entry that decide what runs, besides the components.
const RUNS: &[&str] = plugward_types::words![
    "dependencies headersHelper mcp mcp_servers name requirements settings strict userConfig",
];

/// The entry of one plugin in a marketplace file, which is the second layer of its manifest.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MarketplaceEntry {
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

impl MarketplaceEntry {
    /// Returns the name, which becomes part of the plugin's id.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the source of the plugin.
    #[must_use]
    pub const fn source(&self) -> &Source {
        &self.source
    }

    /// Returns `true` if the entry's components are added to the manifest's, `false` if the entry alone counts.
    #[must_use]
    pub const fn is_strict(&self) -> bool {
        self.strict
    }

    /// Returns `true` if the entry declares components.
    #[must_use]
    pub const fn has_components(&self) -> bool {
        self.components
    }

    /// Returns the category.
    #[must_use]
    pub fn category(&self) -> Option<&str> {
        self.category.as_deref()
    }

    /// Returns the JSON text, as written.
    #[must_use]
    pub fn raw(&self) -> &str {
        &self.raw
    }

    /// Returns the canonical JSON, whose SHA-256 is pinned because the entry is not in the plugin directory.
    #[must_use]
    pub fn canonical(&self) -> &str {
        &self.canonical
    }

    /// Returns the entry with a canonical form that contains only the keys that decide what runs.
    ///
    /// A host that keeps a copy of a plugin also keeps a clone of its marketplace, whose descriptions and versions change
    /// without a change of the copy.
    #[must_use]
    pub fn without_metadata(mut self) -> Self {
        let root = json::parse(self.raw.as_bytes(), &ParseLimits::marketplace());
        let Some(members) = root.as_ref().ok().and_then(json::JsonNode::members) else { return self };
        let mut runs: Vec<&json::JsonMember<'_>> = members
            .iter()
            .filter(|member| RUNS.contains(&member.key()) || COMPONENTS.contains(&member.key()))
            .collect();
        runs.sort_by_key(|member| member.key());
        let mut text = String::from("{");
        for (index, member) in runs.into_iter().enumerate() {
            text.push_str(if index > 0 { "," } else { "" });
            json::write_text(member.key(), &mut text);
            text.push(':');
            json::canonical(member.node(), &mut text);
        }
        text.push('}');
        self.canonical = text;
        self
    }

    pub(crate) fn file(&self) -> &str {
        &self.file
    }

    pub(crate) fn base(&self) -> Base<'_> {
        Base { offset: self.offset, position: self.position, pointer: &self.pointer }
    }
}
