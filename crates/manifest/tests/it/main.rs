//! One binary for all tests of the crate.
#![expect(clippy::disallowed_methods, clippy::disallowed_types, reason = "tests read their own fixtures")]
#![expect(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on fails")]
#![expect(
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    reason = "a test that cannot go on fails"
)]

mod codes;
mod commands;
mod corpus;
mod front_matter;
mod fuzz_corpora;
mod hooks;
mod hostile;
mod json;
mod memory;
mod rules;
mod seeds;
mod standards;
mod support;
mod surface;
