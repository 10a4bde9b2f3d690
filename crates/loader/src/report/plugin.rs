//! One plugin of a report.

use std::collections::{BTreeMap, BTreeSet};

use plugward_pinstore::FolderId;
use plugward_types::{Behavior, BehaviorEvidence, CalledName, Finding, PluginKey};
use serde::{Serialize, Serializer};

use super::Decision;
use crate::outcome::{Notice, Reason};

/// One plugin directory, whatever number of dialects it serves.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct PluginReport {
    /// The recorded id, or the path relative to the project, else to the label of the directory that was checked.
    pub id: String,
    /// The hosts whose records name the directory.
    pub hosts: Vec<String>,
    /// What the row is about.
    pub kind: PluginKind,
    /// Whether its host would load it; counts as on if that is unknown.
    pub on: bool,
    /// The dialects whose manifest the directory contains.
    pub dialects: Vec<&'static str>,
    /// The plugin's own name; the directory's name if no manifest could be read.
    pub name: String,
    /// The plugin's own version.
    pub version: Option<String>,
    /// The directory, relative as in `id`.
    pub path: String,
    /// The trust mode.
    pub trust: &'static str,
    /// The outcome.
    pub decision: Decision,
    /// Everything against loading, in the order of the gates.
    pub reasons: Vec<Reason>,
    /// Everything else that is worth knowing.
    pub notices: Vec<Notice>,
    /// SHA-256 of each manifest file's bytes, by dialect.
    pub manifest: BTreeMap<&'static str, String>,
    /// The digest of the whole directory.
    pub tree: Option<String>,
    /// Entries of the directory that were read.
    pub files: u64,
    /// The bytes of these.
    pub bytes: u64,
    /// The result of the comparison with the pins.
    pub pin: PinReport,
    /// The result of the comparison with PLUGINS.lock.
    pub lock: LockReport,
    /// The result of the comparison with the approvals.
    pub approval: ApprovalReport,
    /// Directories and files outside that it imports, each with its digest.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub shared: BTreeMap<String, String>,
    /// Everything that the rules found, suppressed or not.
    #[serde(serialize_with = "findings")]
    pub findings: Vec<Finding>,
    /// The findings that the host's settings suppress, and why.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub suppressed: Vec<SuppressedReport>,
    /// What the plugin can do, as far as its code shows, with up to 20 places each. Never a reason to refuse.
    #[serde(serialize_with = "evidence")]
    pub behaviors: Vec<BehaviorEvidence>,
    /// Everything that can run or enter a prompt, and how far the pin covers it.
    pub surface: Vec<SurfaceReport>,
    /// The capabilities that the host grants; empty if the host grants nothing.
    pub capabilities: Vec<CapabilityReport>,
    /// The key under which the plugin is pinned. It can contain an absolute path, so it is not serialized.
    #[serde(skip)]
    pub key: PluginKey,
    /// The identity of the directory, so that a denial follows it; `None` if it could not be opened.
    #[serde(skip)]
    pub folder: Option<FolderId>,
    /// The names in its manifests.
    #[serde(skip)]
    pub called: BTreeSet<CalledName>,
    /// The root's index in [`Report::roots`](crate::Report::roots).
    #[serde(skip)]
    pub root: usize,
}

impl PluginReport {
    /// Returns the reason for which a finding is suppressed, if it is.
    #[must_use]
    pub fn suppression(&self, finding: &Finding) -> Option<&str> {
        let is = |one: &&SuppressedReport| {
            one.rule == finding.rule.as_str()
                && (one.line, one.column) == (finding.line, finding.column)
                && one.path == finding.path
        };
        self.suppressed.iter().find(is).map(|one| one.reason.as_str())
    }

    /// Returns what the plugin can do, each with the first place that shows it.
    #[must_use]
    pub fn first_evidence(&self) -> BTreeMap<Behavior, &BehaviorEvidence> {
        let mut first = BTreeMap::new();
        for one in &self.behaviors {
            first.entry(one.behavior).or_insert(one);
        }
        first
    }

    /// Returns the number of findings of one severity.
    #[must_use]
    pub fn count(&self, severity: plugward_types::Severity) -> usize {
        self.findings.iter().filter(|finding| finding.severity == severity).count()
    }
}

macro_rules! states {
    ($(#[$doc:meta])* $name:ident { $($(#[$variant_doc:meta])* $variant:ident = $word:literal,)* }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        #[expect(clippy::exhaustive_enums, reason = "a new state must be shown by every host")]
        pub enum $name {
            $($(#[$variant_doc])* $variant,)*
        }

        impl $name {
            /// Returns the word that reports use.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $word,)* }
            }
        }

        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(self.as_str())
            }
        }
    };
}

states! {
    /// The kind of a row.
    PluginKind {
        /// A directory with a manifest, or one that a marketplace entry names.
        Plugin = "plugin",
    }
}

states! {
    /// The result of comparing a plugin with its pin.
    PinStatus {
        /// The bytes are pinned.
        Same = "same",
        /// The bytes are pinned, and a newer version was accepted since.
        Older = "older",
        /// The bytes are pinned for another place or id that the plugin had before.
        Moved = "moved",
        /// The bytes are pinned in an older format.
        Migrated = "migrated",
        /// The plugin was new, and this run pinned it.
        Enrolled = "enrolled",
        /// Nothing is pinned.
        None = "none",
        /// An old pin covers the manifest alone.
        ManifestOnly = "manifest-only",
        /// Other bytes are pinned.
        Changed = "changed",
        /// The plugin is denied.
        Denied = "denied",
        /// The pins cannot be read.
        Unavailable = "unavailable",
        /// The plugin could not be digested, so there was nothing to compare.
        NotChecked = "not-checked",
    }
}

/// The result of comparing a plugin with its pin, and what is pinned.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct PinReport {
    /// The result.
    pub state: PinStatus,
    /// The pinned manifest digests, by dialect.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub manifest: BTreeMap<String, String>,
    /// The pinned tree digest.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tree: Option<String>,
}

impl PinReport {
    pub(crate) const fn state(state: PinStatus) -> Self {
        Self { state, manifest: BTreeMap::new(), tree: None }
    }
}

states! {
    /// The result of comparing a plugin with PLUGINS.lock.
    LockState {
        /// No lockfile covers the plugin's place.
        Absent = "absent",
        /// The lockfile names this tree.
        Match = "match",
        /// The lockfile names another tree.
        Mismatch = "mismatch",
        /// The lockfile has no entry for this place.
        Unlisted = "unlisted",
        /// The lockfile names a plugin that does not exist.
        Missing = "missing",
        /// The lockfile cannot be used.
        Malformed = "malformed",
    }
}

/// The result of comparing a plugin with PLUGINS.lock.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct LockReport {
    /// The result.
    pub state: LockState,
    /// The signer, if a signature was verified.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub signer: Option<String>,
    /// The comment that the signer signed with it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub comment: Option<String>,
}

impl LockReport {
    pub(crate) const fn state(state: LockState) -> Self {
        Self { state, signer: None, comment: None }
    }
}

states! {
    /// The result of comparing a plugin with its approval.
    ApprovalState {
        /// Nobody approved the plugin.
        None = "none",
        /// A person approved these bytes.
        Given = "given",
        /// A person approved other bytes.
        Stale = "stale",
        /// A person approved these bytes, and their risk is too high for this run.
        Risk = "risk",
        /// The approvals cannot be read.
        Unavailable = "unavailable",
    }
}

/// The result of comparing a plugin with its approval.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct ApprovalReport {
    /// The result.
    pub state: ApprovalState,
    /// The kind of the audit: `deep` or `static`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kind: Option<&'static str>,
    /// The risk that the audit found.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub risk: Option<&'static str>,
    /// The person who approved.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
}

impl ApprovalReport {
    pub(crate) const fn state(state: ApprovalState) -> Self {
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
    /// The dialect whose host runs it.
    pub dialect: &'static str,
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
    role: &'static str,
    path: &'a str,
    line: u32,
    column: u32,
    span: [usize; 2],
    message: &'a str,
    snippet: &'a str,
}

fn findings<S: Serializer>(findings: &[Finding], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(findings.iter().map(|finding| FindingView {
        rule: finding.rule.as_str(),
        severity: finding.severity.as_str(),
        role: finding.role.as_str(),
        path: &finding.path,
        line: finding.line,
        column: finding.column,
        span: [finding.span.start, finding.span.end],
        message: &finding.message,
        snippet: &finding.snippet,
    }))
}

#[derive(Serialize)]
struct BehaviorView<'a> {
    behavior: &'static str,
    places: Vec<PlaceView<'a>>,
}

#[derive(Serialize)]
struct PlaceView<'a> {
    path: &'a str,
    line: u32,
    role: &'static str,
    snippet: &'a str,
}

fn evidence<S: Serializer>(all: &[BehaviorEvidence], serializer: S) -> Result<S::Ok, S::Error> {
    let mut found: BTreeMap<Behavior, Vec<PlaceView<'_>>> = BTreeMap::new();
    for one in all {
        let place =
            PlaceView { path: &one.path, line: one.line, role: one.role.as_str(), snippet: &one.snippet };
        found.entry(one.behavior).or_default().push(place);
    }
    let views = found.into_iter();
    serializer
        .collect_seq(views.map(|(behavior, places)| BehaviorView { behavior: behavior.as_str(), places }))
}
