//! ADR-003's table, and the cases that its first implementation was tested with.

use plugward_pinstore::{
    ChangeOutcome, ChangedPart, LockMatch, PinCheck, PinDecision, PinOrigin, PinnedState, Pins,
    SameContentsPin, StoreCheck, TrustMode, WriteOutcome, decide,
};
use plugward_state_file::{Backup, StateFile, make_directory};

use crate::support::{
    Home, LAST_GOOD, PINS, SAME, accept, check, commit, digest, enroll, facts, key, now, tree,
};

#[test]
fn a_missing_file_is_an_empty_store() {
    let home = Home::new();
    let (pins, found) = home.open();
    assert!(matches!(found, StoreCheck::Empty));
    assert_eq!((pins.iter().count(), pins.serial()), (0, 0));
    assert!(home.names().is_empty(), "reading makes no file: {:?}", home.names());
}

#[test]
fn a_pin_outlives_the_process() {
    let home = Home::new();
    let done = commit(&mut home.open().0, enroll("path:/plugins/deploy", &facts(1)));
    assert_eq!((done.outcomes, done.serial), (vec![ChangeOutcome::Done], 1));
    let (pins, found) = home.open();
    assert!(matches!(found, StoreCheck::Ready));
    assert_eq!(check(&pins, "path:/plugins/deploy", &facts(1)), SAME);
    assert_eq!(home.read(PINS), home.read(LAST_GOOD));
    assert_eq!(home.names(), [PINS, LAST_GOOD, "plugins.pins.toml.lock"]);
}

#[test]
fn a_match_is_silent_and_writes_nothing() {
    let home = Home::new();
    let (mut pins, _) = home.open();
    let _first = commit(&mut pins, enroll("path:/plugins/deploy", &facts(1)));
    let before = home.read(PINS);
    let done = commit(&mut pins, enroll("path:/plugins/deploy", &facts(1)));
    assert_eq!(
        (done.outcomes, done.wrote, done.serial),
        (vec![ChangeOutcome::Already], WriteOutcome::Nothing, 1)
    );
    assert_eq!(home.read(PINS), before);
}

#[test]
fn a_mismatch_is_refused_names_both_and_keeps_the_pin() {
    let home = Home::new();
    let (mut pins, _) = home.open();
    let _first = commit(&mut pins, enroll("path:/plugins/deploy", &facts(1)));
    let before = home.read(PINS);
    let PinCheck::Changed(changed) = check(&pins, "path:/plugins/deploy", &facts(2)) else { panic!() };
    assert_eq!(changed.parts, [ChangedPart::Manifest, ChangedPart::Tree]);
    let PinnedState::Tree(pinned) = &changed.pinned else { panic!() };
    assert_eq!((pinned.tree, changed.actual.tree), (tree(1), tree(2)));
    assert_eq!((changed.since, changed.called.len()), (Some(now()), 1));
    // Not even an enrollment overwrites it.
    let done = commit(&mut pins, enroll("path:/plugins/deploy", &facts(2)));
    assert!(matches!(&done.outcomes[..], [ChangeOutcome::Conflict(PinCheck::Changed(_))]));
    assert_eq!(home.read(PINS), before);
}

#[test]
fn a_hook_script_that_the_manifest_does_not_name_is_covered() {
    let home = Home::new();
    let (mut pins, _) = home.open();
    let _first = commit(&mut pins, enroll("path:/plugins/deploy", &facts(1)));
    let mut seen = facts(1);
    seen.tree = tree(2);
    let PinCheck::Changed(changed) = check(&pins, "path:/plugins/deploy", &seen) else { panic!() };
    assert_eq!(changed.parts, [ChangedPart::Tree]);
}

#[test]
fn one_refusal_holds_no_other_back() {
    let home = Home::new();
    let (mut pins, _) = home.open();
    let _first = commit(&mut pins, enroll("path:/plugins/bad", &facts(1)));
    let changes = vec![
        enroll("path:/plugins/good", &facts(3)),
        enroll("path:/plugins/bad", &facts(2)),
        enroll("path:/plugins/fine", &facts(4)),
    ];
    let done = pins.commit(changes, now()).unwrap();
    assert!(matches!(
        &done.outcomes[..],
        [ChangeOutcome::Done, ChangeOutcome::Conflict(_), ChangeOutcome::Done]
    ));
    assert_eq!(done.serial, 2, "all enrollments of a run are one commit");
    assert_eq!(check(&pins, "path:/plugins/bad", &facts(1)), SAME);
}

#[test]
fn accept_overwrites_and_preserves_others() {
    let home = Home::new();
    let (mut pins, _) = home.open();
    let both = vec![enroll("path:/plugins/a", &facts(1)), enroll("path:/plugins/b", &facts(5))];
    let _first = pins.commit(both, now()).unwrap();
    let done = commit(&mut pins, accept("path:/plugins/a", &facts(2), 2, Some(1)));
    assert_eq!(done.outcomes, [ChangeOutcome::Done]);
    let (pins, _) = home.open();
    assert_eq!(check(&pins, "path:/plugins/a", &facts(2)), SAME);
    assert_eq!(check(&pins, "path:/plugins/b", &facts(5)), SAME);
    let pin = pins.get(&key("path:/plugins/a")).unwrap();
    let latest = pin.latest().unwrap();
    assert_eq!((pin.agreed.len(), latest.via, latest.by.as_deref()), (2, PinOrigin::Accept, Some("anna")));
    // The state before is kept to recognize it, and is not agreed to any more.
    assert!(pin.agreed[0].superseded.is_some() && latest.superseded.is_none());
    assert!(matches!(check(&pins, "path:/plugins/a", &facts(1)), PinCheck::RolledBack { .. }));
}

#[test]
fn parent_folders_are_made_for_us_alone() {
    use std::os::unix::fs::PermissionsExt as _;
    let home = Home::new();
    let dir = make_directory(&home.dir(), ".config/plugward").unwrap();
    let file = StateFile::at(&dir, PINS, 1 << 20, home.owner(), Backup::Keep).unwrap();
    let (mut pins, _) = Pins::open(&file).unwrap();
    let _done = commit(&mut pins, enroll("path:/plugins/a", &facts(1)));
    for part in [".config", ".config/plugward"] {
        let mode = home.directory.path().join(part).metadata().unwrap().permissions().mode();
        assert_eq!(mode & 0o7777, 0o700 & mode, "{part}");
    }
    assert!(make_directory(&home.dir(), "a/../b").is_err());
}

#[test]
fn a_line_that_is_deleted_by_hand_is_enrolled_again_and_noticed() {
    let home = Home::new();
    let (mut pins, _) = home.open();
    let both = vec![enroll("path:/plugins/a", &facts(1)), enroll("path:/plugins/b", &facts(2))];
    let _first = pins.commit(both, now()).unwrap();
    let text = home.read(PINS);
    let from = text.find(r#"[pins."path:/plugins/a"]"#).unwrap();
    let to = text.find(r#"[pins."path:/plugins/b"]"#).unwrap();
    home.write(PINS, &format!("{}{}", &text[..from], &text[to..]));
    let (mut pins, found) = home.open();
    assert!(matches!(found, StoreCheck::Ready));
    let codes: Vec<&str> = pins.notices().iter().map(plugward_pinstore::StoreNotice::code).collect();
    assert_eq!(codes, ["pin/hand-edited"]);
    assert_eq!(check(&pins, "path:/plugins/a", &facts(9)), PinCheck::Unpinned);
    let done = commit(&mut pins, enroll("path:/plugins/a", &facts(9)));
    assert_eq!(done.outcomes, [ChangeOutcome::Done]);
    assert!(home.open().0.notices().is_empty(), "the next write counts again");
}

#[test]
fn a_pin_of_one_key_is_not_a_pin_of_another() {
    let home = Home::new();
    let (mut pins, _) = home.open();
    let _done = commit(&mut pins, enroll("path:/site/plugins/deploy", &facts(1)));
    for other in ["path:/other/plugins/deploy", "claude:deploy@site", "claude:deploy"] {
        assert_eq!(check(&pins, other, &facts(2)), PinCheck::Unpinned, "{other}");
        assert_eq!(check(&pins, other, &facts(1)), PinCheck::Unpinned, "{other}");
    }
    assert_eq!(check(&pins, "path:/site/plugins/deploy", &facts(1)), SAME);
}

const NAME: &str = "path:/plugins/deploy";

fn version_one() -> Home {
    let home = Home::new();
    home.write(PINS, &format!("[pins]\ndeploy = \"{}\"\nother = \"{}\"\n", digest(1).hex(), digest(2).hex()));
    home
}

#[test]
fn version_one_is_read_and_covers_the_manifest_alone() {
    let home = version_one();
    let (pins, found) = home.open();
    assert!(matches!(found, StoreCheck::Ready));
    let found = check(&pins, NAME, &facts(1));
    assert_eq!(found, PinCheck::ManifestOnly);
    let (lock, none) = (LockMatch::Nothing, SameContentsPin::None);
    assert_eq!(decide(&found, TrustMode::Tofu, lock, none), PinDecision::Enroll(PinOrigin::Tofu));
    assert_eq!(decide(&found, TrustMode::Prompt, lock, none), PinDecision::Ask);
    assert_eq!(decide(&found, TrustMode::Locked, lock, none), PinDecision::Refuse("pin/new"));
    let PinCheck::Changed(changed) = check(&pins, NAME, &facts(3)) else { panic!() };
    assert_eq!(changed.pinned, PinnedState::Manifest(digest(1)));
    assert!(home.names() == [PINS], "reading writes nothing");
}

#[test]
fn the_first_write_moves_version_one_and_keeps_the_old_file() {
    let home = version_one();
    let old = home.read(PINS);
    let (mut pins, _) = home.open();
    let done = commit(&mut pins, enroll(NAME, &facts(1)));
    assert_eq!(done.wrote, WriteOutcome::Synced { kept: Some("plugins.pins.toml.v1".to_owned()) });
    assert_eq!(home.read("plugins.pins.toml.v1"), old);
    let text = home.read(PINS);
    assert!(text.contains("version = 4") && text.contains("[v1.\"other\"]"), "{text}");
    let (mut pins, _) = home.open();
    assert_eq!(check(&pins, NAME, &facts(1)), SAME);
    // Moved, and still a pin: another manifest under an old name is refused, not enrolled.
    assert!(matches!(check(&pins, "path:/plugins/other", &facts(7)), PinCheck::Changed(_)));
    let done = commit(&mut pins, enroll("path:/plugins/other", &facts(7)));
    assert!(matches!(&done.outcomes[..], [ChangeOutcome::Conflict(PinCheck::Changed(_))]));
    let done = commit(&mut pins, accept("path:/plugins/other", &facts(7), 7, None));
    assert_eq!(done.outcomes, [ChangeOutcome::Done]);
    assert!(!home.read(PINS).contains("[v1"), "accepted: the old pin has gone");
}

#[test]
fn an_old_file_that_is_already_kept_is_not_written_over() {
    let home = version_one();
    home.write("plugins.pins.toml.v1", "[pins]\n");
    let done = commit(&mut home.open().0, enroll(NAME, &facts(1)));
    assert_eq!(home.read("plugins.pins.toml.v1"), "[pins]\n");
    let WriteOutcome::Synced { kept: Some(kept) } = done.wrote else { panic!() };
    assert!(home.read(&kept).contains(&digest(1).hex()));
}

#[test]
fn an_old_program_that_starts_a_new_file_does_not_unpin() {
    let home = Home::new();
    let _done = commit(&mut home.open().0, enroll(NAME, &facts(1)));
    home.write(PINS, &format!("[pins]\ndeploy = \"{}\"\n", digest(9).hex()));
    let (pins, found) = home.open();
    assert_eq!(found.code(), Some("pin/recovered"));
    assert!(matches!(check(&pins, NAME, &facts(9)), PinCheck::Changed(_)));
}
