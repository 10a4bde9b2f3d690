//! The engines side by side, for tests and benches. No part of the API.

use super::naive::Naive;
use super::stage1::{Stage1, Table};
use super::{Compiled, Derived, Finder as _, Measure, Pattern, PatternSet, RawMatch, Speed};

/// Which engine runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "for this crate's own tests and benches")]
pub enum Engine {
    /// One search a pattern.
    Naive,
    /// Aho-Corasick over the literals.
    Stage1,
    /// The filter of 4-byte grams.
    Stage2,
}

/// A set of patterns that each engine can run.
#[derive(Debug, Default)]
pub struct Oracle {
    set: PatternSet,
}

impl Oracle {
    /// Takes patterns; those without a literal are searched for on their own.
    ///
    /// # Errors
    /// The text of the pattern's fault.
    pub fn new(sources: &[&str]) -> Result<Self, String> {
        let mut set = PatternSet::default();
        for source in sources {
            let derived = Derived::new(source, Speed::Slow, Measure::WHOLE, Compiled::ByLoader);
            let derived = derived.map_err(|kind| kind.to_string())?;
            set.patterns.push(Pattern::new(0, u8::MAX, (*source).to_owned().into(), derived));
        }
        Ok(Self { set })
    }

    /// Gives the sorted matches as (pattern, start, end).
    #[must_use]
    pub fn find(&self, engine: Engine, hay: &[u8]) -> Vec<(u16, usize, usize)> {
        let mut out: Vec<RawMatch> = Vec::new();
        let patterns = &self.set.patterns;
        match engine {
            Engine::Naive => Naive::new(patterns).find(hay, u8::MAX, &mut out),
            Engine::Stage1 => {
                let table = self.set.table.get_or_init(|| Table::new(patterns));
                Stage1::new(patterns, table).find(hay, u8::MAX, &mut out);
            }
            Engine::Stage2 => self.set.find(hay, u8::MAX, &mut out),
        }
        out.sort_unstable();
        out.into_iter().map(|found| (found.pattern, found.start, found.end)).collect()
    }

    /// Counts the matches without sorting them.
    #[must_use]
    pub fn count(&self, engine: Engine, hay: &[u8]) -> usize {
        let mut out: Vec<RawMatch> = Vec::new();
        let patterns = &self.set.patterns;
        match engine {
            Engine::Naive => Naive::new(patterns).find(hay, u8::MAX, &mut out),
            Engine::Stage1 => {
                let table = self.set.table.get_or_init(|| Table::new(patterns));
                Stage1::new(patterns, table).find(hay, u8::MAX, &mut out);
            }
            Engine::Stage2 => self.set.find(hay, u8::MAX, &mut out),
        }
        out.len()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const PATTERNS: &[&str] = &[
        r"\beval\s{0,3}\(",
        r"child_process",
        r"(?i)system\(f'\{",
        r"AKIA[A-Z0-9]{4}",
        r"x{0,6}abcd[a-z]{1,3}",
        r"(?:foot|footer|ball)s?",
        r"[a-c]{2,5}needle[^\n]{0,9}end",
        r"q\d",
        r"^line four$",
        r"token(?:=|: )[a-f0-9]{3,8}\b",
        r"aaaa",
        // Long gaps: the parts between them are searched first.
        r"\bfoot[^\n]{0,20}needle\b",
        r"(?:eval|ball) [^.\n]{1,40}\b(?:abcd|end)[a-z]{0,16}(?:x|aaaa)",
        r"child_pro[^q]{0,12}(?:^|[a-z ])end$",
    ];

    fn piece() -> impl Strategy<Value = Vec<u8>> {
        let known = prop::sample::select(vec![
            "eval",
            "eval (",
            "EVAL(",
            "child_process",
            "child_proces",
            "os.System(f'{",
            "AKIA",
            "AKIA1234",
            "abcd",
            "xxabcde",
            "foot",
            "footers",
            "ball",
            "bcneedle",
            "needle",
            "end",
            "q7",
            "line four",
            "\n",
            "token=",
            "token: abc",
            "aaaa",
            "aaa",
            "é",
            "あ",
            " ",
            "\u{202e}",
            "x",
        ]);
        prop_oneof![
            6 => known.prop_map(|text| text.as_bytes().to_vec()),
            1 => prop::collection::vec(any::<u8>(), 0..4),
        ]
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(1500))]
        #[test]
        fn three_engines_give_the_same_matches(pieces in prop::collection::vec(piece(), 0..40)) {
            static SET: std::sync::OnceLock<Oracle> = std::sync::OnceLock::new();
            let oracle = SET.get_or_init(|| Oracle::new(PATTERNS).unwrap());
            let hay = pieces.concat();
            let naive = oracle.find(Engine::Naive, &hay);
            prop_assert_eq!(&naive, &oracle.find(Engine::Stage1, &hay));
            prop_assert_eq!(&naive, &oracle.find(Engine::Stage2, &hay));
        }
    }

    #[test]
    fn the_engines_agree_at_every_offset_and_at_the_end() {
        let oracle = Oracle::new(PATTERNS).unwrap();
        for text in
            ["aaaa", "child_process", "eval(", "footers", "q1", "needle", "foot needle", "eval q abcdx"]
        {
            for pad in 0..40 {
                let hay = [" ".repeat(pad).as_bytes(), text.as_bytes()].concat();
                let naive = oracle.find(Engine::Naive, &hay);
                assert_eq!(naive, oracle.find(Engine::Stage1, &hay), "{text} at {pad}");
                assert_eq!(naive, oracle.find(Engine::Stage2, &hay), "{text} at {pad}");
            }
        }
    }
}
