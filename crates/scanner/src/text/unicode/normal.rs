//! The normal form of one character: the character that a person takes it for, in lower case.

use plugward_types::Part;
use unicode_normalization::UnicodeNormalization as _;
use unicode_script::{Script, UnicodeScript as _};

use super::words;
use crate::text::view::Obfuscations;

/// Whether a letter of another script is in a word that looks Latin.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NeighborScript {
    Other,
    Latin,
}

/// Returns how to read the look-alike letters of a run that is not ASCII: as Latin if each of its letters looks Latin.
pub(crate) fn neighbor_script(text: &str) -> NeighborScript {
    let mut letters = text.chars().filter(|char| words::is_letter(*char)).peekable();
    let some = letters.peek().is_some();
    if some && letters.all(words::is_lookalike) { NeighborScript::Latin } else { NeighborScript::Other }
}

/// The form of a character in the text view.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Normal {
    /// The character is invisible, or a diacritic of the letter before it. It leaves no byte.
    Gone(Obfuscations),
    /// A blank or a line end.
    Blank,
    /// The appended text.
    Text(Obfuscations),
}

/// Returns `true` for East Asian letters that are their own normal form. Two that look Latin are excluded.
pub(super) const fn stays(char: char) -> bool {
    matches!(char, '\u{3041}'..='\u{3096}' | '\u{30A1}'..='\u{30FA}' | '\u{4E00}'..='\u{9FFF}' | '\u{AC00}'..='\u{D7A3}')
        && !matches!(char, '\u{4E05}' | '\u{4E2B}')
}

/// Appends the normal form of a character that is not ASCII.
pub(crate) fn normal(char: char, side: NeighborScript, out: &mut String) -> Normal {
    if stays(char) {
        out.push(char);
        return Normal::Text(Obfuscations::NONE);
    }
    looked_up(char, side, out)
}

fn looked_up(char: char, side: NeighborScript, out: &mut String) -> Normal {
    match char {
        '\u{85}'
        | '\u{A0}'
        | '\u{1680}'
        | '\u{2000}'..='\u{200A}'
        | '\u{2028}'
        | '\u{2029}'
        | '\u{202F}'
        | '\u{205F}'
        | '\u{2800}'
        | '\u{3000}' => return Normal::Blank,
        // Accents of ordinary words, encoded as separate marks.
        '\u{300}'..='\u{304}' | '\u{306}'..='\u{308}' | '\u{30A}'..='\u{30C}' | '\u{327}' | '\u{328}' => {
            return Normal::Gone(Obfuscations::NONE);
        }
        _ if super::is_invisible(char) || is_overlay(char) => return Normal::Gone(Obfuscations::UNICODE),
        _ => {}
    }
    if let Some(plain) = punctuation(char) {
        out.push_str(plain);
        return Normal::Text(Obfuscations::NONE);
    }
    if let Some(letter) = picture(char) {
        out.push(letter);
        return Normal::Text(Obfuscations::UNICODE);
    }
    let start = out.len();
    if side == NeighborScript::Latin && words::is_lookalike(char) {
        // Lower case first: a capital can look like a small letter of another name.
        for small in char.to_lowercase() {
            let mut buffer = [0; 4];
            out.extend(
                unicode_security::skeleton(small.encode_utf8(&mut buffer)).flat_map(char::to_lowercase),
            );
        }
        return Normal::Text(Obfuscations::UNICODE);
    }
    if char.script() == Script::Latin {
        return latin(char, out);
    }
    for part in core::iter::once(char).nfkc() {
        out.extend(part.to_lowercase());
    }
    let changed = out.get(start..).is_some_and(|text| text.bytes().any(|byte| byte.is_ascii_alphanumeric()));
    Normal::Text(if changed { Obfuscations::UNICODE } else { Obfuscations::NONE })
}

/// Appends a Latin letter without its accents and stylized forms.
fn latin(char: char, out: &mut String) -> Normal {
    let start = out.len();
    let natural = core::iter::once(char).nfd().next() != Some(char);
    for part in core::iter::once(char).nfkd().filter(|part| !is_overlay(*part)) {
        out.extend(part.to_lowercase());
    }
    if out.get(start..).is_some_and(str::is_ascii) {
        return Normal::Text(if natural { Obfuscations::NONE } else { Obfuscations::UNICODE });
    }
    if let Some(first) = twin(out.part(start..)) {
        out.truncate(start);
        out.push(first.to_ascii_lowercase());
        return Normal::Text(Obfuscations::UNICODE);
    }
    Normal::Text(Obfuscations::NONE)
}

/// Returns the single ASCII letter that a text looks like.
fn twin(text: &str) -> Option<char> {
    let mut twin = unicode_security::skeleton(text);
    let first = twin.next().filter(char::is_ascii_alphabetic)?;
    twin.next().is_none().then_some(first)
}

/// Returns `true` for marks that are drawn over or around a letter.
const fn is_overlay(char: char) -> bool {
    matches!(char,
        '\u{300}'..='\u{36F}' | '\u{483}'..='\u{489}' | '\u{1AB0}'..='\u{1AFF}' | '\u{1DC0}'..='\u{1DFF}'
        | '\u{20D0}'..='\u{20FF}' | '\u{FE20}'..='\u{FE2F}')
}

/// Returns the ASCII form of typographic punctuation.
const fn punctuation(char: char) -> Option<&'static str> {
    Some(match char {
        '\u{2018}' | '\u{2019}' | '\u{201A}' | '\u{201B}' | '\u{2032}' | '\u{2BC}' | '\u{FF07}' => "'",
        '\u{201C}' | '\u{201D}' | '\u{201E}' | '\u{201F}' | '\u{2033}' | '\u{AB}' | '\u{BB}' => "\"",
        '\u{2010}'..='\u{2015}' | '\u{2212}' | '\u{FE58}' | '\u{FF0D}' => "-",
        '\u{2026}' => "...",
        '\u{2022}' | '\u{2023}' | '\u{25E6}' | '\u{2043}' | '\u{2219}' | '\u{22C5}' | '\u{30FB}' => "\u{B7}",
        _ => return None,
    })
}

/// Returns the letter that a symbol or small capital without a decomposition shows.
fn picture(char: char) -> Option<char> {
    const SMALL_CAPITALS: &[(char, char)] = &[
        ('\u{1D00}', 'a'),
        ('\u{299}', 'b'),
        ('\u{1D04}', 'c'),
        ('\u{1D05}', 'd'),
        ('\u{1D07}', 'e'),
        ('\u{A730}', 'f'),
        ('\u{262}', 'g'),
        ('\u{29C}', 'h'),
        ('\u{26A}', 'i'),
        ('\u{1D0A}', 'j'),
        ('\u{1D0B}', 'k'),
        ('\u{29F}', 'l'),
        ('\u{1D0D}', 'm'),
        ('\u{274}', 'n'),
        ('\u{1D0F}', 'o'),
        ('\u{1D18}', 'p'),
        ('\u{A7AF}', 'q'),
        ('\u{280}', 'r'),
        ('\u{A731}', 's'),
        ('\u{1D1B}', 't'),
        ('\u{1D1C}', 'u'),
        ('\u{1D20}', 'v'),
        ('\u{1D21}', 'w'),
        ('\u{28F}', 'y'),
        ('\u{1D22}', 'z'),
    ];
    let value = u32::from(char);
    let letter = |first: u32| char::from_u32(value.wrapping_sub(first).wrapping_add(u32::from('a')));
    match value {
        0x1F150..=0x1F169 => letter(0x1F150),
        0x1F170..=0x1F189 => letter(0x1F170),
        0x1F1E6..=0x1F1FF => letter(0x1F1E6),
        0x262..=0x29F | 0x1D00..=0x1D22 | 0xA730..=0xA7AF => {
            SMALL_CAPITALS.iter().find(|(known, _)| *known == char).map(|(_, plain)| *plain)
        }
        _ => None,
    }
}

/// Returns `true` for letters of scripts that are written without blanks between words.
pub(crate) const fn is_east_asian(char: char) -> bool {
    matches!(char, '\u{1100}'..='\u{11FF}' | '\u{2E80}'..='\u{2FFF}' | '\u{3005}'..='\u{30FA}' | '\u{30FC}'..='\u{318F}' | '\u{31A0}'..='\u{4DBF}' | '\u{4E00}'..='\u{9FFF}'
        | '\u{AC00}'..='\u{D7AF}' | '\u{F900}'..='\u{FAFF}' | '\u{FF66}'..='\u{FF9F}' | '\u{20000}'..='\u{3FFFF}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_that_stay_are_what_the_tables_say() {
        let mut wrong = Vec::new();
        for char in (0..=0x10_FFFF).filter_map(char::from_u32).filter(|char| stays(*char)) {
            let same = [NeighborScript::Other, NeighborScript::Latin].into_iter().all(|side| {
                let mut out = String::new();
                looked_up(char, side, &mut out) == Normal::Text(Obfuscations::NONE) && out == char.to_string()
            });
            if !same || words::looks_latin(char) {
                wrong.push(char);
            }
        }
        assert!(wrong.is_empty(), "{wrong:?}");
        assert!(stays('\u{4E2D}') && stays('\u{D55C}') && !stays('\u{430}'));
    }
}
