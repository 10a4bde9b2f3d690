//! What a host would load: plugins, loose pieces, and the problems of its records.

use plugward_types::{HostName, InstalledId, PlacePath, PluginKey};

use crate::SettingsFinding;

/// What one host on this machine would load.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct HostInventory {
    /// The host.
    pub host: HostName,
    /// The host's home directory, as it was found; not resolved.
    pub home: String,
    /// What it would load, in the order of its records.
    pub installs: Vec<Install>,
    /// What could not be read, or is not on disk.
    pub problems: Vec<InstallProblem>,
}

impl HostInventory {
    /// Creates the inventory of a host that would load nothing.
    #[must_use]
    pub fn new(host: HostName, home: impl Into<String>) -> Self {
        Self { host, home: home.into(), installs: Vec::new(), problems: Vec::new() }
    }
}

/// One directory or file that a host would load.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Install {
    /// The host.
    pub host: HostName,
    /// The key: an id of the host's record, or the place.
    pub key: PluginKey,
    /// What it is.
    pub kind: InstallKind,
    /// The real path of the directory or file.
    pub place: PlacePath,
    /// What of it counts.
    pub contents: InstallContents,
    /// The version in the record or layout.
    pub version: Option<String>,
    /// Whether the host would load it in this project.
    pub state: HostState,
    /// How the host can be told not to load it.
    pub switch: HostSwitch,
    /// Whether it belongs to the user or to the project.
    pub layer: InstallLayer,
    /// The record that names it, or the directory that contains it.
    pub record: RecordPlace,
    /// `true` if a record points outside the directory in which the host keeps its copies.
    pub is_outside: bool,
    /// The directory of the marketplace that describes it, if the host's record names one.
    pub marketplace: Option<String>,
    /// Ids that its marketplace has renamed to this one, and that no record contains any more.
    pub former_ids: Vec<InstalledId>,
    /// The directory in which relative paths of its commands start, for a file of settings or servers.
    pub directory: Option<PlacePath>,
    /// The variables that the file sets for the commands of its host, with their values. Never print a value.
    pub environment: Vec<(String, String)>,
    /// What its settings do that a person has to know about.
    pub findings: Vec<SettingsFinding>,
    /// The names of settings that loosen the host, and that are not part of the contents, sorted.
    pub loosens: Vec<String>,
}

impl Install {
    /// Returns the path that identifies it: its place, or the path of its key.
    ///
    /// The servers of several projects can be in one file. Each project has a key of its own, whose path starts with
    /// that of the file.
    #[must_use]
    pub fn address(&self) -> &PlacePath {
        self.key.placed().unwrap_or(&self.place)
    }
}

/// The kind of an install.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[expect(clippy::exhaustive_enums, reason = "a new kind needs a manifest in the loader")]
pub enum InstallKind {
    /// A directory with a manifest.
    Plugin,
    /// A skill directory without a manifest.
    Skill,
    /// A directory of agents.
    Agents,
    /// A directory of commands.
    Commands,
    /// A directory of code that the host runs.
    Code,
    /// The hooks, commands and environment in a settings file.
    Settings,
    /// A file that only configures MCP servers.
    Servers,
}

/// The part of a place that counts.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "a place is a directory or a file")]
pub enum InstallContents {
    /// The whole directory.
    Directory,
    /// The whole directory of a host's cache, without the files that the host writes into it.
    CacheDirectory,
    /// Parts of a file, as canonical JSON in a form that all hosts share.
    Parts(SettingsParts),
}

/// The parts of a settings file, in two renderings.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "one list for each rendering that a pin can contain")]
pub struct SettingsParts {
    /// The parts that a pin contains now; none if the settings only loosen the host.
    pub current: Vec<InstallPart>,
    /// The parts that a pin of version 3 contains.
    pub version_3: Vec<InstallPart>,
}

/// One part of a settings file.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct InstallPart {
    /// The name of the part, such as `hooks.json`.
    pub name: &'static str,
    /// Canonical JSON in which secrets are replaced by their hashes. It can be stored and shown.
    pub bytes: Vec<u8>,
    /// The same without replacements, to look up what the commands start; empty in parts of version 3. Never store or
    /// print it.
    pub unmasked: Vec<u8>,
}

/// Whether a host would load an install.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[expect(clippy::exhaustive_enums, reason = "an unknown state counts as on")]
pub enum HostState {
    /// It would be loaded, or nothing says that it would not.
    On,
    /// The host's settings disable it for this project.
    Off,
}

/// How a host can be told on its command line not to load an install.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "a new kind of switch must be handled by the launcher")]
pub enum HostSwitch {
    /// By this id.
    Id(String),
    /// By the name in its manifest.
    ManifestName,
    /// It cannot be disabled.
    None,
}

/// Whose settings name an install.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[expect(clippy::exhaustive_enums, reason = "the user or the project")]
pub enum InstallLayer {
    /// The user, or the administrator of the machine.
    User,
    /// The project that contains the working directory.
    Project,
}

/// The place of a row in a record.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub struct RecordPlace {
    /// The file or directory, as it was found; not resolved.
    pub file: String,
    /// The JSON pointer or TOML key of the row; empty for the whole file.
    pub pointer: String,
}

/// A problem of a record.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct InstallProblem {
    /// The host.
    pub host: HostName,
    /// The kind.
    pub kind: InstallProblemKind,
    /// Where.
    pub record: RecordPlace,
    /// What was found.
    pub message: String,
    /// How to fix it.
    pub help: String,
    /// The key of the row, if its id is valid.
    pub key: Option<PluginKey>,
    /// Whether the row is on.
    pub state: HostState,
    /// How the host can be told not to load the row.
    pub switch: HostSwitch,
}

/// The kind of a problem.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[expect(clippy::exhaustive_enums, reason = "each kind has its own effect on a decision")]
pub enum InstallProblemKind {
    /// `install/unreadable`: the file cannot be read or understood, so nothing of this host loads.
    Unreadable,
    /// `install/id`: the id of one row breaks the rule for ids.
    Id,
    /// `install/row`: one row has a wrong type or an unknown value.
    Row,
    /// `install/missing`: recorded or enabled, but not on disk.
    Missing,
    /// `install/leftover`: directories in a cache that no record names.
    Leftover,
    /// `install/newer`: a directory in a cache with a newer version than those that a record names.
    Newer,
    /// `install/not-read`: a known place of plugins that is not read yet.
    NotRead,
    /// `install/not-judged`: places that exist and are only named.
    NotJudged,
    /// `install/loosens`: the user's settings let the host run commands without asking.
    Loosens,
}

impl RecordPlace {
    /// Creates a place; `pointer` is empty for the whole file.
    #[must_use]
    pub fn new(file: impl Into<String>, pointer: impl Into<String>) -> Self {
        Self { file: file.into(), pointer: pointer.into() }
    }
}

impl InstallProblemKind {
    /// Returns the code.
    #[must_use]
    pub const fn code(self) -> &'static str {
        match self {
            Self::Unreadable => "install/unreadable",
            Self::Id => "install/id",
            Self::Row => "install/row",
            Self::Missing => "install/missing",
            Self::Leftover => "install/leftover",
            Self::Newer => "install/newer",
            Self::NotRead => "install/not-read",
            Self::NotJudged => "install/not-judged",
            Self::Loosens => "install/loosens",
        }
    }
}
