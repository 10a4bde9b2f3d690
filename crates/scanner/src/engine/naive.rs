//! The naive engine: one search a pattern. It is the definition of a match.

use super::{Finder, Pattern, RawMatch};

pub(crate) struct Naive<'a> {
    patterns: &'a [Pattern],
}

impl<'a> Naive<'a> {
    pub(crate) const fn new(patterns: &'a [Pattern]) -> Self {
        Self { patterns }
    }
}

impl Finder for Naive<'_> {
    fn find(&self, hay: &[u8], out: &mut Vec<RawMatch>) {
        for (pattern, index) in self.patterns.iter().zip(0_u16..) {
            out.extend(pattern.regex().find_iter(hay).map(|found| RawMatch {
                pattern: index,
                start: found.start(),
                end: found.end(),
            }));
        }
    }
}
