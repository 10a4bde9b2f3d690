//! The preimage of a tree digest, in the format `plugtree-v1`.

use std::collections::BTreeMap;

use plugward_types::{Digest, TreeDigest};

use crate::format::hash::sha256;

const FIRST: &str = "plugtree-v1\n";

/// An entry of a tree.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "the columns of plugtree-v1")]
pub struct TreeEntry {
    /// Its kind.
    pub kind: TreeEntryKind,
    /// SHA-256 of its contents, or of the target of a symlink.
    pub digest: Digest,
    /// Its size in bytes.
    pub size: u64,
}

/// The kind of an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[expect(clippy::exhaustive_enums, reason = "the kinds of plugtree-v1")]
pub enum TreeEntryKind {
    /// A file.
    File,
    /// An executable file.
    Executable,
    /// A symlink.
    Link,
}

impl TreeEntryKind {
    /// Returns the letter in the preimage.
    #[must_use]
    pub const fn letter(self) -> char {
        match self {
            Self::File => 'f',
            Self::Executable => 'x',
            Self::Link => 'l',
        }
    }

    fn of_letter(letter: &str) -> Option<Self> {
        [Self::File, Self::Executable, Self::Link]
            .into_iter()
            .find(|kind| letter.len() == 1 && letter.starts_with(kind.letter()))
    }
}

/// Returns the digest of a preimage.
pub(crate) fn digest(preimage: &str) -> TreeDigest {
    TreeDigest::from_bytes(*sha256(preimage.as_bytes()).as_bytes())
}

/// Parses the entries of a preimage, by path. Returns `None` for any other text.
pub(crate) fn entries(preimage: &str) -> Option<BTreeMap<&str, TreeEntry>> {
    let mut found = BTreeMap::new();
    for line in preimage.strip_prefix(FIRST)?.strip_suffix('\n').unwrap_or_default().split('\n') {
        if line.is_empty() || line.starts_with("exclude ") {
            continue;
        }
        let mut parts = line.splitn(4, ' ');
        let kind = TreeEntryKind::of_letter(parts.next()?)?;
        let digest = format!("{}{}", Digest::PREFIX, parts.next()?).parse().ok()?;
        let size = parts.next()?.parse().ok()?;
        found.insert(parts.next()?, TreeEntry { kind, digest, size });
    }
    Some(found)
}
