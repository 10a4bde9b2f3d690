//! A plugin in a report.

use std::collections::{BTreeMap, BTreeSet};

use plugward_deep_audit::Audit;
use plugward_installs::InstallKind;
use plugward_pinstore::DirectoryId;
use plugward_types::{Behavior, BehaviorEvidence, CalledName, Finding, PlacePath, PluginKey};
use serde::{Serialize, Serializer};

use super::Decision;
use crate::run::outcome::{Notice, Reason};

/// One plugin directory, whatever number of dialects it serves.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct PluginReport {
    /// The recorded id, or the path relative to the project, else to the label of the directory that was checked.
    pub id: String,
    /// The hosts with an install record for the directory.
    pub hosts: Vec<String>,
    /// The kind of plugin.
    pub kind: PluginKind,
    /// Whether its host would load it; `true` if that is unknown.
    pub on: bool,
    /// The dialects with a manifest in the directory.
    pub dialects: Vec<&'static str>,
    /// The name in its first manifest, else the directory's name.
    pub name: String,
    /// The version in its manifests.
    pub version: Option<String>,
    /// The directory, relative as in `id`.
    pub path: String,
    /// The trust mode.
    pub trust: &'static str,
    /// The decision.
    pub decision: Decision,
    /// The reasons that it does not load, in the order of the gates.
    pub reasons: Vec<Reason>,
    /// Notices, which do not affect the decision.
    pub notices: Vec<Notice>,
    /// The rule for running it, and the layer of settings that states it.
    pub policy: PolicyReport,
    /// The SHA-256 of each manifest file, by dialect.
    pub manifest: BTreeMap<&'static str, String>,
    /// The digest of the whole directory.
    pub tree: Option<String>,
    /// The files and symlinks in the directory.
    pub files: u64,
    /// The total size of these files.
    pub bytes: u64,
    /// The result of the comparison with the pins.
    pub pin: PinReport,
    /// The result of the comparison with PLUGINS.lock.
    pub lock: LockReport,
    /// The result of the comparison with the approvals.
    pub approval: ApprovalReport,
    /// The digests of directories and files outside the plugin that it imports.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub shared: BTreeMap<String, String>,
    /// The digest of the files outside the plugin that can run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub closure: Option<String>,
    /// The paths of these files: relative to the plugin or project, or to the home directory.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub outside: Vec<String>,
    /// The commands whose text does not determine what runs.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unresolved: Vec<UnresolvedReport>,
    /// The findings of the rules, including suppressed ones.
    #[serde(serialize_with = "findings")]
    pub findings: Vec<Finding>,
    /// The findings that the host's settings suppress, with the reasons.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub suppressed: Vec<SuppressedReport>,
    /// The behaviors of the plugin, with up to 20 places each. They are never a reason to refuse.
    #[serde(serialize_with = "evidence")]
    pub behaviors: Vec<BehaviorEvidence>,
    /// The execution surface, with the pin coverage of each item.
    pub surface: Vec<SurfaceReport>,
    /// The granted capabilities.
    pub capabilities: Vec<CapabilityReport>,
    /// The key under which the plugin is pinned. It can contain an absolute path, so it is not serialized.
    #[serde(skip)]
    pub key: PluginKey,
    /// The real path of the directory or file.
    #[serde(skip)]
    pub place: PlacePath,
    /// The identity of the directory, by which a denial follows it; `None` if it could not be opened.
    #[serde(skip)]
    pub directory: Option<DirectoryId>,
    /// The names in its manifests.
    #[serde(skip)]
    pub called: BTreeSet<CalledName>,
    /// The index of the root in [`Report::roots`](crate::Report::roots).
    #[serde(skip)]
    pub root: usize,
}

impl PluginReport {
    /// Returns the reason for suppressing a finding, if it is suppressed.
    #[must_use]
    pub fn suppression(&self, finding: &Finding) -> Option<&str> {
        let is = |one: &&SuppressedReport| {
            one.rule == finding.rule.as_str()
                && (one.line, one.column) == (finding.line, finding.column)
                && one.path == finding.path
        };
        self.suppressed.iter().find(is).map(|one| one.reason.as_str())
    }

    /// Returns the findings that are not suppressed.
    pub fn open_findings(&self) -> impl Iterator<Item = &Finding> {
        self.findings.iter().filter(|finding| self.suppression(finding).is_none())
    }

    /// Returns the behaviors, each with its first place.
    #[must_use]
    pub fn first_evidence(&self) -> BTreeMap<Behavior, &BehaviorEvidence> {
        let mut first = BTreeMap::new();
        for one in &self.behaviors {
            first.entry(one.behavior).or_insert(one);
        }
        first
    }

    /// Returns the number of files that its surface names.
    #[must_use]
    pub fn files_of_surface(&self) -> usize {
        self.surface.iter().flat_map(|item| &item.files).collect::<BTreeSet<_>>().len()
    }

    /// Returns the number of findings of one severity.
    #[must_use]
    pub fn count(&self, severity: plugward_types::Severity) -> usize {
        self.findings.iter().filter(|finding| finding.severity == severity).count()
    }
}

/// A command whose text does not determine what runs.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[non_exhaustive]
pub struct UnresolvedReport {
    /// SHA-256 of the command's text.
    pub command: String,
    /// The file that contains the command.
    pub path: String,
    /// The line, from 1.
    pub line: u64,
    /// The open word.
    pub word: String,
}

/// The rule for running a plugin: the setting `run` of its bundle.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct PolicyReport {
    /// `unattended`, `ask` or `deny`.
    pub run: &'static str,
    /// The layer that sets it.
    pub layer: &'static str,
    /// The file, line and column; `None` for the default.
    pub origin: Option<String>,
}

macro_rules! states {
    ($(#[$doc:meta])* $name:ident { $($(#[$variant_doc:meta])* $variant:ident = $word:literal,)* }) => {
        plugward_types::named! {
            $(#[$doc])*
            #[derive(Debug, Clone, Copy, PartialEq, Eq)]
            #[expect(clippy::exhaustive_enums, reason = "every host must display a new state")]
            pub enum $name { $($(#[$variant_doc])* $variant = $word,)* }
        }

        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(self.as_str())
            }
        }
    };
}

states! {
    /// The kind of a plugin.
    PluginKind {
        /// A directory with a manifest, or one that a marketplace entry names.
        Plugin = "plugin",
        /// A skill directory without a manifest.
        Skill = "skill",
        /// A directory of agents.
        Agents = "agents",
        /// A directory of commands.
        Commands = "commands",
        /// A directory of code that a host runs.
        Code = "code",
        /// The hooks, servers, commands and environment of a settings file.
        Settings = "settings",
        /// A file that only configures MCP servers.
        Servers = "servers",
    }
}

impl From<InstallKind> for PluginKind {
    fn from(kind: InstallKind) -> Self {
        match kind {
            InstallKind::Plugin => Self::Plugin,
            InstallKind::Skill => Self::Skill,
            InstallKind::Agents => Self::Agents,
            InstallKind::Commands => Self::Commands,
            InstallKind::Code => Self::Code,
            InstallKind::Settings => Self::Settings,
            InstallKind::Servers => Self::Servers,
        }
    }
}

states! {
    /// The result of comparing a plugin with its pin.
    PinStatus {
        /// The contents match the pin.
        Same = "same",
        /// The contents match an earlier pin, and a newer version was accepted later.
        Older = "older",
        /// It matches a state that was agreed to and replaced later.
        RolledBack = "rolled-back",
        /// The contents match the pin of the plugin's former place or id.
        Moved = "moved",
        /// The contents match a pin in an older format.
        Migrated = "migrated",
        /// The plugin was new, and this run pinned it.
        Enrolled = "enrolled",
        /// Nothing is pinned.
        None = "none",
        /// An old pin covers only the manifest.
        ManifestOnly = "manifest-only",
        /// The contents differ from the pin.
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
        /// The lockfile lists this tree.
        Match = "match",
        /// The lockfile lists another tree.
        Mismatch = "mismatch",
        /// The lockfile has no entry for this place.
        Unlisted = "unlisted",
        /// The lockfile lists a plugin that does not exist.
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
    /// The signed comment of the signature.
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
        /// There is no approval.
        None = "none",
        /// The contents are approved.
        Given = "given",
        /// Other contents are approved.
        Stale = "stale",
        /// The contents are approved, but their risk is too high.
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
    /// The audit of these contents by a language model that counts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub audit: Option<AuditReport>,
}

impl ApprovalReport {
    pub(crate) const fn state(state: ApprovalState) -> Self {
        Self { state, kind: None, risk: None, by: None, audit: None }
    }
}

/// An audit by a language model: of several about the same contents, the one with the highest risk.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct AuditReport {
    /// The digest of the audit.
    pub record: String,
    /// The client and the model.
    pub model: String,
    /// The time.
    pub at: String,
    /// The risk.
    pub risk: &'static str,
    /// The advice.
    pub verdict: &'static str,
    /// The summary of the model.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub summary: Option<String>,
}

impl AuditReport {
    /// Returns the report about an audit.
    #[must_use]
    pub fn of(audit: &Audit) -> Self {
        let model = audit.auditor.as_ref();
        Self {
            record: audit.digest().to_string(),
            model: model.map(|id| format!("{} {}", id.client(), id.model())).unwrap_or_default(),
            at: audit.at.to_string(),
            risk: audit.risk.as_str(),
            verdict: audit.verdict.as_str(),
            summary: audit.summary.clone(),
        }
    }
}

/// A finding that the host's settings suppress.
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
    /// The reason in the settings.
    pub reason: String,
}

/// An item of the execution surface.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct SurfaceReport {
    /// The dialect whose host runs it.
    pub dialect: &'static str,
    /// The kind, such as `hook`, `mcp-server` or `prompt`.
    pub kind: &'static str,
    /// The event of a hook.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub event: Option<String>,
    /// The name of a server or module.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The command with its arguments, or the text, as written.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub run: Vec<String>,
    /// The URL of a remote server.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// The files of the plugin that it names.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<String>,
    /// The pin coverage.
    pub coverage: &'static str,
}

/// A granted capability.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct CapabilityReport {
    /// The kind.
    pub kind: String,
    /// The scope.
    pub scope: String,
    /// The serial number in the ledger.
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
