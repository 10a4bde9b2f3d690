//! Expansions: variables, substitutions, brace lists.

use plugward_types::Part;

use crate::lex::sh::state::flat::FlatText;
use crate::lex::sh::state::variables;
use crate::lex::sh::syntax::list::{Capture, ListEnd};
use crate::lex::sh::syntax::word::{Joint, WordContext};
use crate::lex::sh::{Parser, TextOrigin, Word};
use crate::scan::entry::Lens;
use crate::scan::sink::EmbeddedText;
use crate::text::view::Obfuscations;

/// The most words, and the most bytes, to which a brace list expands. `{a,b}{a,b}…` grows exponentially.
const WORDS: usize = 256;
const BYTES: usize = 1 << 14;
/// The longest arithmetic expression that is searched for its end. Without a limit, repeated `((` would be
/// quadratic.
const ARITHMETIC: usize = 4096;

const fn is_name_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

impl Parser<'_, '_, '_> {
    /// Reads the expansion that a dollar sign begins.
    pub(in crate::lex::sh) fn dollar(&mut self, piece: &mut Word, place: WordContext) {
        let start = self.pos;
        match self.at(start + 1) {
            b'(' => self.substitution(piece, place),
            b'{' => self.parameter(piece, place),
            b'[' => {
                self.skip(2);
                self.arithmetic(b']');
                self.hole(b"$(())", start, piece);
            }
            // `$'…'` has a meaning outside of quotes only; `$"…"` is a translated string.
            b'\'' if place == WordContext::Bare || place == WordContext::Braces => self.ansi(piece.start),
            b'"' if place == WordContext::Bare => self.skip(1),
            byte if byte.is_ascii_alphabetic() || byte == b'_' => {
                let name = self.src.part(start + 1..self.end);
                let len = name.iter().take_while(|byte| is_name_byte(**byte)).count();
                self.skip(len + 1);
                let name = name.part(..len);
                self.variable(name, start, piece, place);
            }
            b'@' | b'*' | b'0'..=b'9' | b'#' | b'?' | b'!' | b'$' | b'-' => {
                self.skip(2);
                let name = self.src.part(start + 1..self.pos);
                self.variable(name, start, piece, place);
            }
            _ => {
                self.skip(1);
                self.flat.plain(b"$", start, Obfuscations::NONE);
            }
        }
    }

    /// Inserts a placeholder for an unknown value.
    fn hole(&mut self, mark: &[u8], start: usize, piece: &mut Word) {
        self.note_hole(start, piece);
        self.joint = Joint::None;
        self.flat.unit(mark, (start, self.pos), Obfuscations::NONE);
        piece.value_end = self.flat.len();
    }

    fn note_hole(&mut self, start: usize, piece: &mut Word) {
        piece.open = true;
        // The value is the whole word even if quotes surround it: `"$x"`.
        let alone = self.flat.len() == piece.start || piece.value;
        piece.value = alone && start.saturating_sub(piece.span.0) <= 1;
        self.out.code.put(b"$", (start, self.pos), Obfuscations::NONE, 0);
    }

    fn variable(&mut self, name: &[u8], start: usize, piece: &mut Word, place: WordContext) {
        // `declare -n` makes a variable an alias of another one.
        let other =
            if self.environment.refs.is_empty() { None } else { self.environment.refs.get(name).cloned() };
        let name = other.as_deref().unwrap_or(name);
        let value = self.value(name, None);
        let how = self.value_how(name);
        self.put_value(name, value, start, how, piece, place);
    }

    fn put_value(
        &mut self,
        name: &[u8],
        value: Option<Vec<u8>>,
        start: usize,
        how: Obfuscations,
        piece: &mut Word,
        place: WordContext,
    ) {
        let sources = self.value_sources(name);
        piece.sources |= sources;
        // `"$@"` expands to one word per argument, even in quotes.
        let place = if name == b"@" && place == WordContext::Quotes { WordContext::Bare } else { place };
        if name == b"IFS" {
            self.blank_value(start, piece, place);
            return;
        }
        if let Some(value) = value
            && self.spend(value.len() + 16)
        {
            if self.is_open(name) {
                piece.open = true;
            }
            self.put_text(&value, (start, self.pos), how, piece, place);
            return;
        }
        // A variable in the middle of a name is probably unset and expands to nothing: `cu${x}rl`.
        let before = self.flat.bytes.get(piece.start..).and_then(<[u8]>::last);
        let after = self.peek();
        let goes_on = is_name_byte(after) || matches!(after, b'\'' | b'"' | b'\\' | b'$');
        let unset = matches!(name, b"@" | b"*" | [b'1'..=b'9'])
            || (!self.environment.vars.contains_key(name) && !name.iter().any(u8::is_ascii_uppercase));
        if unset
            && sources == 0
            && place == WordContext::Bare
            && goes_on
            && before.is_some_and(|byte| is_name_byte(*byte))
        {
            self.joint = Joint::Seam;
            return;
        }
        let text = self.src.part(start..self.pos).to_vec();
        let own = [b"$", name].concat();
        // Rules see an unknown variable as it was written, unless the text is long.
        let shown: &[u8] = if text.len() > 64 || text.starts_with(b"${") { &own } else { &text };
        self.hole(shown, start, piece);
    }

    /// Reads `$IFS` as a space, as in `curl${IFS}-o`.
    fn blank_value(&mut self, start: usize, piece: &mut Word, place: WordContext) {
        if place == WordContext::Bare {
            self.split(start, piece);
        } else {
            self.flat.unit(b" ", (start, self.pos), Obfuscations::SHELL);
        }
    }

    /// Ends the current word and starts another.
    fn split(&mut self, start: usize, piece: &mut Word) {
        if self.flat.len() > piece.start {
            let done = Word { end: self.flat.len(), ..*piece };
            self.words.push(Word { span: (piece.span.0, start), ..done });
            self.flat.unit(b" ", (start, self.pos), Obfuscations::SHELL);
            *piece = Word {
                start: self.flat.len(),
                span: (start, start),
                sources: piece.sources,
                ..Word::default()
            };
        }
        self.joint = Joint::Empty;
    }

    /// Inserts the value of an expansion, split into words outside of quotes as the shell does.
    fn put_text(
        &mut self,
        text: &[u8],
        from: (usize, usize),
        how: Obfuscations,
        piece: &mut Word,
        place: WordContext,
    ) {
        if text.is_empty() {
            // An empty expansion joins the parts of a word like a pair of quotes.
            self.joint = if self.flat.len() > piece.start { Joint::Seam } else { Joint::Empty };
            return;
        }
        let separators = self.separators();
        let gap = |byte: &u8| byte.is_ascii_whitespace() || separators.contains(byte);
        // The value of an assignment is not split.
        let assigns =
            piece.assigns != 0 && self.words.part(self.simple_from..).iter().all(|word| word.assigns != 0);
        if place != WordContext::Bare || assigns || !text.iter().any(gap) {
            self.joint = Joint::None;
            self.flat.unit(text, from, how);
            return;
        }
        let ends = text.last().is_some_and(gap);
        let starts = text.first().is_some_and(gap);
        let words = text.split(gap).filter(|word| !word.is_empty());
        for (word, index) in words.zip(0_usize..) {
            if index > 0 || starts {
                self.split(from.0, piece);
            }
            self.joint = Joint::None;
            self.flat.unit(word, from, how);
        }
        if ends {
            self.split(from.0, piece);
        }
    }

    /// Returns the characters that split words besides spaces, from a short `IFS`.
    pub(in crate::lex::sh) fn separators(&self) -> Vec<u8> {
        let ifs = self.environment.vars.get(&b"IFS"[..]).and_then(|var| var.items.as_ref());
        let ifs = ifs.and_then(|items| items.first()).filter(|text| text.len() <= 8);
        ifs.cloned().unwrap_or_default()
    }

    /// Reads `$(…)` or arithmetic.
    fn substitution(&mut self, piece: &mut Word, place: WordContext) {
        let start = self.pos;
        if self.at(start + 2) == b'(' && self.is_arithmetic(start + 3) {
            self.skip(3);
            self.arithmetic(b')');
            self.hole(b"$(())", start, piece);
            return;
        }
        self.skip(2);
        if !self.down() {
            return;
        }
        let (ran, printed) = self.inner(ListEnd::Paren, Capture::Yes, crate::lex::sh::PipeInput::default());
        self.up();
        self.put_output(ran, printed, start, piece, place);
    }

    fn put_output(
        &mut self,
        ran: u128,
        printed: Option<FlatText>,
        start: usize,
        piece: &mut Word,
        place: WordContext,
    ) {
        piece.sources |= ran;
        if let Some(program) = self.located.take().filter(|program| self.spend(program.len())) {
            piece.origin = TextOrigin::Located;
            self.put_text(&program.bytes, (start, self.pos), Obfuscations::NONE, piece, place);
            return;
        }
        if let Some(printed) = printed
            && self.spend(printed.len() + 16)
        {
            let end =
                // The shell drops line breaks at the end of a substitution.
                printed.bytes.iter().rposition(|byte| *byte != b'\n').map_or(0, |at| at + 1);
            let how = printed.how(0, end).and(Obfuscations::SHELL);
            let text = printed.bytes.part(..end);
            self.put_text(text, (start, self.pos), how, piece, place);
            return;
        }
        self.hole(b"$()", start, piece);
    }

    /// Reads commands inside a word, and restores the state of the word afterwards.
    pub(in crate::lex::sh) fn inner(
        &mut self,
        stop: ListEnd,
        capture: Capture,
        fed: crate::lex::sh::PipeInput,
    ) -> (u128, Option<FlatText>) {
        let (words, redirects, flat, marks) =
            (self.words.len(), self.redirects.len(), self.flat.len(), self.marks.len());
        let (pipe, input, joint) = (self.pipe, self.input.take(), self.joint);
        self.pipe = fed;
        // A path printed outside of the substitution is not its output.
        self.located = None;
        if fed.piped && input.as_ref().is_some_and(|input| self.spend(input.len())) {
            self.input.clone_from(&input);
        }
        let given = self.list(stop, capture);
        self.words.truncate(words);
        self.redirects.truncate(redirects);
        self.flat.truncate(flat);
        self.marks.truncate(marks);
        (self.pipe, self.input, self.joint) = (pipe, input, joint);
        given
    }

    /// Returns `true` if `((` is closed by `))`: then it is arithmetic, otherwise two nested subshells.
    pub(in crate::lex::sh) fn is_arithmetic(&self, from: usize) -> bool {
        let text = self.src.part(from..self.end.min(from + ARITHMETIC));
        let mut open = 0_usize;
        for (byte, at) in text.iter().zip(0_usize..) {
            match byte {
                b'(' => open += 1,
                b')' => match open.checked_sub(1) {
                    Some(left) => open = left,
                    None => return text.get(at + 1) == Some(&b')'),
                },
                // A `$( )` inside contains a command, with quotes of its own.
                b';' | b'\'' | b'"' if open == 0 => return false,
                _ => {}
            }
        }
        false
    }

    /// Reads arithmetic to its end, and the commands in it.
    pub(in crate::lex::sh) fn arithmetic(&mut self, close: u8) {
        let mut open = 0_usize;
        while self.pos < self.end {
            match self.peek() {
                b'$' | b'`' => {
                    let mut piece = self.begin();
                    let from = piece.start.saturating_sub(1);
                    if self.peek() == b'$' {
                        self.dollar(&mut piece, WordContext::Quotes);
                    } else {
                        self.backticks(&mut piece, WordContext::Quotes);
                    }
                    self.flat.truncate(from);
                }
                b'(' => {
                    open += 1;
                    self.skip(1);
                }
                byte if byte == close && open == 0 => {
                    self.skip(if close == b')' { 2 } else { 1 });
                    return;
                }
                b')' => {
                    open = open.saturating_sub(1);
                    self.skip(1);
                }
                // `$[ … ]` is obsolete, so an unclosed one ends with its line.
                b'\n' if close == b']' => return,
                _ => self.skip(1),
            }
        }
    }

    /// Reads `` `…` ``.
    pub(in crate::lex::sh) fn backticks(&mut self, piece: &mut Word, place: WordContext) {
        let start = self.pos;
        self.skip(1);
        let Some(close) = self.backtick() else {
            // An unclosed backtick is skipped, so that the rest is still read as commands.
            return;
        };
        let text = self.src.part(self.pos..close);
        if memchr::memmem::find(text, b"\\`").is_some() || memchr::memmem::find(text, b"\\\\").is_some() {
            self.unescaped(self.pos, close);
        }
        if !self.down() {
            return;
        }
        // Here-documents that begin inside end inside.
        let around = (self.end, self.documents, self.line);
        (self.end, self.documents) = (close, (usize::MAX, 0));
        let (ran, printed) = self.inner(ListEnd::End, Capture::Yes, crate::lex::sh::PipeInput::default());
        (self.end, self.documents, self.line) = around;
        self.up();
        self.pos = (close + 1).min(self.end);
        self.put_output(ran, printed, start, piece, place);
    }

    /// Returns the offset of the closing backtick.
    fn backtick(&mut self) -> Option<usize> {
        let mut at = self.pos;
        if at >= self.no_backtick {
            return None;
        }
        while at < self.end {
            let rest = self.src.part(at..self.end);
            let len = memchr::memchr2(b'`', b'\\', rest)?;
            at += len;
            if self.at(at) == b'`' {
                return Some(at);
            }
            at += 2;
        }
        self.no_backtick = self.no_backtick.min(self.pos);
        None
    }

    /// Passes on a text after removing the backslashes in front of backticks.
    fn unescaped(&mut self, start: usize, end: usize) {
        let mut flat = FlatText::default();
        let mut at = start;
        while at < end {
            let rest = self.src.part(at..end);
            let len = memchr::memchr(b'\\', rest).unwrap_or(rest.len());
            flat.plain(rest.part(..len), at, Obfuscations::NONE);
            at += len;
            if matches!(rest.get(len + 1), Some(b'`' | b'\\' | b'$')) {
                at += 1;
            }
            let next = self.src.part(at..(at + 1).min(end));
            flat.plain(next, at, Obfuscations::NONE);
            at += 1;
        }
        let view = flat.view(0, flat.len());
        self.sink.embed(Lens::Sh, EmbeddedText::View(view));
    }

    /// Reads `${…}`.
    fn parameter(&mut self, piece: &mut Word, place: WordContext) {
        let start = self.pos;
        self.skip(2);
        // `${!x}` is an indirection, and `${#x}` a length.
        let mut flag = self.peek();
        let after = self.at(self.pos + 1);
        if matches!(flag, b'!' | b'#') && (is_name_byte(after) || matches!(after, b'@' | b'*')) {
            self.skip(1);
        } else {
            flag = 0;
        }
        let rest = self.rest();
        let len = match rest.first() {
            Some(b'@' | b'*' | b'#' | b'?' | b'!' | b'$' | b'-') => 1,
            _ => rest.iter().take_while(|byte| is_name_byte(**byte)).count(),
        };
        let mut name = rest.part(..len).to_vec();
        self.skip(len);
        let index = self.index();
        if !self.down() {
            return;
        }
        let operator = self.parameter_operator();
        let from = self.flat.len();
        let operand = self.operand(piece);
        self.up();
        self.flat.truncate(from);
        let all = matches!(index.as_deref(), Some(b"@"));
        let place = if all && place == WordContext::Quotes { WordContext::Bare } else { place };
        let mut value = self.value(&name, index.as_deref());
        if flag == b'!' {
            value = value.and_then(|to| {
                let found = self.value(&to, None);
                name = to;
                found
            });
        }
        if flag == b'#' {
            value = value.map(|value| value.len().to_string().into_bytes());
        }
        self.expanded(&name, value, &operator, operand, start, piece, place);
    }

    #[expect(clippy::too_many_arguments, reason = "the parts of one expansion have one caller")]
    fn expanded(
        &mut self,
        name: &[u8],
        value: Option<Vec<u8>>,
        operator: &[u8],
        operand: Option<Vec<u8>>,
        start: usize,
        piece: &mut Word,
        place: WordContext,
    ) {
        // `${HOME:-x}` is ordinary in scripts, so an unknown uppercase variable is not obfuscation.
        let ordinary = name.iter().any(u8::is_ascii_uppercase) || matches!(name, [b'0'..=b'9'] | b"@" | b"*");
        let how = if ordinary && value.is_none() { Obfuscations::NONE } else { Obfuscations::SHELL };
        if matches!(operator, b":=" | b"=") && value.as_ref().is_none_or(Vec::is_empty) {
            self.report_default(name, operand.as_deref().unwrap_or(b"$"), (start, self.pos));
        }
        let made = match (operator, operand) {
            (b"" | b":?" | b"?", _) => value,
            (b":-" | b"-" | b":=" | b"=", Some(text)) => {
                let known = value.filter(|value| !value.is_empty() || !operator.starts_with(b":"));
                if known.is_none() && operator.ends_with(b"=") {
                    self.set_text(name, Some(&text), 0);
                }
                Some(known.unwrap_or(text))
            }
            (b":+" | b"+", Some(text)) => {
                let set = value.is_some() || self.environment.vars.contains_key(name);
                Some(if set { text } else { Vec::new() })
            }
            (b":", Some(spec)) => value.and_then(|value| variables::part(&value, &spec)),
            (b"#" | b"##" | b"%" | b"%%", Some(pattern)) => {
                let cost = value.as_ref().map_or(0, Vec::len).saturating_mul(pattern.len() + 1);
                value
                    .filter(|_| self.spend(cost))
                    .and_then(|value| variables::trimmed(&value, &pattern, operator))
            }
            (b"/", Some(spec)) => value.and_then(|value| variables::replaced(&value, &spec)),
            (b"^^", _) => value.map(|value| value.to_ascii_uppercase()),
            (b",,", _) => value.map(|value| value.to_ascii_lowercase()),
            (b"^", _) => value.map(|value| first_letter(value, u8::to_ascii_uppercase)),
            (b",", _) => value.map(|value| first_letter(value, u8::to_ascii_lowercase)),
            (b"@", Some(letter)) => value.map(|value| match letter.as_slice() {
                b"U" => value.to_ascii_uppercase(),
                b"L" => value.to_ascii_lowercase(),
                _ => value,
            }),
            _ => None,
        };
        let before = piece.sources;
        self.put_value(name, made, start, how, piece, place);
        if matches!(operator, b"#" | b"##" | b"%" | b"%%" | b"/" | b":") {
            // Part of the address of a repository is its name.
            piece.sources = before | piece.sources & !self.remote_bits();
        }
    }

    /// Reads `[…]` after a name.
    fn index(&mut self) -> Option<Vec<u8>> {
        if self.peek() != b'[' {
            return None;
        }
        let rest = self.rest();
        // An index is short. The limit keeps the search linear for `${a[${a[…`.
        let len = rest.iter().take(64).position(|byte| *byte == b']')?;
        let index = rest.get(1..len)?.to_vec();
        self.skip(len + 1);
        Some(index)
    }

    fn parameter_operator(&mut self) -> Vec<u8> {
        let rest = self.rest();
        let operators: &[&[u8]] = &[
            b":-", b":=", b":+", b":?", b"##", b"%%", b"^^", b",,", b":", b"-", b"=", b"+", b"?", b"#", b"%",
            b"/", b"^", b",", b"@",
        ];
        let found = operators.iter().find(|operator| rest.starts_with(operator)).copied().unwrap_or_default();
        self.skip(found.len());
        found.to_vec()
    }

    /// Reads to the closing brace, and returns the text if it is known.
    fn operand(&mut self, outer: &mut Word) -> Option<Vec<u8>> {
        let mut piece = self.begin();
        while self.pos < self.end {
            let rest = self.rest();
            let odd = |byte: &u8| matches!(byte, b'}' | b'$' | b'`' | b'\\' | b'\'' | b'"');
            let len = rest.iter().position(odd).unwrap_or(rest.len());
            self.flat.plain(rest.part(..len), self.pos, Obfuscations::NONE);
            self.skip(len);
            match self.peek() {
                b'}' => {
                    self.skip(1);
                    break;
                }
                b'$' => self.dollar(&mut piece, WordContext::Braces),
                b'`' => self.backticks(&mut piece, WordContext::Braces),
                b'\\' => {
                    self.skip(1);
                    let next = self.src.part(self.pos..(self.pos + 1).min(self.end));
                    self.flat.plain(next, self.pos, Obfuscations::NONE);
                    self.skip(1);
                }
                // Shells disagree on quotes in braces; skipping the quote alone reads the text in either
                // case.
                _ => self.skip(1),
            }
        }
        outer.sources |= piece.sources;
        let text = self.flat.bytes.part(piece.start..).to_vec();
        (!piece.open).then_some(text)
    }

    /// Expands the brace list of a word, as in `{curl,-o,x}`.
    pub(in crate::lex::sh) fn braces(&mut self, word: usize, marks: usize, from: usize) {
        let Some(piece) = self.words.get(word).copied() else { return };
        let marks: Vec<usize> = self.marks.part(marks..).to_vec();
        let list = Braces { bytes: &self.flat.bytes, marks: &marks };
        // Eight levels are more than people write, and bound the recursion.
        let Some(words) = list.words(piece.start, piece.end, 8) else { return };
        if words.len() < 2 && !list.has_range(piece.start, piece.end) {
            return;
        }
        let cost = words.iter().map(Vec::len).sum::<usize>().saturating_add(words.len().saturating_mul(16));
        if !self.spend(cost) {
            return;
        }
        self.words.truncate(word);
        self.flat.truncate(piece.start);
        let span = (from, self.pos);
        for (text, index) in words.iter().zip(0_usize..) {
            if index > 0 {
                self.flat.unit(b" ", span, Obfuscations::NONE);
            }
            let start = self.flat.len();
            self.flat.unit(text, span, Obfuscations::SHELL);
            self.words.push(Word { start, end: self.flat.len(), span, ..piece });
        }
    }
}

fn first_letter(mut value: Vec<u8>, change: fn(&u8) -> u8) -> Vec<u8> {
    if let Some(first) = value.first_mut() {
        *first = change(first);
    }
    value
}

/// The positions of the marks of one brace list.
struct BraceList {
    open: usize,
    commas: Vec<usize>,
    close: usize,
}

/// A word with the positions of its unquoted braces and commas.
struct Braces<'a> {
    bytes: &'a [u8],
    marks: &'a [usize],
}

impl Braces<'_> {
    fn slice(&self, start: usize, end: usize) -> &[u8] {
        self.bytes.part(start..end)
    }

    fn has_range(&self, start: usize, end: usize) -> bool {
        memchr::memmem::find(self.slice(start, end), b"..").is_some()
    }

    /// Finds the first brace list.
    fn list(&self, start: usize, end: usize) -> Option<BraceList> {
        let inside = |mark: &&usize| **mark >= start && **mark < end;
        let marks: Vec<usize> = self.marks.iter().filter(inside).copied().collect();
        for (index, open) in marks.iter().enumerate() {
            if self.bytes.get(*open) != Some(&b'{') {
                continue;
            }
            let mut depth = 0_usize;
            let mut commas = Vec::new();
            for mark in marks.part(index + 1..) {
                match self.bytes.get(*mark) {
                    Some(b'{') => depth += 1,
                    Some(b',') if depth == 0 => commas.push(*mark),
                    Some(b'}') if depth == 0 => {
                        let body = self.slice(open + 1, *mark);
                        if !commas.is_empty() || range(body).is_some() {
                            return Some(BraceList { open: *open, commas, close: *mark });
                        }
                        break;
                    }
                    Some(b'}') => depth = depth.saturating_sub(1),
                    _ => {}
                }
            }
        }
        None
    }

    fn words(&self, start: usize, end: usize, depth: usize) -> Option<Vec<Vec<u8>>> {
        let found = if depth == 0 { None } else { self.list(start, end) };
        let Some(BraceList { open, commas, close }) = found else {
            return Some(vec![self.slice(start, end).to_vec()]);
        };
        let depth = depth.saturating_sub(1);
        let mut middles = Vec::new();
        if commas.is_empty() {
            middles = range(self.slice(open + 1, close))?;
        } else {
            let mut from = open + 1;
            for to in commas.iter().copied().chain(core::iter::once(close)) {
                middles.extend(self.words(from, to, depth)?);
                from = to + 1;
            }
        }
        let tails = self.words(close + 1, end, depth)?;
        let head = self.slice(start, open);
        let count = middles.len().saturating_mul(tails.len());
        let longest = |texts: &[Vec<u8>]| texts.iter().map(Vec::len).max().unwrap_or(0);
        let each = head.len() + longest(&middles) + longest(&tails);
        if count > WORDS || count.saturating_mul(each) > BYTES {
            return None;
        }
        let join = |middle: &Vec<u8>, tail: &Vec<u8>| [head, middle, tail].concat();
        Some(middles.iter().flat_map(|middle| tails.iter().map(move |tail| join(middle, tail))).collect())
    }
}

/// Expands `a..z` or `1..9`.
fn range(body: &[u8]) -> Option<Vec<Vec<u8>>> {
    let at = memchr::memmem::find(body, b"..")?;
    let (from, to) = (body.get(..at)?, body.get(at + 2..)?);
    if let ([from], [to]) = (from, to)
        && from.is_ascii_alphabetic()
        && to.is_ascii_alphabetic()
    {
        let mut letters: Vec<u8> = (*from.min(to)..=*from.max(to)).collect();
        if from > to {
            letters.reverse();
        }
        return Some(letters.into_iter().map(|letter| vec![letter]).collect());
    }
    let number = |text: &[u8]| core::str::from_utf8(text).ok().and_then(|text| text.parse::<u32>().ok());
    let (from, to) = (number(from)?, number(to)?);
    if from.abs_diff(to) >= 256 {
        return None;
    }
    let mut numbers: Vec<u32> = (from.min(to)..=from.max(to)).collect();
    if from > to {
        numbers.reverse();
    }
    Some(numbers.into_iter().map(|number| number.to_string().into_bytes()).collect())
}
