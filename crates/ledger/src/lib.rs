#![doc = include_str!("../README.md")]

mod chain;
mod error;
mod format;
mod ledger;
mod storage;
#[cfg(test)]
mod tests;

pub use cap_std;
pub use chain::checkpoint::Checkpoint;
pub use chain::files::LedgerFiles;
pub use chain::verify::{ChainCheck, ChainVerification, ChainVerifier, VerifyPlan, verify};
pub use error::{CODES, ChainFault, LedgerError, LedgerErrorKind, LossReason};
pub use format::digest::{LedgerDigest, LedgerId};
pub use format::event::{BudgetLine, LedgerEvent, LoadVerdict, PluginDecision, UseOutcome};
pub use format::record::{FORMAT, LedgerRecord, MAX_RECORD, registry_digest};
pub use format::time::{Clock, LedgerTime};
pub use format::value::RecordValue;
pub use ledger::fold::{Fold, Folds};
pub use ledger::{AppendDecision, Durability, Ledger, LedgerView, OpenedLedger, Receipt, RecoveredTail};
#[cfg(any(test, feature = "test-util"))]
pub use storage::faults::{TestDirectory, WriteFault};
