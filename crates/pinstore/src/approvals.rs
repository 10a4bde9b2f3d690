//! The approvals of this machine.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use cap_std::fs::Dir;
use plugward_state_file::{Content, Hold, LastGood, Notice, Owner, StateError, StateFile};
use plugward_types::{CalledName, Digest, PluginId, PluginKey, TreeDigest};

use crate::approval::{self, Approval, AuditKind, Given, MAX_APPROVALS, Risk, Verdict};
use crate::error::{FormatError, FormatErrorKind, Store, StoreError, StoreErrorKind, StoreFault};
use crate::pins::keep_copy;
use crate::time::Timestamp;

const NAME: &str = "plugins.approvals.toml";
const CAP: u64 = 8 << 20;
const WAIT: Duration = Duration::from_secs(5);

/// The bytes of an approval.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "every host must handle a new fact")]
pub struct ApprovedBytes {
    /// The tree.
    pub tree: TreeDigest,
    /// The shared directories.
    pub shared: BTreeMap<String, TreeDigest>,
}

/// An audit that the user approves.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "every host must handle a new fact")]
pub struct ApprovalDraft {
    /// The audited bytes.
    pub audited: ApprovedBytes,
    /// The digest of the audit.
    pub audit: Digest,
    /// The kind of the audit.
    pub kind: AuditKind,
    /// The risk that the audit found.
    pub risk: Risk,
    /// The advice of the audit.
    pub verdict: Verdict,
    /// The scanner's rule set.
    pub rules: Digest,
    /// The user, if the host knows.
    pub by: Option<String>,
}

/// Whether bytes were approved.
#[derive(Debug, Clone, PartialEq, Eq)]
#[must_use]
#[expect(clippy::exhaustive_enums, reason = "every host must handle a new answer")]
pub enum ApprovalCheck {
    /// No approval exists: `approval/none`, exit 3.
    None,
    /// Other bytes were approved: `approval/stale`, exit 3.
    Stale {
        /// The approved bytes.
        approved: ApprovedBytes,
        /// The bytes on disk.
        actual: ApprovedBytes,
    },
    /// The bytes were approved, but their risk is above the threshold: `approval/risk`, exit 5.
    Risk {
        /// The risk that the audit found.
        risk: Risk,
        /// The threshold of this run.
        max: Risk,
    },
    /// The bytes were approved.
    Given {
        /// The approval.
        approval: Box<Approval>,
        /// Whether the scanner has other rules now: notice `approval/rules-changed`.
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
    /// The audit is of other bytes, or another audit or other bytes were shown: `approval/not-audited`.
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

/// The approvals of this machine, as they were read.
///
/// # Guarantees
/// A check changes nothing. It compares threshold and bytes each time, also within one session. No plugin approves
/// itself.
#[derive(Debug, Clone)]
pub struct Approvals {
    file: StateFile,
    given: Given,
    notices: Vec<Notice>,
    wait: Duration,
}

impl Approvals {
    /// Returns the approvals file in the user's configuration directory.
    ///
    /// # Errors
    /// `state/io` if the directory handle cannot be cloned.
    pub fn file(dir: &Dir, owner: Owner) -> Result<StateFile, StateError> {
        StateFile::at(dir, NAME, CAP, owner, LastGood::No)
    }

    /// Reads the approvals. A missing file has none.
    ///
    /// # Errors
    /// `approval/store` if the file exists and cannot be used: no approval applies then, but the file is not treated
    /// as empty. `approval/store-version` if a newer plugward wrote it.
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
    pub fn notices(&self) -> &[Notice] {
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

    /// Compares the bytes on disk and the current threshold and rules with the approval.
    ///
    /// A key without an approval is compared with the approvals of a version-1 file that have one of its names.
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

    /// Stores an approval of the bytes and the audit that were shown.
    ///
    /// # Guarantees
    /// After `Ok(Stored)`, the bytes in hand, the audited and the shown ones are the same, the audit is the shown one,
    /// its risk is not above `max`, it does not reject, and the approval is synced to the disk.
    ///
    /// # Errors
    /// `approval/not-saved` if the file is locked, full, read-only or not the user's; `approval/store` if it was
    /// damaged since.
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
        if draft.verdict == Verdict::Reject {
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
            at: now,
        };
        self.change(|given| {
            given.by_key.insert(key.clone(), approval);
        })?;
        Ok(ApproveOutcome::Stored)
    }

    /// Deletes the approval of a key, and those of a version-1 file that have one of its names.
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
            // Otherwise an old approval of the same bytes would apply from now on.
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
        let hold = file.hold(self.wait).map_err(|error| self.failed(StoreErrorKind::NotSaved(error)))?;
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

    fn write(&self, hold: &Hold<'_>, old: &Loaded, new: &Given) -> Result<(), StoreError> {
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
    notices: Vec<Notice>,
}

fn load(file: &StateFile, read: Result<Option<Content>, StateError>) -> Result<Loaded, StoreError> {
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
    let notices = content.notices().to_vec();
    Ok(Loaded { given, bytes: content.into_bytes(), notices })
}
