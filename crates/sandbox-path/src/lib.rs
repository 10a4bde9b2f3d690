#![doc = include_str!("../README.md")]

mod change;
mod codes;
mod error;
mod file;
mod gate;
mod guarantee;
#[cfg_attr(unix, path = "unix/mod.rs")]
#[cfg_attr(windows, path = "windows/mod.rs")]
mod imp;
mod jail;
mod jail_error;
mod list;
mod meta;
mod names;
mod policy;
mod race;
mod rel;
mod sandboxed;
mod strip;
mod walk;

pub use change::{Appended, Missing, Over, Replaced};
pub use codes::CODES;
pub use error::{OpenError, OpenErrorKind, PathEscape, PathEscapeKind};
pub use file::{Chunk, SandboxedFile};
pub use guarantee::{Answer, CaseFolding, Guarantee, JailPlace};
pub use jail::Jail;
pub use jail_error::{JailError, JailErrorKind};
pub use list::{Directory, DirectoryEntry, Listing};
pub use meta::{FileId, FileKind, Metadata, Perm, Stamp};
pub use policy::{Dotfiles, HardLinks, Mounts, Names, Parents, Policy, Symlinks};
pub use race::{FilesystemRaceDetected, RaceCause, RaceObserver};
pub use rel::{RelPath, Relative};
pub use sandboxed::{Access, SandboxedPath, UnpinnedPath};
pub use walk::{Walk, WalkEntry, WalkLimits};
