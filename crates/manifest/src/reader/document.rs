//! A parsed document, and its position in a file.
#![expect(clippy::arithmetic_side_effects, reason = "offsets into a slice in memory cannot overflow")]

use plugward_types::Span;

use crate::error::ManifestPlace;
use crate::json::{JsonNode, Position, pointer_to};
use crate::surface::ManifestLayer;

/// A JSON file, or the entry of a marketplace file.
pub(crate) struct Document<'d> {
    pub(crate) file: &'d str,
    pub(crate) bytes: &'d [u8],
    pub(crate) root: JsonNode<'d>,
    pub(crate) layer: ManifestLayer,
    /// The position of the first byte in the file.
    pub(crate) base: Base<'d>,
    /// The results before this document; later ones are its own.
    pub(super) before: ResultCounts,
    /// `true` if the bytes can contain invisible characters.
    pub(crate) may_hide: bool,
}

/// The position in its file at which a document begins.
#[derive(Clone, Copy)]
pub(crate) struct Base<'d> {
    pub(crate) offset: usize,
    pub(crate) position: Position,
    pub(crate) pointer: &'d str,
}

impl Base<'_> {
    pub(crate) const START: Self = Self { offset: 0, position: Position { line: 1, column: 1 }, pointer: "" };
}

impl Document<'_> {
    /// Returns the place of a value. Its line and column are added when the document is closed.
    pub(crate) fn place(&self, span: Span) -> ManifestPlace {
        let pointer = format!("{}{}", self.base.pointer, pointer_to(&self.root, span.start));
        let offset = self.base.offset;
        let span = Span::new(span.start + offset, span.end + offset);
        ManifestPlace { file: self.file.to_owned(), pointer, span, position: None }
    }
}

/// The numbers of results at one moment.
#[derive(Clone, Copy)]
pub(super) struct ResultCounts {
    pub(super) errors: usize,
    pub(super) warnings: usize,
    pub(super) items: usize,
}

/// Returns `true` if bytes can contain invisible characters. In ASCII, only escapes can.
pub(super) fn may_hide(bytes: &[u8]) -> bool {
    let escapes = |rest: &[u8]| matches!(rest.first(), Some(b'u' | b'U' | b'x' | b'b' | b'f' | b'e'));
    !bytes.is_ascii()
        || bytes.contains(&0x7F)
        || (bytes.contains(&b'\\') && bytes.split(|byte| *byte == b'\\').skip(1).any(escapes))
}

/// Returns `true` if a place belongs to a document and does not have a line and column yet.
pub(super) fn is_open(place: &ManifestPlace, doc: &Document<'_>) -> bool {
    // Places without a position are resolved when their document is closed.
    place.position.is_none() && place.file == doc.file && place.span.start >= doc.base.offset
}

/// Adds the position at which a document starts; only the first line is shifted to the right.
pub(super) fn shifted(position: Position, base: Position) -> Position {
    let column = if position.line == 1 {
        position.column.saturating_add(base.column).saturating_sub(1)
    } else {
        position.column
    };
    Position { line: position.line.saturating_add(base.line).saturating_sub(1), column }
}
