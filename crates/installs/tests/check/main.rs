//! Tests of the public API with machines in memory.

#![expect(
    clippy::arithmetic_side_effects,
    clippy::disallowed_methods,
    clippy::indexing_slicing,
    clippy::expect_used,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test panics if it cannot continue"
)]

mod claude;
mod claude_places;
mod claude_settings;
mod codex;
mod corpus;
mod directory_hosts;
mod gemini;
mod judged;
mod masking;
mod properties;
#[path = "../../../../fuzz/installs/properties.rs"]
mod properties_of_bytes;
mod readers;
mod rows;
mod support;
mod table;
mod trust_roots;
