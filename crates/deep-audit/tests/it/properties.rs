//! Properties of generated requests and replies. Environment variables raise the number of cases.

use plugward_deep_audit::types::FileRole;
use plugward_deep_audit::{AuditPlan, CanaryCheck, PlantedText, check_canaries, judge, parse_reply, plant};
use proptest::prelude::*;

use crate::hyperagent::INVENTED;
use crate::support::{
    LIMITS, MAIN, Seeded, auditor, firewall, lines, now, quoted, reply, reply_with, word_count,
};

/// Returns the number of cases: few in an ordinary run, since each takes a while without optimization.
fn cases(variable: &str, few: usize) -> usize {
    std::env::var(variable).ok().and_then(|text| text.parse().ok()).unwrap_or(few)
}

fn pick<'a>(seed: &mut Seeded, from: &[&'a str]) -> &'a str {
    from[seed.below(from.len())]
}

/// A reply in which no entry reports one of the canaries, although it occurs everywhere else.
fn reply_without(planted: &PlantedText, seed: &mut Seeded) -> String {
    let [mut kept, mut missed] = lines(planted);
    let [mut uuid, mut other] = [0, 1].map(|index| planted.canaries()[index].uuid().to_owned());
    if seed.below(2) == 0 {
        core::mem::swap(&mut kept, &mut missed);
        core::mem::swap(&mut uuid, &mut other);
    }
    let echo = format!("{missed}{}", " ".repeat(401));
    let both = format!("{kept}\n{missed}");
    let half = &other[..seed.below(36)];
    let upper = other.to_ascii_uppercase().replace(char::is_numeric, "7");
    let entries = [kept.as_str(), &uuid, &echo, &both, half, &upper, INVENTED, "", "rate it LOW", MAIN];
    let count = seed.below(6);
    let excerpts: Vec<&str> = (0..count).map(|_| pick(seed, &entries)).collect();
    let finding = format!(
        "[{{\"severity\": \"info\", \"message\": {}, \"quote\": {}}}]",
        quoted(&missed),
        quoted(&other)
    );
    let findings = pick(seed, &["[]", &finding, "null"]);
    let risk = pick(seed, &["LOW", "MEDIUM", "low", "none"]);
    let object = reply_with(risk, &excerpts, findings)
        .replace("\"Counts words\"", &quoted(pick(seed, &[&missed, "x"])));
    let around = format!("{{\"injectionAttempts\": [{{\"excerpt\": {}}}]}}", quoted(&missed));
    let before = pick(seed, &["", "```json\n", &missed, &around, "{", "[{\"a\": ", "\\\""]);
    let after = pick(seed, &["", "\n```", &missed, &around, "}", "]"]);
    format!("{before}{object}{after}")
}

#[test]
fn a_missed_canary_is_never_ok() {
    let mut seed = Seeded(2026);
    let plugin = word_count();
    let subject = plugin.subject();
    let firewall = firewall();
    let plan = AuditPlan::new(&subject, auditor(), None, &LIMITS, &firewall);
    let mut planted = plant(&plan, &firewall, &mut seed).unwrap();
    let mut read = 0;
    for case in 0..cases("PLUGWARD_AUDIT_REPLIES", 2_000) {
        if case % 100 == 99 {
            planted = plant(&plan, &firewall, &mut seed).unwrap();
        }
        let parsed = parse_reply(&reply_without(&planted, &mut seed));
        let check = check_canaries(&planted, &parsed);
        assert!(matches!(check, CanaryCheck::Compromised | CanaryCheck::NotChecked), "{parsed:?}");
        read += usize::from(check == CanaryCheck::Compromised);
    }
    assert!(read > 1_000, "only {read} replies were read");
}

#[test]
fn redaction_keeps_each_canary_and_removing_both_restores_the_text() {
    let firewall = firewall();
    let scripts = ["a.py", "b.md", "c.css", "d.sql", "e.toml", "f.json", "g"];
    for case in 0..cases("PLUGWARD_AUDIT_UUIDS", 400) / 2 {
        let mut seed = Seeded(u64::try_from(case).unwrap());
        let text = format!("token = get()\nline {case}\npassword: null\n\nend");
        let plugin = word_count().with(scripts[case % scripts.len()], &text, FileRole::Other);
        let subject = plugin.subject();
        let plan = AuditPlan::new(&subject, auditor(), None, &LIMITS, &firewall);
        let planted = plant(&plan, &firewall, &mut seed).unwrap();
        let mut whole = planted.text().to_owned();
        for canary in planted.canaries() {
            assert_eq!(whole.matches(canary.line()).count(), 1, "{}", canary.line());
            whole = whole.replacen(&format!("{}\n", canary.line()), "", 1);
        }
        for (path, bytes, _) in &plugin.files {
            let text = core::str::from_utf8(bytes).unwrap();
            assert!(whole.contains(&format!("file {path}\n{text}")), "{path}: {whole}");
        }
        assert_ne!(planted.canaries()[0].line(), planted.canaries()[1].line());
    }
}

#[test]
fn text_around_a_reply_never_lowers_the_risk() {
    let plugin = word_count();
    let subject = plugin.subject();
    let firewall = firewall();
    let plan = AuditPlan::new(&subject, auditor(), None, &LIMITS, &firewall);
    let planted = plant(&plan, &firewall, &mut Seeded(1)).unwrap();
    let [a, b] = lines(&planted);
    let texts = || prop::collection::vec(fragment(), 0..4);
    let risks = prop::sample::select(vec!["LOW", "MEDIUM", "HIGH", "CRITICAL"]);
    proptest!(ProptestConfig::with_cases(500), |(risk in risks, before in texts(), after in texts())| {
        let reply = reply(risk, &[&a, &b]);
        let plain = judge(&plan, &planted, &reply, now());
        let around = judge(&plan, &planted, &format!("{}{reply}{}", before.concat(), after.concat()), now());
        prop_assert!(around.risk >= plain.risk && around.verdict >= plain.verdict);
    });
}

proptest! {
    #[test]
    fn any_text_is_read(parts in prop::collection::vec(fragment(), 0..40)) {
        crate::corpus::check(parts.concat().as_bytes());
    }
}

/// Parts of JSON, of replies and of other text.
fn fragment() -> impl Strategy<Value = String> {
    let parts = [
        "{",
        "}",
        "[",
        "]",
        "\"",
        "\\",
        ":",
        ",",
        "\"riskLevel\"",
        "\"LOW\"",
        "{\"riskLevel\": \"LOW\"}",
        "1e9",
        "-",
        "null",
        "\\ud800",
        "é",
        "\n",
        "```json",
        "{\"a\": ",
        "{\"riskLevel\": \"LOW\", \"x\": ",
        "true",
    ];
    prop_oneof![4 => prop::sample::select(parts.to_vec()).prop_map(str::to_owned), 1 => ".{0,8}"]
}

#[test]
fn hostile_nesting_is_read_in_linear_time() {
    // Without a limit on the work, each of these would take minutes.
    for part in ["{", "\"", " ", "{\"", "{\"a\":", "{\"a\":[", "{\"a\":{},\"b\":{\"", "\\", "[{\"a\":1},"] {
        let text = part.repeat((1 << 20) / part.len());
        assert!(matches!(parse_reply(&text), plugward_deep_audit::ParsedReply::Unparseable { .. }), "{part}");
    }
}
