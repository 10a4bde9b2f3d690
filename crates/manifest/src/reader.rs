//! What every adapter shares: a file being read, and what was found in it so far.

use std::collections::{BTreeMap, BTreeSet};

use plugward_types::Span;

use crate::at::{At, UnknownKeys};
use crate::code::Code;
use crate::dialect::Dialect;
use crate::error::{ManifestError, ManifestErrors, Notice, Place, Weight};
use crate::files::Files;
use crate::json::{self, Limits, Member, Node, Position, Value, pointer_to, positions_of};
use crate::path::{CleanPath, clean_path};
use crate::surface::{Layer, SurfaceItem};
use crate::text::{ForeignText, Joiners, escape, hidden_in};

/// Errors that are listed one by one.
const LISTED: usize = 100;
/// Things that run or enter a prompt, in one plugin.
const ITEMS: usize = 10_000;
/// Notices that are listed one by one.
const NOTICES: usize = 1000;

/// One file of JSON, or the entry of a marketplace file.
pub(crate) struct Doc<'d> {
    pub(crate) file: &'d str,
    pub(crate) bytes: &'d [u8],
    pub(crate) root: Node<'d>,
    pub(crate) layer: Layer,
    /// Where the bytes begin in the file.
    pub(crate) base: Base<'d>,
    marks: (usize, usize, usize),
}

/// Where the bytes of a document begin in their file.
#[derive(Clone, Copy)]
pub(crate) struct Base<'d> {
    pub(crate) offset: usize,
    pub(crate) position: Position,
    pub(crate) pointer: &'d str,
}

impl Base<'_> {
    pub(crate) const START: Self = Self { offset: 0, position: Position { line: 1, column: 1 }, pointer: "" };
}

/// How much a wrong type weighs.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Need {
    /// The key says what runs, where it is, or who the plugin is.
    Error,
    /// Anything else.
    Notice,
}

/// What was found in the end.
pub(crate) struct Read {
    pub(crate) surface: Vec<SurfaceItem>,
    pub(crate) notices: Vec<Notice>,
    pub(crate) files: BTreeSet<String>,
}

/// What was found so far.
pub(crate) struct Ctx<'c> {
    pub(crate) files: &'c dyn Files,
    pub(crate) dialect: Dialect,
    pub(crate) at: &'c At<'c>,
    pub(crate) errors: Vec<ManifestError>,
    pub(crate) notices: Vec<Notice>,
    pub(crate) items: Vec<SurfaceItem>,
    pub(crate) read: BTreeSet<String>,
    flagged: BTreeSet<(String, usize, usize)>,
    more_errors: usize,
    more_notices: usize,
    overfull: bool,
    /// Paths that were looked through for prompt files or programs.
    pub(crate) walked: BTreeSet<(String, &'static str)>,
}

impl<'c> Ctx<'c> {
    pub(crate) const fn new(files: &'c dyn Files, dialect: Dialect, at: &'c At<'c>) -> Self {
        Self {
            files,
            dialect,
            at,
            errors: Vec::new(),
            notices: Vec::new(),
            items: Vec::new(),
            read: BTreeSet::new(),
            flagged: BTreeSet::new(),
            more_errors: 0,
            more_notices: 0,
            overfull: false,
            walked: BTreeSet::new(),
        }
    }

    /// Reads a file of the tree as JSON; the errors of the bytes are errors of the plugin.
    pub(crate) fn open<'d>(&mut self, file: &'d str, bytes: &'d [u8]) -> Option<Doc<'d>> {
        self.read.insert(file.to_owned());
        self.open_as(file, bytes, Layer::Plugin, Base::START, Limits::standard())
    }

    pub(crate) fn open_as<'d>(
        &mut self,
        file: &'d str,
        bytes: &'d [u8],
        layer: Layer,
        base: Base<'d>,
        limits: Limits,
    ) -> Option<Doc<'d>> {
        let marks = (self.errors.len(), self.notices.len(), self.items.len());
        match json::parse(bytes, &limits) {
            Ok(root) => Some(Doc { file, bytes, root, layer, base, marks }),
            Err(errors) => {
                self.more_errors = self.more_errors.saturating_add(errors.unlisted());
                for error in errors.into_vec() {
                    let place = Place {
                        file: file.to_owned(),
                        pointer: error.pointer().to_owned(),
                        span: error.span(),
                        position: Some(error.position()),
                    };
                    let also = error.first().map(|(_, position)| position);
                    let mut message = escape(&error.kind().to_string(), 512);
                    if let Some(first) = also {
                        message =
                            format!("{message} (first at line {}, column {})", first.line, first.column);
                    }
                    self.push(ManifestError {
                        code: error.kind().code(),
                        message,
                        help: Some(error.help()),
                        place,
                        also,
                    });
                }
                None
            }
        }
    }

    /// Ends the reading of a file: hidden text is looked for, and offsets become lines and columns.
    pub(crate) fn close(&mut self, doc: &Doc<'_>) {
        self.find_hidden(doc);
        let (errors, notices, items) = doc.marks;
        let offsets = {
            let errors = self.errors.iter().skip(errors).map(|error| &error.place);
            let notices = self.notices.iter().skip(notices).map(|notice| &notice.place);
            let items = self.items.iter().skip(items).map(|item| &item.place);
            let open = errors.chain(notices).chain(items).filter(|place| is_open(place, doc));
            open.map(|place| place.span.start.saturating_sub(doc.base.offset)).collect()
        };
        let positions = positions_of(doc.bytes, offsets);
        let settle = |place: &mut Place| {
            if is_open(place, doc) {
                let found = positions.get(&place.span.start.saturating_sub(doc.base.offset));
                place.position = found.map(|position| shifted(*position, doc.base.position));
            }
        };
        self.errors.iter_mut().skip(errors).for_each(|error| settle(&mut error.place));
        self.notices.iter_mut().skip(notices).for_each(|notice| settle(&mut notice.place));
        self.items.iter_mut().skip(items).for_each(|item| settle(&mut item.place));
    }

    pub(crate) fn place(doc: &Doc<'_>, span: Span) -> Place {
        let pointer = format!("{}{}", doc.base.pointer, pointer_to(&doc.root, span.start));
        let span =
            Span::new(span.start.saturating_add(doc.base.offset), span.end.saturating_add(doc.base.offset));
        Place { file: doc.file.to_owned(), pointer, span, position: None }
    }

    /// The place of a whole file, or of a file that is not there.
    pub(crate) fn whole(file: &str) -> Place {
        Place { file: file.to_owned(), pointer: String::new(), span: Span::new(0, 0), position: None }
    }

    fn push(&mut self, error: ManifestError) {
        if self.errors.len() < LISTED {
            self.errors.push(error);
        } else {
            self.more_errors = self.more_errors.saturating_add(1);
        }
    }

    pub(crate) fn error(&mut self, doc: &Doc<'_>, span: Span, code: Code, message: impl Into<String>) {
        if self.errors.len() < LISTED {
            let place = Self::place(doc, span);
            self.error_at(place, code, message);
        } else {
            self.more_errors = self.more_errors.saturating_add(1);
        }
    }

    pub(crate) fn error_at(&mut self, place: Place, code: Code, message: impl Into<String>) {
        self.push(ManifestError { code, message: message.into(), help: None, place, also: None });
    }

    pub(crate) fn notice(&mut self, doc: &Doc<'_>, span: Span, code: Code, message: impl Into<String>) {
        self.say(doc, span, code, Weight::Notice, message);
    }

    pub(crate) fn warning(&mut self, doc: &Doc<'_>, span: Span, code: Code, message: impl Into<String>) {
        self.say(doc, span, code, Weight::Warning, message);
    }

    fn say(&mut self, doc: &Doc<'_>, span: Span, code: Code, weight: Weight, message: impl Into<String>) {
        if self.notices.len() < NOTICES {
            let place = Self::place(doc, span);
            self.say_at(place, code, weight, message);
        } else {
            self.more_notices = self.more_notices.saturating_add(1);
        }
    }

    pub(crate) fn say_at(&mut self, place: Place, code: Code, weight: Weight, message: impl Into<String>) {
        if self.notices.len() < NOTICES {
            self.notices.push(Notice { code, weight, message: message.into(), place });
        } else {
            self.more_notices = self.more_notices.saturating_add(1);
        }
    }

    /// Reports a value of the wrong type.
    pub(crate) fn wrong(&mut self, doc: &Doc<'_>, node: &Node<'_>, expected: &str, need: Need) {
        let message = format!("expected {expected}, got {}", node.type_name());
        match need {
            Need::Error => self.error(doc, node.span(), Code::Type, message),
            Need::Notice => self.notice(doc, node.span(), Code::Type, message),
        }
    }

    pub(crate) fn text<'n>(&mut self, doc: &Doc<'_>, node: &'n Node<'_>, need: Need) -> Option<&'n str> {
        let text = node.as_str();
        if text.is_none() {
            self.wrong(doc, node, "a string", need);
        }
        text
    }

    pub(crate) fn list<'n, 'd>(&mut self, doc: &Doc<'_>, node: &'n Node<'d>, need: Need) -> &'n [Node<'d>] {
        let items = node.items();
        if items.is_none() {
            self.wrong(doc, node, "a list", need);
        }
        items.unwrap_or_default()
    }

    pub(crate) fn object<'n, 'd>(
        &mut self,
        doc: &Doc<'_>,
        node: &'n Node<'d>,
        need: Need,
    ) -> &'n [Member<'d>] {
        let members = node.members();
        if members.is_none() {
            self.wrong(doc, node, "an object", need);
        }
        members.unwrap_or_default()
    }

    /// A string, or a list of strings; what is neither is reported.
    pub(crate) fn texts<'n, 'd>(
        &mut self,
        doc: &Doc<'_>,
        node: &'n Node<'d>,
        need: Need,
    ) -> Vec<&'n Node<'d>> {
        match node.value() {
            Value::String(_) => vec![node],
            Value::Array(items) => {
                let mut good = Vec::with_capacity(items.len());
                for item in items {
                    if self.text(doc, item, need).is_some() {
                        good.push(item);
                    }
                }
                good
            }
            _ => {
                self.wrong(doc, node, "a string or a list of strings", need);
                Vec::new()
            }
        }
    }

    /// Free text, kept as foreign.
    pub(crate) fn foreign(&mut self, doc: &Doc<'_>, node: &Node<'_>) -> Option<ForeignText> {
        self.text(doc, node, Need::Notice).map(|text| ForeignText::new(text.to_owned()))
    }

    /// A string in a place where nothing may hide: a name, path, command, argument, URL.
    pub(crate) fn plain<'n>(&mut self, doc: &Doc<'_>, node: &'n Node<'_>, need: Need) -> Option<&'n str> {
        let text = self.text(doc, node, need)?;
        self.refuse_hidden(doc, node.span(), text);
        Some(text)
    }

    pub(crate) fn refuse_hidden(&mut self, doc: &Doc<'_>, span: Span, text: &str) {
        if let Some(hidden) = hidden_in(text, Joiners::Never)
            && self.flagged.insert(flag(doc, span))
        {
            let message = format!("expected visible characters, got U+{:04X}", u32::from(hidden));
            self.error(doc, span, Code::HiddenText, message);
        }
    }

    /// Looks at every key (an error there) and at every string that was not looked at (a warning there).
    fn find_hidden(&mut self, doc: &Doc<'_>) {
        // Escapes are the only way to hide something in ASCII.
        let escapes = |pair: &[u8]| matches!(pair, [b'\\', b'u' | b'b' | b'f']);
        if doc.bytes.iter().all(|byte| byte.is_ascii() && *byte != 0x7F) && !doc.bytes.windows(2).any(escapes)
        {
            return;
        }
        let mut left = vec![&doc.root];
        while let Some(node) = left.pop() {
            match node.value() {
                Value::Object(members) => {
                    for member in members.iter().rev() {
                        self.refuse_hidden(doc, member.key_span(), member.key());
                        left.push(member.node());
                    }
                }
                Value::Array(items) => left.extend(items.iter().rev()),
                Value::String(text) => self.warn_hidden(doc, node.span(), text),
                _ => {}
            }
        }
    }

    fn warn_hidden(&mut self, doc: &Doc<'_>, span: Span, text: &str) {
        let Some(hidden) = hidden_in(text, Joiners::InEmoji) else { return };
        if !self.flagged.contains(&flag(doc, span)) {
            let message = format!("hidden character U+{:04X} in text", u32::from(hidden));
            self.warning(doc, span, Code::HiddenText, message);
        }
    }

    /// A value in path position.
    pub(crate) fn path(&mut self, doc: &Doc<'_>, node: &Node<'_>) -> Option<CleanPath> {
        let text = self.text(doc, node, Need::Error)?;
        match clean_path(text, self.dialect.root_variables()) {
            Ok(path) => {
                self.refuse_hidden(doc, node.span(), text);
                self.check_excluded(doc, node, &path)?;
                let asks_prefix = matches!(self.dialect, Dialect::Claude | Dialect::Codex);
                if asks_prefix && !path.prefixed {
                    let message = format!("expected `./` in front of `{}`", escape(text, 128));
                    self.notice(doc, node.span(), Code::PathPrefix, message);
                }
                Some(path)
            }
            Err(code) => {
                self.flagged.insert(flag(doc, node.span()));
                let message =
                    format!("expected a path inside of the plugin's folder, got `{}`", escape(text, 128));
                self.error(doc, node.span(), code, message);
                None
            }
        }
    }

    fn check_excluded(&mut self, doc: &Doc<'_>, node: &Node<'_>, path: &CleanPath) -> Option<()> {
        let first = path.path.split('/').next().unwrap_or_default();
        if self.at.excluded.contains(&first) {
            let message = format!("expected a path that the digest covers, got one below `{first}`");
            self.error(doc, node.span(), Code::PathExcluded, message);
            return None;
        }
        Some(())
    }

    /// Reports unknown keys and keys that differ in case only from a known one.
    pub(crate) fn keys(&mut self, doc: &Doc<'_>, members: &[Member<'_>], known: &[&str]) {
        let twin_of = |key: &str| known.iter().copied().find(|word| word.eq_ignore_ascii_case(key));
        let mut spellings: Option<BTreeMap<&str, usize>> = None;
        for member in members {
            let key = member.key();
            if known.contains(&key) {
                continue;
            }
            let twin = twin_of(key);
            if let Some(word) = twin {
                let count = |members: &[Member<'_>]| {
                    let mut count = BTreeMap::new();
                    for word in members.iter().filter_map(|member| twin_of(member.key())) {
                        let seen = count.entry(word).or_insert(0_usize);
                        *seen = seen.saturating_add(1);
                    }
                    count
                };
                if spellings.get_or_insert_with(|| count(members)).get(word).is_some_and(|seen| *seen > 1) {
                    let message = format!(
                        "expected one spelling of `{word}`, got `{}` beside another that differs in case only",
                        escape(key, 64)
                    );
                    self.error(doc, member.key_span(), Code::CaseVariant, message);
                    continue;
                }
            }
            let hint = match twin.or_else(|| near(key, known)) {
                Some(word) => format!(" (did you mean `{word}`?)"),
                None => String::new(),
            };
            let message = format!("unknown key `{}`{hint}", escape(key, 64));
            self.unknown_key(doc, member, message);
        }
    }

    pub(crate) fn unknown_key(&mut self, doc: &Doc<'_>, member: &Member<'_>, message: String) {
        match self.at.unknown_keys {
            UnknownKeys::Noticed => self.notice(doc, member.key_span(), Code::UnknownKey, message),
            UnknownKeys::Refused => self.error(doc, member.key_span(), Code::UnknownKey, message),
        }
    }

    /// Reports a required key that is not there, at the object's opening bracket.
    pub(crate) fn missing(&mut self, doc: &Doc<'_>, object: &Node<'_>, key: &str) {
        let mut place = Self::place(doc, object.span());
        place.pointer.push('/');
        place.pointer.push_str(key);
        self.error_at(place, Code::MissingKey, format!("expected the key `{key}`"));
    }

    /// Warns of a file that is named and not there.
    pub(crate) fn missing_file(&mut self, place: &Place, path: &str) {
        let message = format!("`{}` is named and not in the tree", escape(path, 256));
        self.say_at(place.clone(), Code::SurfaceMissingFile, Weight::Warning, message);
    }

    /// Adds an item of the surface; a plugin that declares too many is refused, so that memory stays bounded.
    pub(crate) fn add(&mut self, item: SurfaceItem) {
        if self.items.len() < ITEMS {
            return self.items.push(item);
        }
        if !core::mem::replace(&mut self.overfull, true) {
            let message = format!("expected at most {ITEMS} things that run or enter a prompt");
            self.error_at(item.place, Code::TooMany, message);
        }
    }

    pub(crate) fn error_count(&self) -> usize {
        self.errors.len().saturating_add(self.more_errors)
    }

    pub(crate) const fn more_error_count(&self) -> usize {
        self.more_errors
    }

    /// As [`Self::finish`], where the errors were taken out and dealt with.
    pub(crate) fn finish_notices(mut self) -> Result<Read, ManifestErrors> {
        self.more_errors = 0;
        self.finish()
    }

    /// Gives the errors, where there are any; sorts the notices.
    pub(crate) fn finish(mut self) -> Result<Read, ManifestErrors> {
        if self.errors.is_empty() {
            if self.more_notices > 0 {
                let message = format!("{} more notices", self.more_notices);
                let place = Self::whole(self.dialect.main_file().unwrap_or_default());
                self.notices.push(Notice { code: Code::MoreErrors, weight: Weight::Notice, message, place });
            }
            self.notices.sort_by(|one, two| {
                let key = |notice: &Notice| (notice.place.file.clone(), notice.place.pointer.clone());
                key(one)
                    .cmp(&key(two))
                    .then(one.code.as_str().cmp(two.code.as_str()))
                    .then(one.message.cmp(&two.message))
            });
            self.notices.dedup();
            return Ok(Read { surface: self.items, notices: self.notices, files: self.read });
        }
        self.errors
            .sort_by(|one, two| (&one.place.file, one.place.span).cmp(&(&two.place.file, two.place.span)));
        if self.more_errors > 0 {
            let place = Self::whole(self.dialect.main_file().unwrap_or_default());
            let message = format!("{} more errors", self.more_errors);
            self.errors.push(ManifestError {
                code: Code::MoreErrors,
                message,
                help: None,
                place,
                also: None,
            });
        }
        Err(ManifestErrors { errors: self.errors })
    }
}

fn flag(doc: &Doc<'_>, span: Span) -> (String, usize, usize) {
    (doc.file.to_owned(), span.start.saturating_add(doc.base.offset), span.end)
}

fn is_open(place: &Place, doc: &Doc<'_>) -> bool {
    place.position.is_none() && place.file == doc.file && place.span.start >= doc.base.offset
}

fn shifted(position: Position, base: Position) -> Position {
    let column = if position.line == 1 {
        position.column.saturating_add(base.column).saturating_sub(1)
    } else {
        position.column
    };
    Position { line: position.line.saturating_add(base.line).saturating_sub(1), column }
}

/// Finds a known word at one edit from a key: one letter more, less or other, or two swapped.
fn near<'k>(key: &str, known: &[&'k str]) -> Option<&'k str> {
    if key.len() > 64 {
        return None;
    }
    known.iter().copied().find(|word| is_near(key.as_bytes(), word.as_bytes()))
}

fn is_near(one: &[u8], two: &[u8]) -> bool {
    if one.len() < 4 || one.len().abs_diff(two.len()) > 1 {
        return false;
    }
    let head = one.iter().zip(two).take_while(|(a, b)| a == b).count();
    let (one, two) = (one.get(head..).unwrap_or_default(), two.get(head..).unwrap_or_default());
    let tail = one.iter().rev().zip(two.iter().rev()).take_while(|(a, b)| a == b).count();
    let left = (one.len().saturating_sub(tail), two.len().saturating_sub(tail));
    match left {
        (0 | 1, 0 | 1) => true,
        (2, 2) => one.first() == two.get(1) && one.get(1) == two.first(),
        _ => false,
    }
}
