#![doc = include_str!("../README.md")]

mod error;
mod file;
#[cfg_attr(unix, path = "unix/mod.rs")]
#[cfg_attr(windows, path = "windows/mod.rs")]
mod imp;
mod jail;
mod meta;
mod path;
mod policy;

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
pub use policy::{Dotfiles, HardLinks, Mounts, Names, Parents, Policy, Symlinks};
