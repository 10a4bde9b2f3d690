//! The code view and the pieces of text.

use std::borrow::Cow;

use plugward_types::Part;

use super::escape;
use super::scan::Scanned;
use super::token::{ESCAPED, Token, TokenKind};
use crate::reading::{Piece, PieceKind};
use crate::view::{Obfuscations, View};

/// The shortest quoted key that the code view shows as a name. Shorter keys are in no rule.
const KEY: usize = 3;

/// Returns the code without comments, with empty strings, and with one space between words.
pub(super) fn code(src: &[u8], tokens: &[Token]) -> View {
    let mut view = View::default();
    let mut wordy = false;
    // The pending range of bytes that are copied unchanged.
    let mut copied = (0_usize, 0_usize);
    for (&tok, index) in tokens.iter().zip(0_usize..) {
        let (start, end) = tok.span();
        let key = if tok.kind == TokenKind::String { key(src, tokens, index) } else { None };
        let apart = wordy && tok.kind.is_wordy();
        wordy = tok.kind.is_wordy() || key.is_some();
        let is_plain = !(tok.kind.is_text()
            || tok.kind == TokenKind::Regex
            || (tok.kind.is_wordy() && tok.has(ESCAPED)));
        if is_plain && !apart && start == copied.1 {
            copied.1 = end;
            continue;
        }
        view.copy(src.part(copied.0..copied.1), copied.0, Obfuscations::NONE, 0);
        copied = (end, end);
        if apart {
            view.put(b" ", (start, start), Obfuscations::NONE, 0);
        }
        match (tok.kind, key) {
            (_, Some((name, how))) => view.put(&name, (start, end), how, 0),
            _ if is_plain => copied = (start, end),
            (TokenKind::Regex, _) => view.put(b"/./", (start, end), Obfuscations::NONE, 0),
            (kind, _) if kind.is_text() => view.put(mark(kind), (start, end), Obfuscations::NONE, 0),
            _ => {
                let name = escape::decode_identifier(src.part(start..end));
                view.put(&name, (start, end), Obfuscations::ESCAPE, 0);
            }
        }
    }
    view.copy(src.part(copied.0..copied.1), copied.0, Obfuscations::NONE, 0);
    view
}

/// Returns the name of a quoted key of an object.
fn key<'a>(src: &'a [u8], tokens: &[Token], index: usize) -> Option<(Cow<'a, [u8]>, Obfuscations)> {
    let kind = |at: usize| tokens.get(at).map(|tok| tok.kind);
    let tok = tokens.get(index)?;
    let is_key = kind(index + 1) == Some(TokenKind::Colon)
        && matches!(kind(index.wrapping_sub(1)), Some(TokenKind::LBrace | TokenKind::Comma));
    if !is_key {
        return None;
    }
    let (start, end) = tok.body();
    let text = src.get(start..end)?;
    let (name, how) = if tok.has(ESCAPED) {
        let mut name = Vec::new();
        let hidden = escape::decode(text, &mut name);
        (Cow::Owned(name), if hidden { Obfuscations::ESCAPE } else { Obfuscations::NONE })
    } else {
        (Cow::Borrowed(text), Obfuscations::NONE)
    };
    let plain =
        name.len() >= KEY && name.iter().all(|byte| byte.is_ascii_alphanumeric() || b"_$".contains(byte));
    plain.then_some((name, how))
}

const fn mark(kind: TokenKind) -> &'static [u8] {
    match kind {
        TokenKind::TemplateHead => b"`${",
        TokenKind::TemplateMiddle => b"}${",
        TokenKind::TemplateTail => b"}`",
        TokenKind::JsxText => b"",
        _ => b"''",
    }
}

/// Returns comments and strings in the order of the file.
pub(super) fn pieces(scanned: &Scanned) -> Vec<Piece> {
    let mut comments = scanned.comments.iter().copied().peekable();
    let comment = |(start, end)| Piece { kind: PieceKind::Comment, start, end, is_escaped: false };
    let mut pieces = Vec::with_capacity(scanned.comments.len());
    for tok in scanned.tokens.iter().filter(|tok| tok.kind.is_text()) {
        while let Some(range) = comments.next_if(|range| range.0 < tok.start) {
            pieces.push(comment(range));
        }
        let kind = if tok.kind == TokenKind::JsxText { PieceKind::Markup } else { PieceKind::String };
        let body = tok.body();
        if body.0 < body.1 {
            pieces.push(Piece { kind, start: tok.start, end: tok.end(), is_escaped: tok.has(ESCAPED) });
        }
    }
    pieces.extend(comments.map(comment));
    pieces
}
