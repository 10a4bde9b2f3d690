//! Access to the files of a plugin.

use std::collections::BTreeMap;

/// The files of one plugin, as they were read and digested.
///
/// Paths are relative to the plugin directory, use `/`, and do not start with `./`. The implementation decides how
/// symlinks are resolved; they must not leave the snapshot.
///
/// # Guarantees
/// This crate reads all bytes through this trait and never opens a file, so the parsed bytes are the digested bytes. An
/// implementation must return the same answer for the same path every time.
pub trait Files {
    /// Returns one file, or `None` if it does not exist or is a directory.
    fn get(&self, path: &str) -> Option<FileView<'_>>;

    /// Returns the paths of all files under a directory at any depth, in any order; `""` is the plugin directory.
    ///
    /// A symlink to a directory of the tree is listed like a directory: its files are returned with paths under the
    /// symlink, as a host that follows the symlink sees them.
    fn under<'a>(&'a self, directory: &str) -> Box<dyn Iterator<Item = &'a str> + 'a>;
}

/// One file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "constructed by implementations of `Files`")]
pub struct FileView<'a> {
    /// The bytes.
    pub bytes: &'a [u8],
    /// `true` if the owner can execute the file.
    pub executable: bool,
}

/// Files in memory, for tests and for hosts that already have the bytes.
///
/// # Examples
/// ```
/// use plugward_manifest::{Files as _, MapFiles};
///
/// let files = MapFiles::new().with("README.md", "text").with_executable("bin/run", "#!/bin/sh");
/// assert!(files.get("bin/run").is_some_and(|file| file.executable));
/// assert!(files.get("bin").is_none());
/// assert_eq!(files.under("bin").collect::<Vec<_>>(), ["bin/run"]);
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct MapFiles {
    files: BTreeMap<String, (Vec<u8>, bool)>,
}

impl MapFiles {
    /// Creates an empty set of files.
    #[must_use]
    pub const fn new() -> Self {
        Self { files: BTreeMap::new() }
    }

    /// Adds or replaces a file.
    #[must_use]
    pub fn with(mut self, path: &str, bytes: impl Into<Vec<u8>>) -> Self {
        self.insert(path, bytes.into(), FileMode::Plain);
        self
    }

    /// Adds or replaces an executable file.
    #[must_use]
    pub fn with_executable(mut self, path: &str, bytes: impl Into<Vec<u8>>) -> Self {
        self.insert(path, bytes.into(), FileMode::Executable);
        self
    }

    /// Adds or replaces a file with the given mode.
    pub fn insert(&mut self, path: &str, bytes: Vec<u8>, mode: FileMode) {
        self.files.insert(path.to_owned(), (bytes, matches!(mode, FileMode::Executable)));
    }
}

/// The execute permission of a file in memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "a permission bit has two values")]
pub enum FileMode {
    /// Not executable.
    Plain,
    /// Executable.
    Executable,
}

impl Files for MapFiles {
    fn get(&self, path: &str) -> Option<FileView<'_>> {
        self.files.get(path).map(|(bytes, executable)| FileView { bytes, executable: *executable })
    }

    fn under<'a>(&'a self, directory: &str) -> Box<dyn Iterator<Item = &'a str> + 'a> {
        // The slash keeps `bin` from matching `binary`.
        let prefix = if directory.is_empty() { String::new() } else { format!("{directory}/") };
        let first = prefix.clone();
        let paths = self.files.range(first..).map(|(path, _)| path.as_str());
        Box::new(paths.take_while(move |path| path.starts_with(&prefix)))
    }
}
