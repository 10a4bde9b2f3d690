//! Bytes to tokens. One pass; a bracket stack tells regex literals from divisions and braces from each other.

mod jsx;
mod literal;
mod punct;
mod regex;
mod word;

use super::token::{Brace, DULL, ESCAPED, EVENT, K, Kw, NEWLINE, NO_MATE, Tok, UNCLOSED, VIEWED};
use crate::names::{Names, STARRED, prefix_at};
use crate::options::Limits;
use crate::text::{self, Within};

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
    /// The bracket that it is in, or that it is.
    bracket: u32,
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

/// A bracket of the file.
#[derive(Debug, Clone, Copy)]
pub(super) struct Bracket {
    /// Its opening token.
    pub(super) open: u32,
    /// The bracket around it.
    pub(super) parent: u32,
}

/// A token from which a finding may come, with the bracket that it is in.
#[derive(Debug, Clone, Copy)]
pub(super) struct Event {
    pub(super) tok: u32,
    pub(super) bracket: u32,
}

/// What the lexer gives besides tokens.
#[derive(Debug, Default)]
pub(super) struct Scanned {
    pub(super) toks: Vec<Tok>,
    /// In the order of their opening tokens.
    pub(super) brackets: Vec<Bracket>,
    pub(super) events: Vec<Event>,
    pub(super) comments: Vec<(u32, u32)>,
    /// Ranges whose reading was unsure: they are read as code too.
    pub(super) unsure: Vec<(u32, u32)>,
    /// Where the lexer stopped at a limit.
    pub(super) stopped: Option<usize>,
    /// Identifiers with escapes or with bytes that are not ASCII.
    pub(super) identifiers: Vec<u32>,
    /// Some text has escapes.
    pub(super) escaped: bool,
    /// Tokens after a long gap, with where the gap starts.
    pub(super) gaps: Vec<(u32, u32)>,
    /// A comment of scripts begins somewhere, which is none in a module.
    pub(super) script_comments: bool,
}

/// How often the lexer may look at a byte without passing it.
const LOOKS: u32 = 64;

/// A text of so many bytes is large.
const LARGE: usize = 1 << 20;

/// A gap of so many bytes is looked at.
pub(super) const GAP: usize = 200;

pub(super) struct Scanner<'a> {
    src: &'a [u8],
    at: usize,
    /// Where the last token ends.
    end: usize,
    names: &'a Names,
    dialect: Dialect,
    limits: &'a Limits,
    /// Texts of so many bytes are viewed: those with marks, and all.
    least: (usize, usize),
    frames: Vec<Frame>,
    holes: usize,
    /// Functions that are open.
    bodies: u32,
    out: Scanned,
    newline: bool,
    /// An operand may start here, so that `/` starts a regex literal and `<` a tag.
    operand: bool,
    statement: bool,
    last: K,
    last_kw: Kw,
    endless: regex::Endless,
    /// The end of the line that was looked for last.
    line_end: usize,
}

const CLASS_OTHER: u8 = 0;
const CLASS_BLANK: u8 = 1;
const CLASS_WORD: u8 = 2;
const CLASS_DIGIT: u8 = 3;
const CLASS_QUOTE: u8 = 4;
const CLASS_LINE: u8 = 5;
const CLASS_WIDE: u8 = 6;
/// Marks that open and close nothing.
const CLASS_PLAIN: u8 = 7;

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
                b'.' | b',' | b';' | b':' | b'?' => CLASS_PLAIN,
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

#[inline]
fn is_word(byte: u8) -> bool {
    matches!(class(byte), CLASS_WORD | CLASS_DIGIT)
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
    pub(super) fn new(
        src: &'a [u8],
        names: &'a Names,
        dialect: Dialect,
        limits: &'a Limits,
        least: (usize, usize),
    ) -> Self {
        let base = Frame {
            open: Open::Brace { brace: Brace::Block, after: After::Statement },
            tok: NO_MATE,
            bracket: NO_MATE,
            ternaries: 0,
            pending: Pending::None,
        };
        let toks = Vec::with_capacity(src.len() / 4);
        // A long list that grows leaves its last room as a hole behind.
        let large = if src.len() < LARGE { 0 } else { src.len() / 32 };
        let brackets = Vec::with_capacity(large);
        Self {
            src,
            at: 0,
            end: 0,
            names,
            dialect,
            limits,
            least,
            frames: vec![base],
            holes: 0,
            bodies: 0,
            out: Scanned { toks, brackets, ..Scanned::default() },
            newline: true,
            operand: true,
            statement: true,
            last: K::Semi,
            last_kw: Kw::None,
            endless: regex::Endless::default(),
            line_end: 0,
        }
    }

    pub(super) fn run(mut self) -> Scanned {
        if self.src.starts_with(&[0xEF, 0xBB, 0xBF]) {
            self.at = 3;
        }
        if self.rest().starts_with(b"#!") {
            self.line_comment();
        }
        let (mut last, mut still) = (self.at, 0_u32);
        while self.at < self.src.len() && self.out.stopped.is_none() {
            // Each byte is passed after a few looks at it; were one not, the rest would be said to be unread.
            still = if self.at == last { still.wrapping_add(1) } else { 0 };
            last = self.at;
            if still > LOOKS {
                self.out.stopped = Some(self.at);
                break;
            }
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
        let start = first.and_then(|frame| self.out.toks.get(frame.tok as usize)).map(|tok| tok.start());
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
            bracket: NO_MATE,
            ternaries: 0,
            pending: Pending::None,
        })
    }

    #[inline]
    fn push(&mut self, kind: K, start: usize, end: usize, flags: u8) {
        self.push_tok(Tok::new(kind, offset(start), offset(end), flags), start, end);
    }

    #[inline]
    fn push_tok(&mut self, tok: Tok, start: usize, end: usize) {
        let (kind, flags) = (tok.kind, tok.flags);
        let flags = if self.newline { flags | NEWLINE } else { flags };
        self.newline = false;
        if start.wrapping_sub(self.end) >= GAP {
            self.out.gaps.push((offset(self.out.toks.len()), offset(self.end)));
        }
        self.end = end;
        if flags & EVENT != 0 {
            self.event();
        }
        self.out.toks.push(tok.and(flags));
        self.last = kind;
        if kind != K::Word {
            self.last_kw = Kw::None;
        }
    }

    /// Says that a finding may come from the next token.
    fn event(&mut self) {
        let bracket = self.frames.last().map_or(NO_MATE, |frame| frame.bracket);
        self.out.events.push(Event { tok: offset(self.out.toks.len()), bracket });
    }

    /// Takes a token with text.
    fn push_text(&mut self, kind: K, start: usize, end: usize, flags: u8) {
        let mut flags = flags;
        let text = self.src.get(start..end).unwrap_or_default();
        let within = if kind == K::JsxText { Within::Prose } else { Within::String };
        let marks = if kind == K::JsxText { 0 } else { 2 };
        let body = text.len().saturating_sub(marks);
        let long = body >= self.least.1 || (body >= self.least.0 && text::has_marks(text));
        if long || flags & ESCAPED != 0 || text::has_blank(text) || text::is_odd(text, within) {
            flags |= VIEWED;
            self.out.escaped |= flags & ESCAPED != 0;
        }
        let close = if flags & UNCLOSED == 0 { end.wrapping_sub(1) } else { end };
        if matches!(kind, K::Str | K::Tpl) && self.is_name(start.wrapping_add(1), close, flags) {
            flags |= EVENT;
        }
        self.push(kind, start, end, flags);
    }

    /// Says whether a string may be the name of a member that rules look for with any receiver.
    fn is_name(&self, start: usize, end: usize, flags: u8) -> bool {
        let text = self.src.get(start..end).unwrap_or_default();
        let word = if flags & ESCAPED == 0 {
            self.names.words.find(prefix_at(self.src, start, end.max(start)), text)
        } else {
            self.names.words.get(&super::escape::decode(text).0)
        };
        word != 0 && self.names.interest(word) & STARRED != 0
    }

    /// Reads code up to the end of a token that may change what the following bytes are.
    fn step(&mut self) {
        while let Some(&byte) = self.src.get(self.at) {
            match class(byte) {
                CLASS_BLANK => self.at = self.at.wrapping_add(1),
                CLASS_LINE => {
                    self.newline = true;
                    self.at = self.at.wrapping_add(1);
                    while self.src.get(self.at).is_some_and(|byte| *byte == b' ') {
                        self.at = self.at.wrapping_add(1);
                    }
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
                CLASS_PLAIN => self.plain(byte),
                _ => {
                    self.punct(byte);
                    return;
                }
            }
        }
    }

    fn set_pending(&mut self, pending: Pending) {
        if let Some(frame) = self.frames.last_mut() {
            frame.pending = pending;
        }
    }

    fn open(&mut self, open: Open) {
        let tok = offset(self.out.toks.len().wrapping_sub(1));
        if self.frames.len() > self.limits.brackets {
            self.out.stopped = Some(self.at);
            return;
        }
        if matches!(open, Open::Brace { brace: Brace::Body, .. }) {
            self.bodies = self.bodies.wrapping_add(1);
        }
        let parent = self.frames.last().map_or(NO_MATE, |frame| frame.bracket);
        let bracket = if matches!(open, Open::Hole | Open::JsxTag { .. } | Open::JsxText) {
            parent
        } else {
            self.out.brackets.push(Bracket { open: tok, parent });
            offset(self.out.brackets.len().wrapping_sub(1))
        };
        self.frames.push(Frame { open, tok, bracket, ternaries: 0, pending: Pending::None });
    }

    /// Joins a closing bracket, the last token, with the frame's opening one.
    fn join(&mut self, frame: Frame) {
        let close = self.out.toks.len().wrapping_sub(1);
        let number = offset(close);
        let mut brace = Brace::Block;
        if let Some(tok) = self.out.toks.get_mut(frame.tok as usize) {
            tok.set_mate(number);
            // Until something in it counts.
            tok.flags |= DULL;
            brace = tok.brace();
        }
        if let Some(tok) = self.out.toks.get_mut(close) {
            tok.set_mate(frame.tok);
            tok.set_brace(brace);
        }
    }

    fn emit(&mut self, kind: K, len: usize) {
        let start = self.at;
        self.at = start.wrapping_add(len);
        self.push(kind, start, self.at, 0);
        (self.operand, self.statement) = (true, false);
    }
}
