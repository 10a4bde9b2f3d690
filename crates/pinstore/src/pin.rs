//! One pin.

use std::collections::{BTreeMap, BTreeSet};

use plugward_types::{Behavior, CalledName, Digest, PluginKey, TreeDigest};

use crate::facts::{Facts, FolderId, Via};
use crate::time::Timestamp;

/// The most agreed trees of an installed plugin: two versions at a time are normal.
const MAX_AGREED: usize = 16;

/// Returns the most trees that a pin of this key can have.
pub(crate) const fn most_agreed(key: &PluginKey) -> usize {
    match key {
        PluginKey::Installed { .. } => MAX_AGREED,
        PluginKey::Placed(_) => 1,
    }
}

/// The record of one plugin.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Pin {
    /// Whether the plugin is trusted or denied.
    pub state: PinState,
    /// The names that the plugin had in its manifests. They select a pin and never match one.
    pub called: BTreeSet<CalledName>,
    /// The identity of the directory of a placed plugin.
    pub folder: Option<FolderId>,
    /// The agreed trees, oldest first: at most 16 of an installed plugin, one of a placed one. Empty only in a denial.
    pub agreed: Vec<Agreed>,
    /// The denial, present exactly if the state is [`PinState::Denied`].
    pub denied: Option<Denial>,
    /// What the plugin's MCP servers offered, by server name.
    pub mcp: BTreeMap<String, McpPin>,
}

impl Pin {
    /// Returns what was agreed to last.
    #[must_use]
    pub fn latest(&self) -> Option<&Agreed> {
        self.agreed.last()
    }
}

/// A state of a plugin that was agreed to.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Agreed {
    /// The digests.
    pub facts: Facts,
    /// The version that the plugin stated.
    pub version: Option<String>,
    /// What a scan saw the plugin do. `None` in a pin of a plugward that did not look.
    pub behaviors: Option<BTreeSet<Behavior>>,
    /// How it came to be agreed to.
    pub via: Via,
    /// When, as stated by the caller.
    pub at: Timestamp,
    /// The user, as stated by the caller.
    pub by: Option<String>,
}

/// The denial of a plugin.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Denial {
    /// When, as stated by the caller.
    pub at: Timestamp,
    /// The user, as stated by the caller.
    pub by: Option<String>,
    /// The tree that was on disk. It was never trusted.
    pub tree: Option<TreeDigest>,
}

/// Whether a plugin is trusted or denied.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "every host must handle a new state")]
pub enum PinState {
    /// The agreed trees load.
    Trusted,
    /// The plugin is denied, whatever its contents.
    Denied,
}

impl PinState {
    pub(crate) const EXPECTED: &'static str = "`trusted` or `denied`";

    /// Returns the word in the file.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Trusted => "trusted",
            Self::Denied => "denied",
        }
    }

    pub(crate) fn of_word(word: &str) -> Option<Self> {
        [Self::Trusted, Self::Denied].into_iter().find(|state| state.as_str() == word)
    }
}

/// What an MCP server offered when it was pinned. The launcher computes it; it is opaque here.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "every host must handle a fourth digest")]
pub struct McpPin {
    /// The digest over all items.
    pub set: Digest,
    /// The digest of the command that started the server.
    pub key: Digest,
    /// The digest of each item, by `kind name`.
    pub items: BTreeMap<String, Digest>,
}

/// A pin of a version-2 file, which stored no place: pending until a plugin of its name is checked.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct PendingPin {
    /// Whether the plugin is trusted or denied.
    pub state: PinState,
    /// The pinned tree; `None` only in a denial.
    pub tree: Option<TreeDigest>,
    /// SHA-256 of the manifest file.
    pub manifest: Option<Digest>,
    /// The names that the tree digest leaves out.
    pub exclude: Vec<String>,
    /// The digests of the shared directories, by relative path.
    pub shared: BTreeMap<String, TreeDigest>,
    /// SHA-256 of the marketplace entry.
    pub entry: Option<Digest>,
    /// The key id of the signer.
    pub signer: Option<String>,
    /// How the pin was created.
    pub via: Via,
    /// When it was created or denied.
    pub at: Timestamp,
    /// The user.
    pub by: Option<String>,
    /// The tree that was on disk at a denial.
    pub denied: Option<TreeDigest>,
    /// What the plugin's MCP servers offered, by server name.
    pub mcp: BTreeMap<String, McpPin>,
}
