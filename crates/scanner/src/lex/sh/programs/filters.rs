//! The output of `echo`, `printf`, and filters such as `base64 -d` and `tr` with a known input.
//!
//! This is constant folding for shells: `echo Y3VybA== | base64 -d | sh` runs `curl`.

use plugward_types::{Part, base64, hex};

use crate::lex::sh::state::flat::FlatText;
use crate::text::view::Obfuscations;

/// The most bytes of output that are tracked per command. Longer output is unknown.
pub(in crate::lex::sh) const MAX: usize = 1 << 16;

/// Returns the output of `echo`.
pub(in crate::lex::sh) fn echo(words: &[FlatText]) -> FlatText {
    let mut escapes = false;
    let mut rest = words;
    while let [first, tail @ ..] = rest {
        let option = first.bytes.strip_prefix(b"-").is_some_and(|letters| {
            !letters.is_empty() && letters.iter().all(|letter| matches!(letter, b'n' | b'e' | b'E'))
        });
        if !option {
            break;
        }
        escapes |= first.bytes.contains(&b'e');
        rest = tail;
    }
    let mut out = FlatText::default();
    for (word, index) in rest.iter().zip(0_usize..) {
        if index > 0 {
            let at = out.source(out.len().saturating_sub(1), out.len()).1;
            out.unit(b" ", (at, at), Obfuscations::NONE);
        }
        if escapes && word.bytes.contains(&b'\\') {
            unescape(word, &mut out);
        } else {
            out.add(word, 0, word.len());
        }
    }
    out
}

/// Returns the output of `printf`.
pub(in crate::lex::sh) fn printf(words: &[FlatText]) -> Option<FlatText> {
    let (format, args) = words.split_first()?;
    let mut args = args.iter();
    let mut out = FlatText::default();
    for _ in 0..64 {
        let before = args.len();
        format_once(format, &mut args, &mut out)?;
        if args.len() == 0 || args.len() == before || out.len() > MAX {
            break;
        }
    }
    Some(out)
}

fn format_once(
    format: &FlatText,
    args: &mut core::slice::Iter<'_, FlatText>,
    out: &mut FlatText,
) -> Option<()> {
    let mut at = 0_usize;
    while let Some(&byte) = format.bytes.get(at) {
        if byte == b'\\' {
            at = one_escape(format, at, out);
            continue;
        }
        if byte != b'%' {
            out.add(format, at, at + 1);
            at += 1;
            continue;
        }
        at += 1;
        while format
            .bytes
            .get(at)
            .is_some_and(|byte| matches!(byte, b'-' | b'+' | b' ' | b'#' | b'0'..=b'9' | b'.'))
        {
            at += 1;
        }
        match format.bytes.get(at) {
            Some(b'%') => out.add(format, at, at + 1),
            Some(b's' | b'q' | b'd' | b'i') => {
                if let Some(arg) = args.next() {
                    out.add(arg, 0, arg.len());
                }
            }
            Some(b'b') => {
                if let Some(arg) = args.next() {
                    unescape(arg, out);
                }
            }
            Some(b'c') => {
                if let Some(arg) = args.next() {
                    out.add(arg, 0, arg.len().min(1));
                }
            }
            _ => return None,
        }
        at += 1;
    }
    Some(())
}

fn unescape(text: &FlatText, out: &mut FlatText) {
    let mut at = 0_usize;
    while at < text.len() {
        let plain = text.bytes.get(at..).and_then(|rest| memchr::memchr(b'\\', rest));
        let end = plain.map_or(text.len(), |plain| at + plain);
        out.add(text, at, end);
        at = end;
        if at < text.len() {
            at = one_escape(text, at, out);
        }
    }
}

/// Appends the character of the escape at `at`, and returns the end of the escape.
fn one_escape(text: &FlatText, at: usize, out: &mut FlatText) -> usize {
    let rest = text.bytes.part(at + 1..);
    let Some((value, len)) = escape(rest) else {
        out.add(text, at, at + 1);
        return at + 1;
    };
    let end = at + len + 1;
    let how = if spelled(rest, &value) { Obfuscations::SHELL } else { Obfuscations::NONE };
    out.unit(&value, text.source(at, end), how);
    end
}

/// Returns `true` if a numeric escape spells printable ASCII, which needs no escape.
pub(in crate::lex::sh) fn spelled(rest: &[u8], value: &[u8]) -> bool {
    matches!(rest, [b'x' | b'u' | b'U' | b'0'..=b'7', ..]) && value.iter().all(u8::is_ascii_graphic)
}

/// Reads an escape after its backslash: the decoded bytes and its length.
pub(in crate::lex::sh) fn escape(rest: &[u8]) -> Option<(Vec<u8>, usize)> {
    let number = |digits: &[u8], most: usize, radix: u32| -> Option<(u32, usize)> {
        let len = digits.iter().take(most).take_while(|digit| char::from(**digit).is_digit(radix)).count();
        let text = core::str::from_utf8(digits.get(..len)?).ok()?;
        Some((u32::from_str_radix(text, radix).ok()?, len))
    };
    let byte = |value: u32| vec![u8::try_from(value & 0xFF).unwrap_or(0)];
    let tail = rest.part(1..);
    Some(match rest.first()? {
        b'n' => (b"\n".to_vec(), 1),
        b't' => (b"\t".to_vec(), 1),
        b'r' => (b"\r".to_vec(), 1),
        b'a' => (vec![7], 1),
        b'b' => (vec![8], 1),
        b'f' => (vec![12], 1),
        b'v' => (vec![11], 1),
        b'e' | b'E' => (vec![27], 1),
        b'\\' => (b"\\".to_vec(), 1),
        b'\'' => (b"'".to_vec(), 1),
        b'"' => (b"\"".to_vec(), 1),
        b'x' => {
            let (value, len) = number(tail, 2, 16)?;
            (byte(value), len + 1)
        }
        b'u' | b'U' => {
            let (value, len) = number(tail, if rest.first() == Some(&b'u') { 4 } else { 8 }, 16)?;
            (char::from_u32(value)?.to_string().into_bytes(), len + 1)
        }
        b'0' => {
            let (value, len) = number(rest, 4, 8)?;
            (byte(value), len)
        }
        b'1'..=b'7' => {
            let (value, len) = number(rest, 3, 8)?;
            (byte(value), len)
        }
        _ => return None,
    })
}

/// Returns the output of a filter for a known input, or `None` for other programs.
pub(in crate::lex::sh) fn filter(name: &[u8], args: &[Vec<u8>], input: &FlatText) -> Option<FlatText> {
    let all = input.source(0, input.len());
    let made = |bytes: Vec<u8>, how: Obfuscations| {
        let mut out = FlatText::default();
        out.unit(&bytes, all, input.how(0, input.len()).and(how));
        Some(out)
    };
    let has = |wanted: &[&[u8]]| args.iter().any(|arg| wanted.contains(&arg.as_slice()));
    let decodes: &[&[u8]] = &[b"-d", b"-D", b"--decode", b"-di", b"-id"];
    match name {
        b"cat" | b"tee" => has_file(args, name).then(|| input.clone()),
        b"rev" => {
            let lines = input.bytes.split(|byte| *byte == b'\n');
            let turned: Vec<Vec<u8>> = lines.map(|line| line.iter().rev().copied().collect()).collect();
            made(turned.join(&b'\n'), Obfuscations::SHELL)
        }
        b"tac" => {
            let mut lines: Vec<&[u8]> = input.bytes.split(|byte| *byte == b'\n').collect();
            lines.reverse();
            made(lines.join(&b'\n'), Obfuscations::SHELL)
        }
        b"tr" => made(translate(args, &input.bytes)?, Obfuscations::SHELL),
        b"base64" if has(decodes) => {
            made(base64::decode(&input.bytes)?, Obfuscations::SHELL.and(Obfuscations::DECODE))
        }
        b"base32" if has(decodes) => {
            made(base64::decode32(&input.bytes)?, Obfuscations::SHELL.and(Obfuscations::DECODE))
        }
        b"openssl" if has(decodes) && has(&[b"base64", b"enc", b"-base64", b"-a"]) => {
            made(base64::decode(&input.bytes)?, Obfuscations::SHELL.and(Obfuscations::DECODE))
        }
        b"xxd" if args.iter().any(|arg| arg.starts_with(b"-") && arg.contains(&b'r')) => {
            made(hex::decode(&input.bytes)?, Obfuscations::SHELL.and(Obfuscations::DECODE))
        }
        _ => None,
    }
}

/// Returns `true` if the arguments name a file; otherwise the filter reads its input.
fn has_file(args: &[Vec<u8>], name: &[u8]) -> bool {
    name == b"tee" || args.iter().all(|arg| arg.starts_with(b"-") || arg == b"/dev/stdin")
}

fn translate(args: &[Vec<u8>], input: &[u8]) -> Option<Vec<u8>> {
    let (options, sets): (Vec<_>, Vec<_>) =
        args.iter().partition(|arg| arg.starts_with(b"-") && arg.len() > 1);
    let flags: Vec<u8> = options.iter().flat_map(|option| option.iter().copied()).collect();
    if flags.contains(&b'c') || flags.contains(&b'C') {
        return None;
    }
    let from = set(sets.first()?)?;
    if flags.contains(&b'd') {
        return Some(input.iter().copied().filter(|byte| !from.contains(byte)).collect());
    }
    let to = set(sets.get(1)?)?;
    let last = *to.last()?;
    let map = |byte: u8| {
        from.iter().rposition(|known| *known == byte).map_or(byte, |at| to.get(at).copied().unwrap_or(last))
    };
    Some(input.iter().copied().map(map).collect())
}

/// Reads a set of `tr`: ranges, character classes, escapes.
fn set(text: &[u8]) -> Option<Vec<u8>> {
    let mut out = Vec::new();
    let mut at = 0_usize;
    while let Some(rest) = text.get(at..).filter(|rest| !rest.is_empty()) {
        for (class, range) in
            [(&b"[:lower:]"[..], b'a'..=b'z'), (b"[:upper:]", b'A'..=b'Z'), (b"[:digit:]", b'0'..=b'9')]
        {
            if rest.starts_with(class) {
                out.extend(range);
                at += class.len();
            }
        }
        let rest = text.part(at..);
        match rest {
            [] => break,
            [from, b'-', to, ..] if from <= to => {
                out.extend(*from..=*to);
                at += 3;
            }
            [b'\\', tail @ ..] => {
                let (value, len) = escape(tail)?;
                out.extend(value);
                at += len + 1;
            }
            [byte, ..] => {
                out.push(*byte);
                at += 1;
            }
        }
        if out.len() > 1024 {
            return None;
        }
    }
    Some(out)
}
