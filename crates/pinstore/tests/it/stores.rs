//! Stores that cannot be used, and what a host makes of them.

use core::time::Duration;
use std::os::unix::fs::symlink;

use plugward_pinstore::{
    AgreedAge, Change, ChangeOutcome, LockMatch, PinCheck, PinDecision, PinOrigin, Pins, STORE_ERROR_EXIT,
    SameContentsPin, StoreCheck, StoreDecision, StoreErrorKind, StoreErrorRule, StoreFault, TrustMode,
    WriteOutcome, decide,
};

use crate::support::{
    Home, LAST_GOOD, PINS, SAME, accept, check, commit, deny, enroll, facts, key, now, observed, tree,
};

const A: &str = "path:/plugins/a";

fn pinned() -> Home {
    let home = Home::new();
    let _done = commit(&mut home.open().0, enroll(A, &facts(1)));
    home
}

#[test]
fn deleting_the_file_does_not_unpin() {
    let home = pinned();
    std::fs::remove_file(home.directory.path().join(PINS)).unwrap();
    let (mut pins, found) = home.open();
    assert!(matches!(found, StoreCheck::Recovered { fault: StoreFault::Missing }));
    assert!(matches!(check(&pins, A, &facts(2)), PinCheck::Changed(_)));
    // On disk with the next commit; there was nothing to keep.
    let done = commit(&mut pins, enroll("path:/plugins/b", &facts(3)));
    assert_eq!(done.wrote, WriteOutcome::Synced { kept: None });
    assert!(matches!(home.open().1, StoreCheck::Ready));
    // To start over is a verb of its own.
    let done = commit(&mut pins, Change::ForgetAll);
    assert_eq!(done.outcomes, [ChangeOutcome::Done]);
    assert_eq!(check(&home.open().0, A, &facts(2)), PinCheck::Unpinned);
}

#[test]
fn a_damaged_file_is_kept_and_at_most_three_are() {
    let home = pinned();
    for number in 2..8 {
        home.write(PINS, &format!("damage {number}"));
        let (mut pins, found) = home.open();
        assert!(matches!(found, StoreCheck::Recovered { fault: StoreFault::Damaged(_) }));
        let done = commit(&mut pins, enroll(&format!("path:/plugins/p{number}"), &facts(number)));
        let WriteOutcome::Synced { kept: Some(kept) } = done.wrote else { panic!("{:?}", done.wrote) };
        assert!(kept.starts_with("plugins.pins.toml.damaged-") && kept.len() == PINS.len() + 17, "{kept}");
        assert_eq!(home.read(&kept), format!("damage {number}"));
    }
    let damaged = home.names().into_iter().filter(|name| name.contains("damaged")).count();
    assert_eq!(damaged, 3);
    assert_eq!(home.open().0.iter().count(), 7, "no pin was lost");
}

#[test]
fn a_link_fifo_folder_or_open_mode_is_never_believed() {
    let home = pinned();
    let path = home.directory.path().join(PINS);
    let other = home.directory.path().join("other");
    std::fs::copy(&path, &other).unwrap();
    let put: [(&str, &dyn Fn()); 4] = [
        ("link", &|| symlink("other", &path).unwrap()),
        ("fifo", &|| {
            let made = std::process::Command::new("mkfifo").arg(&path).status().unwrap();
            assert!(made.success());
        }),
        ("folder", &|| std::fs::create_dir(&path).unwrap()),
        ("twin", &|| std::fs::hard_link(&other, &path).unwrap()),
    ];
    for (number, (what, put)) in put.into_iter().enumerate() {
        std::fs::remove_file(&path).unwrap();
        put();
        let (mut pins, found) = home.open();
        let StoreCheck::Recovered { fault: StoreFault::Unreadable(error) } = &found else {
            panic!("{what}: {found:?}")
        };
        assert_eq!(error.code(), "state/not-ours", "{what}");
        assert_eq!(check(&pins, A, &facts(1)), SAME);
        // The next commit puts a file of ours there, and keeps what was there.
        let seen = facts(10 + u64::try_from(number).unwrap());
        if what == "twin" {
            // All three names are taken: nothing is written over, and the pins that were read hold.
            let error =
                pins.commit(vec![enroll(&format!("path:/plugins/{what}"), &seen)], now()).unwrap_err();
            assert_eq!(error.code(), "pin/not-saved");
            assert_eq!(check(&pins, A, &facts(1)), SAME);
            assert!(!error.help().is_empty());
        } else {
            let done = commit(&mut pins, enroll(&format!("path:/plugins/{what}"), &seen));
            assert_eq!(done.outcomes, [ChangeOutcome::Done], "{what}");
            assert!(matches!(home.open().1, StoreCheck::Ready), "{what}");
        }
    }
    assert!(std::fs::read_to_string(&other).unwrap().contains("serial = 1"), "a link was not followed");
    // What another user could write is an error, since the backup does not show what they wrote.
    let home = pinned();
    home.set_mode(0o666);
    let error = Pins::open(&home.file()).unwrap_err();
    assert_eq!(error.code(), "pin/store");
    assert!(error.help().contains("chmod go-w"), "{}", error.help());
    home.set_mode(0o660);
    assert!(matches!(home.open().1, StoreCheck::Ready));
    home.set_mode(0o666);
    Pins::start_over(&home.file(), Vec::new(), now(), Duration::from_secs(1)).unwrap();
    assert!(matches!(home.open().1, StoreCheck::Ready));
}

#[test]
fn both_bad_is_an_error_and_starting_over_keeps_both() {
    let home = pinned();
    home.write(PINS, "bad");
    home.write(LAST_GOOD, "worse");
    let error = Pins::open(&home.file()).unwrap_err();
    assert_eq!(error.code(), "pin/store");
    assert!(matches!(
        error.kind(),
        StoreErrorKind::Unusable { main: StoreFault::Damaged(_), last_good: StoreFault::Damaged(_) }
    ));
    assert!(error.help().contains("delete all pins and start over"));
    assert!(
        error.to_string().starts_with("cannot use plugins.pins.toml: the file is damaged (line 1"),
        "{error}"
    );
    let pins = Pins::start_over(&home.file(), Vec::new(), now(), Duration::from_secs(60)).unwrap();
    assert_eq!((pins.iter().count(), pins.serial()), (0, 1));
    assert!(matches!(home.open().1, StoreCheck::Ready));
    let kept: Vec<String> = home.names().into_iter().filter(|name| name.contains("damaged")).collect();
    assert_eq!(kept.iter().map(|name| home.read(name)).collect::<Vec<_>>().len(), 2);
    assert!(
        kept.iter().any(|name| home.read(name) == "bad")
            && kept.iter().any(|name| home.read(name) == "worse")
    );
}

#[test]
fn a_bad_copy_without_the_file_is_no_first_use() {
    let home = pinned();
    std::fs::remove_file(home.directory.path().join(PINS)).unwrap();
    home.write(LAST_GOOD, "worse");
    assert_eq!(Pins::open(&home.file()).unwrap_err().code(), "pin/store");
}

#[test]
fn a_held_file_is_read_and_a_commit_says_who_holds_it() {
    let home = pinned();
    let file = home.file();
    let hold = file.lock(Duration::from_secs(60)).unwrap();
    let (pins, found) = home.open();
    assert!(matches!(found, StoreCheck::Ready));
    let mut pins = pins.with_wait(Duration::ZERO);
    let error = pins.commit(vec![enroll("path:/plugins/b", &facts(2))], now()).unwrap_err();
    assert_eq!(error.code(), "pin/not-saved");
    let StoreErrorKind::NotSaved(cause) = error.kind() else { panic!() };
    assert_eq!(cause.code(), "state/held");
    assert!(error.help().contains(&std::process::id().to_string()), "{}", error.help());
    assert!(core::error::Error::source(&error).unwrap().to_string().contains("locked by another process"));
    assert_eq!(check(&pins, A, &facts(1)), SAME);
    assert_eq!(check(&pins, "path:/plugins/b", &facts(2)), PinCheck::Unpinned);
    drop(hold);
}

#[test]
fn accept_is_made_on_what_was_shown_over_what_was_shown() {
    let home = pinned();
    let (mut first, _) = home.open();
    let (mut second, _) = home.open();
    // The plugin changed between the look and the word.
    let done = commit(&mut first, accept(A, &facts(3), 2, Some(1)));
    assert_eq!(done.outcomes, [ChangeOutcome::NotShown { shown: tree(2), actual: tree(3) }]);
    assert_eq!((done.outcomes[0].code(), done.wrote), (Some("pin/not-shown"), WriteOutcome::Nothing));
    // Another process changed the pin in between.
    let _done = commit(&mut second, accept(A, &facts(5), 5, Some(1)));
    let done = commit(&mut first, accept(A, &facts(2), 2, Some(1)));
    assert_eq!(done.outcomes, [ChangeOutcome::Raced { current: Some(tree(5)) }]);
    assert_eq!(done.outcomes[0].code(), Some("pin/raced"));
    let done = commit(&mut first, accept(A, &facts(2), 2, Some(5)));
    assert_eq!(done.outcomes, [ChangeOutcome::Done]);
    // The pin was dropped in between; or there never was one and somebody made one.
    let _done = commit(&mut second, Change::Forget { key: key(A) });
    let done = commit(&mut first, accept(A, &facts(3), 3, Some(2)));
    assert_eq!(done.outcomes, [ChangeOutcome::Raced { current: None }]);
    let _done = commit(&mut second, enroll(A, &facts(9)));
    let done = commit(&mut first, accept(A, &facts(3), 3, None));
    assert_eq!(done.outcomes, [ChangeOutcome::Raced { current: Some(tree(9)) }]);
}

#[test]
fn deny_allow_and_forget() {
    let home = pinned();
    let (mut pins, _) = home.open();
    let deny_it = |plugin: &str| deny(plugin, None);
    let allow = |plugin: &str| Change::Allow { key: key(plugin) };
    let forget = |plugin: &str| Change::Forget { key: key(plugin) };
    // A plugin that was never seen, and one that is pinned.
    for plugin in ["path:/plugins/new", A] {
        assert_eq!(commit(&mut pins, deny_it(plugin)).outcomes, [ChangeOutcome::Done]);
        assert_eq!(commit(&mut pins, deny_it(plugin)).outcomes, [ChangeOutcome::Already]);
        assert!(matches!(check(&pins, plugin, &facts(1)), PinCheck::Denied { .. }), "same bytes or not");
        assert!(matches!(check(&pins, plugin, &facts(2)), PinCheck::Denied { .. }));
        for change in [enroll(plugin, &facts(2)), accept(plugin, &facts(2), 2, Some(1)), forget(plugin)] {
            let done = commit(&mut pins, change);
            assert_eq!(done.outcomes[0].code(), Some("policy/denied"));
        }
        assert_eq!(commit(&mut pins, allow(plugin)).outcomes, [ChangeOutcome::Done]);
    }
    // Nothing was enrolled, and the pin from before holds: a change under the denial is still a change.
    assert_eq!(check(&pins, "path:/plugins/new", &facts(2)), PinCheck::Unpinned);
    assert_eq!(check(&pins, A, &facts(1)), SAME);
    assert!(matches!(check(&pins, A, &facts(2)), PinCheck::Changed(_)));
    assert_eq!(commit(&mut pins, allow(A)).outcomes, [ChangeOutcome::Already]);
    assert_eq!(commit(&mut pins, allow("path:/plugins/none")).outcomes, [ChangeOutcome::Absent]);
    assert_eq!(commit(&mut pins, forget(A)).outcomes, [ChangeOutcome::Done]);
    assert_eq!(commit(&mut pins, forget(A)).outcomes[0].code(), Some("pin/none"));
    // The bytes that were there are kept with the denial; allowed again, the pin from before holds and they do not.
    let seen = |plugin: &str| deny(plugin, Some(7));
    let both = pins.commit(vec![seen("path:/plugins/new"), enroll(A, &facts(1)), seen(A)], now()).unwrap();
    assert_eq!(both.outcomes, [ChangeOutcome::Done, ChangeOutcome::Done, ChangeOutcome::Done]);
    let denied = |pins: &Pins, plugin: &str| {
        pins.get(&key(plugin)).and_then(|pin| pin.denied.as_ref()).and_then(|denial| denial.tree)
    };
    let (again, _) = home.open();
    assert_eq!((denied(&again, "path:/plugins/new"), denied(&again, A)), (Some(tree(7)), Some(tree(7))));
    let both = pins.commit(vec![allow("path:/plugins/new"), allow(A)], now()).unwrap();
    assert_eq!(both.outcomes, [ChangeOutcome::Done, ChangeOutcome::Done]);
    assert_eq!(denied(&pins, A), None);
    assert_eq!(check(&pins, "path:/plugins/new", &facts(7)), PinCheck::Unpinned);
    assert!(matches!(check(&pins, A, &facts(7)), PinCheck::Changed(_)));
    // Starting over drops the pin below a denial, and keeps what it was about.
    let _both = pins.commit(vec![deny_it(A)], now()).unwrap();
    let _all = commit(&mut pins, Change::ForgetAll);
    assert_eq!(denied(&pins, A), Some(tree(1)));
    assert_eq!(commit(&mut pins, allow(A)).outcomes, [ChangeOutcome::Done]);
    // A denial outlives starting over.
    let _both = pins.commit(vec![deny_it("path:/plugins/new"), enroll(A, &facts(4))], now()).unwrap();
    let _all = commit(&mut pins, Change::ForgetAll);
    assert!(matches!(check(&pins, "path:/plugins/new", &facts(1)), PinCheck::Denied { .. }));
    assert_eq!(check(&pins, A, &facts(5)), PinCheck::Unpinned);
}

#[test]
fn every_fact_is_compared_and_the_surface_only_explains() {
    let mut full = facts(1);
    full.entry = Some(crate::support::digest(2));
    full.signer = Some("key-1".to_owned());
    full.shared.insert("../shared".to_owned(), tree(3));
    full.surface = Some(format!("sf1:{}", "1".repeat(64)).parse().unwrap());
    let home = Home::new();
    let (mut pins, _) = home.open();
    let _done = commit(&mut pins, enroll(A, &full));
    let what = |change: &dyn Fn(&mut plugward_pinstore::Facts)| {
        let mut seen = full.clone();
        change(&mut seen);
        match check(&pins, A, &seen) {
            PinCheck::Changed(changed) => {
                (changed.parts.iter().map(|part| part.as_str()).collect::<Vec<_>>(), changed.code())
            }
            other => (vec![], other.code().unwrap_or("same")),
        }
    };
    assert_eq!(what(&|_| {}), (vec![], "same"));
    assert_eq!(what(&|seen| seen.tree = tree(9)), (vec!["tree"], "pin/changed"));
    assert_eq!(what(&|seen| seen.manifest.clear()), (vec!["manifest"], "pin/changed"));
    assert_eq!(what(&|seen| seen.entry = None), (vec!["entry"], "pin/changed"));
    assert_eq!(what(&|seen| seen.shared.clear()), (vec!["shared"], "pin/changed"));
    assert_eq!(what(&|seen| seen.signer = Some("key-2".to_owned())), (vec!["signer"], "pin/signer-changed"));
    assert_eq!(what(&|seen| seen.signer = None), (vec![], "same"));
    assert_eq!(what(&|seen| seen.surface = None), (vec![], "pin/surface-new"));
    assert_eq!(
        what(&|seen| (seen.tree, seen.signer) = (tree(9), Some("key-2".to_owned()))),
        (vec!["signer", "tree"], "pin/signer-changed")
    );
}

/// The table in full: every trust mode and rule.
#[test]
fn on_store_error_is_the_table() {
    let modes = [TrustMode::Tofu, TrustMode::Prompt, TrustMode::Locked];
    let mut rows = Vec::new();
    for trust in modes {
        for rule in [StoreErrorRule::Warn, StoreErrorRule::Ask, StoreErrorRule::Refuse] {
            let unusable = StoreDecision::of_unusable(rule, trust, "pin/store");
            let unsaved = StoreDecision::of_unsaved(rule, trust, "pin/not-saved");
            rows.push(format!("{trust:?} {rule:?}; unusable {unusable:?}; unsaved {unsaved:?}"));
        }
    }
    assert_eq!(
        rows,
        [
            r#"Tofu Warn; unusable LoadUnpinned("pin/store"); unsaved LoadUnpinned("pin/not-saved")"#,
            r#"Tofu Ask; unusable Ask("pin/store"); unsaved Refuse("pin/not-saved")"#,
            r#"Tofu Refuse; unusable Refuse("pin/store"); unsaved Refuse("pin/not-saved")"#,
            r#"Prompt Warn; unusable Ask("pin/store"); unsaved LoadUnpinned("pin/not-saved")"#,
            r#"Prompt Ask; unusable Ask("pin/store"); unsaved Refuse("pin/not-saved")"#,
            r#"Prompt Refuse; unusable Refuse("pin/store"); unsaved Refuse("pin/not-saved")"#,
            r#"Locked Warn; unusable Refuse("pin/store"); unsaved Refuse("pin/not-saved")"#,
            r#"Locked Ask; unusable Refuse("pin/store"); unsaved Refuse("pin/not-saved")"#,
            r#"Locked Refuse; unusable Refuse("pin/store"); unsaved Refuse("pin/not-saved")"#,
        ]
    );
    // Said by hand, `warn` has no effect under `locked`.
    assert_eq!(
        StoreDecision::of_unusable(StoreErrorRule::Warn, TrustMode::Locked, "pin/store"),
        StoreDecision::Refuse("pin/store")
    );
    assert_eq!(STORE_ERROR_EXIT, 7);
}

#[test]
fn decisions_are_the_table() {
    const LOCKS: [LockMatch; 3] = [LockMatch::Nothing, LockMatch::Matched, LockMatch::Accepted];
    const ELSEWHERE: [SameContentsPin; 3] =
        [SameContentsPin::None, SameContentsPin::Tofu, SameContentsPin::Agreed];
    let home = pinned();
    let (mut pins, _) = home.open();
    let _done = commit(&mut pins, deny("path:/plugins/no", None));
    let same = check(&pins, A, &facts(1));
    let unpinned = check(&pins, "path:/plugins/new", &facts(1));
    let changed = check(&pins, A, &facts(2));
    let denied = check(&pins, "path:/plugins/no", &facts(1));
    let moved = pins.check(&plugward_pinstore::ObservedPlugin {
        predecessor: Some(key(A)),
        ..observed("path:/plugins/new", &facts(1))
    });
    assert_eq!(moved, PinCheck::Moved { from: key(A) });
    let migrated = PinCheck::Migrated { age: AgreedAge::Latest, added: Vec::new() };
    for trust in [TrustMode::Tofu, TrustMode::Prompt, TrustMode::Locked] {
        for lock in LOCKS {
            for elsewhere in ELSEWHERE {
                let decide = |check| decide(check, trust, lock, elsewhere);
                assert_eq!(decide(&same), PinDecision::Load);
                assert_eq!(decide(&moved), PinDecision::Carry);
                assert_eq!(decide(&migrated), PinDecision::Carry);
                assert_eq!(decide(&changed), PinDecision::Refuse("pin/changed"));
                assert_eq!(decide(&denied), PinDecision::Refuse("policy/denied"));
                let expected = match (trust, lock, elsewhere) {
                    (TrustMode::Locked, LockMatch::Nothing, _) => PinDecision::Refuse("pin/new"),
                    (TrustMode::Locked, _, _) => PinDecision::Load,
                    (_, LockMatch::Accepted, _) => PinDecision::Enroll(PinOrigin::Lock),
                    (_, _, SameContentsPin::Agreed) => PinDecision::Enroll(PinOrigin::Same),
                    (TrustMode::Tofu, _, _) => PinDecision::Enroll(PinOrigin::Tofu),
                    (TrustMode::Prompt, _, _) => PinDecision::Ask,
                };
                assert_eq!(decide(&unpinned), expected);
                assert_eq!(decide(&PinCheck::ManifestOnly), expected);
            }
        }
    }
}
