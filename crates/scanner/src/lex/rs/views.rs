//! The views of a Rust file: code without comments and strings, and the text of both.

use plugward_types::Part;

use super::literal;
use super::token::{Scanned, Token, TokenKind};
use crate::lex::Lexed;
use crate::text::Within;
use crate::text::view::{Obfuscations, View};

pub(super) fn add(src: &[u8], scanned: &Scanned, out: &mut Lexed) {
    let mut wordy = false;
    for &token in &scanned.tokens {
        let (start, end) = token.span();
        let bytes = src.part(start..end);
        match token.kind {
            TokenKind::Word | TokenKind::Number | TokenKind::Lifetime => {
                if wordy {
                    out.code.put(b" ", (start, start), Obfuscations::NONE, 0);
                }
                out.code.copy(bytes, start, Obfuscations::NONE, 0);
            }
            TokenKind::String => {
                out.code.put(b"''", (start, end), Obfuscations::NONE, 0);
                string(src, token, out);
            }
            TokenKind::Char => out.code.put(b"''", (start, end), Obfuscations::NONE, 0),
            TokenKind::Path | TokenKind::Mark(_) => out.code.copy(bytes, start, Obfuscations::NONE, 0),
        }
        wordy = matches!(token.kind, TokenKind::Word | TokenKind::Number | TokenKind::Lifetime);
    }
    for &(start, end) in &scanned.unsure {
        out.text.begin(Within::String, 0);
        out.text.raw(src.part(start..end), start, Obfuscations::NONE);
    }
    comments(src, scanned, out);
}

fn string(src: &[u8], token: Token, out: &mut Lexed) {
    let text = literal::text(src, token);
    if text.is_empty() {
        return;
    }
    out.text.begin(Within::String, 0);
    if !text.is_escaped() {
        out.text.raw(src.part(text.start..text.end), text.start, Obfuscations::NONE);
        return;
    }
    let mut view = View::default();
    literal::decode_into(src, text, &mut view);
    let mut at = 0_usize;
    // One step per word, so that a match maps to the words it covers.
    for word in view.bytes.split_inclusive(|byte| matches!(byte, b' ' | b'\n')) {
        let next = at + word.len();
        let (from, to, how) = view.map.back(at, next);
        out.text.decoded(word, (from, to), how);
        at = next;
    }
}

fn comments(src: &[u8], scanned: &Scanned, out: &mut Lexed) {
    let mut last_end = None;
    for &(start, end) in &scanned.comments {
        let joined = last_end.is_some_and(|last: usize| {
            src.get(last..start).is_some_and(|gap| gap.iter().all(u8::is_ascii_whitespace))
        });
        if joined {
            out.text.blank((start, start));
        } else {
            out.text.begin(Within::Comment, 0);
        }
        let mut at = start;
        let bytes = src.part(start..end);
        for line in bytes.split_inclusive(|byte| matches!(byte, b'\n' | b'\r')) {
            let marks =
                line.iter().take_while(|byte| matches!(byte, b' ' | b'\t' | b'*' | b'/' | b'!')).count();
            let from = at + marks;
            out.text.blank((at, from));
            crate::lex::prose::imperative::separate(line.part(marks..), from, &mut out.text);
            out.text.raw(line.part(marks..), from, Obfuscations::NONE);
            at += line.len();
        }
        last_end = Some(end);
    }
    out.text.end();
}
