//! A pins file of version 3 under this version: what it covered still counts, and what it did not cover is added.

use plugward_pinstore::{
    AgreedAge, Change, ChangeOutcome, ChangedPart, DenialSource, Facts, ObservedPlugin, PinCheck,
    PinDecision, PinOrigin, Pins, ReadScope, ReviewedDigests, SameContentsPin, StoreCheck, TrustMode,
    WriteOutcome, decide, parse_pins,
};
use plugward_types::{Digest, TreeDigest};

use crate::support::{
    Home, LAST_GOOD, PINS, SAME, commit, digest, enroll, enroll_seen, facts, now, observed, tree,
};

/// A file as the releases with version 3 write it.
const VERSION_THREE: &str = include_str!("version_three.toml");
const INSTALLED: &str = "claude:a@team";
const PLACED: &str = "path:/site/plugins/b";

pub(crate) fn home() -> (Home, Pins) {
    let home = Home::new();
    home.write(PINS, VERSION_THREE);
    home.write(LAST_GOOD, VERSION_THREE);
    let (pins, found) = home.open();
    assert!(matches!(found, StoreCheck::Ready) && pins.notices().is_empty());
    (home, pins)
}

/// The contents of a pin in the file, as a plugin on disk.
fn pinned(pins: &Pins, plugin: &str, state: usize) -> ObservedPlugin {
    let agreed = &pins.get(&plugin.parse().unwrap()).unwrap().agreed[state];
    assert_eq!(agreed.reads, ReadScope::Directory);
    ObservedPlugin { behaviors: Some([].into()), ..observed(plugin, &agreed.facts) }
}

/// The plugin with files outside its directory that run, and with a command that is not determined.
fn wider(seen: &ObservedPlugin) -> ObservedPlugin {
    let facts = Facts {
        closure: Some(tree(70)),
        unresolved: [digest(71)].into(),
        loosens: ["Bash(*)".to_owned()].into(),
        ..seen.facts.clone()
    };
    ObservedPlugin { facts, ..seen.clone() }
}

#[test]
fn everything_in_the_file_is_read() {
    let (_home, pins) = home();
    assert_eq!((pins.iter().count(), pins.manifest_only().count(), pins.revoked().len()), (3, 1, 1));
    assert_eq!(parse_pins(VERSION_THREE.as_bytes()), Ok(3));
    let lock: Digest =
        "sha256:6b51d431df5d7f141cbececcf79edf3dd861c3b4069f0b11661a3eefacbba918".parse().unwrap();
    assert!(pins.is_lock_accepted(&lock));
    let latest = pins.get(&INSTALLED.parse().unwrap()).unwrap();
    assert_eq!((latest.agreed.len(), latest.mcp.len(), latest.latest().unwrap().superseded), (2, 1, None));
    let denied = pins.check(&observed("path:/site/never", &facts(1)));
    assert!(matches!(denied, PinCheck::Denied { by: DenialSource::Key, .. }), "{denied:?}");
}

#[test]
fn what_the_file_covers_is_carried_over_with_its_origin() {
    for (plugin, state, age, via) in [
        (INSTALLED, 1, AgreedAge::Latest, PinOrigin::Accept),
        (INSTALLED, 0, AgreedAge::Older, PinOrigin::Tofu),
        (PLACED, 0, AgreedAge::Latest, PinOrigin::Tofu),
    ] {
        let (home, mut pins) = home();
        let seen = pinned(&pins, plugin, state);
        let before = pins.get(&seen.key).unwrap().agreed[state].clone();
        let found = pins.check(&seen);
        assert_eq!(found, PinCheck::Migrated { age, added: Vec::new() });
        assert_eq!(found.code(), Some("pin/migrated"));
        let wide = wider(&seen);
        let found = pins.check(&wide);
        assert_eq!(found, PinCheck::Migrated { age, added: vec![ChangedPart::Closure] });
        assert_eq!(pins.agreed(&wide), Some(&before));

        let done = commit(&mut pins, enroll_seen(wide.clone()));
        assert_eq!(done.outcomes, [ChangeOutcome::Done]);
        assert_eq!(done.wrote, WriteOutcome::Synced { kept: Some(format!("{PINS}.v3")) });
        assert_eq!(home.read(&format!("{PINS}.v3")), VERSION_THREE);
        assert_eq!((home.read(LAST_GOOD), done.serial), (home.read(PINS), 8));
        assert!(home.read(PINS).contains("\nversion = 4\n"));
        let (pins, _) = home.open();
        assert!(matches!(pins.check(&wide), PinCheck::Same { surface: None, .. }));
        let after = pins.agreed(&wide).unwrap();
        assert_eq!((after.via, after.at, &after.by), (via, before.at, &before.by));
        assert_eq!((after.reads, &after.facts), (ReadScope::Execution, &wide.facts));
        // From now on, the files outside count.
        let PinCheck::Changed(found) = pins.check(&seen) else { panic!() };
        assert_eq!(found.parts.contains(&ChangedPart::Closure), age == AgreedAge::Latest, "{found:?}");
    }
}

#[test]
fn a_question_about_what_is_added_records_the_answer() {
    let (_home, mut pins) = home();
    let wide = wider(&pinned(&pins, PLACED, 0));
    let enroll =
        Change::Enroll { observed: wide.clone(), via: PinOrigin::Prompt, by: Some("anna".to_owned()) };
    assert_eq!(commit(&mut pins, enroll).outcomes, [ChangeOutcome::Done]);
    let after = pins.agreed(&wide).unwrap();
    assert_eq!((after.via, after.at, after.by.as_deref()), (PinOrigin::Prompt, now(), Some("anna")));
}

#[test]
fn what_is_added_is_asked_about_under_prompt_only() {
    let (_home, pins) = home();
    let seen = pinned(&pins, PLACED, 0);
    for (seen, prompt) in [(wider(&seen), PinDecision::Ask), (seen, PinDecision::Carry)] {
        let check = pins.check(&seen);
        let decide =
            |trust| decide(&check, trust, plugward_pinstore::LockMatch::Nothing, SameContentsPin::None);
        assert_eq!(decide(TrustMode::Prompt), prompt);
        assert_eq!(decide(TrustMode::Tofu), PinDecision::Carry);
        assert_eq!(decide(TrustMode::Locked), PinDecision::Carry);
    }
}

#[test]
fn each_part_that_the_file_covers_still_counts() {
    let (_home, mut pins) = home();
    for part in [
        ChangedPart::Tree,
        ChangedPart::Manifest,
        ChangedPart::Shared,
        ChangedPart::Entry,
        ChangedPart::Signer,
    ] {
        let mut seen = wider(&pinned(&pins, INSTALLED, 1));
        match part {
            ChangedPart::Tree => seen.facts.tree = tree(1),
            ChangedPart::Manifest => seen.facts.manifest.clear(),
            ChangedPart::Shared => drop(seen.facts.shared.insert("../x".to_owned(), tree(1))),
            ChangedPart::Entry => seen.facts.entry = Some(digest(1)),
            _ => seen.facts.signer = Some("other".to_owned()),
        }
        let PinCheck::Changed(found) = pins.check(&seen) else { panic!("{part:?}") };
        assert_eq!(found.parts, [part]);
        let outcome = &commit(&mut pins, enroll_seen(seen)).outcomes[0];
        assert!(matches!(outcome, ChangeOutcome::Conflict(_)), "{outcome:?}");
    }
}

#[test]
fn a_rendering_of_this_version_is_compared_as_before() {
    let (_home, mut pins) = home();
    let before = pinned(&pins, PLACED, 0).facts;
    // The scripts that a settings file starts were shared files, and its tree had fewer parts.
    let now = Facts { closure: Some(tree(70)), ..Facts::of_tree(tree(69)) };
    let seen = ObservedPlugin { before: Some(Box::new(before)), ..observed(PLACED, &now) };
    let added = vec![ChangedPart::Closure];
    assert_eq!(pins.check(&seen), PinCheck::Migrated { age: AgreedAge::Latest, added });
    assert_eq!(commit(&mut pins, enroll_seen(seen.clone())).outcomes, [ChangeOutcome::Done]);
    assert_eq!(pins.check(&seen), SAME);
    assert_eq!(pins.check(&ObservedPlugin { before: None, ..seen }), SAME, "only old states use it");
}

#[test]
fn a_moved_plugin_keeps_an_old_state() {
    let (_home, mut pins) = home();
    let from = PLACED.parse().unwrap();
    let seen = wider(&pinned(&pins, PLACED, 0));
    let moved = ObservedPlugin {
        key: "path:/site/plugins/c".parse().unwrap(),
        predecessor: Some(PLACED.parse().unwrap()),
        ..seen
    };
    assert_eq!(pins.check(&moved), PinCheck::Moved { from });
    assert_eq!(commit(&mut pins, enroll_seen(moved.clone())).outcomes, [ChangeOutcome::Done]);
    assert!(matches!(pins.check(&moved), PinCheck::Migrated { .. }));
}

#[test]
fn an_accept_names_one_digest_for_all_files_outside() {
    let (_home, mut pins) = home();
    let wide = wider(&pinned(&pins, PLACED, 0));
    let pinned = pins.get(&wide.key).unwrap().latest().unwrap().facts.clone();
    let wanted = ReviewedDigests::wanted(&wide.facts, Some(&pinned));
    assert_eq!(wanted.outside, [tree(70)].into());
    let accept = |outside: &[TreeDigest]| Change::Accept {
        observed: wide.clone(),
        shown: ReviewedDigests { outside: outside.iter().copied().collect(), ..wanted.clone() },
        expected: Some(pinned.tree),
        recorded: std::collections::BTreeSet::new(),
        by: None,
    };
    for wrong in [&[][..], &[tree(70), tree(71)]] {
        let outcome = &commit(&mut pins, accept(wrong)).outcomes[0];
        assert_eq!(outcome.code(), Some("pin/not-shown"), "{outcome:?}");
    }
    assert_eq!(commit(&mut pins, accept(&[tree(70)])).outcomes, [ChangeOutcome::Done]);
    assert_eq!(pins.check(&wide), SAME);
    let again = accept(&[]);
    assert_eq!(commit(&mut pins, again).outcomes, [ChangeOutcome::Already]);
    // The unresolved commands of a state are agreed to with it, and are not compared.
    let mut more = wide.clone();
    more.facts.unresolved.insert(digest(72));
    more.facts.loosens.clear();
    assert_eq!(pins.check(&more), SAME);
    assert_eq!(pins.agreed(&more).unwrap().facts.unresolved, [digest(71)].into());
}

#[test]
fn entries_of_version_three_are_written_unchanged() {
    let (home, mut pins) = home();
    let _done = commit(&mut pins, enroll("path:/new", &facts(1)));
    let text = home.read(PINS);
    let entries = |text: &str| {
        let start = text.find("\n[locks]").unwrap();
        text[start..text.find("\n[end]").unwrap()].to_owned()
    };
    let new = text.find("\n[pins.\"path:/new\"]").unwrap();
    let (old, written) = (entries(VERSION_THREE), entries(&text));
    let after = written.replacen(&text[new..new + text[new..].find("\n[pins.\"path:/site").unwrap()], "", 1);
    assert_eq!(after, old);
    // The same text under the other version number is damage, not another file.
    for (text, from, to) in
        [(&text[..], "version = 4", "version = 3"), (VERSION_THREE, "version = 3", "version = 4")]
    {
        assert!(parse_pins(text.replacen(from, to, 1).as_bytes()).is_err(), "{to}");
    }
}

#[test]
fn an_old_file_over_a_new_backup_hides_nothing() {
    let (home, mut pins) = home();
    let wide = wider(&pinned(&pins, PLACED, 0));
    let _done = commit(&mut pins, enroll_seen(wide.clone()));
    home.write(PINS, VERSION_THREE);
    let (pins, found) = home.open();
    assert_eq!((found.code(), pins.check(&wide)), (Some("pin/recovered"), SAME));
}

#[test]
fn an_old_file_is_kept_where_it_was_only_in_the_backup() {
    let (home, _) = home();
    std::fs::remove_file(home.directory.path().join(PINS)).unwrap();
    let (mut pins, found) = home.open();
    assert_eq!(found.code(), Some("pin/recovered"));
    let done = commit(&mut pins, enroll("path:/new", &facts(1)));
    assert_eq!(done.wrote, WriteOutcome::Synced { kept: Some(format!("{PINS}.v3")) });
    assert_eq!(home.read(&format!("{PINS}.v3")), VERSION_THREE);
}

#[test]
fn a_replaced_state_keeps_its_time() {
    let (home, mut pins) = home();
    let wide = wider(&pinned(&pins, PLACED, 0));
    let _done = commit(&mut pins, enroll_seen(wide));
    // No change of this version marks a state, so the text is made by hand, with its check value.
    let text = home.read(PINS).replacen("closure = ", "superseded = 2026-11-21T21:48:03Z\nclosure = ", 1);
    let error = parse_pins(text.as_bytes()).unwrap_err().to_string();
    assert!(error.contains("check value"), "{error}");
    let text = home.read(PINS).replacen("reads = 2", "reads = 3", 1);
    assert!(parse_pins(text.as_bytes()).unwrap_err().to_string().contains("reads"), "a later reading");
}

#[test]
fn version_two_is_an_error() {
    let error = parse_pins(VERSION_THREE.replacen("version = 3", "version = 2", 1).as_bytes()).unwrap_err();
    assert!(error.to_string().contains("3 or 4"), "{error}");
}
