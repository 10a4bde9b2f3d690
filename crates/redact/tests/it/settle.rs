//! A reader who watches a stream sees complete lines, and settling changes no byte.

use proptest::prelude::*;

use crate::classes::{ALL, PREFIXED};
use crate::common::{FIREWALL, bytes};
use crate::plant::{MAKERS, Rng};

/// Pushes chunks and settles after each. Returns the output, the findings and the maximum of held bytes.
fn watched(chunks: &[&[u8]]) -> (Vec<u8>, Vec<plugward_redact::SecretFinding>, usize) {
    let mut stream = FIREWALL.stream();
    let (mut out, mut pushed, mut held) = (Vec::new(), 0, 0);
    let mut markers = 0;
    let mut findings = Vec::new();
    for chunk in chunks {
        stream.push(chunk, &mut out);
        stream.settle(&mut out);
        pushed += chunk.len();
        for found in stream.take_findings() {
            markers += found.at.len();
            pushed -= found.raw_len;
            findings.push(found);
        }
        let now = (pushed + markers).saturating_sub(out.len());
        if now > held {
            println!("{now} bytes held after {:?}", String::from_utf8_lossy(chunk));
        }
        held = held.max(now);
    }
    findings.extend(stream.finish(&mut out));
    (out, findings, held)
}

/// Lines of terminals, builds, services, tests and servers, without a secret or the beginning of one.
const QUIET: &[&str] = &[
    "Server started on http://localhost:8080/\n",
    "   \u{1b}[1m\u{1b}[32mCompiling\u{1b}[0m serde v1.0.228\n",
    "2026-03-01T10:00:00.123Z INFO [api] done request_id=123e4567-e89b-42d3-a456-426614174000 status=200 in 12 ms\n",
    "commit 5a248a8f0e1d2c3b4a5968778695a4b3c2d1e0f9\n",
    "{\"ts\":\"2026-03-01T10:00:00Z\",\"data\":{\"tokens\":12},\"msg\":\"said \\\"no\\\" \\n\",\"ok\":true}\n",
    "data: {\"choices\":[{\"delta\":{\"content\":\"Hello\"}}]}\n",
    "\n",
    "test result: ok. 12 passed; 0 failed; finished in 0.02s\r\n",
    "GET /assets/app-5d41402a.js?v=3&lang=de%20DE HTTP/1.1\" 304 0 \"-\" \"Mozilla/5.0 (X11; Linux x86_64)\"\n",
    "Enter password: \nUsage: tool --token <TOKEN> --password FILE\n",
    "  File \"/usr/lib/python3.11/json/decoder.py\", line 355, in raw_decode\n",
    "\u{1f680} fertig \u{2014} \u{43f}\u{440}\u{438}\u{432}\u{435}\u{442} \u{4f60}\u{597d}\n",
    "-rw-r--r-- 1 root root 4096 Mar  1 10:00 Cargo.toml\n",
    "diff --git a/src/main.rs b/src/main.rs\nindex 1a2b3c4..5d6e7f8 100644\n@@ -1,6 +1,9 @@\n-    let a = 1;\n+    let a = 2;\n",
];

#[test]
fn after_a_quiet_line_nothing_is_held() {
    let mut lines = Vec::new();
    for round in 0..400 {
        lines.push(QUIET[round % QUIET.len()].as_bytes());
    }
    let (out, found, held) = watched(&lines);
    println!("held after a quiet line: {held} bytes");
    assert!(out == lines.concat());
    assert_eq!((found.len(), held), (0, 0));
}

/// A text in UTF-16, in one order of bytes or the other.
fn wide(text: &str, order: fn(u16) -> [u8; 2]) -> Vec<u8> {
    text.encode_utf16().flat_map(order).collect()
}

#[test]
fn after_a_quiet_line_in_utf16_nothing_is_held() {
    for order in [u16::to_le_bytes, u16::to_be_bytes] {
        for mark in ["", "\u{feff}"] {
            let mut lines = vec![wide(&format!("{mark}{}", QUIET[0]), order)];
            lines.extend((1..400).map(|round| wide(QUIET[round % QUIET.len()], order)));
            let whole: Vec<&[u8]> = lines.iter().map(Vec::as_slice).collect();
            let (out, found, held) = watched(&whole);
            assert!(out == lines.concat());
            assert_eq!((found.len(), held), (0, 0));
            // In pieces as from a pipe, at most a line and the piece are held.
            let text = lines.concat();
            for size in [1, 7, 64] {
                let pieces: Vec<&[u8]> = text[..8192].chunks(size).collect();
                let (out, _, held) = watched(&pieces);
                assert!(out == text[..8192]);
                let longest = QUIET.iter().flat_map(|lines| lines.lines()).map(str::len).max().unwrap();
                assert!(held <= 2 * (longest + 2) + 64, "{held}");
            }
        }
    }
}

#[test]
fn a_line_in_utf16_with_a_secret_goes_out_redacted_at_once() {
    let key = MAKERS.iter().find(|(name, ..)| *name == "anthropic").unwrap().2(&mut Rng::new(3)).secret;
    for order in [u16::to_le_bytes, u16::to_be_bytes] {
        let lines =
            ["hello you out there\n".to_owned(), format!("the key is {key}, thanks\n"), "bye\n".to_owned()];
        let lines = lines.map(|line| wide(&line, order));
        let (out, found, held) = watched(&[&lines[0], &lines[1], &lines[2]]);
        let expected = "hello you out there\nthe key is [REDACTED:anthropic], thanks\nbye\n";
        assert_eq!((out, found.len(), held), (wide(expected, order), 1, 0));
    }
}

#[test]
fn a_line_in_utf16_that_may_go_on_is_held_until_the_next_one() {
    let mut stream = FIREWALL.stream();
    let mut out = Vec::new();
    let mut step = |chunk: &str| {
        stream.push(&wide(chunk, u16::to_le_bytes), &mut out);
        stream.settle(&mut out);
        String::from_utf16(&out.chunks(2).map(|two| u16::from_le_bytes([two[0], two[1]])).collect::<Vec<_>>())
            .unwrap()
    };
    assert_eq!(step("one more line\ntw"), "one more line\n");
    assert_eq!(step(concat!("o\na half of gh", "p_abc\n")), "one more line\ntwo\n");
    assert_eq!(step("is no key.\n"), concat!("one more line\ntwo\na half of gh", "p_abc\nis no key.\n"));
    assert!(step(concat!("-----BEGIN ", "PRIVATE KEY-----\nMIIB\n")).ends_with("is no key.\n"));
}

#[test]
fn settling_utf16_at_any_cut_changes_no_byte() {
    for seed in 0..6 {
        let text = String::from_utf8_lossy(&mixed(seed, 6)).into_owned();
        for order in [u16::to_le_bytes, u16::to_be_bytes] {
            let text = wide(&text, order);
            let lines: Vec<usize> = (1..text.len()).filter(|at| text[at - 1] == b'\n').collect();
            same(&text, &lines).unwrap();
            same(&text, &(1..text.len()).step_by(101).collect::<Vec<_>>()).unwrap();
        }
    }
}

#[test]
fn a_key_behind_the_prefix_of_a_log_is_held_and_gone() {
    let planted = MAKERS.iter().find(|(name, ..)| *name == "rsa key").unwrap().2(&mut Rng::new(3)).text();
    for prefix in ["2026-03-01T10:00:00Z INFO [api] ", "web-1  | ", "   12 | ", "> ", "# ", "+"] {
        let text: String = planted.lines().map(|line| format!("{prefix}{line}\n")).collect();
        let text = format!("{prefix}before\n{text}{prefix}after\n");
        let lines: Vec<&[u8]> = text.as_bytes().split_inclusive(|byte| *byte == b'\n').collect();
        let (out, found, _) = watched(&lines);
        let out = String::from_utf8(out).unwrap();
        crate::common::gone(planted.as_bytes(), out.as_bytes(), prefix);
        assert_eq!(found.len(), 1, "{out}");
        assert!(
            out.starts_with(&format!("{prefix}before\n")) && out.ends_with(&format!("{prefix}after\n")),
            "{out}"
        );
        // Nothing of it is written before its end has arrived.
        let mut stream = FIREWALL.stream();
        let mut early = Vec::new();
        for line in &lines[..lines.len() - 2] {
            stream.push(line, &mut early);
            stream.settle(&mut early);
        }
        let early = String::from_utf8(early).unwrap();
        assert!(!early.contains("BEGIN"), "{early}");
        assert!(early.starts_with(&format!("{prefix}before\n")), "{early}");
    }
}

#[test]
fn a_wrapped_value_behind_the_prefix_of_a_log_is_held_and_gone() {
    let key = MAKERS.iter().find(|(name, ..)| *name == "anthropic").unwrap().2(&mut Rng::new(3)).secret;
    for prefix in ["2026-03-01T10:00:00Z INFO [api] ", "web-1  | ", "   12 | "] {
        let rows: Vec<String> = key
            .as_bytes()
            .chunks(40)
            .map(|row| format!("{prefix}{}\n", String::from_utf8_lossy(row)))
            .collect();
        let text = format!("{prefix}before it.\n{}{prefix}after, with blanks\n", rows.concat());
        let cuts: Vec<usize> = (1..text.len()).filter(|at| text.as_bytes()[at - 1] == b'\n').collect();
        same(text.as_bytes(), &cuts).unwrap();
        let lines: Vec<&[u8]> = text.as_bytes().split_inclusive(|byte| *byte == b'\n').collect();
        let (out, ..) = watched(&lines);
        crate::common::gone(key.as_bytes(), &out, prefix);
    }
}

#[test]
fn a_line_with_a_secret_goes_out_redacted_at_once() {
    let key = MAKERS.iter().find(|(name, ..)| *name == "anthropic").unwrap().2(&mut Rng::new(3)).secret;
    let line = format!("the key is {key}, thanks\n");
    let (out, found, held) = watched(&[b"hello\n", line.as_bytes(), b"bye\n"]);
    assert_eq!(String::from_utf8_lossy(&out), "hello\nthe key is [REDACTED:anthropic], thanks\nbye\n");
    assert_eq!((found.len(), held), (1, 0));
}

#[test]
fn a_line_that_may_go_on_is_held_until_the_next_one() {
    let mut stream = FIREWALL.stream();
    let mut out = Vec::new();
    let mut step = |chunk: &str| {
        stream.push(chunk.as_bytes(), &mut out);
        stream.settle(&mut out);
        String::from_utf8(out.clone()).unwrap()
    };
    assert_eq!(step("one\ntw"), "one\n");
    assert_eq!(step("o\n"), "one\ntwo\n");
    assert_eq!(step(concat!("a half of gh", "p_abc\n")), "one\ntwo\n");
    assert_eq!(step("is no key.\n"), concat!("one\ntwo\na half of gh", "p_abc\nis no key.\n"));
    assert_eq!(step("data:\n  a: 1\n"), concat!("one\ntwo\na half of gh", "p_abc\nis no key.\n"));
    assert!(step("---\n").ends_with("data:\n  a: 1\n---\n"));
}

/// Harmless lines and secrets in every class, one after the other.
fn mixed(seed: u64, pieces: usize) -> Vec<u8> {
    let mut rng = Rng::new(seed);
    let mut text = Vec::new();
    for _ in 0..pieces {
        for _ in 0..rng.below(4) {
            text.extend_from_slice(QUIET[rng.below(QUIET.len())].as_bytes());
        }
        let (_, _, make) = MAKERS[rng.below(MAKERS.len())];
        let classes = if rng.below(4) == 0 { PREFIXED } else { ALL };
        let (_, write) = classes[rng.below(classes.len())];
        let planted = make(&mut rng);
        text.extend_from_slice(&write(&planted.text()));
        if rng.below(3) == 0 {
            text.extend(format!(" and {} again", planted.secret).into_bytes());
        }
        if rng.below(8) > 0 {
            text.push(b'\n');
        }
    }
    text
}

fn same(text: &[u8], cuts: &[usize]) -> Result<(), TestCaseError> {
    let mut chunks = Vec::new();
    let mut from = 0;
    for cut in cuts.iter().copied().chain([text.len()]) {
        let cut = cut.clamp(from, text.len());
        chunks.push(&text[from..cut]);
        from = cut;
    }
    let (out, found, _) = watched(&chunks);
    let (whole, expected) = bytes(text);
    if out != whole {
        let place = out.iter().zip(&whole).take_while(|(a, b)| a == b).count();
        let near = |text: &[u8]| {
            String::from_utf8_lossy(&text[place.saturating_sub(120)..(place + 120).min(text.len())])
                .into_owned()
        };
        return Err(TestCaseError::fail(format!("at {place}: {:?}\nnot {:?}", near(&out), near(&whole))));
    }
    prop_assert_eq!(found, expected);
    Ok(())
}

#[test]
fn settling_after_every_line_of_every_class_changes_no_byte() {
    for (class, write) in ALL.iter().chain(PREFIXED) {
        for (name, _, make) in MAKERS {
            let mut text = b"first line\n".to_vec();
            text.extend(write(&make(&mut Rng::new(41)).text()));
            text.extend_from_slice(b"\nlast line\nand one more\n");
            let cuts: Vec<usize> = (1..text.len()).filter(|at| text[at - 1] == b'\n').collect();
            if let Err(error) = same(&text, &cuts) {
                panic!("{name} / {class}: {error}");
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 32, ..ProptestConfig::default() })]

    #[test]
    fn settling_at_any_cut_changes_no_byte(seed in 0_u64..100_000, mut cuts in prop::collection::vec(0_usize..6000, 0..60)) {
        let text = mixed(seed, 12);
        cuts.sort_unstable();
        same(&text, &cuts)?;
    }

    #[test]
    fn settling_at_every_line_changes_no_byte(seed in 0_u64..100_000) {
        let text = mixed(seed, 12);
        let cuts: Vec<usize> = (1..text.len()).filter(|at| text[at - 1] == b'\n').collect();
        same(&text, &cuts)?;
    }
}

/// Seeds that failed once. Their texts change with the list of kinds, hence the next test.
#[test]
fn settling_at_every_line_of_found_seeds_changes_no_byte() {
    for seed in [711, 43_431] {
        let text = mixed(seed, 12);
        let cuts: Vec<usize> = (1..text.len()).filter(|at| text[at - 1] == b'\n').collect();
        same(&text, &cuts).unwrap();
    }
}

#[test]
fn settling_between_the_literals_of_a_split_key_changes_no_byte() {
    for (name, _, make) in MAKERS {
        for seed in 0..40 {
            let secret = make(&mut Rng::new(seed)).secret.replace('\n', "");
            let cut = secret.len() / 2;
            let text = format!("x = (\"{}\"\n\"{}\")\nlast line\n", &secret[..cut], &secret[cut..]);
            let cuts: Vec<usize> = (1..text.len()).filter(|at| text.as_bytes()[at - 1] == b'\n').collect();
            same(text.as_bytes(), &cuts).unwrap_or_else(|error| panic!("{name} {seed}: {error}"));
            if *name == "airtable" || *name == "azure ad" {
                crate::common::gone(secret.as_bytes(), &bytes(text.as_bytes()).0, name);
            }
        }
    }
}

#[test]
fn settling_over_the_borders_of_blocks_changes_no_byte() {
    for seed in 0..2 {
        let mut text = Vec::new();
        while text.len() < 700_000 {
            text.extend(mixed(seed + text.len() as u64, 3));
            text.extend(b"a quiet line of a log with a number 12\n".repeat(200));
        }
        let cuts: Vec<usize> = (1..text.len()).step_by(9973).collect();
        same(&text, &cuts).unwrap();
    }
}
