//! The pattern engine gives the matches of a plain regex.
#![no_main]

use std::sync::OnceLock;

use libfuzzer_sys::fuzz_target;
use plugward_scanner::Engine;
use regex_automata::meta::Regex;
use regex_automata::util::syntax;

const PATTERNS: &[&str] = &[
    r"\beval\s{0,3}\(",
    r"child_process",
    r"(?i)system\(f'\{",
    r"AKIA[A-Z0-9]{4}",
    r"x{0,6}abcd[a-z]{1,3}",
    r"(?:foot|footer|ball)s?",
    r"[a-c]{2,5}needle[^\n]{0,9}end",
    r"^line four$",
    r"aaaa",
];

fn plain(source: &&str) -> Regex {
    let config = syntax::Config::new().utf8(false).unicode(false).multi_line(true);
    Regex::builder().syntax(config).build(source).expect("the patterns are good")
}

fuzz_target!(|data: &[u8]| {
    static SET: OnceLock<(Engine, Vec<Regex>)> = OnceLock::new();
    let (engine, plain) = SET.get_or_init(|| (Engine::new(PATTERNS), PATTERNS.iter().map(plain).collect()));
    let each = |(regex, index): (&Regex, u16)| {
        regex.find_iter(data).map(move |found| (index, found.start(), found.end())).collect::<Vec<_>>()
    };
    let mut wanted: Vec<_> = plain.iter().zip(0..).flat_map(each).collect();
    wanted.sort_unstable();
    assert_eq!(engine.find(data), wanted);
});
