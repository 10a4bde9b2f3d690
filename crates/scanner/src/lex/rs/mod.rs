//! Rust: names through `use`, calls, macros with code in their tokens, and strings of all kinds.
//!
//! A plugin's Rust runs while a host builds it, in build scripts and procedural macros. The reader is made for these.

mod build;
mod imports;
mod resolve;
mod token;
mod values;

use plugward_readers::js;
use plugward_types::Part;

use super::{Lexed, source as common};
use crate::rules::names::Names;
use crate::scan::entry::Lens;
use crate::scan::options::ScanLimits;
use crate::scan::sink::{Sink, Unread};
use crate::text::view::{Obfuscations, View};
use token::{Token, TokenKind};

/// The escapes of Rust are among those of JavaScript, except for `_` in `\u{…}`.
const WRITING: common::Writing =
    common::Writing { lens: Lens::Rs, comment_marks: b" \t*/!", decode: js::decode_text };

/// Creates the table of names that rules look for.
pub(crate) fn names() -> Names {
    let mut names = Names::new();
    build::intern(&mut names);
    names
}

/// Lexes Rust.
pub(crate) fn lex(src: &[u8], sink: &mut Sink<'_>, limits: &ScanLimits, out: &mut Lexed) {
    let scanned = token::scan(src, limits);
    if let Some(at) = scanned.stopped {
        sink.unread.push(Unread { start: at, end: src.len() });
    }
    let code = Code::new(src, &scanned.tokens);
    out.code = code.view();
    common::texts(src, &scanned.pieces, &WRITING, out, sink);
    let names = &sink.rules.rs;
    common::identifiers(src, &out.code, &names.words, sink);
    resolve::resolve(&code, names, sink);
}

/// Returns the files that a text includes as parts of its crate: the names of modules, and the paths in attributes and
/// `include!`.
pub(crate) fn modules(src: &[u8]) -> Vec<String> {
    let scanned = token::scan(src, &ScanLimits::DEFAULT);
    let code = Code::new(src, &scanned.tokens);
    let path = |at: usize| match code.word(at) {
        b"mod" if code.is(at + 2, b';') => code.word(at + 1).to_vec(),
        b"path" if code.is(at + 1, b'=') => code.text(at + 2).bytes,
        b"include" if code.is(at + 1, b'!') => code.text(at + 3).bytes,
        _ => Vec::new(),
    };
    let paths = (0..code.tokens.len()).map(path).filter(|path| !path.is_empty());
    paths.filter_map(|path| String::from_utf8(path).ok()).collect()
}

/// The most tokens per statement. A bracket counts as one token, with its content.
///
/// The limit keeps the search for the end of a statement linear in a file without semicolons.
const STATEMENT: usize = 1024;

/// The tokens of a file, with the closing bracket of each opening one.
struct Code<'s, 't> {
    src: &'s [u8],
    tokens: &'t [Token],
    /// For each opening bracket, the index of its closing bracket.
    pairs: Vec<usize>,
}

impl<'s, 't> Code<'s, 't> {
    fn new(src: &'s [u8], tokens: &'t [Token]) -> Self {
        // An unclosed bracket extends to the end of the file.
        let mut pairs = vec![tokens.len(); tokens.len()];
        let mut open: Vec<usize> = Vec::new();
        for (at, token) in tokens.iter().enumerate() {
            match token.kind {
                TokenKind::Mark(b'(' | b'[' | b'{') => open.push(at),
                TokenKind::Mark(b')' | b']' | b'}') => {
                    if let Some(pair) = open.pop().and_then(|at| pairs.get_mut(at)) {
                        *pair = at;
                    }
                }
                _ => {}
            }
        }
        Self { src, tokens, pairs }
    }

    /// Returns the code without comments, with empty strings, and with one space between words.
    fn view(&self) -> View {
        let mut view = View::default();
        for (at, token) in self.tokens.iter().enumerate() {
            let span = token.span();
            match token.kind {
                TokenKind::String | TokenKind::Char => view.put(b"''", span, Obfuscations::NONE, 0),
                kind => {
                    if kind == TokenKind::Word && !self.before(at).is_empty() {
                        view.put(b" ", (span.0, span.0), Obfuscations::NONE, 0);
                    }
                    view.copy(self.src.part(span.0..span.1), span.0, Obfuscations::NONE, 0);
                }
            }
        }
        view
    }

    fn kind(&self, at: usize) -> Option<TokenKind> {
        self.tokens.get(at).map(|token| token.kind)
    }

    fn is(&self, at: usize, mark: u8) -> bool {
        self.kind(at) == Some(TokenKind::Mark(mark))
    }

    fn is_path(&self, at: usize) -> bool {
        self.kind(at) == Some(TokenKind::Path)
    }

    fn is_open(&self, at: usize) -> bool {
        matches!(self.kind(at), Some(TokenKind::Mark(b'(' | b'[' | b'{')))
    }

    fn start(&self, at: usize) -> usize {
        self.tokens.get(at).map_or(self.src.len(), |token| token.start as usize)
    }

    fn end(&self, at: usize) -> usize {
        self.tokens.get(at).map_or(self.src.len(), |token| token.end as usize)
    }

    /// Returns the word at `at` without `r#`, which makes a keyword a name; an empty slice for another token.
    fn word(&self, at: usize) -> &'s [u8] {
        if self.kind(at) != Some(TokenKind::Word) {
            return b"";
        }
        let text = self.src.part(self.start(at)..self.end(at));
        text.strip_prefix(b"r#").unwrap_or(text)
    }

    /// Returns the word before the token at `at`.
    fn before(&self, at: usize) -> &'s [u8] {
        at.checked_sub(1).map_or(b"", |before| self.word(before))
    }

    /// Returns the decoded text of the string at `at`; an empty text for another token.
    fn text(&self, at: usize) -> View {
        let mut view = View::default();
        if self.kind(at) != Some(TokenKind::String) {
            return view;
        }
        let (start, end) = (self.start(at), self.end(at));
        let literal = self.src.part(start..end);
        let prefix = literal.iter().take_while(|byte| byte.is_ascii_alphabetic()).count();
        let hashes = literal.rest(prefix).iter().take_while(|byte| **byte == b'#').count();
        let open = prefix + hashes + 1;
        let body = literal.part(open..literal.len().saturating_sub(hashes + 1));
        if literal.part(..prefix).contains(&b'r') {
            view.copy(body, start + open, Obfuscations::NONE, 0);
        } else {
            js::decode_text(body, start + open, &mut view);
        }
        view
    }

    /// Returns the index of the closing bracket.
    fn close(&self, at: usize) -> usize {
        self.pairs.get(at).copied().unwrap_or(self.tokens.len())
    }

    /// Returns the name in the declaration of a variable or type, and the start of its value.
    fn declaration(&self, start: usize) -> (&'s [u8], Option<usize>) {
        // The most tokens of the type between a name and its value.
        const TYPE: usize = 64;
        let mut at = start + usize::from(matches!(self.word(start), b"mut" | b"ref"));
        // In `if let Ok(name) = …`, the name in the pattern gets the value as well.
        if self.is(at + 1, b'(') {
            at += 2;
        }
        let is_assign = |at: usize| self.is(at, b'=') && !self.is(at + 1, b'=') && !self.is(at + 1, b'>');
        let is_end = |at: usize| [b';', b'{', b'}'].iter().any(|mark| self.is(at, *mark));
        let mut header = (at + 1..at + 1 + TYPE).take_while(|at| !is_end(*at));
        (self.word(at), header.find(|at| is_assign(*at)).map(|at| at + 1))
    }

    /// Returns the end of the statement around a token: its semicolon, or the closing bracket of the block.
    fn statement_end(&self, start: usize) -> usize {
        let mut at = start;
        for _ in 0..STATEMENT {
            match self.kind(at) {
                None | Some(TokenKind::Mark(b';' | b')' | b']' | b'}' | b',')) => break,
                Some(TokenKind::Mark(b'(' | b'[' | b'{')) => at = self.close(at) + 1,
                Some(_) => at += 1,
            }
        }
        at.min(self.tokens.len())
    }
}
