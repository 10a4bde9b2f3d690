//! End to end: the reference loader on folders of every kind.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test that cannot go on must stop"
)]
#![expect(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "tests read and make their own folders"
)]

mod attacks;
mod corpus;
mod enable;
mod gates;
mod hooks;
mod hostile;
mod identity;
mod ledger;
mod pins;
mod signatures;
mod store_errors;
mod transcripts;
