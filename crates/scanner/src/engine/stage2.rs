//! Stage 2: a filter of 4-byte grams before the literals.
//!
//! Of each literal two adjacent grams are kept, so that one of them lies at an even offset of any text. The text is
//! sampled every 2 bytes; each sample's byte in a table of 32 KiB, which stays in the nearest cache, says whether a gram
//! may stand there, and one branch asks for 8 samples at once. Where there are many grams, it is a bit of a table of the
//! same size, which costs a shift and is full eight times later. Where one does, the gram is looked up, the literal
//! compared, and its window noted as in stage 1. Grams are compared with bit 5 of each byte set, which folds ASCII case
//! and more; the comparison of the literal makes up for the more.

use super::anchor::Anchors;
use super::naive::find_one;
use super::windows::Windows;
use super::{Finder, Pattern, Places, RawMatch};

const FOLD: u32 = 0x2020_2020;
const FOLD_PAIR: u64 = 0x2020_2020_2020_2020;
/// The first 3 bytes of a gram. No folded gram is a head: its last byte is not 0.
const HEAD: u32 = 0x00FF_FFFF;
const BITS: u32 = 15;
const TABLE: usize = 1 << BITS;
/// More grams than that ask for bits, of which there are eight times as many.
const CROWDED: usize = 256;
const WIDE_BITS: u32 = 18;
const WIDE_TABLE: usize = 1 << (WIDE_BITS - 6);
/// Bytes that one branch asks for, and how many are read for them.
const STEP: usize = 16;
const READ: usize = STEP + 4;

/// Where a gram stands in a literal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Place {
    literal: u16,
    offset: u8,
}

/// The filter of a set of patterns.
#[derive(Debug)]
pub(crate) struct Filter {
    /// 1 where a gram of that hash is wanted.
    table: Vec<u8>,
    /// The same as bits, where there are many grams; else empty.
    wide: Vec<u64>,
    /// Slots of an open hash table over grams and heads of grams: which, and where its places are.
    slots: Vec<(u32, u32, u32)>,
    places: Vec<Place>,
    anchors: Anchors,
}

#[inline]
const fn hash(gram: u32) -> u32 {
    gram.wrapping_mul(0x9E37_79B1) >> (32 - BITS)
}

#[inline]
const fn wide_hash(gram: u32) -> u32 {
    gram.wrapping_mul(0x9E37_79B1) >> (32 - WIDE_BITS)
}

/// Where the search for a gram's places begins: by other bits than the table's.
#[inline]
const fn home(gram: u32, mask: usize) -> usize {
    (gram.wrapping_mul(0x85EB_CA6B) >> 8) as usize & mask
}

/// How common a byte is in code and prose, roughly: rarer grams fire less.
const fn commonness(byte: u8) -> u32 {
    match byte {
        b' ' => 12,
        b'e' | b't' => 10,
        b'a' | b'i' | b'n' | b'o' | b'r' | b's' => 9,
        b'c' | b'd' | b'l' | b'u' | b'p' | b'm' => 7,
        b'f' | b'g' | b'h' | b'b' | b'.' | b'(' | b')' | b',' => 6,
        b'y' | b'v' | b'w' | b'_' | b'=' | b'0' | b'1' | b';' | b'"' | b'\'' | b'/' => 5,
        b'k' | b'x' | b'2'..=b'9' | b'-' | b':' => 4,
        b'j' | b'q' | b'z' => 2,
        _ => 3,
    }
}

#[inline]
#[expect(clippy::indexing_slicing, reason = "a hash is below the table's size")]
const fn has(table: &[u8; TABLE], pair: u64) -> u8 {
    table[hash((pair & 0xFFFF_FFFF) as u32) as usize & (TABLE - 1)]
}

fn gram_at(text: &[u8], at: usize) -> Option<u32> {
    let bytes: [u8; 4] = text.get(at..at.checked_add(4)?)?.try_into().ok()?;
    Some(u32::from_le_bytes(bytes) | FOLD)
}

/// Gives 8 bytes of a block as a number, folded.
#[inline]
fn pair<const AT: usize>(block: &[u8; READ]) -> u64 {
    let bytes = block.get(AT..).and_then(|rest| rest.first_chunk::<8>());
    bytes.map_or(0, |bytes| u64::from_le_bytes(*bytes)) | FOLD_PAIR
}

#[inline]
#[expect(clippy::indexing_slicing, reason = "a hash is below the table's size")]
const fn has_bit(table: &[u64; WIDE_TABLE], pair: u64) -> u64 {
    let hash = wide_hash((pair & 0xFFFF_FFFF) as u32);
    table[(hash >> 6) as usize & (WIDE_TABLE - 1)] >> (hash & 63)
}

/// Gives what is odd if one of the 8 samples of a block may be a gram.
#[inline]
fn any_bit(table: &[u64; WIDE_TABLE], block: &[u8; READ]) -> u64 {
    let (one, two, three) = (pair::<0>(block), pair::<6>(block), pair::<12>(block));
    has_bit(table, one)
        | has_bit(table, one >> 16)
        | has_bit(table, one >> 32)
        | has_bit(table, two)
        | has_bit(table, two >> 16)
        | has_bit(table, two >> 32)
        | has_bit(table, three)
        | has_bit(table, three >> 16)
}

/// Gives what is not 0 if one of the 8 samples of a block may be a gram.
#[inline]
fn any(table: &[u8; TABLE], block: &[u8; READ]) -> u8 {
    let (one, two, three) = (pair::<0>(block), pair::<6>(block), pair::<12>(block));
    has(table, one)
        | has(table, one >> 16)
        | has(table, one >> 32)
        | has(table, two)
        | has(table, two >> 16)
        | has(table, two >> 32)
        | has(table, three)
        | has(table, three >> 16)
}

/// Chooses the first of the two adjacent grams that are rarest.
fn rarest(text: &[u8]) -> usize {
    let cost = |at: usize| {
        text.get(at..at.saturating_add(5))
            .unwrap_or_default()
            .iter()
            .fold(0, |sum: u32, byte| sum.saturating_add(commonness(*byte)))
    };
    (0..text.len().saturating_sub(4).max(1)).min_by_key(|at| cost(*at)).unwrap_or(0)
}

impl Filter {
    pub(super) fn new(patterns: &[Pattern]) -> Self {
        Self::with_hints(patterns, &[])
    }

    /// The same with texts whose places are hints.
    pub(super) fn with_hints(patterns: &[Pattern], hints: &[(Vec<u8>, u8)]) -> Self {
        let anchors = Anchors::new(patterns, hints);
        let mut grams: Vec<(u32, Place)> = Vec::with_capacity(anchors.texts.len().saturating_mul(2));
        let mut wanted: Vec<u32> = Vec::new();
        for (text, literal) in anchors.texts.iter().zip(0_u16..) {
            let first = rarest(text);
            let mut add = |gram: u32, offset: usize| {
                let offset = u8::try_from(offset).unwrap_or(u8::MAX);
                grams.push((gram, Place { literal, offset }));
            };
            if let Some(gram) = gram_at(text, first) {
                add(gram, first);
                wanted.push(gram);
            }
            let second = first.saturating_add(1);
            match (gram_at(text, second), text.get(second..)) {
                (Some(gram), _) => {
                    add(gram, second);
                    wanted.push(gram);
                }
                // A literal of 4 bytes at an odd offset: its last 3 bytes and any byte behind them.
                (None, Some([a, b, c])) => {
                    let head = u32::from_le_bytes([*a, *b, *c, 0]) | (FOLD & HEAD);
                    add(head, second);
                    let folded = (0..=u8::MAX).filter(|tail| tail & 0x20 != 0);
                    wanted.extend(folded.map(|tail| head | u32::from(tail) << 24));
                }
                _ => {}
            }
        }
        grams.sort_unstable();
        if wanted.len() <= 4 * CROWDED {
            // Many are many, however often some are named.
            wanted.sort_unstable();
            wanted.dedup();
        }
        Self::build(&grams, &wanted, anchors)
    }

    /// Takes the places of grams and heads, those of one side by side, and all grams that may stand there.
    fn build(grams: &[(u32, Place)], wanted: &[u32], anchors: Anchors) -> Self {
        let size = grams.len().saturating_mul(4).next_power_of_two().max(16);
        let wide = if wanted.len() > CROWDED { WIDE_TABLE } else { 0 };
        let mut filter = Self {
            table: vec![0; TABLE],
            wide: vec![0; wide],
            slots: vec![(0, 0, 0); size],
            places: grams.iter().map(|(_, place)| *place).collect(),
            anchors,
        };
        for gram in wanted {
            if let Some(wanted) = filter.table.get_mut(hash(*gram) as usize) {
                *wanted = 1;
            }
            let bit = wide_hash(*gram);
            if let Some(word) = filter.wide.get_mut((bit >> 6) as usize) {
                *word |= 1 << (bit & 63);
            }
        }
        let mut start = 0_u32;
        for same in grams.chunk_by(|a, b| a.0 == b.0) {
            let Some(&(gram, _)) = same.first() else { continue };
            let count = u32::try_from(same.len()).unwrap_or(u32::MAX);
            let mut slot = home(gram, size.wrapping_sub(1));
            while filter.slots.get(slot).is_some_and(|(_, _, taken)| *taken != 0) {
                slot = slot.wrapping_add(1) & (size.wrapping_sub(1));
            }
            if let Some(free) = filter.slots.get_mut(slot) {
                *free = (gram, start, count);
            }
            start = start.saturating_add(count);
        }
        filter
    }

    fn places(&self, gram: u32) -> &[Place] {
        let mask = self.slots.len().wrapping_sub(1);
        let mut slot = home(gram, mask);
        while let Some(&(known, start, count)) = self.slots.get(slot) {
            if count == 0 {
                break;
            }
            if known == gram {
                let start = start as usize;
                return self.places.get(start..start.saturating_add(count as usize)).unwrap_or_default();
            }
            slot = slot.wrapping_add(1) & mask;
        }
        &[]
    }

    #[inline]
    fn may_be(&self, gram: u32) -> bool {
        let bit = wide_hash(gram);
        match self.wide.get((bit >> 6) as usize) {
            Some(word) => (word >> (bit & 63)) & 1 == 1,
            None => self.table.get(hash(gram) as usize).is_some_and(|wanted| *wanted != 0),
        }
    }

    #[inline]
    fn look(&self, hay: &[u8], at: usize, windows: &mut Windows) {
        let Some(gram) = gram_at(hay, at) else { return };
        if !self.may_be(gram) {
            return;
        }
        // Of a literal of 4 bytes the head is kept once, not with each byte that may follow.
        for place in self.places(gram).iter().chain(self.places(gram & HEAD)) {
            let (Some(start), Some(text)) = (
                at.checked_sub(usize::from(place.offset)),
                self.anchors.texts.get(usize::from(place.literal)),
            ) else {
                continue;
            };
            let found = hay.get(start..start.saturating_add(text.len()));
            if !found.is_some_and(|found| found.eq_ignore_ascii_case(text)) {
                continue;
            }
            self.note(usize::from(place.literal), start, windows);
        }
    }

    /// Notes a literal that stands at a place.
    fn note(&self, literal: usize, start: usize, windows: &mut Windows) {
        for anchor in self.anchors.wanted.get(literal).into_iter().flatten() {
            windows.note(anchor.pattern, anchor.max, start, anchor.before);
        }
        match self.anchors.hints.get(literal) {
            None | Some(0) => {}
            Some(bits) => windows.places.push(start, *bits),
        }
    }

    /// Goes through whole blocks; gives where the rest begins.
    #[inline]
    fn blocks(&self, hay: &[u8], windows: &mut Windows, any: impl Fn(&[u8; READ]) -> bool) -> usize {
        let mut at = 0_usize;
        while let Some(block) = hay.get(at..).and_then(|rest| rest.first_chunk::<READ>()) {
            if any(block) {
                for index in 0..STEP / 2 {
                    self.look(hay, at.wrapping_add(index.wrapping_mul(2)), windows);
                }
            }
            at = at.wrapping_add(STEP);
        }
        at
    }

    fn sweep(&self, hay: &[u8], windows: &mut Windows) {
        // One size for the compiler, so that the masked index needs no check.
        let mut at = match (self.wide.first_chunk::<WIDE_TABLE>(), self.table.first_chunk::<TABLE>()) {
            (Some(table), _) => self.blocks(hay, windows, |block| any_bit(table, block) & 1 != 0),
            (None, Some(table)) => self.blocks(hay, windows, |block| any(table, block) != 0),
            (None, None) => return,
        };
        while at < hay.len() {
            self.look(hay, at, windows);
            at = at.wrapping_add(2);
        }
        self.tail(hay, windows);
    }

    /// A literal of 4 bytes that ends the text has no byte behind it to sample.
    fn tail(&self, hay: &[u8], windows: &mut Windows) {
        let start = hay.len().saturating_sub(4);
        for (literal, text) in self.anchors.texts.iter().enumerate() {
            if text.len() == 4 && hay.get(start..).is_some_and(|end| end.eq_ignore_ascii_case(text)) {
                self.note(literal, start, windows);
            }
        }
    }
}

/// Finds all matches of the patterns that look at one of the languages, and the places of hints.
pub(super) fn find_with(
    patterns: &[Pattern],
    filter: &Filter,
    hay: &[u8],
    langs: u8,
    out: &mut Vec<RawMatch>,
) -> Places {
    let mut windows = Windows::new(patterns);
    filter.sweep(hay, &mut windows);
    let places = core::mem::take(&mut windows.places);
    windows.verify(patterns, hay, langs, out);
    let slow = patterns.iter().zip(0_u16..).filter(|(pattern, _)| pattern.slow && pattern.langs & langs != 0);
    for (pattern, index) in slow.filter(|(pattern, _)| pattern.may_match(hay)) {
        find_one(pattern, index, hay, out);
    }
    places
}

/// Finds the places of hints alone.
pub(super) fn places(filter: &Filter, hay: &[u8]) -> Places {
    let mut windows = Windows::new(&[]);
    filter.sweep(hay, &mut windows);
    windows.places
}

pub(crate) struct Stage2<'a> {
    patterns: &'a [Pattern],
    filter: &'a Filter,
}

impl<'a> Stage2<'a> {
    pub(crate) const fn new(patterns: &'a [Pattern], filter: &'a Filter) -> Self {
        Self { patterns, filter }
    }
}

impl Finder for Stage2<'_> {
    fn find(&self, hay: &[u8], langs: u8, out: &mut Vec<RawMatch>) {
        find_with(self.patterns, self.filter, hay, langs, out);
    }
}

/// How many literals there are, places of grams and slots for them: what building the filter costs.
#[cfg(test)]
impl Filter {
    pub(super) fn size(&self) -> (usize, usize, usize) {
        (self.anchors.texts.len(), self.places.len(), self.slots.len())
    }
}
