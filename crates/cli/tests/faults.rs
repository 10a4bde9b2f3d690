//! Full disks and wrong permissions, owners and symlinks: each has a clear message, and no decision is lost.

#![expect(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "tests start the program, make folders, and stop where an answer has another shape"
)]
#![expect(clippy::unwrap_used, reason = "a test that cannot set up must stop")]
#![expect(clippy::print_stdout, reason = "a test that is skipped says why")]

mod home;

use std::os::unix::fs::{PermissionsExt as _, chown, symlink};
use std::path::Path;
use std::process::Output;

use home::{Home, code};

const PINS: &str = "config/plugins.pins.toml";
const LAST_GOOD: &str = "config/plugins.pins.toml.last-good";
/// The id of the user `nobody` on most systems, which does not run these tests.
const NOBODY: u32 = 65534;

fn said(output: &Output) -> String {
    String::from_utf8([output.stdout.as_slice(), output.stderr.as_slice()].concat()).unwrap()
}

fn root() -> bool {
    rustix::process::geteuid().is_root()
}

fn chmod(path: &Path, mode: u32) {
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
}

/// Writes one pinned plugin and one new one.
fn pinned() -> (Home, Vec<u8>) {
    let home = Home::new();
    home.good();
    assert_eq!(code(&home.run(&["check", "plugins"])), 0);
    home.write("plugins/new/.claude-plugin/plugin.json", "{ \"name\": \"new\" }\n");
    let pins = std::fs::read(home.path(PINS)).unwrap();
    assert!(String::from_utf8(pins.clone()).unwrap().contains("/plugins/good"));
    (home, pins)
}

/// Returns the decisions about the two plugins.
fn decisions(output: &Output) -> (String, String) {
    let report: serde_json::Value =
        serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{}", said(output)));
    let one = |name: &str| {
        let plugins = report["plugins"].as_array().unwrap();
        let plugin = plugins.iter().find(|plugin| plugin["name"] == name).unwrap();
        let codes =
            plugin["reasons"].as_array().unwrap().iter().map(|reason| reason["code"].as_str().unwrap());
        let codes: Vec<&str> = codes.collect();
        format!("{} {}", plugin["decision"].as_str().unwrap(), codes.join(" ")).trim().to_owned()
    };
    (one("good"), one("new"))
}

fn check_json(home: &Home) -> Output {
    home.run(&["check", "--format", "json", "plugins"])
}

/// Runs the program after a line of shell code; returns `None` if this machine does not permit that.
fn wrapped(home: &Home, wrapper: &[&str], line: &str, args: &[&str]) -> Option<Output> {
    let script = format!("set -e; {line}");
    let mut words: Vec<&str> = wrapper.to_vec();
    words.extend(["sh", "-c", &script, "sh", env!("CARGO_BIN_EXE_plugward")]);
    words.extend(args);
    let (first, rest) = words.split_first().unwrap();
    let mut command = std::process::Command::new(first);
    command.args(rest).current_dir(home.temp.path()).env("HOME", home.path("home"));
    command.env("PLUGWARD_CONFIG_DIR", home.path("config")).env("PLUGWARD_STATE_DIR", home.path("state"));
    command.env("USER", "tester").env_remove("CI").stdin(std::process::Stdio::null());
    match command.output() {
        Ok(output) => Some(output),
        Err(error) => {
            println!("skipped: no {first} here ({error})");
            None
        }
    }
}

const UNSHARED: [&str; 4] = ["unshare", "--user", "--map-root-user", "--mount"];

#[test]
fn a_full_disk_keeps_the_pins_and_what_they_hold() {
    let (home, pins) = pinned();
    // The disk has room for the existing files only.
    let line = "cp -a config saved; mount -t tmpfs -o size=64k,mode=0700 none config; cp -a saved/. config/; \
                echo mounted >&2; cat /dev/zero > config/fill 2>/dev/null || true; \
                \"$@\" && exit 99 || echo \"exit $?\" >&2; cmp config/plugins.pins.toml saved/plugins.pins.toml; \
                cmp config/plugins.pins.toml.last-good saved/plugins.pins.toml.last-good; ls -A config >&2; \
                rm config/fill; \"$@\" >/dev/null; echo \"then $?\" >&2";
    let args = ["check", "--format", "json", "plugins"];
    let Some(output) = wrapped(&home, &UNSHARED, line, &args) else { return };
    let told = String::from_utf8(output.stderr.clone()).unwrap();
    if !told.contains("mounted") {
        println!("skipped: this machine does not let us mount ({})", told.trim());
        return;
    }
    assert!(told.contains("exit 7") && told.contains("then 0"), "{}", said(&output));
    assert!(!told.contains(".tmp"), "nothing is left over: {told}");
    let (good, new) = decisions(&output);
    assert_eq!((good.as_str(), new.as_str()), ("load", "refuse pin/not-saved"), "{}", said(&output));
    assert_eq!(std::fs::read(home.path(PINS)).unwrap(), pins);
}

/// However little room the disk of the ledger has, the exit code is 7 if the start or the end cannot be recorded.
#[test]
#[cfg(target_os = "linux")]
fn a_full_disk_of_the_ledger_starts_nothing() {
    let home = Home::new();
    home.good();
    home.write("plugins/good/bin/tool", "#!/bin/sh\necho ran\n");
    chmod(&home.path("plugins/good/bin/tool"), 0o755);
    let line = "for limit in size=4k size=8k size=16k $(seq -f nr_inodes=%g 1 3 31); do \
                mount -t tmpfs -o $limit,mode=0700 none state; answer=$(\"$@\" 2>/dev/null) && exit=0 || exit=$?; \
                echo \"$exit $answer\"; umount state; done";
    std::fs::create_dir_all(home.path("state")).unwrap();
    let Some(output) = wrapped(&home, &UNSHARED, line, &["launch", "plugins/good", "bin/tool"]) else {
        return;
    };
    if !output.status.success() {
        println!("skipped: this machine does not let us mount ({})", said(&output));
        return;
    }
    let text = said(&output);
    let answers: Vec<&str> = text.lines().map(str::trim).collect();
    assert!(answers.iter().all(|answer| ["7", "7 ran", "0 ran"].contains(answer)), "{text}");
    assert_eq!((answers.first(), answers.last()), (Some(&"7"), Some(&"0 ran")), "{text}");
}

#[test]
fn a_limit_of_file_sizes_keeps_the_pins() {
    let (home, pins) = pinned();
    let line = "trap '' XFSZ; ulimit -f 0; exec \"$@\"";
    for args in [&["check", "plugins"][..], &["deny", "good"], &["forget", "good"]] {
        let output = wrapped(&home, &[], line, args).unwrap();
        assert_eq!(code(&output), 7, "{args:?}: {}", said(&output));
        assert!(said(&output).contains("help: "), "{args:?}: {}", said(&output));
        assert_eq!(std::fs::read(home.path(PINS)).unwrap(), pins, "{args:?}");
    }
    assert_eq!(code(&home.run(&["check", "plugins"])), 0);
}

/// Runs the program without the capabilities that let a superuser ignore permissions.
fn unprivileged(home: &Home, args: &[&str]) -> Option<Output> {
    let wrapper: &[&str] =
        if root() { &["setpriv", "--bounding-set=-dac_override,-dac_read_search", "--"] } else { &[] };
    wrapped(home, wrapper, "exec \"$@\"", args)
}

#[test]
fn a_read_only_folder_is_read_and_says_what_it_could_not_keep() {
    let (home, pins) = pinned();
    chmod(&home.path("config"), 0o500);
    let outputs =
        [&["check", "--format", "json", "plugins"][..], &["deny", "good"], &["forget", "--all", "--yes"]]
            .map(|args| unprivileged(&home, args));
    chmod(&home.path("config"), 0o700);
    let [Some(check), Some(deny), Some(forget)] = outputs else { return };
    assert_eq!((code(&check), code(&deny), code(&forget)), (7, 7, 7), "{}", said(&check));
    let (good, new) = decisions(&check);
    assert_eq!((good.as_str(), new.as_str()), ("load", "refuse pin/not-saved"), "{}", said(&check));
    assert!(said(&deny).contains("help: "), "{}", said(&deny));
    assert_eq!(std::fs::read(home.path(PINS)).unwrap(), pins);
    assert_eq!(decisions(&check_json(&home)), ("load".to_owned(), "load".to_owned()));
}

/// Each fault of both copies of the pins: nothing loads without a terminal, the fault is named, no byte is changed.
#[test]
fn pins_that_are_not_ours_are_never_believed() {
    type Fault = (&'static str, fn(&Home, &str));
    let mut faults: Vec<Fault> = vec![
        ("writable by others", |home, name| chmod(&home.path(name), 0o666)),
        ("a link", |home, name| {
            let aside = format!("{name}.aside");
            std::fs::rename(home.path(name), home.path(&aside)).unwrap();
            symlink(home.path(&aside), home.path(name)).unwrap();
        }),
        ("a second name", |home, name| {
            std::fs::hard_link(home.path(name), home.path(&format!("{name}.twin"))).unwrap();
        }),
        ("a pipe", |home, name| {
            std::fs::remove_file(home.path(name)).unwrap();
            let mode = rustix::fs::Mode::from_raw_mode(0o600);
            let kind = rustix::fs::FileType::Fifo;
            rustix::fs::mknodat(rustix::fs::CWD, home.path(name), kind, mode, 0).unwrap();
        }),
        ("a folder", |home, name| {
            std::fs::remove_file(home.path(name)).unwrap();
            std::fs::create_dir(home.path(name)).unwrap();
        }),
    ];
    if root() {
        faults.push(("another's", |home, name| chown(home.path(name), Some(NOBODY), None).unwrap()));
    } else {
        println!("skipped: only the superuser gives files away");
    }
    for (what, spoil) in faults {
        let (home, pins) = pinned();
        spoil(&home, PINS);
        spoil(&home, LAST_GOOD);
        let output = check_json(&home);
        assert_eq!(code(&output), 7, "{what}: {}", said(&output));
        let refused = || "refuse pin/store".to_owned();
        assert_eq!(decisions(&output), (refused(), refused()), "{what}: {}", said(&output));
        let table = home.shown(&["check", "plugins"]);
        assert!(table.contains("help: ") && table.contains("plugins.pins.toml"), "{what}: {table}");
        for verb in ["diff", "undeny", "forget"] {
            assert_eq!(code(&home.run(&[verb, "good"])), 7, "{what}, {verb}");
        }
        if let Ok(bytes) = std::fs::read(home.path(&format!("{PINS}.aside"))) {
            assert_eq!(bytes, pins, "{what}: what a link leads to is not touched");
        }
        // One intact copy is enough.
        let (home, pins) = pinned();
        spoil(&home, PINS);
        let output = check_json(&home);
        // A user has to look at what another user could write, since the backup does not show it.
        if matches!(what, "writable by others" | "another's") {
            assert_eq!(code(&output), 7, "{what}: {}", said(&output));
            assert_eq!(decisions(&output), (refused(), refused()), "{what}: {}", said(&output));
            continue;
        }
        assert_eq!(code(&output), 0, "{what}: {}", said(&output));
        assert!(said(&output).contains("pin/recovered"), "{what}: {}", said(&output));
        assert_eq!(decisions(&output), ("load".to_owned(), "load".to_owned()), "{what}");
        let now = std::fs::read_to_string(home.path(PINS)).unwrap();
        assert!(now.contains("/plugins/good") && now.contains("/plugins/new"), "{what}: {now}");
        assert!(std::fs::symlink_metadata(home.path(PINS)).unwrap().is_file(), "{what}");
        if let Ok(bytes) = std::fs::read(home.path(&format!("{PINS}.aside"))) {
            assert_eq!(bytes, pins, "{what}: what a link leads to is not touched");
        }
        assert!(!said(&check_json(&home)).contains("pin/recovered"), "{what}: it is mended");
    }
}

#[test]
fn a_folder_that_others_may_write_holds_no_pins() {
    let (home, pins) = pinned();
    chmod(&home.path("config"), 0o777);
    let output = home.run(&["check", "plugins"]);
    assert_eq!(code(&output), 7, "{}", said(&output));
    assert!(said(&output).contains("chmod"), "{}", said(&output));
    assert_eq!(std::fs::read(home.path(PINS)).unwrap(), pins);
    chmod(&home.path("config"), 0o700);
    assert_eq!(code(&home.run(&["check", "plugins"])), 0);
}

#[test]
fn a_store_that_is_damaged_costs_nobody_else_anything() {
    let (home, _) = pinned();
    assert_eq!(code(&home.run(&["check", "plugins"])), 0);
    home.write("plugins/new/more.md", "changed\n");
    let whole = std::fs::read(home.path(PINS)).unwrap();
    for damaged in [&b""[..], &whole[..whole.len() / 2], &[0; 512], b"version = ["] {
        std::fs::write(home.path(PINS), damaged).unwrap();
        let output = check_json(&home);
        // The intact copy has both pins: the changed plugin is refused, and the other one loads.
        let expected = ("load".to_owned(), "refuse pin/changed".to_owned());
        assert_eq!((code(&output), decisions(&output)), (4, expected), "{}", said(&output));
        assert!(said(&output).contains("pin/recovered"), "{}", said(&output));
    }
}

#[test]
fn a_lock_file_that_is_no_plain_file_is_no_yes() {
    type Put = fn(&Path);
    let puts: [(&str, Put); 3] = [
        ("a folder", |path| std::fs::create_dir(path).unwrap()),
        ("a pipe", |path| {
            let mode = rustix::fs::Mode::from_raw_mode(0o600);
            rustix::fs::mknodat(rustix::fs::CWD, path, rustix::fs::FileType::Fifo, mode, 0).unwrap();
        }),
        ("a link out of the folder", |path| symlink("../elsewhere.lock", path).unwrap()),
    ];
    for (what, put) in puts {
        let home = Home::new();
        home.good();
        assert_eq!(code(&home.run(&["lock", "plugins"])), 0);
        let lock = home.path("plugins/PLUGINS.lock");
        std::fs::rename(&lock, home.path("elsewhere.lock")).unwrap();
        put(&lock);
        for args in [
            &["check", "plugins"][..],
            &["check", "--trust", "locked", "plugins"],
            &["lock", "--check", "plugins"],
        ] {
            let output = home.run(args);
            assert!(matches!(code(&output), 4 | 7), "{what}, {args:?}: {}", said(&output));
            assert!(said(&output).contains("help: "), "{what}, {args:?}: {}", said(&output));
        }
        assert!(!home.path(PINS).exists(), "{what}: nothing was enrolled");
    }
}

#[test]
fn a_look_at_pins_that_cannot_be_read_says_why() {
    let (home, _) = pinned();
    assert_eq!(code(&home.run(&["list", "plugins"])), 0);
    home.write(PINS, "[");
    home.write(LAST_GOOD, "[");
    for words in [&["list", "plugins"][..], &["info", "plugins/good"]] {
        let output = home.run(words);
        let told = said(&output);
        assert_eq!(code(&output), 7, "{words:?} {told}");
        assert!(told.contains("unavailable") && told.contains("pin/store"), "{words:?} {told}");
        assert!(told.contains("plugward forget --all"), "{words:?} {told}");
    }
}
