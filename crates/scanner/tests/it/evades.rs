//! Known false negatives: each is still missed, and the same payload without the disguise is found.

use std::collections::BTreeSet;

use plugward_scanner::{Profile, Rules};
use toml::Value;

use crate::common::report;

const MISSES: &str = include_str!("../data/evades.toml");

/// The limits that the rules' documentation names; each has an entry.
const CLASSES: &[&str] = &[
    "values known only at run time",
    "encryption with a computed key",
    "flow through functions",
    "flow through classes",
    "flow through files",
    "scopes",
    "languages without lens",
    "contents of archives",
    "contents of documents",
    "contents of images",
    "orders in paraphrase",
    "orders in a language not listed",
    "steganography in prose",
    "folding of constants",
];

fn text<'a>(entry: &'a Value, key: &str) -> Option<&'a str> {
    entry.get(key).and_then(Value::as_str)
}

fn bytes(entry: &Value) -> Vec<u8> {
    match text(entry, "hex") {
        None => text(entry, "text").unwrap().as_bytes().to_vec(),
        Some(hex) => {
            let digits: Vec<u8> = hex.bytes().filter(u8::is_ascii_hexdigit).collect();
            let pair = |pair: &[u8]| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap();
            digits.chunks(2).map(pair).collect()
        }
    }
}

fn files(entry: &Value) -> Vec<(String, Vec<u8>)> {
    match entry.get("files").and_then(Value::as_array) {
        None => vec![(text(entry, "path").unwrap().to_owned(), bytes(entry))],
        Some(files) => files
            .iter()
            .map(|file| (file[0].as_str().unwrap().to_owned(), file[1].as_str().unwrap().as_bytes().to_vec()))
            .collect(),
    }
}

fn shown(files: &[(String, Vec<u8>)]) -> BTreeSet<String> {
    let files: Vec<(&str, &[u8])> =
        files.iter().map(|(path, bytes)| (path.as_str(), bytes.as_slice())).collect();
    report(Profile::StrictPlugin, &files).findings().iter().map(|finding| finding.rule.to_string()).collect()
}

#[test]
fn what_is_known_to_be_missed_is_still_missed() {
    let table: Value = toml::from_str(MISSES).unwrap();
    let mut classes = BTreeSet::new();
    let mut wrong = Vec::new();
    for entry in table["miss"].as_array().unwrap() {
        let (rule, what) = (text(entry, "rule").unwrap(), text(entry, "what").unwrap());
        assert!(Rules::builtin().get(rule).is_some(), "{rule}: no such rule");
        classes.insert(text(entry, "class").unwrap());
        let files = files(entry);
        let found = shown(&files);
        let instead: BTreeSet<String> =
            entry["shows"].as_array().unwrap().iter().map(|id| id.as_str().unwrap().to_owned()).collect();
        if found.contains(rule) {
            wrong.push(format!("{rule} has learned it, take the entry out: {what}"));
        } else if found != instead {
            wrong.push(format!("{rule}: {what}: shows {found:?}"));
        }
        let path = text(entry, "plain_path").unwrap_or(&files[0].0).to_owned();
        let plain = shown(&[(path, text(entry, "plain").unwrap().as_bytes().to_vec())]);
        if !plain.contains(rule) {
            wrong.push(format!("{rule}: said openly it is not found either: {what}: {plain:?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert_eq!(classes, CLASSES.iter().copied().collect(), "a class has no entry");
}
