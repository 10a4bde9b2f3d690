//! A folder that was read once and not kept.

use plugward_types::TreeDigest;

use crate::list::TreeList;
use crate::problem::{Notice, TreeRefusal};
use crate::snapshot::ExecSource;

/// The result of digesting a directory.
#[derive(Debug)]
#[must_use = "a refused tree must not be loaded"]
#[expect(clippy::exhaustive_enums, reason = "a new answer must stop every host from building")]
pub enum DigestCheck {
    /// The directory is a tree, with this digest.
    Digested(Digested),
    /// The directory is refused for these problems.
    Refused(TreeRefusal),
}

/// The digest of a folder whose bytes were read, hashed and let go.
///
/// It is a type of its own, without contents: who wants to parse, scan or run what was digested must take a
/// [`Snapshot`](crate::Snapshot), and cannot read the folder a second time by mistake.
///
/// # Guarantees
/// The digest is of the bytes that were read, under the same conditions as a snapshot's: each file had one size, one
/// identity and one set of times from before its first byte was read until after its last, and each folder listed the
/// same names before and after. It says nothing of what the folder holds by now.
#[derive(Debug)]
pub struct Digested {
    pub(crate) list: TreeList,
    pub(crate) exec: ExecSource,
    pub(crate) notices: Vec<Notice>,
    pub(crate) notices_left_out: usize,
    pub(crate) size: u64,
}

impl Digested {
    /// Returns the digest.
    #[must_use]
    pub const fn digest(&self) -> &TreeDigest {
        self.list.digest()
    }

    /// Returns the list that was hashed: what `plugward digest --list` prints.
    #[must_use]
    pub const fn list(&self) -> &TreeList {
        &self.list
    }

    /// Returns the source of the execute bits.
    #[must_use]
    pub const fn exec_source(&self) -> ExecSource {
        self.exec
    }

    /// Returns what is worth a line in the report: at most 100, ordered by path.
    #[must_use]
    pub fn notices(&self) -> &[Notice] {
        &self.notices
    }

    /// Returns the number of further notices.
    #[must_use]
    pub const fn notices_left_out(&self) -> usize {
        self.notices_left_out
    }

    /// Returns the bytes of all files and link targets together.
    #[must_use]
    pub const fn total_bytes(&self) -> u64 {
        self.size
    }
}
