//! Makefiles and justfiles: the commands of their recipes.

use plugward_types::Part;

use crate::lex::Lexed;
use crate::lex::sh::state::flat::FlatText;
use crate::scan::entry::Lens;
use crate::scan::sink::{EmbeddedText, Sink};
use crate::text::view::Obfuscations;

/// Returns the ranges of the logical lines. A backslash at the end joins a line with the next.
fn logical_lines(src: &[u8]) -> Vec<(usize, usize)> {
    let mut out = Vec::new();
    let mut start = 0_usize;
    let mut at = 0_usize;
    while at < src.len() {
        let rest = src.part(at..);
        let len = memchr::memchr(b'\n', rest).unwrap_or(rest.len());
        let end = at + len;
        let line = src.part(at..end).trim_ascii_end();
        // `make` ignores a comment between joined lines.
        let inside = at > start && line.trim_ascii_start().starts_with(b"#");
        at = end + 1;
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

type Names = std::collections::BTreeMap<Vec<u8>, Vec<u8>>;

/// The most levels of variables inside variables that are expanded. A variable can refer to itself.
const LEVELS: usize = 8;
/// The longest value of a variable that is tracked.
const MAX: usize = 4096;

/// An assignment outside of recipes: the text in front, the name, and the value with its offset in the line.
struct Setting<'a> {
    head: &'a [u8],
    name: &'a [u8],
    value: &'a [u8],
    at: usize,
}

fn setting(line: &[u8]) -> Option<Setting<'_>> {
    let at = memchr::memchr(b'=', line)?;
    let head = line.get(..at)?;
    let at = at + 1;
    let last = head.trim_ascii_end().iter().rposition(|byte| !matches!(byte, b':' | b'?' | b'+' | b'!'));
    let name = last.map_or(&b""[..], |last| head.part(..=last)).trim_ascii();
    let name = name.strip_prefix(b"override ").unwrap_or(name).trim_ascii();
    let name = name.strip_prefix(b"export ").unwrap_or(name).trim_ascii();
    Some(Setting { head, name, value: line.get(at..)?, at })
}

/// Returns the values of all variables at the end of a Makefile, which is what recipes see.
fn settings(src: &[u8], lines: &[(usize, usize)]) -> Names {
    let mut names = Names::new();
    let mut defined: Option<(Vec<u8>, Vec<u8>)> = None;
    for &(start, end) in lines {
        let line = src.part(start..end);
        let text = line.trim_ascii();
        if let Some((name, mut body)) = defined.take() {
            if text == b"endef" {
                names.insert(name, body);
            } else {
                if body.len() + line.len() < MAX {
                    body.extend_from_slice(line);
                    body.push(b'\n');
                }
                defined = Some((name, body));
            }
            continue;
        }
        let words = text.strip_prefix(b"override ").unwrap_or(text).trim_ascii_start();
        if let Some(rest) = words.strip_prefix(b"define ") {
            let name =
                rest.trim_ascii().split(|byte| matches!(byte, b' ' | b':' | b'?' | b'+' | b'=')).next();
            defined = Some((name.unwrap_or_default().to_vec(), Vec::new()));
        } else if !line.starts_with(b"\t")
            && !text.starts_with(b"#")
            && let Some(set) = setting(line)
            && crate::lex::sh::programs::names::is_name(set.name)
        {
            let added = set.head.ends_with(b"+");
            let entry = names.entry(set.name.to_vec()).or_default();
            if added && !entry.is_empty() {
                entry.push(b' ');
            } else {
                entry.clear();
            }
            if entry.len() + set.value.len() <= MAX {
                entry.extend_from_slice(set.value.trim_ascii());
            }
        }
    }
    names
}

/// A recipe as the shell gets it.
struct Recipe<'n> {
    names: &'n Names,
    budget: usize,
    out: FlatText,
    /// The places of `$(shell …)` calls inside other functions.
    calls: Vec<(usize, usize)>,
}

/// Lexes the recipes of a Makefile.
pub(in crate::lex::sh) fn lex(src: &[u8], sink: &mut Sink<'_>, out: &mut Lexed) {
    let lines = logical_lines(src);
    let names = settings(src, &lines);
    // Each use of a variable copies its value, so many uses of a long one would take quadratic time.
    let budget = (1_usize << 20).saturating_add(src.len().saturating_mul(4));
    let mut recipes = Recipe { names: &names, budget, out: FlatText::default(), calls: Vec::new() };
    let (name, ending) = crate::inventory::names::parts(sink.path);
    let just = name.ends_with("justfile") || ending == "just";
    let (mut prefix, mut noted) = (b'\t', 0_usize);
    for (start, end) in lines {
        let line = src.part(start..end);
        let recipe = line.strip_prefix(&[prefix]).or_else(|| line.strip_prefix(b" ").filter(|_| just));
        if let Some(recipe) = recipe {
            let marks =
                recipe.iter().take_while(|byte| matches!(byte, b'@' | b'-' | b'+' | b' ' | b'\t')).count();
            let at = start + marks + 1;
            recipes.line(recipe.part(marks..), at);
            recipes.out.unit(b"\n", (end, end), Obfuscations::NONE);
            continue;
        }
        let text = line.trim_ascii_start();
        if text.starts_with(b"#") {
            crate::lex::sh::note(src, end.saturating_sub(text.len()), end, &mut noted, out);
            continue;
        }
        shell_calls(line, start, &mut recipes.calls);
        if let Some(set) = setting(line) {
            if set.name == b".RECIPEPREFIX" {
                prefix = set.value.trim_ascii().first().copied().unwrap_or(b'\t');
            }
            set_outside(&set, start, end, sink);
        }
        // `target: ; command` has its recipe on the same line.
        if let Some(at) =
            memchr::memchr(b';', line).filter(|at| line.get(..*at).is_some_and(|head| head.contains(&b':')))
        {
            let from = start + at + 1;
            recipes.line(line.part(at + 1..), from);
            recipes.out.unit(b"\n", (end, end), Obfuscations::NONE);
        }
    }
    for (from, to) in recipes.calls {
        sink.embed(Lens::Sh, EmbeddedText::Range(from, to));
    }
    if recipes.out.len() > 0 {
        sink.embed(Lens::Sh, EmbeddedText::View(recipes.out.view(0, recipes.out.len())));
    }
}

/// Processes `NAME != command`, which runs a command, and `export NAME = value`, which all recipes see.
fn set_outside(set: &Setting<'_>, start: usize, end: usize, sink: &mut Sink<'_>) {
    if set.head.ends_with(b"!") {
        sink.embed(Lens::Sh, EmbeddedText::Range(start + set.at, end));
    }
    if set.head.starts_with(b"export ") {
        let mut flat = FlatText::default();
        flat.unit(b"export ", (start, start), Obfuscations::NONE);
        flat.plain(set.name, start, Obfuscations::NONE);
        flat.unit(b"=", (start, end), Obfuscations::NONE);
        word_value(&mut flat, set.value.trim_ascii(), (start, end));
        sink.embed(Lens::Sh, EmbeddedText::View(flat.view(0, flat.len())));
    }
}

fn word_value(flat: &mut FlatText, value: &[u8], from: (usize, usize)) {
    flat.unit(b"'", (from.0, from.0), Obfuscations::NONE);
    let value: Vec<u8> = value.iter().copied().filter(|byte| *byte != b'\'').collect();
    flat.unit(&value, from, Obfuscations::NONE);
    flat.unit(b"'", (from.1, from.1), Obfuscations::NONE);
}

/// Finds `$(shell command)`, also inside other functions. A nested call is also part of the outer text, a few
/// levels deep.
fn shell_calls(line: &[u8], start: usize, calls: &mut Vec<(usize, usize)>) {
    if memchr::memmem::find(line, b"shell").is_none() {
        return;
    }
    // The start of the command in each open bracket, or `None` if it is not a `shell` call.
    let mut open: Vec<Option<usize>> = Vec::new();
    let mut inside = 0_usize;
    for at in memchr::memchr2_iter(b'(', b')', line) {
        if line.get(at) == Some(&b'(') {
            let tail = line.part(at + 1..);
            let called = tail.starts_with(b"shell ") || tail.starts_with(b"shell\t");
            let kept = called && inside < LEVELS;
            open.push(kept.then_some(at + 7));
            inside += usize::from(kept);
        } else if let Some(Some(from)) = open.pop() {
            inside = inside.saturating_sub(1);
            calls.push((start + from, start + at));
        }
    }
    if let Some(from) = open.into_iter().flatten().next() {
        calls.push((start + from, start + line.len()));
    }
}

/// Returns the offset of the closing bracket; nested pairs are skipped.
fn closing(text: &[u8], open: u8) -> Option<usize> {
    let close = if open == b'(' { b')' } else { b'}' };
    let mut inside = 0_usize;
    text.iter().take(MAX).position(|byte| {
        if *byte == open {
            inside += 1;
        } else if *byte == close {
            if inside == 0 {
                return true;
            }
            inside = inside.saturating_sub(1);
        }
        false
    })
}

impl Recipe<'_> {
    /// Appends a line of a recipe as the shell gets it.
    fn line(&mut self, line: &[u8], start: usize) {
        let mut at = 0_usize;
        while let Some(rest) = line.get(at..).filter(|rest| !rest.is_empty()) {
            let len = memchr::memchr(b'$', rest).unwrap_or(rest.len());
            self.out.plain(rest.part(..len), start + at, Obfuscations::NONE);
            at += len;
            let place = start + at;
            let rest = line.part(at..);
            match rest {
                [b'$', b'$', ..] => {
                    self.out.plain(b"$", place + 1, Obfuscations::NONE);
                    at += 2;
                }
                [b'$', open @ (b'(' | b'{'), tail @ ..] => {
                    let Some(len) = closing(tail, *open) else {
                        self.out.plain(b"$", place, Obfuscations::NONE);
                        at += 1;
                        continue;
                    };
                    let name = tail.part(..len);
                    let end = place + len + 3;
                    if let Some(command) = name.strip_prefix(b"shell ") {
                        self.out.unit(b"$(", (place, place + 2), Obfuscations::NONE);
                        self.out.plain(command, place + 8, Obfuscations::NONE);
                        self.out.unit(b")", (end.saturating_sub(1), end), Obfuscations::NONE);
                    } else {
                        shell_calls(name, place + 2, &mut self.calls);
                        self.named(name, (place, end), LEVELS);
                    }
                    at += len + 3;
                }
                [b'$', next, ..] => {
                    let range = (place, place + 2);
                    if next.is_ascii_alphabetic() {
                        self.named(&[*next], range, LEVELS);
                    } else {
                        self.out.unit(b"${@}", range, Obfuscations::NONE);
                    }
                    at += 2;
                }
                _ => {
                    self.out.plain(rest, place, Obfuscations::NONE);
                    break;
                }
            }
        }
    }

    /// Appends the value of a variable, with the variables in it expanded.
    fn named(&mut self, name: &[u8], range: (usize, usize), levels: usize) {
        let name = name.strip_prefix(b"call ").or_else(|| name.strip_prefix(b"value ")).unwrap_or(name);
        let name = name.split(|byte| *byte == b',').next().unwrap_or(name).trim_ascii();
        let known = self.names.get(name).filter(|_| levels > 0);
        let paid = known.and_then(|value| self.budget.checked_sub(value.len() + 16));
        let (Some(value), Some(left)) = (known, paid) else {
            let text: &[u8] = if name == b"SHELL" { b"sh" } else { b"${X}" };
            self.out.unit(text, range, Obfuscations::NONE);
            return;
        };
        self.budget = left;
        let mut at = 0_usize;
        while let Some(rest) = value.get(at..).filter(|rest| !rest.is_empty()) {
            let len = memchr::memchr(b'$', rest).unwrap_or(rest.len());
            self.out.unit(rest.part(..len), range, Obfuscations::SHELL);
            at += len;
            match value.part(at..) {
                [b'$', b'$', ..] => {
                    self.out.unit(b"$", range, Obfuscations::SHELL);
                    at += 2;
                }
                [b'$', open @ (b'(' | b'{'), tail @ ..] => {
                    let Some(len) = closing(tail, *open) else {
                        self.out.unit(b"$", range, Obfuscations::SHELL);
                        at += 1;
                        continue;
                    };
                    self.named(tail.part(..len), range, levels.saturating_sub(1));
                    at += len + 3;
                }
                [b'$', next, ..] => {
                    self.named(&[*next], range, levels.saturating_sub(1));
                    at += 2;
                }
                _ => break,
            }
        }
    }
}
