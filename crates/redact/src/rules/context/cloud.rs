//! Keys of AWS and Azure that look like plain base64, and are found by the name before them.
#![expect(clippy::arithmetic_side_effects, reason = "sums of offsets into one slice stay below isize::MAX")]

use core::ops::Range;

use crate::bytes::{AN, B64, BLANK, DIGIT, EQUALS, LOWER, UPPER, at, is, part, run, skip};
use crate::redacted::kind::rank;
use crate::rules::context::assign::skip_to_value;
use crate::rules::prefixed::entropy_at_least;
use crate::rules::{Match, MatchContext};

/// Finds an AWS secret key: exactly 40 bytes of base64.
pub(crate) fn aws_secret(ctx: &MatchContext<'_>, word: Range<usize>, out: &mut Vec<Match>) {
    let text = ctx.text;
    let name_end = skip(text, word.end, crate::bytes::U64, 24);
    let place = skip_to_value(text, name_end);
    let value = part(text, place..place + 40);
    let ends = !is(at(text, place + 40), B64 | EQUALS);
    let shape = run(text, place, B64, 41) == 40 && ends && entropy_at_least(value, 4.0);
    if place > name_end && (shape || ctx.documented(value)) {
        ctx.hit(rank("aws-secret"), place..place + 40, out);
    }
}

/// Finds a secret key next to its key id and without a name, as in tables and lists.
pub(crate) fn aws_beside(ctx: &MatchContext<'_>, id: usize, out: &mut Vec<Match>) {
    let text = ctx.text;
    let quote = id + usize::from(matches!(at(text, id), b'"' | b'\''));
    let sign = skip(text, quote, BLANK, 8);
    let sign = sign + usize::from(matches!(at(text, sign), b',' | b';' | b':' | b'|' | b'/'));
    let place = skip(text, sign, BLANK, 8);
    let place = place + usize::from(matches!(at(text, place), b'"' | b'\''));
    let value = part(text, place..place + 40);
    let mixed = [DIGIT, LOWER, UPPER].into_iter().all(|class| value.iter().any(|byte| is(*byte, class)));
    let shape = place > id && run(text, place, B64, 41) == 40 && !is(at(text, place + 40), EQUALS);
    if shape && mixed && entropy_at_least(value, 4.3) {
        ctx.hit(rank("aws-secret"), place..place + 40, out);
    }
}

/// Finds an AWS session token: 100 bytes of base64 or more.
pub(crate) fn aws_session(ctx: &MatchContext<'_>, word: Range<usize>, out: &mut Vec<Match>) {
    let text = ctx.text;
    let place = skip_to_value(text, skip(text, word.end, AN, 8));
    let length = run(text, place, B64 | EQUALS, 4096);
    if length >= 100 && entropy_at_least(part(text, place..place + length), 3.5) {
        ctx.hit(rank("aws-session"), place..place + length, out);
    }
}

/// Finds `AccountKey=` with 86 bytes and `==`, or `SharedAccessKey=` with 32 to 100 bytes.
pub(crate) fn azure(ctx: &MatchContext<'_>, word: Range<usize>, out: &mut Vec<Match>) {
    let text = ctx.text;
    let length = run(text, word.end, B64, 200);
    let pad = run(text, word.end + length, EQUALS, 2);
    let account = crate::bytes::has(text, word.start, "accountkey=");
    let fits = if account { length == 86 && pad == 2 } else { (32..=100).contains(&length) };
    if fits && entropy_at_least(part(text, word.end..word.end + length), 3.5) {
        ctx.hit(rank("azure-connection"), word.end..word.end + length + pad, out);
    }
}
