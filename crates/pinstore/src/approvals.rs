//! Who agreed to what, after which audit.

use std::collections::BTreeMap;
use std::time::Duration;

use cap_std::fs::Dir;
use plugward_state_file::{Hold, LastGood, Notice, Owner, StateError, StateFile};
use plugward_types::{Digest, PluginId, TreeDigest};
use toml_edit::{DocumentMut, InlineTable, TableLike, Value};

use crate::approval::{self, Approval, AuditKind, MAX_APPROVALS, Risk, Shelves, VERSION, Verdict};
use crate::edit::{Clash, finish, fresh, order, set_or_remove, shelf, table, time};
use crate::error::{FormatError, FormatErrorKind, Store, StoreError, StoreErrorKind, StoreFault};
use crate::scope::Scope;
use crate::time::Timestamp;

const NAME: &str = "plugins.approvals.toml";
const CAP: u64 = 8 << 20;
const WAIT: Duration = Duration::from_secs(5);
const HEAD: &str = "# Who agreed to which bytes, after which audit; written by plugward. An approval that is removed by hand\n\
                    # is asked for again.\n";

/// The bytes that an approval is about.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "a new fact must stop every host from building")]
pub struct ApprovedBytes {
    /// The tree.
    pub tree: TreeDigest,
    /// The folders outside that it imports.
    pub shared: BTreeMap<String, TreeDigest>,
}

/// An audit that is to become an approval.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "a new fact must stop every host from building")]
pub struct ApprovalDraft {
    /// The bytes that were audited.
    pub audited: ApprovedBytes,
    /// The audit's record.
    pub audit: Digest,
    /// Who looked.
    pub kind: AuditKind,
    /// The risk that was found.
    pub risk: Risk,
    /// What was advised.
    pub verdict: Verdict,
    /// The scanner's rule set.
    pub rules: Digest,
    /// Who approves, where the host knows.
    pub by: Option<String>,
}

/// Whether bytes were agreed to.
#[derive(Debug, Clone, PartialEq, Eq)]
#[must_use]
#[expect(clippy::exhaustive_enums, reason = "a new answer must stop every host from building")]
pub enum ApprovalCheck {
    /// Nobody has agreed: `approval/none`, exit 3.
    None,
    /// Somebody has, to other bytes: `approval/stale`, exit 3.
    Stale {
        /// What was agreed to.
        approved: ApprovedBytes,
        /// What is there.
        actual: ApprovedBytes,
    },
    /// Somebody has, and the risk is above the threshold: `approval/risk`, exit 5.
    Risk {
        /// What the audit found.
        risk: Risk,
        /// The threshold of this run.
        max: Risk,
    },
    /// Somebody has.
    Given {
        /// After which audit, and who.
        approval: Box<Approval>,
        /// Whether the scanner has other rules since: notice `approval/rules-changed`.
        rules: RulesChanged,
    },
}

/// Whether the scanner's rules are those of the approval.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "they are or they are not")]
pub enum RulesChanged {
    /// They are.
    Same,
    /// They are not.
    Changed,
}

impl ApprovalCheck {
    /// Gives the stable code of the refusal, the question or the notice that goes with the answer.
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

/// What came of an `approve`.
#[derive(Debug, Clone, PartialEq, Eq)]
#[must_use]
#[expect(clippy::exhaustive_enums, reason = "a new answer must stop every host from building")]
pub enum ApproveOutcome {
    /// It is stored.
    Stored,
    /// The audit is not of the bytes that are there, or not the audit or the bytes that were shown:
    /// `approval/not-audited`.
    NotAudited,
    /// The risk is above the threshold: `approval/risk`.
    Risk {
        /// What the audit found.
        risk: Risk,
        /// The threshold of this run.
        max: Risk,
    },
    /// The audit advises against it: `approval/rejected`.
    Rejected,
}

impl ApproveOutcome {
    /// Gives the stable code of an outcome that is not what was asked for.
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

/// What came of an `unapprove`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use]
#[expect(clippy::exhaustive_enums, reason = "there was one or there was none")]
pub enum UnapproveOutcome {
    /// There was an approval, and it is gone.
    Removed,
    /// There was none.
    Absent,
}

/// The approvals of this machine, as they were read.
///
/// # Guarantees
/// A check changes nothing, and knows no session: threshold and bytes are compared each time. Nothing approves itself.
///
/// # Source
/// HyperAgent checks neither threshold nor danger of what was approved before (SPEC 3.4).
#[derive(Debug, Clone)]
pub struct Approvals {
    file: StateFile,
    shelves: Shelves,
    notices: Vec<Notice>,
    wait: Duration,
}

impl Approvals {
    /// Names the approvals file below the user's config folder.
    ///
    /// # Errors
    /// `state/io` where the folder handle cannot be had a second time.
    pub fn file(dir: &Dir, owner: Owner) -> Result<StateFile, StateError> {
        StateFile::at(dir, NAME, CAP, owner, LastGood::No)
    }

    /// Reads the approvals. No file is none given.
    ///
    /// # Errors
    /// `approval/store` where the file is there and cannot be used: then no approval holds, and it is not as if none
    /// had been given. `approval/store-version` where a newer program wrote it.
    pub fn open(file: &StateFile) -> Result<Self, StoreError> {
        let (shelves, _, notices) = load(file, file.read())?;
        Ok(Self { file: file.clone(), shelves, notices, wait: WAIT })
    }

    /// Sets how long a change waits for the hold; 5 s where it is not set.
    #[must_use]
    pub fn with_wait(self, wait: Duration) -> Self {
        Self { wait, ..self }
    }

    /// Gives what a person should be told of the file.
    #[must_use]
    pub fn notices(&self) -> &[Notice] {
        &self.notices
    }

    /// Gives one approval.
    #[must_use]
    pub fn get(&self, scope: &Scope, id: &PluginId) -> Option<&Approval> {
        self.shelves.get(scope)?.get(id)
    }

    /// Gives all approvals, by scope and id.
    pub fn iter(&self) -> impl Iterator<Item = (&Scope, &PluginId, &Approval)> {
        self.shelves.iter().flat_map(|(scope, shelf)| shelf.iter().map(move |(id, one)| (scope, id, one)))
    }

    /// Compares the bytes that are there, and today's threshold and rules, with the approval.
    pub fn check(
        &self,
        scope: &Scope,
        id: &PluginId,
        actual: &ApprovedBytes,
        max: Risk,
        rules: &Digest,
    ) -> ApprovalCheck {
        let Some(approval) = self.get(scope, id) else { return ApprovalCheck::None };
        if approval.tree != actual.tree || approval.shared != actual.shared {
            let approved = ApprovedBytes { tree: approval.tree, shared: approval.shared.clone() };
            return ApprovalCheck::Stale { approved, actual: actual.clone() };
        }
        if approval.risk > max {
            return ApprovalCheck::Risk { risk: approval.risk, max };
        }
        let rules = if approval.rules == *rules { RulesChanged::Same } else { RulesChanged::Changed };
        ApprovalCheck::Given { approval: Box::new(approval.clone()), rules }
    }

    /// Stores an approval of the bytes that were shown, after the audit that was shown.
    ///
    /// # Errors
    /// `approval/not-saved` where the file is held, full, read-only or not ours; `approval/store` where it was
    /// damaged since.
    ///
    /// # Guarantees
    /// After `Ok(Stored)`: the bytes in hand, the audited ones and the shown ones are the same, the audit is the shown
    /// one, its risk is not above `max` (equal is allowed), it does not reject, and the approval is on the disk.
    #[expect(clippy::too_many_arguments, reason = "what was shown must be said by whoever showed it")]
    pub fn approve(
        &mut self,
        scope: &Scope,
        id: &PluginId,
        draft: &ApprovalDraft,
        in_hand: &ApprovedBytes,
        shown_tree: &TreeDigest,
        shown_audit: &Digest,
        max: Risk,
        now: Timestamp,
    ) -> Result<ApproveOutcome, StoreError> {
        let of_these =
            draft.audited == *in_hand && in_hand.tree == *shown_tree && draft.audit == *shown_audit;
        if !of_these {
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
        self.change(|shelves| {
            shelves.entry(scope.clone()).or_default().insert(id.clone(), approval);
        })?;
        Ok(ApproveOutcome::Stored)
    }

    /// Takes an approval back. A plugin that runs stays for its session; the next check sees it.
    ///
    /// # Errors
    /// As [`Approvals::approve`].
    pub fn unapprove(&mut self, scope: &Scope, id: &PluginId) -> Result<UnapproveOutcome, StoreError> {
        let mut found = UnapproveOutcome::Absent;
        self.change(|shelves| {
            if shelves.get_mut(scope).and_then(|shelf| shelf.remove(id)).is_some() {
                found = UnapproveOutcome::Removed;
            }
        })?;
        Ok(found)
    }

    fn failed(&self, kind: StoreErrorKind) -> StoreError {
        StoreError::new(Store::Approvals, self.file.name(), kind)
    }

    fn change(&mut self, change: impl FnOnce(&mut Shelves)) -> Result<(), StoreError> {
        let file = self.file.clone();
        let hold = file.hold(self.wait).map_err(|error| self.failed(StoreErrorKind::NotSaved(error)))?;
        let (old, text, _) = load(&file, hold.read())?;
        let mut new = old.clone();
        change(&mut new);
        new.retain(|_, shelf| !shelf.is_empty());
        if new != old {
            self.write(&hold, &text, &old, &new)?;
        }
        self.shelves = new;
        self.notices.clear();
        Ok(())
    }

    fn write(&self, hold: &Hold<'_>, text: &str, old: &Shelves, new: &Shelves) -> Result<(), StoreError> {
        if new.values().map(BTreeMap::len).sum::<usize>() > MAX_APPROVALS {
            return Err(self.failed(StoreErrorKind::TooMany { most: MAX_APPROVALS }));
        }
        let unwritable = |why| self.failed(StoreErrorKind::Unwritable { why });
        let text = render(text, old, new).map_err(unwritable)?;
        let mut written = approval::parse(text.as_bytes()).map_err(|error| unwritable(error.to_string()))?;
        written.retain(|_, shelf| !shelf.is_empty());
        if written != *new {
            return Err(unwritable("what was to be written does not read back as it was meant".to_owned()));
        }
        hold.replace(text.as_bytes()).map_err(|error| self.failed(StoreErrorKind::NotSaved(error)))
    }
}

/// Reads an approvals file's bytes, without a file, and counts its approvals: for tools that look at one.
///
/// # Errors
/// `store/format` with place, what was expected and what to do.
pub fn parse_approvals(bytes: &[u8]) -> Result<usize, FormatError> {
    approval::parse(bytes).map(|shelves| shelves.values().map(BTreeMap::len).sum())
}

type Read = Result<Option<plugward_state_file::Content>, StateError>;

fn load(file: &StateFile, read: Read) -> Result<(Shelves, String, Vec<Notice>), StoreError> {
    let failed = |kind| StoreError::new(Store::Approvals, file.name(), kind);
    let unusable = |main| failed(StoreErrorKind::Unusable { main, last_good: StoreFault::NotKept });
    let content = match read {
        Ok(Some(content)) => content,
        Ok(None) => return Ok((Shelves::new(), String::new(), Vec::new())),
        Err(error) => return Err(unusable(StoreFault::Unreadable(error))),
    };
    let shelves = approval::parse(content.bytes()).map_err(|error| match *error.kind() {
        FormatErrorKind::Version { found } => failed(StoreErrorKind::Version { found }),
        _ => unusable(StoreFault::Damaged(error)),
    })?;
    let notices = content.notices().to_vec();
    // What parsed is UTF-8.
    Ok((shelves, String::from_utf8(content.into_bytes()).unwrap_or_default(), notices))
}

fn render(text: &str, old: &Shelves, new: &Shelves) -> Result<String, Clash> {
    const KEY: &str = "approvals";
    let mut doc = if text.is_empty() {
        fresh(HEAD, VERSION)
    } else {
        text.parse::<DocumentMut>().map_err(|error| error.message().to_owned())?
    };
    let root = doc.as_table_mut();
    let none = BTreeMap::new();
    let scopes: std::collections::BTreeSet<&Scope> = old.keys().chain(new.keys()).collect();
    for scope in scopes {
        let (old, new) = (old.get(scope).unwrap_or(&none), new.get(scope).unwrap_or(&none));
        if old == new {
            continue;
        }
        let scope = shelf(shelf(root, KEY)?, scope.as_str())?;
        for gone in old.keys().filter(|id| !new.contains_key(*id)) {
            scope.remove(gone.as_str());
        }
        for (id, approval) in new.iter().filter(|(id, approval)| old.get(*id) != Some(*approval)) {
            write(table(scope, id.as_str())?, approval);
        }
    }
    order(root, &[KEY], KEY);
    Ok(finish(&doc))
}

fn write(table: &mut dyn TableLike, approval: &Approval) {
    let shared: InlineTable =
        approval.shared.iter().map(|(name, tree)| (name.as_str(), Value::from(tree.to_string()))).collect();
    let values = [
        ("tree", Some(approval.tree.to_string().into())),
        ("shared", (!shared.is_empty()).then_some(Value::InlineTable(shared))),
        ("audit", Some(approval.audit.to_string().into())),
        ("kind", Some(approval.kind.as_str().into())),
        ("risk", Some(approval.risk.as_str().into())),
        ("verdict", Some(approval.verdict.as_str().into())),
        ("rules", Some(approval.rules.to_string().into())),
        ("by", approval.by.as_deref().map(Value::from)),
        ("at", time(approval.at)),
    ];
    for (key, value) in values {
        set_or_remove(table, key, value);
    }
}
