//! The trail, which records each use of a capability before it happens.

pub(crate) mod budget;
pub(crate) mod fold;
pub(crate) mod scrub;

use core::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use plugward_ledger::{
    AppendDecision, Folds, Ledger, LedgerEvent, LedgerId, LedgerTime, Receipt, UseOutcome,
};

use crate::error::{Row, TrailError, TrailErrorKind, U_FOREIGN, U_TEST};
use crate::kinds::kind::{Capability, Operation as _};
use crate::mint::GrantKey;
use crate::name::{PluginName, WorkflowId};
use crate::trail::budget::Budgets;
use crate::trail::fold::{GrantState, ScopeMatch, TrailFold, UseRequest};
use crate::trail::scrub::Scrub;

/// Returns the folds with which a ledger must be opened for a trail.
pub fn folds() -> Folds {
    Folds::none().with(TrailFold::default())
}

/// The rules of a trail.
#[expect(
    clippy::exhaustive_structs,
    reason = "required rules without defaults: a new one must stop every host from building"
)]
pub struct TrailRules {
    /// Removes secrets from details before they are recorded.
    pub scrub: Box<dyn Scrub>,
}

impl fmt::Debug for TrailRules {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TrailRules").finish_non_exhaustive()
    }
}

/// The record of grants and uses, in a ledger. Clones share one handle.
#[derive(Clone)]
pub struct Trail(Arc<Inner>);

struct Inner {
    ledger: Ledger,
    id: LedgerId,
    scrub: Box<dyn Scrub>,
    poisoned: AtomicBool,
    tests: TestSerials,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum TestSerials {
    Refused,
    #[cfg(feature = "test-util")]
    Accepted,
}

/// An open workflow.
#[derive(Debug)]
#[must_use]
pub struct Workflow {
    id: WorkflowId,
    ledger: LedgerId,
    opened: u64,
}

impl Workflow {
    /// Returns the id of the workflow.
    #[must_use]
    pub const fn id(&self) -> &WorkflowId {
        &self.id
    }

    pub(crate) const fn ledger(&self) -> LedgerId {
        self.ledger
    }

    pub(crate) const fn opened(&self) -> u64 {
        self.opened
    }
}

/// A refused use, which was recorded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UseRefusal(Row);

impl UseRefusal {
    /// Returns the stable code.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        self.0.0
    }

    /// Returns the help for the code.
    #[must_use]
    pub const fn help(&self) -> &'static str {
        self.0.1
    }
}

/// The result of a request to use a capability.
#[derive(Debug)]
#[must_use]
#[expect(clippy::exhaustive_enums, reason = "a new answer must stop every host from building")]
pub enum UseCheck<'t> {
    /// The use was recorded, and the operation may begin.
    Granted(UseGuard<'t>),
    /// The operation must not begin. The refusal was recorded.
    Refused(UseRefusal),
}

/// A use that has begun. If it is dropped without [`UseGuard::end`], it is recorded as abandoned.
#[must_use]
pub struct UseGuard<'t> {
    trail: &'t Trail,
    key: GrantKey,
    op: &'static str,
    detail: String,
    begun: u64,
    since: LedgerTime,
    ended: EndState,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum EndState {
    No,
    Yes,
}

impl Trail {
    /// Opens a trail on a ledger that was opened with [`folds`].
    ///
    /// # Errors
    ///
    /// `trail/no-fold` for a ledger without them; those of the ledger.
    pub fn open(ledger: Ledger, rules: TrailRules) -> Result<Self, TrailError> {
        Self::start(ledger, rules, TestSerials::Refused)
    }

    /// Opens a trail that also accepts capabilities of [`for_tests`](crate::for_tests).
    ///
    /// # Errors
    ///
    /// Those of [`Trail::open`].
    #[cfg(feature = "test-util")]
    pub fn for_tests(ledger: Ledger, rules: TrailRules) -> Result<Self, TrailError> {
        Self::start(ledger, rules, TestSerials::Accepted)
    }

    fn start(ledger: Ledger, rules: TrailRules, tests: TestSerials) -> Result<Self, TrailError> {
        let has = ledger.read(|view| view.folds.get::<TrailFold>().is_some()).map_err(TrailError::ledger)?;
        if !has {
            return Err(TrailError::new(TrailErrorKind::NoFold));
        }
        let id = ledger.id().map_err(TrailError::ledger)?;
        let poisoned = AtomicBool::new(false);
        Ok(Self(Arc::new(Inner { ledger, id, scrub: rules.scrub, poisoned, tests })))
    }

    /// Returns the id of the ledger.
    #[must_use]
    pub(crate) fn ledger_id(&self) -> LedgerId {
        self.0.id
    }

    /// Returns the ledger, for checkpoints and the like.
    #[must_use]
    pub fn ledger(&self) -> &Ledger {
        &self.0.ledger
    }

    pub(crate) fn append_if<T>(
        &self,
        f: impl FnOnce(&TrailFold, LedgerTime) -> (Vec<LedgerEvent>, T),
    ) -> Result<AppendDecision<T>, TrailError> {
        // Acquire pairs with the release in `finish`: a thread that sees the trail usable also sees every
        // earlier end of a use.
        if self.0.poisoned.load(Ordering::Acquire) {
            return Err(TrailError::new(TrailErrorKind::Poisoned));
        }
        // The fold was there when the trail was opened, and folds are never removed.
        let none = TrailFold::default();
        self.0
            .ledger
            .append_if(|view| f(view.folds.get().unwrap_or(&none), view.now))
            .map_err(TrailError::ledger)
    }

    /// Opens a workflow, or joins one that is open with the same budgets, in this process or another.
    ///
    /// # Errors
    ///
    /// `trail/workflow-budgets` if it is open with other budgets; `trail/poisoned`; those of the ledger.
    pub fn open_workflow(&self, id: WorkflowId, budgets: &Budgets) -> Result<Workflow, TrailError> {
        let lines = budgets.lines();
        let decided = self.append_if(|fold, _| match fold.open.get(id.as_str()) {
            // Opening again with the same budgets is allowed, so that a host that restarts can continue its
            // workflow. Other budgets would silently raise the limits.
            Some(open) if open.budgets == lines => (Vec::new(), Ok(open.at)),
            Some(_) => (Vec::new(), Err(())),
            None => {
                let workflow = id.as_str().to_owned();
                (vec![LedgerEvent::WorkflowOpened { workflow, budgets: lines }], Ok(0))
            }
        })?;
        let opened = match (decided.value, decided.receipt) {
            (Err(()), _) => {
                let workflow = id.as_str().to_owned();
                return Err(TrailError::new(TrailErrorKind::Budgets { workflow }));
            }
            (Ok(_), Some(receipt)) => receipt.first_seq(),
            (Ok(at), None) => at,
        };
        Ok(Workflow { id, ledger: self.0.id, opened })
    }

    /// Closes a workflow. Its capabilities can no longer be used in any process.
    ///
    /// # Errors
    ///
    /// `trail/workflow-not-open` if it was closed before; `trail/poisoned`; those of the ledger.
    #[expect(clippy::needless_pass_by_value, reason = "a closed workflow is of no further use")]
    pub fn close_workflow(&self, workflow: Workflow, outcome: UseOutcome) -> Result<(), TrailError> {
        let name = workflow.id.as_str();
        let decided = self.append_if(|fold, _| {
            let open = workflow.ledger == self.0.id
                && fold.open.get(name).is_some_and(|open| open.at == workflow.opened);
            let event = LedgerEvent::WorkflowClosed { workflow: name.to_owned(), outcome };
            (open.then_some(event).into_iter().collect(), ())
        })?;
        match decided.receipt {
            Some(_) => Ok(()),
            None => Err(TrailError::new(TrailErrorKind::NotOpen { workflow: name.to_owned() })),
        }
    }

    /// Requests to use a capability. After `Granted` the use is recorded and the operation may begin.
    ///
    /// # Guarantees
    ///
    /// The use is decided and recorded under one file lock, with the records of all other processes, so that
    /// together they never exceed a limit.
    ///
    /// # Errors
    ///
    /// `trail/poisoned`, and those of the ledger. After an error nothing was granted.
    #[expect(clippy::needless_pass_by_value, reason = "an operation is small, and requested once")]
    pub fn try_use<C: Capability>(&self, capability: &C, op: C::Op<'_>) -> Result<UseCheck<'_>, TrailError> {
        let grant = crate::kinds::kind::sealed::Granted::grant(capability);
        let key = grant.key();
        let covered = if capability.covers(&op) { ScopeMatch::Inside } else { ScopeMatch::Outside };
        let (name, detail) = (op.name(), op.detail());
        // The guard compares the unscrubbed detail with the later command; only the record is scrubbed.
        let shown = self.0.scrub.scrub(&detail);
        let (workflow, plugin, kind) = (key.workflow().as_str(), grant.plugin().as_str(), C::KIND.as_str());
        let asked = |now| UseRequest {
            workflow,
            serial: key.serial(),
            minted: grant.minted(),
            plugin,
            kind,
            covered,
            units: op.units(),
            now,
        };
        let decided = self.append_if(|fold, now| {
            let (workflow, plugin, kind) = (workflow.to_owned(), plugin.to_owned(), kind.to_owned());
            let (serial, units) = (key.serial(), op.units());
            match self.may_use(&key, fold, &asked(now)) {
                Ok(()) => {
                    let (op, detail) = (name.to_owned(), shown);
                    (
                        vec![LedgerEvent::CapabilityUsed {
                            workflow,
                            plugin,
                            kind,
                            serial,
                            op,
                            detail,
                            units,
                        }],
                        Ok(()),
                    )
                }
                Err(row) => {
                    let (op, code) = (name.to_owned(), row.0.to_owned());
                    (vec![LedgerEvent::UseRefused { workflow, plugin, kind, serial, op, code }], Err(row))
                }
            }
        })?;
        Ok(match (decided.value, decided.receipt) {
            (Ok(()), Some(receipt)) => UseCheck::Granted(UseGuard {
                trail: self,
                key,
                op: name,
                detail,
                begun: receipt.first_seq(),
                since: receipt.ts(),
                ended: EndState::No,
            }),
            (Ok(()), None) => return Err(TrailError::new(TrailErrorKind::Ledger)),
            (Err(row), _) => UseCheck::Refused(UseRefusal(row)),
        })
    }

    fn may_use(&self, key: &GrantKey, fold: &TrailFold, asked: &UseRequest<'_>) -> Result<(), Row> {
        // Only `for_tests` creates serial 0.
        if key.serial() == 0 {
            return match self.0.tests {
                TestSerials::Refused => Err(U_TEST),
                #[cfg(feature = "test-util")]
                TestSerials::Accepted if asked.covered == ScopeMatch::Inside => Ok(()),
                #[cfg(feature = "test-util")]
                TestSerials::Accepted => Err(crate::error::U_COVERED),
            };
        }
        // A serial means nothing in another ledger.
        if key.ledger() != self.0.id {
            return Err(U_FOREIGN);
        }
        fold.may_use(asked)
    }

    /// Revokes a capability. It can no longer be used in any process.
    ///
    /// # Errors
    ///
    /// `trail/no-such-grant` if no open workflow of this ledger has it; `trail/poisoned`; those of the
    /// ledger.
    pub fn revoke(&self, key: &GrantKey, by: &str, reason: &str) -> Result<(), TrailError> {
        let (workflow, serial) = (key.workflow().as_str(), key.serial());
        let (by, reason) = (self.0.scrub.scrub(by), self.0.scrub.scrub(reason));
        // A key from a report has only the serial. A key of a live grant also names its record, which tells it
        // apart from a grant of an earlier workflow with this id.
        let same = |minted: &GrantState| key.minted().is_none_or(|at| at == minted.at);
        let decided = self.append_if(|fold, _| {
            let known = key.ledger() == self.0.id
                && fold.open.get(workflow).and_then(|open| open.minted.get(&serial)).is_some_and(same);
            let event = LedgerEvent::CapabilityRevoked { workflow: workflow.to_owned(), serial, by, reason };
            (known.then_some(event).into_iter().collect(), ())
        })?;
        match decided.receipt {
            Some(_) => Ok(()),
            None => {
                Err(TrailError::new(TrailErrorKind::NoSuchGrant { workflow: workflow.to_owned(), serial }))
            }
        }
    }

    /// Records an event: a load, a decision, a pin, an approval, a race, a launch.
    ///
    /// # Errors
    ///
    /// `trail/reserved` for a type that only the trail or the mint writes; `trail/poisoned`; those of the
    /// ledger.
    pub fn record(&self, event: LedgerEvent) -> Result<Receipt, TrailError> {
        // Events that change the fold are written only with the checks above. A host could otherwise record a
        // grant that no budget has seen.
        if is_reserved(&event) {
            return Err(TrailError::new(TrailErrorKind::Reserved { type_name: event.type_name() }));
        }
        self.append_if(|_, _| (vec![event], ()))?.receipt.ok_or(TrailError::new(TrailErrorKind::Ledger))
    }

    /// Records that an open inside a jail detected a concurrent change.
    ///
    /// # Errors
    ///
    /// `trail/poisoned`, and those of the ledger.
    pub fn race(&self, race: RaceReport<'_>) -> Result<Receipt, TrailError> {
        let RaceReport { workflow, plugin, jail, path, cause, errno } = race;
        self.record(LedgerEvent::FilesystemRaceDetected {
            workflow: workflow.map(|id| id.as_str().to_owned()),
            plugin: plugin.map(|name| name.as_str().to_owned()),
            jail: jail.to_owned(),
            path: self.0.scrub.scrub(path),
            cause: cause.to_owned(),
            errno: errno.map(u64::from),
        })
    }
}

/// A concurrent change that a jail detected.
#[derive(Debug, Clone, Copy)]
#[expect(clippy::exhaustive_structs, reason = "the fields of one record")]
pub struct RaceReport<'a> {
    /// The workflow, if there is one.
    pub workflow: Option<&'a WorkflowId>,
    /// The plugin, if there is one.
    pub plugin: Option<&'a PluginName>,
    /// The label of the jail.
    pub jail: &'a str,
    /// The path in the jail.
    pub path: &'a str,
    /// The change that was detected.
    pub cause: &'a str,
    /// The error number of the system.
    pub errno: Option<u32>,
}

const fn is_reserved(event: &LedgerEvent) -> bool {
    matches!(
        event,
        LedgerEvent::WorkflowOpened { .. }
            | LedgerEvent::WorkflowClosed { .. }
            | LedgerEvent::CapabilityMinted { .. }
            | LedgerEvent::BundleMinted { .. }
            | LedgerEvent::MintRefused { .. }
            | LedgerEvent::CapabilityUsed { .. }
            | LedgerEvent::CapabilityUseEnded { .. }
            | LedgerEvent::UseRefused { .. }
            | LedgerEvent::CapabilityRevoked { .. }
    ) || event.is_internal()
}

impl fmt::Debug for Trail {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Trail").field("ledger", &self.0.id).finish_non_exhaustive()
    }
}

impl UseGuard<'_> {
    /// Returns the `seq` of the `capability_used`.
    #[must_use]
    pub const fn seq(&self) -> u64 {
        self.begun
    }

    pub(crate) fn is_for(&self, key: &GrantKey, op: &str, detail: &str) -> bool {
        self.key == *key && self.op == op && self.detail == detail
    }

    /// Records how the operation ended, with its error code if it has one.
    ///
    /// # Errors
    ///
    /// Those of the ledger. The trail then grants nothing more, because a use without a recorded end must not
    /// be followed by others.
    pub fn end(mut self, outcome: UseOutcome, code: Option<&str>) -> Result<(), TrailError> {
        self.finish(outcome, code)
    }

    fn finish(&mut self, outcome: UseOutcome, code: Option<&str>) -> Result<(), TrailError> {
        // Set before the append, so that a failure is not followed by a second attempt on drop.
        self.ended = EndState::Yes;
        let ended = self.trail.append_if(|_, now| {
            // The clock may have gone back since the use began.
            let micros = now.unix_micros().saturating_sub(self.since.unix_micros());
            let event = LedgerEvent::CapabilityUseEnded {
                workflow: self.key.workflow().as_str().to_owned(),
                serial: self.key.serial(),
                begun: self.begun,
                outcome,
                code: code.map(str::to_owned),
                millis: micros / 1_000,
            };
            (vec![event], ())
        });
        // A use without a recorded end makes the ledger incomplete, and nothing may be granted on its evidence.
        ended.map(drop).inspect_err(|_| self.trail.0.poisoned.store(true, Ordering::Release))
    }
}

impl Drop for UseGuard<'_> {
    fn drop(&mut self) {
        if self.ended == EndState::No {
            // A failure here is not lost: it poisons the trail, and every later call fails.
            drop(self.finish(UseOutcome::Abandoned, None));
        }
    }
}

impl fmt::Debug for UseGuard<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("UseGuard")
            .field("key", &self.key)
            .field("op", &self.op)
            .field("seq", &self.begun)
            .finish_non_exhaustive()
    }
}
