//! The reason that something could not be recorded.

use plugward_capability::{MintRefusal, TrailError, Workflow};
use plugward_ledger::LedgerError;

use crate::report::Gate;
use crate::run::outcome::{Notice, Reason, Weight};

/// The reason that something could not be recorded. Nothing that needed the record has happened.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message} ({code})")]
pub struct RecordFailure {
    code: String,
    message: String,
    help: String,
    weight: Weight,
}

impl RecordFailure {
    /// Creates a failure for a missing ledger, with the cause and the help.
    #[must_use]
    pub fn no_place(why: &str, help: &str) -> Self {
        Self {
            code: "mint/no-record".to_owned(),
            message: format!("no ledger to write to: {why}"),
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

    pub(crate) fn of_refusal(refusal: MintRefusal, workflow: &Workflow) -> Self {
        Self {
            code: refusal.code().to_owned(),
            message: "the requested capability was refused".to_owned(),
            help: refusal_help(refusal, workflow),
            weight: Weight::Denied,
        }
    }

    fn new(code: &str, error: &dyn core::error::Error, help: &str) -> Self {
        let message = crate::report::text::chain(error);
        // A ledger that fails verification and one that cannot be written have the same effect, as with
        // pins.
        Self { code: code.to_owned(), message, help: help.to_owned(), weight: Weight::Store }
    }

    /// Returns the stable code.
    #[must_use]
    pub fn code(&self) -> &str {
        &self.code
    }

    /// Returns what to do next.
    #[must_use]
    pub fn help(&self) -> &str {
        &self.help
    }

    /// Returns the effect on the decision and on the exit code.
    #[must_use]
    pub const fn weight(&self) -> Weight {
        self.weight
    }

    pub(crate) fn reason(&self) -> Reason {
        let message = format!("{}; a plugin does not load without its record", self.message);
        Reason::new(self.code.clone(), Gate::Mint, self.weight, message, self.help.clone())
    }

    pub(crate) fn notice(&self) -> Notice {
        let message = format!("{}\nnext: {}", self.message, self.help);
        Notice::new(self.code.clone(), Gate::Mint, message)
    }
}

/// Returns the help for a refusal. The budgets of a workflow are listed by its id.
pub(crate) fn refusal_help(refusal: MintRefusal, workflow: &Workflow) -> String {
    match refusal.code() {
        "mint/over-budget" => {
            let id = workflow.id().as_str();
            format!(
                "raise the limit in `capability.budgets`, or see what is used: plugward ledger budget --workflow {id}"
            )
        }
        _ => refusal.help().to_owned(),
    }
}
