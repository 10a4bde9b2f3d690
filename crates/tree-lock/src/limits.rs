//! How much of a folder is read at most.

use core::fmt;

/// How much of a folder is read at most. All five stand for a whole tree but `file_bytes`.
///
/// There is no `Default`: whoever reads a stranger's folder says how much of it.
///
/// # Source
/// `limits.tree_files`, `limits.tree_bytes`, `limits.file_bytes` and `limits.tree_depth` of the settings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "a new limit must be answered by every host")]
pub struct Limits {
    /// Files, links and folders in all, what is excluded not counted.
    pub entries: usize,
    /// Bytes of all files and link targets together.
    pub bytes: u64,
    /// Bytes of one file.
    pub file_bytes: u64,
    /// Parts of a path.
    pub depth: usize,
    /// Bytes of a path, relative to the folder.
    pub path_bytes: usize,
}

impl Limits {
    /// Returns the limits that the command line starts from: 20,000 entries, 512 MiB in all, 256 MiB a file, depth
    /// 64, 4,095 bytes a path.
    #[must_use]
    pub const fn standard() -> Self {
        Self { entries: 20_000, bytes: 512 << 20, file_bytes: 256 << 20, depth: 64, path_bytes: 4095 }
    }
}

/// Which limit was met.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Limit {
    /// [`Limits::entries`].
    Entries,
    /// [`Limits::bytes`].
    Bytes,
    /// [`Limits::file_bytes`].
    FileBytes,
    /// [`Limits::depth`].
    Depth,
    /// [`Limits::path_bytes`].
    PathBytes,
}

impl Limit {
    /// Returns the setting that holds this limit, where there is one.
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

impl fmt::Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Entries => "files, links and folders",
            Self::Bytes => "bytes in all",
            Self::FileBytes => "bytes in one file",
            Self::Depth => "parts in a path",
            Self::PathBytes => "bytes in a path",
        })
    }
}
