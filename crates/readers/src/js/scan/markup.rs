//! JSX tags, and the text between them.

use plugward_types::Part;

use super::super::token::TokenKind;
use super::super::{JsTypes, JsxTags};
use super::{BracketKind, ByteClass, Frame, Scanner, class, is_blank, is_word};

impl Scanner<'_> {
    pub(super) fn less(&mut self) {
        if self.rest().starts_with(b"<!--") && self.is_html_comment() {
            self.line_comment();
            return;
        }
        if self.operand && self.options.jsx == JsxTags::Read && self.tag_follows() {
            self.emit(TokenKind::JsxStart, 1);
            self.open(BracketKind::JsxTag);
            return;
        }
        match (self.peek(1), self.peek(2)) {
            (b'<', b'=') => self.emit(TokenKind::OpAssign, 3),
            (b'<', _) if self.options.types == JsTypes::None => self.emit(TokenKind::Op, 2),
            (b'=', _) => self.emit(TokenKind::Op, 2),
            _ => self.emit(TokenKind::Lt, 1),
        }
    }

    /// Returns `true` if `<` at the start of an operand opens a tag. In TypeScript it may open type
    /// parameters.
    fn tag_follows(&self) -> bool {
        let rest = self.src.part(self.at + 1..);
        let blanks = rest.iter().take_while(|byte| is_blank(**byte)).count();
        let rest = rest.part(blanks..);
        match rest.first() {
            Some(b'>') => return true,
            Some(byte) if matches!(class(*byte), ByteClass::Word | ByteClass::Wide) => {}
            _ => return false,
        }
        if self.options.types == JsTypes::None {
            return true;
        }
        let name = rest.iter().take_while(|byte| is_word(**byte)).count();
        let tail = rest.part(name..);
        let blanks = tail.iter().take_while(|byte| is_blank(**byte)).count();
        let tail = tail.part(blanks..);
        let bounded = tail.starts_with(b"extends") && blanks > 0 && !tail.starts_with(b"extends=");
        !(tail.starts_with(b",") || bounded)
    }

    pub(super) fn jsx_text(&mut self) {
        let start = self.at;
        let rest = self.rest();
        let len = memchr::memchr2(b'<', b'{', rest).unwrap_or(rest.len());
        if len > 0 {
            self.at = start + len;
            self.push(TokenKind::JsxText, start, self.at, 0);
        }
        match self.src.get(self.at) {
            Some(b'{') => self.jsx_hole(),
            Some(b'<') if self.peek(1) == b'/' => {
                self.at += 2;
                self.open(BracketKind::JsxClosingTag);
            }
            Some(b'<') => {
                self.emit(TokenKind::JsxStart, 1);
                self.open(BracketKind::JsxTag);
            }
            _ => {}
        }
    }

    fn jsx_hole(&mut self) {
        self.emit(TokenKind::LBrace, 1);
        self.open(BracketKind::JsxHole);
    }

    pub(super) fn jsx_tag(&mut self) {
        let Some(&byte) = self.src.get(self.at) else { return };
        match byte {
            b'"' | b'\'' => {
                let start = self.at;
                let body = start + 1;
                let rest = self.src.part(body..);
                let len = memchr::memchr(byte, rest).map_or(rest.len(), |len| len + 1);
                self.at = body + len;
                self.push(TokenKind::JsxText, start, self.at, 0);
            }
            b'{' => self.jsx_hole(),
            // An element as the value of an attribute.
            b'<' if self.src.part(..self.at).trim_ascii_end().ends_with(b"=") => {
                self.emit(TokenKind::JsxStart, 1);
                self.open(BracketKind::JsxTag);
            }
            b'/' if self.peek(1) == b'>' => self.end_tag(2),
            b'>' => self.end_tag(1),
            b'/' if matches!(self.peek(1), b'/' | b'*') => self.slash(),
            _ => self.at += 1,
        }
    }

    /// Ends a tag. The closing tag of an element restores the state before the element.
    fn end_tag(&mut self, len: usize) {
        let tag = self.top();
        let start = self.at;
        self.at += len;
        self.frames.truncate(self.frames.len().wrapping_sub(1));
        if len == 1 && tag.open == BracketKind::JsxTag {
            self.frames.push(Frame { open: BracketKind::JsxText, ternaries: 0, pending: None, ..tag });
            return;
        }
        if tag.open == BracketKind::JsxClosingTag && self.top().open == BracketKind::JsxText {
            self.frames.truncate(self.frames.len().wrapping_sub(1));
        }
        self.push(TokenKind::JsxEnd, start, self.at, 0);
        if self.top().open != BracketKind::JsxText {
            (self.operand, self.statement) = (false, false);
        }
    }
}
