//! JSON web tokens, and the private members of JSON web keys.
#![expect(clippy::arithmetic_side_effects, reason = "sums of offsets into one slice stay below isize::MAX")]

use core::ops::Range;

use crate::bytes::measure::base64;
use crate::bytes::{AN, BLANK, EQUALS, LINE, U64, at, before, find, has_exact, is, part, run, skip};
use crate::redacted::kind::rank;
use crate::rules::{Match, MatchContext};

/// Finds a JWS (three parts) or JWE (five parts) whose first part is a JSON object with an algorithm.
pub(crate) fn jwt(ctx: &MatchContext<'_>, word: Range<usize>, out: &mut Vec<Match>) {
    let text = ctx.text;
    if !has_exact(text, word.start, "eyJ") || is(before(text, word.start), AN) {
        return;
    }
    let mut ends = [0; 5];
    let mut place = word.start;
    let mut parts = 0;
    for end in &mut ends {
        let length = run(text, place, U64, 16 * 1024);
        let pad = run(text, place + length, EQUALS, 2);
        *end = place + length + pad;
        parts += 1;
        if at(text, *end) != b'.' {
            break;
        }
        place = *end + 1;
    }
    let [first, _, third, _, fifth] = ends;
    let header = base64(part(text, word.start..first), 2048);
    let named = ["\"alg\"", "\"enc\"", "\"typ\""]
        .iter()
        .any(|name| memchr::memmem::find(&header, name.as_bytes()).is_some());
    if !header.starts_with(b"{") || !named || parts < 3 {
        return;
    }
    let end = if parts == 5 { fifth } else { third };
    // Detached and truncated signatures count from 16 bytes.
    if end - place.min(end) >= 16 || parts == 5 || third - word.start > first - word.start + 40 {
        ctx.hit(rank("jwt"), word.start..end, out);
    }
}

const PRIVATE: [&str; 7] = ["\"d\"", "\"p\"", "\"q\"", "\"dp\"", "\"dq\"", "\"qi\"", "\"k\""];
/// How much of an object is read on either side of its type.
const REACH: usize = 4096;

/// Returns where the first private member begins whose `"kty"` may follow after the text.
pub(crate) fn open(text: &[u8]) -> Option<usize> {
    let from = text.len().saturating_sub(2 * REACH);
    PRIVATE
        .iter()
        .filter_map(|name| {
            memchr::memmem::find_iter(part(text, from..text.len()), name.as_bytes())
                .map(|found| from + found)
                .find(|found| {
                    let colon = skip(text, found + name.len(), BLANK | LINE, 40);
                    let goes_on = colon >= text.len() || at(text, colon) == b':';
                    goes_on && enclosing(text, *found, REACH).end >= text.len()
                })
        })
        .min()
}

/// Finds the private members of the object around `"kty"`.
pub(crate) fn jwk(ctx: &MatchContext<'_>, word: Range<usize>, out: &mut Vec<Match>) {
    let text = ctx.text;
    if ctx.memo.seen_jwk(word.start) {
        return;
    }
    let object = enclosing(text, word.start, REACH);
    ctx.memo.note_jwk(object.end);
    for name in PRIVATE {
        let mut from = object.start;
        while let Some(found) = find(text, from..object.end, name) {
            from = found + name.len();
            let colon = skip(text, from, BLANK | LINE, 40);
            let open = skip(text, colon + 1, BLANK | LINE, 40);
            let length = run(text, open + 1, U64 | EQUALS, 4096);
            if at(text, colon) == b':' && at(text, open) == b'"' && length >= 16 {
                ctx.hit(rank("jwk"), open + 1..open + 1 + length, out);
            }
        }
    }
}

/// Returns the object around an offset, within the reach.
///
/// An object does not extend across lines of a view that are not adjacent in the raw text.
pub(crate) fn enclosing(text: &[u8], around: usize, reach: usize) -> Range<usize> {
    let floor = around.saturating_sub(reach);
    let mut depth = 0_usize;
    let mut start = floor;
    for (place, byte) in part(text, floor..around).iter().enumerate().rev() {
        match byte {
            b'}' => depth += 1,
            0x1f => {
                start = floor + place + 1;
                break;
            }
            b'{' if depth == 0 => {
                start = floor + place;
                break;
            }
            b'{' => depth -= 1,
            _ => {}
        }
    }
    let ceiling = (around + reach).min(text.len());
    let mut end = ceiling;
    depth = 0;
    for (place, byte) in part(text, around..ceiling).iter().enumerate() {
        match byte {
            b'{' => depth += 1,
            0x1f => {
                end = around + place;
                break;
            }
            b'}' if depth == 0 => {
                end = around + place;
                break;
            }
            b'}' => depth -= 1,
            _ => {}
        }
    }
    start..end
}
