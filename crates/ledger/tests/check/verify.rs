//! Results of verification.

use crate::{append, clock, filled, live, note, open, verify_bytes};
use plugward_ledger::{
    ChainCheck, ChainFault, Checkpoint, Durability, Folds, LedgerDigest, LedgerEvent, LedgerId, LedgerRecord,
    TestDirectory, verify,
};

fn checkpoints(bytes: &[u8]) -> Vec<Checkpoint> {
    let lines = bytes.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
    let of = |line: &[u8]| match LedgerRecord::parse(line).unwrap().event() {
        Some(LedgerEvent::Checkpoint { size, root, .. }) => Some(Checkpoint::new(crate::ID, *size, *root)),
        _ => None,
    };
    lines.filter_map(of).collect()
}

#[test]
fn a_whole_ledger_is_whole_and_its_checkpoints_fit() {
    let bytes = live(&filled(600));
    let checkpoints = checkpoints(&bytes);
    assert_eq!(checkpoints.len(), 2);
    let verified = verify_bytes(&bytes, &checkpoints);
    assert!(matches!(verified.check, ChainCheck::Whole { records: 603, .. }), "{:?}", verified.check);
    assert_eq!(verified.anchored.len(), 2);
    assert_eq!(verified.ledger, Some(crate::ID));
    assert!(verify_bytes(&bytes, &[]).anchored.is_empty());
}

#[test]
fn every_changed_byte_before_the_last_checkpoint_is_found() {
    let directory = filled(4);
    open(&directory).unwrap().ledger.close().unwrap();
    let bytes = live(&directory);
    let anchor = checkpoints(&bytes);
    let last = bytes[..bytes.len() - 1].iter().rposition(|byte| *byte == b'\n').unwrap();
    for at in 0..=last {
        for flip in [1, 0x20, 0x80] {
            let mut changed = bytes.clone();
            changed[at] ^= flip;
            let verified = verify_bytes(&changed, &anchor);
            assert!(
                !matches!(verified.check, ChainCheck::Whole { .. }),
                "byte {at} by {flip}: {:?}",
                verified.check
            );
        }
    }
}

#[test]
fn every_removed_or_repeated_line_is_found() {
    let directory = filled(5);
    open(&directory).unwrap().ledger.close().unwrap();
    let bytes = live(&directory);
    let lines: Vec<&[u8]> = bytes.split_inclusive(|byte| *byte == b'\n').collect();
    for at in 0..lines.len() - 1 {
        let without = [&lines[..at], &lines[at + 1..]].concat().concat();
        assert!(!matches!(verify_bytes(&without, &[]).check, ChainCheck::Whole { .. }), "{at}");
        let twice = [&lines[..=at], &lines[at..]].concat().concat();
        assert!(!matches!(verify_bytes(&twice, &[]).check, ChainCheck::Whole { .. }), "{at}");
    }
}

#[test]
fn a_cut_at_the_end_shows_against_a_checkpoint_only() {
    let bytes = live(&filled(300));
    let anchor = checkpoints(&bytes).remove(0);
    let lines: Vec<&[u8]> = bytes.split_inclusive(|byte| *byte == b'\n').collect();
    let cut = lines[..200].concat();
    let verified = verify_bytes(&cut, &[]);
    assert!(matches!(verified.check, ChainCheck::Whole { records: 200, .. }));
    assert!(verified.anchored.is_empty());
    assert_eq!(
        verify_bytes(&cut, std::slice::from_ref(&anchor)).check,
        ChainCheck::Truncated { checkpoint: anchor.clone(), have: 200 }
    );
    // One line less than the checkpoint covers is detected; exactly as many match.
    let have = |count: usize| verify_bytes(&lines[..count].concat(), std::slice::from_ref(&anchor)).check;
    assert!(matches!(have(255), ChainCheck::Truncated { have: 255, .. }));
    assert!(matches!(have(256), ChainCheck::Whole { .. }));
}

#[test]
fn a_ledger_that_was_written_anew_shows_against_a_checkpoint() {
    let anchor = checkpoints(&live(&filled(300))).remove(0);
    let directory = filled(0);
    append(&open(&directory).unwrap().ledger, 1..301);
    let verified = verify_bytes(&live(&directory), std::slice::from_ref(&anchor));
    assert_eq!(verified.check, ChainCheck::Diverged { checkpoint: anchor.clone() });
    // A checkpoint of another ledger never matches, whatever its size.
    for size in [1, 256, 100_000] {
        let other = Checkpoint::new(LedgerId::from_bytes([1; 16]), size, anchor.root());
        assert_eq!(
            verify_bytes(&live(&directory), std::slice::from_ref(&other)).check,
            ChainCheck::Diverged { checkpoint: other }
        );
    }
    // A checkpoint of no lines proves nothing.
    let empty = Checkpoint::new(crate::ID, 0, LedgerDigest::of(b""));
    assert_eq!(verify_bytes(&live(&directory), std::slice::from_ref(&empty)).unchecked, [empty]);
}

#[test]
fn nothing_is_no_ledger() {
    let opening =
        ChainCheck::Broken { file: "ledger.jsonl".into(), line: 1, seq: 0, why: ChainFault::Opening };
    assert_eq!(verify_bytes(b"", &[]).check, opening);
    let lines = live(&filled(2));
    let first = lines.iter().position(|byte| *byte == b'\n').unwrap() + 1;
    assert_eq!(verify_bytes(&lines[first..], &[]).check, ChainCheck::StartsLate { seq: 1 });
    assert_eq!(
        verify_bytes(b"x", &[]).check,
        ChainCheck::Torn { file: "ledger.jsonl".into(), offset: 0, bytes: 1 }
    );
}

#[test]
fn torn_and_broken_are_told_apart() {
    let bytes = live(&filled(2));
    let end = bytes.len() as u64;
    let torn = |tail: &[u8]| verify_bytes(&[&bytes, tail].concat(), &[]).check;
    let file = || "ledger.jsonl".to_owned();
    assert_eq!(torn(b"{\"v"), ChainCheck::Torn { file: file(), offset: end, bytes: 3 });
    assert_eq!(torn(b"nothing\n"), ChainCheck::Torn { file: file(), offset: end, bytes: 8 });
    let long = vec![0; 500_000];
    assert_eq!(torn(&long), ChainCheck::Torn { file: file(), offset: end, bytes: 500_000 });
    let broken = ChainCheck::Broken { file: file(), line: 4, seq: 3, why: ChainFault::NotJson };
    assert_eq!(torn(b"nothing\n{\"v"), broken);
    assert_eq!(torn(b"nothing\nnothing\n"), broken);
    assert_eq!(
        torn(b"{}\n"),
        ChainCheck::Broken {
            file: file(),
            line: 4,
            seq: 3,
            why: ChainFault::Shape { at: 0, expected: "{\"v\": and the version of the format" },
        }
    );
}

#[test]
fn stored_counters_that_lie_are_found() {
    let directory = filled(4);
    open(&directory).unwrap().ledger.close().unwrap();
    let text = String::from_utf8(live(&directory)).unwrap();
    assert!(text.contains("\"notes\":4"));
    let verified = verify_bytes(text.replace("\"notes\":4", "\"notes\":3").as_bytes(), &[]);
    assert_eq!(
        verified.check,
        ChainCheck::Broken { file: "ledger.jsonl".into(), line: 6, seq: 5, why: ChainFault::State }
    );
    assert_eq!(ChainFault::State.code(), "ledger/state-mismatch");
}

#[test]
fn pieces_of_any_length_give_the_same() {
    let bytes = live(&filled(40));
    let whole = verify(std::iter::once(Ok(bytes.clone())), &[]).unwrap();
    for length in [1, 2, 3, 200, 281, 5_000] {
        assert_eq!(verify(bytes.chunks(length).map(|piece| Ok(piece.to_vec())), &[]).unwrap(), whole);
    }
    let error = verify(std::iter::once(Err(std::io::ErrorKind::PermissionDenied.into())), &[]).unwrap_err();
    assert_eq!(error.code(), "ledger/io");
}

#[test]
fn a_ledger_in_memory_is_one() {
    let ledger = plugward_ledger::Ledger::in_memory(crate::ID, clock(), Folds::none()).unwrap();
    append(&ledger, 0..3);
    assert_eq!(ledger.id().unwrap(), crate::ID);
    let directory = TestDirectory::new();
    let same = directory.open(crate::ID, clock(), Durability::Every, Folds::none()).unwrap().ledger;
    append(&same, 0..3);
    assert_eq!(ledger.append(&[note(3)]).unwrap().head(), same.append(&[note(3)]).unwrap().head());
}
