//! Any bytes, against the properties of `properties.rs`.

#![no_main]

#[expect(dead_code, reason = "each target uses one of these")]
#[path = "../properties.rs"]
mod properties;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| properties::other_formats(bytes));
