//! Pins of version 3: an upgrade changes no answer, and what the old pins did not cover is added.

#![expect(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "tests start the program and make directories"
)]
#![expect(clippy::unwrap_used, reason = "a test that cannot set up must stop")]
#![expect(
    clippy::arithmetic_side_effects,
    clippy::indexing_slicing,
    clippy::string_slice,
    reason = "a test that meets another text must stop"
)]

#[expect(dead_code, reason = "these tests start the program in a project")]
mod home;

use std::os::unix::fs::PermissionsExt as _;

use home::{Home, code};
use plugward_loader::sha256;
use serde_json::Value;

const SKILL: &str = "---\nname: s\ndescription: Formats text.\n---\nFormat it.\n";
const MARKET: &str =
    r#"{"name":"acme","owner":{"name":"x"},"plugins":[{"name":"greeter","source":"./plugins/greeter"}]}"#;

/// Every kind of row: files below the temporary directory.
const FILES: &[(&str, &str)] = &[
    ("w/.git/HEAD", "ref: refs/heads/main\n"),
    (
        "home/.claude/settings.json",
        r#"{"enabledPlugins":{"greeter@acme":true},"env":{"COLOR":"1","API_TOKEN":"abc-123-xyz"},"hooks":{"Stop":[{"hooks":[{"type":"command","command":"~/bin/tool --x"}]}]}}"#,
    ),
    ("home/bin/tool", "echo tool\n"),
    ("home/.claude/skills/s/SKILL.md", SKILL),
    ("home/.claude/agents/a.md", SKILL),
    ("home/.claude/commands/c.md", "Do it.\n"),
    ("home/.claude/plugins/marketplaces/acme/.claude-plugin/marketplace.json", MARKET),
    (
        "home/.claude/plugins/cache/acme/greeter/1.0.0/.claude-plugin/plugin.json",
        r#"{"name":"greeter","version":"1.0.0"}"#,
    ),
    (
        "home/.claude/plugins/cache/acme/greeter/1.0.0/hooks/hooks.json",
        r#"{"hooks":{"Stop":[{"hooks":[{"type":"command","command":"sh \"${CLAUDE_PLUGIN_ROOT}/hooks/s.sh\""}]}]}}"#,
    ),
    ("home/.claude/plugins/cache/acme/greeter/1.0.0/hooks/s.sh", "echo hello\n"),
    (
        "w/.claude/settings.json",
        r#"{"env":{"BAR":"1"},"statusLine":{"type":"command","command":".claude/line.sh"},"hooks":{"Stop":[{"hooks":[{"type":"command","command":"bash \"$CLAUDE_PROJECT_DIR/.claude/hooks/run.sh\""},{"type":"command","command":"node .claude/a.mjs"}]}]}}"#,
    ),
    ("w/.claude/hooks/run.sh", "echo run\n"),
    ("w/.claude/a.mjs", "console.log(1)\n"),
    ("w/.claude/line.sh", "echo line\n"),
    ("w/.claude/skills/p/SKILL.md", SKILL),
    ("w/.claude/agents/b.md", SKILL),
    ("w/.claude/commands/d.md", "Do it.\n"),
    ("w/.mcp.json", r#"{"mcpServers":{"s":{"command":"python3","args":["server.py"]}}}"#),
    ("w/server.py", "print(1)\n"),
    ("w/.codex/config.toml", "[mcp_servers.s]\ncommand = \"python3\"\nargs = [\"server.py\"]\n"),
    ("w/plugins/a/.claude-plugin/plugin.json", r#"{"name":"a","version":"1.0.0"}"#),
    ("w/plugins/b/.claude-plugin/plugin.json", r#"{"name":"b","version":"1.0.0"}"#),
    (
        "w/plugins/h/plugin.json",
        r#"{"name":"h","version":"1.0.0","description":"Formats durations.","hostModules":["duration-format"]}"#,
    ),
    ("w/plugins/h/index.js", "import { x } from \"../shared/x.js\";\nexport const y = x;\n"),
    ("w/plugins/shared/x.js", "export const x = 1;\n"),
];

fn machine() -> Home {
    let home = Home::new();
    for (name, text) in FILES {
        home.write(name, text);
    }
    let at = |name: &str| home.path(name).display().to_string();
    let time = "2026-01-01T00:00:00Z";
    let market = at("home/.claude/plugins/marketplaces/acme");
    let cache = at("home/.claude/plugins/cache/acme/greeter/1.0.0");
    let known = format!(
        r#"{{"acme":{{"source":{{"source":"github","repo":"acme/acme"}},"installLocation":"{market}","lastUpdated":"{time}"}}}}"#
    );
    home.write("home/.claude/plugins/known_marketplaces.json", &known);
    let row = format!(
        r#"{{"scope":"user","installPath":"{cache}","version":"1.0.0","installedAt":"{time}","lastUpdated":"{time}"}}"#
    );
    home.write(
        "home/.claude/plugins/installed_plugins.json",
        &format!(r#"{{"version":2,"plugins":{{"greeter@acme":[{row}]}}}}"#),
    );
    home
}

/// Pins that version 3 wrote for these files, without check values.
const PINS: &str = include_str!("data/pins-version-3.toml");
const PINS_FILE: &str = "config/plugins.pins.toml";

/// Adds the check value of an entry after its first table.
fn checked(entry: &str) -> String {
    let head = entry.find("\n\n").map_or(entry.len(), |at| at + 1);
    let digest = sha256(format!("plugward pins 3\n{entry}").as_bytes());
    let check = &digest.hex()[..16];
    format!("\n{}check = \"{check}\"\n{}", &entry[..head], &entry[head..])
}

/// A machine with pins of version 3.
fn pinned() -> Home {
    let home = machine();
    write_pins(&home, &PINS.replace("@DIR@", home.path("").to_str().unwrap().trim_end_matches('/')));
    home
}

/// Writes a file of version 3 from its entries without check values.
fn write_pins(home: &Home, text: &str) {
    let (head, entries) = text.split_once("\n\n[pins").unwrap();
    let mut file = format!("{head}\n");
    let mut count = 0;
    for entry in format!("[pins{entries}").replace("\n\n[pins", "\n\0[pins").split('\0') {
        file.push_str(&checked(entry));
        count += 1;
    }
    let end = format!("[end]\npins = {count}\nlocks = 0\nrevoked = 0\nv2 = 0\nv1 = 0\nserial = 7\n");
    file.push_str(&checked(&end));
    for name in [PINS_FILE, "config/plugins.pins.toml.last-good"] {
        home.write(name, &file);
        std::fs::set_permissions(home.path(name), std::fs::Permissions::from_mode(0o600)).unwrap();
    }
}

/// The exit code and the rows of a check of everything.
fn check(home: &Home, trust: &str) -> (i32, Vec<Value>) {
    let args = ["check", "--trust", trust, "--format", "json"];
    let output = home.command(&args).current_dir(home.path("w")).output().unwrap();
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    (code(&output), report["plugins"].as_array().unwrap().clone())
}

fn pins(home: &Home) -> String {
    std::fs::read_to_string(home.path(PINS_FILE)).unwrap()
}

#[test]
fn every_row_of_version_three_loads() {
    for trust in ["tofu", "locked"] {
        let home = pinned();
        let before = pins(&home);
        assert!(before.contains("\nversion = 3\n"));
        let (exit, rows) = check(&home, trust);
        assert_eq!((exit, rows.len()), (0, 14), "{trust}: {rows:#?}");
        for row in &rows {
            assert_eq!(row["pin"]["state"], "migrated", "{trust}: {row:#?}");
        }
        if trust == "locked" {
            assert_eq!(pins(&home), before, "locked writes nothing");
            continue;
        }
        let after = pins(&home);
        assert!(after.contains("\nversion = 4\n"), "{after}");
        assert_eq!(after.matches("\nreads = 2\n").count(), 14, "{after}");
        for via in ["tofu", "accept", "prompt", "lock", "same", "moved"] {
            let line = format!("via = \"{via}\"");
            assert_eq!(after.matches(&line).count(), before.matches(&line).count(), "{via}");
        }
        assert_eq!(std::fs::read_to_string(home.path("config/plugins.pins.toml.v3")).unwrap(), before);
        for trust in ["prompt", "locked", "tofu"] {
            let (exit, rows) = check(&home, trust);
            assert_eq!(exit, 0, "{trust}: {rows:#?}");
            assert!(rows.iter().all(|row| row["pin"]["state"] == "same"), "{rows:#?}");
        }
        assert!(pins(&home) == after, "nothing is written again");
    }
}

#[test]
fn an_open_command_of_an_old_pin_counts_as_agreed_and_is_named_once() {
    let home = Home::new();
    home.write("w/u/.claude-plugin/plugin.json", r#"{"name":"u","version":"1.0.0"}"#);
    home.write(
        "w/u/hooks/hooks.json",
        r#"{"hooks":{"Stop":[{"hooks":[{"type":"command","command":"bash \"$(pick)\""}]}]}}"#,
    );
    let run = |args: &[&str]| {
        let output = home.command(args).current_dir(home.path("w")).output().unwrap();
        let text = [output.stdout.as_slice(), output.stderr.as_slice()].concat();
        (code(&output), String::from_utf8(text).unwrap())
    };
    assert_eq!(run(&["check", "u"]).0, 3);
    // Without a digest, `accept` prints the command with the one to review.
    let (exit, text) = run(&["accept", "u"]);
    assert!(exit == 3 && text.contains("plugward diff ./u"), "{text}");
    let line = text.split("plugward accept ").nth(1).unwrap().replace("\\\n", " ");
    let words: Vec<&str> = core::iter::once("accept").chain(line.split_whitespace()).collect();
    let (exit, text) = run(&words);
    assert_eq!(exit, 0, "{text}");
    let is_new = |line: &&str| {
        ["check", "reads", "closure", "unresolved", "loosens"]
            .iter()
            .any(|key| line.strip_prefix(key).is_some_and(|rest| rest.starts_with(" = ")))
    };
    let old: Vec<&str> = pins(&home).leak().lines().filter(|line| !is_new(line)).collect();
    let old = old.join("\n").replace("version = 4", "version = 3");
    let (entries, _end) = old.split_once("\n[end]").unwrap();
    write_pins(&home, &format!("{}\n", entries.trim_end()));
    let (exit, text) = run(&["check", "u", "-v"]);
    assert!(exit == 0 && text.contains("counts as agreed"), "{text}");
    let (exit, text) = run(&["check", "u", "-v"]);
    assert!(exit == 0 && !text.contains("counts as agreed"), "{text}");
}

#[test]
fn prompt_asks_only_about_files_that_the_old_pin_did_not_cover() {
    let home = pinned();
    let (_exit, rows) = check(&home, "prompt");
    for row in &rows {
        let codes: Vec<&str> =
            row["reasons"].as_array().unwrap().iter().map(|one| one["code"].as_str().unwrap()).collect();
        let expected: &[&str] = if row["closure"].is_null() { &[] } else { &["pin/new"] };
        assert_eq!(codes, expected, "{row:#?}");
    }
}

#[test]
fn what_version_three_covered_is_still_compared() {
    for name in [
        "home/bin/tool",
        "home/.claude/skills/s/SKILL.md",
        "w/.claude/hooks/run.sh",
        "w/.claude/a.mjs",
        "w/.claude/line.sh",
        "w/.claude/agents/b.md",
        "w/server.py",
        "w/plugins/shared/x.js",
        "w/plugins/b/.claude-plugin/plugin.json",
    ] {
        for trust in ["tofu", "locked"] {
            let home = pinned();
            let old = std::fs::read_to_string(home.path(name)).unwrap();
            home.write(name, &format!("{old}\n"));
            let (exit, rows) = check(&home, trust);
            assert_eq!(exit, 4, "{name}: {rows:#?}");
            home.write(name, &old);
            assert_eq!(check(&home, trust).0, 0, "{name}");
        }
    }
}

#[test]
fn a_lockfile_has_version_three_only_if_it_needs_it() {
    let home = machine();
    let lock = |args: &[&str]| {
        let args = [&["lock", "w/plugins"], args].concat();
        assert_eq!(code(&home.run(&args)), 0, "{args:?}");
        std::fs::read_to_string(home.path("w/plugins/PLUGINS.lock")).unwrap()
    };
    assert!(lock(&[]).contains("\nversion = 2\n"));
    let text = lock(&["--files"]);
    assert!(text.contains("\nversion = 3\n") && text.contains("[plugin.\"b\".files]"), "{text}");
    assert_eq!(code(&home.run(&["lock", "w/plugins", "--check"])), 0);
    home.write("w/plugins/b/new.sh", "echo\n");
    let output = home.run(&["lock", "w/plugins", "--check"]);
    let shown = String::from_utf8(output.stdout.clone()).unwrap();
    assert_eq!(code(&output), 4);
    assert!(shown.contains("differing files: new.sh"), "{shown}");
    assert!(lock(&[]).contains("\nversion = 2\n"));
}
