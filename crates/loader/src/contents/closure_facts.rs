//! What a plugin runs outside its own directory, and what its text leaves open.

use plugward_types::{Digest, TreeDigest};

/// The closure of a plugin or settings file, and its unresolved commands.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct ClosureFacts {
    /// The digest of the files outside the plugin that can run; `None` if there are none.
    pub(crate) digest: Option<TreeDigest>,
    /// The commands whose text does not determine what runs.
    pub(crate) unresolved: Vec<UnresolvedCommand>,
}

/// A command whose text does not determine what runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct UnresolvedCommand {
    /// The SHA-256 of the command's text before masking.
    pub(crate) digest: Digest,
    /// The file that contains the command.
    pub(crate) place: String,
    /// The line in that file, from 1.
    pub(crate) line: u64,
    /// The word that is open.
    pub(crate) word: String,
}
