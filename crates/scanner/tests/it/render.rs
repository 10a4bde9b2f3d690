//! The JSON rendering: the documented keys, and equal bytes for equal reports.

use plugward_scanner::render::{Render, json};
use plugward_scanner::{Date, Profile, ScanCheck, gate};

use crate::common::report;

fn files() -> Vec<(&'static str, &'static [u8])> {
    vec![
        ("hooks/run.mjs", b"import { exec } from 'node:child_process'\n\texec('id')\neval('1')\n".as_slice()),
        ("a b/\u{e9}%.js", b"fetch(u)".as_slice()),
        ("lib/x.so", b"\x7fELF\x02\x01\x01\0\0\0\0\0".as_slice()),
        ("notes.md", "plain\u{202e} text \u{1b}[31m".as_bytes()),
    ]
}

#[test]
fn json_has_the_documented_keys_and_no_control_character() {
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
    assert!(text.chars().all(|char| char == '\n' || !char.is_control()));
}
