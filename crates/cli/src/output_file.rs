//! Writes the file of `--output` or `--report`, and the settings that `suppress` changes.
//!
//! The directory may be shared: anyone who can create files in it can plant symlinks. So no symlink is followed, the
//! temporary file is created exclusively under a random name, and the target is replaced in one step.

use std::fmt;
use std::fs::{File, Metadata, OpenOptions};
use std::io;

use camino::{Utf8Path, Utf8PathBuf};

/// Writes a file that a user named on the command line.
///
/// A regular file is replaced atomically, so that a reader sees the old bytes or the new ones, and the old ones stay if
/// the write fails. A pipe or device is opened and written to. A symlink or a directory is an error.
pub(crate) fn write(path: &Utf8Path, bytes: &[u8]) -> io::Result<()> {
    Output::find(path)?.write(bytes)
}

/// Checks that a file can be written, before what it reports happens. The old file stays. A pipe or device is not
/// opened, because its reader would see an end.
pub(crate) fn prepare(path: &Utf8Path) -> io::Result<PreparedOutput<'_>> {
    let output = Output::find(path)?;
    match &output {
        Output::File(target, _) => target.probe()?,
        Output::Stream(_) => output.write(b"")?,
        Output::Stdout | Output::Stderr | Output::Special(_) => {}
    }
    Ok(PreparedOutput { path, is_file: matches!(output, Output::File(..)) })
}

/// A file that could be written when it was tried.
#[must_use]
pub(crate) struct PreparedOutput<'a> {
    path: &'a Utf8Path,
    is_file: bool,
}

impl PreparedOutput<'_> {
    /// Writes the file like [`write()`]. A pipe that replaced the file is refused: its reader may never come.
    pub(crate) fn write(&self, bytes: &[u8]) -> io::Result<()> {
        match Output::find(self.path)? {
            Output::Special(_) if self.is_file => {
                Err(refused(self.path, "a pipe or device now", "name a file that no program replaces"))
            }
            output => output.write(bytes),
        }
    }
}

/// What a path names.
enum Output<'a> {
    Stdout,
    Stderr,
    Stream(&'a Utf8Path),
    /// A pipe or a device.
    Special(Target<'a>),
    /// A regular file, or none yet.
    File(Target<'a>, Option<Metadata>),
}

impl<'a> Output<'a> {
    fn find(path: &'a Utf8Path) -> io::Result<Self> {
        // Symlinks of the system to the streams of this process, for pipelines such as `--output >(less)`.
        match path.as_str() {
            "/dev/stdout" | "/dev/fd/1" => return Ok(Self::Stdout),
            "/dev/stderr" | "/dev/fd/2" => return Ok(Self::Stderr),
            _ if is_open_stream(path) => return Ok(Self::Stream(path)),
            _ => {}
        }
        let Some(name) = path.file_name().filter(|_| !path.as_str().ends_with('/')) else {
            return Err(refused(path, "not the name of a file", "add a file name to the path"));
        };
        let parent = path.parent().filter(|parent| !parent.as_str().is_empty()).unwrap_or(Utf8Path::new("."));
        let target = Target { path, parent, name };
        match std::fs::symlink_metadata(path) {
            Ok(meta) if meta.is_symlink() => Err(refused(
                path,
                "a symlink, which is not followed",
                "name the file that it points to, or remove the symlink",
            )),
            Ok(meta) if meta.is_dir() => Err(refused(
                path,
                "a directory",
                &format!("name a file, for example {}", path.join("report")),
            )),
            Ok(meta) if !meta.is_file() => Ok(Self::Special(target)),
            Ok(meta) => Ok(Self::File(target, Some(meta))),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Self::File(target, None)),
            Err(error) => Err(at(path, &error)),
        }
    }

    fn write(&self, bytes: &[u8]) -> io::Result<()> {
        match self {
            Self::Stdout => finished(&mut io::stdout().lock(), bytes),
            Self::Stderr => finished(&mut io::stderr().lock(), bytes),
            Self::Stream(path) => {
                #[expect(
                    clippy::disallowed_methods,
                    reason = "a stream that the user opened for this process"
                )]
                let opened = OpenOptions::new().append(true).open(path);
                finished(&mut opened.map_err(|error| at(path, &error))?, bytes)
            }
            Self::Special(target) => target.write_special(bytes),
            Self::File(target, former) => target.replace(bytes, former.as_ref()),
        }
    }
}

/// Returns `true` for `/dev/fd/N` with a plain number.
fn is_open_stream(path: &Utf8Path) -> bool {
    let number = path.as_str().strip_prefix("/dev/fd/");
    number.is_some_and(|number| !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()))
}

fn finished(stream: &mut dyn io::Write, bytes: &[u8]) -> io::Result<()> {
    match stream.write_all(bytes).and_then(|()| stream.flush()) {
        // As on standard output, a reader that is gone is not a failure.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        other => other,
    }
}

fn at(path: &Utf8Path, error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("{path}: {error}"))
}

fn refused(path: &Utf8Path, why: &str, help: &str) -> io::Error {
    io::Error::other(OutputRefused { path: path.to_owned(), why: why.to_owned(), help: help.to_owned() })
}

/// A path that cannot be the file of `--output`.
#[derive(Debug)]
pub(crate) struct OutputRefused {
    path: Utf8PathBuf,
    why: String,
    pub(crate) help: String,
}

impl fmt::Display for OutputRefused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} is {}", self.path, self.why)
    }
}

impl std::error::Error for OutputRefused {}

struct Target<'a> {
    path: &'a Utf8Path,
    parent: &'a Utf8Path,
    name: &'a str,
}

#[cfg(unix)]
mod system {
    use std::io::Write as _;
    use std::os::fd::OwnedFd;
    use std::os::unix::fs::PermissionsExt as _;

    use rustix::fs::{self, AtFlags, Mode, OFlags};

    use super::{File, Metadata, Target, at, finished, io, refused};
    use crate::host;

    /// Returns a random name, which an attacker cannot create in advance. It does not contain the target's name, which can
    /// have the maximum length already.
    fn temporary_name() -> io::Result<String> {
        let random = host::random().map_err(|error| io::Error::other(format!("{error:#}")))?;
        Ok(format!(".plugward-{:032x}.tmp", u128::from_le_bytes(random)))
    }

    impl Target<'_> {
        /// Writes to a pipe or a device in place, because a rename would replace it with a regular file.
        pub(super) fn write_special(&self, bytes: &[u8]) -> io::Result<()> {
            let flags = OFlags::WRONLY | OFlags::NOFOLLOW | OFlags::NOCTTY | OFlags::CLOEXEC;
            let opened = fs::open(self.path.as_std_path(), flags, Mode::empty());
            let mut file = File::from(opened.map_err(|errno| at(self.path, &errno.into()))?);
            // It may have been replaced since the check.
            if file.metadata()?.is_file() {
                return Err(refused(self.path, "a regular file now", "run the command again"));
            }
            finished(&mut file, bytes).map_err(|error| at(self.path, &error))
        }

        /// Creates the temporary file, and returns it with its directory and name.
        fn temporary(&self, mode: Mode) -> io::Result<(OwnedFd, String, File)> {
            let fail = |errno: rustix::io::Errno| at(self.path, &errno.into());
            // One handle for all steps, because the path of the directory can be replaced between them.
            let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
            let parent = fs::open(self.parent.as_std_path(), flags, Mode::empty()).map_err(fail)?;
            let name = temporary_name()?;
            let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
            let created = fs::openat(&parent, &name, flags, mode).map_err(fail)?;
            Ok((parent, name, File::from(created)))
        }

        /// Checks that files can be created next to the target.
        pub(super) fn probe(&self) -> io::Result<()> {
            let (parent, name, _file) = self.temporary(Mode::from_raw_mode(0o600))?;
            fs::unlinkat(&parent, &name, AtFlags::empty()).map_err(|errno| at(self.path, &errno.into()))
        }

        /// Replaces a regular file, or creates one.
        pub(super) fn replace(&self, bytes: &[u8], former: Option<&Metadata>) -> io::Result<()> {
            let fail = |error: io::Error| at(self.path, &error);
            // The kernel applies the umask to the mode of a new file.
            let mode = Mode::from_raw_mode(if former.is_some() { 0o600 } else { 0o666 });
            let (parent, name, mut file) = self.temporary(mode)?;
            let written = (|| {
                file.write_all(bytes)?;
                if let Some(former) = former {
                    let mode = former.permissions().mode() & 0o777;
                    file.set_permissions(std::fs::Permissions::from_mode(mode))?;
                }
                file.sync_all()?;
                Ok(fs::renameat(&parent, &name, &parent, self.name)?)
            })();
            if let Err(error) = written {
                let _left_over = fs::unlinkat(&parent, &name, AtFlags::empty());
                return Err(fail(error));
            }
            // Not all file systems can sync a directory. The bytes are in place either way.
            let _unsupported = fs::fsync(&parent);
            Ok(())
        }
    }
}

#[cfg(not(unix))]
mod system {
    use std::io::Write as _;

    use super::{File, Metadata, OpenOptions, Target, Utf8PathBuf, at, finished, io};

    impl Target<'_> {
        pub(super) fn write_special(&self, bytes: &[u8]) -> io::Result<()> {
            let mut file = OpenOptions::new().write(true).open(self.path)?;
            finished(&mut file, bytes).map_err(|error| at(self.path, &error))
        }

        fn temporary(&self) -> io::Result<(Utf8PathBuf, File)> {
            let temporary = self.parent.join(format!(".plugward-{}.tmp", std::process::id()));
            let file = OpenOptions::new().write(true).create_new(true).open(&temporary)?;
            Ok((temporary, file))
        }

        pub(super) fn probe(&self) -> io::Result<()> {
            let (temporary, file) = self.temporary()?;
            drop(file);
            std::fs::remove_file(&temporary)
        }

        pub(super) fn replace(&self, bytes: &[u8], _former: Option<&Metadata>) -> io::Result<()> {
            let (temporary, mut file) = self.temporary()?;
            let written = file
                .write_all(bytes)
                .and_then(|()| file.sync_all())
                .and_then(|()| std::fs::rename(&temporary, self.parent.join(self.name)));
            if let Err(error) = written {
                let _left_over = std::fs::remove_file(&temporary);
                return Err(at(self.path, &error));
            }
            Ok(())
        }
    }
}
