//! A directory that was read once and whose contents were not kept.

use plugward_types::TreeDigest;

use crate::problem::{TreeRefusal, TreeWarning};
use crate::tree::list::TreeList;
use crate::tree::snapshot::ExecSource;

/// The result of digesting a directory.
#[derive(Debug)]
#[must_use = "a refused tree must not be loaded"]
#[expect(clippy::exhaustive_enums, reason = "a new answer must stop every host from building")]
pub enum DigestCheck {
    /// The directory is a tree, with this digest.
    Digested(DigestedTree),
    /// The directory is refused for these problems.
    Refused(TreeRefusal),
}

/// The digest of a directory, without the contents.
///
/// Code that parses, scans or runs a plugin needs a [`Snapshot`](crate::Snapshot). This type has no contents, so such
/// code cannot read the directory a second time by mistake.
///
/// # Guarantees
/// The digest is that of the bytes that were read, under the conditions of a snapshot: each file had one size, one
/// identity and one set of times from before its first byte was read until after its last, and each directory listed
/// the same names before and after. Later changes to the directory are not detected.
#[derive(Debug)]
pub struct DigestedTree {
    pub(crate) list: TreeList,
    pub(crate) exec: ExecSource,
    pub(crate) warnings: Vec<TreeWarning>,
    pub(crate) warnings_left_out: usize,
    pub(crate) size: u64,
}

impl DigestedTree {
    /// Returns the digest.
    #[must_use]
    pub const fn digest(&self) -> &TreeDigest {
        self.list.digest()
    }

    /// Returns the hashed list, which `plugward digest --list` prints.
    #[must_use]
    pub const fn list(&self) -> &TreeList {
        &self.list
    }

    /// Returns the source of the execute bits.
    #[must_use]
    pub const fn exec_source(&self) -> ExecSource {
        self.exec
    }

    /// Returns the warnings for the report, ordered by path, at most 100.
    #[must_use]
    pub fn warnings(&self) -> &[TreeWarning] {
        &self.warnings
    }

    /// Returns the number of warnings above that limit.
    #[must_use]
    pub const fn warnings_left_out(&self) -> usize {
        self.warnings_left_out
    }

    /// Returns the total size of all files and symlink targets, in bytes.
    #[must_use]
    pub const fn total_bytes(&self) -> u64 {
        self.size
    }
}
