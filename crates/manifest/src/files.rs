//! Where the bytes come from.

use std::collections::BTreeMap;

/// The files of one plugin, as they were read and digested.
///
/// Paths are relative to the plugin's folder, with `/`, without `./`. A link is followed inside of the snapshot
/// only; that is the implementor's matter.
///
/// # Guarantees
/// This crate asks for bytes and never opens a file, so what is parsed is what was digested (rule 4). An
/// implementor gives the same answer for the same path each time.
pub trait Files {
    /// Gives one file; absent where there is none, or a folder.
    fn get(&self, path: &str) -> Option<FileView<'_>>;

    /// Gives the paths of all files below a folder, at any depth; `""` means all. The order does not matter.
    ///
    /// A link to a folder of the tree is listed through: its files are given below the link's path, as a host that
    /// follows the link sees them.
    fn under<'a>(&'a self, folder: &str) -> Box<dyn Iterator<Item = &'a str> + 'a>;
}

/// One file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "made by whoever has the bytes")]
pub struct FileView<'a> {
    /// The bytes.
    pub bytes: &'a [u8],
    /// Whether the owner may execute it.
    pub executable: bool,
}

/// Files in memory, for tests and for hosts that have the bytes from elsewhere.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct MapFiles {
    files: BTreeMap<String, (Vec<u8>, bool)>,
}

impl MapFiles {
    /// Starts with no file.
    #[must_use]
    pub const fn new() -> Self {
        Self { files: BTreeMap::new() }
    }

    /// Adds a file, or replaces it.
    #[must_use]
    pub fn with(mut self, path: &str, bytes: impl Into<Vec<u8>>) -> Self {
        self.insert(path, bytes.into(), Mode::Plain);
        self
    }

    /// Adds an executable file, or replaces it.
    #[must_use]
    pub fn with_executable(mut self, path: &str, bytes: impl Into<Vec<u8>>) -> Self {
        self.insert(path, bytes.into(), Mode::Executable);
        self
    }

    /// Adds a file, or replaces it.
    pub fn insert(&mut self, path: &str, bytes: Vec<u8>, mode: Mode) {
        self.files.insert(path.to_owned(), (bytes, matches!(mode, Mode::Executable)));
    }
}

/// Whether the owner may execute a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "a bit has two values")]
pub enum Mode {
    /// Not executable.
    Plain,
    /// Executable.
    Executable,
}

impl Files for MapFiles {
    fn get(&self, path: &str) -> Option<FileView<'_>> {
        self.files.get(path).map(|(bytes, executable)| FileView { bytes, executable: *executable })
    }

    fn under<'a>(&'a self, folder: &str) -> Box<dyn Iterator<Item = &'a str> + 'a> {
        let prefix = if folder.is_empty() { String::new() } else { format!("{folder}/") };
        let first = prefix.clone();
        let paths = self.files.range(first..).map(|(path, _)| path.as_str());
        Box::new(paths.take_while(move |path| path.starts_with(&prefix)))
    }
}
