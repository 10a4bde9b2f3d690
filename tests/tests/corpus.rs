//! Manifests that people really have.

use plugward_loader::manifest::Dialect;
use plugward_loader::pinstore::Scope;
use plugward_loader::sandbox_path::{Jail, Policy};
use plugward_loader::{Decision, Host, NoGrants, NobodyThere, Root, Stores, Unwatched, Writes, check};
use plugward_tests::{Run, options};

#[test]
fn every_real_manifest_parses_and_nothing_is_refused() {
    let Some(corpus) = plugward_tests::shared("corpus") else {
        println!("skipped: this machine has no corpus beside the checkout");
        return;
    };
    let jail = Jail::open_following(&corpus, Policy::standard()).unwrap();
    let root = Root {
        label: "corpus".into(),
        source: "corpus".into(),
        scope: Scope::USER,
        place: Scope::USER,
        jail,
    };
    let mut options = options(&Run::default());
    options.writes = Writes::LookOnly;
    let mut host = Host { watch: &Unwatched, person: &mut NobodyThere, grants: &NoGrants };
    let report = check(&[root], &mut Stores::nothing(), &options, &mut host);
    let refused: Vec<String> = report
        .plugins
        .iter()
        .filter(|plugin| plugin.decision != Decision::Load)
        .map(|plugin| format!("{} in {}: {:?}", plugin.id, plugin.path, plugin.reasons))
        .collect();
    let count = |dialect: Dialect| report.plugins.iter().filter(|p| p.dialect == dialect.as_str()).count();
    println!("{} claude, {} hyperagent", count(Dialect::Claude), count(Dialect::Hyperagent));
    // A fixture of its origin that lacks the keys which would say whose it is.
    assert_eq!(refused.len(), 1, "{refused:#?}");
    assert!(
        refused[0].contains("tests/fixtures/broken-plugin") && refused[0].contains("manifest/missing-key")
    );
    assert!(count(Dialect::Claude) >= 170 && count(Dialect::Hyperagent) >= 6);
}
