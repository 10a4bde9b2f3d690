#![doc = include_str!("../README.md")]

mod chain;
mod checkpoint;

#[cfg(unix)]
mod disk;
mod error;
mod event;
#[cfg(any(test, feature = "test-util"))]
mod faults;
mod field;
mod files;
mod fold;
mod inner;
mod json;
mod ledger;
mod lines;
mod medium;
mod memory;
mod open;
mod record;
mod sum;
#[cfg(test)]
mod tests;
mod time;
mod tree;
mod value;
mod verify;

pub use checkpoint::Checkpoint;
pub use error::{CODES, ChainFault, LedgerError, LedgerErrorKind, LossReason};
pub use event::{BudgetLine, LedgerEvent, LoadVerdict, PluginDecision, UseOutcome};
#[cfg(any(test, feature = "test-util"))]
pub use faults::{TestDirectory, WriteFault};
pub use files::LedgerFiles;
pub use fold::{Fold, Folds};
pub use ledger::{AppendDecision, Durability, Ledger, LedgerView, OpenedLedger, Receipt, RecoveredTail};
pub use record::{FORMAT, LedgerRecord, MAX_RECORD, registry_digest};
pub use sum::{LedgerDigest, LedgerId};
pub use time::{Clock, Timestamp};
pub use value::RecordValue;
pub use verify::{ChainCheck, ChainVerification, ChainVerifier, VerifyPlan, verify};
