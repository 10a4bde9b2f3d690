//! The approvals of this machine.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use cap_std::fs::Dir;
use plugward_state_file::{Backup, FileLock, Owner, StateContents, StateError, StateFile, StateWarning};
use plugward_types::{
    AuditKind, AuditVerdict, CalledName, Digest, PluginId, PluginKey, Risk, Timestamp, TreeDigest,
};

use crate::approvals::approval::{self, Approval, Given, MAX_APPROVALS};
use crate::error::{FormatError, FormatErrorKind, Store, StoreError, StoreErrorKind, StoreFault};
use crate::pins::store::keep_copy;

const NAME: &str = "plugins.approvals.toml";
// The size limit of the file: 20,000 approvals of 400 bytes.
const CAP: u64 = 8 << 20;
// How long a change waits for another process. Writing takes milliseconds, so a longer wait means a stuck
// process.
const WAIT: Duration = Duration::from_secs(5);

/// The approved contents.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "every host must handle a new fact")]
pub struct ApprovedBytes {
    /// The tree.
    pub tree: TreeDigest,
    /// The shared directories.
    pub shared: BTreeMap<String, TreeDigest>,
}

/// An audit that the user wants to approve.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "every host must handle a new fact")]
pub struct ApprovalDraft {
    /// The audited contents.
    pub audited: ApprovedBytes,
    /// The digest of the audit.
    pub audit: Digest,
    /// The kind of the audit.
    pub kind: AuditKind,
    /// The risk that the audit found.
    pub risk: Risk,
    /// The advice of the audit.
    pub verdict: AuditVerdict,
    /// The scanner's rule set.
    pub rules: Digest,
    /// The user, if the host knows.
    pub by: Option<String>,
}

/// The comparison of a plugin's contents with its approval.
#[derive(Debug, Clone, PartialEq, Eq)]
#[must_use]
#[expect(clippy::exhaustive_enums, reason = "every host must handle a new answer")]
pub enum ApprovalCheck {
    /// No approval exists: `approval/none`, exit 3.
    None,
    /// Other contents were approved: `approval/stale`, exit 3.
    Stale {
        /// The approved contents.
        approved: ApprovedBytes,
        /// The contents on disk.
        actual: ApprovedBytes,
    },
    /// The contents were approved, but their risk is above the threshold: `approval/risk`, exit 5.
    Risk {
        /// The risk that the audit found.
        risk: Risk,
        /// The threshold of this run.
        max: Risk,
    },
    /// The contents were approved.
    Given {
        /// The approval.
        approval: Box<Approval>,
        /// Whether the scanner's rules changed since: notice `approval/rules-changed`.
        rules: RulesChanged,
    },
}

/// Whether the scanner's rules are those of the approval.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "the rules are the same or not")]
pub enum RulesChanged {
    /// They are the same.
    Same,
    /// They are different.
    Changed,
}

impl ApprovalCheck {
    /// Returns the stable code of the refusal, question or notice for this answer.
    #[must_use]
    pub const fn code(&self) -> Option<&'static str> {
        match self {
            Self::None => Some("approval/none"),
            Self::Stale { .. } => Some("approval/stale"),
            Self::Risk { .. } => Some("approval/risk"),
            Self::Given { rules: RulesChanged::Changed, .. } => Some("approval/rules-changed"),
            Self::Given { rules: RulesChanged::Same, .. } => None,
        }
    }
}

/// The outcome of [`Approvals::approve`].
#[derive(Debug, Clone, PartialEq, Eq)]
#[must_use]
#[expect(clippy::exhaustive_enums, reason = "every host must handle a new answer")]
pub enum ApproveOutcome {
    /// The approval is stored.
    Stored,
    /// The audit is of other contents, or the user was shown another audit or other contents:
    /// `approval/not-audited`.
    NotAudited,
    /// The risk is above the threshold: `approval/risk`.
    Risk {
        /// The risk that the audit found.
        risk: Risk,
        /// The threshold of this run.
        max: Risk,
    },
    /// The audit advises against it: `approval/rejected`.
    Rejected,
}

impl ApproveOutcome {
    /// Returns the stable code of an outcome that differs from the requested one.
    #[must_use]
    pub const fn code(&self) -> Option<&'static str> {
        match self {
            Self::Stored => None,
            Self::NotAudited => Some("approval/not-audited"),
            Self::Risk { .. } => Some("approval/risk"),
            Self::Rejected => Some("approval/rejected"),
        }
    }
}

/// The outcome of [`Approvals::unapprove`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use]
#[expect(clippy::exhaustive_enums, reason = "there was an approval or not")]
pub enum UnapproveOutcome {
    /// The approval was deleted.
    Removed,
    /// There was no approval.
    Absent,
}

/// The approvals of this machine, as read from the file.
///
/// # Guarantees
/// A check does not change anything. It compares threshold and contents each time, also within a session. A
/// plugin cannot approve itself.
#[derive(Debug, Clone)]
pub struct Approvals {
    file: StateFile,
    given: Given,
    notices: Vec<StateWarning>,
    wait: Duration,
}

impl Approvals {
    /// Returns the approvals file in the user's configuration directory.
    ///
    /// # Errors
    /// `state/io` if the directory handle cannot be cloned.
    pub fn file(dir: &Dir, owner: Owner) -> Result<StateFile, StateError> {
        StateFile::at(dir, NAME, CAP, owner, Backup::None)
    }

    /// Reads the approvals. A missing file counts as an empty one.
    ///
    /// # Errors
    /// `approval/store` if the file exists but cannot be used, in which case no approval counts.
    /// `approval/store-version` if a newer version of plugward wrote the file.
    pub fn open(file: &StateFile) -> Result<Self, StoreError> {
        let Loaded { given, notices, .. } = load(file, file.read())?;
        Ok(Self { file: file.clone(), given, notices, wait: WAIT })
    }

    /// Sets how long a change waits for the file lock; the default is 5 s.
    #[must_use]
    pub fn with_wait(self, wait: Duration) -> Self {
        Self { wait, ..self }
    }

    /// Returns the notices about the file.
    #[must_use]
    pub fn notices(&self) -> &[StateWarning] {
        &self.notices
    }

    /// Returns the approval of a key.
    #[must_use]
    pub fn get(&self, key: &PluginKey) -> Option<&Approval> {
        self.given.by_key.get(key)
    }

    /// Returns all approvals, by key.
    pub fn iter(&self) -> impl Iterator<Item = (&PluginKey, &Approval)> {
        self.given.by_key.iter()
    }

    /// Returns the approvals of a version-1 file, by id. An id can occur several times.
    pub fn pending(&self) -> impl Iterator<Item = (&PluginId, &Approval)> {
        self.given.pending.iter().flat_map(|(id, all)| all.iter().map(move |one| (id, one)))
    }

    /// Compares the contents on disk with the approval, under the current threshold and rules.
    ///
    /// A key without an approval is compared with the version 1 approvals for its names.
    pub fn check(
        &self,
        key: &PluginKey,
        called: &BTreeSet<CalledName>,
        actual: &ApprovedBytes,
        max: Risk,
        rules: &Digest,
    ) -> ApprovalCheck {
        let is_of_these = |one: &Approval| one.tree == actual.tree && one.shared == actual.shared;
        let pending = || {
            let mut found = self.pending().filter(|(id, _)| is_called(called, id)).map(|(_, one)| one);
            let first = found.next()?;
            if is_of_these(first) { Some(first) } else { found.find(|one| is_of_these(one)).or(Some(first)) }
        };
        let Some(approval) = self.get(key).or_else(pending) else { return ApprovalCheck::None };
        if !is_of_these(approval) {
            let approved = ApprovedBytes { tree: approval.tree, shared: approval.shared.clone() };
            return ApprovalCheck::Stale { approved, actual: actual.clone() };
        }
        if approval.risk > max {
            return ApprovalCheck::Risk { risk: approval.risk, max };
        }
        let rules = if approval.rules == *rules { RulesChanged::Same } else { RulesChanged::Changed };
        ApprovalCheck::Given { approval: Box::new(approval.clone()), rules }
    }

    /// Stores an approval of the contents and the audit that the user was shown.
    ///
    /// # Guarantees
    /// After `Ok(Stored)`, the present, the audited and the shown contents are the same, the audit is the
    /// shown one, its risk is not above `max`, it does not reject the plugin, and the approval is synced to
    /// the disk.
    ///
    /// # Errors
    /// `approval/not-saved` if the file is locked, full, read-only or not the user's. `approval/store` if
    /// it was damaged after it was read.
    #[expect(clippy::too_many_arguments, reason = "the caller must state what was shown")]
    pub fn approve(
        &mut self,
        key: &PluginKey,
        draft: &ApprovalDraft,
        in_hand: &ApprovedBytes,
        shown_tree: &TreeDigest,
        shown_audit: &Digest,
        max: Risk,
        now: Timestamp,
    ) -> Result<ApproveOutcome, StoreError> {
        let is_of_these =
            draft.audited == *in_hand && in_hand.tree == *shown_tree && draft.audit == *shown_audit;
        if !is_of_these {
            return Ok(ApproveOutcome::NotAudited);
        }
        if draft.verdict == AuditVerdict::Reject {
            return Ok(ApproveOutcome::Rejected);
        }
        if draft.risk > max {
            return Ok(ApproveOutcome::Risk { risk: draft.risk, max });
        }
        let approval = Approval {
            tree: in_hand.tree,
            shared: in_hand.shared.clone(),
            audit: draft.audit,
            kind: draft.kind,
            risk: draft.risk,
            verdict: draft.verdict,
            rules: draft.rules,
            by: draft.by.clone(),
            // The file stores whole seconds; the entry in memory equals the one that is read back.
            at: now.truncated_to_second(),
        };
        self.change(|given| {
            given.by_key.insert(key.clone(), approval);
        })?;
        Ok(ApproveOutcome::Stored)
    }

    /// Deletes the approval of a key, and the version 1 approvals for its names.
    ///
    /// A running plugin continues until its session ends; the next check sees the change.
    ///
    /// # Errors
    /// As [`Approvals::approve`].
    pub fn unapprove(
        &mut self,
        key: &PluginKey,
        called: &BTreeSet<CalledName>,
    ) -> Result<UnapproveOutcome, StoreError> {
        let mut outcome = UnapproveOutcome::Absent;
        self.change(|given| {
            let before = given.count();
            given.by_key.remove(key);
            // Otherwise an old approval of the same contents would count from now on.
            given.pending.retain(|id, _| !is_called(called, id));
            if given.count() < before {
                outcome = UnapproveOutcome::Removed;
            }
        })?;
        Ok(outcome)
    }

    fn failed(&self, kind: StoreErrorKind) -> StoreError {
        StoreError::new(Store::Approvals, self.file.name(), kind)
    }

    fn change(&mut self, change: impl FnOnce(&mut Given)) -> Result<(), StoreError> {
        let file = self.file.clone();
        let hold = file.lock(self.wait).map_err(|error| self.failed(StoreErrorKind::NotSaved(error)))?;
        let loaded = load(&file, hold.read())?;
        let mut new = loaded.given.clone();
        change(&mut new);
        if new != loaded.given {
            new.is_version_one = false;
            self.write(&hold, &loaded, &new)?;
        }
        self.given = new;
        self.notices.clear();
        Ok(())
    }

    fn write(&self, hold: &FileLock<'_>, old: &Loaded, new: &Given) -> Result<(), StoreError> {
        if new.count() > MAX_APPROVALS {
            return Err(self.failed(StoreErrorKind::TooMany { most: MAX_APPROVALS }));
        }
        let unwritable = |why| self.failed(StoreErrorKind::Unwritable { why });
        let text = approval::render(new);
        let written = approval::parse(text.as_bytes()).map_err(|error| unwritable(error.to_string()))?;
        if written != *new {
            return Err(unwritable("it reads back as something else".to_owned()));
        }
        let not_saved = |error| self.failed(StoreErrorKind::NotSaved(error));
        if old.given.is_version_one {
            keep_copy(hold, self.file.name(), "v1", &old.bytes).map_err(not_saved)?;
        }
        hold.replace(text.as_bytes()).map_err(not_saved)
    }
}

fn is_called(called: &BTreeSet<CalledName>, id: &PluginId) -> bool {
    called.iter().any(|one| one.dialect() == id.dialect() && one.name() == id.name())
}

/// Parses the bytes of an approvals file and returns the number of its approvals, including the pending ones.
///
/// # Errors
/// `store/format` with the place, the expected value and help.
pub fn parse_approvals(bytes: &[u8]) -> Result<usize, FormatError> {
    approval::parse(bytes).map(|given| given.count())
}

/// The file as it was read.
struct Loaded {
    given: Given,
    bytes: Vec<u8>,
    notices: Vec<StateWarning>,
}

fn load(file: &StateFile, read: Result<Option<StateContents>, StateError>) -> Result<Loaded, StoreError> {
    let failed = |kind| StoreError::new(Store::Approvals, file.name(), kind);
    let unusable = |main| failed(StoreErrorKind::Unusable { main, last_good: StoreFault::NotKept });
    let content = match read {
        Ok(Some(content)) => content,
        Ok(None) => return Ok(Loaded { given: Given::default(), bytes: Vec::new(), notices: Vec::new() }),
        Err(error) => return Err(unusable(StoreFault::Unreadable(error))),
    };
    let given = approval::parse(content.bytes()).map_err(|error| match *error.kind() {
        FormatErrorKind::Version { found } => failed(StoreErrorKind::Version { found }),
        _ => unusable(StoreFault::Damaged(error)),
    })?;
    let notices = content.warnings().to_vec();
    Ok(Loaded { given, bytes: content.into_bytes(), notices })
}
