//! The decisions of a host about command plugins.

use core::fmt;

use plugward_policy::CommandRules;
use plugward_types::Digest;

use crate::download::SourceUrl;
use crate::search_path::SearchPath;

/// The names of a command plugin, each of which a revocation can have.
#[derive(Debug, Clone, Copy)]
#[expect(clippy::exhaustive_structs, reason = "a new name must be compared by every host")]
pub struct CommandNames<'a> {
    /// The words of the command.
    pub name: &'a str,
    /// The id.
    pub id: &'a str,
    /// The name of the file.
    pub file: &'a str,
}

/// The decisions of a host that apply to every operation. There is no default.
#[expect(clippy::exhaustive_structs, reason = "every host must decide each of them")]
pub struct CommandHost<'a> {
    /// The first word of file names: the setting `plugins.prefix`.
    pub prefix: &'a str,
    /// The configured registry, whose claim `official` counts: the setting `plugins.registry`.
    pub registry: Option<&'a SourceUrl>,
    /// The targets whose executables run here; see [`crate::host_targets`].
    pub targets: &'a [String],
    /// The directories that are searched last.
    pub path: &'a SearchPath,
    /// Returns the rules for an id.
    pub rules: &'a dyn Fn(&str) -> CommandRules,
    /// Returns the reason if a plugin with these names and this file is revoked.
    pub revoked: &'a dyn Fn(&CommandNames<'_>, &Digest) -> Option<String>,
}

impl fmt::Debug for CommandHost<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CommandHost").field("prefix", &self.prefix).finish_non_exhaustive()
    }
}

impl CommandHost<'_> {
    /// Returns the file name of an installed plugin.
    pub(crate) fn file_name(&self, id: &str) -> String {
        format!("{}-{id}", self.prefix)
    }
}
