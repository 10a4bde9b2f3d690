//! Reads the files that configure a check: `config.toml`, rules files and revocation lists.
//!
//! Anyone who can write such a file can switch a check off, so it gets the owner and mode checks of the pins. A symlink
//! is followed, because dotfile managers set settings up that way, if nobody else can change the link or its target.

use camino::Utf8Path;

use crate::diagnostic::Diagnostic;
use crate::failure::Failure;

/// A settings file, and a warning about its permissions.
#[derive(Debug)]
pub(crate) struct SettingsFile {
    pub(crate) bytes: Vec<u8>,
    pub(crate) warning: Option<Diagnostic>,
}

impl SettingsFile {
    /// Returns the contents of a file whose owner and permissions do not matter.
    pub(crate) const fn unchecked(bytes: Vec<u8>) -> Self {
        Self { bytes, warning: None }
    }
}

/// The user that a settings file must belong to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FileOwner {
    /// This user or root.
    User,
    /// Root alone, and nobody else can write it.
    Root,
}

/// Reads a settings file of at most `limit` bytes.
///
/// # Errors
/// The file does not exist or is not a regular file. The file, a symlink to it or one of their directories belongs to
/// another user or is writable by anyone.
pub(crate) fn read(path: &Utf8Path, limit: u64) -> Result<SettingsFile, Failure> {
    read_if_present(path, limit, FileOwner::User)?
        .ok_or_else(|| Failure::usage(format!("no such file: {path}")))
}

/// Reads a settings file as [`read`] does, and returns `None` if it does not exist.
pub(crate) fn read_if_present(
    path: &Utf8Path,
    limit: u64,
    owner: FileOwner,
) -> Result<Option<SettingsFile>, Failure> {
    system::read_if_present(path, limit, owner)
}

#[cfg(unix)]
mod system {
    use std::fs::File;
    use std::io::Read as _;
    use std::os::fd::OwnedFd;

    use camino::Utf8Path;
    use rustix::fs::{self, AtFlags, FileType, Mode, OFlags, Stat};
    use rustix::io::Errno;

    use super::{Diagnostic, Failure, FileOwner, SettingsFile};
    use crate::verbs::shared::quoted;

    /// The most symlinks to follow, as in the kernel.
    const SYMLINKS: usize = 40;

    pub(super) fn read_if_present(
        path: &Utf8Path,
        limit: u64,
        owner: FileOwner,
    ) -> Result<Option<SettingsFile>, Failure> {
        let mut warning = None;
        let mut here = path.to_owned();
        for followed in 0..=SYMLINKS {
            let Some(name) = here.file_name().map(str::to_owned) else {
                return Err(Failure::usage(format!("not a regular file: {path}")));
            };
            let parent = here.parent().filter(|parent| !parent.as_str().is_empty());
            let parent = parent.unwrap_or(Utf8Path::new(".")).to_owned();
            let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
            let dir = match fs::open(parent.as_std_path(), flags, Mode::empty()) {
                Ok(dir) => dir,
                Err(Errno::NOENT) if followed == 0 => return Ok(None),
                Err(errno) => return Err(Failure::usage(format!("cannot open {parent}: {errno}"))),
            };
            let stat = match fs::statat(&dir, name.as_str(), AtFlags::SYMLINK_NOFOLLOW) {
                Ok(stat) => stat,
                Err(Errno::NOENT) if followed == 0 => return Ok(None),
                Err(Errno::NOENT) => {
                    return Err(Failure::usage(format!(
                        "cannot read {path}: its symlink points to {here}, which does not exist"
                    )));
                }
                Err(errno) => {
                    return Err(errno)
                        .map_err(|error| Failure::usage(format!("cannot read {here}: {error}")));
                }
            };
            let subject = Subject { path, here: &here, owner };
            subject.check_directory(&dir, &parent, &mut warning)?;
            if FileType::from_raw_mode(stat.st_mode) == FileType::Symlink {
                subject.check_owner(&stat, "its symlink", &here)?;
                let target = fs::readlinkat(&dir, name.as_str(), Vec::new());
                let target = target
                    .map_err(|error| Failure::usage(format!("cannot read the symlink {here}: {error}")))?;
                let target = target.into_string().map_err(|_bytes| {
                    Failure::usage(format!("cannot read {path}: the target of {here} is not UTF-8"))
                })?;
                here = parent.join(target);
                continue;
            }
            // Before the open: opening a pipe would release a writer that waits for a reader.
            subject.check_kind(&stat)?;
            let bytes = subject.read(&dir, &name, limit, &mut warning)?;
            return Ok(Some(SettingsFile { bytes, warning }));
        }
        Err(Failure::usage(format!("too many symlinks: {path}")))
    }

    /// The requested file, and the symlink or file that is checked now.
    struct Subject<'a> {
        path: &'a Utf8Path,
        here: &'a Utf8Path,
        owner: FileOwner,
    }

    impl Subject<'_> {
        fn read(
            &self,
            dir: &OwnedFd,
            name: &str,
            limit: u64,
            warning: &mut Option<Diagnostic>,
        ) -> Result<Vec<u8>, Failure> {
            let path = self.path;
            // A pipe can have replaced the file since the check. The open does not wait for its writer, and the opened file
            // is checked again.
            let flags =
                OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
            let file = fs::openat(dir, name, flags, Mode::empty())
                .map_err(|error| Failure::usage(format!("cannot read {path}: {error}")))?;
            let stat =
                fs::fstat(&file).map_err(|error| Failure::usage(format!("cannot read {path}: {error}")))?;
            self.check_kind(&stat)?;
            self.check_owner(&stat, "it", self.here)?;
            let mode = Mode::from_raw_mode(stat.st_mode);
            if mode.contains(Mode::WOTH) {
                return Err(self.writable("anyone can write it", self.here));
            }
            if mode.contains(Mode::WGRP) {
                self.group("its group can write it", self.here, warning)?;
            }
            let mut bytes = Vec::new();
            File::from(file)
                .take(limit.saturating_add(1))
                .read_to_end(&mut bytes)
                .map_err(|error| Failure::usage(format!("cannot read {path}: {error}")))?;
            if u64::try_from(bytes.len()).unwrap_or(u64::MAX) > limit {
                return Err(Failure::usage(format!("{path} has more than {limit} bytes")));
            }
            Ok(bytes)
        }

        fn check_directory(
            &self,
            dir: &OwnedFd,
            at: &Utf8Path,
            warning: &mut Option<Diagnostic>,
        ) -> Result<(), Failure> {
            let stat =
                fs::fstat(dir).map_err(|error| Failure::usage(format!("cannot open {at}: {error}")))?;
            self.check_owner(&stat, "its directory", at)?;
            let mode = Mode::from_raw_mode(stat.st_mode);
            // In a sticky directory, only the owner of a file can move or remove it, and the file's owner is checked.
            if mode.contains(Mode::SVTX) {
                return Ok(());
            }
            if mode.contains(Mode::WOTH) {
                return Err(self.writable("anyone can write its directory", at));
            }
            if mode.contains(Mode::WGRP) {
                self.group("the group of its directory can replace it", at, warning)?;
            }
            Ok(())
        }

        fn check_owner(&self, stat: &Stat, what: &str, at: &Utf8Path) -> Result<(), Failure> {
            let own = rustix::process::geteuid().as_raw();
            if stat.st_uid == 0 || (self.owner == FileOwner::User && stat.st_uid == own) {
                return Ok(());
            }
            let (path, uid) = (self.path, stat.st_uid);
            Err(Failure::usage(format!("cannot use {path}: {what} belongs to user {uid}"))
                .code("state/not-ours")
                .help(format!("review the file, then run: chown -h $(id -u) {}", quoted(at.as_str()))))
        }

        fn writable(&self, what: &str, at: &Utf8Path) -> Failure {
            let path = self.path;
            let at = quoted(at.as_str());
            Failure::usage(format!("cannot use {path}: {what}"))
                .code("state/not-ours")
                .help(format!("review the file, then run: chmod go-w {at}"))
        }

        /// Warns about a group that can write. The managed file is refused, since it fixes the settings of all users.
        fn group(&self, what: &str, at: &Utf8Path, warning: &mut Option<Diagnostic>) -> Result<(), Failure> {
            if self.owner == FileOwner::Root {
                return Err(self.writable(what, at));
            }
            let path = self.path;
            let at = quoted(at.as_str());
            warning.get_or_insert_with(|| {
                Diagnostic::warning(format!("{path}: {what}"))
                    .code("state/group-writable")
                    .help(&format!("chmod g-w {at}"))
            });
            Ok(())
        }

        fn check_kind(&self, stat: &Stat) -> Result<(), Failure> {
            if FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile {
                return Ok(());
            }
            Err(Failure::usage(format!("not a regular file: {}", self.path)))
        }
    }
}

#[cfg(not(unix))]
mod system {
    use camino::Utf8Path;

    use super::{Diagnostic, Failure, FileOwner, SettingsFile};
    use crate::host;

    pub(super) fn read_if_present(
        path: &Utf8Path,
        limit: u64,
        _owner: FileOwner,
    ) -> Result<Option<SettingsFile>, Failure> {
        let meta = match std::fs::metadata(path) {
            Ok(meta) => meta,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(error) => {
                return Err(error).map_err(|error| Failure::usage(format!("cannot read {path}: {error}")));
            }
        };
        if !meta.is_file() {
            return Err(Failure::usage(format!("not a regular file: {path}")));
        }
        Ok(Some(SettingsFile::unchecked(host::named_file(path, limit)?)))
    }
}

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::fs::{PermissionsExt as _, chown};

    use super::*;

    /// The managed file fixes the settings of all users, so only root may be able to change it.
    #[test]
    #[expect(clippy::disallowed_methods, reason = "a test makes files")]
    fn a_managed_file_of_another_owner_or_with_more_writers_is_refused() {
        let temp = tempfile::tempdir().unwrap();
        let file = Utf8Path::from_path(temp.path()).unwrap().join("config.toml");
        std::fs::write(&file, "trust = \"locked\"\n").unwrap();
        let mode = |bits| std::fs::set_permissions(&file, std::fs::Permissions::from_mode(bits)).unwrap();
        let read = |owner| read_if_present(&file, 100, owner);
        mode(0o644);
        assert!(read(FileOwner::User).unwrap().is_some());
        let is_root = rustix::process::geteuid().is_root();
        assert_eq!(read(FileOwner::Root).is_ok(), is_root, "it belongs to this user");
        mode(0o664);
        assert!(read(FileOwner::User).unwrap().unwrap().warning.is_some());
        assert!(read(FileOwner::Root).is_err());
        if is_root {
            mode(0o644);
            chown(&file, Some(4_242), None).unwrap();
            assert_eq!(read(FileOwner::Root).unwrap_err().exit(), 2);
        }
        assert!(read_if_present(&file.with_extension("no"), 100, FileOwner::Root).unwrap().is_none());
        // A file that belongs to root on every machine.
        assert!(read_if_present(Utf8Path::new("/etc/passwd"), 1 << 20, FileOwner::Root).is_ok());
    }
}
