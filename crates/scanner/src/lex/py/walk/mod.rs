//! Tokens to names: one walk over the expressions of a file, with an explicit stack of brackets.

mod args;
mod assign;
mod bracket;
mod call;
mod choice;
mod element;
mod frame;
mod given;
mod import;
mod keyword;
mod list;
mod looped;
mod member;
pub(in crate::lex::py) mod nodes;
mod op;
mod rounds;
mod run;
mod word;

pub(in crate::lex::py) use rounds::walk;

use super::bind::{Bindings, Form, Val, name_of};
use super::scope::{Kind, Scopes};
use super::token::{K, Kw, Tok, WIDE};
use crate::names::{Names, Node, ROOT, Word};
use crate::sink::{Sink, Unread};
use crate::view::How;
use frame::{Cur, Frame, In, Item};
use nodes::WalkNodes;

#[derive(Debug)]
struct Walk<'a, 'n, 'r> {
    src: &'a [u8],
    toks: &'a [Tok],
    scopes: &'n Scopes<'a>,
    names: &'n Names,
    nodes: &'n WalkNodes,
    bindings: Bindings<'a>,
    sink: &'n mut Sink<'r>,
    at: u32,
    frames: Vec<Frame>,
    /// Elements of brackets that are open.
    items: Vec<Item>,
    /// Items of lists and dictionaries that were closed.
    kept: Vec<Item>,
    /// Those of the walk before: what is bound below a place still points at them.
    before: Vec<Item>,
    /// Which walk this is.
    number: u8,
    targets: Vec<(usize, usize)>,
    stored: Vec<Item>,
    /// The word that begins the statement, and its token.
    head: (Kw, u32),
    /// What a `match` or a `case` begins with goes to or comes from this variable.
    subject: Option<u32>,
    /// The next bracket opens parameters, or the bases of a class.
    params: bool,
    /// What had to be undone to read the arguments of the call that was told last.
    undone: How,
    budget: usize,
    /// How many lists that grow may still be kept anew.
    copies: usize,
    /// The name that `+=` or `|=` puts more in.
    augmented: Option<u32>,
}

impl<'a, 'n, 'r> Walk<'a, 'n, 'r> {
    fn new(
        (src, toks): (&'a [u8], &'a [Tok]),
        scopes: &'n Scopes<'a>,
        names: &'n Names,
        nodes: &'n WalkNodes,
        bindings: Bindings<'a>,
        sink: &'n mut Sink<'r>,
    ) -> Self {
        let budget = (1_usize << 16).saturating_add(toks.len().saturating_mul(16));
        Self {
            src,
            toks,
            scopes,
            names,
            nodes,
            bindings,
            sink,
            at: 0,
            frames: vec![Frame::new(In::Statement, Cur::default(), 0, 0)],
            items: Vec::new(),
            kept: Vec::new(),
            before: Vec::new(),
            number: 0,
            targets: Vec::new(),
            stored: Vec::new(),
            head: (Kw::None, 0),
            subject: None,
            params: false,
            undone: How::NONE,
            budget,
            copies: list::COPIES,
            augmented: None,
        }
    }

    fn tok(&self, at: u32) -> Option<Tok> {
        self.toks.get(at as usize).copied()
    }

    fn kind_at(&self, at: u32) -> Option<K> {
        self.tok(at).map(|tok| tok.kind)
    }

    fn toks(&self, from: u32, to: u32) -> &'a [Tok] {
        self.toks.get(from as usize..=to as usize).unwrap_or_default()
    }

    fn kw(&self, at: u32) -> Kw {
        self.tok(at).filter(|tok| tok.kind == K::Name).map_or(Kw::None, |tok| Kw::of(tok.aux))
    }

    fn is_op(&self, at: u32, op: u8) -> bool {
        self.tok(at).is_some_and(|tok| tok.is_op(op))
    }

    fn span(&self, first: u32, last: u32) -> (usize, usize) {
        let start = self.tok(first).map_or(0, |tok| tok.start as usize);
        let end = self.tok(last.max(first)).map_or(start, |tok| tok.end as usize);
        (start, end.max(start))
    }

    const fn wide(tok: Tok) -> How {
        if tok.flags & WIDE == 0 { How::NONE } else { How::UNICODE }
    }

    /// A member of a name: builtins are the file's own names.
    fn step(&self, node: Node, word: Word) -> Node {
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
            frame.kind == In::Statement && !frame.cur.active && frame.elem.is_fresh() && frame.saved.is_none()
        }) && self.targets.is_empty()
            && self.items.is_empty()
    }

    fn step_token(&mut self, tok: Tok) {
        match tok.kind {
            K::Name => self.name(tok),
            K::Num => {
                let zero = crate::lex::py::text_of(self.src, tok)
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

    /// Takes from what texts may cost; beyond it the report says that something stayed unread.
    fn spend(&mut self, cost: usize) -> bool {
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

    /// Binds the name at a token.
    fn bind(&mut self, at: u32, val: Val) {
        let var = self.scopes.at(at);
        let own = self.scopes.var(var);
        self.bindings.bind(var, own.name, at, val);
        if own.kind == Kind::Class
            && val.is_known()
            && let Some(tok) = self.tok(at)
        {
            self.bindings.bind_member(name_of(self.src, tok), val);
        } else if own.kind == Kind::Class
            && matches!(val.form, Form::Text | Form::List | Form::Path | Form::True | Form::False)
            && let Some(tok) = self.tok(at)
        {
            self.bindings.bind_constant(name_of(self.src, tok), at, val);
        }
    }
}
