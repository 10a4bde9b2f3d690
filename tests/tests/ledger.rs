//! What the loader writes down, and that nothing loads without it.

use plugward_loader::capability::{
    AnyCapability, AnyScope, Lifetime, ModuleOp, ModuleScope, ScopeError, UseCheck, review,
};
use plugward_loader::ledger::{
    LedgerEvent, LedgerFiles, LedgerRecord as Line, LoadVerdict, UseOutcome, VerifyPlan,
};
use plugward_loader::{
    CheckMode, CheckResult, Decision, DeclaredModules, Dir, Grants, LoadedPlugin, Outcome as Checking,
    PluginReport, Record, ambient_authority,
};
use plugward_tests::{Bench, Bit, Run, Step};

fn write(path: &str, text: &str) -> Step {
    Step::Write { path: path.to_owned(), text: text.to_owned(), executable: Bit::Off }
}

/// A plugin that may register two modules, and one that asks for none.
fn two() -> Vec<Step> {
    vec![
        write(
            "a/plugin.json",
            r#"{"name":"a","version":"1.0.0","description":"d","hostModules":["fs","net"]}"#,
        ),
        write("a/index.js", "export const x = 1;\n"),
        write("b/.claude-plugin/plugin.json", r#"{ "name": "b" }"#),
    ]
}

fn run() -> Run {
    Run { plugins: two(), ..Run::default() }
}

/// The plugins that load, in the order of the report.
fn loaded(checked: CheckResult) -> Vec<LoadedPlugin> {
    let outcomes = checked.into_outcomes().filter_map(|outcome| match outcome {
        Checking::Load(loaded) => Some(loaded),
        Checking::Ask { .. } | Checking::Refuse { .. } => None,
    });
    outcomes.collect()
}

fn types(events: &[LedgerEvent]) -> Vec<&'static str> {
    events.iter().map(LedgerEvent::type_name).filter(|name| *name != "checkpoint").collect()
}

#[test]
fn a_load_is_on_the_record_before_it_counts() {
    let bench = Bench::new();
    let report = bench.run(&run());
    assert_eq!(report.exit, 0, "{report:?}");
    let events = bench.recorded();
    assert_eq!(
        types(&events),
        [
            "ledger_opened",
            "workflow_opened",
            "capability_minted",
            "bundle_minted",
            "pin_enrolled",
            "pin_enrolled",
            "plugins_loaded",
            "decision",
            "decision"
        ]
    );
    let granted: Vec<_> = report.plugins.iter().flat_map(|plugin| &plugin.capabilities).collect();
    assert_eq!(granted.len(), 1);
    assert_eq!(
        (granted[0].kind.as_str(), granted[0].scope.as_str(), granted[0].serial),
        ("host-module", r#"{"names":["fs","net"]}"#, 1)
    );
    let Some(LedgerEvent::PinEnrolled { plugin, digest, .. }) = events.get(5) else { panic!("{events:?}") };
    assert_eq!(*plugin, bench.key("plugins/b").to_string());
    assert!(bench.pins().unwrap().contains(digest.as_str()));
}

#[test]
fn a_change_is_recorded_with_both_digests_and_the_pin_stays() {
    let bench = Bench::new();
    assert_eq!(bench.run(&run()).exit, 0);
    let pins = bench.pins();
    let report = bench.run(&Run { plugins: vec![write("b/new", "x")], ..Run::default() });
    assert_eq!((report.exit, bench.pins()), (4, pins.clone()));
    let events = bench.recorded();
    let refused = events.iter().find_map(|event| match event {
        LedgerEvent::PinRefused { plugin, digest, old } => {
            Some((plugin.clone(), digest.clone(), old.clone()))
        }
        _ => None,
    });
    let (plugin, digest, old) = refused.unwrap();
    let b = bench.key("plugins/b").to_string();
    assert_eq!(plugin, b);
    assert!(pins.unwrap().contains(&old.unwrap()) && digest.starts_with("pt1:"));
    let codes = events.iter().rev().find_map(|event| match event {
        LedgerEvent::Decision { plugin, codes, outcome: LoadVerdict::Refuse, .. } if *plugin == b => {
            Some(codes.clone())
        }
        _ => None,
    });
    assert_eq!(codes.unwrap(), ["pin/changed"]);
}

#[test]
fn a_look_writes_nothing_and_mints_nothing() {
    let bench = Bench::new();
    let run = run();
    let mut stores = bench.stores(&run);
    plugward_tests::apply(&bench.plugins, &run.plugins);
    let mut options = bench.options(&run);
    options.writes = CheckMode::LookOnly;
    let before = std::fs::read(bench.state.join("ledger.jsonl")).unwrap();
    let mut checked = bench.load(&run, &mut stores, &mut options, &DeclaredModules);
    assert_eq!(checked.report().summary.load, 2, "the verdicts are those of a check that writes");
    assert!(checked.take_workflow().is_none() && bench.pins().is_none());
    assert!(loaded(checked).is_empty(), "what is not on the record does not load");
    assert_eq!(std::fs::read(bench.state.join("ledger.jsonl")).unwrap(), before);
}

#[test]
fn without_a_ledger_nothing_loads_and_nothing_is_pinned() {
    let bench = Bench::new();
    let run = run();
    plugward_tests::apply(&bench.plugins, &run.plugins);
    let mut stores = bench.stores(&run);
    stores.record = Record::nowhere();
    let checked = bench.load(&run, &mut stores, &mut bench.options(&run), &DeclaredModules);
    let report = checked.report().clone();
    assert_eq!((report.exit, report.summary.load), (7, 0), "{report:?}");
    assert!(loaded(checked).is_empty() && bench.pins().is_none());
    let codes: Vec<_> = report.plugins.iter().map(|plugin| plugin.reasons[0].code.as_str()).collect();
    assert_eq!(codes, ["mint/no-record", "mint/no-record"]);
}

#[test]
fn a_broken_ledger_is_exit_7_and_is_left_as_it_is() {
    let bench = Bench::new();
    assert_eq!(bench.run(&run()).exit, 0);
    let path = bench.state.join("ledger.jsonl");
    let b = bench.key("plugins/b").to_string();
    let text = std::fs::read_to_string(&path).unwrap();
    assert!(text.contains(&b), "{text}");
    let text = text.replacen(&b, &bench.key("plugins/c").to_string(), 1);
    std::fs::write(&path, &text).unwrap();
    let report = bench.check(&Run::default());
    assert_eq!((report.exit, report.summary.load), (7, 0), "{report:?}");
    let reason = &report.plugins[0].reasons[0];
    assert_eq!((reason.code.as_str(), reason.gate.as_str()), ("ledger/broken", "mint"));
    assert_eq!(std::fs::read_to_string(&path).unwrap(), text);
    // The near miss: moved out of the way, as the help says, the next run starts a new one.
    std::fs::rename(&path, bench.config.join("kept.jsonl")).unwrap();
    for name in ["ledger.checkpoint", "ledger.lock"] {
        if bench.state.join(name).exists() {
            std::fs::remove_file(bench.state.join(name)).unwrap();
        }
    }
    assert_eq!(bench.check(&Run::default()).exit, 0);
}

#[test]
fn a_ledger_that_is_not_ours_stops_the_run() {
    let bench = Bench::new();
    let steps = vec![write("ledger.jsonl", "")];
    let mut state = steps;
    state.push(Step::Mode { path: "ledger.jsonl".into(), mode: 0o666 });
    let report = bench.run(&Run { state, ..run() });
    assert_eq!((report.exit, report.summary.load), (7, 0), "{report:?}");
    assert_eq!(report.plugins[0].reasons[0].code, "ledger/not-ours");
    assert!(bench.pins().is_none());
}

/// Grants something that is no scope, or more than the budget has.
struct Greedy(Vec<&'static str>);

impl Grants for Greedy {
    fn scopes(&self, _plugin: &PluginReport) -> Result<Vec<AnyScope>, ScopeError> {
        Ok(vec![AnyScope::HostModule(ModuleScope::new(&self.0)?)])
    }

    fn lifetime(&self, _plugin: &PluginReport) -> Lifetime {
        Lifetime::Workflow
    }
}

#[test]
fn a_grant_that_is_no_scope_or_over_the_budget_refuses_that_plugin_alone() {
    let bench = Bench::new();
    plugward_tests::apply(&bench.plugins, &two());
    let none = Run { max_mints: Some(0), ..Run::default() };
    let checked = bench.load(&none, &mut bench.stores(&none), &mut bench.options(&none), &DeclaredModules);
    let of = |name: &str| checked.report().plugins.iter().find(|plugin| plugin.name == name).unwrap();
    assert_eq!((of("b").decision, of("a").decision), (Decision::Load, Decision::Refuse));
    assert_eq!((of("a").reasons[0].code.as_str(), checked.report().exit), ("mint/over-budget", 5));
    let names = types(&bench.recorded());
    assert!(names.contains(&"mint_refused"), "{names:?}");
    assert_eq!(
        names.iter().filter(|name| **name == "pin_enrolled").count(),
        1,
        "the refused one is not enrolled"
    );
    let bench = Bench::new();
    plugward_tests::apply(&bench.plugins, &two());
    let run = Run::default();
    let greedy = Greedy(vec!["Not A Module"]);
    let checked = bench.load(&run, &mut bench.stores(&run), &mut bench.options(&run), &greedy);
    let report = checked.report();
    assert_eq!((report.exit, report.plugins[0].reasons[0].code.as_str()), (4, "scope/module"));
}

#[test]
fn what_was_minted_can_be_used_until_the_work_is_closed() {
    let bench = Bench::new();
    plugward_tests::apply(&bench.plugins, &two());
    let run = Run::default();
    let mut stores = bench.stores(&run);
    let mut checked = bench.load(&run, &mut stores, &mut bench.options(&run), &DeclaredModules);
    let workflow = checked.take_workflow().unwrap();
    let mut plugins = loaded(checked);
    let a = plugins.iter_mut().find(|plugin| *plugin.key() == bench.key("plugins/a")).unwrap();
    let mut capabilities = a.take_granted();
    assert!(a.take_granted().is_empty(), "a capability is handed out once");
    let Some(AnyCapability::HostModule(module)) = capabilities.pop() else { panic!("no module") };
    let trail = stores.record.trail().unwrap().clone();
    let UseCheck::Granted(guard) = trail.try_use(&module, ModuleOp::Register { name: "fs" }).unwrap() else {
        panic!("refused")
    };
    assert_eq!(
        types(&bench.recorded()).last(),
        Some(&"capability_used"),
        "on the record before the operation"
    );
    guard.end(UseOutcome::Ok, None).unwrap();
    let UseCheck::Refused(no) = trail.try_use(&module, ModuleOp::Register { name: "exec" }).unwrap() else {
        panic!("granted")
    };
    assert_eq!(no.code(), "use/not-covered");
    stores.record.close(workflow, UseOutcome::Ok).unwrap();
    let UseCheck::Refused(no) = trail.try_use(&module, ModuleOp::Register { name: "fs" }).unwrap() else {
        panic!("granted")
    };
    assert_eq!(no.code(), "use/workflow-closed");
    let state = Dir::open_ambient_dir(&bench.state, ambient_authority()).unwrap();
    let mut lines: Vec<Line> = Vec::new();
    let files = LedgerFiles::open(&state).unwrap();
    drop(files.verify(VerifyPlan::new(), &mut |record, _| lines.push(record.clone())).unwrap());
    let review = review(lines.into_iter());
    assert!(review.findings.is_empty(), "{:?}", review.findings);
}

#[test]
fn under_all_or_nothing_what_was_minted_is_taken_back() {
    let bench = Bench::new();
    let mut steps = two();
    // After `a`, which is minted for, comes one whose module is no module.
    steps.push(write(
        "z/plugin.json",
        r#"{"name":"z","version":"1.0.0","description":"d","hostModules":["Not A Module"]}"#,
    ));
    steps.push(write("z/index.js", "export const x = 1;\n"));
    let report = bench.run(&Run { plugins: steps, all_or_nothing: Bit::On, ..Run::default() });
    assert_eq!(report.summary.load, 0, "{report:?}");
    assert!(report.plugins.iter().all(|plugin| plugin.capabilities.is_empty()));
    let events = bench.recorded();
    let names = types(&events);
    assert!(names.contains(&"capability_minted") && names.contains(&"capability_revoked"), "{names:?}");
}

#[test]
fn a_thousand_plugins_fit_in_records() {
    let bench = Bench::new();
    let steps = (0..700).map(|number| {
        write(
            &format!("p{number:04}/.claude-plugin/plugin.json"),
            &format!("{{ \"name\": \"p{number:04}\" }}"),
        )
    });
    let report = bench.run(&Run { plugins: steps.collect(), ..Run::default() });
    assert_eq!((report.exit, report.summary.load), (0, 700));
    let events = bench.recorded();
    let lists: Vec<_> = events
        .iter()
        .filter_map(|event| match event {
            LedgerEvent::PluginsLoaded { plugins, registry_digest, .. } => {
                Some((plugins.len(), *registry_digest))
            }
            _ => None,
        })
        .collect();
    assert!(lists.len() > 1 && lists.iter().map(|(count, _)| count).sum::<usize>() == 700, "{lists:?}");
    assert!(lists.iter().all(|(_, digest)| *digest == lists[0].1), "one digest over the whole list");
}
