//! What the crate promises, from outside.

#![expect(
    clippy::arithmetic_side_effects,
    clippy::disallowed_methods,
    clippy::disallowed_types,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::cast_possible_truncation,
    clippy::items_after_statements,
    clippy::unnecessary_wraps,
    clippy::unwrap_used,
    reason = "a test stands for a host: it has paths and processes, and where it cannot go on it stops"
)]

mod child;
mod codes;
mod corpus;
mod crash;
mod dispatch;
#[cfg(feature = "net")]
mod faults;
mod install;
mod memory;
mod receipts;
mod registry_file;
mod rfd077;
mod support;
