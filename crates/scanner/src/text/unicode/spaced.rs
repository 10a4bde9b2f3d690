//! Spaced letters: `s e n d`, `s.e.n.d`. The text view adds a piece in which they are joined.

use std::collections::BTreeMap;

use core::cmp::Reverse;

use plugward_types::Part;

/// The fewest spaced letters that count as an obfuscated word.
pub(crate) const LETTERS: usize = 4;
/// The longest gap between two of them.
const MAX_GAP: usize = 4;

/// A run of spaced letters, which can contain several words, in offsets of the text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Spaced {
    pub(crate) start: usize,
    pub(crate) end: usize,
    /// The letters, each with its position.
    pub(crate) letters: Vec<(usize, u8)>,
    /// The letters after which a word ends.
    pub(crate) breaks: Vec<usize>,
}

/// The size of a window and the distance between windows. They overlap such that any four letters of a run, with a byte on
/// both sides, are in one window.
const WINDOW: usize = 64;
const STEP: usize = WINDOW - (LETTERS + (LETTERS - 1) * MAX_GAP + 2);
/// The shortest run: one byte between two letters.
const LEAST: usize = 2 * LETTERS - 1;

/// Returns `true` if a text may contain such a run: four isolated letters near each other. It is a cheap test before the
/// search.
pub(crate) fn may_hold(text: &[u8]) -> bool {
    if text.len() < LEAST {
        return false;
    }
    // Padding replaces the bytes before the first and after the last.
    let padded = |from: usize| {
        let mut window = [0; WINDOW];
        let (room, text) = match from.checked_sub(1) {
            None => (window.get_mut(1..), text),
            Some(before) => (window.get_mut(..), text.part(before..)),
        };
        room.unwrap_or_default().iter_mut().zip(text).for_each(|(to, byte)| *to = *byte);
        lone(&window) >= LETTERS
    };
    if padded(0) {
        return true;
    }
    let mut at = STEP;
    while let Some(window) = text.get(at.saturating_sub(1)..).and_then(<[u8]>::first_chunk::<WINDOW>) {
        if lone(window) >= LETTERS {
            return true;
        }
        at += STEP;
    }
    at < text.len() && padded(at)
}

/// Counts isolated letters, except at both ends.
fn lone(window: &[u8; WINDOW]) -> usize {
    let mut wordy = [0_u8; WINDOW];
    for (wordy, byte) in wordy.iter_mut().zip(window) {
        let letter = (byte | 0x20).wrapping_sub(b'a') < 26;
        *wordy = u8::from(letter) | u8::from(byte.wrapping_sub(b'0') < 10);
    }
    let [_, own @ ..] = &wordy;
    let [_, bytes @ ..] = window;
    let [_, _, after @ ..] = &wordy;
    let beside = wordy.iter().zip(after).map(|(before, after)| before | after);
    let count = own.iter().zip(bytes).zip(beside).fold(0_u8, |count, ((own, byte), beside)| {
        // A digit is below the letters in ASCII.
        count.wrapping_add(own & !beside & (byte >> 6))
    });
    usize::from(count)
}

/// Finds every run. `width` returns the original width of the blank at an offset.
pub(crate) fn find(text: &[u8], width: impl Fn(usize) -> usize) -> Vec<Spaced> {
    let mut runs = Vec::new();
    let mut at = 0_usize;
    while let Some(more) = next_lone(text, at) {
        at = more;
        match run(text, at, &width) {
            Ok(found) => {
                at = found.end;
                runs.push(found);
            }
            Err(next) => at = next.max(at + 1),
        }
    }
    runs
}

/// Returns the offset of the first isolated letter from another offset on.
fn next_lone(text: &[u8], at: usize) -> Option<usize> {
    let mut before = at.checked_sub(1).and_then(|at| text.get(at)).is_some_and(u8::is_ascii_alphanumeric);
    let mut letter = false;
    for (index, byte) in text.get(at..)?.iter().chain(b" ").enumerate() {
        let wordy = byte.is_ascii_alphanumeric();
        if letter && !wordy {
            return at.checked_add(index)?.checked_sub(1);
        }
        letter = byte.is_ascii_alphabetic() && !before;
        before = wordy;
    }
    None
}

/// Returns `true` for a letter without a letter or digit on either side.
fn is_lone(text: &[u8], at: usize) -> bool {
    let wordy = |byte: Option<&u8>| byte.is_some_and(u8::is_ascii_alphanumeric);
    text.get(at).is_some_and(u8::is_ascii_alphabetic)
        && !wordy(at.checked_sub(1).and_then(|at| text.get(at)))
        && !wordy(text.get(at + 1))
}

/// Returns the gap between a letter and the next: marks and blanks, no letters of any script.
fn gap(text: &[u8], at: usize) -> Option<&[u8]> {
    let rest = text.get(at..)?;
    let len = rest.iter().take(MAX_GAP + 1).take_while(|byte| !byte.is_ascii_alphanumeric()).count();
    let gap = rest.get(..len).filter(|gap| !gap.is_empty() && gap.len() <= MAX_GAP)?;
    let marks = core::str::from_utf8(gap).ok()?;
    (!marks.chars().any(char::is_alphanumeric)).then_some(gap)
}

/// Returns the run at an offset, or else the offset of the next attempt.
fn run<'a>(text: &'a [u8], start: usize, width: &impl Fn(usize) -> usize) -> Result<Spaced, usize> {
    if !is_lone(text, start) {
        return Err(start + 1);
    }
    let mut letters: Vec<(usize, u8)> = Vec::new();
    let mut gaps: Vec<&'a [u8]> = Vec::new();
    let mut at = start;
    while is_lone(text, at) {
        let Some(byte) = text.get(at) else { break };
        letters.push((at, *byte));
        let after = at + 1;
        let Some(gap) = gap(text, after) else { break };
        gaps.push(gap);
        at = after + gap.len();
    }
    gaps.truncate(letters.len().saturating_sub(1));
    let last = letters.last().map_or(start, |(at, _)| *at);
    let end = last + 1;
    // The most frequent gap, and the narrowest of those, separates letters; any other separates words.
    let key = |index: usize| {
        let gap = gaps.get(index).copied().unwrap_or_default();
        let blank = letters.get(index).map_or(0, |(at, _)| at + 1);
        (gap, if gap == b" " { width(blank) } else { 0 })
    };
    let mut counts: BTreeMap<(&[u8], usize), usize> = BTreeMap::new();
    for index in 0..gaps.len() {
        let count = counts.entry(key(index)).or_default();
        *count += 1;
    }
    let most = counts.iter().max_by_key(|((_, width), count)| (**count, Reverse(*width)));
    let Some((&common, _)) = most else { return Err(end) };
    let breaks: Vec<usize> = (0..gaps.len()).filter(|index| key(*index) != common).collect();
    let mut longest = 0_usize;
    let mut from = 0_usize;
    for index in breaks.iter().copied().chain([letters.len().saturating_sub(1)]) {
        longest = longest.max((index + 1).saturating_sub(from));
        from = index + 1;
    }
    if longest < LETTERS {
        return Err(end);
    }
    Ok(Spaced { start, end, letters, breaks })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn joined(text: &str) -> Vec<String> {
        find(text.as_bytes(), |_| 1)
            .iter()
            .map(|run| {
                let mut out = String::new();
                for (index, (_, letter)) in run.letters.iter().enumerate() {
                    out.push(char::from(*letter));
                    if run.breaks.contains(&index) {
                        out.push(' ');
                    }
                }
                out
            })
            .collect()
    }

    #[test]
    fn letters_apart_are_joined() {
        for (text, expected) in [
            ("s e n d", vec!["send"]),
            ("x s.e.n.d me", vec!["x send"]),
            ("to s.e.n.d me", vec!["send"]),
            ("s-e-n-d", vec!["send"]),
            ("s_e_n_d", vec!["send"]),
            ("s. e. n. d.", vec!["send"]),
            ("s - e - n - d", vec!["send"]),
            ("s\u{b7}e\u{b7}n\u{b7}d", vec!["send"]),
            ("s.e.n.d t.h.i.s", vec!["send this"]),
            ("s.e.n.d - t.h.i.s", vec!["send this"]),
            ("a b c", vec![]),
            ("sen d", vec![]),
            ("1 2 3 4", vec![]),
            ("e.g. i.e. this", vec![]),
        ] {
            assert_eq!(joined(text), expected, "{text}");
            if !expected.is_empty() {
                assert!(may_hold(text.as_bytes()), "{text}");
            }
        }
    }
}
