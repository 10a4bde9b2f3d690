//! Punctuation, and the stack of brackets.

use super::super::JsTypes;
use super::super::escape;
use super::super::keyword::Keyword;
use super::super::token::{Token, TokenKind};
use super::{Brace, BracketKind, ByteClass, Continuation, Scanner, class, offset};

const fn holds_statements(open: BracketKind) -> bool {
    matches!(open, BracketKind::Brace(Brace::Block | Brace::Body(_)))
}

impl Scanner<'_> {
    pub(super) fn mark(&mut self, byte: u8) {
        match byte {
            b'(' => self.open_paren(),
            b'[' => {
                self.emit(TokenKind::LBracket, 1);
                self.open(BracketKind::Bracket);
            }
            b'{' => self.open_brace(),
            b')' | b']' | b'}' => self.close(byte),
            b'/' => self.slash(),
            b'`' => self.template(self.at, TokenKind::TemplateHead, TokenKind::Template),
            b'<' => self.less(),
            // An identifier may begin with an escape: `\u0065val`.
            b'\\' => match escape::identifier_escape(self.src, self.at) {
                Some(_) => self.word(TokenKind::Word, self.at),
                None => self.at += 1,
            },
            b'#' => {
                let start = self.at;
                self.at = start + 1;
                if matches!(class(self.peek(0)), ByteClass::Word | ByteClass::Wide) || self.peek(0) == b'\\' {
                    self.word(TokenKind::Private, start);
                }
            }
            b'@' => self.emit(TokenKind::At, 1),
            // In scripts, `-->` at the start of a line begins a comment. It dates from pages that hid
            // scripts.
            b'-' if self.newline && self.rest().starts_with(b"-->") && self.is_html_comment() => {
                self.line_comment();
            }
            b'+' | b'-' if self.peek(1) == byte => {
                // After an operand on the same line, `++` is postfix, and `/` after it divides.
                let postfix = !self.operand && !self.newline;
                self.emit(TokenKind::IncDec, 2);
                self.operand = !postfix;
            }
            b'=' if self.peek(1) == b'>' => self.emit(TokenKind::Arrow, 2),
            b'!' if self.peek(1) != b'=' && !self.operand && !self.newline => {
                // The non-null assertion of TypeScript; an operator follows it.
                self.emit(TokenKind::Bang, 1);
                self.operand = false;
            }
            _ => self.operator(byte),
        }
    }

    /// Reads punctuation that does not open or close anything.
    pub(super) fn plain(&mut self, byte: u8) {
        match byte {
            b'.' => self.dot(),
            b',' => self.emit(TokenKind::Comma, 1),
            b':' => self.colon(),
            b'?' => self.question(),
            _ => {
                self.emit(TokenKind::Semi, 1);
                self.statement = true;
                self.set_pending(None);
            }
        }
    }

    /// Reads an operator. `>` is always a token of its own, because it may close type arguments: `A<B<C>>`.
    fn operator(&mut self, byte: u8) {
        let (one, two, three) = (self.peek(1), self.peek(2), self.peek(3));
        let (kind, len) = match (byte, one, two) {
            (b'=' | b'!', b'=', b'=') => (TokenKind::Equality, 3),
            (b'=' | b'!', b'=', _) => (TokenKind::Equality, 2),
            (b'=', ..) => (TokenKind::Assign, 1),
            (b'!', ..) => (TokenKind::Bang, 1),
            (b'|', b'|', b'=') | (b'&', b'&', b'=') => (TokenKind::EitherAssign, 3),
            (b'|', b'|', _) | (b'&', b'&', _) => (TokenKind::Either, 2),
            (b'*', b'*', b'=') | (b'>', b'>', b'=') => (TokenKind::OpAssign, 3),
            (b'>', b'>', b'>') if three == b'=' => (TokenKind::OpAssign, 4),
            (b'*', b'*', _) => (TokenKind::Star, 2),
            (b'>', b'=', _) => (TokenKind::Op, 2),
            (b'>', ..) => (TokenKind::Gt, 1),
            (b'+', b'=', _) => (TokenKind::PlusAssign, 2),
            (b'-' | b'*' | b'%' | b'&' | b'|' | b'^', b'=', _) => (TokenKind::OpAssign, 2),
            (b'+', ..) => (TokenKind::Plus, 1),
            (b'-', ..) => (TokenKind::Minus, 1),
            (b'*' | b'%', ..) => (TokenKind::Star, 1),
            _ => (TokenKind::Op, 1),
        };
        self.emit(kind, len);
    }

    fn dot(&mut self) {
        // `.5` is a number only if an operand may start here.
        if self.peek(1).is_ascii_digit() && (self.operand || self.statement) {
            let start = self.at;
            self.at = start + 1;
            self.number();
            if let Some(tok) = self.out.tokens.last_mut() {
                *tok = Token::new(tok.kind, tok.kw, offset(start), tok.end(), tok.flags);
            }
        } else if self.rest().starts_with(b"...") {
            self.emit(TokenKind::Ellipsis, 3);
        } else {
            self.emit(TokenKind::Dot, 1);
        }
    }

    fn question(&mut self) {
        match (self.peek(1), self.peek(2)) {
            (b'?', b'=') => self.emit(TokenKind::EitherAssign, 3),
            (b'?', _) => self.emit(TokenKind::Either, 2),
            // `a ?.5 : b` is a conditional expression.
            (b'.', digit) if !digit.is_ascii_digit() => self.emit(TokenKind::QDot, 2),
            (next, _) => {
                // A `?` directly before one of these marks an optional member or parameter.
                let optional = matches!(next, b':' | b')' | b',' | b'=' | b';' | b']' | b'}' | b'(');
                if let Some(frame) = self.frames.last_mut()
                    && !(optional && self.options.types == JsTypes::Erased)
                {
                    frame.ternaries = frame.ternaries.saturating_add(1);
                }
                self.emit(TokenKind::Question, 1);
            }
        }
    }

    /// Reads the colon of a conditional, type, label, `case` or property. A statement follows a label or
    /// `case`.
    fn colon(&mut self) {
        let frame = self.top();
        // In TypeScript, `f(): T {` in a class or object is a method, so its body is expected.
        let method = self.options.types == JsTypes::Erased
            && frame.ternaries == 0
            && self.last == TokenKind::RParen
            && matches!(frame.open, BracketKind::Brace(Brace::Object | Brace::Class(_)));
        if method {
            self.set_pending(Some(Brace::Body(Continuation::Statement)));
        }
        let statement = self.frames.last_mut().is_some_and(|frame| {
            if frame.ternaries > 0 {
                frame.ternaries = frame.ternaries.wrapping_sub(1);
                return false;
            }
            frame.pending = frame.pending.filter(|pending| !matches!(pending, Brace::Class(_)));
            holds_statements(frame.open)
        });
        // A return type is between the head and the body of a function.
        let typed = matches!(self.top().pending, Some(Brace::Body(_)));
        self.emit(TokenKind::Colon, 1);
        self.statement = statement && !typed;
    }

    pub(super) fn slash(&mut self) {
        // After the brace of a type, body or object, `/` may start a regular expression or a division; both
        // readings are kept.
        let typed = self.options.types == JsTypes::Erased
            && self.last == TokenKind::RBrace
            && (self.newline || self.operand);
        match self.peek(1) {
            b'/' => self.line_comment(),
            b'*' => self.block_comment(),
            _ if typed => {
                self.unsure_line(self.at + usize::from(self.operand));
                // A regular expression must end on its line, otherwise `/` is a division.
                if !(self.operand && self.regex()) {
                    self.emit(TokenKind::Star, 1);
                }
            }
            _ if self.operand && self.regex() => {}
            b'=' => self.emit(TokenKind::OpAssign, 2),
            _ => self.emit(TokenKind::Star, 1),
        }
    }

    /// Opens a parenthesis. After that of `if (x)`, a statement follows, so `/a/.test(b)` is a regular
    /// expression.
    fn open_paren(&mut self) {
        let before = self.out.tokens.len().wrapping_sub(2);
        let for_await = || self.out.tokens.get(before).is_some_and(|tok| tok.kw == Keyword::For);
        let open = match self.last_kw {
            Keyword::If | Keyword::While | Keyword::For | Keyword::With => BracketKind::Control,
            Keyword::Await if for_await() => BracketKind::Control,
            _ => BracketKind::Paren,
        };
        self.emit(TokenKind::LParen, 1);
        self.open(open);
    }

    /// Opens a brace: an object if an operand may start, otherwise a block or an expected body.
    fn open_brace(&mut self) {
        let pending = self.top().pending;
        let operand = self.operand && !self.ends_head(pending);
        let brace = match pending {
            _ if self.last == TokenKind::Arrow => Brace::Body(Continuation::Regex),
            _ if operand && !self.statement => Brace::Object,
            Some(pending) if !operand => pending,
            _ => self.plain_brace(),
        };
        if brace != Brace::Object {
            self.set_pending(None);
        }
        self.emit(TokenKind::LBrace, 1);
        self.open(BracketKind::Brace(brace));
        self.statement = holds_statements(BracketKind::Brace(brace));
    }

    /// Returns `true` if a type ends here before a body or before a block on a line of its own.
    ///
    /// Examples are `f(): void {` and `class A extends B<C> {`.
    fn ends_head(&self, pending: Option<Brace>) -> bool {
        self.options.types == JsTypes::Erased
            && (self.last == TokenKind::Gt || self.last_kw == Keyword::Void)
            && (pending.is_some() || (self.newline && holds_statements(self.top().open)))
    }

    /// Returns the kind of a brace after an operand or at the start of a statement: a method body or a block.
    fn plain_brace(&self) -> Brace {
        let member = matches!(self.top().open, BracketKind::Brace(Brace::Object | Brace::Class(_)));
        if member && self.last == TokenKind::RParen {
            Brace::Body(Continuation::Statement)
        } else {
            Brace::Block
        }
    }

    fn close(&mut self, byte: u8) {
        let (kind, fits) = match (byte, self.top().open) {
            (b')', open) => (TokenKind::RParen, matches!(open, BracketKind::Paren | BracketKind::Control)),
            (b']', open) => (TokenKind::RBracket, matches!(open, BracketKind::Bracket)),
            (_, open) => (
                TokenKind::RBrace,
                matches!(open, BracketKind::Brace(_) | BracketKind::Hole | BracketKind::JsxHole),
            ),
        };
        let frame = self.top();
        // An unmatched bracket. A statement most likely follows a brace, and an operator the others.
        if self.frames.len() < 2 || !fits {
            self.emit(kind, 1);
            self.operand = byte == b'}';
            self.statement = byte == b'}';
            return;
        }
        self.frames.truncate(self.frames.len().wrapping_sub(1));
        if frame.open == BracketKind::Hole {
            return self.template(self.at, TokenKind::TemplateMiddle, TokenKind::TemplateTail);
        }
        self.emit(kind, 1);
        self.join(frame);
        // This state decides how the next `/` and `{` are read.
        (self.operand, self.statement) = match frame.open {
            BracketKind::Brace(Brace::Body(Continuation::Regex)) => (true, false),
            BracketKind::Brace(
                Brace::Body(Continuation::Operator) | Brace::Class(Continuation::Operator) | Brace::Object,
            ) => (false, false),
            BracketKind::Control | BracketKind::Brace(_) => (true, true),
            _ => (false, false),
        };
    }
}
