//! The JSON lock of codewizard: its own cases, and those that it misses.

use std::collections::BTreeSet;

use plugward_tree_lock::{
    AnyLockFile, CodewizardDigest, JSON_LOCK_BYTES, JsonLock, JsonLockCheck, LockEntry, LockOutcome,
    LockRule, MigratedPlugin, Migration,
};

use crate::tree::Tree;

const NAME: &str = "vulnerability-remediation--node--npm";
const HEX: &str = "6b5b2b12ecba007f4329e92b2dff1209b19cbb1582312cd267e5a38d28060dfd";

#[test]
fn the_object_is_read() {
    let text = format!("{{\n  \"{NAME}\": \"{HEX}\",\n  \"a--b--c\": \"{HEX}\"\n}}\n");
    let lock = JsonLock::parse(text.as_bytes()).unwrap();
    let entries: Vec<_> = lock.entries().map(|(name, digest)| format!("{name} {digest}")).collect();
    assert_eq!(entries, [format!("a--b--c {HEX}"), format!("{NAME} {HEX}")]);
    assert!(matches!(AnyLockFile::parse(text.as_bytes()).unwrap(), AnyLockFile::Json(_)));
    assert!(matches!(AnyLockFile::parse(b"version = 1").unwrap(), AnyLockFile::Plugins(_)));
    assert_eq!(JsonLock::parse(b"{}").unwrap().entries().len(), 0);
    assert_eq!(
        JsonLock::parse(format!(" \r\n\t{{\"\\u0061--b\\u002d-c\":\"{HEX}\"}}").as_bytes())
            .unwrap()
            .entries()
            .len(),
        1
    );
}

#[test]
fn any_defect_is_malformed_and_about_the_file() {
    let upper = HEX.to_uppercase();
    let short = &HEX[1..];
    for (text, place) in [
        ("", "1:1"),
        ("[]", "1:1"),
        ("null", "1:4"),
        ("{", "1:1"),
        ("{}x", "1:3"),
        ("{} {}", "1:4"),
        ("\u{feff}{}", "1:1"),
        (&format!("{{\"{NAME}\": \"{HEX}\",}}"), "1:109"),
        (&format!("{{\"{NAME}\" \"{HEX}\"}}"), "1:41"),
        (&format!("{{\"{NAME}\": \"{HEX}\" \"a--b--c\"}}"), "1:109"),
        (&format!("{{\"{NAME}\": \"{HEX}\",\n\"{NAME}\": \"{HEX}\"}}"), "2:38"),
        (&format!("{{\"{NAME}\": \"{upper}\"}}"), "1:108"),
        (&format!("{{\"{NAME}\": \"{short}\"}}"), "1:107"),
        (&format!("{{\"{NAME}\": \"sha256:{HEX}\"}}"), "1:115"),
        (&format!("{{\"{NAME}\": {{\"x\": \"{HEX}\"}}}}"), "1:41"),
        (&format!("{{\"{NAME}\": null}}"), "1:45"),
        (&format!("{{\"plain\": \"{HEX}\"}}"), "1:8"),
        (&format!("{{\"A--b--c\": \"{HEX}\"}}"), "1:10"),
        (&format!("{{\"a--b--c\n\": \"{HEX}\"}}"), "2:1"),
        (&format!("{{\"a--b--c\\x\": \"{HEX}\"}}"), "1:11"),
        (&format!("{{\"a--b--c\\ud800\": \"{HEX}\"}}"), "1:16"),
        (&format!("{{\"a--b--c: \"{HEX}\"}}"), "1:12"),
        (&format!("{{'a--b--c': \"{HEX}\"}}"), "1:2"),
        (&format!("{{\"a--b--c\": \"{HEX}"), "1:77"),
    ] {
        let error = JsonLock::parse(text.as_bytes()).unwrap_err();
        assert_eq!(
            format!("{}:{}", error.line().unwrap(), error.column().unwrap()),
            place,
            "{text}\n{error}"
        );
        assert_eq!((error.code(), error.plugin()), ("lock/malformed", "<lockfile>"));
    }
    assert_eq!(JsonLock::parse(b"{\"\xff").unwrap_err().expected(), "UTF-8");
    let mut long = b"{}".to_vec();
    long.resize(JSON_LOCK_BYTES, b' ');
    assert!(JsonLock::parse(&long).is_ok());
    long.push(b' ');
    assert!(JsonLock::parse(&long).is_err());
    assert!(JsonLock::parse("{\"a--b--c\":".repeat(5000).as_bytes()).is_err());
}

#[test]
fn plugins_are_held_against_their_own_digest() {
    let one = Tree::new();
    one.file("plugin.yaml", "name: a--b--c\n").file("api.py", "print('GOOD')\n");
    let digest = CodewizardDigest::of(&one.read());
    let lock =
        JsonLock::parse(format!("{{\"a--b--c\": \"{digest}\", \"d--e--f\": \"{HEX}\"}}").as_bytes()).unwrap();
    assert_eq!(lock.check("a--b--c", digest), JsonLockCheck::Match);
    // It narrows which plugins load and never counts as a pin.
    for (name, narrows, anchors) in [
        ("a--b--c", LockOutcome::GoOn, LockOutcome::NeedsPin("lock/weak-scheme")),
        ("d--e--f", LockOutcome::Refuse("lock/mismatch"), LockOutcome::Refuse("lock/mismatch")),
        ("x--y--z", LockOutcome::Refuse("lock/unlisted"), LockOutcome::Refuse("lock/unlisted")),
    ] {
        let check = lock.check(name, digest);
        assert_eq!(
            (check.outcome(LockRule::Narrows), check.outcome(LockRule::Anchors)),
            (narrows, anchors),
            "{name}"
        );
    }
    assert_eq!(lock.check("x--y--z", digest).code(), Some("lock/unlisted"));
    assert_eq!(lock.check("d--e--f", digest).code(), Some("lock/mismatch"));
    assert_eq!(lock.unvisited(&BTreeSet::from(["a--b--c".to_owned()])), ["d--e--f"]);
    one.file("api.py", "print('EVIL')\n");
    assert_eq!(lock.check("a--b--c", CodewizardDigest::of(&one.read())).code(), Some("lock/mismatch"));
}

#[test]
fn migration_carries_over_what_holds_and_nothing_else() {
    let plugin = Tree::new();
    plugin.file("plugin.yaml", "name: a--b--c\n");
    let snapshot = plugin.read();
    let digest = CodewizardDigest::of(&snapshot);
    let lock = |names: &[&str]| {
        let rows: Vec<_> = names.iter().map(|name| format!("\"{name}\": \"{digest}\"")).collect();
        JsonLock::parse(format!("{{{}}}", rows.join(",")).as_bytes()).unwrap()
    };
    let migrant = |name: &str, digest| MigratedPlugin {
        name: name.to_owned(),
        digest,
        path: name.replace("--", "-"),
        entry: LockEntry::new(*snapshot.digest()),
    };
    match lock(&["a--b--c"]).migrate(vec![migrant("a--b--c", digest)]).unwrap() {
        Migration::Done(file) => {
            assert_eq!(file.entries().map(|(path, _)| path).collect::<Vec<_>>(), ["a-b-c"]);
        }
        refused @ Migration::Refused { .. } => panic!("{refused:?}"),
    }
    let other: CodewizardDigest = HEX.parse().unwrap();
    let refused = lock(&["a--b--c", "d--e--f", "g--h--i"]).migrate(vec![
        migrant("a--b--c", digest),
        migrant("d--e--f", other),
        migrant("x--y--z", digest),
    ]);
    match refused.unwrap() {
        Migration::Refused { differ, missing } => {
            let differ: Vec<_> =
                differ.iter().map(|(name, check)| (name.as_str(), check.code().unwrap())).collect();
            assert_eq!(differ, [("d--e--f", "lock/mismatch"), ("x--y--z", "lock/unlisted")]);
            assert_eq!(missing, ["g--h--i"]);
        }
        done @ Migration::Done(_) => panic!("{done:?}"),
    }
    assert!(
        lock(&["a--b--c"]).migrate(vec![migrant("a--b--c", digest), migrant("a--b--c", digest)]).is_err()
    );
    let mut twin = migrant("d--e--f", digest);
    twin.path = "a-b-c".to_owned();
    assert!(lock(&["a--b--c", "d--e--f"]).migrate(vec![migrant("a--b--c", digest), twin]).is_err());
}
