//! Renderings: SARIF against its schema, JSON as documented, and equal bytes for equal reports.

use plugward_scanner::render::{Render, json, sarif, table};
use plugward_scanner::{Date, Profile, Rules, ScanCheck, Suppression, gate};

use crate::common::{digest, report};

const SCHEMA: &str = include_str!("../data/sarif-2.1.0-rtm.5.json");

fn files() -> Vec<(&'static str, &'static [u8])> {
    vec![
        ("hooks/run.mjs", b"import { exec } from 'node:child_process'\n\texec('id')\neval('1')\n".as_slice()),
        ("a b/\u{e9}%.js", b"fetch(u)".as_slice()),
        ("lib/x.so", b"\x7fELF\x02\x01\x01\0\0\0\0\0".as_slice()),
        ("notes.md", "plain\u{202e} text \u{1b}[31m".as_bytes()),
    ]
}

#[test]
fn sarif_validates_against_the_published_schema() {
    let mut schema: serde_json::Value = serde_json::from_str(SCHEMA).unwrap();
    // The schema's own pattern for `language` is no regex by the Unicode grammar; nothing here writes that key.
    for place in ["run", "toolComponent"] {
        let language = schema["definitions"][place]["properties"]["language"].as_object_mut().unwrap();
        assert!(language.remove("pattern").is_some());
    }
    let validator = jsonschema::validator_for(&schema).unwrap();
    let report = report(Profile::General, &files());
    let entry = Suppression {
        rule: "exec/eval".parse().unwrap(),
        path: "hooks/run.mjs".to_owned(),
        digest: digest(files()[0].1),
        reason: "looked at by two people".to_owned(),
        expires: None,
    };
    let unused = Suppression { path: "none.js".to_owned(), ..entry.clone() };
    let decision = gate(&report, &[entry, unused], None);
    let render = Render { version: "0.1.0", report: &report, decision: &decision, exit: 6 };
    let text = sarif(&render, Rules::builtin());
    let log: serde_json::Value = serde_json::from_str(&text).unwrap();
    let errors: Vec<String> =
        validator.iter_errors(&log).map(|error| format!("{error} at {}", error.instance_path())).collect();
    assert!(errors.is_empty(), "{errors:#?}");
    assert_eq!(text, sarif(&render, Rules::builtin()));
    let results = log["runs"][0]["results"].as_array().unwrap();
    assert_eq!(results.len(), report.findings().len());
    assert!(
        results.iter().any(|result| result["suppressions"][0]["justification"] == "looked at by two people")
    );
    assert!(results.iter().all(|result| result["properties"]["role"].is_string()));
    let behaviors = log["runs"][0]["properties"]["plugward/behaviors"].as_object().unwrap();
    let names: Vec<&str> = report.behaviors().iter().map(|behavior| behavior.as_str()).collect();
    assert!(names.contains(&"process"), "{names:?}");
    assert!(names.iter().all(|name| behaviors.contains_key(*name)) && behaviors.len() == names.len());
    assert_eq!(behaviors["process"][0]["uri"], "hooks/run.mjs");
    // The schema is not so wide that it takes anything.
    let mut broken = log.clone();
    broken["runs"][0]["results"][0]["level"] = "danger".into();
    assert!(!validator.is_valid(&broken));
}

#[test]
fn json_has_the_documented_keys_and_the_table_shows_no_control_character() {
    let report = report(Profile::StrictPlugin, &files());
    let decision = gate(&report, &[], Date::new(2026, 3, 2));
    assert!(matches!(decision.check, ScanCheck::Danger { .. }));
    let render = Render { version: "0.1.0", report: &report, decision: &decision, exit: 6 };
    let text = json(&render);
    let value: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(value["findings"].as_array().unwrap().len(), report.findings().len());
    assert_eq!(value["summary"]["danger"], report.summary().danger);
    let order = [
        "\"version\"",
        "\"tool\"",
        "\"profile\"",
        "\"coverage\"",
        "\"files\"",
        "\"findings\"",
        "\"suppressed\"",
        "\"notices\"",
        "\"summary\"",
        "\"exit\"",
    ];
    let places: Vec<usize> = order.iter().map(|key| text.find(key).unwrap()).collect();
    assert!(places.is_sorted(), "{places:?}");
    assert_eq!(text, json(&render));
    let shown = table(&render);
    assert!(shown.chars().all(|char| char == '\n' || !char.is_control()));
    assert!(!shown.contains('\u{202e}'));
}

#[test]
fn the_table_counts_one_file_as_one() {
    let report = report(Profile::General, &[("a.js", b"1".as_slice())]);
    let decision = gate(&report, &[], None);
    let text = table(&Render { version: "0.1.0", report: &report, decision: &decision, exit: 0 });
    assert!(text.contains("1 file (1 scanned), 1 byte\n"), "{text}");
}
