//! Characters: the normal form of text, and what hides in it.

mod pass;
mod words;

use unicode_normalization::UnicodeNormalization as _;

use crate::view::{How, View};

pub(crate) use pass::{Kind, pass};
pub(crate) use words::identifier;

/// Whether a letter of another script stands beside Latin ones, or in a word of look-alikes alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Beside {
    Own,
    Latin,
}

/// Says how the look-alike letters of a run that is not ASCII are read. `before` is what the view holds in front.
fn beside(text: &str, view: &View) -> Beside {
    let latin = view.bytes.last().is_some_and(u8::is_ascii_alphabetic);
    let letters = text.chars().filter(|char| char.is_alphabetic());
    let alike = letters.clone().all(words::is_lookalike);
    if alike && (latin || letters.clone().count() > 0) { Beside::Latin } else { Beside::Own }
}

/// Appends the normal form of raw bytes that are not ASCII: NFKC, lower case, what cannot be seen left out, and the
/// letters of a run that looks Latin as those Latin letters.
pub(crate) fn normal_form(bytes: &[u8], from: usize, how: How, tag: u8, view: &mut View) {
    let mut at = from;
    for chunk in bytes.utf8_chunks() {
        let side = beside(chunk.valid(), view);
        for char in chunk.valid().chars() {
            let end = at.saturating_add(char.len_utf8());
            normal_char(char, side, (at, end), how, tag, view);
            at = end;
        }
        view.copy(chunk.invalid(), at, how, tag);
        at = at.saturating_add(chunk.invalid().len());
    }
}

/// Appends the normal form of decoded text that stands for one range.
pub(crate) fn normal_text(text: &[u8], from: (usize, usize), how: How, tag: u8, view: &mut View) {
    for chunk in text.utf8_chunks() {
        let side = beside(chunk.valid(), view);
        for char in chunk.valid().chars() {
            normal_char(char, side, from, how, tag, view);
        }
        view.put(chunk.invalid(), from, how, tag);
    }
}

fn normal_char(char: char, side: Beside, from: (usize, usize), how: How, tag: u8, view: &mut View) {
    if is_invisible(char) {
        // It leaves no byte; the next one carries the mark.
        view.skip(how.and(How::UNICODE));
        return;
    }
    let mut normal = String::new();
    if side == Beside::Latin && words::is_lookalike(char) {
        let mut buffer = [0; 4];
        normal.extend(unicode_security::skeleton(char.encode_utf8(&mut buffer)).flat_map(char::to_lowercase));
    } else {
        for part in core::iter::once(char).nfkc() {
            normal.extend(part.to_lowercase());
        }
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
