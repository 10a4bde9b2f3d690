//! Input that is made to cost time, memory or a wrong cut.

use std::io::Write as _;

use crate::common::{bytes, check};
use crate::plant::{MAKERS, Rng};
use crate::plant_encode::base64;

/// Each of these is a megabyte of what one matcher or view has to look at most often.
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
    // A hang is what this would show; the whole takes seconds.
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
            found.iter().map(plugward_redact::Found::to_json_line).collect::<Vec<_>>().join("\n");
        for piece in planted.secret.as_bytes().windows(8) {
            assert!(!report.as_bytes().windows(8).any(|w| w == piece), "{name}");
        }
        assert!(report.starts_with("{\"code\":\"redact/found\",\"kind\":\""));
    }
}
