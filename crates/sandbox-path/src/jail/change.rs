//! Creating, replacing, moving and removing entries inside a jail.

use crate::error::{OpenError, OperationError};
use crate::file::SandboxedFile;
use crate::jail::Jail;
use crate::jail::walk::WalkLimits;
use crate::meta::Perm;
use crate::path::check::{PathForm, check_path};
use crate::path::relative::Relative;
use crate::unix;

/// Whether `append` may create a missing file.
#[expect(clippy::exhaustive_enums, reason = "a file is created or it is not")]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum MissingFile {
    /// A missing file is `path/not-found`.
    Refuse,
    /// A missing file is created with these permissions.
    Create(Perm),
}

/// Whether `rename` may replace an existing entry.
#[expect(clippy::exhaustive_enums, reason = "an entry is replaced or it is not")]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum RenameMode {
    /// An existing entry is `path/exists`.
    Refuse,
    /// An existing entry is replaced. If it is a symlink, its target is not touched.
    Replace,
}

/// Whether `append` created the file.
#[expect(clippy::exhaustive_enums, reason = "an entry budget counts both")]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[must_use = "count an entry if one was created"]
pub enum AppendOutcome {
    /// The file did not exist, and this call created it.
    Created,
    /// The file existed.
    Existing,
}

/// Whether `replace` created the file.
#[expect(clippy::exhaustive_enums, reason = "an entry budget counts both")]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[must_use = "count an entry if one was created"]
pub enum ReplaceOutcome {
    /// The file did not exist, and this call created it.
    Created,
    /// The file existed, and its old contents are gone.
    Overwrote,
}

/// The path of a `rename` that an error concerns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RenameSide {
    From,
    To,
}

impl Jail {
    /// Creates a new file and opens it for writing. Parent directories are not created.
    ///
    /// # Errors
    /// `path/exists` if an entry of that name exists, even a dangling symlink; `path/jail-itself`; and those of a
    /// lookup.
    ///
    /// # Guarantees
    /// The file is created inside the jail, at the moment of [`Jail::guarantee`]. On the walk tier, a file in a
    /// directory that was moved out of the jail meanwhile is removed again and refused as `path/outside`.
    pub fn create_new(&self, relative: impl Relative, perm: Perm) -> Result<SandboxedFile, OpenError> {
        self.call("create", &relative, PathForm::Name, |root, policy, rel| {
            unix::create_new(root, policy, rel, perm).map(|(file, meta)| SandboxedFile::new(file, meta))
        })
    }

    /// Opens a file for appending, and returns whether it was created.
    ///
    /// # Errors
    /// `path/not-regular`, `path/hard-linked` under the policy's `hard_links_write`, `path/contended` if the file is
    /// created and removed repeatedly, and those of a lookup.
    pub fn append(
        &self,
        relative: impl Relative,
        missing: MissingFile,
    ) -> Result<(SandboxedFile, AppendOutcome), OpenError> {
        self.call("append to", &relative, PathForm::Name, |root, policy, rel| {
            let perm = match missing {
                MissingFile::Refuse => None,
                MissingFile::Create(perm) => Some(perm),
            };
            let (file, meta, made) = unix::append(root, policy, rel, perm)?;
            let answer = match made {
                unix::Creation::Created => AppendOutcome::Created,
                unix::Creation::Existing => AppendOutcome::Existing,
            };
            Ok::<_, OperationError>((SandboxedFile::new(file, meta), answer))
        })
    }

    /// Replaces the contents of a file atomically, or creates it with `perm` if it does not exist.
    ///
    /// The bytes are written to a new file in the same directory (`.plugward-tmp-…`), synced, and renamed. The new file
    /// has the permission bits of the old one. The owner, access control lists and extended attributes are lost, and
    /// other hard links keep the old bytes.
    ///
    /// # Errors
    /// `path/symlink` or `path/not-regular` if the entry is not a regular file, `path/jail-itself`, `path/io` on a full
    /// disk, and those of a lookup.
    ///
    /// # Guarantees
    /// After an error or a crash, the file has the old bytes or the new ones, never a mix. The returned value is exact
    /// if the file system can rename without replacing. A crash can leave one `.plugward-tmp-…` file.
    pub fn replace(
        &self,
        relative: impl Relative,
        bytes: &[u8],
        perm: Perm,
    ) -> Result<ReplaceOutcome, OpenError> {
        self.call("replace", &relative, PathForm::Name, |root, policy, rel| {
            unix::replace(root, policy, rel, bytes, perm)
        })
    }

    /// Creates one directory. Parent directories are not created.
    ///
    /// # Errors
    /// `path/exists` if an entry of that name exists; `path/jail-itself`; and those of a lookup.
    pub fn create_dir(&self, relative: impl Relative, perm: Perm) -> Result<(), OpenError> {
        self.call("create", &relative, PathForm::Directory, |root, policy, rel| {
            unix::create_dir(root, policy, rel, perm)
        })
    }

    /// Renames an entry to another path inside the same jail.
    ///
    /// If both paths are hard links to the same file, [`RenameMode::Replace`] changes nothing, as the system call does.
    ///
    /// # Errors
    /// `path/symlink` if the source is a symlink; `path/exists` if the target exists (with [`RenameMode::Replace`] only
    /// if one of the two is a directory and the other is not); `path/not-empty` if the target is a directory with
    /// entries; `path/mount` across mounts; `path/unsupported` for a directory into itself, or if the file system
    /// cannot do it; `path/jail-itself`; and those of a lookup. The error has the path that it concerns, or the old
    /// path if that is not known.
    pub fn rename(&self, from: impl Relative, to: impl Relative, over: RenameMode) -> Result<(), OpenError> {
        let (policy, given, taken) = (*self.policy(), from.name_bytes(), to.name_bytes());
        let target = check_path(taken, policy, PathForm::Name)
            .map_err(|error| OpenError::new("rename to", taken, error))?;
        let source = check_path(given, policy, PathForm::Name)
            .map_err(|error| OpenError::new("rename", given, error))?;
        unix::rename(self.root(), policy, &source, &target, over).map_err(|(side, fail)| match side {
            RenameSide::From => OpenError::new("rename", given, fail),
            RenameSide::To => OpenError::new("rename to", taken, fail),
        })
    }

    /// Removes an entry that is not a directory. A symlink is removed, its target is not.
    ///
    /// # Errors
    /// `path/not-regular` if the entry is a directory; `path/jail-itself`; and those of a lookup.
    pub fn remove_file(&self, relative: impl Relative) -> Result<(), OpenError> {
        self.call("remove", &relative, PathForm::Name, unix::remove_file)
    }

    /// Removes an empty directory.
    ///
    /// # Errors
    /// `path/not-empty`, `path/not-a-directory`, `path/symlink`, `path/jail-itself`, and those of a lookup.
    pub fn remove_dir(&self, relative: impl Relative) -> Result<(), OpenError> {
        self.call("remove", &relative, PathForm::Directory, unix::remove_dir)
    }

    /// Removes a directory with everything in it, and returns the number of removed entries.
    ///
    /// Every step uses a directory handle. Symlinks are removed and never followed, even if they were directories
    /// before. Dotfiles are removed under any policy. At most 256 levels are entered. The directory itself counts as an
    /// entry.
    ///
    /// # Errors
    /// `path/too-large` and `path/too-deep` at the limits; entries removed until then are gone, and never more than the
    /// limit. `path/not-empty` if other processes keep creating files in a directory; `path/jail-itself`; and those of
    /// a lookup.
    pub fn remove_tree(&self, relative: impl Relative, limits: WalkLimits) -> Result<u64, OpenError> {
        self.call("remove", &relative, PathForm::Directory, |root, policy, rel| {
            unix::remove_tree(root, policy, rel, limits)
        })
    }
}
