//! The literals of a set of patterns.

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
    pub(super) fn new(patterns: &[Pattern]) -> Self {
        let mut anchors = Self::default();
        for (pattern, index) in patterns.iter().zip(0_u16..) {
            if pattern.slow {
                continue;
            }
            for literal in &pattern.shape.literals {
                let anchor = Anchor { pattern: index, max: pattern.shape.max, before: literal.before };
                let known = anchors.place(&literal.bytes);
                if let Some(wanted) = anchors.wanted.get_mut(known) {
                    wanted.push(anchor);
                }
            }
        }
        anchors
    }

    /// Adds a text that no pattern needs: its places are a hint.
    pub(super) fn hint(&mut self, text: &[u8], bits: u8) {
        let known = self.place(text);
        if let Some(hint) = self.hints.get_mut(known) {
            *hint |= bits;
        }
    }

    fn place(&mut self, text: &[u8]) -> usize {
        if let Some(known) = self.texts.iter().position(|known| known == text) {
            return known;
        }
        self.texts.push(text.to_vec());
        self.wanted.push(Vec::new());
        self.hints.push(0);
        self.texts.len().saturating_sub(1)
    }
}
