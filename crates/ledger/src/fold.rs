//! Counters that a ledger keeps up to date for whoever built on it.

use core::any::Any;
use core::fmt;
use std::collections::BTreeMap;

use crate::record::Record;
use crate::value::Value;

/// Something that is computed from the records alone, one after another.
///
/// # Guarantees
/// The ledger applies each record exactly once and in order: its own after they were written, those of other processes when
/// it reads them. At an open it restores the last stored snapshot and applies what came after.
pub trait Fold: Any + Send {
    /// Names it; the name is the key of its snapshot in a checkpoint.
    fn name(&self) -> &'static str;

    /// Takes one record into account.
    fn apply(&mut self, record: &Record);

    /// Gives everything that later records could need. Equal histories must give equal snapshots.
    fn snapshot(&self) -> Value;

    /// Replaces all counters by those of a snapshot; `None` where it is none of this fold's, which then is not used.
    fn restore(&mut self, state: &Value) -> Option<()>;

    /// Forgets everything, as before the first record.
    fn reset(&mut self);
}

/// The folds of one ledger.
#[derive(Default)]
#[must_use]
pub struct Folds(Vec<Box<dyn Fold>>);

impl Folds {
    /// Has none.
    pub const fn none() -> Self {
        Self(Vec::new())
    }

    /// Adds one. Of two with one name the later replaces the earlier.
    pub fn with<F: Fold>(mut self, fold: F) -> Self {
        self.0.retain(|other| other.name() != fold.name());
        self.0.push(Box::new(fold));
        self
    }

    /// Looks one up by its type.
    #[must_use]
    pub fn get<F: Fold>(&self) -> Option<&F> {
        self.0.iter().find_map(|fold| {
            let any: &dyn Any = fold.as_ref();
            any.downcast_ref()
        })
    }

    pub(crate) fn apply(&mut self, record: &Record) {
        for fold in &mut self.0 {
            fold.apply(record);
        }
    }

    pub(crate) fn reset(&mut self) {
        for fold in &mut self.0 {
            fold.reset();
        }
    }

    /// Gives all snapshots by name; no folds have nothing to store.
    pub(crate) fn snapshot(&self) -> Option<Value> {
        if self.0.is_empty() {
            return None;
        }
        let states: BTreeMap<_, _> =
            self.0.iter().map(|fold| (fold.name().to_owned(), fold.snapshot())).collect();
        Some(Value::Object(states))
    }

    /// Restores every fold, or says that the stored state does not serve all of them.
    pub(crate) fn restore(&mut self, state: Option<&Value>) -> Option<()> {
        for fold in &mut self.0 {
            fold.restore(state?.get(fold.name())?)?;
        }
        Some(())
    }

    /// Names the first fold whose stored snapshot differs from what was recomputed.
    pub(crate) fn differs(&self, state: &Value) -> Option<&'static str> {
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
