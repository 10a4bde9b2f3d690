//! Folds: counters that a ledger computes from its records for other crates.

use core::any::Any;
use core::fmt;
use std::collections::BTreeMap;

use crate::format::record::LedgerRecord;
use crate::format::value::RecordValue;

/// A state that is computed from the records, one after another.
///
/// # Guarantees
///
/// The ledger applies each record exactly once and in order: its own after they were written, those of other
/// processes when it reads them. When it is opened, it restores the last stored snapshot and applies the
/// records after it.
pub trait Fold: Any + Send {
    /// Returns the name, which is the key of the snapshot in a checkpoint.
    fn name(&self) -> &'static str;

    /// Updates the state with a record.
    fn apply(&mut self, record: &LedgerRecord);

    /// Returns everything that later records could need. Equal histories must have equal snapshots.
    fn snapshot(&self) -> RecordValue;

    /// Replaces the state by a snapshot. Returns `None`, and leaves the snapshot unused, if it is not one of
    /// this fold.
    fn restore(&mut self, state: &RecordValue) -> Option<()>;

    /// Resets the state to that before the first record.
    fn reset(&mut self);
}

/// The folds of one ledger.
#[derive(Default)]
#[must_use]
pub struct Folds(Vec<Box<dyn Fold>>);

impl Folds {
    /// Creates an empty list.
    pub const fn none() -> Self {
        Self(Vec::new())
    }

    /// Adds a fold. It replaces an earlier one with the same name.
    pub fn with<F: Fold>(mut self, fold: F) -> Self {
        self.0.retain(|other| other.name() != fold.name());
        self.0.push(Box::new(fold));
        self
    }

    /// Returns the fold of a type.
    #[must_use]
    pub fn get<F: Fold>(&self) -> Option<&F> {
        self.0.iter().find_map(|fold| {
            let any: &dyn Any = fold.as_ref();
            any.downcast_ref()
        })
    }

    pub(crate) fn apply(&mut self, record: &LedgerRecord) {
        for fold in &mut self.0 {
            fold.apply(record);
        }
    }

    pub(crate) fn reset(&mut self) {
        for fold in &mut self.0 {
            fold.reset();
        }
    }

    /// Returns all snapshots by name, or `None` without folds.
    pub(crate) fn snapshot(&self) -> Option<RecordValue> {
        if self.0.is_empty() {
            return None;
        }
        let states: BTreeMap<_, _> =
            self.0.iter().map(|fold| (fold.name().to_owned(), fold.snapshot())).collect();
        Some(RecordValue::Object(states))
    }

    /// Restores every fold. Returns `None` if the stored state does not have all of them.
    pub(crate) fn restore(&mut self, state: Option<&RecordValue>) -> Option<()> {
        for fold in &mut self.0 {
            fold.restore(state?.get(fold.name())?)?;
        }
        Some(())
    }

    /// Returns the name of the first fold whose stored snapshot differs from the recomputed one.
    pub(crate) fn differs(&self, state: &RecordValue) -> Option<&'static str> {
        let mut folds = self.0.iter().map(AsRef::as_ref);
        let differs =
            |fold: &dyn Fold| state.get(fold.name()).is_some_and(|stored| *stored != fold.snapshot());
        folds.find(|fold| differs(*fold)).map(Fold::name)
    }
}

impl fmt::Debug for Folds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.0.iter().map(|fold| fold.name())).finish()
    }
}
