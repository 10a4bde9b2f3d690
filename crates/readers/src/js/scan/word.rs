//! Words, and how each keyword affects the next token.

use plugward_types::Part;

use super::super::escape;
use super::super::keyword::Keyword;
use super::super::token::{ESCAPED, TokenKind};
use super::{Brace, BracketKind, ByteClass, Continuation, Scanner, class, is_word, wide_blank};

/// Returns `true` for words that an operand follows.
const fn precedes_operand(kw: Keyword) -> bool {
    let operates = matches!(
        kw,
        Keyword::Typeof
            | Keyword::Instanceof
            | Keyword::In
            | Keyword::New
            | Keyword::Delete
            | Keyword::Void
            | Keyword::Extends
    );
    let declares =
        matches!(kw, Keyword::Const | Keyword::Var | Keyword::Import | Keyword::Export | Keyword::Default);
    operates || declares || matches!(kw, Keyword::Throw | Keyword::Case | Keyword::Return)
}

impl Scanner<'_> {
    #[inline]
    pub(super) fn word(&mut self, kind: TokenKind, start: usize) {
        let mut end = self.at;
        while self.src.get(end).is_some_and(|byte| is_word(*byte)) {
            end += 1;
        }
        let odd = self.src.get(end).is_some_and(|byte| *byte >= 0x80 || *byte == b'\\');
        let mut flags = 0;
        if odd || end == self.at {
            (end, flags) = self.odd_word(end);
            end = end.max(self.at + 1);
        }
        self.at = end;
        // A keyword with escapes is a name, and so is a member: `a.if`.
        let is_name = kind == TokenKind::Private
            || flags & ESCAPED != 0
            || matches!(self.last, TokenKind::Dot | TokenKind::QDot);
        let kw = if is_name { Keyword::None } else { Keyword::of(self.src.part(start..end)) };
        if kw == Keyword::None {
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
            let rest = self.src.part(end..);
            let plain = rest.iter().position(|byte| !is_word(*byte));
            end += plain.unwrap_or(rest.len());
            match self.src.get(end) {
                Some(b'\\') => {
                    let Some(len) = escape::identifier_escape(self.src, end) else { return (end, flags) };
                    flags |= ESCAPED;
                    end += len;
                }
                Some(0x80..) if wide_blank(self.src.part(end..)).is_none() => {
                    end += 1;
                }
                _ => return (end, flags),
            }
        }
    }

    /// Updates the state after a keyword.
    fn keyword(&mut self, kw: Keyword) {
        // A declared function has no body before a list of declarations. `<const T>` and a function's name
        // are not declarations.
        let lists = matches!(kw, Keyword::Const | Keyword::Let | Keyword::Var);
        let named = self.last_kw == Keyword::Function
            || matches!(self.last, TokenKind::Op | TokenKind::Star | TokenKind::Minus);
        if lists && !named && !matches!(self.last, TokenKind::Lt | TokenKind::Comma) {
            self.set_pending(None);
        }
        // `async` has the same context as its function.
        let starts = if self.last_kw == Keyword::Async {
            self.statement
        } else {
            self.statement || !self.operand || matches!(self.last_kw, Keyword::Export | Keyword::Default)
        };
        let after = if starts { Continuation::Statement } else { Continuation::Operator };
        (self.operand, self.statement) = match kw {
            Keyword::Do | Keyword::Else | Keyword::Try | Keyword::Finally => (true, true),
            Keyword::Function | Keyword::Class => {
                let body = if kw == Keyword::Function { Brace::Body(after) } else { Brace::Class(after) };
                self.set_pending(Some(body));
                (false, false)
            }
            kw if precedes_operand(kw) => (true, false),
            Keyword::Let | Keyword::Await | Keyword::Yield => {
                self.maybe_regex();
                (true, false)
            }
            Keyword::Of => (!self.operand && self.top().open == BracketKind::Control, false),
            Keyword::Async => (false, starts),
            _ => (false, false),
        };
    }

    /// Marks the rest of the line as possible code after `await` and `yield`.
    ///
    /// Both may be plain names, after which `/` divides.
    fn maybe_regex(&mut self) {
        let rest = self.rest();
        let blanks = rest.iter().take_while(|byte| class(**byte) == ByteClass::Blank).count();
        if rest.get(blanks) == Some(&b'/') && !matches!(rest.get(blanks + 1), Some(b'/' | b'*')) {
            self.unsure_line(self.at + blanks + 1);
        }
    }
}
