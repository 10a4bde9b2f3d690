//! One small file below a folder.

use std::sync::Arc;
use std::time::Duration;

use cap_std::fs::Dir;

use crate::content::{Content, Fault, Recovered};
use crate::error::{StateError, StateErrorKind};
use crate::folder::{check_folder, read_file};
use crate::hold::Hold;
use crate::names::Names;
use crate::owner::{LastGood, Owner};

/// One small file that is read whole and replaced whole.
///
/// Beside `NAME` stand `NAME.lock` (always, once it was held), `NAME.queue` (once somebody had to wait for the hold),
/// `NAME.last-good` (where it is kept) and, while a replacement runs, `.NAME.tmp` and `.NAME.last-good.tmp`.
///
/// # Source
/// ADR-003 writes the pin file without a sync and without a hold, so that two processes lose each other's pins.
#[derive(Debug, Clone)]
pub struct StateFile {
    pub(crate) dir: Arc<Dir>,
    pub(crate) names: Names,
    pub(crate) cap: u64,
    pub(crate) owner: Owner,
    pub(crate) keep: LastGood,
}

impl StateFile {
    /// Names a file below a folder; neither needs to be looked at yet.
    ///
    /// # Errors
    /// `state/name` where the name is not one plain part of a path (letters, digits, `.`, `_`, `-`, at most 200
    /// bytes, a letter or digit first); `state/io` where the folder handle cannot be had a second time.
    pub fn at(dir: &Dir, name: &str, cap: u64, owner: Owner, keep: LastGood) -> Result<Self, StateError> {
        let names = Names::of(name)?;
        let dir = Arc::new(dir.try_clone().map_err(|source| StateError::io("open", ".", source))?);
        Ok(Self { dir, names, cap, owner, keep })
    }

    /// Gives the file's name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.names.main
    }

    /// Gives the most bytes that the file may have.
    #[must_use]
    pub const fn cap(&self) -> u64 {
        self.cap
    }

    /// Reads the file. It takes no hold: a reader never waits for a writer.
    ///
    /// # Errors
    /// `state/not-ours`: it is no regular file with one name, or somebody else may write it or its folder;
    /// `state/too-large`; `state/no-access`; `state/io`.
    ///
    /// # Guarantees
    /// `Ok(None)`: there is no such file. `Ok(Some(…))`: the bytes are those of one file that bore the name when it
    /// was opened; nothing was followed, and at most `cap` bytes and one more were read.
    pub fn read(&self) -> Result<Option<Content>, StateError> {
        self.read_named(&self.names.main)
    }

    /// Reads the last good copy; before it, what a replacement that a power cut ended may have left of a newer one, if
    /// `valid` takes that.
    ///
    /// # Errors
    /// As [`StateFile::read`].
    ///
    /// # Guarantees
    /// With a `valid` that takes whole contents alone: what is given is at least as new as the file that was there.
    pub fn read_last_good(&self, valid: &dyn Fn(&[u8]) -> bool) -> Result<Option<Content>, StateError> {
        // It is no copy until it bears the name: one that cannot be read is passed over like one that is torn.
        if let Ok(Some(newer)) = self.read_named(&self.names.last_good_temp)
            && valid(newer.bytes())
        {
            return Ok(Some(newer));
        }
        self.read_named(&self.names.last_good)
    }

    fn read_named(&self, name: &str) -> Result<Option<Content>, StateError> {
        let notices = check_folder(&self.dir, self.owner, "read")?;
        let found = read_file(&self.dir, name, self.owner, self.cap)?;
        Ok(found.map(|content| content.with(notices)))
    }

    /// Reads the file if it is valid, else the last good copy if that is.
    ///
    /// # Errors
    /// `state/damaged` where one of them is there and neither can be used, with what is wrong with each.
    ///
    /// # Guarantees
    /// A file that is missing beside a good copy is a fault of the file, not an empty store.
    pub fn recover(&self, valid: &dyn Fn(&[u8]) -> bool) -> Result<Recovered, StateError> {
        let main = match judge(self.read(), valid) {
            Ok(content) => return Ok(Recovered::Main(content)),
            Err(fault) => fault,
        };
        match judge(self.read_last_good(valid), valid) {
            Ok(content) => Ok(Recovered::LastGood { content, fault: main }),
            Err(Fault::Missing) if matches!(main, Fault::Missing) => Ok(Recovered::Absent),
            Err(last_good) => {
                let kind =
                    StateErrorKind::Damaged { main: main.to_string(), last_good: last_good.to_string() };
                Err(StateError::new("read", &self.names.main, kind))
            }
        }
    }

    /// Takes the hold, so that no other process that asks for it can replace the file.
    ///
    /// Who has to wait stands in the kernel's queue, and is woken when the hold is handed on; with a `wait` of zero
    /// nobody waits. Waiting takes a thread; after a `wait` that was in vain that thread stays until the hold is
    /// free, and serves the next call.
    ///
    /// # Errors
    /// `state/held` after `wait`, with the holder's process id as a hint; `state/no-lock` on a file system without
    /// `flock`; `state/read-only` where the lock file cannot be made; `state/not-ours` as for reading;
    /// `state/no-access`; `state/io`.
    ///
    /// # Guarantees
    /// Until the [`Hold`] is dropped, or the process dies, nobody else has one for this file. The hold is advisory:
    /// a program that does not ask can write. Of those who wait, the one that came first gets it, but for one that
    /// comes at the very moment when it is handed on.
    pub fn hold(&self, wait: Duration) -> Result<Hold<'_>, StateError> {
        Hold::take(self, wait)
    }
}

fn judge(read: Result<Option<Content>, StateError>, valid: &dyn Fn(&[u8]) -> bool) -> Result<Content, Fault> {
    match read {
        Ok(Some(content)) if valid(content.bytes()) => Ok(content),
        Ok(Some(_)) => Err(Fault::Invalid),
        Ok(None) => Err(Fault::Missing),
        Err(error) => Err(Fault::Unreadable(error)),
    }
}
