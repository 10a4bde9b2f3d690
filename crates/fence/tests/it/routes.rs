//! Every spelling of every route, in a workspace that rustc accepts.

use camino::Utf8PathBuf;
use plugward_fence::{DependencyKind, Fence, FenceConfig, FenceReport, PackageSpec, Sources, check};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::process::Command;

use crate::marked::{Mark, marks, reported, same};

fn root() -> Utf8PathBuf {
    Utf8PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("fixtures/routes")
}

/// Returns all files of the fixture by path relative to its root.
fn files() -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    let mut stack = vec![root()];
    while let Some(dir) = stack.pop() {
        for entry in dir.read_dir_utf8().unwrap() {
            let path = entry.unwrap().path().to_owned();
            if path.is_dir() {
                if path.file_name() != Some("target") {
                    stack.push(path);
                }
            } else if matches!(path.extension(), Some("rs" | "in")) {
                let name = path.strip_prefix(root()).unwrap().to_string();
                found.insert(name, fs::read_to_string(&path).unwrap());
            }
        }
    }
    found
}

fn run(threads: usize) -> FenceReport {
    Fence::from_workspace(&root()).unwrap().with_threads(threads).run().unwrap()
}

#[test]
fn every_marked_line_is_reported_and_no_other() {
    let wanted: BTreeSet<Mark> = files().iter().flat_map(|(file, text)| marks(file, text)).collect();
    assert!(wanted.len() > 200, "{}", wanted.len());
    let report = run(2);
    same(&wanted, &reported(&report));
    assert_eq!(report.undecided(), []);
    assert_eq!(report.exit_code(), 1);
}

#[test]
fn each_rule_has_several_spellings() {
    let mut count: BTreeMap<String, usize> = BTreeMap::new();
    for (_, _, rule) in files().iter().flat_map(|(file, text)| marks(file, text)) {
        *count.entry(rule).or_default() += 1;
    }
    for (rule, least) in [("F01", 60), ("F07", 5), ("F08", 4), ("F09", 8), ("F12", 25), ("E01", 60)] {
        assert!(count[rule] >= least, "{rule}: {}", count[rule]);
    }
}

#[test]
fn threads_do_not_change_the_answer() {
    let one = run(1);
    let eight = run(8);
    for (_, format) in plugward_fence::Format::NAMES {
        assert_eq!(one.render(format), eight.render(format));
    }
}

#[test]
fn rustc_accepts_the_fixture() {
    let target = tempfile::tempdir().unwrap();
    let cargo = std::env::var_os("CARGO").unwrap();
    let output = Command::new(cargo)
        .args(["check", "--offline", "--quiet", "--workspace"])
        .current_dir(root())
        .env("CARGO_TARGET_DIR", target.path())
        .env_remove("RUSTFLAGS")
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

/// Checks the same code in memory, with the names of types, functions and crates replaced.
#[test]
fn names_are_not_built_in() {
    let plain = files();
    let mut renamed: BTreeMap<String, Vec<u8>> = BTreeMap::new();
    let swap = |text: &str| {
        let mut text = text.to_owned();
        for (from, to) in SWAPS {
            text = text.replace(from, to);
        }
        text
    };
    let mut wanted = BTreeSet::new();
    for (path, text) in &plain {
        // `stranger` and the fake format crate keep their names: neither is a scanned crate.
        let text = swap(text);
        if !path.starts_with("stranger/") {
            wanted.extend(marks(path, &text));
        }
        renamed.insert(path.clone(), text.into_bytes());
    }
    // The test on disk covers the rules that need callers or a race type in the config.
    wanted.retain(|(_, _, rule)| rule != "F12" && rule != "E01");
    let normal = DependencyKind::Normal;
    let packages = [
        PackageSpec::new("qv9", "caps"),
        PackageSpec::new("qraces", "races"),
        PackageSpec::new("qfacade", "facade").depends_on("qv9", None, normal),
        PackageSpec::new("quser", "user")
            .depends_on("qv9", None, normal)
            .depends_on("qfacade", None, normal)
            .depends_on("qraces", None, normal)
            .depends_on("qhelpers", None, normal),
        PackageSpec::new("qrenamed", "renamed")
            .depends_on("qv9", Some("qgrants"), normal)
            .depends_on("qfacade", None, normal),
        PackageSpec::new("stranger", "stranger"),
        PackageSpec::new("qhelpers", "helpers"),
        PackageSpec::new("serde_json", "serde_json"),
    ];
    let sources = Sources::in_memory(&packages, &renamed);
    let mut config = FenceConfig::for_crates(&["qv9"]);
    config.type_glob = "Tok*en".to_owned();
    config.require_forbid_unsafe = false;
    let mut found = reported(&check(&sources, &config));
    found.retain(|(_, _, rule)| rule != "F12");
    same(&wanted, &found);
}

/// Old and new names of crates, types and functions. A name that contains another precedes it.
const SWAPS: &[(&str, &str)] = &[
    ("NetCapability", "TokQnen"),
    ("PairCapability2", "Pairs2"),
    ("PairCapability", "TokQpen"),
    ("UnitCapability", "TokQuen"),
    ("KindCapability", "TokQken"),
    ("FreshCapability", "TokFen"),
    ("GhostCapability", "TokGen"),
    ("OtherCapability", "TokOen"),
    ("RawCapability", "TokRen"),
    ("HiddenCapability", "TokHen"),
    ("InsideCapability", "TokIen"),
    ("DeepCapability", "TokDen"),
    ("TestCapability", "TokTen"),
    ("SomeCapability", "TokSen"),
    ("AliasCapability", "TokAen"),
    ("wcaps", "qv9"),
    ("grants", "qgrants"),
    ("facade", "qfacade"),
    ("helpers", "qhelpers"),
    ("open_net", "qfree"),
    ("try_new", "qtry"),
    ("Remake", "Qremade"),
    ("remake", "qremade"),
];
