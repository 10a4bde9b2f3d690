//! Walking a tree: depth first, parent before children, siblings in byte order.

use crate::error::{OpenError, OpenErrorKind};
use crate::imp;
use crate::jail::Jail;
use crate::list::Packed;
use crate::meta::FileKind;
use crate::rel::RelPath;

/// How far a walk goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "a walk has these two limits, and a caller says both")]
pub struct WalkLimits {
    /// How many entries are given in all; memory is bounded by this many names.
    pub entries: u64,
    /// How many levels below the start are listed; 1 is the entries of the folder itself.
    pub depth: usize,
}

/// One entry of a walk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WalkEntry {
    path: RelPath<'static>,
    kind: FileKind,
}

impl WalkEntry {
    /// Gives the path from the jail.
    #[must_use]
    pub const fn path(&self) -> &RelPath<'static> {
        &self.path
    }

    /// Gives the path from the jail.
    #[must_use]
    pub fn into_path(self) -> RelPath<'static> {
        self.path
    }

    /// Gives the kind; a link is a link, whatever it leads to.
    #[must_use]
    pub const fn kind(&self) -> FileKind {
        self.kind
    }
}

/// The entries below a folder, each folder opened from the jail when its turn comes.
///
/// Links are given and not followed, under any policy. A folder that cannot be opened is given, then one error with its path;
/// its siblings go on. More entries than the limit end the walk with `path/too-large`. No folder is held open
/// between two items.
#[derive(Debug)]
#[must_use = "a walk does nothing before it is iterated"]
pub struct Walk {
    jail: Jail,
    limits: WalkLimits,
    left: u64,
    hidden: u64,
    stack: Vec<(RelPath<'static>, Packed)>,
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

    /// Counts the dotfiles that the policy has left out so far.
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
            let folder = imp::open_folder_unfollowed(self.jail.root(), policy, &path)?;
            let budget = (self.left, self.limits.entries);
            Packed::read(&folder, &mut self.buffer, policy.dotfiles, budget, &mut self.hidden)
        })();
        match read {
            Ok(listing) => {
                self.left = self.left.saturating_sub(u64::try_from(listing.len()).unwrap_or(u64::MAX));
                self.stack.push((path, listing));
                Ok(())
            }
            Err(fail) => {
                let fail: crate::error::Fail = fail;
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
            if kind == FileKind::Folder {
                self.enter = Some(path.clone());
            }
            return Some(Ok(WalkEntry { path, kind }));
        }
    }
}
