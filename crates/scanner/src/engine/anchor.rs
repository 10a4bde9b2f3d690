//! The literals of a set of patterns.

use std::collections::BTreeMap;

use super::Pattern;
use super::literal::Case;
use super::windows::Reach;

/// One literal of one pattern.
#[derive(Debug, Clone, Copy)]
pub(super) struct Anchor {
    pub(super) pattern: u16,
    pub(super) reach: Reach,
    pub(super) before: (usize, usize),
}

/// One text that is looked for.
#[derive(Debug)]
pub(super) struct Wanted {
    /// In lower case where case does not count.
    pub(super) bytes: Vec<u8>,
    pub(super) case: Case,
    /// Where this is not empty, it holds each byte that may stand behind the text.
    pub(super) next: Vec<u8>,
    /// What wants it.
    pub(super) anchors: Vec<Anchor>,
    /// What it hints at besides.
    pub(super) hint: u8,
}

/// The literals of a set of patterns, each text once, with what wants it.
#[derive(Debug, Default)]
pub(super) struct Anchors {
    pub(super) texts: Vec<Wanted>,
}

impl Anchors {
    /// Takes the literals of patterns, and texts that no pattern needs: their places are a hint, whatever their case.
    pub(super) fn new(patterns: &[Pattern], hints: &[(Vec<u8>, u8)]) -> Self {
        let mut anchors = Self::default();
        let mut known: BTreeMap<(Vec<u8>, Case), usize> = BTreeMap::new();
        for (pattern, index) in patterns.iter().zip(0_u16..) {
            if pattern.slow {
                continue;
            }
            for literal in &pattern.shape.literals {
                let anchor = Anchor { pattern: index, reach: Reach::of(pattern), before: literal.before };
                let key = (literal.bytes.clone(), literal.case);
                let place = *known.entry(key).or_insert_with_key(|key| anchors.push(key, &literal.next));
                if let Some(wanted) = anchors.texts.get_mut(place) {
                    wanted.anchors.push(anchor);
                    wanted.also(&literal.next);
                }
            }
        }
        for (text, bits) in hints {
            let key = (text.to_ascii_lowercase(), Case::Folded);
            let place = *known.entry(key).or_insert_with_key(|key| anchors.push(key, &[]));
            if let Some(wanted) = anchors.texts.get_mut(place) {
                wanted.hint |= bits;
                wanted.also(&[]);
            }
        }
        anchors
    }

    fn push(&mut self, (bytes, case): &(Vec<u8>, Case), next: &[u8]) -> usize {
        let (bytes, next) = (bytes.clone(), next.to_vec());
        self.texts.push(Wanted { bytes, case: *case, next, anchors: Vec::new(), hint: 0 });
        self.texts.len().saturating_sub(1)
    }
}

impl Wanted {
    /// Adds what may stand behind the text where something else wants it.
    fn also(&mut self, next: &[u8]) {
        if next.is_empty() {
            self.next.clear();
        }
        if !self.next.is_empty() {
            self.next.extend(next);
            self.next.sort_unstable();
            self.next.dedup();
        }
    }

    /// Says whether a text is this one.
    #[inline]
    pub(super) fn is(&self, text: &[u8]) -> bool {
        self.case.same(text, &self.bytes)
    }
}
