//! Tags, and the text between them.

use super::super::token::{Brace, K};
use super::{
    CLASS_BLANK, CLASS_DIGIT, CLASS_LINE, CLASS_WIDE, CLASS_WORD, Flag, Frame, Open, Pending, Scanner, class,
};

impl Scanner<'_> {
    pub(super) fn less(&mut self) {
        let rest = self.rest();
        if rest.starts_with(b"<!--") && self.is_script_comment() {
            self.line_comment();
            return;
        }
        if self.operand && self.dialect.jsx == Flag::On && self.tag_follows() {
            self.emit(K::JsxStart, 1);
            self.open(Open::JsxTag { closing: Flag::Off });
            return;
        }
        match (self.peek(1), self.peek(2)) {
            (b'<', b'=') => self.emit(K::OpAssign, 3),
            (b'<', _) if self.dialect.types == Flag::Off => self.emit(K::Op, 2),
            (b'=', _) => self.emit(K::Op, 2),
            _ => self.emit(K::Lt, 1),
        }
    }

    /// Says whether `<` in operand position starts a tag, or, in TypeScript, type parameters.
    pub(super) fn tag_follows(&self) -> bool {
        let rest = self.src.get(self.at.wrapping_add(1)..).unwrap_or_default();
        let blanks = rest.iter().take_while(|byte| matches!(class(**byte), CLASS_BLANK | CLASS_LINE)).count();
        let rest = rest.get(blanks..).unwrap_or_default();
        match rest.first() {
            Some(b'>') => return true,
            Some(byte) if matches!(class(*byte), CLASS_WORD | CLASS_WIDE) => {}
            _ => return false,
        }
        if self.dialect.types == Flag::Off {
            return true;
        }
        let name = rest.iter().take_while(|byte| matches!(class(**byte), CLASS_WORD | CLASS_DIGIT)).count();
        let tail = rest.get(name..).unwrap_or_default();
        let blanks = tail.iter().take_while(|byte| matches!(class(**byte), CLASS_BLANK | CLASS_LINE)).count();
        let tail = tail.get(blanks..).unwrap_or_default();
        !(tail.starts_with(b",")
            || (tail.starts_with(b"extends") && blanks > 0 && !tail.starts_with(b"extends=")))
    }

    pub(super) fn jsx_text(&mut self) {
        let start = self.at;
        let rest = self.rest();
        let len = memchr::memchr2(b'<', b'{', rest).unwrap_or(rest.len());
        if len > 0 {
            self.at = start.wrapping_add(len);
            self.push_text(K::JsxText, start, self.at, 0);
        }
        match self.src.get(self.at) {
            Some(b'{') => {
                self.emit(K::LBrace, 1);
                if let Some(tok) = self.out.toks.last_mut() {
                    tok.set_brace(Brace::Object);
                }
                self.open(Open::JsxHole);
            }
            Some(b'<') => {
                let closing = if self.peek(1) == b'/' { Flag::On } else { Flag::Off };
                if closing == Flag::On {
                    self.at = self.at.wrapping_add(2);
                } else {
                    self.emit(K::JsxStart, 1);
                }
                self.open(Open::JsxTag { closing });
            }
            _ => {}
        }
    }

    pub(super) fn jsx_tag(&mut self, closing: Flag) {
        let Some(&byte) = self.src.get(self.at) else { return };
        match byte {
            b'"' | b'\'' => {
                let start = self.at;
                let body = start.wrapping_add(1);
                let rest = self.src.get(body..).unwrap_or_default();
                let len = memchr::memchr(byte, rest).map_or(rest.len(), |len| len.wrapping_add(1));
                self.at = body.wrapping_add(len);
                self.push_text(K::JsxText, start, self.at, 0);
            }
            b'{' => {
                self.emit(K::LBrace, 1);
                if let Some(tok) = self.out.toks.last_mut() {
                    tok.set_brace(Brace::Object);
                }
                self.open(Open::JsxHole);
            }
            // An element that is the value of an attribute.
            b'<' if self.src.get(..self.at).unwrap_or_default().trim_ascii_end().ends_with(b"=") => {
                self.emit(K::JsxStart, 1);
                self.open(Open::JsxTag { closing: Flag::Off });
            }
            b'/' if self.peek(1) == b'>' => self.end_tag(2, Flag::On),
            b'>' => self.end_tag(1, closing),
            b'/' if matches!(self.peek(1), b'/' | b'*') => self.slash(),
            _ => self.at = self.at.wrapping_add(1),
        }
    }

    /// Ends a tag. A closed element returns to what was around it.
    pub(super) fn end_tag(&mut self, len: usize, closed: Flag) {
        let tag = self.top();
        self.at = self.at.wrapping_add(len);
        self.frames.truncate(self.frames.len().wrapping_sub(1));
        let closing_tag = matches!(tag.open, Open::JsxTag { closing: Flag::On });
        if closed == Flag::Off {
            self.frames.push(Frame {
                open: Open::JsxText,
                tok: tag.tok,
                bracket: tag.bracket,
                ternaries: 0,
                pending: Pending::None,
            });
            return;
        }
        if closing_tag && matches!(self.top().open, Open::JsxText) {
            self.frames.truncate(self.frames.len().wrapping_sub(1));
        }
        let start = self.at.wrapping_sub(len);
        self.push(K::JsxEnd, start, self.at, 0);
        if !matches!(self.top().open, Open::JsxText) {
            (self.operand, self.statement) = (false, false);
        }
    }
}
