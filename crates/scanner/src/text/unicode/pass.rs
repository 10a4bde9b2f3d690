//! One pass over the characters of a text that is not all ASCII, and one over its control bytes.

use plugward_types::{Part, hex};
use unicode_script::{Script, UnicodeScript as _};

use super::words;
use crate::scan::entry::Lens;
use crate::scan::sink::{EmbeddedText, Sink};
use crate::text::view::{Obfuscations, View};

/// Whether the text is code, in which any bidi control is out of place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Code,
    Prose,
}

/// Reports characters that hide something.
pub(crate) fn pass(text: &[u8], kind: Kind, sink: &mut Sink<'_>) {
    controls(text, sink);
    if text.is_ascii() {
        return;
    }
    let mut walk = Walk::new(text, kind, sink);
    for (at, valid) in super::valid(text) {
        walk.chunk(valid, at);
        walk.before = ' ';
    }
    walk.end_run(text.len());
    walk.end_woven();
    walk.end_compat(text.len());
    walk.end_line();
    words::mixed(text, sink);
}

/// Reports the same in `\u…` escapes of JSON, string by string: tag characters, and bidi controls next to other text.
pub(crate) fn escaped(text: &[u8], sink: &mut Sink<'_>) {
    let mut walk = Walk::new(text, Kind::Code, sink);
    let mut done = 0_usize;
    while let Some(len) = memchr::memmem::find(text.part(done..), b"\\u") {
        let at = done + len;
        // An escaped backslash does not start an escape.
        let slashes = text.part(done..at).iter().rev().take_while(|byte| **byte == b'\\');
        let Some((char, len)) = escape(text.part(at..)).filter(|_| slashes.count() % 2 == 0) else {
            done = at + 2;
            continue;
        };
        let end = at + len;
        // Text between two escapes ends runs, and a quote ends the text that bidi controls affect.
        let between = text.part(done..at);
        if !between.is_empty() {
            walk.end_run(at);
            walk.before = ' ';
        }
        if memchr::memchr2(b'"', b'\n', between).is_some() {
            walk.end_line();
        }
        walk.line.right_to_left |= is_right_to_left(char);
        walk.runs(char, (at, end));
        let alone = text.get(at.saturating_sub(1)) == Some(&b'"') && text.get(end) == Some(&b'"');
        if matches!(char, '\u{202A}'..='\u{202E}' | '\u{2066}'..='\u{2069}') && !alone {
            walk.direction(char, (at, end));
        }
        walk.before = char;
        done = end;
    }
    walk.end_run(text.len());
    walk.end_woven();
    walk.end_line();
}

/// Reports the same in a value whose escapes are undone, with the position of each letter. An escaped character alone is an
/// item of a table, and escaped control characters have no effect on a terminal.
pub(crate) fn in_value(view: &View, sink: &mut Sink<'_>) {
    let alone = core::str::from_utf8(&view.bytes).is_ok_and(|text| text.chars().nth(1).is_none());
    if alone {
        return;
    }
    let before = sink.hits.len();
    let mut walk = Walk::new(&view.bytes, Kind::Prose, sink);
    for (at, valid) in super::valid(&view.bytes) {
        walk.chunk(valid, at);
        walk.before = ' ';
    }
    walk.end_run(view.bytes.len());
    walk.end_woven();
    walk.end_compat(view.bytes.len());
    walk.end_line();
    words::mixed(&view.bytes, sink);
    let mut found = sink.hits.split_off(before);
    let controls = sink.rules.shape("unicode-control");
    found.retain(|hit| !controls.contains(&hit.matcher));
    for mut hit in found {
        let (start, end, how) = view.map.back(hit.start as usize, hit.end as usize);
        hit.start = u32::try_from(start).unwrap_or(u32::MAX);
        hit.end = u32::try_from(end).unwrap_or(u32::MAX);
        hit.how = hit.how.and(how);
        sink.hits.push(hit);
    }
}

/// Decodes `\uXXXX`, or two that form one character. Returns the character and the length.
fn escape(text: &[u8]) -> Option<(char, usize)> {
    let unit = |at: usize| {
        let digits = text.get(at..)?.strip_prefix(b"\\u")?.get(..4)?;
        u16::try_from(hex::number(digits)?).ok()
    };
    let first = unit(0)?;
    if let Some(char) = char::from_u32(u32::from(first)) {
        return Some((char, 6));
    }
    let char = char::decode_utf16([first, unit(6)?]).next()?.ok()?;
    Some((char, 12))
}

/// Returns `true` for letters of Thai, Lao, Myanmar and Khmer.
const fn is_unspaced(char: char) -> bool {
    matches!(char, '\u{E00}'..='\u{EFF}' | '\u{1000}'..='\u{109F}' | '\u{1780}'..='\u{17FF}')
}

/// Reports control bytes except tab, line ends and form feed. The encoding rules handle NUL.
fn controls(text: &[u8], sink: &mut Sink<'_>) {
    let odd = |byte: u8| (byte < 0x20 && !matches!(byte, 0 | b'\t' | b'\n' | b'\r' | 0x0C)) || byte == 0x7F;
    let mut at = 0_usize;
    for block in text.chunks(256) {
        // Separate comparisons vectorize; a set of marks would be looked up byte by byte.
        let any = block.iter().fold(0, |any, &byte| {
            let is = |mark: u8| u8::from(byte == mark);
            let usual = is(0) | is(b'\t') | is(b'\n') | is(b'\r') | is(0x0C);
            any | (u8::from(byte < 0x20) ^ usual) | is(0x7F)
        });
        if any != 0 {
            let mut last = None;
            for (index, byte) in block.iter().enumerate() {
                if odd(*byte) {
                    let place = at + index;
                    if last != Some(place.wrapping_sub(1)) {
                        sink.shape("unicode-control", (place, place + 1), Obfuscations::NONE);
                    }
                    last = Some(place);
                }
            }
        }
        at += block.len();
    }
}

/// The bidi controls of one line.
#[derive(Debug, Default)]
struct Line {
    first: Option<(usize, usize)>,
    embeddings: u32,
    isolates: u32,
    stray: bool,
    overrides: bool,
    right_to_left: bool,
}

/// This many zero-width characters in a row carry data: scripts need at most two.
const LONG_RUN: usize = 8;

/// A run of hidden characters of one kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Run {
    Tags { flag: bool },
    Selectors,
    ZeroWidth,
}

struct Walk<'s, 'r> {
    text: &'s [u8],
    sink: &'s mut Sink<'r>,
    kind: Kind,
    before: char,
    /// The character before the run of selectors.
    base: char,
    line: Line,
    run: Option<(Run, usize, View)>,
    compat: u32,
    compat_start: usize,
    woven: Woven,
}

/// Hidden characters between visible ones, one or a few at a time, collected.
#[derive(Debug, Default)]
struct Woven {
    tags: View,
    selectors: View,
    /// The number of selectors after a character that takes none, and the position of the first.
    lone: u32,
    first: Option<(usize, usize)>,
}

impl<'s, 'r> Walk<'s, 'r> {
    fn new(text: &'s [u8], kind: Kind, sink: &'s mut Sink<'r>) -> Self {
        Self {
            text,
            sink,
            kind,
            before: ' ',
            base: ' ',
            line: Line::default(),
            run: None,
            compat: 0,
            compat_start: 0,
            woven: Woven::default(),
        }
    }
}

impl Walk<'_, '_> {
    fn chunk(&mut self, valid: &str, base: usize) {
        let mut rest = valid;
        let mut at = base;
        while !rest.is_empty() {
            let plain = super::ascii_len(rest.as_bytes());
            let (head, tail) = rest.split_at(plain);
            self.ascii(head, at);
            at += plain;
            let mut chars = tail.chars();
            let Some(char) = chars.next() else { break };
            rest = chars.as_str();
            let end = at + char.len_utf8();
            let next = rest.chars().next().unwrap_or(' ');
            self.wide(char, next, (at, end));
            self.before = char;
            at = end;
        }
    }

    fn ascii(&mut self, text: &str, at: usize) {
        let Some(last) = text.bytes().next_back().map(char::from) else { return };
        self.end_run(at);
        if text.bytes().any(|byte| !matches!(byte, b' ' | b'-' | b'.')) {
            self.end_compat(at);
        }
        let line = self.line.first.is_some() || self.line.right_to_left;
        if line && memchr::memchr2(b'\n', b'\r', text.as_bytes()).is_some() {
            self.end_line();
        }
        self.before = last;
    }

    fn wide(&mut self, char: char, next: char, span: (usize, usize)) {
        self.runs(char, span);
        match char {
            '\u{202A}'..='\u{202E}' | '\u{2066}'..='\u{2069}' => self.direction(char, span),
            '\u{2028}' | '\u{2029}' => self.end_line(),
            '\u{80}'..='\u{9F}' => self.sink.shape("unicode-control", span, Obfuscations::NONE),
            '\u{200B}'..='\u{200D}'
            | '\u{2060}'..='\u{2064}'
            | '\u{FEFF}'
            | '\u{AD}'
            | '\u{180E}'
            | '\u{206A}'..='\u{206F}' => {
                self.zero_width(char, next, span);
            }
            '\u{115F}'
            | '\u{1160}'
            | '\u{3164}'
            | '\u{FFA0}'
            | '\u{17B4}'
            | '\u{17B5}'
            | '\u{FFF9}'..='\u{FFFB}'
                if !is_quoted_alone(self.before, next)
                    && (self.kind == Kind::Code || is_word(self.before) || is_word(next)) =>
            {
                self.sink.shape("unicode-invisible-letter", span, Obfuscations::NONE);
            }
            '\u{2800}'
                if !is_quoted_alone(self.before, next) && !is_braille(self.before) && !is_braille(next) =>
            {
                self.sink.shape("unicode-invisible-letter", span, Obfuscations::NONE);
            }
            _ if is_right_to_left(char) => self.line.right_to_left = true,
            _ => {}
        }
        if is_compat_letter(char) {
            if self.compat == 0 {
                self.compat_start = span.0;
            }
            self.compat = self.compat.saturating_add(1);
        } else {
            self.end_compat(span.0);
        }
    }

    /// Fullwidth punctuation and degree signs are not letters; three letters are a word.
    fn end_compat(&mut self, at: usize) {
        if self.compat >= 3 {
            self.sink.shape("unicode-compat-letters", (self.compat_start, at), Obfuscations::NONE);
        }
        self.compat = 0;
    }

    fn zero_width(&mut self, char: char, next: char, span: (usize, usize)) {
        if char == '\u{FEFF}' && span.0 == 0 {
            return;
        }
        // One byte order mark is removed; a second one stays before the first word.
        if char == '\u{FEFF}' && span.0 == char.len_utf8() && self.before == char {
            self.sink.shape("unicode-zero-width-code", span, Obfuscations::NONE);
            return;
        }
        // Joiners belong to emoji and to scripts with joined letters.
        let joiner = matches!(char, '\u{200C}' | '\u{200D}');
        if joiner && (!self.before.is_ascii() && !next.is_ascii()) {
            return;
        }
        if char == '\u{AD}' && self.kind == Kind::Prose {
            return;
        }
        // Scripts without blanks between words mark possible line breaks with it.
        if char == '\u{200B}' && is_unspaced(self.before) && is_unspaced(next) {
            return;
        }
        if self.kind == Kind::Code && (self.is_name_in_quotes(span) || self.is_member(span)) {
            self.sink.shape("unicode-zero-width-code", span, Obfuscations::NONE);
        } else if is_word(self.before) && is_word(next) {
            self.sink.shape("unicode-zero-width-word", span, Obfuscations::NONE);
        }
    }

    /// Returns `true` if a single word in quotes is a key or a name.
    fn is_name_in_quotes(&self, span: (usize, usize)) -> bool {
        let named = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$' | b'.');
        let head = self.text.part(..span.0);
        let tail = self.text.part(span.1..);
        let left = head.iter().rev().take(64).take_while(|byte| named(byte)).count();
        let right = tail.iter().take(64).take_while(|byte| named(byte)).count();
        let open = head.len().checked_sub(left + 1).and_then(|at| head.get(at));
        let quoted = matches!(open, Some(b'\'' | b'"' | b'`')) && tail.get(right) == open;
        if !(left > 0 && right > 0 && quoted) {
            return false;
        }
        let after = tail.part(right + 1..);
        let after = after.head(64).trim_ascii_start().first();
        // Reflection takes the name of a member as text: `getattr(x, "name")`.
        let before = head.len().saturating_sub(left + 1);
        let call = head.part(before.saturating_sub(64)..before);
        let takes_name = [b"attr(".as_slice(), b"attrgetter(", b"methodcaller(", b"Reflect.get("]
            .iter()
            .filter_map(|callee| Some((memchr::memmem::rfind(call, callee)?, callee.len())))
            .any(|(at, len)| {
                let arguments = call.part(at + len..);
                !arguments.iter().any(|byte| matches!(byte, b')' | b'\n' | b'\'' | b'"'))
            });
        matches!(after, Some(b']' | b':')) || (takes_name && matches!(after, Some(b')' | b',')))
    }

    /// Returns `true` if a position is inside the name of a member: `x.na` before it, `me` after it.
    fn is_member(&self, span: (usize, usize)) -> bool {
        let named = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$');
        let head = self.text.part(span.0.saturating_sub(64)..span.0);
        let left = head.iter().rev().take_while(|byte| named(byte)).count();
        let head = head.part(..head.len().saturating_sub(left));
        let right = self.text.get(span.1).is_some_and(named);
        let code = self.sink.lens & (Lens::Js.bit() | Lens::Py.bit() | Lens::Rs.bit()) != 0;
        code && left > 0
            && right
            && matches!(head, [.., owner, b'.'] if named(owner) || matches!(owner, b')' | b']'))
    }

    fn direction(&mut self, char: char, span: (usize, usize)) {
        let line = &mut self.line;
        line.first.get_or_insert(span);
        match char {
            '\u{202A}' | '\u{202B}' => line.embeddings = line.embeddings.saturating_add(1),
            '\u{202D}' | '\u{202E}' => {
                line.overrides = true;
                line.embeddings = line.embeddings.saturating_add(1);
            }
            '\u{202C}' => match line.embeddings.checked_sub(1) {
                Some(left) => line.embeddings = left,
                None => line.stray = true,
            },
            '\u{2069}' => match line.isolates.checked_sub(1) {
                Some(left) => line.isolates = left,
                None => line.stray = true,
            },
            _ => line.isolates = line.isolates.saturating_add(1),
        }
    }

    fn end_line(&mut self) {
        let line = core::mem::take(&mut self.line);
        let Some(first) = line.first else { return };
        let balanced = line.embeddings == 0 && line.isolates == 0 && !line.stray;
        let natural = line.right_to_left && !line.overrides && balanced;
        if !balanced || line.overrides || (self.kind == Kind::Code && !natural) {
            self.sink.shape("unicode-bidi", first, Obfuscations::NONE);
        }
    }

    /// Tracks runs of tag characters and of variation selectors.
    fn runs(&mut self, char: char, span: (usize, usize)) {
        let value = u32::from(char);
        let (kind, byte) = match value {
            0xE0000..=0xE007F => {
                (Run::Tags { flag: self.before == '\u{1F3F4}' }, value.wrapping_sub(0xE0000))
            }
            0xFE00..=0xFE0F => (Run::Selectors, value.wrapping_sub(0xFE00)),
            0xE0100..=0xE01EF => (Run::Selectors, value.wrapping_sub(0xE0100).wrapping_add(16)),
            0x200B..=0x200F | 0x2060..=0x2064 | 0xFEFF | 0x180E => (Run::ZeroWidth, 0),
            _ => {
                self.end_run(span.0);
                return;
            }
        };
        let byte = u8::try_from(byte).unwrap_or(0);
        if let Some((run, _, view)) = &mut self.run
            && core::mem::discriminant(run) == core::mem::discriminant(&kind)
        {
            view.put(&[byte], span, Obfuscations::DECODE, 0);
            return;
        }
        self.end_run(span.0);
        let mut view = View::default();
        view.put(&[byte], span, Obfuscations::DECODE, 0);
        self.run = Some((kind, span.0, view));
        self.base = self.before;
    }

    fn end_run(&mut self, at: usize) {
        let Some((run, start, view)) = self.run.take() else { return };
        let count = view.bytes.len();
        let shape = match run {
            // A region's flag: at most 6 tag characters, the last of which is the end mark.
            Run::Tags { flag: true } if count <= 7 && view.bytes.last() == Some(&0x7F) => return,
            Run::Tags { .. } => "unicode-tags",
            Run::Selectors if count < 2 => {
                self.weave(run, &view);
                return;
            }
            Run::Selectors => "unicode-variation-run",
            Run::ZeroWidth if count < LONG_RUN => return,
            Run::ZeroWidth => {
                self.sink.shape("unicode-zero-width-run", (start, at), Obfuscations::NONE);
                return;
            }
        };
        self.sink.shape(shape, (start, at), Obfuscations::NONE);
        if count < 4 {
            self.weave(run, &view);
        } else {
            self.read(&view);
        }
    }

    /// Scans decoded bytes that form text, with the lenses that its content suggests.
    fn read(&mut self, view: &View) {
        let count = view.bytes.len();
        let printable = view.bytes.iter().filter(|byte| matches!(byte, b' '..=b'~' | b'\n')).count();
        if count >= 4 && printable.saturating_mul(10) >= count.saturating_mul(9) {
            for lens in crate::text::encoded::guess(&view.bytes) {
                self.sink.embed(lens, EmbeddedText::View(view.clone()));
            }
        }
    }

    fn weave(&mut self, run: Run, view: &View) {
        for (index, byte) in view.bytes.iter().enumerate() {
            let (from, to, _) = view.map.back(index, index + 1);
            let woven = match run {
                Run::ZeroWidth => continue,
                Run::Tags { .. } => &mut self.woven.tags,
                // The first sixteen only choose between text and emoji style, and letters have one style.
                Run::Selectors if *byte < 16 => {
                    if has_one_picture(self.base) {
                        self.woven.lone = self.woven.lone.saturating_add(1);
                        self.woven.first.get_or_insert((from, to));
                    }
                    continue;
                }
                Run::Selectors => {
                    if !super::is_east_asian(self.base) {
                        self.woven.lone = self.woven.lone.saturating_add(1);
                        self.woven.first.get_or_insert((from, to));
                    }
                    &mut self.woven.selectors
                }
            };
            woven.put(&[*byte], (from, to), Obfuscations::DECODE, 0);
        }
    }

    fn end_woven(&mut self) {
        let woven = core::mem::take(&mut self.woven);
        if let Some(first) = woven.first.filter(|_| woven.lone >= 4) {
            self.sink.shape("unicode-variation-run", first, Obfuscations::NONE);
        }
        self.read(&woven.tags);
        self.read(&woven.selectors);
    }
}

/// Returns `true` for letters that no selector changes. Signs made of letters, keycap digits and letters of other scripts
/// have several forms.
fn has_one_picture(char: char) -> bool {
    char.is_alphabetic() && matches!(char.script(), Script::Latin | Script::Greek | Script::Cyrillic)
}

fn is_word(char: char) -> bool {
    char.is_alphanumeric() || matches!(char, '_' | '$')
}

/// Returns `true` for a character alone in quotes. It is an entry of a table and visible there.
const fn is_quoted_alone(before: char, next: char) -> bool {
    matches!((before, next), ('\'', '\'') | ('"', '"') | ('`', '`'))
}

const fn is_braille(char: char) -> bool {
    matches!(char, '\u{2801}'..='\u{28FF}' | '\u{2800}')
}

const fn is_right_to_left(char: char) -> bool {
    matches!(char, '\u{590}'..='\u{8FF}' | '\u{FB1D}'..='\u{FDFF}' | '\u{FE70}'..='\u{FEFC}' | '\u{10800}'..='\u{10FFF}' | '\u{1E800}'..='\u{1EFFF}')
}

const fn is_compat_letter(char: char) -> bool {
    matches!(char,
        '\u{1D400}'..='\u{1D7FF}' | '\u{FF21}'..='\u{FF3A}' | '\u{FF41}'..='\u{FF5A}' | '\u{249C}'..='\u{24E9}'
        | '\u{1F110}'..='\u{1F189}')
}
