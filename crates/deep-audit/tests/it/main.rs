//! The guarantees of the crate, from outside.

#![expect(
    clippy::arithmetic_side_effects,
    clippy::disallowed_methods,
    clippy::indexing_slicing,
    clippy::unwrap_used,
    reason = "a test stands for a host, and where it cannot go on it stops"
)]

mod codes;
mod corpus;
#[cfg(feature = "http")]
mod http;
mod hyperagent;
mod near_misses;
mod properties;
mod records;
mod support;
mod updates;
