//! The bad cases of the built-in rules, read from the rule files themselves.

use plugward_scanner::{FileKind, RoleHint, Rules};
use std::collections::BTreeSet;
use std::sync::OnceLock;
use toml::Value;

/// One bad case.
#[derive(Debug)]
pub(crate) struct Case {
    pub(crate) rule: String,
    /// Its place among the bad cases of its rule, from 0.
    pub(crate) number: usize,
    /// The first file is the one in which the rule is found.
    pub(crate) files: Vec<(String, Vec<u8>)>,
    role: String,
}

impl Case {
    pub(crate) fn role(&self) -> RoleHint {
        let roles = [FileKind::Other, FileKind::Doc, FileKind::Manifest, FileKind::Build, FileKind::Prompt];
        roles.into_iter().find(|role| role.as_str() == self.role).map_or(RoleHint::NONE, RoleHint::role)
    }
}

fn text(table: &Value, key: &str) -> String {
    table.get(key).and_then(Value::as_str).unwrap_or_default().to_owned()
}

fn bytes(case: &Value) -> Vec<u8> {
    let hex = text(case, "hex");
    if hex.is_empty() {
        return text(case, "text").into_bytes();
    }
    let digits: Vec<u8> = hex.bytes().filter(u8::is_ascii_hexdigit).collect();
    digits.chunks(2).map(|pair| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap()).collect()
}

fn files(case: &Value) -> Vec<(String, Vec<u8>)> {
    match case.get("files").and_then(Value::as_array) {
        Some(files) => files
            .iter()
            .map(|file| (file[0].as_str().unwrap().to_owned(), file[1].as_str().unwrap().as_bytes().to_vec()))
            .collect(),
        None => vec![(text(case, "path"), bytes(case))],
    }
}

#[expect(clippy::disallowed_methods, reason = "a test reads the rule files of its own crate")]
fn read() -> Vec<Case> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/rules");
    let mut paths: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    let mut out = Vec::new();
    for path in paths {
        let table: Value = toml::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
        for rule in table.get("rule").and_then(Value::as_array).into_iter().flatten() {
            for (number, case) in rule["bad"].as_array().unwrap().iter().enumerate() {
                out.push(Case {
                    rule: text(rule, "id"),
                    number,
                    files: files(case),
                    role: text(case, "role"),
                });
            }
        }
    }
    let named: BTreeSet<&str> = out.iter().map(|case| case.rule.as_str()).collect();
    let loaded: BTreeSet<&str> = Rules::builtin().iter().map(|rule| rule.id().as_str()).collect();
    assert_eq!(named, loaded, "the rule files and the loaded rules differ");
    out
}

/// Returns every bad case of every built-in rule.
pub(crate) fn cases() -> &'static [Case] {
    static CASES: OnceLock<Vec<Case>> = OnceLock::new();
    CASES.get_or_init(read)
}
