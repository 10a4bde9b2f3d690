//! The result of reading one file.

use crate::program::Program;
use crate::view::View;

/// The kind of a piece of text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "rules for text choose among these")]
pub enum PieceKind {
    /// A comment.
    Comment,
    /// A string, its quotes included.
    String,
    /// Text between the tags of JSX.
    Markup,
}

/// A piece of text in a file, such as a comment or string.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Piece {
    /// The kind of the text.
    pub kind: PieceKind,
    /// The byte offset of its start.
    pub start: u32,
    /// The byte offset of its end.
    pub end: u32,
    /// Whether the text contains escapes.
    pub is_escaped: bool,
}

impl Piece {
    /// Returns a piece without escapes between two offsets, for a reader outside of this crate.
    #[must_use]
    pub const fn new(kind: PieceKind, start: u32, end: u32) -> Self {
        Self { kind, start, end, is_escaped: false }
    }
}

/// The result of reading one file.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct Reading {
    /// The expressions of the file, with resolved names.
    pub program: Program,
    /// The code without comments, with empty strings (`''`), and with one space between words and none
    /// elsewhere.
    pub code: View,
    /// Comments and strings in the order of the file.
    pub pieces: Vec<Piece>,
    /// Ranges that may be code or text, because a quote or bracket is not closed. The caller reads them as
    /// code as well.
    pub unsure: Vec<(u32, u32)>,
    /// Whether the file contains `<!--` or `-->` in its code.
    ///
    /// Both start a comment in a script but not in a module, so the caller reads such a file both ways.
    pub has_html_comments: bool,
    /// The offset at which the nesting limit was exceeded, if it was. The rest of the file is not in the
    /// program.
    pub stopped: Option<usize>,
}
