//! Values of variables, and the expansions that transform them.

use plugward_types::Part;

use crate::lex::sh::{Parser, TextOrigin, Variable};
use crate::text::view::Obfuscations;

/// The longest value that is tracked. `a=$a$a` doubles a value, and each use copies it.
const MAX: usize = 4096;

impl Parser<'_, '_, '_> {
    /// Sets a variable to items, or to an unknown value.
    pub(in crate::lex::sh) fn set_items(
        &mut self,
        name: Vec<u8>,
        items: Option<Vec<Vec<u8>>>,
        sources: u128,
    ) {
        if name.is_empty() {
            return;
        }
        let items =
            items.filter(|items| items.iter().map(Vec::len).sum::<usize>() <= MAX && items.len() <= 64);
        self.environment
            .vars
            .insert(name, Variable { items, sources, open: false, origin: TextOrigin::Written });
    }

    /// Sets a variable to one text.
    pub(in crate::lex::sh) fn set_text(&mut self, name: &[u8], text: Option<&[u8]>, sources: u128) {
        self.set_items(name.to_vec(), text.map(|text| vec![text.to_vec()]), sources);
    }

    /// Returns the value of a variable, if it is known.
    pub(in crate::lex::sh) fn value(&self, name: &[u8], index: Option<&[u8]>) -> Option<Vec<u8>> {
        let (name, index) = match name {
            b"@" | b"*" => (&b"@"[..], Some(&b"@"[..])),
            [digit @ b'1'..=b'9'] => {
                let items = self.environment.vars.get(&b"@"[..])?.items.as_ref()?;
                return items.get(usize::from(digit.wrapping_sub(b'1'))).cloned();
            }
            _ => (name, index),
        };
        if let Some(key) = index.filter(|key| !matches!(*key, b"@" | b"*")) {
            let key = key.trim_ascii();
            let own = [name, b"[", key.strip_prefix(b"$").unwrap_or(key), b"]"].concat();
            if let Some(items) = self.environment.vars.get(&own).and_then(|var| var.items.as_ref()) {
                return items.first().cloned();
            }
        }
        let items = self.environment.vars.get(name)?.items.as_ref()?;
        match index {
            None => items.first().cloned(),
            Some(b"@" | b"*") => Some(items.join(&b' ')),
            Some(digits) => {
                let text = core::str::from_utf8(digits).ok()?;
                let at: i64 = text.trim().parse().ok()?;
                let at = if at < 0 {
                    usize::try_from(at.unsigned_abs()).ok().and_then(|back| items.len().checked_sub(back))?
                } else {
                    usize::try_from(at).ok()?
                };
                items.get(at).cloned()
            }
        }
    }

    /// Returns `true` if part of a variable's value is unknown.
    pub(in crate::lex::sh) fn is_open(&self, name: &[u8]) -> bool {
        let name = if matches!(name, b"*" | [b'1'..=b'9']) { b"@" } else { name };
        self.environment.vars.get(name).is_some_and(|var| var.open)
    }

    /// Returns the obfuscation in a variable's use. The path of a program, as from `command -v`, does not
    /// count.
    pub(in crate::lex::sh) fn value_how(&self, name: &[u8]) -> Obfuscations {
        match self.environment.vars.get(name).map(|var| var.origin) {
            Some(TextOrigin::Located) => Obfuscations::NONE,
            _ => Obfuscations::SHELL,
        }
    }

    /// Returns the taint of a variable.
    pub(in crate::lex::sh) fn value_sources(&self, name: &[u8]) -> u128 {
        let name = if matches!(name, b"*" | [b'1'..=b'9']) { b"@" } else { name };
        self.environment.vars.get(name).map_or(0, |var| var.sources)
    }
}

/// Returns the substring of `${name:offset:length}`.
pub(in crate::lex::sh) fn part(value: &[u8], spec: &[u8]) -> Option<Vec<u8>> {
    let text = core::str::from_utf8(spec).ok()?;
    let mut numbers =
        text.split(':').map(|number| number.trim().trim_matches(['(', ')']).trim().parse::<i64>());
    let len = i64::try_from(value.len()).ok()?;
    let start = match numbers.next()?.ok()? {
        back if back < 0 => len.saturating_add(back).max(0),
        start => start.min(len),
    };
    let end = match numbers.next() {
        None => len,
        Some(count) => match count.ok()? {
            back if back < 0 => len.saturating_add(back).max(start),
            count => start.saturating_add(count).min(len),
        },
    };
    value.get(usize::try_from(start).ok()?..usize::try_from(end).ok()?).map(<[u8]>::to_vec)
}

/// Applies `#`, `##`, `%` and `%%`, which remove a prefix or suffix.
pub(in crate::lex::sh) fn trimmed(value: &[u8], pattern: &[u8], op: &[u8]) -> Option<Vec<u8>> {
    if pattern.len() > 64 {
        return None;
    }
    let front = op.starts_with(b"#");
    let greedy = op.len() == 2;
    let len = value.len();
    let cuts: Vec<usize> = if front == greedy { (0..=len).rev().collect() } else { (0..=len).collect() };
    for cut in cuts {
        let (head, tail) = value.split_at(cut.min(len));
        let (gone, left) = if front { (head, tail) } else { (tail, head) };
        if fits(pattern, gone) {
            return Some(left.to_vec());
        }
    }
    Some(value.to_vec())
}

/// Applies `${name/pattern/text}` for a pattern without wildcards.
pub(in crate::lex::sh) fn replaced(value: &[u8], spec: &[u8]) -> Option<Vec<u8>> {
    let (all, spec) = spec.strip_prefix(b"/").map_or((false, spec), |rest| (true, rest));
    let anchor = spec.first().copied().filter(|first| matches!(first, b'#' | b'%'));
    let spec = if anchor.is_some() { spec.get(1..)? } else { spec };
    let cut = memchr::memchr(b'/', spec);
    let pattern = spec.get(..cut.unwrap_or(spec.len()))?;
    let with = cut.map_or(&b""[..], |cut| spec.part(cut + 1..));
    if pattern.is_empty() {
        return Some(value.to_vec());
    }
    if pattern.iter().any(|byte| matches!(byte, b'*' | b'[')) {
        return None;
    }
    let len = pattern.len();
    let mut out = Vec::new();
    let mut at = 0_usize;
    let mut done = false;
    while at < value.len() {
        let end = at + len;
        let here = value.get(at..end).is_some_and(|part| fits(pattern, part));
        let placed = match anchor {
            Some(b'#') => at == 0,
            Some(_) => end == value.len(),
            None => true,
        };
        if here && placed && (all || !done) {
            out.extend_from_slice(with);
            at = end;
            done = true;
        } else {
            out.extend(value.get(at));
            at += 1;
        }
    }
    Some(out)
}

/// Returns `true` if a name matches a glob pattern. Takes time proportional to the product of the lengths.
pub(in crate::lex::sh) fn fits(pattern: &[u8], text: &[u8]) -> bool {
    let (mut at, mut from) = (0_usize, 0_usize);
    let mut star: Option<(usize, usize)> = None;
    loop {
        let rest = pattern.part(at..);
        let here = text.get(from);
        match (rest.first(), here) {
            (Some(b'*'), _) => {
                star = Some((at, from));
                at += 1;
                continue;
            }
            (None, None) => return true,
            (Some(_), Some(byte)) => {
                if let Some(len) = one(rest, *byte) {
                    at += len;
                    from += 1;
                    continue;
                }
            }
            _ => {}
        }
        match star {
            Some((back, taken)) if taken < text.len() => {
                star = Some((back, taken + 1));
                at = back + 1;
                from = taken + 1;
            }
            _ => return false,
        }
    }
}

/// Matches one byte with the front of a pattern, and returns the length of that part.
fn one(pattern: &[u8], byte: u8) -> Option<usize> {
    match pattern {
        [b'?', ..] => Some(1),
        [b'[', rest @ ..] => {
            let close = rest.iter().skip(1).position(|byte| *byte == b']')? + 1;
            let set = rest.get(..close)?;
            let (not, set) = match set {
                [b'!' | b'^', tail @ ..] => (true, tail),
                _ => (false, set),
            };
            let mut inside = false;
            let mut at = 0_usize;
            while let Some(tail) = set.get(at..).filter(|tail| !tail.is_empty()) {
                if let [from, b'-', to, ..] = tail {
                    inside |= (*from..=*to).contains(&byte);
                    at += 3;
                } else {
                    inside |= tail.first() == Some(&byte);
                    at += 1;
                }
            }
            (inside != not).then_some(close + 2)
        }
        [b'\\', next, ..] => (*next == byte).then_some(2),
        [first, ..] => (*first == byte).then_some(1),
        [] => None,
    }
}
