//! Values that were found before a transform, to be found again behind it. Wiped when dropped.
#![expect(clippy::arithmetic_side_effects, reason = "sums of offsets into one slice stay below isize::MAX")]

use core::fmt;
use core::ops::Range;

use aho_corasick::{AhoCorasick, MatchKind};
use zeroize::{Zeroize as _, Zeroizing};

use crate::bytes::part;
use crate::found::{ChecksumCheck, Did, Via};
use crate::kind::rank;
use crate::rules::{Hit, Wide};

/// Shorter values are not looked for: they stand in ordinary text too often.
const SHORTEST: usize = 8;
/// A piece of this length of a longer value is enough.
const PIECE: usize = 16;
/// So many values, and so many bytes of one, are kept.
const MOST: usize = 256;
const LONGEST: usize = 8 * 1024;

/// The values that a first scan found.
///
/// # Guarantees
/// It is no `Clone`, its `Debug` gives a count, and the values are overwritten when it is dropped. At most 256
/// values are kept; [`Known::is_full`] tells when more were found.
#[derive(Default)]
pub struct Known {
    values: Vec<Zeroizing<Vec<u8>>>,
    /// The bytes that were cut out, as they stood there.
    raws: Vec<Zeroizing<Vec<u8>>>,
    search: Option<Box<Search>>,
    full: bool,
}

struct Search {
    automaton: AhoCorasick,
    /// For each pattern: what it stands for.
    patterns: Vec<Zeroizing<Vec<u8>>>,
    pieces: Vec<bool>,
}

impl Known {
    /// Starts with no value.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Tells how many values are kept.
    #[must_use]
    pub fn len(&self) -> usize {
        self.values.len()
    }

    /// Tells whether no value is kept.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// Tells whether values were left out because there were too many.
    #[must_use]
    pub const fn is_full(&self) -> bool {
        self.full
    }

    /// Keeps a value, once.
    pub(crate) fn add(&mut self, value: &[u8]) {
        let value = value.trim_ascii();
        if value.len() < SHORTEST || self.values.iter().any(|own| own.as_slice() == value) {
            return;
        }
        if self.values.len() >= MOST {
            self.full = true;
            return;
        }
        self.values.push(Zeroizing::new(part(value, 0..LONGEST).to_vec()));
        self.search = None;
    }

    /// Keeps bytes as they stood in the text: where they still stand so, nothing was laundered.
    pub(crate) fn add_raw(&mut self, raw: &[u8]) {
        if self.raws.len() < MOST && !self.is_raw(raw) {
            self.raws.push(Zeroizing::new(raw.to_vec()));
        }
        self.add(raw);
    }

    /// Tells whether bytes were cut out just so before.
    pub(crate) fn is_raw(&self, raw: &[u8]) -> bool {
        self.raws.iter().any(|own| own.as_slice() == raw)
    }

    /// Builds the search. Without it nothing is found.
    pub(crate) fn prepare(&mut self) {
        if self.search.is_some() || self.values.is_empty() {
            return;
        }
        let mut patterns: Vec<Zeroizing<Vec<u8>>> = Vec::new();
        let mut pieces = Vec::new();
        for value in &self.values {
            for spelled in crate::spell::spellings(value) {
                if spelled.len() >= SHORTEST {
                    patterns.push(spelled);
                    pieces.push(false);
                }
            }
            // Every window of a longer value: a transform may have cut it.
            if value.len() > PIECE {
                for window in value.windows(PIECE).take(1024).filter(|w| is_telling(w)) {
                    patterns.push(Zeroizing::new(window.to_vec()));
                    pieces.push(true);
                }
            }
        }
        let built = AhoCorasick::builder()
            .match_kind(MatchKind::Standard)
            .ascii_case_insensitive(true)
            .build(patterns.iter().map(|pattern| pattern.as_slice()));
        // It cannot fail below 2^31 bytes of patterns; if it did, nothing would be found, so the count says so.
        self.full |= built.is_err();
        self.search = built.ok().map(|automaton| Box::new(Search { automaton, patterns, pieces }));
    }

    /// Finds the values, in any spelling, that end in a range of a text.
    pub(crate) fn find(&self, text: &[u8], range: Range<usize>, hits: &mut Vec<Hit>) {
        let Some(search) = &self.search else { return };
        let from = range.start.saturating_sub(LONGEST);
        for found in search.automaton.find_overlapping_iter(part(text, from..range.end)) {
            let at = from + found.start()..from + found.end();
            let piece = search.pieces.get(found.pattern().as_usize()).copied().unwrap_or(false);
            let sized = search.patterns.get(found.pattern().as_usize()).is_some_and(|p| p.len() == at.len());
            debug_assert!(sized || piece, "a match is as long as its pattern");
            if at.end > range.start {
                let (sum, via) = (ChecksumCheck::None, Via::default());
                hits.push(Hit {
                    at,
                    rank: rank("known"),
                    sum,
                    via,
                    wide: Wide::Bytes,
                    did: Did::Cut,
                    known: true,
                });
            }
        }
    }
}

/// Tells whether a piece says more than a common prefix or a run of one byte.
fn is_telling(piece: &[u8]) -> bool {
    crate::proof::entropy(piece) >= 2.5
}

impl Drop for Known {
    fn drop(&mut self) {
        for value in &mut self.values {
            value.zeroize();
        }
    }
}

impl fmt::Debug for Known {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Known").field("values", &self.values.len()).finish_non_exhaustive()
    }
}
