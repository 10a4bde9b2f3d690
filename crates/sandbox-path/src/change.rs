//! Making, replacing, moving and removing names below a jail.

use crate::error::{Fail, OpenError};
use crate::file::SandboxedFile;
use crate::gate::{Form, gate};
use crate::imp;
use crate::jail::Jail;
use crate::meta::Perm;
use crate::rel::Relative;
use crate::walk::WalkLimits;

/// What `append` does where there is no file.
#[expect(clippy::exhaustive_enums, reason = "a file is made or it is not")]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Missing {
    /// It gives `path/not-found`.
    Refuse,
    /// It makes the file with these bits.
    Create(Perm),
}

/// What `rename` does where there is something of the new name.
#[expect(clippy::exhaustive_enums, reason = "a name is replaced or it is not")]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Over {
    /// It gives `path/exists`.
    Refuse,
    /// It puts the one in the place of the other. A link there is replaced, and its target untouched.
    Replace,
}

/// Whether `append` met a file.
#[expect(clippy::exhaustive_enums, reason = "an entry budget counts both")]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[must_use = "count an entry where one was made"]
pub enum Appended {
    /// There was none, and this call made it.
    Created,
    /// There was one.
    Existing,
}

/// Whether `replace` met a file.
#[expect(clippy::exhaustive_enums, reason = "an entry budget counts both")]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[must_use = "count an entry where one was made"]
pub enum Replaced {
    /// There was none, and this call made it.
    Created,
    /// There was one, and it is gone.
    Overwrote,
}

/// Which of the two names of a `rename` an error speaks of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Side {
    From,
    To,
}

impl Jail {
    /// Makes a file that was not there, and opens it for writing. Folders above it are not made.
    ///
    /// # Errors
    /// `path/exists` for anything of that name, a dangling link included; `path/jail-itself`; and those of a lookup.
    ///
    /// # Guarantees
    /// The file is made below the jail at the moment of [`Jail::guarantee`]; on the walk tier a file that was made in a
    /// folder that has left meanwhile is removed again and refused as `path/outside`.
    pub fn create_new(&self, relative: impl Relative, perm: Perm) -> Result<SandboxedFile, OpenError> {
        self.call("make", &relative, Form::Name, |root, policy, rel| {
            imp::create_new(root, policy, rel, perm).map(|(file, meta)| SandboxedFile::new(file, meta))
        })
    }

    /// Opens a file for writing at its end, and says whether it was there.
    ///
    /// # Errors
    /// `path/not-regular`, `path/hard-linked` by the policy's `hard_links_write`, `path/contended` where the file comes
    /// and goes, and those of a lookup.
    pub fn append(
        &self,
        relative: impl Relative,
        missing: Missing,
    ) -> Result<(SandboxedFile, Appended), OpenError> {
        self.call("append to", &relative, Form::Name, |root, policy, rel| {
            let perm = match missing {
                Missing::Refuse => None,
                Missing::Create(perm) => Some(perm),
            };
            let (file, meta, made) = imp::append(root, policy, rel, perm)?;
            let answer = match made {
                imp::Made::Created => Appended::Created,
                imp::Made::Existing => Appended::Existing,
            };
            Ok::<_, Fail>((SandboxedFile::new(file, meta), answer))
        })
    }

    /// Puts bytes in the place of a file, or makes it with `perm` where there is none.
    ///
    /// The bytes go to a new file in the same folder (`.plugward-tmp-…`), are synced, and take the name in one step.
    /// A file that was there passes its permission bits on; its owner, access lists and extended attributes are lost,
    /// and other names that it has keep the old bytes.
    ///
    /// # Errors
    /// `path/symlink` and `path/not-regular` for what is no file, `path/jail-itself`, `path/io` on a full disk, and
    /// those of a lookup.
    ///
    /// # Guarantees
    /// After an error or a crash the name has the old bytes or the new, never a mix. The answer is exact where the
    /// file system can rename without replacing. A crash may leave one `.plugward-tmp-…` file.
    pub fn replace(&self, relative: impl Relative, bytes: &[u8], perm: Perm) -> Result<Replaced, OpenError> {
        self.call("replace", &relative, Form::Name, |root, policy, rel| {
            imp::replace(root, policy, rel, bytes, perm)
        })
    }

    /// Makes one folder. Folders above it are not made.
    ///
    /// # Errors
    /// `path/exists` for anything of that name; `path/jail-itself`; and those of a lookup.
    pub fn create_dir(&self, relative: impl Relative, perm: Perm) -> Result<(), OpenError> {
        self.call("make", &relative, Form::Folder, |root, policy, rel| {
            imp::create_dir(root, policy, rel, perm)
        })
    }

    /// Moves a name to another below the same jail.
    ///
    /// # Errors
    /// `path/symlink` for a link as source; `path/exists` for a new name that is taken (also with [`Over::Replace`],
    /// where one is a folder and the other is not); `path/not-empty` for a folder with entries; `path/mount` across
    /// mounts; `path/unsupported` for a folder into itself, or where the file system cannot do it; `path/jail-itself`;
    /// and those of a lookup. The error names the path that it is about; where that is not known, the old one.
    ///
    /// With [`Over::Replace`] two names of one file both stay, as the system has it: there is nothing to move.
    pub fn rename(&self, from: impl Relative, to: impl Relative, over: Over) -> Result<(), OpenError> {
        let (policy, given, taken) = (*self.policy(), from.name_bytes(), to.name_bytes());
        let target = gate(taken, policy, Form::Name).map_err(|no| OpenError::new("rename to", taken, no))?;
        let source = gate(given, policy, Form::Name).map_err(|no| OpenError::new("rename", given, no))?;
        imp::rename(self.root(), policy, &source, &target, over).map_err(|(side, fail)| match side {
            Side::From => OpenError::new("rename", given, fail),
            Side::To => OpenError::new("rename to", taken, fail),
        })
    }

    /// Removes a name that is no folder. A link is removed itself, its target never.
    ///
    /// # Errors
    /// `path/not-regular` for a folder; `path/jail-itself`; and those of a lookup.
    pub fn remove_file(&self, relative: impl Relative) -> Result<(), OpenError> {
        self.call("remove", &relative, Form::Name, imp::remove_file)
    }

    /// Removes a folder without entries.
    ///
    /// # Errors
    /// `path/not-empty`, `path/not-a-directory`, `path/symlink`, `path/jail-itself`, and those of a lookup.
    pub fn remove_dir(&self, relative: impl Relative) -> Result<(), OpenError> {
        self.call("remove", &relative, Form::Folder, imp::remove_dir)
    }

    /// Removes a folder and everything below it, by handles, and counts what it removed.
    ///
    /// Links are removed and never entered, also those that were folders a moment ago. Dotfiles go under any policy.
    /// No more than 256 levels are entered. The folder itself counts as one of the entries.
    ///
    /// # Errors
    /// `path/too-large` and `path/too-deep` at the limits, with what was removed so far gone and never
    /// more than the limit; `path/not-empty` where
    /// others keep filling a folder; `path/jail-itself`; and those of a lookup.
    pub fn remove_tree(&self, relative: impl Relative, limits: WalkLimits) -> Result<u64, OpenError> {
        self.call("remove", &relative, Form::Folder, |root, policy, rel| {
            imp::remove_tree(root, policy, rel, limits)
        })
    }
}
