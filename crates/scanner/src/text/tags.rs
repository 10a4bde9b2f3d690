//! HTML tags in a text: those that separate words, and those inside words.

use plugward_types::Part;

use super::is_wordy;

/// The longest tag that can be inside a word.
const MAX_TAG: usize = 64;

/// Block elements: a word ends where they begin and end. Sorted.
pub(crate) const BLOCKS: &[&str] = plugward_types::words![
    "address article aside blockquote body br caption center dd details dialog div dl dt fieldset figcaption",
    "figure footer form h1 h2 h3 h4 h5 h6 head header hr html img legend li main menu nav ol optgroup option",
    "p picture pre script section select style summary svg table tbody td template tfoot th thead title tr",
    "ul video",
];
/// Inline elements. Sorted.
pub(crate) const INLINE: &[&str] = plugward_types::words![
    "a abbr area b base bdi bdo big button canvas cite code col colgroup data del dfn em embed font i iframe",
    "input ins kbd label link map mark meta meter noscript object output param progress q rp rt ruby s samp",
    "slot small source span strike strong sub sup textarea time track tt u var wbr",
];
/// The length of the longest element name.
const MAX_NAME: usize = 10;

/// The effect of a tag on the surrounding words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TagEffect {
    SplitsWords,
    None,
}

/// Returns the name of the tag at the start of a text. Names with a hyphen are custom elements and do not count.
fn name(tag: &[u8]) -> &[u8] {
    let body = tag.part(1..);
    let body = body.strip_prefix(b"/").unwrap_or(body);
    let is_name = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b':' | b'.');
    let len = body.iter().take(MAX_NAME + 1).take_while(|byte| is_name(byte)).count();
    body.part(..len)
}

fn is_one_of(names: &[&str], name: &[u8]) -> bool {
    let mut lower = [0_u8; MAX_NAME];
    let Some(lower) = lower.get_mut(..name.len()) else { return false };
    lower.copy_from_slice(name);
    lower.make_ascii_lowercase();
    names.binary_search_by(|known| known.as_bytes().cmp(lower)).is_ok()
}

/// Returns how much of a tag is markup only, and its effect. Without attributes that is the whole tag, otherwise the name
/// of a block element. Attribute values remain text.
pub(super) fn head(rest: &[u8]) -> Option<(usize, TagEffect)> {
    let name = name(rest);
    let parts = if is_one_of(BLOCKS, name) { TagEffect::SplitsWords } else { TagEffect::None };
    if parts == TagEffect::None && !is_one_of(INLINE, name) {
        return None;
    }
    let slash = usize::from(rest.get(1) == Some(&b'/'));
    let len = name.len() + 1 + slash;
    let tail = rest.get(len..)?;
    let gap = tail.iter().take(4).take_while(|byte| matches!(byte, b' ' | b'/')).count();
    if tail.get(gap) == Some(&b'>') {
        return Some((len + gap + 1, parts));
    }
    let attributes = tail.first().is_some_and(u8::is_ascii_whitespace);
    (parts == TagEffect::SplitsWords && attributes).then_some((len, parts))
}

/// Returns the length of the tags and comments inside a word, or if no word follows, how far they extend.
pub(super) fn inside(rest: &[u8]) -> Result<usize, usize> {
    let mut end = 0_usize;
    loop {
        let tag = joining(rest.part(end..)).ok_or(end)?;
        end += tag;
        match rest.get(end) {
            Some(b'<') => {}
            Some(byte) if is_wordy(*byte) => return Ok(end),
            _ => return Err(end),
        }
    }
}

/// Returns the length of a comment, or of a tag that does not separate words. A style can make any element inline.
fn joining(rest: &[u8]) -> Option<usize> {
    let window = rest.get(..rest.len().min(MAX_TAG))?;
    let len = match window {
        [b'<', b'!', b'-', b'-', ..] => {
            memchr::memmem::find(window, b"-->").and_then(|len| len.checked_add(3))?
        }
        [b'<', b'/', next, ..] | [b'<', next, ..] if next.is_ascii_alphabetic() => {
            let len = memchr::memchr(b'>', window)?.checked_add(1)?;
            let styled = || {
                window
                    .get(..len)
                    .is_some_and(|tag| tag.windows(5).any(|word| word.eq_ignore_ascii_case(b"style")))
            };
            if is_one_of(BLOCKS, name(window)) && !styled() {
                return None;
            }
            len
        }
        _ => return None,
    };
    let clean = !window.get(1..len)?.iter().any(|byte| matches!(byte, b'<' | b'\n' | b'\r'));
    clean.then_some(len)
}

#[cfg(test)]
mod tests {
    use super::{BLOCKS, INLINE, MAX_NAME, TagEffect, head, inside};

    #[test]
    fn names_are_sorted_short_and_in_one_list() {
        for names in [BLOCKS, INLINE] {
            assert!(names.is_sorted(), "they are searched by halves");
            assert!(names.iter().all(|name| name.len() <= MAX_NAME), "{names:?}");
        }
        assert!(BLOCKS.iter().all(|name| INLINE.binary_search(name).is_err()), "an element does one thing");
    }

    #[test]
    fn a_tag_parts_words_joins_them_or_is_text() {
        for (text, told) in [
            ("<br>a", Some((4, TagEffect::SplitsWords))),
            ("</P >a", Some((5, TagEffect::SplitsWords))),
            ("<p class=x>a", Some((2, TagEffect::SplitsWords))),
            ("<b>a", Some((3, TagEffect::None))),
            ("<b class=x>a", None),
            ("<p-x>a", None),
            ("<T>a", None),
            ("<p", None),
        ] {
            assert_eq!(head(text.as_bytes()), told, "{text}");
        }
        for (text, told) in [
            ("<b></b>a", Ok(7)),
            ("<!-- x --><i class=x>a", Ok(21)),
            ("<p-x></p-x>a", Ok(11)),
            ("<div style='display:inline'>a", Ok(28)),
            ("<div class='x'>a", Err(0)),
            ("<b></b><p>a", Err(7)),
            ("<b><b> a", Err(6)),
            ("<", Err(0)),
        ] {
            assert_eq!(inside(text.as_bytes()), told, "{text}");
        }
    }
}
