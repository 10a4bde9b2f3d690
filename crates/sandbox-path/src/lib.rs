#![doc = include_str!("../README.md")]

#[cfg(not(unix))]
compile_error!(
    "plugward-sandbox-path needs Unix: a lookup opens each directory with `openat` and refuses symlinks"
);

mod error;
mod file;
mod jail;
mod meta;
mod path;
mod policy;
mod unix;

pub use error::codes::CODES;
pub use error::jail::{JailError, JailErrorKind};
pub use error::race::{FilesystemRaceDetected, RaceCause, RaceObserver};
pub use error::{OpenError, OpenErrorKind, PathEscape, PathEscapeKind};
pub use file::{Chunk, SandboxedFile};
pub use jail::Jail;
pub use jail::change::{AppendOutcome, MissingFile, RenameMode, ReplaceOutcome};
pub use jail::guarantee::{CaseFolding, ErrorClass, Guarantee, JailPlace};
pub use jail::list::{Directory, DirectoryEntry, Listing};
pub use jail::walk::{Walk, WalkEntry, WalkLimits};
pub use meta::{FileId, FileKind, Metadata, Perm, Stamp};
pub use path::relative::{RelPath, Relative};
pub use path::sandboxed::{FileAccess, SandboxedPath, UnpinnedPath};
pub use policy::{Dotfiles, HardLinks, Mounts, Names, Policy};
