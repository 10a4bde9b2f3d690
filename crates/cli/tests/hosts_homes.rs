//! The homes in `tests/homes`, which are as the hosts leave them: found, judged, and switched off.

#![expect(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    clippy::indexing_slicing,
    reason = "tests start the program and make directories"
)]
#![expect(clippy::unwrap_used, reason = "a test that cannot set up must stop")]

#[expect(dead_code, reason = "these tests start the program in a project")]
mod home;

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;
use std::process::Output;

use home::{Home, code};
use serde_json::{Value, json};

/// A copy of a home, with a project in it.
struct HostHome(Home);

impl HostHome {
    fn new(host: &str) -> Self {
        let home = Home::new();
        let from = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/homes").join(host);
        copy(&from, "home", &home);
        home.write("home/site/.git/HEAD", "ref: refs/heads/main\n");
        Self(home)
    }

    /// Runs a command in the project.
    fn run(&self, args: &[&str]) -> Output {
        let mut command = self.0.command(args);
        command.current_dir(self.0.path("home/site")).env("PATH", self.0.path("bin")).output().unwrap()
    }

    /// Returns the exit code of `check` and its rows: `DECISION ID KIND CODES`.
    fn rows(&self) -> (i32, Vec<String>) {
        let output = self.run(&["check", "--format", "json"]);
        let report: Value = serde_json::from_slice(&output.stdout).unwrap();
        let row = |plugin: &Value| {
            let mut words = vec![&plugin["decision"], &plugin["id"], &plugin["kind"]];
            words.extend(plugin["reasons"].as_array().unwrap().iter().map(|reason| &reason["code"]));
            let mut words: Vec<&str> = words.into_iter().map(|word| word.as_str().unwrap()).collect();
            if plugin["on"] == json!(false) {
                words.push("off");
            }
            words.join(" ")
        };
        (code(&output), report["plugins"].as_array().unwrap().iter().map(row).collect())
    }

    /// Checks twice: everything is pinned, and then matches its pin.
    fn pinned(host: &str) -> Self {
        let home = Self::new(host);
        assert_eq!(home.rows().0, 0);
        assert_eq!(home.rows().0, 0);
        home
    }

    /// Asserts that `check` refuses these rows, in this order, and no others.
    fn refuses(&self, refused: &[&str], why: &str) {
        let (exit, rows) = self.rows();
        let found: Vec<&String> = rows.iter().filter(|row| !row.starts_with("load ")).collect();
        assert_eq!(found, refused, "{why}: {rows:?}");
        // What is off does not count.
        let counts = refused.iter().any(|row| !row.ends_with(" off"));
        assert_eq!(exit, if counts { 4 } else { 0 }, "{why}: {rows:?}");
    }

    /// Replaces a text of a file, asserts that `check` refuses these rows, and undoes the change.
    fn change(&self, file: &str, from: &str, to: &str, refused: &[&str]) {
        let before = self.read(file);
        let after = before.replacen(from, to, 1);
        assert_ne!(before, after, "{file} does not contain {from}");
        self.0.write(file, &after);
        self.refuses(refused, file);
        self.0.write(file, &before);
        self.refuses(&[], file);
    }

    fn read(&self, file: &str) -> String {
        fs::read_to_string(self.0.path(file)).unwrap()
    }

    /// Writes a program on PATH that prints its arguments.
    fn stub(&self, name: &str) {
        let path = format!("bin/{name}");
        self.0.write(&path, "#!/bin/sh\nfor word in \"$@\"; do echo \"$word\"; done\n");
        fs::set_permissions(self.0.path(&path), fs::Permissions::from_mode(0o755)).unwrap();
    }

    /// Starts a host, and returns the exit code and the arguments that it got.
    fn started(&self, args: &[&str]) -> (i32, Vec<String>) {
        let output = self.run(&[&["run", "--"], args].concat());
        let text = String::from_utf8(output.stdout.clone()).unwrap();
        (code(&output), text.lines().map(str::to_owned).collect())
    }
}

/// Copies a directory of `tests/homes` into a temporary directory, of which its records contain the path.
fn copy(from: &Path, to: &str, home: &Home) {
    let place = home.path("home").display().to_string();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let name = format!("{to}/{}", entry.file_name().to_str().unwrap());
        if entry.file_type().unwrap().is_dir() {
            copy(&entry.path(), &name, home);
        } else {
            home.write(&name, &fs::read_to_string(entry.path()).unwrap().replace("@HOME@", &place));
        }
    }
}

#[test]
fn everything_in_a_home_is_found_and_loads_twice() {
    for host in ["claude", "codex", "gemini"] {
        let home = HostHome::new(host);
        let (exit, rows) = home.rows();
        assert_eq!(exit, 0, "{rows:?}");
        insta::assert_snapshot!(format!("home_{host}"), rows.join("\n"));
        assert_eq!(home.rows(), (0, rows), "{host}");
    }
}

#[test]
fn a_changed_byte_refuses_the_plugin_that_the_host_runs() {
    let claude = HostHome::pinned("claude");
    let cache = "home/.claude/plugins/cache";
    let formatter = ["refuse claude:formatter@acme plugin pin/changed"];
    claude.change(&format!("{cache}/acme/formatter/1.0.0/scripts/report.sh"), "e", "E", &formatter);
    // The host runs the directory of this marketplace, and not the copy in its cache.
    let greeter = ["refuse claude:greeter@tools plugin pin/changed"];
    claude.change("home/tools/plugins/greeter/greet.sh", "e", "E", &greeter);
    claude.change(&format!("{cache}/tools/greeter/1.0.0/greet.sh"), "e", "E", &[]);
    let off = ["refuse claude:notes@acme plugin pin/changed off"];
    claude.change(&format!("{cache}/acme/notes/0.3.0/server.js"), "e", "E", &off);
    let skill = ["refuse claude/skills/release-notes skill pin/changed"];
    claude.change("home/.claude/skills/release-notes/SKILL.md", "e", "E", &skill);

    let codex = HostHome::pinned("codex");
    let review = ["refuse codex:review@acme plugin pin/changed"];
    codex.change("home/.codex/plugins/cache/acme/review/1.0.0/server.js", "e", "E", &review);
    codex.change("home/tools/plugins/review/server.js", "e", "E", &[]);

    let gemini = HostHome::pinned("gemini");
    let clock = ["refuse gemini:clock plugin pin/changed"];
    gemini.change("home/.gemini/extensions/clock/server.js", "e", "E", &clock);
}

#[test]
fn codex_runs_the_highest_version_so_each_one_counts() {
    let codex = HostHome::pinned("codex");
    let cache = codex.0.path("home/.codex/plugins/cache/acme/review");
    // The host does not follow symlinks there.
    symlink("1.0.0", cache.join("1.10.0")).unwrap();
    codex.refuses(&[], "symlink");
    fs::remove_file(cache.join("1.10.0")).unwrap();
    // A name that is not a version can be higher than one.
    for version in ["1.10.0", "local", "zzz"] {
        let file = format!("home/.codex/plugins/cache/acme/review/{version}/.codex-plugin/plugin.json");
        codex.0.write(&file, "{ \"name\": \"review\", \"version\": \"1.10.0\" }\n");
        codex.refuses(&["refuse codex:review@acme plugin pin/changed"], version);
        fs::remove_dir_all(cache.join(version)).unwrap();
    }
    codex.refuses(&[], "removed");
}

#[test]
fn gemini_runs_the_directory_of_a_link() {
    let gemini = HostHome::pinned("gemini");
    let greeter = ["refuse gemini:greeter plugin pin/changed"];
    gemini.change("home/src/greeter/greet.sh", "e", "E", &greeter);
    // The link leads to another directory, whose bytes nobody agreed to.
    gemini
        .0
        .write("home/src/other/gemini-extension.json", "{ \"name\": \"greeter\", \"version\": \"1.0.0\" }");
    let metadata = "home/.gemini/extensions/greeter/.gemini-extension-install.json";
    gemini.change(metadata, "src/greeter", "src/other", &greeter);
    // The same bytes in another place are the same plugin.
    let copied = "home/src/moved";
    copy(&gemini.0.path("home/src/greeter"), copied, &gemini.0);
    gemini.change(metadata, "src/greeter", "src/moved", &[]);
}

#[test]
fn changed_hooks_and_servers_of_the_user_are_refused() {
    let claude = HostHome::pinned("claude");
    let settings = "home/.claude/settings.json";
    let hook = ["refuse claude/settings.json settings pin/changed"];
    claude.change(settings, "echo done", "echo gone", &hook);
    claude.change(
        "home/.claude.json",
        "clock.js",
        "other.js",
        &["refuse ~/.claude.json servers pin/changed"],
    );
    // What the host itself writes there runs nothing.
    claude.change("home/.claude.json", "\"numStartups\": 3", "\"numStartups\": 4", &[]);
    claude.change(settings, "\"hooks\"", "\"model\": \"opus\", \"hooks\"", &[]);

    let codex = HostHome::pinned("codex");
    let hook = ["refuse codex/hooks.json settings pin/changed"];
    codex.change("home/.codex/hooks.json", "echo done", "echo gone", &hook);
    let config = "home/.codex/config.toml";
    codex.change(config, "clock.js", "other.js", &["refuse codex/config.toml servers pin/changed"]);
    codex.change(
        config,
        "[marketplaces",
        "[projects.\"/x\"]\ntrust_level = \"trusted\"\n\n[marketplaces",
        &[],
    );

    let gemini = HostHome::pinned("gemini");
    let settings = "home/.gemini/settings.json";
    let refused = ["refuse gemini/settings.json settings pin/changed"];
    gemini.change(settings, "echo done", "echo gone", &refused);
    gemini.change(settings, "time.js", "other.js", &refused);
    gemini.change(settings, "// The host accepts comments", "/* None */ //", &[]);
}

/// The files were seen after sessions of the hosts, in these homes.
#[test]
fn files_that_a_session_leaves_are_not_a_change() {
    let claude = HostHome::pinned("claude");
    let plugins = "home/.claude/plugins";
    fs::create_dir(claude.0.path(&format!("{plugins}/cache/acme/formatter/1.0.0/.in_use"))).unwrap();
    fs::create_dir_all(claude.0.path(&format!("{plugins}/data/greeter-tools"))).unwrap();
    claude.0.write(&format!("{plugins}/.last_inuse_sweep"), "2026-11-25T23:33:29.000Z");
    claude.0.write(&format!("{plugins}/store/cc-plugin-agents-md_builtin-0123456789ab.json"), "{}");
    claude.0.write("home/.claude/projects/-home-site/session.jsonl", "{}\n");
    claude.0.write("home/.claude/backups/.claude.json.backup.1795649608810", "{}\n");
    let mut state: Value = serde_json::from_str(&claude.read("home/.claude.json")).unwrap();
    state["projects"] = json!({ claude.0.path("home/site").display().to_string(): { "mcpServers": {} } });
    claude.0.write("home/.claude.json", &state.to_string());
    claude.refuses(&[], "claude");

    let codex = HostHome::pinned("codex");
    codex.0.write("home/.codex/.tmp/plugins.sync.lock", "");
    codex.0.write("home/.codex/sessions/2026/11/25/rollout.jsonl", "{}\n");
    codex.0.write("home/.codex/skills/.system/.codex-system-skills.marker", "0123456789abcdef\n");
    codex.0.write("home/.codex/skills/.system/review-agent/SKILL.md", "---\nname: review-agent\n---\n");
    fs::remove_dir_all(codex.0.path("home/.codex/skills/.system/helper")).unwrap();
    codex.refuses(&[], "codex");

    let gemini = HostHome::pinned("gemini");
    gemini.0.write("home/.gemini/projects.json", "{\"projects\":{}}");
    gemini.0.write("home/.gemini/history/site/.project_root", "/home/site");
    gemini.refuses(&[], "gemini");
}

#[test]
fn claude_starts_without_a_plugin_that_runs_in_place() {
    let claude = HostHome::pinned("claude");
    claude.stub("claude");
    claude.0.write("home/tools/plugins/greeter/greet.sh", "echo changed\n");
    // A plugin among the skills is switched off by the name in its manifest.
    claude.0.write("home/.claude/skills/cleanup/SKILL.md", "---\nname: cleanup\n---\nChanged.\n");
    let off = "{\"enabledPlugins\":{\"greeter@tools\":false,\"tidy@skills-dir\":false}}";
    let words = ["--settings", off, "-p", "hi"].map(str::to_owned);
    assert_eq!(claude.started(&["claude", "-p", "hi"]), (0, words.to_vec()));
}

#[test]
fn codex_starts_without_the_plugin_that_is_refused() {
    let codex = HostHome::pinned("codex");
    codex.stub("codex");
    assert_eq!(codex.started(&["codex", "exec", "hi"]), (0, vec!["exec".to_owned(), "hi".to_owned()]));
    codex.0.write("home/.codex/plugins/cache/acme/review/1.0.0/server.js", "changed\n");
    let words = ["-c", "plugins={\"review@acme\"={enabled=false}}", "exec", "hi"].map(str::to_owned);
    assert_eq!(codex.started(&["codex", "exec", "hi"]), (0, words.to_vec()));
    // The last value of a key counts, so these would enable it again.
    let on = "plugins={\"review@acme\"={enabled=true}}";
    let dotted = "plugins.review@acme.enabled=true";
    for args in
        [&["-c", on][..], &["exec", "--config", dotted], &[&format!("-c={on}")], &[&format!("--config={on}")]]
    {
        let args = [&["codex"], args].concat();
        assert_eq!(codex.started(&args), (4, Vec::new()), "{args:?}");
    }
    for args in [&["-c", "model=\"x\""][..], &["exec", "plugins=3"]] {
        assert_eq!(codex.started(&[&["codex"], args].concat()).0, 0, "{args:?}");
    }
    // The hooks of the user cannot be switched off one by one.
    let hook = json!({ "hooks": { "Stop": [{ "hooks": [{ "type": "command", "command": "true" }] }] } });
    codex.0.write("home/.codex/hooks.json", &hook.to_string());
    assert_eq!(codex.started(&["codex"]), (4, Vec::new()));
}

#[test]
fn gemini_starts_with_the_extensions_that_load() {
    let gemini = HostHome::pinned("gemini");
    gemini.stub("gemini");
    assert_eq!(gemini.started(&["gemini", "-p", "hi"]), (0, vec!["-p".to_owned(), "hi".to_owned()]));
    gemini.0.write("home/.gemini/extensions/clock/server.js", "changed\n");
    // `notes` is off here, so it is not named either.
    let words = ["-e", "greeter", "-p", "hi"].map(str::to_owned);
    assert_eq!(gemini.started(&["gemini", "-p", "hi"]), (0, words.to_vec()));
    // The user chose the extensions, and one of all is refused.
    assert_eq!(gemini.started(&["gemini", "-e", "clock"]), (4, Vec::new()));
    gemini.0.write("home/src/greeter/greet.sh", "echo changed\n");
    assert_eq!(gemini.started(&["gemini"]), (0, vec!["-e".to_owned(), "none".to_owned()]));
}

#[test]
fn two_extensions_with_one_name_start_nothing() {
    let gemini = HostHome::pinned("gemini");
    gemini.stub("gemini");
    // The host takes the name from the manifest, so `-e clock` would choose both.
    gemini.0.write(
        "home/.gemini/extensions/second/gemini-extension.json",
        "{ \"name\": \"other\", \"version\": \"1.0.0\" }",
    );
    assert_eq!(gemini.started(&["gemini"]), (0, Vec::new()));
    let third = "home/.gemini/extensions/third/gemini-extension.json";
    gemini.0.write(third, "{ \"name\": \"clock\", \"version\": \"1.0.0\" }");
    assert_eq!(gemini.started(&["gemini"]), (4, Vec::new()));
    // Nor does one that is refused under the name of one that loads.
    fs::remove_dir_all(gemini.0.path("home/.gemini/extensions/third")).unwrap();
    gemini.0.write(
        "home/.gemini/extensions/second/gemini-extension.json",
        "{ \"name\": \"clock\", \"version\": \"1.0.1\" }",
    );
    assert_eq!(gemini.started(&["gemini"]), (4, Vec::new()));
}

/// Returns the exit code and the whole output of a command in a project.
fn all(home: &HostHome, args: &[&str]) -> (i32, String) {
    let output = home.run(args);
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    (code(&output), format!("{}{}", text(&output.stdout), text(&output.stderr)))
}

/// Returns a home without any host, with a project in it.
fn empty_home() -> HostHome {
    let home = Home::new();
    home.write("home/site/.git/HEAD", "ref: refs/heads/main\n");
    HostHome(home)
}

const ACME: &str = "[hosts.acme]\nhome = { default = \"~/.acme\" }\nskills = [\"@/skills\"]\n\
    mcp = [{ file = \"@/mcp.json\", format = \"json\", at = \"/mcpServers\", shape = \"plain\" }]\n";

#[test]
fn a_row_of_the_user_adds_a_host_and_one_of_a_repository_does_not() {
    let home = empty_home();
    home.0.write("home/.acme/mcp.json", "{\"mcpServers\":{\"s\":{\"command\":\"true\"}}}");
    assert_eq!(home.rows(), (2, vec![]));
    home.0.write("home/site/.plugward/config.toml", ACME);
    assert_eq!(home.rows().1, [""; 0]);
    home.0.write("config/config.toml", ACME);
    assert_eq!(home.rows(), (0, vec!["load acme/mcp.json servers".to_owned()]));
    let (exit, text) = all(&home, &["check", "--host", "acme"]);
    assert!(
        exit == 0
            && text.contains("(places from your settings)")
            && text.contains("policy/not-from-repository"),
        "{text}"
    );
    for (from, to, what) in [
        ("@/skills", "/", "config.toml:3:10"),
        ("skills", "skils", "unknown field `skils`"),
        ("~/.acme", "~/", "config.toml:2:20"),
        ("acme", "a", "not an id of a host"),
    ] {
        home.0.write("config/config.toml", &ACME.replacen(from, to, 1));
        let (exit, text) = all(&home, &["check"]);
        assert!(exit == 2 && text.contains(what) && text.contains("policy/settings"), "{to}: {text}");
    }
}

#[test]
fn a_host_without_switches_starts_only_if_everything_loads() {
    let home = empty_home();
    for name in ["qwen", "auggie", "windsurf"] {
        home.stub(name);
    }
    home.0.write("home/.qwen/skills/s/SKILL.md", "---\nname: s\ndescription: Counts words.\n---\nx\n");
    assert_eq!(home.started(&["qwen", "hi"]), (0, vec!["hi".to_owned()]));
    home.0.write("home/.qwen/skills/s/SKILL.md", "---\nname: s\ndescription: Counts lines.\n---\nx\n");
    assert_eq!(home.started(&["qwen", "hi"]), (4, vec![]));
    assert_eq!(home.started(&["auggie", "hi"]), (0, vec!["hi".to_owned()]));
    let (exit, text) = all(&home, &["run", "--", "windsurf"]);
    assert!(exit == 2 && text.contains("its places were not tested"), "{text}");
}

#[test]
fn no_host_loads_nothing_next_to_a_place_that_was_not_read() {
    let home = empty_home();
    home.0.write("home/.config/opencode/opencode.json", "{}");
    let (exit, text) = all(&home, &["check", "--no-project"]);
    assert!(exit == 2 && text.contains("nothing that runs"), "{text}");
    home.0.write("home/.config/Code/agentPlugins/github.com/x/y/plugin.json", "{}");
    home.0.write("home/.config/Code/User/settings.json", "{}");
    let (_, text) = all(&home, &["check", "--no-project", "--host", "vscode"]);
    assert!(
        text.contains("not judged: ~/.config/Code/agentPlugins") && !text.contains("nothing that runs"),
        "{text}"
    );
}
