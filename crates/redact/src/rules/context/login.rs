//! Logins in the files of Docker, netrc, npm and pgpass.
#![expect(clippy::arithmetic_side_effects, reason = "sums of offsets into one slice stay below isize::MAX")]

use core::ops::Range;

use crate::bytes::{
    AN, BLANK, DIGIT, LINE, NAME, TOKEN, at, before, find, has, is, part, run, run_back, skip,
};
use crate::redacted::kind::rank;
use crate::rules::context::header::{base64_run, is_login};
use crate::rules::context::value::{Quoting, looks_secret};
use crate::rules::placeholder::{is_masked, is_placeholder};
use crate::rules::{Match, MatchContext};

/// Finds `"auth": "…"` with the base64 of user and password.
pub(crate) fn docker(ctx: &MatchContext<'_>, word: Range<usize>, out: &mut Vec<Match>) {
    let text = ctx.text;
    let start = crate::rules::context::assign::skip_to_value(text, word.end);
    let length = base64_run(text, start, 4096);
    if before(text, start) == b'"' && is_login(part(text, start..start + length)) {
        ctx.hit(rank("docker-auth"), start..start + length, out);
    }
}

/// Finds the password of `machine … login … password WORD`, on one line or several.
pub(crate) fn netrc(ctx: &MatchContext<'_>, word: Range<usize>, out: &mut Vec<Match>) {
    let text = ctx.text;
    if is(before(text, word.start), AN) {
        return;
    }
    let rest = part(text, word.end..word.end + 400);
    let next = find(rest, 0..rest.len(), "machine ").unwrap_or(rest.len());
    let window = word.end..word.end + next;
    let Some(login) = find(text, window.clone(), "login") else { return };
    let mut place = login;
    while let Some(found) = find(text, place..window.end, "password") {
        let start = skip(text, found + 8, BLANK | LINE, 40);
        let length = part(text, start..start + 256)
            .iter()
            .take_while(|b| **b > b' ' && !matches!(**b, b'"' | b'\\' | b'<'))
            .count();
        let value = part(text, start..start + length);
        let template = value.first().is_some_and(|byte| matches!(byte, b'{' | b'$' | b'%'));
        if start > found + 8 && length > 0 && !template && !(ctx.keeps() && is_placeholder(value)) {
            ctx.hit(rank("netrc"), start..start + length, out);
        }
        place = found + 8;
    }
}

/// Finds `_authToken=`, `_auth=` and `_password=` of npm, at the start of a line or after a registry's
/// address.
pub(crate) fn npmrc(ctx: &MatchContext<'_>, word: Range<usize>, out: &mut Vec<Match>) {
    let text = ctx.text;
    let lead = before(text, word.start);
    let mut place = word.end;
    if has(text, word.start, "_auth") && has(text, place, "token") {
        place += 5;
    }
    place = skip(text, place, BLANK, 8);
    if !(matches!(lead, b':' | 0) || is(lead, LINE | BLANK)) || at(text, place) != b'=' {
        return;
    }
    let start = skip(text, place + 1, BLANK, 8);
    let start = start + usize::from(matches!(at(text, start), b'"' | b'\''));
    let length = run(text, start, TOKEN, 4096);
    let value = part(text, start..start + length);
    let digit = value.iter().any(|byte| is(*byte, DIGIT));
    if length >= 12 && digit && !(ctx.keeps() && (is_masked(value) || is_placeholder(value))) {
        ctx.hit(rank("registry-key"), start..start + length, out);
    }
}

/// Finds the password of a line `host:port:database:user:password`.
pub(crate) fn pgpass(ctx: &MatchContext<'_>, word: Range<usize>, out: &mut Vec<Match>) {
    let text = ctx.text;
    let end = crate::bytes::line_end(text, word.end, 400);
    let start = word.start - run_back(text, word.start, NAME, 120);
    let host = part(text, start..word.start);
    let name = |byte: &u8| is(*byte, AN) || matches!(byte, b'.' | b'-' | b'_' | b'*');
    let mut fields = part(text, word.end..end).splitn(3, |byte| *byte == b':');
    let (Some(database), Some(user), Some(password)) = (fields.next(), fields.next(), fields.next()) else {
        return;
    };
    let plain = !host.is_empty()
        && host.iter().all(name)
        && database.iter().all(name)
        && !user.is_empty()
        && user.iter().all(name);
    let at_password = end - password.len();
    let stop = password
        .iter()
        .take_while(|byte| **byte > b' ' && !matches!(**byte, b'"' | b'\'' | b'\\' | b'<'))
        .count();
    let stop = part(password, 0..stop).strip_suffix(b"]]>").map_or(stop, <[u8]>::len);
    let value = part(text, at_password..at_password + stop);
    if plain
        && looks_secret(value, Quoting::Quoted, ctx.examples)
        && !has(text, at_password, "//")
        && at(text, at_password) != 0
    {
        ctx.hit(rank("pgpass"), at_password..at_password + stop, out);
    }
}
