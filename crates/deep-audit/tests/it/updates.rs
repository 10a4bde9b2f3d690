//! Audits of a new version: the difference to the base, and the cases in which everything is sent.

use plugward_deep_audit::types::{FileRole, Risk};
use plugward_deep_audit::{
    Audit, AuditLimits, AuditPlan, AuditScope, AuditorId, FileState, Floor, judge, plant,
};

use crate::support::{LIMITS, Plugin, Seeded, auditor, digest, firewall, lines, now, reply, word_count};

/// A plugin with enough text that one file is less than half of it.
fn plugin() -> Plugin {
    let filler = "export const row = (x) => x;\n".repeat(40);
    word_count().with("a.js", &filler, FileRole::Executed).with("b.js", &filler, FileRole::Executed)
}

fn base() -> Audit {
    plugin().judged(|[a, b]| reply("LOW", &[a, b]))
}

fn audited(plugin: &Plugin, base: &Audit, risk: &str) -> Audit {
    let subject = plugin.subject();
    let plan = AuditPlan::new(&subject, auditor(), Some(base), &LIMITS, &firewall());
    let planted = plant(&plan, &firewall(), &mut Seeded(4)).unwrap();
    let [a, b] = lines(&planted);
    judge(&plan, &planted, &reply(risk, &[&a, &b]), now())
}

fn sent(audit: &Audit) -> Vec<&str> {
    audit.files.iter().filter(|file| file.state == FileState::Sent).map(|file| file.path.as_str()).collect()
}

#[test]
fn an_update_sends_the_file_and_its_neighbors() {
    let changed = plugin().with("count.js", "export const count = () => 0;\n", FileRole::Executed);
    let audit = audited(&changed, &base(), "LOW");
    assert_eq!((audit.scope, audit.base), (AuditScope::Update, Some(base().digest())));
    // `main.js` mentions the changed file. README.md contains the word, but not the name of a file.
    assert_eq!(sent(&audit), ["main.js", "count.js"].iter().rev().copied().collect::<Vec<_>>());
    assert_eq!(audit.risk, Risk::Low);
}

#[test]
fn small_steps_add_up() {
    let mut step = plugin();
    for number in 0..10 {
        step = step.with(&format!("step{number}.txt"), format!("{number}\n"), FileRole::Other);
    }
    assert_eq!(sent(&audited(&step, &base(), "LOW")).len(), 10, "all steps since the full audit");
}

#[test]
fn a_removed_file_is_a_change_of_those_that_mention_it() {
    let mut changed = plugin();
    changed.files.retain(|(path, ..)| path != "count.js");
    assert_eq!(sent(&audited(&changed, &base(), "LOW")), ["main.js"]);
}

#[test]
fn an_update_has_the_risk_of_its_base() {
    let high = plugin().judged(|[a, b]| reply("HIGH", &[a, b]));
    let changed = plugin().with("count.js", "export const count = () => 0;\n", FileRole::Executed);
    let audit = audited(&changed, &high, "LOW");
    assert_eq!((audit.risk, audit.floors.contains(&Floor::Base)), (Risk::High, true));
    let audit = audited(&changed, &high, "CRITICAL");
    assert!(!audit.floors.contains(&Floor::Base));
}

#[test]
fn without_a_comparable_base_everything_is_sent() {
    let changed = plugin().with("count.js", "export const count = () => 0;\n", FileRole::Executed);
    let mut bases = vec![base(); 5];
    bases[0].rules = digest(b"other rules");
    bases[1].auditor = Some(AuditorId::new("openai", "another-model"));
    bases[2].scope = AuditScope::Update;
    bases[3].floors.insert(Floor::Partial);
    bases[4] = plugin().judged(|_| "garbage".to_owned());
    for base in &bases {
        let audit = audited(&changed, base, "LOW");
        assert_eq!((audit.scope, audit.base, sent(&audit).len()), (AuditScope::Full, None, 6));
    }
    // More than half of the text changed, or nothing did.
    let most = plugin().with("a.js", "x;\n".repeat(900), FileRole::Executed);
    assert_eq!(audited(&most, &base(), "LOW").scope, AuditScope::Full);
    assert_eq!(audited(&plugin(), &base(), "LOW").scope, AuditScope::Full);
}

#[test]
fn an_unchanged_binary_that_is_now_mentioned_matters() {
    let with = plugin().with("logo.png", b"\xff\xfe", FileRole::Other);
    let base = with.judged(|[a, b]| reply("LOW", &[a, b]));
    assert_eq!(base.risk, Risk::Low);
    let changed = with.with("count.js", "run('logo.png');\n", FileRole::Executed);
    let audit = audited(&changed, &base, "LOW");
    assert_eq!((audit.scope, audit.risk), (AuditScope::Update, Risk::High));
}

#[test]
fn a_file_that_was_left_out_of_the_base_is_sent() {
    let long = "row\n".repeat(500);
    let with = plugin().with("data.csv", &long, FileRole::Other);
    let subject = with.subject();
    let limits = AuditLimits { request_bytes: 4_000 };
    let plan = AuditPlan::new(&subject, auditor(), None, &limits, &firewall());
    let planted = plant(&plan, &firewall(), &mut Seeded(4)).unwrap();
    let [a, b] = lines(&planted);
    let base = judge(&plan, &planted, &reply("LOW", &[&a, &b]), now());
    assert_eq!((base.risk, base.floors.is_empty()), (Risk::Low, true));
    assert!(base.files.iter().any(|file| file.path == "data.csv" && file.state == FileState::LeftOut));
    let changed = with.clone().with("README.md", "# word-count\n\nMore.\n", FileRole::Documentation);
    assert_eq!(sent(&audited(&changed, &base, "LOW")), ["README.md", "data.csv"]);
    // Near miss: the base saw the file.
    let seen = with.judged(|[a, b]| reply("LOW", &[a, b]));
    assert_eq!(sent(&audited(&changed, &seen, "LOW")), ["README.md"]);
}
