//! Lists of commands: pipelines, compound commands, functions, comments.
//!
//! A stack of frames replaces recursion, so that nested `if` and `{` cannot exhaust the call stack.

use plugward_types::Part;

use crate::known::credentials::is_telling;
use crate::lex::sh::state::flat::FlatText;
use crate::lex::sh::state::functions::{BodyRange, FunctionEffect};
use crate::lex::sh::syntax::simple::{CommandWords, Stage};
use crate::lex::sh::{Parser, PipeInput};
use crate::scan::entry::Lens;
use crate::scan::sink::EmbeddedText;
use crate::text::view::{Obfuscations, View};

/// What ends a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::lex::sh) enum ListEnd {
    End,
    Paren,
}

/// Whether the output of a list is used, as in `$(…)`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::lex::sh) enum Capture {
    No,
    Yes,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum CompoundKind {
    Paren,
    Brace,
    If,
    Loop,
    Case,
}

/// An open compound command.
#[derive(Debug)]
struct CompoundFrame {
    kind: CompoundKind,
    /// The pipeline that the compound command is a stage of.
    pipe: PipeInput,
    /// The initial state of the pipelines inside.
    base: PipeInput,
    ran: u128,
    /// Set in a `case` before a pattern.
    pattern: bool,
    /// Set for the body of a function, and the number of its commands.
    body: bool,
    commands: usize,
    last: Vec<Vec<u8>>,
    /// The offset of its start, and the number of listed programs before it.
    start: usize,
    listed: usize,
}

/// The state of one call of `list`.
#[derive(Debug)]
struct ListState {
    stop: ListEnd,
    capture: Capture,
    frames: Vec<CompoundFrame>,
    /// The number of open frames of each kind.
    open: [usize; 5],
    base: PipeInput,
    ran: u128,
    stage: Stage,
    /// The name of a function whose body comes next.
    named: Option<Vec<u8>>,
    pipelines: usize,
    /// Set directly after a stage of a pipeline.
    closed: bool,
}

impl Parser<'_, '_, '_> {
    /// Reads commands up to `stop`. Returns the taint bits of the programs that ran, and the output if it is
    /// known.
    pub(in crate::lex::sh) fn list(&mut self, stop: ListEnd, capture: Capture) -> (u128, Option<FlatText>) {
        let mut state = ListState {
            stop,
            capture,
            frames: Vec::new(),
            open: [0; 5],
            base: self.pipe,
            ran: 0,
            stage: Stage::default(),
            named: None,
            pipelines: 0,
            closed: false,
        };
        let bodies = self.bodies.len();
        while self.step(&mut state) {}
        self.bodies.truncate(bodies);
        let ran = state.frames.iter().fold(state.ran, |sum, frame| sum | frame.ran);
        let printed = state.stage.printed.take().filter(|_| state.pipelines <= 1);
        // A list without a command has empty output.
        let none = capture == Capture::Yes && state.pipelines == 0 && state.frames.is_empty();
        let printed = printed.or_else(|| (none && ran == 0).then(FlatText::default));
        (ran, printed)
    }

    /// Skips spaces and escaped line breaks.
    pub(in crate::lex::sh) fn blanks(&mut self) {
        loop {
            match self.peek() {
                b' ' | b'\t' | 0x0B | 0x0C => self.skip(1),
                b'\\' if self.at(self.pos + 1) == b'\n' => self.skip(2),
                b'\\' if self.starts(b"\\\r\n") => self.skip(3),
                _ => return,
            }
        }
    }

    /// Reads one operator, keyword or command. Returns `false` at the end of the list.
    fn step(&mut self, state: &mut ListState) -> bool {
        self.blanks();
        if self.pos >= self.end {
            return false;
        }
        if state.frames.last().is_some_and(|frame| frame.kind == CompoundKind::Case && frame.pattern) {
            self.pattern(state);
            return true;
        }
        match self.peek() {
            b'\n' => {
                self.newline();
                self.next_pipeline(state);
            }
            b'\r' => self.skip(1),
            b'#' => self.comment(),
            b';' => self.semicolon(state),
            // `&>` is a redirection.
            b'&' if self.at(self.pos + 1) != b'>' => {
                self.operator(if self.starts(b"&&") { 2 } else { 1 });
                self.next_pipeline(state);
            }
            b'|' if self.starts(b"||") => {
                self.operator(2);
                self.next_pipeline(state);
            }
            b'|' => {
                self.operator(if self.starts(b"|&") { 2 } else { 1 });
                self.next_stage(state);
                // After `|` or `&&`, the next command may be on a later line.
                self.skip_lines();
            }
            b'(' => self.paren(state),
            b')' => return self.close_paren(state),
            _ => return self.command(state),
        }
        true
    }

    /// Copies an operator to the code view.
    fn operator(&mut self, len: usize) {
        let text = self.rest().part(..len);
        self.out.code.copy(text, self.pos, Obfuscations::NONE, 0);
        self.skip(len);
    }

    fn newline(&mut self) {
        self.out.code.copy(b"\n", self.pos, Obfuscations::NONE, 0);
        // The bodies of here-documents follow the line, and were read with their operators.
        if self.documents.0 == self.pos {
            self.pos = self.documents.1.min(self.end);
            self.documents = (usize::MAX, 0);
        } else {
            self.skip(1);
        }
    }

    /// Adds a comment to the text view.
    pub(in crate::lex::sh) fn comment(&mut self) {
        let start = self.pos;
        let len = memchr::memchr(b'\n', self.rest()).unwrap_or_else(|| self.rest().len());
        crate::lex::sh::note(self.src, start, start + len, &mut self.noted, self.out);
        self.skip(len);
    }

    /// Returns the input of the first stage of a pipeline: that of the enclosing compound command.
    fn base(state: &ListState) -> PipeInput {
        state.frames.last().map_or(state.base, |frame| frame.base)
    }

    /// Starts a pipeline, after `;`, `&&` or a line break.
    fn next_pipeline(&mut self, state: &mut ListState) {
        if state.closed {
            state.closed = false;
        }
        self.pipe = Self::base(state);
        self.input = None;
    }

    /// Starts a stage after `|`, whose input is the output of the last stage.
    fn next_stage(&mut self, state: &mut ListState) {
        self.pipe.from |= state.stage.sources;
        self.pipe.how = self.pipe.how.and(state.stage.how);
        self.pipe.piped = true;
        self.input = state.stage.printed.take();
        state.closed = false;
        state.pipelines = state.pipelines.saturating_sub(1);
    }

    fn semicolon(&mut self, state: &mut ListState) {
        // `;;`, `;&` and `;;&` end a branch of a `case`.
        let doubled = self.starts(b";;") || self.starts(b";&");
        self.operator(if self.starts(b";;&") {
            3
        } else if doubled {
            2
        } else {
            1
        });
        self.next_pipeline(state);
        if doubled {
            self.close_to(state, CompoundKind::Case);
            if let Some(frame) = state.frames.last_mut().filter(|frame| frame.kind == CompoundKind::Case) {
                frame.pattern = true;
            }
        }
    }

    /// Reads a pattern of a `case`, or `esac`.
    fn pattern(&mut self, state: &mut ListState) {
        match self.peek() {
            b'\n' => self.newline(),
            b'#' => self.comment(),
            b')' => {
                self.skip(1);
                if let Some(frame) = state.frames.last_mut() {
                    frame.pattern = false;
                }
                self.next_pipeline(state);
            }
            b'|' | b'(' | b'\r' | b';' | b'&' | b'<' | b'>' => self.skip(1),
            _ if self.is_word(b"esac") => {
                self.skip(4);
                self.close(state, CompoundKind::Case);
            }
            _ => {
                let (words, flat) = (self.words.len(), self.flat.len());
                self.word();
                self.words.truncate(words);
                self.flat.truncate(flat);
            }
        }
    }

    fn paren(&mut self, state: &mut ListState) {
        if self.starts(b"((") && self.is_arithmetic(self.pos + 2) {
            self.skip(2);
            self.arithmetic(b')');
            return;
        }
        self.operator(1);
        self.open(state, CompoundKind::Paren);
    }

    /// Reads `)`, which closes a subshell. Without an open one it ends `$(…)` or is stray.
    fn close_paren(&mut self, state: &mut ListState) -> bool {
        if state.open.first().is_some_and(|open| *open > 0) {
            self.operator(1);
            self.close(state, CompoundKind::Paren);
            return true;
        }
        self.operator(1);
        state.stop != ListEnd::Paren
    }

    fn open(&mut self, state: &mut ListState, kind: CompoundKind) {
        // The limit bounds the memory for frames. The rest of the script is reported as unread.
        if state.frames.len() >= 4096 {
            self.stopped.get_or_insert(self.pos);
            self.pos = self.end;
            return;
        }
        if let Some(count) = state.open.get_mut(kind as usize) {
            *count += 1;
        }
        let body = state.named.take();
        // A function body runs when it is called, so it does not get the input of its definition.
        let base = if body.is_some() { PipeInput::default() } else { self.pipe };
        let frame = CompoundFrame {
            kind,
            pipe: self.pipe,
            base,
            ran: state.ran,
            pattern: false,
            body: body.is_some(),
            commands: 0,
            last: Vec::new(),
            start: self.pos,
            listed: self.listed,
        };
        if let Some(name) = body {
            self.bodies.push((name, 0));
        }
        state.frames.push(frame);
        state.ran = 0;
        self.pipe = base;
    }

    /// Closes the innermost compound command of a kind, and unclosed ones inside it.
    fn close(&mut self, state: &mut ListState, kind: CompoundKind) {
        if state.open.get(kind as usize).is_none_or(|open| *open == 0) {
            return;
        }
        self.close_to(state, kind);
        self.close_one(state);
    }

    fn close_to(&mut self, state: &mut ListState, kind: CompoundKind) {
        if state.open.get(kind as usize).is_none_or(|open| *open == 0) {
            return;
        }
        while state.frames.last().is_some_and(|frame| frame.kind != kind) {
            self.close_one(state);
        }
    }

    fn close_one(&mut self, state: &mut ListState) {
        let Some(frame) = state.frames.pop() else { return };
        if let Some(count) = state.open.get_mut(frame.kind as usize) {
            *count = count.saturating_sub(1);
        }
        let inside = state.ran;
        self.pipe = frame.pipe;
        if frame.body {
            state.ran = frame.ran;
            if let Some((name, _)) = self.bodies.pop() {
                self.place(&name, frame.start, self.pos);
                // A function with one command is expanded at its calls, like an alias. A longer body is only
                // worth a second reading if rules know one of its commands.
                let words = if frame.commands == 1 { frame.last } else { Vec::new() };
                let worth = frame.commands > 1 && self.listed > frame.listed;
                let body =
                    worth.then_some(BodyRange { start: frame.start, end: self.pos, text_of: self.text_of });
                self.define(name, FunctionEffect { sources: inside, words, alias: false, body });
            }
            return;
        }
        let redirects = self.redirects.len();
        let end = self.pos;
        let is_written = matches!(frame.kind, CompoundKind::Brace | CompoundKind::Paren | CompoundKind::Loop);
        let trailing = self.trailing(if is_written { inside & self.secret_bits() } else { 0 });
        self.redirects.truncate(redirects);
        if trailing != 0 && self.listed > frame.listed {
            self.input_after(&frame, end);
        }
        state.ran = frame.ran | inside;
        let how = state.stage.how;
        state.stage = Stage { sources: inside | trailing | frame.pipe.from, how, printed: None };
        // The output of a compound command is not tracked. Two pipelines make that of the list unknown.
        state.pipelines += 2;
        state.closed = true;
    }

    /// Reads a compound command again if its input follows it, as in `while …; done < <(curl …)`.
    fn input_after(&mut self, frame: &CompoundFrame, end: usize) {
        let head = self.src.part(..frame.start);
        let letters = head.iter().rev().take_while(|byte| byte.is_ascii_alphabetic()).count();
        let start = frame.start.saturating_sub(letters.max(1));
        let tail = self.src.part(end..self.pos);
        // `while read x; do …; done < <(curl URL)` is lexed as `curl URL | while read x; do …; done`.
        let Some(mark) = memchr::memchr(b'<', tail) else { return };
        let tail = tail.part(mark..);
        let words = tail.strip_prefix(b"<<<");
        let inner = words.or_else(|| {
            let rest = tail.part(1..).trim_ascii_start().strip_prefix(b"<(")?;
            Some(rest.trim_ascii_end().strip_suffix(b")").unwrap_or(rest))
        });
        let Some(inner) = inner else { return };
        let from = self.pos.saturating_sub(tail.len());
        let from = from + inner.as_ptr().addr().wrapping_sub(tail.as_ptr().addr());
        let body = self.src.part(start..end);
        let cost = body.len() + inner.len();
        if self.sink.depth + 1 >= self.limits.embedded {
            return;
        }
        let Some(left) = self.bodies_left.checked_sub(cost) else {
            self.stopped.get_or_insert(start);
            return;
        };
        self.bodies_left = left;
        let mut view = View::default();
        if words.is_some() {
            view.put(b"echo ", (from, from), Obfuscations::NONE, 0);
        }
        view.copy(inner, from, Obfuscations::NONE, 0);
        view.put(b" | ", (end, end), Obfuscations::NONE, 0);
        view.copy(body, start, Obfuscations::NONE, 0);
        view.put(b"\n", (self.pos, self.pos), Obfuscations::NONE, 0);
        self.sink.embed(Lens::Sh, EmbeddedText::View(view));
    }

    /// Reads redirections after a compound command, whose output contains these secrets.
    fn trailing(&mut self, secrets: u128) -> u128 {
        let (from, start) = (self.redirects.len(), self.pos);
        loop {
            self.blanks();
            let digits = self.rest().iter().take_while(|byte| byte.is_ascii_digit()).count();
            let next = self.at(self.pos + digits);
            if !matches!(next, b'<' | b'>') {
                break;
            }
            self.skip(digits);
            if !self.redirect() {
                break;
            }
        }
        if self.redirects.len() > from {
            let none = self.words.len();
            let own = CommandWords {
                first: none,
                end: none,
                redirects: from,
                span: (start, self.pos),
                nested: 0,
                wanted: false,
            };
            self.report(b"", Obfuscations::NONE, own, secrets);
        }
        self.redirect_sources(from)
    }

    /// Returns `true` if the next word is exactly `word`.
    fn is_word(&self, word: &[u8]) -> bool {
        self.starts(word)
            && matches!(
                self.at(self.pos + word.len()),
                0 | b' ' | b'\t' | b'\n' | b'\r' | b';' | b'&' | b'|' | b'(' | b')' | b'<' | b'>'
            )
    }

    /// Reads a keyword or a simple command.
    fn command(&mut self, state: &mut ListState) -> bool {
        if self.keyword(state) {
            return true;
        }
        if self.function_head(state) {
            return true;
        }
        let span = self.pos;
        let mut last = Vec::new();
        let body = state.frames.last().is_some_and(|frame| frame.body && frame.commands == 0);
        state.stage = self.simple(state.capture, if body { Some(&mut last) } else { None });
        state.ran |= state.stage.sources;
        state.stage.sources |= self.pipe.from;
        state.pipelines += 1;
        if let Some(frame) = state.frames.last_mut() {
            frame.commands += 1;
            if body {
                frame.last = last;
            }
        }
        if self.pos == span {
            // A stray byte is skipped, so that the loop always advances.
            self.skip(1);
        }
        true
    }

    fn keyword(&mut self, state: &mut ListState) -> bool {
        let first = self.peek();
        if !matches!(
            first,
            b'i' | b't' | b'e' | b'f' | b'w' | b'u' | b'd' | b'c' | b's' | b'{' | b'}' | b'!' | b'['
        ) {
            return false;
        }
        let words: &[&[u8]] = plugward_types::byte_words![
            "if then elif else fi for while until do done case esac select function { } ! [[",
        ];
        let Some(word) = words.iter().copied().find(|word| self.is_word(word)) else { return false };
        if word == b"[[" {
            return self.test();
        }
        self.code_word(b"");
        self.operator(word.len());
        match word {
            b"if" => self.open(state, CompoundKind::If),
            b"while" | b"until" => self.open(state, CompoundKind::Loop),
            b"for" | b"select" => {
                self.open(state, CompoundKind::Loop);
                self.for_head();
            }
            b"case" => {
                self.open(state, CompoundKind::Case);
                self.case_head(state);
            }
            b"{" => self.open(state, CompoundKind::Brace),
            b"fi" => self.close(state, CompoundKind::If),
            b"done" => self.close(state, CompoundKind::Loop),
            b"esac" => self.close(state, CompoundKind::Case),
            b"}" => self.close(state, CompoundKind::Brace),
            b"function" => {
                self.blanks();
                let len = self.name_len();
                state.named = Some(self.rest().part(..len).to_vec());
                self.skip(len);
                self.blanks();
                if self.starts(b"()") {
                    self.skip(2);
                }
                self.skip_lines();
            }
            _ => self.next_pipeline(state),
        }
        true
    }

    fn name_len(&self) -> usize {
        let part = |byte: &u8| {
            byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.' | b':' | b'+' | b'@' | b'/')
        };
        self.rest().iter().take_while(|byte| part(byte)).count()
    }

    fn skip_lines(&mut self) {
        loop {
            self.blanks();
            match self.peek() {
                b'\n' => self.newline(),
                b'#' => self.comment(),
                b'\r' => self.skip(1),
                _ => return,
            }
        }
    }

    /// Reads `name()` before a function body.
    fn function_head(&mut self, state: &mut ListState) -> bool {
        let len = self.name_len();
        if len == 0 {
            return false;
        }
        let name = self.rest().part(..len);
        let tail = self.rest().part(len..);
        let blanks = tail.iter().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
        let tail = tail.part(blanks..);
        let Some(inner) = tail.strip_prefix(b"(") else { return false };
        let gap = inner.iter().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
        if inner.get(gap) != Some(&b')') {
            return false;
        }
        state.named = Some(name.to_vec());
        self.skip(len + blanks + gap + 2);
        self.skip_lines();
        true
    }

    /// Reads `for name in words` and binds the name to one of the words.
    fn for_head(&mut self) {
        self.blanks();
        if self.starts(b"((") {
            self.skip(2);
            self.arithmetic(b')');
            return;
        }
        let len = self.name_len();
        let name = self.rest().part(..len).to_vec();
        self.skip(len);
        self.skip_lines();
        if !self.is_word(b"in") {
            return;
        }
        self.skip(2);
        let (words, flat) = (self.words.len(), self.flat.len());
        loop {
            self.blanks();
            match self.peek() {
                b'\n' | b';' | b'|' | b'&' | b')' | b'(' => break,
                _ if self.pos >= self.end => break,
                b'\r' | b'<' | b'>' => self.skip(1),
                b'#' => self.comment(),
                _ => self.word(),
            }
        }
        let own = self.words.part(words..).to_vec();
        let sources = own.iter().fold(0, |sum, word| sum | word.sources);
        // The variable has one value here. A program that rules know comes first: `for c in curl wget; do $c
        // …`.
        let listed = own.iter().find(|word| self.sink.rules.commands.program(self.text(**word)) != 0);
        // Of several values, one that names a credential is chosen, because rules look for those. It may be the end of a
        // path: `for f in netrc npmrc; do cat ~/.$f`.
        let telling = || {
            own.iter().find(|word| {
                let text = self.text(**word);
                let end = [b"/.", text.strip_prefix(b".").unwrap_or(text)].concat();
                is_telling(text) || !word.open && is_telling(&end)
            })
        };
        let single = || own.first().filter(|word| own.len() == 1 && (word.glob || !word.open));
        let chosen = listed.filter(|word| !word.open).or_else(single).or_else(telling);
        let text = chosen.map(|word| self.text(*word).to_vec());
        self.words.truncate(words);
        self.flat.truncate(flat);
        self.set_text(&name, text.as_deref(), sources);
    }

    fn case_head(&mut self, state: &mut ListState) {
        let start = self.pos.saturating_sub(4);
        let (words, flat) = (self.words.len(), self.flat.len());
        self.blanks();
        if !matches!(self.peek(), b'\n' | b';' | b'|' | b'&' | b'(' | b')' | b'<' | b'>')
            && self.pos < self.end
        {
            self.word();
        }
        self.words.truncate(words);
        self.flat.truncate(flat);
        self.skip_lines();
        if self.is_word(b"in") {
            self.skip(2);
        }
        self.compared((start, self.pos));
        if let Some(frame) = state.frames.last_mut().filter(|frame| frame.kind == CompoundKind::Case) {
            frame.pattern = true;
        }
    }

    /// Reads `[[ … ]]`, in which `&&` and `<` do not separate commands.
    fn test(&mut self) -> bool {
        let near = self.src.part(self.pos..self.end.min(self.pos + 4096));
        // Without `]]` nearby, `[[` is an ordinary word, so that it does not hide the commands after it.
        if memchr::memmem::find(near, b"]]").is_none() {
            return false;
        }
        let start = self.pos;
        self.skip(2);
        let (words, flat) = (self.words.len(), self.flat.len());
        loop {
            self.blanks();
            match self.peek() {
                _ if self.pos >= self.end => break,
                b'\n' => self.newline(),
                b'|' | b'&' | b'(' | b')' | b'<' | b'>' | b';' | b'\r' => self.skip(1),
                b']' if self.starts(b"]]") => {
                    self.skip(2);
                    break;
                }
                _ => self.word(),
            }
            self.words.truncate(words);
            self.flat.truncate(flat);
        }
        self.compared((start, self.pos));
        true
    }
}
