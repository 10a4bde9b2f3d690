//! Files that hold shell commands: Dockerfiles and Makefiles.

use super::flat::Flat;
use crate::entry::Lens;
use crate::lex::Lexed;
use crate::options::Limits;
use crate::sink::{EmbeddedText, Sink};
use crate::text::Within;
use crate::view::How;

/// How a file of this lens is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Script,
    Docker,
    Make,
    Power,
    Batch,
}

/// Says by a file's name how it is read.
pub(super) fn kind(path: &str) -> Kind {
    let (name, ending) = crate::inventory::names::parts(path);
    match (name.as_str(), ending.as_str()) {
        ("makefile" | "gnumakefile" | "justfile" | ".justfile", _) | (_, "mk" | "just") => Kind::Make,
        ("dockerfile" | "containerfile", _) | (_, "dockerfile") => Kind::Docker,
        (_, "ps1" | "psm1") => Kind::Power,
        (_, "bat" | "cmd") => Kind::Batch,
        (name, _) if name.starts_with("dockerfile.") => Kind::Docker,
        _ => Kind::Script,
    }
}

/// Gives the lines of a text with their places, joined where a backslash ends them.
fn logical_lines(src: &[u8]) -> Vec<(usize, usize)> {
    let mut out = Vec::new();
    let mut start = 0_usize;
    let mut at = 0_usize;
    while at < src.len() {
        let rest = src.get(at..).unwrap_or_default();
        let len = memchr::memchr(b'\n', rest).unwrap_or(rest.len());
        let end = at.saturating_add(len);
        let line = src.get(at..end).unwrap_or_default().trim_ascii_end();
        // A comment between joined lines is left out.
        let inside = at > start && line.trim_ascii_start().starts_with(b"#");
        at = end.saturating_add(1);
        if line.ends_with(b"\\") || inside {
            continue;
        }
        out.push((start, end));
        start = at;
    }
    if start < src.len() {
        out.push((start, src.len()));
    }
    out
}

/// Reads what a Dockerfile runs.
pub(super) fn dockerfile(src: &[u8], sink: &mut Sink<'_>, limits: &Limits, out: &mut Lexed) {
    let mut ranges = Vec::new();
    let mut skip_to = 0_usize;
    for (start, end) in logical_lines(src) {
        let line = src.get(start..end).unwrap_or_default();
        let blanks = line.iter().take_while(|byte| byte.is_ascii_whitespace()).count();
        let mut body = line.get(blanks..).unwrap_or_default();
        let mut at = start.saturating_add(blanks);
        if start < skip_to {
            continue;
        }
        if body.starts_with(b"#") {
            comment(src, at, end, out);
            continue;
        }
        let mut word = first_word(body);
        if word.eq_ignore_ascii_case(b"onbuild") {
            (body, at) = behind(body, at, word.len());
            word = first_word(body);
        }
        if word.eq_ignore_ascii_case(b"healthcheck") {
            (body, at) = behind(body, at, word.len());
            (body, at) = behind_options(body, at);
            word = first_word(body);
        }
        let runs =
            [&b"run"[..], b"cmd", b"entrypoint", b"shell"].iter().any(|name| word.eq_ignore_ascii_case(name));
        if word.eq_ignore_ascii_case(b"env") {
            let (body, at) = behind(body, at, word.len());
            environment(body, at, sink);
            continue;
        }
        if !runs {
            continue;
        }
        (body, at) = behind(body, at, word.len());
        (body, at) = behind_options(body, at);
        if body.starts_with(b"[") {
            exec_form(body, at, sink);
            continue;
        }
        if body.starts_with(b"<<") {
            skip_to = heredoc(src, at, end, sink);
            continue;
        }
        ranges.push((at, end));
    }
    for range in ranges {
        super::script(src, &[range], sink, limits, out);
    }
}

fn comment(src: &[u8], start: usize, end: usize, out: &mut Lexed) {
    let text = src.get(start..end).unwrap_or_default();
    let marks = text.iter().take_while(|byte| matches!(byte, b'#' | b' ' | b'\t')).count();
    out.text.begin(Within::Comment, 0);
    out.text.raw(text.get(marks..).unwrap_or_default(), start.saturating_add(marks), How::NONE);
    out.text.end();
}

fn first_word(line: &[u8]) -> &[u8] {
    let len = line.iter().position(u8::is_ascii_whitespace).unwrap_or(line.len());
    line.get(..len).unwrap_or_default()
}

/// Gives what stands behind a word and its blanks.
fn behind(line: &[u8], at: usize, len: usize) -> (&[u8], usize) {
    let rest = line.get(len..).unwrap_or_default();
    let gap = |byte: &u8| byte.is_ascii_whitespace() || *byte == b'\\';
    let blanks = rest.iter().take_while(|byte| gap(byte)).count();
    (rest.get(blanks..).unwrap_or_default(), at.saturating_add(len).saturating_add(blanks))
}

fn behind_options(mut line: &[u8], mut at: usize) -> (&[u8], usize) {
    while line.starts_with(b"--") {
        (line, at) = behind(line, at, first_word(line).len());
    }
    (line, at)
}

/// `ENV NAME value` and `ENV NAME=value` set what later commands see.
fn environment(body: &[u8], at: usize, sink: &mut Sink<'_>) {
    let mut flat = Flat::default();
    let word = first_word(body);
    flat.unit(b"export ", (at, at), How::NONE);
    if word.contains(&b'=') {
        flat.plain(body, at, How::NONE);
    } else {
        let (value, from) = behind(body, at, word.len());
        flat.plain(word, at, How::NONE);
        flat.unit(b"=", (from, from), How::NONE);
        flat.plain(value, from, How::NONE);
    }
    sink.embed(Lens::Sh, EmbeddedText::View(flat.view(0, flat.len())));
}

/// `["program", "argument"]`.
fn exec_form(body: &[u8], at: usize, sink: &mut Sink<'_>) {
    let mut flat = Flat::default();
    let mut rest = body;
    let mut from = at;
    while let Some(open) = memchr::memchr(b'"', rest) {
        let tail = rest.get(open.saturating_add(1)..).unwrap_or_default();
        let mut end = 0_usize;
        while let Some(byte) = tail.get(end).filter(|byte| **byte != b'"') {
            end = end.saturating_add(if *byte == b'\\' { 2 } else { 1 });
        }
        let end = end.min(tail.len());
        let start = from.saturating_add(open).saturating_add(1);
        word(&mut flat, tail.get(..end).unwrap_or_default(), start);
        from = start.saturating_add(end).saturating_add(1);
        rest = tail.get(end.saturating_add(1)..).unwrap_or_default();
    }
    sink.embed(Lens::Sh, EmbeddedText::View(flat.view(0, flat.len())));
}

/// Adds one word of a command so that the shell's reader takes it as one.
pub(super) fn word(flat: &mut Flat, text: &[u8], at: usize) {
    if flat.len() > 0 {
        flat.unit(b" ", (at, at), How::NONE);
    }
    let mut place = at;
    let mut rest = text;
    let plain = |byte: &u8| {
        byte.is_ascii_alphanumeric()
            || matches!(byte, b'-' | b'_' | b'/' | b'.' | b'=' | b':' | b'@' | b'%' | b'+')
            || *byte >= 0x80
    };
    let quote = text.is_empty() || !text.iter().all(plain);
    if quote {
        flat.unit(b"'", (at, at), How::NONE);
    }
    while let Some(byte) = rest.first() {
        let (value, len): (&[u8], usize) = match rest {
            [b'\\', b'n', ..] => (b"\n", 2),
            [b'\\', b't', ..] => (b"\t", 2),
            [b'\\', _, ..] => (rest.get(1..2).unwrap_or_default(), 2),
            _ => (rest.get(..1).unwrap_or_default(), 1),
        };
        if value == b"'" {
            flat.unit(b"'\\''", (place, place.saturating_add(len)), How::NONE);
        } else if len == 1 {
            flat.plain(&[*byte], place, How::NONE);
        } else {
            flat.unit(value, (place, place.saturating_add(len)), How::NONE);
        }
        place = place.saturating_add(len);
        rest = rest.get(len..).unwrap_or_default();
    }
    if quote {
        flat.unit(b"'", (place, place), How::NONE);
    }
}

/// `RUN <<EOF`: the lines below are the script. Gives where reading goes on.
fn heredoc(src: &[u8], at: usize, end: usize, sink: &mut Sink<'_>) -> usize {
    let head = src.get(at..end).unwrap_or_default();
    let mark = head.iter().skip(2).skip_while(|byte| matches!(byte, b'-' | b'"' | b'\''));
    let mark: Vec<u8> =
        mark.take_while(|byte| byte.is_ascii_alphanumeric() || **byte == b'_').copied().collect();
    let mut from = end.saturating_add(1).min(src.len());
    let start = from;
    while from < src.len() {
        let rest = src.get(from..).unwrap_or_default();
        let len = memchr::memchr(b'\n', rest).unwrap_or(rest.len());
        if rest.get(..len).unwrap_or_default().trim_ascii() == mark {
            break;
        }
        from = from.saturating_add(len).saturating_add(1);
    }
    let from = from.min(src.len());
    // A program between the mark and the line's end reads it: `RUN <<EOF python3`.
    sink.embed(Lens::Sh, EmbeddedText::Range(at.min(start), from));
    sink.embed(Lens::Sh, EmbeddedText::Range(start, from));
    from
}

/// Reads the recipes of a Makefile.
pub(super) fn makefile(src: &[u8], sink: &mut Sink<'_>, out: &mut Lexed) {
    let mut script = Flat::default();
    let mut names: std::collections::BTreeMap<Vec<u8>, Vec<u8>> = std::collections::BTreeMap::new();
    let mut budget = (1_usize << 20).saturating_add(src.len().saturating_mul(4));
    let (name, ending) = crate::inventory::names::parts(sink.path);
    let just = name.ends_with("justfile") || ending == "just";
    let mut prefix = b'\t';
    for (start, end) in logical_lines(src) {
        let line = src.get(start..end).unwrap_or_default();
        let recipe = line.strip_prefix(&[prefix]).or_else(|| line.strip_prefix(b" ").filter(|_| just));
        if let Some(recipe) = recipe {
            let marks =
                recipe.iter().take_while(|byte| matches!(byte, b'@' | b'-' | b'+' | b' ' | b'\t')).count();
            let at = start.saturating_add(marks).saturating_add(1);
            recipe_line(recipe.get(marks..).unwrap_or_default(), at, &names, &mut budget, &mut script);
            script.unit(b"\n", (end, end), How::NONE);
            continue;
        }
        let text = line.trim_ascii_start();
        if text.starts_with(b"#") {
            comment(src, end.saturating_sub(text.len()), end, out);
            continue;
        }
        shell_calls(line, start, sink);
        if let Some(at) = memchr::memchr(b'=', line) {
            let (head, value) =
                (line.get(..at).unwrap_or_default(), line.get(at.saturating_add(1)..).unwrap_or_default());
            if head.ends_with(b"!") {
                let from = start.saturating_add(at).saturating_add(1);
                sink.embed(Lens::Sh, EmbeddedText::Range(from, end));
            }
            let name = head.trim_ascii_end();
            let name = name
                .iter()
                .rposition(|byte| !matches!(byte, b':' | b'?' | b'+' | b'!'))
                .map_or(&[][..], |last| name.get(..=last).unwrap_or_default());
            let name = name.trim_ascii();
            let name = name.strip_prefix(b"export ").unwrap_or(name).trim_ascii();
            if name == b".RECIPEPREFIX" {
                prefix = value.trim_ascii().first().copied().unwrap_or(b'\t');
            }
            if super::wrap::is_name(name) && value.len() <= 4096 {
                names.insert(name.to_vec(), value.trim_ascii().to_vec());
            }
            if head.starts_with(b"export ") {
                let mut flat = Flat::default();
                flat.unit(b"export ", (start, start), How::NONE);
                flat.plain(name, start, How::NONE);
                flat.unit(b"=", (start, end), How::NONE);
                word_value(&mut flat, value.trim_ascii(), (start, end));
                sink.embed(Lens::Sh, EmbeddedText::View(flat.view(0, flat.len())));
            }
        }
        // `target: ; command` on one line.
        if let Some(at) =
            memchr::memchr(b';', line).filter(|at| line.get(..*at).is_some_and(|head| head.contains(&b':')))
        {
            let from = start.saturating_add(at).saturating_add(1);
            recipe_line(
                line.get(at.saturating_add(1)..).unwrap_or_default(),
                from,
                &names,
                &mut budget,
                &mut script,
            );
            script.unit(b"\n", (end, end), How::NONE);
        }
    }
    if script.len() > 0 {
        sink.embed(Lens::Sh, EmbeddedText::View(script.view(0, script.len())));
    }
}

fn word_value(flat: &mut Flat, value: &[u8], from: (usize, usize)) {
    flat.unit(b"'", (from.0, from.0), How::NONE);
    let value: Vec<u8> = value.iter().copied().filter(|byte| *byte != b'\'').collect();
    flat.unit(&value, from, How::NONE);
    flat.unit(b"'", (from.1, from.1), How::NONE);
}

/// `$(shell command)` outside of a recipe.
fn shell_calls(line: &[u8], start: usize, sink: &mut Sink<'_>) {
    for at in memchr::memmem::find_iter(line, b"(shell ") {
        let from = at.saturating_add(7);
        let mut open = 0_usize;
        let rest = line.get(from..).unwrap_or_default();
        let close = rest.iter().position(|byte| match byte {
            b'(' => {
                open = open.saturating_add(1);
                false
            }
            b')' if open == 0 => true,
            b')' => {
                open = open.saturating_sub(1);
                false
            }
            _ => false,
        });
        let len = close.unwrap_or(rest.len());
        let begin = start.saturating_add(from);
        sink.embed(Lens::Sh, EmbeddedText::Range(begin, begin.saturating_add(len)));
        if close.is_none() {
            break;
        }
    }
}

/// Adds a recipe's line as the shell gets it.
fn recipe_line(
    line: &[u8],
    start: usize,
    names: &std::collections::BTreeMap<Vec<u8>, Vec<u8>>,
    budget: &mut usize,
    out: &mut Flat,
) {
    let mut at = 0_usize;
    while let Some(rest) = line.get(at..).filter(|rest| !rest.is_empty()) {
        let len = memchr::memchr(b'$', rest).unwrap_or(rest.len());
        let place = start.saturating_add(at);
        out.plain(rest.get(..len).unwrap_or_default(), place, How::NONE);
        at = at.saturating_add(len);
        let place = start.saturating_add(at);
        let rest = line.get(at..).unwrap_or_default();
        match rest {
            [b'$', b'$', ..] => {
                out.plain(b"$", place.saturating_add(1), How::NONE);
                at = at.saturating_add(2);
            }
            [b'$', open @ (b'(' | b'{'), tail @ ..] => {
                let close = if *open == b'(' { b')' } else { b'}' };
                let len = tail.iter().take(4096).position(|byte| *byte == close);
                let Some(len) = len else {
                    out.plain(b"$", place, How::NONE);
                    at = at.saturating_add(1);
                    continue;
                };
                let name = tail.get(..len).unwrap_or_default();
                let end = place.saturating_add(len).saturating_add(3);
                if let Some(command) = name.strip_prefix(b"shell ") {
                    out.unit(b"$(", (place, place.saturating_add(2)), How::NONE);
                    out.plain(command, place.saturating_add(8), How::NONE);
                    out.unit(b")", (end.saturating_sub(1), end), How::NONE);
                } else if let Some(value) = names.get(name)
                    && let Some(left) = budget.checked_sub(value.len())
                {
                    *budget = left;
                    out.unit(value, (place, end), How::SHELL);
                } else if name == b"SHELL" {
                    out.unit(b"sh", (place, end), How::NONE);
                } else {
                    out.unit(b"${X}", (place, end), How::NONE);
                }
                at = at.saturating_add(len).saturating_add(3);
            }
            [b'$', next, ..] => {
                let text: &[u8] = if next.is_ascii_alphabetic() { b"${X}" } else { b"${@}" };
                out.unit(text, (place, place.saturating_add(2)), How::NONE);
                at = at.saturating_add(2);
            }
            _ => {
                out.plain(rest, place, How::NONE);
                break;
            }
        }
    }
}
