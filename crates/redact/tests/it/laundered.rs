//! Values that were found before a transform are found again in its output.

use plugward_redact::{KnownSecrets, Raw};

use crate::common::{FIREWALL, gone};
use crate::plant::{MAKERS, Rng};
use crate::plant_encode::{base64, base64_url, hex};

type Launder = (&'static str, fn(&str) -> String);

fn each(text: &str, form: impl Fn(u8) -> String) -> String {
    text.bytes().map(form).collect()
}

fn spaced(text: &str, width: usize, sign: &str) -> String {
    let groups: Vec<&str> =
        text.as_bytes().chunks(width).map(|group| core::str::from_utf8(group).unwrap()).collect();
    groups.join(sign)
}

fn invisible(first: u32, byte: u8) -> char {
    char::from_u32(first + u32::from(byte)).unwrap()
}

fn raw_deflate(text: &str) -> Vec<u8> {
    let mut packed = Vec::with_capacity(text.len() * 2 + 64);
    let mut state = flate2::Compress::new(flate2::Compression::default(), false);
    state.compress_vec(text.as_bytes(), &mut packed, flate2::FlushCompress::Finish).unwrap();
    packed
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
    ("backwards in base64", |v| base64(v.bytes().rev().collect::<Vec<u8>>().as_slice())),
    ("base64 backwards", |v| base64(v.as_bytes()).chars().rev().collect()),
    ("base64 glued to a word, backwards", |v| {
        format!("{}x", base64(format!("<{v}>").as_bytes()).chars().rev().collect::<String>())
    }),
    ("base64 with blanks", |v| spaced(&base64(v.as_bytes()), 1, " ")),
    ("base64 in groups of four", |v| spaced(&base64(v.as_bytes()), 4, " ")),
    ("base64 on lines of five", |v| spaced(&base64(v.as_bytes()), 5, "\n")),
    ("base64 with blanks, backwards", |v| spaced(&base64(v.as_bytes()), 1, " ").chars().rev().collect()),
    ("hex backwards", |v| hex(v.as_bytes()).chars().rev().collect()),
    ("hex in groups of four", |v| spaced(&hex(v.as_bytes()), 4, "_")),
    ("with bars between", |v| spaced(v, 1, " | ")),
    ("in threes", |v| spaced(v, 3, "\u{b7}")),
    ("c escapes", |v| each(v, |b| format!("\\x{b:02x}"))),
    ("numbers in hex", |v| each(v, |b| format!("0x{b:02x}, "))),
    ("as decimal numbers on lines", |v| each(v, |b| format!("{b}\n"))),
    ("as entities", |v| each(v, |b| format!("&#{b};"))),
    ("doubled", |v| each(v, |b| char::from(b).to_string().repeat(2))),
    ("tripled", |v| each(v, |b| char::from(b).to_string().repeat(3))),
    ("doubled, backwards", |v| v.chars().rev().flat_map(|c| [c, c]).collect()),
    ("doubled base64", |v| base64(v.as_bytes()).chars().flat_map(|c| [c, c]).collect()),
    ("tags", |v| v.bytes().map(|b| invisible(0xe0000, b)).collect()),
    ("tags between letters", |v| v.bytes().flat_map(|b| ['a', invisible(0xe0000, b)]).collect()),
    ("variation selectors", |v| v.bytes().map(|b| invisible(0xe0100, b)).collect()),
    ("variation selectors from 16", |v| v.bytes().map(|b| invisible(0xe0100 - 16, b)).collect()),
    ("raw deflate in base64", |v| base64(&raw_deflate(v))),
    ("raw deflate in base64, backwards", |v| base64(&raw_deflate(v)).chars().rev().collect()),
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

/// The reference program makes these of the value.
#[test]
fn bzip2_of_a_value_is_found_in_base64_and_hex() {
    const PACKED: &str = concat!(
        "425a683931415926535955efb19600000c0f007fe0155540002aaaa000231a6f54321a36934db2a14000019323",
        "bb3d1ae5af84f82537bf3a00173a2407e2ee48a70a120abdf632c0"
    );
    let text = "api_key: \"a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6\"\n";
    let bytes: Vec<u8> =
        (0..PACKED.len()).step_by(2).map(|at| u8::from_str_radix(&PACKED[at..at + 2], 16).unwrap()).collect();
    for spelled in
        [base64(&bytes), base64_url(&bytes), PACKED.to_owned(), base64(&bytes).chars().rev().collect()]
    {
        let (out, told) = transformed(text, &format!("it said {spelled} today\n"));
        assert_eq!((out.as_str(), told), ("it said [REDACTED:known] today\n", 1));
    }
}

/// The reference program makes this of a long text with the value at its end.
#[test]
fn longer_bzip2_is_found_and_damage_ends_it() {
    const PACKED: &str = concat!(
        "425a6831314159265359688d60230000cddf8880107fffffffffffffffffffffff001000083000fa408a4000d0",
        "33481a340d1a340191a34001a69a1a00001cc9a686400311906400d3040c403469a0032068002a952310d01a34",
        "00000000068d01a00068c80345dd5c18883a442ad10875085410ec109732c6caced2d6da6dbc12091150a1d78a",
        "2da59e818aaf2eb246c9e099c89d368dba5baa74000182b1f5ec594112ed47896e2892289b8222e9a3a7307bd2",
        "87be660c38b1e4cb9b3e8d2a6a575acb280000306c5c00060d9109fbde33fd0427fa8852a821404264810a14bc",
        "c438b8ada98871f353ba10a32042e65cb10a37128424884e9a213674a10a9344275e0849109021cf27dbdfe3e7",
        "f95ff88fc907ed5fead8ff177245385090688d6023",
    );
    let text = "api_key: \"a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6\"\n";
    let packed: Vec<u8> =
        (0..PACKED.len()).step_by(2).map(|at| u8::from_str_radix(&PACKED[at..at + 2], 16).unwrap()).collect();
    let twice = [packed.clone(), packed.clone()].concat();
    for spelled in [base64(&packed), base64(&twice)] {
        assert_eq!(transformed(text, &format!("{spelled}\n")), ("[REDACTED:known]\n".to_owned(), 1));
    }
    for place in 0..packed.len() {
        let mut damaged = packed.clone();
        damaged[place] ^= 0x55;
        let spelled = format!("{}\n", base64(&damaged));
        let (out, _) = transformed(text, &spelled);
        assert!(out == spelled || out.starts_with("[REDACTED:"), "{out}");
    }
}

#[test]
fn armor_is_not_a_value() {
    let armor = |word: &str| format!("-----{word} {}-----", concat!("PRI", "VATE KEY"));
    let text = format!(
        "{}\n{}\n{}\n",
        armor("BEGIN"),
        Rng::new(6).text("ABCDEFGHabcdefgh0123456789", 64),
        armor("END")
    );
    let other = format!("write {} first and {} last\n", armor("BEGIN"), armor("END"));
    assert_eq!(transformed(&text, &other), (other.clone(), 0));
}

#[test]
fn text_that_only_resembles_a_transform_stays() {
    let text =
        "api_key: \"a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6\"\npassword: \"administrator!!\"\nsecret=aB3!xYz-9-2\n";
    for other in [
        "a1 B2 c3 D4 e5 and 6g 7H 8i: half of the letters\n",
        "aa11BB22cc33DD and nothing more\n",
        "the administrator said that aB3, xYz, 9 and 2 are names\n",
        "\u{1f3f4}\u{e0067}\u{e0062}\u{e0065}\u{e006e}\u{e0067}\u{e007f} \u{2764}\u{fe0f} \u{845b}\u{e0100}\n",
        "z8sAAAD0CwPJ1w1Q8sAAAAD0CwPJ1w1Qz8sAAAD0CwPJ and QlpoOTFBWSZTWQ\n",
        "==gbvlGdhx2ZjVGdgQ3bmBiclRHchh2Y and ----------------------\n",
    ] {
        assert_eq!(transformed(text, other), (other.to_owned(), 0));
    }
}

#[test]
fn nothing_of_the_values_is_printed() {
    let mut known = KnownSecrets::new();
    FIREWALL.remember_text(&Raw::new("password=\"tR4-qu!ckBr0wn\"\n".to_owned()), &mut known);
    assert_eq!(format!("{known:?}"), "KnownSecrets { values: 1, .. }");
}
