//! Values that were found before a transform are found again in its output.

use plugward_redact::{KnownSecrets, Raw};

use crate::common::{FIREWALL, gone};
use crate::plant::{MAKERS, Rng};
use crate::plant_encode::{base64, base64_url, hex};

type Launder = (&'static str, fn(&str) -> String);

fn each(text: &str, form: impl Fn(u8) -> String) -> String {
    text.bytes().map(form).collect()
}

const LAUNDERS: &[Launder] = &[
    ("without its name", str::to_owned),
    ("base64 at offset 0", |v| base64(v.as_bytes())),
    ("base64 at offset 1", |v| base64(format!("({v})").as_bytes())),
    ("base64 at offset 2", |v| base64(format!("<<{v}>>").as_bytes())),
    ("base64 glued to a word", |v| format!("x{}", base64(v.as_bytes()))),
    ("base64url", |v| base64_url(v.as_bytes())),
    ("base64 twice", |v| base64(base64(v.as_bytes()).as_bytes())),
    ("hex", |v| hex(v.as_bytes())),
    ("hex in capitals", |v| hex(v.as_bytes()).to_uppercase()),
    ("hex with colons", |v| each(v, |b| format!("{b:02x}:"))),
    ("hex with blanks", |v| each(v, |b| format!("{b:02x} "))),
    ("percent", |v| each(v, |b| format!("%{b:02X}"))),
    ("json escapes", |v| each(v, |b| format!("\\u{b:04x}"))),
    ("backwards", |v| v.chars().rev().collect()),
    ("in capitals", str::to_uppercase),
    ("with blanks between", |v| each(v, |b| format!("{} ", char::from(b)))),
    ("as decimal numbers", |v| each(v, |b| format!("{b}, "))),
    ("zero width between", |v| v.chars().flat_map(|c| [c, '\u{200b}']).collect()),
];

/// Redacts the output of a transform of the value of `text`.
fn transformed(text: &str, after: &str) -> (String, usize) {
    let mut known = KnownSecrets::new();
    FIREWALL.remember_text(&Raw::new(text.to_owned()), &mut known);
    assert!(!known.is_empty(), "{text}");
    let (redacted, laundered) = FIREWALL.redact_transformed(Raw::new(after.to_owned()), &known);
    assert!(laundered.iter().all(|found| found.code() == "redact/laundered"));
    (redacted.into_value(), laundered.len())
}

#[test]
fn every_kind_is_found_behind_every_transform_and_the_caller_is_told() {
    for (name, kind, make) in MAKERS {
        // Blocks of several lines are found by their armor; a transform spells one value.
        if *kind == "pem" {
            continue;
        }
        for (launder, transform) in LAUNDERS {
            let planted = make(&mut Rng::new(77));
            let spelled = transform(&planted.secret);
            let (out, told) = transformed(&planted.text(), &format!("the tool said {spelled} today\n"));
            // A value with a literal of its own is not laundered if it is unchanged.
            let bare = spelled == planted.secret && planted.before.is_empty();
            assert!(told > 0 || bare, "{name} / {launder}: {out:?} from {spelled:?}");
            assert!(
                out.starts_with("the tool said ") && out.ends_with(" today\n"),
                "{name} / {launder}: {out:?}"
            );
            gone(planted.secret.as_bytes(), out.as_bytes(), name);
            let middle = &spelled.as_bytes()[spelled.len() / 4..spelled.len() * 3 / 4];
            gone(middle, out.as_bytes(), &format!("{name} / {launder}"));
        }
    }
}

#[test]
fn what_stands_as_it_stood_is_not_laundered() {
    for text in [
        "password=\"tR4-qu!ckBr0wn\"\n".to_owned(),
        format!("blob {} end\n", base64(b"password=\"tR4-qu!ckBr0wn\"")),
    ] {
        let (out, told) = transformed(&text, &text);
        assert_eq!(told, 0, "{out}");
        assert!(out.contains("[REDACTED:generic]"));
    }
}

#[test]
fn a_piece_of_a_longer_value_is_enough() {
    let text = "api_key: \"a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6\"\n";
    let (out, told) = transformed(text, "it began with a1B2c3D4e5F6g7H8i9J0 and so on\n");
    assert_eq!((out.as_str(), told), ("it began with [REDACTED:known] and so on\n", 1));
}

#[test]
fn ordinary_text_beside_known_values_stays() {
    let text = "api_key: \"a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6\"\n";
    let (out, told) = transformed(text, "a1b2c3 is no key, nor is YTFiMmMz, nor 613142\n");
    assert_eq!((out.as_str(), told), ("a1b2c3 is no key, nor is YTFiMmMz, nor 613142\n", 0));
}

#[test]
fn nothing_of_the_values_is_printed() {
    let mut known = KnownSecrets::new();
    FIREWALL.remember_text(&Raw::new("password=\"tR4-qu!ckBr0wn\"\n".to_owned()), &mut known);
    assert_eq!(format!("{known:?}"), "KnownSecrets { values: 1, .. }");
}
