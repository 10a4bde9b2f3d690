//! Keys with their paths, from the tokens of any data format. Broken input is read token by token.

use std::collections::BTreeSet;

use plugward_types::Part;

use super::commands::context::{Context, Facts, ValueRole};
use super::path::KeyPath;
use super::scalar::{Scalar, ScalarText};
use crate::lex::Lexed;
use crate::scan::entry::Lens;
use crate::scan::sink::{CodePart, Named, Sink, Unread};
use crate::text::Within;
use crate::text::view::Obfuscations;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CollectionKind {
    Map,
    List,
}

/// An open map or list.
#[derive(Debug)]
pub(super) struct Level {
    kind: CollectionKind,
    /// The length of the path that leads here.
    parts: usize,
    /// Set if the path ends with a key of this level.
    keyed: bool,
    /// The start of that key.
    key_at: usize,
    index: u32,
    /// The role of the values, from the key of this level.
    pub(super) value_role: ValueRole,
    pub(super) context: Context,
    pub(super) facts: Facts,
    /// Keys so far, if duplicates are reported.
    seen: BTreeSet<Box<[u8]>>,
}

impl Level {
    fn new(kind: CollectionKind, parts: usize, value_role: ValueRole, context: Context) -> Self {
        let (facts, seen) = (Facts::default(), BTreeSet::new());
        Self { kind, parts, keyed: false, key_at: 0, index: 0, value_role, context, facts, seen }
    }
}

/// Whether a duplicate key is a finding.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum DuplicateKeys {
    Reported,
    /// The format allows a table to be reopened.
    Allowed,
}

/// Builds paths from tokens and reports values to the rules.
pub(super) struct Tree<'t, 'r> {
    pub(super) src: &'t [u8],
    pub(super) sink: &'t mut Sink<'r>,
    pub(super) out: &'t mut Lexed,
    /// The `key` matchers that apply to this file.
    among: Vec<u16>,
    pub(super) path: KeyPath,
    levels: Vec<Level>,
    open: [usize; 2],
    pending: Option<Scalar>,
    limit: usize,
    /// The number of levels over the nesting limit. Their values keep the path of the last level within it.
    over: usize,
    pub(super) duplicates: DuplicateKeys,
    /// Set if the text contains `data:`, so that other files skip the search for URIs.
    pub(super) uris: bool,
    wide: bool,
    /// Set for package.json, whose entry points are code.
    package: bool,
    /// The bytes that may still be copied into command lines.
    pub(super) budget: usize,
    /// The end of the last comment.
    noted: usize,
}

impl<'t, 'r> Tree<'t, 'r> {
    pub(super) fn new(
        src: &'t [u8],
        sink: &'t mut Sink<'r>,
        out: &'t mut Lexed,
        limit: usize,
        duplicates: DuplicateKeys,
    ) -> Self {
        let among = sink.keys_here();
        let root = Level::new(CollectionKind::Map, 0, ValueRole::None, Context::of(sink.path, sink.role));
        // Searched once per file, because most files have no `data:` URI and every value would be searched otherwise.
        let uris = memchr::memmem::find(src, b"data:").is_some();
        let wide = !src.is_ascii();
        let budget = src.len().saturating_mul(4).saturating_add(64 << 10);
        let path = KeyPath::default();
        let (levels, open, pending) = (vec![root], [1, 0], None);
        let package = crate::inventory::names::parts(sink.path).0 == "package.json";
        let over = 0;
        Self {
            src,
            sink,
            out,
            among,
            path,
            levels,
            open,
            pending,
            limit,
            over,
            duplicates,
            uris,
            wide,
            package,
            budget,
            noted: 0,
        }
    }

    /// Takes a key or value.
    pub(super) fn scalar(&mut self, scalar: Scalar) {
        if let Some(before) = self.pending.take() {
            self.settle(before);
        }
        self.pending = Some(scalar);
    }

    /// Takes a scalar that another scalar follows without a separator: a key without a colon, or a value.
    fn settle(&mut self, before: Scalar) {
        let bare = self.levels.last().is_some_and(|level| level.kind == CollectionKind::Map && !level.keyed);
        if bare && self.levels.len() > 1 {
            self.set_key(&before);
        } else {
            self.value(before);
        }
    }

    /// Takes the separator between a key and its value.
    pub(super) fn assign(&mut self) {
        let Some(scalar) = self.pending.take() else { return };
        if self.levels.last().is_some_and(|level| level.keyed)
            && let Some(copy) = scalar.copied()
        {
            self.value(copy);
        }
        self.set_key(&scalar);
    }

    /// Takes the separator between two values.
    pub(super) fn comma(&mut self) {
        if let Some(scalar) = self.pending.take() {
            self.value(scalar);
        }
        if let Some(level) = self.levels.last_mut() {
            level.keyed = false;
            level.index = level.index.saturating_add(1);
            self.path.truncate(level.parts);
        }
    }

    /// Takes the start of a map or list.
    pub(super) fn open(&mut self, kind: CollectionKind, at: usize) {
        if let Some(before) = self.pending.take() {
            self.settle(before);
        }
        if self.levels.len() > self.limit {
            if self.over == 0 {
                self.sink.unread.push(Unread { start: at, end: self.src.len() });
            }
            self.over += 1;
            // A level over the limit consumes the pending key, as a level within it would.
            if let Some(top) = self.levels.last_mut() {
                top.keyed = false;
                self.path.truncate(top.parts);
            }
            return;
        }
        let Some(top) = self.levels.last() else { return };
        let (value_role, context) = if top.keyed {
            let key = self.path.last();
            (ValueRole::of(key, top.context), top.context.below(key))
        } else if self.levels.len() == 1 {
            // The context of the file name applies to the outermost map, even if it has braces.
            (top.value_role, top.context)
        } else {
            (top.value_role, top.context.in_list())
        };
        if !top.keyed && top.kind == CollectionKind::List {
            self.path.push_index(top.index);
        }
        if kind == CollectionKind::List
            && let Some(top) = self.levels.last_mut()
        {
            match value_role {
                ValueRole::Command => top.facts.argv.push(Vec::new()),
                ValueRole::Args => top.facts.args.push(Vec::new()),
                _ => {}
            }
        }
        let level = Level::new(kind, self.path.len(), value_role, context);
        self.levels.push(level);
        self.count(kind, 1);
    }

    /// Opens a map that is an item of an array of tables.
    pub(super) fn open_item(&mut self, index: u32, at: usize) {
        self.open(CollectionKind::List, at);
        if let Some(top) = self.levels.last_mut() {
            top.index = index;
        }
        self.open(CollectionKind::Map, at);
    }

    fn count(&mut self, kind: CollectionKind, more: isize) {
        let [maps, lists] = &mut self.open;
        let slot = if kind == CollectionKind::Map { maps } else { lists };
        *slot = slot.saturating_add_signed(more);
    }

    /// Takes a closing bracket. An unmatched one is ignored; unclosed levels inside are closed with it.
    pub(super) fn close(&mut self, kind: CollectionKind, end: usize) {
        if let Some(scalar) = self.pending.take() {
            self.value(scalar);
        }
        if self.over > 0 {
            self.over = self.over.saturating_sub(1);
            return;
        }
        let [maps, lists] = self.open;
        // The root map has no closing bracket.
        let known = if kind == CollectionKind::Map { maps > 1 } else { lists > 0 };
        while known && self.levels.len() > 1 {
            let last = self.levels.last().map(|level| level.kind);
            self.pop(end);
            if last == Some(kind) {
                break;
            }
        }
    }

    /// Closes levels until `depth` are open.
    pub(super) fn close_to(&mut self, depth: usize, end: usize) {
        if let Some(scalar) = self.pending.take() {
            self.value(scalar);
        }
        if self.levels.len() > depth.max(1) {
            self.over = 0;
        }
        while self.levels.len() > depth.max(1) {
            self.pop(end);
        }
    }

    pub(super) fn depth(&self) -> usize {
        self.levels.len()
    }

    /// Returns `true` if the innermost level has a key without a value.
    pub(super) fn is_keyed(&self) -> bool {
        self.levels.last().is_some_and(|level| level.keyed)
    }

    fn pop(&mut self, end: usize) {
        let Some(level) = self.levels.pop() else { return };
        self.count(level.kind, -1);
        super::commands::embed::object(self, &level, end);
        let Some(top) = self.levels.last_mut() else { return };
        top.keyed = false;
        self.path.truncate(top.parts);
    }

    /// Makes a scalar the key of the next value.
    pub(super) fn set_key(&mut self, key: &Scalar) {
        let how = key.how();
        let bytes = key.bytes(self.src);
        if (self.wide || matches!(key.body, ScalarText::View(_))) && !bytes.is_ascii() {
            let words = &self.sink.rules.data;
            crate::text::unicode::identifier_beside(bytes, key.span, how, words, &|_| false, self.sink);
        }
        // A key with spaces may be an instruction to a model, so it is also prose.
        if memchr::memchr(b' ', bytes).is_some() {
            self.text(key);
        }
        let manifest = self.duplicates == DuplicateKeys::Reported && self.over == 0;
        let Some(top) = self.levels.last_mut() else { return };
        self.path.truncate(top.parts);
        self.path.push(bytes, how);
        (top.keyed, top.key_at) = (true, key.span.0);
        if manifest && !top.seen.insert(Box::from(bytes)) {
            self.sink.shape("config-duplicate-key", key.span, how);
        }
    }

    /// Appends a part to the current key, as in `a.b`.
    pub(super) fn add_key(&mut self, key: &Scalar) {
        self.path.push(key.bytes(self.src), key.how());
    }

    /// Reports a value to the rules, and records it if it is part of a command.
    fn value(&mut self, scalar: Scalar) {
        let Some(top) = self.levels.last() else { return };
        let (kind, keyed, index, key_at) = (top.kind, top.keyed, top.index, top.key_at);
        if kind == CollectionKind::List && !keyed {
            self.path.push_index(index);
        }
        let start = if keyed { key_at } else { scalar.span.0 };
        let span = (start.min(scalar.span.0), scalar.span.1);
        let how = self.path.how().and(scalar.how());
        let bytes = scalar.bytes(self.src);
        self.sink.key(&self.among, &self.path, bytes, span, how);
        self.text(&scalar);
        if let ScalarText::View(view) = &scalar.body
            && !view.bytes.is_ascii()
        {
            crate::text::unicode::in_value(view, self.sink);
        }
        self.entry(&scalar);
        super::uri::embed(self, &scalar, how);
        let value_role = match (keyed, self.levels.last()) {
            (true, Some(top)) => ValueRole::of(self.path.last(), top.context),
            (false, Some(top)) => top.value_role,
            (_, None) => ValueRole::None,
        };
        super::commands::embed::value(self, scalar, value_role, span, how);
        if let Some(top) = self.levels.last_mut() {
            self.path.truncate(top.parts);
            top.keyed = false;
        }
    }

    /// Records the entry points of a package.json as JavaScript, whatever their file extension is.
    fn entry(&mut self, scalar: &Scalar) {
        if !self.package
            || !matches!(self.path.part(0), b"main" | b"module" | b"browser" | b"bin" | b"exports")
        {
            return;
        }
        let value = scalar.bytes(self.src);
        if let Ok(value) = core::str::from_utf8(value)
            && !value.is_empty()
            && !value.contains('*')
        {
            let path = value.to_owned();
            self.sink.named_as.push(Named { lens: Lens::Js, path, part: CodePart::File });
        }
    }

    /// Returns the facts of the map around a value, or around the list that contains the value.
    pub(super) fn facts_of(&mut self) -> Option<&mut Facts> {
        let list = self.in_list();
        let at = self.levels.len().checked_sub(if list { 2 } else { 1 })?;
        self.levels.get_mut(at).map(|level| &mut level.facts)
    }

    pub(super) fn context(&self) -> Context {
        self.levels.last().map_or_else(Context::default, |level| level.context)
    }

    pub(super) fn in_list(&self) -> bool {
        self.levels.last().is_some_and(|level| level.kind == CollectionKind::List && !level.keyed)
    }

    fn text(&mut self, scalar: &Scalar) {
        match &scalar.body {
            ScalarText::Range(start, end) => {
                let bytes = self.src.part(*start..*end);
                if bytes.iter().any(u8::is_ascii_alphabetic) || !bytes.is_ascii() {
                    self.out.text.begin(Within::Value, 0);
                    self.out.text.raw(bytes, *start, Obfuscations::NONE);
                }
            }
            ScalarText::View(view) => {
                if !scalar.how().is_plain() {
                    // Text behind escapes is scanned as raw text too: a token may be written as `\u0041…`.
                    crate::scan::file::raw_view(view, self.sink);
                }
                self.out.text.begin(Within::Value, 0);
                let mut at = 0_usize;
                // One step per word, so that a match maps to the words it covers.
                for word in view.bytes.split_inclusive(|byte| matches!(byte, b' ' | b'\n')) {
                    let next = at + word.len();
                    let (from, to, how) = view.map.back(at, next);
                    self.out.text.decoded(word, (from, to), how);
                    at = next;
                }
            }
        }
    }

    /// Adds a comment to the text view, without its marks.
    pub(super) fn comment(&mut self, start: usize, end: usize) {
        // Comments that only whitespace separates form one text.
        let between = self.src.get(self.noted..start).filter(|_| self.noted > 0);
        if !between.is_some_and(|gap| gap.iter().all(u8::is_ascii_whitespace)) {
            self.out.text.begin(Within::Comment, 0);
        }
        self.noted = end;
        let bytes = self.src.part(start..end);
        let mut at = start;
        for line in bytes.split_inclusive(|byte| matches!(byte, b'\n' | b'\r')) {
            let marks = line
                .iter()
                .take_while(|byte| matches!(byte, b' ' | b'\t' | b'*' | b'/' | b'#' | b';'))
                .count();
            let from = at + marks;
            self.out.text.blank((at, from));
            self.out.text.raw(line.part(marks..), from, Obfuscations::NONE);
            at += line.len();
        }
    }

    pub(super) fn finish(mut self) {
        self.close_to(1, self.src.len());
        // The root can be a command, as in a TOML or YAML file that describes one.
        if let Some(root) = self.levels.pop() {
            let end = self.src.len();
            super::commands::embed::object(&mut self, &root, end);
        }
        self.out.text.end();
    }
}
