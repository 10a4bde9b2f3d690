//! Values assigned to a name such as `password`: `name = value`, `"name": "value"`, `<name>value</name>`,
//! `key="name" value="value"`.
#![expect(clippy::arithmetic_side_effects, reason = "sums of offsets into one slice stay below isize::MAX")]

use core::ops::Range;

use crate::bytes::{
    ALPHA, AN, B64, BLANK, HEX, LINE, LOWER, NAME, U64, UNDER, UPPER, at, before, find, has, has_exact, is,
    line_end, line_start, part, run, run_back, skip,
};
use crate::redacted::kind::rank;
use crate::rules::context::value::{Quoting, is_value_byte, looks_secret, looks_weak};
use crate::rules::placeholder::is_template;
use crate::rules::{Match, MatchContext};

/// Words that make the value of a name a secret.
pub(crate) const WORDS: &[&str] = plugward_types::words![
    "password passwd pwd passphrase passwort kennwort senha contrase mot_de_passe motdepasse secret token",
    "api_key apikey api-key credential access_key access-key accesskey private_key privatekey auth_key",
    "authkey auth-key account_key accountkey account-key master_key masterkey master-key client_secret",
    "encryption_key encryptionkey signing_key signingkey _key _pass",
];

/// Last words of names that describe a secret but do not contain one.
const ABOUT: &[&str] = plugward_types::words![
    "file path dir url uri endpoint name id count type kind len length size limit budget expiry expires ttl",
    "env ref arn version prefix policy hint pattern field label tokens algorithm alg format regex ids names",
    "class index digest checksum",
];

/// Finds the value assigned to a name with one of [`WORDS`].
pub(crate) fn assigned(ctx: &MatchContext<'_>, word: Range<usize>, out: &mut Vec<Match>) {
    let text = ctx.text;
    // Of names joined by dots, the last one decides: `process.env.PERSONAL_ACCESS_TOKEN`.
    let ahead = part(text, word.start.saturating_sub(25)..word.start);
    let dot = memchr::memrchr(b'.', ahead).map_or(25, |dot| ahead.len() - dot - 1);
    let start = word.start - run_back(text, word.start, NAME, dot);
    let end = skip(text, word.end, NAME, 25);
    if word.start - start > 24 || end - word.end > 24 {
        return;
    }
    // Accented words (`contraseña`) continue with bytes outside ASCII.
    let end = if at(text, end) >= 0x80 {
        end + part(text, end..end + 24).iter().take_while(|b| **b >= 0x80 || is(**b, NAME)).count()
    } else {
        end
    };
    let name = part(text, start..end);
    if !name_tells(text, &word, start, end) || is_address(text, start, end) {
        return;
    }
    if at(text, end) == b'>' && before(text, start) == b'<' {
        return element(ctx, end + 1, out);
    }
    if at(text, end) == b'<' && next_element(ctx, end, out) {
        return;
    }
    let quote = at(text, end);
    if matches!(quote, b'"' | b'\'')
        && before(text, start) == quote
        && attribute(ctx, start - 1, end + 1, out)
    {
        return;
    }
    if let Some(place) = separator(text, end, name).or_else(|| sql_for(text, end, name)) {
        let found = out.len();
        value(ctx, place, out);
        if out.len() == found && is_password(part(text, word.start..end)) {
            weak(ctx, start..end, place, out);
        }
    }
}

/// Returns `true` for names whose values people make up.
fn is_password(name: &[u8]) -> bool {
    let names = plugward_types::words![
        "password passwd pwd passphrase passwort kennwort secret client_secret secret_key _pass",
    ];
    names.iter().any(|word| name.eq_ignore_ascii_case(word.as_bytes()))
}

/// Finds a weak value in text that is not code: `NAME=value` or `name: value` alone on its line, `"name": "value"`,
/// and a part of a connection string.
fn weak(ctx: &MatchContext<'_>, name: Range<usize>, start: usize, out: &mut Vec<Match>) {
    let text = ctx.text;
    let line = part(text, line_start(text, name.start, 80)..name.start);
    let glued = at(text, name.end) == b'=' && start == name.end + 1;
    let border = before(text, name.start);
    let value = if border == b'"' && at(text, name.end) == b'"' && at(text, start) == b'"' {
        let from = start + 1;
        let length = part(text, from..from + 65).iter().take_while(|byte| **byte != b'"').count();
        if at(text, from + length) == b'"' { from..from + length } else { return }
    } else if glued && (line.is_empty() || line == b"export ")
        || at(text, name.end) == b':' && is_yaml(part(text, name.clone()), line)
    {
        start..line_end(text, start, 80)
    } else if glued && (matches!(border, b'&' | b';' | b'?' | b'"') || border == b' ' && is_dsn(line)) {
        let ends = |byte: &u8| matches!(byte, b'&' | b';' | b'"' | b'\'') || is(*byte, LINE | BLANK);
        start..start + part(text, start..start + 65).iter().take_while(|byte| !ends(byte)).count()
    } else {
        return;
    };
    if looks_weak(part(text, value.clone()), ctx.examples) {
        ctx.hit(rank("generic"), value, out);
    }
}

/// Returns `true` for a key of YAML that is alone on its line. `secret:` often has the name of one as its value.
fn is_yaml(name: &[u8], line: &[u8]) -> bool {
    line.iter().all(|byte| is(*byte, BLANK) || *byte == b'-') && !name.eq_ignore_ascii_case(b"secret")
}

/// Returns `true` if fields of a connection string with blanks between are before a name: `host=db user=app `.
fn is_dsn(line: &[u8]) -> bool {
    ["host=", "user=", "dbname="].iter().any(|field| find(line, 0..line.len(), field).is_some())
}

/// Returns `true` for `arn:aws:secretsmanager:eu-west-1:123456789012:secret:app/db-AbCdEf`, which names the
/// location of a secret.
fn is_address(text: &[u8], start: usize, end: usize) -> bool {
    if at(text, end) != b':' || before(text, start) != b':' {
        return false;
    }
    let ahead = part(text, start.saturating_sub(120)..start).iter().rev();
    let length = ahead.take_while(|byte| is(**byte, NAME) || **byte == b':').count();
    has(text, start - length, "arn:")
}

/// Returns `true` if the whole name is that of a secret.
fn name_tells(text: &[u8], word: &Range<usize>, start: usize, end: usize) -> bool {
    let name = part(text, start..end);
    let upper_only = has_exact(text, word.start, "_KEY") || has_exact(text, word.start, "_PASS");
    let short_word = has(text, word.start, "_key") || has(text, word.start, "_pass");
    // `_key` and `_pass` count only in upper case and at the end of a name; the longer words count anywhere.
    let keyed = part(text, word.clone()).len() > 5;
    if short_word && !keyed {
        let capitals = name.iter().all(|byte| !is(*byte, LOWER));
        let public = name.windows(6).any(|w| w == b"PUBLIC" || w == b"FOREIG");
        if !upper_only || !capitals || end != word.end || word.start == start || public {
            return false;
        }
    }
    let last = last_word(part(text, word.start..end));
    let about = ABOUT.iter().any(|w| last.eq_ignore_ascii_case(w.as_bytes()));
    let rest = part(text, word.end..end);
    let glued = ABOUT.iter().any(|w| rest.eq_ignore_ascii_case(w.as_bytes()));
    let token = has(text, word.start, "token");
    let paging = token && rest.is_empty() && is_paging(part(text, start..word.start));
    !(about || glued || paging || rest.eq_ignore_ascii_case(b"s") && token)
}

/// Last words before `token` in the names of pagination tokens, which are public.
const PAGING: &[&str] = plugward_types::words![
    "page next previous prev continuation cursor sync resume paging pagination scroll",
];

/// Returns `true` if the text before `token` makes the name that of a pagination token: `next_page_`,
/// `Continuation`.
pub(crate) fn is_paging(head: &[u8]) -> bool {
    let head =
        part(head, 0..head.len() - run_back(head, head.len(), UNDER | crate::bytes::HYPHEN, head.len()));
    PAGING.iter().any(|word| head.len().checked_sub(word.len()).is_some_and(|start| has(head, start, word)))
}

/// Returns the last word of a name: after the last `_`, `-`, `.` or lowercase letter before a capital.
fn last_word(name: &[u8]) -> &[u8] {
    let mut start = 0;
    for (place, pair) in name.windows(2).enumerate() {
        let (first, second) = (at(pair, 0), at(pair, 1));
        if matches!(first, b'_' | b'-' | b'.') || (is(first, LOWER) && is(second, UPPER)) {
            start = place + 1;
        }
    }
    part(name, start..name.len())
}

/// Skips the separator after a name, and returns where its value begins.
fn separator(text: &[u8], name_end: usize, name: &[u8]) -> Option<usize> {
    let mut place = name_end;
    if matches!(at(text, place), b'"' | b'\'' | b'`') {
        place += 1;
    }
    if at(text, place) == b']' {
        place += 1;
    }
    // Bold and italic names in Markdown: `**password**: value`.
    place += part(text, place..place + 3).iter().take_while(|byte| **byte == b'*').count();
    let blank_from = place;
    place = skip(text, place, BLANK, 80);
    let next = match (at(text, place), at(text, place + 1)) {
        (b':', b':') => return None,
        (b':' | b'?' | b'+', b'=') | (b'=', b'>') => place + 2,
        (b'=', b'=') => place + if at(text, place + 2) == b'=' { 3 } else { 2 },
        (b':' | b'=', _) => place + 1,
        (b',', _)
            if matches!(before(text, blank_from), b'"' | b'\'') && has_call(text, name_end, name.len()) =>
        {
            place + 1
        }
        _ if place > blank_from && env_line(text, name_end - name.len()) => place,
        _ if place > blank_from && sql_role(text, name_end - name.len(), place, name) => place,
        // A command-line option.
        _ if place > blank_from && name.starts_with(b"--") => place,
        // A table row: the next cell is one word.
        (b'|', _) if is_cell(text, name_end - name.len(), place + 1) => place + 1,
        _ => return None,
    };
    let next = next + part(text, next..next + 3).iter().take_while(|byte| **byte == b'*').count();
    let value = skip(text, next, BLANK, 80);
    // `"password":` with its value on the next line.
    let wrapped = if is(at(text, value), LINE) { skip(text, value, BLANK | LINE, 80) } else { value };
    Some(if matches!(at(text, wrapped), b'"' | b'\'') { wrapped } else { value })
}

/// `CREATE USER joe WITH PASSWORD '…'`, `ALTER ROLE joe PASSWORD '…'`.
fn sql_role(text: &[u8], name_start: usize, value: usize, name: &[u8]) -> bool {
    let line = line_start(text, name_start, 300)..name_start;
    at(text, value) == b'\''
        && name.eq_ignore_ascii_case(b"password")
        && ["user ", "role ", "login "].iter().any(|word| find(text, line.clone(), word).is_some())
}

/// Returns where the value begins in `SET PASSWORD FOR 'joe'@'%' = '…'`.
fn sql_for(text: &[u8], end: usize, name: &[u8]) -> Option<usize> {
    if !name.eq_ignore_ascii_case(b"password") || !has(text, end, " for ") {
        return None;
    }
    let sign = find(text, end..line_end(text, end, 120), " = ")?;
    let place = skip(text, sign + 3, BLANK, 20);
    (at(text, place) == b'\'').then_some(place)
}

/// Finds the value in `CREATE USER joe IDENTIFIED BY '…'` and `IDENTIFIED WITH caching_sha2_password BY '…'`.
pub(crate) fn identified(ctx: &MatchContext<'_>, word: Range<usize>, out: &mut Vec<Match>) {
    let text = ctx.text;
    let rest = word.end..line_end(text, word.end, 80);
    let Some(by) = find(text, rest, " by ") else { return };
    let place = skip(text, by + 4, BLANK, 20);
    if matches!(at(text, place), b'\'' | b'"') {
        value(ctx, place, out);
    }
}

/// Returns `true` if the name fills a table cell, and a single word the next.
fn is_cell(text: &[u8], name: usize, next: usize) -> bool {
    let before_name = name - run_back(text, name, BLANK, 80);
    let word = skip(text, next, BLANK, 80);
    let length = part(text, word..word + 201).iter().take_while(|byte| is_value_byte(**byte)).count();
    let end = word + length;
    before(text, before_name) == b'|' && length > 0 && at(text, skip(text, end, BLANK, 80)) == b'|'
}

/// `<key>password</key><string>value</string>`, `<name>password</name><value>value</value>`.
fn next_element(ctx: &MatchContext<'_>, end: usize, out: &mut Vec<Match>) -> bool {
    let text = ctx.text;
    [("</key>", "<string>"), ("</name>", "<value>")].into_iter().any(|(close, open)| {
        let next = skip(text, end + close.len(), BLANK | LINE, 80);
        let named = has(text, end, close) && has(text, next, open);
        if named {
            element(ctx, next + open.len(), out);
        }
        named
    })
}

/// Returns `true` for a setter or an environment call: `setenv("NAME", "value")`, `.put("name", "value")`.
fn has_call(text: &[u8], name_end: usize, length: usize) -> bool {
    let open = name_end - length;
    before(text, open.saturating_sub(1)) == b'('
}

/// Returns `true` for a line of a container file: `ENV NAME value`, `setx NAME value`.
fn env_line(text: &[u8], name_start: usize) -> bool {
    let head = part(text, name_start.saturating_sub(5)..name_start);
    ["ENV ", "ARG ", "setx ", "setenv "]
        .iter()
        .any(|word| head.len() >= word.len().min(5) && ends_with(head, word))
}

fn ends_with(head: &[u8], word: &str) -> bool {
    let word = part(word.as_bytes(), word.len().saturating_sub(head.len())..word.len());
    head.ends_with(word)
}

/// Examines the value that begins at an offset.
fn value(ctx: &MatchContext<'_>, from: usize, out: &mut Vec<Match>) {
    let text = ctx.text;
    let mut place = from;
    // A type can be between name and value: `name: &str = "value"`, `name: String = "value"`.
    let typed = skip(text, place, AN | UNDER | BLANK, 40);
    if !matches!(at(text, place), b'"' | b'\'' | b'`') {
        let kind = part(text, place..place + 48);
        let span = kind
            .iter()
            .take_while(|b| {
                is(**b, AN | UNDER | BLANK)
                    || matches!(b, b'&' | b'\'' | b'<' | b'>' | b'[' | b']' | b'.' | b'?' | b':' | b'|')
            })
            .count();
        let equals = place + span;
        let quoted = skip(text, equals + 1, BLANK, 20);
        if span > 0
            && at(text, equals) == b'='
            && matches!(at(text, quoted), b'"' | b'\'' | b'`')
            && typed <= equals
        {
            place = quoted;
        }
    }
    // `b"…"`, `r"…"`, `@"…"`, `String::from("…")` and `process.env.X || "…"` are code around a literal.
    if is(at(text, place), ALPHA) || at(text, place) == b'@' {
        let call = skip(text, place, AN | UNDER | crate::bytes::DOT, 24);
        let call = if has(text, call, "::") { skip(text, call + 2, AN | UNDER, 16) } else { call };
        let literal = if at(text, place) == b'@' {
            place + 1
        } else if at(text, call) == b'(' {
            call + 1
        } else {
            call
        };
        let short = literal - place <= 2 || at(text, call) == b'(' && wraps(part(text, place..call));
        if short && matches!(at(text, literal), b'"' | b'\'') {
            place = literal;
        }
    }
    let quote = at(text, place);
    if matches!(quote, b'"' | b'\'' | b'`') {
        quoted(ctx, place, quote, out);
    } else {
        bare(ctx, place, out);
    }
}

/// Returns `true` for calls that only wrap a literal.
fn wraps(call: &[u8]) -> bool {
    plugward_types::byte_words![
        "String::from SecretString::from SecretString::new bytes str Some NewString aws.String String",
    ]
    .contains(&call)
}

fn quoted(ctx: &MatchContext<'_>, open: usize, quote: u8, out: &mut Vec<Match>) {
    let text = ctx.text;
    let triple = at(text, open + 1) == quote && at(text, open + 2) == quote;
    let start = open + if triple { 3 } else { 1 };
    let start = if triple { skip(text, start, LINE | BLANK, 8) } else { start };
    let length =
        part(text, start..start + 201).iter().take_while(|byte| **byte != quote && !is(**byte, LINE)).count();
    let end = start + length;
    if !triple && at(text, end) != quote {
        return;
    }
    let value = part(text, start..end);
    if ctx.documented(value) || looks_secret(value, Quoting::Quoted, ctx.examples) {
        ctx.hit(rank("generic"), start..end, out);
    }
}

fn bare(ctx: &MatchContext<'_>, start: usize, out: &mut Vec<Match>) {
    let text = ctx.text;
    let length = part(text, start..start + 201).iter().take_while(|byte| is_value_byte(**byte)).count();
    let end = start + length;
    let stop = at(text, end);
    // A tag that ends or breaks the line: the value is in an HTML page.
    let tag = has(text, end, "</") || has(text, end, "<br");
    // A full stop ends the sentence, unless a name continues after it.
    let dots = run(text, end, crate::bytes::DOT, 4);
    let sentence = dots > 0 && (is(at(text, end + dots), BLANK | LINE) || end + dots >= text.len());
    let code = matches!(stop, b'(' | b'.' | b':' | b'[' | b'<' | b'{') && !tag && !sentence;
    if whole_line(ctx, start, out) || code || length > 200 {
        return;
    }
    if matches!(stop, b'$' | b'\\') {
        return;
    }
    // A reference such as `&name` or `*name`, or an operator, is code.
    let start = start + usize::from(matches!(at(text, start), b'&' | b'*') && is(at(text, start + 1), ALPHA));
    // `&next=` begins the next field of a form.
    let field = memchr::memchr(b'&', part(text, start..end)).filter(|place| {
        let name = run(text, start + place + 1, NAME, 40);
        name > 0 && at(text, start + place + 1 + name) == b'='
    });
    let end = field.map_or(end, |place| start + place);
    let value = part(text, start..end);
    if looks_secret(value, Quoting::Bare, ctx.examples) {
        ctx.hit(rank("generic"), start..end, out);
    }
}

/// Finds the value of a line `NAME=value`, as in environment files. It can have the bytes of a quoted value.
fn whole_line(ctx: &MatchContext<'_>, start: usize, out: &mut Vec<Match>) -> bool {
    let text = ctx.text;
    let end = line_end(text, start, 220);
    let value = part(text, start..end);
    let line = line_start(text, start, 80);
    let head = part(text, line..start);
    let name = head.strip_suffix(b"=").or_else(|| head.strip_suffix(b": ")).unwrap_or_default();
    let name = name.strip_prefix(b"export ").unwrap_or(name);
    let plain = !name.is_empty() && name.iter().all(|byte| is(*byte, U64 | BLANK));
    let code = value.iter().any(|byte| {
        matches!(byte, b' ' | b'(' | b')' | b';' | b'{' | b'}' | b'<' | b'>' | b'"' | b'\'' | b'\\' | b'[')
    });
    let list = is_template(value) || value.last().is_some_and(|byte| matches!(byte, b',' | b'&'));
    if !plain || code || list || value.iter().all(|byte| is_value_byte(*byte)) || is_dotted(value) {
        return false;
    }
    let secret = looks_secret(value, Quoting::Quoted, ctx.examples);
    if secret {
        ctx.hit(rank("generic"), start..end, out);
    }
    secret
}

/// Returns `true` for names joined by dots: a path in code.
fn is_dotted(value: &[u8]) -> bool {
    value.iter().all(|byte| is(*byte, NAME)) && value.contains(&b'.')
}

/// Finds the value in `<name>value</name>`.
fn element(ctx: &MatchContext<'_>, start: usize, out: &mut Vec<Match>) {
    let text = ctx.text;
    let body = part(text, start..start + 300);
    let cdata = if body.starts_with(b"<![CDATA[") { 9 } else { 0 };
    let start = skip(text, start + cdata, BLANK | LINE, 40);
    let stop = if cdata > 0 { b']' } else { b'<' };
    let length =
        part(text, start..start + 201).iter().take_while(|byte| **byte != stop && !is(**byte, LINE)).count();
    let end = start + length - run_back(text, start + length, BLANK, length);
    if (at(text, start + length) == stop || is(at(text, start + length), LINE))
        && xml_value(ctx, part(text, start..end))
    {
        ctx.hit(rank("xml"), start..end, out);
    }
}

fn xml_value(ctx: &MatchContext<'_>, value: &[u8]) -> bool {
    looks_secret(value, Quoting::Quoted, ctx.examples)
}

/// Finds the value after a name in an attribute: `key="name" value="v"`, `name="name">v<`. Returns `true` if
/// the name is in one.
fn attribute(ctx: &MatchContext<'_>, open: usize, after: usize, out: &mut Vec<Match>) -> bool {
    let text = ctx.text;
    let head = part(text, open.saturating_sub(5)..open);
    if !(head.ends_with(b"key=")
        || head.ends_with(b"name=")
        || head.ends_with(b"Key=")
        || head.ends_with(b"Name="))
    {
        return false;
    }
    let place = skip(text, after, BLANK | LINE, 80);
    if at(text, place) == b'>' {
        element(ctx, place + 1, out);
        return true;
    }
    let quote = at(text, place + 6);
    if has(text, place, "value=") && matches!(quote, b'"' | b'\'') {
        let start = place + 7;
        let length = part(text, start..start + 201)
            .iter()
            .take_while(|byte| **byte != quote && !is(**byte, LINE))
            .count();
        if at(text, start + length) == quote && xml_value(ctx, part(text, start..start + length)) {
            ctx.hit(rank("xml"), start..start + length, out);
        }
    }
    true
}

/// Finds `PrivateKey = ` and `PresharedKey = ` with 43 bytes of base64 and `=`.
pub(crate) fn wireguard(ctx: &MatchContext<'_>, word: Range<usize>, out: &mut Vec<Match>) {
    let text = ctx.text;
    let place = skip_to_value(text, word.end);
    if run(text, place, B64, 60) == 43 && at(text, place + 43) == b'=' && at(text, place + 44) != b'=' {
        ctx.hit(rank("wireguard"), place..place + 44, out);
    }
}

/// Finds 64 hex digits assigned to a private key or a seed.
pub(crate) fn hex_key(ctx: &MatchContext<'_>, word: Range<usize>, out: &mut Vec<Match>) {
    let text = ctx.text;
    let name_end = skip(text, word.end, U64, 24);
    let mut place = skip_to_value(text, name_end);
    if has(text, place, "0x") {
        place += 2;
    }
    if place > name_end && run(text, place, HEX, 70) == 64 && !is(at(text, place + 64), AN) {
        ctx.hit(rank("hex-private-key"), place..place + 64, out);
    }
}

/// Skips a closing quote, blanks, one separator, blanks and an opening quote.
pub(crate) fn skip_to_value(text: &[u8], from: usize) -> usize {
    let mut place = from;
    if matches!(at(text, place), b'"' | b'\'' | b'`') {
        place += 1;
    }
    if at(text, place) == b']' {
        place += 1;
    }
    place = skip(text, place, BLANK, 40);
    place += match (at(text, place), at(text, place + 1)) {
        (b'=', b'>') | (b':', b'=') => 2,
        (b'=' | b':' | b'>', _) => 1,
        _ => 0,
    };
    place = skip(text, place, BLANK, 40);
    if matches!(at(text, place), b'"' | b'\'' | b'`') { place + 1 } else { place }
}
