//! The table of hosts: their places, and the settings that redirect them.

use std::sync::LazyLock;

use serde::Deserialize;

/// The compiled-in table.
const TABLE: &str = include_str!("../hosts.toml");

/// The version of the table's format.
const VERSION: u32 = 1;

/// One host of the table. The places are documented at the top of `hosts.toml`.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct HostRow {
    /// The name in keys, such as `claude`.
    pub id: String,
    /// The name of the product.
    pub name: String,
    /// The host's home directory.
    pub home: HostHome,
    /// Files and directories that say which plugins are installed.
    #[serde(default)]
    pub records: Vec<String>,
    /// Directories of plugins.
    #[serde(default)]
    pub plugins: Vec<String>,
    /// Directories of skills.
    #[serde(default)]
    pub skills: Vec<String>,
    /// Directories of agents, commands and the like.
    #[serde(default)]
    pub prompts: Vec<String>,
    /// Settings files.
    #[serde(default)]
    pub settings: Vec<String>,
    /// Files of MCP servers.
    #[serde(default)]
    pub servers: Vec<String>,
    /// Files of hooks.
    #[serde(default)]
    pub hooks: Vec<String>,
    /// Places that are only named.
    #[serde(default)]
    pub named: Vec<String>,
    /// Texts whose imports are only named.
    #[serde(default)]
    pub imports: Vec<String>,
    /// Variables with the address of a model.
    #[serde(default)]
    pub endpoints: Vec<String>,
    /// Settings with the address of a model.
    #[serde(default)]
    pub endpoint_settings: Vec<String>,
    /// The hosts of the addresses that are used without these settings.
    #[serde(default)]
    pub endpoint_hosts: Vec<String>,
    /// The version that was run.
    #[serde(default)]
    pub seen: String,
    /// What the other fields do not say.
    #[serde(default)]
    pub note: String,
    /// Where the facts come from.
    pub source: Vec<String>,
}

/// The home directory of a host.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct HostHome {
    /// The variable that moves it.
    pub variable: Option<String>,
    /// The place without the variable.
    pub default: String,
    /// What is appended to the value of the variable.
    pub join: Option<String>,
    /// The place on macOS.
    pub mac: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct HostTable {
    version: u32,
    host: Vec<HostRow>,
}

impl HostRow {
    /// Returns all places, in the order of the fields.
    pub fn places(&self) -> impl Iterator<Item = &str> {
        let lists = [
            &self.records,
            &self.plugins,
            &self.skills,
            &self.prompts,
            &self.settings,
            &self.servers,
            &self.hooks,
            &self.named,
            &self.imports,
        ];
        lists.into_iter().flatten().map(String::as_str)
    }
}

/// Returns the row of a host, or an empty one with the reason that there is none.
pub(crate) fn row_of(id: &str) -> (&'static HostRow, Option<&'static str>) {
    static EMPTY: LazyLock<HostRow> = LazyLock::new(HostRow::default);
    match host_rows().map(|rows| rows.iter().find(|row| row.id == id)) {
        Ok(Some(row)) => (row, None),
        Ok(None) => (&EMPTY, Some("hosts.toml: no such host")),
        Err(message) => (&EMPTY, Some(message)),
    }
}

/// Returns the rows of the compiled-in table.
///
/// # Errors
/// The table does not have the expected form. Tests exclude this for a released version.
pub fn host_rows() -> Result<&'static [HostRow], &'static str> {
    static ROWS: LazyLock<Result<Vec<HostRow>, String>> = LazyLock::new(|| {
        let table: HostTable = toml::from_str(TABLE).map_err(|error| format!("hosts.toml: {error}"))?;
        if table.version == VERSION { Ok(table.host) } else { Err("hosts.toml: unknown version".to_owned()) }
    });
    ROWS.as_deref().map_err(String::as_str)
}
