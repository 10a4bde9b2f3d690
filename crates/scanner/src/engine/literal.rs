//! Literals that every match of a regex must hold, derived from its shape.

use core::cmp::Reverse;

use memchr::memmem::Finder;
use regex_syntax::hir::{Class, Hir, HirKind};

use super::{Lines, MIN_LITERAL, rarity};

/// One required literal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Literal {
    /// In lower case where case does not count.
    pub(crate) bytes: Vec<u8>,
    pub(crate) case: Case,
    /// Where this is not empty, it holds each byte that may stand behind the literal. Kept for the shortest ones alone.
    pub(crate) next: Vec<u8>,
    /// The least and most bytes of the match before it.
    pub(crate) before: (usize, usize),
}

/// Whether the case of ASCII letters counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Case {
    /// It counts.
    Exact,
    /// It does not.
    Folded,
}

impl Case {
    /// Says whether a text is a literal, which is in lower case where case does not count.
    #[inline]
    pub(crate) fn same(self, text: &[u8], literal: &[u8]) -> bool {
        match self {
            Self::Exact => text == literal,
            Self::Folded => text.eq_ignore_ascii_case(literal),
        }
    }
}

/// What the shape of a regex says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Shape {
    /// The longest match.
    pub(crate) max: usize,
    /// Literals of which each match holds at least one; empty where none can be required.
    pub(crate) literals: Vec<Literal>,
}

const MAX_STRINGS: usize = 160;
const MAX_LENGTH: usize = 32;
const MAX_CLASS: usize = 8;
/// A run shorter than this is made longer by what may follow it.
const SHORT_RUN: usize = 5;
/// So many texts come of that at most.
const MAX_LONGER: usize = 32;

/// A text that a part of a regex can be; in lower case where case does not count.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Text {
    bytes: Vec<u8>,
    case: Case,
}

impl Text {
    const EMPTY: Self = Self { bytes: Vec::new(), case: Case::Exact };

    /// Gives the text with another behind it. One folded part folds the whole.
    fn and(&self, tail: &Self) -> Self {
        Self { bytes: [self.bytes.as_slice(), &tail.bytes].concat(), case: self.case.max(tail.case) }
    }
}

#[derive(Debug, Clone)]
struct Info {
    min: usize,
    max: Option<usize>,
    /// All texts that it can be, if they are few.
    exact: Option<Vec<Text>>,
    /// Sets of literals of each of which it holds one, the best first.
    sets: Vec<Vec<Literal>>,
}

/// An alternation keeps so many sets.
const MAX_SETS: usize = 4;

/// How much of a literal counts: all of it, or the longest run of bytes that stand side by side below a view too.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Measure(pub(crate) fn(u8) -> bool);

impl Measure {
    /// All of a literal counts.
    pub(crate) const WHOLE: Self = Self(|_any| true);

    /// Gives the run of a literal that counts.
    pub(crate) fn run(self, text: &[u8]) -> &[u8] {
        text.split(|byte| !(self.0)(*byte)).max_by_key(|run| run.len()).unwrap_or_default()
    }

    /// Sets without a run that is too short are better; then rarer ones; then longer shortest runs, up to 8 bytes; then longer
    /// literals; then fewer of them.
    fn score(self, literals: &[Literal]) -> impl Ord + use<> {
        let shortest = |len: &dyn Fn(&Literal) -> usize| literals.iter().map(len).min().unwrap_or(0).min(8);
        let run = shortest(&|literal| self.run(&literal.bytes).len());
        let share = literals.iter().map(|literal| rarity::share_of(self.sampled(literal)));
        let share = share.fold(0, u64::saturating_add);
        let length = shortest(&|literal| literal.bytes.len());
        (run.min(MIN_LITERAL), length.min(MIN_LITERAL), Reverse(share), run, length, Reverse(literals.len()))
    }

    /// Gives what of a literal counts and is sampled wherever it stands: of four bytes the last three.
    fn sampled(self, literal: &Literal) -> &[u8] {
        let run = self.run(&literal.bytes);
        if run.len() == 4 { run.get(1..).unwrap_or_default() } else { run }
    }

    fn better(self, a: Option<Vec<Literal>>, b: Option<Vec<Literal>>) -> Option<Vec<Literal>> {
        match (a, b) {
            (Some(a), Some(b)) => Some(if self.score(&b) > self.score(&a) { b } else { a }),
            (a, b) => a.or(b),
        }
    }
}

/// Derives what a regex requires; `None` where a match has no longest length.
pub(crate) fn derive(hir: &Hir, measure: Measure) -> Option<Shape> {
    let max = hir.properties().maximum_len()?;
    let literals = sets(hir, measure).into_iter().next().unwrap_or_default();
    Some(Shape { max, literals })
}

/// Gives sets of literals of each of which every match holds one, the best first.
pub(crate) fn sets(hir: &Hir, measure: Measure) -> Vec<Vec<Literal>> {
    let info = measure.analyze(hir);
    let whole = info.exact.as_deref().and_then(|texts| as_literals(texts, (0, 0), &[]));
    whole.into_iter().chain(info.sets).collect()
}

/// Says whether each match of a regex holds one of some bytes.
pub(crate) fn holds(hir: &Hir, bytes: &[u8]) -> bool {
    let inside = |sub: &Hir| holds(sub, bytes);
    match hir.kind() {
        HirKind::Literal(literal) => literal.0.iter().any(|byte| bytes.contains(byte)),
        HirKind::Repetition(repetition) => repetition.min > 0 && inside(&repetition.sub),
        HirKind::Capture(capture) => inside(&capture.sub),
        HirKind::Concat(parts) => parts.iter().any(inside),
        HirKind::Alternation(branches) => branches.iter().all(inside),
        HirKind::Empty | HirKind::Look(_) | HirKind::Class(_) => false,
    }
}

/// Says over how many lines a match of a regex goes.
pub(crate) fn lines(hir: &Hir) -> Lines {
    if is_inline(hir) { Lines::One } else { Lines::Many }
}

/// Says whether no match of a regex holds a line feed but as its first or its last byte.
fn is_inline(hir: &Hir) -> bool {
    match hir.kind() {
        HirKind::Capture(capture) => is_inline(&capture.sub),
        HirKind::Alternation(branches) => branches.iter().all(is_inline),
        HirKind::Literal(literal) => match &*literal.0 {
            [_, between @ .., _] => !between.contains(&b'\n'),
            _ => true,
        },
        HirKind::Concat(parts) => match parts.as_slice() {
            [first, between @ .., last] => {
                breaks_at_most(first, Edge::Start)
                    && !between.iter().any(breaks)
                    && breaks_at_most(last, Edge::End)
            }
            _ => false,
        },
        _ => !breaks(hir) || hir.properties().maximum_len() == Some(1),
    }
}

/// Where a line feed may stand.
#[derive(Debug, Clone, Copy)]
enum Edge {
    Start,
    End,
}

/// Says whether a part of a regex can hold a line feed.
fn breaks(hir: &Hir) -> bool {
    match hir.kind() {
        HirKind::Literal(literal) => literal.0.contains(&b'\n'),
        HirKind::Class(Class::Bytes(class)) => {
            class.ranges().iter().any(|range| range.start() <= b'\n' && b'\n' <= range.end())
        }
        HirKind::Class(Class::Unicode(class)) => {
            class.ranges().iter().any(|range| range.start() <= '\n' && '\n' <= range.end())
        }
        HirKind::Repetition(repetition) => breaks(&repetition.sub),
        HirKind::Capture(capture) => breaks(&capture.sub),
        HirKind::Concat(parts) | HirKind::Alternation(parts) => parts.iter().any(breaks),
        HirKind::Empty | HirKind::Look(_) => false,
    }
}

/// Says whether a line feed can be in a part of a regex at one edge alone.
fn breaks_at_most(hir: &Hir, edge: Edge) -> bool {
    if !breaks(hir) || hir.properties().maximum_len() == Some(1) {
        return true;
    }
    match hir.kind() {
        HirKind::Literal(literal) => {
            let inner = match edge {
                Edge::Start => literal.0.get(1..),
                Edge::End => literal.0.split_last().map(|(_, inner)| inner),
            };
            inner.is_some_and(|inner| !inner.contains(&b'\n'))
        }
        HirKind::Capture(capture) => breaks_at_most(&capture.sub, edge),
        HirKind::Alternation(branches) => branches.iter().all(|branch| breaks_at_most(branch, edge)),
        HirKind::Concat(parts) => {
            let outer = match edge {
                Edge::Start => parts.split_first(),
                Edge::End => parts.split_last(),
            };
            outer.is_some_and(|(outer, inner)| breaks_at_most(outer, edge) && !inner.iter().any(breaks))
        }
        HirKind::Repetition(repetition) => repetition.max == Some(1) && breaks_at_most(&repetition.sub, edge),
        HirKind::Class(_) | HirKind::Empty | HirKind::Look(_) => false,
    }
}

/// Says whether a literal stands in a text, in any case.
pub(crate) fn stands_in(literal: &[u8], hay: &[u8]) -> bool {
    literal.is_empty() || places(literal, Case::Folded, hay).next().is_some()
}

/// Gives each place of a literal in a text, of those that overlap too: its rarest byte is looked for.
pub(crate) fn places(literal: &[u8], case: Case, hay: &[u8]) -> impl Iterator<Item = usize> {
    let common = |byte: &u8| byte.is_ascii_alphabetic() || byte.is_ascii_whitespace();
    let rarest = literal.iter().enumerate().min_by_key(|(_, byte)| common(byte));
    rarest.into_iter().flat_map(move |(offset, &byte)| {
        let other = match case {
            Case::Exact => byte,
            Case::Folded if byte.is_ascii_lowercase() => byte.to_ascii_uppercase(),
            Case::Folded => byte.to_ascii_lowercase(),
        };
        memchr::memchr2_iter(byte, other, hay).filter_map(move |at| {
            let start = at.checked_sub(offset)?;
            let found = hay.get(start..start.saturating_add(literal.len()))?;
            case.same(found, literal).then_some(start)
        })
    })
}

/// Gives each place of a text that was prepared, of those that overlap too.
pub(crate) fn overlapping(finder: &Finder<'_>, hay: &[u8]) -> impl Iterator<Item = usize> {
    let mut from = 0_usize;
    core::iter::from_fn(move || {
        let at = finder.find(hay.get(from..)?)?.saturating_add(from);
        from = at.saturating_add(1);
        Some(at)
    })
}

/// Takes the texts of a run, and the parts of the regex behind it.
fn as_literals(texts: &[Text], before: (usize, usize), rest: &[Hir]) -> Option<Vec<Literal>> {
    if texts.is_empty() || texts.iter().any(|text| text.bytes.is_empty()) {
        return None;
    }
    let next = || first_bytes(rest).unwrap_or_default();
    let literal = |text: &Text| {
        let mut bytes = text.bytes.clone();
        if text.case == Case::Folded {
            bytes.make_ascii_lowercase();
        }
        let next = if bytes.len() < SHORT_RUN { next() } else { Vec::new() };
        Literal { bytes, case: text.case, next, before }
    };
    let mut literals: Vec<Literal> = texts.iter().map(literal).collect();
    literals.sort_by(|a, b| (&a.bytes, a.case).cmp(&(&b.bytes, b.case)));
    // Where a longer one stands, so does the one that it begins with.
    literals.dedup_by(|longer, kept| longer.case == kept.case && kept.begins(longer));
    Some(literals)
}

impl Literal {
    /// Says whether another begins with this one, and lets its next byte follow this one.
    fn begins(&mut self, longer: &Self) -> bool {
        let rest = longer.bytes.strip_prefix(self.bytes.as_slice());
        if let Some(&byte) = rest.and_then(|rest| rest.first())
            && !self.next.is_empty()
        {
            let other = if self.case == Case::Folded { byte.to_ascii_uppercase() } else { byte };
            self.next.extend([byte, other]);
            self.next.sort_unstable();
            self.next.dedup();
        }
        rest.is_some()
    }
}

impl Measure {
    fn analyze(self, hir: &Hir) -> Info {
        let properties = hir.properties();
        let min = properties.minimum_len().unwrap_or(0);
        let max = properties.maximum_len();
        let (exact, sets) = match hir.kind() {
            HirKind::Empty | HirKind::Look(_) => (Some(vec![Text::EMPTY]), Vec::new()),
            HirKind::Literal(literal) => {
                (Some(vec![Text { bytes: literal.0.to_vec(), case: Case::Exact }]), Vec::new())
            }
            HirKind::Class(class) => (class_texts(class), Vec::new()),
            HirKind::Capture(capture) => {
                let inner = self.analyze(&capture.sub);
                (inner.exact, inner.sets)
            }
            HirKind::Repetition(repetition) => {
                repeat(self.analyze(&repetition.sub), repetition.min, repetition.max)
            }
            HirKind::Concat(parts) => self.concat(parts),
            HirKind::Alternation(branches) => self.alternate(branches),
        };
        Info { min, max, exact, sets }
    }

    fn concat(self, parts: &[Hir]) -> Known {
        let mut sets = Vec::new();
        let mut at = (0_usize, 0_usize);
        let mut run = Run { texts: vec![Text::EMPTY], start: at };
        let mut all_exact = true;
        for (index, part) in parts.iter().enumerate() {
            let info = self.analyze(part);
            let next = after(at, &info);
            let joined = info.exact.as_ref().and_then(|texts| product(&run.texts, texts));
            if let Some(texts) = joined {
                run.texts = texts;
            } else {
                all_exact = false;
                let rest = parts.get(index..).unwrap_or_default();
                sets.extend(self.better(as_literals(&run.texts, run.start, rest), longer(&run, rest)));
                sets.extend(info.sets.iter().map(|set| shift(set, at)));
                let start = if info.exact.is_none() { next } else { at };
                run = Run { texts: info.exact.unwrap_or_else(|| vec![Text::EMPTY]), start };
            }
            at = next;
        }
        if all_exact {
            return (Some(run.texts), Vec::new());
        }
        sets.extend(as_literals(&run.texts, run.start, &[]));
        // Of equals the first stays first.
        sets.sort_by_key(|set| Reverse(self.score(set)));
        (None, sets)
    }

    fn alternate(self, branches: &[Hir]) -> Known {
        let infos: Vec<Info> = branches.iter().map(|branch| self.analyze(branch)).collect();
        let mut texts = Vec::new();
        let mut exact = true;
        for info in &infos {
            match &info.exact {
                Some(more) => texts.extend(more.iter().cloned()),
                None => exact = false,
            }
        }
        if exact && texts.len() <= MAX_STRINGS {
            return (Some(texts), Vec::new());
        }
        let whole = |info: &Info| info.exact.as_deref().and_then(|texts| as_literals(texts, (0, 0), &[]));
        let sets: Vec<Vec<Vec<Literal>>> =
            infos.into_iter().map(|info| whole(&info).into_iter().chain(info.sets).collect()).collect();
        let most = sets.iter().map(Vec::len).max().unwrap_or(0).min(MAX_SETS);
        // A branch with fewer sets than others gives its last one again. One without any leaves none.
        let joined = (0..most).map(|rank| -> Option<Vec<Vec<Literal>>> {
            sets.iter().map(|sets| sets.get(rank).or(sets.last()).cloned()).collect()
        });
        (None, joined.map_while(|each| each.map(|each| each.concat())).collect())
    }
}

/// Gives the bytes of a class; `None` where one of its characters is more than a byte.
fn class_bytes(class: &Class) -> Option<Vec<u8>> {
    match class {
        Class::Bytes(class) => {
            Some(class.ranges().iter().flat_map(|range| range.start()..=range.end()).collect())
        }
        Class::Unicode(class) => {
            let ascii = class.ranges().last().is_none_or(|range| range.end().is_ascii());
            let chars = class.ranges().iter().flat_map(|range| range.start()..=range.end());
            ascii.then(|| chars.map(u8::try_from).collect::<Result<_, _>>().ok())?
        }
    }
}

/// Gives the texts of a class of few bytes. `[Aa]` is one byte whose case does not count.
fn class_texts(class: &Class) -> Option<Vec<Text>> {
    let bytes = class_bytes(class).filter(|bytes| bytes.len() <= 2 * MAX_CLASS)?;
    let both = |byte: &u8| byte.is_ascii_lowercase() && bytes.contains(&byte.to_ascii_uppercase());
    let case = if bytes.iter().any(both) { Case::Folded } else { Case::Exact };
    let mut texts: Vec<Text> = Vec::new();
    for byte in &bytes {
        let byte = if case == Case::Folded { byte.to_ascii_lowercase() } else { *byte };
        let text =
            Text { bytes: vec![byte], case: if byte.is_ascii_lowercase() { case } else { Case::Exact } };
        if !texts.contains(&text) {
            texts.push(text);
        }
        if texts.len() > MAX_CLASS {
            return None;
        }
    }
    (!texts.is_empty()).then_some(texts)
}

type Known = (Option<Vec<Text>>, Vec<Vec<Literal>>);

fn repeat(inner: Info, min: u32, max: Option<u32>) -> Known {
    if min == 0 {
        let optional = (max == Some(1)).then_some(inner.exact).flatten().map(|mut texts| {
            texts.push(Text::EMPTY);
            texts
        });
        return (optional.filter(|texts| texts.len() <= MAX_STRINGS), Vec::new());
    }
    let Some(texts) = &inner.exact else { return (None, inner.sets) };
    let mut sum = vec![Text::EMPTY];
    let set = |sum: &[Text]| as_literals(sum, (0, 0), &[]).into_iter().collect();
    for _ in 0..min {
        match product(&sum, texts) {
            Some(next) => sum = next,
            None => return (None, set(&sum)),
        }
    }
    if max == Some(min) { (Some(sum), Vec::new()) } else { (None, set(&sum)) }
}

fn product(left: &[Text], right: &[Text]) -> Option<Vec<Text>> {
    if left.len().checked_mul(right.len())? > MAX_STRINGS {
        return None;
    }
    let mut all = Vec::new();
    for head in left {
        for tail in right {
            if head.bytes.len().checked_add(tail.bytes.len())? > MAX_LENGTH {
                return None;
            }
            all.push(head.and(tail));
        }
    }
    Some(all)
}

/// A run of parts whose texts are all known, and where it begins.
struct Run {
    texts: Vec<Text>,
    start: (usize, usize),
}

/// A short run with each byte that may follow it: five bytes fire less often than four.
fn longer(run: &Run, rest: &[Hir]) -> Option<Vec<Literal>> {
    let shortest = run.texts.iter().map(|text| text.bytes.len()).min()?;
    if shortest == 0 || shortest >= SHORT_RUN {
        return None;
    }
    let next = first_bytes(rest)?;
    let both = |byte: &u8| byte.is_ascii_lowercase() && next.contains(&byte.to_ascii_uppercase());
    let mut texts: Vec<Text> = Vec::new();
    for byte in &next {
        let folded = both(&byte.to_ascii_lowercase());
        let (byte, case) =
            if folded { (byte.to_ascii_lowercase(), Case::Folded) } else { (*byte, Case::Exact) };
        let text = Text { bytes: vec![byte], case };
        if !texts.contains(&text) {
            texts.push(text);
        }
    }
    if texts.len() > MAX_CLASS || texts.len().saturating_mul(run.texts.len()) > MAX_LONGER {
        return None;
    }
    as_literals(&product(&run.texts, &texts)?, run.start, &[])
}

/// Gives the bytes that a concatenation may begin with; `None` where it may be empty.
fn first_bytes(parts: &[Hir]) -> Option<Vec<u8>> {
    let mut all = Vec::new();
    for part in parts {
        let (bytes, empty) = match part.kind() {
            HirKind::Empty | HirKind::Look(_) => (Vec::new(), true),
            HirKind::Literal(literal) => (vec![*literal.0.first()?], false),
            HirKind::Class(class) => (class_bytes(class)?, false),
            HirKind::Capture(capture) => (first_bytes(core::slice::from_ref(&capture.sub))?, false),
            HirKind::Repetition(repetition) => {
                (first_bytes(core::slice::from_ref(&repetition.sub))?, repetition.min == 0)
            }
            HirKind::Concat(inner) => (first_bytes(inner)?, false),
            HirKind::Alternation(branches) => {
                let each = branches.iter().map(|branch| first_bytes(core::slice::from_ref(branch)));
                (each.collect::<Option<Vec<_>>>()?.concat(), false)
            }
        };
        all.extend(bytes);
        if !empty {
            all.sort_unstable();
            all.dedup();
            return Some(all);
        }
    }
    None
}

fn after(at: (usize, usize), info: &Info) -> (usize, usize) {
    (at.0.saturating_add(info.min), at.1.saturating_add(info.max.unwrap_or(usize::MAX)))
}

fn shift(literals: &[Literal], by: (usize, usize)) -> Vec<Literal> {
    literals
        .iter()
        .map(|literal| Literal {
            before: (literal.before.0.saturating_add(by.0), literal.before.1.saturating_add(by.1)),
            ..literal.clone()
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn literals(source: &str) -> Vec<(String, Case, String)> {
        let hir = crate::engine::syntax::parse_with(source, &crate::engine::syntax_config()).unwrap();
        let shape = derive(&hir, Measure::WHOLE).unwrap();
        let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
        shape.literals.iter().map(|known| (text(&known.bytes), known.case, text(&known.next))).collect()
    }

    fn one(text: &str, case: Case, next: &str) -> (String, Case, String) {
        (text.to_owned(), case, next.to_owned())
    }

    #[test]
    fn case_counts_where_the_regex_says_so() {
        assert_eq!(literals("setTimeout"), [one("setTimeout", Case::Exact, "")]);
        assert_eq!(literals("(?i)setTimeout"), [one("settimeout", Case::Folded, "")]);
        assert_eq!(literals("(?i:GET)_Name"), [one("get_name", Case::Folded, "")]);
        assert_eq!(
            literals("[Nn]amed[12]"),
            [one("named1", Case::Folded, ""), one("named2", Case::Folded, "")]
        );
    }

    #[test]
    fn a_short_literal_knows_what_must_follow() {
        let letters: String = ('A'..='Z').collect();
        assert_eq!(literals(r"\bAKIA[A-Z]{16}\b"), [one("AKIA", Case::Exact, &letters)]);
        let both = [letters.as_str(), &letters.to_ascii_lowercase()].concat();
        assert_eq!(literals("(?i)akia[a-z]{16}"), [one("akia", Case::Folded, &both)]);
        // What may be left out is followed by what is behind it, and by anything at the end.
        assert_eq!(
            literals("AKIA[A-Z]{0,9}[0-9]{9}"),
            [one("AKIA", Case::Exact, &["0123456789", &letters].concat())]
        );
        assert_eq!(literals("AKIA[A-Z]{0,9}"), [one("AKIA", Case::Exact, "")]);
        assert_eq!(literals(r"AKIA(?:\b|[A-Z]{9})"), [one("AKIA", Case::Exact, "")]);
        // A longer one adds nothing but what may follow.
        assert_eq!(literals("(?:pass|passed)[0-9]{1,3}[^q]"), [one("pass", Case::Exact, "0123456789e")]);
        assert_eq!(literals("(?i)(?:auth|author)[0-9]{1,3}"), [one("auth", Case::Folded, "0123456789Oo")]);
    }

    #[test]
    fn a_regex_is_inline_where_line_feeds_stand_at_its_edges_alone() {
        let inline = |source: &str| {
            is_inline(&crate::engine::syntax::parse_with(source, &crate::engine::syntax_config()).unwrap())
        };
        for source in [
            "eval",
            "[^.!?\\n]{0,9} now",
            r"(?:^|[.!?\n] ?)ignore .{0,40}rules",
            r"(?:\n|\n\x20)act(?: now| here\n)",
            r"\beval\b",
            r"(?:\neval|run[^a])",
            r"\s?eval\s?",
        ] {
            assert!(inline(source), "{source}");
        }
        for source in [
            "[^.!?]{0,9} now",
            r"eval\s?\(",
            r"a\nb",
            r"(?:a|b\nc)d",
            r"(?:\n\n|a)b",
            r"a(?:b|\n\n)",
            r"\s{0,2}eval",
            r"a(?s:.){3}b",
            r"(?:x?\n)eval",
        ] {
            assert!(!inline(source), "{source}");
        }
    }
}
