//! One record of each type.

use crate::{BudgetLine, Event, Outcome, PluginSeen, Sum, Timestamp, Value, Verdict};

/// Fills every text with `text`, every number with `number`; the options are there or not.
#[expect(clippy::too_many_lines, reason = "one entry for each type of the format")]
pub(crate) fn samples(text: &str, number: u64, with: impl Fn() -> bool) -> Vec<Event> {
    let t = || text.to_owned();
    let sum = Sum::of(text.as_bytes());
    let some = || with().then(t);
    let count = || with().then_some(number);
    let budget = BudgetLine {
        kind: t(),
        per: "plugin".into(),
        plugin: some(),
        max_mints: count(),
        max_uses: count(),
        max_units: count(),
    };
    let scope = Value::object([
        (
            "list",
            Value::List(vec![
                Value::Flag(true),
                Value::Flag(false),
                Value::Number(number),
                Value::text(text),
            ]),
        ),
        (text, Value::List(Vec::new())),
    ]);
    let plugin = PluginSeen { plugin: t(), digest: t(), outcome: Verdict::Ask };
    vec![
        Event::LedgerOpened { ledger: super::ID, tool: t() },
        Event::LedgerRecovered { offset: number, bytes: number, sha256: sum, saved_as: t() },
        Event::LedgerContinued { ledger: super::ID, previous: t(), head: sum },
        Event::Checkpoint {
            size: number,
            root: sum,
            frontier: vec![sum; 3],
            state: with().then(|| scope.clone()),
        },
        Event::WorkflowOpened { workflow: t(), budgets: vec![budget.clone(), budget] },
        Event::WorkflowClosed { workflow: t(), outcome: Outcome::Abandoned },
        Event::PluginsLoaded {
            workflow: t(),
            trust: t(),
            registry_digest: crate::registry_digest(std::slice::from_ref(&plugin)),
            plugins: vec![plugin],
        },
        Event::Decision {
            workflow: some(),
            plugin: t(),
            outcome: Verdict::Refuse,
            codes: vec![t(), t()],
            digest: some(),
        },
        Event::PinEnrolled { plugin: t(), digest: t(), old: some() },
        Event::PinAccepted { plugin: t(), digest: t(), old: some() },
        Event::PinForgotten { plugin: t(), digest: t(), old: some() },
        Event::PinRefused { plugin: t(), digest: t(), old: some() },
        Event::ApprovalGiven { plugin: t(), digest: t(), risk: t() },
        Event::ApprovalRevoked { plugin: t(), digest: t(), risk: t() },
        Event::ExceptionUsed { setting: t(), reason: t() },
        Event::CapabilityMinted {
            workflow: t(),
            plugin: t(),
            kind: t(),
            serial: number,
            scope_digest: scope.digest(),
            scope,
            expires: with().then(|| Timestamp::from_unix_micros(number % 1_000_000_007).unwrap()),
            bundle: with().then_some(sum),
            warning: some(),
        },
        Event::BundleMinted { workflow: t(), plugin: t(), bundle_digest: sum, serials: vec![number, 0] },
        Event::MintRefused { workflow: t(), plugin: t(), kind: t(), code: t() },
        Event::CapabilityUsed {
            workflow: t(),
            plugin: t(),
            kind: t(),
            serial: number,
            op: t(),
            detail: t(),
            units: number,
        },
        Event::CapabilityUseEnded {
            workflow: t(),
            serial: number,
            begun: number,
            outcome: Outcome::Failed,
            code: some(),
            millis: number,
        },
        Event::UseRefused { workflow: t(), plugin: t(), kind: t(), serial: number, op: t(), code: t() },
        Event::CapabilityRevoked { workflow: t(), serial: number, by: t(), reason: t() },
        Event::FilesystemRaceDetected {
            workflow: some(),
            plugin: some(),
            jail: t(),
            path: t(),
            cause: t(),
            errno: count(),
        },
        Event::RawOutputLaundered { workflow: t(), hook: t(), tool: t(), kinds: vec![t()] },
        Event::LaunchStarted {
            workflow: t(),
            plugin: t(),
            executable: t(),
            digest: t(),
            rung: t(),
            coverage: t(),
            enforcement: t(),
        },
        Event::LaunchEnded { launch: number, exit: count(), signal: count() },
    ]
}

#[test]
fn there_is_a_sample_of_every_type() {
    let names: Vec<_> = samples("x", 1, || true).iter().map(Event::type_name).collect();
    assert_eq!(names, Event::TYPES);
}
