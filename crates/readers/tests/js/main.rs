//! Programs that the reader for JavaScript and TypeScript builds.
#![expect(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    reason = "a test fails by panicking"
)]

mod disguise;
mod dump;
mod invariant;
mod views;

use plugward_readers::js::{JsOptions, read};

/// The cases. A path in brackets applies to the sources after it; the expressions of a source are indented.
const CASES: &str = include_str!("cases.txt");

/// Returns the cases, each as path, source and expected lines.
fn cases() -> Vec<(&'static str, String, Vec<&'static str>)> {
    let mut path = "a.js";
    let mut cases: Vec<(&str, String, Vec<&str>)> = Vec::new();
    for line in CASES.lines() {
        if let Some(name) = line.strip_prefix("[a.").and_then(|_| line.strip_prefix('[')?.strip_suffix(']')) {
            path = name;
        } else if let Some(expected) = line.strip_prefix("    ") {
            cases.last_mut().expect("a source comes first").2.push(expected);
        } else {
            cases.push((path, line.replace("\\n", "\n"), Vec::new()));
        }
    }
    cases
}

#[test]
fn sources_become_expressions() {
    let mut wrong = Vec::new();
    for (path, source, expected) in cases() {
        let found = dump::dump(&read(source.as_bytes(), JsOptions::for_path(path)).program);
        if found != expected {
            wrong.push(format!("{source}\n    {}", found.join("\n    ")));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
