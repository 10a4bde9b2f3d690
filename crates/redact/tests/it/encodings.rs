//! Each secret in each encoding.

use crate::classes::{ALL, Encode, PREFIXED};
use crate::common::{bytes, gone};
use crate::plant::{MAKERS, Rng};

const CARRIED: &[&str] = &[
    "aws-key-id",
    "github",
    "github-fine",
    "gitlab",
    "slack",
    "stripe",
    "openai",
    "anthropic",
    "sk-other",
    "model-key",
    "registry-key",
    "service-key",
    "jwt",
];

/// Shapes whose literal has three bytes, which are not searched for in reverse.
const SHORT: &[&str] = &["other sk", "hugging face", "sendgrid", "airtable", "crates.io"];

/// Its shape contains `$`, which ends a run, so it is found neither reversed nor wrapped.
const SIGNS: &str = "braintree";

fn run(encodings: &[Encode], wanted: impl Fn(&str, &str) -> bool) {
    let mut failed = Vec::new();
    for (name, _, make) in MAKERS.iter().filter(|(name, kind, _)| wanted(name, kind)) {
        for (encoding, encode) in encodings {
            if encoding == &"reversed" && SHORT.contains(name) {
                continue;
            }
            for seed in 0..3 {
                let planted = make(&mut Rng::new(seed + 31));
                let mut text = b"first line of output\n".to_vec();
                // UTF-16 text has its line ends in UTF-16 too.
                let head = text.len();
                text.extend(encode(&planted.text()));
                text.extend(b"\nlast line\n");
                let (out, found) = bytes(&text);
                if found.is_empty()
                    || !out.starts_with(b"first line of output\n")
                    || !out.ends_with(b"last line\n")
                {
                    let shown = String::from_utf8_lossy(&text[head..]).chars().take(120).collect::<String>();
                    failed.push(format!("{name} / {encoding}: {shown}"));
                    break;
                }
                gone(planted.secret.as_bytes(), &out, &format!("{name} / {encoding}"));
                let encoded = encode(&planted.secret);
                if encoding != &"xxd"
                    && encoding != &"overstrike"
                    && !encoding.starts_with("html")
                    && !encoding.contains("gzip")
                {
                    let middle = &encoded[encoded.len() / 4..encoded.len() - encoded.len() / 4];
                    let left = middle.len() >= 8 && out.windows(middle.len()).any(|w| w == middle);
                    assert!(!left, "{name} / {encoding} {seed}: {:?}", String::from_utf8_lossy(&out));
                }
            }
        }
    }
    assert!(failed.is_empty(), "{} missed:\n{}", failed.len(), failed.join("\n"));
}

#[test]
fn every_kind_is_found_behind_every_encoding() {
    run(ALL, |_, _| true);
}

#[test]
fn kinds_with_a_literal_are_found_turned_wrapped_and_split() {
    run(PREFIXED, |name, kind| name != SIGNS && CARRIED.contains(&kind));
}

#[test]
fn gzip_with_every_kind_of_head_is_read_member_by_member_up_to_damage() {
    let secret = MAKERS.iter().find(|(name, ..)| *name == "anthropic").unwrap().2(&mut Rng::new(5)).secret;
    let mut members = Vec::new();
    for bits in 0..8 {
        let mut head = flate2::GzBuilder::new();
        if bits & 1 != 0 {
            head = head.filename("some.name");
        }
        if bits & 2 != 0 {
            head = head.comment("a comment");
        }
        if bits & 4 != 0 {
            head = head.extra("extra bytes");
        }
        let mut encoder = head.write(Vec::new(), flate2::Compression::default());
        std::io::Write::write_all(&mut encoder, format!("{bits} {secret}\n").as_bytes()).unwrap();
        members.push(encoder.finish().unwrap());
    }
    let quiet = b"\x1f\x8b\x08\0\0\0\0\0\0\xff\x03\0\0\0\0\0\0\0\0\0";
    for member in &members {
        for packed in
            [member.clone(), [quiet, member.as_slice()].concat(), member[..member.len() - 6].to_vec()]
        {
            let (out, found) = bytes(format!("{}\n", crate::plant_encode::base64(&packed)).as_bytes());
            assert_eq!((out.as_slice(), found.len()), (&b"[REDACTED:anthropic]\n"[..], 1));
        }
    }
    for broken in [
        &b"\x78\x9c\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff"[..],
        b"\x1f\x8b\x08\x04\0\0\0\0\0\0\xff\xff\xff\xff\xff",
    ] {
        let text = format!("{}\n", crate::plant_encode::base64(broken));
        assert_eq!(bytes(text.as_bytes()).0, text.as_bytes());
    }
}
