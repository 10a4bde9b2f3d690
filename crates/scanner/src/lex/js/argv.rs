//! A call's arguments as the rules read them: the texts of its first one, however they are joined, and command lines.

use super::call::Callee;
use super::token::{ESCAPED, K};
use super::walk::{Walk, most_put_in};
use crate::entry::Lens;
use crate::lex::quote::{self, Exact};
use crate::sink::EmbeddedText;
use crate::view::{How, View};

/// Most tokens of one argument list that are looked at.
const TOKENS: usize = 256;

impl Walk<'_, '_, '_, '_> {
    /// Gives the constant texts of a call: all those that its first argument is joined from, then the plain ones.
    pub(super) fn argv(&mut self, callee: &Callee, last: usize) -> (Vec<u8>, How) {
        let mut out = Vec::new();
        let mut how = How::NONE;
        let open = (callee.cur.last as usize).wrapping_add(1);
        let first_end = if self.kind(open) == Some(K::LParen) {
            let end = self.argument(open.wrapping_add(1), last);
            how = self.joined(open.wrapping_add(1), end, 0, &mut out);
            end
        } else {
            0
        };
        let tokens = self.texts.get(callee.texts as usize..).unwrap_or_default().to_vec();
        for token in tokens.into_iter().filter(|token| *token as usize >= first_end) {
            let (text, undone) = self.constant(token as usize);
            out.extend_from_slice(&text);
            out.push(b' ');
            how = how.and(undone);
        }
        (out, how)
    }

    /// Finds where an argument ends.
    fn argument(&self, from: usize, last: usize) -> usize {
        let stop = last.min(from.saturating_add(TOKENS));
        let mut at = from;
        while at < stop {
            match self.kind(at) {
                Some(K::Comma | K::RParen | K::Semi) | None => return at,
                Some(K::LParen | K::LBracket | K::LBrace) => {
                    at = self.types.past(at).unwrap_or(stop).max(at.wrapping_add(1));
                }
                _ => at = at.wrapping_add(1),
            }
        }
        stop
    }

    /// Writes the texts of an expression: what `+` and templates join stands together, what a call joins has a slash
    /// between. A name stands for what it was first bound to.
    fn joined(&self, from: usize, to: usize, depth: u32, out: &mut Vec<u8>) -> How {
        let mut how = How::NONE;
        let mut calls = 0_u32;
        for at in from..to {
            match self.kind(at) {
                Some(K::Str | K::Tpl | K::TplHead | K::TplMid | K::TplTail) => {
                    let (text, undone) = self.constant(at);
                    out.extend_from_slice(&text);
                    how = how.and(undone);
                }
                Some(K::LParen) => calls = calls.wrapping_add(1),
                Some(K::RParen) => calls = calls.wrapping_sub(1),
                Some(K::Comma) if calls > 0 && out.last() != Some(&b'/') => out.push(b'/'),
                Some(K::Arrow | K::LBrace | K::Semi) | None => break,
                Some(K::Word) => {
                    let (before, next) = (self.kind(at.wrapping_sub(1)), self.kind(at.wrapping_add(1)));
                    let alone = !matches!(before, Some(K::Dot | K::QDot))
                        && !matches!(next, Some(K::Dot | K::QDot | K::LParen | K::LBracket | K::Word));
                    if alone && depth < 2 {
                        how = how.and(self.named_text(at, depth, out));
                    }
                }
                _ => {}
            }
        }
        out.push(b' ');
        how
    }

    /// Writes the texts of what a name is bound to.
    fn named_text(&self, at: usize, depth: u32, out: &mut Vec<u8>) -> How {
        if self.put_in.get() > most_put_in(self.src) {
            return How::NONE;
        }
        let Some(value) = self.bound_at(at).filter(|value| *value != at) else { return How::NONE };
        let mut end = value;
        while end < value.saturating_add(TOKENS) {
            match self.kind(end) {
                None | Some(K::Comma | K::Semi | K::RBrace | K::RParen) => break,
                Some(K::LParen | K::LBracket) => {
                    end = self.types.past(end).unwrap_or(end.wrapping_add(1));
                    continue;
                }
                // A line ends the value, unless a `+` before or behind its end goes on.
                Some(kind)
                    if end > value
                        && kind != K::Plus
                        && self.tok(end).newline()
                        && self.kind(end.wrapping_sub(1)) != Some(K::Plus) =>
                {
                    break;
                }
                _ => {}
            }
            end = end.wrapping_add(1);
        }
        let before = out.len();
        let how = self.joined(value, end, depth.wrapping_add(1), out);
        let read = end.wrapping_sub(value).saturating_add(out.len().wrapping_sub(before));
        self.put_in.set(self.put_in.get().saturating_add(read));
        out.pop();
        how
    }

    /// Hands a program with its list of arguments on as one command.
    pub(super) fn embed_command(&mut self, callee: &Callee, last: usize) {
        let open = (callee.cur.last as usize).wrapping_add(1);
        if self.kind(open) != Some(K::LParen) {
            return;
        }
        let mut line = View::default();
        let mut at = open.wrapping_add(1);
        let stop = last.min(at.saturating_add(TOKENS));
        let mut inside = false;
        while at < stop {
            match self.kind(at) {
                Some(K::LBracket) if !inside => inside = true,
                Some(K::RBracket) | None => break,
                Some(K::Comma) => {}
                Some(_) => {
                    let end = self.element(at, stop);
                    self.command_word(at, end, &mut line);
                    if !inside && !line.is_empty() && self.kind(end.wrapping_add(1)) != Some(K::LBracket) {
                        break;
                    }
                    at = end;
                    continue;
                }
            }
            at = at.wrapping_add(1);
        }
        if !line.is_empty() {
            self.sink.embed(Lens::Sh, EmbeddedText::View(line));
        }
    }

    fn element(&self, from: usize, stop: usize) -> usize {
        let mut at = from;
        while at < stop {
            match self.kind(at) {
                Some(K::Comma | K::RBracket | K::RParen) | None => break,
                Some(K::LParen | K::LBracket | K::LBrace) => {
                    at = self.types.past(at).unwrap_or(stop).max(at.wrapping_add(1));
                }
                _ => at = at.wrapping_add(1),
            }
        }
        at.max(from.wrapping_add(1))
    }

    /// Adds one word of a command: a constant as it is, anything else as a value.
    fn command_word(&self, from: usize, to: usize, line: &mut View) {
        let start = self.tok(from).start() as usize;
        if !line.is_empty() {
            line.put(b" ", (start, start), How::NONE, 0);
        }
        let constant = to == from.wrapping_add(1) && matches!(self.kind(from), Some(K::Str | K::Tpl));
        if !constant {
            let end = self.tok(to.wrapping_sub(1)).end() as usize;
            line.put(b"${x}", (start, end.max(start)), How::NONE, 0);
            return;
        }
        let tok = self.tok(from);
        let (first, end) = super::code::body(tok);
        let bytes = self.src.get(first..end).unwrap_or_default();
        let mut word = View::default();
        if tok.flags & ESCAPED == 0 {
            word.copy(bytes, first, How::NONE, 0);
        } else {
            super::escape::decode_into(bytes, first, 0, &mut word);
        }
        quote::word(&word, Exact::Yes, first, line);
    }
}
