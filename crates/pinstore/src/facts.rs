//! What was seen of a plugin, and how a pin came to be.

use core::fmt;
use std::collections::BTreeMap;

use plugward_types::{Digest, SurfaceDigest, TreeDigest};

/// What was seen of a plugin in this run, digested by the caller.
///
/// # Source
/// ADR-003 has the manifest's digest alone; hook scripts and programs were not covered.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "a new fact must stop every host from building")]
pub struct Facts {
    /// SHA-256 of the manifest file; none where the dialect has no such file.
    pub manifest: Option<Digest>,
    /// SHA-256 of the marketplace entry, where one was merged in.
    pub entry: Option<Digest>,
    /// Digest of the whole folder, less `exclude`.
    pub tree: TreeDigest,
    /// The names at the folder's root that the digest leaves out.
    pub exclude: Vec<String>,
    /// Digests of folders outside that the plugin imports, by relative name.
    pub shared: BTreeMap<String, TreeDigest>,
    /// Digest of what can run or enter a prompt.
    pub surface: Option<SurfaceDigest>,
    /// The key id of who signed, where somebody did.
    pub signer: Option<String>,
}

impl Facts {
    /// Starts with the tree; everything else is added by field.
    #[must_use]
    pub const fn of_tree(tree: TreeDigest) -> Self {
        Self {
            manifest: None,
            entry: None,
            tree,
            exclude: Vec::new(),
            shared: BTreeMap::new(),
            surface: None,
            signer: None,
        }
    }
}

/// How a pin came to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[expect(clippy::exhaustive_enums, reason = "a new way must stop every host from building")]
pub enum Via {
    /// Trust on first use.
    Tofu,
    /// A person was asked.
    Prompt,
    /// A person named the digest.
    Accept,
    /// PLUGINS.lock named the tree, and a person had accepted that lock.
    Lock,
}

impl Via {
    pub(crate) const ALL: [Self; 4] = [Self::Tofu, Self::Prompt, Self::Accept, Self::Lock];

    /// Gives the word in the file.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Tofu => "tofu",
            Self::Prompt => "prompt",
            Self::Accept => "accept",
            Self::Lock => "lock",
        }
    }
}

impl fmt::Display for Via {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}
