//! One layer of settings: the values of a file, or of assignments.

mod assignment;
mod read;

use std::collections::BTreeMap;

use plugward_types::PlacePath;

use crate::error::{SettingsError, SettingsFault, ValueOrigin, place};
use crate::table::SettingKey;
use crate::value::SettingValue;

plugward_types::named! {
    /// The source of a layer. The order of the variants is the order from weak to strong.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
    #[expect(clippy::exhaustive_enums, reason = "every host must handle a new layer")]
    pub enum LayerKind {
        /// The key table.
        Default = "default",
        /// The administrator's file.
        Managed = "managed",
        /// The user's file.
        User = "user",
        /// `.plugward/config.toml` in a project root.
        Workspace = "workspace",
        /// `.plugward.toml` in a directory of a project.
        Local = "local",
        /// A table `[workspaces."/path"]` of the user's file.
        UserWorkspace = "user-workspace",
        /// `PLUGWARD_CFG`.
        Env = "env",
        /// `--cfg`.
        Cli = "cli",
    }
}

impl LayerKind {
    /// Returns `true` if a repository controls the layer, so that it can only tighten.
    #[must_use]
    pub const fn is_repository(self) -> bool {
        matches!(self, Self::Workspace | Self::Local)
    }
}

/// A value in a layer.
#[derive(Debug)]
pub(crate) struct LayerValue {
    pub(crate) value: SettingValue,
    /// The byte offset in the layer's text.
    pub(crate) at: usize,
}

/// The values of a table, by key.
pub(crate) type LayerValues = BTreeMap<SettingKey, LayerValue>;

/// The values of one file, or of the assignments of the environment or command line.
///
/// # Examples
/// ```
/// use plugward_policy::{LayerKind, SettingsLayer};
///
/// let text = "plugins.aproval = \"required\"\ntrust = 1\n";
/// let error = SettingsLayer::parse(LayerKind::User, "config.toml", text.as_bytes()).unwrap_err();
/// assert_eq!(error.code(), "policy/settings");
/// assert_eq!(error.first().help, "did you mean `approval`?");
/// assert_eq!((error.rest()[0].origin.line, error.rest()[0].origin.column), (2, 9));
/// ```
#[derive(Debug)]
pub struct SettingsLayer {
    kind: LayerKind,
    label: String,
    text: String,
    values: LayerValues,
    /// The tables for single directories, outermost first.
    workspaces: Vec<(PlacePath, LayerValues)>,
    /// The keys that no other layer can set.
    fixed: Vec<SettingKey>,
}

impl SettingsLayer {
    /// The most bytes of a settings file.
    pub const LIMIT: u64 = 1 << 20;

    /// Reads the text of a settings file. `label` names the file in origins and errors.
    ///
    /// # Errors
    /// `policy/settings` with all faults if the text is not UTF-8 or TOML, is larger than [`Self::LIMIT`], has more
    /// than 80 levels, or has an unknown key, a value of a wrong type or a key of another layer.
    pub fn parse(kind: LayerKind, label: &str, text: &[u8]) -> Result<Self, SettingsError> {
        read::file(kind, label, text)
    }

    /// Reads assignments `KEY=VALUE`, of which later ones are stronger. A value that is not TOML is a text.
    ///
    /// # Errors
    /// As [`Self::parse`]. The line of a fault is the number of the assignment.
    pub fn assignments(kind: LayerKind, label: &str, rows: &[&str]) -> Result<Self, SettingsError> {
        assignment::read(kind, label, rows)
    }

    /// Returns the source of the layer.
    #[must_use]
    pub const fn kind(&self) -> LayerKind {
        self.kind
    }

    /// Returns the label in origins.
    #[must_use]
    pub fn label(&self) -> &str {
        &self.label
    }

    /// Returns the line and column of a byte offset.
    #[must_use]
    pub fn origin(&self, at: usize) -> ValueOrigin {
        place(&self.label, &self.text, at).0
    }

    /// Returns a fault that the caller found in a value, such as an invalid digest.
    #[must_use]
    pub fn fault(&self, at: usize, message: impl Into<String>, help: impl Into<String>) -> SettingsFault {
        let (origin, source) = place(&self.label, &self.text, at);
        SettingsFault { message: message.into(), help: help.into(), origin, source }
    }

    pub(crate) const fn values(&self) -> &LayerValues {
        &self.values
    }

    /// Returns the tables whose directory contains one of some places.
    pub(crate) fn workspaces<'a>(&'a self, places: &'a [PlacePath]) -> impl Iterator<Item = &'a LayerValues> {
        let applies = |dir: &PlacePath| places.iter().any(|place| place.relative_to(dir).is_some());
        self.workspaces.iter().filter(move |(dir, _)| applies(dir)).map(|(_, values)| values)
    }

    /// Returns the directories that have a table of their own.
    pub fn workspace_dirs(&self) -> impl Iterator<Item = &PlacePath> {
        self.workspaces.iter().map(|(dir, _)| dir)
    }

    pub(crate) fn fixed(&self) -> &[SettingKey] {
        &self.fixed
    }
}
