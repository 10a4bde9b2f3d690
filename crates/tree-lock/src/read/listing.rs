//! Opening and listing one directory through the jail.

use plugward_sandbox_path::{FileKind, Jail, Listing, Metadata, OpenError};
use sha2::{Digest as _, Sha256};

use crate::problem::error::TreeError;
use crate::read::race::report_error;
use crate::tree::exclude::Excludes;

/// Returns the path that the jail expects, which is `.` for the root.
fn jail_path(path: &str) -> &str {
    if path.is_empty() { "." } else { path }
}

/// Lists a directory and returns its metadata. Both are of the same handle.
pub(crate) fn list_directory(
    jail: &Jail,
    path: &str,
    max: usize,
) -> Result<(Listing, Metadata), OpenErrorOrIo> {
    let mut directory = jail.open_directory(jail_path(path)).map_err(OpenErrorOrIo::Open)?;
    let meta = directory.meta().map_err(OpenErrorOrIo::Io)?;
    let listing = directory.list(max).map_err(OpenErrorOrIo::Open)?;
    Ok((listing, meta))
}

#[derive(Debug)]
pub(crate) enum OpenErrorOrIo {
    Open(OpenError),
    Io(std::io::Error),
}

impl OpenErrorOrIo {
    /// Reports the error to the observer if it is a race. Returns `true` if it is one.
    pub(crate) fn report(&self, jail: &Jail, path: &str) -> bool {
        matches!(self, Self::Open(error) if report_error(jail, path, error))
    }

    pub(crate) fn into_tree(self, path: &str) -> TreeError {
        match self {
            Self::Open(error) => TreeError::io(path.as_bytes(), error),
            Self::Io(error) => TreeError::io(path.as_bytes(), error),
        }
    }
}

/// Returns a digest of the names and kinds, so that two listings can be compared without keeping the first.
pub(crate) fn fingerprint(listing: &Listing, exclude: Option<&Excludes>) -> [u8; 32] {
    let mut hash = Sha256::new();
    for entry in listing.entries() {
        if exclude.is_some_and(|exclude| exclude.has(entry.name())) {
            continue;
        }
        let kind: u8 = match entry.kind() {
            FileKind::File => b'f',
            FileKind::Directory => b'd',
            FileKind::Symlink => b'l',
            _ => b'?',
        };
        hash.update(entry.name());
        hash.update([0, kind]);
    }
    hash.finalize().into()
}
