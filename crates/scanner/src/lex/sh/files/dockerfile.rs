//! Dockerfiles: the commands that their instructions run.

use std::collections::BTreeMap;

use plugward_types::{Part, hex};

use crate::lex::Lexed;
use crate::lex::sh::state::flat::FlatText;
use crate::scan::entry::Lens;
use crate::scan::options::ScanLimits;
use crate::scan::sink::{EmbeddedText, Sink, Unread};
use crate::text::view::Obfuscations;

/// The longest value of a setting that is tracked.
const MAX: usize = 4096;

/// One instruction with its continuation lines joined.
struct Instruction {
    text: FlatText,
    start: usize,
    end: usize,
    next: usize,
    /// Set if a shell would not join the lines: they have a comment in between, or another escape character.
    odd: bool,
}

/// A here-document of an instruction.
struct HereDocument {
    start: usize,
    stop: usize,
    next: usize,
}

struct Dockerfile<'a> {
    src: &'a [u8],
    escape: u8,
    /// The `ENV` and `ARG` settings, as `NAME=value`.
    names: BTreeMap<Vec<u8>, FlatText>,
    budget: usize,
    /// The last place of each short line, built when a here-document is first searched for its end.
    last: Option<BTreeMap<&'a [u8], usize>>,
    /// Set once an unclosed here-document was lexed, so that the next one is not lexed again.
    open: bool,
    ranges: Vec<(usize, usize)>,
}

/// Lexes the commands of a Dockerfile.
pub(in crate::lex::sh) fn lex(src: &[u8], sink: &mut Sink<'_>, limits: &ScanLimits, out: &mut Lexed) {
    let mut file = Dockerfile {
        src,
        escape: escape(src),
        names: BTreeMap::new(),
        // Each use of a setting copies its value, so many uses of a long one would take quadratic time.
        budget: (1_usize << 20).saturating_add(src.len().saturating_mul(4)),
        last: None,
        open: false,
        ranges: Vec::new(),
    };
    let (mut at, mut noted) = (0_usize, 0_usize);
    while at < src.len() {
        let line = file.line(at);
        let first = line.text.bytes.iter().position(|byte| !byte.is_ascii_whitespace());
        at = line.next;
        let Some(first) = first else { continue };
        if line.text.bytes.get(first) == Some(&b'#') {
            crate::lex::sh::note(src, line.start, line.end, &mut noted, out);
            continue;
        }
        at = file.instruction(&line, first, sink);
    }
    out.text.end();
    let ranges = core::mem::take(&mut file.ranges);
    crate::lex::sh::script(src, &ranges, sink, limits, out);
}

/// Returns the character that joins lines. The directive `# escape=` at the top of the file changes it.
fn escape(src: &[u8]) -> u8 {
    for line in src.split(|byte| *byte == b'\n') {
        let Some(directive) = line.trim_ascii().strip_prefix(b"#") else { break };
        let mut sides = directive.splitn(2, |byte| *byte == b'=');
        let name = sides.next().unwrap_or_default().trim_ascii();
        let Some(value) = sides.next() else { break };
        if name.eq_ignore_ascii_case(b"escape") {
            return if value.trim_ascii() == b"`" { b'`' } else { b'\\' };
        }
    }
    b'\\'
}

impl Dockerfile<'_> {
    /// Reads one instruction or comment.
    fn line(&self, start: usize) -> Instruction {
        let mut line = Instruction { text: FlatText::default(), start, end: start, next: start, odd: false };
        let mut at = start;
        while at < self.src.len() {
            let rest = self.src.part(at..);
            let len = memchr::memchr(b'\n', rest).unwrap_or(rest.len());
            let text = rest.part(..len);
            let from = at;
            at += len + 1;
            (line.end, line.next) = (from + text.len(), at);
            let trimmed = text.trim_ascii_end();
            let said = trimmed.trim_ascii_start();
            let noted = said.starts_with(b"#");
            if from > start && (said.is_empty() || noted) {
                if noted || at < self.src.len() {
                    line.odd = true;
                }
                continue;
            }
            let joins = trimmed.strip_suffix(&[self.escape]).filter(|_| !noted);
            let Some(head) = joins else {
                line.text.plain(text, from, Obfuscations::NONE);
                break;
            };
            line.odd |=
                self.escape != b'\\' || trimmed.len() != text.strip_suffix(b"\r").unwrap_or(text).len();
            line.text.plain(head, from, Obfuscations::NONE);
        }
        line.next = line.next.min(self.src.len());
        line
    }

    /// Processes one instruction, and returns the offset at which reading continues.
    fn instruction(&mut self, line: &Instruction, first: usize, sink: &mut Sink<'_>) -> usize {
        let bytes = &line.text.bytes;
        let mut at = first;
        let mut word = first_word(bytes, at).to_ascii_lowercase();
        if word == b"onbuild" {
            at = behind(bytes, at, word.len());
            word = first_word(bytes, at).to_ascii_lowercase();
        }
        if word == b"healthcheck" {
            at = behind_options(bytes, behind(bytes, at, word.len()));
            word = first_word(bytes, at).to_ascii_lowercase();
        }
        let from = at;
        at = behind(bytes, at, word.len());
        match word.as_slice() {
            b"env" | b"arg" => self.settings(&line.text, at, sink),
            b"run" => {
                at = behind_options(bytes, at);
                if bytes.get(at) == Some(&b'[') {
                    exec_form(&line.text, at, sink);
                } else {
                    return self.run(line, at, sink);
                }
            }
            b"cmd" | b"entrypoint" | b"shell" => {
                if bytes.get(at) == Some(&b'[') {
                    exec_form(&line.text, at, sink);
                } else {
                    self.command(line, at, &[], sink);
                }
            }
            b"add" if memchr::memmem::find(bytes, b"://").is_some() => {
                // `ADD https://…` downloads a file, which a later command may run.
                let start = line.text.source(from, from + 1).0;
                self.ranges.push((start, line.end));
            }
            b"copy" | b"add" => return self.copy(line, at, sink),
            _ => {}
        }
        line.next
    }

    /// Records `ENV NAME value`, `ENV NAME=value` and `ARG NAME=value`, which later commands see.
    fn settings(&mut self, text: &FlatText, at: usize, sink: &mut Sink<'_>) {
        let bytes = &text.bytes;
        let mut shown = FlatText::default();
        let place = text.source(at, at + 1).0;
        shown.unit(b"export ", (place, place), Obfuscations::NONE);
        let before = shown.len();
        let name = first_word(bytes, at);
        if name.contains(&b'=') {
            shown.add(text, at, bytes.len());
            for (from, to) in tokens(bytes, at) {
                let token = bytes.part(from..to);
                if let Some(name) =
                    crate::lex::sh::programs::names::name_of(token).filter(|_| token.len() <= MAX)
                {
                    self.names.insert(name.to_vec(), text.cut(from, to));
                }
            }
        } else {
            let value = behind(bytes, at, name.len());
            let end = bytes.trim_ascii_end().len();
            if value >= end {
                return;
            }
            shown.add(text, at, at + name.len());
            shown.unit(b"=", (place, place), Obfuscations::NONE);
            quoted(text, value, end, &mut shown);
            if crate::lex::sh::programs::names::is_name(name) && shown.len() <= MAX {
                self.names.insert(name.to_vec(), shown.cut(before, shown.len()));
            }
        }
        sink.embed(Lens::Sh, EmbeddedText::View(shown.view(0, shown.len())));
    }

    /// Passes a command to the lexer for shells.
    ///
    /// It is unchanged if a shell joins its lines in the same way, otherwise joined.
    fn command(&mut self, line: &Instruction, at: usize, bodies: &[HereDocument], sink: &mut Sink<'_>) {
        let start = line.text.source(at, at + 1).0;
        let end = bodies.last().map_or(line.end, |body| body.next);
        if line.text.bytes.part(at..).trim_ascii().is_empty() {
            return;
        }
        let used = self.used(line.text.bytes.part(at..));
        if used.is_empty() && !line.odd {
            self.ranges.push((start, end));
            return;
        }
        let cost = used
            .iter()
            .fold(0_usize, |sum, name| sum + self.names.get(*name).map_or(0, |text| text.len() + 1));
        let mut text = FlatText::default();
        if let Some(left) = self.budget.checked_sub(cost) {
            self.budget = left;
            for setting in used.iter().filter_map(|name| self.names.get(*name)) {
                text.add(setting, 0, setting.len());
                text.unit(b"\n", (start, start), Obfuscations::NONE);
            }
        } else {
            sink.unread.push(Unread { start, end });
        }
        text.add(&line.text, at, line.text.len());
        for body in bodies {
            if text.bytes.last() != Some(&b'\n') {
                text.unit(b"\n", (body.start, body.start), Obfuscations::NONE);
            }
            let lines = self.src.part(body.start..body.next);
            text.plain(lines, body.start, Obfuscations::NONE);
        }
        sink.embed(Lens::Sh, EmbeddedText::View(text.view(0, text.len())));
    }

    /// Returns the settings that a command refers to.
    fn used<'t>(&self, text: &'t [u8]) -> Vec<&'t [u8]> {
        if self.names.is_empty() {
            return Vec::new();
        }
        let mut used: Vec<&[u8]> = memchr::memchr_iter(b'$', text)
            .filter_map(|at| {
                let rest = text.get(at + 1..)?;
                let rest = rest.strip_prefix(b"{").unwrap_or(rest);
                let part = |byte: &&u8| byte.is_ascii_alphanumeric() || **byte == b'_';
                rest.get(..rest.iter().take_while(part).count())
            })
            .filter(|name| self.names.contains_key(*name))
            .collect();
        used.sort_unstable();
        used.dedup();
        used
    }

    /// Processes `RUN`, with its here-documents.
    fn run(&mut self, line: &Instruction, at: usize, sink: &mut Sink<'_>) -> usize {
        let marks = marks(&line.text.bytes, at);
        let bodies = self.bodies(&marks, line.next, sink);
        let next = bodies.last().map_or(line.next, |body| body.next);
        let alone = marks.first().filter(|mark| mark.start == at && !bodies.is_empty());
        let Some(mark) = alone else {
            self.command(line, at, &bodies, sink);
            return next;
        };
        let rest = line.text.bytes.part(mark.end..).trim_ascii();
        if !rest.is_empty() && !rest.starts_with(b"<<") {
            // A program on the same line reads the here-document: `RUN <<EOF python3`.
            self.command(line, at, &bodies, sink);
            return next;
        }
        for body in &bodies {
            let text = self.src.part(body.start..body.stop);
            let lens = crate::inventory::names::shebang(text.trim_ascii_start()).unwrap_or(Lens::Sh);
            sink.embed(lens, EmbeddedText::Range(body.start, body.stop));
        }
        next
    }

    /// Processes `COPY <<EOF /x.sh`, whose here-document is the content of a file.
    fn copy(&mut self, line: &Instruction, at: usize, sink: &mut Sink<'_>) -> usize {
        let bytes = &line.text.bytes;
        let marks = marks(bytes, at);
        let bodies = self.bodies(&marks, line.next, sink);
        let target = bytes.trim_ascii_end().rsplit(u8::is_ascii_whitespace).next().unwrap_or_default();
        let named = crate::inventory::names::lens(&String::from_utf8_lossy(target));
        for body in &bodies {
            let text = self.src.part(body.start..body.stop);
            if let Some(lens) = crate::inventory::names::shebang(text).or(named) {
                sink.embed(lens, EmbeddedText::Range(body.start, body.stop));
            }
        }
        bodies.last().map_or(line.next, |body| body.next)
    }

    /// Finds the here-documents of an instruction, which follow each other.
    fn bodies(&mut self, marks: &[Delimiter], from: usize, sink: &mut Sink<'_>) -> Vec<HereDocument> {
        let mut bodies = Vec::new();
        let mut start = from;
        for mark in marks {
            let Some((stop, next)) = self.ending(start, mark) else {
                if !core::mem::replace(&mut self.open, true) && start < self.src.len() {
                    // Unclosed: the rest may be its text, and is also read as instructions.
                    sink.embed(Lens::Sh, EmbeddedText::Range(start, self.src.len()));
                }
                break;
            };
            bodies.push(HereDocument { start, stop, next });
            start = next;
        }
        bodies
    }

    fn ending(&mut self, from: usize, mark: &Delimiter) -> Option<(usize, usize)> {
        let src = self.src;
        let last = self.last.get_or_insert_with(|| {
            let mut last = BTreeMap::new();
            let mut at = 0_usize;
            for line in src.split(|byte| *byte == b'\n') {
                if line.len() <= 64 {
                    last.insert(plain_line(line), at);
                }
                at += line.len() + 1;
            }
            last
        });
        if last.get(mark.name.as_slice()).is_none_or(|last| *last < from) {
            return None;
        }
        let mut at = from;
        while at < src.len() {
            let rest = src.part(at..);
            let len = memchr::memchr(b'\n', rest).unwrap_or(rest.len());
            let next = (at + len + 1).min(src.len());
            if plain_line(rest.part(..len)) == mark.name {
                return Some((at, next));
            }
            at += len + 1;
        }
        None
    }
}

/// Returns a line as compared with a delimiter. Spaces around it are ignored, so that less is taken for text.
fn plain_line(line: &[u8]) -> &[u8] {
    line.trim_ascii()
}

fn first_word(text: &[u8], at: usize) -> &[u8] {
    let rest = text.part(at..);
    let len = rest.iter().position(u8::is_ascii_whitespace).unwrap_or(rest.len());
    rest.part(..len)
}

/// Returns the offset after a word and the spaces that follow it.
fn behind(text: &[u8], at: usize, len: usize) -> usize {
    let from = at + len;
    let rest = text.part(from..);
    from + rest.iter().take_while(|byte| byte.is_ascii_whitespace()).count()
}

fn behind_options(text: &[u8], mut at: usize) -> usize {
    while text.get(at..).is_some_and(|rest| rest.starts_with(b"--")) {
        at = behind(text, at, first_word(text, at).len());
    }
    at
}

/// Returns the ranges of the words of a line, with their quotes.
fn tokens(text: &[u8], from: usize) -> Vec<(usize, usize)> {
    let mut out = Vec::new();
    let (mut start, mut at, mut quote) = (from, from, 0_u8);
    while let Some(&byte) = text.get(at) {
        match byte {
            b'\\' if quote != b'\'' => at += 1,
            b'\'' | b'"' if quote == byte => quote = 0,
            b'\'' | b'"' if quote == 0 => quote = byte,
            _ if quote == 0 && byte.is_ascii_whitespace() => {
                if at > start {
                    out.push((start, at));
                }
                start = at + 1;
            }
            _ => {}
        }
        at += 1;
    }
    if start < text.len() {
        out.push((start, text.len()));
    }
    out
}

/// The delimiter of a here-document, and its place.
struct Delimiter {
    name: Vec<u8>,
    start: usize,
    end: usize,
}

/// Finds here-document operators such as `<<EOF` and `<<-"EOF"`.
fn marks(text: &[u8], from: usize) -> Vec<Delimiter> {
    if memchr::memmem::find(text, b"<<").is_none() {
        return Vec::new();
    }
    let mark = |(start, end): (usize, usize)| {
        let token = text.get(start..end)?;
        let digits = token.iter().take_while(|byte| byte.is_ascii_digit()).count();
        let rest = token.get(digits..)?.strip_prefix(b"<<")?;
        let rest = rest.strip_prefix(b"-").unwrap_or(rest);
        let name: Vec<u8> = rest.iter().copied().filter(|byte| !matches!(byte, b'\'' | b'"')).collect();
        let name: Vec<u8> =
            name.into_iter().take_while(|byte| !matches!(byte, b';' | b'|' | b'&' | b'>' | b')')).collect();
        let plain = !name.is_empty() && name.len() <= 64 && !name.contains(&b'<');
        plain.then_some(Delimiter { name, start, end })
    };
    tokens(text, from).into_iter().filter_map(mark).take(16).collect()
}

/// Lexes the exec form `["program", "argument"]`, a JSON array.
fn exec_form(text: &FlatText, at: usize, sink: &mut Sink<'_>) {
    let mut out = FlatText::default();
    let mut from = at;
    while let Some(open) = text.bytes.get(from..).and_then(|rest| memchr::memchr(b'"', rest)) {
        let start = from + open + 1;
        let mut end = start;
        while let Some(byte) = text.bytes.get(end).filter(|byte| **byte != b'"') {
            end += if *byte == b'\\' { 2 } else { 1 };
        }
        let end = end.min(text.len());
        if out.len() > 0 {
            let place = text.source(start.saturating_sub(1), start).0;
            out.unit(b" ", (place, place), Obfuscations::NONE);
        }
        quoted(&json(text, start, end), 0, usize::MAX, &mut out);
        from = end + 1;
    }
    sink.embed(Lens::Sh, EmbeddedText::View(out.view(0, out.len())));
}

/// Decodes a JSON string.
fn json(text: &FlatText, start: usize, end: usize) -> FlatText {
    let mut out = FlatText::default();
    let mut at = start;
    while at < end {
        let rest = text.bytes.part(at..end);
        let len = memchr::memchr(b'\\', rest).unwrap_or(rest.len());
        out.add(text, at, at + len);
        at += len;
        let Some((value, len)) = unescaped(text.bytes.part(at..end)) else { continue };
        let next = at + len;
        // Escaping a character that needs no escape counts as obfuscation.
        let hides = len == 6 && value.iter().all(|byte| matches!(byte, b' '..=b'~'));
        let how = if hides { Obfuscations::ESCAPE } else { Obfuscations::NONE };
        out.unit(&value, text.source(at, next), how);
        at = next;
    }
    out
}

fn unescaped(text: &[u8]) -> Option<(Vec<u8>, usize)> {
    let (_, rest) = text.split_first()?;
    let value: &[u8] = match rest.first() {
        Some(b'n') => b"\n",
        Some(b't') => b"\t",
        Some(b'r') => b"\r",
        Some(b'b') => b"\x08",
        Some(b'f') => b"\x0C",
        Some(b'u') => match rest.get(1..5).and_then(hex::number).and_then(char::from_u32) {
            Some(letter) => return Some((letter.to_string().into_bytes(), 6)),
            None => b"u",
        },
        Some(_) => rest.get(..1)?,
        None => b"\\",
    };
    Some((value.to_vec(), text.len().min(2)))
}

/// Appends a text, quoted so that the lexer for shells takes it as one word.
fn quoted(text: &FlatText, start: usize, end: usize, out: &mut FlatText) {
    let end = end.min(text.len());
    let bytes = text.bytes.part(start..end);
    let plain = |byte: &u8| {
        byte.is_ascii_alphanumeric()
            || matches!(byte, b'-' | b'_' | b'/' | b'.' | b'=' | b':' | b'@' | b'%' | b'+')
            || *byte >= 0x80
    };
    if !bytes.is_empty() && bytes.iter().all(plain) {
        out.add(text, start, end);
        return;
    }
    let place = text.source(start, start + 1);
    out.unit(b"'", (place.0, place.0), Obfuscations::NONE);
    let mut from = start;
    for quote in memchr::memchr_iter(b'\'', bytes) {
        let at = start + quote;
        out.add(text, from, at);
        out.unit(b"'\\''", text.source(at, at + 1), Obfuscations::NONE);
        from = at + 1;
    }
    out.add(text, from, end);
    out.unit(b"'", (place.1, place.1), Obfuscations::NONE);
}
