//! The naive engine: one search a pattern. It is the definition of a match.

use super::{Pattern, RawMatch};

/// Gives the matches of one pattern.
pub(super) fn find_one(pattern: &Pattern, index: u16, hay: &[u8], out: &mut Vec<RawMatch>) {
    let matches = pattern.regex().find_iter(hay);
    out.extend(matches.map(|found| RawMatch { pattern: index, start: found.start(), end: found.end() }));
}

#[cfg(any(test, feature = "_oracle"))]
pub(crate) struct Naive<'a> {
    patterns: &'a [Pattern],
}

#[cfg(any(test, feature = "_oracle"))]
impl<'a> Naive<'a> {
    pub(crate) const fn new(patterns: &'a [Pattern]) -> Self {
        Self { patterns }
    }
}

#[cfg(any(test, feature = "_oracle"))]
impl super::Finder for Naive<'_> {
    fn find(&self, hay: &[u8], langs: u8, out: &mut Vec<RawMatch>) {
        for (pattern, index) in
            self.patterns.iter().zip(0_u16..).filter(|(pattern, _)| pattern.langs & langs != 0)
        {
            find_one(pattern, index, hay, out);
        }
    }
}
