//! Revocation lists.

use core::time::Duration;

use plugward_pinstore::{
    Change, EffectiveList, ListFault, Revocation, RevocationCheck, RevocationLists, RevocationSubject,
    Revocations,
};
use plugward_types::Digest;

use crate::support::{Home, commit, digest, key, tree};

fn list(serial: u64, entries: &str) -> String {
    format!("version = 1\nserial = {serial}\n{entries}")
}

fn entry(lines: &str) -> String {
    list(1, &format!("[[revoked]]\nreason = \"r\"\n{lines}\n"))
}

/// Whether an entry matches a plugin with everything.
fn matches(lines: &str) -> bool {
    let found = Revocations::parse(entry(lines).as_bytes()).unwrap();
    let (plugin, signers) = (key("path:/plugins/bad"), ["key-1".to_owned(), "key-2".to_owned()]);
    let names = ["claude:bad".to_owned(), "claude:bad@team".to_owned()];
    let binaries: [Digest; 2] = [digest(3), digest(4)];
    let (tree, manifests) = (tree(1), [digest(8), digest(2)]);
    let subject = RevocationSubject {
        key: &plugin,
        names: &names,
        version: Some("1.2.0"),
        tree: Some(&tree),
        manifests: &manifests,
        binaries: &binaries,
        signers: &signers,
    };
    matches!(found.check(&subject), RevocationCheck::Revoked(_))
}

#[test]
fn all_that_an_entry_gives_must_match() {
    let tree_line = |number| format!("tree = \"{}\"", tree(number));
    let digest_line = |key: &str, number| format!("{key} = \"{}\"", digest(number));
    for (hit, miss) in [
        (tree_line(1), tree_line(2)),
        (digest_line("manifest", 2), digest_line("manifest", 1)),
        (digest_line("binary", 4), digest_line("binary", 5)),
        ("id = \"claude:bad@team\"".to_owned(), "id = \"claude:bad@other\"".to_owned()),
        ("id = \"claude:bad\"".to_owned(), "id = \"codex:bad\"".to_owned()),
        ("id = \"path:/plugins/bad\"".to_owned(), "id = \"path:/plugins\"".to_owned()),
        (
            "id = \"claude:bad@team\"\nversions = [\"1.1.0\", \"1.2.0\"]".to_owned(),
            "id = \"claude:bad@team\"\nversions = [\"1.2\", \"1.2.00\"]".to_owned(),
        ),
        ("signer = \"key-2\"".to_owned(), "signer = \"key-3\"".to_owned()),
    ] {
        assert!(matches(&hit), "{hit}");
        assert!(!matches(&miss), "{miss}");
        // One more condition that does not hold, and the entry does not match.
        let more =
            if hit.contains("signer") { digest_line("binary", 9) } else { "signer = \"key-9\"".to_owned() };
        assert!(!matches(&format!("{hit}\n{more}")), "{hit} and {more}");
    }
}

#[test]
fn a_plugin_without_a_version_is_none_of_the_versions() {
    let found =
        Revocations::parse(entry("id = \"claude:bad@team\"\nversions = [\"1.0.0\"]").as_bytes()).unwrap();
    let (plugin, names) = (key("claude:bad@team"), [] as [String; 0]);
    let subject = RevocationSubject {
        key: &plugin,
        names: &names,
        version: None,
        tree: None,
        manifests: &[],
        binaries: &[],
        signers: &[],
    };
    assert_eq!(found.check(&subject), RevocationCheck::Clear);
}

#[test]
fn an_entry_that_matches_nothing_or_gives_no_reason_is_refused() {
    for bad in [
        list(1, "[[revoked]]\nreason = \"r\"\n"),
        list(1, "[[revoked]]\nid = \"a:b@c\"\n"),
        list(1, "[[revoked]]\nreason = \"r\"\nid = \"a/b\"\n"),
        list(1, "[[revoked]]\nreason = \"r\"\nid = \"path:b\"\n"),
        list(1, "[[revoked]]\nreason = \"r\"\ntree = \"x\"\n"),
        list(1, "[[revoked]]\nreason = \"r\"\nversions = [\"1\"]\nsigner = \"k\"\n"),
        list(1, "[[revoked]]\nreason = \"r\"\nid = \"a:b@c\"\nversions = \"1\"\n"),
        list(1, "revoked = 1\n"),
        "version = 1\n".to_owned(),
        "serial = 1\n".to_owned(),
        "version = 2\nserial = 1\n".to_owned(),
        "version = 1\nserial = 12".to_owned(),
        String::new(),
    ] {
        let error = Revocations::parse(bad.as_bytes()).unwrap_err();
        assert_eq!(error.code(), "store/format", "{bad}");
    }
    // A name alone means every plugin that has it.
    let named = list(1, "[[revoked]]\nreason = \"r\"\nid = \"ab\"\n");
    assert_eq!(Revocations::parse(named.as_bytes()).unwrap().entries().len(), 1);
    // An empty list is a list.
    assert_eq!(Revocations::parse(list(7, "").as_bytes()).unwrap().serial(), 7);
}

#[test]
fn the_pins_keep_revocations_of_their_own() {
    let home = Home::new();
    let (mut pins, _) = home.open();
    let revoked = Revocation { tree: Some(tree(1)), ..Revocation::because("exfiltrates tokens") };
    let _done = commit(&mut pins, Change::Revoke(revoked.clone()));
    let done = commit(&mut pins, Change::Revoke(revoked.clone()));
    assert_eq!(done.outcomes[0].code(), None);
    let done = commit(&mut pins, Change::Revoke(Revocation::because("nothing to match")));
    assert_eq!(done.outcomes[0].code(), Some("store/format"));
    let bad = Revocation { id: Some("../b".to_owned()), ..Revocation::because("not an id") };
    assert_eq!(commit(&mut pins, Change::Revoke(bad)).outcomes[0].code(), Some("store/format"));
    let (plugin, names, tree) = (key("a:b@c"), [] as [String; 0], tree(1));
    let subject = RevocationSubject {
        key: &plugin,
        names: &names,
        version: None,
        tree: Some(&tree),
        manifests: &[],
        binaries: &[],
        signers: &[],
    };
    let (pins, _) = home.open();
    assert_eq!(Revocations::of(pins.revoked()).check(&subject), RevocationCheck::Revoked(&revoked));
}

#[test]
fn a_list_that_is_damaged_withheld_or_older_takes_nothing_back() {
    let home = Home::new();
    let lists = RevocationLists::open(&home.dir(), home.owner(), Duration::from_secs(60)).unwrap();
    let settle = |offered: Option<&str>| {
        lists.settle("https://example.org/r.toml", offered.map(str::as_bytes)).unwrap()
    };
    let never = settle(None);
    assert!(matches!(&never, EffectiveList::None { why: ListFault::Unreachable }));
    assert_eq!((never.code(), never.list()), (Some("revocation/none"), None));
    assert!(matches!(settle(Some("bad")), EffectiveList::None { why: ListFault::Damaged(_) }));
    let fifth = list(5, "[[revoked]]\nid = \"a:b@c\"\nreason = \"r\"\n");
    let fresh = settle(Some(&fifth));
    assert!(matches!(&fresh, EffectiveList::Fresh { not_kept: None, .. }));
    for (offered, why) in
        [(None, ListFault::Unreachable), (Some(list(4, "")), ListFault::Older { offered: 4, kept: 5 })]
    {
        let found = settle(offered.as_deref());
        assert_eq!(found.code(), Some("revocation/kept"));
        assert!(
            matches!(&found, EffectiveList::Kept { list, why: said } if list.serial() == 5 && *said == why)
        );
    }
    let found = settle(Some("version = 1\nserial = 9\n[[revoked]]\n"));
    assert!(
        matches!(&found, EffectiveList::Kept { why: ListFault::Damaged(_), list } if list.entries().len() == 1)
    );
    // Another source is another list.
    assert!(matches!(lists.settle("other", None).unwrap(), EffectiveList::None { .. }));
    assert!(matches!(settle(Some(&list(6, ""))), EffectiveList::Fresh { .. }));
    assert!(matches!(settle(None), EffectiveList::Kept { list, .. } if list.serial() == 6));
    // The kept list is damaged in both copies: nobody knows, and that is no answer.
    let names: Vec<String> = std::fs::read_dir(home.directory.path().join("revocations"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| !name.contains(".lock"))
        .collect();
    assert_eq!(names.len(), 2);
    for name in names {
        home.write(&format!("revocations/{name}"), "torn");
    }
    let error = lists.settle("https://example.org/r.toml", None).unwrap_err();
    assert_eq!(error.code(), "state/damaged");
    assert!(matches!(settle(Some(&list(7, ""))), EffectiveList::Fresh { not_kept: None, .. }));
}
