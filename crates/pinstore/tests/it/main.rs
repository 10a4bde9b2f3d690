//! Tests of the public API.

#![expect(
    clippy::arithmetic_side_effects,
    clippy::disallowed_methods,
    clippy::indexing_slicing,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a test has paths and processes, and panics if it cannot continue"
)]

mod adr003;
mod approving;
mod codes;
mod corpus;
mod damage;
mod differences;
mod format;
mod keys;
mod migration;
mod offers;
#[path = "../../../../fuzz/pinstore/properties.rs"]
mod properties;
mod revoking;
mod rivals;
mod stores;
mod support;
