//! Literals that every match of a regex must hold, derived from its shape.

use regex_syntax::hir::{Class, Hir, HirKind};

/// One required literal, ASCII case folded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Literal {
    pub(crate) bytes: Vec<u8>,
    /// The least and most bytes of the match before it.
    pub(crate) before: (usize, usize),
}

/// What the shape of a regex says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Shape {
    /// The longest match.
    pub(crate) max: usize,
    /// Literals of which each match holds at least one; empty where none can be required.
    pub(crate) literals: Vec<Literal>,
}

const MAX_STRINGS: usize = 32;
const MAX_LENGTH: usize = 32;
const MAX_CLASS: usize = 8;
/// A run shorter than this is made longer by what may follow it.
const SHORT_RUN: usize = 5;

#[derive(Debug, Clone)]
struct Info {
    min: usize,
    max: Option<usize>,
    /// All texts that it can be, if they are few.
    exact: Option<Vec<Vec<u8>>>,
    best: Option<Vec<Literal>>,
}

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

    /// Longer shortest runs are better, up to 8 bytes; then longer literals; then fewer of them.
    fn score(self, literals: &[Literal]) -> (usize, usize, usize) {
        let shortest = |len: &dyn Fn(&Literal) -> usize| literals.iter().map(len).min().unwrap_or(0).min(8);
        let run = shortest(&|literal| self.run(&literal.bytes).len());
        (run, shortest(&|literal| literal.bytes.len()), usize::MAX.saturating_sub(literals.len()))
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
    let info = measure.analyze(hir);
    let max = info.max?;
    let whole = info.exact.as_deref().and_then(|texts| as_literals(texts, (0, 0)));
    let literals = measure.better(whole, info.best).unwrap_or_default();
    Some(Shape { max, literals })
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

/// Says whether a folded literal stands in a text: its rarest byte is looked for.
pub(crate) fn stands_in(literal: &[u8], hay: &[u8]) -> bool {
    let common = |byte: &u8| byte.is_ascii_alphabetic() || byte.is_ascii_whitespace();
    let Some((offset, &byte)) = literal.iter().enumerate().min_by_key(|(_, byte)| common(byte)) else {
        return true;
    };
    memchr::memchr2_iter(byte, byte.to_ascii_uppercase(), hay).any(|at| {
        let start = at.checked_sub(offset);
        let found = start.and_then(|start| hay.get(start..start.saturating_add(literal.len())));
        found.is_some_and(|found| found.eq_ignore_ascii_case(literal))
    })
}

/// A gap that takes so many bytes parts a regex.
const GAP: u32 = 12;

/// Gives the parts of a regex between its long gaps that require a literal; none where it has no such gap. Where the regex
/// matches, so does each part, inside that match; and it needs no automaton that counts the bytes of a gap.
pub(crate) fn parts(hir: &Hir) -> Vec<Hir> {
    let HirKind::Concat(parts) = hir.kind() else { return Vec::new() };
    let long = |part: &Hir| match part.kind() {
        HirKind::Repetition(repetition) => repetition.max.is_none_or(|max| max >= GAP),
        _ => false,
    };
    if !parts.iter().any(long) {
        return Vec::new();
    }
    let pieces = parts.split(long).map(|piece| Hir::concat(piece.to_vec()));
    pieces
        .filter(|piece| derive(piece, Measure::WHOLE).is_some_and(|shape| !shape.literals.is_empty()))
        .collect()
}

fn as_literals(texts: &[Vec<u8>], before: (usize, usize)) -> Option<Vec<Literal>> {
    if texts.is_empty() || texts.iter().any(Vec::is_empty) {
        return None;
    }
    let mut literals: Vec<Literal> =
        texts.iter().map(|bytes| Literal { bytes: bytes.clone(), before }).collect();
    literals.sort_by(|a, b| a.bytes.cmp(&b.bytes));
    literals.dedup();
    Some(literals)
}

impl Measure {
    fn analyze(self, hir: &Hir) -> Info {
        let properties = hir.properties();
        let min = properties.minimum_len().unwrap_or(0);
        let max = properties.maximum_len();
        let (exact, best) = match hir.kind() {
            HirKind::Empty | HirKind::Look(_) => (Some(vec![Vec::new()]), None),
            HirKind::Literal(literal) => (Some(vec![literal.0.to_ascii_lowercase()]), None),
            HirKind::Class(class) => (class_texts(class), None),
            HirKind::Capture(capture) => {
                let inner = self.analyze(&capture.sub);
                (inner.exact, inner.best)
            }
            HirKind::Repetition(repetition) => {
                repeat(&self.analyze(&repetition.sub), repetition.min, repetition.max)
            }
            HirKind::Concat(parts) => self.concat(parts),
            HirKind::Alternation(branches) => self.alternate(branches),
        };
        Info { min, max, exact, best }
    }

    fn concat(self, parts: &[Hir]) -> Known {
        let mut best = None;
        let mut at = (0_usize, 0_usize);
        let mut run = Run { texts: vec![Vec::new()], start: at };
        let mut all_exact = true;
        for (index, part) in parts.iter().enumerate() {
            let info = self.analyze(part);
            let joined = info.exact.as_ref().and_then(|texts| product(&run.texts, texts));
            if let Some(texts) = joined {
                run.texts = texts;
            } else {
                all_exact = false;
                best = self.better(best, as_literals(&run.texts, run.start));
                best = self.better(best, longer(&run, parts.get(index..).unwrap_or_default()));
                if let Some(inner) = &info.best {
                    best = self.better(best, Some(shift(inner, at)));
                }
                run = Run { texts: info.exact.clone().unwrap_or_else(|| vec![Vec::new()]), start: at };
                if info.exact.is_none() {
                    run.start = after(at, &info);
                }
            }
            at = after(at, &info);
        }
        if all_exact {
            return (Some(run.texts), None);
        }
        (None, self.better(best, as_literals(&run.texts, run.start)))
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
            return (Some(texts), None);
        }
        let mut all: Vec<Literal> = Vec::new();
        for info in infos {
            let whole = info.exact.as_deref().and_then(|texts| as_literals(texts, (0, 0)));
            match self.better(whole, info.best) {
                Some(literals) => all.extend(literals),
                None => return (None, None),
            }
        }
        (None, Some(all))
    }
}

fn class_texts(class: &Class) -> Option<Vec<Vec<u8>>> {
    let mut texts = Vec::new();
    let mut push = |byte: u8| {
        let text = vec![byte.to_ascii_lowercase()];
        if !texts.contains(&text) {
            texts.push(text);
        }
        texts.len() <= MAX_CLASS
    };
    match class {
        Class::Bytes(class) => {
            for range in class.ranges() {
                for byte in range.start()..=range.end() {
                    if !push(byte) {
                        return None;
                    }
                }
            }
        }
        Class::Unicode(class) => {
            for range in class.ranges() {
                for char in range.start()..=range.end() {
                    if !char.is_ascii() || !push(u8::try_from(char).ok()?) {
                        return None;
                    }
                }
            }
        }
    }
    (!texts.is_empty()).then_some(texts)
}

type Known = (Option<Vec<Vec<u8>>>, Option<Vec<Literal>>);

fn repeat(inner: &Info, min: u32, max: Option<u32>) -> Known {
    if min == 0 {
        let optional = (max == Some(1)).then(|| inner.exact.clone()).flatten().map(|mut texts| {
            texts.push(Vec::new());
            texts
        });
        return (optional.filter(|texts| texts.len() <= MAX_STRINGS), None);
    }
    if let Some(texts) = &inner.exact {
        let mut sum = vec![Vec::new()];
        for _ in 0..min {
            match product(&sum, texts) {
                Some(next) => sum = next,
                None => return (None, as_literals(&sum, (0, 0))),
            }
        }
        if max == Some(min) {
            return (Some(sum), None);
        }
        return (None, as_literals(&sum, (0, 0)));
    }
    (None, inner.best.clone())
}

fn product(left: &[Vec<u8>], right: &[Vec<u8>]) -> Option<Vec<Vec<u8>>> {
    if left.len().checked_mul(right.len())? > MAX_STRINGS {
        return None;
    }
    let mut all = Vec::new();
    for head in left {
        for tail in right {
            if head.len().checked_add(tail.len())? > MAX_LENGTH {
                return None;
            }
            all.push([head.as_slice(), tail.as_slice()].concat());
        }
    }
    Some(all)
}

/// A run of parts whose texts are all known, and where it begins.
struct Run {
    texts: Vec<Vec<u8>>,
    start: (usize, usize),
}

/// A short run with each byte that may follow it: five bytes fire less often than four.
fn longer(run: &Run, rest: &[Hir]) -> Option<Vec<Literal>> {
    let shortest = run.texts.iter().map(Vec::len).min()?;
    if shortest == 0 || shortest >= SHORT_RUN {
        return None;
    }
    let next: Vec<Vec<u8>> = first_bytes(rest)?.into_iter().map(|byte| vec![byte]).collect();
    as_literals(&product(&run.texts, &next)?, run.start)
}

/// Gives the bytes that a concatenation may begin with; `None` where they are many or where it may be empty.
fn first_bytes(parts: &[Hir]) -> Option<Vec<u8>> {
    let mut all = Vec::new();
    for part in parts {
        let (bytes, empty) = match part.kind() {
            HirKind::Empty | HirKind::Look(_) => (Vec::new(), true),
            HirKind::Literal(literal) => (vec![literal.0.first()?.to_ascii_lowercase()], false),
            HirKind::Class(class) => (class_texts(class)?.concat(), false),
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
        for byte in bytes {
            if !all.contains(&byte) {
                all.push(byte);
            }
        }
        if all.len() > MAX_CLASS {
            return None;
        }
        if !empty {
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
            bytes: literal.bytes.clone(),
            before: (literal.before.0.saturating_add(by.0), literal.before.1.saturating_add(by.1)),
        })
        .collect()
}
