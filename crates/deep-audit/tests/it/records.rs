//! The stored form of audits, and which of several audits counts.

use std::collections::BTreeSet;

use plugward_deep_audit::types::Risk;
use plugward_deep_audit::{Audit, deciding_audit, superseded};

use crate::support::{at, reply, word_count};

fn audit(risk: &str, seconds: u64) -> Audit {
    let mut audit = word_count().judged(|[a, b]| reply(risk, &[a, b]));
    audit.at = at(seconds);
    audit
}

#[test]
fn a_record_has_one_text() {
    let found = audit("LOW", 0);
    let json = found.to_json();
    assert_eq!(Audit::parse(json.as_bytes()), Ok(found.clone()));
    assert!(
        json.starts_with(r#"{"version":1,"kind":"deep","scope":"full","base":null,"tree":"pt1:"#),
        "{json}"
    );
    assert!(json.contains(
        r#""canary":"ok","risk":"LOW","model_risk":"LOW","floors":[],"verdict":"approve","reason":"fine""#
    ));
    assert!(json.contains(r#""auditor":{"client":"openai","model":"test-model","prompt":1}"#));
    assert_ne!(found.digest(), audit("LOW", 1).digest());
}

#[test]
fn a_changed_record_does_not_count() {
    let json = audit("HIGH", 0).to_json();
    let cut = &json[..json.len() - 1];
    let newer = json.replacen("\"version\":1", "\"version\":2", 1);
    let spaced = json.replacen(':', ": ", 1);
    let further = json.replacen('{', "{\"more\":1,", 1);
    let long = format!("{json}{}", " ".repeat(9 << 20));
    for text in ["", cut, &newer, &spaced, &further, &long, &json.replace("HIGH", "high")] {
        let error = Audit::parse(text.as_bytes()).unwrap_err();
        assert_eq!(error.code(), "audit/damaged");
        assert!(!error.help().is_empty());
    }
}

#[test]
fn asking_again_cannot_lower_the_risk() {
    let audits = [audit("HIGH", 0), audit("LOW", 1), audit("HIGH", 2), audit("MEDIUM", 3)];
    let bytes = word_count().subject().bytes;
    assert_eq!(deciding_audit(&audits, &bytes), Some(&audits[2]));
    assert_eq!(deciding_audit(&audits, &bytes).unwrap().risk, Risk::High);
}

#[test]
fn pruning_keeps_the_deciding_and_the_approved_audit() {
    let mut audits = vec![audit("CRITICAL", 0), audit("LOW", 1), audit("LOW", 2)];
    audits.extend((3..11).map(|seconds| audit("LOW", seconds)));
    let approved = BTreeSet::from([audits[1].digest()]);
    assert_eq!(superseded(&audits, &approved), [&audits[2]]);
    assert!(superseded(&audits[..8], &BTreeSet::new()).is_empty());
}
