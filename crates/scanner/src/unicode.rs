//! Characters: the normal form of text.

use unicode_normalization::UnicodeNormalization as _;

use crate::view::{How, View};

/// Appends the normal form of raw bytes that are not ASCII: NFKC, lower case.
pub(crate) fn normal_form(bytes: &[u8], from: usize, how: How, tag: u8, view: &mut View) {
    let mut at = from;
    for chunk in bytes.utf8_chunks() {
        for char in chunk.valid().chars() {
            let end = at.saturating_add(char.len_utf8());
            normal_char(char, (at, end), how, tag, view);
            at = end;
        }
        view.copy(chunk.invalid(), at, how, tag);
        at = at.saturating_add(chunk.invalid().len());
    }
}

/// Appends the normal form of decoded text that stands for one range.
pub(crate) fn normal_text(text: &[u8], from: (usize, usize), how: How, tag: u8, view: &mut View) {
    for chunk in text.utf8_chunks() {
        for char in chunk.valid().chars() {
            normal_char(char, from, how, tag, view);
        }
        view.put(chunk.invalid(), from, how, tag);
    }
}

fn normal_char(char: char, from: (usize, usize), how: How, tag: u8, view: &mut View) {
    let mut normal = String::new();
    for part in core::iter::once(char).nfkc() {
        normal.extend(part.to_lowercase());
    }
    let undone = if normal.is_ascii() { how.and(How::UNICODE) } else { how };
    view.put(normal.as_bytes(), from, undone, tag);
}

/// Says whether a character shows nothing or changes how others show.
pub(crate) const fn is_invisible(char: char) -> bool {
    matches!(char,
        '\u{AD}' | '\u{34F}' | '\u{61C}' | '\u{115F}' | '\u{1160}' | '\u{17B4}' | '\u{17B5}' | '\u{180B}'..='\u{180F}'
        | '\u{200B}'..='\u{200F}' | '\u{2028}'..='\u{202E}' | '\u{2060}'..='\u{206F}' | '\u{3164}' | '\u{FE00}'..='\u{FE0F}'
        | '\u{FEFF}' | '\u{FFA0}' | '\u{FFF0}'..='\u{FFFB}' | '\u{1D173}'..='\u{1D17A}' | '\u{E0000}'..='\u{E0FFF}')
}
