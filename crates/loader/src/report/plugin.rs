//! One plugin of a report.

use std::collections::BTreeMap;

use plugward_types::Finding;
use serde::{Serialize, Serializer};

use super::{Decision, Notice, Reason};

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
    /// The root's index in [`Report::roots`](crate::Report::roots).
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
