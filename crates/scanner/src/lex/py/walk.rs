//! Tokens to names: one walk over the expressions of a file, with an explicit stack of brackets.

use std::collections::BTreeSet;

use super::bind::{Bindings, Form, Val, name_of};
use super::call::WalkNodes;
use super::scan::Scanned;
use super::token::{FIRST, K, Kw, Tok, WIDE, pair};
use crate::names::{Names, Node, ROOT, Word};
use crate::sink::{Embedded, Hit, Own, Sink, Unread};
use crate::view::How;

/// Rounds until aliases that are used before they are bound have settled, whatever changes.
const ROUNDS: u32 = 6;
/// Most items of lists that are joined.
const JOINED: usize = 256;
/// Rounds as long as each finds one more alias; what is new after them is reported as not seen.
const MOST_ROUNDS: u32 = 32;

/// Walks over a file in all its rounds.
const MOST_WALKS: u32 = 96;

pub(super) fn walk(src: &[u8], scanned: &Scanned, names: &Names, sink: &mut Sink<'_>) {
    let mut walked = 0_u32;
    let mut bindings = Bindings::default();
    let nodes = WalkNodes::new(names);
    let before = (sink.hits.len(), sink.embedded.len(), sink.named.len());
    for round in 1.. {
        sink.hits.truncate(before.0);
        sink.embedded.truncate(before.1);
        sink.named.truncate(before.2);
        let (changes, learned) = (bindings.changes, bindings.learned);
        let mut number = 0;
        while number <= bindings.walks && walked < MOST_WALKS {
            walked = walked.saturating_add(1);
            bindings.walk = number;
            let kept = Kept::of(sink);
            let mut walk = Walk::new(src, &scanned.toks, names, &nodes, bindings, sink);
            walk.run();
            bindings = walk.bindings;
            if number > 0 {
                kept.drop_known(sink, before);
            }
            number = number.saturating_add(1);
        }
        // Values may go to and fro for ever; an alias that is found stays one.
        let fresh = bindings.learned != learned;
        let over = round >= MOST_ROUNDS || walked >= MOST_WALKS;
        let cut = number <= bindings.walks;
        if (fresh && over) || cut || bindings.too_many {
            sink.unread.push(Unread { start: 0, end: src.len() });
        }
        if bindings.changes == changes || (!fresh && round >= ROUNDS) || over || cut {
            break;
        }
    }
}

/// How much there was before one more walk.
#[derive(Debug, Clone, Copy)]
struct Kept {
    hits: usize,
    embedded: usize,
    named: usize,
}

impl Kept {
    const fn of(sink: &Sink<'_>) -> Self {
        Self { hits: sink.hits.len(), embedded: sink.embedded.len(), named: sink.named.len() }
    }

    /// Drops what the walks before have found as well.
    fn drop_known(self, sink: &mut Sink<'_>, (hits, embedded, named): (usize, usize, usize)) {
        let known: BTreeSet<Hit> = sink.hits.iter().take(self.hits).skip(hits).copied().collect();
        let new = sink.hits.split_off(self.hits);
        sink.hits.extend(new.into_iter().filter(|hit| !known.contains(hit)));
        let texts: BTreeSet<_> =
            sink.embedded.iter().take(self.embedded).skip(embedded).map(Embedded::key).collect();
        let fresh: Vec<bool> =
            sink.embedded.iter().skip(self.embedded).map(|own| !texts.contains(&own.key())).collect();
        let new = sink.embedded.split_off(self.embedded);
        sink.embedded.extend(new.into_iter().zip(fresh).filter(|(_, fresh)| *fresh).map(|(own, _)| own));
        let files: BTreeSet<String> = sink.named.iter().take(self.named).skip(named).cloned().collect();
        let new = sink.named.split_off(self.named);
        sink.named.extend(new.into_iter().filter(|name| !files.contains(name)));
    }
}

/// Whether the values of a statement are parted by commas.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Tuple {
    No,
    Yes,
}

/// What an open bracket holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum In {
    Statement,
    Call,
    Index,
    Group,
    List,
    Dict,
    Params,
    Hole,
}

/// The operand that is being read: a chain of members, indices and calls.
#[derive(Debug, Clone, Copy, Default)]
#[expect(clippy::struct_excessive_bools, reason = "four facts of an operand that go on and off on their own")]
pub(super) struct Cur {
    pub(super) val: Val,
    pub(super) first: u32,
    pub(super) last: u32,
    pub(super) how: How,
    pub(super) active: bool,
    /// A name alone, or a member: the token that binds.
    pub(super) target: u32,
    pub(super) member: bool,
    /// It is the result of a call.
    pub(super) called: bool,
    pub(super) decorator: bool,
}

impl Cur {
    /// Says whether it is a name and nothing behind it.
    const fn is_name(&self) -> bool {
        self.target != 0 && !self.member && self.first == self.last
    }
}

/// One element: an argument, an item, a side of an assignment.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Elem {
    pub(super) first: u32,
    operands: u32,
    /// Operators that join or compare.
    operators: u32,
    pub(super) val: Val,
    text: bool,
    negate: bool,
    /// How many asterisks stand in front.
    pub(super) spread: u8,
    /// A keyword's name or a key's text: its token, plus one.
    pub(super) key: u32,
    /// The name in front of `:=`: its token, plus one.
    walrus: u32,
    /// Operands that are names of the tables.
    known: usize,
    target: Cur,
}

/// A finished element.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Item {
    pub(super) key: u32,
    pub(super) spread: u8,
    pub(super) val: Val,
    pub(super) first: u32,
    pub(super) last: u32,
    target: Cur,
}

#[derive(Debug, Clone, Copy)]
struct Frame {
    kind: In,
    base: Cur,
    cur: Cur,
    elem: Elem,
    items: usize,
    open: u32,
    /// The element that a lambda stands in, while its parameters are read.
    lambda: Option<Elem>,
    /// What stands in front of an annotation.
    annotated: Option<Cur>,
    /// A `for` waits for its `in`.
    looping: bool,
    /// The last keyword was `in`, behind no `for`: a question, no walk.
    asks: bool,
    comma: bool,
}

#[derive(Debug)]
pub(super) struct Walk<'a, 'n, 'r> {
    pub(super) src: &'a [u8],
    toks: &'a [Tok],
    pub(super) names: &'n Names,
    pub(super) nodes: &'n WalkNodes,
    pub(super) bindings: Bindings<'a>,
    pub(super) sink: &'n mut Sink<'r>,
    pub(super) at: u32,
    frames: Vec<Frame>,
    /// Elements of brackets that are open.
    items: Vec<Item>,
    /// Items of lists and dictionaries that were closed.
    pub(super) kept: Vec<Item>,
    targets: Vec<(usize, usize)>,
    stored: Vec<Item>,
    /// The word that begins the statement.
    head: Kw,
    /// The next bracket opens parameters, or the bases of a class.
    params: bool,
    /// What had to be undone to read the arguments of the call that was told last.
    pub(super) undone: How,
    pub(super) budget: usize,
}

impl<'a, 'n, 'r> Walk<'a, 'n, 'r> {
    fn new(
        src: &'a [u8],
        toks: &'a [Tok],
        names: &'n Names,
        nodes: &'n WalkNodes,
        bindings: Bindings<'a>,
        sink: &'n mut Sink<'r>,
    ) -> Self {
        let budget = (1_usize << 16).saturating_add(toks.len().saturating_mul(16));
        Self {
            src,
            toks,
            names,
            nodes,
            bindings,
            sink,
            at: 0,
            frames: vec![Frame::new(In::Statement, Cur::default(), 0, 0)],
            items: Vec::new(),
            kept: Vec::new(),
            targets: Vec::new(),
            stored: Vec::new(),
            head: Kw::None,
            params: false,
            undone: How::NONE,
            budget,
        }
    }

    pub(super) fn tok(&self, at: u32) -> Option<Tok> {
        self.toks.get(at as usize).copied()
    }

    fn kind_at(&self, at: u32) -> Option<K> {
        self.tok(at).map(|tok| tok.kind)
    }

    pub(super) fn toks(&self, from: u32, to: u32) -> &'a [Tok] {
        self.toks.get(from as usize..=to as usize).unwrap_or_default()
    }

    pub(super) fn kw(&self, at: u32) -> Kw {
        self.tok(at).filter(|tok| tok.kind == K::Name).map_or(Kw::None, |tok| Kw::of(tok.aux))
    }

    pub(super) fn is_op(&self, at: u32, op: u8) -> bool {
        self.tok(at).is_some_and(|tok| tok.is_op(op))
    }

    pub(super) fn span(&self, first: u32, last: u32) -> (usize, usize) {
        let start = self.tok(first).map_or(0, |tok| tok.start as usize);
        let end = self.tok(last.max(first)).map_or(start, |tok| tok.end as usize);
        (start, end.max(start))
    }

    pub(super) const fn wide(tok: Tok) -> How {
        if tok.flags & WIDE == 0 { How::NONE } else { How::UNICODE }
    }

    /// A member of a name: builtins are the file's own names.
    pub(super) fn step(&self, node: Node, word: Word) -> Node {
        if node == self.nodes.builtins && node != 0 {
            let global = self.names.global(word);
            if global != 0 && global != ROOT {
                return global;
            }
        }
        self.names.step(node, word)
    }

    fn top(&mut self) -> Option<&mut Frame> {
        self.frames.last_mut()
    }

    fn run(&mut self) {
        while let Some(tok) = self.tok(self.at) {
            let before = self.at;
            self.step_token(tok);
            if self.at == before {
                self.at = self.at.saturating_add(1);
            }
        }
        self.end_statement();
    }

    fn fresh(&self) -> bool {
        self.frames.last().is_some_and(|frame| {
            frame.kind == In::Statement
                && !frame.cur.active
                && frame.elem.operands == 0
                && frame.elem.operators == 0
        }) && self.targets.is_empty()
            && self.items.is_empty()
    }

    fn step_token(&mut self, tok: Tok) {
        match tok.kind {
            K::Name => self.name(tok),
            K::Num => {
                let zero = super::text_of(self.src, tok)
                    .iter()
                    .all(|byte| matches!(byte, b'0' | b'.' | b'_' | b'x' | b'b' | b'o'));
                self.operand(Val::form(if zero { Form::False } else { Form::True }, 0, 0), How::NONE);
            }
            K::Str => self.string(),
            K::Head => self.operand(Val::form(Form::Joined, self.at, self.at), How::NONE),
            K::Mid | K::Tail => {
                let at = self.at;
                if let Some(frame) = self.top()
                    && frame.cur.active
                    && frame.cur.val.form == Form::Joined
                {
                    frame.cur.val.b = at;
                    frame.cur.last = at;
                }
            }
            K::Line => self.end_statement(),
            K::Op => self.op(tok),
        }
    }

    fn string(&mut self) {
        let at = self.at;
        let next_to = self.frames.last().is_some_and(|frame| {
            frame.cur.active
                && matches!(frame.cur.val.form, Form::Text | Form::Joined)
                && frame.cur.val.b.saturating_add(1) == at
        });
        if next_to {
            if let Some(frame) = self.top() {
                frame.cur.val.b = at;
                frame.cur.last = at;
            }
        } else {
            self.operand(Val::form(Form::Text, at, at), How::NONE);
        }
    }

    /// Starts an operand.
    fn operand(&mut self, val: Val, how: How) {
        self.finish_operand();
        let at = self.at;
        if let Some(frame) = self.top() {
            let decorator = core::mem::take(&mut frame.cur.decorator);
            frame.cur = Cur { val, first: at, last: at, how, active: true, decorator, ..Cur::default() };
            if frame.elem.operands == 0 && frame.elem.operators == 0 && frame.elem.spread == 0 {
                frame.elem.first = at;
            }
        }
    }

    fn name(&mut self, tok: Tok) {
        let kw = Kw::of(tok.aux);
        if kw != Kw::None && kw != Kw::Print {
            if tok.flags & FIRST != 0
                && kw.begins()
                && self.frames.len() > 1
                && !self.frames.iter().any(|frame| frame.kind == In::Hole)
            {
                self.recover();
            }
            return self.keyword(kw);
        }
        let name = name_of(self.src, tok);
        let val = self.resolve(&name, tok.aux);
        self.operand(val, Self::wide(tok));
        let at = self.at;
        let next = self.tok(at.saturating_add(1));
        let called = next.is_some_and(|next| next.is_op(b'('));
        let assigned = next.is_some_and(|next| next.is_op(b'='));
        let direct = self.bindings.get(&name).is_none();
        if let Some(frame) = self.top() {
            frame.cur.target = at.saturating_add(1);
        }
        if direct && !called && !assigned {
            let span = tok.range();
            self.sink.member(self.names, val.node, Own::No, span, Self::wide(tok));
        }
    }

    /// Gives what a name stands for.
    pub(super) fn resolve(&self, name: &[u8], word: Word) -> Val {
        if let Some(val) = self.bindings.get(name) {
            if val.is_any() {
                return val;
            }
            // A name that the file binds to something else may still be the builtin above that place.
            let node = self.names.global(word);
            let here = self.tok(self.at).map_or(0, |tok| tok.start);
            let own = !self.nodes.is_executor(node) || self.bindings.is_replaced(name, here);
            return if own { Val::default() } else { Val::node(node) };
        }
        if word != 0 && word == self.nodes.builtins_word {
            return Val::node(self.nodes.builtins);
        }
        let node = self.names.global(word);
        if node != 0 {
            return Val::node(node);
        }
        let star =
            self.bindings.stars.iter().map(|module| self.names.step(*module, word)).find(|node| *node != 0);
        if let Some(node) = star {
            return Val::node(node);
        }
        // Code that is handed to an executor sees what its surroundings imported.
        if self.sink.depth > 0 { Val::node(self.names.module(name)) } else { Val::default() }
    }

    fn keyword(&mut self, kw: Kw) {
        let fresh = self.fresh();
        match kw {
            Kw::Import if fresh => {
                self.import();
                return;
            }
            Kw::From if fresh => {
                self.import_names();
                return;
            }
            Kw::True => return self.operand(Val::form(Form::True, 0, 0), How::NONE),
            Kw::False | Kw::None_ => return self.operand(Val::form(Form::False, 0, 0), How::NONE),
            _ => {}
        }
        self.finish_operand();
        if fresh {
            self.head = kw;
        }
        match kw {
            Kw::Def | Kw::Class => {
                // The name is the file's own.
                if let Some(name) = self.tok(self.at.saturating_add(1)).filter(|tok| tok.kind == K::Name) {
                    self.bindings.bind(name_of(self.src, name), name.start, Val::default());
                    self.replaced(self.at, name);
                    self.params = kw == Kw::Def;
                    self.at = self.at.saturating_add(2);
                }
            }
            Kw::For => {
                if let Some(frame) = self.top() {
                    frame.looping = true;
                }
            }
            Kw::In => {
                if let Some(frame) = self.top() {
                    frame.asks = !frame.looping;
                    frame.looping = false;
                    frame.elem.operators = frame.elem.operators.saturating_add(1);
                }
            }
            Kw::Del if fresh => {
                self.bindings.deletes = true;
            }
            Kw::Not => {
                if let Some(frame) = self.top() {
                    frame.elem.negate = !frame.elem.negate;
                }
            }
            Kw::Lambda => {
                let first = self.at.saturating_add(1);
                if let Some(frame) = self.top() {
                    let outer = core::mem::replace(&mut frame.elem, Elem { first, ..Elem::default() });
                    frame.lambda.get_or_insert(outer);
                }
            }
            Kw::And | Kw::Or | Kw::If | Kw::Else | Kw::Await => {}
            Kw::As => self.bound_as(),
            _ => {
                if let Some(frame) = self.top() {
                    frame.elem.operators = frame.elem.operators.saturating_add(u32::from(!fresh));
                }
            }
        }
    }

    /// Notes that a statement gives a name to something of the file's own, if it does so for the whole file below it: it begins a line
    /// that belongs to nothing.
    pub(super) fn replaced(&mut self, statement: u32, name: Tok) {
        let start = self.tok(statement).map_or(0, |tok| tok.start as usize);
        let before = self.src.get(..start).unwrap_or_default();
        let lines = before.strip_suffix(b"\n").map(|line| line.strip_suffix(b"\r").unwrap_or(line));
        if before.is_empty() || lines.is_some_and(|line| !line.ends_with(b"\\")) {
            self.bindings.replace(name_of(self.src, name), name.end);
        }
    }

    /// `with x as y`.
    fn bound_as(&mut self) {
        let val = self.frames.last().map_or(Val::default(), |frame| frame.elem.val);
        let name = self.tok(self.at.saturating_add(1)).filter(|tok| tok.kind == K::Name);
        if let Some(name) = name.filter(|_| self.head == Kw::With) {
            let val = if val.is_known() { val } else { Val::default() };
            self.bindings.bind(name_of(self.src, name), name.start, val);
            self.at = self.at.saturating_add(2);
        }
    }

    /// A statement begins inside brackets that nothing closed.
    fn recover(&mut self) {
        while self.frames.len() > 1 {
            self.close();
        }
        self.end_statement();
    }

    fn op(&mut self, tok: Tok) {
        let at = self.at;
        match tok.aux {
            op if op == u16::from(b'.') => {
                if self.frames.last().is_some_and(|frame| frame.cur.active)
                    && let Some(name) = self.tok(at.saturating_add(1)).filter(|next| next.kind == K::Name)
                {
                    self.at = at.saturating_add(1);
                    self.member(name);
                    self.at = at.saturating_add(2);
                }
            }
            op if op == u16::from(b'(') => {
                let called = self.frames.last().is_some_and(|frame| frame.cur.active);
                let kind = if core::mem::take(&mut self.params) {
                    In::Params
                } else if called {
                    In::Call
                } else {
                    In::Group
                };
                self.open(kind);
            }
            op if op == u16::from(b'[') => {
                let index = self.frames.last().is_some_and(|frame| frame.cur.active) && !self.params;
                self.open(if index { In::Index } else { In::List });
            }
            op if op == u16::from(b'{') => {
                let hole = self.tok(at.saturating_sub(1)).is_some_and(|before| {
                    at > 0 && matches!(before.kind, K::Head | K::Mid) && before.end == tok.start
                });
                self.open(if hole { In::Hole } else { In::Dict });
            }
            op if op == u16::from(b')') || op == u16::from(b']') || op == u16::from(b'}') => {
                if self.frames.len() > 1 {
                    self.close();
                }
            }
            op if op == u16::from(b',') => self.comma(),
            op if op == u16::from(b';') => self.end_statement(),
            op if op == u16::from(b'=') => self.assign(),
            op if op == pair(b':', b'=') => self.walrus(),
            op if op == u16::from(b':') => self.colon(),
            op if op == u16::from(b'@') && self.fresh() => {
                if let Some(frame) = self.top() {
                    frame.cur.decorator = true;
                }
            }
            op => self.operator(op),
        }
    }

    fn operator(&mut self, op: u16) {
        self.finish_operand();
        let [low, high] = op.to_le_bytes();
        let writes = low == b'=' && !matches!(high, b'=' | b'!' | b'<' | b'>' | 0);
        if writes {
            self.tell_assign();
            return;
        }
        if let Some(frame) = self.top() {
            let first = frame.elem.operands == 0 && frame.elem.operators == 0;
            let stars = match op {
                op if op == u16::from(b'*') => 1,
                op if op == pair(b'*', b'*') => 2,
                _ => 0,
            };
            if first && stars > 0 {
                frame.elem.spread = stars;
            } else if !(first && matches!(low, b'-' | b'+' | b'~') && high == 0) {
                frame.elem.operators = frame.elem.operators.saturating_add(1);
            }
        }
    }

    /// `.name` behind an operand.
    fn member(&mut self, name: Tok) {
        let text = name_of(self.src, name);
        self.member_named(&text, name.aux, Self::wide(name));
        let at = self.at;
        if let Some(frame) = self.top() {
            frame.cur.target = at.saturating_add(1);
            frame.cur.member = true;
        }
    }

    /// Goes from the operand to one of its members, by whatever way.
    pub(super) fn member_named(&mut self, name: &[u8], word: Word, how: How) {
        let at = self.at;
        let Some(cur) = self.frames.last().map(|frame| frame.cur) else { return };
        let mut val = self.member_of(cur.val, word);
        if !val.is_any()
            && let Some(held) = self.bindings.member(name)
        {
            val.node = held.node;
        }
        let how = cur.how.and(how);
        if let Some(frame) = self.top() {
            frame.cur.val = val;
            frame.cur.last = at;
            frame.cur.how = how;
            frame.cur.called = false;
            frame.cur.decorator = cur.decorator;
        }
        let called = self.is_op(at.saturating_add(1), b'(') || cur.decorator;
        let written = self.is_op(at.saturating_add(1), b'=');
        if !called && !written && (val.node != 0 || val.star != 0) {
            let span = self.span(cur.first, at);
            self.sink.member(self.names, val.node, Own::No, span, how);
            self.sink.member(self.names, val.star, Own::No, span, how);
        }
    }

    /// What a member of a value is.
    pub(super) fn member_of(&self, base: Val, word: Word) -> Val {
        let nodes = self.nodes;
        if word != 0 && word == nodes.dict {
            return Val { node: 0, star: 0, form: Form::Space, a: base.node, b: 0 };
        }
        if nodes.is_space(word) {
            return Val { node: 0, star: self.names.star(word), form: Form::Space, a: ROOT, b: 0 };
        }
        if word != 0 && word == nodes.asked && base.node != 0 && self.step(base.node, word) == 0 {
            // Called with a name, it gives the member of that name.
            return Val::form(Form::Space, base.node, 0);
        }
        if base.form == Form::Space {
            // A member of a dictionary: only what it is asked by.
            return if nodes.asks(word) { base } else { Val::default() };
        }
        if base.node != 0 && base.node == nodes.modules && nodes.asks(word) {
            return Val { form: Form::Space, ..base };
        }
        if base.form == Form::Path && base.star == 0 {
            return if nodes.keeps_path(word) { base } else { Val { star: self.names.star(word), ..base } };
        }
        if matches!(base.form, Form::Text | Form::Joined) {
            let kept = nodes.keeps_text(word);
            return if kept { base } else { Val { star: self.names.star(word), ..Val::default() } };
        }
        if word != 0 && word == nodes.call && base.node != 0 {
            return base;
        }
        let mut node = if base.node == 0 { 0 } else { self.step(base.node, word) };
        if node == 0 {
            // What another module imported is its member.
            node = nodes.reached(word);
        }
        let star = if word == 0 {
            self.names.step(base.star, 0)
        } else {
            let next = self.names.step(base.star, word);
            if next == 0 { self.names.star(word) } else { next }
        };
        Val { node, star, ..Val::default() }
    }

    fn open(&mut self, kind: In) {
        let at = self.at;
        if matches!(kind, In::Group | In::List | In::Dict) {
            self.finish_operand();
            if let Some(frame) = self.top()
                && frame.elem.operands == 0
                && frame.elem.operators == 0
                && frame.elem.spread == 0
            {
                frame.elem.first = at;
            }
        }
        let base = self.frames.last().map_or(Cur::default(), |frame| frame.cur);
        self.frames.push(Frame::new(kind, base, self.items.len(), at));
    }

    /// Ends what stands in a bracket.
    fn close(&mut self) {
        self.finish_element();
        let Some(frame) = self.frames.pop() else { return };
        let last = self.at;
        let from = frame.items.min(self.items.len());
        let mut cur = Cur { first: frame.open, last, active: true, ..Cur::default() };
        match frame.kind {
            In::Call => {
                let items = self.items.split_off(from);
                cur = Cur { first: frame.base.first, how: frame.base.how, called: true, ..cur };
                self.undone = How::NONE;
                cur.val = self.call(&frame.base, &items, last);
                cur.how = cur.how.and(self.undone);
            }
            In::Index => {
                let item = self.items.get(from).copied().unwrap_or_default();
                self.items.truncate(from);
                self.index(frame.base, item, last);
                return;
            }
            In::Group | In::List | In::Dict => {
                let items = self.items.split_off(from);
                match items.as_slice() {
                    [only] if frame.kind == In::Group && !frame.comma && only.spread == 0 => {
                        cur.val = only.val;
                        cur.how = only.target.how;
                        cur.first = frame.open;
                    }
                    _ => {
                        let start = u32::try_from(self.kept.len()).unwrap_or(u32::MAX);
                        let count = u32::try_from(items.len()).unwrap_or(u32::MAX);
                        cur.val = Val::form(Form::List, start, count);
                        self.kept.extend(items);
                    }
                }
            }
            In::Params => {
                self.items.truncate(from);
                cur.active = false;
            }
            In::Hole | In::Statement => {
                self.items.truncate(from);
                return;
            }
        }
        if let Some(top) = self.top() {
            top.cur = cur;
        }
    }

    fn index(&mut self, base: Cur, item: Item, last: u32) {
        let mut cur = Cur { last, called: false, target: 0, ..base };
        let constant = item.val.form == Form::Text;
        let (name, how) = if constant { self.constant(item.val) } else { (Vec::new(), How::NONE) };
        let word = if constant { self.names.words.get(&name) } else { self.names.computed };
        cur.how = cur.how.and(how);
        let written = self.is_op(last.saturating_add(1), b'=');
        let asked = base.val.node != 0 && base.val.node == self.nodes.modules;
        if asked && written {
            cur.val = Val::node(self.names.step(base.val.node, word));
        } else if base.val.form == Form::Space || asked {
            cur.val = self.in_space(base.val, constant.then_some(name.as_slice()));
            if !constant && base.val.form == Form::Space && base.val.a != ROOT {
                let node = self.names.step(base.val.a, self.names.computed);
                let span = self.span(base.first, last);
                self.sink.member(self.names, node, Own::No, span, cur.how);
            }
        } else if base.val.form == Form::List {
            cur.val = self.picked(base.val, item, constant.then_some(name.as_slice()));
        } else if base.val.node != 0 {
            let node = self.step(base.val.node, word);
            cur.val = Val::node(node);
        } else {
            cur.val = Val::default();
        }
        let (val, how) = (cur.val, cur.how);
        if let Some(top) = self.top() {
            top.cur = cur;
        }
        let called = self.is_op(last.saturating_add(1), b'(');
        if !called && !written && (val.node != 0 || val.star != 0) {
            let span = self.span(base.first, last);
            self.sink.member(self.names, val.node, Own::No, span, how);
            self.sink.member(self.names, val.star, Own::No, span, how);
        }
    }

    /// Gives what a dictionary of names holds under a constant.
    pub(super) fn in_space(&self, space: Val, name: Option<&[u8]>) -> Val {
        let Some(name) = name else { return Val::default() };
        if space.node != 0 && space.node == self.nodes.modules {
            return Val::node(self.module(name));
        }
        let word = self.names.words.get(name);
        if space.a == 0 {
            return Val { star: self.names.star(word), ..Val::default() };
        }
        if space.a != ROOT {
            return Val::node(self.step(space.a, word));
        }
        let found = self.resolve(name, word);
        // The names of another file hold what that file imported.
        if found.is_any() || self.bindings.get(name).is_some() {
            found
        } else {
            Val::node(self.nodes.reached(word))
        }
    }

    /// Gives an item of a literal by its number or key.
    fn picked(&self, list: Val, item: Item, name: Option<&[u8]>) -> Val {
        let items = self.list(list);
        let found = if let Some(name) = name {
            items.iter().find(|item| item.key != 0 && self.key_text(item.key) == name)
        } else {
            let text = self.tok(item.first).map(|tok| super::text_of(self.src, tok)).unwrap_or_default();
            let number = core::str::from_utf8(text).ok().and_then(|text| text.parse::<usize>().ok());
            number.and_then(|number| items.get(number))
        };
        found.map_or(Val::default(), |item| item.val)
    }

    /// Gives the items of a list that was closed.
    pub(super) fn list(&self, list: Val) -> &[Item] {
        let end = list.a.saturating_add(list.b);
        self.kept.get(list.a as usize..end as usize).unwrap_or_default()
    }

    /// Gives the text of a keyword or a key.
    pub(super) fn key_text(&self, key: u32) -> Vec<u8> {
        let Some(tok) = key.checked_sub(1).and_then(|at| self.tok(at)) else { return Vec::new() };
        if tok.kind == K::Name {
            name_of(self.src, tok).into_owned()
        } else {
            super::text::constant(self.src, &[tok]).0
        }
    }

    /// Gives a constant text.
    pub(super) fn constant(&mut self, val: Val) -> (Vec<u8>, How) {
        let toks = self.toks(val.a, val.b);
        let cost = toks.iter().map(|tok| (tok.end.saturating_sub(tok.start)) as usize / 16).sum::<usize>();
        if toks.len() > 4096 || !self.spend(toks.len().saturating_add(cost)) {
            return (Vec::new(), How::NONE);
        }
        super::text::constant(self.src, toks)
    }

    /// Takes from what texts may cost; beyond it the report says that something stayed unread.
    pub(super) fn spend(&mut self, cost: usize) -> bool {
        if let Some(left) = self.budget.checked_sub(cost) {
            self.budget = left;
            return true;
        }
        if self.budget > 0 {
            self.budget = 0;
            let start = self.span(self.at, self.at).0;
            self.sink.unread.push(Unread { start, end: self.src.len() });
        }
        false
    }

    /// Ends an operand: what it is becomes what its element is, if it is the first.
    fn finish_operand(&mut self) {
        let Some(frame) = self.frames.last() else { return };
        if !frame.cur.active {
            return;
        }
        let (cur, asks) = (frame.cur, frame.asks);
        let elem = frame.elem;
        let other = cur.val.node != 0 && elem.known > 0 && elem.val.node != cur.val.node;
        if other && elem.operators == 0 {
            self.bindings.is_one_of(elem.known);
        }
        let walk = self.bindings.walk;
        let mut sum = None;
        if cur.val.node != 0
            && self.nodes.environ.contains(&cur.val.node)
            && !asks
            && !self.is_op(cur.last.saturating_add(1), b'=')
        {
            let span = self.span(cur.first, cur.last);
            self.sink.shape("py-env-bulk", span, cur.how);
        }
        if cur.decorator && cur.val.node != 0 && !cur.called {
            self.call(&cur, &[], cur.last);
        }
        if let Some(frame) = self.top() {
            frame.cur.active = false;
            frame.asks = false;
            let elem = &mut frame.elem;
            elem.text |= matches!(cur.val.form, Form::Text | Form::Joined);
            let place = elem.known;
            elem.known = place.saturating_add(usize::from(cur.val.node != 0));
            if elem.operands == 0 {
                elem.val = cur.val;
                elem.target = cur;
            } else if elem.val.form == Form::Path {
                elem.val.b = cur.last;
                elem.target = Cur::default();
            } else {
                if elem.text && elem.operators > 0 {
                    // The text goes from its first part to this one.
                    if matches!(elem.val.form, Form::Text | Form::Joined) {
                        elem.val.b = cur.last;
                    } else if elem.val.node == 0 {
                        elem.val = Val { a: elem.first, b: cur.last, ..elem.val };
                    }
                    elem.val.form = Form::Joined;
                }
                // One of several: in each walk another.
                if cur.val.node != 0 && (elem.val.node == 0 || (place <= walk && elem.operators == 0)) {
                    elem.val.node = cur.val.node;
                }
                elem.target = Cur::default();
                if (elem.val.form, cur.val.form) == (Form::List, Form::List) && elem.operators > 0 {
                    sum = Some((elem.val, cur.val));
                }
            }
            elem.operands = elem.operands.saturating_add(1);
        }
        if let Some((a, b)) = sum {
            let both = self.joined_lists(a, b);
            if let Some(frame) = self.top() {
                frame.elem.val = both;
            }
        }
    }

    /// Two lists with a sign between them, as one.
    fn joined_lists(&mut self, a: Val, b: Val) -> Val {
        let items: Vec<Item> = self.list(a).iter().chain(self.list(b)).take(JOINED).copied().collect();
        if !self.spend(items.len()) {
            return a;
        }
        let start = u32::try_from(self.kept.len()).unwrap_or(u32::MAX);
        let count = u32::try_from(items.len()).unwrap_or(u32::MAX);
        self.kept.extend(items);
        Val::form(Form::List, start, count)
    }

    /// Ends an element.
    fn finish_element(&mut self) {
        self.finish_operand();
        let last = self.at.saturating_sub(1);
        let Some(frame) = self.frames.last_mut() else { return };
        frame.looping = false;
        frame.asks = false;
        let mut elem = core::mem::take(&mut frame.elem);
        let kind = frame.kind;
        if elem.operands == 0 {
            return;
        }
        if elem.negate {
            elem.val.form = match elem.val.form {
                Form::True | Form::Text => Form::False,
                Form::False => Form::True,
                other => other,
            };
        } else if elem.operators > 0 && matches!(elem.val.form, Form::True | Form::False) {
            elem.val.form = if elem.operands > 1 { Form::True } else { elem.val.form };
        }
        if let Some(name) = elem.walrus.checked_sub(1).and_then(|at| self.tok(at)) {
            self.bindings.bind(name_of(self.src, name), name.start, elem.val);
        }
        let item = Item {
            key: elem.key,
            spread: elem.spread,
            val: elem.val,
            first: elem.first,
            last,
            target: elem.target,
        };
        if kind == In::Params {
            if let Some(name) = elem.key.checked_sub(1).and_then(|at| self.tok(at)) {
                self.bindings.bind(name_of(self.src, name), name.start, elem.val);
            } else if elem.operators == 0
                && let Some(name) = elem.target.target.checked_sub(1).and_then(|at| self.tok(at))
            {
                self.bindings.bind(name_of(self.src, name), name.start, Val::default());
            }
        }
        self.items.push(item);
    }

    /// Ends a parameter of a lambda.
    fn parameter(&mut self) {
        self.finish_operand();
        let first = self.at.saturating_add(1);
        let Some(frame) = self.top() else { return };
        let elem = core::mem::replace(&mut frame.elem, Elem { first, ..Elem::default() });
        let (key, val) =
            if elem.key == 0 { (elem.target.target, Val::default()) } else { (elem.key, elem.val) };
        if let Some(name) = key.checked_sub(1).and_then(|at| self.tok(at)) {
            self.bindings.bind(name_of(self.src, name), name.start, val);
        }
    }

    fn comma(&mut self) {
        if self.frames.last().is_some_and(|frame| frame.lambda.is_some()) {
            self.parameter();
            return;
        }
        self.finish_element();
        if let Some(frame) = self.top() {
            frame.comma = true;
        }
    }

    fn colon(&mut self) {
        if self.frames.last().is_some_and(|frame| frame.lambda.is_some()) {
            self.parameter();
            if let Some(frame) = self.top()
                && let Some(outer) = frame.lambda.take()
            {
                frame.elem = outer;
            }
            return;
        }
        self.finish_operand();
        let at = self.at;
        let compound = self.head.is_compound();
        let Some(frame) = self.frames.last_mut() else { return };
        match frame.kind {
            In::Dict if frame.elem.val.form == Form::Text && frame.elem.operators == 0 => {
                let key = frame.elem.val.a.saturating_add(1);
                frame.elem = Elem { key, first: at.saturating_add(1), ..Elem::default() };
            }
            In::Dict => {
                frame.elem =
                    Elem { first: at.saturating_add(1), spread: frame.elem.spread, ..Elem::default() }
            }
            In::Params => {
                // An annotation: the name stays.
                if frame.elem.key == 0 {
                    let key = frame.elem.target.target;
                    frame.elem = Elem { key, first: at.saturating_add(1), ..Elem::default() };
                }
            }
            In::Statement if compound => {
                self.end_statement();
            }
            In::Statement => {
                frame.annotated = Some(frame.elem.target);
                frame.elem = Elem { first: at.saturating_add(1), ..Elem::default() };
            }
            _ => frame.elem = Elem { first: at.saturating_add(1), key: frame.elem.key, ..Elem::default() },
        }
    }

    fn assign(&mut self) {
        self.finish_operand();
        let at = self.at;
        let Some(frame) = self.frames.last_mut() else { return };
        match frame.kind {
            _ if frame.lambda.is_some() => {
                let key = frame.elem.target.target;
                frame.elem = Elem { key, first: at.saturating_add(1), ..Elem::default() };
            }
            In::Call | In::Params => {
                let key = if frame.elem.key == 0 { frame.elem.target.target } else { frame.elem.key };
                frame.elem = Elem { key, first: at.saturating_add(1), ..Elem::default() };
            }
            In::Statement => {
                if let Some(target) = frame.annotated.take() {
                    let (val, first) = (target.val, target.first);
                    frame.elem = Elem { target, val, first, operands: 1, ..Elem::default() };
                }
                // A name alone is bound anew; what it stood for stays as it is.
                if !self.frames.last().is_some_and(|frame| frame.elem.target.is_name()) {
                    self.tell_assign();
                }
                self.finish_element();
                let start = self.stored.len();
                let from = self.frames.last().map_or(0, |frame| frame.items);
                let items = self.items.split_off(from.min(self.items.len()));
                self.stored.extend(items);
                self.targets.push((start, self.stored.len()));
                if let Some(frame) = self.top() {
                    frame.elem.first = at.saturating_add(1);
                    frame.comma = false;
                }
            }
            _ => {}
        }
    }

    /// Tells the rules what a statement writes to.
    fn tell_assign(&mut self) {
        let Some(frame) = self.frames.last() else { return };
        let target = frame.elem.target;
        if target.val.node != 0 || target.val.star != 0 {
            let span = self.span(target.first, target.last);
            self.sink.assign(self.names, target.val.node, Own::No, span, target.how);
            self.sink.assign(self.names, target.val.star, Own::No, span, target.how);
        }
    }

    fn walrus(&mut self) {
        self.finish_operand();
        let first = self.at.saturating_add(1);
        if let Some(frame) = self.frames.last_mut() {
            let walrus = frame.elem.target.target;
            frame.elem = Elem { first, walrus, ..Elem::default() };
        }
    }

    fn end_statement(&mut self) {
        if self.frames.len() > 1 {
            // A statement's end stands only outside of brackets; a semicolon inside ends an element.
            self.finish_element();
            return;
        }
        self.finish_element();
        let comma = self.frames.last().is_some_and(|frame| frame.comma);
        let values = core::mem::take(&mut self.items);
        if !self.targets.is_empty() {
            let targets = core::mem::take(&mut self.targets);
            for (start, end) in targets {
                let names: Vec<Item> = self.stored.get(start..end).unwrap_or_default().to_vec();
                self.bind_all(&names, &values, if comma { Tuple::Yes } else { Tuple::No });
            }
        }
        self.stored.clear();
        self.head = Kw::None;
        self.params = false;
        if let Some(frame) = self.frames.first_mut() {
            *frame = Frame::new(In::Statement, Cur::default(), 0, self.at);
        }
    }

    /// Binds the targets of one `=` to the values.
    fn bind_all(&mut self, names: &[Item], values: &[Item], tuple: Tuple) {
        let unpacked: Vec<Item> = match names {
            [only] if only.val.form == Form::List => self.list(only.val).to_vec(),
            _ => names.to_vec(),
        };
        let many = unpacked.len() > 1
            || (names.len() == 1 && names.first().is_some_and(|name| name.val.form == Form::List));
        let values: Vec<Item> = match values {
            [only] if many && only.val.form == Form::List && tuple == Tuple::No => {
                self.list(only.val).to_vec()
            }
            _ => values.to_vec(),
        };
        for (target, index) in unpacked.iter().zip(0_usize..) {
            let val = if many {
                values.get(index).map_or(Val::default(), |value| value.val)
            } else if tuple == Tuple::Yes {
                Val::default()
            } else {
                values.first().map_or(Val::default(), |value| value.val)
            };
            let given = values.get(if many { index } else { 0 });
            if let Some(value) = given.filter(|value| self.kind_at(value.first) == Some(K::Name)) {
                self.tell_written(&target.target, *value);
            }
            let key = if target.target.target == 0 { target.key } else { target.target.target };
            let Some(name) = key.checked_sub(1).and_then(|at| self.tok(at)) else { continue };
            if target.target.member {
                self.bindings.bind_member(name_of(self.src, name), val);
            } else {
                self.bindings.bind(name_of(self.src, name), name.start, val);
            }
        }
    }
}

impl Frame {
    fn new(kind: In, base: Cur, items: usize, open: u32) -> Self {
        Self {
            kind,
            base,
            cur: Cur::default(),
            elem: Elem { first: open.saturating_add(1), ..Elem::default() },
            items,
            open,
            lambda: None,
            annotated: None,
            looping: false,
            asks: false,
            comma: false,
        }
    }
}
