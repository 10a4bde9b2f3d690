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
pub use error::{CODES, LedgerError, LedgerErrorKind, LossReason, Why};
pub use event::{BudgetLine, Event, Outcome, PluginSeen, Verdict};
#[cfg(any(test, feature = "test-util"))]
pub use faults::{TestDirectory, WriteFault};
pub use files::LedgerFiles;
pub use fold::{Fold, Folds};
pub use ledger::{Decided, Durability, Ledger, Opened, Receipt, Recovered, View};
pub use record::{FORMAT, MAX_RECORD, Record, registry_digest};
pub use sum::{LedgerId, Sum};
pub use time::{Clock, Timestamp};
pub use value::Value;
pub use verify::{ChainCheck, Verified, Verifier, VerifyPlan, verify};
