//! Rust: names by every kind of import, texts of all kinds, and code that runs in a build.

use plugward_scanner::{Profile, ScanReport};
use plugward_types::{Finding, Severity};
use proptest::prelude::*;

use crate::common::{check, report, worst};

fn found<'a>(report: &'a ScanReport, rule: &str) -> Vec<&'a Finding> {
    report.findings().iter().filter(|finding| finding.rule.as_str() == rule).collect()
}

/// Ways to start a shell. `§` marks the start of what has to be found.
const STARTS: &[&str] = &[
    "use std::process::Command; fn main() { match std::env::var_os(\"PAYLOAD\") { Some(w) => { §Command::new(w).output(); } _ => {} } }",
    "use std::process::Command; fn main() { if let Some(w) = std::env::var_os(\"PAYLOAD\") { §Command::new(w).output(); } }",
    "fn main() { §std::process::Command::new(\"sh\").status(); }",
    "fn main() { ::§std::process::Command::new(\"sh\"); }",
    "fn main() { §std :: process\n:: Command /* a */ :: new // b\n(\"sh\"); }",
    "use std::process::Command; fn main() { §Command::new(\"sh\"); }",
    "use std::process::Command as C; fn main() { §C::new(\"sh\"); }",
    "use std::process::{Command as C, Stdio}; fn main() { §C::new(\"sh\"); }",
    "use std::{fs, process::{self as p}}; fn main() { §p::Command::new(\"sh\"); }",
    "use std::{fs, process::{self, Command}}; fn main() { §process::Command::new(\"sh\"); }",
    "use std::process::*; fn main() { §Command::new(\"sh\"); }",
    "use std::*; fn main() { §process::Command::new(\"sh\"); }",
    "use ::std::process::Command; fn main() { §Command::new(\"sh\"); }",
    "use {std::process::Command}; fn main() { §Command::new(\"sh\"); }",
    "use std as s; use s::process as p; use p::Command as C; fn main() { §C::new(\"sh\"); }",
    "use p::Command as C; use s::process as p; use std as s; fn main() { §C::new(\"sh\"); }",
    "extern crate std as s; fn main() { §s::process::Command::new(\"sh\"); }",
    "pub(crate) use std::process::Command; fn main() { §crate::Command::new(\"sh\"); }",
    "mod a { pub use std::process::Command; } fn main() { §a::Command::new(\"sh\"); }",
    "mod a { pub use std::process::Command; } use a::Command as C; fn main() { §C::new(\"sh\"); }",
    "type C = std::process::Command; fn main() { §C::new(\"sh\"); }",
    "use std::process::Command; fn main() { let f = §Command::new; f(\"sh\"); }",
    "use std::process::Command; fn main() { [\"sh\"].iter().map(§Command::new); }",
    "use std::process::Command; fn main() { <§Command>::new(\"sh\"); }",
    "use std::process::Command; fn main() { §Command::new::<&str>(\"sh\"); }",
    "use std::process::Command; fn main() { §r#Command::r#new(\"sh\"); }",
    "use std::process::Command; fn main() { §Command::new(r\"sh\"); }",
    "use std::process::Command; fn main() { §Command::new(r##\"sh\"##); }",
    "use std::process::Command; fn main() { §Command::new(concat!(\"s\", \"h\")); }",
    "use std::process::Command; fn main() { §Command::new(\"\\x73h\"); }",
    "use std::process::Command; fn main() { §Command::new(name()); }",
    "use std::process::Command; fn main() { §Command::new(\"/tmp/git\"); }",
    "use std::process::Command; fn main() { let git = \"git\"; let git = x(); §Command::new(git); }",
    "use std::process::Command; fn run(git: &str) { §Command::new(git); } fn main() { let git = \"git\"; }",
    "use std::process::Command; fn main() { §Command::new(if a { \"git\" } else { \"sh\" }); }",
    "use std::process::Command; macro_rules! m { () => { §Command::new(\"sh\") } }",
    "use std::process::Command; fn main() { vec![§Command::new(\"sh\")]; }",
    "use std::process::Command; fn main() { assert!(§Command::new(\"sh\").status().is_ok()); }",
    "use std::process::Command; #[a(§Command::new(\"sh\"))] fn main() {}",
    "use std::process::Command; /* /* */ \" */ fn main() { §Command::new(\"sh\"); } // \"",
    "use std::process::Command; fn main() { let a = '\"'; §Command::new(\"sh\"); let b = '\"'; }",
    "use std::process::Command; fn f<'a>(a: &'a str) { let b = '\\''; §Command::new(\"sh\"); }",
    "use std::process::Command; fn main() { 'a: loop { §Command::new(\"sh\"); break 'a } }",
    "use std::process::Command; fn main() { let s = r#\"\"// \"#; §Command::new(\"sh\"); }",
    "use std::process::Command; fn main() { let s = \"\\\\\"; §Command::new(\"sh\"); }",
    "use std::process::Command; fn main() { let s = b'\\''; let t = b\"/*\"; §Command::new(\"sh\"); }",
    "use std::process::Command; fn main() { let s = c\"//\"; let t = br#\"\"#; §Command::new(\"sh\"); }",
    "use std::process::Command; fn main() { let s = \"unclosed; §Command::new(sh); }",
    "use std::process::Command; fn main() { /* unclosed §Command::new(sh); }",
    "#!/usr/bin/env cargo\nuse std::process::Command; fn main() { §Command::new(\"sh\"); }",
    "#![allow(a)] use std::process::Command; fn main() { §Command::new(\"sh\"); }",
    "\u{feff}use std::process::Command; fn main() { §Command::new(\"sh\"); }",
    "use std::process::Command; fn main() { f::<§std::process::Command>(Command::new); }",
    "use tokio::process::Command; fn main() { §Command::new(\"sh\"); }",
];

#[test]
fn every_way_to_start_a_program_in_a_build_is_found() {
    let mut wrong = Vec::new();
    for marked in STARTS {
        let text = marked.replace('§', "");
        let start = marked.find('§').unwrap();
        for path in ["build.rs", "sub/crate/build.rs"] {
            let report = report(Profile::StrictPlugin, &[(path, text.as_bytes())]);
            let found = found(&report, "rs/build-process");
            let here = |finding: &&&Finding| finding.span.start >= start && finding.span.end <= text.len();
            let as_wanted = found
                .iter()
                .find(here)
                .is_some_and(|finding| finding.severity == Severity::Danger && !finding.is_hidden());
            if !as_wanted {
                wrong.push(format!("{text}: {:?}", check(Profile::General, path, &text)));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

const BENIGN: &[&str] = &[
    "use std::process::Command; fn main() { Command::new(\"git\").arg(\"log\"); }",
    "use std::process::Command; fn main() { let git = \"git\"; Command::new(git); }",
    "use std::process::Command; const GIT: &str = \"git\"; fn main() { Command::new(GIT); }",
    "use std::process::Command; fn main() { Command::new(std::env::var(\"RUSTC\").unwrap()); }",
    "use std::process::Command; fn main() { Command::new(std::env::var_os(\"CC\").unwrap_or_else(|| \"cc\".into())); }",
    "use std::process::Command; fn main() { Command::new(env!(\"CARGO\")); }",
    "use std::process::Command; fn main() { let r = std::env::var(\"RUSTC\").unwrap(); let w = std::env::var(\"RUSTC_WRAPPER\").ok(); let mut c = if let Some(w) = w { let mut c = Command::new(w); c.arg(&r); c } else { Command::new(&r) }; c.output(); }",
    "use clap::Command; fn main() { Command::new(\"sh\"); }",
    "struct Command; impl Command { fn new(a: &str) {} } fn main() { Command::new(\"sh\"); }",
    "mod process { pub struct Command; } fn main() { process::Command::new(\"sh\"); }",
    "// std::process::Command::new(\"sh\")\nfn main() {}",
    "/* /* */ std::process::Command::new(\"sh\") */ fn main() {}",
    "/// std::process::Command::new(\"sh\")\nfn main() {}",
    "fn main() { let s = \"std::process::Command::new(x)\"; }",
    "fn main() { let s = r#\"\" std::process::Command::new(x)\"#; }",
    "fn main() { std::process::exit(1); std::process::id(); }",
    "use std::process::Stdio; fn main() { Stdio::null(); }",
];

#[test]
fn a_benign_twin_is_below_danger() {
    let mut wrong = Vec::new();
    for text in BENIGN {
        if worst("build.rs", text) == Some(Severity::Danger) {
            wrong.push(format!("{text}: {:?}", check(Profile::StrictPlugin, "build.rs", text)));
        }
    }
    // What is no build may start what it likes: other rules look at that.
    for marked in STARTS.iter().take(20) {
        let text = marked.replace('§', "");
        if check(Profile::General, "src/main.rs", &text).iter().any(|line| line.contains("rs/build")) {
            wrong.push(text);
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn what_runs_in_a_build_is_known_by_the_manifests() {
    let code: &[u8] = b"pub fn f() { std::net::TcpStream::connect(a); }";
    let manifests: [(&[u8], &str); 9] = [
        (b"[lib]\nproc-macro = true\n", "m/src/lib.rs"),
        (b"[lib]\nproc_macro = true\n", "m/src/deep/x.rs"),
        (b"lib = { proc-macro = true }\n", "m/src/lib.rs"),
        (b"lib.\"proc\\u002dmacro\" = true\n", "m/src/lib.rs"),
        (b"[package]\nbuild = \"tools/gen.rs\"\n", "m/tools/gen.rs"),
        (b"[build-dependencies]\nown = { path = \"../own\" }\n", "own/src/lib.rs"),
        (b"[build-dependencies.own]\npath = \"own\"\n", "m/own/src/lib.rs"),
        (b"broken = = [\nproc-macro = true\n", "m/src/lib.rs"),
        (b"[package]\nname = \"m\"\n", "m/build.rs"),
    ];
    for (manifest, path) in manifests {
        let report = report(Profile::StrictPlugin, &[("m/Cargo.toml", manifest), (path, code)]);
        let text = String::from_utf8_lossy(manifest);
        assert_eq!(found(&report, "rs/build-network").len(), 1, "{text} {path}: {:?}", report.findings());
    }
    for (manifest, path) in [
        (b"[lib]\nproc-macro = false\n".as_slice(), "m/src/lib.rs"),
        (b"[package]\nname = \"proc-macro\"\n", "m/src/lib.rs"),
        (b"[lib]\nproc-macro = true\n", "other/src/lib.rs"),
        (b"[dependencies]\nown = { path = \"../own\" }\n", "own/src/lib.rs"),
    ] {
        let report = report(Profile::StrictPlugin, &[("m/Cargo.toml", manifest), (path, code)]);
        assert_eq!(found(&report, "rs/build-network").len(), 0, "{path}: {:?}", report.findings());
    }
}

#[test]
fn modules_of_a_build_script_run_with_it() {
    let code: &[u8] = b"pub fn f() { std::net::TcpStream::connect(a); }";
    for (script, path) in [
        ("mod net;", "net.rs"),
        ("mod net;", "net/mod.rs"),
        ("#[path = \"other/place.rs\"] mod net;", "other/place.rs"),
        ("include!(\"part.in\");", "part.in"),
        ("include!{\"./part.in\"}", "part.in"),
    ] {
        let report = report(Profile::StrictPlugin, &[("build.rs", script.as_bytes()), (path, code)]);
        assert_eq!(found(&report, "rs/build-network").len(), 1, "{script} {path}: {:?}", report.findings());
    }
    let report = report(
        Profile::StrictPlugin,
        &[("build.rs", b"// mod net;\nlet s = \"mod net;\";"), ("net.rs", code)],
    );
    assert_eq!(found(&report, "rs/build-network").len(), 0);
}

#[test]
fn deep_nesting_is_said_and_what_is_beyond_it_is_read() {
    for depth in [4096, 4097, 100_000] {
        let text = format!(
            "fn main() {{ {}std::process::Command::new(\"sh\"){} }}",
            "(".repeat(depth),
            ")".repeat(depth)
        );
        let report = report(Profile::StrictPlugin, &[("build.rs", text.as_bytes())]);
        assert_eq!(found(&report, "rs/build-process").len(), 1, "{depth}");
        assert_eq!(found(&report, "scan/partial").is_empty(), depth < 4096, "{depth}");
    }
}

fn piece() -> impl Strategy<Value = Vec<u8>> {
    let known = prop::sample::select(vec![
        "use ",
        "std",
        "::",
        "process",
        "Command",
        "new",
        "(",
        ")",
        "{",
        "}",
        "[",
        "]",
        "\"",
        "'",
        "r#",
        "#",
        "b\"",
        "c\"",
        "br##\"",
        "/*",
        "*/",
        "//",
        "\n",
        "as ",
        "*",
        ",",
        ";",
        "let ",
        "= ",
        "concat!",
        "env!",
        "extern ",
        "fn ",
        "mod ",
        "\\",
        "\\x41",
        "'a",
        "<",
        ">",
        "fs::write",
        "&",
        ".",
        "é",
        "\u{200b}",
        "#[path = ",
        "macro_rules! ",
        "$a",
        "self",
        "crate",
        "type ",
        "|",
        "!",
        "a",
        "OUT_DIR",
        "include!",
    ]);
    prop_oneof![8 => known.prop_map(|text| text.as_bytes().to_vec()), 1 => prop::collection::vec(any::<u8>(), 0..6)]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]
    #[test]
    fn any_bytes_give_spans_inside(pieces in prop::collection::vec(piece(), 0..80)) {
        let bytes = pieces.concat();
        let report = report(Profile::StrictPlugin, &[("build.rs", &bytes), ("Cargo.toml", &bytes)]);
        for finding in report.findings() {
            prop_assert!(finding.span.start <= finding.span.end && finding.span.end <= bytes.len());
        }
    }
}
