//! `cargo +nightly fuzz run market` in `fuzz/manifest`.
#![no_main]

#[path = "../bodies.rs"]
#[expect(dead_code, reason = "each target has one body")]
mod bodies;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| bodies::market(bytes));
