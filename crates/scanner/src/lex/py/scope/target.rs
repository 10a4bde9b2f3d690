//! Names that are bound by assignments, `as`, and patterns.

use super::read::{NO, Of, Reader};
use crate::lex::py::token::{K, Kw, Tok};

/// Says whether a value ends with a token, so that a bracket behind it is no pattern.
fn ends_value(tok: Tok) -> bool {
    match tok.kind {
        K::Name => matches!(Kw::of(tok.aux), Kw::None | Kw::Print),
        K::Num | K::Str | K::Tail => true,
        K::Op => tok.is_op(b')') || tok.is_op(b']') || tok.is_op(b'}'),
        K::Head | K::Mid | K::Line => false,
    }
}

const fn opens(tok: Tok) -> bool {
    tok.is_op(b'(') || tok.is_op(b'[') || tok.is_op(b'{')
}

const fn closes(tok: Tok) -> bool {
    tok.is_op(b')') || tok.is_op(b']') || tok.is_op(b'}')
}

impl Reader<'_, '_> {
    /// Gives the tokens of the names that targets between two tokens bind.
    pub(super) fn targets(&self, from: u32, to: u32) -> Vec<u32> {
        let mut names = Vec::new();
        // Brackets inside one that is no pattern.
        let mut inside = 0_u32;
        for at in from..to {
            let Some(tok) = self.tok(at) else { break };
            let before = at.checked_sub(1).filter(|before| *before >= from).and_then(|at| self.tok(at));
            if opens(tok) {
                if inside > 0 || tok.is_op(b'{') || before.is_some_and(ends_value) {
                    inside = inside.saturating_add(1);
                }
            } else if closes(tok) {
                inside = inside.saturating_sub(1);
            } else if inside == 0 && self.id(at).is_some() {
                let next = at.saturating_add(1);
                let ends = next >= to || self.is_op(next, b',') || self.tok(next).is_some_and(closes);
                let starts = before.is_none_or(|before| {
                    before.is_op(b',') || before.is_op(b'(') || before.is_op(b'[') || before.is_op(b'*')
                });
                if ends && starts {
                    names.push(at);
                }
            }
        }
        names
    }

    /// A plain `=`.
    pub(super) fn assigned(&mut self, at: u32) {
        let (from, to) = self.statement.annotated.take().unwrap_or((self.statement.part, at));
        for target in self.targets(from, to) {
            if let Some(name) = self.bind(target, self.scope(), Of::Own) {
                self.bound.push(name);
            }
        }
        self.statement.part = at.saturating_add(1);
    }

    /// `+=` and its like.
    pub(super) fn augmented(&mut self, at: u32) {
        let from = self.statement.part;
        if from.saturating_add(1) == at {
            self.bind(from, self.scope(), Of::Own);
        }
    }

    /// `as` in a `with` or an `except`.
    pub(super) fn named_as(&mut self, at: u32) {
        let next = at.saturating_add(1);
        let scope = self.scope();
        match self.statement.kw {
            Kw::Except if self.levels.is_empty() => {
                if let Some(name) = self.bind(next, scope, Of::Own) {
                    self.body.push(name);
                }
            }
            Kw::With | Kw::Async if self.levels.len() <= 1 => {
                let to = self.item_end(next);
                for target in self.targets(next, to) {
                    if let Some(name) = self.bind(target, scope, Of::Own) {
                        self.head.push(name);
                    }
                }
            }
            _ => {}
        }
    }

    /// Gives where a target ends: at a comma, a colon, or a bracket that it did not open.
    fn item_end(&self, from: u32) -> u32 {
        let mut depth = 0_u32;
        let mut at = from;
        while let Some(tok) = self.tok(at) {
            if opens(tok) {
                depth = depth.saturating_add(1);
            } else if closes(tok) {
                let Some(less) = depth.checked_sub(1) else { break };
                depth = less;
            } else if tok.kind == K::Line || (depth == 0 && (tok.is_op(b',') || tok.is_op(b':'))) {
                break;
            }
            at = at.saturating_add(1);
        }
        at
    }

    /// The names that a `case` captures.
    pub(super) fn captures(&mut self, from: u32) {
        let scope = self.scope();
        let subject = self.blocks.last().map_or(NO, |block| block.subject);
        self.found.subjects.push((from.saturating_sub(1), subject));
        let mut depth = 0_u32;
        let mut at = from;
        while let Some(tok) = self.tok(at) {
            if opens(tok) {
                depth = depth.saturating_add(1);
            } else if closes(tok) {
                depth = depth.saturating_sub(1);
            } else if tok.kind == K::Line || (depth == 0 && (tok.is_op(b':') || self.kw(at) == Kw::If)) {
                break;
            } else if self.id(at).is_some() {
                let next = self.tok(at.saturating_add(1));
                let is_value =
                    next.is_some_and(|next| next.is_op(b'.') || next.is_op(b'(') || next.is_op(b'='));
                if !is_value
                    && crate::lex::py::text_of(self.src, tok) != b"_"
                    && let Some(name) = self.bind(at, scope, Of::Own)
                {
                    self.body.push(name);
                    self.found.subjects.push((at, subject));
                }
            }
            at = at.saturating_add(1);
        }
    }

    /// The names behind `del`.
    pub(super) fn deleted(&mut self, from: u32) {
        let scope = self.scope();
        let mut to = from;
        while self.tok(to).is_some_and(|tok| tok.kind != K::Line && !tok.is_op(b';')) {
            to = to.saturating_add(1);
        }
        for target in self.targets(from, to) {
            if let Some(name) = self.bind(target, scope, Of::Own) {
                self.found.undone.push((scope, name));
            }
        }
        // `del module.name` may take away a name of this file.
        for at in from..to {
            let member = at.checked_sub(1).is_some_and(|before| self.is_op(before, b'.'));
            if member && let Some(tok) = self.tok(at).filter(|tok| tok.kind == K::Name) {
                let name = crate::lex::py::bind::name_of(self.src, tok);
                if let Some(name) = self.found.names.find(&name) {
                    self.found.undone.push((super::read::FILE, name));
                }
            }
        }
    }

    /// The names behind `global` and `nonlocal`.
    pub(super) fn shared(&mut self, from: u32, of: Of) {
        let scope = self.scope();
        let mut at = from;
        while self.bind(at, scope, of).is_some() {
            at = at.saturating_add(1);
            if !self.is_op(at, b',') {
                break;
            }
            at = at.saturating_add(1);
        }
    }

    /// Declares type parameters in a scope: names behind the bracket that opens at a token.
    pub(super) fn type_params(&mut self, open: u32, scope: u32) {
        let mut depth = 0_u32;
        let mut at = open;
        while let Some(tok) = self.tok(at).filter(|tok| tok.kind != K::Line) {
            if opens(tok) {
                depth = depth.saturating_add(1);
            } else if closes(tok) {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    break;
                }
            } else if depth == 1 && scope != NO {
                let first = at.checked_sub(1).and_then(|before| self.tok(before)).is_some_and(|before| {
                    before.is_op(b'[')
                        || before.is_op(b',')
                        || before.is_op(b'*')
                        || before.aux == crate::lex::py::token::pair(b'*', b'*')
                });
                if first && let Some(name) = self.bind(at, scope, Of::Own) {
                    self.found.params.push((at, scope, name));
                }
            }
            at = at.saturating_add(1);
        }
    }
}
