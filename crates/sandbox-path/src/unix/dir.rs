//! Reading the entries of a directory from its handle.

use std::ops::ControlFlow;
use std::os::fd::{AsFd, OwnedFd};

use rustix::io::Errno;

use super::open::OpenFlags;
use super::root::Root;
use super::sys;
use crate::jail::guarantee::CaseFolding;
use crate::meta::FileKind;

/// Calls `visit` with the name and kind of each entry, in the order of the file system, without `.` and `..`.
pub(crate) fn entries(
    directory: &OwnedFd,
    buffer: &mut Vec<u8>,
    mut visit: impl FnMut(&[u8], FileKind) -> ControlFlow<()>,
) -> Result<(), Errno> {
    raw(directory, buffer, |name, kind| {
        if matches!(name, b"." | b"..") {
            return Ok(ControlFlow::Continue(()));
        }
        let kind = match kind {
            FileKind::Other => match sys::look(directory, name) {
                Ok(meta) => meta.kind,
                Err(Errno::NOENT) => return Ok(ControlFlow::Continue(())),
                Err(errno) => return Err(errno),
            },
            known => known,
        };
        Ok(visit(name, kind))
    })
}

#[cfg(any(target_os = "linux", target_os = "android"))]
fn raw(
    directory: &OwnedFd,
    buffer: &mut Vec<u8>,
    mut visit: impl FnMut(&[u8], FileKind) -> Result<ControlFlow<()>, Errno>,
) -> Result<(), Errno> {
    buffer.clear();
    buffer.reserve(32 * 1024);
    let mut list = rustix::fs::RawDir::new(directory, buffer.spare_capacity_mut());
    while let Some(entry) = list.next() {
        let entry = match entry {
            Ok(entry) => entry,
            Err(Errno::INTR) => continue,
            Err(errno) => return Err(errno),
        };
        if visit(entry.file_name().to_bytes(), sys::kind(entry.file_type()))?.is_break() {
            break;
        }
    }
    Ok(())
}

#[cfg(not(any(target_os = "linux", target_os = "android")))]
fn raw(
    directory: &OwnedFd,
    _: &mut Vec<u8>,
    mut visit: impl FnMut(&[u8], FileKind) -> Result<ControlFlow<()>, Errno>,
) -> Result<(), Errno> {
    for entry in rustix::fs::Dir::read_from(directory)? {
        let entry = entry?;
        if visit(entry.file_name().to_bytes(), sys::kind(entry.file_type()))?.is_break() {
            break;
        }
    }
    Ok(())
}

/// Moves back to the first entry.
pub(crate) fn rewind(directory: impl AsFd) -> Result<(), Errno> {
    rustix::fs::seek(directory, rustix::fs::SeekFrom::Start(0)).map(|_| ())
}

/// The number of entries after which case sensitivity is unknown.
const PROBES: u32 = 64;

/// Looks up entries of the directory in the other case, without writing.
pub(crate) fn case_folding(root: &Root) -> CaseFolding {
    let Ok(directory) = super::open::strict_directory(root, OpenFlags::LIST) else {
        return CaseFolding::Unknown;
    };
    let (mut answer, mut probes) = (CaseFolding::Unknown, 0_u32);
    let listed = entries(&directory, &mut Vec::new(), |name, _| {
        let other: Vec<u8> = name.iter().map(|byte| flip(*byte)).collect();
        if other == name {
            return ControlFlow::Continue(());
        }
        probes = probes.saturating_add(1);
        match (sys::look(&directory, &other), sys::look(&directory, name)) {
            (Err(Errno::NOENT), Ok(_)) => answer = CaseFolding::Distinct,
            // Both spellings can be hard links to one file, which proves nothing.
            (Ok(one), Ok(two)) if one.id == two.id && one.links <= 1 => answer = CaseFolding::Folded,
            (Ok(one), Ok(two)) if one.id != two.id => answer = CaseFolding::Distinct,
            _ => {}
        }
        if answer == CaseFolding::Unknown && probes < PROBES {
            ControlFlow::Continue(())
        } else {
            ControlFlow::Break(())
        }
    });
    if listed.is_err() { CaseFolding::Unknown } else { answer }
}

const fn flip(byte: u8) -> u8 {
    if byte.is_ascii_lowercase() { byte.to_ascii_uppercase() } else { byte.to_ascii_lowercase() }
}
