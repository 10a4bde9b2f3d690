//! Digests in the schemes of other tools, for comparison. They are never used as pins.

use core::fmt;
use core::str::FromStr;

use plugward_types::{Digest, ParseError, base64};
use sha2::{Digest as _, Sha256};

use crate::tree::entry::SnapshotEntry;
use crate::tree::list::EntryKind;
use crate::tree::snapshot::Snapshot;

/// Returns the digest that Go's `dirhash` gives (`h1:`), over all files with an empty prefix.
///
/// A symlink counts as a copy of its target, and execute bits are not covered. Returns `None` if a symlink leads to a
/// directory, which Go cannot read.
// The function `Hash1` of the module `golang.org/x/mod/sumdb/dirhash`.
#[must_use]
pub fn h1(snapshot: &Snapshot) -> Option<String> {
    let mut hash = Sha256::new();
    for entry in snapshot.entries() {
        let content = if entry.kind() == EntryKind::Link { snapshot.file(entry.path())? } else { entry };
        hash.update(content.digest().hex());
        hash.update("  ");
        hash.update(entry.path());
        hash.update("\n");
    }
    Some(format!("h1:{}", base64::encode(&hash.finalize())))
}

/// A digest in codewizard's scheme: 64 lower-case hex digits without a prefix.
///
/// The scheme does not cover compiled Python caches and execute bits, and treats a symlink as a copy of its target.
/// It is therefore never sufficient alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CodewizardDigest([u8; 32]);

impl CodewizardDigest {
    /// Returns the digest that codewizard gives for the directory of a snapshot.
    // The records `path 0x1F size 0x1F bytes` are sorted by path and joined by `0x1E`. Paths with a component
    // `__pycache__` or the extension `.pyc` are skipped. A symlink to a file counts as the file, and one to a directory
    // is skipped.
    #[must_use]
    pub fn of(snapshot: &Snapshot) -> Self {
        let mut hash = Sha256::new();
        let mut first = true;
        for (path, content) in
            snapshot.entries().filter_map(|entry| Some((entry.path(), content(snapshot, entry)?)))
        {
            let cached = path.split('/').any(|part| part == "__pycache__");
            if cached || path.as_bytes().ends_with(b".pyc") {
                continue;
            }
            if !first {
                hash.update([0x1e]);
            }
            first = false;
            hash.update(path);
            hash.update([0x1f]);
            hash.update(content.bytes().len().to_string());
            hash.update([0x1f]);
            hash.update(content.bytes());
        }
        Self(hash.finalize().into())
    }
}

fn content<'a>(snapshot: &'a Snapshot, entry: SnapshotEntry<'a>) -> Option<SnapshotEntry<'a>> {
    if entry.kind() == EntryKind::Link { snapshot.file(entry.path()) } else { Some(entry) }
}

impl fmt::Display for CodewizardDigest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&Digest::from_bytes(self.0).hex())
    }
}

impl FromStr for CodewizardDigest {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Self, ParseError> {
        let digest: Digest = format!("{}{text}", Digest::PREFIX).parse()?;
        Ok(Self(*digest.as_bytes()))
    }
}
