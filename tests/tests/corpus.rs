//! Manifests that people really have.

use plugward_loader::manifest::Dialect;
use plugward_loader::pinstore::{Scope, StoreErrorRule, Timestamp};
use plugward_loader::sandbox_path::{Jail, Policy};
use plugward_loader::tree_lock::{Excludes, Limits};
use plugward_loader::{
    CheckOptions, Decision, NobodyThere, PinStore, Root, Trust, Unwatched, Whole, Writes, check,
};

#[test]
fn every_real_manifest_parses_and_nothing_is_refused() {
    let Some(corpus) = plugward_tests::shared("corpus") else {
        println!("skipped: this machine has no corpus beside the checkout");
        return;
    };
    let jail = Jail::open_following(&corpus, Policy::standard()).unwrap();
    let root = Root { label: "corpus".into(), source: "corpus".into(), scope: Scope::USER, jail };
    let options = CheckOptions {
        trust: Trust::Tofu,
        on_store_error: StoreErrorRule::Refuse,
        whole: Whole::EachAlone,
        keep: plugward_loader::Keep::Nothing,
        writes: Writes::LookOnly,
        dialect: None,
        enabled: None,
        excludes: Excludes::none(),
        tree: Limits::standard(),
        scan: plugward_loader::scanner::Limits::DEFAULT,
        jobs: std::num::NonZeroUsize::MIN,
        packages: Vec::new(),
        suppressions: Vec::new(),
        now: Timestamp::from_unix(0).unwrap(),
        by: String::new(),
    };
    let report = check(&[root], &mut PinStore::empty(), &options, &Unwatched, &mut NobodyThere);
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
