//! Tokens to names: one walk over the expressions of a file, with an explicit stack of brackets.
//!
//! It is no parser of valid programs: it follows member chains, calls, assignments and aliases, and where it cannot
//! tell what something is, that something is code.

mod again;
mod bracket;
mod chain;
mod keyword;
mod operator;
mod skip;

use core::cell::{Cell, OnceCell};
use std::collections::BTreeMap;
use std::rc::Rc;

use super::bind::{Bindings, Val, bit, name_of};
use super::call::WalkNodes;
use super::copy::Returned;
use super::follow::{Asked, Followed, Given, Marking, Why, WordTokens};
use super::reads::Read;
use super::scan::{Dialect, Flag, Scanned};
use super::scope::{OUTER, Scopes};
use super::table::Table;
use super::token::{DULL, ESCAPED, EVENT, K, Kw, NO_MATE, Tok};
use super::types::Types;
use crate::names::{Names, Node, NodeData, ROOT, Word};
use crate::sink::{FirstArg, Own, Sink, Unread};
use crate::view::How;
use again::{Again, Entered};

/// Rounds until aliases that are used before they are bound have settled; what is new after them is reported as not seen.
const ROUNDS: u32 = 32;

pub(super) fn walk(src: &[u8], scanned: &mut Scanned, dialect: Dialect, names: &Names, sink: &mut Sink<'_>) {
    let rules = sink.rules;
    let nodes = &rules.nodes;
    let mut bindings = Bindings::of(scanned.toks.len());
    let mut followed = Followed::default();
    let mut asked = Asked::default();
    let (mut firsts, mut scopes) = (OnceCell::new(), OnceCell::new());
    let mut again = Again::new(sink);
    let marking = Marking { src, names, nodes, types: dialect.types };
    let declared = marking.start(scanned);
    let mut words = WordTokens::default();
    for round in 1.. {
        again.begin();
        bindings.begin_round();
        let mut walk = Walk::new(src, &scanned.toks, dialect, names, nodes, bindings, sink);
        (walk.asked, walk.firsts, walk.scopes) = (asked, firsts, scopes);
        core::mem::swap(&mut walk.again, &mut again);
        (walk.declared, walk.round) = (declared, round);
        walk.run();
        let put_in = walk.put_in.get();
        core::mem::swap(&mut walk.again, &mut again);
        (bindings, asked, firsts, scopes) = (walk.bindings, walk.asked, walk.firsts, walk.scopes);
        for (name, variable, val) in bindings.all() {
            // A function's name is followed where something asks for its constructor.
            for one in bindings.sets.each(val).filter(|one| nodes.is_followed(*one)) {
                followed.add(name.clone(), variable, Why::Value(one));
            }
            if val.text != 0 && is_event(&scanned.toks, val.text) {
                followed.add(name.clone(), variable, Why::Text);
            }
        }
        for (name, variable) in bindings.holders() {
            followed.add(name.clone(), variable, Why::Holder);
        }
        for (name, variable) in asked.all() {
            followed.add(name.clone(), variable, Why::Asked);
        }
        let fresh = followed.is_fresh();
        again.end(sink, put_in);
        bindings.end_round();
        let due = again.due(&bindings.news);
        if (!due && !fresh) || round >= ROUNDS {
            // A name that is new in the last round may lead to others.
            if fresh || again.total > most_put_in(src) || bindings.sets.is_over() {
                sink.unread.push(Unread { start: 0, end: src.len() });
            }
            break;
        }
        let live = if fresh {
            marking.again(scanned, &mut words, &mut followed, |toks, at| {
                variable_at(&scopes, src, toks, small(at), dialect.types)
            })
        } else {
            Vec::new()
        };
        again.wake(&scanned.toks, &live);
    }
}

/// How many tokens and bytes of a file may be read in place of names.
pub(super) const fn most_put_in(src: &[u8]) -> usize {
    src.len().saturating_mul(4).saturating_add(1 << 20)
}

/// Says which variable of its name a token is. All that is `this` is one.
fn variable_at<'a>(scopes: &OnceCell<Scopes<'a>>, src: &'a [u8], toks: &[Tok], at: u32, typed: Flag) -> u32 {
    let tok = toks.get(at as usize).copied().unwrap_or(Tok::END);
    if tok.flags & ESCAPED == 0 && Kw::of(tok.word()) == Kw::This {
        return OUTER;
    }
    scopes.get_or_init(|| Scopes::new(src, toks, typed)).variable(src, tok, at)
}

/// Says whether a name is certainly the file's own at a token.
fn is_own_at<'a>(scopes: &OnceCell<Scopes<'a>>, src: &'a [u8], toks: &[Tok], at: u32, typed: Flag) -> bool {
    let tok = toks.get(at as usize).copied().unwrap_or(Tok::END);
    let scopes = scopes.get_or_init(|| Scopes::new(src, toks, typed));
    scopes.variable(src, tok, at) != OUTER || scopes.is_own(src, tok, at)
}

/// Says whether a constant is a name that rules look for.
fn is_event(toks: &[Tok], text: u32) -> bool {
    toks.get(text.wrapping_sub(1) as usize).is_some_and(|tok| tok.flags & EVENT != 0)
}

/// How a chain's last member passes its arguments on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Via {
    #[default]
    Direct,
    Call,
    Apply,
    Bind,
    /// A promise of it hands it on.
    Then,
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
    /// It is a name that the file bound: where it was bound, what it stands for was told.
    pub(super) alias: bool,
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
    /// What describes a member: its `value` is the member.
    Described,
    /// A list of some kind.
    List,
    /// A method that gives a text, or a list, and is about to be called.
    ToText,
    ToList,
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
#[expect(clippy::struct_excessive_bools, reason = "facts of an open bracket that go on and off on their own")]
pub(super) struct Frame {
    kind: In,
    open: u32,
    /// What is called or indexed.
    base: Option<Cur>,
    /// The expression so far: the operands that may be its value.
    value: Val,
    joined: bool,
    operators: u32,
    /// The next operand is compared with the one before it: it is no value of the expression.
    compared: bool,
    function: bool,
    /// What is assigned from here on is assigned in the body of an arrow function.
    inside: u32,
    ternaries: u32,
    targets: u32,
    /// After a key's colon or a field's equals sign.
    in_value: bool,
    /// After `const`, `let` or `var`, before the initializer.
    declares: bool,
    args: [Arg; 3],
    count: u32,
    texts: u32,
    /// The field of a class that is given a value: its token, plus one. Where its annotation begins, if it has one.
    field: u32,
    annotated: u32,
    /// The entry of a literal is spread, or its prototype; what such entries were so far.
    copies: bool,
    copied: Val,
    /// What names stand for counts here: the arguments and indices of a name of the tables.
    exact: bool,
    /// It is a function's body that is gone through.
    entered: bool,
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
            compared: false,
            function: false,
            inside: 0,
            ternaries: 0,
            targets,
            in_value: false,
            declares: false,
            args: [Arg { first: FirstArg::None, val: Val { node: 0, star: 0, text: 0 } }; 3],
            count: 0,
            field: 0,
            annotated: 0,
            texts,
            copies: false,
            copied: Val { node: 0, star: 0, text: 0 },
            exact: false,
            entered: false,
        }
    }
}

pub(super) struct Walk<'a, 't, 's, 'r> {
    pub(super) src: &'a [u8],
    pub(super) toks: &'t [Tok],
    pub(super) types: Types<'t>,
    typed: bool,
    pub(super) names: &'t Names,
    pub(super) nodes: &'t WalkNodes,
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
    pub(super) asked: Asked<'a>,
    whole: bool,
    /// As far as statements were looked through for what counts.
    seen: usize,
    /// Where each name is first bound, once that was asked for.
    pub(super) firsts: OnceCell<Table<'a, u32>>,
    /// Which variable a name is, once one was bound.
    scopes: OnceCell<Scopes<'a>>,
    /// One bit a word that may be declared somewhere.
    declared: u64,
    /// Tokens and bytes that were read in place of names.
    pub(super) put_in: Cell<usize>,
    pub(super) round: u32,
    /// By a function's first token: what it returns, and its first parameters.
    pub(super) returns: BTreeMap<usize, (Returned, Box<[Read]>)>,
    pub(super) heads: BTreeMap<usize, Rc<[Option<u32>]>>,
    again: Again,
    /// The bodies that are open.
    entered: Vec<Entered>,
}

/// Says whether no decorator goes on behind such a token, which takes no operand's place.
fn parts_decorator(tok: Tok) -> bool {
    matches!(
        tok.kind,
        K::Semi
            | K::Comma
            | K::Colon
            | K::Question
            | K::Either
            | K::Assign
            | K::EitherAssign
            | K::OpAssign
            | K::Equality
            | K::IncDec
            | K::Bang
            | K::Lt
            | K::Gt
            | K::Arrow
            | K::Plus
            | K::Op
            | K::Ellipsis
    ) || (matches!(tok.kind, K::Word) && tok.flags & ESCAPED == 0 && is_reserved(Kw::of(tok.word())))
}

/// Says whether a keyword is never a name.
const fn is_reserved(kw: Kw) -> bool {
    matches!(
        kw,
        Kw::Typeof
            | Kw::Instanceof
            | Kw::In
            | Kw::New
            | Kw::Delete
            | Kw::Void
            | Kw::Throw
            | Kw::Case
            | Kw::Do
            | Kw::Else
            | Kw::Return
            | Kw::Function
            | Kw::Class
            | Kw::If
            | Kw::While
            | Kw::For
            | Kw::With
            | Kw::Switch
            | Kw::Catch
            | Kw::Try
            | Kw::Finally
            | Kw::Extends
            | Kw::Const
            | Kw::Var
            | Kw::Export
            | Kw::Default
            | Kw::Enum
            | Kw::Null
            | Kw::True
            | Kw::False
            | Kw::Debugger
            | Kw::Break
            | Kw::Continue
    )
}

fn small(value: usize) -> u32 {
    u32::try_from(value).unwrap_or(u32::MAX)
}

impl<'a, 't, 's, 'r> Walk<'a, 't, 's, 'r> {
    fn new(
        src: &'a [u8],
        toks: &'t [Tok],
        dialect: Dialect,
        names: &'t Names,
        nodes: &'t WalkNodes,
        bindings: Bindings<'a>,
        sink: &'s mut Sink<'r>,
    ) -> Self
    where
        'a: 't,
    {
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
            asked: Asked::default(),
            whole: super::whole::asked(),
            seen: 0,
            firsts: OnceCell::new(),
            scopes: OnceCell::new(),
            declared: 0,
            put_in: Cell::new(0),
            round: 0,
            returns: BTreeMap::new(),
            heads: BTreeMap::new(),
            again: Again::default(),
            entered: Vec::new(),
        }
    }

    fn run(&mut self) {
        let mut at = 0;
        while let Some(&tok) = self.toks.get(at) {
            let next = self.token(at, tok);
            at = next.max(at.wrapping_add(1));
            let parts = matches!(tok.kind, K::Semi | K::Comma | K::LBrace | K::RBrace);
            if parts && at >= self.seen && !self.whole {
                at = self.past_statements(at);
            }
        }
        self.end_expression();
        while self.frames.len() > 1 {
            self.close(self.toks.len().wrapping_sub(1));
        }
        self.end_expression();
    }

    pub(super) const fn is_whole(&self) -> bool {
        self.whole
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
            .map_or(Kw::None, |tok| Kw::of(tok.word()))
    }

    fn top(&mut self) -> Option<&mut Frame> {
        self.frames.last_mut()
    }

    /// Gives the token that opened the bracket in which the walk stands.
    pub(super) fn open_bracket(&self) -> usize {
        self.frames.last().map_or(0, |frame| frame.open as usize)
    }

    fn top_kind(&self) -> In {
        self.frames.last().map_or(In::Block, |frame| frame.kind)
    }

    fn token(&mut self, at: usize, tok: Tok) -> usize {
        if self.prefix == Prefix::Decorator && parts_decorator(tok) {
            self.prefix = Prefix::None;
        }
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
            K::LParen => {
                self.open_paren(at, tok);
                return self.past_dull(at, tok);
            }
            K::LBracket => {
                let base = self.cur.take();
                self.push(if base.is_some() { In::Index } else { In::Array }, at, base);
                return self.past_dull(at, tok);
            }
            K::LBrace => {
                self.open_brace(at, tok);
                return self.past_body(at, tok).unwrap_or_else(|| self.past_dull(at, tok));
            }
            K::RParen | K::RBracket | K::RBrace => self.close(at),
            K::Dot | K::QDot => return self.dot(at),
            K::Ellipsis | K::At => {
                self.end_operand();
                if let Some(frame) = self.top().filter(|frame| frame.kind == In::Object && !frame.in_value) {
                    frame.copies = tok.kind == K::Ellipsis;
                }
                // A decorator is a name with members, or what stands in parentheses.
                let next = self.kind(at.wrapping_add(1));
                if tok.kind == K::At && matches!(next, Some(K::Word | K::LParen)) {
                    (self.prefix, self.prefix_at) = (Prefix::Decorator, small(at));
                }
            }
            K::Semi | K::Comma => self.separator(tok.kind),
            K::Colon => return self.colon(at),
            K::Question => self.question(at),
            K::Either => self.either(),
            K::Assign | K::EitherAssign => self.assign(at),
            K::OpAssign | K::IncDec => self.update(at, tok.kind),
            K::Bang => self.bang(at),
            K::Lt => return self.less(at),
            K::Arrow => {
                self.cur = None;
                let targets = small(self.targets.len());
                if let Some(frame) = self.top().filter(|frame| !frame.function) {
                    (frame.function, frame.inside) = (true, targets);
                }
            }
            K::Plus | K::Op | K::Gt | K::Equality => self.operator(tok.kind),
        }
        at.wrapping_add(1)
    }

    /// Takes an operand. One right after another starts a new statement.
    fn operand(&mut self, at: usize, val: Val, shape: Shape, how: How) {
        match self.top_kind() {
            // No statement begins among arguments, and what no comma parts is no further one.
            In::Call if self.cur.is_some() => self.either(),
            _ if self.cur.is_some() => self.end_statement(),
            _ => {}
        }
        let first = if self.prefix == Prefix::None { small(at) } else { self.prefix_at };
        let prefix = core::mem::take(&mut self.prefix);
        self.cur = Some(Cur { val, first, last: small(at), how, shape, prefix, ..Cur::default() });
    }

    fn push(&mut self, kind: In, at: usize, base: Option<Cur>) {
        let (targets, texts) = (small(self.targets.len()), small(self.texts.len()));
        let mut frame = Frame::new(kind, small(at), base, targets, texts);
        frame.exact = match kind {
            In::Call | In::Hole => base.is_some_and(|base| self.is_passed(base.val)),
            In::Index => base.is_some_and(|base| self.is_parent(base.val)),
            In::Block | In::Body | In::Class => false,
            _ => self.frames.last().is_some_and(|around| around.exact),
        };
        self.frames.push(frame);
    }

    /// Says whether the members of a value are known.
    pub(super) fn is_parent(&self, val: Val) -> bool {
        let parent = |node: Node| self.names.node(node).is_some_and(NodeData::is_parent);
        self.is_any(val.node, parent) || self.is_any(val.star, parent)
    }

    /// Says whether what is passed to a value counts.
    fn is_passed(&self, val: Val) -> bool {
        let passed = |node: Node| self.nodes.is_passed(node);
        self.is_any(val.node, passed) || self.is_any(val.star, passed)
    }

    /// Says whether something holds for one of the nodes that a node stands for.
    #[inline]
    pub(super) fn is_any(&self, node: Node, holds: impl Fn(Node) -> bool) -> bool {
        self.bindings.sets.any(node, holds)
    }

    /// Gives all nodes of a value, those with any receiver last.
    #[inline]
    pub(super) fn nodes_of(&self, val: Val) -> impl Iterator<Item = Node> + use<> {
        self.bindings.sets.nodes(val.node).chain(self.bindings.sets.nodes(val.star))
    }

    /// Gives a member of a value.
    pub(super) fn member_of(&mut self, val: Val, word: Word) -> Val {
        let (names, nodes) = (self.names, self.nodes);
        let step = |node: Node| {
            if nodes.is_default(word) && names.node(node).is_some_and(|data| data.module) {
                node
            } else if node == ROOT && (nodes.is_global(word) || nodes.is_weak_global(word)) {
                ROOT
            } else {
                names.step(node, word)
            }
        };
        let star = |node: Node| {
            let chained = names.step(node, word);
            if chained == 0 { names.star(word) } else { chained }
        };
        self.bindings.sets.member(val, word, step, star)
    }

    /// Goes on after an opening bracket: at its closing one where nothing between them counts.
    pub(super) fn past_dull(&self, at: usize, tok: Tok) -> usize {
        let next = at.wrapping_add(1);
        let Some(frame) = self.frames.last().filter(|frame| frame.open as usize == at) else { return next };
        if tok.flags & DULL == 0 || self.whole || self.prefix != Prefix::None {
            return next;
        }
        let skips = match frame.kind {
            In::Block | In::Body | In::Class | In::Object | In::Array | In::Params => true,
            In::Call => !frame.exact,
            In::Group | In::Index | In::Hole | In::Jsx | In::Control => false,
        };
        if skips { tok.mate() as usize } else { next }
    }

    /// Comes to a function's body: gives its closing bracket where it would give the same as in the round before.
    fn past_body(&mut self, at: usize, tok: Tok) -> Option<usize> {
        let frame = self.frames.last_mut().filter(|frame| frame.kind == In::Body)?;
        let whole = self.whole || super::whole::in_each_round();
        if tok.flags & DULL != 0 || tok.mate() == NO_MATE || whole || self.prefix != Prefix::None {
            return None;
        }
        match self.again.enter(at, self.sink, &self.bindings.reads, &self.put_in) {
            Ok(entered) => {
                frame.entered = true;
                self.entered.push(entered);
            }
            Err(again::Passed) => return Some(tok.mate() as usize),
        }
        None
    }

    /// Asks for the value of an unbound name where it counts.
    pub(super) fn ask(&mut self, at: usize, given: Given) {
        if !self.whole {
            let tok = self.tok(at);
            let (scopes, src, toks) = (&self.scopes, self.src, self.toks);
            let typed = if self.typed { Flag::On } else { Flag::Off };
            let variable = || variable_at(scopes, src, toks, small(at), typed);
            self.asked.ask(src, toks, tok, given, variable, &self.bindings.news);
        }
    }

    /// Gives what a name stands for at its token.
    #[inline]
    pub(super) fn bound(&self, at: usize) -> Option<Val> {
        let tok = self.tok(at);
        self.bindings.get(self.src, tok, || self.variable(small(at)))
    }

    /// Binds a name at its token.
    pub(super) fn bind(&mut self, at: u32, val: Val) {
        let tok = self.tok(at as usize);
        let name = name_of(self.src, tok);
        if val.is_known() || val.text != 0 || self.bindings.holds(&name) {
            let variable = self.variable(at);
            self.bindings.bind(name, variable, at, val);
        }
    }

    /// Adds something that the operand may be, which was told where it was given.
    pub(super) fn add_val(&mut self, val: Val) {
        if let Some(cur) = &mut self.cur {
            cur.alias = !cur.val.is_known();
            cur.val = self.bindings.sets.either(cur.val, val);
        }
    }

    /// Says which variable of its name a token is.
    pub(super) fn variable(&self, at: u32) -> u32 {
        let typed = if self.typed { Flag::On } else { Flag::Off };
        variable_at(&self.scopes, self.src, self.toks, at, typed)
    }

    /// Says whether a word of the tables is certainly the file's own where it stands.
    pub(super) fn is_own(&self, word: Word, at: usize) -> bool {
        let typed = if self.typed { Flag::On } else { Flag::Off };
        self.declared & bit(word) != 0 && is_own_at(&self.scopes, self.src, self.toks, small(at), typed)
    }

    /// Says whether a word of the tables may be declared somewhere.
    pub(super) const fn may_declare(&self, word: Word) -> bool {
        self.declared & bit(word) != 0
    }

    /// Says whether rules look for a node.
    pub(super) fn weighs(&self, node: Node) -> bool {
        self.names.node(node).is_some_and(|data| {
            data.module || !data.call.is_empty() || !data.member.is_empty() || !data.assign.is_empty()
        })
    }
}
