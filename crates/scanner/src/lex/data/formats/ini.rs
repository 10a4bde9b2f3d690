//! INI-like settings: `[section]` and `key = value`, as in git, pip, npm and `.env` files.

use plugward_types::Part;

use crate::lex::data::scalar::{EscapeSyntax, Scalar, ScalarText, decode};
use crate::lex::data::tree::{CollectionKind, Tree};

/// Reads a text as lines of settings.
pub(in crate::lex::data) fn read(tree: &mut Tree<'_, '_>) {
    let src = tree.src;
    let mut at = if src.starts_with(b"\xEF\xBB\xBF") { 3 } else { 0 };
    while at < src.len() {
        let rest = src.part(at..);
        let blanks = rest.iter().take_while(|byte| byte.is_ascii_whitespace()).count();
        at += blanks;
        let end = line_end(src, at);
        match src.get(at) {
            None => break,
            Some(b'#' | b';') => tree.comment(at, end),
            // npm writes the host of a token without a scheme: `//host/:_authToken=…`.
            Some(b'[') => section(tree, at, end),
            Some(_) => setting(tree, at, end),
        }
        at = end;
    }
}

/// Returns the end of a line. A backslash before the line break continues the line.
fn line_end(src: &[u8], start: usize) -> usize {
    let mut at = start;
    loop {
        let rest = src.part(at..);
        let Some(more) = memchr::memchr2(b'\n', b'\r', rest) else { return src.len() };
        at += more;
        let head = src.part(start..at);
        let marks = head.iter().rev().take_while(|byte| **byte == b'\\').count();
        if marks % 2 == 0 {
            return at;
        }
        let rest = src.part(at..);
        at += if rest.starts_with(b"\r\n") { 2 } else { 1 };
    }
}

/// Reads `[section]` or `[section "name"]`, which a setting may follow on the same line.
fn section(tree: &mut Tree<'_, '_>, start: usize, end: usize) {
    let src = tree.src;
    tree.close_to(1, start);
    let line = src.part(start..end);
    let close = memchr::memchr(b']', line).unwrap_or(line.len());
    let inner = line.part(1..close);
    let first = start + 1;
    let name = inner.iter().position(|byte| matches!(byte, b' ' | b'\t' | b'"')).unwrap_or(inner.len());
    open(tree, &Scalar::range(first, first + name), start);
    if let Some(quote) = memchr::memchr(b'"', inner) {
        let from = quote + 1;
        let tail = inner.part(from..);
        let len = memchr::memchr(b'"', tail).unwrap_or(tail.len());
        let from = first + from;
        open(tree, &Scalar::range(from, from + len), start);
    }
    let after = start + close + 1;
    let rest = line.rest(close + 1);
    if rest.iter().any(|byte| !byte.is_ascii_whitespace()) {
        let blanks = rest.iter().take_while(|byte| byte.is_ascii_whitespace()).count();
        setting(tree, after + blanks, end);
    }
}

fn open(tree: &mut Tree<'_, '_>, name: &Scalar, at: usize) {
    tree.set_key(name);
    tree.open(CollectionKind::Map, at);
}

/// Reads `key = value`, `key: value`, `key value` or a key alone.
fn setting(tree: &mut Tree<'_, '_>, start: usize, end: usize) {
    let src = tree.src;
    let line = src.part(start..end);
    let line = line.strip_prefix(b"export ").unwrap_or(line);
    let start = end.saturating_sub(line.len());
    // A scope or host in front may contain colons: `@team:registry=…`, `//host/:_authToken=…`.
    let mark = memchr::memchr(b'=', line)
        .or_else(|| memchr::memmem::find(line, b": "))
        .or_else(|| memchr::memchr2(b' ', b'\t', line));
    let Some(mark) = mark else {
        tree.set_key(&Scalar::range(start, start + line.trim_ascii_end().len()));
        tree.scalar(Scalar::range(end, end));
        tree.comma();
        return;
    };
    let key = line.part(..mark).trim_ascii_end();
    let key = key.strip_suffix(b"[]").unwrap_or(key);
    let (key_start, key_end) = match key {
        [b'"', inner @ .., b'"'] => (start + 1, start + inner.len() + 1),
        _ => (start, start + key.len()),
    };
    tree.set_key(&Scalar::range(key_start, key_end));
    let from = start + mark + 1;
    let rest = src.part(from..end);
    let from = from + rest.iter().take_while(|byte| byte.is_ascii_whitespace()).count();
    tree.scalar(text(src, from, end));
    tree.comma();
}

/// Returns a value without its quotes and trailing comment, with escapes decoded.
fn text(src: &[u8], start: usize, end: usize) -> Scalar {
    let line = src.part(start..end);
    if let Some(&quote @ (b'"' | b'\'')) = line.first() {
        let first = start + 1;
        let mut at = 1_usize;
        while let Some(byte) = line.get(at) {
            match byte {
                b'\\' if quote == b'"' => at += 2,
                byte if *byte == quote => break,
                _ => at += 1,
            }
        }
        let stop = (start + at).min(end);
        let escaped = memchr::memchr(b'\\', src.part(first..stop)).is_some();
        let body = if escaped && quote == b'"' {
            ScalarText::View(decode(src, first, stop, EscapeSyntax::Plain))
        } else {
            ScalarText::Range(first.min(stop), stop)
        };
        return Scalar { span: (start, (stop + 1).min(end)), body };
    }
    let comment = memchr::memmem::find(line, b" #").or_else(|| memchr::memmem::find(line, b" ;"));
    let len = line.part(..comment.unwrap_or(line.len())).trim_ascii_end().len();
    let stop = start + len;
    let escaped = memchr::memchr2(b'\\', b'"', line.part(..len)).is_some();
    let body = if escaped {
        ScalarText::View(decode(src, start, stop, EscapeSyntax::Plain))
    } else {
        ScalarText::Range(start, stop)
    };
    Scalar { span: (start, stop), body }
}
