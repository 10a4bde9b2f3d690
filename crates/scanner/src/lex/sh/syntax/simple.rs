//! Simple commands: words, redirections, here-documents, and the name of the program.

use plugward_types::Part;

use crate::known::credentials::{self, Printed};
use crate::known::hosts;
use crate::lex::quote::{self, Quoting};
use crate::lex::sh::programs::downloaders;
use plugward_commands::InnerPart;

use crate::lex::sh::programs::names;
use crate::lex::sh::state::flat::FlatText;
use crate::lex::sh::state::functions::BodyRange;
use crate::lex::sh::syntax::list::Capture;
use crate::lex::sh::{Parser, Word};
use crate::rules::CommandTable;
use crate::scan::entry::Lens;
use crate::scan::sink::{CodePart, Command, EmbeddedText, Named};
use crate::text::Within;
use crate::text::view::{Obfuscations, View};

/// The output of a stage of a pipeline.
#[derive(Debug, Default)]
pub(in crate::lex::sh) struct Stage {
    /// The taint bits of the programs that ran.
    pub(in crate::lex::sh) sources: u128,
    /// The obfuscation that was undone to read them.
    pub(in crate::lex::sh) how: Obfuscations,
    /// The output, if it is known.
    pub(in crate::lex::sh) printed: Option<FlatText>,
}

/// A redirection of a command.
#[derive(Debug)]
pub(in crate::lex::sh) struct Redirect {
    /// The operator and the target.
    pub(in crate::lex::sh) text: Vec<u8>,
    pub(in crate::lex::sh) how: Obfuscations,
    pub(in crate::lex::sh) sources: u128,
    /// The input, if it is text of the script.
    pub(in crate::lex::sh) input: Option<FlatText>,
    /// The last digit of the descriptor; `0` if there is none.
    pub(in crate::lex::sh) number: u8,
}

/// Whether the leading tabs of a here-document are part of it (`<<` and `<<-`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Tabs {
    Kept,
    Dropped,
}

/// Whether the delimiter of a here-document is quoted; then nothing in the body is expanded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Quotes {
    None,
    Some,
}

/// The scope of an assignment: the script for `X=1`, and one command for `X=1 cmd`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::lex::sh) enum AssignmentScope {
    Command,
    Script,
}

/// The most bytes of input that `xargs` turns into words.
const FED: usize = 4096;

/// The most wrappers around one program, and the most levels of functions.
const NESTED: usize = 16;
/// The budget cost of a redirection that is reported again.
const REDIRECT: usize = 16;

/// The range of a command's words, and of its redirections.
#[derive(Debug, Clone, Copy)]
pub(in crate::lex::sh) struct CommandWords {
    pub(in crate::lex::sh) first: usize,
    pub(in crate::lex::sh) end: usize,
    pub(in crate::lex::sh) redirects: usize,
    pub(in crate::lex::sh) span: (usize, usize),
    pub(in crate::lex::sh) nested: usize,
    /// Set if something uses the output of the command.
    pub(in crate::lex::sh) wanted: bool,
}

/// Returns a program's name without its directory.
pub(in crate::lex::sh) fn base_name(path: &[u8]) -> &[u8] {
    let name = path.rsplit(|byte| matches!(byte, b'/' | b'\\')).next().unwrap_or(path);
    name.strip_suffix(b".exe").unwrap_or(name)
}

impl Parser<'_, '_, '_> {
    /// Reads one simple command and reports it to the rules. Stores its words in `kept` for the body of a
    /// function.
    pub(in crate::lex::sh) fn simple(&mut self, capture: Capture, kept: Option<&mut Vec<Vec<u8>>>) -> Stage {
        let (words, redirects, flat, printed) =
            (self.words.len(), self.redirects.len(), self.flat.len(), self.printed.len());
        let start = self.pos;
        let mut end = start;
        let outer = core::mem::replace(&mut self.simple_from, words);
        loop {
            self.blanks();
            match self.peek() {
                b'\n' | b';' | b'|' | b')' | b'(' => break,
                _ if self.pos >= self.end => break,
                b'\r' if self.at(self.pos + 1) == b'\n' => self.skip(1),
                b'\r' => self.skip(1),
                b'&' if self.at(self.pos + 1) != b'>' => break,
                b'#' => {
                    self.comment();
                    break;
                }
                b'&' | b'<' | b'>' if !self.is_process() => {
                    if !self.redirect() {
                        break;
                    }
                }
                b'0'..=b'9' if self.is_numbered() => {}
                _ => self.word(),
            }
            end = self.pos;
        }
        if let Some(kept) = kept {
            let own = self.words.part(words..);
            *kept = own.iter().map(|word| self.text(*word).to_vec()).collect();
        }
        let wanted = capture == Capture::Yes || self.is_piped();
        let own = CommandWords {
            first: words,
            end: self.words.len(),
            redirects,
            span: (start, end),
            nested: 0,
            wanted,
        };
        let sources = self.redirect_sources(redirects);
        let file = self.target(own);
        let mut stage = self.command_words(CommandWords { wanted: wanted || file.is_some(), ..own });
        if let Some((file, adds)) = file
            && let Some(text) = stage.printed.take()
        {
            self.write(&file, text, adds, own);
        }
        stage.sources |= sources;
        self.digests(own);
        self.simple_from = outer;
        self.words.truncate(words);
        self.redirects.truncate(redirects);
        self.flat.truncate(flat);
        self.printed.truncate(printed);
        stage
    }

    fn is_piped(&self) -> bool {
        self.peek() == b'|' && self.at(self.pos + 1) != b'|'
    }

    fn is_process(&self) -> bool {
        matches!(self.peek(), b'<' | b'>') && self.at(self.pos + 1) == b'('
    }

    /// Reads `2>file`, in which the digits belong to the redirection.
    fn is_numbered(&mut self) -> bool {
        let digits = self.rest().iter().take_while(|byte| byte.is_ascii_digit()).count();
        let next = self.at(self.pos + digits);
        if !matches!(next, b'<' | b'>') || digits > 4 {
            return false;
        }
        self.skip(digits);
        let (before, number) = (self.redirects.len(), self.at(self.pos.saturating_sub(1)));
        let read = self.redirect();
        if let Some(redirect) = self.redirects.get_mut(before) {
            redirect.number = number;
        }
        read
    }

    /// Reads one redirection; returns `false` if there is none.
    pub(in crate::lex::sh) fn redirect(&mut self) -> bool {
        let operators: &[&[u8]] =
            &[b"&>>", b"&>", b"<<<", b"<<-", b"<<", b"<>", b"<&", b"<", b">>", b">&", b">|", b">"];
        let rest = self.rest();
        let Some(operator) = operators.iter().copied().find(|operator| rest.starts_with(operator)) else {
            return false;
        };
        self.out.code.copy(operator, self.pos, Obfuscations::NONE, 0);
        self.skip(operator.len());
        self.blanks();
        // The delimiter of a here-document is not expanded, so it is not read as a word.
        if matches!(operator, b"<<" | b"<<-") {
            self.document(operator);
            return true;
        }
        let ends = matches!(self.peek(), b'\n' | b';' | b'|' | b'&' | b'(' | b')') || self.pos >= self.end;
        if ends || (matches!(self.peek(), b'<' | b'>') && !self.is_process()) {
            return true;
        }
        let (words, flat) = (self.words.len(), self.flat.len());
        self.word();
        let Some(word) = self.words.get(words).copied() else { return true };
        let end = self.words.last().map_or(word.end, |last| last.end);
        // A here-string is text of the script, if it is known.
        let input = (operator == b"<<<" && !word.open).then(|| self.flat.cut(word.start, end));
        let read = word.printed.checked_sub(1).and_then(|at| self.printed.get(at as usize)).cloned();
        let mut sources = word.sources;
        if operator.starts_with(b"<") && downloaders::is_connection(self.text(word)) {
            sources |= downloaders::stream(&self.sink.rules.commands);
        }
        let mut input = input.or_else(|| read.filter(|_| operator == b"<"));
        if let (b"<&", [digit @ b'0'..=b'9']) = (operator, self.text(word)) {
            // `<&3` refers to what was opened under that number.
            let name = [b'&', *digit];
            sources |= self.value_sources(&name);
            input = self.value(&name, None).map(|text| {
                let mut flat = FlatText::default();
                flat.unit(&text, word.span, Obfuscations::NONE);
                flat
            });
        }
        let redirect = Redirect {
            text: [operator, self.text(word)].concat(),
            how: self.flat.how(word.start, word.end),
            sources,
            input,
            number: b'0',
        };
        self.words.truncate(words);
        self.flat.truncate(flat);
        self.redirects.push(redirect);
        true
    }

    /// Reads a here-document: the delimiter at the current offset, the body after the line.
    fn document(&mut self, operator: &[u8]) {
        let start = self.pos;
        let (words, flat) = (self.words.len(), self.flat.len());
        if matches!(self.peek(), b'\n' | b';' | b'|' | b'&' | b'(' | b')' | b'<' | b'>')
            || self.pos >= self.end
        {
            return;
        }
        let raw = self.rest();
        let len = raw
            .iter()
            .position(|byte| matches!(byte, b'\n' | b';' | b'|' | b'&' | b' ' | b'\t' | b')' | b'<' | b'>'));
        let literal = raw.part(..len.unwrap_or(raw.len()));
        // A delimiter with any quoted part turns expansion off in the body.
        let quoted = literal.iter().any(|byte| matches!(byte, b'\'' | b'"' | b'\\'));
        let mark: Vec<u8> = if quoted {
            self.word();
            self.words.get(words).map(|word| self.text(*word).to_vec()).unwrap_or_default()
        } else {
            self.skip(literal.len());
            literal.strip_suffix(b"\r").unwrap_or(literal).to_vec()
        };
        self.words.truncate(words);
        self.flat.truncate(flat);
        // The bodies of several here-documents on a line follow each other.
        let line = if self.documents.0 == usize::MAX { self.line_end(start) } else { self.documents.0 };
        let body = if self.documents.0 == usize::MAX { line + 1 } else { self.documents.1 };
        let tabs = if operator == b"<<-" { Tabs::Dropped } else { Tabs::Kept };
        let (stop, next) = self.document_end(body.min(self.end), &mark, tabs);
        self.documents = (line, next);
        let (known, known_end) = self.unended;
        if stop == self.end && body < stop && !(known <= body && stop <= known_end) {
            // Unclosed: the text after it may be code. Here-documents inside this range are read with it.
            self.unended = (body, stop);
            self.sink.embed(Lens::Sh, EmbeddedText::Range(body, stop));
        }
        let kind = if quoted { Quotes::Some } else { Quotes::None };
        let (text, sources) = self.document_text(body.min(self.end), stop, kind, tabs);
        let known = text.filter(|text| !text.bytes.is_empty());
        let text = b"<<".to_vec();
        self.redirects.push(Redirect { text, how: Obfuscations::NONE, sources, input: known, number: b'0' });
    }

    /// Finds the end of the line, ignoring quoted line breaks.
    fn line_end(&mut self, from: usize) -> usize {
        if self.line.0 <= self.pos && self.pos < self.line.1 {
            return self.line.1;
        }
        let mut at = self.pos;
        while at < self.end {
            match self.at(at) {
                b'\n' => break,
                b'\\' => at += 2,
                quote @ (b'\'' | b'"') => {
                    let rest = self.src.part(at + 1..self.end);
                    let close = memchr::memchr2(quote, if quote == b'"' { b'\\' } else { quote }, rest);
                    match close {
                        None => break,
                        Some(len) => at += len + 2,
                    }
                }
                _ => at += 1,
            }
        }
        // An unclosed quote would move the end too far, so the plain end of the line is used.
        if self.at(at) != b'\n' {
            let rest = self.rest();
            at = self.pos + memchr::memchr(b'\n', rest).unwrap_or(rest.len());
        }
        self.line = (from, at.min(self.end));
        self.line.1
    }

    /// Finds the line that ends a here-document. Returns the end of the body, and the offset at which reading
    /// continues.
    fn document_end(&self, from: usize, mark: &[u8], tabs: Tabs) -> (usize, usize) {
        let mut at = from;
        while at < self.end {
            let rest = self.src.part(at..self.end);
            let len = memchr::memchr(b'\n', rest).unwrap_or(rest.len());
            let line = rest.part(..len);
            let line = line.strip_suffix(b"\r").unwrap_or(line);
            let line = if tabs == Tabs::Dropped {
                line.part(line.iter().take_while(|byte| **byte == b'\t').count()..)
            } else {
                line
            };
            let next = (at + len + 1).min(self.end);
            if line == mark {
                return (at, next);
            }
            at += len + 1;
        }
        (self.end, self.end)
    }

    /// Reads the body of a here-document: its text, the commands in it, and their taint.
    fn document_text(
        &mut self,
        start: usize,
        stop: usize,
        quotes: Quotes,
        tabs: Tabs,
    ) -> (Option<FlatText>, u128) {
        // An unclosed here-document is read again by each substitution in it, so it costs budget.
        if !self.spend(stop.saturating_sub(start)) {
            return (None, 0);
        }
        let text = self.src.part(start..stop);
        self.out.text.begin(Within::String, 0);
        for (line, from) in lines(text, start) {
            self.out.text.raw(line, from, Obfuscations::NONE);
        }
        self.out.text.end();
        let mut flat = FlatText::default();
        if quotes == Quotes::Some || memchr::memchr3(b'$', b'`', b'\\', text).is_none() {
            for (line, from) in lines(text, start) {
                let skip = if tabs == Tabs::Dropped {
                    line.iter().take_while(|byte| **byte == b'\t').count()
                } else {
                    0
                };
                flat.plain(line.part(skip..), from + skip, Obfuscations::NONE);
            }
            return (Some(flat), 0);
        }
        if !self.down() {
            return (None, 0);
        }
        let saved = (self.pos, self.end, self.documents, self.joint, self.line);
        (self.pos, self.end, self.documents) = (start, stop, (usize::MAX, 0));
        let mut piece = self.begin();
        self.body(&mut piece);
        let sources = piece.sources;
        flat = self.flat.cut(piece.start, self.flat.len());
        self.flat.truncate(piece.start.saturating_sub(1));
        (self.pos, self.end, self.documents, self.joint, self.line) = saved;
        self.up();
        (Some(flat), sources)
    }

    /// Reads the body of a here-document with an unquoted delimiter, in which expansions apply.
    fn body(&mut self, piece: &mut Word) {
        use crate::lex::sh::syntax::word::WordContext;
        while self.pos < self.end {
            let rest = self.rest();
            let len = rest.iter().position(|byte| matches!(byte, b'$' | b'`' | b'\\')).unwrap_or(rest.len());
            self.flat.plain(rest.part(..len), self.pos, Obfuscations::NONE);
            self.skip(len);
            match self.peek() {
                b'$' => self.dollar(piece, WordContext::Document),
                b'`' => self.backticks(piece, WordContext::Document),
                b'\\' => {
                    let next = self.at(self.pos + 1);
                    let escaped = matches!(next, b'$' | b'`' | b'\\');
                    if escaped {
                        self.skip(1);
                    }
                    if next == b'\n' {
                        self.skip(2);
                        continue;
                    }
                    let byte = self.rest().part(..1);
                    self.flat.plain(byte, self.pos, Obfuscations::NONE);
                    self.skip(1);
                }
                _ => {}
            }
        }
    }

    /// Reports redirections to the rules for them, and returns the taint bits of their sources.
    pub(in crate::lex::sh) fn redirect_sources(&self, from: usize) -> u128 {
        let own = self.redirects.part(from..);
        own.iter().fold(0, |sum, redirect| sum | redirect.sources)
    }

    /// Reports a command to the rules, or the part of it after a wrapper.
    pub(in crate::lex::sh) fn command_words(&mut self, own: CommandWords) -> Stage {
        let mut first = own.first;
        let own_words = self.words.part(own.first..own.end);
        // Assignments in front of a command apply to that command only.
        let last = own_words.iter().all(|word| word.assigns != 0);
        while let Some(word) =
            self.words.get(first).filter(|word| first < own.end && word.assigns != 0).copied()
        {
            let lasts = if last { AssignmentScope::Script } else { AssignmentScope::Command };
            self.assignment(word, lasts, own.span);
            first += 1;
        }
        let mut sources = self.word_sources(own);
        if first >= own.end {
            if self.redirects.len() > own.redirects {
                self.report(b"", Obfuscations::NONE, CommandWords { first: own.end, ..own }, sources);
            }
            // The output goes into a variable, so nothing is printed.
            return Stage::default();
        }
        let own = CommandWords { first, ..own };
        let Some(program) = self.words.get(first).copied() else { return Stage::default() };
        let names = self.program_names(program, own);
        let last = self.words.get(own.end.saturating_sub(1)).map_or(program.end, |word| word.end);
        let read = self.flat.how(program.start, last.max(program.end));
        let mut stage = Stage { sources, ..Stage::default() };
        for (name, how) in names {
            sources |= self.report(&name, how, own, sources);
            let done = self.run(&name, program, own);
            stage.sources |= sources | done.sources;
            if stage.sources != 0 {
                stage.how = stage.how.and(read).and(done.how);
            }
            stage.printed = stage.printed.or(done.printed);
        }
        stage
    }

    /// Returns the names that a program word may stand for, usually one.
    fn program_names(&mut self, word: Word, own: CommandWords) -> Vec<(Vec<u8>, Obfuscations)> {
        let text = self.text(word).to_vec();
        let how = self.flat.how(word.start, word.end);
        let name = base_name(&text);
        if !name.is_ascii() && core::str::from_utf8(name).is_ok_and(crate::text::unicode::has_zero_width) {
            self.sink.shape("unicode-zero-width-code", word.span, Obfuscations::NONE);
        } else if !name.is_ascii() {
            // A program whose name only looks like a known one is a different program.
            let rules = self.sink.rules;
            let known = |twin: &[u8]| rules.commands.knows(twin);
            crate::text::unicode::identifier_beside(
                name,
                word.span,
                Obfuscations::NONE,
                &rules.data,
                &known,
                self.sink,
            );
        }
        let table = &self.sink.rules.commands;
        if word.glob && text.contains(&b'/') && name.iter().any(|byte| matches!(byte, b'*' | b'?' | b'[')) {
            let plain = name.iter().filter(|byte| byte.is_ascii_alphanumeric()).count();
            let few = name.len() <= 64 && (plain > 0 || name.contains(&b'?'));
            let names = table.fitting(|known| few && crate::lex::sh::state::variables::fits(name, known));
            let names: Vec<_> =
                names.take(8).map(|known| (known.to_vec(), how.and(Obfuscations::SHELL))).collect();
            if !names.is_empty() {
                return names;
            }
        }
        // `$0` and `$SHELL` are the shell, if they get input or code.
        let next = self.words.get(own.first + 1..own.end).and_then(<[Word]>::first);
        let coded = next.is_some_and(|next| matches!(self.text(*next), [b'-', b'a'..=b'z', ..]));
        if (self.pipe.from != 0 || coded)
            && matches!(text.as_slice(), b"$SHELL" | b"${SHELL}" | b"$BASH" | b"${BASH}" | b"$0" | b"${0}")
        {
            return vec![(b"sh".to_vec(), how)];
        }
        if word.value && word.sources != 0 {
            // The output of another program is run: that is what `eval` does.
            return vec![(b"eval".to_vec(), how)];
        }
        if table.program(name) == 0 {
            // `python3.12` is reported as `python3`.
            let short = name.iter().position(|byte| *byte == b'.').and_then(|at| name.get(..at));
            let short = short.or_else(|| name.strip_suffix(b"-preview")).unwrap_or(name);
            let bare = name.iter().rposition(|byte| !byte.is_ascii_digit() && !matches!(byte, b'.' | b'-'));
            let bare = bare.and_then(|last| name.get(..=last)).unwrap_or(name);
            for short in [short, bare].into_iter().filter(|short| *short != name) {
                if table.program(short) != 0 {
                    return vec![(short.to_vec(), how)];
                }
            }
            let lower = name.to_ascii_lowercase();
            if lower != name && table.program(&lower) != 0 && text.contains(&b'\\') | name.ends_with(b"hell")
            {
                return vec![(lower, how)];
            }
        }
        vec![(name.to_vec(), how)]
    }

    /// Returns the taint of a command's words. In `python3 - "$data" <<END` the program is the here-document, which gets
    /// the downloaded text as data.
    fn word_sources(&self, own: CommandWords) -> u128 {
        let words = self.words.part(own.first..own.end);
        let sources = |words: &[Word]| words.iter().fold(0, |sum, word| sum | word.sources);
        let is_document = |redirect: &Redirect| redirect.text == b"<<" && redirect.sources == 0;
        let stdin = words.iter().position(|word| self.text(*word) == b"-");
        match stdin.filter(|_| self.redirects.part(own.redirects..).iter().any(is_document)) {
            Some(at) => {
                let data = sources(words.part(at..)) & !downloaders::remote(&self.sink.rules.commands);
                sources(words.part(..at)) | data
            }
            None => sources(words),
        }
    }

    /// Reports one command and returns the taint bit of its program.
    pub(in crate::lex::sh) fn report(
        &mut self,
        name: &[u8],
        how: Obfuscations,
        own: CommandWords,
        sources: u128,
    ) -> u128 {
        let table = &self.sink.rules.commands;
        let program = table.program(name);
        self.listed += usize::from(program != 0 || name.starts_with(b"$"));
        let count = self.redirects.len().saturating_sub(own.redirects);
        // Each program of the command gets the command's redirections.
        let bears = own.nested == 0 || self.spend(count.saturating_mul(REDIRECT));
        let from = if bears { own.redirects } else { self.redirects.len() };
        let redirects = self.redirects.part(from..);
        let told: Vec<(Vec<u8>, Obfuscations)> =
            redirects.iter().map(|redirect| (redirect.text.clone(), redirect.how)).collect();
        let fed = redirects.iter().fold(sources | self.pipe.from, |sum, redirect| sum | redirect.sources);
        // A command without an input of its own reads that of the shell, which `exec <` may have changed.
        let reads = self.pipe.piped || redirects.iter().any(|redirect| redirect.text.starts_with(b"<"));
        let fed = if reads { fed } else { fed | self.stdin };
        let args = self.words.part(own.first..own.end).rest(1);
        let start = args.first().map_or(0, |word| word.start);
        let end = args.last().map_or(start, |word| word.end);
        let flat = &self.flat;
        // Rules look at the first arguments; the limit bounds the work per command.
        let words: Vec<&[u8]> =
            args.iter().take(64).map(|word| flat.bytes.part(word.start..word.end)).collect();
        let (own_secret, given) = secrets(table, name, &words, &told);
        let (known, given) = (self.secret_files(name, &words, own), given | self.scripted(name, own));
        let connects = told.iter().any(|(text, _)| {
            let target = text.iter().position(|byte| *byte == b'/').and_then(|at| text.get(at..));
            text.starts_with(b">") && target.is_some_and(downloaders::is_connection)
        });
        let pushes = name == b"git" && words.contains(&&b"push"[..]);
        let edited = self.edited_text(name, &told, fed);
        let own_secret = own_secret | known | edited;
        let fed = fed | given | known | if connects { own_secret } else { 0 };
        let fed = if stays(name, &words) { fed & !(self.secret_bits() | self.edited_bit()) } else { fed };
        let command = Command {
            program,
            how,
            args: flat.bytes.part(start..end),
            undone: &|from, to| flat.how(start + from, start + to),
            sources: fed,
            fed: self.pipe.how,
            redirects: &told,
            span: own.span,
        };
        self.sink.command(&command);
        if pushes {
            self.tell_push(own.span);
        }
        self.keep_secrets(name, own, own_secret | given | fed);
        self.tell_settings(name, own);
        self.runs_written(name, own);
        let args = self.flat.bytes.part(start..end);
        let sent = downloaders::source(&self.sink.rules.commands, name, args) | own_secret;
        self.files_of(name, own, fed, sent)
    }

    /// Records the data files of the plugin that a command copies or merges, perhaps into the settings of an agent.
    fn tell_settings(&mut self, name: &[u8], own: CommandWords) {
        if !matches!(name, b"jq" | b"gojq" | b"jaq" | b"yq" | b"cp" | b"mv" | b"install" | b"tee" | b"cat") {
            return;
        }
        let args = self.words.part(own.first..own.end).rest(1).iter().take(16);
        let files: Vec<Vec<u8>> = args.map(|word| self.text(*word).to_vec()).collect();
        for file in files {
            // Of a path behind a variable, such as the plugin's root, the rest is recorded.
            let below = file.starts_with(b"$").then(|| memchr::memchr(b'/', &file)).flatten();
            let path = file.part(below.map_or(0, |at| at + 1)..);
            let is_data =
                [&b".json"[..], b".jsonc", b".toml", b".yaml", b".yml"].iter().any(|end| path.ends_with(end));
            if is_data && !path.contains(&b'$') && !path.contains(&b'~') {
                let path = String::from_utf8_lossy(path).into_owned();
                self.sink.named_as.push(Named { lens: Lens::Data, path, part: CodePart::Settings });
            }
        }
    }

    /// Continues after a wrapper, or with the effect of a function.
    fn run(&mut self, name: &[u8], program: Word, own: CommandWords) -> Stage {
        // `sudo sudo …` and functions that call each other end here.
        if own.nested >= NESTED {
            return Stage::default();
        }
        let outer = core::mem::take(&mut self.ran);
        let special = self.special(name, program, own).or_else(|| self.wrapped(name, own));
        let ran = core::mem::replace(&mut self.ran, outer);
        match special {
            Some(mut stage) => {
                // The output of `sh -c` and `eval` is the output of what they run.
                stage.sources |= ran;
                stage
            }
            None => self.function(name, own),
        }
    }

    /// Continues with the commands in the arguments of a program.
    pub(in crate::lex::sh) fn wrapped(&mut self, name: &[u8], own: CommandWords) -> Option<Stage> {
        // The body of a function is analyzed with its arguments.
        if self.is_function(name) {
            return None;
        }
        let words = self.words.part(own.first..own.end).rest(1);
        let texts = core::iter::once(name).chain(words.iter().map(|word| self.text(*word)));
        let texts: Vec<Option<&[u8]>> = texts.map(Some).collect();
        let parts = match name {
            // What follows such a word is a command of its own.
            b"then" | b"do" | b"else" => vec![InnerPart::Words { from: 1, to: texts.len() }],
            _ => plugward_commands::inner_command(&texts).parts,
        };
        let mut whole = None;
        for part in parts {
            let stage = whole.get_or_insert_with(Stage::default);
            match part {
                InnerPart::Words { from, to } if from < to => {
                    let inner = self.wrapped_words(name, own, own.first + from, own.first + to);
                    stage.sources |= inner.sources;
                    stage.how = stage.how.and(inner.how);
                    stage.printed = stage.printed.take().or(inner.printed);
                }
                InnerPart::Text { word, offset } => {
                    if let Some(word) = self.words.get(own.first + word).copied() {
                        self.run_text(word, offset, own);
                    }
                }
                _ => {}
            }
        }
        whole
    }

    /// Continues with the words of a command behind a wrapper.
    fn wrapped_words(&mut self, name: &[u8], own: CommandWords, first: usize, end: usize) -> Stage {
        for at in own.first + 1..first {
            let assigns = |word: &&Word| word.assigns != 0 || names::is_assignment(self.text(**word));
            if let Some(word) = self.words.get(at).filter(assigns).copied() {
                self.report_assignment(word, own.span);
            }
        }
        if name == b"xargs" {
            self.fed_words(own, first);
        }
        let stage = self.command_words(CommandWords { first, end, nested: own.nested + 1, ..own });
        if name == b"coproc" {
            // A `coproc` is read through the descriptors in this variable.
            self.set_text(b"COPROC", None, stage.sources);
        }
        stage
    }

    fn function(&mut self, name: &[u8], own: CommandWords) -> Stage {
        self.analyze_call(name, own);
        if let Some((_, count)) = self.bodies.last_mut().filter(|(body, _)| body == name) {
            *count = count.saturating_add(1);
            // `f() { f | f & }; f` is a fork bomb.
            if *count >= 2 && self.pipe.piped {
                self.sink.shape("sh-fork-bomb", own.span, Obfuscations::NONE);
            }
            return Stage::default();
        }
        if !self.environment.funcs.contains_key(name) {
            // The function may be defined below, which a second pass over the script resolves.
            if self.used.len() < 4096 && !self.used.contains(name) {
                self.used.insert(name.to_vec());
            }
            return Stage::default();
        }
        let args: Vec<Vec<u8>> = self
            .words
            .part(own.first..own.end)
            .rest(1)
            .iter()
            .map(|word| self.text(*word).to_vec())
            .collect();
        let cost = args.iter().map(Vec::len).sum::<usize>().saturating_add(64);
        let Some((words, sources)) = self.called(name, &args) else { return Stage::default() };
        self.given_to(name, sources, own);
        if words.is_empty() && !args.is_empty() {
            self.body_with(name, &args, own);
        }
        if words.is_empty() || !self.spend(cost.saturating_add(words.iter().map(Vec::len).sum())) {
            return Stage { sources, ..Stage::default() };
        }
        let mut stage = self.written(&words, own);
        stage.sources |= sources;
        stage
    }

    /// Continues with words that are not in the source as they are.
    pub(in crate::lex::sh) fn written(&mut self, words: &[Vec<u8>], own: CommandWords) -> Stage {
        let first = self.words.len();
        for text in words {
            let mut piece = self.begin();
            piece.span = own.span;
            piece.open = text.contains(&b'$');
            if names::is_assignment(text) {
                let name = names::name_of(text).map_or(0, <[u8]>::len);
                piece.assigns = crate::lex::offset(name);
            }
            self.flat.unit(text, own.span, Obfuscations::NONE);
            piece.end = self.flat.len();
            self.words.push(piece);
        }
        let inner = CommandWords { first, end: self.words.len(), nested: own.nested + 4, ..own };
        self.command_words(inner)
    }

    /// Analyzes the body of a function with the arguments of a call. Without arguments it was analyzed where
    /// it is defined.
    fn body_with(&mut self, name: &[u8], args: &[Vec<u8>], own: CommandWords) {
        let body = self.environment.funcs.get(name).and_then(|func| func.body);
        let Some(BodyRange { start, end, .. }) = body.filter(|body| body.text_of == self.text_of) else {
            return;
        };
        let body = self.src.part(start..end);
        // Each combination of arguments is analyzed once, so that recursive functions end.
        let call = [&[name.to_vec()], args].concat().join(&0);
        if body.is_empty() || self.sink.depth + 1 >= self.limits.embedded || !self.calls.insert(call) {
            return;
        }
        let Some(left) = self.bodies_left.checked_sub(body.len()) else {
            self.stopped.get_or_insert(own.span.0);
            return;
        };
        self.bodies_left = left;
        let mut view = View::default();
        view.put(b"set --", own.span, Obfuscations::NONE, 0);
        for text in args {
            view.put(b" ", own.span, Obfuscations::NONE, 0);
            let mut word = View::default();
            word.put(text, own.span, Obfuscations::NONE, 0);
            let quoting = if text.contains(&b'$') { Quoting::Double } else { Quoting::Single };
            quote::word(&word, quoting, own.span.0, &mut view);
        }
        view.put(b"\n", own.span, Obfuscations::NONE, 0);
        view.copy(body, start, Obfuscations::NONE, 0);
        self.sink.embed(Lens::Sh, EmbeddedText::View(view));
    }

    /// Processes `xargs`: known input becomes words after the command's own, or replaces a placeholder.
    fn fed_words(&mut self, own: CommandWords, first: usize) {
        let Some(input) = self.given(own).filter(|input| input.len() <= FED) else { return };
        let text = |word: &Word| self.text(*word).to_vec();
        let options: Vec<Vec<u8>> = self.words.part(own.first..first).iter().map(text).collect();
        let command: Vec<Vec<u8>> = self.words.part(first..own.end).iter().map(text).collect();
        if !self.spend(input.len().saturating_mul(command.len() + 1)) {
            return;
        }
        let mark = options.iter().zip(1_usize..).find_map(|(option, next)| match option.as_slice() {
            b"-I" => options.get(next).cloned(),
            b"-i" | b"--replace" => Some(b"{}".to_vec()),
            [b'-', b'I' | b'i', glued @ ..] => Some(glued.to_vec()),
            _ => option.strip_prefix(b"--replace=").map(<[u8]>::to_vec),
        });
        let Some(mark) = mark.filter(|mark| !mark.is_empty()) else {
            let items = input.bytes.split(|byte| byte.is_ascii_whitespace() || *byte == 0);
            let items = items.filter(|item| !item.is_empty()).map(<[u8]>::to_vec).take(64);
            let words: Vec<Vec<u8>> = command.into_iter().chain(items).collect();
            self.written(&words, own);
            return;
        };
        for line in input.bytes.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()).take(16) {
            let words: Vec<Vec<u8>> = command.iter().map(|word| replaced(word, &mark, line)).collect();
            self.written(&words, own);
        }
    }
}

/// Replaces every occurrence of a placeholder.
fn replaced(word: &[u8], mark: &[u8], with: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    let mut rest = word;
    while let Some(at) = memchr::memmem::find(rest, mark) {
        out.extend_from_slice(rest.part(..at));
        out.extend_from_slice(with);
        rest = rest.part(at + mark.len()..);
    }
    out.extend_from_slice(rest);
    out
}

/// Returns the lines of a text with their offsets, line breaks included.
fn lines(text: &[u8], start: usize) -> impl Iterator<Item = (&[u8], usize)> {
    let mut at = start;
    text.split_inclusive(|byte| *byte == b'\n').map(move |line| {
        let from = at;
        at += line.len();
        (line, from)
    })
}

/// Returns `true` if a command stores secrets where they belong, or sends them to this machine.
fn stays(name: &[u8], words: &[&[u8]]) -> bool {
    if matches!(name, b"gh" | b"glab" | b"az" | b"gcloud") {
        return words
            .iter()
            .take(2)
            .any(|word| matches!(*word, b"secret" | b"secrets" | b"auth" | b"variable" | b"keyvault"));
    }
    // The cluster issued the token that its own API gets.
    if words.iter().any(|word| hosts::is_cluster(word)) {
        return true;
    }
    let mut all = words.iter().flat_map(|word| hosts::addresses(word)).peekable();
    all.peek().is_some() && all.all(|address| address.is_well_formed() && address.is_loopback())
}

/// Returns the taint bits of secrets in a command's output and in its input.
fn secrets(
    table: &CommandTable,
    name: &[u8],
    words: &[&[u8]],
    redirects: &[(Vec<u8>, Obfuscations)],
) -> (u128, u128) {
    let bit = |printed: Printed| table.source(table.program(printed.program()));
    let own = credentials::printed(name, words).map_or(0, bit);
    let read: Vec<&[u8]> = redirects
        .iter()
        .filter_map(|(text, _)| text.strip_prefix(b"<"))
        .map(<[u8]>::trim_ascii_start)
        .collect();
    let mut given = credentials::of_files(&read).map_or(0, bit);
    if words.iter().any(|word| credentials::expands_secret(word)) {
        given |= bit(Printed::Named);
    }
    // A whole settings file is no less than credentials.
    given |= match credentials::of_files(&credentials::uploaded(name, words)) {
        Some(Printed::Dotenv) => bit(Printed::Credentials),
        other => other.map_or(0, bit),
    };
    // A filter such as `grep` outputs part of the file.
    let picks = matches!(name, b"grep" | b"egrep" | b"awk" | b"cut" | b"jq" | b"sed" | b"rg");
    let own = if picks { own | table.source(table.program(b"@picked")) } else { own };
    (own, given)
}
