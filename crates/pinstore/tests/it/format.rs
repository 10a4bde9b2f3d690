//! The pins file, byte by byte.

use core::fmt::Write as _;
use std::collections::BTreeMap;

use plugward_pinstore::{
    Change, ChangeOutcome, DirectoryId, Facts, FormatErrorKind, McpOwner, McpPin, ObservedPlugin, PinOrigin,
    Pins, ReviewedDigests, Revocation, StoreCheck, StoreErrorKind, Timestamp, parse_pins,
};
use proptest::prelude::*;
use sha2::{Digest as _, Sha256};

use crate::support::{
    Home, LAST_GOOD, PINS, SAME, called, check, commit, deny, digest, enroll, facts, key, now, observed, tree,
};

const FULL: &str = "claude:hookify@claude-plugins-official";
const ANOTHER: &str = "path:/home/anna/site/plugins/another";

/// A file with an entry of every kind and a value for every key.
pub(crate) fn full() -> Home {
    let (home, mut pins) = crate::migration::home();
    let all = Facts {
        manifest: BTreeMap::from([("claude".to_owned(), digest(1)), ("codex".to_owned(), digest(2))]),
        entry: Some(digest(2)),
        tree: tree(3),
        exclude: vec![".git".to_owned()],
        shared: BTreeMap::from([("../shared".to_owned(), tree(4))]),
        surface: Some(format!("sf1:{}", "5".repeat(64)).parse().unwrap()),
        signer: Some("RWQf6LRCGA9i53ml".to_owned()),
        closure: Some(tree(13)),
        vcs: Some(digest(14)),
        unresolved: [digest(15), digest(16)].into(),
        loosens: ["Bash(*)".to_owned()].into(),
    };
    let revoked = Revocation {
        tree: Some(tree(6)),
        id: Some("claude:bad@team".to_owned()),
        versions: vec!["1.0.0".to_owned()],
        since: Some(now()),
        ..Revocation::because("exfiltrates tokens")
    };
    let mcp = McpPin {
        set: digest(7),
        key: digest(8),
        capabilities: ["roots".to_owned()].into(),
        items: BTreeMap::from([("tool get_issue".to_owned(), digest(9))]),
        used: None,
    };
    let pin_mcp = |owner, server: &str| Change::McpPin {
        owner,
        server: server.to_owned(),
        pin: mcp.clone(),
        expected: [].into(),
    };
    let hookify = ObservedPlugin {
        called: called(&["claude:hookify", "codex:hookify"]),
        version: Some("0.1.0".to_owned()),
        behaviors: None,
        ..observed(FULL, &all)
    };
    let another =
        ObservedPlugin { directory: Some(DirectoryId::new(11_010_178, 2)), ..observed(ANOTHER, &facts(10)) };
    let changes = vec![
        Change::Enroll { observed: hookify.clone(), via: PinOrigin::Tofu, by: None },
        Change::Enroll {
            observed: ObservedPlugin { facts: facts(11), ..hookify },
            via: PinOrigin::Tofu,
            by: None,
        },
        Change::Enroll {
            observed: another,
            via: PinOrigin::Prompt,
            by: Some("anna \"the\u{1b} quoted\"\n".to_owned()),
        },
        deny("path:/home/anna/never", Some(5)),
        Change::AcceptLock { lock: digest(12) },
        Change::Revoke(revoked),
        pin_mcp(McpOwner::Plugin(key(FULL)), "git hub"),
        pin_mcp(McpOwner::User, "fs"),
    ];
    let done = pins.commit(changes, now()).unwrap();
    assert!(done.outcomes.iter().all(|outcome| *outcome == ChangeOutcome::Done), "{:?}", done.outcomes);
    home
}

#[test]
fn the_file_reads_as_documented() {
    let text = full().read(PINS);
    let at = |part: &str| text.find(part).unwrap_or_else(|| panic!("no {part} in\n{text}"));
    let order = [
        "version = 4\n",
        "[locks]\n\"sha256:",
        "[[revoked]]\n",
        "[pins.\"claude:hookify@claude-plugins-official\"]\nstate = \"trusted\"\ncalled = [\"claude:hookify\", \"codex:hookify\"]\ncheck = \"",
        "[[pins.\"claude:hookify@claude-plugins-official\".agreed]]\ntree = \"pt1:",
        "[pins.\"claude:hookify@claude-plugins-official\".mcp.\"git hub#0000000000000008abababababababababababababababababababababababab\"]\nset = \"sha256:0000000000000007abab",
        "[pins.\"path:/home/anna/never\"]\nstate = \"denied\"",
        "[pins.\"path:/home/anna/site/plugins/another\"]",
        "folder = \"11010178:2\"",
        "[mcp.\"fs#0000000000000008abababababababababababababababababababababababab\"]\nset = \"sha256:",
        "used = 2026-11-21T21:48:03Z\ncheck = \"",
        "[v1.\"old\"]\nmanifest = \"sha256:",
        "[end]\npins = 6\nlocks = 2\nrevoked = 2\nv1 = 1\nmcp = 1\nserial = 8\ncheck = \"",
    ];
    for pair in order.windows(2) {
        assert!(at(pair[0]) < at(pair[1]), "{pair:?} in\n{text}");
    }
    for line in [
        "manifest = { claude = \"sha256:",
        "shared = { \"../shared\" = \"pt1:",
        "exclude = [\".git\"]",
        "denied = { at = 2026-11-21T21:48:03Z, tree = \"pt1:",
        "via = \"tofu\"",
        "at = 2026-11-21T21:48:03Z",
        "\nreads = 2\nclosure = \"pt1:",
        "vcs = \"sha256:",
        "unresolved = [\"sha256:",
        "loosens = [\"Bash(*)\"]",
        "signer = \"RWQf6LRCGA9i53ml\"",
        "version = \"0.1.0\"",
        "items = { \"tool get_issue\" = \"sha256:",
        "by = \"anna \\\"the\\u001b quoted\\\"\\u000a\"",
    ] {
        at(line);
    }
}

#[test]
fn a_truncated_file_is_damaged_and_recovered() {
    let home = full();
    let text = home.read(PINS);
    for end in (0..text.len()).step_by(397) {
        home.write(PINS, &text[..end]);
        let (pins, found) = home.open();
        assert_eq!(found.code(), Some("pin/recovered"), "{end} bytes");
        assert_eq!(check(&pins, ANOTHER, &facts(10)), SAME);
    }
    home.write(LAST_GOOD, &text[..text.len() / 2]);
    let error = Pins::open(&home.file()).unwrap_err();
    assert_eq!(error.code(), "pin/store");
    home.write(PINS, &text);
    assert!(matches!(home.open().1, StoreCheck::Ready));
}

#[test]
fn nul_bytes_at_the_end_are_damage() {
    let text = full().read(PINS);
    for tail in [1, 512, 4096] {
        let filled = format!("{text}{}", "\0".repeat(tail));
        assert!(parse_pins(filled.as_bytes()).is_err());
    }
}

#[test]
fn a_newer_version_is_neither_read_nor_recovered_nor_replaced() {
    let home = Home::new();
    let (mut pins, _) = home.open();
    let _done = commit(&mut pins, enroll(ANOTHER, &facts(1)));
    let newer = "version = 5\n";
    home.write(PINS, newer);
    let error = Pins::open(&home.file()).unwrap_err();
    assert_eq!(error.code(), "pin/store-version");
    assert!(matches!(error.kind(), StoreErrorKind::Version { found: 5 }));
    let error = pins.commit(vec![enroll("path:/b", &facts(2))], now()).unwrap_err();
    assert_eq!(error.code(), "pin/store-version");
    let error = Pins::start_over(&home.file(), Vec::new(), now(), core::time::Duration::ZERO).unwrap_err();
    assert_eq!(error.code(), "pin/store-version");
    assert_eq!(home.read(PINS), newer);
    // A newer backup is not replaced either.
    std::fs::remove_file(home.directory.path().join(PINS)).unwrap();
    home.write(LAST_GOOD, newer);
    assert_eq!(Pins::open(&home.file()).unwrap_err().code(), "pin/store-version");
}

#[test]
fn errors_name_the_place_and_the_expected_value() {
    let good = full().read(PINS);
    let hex = digest(1).hex();
    let upper = format!("\"sha256:{}\"", hex.to_uppercase());
    let cases: &[(&str, &str, &str)] = &[
        (&format!("\"sha256:{hex}\""), &upper, "sha256"),
        (&format!("\"sha256:{hex}\""), &format!("\"sha256:{}\"", &hex[1..]), "sha256"),
        (&format!("\"sha256:{hex}\""), &format!("\"pt1:{hex}\""), "sha256"),
        ("state = \"trusted\"", "state = \"Trusted\"", "`trusted` or `denied`"),
        ("via = \"tofu\"", "via = true", "`tofu`"),
        ("via = \"tofu\"\n", "", "via is missing"),
        ("via = \"tofu\"\n", "via = \"accept\"\n", "check value"),
        ("at = 2026-11-21T21:48:03Z", "at = 2026-11-21T21:48:03", "UTC"),
        ("at = 2026-11-21T21:48:03Z", "at = 2026-11-21T21:48:03+01:00", "UTC"),
        ("serial = 8", "serial = -1", "not negative"),
        ("serial = 8", "serial = \"1\"", "whole number"),
        ("serial = 8", "serial = 9", "end: the check value"),
        ("[pins.\"path:/home/anna/never\"]", "[pins.\"path:home\"]", "plugin key"),
        ("exclude = [\".git\"]", "exclude = [1]", "array of strings"),
        ("reason = \"exfiltrates tokens\"\n", "", "reason is missing"),
        ("version = 4", "version = 1", "3 or 4"),
        ("version = 4", "version = 2", "3 or 4"),
        ("version = 4", "version = 3", "unknown key"),
        ("reads = 2", "reads = 3", "expected 2"),
        ("closure = \"pt1:", "closure = \"sha256:", "pt1"),
        ("vcs = \"sha256:", "vcs = \"pt1:", "sha256"),
        ("unresolved = [", "unresolved = [1, ", "sha256"),
        ("loosens = [", "loosens = [1, ", "string"),
        ("reads = 2\n", "reads = 2\nsuperseded = 1\n", "UTC"),
        ("reads = 2\n", "reads = 2\nsuperseded = 2026-11-21T21:48:03Z\n", "check value"),
        ("version = 4", "version = 4\nlater = 1", "later: unknown key"),
        ("[end]", "[ended]", "ended: unknown key"),
        ("pins = 6", "pins = 6\npins = 6", "duplicate"),
        ("called = [\"claude:hookify\"", "called = [\"claude\"", "dialect:name"),
        ("folder = \"11010178:2\"", "folder = \"011010178:2\"", "birth time"),
        ("folder = \"11010178:2\"", "folder = \"11010178:3\"", "check value"),
    ];
    for (from, to, expected) in cases {
        assert!(good.contains(from), "{from}");
        let error = parse_pins(good.replacen(from, to, 1).as_bytes()).unwrap_err();
        assert!(error.to_string().contains(expected), "{from} -> {to}: {error}");
        assert!(!error.help().is_empty() && error.code() == "store/format");
        assert!(error.place().is_some(), "{error}");
    }
    let error = parse_pins(b"version = 4\n\xff\n").unwrap_err();
    assert_eq!((error.place(), error.kind()), (Some((2, 1)), &FormatErrorKind::Utf8));
    assert_eq!(*parse_pins(b"").unwrap_err().kind(), FormatErrorKind::Empty);
}

#[test]
fn hostile_files_are_errors_and_do_not_crash() {
    let nested = format!("version = 4\na = {}1{}\n", "[".repeat(100_000), "]".repeat(100_000));
    assert!(parse_pins(nested.as_bytes()).is_err());
    let dotted = format!("version = 4\n{}x = 1\n", "a.".repeat(100_000));
    assert!(parse_pins(dotted.as_bytes()).is_err());
    let long = format!(
        "version = 4\n{}",
        end_of(1).replacen("[end]", &format!("[pins.\"{}\"]\n[end]", "\\u001b".repeat(10_000)), 1)
    );
    let error = parse_pins(long.as_bytes()).unwrap_err();
    assert!(error.to_string().len() < 400 && !error.to_string().contains('\u{1b}'), "{error}");
    let mut many = String::from("version = 4\n");
    for number in 0..20_001 {
        let head = format!("[v1.\"a{number}\"]\nmanifest = \"{}\"\n", digest(1));
        writeln!(many, "{head}check = \"{}\"", check_value(&head)).unwrap();
    }
    many.push_str(&end_of(20_001));
    assert_eq!(*parse_pins(many.as_bytes()).unwrap_err().kind(), FormatErrorKind::TooMany { most: 20_000 });
}

/// The check value of an entry, as its format defines it.
fn check_value(text: &str) -> String {
    let digest = Sha256::new().chain_update("plugward pins 3\n").chain_update(text).finalize();
    plugward_types::hex::encode(&digest[..8])
}

/// The last table of a file with names of version 1 only.
fn end_of(names: u32) -> String {
    let head = format!("[end]\npins = 0\nlocks = 0\nrevoked = 0\nv1 = {names}\nserial = 0\n");
    format!("{head}check = \"{}\"\n", check_value(&head))
}

#[test]
fn times_are_utc_to_the_second() {
    for (unix, text) in [
        (0, "1970-01-01T00:00:00Z"),
        (68_169_599, "1972-02-28T23:59:59Z"),
        (68_169_600, "1972-02-29T00:00:00Z"),
        (951_782_400, "2000-02-29T00:00:00Z"),
        (1_795_297_683, "2026-11-21T21:48:03Z"),
        (4_107_542_400, "2100-03-01T00:00:00Z"),
        (253_402_300_799, "9999-12-31T23:59:59Z"),
    ] {
        assert_eq!(Timestamp::from_unix_seconds(unix).unwrap().to_string(), text);
        assert_eq!(text.parse::<Timestamp>().unwrap().unix_seconds(), unix);
    }
    assert_eq!(Timestamp::from_unix_seconds(253_402_300_800), None);
    for bad in [
        "",
        "1969-12-31T23:59:59Z",
        "2026-02-29T00:00:00Z",
        "2100-02-29T00:00:00Z",
        "2026-13-01T00:00:00Z",
        "2026-00-01T00:00:00Z",
        "2026-01-00T00:00:00Z",
        "2026-01-01T24:00:00Z",
        "2026-01-01T00:60:00Z",
        "2026-01-01T00:00:60Z",
        "2026-01-01t00:00:00Z",
        "2026-01-01 00:00:00Z",
        "+026-01-01T00:00:00Z",
        "2026-01-01T00:00:00+00:00",
        "2026-01-01T00:00:00Zx",
    ] {
        assert!(bad.parse::<Timestamp>().is_err(), "{bad}");
    }
}

#[test]
fn stored_times_have_no_fraction() {
    let home = Home::new();
    let now = Timestamp::from_unix_micros(1_795_297_683_000_456).unwrap();
    let revoked = Revocation { tree: Some(tree(6)), since: Some(now), ..Revocation::because("test") };
    let (mut pins, _) = home.open();
    let report =
        pins.commit(vec![Change::AcceptLock { lock: digest(1) }, Change::Revoke(revoked)], now).unwrap();
    assert!(report.outcomes.iter().all(|outcome| *outcome == ChangeOutcome::Done));
    let text = home.read(PINS);
    assert_eq!(text.matches("2026-11-21T21:48:03Z").count(), 2, "{text}");
    parse_pins(text.as_bytes()).unwrap();
}

fn some_facts() -> impl Strategy<Value = Facts> {
    let part = (any::<u64>(), any::<Option<u64>>(), any::<Option<u64>>());
    let names = prop::collection::vec(any::<String>(), 0..3);
    let shared = prop::collection::btree_map(any::<String>(), any::<u64>().prop_map(tree), 0..3);
    let manifest = prop::collection::btree_map(any::<String>(), any::<u64>().prop_map(digest), 0..3);
    (part, names, shared, manifest, any::<Option<String>>()).prop_map(
        |((number, entry, surface), exclude, shared, manifest, signer)| Facts {
            loosens: signer.iter().cloned().collect(),
            manifest,
            entry: entry.map(digest),
            tree: tree(number),
            exclude,
            shared,
            surface: surface
                .map(|number| plugward_types::SurfaceDigest::from_bytes(*tree(number).as_bytes())),
            signer,
            closure: entry.map(tree),
            vcs: surface.map(digest),
            unresolved: surface.map(digest).into_iter().collect(),
        },
    )
}

fn some_observed() -> impl Strategy<Value = ObservedPlugin> {
    let key = prop_oneof!["[a-b]:[a-z]{1,2}@[a-c]", "path:/[^/.\0][^/\0]{0,6}x"].prop_map(|text| key(&text));
    let called = prop::collection::btree_set("[a-c]:[a-z]{1,2}".prop_map(|text| text.parse().unwrap()), 0..3);
    let directory = any::<Option<(u64, u64)>>().prop_map(|pair| pair.map(|(a, b)| DirectoryId::new(a, b)));
    (key, called, directory, any::<Option<String>>(), some_facts()).prop_map(
        |(key, called, directory, version, facts)| ObservedPlugin {
            key,
            directory,
            called,
            version,
            behaviors: None,
            facts,
            before: None,
            predecessor: None,
        },
    )
}

fn some_change() -> impl Strategy<Value = Change> {
    let mcp = (
        any::<u64>(),
        any::<u64>(),
        prop::collection::btree_map(any::<String>(), any::<u64>().prop_map(digest), 0..3),
    )
        .prop_map(|(set, key, items)| McpPin {
            set: digest(set),
            key: digest(key),
            capabilities: items.keys().cloned().collect(),
            items,
            used: None,
        });
    (some_observed(), any::<Option<String>>(), any::<String>(), mcp, 0..10_u8).prop_map(
        |(observed, by, text, pin, which)| {
            let ObservedPlugin { key, directory, called, .. } = observed.clone();
            match which {
                0..=2 => Change::Enroll { observed, via: PinOrigin::Same, by },
                3 => {
                    let shown = ReviewedDigests::wanted(&observed.facts, None);
                    Change::Accept {
                        observed,
                        shown,
                        expected: None,
                        recorded: std::collections::BTreeSet::new(),
                        by,
                    }
                }
                4 => Change::Deny { key, directory, called, seen: Some(observed.facts.tree), by },
                5 => Change::Forget { key },
                6 => Change::Revoke(Revocation { signer: Some(text.clone()), ..Revocation::because(&text) }),
                7 => Change::AcceptLock { lock: pin.set },
                8 => Change::McpPin { owner: McpOwner::Plugin(key), server: text, pin, expected: [].into() },
                _ => Change::McpPin { owner: McpOwner::User, server: text, pin, expected: [].into() },
            }
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]

    /// All contents read back: strings of any characters, changes in any order.
    #[test]
    fn what_is_written_reads_back(changes in prop::collection::vec(some_change(), 1..12)) {
        let home = Home::new();
        let (mut pins, _) = home.open();
        for change in changes {
            // The commit itself compares the text with the intended contents; an error here is a failure.
            let _done = pins.commit(vec![change], now()).unwrap();
        }
        let (again, _) = home.open();
        let rows = |pins: &Pins| pins.iter().map(|(key, pin)| (key.clone(), pin.clone())).collect::<Vec<_>>();
        prop_assert_eq!(rows(&pins), rows(&again));
        prop_assert_eq!(pins.revoked(), again.revoked());
        prop_assert_eq!(pins.serial(), again.serial());
        prop_assert!(again.notices().is_empty());
    }

    /// Any bytes are read or refused.
    #[test]
    fn any_bytes_are_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        let _either = parse_pins(&bytes);
    }

    #[test]
    fn times_render_and_parse(seconds in 0..253_402_300_800_u64) {
        let at = Timestamp::from_unix_seconds(seconds).unwrap();
        prop_assert_eq!(at.to_string().parse::<Timestamp>().unwrap(), at);
    }
}
