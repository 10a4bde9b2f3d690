//! Manifests that people really have.

use plugward_loader::manifest::Dialect;
use plugward_loader::sandbox_path::{Jail, Policy};
use plugward_loader::{
    CheckMode, Decision, Host, NoGrants, NoPerson, NoWatch, PlacePath, Root, Stores, check,
};
use plugward_tests::{Run, options};

const MISSING: &str = "surface/missing-program";
/// A script of `bun run` in a plugin of which the corpus has no package.json is looked up above the plugin.
const NO_SCRIPTS: &str = "/package.json (no pin covers it)";

#[test]
fn every_real_manifest_parses_and_nothing_is_refused() {
    let Some(corpus) = plugward_tests::shared("corpus") else {
        println!("skipped: this machine has no corpus beside the checkout");
        return;
    };
    let corpus = std::fs::canonicalize(corpus).unwrap();
    let jail = Jail::open(&corpus, Policy::standard()).unwrap();
    let root = Root::placed(jail, PlacePath::new(corpus.to_str().unwrap()).unwrap());
    let mut options = options(&Run::default(), &corpus);
    options.writes = CheckMode::LookOnly;
    let mut host = Host { watch: &NoWatch, person: &mut NoPerson, grants: &NoGrants };
    let report = check(&[root], &mut Stores::nothing(), &options, &mut host);
    let refused: Vec<String> = report
        .plugins
        .iter()
        .filter(|plugin| plugin.decision != Decision::Load)
        .filter(|plugin| {
            plugin.reasons.iter().any(|reason| reason.code != MISSING && !reason.message.contains(NO_SCRIPTS))
        })
        .map(|plugin| format!("{} in {}: {:?}", plugin.id, plugin.path, plugin.reasons))
        .collect();
    let missing: Vec<(&str, &str)> = report
        .plugins
        .iter()
        .flat_map(|plugin| plugin.reasons.iter().map(move |reason| (plugin, reason)))
        .filter(|(_, reason)| reason.code == MISSING)
        .map(|(plugin, reason)| {
            let program = reason.message.split('`').nth(1).unwrap();
            (plugin.path.strip_prefix("corpus/").unwrap(), program)
        })
        .collect();
    let count =
        |dialect: Dialect| report.plugins.iter().filter(|p| p.dialects.contains(&dialect.as_str())).count();
    println!("{} claude, {} hyperagent", count(Dialect::Claude), count(Dialect::Hyperagent));
    // A fixture of its origin that lacks the keys which would say whose it is.
    assert_eq!(refused.len(), 1, "{refused:#?}");
    assert!(
        refused[0].contains("tests/fixtures/broken-plugin") && refused[0].contains("manifest/missing-key")
    );
    // The corpus consists of manifests, so the programs that they start are missing indeed.
    assert!(missing.len() >= 28, "{missing:#?}");
    for (plugin, program) in &missing {
        assert!(!corpus.join(plugin).join(program).exists(), "{program} is there: {plugin}");
    }
    assert!(count(Dialect::Claude) >= 170 && count(Dialect::Hyperagent) >= 6);
}
