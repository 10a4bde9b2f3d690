//! Any bytes, against `stream` of `bodies.rs`.

#![no_main]

#[expect(dead_code, reason = "each target uses one of these")]
#[path = "../bodies.rs"]
mod bodies;

libfuzzer_sys::fuzz_target!(|data: &[u8]| bodies::stream(data));
