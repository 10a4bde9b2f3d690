//! How a path of version control is looked up and read.

use plugward_sandbox_path::{DirectoryEntry, ErrorClass, FileKind, OpenError};

use super::repository::{MOST_FILES, Reader};
use super::{POINTER_BYTES, VcsFile, VcsFileKind};
use crate::contents::closure::joined;
use crate::contents::closure::place::{Landing, directory, inside};
use crate::contents::closure::scope::relative;
use crate::discovery::discover::NAMES;

impl Reader<'_> {
    /// Returns the directory that a file names. A directory outside of the plugin becomes a part of the pin, because it
    /// is not always readable.
    pub(super) fn pointed(&mut self, file: &str, text: &str) -> Option<String> {
        let target = self.path(directory(file), text)?;
        if inside(&self.places.land(&target).path, &self.root).is_none() {
            self.found.outside.push(format!("{} {text:?}", relative(&self.root, file)));
        }
        Some(target)
    }

    /// Returns the path that a name leads to, with symlinks resolved up to its last component.
    pub(super) fn path(&self, base: &str, name: &str) -> Option<String> {
        let name = match name.strip_prefix("~/") {
            Some(rest) => format!("{}/{rest}", self.home.as_ref()?),
            None => name.to_owned(),
        };
        let path = joined(base, &name);
        match path.trim_end_matches('/').rsplit_once('/') {
            Some((at, last)) if !matches!(last, "." | "..") => {
                Some(joined(self.places.land(at).path.trim_end_matches('/'), last))
            }
            _ => Some(self.places.land(&path).path),
        }
    }

    /// Returns what to open for a path, relative to the jail; `None` if there is nothing, or outside of the jail.
    fn reachable(&self, path: &str) -> Option<String> {
        let landed = self.places.land(path);
        let at = match landed.landing {
            Landing::Absent => return None,
            // A symlink that leaves the jail is an error, unlike a name outside of it.
            Landing::Elsewhere => path,
            _ => landed.path.as_str(),
        };
        self.places.relative(at).map(str::to_owned)
    }

    /// Returns the names in a directory.
    pub(super) fn names(&mut self, path: &str) -> Vec<(String, FileKind)> {
        let Some(at) = self.reachable(path) else { return Vec::new() };
        match self.jail.list(at.as_str(), NAMES) {
            Ok(listing) => {
                let entries = listing.entries();
                self.names_left = self.names_left.saturating_sub(entries.len());
                // A directory whose name is not text can contain a repository.
                let is_hidden = |entry: &DirectoryEntry| {
                    entry.name_str().is_none()
                        && matches!(entry.kind(), FileKind::Directory | FileKind::Symlink)
                };
                self.found.is_full |=
                    listing.is_truncated() || self.names_left == 0 || entries.iter().any(is_hidden);
                if self.names_left == 0 {
                    return Vec::new();
                }
                let named = |entry: &DirectoryEntry| Some((entry.name_str()?.to_owned(), entry.kind()));
                entries.iter().filter_map(named).collect()
            }
            Err(error) => {
                self.miss(error);
                Vec::new()
            }
        }
    }

    /// Returns the text of a file that names a directory.
    pub(super) fn text(&mut self, path: &str) -> Option<String> {
        let at = self.reachable(path).filter(|_| self.places.is_file(path))?;
        match self.jail.read(at.as_str(), POINTER_BYTES) {
            Ok(bytes) => Some(String::from_utf8_lossy(&bytes).into_owned()),
            Err(error) => {
                self.miss(error);
                None
            }
        }
    }

    /// Reads a file, unless it was read before for the same use.
    pub(super) fn add(&mut self, path: &str, kind: VcsFileKind) -> Option<&VcsFile> {
        if self.places.land(path).landing == Landing::Directory || !self.read.insert((path.to_owned(), kind))
        {
            return None;
        }
        let at = self.reachable(path)?;
        if self.found.files.len() >= MOST_FILES {
            self.found.is_full = true;
            return None;
        }
        match self.jail.read(at.as_str(), self.bytes_left) {
            Ok(bytes) => {
                let len = u64::try_from(bytes.len()).unwrap_or(u64::MAX);
                self.bytes_left = self.bytes_left.saturating_sub(len);
                self.found.files.push(VcsFile::new(relative(&self.root, path), kind, bytes));
            }
            Err(error) => {
                self.miss(error);
                return None;
            }
        }
        self.found.files.last()
    }

    fn miss(&mut self, error: OpenError) {
        // In a worktree or a submodule, `.git` is a file.
        if error.class() != ErrorClass::NotFound && error.code() != "path/not-a-directory" {
            self.found.unread.push(error);
        }
    }
}
