//! The values of Kubernetes Secrets, in YAML and JSON, with `kind` before or after `data`.
#![expect(clippy::arithmetic_side_effects, reason = "sums of offsets into one slice stay below isize::MAX")]

use core::ops::Range;

use crate::bytes::{
    ALPHA, AN, B64_ANY, BLANK, EQUALS, LINE, NAME, at, before, find, has_exact, is, line_end, line_start,
    part, past_line_end, run, run_back, skip,
};
use crate::redacted::kind::rank;
use crate::rules::documents::jwt::enclosing;
use crate::rules::placeholder::is_template;
use crate::rules::{Match, MatchContext};

/// How much of a document is read before and after its kind.
pub(crate) const REACH: usize = 16 * 1024;

/// Finds every value under `data` if `kind` is Secret.
pub(crate) fn secret(ctx: &MatchContext<'_>, word: Range<usize>, out: &mut Vec<Match>) {
    let text = ctx.text;
    let json = at(text, word.end) == b'"' && before(text, word.start) == b'"';
    let colon = skip(text, word.end + usize::from(json), BLANK, 8);
    let mut value = skip(text, colon + 1, BLANK, 8);
    value += usize::from(matches!(at(text, value), b'"' | b'\''));
    let named = at(text, colon) == b':' && has_exact(text, value, "Secret") && !is(at(text, value + 6), AN);
    if !named || is(before(text, word.start), AN) || ctx.memo.seen_secret(word.start) {
        return;
    }
    if json {
        let object = enclosing(text, word.start, REACH);
        ctx.memo.note_secret(object.end);
        members(ctx, object, out);
    } else {
        let document = siblings(text, word.start);
        ctx.memo.note_secret(document.end);
        lines(ctx, word.start - line_start(text, word.start, 200), document, out);
    }
}

/// Finds the members of `data` and `stringData` of a JSON object.
fn members(ctx: &MatchContext<'_>, object: Range<usize>, out: &mut Vec<Match>) {
    let text = ctx.text;
    for name in ["\"data\"", "\"stringData\""] {
        let Some(found) = find(text, object.clone(), name) else { continue };
        let colon = skip(text, found + name.len(), BLANK | LINE, 40);
        let open = skip(text, colon + 1, BLANK | LINE, 200);
        if at(text, colon) != b':' || at(text, open) != b'{' {
            continue;
        }
        let mut place = open + 1;
        while place < object.end && at(text, place) != b'}' {
            let key = string(text, place, object.end);
            let colon = skip(text, key.end + 1, BLANK | LINE, 200);
            let value = string(text, colon, object.end);
            if key.is_empty() || at(text, colon) != b':' {
                break;
            }
            give(ctx, value.clone(), out);
            place = skip(text, value.end + 1, BLANK | LINE, 200);
            if at(text, place) != b',' {
                break;
            }
            place = skip(text, place + 1, BLANK | LINE, 200);
        }
    }
}

/// Returns the content of the next string literal.
fn string(text: &[u8], from: usize, end: usize) -> Range<usize> {
    let Some(open) = memchr::memchr(b'"', part(text, from..end)) else { return end..end };
    let start = from + open + 1;
    let mut place = start;
    while place < end && at(text, place) != b'"' {
        place += if at(text, place) == b'\\' { 2 } else { 1 };
    }
    start..place.min(end)
}

/// Returns the column of the first key of a line, after blanks and list dashes. `None` for an empty line or a
/// comment.
fn column(text: &[u8], line: usize, end: usize) -> Option<(usize, bool)> {
    // The sign of a line in a diff counts as a blank.
    let sign = at(text, line) == b'+' || at(text, line) == b'-' && !is(at(text, line + 1), BLANK);
    let mut place = skip(text, line + usize::from(sign && line < end), BLANK, end - line);
    let mut item = false;
    while at(text, place) == b'-' && is(at(text, place + 1), BLANK) && place < end {
        item = true;
        place = skip(text, place + 1, BLANK, end - place);
    }
    (place < end && at(text, place) != b'#').then_some((place - line, item))
}

/// Returns `true` for the borders of a YAML document (`---` alone on a line), and for lines of a view that
/// are not adjacent in the raw text.
fn is_border(line: &[u8]) -> bool {
    line.starts_with(b"---") || line.starts_with(b"...") || line.starts_with(b"\x1f")
}

/// Returns where the first `data` begins whose kind may follow after the text.
pub(crate) fn open(text: &[u8]) -> Option<usize> {
    memchr::memmem::find_iter(text, "ata").find_map(|found| {
        let key = found - run_back(text, found, ALPHA, 10);
        let name = part(text, key..found + 3);
        if !(name == b"data" || name == b"stringData") || text.len() - key > 2 * REACH {
            return None;
        }
        let colon = skip(text, found + 4, BLANK | LINE, 40);
        let json = before(text, key) == b'"'
            && at(text, found + 3) == b'"'
            && (colon >= text.len() || at(text, colon) == b':')
            && enclosing(text, key, REACH).end >= text.len();
        let line = line_start(text, key, 200);
        let yaml = column(text, line, key + 1).is_some_and(|(place, _)| line + place == key)
            && is_mapping(text, key)
            && siblings(text, key).end >= text.len();
        (json || yaml).then_some(key)
    })
}

/// Returns `true` if `data:` or `stringData:` is at an offset, with at most a comment after it on its line.
fn is_mapping(text: &[u8], key: usize) -> bool {
    let name = run(text, key, NAME, 12);
    let named =
        matches!(part(text, key..key + name), b"data" | b"stringData") && at(text, key + name) == b':';
    let rest = skip(text, key + name + 1, BLANK, 80);
    named && (rest >= text.len() || is(at(text, rest), LINE) || at(text, rest) == b'#')
}

/// Returns the lines of the mapping that a key belongs to.
fn siblings(text: &[u8], key: usize) -> Range<usize> {
    let own = line_start(text, key, 200);
    let indent = key - own;
    let floor = own.saturating_sub(REACH);
    let mut start = own;
    let first = column(text, own, line_end(text, own, REACH)).is_some_and(|(_, item)| item);
    while start > floor && !first {
        let end = start - 1 - usize::from(has_exact(text, start.saturating_sub(2), "\r\n"));
        let line = line_start(text, end, REACH);
        if is_border(part(text, line..end)) || line < floor {
            break;
        }
        match column(text, line, end) {
            Some((place, _)) if place < indent => break,
            Some((place, true)) if place == indent => {
                start = line;
                break;
            }
            _ => start = line,
        }
    }
    let ceiling = (own + REACH).min(text.len());
    let mut end = past_line_end(text, line_end(text, key, REACH));
    while end < ceiling {
        let stop = line_end(text, end, REACH);
        let leaves = match column(text, end, stop) {
            Some((place, item)) => place < indent || (item && place == indent),
            None => false,
        };
        if leaves || is_border(part(text, end..stop)) {
            break;
        }
        end = past_line_end(text, stop).max(stop + 1);
    }
    start..end.min(text.len())
}

/// Finds the values under `data:` and `stringData:` at the column of `kind`.
fn lines(ctx: &MatchContext<'_>, indent: usize, document: Range<usize>, out: &mut Vec<Match>) {
    let text = ctx.text;
    let mut inside = false;
    let mut open: Option<(usize, Range<usize>)> = None;
    let mut line = document.start;
    while line < document.end {
        let end = line_end(text, line, REACH).min(document.end);
        let next = past_line_end(text, end).max(end + 1);
        let Some((place, _)) = column(text, line, end) else {
            line = next;
            continue;
        };
        let key = line + place;
        if place <= indent {
            close(ctx, &mut open, out);
            inside = is_mapping(text, key);
        } else if inside {
            match &mut open {
                // A block scalar, or the folded lines of a long base64 value.
                Some((column, range)) if place > *column && goes_on(text, range, key..end) => {
                    if range.start == range.end {
                        range.start = key;
                    }
                    range.end = end;
                }
                _ => {
                    close(ctx, &mut open, out);
                    open = entry(text, key, end).map(|value| (place, value));
                    inside = open.is_some();
                }
            }
        }
        line = next;
    }
    close(ctx, &mut open, out);
}

/// Returns `true` if a deeper line continues the value above it.
fn goes_on(text: &[u8], value: &Range<usize>, line: Range<usize>) -> bool {
    let bytes = part(text, line);
    let block = value.is_empty() || memchr::memchr2(b'\n', b'\r', part(text, value.clone())).is_some();
    let folded = bytes.iter().all(|byte| is(*byte, B64_ANY | EQUALS) || matches!(byte, b'"' | b'\''));
    folded || (block && bytes.iter().all(|byte| *byte >= b' ' || *byte == b'\t'))
}

/// Returns the value of a `key: value` line, or an empty range at its end if the value is on deeper lines.
fn entry(text: &[u8], key: usize, end: usize) -> Option<Range<usize>> {
    let name =
        part(text, key..end).iter().take_while(|b| is(**b, NAME) || matches!(b, b'"' | b'\'' | b'/')).count();
    let colon = key + name;
    if name == 0 || at(text, colon) != b':' {
        return None;
    }
    let start = skip(text, colon + 1, BLANK, 80).min(end);
    if matches!(at(text, start), b'|' | b'>')
        && run(text, start + 1, AN | crate::bytes::HYPHEN | crate::bytes::PLUS_SLASH, 4) + start + 1 == end
    {
        return Some(end..end);
    }
    Some(start..end)
}

fn close(ctx: &MatchContext<'_>, open: &mut Option<(usize, Range<usize>)>, out: &mut Vec<Match>) {
    let Some((_, range)) = open.take() else { return };
    let text = ctx.text;
    let quote = at(text, range.start);
    let mut end = range.end;
    while end > range.start && is(before(text, end), BLANK | LINE) {
        end -= 1;
    }
    let quoted = matches!(quote, b'"' | b'\'') && end > range.start + 1 && before(text, end) == quote;
    give(ctx, if quoted { range.start + 1..end - 1 } else { range.start..end }, out);
}

fn give(ctx: &MatchContext<'_>, range: Range<usize>, out: &mut Vec<Match>) {
    let value = part(ctx.text, range.clone());
    let nothing = matches!(value, b"" | b"\"\"" | b"''" | b"{}" | b"null" | b"~") || value.starts_with(b"#");
    if !nothing && !is_template(value) {
        ctx.hit(rank("k8s-secret"), range, out);
    }
}
