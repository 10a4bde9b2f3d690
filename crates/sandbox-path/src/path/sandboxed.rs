//! `create`, then `open`: a file that was found inside the jail, and the same file opened.

use crate::error::race::{FilesystemRaceDetected, RaceCause};
use crate::error::{LookupError, OpenError, OpenErrorKind, PathEscape, PathEscapeKind};
use crate::file::SandboxedFile;
use crate::jail::Jail;
use crate::meta::{FileId, FileKind, Stamp};
use crate::path::check::{PathForm, check_path};
use crate::path::relative::{RelPath, Relative};
use crate::policy::HardLinks;
use crate::unix::{self, OpenMode};

/// The access with which a file is opened.
#[expect(clippy::exhaustive_enums, reason = "a new way to open must stop hosts that map their own to it")]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum FileAccess {
    /// Reading.
    Read,
    /// Writing at the end. The contents stay.
    Append,
    /// Writing from the start. The file is truncated after all checks.
    Overwrite,
}

impl FileAccess {
    const fn mode(self) -> OpenMode {
        match self {
            Self::Read => OpenMode::Read,
            Self::Append => OpenMode::Append,
            Self::Overwrite => OpenMode::Write,
        }
    }
}

/// A regular file inside a jail, identified so that `open` can detect whether it was replaced.
///
/// # Guarantees
/// At the call of [`SandboxedPath::create`], the path led to a regular file inside the jail, and no symlink was crossed.
/// One file descriptor keeps the object open, so that its inode number cannot be reused.
///
/// # Examples
/// ```
/// use plugward_sandbox_path::{Jail, Policy, SandboxedPath};
///
/// # let directory = tempfile::tempdir()?;
/// # std::fs::write(directory.path().join("a.md"), "# A skill\n")?;
/// let jail = Jail::open(directory.path(), Policy::standard())?;
/// let path = SandboxedPath::create(&jail, "a.md")?;
/// std::fs::remove_file(directory.path().join("a.md"))?;
/// assert_eq!(path.open().unwrap_err().code(), "path/race");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
// ADR-0011: in the jail at construction, and a second check at `open()`.
#[derive(Debug)]
#[must_use = "open it with `open`, which returns the same object or the race"]
pub struct SandboxedPath {
    jail: Jail,
    path: RelPath<'static>,
    pin: unix::PinHandle,
    id: FileId,
}

impl SandboxedPath {
    /// Looks up a file, which must exist, and keeps a descriptor to it.
    ///
    /// # Errors
    /// Any code of [`RelPath::parse`], `path/symlink`, `path/not-found`, `path/not-regular` and the other codes of a
    /// lookup.
    pub fn create(jail: &Jail, relative: impl Relative) -> Result<Self, PathEscape> {
        let given = relative.name_bytes();
        let path = check_path(given, *jail.policy(), PathForm::Name)
            .map_err(|error| PathEscape::new("find", given, error))?;
        let (pin, meta) = unix::pin(jail.root(), *jail.policy(), &path)
            .map_err(|error| PathEscape::new("find", given, error))?;
        Ok(Self { jail: jail.clone(), path: path.into_owned(), pin, id: meta.id })
    }

    /// Opens the file for reading.
    ///
    /// # Errors
    /// `path/race` with its cause if the path changed since `create`; `path/hard-linked` under a policy that refuses
    /// several hard links; `path/denied` and the failures of a lookup.
    ///
    /// # Guarantees
    /// [`Jail::guarantee`], at this open. The file is the object that `create` found.
    pub fn open(&self) -> Result<SandboxedFile, OpenError> {
        self.open_for(FileAccess::Read)
    }

    /// Opens the file for reading, appending or overwriting.
    ///
    /// # Errors
    /// As [`SandboxedPath::open`]; for writing, the policy's `hard_links_write` applies.
    ///
    /// # Guarantees
    /// As [`SandboxedPath::open`]. The file is truncated only after identity, kind and number of hard links were
    /// checked on the handle. A hard link that is added between that check and the truncation is not detected.
    pub fn open_for(&self, access: FileAccess) -> Result<SandboxedFile, OpenError> {
        let is_same = |id: FileId, _: &std::fs::File| {
            // An overlay file system can give a file a new inode number when it copies it up, so the kept handle
            // decides.
            id == self.id || unix::pin_meta(&self.pin).is_ok_and(|meta| meta.id == id)
        };
        open_same(&self.jail, &self.path, self.id, access, is_same)
    }

    /// Opens the regular file that the path leads to now, as [`Jail::open_read`] does.
    ///
    /// # Errors
    /// As [`Jail::open_read`]. It is not an error if `create` found another object.
    pub fn open_current(&self) -> Result<SandboxedFile, OpenError> {
        self.jail.open_read(&self.path)
    }

    /// Closes the descriptor, and keeps the identity and the creation time.
    pub fn unpin(self) -> UnpinnedPath {
        let birth = unix::pin_birth(&self.pin);
        UnpinnedPath { jail: self.jail, path: self.path, id: self.id, birth }
    }

    /// Returns the path relative to the jail.
    #[must_use]
    pub const fn relative(&self) -> &RelPath<'static> {
        &self.path
    }

    /// Returns the identity of the object.
    #[must_use]
    pub const fn id(&self) -> FileId {
        self.id
    }

    /// Returns the jail in which the file was looked up.
    pub const fn jail(&self) -> &Jail {
        &self.jail
    }
}

/// A file that was found inside a jail, without an open descriptor.
///
/// It is weaker than [`SandboxedPath`]: a file system can give the inode number of a deleted file to a new one. Only
/// the creation time, if the file system stores it, distinguishes the two.
#[derive(Debug)]
#[must_use = "open it with `open`"]
pub struct UnpinnedPath {
    jail: Jail,
    path: RelPath<'static>,
    id: FileId,
    birth: Option<Stamp>,
}

impl UnpinnedPath {
    /// Opens the file for reading, if its identity and creation time are the same.
    ///
    /// # Errors
    /// As [`SandboxedPath::open`].
    ///
    /// # Guarantees
    /// [`Jail::guarantee`], at this open. The file is the same object, unless the inode number was reused for a file
    /// with the same creation time, or on a file system without creation times.
    pub fn open(&self) -> Result<SandboxedFile, OpenError> {
        let is_same =
            |id: FileId, file: &std::fs::File| id == self.id && unix::file_birth(file) == self.birth;
        open_same(&self.jail, &self.path, self.id, FileAccess::Read, is_same)
    }

    /// Returns the path relative to the jail.
    #[must_use]
    pub const fn relative(&self) -> &RelPath<'static> {
        &self.path
    }

    /// Returns the identity of the file when it was found.
    #[must_use]
    pub const fn id(&self) -> FileId {
        self.id
    }
}

/// Opens a path, and accepts only the object that was found before.
#[inline]
fn open_same(
    jail: &Jail,
    path: &RelPath<'static>,
    was: FileId,
    access: FileAccess,
    is_same: impl FnOnce(FileId, &std::fs::File) -> bool,
) -> Result<SandboxedFile, OpenError> {
    let fail = |error: LookupError| OpenError::new("open", path.as_bytes(), error);
    let found = unix::open_file(jail.root(), *jail.policy(), path, access.mode(), HardLinks::Allow);
    let file = match found {
        Ok(found) => found,
        Err(error) => {
            return Err(match cause(error.kind) {
                Some(cause) => race(jail, path, cause, error.errno),
                None => fail(error),
            });
        }
    };
    let (id, links) = (file.opened().id, file.opened().links);
    if !is_same(id, file.file()) {
        return Err(race(jail, path, RaceCause::Replaced { was, is: id }, None));
    }
    if links == 0 {
        return Err(race(jail, path, RaceCause::Vanished, None));
    }
    let names = match access {
        FileAccess::Read => jail.policy().hard_links_read,
        FileAccess::Append | FileAccess::Overwrite => jail.policy().hard_links_write,
    };
    if names == HardLinks::Refuse && links > 1 {
        return Err(fail(PathEscapeKind::HardLinked { links }.into()));
    }
    if access == FileAccess::Overwrite {
        unix::cut_off(file.file()).map_err(fail)?;
    }
    Ok(file)
}

/// Returns the race that a lookup error shows, given that `create` found a regular file.
const fn cause(kind: PathEscapeKind) -> Option<RaceCause> {
    Some(match kind {
        PathEscapeKind::Symlink => RaceCause::SymlinkAppeared,
        PathEscapeKind::NotRegular { is } => RaceCause::KindChanged { is },
        PathEscapeKind::NotADirectory => RaceCause::KindChanged { is: FileKind::Other },
        PathEscapeKind::NotFound => RaceCause::Vanished,
        PathEscapeKind::Outside | PathEscapeKind::Mount => RaceCause::LeftJail,
        _ => return None,
    })
}

/// Reports a race and returns it as an error.
// This is the only place that makes an `OpenErrorKind::Race`, so that none is returned without a report or with two.
#[cold]
fn race(jail: &Jail, path: &RelPath<'static>, cause: RaceCause, errno: Option<i32>) -> OpenError {
    let race = FilesystemRaceDetected::new(path.clone(), cause, errno);
    jail.report_race(&race);
    let fail = crate::error::OperationError { kind: OpenErrorKind::Race(race), component: None, errno };
    OpenError::new("open", path.as_bytes(), fail)
}
