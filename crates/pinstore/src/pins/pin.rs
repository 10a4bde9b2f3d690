//! Pins and denials.

use std::collections::{BTreeMap, BTreeSet};

use plugward_types::{Behavior, CalledName, Digest, PluginKey, TreeDigest};

use crate::pins::facts::{DirectoryId, Facts, PinOrigin, ReadScope};
use plugward_types::Timestamp;

/// The most agreed states of an installed plugin. Hosts keep several versions at a time.
const MAX_AGREED: usize = 16;
/// The most replaced states that the pin of a placed plugin keeps. They only name an older version that comes back.
const MAX_REPLACED: usize = 16;

/// Returns the most states that a pin of this key can have, replaced ones included.
pub(crate) const fn most_states(key: &PluginKey) -> usize {
    match key {
        PluginKey::Installed { .. } => MAX_AGREED,
        PluginKey::Placed(_) => most_agreed(key).saturating_add(MAX_REPLACED),
    }
}

/// Returns the most agreed states that a pin of this key can have.
pub(crate) const fn most_agreed(key: &PluginKey) -> usize {
    match key {
        PluginKey::Installed { .. } => MAX_AGREED,
        PluginKey::Placed(_) => 1,
    }
}

/// The pin of one plugin.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Pin {
    /// Whether the plugin is trusted or denied.
    pub state: PinState,
    /// The names in the plugin's manifests. They select a pin, but never match one.
    pub called: BTreeSet<CalledName>,
    /// The identity of the directory of a placed plugin.
    pub directory: Option<DirectoryId>,
    /// The agreed states, oldest first: at most 16 for an installed plugin; for a placed one, one and at most 16 replaced
    /// ones. The last one is not replaced. Empty only in a denial.
    pub agreed: Vec<AgreedState>,
    /// The denial, present exactly if the state is [`PinState::Denied`].
    pub denied: Option<Denial>,
    /// The pinned offers of the plugin's MCP servers, by [`McpPin::name`].
    pub mcp: BTreeMap<String, McpPin>,
}

impl Pin {
    /// Returns the latest agreed state.
    #[must_use]
    pub fn latest(&self) -> Option<&AgreedState> {
        self.agreed.last()
    }
}

/// A state of a plugin that was agreed to.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct AgreedState {
    /// The digests.
    pub facts: Facts,
    /// The version in the manifest.
    pub version: Option<String>,
    /// What plugward read when the state was agreed to.
    pub reads: ReadScope,
    /// The behaviors that a scan found; `None` in a pin from a version that did not scan for them.
    pub behaviors: Option<BTreeSet<Behavior>>,
    /// The origin of the state.
    pub via: PinOrigin,
    /// The time, as stated by the caller.
    pub at: Timestamp,
    /// The user, as stated by the caller.
    pub by: Option<String>,
    /// When another state replaced this one. It is then not agreed to any more.
    pub superseded: Option<Timestamp>,
}

/// The denial of a plugin.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Denial {
    /// The time, as stated by the caller.
    pub at: Timestamp,
    /// The user, as stated by the caller.
    pub by: Option<String>,
    /// The tree that was on disk. It was never trusted.
    pub tree: Option<TreeDigest>,
}

plugward_types::named! {
    /// Whether a plugin is trusted or denied.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    #[expect(clippy::exhaustive_enums, reason = "every host must handle a new state")]
    pub enum PinState {
        /// The agreed trees load.
        Trusted = "trusted",
        /// The plugin is denied, regardless of its contents.
        Denied = "denied",
    }
}

/// The owner of an MCP server.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "every host must handle a new owner")]
pub enum McpOwner {
    /// A pinned plugin.
    Plugin(PluginKey),
    /// The user, who started the server through plugward in the settings of a host.
    User,
}

/// The pinned offer of an MCP server. The launcher computes the digests.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "every host must handle another digest")]
pub struct McpPin {
    /// The digest over all items.
    pub set: Digest,
    /// The digest of the command that started the server, and of the capabilities of the client.
    pub key: Digest,
    /// The names of these capabilities. Version 3 of the file did not store them.
    pub capabilities: BTreeSet<String>,
    /// The digest of each item, by `kind name`.
    pub items: BTreeMap<String, Digest>,
    /// The last use, to the day. A change sets it.
    pub used: Option<Timestamp>,
}

impl McpPin {
    /// Returns the name of the pin: the server and the key, because a server has one pin for each client.
    #[must_use]
    pub fn name(&self, server: &str) -> String {
        format!("{server}#{}", self.key.hex())
    }

    /// Returns `true` if a pin with this name is one of the server. Version 3 of the file had the server alone.
    pub(crate) fn is_of(&self, name: &str, server: &str) -> bool {
        name == server || name == self.name(server)
    }

    /// Returns `true` if both pins cover the same offer to the same client.
    pub(crate) fn covers_same(&self, other: &Self) -> bool {
        (self.set, self.key, &self.capabilities, &self.items)
            == (other.set, other.key, &other.capabilities, &other.items)
    }
}
