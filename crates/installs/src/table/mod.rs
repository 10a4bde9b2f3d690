//! The table of hosts: their places, and the settings that redirect them.

mod row;
mod validate;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use serde::Deserialize;

pub use row::{
    Evidence, FileFormat, HookPlace, HookShape, HostHome, HostRow, PartEffect, PartPlace, RepositoryTrust,
    ServerPlace, ServerShape,
};
pub use validate::HostRowError;

/// The compiled-in table.
const TABLE: &str = include_str!("../../hosts.toml");

/// The version of the table's format.
const VERSION: u32 = 1;

/// All hosts, in the order in which they are checked.
///
/// # Examples
/// ```
/// use plugward_installs::HostTable;
///
/// let mut table = HostTable::compiled()?.clone();
/// let fields = toml::from_str("home = { default = '~/.acme' }\nskills = ['@/skills']").unwrap();
/// table.add_row("acme", fields).unwrap();
/// assert_eq!(table.row("acme").unwrap().skills, ["@/skills"]);
///
/// let error = table.add_row("acme", toml::from_str("skills = ['/']").unwrap()).unwrap_err();
/// assert_eq!(error.field(), Some("skills"));
/// # Ok::<(), &str>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct HostTable {
    rows: Vec<HostRow>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct TableFile {
    version: u32,
    host: Vec<HostRow>,
}

impl HostTable {
    /// Returns the rows of the compiled-in table, none if it does not have the expected form, which a read reports.
    #[must_use]
    pub fn compiled_rows() -> &'static [HostRow] {
        let table = Self::compiled();
        debug_assert!(table.is_ok(), "the compiled-in table of hosts has an error");
        table.map_or(&[], Self::rows)
    }

    /// Returns the compiled-in table.
    ///
    /// # Errors
    /// The table does not have the expected form. Tests exclude this for a released version.
    pub fn compiled() -> Result<&'static Self, &'static str> {
        static TABLE_READ: LazyLock<Result<HostTable, String>> = LazyLock::new(|| {
            let file: TableFile = toml::from_str(TABLE).map_err(|error| format!("hosts.toml: {error}"))?;
            if file.version != VERSION {
                return Err("hosts.toml: unknown version".to_owned());
            }
            let mut rows = file.host;
            for row in &mut rows {
                row.complete();
            }
            Ok(HostTable { rows })
        });
        TABLE_READ.as_ref().map_err(String::as_str)
    }

    /// Returns the rows.
    #[must_use]
    pub fn rows(&self) -> &[HostRow] {
        &self.rows
    }

    /// Returns the row of a host.
    #[must_use]
    pub fn row(&self, id: &str) -> Option<&HostRow> {
        self.rows.iter().find(|row| row.id == id)
    }

    /// Adds a row of the user: a new host, or more places of a known one.
    ///
    /// # Errors
    /// The id or a field is not valid. The table is unchanged then.
    pub fn add_row(&mut self, id: &str, fields: toml::Table) -> Result<(), HostRowError> {
        let mut row = HostRow::of_user(id, fields, self.row(id))?;
        row.complete();
        match self.rows.iter_mut().find(|row| row.id == id) {
            Some(known) => known.added.push(row),
            None => self.rows.push(row),
        }
        Ok(())
    }
}

/// Returns the names of the directories in which hosts keep files of a project, such as `.claude`.
#[must_use]
pub fn project_directory_names() -> &'static BTreeSet<&'static str> {
    static NAMES: LazyLock<BTreeSet<&'static str>> = LazyLock::new(|| {
        let rows = HostTable::compiled_rows();
        let places = rows.iter().flat_map(HostRow::places);
        let first =
            places.filter_map(|place| place.strip_prefix("./")?.split_once('/').map(|(first, _)| first));
        first.filter(|name| name.starts_with('.') && *name != ".git").collect()
    });
    &NAMES
}

/// Returns `true` for a place of a project or user that a row before this one has too.
pub(crate) fn is_shared(place: &str, id: &str) -> bool {
    static FIRST: LazyLock<BTreeMap<&'static str, &'static str>> = LazyLock::new(|| {
        let rows = HostTable::compiled_rows();
        let mut first = BTreeMap::new();
        for row in rows {
            for place in row.places().filter(|place| !place.starts_with("@/")) {
                first.entry(place).or_insert(row.id.as_str());
            }
        }
        first
    });
    FIRST.get(place).is_some_and(|first| *first != id)
}
