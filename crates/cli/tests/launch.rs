//! `launch`: files of plugins with only the granted access, as root and as an ordinary user.
#![cfg(target_os = "linux")]
#![expect(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    clippy::print_stdout,
    reason = "tests start the program, make directories, and print why they skip"
)]
#![expect(clippy::unwrap_used, reason = "a test that cannot set up must stop")]

#[path = "home/denied.rs"]
mod denied;
#[expect(dead_code, reason = "these tests run the program as several users")]
mod home;

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::TcpListener;
use std::os::unix::fs::{PermissionsExt as _, chown};
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use denied::without;
use home::{Home, code};
use serde_json::Value;

/// The ids of `nobody`.
const NOBODY: u32 = 65534;
/// Tries one thing, and prints `ok` or the error.
const PROBE: &str = r#"#!/usr/bin/env python3
"""Tries one thing."""
import os
import socket
import sys

what, at = sys.argv[1], sys.argv[2]
try:
    if what == "read":
        print(open(at).read().strip())
    elif what == "write":
        with open(at, "w") as out:
            out.write("written")
    elif what == "variable":
        print(os.environ.get(at))
    elif what == "port":
        socket.create_connection(("127.0.0.1", int(at)), 5)
    elif what == "datagrams":
        socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    elif what == "unix":
        socket.socket(socket.AF_UNIX).connect(at)
    elif what == "start":
        os.waitpid(os.posix_spawn(at, [at], {}), 0)
    elif what == "signal":
        os.kill(int(at), 0)
    elif what == "own":
        print(sys.argv[0] == __file__, sorted(os.listdir(os.path.dirname(__file__))))
    elif what == "descriptors":
        print(len(os.listdir("/proc/self/fd")))
    print("ok")
except OSError as error:
    print(type(error).__name__)
"#;
const ECHO: &str = "#!/bin/sh\nread -r line\necho \"out $line $1\"\necho \"err $line\" >&2\nexit 7\n";

/// The user that starts the program: that of the tests, or `nobody`.
#[derive(Clone, Copy, PartialEq, Eq)]
enum User {
    Same,
    Nobody,
}

/// A home directory with the plugin `tool`, a readable and a writable directory, and one that is not granted.
struct Machine {
    home: Home,
    user: User,
}

impl Machine {
    fn new(user: User) -> Self {
        let machine = Self { home: Home::new(), user };
        let home = &machine.home;
        home.write(
            "plugins/tool/.claude-plugin/plugin.json",
            "{ \"name\": \"tool\", \"version\": \"1.0.0\" }\n",
        );
        for (name, text) in [("probe.py", PROBE), ("echo.sh", ECHO)] {
            home.write(&format!("plugins/tool/bin/{name}"), text);
            machine.mode(&format!("plugins/tool/bin/{name}"), 0o755);
        }
        for name in ["home/.ssh/key", "read/file", "write/file", "outside/file"] {
            home.write(name, name);
        }
        for name in ["outside/tool", "write/tool"] {
            copy("/bin/true", &home.path(name));
        }
        copy(env!("CARGO_BIN_EXE_plugward"), &home.path("plugward"));
        if user == User::Nobody {
            own(home.temp.path());
        }
        machine
    }

    /// As root, and as an ordinary user. Without root, as that user twice.
    fn each() -> [Self; 2] {
        let other = if rustix::process::geteuid().is_root() { User::Nobody } else { User::Same };
        [Self::new(User::Same), Self::new(other)]
    }

    fn mode(&self, name: &str, mode: u32) {
        std::fs::set_permissions(self.home.path(name), std::fs::Permissions::from_mode(mode)).unwrap();
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut command = self.home.command(&[]);
        let mut of_user = Command::new(self.home.path("plugward"));
        of_user.args(args).current_dir(self.home.temp.path()).env_clear();
        of_user.envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
        of_user.env("PATH", "/usr/bin:/bin").env("TOKEN", "t").env("OTHER", "o").env("CI", "1");
        of_user.env("PLUGWARD_DATA_DIR", self.home.path("data"));
        of_user.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command = of_user;
        if self.user == User::Nobody {
            command.uid(NOBODY).gid(NOBODY);
        }
        command
    }

    fn run(&self, args: &[&str]) -> Output {
        self.command(args).output().unwrap()
    }

    fn launch(&self, flags: &[&str], rest: &[&str]) -> Output {
        self.run(&[&["launch"], flags, &["plugins/tool"], rest].concat())
    }

    /// Tries one thing with these flags, and returns what the probe printed.
    #[track_caller]
    fn probe(&self, flags: &[&str], what: &str, at: &str) -> String {
        let output = self.launch(flags, &["bin/probe.py", what, at]);
        assert_eq!(code(&output), 0, "{what} {at}: {}", shown(&output));
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    }

    fn path(&self, name: &str) -> String {
        self.home.path(name).to_str().unwrap().to_owned()
    }

    fn ledger(&self) -> Vec<Value> {
        let output = self.run(&["ledger", "show", "--format", "json"]);
        let text = String::from_utf8(output.stdout).unwrap();
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }
}

/// Copies a program in another process. A child process that another test starts meanwhile would inherit a file that is
/// open for writing, and the system does not execute such a file.
fn copy(from: &str, to: &Path) {
    assert!(Command::new("cp").arg(from).arg(to).status().unwrap().success());
}

fn own(path: &Path) {
    chown(path, Some(NOBODY), Some(NOBODY)).unwrap();
    if path.is_dir() {
        for entry in std::fs::read_dir(path).unwrap() {
            own(&entry.unwrap().path());
        }
    }
}

fn shown(output: &Output) -> String {
    String::from_utf8_lossy(&[output.stdout.as_slice(), output.stderr.as_slice()].concat()).into_owned()
}

/// Returns `true` if this system limits programs. Otherwise the test is skipped, unless peers are required.
fn is_enforced() -> bool {
    let enforced = code(&Home::new().run(&["doctor", "--require"])) == 0;
    if !enforced {
        println!("skipped: this system cannot enforce grants");
        assert!(std::env::var_os("PLUGWARD_PEERS").is_none_or(|value| value != "require"));
    }
    enforced
}

#[test]
fn a_program_has_what_is_granted_and_nothing_else() {
    if !is_enforced() {
        return;
    }
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let granted = listener.local_addr().unwrap().port().to_string();
    let other = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port().to_string();
    let own = std::process::id().to_string();
    for machine in Machine::each() {
        let (read, write) = (machine.path("read/file"), machine.path("write/file"));
        let new = machine.path("write/new");
        let connect = format!("localhost:{granted}");
        let all = [
            "--read",
            "read",
            "--write",
            "write",
            "--connect",
            &connect,
            "--env",
            "TOKEN",
            "--report",
            "write.json",
        ];
        for (flags, what, at, expected) in [
            (&[][..], "read", &*read, "PermissionError"),
            (&all, "read", &read, "read/file\nok"),
            (&all, "read", &machine.path("outside/file"), "PermissionError"),
            (&all, "read", &machine.path("home/.ssh/key"), "PermissionError"),
            (&all, "write", &read, "PermissionError"),
            (&all, "write", &write, "ok"),
            (&all, "write", &new, "ok"),
            (&all, "port", &granted, "ok"),
            (&all, "port", &other, "PermissionError"),
            (&[], "port", &granted, "PermissionError"),
            (&all, "datagrams", "", "PermissionError"),
            (&all, "unix", &machine.path("socket"), "PermissionError"),
            (&all, "signal", &own, "ProcessLookupError"),
            (&all, "read", &format!("/proc/{own}/environ"), "FileNotFoundError"),
            (&all, "read", "/proc/self/comm", "probe.py\nok"),
            (&all, "variable", "TOKEN", "t\nok"),
            (&all, "variable", "OTHER", "None\nok"),
            (&all, "own", "", "True ['echo.sh', 'probe.py']\nok"),
            (&all, "start", &machine.path("outside/tool"), "PermissionError"),
            (&["--run", &machine.path("outside/tool")], "start", &machine.path("outside/tool"), "ok"),
            (&all, "start", &machine.path("write/tool"), "PermissionError"),
            (&all, "start", "/bin/true", "ok"),
            // The three streams and the directory that is listed.
            (&all, "descriptors", "", "4\nok"),
        ] {
            // The interpreter has the name of its program.
            let printed = machine.probe(flags, what, at).replace("python3\nok", "probe.py\nok");
            assert_eq!(printed, expected, "{flags:?} {what} {at}");
        }
        assert_eq!(std::fs::read_to_string(&read).unwrap(), "read/file");
        let report = std::fs::read_to_string(machine.home.path("write.json")).unwrap();
        let report: Value = serde_json::from_str(&report).unwrap();
        let held = ["bytes", "files", "network", "processes", "environment", "end"];
        assert_eq!(report["held"], serde_json::json!(held));
        assert_eq!((&report["access"], &report["exit"]), (&"granted".into(), &0.into()));
        assert_eq!((&report["plugin"], &report["file"]), (&"tool".into(), &"bin/probe.py".into()));
        assert!(report["env"].as_array().unwrap().contains(&"TOKEN".into()));
    }
}

#[test]
fn streams_arguments_and_the_exit_code_are_passed_on() {
    let machine = Machine::new(User::Same);
    let mut child = machine.command(&["launch", "plugins/tool", "bin/echo.sh", "--read"]);
    let mut child = child.stdin(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(b"hello\n").unwrap();
    let output = child.wait_with_output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    assert_eq!((code(&output), text(&output.stdout)), (7, "out hello --read\n".to_owned()));
    assert!(text(&output.stderr).ends_with("err hello\n"), "{}", text(&output.stderr));
    // The private copy is gone.
    assert_eq!(std::fs::read_dir(machine.home.path("state/sealed")).unwrap().count(), 0);
}

/// An interrupt ends the program, and its code is that of the signal.
#[test]
fn an_interrupt_ends_the_program() {
    let machine = Machine::new(User::Same);
    let script = "#!/bin/sh\necho ready\nread -r line\n";
    machine.home.write("plugins/tool/bin/wait.sh", script);
    machine.mode("plugins/tool/bin/wait.sh", 0o755);
    let mut child = machine.command(&["launch", "plugins/tool", "bin/wait.sh"]);
    let mut child = child.stdin(Stdio::piped()).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    assert_eq!(line, "ready\n");
    // A wait closes the input, at whose end the program would end by itself.
    let input = child.stdin.take();
    let own = rustix::process::Pid::from_child(&child);
    rustix::process::kill_process(own, rustix::process::Signal::INT).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(143));
    drop(input);
    let ended = machine.ledger().into_iter().find(|row| row["type"] == "launch_ended").unwrap();
    assert_eq!(ended["exit"], 143);
}

/// A second interrupt kills a program that ignores the first one. The end is recorded, and the private copy removed.
#[test]
fn a_second_interrupt_kills_the_program() {
    let machine = Machine::new(User::Same);
    let script = "#!/bin/sh\ntrap 'echo interrupted' TERM\necho ready\nwhile :; do read -r line; done\n";
    machine.home.write("plugins/tool/bin/stay.sh", script);
    machine.mode("plugins/tool/bin/stay.sh", 0o755);
    let mut child = machine.command(&["launch", "plugins/tool", "bin/stay.sh"]);
    let mut child = child.stdin(Stdio::piped()).spawn().unwrap();
    let input = child.stdin.take();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let own = rustix::process::Pid::from_child(&child);
    for expected in ["ready", "interrupted"] {
        assert_eq!(lines.next().unwrap().unwrap(), expected);
        rustix::process::kill_process(own, rustix::process::Signal::INT).unwrap();
    }
    assert_eq!(child.wait().unwrap().code(), Some(137));
    drop(input);
    assert!(machine.ledger().iter().any(|row| row["type"] == "launch_ended"));
    assert_eq!(std::fs::read_dir(machine.home.path("state/sealed")).unwrap().count(), 0);
}

#[test]
fn a_report_that_cannot_be_written_starts_nothing() {
    let machine = Machine::new(User::Same);
    let marker = machine.path("write/marker");
    let flags = |report| ["--write", "write", "--report", report];
    for report in ["gone/report.json", "read", "/dev/null/report"] {
        let output = machine.launch(&flags(report), &["bin/probe.py", "write", &marker]);
        assert_ne!(code(&output), 0, "{report}: {}", shown(&output));
        assert!(!Path::new(&marker).exists(), "{report}");
    }
    let output = machine.launch(&flags("/dev/stderr"), &["bin/probe.py", "write", &marker]);
    assert_eq!(code(&output), 0, "{}", shown(&output));
    assert!(
        String::from_utf8_lossy(&output.stderr).contains("\"access\": \"granted\""),
        "{}",
        shown(&output)
    );
}

/// A start that fails keeps the old report.
#[test]
fn a_report_is_replaced_after_the_program_ended() {
    let machine = Machine::new(User::Same);
    let report = machine.home.path("write/report.json");
    machine.home.write("write/report.json", "old");
    let launch = |flags: &[&str]| {
        let flags = [&["--report", "write/report.json"], flags].concat();
        code(&machine.launch(&flags, &["bin/probe.py", "own", "-"]))
    };
    assert_ne!(launch(&["--read", "gone"]), 0);
    assert_eq!(std::fs::read_to_string(&report).unwrap(), "old");
    assert_eq!(launch(&[]), 0);
    assert!(std::fs::read_to_string(&report).unwrap().contains("\"exit\": 0"));
    // No temporary file is left over.
    assert_eq!(std::fs::read_dir(machine.home.path("write")).unwrap().count(), 3);
}

/// A program cannot replace the file of its report with a pipe, for whose reader this program would wait. Its output is
/// passed on all the same.
#[test]
fn a_report_that_became_a_pipe_is_refused() {
    if !is_enforced() {
        return;
    }
    let machine = Machine::new(User::Same);
    let report = machine.path("write/report.json");
    let script = format!("#!/bin/sh\nmkfifo '{report}' && echo made\n");
    machine.home.write("plugins/tool/bin/pipe.sh", &script);
    machine.mode("plugins/tool/bin/pipe.sh", 0o755);
    let output = machine.launch(&["--write", "write", "--report", "write/report.json"], &["bin/pipe.sh"]);
    assert_eq!((code(&output), output.stdout.as_slice()), (1, &b"made\n"[..]), "{}", shown(&output));
    assert!(shown(&output).contains("is a pipe or device now"), "{}", shown(&output));
}

/// A report into a pipe waits for its reader, and an interrupt ends that. The end is recorded before.
#[test]
fn an_interrupt_ends_the_wait_for_the_reader_of_a_report() {
    let machine = Machine::new(User::Same);
    let made = Command::new("mkfifo").arg(machine.home.path("pipe")).status().unwrap();
    assert!(made.success());
    let mut child =
        machine.command(&["launch", "--report", "pipe", "plugins/tool", "bin/echo.sh"]).spawn().unwrap();
    let ended = || std::fs::read_to_string(machine.home.path("state/ledger.jsonl")).unwrap_or_default();
    while !ended().contains("launch_ended") {
        assert!(child.try_wait().unwrap().is_none());
        std::thread::yield_now();
    }
    let own = rustix::process::Pid::from_child(&child);
    let status = loop {
        if let Some(status) = child.try_wait().unwrap() {
            break status;
        }
        rustix::process::kill_process(own, rustix::process::Signal::INT).unwrap();
        std::thread::yield_now();
    };
    assert_eq!(status.code(), Some(130));
    assert_eq!(std::fs::read_dir(machine.home.path("state/sealed")).unwrap().count(), 0);
}

/// A program that the user can execute and not read has no digest. One that does not exist does not start.
#[test]
fn a_program_that_cannot_be_read_runs() {
    let machine = Machine::each().into_iter().next_back().unwrap();
    if machine.user == User::Same && rustix::process::geteuid().is_root() {
        return;
    }
    copy("/bin/touch", &machine.home.path("outside/touch"));
    machine.mode("outside/touch", 0o111);
    for (tool, digests) in [("outside/touch", &["unreadable"][..]), ("outside/gone", &["unreadable"])] {
        let marker = machine.home.path("write/marker");
        drop(std::fs::remove_file(&marker));
        // It is not a server.
        let (path, argument) = (machine.path(tool), machine.path("write/marker"));
        machine.run(&["mcp", "run", "--name", "tool", "--", &path, &argument]);
        assert_eq!(marker.exists(), tool == "outside/touch", "{tool}");
        let started = machine.ledger().into_iter().filter(|row| row["type"] == "launch_started");
        let found: Vec<_> = started.map(|row| row["digest"].as_str().unwrap().to_owned()).collect();
        assert_eq!(found, digests, "{tool}");
    }
}

#[test]
fn what_cannot_be_granted_starts_nothing() {
    let machine = Machine::new(User::Same);
    std::os::unix::fs::symlink("read", machine.home.path("link")).unwrap();
    assert!(Command::new("mkfifo").arg("-m755").arg(machine.home.path("pipe")).status().unwrap().success());
    for (flag, value, expected) in [
        ("--read", "/", "the root of the file system"),
        ("--read", "gone", "no such directory"),
        ("--read", "link", "it is a symlink"),
        ("--read", "link/", "it is a symlink"),
        ("--read", "read/file", "it is not a directory"),
        ("--write", "home", "it is or contains your home directory"),
        ("--write", ".", "it is or contains your home directory"),
        ("--write", "config", "takes settings or programs from"),
        ("--write", "home/.claude", "takes settings or programs from"),
        ("--env", "LD_PRELOAD", "a variable that loads code"),
        ("--env", "A=B", "it is not a variable name"),
        ("--connect", "*:443", "it is not a host"),
        ("--connect", "example.com", "one host and a port"),
        ("--listen", "0", "it is not a port"),
        ("--run", "no-such-program", "is not on PATH"),
        ("--run", "./read", "not an executable file"),
        ("--run", "read/file", "not an executable file"),
        ("--run", "./gone", "not an executable file"),
        ("--run", "./pipe", "not an executable file"),
    ] {
        for name in ["home/.claude", "config"] {
            std::fs::create_dir_all(machine.home.path(name)).unwrap();
        }
        let output = machine.launch(&[flag, value], &["bin/probe.py", "write", "write/new"]);
        let text = shown(&output).replace("\n                   ", "");
        assert_eq!(code(&output), 2, "{flag} {value}: {text}");
        assert!(
            text.contains("error[launch/spec]") && text.contains("= expected: "),
            "{flag} {value}: {text}"
        );
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(text.contains(expected), "{flag} {value}: {text}");
    }
    for file in ["../read/file", "/bin/true", "bin", "bin/gone"] {
        let output = machine.launch(&[], &[file]);
        assert_eq!(code(&output), 2, "{file}: {}", shown(&output));
        assert!(shown(&output).contains("error[launch/spec]: the plugin has no file"), "{}", shown(&output));
    }
    let output = machine.launch(&[], &[".claude-plugin/plugin.json"]);
    assert!(code(&output) == 2 && shown(&output).contains("is not executable"), "{}", shown(&output));
    assert!(machine.ledger().iter().all(|row| row["type"] != "launch_started"));
}

/// The first line of a script of the plugin selects no directory of the user. The environment of a program on `PATH` is
/// readable, but not the other files next to it.
#[test]
fn a_script_does_not_select_what_it_can_read() {
    if !is_enforced() {
        return;
    }
    let machine = Machine::new(User::Same);
    for (name, text) in [("pyvenv.cfg", ""), ("secret", "secret"), ("lib/module", "module")] {
        machine.home.write(&format!("venv/{name}"), text);
    }
    std::fs::create_dir_all(machine.home.path("venv/bin")).unwrap();
    std::os::unix::fs::symlink("/usr/bin/python3", machine.home.path("venv/bin/python3")).unwrap();
    let script = PROBE.replace("/usr/bin/env python3", &machine.path("venv/bin/python3"));
    machine.home.write("plugins/tool/bin/wide.py", &script);
    machine.mode("plugins/tool/bin/wide.py", 0o755);
    let path = format!("{}:/usr/bin:/bin", machine.path("venv/bin"));
    for (file, at, expected) in [
        // Python cannot read its `pyvenv.cfg`, and ends.
        ("bin/wide.py", "venv/secret", ""),
        ("bin/probe.py", "venv/secret", "PermissionError"),
        ("bin/probe.py", "venv/lib/module", "module\nok"),
    ] {
        let args = ["launch", "plugins/tool", file, "read", &machine.path(at)];
        let output = machine.command(&args).env("PATH", &path).output().unwrap();
        let printed = String::from_utf8_lossy(&output.stdout).trim().to_owned();
        assert_eq!(printed, expected, "{file} {at}: {}", shown(&output));
    }
}

/// The settings of the user count, with the place of what is wrong. Those of a repository do not.
#[test]
fn an_entry_of_the_settings_is_granted() {
    let machine = Machine::new(User::Same);
    let key = format!("path:{}", machine.path("plugins/tool"));
    let row = |more: &str| format!("[[launch.grants]]\nplugin = \"{key}\"\n{more}\n");
    let read = machine.path("read");
    machine.home.write("config/config.toml", &row(&format!("read = [\"{read}\"]")));
    assert_eq!(machine.probe(&[], "read", &machine.path("read/file")), "read/file\nok");
    let text = shown(&machine.run(&["info", "plugins/tool"]));
    assert!(text.split_whitespace().any(|word| word == key), "{text}");
    // Flags replace the entry.
    let printed = machine.probe(&["--read", "outside"], "read", &machine.path("read/file"));
    assert_eq!(printed, "PermissionError");
    for (more, place, expected) in [
        ("read = [\"read\"]", "config.toml:3:9", "not an absolute path"),
        ("read = [\"/\"]", "config.toml:3:9", "the root of the file system"),
        ("env = [\"A\", \"NODE_OPTIONS\"]", "config.toml:3:13", "a variable that loads code"),
        ("directory = \"/tmp\"", "config.toml:3:13", "`directory` is for an entry with `command`"),
    ] {
        machine.home.write("config/config.toml", &row(more));
        let output = machine.launch(&[], &["bin/probe.py", "write", "write/new"]);
        let text = shown(&output);
        assert_eq!(code(&output), 2, "{more}: {text}");
        assert!(text.contains(place) && text.contains(expected), "{more}: {text}");
    }
    machine.home.write("config/config.toml", "");
    let project = format!("launch.enforce = \"best-effort\"\n{}", row(&format!("read = [\"{read}\"]")));
    machine.home.write(".plugward/config.toml", &project);
    assert_eq!(machine.probe(&[], "read", &machine.path("read/file")), "PermissionError");
    for (key, fate) in [("launch.enforce", "held back"), ("launch.grants", "not from repository")] {
        let text = shown(&machine.run(&["config", "explain", key]));
        assert!(text.contains(".plugward/config.toml") && text.contains(fate), "{text}");
    }
}

#[test]
fn a_system_that_cannot_enforce_the_access_starts_nothing() {
    if !is_enforced() {
        return;
    }
    for machine in Machine::each() {
        let marker = machine.path("write/marker");
        let outside = machine.path("outside/file");
        without(&[libc::SYS_landlock_create_ruleset], || {
            for flags in [&[][..], &["--enforce", "require"]] {
                let flags = [flags, &["--write", "write"]].concat();
                let output = machine.launch(&flags, &["bin/probe.py", "write", &marker]);
                assert_eq!(code(&output), 5, "{}", shown(&output));
                assert!(shown(&output).contains("error[launch/enforcement]"), "{}", shown(&output));
            }
            assert!(!Path::new(&marker).exists());
            let flags = ["--enforce", "best-effort", "--report", "report.json"];
            let output = machine.launch(&flags, &["bin/probe.py", "read", &outside]);
            let text = shown(&output);
            assert_eq!(
                (code(&output), text.matches("warning[launch/enforcement]").count()),
                (0, 1),
                "{text}"
            );
            assert!(text.starts_with("outside/file\n"), "{text}");
        });
        let report = std::fs::read_to_string(machine.home.path("report.json")).unwrap();
        let report: Value = serde_json::from_str(&report).unwrap();
        assert_eq!(report["missing"][0]["word"], "files");
        without(&[libc::SYS_unshare], || {
            let output = machine.launch(&flags_of("end.json"), &["bin/probe.py", "read", &outside]);
            assert_eq!(code(&output), 0, "{}", shown(&output));
            assert!(String::from_utf8_lossy(&output.stdout).contains("PermissionError"));
        });
        let report = std::fs::read_to_string(machine.home.path("end.json")).unwrap();
        let report: Value = serde_json::from_str(&report).unwrap();
        let missing = &report["missing"][0];
        assert_eq!(missing["word"], "end");
        assert!(missing["why"].as_str().unwrap().contains("can outlive the program"), "{missing}");
    }
}

fn flags_of(report: &str) -> [&str; 2] {
    ["--report", report]
}

/// Each grant is recorded before the start, and without a ledger nothing starts.
#[test]
fn grants_and_starts_are_recorded_first() {
    let machine = Machine::new(User::Same);
    let marker = machine.path("write/marker");
    let flags = ["--read", "read", "--read", "read", "--write", "write", "--env", "TOKEN"];
    assert_eq!(machine.probe(&flags, "write", &marker), "ok");
    let all = machine.ledger();
    let of = |name: &str| all.iter().filter(|row| row["type"] == name).collect::<Vec<_>>();
    let minted = of("capability_minted");
    let kinds: Vec<_> = minted.iter().map(|row| row["kind"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["fs-read-write", "fs-read-write", "env-read"]);
    let started = of("launch_started");
    let seq = |row: &Value| row["seq"].as_u64().unwrap();
    assert!(minted.iter().all(|row| seq(row) < seq(started[0])));
    assert_eq!(started[0]["enforcement"], "bytes files network processes environment end");
    assert_eq!(started[0]["seq"], of("launch_ended")[0]["launch"]);
    assert_eq!(of("workflow_closed").len(), 1);
    // A budget of the settings refuses the second directory.
    let budget = "[[capability.budgets]]\nkind = \"fs-read-write\"\nmax_mints = 1\n";
    machine.home.write("config/config.toml", budget);
    let output = machine.launch(&flags, &["bin/probe.py", "write", &marker]);
    assert_eq!(code(&output), 5, "{}", shown(&output));
    assert!(shown(&output).contains("mint/over-budget"), "{}", shown(&output));
    assert!(shown(&output).contains("plugward ledger budget --workflow "), "{}", shown(&output));
    assert_eq!(machine.probe(&["--read", "read"], "read", &machine.path("read/file")), "read/file\nok");
    std::fs::remove_file(&marker).unwrap();
    std::fs::write(machine.home.path("state/ledger.jsonl"), "broken\n").unwrap();
    let output = machine.launch(&["--write", "write"], &["bin/probe.py", "write", &marker]);
    assert_eq!(code(&output), 7, "{}", shown(&output));
    assert!(!Path::new(&marker).exists());
}

/// A plugin that is refused does not start.
#[test]
fn a_refused_plugin_starts_nothing() {
    let machine = Machine::new(User::Same);
    assert_eq!(machine.probe(&[], "own", ""), "True ['echo.sh', 'probe.py']\nok");
    machine.home.write("plugins/tool/bin/other.sh", "echo changed\n");
    let output =
        machine.launch(&["--write", "write"], &["bin/probe.py", "write", &machine.path("write/new")]);
    assert_eq!(code(&output), 4, "{}", shown(&output));
    assert!(!machine.home.path("write/new").exists());
}
