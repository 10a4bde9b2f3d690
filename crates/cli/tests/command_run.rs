//! `command run` and `command describe`, with command plugins in shell and Python.

#![expect(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "tests start the program and read the files that plugins wrote"
)]
#![expect(clippy::unwrap_used, reason = "a test that cannot set up must stop")]

#[expect(dead_code, reason = "these tests run the program with directories of their own")]
mod home;
#[expect(dead_code, reason = "these tests run the program with a search path of their own")]
#[path = "home/terminal.rs"]
mod terminal;

use std::io::{BufRead as _, BufReader};
use std::os::unix::fs::PermissionsExt as _;
use std::process::{Child, Command, Output};
use std::time::{Duration, Instant};

use home::{Home, code};
use serde_json::Value;
use terminal::run_on_a_terminal;

const RUN: &str = "plugins.command.hello.run=unattended";
const READY: &str = "read -r init\necho '{\"type\":\"ready\"}'\n";
const EXIT: &str = "echo '{\"type\":\"exit\",\"code\":7}'\n";

/// A home directory with the command plugin `hello` on the path, which writes a marker when it starts.
struct Machine(Home);

impl Machine {
    /// With a plugin in shell that runs this text.
    fn new(text: &str) -> Self {
        let machine = Self(Home::new());
        machine.plugin(text);
        std::fs::set_permissions(machine.0.path("bin"), std::fs::Permissions::from_mode(0o755)).unwrap();
        machine
    }

    fn python(text: &str) -> Self {
        let machine = Self::new("");
        machine.executable(&format!("#!/usr/bin/env python3\nimport json, sys\n{text}"));
        machine
    }

    fn plugin(&self, text: &str) {
        self.executable(&self.script(text));
    }

    fn script(&self, text: &str) -> String {
        format!("#!/bin/sh\necho x >> {}\n{text}", self.0.path("ran").display())
    }

    fn executable(&self, text: &str) {
        self.0.write("bin/plugward-hello", text);
        self.executable_bit();
    }

    fn executable_bit(&self) {
        let mode = std::fs::Permissions::from_mode(0o755);
        std::fs::set_permissions(self.0.path("bin/plugward-hello"), mode).unwrap();
    }

    /// Lists `hello` in a registry file, under a digest, and configures the registry.
    fn list(&self, digest: &str, more: &str) {
        let target = format!("{}-unknown-linux-gnu", std::env::consts::ARCH);
        let url = format!("file://{}", self.0.path("dist/plugward-hello").display());
        let binaries = format!(r#"{{"{target}":{{"url":"{url}","sha256":"{digest}"}}}}"#);
        let entry = format!(r#"{{"id":"hello","description":"Hello",{more},"binaries":{binaries}}}"#);
        self.0.write("reg.json", &format!(r#"{{"version":1,"plugins":{{"hello":{entry}}}}}"#));
        let registry = format!("file://{}", self.0.path("reg.json").display());
        self.0.write("config/config.toml", &format!("plugins.registry = {{ url = \"{registry}\" }}\n"));
    }

    /// A plugin that only the registry lists. Returns the digest of its file.
    fn listed(more: &str) -> (Self, String) {
        let machine = Self::new("");
        let text = machine.script(&format!("{READY}{EXIT}"));
        machine.0.write("dist/plugward-hello", &text);
        std::fs::remove_file(machine.0.path("bin/plugward-hello")).unwrap();
        let digest = sha256(text.as_bytes());
        machine.list(&digest, more);
        (machine, digest)
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut command = self.0.command(args);
        let path = format!("{}:/usr/bin:/bin", self.0.path("bin").display());
        command.env("PATH", path).env("PLUGWARD_DATA_DIR", self.0.path("data"));
        command
    }

    fn run(&self, args: &[&str]) -> Output {
        self.command(args).env("CI", "1").output().unwrap()
    }

    /// Runs a command and compares its exit code. Returns standard output and standard error.
    fn exits(&self, expected: i32, args: &[&str]) -> (String, String) {
        let output = self.run(args);
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let (out, err) = (text(&output.stdout), text(&output.stderr));
        assert_eq!(code(&output), expected, "{args:?}: {out}{err}");
        (out, err)
    }

    /// Runs the plugin without a question.
    fn runs(&self, expected: i32, args: &[&str]) -> (String, String) {
        self.exits(expected, &[&["--cfg", RUN, "command", "run"], args].concat())
    }

    /// The number of starts of the plugin.
    fn starts(&self) -> usize {
        std::fs::read_to_string(self.0.path("ran")).unwrap_or_default().lines().count()
    }

    fn ledger(&self) -> Vec<Value> {
        let (out, _) = self.exits(0, &["ledger", "show", "--format", "json"]);
        out.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    /// Starts `hello` with these settings, and waits until it printed a line, which is the id of its child process.
    fn started(&self, cfg: &[&str], args: &[&str]) -> (Child, String) {
        let mut all = vec!["--cfg", RUN];
        all.extend(cfg.iter().flat_map(|row| ["--cfg", row]));
        all.extend(["command", "run"]);
        all.extend(args);
        all.push("hello");
        let mut child = self.command(&all).spawn().unwrap();
        let mut line = String::new();
        // The rest of the output is read after the end.
        BufReader::with_capacity(1, child.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
        (child, line.trim().to_owned())
    }
}

fn sha256(bytes: &[u8]) -> String {
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), bytes).unwrap();
    let output = Command::new("sha256sum").arg(file.path()).output().unwrap();
    String::from_utf8(output.stdout).unwrap().split(' ').next().unwrap().to_owned()
}

fn interrupt(child: &Child) {
    let pid = rustix::process::Pid::from_child(child);
    rustix::process::kill_process(pid, rustix::process::Signal::INT).unwrap();
}

/// Returns `true` if a process runs.
fn is_running(pid: &str) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit_once(") ").is_some_and(|(_, state)| !state.starts_with('Z'))
}

/// Returns `true` if a process does not run any more. A killed one needs a moment.
fn is_gone(pid: &str) -> bool {
    let start = Instant::now();
    while is_running(pid) && start.elapsed() < Duration::from_secs(10) {
        std::thread::yield_now();
    }
    !is_running(pid)
}

/// The text of a plugin that prints the id of a child process, and then ignores everything.
const IGNORES: &str = "sleep 300 &\nprintf '{\"type\":\"print\",\"text\":\"%s\\\\n\"}\\n' $!\nsleep 300\n";

#[test]
fn nothing_starts_without_consent() {
    let machine = Machine::new(&format!("{READY}{EXIT}"));
    let (shown, _) = machine.exits(3, &["which", "hello"]);
    assert!(shown.ends_with("To run: plugward command run hello\n"), "{shown}");
    machine.exits(3, &["command", "describe", "hello"]);
    let (out, err) = machine.exits(3, &["command", "run", "hello"]);
    assert!(out.is_empty() && err.contains("error[policy/ask]"), "{out}{err}");
    machine.exits(2, &["command", "run", "nope"]);
    assert_eq!(machine.starts(), 0);
    assert!(!machine.0.path("state").exists(), "a refusal writes nothing");
}

#[test]
fn rfd077_deny_starts_nothing() {
    let machine = Machine::new(&format!("{READY}{EXIT}"));
    for verb in [&["command", "run", "hello"], &["command", "describe", "hello"]] {
        let args = [&["--cfg", "plugins.command.hello.run=deny"], &verb[..]].concat();
        let (_, err) = machine.exits(5, &args);
        assert!(err.contains("policy/denied") && err.contains("plugins.command.hello.run"), "{err}");
    }
    assert_eq!(machine.starts(), 0);
}

#[test]
fn rfd077_run_applies_everywhere() {
    // On the path.
    let machine = Machine::new(&format!("{READY}{EXIT}"));
    let (out, err) = machine.runs(7, &["hello"]);
    assert_eq!((out.as_str(), machine.starts()), ("", 1));
    assert!(err.contains("hello runs with your access"), "{err}");
    assert_eq!(std::fs::read_dir(machine.0.path("state/sealed")).unwrap().count(), 0, "the copy is removed");
    // In the registry, and then installed.
    let (machine, _) = Machine::listed("\"official\":false");
    machine.exits(3, &["--cfg", RUN, "command", "run", "hello"]);
    machine.exits(5, &["--cfg", "plugins.command.hello.run=deny", "command", "run", "hello"]);
    assert_eq!(machine.starts(), 0);
    machine
        .exits(7, &["--cfg", RUN, "--cfg", "plugins.command.hello.install=true", "command", "run", "hello"]);
    machine.exits(3, &["command", "run", "hello"]);
    machine.runs(7, &["hello"]);
    assert_eq!(machine.starts(), 2);
}

#[test]
fn rfd077_official_runs_and_third_party_asks() {
    let (machine, _) = Machine::listed("\"official\":true");
    let (_, err) = machine.exits(7, &["command", "run", "hello"]);
    assert!(err.contains("Installed hello as plugward-hello."), "{err}");
    machine.exits(7, &["command", "run", "hello"]);
    assert_eq!(machine.starts(), 2);
    let (machine, _) = Machine::listed("\"official\":true");
    let off = ["--cfg", "plugins.auto_install=false", "command", "run", "hello"];
    assert!(machine.exits(3, &off).1.contains("registry/not-installed"));
    let (machine, _) = Machine::listed("\"official\":false");
    assert!(machine.exits(3, &["command", "run", "hello"]).1.contains("policy/ask"));
    assert_eq!(machine.starts(), 0);
    let command = machine.command(&["command", "run", "hello"]);
    let (exit, _, text) = run_on_a_terminal(command, &["y\n"], |_, _| {});
    assert_eq!((exit, machine.starts()), (7, 1), "{text}");
    assert_eq!(text.matches("[y]es, [N]o").count(), 1, "one question for both: {text}");
    assert!(text.contains("hello is not an official plugin"), "{text}");
    // An official plugin asks if the settings say so.
    let (machine, _) = Machine::listed("\"official\":true");
    let command = machine.command(&["--cfg", "plugins.command.hello.run=ask", "command", "run", "hello"]);
    let (exit, _, text) = run_on_a_terminal(command, &["n\n"], |_, _| {});
    assert_eq!((exit, machine.starts()), (3, 0), "{text}");
    assert!(text.contains("hello is an official plugin"), "{text}");
}

#[test]
fn rfd077_ask_every_time() {
    let machine = Machine::new(&format!("{READY}{EXIT}"));
    let ask = |typed: &str| {
        let command = machine.command(&["command", "run", "hello"]);
        run_on_a_terminal(command, &[typed], |_, _| {})
    };
    for starts in 1..3 {
        let (exit, _, text) = ask("y\n");
        assert_eq!((exit, machine.starts()), (7, starts), "{text}");
        assert!(text.contains("bin/plugward-hello") && text.contains("your access"), "{text}");
    }
    for typed in ["\n", "n\n"] {
        let (exit, _, text) = ask(typed);
        assert_eq!((exit, machine.starts()), (3, 2), "{text}");
    }
}

#[test]
fn which_asks_at_a_terminal_and_starts_nothing() {
    let machine = Machine::new(&format!("{READY}{EXIT}"));
    let ask = |flags: &[&str], typed: &[&str]| {
        run_on_a_terminal(machine.command(&[&["which", "hello"], flags].concat()), typed, |_, _| {})
    };
    for (typed, expected) in [("y\n", 0), ("\n", 3)] {
        let (exit, out, text) = ask(&[], &[typed]);
        assert!(exit == expected && text.contains("May it run this time?"), "{exit} {text}");
        assert!(out.contains("asks before it runs"), "{out}");
    }
    // A program that reads the result is not asked, and neither is anyone about a plugin that is denied.
    for (flags, expected) in
        [(&["--format", "json"][..], 3), (&["--cfg", "plugins.command.hello.run=deny"], 5)]
    {
        let (exit, _, text) = ask(flags, &[]);
        assert!(exit == expected && !text.contains("[y]es"), "{exit} {text}");
    }
    assert_eq!(machine.starts(), 0);
}

#[test]
fn rfd077_replaced_binary_starts_nothing() {
    let machine = Machine::new(&format!("{READY}{EXIT}"));
    let wrong = "0".repeat(64);
    let digest = sha256(&std::fs::read(machine.0.path("bin/plugward-hello")).unwrap());
    let checksum = format!("plugins.command.hello.checksum.value={wrong}");
    let (_, err) = machine.exits(4, &["--cfg", RUN, "--cfg", &checksum, "command", "run", "hello"]);
    for part in [&wrong, &digest, "plugins.command.hello.checksum"] {
        assert!(err.contains(part), "{part}: {err}");
    }
    // The file is written in place while the question is open.
    let command = machine.command(&["command", "run", "hello"]);
    let (exit, _, text) = run_on_a_terminal(command, &["y\n"], |_, text| {
        if text.contains("May it run this time?") {
            std::fs::write(machine.0.path("bin/plugward-hello"), machine.script("# other\n")).unwrap();
        }
    });
    assert!(exit == 4 && text.contains("launch/digest") && text.contains(&digest), "{exit}: {text}");
    assert_eq!(machine.starts(), 0);
    // A file that replaces it by name changes nothing: the checked bytes run.
    machine.plugin(&format!("{READY}{EXIT}"));
    let command = machine.command(&["command", "run", "hello"]);
    let (exit, _, text) = run_on_a_terminal(command, &["y\n"], |_, text| {
        if text.contains("May it run this time?") {
            std::fs::remove_file(machine.0.path("bin/plugward-hello")).unwrap();
            machine.plugin("echo other >&2\n");
        }
    });
    assert_eq!((exit, machine.starts()), (7, 1), "{text}");
}

#[test]
fn rfd077_republished_or_changed_file_starts_nothing() {
    let (machine, digest) = Machine::listed("\"official\":true");
    machine.list(&"0".repeat(64), "\"official\":true");
    let (_, err) = machine.exits(4, &["command", "run", "hello"]);
    assert!(err.contains("registry/digest") && err.contains(&digest), "{err}");
    machine.list(&digest, "\"official\":true");
    machine.exits(7, &["command", "run", "hello"]);
    let installed = machine.0.path("data/plugins/command/plugward-hello");
    std::fs::write(&installed, machine.script("# other\n")).unwrap();
    assert!(machine.exits(4, &["command", "run", "hello"]).1.contains("registry/changed"));
    assert_eq!(machine.starts(), 1);
}

#[test]
fn rfd077_unknown_kind_does_not_run() {
    for kind in ["wasm", "robot"] {
        let (machine, _) = Machine::listed(&format!("\"official\":true,\"kind\":\"{kind}\""));
        let (_, err) = machine.exits(2, &["command", "run", "hello"]);
        assert!(err.contains("registry/kind") && err.contains(kind), "{err}");
        assert_eq!(machine.starts(), 0, "{kind}");
    }
}

/// Prints what it is told, and asks for two paths.
const OPTIONS: &str = r#"
init = json.loads(sys.stdin.readline())
def say(**message): print(json.dumps(message), flush=True)
def ask(path):
    say(type="read_config", path=path, id=path)
    answer = json.loads(sys.stdin.readline())
    assert answer["id"] == path
    return answer.get("data", answer.get("message"))
say(type="ready")
own = init["config"]["plugins"]["command"]["hello"]["options"]
rows = [own["web"]["port"], init["options"]["web"]["port"], ask("plugins.command.hello.options.web.port"),
    ask("plugins.command.hello.nope"), ask("plugins.command.other"), list(init["config"]), init["args"],
    init["workspace"]["root"], own.get("mixed")]
say(type="print", text="\n".join(json.dumps(row) for row in rows) + "\n")
say(type="exit", code=0)
"#;

#[test]
fn rfd077_options_in_init_are_opaque_and_a_workspace_changes_them() {
    let machine = Machine::python(OPTIONS);
    machine.0.write(
        "config/config.toml",
        "[plugins.command.other.options]\ntoken = 1\n[plugins.command.hello.options]\nweb.port = 3141\n\
         mixed = [1, { a = 1979-05-27 }, \"x\"]\n",
    );
    let (out, _) = machine.runs(0, &["hello", "--port", "1", "-q", "--", "x"]);
    let rows: Vec<&str> = out.lines().collect();
    assert_eq!(
        rows.get(..7).unwrap(),
        [
            "3141",
            "3141",
            "3141",
            "\"config path not found\"",
            "\"config path not granted\"",
            "[\"plugins\"]",
            "[\"--port\", \"1\", \"-q\", \"--\", \"x\"]"
        ]
    );
    assert_eq!(rows.last().unwrap(), &"[1, {\"a\": \"1979-05-27\"}, \"x\"]");
    machine.0.write("r/.plugward/config.toml", "plugins.command.hello.options.web.port = 3142\n");
    std::fs::create_dir_all(machine.0.path("r/.git")).unwrap();
    let (out, _) = machine.runs(0, &["--project", "r", "hello"]);
    assert!(out.starts_with("3142\n3142\n3142\n"), "{out}");
    let root = std::fs::canonicalize(machine.0.path("r")).unwrap();
    assert!(out.contains(&format!("{:?}", root.to_str().unwrap())), "{out}");
}

#[test]
fn rfd077_workspace_denies() {
    let machine = Machine::new(&format!("{READY}{EXIT}"));
    std::fs::create_dir_all(machine.0.path("r/.git")).unwrap();
    machine.0.write("config/config.toml", "plugins.command.hello.run = \"unattended\"\n");
    machine.0.write("r/.plugward/config.toml", "plugins.command.hello.run = \"deny\"\n");
    let (_, err) = machine.exits(5, &["command", "run", "--project", "r", "hello"]);
    assert!(err.contains(".plugward/config.toml:1:"), "{err}");
    assert_eq!(machine.starts(), 0);
    machine.exits(7, &["command", "run", "hello"]);
}

#[test]
fn an_interrupt_asks_the_plugin_to_shut_down() {
    let hears = "printf '%s\\n' '{\"type\":\"print\",\"text\":\"on\\n\"}'\nread -r line\nprintf '%s' \"$line\" >&2\n\
                 echo '{\"type\":\"exit\",\"code\":9}'\n";
    let machine = Machine::new(&format!("{READY}{hears}"));
    let (child, _) = machine.started(&[], &[]);
    interrupt(&child);
    let output = child.wait_with_output().unwrap();
    assert_eq!(code(&output), 9);
    assert!(String::from_utf8_lossy(&output.stderr).contains("{\"type\":\"shutdown\"}"));
    // Without an exit code of its own, it was interrupted.
    let machine = Machine::new(&format!("{READY}{}", hears.replace("echo '{\"type\":\"exit\"", ": '")));
    let (child, _) = machine.started(&[], &["--format", "json"]);
    interrupt(&child);
    let output = child.wait_with_output().unwrap();
    assert_eq!(code(&output), 130);
    let out = String::from_utf8_lossy(&output.stdout).into_owned();
    assert_eq!(out, "{\"exit\":{\"by\":\"interrupt\",\"code\":130,\"reason\":null}}\n");
}

#[test]
fn rfd077_sigkill_after_the_grace() {
    let machine = Machine::new(&format!("{READY}{IGNORES}"));
    std::fs::create_dir_all(machine.0.path("r/.git")).unwrap();
    // A repository cannot give its plugins more time.
    machine.0.write("r/.plugward/config.toml", "plugins.shutdown_timeout_secs = 60\n");
    machine.0.write("config/config.toml", "plugins.shutdown_timeout_secs = 1\n");
    for project in [&[][..], &["--project", "r"]] {
        let (child, pid) = machine.started(&[], project);
        assert!(is_running(&pid));
        let start = Instant::now();
        interrupt(&child);
        let output = child.wait_with_output().unwrap();
        assert!((1..30).contains(&start.elapsed().as_secs()), "{:?}", start.elapsed());
        assert_eq!(code(&output), 130);
        assert!(is_gone(&pid), "the whole group is ended");
    }
}

#[test]
fn rfd077_zero_kills_and_so_does_a_second_interrupt() {
    let machine = Machine::new(&format!("{READY}{IGNORES}"));
    let (child, pid) = machine.started(&["plugins.shutdown_timeout_secs=0"], &[]);
    interrupt(&child);
    assert_eq!(code(&child.wait_with_output().unwrap()), 130);
    assert!(is_gone(&pid));
    let (child, pid) = machine.started(&["plugins.shutdown_timeout_secs=600"], &[]);
    let start = Instant::now();
    while is_running(&pid) && start.elapsed() < Duration::from_secs(60) {
        // Two signals at once count as one, so the second is repeated.
        interrupt(&child);
        std::thread::yield_now();
    }
    assert_eq!(code(&child.wait_with_output().unwrap()), 130);
    assert!(is_gone(&pid));
}

#[test]
fn wrong_messages_end_the_plugin() {
    let after_ready = |text: &str| format!("{READY}{text}");
    let rows = [
        ("protocol/not-json", "echo nonsense\nsleep 300\n".to_owned()),
        ("protocol/not-utf8", "printf '\\377\\n'\nsleep 300\n".to_owned()),
        ("protocol/duplicate-key", "echo '{\"type\":\"ready\",\"type\":\"x\"}'\nsleep 300\n".to_owned()),
        ("protocol/message", "echo '{\"type\":\"exit\",\"code\":256}'\nsleep 300\n".to_owned()),
        ("protocol/too-deep", "printf '{\"type\":%0200d}\\n' 0 | tr 0 '['\nsleep 300\n".to_owned()),
        ("protocol/too-long", "head -c 100000000 /dev/zero | tr '\\0' x\nsleep 300\n".to_owned()),
        (
            "protocol/unknown-types",
            after_ready("for i in $(seq 101); do echo '{\"type\":\"u\"}'; done\nsleep 300\n"),
        ),
        ("protocol/eof", after_ready("true\n")),
        ("protocol/eof", after_ready("exec >&-\nsleep 300\n")),
    ];
    for (expected, text) in rows {
        let machine = Machine::new(&text);
        let (_, err) = machine.runs(1, &["hello"]);
        assert!(err.contains(&format!("error[{expected}]")), "{expected}: {err}");
        assert_eq!(machine.starts(), 1);
    }
    // One below the limits.
    let near = "for i in $(seq 100); do echo '{\"type\":\"u\"}'; done\nprintf '{\"type\":\"print\",\"text\":\"'\n\
                head -c 1000000 /dev/zero | tr '\\0' x\nprintf '\"}\\n'\n";
    let (out, _) = Machine::new(&after_ready(&format!("{near}{EXIT}"))).runs(7, &["hello"]);
    assert_eq!(out.len(), 1_000_000);
    let (out, _) = Machine::new("echo nonsense\n").runs(1, &["--format", "json", "hello"]);
    assert!(out.starts_with("{\"exit\":{\"by\":\"plugward\",\"code\":1,\"reason\":"), "{out}");
}

#[test]
fn a_silent_plugin_is_ended() {
    let machine = Machine::new("sleep 300\n");
    let verbs = [("run", "send `ready`", 10), ("describe", "describe itself", 5)];
    std::thread::scope(|scope| {
        for (verb, step, seconds) in verbs {
            let machine = &machine;
            scope.spawn(move || {
                let start = Instant::now();
                let (_, err) = machine.exits(1, &["--cfg", RUN, "command", verb, "hello"]);
                assert!(err.contains("protocol/timeout") && err.contains(step), "{err}");
                assert!(start.elapsed().as_secs() >= seconds);
            });
        }
    });
}

#[test]
fn content_goes_to_standard_output_and_everything_else_to_standard_error() {
    let prints = r#"cat <<'END'
{"type":"print","text":"a\u001b[31m"}
{"type":"print","text":"b\u001b[2J\n","channel":"status"}
{"type":"log","level":"warn","message":"c\u001b[2J","fields":{"n":1}}
END
printf 'd\033[2J\n' >&2
"#;
    let machine = Machine::new(&format!("{READY}{prints}{EXIT}"));
    let (out, err) = machine.runs(7, &["hello"]);
    assert_eq!(out, "a\u{1b}[31m", "a pipe gets the text as it is");
    assert!(err.contains("b\u{1b}[2J\n") && err.contains("d\u{1b}[2J\n"), "{err}");
    assert!(err.contains("warn: c\\u{1b}[2J n=1\n"), "{err}");
    let command = machine.command(&["--cfg", RUN, "command", "run", "hello"]);
    let (_, _, text) = run_on_a_terminal(command, &[], |_, _| {});
    assert!(
        text.contains("b\\u{1b}[2J") && text.contains("d\\u{1b}[2J") && !text.contains("\u{1b}[2J"),
        "{text}"
    );
    let (out, _) = machine.runs(7, &["--format", "json", "hello"]);
    let rows = "{\"print\":\"a\\u001b[31m\",\"channel\":\"content\"}\n\
                {\"print\":\"b\\u001b[2J\\n\",\"channel\":\"status\"}\n\
                {\"exit\":{\"by\":\"plugin\",\"code\":7,\"reason\":null}}\n";
    assert_eq!(out, rows);
}

#[test]
fn describe_prints_what_the_plugin_says() {
    let answer = r#"printf '%s\n' '{"type":"describe","name":"Hello","version":"1.2","description":"Says it","command":["hello"],"help":"One\nTwo"}'"#;
    let machine = Machine::new(&format!("read -r request\nprintf '%s' \"$request\" >&2\n{answer}\n"));
    let (out, err) = machine.exits(0, &["--cfg", RUN, "command", "describe", "hello"]);
    assert!(err.contains("{\"type\":\"describe\"}"), "{err}");
    assert_eq!(out, "Hello 1.2: Says it\n  command   hello\n\nOne\nTwo\n");
    let (out, _) = machine.exits(0, &["--cfg", RUN, "command", "describe", "hello", "--format", "json"]);
    let shown: Value = serde_json::from_str(&out).unwrap();
    assert_eq!((&shown["version"], &shown["plugin"]["version"]), (&1.into(), &"1.2".into()));
}

#[test]
fn each_start_and_its_end_are_in_the_ledger() {
    let machine = Machine::new(&format!("{READY}{EXIT}"));
    let digest = sha256(&std::fs::read(machine.0.path("bin/plugward-hello")).unwrap());
    machine.runs(7, &["hello"]);
    // An ELF file runs from sealed memory.
    std::fs::copy(env!("CARGO_BIN_EXE_plugward"), machine.0.path("bin/plugward-hello")).unwrap();
    machine.executable_bit();
    machine.runs(1, &["hello"]);
    // A file that the system cannot start was about to start, and ended.
    machine.executable("#!/no/such/interpreter\n");
    assert!(machine.runs(1, &["hello"]).1.contains("launch/exec"));
    let all = machine.ledger();
    let of = |name: &str| all.iter().filter(|row| row["type"] == name).cloned().collect::<Vec<_>>();
    let (started, ended) = (of("launch_started"), of("launch_ended"));
    let field = |rows: &[Value], name: &str| rows.iter().map(|row| row[name].clone()).collect::<Vec<_>>();
    assert_eq!(field(&started, "rung"), ["copy", "sealed", "copy"]);
    let coverage = ["script-interpreter-uncovered", "covered", "script-interpreter-uncovered"];
    assert_eq!(field(&started, "coverage"), coverage);
    assert_eq!(started[0]["digest"], format!("sha256:{digest}"));
    assert_eq!(
        (&started[0]["plugin"], &started[0]["executable"]),
        (&"jp:hello".into(), &"plugward-hello".into())
    );
    assert_eq!(field(&started, "seq"), field(&ended, "launch"));
    assert_eq!(field(&ended, "exit"), [0.into(), 2.into(), Value::Null]);
    // The id finds the records, also without pins.
    let by = |name: &str| machine.exits(0, &["ledger", "show", "--plugin", name]);
    assert!(by("hello").0.lines().count() >= 3);
    assert_eq!(by("hello").0, by("jp:hello").0);
    let (none, err) = by("hell");
    assert!(none.is_empty() && err.contains("names of plugins are not looked up"), "{none}{err}");
    // A start that cannot be recorded does not happen.
    machine.plugin(&format!("{READY}{EXIT}"));
    let starts = machine.starts();
    std::fs::write(machine.0.path("state/ledger.jsonl"), "broken\n").unwrap();
    machine.runs(7, &["hello"]);
    assert_eq!(machine.starts(), starts);
}

/// A plugin without an entry has the access of the user. An entry, flags and `launch.access` limit it.
#[test]
#[cfg(target_os = "linux")]
fn grants_limit_a_command_plugin() {
    let read =
        "import os\nfor line in sys.stdin:\n    if json.loads(line)['type'] == 'init':\n        break\n";
    let tell = "\nprint(json.dumps({'type': 'print', 'text': text + ' ' + str(os.environ.get('TOKEN'))}), flush=True)\n\
                print(json.dumps({'type': 'exit', 'code': 0}), flush=True)\n";
    let machine = Machine::python("");
    machine.0.write("notes/a.txt", "notes");
    let file = machine.0.path("notes/a.txt");
    let open = format!(
        "try:\n    text = open('{}').read()\nexcept OSError as error:\n    text = type(error).__name__",
        file.display()
    );
    let ready = "print(json.dumps({'type': 'ready'}), flush=True)\n";
    machine.executable(&format!("#!/usr/bin/env python3\nimport json, sys\n{read}{ready}{open}{tell}"));
    if code(&machine.run(&["doctor", "--require"])) != 0 {
        assert!(std::env::var_os("PLUGWARD_PEERS").is_none_or(|value| value != "require"));
        return;
    }
    let runs = |flags: &[&str]| {
        let args = [&["command", "run"], flags, &["hello", "--read"]].concat();
        let mut command = machine.command(&args);
        let output = command.env("CI", "1").env("TOKEN", "t").env("PLUGWARD_CFG", RUN).output().unwrap();
        (
            code(&output),
            String::from_utf8_lossy(&output.stdout).into_owned(),
            String::from_utf8_lossy(&output.stderr).into_owned(),
        )
    };
    let (exit, out, err) = runs(&[]);
    assert_eq!((exit, out.as_str()), (0, "notes t"), "{err}");
    assert!(err.contains("runs with your access"), "{err}");
    let (exit, out, err) = runs(&["--cfg", "launch.access=none"]);
    assert_eq!((exit, out.as_str()), (0, "PermissionError None"), "{err}");
    assert!(!err.contains("runs with your access"), "{err}");
    let (exit, out, err) = runs(&["--read", "notes", "--env", "TOKEN"]);
    assert_eq!((exit, out.as_str()), (0, "notes t"), "{err}");
    let entry = format!(
        "[[launch.grants]]\nplugin = \"hello\"\nread = [\"{}\"]\n",
        machine.0.path("notes").display()
    );
    machine.0.write("config/config.toml", &entry);
    let (exit, out, err) = runs(&[]);
    assert_eq!((exit, out.as_str()), (0, "notes None"), "{err}");
    let (exit, out, err) = runs(&["--env", "TOKEN"]);
    assert_eq!((exit, out.as_str()), (0, "PermissionError t"), "{err}");
    let kinds: Vec<_> =
        machine.ledger().into_iter().filter(|row| row["type"] == "capability_minted").collect();
    assert_eq!(kinds.len(), 4);
    assert_eq!(kinds[0]["plugin"], "jp:hello");
    // An entry can have the name of the ledger, and a budget has either.
    let directory = |name: &str| machine.0.path(name).display().to_string();
    let two = format!("read = [\"{}\", \"{}\"]\n", directory("notes"), directory("bin"));
    let grants = format!("[[launch.grants]]\nplugin = \"jp:hello\"\n{two}");
    for (plugin, expected) in [("other", 0), ("jp:other", 0), ("hello", 5), ("jp:hello", 5)] {
        let budget = format!(
            "[[capability.budgets]]\nkind = \"fs-read-write\"\nplugin = \"{plugin}\"\nmax_mints = 1\n"
        );
        machine.0.write("config/config.toml", &format!("{grants}{budget}"));
        let (exit, out, err) = runs(&[]);
        assert_eq!((exit, err.contains("mint/over-budget")), (expected, expected == 5), "{plugin}: {err}");
        assert!(exit != 0 || out == "notes None", "{plugin}: {out}");
    }
}

#[test]
fn a_revoked_name_does_not_run() {
    for name in ["hello", "HELLO", "jp:hello", "plugward-hello"] {
        let machine = Machine::new(&format!("{READY}{EXIT}"));
        machine.exits(0, &["revoke", name, "--reason", "steals tokens"]);
        let (_, err) = machine.runs(5, &["hello"]);
        assert!(err.contains("policy/revoked") && err.contains("steals tokens"), "{err}");
        machine.exits(0, &["unrevoke", name]);
        machine.exits(0, &["revoke", "hell", "--reason", "steals tokens"]);
        machine.runs(7, &["hello"]);
    }
    // It is not downloaded, either.
    let (machine, _) = Machine::listed(r#""official":true"#);
    machine.exits(0, &["revoke", "hello", "--reason", "steals tokens"]);
    machine.exits(5, &["install", "hello"]);
    let (_, err) = machine.exits(5, &["command", "run", "hello"]);
    assert!(err.contains("policy/revoked"), "{err}");
    assert!(
        !machine.0.path("ran").exists() && !machine.0.path("data/plugins/command/plugward-hello").exists()
    );
}

#[test]
fn a_revoked_name_is_the_same_with_hyphens() {
    for (revoked, exit) in
        [("serve web", 5), ("serve-web", 5), ("SERVE web", 5), ("serve webs", 7), ("serveweb", 7)]
    {
        let machine = Machine::new("");
        let file = machine.0.path("bin/plugward-serve-web");
        std::fs::write(&file, machine.script(&format!("{READY}{EXIT}"))).unwrap();
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o755)).unwrap();
        let (_, said) = machine.exits(0, &["revoke", revoked, "--reason", "steals tokens"]);
        // A name that a file on the path has is not mistyped.
        assert_eq!(said.contains("no plugin of this name is pinned"), exit == 7, "{revoked}: {said}");
        for words in [&["serve-web"][..], &["serve", "web"]] {
            let run = ["--cfg", "plugins.command.serve-web.run=unattended", "command", "run"];
            machine.exits(exit, &[&run[..], words].concat());
        }
        assert_eq!(machine.starts(), if exit == 7 { 2 } else { 0 });
    }
}
