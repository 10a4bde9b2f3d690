//! A plugin is identified by the path of its directory, whatever its name and however the user selects it.

#![expect(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "tests start the program, make directories, and stop where an answer has another shape"
)]
#![expect(clippy::unwrap_used, reason = "a test that cannot set up must stop")]
#![expect(clippy::print_stdout, reason = "a test that is skipped says why")]

mod home;

use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;
use std::process::Output;

use home::{Home, code, undated};
use serde_json::Value;

const PINS: &str = "config/plugins.pins.toml";
/// `tofu`, `prompt` without a terminal, and `locked`.
const MODES: [&[&str]; 3] =
    [&["--trust", "tofu"], &["--trust", "prompt", "--no-input"], &["--trust", "locked"]];
const CHANGED: &str = "pin/changed changed since YYYY-MM-DD: 1 file differs";

fn said(output: &Output) -> String {
    String::from_utf8([output.stdout.as_slice(), output.stderr.as_slice()].concat()).unwrap()
}

/// Writes a plugin without findings.
fn plugin(home: &Home, dir: &str, name: &str) {
    home.write(
        &format!("{dir}/.claude-plugin/plugin.json"),
        &format!("{{\"name\":\"{name}\",\"version\":\"1.0.0\"}}\n"),
    );
    home.write(&format!("{dir}/x.md"), "hi\n");
}

fn make_dir(home: &Home, dir: &str) {
    std::fs::create_dir_all(home.path(dir)).unwrap();
}

fn rename(home: &Home, from: &str, to: &str) {
    std::fs::rename(home.path(from), home.path(to)).unwrap();
}

fn link(home: &Home, target: &str, at: &str) {
    symlink(target, home.path(at)).unwrap();
}

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy(&entry.path(), &target);
        } else {
            std::fs::copy(entry.path(), target).unwrap();
        }
    }
}

fn pins(home: &Home) -> String {
    std::fs::read_to_string(home.path(PINS)).unwrap_or_default()
}

/// The answer of `check`.
#[derive(Debug)]
struct Answer {
    exit: i32,
    ids: Vec<String>,
    decisions: Vec<String>,
    /// Code and first line of each reason.
    reasons: Vec<String>,
    /// Code and first line of each notice, also of those about no plugin that was found.
    notices: Vec<String>,
}

impl Answer {
    fn has_notice(&self, start: &str) -> bool {
        self.notices.iter().any(|notice| notice.starts_with(start))
    }
}

fn texts(value: &Value, key: &str) -> Vec<String> {
    let first = |one: &Value| {
        let message = one["message"].as_str().unwrap().lines().next().unwrap().to_owned();
        undated(&format!("{} {message}", one["code"].as_str().unwrap()))
    };
    value[key].as_array().map(|all| all.iter().map(first).collect()).unwrap_or_default()
}

fn check_in(home: &Home, dir: &str, args: &[&str]) -> Answer {
    let all = [&["check", "--format", "json"], args].concat();
    let output = home.command(&all).current_dir(home.path(dir)).output().unwrap();
    let report: Value =
        serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{}", said(&output)));
    let plugins = report["plugins"].as_array().unwrap();
    let field = |name: &str| plugins.iter().map(|plugin| plugin[name].as_str().unwrap().to_owned()).collect();
    let own = plugins.iter().flat_map(|plugin| texts(plugin, "notices"));
    Answer {
        exit: code(&output),
        ids: field("id"),
        decisions: field("decision"),
        reasons: plugins.iter().flat_map(|plugin| texts(plugin, "reasons")).collect(),
        notices: own.chain(texts(&report, "notices")).collect(),
    }
}

fn check(home: &Home, args: &[&str]) -> Answer {
    check_in(home, ".", args)
}

/// Checks a directory in each mode, and expects the same refusal.
#[track_caller]
fn refused(home: &Home, dir: &str, exit: i32, reason: &str) {
    for mode in MODES {
        let answer = check(home, &[mode, &[dir]].concat());
        assert_eq!(
            (answer.exit, answer.reasons.as_slice()),
            (exit, &[reason.to_owned()][..]),
            "{dir} {mode:?}"
        );
    }
}

/// Returns `true` if this file system lets plugward distinguish a moved directory from a new one.
fn has_birth_times(home: &Home) -> bool {
    let created = home.temp.path().metadata().and_then(|meta| meta.created());
    if let Err(error) = &created {
        println!("skipped: this file system does not store when a directory was created ({error})");
    }
    created.is_ok()
}

/// A project with one pinned plugin, `y/plugins/a`.
fn pinned() -> Home {
    let home = Home::new();
    plugin(&home, "y/plugins/a", "a");
    make_dir(&home, "y/.git");
    let answer = check(&home, &["y/plugins"]);
    assert_eq!((answer.exit, answer.decisions), (0, vec!["load".to_owned()]));
    assert!(answer.notices[0].starts_with("pin/new new plugin, pinned on first use"), "{:?}", answer.notices);
    home
}

#[test]
fn a_first_check_is_pinned_asked_about_or_refused() {
    for (mode, expected) in MODES.into_iter().zip([(0, "load"), (3, "ask"), (4, "refuse")]) {
        let home = Home::new();
        plugin(&home, "y/plugins/a", "a");
        let answer = check(&home, &[mode, &["y"]].concat());
        assert_eq!((answer.exit, answer.decisions[0].as_str()), expected, "{mode:?} {answer:?}");
        assert_eq!(pins(&home).is_empty(), expected.0 != 0, "{mode:?}");
    }
}

#[test]
fn every_way_to_name_a_plugin_gives_the_same_verdict() {
    let home = pinned();
    link(&home, "y", "z");
    let full = home.path("y/plugins").to_str().unwrap().to_owned();
    let dirs = [
        "y/plugins",
        "y/plugins/",
        "./y//plugins",
        "y/plugins/a",
        "y",
        ".",
        "z/plugins/a",
        "z",
        "y/plugins/../plugins",
        &full,
    ];
    for mode in MODES {
        for dir in dirs {
            let answer = check(&home, &[mode, &[dir]].concat());
            assert_eq!(
                (answer.exit, answer.ids.as_slice()),
                (0, &["plugins/a".to_owned()][..]),
                "{dir} {mode:?}"
            );
        }
    }
    let before = pins(&home);
    home.write("y/plugins/a/x.md", "hi\nevil\n");
    for dir in dirs {
        refused(&home, dir, 4, CHANGED);
    }
    for mode in MODES {
        for (from, dir) in [
            ("y/plugins/a", "."),
            ("y/plugins/a/.claude-plugin", ".."),
            ("y/plugins", "a"),
            ("z/plugins", "a"),
        ] {
            let answer = check_in(&home, from, &[mode, &[dir]].concat());
            assert_eq!((answer.exit, answer.reasons[0].as_str()), (4, CHANGED), "{from} {dir} {mode:?}");
        }
        // A directory inside the plugin selects the plugin.
        let answer = check(&home, &[mode, &["y/plugins/a/.claude-plugin"]].concat());
        assert_eq!((answer.exit, answer.reasons[0].as_str()), (4, CHANGED), "{mode:?}");
        // Two arguments that lead to one plugin are one row.
        let answer = check(&home, &[mode, &["y", "z/plugins/a", "y/plugins"]].concat());
        assert_eq!((answer.exit, answer.reasons.len()), (4, 1), "{mode:?}");
    }
    assert_eq!(pins(&home), before);
}

#[test]
fn nothing_inside_a_directory_changes_its_key() {
    type Tamper = fn(&Home);
    let name = "pin/changed changed since YYYY-MM-DD: 1 file differs, and its name changed from `a` to `b`";
    let steps: [(Tamper, &str); 5] = [
        (|home| make_dir(home, "y/plugins/a/.plugward"), ""),
        (
            |home| {
                home.write(
                    "y/plugins/a/.claude-plugin/plugin.json",
                    "{\"name\":\"b\",\"version\":\"1.0.0\"}\n",
                );
            },
            name,
        ),
        (
            |home| {
                home.write(
                    "y/plugins/a/.claude-plugin/plugin.json",
                    "{\"name\":\"a\",\"version\":\"1.1.0\"}\n",
                );
            },
            "pin/changed changed since YYYY-MM-DD: 1 file differs, and its version changed from 1.0.0 to 1.1.0",
        ),
        (
            |home| rename(home, "y/plugins/a/.claude-plugin", "y/plugins/a/.codex-plugin"),
            "pin/changed changed since YYYY-MM-DD: 2 files differ",
        ),
        (
            |home| std::fs::remove_dir_all(home.path("y/plugins/a/.claude-plugin")).unwrap(),
            "pin/changed changed since YYYY-MM-DD: no known manifest found",
        ),
    ];
    for (step, reason) in steps {
        let home = pinned();
        step(&home);
        for dir in ["y/plugins", "y", "y/plugins/a"] {
            if reason.is_empty() {
                // An empty directory is not content.
                assert_eq!(check(&home, &[dir]).exit, 0, "{dir}");
            } else {
                refused(&home, dir, 4, reason);
            }
        }
        assert_eq!(pins(&home).matches("\n[pins.").count(), 1, "{reason}");
    }
    // Bytecode that Python writes is reported as such, and refused.
    let home = pinned();
    home.write("y/plugins/a/__pycache__/x.pyc", "1");
    for mode in MODES {
        let answer = check(&home, &[mode, &["y"]].concat());
        assert_eq!(answer.exit, 4, "{mode:?}");
        assert_eq!(
            answer.reasons[0],
            "pin/changed new: native-code (__pycache__/x.pyc:1); changed since YYYY-MM-DD: only `__pycache__` was added",
            "{mode:?}"
        );
    }
    // A project marker in a parent directory changes only the name of the plugin in reports.
    let home = pinned();
    home.write("y/plugins/a/x.md", "evil\n");
    for mark in ["y/.plugward", "y/plugins/.git", "y/plugins/a/.git"] {
        make_dir(&home, mark);
        refused(&home, "y/plugins", 4, CHANGED);
        std::fs::remove_dir(home.path(mark)).unwrap();
    }
}

#[test]
fn a_moved_directory_is_the_pinned_one() {
    let home = pinned();
    if !has_birth_times(&home) {
        return;
    }
    // Other bytes.
    home.write("y/plugins/a/x.md", "evil\n");
    rename(&home, "y", "w");
    refused(
        &home,
        "w/plugins",
        4,
        "pin/changed moved from `plugins/a` and changed since YYYY-MM-DD: 1 file differs",
    );
    // The same bytes: `locked` writes nothing, and the other modes move the pin.
    home.write("w/plugins/a/x.md", "hi\n");
    let before = pins(&home);
    let moved = "pin/moved moved from `plugins/a`, contents match the pin";
    let answer = check(&home, &["--trust", "locked", "w/plugins"]);
    assert_eq!((answer.exit, pins(&home)), (0, before));
    assert!(answer.has_notice(moved), "{answer:?}");
    let answer = check(&home, &["--trust", "prompt", "--no-input", "w/plugins"]);
    assert_eq!(answer.exit, 0, "{answer:?}");
    assert!(answer.has_notice(moved), "{answer:?}");
    let after = pins(&home);
    assert!(after.contains("/w/plugins/a\"]") && !after.contains("/y/plugins/a\"]"), "{after}");
    // Nothing is left at the old place, and its pin is not there to be gone.
    let answer = check(&home, &["."]);
    assert_eq!((answer.exit, answer.notices.len()), (0, 0), "{answer:?}");
}

#[test]
fn a_copy_is_new_and_says_what_it_is_like() {
    let home = pinned();
    copy(&home.path("y"), &home.path("c"));
    for (mode, expected) in MODES.into_iter().zip([0, 3, 4]).skip(1) {
        let answer = check(&home, &[mode, &["c"]].concat());
        assert_eq!(answer.exit, expected, "{mode:?} {answer:?}");
    }
    let answer = check(&home, &["c"]);
    assert_eq!(answer.exit, 0);
    assert!(answer.has_notice("pin/new same contents as `plugins/a`, pinned on "), "{answer:?}");
    // If a user has agreed to these bytes, the copy needs no second answer.
    let home = pinned();
    let tree = said(&home.run(&["digest", "y/plugins/a"]));
    assert_eq!(code(&home.run(&["forget", "a"])), 0);
    assert_eq!(code(&home.run(&["accept", "y/plugins/a", "--tree", tree.trim()])), 0);
    copy(&home.path("y"), &home.path("c"));
    assert_eq!(check(&home, &["--trust", "prompt", "--no-input", "c"]).exit, 0);
    copy(&home.path("y"), &home.path("d"));
    home.write("d/plugins/a/x.md", "evil\n");
    assert_eq!(check(&home, &["--trust", "prompt", "--no-input", "d"]).exit, 3);
}

#[test]
fn namesakes_have_a_pin_each() {
    let home = Home::new();
    plugin(&home, "p/plugins/g", "g");
    plugin(&home, "q/plugins/g", "g");
    home.write("q/plugins/g/x.md", "2\n");
    assert_eq!(check(&home, &["p"]).exit, 0);
    let answer = check(&home, &["q"]);
    assert_eq!(answer.exit, 0);
    assert!(
        answer.has_notice("pin/new another `g` with different contents is pinned at `plugins/g`"),
        "{answer:?}"
    );
    assert_eq!(pins(&home).matches("\n[pins.").count(), 2);
    plugin(&home, "m/one/t", "t");
    plugin(&home, "m/two/t", "t");
    let answer = check(&home, &["m"]);
    assert_eq!((answer.exit, answer.ids), (0, vec!["m/one/t".to_owned(), "m/two/t".to_owned()]));
    // A change of one is refused, and the other one loads.
    home.write("q/plugins/g/x.md", "3\n");
    for mode in MODES {
        assert_eq!(check(&home, &[mode, &["p"]].concat()).exit, 0, "{mode:?}");
    }
    refused(&home, "q", 4, CHANGED);
}

#[test]
fn a_lockfile_holds_in_every_clone() {
    let home = Home::new();
    plugin(&home, "l/plugins/a", "a");
    make_dir(&home, "l/.git");
    assert_eq!(code(&home.run(&["lock", "l/plugins"])), 0);
    copy(&home.path("l"), &home.path("l2"));
    rename(&home, "l2/plugins", "l2/other");
    let fine = |dir: &str| {
        assert_eq!(code(&home.run(&["lock", "--check", dir])), 0, "{dir}");
        for within in [dir.to_owned(), format!("{dir}/a")] {
            let answer = check(&home, &["--trust", "locked", &within]);
            assert_eq!((answer.exit, answer.decisions.len()), (0, 1), "{within} {answer:?}");
        }
    };
    for dir in ["l/plugins", "l2/other"] {
        fine(dir);
    }
    assert_eq!(pins(&home), "");
    // From above, and from inside.
    for (from, dir) in [("l2", "."), ("l2/other/a", "."), (".", "l2")] {
        assert_eq!(check_in(&home, from, &["--trust", "locked", dir]).exit, 0, "{from} {dir}");
    }
    // The selector is the name of the directory, not the one in the manifest.
    rename(&home, "l2/other/a", "l2/other/b");
    let answer = check(&home, &["--trust", "locked", "l2"]);
    assert_eq!(answer.exit, 4);
    for code in ["lock/unlisted ", "lock/missing "] {
        assert!(answer.reasons.iter().any(|reason| reason.starts_with(code)), "{answer:?}");
    }
    rename(&home, "l2/other/b", "l2/other/a");
    fine("l2/other");
    // A lockfile inside the plugin does not take the place of the one above it.
    home.write("l2/other/a/x.md", "evil\n");
    let lock = std::fs::read_to_string(home.path("l2/other/PLUGINS.lock")).unwrap();
    let tree = said(&home.run(&[
        "digest",
        "--exclude",
        "PLUGINS.lock",
        "--exclude",
        "PLUGINS.lock.minisig",
        "l2/other/a",
    ]));
    let old = lock.split('"').find(|part| part.starts_with("pt1:")).unwrap();
    let own = lock.replace("plugin.\"a\"", "plugin.\".\"").replace(old, tree.trim());
    home.write("l2/other/a/PLUGINS.lock", &own);
    make_dir(&home, "l2/other/a/.git");
    for dir in ["l2", "l2/other", "l2/other/a"] {
        let answer = check(&home, &["--trust", "locked", dir]);
        assert_eq!(answer.exit, 4, "{dir} {answer:?}");
        assert!(answer.reasons.iter().any(|reason| reason.starts_with("lock/mismatch ")), "{dir} {answer:?}");
    }
}

#[test]
fn the_lockfile_that_a_help_names_is_the_one_that_counts() {
    let home = Home::new();
    plugin(&home, "l/my plugins/a", "a");
    make_dir(&home, "l/.git");
    assert_eq!(code(&home.run(&["lock", "l/my plugins"])), 0);
    plugin(&home, "l/my plugins/b", "b");
    let help = "plugward lock 'l/my plugins'";
    for dir in ["l/my plugins", "l/my plugins/b", "l"] {
        for verb in [&["check"][..], &["check", "--trust", "locked"], &["lock", "--check"]] {
            let told = said(&home.run(&[verb, &[dir]].concat()));
            let told = told.split_whitespace().collect::<Vec<_>>().join(" ");
            assert!(told.contains(help), "{verb:?} {dir}: {told}");
        }
    }
    // A lockfile in the plugin would change its tree and vouch for nothing.
    let output = home.run(&["lock", "l/my plugins/b"]);
    assert_eq!(code(&output), 2);
    assert!(said(&output).contains(": plugward lock 'l/my plugins'\n"), "{}", said(&output));
    assert!(!home.path("l/my plugins/b/PLUGINS.lock").exists());
    assert_eq!(code(&home.run(&["lock", "l/my plugins"])), 0);
    assert_eq!(check(&home, &["--trust", "locked", "l"]).exit, 0);
}

/// A change that makes a denied plugin look like another one.
struct Disguise {
    what: &'static str,
    apply: fn(&Home),
    /// The directory that is checked afterwards.
    dir: &'static str,
    /// Exit codes in the three modes.
    exits: [i32; 3],
}

fn disguises() -> Vec<Disguise> {
    let one = |what, dir, exits, apply| Disguise { what, apply, dir, exits };
    vec![
        one("nothing", "y/plugins", [5, 5, 5], |_| {}),
        one("another name", "y/plugins", [5, 5, 5], |home| {
            home.write("y/plugins/a/.claude-plugin/plugin.json", "{\"name\":\"b\"}\n");
        }),
        one("another dialect", "y/plugins", [5, 5, 5], |home| {
            rename(home, "y/plugins/a/.claude-plugin", "y/plugins/a/.codex-plugin");
        }),
        one("no manifest", "y/plugins", [5, 5, 5], |home| {
            std::fs::remove_dir_all(home.path("y/plugins/a/.claude-plugin")).unwrap();
        }),
        one("another project", "y/plugins", [5, 5, 5], |home| make_dir(home, "y/.plugward")),
        one("a project of its own", "y/plugins/a", [5, 5, 5], |home| make_dir(home, "y/plugins/a/.plugward")),
        one("moved", "w/plugins", [5, 5, 5], |home| rename(home, "y", "w")),
        one("moved and changed", "w/plugins", [5, 5, 5], |home| {
            rename(home, "y", "w");
            home.write("w/plugins/a/.claude-plugin/plugin.json", "{\"name\":\"b\"}\n");
            home.write("w/plugins/a/x.md", "other\n");
        }),
        // Under `locked`, both are refused as new plugins too, and 4 comes before 5.
        one("copied", "w/plugins", [5, 5, 4], |home| copy(&home.path("y"), &home.path("w"))),
        one("another one of this name", "w/plugins", [3, 3, 4], |home| {
            plugin(home, "w/plugins/a", "a");
            home.write("w/plugins/a/.claude-plugin/plugin.json", "{\"name\":\"a\",\"version\":\"2.0.0\"}\n");
        }),
    ]
}

#[test]
fn a_denied_plugin_stays_denied() {
    let birth_times = has_birth_times(&Home::new());
    let seen = |disguise: &Disguise| birth_times || !disguise.what.starts_with("moved");
    for pinned in [true, false] {
        for selector in ["y/plugins/a", "a"] {
            for Disguise { what, apply, dir, exits } in disguises().into_iter().filter(seen) {
                let home = Home::new();
                plugin(&home, "y/plugins/a", "a");
                make_dir(&home, "y/.git");
                if pinned {
                    assert_eq!(check(&home, &["y"]).exit, 0);
                }
                assert_eq!(code(&home.run(&["deny", selector, "--in", "y"])), 0, "{selector}");
                apply(&home);
                let reason = match exits[0] {
                    3 => "policy/namesake `plugins/a` is denied and has the same name",
                    _ => "policy/denied ",
                };
                for (mode, exit) in MODES.into_iter().zip(exits) {
                    let answer = check(&home, &[mode, &[dir]].concat());
                    let context = format!("{what} {selector} {mode:?} {answer:?}");
                    assert_eq!((answer.exit, answer.decisions.len()), (exit, 1), "{context}");
                    let mut told = answer.reasons.iter().chain(&answer.notices);
                    assert!(told.any(|one| one.starts_with(reason)), "{context}");
                }
            }
        }
    }
}

#[test]
fn a_selector_is_a_path_a_key_or_a_name() {
    let home = pinned();
    plugin(&home, "home/plug ins/h", "h");
    assert_eq!(check(&home, &["home"]).exit, 0);
    let real = home.temp.path().canonicalize().unwrap();
    let real = real.to_str().unwrap();
    let at = |dir: &str, selector: &str| {
        let output = home.command(&["explain", selector]).current_dir(home.path(dir)).output().unwrap();
        assert_eq!(code(&output), 0, "{dir} {selector}: {}", said(&output));
        said(&output).lines().next().unwrap().trim_end_matches(" loads").to_owned()
    };
    link(&home, "y", "z");
    let key = format!("path:{real}/y/plugins/a");
    let full = format!("{real}/y/plugins/a");
    for selector in [
        "y/plugins/a",
        "y/plugins/a/",
        "./y/plugins/a",
        "z/plugins/a",
        "y/plugins/a/.claude-plugin",
        "a",
        &key,
        &full,
    ] {
        assert_eq!(at(".", selector), "y/plugins/a 1.0.0", "{selector}");
    }
    for (dir, selector) in
        [("y/plugins/a", "."), ("y/plugins/a/.claude-plugin", ".."), ("y/plugins/a", "../a")]
    {
        assert!(at(dir, selector).ends_with(" 1.0.0"), "{dir} {selector}");
    }
    assert_eq!(at("y/plugins/a", "."), ". 1.0.0");
    assert_eq!(at("y/plugins", "./a"), "./a 1.0.0");
    assert_eq!(at("y", "~/plug ins/h"), "~/plug ins/h 1.0.0");
    assert_eq!(at("home/plug ins/h", "h"), ". 1.0.0");
    // From elsewhere, a name finds what is pinned.
    assert_eq!(at("home", "a"), format!("{full} 1.0.0"));
    // The name in the manifest, while the directory is called otherwise.
    plugin(&home, "y/plugins/dir", "called");
    assert_eq!(check(&home, &["y"]).exit, 0);
    assert_eq!(at(".", "called"), "y/plugins/dir 1.0.0");
    assert_eq!(at(".", "claude:called"), "y/plugins/dir 1.0.0");
    assert_eq!(at(".", "dir"), "y/plugins/dir 1.0.0");
}

#[test]
fn a_selector_that_means_several_or_none_is_an_error() {
    let home = Home::new();
    plugin(&home, "home/t", "t");
    plugin(&home, "one/t", "t");
    plugin(&home, "two/other", "t");
    let refused = |args: &[&str], told: &str| {
        let shown = home.shown(args);
        assert!(shown.ends_with("exit 2\n") && shown.contains(told), "{shown}");
    };
    let several = " plugins are called t\n |\n";
    // Nothing is pinned yet: what is searched is named.
    let listed = format!("{several} = plugin: one/t\n = plugin: two/other\n");
    for verb in ["explain", "info", "diff", "deny"] {
        refused(&[verb, "t", "--in", "one", "--in", "two"], &listed);
    }
    assert_eq!(code(&home.run(&["explain", "t", "--in", "one"])), 0);
    assert_eq!(code(&home.run(&["explain", "t", "--in", "two"])), 0);
    assert_eq!(code(&home.run(&["explain", "other", "--in", "one", "--in", "two"])), 0);
    assert_eq!(check(&home, &["home", "one", "two"]).exit, 0);
    let listed = format!("{several} = plugin: home/t\n = plugin: one/t\n = plugin: two/other\n");
    for verb in [&["diff"][..], &["explain"], &["info"], &["forget"], &["deny"], &["undeny"]] {
        refused(&[verb, &["t"]].concat(), &listed);
    }
    let before = pins(&home);
    // Each line is a selector that works.
    for selector in ["home/t", "one/t", "two/other"] {
        assert_eq!(code(&home.run(&["diff", selector])), 0, "{selector}");
    }
    let output = home.command(&["diff", "t"]).current_dir(home.path("one/t")).output().unwrap();
    let real = home.temp.path().canonicalize().unwrap();
    let listed = format!("{several} = plugin: ~/t\n = plugin: .\n = plugin: {}/two/other\n", real.display());
    assert!(said(&output).contains(&listed), "{}", said(&output));
    // Unknown: the nearest, or what to do.
    refused(&["explain", "othr"], "no plugin named othr\n |\n = help: did you mean other (two/other)?\n");
    refused(&["forget", "othr"], "no plugin named othr\n |\n = help: did you mean other (two/other)?\n");
    refused(
        &["explain", "zebra"],
        "no plugin named zebra\n |\n = help: list the plugins: plugward list DIR\n",
    );
    refused(
        &["forget", "zebra"],
        "no plugin named zebra\n |\n = help: list what is pinned: plugward list DIR\n",
    );
    refused(&["explain", "one/nothing"], "one/nothing");
    refused(&["explain", "one", "--in", "nowhere"], "nowhere");
    refused(&["explain", "path:relative"], "relative");
    make_dir(&home, "empty");
    refused(
        &["explain", "./empty"],
        "not a plugin: ./empty\n |\n = help: list the plugins in it: plugward list ./empty\n",
    );
    refused(&["explain", "home/../one/.."], "home/../one/.. contains 3 plugins");
    assert_eq!(pins(&home), before);
}

#[test]
fn nothing_found_is_an_error() {
    let home = Home::new();
    make_dir(&home, "empty");
    home.write("notes/read.txt", "nothing\n");
    for mode in MODES {
        for dirs in [&["empty"][..], &["notes"], &["empty", "notes"]] {
            let answer = check(&home, &[mode, dirs].concat());
            assert_eq!((answer.exit, answer.ids.len()), (2, 0), "{dirs:?} {mode:?}");
            let answer = check(&home, &[mode, &["--allow-empty"], dirs].concat());
            assert_eq!(answer.exit, 0, "{dirs:?} {mode:?}");
        }
    }
    let told = said(&home.run(&["check", "empty"]));
    assert!(told.contains("nothing to check: no plugin in empty\n"), "{told}");
    assert_eq!(code(&home.run(&["check", "--allow-empty", "nowhere"])), 2);
    assert_eq!(code(&home.run(&["check", "--exit-zero", "empty"])), 2);
    // A pinned plugin that is gone is a note.
    plugin(&home, "empty/a b", "a");
    plugin(&home, "empty/c", "c");
    assert_eq!(check(&home, &["empty"]).exit, 0);
    std::fs::remove_dir_all(home.path("empty/a b")).unwrap();
    for mode in MODES {
        let answer = check(&home, &[mode, &["empty"]].concat());
        assert_eq!((answer.exit, answer.ids.len()), (0, 1), "{mode:?} {answer:?}");
        assert!(answer.has_notice("pin/gone pinned plugin no longer exists: `empty/a b`"), "{answer:?}");
    }
    let told = said(&home.run(&["check", "empty"]));
    assert!(told.contains("plugward forget 'empty/a b'\n"), "{told}");
    assert_eq!(code(&home.run(&["forget", "a b"])), 0);
    assert!(check(&home, &["empty"]).notices.is_empty());
}

#[test]
fn a_symlink_in_the_place_of_a_pinned_directory_is_refused() {
    // A symlink replaces the plugin; the message names its target.
    let swaps = [("s/plugins/a", "../../evil/plugins/a"), ("s/plugins", "../evil/plugins"), ("s", "evil")];
    for (swapped, target) in swaps {
        for content in ["hi\n", "evil\n"] {
            for mode in MODES {
                let home = Home::new();
                plugin(&home, "s/plugins/a", "a");
                make_dir(&home, "s/.git");
                assert_eq!(check(&home, &["s"]).exit, 0);
                copy(&home.path("s"), &home.path("evil"));
                home.write("evil/plugins/a/x.md", content);
                std::fs::remove_dir_all(home.path(swapped)).unwrap();
                link(&home, target, swapped);
                for dir in ["s", "s/plugins", "s/plugins/a", "."] {
                    let answer = check(&home, &[mode, &[dir]].concat());
                    assert_eq!(answer.exit, 4, "{swapped} {dir} {mode:?} {answer:?}");
                    let root_link = |reason: &String| reason.starts_with("tree/root-link ");
                    assert!(answer.reasons.iter().any(root_link), "{swapped} {dir} {mode:?} {answer:?}");
                }
                assert!(pins(&home).contains("/s/plugins/a\"]"), "the pin stays");
            }
        }
    }
    // A file in its place.
    let home = pinned();
    std::fs::remove_dir_all(home.path("y/plugins/a")).unwrap();
    home.write("y/plugins/a", "a file\n");
    for mode in MODES {
        let answer = check(&home, &[mode, &["y"]].concat());
        assert_eq!(
            (answer.decisions[0].as_str(), answer.reasons.len()),
            ("refuse", 1),
            "{mode:?} {answer:?}"
        );
        assert_ne!(answer.exit, 0, "{mode:?}");
    }
}

/// Runs the program without the capabilities that let a superuser ignore permissions; `None` if this machine does not
/// permit that.
fn unprivileged(home: &Home, args: &[&str]) -> Option<Output> {
    if !rustix::process::geteuid().is_root() {
        return Some(home.run(args));
    }
    let mut command = std::process::Command::new("setpriv");
    command.args(["--bounding-set=-dac_override,-dac_read_search", "--", env!("CARGO_BIN_EXE_plugward")]);
    command.args(args).current_dir(home.temp.path()).env("HOME", home.path("home")).env("USER", "tester");
    command.env("PLUGWARD_CONFIG_DIR", home.path("config")).env("PLUGWARD_STATE_DIR", home.path("state"));
    match command.env_remove("CI").stdin(std::process::Stdio::null()).output() {
        Ok(output) => Some(output),
        Err(error) => {
            println!("skipped: root can read everything, and setpriv is not here ({error})");
            None
        }
    }
}

#[test]
fn pins_that_cannot_be_read_are_not_no_pins() {
    let looks: [&[&str]; 9] = [
        &["list", "y"],
        &["info", "y/plugins/a"],
        &["info", "a"],
        &["explain", "y/plugins/a"],
        &["explain", "a"],
        &["lock", "y"],
        &["lock", "--check", "y"],
        &["diff", "a"],
        &["check", "y"],
    ];
    // A pins file that cannot be parsed, for every user.
    let home = pinned();
    assert_eq!(code(&home.run(&["lock", "y"])), 0);
    let lock = std::fs::read(home.path("y/PLUGINS.lock")).unwrap();
    plugin(&home, "y/plugins/b", "b");
    for name in [PINS.to_owned(), format!("{PINS}.last-good")] {
        std::fs::write(home.path(&name), "garbage").unwrap();
    }
    for args in looks {
        let output = home.run(args);
        assert_eq!(code(&output), 7, "{args:?}: {}", said(&output));
        assert!(said(&output).contains("pin/store"), "{args:?}: {}", said(&output));
    }
    assert_eq!(std::fs::read(home.path("y/PLUGINS.lock")).unwrap(), lock, "nothing was written");
    // A directory that cannot be searched.
    let home = pinned();
    let config = home.path("config");
    std::fs::set_permissions(&config, std::fs::Permissions::from_mode(0o000)).unwrap();
    let outputs: Vec<_> = looks.iter().map(|args| (args, unprivileged(&home, args))).collect();
    std::fs::set_permissions(&config, std::fs::Permissions::from_mode(0o700)).unwrap();
    for (args, output) in outputs {
        let Some(output) = output else { return };
        assert_eq!(code(&output), 7, "{args:?}: {}", said(&output));
    }
    assert!(!home.path("y/PLUGINS.lock").exists());
    assert_eq!(check(&home, &["y"]).exit, 0);
}

#[test]
fn an_excluded_directory_runs_nothing() {
    let home = Home::new();
    plugin(&home, "y/plugins/a", "a");
    home.write("y/plugins/a/.git/x.sh", "echo bye\n");
    plugin(&home, "y/plugins/b", "b");
    home.write("y/plugins/b/.git/x.sh", "echo bye\n");
    let hook = "{\"hooks\": {\"Stop\": [{\"hooks\": [{\"type\": \"command\", \"command\": \"sh \\\"${CLAUDE_PLUGIN_ROOT}/.git/x.sh\\\"\"}]}]}}\n";
    home.write("y/plugins/a/hooks/hooks.json", hook);
    for mode in MODES {
        let answer = check(&home, &[mode, &["--exclude", ".git", "y/plugins/a"]].concat());
        assert_eq!(answer.exit, 4, "{mode:?} {answer:?}");
        let wanted = |reason: &String| reason.starts_with("surface/excluded hooks/hooks.json:1:");
        assert!(answer.reasons.iter().any(wanted), "{mode:?} {answer:?}");
    }
    // Version control directories are excluded unless a setting says otherwise.
    assert_eq!(check(&home, &["y/plugins/a"]).exit, 4);
    home.write("y/plugins/a/.plugward.toml", "pins.exclude_vcs = false\n");
    // One that has such a directory and names it nowhere, and one that is digested whole.
    assert_eq!(check(&home, &["--exclude", ".git", "y/plugins/b"]).exit, 0);
    assert_eq!(check(&home, &["y/plugins/a"]).exit, 0);
}

#[test]
fn a_hook_script_that_does_not_exist_is_refused() {
    let home = Home::new();
    home.good();
    let hook = |script: &str| {
        format!(
            "{{\"hooks\": {{\"Stop\": [{{\"hooks\": [{{\"type\": \"command\", \"command\": \"sh \\\"${{CLAUDE_PLUGIN_ROOT}}/{script}\\\"\"}}]}}]}}}}\n"
        )
    };
    home.write("plugins/good/hooks/hooks.json", &hook("hooks/other.sh"));
    for mode in MODES {
        let answer = check(&home, &[mode, &["plugins"]].concat());
        assert_eq!((answer.exit, answer.decisions[0].as_str()), (4, "refuse"), "{mode:?} {answer:?}");
        assert!(answer.reasons.iter().any(|reason| reason.contains("hooks/other.sh")), "{mode:?} {answer:?}");
    }
    assert_eq!(pins(&home), "");
    home.write("plugins/good/hooks/hooks.json", &hook("hooks/run.sh"));
    assert_eq!(check(&home, &["plugins"]).exit, 0);
}

#[test]
fn ids_are_distinct_and_no_report_has_an_absolute_path() {
    let home = Home::new();
    for project in ["work/one", "work/two", "work/three"] {
        plugin(&home, &format!("{project}/plugins/g"), "g");
        home.write(&format!("{project}/plugins/g/x.md"), project);
        if project != "work/three" {
            make_dir(&home, &format!("{project}/.git"));
        }
    }
    // Rows and notices of every kind: a marketplace that is broken, one that is odd, a lockfile that cannot be read, a
    // manifest with an error, a pinned plugin that is gone, and one that became a symlink.
    plugin(&home, "work/market/p", "p");
    home.write(
        "work/market/.claude-plugin/marketplace.json",
        "{\"name\":\"m\",\"plugins\":[{\"name\":\"p\",\"source\":\"./p\",\"odd\":1}]}",
    );
    for name in ["gone", "link"] {
        plugin(&home, &format!("work/more/{name}"), name);
    }
    assert_eq!(check(&home, &["work"]).exit, 0);
    std::fs::remove_dir_all(home.path("work/more/gone")).unwrap();
    rename(&home, "work/more/link", "aside");
    link(&home, "../../aside", "work/more/link");
    plugin(&home, "work/broken/p", "p");
    home.write("work/broken/.claude-plugin/marketplace.json", "{");
    plugin(&home, "work/locked/p", "p");
    make_dir(&home, "work/locked/PLUGINS.lock");
    home.write("work/bad/.claude-plugin/plugin.json", "{");
    let real = home.temp.path().canonicalize().unwrap();
    let real = real.to_str().unwrap().trim_start_matches('/');
    let full = home.path("work").to_str().unwrap().to_owned();
    for (from, dir) in
        [(".", "work"), (".", &full), ("work", "."), ("work/one", ".."), ("work/one/plugins", "../..")]
    {
        let answer = check_in(&home, from, &[dir]);
        let mut ids = answer.ids.clone();
        ids.dedup();
        assert_eq!(ids, answer.ids, "{from} {dir}");
        assert_eq!(ids.iter().filter(|id| id.ends_with("plugins/g")).count(), 3, "{from} {dir} {ids:?}");
        for format in ["json", "sarif", "html"] {
            let output = home
                .command(&["check", "--format", format, dir])
                .current_dir(home.path(from))
                .output()
                .unwrap();
            let text = String::from_utf8(output.stdout).unwrap();
            assert!(!text.contains(real), "{format} {from} {dir}: {text}");
        }
    }
    for args in [
        &["list", "--format", "json", "../work"][..],
        &["explain", "--format", "json", "../work/two/plugins/g"],
        &["info", "--format", "json", "../work/two/plugins/g"],
        &["info", "--format", "json", "../work/three/plugins/g"],
        &["explain", "--format", "json", "../work/broken/p"],
        &["explain", "--format", "json", "../work/locked/p"],
    ] {
        make_dir(&home, "elsewhere");
        let output = home.command(args).current_dir(home.path("elsewhere")).output().unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        assert!(text.starts_with('{'), "{args:?}: {text}");
        assert!(!text.contains(real), "{args:?}: {text}");
    }
}

/// Returns the exit code of a command that an output shows, pasted into a shell in the directory where it was printed.
#[track_caller]
fn paste(home: &Home, dir: &str, text: &str, command: &str) -> i32 {
    pasted(home, dir, text, command).0
}

/// Runs a printed command as `paste` does, and returns its output too.
#[track_caller]
fn pasted(home: &Home, dir: &str, text: &str, command: &str) -> (i32, String) {
    let at = text.find(command).unwrap_or_else(|| panic!("no `{command}` in {text}"));
    let goes_on = |line: &&str| line.ends_with('\\');
    let lines: Vec<&str> = text[at..].lines().collect();
    let end = lines.iter().position(|line| !goes_on(line)).unwrap();
    let words = lines[..=end].join("\n");
    let script = format!("plugward() {{ \"$PLUGWARD\" \"$@\"; }}\n{words}");
    let mut shell = std::process::Command::new("sh");
    shell.args(["-c", &script]).current_dir(home.path(dir)).env("HOME", home.path("home"));
    shell.env("PLUGWARD_CONFIG_DIR", home.path("config")).env("PLUGWARD_STATE_DIR", home.path("state"));
    shell.env("PLUGWARD", env!("CARGO_BIN_EXE_plugward")).env("USER", "tester").env_remove("CI");
    let output = shell.stdin(std::process::Stdio::null()).output().unwrap();
    assert!(!said(&output).contains("not found"), "{words}: {}", said(&output));
    (code(&output), said(&output))
}

#[test]
fn what_is_printed_can_be_pasted_wherever_it_is_printed() {
    let places = [
        ("site/plugins/a", ".", "site"),
        ("my site/plug ins/it's a", ".", "my site"),
        ("site/--tree x/a --with b", ".", "site"),
        ("site/plugins/a", "site/plugins/a", "."),
        ("site/plugins/a", "site/plugins", "a"),
        ("site/plugins/a", "elsewhere", "../site"),
        ("my site/a b", "elsewhere", "../my site"),
        ("home/my site/a b", "elsewhere", "../home"),
        ("home/my site/a b", "home", "."),
    ];
    for (place, from, dir) in places {
        let home = Home::new();
        make_dir(&home, "elsewhere");
        make_dir(&home, "home");
        plugin(&home, place, "a");
        let shown = |args: &[&str]| {
            let output = home.command(args).current_dir(home.path(from)).output().unwrap();
            (code(&output), said(&output))
        };
        // A new plugin: the question names the command that answers it.
        let (exit, text) = shown(&["check", "--trust", "prompt", "--no-input", "--exclude", ".git", dir]);
        assert_eq!(exit, 3, "{place} {from} {dir}: {text}");
        let (exit, text) = pasted(&home, from, &text, "plugward diff ");
        assert_eq!(exit, 0, "{text}");
        assert_eq!(paste(&home, from, &text, "plugward accept "), 0, "{text}");
        assert_eq!(shown(&["check", "--exclude", ".git", dir]).0, 0, "{place} {from} {dir}");
        home.write(&format!("{place}/x.md"), "evil\n");
        let (exit, text) = shown(&["check", dir]);
        assert_eq!(exit, 4, "{place} {from} {dir}: {text}");
        assert_eq!(paste(&home, from, &text, "plugward explain "), 0, "{text}");
        let (exit, text) = pasted(&home, from, &text, "plugward diff ");
        assert_eq!(exit, 0, "{text}");
        assert_eq!(paste(&home, from, &text, "plugward accept "), 0, "{text}");
        let (exit, text) = shown(&["check", dir]);
        assert_eq!(exit, 0, "{place} {from} {dir}: {text}");
        let selector = home.path(place);
        let (exit, text) = shown(&["deny", selector.to_str().unwrap()]);
        assert_eq!(exit, 0, "{text}");
        assert_eq!(paste(&home, from, &text, "plugward undeny "), 0, "{text}");
        assert_eq!(shown(&["deny", selector.to_str().unwrap()]).0, 0);
        let (exit, text) = shown(&["check", dir]);
        assert_eq!(exit, 5, "{text}");
        assert_eq!(paste(&home, from, &text, "plugward undeny "), 0, "{text}");
        std::fs::remove_dir_all(selector).unwrap();
        if place.starts_with("home") || from == place {
            continue;
        }
        let (_, text) = shown(&["check", "--allow-empty", if dir == "a" { "." } else { dir }]);
        if text.contains("pin/gone") {
            assert_eq!(paste(&home, from, &text, "plugward forget "), 0, "{text}");
        }
    }
}

#[test]
fn a_pinned_place_is_found_from_a_symlinked_working_directory() {
    let home = pinned();
    // Another directory takes the place of the pinned one, and a shell that was in it still shows the old path.
    copy(&home.path("y"), &home.path("evil"));
    home.write("evil/plugins/a/x.md", "evil\n");
    std::fs::remove_dir_all(home.path("y")).unwrap();
    link(&home, "evil", "y");
    for (from, dir) in [("y", "."), ("y/plugins", "."), ("y/plugins", "a"), ("y/plugins/a", "..")] {
        let typed = home.path(from);
        let output = home
            .command(&["check", "--format", "json", dir])
            .current_dir(&typed)
            .env("PWD", &typed)
            .output()
            .unwrap();
        assert_eq!(code(&output), 4, "{from} {dir}: {}", said(&output));
        assert!(said(&output).contains("tree/root-link"), "{from} {dir}: {}", said(&output));
        // A `PWD` that names another directory is ignored.
        let output = home
            .command(&["check", "--format", "json", dir])
            .current_dir(&typed)
            .env("PWD", home.path("config"))
            .output()
            .unwrap();
        assert_eq!(code(&output), 0, "{from} {dir}: {}", said(&output));
    }
}

#[test]
fn what_a_refusal_prints_leads_on() {
    // A denied plugin that was renamed is allowed under the name of its denial.
    let home = pinned();
    assert_eq!(code(&home.run(&["deny", "y/plugins/a"])), 0);
    rename(&home, "y/plugins/a", "y/plugins/b");
    if has_birth_times(&home) {
        let text = said(&home.run(&["check", "y"]));
        assert_eq!(paste(&home, ".", &text, "plugward undeny a"), 0, "{text}");
    }
    // A symlink in the place of a pinned plugin is explained.
    let home = pinned();
    rename(&home, "y/plugins/a", "elsewhere");
    link(&home, "../../elsewhere", "y/plugins/a");
    let text = said(&home.run(&["explain", "y/plugins/a"]));
    assert!(text.contains("tree/root-link"), "{text}");
    // A name of two plugins, of which one is pinned, is not decided silently.
    let home = pinned();
    plugin(&home, "a", "other");
    let output = home.run(&["deny", "a"]);
    assert_eq!(code(&output), 2, "{}", said(&output));
    assert!(said(&output).contains("2 plugins are called a"), "{}", said(&output));
    // The pinned name finds a plugin that renamed itself.
    let home = pinned();
    home.write("y/plugins/a/.claude-plugin/plugin.json", "{\"name\":\"omega\",\"version\":\"1.0.0\"}\n");
    for name in ["a", "claude:a", "omega"] {
        let output = home.run(&["diff", "--in", "y", name]);
        assert_eq!(code(&output), 0, "{name}: {}", said(&output));
    }
    // Nothing is left to accept without a manifest.
    let home = pinned();
    std::fs::remove_dir_all(home.path("y/plugins/a/.claude-plugin")).unwrap();
    let text = said(&home.run(&["diff", "y/plugins/a"]));
    let tree = text.split_whitespace().rev().find(|word| word.starts_with("pt1:"));
    if let Some(tree) = tree {
        let output = home.run(&["accept", "y/plugins/a", "--tree", tree]);
        assert_eq!(code(&output), 4, "{}", said(&output));
        assert!(said(&output).contains("plugward forget"), "{}", said(&output));
    }
}
