//! The list of codes matches the codes that rules and errors return.

use plugward_fence::{BLIND_SPOTS, CODES, FenceConfig, FenceError, LintRule};
use std::collections::BTreeSet;

#[test]
fn every_rule_is_listed_once_with_its_help() {
    let codes: BTreeSet<&str> = CODES.iter().map(|(code, _)| *code).collect();
    assert_eq!(codes.len(), CODES.len(), "a code is listed twice");
    for rule in LintRule::ALL {
        let listed = CODES.iter().find(|(code, _)| *code == rule.code());
        assert_eq!(listed.map(|(_, help)| *help), Some(rule.help()), "{rule}");
        assert_eq!(LintRule::from_code(rule.code()), Some(rule));
    }
    assert_eq!(BLIND_SPOTS.len(), 10);
}

#[test]
fn errors_give_listed_codes_and_help() {
    let errors: Vec<FenceError> = vec![
        FenceConfig::parse("unknown = 1", "fence.toml").unwrap_err(),
        plugward_fence::Fence::from_workspace("/nowhere/at/all".into()).unwrap_err(),
    ];
    for error in errors {
        assert!(CODES.iter().any(|(code, _)| *code == error.code()), "{}", error.code());
        assert!(!error.help().is_empty());
    }
}

#[test]
fn a_config_that_makes_no_sense_is_refused_with_its_line() {
    for (text, wanted) in [
        ("min-files = 1\ncapability_crates = []", "fence.toml:2"),
        ("min-files = \"many\"", "fence.toml:1"),
        ("type-glob = \"Capability\"", "expected a `*`"),
        ("race = { crates = [], type = \"X\" }", "methods"),
        (
            "[[allow]]\nrule = \"F99\"\npath = \"a\"\ncount = 1\nreason = \"x\"\nexpires = \"2027-01-01\"",
            "F99",
        ),
        (
            "[[allow]]\nrule = \"F13\"\npath = \"a\"\ncount = 1\nreason = \"x\"\nexpires = \"2027-01-01\"",
            "F13 cannot",
        ),
        (
            "[[allow]]\nrule = \"F01\"\npath = \"a\"\ncount = 1\nreason = \"x\"\nexpires = \"2027-02-29\"",
            "YYYY-MM-DD",
        ),
        (
            "[[allow]]\nrule = \"F01\"\npath = \"a\"\ncount = 0\nreason = \"x\"\nexpires = \"2027-02-28\"",
            "`count` is 0",
        ),
        (
            "[[allow]]\nrule = \"F01\"\npath = \"a\"\ncount = 1\nreason = \" \"\nexpires = \"2027-02-28\"",
            "`reason`",
        ),
        ("[[allow]]\nrule = \"F01\"\npath = \"a\"\ncount = 1\nreason = \"x\"", "expires"),
        ("this is not TOML", "fence.toml:1"),
    ] {
        let error = FenceConfig::parse(text, "fence.toml").unwrap_err();
        assert_eq!(error.code(), "fence/config");
        assert!(error.to_string().contains(wanted), "{text:?}: {error}");
    }
}

#[test]
fn days_are_days() {
    assert_eq!(plugward_fence::day_of(0), "1970-01-01");
    assert_eq!(plugward_fence::day_of(951_782_400), "2000-02-29");
    assert_eq!(plugward_fence::day_of(1_795_305_599), "2026-11-21");
    assert_eq!(plugward_fence::day_of(4_107_542_400), "2100-03-01");
}

/// Returns the rows of the table under a heading of the front page.
fn rows(heading: &str) -> Vec<Vec<String>> {
    let page = include_str!("../../README.md");
    let part = page.split("\n# ").find(|part| part.starts_with(heading)).unwrap();
    let table = part.lines().filter(|line| line.starts_with("| ")).skip(1);
    table
        .map(|line| line.trim_matches('|').split(" | ").map(|cell| cell.trim().to_owned()).collect())
        .collect()
}

#[test]
fn the_front_page_lists_each_rule_and_each_blind_spot() {
    let rules: Vec<(String, String)> =
        rows("Rules").into_iter().map(|row| (row[0].clone(), row[1].clone())).collect();
    let wanted: Vec<(String, String)> =
        LintRule::ALL.iter().map(|rule| (rule.code().to_owned(), rule.name().to_owned())).collect();
    assert_eq!(rules, wanted);
    let blind: Vec<Vec<String>> = rows("Blind spots");
    let wanted: Vec<Vec<String>> =
        BLIND_SPOTS.iter().map(|(code, text)| vec![(*code).to_owned(), (*text).to_owned()]).collect();
    assert_eq!(blind, wanted);
}
