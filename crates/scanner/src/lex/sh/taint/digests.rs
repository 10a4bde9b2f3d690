//! Digests of downloads: where they are printed, which variables contain them, and what compares them.
//!
//! Recognizes scripts such as `echo "$SUM  x.sh" | sha256sum -c || exit 1` and `[ "$(sha256sum x.sh)" = … ]`,
//! so that a checked download is not reported like an unchecked one.

use plugward_types::Part;

use crate::lex::sh::Parser;
use crate::lex::sh::files;
use crate::lex::sh::programs::names;
use crate::lex::sh::syntax::simple::CommandWords;

/// The bytes after a comparison in which an `exit` or `||` can act on its result. It keeps the search linear.
const NEAR: usize = 4096;
/// The most variables that can contain digests.
const NAMES: usize = 256;

/// The most files that one digest can belong to, as `sha256sum *` prints many.
const KEYS: usize = 16;

/// Returns `true` if a program compares its arguments or input.
fn compares(name: &[u8]) -> bool {
    plugward_types::byte_words!["test [ grep egrep fgrep rg diff cmp comm expr awk gawk"].contains(&name)
}

/// Returns `true` if a piece of a script ends the script or reports a fatal error.
fn gives_up(text: &[u8]) -> bool {
    let word = |byte: &u8| !(byte.is_ascii_alphanumeric() || *byte == b'_' || *byte == b'-');
    text.split(word).any(|word| {
        plugward_types::byte_words![
            "exit return die abort fail fatal false bail panic err err_exit error_exit kill throw rm",
            "continue break",
        ]
        .contains(&word)
    })
}

/// Returns `true` if a command only prints a message or does nothing.
fn only_says(text: &[u8]) -> bool {
    let text = text.trim_ascii_start();
    let end = text.iter().position(|byte| matches!(byte, b' ' | b'\t' | b'\n' | b';' | b'&' | b'|'));
    let word = text.part(..end.unwrap_or(text.len()));
    matches!(word, b"true" | b":" | b"echo" | b"printf" | b"warn" | b"logger" | b"log" | b"cat")
}

impl Parser<'_, '_, '_> {
    /// Records the digests that a simple command prints or stores. `wanted` is set if something reads its
    /// output.
    pub(in crate::lex::sh) fn digests(&mut self, own: CommandWords) {
        if self.digested.is_empty() && self.environment.digests.is_empty() {
            return;
        }
        let words = self.words.part(own.first..own.end).to_vec();
        let raw = self.src.part(own.span.0..own.span.1);
        let raw = raw.head(NEAR);
        let first = words.iter().filter(|word| word.assigns == 0).take(4);
        let first: Vec<Vec<u8>> =
            first.map(|word| crate::lex::sh::syntax::simple::base_name(self.text(*word)).to_vec()).collect();
        let program = first.first().map(Vec::as_slice).unwrap_or_default();
        let equal = memchr::memmem::find(raw, b"==").is_some() || memchr::memmem::find(raw, b"!=").is_some();
        if first.iter().any(|name| compares(name) && (equal || !name.ends_with(b"awk"))) {
            return self.compared(own.span);
        }
        let mentioned = self.mentioned(raw);
        for word in words.iter().filter(|word| word.assigns != 0) {
            let text = self.src.part(word.span.0..word.span.1);
            let mut keys = self.mentioned(text.head(NEAR));
            if memchr::memchr(b'`', text).is_some() || memchr::memmem::find(text, b"$(").is_some() {
                keys.extend(self.digested.iter().cloned());
            }
            let name = names::name_of(self.text(*word)).unwrap_or_default().to_vec();
            self.store_digest(&name, keys);
        }
        if matches!(program, b"read" | b"mapfile" | b"readarray") {
            let names =
                words.iter().map(|word| self.text(*word).to_vec()).filter(|text| names::is_name(text));
            for name in names.collect::<Vec<_>>() {
                self.store_digest(&name, self.digested.clone());
            }
        }
        if own.wanted {
            self.digested.extend(mentioned);
            self.digested.sort();
            self.digested.dedup();
            // Files over the limit count as unchecked, which is the safe direction.
            self.digested.truncate(KEYS.saturating_mul(4));
        } else {
            self.store_digests(own);
            self.digested.clear();
        }
    }

    /// Records output that is redirected to a file.
    fn store_digests(&mut self, own: CommandWords) {
        let redirects = self.redirects.part(own.redirects..);
        let names = redirects.iter().filter_map(|redirect| redirect.text.strip_prefix(b">"));
        let names: Vec<Vec<u8>> =
            names.map(|name| name.strip_prefix(b">").unwrap_or(name).to_vec()).collect();
        for name in names {
            self.store_digest(&name, self.digested.clone());
        }
    }

    fn store_digest(&mut self, name: &[u8], mut keys: Vec<Vec<u8>>) {
        keys.truncate(KEYS);
        if keys.is_empty() {
            self.environment.digests.remove(name);
        } else if self.environment.digests.len() < NAMES && !name.is_empty() {
            self.environment.digests.insert(name.to_vec(), keys);
        }
    }

    /// Returns the files whose digests a piece of the script refers to, by a variable or by a digest file.
    fn mentioned(&self, raw: &[u8]) -> Vec<Vec<u8>> {
        let digests = &self.environment.digests;
        if digests.is_empty() {
            return Vec::new();
        }
        let part = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
        let values = memchr::memchr_iter(b'$', raw).filter_map(|at| {
            let name = raw.part(at + 1..);
            let name = name.strip_prefix(b"{").map_or(name, |name| name.strip_prefix(b"#").unwrap_or(name));
            digests.get(name.get(..name.iter().take_while(|byte| part(byte)).count())?)
        });
        let odd = |byte: &u8| {
            byte.is_ascii_whitespace() || matches!(byte, b'<' | b'>' | b'"' | b'\'' | b'(' | b')' | b';')
        };
        let files = raw.split(odd).filter(|word| !names::is_name(word)).filter_map(|word| digests.get(word));
        values.chain(files).flatten().take(KEYS.saturating_mul(4)).cloned().collect()
    }

    /// Records a comparison and whether the script acts on its result.
    pub(in crate::lex::sh) fn compared(&mut self, span: (usize, usize)) {
        if self.digested.is_empty() && self.environment.digests.is_empty() {
            return;
        }
        let raw = self.src.part(span.0..span.1);
        let mut keys = self.mentioned(raw.head(NEAR));
        keys.append(&mut self.digested);
        if !keys.is_empty() && self.stops(span, &keys) {
            self.mark_checked(&keys);
        }
    }

    /// Returns `true` if a failed comparison prevents the compared file from running.
    fn stops(&mut self, span: (usize, usize), keys: &[Vec<u8>]) -> bool {
        if let Some(acts) = self.acted_on(span, keys) {
            return acts;
        }
        self.ends_on_error()
    }

    /// Returns whether the script acts on the result; `None` if nothing tests it.
    pub(in crate::lex::sh) fn acted_on(&self, span: (usize, usize), keys: &[Vec<u8>]) -> Option<bool> {
        let rest = self.src.part(span.1..self.end.min(span.1 + NEAR));
        let near = rest.trim_ascii_start();
        let near = near.strip_prefix(b"]]").unwrap_or(near).trim_ascii_start();
        // `check || exit` acts on a failure, and `check && sh x` runs the file only after a success.
        for (operator, next) in [(&b"||"[..], true), (b"&&", false)] {
            let Some(tail) = near.strip_prefix(operator) else { continue };
            let tail = tail.trim_ascii_start();
            let close = if tail.starts_with(b"{") { b'}' } else { b'\n' };
            let len = memchr::memchr(close, tail).unwrap_or(tail.len());
            let piece = tail.part(..len);
            let piece = piece.strip_prefix(b"{").unwrap_or(piece);
            let more =
                memchr::memmem::find(piece, b"&&").is_some() || memchr::memmem::find(piece, b"||").is_some();
            return Some(!only_says(piece) || (next && gives_up(piece)) || (!next && more));
        }
        // `if [ … ]; then` tests the result. The word `if` is on the same line in practice.
        let head = self.src.part(span.0.saturating_sub(256)..span.0);
        let line = memchr::memrchr2(b'\n', b';', head).and_then(|at| head.get(at + 1..));
        let mut words = line.unwrap_or(head).split(u8::is_ascii_whitespace).filter(|word| !word.is_empty());
        let asked = words.any(|word| matches!(word, b"if" | b"elif" | b"while" | b"until" | b"case"));
        let own = self.src.get(span.0..span.1).is_some_and(|own| own.starts_with(b"case"));
        if !asked && !own {
            return None;
        }
        let end: &[u8] = if own { b"esac" } else { b"fi" };
        let len = memchr::memmem::find_iter(rest, end)
            .find(|at| {
                let before = at.checked_sub(1).and_then(|before| rest.get(before));
                let after = rest.get(at + end.len());
                !before.is_some_and(u8::is_ascii_alphanumeric)
                    && !after.is_some_and(u8::is_ascii_alphanumeric)
            })
            .unwrap_or(rest.len());
        let branch = rest.part(..len);
        // A branch that uses the file probably runs it after a successful comparison.
        let runs = keys.iter().any(|key| {
            let base = key.rsplit(|byte| *byte == b'/').find(|part| !part.is_empty()).unwrap_or_default();
            memchr::memmem::find(branch, base).is_some()
        });
        Some(gives_up(branch) || runs)
    }

    /// Returns `true` if a failed command ends the script. For commands in other files the host decides, and
    /// most hosts stop.
    fn ends_on_error(&mut self) -> bool {
        if let Some(known) = self.errexit {
            return known;
        }
        let text = self.src;
        let script = self.sink.depth == 0 && files::kind(self.sink.path) == files::ScriptFormat::Script;
        let set = |at: usize| {
            let word = text.part(at + 5..);
            let letters = word.iter().take(12).take_while(|byte| byte.is_ascii_alphabetic());
            letters.copied().any(|letter| letter == b'e')
        };
        let line = memchr::memchr(b'\n', text).map_or(&b""[..], |end| text.part(..end));
        let first = line.starts_with(b"#!") && memchr::memmem::find(line, b"sh -e").is_some();
        let known = !script
            || first
            || memchr::memmem::find(text, b"errexit").is_some()
            || memchr::memmem::find_iter(text, b"set -").any(set);
        self.errexit = Some(known);
        known
    }
}
