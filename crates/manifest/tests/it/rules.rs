//! Tests of the rules for paths, names, versions, keys and hidden text, through the public API.

use plugward_manifest::{CommandSources, Pinning, read_marketplace};
use plugward_manifest::{Dialect, ManifestErrors, MapFiles, PluginContext, UnknownKeys, WarningLevel, read};
use proptest::prelude::*;

use crate::support::{error_codes, notice_codes, read_one};

fn quoted(text: &str) -> String {
    serde_json::to_string(text).unwrap()
}

/// Reads a path in `skills`, and returns the error or the path.
fn path(text: &str) -> Result<String, &'static str> {
    let manifest = format!(r#"{{"name": "a", "version": "1.0.0", "skills": {}}}"#, quoted(text));
    match read_one(Dialect::Claude, &manifest) {
        Ok(manifest) => Ok(manifest.surface()[0].name().to_owned()),
        Err(errors) => Err(errors.first().code()),
    }
}

#[test]
fn paths_in_the_order_of_the_rules() {
    for (text, expected) in [
        ("./a/b", Ok("a/b")),
        ("a//b/./c/", Ok("a/b/c")),
        ("./", Ok("")),
        (".", Ok("")),
        ("./a..b", Ok("a..b")),
        ("./..a/b..", Ok("..a/b..")),
        ("./a b/é", Ok("a b/é")),
        ("./a$", Ok("a$")),
        ("./$1", Ok("$1")),
        ("${CLAUDE_PLUGIN_ROOT}/a", Ok("a")),
        ("$CLAUDE_PLUGIN_ROOT/a", Ok("a")),
        ("${CLAUDE_PLUGIN_ROOT}", Ok("")),
        ("./%2e%2e/a", Ok("%2e%2e/a")),
        ("", Err("manifest/path-empty")),
        ("a\0/..", Err("manifest/path-chars")),
        ("a\n", Err("manifest/path-chars")),
        ("a\u{85}", Err("manifest/path-chars")),
        ("..\\a", Err("manifest/path-backslash")),
        ("\\\\host\\share", Err("manifest/path-backslash")),
        ("/a/..", Err("manifest/path-absolute")),
        ("//host/share", Err("manifest/path-absolute")),
        ("~/a", Err("manifest/path-home")),
        ("~root", Err("manifest/path-home")),
        ("C:/a", Err("manifest/path-drive")),
        ("c:", Err("manifest/path-drive")),
        ("file:a", Err("manifest/path-url")),
        ("https://example.org/../a", Err("manifest/path-url")),
        ("${HOME}/..", Err("manifest/path-variable")),
        ("./a/$HOME", Err("manifest/path-variable")),
        ("${CLAUDE_PLUGIN_ROOT}x/a", Err("manifest/path-variable")),
        ("${CLAUDE_PLUGIN_DATA}/a", Err("manifest/path-variable")),
        ("./${CLAUDE_PLUGIN_ROOT}/a", Err("manifest/path-variable")),
        ("..", Err("manifest/path-parent")),
        ("./a/../b", Err("manifest/path-parent")),
        ("${CLAUDE_PLUGIN_ROOT}/../a", Err("manifest/path-parent")),
        ("./a\u{202e}b", Err("manifest/hidden-text")),
    ] {
        assert_eq!(path(text).as_deref(), expected.as_ref().map(|path| &**path), "{text:?}");
    }
    assert_eq!(path(&format!("./{}", "x/".repeat(2048))), Err("manifest/path-too-long"));
    assert!(path(&format!("./{}", "x/".repeat(2046))).is_ok());
}

#[test]
fn names_and_versions() {
    for (name, holds) in [
        ("a", true),
        ("A.b_c-9", true),
        ("9", true),
        (&"x".repeat(128), true),
        (&"x".repeat(129), false),
        ("", false),
        (".a", false),
        ("-a", false),
        ("a..b", false),
        ("a b", false),
        ("a/b", false),
        ("é", false),
        ("a\u{200b}", false),
    ] {
        let text = format!(r#"{{"name": {}, "version": "1.0.0"}}"#, quoted(name));
        let codes = error_codes(&read_one(Dialect::Claude, &text));
        assert_eq!(codes.is_empty(), holds, "{name}");
        assert!(codes.is_empty() || codes.contains(&"manifest/name"), "{name}: {codes:?}");
    }
    for (version, noticed) in [
        ("\"1.2.3\"", false),
        ("\"1.2.3-rc.1+build.5\"", false),
        ("null", false),
        ("\"1.2\"", true),
        ("\"01.2.3\"", true),
        ("\"1.2.3-01\"", true),
        ("\"v1.2.3\"", true),
        ("\"latest\"", true),
        ("\"\"", true),
    ] {
        let text = format!(r#"{{"name": "a", "version": {version}}}"#);
        let manifest = read_one(Dialect::Claude, &text).unwrap();
        assert_eq!(notice_codes(&manifest) == ["manifest/version"], noticed, "{version}");
    }
    let long = format!(r#"{{"name": "a", "version": "{}"}}"#, "1".repeat(65));
    assert_eq!(error_codes(&read_one(Dialect::Claude, &long)), ["manifest/version"]);
    assert_eq!(error_codes(&read_one(Dialect::Claude, r#"{"name": "a", "version": 1}"#)), ["manifest/type"]);
}

#[test]
fn wrong_types_are_errors_for_commands_and_notices_elsewhere() {
    for (body, errors, notices) in [
        (r#""author": 7"#, &[][..], &["manifest/type"][..]),
        (r#""keywords": {"a": 1}"#, &[], &["manifest/type"]),
        (r#""description": []"#, &[], &["manifest/type"]),
        (r#""homepage": 7"#, &[], &["manifest/type"]),
        (r#""mcpServers": 7"#, &["manifest/type"], &[]),
        (r#""mcpServers": {"s": {"command": 7}}"#, &["manifest/type"], &[]),
        (r#""mcpServers": {"mcpServers": {"s": 7}}"#, &["manifest/type"], &[]),
        (r#""mcpServers": {"s": {"command": "x", "args": "y"}}"#, &["manifest/type"], &[]),
        (r#""mcpServers": {"s": {"command": "x", "args": [7]}}"#, &["manifest/type"], &[]),
        (r#""mcpServers": {"s": {"command": "x", "env": {"K": []}}}"#, &["manifest/type"], &[]),
        (r#""lspServers": {"s": {"command": "x", "args": {}}}"#, &["manifest/type"], &[]),
        (r#""monitors": [{"name": "m"}]"#, &["manifest/missing-key"], &[]),
        (r#""monitors": [7]"#, &["manifest/type"], &[]),
        (r#""commands": {"a": 1}"#, &["manifest/type"], &[]),
        (r#""agents": [7]"#, &["manifest/type"], &[]),
        (r#""outputStyles": null"#, &["manifest/type"], &[]),
        (r#""channels": [{}]"#, &["manifest/missing-key"], &[]),
        (r#""experimental": 7"#, &["manifest/type"], &[]),
        (r#""pricing": {"any": [1, null]}"#, &[], &[]),
    ] {
        let result = read_one(Dialect::Claude, &format!(r#"{{"name": "a", "version": "1.0.0", {body}}}"#));
        assert_eq!(error_codes(&result), errors, "{body}");
        if let Ok(manifest) = &result {
            assert_eq!(notice_codes(manifest), notices, "{body}");
        }
    }
    let is_json =
        |dialect: &Dialect| dialect.main_file().is_some_and(|file| file.rsplit('.').next() == Some("json"));
    for text in ["", " \n", "null", "[]", "7"] {
        for dialect in Dialect::ALL.into_iter().filter(is_json) {
            let errors = read_one(dialect, text).unwrap_err();
            assert_eq!(errors.iter().count(), 1, "{dialect} {text:?}");
            assert!(
                matches!(errors.first().code(), "manifest/syntax" | "manifest/type"),
                "{dialect} {text:?}"
            );
        }
    }
}

#[test]
fn errors_name_file_pointer_line_and_column() {
    let text =
        "{\n  \"name\": \"a\",\n  \"mcpServers\": {\"s\": {\"command\": \"x\", \"args\": [\"é\", 7]}}\n}";
    let errors = read_one(Dialect::Claude, text).unwrap_err();
    let error = errors.first();
    assert_eq!((error.file(), error.pointer()), (".claude-plugin/plugin.json", "/mcpServers/s/args/1"));
    assert_eq!((error.line(), error.column()), (3, 54));
    assert_eq!(&text[error.span().start..error.span().end], "7");
    assert_eq!(
        error.to_string(),
        "read .claude-plugin/plugin.json:3:54 (/mcpServers/s/args/1): expected a string, got a number"
    );
    assert!(!error.help().is_empty());
    let strict = PluginContext::without_directory().with_unknown_keys(UnknownKeys::Refused);
    let files = MapFiles::new().with(".claude-plugin/plugin.json", r#"{"name": "a", "skils": 1}"#);
    let errors = read(Dialect::Claude, &files, &strict).unwrap_err();
    assert_eq!(errors.first().code(), "manifest/unknown-key");
    assert!(errors.first().message().contains("did you mean `skills`"), "{errors}");
}

#[test]
fn a_broken_declared_file_is_an_error_of_the_plugin() {
    let files = MapFiles::new()
        .with(".claude-plugin/plugin.json", r#"{"name": "a", "hooks": "./h.json", "mcpServers": "./m.json"}"#)
        .with("h.json", "{,}")
        .with("m.json", r#"{"s": {"command": "x"}, "s": {"command": "y"}}"#)
        .with(".lsp.json", "\u{feff}{}");
    let errors: ManifestErrors =
        read(Dialect::Claude, &files, &PluginContext::without_directory()).unwrap_err();
    let said: Vec<(&str, &str)> = errors.iter().map(|error| (error.file(), error.code())).collect();
    assert_eq!(
        said,
        [(".lsp.json", "manifest/bom"), ("h.json", "manifest/syntax"), ("m.json", "manifest/duplicate-key")]
    );
}

#[test]
fn hidden_text_is_an_error_in_commands_and_a_warning_in_free_text() {
    for (body, refused) in [
        ("\"description\": \"a\\u200bb\"", false),
        ("\"userConfig\": {\"k\": {\"description\": \"\\u2066\"}}", false),
        ("\"k\\u200bey\": 1", true),
        ("\"userConfig\": {\"k\\u202ey\": {}}", true),
        ("\"hooks\": {\"Stop\": [{\"command\": \"x\\u00adz\"}]}", true),
        ("\"mcpServers\": {\"s\": {\"url\": \"https://ex\\u200dample.org\"}}", true),
        ("\"mcpServers\": {\"s\": {\"command\": \"x\", \"env\": {\"A\\u061c\": \"b\"}}}", true),
        ("\"mcpServers\": {\"s\": {\"command\": \"x\", \"args\": [\"\\udb40\\udc41\"]}}", true),
        ("\"mcpServers\": {\"s\": {\"command\": \"x\", \"headers\": {\"A\": \"\\u0001\"}}}", true),
        ("\"hooks\": {\"Stop\": [{\"command\": \"a\\u2800b\"}]}", true),
        ("\"hooks\": {\"Stop\": [{\"command\": \"x\\u3164z\"}]}", true),
        ("\"hooks\": {\"Stop\": [{\"command\": \"a\\ufe0fb\"}]}", true),
        ("\"description\": \"\\u26a0\\ufe0f\\ufe0f\"", false),
    ] {
        let result =
            read_one(Dialect::Claude, &format!("{{\"name\": \"a\", \"version\": \"1.0.0\", {body}}}"));
        if refused {
            assert_eq!(error_codes(&result), ["manifest/hidden-text"], "{body}");
        } else {
            let manifest = result.unwrap();
            let hidden =
                manifest.warnings().iter().find(|notice| notice.code() == "manifest/hidden-text").unwrap();
            assert_eq!(hidden.level(), WarningLevel::Warning, "{body}");
        }
    }
    for text in [
        "\u{26a0}\u{fe0f} 1\u{fe0f}\u{20e3}",
        "\u{2847}\u{2800}\u{2847}",
        "\u{845b}\u{e0100}",
        "\u{600}1",
        "a\u{3000}b",
    ] {
        let body = format!(
            "\"description\": \"{text}\", \"hooks\": {{\"Stop\": [{{\"command\": \"echo {text}\"}}]}}"
        );
        let manifest = read_one(Dialect::Claude, &format!("{{\"name\": \"a\", {body}}}")).unwrap();
        assert!(!notice_codes(&manifest).contains(&"manifest/hidden-text"), "{text:?}");
    }
}

#[test]
fn keys_that_differ_in_case() {
    for (text, errors) in [
        (r#"{"name": "a", "Hooks": {}}"#, 0),
        (r#"{"name": "a", "hooks": {}, "Hooks": {}}"#, 1),
        (r#"{"name": "a", "HOOKS": {}, "Hooks": {}}"#, 2),
        (r#"{"name": "a", "other": {}, "Other": {}}"#, 0),
    ] {
        let result = read_one(Dialect::Claude, text);
        assert_eq!(error_codes(&result), vec!["manifest/case-variant"; errors], "{text}");
    }
}

/// The results of Go's decoder for the fields `version`, `license` and `skills`. It uses simple case folding, so U+017F
/// is s and U+212A is k; no other character outside ASCII folds to one of these letters.
#[test]
fn keys_fold_as_go_folds_them() {
    for (key, known, same) in [
        ("version", "version", true),
        ("VERSION", "version", true),
        ("Ver\u{17f}ion", "version", true),
        ("ver\u{df}ion", "version", false),
        ("licen\u{17f}e", "license", true),
        ("L\u{130}cense", "license", false),
        ("l\u{131}cense", "license", false),
        ("version ", "version", false),
        ("ver\u{73}\u{301}ion", "version", false),
        ("\u{ff56}ersion", "version", false),
    ] {
        let text = format!(r#"{{"name": "a", {}: "1.0.0"}}"#, quoted(key));
        let codes = error_codes(&read_one(Dialect::Gnoma, &text.replace("\"1.0.0\"", "7")));
        // A known key of the wrong type is a type error; an unknown key is not checked.
        assert_eq!(codes.contains(&"manifest/type"), same, "{key} for {known}");
    }
    let text =
        "{\"name\": \"a\", \"version\": \"1.0.0\", \"capabilities\": {\"s\u{212a}ill\u{17f}\": [\"/x\"]}}";
    assert_eq!(error_codes(&read_one(Dialect::Gnoma, text)), ["manifest/path-absolute"]);
}

#[test]
fn an_invalid_entry_does_not_affect_the_others() {
    let sha = "0123456789abcdef0123456789abcdef01234567";
    let text = format!(
        r#"{{"name": "m", "owner": {{"name": "o"}}, "metadata": {{"pluginRoot": "./plugins"}}, "plugins": [
        {{"name": "a", "source": "./a"}},
        {{"name": "b", "source": "../b"}},
        {{"name": "c"}},
        {{"source": "./d"}},
        7,
        {{"name": "e", "source": {{"source": "url", "url": "./", "path": "e"}}}},
        {{"name": "f", "source": {{"source": "npm", "package": "f", "version": "1.2.3"}}}},
        {{"name": "g", "source": {{"source": "archive", "url": "https://example.org/g", "sha256": "{sha}"}}}},
        {{"name": "h", "source": {{"source": "github", "repo": "o/h", "sha": "{sha}"}}}},
        {{"name": "i", "source": {{"source": "git-subdir", "url": "https://example.org/i"}}}},
        {{"name": "j", "source": {{"source": "command", "command": "x"}}}}
        ]}}"#
    );
    let (market, _) = read_marketplace("m.json", text.as_bytes(), CommandSources::Refused).unwrap();
    let good: Vec<(&str, Pinning)> =
        market.entries().iter().map(|entry| (entry.name(), entry.source().pinning())).collect();
    let expected =
        [("a", Pinning::Local), ("e", Pinning::Local), ("f", Pinning::Version), ("h", Pinning::Immutable)];
    assert_eq!(good, expected);
    assert_eq!(market.entry_at("plugins/a").unwrap().name(), "a");
    assert_eq!(market.entry_at("plugins/e").unwrap().name(), "e");
    let bad: Vec<(usize, &str)> =
        market.refused().iter().map(|refused| (refused.index(), refused.errors().first().code())).collect();
    let expected = [
        (1, "manifest/path-parent"),
        (2, "manifest/missing-key"),
        (3, "manifest/missing-key"),
        (4, "manifest/type"),
        (7, "market/sha"),
        (9, "manifest/missing-key"),
        (10, "market/command-source"),
    ];
    assert_eq!(bad, expected);
    let (market, _) = read_marketplace("m.json", text.as_bytes(), CommandSources::Allowed).unwrap();
    assert_eq!(market.entries().len(), 5);
    for (text, code) in [
        ("[]", "manifest/type"),
        (r#"{"plugins": []}"#, "manifest/missing-key"),
        (r#"{"name": "m"}"#, "manifest/missing-key"),
        (r#"{"name": "m", "plugins": {}}"#, "manifest/type"),
        (r#"{"name": "../m", "plugins": []}"#, "manifest/name"),
        (r#"{"name": "m", "metadata": {"pluginRoot": "/"}, "plugins": []}"#, "manifest/path-absolute"),
    ] {
        let errors = read_marketplace("m.json", text.as_bytes(), CommandSources::Refused).unwrap_err();
        assert_eq!(errors.first().code(), code, "{text}");
    }
    let many = format!(
        r#"{{"name": "m", "owner": "o", "plugins": [{}{{"name": "ok", "source": "./"}}]}}"#,
        "7,".repeat(300)
    );
    let (market, _) = read_marketplace("m.json", many.as_bytes(), CommandSources::Refused).unwrap();
    assert_eq!((market.entries().len(), market.refused().len()), (1, 300));
}

/// A host reads these URLs alike, so each of them hands a user name and password to every user.
#[test]
fn credentials_are_found_in_every_form_of_a_url() {
    let code = |url: &str| {
        let text = format!(
            r#"{{"name": "m", "owner": "o", "plugins": [{{"name": "a", "source": {{"source": "url", "url": "{url}"}}}}]}}"#
        );
        let (market, _) = read_marketplace("m.json", text.as_bytes(), CommandSources::Refused).unwrap();
        market.refused().first().map(|refused| refused.errors().first().code())
    };
    for url in [
        "https://me:word@h.example/r",
        "https:me:word@h.example/r",
        r"https:\\\\me@h.example/r",
        "HTTPS:/me:word@hö.example",
        "ssh://me:word@h.example/r",
    ] {
        assert_eq!(code(url), Some("market/credentials"), "{url}");
    }
    for url in
        ["https://h.example/a@b", r"https://h.example\\@b", "ssh://git@h.example/r", "git@h.example:o/r"]
    {
        assert_eq!(code(url), None, "{url}");
    }
}

#[test]
fn hostile_plugins_end_and_stay_small() {
    let claude = |text: String| {
        let files = MapFiles::new().with(".claude-plugin/plugin.json", text).with("skills/s/SKILL.md", "x");
        read(Dialect::Claude, &files, &PluginContext::without_directory())
    };
    let first =
        |result: Result<plugward_manifest::Manifest, ManifestErrors>| result.unwrap_err().first().code();
    let hooks = "{\"command\":\"x\"},".repeat(60_000);
    assert_eq!(
        first(claude(format!("{{\"name\":\"a\",\"hooks\":{{\"Stop\":[{hooks}{{}}]}}}}"))),
        "manifest/too-many"
    );
    let keys = (0..60_000).map(|index| format!("\"k{index}\":0,")).collect::<Vec<_>>().concat();
    let manifest = claude(format!("{{{keys}\"name\":\"a\"}}")).unwrap();
    assert!(manifest.warnings().len() <= 1001);
    assert!(notice_codes(&manifest).contains(&"manifest/more-errors"));
    let variants = (0..4096_u32)
        .map(|bits| {
            let letter = |(at, letter): (usize, char)| {
                if bits >> at & 1 == 1 { letter.to_ascii_uppercase() } else { letter }
            };
            format!("\"{}\":0,", "outputstyles".chars().enumerate().map(letter).collect::<String>())
        })
        .collect::<Vec<_>>()
        .concat();
    assert_eq!(first(claude(format!("{{{variants}\"name\":\"a\"}}"))), "manifest/case-variant");
    let paths = "\"./\",".repeat(100_000);
    assert_eq!(claude(format!("{{\"name\":\"a\",\"skills\":[{paths}\"./\"]}}")).unwrap().surface().len(), 1);
    let args = "\"x\",".repeat(100_000);
    let servers =
        format!("{{\"name\":\"a\",\"mcpServers\":{{\"s\":{{\"command\":\"x\",\"args\":[{args}\"y\"]}}}}}}");
    assert_eq!(claude(servers).unwrap().surface()[0].argv().len(), 100_002);
    let command = format!("{{\"name\":\"a\",\"hooks\":{{\"Stop\":\"./{}\"}}}}", "x".repeat(200_000));
    assert_eq!(first(claude(command)), "manifest/path-too-long");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn only_paths_inside_the_plugin_are_accepted(text in "(\\./)?([a-z.~:\\\\$/{}* ]|\\.\\./|\\$\\{CLAUDE_PLUGIN_ROOT\\}){0,20}") {
        if let Ok(path) = path(&text) {
            // Joined by components, independent of the platform.
            prop_assert!(!path.starts_with('/') && !path.contains('\\'), "{text}");
            let mut depth = 0_i32;
            for part in text.replace("${CLAUDE_PLUGIN_ROOT}", ".").split('/') {
                depth += match part { "" | "." => 0, ".." => -1, _ => 1 };
                prop_assert!(depth >= 0, "{text}");
            }
            prop_assert!(path.split('/').all(|part| part != ".." && part != "."), "{text}");
        }
    }

    #[test]
    fn any_manifest_produces_a_result(value in any_object()) {
        let text = value.to_string();
        for dialect in Dialect::ALL.into_iter().filter(|dialect| dialect.main_file().is_some()) {
            let one = read_one(dialect, &text);
            prop_assert_eq!(&one, &read_one(dialect, &text));
            match one {
                Ok(manifest) => {
                    prop_assert!(manifest.id("s").is_ok());
                    let mut notices: Vec<_> = manifest.warnings().iter().map(|notice| (notice.place().file().to_owned(), notice.place().pointer().to_owned())).collect();
                    let sorted = notices.clone();
                    notices.sort();
                    prop_assert_eq!(notices, sorted);
                }
                Err(errors) => {
                    for error in errors.iter() {
                        prop_assert!(error.span().end <= text.len());
                        prop_assert!(error.line() >= 1 && !error.message().is_empty());
                    }
                }
            }
        }
        let market = format!(r#"{{"name": "m", "plugins": [{text}]}}"#);
        prop_assert!(read_marketplace("m.json", market.as_bytes(), CommandSources::Allowed).is_ok());
    }
}

/// Generates objects with the keys of all dialects and values of all types.
fn any_object() -> impl Strategy<Value = serde_json::Value> {
    let word = prop::sample::select(vec![
        "name",
        "version",
        "description",
        "hooks",
        "Hooks",
        "mcpServers",
        "lspServers",
        "monitors",
        "skills",
        "commands",
        "command",
        "args",
        "type",
        "url",
        "Stop",
        "event",
        "action",
        "capabilities",
        "hostModules",
        "configSchema",
        "hints",
        "interface",
        "defaultPrompt",
        "apps",
        "settings",
        "channels",
        "server",
        "source",
        "strict",
        "policy",
        "env",
        "matcher",
        "exec",
        "mcp_servers",
        "contextFileName",
        "author",
        "keywords",
        "experimental",
        "userConfig",
        "dependencies",
        "bin",
        "sessionStart",
        "enabled",
    ]);
    let text = prop::sample::select(vec![
        "a",
        "1.0.0",
        "./x",
        "../x",
        "",
        "npx a",
        "sh ${CLAUDE_PLUGIN_ROOT}/x",
        "https://example.org",
        "command",
        "prompt",
        "http",
        "*",
        "\u{202e}",
        "github",
    ]);
    let leaf = prop_oneof![
        3 => text.prop_map(serde_json::Value::from),
        1 => Just(serde_json::Value::Null),
        1 => any::<bool>().prop_map(serde_json::Value::from),
        1 => any::<i32>().prop_map(serde_json::Value::from),
    ];
    let key = word.clone();
    let value = leaf.prop_recursive(5, 60, 8, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(serde_json::Value::from),
            prop::collection::btree_map(key.clone(), inner, 0..6)
                .prop_map(|map| map.into_iter().map(|(key, value)| (key.to_owned(), value)).collect()),
        ]
    });
    prop::collection::btree_map(word, value, 0..10)
        .prop_map(|map| map.into_iter().map(|(key, value)| (key.to_owned(), value)).collect())
}
