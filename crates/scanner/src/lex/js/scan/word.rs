//! Words, and what each keyword says of what may follow.

use std::borrow::Cow;

use super::super::escape;
use super::super::token::{ESCAPED, EVENT, K, Kw, MOST_KNOWN, Tok};
use super::{After, CLASS_BLANK, Flag, Open, Pending, Scanner, class, is_word, offset, wide_blank};
use crate::names::{STARRED, Word, key, prefix, prefix_at};

impl Scanner<'_> {
    #[inline]
    pub(super) fn word(&mut self, kind: K, start: usize) {
        let mut end = self.at;
        while self.src.get(end).is_some_and(|byte| is_word(*byte)) {
            end = end.wrapping_add(1);
        }
        let odd = self.src.get(end).is_some_and(|byte| *byte >= 0x80 || *byte == b'\\');
        if odd || end == self.at {
            self.odd_word(kind, start, end);
            return;
        }
        let text = self.src.get(start..end).unwrap_or_default();
        let head = prefix_at(self.src, start, end);
        let word = self.names.words.find(head, text);
        self.at = end;
        self.named(kind, start, (word, key(head, text.len())), 0);
    }

    /// The rest of a word with escapes or with letters that are not ASCII.
    #[cold]
    fn odd_word(&mut self, kind: K, start: usize, from: usize) {
        let mut end = from;
        let mut flags = 0;
        loop {
            let rest = self.src.get(end..).unwrap_or_default();
            let plain = rest.iter().position(|byte| !is_word(*byte));
            end = end.wrapping_add(plain.unwrap_or(rest.len()));
            match self.src.get(end) {
                Some(b'\\') => {
                    let Some(len) = escape::identifier_escape(self.src, end) else { break };
                    flags |= ESCAPED;
                    end = end.wrapping_add(len);
                }
                Some(0x80..) if wide_blank(self.src.get(end..).unwrap_or_default()).is_none() => {
                    end = end.wrapping_add(1);
                }
                _ => break,
            }
        }
        self.at = end.max(self.at.wrapping_add(1));
        let text = self.src.get(start..self.at).unwrap_or_default();
        let name = if flags == 0 { Cow::Borrowed(text) } else { Cow::Owned(escape::decode_identifier(text)) };
        let head = prefix(&name);
        let word = self.names.words.find(head, &name);
        if word != 0 && self.at.wrapping_sub(start) >= MOST_KNOWN {
            // Only zeros in escapes make a name of the tables that long.
            self.out.stopped = Some(start);
            return;
        }
        self.out.identifiers.push(offset(self.out.toks.len()));
        self.named(kind, start, (word, key(head, name.len())), flags);
    }

    #[inline]
    fn named(&mut self, kind: K, start: usize, (word, key): (Word, u16), flags: u8) {
        let mut kw = Kw::None;
        let mut flags = flags;
        if word != 0 {
            let after_dot = matches!(self.last, K::Dot | K::QDot);
            // An escaped keyword is no keyword, but an escaped name is that name.
            if kind != K::Private && !after_dot && flags & ESCAPED == 0 {
                kw = Kw::of(word);
            }
            if self.is_event(word, kw) {
                flags |= EVENT;
            }
        }
        if kw == Kw::None {
            (self.operand, self.statement) = (false, false);
        } else {
            self.keyword(kw);
        }
        let tok = Tok::of_word(kind, offset(start), offset(self.at), (word, key), flags);
        self.push_tok(tok, start, self.at);
        self.last_kw = kw;
    }

    /// Says whether a finding may come from a word of the tables.
    fn is_event(&self, word: Word, kw: Kw) -> bool {
        let interest = self.names.interest(word);
        match kw {
            // Functions matter where something asks for their constructor, and the walk asks for those.
            Kw::Function => false,
            Kw::Export => true,
            // The global object, outside functions.
            Kw::This => self.bodies == 0,
            _ if matches!(self.last, K::Dot | K::QDot) => interest & STARRED != 0,
            _ => interest != 0,
        }
    }

    /// Moves the state over a word.
    pub(super) fn keyword(&mut self, kw: Kw) {
        // A function that is only declared has no body in front of a list of declarations; `<const T>` is none, nor is a function's name.
        let lists = matches!(kw, Kw::Const | Kw::Let | Kw::Var);
        let named = self.last_kw == Kw::Function || self.last == K::Op;
        if lists && !named && !matches!(self.last, K::Lt | K::Comma) {
            self.set_pending(Pending::None);
        }
        // What stands in front of `async` says what stands in front of its function.
        let starts = if self.last_kw == Kw::Async {
            self.statement
        } else {
            self.statement || !self.operand || matches!(self.last_kw, Kw::Export | Kw::Default)
        };
        let after = if starts { After::Statement } else { After::Operator };
        let (operand, statement) = match kw {
            Kw::Do | Kw::Else | Kw::Try | Kw::Finally => (true, true),
            Kw::Function => {
                self.set_pending(Pending::Function(after));
                (false, false)
            }
            Kw::Class => {
                self.set_pending(Pending::Class(after));
                (false, false)
            }
            Kw::Typeof
            | Kw::Instanceof
            | Kw::In
            | Kw::New
            | Kw::Delete
            | Kw::Void
            | Kw::Throw
            | Kw::Case
            | Kw::Return
            | Kw::Extends
            | Kw::Const
            | Kw::Var
            | Kw::Import
            | Kw::Export
            | Kw::Default => (true, false),
            Kw::Let | Kw::Await | Kw::Yield => {
                self.maybe_regex();
                (true, false)
            }
            Kw::Of => (!self.operand && matches!(self.top().open, Open::Paren { control: Flag::On }), false),
            Kw::Async => (false, starts),
            _ => (false, false),
        };
        self.operand = operand;
        self.statement = statement;
    }

    /// `await` and `yield` may be plain names, after which `/` divides: then the rest of the line is read as code too.
    pub(super) fn maybe_regex(&mut self) {
        let rest = self.src.get(self.at..).unwrap_or_default();
        let blanks = rest.iter().take_while(|byte| matches!(class(**byte), CLASS_BLANK)).count();
        if rest.get(blanks) == Some(&b'/') && !matches!(rest.get(blanks.wrapping_add(1)), Some(b'/' | b'*')) {
            self.unsure_line(self.at.wrapping_add(blanks).wrapping_add(1));
        }
    }

    /// Has the rest of a line read as code too.
    pub(super) fn unsure_line(&mut self, start: usize) {
        // A line is measured once, however many marks of the kind are on it.
        if self.line_end < start {
            let rest = self.src.get(start..).unwrap_or_default();
            let line = memchr::memchr2(b'\n', b'\r', rest).unwrap_or(rest.len());
            self.line_end = start.saturating_add(line);
        }
        self.out.unsure.push((offset(start), offset(self.line_end)));
    }
}
