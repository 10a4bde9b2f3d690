//! Regex rules over a haystack. Three engines give the same matches; the naive one says what a match is.
//!
//! For each pattern alone: leftmost-first, non-overlapping matches over the whole haystack, with what stands around a
//! match seen by look-around. Different patterns overlap freely.

mod anchor;
mod few;
pub(crate) mod hint;
mod lazy;
mod literal;
mod naive;
mod near;
#[cfg(any(test, feature = "_oracle"))]
pub(crate) mod oracle;
mod rarity;
#[cfg(any(test, feature = "_oracle"))]
mod stage1;
mod stage2;
mod windows;

use core::ops::RangeInclusive;
use std::borrow::Cow;
use std::sync::OnceLock;

use regex_automata::meta::{self, Regex};
use regex_automata::util::syntax;

pub(crate) use literal::{Case, Literal, Measure, Shape, derive};

use crate::error::RuleErrorKind;
use lazy::Lazy;
use near::Near;

/// One match of one pattern of a set.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct RawMatch {
    pub(crate) pattern: u16,
    pub(crate) start: usize,
    pub(crate) end: usize,
}

/// Where hints of views stand in a text.
#[derive(Debug, Default)]
pub(crate) struct Places {
    /// Places with the bits of what they hint at. Almost in rising order: see [`Places::sorted`].
    all: Vec<(u32, u8)>,
    /// The views whose matches all have hints.
    complete: u8,
}

impl Places {
    fn push(&mut self, at: usize, bits: u8) {
        self.all.push((u32::try_from(at).unwrap_or(u32::MAX), bits));
    }

    /// Gives the places of one hint in rising order; `None` where some match over that view has no hint.
    pub(crate) fn of(&self, bit: u8) -> Option<Vec<u32>> {
        (self.complete & bit != 0).then(|| self.sorted(bit))
    }

    /// Gives the places of one hint in rising order.
    pub(crate) fn sorted(&self, bit: u8) -> Vec<u32> {
        let mut places: Vec<u32> =
            self.all.iter().filter(|(_, bits)| bits & bit != 0).map(|(at, _)| *at).collect();
        places.sort_unstable();
        places
    }
}

/// Finds all matches of those patterns of a set that look at one of the languages.
pub(crate) trait Finder: Send + Sync {
    fn find(&self, hay: &[u8], langs: u8, out: &mut Vec<RawMatch>);
}

/// Bytes that few short texts hold, and the shortest patterns over text do.
pub(crate) const MARKS: &[u8] = b"<[";

/// The longest match that a pattern may have.
const MAX_MATCH: usize = 1024;
/// The longest pattern.
const MAX_PATTERN: usize = 4096;
/// The largest automaton of one pattern.
const MAX_AUTOMATON: usize = 1 << 20;
/// The shortest literal that a pattern without `slow` needs.
const MIN_LITERAL: usize = 4;

/// One pattern, its matcher and what its shape requires. The regex is compiled when it is first needed.
#[derive(Debug)]
pub(crate) struct Pattern {
    pub(crate) matcher: u16,
    /// Languages that it looks at: its regex is neither compiled nor run for others.
    pub(crate) langs: u8,
    pub(crate) source: Cow<'static, str>,
    pub(crate) shape: Shape,
    pub(crate) slow: bool,
    /// Each match has so many bytes.
    pub(crate) least: usize,
    /// Each match holds a blank; one of [`MARKS`].
    pub(crate) blank: bool,
    pub(crate) marked: bool,
    pub(crate) lines: Lines,
    regex: OnceLock<Regex>,
    lazy: OnceLock<Lazy>,
    near: OnceLock<Vec<Near>>,
}

/// Over how many lines a match goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Lines {
    /// One: a line feed is its first or its last byte, or none.
    One,
    Many,
}

/// What the text of a pattern says of its matches: derived where a rule file is loaded, and kept beside the built-in rules.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Derived {
    pub(crate) shape: Shape,
    pub(crate) slow: bool,
    pub(crate) least: usize,
    pub(crate) blank: bool,
    pub(crate) marked: bool,
    pub(crate) lines: Lines,
}

fn syntax_config() -> syntax::Config {
    syntax::Config::new().utf8(false).unicode(false).multi_line(true)
}

/// Bytes that the states of one lazy automaton may take.
const MAX_STATES: usize = 64 << 10;

fn regex_config() -> meta::Config {
    Regex::config().utf8_empty(false).nfa_size_limit(Some(MAX_AUTOMATON)).hybrid_cache_capacity(MAX_STATES)
}

fn compile(source: &str) -> Result<Regex, RuleErrorKind> {
    Regex::builder().syntax(syntax_config()).configure(regex_config()).build(source).map_err(|error| {
        let text = format!("{source:?}: {error}");
        if error.size_limit().is_some() { RuleErrorKind::TooLarge(text) } else { RuleErrorKind::Parse(text) }
    })
}

/// A regex that is asked of short texts alone: arguments, values. It is compiled when it is first asked.
#[derive(Debug)]
pub(crate) struct ShortRegex {
    source: Cow<'static, str>,
    regex: OnceLock<Regex>,
}

/// Checks that a regex is no longer than a rule file may have it.
fn bounded(source: &str) -> Result<(), RuleErrorKind> {
    if source.len() > MAX_PATTERN {
        return Err(RuleErrorKind::TooLarge(format!("a pattern of {} bytes", source.len())));
    }
    Ok(())
}

/// Checks that a regex compiles, where no test of this crate did.
fn checked(source: &str, compiled: Compiled) -> Result<(), RuleErrorKind> {
    match compiled {
        Compiled::ByTests => Ok(()),
        Compiled::ByLoader => {
            compile(source)?;
            Lazy::new(source).map(drop).map_err(|error| RuleErrorKind::Parse(format!("{source:?}: {error}")))
        }
    }
}

impl ShortRegex {
    /// Checks a regex against the limits of rule files.
    pub(crate) fn new(source: Cow<'static, str>, compiled: Compiled) -> Result<Self, RuleErrorKind> {
        bounded(&source)?;
        checked(&source, compiled)?;
        Ok(Self { source, regex: OnceLock::new() })
    }

    /// Gives the compiled regex.
    #[expect(
        clippy::expect_used,
        reason = "a rule less would be a miss; `scan` turns a panic into scan/internal"
    )]
    pub(crate) fn get(&self) -> &Regex {
        self.regex.get_or_init(|| compile(&self.source).expect("the loader or a test compiled this pattern"))
    }
}

/// What a test asks: the pattern, where it was compiled.
#[cfg(test)]
impl ShortRegex {
    pub(crate) fn compiled(&self) -> Option<&str> {
        self.regex.get().map(|_| &*self.source)
    }
}

#[cfg(test)]
impl Pattern {
    pub(crate) fn compiled(&self) -> Option<&str> {
        (self.regex.get().is_some() || self.lazy.get().is_some()).then_some(&*self.source)
    }
}

impl Derived {
    /// Checks a pattern against the limits of rule files, and says what each of its matches has.
    pub(crate) fn new(
        source: &str,
        speed: Speed,
        measure: Measure,
        compiled: Compiled,
    ) -> Result<Self, RuleErrorKind> {
        bounded(source)?;
        let hir = syntax::parse_with(source, &syntax_config())
            .map_err(|error| RuleErrorKind::Parse(error.to_string()))?;
        let unbounded = || RuleErrorKind::Unbounded(source.to_owned());
        let shape = derive(&hir, measure).filter(|shape| shape.max <= MAX_MATCH).ok_or_else(unbounded)?;
        if hir.properties().minimum_len().is_none_or(|least| least == 0) {
            return Err(RuleErrorKind::Parse(format!("the pattern {source:?} matches the empty text")));
        }
        let short = shape.literals.is_empty()
            || shape.literals.iter().any(|literal| literal.bytes.len() < MIN_LITERAL);
        if short && speed == Speed::Fast {
            return Err(RuleErrorKind::NoLiteral(source.to_owned()));
        }
        checked(source, compiled)?;
        let (blank, marked) = (literal::holds(&hir, b" "), literal::holds(&hir, MARKS));
        // A match may end with the line feed behind a piece.
        let least = hir.properties().minimum_len().unwrap_or(0).saturating_sub(1);
        let breaks = shape.literals.iter().any(|known| known.bytes.contains(&b'\n'));
        let lines = if breaks { Lines::Many } else { literal::lines(&hir) };
        Ok(Self { shape, slow: short, least, blank, marked, lines })
    }
}

impl Pattern {
    /// Puts a pattern together; its regex is not compiled yet.
    pub(crate) fn new(matcher: u16, langs: u8, source: Cow<'static, str>, derived: Derived) -> Self {
        let Derived { shape, slow, least, blank, marked, lines } = derived;
        let (regex, lazy, near) = (OnceLock::new(), OnceLock::new(), OnceLock::new());
        Self { matcher, langs, source, shape, slow, least, blank, marked, lines, regex, lazy, near }
    }

    /// Gives the compiled regex.
    #[expect(
        clippy::expect_used,
        reason = "a rule less would be a miss; `scan` turns a panic into scan/internal"
    )]
    pub(crate) fn regex(&self) -> &Regex {
        self.regex.get_or_init(|| compile(&self.source).expect("the loader or a test compiled this pattern"))
    }

    /// Finds the first match that starts between two places, ends included, and ends before a third one; the haystack around is
    /// its context.
    #[expect(
        clippy::expect_used,
        reason = "a rule less would be a miss; `scan` turns a panic into scan/internal"
    )]
    fn find_at(&self, hay: &[u8], starts: RangeInclusive<usize>, end: usize) -> Option<(usize, usize)> {
        let build = || Lazy::new(&self.source).expect("the loader or a test compiled this pattern");
        let found = self.lazy.get_or_init(build).find(&self.source, hay, starts, end);
        found.expect("no byte ends a search, and states that are dropped are made again")
    }

    /// Says whether a text may hold a match, for a pattern that is searched for on its own. Its regex is not compiled for a text
    /// without its literals; once it is, its own search is sooner done.
    pub(crate) fn may_match(&self, hay: &[u8]) -> bool {
        let literals = &self.shape.literals;
        self.regex.get().is_some()
            || literals.is_empty()
            || literals.iter().any(|literal| literal::stands_in(&literal.bytes, hay))
    }

    /// Gives further sets of literals of each of which every match holds one.
    fn near(&self) -> &[Near] {
        let build = || {
            let hir = syntax::parse_with(&self.source, &syntax_config()).ok()?;
            Some(near::choose(literal::sets(&hir, Measure::WHOLE), &self.shape.literals))
        };
        // What does not parse has none, and does not compile either.
        self.near.get_or_init(|| build().unwrap_or_default())
    }
}

/// Whether a pattern may do without a literal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Speed {
    /// Each match must hold a literal.
    Fast,
    /// It may be searched for on its own.
    Slow,
}

/// Whether it is known that a pattern compiles.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Compiled {
    /// A built-in pattern: this crate's tests compile each.
    ByTests,
    /// A pattern of the user's: the loader compiles it.
    ByLoader,
}

/// Patterns over one kind of haystack.
#[derive(Debug, Default)]
pub(crate) struct PatternSet {
    pub(crate) patterns: Vec<Pattern>,
    filter: OnceLock<stage2::Filter>,
    spent: few::Spent,
    #[cfg(any(test, feature = "_oracle"))]
    table: OnceLock<stage1::Table>,
}

impl PatternSet {
    /// Gives all matches of the patterns that look at one of the languages, in no order.
    pub(crate) fn find(&self, hay: &[u8], langs: u8, out: &mut Vec<RawMatch>) {
        if self.patterns.is_empty() {
            return;
        }
        if self.filter.get().is_none() && self.spent.takes(&self.patterns, hay) {
            few::find(&self.patterns, &[], hay, langs, &self.spent, out);
        } else {
            stage2::Stage2::new(&self.patterns, self.filter()).find(hay, langs, out);
        }
    }

    fn filter(&self) -> &stage2::Filter {
        self.filter.get_or_init(|| stage2::Filter::new(&self.patterns))
    }
}
