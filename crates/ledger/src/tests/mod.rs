//! Tests of private items. `tests/check` has those of the public interface.

mod format;
mod samples;

use crate::{LedgerEvent, LedgerId};

pub(crate) const ID: LedgerId = LedgerId::from_bytes([0xab; 16]);

pub(crate) fn note(number: u64) -> LedgerEvent {
    LedgerEvent::ExceptionUsed { setting: "pins.on_store_error".into(), reason: format!("number {number}") }
}
