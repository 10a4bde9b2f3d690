//! Listing one directory, in byte order and within limits.
#![expect(clippy::arithmetic_side_effects, reason = "offsets into a slice in memory cannot overflow")]

use std::collections::BinaryHeap;
use std::fmt;
use std::io;
use std::ops::ControlFlow;

use crate::error::{OpenError, OpenErrorKind, OperationError};
use crate::meta::{FileKind, Metadata};
use crate::path::names::is_dotfile;
use crate::path::relative::{RelPath, escape};
use crate::policy::Dotfiles;
use crate::unix;

/// The most entries of one directory that are read. It bounds the time for a directory that an attacker fills.
pub(crate) const LOOKED_AT: u64 = 1_000_000;

/// One entry of a directory.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct DirectoryEntry {
    name: Box<[u8]>,
    kind: FileKind,
}

impl DirectoryEntry {
    /// Returns the bytes of the name, which need not be UTF-8.
    #[must_use]
    pub fn name(&self) -> &[u8] {
        &self.name
    }

    /// Returns the name if it is UTF-8.
    #[must_use]
    pub fn name_str(&self) -> Option<&str> {
        std::str::from_utf8(&self.name).ok()
    }

    /// Returns the kind of the entry itself. Symlinks are not followed.
    #[must_use]
    pub const fn kind(&self) -> FileKind {
        self.kind
    }
}

/// Displays the name with control and bidi characters escaped.
impl fmt::Display for DirectoryEntry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        escape(&self.name, f)
    }
}

/// The entries of one directory.
#[derive(Debug, Clone, PartialEq, Eq)]
#[must_use = "check `is_truncated` before treating it as complete"]
pub struct Listing {
    entries: Vec<DirectoryEntry>,
    truncated: bool,
    hidden: u64,
}

impl Listing {
    /// Returns the entries, sorted by the bytes of their names.
    #[must_use]
    pub fn entries(&self) -> &[DirectoryEntry] {
        &self.entries
    }

    /// Returns the entries, sorted by the bytes of their names.
    #[must_use]
    pub fn into_entries(self) -> Vec<DirectoryEntry> {
        self.entries
    }

    /// Returns `true` if the directory has more entries than the listing.
    #[must_use]
    pub const fn is_truncated(&self) -> bool {
        self.truncated
    }

    /// Returns the number of dotfiles that the policy left out.
    #[must_use]
    pub const fn hidden(&self) -> u64 {
        self.hidden
    }
}

/// An open directory inside a jail, which can be listed repeatedly.
///
/// It cannot open files: opens start at the jail, because an open directory can be moved out of it.
#[derive(Debug)]
#[must_use = "list it, or drop it to close it"]
pub struct Directory {
    handle: unix::DirectoryHandle,
    path: RelPath<'static>,
    dotfiles: Dotfiles,
    buffer: Vec<u8>,
}

impl Directory {
    pub(crate) const fn new(
        handle: unix::DirectoryHandle,
        path: RelPath<'static>,
        dotfiles: Dotfiles,
    ) -> Self {
        Self { handle, path, dotfiles, buffer: Vec::new() }
    }

    /// Returns the path by which the directory was opened.
    #[must_use]
    pub const fn relative(&self) -> &RelPath<'static> {
        &self.path
    }

    /// Returns the current metadata of the directory, through the handle.
    ///
    /// # Errors
    /// The system error.
    pub fn meta(&self) -> io::Result<Metadata> {
        unix::directory_meta(&self.handle)
    }

    /// Lists the current entries of the directory: the first `max` in byte order.
    ///
    /// # Errors
    /// `path/io`, `path/denied` and other failures of the system; `path/not-found` if the directory was removed.
    pub fn list(&mut self, max: usize) -> Result<Listing, OpenError> {
        list(&self.handle, &mut self.buffer, max, self.dotfiles)
            .map_err(|fail| OpenError::new("list", self.path.as_bytes(), fail))
    }
}

/// Reads a directory with at most `max` entries in memory at any time.
fn list(
    handle: &unix::DirectoryHandle,
    buffer: &mut Vec<u8>,
    max: usize,
    dotfiles: Dotfiles,
) -> Result<Listing, OperationError> {
    // A heap of the `max` smallest names: which entries are kept must not depend on the order of the file
    // system, and a directory that an attacker fills must not fill the memory.
    let mut kept: BinaryHeap<DirectoryEntry> = BinaryHeap::new();
    let (mut seen, mut hidden, mut truncated) = (0_u64, 0_u64, false);
    unix::entries(handle, buffer, |name, kind| {
        if seen >= LOOKED_AT {
            truncated = true;
            return ControlFlow::Break(());
        }
        seen += 1;
        if dotfiles == Dotfiles::Refuse && is_dotfile(name) {
            hidden += 1;
        } else if kept.len() < max {
            kept.push(DirectoryEntry { name: name.into(), kind });
        } else {
            truncated = true;
            if let Some(mut largest) = kept.peek_mut()
                && name < &*largest.name
            {
                *largest = DirectoryEntry { name: name.into(), kind };
            }
        }
        ControlFlow::Continue(())
    })?;
    let mut entries = kept.into_sorted_vec();
    // The system may return an entry twice if the directory changes during the listing.
    entries.dedup_by(|one, two| one.name == two.name);
    Ok(Listing { entries, truncated, hidden })
}

/// The entries of one directory with all names in one buffer, for walks of large trees.
#[derive(Debug, Default)]
pub(crate) struct PackedListing {
    names: Vec<u8>,
    entries: Vec<PackedEntry>,
    next: usize,
}

#[derive(Debug, Clone, Copy)]
struct PackedEntry {
    /// The offset of the name in the buffer.
    start: u32,
    len: u16,
    kind: FileKind,
}

/// The number of entries that a listing may still have, and the limit that the error states.
#[derive(Debug, Clone, Copy)]
pub(crate) struct EntryBudget {
    pub(crate) left: u64,
    pub(crate) limit: u64,
}

impl PackedListing {
    /// Reads and sorts a directory.
    ///
    /// # Errors
    /// `TooLarge` if there are more entries than the budget, and failures of the system.
    pub(crate) fn read(
        handle: &unix::DirectoryHandle,
        buffer: &mut Vec<u8>,
        dotfiles: Dotfiles,
        budget: EntryBudget,
        hidden: &mut u64,
    ) -> Result<Self, OperationError> {
        let mut packed = Self::default();
        let (mut seen, mut over) = (0_u64, false);
        unix::entries(handle, buffer, |name, kind| {
            if dotfiles == Dotfiles::Refuse && is_dotfile(name) {
                *hidden += 1;
                return ControlFlow::Continue(());
            }
            // Offsets of 32 bits keep an entry at 8 bytes, since walks of large trees hold many listings at
            // once.
            let place = (u32::try_from(packed.names.len()), u16::try_from(name.len()));
            let (Ok(start), Ok(len)) = place else {
                over = true;
                return ControlFlow::Break(());
            };
            if seen >= budget.left {
                over = true;
                return ControlFlow::Break(());
            }
            seen += 1;
            packed.names.extend_from_slice(name);
            packed.entries.push(PackedEntry { start, len, kind });
            ControlFlow::Continue(())
        })?;
        if over {
            return Err(OpenErrorKind::TooLarge { limit: budget.limit }.into());
        }
        let Self { names, entries, .. } = &mut packed;
        entries.sort_unstable_by(|one, two| name_of(names, *one).cmp(name_of(names, *two)));
        // As in `list`: one entry can be returned twice.
        entries.dedup_by(|one, two| name_of(names, *one) == name_of(names, *two));
        Ok(packed)
    }

    /// Returns the number of entries.
    pub(crate) fn len(&self) -> usize {
        self.entries.len()
    }

    /// Returns the number of entries that [`PackedListing::next`] has not returned yet.
    pub(crate) fn rest(&self) -> usize {
        self.entries.len().saturating_sub(self.next)
    }

    /// Returns the next entry.
    pub(crate) fn next(&mut self) -> Option<(&[u8], FileKind)> {
        let entry = *self.entries.get(self.next)?;
        self.next += 1;
        Some((name_of(&self.names, entry), entry.kind))
    }
}

fn name_of(names: &[u8], entry: PackedEntry) -> &[u8] {
    let start = usize::try_from(entry.start).unwrap_or(usize::MAX);
    names.get(start..start + usize::from(entry.len)).unwrap_or_default()
}
