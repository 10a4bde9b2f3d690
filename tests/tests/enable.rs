//! The clearance with which a host enables a plugin.

use plugward_loader::lifecycle::{AuditFacts, PluginContents};
use plugward_loader::pinstore::{AuditVerdict, Risk};
use plugward_loader::{
    Confirmation, DeclaredModules, LoadedPlugin, Outcome, TreeDigest, clear, contents_of, static_facts,
};
use plugward_tests::{Bench, Bit, Run, Step};

fn loaded() -> LoadedPlugin {
    let write = |path: &str, text: &str| Step::Write {
        path: path.to_owned(),
        text: text.to_owned(),
        executable: Bit::Off,
    };
    let manifest = r#"{"name":"a","version":"1.0.0","description":"d","hostModules":["fs"]}"#;
    let plugins = vec![write("a/plugin.json", manifest), write("a/index.js", "export const x = 1;\n")];
    let (bench, run) = (Bench::new(), Run { plugins, ..Run::default() });
    let mut stores = bench.stores(&run);
    plugward_tests::apply(&bench.plugins, &run.plugins);
    let checked = bench.load(&run, &mut stores, &mut bench.options(&run), &DeclaredModules);
    let mut outcomes = checked.into_outcomes();
    match outcomes.next() {
        Some(Outcome::Load(plugin)) => plugin,
        _ => panic!("the plugin loads"),
    }
}

#[test]
fn a_clearance_needs_a_confirmation_of_these_contents() {
    let plugin = loaded();
    let contents = contents_of(plugin.report()).unwrap();
    let zero: TreeDigest = format!("pt1:{}", "0".repeat(64)).parse().unwrap();
    let shared = [("../shared".to_owned(), zero)].into();
    let other = PluginContents { shared, ..contents.clone() };
    let scan = static_facts(plugin.report(), &contents);
    let code = |max, confirmation| clear(&plugin, &scan, max, confirmation).map_err(|error| error.code());
    assert_eq!(code(Risk::Critical, Confirmation::NotGiven).unwrap_err(), "lifecycle/not-confirmed");
    assert_eq!(
        code(Risk::Critical, Confirmation::Given(other.clone())).unwrap_err(),
        "lifecycle/other-bytes"
    );
    let clearance = code(Risk::Low, Confirmation::Given(contents.clone())).unwrap();
    assert_eq!(*clearance.contents(), contents);
    // The audit of other contents does not count, and one of these contents can only be worse than the scan.
    for (audit, expected) in [
        (AuditFacts { contents: other, ..scan.clone() }, "lifecycle/other-bytes"),
        (AuditFacts { risk: Risk::High, ..scan.clone() }, "lifecycle/risk"),
        (AuditFacts { verdict: AuditVerdict::Reject, ..scan.clone() }, "lifecycle/rejected"),
    ] {
        let confirmed = Confirmation::Given(contents.clone());
        assert_eq!(clear(&plugin, &audit, Risk::Medium, confirmed).unwrap_err().code(), expected);
    }
}
