//! JSON with comments, JSON5 and gyp literals. The lexer never fails: every byte becomes part of some token.

use plugward_types::Part;

use crate::lex::data::scalar::{EscapeSyntax, Scalar, ScalarText, decode};
use crate::lex::data::tree::{CollectionKind, Tree};

/// Reads a text as JSON.
pub(in crate::lex::data) fn read(tree: &mut Tree<'_, '_>) {
    let src = tree.src;
    let mut at = if src.starts_with(b"\xEF\xBB\xBF") { 3 } else { 0 };
    while let Some(&byte) = src.get(at) {
        at = match byte {
            b' ' | b'\t' | b'\n' | b'\r' => at + 1,
            b'"' | b'\'' => {
                let (scalar, next) = string(src, at, byte);
                tree.scalar(scalar);
                next
            }
            b'{' => step(at, || tree.open(CollectionKind::Map, at)),
            b'[' => step(at, || tree.open(CollectionKind::List, at)),
            b'}' => step(at, || tree.close(CollectionKind::Map, at)),
            b']' => step(at, || tree.close(CollectionKind::List, at)),
            b':' | b'=' => step(at, || tree.assign()),
            b',' | b';' => step(at, || tree.comma()),
            b'/' | b'#' => match comment(src, at) {
                Some(end) => {
                    tree.comment(at, end);
                    end
                }
                None => bare(tree, at),
            },
            _ => bare(tree, at),
        };
    }
}

fn step(at: usize, then: impl FnOnce()) -> usize {
    then();
    at + 1
}

/// Returns the end of a comment at `at`, or `None` if there is none.
pub(in crate::lex::data) fn comment(src: &[u8], at: usize) -> Option<usize> {
    let rest = src.get(at..)?;
    if rest.starts_with(b"/*") {
        let inner = rest.get(2..)?;
        let len = memchr::memmem::find(inner, b"*/").map_or(rest.len(), |len| len + 4);
        return Some(at + len);
    }
    if rest.starts_with(b"//") || rest.starts_with(b"#") {
        // JSON5 also ends a line at U+2028 and U+2029. Ending the comment there lexes the text that either
        // kind of parser would read.
        let ends =
            |at: &usize| matches!(rest.get(*at..), Some([b'\n' | b'\r', ..] | [0xE2, 0x80, 0xA8 | 0xA9, ..]));
        let len = memchr::memchr3_iter(b'\n', b'\r', 0xE2, rest).find(ends).unwrap_or(rest.len());
        return Some(at + len);
    }
    None
}

/// Reads a string. A string that is not closed in its line ends with the line.
fn string(src: &[u8], start: usize, quote: u8) -> (Scalar, usize) {
    let first = start + 1;
    let mut at = first;
    let mut escaped = false;
    loop {
        let rest = src.rest(at);
        let Some(more) = memchr::memchr3(quote, b'\\', b'\n', rest) else {
            at = src.len();
            break;
        };
        at += more;
        match src.get(at) {
            Some(b'\\') => {
                escaped = true;
                let long = src.get(at..).is_some_and(|rest| rest.starts_with(b"\\\r\n"));
                at += if long { 3 } else { 2 };
            }
            _ => break,
        }
    }
    let end = at.min(src.len());
    let next = if src.get(end) == Some(&quote) { end + 1 } else { end };
    let body = if escaped {
        ScalarText::View(decode(src, first, end, EscapeSyntax::Json))
    } else {
        ScalarText::Range(first.min(end), end)
    };
    (Scalar { span: (start, next), body }, next)
}

/// Reads a number, a word or bytes that are not valid here.
fn bare(tree: &mut Tree<'_, '_>, start: usize) -> usize {
    let src = tree.src;
    let rest = src.part(start + 1..);
    let stop = |byte: &u8| {
        matches!(
            byte,
            b' ' | b'\t'
                | b'\n'
                | b'\r'
                | b'"'
                | b'\''
                | b'{'
                | b'}'
                | b'['
                | b']'
                | b':'
                | b','
                | b'='
                | b';'
        )
    };
    // A comment may follow a word without a space.
    let comment = |at: usize| matches!(rest.get(at..), Some([b'/', b'/' | b'*', ..]));
    let mut bytes = rest.iter().enumerate();
    let len = bytes.position(|(at, byte)| stop(byte) || comment(at)).unwrap_or(rest.len());
    let end = start + 1 + len;
    let escaped = memchr::memchr(b'\\', src.part(start..end)).is_some();
    let body = if escaped {
        ScalarText::View(decode(src, start, end, EscapeSyntax::Json))
    } else {
        ScalarText::Range(start, end)
    };
    tree.scalar(Scalar { span: (start, end), body });
    end
}
