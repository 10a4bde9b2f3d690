//! Values of HTTP headers that contain a key.
#![expect(clippy::arithmetic_side_effects, reason = "sums of offsets into one slice stay below isize::MAX")]

use core::ops::Range;

use crate::bytes::measure::base64;
use crate::bytes::{
    ALPHA, AN, B64, B64_ANY, BLANK, DIGIT, EQUALS, LOWER, TOKEN, U64, UPPER, at, before, has, is, part, run,
    skip,
};
use crate::redacted::kind::rank;
use crate::rules::context::value::looks_weak;
use crate::rules::placeholder::{is_masked, is_placeholder, is_template};
use crate::rules::prefixed::entropy_at_least;
use crate::rules::{Match, MatchContext};

/// Headers whose whole value is a key.
pub(crate) const KEY_WORDS: &[&str] = plugward_types::words![
    "x-api-key x-auth-token private-token x-vault-token x-amz-security-token subscription-key x-goog-api-key",
    "x-access-token x-figma-token x-shopify-access-token job-token deploy-token",
];

/// Finds the credentials after `Authorization:`, in a header, in code or in JSON.
pub(crate) fn authorization(ctx: &MatchContext<'_>, word: Range<usize>, out: &mut Vec<Match>) {
    let text = ctx.text;
    let place = skip(text, word.end, BLANK, 8);
    let mut place = place + usize::from(matches!(at(text, place), b'"' | b'\'' | b'`'));
    place += usize::from(at(text, place) == b']');
    place = skip(text, place, BLANK, 8);
    let separators =
        part(text, place..place + 2).iter().take_while(|b| matches!(b, b':' | b'=' | b',' | b'>')).count();
    if separators == 0 && at(text, word.end) != b' ' {
        return;
    }
    place = skip(text, place + separators, BLANK, 20);
    // A format string or concatenation before the scheme: `f"Bearer …"`.
    while matches!(at(text, place), b'"' | b'\'' | b'`' | b'[' | b'(')
        || is(at(text, place), ALPHA) && matches!(at(text, place + 1), b'"' | b'\'')
    {
        place += 1;
    }
    scheme(ctx, place, TokenPlace::Header, out);
}

/// Whether a token is in an `Authorization` header.
#[derive(Clone, Copy, PartialEq, Eq)]
enum TokenPlace {
    Header,
    Elsewhere,
}

/// Finds `Bearer` and a token without a header name before it.
pub(crate) fn bearer(ctx: &MatchContext<'_>, word: Range<usize>, out: &mut Vec<Match>) {
    if !is(before(ctx.text, word.start), AN) {
        scheme(ctx, word.start, TokenPlace::Elsewhere, out);
    }
}

fn scheme(ctx: &MatchContext<'_>, start: usize, found: TokenPlace, out: &mut Vec<Match>) {
    let text = ctx.text;
    let name = run(text, start, AN | U64, 20);
    let value = skip(text, start + name, BLANK, 8);
    let value = value + usize::from(has(text, start, "token") && has(text, value, "token=")) * 6;
    let value = value + usize::from(matches!(at(text, value), b'"' | b'\''));
    let word = part(text, start..start + name);
    if word.eq_ignore_ascii_case(b"basic") {
        return basic(ctx, value, out);
    }
    let known: &[&[u8]] =
        plugward_types::byte_words!["bearer token apikey api-key key bot genie-key negotiate pat ssws"];
    let (from, loose) = if known.iter().any(|w| word.eq_ignore_ascii_case(w)) && value > start + name {
        (value, false)
    } else {
        (start, true)
    };
    let length = run(text, from, TOKEN, 4096);
    let token = part(text, from..from + length);
    let digits = token.iter().filter(|byte| is(**byte, DIGIT)).count();
    let mixed = token.iter().any(|byte| is(*byte, LOWER)) && token.iter().any(|byte| is(*byte, UPPER));
    let telling = if loose {
        length >= 20 && digits >= 3 && is_end(at(text, from + length))
    } else {
        digits > 0 || (mixed && length >= 24)
    };
    let code = matches!(at(text, from + length), b'(' | b'[' | b'{') || is_dotted_name(token);
    // A token that a person made up. Only the header makes it one.
    let typed = found == TokenPlace::Header
        && !loose
        && is_end(at(text, from + length))
        && looks_weak(token, ctx.examples);
    let strong = length >= 16 && telling && entropy_at_least(token, 3.3);
    if (strong || typed) && !code && !kept(ctx, token) {
        ctx.hit(rank("auth-header"), from..from + length, out);
    }
}

fn is_end(byte: u8) -> bool {
    matches!(byte, 0 | b'\n' | b'\r' | b'"' | b'\'' | b'`' | b' ' | b',' | b'\\')
}

/// Returns `true` for names joined by dots with few digits: `config.auth.token2`.
fn is_dotted_name(token: &[u8]) -> bool {
    let mut pieces = token.split(|byte| *byte == b'.');
    token.contains(&b'.')
        && pieces.all(|piece| {
            !piece.is_empty()
                && piece.len() < 32
                && piece.iter().all(|byte| is(*byte, AN | crate::bytes::UNDER))
                && crate::rules::prefixed::special::changes(piece) * 3 <= piece.len()
        })
}

fn kept(ctx: &MatchContext<'_>, token: &[u8]) -> bool {
    is_template(token) || (ctx.keeps() && (is_masked(token) || is_placeholder(token)))
}

/// Finds `Basic` and the base64 of `user:password`.
fn basic(ctx: &MatchContext<'_>, start: usize, out: &mut Vec<Match>) {
    let text = ctx.text;
    let length = run(text, start, B64_ANY, 1024);
    let pad = run(text, start + length, EQUALS, 2);
    if is_login(part(text, start..start + length)) {
        ctx.hit(rank("auth-header"), start..start + length + pad, out);
    }
}

/// Returns `true` if base64 decodes to printable text with a colon in it.
pub(crate) fn is_login(encoded: &[u8]) -> bool {
    let login = base64(encoded, 768);
    let colon = memchr::memchr(b':', &login);
    let printable = login.iter().all(|byte| (0x20..0x7f).contains(byte) || *byte >= 0xc2);
    encoded.len() >= 6 && printable && colon.is_some_and(|place| place + 1 < login.len())
}

/// Finds the value of a header with one of [`KEY_WORDS`].
pub(crate) fn key_header(ctx: &MatchContext<'_>, word: Range<usize>, out: &mut Vec<Match>) {
    let text = ctx.text;
    let start = crate::rules::context::assign::skip_to_value(text, word.end);
    if start == word.end {
        return;
    }
    let length = run(text, start, TOKEN, 4096);
    let value = part(text, start..start + length);
    let digit = value.iter().any(|byte| is(*byte, DIGIT));
    let code = matches!(at(text, start + length), b'(' | b'[' | b'{') || is_dotted_name(value);
    if length >= 16 && digit && !code && entropy_at_least(value, 3.0) && !kept(ctx, value) {
        ctx.hit(rank("header-key"), start..start + length, out);
    }
}

/// Finds the values of session cookies in `Cookie:` and `Set-Cookie:`.
pub(crate) fn cookie(ctx: &MatchContext<'_>, word: Range<usize>, out: &mut Vec<Match>) {
    let text = ctx.text;
    if ctx.memo.seen_cookie(word.start) {
        return;
    }
    let end = crate::bytes::line_end(text, word.end, 8192);
    ctx.memo.note_cookie(end);
    let mut place = word.end;
    while place < end {
        place = skip(text, place, BLANK, 80);
        place += usize::from(matches!(at(text, place), b'"' | b'\''));
        let name = part(text, place..end).iter().take_while(|b| !matches!(b, b'=' | b';' | b'"')).count();
        let value = place + name + 1;
        let length = part(text, value..end)
            .iter()
            .take_while(|b| !matches!(b, b';' | b'"' | b'\'' | b' ' | b',' | b'<' | b'\\'))
            .count();
        if at(text, place + name) == b'=' && tells(part(text, place..place + name)) {
            let range = value..value + length;
            let bytes = part(text, range.clone());
            if length >= 16
                && entropy_at_least(bytes, 3.0)
                && bytes.iter().any(|b| is(*b, DIGIT))
                && !kept(ctx, bytes)
            {
                ctx.hit(rank("cookie"), range, out);
            }
        }
        place = value + length + 1;
    }
}

fn tells(name: &[u8]) -> bool {
    let name = name.to_ascii_lowercase();
    [&b"sess"[..], b"sid", b"auth", b"token", b"jwt"]
        .iter()
        .any(|word| memchr::memmem::find(&name, word).is_some())
}

/// Counts the bytes of a run of base64 with its padding.
pub(crate) fn base64_run(text: &[u8], from: usize, max: usize) -> usize {
    let length = run(text, from, B64, max);
    length + run(text, from + length, EQUALS, 2)
}
