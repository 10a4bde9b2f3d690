//! Keys: a plugin is pinned by the place of its directory, whatever is inside it and however the user names it.
//!
//! The numbers of rows are those of the table "What happens" in the design of keys.

use std::collections::{BTreeMap, BTreeSet};
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;

use plugward_loader::manifest::Dialect;
use plugward_loader::pinstore::{
    Change, DirectoryId, PinOrigin, Pins, ReviewedDigests, Revocation, Timestamp,
};
use plugward_loader::sandbox_path::{Jail, Policy};
use plugward_loader::tree_lock::{LockFile, SnapshotEntry};
use plugward_loader::{
    ByteRetention, CalledName, CheckResult, Checker, Decision, Dir, LoadedPlugin, Outcome, PlacePath,
    PluginKey, PluginReport, Report, Root, Trust, ambient_authority, sha256,
};
use plugward_tests::{Bench, Bit, Run, Step, apply, owner};
use proptest::prelude::*;

fn write(path: &str, text: &str) -> Step {
    Step::Write { path: path.to_owned(), text: text.to_owned(), executable: Bit::Off }
}

fn remove(path: &str) -> Step {
    Step::Remove { path: path.to_owned() }
}

fn rename(from: &str, to: &str) -> Step {
    Step::Rename { from: from.to_owned(), to: to.to_owned() }
}

/// A claude manifest in a directory.
fn claude(dir: &str, name: &str) -> Step {
    write(
        &format!("{dir}/.claude-plugin/plugin.json"),
        &format!("{{ \"name\": \"{name}\", \"version\": \"1.0.0\" }}"),
    )
}

/// A copy of the manifest that [`claude`] writes.
fn copy(from: &str, to: &str) -> Step {
    let manifest = |dir: &str| format!("{dir}/.claude-plugin/plugin.json");
    Step::Copy { from: manifest(from), to: manifest(to) }
}

fn now() -> Timestamp {
    Timestamp::from_unix_seconds(1_790_000_000).unwrap()
}

fn commit(bench: &Bench, change: Change) {
    let config = Dir::open_ambient_dir(&bench.config, ambient_authority()).unwrap();
    let (mut pins, _) = Pins::open(&Pins::file(&config, owner()).unwrap()).unwrap();
    let done = pins.commit(vec![change], now()).unwrap();
    assert!(done.outcomes.iter().all(|outcome| outcome.code().is_none()), "{done:?}");
}

/// A denial of a pinned plugin by its key.
fn deny(bench: &Bench, path: &str) {
    let (key, called) = (bench.key(path), BTreeSet::new());
    commit(bench, Change::Deny { key, directory: None, called, seen: None, by: None });
}

fn accept(bench: &Bench, path: &str) {
    let observed = bench.subject(&Run::default(), path).observed;
    let shown = ReviewedDigests::wanted(&observed.facts, None);
    let expected = pins(bench).get(&observed.key).and_then(|pin| Some(pin.latest()?.facts.tree));
    commit(bench, Change::Accept { observed, shown, expected, recorded: BTreeSet::new(), by: None });
}

fn pins(bench: &Bench) -> Pins {
    let config = Dir::open_ambient_dir(&bench.config, ambient_authority()).unwrap();
    Pins::open(&Pins::file(&config, owner()).unwrap()).unwrap().0
}

/// The keys that have a pin.
fn pinned(bench: &Bench) -> Vec<String> {
    let base = format!("path:{}/", bench.base.display());
    pins(bench).iter().map(|(key, _)| key.to_string().replacen(&base, "", 1)).collect()
}

fn row<'r>(report: &'r Report, path: &str) -> &'r PluginReport {
    report.plugins.iter().find(|row| row.id == path).unwrap_or_else(|| panic!("no row {path}: {report:?}"))
}

/// One row in a line: decision, codes of the reasons, codes of the notices about pins and policy.
fn line(row: &PluginReport) -> String {
    let reasons: Vec<&str> = row.reasons.iter().map(|reason| reason.code.as_str()).collect();
    let notices = row.notices.iter().map(|notice| notice.code.as_str());
    let notices: Vec<&str> =
        notices.filter(|code| code.starts_with("pin/") || code.starts_with("policy/")).collect();
    format!("{} [{}] ({})", row.decision.as_str(), reasons.join(" "), notices.join(" "))
}

/// A run that keeps the texts of what is pinned.
fn run(trust: &str) -> Run {
    Run { trust: Some(trust.to_owned()), baselines: Bit::On, ..Run::default() }
}

/// Checks one plugin under tofu, under prompt without a person, and under locked, each time after the same steps.
fn three(setup: impl Fn(&Bench), path: &str) -> [(Bench, Report, String); 3] {
    ["tofu", "prompt", "locked"].map(|trust| {
        let bench = Bench::new();
        setup(&bench);
        let report = bench.check(&run(trust));
        let text = format!("{}, exit {}", line(row(&report, path)), report.exit);
        (bench, report, text)
    })
}

/// Compares the three verdicts on one plugin.
fn expect(setup: impl Fn(&Bench), path: &str, expected: [&str; 3]) -> [(Bench, Report, String); 3] {
    let found = three(setup, path);
    assert_eq!(found.each_ref().map(|(_, _, text)| text.as_str()), expected, "{:?}", found[0].1);
    found
}

fn first_line(row: &PluginReport) -> &str {
    let message = row.reasons.first().map(|reason| &reason.message);
    let note =
        row.notices.iter().find(|notice| notice.code.starts_with("pin/")).map(|notice| &notice.message);
    message.or(note).unwrap().lines().next().unwrap()
}

/// Pins `plugins/a` on first use.
fn pinned_a(bench: &Bench) {
    apply(&bench.plugins, &[claude("a", "a")]);
    assert_eq!(bench.check(&run("tofu")).exit, 0);
}

const SAME: [&str; 3] = ["load [] (), exit 0"; 3];
const CHANGED: [&str; 3] = ["refuse [pin/changed] (), exit 4"; 3];
const DENIED: [&str; 3] = ["refuse [policy/denied] (), exit 5"; 3];

#[test]
fn row_1_a_first_check_enrolls_asks_or_refuses() {
    let found = expect(
        |bench| apply(&bench.plugins, &[claude("a", "a")]),
        "plugins/a",
        ["load [] (pin/new), exit 0", "ask [pin/new] (), exit 3", "refuse [lock/missing pin/new] (), exit 4"],
    );
    let [(tofu, report, _), (prompt, ..), (locked, ..)] = found;
    assert_eq!(first_line(row(&report, "plugins/a")), "new plugin, pinned on first use");
    assert_eq!((pinned(&tofu), prompt.pins(), locked.pins()), (vec!["plugins/a".to_owned()], None, None));
}

#[test]
fn row_2_the_same_bytes_load() {
    expect(pinned_a, "plugins/a", SAME);
}

#[test]
fn row_3_another_name_version_or_dialect_is_a_change() {
    let manifest = |text: &str| write("a/.claude-plugin/plugin.json", text);
    for (steps, said) in [
        (vec![manifest(r#"{ "name": "b", "version": "1.0.0" }"#)], "its name changed from `a` to `b`"),
        (vec![manifest(r#"{ "name": "a", "version": "2.0.0" }"#)], "its version changed from 1.0.0 to 2.0.0"),
        (
            vec![write("a/.codex-plugin/plugin.json", r#"{ "name": "a", "version": "1.0.0" }"#)],
            "1 file differs",
        ),
        (
            vec![
                remove("a/.claude-plugin"),
                write("a/gemini-extension.json", r#"{ "name": "b", "version": "1.0.0" }"#),
            ],
            "2 files differ",
        ),
    ] {
        let setup = |bench: &Bench| {
            pinned_a(bench);
            apply(&bench.plugins, &steps);
        };
        for (bench, report, _) in expect(setup, "plugins/a", CHANGED) {
            let text = first_line(row(&report, "plugins/a"));
            assert!(text.starts_with("changed since 2026-09-21: ") && text.contains(said), "{text}");
            assert_eq!((report.plugins.len(), pinned(&bench)), (1, vec!["plugins/a".to_owned()]));
        }
    }
}

#[test]
fn row_4_a_pinned_directory_without_a_manifest_is_a_change() {
    for more in [vec![], vec![write("a/plugin.json", r#"{ "unknown": true }"#)]] {
        let setup = |bench: &Bench| {
            pinned_a(bench);
            apply(&bench.plugins, &[remove("a/.claude-plugin"), write("a/x.sh", "echo x\n")]);
            apply(&bench.plugins, &more);
        };
        for (_, report, _) in expect(setup, "plugins/a", CHANGED) {
            let text = first_line(row(&report, "plugins/a"));
            assert_eq!(text, "changed since 2026-09-21: no known manifest found");
        }
    }
    // The near miss: what was never pinned is no plugin.
    let bench = Bench::new();
    apply(&bench.plugins, &[write("a/x.sh", "echo x\n")]);
    let report = bench.check(&run("tofu"));
    assert_eq!((report.exit, report.plugins.len(), report.skipped.len()), (0, 0, 1), "{report:?}");
}

#[test]
fn row_5_a_pinned_directory_that_is_gone_is_a_note() {
    for trust in ["tofu", "prompt", "locked"] {
        let bench = Bench::new();
        pinned_a(&bench);
        apply(&bench.plugins, &[remove("a")]);
        let report = bench.check(&run(trust));
        let codes: Vec<&str> = report.notices.iter().map(|notice| notice.code.as_str()).collect();
        assert_eq!((report.exit, report.plugins.len(), codes), (0, 0, vec!["pin/gone"]));
        let notice = &report.notices[0];
        assert_eq!(notice.message, "pinned plugin no longer exists: `plugins/a`");
        assert_eq!(notice.plugin.as_ref().unwrap().name(), "a");
        assert_eq!(pinned(&bench), ["plugins/a"], "a pin is deleted by its user only");
    }
}

#[test]
fn row_6_a_moved_plugin_with_the_same_bytes_keeps_its_pin() {
    let setup = |bench: &Bench| {
        pinned_a(bench);
        apply(&bench.plugins, &[rename("a", "far/b")]);
    };
    let found = expect(setup, "plugins/far/b", ["load [] (pin/moved), exit 0"; 3]);
    for ((bench, report, _), now_at) in found.iter().zip(["plugins/far/b", "plugins/far/b", "plugins/a"]) {
        assert_eq!(
            first_line(row(report, "plugins/far/b")),
            "moved from `plugins/a`, contents match the pin"
        );
        assert!(report.notices.is_empty(), "a moved plugin is not gone: {report:?}");
        assert_eq!(pinned(bench), [now_at], "locked writes nothing");
    }
    assert_eq!(found[0].0.check(&run("locked")).exit, 0);
}

#[test]
fn row_7_a_moved_plugin_with_other_bytes_is_a_change() {
    let setup = |bench: &Bench| {
        pinned_a(bench);
        apply(&bench.plugins, &[rename("a", "far/b"), write("far/b/more", "1")]);
    };
    for (bench, report, _) in expect(setup, "plugins/far/b", CHANGED) {
        assert_eq!(
            first_line(row(&report, "plugins/far/b")),
            "moved from `plugins/a` and changed since 2026-09-21: 1 file differs"
        );
        assert_eq!(pinned(&bench), ["plugins/a"]);
    }
}

#[test]
fn row_8_a_copy_with_the_same_bytes_is_new_unless_a_user_agreed_to_them() {
    let copied = |bench: &Bench| apply(&bench.plugins, &[copy("a", "b")]);
    let setup = |bench: &Bench| {
        pinned_a(bench);
        copied(bench);
    };
    let found = expect(
        setup,
        "plugins/b",
        [
            "load [] (pin/new pin/new), exit 0",
            "ask [pin/new] (pin/new), exit 3",
            "refuse [lock/missing pin/new] (pin/new), exit 4",
        ],
    );
    let said = "same contents as `plugins/a`, pinned on 2026-09-21";
    for (_, report, _) in &found {
        assert!(row(report, "plugins/b").notices.iter().any(|notice| notice.message == said), "{report:?}");
        assert_eq!(line(row(report, "plugins/a")), "load [] ()");
    }
    assert_eq!(pinned(&found[0].0), ["plugins/a", "plugins/b"]);
    // A user named the digest of the first one, or answered a question about it.
    for agreed in [PinOrigin::Accept, PinOrigin::Prompt] {
        let setup = |bench: &Bench| {
            apply(&bench.plugins, &[claude("a", "a")]);
            if agreed == PinOrigin::Accept {
                accept(bench, "plugins/a");
            } else {
                let yes = Run { answer: Some("yes".into()), ..run("prompt") };
                assert_eq!(bench.check(&yes).exit, 0);
            }
            copied(bench);
        };
        let found = expect(
            setup,
            "plugins/b",
            [
                "load [] (pin/new pin/new), exit 0",
                "load [] (pin/new pin/new), exit 0",
                "refuse [lock/missing pin/new] (pin/new), exit 4",
            ],
        );
        let pins = pins(&found[1].0);
        assert_eq!(pins.get(&found[1].0.key("plugins/b")).unwrap().latest().unwrap().via, PinOrigin::Same);
    }
}

#[test]
fn row_9_a_copy_with_other_bytes_is_new_and_has_a_pin_of_its_own() {
    let setup = |bench: &Bench| {
        pinned_a(bench);
        apply(&bench.plugins, &[copy("a", "two/a"), write("two/a/more", "1")]);
    };
    let found = expect(
        setup,
        "plugins/two/a",
        [
            "load [] (pin/new pin/new), exit 0",
            "ask [pin/new] (pin/new), exit 3",
            "refuse [lock/missing pin/new] (pin/new), exit 4",
        ],
    );
    let said = "another `a` with different contents is pinned at `plugins/a`";
    for (_, report, _) in &found {
        assert!(
            row(report, "plugins/two/a").notices.iter().any(|notice| notice.message == said),
            "{report:?}"
        );
    }
    let bench = &found[0].0;
    assert_eq!(pinned(bench), ["plugins/a", "plugins/two/a"]);
    // A change of one is no change of the other.
    apply(&bench.plugins, &[write("a/more", "2")]);
    let report = bench.check(&run("tofu"));
    assert_eq!(line(row(&report, "plugins/a")), "refuse [pin/changed] ()");
    assert_eq!(line(row(&report, "plugins/two/a")), "load [] ()");
}

#[test]
fn row_9_two_projects_with_a_plugin_at_the_same_path_have_two_pins() {
    let bench = Bench::new();
    let project = |name: &str, version: &str| {
        let manifest = format!("{{ \"name\": \"greeter\", \"version\": \"{version}\" }}");
        [
            Step::Folder { path: format!("{name}/.git") },
            write(&format!("{name}/plugins/greeter/.claude-plugin/plugin.json"), &manifest),
        ]
    };
    apply(&bench.plugins, &project("one", "1.0.0"));
    apply(&bench.plugins, &project("two", "2.0.0"));
    let report = bench.check(&run("tofu"));
    assert_eq!((report.exit, report.summary.load), (0, 2), "{report:?}");
    assert_eq!(pinned(&bench), ["plugins/one/plugins/greeter", "plugins/two/plugins/greeter"]);
    let ids: Vec<&str> = report.plugins.iter().map(|row| row.id.as_str()).collect();
    assert_eq!(ids, ["plugins/one/plugins/greeter", "plugins/two/plugins/greeter"], "called apart");
    // Alone, each is called by its path in its project.
    let alone = bench.check(&Run { roots: Some(vec!["two".into()]), ..run("tofu") });
    assert_eq!((alone.plugins[0].id.as_str(), alone.exit), ("plugins/greeter", 0));
    assert_eq!(line(&alone.plugins[0]), "load [] ()");
}

#[test]
fn row_10_a_pinned_directory_that_became_a_symlink_is_refused() {
    let setup = |bench: &Bench| {
        pinned_a(bench);
        apply(
            &bench.plugins,
            &[claude("b", "b"), remove("a"), Step::Link { path: "a".into(), target: "b".into() }],
        );
    };
    let expected = ["refuse [tree/root-link] (), exit 4"; 3];
    expect(setup, "plugins/a", expected);
}

/// Writes a lockfile for the plugin `p` next to it, in a project of its own.
fn project_with_lock(bench: &Bench, project: &str) {
    apply(
        &bench.plugins,
        &[Step::Folder { path: format!("{project}/.git") }, claude(&format!("{project}/p"), "p")],
    );
    let subject = bench.subject(&Run::default(), &format!("plugins/{project}/p"));
    let mut lock = LockFile::new();
    lock.insert("p", subject.lock_entry("p")).unwrap();
    apply(&bench.plugins, &[write(&format!("{project}/PLUGINS.lock"), &lock.render())]);
}

fn accept_lock(bench: &Bench, project: &str) {
    let bytes = std::fs::read(bench.plugins.join(project).join("PLUGINS.lock")).unwrap();
    commit(bench, Change::AcceptLock { lock: sha256(&bytes) });
}

#[test]
fn row_21_a_clone_is_covered_by_its_lockfile_whatever_its_directory_is_called() {
    let setup = |accepted: bool| {
        move |bench: &Bench| {
            project_with_lock(bench, "one");
            if accepted {
                accept_lock(bench, "one");
            }
            let lock = std::fs::read_to_string(bench.plugins.join("one/PLUGINS.lock")).unwrap();
            apply(
                &bench.plugins,
                &[
                    Step::Folder { path: "clone of it/.git".into() },
                    copy("one/p", "clone of it/p"),
                    write("clone of it/PLUGINS.lock", &lock),
                    remove("one"),
                ],
            );
        }
    };
    // A clone is called by its path in its project, so its own directory is in no id.
    let found = expect(
        setup(false),
        "p",
        ["load [] (pin/new), exit 0", "ask [pin/new] (), exit 3", "load [] (), exit 0"],
    );
    assert!(found.iter().all(|(_, report, _)| row(report, "p").lock.state.as_str() == "match"));
    let found = expect(
        setup(true),
        "p",
        ["load [] (pin/new), exit 0", "load [] (pin/new), exit 0", "load [] (), exit 0"],
    );
    assert_eq!(pinned(&found[1].0), ["plugins/clone of it/p"]);
    assert!(first_line(row(&found[1].1, "p")).contains("PLUGINS.lock"));
    // The near miss: other bytes than the lockfile names, accepted or not.
    let setup = |bench: &Bench| {
        setup(true)(bench);
        apply(&bench.plugins, &[write("clone of it/p/more", "1")]);
    };
    for (_, report, _) in three(setup, "p") {
        assert_eq!((row(&report, "p").decision, report.exit), (Decision::Refuse, 4));
        assert_eq!(row(&report, "p").reasons[0].code, "lock/mismatch");
    }
}

#[test]
fn row_21_the_lockfile_of_a_project_counts_from_wherever_the_plugin_is_named() {
    let bench = Bench::new();
    project_with_lock(&bench, "one");
    apply(&bench.plugins, &[write("one/p/more", "1")]);
    for dir in [".", "one", "one/p"] {
        let report = checked(&bench, dir, Trust::Locked);
        assert_eq!(report.plugins[0].reasons[0].code, "lock/mismatch", "{dir}: {report:?}");
        assert_eq!((report.plugins.len(), report.plugins[0].id.as_str(), report.exit), (1, "p", 4));
    }
    // A plugin's own lockfile cannot vouch for it, and neither can a mark of a project inside it.
    let own = bench.subject(&Run::default(), "plugins/one/p").lock_entry(".");
    let mut lock = LockFile::new();
    lock.insert(".", own).unwrap();
    for mark in [".git", ".plugward"] {
        apply(
            &bench.plugins,
            &[write("one/p/PLUGINS.lock", &lock.render()), Step::Folder { path: format!("one/p/{mark}") }],
        );
        for dir in [".", "one", "one/p"] {
            let report = checked(&bench, dir, Trust::Locked);
            let codes: Vec<&str> =
                report.plugins[0].reasons.iter().map(|reason| reason.code.as_str()).collect();
            assert!(
                codes.contains(&"lock/mismatch") || codes.contains(&"tree/vcs-folder"),
                "{dir}: {codes:?}"
            );
            assert_eq!((report.plugins[0].decision, report.exit), (Decision::Refuse, 4));
        }
    }
}

#[test]
fn row_22_denied_or_revoked_bytes_are_refused_anywhere() {
    let denied = |bench: &Bench| {
        pinned_a(bench);
        deny(bench, "plugins/a");
        apply(&bench.plugins, &[copy("a", "b")]);
    };
    let found = three(denied, "plugins/a");
    for (_, report, _) in &found {
        assert_eq!(line(row(report, "plugins/a")), "refuse [policy/denied] ()");
    }
    let copies = found
        .each_ref()
        .map(|(_, report, _)| format!("{}, exit {}", line(row(report, "plugins/b")), report.exit));
    // Under locked it is also new, and that exit code comes first.
    let expected = [
        "refuse [policy/denied] (), exit 5",
        "refuse [policy/denied pin/new] (), exit 5",
        "refuse [policy/denied lock/missing pin/new] (), exit 4",
    ];
    assert_eq!(copies, expected);
    let revoked = |bench: &Bench| {
        pinned_a(bench);
        let tree = bench.subject(&Run::default(), "plugins/a").facts().tree;
        commit(bench, Change::Revoke(Revocation { tree: Some(tree), ..Revocation::because("bad") }));
        apply(&bench.plugins, &[copy("a", "b")]);
    };
    for (_, report, _) in three(revoked, "plugins/a") {
        assert_eq!(line(row(&report, "plugins/a")), "refuse [policy/revoked] ()");
        assert_eq!(row(&report, "plugins/b").reasons[0].code, "policy/revoked");
    }
    // Alone, it has the exit code of the row.
    let alone = |bench: &Bench| {
        pinned_a(bench);
        deny(bench, "plugins/a");
    };
    expect(alone, "plugins/a", DENIED);
}

#[test]
fn row_22_a_denied_name_from_elsewhere_is_a_question() {
    let setup = |bench: &Bench| {
        pinned_a(bench);
        deny(bench, "plugins/a");
        apply(
            &bench.plugins,
            &[copy("a", "b"), write("b/.claude-plugin/plugin.json", r#"{ "name": "a" }"#), remove("a")],
        );
    };
    expect(
        setup,
        "plugins/b",
        [
            "ask [policy/namesake] (), exit 3",
            "ask [pin/new] (policy/namesake), exit 3",
            "refuse [policy/namesake lock/missing pin/new] (), exit 4",
        ],
    );
}

#[test]
fn row_23_one_directory_with_several_dialects_is_one_row_with_one_pin() {
    let setup = |bench: &Bench| {
        apply(
            &bench.plugins,
            &[claude("a", "a"), write("a/gemini-extension.json", r#"{ "name": "g", "version": "1.0.0" }"#)],
        );
        assert_eq!(bench.check(&run("tofu")).exit, 0);
    };
    for (bench, report, _) in expect(setup, "plugins/a", SAME) {
        assert_eq!((report.plugins.len(), pinned(&bench)), (1, vec!["plugins/a".to_owned()]));
        let a = row(&report, "plugins/a");
        assert_eq!((a.dialects.as_slice(), a.manifest.len()), (&["claude", "gemini"][..], 2));
        let called: Vec<String> =
            pins(&bench).get(&a.key).unwrap().called.iter().map(CalledName::to_string).collect();
        assert_eq!(called, ["claude:a", "gemini:g"]);
    }
    // A manifest error counts, whichever dialect it is in.
    let broken = |bench: &Bench| {
        apply(&bench.plugins, &[claude("a", "a"), write("a/gemini-extension.json", "{")]);
    };
    for (bench, report, _) in three(broken, "plugins/a") {
        let a = row(&report, "plugins/a");
        assert_eq!((a.decision, report.exit, report.plugins.len()), (Decision::Refuse, 4, 1));
        assert!(a.reasons.iter().any(|reason| reason.code == "manifest/syntax"), "{a:?}");
        assert!(bench.pins().is_none());
    }
}

#[test]
fn row_25_planted_bytecode_is_a_change_and_the_help_says_so() {
    let setup = |bench: &Bench| {
        pinned_a(bench);
        apply(&bench.plugins, &[write("a/lib/__pycache__/x.txt", "cached\n")]);
    };
    for (_, report, _) in expect(setup, "plugins/a", CHANGED) {
        let reason = &row(&report, "plugins/a").reasons[0];
        assert!(
            reason.message.starts_with("changed since 2026-09-21: only `__pycache__` was added\n"),
            "{reason:?}"
        );
        assert!(reason.help.contains("PYTHONDONTWRITEBYTECODE=1"), "{reason:?}");
    }
    // The near miss: a file besides.
    let setup = |bench: &Bench| {
        pinned_a(bench);
        apply(&bench.plugins, &[write("a/lib/__pycache__/x.txt", "cached\n"), write("a/lib/y", "1")]);
    };
    for (_, report, _) in expect(setup, "plugins/a", CHANGED) {
        assert!(first_line(row(&report, "plugins/a")).ends_with("2 files differ"));
    }
}

/// Checks a directory with a jail that reaches above it.
fn checked(bench: &Bench, dir: &str, trust: Trust) -> Report {
    check_roots(bench, &[typed(bench, &bench.plugins.join(dir), JailAt::Base)], trust).report().clone()
}

fn check_roots(bench: &Bench, roots: &[Root], trust: Trust) -> CheckResult {
    let mut stores = bench.stores(&Run::default());
    Checker::new(&mut stores, now()).trust(trust).check(roots).unwrap()
}

/// How far a jail reaches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum JailAt {
    /// Above the directory that is named.
    Base,
    /// The directory that is named.
    Directory,
}

/// What the user typed, resolved as a caller does it: a root has the real path.
fn typed(bench: &Bench, path: &Path, jail: JailAt) -> Root {
    let real = std::fs::canonicalize(path).unwrap();
    let place = |path: &Path| PlacePath::new(path.to_str().unwrap());
    let open =
        |path: &Path| Root::placed(Jail::open(path, Policy::standard()).unwrap(), place(path).unwrap());
    match jail {
        JailAt::Directory => open(&real),
        JailAt::Base => {
            let dir = real.strip_prefix(&bench.base).unwrap().to_str().unwrap().to_owned();
            Root { label: "plugins".to_owned(), dir, typed: place(path).ok(), ..open(&bench.base) }
        }
    }
}

/// Every way to name a directory: it, each directory above it, a symlink, `.` and `..` in the path.
fn ways(bench: &Bench, dir: &str, before: Before) -> Vec<(String, Root)> {
    let link = bench.base.join("link");
    let mut ways = Vec::new();
    let above = Path::new(dir).ancestors().map(|above| bench.plugins.join(above));
    let mut paths: Vec<(String, std::path::PathBuf)> =
        above.map(|path| (path.display().to_string(), path)).collect();
    let own = bench.plugins.join(dir);
    paths.push(("with a dot".to_owned(), own.join(".")));
    paths.push(("with two dots".to_owned(), own.join("..").join(own.file_name().unwrap())));
    if std::fs::symlink_metadata(&link).is_ok() {
        std::fs::remove_file(&link).unwrap();
    }
    symlink(&own, &link).unwrap();
    paths.push(("through a symlink".to_owned(), link));
    for (name, path) in paths {
        ways.push((format!("{name}, jail above"), typed(bench, &path, JailAt::Base)));
        // A jail that does not contain the lockfile cannot find it.
        if !matches!(before, Before::Locked) {
            ways.push((format!("{name}, jail there"), typed(bench, &path, JailAt::Directory)));
        }
    }
    ways
}

/// What happened to a plugin before it is named in several ways.
#[derive(Debug, Clone, Copy)]
enum Before {
    Nothing,
    Pinned,
    Changed,
    Denied,
    Locked,
}

/// A change inside a directory.
#[derive(Debug, Clone)]
enum Inside {
    Name(String),
    Version(u32),
    Dialect(&'static str),
    Mark(&'static str),
    File(String, Vec<u8>),
    Lock,
    Market,
}

impl Inside {
    fn apply(&self, bench: &Bench, dir: &str) {
        let at = |name: &str| format!("{dir}/{name}");
        let manifest =
            |name: &str, version: u32| format!("{{ \"name\": \"{name}\", \"version\": \"{version}.0.0\" }}");
        let step = match self {
            Self::Name(name) => write(&at(".claude-plugin/plugin.json"), &manifest(name, 1)),
            Self::Version(version) => write(&at(".claude-plugin/plugin.json"), &manifest("same", *version)),
            Self::Dialect(file) => write(&at(file), &manifest("other", 1)),
            Self::Mark(mark) => Step::Folder { path: at(mark) },
            Self::File(name, bytes) => {
                let hex: Vec<String> = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
                Step::Hex { path: at(name), hex: hex.concat() }
            }
            Self::Lock => write(&at("PLUGINS.lock"), "version = 2\n"),
            Self::Market => {
                let market = r#"{ "name": "official", "owner": { "name": "o" }, "renames": { "old": "x" }, "plugins": [{ "name": "x", "source": "./" }] }"#;
                write(&at(".claude-plugin/marketplace.json"), market)
            }
        };
        apply(&bench.plugins, &[step]);
    }
}

fn before() -> impl Strategy<Value = Before> {
    prop_oneof![
        Just(Before::Nothing),
        Just(Before::Pinned),
        Just(Before::Changed),
        Just(Before::Denied),
        Just(Before::Locked),
    ]
}

fn inside() -> impl Strategy<Value = Inside> {
    prop_oneof![
        "[a-z]{1,8}".prop_map(Inside::Name),
        (2..9_u32).prop_map(Inside::Version),
        prop_oneof![Just(".codex-plugin/plugin.json"), Just("gemini-extension.json"), Just("plugin.json")]
            .prop_map(Inside::Dialect),
        prop_oneof![Just(".git"), Just(".hg"), Just(".plugward"), Just(".claude")].prop_map(Inside::Mark),
        ("[a-z]{1,6}(/[a-z]{1,6})?", proptest::collection::vec(any::<u8>(), 0..40))
            .prop_map(|(name, bytes)| Inside::File(name, bytes)),
        Just(Inside::Lock),
        Just(Inside::Market),
    ]
}

/// A few nested directories with plugins in them.
fn tree() -> impl Strategy<Value = BTreeSet<String>> {
    let part = prop_oneof![Just("a"), Just("b c"), Just("é"), Just("plugins")];
    let dir = proptest::collection::vec(part, 1..4).prop_map(|parts| parts.join("/"));
    proptest::collection::btree_set(dir, 1..5)
}

/// The plugins of a tree that no other plugin contains.
fn outermost(dirs: &BTreeSet<String>) -> Vec<&String> {
    let contains = |outer: &String, dir: &String| {
        dir.strip_prefix(outer.as_str()).is_some_and(|rest| rest.starts_with('/'))
    };
    dirs.iter().filter(|dir| !dirs.iter().any(|outer| contains(outer, dir))).collect()
}

fn prepare(bench: &Bench, dirs: &BTreeSet<String>, before: Before) {
    for (number, dir) in dirs.iter().enumerate() {
        // Other bytes in each, so that none is the namesake or the same as another.
        apply(&bench.plugins, &[claude(dir, &format!("p{number}"))]);
    }
    if matches!(before, Before::Locked) {
        apply(
            &bench.plugins,
            &[Step::Folder { path: ".git".into() }, write("PLUGINS.lock", "version = 2\n")],
        );
    }
    if matches!(before, Before::Pinned | Before::Changed | Before::Denied) {
        let report = bench.check(&Run::default());
        assert_eq!((report.exit, report.plugins.len()), (0, outermost(dirs).len()), "{report:?}");
    }
    for dir in outermost(dirs) {
        match before {
            Before::Changed => apply(&bench.plugins, &[write(&format!("{dir}/more"), "1")]),
            Before::Denied => deny(bench, &format!("plugins/{dir}")),
            Before::Nothing | Before::Pinned | Before::Locked => {}
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]

    /// Row 10: an argument selects plugins, and is no part of their keys or verdicts.
    #[test]
    fn every_way_to_name_a_plugin_gives_the_same_key_and_decision(dirs in tree(), before in before()) {
        let bench = Bench::new();
        prepare(&bench, &dirs, before);
        let (trust, expected) = match before {
            Before::Nothing => (Trust::Prompt, "ask [pin/new]"),
            Before::Pinned => (Trust::Locked, "load []"),
            Before::Changed => (Trust::Tofu, "refuse [pin/changed]"),
            Before::Denied => (Trust::Tofu, "refuse [policy/denied]"),
            Before::Locked => (Trust::Tofu, "refuse [lock/unlisted]"),
        };
        for dir in outermost(&dirs) {
            let key = bench.key(&format!("plugins/{dir}"));
            for (way, root) in ways(&bench, dir, before) {
                let checked = check_roots(&bench, &[root], trust);
                let report = checked.report();
                let rows: Vec<_> = report.plugins.iter().filter(|row| row.key == key).collect();
                prop_assert_eq!(rows.len(), 1, "{}: {:?}", way, report);
                prop_assert!(line(rows[0]).starts_with(expected), "{}: {:?}", way, rows[0]);
            }
            // All at once, and it is still one plugin.
            let roots: Vec<Root> =
                ways(&bench, dir, before).into_iter().map(|(_, root)| root).collect();
            let checked = check_roots(&bench, &roots, trust);
            let rows = checked.report().plugins.iter().filter(|row| row.key == key);
            prop_assert_eq!(rows.count(), 1);
        }
    }

    /// What is inside a plugin is judged with it, whichever directory the user names.
    #[test]
    fn a_directory_inside_a_plugin_leads_to_that_plugin(dirs in tree()) {
        let bench = Bench::new();
        prepare(&bench, &dirs, Before::Pinned);
        for dir in outermost(&dirs) {
            apply(&bench.plugins, &[Step::Folder { path: format!("{dir}/skills/deep") }]);
            let key = bench.key(&format!("plugins/{dir}"));
            for inner in ["skills", "skills/deep", ".claude-plugin"] {
                let path = bench.plugins.join(dir).join(inner);
                let checked = check_roots(&bench, &[typed(&bench, &path, JailAt::Base)], Trust::Locked);
                let rows: Vec<_> = checked.report().plugins.iter().map(|row| (&row.key, row.decision)).collect();
                prop_assert_eq!(rows, vec![(&key, Decision::Load)], "{}", inner);
            }
        }
    }

    /// Rule 1: a plugin never determines the key of its pin.
    #[test]
    fn nothing_inside_a_directory_changes_its_key(
        dirs in tree(),
        changes in proptest::collection::vec(inside(), 1..4),
    ) {
        let bench = Bench::new();
        prepare(&bench, &dirs, Before::Pinned);
        let keys = |report: &Report| report.plugins.iter().map(|row| row.key.clone()).collect::<BTreeSet<_>>();
        let expected: BTreeSet<PluginKey> =
            outermost(&dirs).into_iter().map(|dir| bench.key(&format!("plugins/{dir}"))).collect();
        let pinned_before = pinned(&bench);
        for dir in outermost(&dirs) {
            for change in &changes {
                change.apply(&bench, dir);
            }
            let whole = check_roots(&bench, &[typed(&bench, &bench.plugins, JailAt::Base)], Trust::Tofu);
            prop_assert_eq!(keys(whole.report()), expected.clone(), "{:?}", whole.report());
            let key = bench.key(&format!("plugins/{dir}"));
            for (way, root) in ways(&bench, dir, Before::Pinned) {
                let checked = check_roots(&bench, &[root], Trust::Tofu);
                let report = checked.report();
                let row = report.plugins.iter().find(|row| row.key == key);
                prop_assert!(row.is_some_and(|row| row.decision == Decision::Refuse || !is_change(&changes)), "{}: {:?}", way, report);
            }
        }
        prop_assert_eq!(pinned(&bench), pinned_before);
    }
}

/// Empty directories are no part of a tree, and one case writes what is there.
fn is_change(changes: &[Inside]) -> bool {
    changes.iter().any(|change| !matches!(change, Inside::Mark(_)))
}

fn loads(checked: CheckResult) -> Vec<LoadedPlugin> {
    let plugins = checked.into_outcomes().filter_map(|outcome| match outcome {
        Outcome::Load(loaded) => Some(loaded),
        Outcome::Ask { .. } | Outcome::Refuse { .. } => None,
    });
    plugins.collect()
}

fn with_script() -> Vec<Step> {
    let run = Step::Write { path: "a/bin/run.sh".into(), text: "echo one\n".into(), executable: Bit::On };
    vec![claude("a", "a"), write("a/notes.txt", "one\n"), run]
}

#[test]
fn a_loaded_plugin_has_the_checked_bytes_whatever_becomes_of_the_original() {
    let bench = Bench::new();
    apply(&bench.plugins, &with_script());
    apply(&bench.plugins, &[Step::Link { path: "a/alias.txt".into(), target: "notes.txt".into() }]);
    let roots = bench.roots(&Run::default());
    let plugin = loads(check_roots(&bench, &roots, Trust::Tofu)).pop().unwrap();
    apply(
        &bench.plugins,
        &[write("a/notes.txt", "two\n"), write("a/bin/run.sh", "echo two\n"), write("a/more", "1")],
    );
    assert_eq!((plugin.key(), plugin.report().decision), (&bench.key("plugins/a"), Decision::Load));
    assert_eq!(plugin.manifest(Dialect::Claude).unwrap().name(), "a");
    assert!(plugin.manifest(Dialect::Codex).is_none());
    assert_eq!(plugin.bytes("notes.txt"), Some(&b"one\n"[..]));
    assert_eq!(plugin.bytes("alias.txt"), Some(&b"one\n"[..]));
    assert_eq!(
        (plugin.bytes("more"), plugin.bytes("../config"), plugin.bytes("/etc/passwd")),
        (None, None, None)
    );
    let paths: Vec<&str> = plugin.entries().map(SnapshotEntry::path).collect();
    assert_eq!(paths, [".claude-plugin/plugin.json", "alias.txt", "bin/run.sh", "notes.txt"]);

    let sealed_at = bench.base.join("sealed");
    std::fs::create_dir(&sealed_at).unwrap();
    let dir = Dir::open_ambient_dir(&sealed_at, ambient_authority()).unwrap();
    let first = plugin.seal_into(&dir).unwrap();
    let second = plugin.seal_into(&dir).unwrap();
    assert_ne!(first.path(), second.path());
    assert_eq!(first.tree().to_string(), plugin.report().tree.clone().unwrap());
    for sealed in [&first, &second] {
        let at = sealed_at.join(sealed.path());
        assert_eq!(std::fs::read(at.join("notes.txt")).unwrap(), b"one\n");
        assert_eq!(sealed.dir().read("bin/run.sh").unwrap(), b"echo one\n");
        assert_eq!(std::fs::read_link(at.join("alias.txt")).unwrap(), Path::new("notes.txt"));
        assert!(!at.join("more").exists());
        let mode = |path: &str| std::fs::metadata(at.join(path)).unwrap().permissions().mode() & 0o7777;
        assert_eq!(
            (mode("notes.txt"), mode("bin/run.sh"), mode("bin"), mode("")),
            (0o400, 0o500, 0o500, 0o500)
        );
        for above in at.ancestors().take_while(|above| *above != sealed_at) {
            let mode = std::fs::metadata(above).unwrap().permissions().mode();
            assert_eq!(mode & 0o7777, 0o500, "{}", above.display());
        }
    }
    let path = first.path().to_owned();
    first.remove().unwrap();
    assert!(!sealed_at.join(path).exists());
    assert_eq!(second.dir().read("notes.txt").unwrap(), b"one\n", "the other copy stays");
    second.remove().unwrap();
    assert_eq!(std::fs::read_dir(&sealed_at).unwrap().count(), 0);
}

#[test]
fn a_sealed_plugin_has_the_shared_directories_that_were_checked_with_it() {
    let bench = Bench::new();
    apply(
        &bench.plugins,
        &[
            write(
                "p/plugin.json",
                r#"{"name":"p","version":"1.0.0","description":"d","hostModules":["fs"]}"#,
            ),
            write("p/index.js", "import { x } from \"../shared/x.js\";\nexport const y = x;\n"),
            write("shared/x.js", "export const x = 1;\n"),
        ],
    );
    let plugin = loads(check_roots(&bench, &bench.roots(&Run::default()), Trust::Tofu)).pop().unwrap();
    apply(&bench.plugins, &[write("shared/x.js", "export const x = 2;\n")]);
    assert_eq!(plugin.bytes("../shared/x.js"), Some(&b"export const x = 1;\n"[..]));
    let base = Dir::open_ambient_dir(&bench.base, ambient_authority()).unwrap();
    let sealed = plugin.seal_into(&base).unwrap();
    let shared = bench.base.join(sealed.path()).join("../shared/x.js");
    assert_eq!(std::fs::read(&shared).unwrap(), b"export const x = 1;\n");
    assert_eq!(std::fs::metadata(&shared).unwrap().permissions().mode() & 0o7777, 0o400);
    sealed.remove().unwrap();
}

#[test]
fn a_plugin_that_does_not_fit_is_refused_and_not_pinned() {
    let bench = Bench::new();
    apply(&bench.plugins, &[claude("a", "a"), claude("b", "b"), write("b/big", &"x".repeat(4096))]);
    let keep = |bytes: u64| {
        let mut stores = bench.stores(&Run::default());
        let checker =
            Checker::new(&mut stores, now()).trust(Trust::Tofu).keep(ByteRetention::Loads { bytes });
        checker.check(&bench.roots(&Run::default())).unwrap()
    };
    let report = keep(1000);
    assert_eq!(line(row(report.report(), "plugins/a")), "load [] (pin/new)");
    assert_eq!(line(row(report.report(), "plugins/b")), "refuse [tree/limit] ()");
    assert_eq!((report.report().exit, pinned(&bench)), (4, vec!["plugins/a".to_owned()]));
    let keys: Vec<PluginKey> = loads(report).iter().map(|plugin| plugin.key().clone()).collect();
    assert_eq!(keys, [bench.key("plugins/a")]);
    // The near miss.
    let report = keep(5000);
    assert_eq!((report.report().exit, loads(report).len()), (0, 2));
}

#[test]
fn by_default_nothing_new_loads_and_outcomes_follow_the_report() {
    let bench = Bench::new();
    apply(&bench.plugins, &[claude("a", "a"), claude("b", "b"), claude("c", "c")]);
    accept(&bench, "plugins/b");
    deny(&bench, "plugins/c");
    let mut stores = bench.stores(&Run::default());
    let checked = Checker::new(&mut stores, now()).check(&bench.roots(&Run::default())).unwrap();
    let decisions: BTreeMap<String, &str> =
        checked.report().plugins.iter().map(|row| (row.id.clone(), row.decision.as_str())).collect();
    let outcomes: BTreeMap<String, &str> = checked
        .into_outcomes()
        .map(|outcome| match outcome {
            Outcome::Load(loaded) => (loaded.report().id.clone(), "load"),
            Outcome::Ask { report } => (report.id, "ask"),
            Outcome::Refuse { report } => (report.id, "refuse"),
        })
        .collect();
    assert_eq!(decisions.values().copied().collect::<Vec<_>>(), ["ask", "load", "refuse"]);
    assert_eq!(outcomes, decisions);
}

/// A pins file as the releases with version 3 wrote it, with one state of the plugin `a`.
fn version_three(bench: &Bench, state: &str) -> String {
    let subject = bench.subject(&Run::default(), "plugins/a");
    let (tree, manifest) = (subject.facts().tree, subject.facts().manifest["claude"]);
    let key = bench.key("plugins/a");
    let denied = if state == "denied" { "denied = { at = 2026-08-20T21:48:03Z }\n" } else { "" };
    let head = format!("[pins.\"{key}\"]\nstate = \"{state}\"\ncalled = [\"claude:a\"]\n{denied}");
    let tail = format!(
        "\n[[pins.\"{key}\".agreed]]\ntree = \"{tree}\"\nmanifest = {{ claude = \"{manifest}\" }}\nvia = \"prompt\"\nat = 2026-08-20T21:48:03Z\nby = \"anna\"\n"
    );
    let end = "[end]\npins = 1\nlocks = 0\nrevoked = 0\nv2 = 0\nv1 = 0\nserial = 7\n";
    let check = |text: &str| {
        let digest = sha256(format!("plugward pins 3\n{text}").as_bytes()).hex();
        format!("check = \"{}\"\n", &digest[..16])
    };
    let pin = check(&format!("{head}{tail}"));
    format!("version = 3\n\n{head}{pin}{tail}\n{end}{}", check(end))
}

fn migrating(bench: &Bench, state: &str) -> String {
    apply(&bench.plugins, &[claude("a", "a"), write("a/x.sh", "echo x\n")]);
    let old = version_three(bench, state);
    for name in ["plugins.pins.toml", "plugins.pins.toml.last-good"] {
        apply(&bench.config, &[write(name, &old), Step::Mode { path: name.into(), mode: 0o600 }]);
    }
    old
}

#[test]
fn pins_of_version_three_are_carried_over_with_the_same_bytes() {
    let expected = ["load [] (pin/migrated), exit 0"; 3];
    let setup = |bench: &Bench| drop(migrating(bench, "trusted"));
    let [(tofu, ..), (prompt, ..), (locked, ..)] = expect(setup, "plugins/a", expected);
    for bench in [&tofu, &prompt] {
        let kept = std::fs::read_to_string(bench.config.join("plugins.pins.toml.v3")).unwrap();
        assert_eq!(kept, version_three(bench, "trusted"));
        assert!(bench.pins().unwrap().contains("\nversion = 4\n"), "{:?}", bench.pins());
        assert_eq!(pinned(bench), ["plugins/a"]);
        let pins = pins(bench);
        let agreed = pins.get(&bench.key("plugins/a")).unwrap().latest().unwrap();
        assert_eq!((agreed.via, agreed.by.as_deref()), (PinOrigin::Prompt, Some("anna")));
        assert_eq!(agreed.at.to_string(), "2026-08-20T21:48:03Z");
        let again = bench.check(&run("locked"));
        assert_eq!((line(row(&again, "plugins/a")).as_str(), again.exit), ("load [] ()", 0));
    }
    assert_eq!(locked.pins().unwrap(), version_three(&locked, "trusted"), "locked writes nothing");
}

#[test]
fn pins_of_version_three_refuse_other_bytes() {
    let setup = |bench: &Bench| {
        drop(migrating(bench, "trusted"));
        apply(&bench.plugins, &[write("a/x.sh", "echo y\n")]);
    };
    for (bench, report, text) in three(setup, "plugins/a") {
        let a = row(&report, "plugins/a");
        assert_eq!((a.decision, report.exit), (Decision::Refuse, 4), "{text}");
        assert!(a.reasons.iter().any(|reason| reason.code == "pin/changed"), "{text}");
        assert!(bench.pins().unwrap().starts_with("version = 3\n"), "a refusal writes nothing");
    }
}

#[test]
fn denials_of_version_three_stay() {
    let setup = |bench: &Bench| drop(migrating(bench, "denied"));
    for (bench, report, text) in three(setup, "plugins/a") {
        let a = row(&report, "plugins/a");
        assert_eq!((a.decision, report.exit), (Decision::Refuse, 5), "{text}");
        assert!(a.reasons.iter().any(|reason| reason.code == "policy/denied"), "{text}");
        assert!(bench.pins().unwrap().starts_with("version = 3\n"));
        // Other bytes under the denied name.
        apply(&bench.plugins, &[write("a/x.sh", "echo y\n")]);
        assert_eq!(bench.check(&run("tofu")).exit, 5);
    }
}

fn denied_a() -> Bench {
    let bench = Bench::new();
    apply(&bench.plugins, &with_script());
    assert_eq!(bench.check(&run("tofu")).exit, 0);
    deny(&bench, "plugins/a");
    assert_eq!(bench.check(&run("tofu")).exit, 5);
    bench
}

#[test]
fn a_denial_by_key_stays_whatever_the_plugin_does() {
    let name = write("a/.claude-plugin/plugin.json", r#"{ "name": "other", "version": "1.0.0" }"#);
    let moved = || rename("a", "far/b");
    let mark = |path: &str| Step::Folder { path: path.to_owned() };
    let cases: Vec<(&str, Vec<Step>)> = vec![
        ("another name", vec![name.clone()]),
        ("a move", vec![moved()]),
        ("a move and another name", vec![name, moved()]),
        ("a move and other bytes", vec![moved(), write("far/b/more", "1")]),
        ("another dialect", vec![write("a/gemini-extension.json", r#"{ "name": "a", "version": "1.0.0" }"#)]),
        (
            "another dialect instead",
            vec![
                remove("a/.claude-plugin"),
                write("a/gemini-extension.json", r#"{ "name": "g", "version": "1.0.0" }"#),
            ],
        ),
        ("no manifest", vec![remove("a/.claude-plugin")]),
        ("a broken manifest", vec![write("a/.claude-plugin/plugin.json", "{")]),
        ("a tree that cannot be digested", vec![Step::Fifo { path: "a/pipe".into() }]),
        ("a project inside", vec![mark("a/.plugward")]),
        ("a project next to it", vec![mark("b/.plugward")]),
        ("a project above", vec![mark(".plugward")]),
        ("a repository above", vec![mark(".git")]),
        (
            "a marketplace that names it",
            vec![write(
                ".claude-plugin/marketplace.json",
                r#"{ "name": "m", "owner": { "name": "o" }, "plugins": [{ "name": "good", "source": "./a" }] }"#,
            )],
        ),
    ];
    for (case, steps) in cases {
        let bench = denied_a();
        apply(&bench.plugins, &steps);
        for trust in ["tofu", "prompt", "locked"] {
            let report = bench.check(&run(trust));
            assert_eq!(report.plugins.len(), 1, "{case}, {trust}: {report:?}");
            let row = &report.plugins[0];
            assert_eq!(row.decision, Decision::Refuse, "{case}, {trust}: {row:?}");
            assert!(
                row.reasons.iter().any(|reason| reason.code == "policy/denied"),
                "{case}, {trust}: {row:?}"
            );
            // What could not be read at all has the exit code of that, which comes first.
            let is_read = !matches!(case, "a broken manifest" | "a tree that cannot be digested");
            assert_eq!(report.exit, if is_read { 5 } else { 4 }, "{case}, {trust}: {row:?}");
        }
    }
}

#[test]
fn a_copy_of_a_denied_plugin_is_denied_or_asked_about() {
    let bench = denied_a();
    apply(&bench.plugins, &[copy("a", "b"), write("b/notes.txt", "other\n"), remove("a")]);
    // The manifest is the denied one.
    let report = bench.check(&run("tofu"));
    assert_eq!((line(row(&report, "plugins/b")).as_str(), report.exit), ("refuse [policy/denied] ()", 5));
    apply(&bench.plugins, &[write("b/.claude-plugin/plugin.json", r#"{ "name": "a" }"#)]);
    let report = bench.check(&run("tofu"));
    assert_eq!((line(row(&report, "plugins/b")).as_str(), report.exit), ("ask [policy/namesake] ()", 3));
    // The near miss: another name and other bytes.
    apply(&bench.plugins, &[write("b/.claude-plugin/plugin.json", r#"{ "name": "b" }"#)]);
    let report = bench.check(&run("tofu"));
    assert_eq!((line(row(&report, "plugins/b")).as_str(), report.exit), ("load [] (pin/new)", 0));
}

#[test]
fn a_denial_knows_its_directory_even_if_the_plugin_was_never_pinned() {
    let bench = Bench::new();
    apply(&bench.plugins, &[claude("a", "a")]);
    let never = Run { answer: Some("never".into()), ..run("prompt") };
    assert_eq!(bench.check(&never).exit, 5);
    let folder: Option<DirectoryId> = pins(&bench).get(&bench.key("plugins/a")).unwrap().directory;
    assert!(folder.is_some(), "this file system stores birth times");
    apply(&bench.plugins, &[rename("a", "b"), write("b/.claude-plugin/plugin.json", r#"{ "name": "b" }"#)]);
    let report = bench.check(&run("tofu"));
    assert_eq!((line(row(&report, "plugins/b")).as_str(), report.exit), ("refuse [policy/denied] ()", 5));
}

#[test]
fn a_pinned_place_stays_pinned_if_its_directory_is_moved_away_and_replaced() {
    let bench = Bench::new();
    pinned_a(&bench);
    apply(&bench.plugins, &[rename("a", "b"), claude("a", "a"), write("a/more", "1")]);
    for _ in 0..3 {
        let report = bench.check(&run("tofu"));
        assert_eq!(line(row(&report, "plugins/a")), "refuse [pin/changed] ()");
        assert_eq!(row(&report, "plugins/b").decision, Decision::Load);
    }
}

#[test]
fn denied_or_revoked_bytes_are_found_inside_another_plugin() {
    let inner = || vec![claude("x", "x"), copy("a", "x/in"), remove("a")];
    let denied = |bench: &Bench| {
        pinned_a(bench);
        deny(bench, "plugins/a");
        apply(&bench.plugins, &inner());
    };
    for (bench, report, _) in three(denied, "plugins/x") {
        assert_eq!(row(&report, "plugins/x").reasons[0].code, "policy/denied", "{report:?}");
        assert!(first_line(row(&report, "plugins/x")).ends_with("in `in`"), "{report:?}");
        // The near miss: other bytes inside.
        apply(&bench.plugins, &[write("x/in/more", "1")]);
        assert_eq!(line(row(&bench.check(&run("tofu")), "plugins/x")), "load [] (pin/new)");
    }
    let revoked = |bench: &Bench| {
        apply(&bench.plugins, &[claude("a", "a")]);
        let tree = bench.subject(&Run::default(), "plugins/a").facts().tree;
        commit(bench, Change::Revoke(Revocation { tree: Some(tree), ..Revocation::because("bad") }));
        apply(&bench.plugins, &inner());
    };
    for (_, report, _) in three(revoked, "plugins/x") {
        assert_eq!(row(&report, "plugins/x").reasons[0].code, "policy/revoked", "{report:?}");
    }
}

#[test]
fn a_mark_and_a_lockfile_planted_between_a_plugin_and_its_lockfile_change_nothing() {
    let bench = Bench::new();
    apply(&bench.plugins, &[Step::Folder { path: "one/.git".into() }, claude("one/sub/p", "p")]);
    let lock_of = |at: &str| {
        let mut lock = LockFile::new();
        let subject = bench.subject(&Run::default(), "plugins/one/sub/p");
        lock.insert(at, subject.lock_entry(at)).unwrap();
        lock.render()
    };
    apply(&bench.plugins, &[write("one/PLUGINS.lock", &lock_of("sub/p"))]);
    assert_eq!(checked(&bench, "one", Trust::Locked).exit, 0);
    apply(&bench.plugins, &[write("one/sub/p/more", "1")]);
    let planted = lock_of("p");
    for mark in [".plugward", ".git"] {
        apply(
            &bench.plugins,
            &[write("one/sub/PLUGINS.lock", &planted), Step::Folder { path: format!("one/sub/{mark}") }],
        );
        for dir in [".", "one", "one/sub", "one/sub/p"] {
            let report = checked(&bench, dir, Trust::Locked);
            let reasons = &report.plugins[0].reasons;
            assert!(reasons.iter().any(|reason| reason.code == "lock/mismatch"), "{mark} {dir}: {report:?}");
        }
    }
}

#[test]
fn a_moved_plugin_whose_place_is_taken_is_agreed_to_as_before() {
    let bench = Bench::new();
    pinned_a(&bench);
    apply(&bench.plugins, &[rename("a", "b"), claude("a", "a"), write("a/more", "1")]);
    let report = bench.check(&run("tofu"));
    assert_eq!(row(&report, "plugins/b").decision, Decision::Load);
    let pins = pins(&bench);
    // Nobody was asked before the move, and nobody was asked since.
    assert_eq!(pins.get(&bench.key("plugins/b")).unwrap().latest().unwrap().via, PinOrigin::Tofu);
}

#[test]
fn a_plugin_of_two_dialects_is_the_pinned_one_whichever_is_asked_for() {
    let bench = Bench::new();
    apply(
        &bench.plugins,
        &[
            claude("a", "a"),
            write("a/gemini-extension.json", r#"{ "name": "g", "version": "1.0.0" }"#),
            write(
                ".claude-plugin/marketplace.json",
                r#"{ "name": "m", "owner": { "name": "o" }, "plugins": [{ "name": "a", "source": "./a" }] }"#,
            ),
        ],
    );
    assert_eq!(bench.check(&run("tofu")).exit, 0);
    let before = bench.pins();
    for dialect in [Dialect::Claude, Dialect::Gemini] {
        let report = bench.check_with(&run("tofu"), &|options| options.dialect = Some(dialect));
        assert_eq!((line(row(&report, "plugins/a")).as_str(), report.exit), ("load [] ()", 0), "{dialect:?}");
        assert_eq!(bench.pins(), before, "{dialect:?}");
    }
    // The near miss: the manifest of the dialect that is not asked for.
    apply(&bench.plugins, &[write("a/gemini-extension.json", r#"{ "name": "g", "version": "2.0.0" }"#)]);
    let report = bench.check_with(&run("tofu"), &|options| options.dialect = Some(Dialect::Claude));
    assert_eq!(report.exit, 4);
}

#[test]
fn reasons_name_the_plugin_of_a_pin_however_it_is_called() {
    let bench = Bench::new();
    apply(&bench.plugins, &[claude("--all", "a"), claude("two lines", "b")]);
    let report = bench.check(&run("tofu"));
    let ids: Vec<&str> = report.plugins.iter().map(|plugin| plugin.id.as_str()).collect();
    assert_eq!(ids, ["plugins/--all", "plugins/two lines"]);
    apply(&bench.plugins, &[remove("--all"), rename("two lines", "three lines")]);
    let report = bench.check(&run("tofu"));
    let gone = report.notices.iter().find(|notice| notice.code == "pin/gone").unwrap();
    assert_eq!(gone.plugin.as_ref().unwrap().name(), "--all");
    let moved = &report.plugins[0].notices.iter().find(|notice| notice.code == "pin/moved").unwrap().message;
    assert_eq!(moved, "moved from `plugins/two lines`, contents match the pin");
    // A denied copy says how to allow what is denied.
    deny(&bench, "plugins/three lines");
    apply(&bench.plugins, &[copy("three lines", "c"), claude("-x", "x")]);
    let report = bench.check(&run("tofu"));
    let denied = row(&report, "plugins/c").reasons[0].selector.as_ref();
    assert_eq!(denied.unwrap(), "three lines");
}

#[test]
fn a_directory_that_no_key_can_name_is_not_passed_over() {
    use std::os::unix::ffi::OsStrExt as _;
    let bench = Bench::new();
    apply(&bench.plugins, &[claude("a", "a")]);
    let name = bench.plugins.join(std::ffi::OsStr::from_bytes(b"b\xff"));
    if let Err(error) = std::fs::create_dir(&name) {
        println!("skipped: this file system stores no such name: {error}");
        return;
    }
    let report = bench.check(&run("tofu"));
    assert_eq!((line(row(&report, "plugins/a")).as_str(), report.exit), ("load [] (pin/new)", 1));
    assert!(report.skipped.iter().any(|skipped| skipped.why == "name is not UTF-8"), "{report:?}");
}

#[test]
fn every_file_that_an_import_can_mean_is_digested() {
    let bench = Bench::new();
    let manifest = r#"{"name":"p","version":"1.0.0","description":"d","hostModules":["fs"]}"#;
    apply(
        &bench.plugins,
        &[
            write("p/plugin.json", manifest),
            write("p/index.js", "import { x } from \"../shared/x\";\nexport const y = x;\n"),
            write("shared/x.js", "export const x = 1;\n"),
        ],
    );
    assert_eq!(bench.check(&run("tofu")).exit, 0);
    assert_eq!(line(row(&bench.check(&run("tofu")), "plugins/p")), "load [] ()");
    // A host that tries `.ts` first would run this one.
    apply(&bench.plugins, &[write("shared/x.ts", "export const x = 2;\n")]);
    let report = bench.check(&run("tofu"));
    assert_eq!((line(row(&report, "plugins/p")).as_str(), report.exit), ("refuse [pin/changed] ()", 4));
}

#[test]
fn a_sealed_plugin_can_share_a_directory_of_any_name() {
    let bench = Bench::new();
    let manifest = r#"{"name":"p","version":"1.0.0","description":"d","hostModules":["fs"]}"#;
    apply(
        &bench.plugins,
        &[
            write("p/plugin.json", manifest),
            write("p/index.js", "import { x } from \"../plugin/x.js\";\nimport { y } from \"../up/y.js\";\n"),
            write("plugin/x.js", "export const x = 1;\n"),
            write("up/y.js", "export const y = 1;\n"),
        ],
    );
    let plugin = loads(check_roots(&bench, &bench.roots(&Run::default()), Trust::Tofu)).pop().unwrap();
    let base = Dir::open_ambient_dir(&bench.base, ambient_authority()).unwrap();
    let sealed = plugin.seal_into(&base).unwrap();
    for (name, text) in [("../plugin/x.js", "export const x = 1;\n"), ("../up/y.js", "export const y = 1;\n")]
    {
        assert_eq!(std::fs::read_to_string(bench.base.join(sealed.path()).join(name)).unwrap(), text);
    }
    sealed.remove().unwrap();
}

#[test]
fn a_moved_and_changed_plugin_stays_refused_if_its_old_place_is_filled_again() {
    let bench = Bench::new();
    pinned_a(&bench);
    apply(&bench.plugins, &[rename("a", "b"), write("b/more", "1")]);
    assert_eq!(line(row(&bench.check(&run("tofu")), "plugins/b")), "refuse [pin/changed] ()");
    apply(&bench.plugins, &[claude("a", "a")]);
    for _ in 0..3 {
        let report = bench.check(&run("tofu"));
        assert_eq!(line(row(&report, "plugins/a")), "load [] ()");
        assert_eq!(line(row(&report, "plugins/b")), "refuse [pin/changed] ()");
    }
    // The near miss: once the moved one is gone, the pin knows the new directory.
    apply(&bench.plugins, &[remove("b")]);
    assert_eq!(bench.check(&run("tofu")).exit, 0);
    apply(&bench.plugins, &[rename("a", "c")]);
    assert_eq!(line(row(&bench.check(&run("tofu")), "plugins/c")), "load [] (pin/moved)");
}
