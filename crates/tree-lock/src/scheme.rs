//! Digests of other tools over the same bytes: read and printed for comparison, never a pin.

use core::fmt;
use core::str::FromStr;

use plugward_types::{Digest, ParseError};
use sha2::{Digest as _, Sha256};

use crate::base64;
use crate::entry::Entry;
use crate::list::EntryKind;
use crate::snapshot::Snapshot;

/// Digests a snapshot as Go's `dirhash` does (`h1:`), over all files with an empty prefix; links are read through.
///
/// `None` where a link leads to a folder: Go cannot read that. Execute bits and links themselves are not covered.
///
/// # Source
/// The module `golang.org/x/mod/sumdb/dirhash`, function `Hash1`.
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

/// The digest of codewizard's lock: 64 lower-case hex digits without a prefix.
///
/// # Guarantees
/// Covers neither compiled Python caches nor execute bits, and takes a link for a copy of its target: so it never
/// suffices alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CodewizardDigest([u8; 32]);

impl CodewizardDigest {
    /// Digests a snapshot as that loader would digest the folder.
    ///
    /// # Source
    /// SPEC 4.3: records `path 0x1F size 0x1F bytes`, joined by `0x1E`, sorted by path; a path with a part
    /// `__pycache__` or an end `.pyc` is skipped; a link to a file counts as that file, a link to a folder not.
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

fn content<'a>(snapshot: &'a Snapshot, entry: Entry<'a>) -> Option<Entry<'a>> {
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
