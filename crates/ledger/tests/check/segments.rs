//! Ledgers with several segments.

use crate::{append, clock, counted, filled, live, note, open};
use plugward_ledger::{
    ChainCheck, ChainFault, ChainVerification, ChainVerifier, Durability, Folds, Ledger, TestDirectory,
    VerifyPlan,
};

/// Returns the numbers of the first and last record of a segment, which are in its name.
fn segment_range(name: &str) -> Option<(u64, u64)> {
    let (first, last) = name.strip_prefix("ledger-")?.strip_suffix(".jsonl")?.split_once('-')?;
    Some((first.parse().ok()?, last.parse().ok()?))
}

fn files(directory: &TestDirectory) -> Vec<String> {
    let mut names: Vec<_> = directory
        .names()
        .into_iter()
        .filter_map(|name| segment_range(&name).map(|(first, _)| (first, name)))
        .collect();
    names.sort();
    let mut names: Vec<_> = names.into_iter().map(|(_, name)| name).collect();
    names.push("ledger.jsonl".into());
    names
}

fn verify_files(directory: &TestDirectory, names: &[String], plan: VerifyPlan) -> ChainVerification {
    let mut verifier = ChainVerifier::new(plan.folds(Folds::none().with(crate::Counter::default())));
    for name in names {
        verifier.begin(name);
        verifier.feed(&directory.read(name).unwrap(), &mut |_, _| ());
    }
    verifier.finish()
}

fn small(directory: &TestDirectory) -> Ledger {
    let ledger = open(directory).unwrap().ledger;
    ledger.set_segment_bytes(10_000);
    ledger
}

fn segmented(count: u64) -> TestDirectory {
    let directory = filled(0);
    append(&small(&directory), 0..count);
    directory
}

#[test]
fn segments_go_on_with_the_same_chain() {
    let directory = segmented(200);
    let names = files(&directory);
    assert!(names.len() > 3, "{names:?}");
    let verified = verify_files(&directory, &names, VerifyPlan::new());
    assert!(
        matches!(verified.check, ChainCheck::Whole { records, .. } if records > 200),
        "{:?}",
        verified.check
    );
    // The name of each segment has the numbers of its records.
    let (first, last) = segment_range(&names[1]).unwrap();
    let lines = directory.read(&names[1]).unwrap().split_inclusive(|byte| *byte == b'\n').count();
    assert_eq!(last - first + 1, lines as u64);
    let opened = open(&directory).unwrap();
    assert_eq!(counted(&opened.ledger), 200);
    append(&opened.ledger, 0..1);
}

#[test]
fn a_handle_follows_others_into_new_segments() {
    let directory = filled(0);
    let (one, two) = (small(&directory), small(&directory));
    append(&one, 0..5);
    append(&two, 5..10);
    // One new segment, then several, while the other one sleeps.
    append(&two, 10..50);
    append(&one, 50..51);
    append(&two, 51..400);
    append(&one, 400..401);
    assert_eq!((counted(&one), counted(&two)), (401, 401));
    let verified = verify_files(&directory, &files(&directory), VerifyPlan::new());
    assert!(matches!(verified.check, ChainCheck::Whole { .. }), "{:?}", verified.check);
}

#[test]
fn a_crash_between_two_renames_is_undone() {
    let directory = segmented(60);
    let names = files(&directory);
    let last = &names[names.len() - 2];
    // The live file was renamed to a segment, and the new one did not replace it.
    let crashed = TestDirectory::new();
    for name in names.iter().filter(|name| *name != "ledger.jsonl") {
        crashed.write(name, &directory.read(name).unwrap());
    }
    crashed.write("ledger.next", b"half of a n");
    let opened = open(&crashed).unwrap();
    assert!(crashed.read(last).is_none());
    assert_eq!(live(&crashed), directory.read(last).unwrap());
    opened.ledger.set_segment_bytes(10_000);
    append(&opened.ledger, 0..100);
    let verified = verify_files(&crashed, &files(&crashed), VerifyPlan::new());
    assert!(matches!(verified.check, ChainCheck::Whole { .. }), "{:?}", verified.check);
    // An open handle does the same.
    let ledger = small(&directory);
    let names = files(&directory);
    let bytes = live(&directory);
    directory.write("ledger.jsonl", &bytes);
    assert_eq!(ledger.append(&[note(1)]).unwrap_err().code(), "ledger/other-ledger");
    assert_eq!(names, files(&directory));
}

#[test]
fn a_live_file_without_one_record_goes_on_from_the_last_segment() {
    for garbage in [b"".as_slice(), b"\0\0\0", b"garbage\n"] {
        let directory = segmented(60);
        let names = files(&directory);
        directory.write("ledger.jsonl", garbage);
        // The checkpoint file covers records that only the live file had.
        assert_eq!(open(&directory).unwrap_err().code(), "ledger/lost");
        assert_eq!((files(&directory), live(&directory)), (names, garbage.to_vec()), "nothing was renamed");
        let kept = TestDirectory::new();
        for name in files(&directory) {
            kept.write(&name, &directory.read(&name).unwrap());
        }
        let directory = kept;
        let opened = open(&directory).unwrap();
        assert_eq!(opened.recovered.is_some(), !garbage.is_empty());
        append(&opened.ledger, 0..3);
        let verified = verify_files(&directory, &files(&directory), VerifyPlan::new());
        assert!(matches!(verified.check, ChainCheck::Whole { .. }), "{:?}", verified.check);
    }
}

#[test]
fn counters_are_replayed_from_older_segments() {
    let directory = segmented(60);
    // A program without folds continues: its checkpoints have no counters.
    let plain = directory.open(crate::ID, clock(), Durability::Off, Folds::none()).unwrap().ledger;
    plain.set_segment_bytes(10_000);
    append(&plain, 60..200);
    assert_eq!(counted(&open(&directory).unwrap().ledger), 200);
    // Without the records that they come from, the counters cannot be computed.
    let late = TestDirectory::new();
    late.write("ledger.jsonl", &live(&directory));
    assert_eq!(open(&late).unwrap_err().code(), "ledger/broken");
    assert!(late.open(crate::ID, clock(), Durability::Off, Folds::none()).is_ok());
}

#[test]
fn older_segments_may_be_gone_if_someone_says_so() {
    let directory = segmented(200);
    let names = files(&directory);
    let (first, _) = segment_range(&names[2]).unwrap();
    let late = &names[2..];
    let check = |plan| verify_files(&directory, late, plan).check;
    assert_eq!(check(VerifyPlan::new()), ChainCheck::StartsLate { seq: first });
    assert_eq!(check(VerifyPlan::new().from(first + 1)), ChainCheck::StartsLate { seq: first });
    assert!(matches!(check(VerifyPlan::new().from(first)), ChainCheck::Whole { .. }));
    let root = |check| match check {
        ChainCheck::Whole { root, .. } => root,
        other => panic!("{other:?}"),
    };
    // The tree is the same as with all of them.
    assert_eq!(
        root(check(VerifyPlan::new().from(first))),
        root(verify_files(&directory, &names, VerifyPlan::new()).check)
    );
    // A segment that is missing in the middle, or there twice, is detected.
    let gap = [names[0].clone(), names[2].clone()];
    assert!(matches!(
        verify_files(&directory, &gap, VerifyPlan::new()).check,
        ChainCheck::Broken { line: 1, why: ChainFault::Seq { .. }, .. }
    ));
    let twice = [names[0].clone(), names[0].clone()];
    assert!(matches!(verify_files(&directory, &twice, VerifyPlan::new()).check, ChainCheck::Broken { .. }));
    // So is a torn one with others after it.
    let bytes = directory.read(&names[0]).unwrap();
    directory.write(&names[0], &bytes[..bytes.len() - 5]);
    let broken = verify_files(&directory, &names, VerifyPlan::new()).check;
    assert!(matches!(broken, ChainCheck::Broken { why: ChainFault::NotJson, .. }), "{broken:?}");
}
