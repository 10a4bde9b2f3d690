//! Words, and what each keyword says of what may follow.

use super::super::escape;
use super::super::token::{ESCAPED, K, Kw};
use super::{
    After, CLASS_BLANK, CLASS_DIGIT, CLASS_LINE, CLASS_WORD, Flag, Open, Pending, Scanner, class, offset,
    wide_blank,
};

impl Scanner<'_> {
    pub(super) fn word(&mut self, kind: K, start: usize) {
        let mut end = self.at;
        let mut escaped = false;
        loop {
            let rest = self.src.get(end..).unwrap_or_default();
            let plain = rest.iter().position(|byte| !matches!(class(*byte), CLASS_WORD | CLASS_DIGIT));
            end = end.wrapping_add(plain.unwrap_or(rest.len()));
            match self.src.get(end) {
                Some(b'\\') => {
                    let Some(len) = escape::identifier_escape(self.src, end) else { break };
                    escaped = true;
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
        let word = if escaped {
            self.names.words.get(&escape::decode_identifier(text))
        } else {
            self.names.words.get(text)
        };
        let after_dot = matches!(self.last, K::Dot | K::QDot);
        // An escaped keyword is no keyword, but an escaped name is that name.
        let kw = if kind == K::Private || after_dot || escaped { Kw::None } else { Kw::of(u32::from(word)) };
        self.out.known_words = self.out.known_words.saturating_add(u32::from(word != 0 && kw == Kw::None));
        self.keyword(kw);
        self.push(kind, start, self.at, u32::from(word), if escaped { ESCAPED } else { 0 });
        self.last_kw = kw;
    }

    /// Moves the state over a word.
    pub(super) fn keyword(&mut self, kw: Kw) {
        let starts =
            self.statement || !self.operand || matches!(self.last_kw, Kw::Export | Kw::Default | Kw::Async);
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
            Kw::Async => (false, self.statement),
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
            let start = self.at.wrapping_add(blanks).wrapping_add(1);
            let line = rest.iter().position(|byte| class(*byte) == CLASS_LINE).unwrap_or(rest.len());
            self.out.unsure.push((offset(start), offset(self.at.wrapping_add(line))));
        }
    }
}
