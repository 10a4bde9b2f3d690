//! Words, and how each keyword affects the next token.

use super::super::escape;
use super::super::keyword::Kw;
use super::super::token::{ESCAPED, K};
use super::{After, Brace, Class, Open, Scanner, class, is_word, wide_blank};

/// Returns `true` for words that an operand follows.
const fn precedes_operand(kw: Kw) -> bool {
    let operates =
        matches!(kw, Kw::Typeof | Kw::Instanceof | Kw::In | Kw::New | Kw::Delete | Kw::Void | Kw::Extends);
    let declares = matches!(kw, Kw::Const | Kw::Var | Kw::Import | Kw::Export | Kw::Default);
    operates || declares || matches!(kw, Kw::Throw | Kw::Case | Kw::Return)
}

impl Scanner<'_> {
    #[inline]
    pub(super) fn word(&mut self, kind: K, start: usize) {
        let mut end = self.at;
        while self.src.get(end).is_some_and(|byte| is_word(*byte)) {
            end = end.wrapping_add(1);
        }
        let odd = self.src.get(end).is_some_and(|byte| *byte >= 0x80 || *byte == b'\\');
        let mut flags = 0;
        if odd || end == self.at {
            (end, flags) = self.odd_word(end);
            end = end.max(self.at.wrapping_add(1));
        }
        self.at = end;
        // A keyword with escapes is a name, and so is a member: `a.if`.
        let is_name = kind == K::Private || flags & ESCAPED != 0 || matches!(self.last, K::Dot | K::QDot);
        let kw = if is_name { Kw::None } else { Kw::of(self.src.get(start..end).unwrap_or_default()) };
        if kw == Kw::None {
            (self.operand, self.statement) = (false, false);
        } else {
            self.keyword(kw);
        }
        self.push_word(kind, kw, (start, end), flags);
    }

    /// Returns the end and the flags of a word with escapes or non-ASCII letters.
    #[cold]
    fn odd_word(&self, from: usize) -> (usize, u8) {
        let mut end = from;
        let mut flags = 0;
        loop {
            let rest = self.src.get(end..).unwrap_or_default();
            let plain = rest.iter().position(|byte| !is_word(*byte));
            end = end.wrapping_add(plain.unwrap_or(rest.len()));
            match self.src.get(end) {
                Some(b'\\') => {
                    let Some(len) = escape::identifier_escape(self.src, end) else { return (end, flags) };
                    flags |= ESCAPED;
                    end = end.wrapping_add(len);
                }
                Some(0x80..) if wide_blank(self.src.get(end..).unwrap_or_default()).is_none() => {
                    end = end.wrapping_add(1);
                }
                _ => return (end, flags),
            }
        }
    }

    /// Updates the state after a keyword.
    fn keyword(&mut self, kw: Kw) {
        // A declared function has no body before a list of declarations. `<const T>` and a function's name
        // are not declarations.
        let lists = matches!(kw, Kw::Const | Kw::Let | Kw::Var);
        let named = self.last_kw == Kw::Function || matches!(self.last, K::Op | K::Star | K::Minus);
        if lists && !named && !matches!(self.last, K::Lt | K::Comma) {
            self.set_pending(None);
        }
        // `async` has the same context as its function.
        let starts = if self.last_kw == Kw::Async {
            self.statement
        } else {
            self.statement || !self.operand || matches!(self.last_kw, Kw::Export | Kw::Default)
        };
        let after = if starts { After::Statement } else { After::Operator };
        (self.operand, self.statement) = match kw {
            Kw::Do | Kw::Else | Kw::Try | Kw::Finally => (true, true),
            Kw::Function | Kw::Class => {
                let body = if kw == Kw::Function { Brace::Body(after) } else { Brace::Class(after) };
                self.set_pending(Some(body));
                (false, false)
            }
            kw if precedes_operand(kw) => (true, false),
            Kw::Let | Kw::Await | Kw::Yield => {
                self.maybe_regex();
                (true, false)
            }
            Kw::Of => (!self.operand && self.top().open == Open::Control, false),
            Kw::Async => (false, starts),
            _ => (false, false),
        };
    }

    /// Marks the rest of the line as possible code after `await` and `yield`, which may be plain names, so
    /// that `/` divides.
    fn maybe_regex(&mut self) {
        let rest = self.rest();
        let blanks = rest.iter().take_while(|byte| class(**byte) == Class::Blank).count();
        if rest.get(blanks) == Some(&b'/') && !matches!(rest.get(blanks.wrapping_add(1)), Some(b'/' | b'*')) {
            self.unsure_line(self.at.wrapping_add(blanks).wrapping_add(1));
        }
    }
}
