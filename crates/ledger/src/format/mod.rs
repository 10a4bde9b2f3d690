//! The format of a ledger: records, their fields, and their canonical JSON.

pub(crate) mod digest;
pub(crate) mod event;
pub(crate) mod field;
pub(crate) mod json;
pub(crate) mod record;
pub(crate) mod time;
pub(crate) mod value;
