//! Hooks as real processes and a model that records, at the crate's public interface.
#![expect(
    clippy::arithmetic_side_effects,
    clippy::disallowed_methods,
    clippy::disallowed_types,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "tests read and write their own directories, start programs, and end at the first surprise"
)]

mod adr003;
mod adr004;
mod claude;
mod codes;
mod common;
mod content;
mod corpus;
mod definitions;
mod environment;
mod gates;
mod hostile;
mod matrix;
mod models;
mod order;
mod payload;
mod properties;
mod ui;
