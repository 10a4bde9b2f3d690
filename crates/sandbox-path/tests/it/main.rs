//! The jail against directories that hold every kind of thing.
#![cfg(target_os = "linux")]
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::disallowed_methods,
    clippy::disallowed_types,
    clippy::indexing_slicing,
    clippy::print_stdout,
    clippy::arithmetic_side_effects,
    reason = "tests build directories by ordinary means and stop at the first surprise"
)]

mod changing;
mod child;
mod codes;
mod corpus;
mod faults;
mod flags;
mod jails;
mod limits;
mod lookups;
mod namespaces;
mod properties;
mod races;
mod reading;
mod tiers;
mod vectors;
mod world;
