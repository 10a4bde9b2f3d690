//! The decisions of a host about command plugins.

use core::fmt;

use plugward_policy::CommandRules;
use plugward_types::Digest;

use crate::download::SourceUrl;
use crate::search_path::SearchPath;

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
    /// Returns the reason if a plugin with this id and file is revoked.
    pub revoked: &'a dyn Fn(&str, &Digest) -> Option<String>,
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
