//! What the crate promises, from outside.

#![expect(
    clippy::arithmetic_side_effects,
    clippy::disallowed_methods,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a test stands for a host: it has paths and processes, and where it cannot go on it stops"
)]

mod adr003;
mod approving;
mod codes;
mod corpus;
mod differences;
mod format;
mod revoking;
mod rivals;
mod stores;
mod support;
