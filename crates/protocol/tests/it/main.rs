//! The tests of this crate.
#![expect(
    clippy::arithmetic_side_effects,
    clippy::disallowed_methods,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test has times, and panics if it cannot continue"
)]

mod codes;
mod command;
mod lines;
mod offers;
mod properties;
mod proxy;
mod support;
