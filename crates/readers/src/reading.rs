//! What a reader returns for one file.

use crate::program::Program;
use crate::view::View;

/// What kind of text a piece of a file is.
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

/// A piece of text in a file: a comment, a string.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Piece {
    /// What it is.
    pub kind: PieceKind,
    /// Where it starts, as a byte offset.
    pub start: u32,
    /// Where it ends.
    pub end: u32,
    /// Whether it holds escapes.
    pub is_escaped: bool,
}

/// Everything that a reader finds in one file.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct Reading {
    /// The expressions.
    pub program: Program,
    /// The code: strings emptied (`''`), comments removed, one blank between words and none elsewhere.
    pub code: View,
    /// Comments and strings, in the order of the file.
    pub pieces: Vec<Piece>,
    /// Ranges that may be code or text: something that opens a text is not closed. They are to be read as code as well.
    pub unsure: Vec<(u32, u32)>,
    /// Whether `<!--` or `-->` is somewhere in the code, which starts a comment in a script and not in a module. Such a file is to
    /// be read both ways.
    pub has_html_comments: bool,
    /// Where the reader stopped at a limit of nesting, if it did. The rest of the file is in no expression.
    pub stopped: Option<usize>,
}
