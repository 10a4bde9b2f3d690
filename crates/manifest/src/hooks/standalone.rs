//! Reads hooks and settings files that do not belong to a plugin.

use crate::dialects::Dialect;
use crate::dialects::gnoma::{fields, same_key};
use crate::error::{ManifestCode, ManifestError, ManifestErrors, ManifestPlace, ManifestWarning};
use crate::json::{JsonMember, JsonNode, JsonValue, ParseLimits, parse, parse_toml};
use crate::manifest::{MapFiles, PluginContext};
use crate::reader::text::escape;
use crate::reader::{Base, Document, Reader, Reading, Requirement};
use crate::surface::{ManifestLayer, Origin, SurfaceItem};

/// The hooks of one file outside a plugin.
///
/// # Guarantees
/// An entry with an error yields no item, and its error does not affect the other entries.
#[derive(Debug, Clone, PartialEq, Eq)]
#[must_use]
pub struct HooksFile {
    items: Vec<SurfaceItem>,
    errors: Vec<ManifestError>,
    warnings: Vec<ManifestWarning>,
}

impl HooksFile {
    /// Returns the hooks, in file order.
    #[must_use]
    pub fn items(&self) -> &[SurfaceItem] {
        &self.items
    }

    /// Returns the errors, each in one entry; see [`ManifestError::event`].
    #[must_use]
    pub fn errors(&self) -> &[ManifestError] {
        &self.errors
    }

    /// Returns the notices. The pointer of an unknown table of a TOML file does not start with `/hooks`.
    #[must_use]
    pub fn warnings(&self) -> &[ManifestWarning] {
        &self.warnings
    }

    /// Returns the hooks, in file order, without copying them.
    #[must_use]
    pub fn into_items(self) -> Vec<SurfaceItem> {
        self.items
    }
}

/// The number of hooks in one file, far above any real settings file.
const MAX_HOOKS: usize = 1000;
/// The nesting of a hooks file. Hooks need 6 levels; nesting far beyond that is an attack or a mistake.
const MAX_DEPTH: usize = 16;

/// Reads a hooks or settings file that belongs to no plugin: JSON for Claude and Codex, TOML for gnoma.
///
/// There is no tree: programs and files are not looked up, coverage does not refer to a pin, and the file of each
/// place is empty.
///
/// # Errors
/// The file is not JSON or TOML, its root or its `hooks` has the wrong type, a key is duplicated, or a limit is
/// exceeded: 1 MiB, 16 levels of nesting, 1,000 hooks, 100 errors in entries. Also returned if the dialect has no
/// such file.
///
/// # Examples
/// ```
/// use plugward_manifest::{Dialect, read_hooks_file};
///
/// let settings = br#"{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "notify"}]}]}}"#;
/// let file = read_hooks_file(Dialect::Claude, settings)?;
/// assert_eq!(file.items()[0].event(), Some("Stop"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn read_hooks_file(dialect: Dialect, bytes: &[u8]) -> Result<HooksFile, ManifestErrors> {
    let (files, at) = (MapFiles::new(), PluginContext::without_directory());
    let mut reader = Reader::new(&files, dialect, &at);
    // Set before reading: it decides how commands are judged.
    reader.standalone = true;
    let limits = ParseLimits::standard().with_depth(MAX_DEPTH);
    let root = match dialect {
        Dialect::Claude | Dialect::Codex => parse(bytes, &limits),
        Dialect::Gnoma => parse_toml(bytes, &limits),
        _ => {
            let message = format!("expected the dialect claude, codex or gnoma, got {dialect}");
            return Err(refused(ManifestCode::MissingFile, message, "use another dialect"));
        }
    };
    if let Some(mut doc) = reader.open_as("", bytes, ManifestLayer::Plugin, Base::START, root) {
        match dialect {
            Dialect::Gnoma => gnoma(&mut reader, &mut doc),
            _ => claude(&mut reader, &mut doc),
        }
        reader.close(&doc);
        if let Some(item) = reader.items.get(MAX_HOOKS) {
            let message = format!("expected at most {MAX_HOOKS} hooks, got {}", reader.items.len());
            let help = Some("use at most 1,000 hooks per file");
            let error = ManifestError::new(ManifestCode::TooMany, message, item.place.clone());
            return Err(ManifestErrors { errors: vec![ManifestError { help, ..error }] });
        }
    }
    let mut errors = Vec::new();
    // Every error is inside an entry and listed, so the other entries are complete and can be used.
    if reader.error_count() == reader.entry_errors && reader.more_error_count() == 0 {
        errors = core::mem::take(&mut reader.errors);
        errors.sort_by_key(|error| error.place.span);
    }
    let Reading { surface, warnings, .. } = reader.finish()?;
    Ok(HooksFile { items: surface, errors, warnings })
}

/// Returns a single error with its own help text.
fn refused(code: ManifestCode, message: String, help: &'static str) -> ManifestErrors {
    let error = ManifestError::new(code, message, ManifestPlace::of_file(""));
    ManifestErrors { errors: vec![ManifestError { help: Some(help), ..error }] }
}

/// Reads `[[hooks]]` and removes the other keys, so that they cannot cause errors.
fn gnoma(reader: &mut Reader<'_>, doc: &mut Document<'_>) {
    // A guard in a misspelled table would be dropped without a word.
    let is_table = |member: &&JsonMember<'_>| {
        !same_key(member.key(), "hooks")
            && matches!(member.node().value(), JsonValue::Object(_) | JsonValue::Array(_))
    };
    for member in doc.root.members_or_none().iter().filter(is_table) {
        let message = format!("unknown table `{}`", escape(member.key(), 64));
        reader.notice(doc, member.key_span(), ManifestCode::UnknownKey, message);
    }
    doc.root.retain(|member| same_key(member.key(), "hooks"));
    let top = fields(reader, doc, &doc.root, &["hooks"]);
    super::gnoma::read_hooks(reader, doc, &top);
}

/// Reads the `hooks` key of a settings file, or events at the top.
fn claude(reader: &mut Reader<'_>, doc: &mut Document<'_>) {
    let Some(members) = doc.root.members() else {
        return reader.wrong(doc, &doc.root, "an object", Requirement::Strict);
    };
    let off = matches!(doc.root.get("disableAllHooks").map(JsonNode::value), Some(JsonValue::Bool(true)));
    if doc.root.get("hooks").is_some() {
        doc.root.retain(|member| member.key() == "hooks");
        if let Some(inner) = doc.root.get("hooks") {
            let events = reader.object(doc, inner, Requirement::Strict);
            reader.events(doc, events, Origin::Declared);
        }
    } else {
        // A settings file without hooks has lists under other keys. Only a list of groups is an unknown event.
        let has_hooks = |node: &JsonNode<'_>| node.get("hooks").is_some();
        let events = reader.dialect.events();
        let is_event = |member: &JsonMember<'_>| {
            events.contains(&member.key())
                || member.node().items().is_some_and(|all| all.iter().all(has_hooks))
        };
        for member in members.iter().filter(|member| !is_event(member)) {
            reader.known_event(doc, member.key_span(), member.key());
        }
        doc.root.retain(is_event);
        reader.events(doc, doc.root.members_or_none(), Origin::Declared);
    }
    // Only this key disables hooks here; a handler's `enabled` and `disabled` are not keys of these hosts.
    reader.items.iter_mut().for_each(|item| item.off = off);
}
