//! Punctuation, and the bracket stack.

use super::super::token::{Brace, CONTROL, EXPRESSION, K, Kw, Tok};
use super::super::{built, escape, text_of};
use super::{After, CLASS_WIDE, CLASS_WORD, Flag, Open, Pending, Scanner, class};

/// Parentheses and arrays in one another that are looked through for the index around them.
const DEPTH: usize = 16;

/// Says whether a bracket after such a token is an index.
const fn ends_operand(kind: K) -> bool {
    matches!(
        kind,
        K::Word
            | K::Private
            | K::Str
            | K::Tpl
            | K::TplTail
            | K::Regex
            | K::Num
            | K::RParen
            | K::RBracket
            | K::RBrace
            | K::Dot
            | K::QDot
            | K::Bang
            | K::Gt
            | K::JsxEnd
            | K::IncDec
    )
}

impl Scanner<'_> {
    pub(super) fn punct(&mut self, byte: u8) {
        match byte {
            b'(' => self.open_paren(),
            b'[' => {
                self.emit(K::LBracket, 1);
                self.open(Open::Bracket);
            }
            b'{' => self.open_brace(),
            b')' | b']' | b'}' => self.close(byte),
            b'/' => self.slash(),
            b'`' => self.template(self.at, K::TplHead, K::Tpl),
            b'<' => self.less(),
            b'\\' => match escape::identifier_escape(self.src, self.at) {
                Some(_) => self.word(K::Word, self.at),
                None => self.at = self.at.wrapping_add(1),
            },
            b'#' => {
                let start = self.at;
                self.at = start.wrapping_add(1);
                if matches!(class(self.peek(0)), CLASS_WORD | CLASS_WIDE) || self.peek(0) == b'\\' {
                    self.word(K::Private, start);
                }
            }
            b'@' => self.emit(K::At, 1),
            b'-' if self.newline && self.rest().starts_with(b"-->") && self.is_script_comment() => {
                self.line_comment();
            }
            b'+' | b'-' if self.peek(1) == byte => self.inc_dec(),
            b'=' if self.peek(1) == b'>' => self.emit(K::Arrow, 2),
            b'!' if self.peek(1) != b'=' && !self.operand && !self.newline => {
                // TypeScript's mark that a value is there: what follows is still an operator.
                self.emit(K::Bang, 1);
                self.operand = false;
            }
            _ => self.operator(byte),
        }
    }

    /// Says whether a mark that starts a comment in scripts starts one; notes that it stands there.
    pub(super) fn is_script_comment(&mut self) -> bool {
        self.out.script_comments = true;
        self.dialect.html_comments == Flag::On
    }

    /// Marks that neither open nor close anything.
    pub(super) fn plain(&mut self, byte: u8) {
        match byte {
            b'.' => self.dot(),
            b',' => self.emit(K::Comma, 1),
            b':' => self.colon(),
            b'?' => self.question(),
            _ => {
                self.emit(K::Semi, 1);
                self.statement = true;
                self.set_pending(Pending::None);
            }
        }
    }

    pub(super) fn operator(&mut self, byte: u8) {
        let (one, two, three) = (self.peek(1), self.peek(2), self.peek(3));
        let (kind, len) = match (byte, one, two) {
            (b'=' | b'!', b'=', b'=') => (K::Equality, 3),
            (b'=' | b'!', b'=', _) => (K::Equality, 2),
            (b'=', ..) => (K::Assign, 1),
            (b'!', ..) => (K::Bang, 1),
            (b'|', b'|', b'=') | (b'&', b'&', b'=') => (K::EitherAssign, 3),
            (b'|', b'|', _) | (b'&', b'&', _) => (K::Either, 2),
            (b'*', b'*', b'=') | (b'>', b'>', b'=') => (K::OpAssign, 3),
            (b'>', b'>', b'>') if three == b'=' => (K::OpAssign, 4),
            (b'*', b'*', _) | (b'>', b'=', _) => (K::Op, 2),
            (b'>', ..) => (K::Gt, 1),
            (b'+' | b'-' | b'*' | b'%' | b'&' | b'|' | b'^', b'=', _) => (K::OpAssign, 2),
            (b'+', ..) => (K::Plus, 1),
            _ => (K::Op, 1),
        };
        if kind == K::Plus && self.in_index() {
            self.event();
        }
        self.emit(kind, len);
    }

    /// Says whether an index is being read, in which a name may be put together.
    fn in_index(&self) -> bool {
        for (frame, depth) in self.frames.iter().rev().zip(0_usize..) {
            match frame.open {
                _ if depth >= DEPTH => return true,
                Open::Paren { .. } => {}
                Open::Bracket => {
                    let before = (frame.tok as usize).checked_sub(1).and_then(|at| self.out.toks.get(at));
                    if before.is_some_and(|tok| ends_operand(tok.kind)) {
                        return true;
                    }
                }
                _ => return false,
            }
        }
        false
    }

    pub(super) fn inc_dec(&mut self) {
        let postfix = !self.operand && !self.newline;
        self.emit(K::IncDec, 2);
        self.operand = !postfix;
    }

    pub(super) fn dot(&mut self) {
        if self.peek(1).is_ascii_digit() && (self.operand || self.statement) {
            let start = self.at;
            self.at = start.wrapping_add(1);
            self.number();
            if let Some(tok) = self.out.toks.last_mut() {
                let start = u32::try_from(start).unwrap_or(u32::MAX);
                *tok = Tok::new(tok.kind, start, tok.end(), tok.flags);
            }
        } else if self.rest().starts_with(b"...") {
            self.emit(K::Ellipsis, 3);
        } else {
            self.emit(K::Dot, 1);
        }
    }

    pub(super) fn question(&mut self) {
        match (self.peek(1), self.peek(2)) {
            (b'?', b'=') => self.emit(K::EitherAssign, 3),
            (b'?', _) => self.emit(K::Either, 2),
            (b'.', digit) if !digit.is_ascii_digit() => self.emit(K::QDot, 2),
            (next, _) => {
                // A mark right before `:`, `)`, `,`, `=` or `;` belongs to a type.
                let optional = matches!(next, b':' | b')' | b',' | b'=' | b';' | b']' | b'}' | b'(');
                if let Some(frame) = self.frames.last_mut()
                    && !(optional && self.dialect.types == Flag::On)
                {
                    frame.ternaries = frame.ternaries.saturating_add(1);
                }
                self.emit(K::Question, 1);
            }
        }
    }

    pub(super) fn colon(&mut self) {
        let frame = self.top();
        let method = self.dialect.types == Flag::On
            && frame.ternaries == 0
            && self.last == K::RParen
            && matches!(frame.open, Open::Brace { brace: Brace::Object | Brace::Class, .. });
        if method {
            self.set_pending(Pending::Function(After::Statement));
        }
        let statement = self.frames.last_mut().is_some_and(|frame| {
            if frame.ternaries > 0 {
                frame.ternaries = frame.ternaries.wrapping_sub(1);
                return false;
            }
            frame.pending = match frame.pending {
                Pending::Class(_) => Pending::None,
                other => other,
            };
            matches!(frame.open, Open::Brace { brace: Brace::Block | Brace::Body, .. })
        });
        // A return type of a function stands between its head and its body.
        let typed = matches!(self.top().pending, Pending::Function(_));
        self.emit(K::Colon, 1);
        self.statement = statement && !typed;
    }

    pub(super) fn slash(&mut self) {
        // A brace of a type, a body or an object may end, behind which a regex begins or a division goes on: both are read.
        let typed =
            self.dialect.types == Flag::On && self.last == K::RBrace && (self.newline || self.operand);
        match self.peek(1) {
            b'/' => self.line_comment(),
            b'*' => self.block_comment(),
            _ if typed => {
                self.unsure_line(self.at.wrapping_add(usize::from(self.operand)));
                // One that does not end on its line is a division.
                if !(self.operand && self.regex()) {
                    self.emit(K::Op, 1);
                }
            }
            _ if self.operand && self.regex() => {}
            b'=' => self.emit(K::OpAssign, 2),
            _ => self.emit(K::Op, 1),
        }
    }

    pub(super) fn open_paren(&mut self) {
        let control = match self.last_kw {
            Kw::If | Kw::While | Kw::For | Kw::With => Flag::On,
            Kw::Await if self.for_await() => Flag::On,
            _ => Flag::Off,
        };
        if self.last == K::Word && self.out.toks.last().is_some_and(|tok| self.is_folder(*tok)) {
            self.event();
        }
        self.emit(K::LParen, 1);
        if control == Flag::On
            && let Some(tok) = self.out.toks.last_mut()
        {
            tok.flags |= CONTROL;
        }
        self.open(Open::Paren { control });
    }

    /// Says whether a call in an index may give a constant name.
    fn is_folder(&self, tok: Tok) -> bool {
        self.in_index() && built::is_folder(text_of(self.src, tok))
    }

    pub(super) fn for_await(&self) -> bool {
        let index = self.out.toks.len().wrapping_sub(2);
        self.out.toks.get(index).is_some_and(|tok| tok.kind == K::Word && Kw::of(tok.word()) == Kw::For)
    }

    pub(super) fn open_brace(&mut self) {
        let pending = self.top().pending;
        let operand = self.operand && !self.ends_head(pending);
        let (brace, after) = if operand && !self.statement && self.last != K::Arrow {
            (Brace::Object, After::Operator)
        } else if self.last == K::Arrow {
            (Brace::Body, After::Regex)
        } else {
            match pending {
                Pending::Function(after) if !operand => (Brace::Body, after),
                Pending::Class(after) if !operand => (Brace::Class, after),
                _ => self.plain_brace(),
            }
        };
        if brace != Brace::Object {
            self.set_pending(Pending::None);
        }
        self.emit(K::LBrace, 1);
        if let Some(tok) = self.out.toks.last_mut() {
            tok.set_brace(brace);
        }
        self.open(Open::Brace { brace, after });
        self.statement = matches!(brace, Brace::Block | Brace::Body);
    }

    /// Says whether a type ends where the scanner stands, behind which a body begins, `f(): void {`, `class A extends B<C> {`, or a
    /// block on a line of its own.
    fn ends_head(&self, pending: Pending) -> bool {
        let block = || {
            self.newline && matches!(self.top().open, Open::Brace { brace: Brace::Block | Brace::Body, .. })
        };
        self.dialect.types == Flag::On
            && (self.last == K::Gt || self.last_kw == Kw::Void)
            && (!matches!(pending, Pending::None) || block())
    }

    /// A brace after an operand or where a statement starts: a method's body in a class or object, else a block.
    pub(super) fn plain_brace(&self) -> (Brace, After) {
        let member = matches!(self.top().open, Open::Brace { brace: Brace::Object | Brace::Class, .. });
        if member && self.last == K::RParen {
            (Brace::Body, After::Statement)
        } else {
            (Brace::Block, After::Statement)
        }
    }

    pub(super) fn close(&mut self, byte: u8) {
        let kind = match byte {
            b')' => K::RParen,
            b']' => K::RBracket,
            _ => K::RBrace,
        };
        let fits = |open: Open| match open {
            Open::Paren { .. } => byte == b')',
            Open::Bracket => byte == b']',
            Open::Brace { .. } | Open::Hole | Open::JsxHole => byte == b'}',
            Open::JsxTag { .. } | Open::JsxText => false,
        };
        let frame = self.top();
        if self.frames.len() < 2 || !fits(frame.open) {
            // A stray bracket closes nothing, and the walk has to see that it does not.
            self.event();
            self.emit(kind, 1);
            self.operand = byte == b'}';
            self.statement = byte == b'}';
            return;
        }
        self.frames.truncate(self.frames.len().wrapping_sub(1));
        if matches!(frame.open, Open::Brace { brace: Brace::Body, .. }) {
            self.bodies = self.bodies.wrapping_sub(1);
        }
        if frame.open == Open::Hole {
            self.holes = self.holes.wrapping_sub(1);
            let start = self.at;
            self.template(start, K::TplMid, K::TplTail);
            return;
        }
        self.emit(kind, 1);
        self.join(frame);
        let expression = matches!(
            frame.open,
            Open::Brace { brace: Brace::Body | Brace::Class, after: After::Operator | After::Regex }
        );
        if expression && let Some(tok) = self.out.toks.last_mut() {
            tok.flags |= EXPRESSION;
        }
        (self.operand, self.statement) = match frame.open {
            Open::Paren { control: Flag::On } | Open::Brace { after: After::Statement, .. } => (true, true),
            Open::Brace { after: After::Regex, .. } => (true, false),
            _ => (false, false),
        };
    }
}
