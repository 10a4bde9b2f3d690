//! The pins file, byte by byte.

use plugward_pinstore::{FormatErrorKind, StoreCheck, StoreErrorKind, parse_pins};

use crate::support::{Home, LAST_GOOD, PINS, SAME, commit, enroll, facts, user_check};

#[test]
fn cut_off_at_any_byte_it_is_damaged_and_recovered() {
    let home = Home::new();
    let (mut pins, _) = home.open();
    let _done = commit(&mut pins, enroll("gnoma:a@user", &facts(1)));
    let text = home.read(PINS);
    for end in 0..text.len() {
        home.write(PINS, &text[..end]);
        assert!(parse_pins(&text.as_bytes()[..end]).is_err(), "a whole file in {end} bytes");
        let (pins, found) = home.open();
        assert_eq!(found.code(), Some("pin/recovered"), "{end} bytes");
        assert_eq!(user_check(&pins, "gnoma:a@user", &facts(1)), SAME);
    }
    home.write(LAST_GOOD, &text[..text.len() / 2]);
    let error = plugward_pinstore::Pins::open(&home.file()).unwrap_err();
    assert_eq!(error.code(), "pin/store");
    home.write(PINS, &text);
    assert!(matches!(home.open().1, StoreCheck::Ready));
}

#[test]
fn nul_bytes_at_the_end_are_damage() {
    let home = Home::new();
    let (mut pins, _) = home.open();
    let _done = commit(&mut pins, enroll("gnoma:a@user", &facts(1)));
    let text = home.read(PINS);
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
    let error = plugward_pinstore::Pins::open(&home.file()).unwrap_err();
    assert_eq!(error.code(), "pin/store-version");
    assert!(matches!(error.kind(), StoreErrorKind::Version { found: 3 }));
    let error = pins.commit(vec![enroll("gnoma:b@user", &facts(2))], crate::support::now()).unwrap_err();
    assert_eq!(error.code(), "pin/store-version");
    let error = plugward_pinstore::Pins::start_over(&home.file(), core::time::Duration::ZERO).unwrap_err();
    assert_eq!(error.code(), "pin/store-version");
    assert_eq!(home.read(PINS), newer);
}
