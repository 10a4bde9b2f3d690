//! Rules about single names: dotfiles and names that are not portable.

/// The reason why a name is not portable.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NameFault {
    Reserved,
    Stream,
}

/// Returns `true` if the first visible code point is a dot.
///
/// HFS+ ignores some code points when it compares names, so `\u{200c}.git` is `.git` there.
pub(crate) fn is_dotfile(name: &[u8]) -> bool {
    let mut rest = name;
    loop {
        rest = match rest {
            [b'.', ..] => return true,
            // U+200C to U+200F and U+202A to U+202E; U+206A to U+206F; U+FEFF.
            [0xe2, 0x80, 0x8c..=0x8f | 0xaa..=0xae, tail @ ..]
            | [0xe2, 0x81, 0xaa..=0xaf, tail @ ..]
            | [0xef, 0xbb, 0xbf, tail @ ..] => tail,
            _ => return false,
        };
    }
}

/// Finds the reason why a name is invalid or has another meaning on Windows.
pub(crate) fn portable_fault(name: &[u8]) -> Option<NameFault> {
    if is_device(name) {
        return Some(NameFault::Reserved);
    }
    if name.contains(&b':') {
        return Some(NameFault::Stream);
    }
    let trailing = matches!(name.last(), Some(b'.' | b' '));
    let character =
        name.iter().any(|byte| matches!(byte, 0..=31 | b'<' | b'>' | b'"' | b'|' | b'?' | b'*' | b'\\'));
    let short = name.windows(2).any(|pair| matches!(pair, [b'~', b'0'..=b'9']));
    (trailing || character || short).then_some(NameFault::Reserved)
}

/// Returns `true` if the part before the first `.` or `:`, without trailing spaces, is a device name of Windows.
fn is_device(name: &[u8]) -> bool {
    let end = name.iter().position(|byte| matches!(byte, b'.' | b':')).unwrap_or(name.len());
    let (stem, _) = name.split_at_checked(end).unwrap_or((name, &[]));
    let stem = stem.trim_ascii_end();
    if [&b"CON"[..], b"PRN", b"AUX", b"NUL", b"CONIN$", b"CONOUT$"]
        .iter()
        .any(|word| stem.eq_ignore_ascii_case(word))
    {
        return true;
    }
    let Some((port, number)) = stem.split_at_checked(3) else { return false };
    let numbered = matches!(number, [b'0'..=b'9'] | [0xc2, 0xb9 | 0xb2 | 0xb3]);
    numbered && (port.eq_ignore_ascii_case(b"COM") || port.eq_ignore_ascii_case(b"LPT"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dotfiles_hide_behind_ignorable_code_points() {
        for name in [".env", "...", "..f", "\u{200c}.git", "\u{feff}\u{202e}\u{206f}.x"] {
            assert!(is_dotfile(name.as_bytes()), "{name:?}");
        }
        for name in ["", "a.b", "\u{200c}git", "\u{200b}.git", "\u{2066}.x"] {
            assert!(!is_dotfile(name.as_bytes()), "{name:?}");
        }
    }

    #[test]
    fn devices_are_found_in_every_spelling() {
        for name in
            ["CON", "con", "aux.txt", "NUL ", "NUL .tar.gz", "COM\u{b9}", "lpt9.x", "COM0", "CONIN$", "nul:x"]
        {
            assert_eq!(portable_fault(name.as_bytes()), Some(NameFault::Reserved), "{name}");
        }
        for name in ["CONS", "COM", "COM10", "xCON", "LPTa", "console.txt", "a.con", "COM\u{b4}"] {
            assert_eq!(portable_fault(name.as_bytes()), None, "{name}");
        }
    }

    #[test]
    fn other_faults_have_a_near_miss_each() {
        for (bad, near) in [
            ("f.", "f.x"),
            ("f ", "f x"),
            ("a\\b", "a_b"),
            ("PROGRA~1", "PROGRA~x"),
            ("a\u{1}", "a!"),
            ("q?", "q!"),
        ] {
            assert_eq!(portable_fault(bad.as_bytes()), Some(NameFault::Reserved), "{bad}");
            assert_eq!(portable_fault(near.as_bytes()), None, "{near}");
        }
        for stream in ["f:ads", "f::$DATA"] {
            assert_eq!(portable_fault(stream.as_bytes()), Some(NameFault::Stream), "{stream}");
        }
    }
}
