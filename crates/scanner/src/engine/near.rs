//! What else stands in a match: further sets of literals, of each of which every match holds one.
//!
//! One set is looked for in all of a text. Where one of it stands, the others are looked for in the window around it, and each
//! that stands there says where the match may begin. What is left is no place at most windows, and a few bytes at the others; so
//! few patterns are compiled for a text, and their regexes run over little of it.

use memchr::memmem::Finder;

use super::literal::{Case, Literal, overlapping};
use super::rarity;

/// So many further sets are looked for, the rarest first.
const SETS: usize = 3;
/// The shortest literal of a further set of several.
const SHORTEST: usize = 3;
const FOLD: u32 = 0x0020_2020;
const BITS: u32 = 12;
const WORDS: usize = 1 << (BITS - 5);
/// Where matches may start, in rising order.
pub(super) type Starts = Vec<Range>;

/// Bytes at which matches may start.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Range {
    pub(super) first: usize,
    pub(super) last: usize,
    /// No match that starts here goes over it.
    pub(super) end: usize,
}

impl Range {
    /// Says whether what starts here may take a byte of what starts there, but for a line feed between both.
    #[inline]
    pub(super) const fn overlaps(&self, first: usize) -> bool {
        first.saturating_add(1) < self.end
    }
}

/// Three bytes of a literal, and where they stand in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Gram {
    bytes: u32,
    literal: u16,
    offset: u8,
}

/// How the literals of a set are found.
#[derive(Debug)]
enum Look {
    /// The only one of the set.
    One(Box<Finder<'static>>),
    /// By a bit for the hash of a gram of each, in what is set in the bytes of the text before.
    Grams { fold: u32, table: Box<[u32; WORDS]>, grams: Vec<Gram> },
}

/// A set of literals of which each match holds at least one.
#[derive(Debug)]
pub(super) struct Near {
    literals: Vec<Literal>,
    look: Look,
    /// The least and most bytes of a match before a literal of the set.
    before: (usize, usize),
    /// The farthest end of what is looked for behind the start of its literal.
    reach: usize,
}

/// Gives the word of a gram in the table, and its bit there.
#[inline]
const fn place(gram: u32) -> (usize, u32) {
    let hash = gram.wrapping_mul(0x9E37_79B1) >> (32 - BITS);
    ((hash >> 5) as usize & (WORDS - 1), hash & 31)
}

/// Gives the least and most bytes of a match before a literal of a set.
fn before(literals: &[Literal]) -> (usize, usize) {
    let least = literals.iter().map(|literal| literal.before.0).min().unwrap_or(0);
    (least, literals.iter().map(|literal| literal.before.1).max().unwrap_or(0))
}

/// Says whether a set can be looked for, and is sooner missing than not where no match is.
fn tells(literals: &[Literal]) -> bool {
    let one = matches!(literals, [Literal { case: Case::Exact, .. }]);
    let short = literals.iter().any(|literal| literal.bytes.len() < SHORTEST);
    let before = before(literals);
    let places = before.1.saturating_sub(before.0).saturating_add(1) as u64;
    (one || !short) && rarity::share(literals).saturating_mul(places) < 1 << rarity::RARE
}

/// Chooses further sets out of those that each match holds, leaving out the one that is looked for everywhere.
pub(super) fn choose(mut sets: Vec<Vec<Literal>>, first: &[Literal]) -> Vec<Near> {
    sets.retain(|set| set != first && !set.is_empty() && tells(set));
    sets.sort_by_key(|set| rarity::share(set));
    sets.into_iter().take(SETS).map(Near::new).collect()
}

impl Look {
    /// Takes the literals of a set; gives also the farthest end of a gram.
    fn new(literals: &[Literal]) -> (Self, usize) {
        if let [Literal { bytes, case: Case::Exact, .. }] = literals {
            return (Self::One(Box::new(Finder::new(bytes).into_owned())), bytes.len());
        }
        let folded = literals.iter().any(|literal| literal.case == Case::Folded);
        let fold = if folded { FOLD } else { 0 };
        let (mut table, mut grams, mut reach) = (Box::new([0; WORDS]), Vec::new(), 0);
        for (literal, index) in literals.iter().zip(0_u16..) {
            let gram = |offset: usize| literal.bytes.get(offset..).and_then(|rest| rest.first_chunk::<3>());
            let bits = |offset: &usize| gram(*offset).map_or(0, |gram| rarity::bits(gram));
            let offset = (0..=literal.bytes.len().saturating_sub(3)).max_by_key(bits).unwrap_or(0);
            let Some(&[a, b, c]) = gram(offset) else { continue };
            let gram = u32::from_le_bytes([a, b, c, 0]) | fold;
            let (word, bit) = place(gram);
            if let Some(word) = table.get_mut(word) {
                *word |= 1 << bit;
            }
            reach = offset.saturating_add(3).max(reach);
            grams.push(Gram { bytes: gram, literal: index, offset: u8::try_from(offset).unwrap_or(u8::MAX) });
        }
        grams.sort_unstable();
        (Self::Grams { fold, table, grams }, reach)
    }
}

impl Near {
    fn new(literals: Vec<Literal>) -> Self {
        let (look, reach) = Look::new(&literals);
        Self { look, before: before(&literals), reach, literals }
    }

    /// Leaves of the places where matches may start those around which a literal of the set stands.
    ///
    /// # Guarantees
    /// The starts are in rising order before and after. Each byte of the text is read once at most, unless the starts are so far
    /// apart that what is read for one does not touch what is read for the next.
    pub(super) fn narrow(&self, hay: &[u8], starts: &mut Starts) {
        let spread = self.before.1.saturating_sub(self.before.0).saturating_add(self.reach);
        merge(starts, spread);
        let mut left = Starts::new();
        for &range in starts.iter() {
            let Range { first, last, end } = range;
            let from = first.saturating_add(self.before.0);
            let end = last.saturating_add(self.before.1).saturating_add(self.reach).min(end);
            let text = hay.get(from..end).unwrap_or_default();
            match &self.look {
                Look::One(finder) => {
                    for at in overlapping(finder, text) {
                        self.stands(hay, 0, from.saturating_add(at), range, &mut left);
                    }
                }
                Look::Grams { fold, table, grams } => each(text, *fold, table, |gram, end| {
                    let at = from.saturating_add(end);
                    let known = grams.partition_point(|known| known.bytes < gram);
                    let same = grams.get(known..).unwrap_or_default().iter();
                    for known in same.take_while(|known| known.bytes == gram) {
                        let start = at.checked_sub(usize::from(known.offset));
                        if let Some(start) = start {
                            self.stands(hay, usize::from(known.literal), start, range, &mut left);
                        }
                    }
                }),
            }
        }
        left.sort_unstable();
        merge(&mut left, 1);
        *starts = left;
    }

    /// Notes where a match may start if a literal stands at a place.
    fn stands(&self, hay: &[u8], literal: usize, at: usize, among: Range, left: &mut Starts) {
        let Some(literal) = self.literals.get(literal) else { return };
        let found = hay.get(at..at.saturating_add(literal.bytes.len()));
        if !found.is_some_and(|found| literal.case.same(found, &literal.bytes)) {
            return;
        }
        let Some(last) = at.checked_sub(literal.before.0) else { return };
        let first = at.saturating_sub(literal.before.1).max(among.first);
        let last = last.min(among.last);
        if first > last {
            return;
        }
        match left.last_mut() {
            Some(before) if first >= before.first && first <= before.last.saturating_add(1) => {
                before.last = before.last.max(last);
                before.end = before.end.max(among.end);
            }
            _ => left.push(Range { first, last, end: among.end }),
        }
    }
}

/// Calls with each gram of a text that may be wanted, and where it stands.
#[inline]
fn each(text: &[u8], fold: u32, table: &[u32; WORDS], mut look: impl FnMut(u32, usize)) {
    let Some((&[a, b], tail)) = text.split_first_chunk::<2>() else { return };
    let mut gram = u32::from_le_bytes([0, a, b, 0]);
    for (&byte, at) in tail.iter().zip(0_usize..) {
        gram = gram >> 8 | u32::from(byte) << 16;
        let folded = gram | fold;
        let (word, bit) = place(folded);
        if table.get(word).is_some_and(|word| word >> bit & 1 != 0) {
            look(folded, at);
        }
    }
}

/// Makes one of ranges in rising order that are no farther than a gap apart, and not in lines apart.
pub(super) fn merge(starts: &mut Starts, gap: usize) {
    starts.dedup_by(|next, range| {
        let touches = next.first <= range.last.saturating_add(gap) && range.overlaps(next.first);
        if touches {
            range.last = range.last.max(next.last);
            range.end = range.end.max(next.end);
        }
        touches
    });
}
