//! Where a name is certainly the file's own, also where it is not told which of its variables it is.
//!
//! A range may end before the name's does: what is behind it is then taken for a name of the host. It never ends later.

use super::super::bind::name_of;
use super::super::scan::Flag;
use super::super::token::{Brace, K, Kw, NO_MATE, Tok};
use super::super::types::Types;
use super::NONE;
use super::reader::{Kind, Range, Reader, keyword, starts_statement};

/// Tokens of a statement without braces that are looked through, and of the clause of an import.
const SHORT: u32 = 64;

impl Reader<'_, '_> {
    /// Says that a name is the file's own between two tokens.
    pub(super) fn own(&mut self, at: u32, range: (u32, u32)) {
        if range.0 < range.1
            && let Some(ranges) = self.owns.entry(name_of(self.src, self.tok(at)), Vec::new)
        {
            ranges.push(range);
        }
    }

    const fn types(&self) -> Types<'_> {
        Types { src: self.src, toks: self.toks }
    }

    fn kw(&self, at: u32) -> Kw {
        self.toks.get(at as usize).map_or(Kw::None, |tok| keyword(*tok))
    }

    fn past(&self, open: u32) -> Option<u32> {
        let end = self.end_of(open);
        (end != NO_MATE).then(|| end.saturating_add(1))
    }

    /// Says whether a token on a new line certainly begins a statement: it can go on with nothing.
    pub(super) fn begins_statement(&self, at: u32, tok: Tok) -> bool {
        let kw = keyword(tok);
        let starts = starts_statement(kw)
            || matches!(kw, Kw::Const | Kw::Let | Kw::Var | Kw::Function | Kw::Class | Kw::Import);
        let before = self.before(at).map_or(Kw::None, keyword);
        starts && matches!(before, Kw::None | Kw::This | Kw::Null | Kw::True | Kw::False)
    }

    /// Gives the range of what is declared by `let` or `const` where it is no block of its own: the file, or a loop.
    pub(super) fn own_range(&self) -> Option<(u32, u32)> {
        if self.levels.len() == 1 {
            return Some((0, NONE));
        }
        let top = self.levels.last().filter(|top| top.kind == Kind::Control)?;
        let mut before = top.open.checked_sub(1)?;
        if self.kw(before) == Kw::Await {
            before = before.checked_sub(1)?;
        }
        (self.kw(before) == Kw::For).then_some(())?;
        Some((top.open, self.statement_end(self.past(top.open)?)))
    }

    /// Gives a token up to which one statement, or the body of an arrow, certainly goes.
    fn statement_end(&self, from: u32) -> u32 {
        if self.kind(from) == Some(K::LBrace) {
            let end = self.end_of(from);
            return if end == NO_MATE { from } else { end };
        }
        let mut at = from;
        while at < from.saturating_add(SHORT) {
            match self.kind(at) {
                None | Some(K::Semi | K::Comma | K::Colon | K::RParen | K::RBracket | K::RBrace) => {
                    return at;
                }
                Some(_) if at > from && self.tok(at).newline() => return at,
                Some(K::LParen | K::LBracket | K::LBrace) => match self.past(at) {
                    Some(past) => at = past,
                    None => return at,
                },
                Some(K::TplHead | K::JsxStart) => return at,
                Some(_) => at = at.saturating_add(1),
            }
        }
        at
    }

    /// A function, class or enumeration: in itself its name is its own, and so it is around it where it is a statement.
    pub(super) fn own_declaration(&mut self, at: u32, kw: Kw, before: Option<Tok>, line: Flag) {
        let next = at.saturating_add(1);
        let name = next.saturating_add(u32::from(self.kind(next) == Some(K::Op)));
        if self.kind(name) != Some(K::Word) || self.kw(name) == Kw::Extends {
            return;
        }
        let first = before.is_none() || line == Flag::On;
        let starts = first
            || before.is_some_and(|before| {
                matches!(before.kind, K::Semi | K::RBrace)
                    || matches!(keyword(before), Kw::Export | Kw::Default)
            });
        let (behind, declared) = (name.saturating_add(1), at.checked_sub(1).map(|at| self.kw(at)));
        if declared == Some(Kw::Declare) {
            return;
        }
        if starts && self.levels.len() == 1 {
            self.own(name, (0, NONE));
        }
        let body = match kw {
            Kw::Function => self.body_of(behind),
            Kw::Enum => (self.kind(behind) == Some(K::LBrace)).then_some(behind),
            _ => self.class_body(behind),
        };
        let Some(body) = body else { return };
        let end = self.end_of(body);
        if end == NO_MATE {
            return;
        }
        self.own(name, (name, end));
        if kw == Kw::Function && before.is_some_and(expects_operand) {
            // What is no statement names itself for itself alone.
            self.record(name, Range::Variable(name, end));
        }
        if kw == Kw::Enum
            && starts
            && let Some(top) = self.levels.last().filter(|top| matches!(top.kind, Kind::Block | Kind::Body))
        {
            let range = (top.open, self.end_of(top.open));
            self.own(name, range);
        }
    }

    /// Gives the body of a class behind its name.
    fn class_body(&self, from: u32) -> Option<u32> {
        let mut at = from;
        while at < from.saturating_add(SHORT) {
            match self.kind(at)? {
                K::LBrace if self.tok(at).brace() == Brace::Class => return Some(at),
                K::LParen | K::LBracket | K::LBrace => at = self.past(at)?,
                K::Semi => return None,
                _ => at = at.saturating_add(1),
            }
        }
        None
    }

    /// Gives the body of a function whose parameters begin at a token, or the first token of an arrow's.
    fn body_of(&self, open: u32) -> Option<u32> {
        let mut open = open;
        if self.typed == Flag::On && self.kind(open) == Some(K::Lt) {
            open = u32::try_from(self.types().angles(open as usize, 0)?).ok()?;
        }
        (self.kind(open) == Some(K::LParen)).then_some(())?;
        let mut at = self.past(open)?;
        if self.typed == Flag::On && self.kind(at) == Some(K::Colon) {
            at = u32::try_from(self.types().skip_return(at.saturating_add(1) as usize)?).ok()?;
        }
        match self.kind(at)? {
            K::Arrow => Some(at.saturating_add(1)),
            K::LBrace if self.tok(at).brace() == Brace::Body => Some(at),
            _ => None,
        }
    }

    /// Parameters with types.
    pub(super) fn typed_head(&mut self, open: u32) {
        let Some(body) = self.body_of(open) else { return };
        let (range, end) = ((open, self.statement_end(body)), self.end_of(open));
        let mut at = open.saturating_add(1);
        while at < end {
            while matches!(
                self.kw(at),
                Kw::Private | Kw::Public | Kw::Protected | Kw::Readonly | Kw::Override
            ) && self.kind(at.saturating_add(1)) == Some(K::Word)
            {
                at = at.saturating_add(1);
            }
            at = at.saturating_add(u32::from(self.kind(at) == Some(K::Ellipsis)));
            let name = at;
            match self.kind(at) {
                Some(K::Word) => at = at.saturating_add(1),
                Some(K::LBrace | K::LBracket) => {
                    self.pattern(at, Range::Own(range.0, range.1), 0);
                    let Some(past) = self.past(at) else { return };
                    at = past;
                }
                _ => return,
            }
            at = at.saturating_add(u32::from(self.kind(at) == Some(K::Question)));
            if self.kind(at) == Some(K::Colon) {
                let Some(past) = self.types().skip(at.saturating_add(1) as usize) else { return };
                at = u32::try_from(past).unwrap_or(NONE);
            }
            let named = self.kind(name) == Some(K::Word);
            match self.kind(at) {
                Some(K::Comma | K::RParen | K::Assign) if named => self.own(name, range),
                Some(K::Comma | K::RParen) => {}
                _ => return,
            }
            if self.kind(at) == Some(K::Assign) {
                let comma = self.entry_end(at, end);
                // Types among the default's have commas of their own.
                if (at..comma).any(|at| self.kind(at) == Some(K::Lt)) {
                    return;
                }
                at = comma;
            }
            at = at.saturating_add(1);
        }
    }

    /// The names of an import are the file's own; those of types are erased.
    pub(super) fn import(&mut self, start: u32) {
        let mut at = start.saturating_add(1);
        let next = at.saturating_add(1);
        let erased = match self.kind(next) {
            Some(K::LBrace | K::Op) => true,
            Some(K::Word) => self.kw(next) != Kw::From || self.kw(next.saturating_add(1)) == Kw::From,
            _ => false,
        };
        if self.kw(at) == Kw::Type && erased {
            return;
        }
        let whole = (0, NONE);
        for _ in 0..SHORT {
            match self.kind(at) {
                Some(K::Word) => {
                    let next = self.kind(at.saturating_add(1));
                    if self.kw(at) == Kw::From && next == Some(K::Str) {
                        return;
                    }
                    if matches!(next, Some(K::Comma | K::Word | K::Assign)) && self.kw(at) != Kw::As {
                        self.own(at, whole);
                    }
                    at = at.saturating_add(1);
                }
                Some(K::LBrace) => {
                    let Some(past) = self.past(at) else { return };
                    self.import_names(at.saturating_add(1), past.saturating_sub(1));
                    at = past;
                }
                Some(K::Op | K::Comma) => at = at.saturating_add(1),
                _ => return,
            }
        }
    }

    fn import_names(&mut self, from: u32, end: u32) {
        let mut at = from;
        while at < end {
            let comma = self.entry_end(at, end);
            // A type is `type a` or `type a as b`; `type as b` is a name.
            let words = comma.saturating_sub(at);
            let erased = self.kw(at) == Kw::Type
                && match words {
                    2 | 4 => true,
                    3 => self.kw(at.saturating_add(1)) == Kw::As && self.kw(at.saturating_add(2)) == Kw::As,
                    _ => false,
                };
            let local = comma.saturating_sub(1);
            if !erased && local >= at && self.kind(local) == Some(K::Word) {
                self.own(local, (0, NONE));
            }
            at = comma.saturating_add(1);
        }
    }
}

/// Says whether an operand, and no statement, follows a token.
fn expects_operand(before: Tok) -> bool {
    match before.kind {
        K::LParen
        | K::LBracket
        | K::Comma
        | K::Assign
        | K::EitherAssign
        | K::OpAssign
        | K::Equality
        | K::Either
        | K::Question
        | K::Bang
        | K::Plus
        | K::Op
        | K::Arrow
        | K::Ellipsis => true,
        K::Word => matches!(
            keyword(before),
            Kw::Return
                | Kw::Typeof
                | Kw::Void
                | Kw::New
                | Kw::Throw
                | Kw::Await
                | Kw::Yield
                | Kw::Delete
                | Kw::In
        ),
        _ => false,
    }
}
