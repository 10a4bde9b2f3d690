//! Files that could exhaust the stack or the time. Each run has to end with a report.

use plugward_fence::FenceReport;
use proptest::prelude::{ProptestConfig, any, proptest};
use std::fs;

use crate::memory::{look, look_at};

#[track_caller]
fn refused(code: &str, what: &str) {
    let report = look(code);
    assert_eq!(report.exit_code(), 2, "{what}");
    assert!(report.findings().iter().any(|one| one.rule.code() == "F08"), "{what}");
}

/// Checks that the run ends with any report.
fn answered(report: &FenceReport) {
    assert!(report.exit_code() <= 2);
    assert!(report.summary_line().contains("blind spots"));
}

#[test]
fn nesting_is_refused_before_it_hurts() {
    let wrap =
        |open: &str, close: &str, n: usize| format!("fn f() {{ {}1{}; }}", open.repeat(n), close.repeat(n));
    refused(&wrap("(", ")", 100_000), "parentheses");
    refused(&wrap("[", "]", 2_000), "brackets");
    refused(&wrap("{", "}", 40_000), "blocks");
    refused(&wrap("!", "", 100_000), "prefix operators");
    refused(&wrap("-", "", 5_000), "minus");
    refused(&wrap("&mut ", "", 5_000), "references");
    refused(&wrap("return ", "", 5_000), "returns");
    refused(&wrap("|x| ", "", 5_000), "closures");
    refused(&wrap("move || ", "", 5_000), "moving closures");
    refused(&format!("type A = {}u8{};", "Vec<".repeat(20_000), ">".repeat(20_000)), "generics");
    refused(&format!("type A = {}u8;", "&".repeat(20_000)), "reference types");
    refused(&format!("type A = {}u8;", "*const ".repeat(20_000)), "pointer types");
    refused(&format!("type A = {}u8;", "fn() -> ".repeat(20_000)), "function types");
    refused(&wrap("1 + ", "", 50_000), "a sum");
    refused(&format!("fn f() {{ x{}; }}", ".a()".repeat(50_000)), "a chain of calls");
    refused(&format!("fn f() {{ x{}; }}", "?".repeat(50_000)), "question marks");
    refused(&format!("fn f() {{ x{}; }}", " as u8".repeat(50_000)), "casts");
    refused(&format!("fn f() {{ {} b; }}", "a = ".repeat(50_000)), "assignments");
    refused(&format!("fn f() {{ if a {{}} {} }}", "else if b {}".repeat(50_000)), "else if");
    refused(&format!("fn f() {{ m!({}1{}) }}", "(".repeat(90_000), ")".repeat(90_000)), "inside a macro");
}

#[test]
fn tokens_that_could_be_types_and_values_end() {
    let many = |code: &str| answered(&look(&format!("use caps::*; {code}")));
    many(&format!("m! {{ @ {} }}", "it: NetCapability = ".repeat(5_000)));
    many(&format!("m! {{ @ it: NetCapability = {} 1 }}", "!".repeat(100_000)));
    many(&format!("m! {{ @ it: {} NetCapability = 1 }}", "&".repeat(100_000)));
    many(&format!("macro_rules! m {{ ($t:ty) => {{ {} }} }}", "let it: $t = ".repeat(5_000)));
    many(&format!("macro_rules! m {{ ($t:ty) => {{ {} }} }}", "fn f() -> $t { f() } ".repeat(2_000)));
    many(&format!("macro_rules! m {{ ($t:ty) => {{ {} }} }}", "$(".repeat(500) + &")*".repeat(500)));
    many(&format!("{} {}", "macro_rules! m { () => {".repeat(100), "} }".repeat(100)));
    many(&format!(
        "#[derive(serde::Deserialize)] #[serde(remote = \"{}u8\")] struct S {{ one: NetCapability }}",
        "&".repeat(100_000)
    ));
    many(&format!("struct S {{ #[serde(default = \"{}\")] one: NetCapability }}", "a::<".repeat(50_000)));
    many(&format!(
        "type T0 = NetCapability; {}",
        (1..300).map(|n| format!("type T{n} = (T{}, T{});", n - 1, n - 1)).collect::<Vec<_>>().concat()
    ));
    many(&format!(
        "{} fn f() {{ let x: H0 = unsafe {{ std::mem::zeroed() }}; }}",
        (0..500)
            .map(|n| format!("struct H{n} {{ a: H{}, b: H{} }} ", n + 1, n + 2))
            .collect::<Vec<_>>()
            .concat()
    ));
}

#[test]
fn long_is_not_deep() {
    let plain = |code: &str| {
        let report = look(code);
        assert_eq!(report.exit_code(), 0, "{:?} {:?}", report.findings().first(), report.undecided());
    };
    plain(&format!("//! line\n{}", "//! line\n".repeat(20_000)));
    plain(&format!("const A: &[u32] = &[{}];", "1 << 3, ".repeat(20_000)));
    plain(&(0..5_000).map(|n| format!("fn f{n}() {{ g(); }}\n")).collect::<Vec<_>>().concat());
    plain(&format!("m! {{ {} }}", "a b ".repeat(50_000)));
    plain(&format!("fn f() {{ {} }}", "if a { b(); } ".repeat(20_000)));
    plain(&format!("fn f() -> u32 {{ x{} }}", ".a()".repeat(500)));
    plain(&format!(
        "enum E {{ {} }}",
        (0..5_000).map(|n| format!("A{n} = {n} << 1,")).collect::<Vec<_>>().concat()
    ));
}

#[test]
fn bytes_that_are_no_source() {
    let files: [(&str, &[u8]); 5] = [
        ("not UTF-8", b"fn f() { \xff }"),
        ("NUL", b"fn f() { \0 }"),
        ("half a string", b"fn f() { \"abc }"),
        ("half a comment", b"/* /* */ fn f() {}"),
        ("a lone quote", b"'"),
    ];
    for (what, bytes) in files {
        let report = look_at(&[("app/src/main.rs", bytes)]);
        assert_eq!(report.exit_code(), 2, "{what}");
    }
    for bytes in [&b""[..], b"\xef\xbb\xbf", b"#!/usr/bin/env run\nfn f() {}", b"#![allow(x)]"] {
        assert_eq!(look_at(&[("app/src/main.rs", bytes)]).exit_code(), 0, "{bytes:?}");
    }
}

#[test]
fn modules_that_include_themselves_end() {
    let report = look_at(&[
        ("app/src/main.rs", b"#[path = \"main.rs\"] mod again; include!(\"other.rs\");"),
        (
            "app/src/other.rs",
            b"include!(\"other.rs\"); mod a { pub use super::b::*; } mod b { pub use super::a::*; use x; }",
        ),
    ]);
    answered(&report);
}

#[test]
fn the_corpus_of_the_fuzz_target_is_answered() {
    let dir = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/fence/corpus");
    let mut seen = 0;
    for entry in fs::read_dir(dir).unwrap() {
        let bytes = fs::read(entry.unwrap().path()).unwrap();
        answered(&look_at(&[("app/src/main.rs", &bytes)]));
        seen += 1;
    }
    assert!(seen >= 5, "{seen} files in the corpus");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 32, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_bytes_are_answered(bytes in proptest::collection::vec(any::<u8>(), 0..400)) {
        answered(&look_at(&[("app/src/main.rs", &bytes)]));
    }

    #[test]
    fn any_tokens_are_answered(picks in proptest::collection::vec(0_usize..TOKENS.len(), 0..60)) {
        let code: Vec<&str> = picks.into_iter().map(|pick| TOKENS[pick]).collect();
        answered(&look(&code.join(" ")));
    }

    #[test]
    fn a_literal_is_found_wherever_it_stands(
        picks in proptest::collection::vec(0_usize..AROUND.len(), 0..6),
    ) {
        let mut code = "caps::PairCapability(1)".to_owned();
        for pick in picks {
            code = format!("({})", AROUND[pick].replace('@', &code));
        }
        let report = look(&format!("fn f() {{ let _x = {code}; }}"));
        let rules: Vec<&str> = report.findings().iter().map(|one| one.rule.code()).collect();
        proptest::prop_assert_eq!(rules, ["F01"], "{}", code);
    }
}

const TOKENS: &[&str] = &[
    "fn",
    "f",
    "(",
    ")",
    "{",
    "}",
    "let",
    "x",
    "=",
    ";",
    "caps",
    "::",
    "NetCapability",
    "<",
    ">",
    "&",
    "mut",
    "|",
    "||",
    "match",
    "if",
    "else",
    "=>",
    "..",
    "1",
    "\"s\"",
    "'a",
    "!",
    "#",
    "[",
    "]",
    "$",
    "macro_rules",
    "impl",
    "for",
    "use",
    "as",
    "*",
    "struct",
    "enum",
    "union",
    "unsafe",
    "async",
    "move",
    "return",
    ",",
    ".",
    "?",
    "Self",
    "crate",
    "super",
    "type",
    "where",
    "dyn",
    "const",
    "static",
    "extern",
    "mod",
    "pub",
    "include",
    "r#type",
    "matches",
];

const AROUND: &[&str] = &[
    "(@)",
    "{ @ }",
    "[@]",
    "(@, 1)",
    "Some(@)",
    "|| @",
    "move || { @ }",
    "if a { @ } else { b }",
    "match a { _ => @ }",
    "unsafe { @ }",
    "async { @ }",
    "&@",
    "&mut @",
    "vec![@]",
    "dbg!(@)",
    "loop { break @; }",
    "Some(@)?",
    "f(1, @)",
    "S { a: @ }",
    "S { ..@ }",
    "x.m(@)",
    "@.0",
    "format!(\"{}\", @)",
    "[@; 3]",
    "(@) as u8",
    "-@",
    "!@",
    "a[@]",
    "@ == b",
    "b + @",
    "{ let y = @; y }",
    "return @",
    "const { @ }",
    "while @ { }",
    "for a in @ { }",
    "@ .. b",
    "{ fn g() { @; } }",
    "{ static X: u8 = @; }",
    "{ struct S; impl S { fn g() { @; } } }",
    "{ @; }",
];
