//! Command plugins: `which`, `install`, `update`, `remove`, `pin` and `registry list`. None of them starts a plugin.

#![expect(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "a test reads the files that the program wrote"
)]
#![expect(clippy::unwrap_used, reason = "a test that cannot set up must stop")]

#[expect(dead_code, reason = "these tests run the program with directories of their own")]
mod home;
#[path = "home/terminal.rs"]
mod terminal;

use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;
use std::process::{Command, Output};

use home::{Home, code};
use serde_json::{Value, json};

const HI: &str = "plugins.command.hi";

/// A home directory with the script `plugward-hi` on the path, and a registry file.
struct Machine {
    home: Home,
    /// The SHA-256 of the script.
    digest: String,
}

/// Returns the digest that `sha256sum` prints, so that the expected digests come from another program.
fn sha256(bytes: &[u8]) -> String {
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), bytes).unwrap();
    let output = Command::new("sha256sum").arg(file.path()).output().unwrap();
    String::from_utf8(output.stdout).unwrap().split(' ').next().unwrap().to_owned()
}

impl Machine {
    fn new() -> Self {
        let home = Home::new();
        let script = format!("#!/bin/sh\ntouch {}\n", home.path("ran").display());
        let machine = Self { digest: sha256(script.as_bytes()), home };
        machine.on_path(&script);
        let mode = std::fs::Permissions::from_mode(0o755);
        std::fs::set_permissions(machine.home.path("bin"), mode).unwrap();
        machine
    }

    /// Puts an executable of this text on the path.
    fn on_path(&self, text: &str) {
        self.home.write("bin/plugward-hi", text);
        let mode = std::fs::Permissions::from_mode(0o755);
        std::fs::set_permissions(self.home.path("bin/plugward-hi"), mode).unwrap();
    }

    /// Configures the registry, and lists `hi` with a digest.
    fn list(&self, digest: &str) {
        self.list_entry(digest, r#""official": true"#);
    }

    fn list_entry(&self, digest: &str, more: &str) {
        let target = format!("{}-unknown-linux-gnu", std::env::consts::ARCH);
        let url = format!("file://{}", self.home.path("bin/plugward-hi").display());
        self.home.write(
            "reg.json",
            &format!(
                r#"{{"version":1,"plugins":{{"hi":{{"id":"hi","description":"Hi",{more},"binaries":{{"{target}":{{"url":"{url}","sha256":"{digest}"}}}}}}}}}}"#
            ),
        );
        let registry = format!("file://{}", self.home.path("reg.json").display());
        self.home.write(
            "config/config.toml",
            &format!("# Mine.\nplugins.registry = {{ url = \"{registry}\" }}\n"),
        );
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut command = self.home.command(args);
        let path = format!("{}:/usr/bin:/bin", self.home.path("bin").display());
        command.env("PATH", path).env("PLUGWARD_DATA_DIR", self.home.path("data"));
        command
    }

    fn run(&self, args: &[&str]) -> Output {
        let output = self.command(args).output().unwrap();
        assert!(!self.home.path("ran").exists(), "{args:?} started the plugin");
        output
    }

    /// Runs a command and compares its exit code.
    fn exits(&self, expected: i32, args: &[&str]) -> String {
        let output = self.run(args);
        let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        assert_eq!(code(&output), expected, "{args:?}: {out}{err}");
        format!("{out}{err}")
    }

    fn json(&self, args: &[&str]) -> Value {
        serde_json::from_slice(&self.run(args).stdout).unwrap()
    }

    fn installed(&self) -> PathBuf {
        self.home.path("data/plugins/command/plugward-hi")
    }
}

/// The second half of the script of the issue, from `mkdir bin` on.
#[test]
fn the_show() {
    let machine = Machine::new();
    let none = sha256(b"\n");
    let cfg = |key: &str, value: &str| format!("{HI}.{key}={value}");
    let exits = |expected, args: &[&str]| machine.exits(expected, args);
    exits(3, &["which", "hi"]);
    exits(2, &["which", "nope"]);
    exits(0, &["--cfg", &cfg("run", "unattended"), "which", "hi"]);
    exits(5, &["--cfg", &cfg("run", "deny"), "which", "hi"]);
    exits(4, &["--cfg", &cfg("checksum.value", &none), "which", "hi"]);
    machine.list(&none);
    exits(4, &["install", "hi"]);
    machine.list(&machine.digest);
    exits(4, &["--cfg", &cfg("checksum.value", &none), "install", "hi"]);
    assert!(!machine.installed().exists());
    exits(0, &["registry", "list"]);
    exits(3, &["which", "hi"]);
    exits(0, &["install", "hi"]);
    exits(0, &["which", "hi"]);
    exits(2, &["install", "hi"]);
    exits(0, &["pin", "hi"]);
    let settings = std::fs::read_to_string(machine.home.path("config/config.toml")).unwrap();
    assert!(settings.contains(&machine.digest) && settings.starts_with("# Mine.\n"), "{settings}");
    let mut file = std::fs::OpenOptions::new().append(true).open(machine.installed()).unwrap();
    std::io::Write::write_all(&mut file, b"\n").unwrap();
    drop(file);
    exits(4, &["which", "hi"]);
    exits(0, &["remove", "hi"]);
    assert!(!exits(3, &["remove", "../../x"]).contains("install it"));
    exits(2, &["--cfg", &cfg("rum", "ask"), "which", "hi"]);
}

#[test]
fn which_as_json() {
    let machine = Machine::new();
    machine.list(&machine.digest);
    machine.exits(0, &["install", "hi"]);
    let shown = machine.json(&["which", "hi", "there", "--format", "json"]);
    let expected = json!({
        "version": 1, "name": "hi", "found": "installed", "id": "hi", "official": true, "file": "plugward-hi",
        "checksum": "none", "run": "unattended", "decision": "run", "code": null, "args": ["there"], "options": {}
    });
    assert_eq!(shown, expected);
    let with_options = ["--cfg", &format!("{HI}.options.web.port=3141"), "which", "hi", "--format", "json"];
    assert_eq!(machine.json(&with_options)["options"], json!({ "web": { "port": 3141 } }));
    // The order of the keys is a part of the contract.
    let text = String::from_utf8(machine.run(&["which", "hi", "--format", "json"]).stdout).unwrap();
    let keys: Vec<&str> =
        text.lines().filter_map(|line| line.strip_prefix("  \"")?.split('"').next()).collect();
    let order = "version name found id official file checksum run decision code args options";
    assert_eq!(keys.join(" "), order);
    let unknown = machine.json(&["which", "nope", "--format", "json"]);
    assert_eq!((&unknown["found"], &unknown["code"]), (&json!("none"), &json!("registry/unknown")));
    assert_eq!((&unknown["id"], &unknown["decision"]), (&Value::Null, &json!("refuse")));
    let listing = machine.json(&["registry", "list", "--format", "json"]);
    let expected = json!({
        "version": 1,
        "registry": [{ "name": "hi", "id": "hi", "kind": "command", "official": true, "state": "installed", "notes": [] }],
        "path": [{ "name": "hi", "file": "plugward-hi", "state": "not checked" }]
    });
    assert_eq!(listing, expected);
}

#[test]
fn a_terminal_changes_the_help_and_not_the_decision() {
    let machine = Machine::new();
    let without = machine.exits(3, &["which", "hi"]);
    assert!(without.contains("policy/ask") && without.contains("run = \"unattended\""), "{without}");
    // The program finds the script by the path of this test.
    let (code, _, shown) =
        terminal::at_a_terminal(&machine.home, &["--data-dir", "data", "which", "nope"], "");
    assert_eq!(code, 2, "{shown}");
}

#[test]
fn a_third_party_plugin_is_installed_after_a_question() {
    let machine = Machine::new();
    machine.list_entry(&machine.digest, r#""official": false, "repository": "https://example.org/hi""#);
    let refused = machine.exits(3, &["install", "hi"]);
    assert!(refused.contains(&format!("{HI}.install = true")), "{refused}");
    let args = ["--data-dir", "data", "install", "hi"];
    let (code, _, shown) = terminal::at_a_terminal(&machine.home, &args, "\n");
    assert_eq!(code, 3, "enter means no: {shown}");
    assert!(shown.contains("not an official plugin") && shown.contains("https://example.org/hi"), "{shown}");
    assert!(!machine.installed().exists());
    let (code, out, shown) = terminal::at_a_terminal(&machine.home, &args, "y\n");
    assert_eq!(code, 0, "{out}{shown}");
    assert!(machine.installed().exists());
    machine.exits(3, &["which", "hi"]);
    machine.exits(0, &["remove", "hi"]);
    machine.exits(3, &["install", "hi"]);
    machine.exits(0, &["--cfg", &format!("{HI}.install=true"), "install", "hi"]);
}

#[test]
fn a_digest_can_be_revoked() {
    let machine = Machine::new();
    machine.list(&machine.digest);
    machine.exits(0, &["install", "hi"]);
    let digest = format!("sha256:{}", machine.digest);
    machine.exits(0, &["revoke", &digest, "--reason", "steals tokens"]);
    assert!(machine.exits(5, &["which", "hi"]).contains("steals tokens"));
    machine.exits(0, &["remove", "hi"]);
    machine.exits(5, &["install", "hi"]);
    machine.exits(0, &["unrevoke", &digest]);
    machine.exits(0, &["install", "hi"]);
    // An entry for another file does not apply.
    machine.exits(0, &["revoke", &format!("sha256:{}", sha256(b"x")), "--reason", "steals tokens"]);
    machine.exits(0, &["which", "hi"]);
}

#[test]
fn an_update_is_listed_and_installed() {
    let machine = Machine::new();
    machine.list(&machine.digest);
    machine.exits(3, &["update", "hi"]);
    machine.exits(0, &["install", "hi"]);
    assert!(machine.exits(0, &["update"]).contains("up to date"));
    machine.exits(0, &["pin", "hi"]);
    machine.exits(0, &["pin", "hi"]);
    let newer = "#!/bin/sh\nexit 9\n";
    machine.on_path(newer);
    let digest = sha256(newer.as_bytes());
    let settings = std::fs::read_to_string(machine.home.path("config/config.toml")).unwrap();
    machine.list(&digest);
    machine.home.write("config/config.toml", &settings);
    let listed = machine.exits(0, &["update"]);
    assert!(listed.contains(&machine.digest) && listed.contains(&digest), "{listed}");
    assert!(
        std::fs::read_to_string(machine.installed()).unwrap().contains("touch"),
        "nothing is replaced yet"
    );
    // The pin stops the update, and its message has the command that replaces the pin.
    let stopped = machine.exits(4, &["update", "--apply"]);
    assert!(stopped.contains("registry/pinned"), "{stopped}");
    // The command is broken into lines as a shell would accept it.
    let flat = stopped.replace('\\', " ").split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(flat.contains(&format!("plugward pin hi --update sha256:{digest}")), "{stopped}");
    machine.exits(0, &["which", "hi"]);
    machine.exits(4, &["pin", "hi", "--update", &format!("sha256:{}", sha256(b"guess"))]);
    // A changed file is named, and not replaced.
    let before = std::fs::read(machine.installed()).unwrap();
    std::fs::write(machine.installed(), "#!/bin/sh\nevil\n").unwrap();
    for args in [&["update"][..], &["update", "--apply"]] {
        let named = machine.exits(4, args);
        assert!(named.contains("registry/changed") && named.contains("plugward-hi"), "{named}");
        assert!(!named.contains("up to date"), "{named}");
    }
    std::fs::write(machine.installed(), before).unwrap();
    machine.exits(2, &["pin", "hi", "--update", "sha256:12"]);
    machine.exits(0, &["pin", "hi", "--update", &format!("sha256:{digest}")]);
    machine.exits(4, &["which", "hi"]);
    machine.exits(0, &["update", "--apply"]);
    machine.exits(0, &["which", "hi"]);
    assert_eq!(std::fs::read_to_string(machine.installed()).unwrap(), newer);
}

#[test]
fn the_last_good_copy_is_used_with_its_age() {
    let machine = Machine::new();
    let none = machine.exits(2, &["registry", "list"]);
    assert!(none.contains("registry/none"), "{none}");
    machine.list(&machine.digest);
    machine.home.write("reg.json", "<!doctype html>");
    machine.exits(4, &["registry", "list"]);
    machine.list(&machine.digest);
    machine.exits(0, &["registry", "list"]);
    for broken in
        ["<!doctype html>", "{\"version\": 1, \"plugins\": {\"hi\": {}, \"hi\": {}}}", "{\"version\": 1,"]
    {
        machine.home.write("reg.json", broken);
        let shown = machine.exits(0, &["registry", "list"]);
        assert!(shown.contains("registry/kept") && shown.contains("ago"), "{shown}");
        assert!(shown.contains("registry/syntax"), "{shown}");
    }
    std::fs::remove_file(machine.home.path("reg.json")).unwrap();
    assert!(machine.exits(0, &["install", "hi"]).contains("registry/kept"));
    machine.home.write("config/config.toml", "plugins.registry = { url = \"http://example.org/r\" }\n");
    assert!(machine.exits(2, &["install", "hi"]).contains("loopback"));
}

#[test]
fn a_pin_keeps_the_comments_of_the_settings() {
    let machine = Machine::new();
    let settings = "# First.\ntrust = \"tofu\" # why\n\n[plugins.command.hi]\nrun = \"ask\" # each time\n\n# Last.\n[limits]\ntree_files = 9\n";
    machine.home.write("config/config.toml", settings);
    machine.exits(0, &["pin", "hi"]);
    let written = std::fs::read_to_string(machine.home.path("config/config.toml")).unwrap();
    let row = format!("checksum = {{ algorithm = \"sha256\", value = \"{}\" }}\n", machine.digest);
    assert_eq!(written.replace(&row, ""), settings, "{written}");
    machine.exits(3, &["which", "hi"]);
    // A pin of another file is not replaced without the shown digest.
    machine.on_path("#!/bin/sh\n");
    let changed = machine.exits(4, &["which", "hi"]);
    assert!(changed.contains("config.toml:6:") && changed.contains("user"), "{changed}");
    machine.exits(4, &["pin", "hi"]);
    let digest = format!("sha256:{}", sha256(b"#!/bin/sh\n"));
    machine.exits(0, &["pin", "hi", "--update", &digest]);
    machine.exits(3, &["which", "hi"]);
    let again = std::fs::read_to_string(machine.home.path("config/config.toml")).unwrap();
    assert_eq!(again.lines().count(), written.lines().count(), "{again}");
    machine.exits(2, &["pin", "nope"]);
    machine.exits(5, &["--cfg", &format!("{HI}.run=deny"), "pin", "hi"]);
}

#[test]
fn unreadable_receipts_are_exit_7() {
    let machine = Machine::new();
    machine.list(&machine.digest);
    machine.exits(0, &["install", "hi"]);
    std::fs::write(machine.home.path("data/plugins/command/receipts.toml"), "version = 2\n").unwrap();
    for args in [&["which", "hi"][..], &["remove", "hi"], &["registry", "list"], &["install", "hi"]] {
        assert!(machine.exits(7, args).contains("registry/receipts"), "{args:?}");
    }
    machine.exits(5, &["--cfg", &format!("{HI}.run=deny"), "which", "hi"]);
}

#[test]
fn two_plugins_of_this_workspace_and_a_script_are_listed_and_installed() {
    let machine = Machine::new();
    // The program under test stands for a large executable: it is installed and never started.
    let large = std::fs::read(env!("CARGO_BIN_EXE_plugward")).unwrap();
    std::fs::write(machine.home.path("large"), &large).unwrap();
    let target = format!("{}-unknown-linux-gnu", std::env::consts::ARCH);
    let row = |name: &str, id: &str, file: &str, bytes: &[u8]| {
        let url = format!("file://{}", machine.home.path(file).display());
        format!(
            r#""{name}": {{"id": "{id}", "description": "d", "official": true, "binaries": {{"{target}": {{"url": "{url}", "sha256": "{}"}}}}}}"#,
            sha256(bytes)
        )
    };
    machine.list(&machine.digest);
    let script = std::fs::read(machine.home.path("bin/plugward-hi")).unwrap();
    let rows = [row("serve web", "serve", "large", &large), row("hi", "hi", "bin/plugward-hi", &script)];
    machine.home.write("reg.json", &format!(r#"{{"version": 1, "plugins": {{{}}}}}"#, rows.join(",")));
    machine.exits(0, &["install", "serve web"]);
    machine.exits(0, &["install", "hi"]);
    machine.exits(0, &["which", "serve", "web", "--", "--port", "1"]);
    let shown = machine.json(&["which", "serve web", "--format", "json", "--", "--port"]);
    assert_eq!((&shown["name"], &shown["args"]), (&json!("serve web"), &json!(["--port"])));
    assert!(std::fs::read(machine.home.path("data/plugins/command/plugward-serve")).unwrap() == large);
}

/// A repository can deny a plugin or ask about it, and can neither allow nor trust one.
#[test]
fn a_repository_only_tightens_what_may_run() {
    let machine = Machine::new();
    std::fs::create_dir_all(machine.home.path("repo/.git/inner")).unwrap();
    std::fs::write(machine.home.path("repo/.git/HEAD"), "ref: refs/heads/main\n").unwrap();
    let here = |text: &str| machine.home.write("repo/.plugward/config.toml", text);
    let which = ["which", "hi", "--project", "repo"];
    machine.home.write("config/config.toml", &format!("{HI}.run = \"unattended\"\n"));
    here("");
    machine.exits(0, &which);
    here(&format!("{HI}.run = \"ask\"\n"));
    machine.exits(3, &which);
    here(&format!("{HI}.run = \"deny\"\n"));
    let denied = machine.exits(5, &which);
    assert!(denied.contains(".plugward/config.toml:1:") && denied.contains("workspace"), "{denied}");
    machine.exits(0, &["which", "hi"]);
    // The verbs that change this machine are not about a project.
    machine.exits(0, &["pin", "hi"]);
    machine.home.write("config/config.toml", &format!("{HI}.run = \"ask\"\n"));
    here(&format!("{HI}.run = \"unattended\"\n"));
    machine.exits(3, &which);
    here(&format!("{HI}.rum = \"deny\"\n"));
    machine.exits(2, &which);
}

#[test]
fn the_words_of_a_name_can_be_separate() {
    let machine = Machine::new();
    let target = format!("{}-unknown-linux-gnu", std::env::consts::ARCH);
    let binaries = format!(
        r#"{{"{target}":{{"url":"file://{}","sha256":"{}"}}}}"#,
        machine.home.path("bin/plugward-hi").display(),
        machine.digest
    );
    machine.home.write(
        "reg.json",
        &format!(
            r#"{{"version":1,"plugins":{{"serve":{{"id":"serve","kind":"command_group","description":"d"}},
                "serve web":{{"id":"web","description":"d","official":true,"binaries":{binaries}}}}}}}"#
        ),
    );
    let url = format!("file://{}", machine.home.path("reg.json").display());
    machine.home.write("config/config.toml", &format!("plugins.registry = {{ url = \"{url}\" }}\n"));
    let group = machine.exits(2, &["install", "serve"]);
    assert!(group.contains("registry/kind") && group.contains("one of its commands: serve web"), "{group}");
    machine.exits(0, &["install", "serve", "web"]);
    assert!(machine.exits(0, &["update", "serve", "web"]).contains("up to date"));
    let wrong = machine.exits(3, &["remove", "nope"]);
    assert!(
        wrong.contains("name an installed plugin: serve web") && !wrong.contains("install nope"),
        "{wrong}"
    );
    machine.exits(0, &["remove", "serve web"]);
    // The question about a plugin on the path is not answered by an installation.
    let ask = machine.exits(3, &["command", "run", "hi"]);
    assert!(ask.contains("run = \"unattended\"") && !ask.contains("plugward install"), "{ask}");
}

#[test]
fn words_of_other_programs_get_a_tip() {
    let machine = Machine::new();
    for (args, tip) in [
        (&["uninstall", "hi"][..], "plugward remove NAME"),
        (&["enable", "hi"], "plugward session DIR"),
        (&["plugin", "list"], "plugward list"),
        (&["command", "list"], "plugward registry list"),
        (&["mcp", "list"], "plugward mcp tools"),
        (&["instal", "hi"], "similar subcommands exist: 'list', 'install'"),
    ] {
        let shown = machine.exits(2, args);
        assert!(shown.contains("tip: ") && shown.contains(tip), "{shown}");
        assert!(tip.contains("similar") || !shown.contains("similar"), "{shown}");
    }
}

#[test]
fn a_revoked_name_stays_revoked_under_another_one() {
    let machine = Machine::new();
    let listed = |name: &str| {
        machine.list(&machine.digest);
        let text = std::fs::read_to_string(machine.home.path("reg.json")).unwrap();
        let text = text.replace(r#"{"hi":{"id":"hi""#, &format!(r#"{{"{name}":{{"id":"web""#));
        machine.home.write("reg.json", &text);
    };
    listed("serve web");
    machine.exits(0, &["install", "serve", "web"]);
    let shown = machine.exits(0, &["revoke", "serve web", "--reason", "steals tokens"]);
    assert!(shown.contains("Revoked jp:web") && !shown.contains("is pinned"), "{shown}");
    machine.exits(5, &["which", "serve", "web"]);
    machine.exits(0, &["remove", "web"]);
    listed("serve site");
    machine.exits(5, &["install", "serve", "site"]);
    for undo in ["serve web", "jp:web"] {
        assert!(shown.contains("plugward unrevoke"), "{shown}");
        machine.exits(0, &["unrevoke", undo]);
    }
    machine.exits(0, &["install", "serve", "site"]);
    // An id that follows from the name is not revoked a second time.
    machine.list(&machine.digest);
    machine.exits(0, &["install", "hi"]);
    let shown = machine.exits(0, &["revoke", "hi", "--reason", "steals tokens"]);
    assert!(!shown.contains("jp:") && !shown.contains("is pinned"), "{shown}");
    let shown = machine.exits(0, &["revoke", "ho", "--reason", "steals tokens"]);
    assert!(shown.contains("no plugin of this name is pinned, and no command plugin has it"), "{shown}");
}

#[test]
fn names_of_several_plugins_are_installed_one_by_one() {
    let machine = Machine::new();
    machine.list(&machine.digest);
    let shown = machine.exits(2, &["install", "hi", "hi"]);
    assert!(shown.contains("install each by itself: plugward install hi; plugward install hi"), "{shown}");
    let shown = machine.exits(2, &["install", "hi", "nope"]);
    assert!(!shown.contains("each by itself"), "{shown}");
}
