//! The first pass: scopes, blocks, and what binds a name.

use super::Kind;
use super::level::Level;
use super::names::NameTable;
use super::space::Space;
use crate::lex::py::bind::name_of;
use crate::lex::py::token::{K, Kw, Tok};

/// No token, no scope.
pub(super) const NO: u32 = u32::MAX;
/// The scope of the file, and its block.
pub(super) const FILE: u32 = 0;

/// A scope: its names are seen in a range of tokens.
#[derive(Debug, Clone, Copy)]
pub(super) struct Scope {
    pub(super) kind: Kind,
    pub(super) start: u32,
    pub(super) end: u32,
    /// The first iterable of a comprehension is read outside of it.
    pub(super) hole: (u32, u32),
}

/// Where a declared name belongs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Of {
    /// The file, whatever scope says so.
    Global,
    /// A function around the scope.
    Nonlocal,
    Own,
}

/// A name that a scope declares.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Decl {
    pub(super) scope: u32,
    pub(super) name: u32,
    pub(super) of: Of,
}

/// From a token to the end of a block a name is certainly bound.
#[derive(Debug, Clone, Copy)]
pub(super) struct Sure {
    pub(super) scope: u32,
    pub(super) name: u32,
    pub(super) from: u32,
    pub(super) block: u32,
    /// The block's end takes the name away.
    pub(super) caught: Caught,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Caught {
    No,
    Yes,
}

/// A function and the name that it is bound to.
#[derive(Debug, Clone, Copy)]
pub(super) struct Function {
    pub(super) scope: u32,
    pub(super) outer: u32,
    pub(super) name: u32,
}

/// What the pass has found.
#[derive(Debug)]
pub(super) struct Found<'a> {
    pub(super) names: NameTable<'a>,
    /// By token: the number of a name, plus one.
    pub(super) ids: Vec<u32>,
    pub(super) scopes: Vec<Scope>,
    pub(super) decls: Vec<Decl>,
    /// Tokens that bind or declare, and read nothing.
    pub(super) binders: Vec<u32>,
    pub(super) sure: Vec<Sure>,
    /// By block: where it ends.
    pub(super) ends: Vec<u32>,
    /// Names that are taken away somewhere.
    pub(super) undone: Vec<(u32, u32)>,
    /// Parameters: token, scope, name.
    pub(super) params: Vec<(u32, u32, u32)>,
    /// Tokens at which a function's scope gives a value.
    pub(super) gives: Vec<(u32, u32)>,
    pub(super) functions: Vec<Function>,
    pub(super) classes: Vec<Function>,
    /// Parameters that a call fills by their place or name: scope and name, in order.
    pub(super) places: Vec<(u32, u32)>,
    /// Tokens of `match`, `case` and what cases capture, with the number of their `match`.
    pub(super) subjects: Vec<(u32, u32)>,
    pub(super) matches: u32,
    /// The file is not what the language reads.
    pub(super) loose: bool,
    /// Names of the file may be changed by other ways than by name.
    pub(super) space: Space,
}

/// An open block.
#[derive(Debug, Clone, Copy)]
pub(super) struct Block {
    pub(super) id: u32,
    pub(super) scope: u32,
    /// Its indentation with tabs of eight, and with tabs of one.
    pub(super) columns: (u32, u32),
    /// The scope that ends with it.
    pub(super) owns: u32,
    /// The scope of type parameters that ends with it.
    pub(super) types: u32,
    /// A class is bound when its block ends: in which scope, what name, in which block.
    pub(super) class: Option<(u32, u32, u32)>,
    pub(super) body: Body,
    /// The number of the `match` whose cases are in it.
    pub(super) subject: u32,
}

/// What a block is the body of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Body {
    Plain,
    /// Its statements are cases.
    Match,
    /// It stands in the line of its head.
    Line,
}

/// The statement that is read.
#[derive(Debug, Clone, Copy)]
pub(super) struct Statement {
    pub(super) kw: Kw,
    pub(super) start: u32,
    /// Where the targets begin that the next `=` binds.
    pub(super) part: u32,
    /// What an annotation stands behind.
    pub(super) annotated: Option<(u32, u32)>,
    /// Where the targets of a loop begin.
    pub(super) targets: u32,
    pub(super) soft: Soft,
    /// The scopes that its body opens.
    pub(super) owns: u32,
    pub(super) types: u32,
    pub(super) class: Option<u32>,
}

/// Words that are keywords at the head of some statements.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Soft {
    None,
    Match,
    Case,
}

impl Statement {
    pub(super) const fn new(start: u32) -> Self {
        Self {
            kw: Kw::None,
            start,
            part: start,
            annotated: None,
            targets: NO,
            soft: Soft::None,
            owns: NO,
            types: NO,
            class: None,
        }
    }
}

#[derive(Debug)]
pub(super) struct Reader<'a, 't> {
    pub(super) src: &'a [u8],
    pub(super) toks: &'t [Tok],
    pub(super) found: Found<'a>,
    pub(super) blocks: Vec<Block>,
    /// A block whose first line is still to come.
    pub(super) pending: Option<Block>,
    pub(super) levels: Vec<Level>,
    /// Scopes of the lambdas whose bodies are open.
    pub(super) lambdas: Vec<u32>,
    pub(super) statement: Statement,
    /// Names that the statement has bound when it ends.
    pub(super) bound: Vec<u32>,
    /// Names that its body finds bound.
    pub(super) body: Vec<u32>,
    /// Names that are bound from its colon on.
    pub(super) head: Vec<u32>,
    /// The next parenthesis holds the parameters of this scope.
    pub(super) params: u32,
}

impl<'a, 't> Reader<'a, 't> {
    pub(super) fn new(src: &'a [u8], toks: &'t [Tok]) -> Self {
        let file = Scope { kind: Kind::Module, start: 0, end: NO, hole: (NO, NO) };
        let block = Block {
            id: FILE,
            scope: FILE,
            columns: (0, 0),
            owns: NO,
            types: NO,
            class: None,
            body: Body::Plain,
            subject: NO,
        };
        Self {
            src,
            toks,
            found: Found {
                names: NameTable::new(toks.len()),
                ids: Vec::with_capacity(toks.len()),
                scopes: vec![file],
                decls: Vec::new(),
                binders: Vec::new(),
                sure: Vec::new(),
                ends: vec![NO],
                undone: Vec::new(),
                params: Vec::new(),
                gives: Vec::new(),
                functions: Vec::new(),
                classes: Vec::new(),
                places: Vec::new(),
                subjects: Vec::new(),
                matches: 0,
                loose: false,
                space: Space::Own,
            },
            blocks: vec![block],
            pending: None,
            levels: Vec::new(),
            lambdas: Vec::new(),
            statement: Statement::new(0),
            bound: Vec::new(),
            body: Vec::new(),
            head: Vec::new(),
            params: NO,
        }
    }

    pub(super) fn run(mut self) -> Found<'a> {
        self.number();
        self.found.space = self.space();
        let mut at = 0_u32;
        let mut line = true;
        while let Some(tok) = self.tok(at) {
            if self.found.loose {
                return self.found;
            }
            if line {
                self.begin_line(at);
                line = false;
            }
            if self.statement.start == at && self.levels.is_empty() && tok.kind != K::Line {
                let next = self.begin_statement(at);
                if next > at {
                    at = next;
                    continue;
                }
            }
            line = tok.kind == K::Line;
            self.token(at, tok);
            at = at.saturating_add(1);
        }
        self.end_file(at);
        self.found
    }

    /// Numbers the names.
    fn number(&mut self) {
        let mut last: Option<Tok> = None;
        for &tok in self.toks {
            // A quote that nothing closes is read twice.
            self.found.loose |= last.is_some_and(|last| last.end > tok.start);
            let member = last.is_some_and(|last| last.is_op(b'.'));
            let is_name = tok.kind == K::Name && !member && matches!(Kw::of(tok.aux), Kw::None | Kw::Print);
            let id =
                if is_name { self.found.names.intern(name_of(self.src, tok)).saturating_add(1) } else { 0 };
            self.found.ids.push(id);
            last = Some(tok);
        }
    }

    pub(super) fn tok(&self, at: u32) -> Option<Tok> {
        self.toks.get(at as usize).copied()
    }

    pub(super) fn kw(&self, at: u32) -> Kw {
        self.tok(at).filter(|tok| tok.kind == K::Name).map_or(Kw::None, |tok| Kw::of(tok.aux))
    }

    pub(super) fn is_op(&self, at: u32, op: u8) -> bool {
        self.tok(at).is_some_and(|tok| tok.is_op(op))
    }

    /// Gives the number of the name that a token is.
    pub(super) fn id(&self, at: u32) -> Option<u32> {
        self.found.ids.get(at as usize).and_then(|id| id.checked_sub(1))
    }

    pub(super) fn block(&self) -> (u32, u32) {
        self.blocks.last().map_or((FILE, FILE), |block| (block.id, block.scope))
    }

    pub(super) fn scope(&self) -> u32 {
        self.block().1
    }

    pub(super) fn new_scope(&mut self, kind: Kind) -> u32 {
        let number = u32::try_from(self.found.scopes.len()).unwrap_or(NO);
        self.found.scopes.push(Scope { kind, start: NO, end: NO, hole: (NO, NO) });
        number
    }

    pub(super) fn set_range(&mut self, scope: u32, start: Option<u32>, end: Option<u32>) {
        if let Some(scope) = self.found.scopes.get_mut(scope as usize) {
            scope.start = start.unwrap_or(scope.start);
            scope.end = end.unwrap_or(scope.end);
        }
    }

    /// Declares the name that a token is; gives its number.
    pub(super) fn bind(&mut self, at: u32, scope: u32, of: Of) -> Option<u32> {
        let name = self.id(at)?;
        self.found.decls.push(Decl { scope, name, of });
        self.found.binders.push(at);
        Some(name)
    }

    fn token(&mut self, at: u32, tok: Tok) {
        match tok.kind {
            K::Op => self.op(at, tok),
            K::Name => self.word(at, tok),
            K::Line => {
                self.end_lambdas(at);
                self.found.loose |= !self.levels.is_empty();
                self.end_statement(at);
                self.end_line(at);
            }
            K::Mid | K::Tail => self.end_lambdas(at),
            K::Num | K::Str | K::Head => {}
        }
    }
}
