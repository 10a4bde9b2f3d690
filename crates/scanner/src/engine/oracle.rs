//! The engines side by side, for tests and benches. No part of the API.

use super::naive::Naive;
use super::stage1::{Stage1, Table};
use super::stage2::Stage2;
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
            Engine::Stage2 => Stage2::new(patterns, self.set.filter()).find(hay, u8::MAX, &mut out),
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
            Engine::Stage2 => Stage2::new(patterns, self.set.filter()).find(hay, u8::MAX, &mut out),
        }
        out.len()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::few;
    use super::super::stage2::Filter;
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
        // What else a match holds is looked for around its rarest literal.
        r"\b(?:read|reading)[^\n]{0,30}\b(?:secrets|api[ _-]?keys?)\b[^\n]{0,20}(?:into|https?://)[a-z]",
        r"(?i)\bset [^\n]{0,12}\bnpm\b[^\n]{0,12}(?:to|=) ?https?://",
        // One literal that is too short for the filter, with and without more to look for.
        r"\b[a-z]{1,9}://[a-z.]{1,20}:[a-z]{1,9}@",
        r"\bSG\.[a-z]{2}\b",
        // Literals that overlap themselves.
        r"[a-z]?::[a-z]{1,3}:",
        r"aa[b-z]{1,2}aa[^q]{0,3}(?:,,)[a-z]",
        // A literal that another begins with.
        r"(?:pass|passed)[=:]{1,3}[^q]",
        r"(?i)(?:auth|author)\d{1,3}[^q]",
        // Long gaps.
        r"\bfoot[^\n]{0,20}needle\b",
        r"(?:eval|ball) [^.\n]{1,40}\b(?:abcd|end)[a-z]{0,16}(?:x|aaaa)",
        r"child_pro[^q]{0,12}(?:^|[a-z ])end$",
        // Four bytes with and without what must follow, in one case and in any; the same letters in another case.
        r"ASIA[A-Z2-7]{2}",
        r"(?i)asia(?:\.net|\b)",
        r"(?i)\bpypi\b[a-z ]?",
        r"Function(?:s|\()",
        r"(?i)function\b",
        // No byte of it is ASCII, and it is searched for on its own.
        r"(?-u:\xE2\x80[\xAA-\xAE])",
    ];

    /// So few grams that they are looked up as bytes, not as bits.
    const FEW: &[&str] =
        &[r"\bneedle\d", r"child_process", r"(?i)eval\(f", r"q\d", r"Function(?:s|\()", r"footers?"];

    /// A set of patterns, and its filter with every gram folded, which only many of them bring about.
    struct Tested {
        oracle: Oracle,
        folded: Filter,
    }

    impl Tested {
        fn new(patterns: &[&str]) -> Self {
            let oracle = Oracle::new(patterns).unwrap();
            let folded = Filter::spelled(&oracle.set.patterns, &[], 0);
            Self { oracle, folded }
        }

        fn folded(&self, hay: &[u8]) -> Vec<(u16, usize, usize)> {
            let mut out = Vec::new();
            Stage2::new(&self.oracle.set.patterns, &self.folded).find(hay, u8::MAX, &mut out);
            out.sort_unstable();
            out.into_iter().map(|found| (found.pattern, found.start, found.end)).collect()
        }

        fn few(&self, hay: &[u8]) -> Vec<(u16, usize, usize)> {
            let mut out = Vec::new();
            few::find(&self.oracle.set.patterns, &[], hay, u8::MAX, &few::Spent::default(), &mut out);
            out.sort_unstable();
            out.into_iter().map(|found| (found.pattern, found.start, found.end)).collect()
        }

        fn assert_agreed(&self, hay: &[u8]) {
            let naive = self.oracle.find(Engine::Naive, hay);
            assert_eq!(naive, self.oracle.find(Engine::Stage1, hay), "stage 1: {}", hay.escape_ascii());
            assert_eq!(naive, self.oracle.find(Engine::Stage2, hay), "stage 2: {}", hay.escape_ascii());
            assert_eq!(naive, self.folded(hay), "stage 2, folded: {}", hay.escape_ascii());
            assert_eq!(naive, self.few(hay), "without a filter: {}", hay.escape_ascii());
        }
    }

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
            "ASIA",
            "ASIAQ2",
            "asia",
            "Asia.NET",
            "PyPI",
            "pypi ",
            "Function",
            "function",
            "functions",
            "FUNCTION(",
            "eval(F",
            "needle7",
            "read",
            " reading ",
            "secrets ",
            "api_key ",
            "into",
            "http://h",
            "SET ",
            " npm ",
            "to",
            "://",
            "ftp",
            ":",
            "@",
            "SG.ab",
            "pass=",
            "passed:",
            "AUTH7",
            "author",
            ",,",
            ",",
        ]);
        prop_oneof![
            6 => known.prop_map(|text| text.as_bytes().to_vec()),
            1 => prop::collection::vec(any::<u8>(), 0..4),
        ]
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2500))]
        #[test]
        fn three_engines_give_the_same_matches(pieces in prop::collection::vec(piece(), 0..40)) {
            static SETS: std::sync::OnceLock<[Tested; 2]> = std::sync::OnceLock::new();
            let sets = SETS.get_or_init(|| [PATTERNS, FEW].map(Tested::new));
            let hay = pieces.concat();
            for set in sets {
                set.assert_agreed(&hay);
            }
        }
    }

    #[test]
    fn the_engines_agree_at_every_offset_and_at_the_end() {
        for set in [PATTERNS, FEW].map(Tested::new) {
            for text in [
                "aaaa",
                "child_process",
                "eval(",
                "eval(F",
                "footers",
                "q1",
                "needle",
                "needle7",
                "foot needle",
                "eval q abcdx",
                "ASIAQ2",
                "asia",
                "Asia.Net",
                "PYPI",
                "Functions",
                "FUNCTION",
                "\u{202e}",
                "aaaaaaaa",
                "evalevaleval(eval(f",
                "reading api-keys intox",
                "set npm=http://",
                "ftp://a:b@",
                "SG.ab",
                "pass=a",
                "passed:a",
                "Author7 ",
            ] {
                // Past two steps of the filter, so that each text lies across their border once.
                for pad in 0..72_usize {
                    let front = " ".repeat(pad);
                    set.assert_agreed(&[front.as_bytes(), text.as_bytes()].concat());
                    set.assert_agreed(
                        &[front.as_bytes(), text.as_bytes(), b"  ", text.as_bytes(), b" "].concat(),
                    );
                    for cut in 0..text.len().min(8) {
                        let cut = text.as_bytes().get(..cut).unwrap_or_default();
                        set.assert_agreed(&[front.as_bytes(), text.as_bytes(), cut].concat());
                    }
                }
            }
        }
    }

    #[test]
    fn both_kinds_of_table_are_tested() {
        let few = |set: &[&str]| Filter::new(&Oracle::new(set).unwrap().set.patterns).is_narrow();
        assert!(few(FEW) && !few(PATTERNS), "a set of each kind is needed above");
    }
}
