//! The report: what was seen, what was decided and why. Version 1, as `--format json` prints it.

mod plugin;

use serde::Serialize;

pub use plugin::{
    ApprovalReport, CapabilityReport, LockReport, PinState, PluginReport, SuppressedReport, SurfaceReport,
};

/// One run over some folders.
///
/// Serializes to report version 1, its keys in a fixed order. Text that a plugin wrote stands in it as it is; whoever
/// prints it to a terminal escapes it.
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
    /// 1.
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

/// Why a plugin does not load, one of possibly several.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[non_exhaustive]
pub struct Reason {
    /// The stable code, such as `pin/changed`.
    pub code: String,
    /// The gate that said it.
    pub gate: Gate,
    /// What was seen.
    pub message: String,
    /// What to type or do next.
    pub help: String,
    /// Whether this one refuses, or asks.
    #[serde(skip)]
    pub weight: Weight,
}

/// What a reason does to the decision, and to the exit code.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[expect(clippy::exhaustive_enums, reason = "a new class must stop every exit code from being guessed")]
pub enum Weight {
    /// A store or lock could not be read: refuse, exit 7.
    Store,
    /// Integrity: refuse, exit 4.
    Integrity,
    /// The scan gate: refuse, exit 6.
    Scan,
    /// Denied or revoked: refuse, exit 5.
    Denied,
    /// It could not be told: refuse, exit 1.
    CouldNotTell,
    /// A person has to decide: ask, exit 3.
    Undecided,
    /// It follows from another plugin's reason, which has the exit code.
    Follows,
}

impl Weight {
    /// Gives the exit code.
    #[must_use]
    pub const fn exit(self) -> u8 {
        match self {
            Self::Store => 7,
            Self::Integrity => 4,
            Self::Scan => 6,
            Self::Denied => 5,
            Self::CouldNotTell => 1,
            Self::Undecided => 3,
            Self::Follows => 0,
        }
    }
}

/// Something worth knowing that decides nothing.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[non_exhaustive]
pub struct Notice {
    /// The stable code.
    pub code: String,
    /// The gate that said it.
    pub gate: Gate,
    /// What was seen.
    pub message: String,
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
