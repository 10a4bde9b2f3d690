//! One small file in a directory.

use std::sync::Arc;
use std::time::Duration;

use cap_std::fs::Dir;

use crate::content::{CopyFault, Recovered, StateContents};
use crate::directory::{check_directory, read_file};
use crate::error::{StateError, StateErrorKind};
use crate::lock::FileLock;
use crate::names::Names;
use crate::owner::{Backup, Owner};

/// A small file that is read and replaced as a whole.
///
/// The files next to `NAME` are `NAME.lock` (created by the first lock), `NAME.queue` (created by the first process
/// that waits for the lock), `NAME.last-good` (the backup, if one is kept) and, during a replacement, `.NAME.tmp` and
/// `.NAME.last-good.tmp`.
///
/// # Examples
/// ```
/// use std::time::Duration;
/// use cap_std::{ambient_authority, fs::Dir};
/// use plugward_state_file::{Backup, Owner, StateFile};
/// # use std::os::unix::fs::MetadataExt as _;
/// # let directory = tempfile::tempdir()?;
/// # let uid = directory.path().metadata()?.uid();
///
/// let dir = Dir::open_ambient_dir(directory.path(), ambient_authority())?;
/// let file = StateFile::at(&dir, "pins.toml", 8 << 20, Owner::uid(uid), Backup::None)?;
/// file.lock(Duration::from_secs(5))?.replace(b"version = 3\n")?;
/// assert_eq!(file.read()?.expect("it was written").bytes(), b"version = 3\n");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct StateFile {
    pub(crate) dir: Arc<Dir>,
    pub(crate) names: Names,
    pub(crate) cap: u64,
    pub(crate) owner: Owner,
    pub(crate) keep: Backup,
}

impl StateFile {
    /// Describes a file in a directory, without accessing it.
    ///
    /// `cap` is the most bytes that are read or written.
    ///
    /// # Errors
    /// `state/name` if the name is not plain (letters, digits, `.`, `_`, `-`, at most 200 bytes, a letter or digit
    /// first); `state/io` if the directory handle cannot be duplicated.
    pub fn at(dir: &Dir, name: &str, cap: u64, owner: Owner, keep: Backup) -> Result<Self, StateError> {
        let names = Names::of(name)?;
        let dir = Arc::new(dir.try_clone().map_err(|source| StateError::io("open", ".", source))?);
        Ok(Self { dir, names, cap, owner, keep })
    }

    /// Returns the name of the file.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.names.main
    }

    /// Returns the most bytes that are read or written.
    #[must_use]
    pub const fn cap(&self) -> u64 {
        self.cap
    }

    /// Reads the file. It does not lock the file, so a reader never waits for a writer.
    ///
    /// # Errors
    /// `state/not-ours` if it is not a regular file with one hard link, or if another user can write it or its
    /// directory; `state/too-large`; `state/no-access`; `state/io`.
    ///
    /// # Guarantees
    /// `Ok(None)` means that the file does not exist. `Ok(Some(…))` has the bytes of one file that had the name when it
    /// was opened. No symlink was followed, and at most `cap` bytes and one more were read.
    pub fn read(&self) -> Result<Option<StateContents>, StateError> {
        self.read_named(&self.names.main)
    }

    /// Reads the backup.
    ///
    /// A power failure during a replacement can leave a newer backup under its temporary name. It is preferred if
    /// `valid` accepts it.
    ///
    /// # Errors
    /// As [`StateFile::read`].
    ///
    /// # Guarantees
    /// If `valid` rejects incomplete contents, the returned contents are at least as new as the file.
    pub fn read_backup(&self, valid: &dyn Fn(&[u8]) -> bool) -> Result<Option<StateContents>, StateError> {
        // Until it is renamed it is not a backup, so one that cannot be read is ignored like an incomplete one.
        if let Ok(Some(newer)) = self.read_named(&self.names.backup_temp)
            && valid(newer.bytes())
        {
            return Ok(Some(newer));
        }
        self.read_named(&self.names.backup)
    }

    fn read_named(&self, name: &str) -> Result<Option<StateContents>, StateError> {
        let warnings = check_directory(&self.dir, self.owner, "read")?;
        let found = read_file(&self.dir, name, self.owner, self.cap)?;
        Ok(found.map(|content| content.with(warnings)))
    }

    /// Reads the file if it is valid, or else the backup if that is valid.
    ///
    /// # Errors
    /// `state/damaged`, with both faults, if at least one of them exists and neither can be used.
    ///
    /// # Guarantees
    /// A missing file next to a valid backup is a fault of the file and not an empty store.
    pub fn recover(&self, valid: &dyn Fn(&[u8]) -> bool) -> Result<Recovered, StateError> {
        let main = match judge(self.read(), valid) {
            Ok(content) => return Ok(Recovered::Main(content)),
            Err(fault) => fault,
        };
        match judge(self.read_backup(valid), valid) {
            Ok(content) => Ok(Recovered::Backup { content, fault: main }),
            Err(CopyFault::Missing) if matches!(main, CopyFault::Missing) => Ok(Recovered::Absent),
            Err(backup) => {
                let kind = StateErrorKind::Damaged { main: main.to_string(), backup: backup.to_string() };
                Err(StateError::new("read", &self.names.main, kind))
            }
        }
    }

    /// Takes the file lock, so that no other process that takes it can replace the file.
    ///
    /// Callers wait in a queue of the kernel and are woken when the lock is released. A `wait` of zero does not wait.
    /// Waiting needs a thread. If `wait` ends first, that thread stays until the lock is free, and serves the next
    /// call.
    ///
    /// # Errors
    /// `state/held` after `wait`, with the other process id as a hint; `state/no-lock` on a file system without
    /// `flock`; `state/read-only` if the lock file cannot be created; `state/not-ours` as for reading;
    /// `state/no-access`; `state/io`.
    ///
    /// # Guarantees
    /// Until the [`FileLock`] is dropped or the process exits, no other process has it. The lock is advisory: a program
    /// that does not take it can write. Callers get the lock in the order of their calls, except for a call at the very
    /// moment of a release.
    pub fn lock(&self, wait: Duration) -> Result<FileLock<'_>, StateError> {
        FileLock::take(self, wait)
    }
}

fn judge(
    read: Result<Option<StateContents>, StateError>,
    valid: &dyn Fn(&[u8]) -> bool,
) -> Result<StateContents, CopyFault> {
    match read {
        Ok(Some(content)) if valid(content.bytes()) => Ok(content),
        Ok(Some(_)) => Err(CopyFault::Invalid),
        Ok(None) => Err(CopyFault::Missing),
        Err(error) => Err(CopyFault::Unreadable(error)),
    }
}
