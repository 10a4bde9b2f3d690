//! Limits on the size of a tree.

use core::fmt;

/// The limits on one tree. A tree above one of them is refused.
///
/// There is no `Default`, because a caller that reads untrusted directories should choose its limits.
// The settings are `limits.tree_files`, `limits.tree_bytes`, `limits.file_bytes` and `limits.tree_depth`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "a new limit must be answered by every host")]
pub struct TreeLimits {
    /// The number of files, symlinks and directories, without excluded ones.
    pub entries: usize,
    /// The total size of all files and symlink targets, in bytes.
    pub bytes: u64,
    /// The size of one file, in bytes.
    pub file_bytes: u64,
    /// The number of components in a path.
    pub depth: usize,
    /// The length of a path relative to the directory, in bytes.
    pub path_bytes: usize,
}

impl TreeLimits {
    /// Returns the defaults of the command line.
    ///
    /// These are 20,000 entries, 512 MiB in total, 256 MiB per file, depth 64, and 4,095 bytes per path.
    #[must_use]
    pub const fn standard() -> Self {
        Self { entries: 20_000, bytes: 512 << 20, file_bytes: 256 << 20, depth: 64, path_bytes: 4095 }
    }
}

/// The limit that a tree exceeds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum TreeLimit {
    /// [`TreeLimits::entries`].
    Entries,
    /// [`TreeLimits::bytes`].
    Bytes,
    /// [`TreeLimits::file_bytes`].
    FileBytes,
    /// [`TreeLimits::depth`].
    Depth,
    /// [`TreeLimits::path_bytes`].
    PathBytes,
}

impl TreeLimit {
    /// Returns the name of the setting for this limit, if there is one.
    #[must_use]
    pub const fn setting(self) -> Option<&'static str> {
        match self {
            Self::Entries => Some("limits.tree_files"),
            Self::Bytes => Some("limits.tree_bytes"),
            Self::FileBytes => Some("limits.file_bytes"),
            Self::Depth => Some("limits.tree_depth"),
            Self::PathBytes => None,
        }
    }
}

impl fmt::Display for TreeLimit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Entries => "files, symlinks and directories",
            Self::Bytes => "bytes in total",
            Self::FileBytes => "bytes in one file",
            Self::Depth => "components in a path",
            Self::PathBytes => "bytes in a path",
        })
    }
}
