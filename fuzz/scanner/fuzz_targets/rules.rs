//! Any text as a rule file: a table or an error with a code, never a panic.
#![no_main]

use libfuzzer_sys::fuzz_target;
use plugward_scanner::{CODES, RuleFile, Rules};

fuzz_target!(|data: &[u8]| {
    let Ok(text) = std::str::from_utf8(data) else { return };
    if let Err(error) = Rules::with(&[RuleFile { name: "own.toml", text }]) {
        assert!(CODES.iter().any(|(code, _)| *code == error.code()));
    }
});
