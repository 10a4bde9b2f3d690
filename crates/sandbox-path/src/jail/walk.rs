//! Walking a directory tree: depth first, parents before children, siblings in byte order.

use crate::error::{OpenError, OpenErrorKind};
use crate::jail::Jail;
use crate::jail::list::{EntryBudget, PackedListing};
use crate::meta::FileKind;
use crate::path::relative::RelPath;
use crate::unix;

/// The limits of a walk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "a walk has these two limits, and a caller states both")]
pub struct WalkLimits {
    /// The most entries in total. Memory is bounded by this number of names.
    pub entries: u64,
    /// The most levels that are listed. With 1, only the entries of the directory itself are listed.
    pub depth: usize,
}

/// One entry of a walk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WalkEntry {
    path: RelPath<'static>,
    kind: FileKind,
}

impl WalkEntry {
    /// Returns the path relative to the jail.
    #[must_use]
    pub const fn path(&self) -> &RelPath<'static> {
        &self.path
    }

    /// Returns the path relative to the jail.
    #[must_use]
    pub fn into_path(self) -> RelPath<'static> {
        self.path
    }

    /// Returns the kind of the entry itself. Symlinks are not followed.
    #[must_use]
    pub const fn kind(&self) -> FileKind {
        self.kind
    }
}

/// An iterator over the entries below a directory.
///
/// Symlinks are returned and not followed, under any policy. For a directory that cannot be opened, the walk returns
/// the entry and then one error with its path, and continues with its siblings. More entries than the limit end the
/// walk with `path/too-large`. Each directory is opened from the jail, and none stays open between two items.
#[derive(Debug)]
#[must_use = "a walk does nothing before it is iterated"]
pub struct Walk {
    jail: Jail,
    limits: WalkLimits,
    left: u64,
    hidden: u64,
    stack: Vec<(RelPath<'static>, PackedListing)>,
    enter: Option<RelPath<'static>>,
    buffer: Vec<u8>,
}

impl Walk {
    pub(crate) fn new(jail: Jail, start: RelPath<'static>, limits: WalkLimits) -> Result<Self, OpenError> {
        let mut walk = Self {
            jail,
            limits,
            left: limits.entries,
            hidden: 0,
            stack: Vec::new(),
            enter: None,
            buffer: Vec::new(),
        };
        walk.descend(start)?;
        Ok(walk)
    }

    /// Returns the number of dotfiles that the policy has left out so far.
    #[must_use]
    pub const fn hidden(&self) -> u64 {
        self.hidden
    }

    fn descend(&mut self, path: RelPath<'static>) -> Result<(), OpenError> {
        let read = (|| {
            if self.stack.len() >= self.limits.depth {
                return Err(OpenErrorKind::TooDeep { limit: self.limits.depth }.into());
            }
            let policy = *self.jail.policy();
            let directory = unix::open_listed_directory(self.jail.root(), policy, &path)?;
            let budget = EntryBudget { left: self.left, limit: self.limits.entries };
            PackedListing::read(&directory, &mut self.buffer, policy.dotfiles, budget, &mut self.hidden)
        })();
        match read {
            Ok(listing) => {
                self.left = self.left.saturating_sub(u64::try_from(listing.len()).unwrap_or(u64::MAX));
                self.stack.push((path, listing));
                Ok(())
            }
            Err(fail) => {
                let fail: crate::error::OperationError = fail;
                if matches!(fail.kind, OpenErrorKind::TooLarge { .. }) {
                    self.stack.clear();
                }
                Err(OpenError::new("walk", path.as_bytes(), fail))
            }
        }
    }
}

impl Iterator for Walk {
    type Item = Result<WalkEntry, OpenError>;

    fn next(&mut self) -> Option<Self::Item> {
        if let Some(path) = self.enter.take()
            && let Err(error) = self.descend(path)
        {
            return Some(Err(error));
        }
        loop {
            let (parent, listing) = self.stack.last_mut()?;
            let Some((name, kind)) = listing.next() else {
                self.stack.pop();
                continue;
            };
            let path = parent.child(name);
            if kind == FileKind::Directory {
                self.enter = Some(path.clone());
            }
            return Some(Ok(WalkEntry { path, kind }));
        }
    }
}
