//! Code that is analyzed at the place where it runs: called functions, `sh -c`, `eval`, traps.
//!
//! Only its effect on downloaded files depends on the place; everything else is found where the code is read
//! once.

use std::rc::Rc;

use plugward_types::Part;

use crate::lex::Lexed;
use crate::lex::quote::{self, Quoting};
use crate::lex::sh::state::functions::takes_arguments;
use crate::lex::sh::syntax::list;
use crate::lex::sh::syntax::simple::CommandWords;
use crate::lex::sh::{Environment, Parser};
use crate::scan::entry::Lens;
use crate::scan::sink::Sink;
use crate::text::view::{Obfuscations, View};

/// The longest function body that is analyzed again at a call.
const BODY: usize = 64 << 10;
/// The most nested calls that are followed. A function can call itself.
const LEVELS: usize = 8;
/// The most traps per script.
const TRAPS: usize = 64;

/// Whether code shares the variables of the script that runs it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::lex::sh) enum VariableScope {
    Shared,
    Own,
}

/// The body of a function.
#[derive(Debug, Clone)]
pub(in crate::lex::sh) struct FunctionBody {
    /// The text that contains the body, the range in it, and the number of the text.
    text: Rc<[u8]>,
    at: (usize, usize),
    text_of: u32,
    /// The version of the file state with which the body was last analyzed.
    version: u32,
}

/// Returns `true` if a text may contain a downloader. A cheap filter before the analysis.
fn may_fetch(text: &[u8]) -> bool {
    let words: &[&[u8]] =
        plugward_types::byte_words!["curl wget http fetch ftp scp rsync /dev/tcp nc axel aria2c gsutil aws",];
    words.iter().any(|word| memchr::memmem::find(text, word).is_some())
}

impl Parser<'_, '_, '_> {
    /// Analyzes code at the place where it runs.
    pub(in crate::lex::sh) fn analyze(&mut self, view: &View, scope: VariableScope) {
        self.analyze_at(view, scope, self.sink.depth + 1, self.levels);
    }

    fn analyze_at(&mut self, view: &View, scope: VariableScope, depth: usize, levels: usize) {
        let text = view.bytes.as_slice();
        // Without a download before or in it, the code cannot change the state of files.
        let idle = self.environment.downloads.is_empty() && !may_fetch(text);
        if text.is_empty() || idle || depth >= self.limits.embedded || self.depth + 4 >= self.limit {
            return;
        }
        let Some(left) = self.bodies_left.checked_sub(text.len()) else {
            self.stopped.get_or_insert(self.pos);
            return;
        };
        let limits = self.limits;
        let mut sink = Sink::new(self.sink.rules, Some(Lens::Sh), self.sink.path, &[]);
        (sink.depth, sink.role) = (depth, self.sink.role);
        let mut out = Lexed::default();
        let mut inner = Parser::new(text, &mut sink, &limits, &mut out);
        inner.environment = match scope {
            VariableScope::Shared => core::mem::take(&mut self.environment),
            VariableScope::Own => self.environment.files(),
        };
        inner.environment.texts = inner.environment.texts.saturating_add(1);
        let outer = core::mem::replace(&mut inner.text_of, inner.environment.texts);
        debug_assert!(outer == 0, "a parser that is new reads the first text");
        (inner.bodies_left, inner.levels) = (left, levels);
        // Each call counts as several levels, because it uses more of the call stack than a substitution.
        inner.depth = self.depth + 4;
        inner.calls = core::mem::take(&mut self.calls);
        inner.bodies = self.bodies.iter().rev().take(LEVELS).rev().cloned().collect();
        let (ran, _) = inner.list(list::ListEnd::End, list::Capture::No);
        let ran = ran & inner.remote;
        (self.bodies_left, self.calls) = (inner.bodies_left, core::mem::take(&mut inner.calls));
        self.ran |= ran;
        let (known, stopped) = (core::mem::take(&mut inner.environment), inner.stopped);
        match scope {
            VariableScope::Shared => self.environment = known,
            VariableScope::Own => self.environment.take_files(known),
        }
        if stopped.is_some() {
            self.stopped.get_or_insert(self.pos);
        }
        // All other findings of this code are reported where it is lexed.
        for name in ["sh-drop-run", "sh-drop-run-checked"] {
            let rules = self.sink.rules;
            for found in sink.hits.iter().filter(|hit| rules.shape(name).contains(&hit.matcher)) {
                let (start, end, _) = view.map.back(found.start as usize, found.end as usize);
                self.sink.shape(name, (start, end), Obfuscations::NONE);
            }
        }
    }

    /// Records the body of a function.
    pub(in crate::lex::sh) fn place(&mut self, name: &[u8], start: usize, end: usize) {
        let body = self.src.part(start..end);
        let body = body.strip_suffix(b"}").unwrap_or(body);
        if body.len() > BODY {
            return;
        }
        let text = Rc::clone(self.whole.get_or_insert_with(|| Rc::from(self.src)));
        let at = (start, start + body.len());
        let place = FunctionBody { text, at, text_of: self.text_of, version: self.environment.version };
        self.environment.function_bodies.insert(name.to_vec(), place);
    }

    /// Analyzes the body of a function at a call, if the state of files has changed since the last time.
    pub(in crate::lex::sh) fn analyze_call(&mut self, name: &[u8], own: CommandWords) {
        if self.environment.downloads.is_empty() {
            return;
        }
        let Some(place) = self.environment.function_bodies.get(name) else { return };
        let body = place.text.part(place.at.0..place.at.1);
        let args = self.words.part(own.first..own.end).rest(1);
        let args: Vec<Vec<u8>> = args.iter().take(64).map(|word| self.text(*word).to_vec()).collect();
        let given = !args.is_empty() && takes_arguments(body);
        // With the same state of files, the body has the same effect.
        let unchanged = place.version == self.environment.version && !given;
        if unchanged || self.levels >= LEVELS || self.bodies.iter().any(|(body, _)| body == name) {
            return;
        }
        let version = self.environment.version.to_le_bytes().to_vec();
        let call = [&[b"\0".to_vec(), version, name.to_vec()][..], &args].concat().join(&0);
        let place = place.clone();
        let body = place.text.part(place.at.0..place.at.1);
        if !self.calls.insert(call) {
            return;
        }
        if self.bodies_left < body.len() {
            self.stopped.get_or_insert(self.pos);
            return;
        }
        let mut view = View::default();
        if given {
            view.put(b"set --", own.span, Obfuscations::NONE, 0);
            for text in &args {
                view.put(b" ", own.span, Obfuscations::NONE, 0);
                let mut word = View::default();
                word.put(text, own.span, Obfuscations::NONE, 0);
                let quoting = if text.contains(&b'$') { Quoting::Double } else { Quoting::Single };
                quote::word(&word, quoting, own.span.0, &mut view);
            }
            view.put(b"\n", own.span, Obfuscations::NONE, 0);
        }
        if place.text_of == self.text_of {
            view.copy(body, place.at.0, Obfuscations::NONE, 0);
        } else {
            view.put(body, own.span, Obfuscations::NONE, 0);
        }
        let kept = self.environment.vars.get(&b"@"[..]).cloned();
        self.bodies.push((name.to_vec(), 0));
        self.analyze_at(&view, VariableScope::Shared, self.sink.depth, self.levels + 1);
        self.bodies.pop();
        match kept {
            Some(kept) => drop(self.environment.vars.insert(b"@".to_vec(), kept)),
            None => drop(self.environment.vars.remove(&b"@"[..])),
        }
    }

    /// Records the code of a trap, which may run after everything below it.
    pub(in crate::lex::sh) fn trapped(&mut self, view: View) {
        if self.environment.traps.len() < TRAPS && self.text_of == 0 {
            self.environment.traps.push(view);
        }
    }

    /// Analyzes traps at the end of the script.
    pub(in crate::lex::sh) fn traps(&mut self) {
        for view in core::mem::take(&mut self.environment.traps) {
            self.analyze(&view, VariableScope::Shared);
        }
    }
}

impl Environment {
    /// Takes the state of files out of the known state.
    fn files(&mut self) -> Self {
        let mut files = Self { version: self.version, texts: self.texts, ..Self::default() };
        files.downloads = core::mem::take(&mut self.downloads);
        files.digests = core::mem::take(&mut self.digests);
        files.directory.clone_from(&self.directory);
        files
    }

    fn take_files(&mut self, files: Self) {
        (self.downloads, self.digests) = (files.downloads, files.digests);
        (self.version, self.texts) = (files.version, files.texts);
    }
}
