//! The private directories of plugins, which are removed after each start.

use std::fs::{self, File, Permissions};
use std::io;
use std::os::unix::fs::PermissionsExt as _;

use camino::{Utf8Path, Utf8PathBuf};
use rustix::fs::{FlockOperation, flock};

use crate::failure::Failure;
use crate::host::{self, Host};

/// A private directory. Dropping it removes the directory. Its lock shows other processes that it is in use.
pub(super) struct PrivateHome {
    path: Utf8PathBuf,
    _lock: File,
}

impl PrivateHome {
    /// Creates a directory, and removes those of processes that were killed.
    pub(super) fn create(host: &Host) -> Result<Self, Failure> {
        let homes = host.state_dir()?.join("homes");
        let failed =
            |error: io::Error| Failure::internal(format!("cannot use the directory {homes}: {error}"));
        // Another process must not find a directory that is not locked yet.
        host::own_directory(&homes)?;
        let _all = locked(&homes, FlockOperation::LockExclusive).map_err(failed)?;
        sweep(&homes).map_err(failed)?;
        let path = homes.join(format!("{:016x}", u128::from_le_bytes(host::random()?) >> 64));
        host::own_directory(&path)?;
        let lock = locked(&path, FlockOperation::NonBlockingLockExclusive).map_err(failed)?;
        Ok(Self { path, _lock: lock })
    }

    pub(super) fn path(&self) -> &Utf8Path {
        &self.path
    }

    /// Removes the directory, if it was not removed before.
    pub(super) fn remove(&self) -> io::Result<()> {
        remove(&self.path)
    }
}

impl Drop for PrivateHome {
    fn drop(&mut self) {
        // The next start tries again.
        let _removed = self.remove();
    }
}

/// Removes the directories that no process uses.
fn sweep(homes: &Utf8Path) -> io::Result<()> {
    for entry in homes.read_dir_utf8()? {
        let entry = entry?;
        // A plugin can take the rights to its own directory.
        if entry.file_type()?.is_dir() {
            fs::set_permissions(entry.path(), Permissions::from_mode(0o700))?;
        }
        match locked(entry.path(), FlockOperation::NonBlockingLockExclusive) {
            Ok(_lock) => remove(entry.path())?,
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

fn locked(directory: &Utf8Path, operation: FlockOperation) -> io::Result<File> {
    #[expect(clippy::disallowed_methods, reason = "only the user writes to the parent, and nothing is read")]
    let file = File::open(directory)?;
    flock(&file, operation)?;
    Ok(file)
}

fn remove(path: &Utf8Path) -> io::Result<()> {
    let removed = match fs::remove_dir_all(path) {
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
            open_up(path).and_then(|()| fs::remove_dir_all(path))
        }
        removed => removed,
    };
    match removed {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        removed => removed,
    }
}

/// Adds all rights of the user to a directory and its subdirectories. Symlinks are not followed.
fn open_up(directory: &Utf8Path) -> io::Result<()> {
    fs::set_permissions(directory, Permissions::from_mode(0o700))?;
    for entry in directory.read_dir_utf8()? {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            open_up(entry.path())?;
        }
    }
    Ok(())
}
