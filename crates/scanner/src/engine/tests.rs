use std::collections::BTreeSet;

use proptest::prelude::*;
use regex_syntax::hir::{Class, HirKind};

use super::*;
use crate::rules::Rules;

/// Finds all matches of a pattern without using literals.
fn plain(pattern: &Pattern, index: u16, hay: &[u8]) -> Vec<RawMatch> {
    let regex = compile(&pattern.source).unwrap();
    regex
        .find_iter(hay)
        .map(|found| RawMatch { pattern: index, start: found.start(), end: found.end() })
        .collect()
}

fn assert_plain(set: &PatternSet, hay: &[u8]) {
    let mut found = Vec::new();
    set.find(hay, u8::MAX, &mut found);
    found.sort_unstable();
    let mut wanted: Vec<RawMatch> =
        set.patterns.iter().zip(0..).flat_map(|(pattern, index)| plain(pattern, index, hay)).collect();
    wanted.sort_unstable();
    assert_eq!(found, wanted, "{}", hay.escape_ascii());
}

fn set(sources: &[&str]) -> PatternSet {
    let patterns = sources.iter().map(|source| Pattern::new(0, u8::MAX, (*source).to_owned()));
    PatternSet { patterns: patterns.collect(), ..PatternSet::default() }
}

fn sets() -> [&'static PatternSet; 4] {
    let rules = Rules::builtin();
    [&rules.bytes, &rules.text, &rules.hidden, &rules.code]
}

const PATTERNS: &[&str] = &[
    r"\beval\s{0,3}\(",
    r"(?i)system\(f'\{",
    r"AKIA[A-Z0-9]{4}",
    r"x{0,6}abcd[a-z]{1,3}",
    r"(?:foot|footer|ball)s?",
    r"[a-c]{2,5}needle[^\n]{0,9}end",
    r"q\d",
    r"^line four$",
    r"token(?:=|: )[a-f0-9]{3,8}\b",
    r"aaaa",
    r"\b(?:read|reading)[^\n]{0,30}\b(?:secrets|api[ _-]?keys?)\b[^\n]{0,20}(?:into|https?://)[a-z]",
    r"\b[a-z]{1,9}://[a-z.]{1,20}:[a-z]{1,9}@",
    r"[a-z]?::[a-z]{1,3}:",
    r"aa[b-z]{1,2}aa[^q]{0,3}(?:,,)[a-z]",
    r"(?:pass|passed)[=:]{1,3}[^q]",
    r"\bfoot[^\n]{0,20}needle\b",
    r"(?:eval|ball) [^.\n]{1,40}\b(?:abcd|end)[a-z]{0,16}(?:x|aaaa)",
    r"Function(?:s|\()",
    r"(?-u:\xE2\x80[\xAA-\xAE])",
];

const PIECES: &[&str] = &[
    "eval",
    "EVAL(",
    "os.System(f'{",
    "AKIA",
    "AKIA1234",
    "abcd",
    "xxabcde",
    "foot",
    "footers",
    "ball",
    "bcneedle",
    "needle",
    "end",
    "q7",
    "line four",
    "\n",
    "token=",
    "token: abc",
    "aaaa",
    "aaa",
    "é",
    " ",
    "\u{202e}",
    "x",
    "(",
    "Function",
    "functions",
    "read",
    " reading ",
    "secrets ",
    "api_key ",
    "into",
    "http://h",
    "://",
    "ftp",
    ":",
    "@",
    "pass=",
    "passed:",
    ",,",
    ",",
    "a",
];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1500))]
    #[test]
    fn matches_are_those_of_a_plain_regex(pieces in prop::collection::vec(prop::sample::select(PIECES), 0..40)) {
        static SET: OnceLock<PatternSet> = OnceLock::new();
        assert_plain(SET.get_or_init(|| set(PATTERNS)), pieces.concat().as_bytes());
    }
}

/// Returns the texts of all cases, cut into parts and repeated in other orders.
fn corpus() -> Vec<Vec<u8>> {
    let cases = Rules::builtin().cases().iter().flat_map(|cases| cases.bad.iter().chain(&cases.good));
    let texts: Vec<&[u8]> = cases.flat_map(|case| &case.files).map(|(_, bytes)| bytes.as_slice()).collect();
    let mut hay = texts.join(&b' ');
    hay.extend(texts.iter().rev().flat_map(|text| text.split_at(text.len() / 2).1));
    hay.chunks(8 << 10).flat_map(|chunk| [chunk.to_vec(), chunk.to_ascii_lowercase()]).collect()
}

#[test]
fn each_built_in_pattern_matches_as_a_plain_regex_does() {
    let corpus = corpus();
    let mut found = BTreeSet::new();
    for (set, number) in sets().into_iter().zip(0..) {
        let plain: Vec<Regex> =
            set.patterns.iter().map(|pattern| compile(&pattern.source).unwrap()).collect();
        for hay in &corpus {
            let mut own = Vec::new();
            set.find(hay, u8::MAX, &mut own);
            own.sort_unstable();
            let of = |(regex, index): (&Regex, u16)| -> Vec<RawMatch> {
                let raw = regex.find_iter(hay);
                raw.map(|each| RawMatch { pattern: index, start: each.start(), end: each.end() }).collect()
            };
            let mut wanted: Vec<RawMatch> = plain.iter().zip(0..).flat_map(of).collect();
            wanted.sort_unstable();
            assert_eq!(own, wanted);
            found.extend(own.iter().map(|each| (number, each.pattern)));
        }
    }
    assert!(found.len() > 90, "few patterns match: {}", found.len());
}

#[test]
fn a_text_that_is_full_of_literals_gives_the_same_matches() {
    for text in
        ["foot", "aaaa", "read secrets ", "reading api keys into", "evalabcd", "://", "pass=", "eval ("]
    {
        assert_plain(&set(PATTERNS), text.repeat(3000).as_bytes());
    }
}

#[test]
fn only_patterns_whose_literals_are_there_are_compiled() {
    // `q` alone is too common to be searched for.
    let rare: Vec<&str> = PATTERNS.iter().copied().filter(|source| *source != r"q\d").collect();
    let set = set(&rare);
    let compiled = || set.patterns.iter().filter(|pattern| pattern.lazy.get().is_some()).count();
    set.find(b"A plain text with nothing in it.", u8::MAX, &mut Vec::new());
    assert_eq!(compiled(), 0);
    set.find(b"token=12345", u8::MAX, &mut Vec::new());
    assert_eq!(compiled(), 1);
}

/// Returns `true` if a repetition in a pattern can take a line feed.
fn repeats_line_feeds(hir: &Hir) -> bool {
    let has = |hir: &Hir| match hir.kind() {
        HirKind::Class(Class::Bytes(class)) => {
            class.ranges().iter().any(|range| (range.start()..=range.end()).contains(&b'\n'))
        }
        HirKind::Class(Class::Unicode(class)) => {
            class.ranges().iter().any(|range| (range.start()..=range.end()).contains(&'\n'))
        }
        _ => false,
    };
    match hir.kind() {
        HirKind::Repetition(repetition) => {
            (repetition.max != Some(1) && has(&repetition.sub)) || repeats_line_feeds(&repetition.sub)
        }
        HirKind::Capture(capture) => repeats_line_feeds(&capture.sub),
        HirKind::Concat(parts) | HirKind::Alternation(parts) => parts.iter().any(repeats_line_feeds),
        _ => false,
    }
}

#[test]
fn no_pattern_over_text_goes_on_in_the_next_piece() {
    let rules = Rules::builtin();
    let patterns = rules.text.patterns.iter().chain(&rules.hidden.patterns);
    let over: Vec<&str> = patterns
        .map(|known| &*known.source)
        .filter(|source| repeats_line_feeds(&parse(source).unwrap()))
        .collect();
    assert_eq!(over, [""; 0], "pieces of text are parted by line feeds");
}
