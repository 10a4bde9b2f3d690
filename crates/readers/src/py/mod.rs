//! Python: a scanner for tokens, and a parser that builds a [`Program`](crate::Program).
//!
//! Neither fails. Python 2 and invalid text become the expressions that they contain, so that a call in
//! broken code is still a call.
#![expect(clippy::arithmetic_side_effects, reason = "offsets into a text in memory cannot overflow")]

mod bind;
mod block;
mod bracket;
mod clause;
mod code;
mod frame;
mod function;
mod import;
mod literal;
mod operand;
mod operator;
mod parser;
mod reduce;
mod scan;
mod soft;
mod statement;
mod text;
mod token;

pub use text::decode_text;

use crate::reading::Reading;

/// The limits for reading Python.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct PyOptions {
    /// The most brackets, operators and blocks that may be open at once. Python itself allows 200 brackets.
    pub nesting: usize,
}

impl Default for PyOptions {
    fn default() -> Self {
        Self { nesting: 4096 }
    }
}

/// Reads a Python file.
///
/// # Examples
///
/// ```
/// let reading = plugward_readers::py::read(b"eval('1' + '2')", Default::default());
/// assert_eq!(reading.program.len(), 5);
/// assert_eq!(reading.code.bytes, b"eval(''+'')\n");
/// ```
#[must_use]
pub fn read(source: &[u8], options: PyOptions) -> Reading {
    let mut scan = scan::Scanner::new(source, options.nesting).run();
    let code = code::code(source, &scan.tokens);
    let pieces = core::mem::take(&mut scan.pieces);
    let unsure = core::mem::take(&mut scan.unsure);
    let (program, stopped) = parser::parse(source, &scan, options.nesting);
    Reading { program, code, pieces, unsure, has_html_comments: false, stopped }
}
