//! Why something could not be written down.

use plugward_capability::TrailError;
use plugward_ledger::LedgerError;

use crate::outcome::{Notice, Reason, Weight};
use crate::report::Gate;

/// Why something could not be written down. Nothing that needed the record has happened.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message} ({code})")]
pub struct RecordFailure {
    code: String,
    message: String,
    help: String,
    weight: Weight,
}

impl RecordFailure {
    /// Says that there is no place for a ledger, with why and what to do.
    #[must_use]
    pub fn no_place(why: &str, help: &str) -> Self {
        Self {
            code: "mint/no-record".to_owned(),
            message: format!("there is no ledger to write to: {why}"),
            help: help.to_owned(),
            weight: Weight::Store,
        }
    }

    pub(crate) fn of_ledger(error: &LedgerError) -> Self {
        Self::new(error.code(), error, error.help())
    }

    pub(crate) fn of_trail(error: &TrailError) -> Self {
        Self::new(error.code(), error, error.help())
    }

    fn new(code: &str, error: &dyn core::error::Error, help: &str) -> Self {
        let message = crate::text::chain(error);
        // One that cannot be believed and one that cannot be written are the same to who relies on it, as with pins.
        Self { code: code.to_owned(), message, help: help.to_owned(), weight: Weight::Store }
    }

    /// Gives the stable code.
    #[must_use]
    pub fn code(&self) -> &str {
        &self.code
    }

    /// Says what a person types or does next.
    #[must_use]
    pub fn help(&self) -> &str {
        &self.help
    }

    /// Gives what it does to a decision and to the exit code.
    #[must_use]
    pub const fn weight(&self) -> Weight {
        self.weight
    }

    pub(crate) fn reason(&self) -> Reason {
        let message = format!("{}; what cannot be recorded does not load", self.message);
        Reason::new(self.code.clone(), Gate::Mint, self.weight, message, self.help.clone())
    }

    pub(crate) fn notice(&self) -> Notice {
        let message = format!("{}\nnext: {}", self.message, self.help);
        Notice::new(self.code.clone(), Gate::Mint, message)
    }
}
