//! Keys: moved plugins, several agreed trees, refreshed names.

use std::collections::BTreeSet;

use plugward_pinstore::{
    AgreedAge, Change, ChangeOutcome, DenialSource, DirectoryId, McpOwner, McpPin, ObservedPlugin, PinCheck,
    PinOrigin, PinState, PinnedState, Pins, ReviewedDigests, WriteOutcome,
};

use crate::support::{
    Home, SAME, accept, called, check, commit, deny, digest, enroll, enroll_seen, facts, key, now, observed,
    tree,
};

const INSTALLED: &str = "claude:hookify@acme";
const OLD: &str = "path:/home/anna/old/greeter";
const NEW: &str = "path:/home/anna/new/greeter";
const OLDER: PinCheck = PinCheck::Same { age: AgreedAge::Older, surface: None };

fn moved(number: u64) -> ObservedPlugin {
    ObservedPlugin {
        predecessor: Some(key(OLD)),
        directory: Some(DirectoryId::new(1, 2)),
        called: called(&["claude:renamed"]),
        ..observed(NEW, &facts(number))
    }
}

fn pinned() -> (Home, Pins) {
    let home = Home::new();
    let (mut pins, _) = home.open();
    let seen = ObservedPlugin { directory: Some(DirectoryId::new(1, 2)), ..observed(OLD, &facts(1)) };
    let mcp =
        McpPin { set: digest(7), key: digest(8), capabilities: [].into(), items: [].into(), used: None };
    let changes = vec![
        Change::Enroll { observed: seen, via: PinOrigin::Prompt, by: Some("anna".to_owned()) },
        Change::McpPin {
            owner: McpOwner::Plugin(key(OLD)),
            server: "s".to_owned(),
            pin: mcp,
            expected: [].into(),
        },
    ];
    let done = pins.commit(changes, now()).unwrap();
    assert_eq!(done.outcomes, [ChangeOutcome::Done, ChangeOutcome::Done]);
    (home, pins)
}

#[test]
fn a_moved_plugin_keeps_its_pin_if_its_contents_match() {
    let (home, mut pins) = pinned();
    assert_eq!(pins.by_directory(&DirectoryId::new(1, 2)).collect::<Vec<_>>(), [&key(OLD)]);
    assert_eq!(pins.by_directory(&DirectoryId::new(1, 3)).count(), 0);
    assert_eq!(pins.check(&moved(1)), PinCheck::Moved { from: key(OLD) });
    assert_eq!(pins.check(&moved(1)).code(), Some("pin/moved"));
    let PinCheck::Changed(changed) = pins.check(&moved(2)) else { panic!() };
    assert_eq!((&changed.from, changed.code()), (&Some(key(OLD)), "pin/changed"));
    assert_eq!(commit(&mut pins, enroll_seen(moved(2))).outcomes[0].code(), Some("pin/changed"));
    assert_eq!(commit(&mut pins, enroll_seen(moved(1))).outcomes, [ChangeOutcome::Done]);
    let (pins, _) = home.open();
    assert!(pins.get(&key(OLD)).is_none());
    let pin = pins.get(&key(NEW)).unwrap();
    let latest = pin.latest().unwrap();
    assert_eq!((latest.via, latest.by.as_deref(), pin.mcp.len()), (PinOrigin::Prompt, Some("anna"), 1));
    assert_eq!((&pin.called, pin.directory), (&called(&["claude:renamed"]), Some(DirectoryId::new(1, 2))));
    assert_eq!(pins.check(&moved(1)), SAME);
}

#[test]
fn a_denial_follows_a_moved_plugin() {
    let (_home, mut pins) = pinned();
    let _done = commit(&mut pins, deny(OLD, Some(1)));
    let PinCheck::Denied { by, .. } = pins.check(&moved(1)) else { panic!() };
    assert_eq!(by, DenialSource::Predecessor(key(OLD)));
    assert_eq!(commit(&mut pins, enroll_seen(moved(1))).outcomes[0].code(), Some("policy/denied"));
    let PinCheck::Denied { by, .. } = check(&pins, OLD, &facts(1)) else { panic!() };
    assert_eq!(by, DenialSource::Key);
}

#[test]
fn an_own_pin_precedes_that_of_the_predecessor() {
    let (_home, mut pins) = pinned();
    let _done = commit(&mut pins, enroll(NEW, &facts(5)));
    let PinCheck::Changed(changed) = pins.check(&moved(1)) else { panic!() };
    assert_eq!(changed.from, None);
    // A predecessor without a pin is as none.
    let stray = ObservedPlugin { predecessor: Some(key("path:/x")), ..observed("path:/y", &facts(1)) };
    assert_eq!(pins.check(&stray), PinCheck::Unpinned);
}

#[test]
fn an_accept_moves_the_pin_of_a_changed_plugin() {
    let (home, mut pins) = pinned();
    let accept = |shown: u64, expected: Option<u64>| Change::Accept {
        observed: moved(2),
        shown: ReviewedDigests::of_tree(tree(shown)),
        expected: expected.map(tree),
        recorded: BTreeSet::new(),
        by: None,
    };
    assert_eq!(
        commit(&mut pins, accept(2, None)).outcomes,
        [ChangeOutcome::Raced { current: Some(tree(1)) }]
    );
    assert_eq!(commit(&mut pins, accept(2, Some(1))).outcomes, [ChangeOutcome::Done]);
    let (pins, _) = home.open();
    assert!(pins.get(&key(OLD)).is_none());
    let pin = pins.get(&key(NEW)).unwrap();
    assert_eq!((pin.agreed.len(), pin.mcp.len(), pin.latest().unwrap().via), (2, 1, PinOrigin::Accept));
    assert_eq!(pins.check(&moved(2)), SAME);
}

#[test]
fn a_first_check_enrolls_every_directory_of_an_installed_plugin() {
    let home = Home::new();
    let (mut pins, _) = home.open();
    let both = vec![enroll(INSTALLED, &facts(1)), enroll(INSTALLED, &facts(2)), enroll(INSTALLED, &facts(1))];
    assert_eq!(
        pins.commit(both, now()).unwrap().outcomes,
        [ChangeOutcome::Done, ChangeOutcome::Done, ChangeOutcome::Already]
    );
    assert_eq!(check(&pins, INSTALLED, &facts(1)), OLDER);
    assert_eq!(OLDER.code(), Some("pin/older"));
    assert_eq!(check(&pins, INSTALLED, &facts(2)), SAME);
    // In a later commit, another tree is a change.
    assert_eq!(commit(&mut pins, enroll(INSTALLED, &facts(3))).outcomes[0].code(), Some("pin/changed"));
    // A placed plugin has one tree.
    let both = vec![enroll(NEW, &facts(1)), enroll(NEW, &facts(2))];
    assert!(matches!(
        pins.commit(both, now()).unwrap().outcomes[..],
        [ChangeOutcome::Done, ChangeOutcome::Conflict(_)]
    ));
    // The 17th is not enrolled, since the first would be refused in the next check.
    let many = (0..17).map(|number| enroll("claude:many@acme", &facts(number))).collect();
    let outcomes = pins.commit(many, now()).unwrap().outcomes;
    assert_eq!(outcomes.iter().filter(|outcome| **outcome == ChangeOutcome::Done).count(), 16);
    assert_eq!(outcomes[16].code(), Some("pin/changed"));
}

#[test]
fn an_accept_adds_a_tree_and_the_17th_replaces_the_oldest() {
    let home = Home::new();
    let (mut pins, _) = home.open();
    let _done = commit(&mut pins, enroll(INSTALLED, &facts(0)));
    for number in 1..=16 {
        let done = commit(&mut pins, accept(INSTALLED, &facts(number), number, Some(number - 1)));
        assert_eq!(done.outcomes, [ChangeOutcome::Done]);
    }
    let trees = |pins: &Pins| -> Vec<_> {
        pins.get(&key(INSTALLED)).unwrap().agreed.iter().map(|agreed| agreed.facts.tree).collect()
    };
    assert_eq!(trees(&pins), (1..=16).map(tree).collect::<Vec<_>>());
    let PinCheck::Changed(changed) = check(&pins, INSTALLED, &facts(0)) else { panic!() };
    let PinnedState::Tree(pinned) = &changed.pinned else { panic!() };
    assert_eq!(pinned.tree, tree(16), "compared with the latest");
    // Accepted again, an older tree becomes the latest; nothing is stored twice.
    assert_eq!(commit(&mut pins, accept(INSTALLED, &facts(3), 3, Some(16))).outcomes, [ChangeOutcome::Done]);
    let expected: Vec<_> = [1, 2].into_iter().chain(4..=16).chain([3]).map(tree).collect();
    assert_eq!(trees(&home.open().0), expected);
    assert_eq!(
        commit(&mut pins, accept(INSTALLED, &facts(3), 3, Some(3))).outcomes,
        [ChangeOutcome::Already]
    );
}

#[test]
fn a_refresh_updates_names_and_directory_of_an_unchanged_plugin() {
    let (_home, mut pins) = pinned();
    let seen = |number, directory, names: &[&str]| ObservedPlugin {
        directory: Some(DirectoryId::new(directory, 2)),
        called: called(names),
        ..observed(OLD, &facts(number))
    };
    let refresh = |observed| Change::Refresh { observed };
    let done = commit(&mut pins, refresh(seen(1, 9, &["claude:b", "codex:b"])));
    assert_eq!(done.outcomes, [ChangeOutcome::Done]);
    let pin = pins.get(&key(OLD)).unwrap();
    assert_eq!(
        (&pin.called, pin.directory),
        (&called(&["claude:b", "codex:b"]), Some(DirectoryId::new(9, 2)))
    );
    for other in [seen(1, 9, &["claude:b", "codex:b"]), seen(2, 8, &["claude:x"]), observed(NEW, &facts(1))] {
        let done = commit(&mut pins, refresh(other));
        assert_eq!((done.outcomes, done.wrote), (vec![ChangeOutcome::Already], WriteOutcome::Nothing));
    }
    // The directories of an installed plugin add up, and none of them identifies it.
    let of = |number, name: &str| ObservedPlugin {
        directory: Some(DirectoryId::new(number, 1)),
        called: called(&[name]),
        ..observed(INSTALLED, &facts(number))
    };
    let _both =
        pins.commit(vec![enroll_seen(of(1, "claude:a")), enroll_seen(of(2, "claude:b"))], now()).unwrap();
    let done = pins.commit(vec![refresh(of(1, "claude:a")), refresh(of(2, "claude:c"))], now()).unwrap();
    assert_eq!(done.outcomes, [ChangeOutcome::Done, ChangeOutcome::Done]);
    let pin = pins.get(&key(INSTALLED)).unwrap();
    assert_eq!((&pin.called, pin.directory), (&called(&["claude:a", "claude:c"]), None));
}

#[test]
fn a_denial_names_what_was_seen_and_an_accepted_lockfile_is_known_by_content() {
    let home = Home::new();
    let (mut pins, _) = home.open();
    let deny = Change::Deny {
        key: key(OLD),
        directory: Some(DirectoryId::new(3, 4)),
        called: called(&["claude:greeter"]),
        seen: Some(tree(5)),
        by: Some("anna".to_owned()),
    };
    let lock = || Change::AcceptLock { lock: digest(3) };
    let done = pins.commit(vec![deny, lock(), lock()], now()).unwrap();
    assert_eq!(done.outcomes, [ChangeOutcome::Done, ChangeOutcome::Done, ChangeOutcome::Already]);
    let (mut pins, _) = home.open();
    assert!(pins.is_lock_accepted(&digest(3)) && !pins.is_lock_accepted(&digest(4)));
    assert_eq!(pins.denied().map(|(key, _)| key).collect::<Vec<_>>(), [&key(OLD)]);
    let pin = pins.get(&key(OLD)).unwrap();
    let denial = pin.denied.as_ref().unwrap();
    assert_eq!((denial.tree, denial.by.as_deref(), denial.at), (Some(tree(5)), Some("anna"), now()));
    assert_eq!(
        (pin.state, pin.directory, pin.latest()),
        (PinState::Denied, Some(DirectoryId::new(3, 4)), None)
    );
    assert_eq!(pin.called.len(), 1);
    let _all = commit(&mut pins, Change::ForgetAll);
    assert!(!pins.is_lock_accepted(&digest(3)) && pins.get(&key(OLD)).is_some());
}

#[test]
fn folder_ids_have_one_text() {
    for text in ["0:0", "11010178:1795420491771626904", "18446744073709551615:1"] {
        assert_eq!(text.parse::<DirectoryId>().unwrap().to_string(), text);
    }
    for text in
        ["", "1", ":1", "1:", "01:1", "1:01", "+1:1", "1:-1", "1:1:1", "18446744073709551616:1", " 1:1"]
    {
        assert!(text.parse::<DirectoryId>().is_err(), "{text:?}");
    }
    let all: BTreeSet<DirectoryId> = [DirectoryId::new(2, 1), DirectoryId::new(1, 2)].into();
    assert_eq!(all.first(), Some(&DirectoryId::new(1, 2)));
}
