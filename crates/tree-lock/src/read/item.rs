//! The listed entries of a tree, and the second listing that detects changes.

use core::num::NonZeroUsize;

use plugward_sandbox_path::{FileId, Jail, RaceCause};
use plugward_types::Digest;
use sha2::{Digest as _, Sha256};

use crate::problem::error::TreeError;
use crate::problem::{TreeProblem, TreeProblemKind, TreeWarning};
use crate::read::files::for_each_parallel;
use crate::read::listing::{fingerprint, list_directory};
use crate::read::race::{report_change, report_error};
use crate::tree::exclude::Excludes;
use crate::tree::limits::TreeLimits;
use crate::tree::list::{EntryKind, ListLine};

/// A listed file or symlink.
#[derive(Debug)]
pub(crate) struct Item {
    pub(crate) path: Box<str>,
    pub(crate) state: ItemState,
}

/// The progress of reading an item.
#[derive(Debug)]
pub(crate) enum ItemState {
    /// A file that has not been read yet.
    Listed,
    /// A symlink with its target.
    Link(Box<[u8]>),
    /// A hashed file. `bytes` is empty if only a digest is wanted; `size` is the number of hashed bytes.
    Read { bytes: Vec<u8>, size: u64, digest: [u8; 32], mode: u32 },
    /// A file whose metadata was checked but whose contents were not read, because the tree is refused anyway.
    Seen,
    /// A file for which the tree is refused.
    Fault(TreeProblemKind),
    /// A file that could not be read.
    Error(Box<TreeError>),
}

impl Item {
    /// Returns the digest of the contents or the target.
    pub(crate) fn digest(&self) -> Digest {
        Digest::from_bytes(match &self.state {
            ItemState::Read { digest, .. } => *digest,
            ItemState::Link(target) => Sha256::digest(target).into(),
            ItemState::Listed | ItemState::Seen | ItemState::Fault(_) | ItemState::Error(_) => [0; 32],
        })
    }

    /// Returns the size of the contents or the target, in bytes.
    pub(crate) fn size(&self) -> u64 {
        match &self.state {
            ItemState::Read { size, .. } => *size,
            ItemState::Link(target) => u64::try_from(target.len()).unwrap_or(u64::MAX),
            ItemState::Listed | ItemState::Seen | ItemState::Fault(_) | ItemState::Error(_) => 0,
        }
    }

    /// Returns the item as a line of the list.
    pub(crate) fn line(&self, kind: EntryKind) -> ListLine<'_> {
        ListLine { kind, digest: self.digest(), size: self.size(), path: &self.path }
    }
}

/// A listed directory, with the facts that a second listing is compared with.
#[derive(Debug)]
pub(crate) struct ListedDirectory {
    pub(crate) path: Box<str>,
    /// The digest of its names and kinds.
    pub(crate) fingerprint: [u8; 32],
    pub(crate) id: FileId,
    pub(crate) second: SecondListing,
}

/// The result of listing a directory a second time.
#[derive(Debug)]
pub(crate) enum SecondListing {
    /// The same directory with the same names, or not listed again yet.
    Same,
    Changed,
    Error(Box<TreeError>),
}

/// All entries of a tree.
#[derive(Debug, Default)]
pub(crate) struct TreeListing {
    /// Sorted by the bytes of the paths.
    pub(crate) items: Vec<Item>,
    /// The root first, then sorted by the bytes of the paths.
    pub(crate) directories: Vec<ListedDirectory>,
    pub(crate) problems: Vec<TreeProblem>,
    pub(crate) warnings: Vec<TreeWarning>,
    /// The total size of all symlink targets, in bytes.
    pub(crate) link_bytes: u64,
    /// Some entries were not listed, so a symlink target that is not found may still exist.
    pub(crate) is_partial: bool,
    /// The limit on entries was exceeded, so some names are not known.
    pub(crate) is_cut: bool,
}

impl TreeListing {
    /// Lists every directory and reads every symlink again, and returns the paths that have changed.
    ///
    /// The calling thread runs `meanwhile` on the items before it joins the other threads.
    pub(crate) fn changed_since(
        &mut self,
        jail: &Jail,
        limits: &TreeLimits,
        exclude: &Excludes,
        jobs: NonZeroUsize,
        meanwhile: impl FnOnce(&[Item]),
    ) -> Result<Vec<TreeProblem>, TreeError> {
        let max = limits.entries.saturating_add(exclude.unread().count()).saturating_add(1);
        let again = |directory: &mut ListedDirectory| {
            let root = directory.path.is_empty().then_some(exclude);
            directory.second = match list_directory(jail, &directory.path, max) {
                Ok((_, meta)) if meta.id() != directory.id => {
                    let cause = RaceCause::Replaced { was: directory.id, is: meta.id() };
                    report_change(jail, &directory.path, cause);
                    SecondListing::Changed
                }
                Ok((listing, _)) if fingerprint(&listing, root) != directory.fingerprint => {
                    report_change(jail, &directory.path, RaceCause::Changed);
                    SecondListing::Changed
                }
                Ok(_) => SecondListing::Same,
                Err(error) if error.report(jail, &directory.path) => SecondListing::Changed,
                Err(error) => SecondListing::Error(Box::new(error.into_tree(&directory.path))),
            };
        };
        let items = &self.items;
        for_each_parallel(&mut self.directories, jobs, again, || meanwhile(items));
        let mut out = Vec::new();
        let mut changed = |path: &str| out.push(TreeProblem::new(path, TreeProblemKind::ChangedWhileRead));
        for directory in &mut self.directories {
            match core::mem::replace(&mut directory.second, SecondListing::Same) {
                SecondListing::Same => {}
                SecondListing::Changed => changed(&directory.path),
                SecondListing::Error(error) => return Err(*error),
            }
        }
        for item in &self.items {
            if let ItemState::Link(target) = &item.state {
                match jail.read_link(&*item.path) {
                    Ok(again) if *again == **target => {}
                    Ok(_) => {
                        report_change(jail, &item.path, RaceCause::Changed);
                        changed(&item.path);
                    }
                    Err(error) if report_error(jail, &item.path, &error) => changed(&item.path),
                    Err(error) => return Err(TreeError::io(item.path.as_bytes(), error)),
                }
            }
        }
        Ok(out)
    }
}
