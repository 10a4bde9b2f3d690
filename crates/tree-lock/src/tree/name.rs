//! Valid names, and names that are the same or invalid on another system.

use std::borrow::Cow;

use caseless::Caseless as _;
use plugward_types::valid_head;
use unicode_normalization::UnicodeNormalization as _;

/// Returns a name or symlink target as text, if it is UTF-8 without C0 controls, DEL and `\`.
///
/// A newline would break the lines of the preimage, and `\` is a separator on Windows.
pub(crate) fn text(bytes: &[u8]) -> Option<&str> {
    let text = core::str::from_utf8(bytes).ok()?;
    let bad = |byte: u8| byte < 0x20 || byte == 0x7f || byte == b'\\';
    (!text.bytes().any(bad)).then_some(text)
}

/// Returns the canonical caseless key of a name: NFD(full case fold(NFD(name))).
///
/// Two paths have the same key if and only if all their components have, because `/` neither folds nor combines.
pub(crate) fn collision_key(name: &str) -> String {
    if name.is_ascii() {
        return name.to_ascii_lowercase();
    }
    name.nfd().default_case_fold().nfd().collect()
}

/// Returns `true` if a name is its own key. It is a fast check, and `false` does not mean that it is not.
pub(crate) fn is_own_key(name: &str) -> bool {
    name.bytes().all(|byte| byte.is_ascii() && !byte.is_ascii_uppercase())
}

/// Returns why some systems cannot store a name, or `None` if all can.
pub(crate) fn not_portable(name: &str) -> Option<&'static str> {
    if is_plain(name) { None } else { closer(name) }
}

/// Returns `true` if a character sets the direction of text.
fn is_bidi(c: char) -> bool {
    matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

fn closer(name: &str) -> Option<&'static str> {
    let reserved = |c: char| matches!(c, '<' | '>' | ':' | '"' | '|' | '?' | '*');
    if name.contains(reserved) {
        return Some("it contains a character that Windows does not allow");
    }
    if name.ends_with(['.', ' ']) {
        return Some("Windows drops the dot or space at its end");
    }
    if name.chars().any(|c| is_bidi(c) || ('\u{80}'..='\u{9f}').contains(&c)) {
        return Some("it contains control or bidi characters");
    }
    if is_device(name) {
        return Some("Windows reserves it for a device");
    }
    if name.len() > 255 {
        return Some("it is longer than other systems allow");
    }
    if !name.is_ascii() && !name.chars().eq(name.nfc()) {
        return Some("it is not in Unicode normal form C");
    }
    None
}

/// Returns `true` if a name is obviously portable. Nearly all names are, so most need no further check.
fn is_plain(name: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.');
    // The first letters of CON, COM, PRN, AUX, NUL and LPT.
    let device = |byte: u8| matches!(byte | 0x20, b'c' | b'p' | b'a' | b'n' | b'l');
    let bytes = name.as_bytes();
    bytes.len() <= 255
        && bytes.iter().all(|byte| plain(*byte))
        && bytes.last().is_some_and(|last| *last != b'.')
        && (bytes.first().is_some_and(|first| !device(*first)) || !is_device(name))
}

fn is_device(name: &str) -> bool {
    let stem = name.split('.').next().unwrap_or(name).trim_end_matches(' ');
    if !(3..=8).contains(&stem.len()) {
        return false;
    }
    // Nearly all names are ASCII and need no allocation.
    let mut upper = [0_u8; 8];
    let stem: Cow<'_, str> = match upper.get_mut(..stem.len()) {
        Some(upper) if stem.is_ascii() => {
            upper.copy_from_slice(stem.as_bytes());
            upper.make_ascii_uppercase();
            valid_head(upper).into()
        }
        _ => stem.to_uppercase().into(),
    };
    if matches!(&*stem, "CON" | "PRN" | "AUX" | "NUL" | "CONIN$" | "CONOUT$") {
        return true;
    }
    let number = stem.strip_prefix("COM").or_else(|| stem.strip_prefix("LPT"));
    let digit = |c: char| c.is_ascii_digit() || matches!(c, '\u{b9}' | '\u{b2}' | '\u{b3}');
    number.is_some_and(|rest| {
        let mut rest = rest.chars();
        rest.next().is_some_and(digit) && rest.next().is_none()
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{closer, collision_key, is_plain, not_portable, text};

    #[test]
    fn names_that_break_a_line_or_a_path_are_no_text() {
        for bad in [&b"a\nb"[..], b"a\0", b"\x1b", b"a\x7f", b"a\\b", b"a\xff", b"\xed\xa0\x80"] {
            assert_eq!(text(bad), None, "{bad:?}");
        }
        for good in ["a b", "\u{80}", "\u{202e}", "..a", "\u{e9}", " "] {
            assert_eq!(text(good.as_bytes()), Some(good));
        }
    }

    #[test]
    fn keys_fold_case_fully_and_canonically() {
        for (one, other) in [
            ("README", "readme"),
            ("stra\u{df}e", "STRASSE"),
            ("\u{e9}", "e\u{301}"),
            ("\u{c9}", "e\u{301}"),
            ("\u{1e9e}", "ss"),
            ("\u{3a3}", "\u{3c2}"),
            ("\u{fb01}", "FI"),
            // A dot below and an acute come in either order.
            ("a\u{301}\u{323}", "A\u{323}\u{301}"),
        ] {
            assert_eq!(collision_key(one), collision_key(other), "{one} {other}");
        }
        for (one, other) in [("I", "\u{131}"), ("a", "b"), ("a", "a "), ("\u{ff21}", "A"), ("o", "\u{f8}")] {
            assert_ne!(collision_key(one), collision_key(other), "{one} {other}");
        }
    }

    #[test]
    fn names_that_another_system_cannot_hold_are_told() {
        for name in
            ["a:b", "a.", "a ", "NUL", "nul.txt", "com1", "LPT\u{b9}.x", "e\u{301}", "a\u{85}", "x\u{202e}y"]
        {
            assert!(not_portable(name).is_some(), "{name}");
        }
        for name in ["NULL", "com", "com10", "a.b", ".a", "\u{e9}", "console", "comb.txt"] {
            assert_eq!(not_portable(name), None, "{name}");
        }
    }

    proptest! {
        #[test]
        fn the_short_way_says_yes_only_where_the_long_way_does(
            name in "[a-zA-Z0-9._ -]{1,8}|(?i:con|prn|aux|nul|com|lpt)[0-9]?(\\.[a-z ]{0,3})?|\\PC{1,6}",
        ) {
            if is_plain(&name) {
                prop_assert_eq!(closer(&name), None);
            }
        }
    }

    #[test]
    fn ordinary_names_take_the_short_way() {
        for name in ["index.js", "package.json", "README.md", "lib", "a-b_c", ".gitignore", "COMMANDS"] {
            assert!(is_plain(name), "{name}");
        }
        for name in ["com1", "NUL.txt", "a.", "a b", "\u{e9}", "a:b"] {
            assert!(!is_plain(name), "{name}");
        }
    }
}
