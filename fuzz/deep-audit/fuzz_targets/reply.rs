//! Any bytes as the reply of a model, against the properties of `properties.rs`.

#![no_main]

#[path = "../properties.rs"]
mod properties;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| drop(properties::reply(bytes)));
