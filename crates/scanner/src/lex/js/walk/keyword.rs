//! Keywords, statements that declare, and what TypeScript erases.

use super::super::token::{K, Kw, NO_MATE, Tok};
use super::{Cur, In, Prefix, Shape, Val, Walk, small};
use crate::view::How;

impl Walk<'_, '_, '_, '_> {
    /// Handles a keyword; `None` where it is used as a name.
    pub(super) fn keyword(&mut self, at: usize, kw: Kw) -> Option<usize> {
        let next = at.wrapping_add(1);
        match kw {
            Kw::New | Kw::Typeof | Kw::Delete => {
                self.end_operand();
                self.prefix = match kw {
                    Kw::New => Prefix::New,
                    Kw::Typeof => Prefix::Typeof,
                    _ => Prefix::Delete,
                };
                self.prefix_at = small(at);
            }
            Kw::Await | Kw::Void | Kw::Yield => self.end_operand(),
            Kw::In | Kw::Of if self.cur.is_some_and(|cur| self.is_head(&cur)) => {
                if let Some(cur) = self.cur {
                    self.written(&cur);
                    if cur.shape == Shape::Pattern {
                        self.write_pattern(cur.first as usize, 0);
                    }
                    if kw == Kw::Of {
                        self.bind_each(&cur, next);
                    }
                }
                self.operator(K::Equality);
            }
            Kw::In | Kw::Instanceof => self.operator(K::Equality),
            Kw::Of if self.cur.is_some() => {
                self.operator(K::Equality);
            }
            Kw::Break | Kw::Continue => {
                self.end_statement();
                // A label is no name.
                let label = self.kind(next) == Some(K::Word) && !self.tok(next).newline();
                return Some(if label { next.wrapping_add(1) } else { next });
            }
            Kw::Return
            | Kw::Throw
            | Kw::Case
            | Kw::Do
            | Kw::Else
            | Kw::Try
            | Kw::Finally
            | Kw::Extends
            | Kw::Default
            | Kw::Debugger
            | Kw::If
            | Kw::While
            | Kw::For
            | Kw::Switch
            | Kw::Catch
            | Kw::With => self.end_statement(),
            Kw::Const | Kw::Let | Kw::Var if self.starts_binding(next) => {
                self.end_statement();
                if let Some(frame) = self.top() {
                    frame.declares = true;
                }
            }
            Kw::Function | Kw::Class => return Some(self.function_head(at, kw)),
            Kw::Import => return self.import(at),
            Kw::Export => return Some(self.export(at)),
            Kw::Async if self.starts_function(next) => {
                self.end_operand();
            }
            Kw::As | Kw::Satisfies if self.typed && self.cur.is_some() && !self.tok(at).newline() => {
                return Some(self.skip_cast(next));
            }
            Kw::Type | Kw::Interface | Kw::Declare | Kw::Abstract | Kw::Namespace | Kw::Module
                if self.typed =>
            {
                return self.type_statement(at, kw);
            }
            Kw::Implements if self.typed => return Some(self.skip_heritage(next)),
            Kw::Null | Kw::True | Kw::False | Kw::Super => {
                self.operand(at, Val::default(), Shape::Other, How::NONE);
            }
            _ => return None,
        }
        Some(next)
    }

    /// Says whether an operand is what a loop binds: nothing but a declaring word stands between it and the parenthesis.
    fn is_head(&self, cur: &Cur) -> bool {
        let mut before = (cur.first as usize).wrapping_sub(1);
        if matches!(self.kw(before), Kw::Const | Kw::Let | Kw::Var | Kw::Using) {
            before = before.wrapping_sub(1);
        }
        self.top_kind() == In::Control
            && self.frames.last().is_some_and(|frame| frame.open as usize == before)
    }

    /// Says whether `async` at the token before starts a function.
    pub(super) fn starts_function(&self, next: usize) -> bool {
        match self.kind(next) {
            Some(K::Word) => !self.tok(next).newline(),
            Some(K::LParen) => self.types.is_arrow_head(next),
            _ => false,
        }
    }

    pub(super) fn starts_binding(&self, next: usize) -> bool {
        matches!(self.kind(next), Some(K::Word | K::LBrace | K::LBracket))
    }

    /// Steps over a cast. `as const` is one too.
    pub(super) fn skip_cast(&mut self, next: usize) -> usize {
        let end = self.types.skip(next).unwrap_or(next);
        if let Some(cur) = &mut self.cur {
            cur.last = small(end.wrapping_sub(1));
        }
        end
    }

    pub(super) fn skip_heritage(&self, start: usize) -> usize {
        let mut at = start;
        loop {
            // The body's brace is no type of the list.
            if self.kind(at) == Some(K::LBrace) {
                return at;
            }
            let Some(next) = self.types.skip(at) else { return at };
            at = next;
            if self.kind(at) != Some(K::Comma) {
                return at;
            }
            at = at.wrapping_add(1);
        }
    }

    /// Steps over statements that only declare types.
    pub(super) fn type_statement(&mut self, at: usize, kw: Kw) -> Option<usize> {
        let name = at.wrapping_add(1);
        if self.kind(name) != Some(K::Word) || self.tok(name).newline() {
            if kw == Kw::Declare || self.kind(name) != Some(K::Str) || !matches!(kw, Kw::Module) {
                return None;
            }
            // `declare module "m" {…}` comes here with the `declare` dropped.
            return Some(name.wrapping_add(1));
        }
        match kw {
            Kw::Type => {
                let mut next = name.wrapping_add(1);
                if self.kind(next) == Some(K::Lt) {
                    next = self.types.angles(next, 0)?;
                }
                if self.kind(next) != Some(K::Assign) {
                    return None;
                }
                self.end_statement();
                Some(self.types.skip(next.wrapping_add(1)).unwrap_or(next))
            }
            Kw::Interface => {
                self.end_statement();
                let mut next = name.wrapping_add(1);
                if self.kind(next) == Some(K::Lt) {
                    next = self.types.angles(next, 0)?;
                }
                if self.kw(next) == Kw::Extends {
                    next = self.skip_heritage(next.wrapping_add(1));
                }
                if self.kind(next) == Some(K::LBrace) { self.types.past(next) } else { Some(next) }
            }
            Kw::Declare => {
                self.end_statement();
                Some(self.skip_declare(name))
            }
            _ => {
                self.end_statement();
                Some(at.wrapping_add(1))
            }
        }
    }

    /// Steps over what `declare` stands before: it has no code, but the step ends with the statement's line or body.
    pub(super) fn skip_declare(&self, start: usize) -> usize {
        let mut at = start;
        loop {
            match self.kind(at) {
                None | Some(K::Semi | K::Assign) => return at,
                Some(K::LBrace) => return self.types.past(at).unwrap_or(at),
                Some(K::LParen | K::LBracket) => match self.types.past(at) {
                    Some(next) => at = next,
                    None => return at,
                },
                Some(_) if at > start && self.tok(at).newline() && self.kind(at) == Some(K::Word) => {
                    return at;
                }
                Some(_) => at = at.wrapping_add(1),
            }
        }
    }

    /// `function` or `class`: the name is the file's own.
    pub(super) fn function_head(&mut self, at: usize, kw: Kw) -> usize {
        self.end_operand();
        let mut next = at.wrapping_add(1);
        if self.kind(next) == Some(K::Op) {
            next = next.wrapping_add(1);
        }
        let (name, tok) = (next, self.tok(next));
        if self.kind(next) == Some(K::Word) && self.kw(next) != Kw::Extends {
            self.declare_here(tok);
            if kw == Kw::Class && self.kw(next.wrapping_add(1)) == Kw::Extends {
                self.bind_class(next);
            }
            next = next.wrapping_add(1);
        }
        if self.typed && self.kind(next) == Some(K::Lt) {
            next = self.types.angles(next, 0).unwrap_or(next);
        }
        if kw == Kw::Function && self.kind(next) == Some(K::LParen) {
            if tok.kind == K::Word {
                self.hold_returned(name, at);
            }
            self.open_params(next);
            next = self.past_dull(next, self.tok(next));
        }
        next
    }

    /// Says that a word is declared in the bracket that is open.
    pub(in crate::lex::js) fn declare_here(&mut self, tok: Tok) {
        let word = if tok.kind == K::Word { tok.word() } else { 0 };
        if word == 0 {
            return;
        }
        let open =
            self.frames.iter().rev().find(|frame| matches!(frame.kind, In::Block | In::Body | In::Class));
        let open = open.map_or(NO_MATE, |frame| frame.open);
        let (start, end) = if open == NO_MATE {
            (0, u32::MAX)
        } else {
            (open, self.toks.get(open as usize).map_or(u32::MAX, |tok| tok.mate()))
        };
        self.bindings.declare(word, start, end);
    }

    /// Declares the parameters of a list for the function's body.
    pub(super) fn declare_params(&mut self, open: usize) {
        let Some(after) = self.types.past(open) else { return };
        let mut body = after;
        if self.kind(body) == Some(K::Colon) {
            body = self.types.skip_return(body.wrapping_add(1)).unwrap_or(body);
        }
        if self.kind(body) == Some(K::Arrow) {
            body = body.wrapping_add(1);
        }
        let end = if self.kind(body) == Some(K::LBrace) {
            self.types.past(body)
        } else {
            self.expression_end(body)
        };
        let Some(end) = end else { return };
        let mut starts = true;
        let mut at = open.wrapping_add(1);
        while at < after.wrapping_sub(1) {
            let tok = self.tok(at);
            if tok.kind == K::LParen {
                // A default value, with parameters of its own: it is walked when its turn comes.
                at = self.types.past(at).unwrap_or(after);
                starts = false;
                continue;
            }
            if tok.kind == K::Word && tok.word() != 0 && starts {
                self.bindings.declare(tok.word(), small(open), small(end));
            }
            starts = matches!(tok.kind, K::Comma | K::LBrace | K::LBracket | K::Ellipsis | K::Colon);
            at = at.wrapping_add(1);
        }
    }

    /// Finds where a short arrow body without braces ends.
    pub(super) fn expression_end(&self, start: usize) -> Option<usize> {
        let mut at = start;
        for _ in 0..64 {
            match self.kind(at) {
                None | Some(K::Comma | K::Semi | K::RParen | K::RBracket | K::RBrace) => return Some(at),
                Some(K::LParen | K::LBracket | K::LBrace) => at = self.types.past(at)?,
                Some(_) => at = at.wrapping_add(1),
            }
        }
        None
    }

    pub(super) fn open_params(&mut self, at: usize) {
        self.cur = None;
        self.push(In::Params, at, None);
        self.declare_params(at);
    }
}
