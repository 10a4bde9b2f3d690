//! Finds many byte strings, or long pieces of them, in one pass over a text.
//!
//! Fixed-size windows of each string are stored in a hash table, and the hash of the last bytes is looked up
//! at every offset. An automaton would have to be rebuilt for each new value; this table grows with the
//! number of windows, and its contents can be wiped.
#![expect(clippy::arithmetic_side_effects, reason = "sums of offsets into one slice stay below isize::MAX")]

use core::ops::Range;
use std::collections::VecDeque;

use zeroize::Zeroize as _;

use crate::bytes::{DIGIT, at, is, part};
use crate::known::spelling::{Form, Order, Spelling, spellings};
use crate::rules::prefixed::special::changes;

/// A piece of a value of this length is reported if it is distinctive.
const PIECE: usize = 16;
/// A shorter piece is reported only if the value is not encoded and the piece looks random.
const SHORT_PIECE: usize = 8;
/// Short pieces of longer values are not reported: by chance, too many texts contain one.
const SHORT: usize = 512;
/// Marks the end of a chain.
const NONE: u32 = u32::MAX;
/// The number of entries that the first table has room for.
const FEW: usize = 1024;
/// Bits of the sieve per entry: about one offset in sixteen passes it by chance.
const BITS: usize = 16;

/// The windows of all spellings of all values.
#[derive(Default)]
pub(crate) struct Index {
    /// The spellings in the order of their values, which have increasing numbers.
    patterns: VecDeque<Pattern>,
    /// The number of the first pattern that is still stored.
    first: u32,
    entries: Vec<Entry>,
    /// For each hash, the first entry of its chain.
    heads: Vec<u32>,
    /// One bit per hash, of more bits than a chain has. Most offsets of a text are dismissed by it alone.
    sieve: Vec<u64>,
    /// Entries whose patterns were removed.
    dead: usize,
}

struct Pattern {
    value: u64,
    /// The length of the value, and of its public head.
    whole: usize,
    dull: usize,
    spelled: Spelling,
    entries: usize,
}

#[derive(Clone, Copy)]
struct Entry {
    pattern: u32,
    /// The offset of the window in the spelling.
    start: u32,
    next: u32,
}

/// The last 24 bytes of a text, case folded, the latest eight first.
#[derive(Clone, Copy, Default)]
struct RecentBytes([u64; 3]);

impl RecentBytes {
    fn push(&mut self, byte: u8) {
        let [a, b, c] = self.0;
        self.0 = [(a << 8) | u64::from(fold(byte)), (b << 8) | (a >> 56), (c << 8) | (b >> 56)];
    }

    /// Returns the hash of the last 8, 16 or 24 bytes.
    const fn hash(self, window: usize) -> u64 {
        let [a, b, c] = self.0;
        let mut sum = a.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        if window > 8 {
            sum = (sum ^ (sum >> 29) ^ b).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        }
        if window > 16 {
            sum = (sum ^ (sum >> 31) ^ c).wrapping_mul(0x94d0_49bb_1331_11eb);
        }
        (sum ^ (sum >> 32)).wrapping_mul(0xd6e8_feb8_6659_fd93)
    }
}

/// Folds case and the two alphabets of base64, so that a value is found in any of them.
const fn fold(byte: u8) -> u8 {
    match byte {
        b'A'..=b'Z' => byte | 0x20,
        // The two alphabets of base64 differ in these characters only.
        b'-' => b'+',
        b'_' => b'/',
        other => other,
    }
}

impl Index {
    /// Adds all spellings of a value.
    pub(crate) fn add(&mut self, number: u64, value: &[u8]) {
        let dull = dull_head(value);
        for spelled in spellings(value) {
            let pattern = Pattern { value: number, whole: value.len(), dull, spelled, entries: 0 };
            self.patterns.push_back(pattern);
            let index = self.patterns.len() - 1;
            self.enter(index);
        }
        if self.entries.len() > self.heads.len() {
            self.build(self.entries.len() * 2);
        }
    }

    /// Removes the values with lower numbers.
    pub(crate) fn forget(&mut self, first: u64) {
        while self.patterns.front().is_some_and(|pattern| pattern.value < first) {
            if let Some(gone) = self.patterns.pop_front() {
                self.dead += gone.entries;
                // Numbers of patterns wrap. Only their difference to `first` is used, and entries of forgotten
                // patterns fail the lookup until the next build.
                self.first = self.first.wrapping_add(1);
            }
        }
        // Entries of forgotten patterns are removed when they are the majority, so that the cost of a build is
        // spread over many calls.
        if self.dead > FEW && self.dead * 2 > self.entries.len() {
            self.build(self.entries.len());
        }
    }

    /// Rebuilds the table with room for a number of entries.
    fn build(&mut self, room: usize) {
        let room = room.max(FEW).next_power_of_two();
        self.entries.clear();
        self.heads.clear();
        self.heads.resize(room, NONE);
        // The bits are derived from secrets.
        self.sieve.zeroize();
        self.sieve.resize(room * BITS / 64, 0);
        self.dead = 0;
        self.first = 0;
        for index in 0..self.patterns.len() {
            self.enter(index);
        }
    }

    /// Adds windows of a pattern to the table: enough that each piece of reportable length contains one.
    fn enter(&mut self, index: usize) {
        if self.heads.is_empty() {
            return self.build(FEW);
        }
        let (entries, heads, sieve) = (&mut self.entries, &mut self.heads, &mut self.sieve);
        let Some(pattern) = self.patterns.get_mut(index) else { return };
        let number = self.first.wrapping_add(u32::try_from(index).unwrap_or(NONE));
        let piece = if pattern.takes_short() { SHORT_PIECE } else { pattern.spelled.form.sixteen };
        let bytes = &pattern.spelled.bytes;
        let window = window_of(pattern.spelled.form, bytes.len());
        let stride = (piece.min(bytes.len()) + 1).saturating_sub(window).max(1);
        let Some(last) = bytes.len().checked_sub(window) else { return };
        let starts = (0..last).step_by(stride).chain([last]);
        for start in starts {
            let mut seen = RecentBytes::default();
            for byte in part(bytes, start..start + window) {
                seen.push(*byte);
            }
            let hash = seen.hash(window);
            let room = heads.len();
            let Some(head) = heads.get_mut(slot(hash, room)) else { return };
            let Ok(place) = u32::try_from(entries.len()) else { return };
            entries.push(Entry { pattern: number, start: u32::try_from(start).unwrap_or(NONE), next: *head });
            *head = place;
            let bit = slot(hash, sieve.len() * 64);
            if let Some(word) = sieve.get_mut(bit >> 6) {
                *word |= 1 << (bit & 63);
            }
            pattern.entries += 1;
        }
    }

    /// Finds the places where a window of a value ends in the range.
    pub(crate) fn find(&self, text: &[u8], range: Range<usize>, mut hit: impl FnMut(Range<usize>)) {
        if self.patterns.is_empty() {
            return;
        }
        // The longest window may begin before the range.
        let from = range.start.saturating_sub(24);
        let mut last = RecentBytes::default();
        for byte in part(text, from..range.start) {
            last.push(*byte);
        }
        // The last matches, so that the other windows of the same place do not find it again.
        let mut recent = RecentMatches::default();
        for (end, byte) in (range.start + 1..).zip(part(text, range)) {
            last.push(*byte);
            // One pass over the text serves all three lengths, since each hash uses a prefix of the same recent
            // bytes.
            for window in [8, 16, 24] {
                let hash = last.hash(window);
                if self.passes(hash) {
                    self.look(text, end, window, hash, &mut recent, &mut hit);
                }
            }
        }
    }

    fn passes(&self, hash: u64) -> bool {
        let bit = slot(hash, self.sieve.len() * 64);
        self.sieve.get(bit >> 6).is_some_and(|word| (word >> (bit & 63)) & 1 == 1)
    }

    /// Compares the text with all patterns that have a window with this hash, and reports the first match.
    fn look(
        &self,
        text: &[u8],
        end: usize,
        window: usize,
        hash: u64,
        recent: &mut RecentMatches,
        hit: &mut impl FnMut(Range<usize>),
    ) {
        let mut next = self.heads.get(slot(hash, self.heads.len())).copied().unwrap_or(NONE);
        while let Some(entry) = usize::try_from(next).ok().and_then(|place| self.entries.get(place)) {
            next = entry.next;
            let pattern = entry.pattern.wrapping_sub(self.first);
            let Some(own) = usize::try_from(pattern).ok().and_then(|index| self.patterns.get(index)) else {
                continue;
            };
            if recent.covers(entry.pattern, end)
                || window_of(own.spelled.form, own.spelled.bytes.len()) != window
            {
                continue;
            }
            let inside = usize::try_from(entry.start).unwrap_or(0);
            if let Some(at) = own.stands(text, end.saturating_sub(window), inside, window) {
                recent.note(entry.pattern, at.end);
                hit(at);
                return;
            }
        }
    }
}

impl Pattern {
    /// Returns `true` if shorter pieces count: for unencoded values of ordinary length.
    fn takes_short(&self) -> bool {
        self.spelled.form.sixteen == PIECE
            && self.spelled.form.order == Order::Forwards
            && self.spelled.bytes.len() <= SHORT
    }

    /// Returns how much of the spelling is in the text around one of its windows.
    fn stands(&self, text: &[u8], place: usize, inside: usize, window: usize) -> Option<Range<usize>> {
        let bytes = &self.spelled.bytes;
        let same = |(a, b): (&u8, &u8)| fold(*a) == fold(*b);
        let after = part(text, place..text.len()).iter().zip(part(bytes, inside..bytes.len()));
        let after = after.take_while(|pair| same(*pair)).count();
        if after < window {
            return None;
        }
        let before = part(text, 0..place).iter().rev().zip(part(bytes, 0..inside).iter().rev());
        let before = before.take_while(|pair| same(*pair)).count();
        let length = before + after;
        let found = inside - before..inside + after;
        let short = self.takes_short() && is_mixed(part(bytes, found.clone()));
        let least = if short { SHORT_PIECE } else { self.spelled.form.sixteen };
        (length == bytes.len() || (length >= least && self.tells(found)))
            .then_some(place - before..place + after)
    }

    /// Returns `true` if a piece is more than a public head or a repeated byte.
    fn tells(&self, found: Range<usize>) -> bool {
        let bytes = &self.spelled.bytes;
        // The public head of the value, as far as it goes in this spelling.
        let dull = (self.dull * bytes.len()).div_ceil(self.whole.max(1));
        let beyond = match self.spelled.form.order {
            Order::Forwards => found.end.saturating_sub(dull.max(found.start)),
            Order::Backwards => (bytes.len() - dull).min(found.end).saturating_sub(found.start),
        };
        let floor = if self.spelled.form.sixteen <= 32 { 2.5 } else { 2.0 };
        beyond >= self.spelled.form.sixteen / 2 && crate::bytes::measure::entropy(part(bytes, found)) >= floor
    }
}

/// The last patterns that were found, and where they ended.
#[derive(Default)]
struct RecentMatches {
    list: [(u32, usize); 4],
    next: usize,
}

impl RecentMatches {
    fn covers(&self, pattern: u32, end: usize) -> bool {
        self.list.iter().any(|(own, until)| *own == pattern && end <= *until)
    }

    fn note(&mut self, pattern: u32, end: usize) {
        if let Some(slot) = self.list.get_mut(self.next % 4) {
            *slot = (pattern, end);
        }
        self.next = (self.next + 1) % 4;
    }
}

/// Returns a slot in a table whose size is a power of two.
fn slot(hash: u64, places: usize) -> usize {
    usize::try_from(hash >> 16).unwrap_or(usize::MAX) & places.saturating_sub(1)
}

/// Returns how many bytes of a spelling are hashed at once.
const fn window_of(form: Form, length: usize) -> usize {
    match length {
        0..16 => 8,
        16..24 if form.window > 16 => 16,
        _ => form.window,
    }
}

/// Returns the length of the public head of a value, which other values share: the header of a JWT.
fn dull_head(value: &[u8]) -> usize {
    // The header of a JWT is public and the same in unrelated tokens, so it alone does not identify one.
    let token = value.starts_with(b"eyJ").then(|| memchr::memchr(b'.', value)).flatten();
    token.map_or(0, |dot| dot + 1)
}

/// Returns `true` if a short piece is neither a word nor a number.
fn is_mixed(piece: &[u8]) -> bool {
    let digits = piece.iter().filter(|byte| is(**byte, DIGIT)).count();
    digits >= 2 && digits < piece.len() && changes(piece) >= 4 && at(piece, 0) != 0
}

impl Drop for Index {
    fn drop(&mut self) {
        self.sieve.zeroize();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(index: &Index, text: &str) -> Vec<Range<usize>> {
        let mut hits = Vec::new();
        index.find(text.as_bytes(), 0..text.len(), |at| hits.push(at));
        hits
    }

    #[test]
    fn values_and_pieces_are_found_at_every_place() {
        let mut index = Index::default();
        let value = "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6";
        index.add(0, value.as_bytes());
        for from in 0..=value.len() - 8 {
            for to in from + 8..=value.len() {
                let text = format!("<{}>", &value[from..to]);
                assert_eq!(found(&index, &text), vec![1..text.len() - 1], "{text}");
            }
        }
        assert!(found(&index, "a1B2c3D").is_empty());
        index.forget(1);
        assert!(found(&index, value).is_empty());
    }

    #[test]
    fn a_range_is_worked_off_like_the_whole() {
        let mut index = Index::default();
        index.add(0, b"qX9!vbnm12-AzertY");
        let text = "say qX9!vbnm12-AzertY now";
        for cut in 0..text.len() {
            let mut hits = Vec::new();
            index.find(text.as_bytes(), 0..cut, |at| hits.push(at));
            index.find(text.as_bytes(), cut..text.len(), |at| hits.push(at));
            assert!(hits.contains(&(4..21)), "{cut}: {hits:?}");
        }
    }

    #[test]
    fn what_values_share_with_other_text_is_no_find() {
        let mut index = Index::default();
        let token = concat!(
            "eyJhbGciOiJIUzI1",
            "NiIsInR5cCI6IkpXVCJ9.eyJzdWIiOiI3MjcxIn0.c2lnbmF0dXJlLXNpZ25hdHVyZQ"
        );
        index.add(0, token.as_bytes());
        index.add(1, b"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa1Z");
        assert!(found(&index, "the header eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9 is public").is_empty());
        assert!(found(&index, &format!("A{}H", "a".repeat(25))).is_empty());
        assert!(found(&index, "x c2lnbmF0dXJlLXNpZ25hdHVyZQ").contains(&(2..28)));
    }

    #[test]
    fn thousands_of_values_are_found_among_each_other() {
        let mut index = Index::default();
        let value =
            |number: u64| format!("k{:016x}Zq{number:04}", number.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        for number in 0..3000 {
            index.add(number, value(number).as_bytes());
        }
        index.forget(500);
        let text = format!("{} {} {}", value(499), value(500), value(2999));
        let at = |number: u64| text.find(&value(number)).map(|start| start..start + value(number).len());
        let found = found(&index, &text);
        assert_eq!(found.first().cloned(), at(500));
        assert_eq!(found.last().cloned(), at(2999));
        assert_eq!(found.len(), 2);
    }
}
