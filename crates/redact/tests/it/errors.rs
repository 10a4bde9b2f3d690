//! Rules that could never fire are errors.

use plugward_redact::{CODES, Custom, CustomAction, Firewall, Raw, RedactError, Rules, Settings};

fn custom(name: &str, pattern: &str, keywords: &[&str], action: CustomAction) -> Settings {
    let keywords = keywords.iter().map(|word| (*word).to_owned()).collect();
    let rule = Custom { name: name.to_owned(), pattern: pattern.to_owned(), keywords, action };
    Settings { custom: vec![rule], ..Settings::reference() }
}

fn fails(settings: Settings) -> RedactError {
    Firewall::new(Rules::all(), settings).expect_err("a dead rule")
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
    let make =
        |action| Firewall::new(Rules::all(), custom("ticket", "PROJ-[0-9]{7}", &["proj-"], action)).unwrap();
    assert_eq!(make(CustomAction::Redact).redact(text()).as_str(), "before [REDACTED:ticket] after\n");
    let noted = make(CustomAction::Note).redact(text());
    assert_eq!((noted.as_str(), noted.findings()[0].code()), ("before PROJ-1234567 after\n", "redact/noted"));
    assert_eq!(noted.findings()[0].at, 7..19);
    let withheld = make(CustomAction::Withhold).redact(text());
    assert_eq!((withheld.as_str(), withheld.findings()[0].code()), ("[REDACTED:ticket]", "redact/withheld"));
}
