//! Starts of real programs, at the crate's public interface.
#![cfg(target_os = "linux")]
#![expect(
    clippy::arithmetic_side_effects,
    clippy::disallowed_methods,
    clippy::disallowed_types,
    clippy::panic,
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "tests write their own directories, start programs, and stop at the first surprise"
)]

mod codes;
mod common;
mod end;
mod faults;
mod races;
mod sealed;
mod start;
