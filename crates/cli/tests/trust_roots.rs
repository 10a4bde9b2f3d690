//! A repository must not decide with which pins, settings and home directories plugward works.

#![expect(clippy::disallowed_methods, clippy::disallowed_types, reason = "tests write files")]
#![expect(clippy::unwrap_used, reason = "a test that cannot set up must stop")]

#[expect(dead_code, reason = "these tests start the program in a project")]
mod home;

use std::io::Write as _;
use std::process::{Output, Stdio};

use home::{Home, code};

const MOVED: &str = r#"{"env":{
"PLUGWARD_CONFIG_DIR":"/nowhere"}}"#;

fn said(output: &Output) -> String {
    String::from_utf8([output.stdout.as_slice(), output.stderr.as_slice()].concat()).unwrap()
}

/// Makes a home directory with Claude Code, and a project.
fn machine() -> Home {
    let home = Home::new();
    home.write("home/.claude/settings.json", "{}");
    home.write("home/site/.git/HEAD", "ref: refs/heads/main\n");
    home.write("home/site/sub/a.txt", "a\n");
    home
}

fn at(home: &Home, dir: &str, args: &[&str]) -> Output {
    let mut command = home.command(args);
    command.current_dir(home.path(dir));
    command.output().unwrap()
}

#[test]
fn a_project_that_moves_the_pins_is_refused_before_a_store_is_opened() {
    let home = machine();
    home.write("home/site/.claude/settings.json", MOVED);
    let verbs: &[&[&str]] = &[
        &["check"],
        &["check", "--exit-zero"],
        &["check", "--host", "claude"],
        &["check", "--format", "json"],
        &["check", "--format", "sarif"],
        &["check", "--trust", "locked"],
        &["list"],
        &["review"],
        &["info", "x"],
        &["diff", "x"],
        &["explain", "x"],
        &["accept", "x", "--tree", "pt1:00"],
        &["forget", "--all", "--yes"],
        &["deny", "x"],
        &["undeny", "x"],
        &["revoke", "claude:x", "--reason", "a test"],
        &["lock", "."],
        &["scan", "."],
        &["ledger", "verify"],
        &["suppress", "x", "sh/pipe-to-shell", "--reason", "a test of this"],
    ];
    for args in verbs {
        for dir in ["home/site", "home/site/sub"] {
            let output = at(&home, dir, args);
            let text = said(&output);
            assert_eq!(code(&output), 6, "{args:?} {text}");
            assert!(text.contains("settings/trust-root"), "{args:?} {text}");
            assert!(
                text.contains("PLUGWARD_CONFIG_DIR") && text.contains("settings.json"),
                "{args:?} {text}"
            );
        }
    }
    assert!(!home.path("config").exists() && !home.path("state").exists());
    let report: serde_json::Value =
        serde_json::from_slice(&at(&home, "home/site", &["check", "--format", "json"]).stdout).unwrap();
    let plugins = report.get("plugins").unwrap().as_array().unwrap();
    assert_eq!(plugins.len(), 1, "{report}");
    assert!(report.to_string().contains(".claude/settings.json:2:1: sets PLUGWARD_CONFIG_DIR"), "{report}");
    assert!(report.to_string().contains("nothing else was judged"), "{report}");
    // A verb that opens no store works.
    assert_eq!(code(&at(&home, "home/site", &["codes", "settings/trust-root"])), 0);
}

#[test]
fn a_hook_blocks_with_the_pins_of_a_repository() {
    let home = machine();
    home.write("home/.claude/skills/s/SKILL.md", "---\nname: s\ndescription: d\n---\nWrites notes.\n");
    let hook = ["check", "--hook", "--host", "claude"];
    let run = |dir: &str, variables: &[(&str, &str)]| {
        let mut command = home.command(&hook);
        command.current_dir(home.path(dir));
        for (name, value) in variables {
            command.env(name, home.path(value));
        }
        let output = command.output().unwrap();
        assert!(output.stdout.is_empty());
        (code(&output), said(&output))
    };
    assert_eq!(run("home/site", &[]).0, 0);
    home.write("home/.claude/skills/s/SKILL.md", "---\nname: s\ndescription: d\n---\nWrites more.\n");
    assert_eq!(run("home/site", &[]).0, 2);
    home.write("home/site/.claude/settings.json", MOVED);
    let moved = ("PLUGWARD_CONFIG_DIR", "home/site/.x");
    let (exit, text) = run("home/site", &[moved]);
    assert!(exit == 2 && text.contains("settings/trust-root"), "{text}");
    // The session is in another directory, and the host names the project.
    let elsewhere = run("home", &[moved, ("CLAUDE_PROJECT_DIR", "home/site")]);
    assert!(elsewhere.0 == 2 && elsewhere.1.contains("settings/trust-root"), "{elsewhere:?}");
    let gemini = run("home", &[moved, ("GEMINI_PROJECT_DIR", "home/site/sub")]);
    assert!(gemini.0 == 2 && gemini.1.contains("settings/trust-root"), "{gemini:?}");
    // A host without such a variable writes the directory to the standard input.
    home.write("home/.codex/config.toml", "model = \"m\"\n");
    for (input, expected) in [("home/site/sub", 2), ("home", 0)] {
        let mut command = home.command(&["check", "--hook", "--host", "codex"]);
        command
            .current_dir(home.path("home"))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let text = serde_json::json!({ "cwd": home.path(input) }).to_string();
        child.stdin.take().unwrap().write_all(text.as_bytes()).unwrap();
        let output = child.wait_with_output().unwrap();
        assert_eq!(code(&output), expected, "{input}: {}", said(&output));
    }
    // A project that makes itself the home directory is not the user's own by that.
    for value in ["SITE", "SITE/sub/..", "${workspaceFolder}"] {
        let value = value.replace("SITE", home.path("home/site").to_str().unwrap());
        home.write("home/site/.claude/settings.json", &format!(r#"{{"env":{{"HOME":"{value}"}}}}"#));
        let (exit, text) = run("home/site", &[("HOME", "home/site")]);
        assert!(exit == 2 && text.contains("settings/trust-root"), "{text}");
    }
}

#[test]
fn every_file_of_a_project_counts_and_none_of_another() {
    let files = [
        (".claude/settings.local.json", MOVED),
        (".codex/config.toml", "[shell_environment_policy.set]\nCODEX_HOME = \"/x\"\n"),
        (".env", "A=1\nXDG_STATE_HOME=/x\n"),
        (".gemini/.env", "\nLD_PRELOAD=/x.so\n"),
        (".vscode/settings.json", "{\"terminal.integrated.env.linux\":\n{\"HOME\":\"/x\",}}"),
    ];
    for (file, text) in files {
        let home = machine();
        home.write(&format!("home/site/{file}"), text);
        let output = at(&home, "home/site", &["check"]);
        let shown = said(&output);
        assert!(code(&output) == 6 && shown.contains("settings/trust-root"), "{file} {shown}");
        // The project is named, and the working directory is another one.
        home.write("home/other/.git/HEAD", "");
        let other = |args: &[&str]| code(&at(&home, "home/other", args));
        assert_eq!(other(&["check", "--allow-empty"]), 0, "{file}");
        let site = home.path("home/site").display().to_string();
        assert_eq!(other(&["check", "--project", &site]), 6, "{file}");
        assert_eq!(other(&["list", "--project", &site]), 6, "{file}");
    }
}

#[test]
fn similar_names_and_the_users_own_files_do_not_refuse() {
    let home = machine();
    home.write("home/site/.claude/settings.json", r#"{"env":{"PLUGWARDX":"a","HOMEPAGE":"b"}}"#);
    home.write("home/site/.mcp.json", r#"{"mcpServers":{"s":{"command":"true","env":{"HOME":"/x"}}}}"#);
    home.write("home/site/.env/bin/activate", "HOME=/x\n");
    let output = at(&home, "home/site", &["check"]);
    assert!(code(&output) == 0 && !said(&output).contains("trust-root"), "{}", said(&output));
    // The user decides where the own files are.
    home.write("home/.claude/settings.json", r#"{"env":{"HOME":"/x","PLUGWARD_STATE_DIR":"/y"}}"#);
    for dir in ["home/site", "home"] {
        let output = at(&home, dir, &["check"]);
        let text = said(&output);
        assert_eq!(code(&output), 0, "{dir} {text}");
        assert!(text.contains("settings/trust-root") && text.contains("your own"), "{dir} {text}");
    }
    let report = at(&home, "home/site", &["check", "--format", "json"]);
    assert!(said(&report).contains("sets PLUGWARD_STATE_DIR"), "{}", said(&report));
}

#[test]
fn a_settings_file_that_cannot_be_read_still_refuses() {
    let home = machine();
    home.write("home/site/.claude/settings.json", r#"{"env":{"PLUGWARD_CONFIG_DIR":"/x"}"#);
    let output = at(&home, "home/site", &["check"]);
    assert!(code(&output) == 7 && said(&output).contains("install/unreadable"), "{}", said(&output));
    let hook = at(&home, "home/site", &["check", "--hook", "--host", "claude"]);
    assert_eq!(code(&hook), 2, "{}", said(&hook));
}
