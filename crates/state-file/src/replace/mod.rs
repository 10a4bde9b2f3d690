//! The sequence of calls that replaces a file, generic over the implementation of the calls.

#[cfg(test)]
mod replay;

use std::io;

use crate::names::Names;
use crate::owner::Backup;

/// The calls of a replacement. Tests implement it with recorded or failing calls.
pub(crate) trait Steps {
    /// An open file.
    type File;

    /// Removes a file. A missing file is not an error.
    fn remove(&self, name: &str) -> io::Result<()>;
    /// Creates a new owner-only file. An existing file is an error.
    fn create(&self, name: &str) -> io::Result<Self::File>;
    /// Writes all bytes.
    fn write(&self, file: &mut Self::File, bytes: &[u8]) -> io::Result<()>;
    /// Waits until the contents of the file are on the disk.
    fn sync(&self, file: &Self::File) -> io::Result<()>;
    /// Syncs two files and the directory together, which is faster than one after the other.
    fn sync_both(&self, first: &Self::File, second: &Self::File) -> Synced;
    /// Renames a file, and replaces an existing one.
    fn rename(&self, from: &str, to: &str) -> io::Result<()>;
    /// Waits until the names in the directory are on the disk.
    fn sync_directory(&self) -> io::Result<()>;
}

/// The results of syncing two files and their directory.
#[derive(Debug)]
pub(crate) struct Synced {
    pub(crate) first: io::Result<()>,
    pub(crate) second: io::Result<()>,
    pub(crate) directory: io::Result<()>,
}

/// A failed call, and whether the file was already replaced.
#[derive(Debug)]
pub(crate) struct Failure {
    pub(crate) doing: &'static str,
    pub(crate) name: String,
    pub(crate) source: io::Error,
    pub(crate) placed: Placed,
}

/// Whether the new bytes already have the name of the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Placed {
    Yes,
    No,
}

/// Replaces the file.
// The backup is a file of its own and not a hard link, because an editor that writes in place must not change both. It
// is on the disk, at least under its temporary name, before the file is renamed, so the backup is always at least as
// new as the file. Both renames come before the second sync of the directory, which saves a third one. A power failure
// in between can leave the new backup under its temporary name, and readers look there.
pub(crate) fn replace<S: Steps>(steps: &S, names: &Names, bytes: &[u8], keep: Backup) -> Result<(), Failure> {
    let done = run(steps, names, bytes, keep);
    if done.is_err() {
        // A file that cannot be removed now is removed under the next lock. The first failure is the one to report.
        for name in [&names.temp, &names.backup_temp] {
            if steps.remove(name).is_err() {
                break;
            }
        }
    }
    done
}

fn run<S: Steps>(steps: &S, names: &Names, bytes: &[u8], keep: Backup) -> Result<(), Failure> {
    let main = write_temp(steps, &names.temp, bytes)?;
    match keep {
        Backup::None => steps.sync(&main).map_err(unsynced(&names.temp))?,
        Backup::Keep => {
            let copy = write_temp(steps, &names.backup_temp, bytes)?;
            let Synced { first, second, directory } = steps.sync_both(&main, &copy);
            first.map_err(unsynced(&names.temp))?;
            second.map_err(unsynced(&names.backup_temp))?;
            directory.map_err(failed("sync the directory of", &names.backup_temp, Placed::No))?;
            let renamed = steps.rename(&names.backup_temp, &names.backup);
            renamed.map_err(failed("replace", &names.backup, Placed::No))?;
        }
    }
    place(steps, &names.temp, &names.main)
}

/// Writes a copy under another name.
pub(crate) fn copy<S: Steps>(steps: &S, names: &Names, to: &str, bytes: &[u8]) -> Result<(), Failure> {
    let file = write_temp(steps, &names.temp, bytes)?;
    steps.sync(&file).map_err(unsynced(&names.temp))?;
    place(steps, &names.temp, to)
}

fn write_temp<S: Steps>(steps: &S, temp: &str, bytes: &[u8]) -> Result<S::File, Failure> {
    // This process has the lock, so an existing temporary file belongs to a process that was killed.
    steps.remove(temp).map_err(failed("remove", temp, Placed::No))?;
    let mut file = steps.create(temp).map_err(failed("create", temp, Placed::No))?;
    steps.write(&mut file, bytes).map_err(failed("write", temp, Placed::No))?;
    Ok(file)
}

fn failed<'n>(doing: &'static str, name: &'n str, placed: Placed) -> impl Fn(io::Error) -> Failure + 'n {
    move |source| Failure { doing, name: name.to_owned(), source, placed }
}

fn unsynced(temp: &str) -> impl Fn(io::Error) -> Failure + '_ {
    failed("sync", temp, Placed::No)
}

fn place<S: Steps>(steps: &S, temp: &str, name: &str) -> Result<(), Failure> {
    steps.rename(temp, name).map_err(failed("replace", name, Placed::No))?;
    steps.sync_directory().map_err(failed("sync the directory of", name, Placed::Yes))
}
