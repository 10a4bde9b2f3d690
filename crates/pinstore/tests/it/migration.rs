//! Pins of version 2, which are pending until a plugin of their name is checked.

use plugward_pinstore::{
    Change, ChangeOutcome, ChangedPart, DenialSource, Facts, ObservedPlugin, PinCheck, PinOrigin, PinState,
    PinnedState, Pins, ReviewedDigests, StoreCheck, WriteOutcome,
};
use plugward_types::{Digest, TreeDigest};

use crate::support::{
    Home, LAST_GOOD, PINS, SAME, called, commit, enroll_seen, facts, key, now, observed, tree,
};

/// A file as the releases with version 2 write it.
const VERSION_TWO: &str = r#"# The plugins that were agreed to on this machine; written by plugward. To change it: plugward accept, forget,
# deny, allow. A pin that is removed by hand is enrolled again at the next start.
version = 2

[locks]
"workspace:19581e27de7ced00" = "sha256:2c624232cdd221771294dfbb310aca000a0df6ac8b66b696d90ef06fdefb64a3"

[[revoked]]
id = "claude:bad@team"
versions = ["1.0.0"]
reason = "exfiltrates"

[pins.user."claude:a@team"]
manifest = "sha256:6b86b273ff34fce19d6b804eff5a3f5747ada4eaa22f1d49c01e52ddb7875b4b"
tree = "pt1:d4735e3a265e16eee03f59718b9b5d03019c07d8b6c51f90da3a666eec13ab35"
exclude = [".git"]
shared = { "../shared" = "pt1:4e07408562bedb8b60ce05c1decfe3ad16b72230967de01f640b7e4729b49fce" }
surface = "sf1:4b227777d4dd1fc61c6f884f48641d02b4d121d3fd328cb08b5531fcacdabf8a"
state = "trusted"
via = "prompt"
signer = "RWkey"
at = 2026-11-20T21:48:03Z
by = "anna"
previous = "pt1:ef2d127de37b942baad06145e54b0c619a1f22327b2ebbcfbec78f5564afe39d"

[pins.user."claude:a@team".mcp.github]
set = "sha256:4e07408562bedb8b60ce05c1decfe3ad16b72230967de01f640b7e4729b49fce"
key = "sha256:4b227777d4dd1fc61c6f884f48641d02b4d121d3fd328cb08b5531fcacdabf8a"
items = { "tool x" = "sha256:ef2d127de37b942baad06145e54b0c619a1f22327b2ebbcfbec78f5564afe39d" }

[pins."workspace:19581e27de7ced00"."claude:a@team"]
tree = "pt1:ef2d127de37b942baad06145e54b0c619a1f22327b2ebbcfbec78f5564afe39d"
state = "trusted"
via = "tofu"
at = 2026-11-19T21:48:03Z

[pins."workspace:19581e27de7ced00"."gnoma:b@p"]
state = "denied"
via = "prompt"
at = 2026-11-21T21:48:03Z
denied = "pt1:ef2d127de37b942baad06145e54b0c619a1f22327b2ebbcfbec78f5564afe39d"

[v1]
old = "e7f6c011776e8db7cd330b54174fd76f7d0216b612387a5ffcfb81e6f0919683"

[end]
pins = 3
serial = 7
"#;

pub(crate) fn version_two() -> String {
    VERSION_TWO.to_owned()
}

fn home() -> (Home, Pins) {
    let home = Home::new();
    home.write(PINS, VERSION_TWO);
    home.write(LAST_GOOD, VERSION_TWO);
    let (pins, found) = home.open();
    assert!(matches!(found, StoreCheck::Ready) && pins.notices().is_empty());
    (home, pins)
}

/// The plugin `claude:a` with the pinned contents.
fn same() -> ObservedPlugin {
    let hex = |hex: &str| format!("pt1:{hex}").parse::<TreeDigest>().unwrap();
    let manifest: Digest =
        "sha256:6b86b273ff34fce19d6b804eff5a3f5747ada4eaa22f1d49c01e52ddb7875b4b".parse().unwrap();
    let facts = Facts {
        manifest: [("claude".to_owned(), manifest), ("codex".to_owned(), manifest)].into(),
        shared: [(
            "../shared".to_owned(),
            hex("4e07408562bedb8b60ce05c1decfe3ad16b72230967de01f640b7e4729b49fce"),
        )]
        .into(),
        exclude: vec![".git".to_owned()],
        signer: Some("RWkey".to_owned()),
        ..Facts::of_tree(hex("d4735e3a265e16eee03f59718b9b5d03019c07d8b6c51f90da3a666eec13ab35"))
    };
    ObservedPlugin { called: called(&["claude:a", "codex:a"]), ..observed("path:/site/plugins/a", &facts) }
}

/// The plugin of the workspace's pin.
fn other() -> ObservedPlugin {
    let tree = "pt1:ef2d127de37b942baad06145e54b0c619a1f22327b2ebbcfbec78f5564afe39d".parse().unwrap();
    ObservedPlugin { called: called(&["claude:a"]), ..observed("path:/w/a", &Facts::of_tree(tree)) }
}

#[test]
fn the_same_bytes_are_migrated_with_their_origin() {
    let (home, mut pins) = home();
    let ids = vec!["claude:a@team".parse().unwrap()];
    let found = pins.check(&same());
    assert_eq!((found.clone(), found.code()), (PinCheck::Migrated { ids }, Some("pin/migrated")));
    assert_eq!((pins.pending().count(), pins.iter().count()), (3, 0));
    let done = commit(&mut pins, enroll_seen(same()));
    assert_eq!(done.outcomes, [ChangeOutcome::Done]);
    // The old file is kept, and the serial number goes on.
    assert_eq!(done.wrote, WriteOutcome::Synced { kept: Some("plugins.pins.toml.v2".to_owned()) });
    assert_eq!((home.read("plugins.pins.toml.v2"), done.serial), (VERSION_TWO.to_owned(), 8));
    assert_eq!(home.read(LAST_GOOD), home.read(PINS));
    let (mut pins, _) = home.open();
    assert_eq!(pins.check(&same()), SAME);
    let pin = pins.get(&same().key).unwrap();
    let agreed = pin.latest().unwrap();
    assert_eq!((agreed.via, agreed.by.as_deref()), (PinOrigin::Prompt, Some("anna")));
    assert_eq!((agreed.at.to_string().as_str(), agreed.facts.manifest.len()), ("2026-11-20T21:48:03Z", 2));
    assert_eq!(pin.mcp.len(), 1, "the pins of its servers are carried over");
    // The pin of the other scope waits for its own directory.
    assert_eq!(pins.pending().count(), 2);
    assert!(matches!(pins.check(&other()), PinCheck::Migrated { .. }));
    assert_eq!(commit(&mut pins, enroll_seen(other())).outcomes, [ChangeOutcome::Done]);
    assert_eq!(pins.pending().count(), 1);
}

#[test]
fn copies_are_migrated_in_one_commit() {
    let (_home, mut pins) = home();
    let copy = ObservedPlugin { key: key("path:/elsewhere/a"), ..same() };
    let done = pins.commit(vec![enroll_seen(same()), enroll_seen(copy.clone())], now()).unwrap();
    assert_eq!(done.outcomes, [ChangeOutcome::Done, ChangeOutcome::Done]);
    assert_eq!(pins.get(&copy.key).unwrap().latest().unwrap().via, PinOrigin::Prompt);
    assert_eq!(pins.pending().count(), 2);
}

#[test]
fn other_bytes_are_changed_until_they_are_accepted() {
    let (_home, mut pins) = home();
    let mut changed = same();
    changed.facts.tree = tree(1);
    let PinCheck::Changed(found) = pins.check(&changed) else { panic!() };
    let PinnedState::Pending(trees) = &found.pinned else { panic!() };
    assert_eq!((trees.len(), &found.parts), (2, &vec![ChangedPart::Tree]));
    assert_eq!((found.called.clone(), found.since.is_some()), (called(&["claude:a"]), true));
    assert!(matches!(
        &commit(&mut pins, enroll_seen(changed.clone())).outcomes[..],
        [ChangeOutcome::Conflict(_)]
    ));
    // Each fact counts.
    for part in [ChangedPart::Manifest, ChangedPart::Shared, ChangedPart::Entry, ChangedPart::Signer] {
        let mut seen = same();
        match part {
            ChangedPart::Manifest => seen.facts.manifest.clear(),
            ChangedPart::Shared => seen.facts.shared.clear(),
            ChangedPart::Entry => seen.facts.entry = Some(crate::support::digest(1)),
            _ => seen.facts.signer = Some("other".to_owned()),
        }
        let PinCheck::Changed(found) = pins.check(&seen) else { panic!("{part:?}") };
        assert_eq!(found.parts, [part]);
    }
    // A plugin of another name or dialect is new.
    let stranger = ObservedPlugin { called: called(&["claude:b", "gnoma:a"]), ..changed.clone() };
    assert_eq!(pins.check(&stranger), PinCheck::Unpinned);
    let shown = ReviewedDigests::wanted(&changed.facts, None);
    let accept = Change::Accept { observed: changed.clone(), shown, expected: None, by: None };
    assert_eq!(commit(&mut pins, accept).outcomes, [ChangeOutcome::Done]);
    assert_eq!(pins.check(&changed), SAME);
    assert_eq!(pins.get(&changed.key).unwrap().mcp.len(), 1);
    // The pins that it replaces are gone. Those of other names are not.
    let ids: Vec<_> = pins.pending().map(|(id, _)| id.as_str()).collect();
    assert_eq!(ids, ["gnoma:b@p"]);
}

#[test]
fn denials_stay_in_effect() {
    let (home, mut pins) = home();
    let denied =
        ObservedPlugin { called: called(&["claude:b", "gnoma:b"]), ..observed("path:/x", &facts(1)) };
    let id = "gnoma:b@p".parse::<plugward_types::PluginId>().unwrap();
    let by = DenialSource::Pending(id.clone());
    assert_eq!(pins.check(&denied), PinCheck::Denied { since: now(), by });
    let changes = vec![
        enroll_seen(denied.clone()),
        Change::ForgetPending { id: id.clone() },
        Change::ForgetAll,
        Change::AllowPending { id: "claude:a@team".parse().unwrap() },
    ];
    let outcomes = pins.commit(changes, now()).unwrap().outcomes;
    assert_eq!(
        outcomes[..2].iter().filter_map(ChangeOutcome::code).collect::<Vec<_>>(),
        ["policy/denied"; 2]
    );
    assert_eq!(outcomes[2..], [ChangeOutcome::Done, ChangeOutcome::Absent]);
    // Only the denial and the revocation outlive starting over.
    let (mut pins, _) = home.open();
    let left: Vec<_> = pins.pending().map(|(id, pin)| (id.clone(), pin.state)).collect();
    assert_eq!(left, [(id.clone(), PinState::Denied)]);
    assert_eq!((pins.manifest_only().count(), pins.revoked().len()), (0, 1));
    assert!(matches!(pins.check(&denied), PinCheck::Denied { .. }));
    let _done = commit(&mut pins, Change::AllowPending { id: id.clone() });
    assert_eq!(pins.check(&denied), PinCheck::Unpinned);
    assert_eq!(commit(&mut pins, Change::AllowPending { id }).outcomes, [ChangeOutcome::Absent]);
}

#[test]
fn a_pending_pin_can_be_forgotten() {
    let (_home, mut pins) = home();
    let forget = || Change::ForgetPending { id: "claude:a@team".parse().unwrap() };
    assert_eq!(commit(&mut pins, forget()).outcomes, [ChangeOutcome::Done]);
    assert_eq!(commit(&mut pins, forget()).outcomes[0].code(), Some("pin/none"));
    assert_eq!(pins.check(&same()), PinCheck::Unpinned);
}

#[test]
fn lockfiles_are_dropped_and_revocations_lose_their_source() {
    let (_home, pins) = home();
    let lock = "sha256:2c624232cdd221771294dfbb310aca000a0df6ac8b66b696d90ef06fdefb64a3".parse().unwrap();
    assert!(!pins.is_lock_accepted(&lock));
    let revoked = &pins.revoked()[0];
    assert_eq!((revoked.id.as_deref(), revoked.versions.len()), (Some("claude:bad"), 1));
}

#[test]
fn an_old_file_is_kept_where_it_was_only_in_the_backup() {
    let (home, _) = home();
    std::fs::remove_file(home.directory.path().join(PINS)).unwrap();
    let (mut pins, found) = home.open();
    assert_eq!(found.code(), Some("pin/recovered"));
    let done = commit(&mut pins, enroll_seen(same()));
    assert_eq!(done.wrote, WriteOutcome::Synced { kept: Some("plugins.pins.toml.v2".to_owned()) });
    assert_eq!(home.read("plugins.pins.toml.v2"), VERSION_TWO);
    // A file of version 2 over a backup of version 3 hides nothing.
    home.write(PINS, VERSION_TWO);
    let (pins, found) = home.open();
    assert_eq!((found.code(), pins.check(&same())), (Some("pin/recovered"), SAME));
}

#[test]
fn a_version_two_file_that_was_edited_by_hand_is_noticed() {
    let home = Home::new();
    home.write(PINS, &VERSION_TWO.replace("pins = 3", "pins = 4"));
    let (pins, _) = home.open();
    assert_eq!(pins.notices()[0].code(), "pin/hand-edited");
}
