//! The result of a scan.

use std::collections::BTreeSet;

use plugward_types::{Behavior, BehaviorEvidence, Digest, FileRole, Finding, Severity};

use crate::Profile;
use crate::inventory::EntryState;
use crate::scan::entry::{FileKind, Lens};

/// The state of one entry after a scan.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct FileState {
    /// The path as the caller passed it.
    pub path: String,
    /// How the entry was read.
    pub state: EntryState,
    /// The first lens that read it, if any.
    pub lens: Option<Lens>,
    /// The kind of the file.
    pub kind: FileKind,
    /// The role of the file.
    pub role: FileRole,
    /// The size in bytes.
    pub bytes: u64,
    /// The digest; absent without bytes.
    pub digest: Option<Digest>,
}

plugward_types::named! {
    /// Whether everything that can run or enter a prompt was read.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
    #[expect(clippy::exhaustive_enums, reason = "a third answer must stop every host from building")]
    pub enum Completeness {
        /// Every entry was read within the limits.
        Complete = "complete",
        /// A file exceeded a limit, or was unreadable or special.
        Partial = "partial",
    }
}

/// Exact counts, including findings that are not listed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct ScanSummary {
    /// Danger findings.
    pub danger: u64,
    /// Suspicious findings.
    pub warning: u64,
    /// Notes.
    pub info: u64,
    /// Entries.
    pub files: u64,
    /// Bytes of all entries.
    pub bytes: u64,
}

impl ScanSummary {
    pub(crate) fn count(&mut self, severity: Severity) {
        let slot = match severity {
            Severity::Danger => &mut self.danger,
            Severity::Warning => &mut self.warning,
            Severity::Info => &mut self.info,
        };
        *slot = slot.saturating_add(1);
    }
}

/// The findings of one plugin, and the inventory behind them.
///
/// # Guarantees
///
/// Only [`crate::scan`] creates a report. It does not depend on `jobs`, the order of entries, the cache, the machine or the
/// time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScanReport {
    pub(crate) profile: Profile,
    pub(crate) rules: Digest,
    pub(crate) findings: Vec<Finding>,
    /// The end of each finding: the line and column after its last byte.
    pub(crate) ends: Vec<(u32, u32)>,
    pub(crate) files: Vec<FileState>,
    pub(crate) summary: ScanSummary,
    pub(crate) behaviors: Vec<BehaviorEvidence>,
}

impl ScanReport {
    /// Returns the findings in the order of path, line, column, rule.
    #[must_use]
    pub fn findings(&self) -> &[Finding] {
        &self.findings
    }

    /// Adds findings of a host's own checks, so that suppressions and the gate apply to them too.
    pub fn add_findings(&mut self, more: impl IntoIterator<Item = Finding>) {
        for finding in more {
            let at = self.findings.partition_point(|known| *known < finding);
            let length = u32::try_from(finding.span.len()).unwrap_or(u32::MAX);
            self.ends.insert(at, (finding.line, finding.column.saturating_add(length)));
            self.findings.insert(at, finding);
        }
    }

    /// Returns the findings with the line and column after the last byte of each.
    pub fn placed(&self) -> impl Iterator<Item = (&Finding, (u32, u32))> {
        self.findings.iter().zip(self.ends.iter().copied())
    }

    /// Returns the entries in the order of their paths, one state each.
    #[must_use]
    pub fn files(&self) -> &[FileState] {
        &self.files
    }

    /// Returns whether everything was read.
    #[must_use]
    pub fn coverage(&self) -> Completeness {
        let partial = self.files.iter().any(|file| {
            matches!(file.state, EntryState::Partial | EntryState::Unreadable | EntryState::Special)
        }) || self
            .findings
            .iter()
            .any(|finding| matches!(finding.rule.as_str(), "coverage/unscanned" | "scan/partial"));
        if partial { Completeness::Partial } else { Completeness::Complete }
    }

    /// Returns the evidence of each behavior, in the order of behavior, role (the greatest first) and path.
    #[must_use]
    pub fn evidence(&self) -> &[BehaviorEvidence] {
        &self.behaviors
    }

    /// Returns what the plugin can do, as far as its code shows.
    #[must_use]
    pub fn behaviors(&self) -> BTreeSet<Behavior> {
        self.behaviors.iter().map(|one| one.behavior).collect()
    }

    /// Returns the exact counts.
    #[must_use]
    pub const fn summary(&self) -> ScanSummary {
        self.summary
    }

    /// Returns the requested profile.
    #[must_use]
    pub const fn profile(&self) -> Profile {
        self.profile
    }

    /// Returns the digest of the rules of the scan.
    #[must_use]
    pub const fn rules(&self) -> Digest {
        self.rules
    }
}
