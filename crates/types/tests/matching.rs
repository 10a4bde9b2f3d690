//! Names that resemble others.

use plugward_types::{edit_distance, nearest};

#[test]
fn distances_count_changes_and_swaps() {
    for (one, two, expected) in [
        ("", "", 0),
        ("", "abc", 3),
        ("abc", "", 3),
        ("kitten", "sitting", 3),
        ("tofu", "tfou", 1),
        ("ab", "ba", 1),
        ("abcd", "badc", 2),
        ("aüc", "auc", 1),
        ("precompact", "postcompact", 3),
    ] {
        assert_eq!(edit_distance(one, two), expected, "{one} {two}");
        assert_eq!(edit_distance(two, one), expected, "{two} {one}");
    }
}

#[test]
fn a_third_of_the_characters_may_differ() {
    assert_eq!(nearest("Locked", ["tofu", "locked"]), Some("locked"));
    assert_eq!(nearest("rum", ["install", "run"]), Some("run"));
    assert_eq!(nearest("trusted", ["trust"]), Some("trust"));
    assert_eq!(nearest("nosuch", ["notes"]), None);
    assert_eq!(nearest("abcdef", ["abcxyf"]), Some("abcxyf"));
    assert_eq!(nearest("abcdef", ["abxyzf"]), None);
    assert_eq!(nearest("goof", ["good", "goof", "goon"]), Some("goof"));
    assert_eq!(nearest("goo", ["good", "goof"]), Some("good"));
    assert_eq!(nearest("unaporove", ["approve", "unapprove"]), Some("unapprove"));
    assert_eq!(nearest("goo", []), None);
}
