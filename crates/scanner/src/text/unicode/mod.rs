//! Characters: the normal form of text, and hidden characters.

pub(crate) mod entity;
mod normal;
mod pass;
pub(crate) mod spaced;
mod words;

use plugward_types::Part;
pub(crate) use plugward_types::escape::is_invisible;

pub(crate) use normal::{NeighborScript, Normal, is_east_asian, neighbor_script, normal};
pub(crate) use pass::{Kind, escaped, in_value, pass};
pub(crate) use words::identifier_beside;

/// Returns `true` if a text contains a zero-width character.
pub(crate) fn has_zero_width(text: &str) -> bool {
    text.chars().any(is_zero_width)
}

const fn is_zero_width(char: char) -> bool {
    matches!(char,
        '\u{200B}'..='\u{200D}' | '\u{2060}'..='\u{2064}' | '\u{FEFF}' | '\u{AD}' | '\u{180E}' | '\u{206A}'..='\u{206F}')
}

/// Returns the valid UTF-8 parts of a text with their offsets.
pub(crate) fn valid(text: &[u8]) -> impl Iterator<Item = (usize, &str)> {
    let mut at = 0_usize;
    core::iter::from_fn(move || {
        let rest = text.get(at..).filter(|rest| !rest.is_empty())?;
        let start = at;
        // Most text is valid, which is faster to check as a whole than chunk by chunk.
        match core::str::from_utf8(rest) {
            Ok(valid) => {
                at = text.len();
                Some((start, valid))
            }
            Err(error) => {
                let valid = core::str::from_utf8(rest.get(..error.valid_up_to())?).ok()?;
                let invalid = error.error_len().unwrap_or(rest.len());
                at = start + valid.len() + invalid;
                Some((start, valid))
            }
        }
    })
}

/// Returns the number of leading ASCII bytes.
pub(crate) fn ascii_len(bytes: &[u8]) -> usize {
    let blocks =
        bytes.chunks_exact(16).take_while(|block| block.iter().fold(0, |all, byte| all | byte) < 0x80);
    let whole = blocks.count().saturating_mul(16);
    let rest = bytes.part(whole..);
    whole + rest.iter().take_while(|byte| byte.is_ascii()).count()
}
