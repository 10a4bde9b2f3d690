//! Small texts: which four bytes stand in them is noted, and each literal asked whether its own are among them.
//!
//! A filter of all literals costs more to build than a few small texts to search this way. So the first small texts of a process
//! build none: a scan of one file never waits for it.

use core::sync::atomic::{AtomicUsize, Ordering};

use super::literal::{self, Case};
use super::stage2::search_lone;
use super::windows::{Reach, Windows};
use super::{Pattern, Places, RawMatch};

/// The longest text that is small.
const SMALL: usize = 64 << 10;
/// What small texts may cost in all until a filter is worth its building: bytes of text and steps of patterns.
const LIMIT: usize = 1 << 19;
/// What a pattern costs a text.
const PATTERN: usize = 16;
/// So many bytes of text cost one where a literal is looked for among them.
const LOOKED: usize = 2;
const FOLD: u32 = 0x2020_2020;
const BITS: u32 = 16;
const WORDS: usize = 1 << (BITS - 5);

/// What small texts have cost so far.
#[derive(Debug, Default)]
pub(super) struct Spent(AtomicUsize);

impl Spent {
    /// Says whether a text is to be searched without a filter, and counts what that costs.
    pub(super) fn takes(&self, patterns: &[Pattern], hay: &[u8]) -> bool {
        let cost = hay.len().saturating_add(patterns.len().saturating_mul(PATTERN));
        hay.len() <= SMALL && self.0.fetch_add(cost, Ordering::Relaxed) < LIMIT
    }

    /// Counts a search for so many literals: a text that holds most grams is searched for most of them.
    fn looked(&self, hay: &[u8], literals: usize) {
        let cost = (hay.len() / LOOKED).saturating_mul(literals);
        self.0.fetch_add(cost, Ordering::Relaxed);
    }
}

/// Bits for the hashes of all four bytes that stand side by side in a text, whatever their case.
struct Grams(Box<[u32; WORDS]>);

/// Gives the word of four bytes, and their bit there.
#[inline]
const fn place(gram: u32) -> (usize, u32) {
    let hash = (gram | FOLD).wrapping_mul(0x9E37_79B1) >> (32 - BITS);
    ((hash >> 5) as usize & (WORDS - 1), hash & 31)
}

impl Grams {
    fn of(hay: &[u8]) -> Self {
        let mut bits = Box::new([0; WORDS]);
        let mut rest = hay;
        while let Some(gram) = rest.first_chunk::<4>() {
            let (word, bit) = place(u32::from_le_bytes(*gram));
            if let Some(word) = bits.get_mut(word) {
                *word |= 1 << bit;
            }
            rest = rest.get(1..).unwrap_or_default();
        }
        Self(bits)
    }

    #[inline]
    fn has(&self, gram: Option<&[u8; 4]>) -> bool {
        gram.is_none_or(|gram| {
            let (word, bit) = place(u32::from_le_bytes(*gram));
            self.0.get(word).is_some_and(|word| word >> bit & 1 != 0)
        })
    }

    /// Says whether a literal may stand in the text.
    #[inline]
    fn may_hold(&self, literal: &[u8]) -> bool {
        self.has(literal.first_chunk()) && self.has(literal.last_chunk())
    }
}

/// Finds all matches of the patterns that look at one of the languages, and the places of hints.
pub(super) fn find(
    patterns: &[Pattern],
    hints: &[(Vec<u8>, u8)],
    hay: &[u8],
    langs: u8,
    spent: &Spent,
    out: &mut Vec<RawMatch>,
) -> Places {
    let grams = Grams::of(hay);
    let mut windows = Windows::new(patterns);
    let mut literals = 0_usize;
    for (pattern, index) in patterns.iter().zip(0_u16..) {
        if pattern.slow || pattern.langs & langs == 0 {
            continue;
        }
        for literal in pattern.shape.literals.iter().filter(|literal| grams.may_hold(&literal.bytes)) {
            literals = literals.saturating_add(1);
            for at in literal::places(&literal.bytes, literal.case, hay) {
                windows.note(index, Reach::of(pattern), hay, at, literal.before);
            }
        }
    }
    windows.verify(patterns, hay, langs, out);
    let lone = patterns.iter().zip(0_u16..).filter(|(pattern, _)| pattern.slow && pattern.langs & langs != 0);
    search_lone(lone, hay, out);
    spent.looked(hay, literals);
    hinted(&grams, hints, hay, spent)
}

/// Finds the places of hints alone.
pub(super) fn places(hints: &[(Vec<u8>, u8)], hay: &[u8], spent: &Spent) -> Places {
    hinted(&Grams::of(hay), hints, hay, spent)
}

fn hinted(grams: &Grams, hints: &[(Vec<u8>, u8)], hay: &[u8], spent: &Spent) -> Places {
    let mut found = Places::default();
    let mut literals = 0_usize;
    for (text, bits) in hints.iter().filter(|(text, _)| grams.may_hold(text)) {
        literals = literals.saturating_add(1);
        for at in literal::places(text, Case::Folded, hay) {
            found.push(at, *bits);
        }
    }
    spent.looked(hay, literals);
    found
}
