//! Replacing a file so that a crash or a rival leaves the old bytes or the new, never a mix.

use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicU64, Ordering};

use rustix::fs::{self, AtFlags, Mode, OFlags};
use rustix::io::Errno;

use super::make::{Parent, fail, mode, parent, seen, without_replacing};
use super::open::{Want, strict_folder};
use super::root::Root;
use super::sys;
use crate::change::Replaced;
use crate::error::{Fail, PathEscapeKind};
use crate::meta::{FileKind, Perm};
use crate::policy::Policy;
use crate::rel::RelPath;

/// How often a target that comes and goes is tried.
const ROUNDS: u32 = 8;
/// Numbers the new files of this process.
static NEXT: AtomicU64 = AtomicU64::new(0);

/// A new file beside the target, removed again unless it took the target's place.
struct New<'a> {
    at: &'a Parent<'a>,
    name: Vec<u8>,
    file: OwnedFd,
}

impl Drop for New<'_> {
    fn drop(&mut self) {
        // After a success the name is gone already, or holds the old file.
        let _removed = fs::unlinkat(self.at, self.name.as_slice(), AtFlags::empty()).is_ok();
    }
}

pub(crate) fn replace(
    root: &Root,
    policy: Policy,
    rel: &RelPath<'_>,
    bytes: &[u8],
    perm: Perm,
) -> Result<Replaced, Fail> {
    let (at, name) = parent(root, policy, rel)?;
    target(root, policy, &at, name, rel)?;
    let folder = match &at {
        Parent::Jail(root) => strict_folder(root, Want::LIST)?,
        Parent::Below(fd) => {
            sys::openat(fd, b".", Want::LIST.flags | OFlags::NOFOLLOW, Mode::empty()).map_err(sys::no)?
        }
    };
    let system = |errno| Fail::from(sys::no(errno));
    let new = make(&at, perm)?;
    let bits = sys::meta(&new.file).map_err(system)?.mode;
    // Nobody else reads the bytes before they have the bits of the file that they replace.
    chmod(&new.file, 0o600).and_then(|()| write(&new.file, bytes)).map_err(system)?;
    let answer = place(root, policy, &new, (name, rel), bits)?;
    drop(new);
    sys::retry(|| fs::fsync(&folder)).map_err(system)?;
    Ok(answer)
}

/// Gives the permission bits of the file to replace, if there is one that may be replaced.
fn target(
    root: &Root,
    policy: Policy,
    at: &Parent<'_>,
    name: &[u8],
    rel: &RelPath<'_>,
) -> Result<Option<u32>, Fail> {
    match seen(root, policy, at, name, rel)? {
        None => Ok(None),
        Some(meta) if meta.kind == FileKind::File => Ok(Some(meta.mode)),
        Some(meta) => Err(PathEscapeKind::NotRegular { is: meta.kind }.into()),
    }
}

fn make<'a>(at: &'a Parent<'a>, perm: Perm) -> Result<New<'a>, Fail> {
    let want = Want::make(mode(perm));
    for _ in 0..sys::TRIES {
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let name = format!(".plugward-tmp-{}-{number}", std::process::id()).into_bytes();
        match sys::openat(at, &name, want.flags, want.mode) {
            Ok(file) => return Ok(New { at, name, file }),
            Err(Errno::EXIST) => {}
            Err(errno) => return Err(sys::no(errno).into()),
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

/// Gives the new file the target's name.
fn place(
    root: &Root,
    policy: Policy,
    new: &New<'_>,
    (name, rel): (&[u8], &RelPath<'_>),
    bits: u32,
) -> Result<Replaced, Fail> {
    for _ in 0..ROUNDS {
        let old = target(root, policy, new.at, name, rel)?;
        chmod(&new.file, old.unwrap_or(bits)).map_err(sys::no)?;
        let done = match old {
            None => without_replacing(new.at, &new.name, new.at, name).map(|()| Replaced::Created),
            Some(_) => take_place(new, name).map(|()| Replaced::Overwrote),
        };
        match done {
            Ok(answer) => return Ok(answer),
            // The target came or went in between.
            Err(Errno::EXIST | Errno::NOENT) => {}
            // The file system can do neither: then the answer says what was there before.
            Err(Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP) => {
                sys::retry(|| fs::renameat(new.at, new.name.as_slice(), new.at, name))
                    .map_err(|errno| fail(rel, errno))?;
                return Ok(if old.is_some() { Replaced::Overwrote } else { Replaced::Created });
            }
            Err(errno) => return Err(fail(rel, errno)),
        }
    }
    Err(PathEscapeKind::Contended.into())
}

/// Swaps the new file in, and back again if something else than a file came out.
fn take_place(new: &New<'_>, name: &[u8]) -> Result<(), Errno> {
    exchange(new.at, &new.name, name)?;
    match sys::look(new.at, &new.name) {
        Ok(meta) if meta.kind != FileKind::File => {
            exchange(new.at, &new.name, name)?;
            Err(Errno::NOENT)
        }
        _ => Ok(()),
    }
}

/// Swaps two names, so that a target that went in between is noticed. The old file is removed afterwards.
#[cfg(any(target_os = "linux", target_os = "android", target_vendor = "apple"))]
fn exchange(at: &Parent<'_>, new: &[u8], name: &[u8]) -> Result<(), Errno> {
    sys::retry(|| fs::renameat_with(at, new, at, name, fs::RenameFlags::EXCHANGE))
}

/// Tells that this system cannot do it.
#[cfg(not(any(target_os = "linux", target_os = "android", target_vendor = "apple")))]
fn exchange(_: &Parent<'_>, _: &[u8], _: &[u8]) -> Result<(), Errno> {
    Err(Errno::NOSYS)
}
