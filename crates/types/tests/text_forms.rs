//! Text forms round-trip, and invalid text does not parse.

use plugward_types::{Digest, Finding, PluginId, RuleId, Severity, Span, TreeDigest};
use proptest::prelude::*;

#[test]
fn digest_refuses_what_is_not_canonical() {
    let hex = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
    assert!(format!("sha256:{hex}").parse::<Digest>().is_ok());
    for (text, code) in [
        (hex.to_owned(), "parse/prefix"),
        (format!("pt1:{hex}"), "parse/prefix"),
        (format!("SHA256:{hex}"), "parse/prefix"),
        (format!("sha256:{}", &hex[1..]), "parse/length"),
        (format!("sha256:{hex}0"), "parse/length"),
        (format!("sha256:{}", hex.to_uppercase()), "parse/character"),
        (format!("sha256: {}", &hex[1..]), "parse/character"),
    ] {
        assert_eq!(text.parse::<Digest>().unwrap_err().code(), code, "{text}");
    }
    let error = format!("pt1:{}g", &hex[1..]).parse::<TreeDigest>().unwrap_err();
    assert_eq!(error.to_string(), "invalid tree digest: byte 67: expected lower-case hex digits");
}

#[test]
fn plugin_id_refuses_what_could_leave_a_name() {
    for good in ["claude:a@b", "gnoma:a.b_c-d@e", "jp:9@0", "claude:a.b.c@d"] {
        let id: PluginId = good.parse().unwrap();
        assert_eq!(id.to_string(), good);
        assert_eq!(PluginId::new(id.dialect(), id.name(), id.source()).unwrap(), id);
    }
    for (bad, code) in [
        ("", "parse/shape"),
        ("a@b", "parse/shape"),
        ("claude:a", "parse/shape"),
        ("claude:@b", "parse/length"),
        ("claude:..@b", "parse/character"),
        ("claude:a..b@c", "parse/character"),
        ("claude:.a@c", "parse/character"),
        ("claude:a/b@c", "parse/character"),
        ("claude:a\u{202e}@c", "parse/character"),
        ("claude:a@b@c", "parse/character"),
        ("claude:a:b@c", "parse/character"),
    ] {
        assert_eq!(bad.parse::<PluginId>().unwrap_err().code(), code, "{bad}");
    }
    let long = "x".repeat(129);
    assert!(PluginId::new("claude", &long[1..], "s").is_ok());
    assert_eq!(PluginId::new("claude", &long, "s").unwrap_err().code(), "parse/length");
}

#[test]
fn rule_id_has_two_parts() {
    let rule: RuleId = "exec/child-process".parse().unwrap();
    assert_eq!((rule.family(), rule.as_str()), ("exec", "exec/child-process"));
    for bad in ["exec", "exec/", "/x", "exec/a/b", "Exec/a", "exec/-a", "exec/a_b", "exec/a b"] {
        assert!(bad.parse::<RuleId>().is_err(), "{bad}");
    }
}

#[test]
fn findings_order_by_place() {
    let at = |path: &str, line, column, rule: &str| Finding {
        rule: rule.parse().unwrap(),
        severity: Severity::Info,
        role: plugward_types::FileRole::Other,
        path: path.into(),
        line,
        column,
        span: Span::new(0, 1),
        message: String::new(),
        how: vec![],
        caret: 0..0,
        snippet: String::new(),
        digest: Digest::from_bytes([0; 32]),
    };
    let sorted = [at("a", 1, 2, "b/b"), at("a", 1, 3, "a/a"), at("a", 2, 1, "a/a"), at("b", 1, 1, "a/a")];
    assert!(sorted.is_sorted());
    assert_eq!((Span::new(4, 2).len(), Span::new(4, 2).is_empty()), (0, true));
}

proptest! {
    #[test]
    fn digest_round_trips(bytes: [u8; 32]) {
        let digest = Digest::from_bytes(bytes);
        prop_assert_eq!(digest.to_string().parse::<Digest>(), Ok(digest));
        prop_assert_eq!(digest.hex().len(), 64);
    }

    #[test]
    fn any_text_that_parses_as_id_renders_the_same(text in "[a-z.:@/_ A-Z-]{0,12}") {
        if let Ok(id) = text.parse::<PluginId>() {
            prop_assert_eq!(id.as_str(), &text);
            prop_assert!(!text.contains("..") && !text.contains('/'));
        }
    }
}
