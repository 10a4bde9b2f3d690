//! Public lists of weaknesses, risks and techniques. Rules refer to their entries.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use serde::Deserialize;

/// A public list, and those of its entries that built-in rules refer to.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Taxonomy {
    /// The short name.
    pub name: String,
    /// The name on the list.
    pub title: String,
    /// The publisher.
    pub organization: String,
    /// The version in which the entries were looked up. A draft is called one.
    pub edition: String,
    /// The address of the list.
    pub url: String,
    /// The titles by identifier.
    pub entries: BTreeMap<String, String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct TaxonomyFile {
    #[serde(rename = "version")]
    _version: u32,
    taxonomy: Vec<Taxonomy>,
}

impl Taxonomy {
    /// Returns all lists.
    ///
    /// # Panics
    ///
    /// If the file of this crate does not parse. The crate's tests read it.
    #[must_use]
    #[expect(clippy::expect_used, reason = "the file is part of the crate, and a test reads it")]
    pub fn all() -> &'static [Self] {
        static LISTS: OnceLock<Vec<Taxonomy>> = OnceLock::new();
        LISTS.get_or_init(|| {
            let text = include_str!("../../rules/taxonomies.toml");
            toml::from_str::<TaxonomyFile>(text).expect("taxonomies.toml parses").taxonomy
        })
    }

    /// Returns the title of an identifier, if a list contains it.
    ///
    /// # Examples
    ///
    /// ```
    /// use plugward_scanner::Taxonomy;
    ///
    /// assert_eq!(Taxonomy::title_of("CWE-506"), Some("Embedded Malicious Code"));
    /// assert_eq!(Taxonomy::title_of("TEAM-12"), None);
    /// ```
    #[must_use]
    pub fn title_of(id: &str) -> Option<&'static str> {
        Self::all().iter().find_map(|list| list.entries.get(id)).map(String::as_str)
    }
}
