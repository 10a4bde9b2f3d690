//! The code view of a file.

use super::text::normalize;
use super::token::{Token, TokenKind, WIDE};
use crate::view::{Obfuscations, View};

/// Returns the code without comments, with empty strings, and with one space between words.
pub(super) fn code(source: &[u8], tokens: &[Token]) -> View {
    let mut code = View::default();
    let mut is_word = false;
    let mut name = Vec::new();
    for token in tokens {
        let (start, end) = token.range();
        let text = token.text(source);
        let was_word =
            core::mem::replace(&mut is_word, token.kind.is_word() || token.kind == TokenKind::Number);
        if was_word && is_word {
            code.put(b" ", (start, start), Obfuscations::NONE, 0);
        }
        match token.kind {
            TokenKind::Name if token.has(WIDE) => {
                name.clear();
                normalize(text, &mut name);
                let how = if name.is_ascii() { Obfuscations::UNICODE } else { Obfuscations::NONE };
                code.put(&name, (start, end), how, 0);
            }
            TokenKind::String => code.put(b"''", (start, end), Obfuscations::NONE, 0),
            TokenKind::Head | TokenKind::Tail => code.put(b"'", (start, end), Obfuscations::NONE, 0),
            TokenKind::Middle => {}
            TokenKind::Line => code.put(b"\n", (start, end), Obfuscations::NONE, 0),
            _ => code.copy(text, start, Obfuscations::NONE, 0),
        }
    }
    code
}
