//! Lenses: readers that take a text apart into views, names, commands, keys and embedded code.

pub(crate) mod data;
pub(crate) mod js;
pub(crate) mod negation;
pub(crate) mod order;
mod prose;
pub(crate) mod py;
pub(crate) mod quote;
pub(crate) mod rs;
pub(crate) mod sh;

use crate::entry::Lens;
use crate::options::Limits;
use crate::sink::Sink;
use crate::text::TextView;
use crate::view::View;

/// The views that a lens builds. What it finds by name goes to the [`Sink`].
#[derive(Debug, Default)]
pub(crate) struct Lexed {
    /// Code: strings emptied, comments gone, one blank between words.
    pub(crate) code: View,
    /// Prose, comments, strings and values.
    pub(crate) text: TextView,
}

/// Reads a text through a lens.
pub(crate) fn lex(lens: Lens, src: &[u8], sink: &mut Sink<'_>, limits: &Limits, out: &mut Lexed) {
    match lens {
        Lens::Js => js::lex(src, sink, limits, out),
        Lens::Data => data::lex(src, sink, limits, out),
        Lens::Prose => prose::lex(src, sink, limits, out),
        Lens::Py => py::lex(src, sink, limits, out),
        Lens::Sh => sh::lex(src, sink, limits, out),
        Lens::Rs => rs::lex(src, sink, limits, out),
    }
}
