//! One look at a folder: what it is, and which names it has.

use plugward_sandbox_path::{FileKind, Jail, Listing, Metadata, OpenError, OpenErrorKind, PathEscapeKind};
use sha2::{Digest as _, Sha256};

use crate::error::TreeError;
use crate::exclude::Excludes;

/// What the jail says when something is no longer what it was listed as.
pub(crate) fn is_change(error: &OpenError) -> bool {
    match error.kind() {
        OpenErrorKind::Race(_) => true,
        OpenErrorKind::Path(kind) => matches!(
            kind,
            PathEscapeKind::NotFound
                | PathEscapeKind::Symlink
                | PathEscapeKind::NotADirectory
                | PathEscapeKind::NotRegular { .. }
                | PathEscapeKind::Outside
        ),
        _ => false,
    }
}

/// The root is `.` to a jail.
fn at(path: &str) -> &str {
    if path.is_empty() { "." } else { path }
}

pub(crate) fn look(jail: &Jail, path: &str, max: usize) -> Result<(Listing, Metadata), OpenErrorOrIo> {
    let mut folder = jail.open_folder(at(path)).map_err(OpenErrorOrIo::Open)?;
    let meta = folder.meta().map_err(OpenErrorOrIo::Io)?;
    let listing = folder.list(max).map_err(OpenErrorOrIo::Open)?;
    Ok((listing, meta))
}

#[derive(Debug)]
pub(crate) enum OpenErrorOrIo {
    Open(OpenError),
    Io(std::io::Error),
}

impl OpenErrorOrIo {
    pub(crate) fn is_change(&self) -> bool {
        matches!(self, Self::Open(error) if is_change(error))
    }

    pub(crate) fn into_tree(self, path: &str) -> TreeError {
        match self {
            Self::Open(error) => TreeError::io(path.as_bytes(), error),
            Self::Io(error) => TreeError::io(path.as_bytes(), error),
        }
    }
}

/// Digests the names and kinds of a folder, so that they can be compared in little memory.
pub(crate) fn fingerprint(listing: &Listing, exclude: Option<&Excludes>) -> [u8; 32] {
    let mut hash = Sha256::new();
    for entry in listing.entries() {
        if exclude.is_some_and(|exclude| exclude.has(entry.name())) {
            continue;
        }
        let kind: u8 = match entry.kind() {
            FileKind::File => b'f',
            FileKind::Folder => b'd',
            FileKind::Symlink => b'l',
            _ => b'?',
        };
        hash.update(entry.name());
        hash.update([0, kind]);
    }
    hash.finalize().into()
}
