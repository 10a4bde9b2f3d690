//! What an adapter can see of a machine. The caller implements it, so that this crate opens no file.

use std::collections::BTreeMap;

use plugward_types::PlacePath;

/// The machine whose records are read.
#[derive(Clone, Copy)]
#[expect(
    missing_debug_implementations,
    reason = "the files and the environment of a machine are not printed"
)]
#[expect(clippy::exhaustive_structs, reason = "the caller decides each part")]
pub struct Machine<'a> {
    /// The user's home directory.
    pub home: &'a str,
    /// The environment variables.
    pub environment: &'a BTreeMap<String, String>,
    /// The project that contains the working directory.
    pub project: Option<&'a PlacePath>,
    /// The working directory.
    pub directory: Option<&'a PlacePath>,
    /// The directories inside the project in which the caller found a directory of a host, such as `packages/a` with
    /// `packages/a/.claude`.
    pub nested: &'a [PlacePath],
    /// The places inside the project that the caller could not search for such directories, with the reasons.
    pub unsearched: &'a [(String, String)],
    /// The files.
    pub files: &'a dyn HostFiles,
}

/// Read access to the files of a machine, by absolute path.
pub trait HostFiles {
    /// Returns the bytes of a file, or `None` if nothing is there.
    ///
    /// # Errors
    /// The reason that the file must not be used.
    fn read(&self, path: &str) -> Result<Option<Vec<u8>>, ReadFault>;

    /// Returns the entries of a directory, sorted by name, or `None` if there is no directory.
    ///
    /// # Errors
    /// The reason that the directory cannot be listed.
    fn list(&self, path: &str) -> Result<Option<Vec<HostEntry>>, ReadFault>;

    /// Returns the path with all symlinks resolved, or `None` if nothing is there or it is not UTF-8.
    fn real(&self, path: &str) -> Option<PlacePath>;

    /// Returns the type of what a path leads to, with symlinks followed.
    fn kind(&self, path: &str) -> Option<EntryKind>;
}

/// An entry of a directory.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
#[expect(clippy::exhaustive_structs, reason = "the caller creates it")]
pub struct HostEntry {
    /// The name.
    pub name: String,
    /// The type, without following a symlink.
    pub kind: EntryKind,
}

/// The type of an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[expect(clippy::exhaustive_enums, reason = "all other types are one case")]
pub enum EntryKind {
    /// A regular file.
    File,
    /// A directory.
    Directory,
    /// A symlink.
    Symlink,
    /// A device, socket or pipe.
    Special,
}

/// The reason that a file or directory must not be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
#[non_exhaustive]
pub struct ReadFault {
    /// What was found.
    pub message: String,
    /// How to fix it.
    pub help: String,
}

impl ReadFault {
    /// Creates a fault.
    #[must_use]
    pub fn new(message: impl Into<String>, help: impl Into<String>) -> Self {
        Self { message: message.into(), help: help.into() }
    }
}
