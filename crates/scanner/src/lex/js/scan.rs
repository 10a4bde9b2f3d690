//! Bytes to tokens. One pass; a bracket stack tells regex literals from divisions and braces from each other.

use super::token::{Brace, CONTROL, ESCAPED, EXPRESSION, K, Kw, NEWLINE, NO_MATE, Tok, UNCLOSED};
use crate::names::Names;
use crate::options::Limits;

/// Which grammar a file is in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Dialect {
    pub(super) types: Flag,
    pub(super) jsx: Flag,
    /// Whether `<!--` and `-->` start comments, as they do in scripts and not in modules.
    pub(super) html_comments: Flag,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Flag {
    Off,
    On,
}

/// What an open bracket is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Open {
    Paren {
        control: Flag,
    },
    Bracket,
    Brace {
        brace: Brace,
        after: After,
    },
    /// A hole of a template.
    Hole,
    /// A brace inside JSX.
    JsxHole,
    /// Between `<` and `>` of a tag.
    JsxTag {
        closing: Flag,
    },
    /// Between two tags.
    JsxText,
}

/// What may follow a closing brace.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum After {
    Statement,
    /// An arrow's body: no operand, no statement.
    Regex,
    Operator,
}

#[derive(Debug, Clone, Copy)]
struct Frame {
    open: Open,
    tok: u32,
    ternaries: u32,
    pending: Pending,
}

/// A `function` or `class` whose body has not come yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Pending {
    None,
    Function(After),
    Class(After),
}

/// What the lexer gives besides tokens.
#[derive(Debug, Default)]
pub(super) struct Scanned {
    pub(super) toks: Vec<Tok>,
    pub(super) comments: Vec<(u32, u32)>,
    /// Ranges whose reading was unsure: they are read as code too.
    pub(super) unsure: Vec<(u32, u32)>,
    /// Where the lexer stopped at a limit.
    pub(super) stopped: Option<usize>,
    /// Words of the name tables were seen.
    pub(super) known_words: u32,
}

pub(super) struct Scanner<'a> {
    src: &'a [u8],
    at: usize,
    names: &'a Names,
    dialect: Dialect,
    limits: &'a Limits,
    frames: Vec<Frame>,
    holes: usize,
    out: Scanned,
    newline: bool,
    /// An operand may start here, so that `/` starts a regex literal and `<` a tag.
    operand: bool,
    statement: bool,
    last: K,
    last_kw: Kw,
}

const CLASS_OTHER: u8 = 0;
const CLASS_BLANK: u8 = 1;
const CLASS_WORD: u8 = 2;
const CLASS_DIGIT: u8 = 3;
const CLASS_QUOTE: u8 = 4;
const CLASS_LINE: u8 = 5;
const CLASS_WIDE: u8 = 6;

const fn classes() -> [u8; 256] {
    let mut table = [CLASS_OTHER; 256];
    let mut index = 0_usize;
    while index < 256 {
        #[expect(clippy::indexing_slicing, clippy::cast_possible_truncation, reason = "index is below 256")]
        {
            let byte = index as u8;
            table[index] = match byte {
                b' ' | b'\t' | 0x0B | 0x0C => CLASS_BLANK,
                b'\n' | b'\r' => CLASS_LINE,
                b'a'..=b'z' | b'A'..=b'Z' | b'_' | b'$' => CLASS_WORD,
                b'0'..=b'9' => CLASS_DIGIT,
                b'"' | b'\'' => CLASS_QUOTE,
                0x80..=0xFF => CLASS_WIDE,
                _ => CLASS_OTHER,
            };
        }
        index = index.wrapping_add(1);
    }
    table
}

static CLASSES: [u8; 256] = classes();

#[inline]
fn class(byte: u8) -> u8 {
    CLASSES.get(usize::from(byte)).copied().unwrap_or(CLASS_OTHER)
}

/// Gives the length of a blank or line end that is not ASCII, and whether it ends a line.
pub(super) fn wide_blank(rest: &[u8]) -> Option<(usize, Flag)> {
    match rest {
        [0xC2, 0xA0, ..] => Some((2, Flag::Off)),
        [0xE2, 0x80, 0xA8 | 0xA9, ..] => Some((3, Flag::On)),
        [0xE1, 0x9A, 0x80, ..]
        | [0xE2, 0x80, 0x80..=0x8A | 0xAF, ..]
        | [0xE2, 0x81, 0x9F, ..]
        | [0xE3, 0x80, 0x80, ..]
        | [0xEF, 0xBB, 0xBF, ..] => Some((3, Flag::Off)),
        _ => None,
    }
}

fn offset(at: usize) -> u32 {
    u32::try_from(at).unwrap_or(u32::MAX)
}

impl<'a> Scanner<'a> {
    pub(super) fn new(src: &'a [u8], names: &'a Names, dialect: Dialect, limits: &'a Limits) -> Self {
        let base = Frame {
            open: Open::Brace { brace: Brace::Block, after: After::Statement },
            tok: NO_MATE,
            ternaries: 0,
            pending: Pending::None,
        };
        let toks = Vec::with_capacity(src.len() / 4);
        Self {
            src,
            at: 0,
            names,
            dialect,
            limits,
            frames: vec![base],
            holes: 0,
            out: Scanned { toks, ..Scanned::default() },
            newline: true,
            operand: true,
            statement: true,
            last: K::Semi,
            last_kw: Kw::None,
        }
    }

    pub(super) fn run(mut self) -> Scanned {
        if self.src.starts_with(&[0xEF, 0xBB, 0xBF]) {
            self.at = 3;
        }
        if self.rest().starts_with(b"#!") {
            self.line_comment();
        }
        while self.at < self.src.len() && self.out.stopped.is_none() {
            match self.top().open {
                Open::JsxText => self.jsx_text(),
                Open::JsxTag { closing } => self.jsx_tag(closing),
                _ => self.step(),
            }
        }
        self.unclosed();
        self.out
    }

    /// What an unclosed JSX text claims to be is read as code too.
    fn unclosed(&mut self) {
        let first =
            self.frames.iter().find(|frame| matches!(frame.open, Open::JsxText | Open::JsxTag { .. }));
        let start = first.and_then(|frame| self.out.toks.get(frame.tok as usize)).map(|tok| tok.start);
        if let Some(start) = start {
            self.out.unsure.push((start.saturating_add(1), offset(self.src.len())));
        }
    }

    fn rest(&self) -> &'a [u8] {
        self.src.get(self.at..).unwrap_or_default()
    }

    fn peek(&self, ahead: usize) -> u8 {
        self.src.get(self.at.wrapping_add(ahead)).copied().unwrap_or(0)
    }

    fn top(&self) -> Frame {
        self.frames.last().copied().unwrap_or(Frame {
            open: Open::Bracket,
            tok: NO_MATE,
            ternaries: 0,
            pending: Pending::None,
        })
    }

    #[inline]
    fn push(&mut self, kind: K, start: usize, end: usize, aux: u32, flags: u8) {
        let flags = if self.newline { flags | NEWLINE } else { flags };
        self.newline = false;
        self.out.toks.push(Tok {
            start: offset(start),
            end: offset(end),
            aux,
            kind,
            flags,
            brace: Brace::Block,
        });
        self.last = kind;
        if kind != K::Word {
            self.last_kw = Kw::None;
        }
    }

    #[inline]
    fn step(&mut self) {
        let Some(&byte) = self.src.get(self.at) else { return };
        match class(byte) {
            CLASS_BLANK => self.at = self.at.wrapping_add(1),
            CLASS_LINE => {
                self.newline = true;
                self.at = self.at.wrapping_add(1);
            }
            CLASS_WORD => self.word(K::Word, self.at),
            CLASS_DIGIT => self.number(),
            CLASS_QUOTE => self.string(byte),
            CLASS_WIDE => match wide_blank(self.rest()) {
                Some((len, line)) => {
                    self.newline |= line == Flag::On;
                    self.at = self.at.wrapping_add(len);
                }
                None => self.word(K::Word, self.at),
            },
            _ => self.punct(byte),
        }
    }

    fn word(&mut self, kind: K, start: usize) {
        let mut end = self.at;
        let mut escaped = false;
        loop {
            let rest = self.src.get(end..).unwrap_or_default();
            let plain = rest.iter().position(|byte| !matches!(class(*byte), CLASS_WORD | CLASS_DIGIT));
            end = end.wrapping_add(plain.unwrap_or(rest.len()));
            match self.src.get(end) {
                Some(b'\\') => {
                    let Some(len) = super::escape::identifier_escape(self.src, end) else { break };
                    escaped = true;
                    end = end.wrapping_add(len);
                }
                Some(0x80..) if wide_blank(self.src.get(end..).unwrap_or_default()).is_none() => {
                    end = end.wrapping_add(1);
                }
                _ => break,
            }
        }
        self.at = end.max(self.at.wrapping_add(1));
        let text = self.src.get(start..self.at).unwrap_or_default();
        let word = if escaped {
            self.names.words.get(&super::escape::decode_identifier(text))
        } else {
            self.names.words.get(text)
        };
        let after_dot = matches!(self.last, K::Dot | K::QDot);
        // An escaped keyword is no keyword, but an escaped name is that name.
        let kw = if kind == K::Private || after_dot || escaped { Kw::None } else { Kw::of(u32::from(word)) };
        self.out.known_words = self.out.known_words.saturating_add(u32::from(word != 0 && kw == Kw::None));
        self.keyword(kw);
        self.push(kind, start, self.at, u32::from(word), if escaped { ESCAPED } else { 0 });
        self.last_kw = kw;
    }

    /// Moves the state over a word.
    fn keyword(&mut self, kw: Kw) {
        let starts =
            self.statement || !self.operand || matches!(self.last_kw, Kw::Export | Kw::Default | Kw::Async);
        let after = if starts { After::Statement } else { After::Operator };
        let (operand, statement) = match kw {
            Kw::Do | Kw::Else | Kw::Try | Kw::Finally => (true, true),
            Kw::Function => {
                self.set_pending(Pending::Function(after));
                (false, false)
            }
            Kw::Class => {
                self.set_pending(Pending::Class(after));
                (false, false)
            }
            Kw::Typeof
            | Kw::Instanceof
            | Kw::In
            | Kw::New
            | Kw::Delete
            | Kw::Void
            | Kw::Throw
            | Kw::Case
            | Kw::Return
            | Kw::Extends
            | Kw::Const
            | Kw::Var
            | Kw::Import
            | Kw::Export
            | Kw::Default => (true, false),
            Kw::Let | Kw::Await | Kw::Yield => {
                self.maybe_regex();
                (true, false)
            }
            Kw::Of => (!self.operand && matches!(self.top().open, Open::Paren { control: Flag::On }), false),
            Kw::Async => (false, self.statement),
            _ => (false, false),
        };
        self.operand = operand;
        self.statement = statement;
    }

    /// `await` and `yield` may be plain names, after which `/` divides: then the rest of the line is read as code too.
    fn maybe_regex(&mut self) {
        let rest = self.src.get(self.at..).unwrap_or_default();
        let blanks = rest.iter().take_while(|byte| matches!(class(**byte), CLASS_BLANK)).count();
        if rest.get(blanks) == Some(&b'/') && !matches!(rest.get(blanks.wrapping_add(1)), Some(b'/' | b'*')) {
            let start = self.at.wrapping_add(blanks).wrapping_add(1);
            let line = rest.iter().position(|byte| class(*byte) == CLASS_LINE).unwrap_or(rest.len());
            self.out.unsure.push((offset(start), offset(self.at.wrapping_add(line))));
        }
    }

    fn set_pending(&mut self, pending: Pending) {
        if let Some(frame) = self.frames.last_mut() {
            frame.pending = pending;
        }
    }

    fn number(&mut self) {
        let start = self.at;
        let rest = self.rest();
        let digits = |from: usize| {
            rest.iter().skip(from).take_while(|byte| byte.is_ascii_digit() || **byte == b'_').count()
        };
        let mut len = digits(0);
        let octal = rest.first() == Some(&b'0')
            && len > 1
            && rest.get(..len).is_some_and(|text| text.iter().all(|byte| matches!(byte, b'0'..=b'7')));
        let prefixed =
            rest.first() == Some(&b'0') && len == 1 && rest.get(1).is_some_and(u8::is_ascii_alphabetic);
        if !octal && !prefixed {
            if rest.get(len) == Some(&b'.') {
                len = len.wrapping_add(1);
                len = len.wrapping_add(digits(len));
            }
            let sign = matches!(rest.get(len), Some(b'e' | b'E'))
                && matches!(rest.get(len.wrapping_add(1)), Some(b'+' | b'-'));
            if sign {
                len = len.wrapping_add(2);
            }
        }
        let tail = rest.iter().skip(len).take_while(|byte| matches!(class(**byte), CLASS_WORD | CLASS_DIGIT));
        len = len.wrapping_add(tail.count()).max(1);
        self.at = start.wrapping_add(len);
        self.push(K::Num, start, self.at, 0, 0);
        (self.operand, self.statement) = (false, false);
    }

    fn string(&mut self, quote: u8) {
        let start = self.at;
        let mut end = start.wrapping_add(1);
        let mut flags = UNCLOSED;
        loop {
            let rest = self.src.get(end..).unwrap_or_default();
            let stop = rest.iter().position(|byte| *byte == quote || matches!(byte, b'\\' | b'\n' | b'\r'));
            end = end.wrapping_add(stop.unwrap_or(rest.len()));
            match self.src.get(end) {
                Some(b'\\') => {
                    flags |= ESCAPED;
                    let crlf = self.src.get(end.wrapping_add(1)..end.wrapping_add(3)) == Some(b"\r\n");
                    end = end.wrapping_add(if crlf { 3 } else { 2 }).min(self.src.len());
                }
                Some(byte) if *byte == quote => {
                    end = end.wrapping_add(1);
                    flags &= !UNCLOSED;
                    break;
                }
                _ => break,
            }
        }
        self.at = end;
        if flags & UNCLOSED != 0 {
            self.out.unsure.push((offset(start.wrapping_add(1)), offset(end)));
        }
        self.push(K::Str, start, end, 0, flags);
        (self.operand, self.statement) = (false, false);
    }

    /// Reads a template from its opening mark or from the end of a hole.
    fn template(&mut self, start: usize, head: K, whole: K) {
        let mut end = start.wrapping_add(1);
        let mut flags = 0;
        loop {
            let rest = self.src.get(end..).unwrap_or_default();
            let Some(stop) = memchr::memchr3(b'`', b'\\', b'$', rest) else {
                end = self.src.len();
                flags |= UNCLOSED;
                break;
            };
            end = end.wrapping_add(stop);
            match (self.src.get(end), self.src.get(end.wrapping_add(1))) {
                (Some(b'`'), _) => {
                    end = end.wrapping_add(1);
                    break;
                }
                (Some(b'$'), Some(b'{')) => {
                    self.at = end.wrapping_add(2);
                    self.push(head, start, self.at, NO_MATE, flags);
                    self.open(Open::Hole);
                    self.holes = self.holes.wrapping_add(1);
                    if self.holes > self.limits.templates {
                        self.out.stopped = Some(self.at);
                    }
                    (self.operand, self.statement) = (true, false);
                    return;
                }
                (Some(b'\\'), _) => {
                    flags |= ESCAPED;
                    end = end.wrapping_add(2).min(self.src.len());
                }
                _ => end = end.wrapping_add(1),
            }
        }
        if flags & UNCLOSED != 0 {
            self.out.unsure.push((offset(start.wrapping_add(1)), offset(end)));
        }
        self.at = end;
        self.push(whole, start, end, NO_MATE, flags);
        (self.operand, self.statement) = (false, false);
    }

    fn open(&mut self, open: Open) {
        let tok = offset(self.out.toks.len().wrapping_sub(1));
        if self.frames.len() > self.limits.brackets {
            self.out.stopped = Some(self.at);
            return;
        }
        self.frames.push(Frame { open, tok, ternaries: 0, pending: Pending::None });
    }

    /// Joins a closing bracket, the last token, with the frame's opening one.
    fn join(&mut self, frame: Frame) {
        let close = self.out.toks.len().wrapping_sub(1);
        let number = offset(close);
        let mut brace = Brace::Block;
        if let Some(tok) = self.out.toks.get_mut(frame.tok as usize) {
            tok.aux = number;
            brace = tok.brace;
        }
        if let Some(tok) = self.out.toks.get_mut(close) {
            tok.aux = frame.tok;
            tok.brace = brace;
        }
    }

    fn line_comment(&mut self) {
        let start = self.at;
        let mut end = start;
        loop {
            let rest = self.src.get(end..).unwrap_or_default();
            let Some(stop) = memchr::memchr3(b'\n', b'\r', 0xE2, rest) else {
                end = self.src.len();
                break;
            };
            end = end.wrapping_add(stop);
            match self.src.get(end..) {
                Some([0xE2, 0x80, 0xA8 | 0xA9, ..] | [b'\n' | b'\r', ..]) => break,
                _ => end = end.wrapping_add(1),
            }
        }
        self.out.comments.push((offset(start), offset(end)));
        self.at = end;
    }

    fn block_comment(&mut self) {
        let start = self.at;
        let body = start.wrapping_add(2);
        let rest = self.src.get(body..).unwrap_or_default();
        let end = if let Some(len) = memchr::memmem::find(rest, b"*/") {
            body.wrapping_add(len).wrapping_add(2)
        } else {
            self.out.unsure.push((offset(body), offset(self.src.len())));
            self.src.len()
        };
        let text = self.src.get(start..end).unwrap_or_default();
        if memchr::memchr2(b'\n', b'\r', text).is_some()
            || text.windows(3).any(|w| matches!(w, [0xE2, 0x80, 0xA8 | 0xA9]))
        {
            self.newline = true;
        }
        self.out.comments.push((offset(start), offset(end)));
        self.at = end;
    }

    fn regex(&mut self) -> bool {
        let mut end = self.at.wrapping_add(1);
        let mut in_class = false;
        loop {
            match self.src.get(end..).unwrap_or_default() {
                [] | [b'\n' | b'\r', ..] | [0xE2, 0x80, 0xA8 | 0xA9, ..] => return false,
                [b'\\', next, ..] if !matches!(next, b'\n' | b'\r') => end = end.wrapping_add(2),
                [b'[', ..] => {
                    in_class = true;
                    end = end.wrapping_add(1);
                }
                [b']', ..] => {
                    in_class = false;
                    end = end.wrapping_add(1);
                }
                [b'/', ..] if !in_class => break,
                _ => end = end.wrapping_add(1),
            }
        }
        end = end.wrapping_add(1);
        let rest = self.src.get(end..).unwrap_or_default();
        let flags = rest.iter().take_while(|byte| matches!(class(**byte), CLASS_WORD | CLASS_DIGIT)).count();
        let start = self.at;
        self.at = end.wrapping_add(flags);
        self.push(K::Regex, start, self.at, 0, 0);
        (self.operand, self.statement) = (false, false);
        true
    }

    fn emit(&mut self, kind: K, len: usize) {
        let start = self.at;
        self.at = start.wrapping_add(len);
        self.push(kind, start, self.at, NO_MATE, 0);
        (self.operand, self.statement) = (true, false);
    }

    fn punct(&mut self, byte: u8) {
        match byte {
            b'(' => self.open_paren(),
            b'[' => {
                self.emit(K::LBracket, 1);
                self.open(Open::Bracket);
            }
            b'{' => self.open_brace(),
            b')' | b']' | b'}' => self.close(byte),
            b'.' => self.dot(),
            b';' => {
                self.emit(K::Semi, 1);
                self.statement = true;
                self.set_pending(Pending::None);
            }
            b',' => self.emit(K::Comma, 1),
            b':' => self.colon(),
            b'?' => self.question(),
            b'/' => self.slash(),
            b'`' => self.template(self.at, K::TplHead, K::Tpl),
            b'<' => self.less(),
            b'\\' => match super::escape::identifier_escape(self.src, self.at) {
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
            b'+' | b'-' if self.peek(1) == byte => self.inc_dec(),
            b'-' if self.dialect.html_comments == Flag::On
                && self.newline
                && self.rest().starts_with(b"-->") =>
            {
                self.line_comment();
            }
            b'=' if self.peek(1) == b'>' => self.emit(K::Arrow, 2),
            b'!' if self.peek(1) != b'=' && !self.operand && !self.newline => {
                // TypeScript's mark that a value is there: what follows is still an operator.
                self.emit(K::Bang, 1);
                self.operand = false;
            }
            _ => self.operator(byte),
        }
    }

    fn operator(&mut self, byte: u8) {
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
        self.emit(kind, len);
    }

    fn inc_dec(&mut self) {
        let postfix = !self.operand && !self.newline;
        self.emit(K::IncDec, 2);
        self.operand = !postfix;
    }

    fn dot(&mut self) {
        if self.peek(1).is_ascii_digit() && (self.operand || self.statement) {
            let start = self.at;
            self.at = start.wrapping_add(1);
            self.number();
            if let Some(tok) = self.out.toks.last_mut() {
                tok.start = u32::try_from(start).unwrap_or(u32::MAX);
            }
        } else if self.rest().starts_with(b"...") {
            self.emit(K::Ellipsis, 3);
        } else {
            self.emit(K::Dot, 1);
        }
    }

    fn question(&mut self) {
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

    fn colon(&mut self) {
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

    fn slash(&mut self) {
        match self.peek(1) {
            b'/' => self.line_comment(),
            b'*' => self.block_comment(),
            _ if self.operand && self.regex() => {}
            b'=' => self.emit(K::OpAssign, 2),
            _ => self.emit(K::Op, 1),
        }
    }

    fn less(&mut self) {
        let rest = self.rest();
        if self.dialect.html_comments == Flag::On && rest.starts_with(b"<!--") {
            self.line_comment();
            return;
        }
        if self.operand && self.dialect.jsx == Flag::On && self.tag_follows() {
            self.emit(K::JsxStart, 1);
            self.open(Open::JsxTag { closing: Flag::Off });
            return;
        }
        match (self.peek(1), self.peek(2)) {
            (b'<', b'=') => self.emit(K::OpAssign, 3),
            (b'<', _) if self.dialect.types == Flag::Off => self.emit(K::Op, 2),
            (b'=', _) => self.emit(K::Op, 2),
            _ => self.emit(K::Lt, 1),
        }
    }

    /// Says whether `<` in operand position starts a tag, or, in TypeScript, type parameters.
    fn tag_follows(&self) -> bool {
        let rest = self.src.get(self.at.wrapping_add(1)..).unwrap_or_default();
        let blanks = rest.iter().take_while(|byte| matches!(class(**byte), CLASS_BLANK | CLASS_LINE)).count();
        let rest = rest.get(blanks..).unwrap_or_default();
        match rest.first() {
            Some(b'>') => return true,
            Some(byte) if matches!(class(*byte), CLASS_WORD | CLASS_WIDE) => {}
            _ => return false,
        }
        if self.dialect.types == Flag::Off {
            return true;
        }
        let name = rest.iter().take_while(|byte| matches!(class(**byte), CLASS_WORD | CLASS_DIGIT)).count();
        let tail = rest.get(name..).unwrap_or_default();
        let blanks = tail.iter().take_while(|byte| matches!(class(**byte), CLASS_BLANK | CLASS_LINE)).count();
        let tail = tail.get(blanks..).unwrap_or_default();
        !(tail.starts_with(b",")
            || (tail.starts_with(b"extends") && blanks > 0 && !tail.starts_with(b"extends=")))
    }

    fn open_paren(&mut self) {
        let control = match self.last_kw {
            Kw::If | Kw::While | Kw::For | Kw::With => Flag::On,
            Kw::Await if self.for_await() => Flag::On,
            _ => Flag::Off,
        };
        self.emit(K::LParen, 1);
        if control == Flag::On
            && let Some(tok) = self.out.toks.last_mut()
        {
            tok.flags |= CONTROL;
        }
        self.open(Open::Paren { control });
    }

    fn for_await(&self) -> bool {
        let index = self.out.toks.len().wrapping_sub(2);
        self.out.toks.get(index).is_some_and(|tok| tok.kind == K::Word && Kw::of(tok.aux) == Kw::For)
    }

    fn open_brace(&mut self) {
        let pending = self.top().pending;
        let (brace, after) = if self.operand && !self.statement && self.last != K::Arrow {
            (Brace::Object, After::Operator)
        } else if self.last == K::Arrow {
            (Brace::Body, After::Regex)
        } else {
            match pending {
                Pending::Function(after) if !self.operand => (Brace::Body, after),
                Pending::Class(after) if !self.operand => (Brace::Class, after),
                _ => self.plain_brace(),
            }
        };
        if brace != Brace::Object {
            self.set_pending(Pending::None);
        }
        self.emit(K::LBrace, 1);
        if let Some(tok) = self.out.toks.last_mut() {
            tok.brace = brace;
        }
        self.open(Open::Brace { brace, after });
        self.statement = matches!(brace, Brace::Block | Brace::Body);
    }

    /// A brace after an operand or where a statement starts: a method's body in a class or object, else a block.
    fn plain_brace(&self) -> (Brace, After) {
        let member = matches!(self.top().open, Open::Brace { brace: Brace::Object | Brace::Class, .. });
        if member && self.last == K::RParen {
            (Brace::Body, After::Statement)
        } else {
            (Brace::Block, After::Statement)
        }
    }

    fn close(&mut self, byte: u8) {
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
            // A stray bracket closes nothing.
            self.emit(kind, 1);
            self.operand = byte == b'}';
            self.statement = byte == b'}';
            return;
        }
        self.frames.truncate(self.frames.len().wrapping_sub(1));
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

    fn jsx_text(&mut self) {
        let start = self.at;
        let rest = self.rest();
        let len = memchr::memchr2(b'<', b'{', rest).unwrap_or(rest.len());
        if len > 0 {
            self.at = start.wrapping_add(len);
            self.push(K::JsxText, start, self.at, 0, 0);
        }
        match self.src.get(self.at) {
            Some(b'{') => {
                self.emit(K::LBrace, 1);
                if let Some(tok) = self.out.toks.last_mut() {
                    tok.brace = Brace::Object;
                }
                self.open(Open::JsxHole);
            }
            Some(b'<') => {
                let closing = if self.peek(1) == b'/' { Flag::On } else { Flag::Off };
                if closing == Flag::On {
                    self.at = self.at.wrapping_add(2);
                } else {
                    self.emit(K::JsxStart, 1);
                }
                self.open(Open::JsxTag { closing });
            }
            _ => {}
        }
    }

    fn jsx_tag(&mut self, closing: Flag) {
        let Some(&byte) = self.src.get(self.at) else { return };
        match byte {
            b'"' | b'\'' => {
                let start = self.at;
                let body = start.wrapping_add(1);
                let rest = self.src.get(body..).unwrap_or_default();
                let len = memchr::memchr(byte, rest).map_or(rest.len(), |len| len.wrapping_add(1));
                self.at = body.wrapping_add(len);
                self.push(K::JsxText, start, self.at, 0, 0);
            }
            b'{' => {
                self.emit(K::LBrace, 1);
                if let Some(tok) = self.out.toks.last_mut() {
                    tok.brace = Brace::Object;
                }
                self.open(Open::JsxHole);
            }
            b'/' if self.peek(1) == b'>' => self.end_tag(2, Flag::On),
            b'>' => self.end_tag(1, closing),
            b'/' if matches!(self.peek(1), b'/' | b'*') => self.slash(),
            _ => self.at = self.at.wrapping_add(1),
        }
    }

    /// Ends a tag. A closed element returns to what was around it.
    fn end_tag(&mut self, len: usize, closed: Flag) {
        let tag = self.top();
        self.at = self.at.wrapping_add(len);
        self.frames.truncate(self.frames.len().wrapping_sub(1));
        let closing_tag = matches!(tag.open, Open::JsxTag { closing: Flag::On });
        if closed == Flag::Off {
            let number = tag.tok;
            self.frames.push(Frame {
                open: Open::JsxText,
                tok: number,
                ternaries: 0,
                pending: Pending::None,
            });
            return;
        }
        if closing_tag && matches!(self.top().open, Open::JsxText) {
            self.frames.truncate(self.frames.len().wrapping_sub(1));
        }
        let start = self.at.wrapping_sub(len);
        self.push(K::JsxEnd, start, self.at, 0, 0);
        if !matches!(self.top().open, Open::JsxText) {
            (self.operand, self.statement) = (false, false);
        }
    }
}
