//! The order of calls that replaces a file, over any maker of those calls.

use std::io;

use crate::names::Names;
use crate::owner::LastGood;

/// The calls that a replacement makes. Tests put a failing or recording maker in place of the kernel.
pub(crate) trait Steps {
    /// An open file.
    type File;

    /// Removes a name; one that is not there is no failure.
    fn remove(&self, name: &str) -> io::Result<()>;
    /// Makes a new file for us alone; a name that is there is a failure.
    fn create(&self, name: &str) -> io::Result<Self::File>;
    /// Writes all bytes.
    fn write(&self, file: &mut Self::File, bytes: &[u8]) -> io::Result<()>;
    /// Waits until the file's bytes are on the disk.
    fn sync(&self, file: &Self::File) -> io::Result<()>;
    /// Waits for two files and for the folder's names, which costs a disk less at once than one by one.
    fn sync_both(&self, first: &Self::File, second: &Self::File) -> Synced;
    /// Gives a file another name, over what had it.
    fn rename(&self, from: &str, to: &str) -> io::Result<()>;
    /// Waits until the folder's names are on the disk.
    fn sync_folder(&self) -> io::Result<()>;
}

/// What came of syncing two files and their folder.
#[derive(Debug)]
pub(crate) struct Synced {
    pub(crate) first: io::Result<()>,
    pub(crate) second: io::Result<()>,
    pub(crate) folder: io::Result<()>,
}

/// Which call failed, and what it leaves.
#[derive(Debug)]
pub(crate) struct Failure {
    pub(crate) doing: &'static str,
    pub(crate) name: String,
    pub(crate) source: io::Error,
    pub(crate) placed: Placed,
}

/// Whether the new bytes already bear the file's name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Placed {
    Yes,
    No,
}

/// Replaces the file.
///
/// The last good copy is a file of its own, never a hard link: an editor that writes in place must not reach both.
/// It is on the disk, under its temporary name at least, before the file's name moves: one of the two copies is at
/// least as new as the file, always. Both names move before the folder is synced again, which saves a disk a third
/// round; a power cut in between may leave the new copy under its temporary name, where readers look for it.
pub(crate) fn replace<S: Steps>(
    steps: &S,
    names: &Names,
    bytes: &[u8],
    keep: LastGood,
) -> Result<(), Failure> {
    let done = run(steps, names, bytes, keep);
    if done.is_err() {
        // What cannot be removed now is reclaimed under the next hold; the first failure is the one to tell.
        for name in [&names.temp, &names.last_good_temp] {
            if steps.remove(name).is_err() {
                break;
            }
        }
    }
    done
}

fn run<S: Steps>(steps: &S, names: &Names, bytes: &[u8], keep: LastGood) -> Result<(), Failure> {
    let main = write_temp(steps, &names.temp, bytes)?;
    match keep {
        LastGood::No => steps.sync(&main).map_err(unsynced(&names.temp))?,
        LastGood::Yes => {
            let copy = write_temp(steps, &names.last_good_temp, bytes)?;
            let Synced { first, second, folder } = steps.sync_both(&main, &copy);
            first.map_err(unsynced(&names.temp))?;
            second.map_err(unsynced(&names.last_good_temp))?;
            folder.map_err(failed("sync the folder of", &names.last_good_temp, Placed::No))?;
            let renamed = steps.rename(&names.last_good_temp, &names.last_good);
            renamed.map_err(failed("replace", &names.last_good, Placed::No))?;
        }
    }
    place(steps, &names.temp, &names.main)
}

/// Writes one more copy under a name of its own.
pub(crate) fn copy<S: Steps>(steps: &S, names: &Names, to: &str, bytes: &[u8]) -> Result<(), Failure> {
    let file = write_temp(steps, &names.temp, bytes)?;
    steps.sync(&file).map_err(unsynced(&names.temp))?;
    place(steps, &names.temp, to)
}

fn write_temp<S: Steps>(steps: &S, temp: &str, bytes: &[u8]) -> Result<S::File, Failure> {
    // We have the hold: a temporary file that is still there belongs to a process that is not.
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
    steps.sync_folder().map_err(failed("sync the folder of", name, Placed::Yes))
}
