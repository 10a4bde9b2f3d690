//! The report: what was seen, what was decided and why. Version 2, as `--format json` prints it.

mod plugin;

use serde::Serialize;

use crate::outcome::Notice;

pub use plugin::{
    ApprovalReport, ApprovalState, CapabilityReport, LockReport, LockState, PinReport, PinStatus, PluginKind,
    PluginReport, SuppressedReport, SurfaceReport,
};

/// One run over some folders.
///
/// Serializes to report version 2, its keys in a fixed order. Text that a plugin wrote is in it as it is and has to be
/// escaped before it is printed to a terminal.
///
/// # Guarantees
/// No time, host name or absolute path is in it, so two runs over the same bytes with the same stores give equal
/// reports. Plugins are sorted bytewise by id, then path; findings by path, line, column, rule.
///
/// # Source
/// ADR-0011's load report and HyperAgent's audit table; both list less than they decide on.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Report {
    /// 2.
    pub version: u32,
    /// What made it.
    pub tool: Tool,
    /// The trust mode: `tofu`, `prompt` or `locked`.
    pub trust: &'static str,
    /// The folders as the caller calls them.
    pub roots: Vec<String>,
    /// All plugins that were found.
    pub plugins: Vec<PluginReport>,
    /// Places that hold no plugin, or one that is not enabled.
    pub skipped: Vec<Skipped>,
    /// What belongs to no single plugin; left out where empty.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notices: Vec<Notice>,
    /// The sums.
    pub summary: Summary,
    /// The exit code that the verdicts ask for.
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
    /// Digest of the scanner's rules.
    pub rules: String,
}

/// May it load?
///
/// # Guarantees
/// Only [`Decision::Load`] loads. There is no way from an error to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
#[must_use = "only Load loads"]
#[expect(clippy::exhaustive_enums, reason = "a new answer must stop every host from building")]
pub enum Decision {
    /// Every gate passed.
    Load,
    /// No gate refused, and a person has to decide.
    Ask,
    /// At least one gate refused, or could not tell.
    Refuse,
}

impl Decision {
    /// Gives the word that reports use.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Load => "load",
            Self::Ask => "ask",
            Self::Refuse => "refuse",
        }
    }
}

/// The gates, in their order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Gate {
    /// Which dialect, which folder.
    Discover,
    /// Do the bytes parse and hold.
    Manifest,
    /// Deny, ask or unattended.
    Policy,
    /// Can the folder be digested as it is.
    Tree,
    /// Does PLUGINS.lock name this tree.
    Lock,
    /// Same bytes as first seen.
    Pin,
    /// Any danger finding in those bytes.
    Scan,
    /// Has a person agreed.
    Approval,
    /// What it would run.
    Surface,
    /// What the host grants, and the record of it.
    Mint,
}

impl Gate {
    /// All gates, in order.
    pub const ALL: [Self; 10] = [
        Self::Discover,
        Self::Manifest,
        Self::Policy,
        Self::Tree,
        Self::Lock,
        Self::Pin,
        Self::Scan,
        Self::Approval,
        Self::Surface,
        Self::Mint,
    ];

    /// Gives the word that reports use.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Discover => "discover",
            Self::Manifest => "manifest",
            Self::Policy => "policy",
            Self::Tree => "tree",
            Self::Lock => "lock",
            Self::Pin => "pin",
            Self::Scan => "scan",
            Self::Approval => "approval",
            Self::Surface => "surface",
            Self::Mint => "mint",
        }
    }
}

/// A place that was not walked through the gates.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[non_exhaustive]
pub struct Skipped {
    /// The folder, relative to its root.
    pub path: String,
    /// Why.
    pub why: String,
}

/// The sums of a run.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Summary {
    /// Plugins that load.
    pub load: u64,
    /// Plugins that wait for a decision.
    pub ask: u64,
    /// Plugins that are refused.
    pub refuse: u64,
    /// Places that were skipped.
    pub skipped: u64,
    /// Entries that were read.
    pub files: u64,
    /// Bytes that were read.
    pub bytes: u64,
}
