//! Jupyter notebooks: the code of their cells.

use plugward_types::{Part, hex};

use crate::lex::Lexed;
use crate::scan::entry::Lens;
use crate::scan::sink::{EmbeddedText, Sink};
use crate::text::Within;
use crate::text::view::{Obfuscations, View};

/// A string of the notebook, as a range without quotes.
#[derive(Debug, Clone, Copy)]
struct Text {
    start: usize,
    end: usize,
}

/// Lexes a notebook.
///
/// This is not a JSON parser: it only finds strings, and which of them are the source of a cell, so that a
/// broken notebook is read too.
pub(crate) fn lex(src: &[u8], sink: &mut Sink<'_>, out: &mut Lexed) {
    let mut at = 0_usize;
    let mut cell: Vec<Text> = Vec::new();
    let mut kind: &[u8] = b"";
    let mut key: &[u8] = b"";
    let mut in_source = false;
    let mut depth = 0_usize;
    let mut source_depth = 0_usize;
    while let Some(&byte) = src.get(at) {
        match byte {
            b'"' => {
                let text = string(src, at + 1);
                at = text.end + 1;
                let body = src.part(text.start..text.end);
                let gap = src.rest(at).iter().take_while(|byte| byte.is_ascii_whitespace()).count();
                if src.get(at + gap) == Some(&b':') && !in_source {
                    key = body;
                    at += gap + 1;
                    if key == b"cell_type" && !cell.is_empty() && !kind.is_empty() {
                        flush(src, kind, &mut cell, sink, out);
                        kind = b"";
                    }
                } else if in_source || key == b"source" || key == b"input" {
                    cell.push(text);
                } else if key == b"cell_type" {
                    kind = body;
                } else {
                    out.text.begin(Within::Value, 0);
                    out.text.raw(body, text.start, Obfuscations::NONE);
                    out.text.end();
                }
                continue;
            }
            b'[' => {
                depth += 1;
                if key == b"source" || key == b"input" {
                    (in_source, source_depth) = (true, depth);
                }
            }
            b']' => {
                if in_source && depth == source_depth {
                    in_source = false;
                    key = b"";
                }
                depth = depth.saturating_sub(1);
            }
            b'}' if !in_source && !cell.is_empty() && !kind.is_empty() => {
                flush(src, kind, &mut cell, sink, out);
                kind = b"";
            }
            b'{' if !in_source
                && !cell.is_empty()
                && key != b"metadata"
                && key != b"outputs"
                && !kind.is_empty() =>
            {
                flush(src, kind, &mut cell, sink, out);
                kind = b"";
            }
            _ => {}
        }
        at += 1;
    }
    if !cell.is_empty() {
        flush(src, if kind.is_empty() { b"code" } else { kind }, &mut cell, sink, out);
    }
}

fn string(src: &[u8], start: usize) -> Text {
    let mut at = start;
    while let Some(rest) = src.get(at..).filter(|rest| !rest.is_empty()) {
        let Some(len) = memchr::memchr2(b'"', b'\\', rest) else { break };
        at += len;
        if src.get(at) == Some(&b'"') {
            return Text { start, end: at };
        }
        at += 2;
    }
    Text { start, end: src.len() }
}

/// Passes a cell on: code as Python, lines after `!` and shell cells as commands, everything else as prose.
fn flush(src: &[u8], kind: &[u8], cell: &mut Vec<Text>, sink: &mut Sink<'_>, out: &mut Lexed) {
    let mut whole = View::default();
    for text in cell.drain(..) {
        decode(src, text, &mut whole);
    }
    if kind != b"code" {
        let (start, end, _) = whole.map.back(0, whole.bytes.len());
        out.text.begin(Within::Prose, 0);
        out.text.decoded(&whole.bytes, (start, end), Obfuscations::NONE);
        out.text.end();
        return;
    }
    let magic = whole.bytes.split(|byte| *byte == b'\n').next().unwrap_or(&whole.bytes).to_vec();
    let magic = magic.strip_prefix(b"%%").map(<[u8]>::to_vec);
    let first =
        magic.as_deref().unwrap_or_default().split(u8::is_ascii_whitespace).next().unwrap_or_default();
    let scripted =
        |name: &[u8]| magic.as_deref().is_some_and(|line| memchr::memmem::find(line, name).is_some());
    let lens = match first {
        b"bash" | b"sh" | b"zsh" | b"system" | b"sx" | b"!" => Lens::Sh,
        b"script" if !scripted(b"python") && !scripted(b"node") => Lens::Sh,
        b"javascript" | b"js" => Lens::Js,
        b"script" if scripted(b"node") => Lens::Js,
        b"markdown" | b"html" | b"latex" => Lens::Prose,
        _ => Lens::Py,
    };
    let skip = if magic.is_some() {
        memchr::memchr(b'\n', &whole.bytes).map_or(whole.bytes.len(), |at| at + 1)
    } else {
        0
    };
    let mut python = View::default();
    let mut at = skip;
    for line in whole.bytes.part(skip..).split_inclusive(|byte| *byte == b'\n') {
        let next = at + line.len();
        let text = line.trim_ascii_start();
        let command = [&b"!!"[..], b"!", b"%sx ", b"%system ", b"%%bash", b"%pip ", b"%conda "]
            .into_iter()
            .find_map(|mark| text.strip_prefix(mark).map(|rest| (mark, rest)));
        match command {
            Some((mark, rest)) if lens == Lens::Py => {
                let from = next.saturating_sub(rest.len());
                let mut view = View::default();
                if mark == b"%pip " || mark == b"%conda " {
                    let name = mark.part(1..);
                    let (start, end, how) = whole.map.back(at, from);
                    view.put(name, (start, end), how, 0);
                }
                copy(&whole, from, next, &mut view);
                sink.embed(Lens::Sh, EmbeddedText::View(view));
            }
            _ => copy(&whole, at, next, &mut python),
        }
        at = next;
    }
    sink.embed(lens, EmbeddedText::View(python));
}

/// Copies a range of a view, segment by segment.
fn copy(from: &View, start: usize, end: usize, to: &mut View) {
    for at in start..end {
        let (low, high, how) = from.map.back(at, at + 1);
        to.put(from.bytes.part(at..at + 1), (low, high), how, 0);
    }
}

/// Decodes a JSON string. Escaping printable ASCII without need counts as obfuscation.
fn decode(src: &[u8], text: Text, view: &mut View) {
    let mut at = text.start;
    while at < text.end {
        let rest = src.part(at..text.end);
        let len = memchr::memchr(b'\\', rest).unwrap_or(rest.len());
        view.copy(rest.part(..len), at, Obfuscations::NONE, 0);
        at += len;
        let Some(rest) = src.get(at..text.end).filter(|rest| !rest.is_empty()) else { break };
        let (value, len) = match rest.get(1) {
            Some(b'n') => (10, 2),
            Some(b't') => (9, 2),
            Some(b'r') => (13, 2),
            Some(b'b') => (8, 2),
            Some(b'f') => (12, 2),
            Some(b'u') => (rest.get(2..6).and_then(hex::number).unwrap_or(0xFFFD), 6),
            Some(byte) => (u32::from(*byte), 2),
            None => (92, 1),
        };
        let spelled = len == 6 && (0x20..0x7F).contains(&value);
        let how = if spelled { Obfuscations::ESCAPE } else { Obfuscations::NONE };
        let char = char::from_u32(value).unwrap_or('\u{FFFD}');
        let end = (at + len).min(text.end);
        view.put(char.encode_utf8(&mut [0; 4]).as_bytes(), (at, end), how, 0);
        at = end;
    }
}
