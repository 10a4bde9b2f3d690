//! Properties that hold for any input.

use std::num::NonZeroUsize;

use plugward_scanner::{
    CODES, Completeness, Content, Entry, EntryState, Profile, RoleHint, RuleFile, Rules, ScanLimits,
    ScanOptions, scan,
};
use plugward_types::{Finding, Severity};
use proptest::prelude::*;

use crate::common::{check, digest, report};

/// An independent count of line and column.
fn place(text: &[u8], at: usize) -> (u32, u32) {
    let (mut line, mut column, mut index) = (1, 1, 0);
    while index < at {
        let rest = &text[index..];
        let step = if rest.starts_with(b"\r\n") {
            2
        } else {
            rest.utf8_chunks().next().and_then(|c| c.valid().chars().next()).map_or(1, char::len_utf8)
        };
        let ends = matches!(rest[0], b'\n' | b'\r')
            || rest.starts_with("\u{2028}".as_bytes())
            || rest.starts_with("\u{2029}".as_bytes());
        index += step;
        if ends {
            (line, column) = (line + 1, 1);
        } else {
            column += 1;
        }
    }
    (line, column)
}

fn piece() -> impl Strategy<Value = Vec<u8>> {
    let known = prop::sample::select(vec![
        "eval(x)",
        "require('fs')",
        "'",
        "\"",
        "`",
        "${",
        "}",
        "{",
        "(",
        ")",
        "[",
        "]",
        "/*",
        "*/",
        "//",
        "/",
        "\n",
        "\r",
        "\r\n",
        "\u{2028}",
        "\u{202e}",
        "é",
        "漢",
        "\\",
        "\\u0065",
        "<",
        ">",
        "<!--",
        "import ",
        "from ",
        "a",
        "const x = ",
        "=> ",
        "process.env",
        "globalThis[",
        "fetch(",
        "\t",
        " ",
        "AKIA",
        "0x1f",
        "?.",
        "`${`",
        "\u{E0041}",
        "function ",
        "class A ",
        "return ",
        "as ",
        ": ",
        "= ",
        ";",
        ",",
        "\u{200b}",
        "child_process",
    ]);
    prop_oneof![8 => known.prop_map(|text| text.as_bytes().to_vec()), 1 => prop::collection::vec(any::<u8>(), 0..6)]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]
    #[test]
    fn any_bytes_give_a_report_with_right_places(pieces in prop::collection::vec(piece(), 0..60), ending in prop::sample::select(vec!["js", "ts", "tsx", "mjs", "md", "json", "py", "sh", "rs", "html", "bin"])) {
        let bytes = pieces.concat();
        let path = format!("a.{ending}");
        for profile in Profile::ALL {
            let report = report(profile, &[(&path, &bytes)]);
            prop_assert_eq!(report.files().len(), 1);
            for finding in report.findings() {
                prop_assert!(finding.span.start <= finding.span.end && finding.span.end <= bytes.len());
                let file = &report.files()[0];
                if file.state == EntryState::Scanned && matches!(ending, "js" | "ts" | "tsx" | "mjs" | "html") && std::str::from_utf8(&bytes[..finding.span.start]).is_ok() {
                    prop_assert_eq!((finding.line, finding.column), place(&bytes, finding.span.start), "{:?}", finding);
                }
            }
        }
    }

    #[test]
    fn neither_threads_nor_order_change_the_report(texts in prop::collection::vec(prop::collection::vec(piece(), 0..12), 1..8)) {
        let files: Vec<(String, Vec<u8>)> = texts.iter().enumerate().map(|(index, pieces)| (format!("f{index}.js"), pieces.concat())).collect();
        let entries: Vec<Entry<'_>> = files.iter().map(|(path, bytes)| Entry { path, content: Content::Bytes { bytes, digest: digest(bytes) }, role: RoleHint::NONE }).collect();
        let mut shuffled = entries.clone();
        shuffled.reverse();
        let mut options = ScanOptions::new(Profile::General);
        let one = scan(Rules::builtin(), &options, &entries).unwrap();
        for jobs in [2, 8] {
            options.jobs = NonZeroUsize::new(jobs).unwrap();
            prop_assert_eq!(&one, &scan(Rules::builtin(), &options, &shuffled).unwrap());
        }
    }
}

#[test]
fn nothing_is_skipped_by_name_folder_size_or_number() {
    let payload = "eval('x')";
    let filler = "let filler = 'some words that mean nothing';\n".repeat(30_000);
    let behind = format!("{filler}{payload}");
    for path in [
        "dist/a.js",
        "build/a.min.js",
        "vendor/a.js",
        "node_modules/x/a.js",
        "test/a.test.js",
        ".hidden/.a.js",
        "evals/a.js",
        "__tests__/a.js",
    ] {
        assert!(
            check(Profile::General, path, payload).iter().any(|line| line.contains("danger exec/eval")),
            "{path}"
        );
    }
    assert!(check(Profile::General, "a.js", &behind).iter().any(|line| line.contains("danger exec/eval")));
    let newlines = format!("{}{payload}", "\n".repeat(100_000));
    assert_eq!(check(Profile::General, "a.js", &newlines)[0], "100001:1 danger exec/eval");
    let long = format!("let a = '{}'; {payload}", "word ".repeat(60_000));
    assert!(check(Profile::General, "a.js", &long).iter().any(|line| line.contains("danger exec/eval")));
    let aliases: Vec<String> = (0..5000).map(|index| format!("const a{index} = b{index};\n")).collect();
    let aliases = aliases.concat();
    assert!(
        check(Profile::General, "a.js", &format!("{aliases}const z = eval; z('x')"))
            .iter()
            .any(|line| line.contains("danger exec/eval"))
    );
}

#[test]
fn mufflers_change_nothing() {
    let plain = check(Profile::General, "a.js", "eval('x')");
    for before in [
        "// rm -rf node_modules\n",
        "// never use eval, test, example, %s\n",
        "// nosec nosemgrep eslint-disable\n",
        "var s = '/*';\n",
        "var s = '//';\n",
        "var r = /\"/;\n",
        "var r = /[/*]/;\n",
        "/**/\n",
    ] {
        let found =
            check(Profile::General, "a.js", &format!("{before}eval('x') // example, test, never do this"));
        assert!(found.iter().any(|line| line == "2:1 danger exec/eval"), "{before}: {found:?}");
        assert_eq!(plain, ["1:1 danger exec/eval"]);
    }
    let many = "eval(y)\n".repeat(300);
    let report = report(Profile::StrictPlugin, &[("a.js", many.as_bytes())]);
    assert_eq!(report.summary().danger, 300);
    assert_eq!(report.findings().iter().filter(|finding| finding.rule.as_str() == "exec/eval").count(), 100);
}

#[test]
fn limits_are_said() {
    let mut options = ScanOptions::new(Profile::StrictPlugin);
    options.limits.file = 16;
    let bytes = b"let aaaaaaaaaaaa = 1; eval('x')";
    let entries = [Entry {
        path: "a.js",
        content: Content::Bytes { bytes, digest: digest(bytes) },
        role: RoleHint::NONE,
    }];
    let report = scan(Rules::builtin(), &options, &entries).unwrap();
    assert_eq!((report.files()[0].state, report.coverage()), (EntryState::Partial, Completeness::Partial));
    assert!(report.findings().iter().any(|finding: &Finding| finding.rule.as_str() == "coverage/unscanned"
        && finding.severity == Severity::Danger));
    options.limits = ScanLimits::DEFAULT;
    options.limits.entries = 0;
    assert_eq!(scan(Rules::builtin(), &options, &entries).unwrap_err().code(), "scan/too-many");
    options.limits = ScanLimits::DEFAULT;
    options.limits.bytes = 3;
    assert_eq!(scan(Rules::builtin(), &options, &entries).unwrap_err().code(), "scan/too-large");
    options.limits = ScanLimits::DEFAULT;
    let twice = [entries[0], entries[0]];
    let error = scan(Rules::builtin(), &options, &twice).unwrap_err();
    assert_eq!(error.code(), "scan/duplicate-path");
    assert!(CODES.iter().any(|(code, help)| *code == error.code() && *help == error.help()));
    for content in [Content::Special, Content::Unreadable { why: "denied" }] {
        let report =
            scan(Rules::builtin(), &options, &[Entry { path: "p", content, role: RoleHint::NONE }]).unwrap();
        assert_eq!(report.coverage(), Completeness::Partial);
        assert_eq!(report.summary().danger, 1);
    }
    let link = scan(
        Rules::builtin(),
        &options,
        &[Entry { path: "p", content: Content::Link, role: RoleHint::NONE }],
    )
    .unwrap();
    assert_eq!((link.files()[0].state, link.findings().len()), (EntryState::Link, 0));
    assert_eq!(scan(Rules::builtin(), &options, &[]).unwrap().coverage(), Completeness::Complete);
}

pub(crate) const RULE: &str = r#"version = 1
[[rule]]
id = "local/word"
title = "A word"
langs = ["js"]
severity = { strict-plugin = "danger", general = "warning" }
why = "It is a word."
fix = "Drop it."
match = [ { kind = "bytes", pattern = 'forbidden' } ]
bad = [ { path = "a.js", text = "forbidden" }, { path = "b.js", text = "x.forbidden()" } ]
good = [ { path = "a.js", text = "allowed" }, { path = "b.js", text = "1" } ]
"#;

fn load(text: &str) -> Result<Rules, plugward_scanner::RuleError> {
    Rules::with(&[RuleFile { name: "own.toml", text }])
}

#[test]
fn rule_files_are_refused_with_their_place() {
    assert!(load(RULE).unwrap().self_check().is_ok());
    for (from, to, code) in [
        ("version = 1", "version = 2", "rules/version"),
        ("local/word", "exec/word", "rules/bad-id"),
        ("local/word", "local/Word", "rules/bad-id"),
        ("why =", "wy = \"x\"\nwhy =", "rules/unknown-field"),
        ("kind = \"bytes\"", "kind = \"bites\"", "rules/parse"),
        ("'forbidden'", "'forbidden.*'", "rules/unbounded"),
        ("'forbidden'", "'(?:forbidden){500}'", "rules/unbounded"),
        ("'forbidden'", "'[a-z]{3}'", "rules/no-literal"),
        ("'forbidden'", "'forb('", "rules/parse"),
        // What a regex may do and the automata that search do not.
        ("'forbidden'", "'(?u:\\b)forbidden'", "rules/parse"),
        ("good = [ { path = \"a.js\", text = \"allowed\" },", "good = [", "rules/too-few-cases"),
        ("langs = [\"js\"]", "langs = [\"jss\"]", "rules/parse"),
    ] {
        let error = load(&RULE.replace(from, to)).unwrap_err();
        assert_eq!(error.code(), code, "{to}: {error}");
        assert!(!error.help().is_empty());
        assert!(code == "rules/version" || error.line() > 0, "{to}: {error}");
        assert!(CODES.iter().any(|(known, _)| *known == error.code()));
    }
    assert_eq!(
        load(&RULE.replace("text = \"forbidden\"", "text = \"fine\""))
            .unwrap()
            .self_check()
            .unwrap_err()
            .code(),
        "rules/dead"
    );
    assert_eq!(
        load(&RULE.replace("text = \"allowed\"", "text = \"forbidden\""))
            .unwrap()
            .self_check()
            .unwrap_err()
            .code(),
        "rules/eager"
    );
    let twice = format!("{RULE}{}", RULE.replace("version = 1\n", ""));
    assert_eq!(load(&twice).unwrap_err().code(), "rules/duplicate-id");
}
