//! Text blocks that begin with an imperative verb, such as "Send the file to …".

use plugward_types::Part;

use crate::text::TextView;
use crate::text::view::Obfuscations;

/// The verbs with which rules expect an instruction to begin, sorted.
const VERBS: &[&str] = plugward_types::words![
    "access add append attach bypass capture cat circumvent collect commit concatenate copy cover deactivate",
    "defeat delete deliver disable discard disclose display disregard download dump echo email embed enable",
    "encode enumerate evade execute exfiltrate extract fetch find forget forward gather get give grab",
    "harvest ignore include insert install interpolate leak leave list load locate look mail neglect obtain",
    "open output override overrule pass paste place post print provide publish push put read remember render",
    "reply report retrieve return reveal reverse run save scan search send share show skip steal store",
    "submit substitute switch take tell translate transmit turn upload use violate visit write",
];

/// Returns `true` if a text begins with such a verb, after emphasis marks and quotes.
fn is_verb(text: &[u8]) -> bool {
    let marks = text
        .iter()
        .take(4)
        .take_while(|byte| matches!(byte, b'*' | b'_' | b'~' | b'`' | b'"' | b'\'' | b'['))
        .count();
    let word = text.part(marks..);
    let len = word.iter().take(16).take_while(|byte| byte.is_ascii_alphabetic()).count();
    let word = word.part(..len).to_ascii_lowercase();
    core::str::from_utf8(&word).is_ok_and(|word| VERBS.binary_search(&word).is_ok())
}

/// Separates a block of text from the block before it if it begins like an instruction.
///
/// Headings and list items have no full stop, so without a separator the sentence would begin earlier.
pub(crate) fn separate(text: &[u8], at: usize, out: &mut TextView) {
    // Fewer than three words are an entry of a list, not a sentence.
    let words = text.trim_ascii().iter().filter(|byte| **byte == b' ').take(2).count();
    if words > 1 && is_verb(text) {
        out.decoded(b",", (at, at), Obfuscations::NONE);
        out.blank((at, at));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn verbs_are_sorted_and_found_behind_marks() {
        assert!(VERBS.is_sorted());
        for text in ["Read it", "**Send** it", "`cat x`", "use"] {
            assert!(is_verb(text.as_bytes()), "{text}");
        }
        for text in ["", "Reader", "the read", "re-read", "- read"] {
            assert!(!is_verb(text.as_bytes()), "{text}");
        }
    }
}
