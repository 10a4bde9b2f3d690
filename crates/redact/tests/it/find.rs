//! `Firewall::find` reports the findings of `redact_bytes`, with offsets in the input.

use plugward_redact::{
    CustomAction, CustomRule, EntropyMode, ExampleMode, Firewall, Raw, RedactAction, RuleSelection,
    SecretFinding, Settings, ViewMode,
};
use proptest::prelude::*;

use crate::chunks::long_text;
use crate::common::FIREWALL;
use crate::plant::{MAKERS, Rng};

/// Splits a finding into its range and everything else.
fn split(found: &SecretFinding) -> (core::ops::Range<usize>, impl PartialEq + core::fmt::Debug + use<>) {
    let rest =
        (found.kind.clone(), found.raw_len, found.via, found.checksum, found.action, found.pointer.clone());
    (found.at.clone(), rest)
}

fn check(firewall: &Firewall, text: &[u8]) -> Result<Vec<SecretFinding>, TestCaseError> {
    let output = firewall.redact_bytes(Raw::new(text.to_vec()));
    let found = firewall.find(text);
    prop_assert_eq!(found.len(), output.findings().len());
    if let [only] = found.as_slice()
        && only.action == RedactAction::Withheld
    {
        prop_assert_eq!(&only.at, &(0..text.len()));
        prop_assert_eq!(split(only).1, split(&output.findings()[0]).1);
        return Ok(found);
    }
    let (mut read, mut written) = (0, 0);
    for (own, other) in found.iter().zip(output.findings()) {
        let ((at, own_rest), (out_at, other_rest)) = (split(own), split(other));
        prop_assert_eq!(own_rest, other_rest);
        prop_assert!(read <= at.start && at.start <= at.end && at.end <= text.len(), "{own:?}");
        if own.action == RedactAction::Removed {
            prop_assert_eq!(at.len(), own.raw_len);
        } else {
            prop_assert_eq!(&text[at.clone()], &output.as_ref()[out_at.clone()]);
        }
        // The text between two findings is equal in both, except for color sequences that are kept after a
        // marker.
        let between = &output.as_ref()[written..out_at.start];
        prop_assert!(between.ends_with(&text[read..at.start]), "{own:?}");
        let before = &text[..at.start];
        let line = before.iter().rposition(|byte| *byte == b'\n').map_or(0, |last| last + 1);
        let number = before.split(|byte| *byte == b'\n').count();
        prop_assert_eq!((own.line, own.column), (number, at.start - line + 1));
        (read, written) = (at.end, out_at.end);
    }
    prop_assert!(output.as_ref()[written..].ends_with(&text[read..]));
    Ok(found)
}

fn firewalls() -> Vec<Firewall> {
    let plain = Settings { views: ViewMode::Plain, ..Settings::reference() };
    let noting =
        Settings { entropy: EntropyMode::Note, examples: ExampleMode::Redact, ..Settings::reference() };
    [Settings::reference(), plain, noting]
        .map(|settings| Firewall::new(RuleSelection::all(), settings).unwrap())
        .into()
}

#[test]
fn each_kind_is_found_where_it_is() {
    for (kind, _, make) in MAKERS {
        let text = format!(
            "\u{e9}a {}\r\n\x1b[1m\u{e9}\x1b[0m\nsecond {}\n",
            make(&mut Rng::new(7)).text(),
            make(&mut Rng::new(8)).text()
        );
        for firewall in firewalls() {
            assert!(!check(&firewall, text.as_bytes()).unwrap().is_empty(), "{kind}");
        }
    }
    assert!(FIREWALL.find(b"nothing here: password = os.environ['P']\n").is_empty());
    assert!(FIREWALL.find(b"").is_empty());
}

#[test]
fn a_key_block_longer_than_any_window_is_one_range() {
    let line = "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7VJTUt9Us8cKj\n";
    let mut text = concat!("head\n-----BEGIN ", "PRIVATE KEY-----\n").to_owned();
    text.push_str(&line.repeat(12_000));
    text.push_str("-----END PRIVATE KEY-----\ntail\n");
    let found = check(&FIREWALL, text.as_bytes()).unwrap();
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].at, 5..text.len() - 6);
    assert_eq!((found[0].line, found[0].column), (2, 1));
}

#[test]
fn a_text_that_a_rule_withholds_is_one_range() {
    let rule = CustomRule {
        name: "top".to_owned(),
        pattern: "TOP SECRET".to_owned(),
        keywords: vec!["TOP SECRET".to_owned()],
        action: CustomAction::Withhold,
    };
    let settings = Settings { custom: vec![rule], ..Settings::reference() };
    let firewall = Firewall::new(RuleSelection::all(), settings).unwrap();
    let text = format!("{}TOP SECRET\n", "a quiet line\n".repeat(30_000));
    let found = check(&firewall, text.as_bytes()).unwrap();
    assert_eq!((found.len(), found[0].action), (1, RedactAction::Withheld));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn long_texts_have_the_findings_of_their_output(seed in 0_u64..1000, size in 1_000_usize..500_000) {
        let text = long_text(seed, size);
        for firewall in firewalls() {
            prop_assert!(!check(&firewall, &text)?.is_empty());
        }
    }

    #[test]
    fn any_bytes_have_the_findings_of_their_output(text in prop::collection::vec(any::<u8>(), 0..2000)) {
        for firewall in firewalls() {
            check(&firewall, &text)?;
        }
    }
}
