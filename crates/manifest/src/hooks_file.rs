//! Reads hooks and settings files that do not belong to a plugin.

use crate::at::At;
use crate::code::Code;
use crate::dialect::Dialect;
use crate::error::{ManifestError, ManifestErrors, Notice};
use crate::files::MapFiles;
use crate::gnoma::{fields, same_key};
use crate::json::{Limits, Member, Node, Value, parse, parse_toml};
use crate::reader::{Base, Ctx, Doc, Need, Read};
use crate::surface::{Layer, Origin, SurfaceItem};

/// The hooks of one file outside a plugin.
///
/// # Guarantees
/// An entry with an error yields no item, and its error does not affect the other entries.
#[derive(Debug, Clone, PartialEq, Eq)]
#[must_use]
pub struct HooksFile {
    items: Vec<SurfaceItem>,
    errors: Vec<ManifestError>,
    notices: Vec<Notice>,
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

    /// Returns the notices.
    #[must_use]
    pub fn notices(&self) -> &[Notice] {
        &self.notices
    }

    /// Returns the hooks, in file order, without copying them.
    #[must_use]
    pub fn into_items(self) -> Vec<SurfaceItem> {
        self.items
    }
}

/// The number of hooks in one file, far above any real settings file.
const MOST: usize = 1000;
/// The nesting of a hooks file. Hooks need 6 levels; nesting far beyond that is an attack or a mistake.
const DEPTH: usize = 16;

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
/// use plugward_manifest::{Dialect, hooks};
///
/// let settings = br#"{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "notify"}]}]}}"#;
/// let file = hooks(Dialect::Claude, settings)?;
/// assert_eq!(file.items()[0].event(), Some("Stop"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn hooks(dialect: Dialect, bytes: &[u8]) -> Result<HooksFile, ManifestErrors> {
    let (files, at) = (MapFiles::new(), At::nowhere());
    let mut ctx = Ctx::new(&files, dialect, &at);
    ctx.standalone = true;
    let limits = Limits::standard().with_depth(DEPTH);
    let root = match dialect {
        Dialect::Claude | Dialect::Codex => parse(bytes, &limits),
        Dialect::Gnoma => parse_toml(bytes, &limits),
        _ => {
            let message = format!("expected the dialect claude, codex or gnoma, got {dialect}");
            return Err(refused(Code::MissingFile, message, "use another dialect"));
        }
    };
    if let Some(mut doc) = ctx.open_as("", bytes, Layer::Plugin, Base::START, root) {
        match dialect {
            Dialect::Gnoma => gnoma(&mut ctx, &mut doc),
            _ => claude(&mut ctx, &mut doc),
        }
        ctx.close(&doc);
        if let Some(item) = ctx.items.get(MOST) {
            let message = format!("expected at most {MOST} hooks, got {}", ctx.items.len());
            let help = Some("use at most 1,000 hooks per file");
            let error = ManifestError::new(Code::TooMany, message, item.place.clone());
            return Err(ManifestErrors { errors: vec![ManifestError { help, ..error }] });
        }
    }
    let mut errors = Vec::new();
    if ctx.error_count() == ctx.entry_errors && ctx.more_error_count() == 0 {
        errors = core::mem::take(&mut ctx.errors);
        errors.sort_by_key(|error| error.place.span);
    }
    let Read { surface, notices, .. } = ctx.finish()?;
    Ok(HooksFile { items: surface, errors, notices })
}

fn refused(code: Code, message: String, help: &'static str) -> ManifestErrors {
    let error = ManifestError::new(code, message, Ctx::whole(""));
    ManifestErrors { errors: vec![ManifestError { help: Some(help), ..error }] }
}

/// Reads `[[hooks]]` and removes the other keys of a configuration, so that they cannot cause errors.
fn gnoma(ctx: &mut Ctx<'_>, doc: &mut Doc<'_>) {
    doc.root.retain(|member| same_key(member.key(), "hooks"));
    let top = fields(ctx, doc, &doc.root, &["hooks"]);
    crate::gnoma::hooks(ctx, doc, &top);
}

/// Reads the `hooks` key of a settings file, or events at the top.
fn claude(ctx: &mut Ctx<'_>, doc: &mut Doc<'_>) {
    let Some(members) = doc.root.members() else {
        return ctx.wrong(doc, &doc.root, "an object", Need::Error);
    };
    let off = matches!(doc.root.get("disableAllHooks").map(Node::value), Some(Value::Bool(true)));
    if doc.root.get("hooks").is_some() {
        doc.root.retain(|member| member.key() == "hooks");
        if let Some(inner) = doc.root.get("hooks") {
            let events = ctx.object(doc, inner, Need::Error);
            ctx.events(doc, events, Origin::Declared);
        }
    } else {
        // A settings file without hooks has lists under other keys. Only a list of groups is an unknown event.
        let has_hooks = |node: &Node<'_>| node.get("hooks").is_some();
        let events = ctx.dialect.events();
        let is_event = |member: &Member<'_>| {
            events.contains(&member.key())
                || member.node().items().is_some_and(|all| all.iter().all(has_hooks))
        };
        for member in members.iter().filter(|member| !is_event(member)) {
            ctx.known_event(doc, member.key_span(), member.key());
        }
        doc.root.retain(is_event);
        ctx.events(doc, doc.root.members().unwrap_or_default(), Origin::Declared);
    }
    // Only this key disables hooks here; a handler's `enabled` and `disabled` are not keys of these hosts.
    ctx.items.iter_mut().for_each(|item| item.off = off);
}
