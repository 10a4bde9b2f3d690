//! Listing one folder, in byte order and within limits.

use std::collections::BinaryHeap;
use std::fmt;
use std::io;
use std::ops::ControlFlow;

use crate::error::{Fail, OpenError, OpenErrorKind};
use crate::imp;
use crate::meta::{FileKind, Metadata};
use crate::names::is_dotfile;
use crate::policy::Dotfiles;
use crate::rel::{RelPath, escape};

/// How many entries of one folder are looked at, at most.
pub(crate) const LOOKED_AT: u64 = 1_000_000;

/// One entry of a folder: its name as bytes, and its kind.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct FolderEntry {
    name: Box<[u8]>,
    kind: FileKind,
}

impl FolderEntry {
    /// Gives the bytes of the name, which need not be UTF-8.
    #[must_use]
    pub fn name(&self) -> &[u8] {
        &self.name
    }

    /// Gives the name where it is UTF-8.
    #[must_use]
    pub fn name_str(&self) -> Option<&str> {
        std::str::from_utf8(&self.name).ok()
    }

    /// Gives the kind; a link is a link, whatever it leads to.
    #[must_use]
    pub const fn kind(&self) -> FileKind {
        self.kind
    }
}

/// Shows the name with control and bidirectional characters escaped.
impl fmt::Display for FolderEntry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        escape(&self.name, f)
    }
}

/// The entries of one folder.
#[derive(Debug, Clone, PartialEq, Eq)]
#[must_use = "ask `is_truncated` before taking it for all entries"]
pub struct Listing {
    entries: Vec<FolderEntry>,
    truncated: bool,
    hidden: u64,
}

impl Listing {
    /// Gives the entries, sorted by the bytes of their names.
    #[must_use]
    pub fn entries(&self) -> &[FolderEntry] {
        &self.entries
    }

    /// Gives the entries, sorted by the bytes of their names.
    #[must_use]
    pub fn into_entries(self) -> Vec<FolderEntry> {
        self.entries
    }

    /// Tells whether the folder has more entries than are here.
    #[must_use]
    pub const fn is_truncated(&self) -> bool {
        self.truncated
    }

    /// Counts the dotfiles that the policy left out.
    #[must_use]
    pub const fn hidden(&self) -> u64 {
        self.hidden
    }
}

/// A folder that was opened below a jail, to be listed as often as wanted.
///
/// It lists, and opens nothing: opens start at the jail, since a folder that is held could be carried out of it.
#[derive(Debug)]
#[must_use = "list it, or drop it to close it"]
pub struct Folder {
    handle: imp::FolderHandle,
    path: RelPath<'static>,
    dotfiles: Dotfiles,
    buffer: Vec<u8>,
}

impl Folder {
    pub(crate) const fn new(handle: imp::FolderHandle, path: RelPath<'static>, dotfiles: Dotfiles) -> Self {
        Self { handle, path, dotfiles, buffer: Vec::new() }
    }

    /// Gives the path that it was opened by.
    #[must_use]
    pub const fn relative(&self) -> &RelPath<'static> {
        &self.path
    }

    /// Asks the system about the folder, through the handle.
    ///
    /// # Errors
    /// The system's own error.
    pub fn meta(&self) -> io::Result<Metadata> {
        imp::folder_meta(&self.handle)
    }

    /// Lists the folder as it is at this moment: the bytewise smallest `max` names, sorted.
    ///
    /// # Errors
    /// `path/io`, `path/denied` and others of the system; `path/not-found` where the folder was removed.
    pub fn list(&mut self, max: usize) -> Result<Listing, OpenError> {
        list(&self.handle, &mut self.buffer, max, self.dotfiles)
            .map_err(|fail| OpenError::new("list", self.path.as_bytes(), fail))
    }
}

/// Reads a folder, keeping no more than `max` entries at any time.
fn list(
    handle: &imp::FolderHandle,
    buffer: &mut Vec<u8>,
    max: usize,
    dotfiles: Dotfiles,
) -> Result<Listing, Fail> {
    let mut kept: BinaryHeap<FolderEntry> = BinaryHeap::new();
    let (mut seen, mut hidden, mut truncated) = (0_u64, 0_u64, false);
    imp::entries(handle, buffer, |name, kind| {
        if seen >= LOOKED_AT {
            truncated = true;
            return ControlFlow::Break(());
        }
        seen = seen.saturating_add(1);
        if dotfiles == Dotfiles::Refuse && is_dotfile(name) {
            hidden = hidden.saturating_add(1);
        } else if kept.len() < max {
            kept.push(FolderEntry { name: name.into(), kind });
        } else {
            truncated = true;
            if let Some(mut largest) = kept.peek_mut()
                && name < &*largest.name
            {
                *largest = FolderEntry { name: name.into(), kind };
            }
        }
        ControlFlow::Continue(())
    })?;
    let mut entries = kept.into_sorted_vec();
    entries.dedup_by(|one, two| one.name == two.name);
    Ok(Listing { entries, truncated, hidden })
}

/// The entries of one folder in little memory: all names in one buffer.
#[derive(Debug, Default)]
pub(crate) struct Packed {
    names: Vec<u8>,
    entries: Vec<(u32, u16, FileKind)>,
    next: usize,
}

impl Packed {
    /// Reads and sorts a folder.
    ///
    /// # Errors
    /// `TooLarge` with `limit` where there are more than `left` entries, and what the system says.
    pub(crate) fn read(
        handle: &imp::FolderHandle,
        buffer: &mut Vec<u8>,
        dotfiles: Dotfiles,
        (left, limit): (u64, u64),
        hidden: &mut u64,
    ) -> Result<Self, Fail> {
        let mut packed = Self::default();
        let (mut seen, mut over) = (0_u64, false);
        imp::entries(handle, buffer, |name, kind| {
            if dotfiles == Dotfiles::Refuse && is_dotfile(name) {
                *hidden = hidden.saturating_add(1);
                return ControlFlow::Continue(());
            }
            let place = (u32::try_from(packed.names.len()), u16::try_from(name.len()));
            let (Ok(start), Ok(len)) = place else {
                over = true;
                return ControlFlow::Break(());
            };
            if seen >= left {
                over = true;
                return ControlFlow::Break(());
            }
            seen = seen.saturating_add(1);
            packed.names.extend_from_slice(name);
            packed.entries.push((start, len, kind));
            ControlFlow::Continue(())
        })?;
        if over {
            return Err(OpenErrorKind::TooLarge { limit }.into());
        }
        let Self { names, entries, .. } = &mut packed;
        entries.sort_unstable_by(|one, two| name_of(names, *one).cmp(name_of(names, *two)));
        entries.dedup_by(|one, two| name_of(names, *one) == name_of(names, *two));
        Ok(packed)
    }

    /// Counts the entries.
    pub(crate) fn len(&self) -> usize {
        self.entries.len()
    }

    /// Counts the entries that were not given yet.
    #[cfg(unix)]
    pub(crate) fn rest(&self) -> usize {
        self.entries.len().saturating_sub(self.next)
    }

    /// Gives the next entry.
    pub(crate) fn next(&mut self) -> Option<(&[u8], FileKind)> {
        let entry = *self.entries.get(self.next)?;
        self.next = self.next.saturating_add(1);
        Some((name_of(&self.names, entry), entry.2))
    }
}

fn name_of(names: &[u8], (start, len, _): (u32, u16, FileKind)) -> &[u8] {
    let start = usize::try_from(start).unwrap_or(usize::MAX);
    names.get(start..start.saturating_add(usize::from(len))).unwrap_or_default()
}
