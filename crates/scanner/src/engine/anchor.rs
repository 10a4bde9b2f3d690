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
                let known = anchors.texts.iter().position(|text| *text == literal.bytes);
                if let Some(wanted) = known.and_then(|known| anchors.wanted.get_mut(known)) {
                    wanted.push(anchor);
                } else {
                    anchors.texts.push(literal.bytes.clone());
                    anchors.wanted.push(vec![anchor]);
                }
            }
        }
        anchors
    }
}
