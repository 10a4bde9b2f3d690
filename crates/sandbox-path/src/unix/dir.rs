//! Reading a folder's entries from its handle.

use std::ops::ControlFlow;
use std::os::fd::{AsFd, OwnedFd};

use rustix::io::Errno;

use super::open::Want;
use super::root::Root;
use super::sys;
use crate::guarantee::CaseFolding;
use crate::meta::FileKind;

/// Calls `visit` with the name and kind of each entry, in the order of the file system, without `.` and `..`.
pub(crate) fn entries(
    folder: &OwnedFd,
    buffer: &mut Vec<u8>,
    mut visit: impl FnMut(&[u8], FileKind) -> ControlFlow<()>,
) -> Result<(), Errno> {
    raw(folder, buffer, |name, kind| {
        if matches!(name, b"." | b"..") {
            return Ok(ControlFlow::Continue(()));
        }
        let kind = match kind {
            FileKind::Other => match sys::look(folder, name) {
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
    folder: &OwnedFd,
    buffer: &mut Vec<u8>,
    mut visit: impl FnMut(&[u8], FileKind) -> Result<ControlFlow<()>, Errno>,
) -> Result<(), Errno> {
    buffer.clear();
    buffer.reserve(32 * 1024);
    let mut list = rustix::fs::RawDir::new(folder, buffer.spare_capacity_mut());
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
    folder: &OwnedFd,
    _: &mut Vec<u8>,
    mut visit: impl FnMut(&[u8], FileKind) -> Result<ControlFlow<()>, Errno>,
) -> Result<(), Errno> {
    for entry in rustix::fs::Dir::read_from(folder)? {
        let entry = entry?;
        if visit(entry.file_name().to_bytes(), sys::kind(entry.file_type()))?.is_break() {
            break;
        }
    }
    Ok(())
}

/// Goes back to the first entry.
pub(crate) fn rewind(folder: impl AsFd) -> Result<(), Errno> {
    rustix::fs::seek(folder, rustix::fs::SeekFrom::Start(0)).map(|_| ())
}

/// How many entries are tried before it is said that case could not be told.
const PROBES: u32 = 64;

/// Looks up entries of the folder in another case, without writing anything.
pub(crate) fn case_folding(root: &Root) -> CaseFolding {
    let Ok(folder) = super::open::strict_folder(root, Want::LIST) else { return CaseFolding::Unknown };
    let (mut answer, mut probes) = (CaseFolding::Unknown, 0_u32);
    let listed = entries(&folder, &mut Vec::new(), |name, _| {
        let other: Vec<u8> = name.iter().map(|byte| flip(*byte)).collect();
        if other == name {
            return ControlFlow::Continue(());
        }
        probes = probes.saturating_add(1);
        match (sys::look(&folder, &other), sys::look(&folder, name)) {
            (Err(Errno::NOENT), Ok(_)) => answer = CaseFolding::Distinct,
            // Both spellings may be two names of one file: then this pair says nothing.
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
