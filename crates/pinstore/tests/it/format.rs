//! The pins file, byte by byte.

use core::fmt::Write as _;
use std::collections::BTreeMap;

use plugward_pinstore::{
    Change, Facts, FormatErrorKind, McpPin, Outcome, Pins, Revoked, Scope, Shown, StoreCheck, StoreErrorKind,
    Timestamp, Via, parse_pins,
};
use proptest::prelude::*;

use crate::support::{Home, LAST_GOOD, PINS, SAME, commit, digest, enroll, facts, id, now, tree, user_check};

/// A file with one of everything.
fn full() -> Home {
    let home = Home::new();
    let (mut pins, _) = home.open();
    let all = Facts {
        manifest: Some(digest(1)),
        entry: Some(digest(2)),
        tree: tree(3),
        exclude: vec![".git".to_owned()],
        shared: BTreeMap::from([("../shared".to_owned(), tree(4))]),
        surface: Some(format!("sf1:{}", "5".repeat(64)).parse().unwrap()),
        signer: Some("RWQf6LRCGA9i53ml".to_owned()),
    };
    let revoked = Revoked {
        tree: Some(tree(6)),
        id: Some(id("claude:bad@team")),
        versions: vec!["1.0.0".to_owned()],
        since: Some(now()),
        ..Revoked::because("exfiltrates tokens")
    };
    let mcp = McpPin {
        set: digest(7),
        key: digest(8),
        items: BTreeMap::from([("tool get_issue".to_owned(), digest(9))]),
    };
    let workspace = Scope::workspace(b"/w");
    let changes = vec![
        enroll("claude:hookify@team", &all),
        enroll("claude:another@team", &facts(10)),
        Change::Enroll {
            scope: workspace.clone(),
            id: id("gnoma:z@p"),
            facts: facts(11),
            via: Via::Prompt,
            by: Some("anna \"the\u{1b} quoted\"\n".to_owned()),
        },
        Change::Deny { scope: Scope::USER, id: id("claude:never@team"), seen: None, by: None },
        Change::AcceptLock { scope: workspace, lock: digest(12) },
        Change::Revoke(revoked),
        Change::McpPin {
            scope: Scope::USER,
            id: id("claude:hookify@team"),
            server: "git hub".to_owned(),
            pin: mcp,
            expected: None,
        },
    ];
    let done = pins.commit(changes, now()).unwrap();
    assert!(done.outcomes.iter().all(|outcome| *outcome == Outcome::Done), "{:?}", done.outcomes);
    home
}

#[test]
fn the_file_reads_as_the_page_has_it() {
    let text = full().read(PINS);
    let at = |part: &str| text.find(part).unwrap_or_else(|| panic!("no {part} in\n{text}"));
    let order = [
        "version = 2",
        "[locks]",
        "[[revoked]]",
        "[pins.user.\"claude:another@team\"]",
        "[pins.user.\"claude:hookify@team\"]",
        "[pins.user.\"claude:hookify@team\".mcp.\"git hub\"]",
        "[pins.user.\"claude:never@team\"]",
        "[pins.\"workspace:",
        "[end]\npins = 4\nserial = 1\n",
    ];
    assert!(order.windows(2).all(|pair| at(pair[0]) < at(pair[1])), "{text}");
    assert!(text.ends_with(order[8]));
    for line in [
        "shared = { \"../shared\" = \"pt1:",
        "exclude = [\".git\"]",
        "state = \"denied\"",
        "via = \"tofu\"",
        "at = 2026-11-21T21:48:03Z",
        "signer = \"RWQf6LRCGA9i53ml\"",
        "items = { \"tool get_issue\" = \"sha256:",
    ] {
        at(line);
    }
}

#[test]
fn cut_off_at_any_byte_it_is_damaged_and_recovered() {
    let home = full();
    let text = home.read(PINS);
    for end in 0..text.len() {
        if text.is_char_boundary(end) {
            assert!(parse_pins(&text.as_bytes()[..end]).is_err(), "a whole file in {end} bytes");
        }
    }
    for end in (0..text.len()).step_by(97) {
        home.write(PINS, &text[..end]);
        let (pins, found) = home.open();
        assert_eq!(found.code(), Some("pin/recovered"), "{end} bytes");
        assert_eq!(user_check(&pins, "claude:another@team", &facts(10)), SAME);
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
        assert!(matches!(parse_pins(filled.as_bytes()).unwrap_err().kind(), FormatErrorKind::Syntax { .. }));
    }
}

#[test]
fn a_newer_version_is_neither_read_nor_recovered_from_nor_written() {
    let home = Home::new();
    let (mut pins, _) = home.open();
    let _done = commit(&mut pins, enroll("gnoma:a@user", &facts(1)));
    let newer = "version = 3\n";
    home.write(PINS, newer);
    let error = Pins::open(&home.file()).unwrap_err();
    assert_eq!(error.code(), "pin/store-version");
    assert!(matches!(error.kind(), StoreErrorKind::Version { found: 3 }));
    let error = pins.commit(vec![enroll("gnoma:b@user", &facts(2))], now()).unwrap_err();
    assert_eq!(error.code(), "pin/store-version");
    let error = Pins::start_over(&home.file(), core::time::Duration::ZERO).unwrap_err();
    assert_eq!(error.code(), "pin/store-version");
    assert_eq!(home.read(PINS), newer);
    // A newer copy is not written over either.
    std::fs::remove_file(home.folder.path().join(PINS)).unwrap();
    home.write(LAST_GOOD, newer);
    assert_eq!(Pins::open(&home.file()).unwrap_err().code(), "pin/store-version");
}

#[test]
fn what_is_wrong_is_said_with_its_place() {
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
        ("at = 2026-11-21T21:48:03Z", "at = 2026-11-21T21:48:03", "UTC"),
        ("at = 2026-11-21T21:48:03Z", "at = 2026-11-21T21:48:03+01:00", "UTC"),
        ("at = 2026-11-21T21:48:03Z", "at = 2026-11-21T21:48:03.5Z", "UTC"),
        ("serial = 1", "serial = -1", "not negative"),
        ("serial = 1", "serial = \"1\"", "whole number"),
        ("claude:another@team", "claude:../up@team", "plugin id"),
        ("[pins.user.\"claude:another@team\"]", "[pins.users.\"claude:another@team\"]", "scope"),
        ("exclude = [\".git\"]", "exclude = [1]", "array of strings"),
        ("reason = \"exfiltrates tokens\"\n", "", "reason is missing"),
        ("version = 2", "version = 1", "2 (version 1 has no such key)"),
        ("version = 2", "version = 0", "2 (version 1 has no such key)"),
        ("[end]", "[ended]", "[end]"),
        ("pins = 4", "pins = 4\npins = 4", "duplicate"),
    ];
    for (from, to, expected) in cases {
        assert!(good.contains(from), "{from}");
        let error = parse_pins(good.replacen(from, to, 1).as_bytes()).unwrap_err();
        assert!(error.to_string().contains(expected), "{from} -> {to}: {error}");
        assert!(!error.help().is_empty() && error.code() == "store/format");
        // All but the end that is missing have a place: that of the first byte that differs, within its line.
        if *to != "[ended]" {
            let line = good.lines().position(|line| line.contains(from.trim_end())).unwrap() + 1;
            let found = error.place().unwrap().0;
            assert!(found.abs_diff(line) <= 8, "{from} in line {line}: {error}");
        }
    }
    let error = parse_pins(b"version = 2\n\xff\n").unwrap_err();
    assert_eq!((error.place(), error.kind()), (Some((2, 1)), &FormatErrorKind::Utf8));
    assert_eq!(*parse_pins(b"").unwrap_err().kind(), FormatErrorKind::Empty);
}

#[test]
fn the_place_of_a_digest_is_exact() {
    let text = "version = 2\n[pins.user.\"a:b@c\"]\ntree = \"pt1:XY\"\nstate = \"trusted\"\n[end]\npins = 1\nserial = 1\n";
    let error = parse_pins(text.as_bytes()).unwrap_err();
    assert_eq!(error.place(), Some((3, 8)));
    assert_eq!(
        error.to_string(),
        "line 3, column 8: pins.user.a:b@c.tree: expected `pt1:` and 64 lower-case hex digits"
    );
}

#[test]
fn hostile_files_end_in_an_error_and_not_in_a_crash() {
    let deep = format!(
        "version = 2\na = {}1{}\n[end]\npins = 0\nserial = 0\n",
        "[".repeat(100_000),
        "]".repeat(100_000)
    );
    assert!(parse_pins(deep.as_bytes()).is_err());
    let dotted = format!("version = 2\n{}x = 1\n[end]\npins = 0\nserial = 0\n", "a.".repeat(100_000));
    assert!(parse_pins(dotted.as_bytes()).is_err());
    let long =
        format!("version = 2\n[pins.user.\"{}\"]\n[end]\npins = 1\nserial = 0\n", "\\u001b".repeat(10_000));
    let error = parse_pins(long.as_bytes()).unwrap_err();
    assert!(error.to_string().len() < 400 && !error.to_string().contains('\u{1b}'), "{error}");
    let mut many = String::from("version = 2\n");
    for number in 0..20_001 {
        let rest = "state = \"trusted\"\nvia = \"tofu\"\nat = 2026-11-21T21:48:03Z";
        writeln!(many, "[pins.user.\"a:b{number}@c\"]\ntree = \"{}\"\n{rest}", tree(1)).unwrap();
    }
    many.push_str("[end]\npins = 20001\nserial = 0\n");
    assert_eq!(*parse_pins(many.as_bytes()).unwrap_err().kind(), FormatErrorKind::TooMany { most: 20_000 });
}

#[test]
fn unknown_keys_tables_and_comments_outlive_every_change() {
    let home = full();
    let text = home
        .read(PINS)
        .replace("version = 2", "version = 2 # two\nlater = \"top\"")
        .replace("state = \"denied\"", "state = \"denied\" # because of Tuesday\nnewer = { key = [1, 2] }")
        .replace("[end]", "# the end of it\n[tomorrow]\nx = 1\n[tomorrow.deep]\ny = 2\n[end]");
    home.write(PINS, &text);
    let (mut pins, found) = home.open();
    assert!(matches!(found, StoreCheck::Ready) && pins.notices().is_empty());
    let changes = vec![
        enroll("claude:a@team", &facts(20)),
        Change::Forget { scope: Scope::USER, id: id("claude:another@team") },
        Change::Allow { scope: Scope::USER, id: id("claude:never@team") },
        Change::Deny { scope: Scope::USER, id: id("claude:hookify@team"), seen: None, by: None },
    ];
    let done = pins.commit(changes, now()).unwrap();
    assert!(done.outcomes.iter().all(|outcome| *outcome == Outcome::Done));
    let text = home.read(PINS);
    for kept in [
        "version = 2 # two",
        "later = \"top\"",
        "# the end of it",
        "[tomorrow]\nx = 1",
        "[tomorrow.deep]\ny = 2",
    ] {
        assert!(text.contains(kept), "{kept} is gone from\n{text}");
    }
    assert!(text.ends_with("[end]\npins = 3\nserial = 2\n"), "{text}");
}

#[test]
fn a_file_that_was_written_by_hand_in_other_forms_is_changed_all_the_same() {
    let home = Home::new();
    let pin = format!(
        "{{ tree = \"{}\", state = \"trusted\", via = \"tofu\", at = 2026-11-21T21:48:03Z }}",
        tree(1)
    );
    let text = format!(
        "version = 2\npins.user = {{ \"a:b@c\" = {pin} }}\nrevoked = [ {{ tree = \"{}\", reason = \"r\" }} ]\n\
         end = {{ pins = 1, serial = 7 }}\n",
        tree(9)
    );
    home.write(PINS, &text);
    let (mut pins, found) = home.open();
    assert!(matches!(found, StoreCheck::Ready) && pins.notices().is_empty(), "{found:?}");
    let changes = vec![
        Change::Enroll { scope: Scope::USER, id: id("a:d@c"), facts: facts(2), via: Via::Tofu, by: None },
        Change::Revoke(Revoked { tree: Some(tree(8)), ..Revoked::because("again") }),
    ];
    let done = pins.commit(changes, now()).unwrap();
    assert_eq!((done.outcomes, done.serial), (vec![Outcome::Done, Outcome::Done], 8));
    let (pins, _) = home.open();
    assert_eq!((pins.iter().count(), pins.revoked().len()), (2, 2), "{}", home.read(PINS));
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
        assert_eq!(Timestamp::from_unix(unix).unwrap().to_string(), text);
        assert_eq!(text.parse::<Timestamp>().unwrap().unix(), unix);
    }
    assert!(Timestamp::from_unix(253_402_300_800).is_err());
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

fn some_facts() -> impl Strategy<Value = Facts> {
    let part = (any::<Option<u64>>(), any::<Option<u64>>(), any::<u64>(), any::<Option<u64>>());
    let names = prop::collection::vec(any::<String>(), 0..3);
    let shared = prop::collection::btree_map(any::<String>(), any::<u64>().prop_map(tree), 0..3);
    (part, names, shared, any::<Option<String>>()).prop_map(|(part, exclude, shared, signer)| Facts {
        manifest: part.0.map(digest),
        entry: part.1.map(digest),
        tree: tree(part.2),
        exclude,
        shared,
        surface: part.3.map(|number| plugward_types::SurfaceDigest::from_bytes(*tree(number).as_bytes())),
        signer,
    })
}

fn some_change() -> impl Strategy<Value = Change> {
    let scope =
        prop_oneof![Just(Scope::USER), any::<[u8; 2]>().prop_map(|path| Scope::workspace(&path[..1]))];
    let plugin = "[a-c]:[a-z][A-Za-z0-9_-]{0,3}@[a-c]".prop_map(|text| id(&text));
    let mcp = (
        any::<u64>(),
        any::<u64>(),
        prop::collection::btree_map(any::<String>(), any::<u64>().prop_map(digest), 0..3),
    )
        .prop_map(|(set, key, items)| McpPin { set: digest(set), key: digest(key), items });
    (scope, plugin, some_facts(), any::<Option<String>>(), any::<String>(), mcp, 0..9_u8).prop_map(
        |(scope, id, facts, by, text, pin, which)| match which {
            0..=2 => Change::Enroll { scope, id, facts, via: Via::Tofu, by },
            3 => Change::Accept { scope, id, shown: Shown::wanted(&facts, None), facts, expected: None, by },
            4 => Change::Deny { scope, id, seen: Some(facts.tree), by },
            5 => Change::Forget { scope, id },
            6 => Change::Revoke(Revoked { signer: Some(text.clone()), ..Revoked::because(&text) }),
            7 => Change::AcceptLock { scope, lock: pin.set },
            _ => Change::McpPin { scope, id, server: text, pin, expected: None },
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]

    /// Whatever is written reads back: strings of any characters, any order of changes.
    #[test]
    fn what_is_written_reads_back(changes in prop::collection::vec(some_change(), 1..12)) {
        let home = Home::new();
        let (mut pins, _) = home.open();
        for change in changes {
            // The commit itself compares what it wrote with what it meant; an error here is a failure.
            let _done = pins.commit(vec![change], now()).unwrap();
        }
        let (again, _) = home.open();
        let rows = |pins: &Pins| pins.iter().map(|(s, i, p)| (s.clone(), i.clone(), p.clone())).collect::<Vec<_>>();
        prop_assert_eq!(rows(&pins), rows(&again));
        prop_assert_eq!(pins.revoked(), again.revoked());
        prop_assert_eq!(pins.serial(), again.serial());
        prop_assert!(again.notices().is_empty());
        // The line that is told is the pin's own header.
        if let Ok(text) = again_text(&home) {
            let lines: Vec<&str> = text.lines().collect();
            for (_, id, pin) in again.iter() {
                prop_assert!(lines[pin.line - 1].contains(id.as_str()), "{} is not in {}", id, lines[pin.line - 1]);
            }
        }
    }

    /// Any bytes are read or refused, and nothing else.
    #[test]
    fn any_bytes_are_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        let _either = parse_pins(&bytes);
    }

    /// One byte changed in a good file is read or refused; a pin that is still read says what it said, or its digest
    /// was the byte.
    #[test]
    fn any_byte_changed_is_read_or_refused(at in any::<prop::sample::Index>(), byte in any::<u8>()) {
        let mut bytes = GOOD.with(|good| good.as_bytes().to_vec());
        let at = at.index(bytes.len());
        bytes[at] = byte;
        let _either = parse_pins(&bytes);
    }

    #[test]
    fn times_render_and_parse(seconds in 0..253_402_300_800_u64) {
        let at = Timestamp::from_unix(seconds).unwrap();
        prop_assert_eq!(at.to_string().parse::<Timestamp>().unwrap(), at);
    }
}

thread_local! {
    static GOOD: String = full().read(PINS);
}

/// The file, where it was written.
fn again_text(home: &Home) -> std::io::Result<String> {
    home.dir().read_to_string(PINS)
}
