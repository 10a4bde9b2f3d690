//! Rules that could never match are errors.

use plugward_redact::{CODES, CustomAction, CustomRule, Firewall, Raw, RedactError, RuleSelection, Settings};

fn custom(name: &str, pattern: &str, keywords: &[&str], action: CustomAction) -> Settings {
    let keywords = keywords.iter().map(|word| (*word).to_owned()).collect();
    let rule = CustomRule { name: name.to_owned(), pattern: pattern.to_owned(), keywords, action };
    Settings { custom: vec![rule], ..Settings::reference() }
}

fn fails(settings: Settings) -> RedactError {
    Firewall::new(RuleSelection::all(), settings).expect_err("a dead rule")
}

#[test]
fn dead_rules_are_errors_with_a_code_and_help() {
    for (settings, code) in [
        (custom("a", "(", &["abc"], CustomAction::Redact), "redact/dead-rule"),
        (custom("a", "abc", &[], CustomAction::Redact), "redact/dead-rule"),
        (custom("a", "abc", &["x"], CustomAction::Redact), "redact/dead-rule"),
        (custom("a", r"(a)\1", &["abc"], CustomAction::Redact), "redact/dead-rule"),
        (custom("github", "abc", &["abc"], CustomAction::Redact), "redact/rule-name"),
        (custom("Not A Name", "abc", &["abc"], CustomAction::Redact), "redact/rule-name"),
        (custom("", "abc", &["abc"], CustomAction::Redact), "redact/rule-name"),
    ] {
        let error = fails(settings);
        assert_eq!(error.code(), code, "{error}");
        assert!(CODES.iter().any(|(known, help)| *known == code && *help == error.help()), "{error}");
    }
}

#[test]
fn custom_rules_redact_note_and_withhold() {
    let text = || Raw::new("before PROJ-1234567 after\n".to_owned());
    let make = |action| {
        Firewall::new(RuleSelection::all(), custom("ticket", "PROJ-[0-9]{7}", &["proj-"], action)).unwrap()
    };
    assert_eq!(make(CustomAction::Redact).redact(text()).as_str(), "before [REDACTED:ticket] after\n");
    let noted = make(CustomAction::Note).redact(text());
    assert_eq!((noted.as_str(), noted.findings()[0].code()), ("before PROJ-1234567 after\n", "redact/noted"));
    assert_eq!(noted.findings()[0].at, 7..19);
    let withheld = make(CustomAction::Withhold).redact(text());
    assert_eq!((withheld.as_str(), withheld.findings()[0].code()), ("[REDACTED:ticket]", "redact/withheld"));
}

/// Every code that this crate emits is triggered once, and the list has no other.
#[test]
fn the_list_of_codes_is_what_is_emitted() {
    use crate::plant::{MAKERS, Rng};
    use plugward_redact::{KnownSecrets, TransportError, TransportErrorKind};
    use std::collections::BTreeSet;
    let mut emitted = BTreeSet::new();
    emitted.insert(fails(custom("a", "(", &["abc"], CustomAction::Redact)).code());
    emitted.insert(fails(custom("", "abc", &["abc"], CustomAction::Redact)).code());
    for kind in [
        TransportErrorKind::Unreachable,
        TransportErrorKind::Refused { status: 401 },
        TransportErrorKind::TimedOut,
        TransportErrorKind::Unreadable,
    ] {
        emitted.insert(TransportError::new(kind).code());
    }
    let mut text = |firewall: &Firewall, text: &str| {
        for found in firewall.redact(Raw::new(text.to_owned())).findings() {
            emitted.insert(found.code());
        }
    };
    let (_, _, make) = MAKERS.iter().find(|(name, ..)| *name == "stripe live").unwrap();
    let key = make(&mut Rng::new(1)).secret;
    let reference = Firewall::new(RuleSelection::all(), Settings::reference()).unwrap();
    text(&reference, &key);
    text(&reference, concat!("k sk_te", "st_4eC39HqLyjWDarjtT1zdp7dc\n"));
    text(&reference, &crate::hostile::bomb());
    for action in [CustomAction::Note, CustomAction::Withhold] {
        let firewall =
            Firewall::new(RuleSelection::all(), custom("ticket", "PROJ-[0-9]{7}", &["proj-"], action))
                .unwrap();
        text(&firewall, "before PROJ-1234567 after\n");
    }
    let mut known = KnownSecrets::new();
    reference.remember_text(&Raw::new("password=\"tR4-qu!ckBr0wn\"\n".to_owned()), &mut known);
    let (_, laundered) = reference.redact_transformed(Raw::new("nw0rBkc!uq-4Rt\n".to_owned()), &known);
    emitted.extend(laundered.iter().map(plugward_redact::SecretFinding::code));
    assert_eq!(emitted, CODES.iter().map(|(code, _)| *code).collect::<BTreeSet<_>>());
    let named = [
        "redact/dead-rule",
        "redact/example",
        "redact/found",
        "redact/laundered",
        "redact/noted",
        "redact/rule-name",
        "redact/unscanned",
        "redact/withheld",
        "transport/refused",
        "transport/timed-out",
        "transport/unreachable",
        "transport/unreadable",
    ];
    assert_eq!(emitted, named.into_iter().collect());
}

/// No type that contains text prints it: raw text, streams, known secrets, errors.
#[test]
fn nothing_that_holds_a_value_prints_it() {
    use plugward_redact::KnownSecrets;
    let firewall = Firewall::new(RuleSelection::all(), Settings::reference()).unwrap();
    let value = "tR4-qu!ckBr0wn";
    let text = format!("password=\"{value}\"\n");
    let raw = Raw::new(text.clone());
    let mut known = KnownSecrets::new();
    firewall.remember_text(&raw, &mut known);
    let mut stream = firewall.stream();
    stream.push(text.as_bytes(), &mut Vec::new());
    let redacted = firewall.redact(Raw::new(text.clone()));
    for shown in [
        format!("{raw:?}"),
        format!("{known:?}"),
        format!("{stream:?}"),
        format!("{firewall:?}"),
        format!("{redacted:?}"),
        format!("{:?}", redacted.findings()),
    ] {
        assert!(!shown.contains(value) && !shown.contains("qu!ck"), "{shown}");
    }
}
