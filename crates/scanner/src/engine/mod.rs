//! Regex patterns over a haystack.
//!
//! The matches of one pattern are leftmost-first and do not overlap; matches of different patterns can overlap. Each match
//! contains literals that are derived from its pattern ([`literal`]). One automaton finds the literals of all patterns
//! ([`filter`]), and a pattern is compiled and run only near its literals ([`lazy`]).
#![expect(
    clippy::expect_used,
    reason = "a missing rule would be a miss; `scan` turns a panic into scan/internal"
)]

mod filter;
mod lazy;
mod literal;
#[cfg(test)]
mod tests;

use std::sync::OnceLock;

use regex_automata::meta::Regex;
use regex_automata::util::syntax;
use regex_syntax::hir::Hir;

use crate::scan::error::RuleErrorKind;
use filter::Filter;
use lazy::Lazy;

/// One match of one pattern of a set.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct RawMatch {
    pub(crate) pattern: u16,
    pub(crate) start: usize,
    pub(crate) end: usize,
}

/// The longest match of a pattern.
pub(crate) const MAX_MATCH: usize = 4096;
/// The longest pattern.
const MAX_PATTERN: usize = 4096;
/// The largest automaton of one pattern.
const MAX_AUTOMATON: usize = 1 << 20;
/// The shortest literal of a pattern without `slow`. Shorter ones are too frequent to filter by.
const MIN_LITERAL: usize = 4;
/// The most bytes for the states of one lazy automaton.
const MAX_STATES: usize = 64 << 10;

fn syntax_config() -> syntax::Config {
    syntax::Config::new().utf8(false).unicode(false).multi_line(true)
}

fn parse(source: &str) -> Result<Hir, RuleErrorKind> {
    syntax::parse_with(source, &syntax_config()).map_err(|error| RuleErrorKind::Parse(error.to_string()))
}

/// Compiles a regex within the size limits of rule files.
fn compile(source: &str) -> Result<Regex, RuleErrorKind> {
    if source.len() > MAX_PATTERN {
        return Err(RuleErrorKind::TooLarge(format!("a pattern of {} bytes", source.len())));
    }
    let config = Regex::config()
        .utf8_empty(false)
        .nfa_size_limit(Some(MAX_AUTOMATON))
        .hybrid_cache_capacity(MAX_STATES);
    Regex::builder().syntax(syntax_config()).configure(config).build(source).map_err(|error| {
        let text = format!("{source:?}: {error}");
        if error.size_limit().is_some() { RuleErrorKind::TooLarge(text) } else { RuleErrorKind::Parse(text) }
    })
}

/// Whether a regex was already checked against the limits of rule files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Compiled {
    /// A built-in regex: this crate's tests check each one.
    ByTests,
    /// A user's regex: the loader checks it.
    ByLoader,
}

/// A regex for short texts: arguments and values. It is compiled when first used.
#[derive(Debug)]
pub(crate) struct ShortRegex {
    source: String,
    regex: OnceLock<Regex>,
}

impl ShortRegex {
    /// Checks a regex against the limits of rule files, unless a test does.
    pub(crate) fn new(source: String, compiled: Compiled) -> Result<Self, RuleErrorKind> {
        if compiled == Compiled::ByLoader {
            compile(&source)?;
        }
        Ok(Self::built_in(source))
    }

    /// Wraps a regex of this crate.
    pub(crate) const fn built_in(source: String) -> Self {
        Self { source, regex: OnceLock::new() }
    }

    /// Returns the compiled regex.
    pub(crate) fn get(&self) -> &Regex {
        self.regex.get_or_init(|| compile(&self.source).expect("the loader or a test compiled this pattern"))
    }
}

/// One pattern and its matcher. Its regex is compiled at the first candidate.
#[derive(Debug)]
pub(crate) struct Pattern {
    pub(crate) matcher: u16,
    /// The languages to which it applies.
    langs: u8,
    source: String,
    lazy: OnceLock<Lazy>,
}

/// Whether a pattern needs a literal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Speed {
    /// Every match contains a literal.
    Fast,
    /// It may be searched for everywhere.
    Slow,
}

impl Pattern {
    pub(crate) fn new(matcher: u16, langs: u8, source: String) -> Self {
        Self { matcher, langs, source, lazy: OnceLock::new() }
    }

    /// Checks the pattern against the limits of rule files.
    pub(crate) fn check(&self, speed: Speed) -> Result<(), RuleErrorKind> {
        let source = &*self.source;
        compile(source)?;
        let hir = parse(source)?;
        if hir.properties().maximum_len().is_none_or(|most| most > MAX_MATCH) {
            return Err(RuleErrorKind::Unbounded(source.to_owned()));
        }
        if hir.properties().minimum_len().is_none_or(|least| least == 0) {
            return Err(RuleErrorKind::Parse(format!("the pattern {source:?} matches the empty text")));
        }
        let sets = literal::required(&hir);
        if speed == Speed::Fast && sets.first().is_none_or(|set| set.shortest() < MIN_LITERAL) {
            return Err(RuleErrorKind::NoLiteral(source.to_owned()));
        }
        Lazy::new(source).map(drop).map_err(|error| RuleErrorKind::Parse(format!("{source:?}: {error}")))
    }

    /// Returns the compiled regex.
    fn lazy(&self) -> &Lazy {
        self.lazy.get_or_init(|| Lazy::new(&self.source).expect("the loader or a test compiled this pattern"))
    }
}

/// Patterns over one kind of haystack.
#[derive(Debug, Default)]
pub(crate) struct PatternSet {
    pub(crate) patterns: Vec<Pattern>,
    filter: OnceLock<Filter>,
}

impl PatternSet {
    /// Adds all matches of the patterns for one of the languages, in no order.
    pub(crate) fn find(&self, hay: &[u8], langs: u8, out: &mut Vec<RawMatch>) {
        if !self.patterns.is_empty() && !hay.is_empty() {
            let filter = self.filter.get_or_init(|| Filter::new(&self.patterns));
            filter.find(&self.patterns, hay, langs, out);
        }
    }
}

/// The pattern engine alone, for benchmarks and fuzzing.
#[cfg(feature = "_engine")]
#[derive(Debug)]
pub struct Engine(PatternSet);

#[cfg(feature = "_engine")]
impl Engine {
    /// Creates an engine without checking the patterns against the limits of rule files.
    #[must_use]
    pub fn new(sources: &[&str]) -> Self {
        let pattern = |source: &&str| Pattern::new(0, u8::MAX, (*source).to_owned());
        Self(PatternSet { patterns: sources.iter().map(pattern).collect(), ..PatternSet::default() })
    }

    /// Returns the sorted matches as pattern, start and end.
    #[must_use]
    pub fn find(&self, hay: &[u8]) -> Vec<(u16, usize, usize)> {
        let mut out = Vec::new();
        self.0.find(hay, u8::MAX, &mut out);
        out.sort_unstable();
        out.into_iter().map(|found| (found.pattern, found.start, found.end)).collect()
    }
}
