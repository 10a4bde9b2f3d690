//! The stores of a host and the decisions in them: pins, approvals, revocations, audits, ledger, and the scan cache.

pub(crate) mod audits;
pub(crate) mod decide;
pub(crate) mod denials;
pub(crate) mod gated;
pub(crate) mod pins;
pub(crate) mod scan_records;
pub(crate) mod stores;
