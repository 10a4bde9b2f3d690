//! Random operations, compared with a model of the table of transitions.

use plugward_lifecycle::types::{AuditVerdict, Risk};
use plugward_lifecycle::{AnyPlugin, AuditFacts, Clearance, Drift, Plugin, PluginState, Plugins};
use proptest::prelude::*;

use crate::common::*;

#[derive(Debug, Clone)]
enum Operation {
    Audit { byte: u8, risk: Risk, verdict: AuditVerdict },
    Approve { byte: u8 },
    Configure,
    Enable { byte: u8, max: Risk },
    Reconfigure,
    Disable,
    Fail,
    Find(Option<u8>),
    TakeSandbox,
    TakeSession,
}

fn risk() -> impl Strategy<Value = Risk> {
    prop::sample::select(vec![Risk::Low, Risk::Medium, Risk::High])
}

fn operation() -> impl Strategy<Value = Operation> {
    let verdict =
        prop::sample::select(vec![AuditVerdict::Approve, AuditVerdict::Approve, AuditVerdict::Reject]);
    prop_oneof![
        3 => (0..2_u8, risk(), verdict).prop_map(|(byte, risk, verdict)| Operation::Audit { byte, risk, verdict }),
        1 => (0..2_u8).prop_map(|byte| Operation::Approve { byte }),
        3 => Just(Operation::Configure),
        4 => (0..2_u8, risk()).prop_map(|(byte, max)| Operation::Enable { byte, max }),
        1 => Just(Operation::Reconfigure),
        1 => Just(Operation::Disable),
        1 => Just(Operation::Fail),
        2 => prop::option::weighted(0.9, 0..2_u8).prop_map(Operation::Find),
        1 => Just(Operation::TakeSandbox),
        1 => Just(Operation::TakeSession),
    ]
}

#[derive(Debug, Clone, PartialEq)]
struct Model {
    byte: u8,
    state: PluginState,
    audit: Option<(Risk, AuditVerdict)>,
    drift: Option<Drift>,
}

/// Returns the model after an operation, or `None` if it is refused.
fn next(model: &Model, operation: &Operation) -> Option<Model> {
    use PluginState::*;
    let mut after = model.clone();
    match (model.state, operation) {
        (Discovered, Operation::Audit { byte, risk, verdict }) if *byte == model.byte => {
            after.state = Audited;
            after.audit = Some((*risk, *verdict));
        }
        (Discovered, Operation::Approve { byte }) if *byte == model.byte => {
            after.state = Audited;
            after.audit = Some((Risk::Medium, AuditVerdict::ApproveWithConditions));
        }
        (Audited | Disabled, Operation::Configure) => after.state = Configured,
        (Configured | Disabled, Operation::Enable { byte, max }) if *byte == model.byte => {
            let (risk, verdict) = model.audit.unwrap();
            if risk > *max || verdict == AuditVerdict::Reject {
                return None;
            }
            after.state = Enabled;
        }
        (Enabled, Operation::Reconfigure) => {}
        (Enabled, Operation::Disable | Operation::Fail) => {
            after.state = Disabled;
            after.drift = None;
        }
        _ => return None,
    }
    Some(after)
}

proptest! {
    #[test]
    fn operations_match_the_table(operations in prop::collection::vec(operation(), 0..60)) {
        let mut plugins = Plugins::new();
        let mut model: Option<Model> = None;
        let (mut sandbox, mut session) = (false, false);
        for operation in operations {
            match &operation {
                Operation::Find(byte) => {
                    plugins.rediscover(byte.map(|byte| found("a", byte)));
                    let fresh = |byte| Model { byte, state: PluginState::Discovered, audit: None, drift: None };
                    model = match (model, byte) {
                        (Some(mut known), byte) if known.state == PluginState::Enabled => {
                            known.drift = match byte {
                                None => Some(Drift::Gone),
                                Some(byte) => (*byte != known.byte).then_some(Drift::Stale),
                            };
                            Some(known)
                        }
                        (Some(known), Some(byte)) if known.byte == *byte => Some(known),
                        (_, byte) => byte.map(fresh),
                    };
                }
                Operation::TakeSandbox => prop_assert_eq!(plugins.take_sandbox_dirty(), core::mem::take(&mut sandbox)),
                Operation::TakeSession => prop_assert_eq!(plugins.take_session_dirty(), core::mem::take(&mut session)),
                _ => {
                    let result = plugins.change(&key("a"), |plugin| match operation.clone() {
                        Operation::Audit { byte, risk, verdict } => {
                            plugin.audited(AuditFacts { risk, verdict, ..audit(byte) })
                        }
                        Operation::Approve { byte } => plugin.approved(approval(byte)),
                        Operation::Configure => plugin.configure(defaults()),
                        Operation::Enable { byte, max } => plugin.enable(Clearance::of(contents(byte), max)),
                        Operation::Reconfigure => plugin.reconfigure(defaults()),
                        Operation::Disable => plugin.disable(),
                        _ => plugin.failed("reason".to_owned()),
                    });
                    let expected = model.as_ref().and_then(|model| next(model, &operation));
                    prop_assert_eq!(result.is_ok(), expected.is_some(), "{:?}", operation);
                    if let (Some(before), Some(after)) = (&model, &expected) {
                        let is_dirty = before.state == PluginState::Enabled || after.state == PluginState::Enabled;
                        sandbox |= is_dirty;
                        session |= is_dirty;
                    }
                    model = expected.or(model);
                }
            }
            let actual = plugins.get(&key("a"));
            prop_assert_eq!(actual.map(AnyPlugin::state), model.as_ref().map(|model| model.state));
            let audit = actual.and_then(AnyPlugin::audit).map(|audit| (audit.risk, audit.verdict));
            prop_assert_eq!(audit, model.as_ref().and_then(|model| model.audit));
            let drift = plugins.enabled().next().and_then(Plugin::drift);
            prop_assert_eq!(drift, model.as_ref().and_then(|model| model.drift));
            prop_assert_eq!((plugins.dirty().sandbox, plugins.dirty().session), (sandbox, session));
        }
    }
}
