//! The command: formats, exit codes, and configs that match nothing.

use std::fs;
use std::path::Path;

use plugward_fence::{Streams, command};

const CAPS: &str = "pub struct NetCapability { host: String }\n\
    impl NetCapability {\n    pub fn mint(host: String) -> Self { Self { host } }\n}\n";

/// Writes a workspace with `caps` and `app` to a directory.
fn workspace(dir: &Path, app: &str, config: &str) {
    let put = |path: &str, text: &str| {
        let path = dir.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    };
    let package = |name: &str| {
        format!(
            "[package]\nname = \"{name}\"\nversion = \"0.1.0\"\nedition = \"2024\"\n[lints]\nworkspace = true\n"
        )
    };
    put(
        "Cargo.toml",
        &format!("[workspace]\nresolver = \"3\"\nmembers = [\"caps\", \"app\"]\n{config}{LINTS}"),
    );
    put("caps/Cargo.toml", &package("caps"));
    put("caps/src/lib.rs", CAPS);
    put("app/Cargo.toml", &format!("{}[dependencies]\ncaps = {{ path = \"../caps\" }}\n", package("app")));
    put("app/src/main.rs", app);
}

const CONFIG: &str = "[workspace.metadata.plugward-fence]\ncapability-crates = [\"caps\"]\n";
const LINTS: &str = "[workspace.lints.rust]\nunsafe_code = \"forbid\"\n";
const CLEAN: &str = "fn main() { drop(caps::NetCapability::mint(String::new())); }\n";
const PLANTED: &str =
    "//! Wide: \u{4e16}\u{754c}.\nfn main() {\n    let _\u{e9} = caps::NetCapability { host: x() };\n}\n";

/// Exit code, standard output, standard error.
fn run(dir: &Path, arguments: &[&str]) -> (u8, String, String) {
    let (mut out, mut err) = (Vec::new(), Vec::new());
    let mut all = vec!["plugward-fence".into(), "--manifest-path".into(), dir.as_os_str().to_owned()];
    all.extend(arguments.iter().map(Into::into));
    let mut streams = Streams { out: &mut out, err: &mut err, today: "2026-11-21".to_owned() };
    let code = command(all, &mut streams);
    (code, String::from_utf8(out).unwrap(), String::from_utf8(err).unwrap())
}

fn with(app: &str, config: &str, arguments: &[&str]) -> (u8, String, String) {
    let dir = tempfile::tempdir().unwrap();
    workspace(dir.path(), app, config);
    run(dir.path(), arguments)
}

#[test]
fn clean_is_0_and_findings_are_1() {
    let (code, out, err) = with(CLEAN, CONFIG, &[]);
    assert_eq!((code, out.as_str()), (0, ""), "{err}");
    assert!(err.ends_with("0 findings\n"), "{err}");
    let (code, out, err) = with(PLANTED, CONFIG, &["--format", "short"]);
    assert_eq!(code, 1, "{err}");
    assert_eq!(out, "app/src/main.rs:3:20: F01 a literal makes a `NetCapability`\n");
}

#[test]
fn the_five_formats() {
    let text = with(PLANTED, CONFIG, &[]).1;
    let wanted = "\
error[F01]: a literal makes a `NetCapability`
 --> app/src/main.rs:3:20
  |
3 |     let _\u{e9} = caps::NetCapability { host: x() };
  |                    ^^^^^^^^^^^^^ literal
  |
  = note: route `braces`, in `app::main`
  = help: take the value as a parameter from code that got it from the mint

";
    assert_eq!(text, wanted);
    let json = with(PLANTED, CONFIG, &["--format", "json"]).1;
    let lines: Vec<serde_json::Value> =
        json.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines.len(), 2);
    assert_eq!(lines[0]["rule"], "F01");
    assert_eq!(lines[0]["type"], "NetCapability");
    assert_eq!(
        (&lines[0]["line"], &lines[0]["column"], &lines[0]["end_column"]),
        (&3.into(), &20.into(), &33.into())
    );
    assert_eq!(lines[1]["summary"]["findings"], 1);
    assert_eq!(lines[1]["summary"]["self_test"]["held"], lines[1]["summary"]["self_test"]["of"]);
    let github = with(PLANTED, CONFIG, &["--format", "github"]).1;
    assert_eq!(
        github,
        "::error file=app/src/main.rs,line=3,col=20,endLine=3,endColumn=33,title=F01::a literal makes a \
         `NetCapability` (help: take the value as a parameter from code that got it from the mint)\n"
    );
    let sarif: serde_json::Value =
        serde_json::from_str(&with(PLANTED, CONFIG, &["--format", "sarif"]).1).unwrap();
    assert_eq!(sarif["version"], "2.1.0");
    let run = &sarif["runs"][0];
    let result = &run["results"][0];
    let index = usize::try_from(result["ruleIndex"].as_u64().unwrap()).unwrap();
    assert_eq!(run["tool"]["driver"]["rules"][index]["id"], result["ruleId"]);
    assert_eq!(run["tool"]["driver"]["rules"].as_array().unwrap().len(), plugward_fence::LintRule::ALL.len());
    let place = &result["locations"][0]["physicalLocation"];
    assert_eq!(place["artifactLocation"]["uri"], "app/src/main.rs");
    assert_eq!(place["region"]["startColumn"], 20);
    assert_eq!(run["columnKind"], "unicodeCodePoints");
    assert_eq!(run["invocations"][0]["executionSuccessful"], true);
}

#[test]
fn sarif_escapes_odd_file_names_and_tells_whether_the_fence_ran() {
    // Findings with and without a type, one in a file with an odd name, one in a manifest, and one undecided.
    let app = "#[path = \"a b%\u{e9}.rs\"]\nmod part;\nfn main() {\n    let _x = caps::NetCapability { host: x() };\n}\n\
        struct OwnCapability;\ninclude!(\"no such file.rs\");\n";
    let dir = tempfile::tempdir().unwrap();
    let more = "min-files = 99\n[patch.crates-io]\ncaps = { path = \"caps\" }\n";
    workspace(dir.path(), app, &format!("{CONFIG}{more}"));
    let part = "fn f() { let _x = caps::NetCapability { host: x() }; }\n";
    fs::write(dir.path().join("app/src/a b%\u{e9}.rs"), part).unwrap();
    let (code, text, err) = run(dir.path(), &["--format", "sarif"]);
    assert_eq!(code, 2, "{err}");
    let log: serde_json::Value = serde_json::from_str(&text).unwrap();
    let results = log["runs"][0]["results"].as_array().unwrap();
    assert!(results.len() >= 4, "{text}");
    let uri = |result: &serde_json::Value| {
        result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"].as_str().map(str::to_owned)
    };
    assert!(results.iter().any(|one| uri(one).unwrap() == "app/src/a%20b%25%C3%A9.rs"), "{text}");
    assert_eq!(log["runs"][0]["invocations"][0]["executionSuccessful"], false);
}

#[test]
fn a_config_that_matches_nothing_exits_with_2() {
    let config = |more: &str| format!("{CONFIG}{more}\n");
    for (config, wanted) in [
        (String::new(), "so no rule applies"),
        (config("unknown-key = 1"), "unknown-key"),
        (config("type-glob = \"*Token\""), "no type of `caps` matches `*Token`"),
        (
            config("chokepoint = [\"caps::Mint::mint\"]"),
            "no capability crate has a chokepoint: expected caps::Mint::mint",
        ),
        (config("grant-type = \"Grant\""), "no capability crate defines `Grant`"),
        (config("min-files = 99"), "expected at least 99"),
        (config("exclude-types = [\"Other\"]"), "no capability crate defines `Other`"),
        (config("mint-callers = [\"nobody::here::*\"]"), "the caller `nobody::here::*`"),
        (
            config("restricted = [{ path = \"caps::NetCapability::nothing\", callers = [] }]"),
            "no crate defines `caps::NetCapability::nothing`",
        ),
        (
            config("race = { crates = [\"caps\"], type = \"Nope\", methods = [\"open\"] }"),
            "no race crate defines \"Nope\"",
        ),
        (
            config("race = { crates = [\"absent\"], type = \"Nope\", methods = [\"open\"] }"),
            "has the name `absent`",
        ),
        (CONFIG.replace("\"caps\"", "\"capz\""), "no package of the workspace has the name `capz`"),
    ] {
        let (code, _, err) = with(CLEAN, &config, &[]);
        assert_eq!(code, 2, "{config}: {err}");
        assert!(err.contains(wanted), "{config}: {err}");
    }
}

#[test]
fn an_unreadable_file_exits_with_2_unless_allowed() {
    let broken = "fn main( {\n";
    let (code, out, err) = with(broken, CONFIG, &["--format", "short"]);
    assert_eq!(code, 2, "{err}");
    assert!(out.contains("app/src/main.rs:1:10: F08"), "{out}");
    let allow = "[[workspace.metadata.plugward-fence.allow]]\nrule = \"F08\"\npath = \"app/src/main.rs\"\n\
        count = 1\nreason = \"a test\"\nexpires = \"2026-11-21\"\n";
    let config = format!("{CONFIG}{allow}");
    let (code, _, err) = with(broken, &config, &[]);
    assert_eq!(code, 0, "{err}");
    assert!(err.contains("1 allowed"), "{err}");
    // A day later the allow has expired, and the file counts as unreadable again.
    let (code, out, _) = with(broken, &config, &["--today", "2026-11-22", "--format", "short"]);
    assert_eq!(code, 2);
    assert!(out.contains("F13"), "{out}");
    // An allow without a matching finding.
    let (code, out, _) = with(CLEAN, &config, &["--format", "short"]);
    assert_eq!(code, 1);
    assert!(out.starts_with("Cargo.toml:"), "{out}");
}

#[test]
fn the_command_line_replaces_the_config() {
    let (code, _, err) = with(PLANTED, "", &["--capability-crate", "caps"]);
    assert_eq!(code, 1, "{err}");
    let (code, _, err) = with(PLANTED, CONFIG, &["--capability-crate", "absent"]);
    assert_eq!(code, 2, "{err}");
    for arguments in
        [&["--format", "xml"][..], &["--nonsense"], &["--today", "yesterday"], &["--race-crate", "caps"]]
    {
        let (code, out, err) = with(CLEAN, CONFIG, arguments);
        assert_eq!((code, out.as_str()), (2, ""), "{err}");
        assert!(err.contains("help:"), "{err}");
    }
    assert_eq!(with(CLEAN, CONFIG, &["--help"]).0, 0);
    let (code, out, _) = with(CLEAN, CONFIG, &["--self-test"]);
    assert_eq!(code, 0, "{out}");
    assert!(out.lines().count() > 60 && out.lines().all(|line| line.starts_with("ok")), "{out}");
}

#[test]
fn a_directory_without_a_workspace_exits_with_2() {
    let dir = tempfile::tempdir().unwrap();
    let (code, _, err) = run(dir.path(), &[]);
    assert_eq!(code, 2, "{err}");
    assert!(err.contains("fence/metadata"), "{err}");
}

#[test]
fn manifests_are_checked() {
    let dir = tempfile::tempdir().unwrap();
    let more = "require-forbid-unsafe = true\n[patch.crates-io]\ncaps = { path = \"caps\" }\n";
    workspace(dir.path(), CLEAN, &format!("{CONFIG}{more}"));
    let app = dir.path().join("app/Cargo.toml");
    let text = fs::read_to_string(&app).unwrap();
    let text = text.replace("[lints]\nworkspace = true\n", "");
    fs::write(&app, text.replace("../caps\" }", "../caps\", features = [\"test-util\"] }")).unwrap();
    let caps = dir.path().join("caps/Cargo.toml");
    let text = fs::read_to_string(&caps).unwrap();
    fs::write(
        &caps,
        format!("{text}[features]\ndefault = [\"more\"]\nmore = [\"test-util\"]\ntest-util = []\n"),
    )
    .unwrap();
    fs::create_dir_all(dir.path().join("app/.cargo")).unwrap();
    fs::write(dir.path().join("app/.cargo/config.toml"), "[build]\nrustflags = \"--cfg test\"\n").unwrap();
    let (code, out, err) = run(dir.path(), &["--format", "short"]);
    assert_eq!(code, 1, "{err}");
    let lines: Vec<&str> = out.lines().map(|line| line.split(": ").next().unwrap()).collect();
    assert_eq!(
        lines,
        [
            "Cargo.toml:8:1",
            "app/.cargo/config.toml:2:1",
            "app/Cargo.toml:6:28",
            "app/src/main.rs:1:1",
            "caps/Cargo.toml:8:12"
        ],
        "{out}"
    );
}

#[test]
fn packages_that_are_not_members() {
    let dir = tempfile::tempdir().unwrap();
    workspace(dir.path(), CLEAN, &format!("exclude = [\"side\", \"other\"]\n{CONFIG}"));
    for (name, dependency) in [("side", "caps = { path = \"../caps\" }"), ("other", "")] {
        let directory = dir.path().join(name);
        fs::create_dir_all(directory.join("src")).unwrap();
        let manifest = format!(
            "[package]\nname = \"{name}\"\nversion = \"0.1.0\"\nedition = \"2024\"\n[dependencies]\n{dependency}\n"
        );
        fs::write(directory.join("Cargo.toml"), manifest).unwrap();
        fs::write(directory.join("src/main.rs"), PLANTED).unwrap();
    }
    let (code, out, err) = run(dir.path(), &["--format", "short"]);
    assert_eq!(code, 1, "{err}");
    let unsafely =
        "side/src/main.rs:1:1: F11 `side` can make a capability with unsafe code, which it does not forbid";
    assert_eq!(out, format!("{unsafely}\nside/src/main.rs:3:20: F01 a literal makes a `NetCapability`\n"));
    assert!(err.contains("1 not scanned") || err.contains("2 not scanned"), "{err}");
}
