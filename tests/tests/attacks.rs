//! The attacks and ordinary plugins in `fixtures/`: each attack reaches its tier, and each ordinary plugin loads.

use core::fmt::Write as _;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use plugward_loader::{Decision, PluginReport, Report};
use plugward_tests::{Bench, Run};

/// At least this many attacks are refused or asked about.
const ATTACKS_FOUND: usize = 60;
/// The share of attacks, in percent, that are refused or asked about.
const SHARE_FOUND: usize = 90;

/// What the scan makes of a plugin, from the least to the most severe.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Tier {
    Missed,
    Suspicious,
    Danger,
}

impl Tier {
    fn from_word(word: &str) -> Self {
        match word {
            "missed" => Self::Missed,
            "suspicious" => Self::Suspicious,
            "danger" => Self::Danger,
            other => panic!("no such tier: {other}"),
        }
    }

    fn reached(plugin: &PluginReport) -> Self {
        let has = |code: &str| plugin.reasons.iter().any(|reason| reason.code == code);
        if has("scan/danger") {
            Self::Danger
        } else if has("scan/suspicious") {
            Self::Suspicious
        } else {
            Self::Missed
        }
    }
}

fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../fixtures")
}

/// The rows of a table without its heading, each with its columns.
fn table(name: &str) -> Vec<Vec<String>> {
    let text = fs::read_to_string(fixtures().join(name)).unwrap();
    let rows: Vec<Vec<String>> =
        text.lines().map(|line| line.split('\t').map(str::to_owned).collect()).collect();
    assert!(rows.iter().all(|row| row.len() == rows[0].len()), "{name}: rows differ in length");
    rows[1..].to_vec()
}

/// The names of the plugin directories, sorted by their numbers.
fn directories(set: &str) -> Vec<String> {
    let mut names: Vec<String> = fs::read_dir(fixtures().join(set))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    // Numbers have no leading zeros beyond two digits, so the shorter number is the smaller one.
    names.sort_by_key(|name| (name.find('-'), name.clone()));
    names
}

/// Copies a directory with permissions that do not depend on the user's umask.
fn copy(from: &Path, to: &Path) {
    fs::create_dir(to).unwrap();
    fs::set_permissions(to, fs::Permissions::from_mode(0o755)).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), &target).unwrap();
            let executable = entry.metadata().unwrap().permissions().mode() & 0o100 != 0;
            let mode = if executable { 0o755 } else { 0o644 };
            fs::set_permissions(&target, fs::Permissions::from_mode(mode)).unwrap();
        }
    }
}

/// Runs the reference loader over each plugin of a set by itself, as a first check under `tofu`.
fn reports(set: &str) -> Vec<(String, Report)> {
    let check = |name: &String| {
        let bench = Bench::new();
        copy(&fixtures().join(set).join(name), &bench.plugins.join(name));
        (name.clone(), bench.check(&Run::default()))
    };
    directories(set).iter().map(check).collect()
}

/// The only plugin of a report.
fn only<'r>(name: &str, report: &'r Report) -> &'r PluginReport {
    assert_eq!(report.plugins.len(), 1, "{name} is not exactly one plugin: {:?}", report.skipped);
    &report.plugins[0]
}

/// The reasons and the finding rules of a plugin, for a person.
fn explained(plugin: &PluginReport) -> String {
    let mut out = String::new();
    for reason in &plugin.reasons {
        write!(out, " {} ({})", reason.code, reason.message.lines().next().unwrap_or_default()).unwrap();
    }
    let mut rules: Vec<String> =
        plugin.findings.iter().map(|finding| format!("{} {:?}", finding.rule, finding.severity)).collect();
    rules.sort();
    rules.dedup();
    write!(out, " [{}]", rules.join(", ")).unwrap();
    out
}

#[test]
fn each_attack_reaches_its_tier() {
    let rows = table("attacks.tsv");
    let mut wrong = String::new();
    let mut found = 0;
    for (name, report) in reports("attacks") {
        let expected = rows.iter().find(|row| row[0] == name).map(|row| Tier::from_word(&row[2]));
        let expected = expected.unwrap_or_else(|| panic!("{name} is not in attacks.tsv"));
        let plugin = only(&name, &report);
        let reached = Tier::reached(plugin);
        found += usize::from(reached > Tier::Missed);
        if reached < expected {
            let why = explained(plugin);
            writeln!(wrong, "{name}: expected {expected:?}, reached {reached:?}:{why}").unwrap();
        } else if expected == Tier::Missed && reached > Tier::Missed {
            writeln!(wrong, "{name}: listed as missed, but reached {reached:?}: change the table").unwrap();
        }
    }
    let all = rows.len();
    println!("{found} of {all} attacks are refused or asked about");
    let share = found * 100 >= all * SHARE_FOUND;
    assert!(
        wrong.is_empty() && found >= ATTACKS_FOUND && share,
        "{found} of {all} attacks are refused or asked about; {} differ:\n{wrong}",
        wrong.lines().count()
    );
}

#[test]
fn each_ordinary_plugin_loads_without_a_question() {
    let mut wrong = String::new();
    let all = reports("ordinary");
    for (name, report) in &all {
        let plugin = only(name, report);
        if plugin.decision != Decision::Load {
            writeln!(wrong, "{name}: {:?}:{}", plugin.decision, explained(plugin)).unwrap();
        }
    }
    let count = wrong.lines().count();
    assert!(wrong.is_empty(), "{count} of {} ordinary plugins do not load:\n{wrong}", all.len());
}

#[test]
fn an_update_from_the_honest_to_the_malicious_release_differs_from_its_pin() {
    let bench = Bench::new();
    let plugin = bench.plugins.join("pocket-tasks");
    copy(&fixtures().join("ordinary/10-rug-pull-v1"), &plugin);
    let first = bench.check(&Run::default());
    assert_eq!(only("v1", &first).decision, Decision::Load, "{first:?}");
    fs::remove_dir_all(&plugin).unwrap();
    copy(&fixtures().join("attacks/14-rug-pull-v2"), &plugin);
    let second = bench.check(&Run::default());
    let v2 = only("v2", &second);
    assert!(v2.reasons.iter().any(|reason| reason.code == "pin/changed"), "{v2:?}");
    assert_eq!(v2.decision, Decision::Refuse, "{v2:?}");
}

#[test]
fn tables_and_directories_of_fixtures_are_the_same_set() {
    let attacks = table("attacks.tsv");
    let ordinary = table("ordinary.tsv");
    let ids = |rows: &[Vec<String>]| rows.iter().map(|row| row[0].clone()).collect::<Vec<_>>();
    assert_eq!(ids(&attacks), directories("attacks"));
    assert_eq!(ids(&ordinary), directories("ordinary"));
    for row in &attacks {
        let missed = Tier::from_word(&row[2]) == Tier::Missed;
        assert_eq!(missed, row[6] != "-", "{}: exactly the missed attacks have a reason", row[0]);
        assert!(row[5].split(' ').all(|url| url.starts_with("https://")), "{}: {}", row[0], row[5]);
    }
    let twins: Vec<&str> = ordinary.iter().flat_map(|row| row[1].split(' ')).collect();
    let unknown: Vec<_> =
        twins.iter().filter(|id| !ids(&attacks).iter().any(|attack| attack == **id)).collect();
    assert!(unknown.is_empty(), "twins of attacks that do not exist: {unknown:?}");
    let alone: Vec<_> = ids(&attacks).into_iter().filter(|id| !twins.contains(&id.as_str())).collect();
    assert!(alone.is_empty(), "attacks without an ordinary twin: {alone:?}");
}
