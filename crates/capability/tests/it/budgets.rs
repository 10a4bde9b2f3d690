//! The decisions of a trail agree with the counts from the records.

use std::collections::BTreeMap;

use plugward_capability::{
    BudgetLimit, Budgets, Capability as _, CapabilityKind, EnvOp, EnvReadCapability, EnvScope, LimitTarget,
    ModuleOp, ModuleScope, PluginName, Review, UseOutcome, Workflow, review,
};
use plugward_ledger::{ChainCheck, ChainVerifier, VerifyPlan};
use proptest::prelude::*;

use super::{World, env, using};

fn uses(count: u64) -> BudgetLimit {
    BudgetLimit { max_mints: None, max_uses: Some(count), max_units: None }
}

fn once(world: &World, capability: &EnvReadCapability) -> Result<(), &'static str> {
    using(&world.trail, capability, EnvOp::ReadVar { name: "HOME" })
        .map(|guard| guard.end(UseOutcome::Ok, None).unwrap())
}

#[test]
fn the_most_specific_entry_decides_alone() {
    let world = World::new();
    let named = LimitTarget::Plugin(PluginName::new("named").unwrap());
    let budgets = Budgets::otherwise(uses(4))
        .limit(CapabilityKind::EnvRead, &LimitTarget::Workflow, uses(1))
        .limit(CapabilityKind::EnvRead, &LimitTarget::EachPlugin, uses(2))
        .limit(CapabilityKind::EnvRead, &named, uses(3));
    let workflow = world.workflow(&budgets);
    let count = |plugin: &str| {
        let capability = world.ask(&workflow, plugin, env()).unwrap();
        (0..6).take_while(|_| once(&world, &capability).is_ok()).count()
    };
    assert_eq!((count("named"), count("a"), count("b")), (3, 2, 2));
    let module = world.ask(&workflow, "a", ModuleScope::new(&["m"]).unwrap()).unwrap();
    let register = || using(&world.trail, &module, ModuleOp::Register { name: "m" }).map(drop);
    assert_eq!((0..6).take_while(|_| register().is_ok()).count(), 4);
}

#[test]
fn a_limit_of_the_workflow_counts_all_plugins() {
    let world = World::new();
    let workflow = world.workflow(&Budgets::otherwise(BudgetLimit::NONE).limit(
        CapabilityKind::EnvRead,
        &LimitTarget::Workflow,
        uses(3),
    ));
    let (a, b) = (world.ask(&workflow, "a", env()).unwrap(), world.ask(&workflow, "b", env()).unwrap());
    let answers = [&a, &b, &a, &b, &a].map(|capability| once(&world, capability));
    assert_eq!(answers, [Ok(()), Ok(()), Ok(()), Err("use/over-budget"), Err("use/over-budget")]);
}

#[test]
fn a_second_capability_is_no_second_budget() {
    let world = World::new();
    let workflow = world.workflow(&Budgets::otherwise(uses(2)));
    let answers: Vec<_> = (0..3).map(|_| once(&world, &world.ask(&workflow, "a", env()).unwrap())).collect();
    assert_eq!(answers, [Ok(()), Ok(()), Err("use/over-budget")]);
}

#[test]
fn two_handles_share_one_budget() {
    let world = World::new();
    let other = world.other();
    let budgets = Budgets::otherwise(uses(5));
    let (one, two) = (world.workflow(&budgets), other.workflow(&budgets));
    let (a, b) = (world.ask(&one, "p", env()).unwrap(), other.ask(&two, "p", env()).unwrap());
    let granted = (0..10)
        .filter(|turn| if turn % 2 == 0 { once(&world, &a) } else { once(&other, &b) }.is_ok())
        .count();
    assert_eq!(granted, 5);
    // A capability that the other process minted works here as well.
    assert_eq!(once(&world, &b), Err("use/over-budget"));
}

#[test]
fn equal_budgets_have_equal_records() {
    let limit = |budgets: Budgets, kind, count| budgets.limit(kind, &LimitTarget::EachPlugin, uses(count));
    let one =
        limit(limit(Budgets::otherwise(uses(1)), CapabilityKind::EnvRead, 2), CapabilityKind::NetConnect, 3);
    let two = limit(
        limit(limit(Budgets::otherwise(uses(1)), CapabilityKind::NetConnect, 3), CapabilityKind::EnvRead, 9),
        CapabilityKind::EnvRead,
        2,
    );
    assert_eq!(one.lines(), two.lines());
    assert_ne!(one.lines(), Budgets::otherwise(uses(1)).lines());
}

const PLUGINS: [&str; 2] = ["a", "b"];
const IDS: [&str; 2] = ["w-1", "w-2"];

/// Recomputes from the records how much a plugin has left, independently of the crate.
fn left(review: &Review, workflow: &str, plugin: &str) -> (u64, u64) {
    let opened = review.budgets.keys().filter(|(id, _)| id == workflow).map(|(_, opened)| *opened).max();
    let mut have = (0, 0);
    for (key, tally) in &review.tallies {
        if key.workflow == workflow && key.opened == opened && key.plugin == plugin && key.kind == "env-read"
        {
            have = (have.0 + tally.mints, have.1 + tally.uses);
        }
    }
    (3_u64.saturating_sub(have.0), 4_u64.saturating_sub(have.1))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn the_trail_and_the_review_count_the_same(steps in prop::collection::vec((0..8_u8, 0..2_usize, 0..2_usize, any::<prop::sample::Index>()), 1..50)) {
        let mut world = World::new();
        let budgets = Budgets::otherwise(BudgetLimit { max_mints: Some(3), max_uses: Some(4), max_units: None });
        let mut open: BTreeMap<&str, Workflow> = BTreeMap::new();
        let mut all: Vec<(&str, &str, EnvReadCapability)> = Vec::new();
        for (kind, id, plugin, pick) in steps {
            let (id, plugin) = (IDS[id], PLUGINS[plugin]);
            let seen = review(world.records().into_iter());
            prop_assert_eq!(&seen.findings, &[]);
            match kind {
                0 | 1 => {
                    let id_ = plugward_capability::WorkflowId::new(id).unwrap();
                    let workflow = open.entry(id).or_insert_with(|| world.trail.open_workflow(id_, &budgets).unwrap());
                    let seen = review(world.records().into_iter());
                    let (mints, _) = left(&seen, id, plugin);
                    match world.ask(workflow, plugin, EnvScope::new(&["HOME"]).unwrap()) {
                        Ok(capability) => { prop_assert!(mints > 0); all.push((id, plugin, capability)); }
                        Err(code) => { prop_assert_eq!((mints, code), (0, "mint/over-budget")); }
                    }
                }
                2..=4 if !all.is_empty() => {
                    let (id, plugin, capability) = &all[pick.index(all.len())];
                    let (_, uses) = left(&seen, id, plugin);
                    match using(&world.trail, capability, EnvOp::ReadVar { name: "HOME" }) {
                        Ok(guard) => {
                            prop_assert!(uses > 0 && open.contains_key(id));
                            // Some uses are ended, some dropped.
                            if kind == 2 { guard.end(UseOutcome::Ok, None).unwrap(); }
                        }
                        Err("use/over-budget") => prop_assert_eq!(uses, 0),
                        Err(code) => prop_assert!(["use/workflow-closed", "use/revoked"].contains(&code), "{}", code),
                    }
                }
                5 if !all.is_empty() => {
                    let (_, _, capability) = &all[pick.index(all.len())];
                    // A capability of a closed workflow cannot be revoked.
                    let _answer = world.trail.revoke(&capability.key(), "me", "why");
                }
                6 => {
                    if let Some(workflow) = open.remove(id) {
                        world.trail.close_workflow(workflow, UseOutcome::Ok).unwrap();
                    }
                }
                _ => {
                    // Another process continues from the last checkpoint.
                    world.trail.ledger().checkpoint().unwrap();
                    world = world.other();
                }
            }
        }
        // The counters stored in every checkpoint are the recomputed ones.
        let mut verifier = ChainVerifier::new(VerifyPlan::new().folds(plugward_capability::folds()));
        verifier.feed(&world.directory.read("ledger.jsonl").unwrap(), &mut |_, _| ());
        let whole = matches!(verifier.finish().check, ChainCheck::Whole { .. });
        prop_assert!(whole);
    }
}
