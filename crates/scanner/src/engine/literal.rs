//! Literals of which each match of a regex holds at least one.
//!
//! `regex_syntax::hir::literal` extracts prefixes and suffixes. Many rules begin and end with common words or classes, so the
//! rarest literals are often in the middle.

use core::cmp::Reverse;

use regex_syntax::hir::{Class, Hir, HirKind};

use super::MIN_LITERAL;

/// A set of literals, one of which every match contains. They are in lower case, since matching ignores ASCII case.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Literals {
    pub(super) texts: Vec<Vec<u8>>,
    /// The fewest and most bytes of a match before its literal.
    pub(super) before: (usize, usize),
}

/// Limits of the texts into which a part of a regex is expanded. Without them the number of texts could grow exponentially.
const MAX_TEXTS: usize = 160;
const MAX_LENGTH: usize = 24;
const MAX_CLASS: usize = 8;
/// The most sets that are kept for a part.
const MAX_SETS: usize = 3;

/// The known texts of a part of a regex.
#[derive(Debug)]
enum KnownTexts {
    /// All texts that it can match.
    Exact(Vec<Vec<u8>>),
    /// All prefixes of the texts that it can match.
    Begins(Vec<Vec<u8>>),
    /// Sets of literals inside it, the best first.
    Inside(Vec<Literals>),
}

/// Returns sets of literals, the best first. Every match contains a literal of each set.
pub(super) fn required(hir: &Hir) -> Vec<Literals> {
    analyze(hir).into_sets()
}

impl Literals {
    fn new(mut texts: Vec<Vec<u8>>, before: (usize, usize)) -> Option<Self> {
        if texts.is_empty() || texts.iter().any(Vec::is_empty) {
            return None;
        }
        texts.sort_unstable();
        // A longer text is redundant next to its own prefix.
        texts.dedup_by(|longer, kept| longer.starts_with(kept));
        Some(Self { texts, before })
    }

    /// Returns the length of the shortest literal.
    pub(super) fn shortest(&self) -> usize {
        self.texts.iter().map(Vec::len).min().unwrap_or(0)
    }

    /// Returns how many literals are expected in 2^40 bytes of code or prose.
    pub(super) fn expected(&self) -> u64 {
        let times = |text: &Vec<u8>| (1_u64 << 40) >> text.iter().copied().map(rarity).sum::<u32>().min(40);
        self.texts.iter().map(times).fold(0, u64::saturating_add)
    }

    /// Returns the cost of a set. Short literals cost more, then frequent ones.
    fn cost(&self) -> (Reverse<usize>, u64) {
        (Reverse(self.shortest().min(MIN_LITERAL)), self.expected())
    }
}

/// Returns the bits of information of a byte, roughly.
const fn rarity(byte: u8) -> u32 {
    match byte {
        b' ' | b'e' | b't' => 3,
        b'a' | b'i' | b'n' | b'o' | b'r' | b's' => 4,
        b'c' | b'd' | b'h' | b'l' | b'm' | b'p' | b'u' => 5,
        b'a'..=b'z' | b'0'..=b'9' | b'\n' | b'.' | b',' | b'-' | b'_' | b'"' => 6,
        _ => 7,
    }
}

impl KnownTexts {
    fn into_sets(self) -> Vec<Literals> {
        match self {
            Self::Exact(texts) | Self::Begins(texts) => Literals::new(texts, (0, 0)).into_iter().collect(),
            Self::Inside(sets) => sets,
        }
    }
}

fn analyze(hir: &Hir) -> KnownTexts {
    match hir.kind() {
        HirKind::Empty | HirKind::Look(_) => KnownTexts::Exact(vec![Vec::new()]),
        HirKind::Literal(literal) => KnownTexts::Exact(vec![literal.0.to_ascii_lowercase()]),
        HirKind::Class(class) => bytes_of(class).map_or(KnownTexts::Inside(Vec::new()), KnownTexts::Exact),
        HirKind::Capture(capture) => analyze(&capture.sub),
        HirKind::Repetition(repetition) => repeated(analyze(&repetition.sub), repetition.min, repetition.max),
        HirKind::Concat(parts) => concat(parts),
        HirKind::Alternation(branches) => alternate(branches.iter().map(analyze).collect()),
    }
}

/// Returns the texts of a class with few bytes.
fn bytes_of(class: &Class) -> Option<Vec<Vec<u8>>> {
    let class = match class {
        Class::Bytes(class) => class.clone(),
        Class::Unicode(class) => class.to_byte_class()?,
    };
    let mut bytes: Vec<u8> = class.iter().flat_map(|range| range.start()..=range.end()).collect();
    bytes.make_ascii_lowercase();
    bytes.sort_unstable();
    bytes.dedup();
    let few = !bytes.is_empty() && bytes.len() <= MAX_CLASS;
    few.then(|| bytes.into_iter().map(|byte| vec![byte]).collect())
}

fn repeated(inner: KnownTexts, min: u32, max: Option<u32>) -> KnownTexts {
    match inner {
        KnownTexts::Exact(mut texts) if min == 0 && max == Some(1) && texts.len() < MAX_TEXTS => {
            texts.push(Vec::new());
            KnownTexts::Exact(texts)
        }
        _ if min == 0 => KnownTexts::Inside(Vec::new()),
        KnownTexts::Exact(texts) => {
            let mut all = texts.clone();
            let spelled = (1..min).all(|_| multiply(&mut all, &texts));
            if spelled && max == Some(min) { KnownTexts::Exact(all) } else { KnownTexts::Begins(all) }
        }
        other => other,
    }
}

/// Joins neighbors with known texts, and collects the sets of all parts.
fn concat(parts: &[Hir]) -> KnownTexts {
    let mut sets = Vec::new();
    let mut run = vec![Vec::new()];
    let mut whole = true;
    // The fewest and most bytes before the run, and before the part.
    let (mut start, mut at) = ((0, 0), (0, 0));
    for part in parts {
        let properties = part.properties();
        let most = properties.maximum_len().unwrap_or(usize::MAX);
        let next = add(at, (properties.minimum_len().unwrap_or(0), most));
        let known = analyze(part);
        let exact = matches!(known, KnownTexts::Exact(_));
        whole &= exact;
        match known {
            KnownTexts::Exact(texts) | KnownTexts::Begins(texts) => {
                if !multiply(&mut run, &texts) {
                    whole = false;
                    sets.extend(Literals::new(core::mem::replace(&mut run, texts), start));
                    start = at;
                }
            }
            KnownTexts::Inside(inner) => {
                let moved = |set: Literals| Literals { before: add(set.before, at), ..set };
                sets.extend(inner.into_iter().map(moved));
            }
        }
        if !exact {
            sets.extend(Literals::new(core::mem::replace(&mut run, vec![Vec::new()]), start));
            start = next;
        }
        at = next;
    }
    if whole {
        return KnownTexts::Exact(run);
    }
    sets.extend(Literals::new(run, start));
    sets.sort_by_cached_key(Literals::cost);
    sets.truncate(MAX_SETS);
    KnownTexts::Inside(sets)
}

/// Combines the branches of an alternation. A branch without a set leaves no set.
fn alternate(branches: Vec<KnownTexts>) -> KnownTexts {
    let count =
        |known: &KnownTexts| if let KnownTexts::Exact(texts) = known { Some(texts.len()) } else { None };
    let counts: Option<Vec<usize>> = branches.iter().map(count).collect();
    if counts.is_some_and(|counts| counts.iter().sum::<usize>() <= MAX_TEXTS) {
        let texts = |known| if let KnownTexts::Exact(texts) = known { texts } else { Vec::new() };
        return KnownTexts::Exact(branches.into_iter().flat_map(texts).collect());
    }
    let all: Vec<Vec<Literals>> = branches.into_iter().map(KnownTexts::into_sets).collect();
    // A branch with fewer sets repeats its last one.
    let join = |rank: usize| {
        let sets = all.iter().map(|sets| sets.get(rank).or(sets.last()));
        let sets: Vec<&Literals> = sets.collect::<Option<_>>()?;
        let least = sets.iter().map(|set| set.before.0).min()?;
        let most = sets.iter().map(|set| set.before.1).max()?;
        Literals::new(sets.into_iter().flat_map(|set| set.texts.clone()).collect(), (least, most))
    };
    let most = all.iter().map(Vec::len).max().unwrap_or(0);
    KnownTexts::Inside((0..most).map_while(join).collect())
}

/// Appends each of some texts to each of others, or returns `false` if the result is too large.
fn multiply(heads: &mut Vec<Vec<u8>>, tails: &[Vec<u8>]) -> bool {
    let longest = |texts: &[Vec<u8>]| texts.iter().map(Vec::len).max().unwrap_or(0);
    let fits = heads.len().saturating_mul(tails.len()) <= MAX_TEXTS
        && longest(heads).saturating_add(longest(tails)) <= MAX_LENGTH;
    match tails {
        [tail] if fits => heads.iter_mut().for_each(|head| head.extend(tail)),
        _ if fits => {
            let join = |head: &Vec<u8>| {
                tails.iter().map(|tail| [head.as_slice(), tail].concat()).collect::<Vec<_>>()
            };
            *heads = heads.iter().flat_map(join).collect();
        }
        _ => {}
    }
    fits
}

fn add(a: (usize, usize), b: (usize, usize)) -> (usize, usize) {
    (a.0.saturating_add(b.0), a.1.saturating_add(b.1))
}
