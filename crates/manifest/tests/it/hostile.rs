//! Tests of every class of hostile manifest in every dialect: code, JSON pointer, line, column, message and help.

use plugward_manifest::{Dialect, Manifest, ManifestErrors, MapFiles, PluginContext, read, read_jp_entry};

use crate::support::{error_codes, notice_codes, read_one};

/// The valid manifest of one dialect, to which a test adds one line.
struct Base {
    dialect: Dialect,
    /// The key of the name.
    name: &'static str,
    /// The last line, which is valid.
    rest: &'static str,
    /// A line with `@` where a path belongs, and the pointer to it; `None` if the dialect has no paths.
    path: Option<(&'static str, &'static str)>,
}

const SKILLS: Option<(&str, &str)> = Some((r#""skills": "@","#, "/skills"));
const NAMED: &str = r#""name": "a", "version": "1.0.0""#;

const BASES: &[Base] = &[
    Base { dialect: Dialect::Claude, name: "name", rest: NAMED, path: SKILLS },
    Base { dialect: Dialect::Codex, name: "name", rest: NAMED, path: SKILLS },
    Base { dialect: Dialect::Cursor, name: "name", rest: NAMED, path: SKILLS },
    Base { dialect: Dialect::Kimi, name: "name", rest: NAMED, path: SKILLS },
    Base { dialect: Dialect::Grok, name: "name", rest: NAMED, path: SKILLS },
    Base {
        dialect: Dialect::Gemini,
        name: "name",
        rest: NAMED,
        path: Some((r#""contextFileName": "@","#, "/contextFileName")),
    },
    Base {
        dialect: Dialect::Hyperagent,
        name: "name",
        rest: r#""name": "a", "version": "1.0.0", "description": "d", "hostModules": ["m"]"#,
        path: None,
    },
    Base {
        dialect: Dialect::Gnoma,
        name: "name",
        rest: NAMED,
        path: Some((
            r#""capabilities": {"hooks": [{"name": "h", "event": "stop", "type": "command", "exec": "@"}]},"#,
            "/capabilities/hooks/0/exec",
        )),
    },
    Base { dialect: Dialect::Jp, name: "id", rest: r#""id": "a", "description": "d""#, path: None },
];

impl Base {
    fn read(&self, bytes: &[u8]) -> Result<Manifest, ManifestErrors> {
        match self.dialect.main_file() {
            None => read_jp_entry("entry.json", bytes),
            Some(main) => {
                let files = MapFiles::new().with(main, bytes).with("index.js", "export {}");
                read(self.dialect, &files, &PluginContext::for_directory("a"))
            }
        }
    }

    /// Returns the manifest with the given line as its second one.
    fn text(&self, line: &str) -> String {
        format!("{{\n{line}\n{}\n}}", self.rest)
    }

    /// Compares the first error with the expected one, and collects the differences.
    fn says(&self, bytes: &[u8], expected: &Said<'_>, wrong: &mut Vec<String>) {
        let Err(errors) = self.read(bytes) else {
            wrong.push(format!("{}: {expected:?}: it was read", self.dialect));
            return;
        };
        let error = errors.first();
        let place = (error.pointer(), error.line(), error.column());
        let holds = (error.code(), place)
            == (expected.code, (expected.pointer, expected.line, expected.column))
            && error.message().contains(expected.message)
            && error.help().contains(expected.help)
            && !error.help().is_empty()
            && error.file() == self.dialect.main_file().unwrap_or("entry.json");
        if !holds {
            let help = error.help();
            wrong.push(format!(
                "{}: {expected:?}\n  {} {place:?} {error}\n  {help}",
                self.dialect,
                error.code()
            ));
        }
    }
}

#[derive(Debug)]
struct Said<'a> {
    code: &'static str,
    pointer: &'a str,
    line: u32,
    column: u32,
    message: &'static str,
    help: &'static str,
}

/// An invalid line, its code, the pointer and column in that line, and parts of the message and help.
type Row = (&'static str, &'static str, (&'static str, u32), &'static str, &'static str);

const TEXTS: &[Row] = &[
    (
        r#""x": 1, "x": 2,"#,
        "manifest/duplicate-key",
        ("/x", 9),
        "expected each key once, got `x` again (first at line 2, column 1)",
        "keep one of the two keys",
    ),
    (
        r#""x": 1, "\u0078": 2,"#,
        "manifest/duplicate-key",
        ("/x", 9),
        "expected each key once, got `x` again (first at line 2, column 1)",
        "keep one of the two keys",
    ),
    (
        r#""x": [{"y": {"z": 1, "z": 2}}],"#,
        "manifest/duplicate-key",
        ("/x/0/y/z", 22),
        "got `z` again (first at line 2, column 14)",
        "keep one of the two keys",
    ),
    ("// c", "manifest/syntax", ("", 1), "comment", ""),
    ("/* c */", "manifest/syntax", ("", 1), "comment", ""),
    ("# c", "manifest/syntax", ("", 1), "", ""),
    (
        r#""x": [1,],"#,
        "manifest/syntax",
        ("/x", 8),
        "expected another value after the comma, got the closing bracket",
        "remove the last comma",
    ),
    ("'x': 1,", "manifest/syntax", ("", 1), "", ""),
    (r#""x": NaN,"#, "manifest/syntax", ("/x", 6), "", ""),
    ("\"x\": \"a\u{1}b\",", "manifest/syntax", ("/x", 8), "", ""),
    ("\"x\": \"\0\",", "manifest/syntax", ("/x", 7), "", ""),
    (r#""x": "\ud800","#, "manifest/surrogate", ("/x", 7), "", ""),
    (
        "\"x\u{202e}\": 1,",
        "manifest/hidden-text",
        ("/x\u{202e}", 1),
        "expected visible characters, got U+202E",
        "remove the invisible and control characters",
    ),
];

#[test]
fn invalid_json_is_refused() {
    let mut wrong = Vec::new();
    for base in BASES {
        base.read(base.text("").as_bytes()).unwrap();
        for &(line, code, (pointer, column), message, help) in TEXTS {
            let said = Said { code, pointer, line: 2, column, message, help };
            base.says(base.text(line).as_bytes(), &said, &mut wrong);
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn marks_sizes_and_depths() {
    let mut wrong = Vec::new();
    for base in BASES {
        let good = base.text("");
        let file = |code, line, column, message| Said { code, pointer: "", line, column, message, help: "" };
        base.says(format!("\u{feff}{good}").as_bytes(), &file("manifest/bom", 1, 1, ""), &mut wrong);
        let utf16: Vec<u8> = good.encode_utf16().flat_map(u16::to_le_bytes).collect();
        base.says(&utf16, &file("manifest/not-utf8", 1, 1, "UTF-16"), &mut wrong);
        let mut bytes = base.text(r#""x": "?","#).into_bytes();
        let at = bytes.iter().position(|byte| *byte == b'?').unwrap();
        bytes[at] = 0xff;
        base.says(&bytes, &file("manifest/not-utf8", 2, 7, ""), &mut wrong);
        let max = if base.dialect == Dialect::Jp { 4 << 20 } else { 1 << 20 };
        let large = format!("{good}{}", " ".repeat(max - good.len()));
        base.read(large.as_bytes()).unwrap();
        // The first byte over the limit is in the line of the last brace.
        let column = u32::try_from(max - good.len()).unwrap() + 2;
        base.says(
            format!("{large} ").as_bytes(),
            &file("manifest/too-large", 4, column, "bytes"),
            &mut wrong,
        );
        // The object itself is the first of 32 levels.
        let nested = |depth: usize| base.text(&format!("\"x\": {}{},", "[".repeat(depth), "]".repeat(depth)));
        base.read(nested(31).as_bytes()).unwrap();
        let pointer = format!("/x{}", "/0".repeat(31));
        let deep = Said { pointer: &pointer, ..file("manifest/too-deep", 2, 37, "32") };
        base.says(nested(32).as_bytes(), &deep, &mut wrong);
        let string = |length: usize| base.text(&format!("\"x\": \"{}\",", "s".repeat(length)));
        base.read(string(256 << 10).as_bytes()).unwrap();
        let long = Said { pointer: "/x", ..file("manifest/string-too-long", 2, 6, "") };
        base.says(string((256 << 10) + 1).as_bytes(), &long, &mut wrong);
        let many = base.text(&format!("\"x\": [{}0],", "0,".repeat(199_999)));
        let error = base.read(many.as_bytes()).unwrap_err();
        assert_eq!(error.first().code(), "manifest/too-many", "{}", base.dialect);
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn names_of_the_wrong_type_or_with_hidden_text() {
    let mut wrong = Vec::new();
    for base in BASES {
        let pointer = format!("/{}", base.name);
        let key = format!("\"{}\": ", base.name);
        let rest = base.rest.replace(&format!("{key}\"a\""), "\"zz\": 1");
        let column = u32::try_from(key.len()).unwrap() + 1;
        for (value, code, message) in [
            ("7", "manifest/type", "expected a string, got a number"),
            ("null", "manifest/type", "expected a string, got null"),
            ("[]", "manifest/type", "expected a string, got a list"),
            ("{}", "manifest/type", "expected a string, got an object"),
            ("\"../a\"", "manifest/name", ""),
            ("\"a\\u0000\"", "manifest/hidden-text", "got U+0000"),
            ("\"a\u{200b}\"", "manifest/hidden-text", "got U+200B"),
        ] {
            let text = format!("{{\n{key}{value},\n{rest}\n}}");
            let said = Said { code, pointer: &pointer, line: 2, column, message, help: "" };
            base.says(text.as_bytes(), &said, &mut wrong);
        }
        // A known key in two cases. gnoma reads the first as the name, like Go, so the second is a
        // duplicate.
        let (pointer, line) =
            if base.dialect == Dialect::Gnoma { (pointer, 3) } else { (pointer.to_uppercase(), 2) };
        let text = base.text(&format!("\"{}\": \"b\",", base.name.to_uppercase()));
        let said =
            Said { code: "manifest/case-variant", pointer: &pointer, line, column: 1, message: "", help: "" };
        base.says(text.as_bytes(), &said, &mut wrong);
        let errors = base.read(text.as_bytes()).unwrap_err();
        assert!(errors.first().message().contains(&base.name.to_uppercase()), "{errors}");
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn paths_outside_the_plugin_are_refused() {
    let mut wrong = Vec::new();
    for base in BASES {
        let Some((line, pointer)) = base.path else { continue };
        let column = u32::try_from(line.find("\"@").unwrap()).unwrap() + 1;
        base.read(base.text(&line.replace('@', "./a..b")).as_bytes()).unwrap();
        for (path, code) in [
            ("", "manifest/path-empty"),
            ("./a/../b", "manifest/path-parent"),
            ("..", "manifest/path-parent"),
            ("/a", "manifest/path-absolute"),
            ("//host/share", "manifest/path-absolute"),
            ("~/a", "manifest/path-home"),
            ("C:/a", "manifest/path-drive"),
            ("c:a", "manifest/path-drive"),
            ("C:\\\\a", "manifest/path-backslash"),
            ("..\\\\a", "manifest/path-backslash"),
            ("a\\u0000b", "manifest/path-chars"),
            ("a\\u001bb", "manifest/path-chars"),
            ("a\u{85}b", "manifest/path-chars"),
            ("file:a", "manifest/path-url"),
            ("${HOME}/a", "manifest/path-variable"),
            ("./$OTHER/a", "manifest/path-variable"),
            ("./a\u{202e}b", "manifest/hidden-text"),
        ] {
            if path.is_empty() && base.dialect == Dialect::Gnoma {
                // As in Go: an empty exec counts as missing.
                continue;
            }
            let text = base.text(&line.replace('@', path));
            let said = Said { code, pointer, line: 2, column, message: "", help: "" };
            base.says(text.as_bytes(), &said, &mut wrong);
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Go's decoder turns `null` into an empty hook, which gnoma refuses because name and exec are missing. Here `null` is
/// refused directly. gnoma parses `timeout` as a Go duration, so other values are reported.
#[test]
fn hooks_of_gnoma_that_its_host_would_not_take() {
    let manifest =
        |hook: &str| format!(r#"{{"name": "a", "version": "1.0.0", "capabilities": {{"hooks": [{hook}]}}}}"#);
    let errors = read_one(Dialect::Gnoma, &manifest("null")).unwrap_err();
    assert_eq!((errors.first().code(), errors.first().pointer()), ("manifest/type", "/capabilities/hooks/0"));
    let timeout = |text: &str| {
        manifest(&format!(
            r#"{{"name": "h", "event": "stop", "type": "command", "exec": "./x", "timeout": {text}}}"#
        ))
    };
    for (text, holds) in [
        ("30s", true),
        ("1m30s", true),
        ("1.5h", true),
        (".5s", true),
        ("1.s", true),
        ("-10ms", true),
        ("+3us", true),
        ("3\u{b5}s", true),
        ("3\u{3bc}s", true),
        ("0", true),
        ("-0", true),
        ("", true),
        ("30", false),
        ("30 s", false),
        (".s", false),
        ("s", false),
        ("1d", false),
        ("1h-3m", false),
        ("-", false),
        ("--1s", false),
        ("1S", false),
        ("1.2.3s", false),
    ] {
        let manifest = read_one(Dialect::Gnoma, &timeout(&format!("\"{text}\""))).unwrap();
        assert_eq!(!notice_codes(&manifest).contains(&"manifest/type"), holds, "{text}");
        // The hook could still run, so it is shown as written.
        assert_eq!(
            manifest.surface().iter().filter(|item| item.fact("timeout") == Some(text)).count(),
            usize::from(!text.is_empty())
        );
    }
    assert_eq!(error_codes(&read_one(Dialect::Gnoma, &timeout("30"))), ["manifest/type"]);
}
