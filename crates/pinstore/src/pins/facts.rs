//! The observation of a plugin, and the origin of a pin.

use core::fmt;
use core::str::FromStr;
use std::collections::{BTreeMap, BTreeSet};

use plugward_types::{Behavior, CalledName, Digest, PluginKey, SurfaceDigest, TreeDigest};

use crate::error::{FormatError, FormatErrorKind};

/// The digests of a plugin, computed by the caller.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "every host must handle a new fact")]
pub struct Facts {
    /// The digest of the whole directory, without `exclude`.
    pub tree: TreeDigest,
    /// SHA-256 of each manifest file, by dialect. A dialect without a manifest file is missing.
    pub manifest: BTreeMap<String, Digest>,
    /// SHA-256 of the marketplace entry, if one was merged in.
    pub entry: Option<Digest>,
    /// The names at the top of the directory that the tree digest leaves out.
    pub exclude: Vec<String>,
    /// The digests of directories outside the plugin that it imports, by relative path.
    pub shared: BTreeMap<String, TreeDigest>,
    /// The digest of the execution surface.
    pub surface: Option<SurfaceDigest>,
    /// The key id of the signer, if the plugin is signed.
    pub signer: Option<String>,
    /// The digest of the files outside the plugin that can run: its closure.
    pub closure: Option<TreeDigest>,
    /// SHA-256 of the settings in version control directories that run something.
    pub vcs: Option<Digest>,
    /// SHA-256 of each command whose text does not determine what runs. They are agreed to, not compared.
    pub unresolved: BTreeSet<Digest>,
    /// The names of the settings that let the host run commands without asking. They only inform.
    pub loosens: BTreeSet<String>,
}

impl Facts {
    /// Creates facts that have a tree only.
    #[must_use]
    pub const fn of_tree(tree: TreeDigest) -> Self {
        Self {
            tree,
            manifest: BTreeMap::new(),
            entry: None,
            exclude: Vec::new(),
            shared: BTreeMap::new(),
            surface: None,
            signer: None,
            closure: None,
            vcs: None,
            unresolved: BTreeSet::new(),
            loosens: BTreeSet::new(),
        }
    }
}

/// What plugward read of a plugin when a state of it was agreed to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[expect(clippy::exhaustive_enums, reason = "every host must handle a wider reading")]
pub enum ReadScope {
    /// As version 3 of the pins file: the plugin's directory, shared directories and the marketplace entry.
    Directory,
    /// Everything that the host executes: also the closure and unresolved commands.
    Execution,
}

plugward_types::named! {
    /// The origin of a pin.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
    #[expect(clippy::exhaustive_enums, reason = "every host must handle a new way")]
    pub enum PinOrigin {
        /// Trust on first use.
        Tofu = "tofu",
        /// The user answered a question.
        Prompt = "prompt",
        /// The user named the digest.
        Accept = "accept",
        /// The tree is in an accepted PLUGINS.lock.
        Lock = "lock",
        /// The user or an accepted lockfile had agreed to the same contents under another key.
        Same = "same",
        /// The pin was carried over when the plugin was moved.
        Moved = "moved",
    }
}

/// The identity of a directory: its inode and birth time, written `<inode>:<nanoseconds>`.
///
/// A move preserves both. The birth time is needed because file systems reuse inodes.
///
/// # Examples
/// ```
/// use plugward_pinstore::DirectoryId;
///
/// let directory: DirectoryId = "11010178:1795420491771626904".parse()?;
/// assert_eq!(directory, DirectoryId::new(11_010_178, 1_795_420_491_771_626_904));
/// # Ok::<(), plugward_pinstore::FormatError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DirectoryId {
    inode: u64,
    birth_nanoseconds: u64,
}

impl DirectoryId {
    pub(crate) const EXPECTED: &'static str = "an inode and a birth time in nanoseconds: `1:2`";

    /// Creates an identity from its parts.
    #[must_use]
    pub const fn new(inode: u64, birth_nanoseconds: u64) -> Self {
        Self { inode, birth_nanoseconds }
    }
}

impl fmt::Display for DirectoryId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.inode, self.birth_nanoseconds)
    }
}

impl FromStr for DirectoryId {
    type Err = FormatError;

    fn from_str(text: &str) -> Result<Self, FormatError> {
        let read = || {
            let (inode, birth) = text.split_once(':')?;
            Some(Self::new(inode.parse().ok()?, birth.parse().ok()?))
        };
        // Signs and leading zeros parse as numbers, but each identity has one text.
        read().filter(|directory| directory.to_string() == text).ok_or_else(|| {
            let kind = FormatErrorKind::Expected { key: "folder".to_owned(), expected: Self::EXPECTED };
            FormatError::anywhere(kind)
        })
    }
}

/// The observation of one plugin in this run.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "every host must handle a new observation")]
pub struct ObservedPlugin {
    /// The key.
    pub key: PluginKey,
    /// The identity of the directory, if the file system stores birth times. It is stored for placed
    /// plugins only.
    pub directory: Option<DirectoryId>,
    /// The names in the plugin's manifests. They never match a pin.
    pub called: BTreeSet<CalledName>,
    /// The version in the manifest or in the host's record.
    pub version: Option<String>,
    /// The behaviors that a scan found; `None` if the plugin was not scanned.
    pub behaviors: Option<BTreeSet<Behavior>>,
    /// The digests.
    pub facts: Facts,
    /// The digests as version 3 of the pins file had them, if that version would have computed others.
    pub before: Option<Box<Facts>>,
    /// The key of a pin that this directory had at another place or under another id. The caller determines
    /// it.
    pub predecessor: Option<PluginKey>,
}
