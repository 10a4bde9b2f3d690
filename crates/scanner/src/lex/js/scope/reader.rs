//! One pass over the tokens of a file: what declares a name, and for which range.

use super::super::bind::name_of;
use super::super::scan::Flag;
use super::super::table::Table;
use super::super::token::{Brace, CONTROL, ESCAPED, K, Kw, NO_MATE, Tok};
use super::{Found, NONE, PENDING};

/// Patterns nested deeper name nothing that is told apart.
const DEPTH: u32 = 32;
/// Brackets that a `var` may be away from its function.
const FAR: usize = 64;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Block,
    Body,
    /// The head of a loop or a condition.
    Control,
    /// The body of an arrow function without braces.
    Arrow,
    /// A hole of a template, or a tag.
    Hole,
    Other,
}

/// What a list of declarations declares.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum List {
    None,
    Var,
    Lexical,
}

/// Where a name is declared for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Range {
    /// One variable, from a token to a token.
    Variable(u32, u32),
    /// A `var` for which it is not certain.
    Loose,
    /// No variable is told apart, yet the name is the file's own there.
    Own(u32, u32),
}

/// A bracket that is open, or an arrow's body.
#[derive(Debug, Clone, Copy)]
pub(super) struct Level {
    pub(super) kind: Kind,
    pub(super) open: u32,
    /// The first name that an arrow declares.
    first: u32,
    /// All parameters of a body's function are known.
    known: Flag,
    list: List,
    /// The next token is a name of the list.
    expects: bool,
    ternaries: u32,
}

impl Level {
    const fn new(kind: Kind, open: u32) -> Self {
        Self { kind, open, first: NONE, known: Flag::Off, list: List::None, expects: false, ternaries: 0 }
    }
}

pub(super) struct Reader<'a, 't> {
    pub(super) src: &'a [u8],
    pub(super) toks: &'t [Tok],
    pub(super) typed: Flag,
    pub(super) levels: Vec<Level>,
    pub(super) names: Table<'a, u32>,
    pub(super) found: Vec<Found>,
    /// Names of `var` that are declared where it is not certain for what range, with their tokens.
    pub(super) loose: Vec<(u32, u32)>,
    /// Where names are the file's own besides.
    pub(super) owns: Table<'a, Vec<(u32, u32)>>,
}

impl<'a, 't> Reader<'a, 't> {
    pub(super) fn new(src: &'a [u8], toks: &'t [Tok], typed: Flag) -> Self {
        Self {
            src,
            toks,
            typed,
            levels: vec![Level::new(Kind::Other, NONE)],
            names: Table::default(),
            found: Vec::new(),
            loose: Vec::new(),
            owns: Table::default(),
        }
    }

    pub(super) fn tok(&self, at: u32) -> Tok {
        self.toks.get(at as usize).copied().unwrap_or(Tok::END)
    }

    pub(super) fn kind(&self, at: u32) -> Option<K> {
        self.toks.get(at as usize).map(|tok| tok.kind)
    }

    pub(super) fn before(&self, at: u32) -> Option<Tok> {
        at.checked_sub(1).and_then(|at| self.toks.get(at as usize)).copied()
    }

    /// Gives where a bracket ends; one that is never closed does not.
    pub(super) fn end_of(&self, open: u32) -> u32 {
        let mate = self.tok(open).mate();
        if mate > open { mate } else { NO_MATE }
    }

    fn top(&mut self) -> Option<&mut Level> {
        self.levels.last_mut()
    }

    pub(super) fn token(&mut self, at: u32, tok: Tok) {
        let before = self.before(at);
        let ends = tok.newline() && before.is_some_and(ends_operand) && starts_operand(tok);
        let line = if ends { Flag::On } else { Flag::Off };
        self.end_arrows(at, tok, line);
        self.list(at, tok, before, line);
        match tok.kind {
            K::LParen => {
                if self.typed == Flag::On {
                    self.typed_head(at);
                }
                let control = tok.flags & CONTROL != 0;
                self.levels.push(Level::new(if control { Kind::Control } else { Kind::Other }, at));
                let member = self.before(at.saturating_sub(1)).is_some_and(is_dot);
                if !member && before.is_some_and(|before| keyword(before) == Kw::Catch) {
                    let end = self.end_of(at);
                    if end != NO_MATE && self.kind(end.saturating_add(1)) == Some(K::LBrace) {
                        let block = self.end_of(end.saturating_add(1));
                        self.pattern(at, Range::Variable(at, block), 0);
                    }
                }
            }
            K::LBracket => self.levels.push(Level::new(Kind::Other, at)),
            K::TplHead | K::JsxStart => self.levels.push(Level::new(Kind::Hole, at)),
            K::TplTail | K::JsxEnd => {
                self.levels.pop_if(|level| level.kind == Kind::Hole);
            }
            K::LBrace => match tok.brace() {
                Brace::Block => self.levels.push(Level::new(Kind::Block, at)),
                Brace::Body => self.body(at),
                Brace::Class | Brace::Object => self.levels.push(Level::new(Kind::Other, at)),
            },
            K::RParen | K::RBracket | K::RBrace => self.close(tok.mate()),
            K::Arrow => self.arrow(at),
            _ => {}
        }
    }

    /// Says whether neither a list of declarations nor an arrow's body is open where the reader stands.
    pub(super) fn is_quiet(&self) -> bool {
        self.levels.last().is_some_and(|top| top.kind != Kind::Arrow && top.list == List::None)
    }

    /// Leaves the brackets down to the one that opened with a token.
    fn close(&mut self, open: u32) {
        if open == NO_MATE {
            return;
        }
        while self.levels.len() > 1 {
            let Some(top) = self.levels.last().filter(|top| top.open >= open) else { return };
            let done = top.open == open && top.kind != Kind::Arrow;
            self.levels.pop();
            if done {
                return;
            }
        }
    }

    /// Ends the bodies of arrow functions that reach no further than a token. One that a line ends is not told apart.
    pub(super) fn end_arrows(&mut self, at: u32, tok: Tok, line: Flag) {
        while let Some(level) = self.levels.last_mut().filter(|level| level.kind == Kind::Arrow) {
            let ends = match tok.kind {
                K::Comma
                | K::Semi
                | K::RParen
                | K::RBracket
                | K::RBrace
                | K::TplMid
                | K::TplTail
                | K::JsxEnd => true,
                K::Colon if level.ternaries == 0 => true,
                K::Colon => {
                    level.ternaries = level.ternaries.saturating_sub(1);
                    false
                }
                K::Question => {
                    level.ternaries = level.ternaries.saturating_add(1);
                    false
                }
                _ => line == Flag::On,
            };
            if !ends {
                return;
            }
            let (first, open) = (level.first as usize, level.open);
            self.levels.pop();
            // What a line ends may go on behind it, unless a statement begins there.
            let certain = line == Flag::Off || self.begins_statement(at, tok);
            for index in first..self.found.len() {
                let own = |found: &&mut Found| found.end == PENDING && found.start >= open;
                let Some(found) = self.found.get_mut(index).filter(own) else { continue };
                let start = found.start;
                found.end = if certain { at } else { start };
                if !certain {
                    let name = found.at;
                    self.own(name, (start, at));
                }
            }
        }
    }

    /// Follows a list of declarations.
    fn list(&mut self, at: u32, tok: Tok, before: Option<Tok>, line: Flag) {
        let Some(&level) = self.levels.last() else { return };
        let kw = if before.is_some_and(is_dot) { Kw::None } else { keyword(tok) };
        let starts = matches!(kw, Kw::Var | Kw::Let | Kw::Const) && level.kind != Kind::Arrow;
        if starts && self.starts_list(at, kw) {
            let declared = before.is_some_and(|before| keyword(before) == Kw::Declare);
            if let Some(top) = self.top().filter(|_| !declared) {
                top.list = if kw == Kw::Var { List::Var } else { List::Lexical };
                top.expects = true;
            }
            return;
        }
        match kw {
            Kw::Function | Kw::Class | Kw::Enum => {
                self.own_declaration(at, kw, before, line);
                self.declaration(at, kw, before);
            }
            Kw::Import if self.levels.len() == 1 => self.import(at),
            _ => {}
        }
        if level.list == List::None {
            return;
        }
        // Types have commas of their own.
        let type_of = self.typed == Flag::On && matches!(tok.kind, K::Colon | K::Lt);
        let ends =
            tok.kind == K::Semi || type_of || starts_statement(kw) || (line == Flag::On && !level.expects);
        if let Some(top) = self.top() {
            top.expects = tok.kind == K::Comma;
            if ends {
                (top.list, top.expects) = (List::None, false);
            }
        }
        if level.expects && !ends {
            let range = match self.range(level.list) {
                Some((start, end)) => Range::Variable(start, end),
                None if level.list == List::Var => Range::Loose,
                None => match self.own_range() {
                    Some((start, end)) => Range::Own(start, end),
                    None => return,
                },
            };
            match tok.kind {
                K::Word => _ = self.declare(at, range),
                K::LBrace | K::LBracket => _ = self.pattern(at, range, 0),
                _ => {}
            }
        }
    }

    /// A function or class that is a statement of a block, and no expression.
    fn declaration(&mut self, at: u32, kw: Kw, before: Option<Tok>) {
        let Some(level) = self.levels.last() else { return };
        let first = matches!(level.kind, Kind::Block | Kind::Body) && at.checked_sub(1) == Some(level.open);
        let starts = first || before.is_some_and(|before| matches!(before.kind, K::Semi | K::RBrace));
        // A function in a block may be one of the function around it.
        let list = if kw == Kw::Class { List::Lexical } else { List::Var };
        if !starts || kw == Kw::Enum || (kw == Kw::Function && level.kind != Kind::Body) {
            return;
        }
        let next = at.saturating_add(1);
        let name = next.saturating_add(u32::from(self.kind(next) == Some(K::Op)));
        if let Some((start, end)) = self.range(list)
            && self.kind(name) == Some(K::Word)
            && keyword(self.tok(name)) != Kw::Extends
        {
            self.record(name, Range::Variable(start, end));
        }
    }

    fn starts_list(&self, at: u32, kw: Kw) -> bool {
        let next = self.tok(at.saturating_add(1));
        match next.kind {
            // A line may end a name that is spelled like the keyword.
            K::Word => {
                let operator = matches!(keyword(next), Kw::In | Kw::Of | Kw::Instanceof);
                !operator && (kw != Kw::Let || !next.newline())
            }
            K::LBrace | K::LBracket => kw != Kw::Let || !next.newline(),
            _ => false,
        }
    }

    /// Gives the range of what is declared where the reader stands; `None` where it is not certain.
    fn range(&self, list: List) -> Option<(u32, u32)> {
        let top = self.levels.last()?;
        if list == List::Lexical {
            let block = matches!(top.kind, Kind::Block | Kind::Body);
            return block.then(|| (top.open, self.end_of(top.open)));
        }
        let mut levels = self.levels.iter().rev().take(FAR);
        let body = levels.find(|level| !matches!(level.kind, Kind::Block | Kind::Control))?;
        // One that is a parameter too is that parameter: both end with the function.
        let certain = body.kind == Kind::Body && body.known == Flag::On;
        certain.then(|| (body.open, self.end_of(body.open)))
    }

    /// A function's body.
    fn body(&mut self, at: u32) {
        let end = self.end_of(at);
        let head = match self.before(at).map(|tok| tok.kind) {
            Some(K::RParen) => self.head(at.saturating_sub(1), end),
            Some(K::Arrow) => self.head(at.saturating_sub(2), end),
            _ => None,
        };
        let known = head.map_or(Flag::Off, |(_, known)| known);
        self.levels.push(Level { known, ..Level::new(Kind::Body, at) });
    }

    /// Declares the parameters that end with a token; gives where they begin, and whether all are known.
    fn head(&mut self, last: u32, end: u32) -> Option<(u32, Flag)> {
        let tok = self.tok(last);
        match tok.kind {
            K::RParen if tok.mate() < last => {
                let typed = self.typed == Flag::On
                    && self.before(tok.mate()).is_some_and(|before| before.kind == K::Colon);
                (!typed).then(|| (tok.mate(), self.pattern(tok.mate(), Range::Variable(tok.mate(), end), 0)))
            }
            K::Word => {
                self.record(last, Range::Variable(last, end));
                Some((last, Flag::On))
            }
            _ => None,
        }
    }

    /// An arrow: its body has braces, or it is what follows.
    fn arrow(&mut self, at: u32) {
        let next = self.tok(at.saturating_add(1));
        if next.kind == K::LBrace && next.brace() == Brace::Body {
            return;
        }
        let first = u32::try_from(self.found.len()).unwrap_or(NONE);
        let open = self.head(at.saturating_sub(1), PENDING).map_or(at, |(start, _)| start);
        self.levels.push(Level { first, ..Level::new(Kind::Arrow, open) });
    }

    /// Declares the names of a pattern or of a list of parameters; says whether those are all.
    pub(super) fn pattern(&mut self, open: u32, range: Range, depth: u32) -> Flag {
        let end = self.end_of(open);
        // What stands between angle brackets is a type, with commas of its own.
        if depth > DEPTH || end == NO_MATE || (self.typed == Flag::On && self.has_angles(open, end)) {
            return Flag::Off;
        }
        let mut all = Flag::On;
        let mut at = open.saturating_add(1);
        while at < end {
            let target = self.target(at, open);
            let known = match self.kind(target) {
                Some(K::Word) => self.declare(target, range),
                Some(K::LBrace | K::LBracket) => self.pattern(target, range, depth.saturating_add(1)),
                // An item that is left out.
                Some(K::Comma) => Flag::On,
                _ => Flag::Off,
            };
            if known == Flag::Off {
                all = Flag::Off;
            }
            at = self.entry_end(target, end).saturating_add(1);
        }
        all
    }

    fn has_angles(&self, open: u32, end: u32) -> bool {
        let mut at = open.saturating_add(1);
        while at < end {
            match self.kind(at) {
                Some(K::Lt) => return true,
                Some(K::LParen | K::LBracket | K::LBrace) => at = self.end_of(at),
                _ => {}
            }
            at = at.saturating_add(1);
        }
        false
    }

    /// Gives where the name of an entry stands, behind its key.
    fn target(&self, at: u32, open: u32) -> u32 {
        let keyed = self.kind(open) == Some(K::LBrace);
        let next = at.saturating_add(1);
        let colon = |at: u32| self.kind(at) == Some(K::Colon);
        match self.kind(at) {
            Some(K::Ellipsis) => next,
            Some(K::LBracket) if keyed => {
                let past = self.end_of(at).saturating_add(1);
                // A computed key names nothing.
                past.saturating_add(u32::from(colon(past)))
            }
            Some(K::Word | K::Str | K::Num) if keyed && colon(next) => next.saturating_add(1),
            _ => at,
        }
    }

    /// Finds the comma that ends an entry.
    pub(super) fn entry_end(&self, from: u32, end: u32) -> u32 {
        let mut at = from;
        let mut holes = 0_u32;
        while at < end {
            match self.kind(at) {
                Some(K::Comma) if holes == 0 => return at,
                Some(K::LParen | K::LBracket | K::LBrace) => at = self.end_of(at),
                Some(K::TplHead | K::JsxStart) => holes = holes.saturating_add(1),
                Some(K::TplTail | K::JsxEnd) => holes = holes.saturating_sub(1),
                _ => {}
            }
            at = at.saturating_add(1);
        }
        end
    }

    /// Declares a name that nothing follows but what may; says whether it is one.
    pub(super) fn declare(&mut self, at: u32, range: Range) -> Flag {
        let next = self.tok(at.saturating_add(1));
        let ends = match next.kind {
            K::Comma | K::Assign | K::Semi | K::RParen | K::RBrace | K::RBracket => true,
            K::Word => matches!(keyword(next), Kw::In | Kw::Of) || next.newline(),
            _ => false,
        };
        if ends {
            self.record(at, range);
        }
        if ends { Flag::On } else { Flag::Off }
    }

    pub(super) fn record(&mut self, at: u32, range: Range) {
        let (start, end) = match range {
            Range::Own(start, end) => return self.own(at, (start, end)),
            Range::Variable(start, end) => (start, end),
            Range::Loose => (NONE, NONE),
        };
        let next = u32::try_from(self.names.len()).unwrap_or(NONE);
        let Some(&mut name) = self.names.entry(name_of(self.src, self.tok(at)), || next) else { return };
        if range == Range::Loose {
            self.loose.push((name, at));
        } else {
            self.found.push(Found { name, at, start, end });
        }
    }
}

pub(super) const fn is_dot(tok: Tok) -> bool {
    matches!(tok.kind, K::Dot | K::QDot)
}

pub(super) fn keyword(tok: Tok) -> Kw {
    if tok.kind == K::Word && tok.flags & ESCAPED == 0 { Kw::of(tok.word()) } else { Kw::None }
}

pub(super) const fn starts_statement(kw: Kw) -> bool {
    matches!(
        kw,
        Kw::If
            | Kw::While
            | Kw::For
            | Kw::Switch
            | Kw::Return
            | Kw::Throw
            | Kw::Try
            | Kw::Do
            | Kw::Break
            | Kw::Continue
            | Kw::Case
            | Kw::Else
            | Kw::Export
            | Kw::Debugger
    )
}

/// Says whether a line may end a statement behind a token.
fn ends_operand(tok: Tok) -> bool {
    match tok.kind {
        K::Private
        | K::Num
        | K::Str
        | K::Tpl
        | K::TplTail
        | K::Regex
        | K::RParen
        | K::RBracket
        | K::RBrace
        | K::JsxEnd
        | K::IncDec
        | K::Bang => true,
        K::Word => {
            !matches!(keyword(tok), Kw::In | Kw::Instanceof | Kw::Typeof | Kw::New | Kw::Void | Kw::Delete)
        }
        _ => false,
    }
}

/// Says whether a token cannot go on with what stands in front of it.
fn starts_operand(tok: Tok) -> bool {
    match tok.kind {
        K::Word => !matches!(keyword(tok), Kw::In | Kw::Instanceof),
        K::Private
        | K::Num
        | K::Str
        | K::Regex
        | K::LBrace
        | K::IncDec
        | K::At
        | K::Ellipsis
        | K::Bang
        | K::JsxStart => true,
        _ => false,
    }
}

/// Says whether a token neither opens, closes nor declares anything.
#[inline]
pub(super) fn is_quiet(tok: Tok) -> bool {
    match tok.kind {
        K::Word => tok.word() == 0 || keyword(tok) == Kw::None,
        K::LParen
        | K::RParen
        | K::LBracket
        | K::RBracket
        | K::LBrace
        | K::RBrace
        | K::TplHead
        | K::TplTail
        | K::JsxStart
        | K::JsxEnd
        | K::Arrow => false,
        _ => true,
    }
}
