//! One ledger for each finding and note.

use std::collections::BTreeSet;

use plugward_capability::{FINDINGS, NOTES, Review, UseOutcome, review};
use plugward_ledger::{
    BudgetLine, Folds, Ledger, LedgerDigest, LedgerEvent, LedgerRecord, LedgerTime, RecordValue,
    TestDirectory,
};

use super::{Hand, ID, START};

/// Events, and how much the clock advances between them.
type Steps = Vec<Result<LedgerEvent, i64>>;

fn opened() -> LedgerEvent {
    let line = BudgetLine {
        kind: "*".into(),
        per: "otherwise".into(),
        plugin: None,
        max_mints: Some(3),
        max_uses: Some(2),
        max_units: Some(10),
    };
    LedgerEvent::WorkflowOpened { workflow: "w".into(), budgets: vec![line] }
}

fn closed() -> LedgerEvent {
    LedgerEvent::WorkflowClosed { workflow: "w".into(), outcome: UseOutcome::Ok }
}

fn minted(serial: u64, expires: Option<u64>) -> LedgerEvent {
    let scope = RecordValue::object([("names", RecordValue::List(vec![RecordValue::text("HOME")]))]);
    LedgerEvent::CapabilityMinted {
        workflow: "w".into(),
        plugin: "acme".into(),
        kind: "env-read".into(),
        serial,
        scope_digest: scope.digest(),
        scope,
        expires: expires.map(|micros| LedgerTime::from_unix_micros(START + micros).unwrap()),
        bundle: None,
        warning: None,
    }
}

fn used_by(plugin: &str, kind: &str, serial: u64, units: u64) -> LedgerEvent {
    LedgerEvent::CapabilityUsed {
        workflow: "w".into(),
        plugin: plugin.into(),
        kind: kind.into(),
        serial,
        op: "read-var".into(),
        detail: "HOME".into(),
        units,
    }
}

fn used(serial: u64) -> LedgerEvent {
    used_by("acme", "env-read", serial, 1)
}

fn ended(serial: u64, begun: u64) -> LedgerEvent {
    LedgerEvent::CapabilityUseEnded {
        workflow: "w".into(),
        serial,
        begun,
        outcome: UseOutcome::Ok,
        code: None,
        millis: 0,
    }
}

fn revoked(serial: u64) -> LedgerEvent {
    LedgerEvent::CapabilityRevoked { workflow: "w".into(), serial, by: "a".into(), reason: "b".into() }
}

/// Writes events as code that bypasses the trail could. A number advances the clock by that many
/// microseconds.
fn forged(steps: &[Result<LedgerEvent, i64>]) -> Review {
    let directory = TestDirectory::new();
    let hand = Hand::new();
    let ledger =
        directory.open(ID, hand.clock(), plugward_ledger::Durability::Off, Folds::none()).unwrap().ledger;
    for step in steps {
        match step {
            Ok(event) => drop(
                ledger.append(std::slice::from_ref(event)).map(|_| ()).map_err(|error| panic!("{error}")),
            ),
            Err(micros) => hand.forward(micros.cast_unsigned()),
        }
    }
    let bytes = directory.read("ledger.jsonl").unwrap();
    review(
        bytes
            .split(|byte| *byte == b'\n')
            .filter(|line| !line.is_empty())
            .map(|line| LedgerRecord::parse(line).unwrap()),
    )
}

fn codes(review: &Review) -> Vec<(&'static str, u64)> {
    review.findings.iter().chain(&review.notes).map(|noticed| (noticed.code, noticed.seq)).collect()
}

#[test]
#[expect(clippy::too_many_lines, reason = "one row for each code")]
fn each_finding_and_note_has_its_ledger_and_its_near_miss() {
    let lying = match minted(1, None) {
        LedgerEvent::CapabilityMinted {
            workflow,
            plugin,
            kind,
            serial,
            scope,
            expires,
            bundle,
            warning,
            ..
        } => LedgerEvent::CapabilityMinted {
            workflow,
            plugin,
            kind,
            serial,
            scope,
            scope_digest: LedgerDigest::ZERO,
            expires,
            bundle,
            warning,
        },
        other => other,
    };
    let other_holder = |plugin, kind| {
        vec![Ok(opened()), Ok(minted(1, None)), Ok(used_by(plugin, kind, 1, 1)), Ok(ended(1, 3))]
    };
    // Record 0 is `ledger_opened`. Each case names the record that triggers the finding; the near miss
    // triggers none.
    let cases: Vec<(&str, u64, Steps, Steps)> = vec![
        (
            "use-without-mint",
            3,
            vec![Ok(opened()), Ok(minted(1, None)), Ok(used(2)), Ok(ended(2, 3))],
            vec![Ok(opened()), Ok(minted(1, None)), Ok(used(1)), Ok(ended(1, 3))],
        ),
        (
            "use-after-expiry",
            3,
            vec![Ok(opened()), Ok(minted(1, Some(10))), Err(10), Ok(used(1)), Ok(ended(1, 3))],
            vec![Ok(opened()), Ok(minted(1, Some(10))), Err(9), Ok(used(1)), Ok(ended(1, 3))],
        ),
        (
            "use-after-revoke",
            4,
            vec![Ok(opened()), Ok(minted(1, None)), Ok(revoked(1)), Ok(used(1)), Ok(ended(1, 4))],
            vec![Ok(opened()), Ok(minted(1, None)), Ok(used(1)), Ok(revoked(1)), Ok(ended(1, 3))],
        ),
        (
            "use-after-close",
            4,
            vec![Ok(opened()), Ok(minted(1, None)), Ok(closed()), Ok(used(1)), Ok(ended(1, 4))],
            vec![Ok(opened()), Ok(minted(1, None)), Ok(used(1)), Ok(closed()), Ok(ended(1, 3))],
        ),
        (
            "over-budget",
            7,
            [
                vec![Ok(opened()), Ok(minted(1, None))],
                (0..3).flat_map(|n| [Ok(used(1)), Ok(ended(1, 3 + 2 * n))]).collect(),
            ]
            .concat_(),
            [
                vec![Ok(opened()), Ok(minted(1, None))],
                (0..2).flat_map(|n| [Ok(used(1)), Ok(ended(1, 3 + 2 * n))]).collect(),
            ]
            .concat_(),
        ),
        (
            "serial-reused",
            3,
            vec![Ok(opened()), Ok(minted(1, None)), Ok(minted(1, None))],
            // Another workflow with the same id counts from 1 again.
            vec![Ok(opened()), Ok(minted(1, None)), Ok(closed()), Ok(opened()), Ok(minted(1, None))],
        ),
        ("holder-mismatch", 3, other_holder("other", "env-read"), other_holder("acme", "env-read")),
        ("scope-digest", 2, vec![Ok(opened()), Ok(lying)], vec![Ok(opened()), Ok(minted(1, None))]),
        (
            "end-without-use",
            3,
            vec![Ok(opened()), Ok(minted(1, None)), Ok(ended(1, 2))],
            vec![Ok(opened()), Ok(minted(1, None)), Ok(used(1)), Ok(ended(1, 3))],
        ),
        (
            "double-end",
            5,
            vec![Ok(opened()), Ok(minted(1, None)), Ok(used(1)), Ok(ended(1, 3)), Ok(ended(1, 3))],
            vec![
                Ok(opened()),
                Ok(minted(1, None)),
                Ok(used(1)),
                Ok(ended(1, 3)),
                Ok(used(1)),
                Ok(ended(1, 5)),
            ],
        ),
        (
            "test-serial",
            2,
            vec![Ok(opened()), Ok(used(0)), Ok(ended(0, 2))],
            vec![Ok(opened()), Ok(minted(1, None)), Ok(used(1)), Ok(ended(1, 3))],
        ),
        (
            "use-not-ended",
            3,
            vec![Ok(opened()), Ok(minted(1, None)), Ok(used(1))],
            vec![Ok(opened()), Ok(minted(1, None))],
        ),
        (
            "clock-back",
            2,
            vec![Ok(opened()), Err(-1), Ok(minted(1, None))],
            vec![Ok(opened()), Err(0), Ok(minted(1, None))],
        ),
    ];
    let mut seen = BTreeSet::from(["unknown-type"]);
    for (code, seq, planted, near_miss) in &cases {
        assert_eq!(codes(&forged(planted)), [(*code, *seq)], "{code}");
        assert_eq!(codes(&forged(near_miss)), [], "near {code}");
        seen.insert(code);
    }
    // The cases cover all codes, and no others.
    let all: BTreeSet<_> = FINDINGS.iter().chain(NOTES).map(|(code, _)| *code).collect();
    assert_eq!(seen, all);
    // Other ways to trigger the same codes.
    assert_eq!(codes(&forged(&other_holder("acme", "net-connect"))), [("holder-mismatch", 3)]);
    let units = [Ok(opened()), Ok(minted(1, None)), Ok(used_by("acme", "env-read", 1, 11)), Ok(ended(1, 3))];
    assert_eq!(codes(&forged(&units)), [("over-budget", 3)]);
    let mints: Vec<_> =
        [Ok(opened())].into_iter().chain((1..=4).map(|serial| Ok(minted(serial, None)))).collect();
    assert_eq!(codes(&forged(&mints)), [("over-budget", 5)]);
    assert_eq!(codes(&forged(&[Ok(opened()), Ok(minted(0, None))])), [("test-serial", 2)]);
    // Without any workflow.
    assert_eq!(codes(&forged(&[Ok(used(1)), Ok(ended(1, 1))])), [("use-without-mint", 1)]);
}

trait Concat {
    fn concat_(self) -> Steps;
}

impl Concat for [Steps; 2] {
    fn concat_(self) -> Steps {
        self.into_iter().flatten().collect()
    }
}

#[test]
fn a_type_that_is_not_known_is_named() {
    let zeros = "0".repeat(64);
    let line = format!(
        "{{\"v\":1,\"seq\":0,\"ts\":\"2026-11-21T21:48:03.123456Z\",\"prev\":\"{zeros}\",\"type\":\"later\\u001b\"}}"
    );
    let seen = review(std::iter::once(LedgerRecord::parse(line.as_bytes()).unwrap()));
    assert_eq!(codes(&seen), [("unknown-type", 0)]);
    assert_eq!(seen.notes[0].detail, "type `later\\u{1b}` of format 1");
}

#[test]
fn records_that_start_late_do_not_accuse_what_they_cannot_see() {
    let directory = TestDirectory::new();
    let ledger = directory
        .open(ID, Hand::new().clock(), plugward_ledger::Durability::Off, Folds::none())
        .unwrap()
        .ledger;
    for event in [opened(), minted(1, None), used(1), ended(1, 3), ended(1, 3), used(9), ended(9, 6)] {
        ledger.append(&[event]).unwrap();
    }
    let bytes = directory.read("ledger.jsonl").unwrap();
    let late = |skip| {
        let lines = bytes.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()).skip(skip);
        codes(&review(lines.map(|line| LedgerRecord::parse(line).unwrap())))
    };
    assert_eq!(late(0), [("double-end", 5), ("use-without-mint", 6)]);
    // From the use on: its grant may be among the missing records. A double end is still detected.
    assert_eq!(late(3), [("double-end", 5)]);
    assert_eq!(late(4), []);
}

#[test]
fn a_ledger_in_memory_can_be_reviewed_too() {
    let ledger = Ledger::in_memory(ID, Hand::new().clock(), plugward_capability::folds()).unwrap();
    ledger.append(&[opened()]).unwrap();
    assert_eq!(review(std::iter::empty()), Review::default());
}
