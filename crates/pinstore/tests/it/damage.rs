//! Damage of a version-4 file: no pin disappears or changes without an error or a notice.

use std::collections::BTreeMap;

use plugward_pinstore::{Pin, Pins, StoreCheck};
use plugward_types::{Digest, PluginKey};

use crate::format::full;
use crate::support::{Home, LAST_GOOD, PINS};

/// Flips every bit if `true`, else every bit of each third byte.
const EVERY_BIT: bool = cfg!(feature = "_test-race");

/// All pins of a file, of all versions.
#[derive(Debug, PartialEq)]
struct Contents {
    pins: BTreeMap<PluginKey, Pin>,
    names: BTreeMap<String, Digest>,
    revoked: usize,
}

/// Reads bytes without a backup; `None` if they are damaged.
fn read(home: &Home, bytes: &[u8]) -> Option<(Contents, Vec<&'static str>)> {
    home.dir().write(PINS, bytes).unwrap();
    let (pins, found) = Pins::open(&home.file()).ok()?;
    assert!(matches!(found, StoreCheck::Ready));
    let contents = Contents {
        pins: pins.iter().map(|(key, pin)| (key.clone(), pin.clone())).collect(),
        names: pins.manifest_only().map(|(name, digest)| (name.to_owned(), *digest)).collect(),
        revoked: pins.revoked().len(),
    };
    Some((contents, pins.notices().iter().map(plugward_pinstore::StoreNotice::code).collect()))
}

fn without_backup() -> (Home, Vec<u8>, Contents) {
    let home = full();
    std::fs::remove_file(home.directory.path().join(LAST_GOOD)).unwrap();
    let bytes = home.read(PINS).into_bytes();
    let (contents, notices) = read(&home, &bytes).unwrap();
    assert!(notices.is_empty() && contents.pins.len() == 6);
    (home, bytes, contents)
}

/// Every entry that is left is unchanged, and a missing one means a notice.
fn is_honest(found: &(Contents, Vec<&'static str>), full: &Contents) -> bool {
    let (left, notices) = found;
    let is_unchanged = left.pins.iter().all(|(key, pin)| full.pins.get(key) == Some(pin))
        && left.names.iter().all(|(name, digest)| full.names.get(name) == Some(digest));
    is_unchanged && (left == full || *notices == ["pin/hand-edited"])
}

#[test]
fn a_flipped_bit_never_hides_or_changes_a_pin() {
    let (home, bytes, full) = without_backup();
    let mut read_as_before = 0_u64;
    for at in (0..bytes.len()).step_by(if EVERY_BIT { 1 } else { 3 }) {
        for bit in 0..8 {
            let mut flipped = bytes.clone();
            flipped[at] ^= 1 << bit;
            // Without entries of pins, a flipped bit may only be in comments, spaces and accepted lockfiles.
            if let Some((contents, _)) = read(&home, &flipped) {
                assert_eq!(contents, full, "bit {bit} of byte {at}");
                read_as_before += 1;
            }
        }
    }
    assert!(read_as_before > 0);
}

#[test]
fn a_deleted_line_never_hides_or_changes_a_pin() {
    let (home, bytes, full) = without_backup();
    let text = String::from_utf8(bytes).unwrap();
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    for at in 0..lines.len() {
        let less: String = lines[..at].iter().chain(&lines[at + 1..]).copied().collect();
        if let Some(found) = read(&home, less.as_bytes()) {
            assert!(is_honest(&found, &full), "without line {at}: {}", lines[at]);
            assert_eq!(found.0, full, "without line {at}: {}", lines[at]);
        }
    }
}

#[test]
fn deleted_ranges_of_lines_never_hide_or_change_a_pin() {
    let (home, bytes, full) = without_backup();
    let text = String::from_utf8(bytes).unwrap();
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let (mut seed, mut edited) = (7_usize, 0);
    for _ in 0..if EVERY_BIT { 20_000 } else { 1500 } {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let from = (seed >> 33) % lines.len();
        let to = (from + 1 + (seed >> 20) % 24).min(lines.len());
        let less: String = lines[..from].iter().chain(&lines[to..]).copied().collect();
        if let Some(found) = read(&home, less.as_bytes()) {
            assert!(is_honest(&found, &full), "without lines {from} to {to}");
            edited += usize::from(found.1 == ["pin/hand-edited"]);
        }
    }
    assert!(edited > 0, "some range was an entry");
}

#[test]
fn a_truncated_file_is_always_damaged() {
    let (home, bytes, _) = without_backup();
    for end in 0..bytes.len() {
        assert!(read(&home, &bytes[..end]).is_none(), "{end} bytes");
    }
}

#[test]
fn an_entry_deleted_by_hand_is_a_notice_and_any_other_edit_is_damage() {
    let (home, bytes, full) = without_backup();
    let text = String::from_utf8(bytes).unwrap();
    let blocks: Vec<&str> = text.split("\n\n").collect();
    let header = |block: &str| block.lines().next().unwrap_or_default().to_owned();
    let mut deleted = Vec::new();
    for (at, block) in blocks.iter().enumerate().filter(|(at, _)| *at > 0) {
        let less: Vec<&str> =
            blocks.iter().enumerate().filter(|(other, _)| *other != at).map(|(_, block)| *block).collect();
        match read(&home, (less.join("\n\n").trim_end().to_owned() + "\n").as_bytes()) {
            Some(found) => {
                assert!(is_honest(&found, &full) && found.1 == ["pin/hand-edited"], "{}", header(block));
                deleted.push(header(block));
            }
            None => assert!(
                ["agreed", ".mcp.", "official\"]", "another\"]", "a@team\"]", "plugins/b\"]", "[end]"]
                    .iter()
                    .any(|part| header(block).contains(part)),
                "{} can be deleted",
                header(block)
            ),
        }
    }
    // A denial and the entries of the other lists have one table; a pin has several, which have to go together.
    for one in ["[locks]", "[[revoked]]", "[pins.\"path:/home/anna/never\"]", "[v1.\"old\"]"] {
        assert!(deleted.iter().any(|header| header == one), "{one} in {deleted:?}");
    }
    // An entry that is present twice, or that the end does not count.
    let never = blocks.iter().find(|block| block.starts_with("[pins.\"path:/home/anna/never\"]")).unwrap();
    let renamed = never.replace("anna/never", "anna/other");
    let revoked = blocks.iter().find(|block| block.starts_with("[[revoked]]")).unwrap();
    for added in [renamed.as_str(), revoked, "[later]\nx = 1"] {
        assert!(read(&home, text.replace("\n[end]", &format!("\n{added}\n\n[end]")).as_bytes()).is_none());
    }
}
