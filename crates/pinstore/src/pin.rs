//! One pin.

use std::collections::BTreeMap;

use plugward_types::{Digest, TreeDigest};

use crate::facts::{Facts, Via};
use crate::time::Timestamp;

/// What is remembered of one plugin in one scope.
///
/// # Source
/// ADR-003; pinstore page, 2.6.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Pin {
    /// Trusted or denied.
    pub state: PinState,
    /// What was trusted; none in a denial of a plugin that was never pinned.
    pub facts: Option<Facts>,
    /// How it came to be.
    pub via: Via,
    /// When, as the caller said.
    pub at: Timestamp,
    /// Who, as the caller said.
    pub by: Option<String>,
    /// The tree that an `accept` replaced.
    pub previous: Option<TreeDigest>,
    /// The tree that was there when a person said never, where it was seen. It was never trusted.
    pub denied: Option<TreeDigest>,
    /// What the plugin's MCP servers offered, by server name.
    pub mcp: BTreeMap<String, McpPin>,
    /// The line of the pin in the file, from 1.
    pub line: usize,
}

impl PartialEq for Pin {
    /// The line is where a pin stands, not what it is.
    fn eq(&self, other: &Self) -> bool {
        let key = |pin: &Self| (pin.state, pin.via, pin.at, pin.previous, pin.denied);
        key(self) == key(other) && self.facts == other.facts && self.by == other.by && self.mcp == other.mcp
    }
}

impl Eq for Pin {}

/// Whether a plugin is trusted or denied.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "a new state must stop every host from building")]
pub enum PinState {
    /// The bytes of the pin were agreed to.
    Trusted,
    /// The plugin is denied, whatever its bytes.
    Denied,
}

impl PinState {
    pub(crate) const ALL: [Self; 2] = [Self::Trusted, Self::Denied];

    /// Gives the word in the file.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Trusted => "trusted",
            Self::Denied => "denied",
        }
    }
}

/// What an MCP server offered when it was pinned; made by the launcher, opaque here.
///
/// # Source
/// HyperAgent compares the names of tools alone (SPEC 3.5); launch page, 3.5.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "three digests; a fourth must stop every host from building")]
pub struct McpPin {
    /// Digest over all items.
    pub set: Digest,
    /// Digest of what started the server.
    pub key: Digest,
    /// Digest of each item, by `kind name`.
    pub items: BTreeMap<String, Digest>,
}
