//! The list of codes.

use std::collections::BTreeSet;

use plugward_hooks::{CODES, help};

/// The tests that trigger codes.
const TESTS: [&str; 9] = [
    include_str!("adr003.rs"),
    include_str!("adr004.rs"),
    include_str!("claude.rs"),
    include_str!("content.rs"),
    include_str!("definitions.rs"),
    include_str!("gates.rs"),
    include_str!("matrix.rs"),
    include_str!("models.rs"),
    include_str!("payload.rs"),
];

/// Codes that the command line emits for this crate.
const OF_THE_COMMAND_LINE: [&str; 2] = ["hook/event", "hook/laundered"];

#[test]
fn every_code_has_a_test() {
    for (code, _) in CODES.iter().filter(|(code, _)| !OF_THE_COMMAND_LINE.contains(code)) {
        // As a word of its own: `hook/exit` is not tested by a code that begins with it.
        let is_word = |text: &str| {
            text.match_indices(code).any(|(at, _)| {
                let next = text[at + code.len()..].chars().next();
                !next.is_some_and(|next| next.is_alphanumeric() || next == '-')
            })
        };
        assert!(TESTS.iter().any(|text| is_word(text)), "{code}");
    }
}

#[test]
fn every_code_is_listed_once_and_has_help() {
    let codes: BTreeSet<&str> = CODES.iter().map(|(code, _)| *code).collect();
    assert_eq!(codes.len(), CODES.len());
    for (code, text) in CODES {
        assert!(code.starts_with("hook/") && !text.is_empty() && help(code) == *text, "{code}");
        assert!(!text.ends_with('.'), "{code}: help has no final period");
    }
    assert_eq!(help("hook/none"), "");
}
