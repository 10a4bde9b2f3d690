//! The text view: prose, comments, strings and values in one normal form, in lower case and with single blanks.
//!
//! A line feed separates pieces; pieces contain none.
#![expect(clippy::arithmetic_side_effects, reason = "offsets into a text in memory cannot overflow")]

pub(crate) mod commands;
pub(crate) mod decode;
pub(crate) mod encoded;
pub(crate) mod near;
pub(crate) mod passes;
pub(crate) mod quotation;
pub(crate) mod unicode;
pub(crate) mod view;

mod plain;
pub(crate) mod tags;

use plugward_types::Part;

use self::unicode::{Normal, entity, spaced};
use crate::text::view::{Obfuscations, View};
use plain::Marks;

/// The kind of text of a piece.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Within {
    Prose,
    Comment,
    String,
    Value,
    /// Text that the rendered file does not show. It is prose or a comment as well.
    Hidden,
}

impl Within {
    pub(crate) const ALL: [Self; 5] = [Self::Prose, Self::Comment, Self::String, Self::Value, Self::Hidden];

    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::Prose => "prose",
            Self::Comment => "comment",
            Self::String => "string",
            Self::Value => "value",
            Self::Hidden => "hidden",
        }
    }

    pub(crate) const fn bit(self) -> u8 {
        match self {
            Self::Prose => 1,
            Self::Comment => 2,
            Self::String => 4,
            Self::Value => 8,
            Self::Hidden => 16,
        }
    }
}

/// Flag in a tag: `prompt/*` findings in this quotation of a `doc` file count one tier lower.
pub(crate) const QUOTED: u8 = 128;
/// Flag in a tag: all findings in this fence of a `doc` file count one tier lower.
pub(crate) const FENCED: u8 = 64;

/// How much text around spaced letters is read again with the letters joined. No match is longer.
const AROUND: usize = crate::engine::MAX_MATCH;
/// The view is drained at this size, which bounds memory.
const MUCH: usize = 256 << 10;

/// Builds the text view piece by piece.
#[derive(Debug, Default)]
pub(crate) struct TextView {
    view: View,
    tag: u8,
    open: bool,
    /// A pending blank, written when a word follows.
    blank: Option<(usize, usize)>,
    /// The start of the piece.
    piece: usize,
    /// Whether a mark of emphasis or a tag was dropped right before the next byte.
    marked: bool,
    /// No tag before this offset is inside a word.
    apart: usize,
    /// Whether the last character is of a script without blanks.
    dense: bool,
    scratch: String,
    /// The ranges of text that is not shown, in offsets of the view.
    hidden: Vec<(usize, usize)>,
}

/// The text view, and the ranges of it that are not shown.
#[derive(Debug)]
pub(crate) struct TextRead {
    pub(crate) view: View,
    pub(crate) hidden: Vec<(usize, usize)>,
}

impl TextView {
    /// Starts a piece.
    pub(crate) fn begin(&mut self, within: Within, flags: u8) {
        self.end();
        self.flags(within, flags);
    }

    /// Changes the flags for the rest of the piece.
    pub(crate) fn flags(&mut self, within: Within, flags: u8) {
        let tag = within.bit() | flags;
        let unseen = Within::Hidden.bit();
        let at = self.view.bytes.len();
        if self.tag & unseen != 0
            && let Some(last) = self.hidden.last_mut()
        {
            last.1 = at;
        }
        if tag & unseen != 0 {
            match self.hidden.last_mut() {
                Some(last) if last.1 == at => {}
                _ => self.hidden.push((at, at)),
            }
        }
        self.tag = tag;
    }

    /// Ends the piece.
    pub(crate) fn end(&mut self) {
        self.blank = None;
        (self.marked, self.dense) = (false, false);
        if self.open {
            self.line_feed();
            self.open = false;
            self.join_letters();
        }
        self.piece = self.view.bytes.len();
    }

    fn line_feed(&mut self) {
        self.view.line_feed(self.tag);
    }

    /// Adds a blank for a range, such as a line break with the decoration of the next line.
    pub(crate) fn blank(&mut self, from: (usize, usize)) {
        if !self.open {
            return;
        }
        match &mut self.blank {
            None => self.blank = Some(from),
            Some(known) if known.1 == from.0 => known.1 = from.1,
            Some(_) => {}
        }
    }

    /// Records that a mark or a tag was dropped here. Inside a word it is an obfuscation.
    pub(crate) fn mark(&mut self) {
        self.marked |= self.is_in_word();
    }

    /// Returns `true` if the last byte belongs to a word that the next byte could continue.
    fn is_in_word(&self) -> bool {
        let last = self.view.bytes.last();
        self.open && self.blank.is_none() && last.is_some_and(|byte| is_wordy(*byte))
    }

    /// Adds raw bytes that begin at `from`.
    pub(crate) fn raw(&mut self, bytes: &[u8], from: usize, how: Obfuscations) {
        self.raw_by(bytes, from, how, plain::stretch);
    }

    /// Does the same, with a function that returns how far a text with a plain first byte can be copied unchanged.
    fn raw_by(
        &mut self,
        bytes: &[u8],
        from: usize,
        how: Obfuscations,
        stretch: impl Fn(&[u8], Marks) -> usize,
    ) {
        let mut rest = bytes;
        let mut at = from;
        self.apart = 0;
        while let Some(&first) = rest.first() {
            let count = |is: fn(u8) -> bool| rest.iter().take_while(|byte| is(**byte)).count();
            let used = if is_blank(first) {
                let used = count(is_blank);
                self.blank((at, at + used));
                used
            } else if is_mark(first) {
                self.special(rest, at, how)
            } else if first.is_ascii() {
                // An underscore is markup only in prose.
                let prose = self.tag & Within::Prose.bit() != 0;
                // A dropped mark obfuscates the following word only.
                let used = if self.marked || self.view.is_marked() {
                    count(if prose { is_plain } else { is_plain_or_underscore })
                } else {
                    stretch(rest, if prose { Marks::Everywhere } else { Marks::InWords })
                };
                self.word(rest.part(..used), at, how);
                used
            } else {
                let used = count(|byte| !byte.is_ascii());
                self.wide(rest.part(..used), Place::At(at), how);
                used
            };
            at += used.max(1);
            rest = rest.part(used.max(1)..);
        }
    }

    /// Handles a byte that may be markup or begin a character reference. Returns how many bytes it used.
    fn special(&mut self, rest: &[u8], at: usize, how: Obfuscations) -> usize {
        let first = rest.first().copied().unwrap_or_default();
        let prose = self.tag & Within::Prose.bit() != 0;
        if first == b'&' {
            if let Some((char, len)) = entity::read(rest) {
                self.reference(char, (at, at + len), how);
                return len;
            }
        } else if first == b'<' {
            // Tags that no word follows are scanned once.
            if self.is_in_word() && at >= self.apart {
                match tags::inside(rest) {
                    Ok(len) => {
                        self.marked = true;
                        return len;
                    }
                    Err(len) => self.apart = at + len,
                }
            }
            if prose && let Some((len, parts)) = tags::head(rest) {
                if parts == tags::TagEffect::SplitsWords {
                    self.blank((at, at + len));
                }
                return len;
            }
        } else {
            let run = rest.iter().take_while(|byte| **byte == first).count();
            let goes_on = rest.get(run).is_some_and(|byte| is_wordy(*byte));
            let inside = self.is_in_word() && goes_on;
            let emphasis = match first {
                b'_' => prose && !inside,
                b'~' => run == 2 && (prose || inside),
                _ => prose || (inside && run <= 3),
            };
            if emphasis {
                self.marked |= inside;
                return run;
            }
            self.word(rest.part(..run), at, how);
            return run;
        }
        self.word(rest.part(..1), at, how);
        1
    }

    /// Adds the character of a reference.
    fn reference(&mut self, char: char, from: (usize, usize), how: Obfuscations) {
        let mut bytes = [0; 4];
        let text = char.encode_utf8(&mut bytes);
        if !char.is_ascii() {
            self.wide(text.as_bytes(), Place::For(from), how);
        } else if is_blank(text.as_bytes().first().copied().unwrap_or_default()) {
            self.blank(from);
        } else {
            let how = if char.is_ascii_alphanumeric() { how.and(Obfuscations::UNICODE) } else { how };
            let how = self.before_word(char, how);
            self.view.put(char.to_ascii_lowercase().encode_utf8(&mut [0; 4]).as_bytes(), from, how, self.tag);
        }
    }

    /// Writes the pending blank and returns the obfuscation of the next character.
    fn before_word(&mut self, next: char, how: Obfuscations) -> Obfuscations {
        let dense = unicode::is_east_asian(next);
        let marked = core::mem::take(&mut self.marked)
            && self.blank.is_none()
            && (next.is_ascii_alphanumeric() || !next.is_ascii());
        if let Some(from) = self.blank.take()
            && !(dense && self.dense)
        {
            self.view.put(b" ", from, Obfuscations::NONE, self.tag);
        }
        self.open = true;
        self.dense = dense;
        if marked { how.and(Obfuscations::MARKUP) } else { how }
    }

    fn word(&mut self, word: &[u8], at: usize, how: Obfuscations) {
        let Some(&first) = word.first() else { return };
        let how = self.before_word(char::from(first), how);
        let start = self.view.bytes.len();
        self.view.copy(word, at, how, self.tag);
        if let Some(added) = self.view.bytes.get_mut(start..) {
            added.make_ascii_lowercase();
        }
    }

    /// Adds a run of bytes that are not ASCII.
    fn wide(&mut self, bytes: &[u8], place: Place, how: Obfuscations) {
        let mut at = 0_usize;
        for chunk in bytes.utf8_chunks() {
            let side = unicode::neighbor_script(chunk.valid());
            for char in chunk.valid().chars() {
                let end = at + char.len_utf8();
                self.wide_char(char, side, place.range(at, end), how);
                at = end;
            }
            let invalid = chunk.invalid();
            if !invalid.is_empty() {
                let end = at + invalid.len();
                let how = self.before_word('\u{FFFD}', how);
                self.view.put(invalid, place.range(at, end), how, self.tag);
                at = end;
            }
        }
    }

    fn wide_char(
        &mut self,
        char: char,
        side: unicode::NeighborScript,
        from: (usize, usize),
        how: Obfuscations,
    ) {
        let mut text = core::mem::take(&mut self.scratch);
        text.clear();
        match unicode::normal(char, side, &mut text) {
            // The character leaves no byte; the next byte carries the obfuscation.
            Normal::Gone(undone) => {
                if !undone.is_plain() {
                    self.view.skip(how.and(undone));
                }
            }
            Normal::Blank => self.blank(from),
            Normal::Text(undone) => {
                if let Some(first) = text.chars().next() {
                    let how = self.before_word(first, how.and(undone));
                    self.view.put(text.as_bytes(), from, how, self.tag);
                }
            }
        }
        self.scratch = text;
    }

    /// Adds decoded text for a range.
    pub(crate) fn decoded(&mut self, text: &[u8], from: (usize, usize), how: Obfuscations) {
        for part in text.chunk_by(|a, b| is_blank(*a) == is_blank(*b)) {
            let Some(&first) = part.first() else { continue };
            if is_blank(first) {
                self.blank(from);
            } else if part.is_ascii() {
                let how = self.before_word(char::from(first), how);
                self.view.put(&part.to_ascii_lowercase(), from, how, self.tag);
            } else {
                self.wide_decoded(part, from, how);
            }
        }
    }

    fn wide_decoded(&mut self, text: &[u8], from: (usize, usize), how: Obfuscations) {
        for part in text.chunk_by(|a, b| a.is_ascii() == b.is_ascii()) {
            let Some(&first) = part.first() else { continue };
            if first.is_ascii() {
                let how = self.before_word(char::from(first), how);
                self.view.put(&part.to_ascii_lowercase(), from, how, self.tag);
            } else {
                self.wide(part, Place::For(from), how);
            }
        }
    }

    /// Adds the surroundings of spaced letters again, with the letters joined.
    fn join_letters(&mut self) {
        let text = self.view.bytes.part(self.piece..);
        let text = text.strip_suffix(b"\n").unwrap_or(text);
        if !spaced::may_hold(text) {
            return;
        }
        let base = self.piece;
        let place = |at: usize| self.view.map.back(base + at, base + at + 1);
        let runs = spaced::find(text, |at| {
            let (start, end, _) = place(at);
            end.saturating_sub(start)
        });
        let text = text.to_vec();
        let (mut done, mut open) = (0_usize, false);
        for (index, run) in runs.iter().enumerate() {
            let from = if open { done } else { run.start.saturating_sub(AROUND).max(done) };
            self.copy_again(&text, from, run.start);
            self.joined(base, run);
            let end = (run.end + AROUND).min(text.len());
            let next = runs.get(index + 1).map(|next| next.start.saturating_sub(AROUND));
            open = next.is_some_and(|next| next <= end);
            done = run.end;
            if !open {
                self.copy_again(&text, run.end, end);
                self.line_feed();
                done = end;
            }
        }
    }

    /// Copies a part of the piece word by word, so that each word has its own position.
    fn copy_again(&mut self, text: &[u8], start: usize, end: usize) {
        let mut at = start;
        for word in text.part(start..end).split_inclusive(|byte| *byte == b' ') {
            let next = at + word.len();
            let below = (self.piece + at, self.piece + next);
            let (from, to, how) = self.view.map.back(below.0, below.1);
            let tag = self.view.map.tag(below.0);
            self.view.put(word, (from, to), how, tag);
            at = next;
        }
    }

    fn joined(&mut self, base: usize, run: &spaced::Spaced) {
        for (index, (at, letter)) in run.letters.iter().enumerate() {
            let at = base + *at;
            let (from, to, how) = self.view.map.back(at, at + 1);
            let tag = self.view.map.tag(at);
            self.view.put(&[*letter], (from, to), how.and(Obfuscations::UNICODE), tag);
            if run.breaks.binary_search(&index).is_ok() {
                self.view.put(b" ", (to, to), Obfuscations::NONE, tag);
            }
        }
    }

    /// Returns the view so far if it is large. Call it only between two pieces: matches do not cross the end of a piece.
    pub(crate) fn drain(&mut self) -> Option<TextRead> {
        (self.view.bytes.len() >= MUCH).then(|| core::mem::take(self).finish())
    }

    /// Ends the last piece and returns the view.
    pub(crate) fn finish(mut self) -> TextRead {
        self.end();
        self.flags(Within::Prose, 0);
        TextRead { view: self.view, hidden: self.hidden }
    }
}

/// The source of added bytes.
#[derive(Debug, Clone, Copy)]
enum Place {
    /// Each byte is in the source as it is.
    At(usize),
    /// All bytes come from one range.
    For((usize, usize)),
}

impl Place {
    const fn range(self, start: usize, end: usize) -> (usize, usize) {
        match self {
            Self::At(base) => (base + start, base + end),
            Self::For(range) => range,
        }
    }
}

const fn is_plain_or_underscore(byte: u8) -> bool {
    byte == b'_' || is_plain(byte)
}

/// Returns `true` for ASCII that is neither blank nor markup.
const fn is_plain(byte: u8) -> bool {
    byte.is_ascii() && !is_blank(byte) && !is_mark(byte)
}

const fn is_wordy(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || !byte.is_ascii()
}

const fn is_mark(byte: u8) -> bool {
    matches!(byte, b'&' | b'*' | b'<' | b'`' | b'~' | b'_')
}

/// Returns `true` for a space and for the five bytes from the tab to the carriage return.
const fn is_blank(byte: u8) -> bool {
    byte == b' ' || byte.wrapping_sub(b'\t') < 5
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Adds bytes one by one, without the fast path.
    fn slowly(view: &mut TextView, bytes: &[u8], from: usize) {
        view.raw_by(bytes, from, Obfuscations::NONE, |_, _| 1);
    }

    /// Returns a view byte by byte: the byte, its source, its obfuscation, its piece.
    fn said(read: &TextRead) -> Vec<(u8, (usize, usize, Obfuscations), u8)> {
        let bytes = read.view.bytes.iter().enumerate();
        bytes.map(|(at, byte)| (*byte, read.view.map.back(at, at + 1), read.view.map.tag(at))).collect()
    }

    const PIECES: &[&str] = &[
        "a",
        "B",
        "word",
        " ",
        "  ",
        "\n",
        "\t",
        "\r\n",
        "*",
        "**",
        "****",
        "~",
        "~~",
        "`",
        "_",
        "__",
        "<",
        "<b>",
        "</i>",
        "<!-- x -->",
        "<a href",
        "&",
        "&&",
        "&amp;",
        "&#105;",
        "&#x69",
        "&nbsp;",
        "&a=1",
        "\u{200B}",
        "\u{AD}",
        "é",
        "\u{430}",
        "\u{4E2D}",
        "\u{3042}",
        "\u{2014}",
        "s e n d",
        "s.e.n.d",
        "i g n o r e",
        "0",
        "9 9",
        "\u{0}",
        "\u{1B}",
        "{}",
        "-",
        "a sentence of plain words, as most of them are",
        "Another_one with_marks",
    ];

    fn text() -> impl Strategy<Value = Vec<u8>> {
        let piece = prop_oneof![
            8 => prop::sample::select(PIECES).prop_map(|piece| piece.as_bytes().to_vec()),
            1 => prop::collection::vec(any::<u8>(), 0..4),
        ];
        prop::collection::vec(piece, 0..40).prop_map(|pieces| pieces.concat())
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 1_000, ..ProptestConfig::default() })]

        #[test]
        fn the_fast_way_says_what_the_slow_one_says(
            texts in prop::collection::vec((text(), prop::sample::select(&Within::ALL[..]), any::<bool>()), 1..4),
        ) {
            let (mut fast, mut slow) = (TextView::default(), TextView::default());
            let mut from = 0;
            for (bytes, within, goes_on) in &texts {
                if !goes_on {
                    fast.begin(*within, 0);
                    slow.begin(*within, 0);
                }
                fast.raw(bytes, from, Obfuscations::NONE);
                slowly(&mut slow, bytes, from);
                from += bytes.len();
            }
            let (fast, slow) = (fast.finish(), slow.finish());
            prop_assert_eq!(said(&fast), said(&slow));
            prop_assert_eq!(fast.hidden, slow.hidden);
        }
    }
}
