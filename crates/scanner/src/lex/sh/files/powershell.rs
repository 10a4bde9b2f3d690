//! PowerShell and batch files.
//!
//! The code view omits comments and characters that only split words, such as the backtick in ``I`EX``;
//! strings stay in it.

use std::collections::BTreeMap;

use plugward_types::Part;

use crate::lex::Lexed;
use crate::scan::sink::Sink;
use crate::text::Within;
use crate::text::view::Obfuscations;

/// The longest value of a variable that is tracked. Each use copies the value.
const MAX: usize = 300;

type Values<'a> = BTreeMap<Vec<u8>, &'a [u8]>;

/// Reads `$name = value` up to the end of the line or command.
fn assigned(src: &[u8], at: usize) -> Option<(Vec<u8>, &[u8])> {
    let name = dollar_name(src, at)?;
    let from = at + name.len() + 1;
    let rest = src.get(from..)?;
    let gap = rest.iter().take(16).take_while(|byte| matches!(byte, b' ' | b'\t')).count();
    let value = rest.get(gap..)?.strip_prefix(b"=").filter(|value| !value.starts_with(b"="))?;
    let len = value.iter().take(MAX).position(|byte| matches!(byte, b'\n' | b'\r' | b';'));
    let len = len.or_else(|| (value.len() <= MAX).then_some(value.len()))?;
    Some((name.to_ascii_lowercase(), value.get(..len)?))
}

fn dollar_name(src: &[u8], at: usize) -> Option<&[u8]> {
    let rest = src.get(at + 1..)?;
    let len = rest.iter().take_while(|byte| byte.is_ascii_alphanumeric() || **byte == b'_').count();
    rest.get(..len).filter(|name| !name.is_empty() && name.len() <= 64)
}

/// Lexes a PowerShell script. The code view keeps strings, because their content is often run.
pub(in crate::lex::sh) fn lex(src: &[u8], _sink: &mut Sink<'_>, out: &mut Lexed) {
    let mut at = 0_usize;
    let mut quote = 0_u8;
    let mut values = Values::new();
    let mut budget = src.len().saturating_mul(4);
    while let Some(&byte) = src.get(at) {
        let rest = src.part(at..);
        match byte {
            b'$' if quote == 0 => {
                let name = dollar_name(src, at).unwrap_or_default();
                let end = at + name.len() + 1;
                if let Some((name, value)) = assigned(src, at) {
                    values.insert(name, value);
                    out.code.copy(src.part(at..end), at, Obfuscations::NONE, 0);
                } else if let Some(value) = values.get(&name.to_ascii_lowercase())
                    && let Some(left) = budget.checked_sub(value.len())
                {
                    // A variable is replaced by its value.
                    budget = left;
                    let value = plain_text(value);
                    out.code.put(&value, (at, end), Obfuscations::NONE, 0);
                } else {
                    out.code.copy(src.part(at..end), at, Obfuscations::NONE, 0);
                }
                at = end;
            }
            b'#' if quote == 0 && boundary(src, at) => {
                let len = memchr::memchr(b'\n', rest).unwrap_or(rest.len());
                comment(rest.part(..len), at, out);
                at += len;
            }
            b'<' if quote == 0 && rest.starts_with(b"<#") => {
                let len = memchr::memmem::find(rest, b"#>").map_or(rest.len(), |len| len + 2);
                comment(rest.part(..len), at, out);
                at += len;
            }
            // A backtick inside a word has no effect; at the end of a line it continues the line.
            b'`' if quote != b'\'' => {
                let joins = matches!(rest.get(1), Some(b'\n' | b'\r'));
                out.code.skip(if joins { Obfuscations::NONE } else { Obfuscations::SHELL });
                at += 1;
                if joins {
                    blank(at, out);
                    at += rest
                        .get(1..)
                        .map_or(0, |rest| rest.iter().take_while(|byte| byte.is_ascii_whitespace()).count());
                }
            }
            b'\'' | b'"' => {
                if quote == byte {
                    quote = 0;
                } else if quote == 0 {
                    quote = byte;
                }
                at += 1;
            }
            b'+' if quote == 0 && joined(src, at) => {
                // Two strings joined by `+` are one.
                out.code.skip(Obfuscations::SHELL);
                let rest = rest.part(1..);
                let gap = rest.iter().take_while(|byte| byte.is_ascii_whitespace()).count();
                at += gap + 1;
            }
            b'\n' => {
                quote = 0;
                out.code.copy(b"\n", at, Obfuscations::NONE, 0);
                at += 1;
            }
            byte if byte.is_ascii_whitespace() => {
                blank(at, out);
                at += 1;
            }
            _ => {
                let plain = |byte: &&u8| byte.is_ascii_alphanumeric() || **byte >= 0x80;
                let len = rest.iter().take_while(plain).count().max(1);
                out.code.copy(rest.part(..len), at, Obfuscations::NONE, 0);
                at += len;
            }
        }
    }
    strings(src, out);
}

/// Returns a value as the code view shows it: without quotes and without splitting characters.
fn plain_text(value: &[u8]) -> Vec<u8> {
    let value = value.trim_ascii();
    value.iter().copied().filter(|byte| !matches!(byte, b'\'' | b'"' | b'`')).collect()
}

fn blank(at: usize, out: &mut Lexed) {
    if out.code.bytes.last().is_some_and(|byte| !byte.is_ascii_whitespace()) {
        out.code.put(b" ", (at, at), Obfuscations::NONE, 0);
    }
}

/// Returns `true` if a number sign at `at` can begin a comment; inside a word it cannot.
fn boundary(src: &[u8], at: usize) -> bool {
    at.checked_sub(1).and_then(|before| src.get(before)).is_none_or(|byte| {
        byte.is_ascii_whitespace() || matches!(byte, b';' | b'(' | b'{' | b')' | b'}' | b'|')
    })
}

/// Returns `true` if a plus at `at` joins two strings.
fn joined(src: &[u8], at: usize) -> bool {
    let quote = |byte: Option<&u8>| matches!(byte, Some(b'\'' | b'"'));
    let before = src.part(at.saturating_sub(64)..at);
    let after = src.part(at + 1..src.len().min(at + 65));
    quote(before.iter().rev().find(|byte| !byte.is_ascii_whitespace()))
        && quote(after.iter().find(|byte| !byte.is_ascii_whitespace()))
}

fn comment(text: &[u8], at: usize, out: &mut Lexed) {
    out.text.begin(Within::Comment, 0);
    for line in text.split_inclusive(|byte| *byte == b'\n') {
        let from = at + line.as_ptr().addr().wrapping_sub(text.as_ptr().addr());
        out.text.raw(line, from, Obfuscations::NONE);
    }
    out.text.end();
}

/// Adds the rest of the file as text.
fn strings(src: &[u8], out: &mut Lexed) {
    let mut at = 0_usize;
    for line in src.split_inclusive(|byte| *byte == b'\n') {
        out.text.begin(Within::String, 0);
        out.text.raw(line, at, Obfuscations::NONE);
        out.text.end();
        at += line.len();
    }
}

/// Lexes a batch file.
pub(in crate::lex::sh) fn batch(src: &[u8], _sink: &mut Sink<'_>, out: &mut Lexed) {
    let mut at = 0_usize;
    let mut values = Values::new();
    let mut budget = src.len().saturating_mul(4);
    for line in src.split_inclusive(|byte| *byte == b'\n') {
        let text = line.trim_ascii_start();
        let text = text.strip_prefix(b"@").unwrap_or(text);
        let word = text.part(..4.min(text.len())).to_ascii_lowercase();
        if text.starts_with(b"::") || word.starts_with(b"rem ") || word.trim_ascii() == b"rem" {
            comment(line, at, out);
        } else {
            if let Some((name, value)) = batch_set(text) {
                values.insert(name, value);
            }
            let mut from = at;
            for part in line.split_inclusive(|byte| matches!(byte, b'^' | b' ' | b'\t' | b'"')) {
                let end = from + part.len();
                let last = part.last().copied().unwrap_or(0);
                let body = if matches!(last, b'^' | b' ' | b'\t' | b'"') {
                    part.part(..part.len().saturating_sub(1))
                } else {
                    part
                };
                batch_part(body, from, &values, &mut budget, out);
                match last {
                    b'^' => out.code.skip(Obfuscations::SHELL),
                    b'"' => {
                        let odd = out.code.bytes.last().is_some_and(u8::is_ascii_alphabetic)
                            && src.get(end).is_some_and(u8::is_ascii_alphabetic);
                        if odd {
                            out.code.skip(Obfuscations::SHELL);
                        } else {
                            out.code.copy(b"\"", end.saturating_sub(1), Obfuscations::NONE, 0);
                        }
                    }
                    b' ' | b'\t' => blank(end.saturating_sub(1), out),
                    _ => {}
                }
                from = end;
            }
        }
        at += line.len();
    }
    strings(src, out);
}

/// Reads `set name=value`.
fn batch_set(line: &[u8]) -> Option<(Vec<u8>, &[u8])> {
    let (word, rest) = line.split_at_checked(4)?;
    if !word.eq_ignore_ascii_case(b"set ") && !word.eq_ignore_ascii_case(b"set\t") {
        return None;
    }
    let rest = rest.trim_ascii();
    let rest = rest.strip_prefix(b"\"").map_or(rest, |rest| rest.strip_suffix(b"\"").unwrap_or(rest));
    let at = memchr::memchr(b'=', rest).filter(|at| (1..=64).contains(at))?;
    let value = rest.get(at + 1..).filter(|value| value.len() <= MAX)?;
    Some((rest.get(..at)?.to_ascii_lowercase(), value))
}

/// Appends part of a line, with `%name%` replaced by its value.
fn batch_part(part: &[u8], from: usize, values: &Values<'_>, budget: &mut usize, out: &mut Lexed) {
    let mut at = 0_usize;
    while let Some(open) = part.get(at..).and_then(|rest| memchr::memchr(b'%', rest)) {
        let open = at + open;
        let name = open + 1;
        let Some(len) = part.get(name..).and_then(|rest| memchr::memchr(b'%', rest)) else { break };
        let close = name + len;
        let value = part.get(name..close).filter(|name| name.len() <= 64);
        let value = value.and_then(|name| values.get(&name.to_ascii_lowercase()));
        let paid = value.and_then(|value| budget.checked_sub(value.len()));
        let (Some(value), Some(left)) = (value, paid) else {
            out.code.copy(part.part(at..close), from + at, Obfuscations::NONE, 0);
            at = close;
            if value.is_none() && len == 0 {
                out.code.copy(b"%", from + close, Obfuscations::NONE, 0);
                at = close + 1;
            }
            continue;
        };
        *budget = left;
        let (start, end) = (from + open, from + close + 1);
        out.code.copy(part.part(at..open), from + at, Obfuscations::NONE, 0);
        out.code.put(value, (start, end), Obfuscations::SHELL, 0);
        at = close + 1;
    }
    out.code.copy(part.part(at..), from + at, Obfuscations::NONE, 0);
}
