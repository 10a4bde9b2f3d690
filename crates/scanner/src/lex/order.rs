//! Lines of text that begin with what an order begins with.

use crate::text::TextView;
use crate::view::How;

/// Verbs that rules of orders ask for at the start of a sentence, sorted.
const VERBS: &[&str] = &[
    "access",
    "add",
    "append",
    "attach",
    "bypass",
    "capture",
    "cat",
    "circumvent",
    "collect",
    "commit",
    "concatenate",
    "copy",
    "cover",
    "deactivate",
    "defeat",
    "delete",
    "deliver",
    "disable",
    "discard",
    "disclose",
    "display",
    "disregard",
    "download",
    "dump",
    "echo",
    "email",
    "embed",
    "enable",
    "encode",
    "enumerate",
    "evade",
    "execute",
    "exfiltrate",
    "extract",
    "fetch",
    "find",
    "forget",
    "forward",
    "gather",
    "get",
    "give",
    "grab",
    "harvest",
    "ignore",
    "include",
    "insert",
    "install",
    "interpolate",
    "leak",
    "leave",
    "list",
    "load",
    "locate",
    "look",
    "mail",
    "neglect",
    "obtain",
    "open",
    "output",
    "override",
    "overrule",
    "pass",
    "paste",
    "place",
    "post",
    "print",
    "provide",
    "publish",
    "push",
    "put",
    "read",
    "remember",
    "render",
    "reply",
    "report",
    "retrieve",
    "return",
    "reveal",
    "reverse",
    "run",
    "save",
    "scan",
    "search",
    "send",
    "share",
    "show",
    "skip",
    "steal",
    "store",
    "submit",
    "substitute",
    "switch",
    "take",
    "tell",
    "translate",
    "transmit",
    "turn",
    "upload",
    "use",
    "violate",
    "visit",
    "write",
];

/// Says whether a text begins with such a verb, marks of emphasis and quotes in front of it aside.
fn is_verb(text: &[u8]) -> bool {
    let marks = text
        .iter()
        .take(4)
        .take_while(|byte| matches!(byte, b'*' | b'_' | b'~' | b'`' | b'"' | b'\'' | b'['))
        .count();
    let word = text.get(marks..).unwrap_or_default();
    let len = word.iter().take(16).take_while(|byte| byte.is_ascii_alphabetic()).count();
    let word = word.get(..len).unwrap_or_default().to_ascii_lowercase();
    core::str::from_utf8(&word).is_ok_and(|word| VERBS.binary_search(&word).is_ok())
}

/// Parts a block of text from what stands in front of it, where it begins like an order: a heading or an item of a list has no
/// full stop at its end.
pub(crate) fn part(text: &[u8], at: usize, out: &mut TextView) {
    // One word of a list is no sentence.
    let words = text.trim_ascii().iter().filter(|byte| **byte == b' ').take(2).count();
    if words > 1 && is_verb(text) {
        out.decoded(b",", (at, at), How::NONE);
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
