//! Uses are recorded first, or do not happen.

use std::time::Duration;

use plugward_capability::{
    BudgetLimit, Budgets, CODES, Capability, CapabilityKind, EnvOp, EnvScope, Lifetime, LimitTarget, LlmOp,
    LlmScope, MintCheck, PluginName, RaceReport, Request, Scrub, Trail, TrailRules, UseOutcome, WorkflowId,
    folds,
};
use plugward_ledger::{Durability, Folds, Ledger, LedgerEvent, LedgerId, WriteFault};

use super::{Hand, World, env, using};

const HOME: EnvOp<'static> = EnvOp::ReadVar { name: "HOME" };

#[test]
fn a_use_is_on_the_record_before_the_operation_and_its_end_after() {
    let world = World::new();
    let workflow = world.free();
    let capability = world.ask(&workflow, "acme", env()).unwrap();
    let guard = using(&world.trail, &capability, HOME).unwrap();
    let begun = guard.seq();
    assert_eq!(world.records().last().unwrap().seq(), begun);
    let LedgerEvent::CapabilityUsed { serial, op, detail, units, .. } = world.last() else { panic!() };
    assert_eq!((serial, op.as_str(), detail.as_str(), units), (1, "read-var", "HOME", 1));
    world.hand.forward(12_345_678);
    guard.end(UseOutcome::Failed, Some("env/absent")).unwrap();
    let LedgerEvent::CapabilityUseEnded { begun: of, outcome, code, millis, .. } = world.last() else {
        panic!()
    };
    assert_eq!(
        (of, outcome, code.as_deref(), millis),
        (begun, UseOutcome::Failed, Some("env/absent"), 12_345)
    );
    // A dropped guard ends as abandoned.
    drop(using(&world.trail, &capability, HOME).unwrap());
    assert!(matches!(world.last(), LedgerEvent::CapabilityUseEnded { outcome: UseOutcome::Abandoned, .. }));
}

#[test]
fn every_refusal_is_recorded_and_its_near_miss_is_granted() {
    let world = World::new();
    let twice = BudgetLimit { max_mints: None, max_uses: Some(2), max_units: None };
    let budgets =
        Budgets::otherwise(BudgetLimit::NONE).limit(CapabilityKind::EnvRead, &LimitTarget::EachPlugin, twice);
    let workflow = world.workflow(&budgets);
    let refused = |code: &str| {
        let LedgerEvent::UseRefused { code: of, op, .. } = world.last() else { panic!("{:?}", world.last()) };
        assert_eq!((of.as_str(), op.as_str()), (code, "read-var"));
    };
    let once = |capability: &_| {
        using(&world.trail, capability, HOME).map(|guard| guard.end(UseOutcome::Ok, None).unwrap())
    };
    let capability = world.ask(&workflow, "acme", env()).unwrap();
    // Not covered.
    assert_eq!(
        using(&world.trail, &capability, EnvOp::ReadVar { name: "HOMER" }).unwrap_err(),
        "use/not-covered"
    );
    refused("use/not-covered");
    // Budget: two uses fit, and a refusal does not count.
    assert_eq!((once(&capability), once(&capability)), (Ok(()), Ok(())));
    assert_eq!(once(&capability), Err("use/over-budget"));
    refused("use/over-budget");
    // Expired: at the time itself, not before.
    let request = Request {
        plugin: PluginName::new("brief").unwrap(),
        workflow: &workflow,
        scope: env(),
        lifetime: Lifetime::For(Duration::from_secs(1)),
    };
    let MintCheck::Minted(brief) = world.mint.mint(request).unwrap() else { panic!() };
    world.hand.forward(999_999);
    assert_eq!(once(&brief), Ok(()));
    world.hand.forward(1);
    assert_eq!(once(&brief), Err("use/expired"));
    refused("use/expired");
    // Revoked, by another process.
    let third = world.ask(&workflow, "third", env()).unwrap();
    let fourth = world.ask(&workflow, "third", env()).unwrap();
    world.other().trail.revoke(&third.key(), "operator", "left the team").unwrap();
    assert_eq!(once(&third), Err("use/revoked"));
    refused("use/revoked");
    assert_eq!(once(&fourth), Ok(()));
    // Another ledger.
    let elsewhere = plugward_ledger::TestDirectory::new();
    let ledger = elsewhere
        .open(LedgerId::from_bytes([1; 16]), Hand::new().clock(), Durability::Off, folds())
        .unwrap()
        .ledger;
    let foreign = Trail::open(ledger, TrailRules { scrub: Box::new(plugward_capability::NoScrub) }).unwrap();
    assert_eq!(using(&foreign, &fourth, HOME).unwrap_err(), "use/foreign-ledger");
    // Closed. Opened again under the same id it is another workflow.
    world.trail.close_workflow(workflow, UseOutcome::Ok).unwrap();
    assert_eq!(once(&fourth), Err("use/workflow-closed"));
    refused("use/workflow-closed");
    let again = world.workflow(&budgets);
    let fresh = world.ask(&again, "third", env()).unwrap();
    // Revoking the old capability does not revoke the new one with the same serial.
    let old = world.trail.revoke(&capability.key(), "me", "late").unwrap_err();
    assert_eq!((capability.key().serial(), fresh.key().serial(), old.code()), (1, 1, "trail/no-such-grant"));
    assert_eq!(once(&fourth), Err("use/workflow-closed"));
    assert_eq!(once(&fresh), Ok(()));
}

#[test]
fn a_capability_whose_record_is_not_in_the_ledger_is_unknown() {
    let world = World::new();
    let before = world.directory.read("ledger.jsonl").unwrap();
    let workflow = world.free();
    let opened = world.directory.read("ledger.jsonl").unwrap();
    assert!(opened.len() > before.len());
    let capability = world.ask(&workflow, "acme", env()).unwrap();
    // The ledger before the grant.
    let directory = plugward_ledger::TestDirectory::new();
    directory.write("ledger.jsonl", &opened);
    let earlier = World::on(directory, Hand::new(), plugward_capability::RawWithNetwork::Refuse);
    assert_eq!(using(&earlier.trail, &capability, HOME).unwrap_err(), "use/unknown-serial");
    // The same serial, granted to another plugin, does not match either.
    let other = earlier
        .trail
        .open_workflow(WorkflowId::new("wf-7").unwrap(), &Budgets::otherwise(BudgetLimit::NONE))
        .unwrap();
    let same = earlier.ask(&other, "other", env()).unwrap();
    assert_eq!(same.key().serial(), capability.key().serial());
    assert_eq!(using(&earlier.trail, &capability, HOME).unwrap_err(), "use/unknown-serial");
}

#[test]
fn an_append_that_fails_grants_no_use() {
    let world = World::new();
    let workflow = world.free();
    let capability = world.ask(&workflow, "acme", env()).unwrap();
    for fault in [WriteFault::Refused, WriteFault::Short(9), WriteFault::Stuck(9)] {
        world.directory.fail_write(world.directory.writes(), fault);
        assert_eq!(world.trail.try_use(&capability, HOME).unwrap_err().code(), "ledger/append");
        // This failure does not poison the trail, because nothing began.
        using(&world.trail, &capability, HOME).unwrap().end(UseOutcome::Ok, None).unwrap();
    }
}

type Way<'a> = &'a dyn Fn(&World, plugward_capability::UseGuard<'_>);

#[test]
fn an_end_that_cannot_be_recorded_poisons_the_trail() {
    let dropped = |world: &World, guard: plugward_capability::UseGuard<'_>| {
        world.directory.fail_write(world.directory.writes(), WriteFault::Refused);
        drop(guard);
    };
    let said = |world: &World, guard: plugward_capability::UseGuard<'_>| {
        world.directory.fail_write(world.directory.writes(), WriteFault::Refused);
        assert_eq!(guard.end(UseOutcome::Ok, None).unwrap_err().code(), "ledger/append");
    };
    let ways: [Way<'_>; 2] = [&dropped, &said];
    for way in ways {
        let world = World::new();
        let workflow = world.free();
        let capability = world.ask(&workflow, "acme", env()).unwrap();
        way(&world, using(&world.trail, &capability, HOME).unwrap());
        assert_eq!(world.trail.try_use(&capability, HOME).unwrap_err().code(), "trail/poisoned");
        let request = Request {
            plugin: PluginName::new("acme").unwrap(),
            workflow: &workflow,
            scope: env(),
            lifetime: Lifetime::Workflow,
        };
        assert_eq!(world.mint.mint(request).unwrap_err().code(), "trail/poisoned");
        assert_eq!(world.trail.revoke(&capability.key(), "a", "b").unwrap_err().code(), "trail/poisoned");
        assert_eq!(
            world.trail.close_workflow(workflow, UseOutcome::Ok).unwrap_err().code(),
            "trail/poisoned"
        );
    }
}

#[test]
fn units_are_those_of_the_operation() {
    let world = World::new();
    let tokens = BudgetLimit { max_mints: None, max_uses: None, max_units: Some(1_000) };
    let workflow = world.workflow(&Budgets::otherwise(tokens));
    let capability = world.ask(&workflow, "acme", LlmScope::new(&["openai/gpt-5"]).unwrap()).unwrap();
    let ask =
        |tokens| using(&world.trail, &capability, LlmOp::Ask { model: "openai/gpt-5", tokens }).map(drop);
    assert_eq!(ask(1_001), Err("use/over-budget"));
    assert_eq!(ask(600), Ok(()));
    assert_eq!(ask(401), Err("use/over-budget"));
    assert_eq!(ask(400), Ok(()));
    assert_eq!(ask(0), Ok(()));
    assert_eq!(ask(1), Err("use/over-budget"));
    let free = World::new();
    let workflow = free.free();
    let capability = free.ask(&workflow, "acme", LlmScope::new(&["openai/gpt-5"]).unwrap()).unwrap();
    // A number that the format does not allow is not a use.
    let error =
        free.trail.try_use(&capability, LlmOp::Ask { model: "openai/gpt-5", tokens: u64::MAX }).unwrap_err();
    assert_eq!(error.code(), "ledger/value");
}

#[test]
fn joining_needs_the_same_budgets() {
    let world = World::new();
    let budgets =
        |uses| Budgets::otherwise(BudgetLimit { max_mints: None, max_uses: Some(uses), max_units: None });
    let one = world.workflow(&budgets(1));
    let count = world.records().len();
    let other = world.other();
    let two = other.workflow(&budgets(1));
    assert_eq!(world.records().len(), count);
    let id = WorkflowId::new("wf-7").unwrap();
    assert_eq!(other.trail.open_workflow(id, &budgets(2)).unwrap_err().code(), "trail/workflow-budgets");
    other.trail.close_workflow(two, UseOutcome::Ok).unwrap();
    assert_eq!(
        world.trail.close_workflow(one, UseOutcome::Ok).unwrap_err().code(),
        "trail/workflow-not-open"
    );
}

#[test]
fn what_belongs_to_a_deed_cannot_be_recorded_by_hand() {
    let world = World::new();
    let workflow = world.free();
    let capability = world.ask(&workflow, "acme", env()).unwrap();
    using(&world.trail, &capability, HOME).unwrap().end(UseOutcome::Ok, None).unwrap();
    let before = world.records();
    for record in &before {
        let event = record.event().unwrap().clone();
        assert_eq!(world.trail.record(event).unwrap_err().code(), "trail/reserved");
    }
    assert_eq!(world.records(), before);
    assert!(world.trail.record(LedgerEvent::LaunchEnded { launch: 1, exit: Some(0), signal: None }).is_ok());
    let race = RaceReport {
        workflow: None,
        plugin: None,
        jail: "work",
        path: "a/b",
        cause: "link",
        errno: Some(40),
    };
    world.trail.race(race).unwrap();
    assert!(matches!(world.last(), LedgerEvent::FilesystemRaceDetected { errno: Some(40), .. }));
    let nobody = plugward_capability::GrantKey::new(super::ID, WorkflowId::new("wf-7").unwrap(), 9);
    assert_eq!(world.trail.revoke(&nobody, "a", "b").unwrap_err().code(), "trail/no-such-grant");
}

#[test]
fn details_pass_the_scrub_of_the_host() {
    struct Stars;
    impl Scrub for Stars {
        fn scrub(&self, text: &str) -> String {
            text.replace("hunter2", "***")
        }
    }
    let directory = plugward_ledger::TestDirectory::new();
    let ledger = directory.open(super::ID, Hand::new().clock(), Durability::Off, folds()).unwrap().ledger;
    let trail = Trail::open(ledger, TrailRules { scrub: Box::new(Stars) }).unwrap();
    let rules =
        plugward_capability::MintRules { raw_with_network: plugward_capability::RawWithNetwork::Refuse };
    let mint = plugward_capability::Mint::new(trail.clone(), rules);
    let workflow =
        trail.open_workflow(WorkflowId::new("w").unwrap(), &Budgets::otherwise(BudgetLimit::NONE)).unwrap();
    let scope = EnvScope::new(&["A"]).unwrap();
    let request = Request {
        plugin: PluginName::new("p").unwrap(),
        workflow: &workflow,
        scope,
        lifetime: Lifetime::Workflow,
    };
    let MintCheck::Minted(capability) = mint.mint(request).unwrap() else { panic!() };
    assert_eq!(
        using(&trail, &capability, EnvOp::ReadVar { name: "hunter2" }).unwrap_err(),
        "use/not-covered"
    );
    trail.revoke(&capability.key(), "me", "typed hunter2").unwrap();
    let race =
        RaceReport { workflow: None, plugin: None, jail: "j", path: "x/hunter2", cause: "c", errno: None };
    trail.race(race).unwrap();
    assert!(!String::from_utf8(directory.read("ledger.jsonl").unwrap()).unwrap().contains("hunter2"));
}

#[test]
fn a_ledger_without_the_fold_carries_no_trail() {
    let ledger = Ledger::in_memory(super::ID, Hand::new().clock(), Folds::none()).unwrap();
    let error =
        Trail::open(ledger, TrailRules { scrub: Box::new(plugward_capability::NoScrub) }).unwrap_err();
    assert_eq!(error.code(), "trail/no-fold");
}

#[test]
fn the_list_of_codes_has_each_code_once() {
    let mut codes: Vec<_> = CODES.iter().map(|(code, _)| *code).collect();
    assert!(CODES.iter().all(|(code, help)| code.contains('/') && !help.is_empty()));
    codes.sort_unstable();
    let count = codes.len();
    codes.dedup();
    assert_eq!(codes.len(), count);
}
