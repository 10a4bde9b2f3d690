//! Lists of words, written as a text.
#![expect(clippy::arithmetic_side_effects, reason = "offsets into a text in memory cannot overflow")]

/// Splits texts at spaces into a `&'static [&'static str]`, when the program is compiled.
///
/// # Examples
/// ```
/// const VERBS: &[&str] = plugward_types::words!["read write", "run"];
/// assert_eq!(VERBS, ["read", "write", "run"]);
/// ```
#[macro_export]
macro_rules! words {
    ($($text:literal),* $(,)?) => {{
        const TEXT: &str = concat!($($text, " "),*);
        const WORDS: [&str; $crate::word_list::count(TEXT)] = $crate::word_list::split(TEXT);
        &WORDS
    }};
}

/// Splits texts at spaces into a `&'static [&'static [u8]]`, when the program is compiled.
///
/// # Examples
/// ```
/// const VERBS: &[&[u8]] = plugward_types::byte_words!["read write", "run"];
/// assert_eq!(VERBS, [&b"read"[..], b"write", b"run"]);
/// ```
#[macro_export]
macro_rules! byte_words {
    ($($text:literal),* $(,)?) => {{
        const TEXT: &str = concat!($($text, " "),*);
        const WORDS: [&[u8]; $crate::word_list::count(TEXT)] = $crate::word_list::bytes($crate::word_list::split(TEXT));
        &WORDS
    }};
}

/// Returns the number of words in a text.
#[must_use]
pub const fn count(text: &str) -> usize {
    let mut rest = text.as_bytes();
    let (mut words, mut is_inside) = (0, false);
    while let [byte, after @ ..] = rest {
        let is_space = *byte == b' ';
        if !is_space && !is_inside {
            words += 1;
        }
        is_inside = !is_space;
        rest = after;
    }
    words
}

/// Returns the words of a text that has `N` of them.
#[must_use]
pub const fn split<const N: usize>(text: &'static str) -> [&'static str; N] {
    let mut words = [""; N];
    let mut rest: &mut [&'static str] = &mut words;
    let mut text = text;
    while let [word, after @ ..] = rest {
        let (found, remainder) = next(text);
        *word = found;
        text = remainder;
        rest = after;
    }
    words
}

/// Splits a text after its first word.
const fn next(text: &str) -> (&str, &str) {
    let bytes = text.as_bytes().trim_ascii_start();
    let (_, text) = text.split_at(text.len() - bytes.len());
    let mut len = 0;
    let mut rest = bytes;
    while let [byte, after @ ..] = rest {
        if *byte == b' ' {
            break;
        }
        len += 1;
        rest = after;
    }
    text.split_at(len)
}

/// Returns words as bytes.
#[must_use]
pub const fn bytes<const N: usize>(words: [&'static str; N]) -> [&'static [u8]; N] {
    let mut out: [&[u8]; N] = [b""; N];
    let mut from = words.as_slice();
    let mut to: &mut [&'static [u8]] = &mut out;
    while let ([word, words @ ..], [slot, slots @ ..]) = (from, to) {
        *slot = word.as_bytes();
        (from, to) = (words, slots);
    }
    out
}

#[cfg(test)]
mod tests {
    #[test]
    fn spaces_separate_words() {
        assert_eq!(crate::words![" a  bc ", "d"], &["a", "bc", "d"]);
        assert_eq!(crate::byte_words!["a bc"], &[&b"a"[..], b"bc"]);
        assert_eq!(crate::words![""], &[""; 0]);
    }
}
