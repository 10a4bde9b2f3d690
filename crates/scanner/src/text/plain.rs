//! Fast path: most text is its own normal form except for case, in long stretches.

use plugward_types::Part;

use super::{is_blank, is_wordy};

/// Whether an underscore is markup, as in prose.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Marks {
    Everywhere,
    InWords,
}

/// The number of bytes that are tested at once.
const BLOCK: usize = 16;

/// Returns how much of a text with a plain first byte is its own normal form except for case: ASCII with single blanks
/// inside and no markup to drop. The stretch does not end with a blank.
///
/// # Guarantees
///
/// After the stretch follow bytes for [`TextView::raw`](super::TextView::raw), or the end. Time is linear in the length of
/// the input.
pub(super) fn stretch(bytes: &[u8], marks: Marks) -> usize {
    let mut at = 0_usize;
    loop {
        while let Some(look) = bytes.get(at..).and_then(<[u8]>::first_chunk::<{ BLOCK + 1 }>)
            && is_clean(look, marks)
        {
            at += BLOCK;
        }
        let end = at + BLOCK;
        while at < end {
            match step(bytes, at, marks) {
                Some(len) => at += len,
                None => return without_blank(bytes, at),
            }
        }
    }
}

/// Returns `true` if a block, seen with the next byte, has no mark and only single blanks.
#[inline]
fn is_clean(look: &[u8; BLOCK + 1], marks: Marks) -> bool {
    let underscore = if marks == Marks::Everywhere { b'_' } else { b'*' };
    let (Some(block), Some(next)) = (look.first_chunk::<BLOCK>(), look.last_chunk::<BLOCK>()) else {
        return false;
    };
    let odd = block.iter().zip(next).fold(0_u8, |odd, (&byte, next)| {
        // Separate comparisons vectorize; a set of marks would be looked up byte by byte.
        let is = |mark: u8| u8::from(byte == mark);
        let shown = byte.wrapping_sub(b' ') < 0x5F;
        let mark = is(b'&') | is(b'*') | is(b'<') | is(b'`') | is(b'~') | is(underscore);
        let blanks = is(b' ') & u8::from(next.wrapping_sub(b'!') >= 0x5E);
        odd | u8::from(!shown) | mark | blanks
    });
    odd == 0
}

/// Returns a lower bound for the number of plain bytes from an offset on.
fn step(bytes: &[u8], at: usize, marks: Marks) -> Option<usize> {
    let next = bytes.get(at + 1).copied();
    let in_word =
        || at.checked_sub(1).and_then(|before| bytes.get(before)).is_some_and(|byte| is_wordy(*byte));
    let plain = match *bytes.get(at)? {
        b' ' => next.is_some_and(|next| next.is_ascii() && !is_blank(next)),
        b'_' => marks == Marks::InWords,
        // A mark that starts neither a reference nor a tag is text.
        b'&' => !next.is_some_and(|next| next == b'#' || next.is_ascii_alphanumeric()),
        b'<' => {
            let tag = next.is_some_and(|next| matches!(next, b'/' | b'!') || next.is_ascii_alphabetic());
            !(tag && (marks == Marks::Everywhere || in_word()))
        }
        mark @ (b'*' | b'`' | b'~') => {
            if marks == Marks::Everywhere {
                return None;
            }
            let rest = bytes.part(at..);
            let run = rest.iter().take_while(|byte| **byte == mark).count();
            let goes_on = rest.get(run).is_some_and(|byte| is_wordy(*byte));
            return (!(in_word() && goes_on)).then_some(run);
        }
        byte => byte.is_ascii() && !is_blank(byte),
    };
    plain.then_some(1)
}

/// Returns the end without a final blank.
fn without_blank(bytes: &[u8], end: usize) -> usize {
    let before = end.checked_sub(1);
    before.filter(|before| bytes.get(*before) == Some(&b' ')).unwrap_or(end)
}
