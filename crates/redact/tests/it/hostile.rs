//! Input designed to cost time or memory, or to cause a wrong cut.

use std::io::Write as _;

use crate::common::{bytes, check};
use crate::plant::{MAKERS, Rng};
use crate::plant_encode::base64;

/// A megabyte each of the input that is the most expensive for one matcher or view.
fn adversaries() -> Vec<(&'static str, Vec<u8>)> {
    let fill = |unit: &str| unit.as_bytes().iter().copied().cycle().take(1 << 20).collect::<Vec<u8>>();
    let nested = (0..12).fold("x".to_owned(), |text, _| base64(text.repeat(4).as_bytes()));
    vec![
        ("begin lines", fill("-----BEGIN ")),
        ("begin of keys", fill(concat!("-----BEGIN ", "PRIVATE KEY-----\n"))),
        ("secrets of kubernetes", fill("kind: Secret\n")),
        ("secrets in json", fill("{\"kind\":\"Secret\",\"data\":{")),
        ("jwk", fill("\"kty\":{")),
        ("cookies", fill("cookie: a=b; ")),
        ("prefixes of one key", fill("glpat-")),
        ("prefixes in a row", fill("tskey-api-")),
        ("marks in the middle", fill(concat!("T3Blb", "kFJ"))),
        ("tokens", fill("eyJ")),
        ("escapes of escapes", fill("\\\\\\\\\\u005c")),
        ("percents", fill("%25")),
        ("base64 of base64", fill(&nested)),
        ("sequences", fill("\x1b]8;;")),
        ("nuls", fill("\0a")),
        ("quotes", fill("\"a\" ")),
        ("one run", fill("a")),
        ("lines of one run", fill("aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\n")),
        ("dots", fill("aaaaaa.")),
        ("urls", fill("a://b:")),
        ("users", fill("a://b:@")),
        ("names", fill("password=")),
        ("reversed", fill("_phg")),
        ("rows", fill("00000000: 6162\n")),
        ("machines", fill("machine login password ")),
        ("equals", fill("a=\n")),
    ]
}

#[test]
fn every_adversary_is_worked_off() {
    // This test would hang on a regression; normally it takes seconds.
    for (name, text) in adversaries() {
        let (once, _) = bytes(&text);
        assert!(!once.is_empty(), "{name}");
    }
}

/// A little base64 that inflates to 40 MiB.
pub(crate) fn bomb() -> String {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    encoder.write_all(&vec![b'a'; 40 << 20]).unwrap();
    base64(&encoder.finish().unwrap())
}

#[test]
fn a_zip_bomb_does_not_leave() {
    let (out, kinds) = check(&format!("head\n{}\ntail\n", bomb()));
    assert_eq!(
        (out.as_str(), kinds.as_slice()),
        ("head\n[REDACTED:unscanned]\ntail\n", &["unscanned".to_owned()][..])
    );
}

/// Lines of a log that compress to about a quarter.
fn log_of(size: usize) -> Vec<u8> {
    let mut rng = Rng::new(31);
    let mut text = Vec::new();
    while text.len() < size {
        text.extend(
            format!(
                "INFO worker {} finished job {:08x} in {} ms\n",
                rng.below(90),
                rng.below(1 << 32),
                rng.below(900)
            )
            .into_bytes(),
        );
    }
    text.truncate(size);
    text
}

#[test]
fn a_secret_anywhere_in_a_long_compressed_text_takes_the_run_out() {
    for name in ["anthropic", "rsa key", "k8s secret json", "ini file"] {
        let make = MAKERS.iter().find(|(own, ..)| *own == name).unwrap().2;
        // The text is scanned in windows: plant secrets at their borders, and in the overlap.
        for place in [0_usize, 20_000, 128 << 10, 184 << 10, 256 << 10, 312 << 10, 399_000] {
            for shift in [0, 60, 700] {
                let planted = format!("\n{}\n", make(&mut Rng::new(8)).text());
                let mut text = log_of(400_000);
                let at = place.saturating_sub(shift).min(text.len());
                text.splice(at..at, planted.bytes());
                let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
                encoder.write_all(&text).unwrap();
                let run = base64(&encoder.finish().unwrap());
                let (out, kinds) = check(&format!("head\n{run}\ntail\n"));
                assert_eq!(kinds.len(), 1, "{name} at {at}: {kinds:?}");
                assert!(out.starts_with("head\n") && out.ends_with("]\ntail\n"), "{name} at {at}");
                assert!(!kinds.contains(&"unscanned".to_owned()), "{name} at {at}: it was looked into");
                // A longer run is removed around its matches only, and the rest no longer inflates.
                assert!(out.len() < run.len() / 2 || run.len() > 16 * 1024, "{name} at {at}");
            }
        }
    }
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    encoder.write_all(&log_of(400_000)).unwrap();
    crate::common::untouched(&format!("head\n{}\ntail\n", base64(&encoder.finish().unwrap())));
}

#[test]
fn a_text_of_nothing_but_secrets_is_worked_off() {
    // Removed values are stored to find repeats: adding one must not cost as much as all of them.
    let mut rng = Rng::new(5);
    let mut text = String::new();
    for _ in 0..20_000 {
        text.push_str(&format!("password=\"{}!7a\"\n", rng.text("abcdefghKLMNOP23456", 11)));
    }
    let (_, found) = bytes(text.as_bytes());
    // A few of the values have too little entropy to be stored.
    assert!(found.len() > 19_500, "{}", found.len());
}

#[test]
fn any_prefix_of_any_secret_passes_without_panic() {
    for (_, _, make) in MAKERS {
        let text = make(&mut Rng::new(5)).text();
        for end in (0..text.len()).step_by(3) {
            let cut = &text.as_bytes()[..end];
            let (once, _) = bytes(cut);
            assert_eq!(bytes(&once).0, once, "{:?}", String::from_utf8_lossy(cut));
        }
    }
}

#[test]
fn lines_of_a_view_that_do_not_follow_each_other_are_not_joined() {
    let key = MAKERS.iter().find(|(name, ..)| *name == "stripe live").unwrap().2(&mut Rng::new(5)).secret;
    let percent: String = key.bytes().fold(String::new(), |out, byte| out + &format!("%{byte:02X}"));
    let middle = "a line between\n".repeat(50);
    let (out, kinds) = check(&format!("body={percent}\n{middle}rest 100%25 of it\n"));
    assert_eq!((out, kinds.len()), (format!("body=[REDACTED:stripe]\n{middle}rest 100%25 of it\n"), 1));
}

#[test]
fn nothing_of_a_value_is_in_a_report() {
    for (name, _, make) in MAKERS {
        let planted = make(&mut Rng::new(6));
        let (_, found) = bytes(planted.text().as_bytes());
        let report: String =
            found.iter().map(plugward_redact::SecretFinding::to_json_line).collect::<Vec<_>>().join("\n");
        for piece in planted.secret.as_bytes().windows(8) {
            assert!(!report.as_bytes().windows(8).any(|w| w == piece), "{name}");
        }
        assert!(report.starts_with("{\"code\":\"redact/found\",\"kind\":\""));
    }
}
