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

/// The row whose host reads a place, whether or not the other hosts with the place are here.
#[derive(Clone, Copy)]
struct PlaceOwner {
    id: &'static str,
    /// The variable that moves the place of this row.
    variable: Option<&'static str>,
}

/// Returns `true` for a place of which another row is the owner: `agents` for what several hosts read in the user's home,
/// and the first row for all others.
pub(crate) fn is_shared(place: &str, id: &str, environment: &BTreeMap<String, String>) -> bool {
    static OWNERS: LazyLock<BTreeMap<String, PlaceOwner>> = LazyLock::new(|| {
        let rows = HostTable::compiled_rows();
        let mut owners = BTreeMap::new();
        for row in rows {
            for place in row.places() {
                let own = place.strip_prefix("@/");
                let variable = own.and(row.home.variable.as_deref());
                let owner = PlaceOwner { id: &row.id, variable };
                let place =
                    own.map_or_else(|| place.to_owned(), |rest| format!("{}/{rest}", row.home.default));
                if row.id == "agents" && place.starts_with("~/") {
                    owners.insert(place, owner);
                } else {
                    owners.entry(place).or_insert(owner);
                }
            }
        }
        owners
    });
    // A host whose home was moved does not read its usual place.
    let is_moved = |owner: &PlaceOwner| owner.variable.is_some_and(|name| environment.contains_key(name));
    OWNERS.get(place).is_some_and(|owner| owner.id != id && !is_moved(owner))
}
