//! Tokens to names: one walk over the expressions of a file, with an explicit stack of brackets.
//!
//! It is no parser of valid programs: it follows member chains, calls, assignments and aliases, and where it cannot
//! tell what something is, that something is code.

use super::bind::{Bindings, Val, name_of};
use super::call::{Callee, WalkNodes};
use super::code::body;
use super::escape;
use super::scan::{Dialect, Flag, Scanned};
use super::token::{Brace, CONTROL, ESCAPED, EXPRESSION, K, Kw, NO_MATE, Tok};
use super::types::Types;
use crate::names::{Names, Node, ROOT, Word};
use crate::sink::{FirstArg, Own, Sink};
use crate::view::How;

/// Rounds until aliases that are used before they are bound have settled.
const ROUNDS: u32 = 6;

pub(super) fn walk(src: &[u8], scanned: &Scanned, dialect: Dialect, names: &Names, sink: &mut Sink<'_>) {
    let mut bindings = Bindings::default();
    let nodes = WalkNodes::new(names);
    let before = (sink.hits.len(), sink.embedded.len(), sink.named.len());
    for _ in 0..ROUNDS {
        sink.hits.truncate(before.0);
        sink.embedded.truncate(before.1);
        sink.named.truncate(before.2);
        let changes = bindings.changes();
        let mut walk = Walk::new(src, &scanned.toks, dialect, names, &nodes, bindings, sink);
        walk.run();
        bindings = walk.bindings;
        if bindings.changes() == changes {
            break;
        }
    }
}

/// How a chain's last member passes its arguments on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Via {
    #[default]
    Direct,
    Call,
    Apply,
    Bind,
}

/// A word in front of an operand.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Prefix {
    #[default]
    None,
    New,
    Typeof,
    Delete,
    Decorator,
}

/// The operand that is being read: a chain of members and calls.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Cur {
    pub(super) val: Val,
    /// Its first and last token.
    pub(super) first: u32,
    pub(super) last: u32,
    pub(super) how: How,
    pub(super) own: Own,
    pub(super) via: Via,
    pub(super) prefix: Prefix,
    /// What it is, for targets and calls.
    pub(super) shape: Shape,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Shape {
    /// Anything else.
    #[default]
    Other,
    /// One identifier.
    Name,
    /// An object or array literal, which may be a pattern.
    Pattern,
    /// A constant text.
    Text,
    /// Joined with a text.
    Joined,
    /// The result of a call.
    Called,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum In {
    Group,
    Call,
    Index,
    Array,
    Object,
    Block,
    Body,
    Class,
    Params,
    Hole,
    Jsx,
    Control,
}

/// One argument of a call, as far as rules ask.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Arg {
    pub(super) first: FirstArg,
    pub(super) val: Val,
}

#[derive(Debug, Clone, Copy)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "four facts of an open bracket that go on and off on their own"
)]
pub(super) struct Frame {
    kind: In,
    open: u32,
    /// What is called or indexed.
    base: Option<Cur>,
    /// The expression so far: the operands that may be its value.
    value: Val,
    joined: bool,
    operators: u32,
    function: bool,
    ternaries: u32,
    targets: u32,
    /// After a key's colon or a field's equals sign.
    in_value: bool,
    /// After `const`, `let` or `var`, before the initializer.
    declares: bool,
    args: [Arg; 3],
    count: u32,
    texts: u32,
}

impl Frame {
    const fn new(kind: In, open: u32, base: Option<Cur>, targets: u32, texts: u32) -> Self {
        Self {
            kind,
            open,
            base,
            value: Val { node: 0, star: 0, text: 0 },
            joined: false,
            operators: 0,
            function: false,
            ternaries: 0,
            targets,
            in_value: false,
            declares: false,
            args: [Arg { first: FirstArg::None, val: Val { node: 0, star: 0, text: 0 } }; 3],
            count: 0,
            texts,
        }
    }
}

pub(super) struct Walk<'a, 's, 'r> {
    pub(super) src: &'a [u8],
    pub(super) toks: &'a [Tok],
    pub(super) types: Types<'a>,
    typed: bool,
    pub(super) names: &'a Names,
    pub(super) nodes: &'a WalkNodes,
    pub(super) bindings: Bindings<'a>,
    pub(super) sink: &'s mut Sink<'r>,
    cur: Option<Cur>,
    prefix: Prefix,
    prefix_at: u32,
    frames: Vec<Frame>,
    targets: Vec<Cur>,
    /// Constant texts among arguments: token indices.
    pub(super) texts: Vec<u32>,
    functions: u32,
}

fn small(value: usize) -> u32 {
    u32::try_from(value).unwrap_or(u32::MAX)
}

impl<'a, 's, 'r> Walk<'a, 's, 'r> {
    fn new(
        src: &'a [u8],
        toks: &'a [Tok],
        dialect: Dialect,
        names: &'a Names,
        nodes: &'a WalkNodes,
        bindings: Bindings<'a>,
        sink: &'s mut Sink<'r>,
    ) -> Self {
        Self {
            src,
            toks,
            types: Types { src, toks },
            typed: dialect.types == Flag::On,
            names,
            nodes,
            bindings,
            sink,
            cur: None,
            prefix: Prefix::None,
            prefix_at: 0,
            frames: vec![Frame::new(In::Block, NO_MATE, None, 0, 0)],
            targets: Vec::new(),
            texts: Vec::new(),
            functions: 0,
        }
    }

    fn run(&mut self) {
        let mut at = 0;
        while let Some(&tok) = self.toks.get(at) {
            let next = self.token(at, tok);
            at = next.max(at.wrapping_add(1));
        }
        self.end_expression();
        while self.frames.len() > 1 {
            self.close(self.toks.len().wrapping_sub(1));
        }
        self.end_expression();
    }

    pub(super) const fn is_typed(&self) -> bool {
        self.typed
    }

    pub(super) fn tok(&self, at: usize) -> Tok {
        self.toks.get(at).copied().unwrap_or(Tok::END)
    }

    pub(super) fn kind(&self, at: usize) -> Option<K> {
        self.toks.get(at).map(|tok| tok.kind)
    }

    pub(super) fn kw(&self, at: usize) -> Kw {
        self.toks
            .get(at)
            .filter(|tok| tok.kind == K::Word && tok.flags & ESCAPED == 0)
            .map_or(Kw::None, |tok| Kw::of(tok.aux))
    }

    fn top(&mut self) -> Option<&mut Frame> {
        self.frames.last_mut()
    }

    fn top_kind(&self) -> In {
        self.frames.last().map_or(In::Block, |frame| frame.kind)
    }

    fn token(&mut self, at: usize, tok: Tok) -> usize {
        match tok.kind {
            K::Word => return self.word(at, tok),
            K::Private | K::Num | K::Regex => self.operand(at, Val::default(), Shape::Other, How::NONE),
            K::Tpl if self.cur.is_some() => self.tagged(at),
            K::Str | K::Tpl => self.operand(
                at,
                Val { text: small(at).wrapping_add(1), ..Val::default() },
                Shape::Text,
                How::NONE,
            ),
            K::TplHead => {
                let base = self.cur.take();
                self.push(In::Hole, at, base);
            }
            K::TplMid => self.end_expression(),
            K::TplTail => self.end_template(at),
            K::JsxStart => {
                self.end_operand();
                self.push(In::Jsx, at, None);
            }
            K::JsxText => {}
            K::JsxEnd => {
                self.end_expression();
                self.close(at);
            }
            K::LParen => self.open_paren(at, tok),
            K::LBracket => {
                let base = self.cur.take();
                self.push(if base.is_some() { In::Index } else { In::Array }, at, base);
            }
            K::LBrace => self.open_brace(at, tok),
            K::RParen | K::RBracket | K::RBrace => self.close(at),
            K::Dot | K::QDot => return self.dot(at),
            K::Ellipsis | K::At => {
                self.end_operand();
                if tok.kind == K::At {
                    (self.prefix, self.prefix_at) = (Prefix::Decorator, small(at));
                }
            }
            K::Semi | K::Comma => self.separator(tok.kind),
            K::Colon => return self.colon(at),
            K::Question => self.question(at),
            K::Either => self.either(),
            K::Assign | K::EitherAssign => self.assign(at),
            K::OpAssign | K::IncDec => self.update(tok.kind),
            K::Bang => self.bang(at),
            K::Lt => return self.less(at),
            K::Arrow => {
                self.cur = None;
                if let Some(frame) = self.top() {
                    frame.function = true;
                }
            }
            K::Plus | K::Op | K::Gt | K::Equality => self.operator(tok.kind),
        }
        at.wrapping_add(1)
    }

    /// Takes an operand. One right after another starts a new statement.
    fn operand(&mut self, at: usize, val: Val, shape: Shape, how: How) {
        if self.cur.is_some() {
            self.end_statement();
        }
        let first = if self.prefix == Prefix::None { small(at) } else { self.prefix_at };
        let prefix = core::mem::take(&mut self.prefix);
        self.cur = Some(Cur { val, first, last: small(at), how, shape, prefix, ..Cur::default() });
    }

    fn word(&mut self, at: usize, tok: Tok) -> usize {
        let kw = self.kw(at);
        if matches!(self.top_kind(), In::Object | In::Class) && self.is_key(at) {
            self.end_expression();
            if let Some(frame) = self.top() {
                frame.in_value = false;
            }
            return at.wrapping_add(1);
        }
        match kw {
            Kw::None | Kw::This => {}
            _ => {
                if let Some(next) = self.keyword(at, kw) {
                    return next;
                }
            }
        }
        let (val, own, how) = self.root(at, tok, kw);
        self.operand(at, val, Shape::Name, how);
        if let Some(cur) = &mut self.cur {
            cur.own = own;
        }
        at.wrapping_add(1)
    }

    /// Says whether a word in an object or class is a key: before a colon, a parameter list or another key.
    fn is_key(&self, at: usize) -> bool {
        let Some(frame) = self.frames.last() else { return false };
        if frame.in_value && !(frame.kind == In::Class && self.cur.is_some()) {
            return false;
        }
        match self.kind(at.wrapping_add(1)) {
            Some(K::Colon) => frame.ternaries == 0,
            Some(K::LParen) => true,
            Some(K::Word | K::Str | K::Private | K::LBracket) if frame.kind == In::Class => true,
            Some(K::Assign | K::Question | K::Bang | K::Semi) => frame.kind == In::Class,
            Some(K::Lt) => self.typed,
            _ => false,
        }
    }

    /// Resolves the first name of a chain.
    fn root(&mut self, at: usize, tok: Tok, kw: Kw) -> (Val, Own, How) {
        let how = if tok.flags & ESCAPED == 0 { How::NONE } else { How::ESCAPE };
        if kw == Kw::This {
            let val = if self.functions == 0 { Val::node(ROOT) } else { Val::default() };
            return (val, Own::No, how);
        }
        let word = Word::try_from(tok.aux).unwrap_or(0);
        let declared = word != 0 && self.bindings.is_declared(word, small(at));
        let own = if declared { Own::Declared } else { Own::No };
        if self.nodes.is_global(word) || (self.nodes.is_weak_global(word) && !declared) {
            return (Val::node(ROOT), own, how);
        }
        let node = self.names.global(word);
        // A global that no rule weighs may be the file's own name.
        let weighs = Self::weight(self.names, Val::node(node)) > 0 && !self.nodes.is_module_word(word);
        if weighs {
            return (Val::node(node), own, how);
        }
        let alias = self.bindings.get(&name_of(self.src, tok));
        (alias.filter(|val| node == 0 || val.is_known()).unwrap_or(Val::node(node)), own, how)
    }

    /// Handles a keyword; `None` where it is used as a name.
    fn keyword(&mut self, at: usize, kw: Kw) -> Option<usize> {
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
            Kw::In | Kw::Instanceof => self.operator(K::Equality),
            Kw::Of if self.cur.is_some() => {
                self.operator(K::Equality);
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
            | Kw::Break
            | Kw::Continue
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

    /// Says whether `async` at the token before starts a function.
    fn starts_function(&self, next: usize) -> bool {
        match self.kind(next) {
            Some(K::Word) => !self.tok(next).newline(),
            Some(K::LParen) => self.types.is_arrow_head(next),
            _ => false,
        }
    }

    fn starts_binding(&self, next: usize) -> bool {
        matches!(self.kind(next), Some(K::Word | K::LBrace | K::LBracket))
    }

    /// Steps over a cast. `as const` is one too.
    fn skip_cast(&mut self, next: usize) -> usize {
        let end = self.types.skip(next).unwrap_or(next);
        if let Some(cur) = &mut self.cur {
            cur.last = small(end.wrapping_sub(1));
        }
        end
    }

    fn skip_heritage(&self, start: usize) -> usize {
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
    fn type_statement(&mut self, at: usize, kw: Kw) -> Option<usize> {
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
    fn skip_declare(&self, start: usize) -> usize {
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
    fn function_head(&mut self, at: usize, kw: Kw) -> usize {
        self.end_operand();
        let mut next = at.wrapping_add(1);
        if self.kind(next) == Some(K::Op) {
            next = next.wrapping_add(1);
        }
        let tok = self.tok(next);
        if self.kind(next) == Some(K::Word) && self.kw(next) != Kw::Extends {
            self.declare_here(tok);
            next = next.wrapping_add(1);
        }
        if self.typed && self.kind(next) == Some(K::Lt) {
            next = self.types.angles(next, 0).unwrap_or(next);
        }
        if kw == Kw::Function && self.kind(next) == Some(K::LParen) {
            self.open_params(next);
            next = next.wrapping_add(1);
        }
        next
    }

    /// Says that a word is declared in the bracket that is open.
    pub(super) fn declare_here(&mut self, tok: Tok) {
        let Ok(word) = Word::try_from(tok.aux) else { return };
        if word == 0 {
            return;
        }
        let open =
            self.frames.iter().rev().find(|frame| matches!(frame.kind, In::Block | In::Body | In::Class));
        let open = open.map_or(NO_MATE, |frame| frame.open);
        let (start, end) = if open == NO_MATE {
            (0, u32::MAX)
        } else {
            (open, self.toks.get(open as usize).map_or(u32::MAX, |tok| tok.aux))
        };
        self.bindings.declare(word, start, end);
    }

    fn push(&mut self, kind: In, at: usize, base: Option<Cur>) {
        let (targets, texts) = (small(self.targets.len()), small(self.texts.len()));
        self.frames.push(Frame::new(kind, small(at), base, targets, texts));
    }

    fn open_params(&mut self, at: usize) {
        self.cur = None;
        self.push(In::Params, at, None);
        self.declare_params(at);
    }

    /// Declares the parameters of a list for the function's body.
    fn declare_params(&mut self, open: usize) {
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
        for at in open.wrapping_add(1)..after.wrapping_sub(1) {
            let tok = self.tok(at);
            if tok.kind == K::Word && tok.aux != 0 && starts {
                self.bindings.declare(Word::try_from(tok.aux).unwrap_or(0), small(open), small(end));
            }
            starts =
                matches!(tok.kind, K::Comma | K::LBrace | K::LBracket | K::LParen | K::Ellipsis | K::Colon);
        }
    }

    /// Finds where a short arrow body without braces ends.
    fn expression_end(&self, start: usize) -> Option<usize> {
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

    fn open_paren(&mut self, at: usize, tok: Tok) {
        if tok.flags & CONTROL != 0 {
            self.end_operand();
            self.push(In::Control, at, None);
            return;
        }
        if let Some(base) = self.cur.take() {
            self.push(In::Call, at, Some(base));
            return;
        }
        let before = at.wrapping_sub(1);
        let keyed = matches!(self.top_kind(), In::Object | In::Class)
            && !self.frames.last().is_some_and(|f| f.in_value);
        let method = keyed
            && matches!(
                self.kind(before),
                Some(K::Word | K::Str | K::Num | K::Private | K::RBracket | K::Gt)
            );
        let arrow = self.types.is_arrow_head(at);
        if method || arrow || self.kw(before) == Kw::Catch {
            self.open_params(at);
        } else {
            self.push(In::Group, at, None);
        }
    }

    fn open_brace(&mut self, at: usize, tok: Tok) {
        let kind = match tok.brace {
            Brace::Object if self.top_kind() == In::Jsx => In::Group,
            Brace::Object => In::Object,
            Brace::Class => In::Class,
            Brace::Body => In::Body,
            Brace::Block => In::Block,
        };
        if kind == In::Object || kind == In::Group {
            if self.cur.is_some() {
                self.end_statement();
            }
        } else {
            self.end_operand();
        }
        if kind == In::Body {
            self.functions = self.functions.wrapping_add(1);
        }
        self.push(kind, at, None);
    }

    fn separator(&mut self, kind: K) {
        self.end_expression();
        let Some(frame) = self.top() else { return };
        if matches!(frame.kind, In::Object | In::Class | In::Params) {
            frame.in_value = false;
        }
        if kind == K::Semi {
            frame.declares = false;
            frame.ternaries = 0;
        }
    }

    fn question(&mut self, at: usize) {
        let next = self.kind(at.wrapping_add(1));
        let optional =
            matches!(next, Some(K::Colon | K::RParen | K::Comma | K::Assign | K::Semi | K::RBrace));
        if self.typed && optional {
            return;
        }
        self.end_operand();
        if let Some(frame) = self.top() {
            frame.ternaries = frame.ternaries.wrapping_add(1);
            frame.value = Val::default();
            frame.operators = frame.operators.wrapping_add(1);
        }
    }

    fn either(&mut self) {
        self.end_operand();
        if let Some(frame) = self.top() {
            frame.operators = frame.operators.wrapping_add(1);
        }
    }

    fn operator(&mut self, kind: K) {
        let joined = self.cur.is_some_and(|cur| matches!(cur.shape, Shape::Text | Shape::Joined));
        if kind == K::Equality {
            // Compared, not passed on.
            self.cur = None;
        }
        self.end_operand();
        if let Some(frame) = self.top() {
            frame.value = Val::default();
            frame.operators = frame.operators.wrapping_add(1);
            frame.joined |= joined && kind == K::Plus;
        }
    }

    fn bang(&mut self, at: usize) {
        if self.cur.is_some() && !self.tok(at).newline() {
            return;
        }
        self.end_operand();
    }

    fn less(&mut self, at: usize) -> usize {
        if self.typed {
            if self.cur.is_some() {
                if let Some(next) = self.types.call_angles(at) {
                    return next;
                }
            } else if let Some(next) = self.types.angles(at, 0) {
                // A cast, or the type parameters of an arrow function or method.
                return next;
            }
        }
        self.operator(K::Op);
        at.wrapping_add(1)
    }

    fn dot(&mut self, at: usize) -> usize {
        let next = at.wrapping_add(1);
        let tok = self.tok(next);
        match self.kind(next) {
            Some(K::Word | K::Private) => {
                let word = if tok.kind == K::Word { Word::try_from(tok.aux).unwrap_or(0) } else { 0 };
                let how = if tok.flags & ESCAPED == 0 { How::NONE } else { How::ESCAPE };
                self.step(word, how, next);
                next.wrapping_add(1)
            }
            _ => next,
        }
    }

    /// Moves the chain on by one member.
    fn step(&mut self, word: Word, how: How, last: usize) {
        let Some(mut cur) = self.cur.take() else {
            self.operand(last, Val::node(0), Shape::Other, how);
            return;
        };
        let via = self.nodes.via(word);
        let callable = cur.val.is_known() && !self.names.node(cur.val.node).is_some_and(|data| data.module);
        if via != Via::Direct
            && callable
            && self.kind(last.wrapping_add(1)).is_some_and(|k| matches!(k, K::LParen | K::QDot | K::Tpl))
        {
            (cur.via, cur.last) = (via, small(last));
            self.cur = Some(cur);
            return;
        }
        self.leave(&cur);
        let module = self.names.node(cur.val.node).is_some_and(|data| data.module);
        let node = if module && self.nodes.is_default(word) {
            cur.val.node
        } else if cur.val.node == ROOT && (self.nodes.is_global(word) || self.nodes.is_weak_global(word)) {
            ROOT
        } else {
            self.names.step(cur.val.node, word)
        };
        let chained = self.names.step(cur.val.star, word);
        let star = if chained != 0 { chained } else { self.names.star(word) };
        cur.val = Val { node, star, text: 0 };
        cur.how = cur.how.and(how);
        cur.last = small(last);
        (cur.via, cur.shape) = (Via::Direct, Shape::Other);
        self.cur = Some(cur);
    }

    /// A chain goes on: what it was so far is a member that was read.
    fn leave(&mut self, cur: &Cur) {
        if cur.shape != Shape::Called {
            self.mention(cur);
        }
    }

    pub(super) fn span(&self, first: u32, last: u32) -> (usize, usize) {
        (self.tok(first as usize).start as usize, self.tok(last as usize).end as usize)
    }

    fn mention(&mut self, cur: &Cur) {
        if !cur.val.is_known() || cur.prefix == Prefix::Typeof {
            return;
        }
        let span = self.span(cur.first, cur.last);
        for node in [cur.val.node, cur.val.star] {
            self.sink.member(self.names, node, cur.own, span, cur.how);
        }
    }

    /// Ends the operand that was read: it is one of the values of its expression.
    fn end_operand(&mut self) {
        let Some(cur) = self.cur.take() else { return };
        if cur.shape != Shape::Called {
            self.finish_operand(&cur);
        }
        let Some(frame) = self.frames.last_mut() else { return };
        if cur.val.is_known() && !frame.value.is_known() {
            frame.value = cur.val;
        }
        frame.joined |=
            matches!(cur.shape, Shape::Joined) || (cur.shape == Shape::Text && frame.operators > 0);
        if cur.val.text != 0 && frame.operators == 0 {
            frame.value.text = cur.val.text;
        }
    }

    fn finish_operand(&mut self, cur: &Cur) {
        match cur.prefix {
            Prefix::New | Prefix::Decorator if cur.val.is_known() => {
                let callee = Callee { cur: *cur, args: [Arg::default(); 3], texts: small(self.texts.len()) };
                self.call(&callee, cur.last);
            }
            Prefix::Delete => self.written(cur),
            _ => self.mention(cur),
        }
    }

    fn written(&mut self, cur: &Cur) {
        // A name alone is bound anew; what it stood for stays as it is.
        if cur.shape == Shape::Name {
            return;
        }
        let span = self.span(cur.first, cur.last);
        for node in [cur.val.node, cur.val.star] {
            self.sink.assign(self.names, node, cur.own, span, cur.how);
        }
    }

    fn assign(&mut self, at: usize) {
        let target = self.cur.take();
        if let Some(cur) = target {
            self.written(&cur);
            self.targets.push(cur);
        }
        let Some(frame) = self.top() else { return };
        frame.value = Val::default();
        (frame.operators, frame.joined) = (0, false);
        if matches!(frame.kind, In::Class | In::Params) {
            frame.in_value = true;
        }
        let declares = frame.declares;
        if let Some(cur) = target.filter(|cur| declares && cur.shape == Shape::Name)
            && self.kind(at) == Some(K::Assign)
        {
            self.declare_here(self.tok(cur.first as usize));
        }
    }

    fn update(&mut self, kind: K) {
        if let Some(cur) = self.cur {
            self.written(&cur);
        }
        if kind == K::OpAssign {
            self.cur = None;
            self.operator(K::Op);
        }
    }

    fn colon(&mut self, at: usize) -> usize {
        let next = at.wrapping_add(1);
        let Some(&frame) = self.frames.last() else { return next };
        if frame.ternaries > 0 {
            self.end_operand();
            if let Some(frame) = self.top() {
                frame.ternaries = frame.ternaries.wrapping_sub(1);
            }
            return next;
        }
        if self.typed && self.is_type_colon(at, &frame) {
            return self.skip_annotation(next);
        }
        match frame.kind {
            In::Object => {
                if self.cur.is_some_and(|cur| cur.shape == Shape::Text || cur.shape == Shape::Name) {
                    self.cur = None;
                }
                self.end_expression();
                if let Some(frame) = self.top() {
                    frame.in_value = true;
                }
            }
            _ => self.end_statement(),
        }
        next
    }

    fn is_type_colon(&self, at: usize, frame: &Frame) -> bool {
        match frame.kind {
            In::Params | In::Class => !frame.in_value,
            _ if frame.declares => true,
            // A return type: the colon stands right after a parameter list.
            _ => self.kind(at.wrapping_sub(1)) == Some(K::RParen) && self.cur.is_none(),
        }
    }

    /// Steps over an annotation; the name that it stands at is kept as the operand.
    fn skip_annotation(&self, next: usize) -> usize {
        let after_params = self.kind(next.wrapping_sub(2)) == Some(K::RParen);
        let end = if after_params { self.types.skip_return(next) } else { self.types.skip(next) };
        end.unwrap_or(next)
    }

    /// Ends an expression: what was assigned in it is bound.
    pub(super) fn end_expression(&mut self) {
        let shape = self.cur.map(|cur| cur.shape);
        self.end_operand();
        let Some(frame) = self.frames.last_mut() else { return };
        let mut value = frame.value;
        if frame.function {
            value = Val::node(self.nodes.function);
        }
        let first = if frame.joined {
            FirstArg::Text
        } else if value.text != 0 && frame.operators == 0 {
            FirstArg::Literal
        } else {
            FirstArg::Other
        };
        if first != FirstArg::Literal {
            value.text = 0;
        }
        let any = shape.is_some() || frame.operators > 0 || frame.function;
        let targets = frame.targets as usize;
        if any && frame.kind == In::Call {
            if let Some(slot) = frame.args.get_mut(frame.count as usize) {
                *slot = Arg { first, val: value };
            }
            frame.count = frame.count.wrapping_add(1);
        }
        let calls = frame.kind == In::Call;
        frame.value = Val::default();
        (frame.joined, frame.function, frame.operators) = (false, false, 0);
        if calls && value.text != 0 {
            self.texts.push(value.text.wrapping_sub(1));
        }
        while self.targets.len() > targets {
            let Some(target) = self.targets.pop() else { break };
            self.bind_target(&target, value);
        }
    }

    fn end_statement(&mut self) {
        self.end_expression();
        if let Some(frame) = self.top() {
            frame.declares = false;
            if frame.kind == In::Class {
                frame.in_value = false;
            }
        }
    }

    fn end_template(&mut self, at: usize) {
        self.end_expression();
        if self.top_kind() != In::Hole {
            return;
        }
        let Some(frame) = self.frames.pop() else { return };
        if let Some(base) = frame.base {
            let mut args = [Arg::default(); 3];
            if let Some(first) = args.first_mut() {
                first.first = FirstArg::Text;
            }
            self.called(base, args, frame.texts, at);
        } else {
            self.operand(at, Val::default(), Shape::Joined, How::NONE);
            if let Some(cur) = &mut self.cur {
                cur.first = frame.open;
            }
        }
    }

    /// A template right after an operand calls it.
    fn tagged(&mut self, at: usize) {
        let Some(base) = self.cur.take() else { return };
        let mut args = [Arg::default(); 3];
        let text = small(at).wrapping_add(1);
        if let Some(first) = args.first_mut() {
            *first = Arg { first: FirstArg::Literal, val: Val { text, ..Val::default() } };
        }
        let texts = small(self.texts.len());
        self.texts.push(small(at));
        self.called(base, args, texts, at);
    }

    fn called(&mut self, base: Cur, args: [Arg; 3], texts: u32, last: usize) {
        let callee = Callee { cur: base, args, texts };
        let val = self.call(&callee, small(last));
        self.texts.truncate(texts as usize);
        self.cur = Some(Cur {
            val,
            last: small(last),
            prefix: Prefix::None,
            shape: Shape::Called,
            via: Via::Direct,
            ..base
        });
    }

    fn close(&mut self, at: usize) {
        if self.frames.len() < 2 {
            self.end_statement();
            return;
        }
        // A group hands its last operand on; whether it is used or called shows later.
        let group = self.top_kind() == In::Group;
        let single = group
            && self.frames.last().is_some_and(|frame| {
                frame.operators == 0 && !frame.function && frame.targets as usize == self.targets.len()
            });
        let inner = if single { self.cur.take() } else { None };
        let value = self.frames.last().map_or(Val::default(), |frame| {
            let last = self.cur.map_or(Val::default(), |cur| cur.val);
            if frame.function {
                Val::node(self.nodes.function)
            } else if frame.value.is_known() {
                frame.value
            } else {
                last
            }
        });
        let joined = self.frames.last().is_some_and(|frame| frame.joined)
            || (!single && self.cur.is_some_and(|cur| matches!(cur.shape, Shape::Text | Shape::Joined)));
        self.end_expression();
        let Some(frame) = self.frames.pop() else { return };
        match frame.kind {
            In::Group => {
                let shape = if joined { Shape::Joined } else { Shape::Called };
                self.close_group(at, &frame, inner, value, shape);
            }
            In::Call => {
                if let Some(base) = frame.base {
                    self.called(base, frame.args, frame.texts, at);
                }
            }
            In::Index => self.close_index(at, &frame),
            In::Array | In::Object => {
                self.operand(at, Val::default(), Shape::Pattern, How::NONE);
                if let Some(cur) = &mut self.cur {
                    cur.first = frame.open;
                }
            }
            In::Body => {
                self.functions = self.functions.wrapping_sub(1);
                self.close_body(at, &frame);
            }
            In::Class => self.close_body(at, &frame),
            In::Jsx => self.operand(at, Val::default(), Shape::Other, How::NONE),
            In::Block | In::Control | In::Params | In::Hole => {}
        }
    }

    fn close_body(&mut self, at: usize, frame: &Frame) {
        if self.tok(at).flags & EXPRESSION != 0 {
            self.operand(at, Val::node(self.nodes.function), Shape::Other, How::NONE);
            if let Some(cur) = &mut self.cur {
                cur.first = frame.open;
            }
        }
    }

    fn close_group(&mut self, at: usize, frame: &Frame, inner: Option<Cur>, value: Val, shape: Shape) {
        let first = if self.prefix == Prefix::None { frame.open } else { self.prefix_at };
        let prefix = core::mem::take(&mut self.prefix);
        let mut cur = inner.unwrap_or(Cur { val: value, shape, ..Cur::default() });
        cur.first = first;
        cur.last = small(at);
        if prefix != Prefix::None {
            cur.prefix = prefix;
        }
        self.cur = Some(cur);
    }

    fn close_index(&mut self, at: usize, frame: &Frame) {
        let Some(base) = frame.base else { return };
        self.cur = Some(base);
        // The index was ended as an expression; its value stands in the tokens.
        let open = frame.open as usize;
        if let Some((name, how)) = self.constant_between(open.wrapping_add(1), at) {
            let word = self.names.words.get(&name);
            self.step(word, how, at);
        } else {
            let numeric = at == open.wrapping_add(2) && self.kind(open.wrapping_add(1)) == Some(K::Num);
            let word = if numeric { 0 } else { self.names.computed };
            self.step(word, How::NONE, at);
        }
    }

    /// Gives the constant text between two tokens: one literal, or one name that is bound to one.
    pub(super) fn constant_between(&self, from: usize, to: usize) -> Option<(Vec<u8>, How)> {
        let (mut from, mut to) = (from, to);
        while to > from.wrapping_add(2)
            && self.kind(from) == Some(K::LParen)
            && self.types.past(from) == Some(to)
        {
            (from, to) = (from.wrapping_add(1), to.wrapping_sub(1));
        }
        if self.typed && matches!(self.kw(from.wrapping_add(1)), Kw::As | Kw::Satisfies) {
            to = from.wrapping_add(1);
        }
        if to != from.wrapping_add(1) {
            return None;
        }
        match self.kind(from)? {
            K::Str | K::Tpl => Some(self.constant(from)),
            K::Word => {
                let val = self.bindings.get(&name_of(self.src, self.tok(from)))?;
                (val.text != 0).then(|| self.constant(val.text.wrapping_sub(1) as usize))
            }
            _ => None,
        }
    }

    /// Decodes a constant's token.
    pub(super) fn constant(&self, at: usize) -> (Vec<u8>, How) {
        let tok = self.tok(at);
        let (start, end) = body(tok);
        let bytes = self.src.get(start..end).unwrap_or_default();
        if tok.flags & ESCAPED == 0 { (bytes.to_vec(), How::NONE) } else { escape::decode(bytes) }
    }

    /// Gives how much a value weighs, so that the worse of two bindings stays.
    pub(super) fn weight(names: &Names, val: Val) -> u8 {
        let node = |node: Node| {
            names.node(node).map_or(0, |data| {
                if !data.call.is_empty() {
                    3
                } else if !data.member.is_empty() || !data.assign.is_empty() {
                    2
                } else {
                    u8::from(data.module)
                }
            })
        };
        node(val.node).max(node(val.star))
    }
}
