//! Words: quotes, backslashes and adjacent parts. `c'u'rl` and `cu\rl` are the word `curl`.

use plugward_types::Part;

use crate::lex::sh::programs::filters;
use crate::lex::sh::syntax::list::{Capture, ListEnd};
use crate::lex::sh::{Parser, PipeInput, Word};
use crate::text::Within;
use crate::text::view::Obfuscations;

/// What separates two parts of a word.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(in crate::lex::sh) enum Joint {
    /// Nothing.
    #[default]
    None,
    /// A quote or backslash: obfuscation if it is between two letters.
    Seam,
    /// An empty expansion: obfuscation if it is next to a letter.
    Empty,
}

/// The context of a part of a word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::lex::sh) enum WordContext {
    Bare,
    Quotes,
    /// In a here-document, in which quotes are ordinary characters.
    Document,
    /// In `${name-…}`, up to the brace.
    Braces,
}

/// The role of a byte in an unquoted word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ByteClass {
    Plain,
    Break,
    Special,
}

const fn class(byte: u8) -> ByteClass {
    match byte {
        b' ' | b'\t' | b'\n' | b'\r' | b';' | b'&' | b'|' | b'(' | b')' | b'<' | b'>' => ByteClass::Break,
        b'\\' | b'\'' | b'"' | b'$' | b'`' | b'{' | b'}' | b',' | b'*' | b'?' | b'[' | b'=' => {
            ByteClass::Special
        }
        _ => ByteClass::Plain,
    }
}

/// A bit set of the ASCII bytes that are not plain. It lets the lexer skip plain bytes quickly.
const ODD: u128 = {
    let mut bits = 0_u128;
    let mut byte = 0_u8;
    while byte < 128 {
        if !matches!(class(byte), ByteClass::Plain) {
            bits |= 1 << byte;
        }
        byte = byte.wrapping_add(1);
    }
    bits
};

#[inline]
fn is_plain(byte: u8) -> bool {
    byte >= 128 || (ODD >> byte) & 1 == 0
}

impl Parser<'_, '_, '_> {
    /// Appends source bytes to the word. They are marked as obfuscated if a joint splits a name.
    fn add(&mut self, start: usize, end: usize, word: usize) {
        let bytes = self.src.part(start..end);
        let how = self.joined(bytes, word);
        if how.is_plain() {
            self.flat.plain(bytes, start, Obfuscations::NONE);
        } else if let Some((first, rest)) = bytes.split_first() {
            self.flat.plain(&[*first], start, how);
            self.flat.plain(rest, start + 1, Obfuscations::NONE);
        }
    }

    /// Appends bytes that replace a source range.
    pub(in crate::lex::sh) fn add_unit(
        &mut self,
        bytes: &[u8],
        from: (usize, usize),
        how: Obfuscations,
        word: usize,
    ) {
        let how = how.and(self.joined(bytes, word));
        self.flat.unit(bytes, from, how);
    }

    /// Returns the obfuscation of a part that continues a name after a joint, as in `cu''rl`.
    fn joined(&mut self, bytes: &[u8], word: usize) -> Obfuscations {
        let Some(first) = bytes.first() else { return Obfuscations::NONE };
        let joint = core::mem::take(&mut self.joint);
        if joint == Joint::None {
            return Obfuscations::NONE;
        }
        let before = self.flat.bytes.get(word..).and_then(<[u8]>::last);
        let letter = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
        let inside = before.is_some_and(letter) && letter(first);
        if inside || (joint == Joint::Empty && letter(first)) {
            Obfuscations::SHELL
        } else {
            Obfuscations::NONE
        }
    }

    /// Records a quote or backslash inside a word.
    fn seam(&mut self, word: usize) {
        if self.joint == Joint::None && self.flat.len() > word {
            self.joint = Joint::Seam;
        }
    }

    /// Starts a word.
    pub(in crate::lex::sh) fn begin(&mut self) -> Word {
        self.flat.unit(b" ", (self.pos, self.pos), Obfuscations::NONE);
        self.joint = Joint::None;
        Word { start: self.flat.len(), end: self.flat.len(), span: (self.pos, self.pos), ..Word::default() }
    }

    /// Ends a word and stores it.
    pub(in crate::lex::sh) fn finish(&mut self, mut piece: Word) {
        piece.end = self.flat.len();
        piece.span.1 = self.pos.max(piece.span.0);
        piece.value &= piece.value_end == piece.end;
        if let [b'/', b'd', b'e', b'v', b'/', b'f', b'd', b'/', digit @ b'0'..=b'9'] = self.text(piece) {
            piece.sources |= self.value_sources(&[b'&', *digit]);
        }
        self.words.push(piece);
    }

    /// Reads one word, which can expand to several. The caller has checked that a word begins here.
    pub(in crate::lex::sh) fn word(&mut self) {
        let (marks, from) = (self.marks.len(), self.pos);
        let first = self.words.len();
        let mut piece = self.begin();
        self.code_word(b"");
        loop {
            let rest = self.rest();
            let plain = rest.iter().position(|byte| !is_plain(*byte)).unwrap_or(rest.len());
            if plain > 0 {
                let end = self.pos + plain;
                self.add(self.pos, end, piece.start);
                self.out.code.copy(rest.part(..plain), self.pos, Obfuscations::NONE, 0);
                self.pos = end;
            }
            let Some(&byte) = rest.get(plain) else { break };
            if class(byte) == ByteClass::Break {
                if !self.breaks(byte, &mut piece) {
                    continue;
                }
                break;
            }
            self.part(byte, &mut piece, marks);
        }
        self.finish(piece);
        if self.leaves_nothing(first, from) {
            self.words.truncate(first);
        }
        if self.words.len() == first + 1 && self.marks.len() > marks {
            self.braces(first, marks, from);
        }
        self.marks.truncate(marks);
    }

    /// Returns `true` if the word expands to nothing: then the shell drops it.
    fn leaves_nothing(&self, first: usize, from: usize) -> bool {
        let raw = self.src.part(from..self.pos);
        let one = self.words.len() == first + 1;
        let empty = self.words.get(first).is_some_and(|word| word.start == word.end && !word.open);
        one && empty
            && matches!(raw.first(), Some(b'$' | b'`'))
            && memchr::memchr2(b'\'', b'"', raw).is_none()
    }

    /// Handles a byte that ends a word, unless it begins an expansion.
    fn breaks(&mut self, byte: u8, piece: &mut Word) -> bool {
        let next = self.at(self.pos + 1);
        match byte {
            b'<' | b'>' if next == b'(' && self.flat.len() == piece.start => {
                self.process(piece);
                false
            }
            b'(' if self.flat.bytes.last() == Some(&b'=')
                && piece.assigns != 0
                && self.pos > piece.span.0 =>
            {
                self.array(piece);
                false
            }
            _ => true,
        }
    }

    /// Reads the part of a word that a special byte begins.
    fn part(&mut self, byte: u8, piece: &mut Word, marks: usize) {
        match byte {
            b'\\' => self.backslash(piece.start),
            b'\'' => self.single(piece.start),
            b'"' => self.double(piece),
            b'$' => self.dollar(piece, WordContext::Bare),
            b'`' => self.backticks(piece, WordContext::Bare),
            b'=' => {
                if core::mem::replace(&mut piece.equals, crate::lex::sh::Equals::Seen)
                    == crate::lex::sh::Equals::None
                {
                    let text = self.flat.bytes.part(piece.start..);
                    // A quoted or expanded name is not an assignment: `"X"=1` is a command.
                    let own = self.pos.saturating_sub(piece.span.0) == text.len();
                    let index = text.split(|byte| *byte == b'[').next().unwrap_or_default();
                    let name = index.strip_suffix(b"+").unwrap_or(index);
                    if own && crate::lex::sh::programs::names::is_name(name) {
                        piece.assigns = crate::lex::offset(name.len());
                    }
                }
                self.one();
            }
            b'{' | b'}' | b',' => {
                // More braces than that are not a brace list that a person writes, and would expand without
                // bound.
                if self.marks.len().saturating_sub(marks) < 64 {
                    self.marks.push(self.flat.len());
                }
                self.one();
            }
            _ => {
                piece.glob = true;
                self.one();
            }
        }
    }

    /// Appends one byte unchanged.
    fn one(&mut self) {
        let bytes = self.src.part(self.pos..self.pos + 1);
        self.joint = Joint::None;
        self.flat.plain(bytes, self.pos, Obfuscations::NONE);
        self.out.code.copy(bytes, self.pos, Obfuscations::NONE, 0);
        self.skip(1);
    }

    fn backslash(&mut self, word: usize) {
        let next = self.at(self.pos + 1);
        let wide = next == b'\r' && self.at(self.pos + 2) == b'\n';
        // An escaped line break joins two lines.
        if next == b'\n' || wide {
            self.seam(word);
            self.skip(if wide { 3 } else { 2 });
            return;
        }
        self.seam(word);
        let start = self.pos + 1;
        self.skip(2);
        self.add(start.min(self.end), self.pos, word);
        self.out.code.put(b"''", (start.saturating_sub(1), self.pos), Obfuscations::NONE, 0);
        self.seam(word);
    }

    /// Adds the content of quotes to the text view.
    pub(in crate::lex::sh) fn quoted(&mut self, start: usize, end: usize) {
        let text = self.src.part(start..end);
        if !text.is_empty() {
            self.out.text.begin(Within::String, 0);
            self.out.text.raw(text, start, Obfuscations::NONE);
            self.out.text.end();
        }
    }

    /// Reads `'…'`, in which every character is literal.
    fn single(&mut self, word: usize) {
        let open = self.pos;
        self.seam(word);
        self.skip(1);
        let len = memchr::memchr(b'\'', self.rest()).unwrap_or_else(|| self.rest().len());
        let (start, end) = (self.pos, self.pos + len);
        self.quoted(start, end);
        self.add(start, end, word);
        if start == end {
            self.joint = Joint::Empty;
        } else {
            self.seam(word);
        }
        self.pos = end;
        self.skip(1);
        self.out.code.put(b"''", (open, self.pos), Obfuscations::NONE, 0);
    }

    /// Reads `"…"`, in which expansions apply.
    fn double(&mut self, piece: &mut Word) {
        let open = self.pos;
        self.seam(piece.start);
        self.skip(1);
        let before = self.flat.len();
        self.out.text.begin(Within::String, 0);
        self.until_quote(piece);
        self.out.text.end();
        if self.flat.len() == before && !piece.open {
            self.joint = Joint::Empty;
        } else {
            self.seam(piece.start);
        }
        self.out.code.put(b"''", (open, self.pos), Obfuscations::NONE, 0);
    }

    fn until_quote(&mut self, piece: &mut Word) {
        while self.pos < self.end {
            let rest = self.rest();
            let len =
                rest.iter().position(|byte| matches!(byte, b'"' | b'$' | b'`' | b'\\')).unwrap_or(rest.len());
            let end = self.pos + len;
            self.out.text.raw(rest.part(..len), self.pos, Obfuscations::NONE);
            self.add(self.pos, end, piece.start);
            self.pos = end;
            match self.peek() {
                b'"' => {
                    self.skip(1);
                    return;
                }
                b'$' => self.dollar(piece, WordContext::Quotes),
                b'`' => self.backticks(piece, WordContext::Quotes),
                b'\\' => self.quoted_backslash(piece.start),
                _ => return,
            }
        }
    }

    fn quoted_backslash(&mut self, word: usize) {
        let next = self.at(self.pos + 1);
        match next {
            b'\n' => self.skip(2),
            b'"' | b'$' | b'`' | b'\\' => {
                let start = self.pos + 1;
                self.skip(2);
                self.out.text.raw(&[next], start, Obfuscations::NONE);
                self.add(start, self.pos, word);
            }
            _ => {
                let start = self.pos;
                self.skip(1);
                self.out.text.raw(b"\\", start, Obfuscations::NONE);
                self.add(start, self.pos, word);
            }
        }
    }

    /// Reads `$'…'`, in which escapes are decoded.
    pub(in crate::lex::sh) fn ansi(&mut self, word: usize) {
        let open = self.pos;
        self.seam(word);
        self.skip(2);
        self.out.text.begin(Within::String, 0);
        while self.pos < self.end && self.peek() != b'\'' {
            let rest = self.rest();
            let start = self.pos;
            if rest.first() == Some(&b'\\') {
                let tail = rest.part(1..);
                if let Some((value, len)) = filters::escape(tail) {
                    self.skip(len + 1);
                    let how =
                        if filters::spelled(tail, &value) { Obfuscations::SHELL } else { Obfuscations::NONE };
                    self.out.text.decoded(&value, (start, self.pos), how);
                    self.add_unit(&value, (start, self.pos), how, word);
                    continue;
                }
                self.skip(1);
                self.add(start, self.pos, word);
                continue;
            }
            let len = rest.iter().position(|byte| matches!(byte, b'\'' | b'\\')).unwrap_or(rest.len());
            self.skip(len);
            self.out.text.raw(rest.part(..len), start, Obfuscations::NONE);
            self.add(start, self.pos, word);
        }
        self.out.text.end();
        self.skip(1);
        self.seam(word);
        self.out.code.put(b"''", (open, self.pos), Obfuscations::NONE, 0);
    }

    /// Reads `<(…)`, whose output is input of the program.
    fn process(&mut self, piece: &mut Word) {
        let start = self.pos;
        let writes = self.peek() == b'>';
        self.skip(2);
        if !self.down() {
            return;
        }
        // Commands in `>(…)` read what the command writes.
        let from = if writes { self.pipe.from | self.writer() } else { 0 };
        let fed =
            if writes { PipeInput { from, how: self.pipe.how, piped: true } } else { PipeInput::default() };
        let (ran, printed) = self.inner(ListEnd::Paren, Capture::Yes, fed);
        self.up();
        // The output of `>(…)` goes to the terminal and not to the program.
        let (ran, printed) = if writes { (0, None) } else { (ran, printed) };
        piece.sources |= ran;
        piece.open = true;
        piece.value = true;
        if let Some(printed) = printed {
            self.printed.push(printed);
            piece.printed = crate::lex::offset(self.printed.len());
        }
        self.flat.unit(b"<()", (start, self.pos), Obfuscations::NONE);
        piece.value_end = self.flat.len();
    }

    /// Returns the taint bit of the program in the words so far, without wrappers.
    fn writer(&self) -> u128 {
        let table = &self.sink.rules.commands;
        let words = self.words.part(self.simple_from..);
        for word in words.iter().take(16).filter(|word| word.assigns == 0) {
            let name = crate::lex::sh::syntax::simple::base_name(self.text(*word));
            if !name.starts_with(b"-") && !crate::lex::sh::programs::names::is_wrapper(name) {
                return table.source(table.program(name));
            }
        }
        0
    }

    /// Reads `name=(…)`, in which each item is a word.
    fn array(&mut self, piece: &mut Word) {
        let start = self.pos;
        self.skip(1);
        let (words, flat) = (self.words.len(), self.flat.len());
        let name = self.flat.bytes.part(piece.start..).to_vec();
        if !self.down() {
            return;
        }
        let joint = self.joint;
        loop {
            self.blanks();
            match self.peek() {
                b'\n' | b';' | b'|' | b'&' | b'(' | b'<' | b'>' | b'\r' => self.skip(1),
                b'#' => self.comment(),
                b')' => break,
                _ if self.pos >= self.end => break,
                _ => self.word(),
            }
        }
        self.up();
        self.skip(1);
        self.joint = joint;
        let own = self.words.part(words..);
        let sources = own.iter().fold(0, |sum, word| sum | word.sources);
        let known = own.iter().all(|word| !word.open);
        let items: Vec<Vec<u8>> = own.iter().map(|word| self.text(*word).to_vec()).collect();
        self.words.truncate(words);
        self.flat.truncate(flat);
        let name = crate::lex::sh::programs::names::name_of(&name).unwrap_or_default().to_vec();
        for item in items.iter().filter(|item| item.starts_with(b"[")).take(64) {
            // An item can be `[key]=value`.
            let Some(close) = memchr::memmem::find(item, b"]=") else { continue };
            let (key, value) = (item.get(..=close), item.get(close + 2..));
            let key = [name.as_slice(), key.unwrap_or_default()].concat();
            self.set_text(&key, value, sources);
        }
        self.set_items(name, known.then_some(items), sources);
        self.flat.unit(b"()", (start, self.pos), Obfuscations::NONE);
        piece.open = true;
    }

    /// Separates words with a space in the code view.
    pub(in crate::lex::sh) fn code_word(&mut self, mark: &[u8]) {
        if self.out.code.bytes.last().is_some_and(|byte| !byte.is_ascii_whitespace()) {
            self.out.code.put(b" ", (self.pos, self.pos), Obfuscations::NONE, 0);
        }
        self.out.code.put(mark, (self.pos, self.pos + mark.len()), Obfuscations::NONE, 0);
    }
}
