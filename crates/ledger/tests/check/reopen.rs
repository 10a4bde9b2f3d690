//! Opening damaged ledgers, and recovery.

use proptest::prelude::*;

use crate::{Counter, ID, append, clock, counted, filled, live, open, whole};
use plugward_ledger::{Durability, Fold, Folds, LedgerEvent, LedgerRecord, RecordValue, TestDirectory};

fn line_starts(bytes: &[u8]) -> Vec<usize> {
    std::iter::once(0)
        .chain(bytes.iter().enumerate().filter(|(_, byte)| **byte == b'\n').map(|(at, _)| at + 1))
        .collect()
}

fn cut_to(directory: &TestDirectory, length: usize) -> TestDirectory {
    let copy = TestDirectory::new();
    copy.write("ledger.jsonl", &live(directory)[..length]);
    copy
}

fn records(bytes: &[u8]) -> Vec<LedgerRecord> {
    bytes
        .split(|byte| *byte == b'\n')
        .filter(|line| !line.is_empty())
        .map(|line| LedgerRecord::parse(line).unwrap())
        .collect()
}

#[test]
fn a_cut_at_any_byte_reopens_and_keeps_every_whole_record() {
    let directory = filled(6);
    let bytes = live(&directory);
    for length in 0..=bytes.len() {
        let copy = cut_to(&directory, length);
        let opened = open(&copy).unwrap();
        let after = live(&copy);
        let kept = bytes[..length].iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
        assert_eq!(&after[..kept], &bytes[..kept], "{length}");
        if kept == length {
            assert!(opened.recovered.is_none(), "{length}");
            assert_eq!(after.len() > kept, length == 0, "{length}");
        } else {
            let tail = opened.recovered.unwrap();
            assert_eq!((tail.offset, tail.bytes), (kept as u64, (length - kept) as u64));
            assert_eq!(copy.read(&tail.saved_as).unwrap(), &bytes[kept..length]);
            assert!(copy.names().iter().all(|name| !name.contains(".part")), "{:?}", copy.names());
            let last = records(&after).pop().unwrap();
            assert!(
                matches!(last.event(), Some(LedgerEvent::LedgerRecovered { offset, sha256, .. })
                    if *offset == kept as u64 && *sha256 == plugward_ledger::LedgerDigest::of(&bytes[kept..length])),
                "{last:?}"
            );
        }
        append(&opened.ledger, 100..102);
        whole(&live(&copy));
    }
}

#[test]
fn torn_tails_of_every_sort_are_set_aside() {
    let bytes = live(&filled(3));
    let mut huge = vec![0; 300_000];
    huge[150_000] = b'x';
    let tails: [&[u8]; 6] =
        [b"\0\0\0\0", b"\0\0\0\0\n", b"{\"v\":1,\"seq\":4,\n", b"{\"v\":1}", &huge, b"not json at all\n"];
    for tail in tails {
        let directory = TestDirectory::new();
        directory.write("ledger.jsonl", &[&bytes, tail].concat());
        let opened = open(&directory).unwrap();
        let recovered = opened.recovered.unwrap();
        assert_eq!(recovered.bytes, tail.len() as u64);
        assert_eq!(directory.read(&recovered.saved_as).unwrap(), tail);
        assert_eq!(counted(&opened.ledger), 3);
        assert_eq!(whole(&live(&directory)), 5);
    }
}

#[test]
fn a_first_record_that_is_torn_begins_again() {
    let directory = TestDirectory::new();
    directory.write("ledger.jsonl", b"{\"v\":1,\"seq\":0,\"ts\":\"20");
    let opened = open(&directory).unwrap();
    assert_eq!(opened.recovered.unwrap().offset, 0);
    let types: Vec<_> =
        records(&live(&directory)).iter().map(|record| record.type_name().to_owned()).collect();
    assert_eq!(types, ["ledger_opened", "ledger_recovered"]);
}

#[test]
fn a_damaged_line_since_the_last_checkpoint_is_refused_and_located() {
    let directory = filled(6);
    let bytes = live(&directory);
    let starts = line_starts(&bytes);
    let refuse = |changed: Vec<u8>| {
        let copy = TestDirectory::new();
        copy.write("ledger.jsonl", &changed);
        let error = open(&copy).unwrap_err();
        assert_eq!(error.code(), "ledger/broken");
        // Nothing was appended, truncated or set aside.
        assert_eq!(live(&copy), changed);
        assert_eq!(copy.names(), ["ledger.jsonl"]);
        error.to_string()
    };
    // A line in the middle that is not JSON.
    let mut changed = bytes.clone();
    changed[starts[3]] = b'x';
    assert_eq!(refuse(changed), "ledger.jsonl:4 is not record 3 of the ledger: not a JSON object");
    // Another text of the same length: the next line's prev does not fit.
    let mut changed = bytes.clone();
    changed[starts[4] - 4] = b'9';
    assert_eq!(
        refuse(changed),
        "ledger.jsonl:5 is not record 4 of the ledger: prev is not the SHA-256 of the line before"
    );
    // A missing line.
    let changed = [&bytes[..starts[2]], &bytes[starts[3]..]].concat();
    assert_eq!(refuse(changed), "ledger.jsonl:3 is not record 2 of the ledger: seq is 3");
    // A complete last line with another prev is not a torn tail.
    let mut changed = bytes.clone();
    let at = starts[6] + 60;
    changed[at] = if bytes[at] == b'a' { b'b' } else { b'a' };
    assert_eq!(
        refuse(changed),
        "ledger.jsonl:7 is not record 6 of the ledger: prev is not the SHA-256 of the line before"
    );
    // A last line that is an object, but not a record.
    let changed = [&bytes[..], b"{}\n"].concat();
    assert_eq!(
        refuse(changed),
        "ledger.jsonl:8 is not record 7 of the ledger: at byte 0: expected {\"v\": and the version of the format"
    );
}

#[test]
fn a_file_whose_first_records_were_removed_is_refused() {
    // With and without a checkpoint after the removed part: neither may be opened and then fail at the first
    // append.
    let plain = filled(6);
    let anchored = filled(6);
    let _made = open(&anchored).unwrap().ledger.checkpoint().unwrap();
    for directory in [plain, anchored] {
        let bytes = live(&directory);
        let starts = line_starts(&bytes);
        for first in [1, 2, 4] {
            let cut = bytes[starts[first]..].to_vec();
            let copy = TestDirectory::new();
            copy.write("ledger.jsonl", &cut);
            let error = open(&copy).unwrap_err();
            assert_eq!(error.code(), "ledger/broken", "{error}");
            assert!(error.to_string().contains("ledger.jsonl:1 "), "{error}");
            assert_eq!(live(&copy), cut);
        }
    }
}

#[test]
fn records_of_a_newer_format_are_never_appended_to() {
    let directory = filled(2);
    let bytes = live(&directory);
    let sum = plugward_ledger::LedgerDigest::of(&bytes[line_starts(&bytes)[2]..]);
    let newer = format!(
        "{{\"v\":2,\"seq\":3,\"ts\":\"2026-11-21T21:48:03.123456Z\",\"prev\":\"{sum}\",\"type\":\"exception_used\"}}\n"
    );
    let ledger = open(&directory).unwrap().ledger;
    directory.write("ledger.jsonl", &[&bytes, newer.as_bytes()].concat());
    assert_eq!(open(&directory).unwrap_err().code(), "ledger/version");
    // It can still be read.
    assert_eq!(whole(&live(&directory)), 4);
    // An open handle detects that the file is another one.
    assert_eq!(ledger.append(&[crate::note(1)]).unwrap_err().code(), "ledger/other-ledger");
}

#[test]
fn open_goes_on_from_the_last_checkpoint_and_restores_the_folds() {
    let directory = filled(1_000);
    let bytes = live(&directory);
    let checkpoints: Vec<u64> = records(&bytes)
        .iter()
        .filter(|record| record.type_name() == "checkpoint")
        .map(LedgerRecord::seq)
        .collect();
    assert_eq!(checkpoints, [256, 512, 768]);
    assert_eq!(
        directory.read("ledger.checkpoint").unwrap().split(|byte| *byte == b'\n').nth(1).unwrap(),
        b"768"
    );
    let opened = open(&directory).unwrap();
    assert_eq!(counted(&opened.ledger), 1_000);
    append(&opened.ledger, 0..1);
    assert_eq!(whole(&live(&directory)), 1_005);
}

#[test]
fn a_line_that_was_changed_anywhere_before_the_last_checkpoint_is_refused_and_located() {
    let directory = filled(1_000);
    let bytes = live(&directory);
    let starts = line_starts(&bytes);
    let refuse = |changed: Vec<u8>| {
        let copy = TestDirectory::new();
        copy.write("ledger.jsonl", &changed);
        copy.write("ledger.checkpoint", &directory.read("ledger.checkpoint").unwrap());
        let error = open(&copy).unwrap_err();
        assert_eq!((error.code(), live(&copy) == changed), ("ledger/broken", true), "{error}");
        error.to_string()
    };
    for line in [1, 2, 100, 255, 256, 300, 512, 700, 766, 767] {
        // Another text of the same length.
        let mut changed = bytes.clone();
        let at = starts[line] + 100;
        changed[at] = if bytes[at] == b'a' { b'b' } else { b'a' };
        refuse(changed);
        // A missing line, and a duplicate one.
        let gone = refuse([&bytes[..starts[line]], &bytes[starts[line + 1]..]].concat());
        // The open begins at the checkpoint at 768, so a gap right before it is detected by its `prev`.
        let seen = if line == 767 { "prev is not the SHA-256 of the line before" } else { "seq is" };
        assert!(gone.contains(seen), "{gone}");
        refuse([&bytes[..starts[line + 1]], &bytes[starts[line]..]].concat());
        // Number and digest can be right, but the lines after it detect the change.
        let own = String::from_utf8(bytes[starts[line]..starts[line + 1]].to_vec()).unwrap();
        let other = own.replace("\"type\":\"exception_used\"", "\"type\":\"exception_us3d\"");
        if other != own {
            let changed = [&bytes[..starts[line]], other.as_bytes(), &bytes[starts[line + 1]..]].concat();
            let told = refuse(changed);
            assert!(told.ends_with("prev is not the SHA-256 of the line before"), "{told}");
            assert!(told.contains(&format!("ledger.jsonl:{} ", line + 2)), "{line}: {told}");
        }
        let noise = [&bytes[..starts[line]], b"no record\n", &bytes[starts[line]..]].concat();
        assert!(refuse(noise).contains("not a JSON object"));
    }
    assert!(open(&directory).is_ok());
}

/// A ledger whose records the checkpoint file covers, with and without a checkpoint record among them.
fn anchored(count: u64) -> TestDirectory {
    let directory = filled(count);
    let made = open(&directory).unwrap().ledger.anchor().unwrap();
    assert_eq!(directory.read("ledger.checkpoint").unwrap(), made.to_string().as_bytes());
    assert_eq!(made.size(), whole(&live(&directory)));
    directory
}

#[test]
fn records_that_the_checkpoint_file_covers_must_be_there() {
    for count in [6, 700] {
        let directory = anchored(count);
        let (bytes, anchor) = (live(&directory), directory.read("ledger.checkpoint").unwrap());
        let starts = line_starts(&bytes);
        let lines = starts.len() - 1;
        let open_with = |ledger: Option<&[u8]>, anchor: Option<&[u8]>| {
            let copy = TestDirectory::new();
            for (name, content) in [("ledger.jsonl", ledger), ("ledger.checkpoint", anchor)] {
                if let Some(content) = content {
                    copy.write(name, content);
                }
            }
            let before = (copy.names(), copy.read("ledger.jsonl"), copy.read("ledger.checkpoint"));
            open(&copy).map(|opened| opened.recovered).map_err(|error| {
                let after = (copy.names(), copy.read("ledger.jsonl"), copy.read("ledger.checkpoint"));
                assert_eq!(before, after, "nothing was changed");
                format!("{error} ({})", error.code())
            })
        };
        let lost = |ledger: Option<&[u8]>, expected: &str| {
            let told = open_with(ledger, Some(&anchor)).unwrap_err();
            assert_eq!(told, format!("cannot verify ledger.jsonl: {expected} (ledger/lost)"));
        };
        let missing = format!("it is missing or has no records, but ledger.checkpoint covers {lines}");
        lost(None, &missing);
        lost(Some(b""), &missing);
        lost(Some(b"no whole record"), &missing);
        lost(
            Some(&bytes[..starts[3] - 1]),
            &format!("it has 2 records, but ledger.checkpoint covers {lines}"),
        );
        lost(
            Some(&bytes[..starts[lines - 1]]),
            &format!("it has {} records, but ledger.checkpoint covers {lines}", lines - 1),
        );
        // The last line has no successor whose `prev` would detect a change.
        let mut changed = bytes.clone();
        let at = bytes.len() - 5;
        changed[at] = if bytes[at] == b'1' { b'2' } else { b'1' };
        lost(
            Some(&changed),
            &format!("its first {lines} records are not those that ledger.checkpoint covers"),
        );
        let text = String::from_utf8(anchor.clone()).unwrap();
        let other = text.replace("abab", "cdcd");
        let told = open_with(Some(&bytes), Some(other.as_bytes())).unwrap_err();
        assert!(told.contains("belongs to another ledger (ledger/lost)"), "{told}");
        for damaged in [&b""[..], b"plugward/ledger/\n", &[0; 100], &[0xff; 5_000]] {
            let told = open_with(Some(&bytes), Some(damaged)).unwrap_err();
            assert!(told.contains("ledger.checkpoint is damaged (ledger/lost)"), "{told}");
        }
        // A crash may remove uncovered records, and an older or missing checkpoint file is not an error.
        assert!(open_with(Some(&bytes), Some(&anchor)).unwrap().is_none());
        assert!(open_with(Some(&bytes), None).unwrap().is_none());
        assert!(open_with(Some(&bytes[..starts[3]]), None).unwrap().is_none());
        let torn = [&bytes[..], b"{\"v\":1,\"se"].concat();
        assert_eq!(open_with(Some(&torn), Some(&anchor)).unwrap().unwrap().bytes, 10);
        let early = anchored(3).read("ledger.checkpoint").unwrap();
        assert!(open_with(Some(&bytes), Some(&early)).unwrap().is_none());
    }
}

#[test]
fn an_anchor_covers_what_other_handles_appended_and_lets_them_go_on() {
    let directory = filled(3);
    let (one, two) = (open(&directory).unwrap().ledger, open(&directory).unwrap().ledger);
    append(&one, 0..5);
    assert_eq!(two.anchor().unwrap().size(), 9);
    append(&one, 0..5);
    assert_eq!(one.anchor().unwrap().size(), 14);
    assert_eq!(counted(&open(&directory).unwrap().ledger), 13);
    assert_eq!(whole(&live(&directory)), 14);
}

#[test]
fn a_checkpoint_without_the_counters_of_a_fold_is_passed_over() {
    let directory = filled(300);
    let plain = directory.open(ID, clock(), Durability::Off, Folds::none()).unwrap().ledger;
    append(&plain, 300..900);
    let opened = open(&directory).unwrap();
    assert_eq!(counted(&opened.ledger), 900);
    assert!(whole(&live(&directory)) > 900);
}

#[test]
fn counters_that_no_record_can_hold_are_left_out_of_checkpoints() {
    struct Huge(RecordValue);
    impl Fold for Huge {
        fn name(&self) -> &'static str {
            "huge"
        }
        fn apply(&mut self, _: &LedgerRecord) {}
        fn snapshot(&self) -> RecordValue {
            self.0.clone()
        }
        fn restore(&mut self, _: &RecordValue) -> Option<()> {
            Some(())
        }
        fn reset(&mut self) {}
    }
    let deep = (0..20).fold(RecordValue::Flag(true), |inner, _| RecordValue::List(vec![inner]));
    for state in [RecordValue::Number(1 << 53), deep, RecordValue::text(&"x".repeat(64 * 1024))] {
        let directory = TestDirectory::new();
        let open = || {
            directory
                .open(ID, clock(), Durability::Off, Folds::none().with(Huge(state.clone())))
                .unwrap()
                .ledger
        };
        append(&open(), 0..600);
        append(&open(), 0..1);
        assert!(!String::from_utf8(live(&directory)).unwrap().contains("\"state\""));
        assert_eq!(whole(&live(&directory)), 604);
    }
}

#[test]
fn a_last_checkpoint_that_lies_is_refused() {
    let directory = filled(0);
    let ledger = open(&directory).unwrap().ledger;
    append(&ledger, 0..5);
    ledger.close().unwrap();
    let text = String::from_utf8(live(&directory)).unwrap();
    for (from, to, why) in [
        (
            "\"type\":\"checkpoint\",\"size\":6",
            "\"type\":\"checkpoint\",\"size\":5",
            "the checkpoint does not match the lines before it",
        ),
        ("number 4", "number 5", "prev is not the SHA-256 of the line before"),
    ] {
        assert!(text.contains(from));
        directory.write("ledger.jsonl", text.replace(from, to).as_bytes());
        let error = open(&directory).unwrap_err();
        assert_eq!(error.to_string(), format!("ledger.jsonl:7 is not record 6 of the ledger: {why}"));
    }
}

#[test]
fn a_recovery_that_a_crash_broke_off_is_finished() {
    let directory = filled(3);
    let bytes = live(&directory);
    let torn = b"{\"v\":1,\"se";
    let short: String = plugward_ledger::LedgerDigest::of(torn).to_string().chars().take(8).collect();
    let name = format!("ledger.torn-{}-{short}", bytes.len());
    let part = format!("{name}.part");
    // After the copy, before the truncation: the tail is still there.
    let a = TestDirectory::new();
    a.write("ledger.jsonl", &[&bytes[..], torn].concat());
    a.write(&part, &torn[..4]);
    // After the truncation, before the record.
    let b = TestDirectory::new();
    b.write("ledger.jsonl", &bytes);
    b.write(&part, torn);
    // After the record, before the copy was renamed.
    let c = TestDirectory::new();
    c.write("ledger.jsonl", &[&bytes[..], torn].concat());
    open(&c).unwrap();
    c.write(&part, torn);
    for directory in [a, b, c] {
        open(&directory).unwrap();
        assert_eq!(directory.read(&name).unwrap(), torn);
        assert!(directory.read(&part).is_none());
        let recoveries = records(&live(&directory))
            .iter()
            .filter(|record| record.type_name() == "ledger_recovered")
            .count();
        assert_eq!(recoveries, 1);
        assert_eq!(whole(&live(&directory)), 5);
        open(&directory).unwrap();
        assert_eq!(whole(&live(&directory)), 5);
    }
}

#[test]
fn a_new_ledger_does_not_write_over_the_checkpoint_of_an_older_one() {
    let directory = filled(300);
    let old = directory.read("ledger.checkpoint").unwrap();
    let moved = TestDirectory::new();
    moved.write("ledger.checkpoint", &old);
    assert_eq!(open(&moved).unwrap_err().code(), "ledger/lost");
    assert_eq!(
        (moved.names(), moved.read("ledger.checkpoint")),
        (vec!["ledger.checkpoint".to_owned()], Some(old))
    );
}

#[test]
fn two_handles_append_in_turn_and_see_each_other() {
    let directory = filled(0);
    let (one, two) = (open(&directory).unwrap().ledger, open(&directory).unwrap().ledger);
    for round in 0..300 {
        append(&one, round..round + 1);
        append(&two, round..round + 1);
    }
    assert_eq!((counted(&one), counted(&two)), (600, 600));
    whole(&live(&directory));
    // A torn tail left by a crash of the other process is set aside by the next append.
    let bytes = live(&directory);
    let directory = TestDirectory::new();
    directory.write("ledger.jsonl", &bytes);
    let one = open(&directory).unwrap().ledger;
    one.append(&[crate::note(1)]).unwrap();
}

#[test]
fn a_file_that_was_cut_or_replaced_under_a_handle_is_refused() {
    let directory = filled(4);
    let ledger = open(&directory).unwrap().ledger;
    let bytes = live(&directory);
    directory.write("ledger.jsonl", &bytes);
    assert_eq!(ledger.append(&[crate::note(1)]).unwrap_err().code(), "ledger/other-ledger");
    assert_eq!(live(&directory), bytes);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn any_sequence_of_appends_closes_and_cuts_stays_whole(
        steps in prop::collection::vec((0..4_u8, 1..40_usize, any::<prop::sample::Index>()), 1..12),
    ) {
        let directory = TestDirectory::new();
        for (kind, count, at) in steps {
            let ledger = open(&directory).unwrap().ledger;
            match kind {
                0 => append(&ledger, 0..count as u64),
                1 => { ledger.append(&vec![crate::note(9); count]).unwrap(); }
                2 => { ledger.close().unwrap(); }
                _ => {
                    // A crash: a part of the last line is missing.
                    append(&ledger, 0..1);
                    let bytes = live(&directory);
                    let last = bytes[..bytes.len() - 1].iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
                    let keep = last + at.index(bytes.len() - last);
                    directory.write("ledger.jsonl", &bytes[..keep]);
                }
            }
        }
        let ledger = open(&directory).unwrap().ledger;
        let notes = crate::verify_bytes(&live(&directory), &[]).folds.get::<Counter>().unwrap().notes;
        prop_assert_eq!(notes, counted(&ledger));
        whole(&live(&directory));
    }
}
