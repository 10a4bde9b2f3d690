//! `.pth` files: each line is a directory, or an import that runs whenever Python starts.

use plugward_types::Part;

use crate::lex::Lexed;
use crate::scan::entry::Lens;
use crate::scan::sink::{EmbeddedText, Sink};
use crate::text::Within;
use crate::text::view::Obfuscations;

pub(super) fn lex(src: &[u8], sink: &mut Sink<'_>, out: &mut Lexed) {
    let mut at = 0_usize;
    for line in src.split_inclusive(|byte| matches!(byte, b'\n' | b'\r')) {
        let end = at + line.len();
        let start = if at == 0 && line.starts_with(b"\xEF\xBB\xBF") { 3 } else { at };
        let text = src.part(start..end);
        if text.starts_with(b"import ") || text.starts_with(b"import\t") {
            let end = start + text.trim_ascii_end().len();
            sink.shape("py-setup-code", (start, end), Obfuscations::NONE);
            sink.embed(Lens::Py, EmbeddedText::Range(start, end));
        } else {
            out.text.begin(Within::Prose, 0);
            out.text.raw(text, start, Obfuscations::NONE);
            out.text.end();
        }
        at = end;
    }
}
