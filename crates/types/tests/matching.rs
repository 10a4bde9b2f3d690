//! Names that resemble others, patterns, and JSON pointers.

use plugward_types::{edit_distance, glob, nearest, pointer};

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

#[test]
fn a_star_matches_any_text() {
    for (pattern, name) in [
        ("claude:*@team", "claude:a@team"),
        ("claude:*@team", "claude:a.b-c@team"),
        ("claude:*", "claude:a"),
        ("claude:*", "claude:a@team"),
        ("*:*@*", "claude:a@team"),
        ("claude:a*b*c@team", "claude:aXbXbc@team"),
        ("claude:ab@team", "claude:ab@team"),
        ("claude:a*@team", "claude:a@team"),
        ("path:/srv/*", "path:/srv/a/b"),
    ] {
        assert!(glob::is_match(pattern, name), "{pattern} {name}");
    }
    for (pattern, name) in [
        ("claude:*@team", "claude:a@team2"),
        ("claude:*@team", "claude:a@te"),
        ("claude:*@team", "claude:a"),
        ("claude:*@team", "codex:a@team"),
        ("claude:a", "claude:ab"),
        ("path:/srv/*", "path:/srv"),
        ("", "claude:a@team"),
    ] {
        assert!(!glob::is_match(pattern, name), "{pattern} {name}");
    }
}

#[test]
fn a_question_mark_is_a_character_of_a_shell_pattern_only() {
    for (pattern, text) in [("?", "é"), ("a?c*", "abc"), ("*?", "a"), ("a*?c", "abbc"), ("?*?", "ab")] {
        assert!(glob::is_shell_match(pattern, text), "{pattern} {text}");
        assert!(!glob::is_match(pattern, text), "{pattern} {text}");
    }
    for (pattern, text) in [("?", ""), ("?", "ab"), ("a?", "a"), ("?*?", "a")] {
        assert!(!glob::is_shell_match(pattern, text), "{pattern} {text}");
    }
    assert!(glob::is_match("a?", "a?") && glob::is_match("*", "") && glob::is_match("**", "a*"));
    // A retry of every `*` would not end.
    assert!(!glob::is_match(&("a*".repeat(50) + "b"), &"a".repeat(500)));
}

#[test]
fn keys_of_a_pointer_are_escaped() {
    for (key, expected) in [("a/b", "/a~1b"), ("a~1", "/a~01"), ("~/", "/~0~1"), ("", "/")] {
        assert_eq!(pointer::step("", key), expected);
        assert_eq!(pointer::keys(expected), [key]);
    }
    assert_eq!(pointer::keys(""), [""; 0]);
}
