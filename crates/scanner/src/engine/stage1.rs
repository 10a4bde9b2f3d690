//! Stage 1: the literals of all patterns in one pass by Aho-Corasick, then each pattern in its windows.

use aho_corasick::{AhoCorasick, AhoCorasickKind, MatchKind};

use super::anchor::Anchors;
use super::naive::find_one;
use super::windows::Windows;
use super::{Finder, Pattern, RawMatch};

pub(crate) struct Stage1<'a> {
    patterns: &'a [Pattern],
    table: &'a Table,
}

/// The automaton of a set of patterns.
#[derive(Debug)]
pub(crate) struct Table {
    automaton: Option<AhoCorasick>,
    anchors: Anchors,
}

impl Table {
    /// Builds the automaton. A set without literals has none.
    #[expect(
        clippy::expect_used,
        reason = "a table less would be a miss; `scan` turns a panic into scan/internal"
    )]
    pub(super) fn new(patterns: &[Pattern]) -> Self {
        let anchors = Anchors::new(patterns, &[]);
        let automaton = (!anchors.texts.is_empty()).then(|| {
            AhoCorasick::builder()
                .ascii_case_insensitive(true)
                .match_kind(MatchKind::Standard)
                .kind(Some(AhoCorasickKind::DFA))
                .build(anchors.texts.iter().map(|wanted| &wanted.bytes))
                .expect("the loader bounds the number and the length of literals")
        });
        Self { automaton, anchors }
    }
}

impl<'a> Stage1<'a> {
    pub(crate) const fn new(patterns: &'a [Pattern], table: &'a Table) -> Self {
        Self { patterns, table }
    }
}

impl Finder for Stage1<'_> {
    fn find(&self, hay: &[u8], langs: u8, out: &mut Vec<RawMatch>) {
        let mut windows = Windows::new(self.patterns);
        if let Some(automaton) = &self.table.automaton {
            for found in automaton.find_overlapping_iter(hay) {
                let wanted = self.table.anchors.texts.get(found.pattern().as_usize());
                for anchor in wanted.into_iter().flat_map(|wanted| &wanted.anchors) {
                    windows.note(anchor.pattern, anchor.reach, hay, found.start(), anchor.before);
                }
            }
        }
        windows.verify(self.patterns, hay, langs, out);
        for (pattern, index) in self
            .patterns
            .iter()
            .zip(0_u16..)
            .filter(|(pattern, _)| pattern.slow && pattern.langs & langs != 0)
        {
            find_one(pattern, index, hay, out);
        }
    }
}
