//! Folders that somebody made to hang, exhaust or fool the loader. Each is one plugin among others that still load.

use plugward_loader::{Decision, Report};
use plugward_tests::{Bench, Bit, Run, Step};

const GOOD: &str = r#"{ "name": "good", "version": "1.0.0" }"#;

fn write(path: &str, text: &str) -> Step {
    Step::Write { path: path.to_owned(), text: text.to_owned(), executable: Bit::Off }
}

/// Checks a hostile plugin beside a good one; the good one loads whatever the other is.
fn beside(steps: Vec<Step>) -> Report {
    let bench = Bench::new();
    let mut all = vec![write("good/.claude-plugin/plugin.json", GOOD)];
    all.extend(steps);
    let report = bench.run(&Run { plugins: all, ..Run::default() });
    let good = report.plugins.iter().find(|plugin| plugin.name == "good").unwrap();
    assert_eq!(good.decision, Decision::Load, "{good:?}");
    report
}

fn codes(report: &Report, name: &str) -> Vec<String> {
    let plugin =
        report.plugins.iter().find(|plugin| plugin.name == name).unwrap_or_else(|| panic!("{report:?}"));
    assert_eq!(plugin.decision, Decision::Refuse, "{plugin:?}");
    plugin.reasons.iter().map(|reason| reason.code.clone()).collect()
}

fn bad(extra: Vec<Step>) -> Vec<Step> {
    let mut steps = vec![write("bad/.claude-plugin/plugin.json", r#"{ "name": "bad" }"#)];
    steps.extend(extra);
    steps
}

#[test]
fn a_fifo_is_refused_and_never_waited_for() {
    let report = beside(bad(vec![Step::Fifo { path: "bad/pipe".into() }]));
    assert_eq!(codes(&report, "bad"), ["tree/special-file"]);
}

#[test]
fn a_fifo_in_the_place_of_the_manifest() {
    let report = beside(vec![Step::Fifo { path: "bad/.claude-plugin/plugin.json".into() }]);
    assert!(codes(&report, "bad").contains(&"tree/special-file".to_owned()));
}

#[test]
fn a_link_out_of_the_folder() {
    let report = beside(bad(vec![Step::Link { path: "bad/out".into(), target: "../good".into() }]));
    assert_eq!(codes(&report, "bad"), ["tree/link-escapes"]);
}

#[test]
fn a_sparse_file_of_two_gib_is_not_read() {
    let report = beside(bad(vec![Step::Sparse { path: "bad/big".into(), size: 2 << 30 }]));
    assert_eq!(codes(&report, "bad"), ["tree/limit"]);
}

#[test]
fn a_hundred_thousand_files() {
    let report = beside(bad(vec![Step::Many { folder: "bad/many".into(), count: 100_000 }]));
    assert!(codes(&report, "bad").contains(&"tree/limit".to_owned()));
}

#[test]
fn a_manifest_of_fifty_megabytes() {
    let text = "{ \"name\": \"bad\" }".to_owned();
    let report = beside(vec![
        write("bad/.claude-plugin/plugin.json", &text),
        Step::Sparse { path: "bad/.claude-plugin/plugin.json".into(), size: 50 << 20 },
    ]);
    assert_eq!(codes(&report, "bad"), ["manifest/too-large"]);
}

#[test]
fn a_manifest_nested_ten_thousand_deep() {
    let text = format!("{}{}", "[".repeat(10_000), "]".repeat(10_000));
    let report = beside(vec![write("bad/.claude-plugin/plugin.json", &text)]);
    // What the reader of manifests does not follow, the scan does not either: that is a danger finding.
    assert!(codes(&report, "bad").contains(&"manifest/too-deep".to_owned()));
}

#[test]
fn duplicate_keys() {
    let report = beside(vec![write("bad/.claude-plugin/plugin.json", r#"{"name":"bad","name":"good"}"#)]);
    assert_eq!(codes(&report, "bad"), ["manifest/duplicate-key"]);
}

#[test]
fn a_nul_in_a_path() {
    let text = r#"{"name":"bad","skills":"./skills\u0000/x"}"#;
    let report = beside(vec![write("bad/.claude-plugin/plugin.json", text)]);
    assert!(
        codes(&report, "bad").iter().all(|code| code.starts_with("manifest/")),
        "{:?}",
        codes(&report, "bad")
    );
}

#[test]
fn names_that_are_not_utf8() {
    let report = beside(bad(vec![Step::RawName { folder: "bad".into(), hex: "6eff".into() }]));
    assert_eq!(codes(&report, "bad"), ["tree/name"]);
}

#[test]
fn folders_that_are_not_utf8_are_skipped_and_counted() {
    use std::os::unix::ffi::OsStrExt as _;
    let bench = Bench::new();
    let name = std::ffi::OsStr::from_bytes(b"pl\xffugin");
    std::fs::create_dir(bench.plugins.join(name)).unwrap();
    let report = bench.check(&Run::default());
    assert_eq!(report.skipped.len(), 1, "{report:?}");
}

#[test]
fn what_cannot_be_read_is_said_and_never_passed() {
    let bench = Bench::new();
    let steps = bad(vec![
        write("bad/secret", ""),
        Step::Mode { path: "bad/secret".into(), mode: 0 },
        // One that may not be entered, and one that may, but not be listed.
        Step::Folder { path: "shut".into() },
        Step::Mode { path: "shut".into(), mode: 0 },
        Step::Folder { path: "hidden".into() },
        Step::Mode { path: "hidden".into(), mode: 0o100 },
    ]);
    let report = bench.run(&Run { plugins: steps, unprivileged: Bit::On, ..Run::default() });
    for folder in ["shut", "hidden"] {
        plugward_tests::apply(&bench.plugins, &[Step::Mode { path: folder.into(), mode: 0o700 }]);
    }
    assert_eq!(codes(&report, "bad"), ["tree/io"]);
    assert!(codes(&report, "shut").contains(&"tree/io".to_owned()), "{report:?}");
    assert_eq!(report.exit, 1);
    let said = |code: &str| report.notices.iter().filter(|notice| notice.code == code).count();
    assert_eq!((said("discover/unreadable"), said("market/unreadable")), (1, 1), "{report:?}");
}

#[test]
fn a_file_that_is_scanned_in_part_is_told() {
    let bench = Bench::new();
    let notes = write("good/notes.txt", &"words and more words\n".repeat(40));
    plugward_tests::apply(&bench.plugins, &[write("good/.claude-plugin/plugin.json", GOOD), notes]);
    let partial = |limit| {
        let report = bench.check_with(&Run::default(), &|options| options.scan.file = limit);
        let notices = report.plugins[0].notices.iter().filter(|notice| notice.code == "scan/partial");
        notices.map(|notice| notice.message.clone()).collect::<Vec<_>>()
    };
    assert_eq!(
        partial(400),
        ["notes.txt: the analysis stopped at a limit; text rules ran on the part that was read"]
    );
    assert!(partial(4000).is_empty());
}

#[test]
fn a_scan_that_fails_refuses() {
    let bench = Bench::new();
    plugward_tests::apply(&bench.plugins, &bad(vec![]));
    let report = bench.check_with(&Run::default(), &|options| options.scan.entries = 0);
    assert_eq!(codes(&report, "bad"), ["scan/error"]);
    assert_eq!(report.exit, 1);
}
