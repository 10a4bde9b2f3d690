//! Registration and calls, and their records.

use plugward_host_modules::capability::{LedgerEvent, NoScrub, Trail, TrailRules, folds};
use plugward_host_modules::{
    CallRefusal, CallResult, FunctionName, ModuleName, Modules, RegisterError, RejectReason, register,
};
use plugward_ledger::{Durability, Ledger, LedgerId, LedgerRecord, TestDirectory};
use serde_json::json;

use crate::{Echo, clock, declared, thrown, trail};

#[test]
fn names_have_rules() {
    let long = "a".repeat(64);
    for good in ["a", "fs-read", "a1-", &long] {
        assert_eq!(ModuleName::new(good).unwrap().to_string(), good);
    }
    for bad in ["", "A", "1a", "-a", "a_b", "a.b", "host:a", "ä", &"a".repeat(65)] {
        assert_eq!(ModuleName::new(bad), None, "{bad}");
    }
    for good in ["a", "readFile", "_x", "$y1", "proto"] {
        assert_eq!(FunctionName::new(good).unwrap().to_string(), good);
    }
    for bad in ["", "1a", "a b", "a.b", "ä", "__proto__", "constructor", "prototype", &"a".repeat(65)] {
        assert_eq!(FunctionName::new(bad), None, "{bad}");
    }
}

#[test]
fn a_collision_registers_nothing() {
    let (trail, first, second) = (trail(), declared(&["a"]), declared(&["a", "b"]));
    let mut modules = Modules::default();
    let _done = register("one", &first, vec![Echo::boxed("a")], &mut modules, &trail).unwrap();
    let offered = vec![Echo::boxed("b"), Echo::boxed("a")];
    let error = register("two", &second, offered, &mut modules, &trail).unwrap_err();
    assert_eq!((error.code(), error.help().is_empty()), ("host-module/collision", false));
    assert!(matches!(error, RegisterError::Collision { ref plugin, .. } if plugin == "one"), "{error}");
    assert_eq!(modules.iter().count(), 1);
    // Without the first plugin, the same modules are registered.
    modules.disable("one");
    let offered = vec![Echo::boxed("b"), Echo::boxed("a")];
    let done = register("two", &second, offered, &mut modules, &trail).unwrap();
    assert_eq!(done.registered.len(), 2);
}

#[test]
fn ten_thousand_modules_leave_the_declared_one() {
    let (trail, declared) = (trail(), declared(&["m7"]));
    let mut modules = Modules::default();
    let offered = (0..10_000).map(|number| Echo::boxed(&format!("m{number}"))).collect();
    let done = register("p", &declared, offered, &mut modules, &trail).unwrap();
    assert_eq!((done.registered.len(), done.rejected.len()), (1, 9_999));
    assert!(modules.call("m7", "echo", &[]).is_ok());
}

#[test]
fn a_repeated_module_is_rejected() {
    let (trail, declared) = (trail(), declared(&["a"]));
    let mut modules = Modules::default();
    let offered = vec![Echo::boxed("a"), Echo::boxed("a")];
    let done = register("p", &declared, offered, &mut modules, &trail).unwrap();
    assert_eq!(done.rejected[0].why, RejectReason::Repeated);
    assert_eq!(done.rejected[0].why.as_str(), "repeated");
}

#[test]
fn each_use_is_recorded() {
    let (directory, id) = (TestDirectory::new(), LedgerId::from_bytes([7; 16]));
    let opened = directory.open(id, Box::new(clock), Durability::Off, folds()).unwrap();
    let trail = Trail::for_tests(opened.ledger, TrailRules { scrub: Box::new(NoScrub) }).unwrap();
    let declared = declared(&["a"]);
    let mut modules = Modules::default();
    let _done = register("p", &declared, vec![Echo::boxed("a")], &mut modules, &trail).unwrap();
    let result = modules.call("a", "echo", &[json!(1)]).unwrap();
    assert_eq!(result, CallResult::Returned(json!([1])));
    let result = modules.call("a", "fail", &[]).unwrap();
    assert_eq!(result, CallResult::Thrown(thrown("TypeError", "no")));
    let bytes = directory.read("ledger.jsonl").unwrap();
    let lines = bytes.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
    let uses: Vec<String> = lines
        .filter_map(|line| match LedgerRecord::parse(line).unwrap().event().unwrap() {
            LedgerEvent::CapabilityUsed { op, detail, .. } => Some(format!("{op} {detail}")),
            LedgerEvent::CapabilityUseEnded { outcome, .. } => Some(format!("{outcome:?}")),
            _ => None,
        })
        .collect();
    assert_eq!(uses, ["register a", "Ok", "call a.echo", "Ok", "call a.fail", "Failed"]);
}

#[test]
fn calls_that_nothing_answers_are_refused() {
    let (trail, declared) = (trail(), declared(&["a"]));
    let mut modules = Modules::default();
    let _done = register("p", &declared, vec![Echo::boxed("a")], &mut modules, &trail).unwrap();
    let refused = |modules: &mut Modules<'_>, module: &str, function: &str| {
        let refusal = modules.call(module, function, &[]).unwrap_err();
        assert!(!refusal.help().is_empty());
        (refusal.code(), refusal.to_string())
    };
    let (code, text) = refused(&mut modules, "b\u{1b}[2J", "echo");
    assert_eq!((code, text.as_str()), ("host-module/module", "no module `b\\u{1b}[2J` is enabled"));
    for function in ["other", "__proto__", ""] {
        assert_eq!(refused(&mut modules, "a", function).0, "host-module/function");
    }
    modules.disable("p");
    assert_eq!(refused(&mut modules, "a", "echo").0, "host-module/module");
}

#[test]
fn a_trail_that_refuses_stops_registration_and_calls() {
    // An ordinary trail does not accept the capabilities of tests.
    let ledger = Ledger::in_memory(LedgerId::from_bytes([7; 16]), Box::new(clock), folds()).unwrap();
    let strict = Trail::open(ledger, TrailRules { scrub: Box::new(NoScrub) }).unwrap();
    let declared = declared(&["a"]);
    let mut modules = Modules::default();
    let error = register("p", &declared, vec![Echo::boxed("a")], &mut modules, &strict).unwrap_err();
    assert!(matches!(error, RegisterError::Refused { .. }), "{error}");
    assert!(error.code().starts_with("use/") && !error.help().is_empty());
    let refusal = modules.call("a", "echo", &[]).unwrap_err();
    assert!(matches!(refusal, CallRefusal::UnknownModule { .. }));
}
