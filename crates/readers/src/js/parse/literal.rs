//! Names and constants.

use plugward_types::Part;

use super::super::escape;
use super::super::token::{ESCAPED, Token, TokenKind};
use super::Parser;
use super::frame::{Role, State};
use crate::program::{Node, NodeFlags, NodeId, Text};

/// Returns the flag of a word with escapes.
fn flags_of(tok: Token) -> NodeFlags {
    if tok.has(ESCAPED) { NodeFlags::ESCAPED } else { NodeFlags::NONE }
}

impl Parser<'_> {
    /// Returns the name of a word, with its escapes decoded.
    pub(super) fn name_of(&mut self, tok: Token) -> Text {
        let bytes = self.src.part(tok.start as usize..tok.end() as usize);
        if tok.has(ESCAPED) {
            return self.out.builder.text(&escape::decode_identifier(bytes));
        }
        self.out.builder.text(bytes)
    }

    /// Appends a name, which may be a target or a value.
    pub(super) fn name_node(&mut self, tok: Token) -> NodeId {
        let name = self.name_of(tok);
        self.out.builder.push(Node::Name(name), tok.span(), flags_of(tok))
    }

    /// Returns the content of a text, and whether escapes hid something in it.
    pub(super) fn text_of(&mut self, tok: Token) -> (Text, NodeFlags) {
        let (start, end) = tok.body();
        let bytes = self.src.part(start..end);
        if !tok.has(ESCAPED) {
            return (self.out.builder.text(bytes), NodeFlags::NONE);
        }
        self.text.clear();
        let hidden = escape::decode(bytes, &mut self.text);
        let flags = if hidden { NodeFlags::ESCAPED } else { NodeFlags::NONE };
        (self.out.builder.text(&self.text), flags)
    }

    /// Appends a constant or key.
    pub(super) fn constant_node(&mut self, tok: Token) -> NodeId {
        let (node, flags) = match tok.kind {
            TokenKind::Number => {
                let (start, end) = tok.span();
                let number = small(self.src.part(start..end));
                (number.map_or(Node::Unknown, Node::Number), NodeFlags::NONE)
            }
            kind if kind.is_text() => {
                let (text, flags) = self.text_of(tok);
                (Node::Text(text), flags)
            }
            _ => (Node::Text(self.name_of(tok)), flags_of(tok)),
        };
        self.out.builder.push(node, tok.span(), flags)
    }

    /// Starts a template at its first part, the next token. For a tagged template, the tag is already an
    /// operand.
    pub(super) fn open_template(&mut self, role: Role, base: usize, start: u32) {
        let tok = self.peek(0);
        self.templates += 1;
        self.open_bracket(role, base, start);
        self.template_part(tok);
        if tok.kind == TokenKind::Template {
            self.pop();
        }
    }

    /// Adds a constant part of a template.
    pub(super) fn template_part(&mut self, tok: Token) {
        let (start, end) = tok.body();
        if start < end {
            let node = self.constant_node(tok);
            self.value(node, tok.start);
        }
        self.state = State::Operand;
    }
}

/// Reads an integer with or without a radix prefix.
fn small(text: &[u8]) -> Option<i32> {
    let text = text.strip_suffix(b"n").unwrap_or(text);
    let (radix, digits) = match text {
        [b'0', b'x' | b'X', digits @ ..] => (16, digits),
        [b'0', b'o' | b'O', digits @ ..] => (8, digits),
        [b'0', b'b' | b'B', digits @ ..] => (2, digits),
        digits => (10, digits),
    };
    if digits.is_empty() || digits.len() > 40 {
        return None;
    }
    digits.iter().filter(|digit| **digit != b'_').try_fold(0_i32, |sum, digit| {
        let value = char::from(*digit).to_digit(radix)?;
        sum.checked_mul(radix.cast_signed())?.checked_add(value.cast_signed())
    })
}
