//! `create`, then `open`: a file that was seen below the jail, and the same file opened.

use crate::error::{No, OpenError, OpenErrorKind, PathEscape, PathEscapeKind};
use crate::file::SandboxedFile;
use crate::gate::{Form, gate};
use crate::imp::{self, Mean};
use crate::jail::Jail;
use crate::meta::{FileId, FileKind, Stamp};
use crate::policy::HardLinks;
use crate::race::{FilesystemRaceDetected, RaceCause};
use crate::rel::{RelPath, Relative};

/// What a file is opened for.
#[expect(clippy::exhaustive_enums, reason = "a new way to open must stop hosts that map their own to it")]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Access {
    /// To be read.
    Read,
    /// To be written at its end. The content stays.
    Append,
    /// To be written from its start. The content is cut off after all checks were made.
    Overwrite,
}

impl Access {
    const fn mean(self) -> Mean {
        match self {
            Self::Read => Mean::Read,
            Self::Append => Mean::Append,
            Self::Overwrite => Mean::Write,
        }
    }
}

/// A regular file that was seen below a jail, and is held so that `open` can tell whether it is still the one.
///
/// # Guarantees
/// At the call of [`SandboxedPath::create`] the name led to a regular file below the jail's folder, and no symbolic
/// link was crossed on the way (or, under `FollowBeneath`, each one was resolved by us and stayed below). The object
/// is held open by identity (one descriptor), so that its number cannot be given to another.
///
/// # Source
/// ADR-0011: in the jail at construction, and a second line at `open()`.
#[derive(Debug)]
#[must_use = "open it with `open`, which hands out the object that was seen or names the race"]
pub struct SandboxedPath {
    jail: Jail,
    path: RelPath<'static>,
    pin: imp::PinHandle,
    id: FileId,
}

impl SandboxedPath {
    /// Looks a file up and holds it. The file must exist.
    ///
    /// # Errors
    /// Any code of class A (the string), `path/symlink`, `path/not-found`, `path/not-regular` and the others of a
    /// lookup.
    pub fn create(jail: &Jail, relative: impl Relative) -> Result<Self, PathEscape> {
        let given = relative.name_bytes();
        let path =
            gate(given, *jail.policy(), Form::Name).map_err(|no| PathEscape::new("find", given, no))?;
        let (pin, meta) =
            imp::pin(jail.root(), *jail.policy(), &path).map_err(|no| PathEscape::new("find", given, no))?;
        Ok(Self { jail: jail.clone(), path: path.into_owned(), pin, id: meta.id })
    }

    /// Opens the file for reading.
    ///
    /// # Errors
    /// `path/race` with its cause where anything changed since `create`; `path/hard-linked` under a policy that
    /// refuses several names; `path/denied` and the failures of a lookup.
    ///
    /// # Guarantees
    /// [`Jail::guarantee`], at this open; and it is the very object that `create` saw.
    pub fn open(&self) -> Result<SandboxedFile, OpenError> {
        self.open_for(Access::Read)
    }

    /// Opens the file for reading, appending or overwriting.
    ///
    /// # Errors
    /// As [`SandboxedPath::open`]; for writing the policy's `hard_links_write` applies.
    ///
    /// # Guarantees
    /// As [`SandboxedPath::open`]. Nothing is cut off before identity, kind and number of names were checked on the
    /// open handle. A name added between that check and the cut is not seen.
    pub fn open_for(&self, access: Access) -> Result<SandboxedFile, OpenError> {
        let is_same = |id: FileId, _: &std::fs::File| {
            // A file system may number an object anew when it copies it up: the held handle decides.
            id == self.id || imp::pin_meta(&self.pin).is_ok_and(|meta| meta.id == id)
        };
        open_same(&self.jail, &self.path, self.id, access, is_same)
    }

    /// Opens whatever regular file the name leads to at this moment, as [`Jail::open_read`] does.
    ///
    /// # Errors
    /// As [`Jail::open_read`]: another object than `create` saw is no error here.
    pub fn open_current(&self) -> Result<SandboxedFile, OpenError> {
        self.jail.open_read(&self.path)
    }

    /// Gives the descriptor back, and keeps identity and time of birth.
    pub fn unpin(self) -> UnpinnedPath {
        let birth = imp::pin_birth(&self.pin);
        UnpinnedPath { jail: self.jail, path: self.path, id: self.id, birth }
    }

    /// Gives the path below the jail.
    #[must_use]
    pub const fn relative(&self) -> &RelPath<'static> {
        &self.path
    }

    /// Gives the identity of the object.
    #[must_use]
    pub const fn id(&self) -> FileId {
        self.id
    }

    /// Gives the jail.
    pub const fn jail(&self) -> &Jail {
        &self.jail
    }
}

/// A file that was seen below a jail and is not held.
///
/// Weaker than [`SandboxedPath`]: a file system may give the number of a deleted file to the next one, and only the
/// time of birth, where the file system keeps one, tells the two apart then.
#[derive(Debug)]
#[must_use = "open it with `open`"]
pub struct UnpinnedPath {
    jail: Jail,
    path: RelPath<'static>,
    id: FileId,
    birth: Option<Stamp>,
}

impl UnpinnedPath {
    /// Opens the file for reading, if its identity and time of birth are those that were seen.
    ///
    /// # Errors
    /// As [`SandboxedPath::open`].
    ///
    /// # Guarantees
    /// [`Jail::guarantee`], at this open. It is the object that was seen unless a file system gave the number of a
    /// deleted file to another one that was born in the same instant, or keeps no time of birth.
    pub fn open(&self) -> Result<SandboxedFile, OpenError> {
        let is_same = |id: FileId, file: &std::fs::File| id == self.id && imp::file_birth(file) == self.birth;
        open_same(&self.jail, &self.path, self.id, Access::Read, is_same)
    }

    /// Gives the path below the jail.
    #[must_use]
    pub const fn relative(&self) -> &RelPath<'static> {
        &self.path
    }

    /// Gives the identity that was seen.
    #[must_use]
    pub const fn id(&self) -> FileId {
        self.id
    }
}

/// Opens a path, and accepts the object that was seen before and no other.
#[inline]
fn open_same(
    jail: &Jail,
    path: &RelPath<'static>,
    was: FileId,
    access: Access,
    is_same: impl FnOnce(FileId, &std::fs::File) -> bool,
) -> Result<SandboxedFile, OpenError> {
    let fail = |no: No| OpenError::new("open", path.as_bytes(), no);
    let found = imp::open_file(jail.root(), *jail.policy(), path, access.mean(), HardLinks::Allow);
    let file = match found {
        Ok(found) => found,
        Err(no) => {
            return Err(match cause(no.kind) {
                Some(cause) => race(jail, path, cause, no.errno),
                None => fail(no),
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
        Access::Read => jail.policy().hard_links_read,
        Access::Append | Access::Overwrite => jail.policy().hard_links_write,
    };
    if names == HardLinks::Refuse && links > 1 {
        return Err(fail(PathEscapeKind::HardLinked { links }.into()));
    }
    if access == Access::Overwrite {
        imp::cut_off(file.file()).map_err(fail)?;
    }
    Ok(file)
}

/// Names the change that a lookup met, given that `create` met a regular file.
const fn cause(kind: PathEscapeKind) -> Option<RaceCause> {
    Some(match kind {
        PathEscapeKind::Symlink | PathEscapeKind::MagicLink | PathEscapeKind::TooManyLinks => {
            RaceCause::SymlinkAppeared
        }
        // The names of the path were judged before: these are names that a link has brought in since.
        PathEscapeKind::Dotfile
        | PathEscapeKind::ReservedName
        | PathEscapeKind::AlternateStream
        | PathEscapeKind::TooLong => RaceCause::SymlinkAppeared,
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
    let fail = crate::error::Fail { kind: OpenErrorKind::Race(race), component: None, errno };
    OpenError::new("open", path.as_bytes(), fail)
}
