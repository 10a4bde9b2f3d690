//! One record of each type.

use crate::{
    BudgetLine, LedgerDigest, LedgerEvent, LedgerTime, LoadVerdict, PluginDecision, RecordValue, UseOutcome,
};

/// Fills every text with `text` and every number with `number`, with or without the optional fields.
#[expect(clippy::too_many_lines, reason = "one entry for each type of the format")]
pub(crate) fn samples(text: &str, number: u64, with: impl Fn() -> bool) -> Vec<LedgerEvent> {
    let t = || text.to_owned();
    let sum = LedgerDigest::of(text.as_bytes());
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
    let scope = RecordValue::object([
        (
            "list",
            RecordValue::List(vec![
                RecordValue::Flag(true),
                RecordValue::Flag(false),
                RecordValue::Number(number),
                RecordValue::text(text),
            ]),
        ),
        (text, RecordValue::List(Vec::new())),
    ]);
    let plugin = PluginDecision { plugin: t(), digest: t(), outcome: LoadVerdict::Ask };
    vec![
        LedgerEvent::LedgerOpened { ledger: crate::tests::ID, tool: t() },
        LedgerEvent::LedgerRecovered { offset: number, bytes: number, sha256: sum, saved_as: t() },
        LedgerEvent::LedgerContinued { ledger: crate::tests::ID, previous: t(), head: sum },
        LedgerEvent::Checkpoint {
            size: number,
            root: sum,
            frontier: vec![sum; 3],
            state: with().then(|| scope.clone()),
        },
        LedgerEvent::WorkflowOpened { workflow: t(), budgets: vec![budget.clone(), budget] },
        LedgerEvent::WorkflowClosed { workflow: t(), outcome: UseOutcome::Abandoned },
        LedgerEvent::PluginsLoaded {
            workflow: t(),
            trust: t(),
            registry_digest: crate::registry_digest(std::slice::from_ref(&plugin)),
            plugins: vec![plugin],
        },
        LedgerEvent::Decision {
            workflow: some(),
            plugin: t(),
            outcome: LoadVerdict::Refuse,
            codes: vec![t(), t()],
            digest: some(),
        },
        LedgerEvent::PinEnrolled { plugin: t(), digest: t(), old: some() },
        LedgerEvent::PinAccepted { plugin: t(), digest: t(), old: some() },
        LedgerEvent::PinForgotten { plugin: t(), digest: t(), old: some() },
        LedgerEvent::PinsStored { file: t(), pins: 12 },
        LedgerEvent::PluginDenied { plugin: t(), digest: some() },
        LedgerEvent::PluginUndenied { plugin: t() },
        LedgerEvent::PluginGated { host: t(), plugin: t(), digest: t(), outcome: LoadVerdict::Ask },
        LedgerEvent::PinRefused { plugin: t(), digest: t(), old: some() },
        LedgerEvent::ApprovalGiven { plugin: t(), digest: t(), risk: t() },
        LedgerEvent::ApprovalRevoked { plugin: t(), digest: t(), risk: t() },
        LedgerEvent::PluginAudited { plugin: t(), digest: t(), audit: t(), model: t(), risk: t() },
        LedgerEvent::ExceptionUsed { setting: t(), reason: t() },
        LedgerEvent::CapabilityMinted {
            workflow: t(),
            plugin: t(),
            kind: t(),
            serial: number,
            scope_digest: scope.digest(),
            scope,
            expires: with().then(|| LedgerTime::from_unix_micros(number % 1_000_000_007).unwrap()),
            bundle: with().then_some(sum),
            warning: some(),
        },
        LedgerEvent::BundleMinted {
            workflow: t(),
            plugin: t(),
            bundle_digest: sum,
            serials: vec![number, 0],
        },
        LedgerEvent::MintRefused { workflow: t(), plugin: t(), kind: t(), code: t() },
        LedgerEvent::CapabilityUsed {
            workflow: t(),
            plugin: t(),
            kind: t(),
            serial: number,
            op: t(),
            detail: t(),
            units: number,
        },
        LedgerEvent::CapabilityUseEnded {
            workflow: t(),
            serial: number,
            begun: number,
            outcome: UseOutcome::Failed,
            code: some(),
            millis: number,
        },
        LedgerEvent::UseRefused { workflow: t(), plugin: t(), kind: t(), serial: number, op: t(), code: t() },
        LedgerEvent::CapabilityRevoked { workflow: t(), serial: number, by: t(), reason: t() },
        LedgerEvent::FilesystemRaceDetected {
            workflow: some(),
            plugin: some(),
            jail: t(),
            path: t(),
            cause: t(),
            errno: count(),
        },
        LedgerEvent::RawOutputLaundered { workflow: t(), hook: t(), tool: t(), kinds: vec![t()] },
        LedgerEvent::RawOutputShown { workflow: t(), hook: t(), tool: t() },
        LedgerEvent::LaunchStarted {
            workflow: t(),
            plugin: t(),
            executable: t(),
            digest: t(),
            rung: t(),
            coverage: t(),
            enforcement: t(),
        },
        LedgerEvent::LaunchEnded { launch: number, exit: count(), signal: count() },
    ]
}

#[test]
fn there_is_a_sample_of_every_type() {
    let names: Vec<_> = samples("x", 1, || true).iter().map(LedgerEvent::type_name).collect();
    assert_eq!(names, LedgerEvent::TYPES);
}
