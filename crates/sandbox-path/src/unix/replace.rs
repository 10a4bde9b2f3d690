//! Atomic replacement of a file: after a crash it has the old bytes or the new ones, never a mix.

use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicU64, Ordering};

use rustix::fs::{self, AtFlags, Mode, OFlags};
use rustix::io::Errno;

use super::make::{Parent, fail, mode, parent, seen, without_replacing};
use super::open::{OpenFlags, strict_directory};
use super::root::Root;
use super::sys;
use crate::error::{OperationError, PathEscapeKind};
use crate::jail::change::ReplaceOutcome;
use crate::meta::{FileKind, Perm};
use crate::path::relative::RelPath;
use crate::policy::Policy;

/// The number of attempts for a target that other processes create and remove.
const ROUNDS: u32 = 8;
/// The number of the next temporary file of this process.
static NEXT: AtomicU64 = AtomicU64::new(0);

/// A temporary file next to the target, which is removed when this is dropped.
struct TempFile<'a> {
    at: &'a Parent<'a>,
    name: Vec<u8>,
    file: OwnedFd,
}

impl Drop for TempFile<'_> {
    fn drop(&mut self) {
        // After a success the name does not exist any more, or it is the old file.
        let _removed = fs::unlinkat(self.at, self.name.as_slice(), AtFlags::empty()).is_ok();
    }
}

pub(crate) fn replace(
    root: &Root,
    policy: Policy,
    rel: &RelPath<'_>,
    bytes: &[u8],
    perm: Perm,
) -> Result<ReplaceOutcome, OperationError> {
    let (at, name) = parent(root, policy, rel)?;
    target(root, policy, &at, name, rel)?;
    let directory = match &at {
        Parent::Jail(root) => strict_directory(root, OpenFlags::LIST)?,
        Parent::Below(fd) => sys::openat(fd, b".", OpenFlags::LIST.flags | OFlags::NOFOLLOW, Mode::empty())
            .map_err(sys::lookup_error)?,
    };
    let system = |errno| OperationError::from(sys::lookup_error(errno));
    let new = make(&at, perm)?;
    let bits = sys::meta(&new.file).map_err(system)?.mode;
    // Other users must not read the bytes before the file has the permissions of the file that it replaces.
    chmod(&new.file, 0o600).and_then(|()| write(&new.file, bytes)).map_err(system)?;
    let answer = place(root, policy, &new, name, rel, bits)?;
    drop(new);
    sys::retry(|| fs::fsync(&directory)).map_err(system)?;
    Ok(answer)
}

/// Returns the permission bits of the file to replace, or `None` if it does not exist.
fn target(
    root: &Root,
    policy: Policy,
    at: &Parent<'_>,
    name: &[u8],
    rel: &RelPath<'_>,
) -> Result<Option<u32>, OperationError> {
    match seen(root, policy, at, name, rel)? {
        None => Ok(None),
        Some(meta) if meta.kind == FileKind::File => Ok(Some(meta.mode)),
        Some(meta) => Err(PathEscapeKind::NotRegular { is: meta.kind }.into()),
    }
}

fn make<'a>(at: &'a Parent<'a>, perm: Perm) -> Result<TempFile<'a>, OperationError> {
    let want = OpenFlags::make(mode(perm));
    for _ in 0..sys::TRIES {
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let name = format!(".plugward-tmp-{}-{number}", std::process::id()).into_bytes();
        match sys::openat(at, &name, want.flags, want.mode) {
            Ok(file) => return Ok(TempFile { at, name, file }),
            Err(Errno::EXIST) => {}
            Err(errno) => return Err(sys::lookup_error(errno).into()),
        }
    }
    Err(PathEscapeKind::Contended.into())
}

fn chmod(file: &OwnedFd, bits: u32) -> Result<(), Errno> {
    let bits = u16::try_from(bits & 0o777).unwrap_or(0o600);
    sys::retry(|| fs::fchmod(file, Mode::from_raw_mode(bits.into())))
}

fn write(file: &OwnedFd, bytes: &[u8]) -> Result<(), Errno> {
    let mut rest = bytes;
    while !rest.is_empty() {
        let written = sys::retry(|| rustix::io::write(file, rest))?;
        if written == 0 {
            return Err(Errno::IO);
        }
        rest = rest.get(written..).unwrap_or_default();
    }
    sys::retry(|| fs::fsync(file))
}

/// Renames the new file to the target.
fn place(
    root: &Root,
    policy: Policy,
    new: &TempFile<'_>,
    name: &[u8],
    rel: &RelPath<'_>,
    bits: u32,
) -> Result<ReplaceOutcome, OperationError> {
    for _ in 0..ROUNDS {
        let old = target(root, policy, new.at, name, rel)?;
        chmod(&new.file, old.unwrap_or(bits)).map_err(sys::lookup_error)?;
        let done = match old {
            None => without_replacing(new.at, &new.name, new.at, name).map(|()| ReplaceOutcome::Created),
            Some(_) => take_place(new, name).map(|()| ReplaceOutcome::Overwrote),
        };
        match done {
            Ok(answer) => return Ok(answer),
            // The target was created or removed in between: try again.
            Err(Errno::EXIST | Errno::NOENT) => {}
            // The file system supports neither call. The answer then depends on the lookup before the rename.
            Err(Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP) => {
                sys::retry(|| fs::renameat(new.at, new.name.as_slice(), new.at, name))
                    .map_err(|errno| fail(rel, errno))?;
                return Ok(if old.is_some() { ReplaceOutcome::Overwrote } else { ReplaceOutcome::Created });
            }
            Err(errno) => return Err(fail(rel, errno)),
        }
    }
    Err(PathEscapeKind::Contended.into())
}

/// Exchanges the two names, and exchanges them back if the old object is not a regular file.
fn take_place(new: &TempFile<'_>, name: &[u8]) -> Result<(), Errno> {
    exchange(new.at, &new.name, name)?;
    match sys::look(new.at, &new.name) {
        Ok(meta) if meta.kind != FileKind::File => {
            exchange(new.at, &new.name, name)?;
            Err(Errno::NOENT)
        }
        _ => Ok(()),
    }
}

/// Exchanges two names. Unlike a rename, it fails if the target was removed in between.
#[cfg(any(target_os = "linux", target_os = "android", target_vendor = "apple"))]
fn exchange(at: &Parent<'_>, new: &[u8], name: &[u8]) -> Result<(), Errno> {
    sys::retry(|| fs::renameat_with(at, new, at, name, fs::RenameFlags::EXCHANGE))
}

/// Fails, because this system cannot do it.
#[cfg(not(any(target_os = "linux", target_os = "android", target_vendor = "apple")))]
fn exchange(_: &Parent<'_>, _: &[u8], _: &[u8]) -> Result<(), Errno> {
    Err(Errno::NOSYS)
}
