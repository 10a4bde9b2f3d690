//! What the crate promises, from outside.

#![expect(
    clippy::arithmetic_side_effects,
    clippy::disallowed_methods,
    clippy::disallowed_types,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stderr,
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a test stands for a host: it has paths and processes, and where it cannot go on it stops"
)]

mod child;
mod crash;
mod disk;
mod holding;
mod queueing;
mod reading;
mod support;
