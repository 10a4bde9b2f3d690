//! The three engines give the same matches.
#![no_main]

use std::sync::OnceLock;

use libfuzzer_sys::fuzz_target;
use plugward_scanner::{Engine, Oracle};

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

fuzz_target!(|data: &[u8]| {
    static SET: OnceLock<Oracle> = OnceLock::new();
    let oracle = SET.get_or_init(|| Oracle::new(PATTERNS).expect("the patterns are good"));
    let naive = oracle.find(Engine::Naive, data);
    assert_eq!(naive, oracle.find(Engine::Stage1, data));
    assert_eq!(naive, oracle.find(Engine::Stage2, data));
});
