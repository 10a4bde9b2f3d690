//! Words and identifiers that look like others.

use plugward_types::Part;
use unicode_script::{Script, UnicodeScript as _};
use unicode_security::skeleton;

use crate::rules::names::Words;
use crate::scan::sink::Sink;
use crate::text::view::Obfuscations;

/// The longest word that is compared; longer text is not a word.
const MAX_WORD: usize = 256;

/// Finds words that mix Latin letters with look-alikes of another script.
pub(super) fn mixed(text: &[u8], sink: &mut Sink<'_>) {
    for (at, valid) in super::valid(text) {
        mixed_in(valid, at, sink);
    }
}

/// Visits each letter that is not ASCII, with its word.
fn mixed_in(valid: &str, base: usize, sink: &mut Sink<'_>) {
    let mut done = 0_usize;
    loop {
        let rest = valid.part(done..);
        let at = done + super::ascii_len(rest.as_bytes());
        let tail = valid.part(at..);
        let Some(char) = tail.chars().next() else { break };
        if !is_letter(char) {
            done = at + char.len_utf8();
            continue;
        }
        let head = valid.part(done..at);
        let before = head.bytes().rev().take_while(u8::is_ascii_alphabetic).count();
        let start = at.saturating_sub(before);
        let len = tail.find(|char: char| !is_letter(char)).unwrap_or(tail.len());
        let end = at + len;
        if is_mixed(valid.part(start..end)) {
            let span = (base + start, base + end);
            sink.shape("unicode-mixed-script", span, Obfuscations::NONE);
        }
        done = end;
    }
}

/// Returns `true` if a character is a letter. It skips the table lookup for dense scripts.
pub(super) fn is_letter(char: char) -> bool {
    super::normal::stays(char) || char.is_alphabetic()
}

fn is_mixed(word: &str) -> bool {
    if word.len() > MAX_WORD {
        return false;
    }
    let latin = word.chars().any(|char| char.is_ascii_alphabetic());
    latin && word.chars().any(is_lookalike)
}

/// Returns `true` for a letter of another script that looks Latin.
pub(super) fn is_lookalike(char: char) -> bool {
    !char.is_ascii() && !super::normal::stays(char) && looks_latin(char)
}

/// Does the same by the tables only.
pub(super) fn looks_latin(char: char) -> bool {
    if matches!(char.script(), Script::Latin | Script::Common | Script::Inherited) {
        return false;
    }
    let mut text = [0; 4];
    let text: &str = char.encode_utf8(&mut text);
    let mut plain = skeleton(text);
    plain.next().is_some_and(|first| first.is_ascii_alphabetic()) && plain.next().is_none()
}

/// Compares an identifier that is not all ASCII with the file's other names.
pub(crate) fn identifier_beside(
    name: &[u8],
    span: (usize, usize),
    how: Obfuscations,
    words: &Words,
    is_name: &dyn Fn(&[u8]) -> bool,
    sink: &mut Sink<'_>,
) {
    let Ok(name) = core::str::from_utf8(name) else { return };
    // Tables of letters have members such as `\u0410`. The escape is visible, and a single letter imitates no name.
    let is_letter = !how.is_plain() && name.chars().nth(1).is_none();
    if name.len() > MAX_WORD || is_letter {
        return;
    }
    if super::has_zero_width(name) {
        sink.shape("unicode-zero-width-code", span, how);
    }
    let folded: String = skeleton(name).filter(|char| !super::is_invisible(*char)).collect();
    let is_twin = |twin: &str| {
        let plain = twin.is_ascii() && !twin.is_empty();
        plain && (words.get(twin.as_bytes()) != 0 || is_name(twin.as_bytes()))
    };
    if is_twin(&typed(name)) || is_twin(&folded) {
        sink.shape("unicode-confusable-identifier", span, how);
    }
}

/// Returns the name that a person would type. Keyboard letters stay as they are; a skeleton writes `m` as `rn`.
fn typed(name: &str) -> String {
    let mut out = String::with_capacity(name.len());
    for char in name.chars().filter(|char| !super::is_invisible(*char)) {
        if char.is_ascii() {
            out.push(char);
            continue;
        }
        let start = out.len();
        out.extend(skeleton(char.encode_utf8(&mut [0; 4])));
        // `I` and `l` have the same skeleton.
        if char.is_uppercase() && out.get(start..) == Some("l") {
            out.truncate(start);
            out.push('I');
        }
    }
    out
}
