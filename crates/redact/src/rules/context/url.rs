//! Secrets in URLs: the user part, the query, and addresses that are secrets themselves.
#![expect(clippy::arithmetic_side_effects, reason = "sums of offsets into one slice stay below isize::MAX")]

use core::ops::Range;

use crate::bytes::{
    ALPHA, AN, DIGIT, NAME, U64, at, before, find, has, is, line_end, line_start, part, run, run_back,
};
use crate::redacted::kind::rank;
use crate::rules::placeholder::{is_masked, is_placeholder, is_template};
use crate::rules::prefixed::entropy_at_least;
use crate::rules::{Match, MatchContext};

/// Finds the password in `scheme://user:password@host`, and a long user part without a password.
pub(crate) fn userinfo(ctx: &MatchContext<'_>, word: Range<usize>, out: &mut Vec<Match>) {
    let text = ctx.text;
    if !is(before(text, word.start), AN) {
        return;
    }
    let stop =
        |byte: u8| byte <= b' ' || matches!(byte, b'/' | b'"' | b'\'' | b'<' | b'>' | b'\\' | b'`' | 0x7f);
    let authority = part(text, word.end..word.end + 512);
    let length = authority.iter().take_while(|byte| !stop(**byte)).count();
    let authority = part(authority, 0..length);
    let Some(sign) = memchr::memrchr(b'@', authority) else { return };
    let host = at(authority, sign + 1);
    if !(is(host, AN) || matches!(host, b'[' | b'_')) {
        return;
    }
    let info = part(authority, 0..sign);
    let user_byte = |byte: &u8| {
        is(*byte, AN) || matches!(byte, b'.' | b'_' | b'-' | b'~' | b'%' | b'+' | b'=' | b'!' | b'*' | b'&')
    };
    match memchr::memchr(b':', info) {
        Some(colon) if part(info, 0..colon).iter().all(user_byte) => {
            let value = part(info, colon + 1..sign);
            if !is_stand_in(ctx, value) {
                ctx.hit(rank("url-userinfo"), word.end + colon + 1..word.end + sign, out);
            }
        }
        Some(_) => {}
        None => {
            let digits = info.iter().filter(|byte| is(**byte, DIGIT)).count();
            let alone =
                info.len() >= 20 && digits >= 2 && info.iter().all(user_byte) && entropy_at_least(info, 3.5);
            if alone && !is_stand_in(ctx, info) {
                ctx.hit(rank("url-userinfo"), word.end..word.end + sign, out);
            }
        }
    }
}

fn is_stand_in(ctx: &MatchContext<'_>, value: &[u8]) -> bool {
    let format = value.first() == Some(&b'%') && value.len() <= 3;
    let braces = value.contains(&b'{') || value.first() == Some(&b'$');
    value.is_empty() || format || braces || is_template(value) || (ctx.keeps() && is_placeholder(value))
}

/// Keywords: the ends of names of query parameters. The whole name is compared afterwards.
pub(crate) const QUERY_WORDS: &[&str] =
    &["token=", "key=", "secret=", "sig=", "signature=", "password=", "code=", "credential=", "auth="];

const QUERY_NAMES: &[&str] = plugward_types::words![
    "token access_token id_token refresh_token auth_token api_key apikey api-key key secret client_secret",
    "password sig signature x-amz-signature x-goog-signature x-amz-security-token x-amz-credential",
    "access_key subscription-key private_token auth session_token code",
];

/// Returns `true` if a name ends like that of a secret and is not a pagination token.
fn ends_telling(name: &[u8]) -> bool {
    let name = name.to_ascii_lowercase();
    let ends: &[&[u8]] =
        plugward_types::byte_words!["_token _secret _password secret_key access_key account_key _signature",];
    ends.iter().any(|end| name.ends_with(end))
        && !name.strip_suffix(b"token").is_some_and(crate::rules::context::assign::is_paging)
}

/// Finds the values of query parameters with the names of secrets.
pub(crate) fn query(ctx: &MatchContext<'_>, word: Range<usize>, out: &mut Vec<Match>) {
    let text = ctx.text;
    let equals = word.end - 1;
    let start = equals - run_back(text, equals, U64, 32);
    let lead = before(text, start);
    if !matches!(lead, b'?' | b'&' | b';' | b'#')
        || lead == b';' && !has(text, start.saturating_sub(5), "&amp;")
    {
        return;
    }
    let name = part(text, start..equals);
    let known = QUERY_NAMES.iter().any(|known| name.eq_ignore_ascii_case(known.as_bytes()));
    if !known && !ends_telling(name) {
        return;
    }
    let byte = |byte: &u8| {
        is(*byte, AN)
            || matches!(byte, b'%' | b'_' | b'.' | b'~' | b'+' | b'/' | b'=' | b'-' | b':' | b'*' | b'!')
    };
    let length = part(text, word.end..word.end + 8192).iter().take_while(|b| byte(b)).count();
    let value = part(text, word.end..word.end + length);
    if name.eq_ignore_ascii_case(b"code") {
        let near = line_start(text, start, 300)..line_end(text, word.end + length, 300);
        if find(text, near, "state=").is_none() {
            return;
        }
    }
    let digit = value.iter().any(|byte| is(*byte, DIGIT));
    let kept = is_template(value) || (ctx.keeps() && (is_masked(value) || is_placeholder(value)));
    if length >= 16 && digit && entropy_at_least(value, 3.0) && !kept {
        ctx.hit(rank("url-query"), word.end..word.end + length, out);
    }
}

/// Finds the addresses of incoming webhooks: Slack, Discord, Teams.
pub(crate) fn webhook(ctx: &MatchContext<'_>, word: Range<usize>, out: &mut Vec<Match>) {
    let text = ctx.text;
    let path = |from: usize| {
        let byte = |byte: &u8| is(*byte, NAME) || matches!(byte, b'/' | b'@' | b'%');
        part(text, from..from + 400).iter().take_while(|b| byte(b)).count()
    };
    let (start, length) = if has(text, word.start, "hooks.slack") {
        (word.end, path(word.end))
    } else if has(text, word.start, "api/") {
        let id = run(text, word.end, DIGIT, 24);
        let start = word.end + id + 1;
        let length = run(text, start, U64, 120);
        if id < 15 || at(text, start - 1) != b'/' || !(60..=90).contains(&length) {
            return;
        }
        (start, length)
    } else {
        let start = word.end + usize::from(at(text, word.end) == b'/');
        (start, path(start))
    };
    let value = part(text, start..start + length);
    let digits = value.iter().filter(|byte| is(**byte, DIGIT)).count();
    let letters = value.iter().filter(|byte| is(**byte, ALPHA)).count();
    let kept = ctx.keeps() && (is_masked(value) || is_placeholder(value) || is_pattern(value));
    if length >= 30 && digits >= 2 && letters >= 8 && entropy_at_least(value, 3.5) && !kept {
        ctx.hit(rank("webhook"), start..start + length, out);
    }
}

/// Returns `true` for the pattern that documentation prints: `T00000000/B00000000/XXXX…`.
fn is_pattern(value: &[u8]) -> bool {
    value.windows(6).any(|w| w.iter().all(|byte| *byte == b'0'))
}
