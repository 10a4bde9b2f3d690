//! Passwords on command lines.
#![expect(clippy::arithmetic_side_effects, reason = "sums of offsets into one slice stay below isize::MAX")]

use core::ops::Range;

use crate::bytes::{
    ALPHA, AN, BLANK, DIGIT, LINE, LOWER, U64, UPPER, at, before, has, is, part, past_line_end, skip,
};
use crate::redacted::kind::rank;
use crate::rules::placeholder::{is_masked, is_placeholder, is_template};
use crate::rules::{Match, MatchContext};

/// Tools, and long options, that a password can follow.
pub(crate) const WORDS: &[&str] = &[
    "sshpass",
    "mysql",
    "mariadb",
    "curl",
    "docker",
    "podman",
    "redis-cli",
    "openssl",
    "smbclient",
    "ldapsearch",
    "ldapadd",
    "ldapmodify",
    "--password",
    "--token",
    "--from-literal",
    "--passphrase",
    "--secret",
    "--api-key",
    "--apikey",
    "mongosh",
    "mongodump",
    "wget",
    "net use",
    "sqlplus",
    "oracle:thin:",
    "--pass",
    "--auth-token",
    "--access-token",
];

/// The number of bytes of a command line that are examined.
const REACH: usize = 600;

/// Finds the secrets in the arguments of a tool, or after a long option.
pub(crate) fn command(ctx: &MatchContext<'_>, word: Range<usize>, out: &mut Vec<Match>) {
    let text = ctx.text;
    // The sign of a removed line in a diff is not part of a word.
    let removed = before(text, word.start) == b'-' && is(before(text, word.start - 1), LINE);
    let first = word.start == 1 && before(text, 1) == b'-';
    if is(before(text, word.start), U64) && !removed && !first {
        return;
    }
    let name = part(text, word.clone()).to_ascii_lowercase();
    if name.starts_with(b"--") {
        return long_option(ctx, &name, word.end, out);
    }
    if name == b"oracle:thin:" {
        return oracle(ctx, one_word(text, word.end), out);
    }
    if is(at(text, skip(text, word.end, AN, 12)), BLANK) {
        let words = split(text, word.end, REACH);
        tool(ctx, &name, &words, out);
    }
}

/// Finds the value of `--password VALUE`, `--password=VALUE` or `--from-literal=name=VALUE`.
fn long_option(ctx: &MatchContext<'_>, name: &[u8], end: usize, out: &mut Vec<Match>) {
    let text = ctx.text;
    if !(is(at(text, end), BLANK) || matches!(at(text, end), b'=' | b'"' | b'\'')) {
        return;
    }
    let mut start = skip(text, end + usize::from(at(text, end) == b'='), BLANK, 8);
    // Elements of a list: `"--password", "value"`.
    if matches!(at(text, end), b'"' | b'\'') {
        start = skip(text, end + 1, BLANK, 8);
        if at(text, start) != b',' {
            return;
        }
        start = skip(text, start + 1, BLANK | LINE, 40);
        // Without quotes the element is a variable.
        if !matches!(at(text, start), b'"' | b'\'') {
            return;
        }
    }
    let mut word = one_word(text, start);
    if name == b"--from-literal" {
        let Some(sign) = memchr::memchr(b'=', part(text, word.clone())) else { return };
        word = one_word(text, word.start + sign + 1);
    }
    let value = part(text, word.clone());
    let telling = value.iter().any(|byte| is(*byte, DIGIT) || !is(*byte, U64))
        || (value.iter().any(|b| is(*b, LOWER)) && value.iter().skip(1).any(|b| is(*b, UPPER)));
    let words = value
        .split(|byte| matches!(byte, b'-' | b'_'))
        .all(|piece| piece.iter().all(|byte| is(*byte, ALPHA)));
    if telling && !words {
        give(ctx, word, out);
    }
}

/// Finds the secrets in the options of one tool.
fn tool(ctx: &MatchContext<'_>, name: &[u8], words: &[Range<usize>], out: &mut Vec<Match>) {
    let text = ctx.text;
    let login = words.first().is_some_and(|first| part(text, first.clone()) == b"login");
    for (index, word) in words.iter().enumerate() {
        let value = part(text, word.clone());
        let next = words.get(index + 1).cloned();
        let after = |from: usize| (value.len() > from).then(|| unquoted(text, word.start + from..word.end));
        match (name, value) {
            (b"sshpass" | b"mongosh" | b"mongodump", b"-p")
            | (b"redis-cli", b"-a")
            | (b"ldapsearch" | b"ldapadd" | b"ldapmodify", b"-w")
            | (b"openssl", b"-k") => give_next(ctx, next, out),
            (b"docker" | b"podman", b"-p") if login => {
                give_next(ctx, next, out);
            }
            (b"curl", b"-u" | b"--user" | b"-U" | b"--proxy-user") => after_sign(ctx, next, b':', out),
            (b"smbclient", b"-U" | b"--user") => after_sign(ctx, next, b'%', out),
            (b"curl", _) if value.starts_with(b"-u") => after_sign(ctx, after(2), b':', out),
            (b"curl", _) if value.starts_with(b"--user=") => after_sign(ctx, after(7), b':', out),
            (b"smbclient", _) if value.starts_with(b"-U") => after_sign(ctx, after(2), b'%', out),
            (b"sshpass" | b"mysql" | b"mariadb", _)
                if value.starts_with(b"-p") && !value.iter().skip(1).all(|b| is(*b, LOWER)) =>
            {
                give_next(ctx, after(2), out);
            }
            (b"sqlplus", _) => oracle(ctx, word.clone(), out),
            (b"openssl", _) if value.starts_with(b"pass:") => give_next(ctx, after(5), out),
            (b"wget", _) if has(value, 0, "--http-password=") => give_next(ctx, after(16), out),
            (b"wget", _) if has(value, 0, "--ftp-password=") => give_next(ctx, after(15), out),
            _ => {}
        }
    }
}

fn give_next(ctx: &MatchContext<'_>, word: Option<Range<usize>>, out: &mut Vec<Match>) {
    if let Some(word) = word.filter(|word| !part(ctx.text, word.clone()).starts_with(b"-")) {
        give(ctx, word, out);
    }
}

/// Finds the password in `user/VALUE@database`.
fn oracle(ctx: &MatchContext<'_>, word: Range<usize>, out: &mut Vec<Match>) {
    let login = part(ctx.text, word.clone());
    let slash = memchr::memchr(b'/', login);
    let Some((slash, sign)) = slash.zip(memchr::memrchr(b'@', login)) else { return };
    let user = part(login, 0..slash);
    if !user.is_empty() && user.iter().all(|byte| is(*byte, U64)) && slash < sign {
        give(ctx, word.start + slash + 1..word.start + sign, out);
    }
}

/// Finds the password in `user:VALUE` or `user%VALUE`.
fn after_sign(ctx: &MatchContext<'_>, word: Option<Range<usize>>, sign: u8, out: &mut Vec<Match>) {
    let Some(word) = word else { return };
    if let Some(place) = memchr::memchr(sign, part(ctx.text, word.clone())) {
        give(ctx, word.start + place + 1..word.end, out);
    }
}

fn give(ctx: &MatchContext<'_>, word: Range<usize>, out: &mut Vec<Match>) {
    let value = part(ctx.text, word.clone());
    let variable = value.first().is_some_and(|byte| matches!(byte, b'$' | b'%' | b'<' | b'{' | b'@' | b'['))
        || value.contains(&b'$') && value.contains(&b'{');
    let metavariable = value.iter().all(|byte| is(*byte, UPPER) || *byte == b'_');
    let kept = ctx.keeps() && (is_masked(value) || is_placeholder(value));
    let path = value.starts_with(b"/") || value.starts_with(b"./");
    if value.len() >= 6 && !variable && !metavariable && !path && !is_template(value) && !kept {
        ctx.hit(rank("cli"), word, out);
    }
}

/// Splits a command line into words, without the quotes around a whole word.
fn split(text: &[u8], from: usize, reach: usize) -> Vec<Range<usize>> {
    let end = (from + reach).min(text.len());
    let mut words = Vec::new();
    let mut place = from;
    while place < end {
        place = skip(text, place, BLANK, reach);
        // A backslash before a line end continues the line.
        if at(text, place) == b'\\' && is(at(text, place + 1), LINE) {
            place = past_line_end(text, place + 1);
            continue;
        }
        let word = one_word(text, place);
        let quotes = usize::from(matches!(at(text, place), b'"' | b'\''));
        if word.is_empty() || is(at(text, place), LINE) {
            break;
        }
        place = word.end + quotes;
        words.push(word);
    }
    words
}

/// Returns the range of one word, without the quotes around it.
fn one_word(text: &[u8], from: usize) -> Range<usize> {
    let quote = at(text, from);
    if matches!(quote, b'"' | b'\'') {
        let length =
            part(text, from + 1..from + 300).iter().take_while(|b| **b != quote && !is(**b, LINE)).count();
        return from + 1..from + 1 + length;
    }
    let mut open = 0_u8;
    let length = part(text, from..from + 300)
        .iter()
        .take_while(|byte| {
            if matches!(**byte, b'"' | b'\'') {
                open = if open == **byte {
                    0
                } else if open == 0 {
                    **byte
                } else {
                    open
                };
            }
            !(is(**byte, LINE)
                || open == 0
                    && (is(**byte, BLANK) || matches!(**byte, b'|' | b';' | b'<' | b'>' | b'`' | b')')))
        })
        .count();
    unquoted(text, from..from + length)
}

/// Removes the quotes at both ends of a word.
fn unquoted(text: &[u8], word: Range<usize>) -> Range<usize> {
    let (first, last) = (at(text, word.start), before(text, word.end));
    if word.len() >= 2 && first == last && matches!(first, b'"' | b'\'') {
        word.start + 1..word.end - 1
    } else if word.len() >= 2
        && matches!(last, b'"' | b'\'' | b',')
        && !part(text, word.start..word.end - 1).contains(&last)
    {
        word.start..word.end - 1
    } else {
        word
    }
}
