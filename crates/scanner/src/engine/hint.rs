//! Where a match over the code view can only be: pieces of its literals that stand in the raw bytes as they are.
//!
//! A view drops and joins, but it makes no word out of two: the letters of one word stand side by side in the raw bytes too,
//! unless a disguise was undone there. So where a text has none of these pieces, no match over its view is missed by not building it.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use super::literal::Measure;
use super::{PatternSet, Places, few, stage2};
use crate::engine::Pattern;

/// A literal hints at a match over the code view, or at the module that starts programs.
pub(crate) const CODE: u8 = 2;
pub(crate) const STARTER: u8 = 4;

/// The shortest piece that the filter of grams takes.
const MIN: usize = 4;
/// The shortest name that is looked for on its own: few patterns hold none that is longer.
const SHORT: usize = 3;

/// The hints of all patterns over the code view of one language, found in one pass with the patterns over raw bytes.
#[derive(Debug)]
pub(crate) struct Hinted {
    /// What is looked for besides the patterns, with its bits.
    hints: Vec<(Vec<u8>, u8)>,
    filter: OnceLock<stage2::Filter>,
    spent: few::Spent,
    /// Views whose patterns all have hints.
    complete: u8,
    /// Names too short for the filter, of patterns over the code view that hold no longer one.
    pub(crate) short: Vec<Vec<u8>>,
    /// The longest match over the code view.
    pub(crate) reach: usize,
    /// The shortest match over a text without a blank in it, and over one without [`MARKS`](super::MARKS) besides.
    pub(crate) least: (usize, usize),
}

impl Hinted {
    /// Takes the patterns over raw bytes, and those over the views that are of the language: of those over text the ones that
    /// look at more than comments.
    pub(crate) fn new(text: &[&Pattern], code: &[&Pattern]) -> Self {
        let mut hints = vec![(b"child_process".to_vec(), STARTER)];
        let mut complete = 0;
        let pieces: Option<Vec<Vec<Vec<u8>>>> = code.iter().map(|pattern| pieces(pattern)).collect();
        let mut short = Vec::new();
        if let Some(pieces) = pieces {
            complete |= CODE;
            let (long, few): (Vec<_>, Vec<_>) =
                pieces.concat().into_iter().partition(|piece| piece.len() >= MIN);
            hints.extend(long.into_iter().map(|piece| (piece, CODE)));
            short = few;
        }
        let reach = code.iter().map(|pattern| pattern.shape.max).max().unwrap_or(0);
        let least = |is: &dyn Fn(&Pattern) -> bool| {
            let texts = text.iter().filter(|pattern| is(pattern)).map(|pattern| pattern.least);
            texts.min().unwrap_or(usize::MAX)
        };
        let least = (least(&|pattern| !pattern.blank), least(&|pattern| !pattern.blank && !pattern.marked));
        let mut each = BTreeMap::new();
        for (text, bits) in hints {
            *each.entry(text.to_ascii_lowercase()).or_insert(0) |= bits;
        }
        let hints = each.into_iter().collect();
        let (filter, spent) = (OnceLock::new(), few::Spent::default());
        Self { hints, filter, spent, complete, short, reach, least }
    }

    /// Finds the matches over raw bytes of the patterns that look at one of the languages, and the places of hints.
    pub(crate) fn find(
        &self,
        raw: &PatternSet,
        hay: &[u8],
        langs: u8,
        out: &mut Vec<super::RawMatch>,
    ) -> Places {
        let mut places = if self.is_small(raw, hay) {
            few::find(&raw.patterns, &self.hints, hay, langs, &self.spent, out)
        } else {
            stage2::find_with(&raw.patterns, self.filter(raw), hay, langs, out)
        };
        places.complete = self.complete;
        places
    }

    /// Says whether a text is to be searched without the filter.
    fn is_small(&self, raw: &PatternSet, hay: &[u8]) -> bool {
        self.filter.get().is_none() && self.spent.takes(&raw.patterns, hay)
    }

    fn filter(&self, raw: &PatternSet) -> &stage2::Filter {
        self.filter.get_or_init(|| stage2::Filter::with_hints(&raw.patterns, &self.hints))
    }

    /// Finds the places of hints alone.
    pub(crate) fn places(&self, raw: &PatternSet, hay: &[u8]) -> Places {
        let mut places = if self.is_small(raw, hay) {
            few::places(&self.hints, hay, &self.spent)
        } else {
            stage2::places(self.filter(raw), hay)
        };
        places.complete = self.complete;
        places
    }
}

fn is_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$')
}

/// What of a literal over the code view stands in the raw bytes as it is.
pub(crate) const CODE_RUN: Measure = Measure(is_name);

/// Gives one piece of each literal of a pattern; `None` where a literal has none that is long enough.
fn pieces(pattern: &Pattern) -> Option<Vec<Vec<u8>>> {
    if pattern.slow {
        return None;
    }
    let literals = pattern.shape.literals.iter();
    // What is not ASCII in a view comes from what is not ASCII below, and such text is viewed in any case.
    literals.filter(|literal| literal.bytes.is_ascii()).map(|literal| piece(&literal.bytes)).collect()
}

fn piece(literal: &[u8]) -> Option<Vec<u8>> {
    let run = CODE_RUN.run(literal);
    (run.len() >= SHORT).then(|| run.to_vec())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::entry::Lens;
    use crate::rules::Rules;

    #[test]
    fn every_pattern_over_the_code_of_js_has_hints() {
        // One pattern without, and that view of every file is built whole: right, but slow.
        let rules = Rules::builtin();
        let js = rules.code.patterns.iter().filter(|pattern| {
            rules.matcher(pattern.matcher).is_some_and(|known| known.langs & Lens::Js.bit() != 0)
        });
        let without = js.filter(|pattern| pieces(pattern).is_none());
        let shown: Vec<String> = without
            .map(|pattern| {
                let literals = pattern.shape.literals.iter().map(|literal| literal.bytes.as_slice());
                let short = literals.filter(|literal| piece(literal).is_none());
                let short: Vec<_> = short.map(String::from_utf8_lossy).collect();
                format!("{short:?} of {}", pattern.source)
            })
            .collect();
        assert!(shown.is_empty(), "{}", shown.join("\n"));
        assert!(
            rules.hinted().short.len() < 3,
            "each is looked for in every file: {:?}",
            rules.hinted().short
        );
    }

    #[test]
    fn a_literal_is_kept_by_two_grams_at_most() {
        // Each start builds the filter: a gram for each byte that may follow a short literal costs what all else does.
        let rules = Rules::builtin();
        let (literals, places, slots) = rules.hinted().filter(&rules.bytes).size();
        assert!(
            literals > 100 && places <= 2 * literals && slots <= 16 * literals,
            "{literals} {places} {slots}"
        );
    }

    #[test]
    fn hints_of_small_texts_stand_where_the_filter_sees_them() {
        let rules = Rules::builtin();
        let hinted = rules.hinted();
        let text = "const { execSync } = require('child_process');\nEVAL(x); rejectUnauthorized: false, AllowWrites\n";
        for start in 0..text.len() {
            let hay = text.get(start..).unwrap_or_default().as_bytes();
            let (small, swept) = (
                few::places(&hinted.hints, hay, &hinted.spent),
                stage2::places(hinted.filter(&rules.bytes), hay),
            );
            for bit in [CODE, STARTER] {
                assert_eq!(small.sorted(bit), swept.sorted(bit), "{bit} from {start}");
            }
            assert!(start > 0 || !small.sorted(CODE).is_empty() && small.sorted(STARTER).len() == 1);
        }
    }

    #[test]
    fn most_strings_are_too_short_for_a_pattern_over_text() {
        let least = Rules::builtin().hinted().least;
        assert!(least.0 >= 5 && least.1 >= 8, "{least:?}");
    }
}
