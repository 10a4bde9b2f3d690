//! The shared `check`: text in, text and kinds out.

use plugward_redact::{Firewall, Raw, RuleSelection, SecretFinding, Settings};
use std::sync::LazyLock;

/// The reference firewall, built once.
pub(crate) static FIREWALL: LazyLock<Firewall> = LazyLock::new(|| {
    Firewall::new(RuleSelection::all(), Settings::reference()).expect("the built-in rules compile")
});

/// Redacts bytes.
pub(crate) fn bytes(text: &[u8]) -> (Vec<u8>, Vec<SecretFinding>) {
    let redacted = FIREWALL.redact_bytes(Raw::new(text.to_vec()));
    let found = redacted.findings().to_vec();
    (redacted.into_value(), found)
}

/// Redacts a text, and returns it with the kinds found in it.
pub(crate) fn check(text: &str) -> (String, Vec<String>) {
    let (out, found) = bytes(text.as_bytes());
    (String::from_utf8(out).expect("text stays text"), found.iter().map(|f| f.kind.to_string()).collect())
}

/// Asserts that a text is unchanged.
#[track_caller]
pub(crate) fn untouched(text: &str) {
    let (out, kinds) = check(text);
    assert_eq!(out, text, "{kinds:?}");
}

/// Asserts that no piece of 8 bytes of a secret is left in a text.
#[track_caller]
pub(crate) fn gone(secret: &[u8], out: &[u8], about: &str) {
    for piece in secret.windows(8.min(secret.len())) {
        // The armor and the frame of a secret are not secret.
        let frame = piece.windows(3).any(|w| w == b"---")
            || piece.is_ascii() && piece.iter().all(|b| b" :\"{}\n".contains(b));
        let left = out.windows(piece.len()).any(|w| w == piece);
        assert!(
            !left || frame,
            "{about}: left {:?} in {:?}",
            String::from_utf8_lossy(piece),
            String::from_utf8_lossy(out)
        );
    }
}
