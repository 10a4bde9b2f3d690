//! TOML, read line by line, so that a broken line does not affect the others.

use std::collections::{BTreeMap, BTreeSet};

use plugward_types::Part;

use crate::lex::data::path::Paths;
use crate::lex::data::scalar::{EscapeSyntax, Scalar, ScalarText, decode};
use crate::lex::data::tree::{CollectionKind, DuplicateKeys, Tree};
use crate::text::view::Obfuscations;

/// The tables and keys that were named so far.
struct TomlState {
    duplicates: DuplicateKeys,
    /// The depth of the tree in the last table header.
    base: usize,
    /// The first parts of the last dotted key, each an open map. `a.b = 1` and `a.c = 2` on the next line
    /// share `a`.
    dots: Vec<Vec<u8>>,
    /// The number of tables in each array of tables.
    lists: BTreeMap<u32, u32>,
    /// Tables and keys that must not be repeated.
    seen: BTreeSet<u32>,
    paths: Paths,
}

/// Reads a text as TOML.
pub(in crate::lex::data) fn read(tree: &mut Tree<'_, '_>) {
    let src = tree.src;
    let duplicates = core::mem::replace(&mut tree.duplicates, DuplicateKeys::Allowed);
    let (lists, seen, paths) = (BTreeMap::new(), BTreeSet::new(), Paths::default());
    let mut state = TomlState { duplicates, base: 1, dots: Vec::new(), lists, seen, paths };
    let mut at = if src.starts_with(b"\xEF\xBB\xBF") { 3 } else { 0 };
    while let Some(&byte) = src.get(at) {
        let line = tree.depth() == state.base + state.dots.len();
        at = match byte {
            b'\n' => {
                if line {
                    tree.comma();
                }
                at + 1
            }
            b'#' => {
                let rest = src.part(at..);
                let end = at + memchr::memchr(b'\n', rest).unwrap_or(rest.len());
                tree.comment(at, end);
                end
            }
            b'[' if line && !tree.is_keyed() => {
                tree.close_to(1, at);
                let next = header(tree, at, &mut state);
                (state.base, state.dots) = (tree.depth(), Vec::new());
                next
            }
            b'[' => one(at, || tree.open(CollectionKind::List, at)),
            b'{' => one(at, || tree.open(CollectionKind::Map, at)),
            b']' if !line => one(at, || tree.close(CollectionKind::List, at)),
            b'}' if !line => one(at, || tree.close(CollectionKind::Map, at)),
            b' ' | b'\t' | b'\r' | b']' | b'}' => at + 1,
            b',' => one(at, || tree.comma()),
            b'=' => one(at, || tree.assign()),
            _ if !tree.is_keyed() && !tree.in_list() => keys(tree, at, &mut state),
            b'"' | b'\'' => {
                let (scalar, next) = string(src, at, byte);
                tree.scalar(scalar);
                next
            }
            _ => {
                let end = bare(src, at, b"");
                tree.scalar(Scalar::range(at, end));
                end
            }
        };
    }
}

fn one(at: usize, then: impl FnOnce()) -> usize {
    then();
    at + 1
}

/// Returns the end of a bare word.
fn bare(src: &[u8], start: usize, more: &[u8]) -> usize {
    let rest = src.part(start + 1..);
    let stop = |byte: &u8| {
        matches!(
            byte,
            b' ' | b'\t' | b'\n' | b'\r' | b'"' | b'\'' | b'{' | b'}' | b'[' | b']' | b',' | b'=' | b'#'
        ) || more.contains(byte)
    };
    let len = rest.iter().position(stop).unwrap_or(rest.len());
    start + 1 + len
}

/// Reads a basic or literal string, single-line or multi-line.
fn string(src: &[u8], start: usize, quote: u8) -> (Scalar, usize) {
    let rest = src.part(start..);
    let long = rest.starts_with(&[quote; 3]);
    let marks = if long { 3 } else { 1 };
    let mut at = start + marks;
    if long {
        // TOML drops a line break directly after `"""`.
        let tail = src.part(at..);
        at += if tail.starts_with(b"\r\n") { 2 } else { usize::from(tail.starts_with(b"\n")) };
    }
    let first = at;
    let mut escaped = false;
    let stop = if long { quote } else { b'\n' };
    let (end, next) = loop {
        let rest = src.rest(at);
        let Some(more) = memchr::memchr3(quote, b'\\', stop, rest) else { break (src.len(), src.len()) };
        at += more;
        let here = src.part(at..);
        match here.first() {
            Some(b'\\') => {
                escaped |= quote == b'"';
                at += if quote == b'"' { 2 } else { 1 };
            }
            Some(byte) if *byte == quote && long => {
                let run = here.iter().take(5).take_while(|byte| **byte == quote).count();
                if run >= 3 {
                    let end = (at + run).saturating_sub(3);
                    break (end, end + 3);
                }
                at += run;
            }
            Some(byte) if *byte == quote => break (at, at + 1),
            // An unclosed single-line string ends with its line, so that the next lines are read.
            _ => break (at, at),
        }
    };
    let (end, next) = (end.min(src.len()), next.min(src.len()));
    let body = if escaped {
        ScalarText::View(decode(src, first.min(end), end, EscapeSyntax::Toml))
    } else {
        ScalarText::Range(first.min(end), end)
    };
    (Scalar { span: (start, next), body }, next)
}

/// Reads a dotted key such as `a."b.c".d`. Invalid text is read as one bare word.
fn dotted(src: &[u8], start: usize) -> (Vec<Scalar>, usize) {
    let mut parts = Vec::new();
    let mut at = start;
    loop {
        at = blanks(src, at);
        match src.get(at) {
            Some(&quote @ (b'"' | b'\'')) => {
                let (scalar, next) = string(src, at, quote);
                parts.push(scalar);
                at = next;
            }
            Some(b'.') => {}
            Some(byte) if !matches!(byte, b'=' | b']' | b'\n' | b'\r' | b',' | b'#' | b'}' | b'[' | b'{') => {
                let end = bare(src, at, b".");
                parts.push(Scalar::range(at, end));
                at = end;
            }
            _ => break,
        }
        let next = blanks(src, at);
        if src.get(next) != Some(&b'.') {
            at = if parts.is_empty() { at } else { next };
            break;
        }
        at = next + 1;
    }
    let taken = usize::from(parts.is_empty());
    (parts, at.max(start + taken))
}

fn blanks(src: &[u8], at: usize) -> usize {
    let rest = src.part(at..);
    at + rest.iter().take_while(|byte| matches!(byte, b' ' | b'\t')).count()
}

/// Reads `[table]` or `[[array of tables]]` and opens it.
fn header(tree: &mut Tree<'_, '_>, start: usize, state: &mut TomlState) -> usize {
    let src = tree.src;
    let repeated = src.get(start..).is_some_and(|rest| rest.starts_with(b"[["));
    let first = start + (if repeated { 2 } else { 1 });
    let (parts, mut at) = dotted(src, first);
    let last = parts.len().saturating_sub(1);
    let span = (start, at.min(src.len()));
    let how = parts.iter().fold(Obfuscations::NONE, |sum, part| sum.and(part.how()));
    for (index, part) in parts.into_iter().enumerate() {
        tree.set_key(&part);
        let path = tree.path.number(&mut state.paths);
        if index == last && repeated {
            let next = state.lists.get(&path).map_or(0, |known| known.saturating_add(1));
            state.lists.insert(path, next);
            tree.open_item(next, start);
        } else if let Some(&known) = state.lists.get(&path) {
            tree.open_item(known, start);
        } else {
            tree.open(CollectionKind::Map, start);
            if index == last && state.duplicates == DuplicateKeys::Reported && !state.seen.insert(path) {
                tree.sink.shape("config-duplicate-key", span, how);
            }
        }
    }
    let rest = src.rest(at);
    let marks = rest.iter().take_while(|byte| **byte == b']').count().min(2);
    at += marks;
    at
}

/// Reads a key. Words without a following `=` are values.
fn keys(tree: &mut Tree<'_, '_>, start: usize, state: &mut TomlState) -> usize {
    let (mut parts, at) = dotted(tree.src, start);
    let at = blanks(tree.src, at);
    let Some(first) = parts.first() else { return at };
    let mut span = first.span;
    if tree.src.get(at) != Some(&b'=') {
        let end = parts.last().map_or(span.1, |part| part.span.1);
        tree.scalar(Scalar::range(span.0, end));
        return end.max(start + 1);
    }
    let how = parts.iter().fold(Obfuscations::NONE, |sum, part| sum.and(part.how()));
    span.1 = parts.last().map_or(span.1, |part| part.span.1);
    let last = parts.pop();
    if tree.depth() == state.base + state.dots.len() {
        prefix(tree, parts, start, state);
        if let Some(last) = last {
            tree.set_key(&last);
        }
    } else {
        let mut parts = parts.into_iter().chain(last);
        if let Some(first) = parts.next() {
            tree.set_key(&first);
        }
        for part in parts {
            tree.add_key(&part);
        }
    }
    if state.duplicates == DuplicateKeys::Reported && !state.seen.insert(tree.path.number(&mut state.paths)) {
        tree.sink.shape("config-duplicate-key", span, how);
    }
    at + 1
}

/// Opens the maps of the first parts of a dotted key, or continues those of the previous line.
fn prefix(tree: &mut Tree<'_, '_>, parts: Vec<Scalar>, at: usize, state: &mut TomlState) {
    let same = state
        .dots
        .iter()
        .zip(&parts)
        .take_while(|(known, part)| known.as_slice() == part.bytes(tree.src))
        .count();
    tree.close_to(state.base + same, at);
    state.dots.truncate(same);
    for part in parts.into_iter().skip(same) {
        let before = tree.depth();
        state.dots.push(part.bytes(tree.src).to_vec());
        tree.set_key(&part);
        tree.open(CollectionKind::Map, at);
        if tree.depth() == before {
            // At the nesting limit, further parts keep the current path.
            state.dots.pop();
            break;
        }
    }
}
