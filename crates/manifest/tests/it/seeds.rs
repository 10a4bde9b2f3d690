//! Tests with the cases of gnoma's and HyperAgent's own tests.

use plugward_manifest::Dialect;

use crate::support::{dialects, error_codes, notice_codes, read_one};
use plugward_manifest::MapFiles;

#[test]
fn gnoma_validation() {
    let cases: &[(&str, &[&str])] = &[
        (r#"{"name":"git-tools","version":"1.0.0"}"#, &[]),
        (r#"{"name":"","version":"1.0.0"}"#, &["manifest/name"]),
        (r#"{"name":"Git-Tools","version":"1.0.0"}"#, &["manifest/name"]),
        (r#"{"name":"1tools","version":"1.0.0"}"#, &["manifest/name"]),
        (r#"{"name":"git tools","version":"1.0.0"}"#, &["manifest/name"]),
        (r#"{"name":"a","version":""}"#, &["manifest/version"]),
        (r#"{"name":"a","version":"1.0"}"#, &["manifest/version"]),
        (
            r#"{"name":"a","version":"1.0.0","capabilities":{"skills":["../x/*.md"]}}"#,
            &["manifest/path-parent"],
        ),
        (
            r#"{"name":"a","version":"1.0.0","capabilities":{"skills":["/etc/*.md"]}}"#,
            &["manifest/path-absolute"],
        ),
        (
            r#"{"name":"a","version":"1.0.0","capabilities":{"hooks":[{"name":"h","event":"stop","type":"command","exec":"../h.sh"}]}}"#,
            &["manifest/path-parent"],
        ),
        (
            r#"{"name":"a","version":"1.0.0","capabilities":{"mcp_servers":[{"name":"s","command":"/bin/sh"}]}}"#,
            &["manifest/path-absolute"],
        ),
        (r#"{"name":"a","version":"1.0.0","author":{"name":"x"}}"#, &["manifest/type"]),
    ];
    for (text, codes) in cases {
        assert_eq!(error_codes(&read_one(Dialect::Gnoma, text)), *codes, "{text}");
    }
}

#[test]
fn gnoma_versions() {
    for (version, holds) in [
        ("1.0.0", true),
        ("0.0.1", true),
        ("10.20.30", true),
        ("1.0", false),
        ("1", false),
        ("v1.0.0", false),
        ("1.0.0-beta", false),
        ("+1.0.0", false),
        ("1.-1.0", false),
    ] {
        let text = format!(r#"{{"name":"a","version":"{version}"}}"#);
        assert_eq!(read_one(Dialect::Gnoma, &text).is_ok(), holds, "{version}");
    }
}

#[test]
fn hyperagent_manifests() {
    let cases: &[(&str, &[&str])] = &[
        (r#"{"name":"a","version":"1.0.0","description":"d","hostModules":["m"]}"#, &[]),
        (r#"{"name":"a","version":"1.0.0","description":"d","hostModules":["m"],"configSchema":{}}"#, &[]),
        ("[]", &["manifest/type"]),
        (r#"{"version":"1.0.0","description":"d","hostModules":["m"]}"#, &["manifest/missing-key"]),
        (r#"{"name":"a","version":"v1.0.0","description":"d","hostModules":["m"]}"#, &["manifest/version"]),
        (r#"{"name":"a","version":"1.0.0","description":"d","hostModules":[]}"#, &["manifest/type"]),
        (r#"{"name":"a","version":"1.0.0","description":"d","hostModules":[1]}"#, &["manifest/type"]),
        (
            r#"{"name":"a","version":"1.0.0","description":"d","hostModules":["m"],"configSchema":[]}"#,
            &["manifest/type"],
        ),
        (
            r#"{"name":7,"version":"V1","hostModules":"m"}"#,
            &["manifest/missing-key", "manifest/type", "manifest/version", "manifest/type"],
        ),
    ];
    for (text, codes) in cases {
        assert_eq!(error_codes(&read_one(Dialect::Hyperagent, text)), *codes, "{text}");
    }
}

#[test]
fn a_root_manifest_is_classified_by_its_keys() {
    for (text, expected) in [
        (r#"{"name":"a","hostModules":["m"]}"#, &["hyperagent"][..]),
        (r#"{"name":"a","capabilities":{}}"#, &["gnoma"]),
        (r#"{"name":"a","Capabilities":{}, "x": 1}"#, &["gnoma"]),
        (r#"{"name":"a","version":"1.0.0","author":"x"}"#, &["gnoma"]),
        (r#"{"name":"a","main":"x.js"}"#, &[]),
        ("{}", &[]),
        ("[]", &[]),
        ("{", &["gnoma"]),
    ] {
        assert_eq!(dialects(&MapFiles::new().with("plugin.json", text)), expected, "{text}");
    }
    let beside = MapFiles::new().with("plugin.json", "{}").with("index.js", "");
    assert_eq!(dialects(&beside), ["hyperagent"]);
    let directories = MapFiles::new()
        .with("skills/a/SKILL.md", "x")
        .with("commands/b.md", "y")
        .with("hooks/hooks.json", "{}");
    assert!(dialects(&directories).is_empty());
}

#[test]
fn keys_in_another_case_are_read_as_go_reads_them() {
    let text = "{\"name\":\"a\",\"ver\u{17f}ion\":\"1.0.0\",\"Capabilitie\u{17f}\":{\"\u{212a}ills\":[]}}";
    // U+212A folds to k: `Kills` is not a key of gnoma, `version` and `capabilities` are.
    let manifest = read_one(Dialect::Gnoma, text).unwrap();
    assert_eq!(manifest.version(), Some("1.0.0"));
    let codes = notice_codes(&manifest);
    assert_eq!(codes.iter().filter(|code| **code == "manifest/key-case").count(), 2);
    assert_eq!(codes.iter().filter(|code| **code == "manifest/unknown-key").count(), 1);
    let two = r#"{"name":"a","Name":"b","version":"1.0.0"}"#;
    assert_eq!(error_codes(&read_one(Dialect::Gnoma, two)), ["manifest/case-variant"]);
}
