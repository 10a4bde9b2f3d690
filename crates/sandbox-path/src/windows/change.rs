//! Creating, replacing, moving and removing entries.

use std::fs::File;
use std::io::{self, Write as _};
use std::sync::atomic::{AtomicU64, Ordering};

use cap_fs_ext::DirExt as _;
use cap_std::fs::Dir;

use super::ops::{OpenMode, regular};
use super::root::{Root, enter, look, lookup_error, meta, refine};
use crate::error::{LookupError, OpenErrorKind, OperationError, PathEscapeKind};
use crate::jail::change::{RenameMode, RenameSide, ReplaceOutcome};
use crate::jail::list::{EntryBudget, PackedListing};
use crate::jail::walk::WalkLimits;
use crate::meta::{FileKind, Metadata, Perm};
use crate::path::relative::RelPath;
use crate::policy::{Dotfiles, Policy};

/// The most levels of directories that are entered.
const DEPTH: usize = 256;
/// The number of attempts for a file that other processes create and remove.
const ROUNDS: u32 = 8;
/// The number of the next temporary file of this process.
static NEXT: AtomicU64 = AtomicU64::new(0);

/// Whether a call created the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Creation {
    Created,
    Existing,
}

fn fail(error: &io::Error) -> OperationError {
    match error.kind() {
        io::ErrorKind::AlreadyExists => OpenErrorKind::Exists.into(),
        io::ErrorKind::DirectoryNotEmpty => OpenErrorKind::NotEmpty.into(),
        _ => lookup_error(error).into(),
    }
}

/// Creates a new file. It inherits the access control list of its parent; permission bits are ignored.
pub(crate) fn create_new(
    root: &Root,
    _: Policy,
    rel: &RelPath<'_>,
    _: Perm,
) -> Result<(File, Metadata), OperationError> {
    let (at, name) = root.parent(rel)?;
    make(&at, name, OpenMode::Write)
}

fn make(at: &Dir, name: &str, mode: OpenMode) -> Result<(File, Metadata), OperationError> {
    let file = at.open_with(name, mode.options().create_new(true)).map_err(|error| fail(&error))?.into_std();
    let seen = meta(&file).map_err(|error| lookup_error(&error))?;
    Ok((file, seen))
}

pub(crate) fn append(
    root: &Root,
    policy: Policy,
    rel: &RelPath<'_>,
    perm: Option<Perm>,
) -> Result<(File, Metadata, Creation), OperationError> {
    if rel.is_jail() {
        return Err(PathEscapeKind::NotRegular { is: FileKind::Directory }.into());
    }
    let (at, name) = root.parent(rel)?;
    for _ in 0..ROUNDS {
        match at.open_with(name, &OpenMode::Append.options()) {
            Ok(file) => {
                let file = file.into_std();
                let seen = regular(&file, policy.hard_links_write)?;
                return Ok((file, seen, Creation::Existing));
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound && perm.is_some() => {
                match make(&at, name, OpenMode::Append) {
                    Ok((file, seen)) => return Ok((file, seen, Creation::Created)),
                    Err(OperationError { kind: OpenErrorKind::Exists, .. }) => {}
                    Err(other) => return Err(other),
                }
            }
            Err(error) => return Err(refine(&at, name, &error).into()),
        }
    }
    Err(PathEscapeKind::Contended.into())
}

pub(crate) fn create_dir(root: &Root, _: Policy, rel: &RelPath<'_>, _: Perm) -> Result<(), OperationError> {
    let (at, name) = root.parent(rel)?;
    at.create_dir(name).map_err(|error| fail(&error))
}

/// Returns the metadata of an entry; refuses symlinks.
fn seen(at: &Dir, name: &str) -> Result<Option<Metadata>, LookupError> {
    match look(at, name) {
        Ok(seen) if seen.kind == FileKind::Symlink => Err(PathEscapeKind::Symlink.into()),
        Ok(seen) => Ok(Some(seen)),
        Err(error) if error.kind == PathEscapeKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

pub(crate) fn replace(
    root: &Root,
    _: Policy,
    rel: &RelPath<'_>,
    bytes: &[u8],
    _: Perm,
) -> Result<ReplaceOutcome, OperationError> {
    let (at, name) = root.parent(rel)?;
    let old = seen(&at, name)?;
    if let Some(old) = old.filter(|old| old.kind != FileKind::File) {
        return Err(PathEscapeKind::NotRegular { is: old.kind }.into());
    }
    let new = format!(".plugward-tmp-{}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
    let (mut file, _) = make(&at, &new, OpenMode::Write)?;
    let written = file.write_all(bytes).and_then(|()| file.sync_all());
    drop(file);
    let placed = written.and_then(|()| at.rename(&new, &at, name));
    if let Err(error) = placed {
        let _removed = at.remove_file(&new).is_ok();
        return Err(fail(&error));
    }
    Ok(if old.is_some() { ReplaceOutcome::Overwrote } else { ReplaceOutcome::Created })
}

/// Renames an entry. The lookup of the new name and the rename are two calls, so this is not atomic.
pub(crate) fn rename(
    root: &Root,
    _: Policy,
    from: &RelPath<'_>,
    to: &RelPath<'_>,
    over: RenameMode,
) -> Result<(), (RenameSide, OperationError)> {
    let (old_at, old) = root.parent(from).map_err(|error| (RenameSide::From, error.into()))?;
    let (new_at, new) = root.parent(to).map_err(|error| (RenameSide::To, error.into()))?;
    if seen(&old_at, old).map_err(|error| (RenameSide::From, error.into()))?.is_none() {
        return Err((RenameSide::From, PathEscapeKind::NotFound.into()));
    }
    if over == RenameMode::Refuse && new_at.symlink_metadata(new).is_ok() {
        return Err((RenameSide::To, OpenErrorKind::Exists.into()));
    }
    old_at.rename(old, &new_at, new).map_err(|error| match fail(&error) {
        taken @ OperationError { kind: OpenErrorKind::Exists | OpenErrorKind::NotEmpty, .. } => {
            (RenameSide::To, taken)
        }
        other => (RenameSide::From, other),
    })
}

pub(crate) fn remove_file(root: &Root, _: Policy, rel: &RelPath<'_>) -> Result<(), OperationError> {
    let (at, name) = root.parent(rel)?;
    at.remove_file_or_symlink(name).map_err(|error| match look(&at, name) {
        Ok(seen) if seen.kind == FileKind::Directory => PathEscapeKind::NotRegular { is: seen.kind }.into(),
        _ => fail(&error),
    })
}

pub(crate) fn remove_dir(root: &Root, _: Policy, rel: &RelPath<'_>) -> Result<(), OperationError> {
    let (at, name) = root.parent(rel)?;
    match seen(&at, name)? {
        None => Err(PathEscapeKind::NotFound.into()),
        Some(seen) if seen.kind != FileKind::Directory => Err(PathEscapeKind::NotADirectory.into()),
        Some(_) => at.remove_dir(name).map_err(|error| fail(&error)),
    }
}

pub(crate) fn remove_tree(
    root: &Root,
    _: Policy,
    rel: &RelPath<'_>,
    limits: WalkLimits,
) -> Result<u64, OperationError> {
    let (at, name) = root.parent(rel)?;
    let mut removed = 0;
    empty(&enter(&at, name)?, limits, 1, 1, &mut removed)?;
    if removed >= limits.entries {
        return Err(OpenErrorKind::TooLarge { limit: limits.entries }.into());
    }
    at.remove_dir(name).map_err(|error| fail(&error))?;
    Ok(removed.saturating_add(1))
}

/// Removes the entries of a directory. Symlinks are removed and not entered.
///
/// `waiting` is the number of directories from the start to this one, with their remaining entries.
fn empty(
    directory: &Dir,
    limits: WalkLimits,
    depth: usize,
    waiting: u64,
    removed: &mut u64,
) -> Result<(), OperationError> {
    let limit = limits.depth.min(DEPTH);
    if depth > limit {
        return Err(OpenErrorKind::TooDeep { limit }.into());
    }
    let left = limits.entries.saturating_sub(*removed).saturating_sub(waiting);
    let budget = EntryBudget { left, limit: limits.entries };
    let mut entries = PackedListing::read(directory, &mut Vec::new(), Dotfiles::Allow, budget, &mut 0)?;
    let mut rest = u64::try_from(entries.len()).unwrap_or(u64::MAX);
    while let Some((name, kind)) = entries.next() {
        rest = rest.saturating_sub(1);
        let name = super::root::text(name)?;
        if kind == FileKind::Directory {
            let waiting = waiting.saturating_add(rest).saturating_add(1);
            empty(&enter(directory, name)?, limits, depth.saturating_add(1), waiting, removed)?;
            directory.remove_dir(name).map_err(|error| fail(&error))?;
        } else {
            directory.remove_file_or_symlink(name).map_err(|error| fail(&error))?;
        }
        *removed = removed.saturating_add(1);
    }
    Ok(())
}
