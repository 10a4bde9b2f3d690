//! Whether the names of the file may be changed by other ways than by name.

use super::read::Reader;
use crate::lex::py::text_of;
use crate::lex::py::token::K;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Space {
    /// By their names alone.
    Own,
    /// As items of a dictionary or members of a module as well.
    Shared,
}

/// Words that give the names of the file, or take one away.
const WORDS: [&[u8]; 6] = [b"globals", b"locals", b"vars", b"delattr", b"modules", b"__main__"];

impl Reader<'_, '_> {
    pub(super) fn space(&self) -> Space {
        let shared = self.toks.iter().any(|tok| {
            tok.kind == K::Name
                && (tok.aux != 0 || tok.end.saturating_sub(tok.start) == 8)
                && WORDS.contains(&text_of(self.src, *tok))
        });
        if shared { Space::Shared } else { Space::Own }
    }
}
