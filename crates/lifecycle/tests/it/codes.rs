//! The list of codes.

use plugward_lifecycle::CODES;

#[test]
fn codes_are_sorted_and_have_help() {
    assert!(CODES.is_sorted());
    assert!(CODES.iter().all(|(code, help)| code.contains('/') && !help.is_empty()));
}
