//! Grants are recorded first, or do not happen.

use std::time::Duration;

use plugward_capability::{
    AnyScope, BudgetLimit, Budgets, Capability, CapabilityKind, EnvOp, EnvReadCapability, EnvScope, Lifetime,
    LimitTarget, LlmScope, MintCheck, NetScope, PluginName, RawScope, RawWithNetwork, Request, Scope,
    UseOutcome, WorkflowId,
};
use plugward_ledger::{LedgerEvent, WriteFault};

use super::{Hand, World, env, using};

fn raw() -> RawScope {
    RawScope::new("redact", &["*"]).unwrap()
}

fn net() -> NetScope {
    NetScope::new("api.example.org", 443).unwrap()
}

#[test]
fn a_capability_is_on_the_record_before_it_exists() {
    let world = World::new();
    let workflow = world.free();
    let capability = world.ask(&workflow, "acme", env()).unwrap();
    let LedgerEvent::CapabilityMinted {
        workflow: of,
        plugin,
        kind,
        serial,
        scope,
        scope_digest,
        expires,
        bundle,
        warning,
    } = world.last()
    else {
        panic!("{:?}", world.last())
    };
    assert_eq!((of.as_str(), plugin.as_str(), kind.as_str(), serial), ("wf-7", "acme", "env-read", 1));
    assert_eq!(scope.render(), r#"{"names":["HOME","PATH"]}"#);
    assert_eq!((scope.digest(), scope.clone()), (scope_digest, capability.scope().to_value()));
    assert_eq!((expires, bundle, warning), (None, None, None));
    assert_eq!(
        (capability.plugin().as_str(), capability.workflow().as_str(), capability.key().serial()),
        ("acme", "wf-7", 1)
    );
    let debug = format!("{capability:?}");
    for part in ["EnvReadCapability", "env-read", "acme", "serial: 1", "PATH"] {
        assert!(debug.contains(part), "{debug}");
    }
    assert_eq!(world.ask(&workflow, "acme", env()).unwrap().key().serial(), 2);
}

#[test]
fn an_append_that_fails_makes_no_capability() {
    for fault in [WriteFault::Refused, WriteFault::Short(50), WriteFault::NotSynced, WriteFault::Stuck(50)] {
        let directory = plugward_ledger::TestDirectory::new();
        let hand = Hand::new();
        let ledger = directory
            .open(super::ID, hand.clock(), plugward_ledger::Durability::Every, plugward_capability::folds())
            .unwrap()
            .ledger;
        let rules = plugward_capability::TrailRules { scrub: Box::new(plugward_capability::NoScrub) };
        let trail = plugward_capability::Trail::open(ledger, rules).unwrap();
        let rules = plugward_capability::MintRules { raw_with_network: RawWithNetwork::Refuse };
        let mint = plugward_capability::Mint::new(trail.clone(), rules);
        let workflow = trail
            .open_workflow(WorkflowId::new("wf-7").unwrap(), &Budgets::otherwise(BudgetLimit::NONE))
            .unwrap();
        let plugin = PluginName::new("acme").unwrap();
        let request = || Request {
            plugin: plugin.clone(),
            workflow: &workflow,
            scope: env(),
            lifetime: Lifetime::Workflow,
        };
        directory.fail_write(directory.writes(), fault);
        assert_eq!(mint.mint(request()).unwrap_err().code(), "ledger/append", "{fault:?}");
        // Nor a bundle.
        directory.fail_write(directory.writes(), fault);
        let bundle = mint.bundle(&plugin, &workflow, vec![AnyScope::EnvRead(env())], Lifetime::Workflow);
        assert!(["ledger/append", "ledger/stopped"].contains(&bundle.unwrap_err().code()));
        let minted = String::from_utf8(directory.read("ledger.jsonl").unwrap())
            .unwrap()
            .matches("capability_minted")
            .count();
        assert!(minted <= 1, "what was taken back is gone; at most a part of a line is left");
    }
}

#[test]
fn every_refusal_is_recorded_and_its_near_miss_is_minted() {
    let world = World::new();
    let limit = |mints| BudgetLimit { max_mints: Some(mints), max_uses: None, max_units: None };
    let budgets = Budgets::otherwise(BudgetLimit::NONE).limit(
        CapabilityKind::EnvRead,
        &LimitTarget::EachPlugin,
        limit(1),
    );
    let workflow = world.workflow(&budgets);
    let refused = |code: &str, kind: &str| {
        let LedgerEvent::MintRefused { code: of, kind: recorded, plugin, .. } = world.last() else {
            panic!("{:?}", world.last())
        };
        assert_eq!((of.as_str(), recorded.as_str(), plugin.as_str()), (code, kind, "acme"));
    };
    // Budget: the first one fits, and so does another plugin's.
    assert!(world.ask(&workflow, "acme", env()).is_ok());
    assert_eq!(world.ask(&workflow, "acme", env()).unwrap_err(), "mint/over-budget");
    refused("mint/over-budget", "env-read");
    assert!(world.ask(&workflow, "other", env()).is_ok());
    // Conflict: in either order; another plugin does not conflict.
    assert!(world.ask(&workflow, "acme", raw()).is_ok());
    assert_eq!(world.ask(&workflow, "acme", net()).unwrap_err(), "mint/conflict");
    refused("mint/conflict", "net-connect");
    assert_eq!(world.ask(&workflow, "acme", LlmScope::new(&["a/b"]).unwrap()).unwrap_err(), "mint/conflict");
    assert!(world.ask(&workflow, "other", net()).is_ok());
    assert_eq!(world.ask(&workflow, "other", raw()).unwrap_err(), "mint/conflict");
    // Lifetime.
    let lasting = |duration| {
        let plugin = PluginName::new("acme").unwrap();
        let scope = plugward_capability::ModuleScope::new(&["fs-read"]).unwrap();
        let request = Request { plugin, workflow: &workflow, scope, lifetime: Lifetime::For(duration) };
        match world.mint.mint(request).unwrap() {
            MintCheck::Minted(_) => "minted",
            MintCheck::Refused(refusal) => refusal.code(),
        }
    };
    assert_eq!(lasting(Duration::ZERO), "mint/lifetime");
    refused("mint/lifetime", "host-module");
    assert_eq!(lasting(Duration::from_secs(u64::MAX)), "mint/lifetime");
    assert_eq!(lasting(Duration::from_micros(1)), "minted");
    // Closed, by this process or another.
    world.other().trail.close_workflow(world.other().workflow(&budgets), UseOutcome::Ok).unwrap();
    assert_eq!(world.ask(&workflow, "acme", env()).unwrap_err(), "mint/workflow-closed");
    refused("mint/workflow-closed", "env-read");
    // A workflow that was opened again under the same id is another one.
    let again = world.workflow(&budgets);
    assert_eq!(world.ask(&workflow, "acme", env()).unwrap_err(), "mint/workflow-closed");
    assert_eq!(world.ask(&again, "acme", env()).unwrap().key().serial(), 1);
    // A workflow of another ledger.
    let elsewhere = World::on(plugward_ledger::TestDirectory::new(), Hand::new(), RawWithNetwork::Refuse);
    assert!(elsewhere.ask(&elsewhere.free(), "acme", env()).is_ok());
}

#[test]
fn raw_output_with_a_network_may_be_recorded_instead() {
    let world = World::on(plugward_ledger::TestDirectory::new(), Hand::new(), RawWithNetwork::Record);
    let workflow = world.free();
    assert!(world.ask(&workflow, "acme", net()).is_ok());
    assert!(matches!(world.last(), LedgerEvent::CapabilityMinted { warning: None, .. }));
    assert!(world.ask(&workflow, "acme", raw()).is_ok());
    assert!(matches!(world.last(), LedgerEvent::CapabilityMinted { warning: Some(_), .. }));
}

#[test]
fn a_bundle_is_minted_whole_or_not_at_all() {
    let world = World::new();
    let workflow = world.free();
    let plugin = PluginName::new("acme").unwrap();
    let net_at = |port| AnyScope::NetConnect(NetScope::new("a.example", port).unwrap());
    let scopes = || vec![net_at(1), AnyScope::EnvRead(env()), net_at(2)];
    let ask = |scopes| match world.mint.bundle(&plugin, &workflow, scopes, Lifetime::Workflow).unwrap() {
        MintCheck::Minted(bundle) => Ok(bundle),
        MintCheck::Refused(refusal) => Err(refusal.code()),
    };
    let writes = world.directory.writes();
    let mut bundle = ask(scopes()).unwrap();
    assert_eq!(world.directory.writes(), writes + 1);
    assert_eq!(
        bundle.kinds().collect::<Vec<_>>(),
        [CapabilityKind::NetConnect, CapabilityKind::EnvRead, CapabilityKind::NetConnect]
    );
    let records = world.records();
    let Some(LedgerEvent::BundleMinted { bundle_digest, serials, .. }) = records[records.len() - 1].event()
    else {
        panic!()
    };
    assert_eq!(serials, &[1, 2, 3]);
    for record in &records[records.len() - 4..records.len() - 1] {
        assert!(
            matches!(record.event(), Some(LedgerEvent::CapabilityMinted { bundle: Some(of), .. }) if of == bundle_digest)
        );
    }
    // The members work like any other capability, in the order of the request.
    let env: EnvReadCapability = bundle.take_env_read().unwrap();
    assert!(bundle.take_env_read().is_none());
    assert_eq!((env.key().serial(), bundle.take_net_connect().unwrap().key().serial()), (2, 1));
    using(&world.trail, &env, EnvOp::ReadVar { name: "HOME" }).unwrap().end(UseOutcome::Ok, None).unwrap();
    assert_eq!((bundle.len(), bundle.is_empty(), bundle.into_iter().count()), (1, false, 1));
    // The same request has the same digest in any order, and another request does not.
    let digest = |scopes| {
        let _bundle = ask(scopes).unwrap();
        match world.last() {
            LedgerEvent::BundleMinted { bundle_digest, .. } => bundle_digest,
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(digest(scopes().into_iter().rev().collect()), *bundle_digest);
    assert_ne!(digest(vec![net_at(1)]), *bundle_digest);
    // None, too many, or a duplicate: nothing is granted, and that is recorded.
    let minted = || world.types().iter().filter(|name| *name == "capability_minted").count();
    let before = minted();
    assert_eq!(ask(vec![]).unwrap_err(), "mint/bundle");
    assert_eq!(ask((1..=65).map(net_at).collect()).unwrap_err(), "mint/bundle");
    assert_eq!(ask(vec![net_at(1), net_at(1)]).unwrap_err(), "mint/bundle");
    assert_eq!(ask(vec![net_at(1), AnyScope::HookRawOutput(raw())]).unwrap_err(), "mint/conflict");
    assert_eq!(minted(), before);
    assert_eq!(ask((1..=64).map(net_at).collect()).unwrap().len(), 64);
    assert_eq!(minted(), before + 64);
}

#[test]
fn an_end_that_is_far_away_stops_no_checkpoint() {
    let world = World::new();
    let workflow = world.free();
    let request = Request {
        plugin: PluginName::new("acme").unwrap(),
        workflow: &workflow,
        scope: env(),
        lifetime: Lifetime::For(Duration::from_secs(7_000 * 365 * 86_400)),
    };
    let MintCheck::Minted(capability) = world.mint.mint(request).unwrap() else { panic!() };
    world.trail.ledger().checkpoint().unwrap();
    assert!(
        String::from_utf8(world.directory.read("ledger.jsonl").unwrap())
            .unwrap()
            .contains("\"state\":{\"trail\"")
    );
    let other = world.other();
    using(&other.trail, &capability, EnvOp::ReadVar { name: "HOME" })
        .unwrap()
        .end(UseOutcome::Ok, None)
        .unwrap();
}

#[test]
fn a_bundle_counts_its_own_members() {
    let world = World::new();
    let limit = BudgetLimit { max_mints: Some(2), max_uses: None, max_units: None };
    let workflow = world.workflow(&Budgets::otherwise(limit));
    let plugin = PluginName::new("acme").unwrap();
    let scopes = |names: &[&str]| {
        names.iter().map(|name| AnyScope::EnvRead(EnvScope::new(&[name]).unwrap())).collect()
    };
    let ask = |scopes| match world.mint.bundle(&plugin, &workflow, scopes, Lifetime::Workflow).unwrap() {
        MintCheck::Minted(bundle) => Ok(bundle.len()),
        MintCheck::Refused(refusal) => Err(refusal.code()),
    };
    assert_eq!(ask(scopes(&["A", "B", "C"])), Err("mint/over-budget"));
    assert_eq!(ask(scopes(&["A", "B"])), Ok(2));
}
