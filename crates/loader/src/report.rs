//! The report: what was seen, what was decided and why. Version 1, as `--format json` prints it.

use std::collections::BTreeMap;

use plugward_types::Finding;
use serde::{Serialize, Serializer};

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

/// One plugin.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct PluginReport {
    /// `dialect:name@source`; for a manifest that does not parse, the folder's name stands for the name.
    pub id: String,
    /// The plugin's own name.
    pub name: String,
    /// The plugin's own version.
    pub version: Option<String>,
    /// Whose manifest format it is.
    pub dialect: &'static str,
    /// The folder, relative to its root, with `/`; `.` for the root itself.
    pub path: String,
    /// The outcome.
    pub decision: Decision,
    /// Everything that stands against loading, in the order of the gates.
    pub reasons: Vec<Reason>,
    /// Everything else that is worth knowing.
    pub notices: Vec<Notice>,
    /// SHA-256 of the manifest file's bytes.
    pub manifest: Option<String>,
    /// Digest of the whole folder.
    pub tree: Option<String>,
    /// Entries of the folder that were read.
    pub files: u64,
    /// Bytes of these.
    pub bytes: u64,
    /// What the pins say.
    pub pin: PinState,
    /// What PLUGINS.lock says.
    pub lock: LockReport,
    /// What the approvals say.
    pub approval: ApprovalReport,
    /// Folders and files outside that it imports, each with its digest.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub shared: BTreeMap<String, String>,
    /// What the rules found, suppressed or not.
    #[serde(serialize_with = "findings")]
    pub findings: Vec<Finding>,
    /// Which of these the host's settings let pass, and why.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub suppressed: Vec<SuppressedReport>,
    /// What can run or enter a prompt, and how far the pin covers it.
    pub surface: Vec<SurfaceReport>,
    /// What the host grants; empty where the host grants nothing.
    pub capabilities: Vec<CapabilityReport>,
    /// The root's index in [`Report::roots`].
    #[serde(skip)]
    pub root: usize,
}

impl PluginReport {
    /// Gives the reason for which a finding is let pass, if it is.
    #[must_use]
    pub fn suppression(&self, finding: &Finding) -> Option<&str> {
        let is = |one: &&SuppressedReport| {
            one.rule == finding.rule.as_str()
                && (one.line, one.column) == (finding.line, finding.column)
                && one.path == finding.path
        };
        self.suppressed.iter().find(is).map(|one| one.reason.as_str())
    }

    /// Counts the findings of one severity.
    #[must_use]
    pub fn count(&self, severity: plugward_types::Severity) -> usize {
        self.findings.iter().filter(|finding| finding.severity == severity).count()
    }
}

/// What the pins say of a plugin.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct PinState {
    /// `same`, `enrolled`, `none`, `manifest-only`, `changed`, `denied`, `unavailable` or `not-checked`.
    pub state: &'static str,
    /// The pinned manifest digest, where there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub manifest: Option<String>,
    /// The pinned tree digest, where there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tree: Option<String>,
}

/// What PLUGINS.lock says of a plugin.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct LockReport {
    /// `absent`, `match`, `mismatch`, `unlisted`, `missing` or `malformed`.
    pub state: &'static str,
    /// Who signed it, where a signature held.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub signer: Option<String>,
    /// What the signer signed beside it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub comment: Option<String>,
}

impl LockReport {
    pub(crate) const fn state(state: &'static str) -> Self {
        Self { state, signer: None, comment: None }
    }
}

/// What the approvals say of a plugin.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct ApprovalReport {
    /// `none`, `given`, `stale`, `risk` or `unavailable`.
    pub state: &'static str,
    /// Who looked: `deep` or `static`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kind: Option<&'static str>,
    /// The risk that the audit found.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub risk: Option<&'static str>,
    /// Who approved.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
}

impl ApprovalReport {
    pub(crate) const fn state(state: &'static str) -> Self {
        Self { state, kind: None, risk: None, by: None }
    }
}

/// A finding that an entry of the host's settings covers.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[non_exhaustive]
pub struct SuppressedReport {
    /// The rule.
    pub rule: String,
    /// The file.
    pub path: String,
    /// The line.
    pub line: u32,
    /// The column.
    pub column: u32,
    /// The entry's reason.
    pub reason: String,
}

/// One thing that can run or enter a prompt.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct SurfaceReport {
    /// `hook`, `mcp-server`, `prompt` and so on.
    pub kind: &'static str,
    /// A hook's event.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub event: Option<String>,
    /// A server's or module's name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The program and its arguments, or the text, as written.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub run: Vec<String>,
    /// A remote address.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// Files of the tree that it names.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<String>,
    /// How far the pin covers it.
    pub coverage: &'static str,
}

/// One capability that the host granted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct CapabilityReport {
    /// The kind.
    pub kind: String,
    /// The scope.
    pub scope: String,
    /// The ledger's serial.
    pub serial: u64,
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

#[derive(Serialize)]
struct FindingView<'a> {
    rule: &'a str,
    severity: &'static str,
    path: &'a str,
    line: u32,
    column: u32,
    span: [usize; 2],
    message: &'a str,
}

fn findings<S: Serializer>(findings: &[Finding], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(findings.iter().map(|finding| FindingView {
        rule: finding.rule.as_str(),
        severity: finding.severity.as_str(),
        path: &finding.path,
        line: finding.line,
        column: finding.column,
        span: [finding.span.start, finding.span.end],
        message: &finding.message,
    }))
}
