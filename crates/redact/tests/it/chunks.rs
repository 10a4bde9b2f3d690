//! The output does not depend on how a text is cut into chunks.

use proptest::prelude::*;

use crate::common::{FIREWALL, bytes};
use crate::plant::{MAKERS, Rng};

fn streamed(text: &[u8], cuts: &[usize]) -> (Vec<u8>, Vec<plugward_redact::SecretFinding>) {
    let mut stream = FIREWALL.stream();
    let mut out = Vec::new();
    let mut from = 0;
    for cut in cuts.iter().copied().chain([text.len()]) {
        let cut = cut.clamp(from, text.len());
        stream.push(&text[from..cut], &mut out);
        from = cut;
    }
    let found = stream.finish(&mut out);
    (out, found)
}

#[test]
fn every_cut_of_short_texts() {
    for (_, _, make) in MAKERS {
        let text = format!("\u{e9}a {}\r\n\x1b[1mé\x1b[0m", make(&mut Rng::new(7)).text());
        let whole = bytes(text.as_bytes());
        for cut in (0..=text.len()).step_by(7) {
            assert_eq!(streamed(text.as_bytes(), &[cut]), whole);
        }
    }
}

/// A text of several blocks with a secret at each given offset.
pub(crate) fn long_text(seed: u64, size: usize) -> Vec<u8> {
    let mut rng = Rng::new(seed);
    let mut text = Vec::new();
    while text.len() < size {
        for _ in 0..rng.below(400) {
            text.extend_from_slice(b"2026-01-01T00:00:00Z INFO worker finished job in 12 ms\n");
        }
        let (_, _, make) = MAKERS[rng.below(MAKERS.len())];
        text.extend_from_slice(make(&mut rng).text().as_bytes());
        text.push(b'\n');
    }
    text
}

#[test]
fn a_secret_at_every_border_of_blocks_is_gone_and_chunks_do_not_matter() {
    let key = MAKERS.iter().find(|(name, ..)| *name == "anthropic").unwrap().2;
    let planted = key(&mut Rng::new(3)).secret;
    for border in [128 * 1024, 128 * 1024 - 20 * 1024, 160 * 1024, 256 * 1024] {
        for shift in [1, 50, 107, 108] {
            let mut text = b"a quiet line of a log\n".repeat(40_000);
            text.truncate(640 * 1024);
            let start = border - shift;
            text[start - 1] = b' ';
            text[start..start + planted.len()].copy_from_slice(planted.as_bytes());
            text[start + planted.len()] = b' ';
            let (out, found) = bytes(&text);
            assert_eq!(found.len(), 1, "{border} {shift}");
            assert_eq!(out.len(), text.len() - planted.len() + "[REDACTED:anthropic]".len());
            assert_eq!(streamed(&text, &[start, start + 3, start + 99]).0, out);
        }
    }
}

#[test]
fn a_key_block_longer_than_any_window_leaves_nothing() {
    let mut text = b"head\n-----BEGIN ".to_vec();
    text.extend_from_slice(b"PRIVATE KEY-----\n");
    let mut rng = Rng::new(9);
    for _ in 0..20_000 {
        text.extend_from_slice(
            rng.text("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/", 64).as_bytes(),
        );
        text.push(b'\n');
    }
    text.extend_from_slice(b"-----END PRIVATE KEY-----\ntail\n");
    let (out, found) = bytes(&text);
    assert_eq!(String::from_utf8_lossy(&out), "head\n[REDACTED:pem]\ntail\n");
    assert_eq!((found.len(), found[0].raw_len), (1, text.len() - 11));
    assert_eq!(streamed(&text, &[10, 300_000, 300_001, 900_000]), (out, found));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn random_cuts_of_long_texts(seed in 0_u64..1000, mut cuts in prop::collection::vec(0_usize..900_000, 0..40)) {
        let text = long_text(seed, 700_000);
        cuts.sort_unstable();
        prop_assert_eq!(streamed(&text, &cuts), bytes(&text));
    }

    #[test]
    fn any_bytes_pass_and_a_second_pass_changes_nothing(text in prop::collection::vec(any::<u8>(), 0..2000)) {
        let (once, _) = bytes(&text);
        prop_assert_eq!(bytes(&once).0, once);
    }
}

#[test]
fn a_second_pass_changes_nothing() {
    for seed in 0..6 {
        let (once, _) = bytes(&long_text(seed, 60_000));
        let (twice, found) = bytes(&once);
        assert!(twice == once, "{found:?}");
    }
}
