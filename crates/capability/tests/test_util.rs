//! Capabilities for tests: `cargo test -p plugward-capability --features test-util`.
#![expect(clippy::unwrap_used, reason = "a test fails by a panic")]

use plugward_capability::{
    Capability as _, EnvOp, EnvScope, NoScrub, Trail, TrailRules, UseCheck, UseOutcome, folds, for_tests,
    review,
};
use plugward_ledger::{Durability, LedgerId, LedgerRecord, LedgerTime, TestDirectory};

fn trail(
    directory: &TestDirectory,
    open: fn(plugward_ledger::Ledger, TrailRules) -> Result<Trail, plugward_capability::TrailError>,
) -> Trail {
    let clock = || LedgerTime::from_unix_micros(1_795_297_683_123_456).unwrap();
    let ledger = directory
        .open(LedgerId::from_bytes([1; 16]), Box::new(clock), Durability::Off, folds())
        .unwrap()
        .ledger;
    open(ledger, TrailRules { scrub: Box::new(NoScrub) }).unwrap()
}

#[test]
fn a_capability_for_tests_works_on_a_trail_for_tests_alone() {
    let capability = for_tests(EnvScope::new(&["HOME"]).unwrap());
    assert_eq!(capability.key().serial(), 0);
    let home = EnvOp::ReadVar { name: "HOME" };
    let directory = TestDirectory::new();
    let ordinary = trail(&directory, Trail::open);
    let UseCheck::Refused(no) = ordinary.try_use(&capability, home).unwrap() else { panic!() };
    assert_eq!(no.code(), "use/test-serial");
    let tests = trail(&directory, Trail::for_tests);
    let UseCheck::Granted(guard) = tests.try_use(&capability, home).unwrap() else { panic!() };
    guard.end(UseOutcome::Ok, None).unwrap();
    let UseCheck::Refused(no) = tests.try_use(&capability, EnvOp::ReadVar { name: "PATH" }).unwrap() else {
        panic!()
    };
    assert_eq!(no.code(), "use/not-covered");
    // The review reports that it was used on a ledger.
    let bytes = directory.read("ledger.jsonl").unwrap();
    let lines = bytes.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
    let seen = review(lines.map(|line| LedgerRecord::parse(line).unwrap()));
    assert_eq!(seen.findings.iter().map(|finding| finding.code).collect::<Vec<_>>(), ["test-serial"]);
}
