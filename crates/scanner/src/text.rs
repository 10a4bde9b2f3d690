//! The text view: prose, comments, strings and values in one normal form, lower-cased, runs of blanks made one.
//!
//! Pieces are parted by a line feed, which no piece holds.

use crate::view::{How, View};

/// What kind of text a piece is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Within {
    Prose,
    Comment,
    String,
    Value,
}

impl Within {
    pub(crate) const ALL: [Self; 4] = [Self::Prose, Self::Comment, Self::String, Self::Value];

    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::Prose => "prose",
            Self::Comment => "comment",
            Self::String => "string",
            Self::Value => "value",
        }
    }

    pub(crate) const fn bit(self) -> u8 {
        match self {
            Self::Prose => 1,
            Self::Comment => 2,
            Self::String => 4,
            Self::Value => 8,
        }
    }
}

/// Set in a tag where the page lets a `doc` file's quotation count one step less.
pub(crate) const QUOTED: u8 = 128;

/// Builds the text view piece by piece.
#[derive(Debug, Default)]
pub(crate) struct TextView {
    view: View,
    tag: u8,
    open: bool,
    /// A blank that is written when a word follows.
    blank: Option<(usize, usize)>,
}

impl TextView {
    /// Starts a piece.
    pub(crate) fn begin(&mut self, within: Within, flags: u8) {
        self.end();
        self.tag = within.bit() | flags;
    }

    /// Ends the piece.
    pub(crate) fn end(&mut self) {
        self.blank = None;
        if self.open {
            let at = self.view.map.back(self.view.bytes.len().saturating_sub(1), self.view.bytes.len()).1;
            self.view.put(b"\n", (at, at), How::NONE, self.tag);
            self.open = false;
        }
    }

    /// Adds a blank that stands for a range: a line break with what decorates the next line, say.
    pub(crate) fn blank(&mut self, from: (usize, usize)) {
        if self.open && self.blank.is_none() {
            self.blank = Some(from);
        }
    }

    /// Adds raw bytes. `from` is where they begin.
    pub(crate) fn raw(&mut self, bytes: &[u8], from: usize, how: How) {
        if is_simple(bytes) {
            self.word(bytes, from, how);
            return;
        }
        let mut rest = bytes;
        let mut at = from;
        while !rest.is_empty() {
            let blanks = rest.iter().take_while(|byte| is_blank(**byte)).count();
            if blanks > 0 {
                self.blank((at, at.saturating_add(blanks)));
            }
            let (_, tail) = rest.split_at(blanks);
            at = at.saturating_add(blanks);
            let plain = tail.iter().take_while(|byte| !is_blank(**byte) && byte.is_ascii()).count();
            let (word, tail) = tail.split_at(plain);
            if !word.is_empty() {
                self.word(word, at, how);
            }
            at = at.saturating_add(plain);
            let wide = tail.iter().take_while(|byte| !byte.is_ascii()).count();
            let (word, tail) = tail.split_at(wide);
            if !word.is_empty() {
                self.wide(word, at, how);
            }
            at = at.saturating_add(wide);
            rest = tail;
        }
    }

    fn flush_blank(&mut self) {
        if let Some(from) = self.blank.take() {
            self.view.put(b" ", from, How::NONE, self.tag);
        }
        self.open = true;
    }

    fn word(&mut self, word: &[u8], at: usize, how: How) {
        self.flush_blank();
        let start = self.view.bytes.len();
        self.view.copy(word, at, how, self.tag);
        if let Some(added) = self.view.bytes.get_mut(start..) {
            added.make_ascii_lowercase();
        }
    }

    fn wide(&mut self, word: &[u8], at: usize, how: How) {
        self.flush_blank();
        crate::unicode::normal_form(word, at, how, self.tag, &mut self.view);
    }

    /// Adds decoded text that stands for a range.
    pub(crate) fn decoded(&mut self, text: &[u8], from: (usize, usize), how: How) {
        for part in text.chunk_by(|a, b| is_blank(*a) == is_blank(*b)) {
            if part.first().is_some_and(|byte| is_blank(*byte)) {
                self.blank(from);
                continue;
            }
            self.flush_blank();
            if part.is_ascii() {
                self.view.put(&part.to_ascii_lowercase(), from, how, self.tag);
            } else {
                crate::unicode::normal_text(part, from, how, self.tag, &mut self.view);
            }
        }
    }

    /// Ends the last piece and gives the view.
    pub(crate) fn finish(mut self) -> View {
        self.end();
        self.view
    }
}

/// Says whether a text is its own normal form but for case: printable ASCII with single blanks inside.
fn is_simple(bytes: &[u8]) -> bool {
    let ends = bytes.first().is_some_and(|byte| *byte != b' ') && bytes.last() != Some(&b' ');
    ends && bytes.iter().fold(true, |all, byte| all & matches!(byte, b' '..=b'~'))
        && memchr::memmem::find(bytes, b"  ").is_none()
}

const fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b'\r' | 0x0B | 0x0C)
}
