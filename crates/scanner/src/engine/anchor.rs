//! The literals of a set of patterns.

use std::collections::BTreeMap;

use super::Pattern;

/// One literal of one pattern.
#[derive(Debug, Clone, Copy)]
pub(super) struct Anchor {
    pub(super) pattern: u16,
    pub(super) max: usize,
    pub(super) before: (usize, usize),
}

/// The literals of a set of patterns, each text once, with what wants it.
#[derive(Debug, Default)]
pub(super) struct Anchors {
    pub(super) texts: Vec<Vec<u8>>,
    pub(super) wanted: Vec<Vec<Anchor>>,
    /// What a text hints at besides.
    pub(super) hints: Vec<u8>,
}

impl Anchors {
    /// Takes the literals of patterns, and texts that no pattern needs: their places are a hint.
    pub(super) fn new(patterns: &[Pattern], hints: &[(Vec<u8>, u8)]) -> Self {
        let mut anchors = Self::default();
        let mut known: BTreeMap<&[u8], usize> = BTreeMap::new();
        for (pattern, index) in patterns.iter().zip(0_u16..) {
            if pattern.slow {
                continue;
            }
            for literal in &pattern.shape.literals {
                let anchor = Anchor { pattern: index, max: pattern.shape.max, before: literal.before };
                let place = *known.entry(&literal.bytes).or_insert_with(|| anchors.push(&literal.bytes));
                if let Some(wanted) = anchors.wanted.get_mut(place) {
                    wanted.push(anchor);
                }
            }
        }
        for (text, bits) in hints {
            let place = *known.entry(text).or_insert_with(|| anchors.push(text));
            if let Some(hint) = anchors.hints.get_mut(place) {
                *hint |= bits;
            }
        }
        anchors
    }

    fn push(&mut self, text: &[u8]) -> usize {
        self.texts.push(text.to_vec());
        self.wanted.push(Vec::new());
        self.hints.push(0);
        self.texts.len().saturating_sub(1)
    }
}
