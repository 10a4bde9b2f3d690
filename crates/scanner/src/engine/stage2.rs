//! Stage 2: a filter of 4-byte grams before the literals.
//!
//! Of each literal two adjacent grams are kept, so that one of them lies at an even offset of any text. The text is
//! sampled every 2 bytes; each sample's byte in a table of 32 KiB, which stays in the nearest cache, says whether a gram
//! may stand there. Where there are more than a few, it is a bit of a table of the same size, which costs two shifts and is
//! full eight times later. Where one may, the gram is looked up, up to 8 bytes of the literal around it compared as one
//! number, then the literal, and its window noted as in stage 1.
//!
//! Literals whose case does not count are kept in each spelling of their grams, if that is not many; else all grams and
//! samples are compared with bit 5 of each byte set, which folds ASCII case and more. The comparison of the literal makes
//! up for the more.

use super::anchor::{Anchors, Wanted};
use super::literal::{Case, Literal};
use super::naive::find_one;
use super::rarity;
use super::windows::{Windows, search_headed};
use super::{Finder, Pattern, Places, RawMatch};

const FOLD: u32 = 0x2020_2020;
/// The first 3 bytes of a gram. No folded gram is a head: its last byte is not 0.
const HEAD: u32 = 0x00FF_FFFF;
/// The shortest head that literals of one pattern are looked for by.
const HEAD_LEN: usize = 1;
const BITS: u32 = 15;
const TABLE: usize = 1 << BITS;
/// More grams than that ask for bits, of which there are eight times as many.
const CROWDED: usize = 64;
const WIDE_BITS: u32 = 18;
const WIDE_TABLE: usize = 1 << (WIDE_BITS - 5);
/// More grams than that, each in each spelling, and all are folded.
const SPELLED: usize = 2048;
/// Bytes of one step, and how many are read for them.
const STEP: usize = 32;
const READ: usize = STEP + 4;

/// Where a gram stands in a literal, and what stands around it there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Place {
    literal: u16,
    /// How far before the gram the literal and the bytes to compare begin.
    offset: u8,
    back: u8,
    /// Up to 8 bytes of the literal, which bits of them count, and which are set before.
    value: u64,
    mask: u64,
    fold: u64,
}

/// A gram and its places.
#[derive(Debug, Clone, Copy, Default)]
struct Slot {
    gram: u32,
    start: u32,
    count: u32,
}

/// The filter of a set of patterns.
#[derive(Debug)]
pub(crate) struct Filter {
    /// What is set in each sample before it is looked up.
    fold: u32,
    /// 1 where a gram of that hash is wanted.
    table: Vec<u8>,
    /// The same as bits, where there are many grams; else empty.
    wide: Vec<u32>,
    /// An open hash table.
    slots: Vec<Slot>,
    places: Vec<Place>,
    anchors: Anchors,
    /// The literals of 4 bytes.
    short: Vec<u16>,
    /// The patterns that are searched for on their own.
    lone: Vec<u16>,
}

#[inline]
const fn hash(gram: u32) -> u32 {
    gram.wrapping_mul(0x9E37_79B1) >> (32 - BITS)
}

/// Gives the word of a gram in the wide table, and its bit there.
#[inline]
const fn wide_hash(gram: u32) -> (usize, u32) {
    let hash = gram.wrapping_mul(0x9E37_79B1);
    ((hash >> (32 - WIDE_BITS + 5)) as usize & (WIDE_TABLE - 1), hash >> (32 - WIDE_BITS) & 31)
}

/// Where the search for a gram's places begins: by other bits than the table's.
#[inline]
const fn home(gram: u32, mask: usize) -> usize {
    (gram.wrapping_mul(0x85EB_CA6B) >> 8) as usize & mask
}

#[inline]
#[expect(clippy::indexing_slicing, reason = "a hash is below the table's size")]
const fn has(table: &[u8; TABLE], gram: u32) -> bool {
    table[hash(gram) as usize & (TABLE - 1)] != 0
}

#[inline]
#[expect(clippy::indexing_slicing, reason = "a hash is below the table's size")]
const fn has_bit(table: &[u32; WIDE_TABLE], gram: u32) -> bool {
    let (word, bit) = wide_hash(gram);
    table[word] >> bit & 1 != 0
}

fn gram_at(text: &[u8], at: usize) -> Option<u32> {
    let bytes: [u8; 4] = text.get(at..at.checked_add(4)?)?.try_into().ok()?;
    Some(u32::from_le_bytes(bytes))
}

/// Chooses the first of the two adjacent grams that are rarest.
fn rarest(text: &[u8]) -> usize {
    let bits = |at: usize| rarity::bits(text.get(at..at.saturating_add(4)).unwrap_or_default());
    let pair = |at: usize| {
        let (a, b) = (bits(at), bits(at.saturating_add(1)));
        (a.min(b), a.max(b))
    };
    (0..text.len().saturating_sub(4).max(1)).max_by_key(|at| pair(*at)).unwrap_or(0)
}

/// Gives each spelling of a gram; of one whose case counts it is the gram alone.
fn spellings(gram: u32, case: Case) -> Vec<u32> {
    let mut all = vec![gram];
    if case == Case::Exact {
        return all;
    }
    for at in 0..4_usize {
        let mut flip = [0_u8; 4];
        match (flip.get_mut(at), gram.to_le_bytes().get(at)) {
            (Some(flip), Some(byte)) if byte.is_ascii_alphabetic() => *flip = 0x20,
            _ => continue,
        }
        let other: Vec<u32> = all.iter().map(|gram| gram ^ u32::from_le_bytes(flip)).collect();
        all.extend(other);
    }
    all
}

/// Gives the grams that may stand where a text is sampled, and the folded grams or heads below which its places are kept, with
/// their offsets in it.
fn grams(wanted: &Wanted) -> (Vec<u32>, Vec<(u32, usize)>) {
    let text = &wanted.bytes;
    let first = rarest(text);
    let second = first.saturating_add(1);
    let mut grams: Vec<u32> = gram_at(text, first).into_iter().collect();
    let mut kept: Vec<(u32, usize)> = grams.iter().map(|gram| (gram | FOLD, first)).collect();
    match (gram_at(text, second), text.get(second..)) {
        (Some(gram), _) => {
            grams.push(gram);
            kept.push((gram | FOLD, second));
        }
        // A literal of 4 bytes at an odd offset: its last 3 bytes and what may stand behind them.
        (None, Some(&[a, b, c])) => {
            let behind = |tail: u8| u32::from_le_bytes([a, b, c, tail]);
            kept.push((behind(0) | (FOLD & HEAD), second));
            if wanted.next.is_empty() {
                grams.extend((0..=u8::MAX).map(behind));
            } else {
                grams.extend(wanted.next.iter().copied().map(behind));
            }
        }
        _ => {}
    }
    (grams, kept)
}

impl Place {
    fn new(wanted: &Wanted, literal: u16, offset: usize) -> Self {
        let text = &wanted.bytes;
        // The 8 bytes around the gram, or all of a shorter text.
        let start = offset.saturating_sub(2).min(text.len().saturating_sub(8));
        let (mut value, mut mask, mut fold) = ([0_u8; 8], [0_u8; 8], [0_u8; 8]);
        let cells = value.iter_mut().zip(mask.iter_mut().zip(fold.iter_mut()));
        for (byte, (value, (mask, fold))) in text.iter().skip(start).zip(cells) {
            (*value, *mask) = (*byte, u8::MAX);
            if wanted.case == Case::Folded && byte.is_ascii_alphabetic() {
                *fold = 0x20;
            }
        }
        let small = |value: usize| u8::try_from(value).unwrap_or(u8::MAX);
        Self {
            literal,
            offset: small(offset),
            back: small(offset.saturating_sub(start)),
            value: u64::from_le_bytes(value),
            mask: u64::from_le_bytes(mask),
            fold: u64::from_le_bytes(fold),
        }
    }

    /// Says whether the bytes around a gram are those of the literal. At the end of a text it is not known.
    #[inline]
    fn may_stand(&self, hay: &[u8], at: usize) -> bool {
        let around = at.checked_sub(usize::from(self.back)).and_then(|start| hay.get(start..));
        let Some(around) = around.and_then(|around| around.first_chunk::<8>()) else { return true };
        (u64::from_le_bytes(*around) | self.fold) & self.mask == self.value
    }
}

impl Filter {
    pub(super) fn new(patterns: &[Pattern]) -> Self {
        Self::with_hints(patterns, &[])
    }

    /// The same with texts whose places are hints.
    pub(super) fn with_hints(patterns: &[Pattern], hints: &[(Vec<u8>, u8)]) -> Self {
        Self::spelled(patterns, hints, SPELLED)
    }

    /// The same with so many grams at most for which case counts.
    pub(super) fn spelled(patterns: &[Pattern], hints: &[(Vec<u8>, u8)], most: usize) -> Self {
        let anchors = Anchors::new(patterns, hints);
        let mut places: Vec<(u32, Place)> = Vec::with_capacity(anchors.texts.len().saturating_mul(2));
        let mut spelled: Vec<u32> = Vec::new();
        for (text, literal) in anchors.texts.iter().zip(0_u16..) {
            let (grams, kept) = grams(text);
            places.extend(kept.iter().map(|(gram, offset)| (*gram, Place::new(text, literal, *offset))));
            spelled.extend(grams.iter().flat_map(|gram| spellings(*gram, text.case)));
        }
        let fold = if spelled.len() > most { FOLD } else { 0 };
        for gram in &mut spelled {
            *gram |= fold;
        }
        spelled.sort_unstable();
        spelled.dedup();
        places.sort_unstable();
        let lone = patterns.iter().zip(0_u16..).filter(|(pattern, _)| pattern.slow);
        let lone = lone.map(|(_, index)| index).collect();
        Self::build(&places, &spelled, fold, anchors, lone)
    }

    /// Says whether grams are looked up as bytes.
    #[cfg(test)]
    pub(super) const fn is_narrow(&self) -> bool {
        self.wide.is_empty()
    }

    /// Takes the places of folded grams and heads, those of one side by side, and all grams that may stand there.
    fn build(places: &[(u32, Place)], wanted: &[u32], fold: u32, anchors: Anchors, lone: Vec<u16>) -> Self {
        let size = places.len().saturating_mul(4).next_power_of_two().max(16);
        let wide = if wanted.len() > CROWDED { WIDE_TABLE } else { 0 };
        let short = (0_u16..).zip(&anchors.texts).filter(|(_, wanted)| wanted.bytes.len() == 4);
        let mut filter = Self {
            fold,
            table: vec![0; if wide == 0 { TABLE } else { 0 }],
            wide: vec![0; wide],
            slots: vec![Slot::default(); size],
            places: places.iter().map(|(_, place)| *place).collect(),
            short: short.map(|(literal, _)| literal).collect(),
            anchors,
            lone,
        };
        for gram in wanted {
            if let Some(wanted) = filter.table.get_mut(hash(*gram) as usize) {
                *wanted = 1;
            }
            let (word, bit) = wide_hash(*gram);
            if let Some(word) = filter.wide.get_mut(word) {
                *word |= 1 << bit;
            }
        }
        let mut start = 0_u32;
        for same in places.chunk_by(|a, b| a.0 == b.0) {
            let Some(&(gram, _)) = same.first() else { continue };
            let count = u32::try_from(same.len()).unwrap_or(u32::MAX);
            let mut slot = home(gram, size.wrapping_sub(1));
            while filter.slots.get(slot).is_some_and(|slot| slot.count != 0) {
                slot = slot.wrapping_add(1) & (size.wrapping_sub(1));
            }
            if let Some(free) = filter.slots.get_mut(slot) {
                *free = Slot { gram, start, count };
            }
            start = start.saturating_add(count);
        }
        filter
    }

    fn places(&self, gram: u32) -> &[Place] {
        let mask = self.slots.len().wrapping_sub(1);
        let mut slot = home(gram, mask);
        while let Some(&known) = self.slots.get(slot) {
            if known.count == 0 {
                break;
            }
            if known.gram == gram {
                let start = known.start as usize;
                return self
                    .places
                    .get(start..start.saturating_add(known.count as usize))
                    .unwrap_or_default();
            }
            slot = slot.wrapping_add(1) & mask;
        }
        &[]
    }

    /// Looks at a sample whose hash is wanted.
    #[cold]
    #[inline(never)]
    fn look(&self, hay: &[u8], at: usize, windows: &mut Windows) {
        let Some(gram) = gram_at(hay, at) else { return };
        let gram = gram | FOLD;
        // Of a literal of 4 bytes the head is kept once, not with each byte that may follow.
        for place in self.places(gram).iter().chain(self.places(gram & HEAD)) {
            if !place.may_stand(hay, at) {
                continue;
            }
            let (Some(start), Some(wanted)) = (
                at.checked_sub(usize::from(place.offset)),
                self.anchors.texts.get(usize::from(place.literal)),
            ) else {
                continue;
            };
            let found = hay.get(start..start.saturating_add(wanted.bytes.len()));
            if found.is_some_and(|found| wanted.is(found)) {
                wanted.note(hay, start, windows);
            }
        }
    }

    /// Goes through whole blocks; gives where the rest begins.
    #[inline]
    fn blocks<const SET: u32>(&self, hay: &[u8], windows: &mut Windows, has: impl Fn(u32) -> bool) -> usize {
        let mut at = 0_usize;
        while let Some(block) = hay.get(at..).and_then(|rest| rest.first_chunk::<READ>()) {
            for index in 0..STEP / 2 {
                let offset = index.wrapping_mul(2);
                let bytes = block.get(offset..).and_then(|rest| rest.first_chunk::<4>());
                let gram = bytes.map_or(0, |bytes| u32::from_le_bytes(*bytes)) | SET;
                if has(gram) {
                    self.look(hay, at.wrapping_add(offset), windows);
                }
            }
            at = at.wrapping_add(STEP);
        }
        at
    }

    fn sweep(&self, hay: &[u8], windows: &mut Windows) {
        // One size for the compiler, so that the masked index needs no check.
        let tables = (self.wide.first_chunk::<WIDE_TABLE>(), self.table.first_chunk::<TABLE>());
        let mut at = match (tables, self.fold) {
            ((Some(table), _), 0) => self.blocks::<0>(hay, windows, |gram| has_bit(table, gram)),
            ((Some(table), _), _) => self.blocks::<FOLD>(hay, windows, |gram| has_bit(table, gram)),
            ((None, Some(table)), 0) => self.blocks::<0>(hay, windows, |gram| has(table, gram)),
            ((None, Some(table)), _) => self.blocks::<FOLD>(hay, windows, |gram| has(table, gram)),
            ((None, None), _) => return,
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
        let Some(end) = hay.get(start..) else { return };
        for literal in &self.short {
            match self.anchors.texts.get(usize::from(*literal)) {
                Some(wanted) if wanted.is(end) => wanted.note(hay, start, windows),
                _ => {}
            }
        }
    }
}

/// Searches for patterns that no gram stands for.
pub(super) fn search_lone<'a>(
    lone: impl Iterator<Item = (&'a Pattern, u16)>,
    hay: &[u8],
    out: &mut Vec<RawMatch>,
) {
    let mut ascii = None;
    for (pattern, index) in lone {
        let literals = &pattern.shape.literals;
        if is_foreign(literals) && *ascii.get_or_insert_with(|| hay.is_ascii()) {
            continue;
        }
        match common_head(literals) {
            Some(head) => search_headed(pattern, index, head, hay, out),
            None if pattern.may_match(hay) => find_one(pattern, index, hay, out),
            None => {}
        }
    }
}

/// Gives what literals whose case counts all begin with, if that is long enough to be looked for.
fn common_head(literals: &[Literal]) -> Option<&[u8]> {
    let (first, rest) = literals.split_first()?;
    let shared = |head: &[u8], other: &[u8]| head.iter().zip(other).take_while(|(a, b)| a == b).count();
    let len = rest.iter().fold(first.bytes.len(), |len, other| len.min(shared(&first.bytes, &other.bytes)));
    let exact = literals.iter().all(|literal| literal.case == Case::Exact);
    first.bytes.get(..len).filter(|head| exact && head.len() >= HEAD_LEN)
}

/// Says whether each match that holds one of some literals holds a byte that is not ASCII.
fn is_foreign(literals: &[Literal]) -> bool {
    !literals.is_empty() && literals.iter().all(|literal| !literal.bytes.is_ascii())
}

impl Wanted {
    /// Notes that the text stands at a place.
    fn note(&self, hay: &[u8], start: usize, windows: &mut Windows) {
        for anchor in &self.anchors {
            windows.note(anchor.pattern, anchor.reach, hay, start, anchor.before);
        }
        if self.hint != 0 {
            windows.places.push(start, self.hint);
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
    let lone = filter.lone.iter().filter_map(|index| Some((patterns.get(usize::from(*index))?, *index)));
    search_lone(lone.filter(|(pattern, _)| pattern.langs & langs != 0), hay, out);
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
