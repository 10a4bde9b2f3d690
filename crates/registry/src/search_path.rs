//! The directories of `PATH`.

use std::collections::BTreeSet;
use std::path::Path;

use cap_std::fs::{Dir, File, MetadataExt as _};
use cap_std::{AmbientAuthority, ambient_authority};

use crate::download::LocalFetch;
use crate::names::is_word;

/// Any of the three bits that let someone execute a file.
const EXECUTE: u32 = 0o111;
/// The bits that let others than the owner write.
const WRITE_OTHERS: u32 = 0o022;
/// The most entries of one directory that are listed.
const LISTED: usize = 100_000;

/// An executable on the path that could be a command plugin. It was not opened.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
#[expect(clippy::exhaustive_structs, reason = "a row of a listing")]
pub struct PathCommand {
    /// The command name, as far as the file name shows it.
    pub name: String,
    /// The file name.
    pub file: String,
    /// The directory.
    pub directory: String,
}

/// The directories that are searched for executables, in order.
///
/// # Guarantees
/// Relative directories, and directories and files that the group or every user can write, are skipped.
#[derive(Debug, Clone)]
pub struct SearchPath {
    directories: Vec<String>,
    // Proves that the caller may open any file of this user.
    authority: LocalFetch,
}

impl SearchPath {
    /// Creates a search path from absolute directories; others are skipped. Symlinks are followed, as a shell does.
    #[must_use]
    pub fn new(directories: impl IntoIterator<Item = String>, authority: AmbientAuthority) -> Self {
        let mut directories: Vec<String> =
            directories.into_iter().filter(|dir| dir.starts_with('/')).collect();
        let mut seen = BTreeSet::new();
        directories.retain(|dir| seen.insert(dir.clone()));
        Self { directories, authority: LocalFetch::new(authority) }
    }

    /// Returns a search path without directories.
    #[must_use]
    pub fn empty() -> Self {
        Self::new([], ambient_authority())
    }

    /// Opens the first executable with a name, and returns it with its directory.
    pub(crate) fn open(&self, name: &str) -> Option<(&str, File)> {
        self.directories.iter().filter(|dir| is_private(dir)).find_map(|dir| {
            let (file, mode) = self.executable(dir, name)?;
            (mode & WRITE_OTHERS == 0).then_some((dir.as_str(), file))
        })
    }

    /// Returns the directory of the first executable with a name that is skipped because others can write it or its directory.
    pub(crate) fn writable(&self, name: &str) -> Option<&str> {
        let is_skipped = |dir: &&String| {
            let found = self.executable(dir, name);
            found.is_some_and(|(_, mode)| mode & WRITE_OTHERS != 0 || !is_private(dir))
        };
        self.directories.iter().find(is_skipped).map(String::as_str)
    }

    /// Opens an executable, and returns its permissions. An unreadable file is skipped, because it cannot be verified.
    fn executable(&self, directory: &str, name: &str) -> Option<(File, u32)> {
        let (file, _) = self.authority.open(&format!("{directory}/{name}")).ok()?;
        let mode = file.metadata().ok()?.mode();
        (mode & EXECUTE != 0).then_some((file, mode))
    }

    /// Lists the files with a prefix, without opening them. Of several files with one name, the first is listed.
    #[must_use]
    pub fn list(&self, prefix: &str) -> Vec<PathCommand> {
        let mut found: Vec<PathCommand> = Vec::new();
        for directory in self.directories.iter().filter(|dir| is_private(dir)) {
            let Ok(entries) =
                Dir::open_ambient_dir(directory, self.authority.0).and_then(|dir| dir.entries())
            else {
                continue;
            };
            for entry in entries.take(LISTED).filter_map(Result::ok) {
                let Ok(file) = entry.file_name().into_string() else { continue };
                let rest = file.strip_prefix(prefix).and_then(|rest| rest.strip_prefix('-'));
                let Some(name) = rest.filter(|rest| is_word(rest)).map(str::to_owned) else { continue };
                if !found.iter().any(|earlier| earlier.file == file) {
                    found.push(PathCommand { name, file, directory: directory.clone() });
                }
            }
        }
        found.sort();
        found
    }
}

/// Returns `true` if only its owner can create files in a directory. The sticky bit does not prevent that.
fn is_private(directory: &str) -> bool {
    std::fs::metadata(Path::new(directory))
        .is_ok_and(|meta| meta.is_dir() && std::os::unix::fs::MetadataExt::mode(&meta) & WRITE_OTHERS == 0)
}
