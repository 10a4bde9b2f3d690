//! What the crate promises, on real directories.

#![expect(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stdout,
    clippy::arithmetic_side_effects,
    reason = "tests build directories, compare with programs, and stop at the first surprise"
)]

mod codes;
#[cfg(feature = "minisign")]
mod corpus;
mod faults;
mod foreign;
mod hostile;
mod json;
mod lock;
mod machines;
mod memory;
#[cfg(feature = "minisign")]
mod minisign;
mod properties;
mod race;
mod reading;
mod tree;
mod vectors;
mod verifier;
mod warnings;
