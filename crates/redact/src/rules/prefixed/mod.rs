//! Shapes of prefixed keys: the text after the literal, and the conditions around it.
#![expect(clippy::arithmetic_side_effects, reason = "sums of offsets into one slice stay below isize::MAX")]

pub(crate) mod special;
pub(crate) mod table;
pub(crate) mod vendors;

use crate::bytes::measure::{bech32_holds, crc_holds, entropy};
use crate::bytes::{AN, Class, DIGIT, LINE, U64, UPPER, before, has_exact, is, part, run};
use crate::redacted::kind::rank;
use crate::rules::placeholder::is_masked;
use crate::{ChecksumCheck, rules::MatchContext};

/// An open-ended run is followed this far.
const REACH: usize = 16 * 1024;

/// One piece of a shape.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Part {
    /// A run of bytes of a class, with minimum and maximum length. If these are equal, no further byte of the
    /// class may follow.
    Run(Class, usize, usize),
    /// A literal.
    Literal(&'static str),
    /// An optional literal.
    Optional(&'static str),
}

/// The bytes that may not precede the literal.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Edge {
    /// A letter or digit.
    Word,
    /// A capital or digit.
    Case,
    /// A letter, a digit, `_` or `-`.
    Hard,
}

/// A checksum inside the value.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Sum {
    /// The kind has no checksum.
    None,
    /// The last six of the first 36 bytes are the base-62 CRC-32 of the 30 before.
    Crc,
    Bech32,
}

/// A key that begins with a literal.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Prefixed {
    pub(crate) rank: u16,
    pub(crate) literal: &'static str,
    pub(crate) parts: &'static [Part],
    pub(crate) edge: Edge,
    /// The minimum entropy of the part after the literal.
    pub(crate) floor: f64,
    pub(crate) digits: usize,
    pub(crate) sum: Sum,
}

/// Creates a row of the table: the kind, the literal, and the shape after it.
pub(crate) const fn key(kind: &str, literal: &'static str, parts: &'static [Part]) -> Prefixed {
    Prefixed { rank: rank(kind), literal, parts, edge: Edge::Word, floor: 3.0, digits: 0, sum: Sum::None }
}

impl Prefixed {
    pub(crate) const fn edge(mut self, edge: Edge) -> Self {
        self.edge = edge;
        self
    }

    pub(crate) const fn floor(mut self, floor: f64) -> Self {
        self.floor = floor;
        self
    }

    pub(crate) const fn digits(mut self, digits: usize) -> Self {
        self.digits = digits;
        self
    }

    pub(crate) const fn sum(mut self, sum: Sum) -> Self {
        self.sum = sum;
        self
    }

    /// Matches the key whose literal is at `start`. Returns its end.
    pub(crate) fn look(&self, ctx: &MatchContext<'_>, start: usize) -> Option<(usize, ChecksumCheck)> {
        let text = ctx.text;
        if !has_exact(text, start, self.literal) {
            return None;
        }
        let body = start + self.literal.len();
        let edge = edge_ok(text, start, self.edge);
        if !edge && matches!(self.sum, Sum::None) {
            return None;
        }
        let end = follow(text, body, self.parts)?;
        let value = part(text, body..end);
        let sum = match self.sum {
            Sum::None => ChecksumCheck::None,
            Sum::Crc => {
                if crc_holds(value) {
                    ChecksumCheck::Holds
                } else {
                    ChecksumCheck::Fails
                }
            }
            Sum::Bech32 => {
                if bech32_holds(part(text, start..end)) {
                    ChecksumCheck::Holds
                } else {
                    ChecksumCheck::Fails
                }
            }
        };
        if sum == ChecksumCheck::Holds {
            return Some((end, sum));
        }
        let kept = edge
            && value.iter().filter(|byte| is(**byte, DIGIT)).count() >= self.digits
            && entropy_at_least(value, self.floor)
            && !(ctx.keeps() && is_masked(value));
        if !kept && let Some(Part::Run(class, _, _)) = self.parts.first() {
            ctx.memo.note_dull(*class, start, end);
        }
        kept.then_some((end, sum))
    }

    /// Returns `true` if the key would begin in a long run that was examined and was not a key.
    pub(crate) fn is_dull(&self, ctx: &MatchContext<'_>, start: usize) -> bool {
        matches!(self.parts.first(), Some(Part::Run(class, _, _)) if ctx.memo.dull_run(*class, start))
    }
}

/// Returns `true` if the byte before a literal allows a key to begin there.
pub(crate) fn edge_ok(text: &[u8], start: usize, edge: Edge) -> bool {
    let class = match edge {
        Edge::Word => AN,
        Edge::Case => UPPER | DIGIT,
        Edge::Hard => U64,
    };
    // The sign of a removed line in a diff is not part of a word.
    let removed =
        before(text, start) == b'-' && (start == 1 || is(before(text, start.saturating_sub(1)), LINE));
    !is(before(text, start), class) || removed
}

/// Compares the entropy with a threshold that short values can reach: at most three quarters of log2 of the
/// length.
#[expect(clippy::cast_precision_loss, reason = "values are far below 2^52 bytes")]
pub(crate) fn entropy_at_least(value: &[u8], floor: f64) -> bool {
    entropy(value) >= floor.min((value.len().max(1) as f64).log2() * 0.75)
}

/// Matches the pieces of a shape from an offset. Returns where they end.
pub(crate) fn follow(text: &[u8], from: usize, parts: &[Part]) -> Option<usize> {
    let mut place = from;
    for piece in parts {
        match *piece {
            Part::Run(class, least, most) => {
                let limit = if least == most { most + 1 } else { REACH };
                let length = run(text, place, class, limit);
                if length < least || (least == most && length > most) {
                    return None;
                }
                place += length;
            }
            Part::Literal(literal) => {
                if !has_exact(text, place, literal) {
                    return None;
                }
                place += literal.len();
            }
            Part::Optional(literal) => {
                if has_exact(text, place, literal) {
                    place += literal.len();
                }
            }
        }
    }
    debug_assert!(!is(before(text, place), LINE) || place == from, "no shape ends in a line end");
    Some(place)
}
