//! Python, with the parser of the crate `plugward-readers`.

mod encoding;
pub(crate) mod notebook;
mod pth;

use plugward_readers::py::{self, PyOptions};
use plugward_readers::{Language, Piece, PieceKind};
use plugward_types::Part;

use super::{Lexed, source as common};
use crate::analysis;
use crate::rules::names::Names;
use crate::scan::entry::Lens;
use crate::scan::options::ScanLimits;
use crate::scan::sink::Sink;
use crate::text::view::{Obfuscations, View};

const WRITING: common::Writing =
    common::Writing { lens: Lens::Py, comment_marks: b"#!: \t", decode: py::decode_text };

/// Creates the table of names that rules look for.
pub(crate) fn names() -> Names {
    let mut names = Names::new();
    analysis::intern(&mut names, Language::Python);
    names
}

/// Lexes Python.
pub(crate) fn lex(src: &[u8], sink: &mut Sink<'_>, limits: &ScanLimits, out: &mut Lexed) {
    if sink.depth == 0 {
        let (name, extension) = crate::inventory::names::parts(sink.path);
        if extension == "ipynb" {
            return notebook::lex(src, sink, out);
        }
        if extension == "pth" {
            return pth::lex(src, sink, out);
        }
        encoding::check(src, sink);
        if matches!(name.as_str(), "sitecustomize.py" | "usercustomize.py") {
            sink.shape("py-setup-code", (0, src.len().min(16)), Obfuscations::NONE);
        }
    }
    let mut options = PyOptions::default();
    options.nesting = options.nesting.min(limits.brackets);
    let reading = py::read(src, options);
    common::second_readings(src, &reading, WRITING.lens, sink);
    common::identifiers(src, &reading.code, &sink.rules.py.words, sink);
    common::comment_ends(src, &reading.pieces, b"#", sink);
    joined_runs(src, &reading.pieces, sink);
    analysis::analyze(&reading.program, Language::Python, src, sink);
    common::texts(src, &reading.pieces, &WRITING, out, sink);
    out.code = reading.code;
}

/// Joins adjacent strings, over which an encoded payload may be spread.
fn joined_runs(src: &[u8], pieces: &[Piece], sink: &mut Sink<'_>) {
    let mut view = View::default();
    let mut count = 0_usize;
    let mut last = 0_usize;
    for piece in pieces {
        let (start, end) = (piece.start as usize, piece.end as usize);
        // A string inside of a formatted one starts before the end of the piece before it.
        let gap = src.get(last..start);
        let joins = piece.kind == PieceKind::String
            && gap.is_some_and(|gap| gap.iter().all(|byte| byte.is_ascii_whitespace() || *byte == b'\\'));
        if !joins {
            if count > 1 {
                crate::text::passes::joined_encoded(&view, sink);
            }
            (view, count) = (View::default(), 0);
        }
        if piece.kind == PieceKind::String {
            let text = src.part(start..end);
            let (open, close) = common::marks(text);
            let body = text.part(open..text.len().saturating_sub(close));
            view.copy(body, start + open, Obfuscations::NONE, 0);
            count += 1;
        }
        last = end;
    }
    if count > 1 {
        crate::text::passes::joined_encoded(&view, sink);
    }
}
