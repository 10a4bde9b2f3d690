//! `plugward codes CODE`: explains one rule or code.

#![expect(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "a test reads the project's own files"
)]
#![expect(clippy::unwrap_used, reason = "a test that cannot set up must stop")]

#[expect(dead_code, reason = "these tests need no plugin")]
mod home;

use std::path::Path;

use home::{Home, code};
use serde_json::Value;

/// Returns the number of right labels of a rule, and of all.
fn labels(rule: &str) -> (usize, usize) {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("data/field-labels.tsv");
    let text = std::fs::read_to_string(file).unwrap();
    let own = text.lines().map(|line| line.split('\t').collect::<Vec<_>>());
    let own: Vec<_> = own.filter(|row| row.get(3) == Some(&rule)).collect();
    (own.iter().filter(|row| row.get(5) != Some(&"false")).count(), own.len())
}

/// Leaves out precisions, which change with each label.
fn unmeasured(text: &str) -> String {
    let mut out = String::new();
    let mut is_left_out = false;
    for line in text.lines() {
        let is_first = line.starts_with("    precision");
        is_left_out = is_first || (is_left_out && line.starts_with("                "));
        let shown = if is_first { "    precision   …" } else { line };
        if is_first || !is_left_out {
            out.push_str(shown);
            out.push('\n');
        }
    }
    out
}

#[test]
fn one_rule_one_code_and_one_unknown() {
    let home = Home::new();
    let (right, labeled) = labels("sh/pipe-to-shell");
    let percent = right * 100 / labeled;
    let rule = home.shown(&["codes", "sh/pipe-to-shell"]);
    let flat = rule.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(flat.contains(&format!("precision {right} of {labeled} labeled findings")), "{rule}");
    assert!(flat.contains(&format!("({percent} %)")), "{rule}");
    let others = [
        &["codes", "net/module"][..],
        &["codes", "scan/danger"],
        &["codes", "sh/pipe-to-shel"],
        &["codes", "pipe-to-shell"],
        &["codes", "nothing-like-it"],
    ];
    let others = others.iter().map(|args| home.shown(args));
    let shown: Vec<String> = std::iter::once(rule).chain(others).collect();
    insta::assert_snapshot!("codes", unmeasured(&shown.join("\n")));
}

#[test]
fn json_has_the_rule_and_its_precision() {
    let home = Home::new();
    let output = home.run(&["codes", "--format", "json", "sh/pipe-to-shell"]);
    assert_eq!(code(&output), 0);
    let listing: Value = serde_json::from_slice(&output.stdout).unwrap();
    let [one] = listing["codes"].as_array().unwrap().as_slice() else { panic!("{listing}") };
    let (right, labeled) = labels("sh/pipe-to-shell");
    assert_eq!(one["precision"], serde_json::json!({ "right": right, "labeled": labeled }));
    assert_eq!((&one["kind"], &one["rule"]["severity"]), (&"rule".into(), &"danger".into()));
    assert!(!one["rule"]["bad"].as_array().unwrap().is_empty(), "{one}");
}

#[test]
fn every_listed_name_is_explained_without_a_control_character() {
    let home = Home::new();
    let output = home.run(&["codes", "--format", "json"]);
    let listing: Value = serde_json::from_slice(&output.stdout).unwrap();
    // One of each family: each run of the program loads all rules.
    let mut families: Vec<&str> = Vec::new();
    for one in listing["codes"].as_array().unwrap() {
        let name = one["code"].as_str().unwrap();
        let family = name.split('/').next().unwrap();
        if families.contains(&family) {
            continue;
        }
        families.push(family);
        let output = home.run(&["codes", name]);
        assert_eq!(code(&output), 0, "{name}");
        let text = String::from_utf8(output.stdout).unwrap();
        assert!(text.starts_with(name), "{text}");
        assert!(!text.chars().any(|c| c.is_control() && c != '\n'), "{text:?}");
    }
}
