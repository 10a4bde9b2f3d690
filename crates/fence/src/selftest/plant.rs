//! Fills the planted cases with names, checks them in memory, and compares the report with the marks.

use std::collections::{BTreeMap, BTreeSet};

use super::CaseResult;
use super::cases::{BUILD, CAPS, CASES, Case, DEFINITIONS, MANIFESTS, RACES};
use crate::config::{AllowEntry, FenceConfig, RaceConfig, glob_with_stem};
use crate::input::{DependencyKind, Manifest, PackageSpec, Sources};
use crate::report::FenceReport;
use crate::rules::DisabledRules;
use crate::run::{self, RunOptions};

/// The names that one run of the cases uses.
pub(super) struct CaseNames {
    label: &'static str,
    words: Vec<(&'static str, String)>,
    krate: String,
}

/// Returns two sets of names: those of the workspace, and made-up ones.
///
/// The second set shows that no rule depends on a name that the first set has by chance.
pub(super) fn names(types: &[String], config: &FenceConfig) -> Vec<CaseNames> {
    let of_glob = |stem: &str| config.type_glob.replace('*', stem);
    let own = types.first().filter(|name| glob_with_stem(&config.type_glob, name));
    let own = own.cloned().unwrap_or_else(|| of_glob("Own"));
    let krate = config.capability_crates.first().cloned().unwrap_or_else(|| "own-caps".to_owned());
    vec![
        set("own", &own, &krate, &of_glob, ["Pair", "Unit", "Either", "make_one"]),
        set("other", &of_glob("Zyx"), "zyx-grants", &of_glob, ["Zyp", "Zyu", "Zye", "zyc"]),
    ]
}

fn set(
    label: &'static str,
    own: &str,
    krate: &str,
    of_glob: &dyn Fn(&str) -> String,
    [pair, unit, either, constructor]: [&str; 4],
) -> CaseNames {
    // A stem that the workspace itself uses would define a name twice.
    let apart = |stem: &str| {
        let name = of_glob(stem);
        if name == own { of_glob(&format!("{stem}{stem}")) } else { name }
    };
    let words = vec![
        ("__T__", own.to_owned()),
        ("__P__", apart(pair)),
        ("__U__", apart(unit)),
        ("__E__", apart(either)),
        ("__N__", apart("Fresh")),
        ("__CTOR__", constructor.to_owned()),
        ("__FREE__", format!("{constructor}_freely")),
        ("__KRATE__", krate.to_owned()),
        ("__C__", krate.replace('-', "_")),
    ];
    CaseNames { label, words, krate: krate.to_owned() }
}

impl CaseNames {
    fn fill(&self, text: &str, config: &FenceConfig) -> String {
        let mut out = text.to_owned();
        for (word, name) in &self.words {
            out = out.replace(word, name);
        }
        let feature = config.test_only_features.first().map_or("test-util", String::as_str);
        let member = config.forbidden_members.first().map_or("push", String::as_str);
        out.replace("__FEATURE__", feature).replace("__FORBIDDEN__", member)
    }
}

fn file_of(case: &Case) -> String {
    format!("user/src/{}.rs", case.name.replace(['/', '-'], "_").to_lowercase())
}

/// Checks all cases with one set of names.
pub(super) fn answers(names: &CaseNames, config: &FenceConfig, off: DisabledRules) -> Vec<CaseResult> {
    let mut files: BTreeMap<String, Vec<u8>> = BTreeMap::new();
    let mut put = |path: &str, text: &str| {
        files.insert(path.to_owned(), names.fill(text, config).into_bytes());
    };
    put("caps/src/lib.rs", CAPS);
    put("definitions/src/lib.rs", "pub mod planted;");
    put("definitions/src/planted.rs", "pub struct Grant { raw: u32 }\n");
    put("races/src/lib.rs", RACES);
    put("user/build.rs", BUILD);
    put("user/src/lib.rs", "#![forbid(unsafe_code)]\n");
    put("user/src/parts/f08_part.in", "pub fn part() -> u32 { 1 }\n");
    for (name, text) in DEFINITIONS {
        put(&format!("definitions/src/{name}.rs"), text);
    }
    for case in CASES {
        put(&file_of(case), case.text);
    }
    let manifests: Vec<(&str, String)> =
        MANIFESTS.iter().map(|(path, text)| (*path, names.fill(text, config))).collect();
    let report = look(names, config, off, &files, &manifests);
    judge(names, config, &files, &manifests, &report)
}

fn look(
    names: &CaseNames,
    config: &FenceConfig,
    off: DisabledRules,
    files: &BTreeMap<String, Vec<u8>>,
    manifests: &[(&str, String)],
) -> FenceReport {
    let definitions = format!("{}-definitions", names.krate);
    let normal = DependencyKind::Normal;
    let packages = [
        PackageSpec::new(&names.krate, "caps"),
        PackageSpec::new(&definitions, "definitions"),
        PackageSpec::new("planted-races", "races"),
        PackageSpec::new("planted-user", "user").depends_on(&names.krate, None, normal).depends_on(
            "planted-races",
            None,
            normal,
        ),
    ];
    let mut sources = Sources::in_memory(&packages, files);
    let manifest = |wanted: &str| {
        manifests
            .iter()
            .find(|(path, _)| *path == wanted)
            .map(|(path, text)| Manifest { path: (*path).into(), text: text.clone() })
    };
    sources.root = manifest("Cargo.toml");
    sources.lock = manifest("Cargo.lock");
    sources.cargo_config = manifest(".cargo/config.toml").into_iter().collect();
    for (package, slot) in packages.iter().zip(&mut sources.manifests) {
        *slot = manifest(&format!("{}/Cargo.toml", package.dir));
    }
    let planted = planted_config(names, config, definitions);
    // One thread is enough for some small files, and it keeps the self-test cheap.
    run::run(&sources, &planted, RunOptions { threads: 1, off, ..RunOptions::default() })
}

/// Keeps the settings that a case depends on and turns every rule on.
fn planted_config(names: &CaseNames, config: &FenceConfig, definitions: String) -> FenceConfig {
    let mut planted = FenceConfig::for_crates(&[]);
    planted.capability_crates = vec![names.krate.clone(), definitions];
    planted.type_glob.clone_from(&config.type_glob);
    planted.test_attributes.clone_from(&config.test_attributes);
    planted.forbidden_members.clone_from(&config.forbidden_members);
    planted.test_only_features.clone_from(&config.test_only_features);
    planted.extra_derives.clone_from(&config.extra_derives);
    planted.grant_type = Some("Grant".to_owned());
    planted.mint_callers = vec!["planted_user::f12_near_listed::*".to_owned()];
    planted.race = Some(RaceConfig {
        crates: vec!["planted-races".to_owned()],
        ty: "Place".to_owned(),
        methods: vec!["open".to_owned()],
        unique_methods: vec!["open_as_seen".to_owned()],
        names: vec!["Race".to_owned(), "is_race".to_owned()],
    });
    "planted config".clone_into(&mut planted.origin);
    planted.today = Some("2026-01-01".to_owned());
    planted.allow = [(2, "2026-01-01"), (1, "2025-12-31"), (1, "2026-01-01")]
        .into_iter()
        .zip([("f07_f13_count", 1), ("f07_f13_expired", 2), ("f07_near_f13", 3)])
        .map(|((count, expires), (file, line))| AllowEntry {
            rule: "F07".to_owned(),
            path: format!("user/src/{file}.rs"),
            item: None,
            count,
            reason: "planted".to_owned(),
            expires: expires.to_owned(),
            line,
        })
        .collect();
    planted
}

/// Compares the marked lines with the reported ones.
fn judge(
    names: &CaseNames,
    config: &FenceConfig,
    files: &BTreeMap<String, Vec<u8>>,
    manifests: &[(&str, String)],
    report: &FenceReport,
) -> Vec<CaseResult> {
    let mut answers = Vec::new();
    let texts = CASES.iter().map(|case| {
        let path = file_of(case);
        let text = files.get(&path).map(|bytes| String::from_utf8_lossy(bytes).into_owned());
        (case.name.to_owned(), path, text.unwrap_or_default())
    });
    let definitions = DEFINITIONS.iter().map(|(name, text)| {
        let rule = if name.starts_with("grants") { "F10" } else { "F09" };
        (format!("{rule}/{name}"), format!("definitions/src/{name}.rs"), names.fill(text, config))
    });
    let manifests =
        manifests.iter().map(|(path, text)| (format!("F11/{path}"), (*path).to_owned(), text.clone()));
    let build =
        [("F11/build.rs".to_owned(), "user/build.rs".to_owned(), names.fill(BUILD, config))].into_iter();
    for (name, path, text) in texts.chain(definitions).chain(manifests).chain(build) {
        let wanted = marked_lines(&text);
        let found: BTreeSet<(u32, String)> = report
            .findings()
            .iter()
            .filter(|finding| finding.site.file == path)
            .map(|finding| (finding.site.line, finding.rule.to_string()))
            .collect();
        let held = wanted == found;
        let note = if held { String::new() } else { format!("expected {wanted:?}, found {found:?}") };
        answers.push(CaseResult { name: format!("{name} ({})", names.label), held, note });
    }
    for (name, line, wanted) in
        [("F13/count", 1, true), ("F13/expired", 2, true), ("F13/near-fits", 3, false)]
    {
        let found = report
            .findings()
            .iter()
            .any(|finding| finding.rule == crate::LintRule::F13 && finding.site.line == line);
        let note = if found == wanted { String::new() } else { format!("expected {wanted}, found {found}") };
        answers.push(CaseResult { name: format!("{name} ({})", names.label), held: found == wanted, note });
    }
    answers
}

/// Returns the lines that end in a mark such as `~ F01`, with the marked rule.
fn marked_lines(text: &str) -> BTreeSet<(u32, String)> {
    let mut lines = BTreeSet::new();
    for (index, line) in text.lines().enumerate() {
        let Some((_, rules)) = line.rsplit_once("~ ") else { continue };
        for rule in rules.split_whitespace().filter(|rule| crate::LintRule::from_code(rule).is_some()) {
            let number = u32::try_from(index).unwrap_or(u32::MAX).saturating_add(1);
            lines.insert((number, rule.to_owned()));
        }
    }
    lines
}
