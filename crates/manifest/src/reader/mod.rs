//! The state that all adapters share: the open document, and the results so far.
#![expect(clippy::arithmetic_side_effects, reason = "offsets into a slice in memory cannot overflow")]

mod document;
mod fields;
mod metadata;
pub(crate) mod name;
pub(crate) mod path;
pub(crate) mod text;

use std::collections::BTreeSet;

use plugward_types::Span;

use crate::dialects::{Dialect, main_files};
use crate::error::{
    ManifestCode, ManifestError, ManifestErrors, ManifestPlace, ManifestWarning, WarningLevel,
};
use crate::json::{self, JsonErrors, JsonNode, ParseLimits, positions_of};
use crate::manifest::{FileView, Files, PluginContext};
use crate::marketplace::MarketplaceEntry;
use crate::reader::text::escape;
use crate::surface::{Coverage, ManifestLayer, SurfaceItem};

use document::{ResultCounts, is_open, may_hide, shifted};

pub(crate) use document::{Base, Document};
pub use text::ForeignText;

/// The number of errors that are reported one by one. A generated file can contain thousands.
const MAX_ERRORS: usize = 100;
/// The limit of surface items per plugin, so that memory stays bounded.
const MAX_ITEMS: usize = 10_000;
/// The number of warnings that are reported one by one.
const MAX_WARNINGS: usize = 1000;

/// The level at which a value of the wrong type is reported.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Requirement {
    /// An error, for keys that determine what runs, where it is, or which plugin it is.
    Strict,
    /// A notice, for all other keys.
    Lenient,
}

/// The surface, warnings and files of one plugin.
pub(crate) struct Reading {
    pub(crate) surface: Vec<SurfaceItem>,
    pub(crate) warnings: Vec<ManifestWarning>,
    pub(crate) files: BTreeSet<String>,
}

/// The state of reading one plugin.
pub(crate) struct Reader<'c> {
    pub(crate) files: &'c dyn Files,
    pub(crate) dialect: Dialect,
    pub(crate) context: &'c PluginContext<'c>,
    pub(crate) errors: Vec<ManifestError>,
    pub(crate) warnings: Vec<ManifestWarning>,
    pub(crate) items: Vec<SurfaceItem>,
    /// The files that were read.
    pub(crate) read: BTreeSet<String>,
    /// The places of strings whose hidden characters were reported, so that each is reported once.
    pub(crate) flagged: BTreeSet<(String, usize, usize)>,
    /// The number of errors after the first `MAX_ERRORS`.
    more_errors: usize,
    /// The number of warnings after the first `MAX_WARNINGS`.
    more_warnings: usize,
    /// `true` once the limit of items was reported.
    overfull: bool,
    /// `true` if the file belongs to no plugin, so there is no tree in which to look up programs and files.
    pub(crate) standalone: bool,
    /// The event of the current hook entry.
    event: Option<String>,
    /// The number of errors that occurred in hook entries.
    pub(crate) entry_errors: usize,
    /// The paths that were already searched for prompts or programs, each with the purpose of the search.
    pub(crate) visited: BTreeSet<(String, &'static str)>,
}

impl<'c> Reader<'c> {
    pub(crate) const fn new(files: &'c dyn Files, dialect: Dialect, context: &'c PluginContext<'c>) -> Self {
        Self {
            files,
            dialect,
            context,
            errors: Vec::new(),
            warnings: Vec::new(),
            items: Vec::new(),
            read: BTreeSet::new(),
            flagged: BTreeSet::new(),
            more_errors: 0,
            more_warnings: 0,
            overfull: false,
            standalone: false,
            event: None,
            entry_errors: 0,
            visited: BTreeSet::new(),
        }
    }

    /// Returns the main files of the dialect that exist.
    pub(crate) fn main_files(&self) -> Vec<(&'static str, FileView<'c>)> {
        main_files(self.files, self.dialect, self.context.naming())
    }

    /// Parses a file of the tree as JSON; errors in its bytes are errors of the plugin.
    pub(crate) fn open<'d>(&mut self, file: &'d str, bytes: &'d [u8]) -> Option<Document<'d>> {
        self.read.insert(file.to_owned());
        self.open_as(
            file,
            bytes,
            ManifestLayer::Plugin,
            Base::START,
            json::parse(bytes, &ParseLimits::standard()),
        )
    }

    /// Parses the marketplace entry, if there is one. Its name takes precedence over the manifest's name.
    pub(crate) fn open_entry(&mut self, own: Option<&str>) -> Option<(&'c MarketplaceEntry, Document<'c>)> {
        let entry = self.context.entry?;
        // The entry was cut out of a marketplace file, so the limits of such a file apply.
        let root = json::parse(entry.raw().as_bytes(), &ParseLimits::marketplace());
        let doc =
            self.open_as(entry.file(), entry.raw().as_bytes(), ManifestLayer::Entry, entry.base(), root)?;
        if let Some(own) = own.filter(|own| *own != entry.name()) {
            let (own, name) = (escape(own, 128), escape(entry.name(), 128));
            let message = format!("the manifest has the name `{own}`, the entry `{name}`");
            self.warning(&doc, doc.root.span(), ManifestCode::NameMismatch, message);
        }
        Some((entry, doc))
    }

    pub(crate) fn open_as<'d>(
        &mut self,
        file: &'d str,
        bytes: &'d [u8],
        layer: ManifestLayer,
        base: Base<'d>,
        root: Result<JsonNode<'d>, JsonErrors>,
    ) -> Option<Document<'d>> {
        let before = ResultCounts {
            errors: self.errors.len(),
            warnings: self.warnings.len(),
            items: self.items.len(),
        };
        match root {
            Ok(root) => Some(Document { file, bytes, root, layer, base, before, may_hide: may_hide(bytes) }),
            Err(errors) => {
                self.more_errors += errors.unlisted();
                for error in errors.into_vec() {
                    let place = ManifestPlace {
                        file: file.to_owned(),
                        pointer: error.pointer().to_owned(),
                        span: error.span(),
                        position: Some(error.position()),
                    };
                    // A duplicate key is only understandable with the place of its first occurrence.
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
                        event: None,
                    });
                }
                None
            }
        }
    }

    /// Closes a document: searches for hidden text, and turns offsets into lines and columns.
    ///
    /// Positions are computed here and not when an item is added: one pass over the bytes finds all of them.
    pub(crate) fn close(&mut self, doc: &Document<'_>) {
        self.refuse_hidden_keys(doc, &doc.root);
        self.find_hidden(doc);
        let ResultCounts { errors, warnings, items } = doc.before;
        let offsets = {
            let errors = self.errors.iter().skip(errors).map(|error| &error.place);
            let warnings = self.warnings.iter().skip(warnings).map(|notice| &notice.place);
            let items = self.items.iter().skip(items).map(|item| &item.place);
            let open = errors.chain(warnings).chain(items).filter(|place| is_open(place, doc));
            open.map(|place| place.span.start.saturating_sub(doc.base.offset)).collect()
        };
        let positions = positions_of(doc.bytes, offsets);
        let settle = |place: &mut ManifestPlace| {
            if is_open(place, doc) {
                let found = positions.get(&place.span.start.saturating_sub(doc.base.offset));
                place.position = found.map(|position| shifted(*position, doc.base.position));
            }
        };
        self.errors.iter_mut().skip(errors).for_each(|error| settle(&mut error.place));
        self.warnings.iter_mut().skip(warnings).for_each(|notice| settle(&mut notice.place));
        self.items.iter_mut().skip(items).for_each(|item| settle(&mut item.place));
    }

    fn push(&mut self, error: ManifestError) {
        if self.errors.len() < MAX_ERRORS {
            // The event tells the caller which hook of a settings file is lost.
            self.errors.push(ManifestError { event: self.event.clone(), ..error });
        } else {
            self.more_errors += 1;
        }
    }

    pub(crate) fn error(
        &mut self,
        doc: &Document<'_>,
        span: Span,
        code: ManifestCode,
        message: impl Into<String>,
    ) {
        if self.errors.len() < MAX_ERRORS {
            let place = doc.place(span);
            self.error_at(place, code, message);
        } else {
            self.more_errors += 1;
        }
    }

    /// Adds an error at a place outside an open document.
    pub(crate) fn error_at(&mut self, place: ManifestPlace, code: ManifestCode, message: impl Into<String>) {
        self.push(ManifestError::new(code, message.into(), place));
    }

    pub(crate) fn notice(
        &mut self,
        doc: &Document<'_>,
        span: Span,
        code: ManifestCode,
        message: impl Into<String>,
    ) {
        self.warn(doc, span, code, WarningLevel::Notice, message);
    }

    pub(crate) fn warning(
        &mut self,
        doc: &Document<'_>,
        span: Span,
        code: ManifestCode,
        message: impl Into<String>,
    ) {
        self.warn(doc, span, code, WarningLevel::Warning, message);
    }

    fn warn(
        &mut self,
        doc: &Document<'_>,
        span: Span,
        code: ManifestCode,
        level: WarningLevel,
        message: impl Into<String>,
    ) {
        if self.warnings.len() < MAX_WARNINGS {
            let place = doc.place(span);
            self.warn_at(place, code, level, message);
        } else {
            self.more_warnings += 1;
        }
    }

    pub(crate) fn warn_at(
        &mut self,
        place: ManifestPlace,
        code: ManifestCode,
        level: WarningLevel,
        message: impl Into<String>,
    ) {
        if self.warnings.len() < MAX_WARNINGS {
            self.warnings.push(ManifestWarning { code, level, message: message.into(), place });
        } else {
            self.more_warnings += 1;
        }
    }

    /// Reports a required key that is missing, at the opening bracket of its object.
    pub(crate) fn missing(&mut self, doc: &Document<'_>, object: &JsonNode<'_>, key: &str) {
        let mut place = doc.place(object.span());
        place.pointer.push('/');
        place.pointer.push_str(key);
        self.error_at(place, ManifestCode::MissingKey, format!("expected the key `{key}`"));
    }

    /// Warns about a declared file that does not exist.
    pub(crate) fn missing_file(&mut self, place: &ManifestPlace, path: &str) {
        let message = format!("`{}` is not in the tree", escape(path, 256));
        self.warn_at(place.clone(), ManifestCode::SurfaceMissingFile, WarningLevel::Warning, message);
    }

    /// Warns that the program of an item does not exist: a pin cannot cover what would run in its place.
    pub(crate) fn missing_program(&mut self, item: &mut SurfaceItem, path: &str) {
        let message = format!("the program `{}` is not in the tree", escape(path, 256));
        self.warn_at(item.place.clone(), ManifestCode::SurfaceMissingProgram, WarningLevel::Warning, message);
        item.coverage = item.coverage.worst(Coverage::Unresolved);
    }

    /// Adds an item to the surface; a plugin with too many items is refused, so that memory stays bounded.
    pub(crate) fn add(&mut self, item: SurfaceItem) {
        // One error is enough: the plugin is refused, and the rest would repeat it.
        if self.items.len() < MAX_ITEMS {
            return self.items.push(item);
        }
        if !core::mem::replace(&mut self.overfull, true) {
            let message = format!("expected at most {MAX_ITEMS} commands and prompts");
            self.error_at(item.place, ManifestCode::TooMany, message);
        }
    }

    /// Reads one hook entry. An error in it removes the items of this entry and does not affect other entries.
    pub(crate) fn hook_entry(
        &mut self,
        doc: &Document<'_>,
        node: &JsonNode<'_>,
        event: Option<&str>,
        read: impl FnOnce(&mut Self),
    ) {
        let (errors, inner, items) = (self.error_count(), self.entry_errors, self.items.len());
        // Entries are nested: events contain groups, which contain handlers.
        let outer = core::mem::replace(&mut self.event, event.map(ToOwned::to_owned));
        read(self);
        self.refuse_hidden_keys(doc, node);
        self.event = outer;
        let found = self.error_count().saturating_sub(errors);
        // An error of an inner entry has already removed its items; only an error of this entry removes all.
        if found > self.entry_errors.saturating_sub(inner) {
            self.items.truncate(items);
        }
        self.entry_errors = inner + found;
    }

    /// Returns the number of errors, including those that are not listed.
    pub(crate) fn error_count(&self) -> usize {
        self.errors.len() + self.more_errors
    }

    pub(crate) const fn more_error_count(&self) -> usize {
        self.more_errors
    }

    /// Finishes like [`Self::finish`], after the caller has taken and handled the errors.
    pub(crate) fn finish_warnings(mut self) -> Result<Reading, ManifestErrors> {
        self.more_errors = 0;
        self.finish()
    }

    /// Sorts the results; returns the errors if there are any.
    pub(crate) fn finish(mut self) -> Result<Reading, ManifestErrors> {
        let main = self.dialect.main_file().filter(|_| !self.standalone).unwrap_or_default();
        let place = ManifestPlace::of_file(main);
        if self.errors.is_empty() {
            if self.more_warnings > 0 {
                let message = count_of(self.more_warnings, "more notice");
                self.warnings.push(ManifestWarning {
                    code: ManifestCode::MoreErrors,
                    level: WarningLevel::Notice,
                    message,
                    place,
                });
            }
            self.warnings.sort_by(|one, two| {
                let key =
                    |notice: &ManifestWarning| (notice.place.file.clone(), notice.place.pointer.clone());
                key(one)
                    .cmp(&key(two))
                    .then(one.code.as_str().cmp(two.code.as_str()))
                    .then(one.message.cmp(&two.message))
            });
            // Several keys can lead to the same file, whose warnings would be repeated.
            self.warnings.dedup();
            return Ok(Reading { surface: self.items, warnings: self.warnings, files: self.read });
        }
        self.errors
            .sort_by(|one, two| (&one.place.file, one.place.span).cmp(&(&two.place.file, two.place.span)));
        if self.more_errors > 0 {
            let message = count_of(self.more_errors, "more error");
            self.errors.push(ManifestError::new(ManifestCode::MoreErrors, message, place));
        }
        Err(ManifestErrors { errors: self.errors })
    }
}

/// Formats a count with its noun in the right number.
fn count_of(count: usize, noun: &str) -> String {
    format!("{count} {noun}{}", if count == 1 { "" } else { "s" })
}
