//! Constant folding: functions and methods of the languages, applied to constants.
//!
//! `None` means that the result is not known. The value is then open, and a rule that needs a constant does not match
//! it. A wrong constant would be worse than none: it could hide the text that the program builds.

use plugward_types::{Part, base64, hex};

use super::constant::{ConstantValue, LONGEST};
use super::{Language, decode};
use crate::view::Obfuscations;

fn text(constant: &ConstantValue) -> Option<&[u8]> {
    if let ConstantValue::Text(bytes) = constant { Some(bytes) } else { None }
}

fn number(constant: &ConstantValue) -> Option<i64> {
    if let ConstantValue::Number(number) = constant { Some(*number) } else { None }
}

fn chars(bytes: &[u8]) -> Vec<char> {
    String::from_utf8_lossy(bytes).chars().collect()
}

fn from_chars(chars: impl IntoIterator<Item = char>) -> ConstantValue {
    ConstantValue::Text(chars.into_iter().collect::<String>().into_bytes())
}

/// Returns the item at an index; negative indices count from the end.
pub(super) fn at<T>(items: &[T], index: i64) -> Option<&T> {
    let len = i64::try_from(items.len()).ok()?;
    let index = if index < 0 { len.checked_add(index)? } else { index };
    items.get(usize::try_from(index).ok()?)
}

/// Returns the range between two indices within a length; negative indices count from the end.
fn range(len: usize, start: Option<i64>, end: Option<i64>) -> core::ops::Range<usize> {
    let len = i64::try_from(len).unwrap_or(i64::MAX);
    let place = |at: i64| if at < 0 { len.saturating_add(at).max(0) } else { at.min(len) };
    let start = place(start.unwrap_or(0));
    let end = place(end.unwrap_or(len)).max(start);
    usize::try_from(start).unwrap_or(0)..usize::try_from(end).unwrap_or(0)
}

fn cut<T: Clone>(items: &[T], start: Option<i64>, end: Option<i64>, step: Option<i64>) -> Option<Vec<T>> {
    match step.unwrap_or(1) {
        1 => Some(items.get(range(items.len(), start, end))?.to_vec()),
        -1 if start.is_none() && end.is_none() => Some(items.iter().rev().cloned().collect()),
        step if step > 1 => {
            let part = items.get(range(items.len(), start, end))?;
            Some(part.iter().step_by(usize::try_from(step).ok()?).cloned().collect())
        }
        step if start.is_none() && end.is_none() && step < 0 => {
            Some(items.iter().rev().step_by(usize::try_from(step.checked_neg()?).ok()?).cloned().collect())
        }
        _ => None,
    }
}

/// Folds Python's `value[start:end:step]`.
pub(super) fn slice(
    value: &ConstantValue,
    start: Option<i64>,
    end: Option<i64>,
    step: Option<i64>,
) -> Option<ConstantValue> {
    match value {
        ConstantValue::Text(bytes) => Some(from_chars(cut(&chars(bytes), start, end, step)?)),
        ConstantValue::List(items) => Some(ConstantValue::List(cut(items, start, end, step)?)),
        ConstantValue::Number(_) => None,
    }
}

/// Folds Python's `template % value`.
pub(super) fn percent(template: &ConstantValue, value: &ConstantValue) -> Option<ConstantValue> {
    let template = text(template)?;
    let values = match value {
        ConstantValue::List(items) => items.clone(),
        other => vec![other.clone()],
    };
    let mut values = values.iter();
    let mut out = Vec::new();
    let mut rest = template.iter();
    while let Some(byte) = rest.next() {
        if *byte != b'%' {
            out.push(*byte);
            continue;
        }
        match rest.next()? {
            b'%' => out.push(b'%'),
            b's' | b'd' | b'i' | b'r' => out.extend_from_slice(&shown(values.next()?)?),
            b'c' => match values.next()? {
                ConstantValue::Number(code) => out.extend_from_slice(&character(*code)?),
                other => out.extend_from_slice(text(other)?),
            },
            _ => return None,
        }
    }
    Some(ConstantValue::Text(out))
}

fn shown(value: &ConstantValue) -> Option<Vec<u8>> {
    match value {
        ConstantValue::Text(bytes) => Some(bytes.clone()),
        ConstantValue::Number(number) => Some(number.to_string().into_bytes()),
        ConstantValue::List(_) => None,
    }
}

fn character(code: i64) -> Option<Vec<u8>> {
    let char = char::from_u32(u32::try_from(code).ok()?)?;
    Some(char.encode_utf8(&mut [0; 4]).as_bytes().to_vec())
}

fn codes(items: &[ConstantValue]) -> Option<ConstantValue> {
    let parts: Option<Vec<Vec<u8>>> = items.iter().map(|item| character(number(item)?)).collect();
    Some(ConstantValue::Text(parts?.concat()))
}

fn bytes_of(items: &[ConstantValue]) -> Option<ConstantValue> {
    let bytes: Option<Vec<u8>> = items.iter().map(|item| u8::try_from(number(item)?).ok()).collect();
    bytes.map(ConstantValue::Text)
}

fn join(items: &[ConstantValue], between: &[u8]) -> Option<ConstantValue> {
    let parts: Option<Vec<Vec<u8>>> = items.iter().map(shown).collect();
    Some(ConstantValue::Text(parts?.join(between)))
}

fn join_paths(items: &[ConstantValue]) -> Option<ConstantValue> {
    let mut out: Vec<u8> = Vec::new();
    for item in items {
        let part = text(item)?;
        if part.starts_with(b"/") {
            out.clear();
        } else if !out.is_empty() && !out.ends_with(b"/") {
            out.push(b'/');
        }
        out.extend_from_slice(part);
    }
    Some(ConstantValue::Text(out))
}

fn split(bytes: &[u8], by: Option<&[u8]>) -> ConstantValue {
    let parts: Vec<Vec<u8>> = match by {
        Some(b"") => chars(bytes).into_iter().map(|char| char.to_string().into_bytes()).collect(),
        Some(by) => {
            let mut parts = Vec::new();
            let mut from = 0_usize;
            for at in memchr::memmem::find_iter(bytes, by) {
                if at >= from {
                    parts.push(bytes.part(from..at).to_vec());
                    from = at + by.len();
                }
            }
            parts.push(bytes.part(from..).to_vec());
            parts
        }
        None => {
            bytes.split(u8::is_ascii_whitespace).filter(|part| !part.is_empty()).map(<[u8]>::to_vec).collect()
        }
    };
    ConstantValue::List(parts.into_iter().map(ConstantValue::Text).collect())
}

fn replace(bytes: &[u8], from: &[u8], to: &[u8], most: usize) -> Option<Vec<u8>> {
    if from.is_empty() {
        return None;
    }
    let mut out = Vec::new();
    let mut done = 0_usize;
    for at in memchr::memmem::find_iter(bytes, from).take(most) {
        out.extend_from_slice(bytes.get(done..at)?);
        out.extend_from_slice(to);
        done = at + from.len();
        if out.len() > LONGEST {
            return None;
        }
    }
    out.extend_from_slice(bytes.get(done..)?);
    Some(out)
}

fn decoded(bytes: &[u8], encoding: &[u8]) -> Option<(Vec<u8>, Obfuscations)> {
    let name: Vec<u8> =
        encoding.iter().filter(|byte| byte.is_ascii_alphanumeric()).map(u8::to_ascii_lowercase).collect();
    Some(match name.as_slice() {
        b"base64" | b"base64url" | b"b64" | b"base64codec" => (base64::decode(bytes)?, Obfuscations::DECODE),
        b"hex" | b"hexcodec" => (hex::decode(bytes)?, Obfuscations::DECODE),
        b"rot13" => (decode::rot13(bytes), Obfuscations::DECODE),
        b"utf8" | b"ascii" | b"latin1" | b"binary" | b"utf" | b"iso88591" | b"ucs2" => {
            (bytes.to_vec(), Obfuscations::NONE)
        }
        _ => return None,
    })
}

/// Folds a call of a global function or a function of a module.
pub(super) fn function(
    language: Language,
    path: &str,
    arguments: &[ConstantValue],
) -> Option<(ConstantValue, Obfuscations)> {
    let first = arguments.first();
    match language {
        Language::JavaScript => function_of_javascript(path, first, arguments),
        Language::Python => function_of_python(path, first, arguments),
    }
}

fn function_of_javascript(
    path: &str,
    first: Option<&ConstantValue>,
    arguments: &[ConstantValue],
) -> Option<(ConstantValue, Obfuscations)> {
    let bytes = first.and_then(text);
    let decoded_text = |bytes: Vec<u8>| Some((ConstantValue::Text(bytes), Obfuscations::DECODE));
    match path {
        "String" | "String.raw" => Some((ConstantValue::Text(shown(first?)?), Obfuscations::NONE)),
        "String.fromCharCode" | "String.fromCodePoint" => Some((codes(arguments)?, Obfuscations::FOLD)),
        "atob" => decoded_text(base64::decode(bytes?)?),
        "btoa" => Some((ConstantValue::Text(base64::encode(bytes?).into_bytes()), Obfuscations::FOLD)),
        "decodeURI" | "decodeURIComponent" | "unescape" => decoded_text(decode::percent(bytes?)),
        "Buffer.from" | "@buffer.Buffer.from" | "Buffer" => match (first?, arguments.get(1).and_then(text)) {
            (ConstantValue::Text(bytes), Some(encoding)) => {
                let (bytes, how) = decoded(bytes, encoding)?;
                Some((ConstantValue::Text(bytes), how))
            }
            (ConstantValue::Text(bytes), None) => {
                Some((ConstantValue::Text(bytes.clone()), Obfuscations::NONE))
            }
            (ConstantValue::List(items), _) => Some((bytes_of(items)?, Obfuscations::FOLD)),
            (ConstantValue::Number(_), _) => None,
        },
        "@path.join" | "@path.resolve" | "@path.posix.join" | "@path.normalize" | "path.join"
        | "path.resolve" => Some((join_paths(arguments)?, Obfuscations::NONE)),
        "JSON.parse" => {
            let inner = bytes?.strip_prefix(b"\"")?.strip_suffix(b"\"")?;
            let plain = memchr::memchr2(b'\\', b'"', inner).is_none();
            plain.then(|| (ConstantValue::Text(inner.to_vec()), Obfuscations::FOLD))
        }
        _ => None,
    }
}

fn function_of_python(
    path: &str,
    first: Option<&ConstantValue>,
    arguments: &[ConstantValue],
) -> Option<(ConstantValue, Obfuscations)> {
    let bytes = first.and_then(text);
    let decoded_text = |bytes: Option<Vec<u8>>| Some((ConstantValue::Text(bytes?), Obfuscations::DECODE));
    match path {
        "str" => Some((ConstantValue::Text(shown(first?)?), Obfuscations::NONE)),
        "bytes" | "bytearray" => match first? {
            ConstantValue::Text(bytes) => Some((ConstantValue::Text(bytes.clone()), Obfuscations::NONE)),
            ConstantValue::List(items) => Some((bytes_of(items)?, Obfuscations::FOLD)),
            ConstantValue::Number(_) => None,
        },
        "chr" => Some((codes(arguments)?, Obfuscations::FOLD)),
        "ord" => {
            let chars = chars(bytes?);
            let [char] = chars.as_slice() else { return None };
            Some((ConstantValue::Number(i64::from(u32::from(*char))), Obfuscations::NONE))
        }
        "bytes.fromhex"
        | "bytearray.fromhex"
        | "@binascii.unhexlify"
        | "@binascii.a2b_hex"
        | "@base64.b16decode" => decoded_text(hex::decode(bytes?)),
        "@base64.b64decode"
        | "@base64.standard_b64decode"
        | "@base64.urlsafe_b64decode"
        | "@base64.decodebytes"
        | "@binascii.a2b_base64" => decoded_text(base64::decode(bytes?)),
        "@base64.b32decode" => decoded_text(base64::decode32(bytes?)),
        "@codecs.decode" | "@codecs.encode" => {
            let (bytes, how) = decoded(bytes?, text(arguments.get(1)?)?)?;
            Some((ConstantValue::Text(bytes), how))
        }
        "@urllib.parse.unquote" => decoded_text(Some(decode::percent(bytes?))),
        "@shlex.split" => Some((split(bytes?, None), Obfuscations::NONE)),
        "@os.path.join"
        | "@pathlib.Path"
        | "@pathlib.PosixPath"
        | "@pathlib.PurePath"
        | "@pathlib.PurePosixPath"
        | "@os.path.expanduser"
        | "@os.path.expandvars"
        | "@os.path.abspath"
        | "@os.path.normpath"
        | "@os.path.realpath"
        | "@os.fspath"
            if !arguments.is_empty() =>
        {
            Some((join_paths(arguments)?, Obfuscations::NONE))
        }
        _ => None,
    }
}

/// Folds a call of a method of a constant.
pub(super) fn method(
    language: Language,
    name: &[u8],
    receiver: &ConstantValue,
    arguments: &[ConstantValue],
) -> Option<(ConstantValue, Obfuscations)> {
    let folded = |constant: Option<ConstantValue>| Some((constant?, Obfuscations::FOLD));
    match receiver {
        ConstantValue::List(items) => match name {
            b"join" if language == Language::JavaScript => {
                let between = arguments.first().map_or(Some(b",".as_slice()), text)?;
                folded(join(items, between))
            }
            b"reverse" | b"toReversed" if language == Language::JavaScript => {
                folded(Some(ConstantValue::List(items.iter().rev().cloned().collect())))
            }
            b"slice" => {
                let (start, end) = (arguments.first().map(number), arguments.get(1).map(number));
                folded(Some(ConstantValue::List(cut(
                    items,
                    start.unwrap_or(None),
                    end.unwrap_or(None),
                    None,
                )?)))
            }
            b"concat" => {
                let others = arguments.iter().flat_map(|other| match other {
                    ConstantValue::List(items) => items.clone(),
                    other => vec![other.clone()],
                });
                folded(Some(ConstantValue::List(items.iter().cloned().chain(others).collect())))
            }
            _ => None,
        },
        ConstantValue::Text(bytes) => match language {
            Language::JavaScript => method_of_javascript(name, bytes, arguments),
            Language::Python => method_of_python(name, bytes, arguments),
        },
        ConstantValue::Number(_) => None,
    }
}

fn method_of_javascript(
    name: &[u8],
    bytes: &[u8],
    arguments: &[ConstantValue],
) -> Option<(ConstantValue, Obfuscations)> {
    let place = |at: usize| arguments.get(at).and_then(number);
    let first = arguments.first().and_then(text);
    let own = || chars(bytes);
    let part = |chars: Option<Vec<char>>| Some((from_chars(chars?), Obfuscations::FOLD));
    match name {
        b"toString" | b"valueOf" | b"normalize" | b"toWellFormed" => match first {
            Some(encoding @ (b"base64" | b"hex")) => {
                let _ = encoding;
                None
            }
            _ => Some((ConstantValue::Text(bytes.to_vec()), Obfuscations::NONE)),
        },
        b"split" => Some((split(bytes, Some(first?)), Obfuscations::FOLD)),
        b"concat" => {
            let tail = join(arguments, b"")?;
            Some((ConstantValue::Text([bytes, text(&tail)?].concat()), Obfuscations::FOLD))
        }
        b"slice" => part(cut(&own(), place(0), place(1), None)),
        b"substring" => {
            let (start, end) = (place(0).unwrap_or(0).max(0), place(1).map(|end| end.max(0)));
            let (start, end) = match end {
                Some(end) if end < start => (end, Some(start)),
                end => (start, end),
            };
            part(cut(&own(), Some(start), end, None))
        }
        b"substr" => {
            let chars = own();
            let start = range(chars.len(), place(0), None).start;
            let end = place(1).and_then(|len| start.checked_add(usize::try_from(len).ok()?));
            part(chars.get(start..end.unwrap_or(chars.len()).min(chars.len())).map(<[char]>::to_vec))
        }
        b"at" | b"charAt" => part(at(&own(), place(0).unwrap_or(0)).map(|char| vec![*char])),
        b"charCodeAt" | b"codePointAt" => {
            let char = *at(&own(), place(0).unwrap_or(0))?;
            Some((ConstantValue::Number(i64::from(u32::from(char))), Obfuscations::NONE))
        }
        b"replace" | b"replaceAll" => {
            let most = if name == b"replace" { 1 } else { usize::MAX };
            Some((
                ConstantValue::Text(replace(bytes, first?, arguments.get(1).and_then(text)?, most)?),
                Obfuscations::FOLD,
            ))
        }
        b"repeat" => repeat(bytes, place(0)?),
        b"toLowerCase" | b"toLocaleLowerCase" => {
            Some((ConstantValue::Text(bytes.to_ascii_lowercase()), Obfuscations::FOLD))
        }
        b"toUpperCase" | b"toLocaleUpperCase" => {
            Some((ConstantValue::Text(bytes.to_ascii_uppercase()), Obfuscations::FOLD))
        }
        b"trim" => Some((ConstantValue::Text(bytes.trim_ascii().to_vec()), Obfuscations::FOLD)),
        b"trimStart" | b"trimLeft" => {
            Some((ConstantValue::Text(bytes.trim_ascii_start().to_vec()), Obfuscations::FOLD))
        }
        b"trimEnd" | b"trimRight" => {
            Some((ConstantValue::Text(bytes.trim_ascii_end().to_vec()), Obfuscations::FOLD))
        }
        _ => None,
    }
}

fn repeat(bytes: &[u8], times: i64) -> Option<(ConstantValue, Obfuscations)> {
    let times = usize::try_from(times).ok()?;
    let fits = bytes.len().checked_mul(times)? <= LONGEST;
    fits.then(|| (ConstantValue::Text(bytes.repeat(times)), Obfuscations::FOLD))
}

fn method_of_python(
    name: &[u8],
    bytes: &[u8],
    arguments: &[ConstantValue],
) -> Option<(ConstantValue, Obfuscations)> {
    let first = arguments.first();
    let first_text = first.and_then(text);
    let folded = |bytes: Vec<u8>| Some((ConstantValue::Text(bytes), Obfuscations::FOLD));
    match name {
        b"join" => match first? {
            ConstantValue::List(items) => Some((join(items, bytes)?, Obfuscations::FOLD)),
            ConstantValue::Text(inner) => {
                let ConstantValue::List(items) = split(inner, Some(b"")) else { return None };
                Some((join(&items, bytes)?, Obfuscations::FOLD))
            }
            ConstantValue::Number(_) => None,
        },
        b"decode" | b"encode" => match first_text {
            None => Some((ConstantValue::Text(bytes.to_vec()), Obfuscations::NONE)),
            Some(encoding) => {
                let (bytes, how) = decoded(bytes, encoding)?;
                Some((ConstantValue::Text(bytes), how))
            }
        },
        b"format" => format(bytes, arguments).and_then(folded),
        b"split" | b"rsplit" => Some((split(bytes, first_text), Obfuscations::NONE)),
        b"splitlines" => Some((split(bytes, Some(b"\n")), Obfuscations::NONE)),
        b"strip" if first.is_none() => {
            Some((ConstantValue::Text(bytes.trim_ascii().to_vec()), Obfuscations::NONE))
        }
        b"lstrip" if first.is_none() => {
            Some((ConstantValue::Text(bytes.trim_ascii_start().to_vec()), Obfuscations::NONE))
        }
        b"rstrip" if first.is_none() => {
            Some((ConstantValue::Text(bytes.trim_ascii_end().to_vec()), Obfuscations::NONE))
        }
        b"lower" | b"casefold" => folded(bytes.to_ascii_lowercase()),
        b"upper" => folded(bytes.to_ascii_uppercase()),
        b"swapcase" => {
            let swap = |byte: &u8| {
                if byte.is_ascii_lowercase() { byte.to_ascii_uppercase() } else { byte.to_ascii_lowercase() }
            };
            folded(bytes.iter().map(swap).collect())
        }
        b"replace" => folded(replace(bytes, first_text?, arguments.get(1).and_then(text)?, usize::MAX)?),
        b"removeprefix" => folded(bytes.strip_prefix(first_text?).unwrap_or(bytes).to_vec()),
        b"removesuffix" => folded(bytes.strip_suffix(first_text?).unwrap_or(bytes).to_vec()),
        b"joinpath" => {
            let parts: Vec<ConstantValue> =
                core::iter::once(ConstantValue::Text(bytes.to_vec())).chain(arguments.to_vec()).collect();
            Some((join_paths(&parts)?, Obfuscations::NONE))
        }
        b"expanduser" | b"absolute" | b"resolve" if first.is_none() => {
            Some((ConstantValue::Text(bytes.to_vec()), Obfuscations::NONE))
        }
        _ => None,
    }
}

/// Folds Python's `'{} {0}'.format(…)`.
fn format(template: &[u8], arguments: &[ConstantValue]) -> Option<Vec<u8>> {
    let mut out = Vec::new();
    let mut next = 0_usize;
    let mut rest = template;
    while let Some(at) = memchr::memchr2(b'{', b'}', rest) {
        let (head, tail) = rest.split_at_checked(at)?;
        out.extend_from_slice(head);
        match tail {
            [b'{', b'{', ..] | [b'}', b'}', ..] => {
                out.extend(tail.first());
                rest = tail.get(2..)?;
            }
            [b'{', inner @ ..] => {
                let end = memchr::memchr(b'}', inner)?;
                let field = core::str::from_utf8(inner.get(..end)?).ok()?;
                let place = if field.is_empty() { next } else { field.parse().ok()? };
                next += 1;
                out.extend_from_slice(&shown(arguments.get(place)?)?);
                rest = inner.get(end + 1..)?;
            }
            _ => return None,
        }
        if out.len() > LONGEST {
            return None;
        }
    }
    out.extend_from_slice(rest);
    Some(out)
}
