//! Failing writes.

use crate::{append, clock, counted, filled, group, live, note, open, whole};
use plugward_ledger::{Durability, Folds, LedgerEvent, TestDirectory, WriteFault};

#[test]
fn a_write_that_fails_leaves_nothing_and_hands_nothing_out() {
    for fault in [WriteFault::Refused, WriteFault::Short(0), WriteFault::Short(17), WriteFault::Short(400)] {
        let directory = filled(3);
        let ledger = open(&directory).unwrap().ledger;
        let before = live(&directory);
        directory.fail_write(directory.writes(), fault);
        let mut asked = false;
        let error = ledger
            .append_if(|_| {
                asked = true;
                (vec![note(1), note(2), note(3)], "handed out")
            })
            .unwrap_err();
        assert!(asked);
        assert_eq!(error.code(), "ledger/append");
        assert_eq!(live(&directory), before, "{fault:?}");
        assert_eq!(counted(&ledger), 3);
        // The next one works, and the numbers have no gap.
        append(&ledger, 0..2);
        assert_eq!(whole(&live(&directory)), 6);
    }
}

#[test]
fn where_even_the_way_back_fails_the_rest_is_set_aside_later() {
    for cut in [1, 17, 230, 400] {
        let directory = filled(3);
        let ledger = open(&directory).unwrap().ledger;
        directory.fail_write(directory.writes(), WriteFault::Stuck(cut));
        assert_eq!(ledger.append(&[note(1), note(2)]).unwrap_err().code(), "ledger/append");
        append(&ledger, 0..1);
        whole(&live(&directory));
        assert!(directory.names().iter().any(|name| name.starts_with("ledger.torn-")), "{cut}");
    }
}

#[test]
fn after_a_failed_sync_the_handle_stops() {
    let directory = TestDirectory::new();
    let ledger = directory.open(crate::ID, clock(), Durability::Every, Folds::none()).unwrap().ledger;
    append(&ledger, 0..2);
    let before = live(&directory);
    directory.fail_write(directory.writes(), WriteFault::NotSynced);
    assert_eq!(ledger.append(&[note(1)]).unwrap_err().code(), "ledger/append");
    assert_eq!(live(&directory), before);
    assert_eq!(ledger.append(&[note(1)]).unwrap_err().code(), "ledger/stopped");
    assert_eq!(ledger.checkpoint().unwrap_err().code(), "ledger/stopped");
    // A new handle works.
    append(&open(&directory).unwrap().ledger, 0..1);
    whole(&live(&directory));
}

#[test]
fn each_durability_syncs_when_it_says() {
    let synced = |durability, events: &[LedgerEvent]| {
        let directory = TestDirectory::new();
        let ledger = directory.open(crate::ID, clock(), durability, Folds::none()).unwrap().ledger;
        // The fault only occurs if the append syncs.
        for event in events.iter().take(events.len() - 1) {
            ledger.append(std::slice::from_ref(event)).unwrap();
        }
        directory.fail_write(directory.writes(), WriteFault::NotSynced);
        ledger.append(&events[events.len() - 1..]).is_err()
    };
    let race = LedgerEvent::LaunchEnded { launch: 1, exit: None, signal: None };
    let races = |count: usize| vec![race.clone(); count];
    assert!(synced(Durability::Every, &races(1)));
    assert!(!synced(Durability::Decisions, &races(1)));
    assert!(synced(Durability::Decisions, &[race.clone(), note(1)]));
    assert!(!synced(Durability::Decisions, &races(63)));
    assert!(synced(Durability::Decisions, &races(64)));
    assert!(!synced(group(8), &races(7)));
    assert!(synced(group(8), &races(8)));
    assert!(!synced(Durability::Off, &races(200)));
}

#[test]
fn a_checkpoint_file_that_cannot_be_replaced_is_said_and_tried_again() {
    let directory = filled(255);
    let ledger = open(&directory).unwrap().ledger;
    directory.fail_anchor(2);
    // The record was written, but its caller must not act: the ledger could not keep its guarantee.
    assert_eq!(ledger.append(&[note(1)]).unwrap_err().code(), "ledger/io");
    let before = live(&directory);
    assert_eq!(ledger.append(&[note(1)]).unwrap_err().code(), "ledger/io");
    assert_eq!(live(&directory), before);
    append(&ledger, 0..1);
    assert!(directory.read("ledger.checkpoint").is_some());
    whole(&live(&directory));
}

#[test]
fn a_checkpoint_file_that_is_newer_is_left_alone() {
    let directory = filled(255);
    let (one, two) = (open(&directory).unwrap().ledger, open(&directory).unwrap().ledger);
    directory.fail_anchor(1);
    assert_eq!(one.append(&[note(1)]).unwrap_err().code(), "ledger/io");
    let newer = two.checkpoint().unwrap();
    append(&one, 0..1);
    assert_eq!(directory.read("ledger.checkpoint").unwrap(), newer.to_string().as_bytes());
}

#[test]
fn a_panic_in_a_decision_stops_the_handle_and_leaves_nothing() {
    let directory = filled(1);
    let ledger = open(&directory).unwrap().ledger;
    let before = live(&directory);
    let clone = ledger.clone();
    let thread =
        std::thread::spawn(move || clone.append_if(|_| -> (Vec<LedgerEvent>, ()) { panic!("on purpose") }));
    assert!(thread.join().is_err());
    assert_eq!(live(&directory), before);
    assert_eq!(ledger.append(&[note(1)]).unwrap_err().code(), "ledger/stopped");
}
