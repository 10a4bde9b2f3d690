//! JavaScript and TypeScript, with the parser of the crate `plugward-readers`.

pub(crate) mod html;
mod xml;

use plugward_readers::js::{self, HtmlComments, JsOptions};
use plugward_readers::{Language, Node, Reading};

use super::{Lexed, source};
use crate::analysis;
use crate::rules::names::Names;
use crate::scan::entry::Lens;
use crate::scan::options::ScanLimits;
use crate::scan::sink::Sink;
use crate::text::view::Obfuscations;

const WRITING: source::Writing =
    source::Writing { lens: Lens::Js, comment_marks: b" \t*/!", decode: js::decode_text };

/// Names of the module that starts child processes.
const STARTERS: [&[u8]; 2] = [b"child_process", b"node:child_process"];

/// Names that code gives to that module.
const STARTER_NAMES: &[&[u8]] =
    &[b"cp", b"childProcess", b"child_process", b"proc", b"shell", b"shelljs", b"sh"];

/// Creates the table of names that rules look for.
pub(crate) fn names() -> Names {
    let mut names = Names::new();
    analysis::intern(&mut names, Language::JavaScript);
    names
}

/// Lexes JavaScript, or TypeScript for its file extensions.
pub(crate) fn lex(src: &[u8], sink: &mut Sink<'_>, limits: &ScanLimits, out: &mut Lexed) {
    let mut options = JsOptions::for_path(sink.path);
    options.depth = options.depth.min(limits.brackets);
    let reading = js::read(src, options);
    source::second_readings(src, &reading, WRITING.lens, sink);
    check(src, &reading, sink);
    analysis::analyze(&reading.program, Language::JavaScript, src, sink);
    source::texts(src, &reading.pieces, &WRITING, out, sink);
    let has_html_comments = reading.has_html_comments;
    out.code = reading.code;
    if has_html_comments {
        // `<!--` starts a comment in a script but not in a module, so the file is read both ways.
        options.html_comments = HtmlComments::Comment;
        let reading = js::read(src, options);
        source::second_readings(src, &reading, WRITING.lens, sink);
        check(src, &reading, sink);
        analysis::analyze(&reading.program, Language::JavaScript, src, sink);
    }
}

/// Reports facts about the text of a file, besides those about its program.
fn check(src: &[u8], reading: &Reading, sink: &mut Sink<'_>) {
    let words = &sink.rules.js.words;
    source::gaps(src, &reading.pieces, sink);
    source::identifiers(src, &reading.code, words, sink);
    source::comment_ends(src, &reading.pieces, b"//", sink);
    unseen_blanks(src, reading, sink);
    starters(reading, sink);
    unknown_starters(reading, sink);
}

/// Reports `cp.exec(…)` for an object that no code of the file defines. The pattern of a regular expression has other
/// names.
fn unknown_starters(reading: &Reading, sink: &mut Sink<'_>) {
    let program = &reading.program;
    let Some(exec) = program.find_text(b"exec") else { return };
    for id in program.ids() {
        if let Node::Call { callee, .. } = program.node(id)
            && let Node::Member { object, name } = program.node(callee)
            && name == exec
            && let Node::Global(object) = program.node(object)
            && STARTER_NAMES.contains(&program.bytes(object))
        {
            sink.shape("js-child-process-value", program.span(id), Obfuscations::NONE);
        }
    }
}

/// Reports a zero-width character next to a word, which JavaScript treats as whitespace.
fn unseen_blanks(src: &[u8], reading: &Reading, sink: &mut Sink<'_>) {
    let is_word =
        |byte: Option<&u8>| byte.is_some_and(|byte| byte.is_ascii_alphanumeric() || b"_$".contains(byte));
    for at in memchr::memmem::find_iter(src, b"\xEF\xBB\xBF").filter(|at| *at > 0) {
        let end = at + 3;
        let next = reading.pieces.partition_point(|piece| piece.end as usize <= at);
        let inside = reading.pieces.get(next).is_some_and(|piece| (piece.start as usize) < end);
        if !inside && is_word(src.get(at.saturating_sub(1))) && is_word(src.get(end)) {
            sink.shape("unicode-zero-width-code", (at, end), Obfuscations::NONE);
        }
    }
}

/// Reports the name of the child-process module as a plain string. Import specifiers are checked as imports.
fn starters(reading: &Reading, sink: &mut Sink<'_>) {
    let program = &reading.program;
    let is_wanted = |text| STARTERS.contains(&program.bytes(text));
    if !STARTERS.iter().any(|name| program.find_text(name).is_some()) {
        return;
    }
    let mut imported = Vec::new();
    for id in program.ids() {
        if let Node::Import(name) = program.node(id) {
            imported.push(name);
        }
    }
    for id in program.ids() {
        if let Node::Text(text) = program.node(id)
            && is_wanted(text)
            && imported.binary_search(&id).is_err()
        {
            sink.shape("js-child-process-value", program.span(id), Obfuscations::NONE);
        }
    }
}
