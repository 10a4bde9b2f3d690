//! Tests of the public API with machines in memory.

#![expect(
    clippy::arithmetic_side_effects,
    clippy::indexing_slicing,
    clippy::expect_used,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test panics if it cannot continue"
)]

mod claude;
mod claude_settings;
mod codex;
mod directory_hosts;
mod gemini;
mod properties;
mod support;
