//! Python.
use super::Lexed;
use crate::names::Names;
use crate::options::Limits;
use crate::sink::Sink;
/// Starts the table of names.
pub(crate) fn names() -> Names {
    Names::new()
}
/// Reads a text as Python.
pub(crate) fn lex(src: &[u8], _sink: &mut Sink<'_>, _limits: &Limits, out: &mut Lexed) {
    out.text.begin(crate::text::Within::Prose, 0);
    out.text.raw(src, 0, crate::view::How::NONE);
}
