//! What a scan gives.

use std::collections::BTreeSet;

use plugward_types::{Behavior, BehaviorEvidence, Digest, FileRole, Finding, Severity};

use crate::entry::{Lens, Role};
use crate::inventory::State;
use crate::options::Profile;

/// What became of one entry.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct FileState {
    /// The path as it was handed in.
    pub path: String,
    /// What became of it.
    pub state: State,
    /// The lens that read it first, if any.
    pub lens: Option<Lens>,
    /// What kind of file it is.
    pub kind: Role,
    /// What it is for.
    pub role: FileRole,
    /// Its bytes.
    pub bytes: u64,
    /// Its digest; absent where there were no bytes.
    pub digest: Option<Digest>,
}

/// Whether everything that can run or enter a prompt was read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[expect(clippy::exhaustive_enums, reason = "a third answer must stop every host from building")]
pub enum Coverage {
    /// Every entry was read within the limits.
    Complete,
    /// A file was over a limit, unreadable or special.
    Partial,
}

impl Coverage {
    /// Gives the word that reports use.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Complete => "complete",
            Self::Partial => "partial",
        }
    }
}

/// Exact counts, beyond what is listed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Summary {
    /// Danger findings.
    pub danger: u64,
    /// Warnings.
    pub warning: u64,
    /// Notes.
    pub info: u64,
    /// Entries.
    pub files: u64,
    /// Bytes of all entries.
    pub bytes: u64,
}

impl Summary {
    pub(crate) fn count(&mut self, severity: Severity) {
        let slot = match severity {
            Severity::Danger => &mut self.danger,
            Severity::Warning => &mut self.warning,
            Severity::Info => &mut self.info,
        };
        *slot = slot.saturating_add(1);
    }
}

/// The findings of one plugin, and the inventory that they rest on.
///
/// # Guarantees
/// Only [`crate::scan`] makes one. It does not depend on `jobs`, entry order, cache, machine or time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScanReport {
    pub(crate) profile: Profile,
    pub(crate) rules: Digest,
    pub(crate) findings: Vec<Finding>,
    /// Where each finding ends: the line and column behind its last byte.
    pub(crate) ends: Vec<(u32, u32)>,
    pub(crate) files: Vec<FileState>,
    pub(crate) summary: Summary,
    pub(crate) behaviors: Vec<BehaviorEvidence>,
}

impl ScanReport {
    /// Gives the findings in the order of path, line, column, rule.
    #[must_use]
    pub fn findings(&self) -> &[Finding] {
        &self.findings
    }

    /// Gives the findings with the line and column behind the last byte of each.
    pub fn placed(&self) -> impl Iterator<Item = (&Finding, (u32, u32))> {
        self.findings.iter().zip(self.ends.iter().copied())
    }

    /// Gives the entries in the order of their paths, one state each.
    #[must_use]
    pub fn files(&self) -> &[FileState] {
        &self.files
    }

    /// Says whether everything was read.
    #[must_use]
    pub fn coverage(&self) -> Coverage {
        let partial = self
            .files
            .iter()
            .any(|file| matches!(file.state, State::Partial | State::Unreadable | State::Special))
            || self
                .findings
                .iter()
                .any(|finding| matches!(finding.rule.as_str(), "coverage/unscanned" | "scan/partial"));
        if partial { Coverage::Partial } else { Coverage::Complete }
    }

    /// Returns where the plugin shows each of its behaviors, in the order of behavior, role (the greatest first) and path.
    #[must_use]
    pub fn evidence(&self) -> &[BehaviorEvidence] {
        &self.behaviors
    }

    /// Returns what the plugin can do, as far as its code shows.
    #[must_use]
    pub fn behaviors(&self) -> BTreeSet<Behavior> {
        self.behaviors.iter().map(|one| one.behavior).collect()
    }

    /// Gives the exact counts.
    #[must_use]
    pub const fn summary(&self) -> Summary {
        self.summary
    }

    /// Gives the profile that it was asked for.
    #[must_use]
    pub const fn profile(&self) -> Profile {
        self.profile
    }

    /// Gives the digest of the rules that were in force.
    #[must_use]
    pub const fn rules(&self) -> Digest {
        self.rules
    }
}
