//! The report of a run: what was found, what was decided, and the reasons. Version 2, the JSON output.

mod plugin;
pub(crate) mod text;

use serde::Serialize;

use crate::run::outcome::Notice;

pub use plugin::{
    ApprovalReport, ApprovalState, AuditReport, CapabilityReport, LockReport, LockState, PinReport,
    PinStatus, PluginKind, PluginReport, PolicyReport, SuppressedReport, SurfaceReport, UnresolvedReport,
};

/// The report of one run over some directories.
///
/// It serializes to report version 2, with keys in a fixed order. Text from plugins is unchanged, so it
/// must be escaped before it is printed to a terminal.
///
/// # Guarantees
/// It contains no time, host name or absolute path, so two runs over the same contents with the same stores
/// return equal reports. Plugins are sorted by id and path, findings by path, line, column and rule.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Report {
    /// The version of the report format: 2.
    pub version: u32,
    /// The program that created the report.
    pub tool: Tool,
    /// The trust mode: `tofu`, `prompt` or `locked`.
    pub trust: &'static str,
    /// The labels of the roots.
    pub roots: Vec<String>,
    /// The plugins that were found.
    pub plugins: Vec<PluginReport>,
    /// Places that contain no plugin, or one that is not enabled.
    pub skipped: Vec<Skipped>,
    /// Notices about no single plugin; omitted if empty.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notices: Vec<Notice>,
    /// The counts.
    pub summary: Summary,
    /// The exit code for the verdicts.
    pub exit: u8,
}

/// The program and its rules.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Tool {
    /// `plugward`.
    pub name: &'static str,
    /// The loader's version.
    pub version: &'static str,
    /// The digest of the scanner's rules.
    pub rules: String,
}

plugward_types::named! {
    /// Whether a plugin can load.
    ///
    /// # Guarantees
    /// Only [`Decision::Load`] loads. No error becomes `Load`.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
    #[serde(rename_all = "lowercase")]
    #[must_use = "only Load loads"]
    #[expect(clippy::exhaustive_enums, reason = "every host must handle a new decision")]
    pub enum Decision {
        /// Every gate passed.
        Load = "load",
        /// No gate refused, and a person must decide.
        Ask = "ask",
        /// At least one gate refused, or the plugin could not be checked.
        Refuse = "refuse",
    }
}

plugward_types::named! {
    /// A gate. The order of variants is the order in which gates run.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
    #[serde(rename_all = "lowercase")]
    #[non_exhaustive]
    pub enum Gate {
        /// Which directories are plugins?
        Discover = "discover",
        /// Are the manifests valid?
        Manifest = "manifest",
        /// Is the plugin denied or revoked?
        Policy = "policy",
        /// Can the directory be digested?
        Tree = "tree",
        /// Does PLUGINS.lock contain this tree?
        Lock = "lock",
        /// Are these the pinned contents?
        Pin = "pin",
        /// Are there danger or suspicious findings?
        Scan = "scan",
        /// Has a person approved these contents?
        Approval = "approval",
        /// What would run, and does the pin cover it?
        Surface = "surface",
        /// Which capabilities does the host grant, and are they recorded?
        Mint = "mint",
    }
}

/// A place that was not checked.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[non_exhaustive]
pub struct Skipped {
    /// The directory, relative to its root.
    pub path: String,
    /// The reason.
    pub why: String,
}

/// The counts of a run.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Summary {
    /// Plugins that load.
    pub load: u64,
    /// Plugins that need a decision.
    pub ask: u64,
    /// Plugins that are refused.
    pub refuse: u64,
    /// Plugins that their hosts' settings disable. They are judged, and counted here alone.
    pub off: u64,
    /// Places that were skipped.
    pub skipped: u64,
    /// Files and symlinks that were read.
    pub files: u64,
    /// Bytes that were read.
    pub bytes: u64,
}
