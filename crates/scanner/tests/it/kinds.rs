//! Kinds of attacks and their honest twins, from `tests/data/kinds.toml`.

use std::fmt::Write as _;

use plugward_scanner::{Profile, RoleHint, ScanReport};
use plugward_types::{FileRole, Severity};
use toml::Value;

use crate::common::scanned;

const KINDS: &str = include_str!("../data/kinds.toml");

/// Scans a text as what it is: a hook runs code, the user starts `soffice.py` and `timer.sh`, and a model reads the rest.
fn report(kind: &Value, text: &str) -> ScanReport {
    let path = kind["path"].as_str().unwrap();
    let is_read = matches!(path, "SKILL.md" | "tools.json" | "package-lock.json" | "soffice.py" | "timer.sh");
    let role = if is_read { RoleHint::NONE } else { RoleHint::NONE.used_as(FileRole::Executed) };
    let files = [(path, text), ("README.md", "Uses https://api.example.com/.\n")];
    let pair = |pair: &'_ Value| (pair[0].as_str().unwrap().to_owned(), pair[1].as_str().unwrap().to_owned());
    let more = kind.get("files").and_then(Value::as_array).into_iter().flatten().map(pair);
    let files = files.map(|(path, text)| (path.to_owned(), text.to_owned())).into_iter().chain(more);
    let files: Vec<_> = files.map(|(path, text)| (path, text.into_bytes())).collect();
    scanned(Profile::General, role, &files)
}

fn texts<'a>(kind: &'a Value, list: &str) -> impl Iterator<Item = &'a str> {
    kind[list].as_array().unwrap().iter().map(|text| text.as_str().unwrap())
}

#[test]
fn each_attack_is_found_and_no_twin_is() {
    let table: Value = toml::from_str(KINDS).unwrap();
    let mut wrong = String::new();
    for kind in table["kind"].as_array().unwrap() {
        let name = kind["name"].as_str().unwrap();
        for (list, is_attack) in [("attacks", true), ("honest", false)] {
            for text in texts(kind, list) {
                let report = report(kind, text);
                let found: Vec<String> = report
                    .findings()
                    .iter()
                    .filter(|finding| finding.severity > Severity::Info)
                    .map(|finding| finding.rule.to_string())
                    .collect();
                if found.is_empty() == is_attack {
                    writeln!(wrong, "{name}: {list}: {text:?}: {found:?}").unwrap();
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}
