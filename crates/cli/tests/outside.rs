//! What runs outside a plugin, and what its text leaves open: shown, agreed to, and compared.

#![expect(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "tests start the program and make directories"
)]
#![expect(clippy::unwrap_used, reason = "a test that cannot set up must stop")]

#[expect(dead_code, reason = "these tests start the program in a project")]
mod home;

use home::{Home, code};
use serde_json::json;

const SETTINGS: &str = ".claude/settings.json";
const OPEN: &str = "bash \"$(pick)\"";
const WORDS: &str = "the text does not determine what runs: $(pick) at";

/// A project with one hook for each command, and a file that imports another.
fn project(commands: &[&str]) -> Home {
    let home = Home::new();
    home.write("home/.claude/settings.json", "{}");
    home.write("w/.git/HEAD", "ref: refs/heads/main\n");
    home.write("w/.claude/settings.json", &hooks(commands));
    home.write("w/.claude/a.mjs", "import \"./b.mjs\"\n");
    home.write("w/.claude/b.mjs", "console.log(1)\n");
    home
}

fn hooks(commands: &[&str]) -> String {
    let handler = |command: &&str| json!({ "type": "command", "command": command });
    let handlers: Vec<_> = commands.iter().map(handler).collect();
    json!({ "hooks": { "Stop": [{ "hooks": handlers }] } }).to_string()
}

/// A plugin that is used in place, and that runs a file next to it.
fn plugin() -> Home {
    let home = project(&[]);
    home.write("w/plugins/p/.claude-plugin/plugin.json", "{ \"name\": \"p\", \"version\": \"1.0.0\" }");
    let commands = [OPEN, "bash \"${CLAUDE_PLUGIN_ROOT}/../../tools/x.sh\""];
    home.write("w/plugins/p/hooks/hooks.json", &hooks(&commands));
    home.write("w/tools/x.sh", "echo 1\n");
    home
}

fn run(home: &Home, args: &[&str]) -> (i32, String) {
    let output = home.command(args).current_dir(home.path("w")).output().unwrap();
    let text = [output.stdout.as_slice(), output.stderr.as_slice()].concat();
    // A line that is too long for the terminal is continued in the next one.
    let text = String::from_utf8(text).unwrap().split_whitespace().collect::<Vec<_>>().join(" ");
    (code(&output), text)
}

/// Runs the command with which `diff` says to accept a version, with these of its `--with` digests.
fn accept(home: &Home, with: impl Fn(&str) -> bool) -> (i32, String) {
    let (_, diff) = run(home, &["diff", SETTINGS]);
    let command = diff.split("plugward accept ").nth(1).unwrap().replace("\\ ", "");
    let mut words = command.split(' ');
    let mut args = vec!["accept", words.next().unwrap()];
    while let (Some(flag), Some(value)) = (words.next(), words.next()) {
        if flag != "--with" || with(value) {
            args.extend([flag, value]);
        }
    }
    run(home, &args)
}

#[test]
fn files_outside_are_shown_compared_and_accepted_with_one_digest() {
    let home = project(&["node .claude/a.mjs"]);
    assert_eq!(run(&home, &["check"]).0, 0);
    for verb in ["info", "explain"] {
        let (_, text) = run(&home, &[verb, SETTINGS]);
        assert!(text.contains("runs files outside the plugin: .claude/a.mjs .claude/b.mjs"), "{text}");
    }
    home.write("w/.claude/b.mjs", "console.log(2)\n");
    let (exit, text) = run(&home, &["check"]);
    assert!(exit == 4 && text.contains("a file that it runs differs"), "{text}");
    let (_, diff) = run(&home, &["diff", SETTINGS]);
    assert!(diff.contains("1 file changed") && !diff.contains("a.mjs"), "{diff}");
    assert!(diff.contains("modified ./.claude/b.mjs") && diff.contains("-console.log(1)"), "{diff}");
    assert_eq!(diff.matches("--with").count(), 1, "{diff}");
    let (exit, text) = accept(&home, |_| false);
    assert!(exit == 4 && text.contains("the digest of the files outside the plugin was not named"), "{text}");
    assert_eq!(accept(&home, |_| true).0, 0);
    assert_eq!(run(&home, &["check", "--trust", "locked"]).0, 0);
}

#[test]
fn unresolved_commands_are_agreed_to_with_their_version() {
    let home = project(&[OPEN]);
    let (exit, text) = run(&home, &["check"]);
    assert!(exit == 3 && text.contains("surface/unresolved"), "{text}");
    assert!(!home.path("config/plugins.pins.toml").exists(), "nothing is pinned before a person agrees");
    assert_eq!(run(&home, &["check", "--trust", "locked"]).0, 4);
    for verb in ["info", "explain", "diff"] {
        let (_, text) = run(&home, &[verb, SETTINGS]);
        assert!(text.contains(WORDS), "{verb}: {text}");
    }
    let (exit, text) = accept(&home, |_| true);
    assert_eq!(exit, 0, "{text}");
    for trust in ["tofu", "prompt", "locked"] {
        let (exit, text) = run(&home, &["check", "--trust", trust]);
        assert_eq!(exit, 0, "{trust}: {text}");
    }
    let pins = std::fs::read_to_string(home.path("config/plugins.pins.toml")).unwrap();
    assert!(pins.contains("\nunresolved = [\"sha256:") && !pins.contains("pick"), "{pins}");
    // The diff of an update lists the new command alone.
    home.write("w/.claude/settings.json", &hooks(&[OPEN, "bash \"$(choose)\""]));
    let (_, diff) = run(&home, &["diff", SETTINGS]);
    assert!(diff.contains("what runs: $(choose) at") && !diff.contains(WORDS), "{diff}");
    let (exit, text) = run(&home, &["check"]);
    assert!(exit == 4 && text.contains("`$(choose)`") && !text.contains("`$(pick)`"), "{text}");
}

#[test]
fn a_lockfile_agrees_to_unresolved_commands_with_a_flag() {
    let home = plugin();
    let (exit, text) = run(&home, &["lock", "plugins"]);
    assert!(exit == 2 && text.contains(WORDS) && text.contains("--unresolved"), "{text}");
    assert!(!home.path("w/plugins/PLUGINS.lock").exists());
    assert_eq!(run(&home, &["lock", "plugins", "--unresolved"]).0, 0);
    let lock = std::fs::read_to_string(home.path("w/plugins/PLUGINS.lock")).unwrap();
    assert!(lock.contains("\nversion = 3\n") && lock.contains("\nclosure = \"pt1:"), "{lock}");
    // A command that the lockfile lists needs no flag.
    let (exit, text) = run(&home, &["lock", "plugins"]);
    assert!(exit == 0 && text.contains("up to date"), "{text}");
    let (locked, verified) = (&["check", "plugins", "--trust", "locked"], &["lock", "plugins", "--check"]);
    for args in [&locked[..], verified] {
        let (exit, text) = run(&home, args);
        assert_eq!(exit, 0, "{args:?}: {text}");
    }
    // In the other modes, the lockfile of a repository does not agree for the user.
    assert_eq!(run(&home, &["check", "plugins"]).0, 3);
    assert_eq!(run(&home, &["lock", "plugins", "--accept"]).0, 0);
    assert_eq!(run(&home, &["check", "plugins"]).0, 0);
    home.write("w/tools/x.sh", "echo 2\n");
    for args in [&locked[..], verified] {
        let (exit, text) = run(&home, args);
        assert!(exit == 4 && text.contains("PLUGINS.lock lists other files outside the plugin"), "{text}");
        assert!(!text.contains("surface/unresolved"), "{text}");
    }
}

#[test]
fn a_lockfile_that_does_not_list_a_command_does_not_match() {
    let home = plugin();
    assert_eq!(run(&home, &["lock", "plugins", "--unresolved"]).0, 0);
    let lock = std::fs::read_to_string(home.path("w/plugins/PLUGINS.lock")).unwrap();
    let rows = lock.lines().filter(|row| !row.starts_with("unresolved = "));
    home.write("w/plugins/PLUGINS.lock", &(rows.collect::<Vec<_>>().join("\n") + "\n"));
    let (exit, text) = run(&home, &["check", "plugins", "--trust", "locked"]);
    assert!(exit == 4 && text.contains("surface/unresolved") && !text.contains("lock/mismatch"), "{text}");
    let (exit, text) = run(&home, &["lock", "plugins", "--check"]);
    assert!(exit == 4 && text.contains(WORDS), "{text}");
}

#[test]
fn a_record_does_not_hide_a_file_that_appears_outside_a_plugin() {
    let home = project(&[]);
    let plugin = |path: &str| format!("w/plugins/p/{path}");
    home.write(&plugin(".claude-plugin/plugin.json"), "{ \"name\": \"p\", \"version\": \"1.0.0\" }");
    home.write(&plugin("hooks/hooks.json"), &hooks(&["bash \"${CLAUDE_PLUGIN_ROOT}/run.sh\""]));
    home.write(&plugin("run.sh"), ". \"$(dirname \"$0\")/../../tools/x.sh\"\n");
    home.write("w/tools/other.sh", "echo 1\n");
    // The first check stores the record, and the second one uses it.
    for _ in 0..2 {
        assert_eq!(run(&home, &["check", "plugins"]).0, 0);
    }
    home.write("w/tools/other.sh", "echo 2\n");
    assert_eq!(run(&home, &["check", "plugins"]).0, 0);
    home.write("w/tools/x.sh", "echo 1\n");
    let (exit, text) = run(&home, &["check", "plugins"]);
    assert!(exit == 4 && text.contains("files outside the plugin differ"), "{text}");
    assert_eq!((exit, text), run(&home, &["check", "--no-cache", "plugins"]));
    std::fs::remove_file(home.path("w/tools/x.sh")).unwrap();
    assert_eq!(run(&home, &["check", "plugins"]).0, 0);
    // A link to a file that was not looked up before.
    std::os::unix::fs::symlink("other.sh", home.path("w/tools/x.sh")).unwrap();
    assert_eq!(run(&home, &["check", "plugins"]).0, 4);
}
