//! The nine capabilities. Each has a scope, and a grant that only the mint can create.

pub(crate) mod env;
pub(crate) mod fs;
pub(crate) mod git;
pub(crate) mod git_command;
pub(crate) mod kind;
pub(crate) mod llm;
pub(crate) mod module;
pub(crate) mod net;
pub(crate) mod npm;
pub(crate) mod raw;
pub(crate) mod spawn;

use std::collections::BTreeSet;

use plugward_ledger::RecordValue;

use crate::error::{EMPTY, Row, ScopeError, TOO_LONG};

/// The maximum length of a text in a scope. Longer texts would be shortened in the record.
pub(crate) const MAX_TEXT: usize = 1_024;
// Together these keep a scope well below the 64 KiB that a record may have.
const MAX_ITEMS: usize = 256;
const MAX_TOGETHER: usize = 32 * 1024;

/// Validates a set of names.
pub(crate) fn names(
    what: &'static str,
    items: &[&str],
    row: Row,
    why: &'static str,
    good: impl Fn(&str) -> bool,
) -> Result<BTreeSet<String>, ScopeError> {
    if items.is_empty() {
        return Err(ScopeError::new(EMPTY, what, "", "it is empty"));
    }
    let together = items.iter().fold(0_usize, |sum, item| sum.saturating_add(item.len()));
    if items.len() > MAX_ITEMS || together > MAX_TOGETHER || items.iter().any(|item| item.len() > MAX_TEXT) {
        return Err(ScopeError::new(TOO_LONG, what, "", "it is too long"));
    }
    match items.iter().find(|item| !good(item)) {
        Some(bad) => Err(ScopeError::new(row, what, bad, why)),
        None => Ok(items.iter().map(|item| (*item).to_owned()).collect()),
    }
}

pub(crate) fn texts<'a>(items: impl IntoIterator<Item = &'a String>) -> RecordValue {
    RecordValue::List(items.into_iter().map(|item| RecordValue::text(item)).collect())
}
