//! The classes of notation for a secret.

use std::io::Write as _;

use crate::plant_encode::{base64, base64_url, hex};

/// The name of a class, and how a text is written in it.
pub(crate) type Encode = (&'static str, fn(&str) -> Vec<u8>);

fn each(text: &str, form: impl Fn(u8) -> String) -> Vec<u8> {
    text.bytes().map(form).collect::<String>().into_bytes()
}

fn hex_joined(text: &str, between: &str) -> String {
    text.bytes().map(|b| format!("{b:02x}")).collect::<Vec<_>>().join(between)
}

fn pairs(text: &str, between: &str) -> Vec<u8> {
    hex_joined(text, between).into_bytes()
}

fn wrapped(text: &str, width: usize) -> String {
    let bytes = text.as_bytes();
    bytes.chunks(width).map(|line| String::from_utf8_lossy(line).into_owned()).collect::<Vec<_>>().join("\n")
}

fn gzip(text: &str) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    encoder.write_all(text.as_bytes()).unwrap();
    encoder.finish().unwrap()
}

fn zlib(text: &str) -> Vec<u8> {
    let mut encoder = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::default());
    encoder.write_all(text.as_bytes()).unwrap();
    encoder.finish().unwrap()
}

fn json(text: &str) -> String {
    let mut out = String::new();
    for character in text.chars() {
        match character {
            '"' | '\\' => out.extend(['\\', character]),
            '\n' => out.push_str("\\n"),
            plain => out.push(plain),
        }
    }
    out
}

fn dump(text: &[u8]) -> String {
    let mut out = String::new();
    for (row, bytes) in text.chunks(16).enumerate() {
        out.push_str(&format!("{:08x}: ", row * 16));
        for pair in bytes.chunks(2) {
            out.push_str(&hex(pair));
            out.push(' ');
        }
        let shown: String =
            bytes.iter().map(|b| if b.is_ascii_graphic() { char::from(*b) } else { '.' }).collect();
        out.push_str(&format!(" {shown}\n"));
    }
    out
}

/// Encodings under which every kind is found.
pub(crate) const ALL: &[Encode] = &[
    ("plain", |t| t.as_bytes().to_vec()),
    ("json string", |t| format!("{{\"out\":\"{}\"}}", json(t)).into_bytes()),
    ("json in json", |t| {
        format!("{{\"a\":\"{}\"}}", json(&format!("{{\"b\":\"{}\"}}", json(t)))).into_bytes()
    }),
    ("json in json in json", |t| {
        format!("\"{}\"", json(&format!("\"{}\"", json(&format!("\"{}\"", json(t)))))).into_bytes()
    }),
    ("percent", |t| each(t, |b| format!("%{b:02X}"))),
    ("unicode escapes", |t| each(t, |b| format!("\\u{b:04x}"))),
    ("hex escapes", |t| each(t, |b| format!("\\x{b:02x}"))),
    ("octal escapes", |t| each(t, |b| format!("\\{b:03o}"))),
    ("html decimal", |t| each(t, |b| format!("&#{b};"))),
    ("html hex", |t| each(t, |b| format!("&#x{b:x};"))),
    ("base64", |t| base64(t.as_bytes()).into_bytes()),
    ("base64url", |t| base64_url(t.as_bytes()).into_bytes()),
    ("base64 after one byte", |t| base64(format!(" {t}").as_bytes()).into_bytes()),
    ("base64 after two bytes", |t| base64(format!("> {t}").as_bytes()).into_bytes()),
    ("base64 wrapped", |t| {
        wrapped(&base64(format!("a longer text before it: {t} and after it").as_bytes()), 76).into_bytes()
    }),
    ("base64 twice", |t| base64(base64(t.as_bytes()).as_bytes()).into_bytes()),
    ("data in url path", |t| format!("https://h.example/p/{}", base64_url(t.as_bytes())).into_bytes()),
    ("hex", |t| hex(t.as_bytes()).into_bytes()),
    ("hex capitals", |t| hex(t.as_bytes()).to_uppercase().into_bytes()),
    ("hex with colons", |t| pairs(t, ":")),
    ("hex with blanks", |t| pairs(t, " ")),
    ("hex capitals with hyphens", |t| pairs(t, "-").to_ascii_uppercase()),
    ("hex with commas", |t| pairs(t, ",")),
    ("hex as numbers", |t| format!("0x{}", hex_joined(t, ", 0x")).into_bytes()),
    ("hex as numbers on lines", |t| {
        let numbers: Vec<String> = t.bytes().map(|b| format!("0x{b:02x},")).collect();
        numbers.chunks(12).map(|line| format!("    {}\n", line.join(" "))).collect::<String>().into_bytes()
    }),
    ("hex wrapped", |t| {
        wrapped(&hex(format!("a longer text before it: {t} and after it").as_bytes()), 64).into_bytes()
    }),
    ("form", |t| {
        let value: String = t
            .bytes()
            .map(|b| match b {
                b' ' => "+".to_owned(),
                b if b.is_ascii_alphanumeric() || b"-._~".contains(&b) => char::from(b).to_string(),
                b => format!("%{b:02X}"),
            })
            .collect();
        format!("a=1&d=%22{value}%22&z=2").into_bytes()
    }),
    ("gzip in base64", |t| base64(&gzip(t)).into_bytes()),
    ("zlib in base64", |t| base64(&zlib(t)).into_bytes()),
    ("gzip in hex", |t| hex(&gzip(t)).into_bytes()),
    ("utf16 little", |t| t.encode_utf16().flat_map(u16::to_le_bytes).collect()),
    ("utf16 big", |t| t.encode_utf16().flat_map(u16::to_be_bytes).collect()),
    ("utf16 in base64", |t| {
        base64(&t.encode_utf16().flat_map(u16::to_le_bytes).collect::<Vec<u8>>()).into_bytes()
    }),
    ("zero width", |t| t.chars().flat_map(|c| [c, '\u{200b}']).collect::<String>().into_bytes()),
    ("soft hyphens", |t| t.chars().flat_map(|c| [c, '\u{ad}']).collect::<String>().into_bytes()),
    ("colors", |t| {
        t.chars()
            .map(
                |c| {
                    if c == '\n' { "\n".to_owned() } else { format!("\x1b[3{}m{c}\x1b[0m", u32::from(c) % 8) }
                },
            )
            .collect::<String>()
            .into_bytes()
    }),
    ("hyperlink", |t| format!("\x1b]8;;https://e.org\x1b\\{t}\x1b]8;;\x1b\\").into_bytes()),
    ("overstrike", |t| {
        t.chars()
            .map(|c| if c.is_ascii_graphic() { format!("{c}\x08{c}") } else { c.to_string() })
            .collect::<String>()
            .into_bytes()
    }),
    ("full width", |t| {
        t.chars()
            .map(|c| if c.is_ascii_graphic() { char::from_u32(u32::from(c) + 0xfee0).unwrap() } else { c })
            .collect::<String>()
            .into_bytes()
    }),
    ("nul bytes", |t| t.bytes().flat_map(|b| [b, 0, 0]).collect()),
    ("xxd", |t| dump(t.as_bytes()).into_bytes()),
    ("quoted-printable", |t| t.replace('=', "=3D").into_bytes()),
];

/// Encodings under which kinds with a literal of their own are found.
pub(crate) const PREFIXED: &[Encode] = &[
    ("reversed", |t| t.bytes().rev().collect()),
    ("wrapped", |t| wrapped(t, t.len() / 2 + 1).into_bytes()),
    ("literals", |t| {
        let (a, b) = t.split_at(t.len() / 2);
        format!("x = \"{a}\" + \"{b}\";").into_bytes()
    }),
    ("literals on lines", |t| {
        let (a, b) = t.split_at(t.len() / 2);
        format!("x = (\"{a}\"\n     \"{b}\")").into_bytes()
    }),
];
