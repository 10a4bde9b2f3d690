//! Fills the planted cases with names, checks them in memory, and compares the report with the marks.

use std::collections::{BTreeMap, BTreeSet};

use super::CaseResult;
use crate::config::{FenceConfig, glob_with_stem};
use crate::input::{DependencyKind, Manifest, PackageSpec, Sources};
use crate::report::FenceReport;
use crate::run::{self, RunOptions};

/// The files of the planted workspace, each after a line with its path.
///
/// A line that ends in `~ F01` must be reported by rule F01, and no other line may be.
const PLANTED: &str = include_str!("planted.txt");

/// Runs the planted cases with two sets of names: those of the workspace, and made-up ones.
///
/// The second set shows that no rule depends on a name that the first set has by chance.
pub(super) fn run(types: &[String], config: &FenceConfig) -> Vec<CaseResult> {
    let of_glob = |stem: &str| config.type_glob.replace('*', stem);
    let own = types.first().filter(|name| glob_with_stem(&config.type_glob, name));
    let own = own.cloned().unwrap_or_else(|| of_glob("Own"));
    let krate = config.capability_crates.first().map_or("own-caps", String::as_str);
    let mut answers = answers(&own, krate, config);
    answers.extend(self::answers(&of_glob("Zyx"), "zyx-grants", config));
    answers
}

/// Checks all cases with one name for the capability type and its crate.
fn answers(own: &str, krate: &str, config: &FenceConfig) -> Vec<CaseResult> {
    // A stem that the workspace itself uses would define a name twice.
    let apart = |stem: &str| {
        let name = config.type_glob.replace('*', stem);
        if name == own { config.type_glob.replace('*', &format!("{stem}{stem}")) } else { name }
    };
    let feature = config.test_only_features.first().map_or("test-util", String::as_str);
    let mut text = PLANTED.replace("__T__", own);
    for (word, name) in [
        ("__P__", apart("Pair")),
        ("__U__", apart("Unit")),
        ("__E__", apart("Either")),
        ("__N__", apart("Fresh")),
        ("__KRATE__", krate.to_owned()),
        ("__C__", krate.replace('-', "_")),
        ("__FEATURE__", feature.to_owned()),
    ] {
        text = text.replace(word, &name);
    }
    let mut files: BTreeMap<String, Vec<u8>> = BTreeMap::new();
    for file in text.split("==> ").skip(1) {
        let (path, text) = file.split_once('\n').unwrap_or((file, ""));
        files.insert(path.to_owned(), text.as_bytes().to_vec());
    }
    let report = check(krate, config, &files);
    files.iter().map(|(path, text)| judge(path, text, own, &report)).collect()
}

fn check(krate: &str, config: &FenceConfig, files: &BTreeMap<String, Vec<u8>>) -> FenceReport {
    let definitions = format!("{krate}-definitions");
    let normal = DependencyKind::Normal;
    let user = PackageSpec::new("planted-user", "user");
    let packages = [
        PackageSpec::new(krate, "caps"),
        PackageSpec::new(&definitions, "definitions"),
        PackageSpec::new("planted-races", "races"),
        user.depends_on(krate, None, normal).depends_on("planted-races", None, normal),
    ];
    let mut sources = Sources::in_memory(&packages, files);
    let manifest = |path: &str| {
        let text = String::from_utf8_lossy(files.get(path)?).into_owned();
        Some(Manifest { path: path.into(), text })
    };
    sources.root = manifest("Cargo.toml");
    sources.lock = manifest("Cargo.lock");
    sources.cargo_config = manifest(".cargo/config.toml").into_iter().collect();
    for package in &mut sources.packages {
        package.manifest = manifest(&format!("{}/Cargo.toml", package.dir));
    }
    let settings = String::from_utf8_lossy(files.get("fence.toml").map(Vec::as_slice).unwrap_or_default());
    // Planted settings that cannot be read turn every rule off, so that no case is answered.
    let planted = FenceConfig::parse(&settings, "fence.toml").unwrap_or_default();
    let planted = FenceConfig {
        type_glob: config.type_glob.clone(),
        test_attributes: config.test_attributes.clone(),
        test_only_features: config.test_only_features.clone(),
        today: Some("2026-01-01".to_owned()),
        ..planted
    };
    // One thread is enough for some small files, and it keeps the self-test cheap.
    run::run(&sources, &planted, RunOptions { threads: 1, ..RunOptions::default() })
}

/// Compares the marked lines of a file with the reported ones.
fn judge(path: &str, text: &[u8], own: &str, report: &FenceReport) -> CaseResult {
    let text = String::from_utf8_lossy(text);
    let marked = text
        .lines()
        .zip(1_u32..)
        .filter_map(|(line, number)| line.rsplit_once("~ ").map(|(_, rule)| (number, rule.to_owned())));
    let wanted: BTreeSet<(u32, String)> = marked.collect();
    let of_file = report.findings().iter().filter(|finding| finding.site.file == path);
    let found: BTreeSet<(u32, String)> =
        of_file.map(|finding| (finding.site.line, finding.rule.to_string())).collect();
    let rules: BTreeSet<&str> = wanted.iter().map(|(_, rule)| rule.as_str()).collect();
    let rules =
        if rules.is_empty() { "near".to_owned() } else { rules.into_iter().collect::<Vec<_>>().join(" ") };
    let note = format!("expected {wanted:?}, found {found:?}");
    CaseResult { name: format!("{rules}/{path} ({own})"), held: wanted == found, note }
}
