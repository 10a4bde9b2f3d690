//! What was listed, and listing it again.

use core::num::NonZeroUsize;

use plugward_sandbox_path::{FileId, Jail, RaceCause};
use plugward_types::Digest;
use sha2::{Digest as _, Sha256};

use crate::error::TreeError;
use crate::exclude::Excludes;
use crate::limits::Limits;
use crate::list::{EntryKind, ListLine};
use crate::look::{fingerprint, look};
use crate::problem::{Notice, TreeProblem, TreeProblemKind};
use crate::race::{report_change, report_error};
use crate::read::each_beside;

/// A file or link that was listed.
#[derive(Debug)]
pub(crate) struct Item {
    pub(crate) path: Box<str>,
    pub(crate) state: State,
}

/// How far an item has come.
#[derive(Debug)]
pub(crate) enum State {
    /// A file that is not read yet.
    Listed,
    /// A link with its target.
    Link(Box<[u8]>),
    /// A file that was read. Where nothing is kept there are no bytes; the size is that of what was hashed.
    Read { bytes: Vec<u8>, size: u64, digest: [u8; 32], mode: u32 },
    /// A file that was looked at and not read, since the tree is refused anyway.
    Seen,
    /// A file that is at fault.
    Fault(TreeProblemKind),
    /// A file that could not be read.
    Error(Box<TreeError>),
}

impl Item {
    /// Returns the digest of the content or target.
    pub(crate) fn digest(&self) -> Digest {
        Digest::from_bytes(match &self.state {
            State::Read { digest, .. } => *digest,
            State::Link(target) => Sha256::digest(target).into(),
            State::Listed | State::Seen | State::Fault(_) | State::Error(_) => [0; 32],
        })
    }

    /// Returns the bytes of the content or target.
    pub(crate) fn size(&self) -> u64 {
        match &self.state {
            State::Read { size, .. } => *size,
            State::Link(target) => u64::try_from(target.len()).unwrap_or(u64::MAX),
            State::Listed | State::Seen | State::Fault(_) | State::Error(_) => 0,
        }
    }

    /// Returns the line of the list that it makes.
    pub(crate) fn line(&self, kind: EntryKind) -> ListLine<'_> {
        ListLine { kind, digest: self.digest(), size: self.size(), path: &self.path }
    }
}

/// A folder with what it held when it was listed.
#[derive(Debug)]
pub(crate) struct FolderSeen {
    pub(crate) path: Box<str>,
    /// The digest of its names and kinds.
    pub(crate) held: [u8; 32],
    pub(crate) id: FileId,
    pub(crate) again: Again,
}

/// What a folder was when it was listed again.
#[derive(Debug)]
pub(crate) enum Again {
    /// The same folder with the same names, or not asked yet.
    Same,
    Changed,
    Error(Box<TreeError>),
}

/// All names below a folder.
#[derive(Debug, Default)]
pub(crate) struct Listed {
    /// In bytewise order of the paths.
    pub(crate) items: Vec<Item>,
    /// The root first, then in bytewise order.
    pub(crate) folders: Vec<FolderSeen>,
    pub(crate) problems: Vec<TreeProblem>,
    pub(crate) notices: Vec<Notice>,
    /// Bytes of all link targets.
    pub(crate) link_bytes: u64,
    /// Not everything was looked at, so nothing can be said about what links lead to.
    pub(crate) is_partial: bool,
    /// The limit on entries was met, so the rest of the names is not even known.
    pub(crate) is_cut: bool,
}

impl Listed {
    /// Takes every folder's listing and every link's target again; returns the paths that are not as they were.
    ///
    /// Meanwhile the calling thread does something with the items, before it takes its part.
    pub(crate) fn changed_since(
        &mut self,
        jail: &Jail,
        limits: &Limits,
        exclude: &Excludes,
        jobs: NonZeroUsize,
        meanwhile: impl FnOnce(&[Item]),
    ) -> Result<Vec<TreeProblem>, TreeError> {
        let max = limits.entries.saturating_add(exclude.iter().count()).saturating_add(1);
        let again = |folder: &mut FolderSeen| {
            let root = folder.path.is_empty().then_some(exclude);
            folder.again = match look(jail, &folder.path, max) {
                Ok((_, meta)) if meta.id() != folder.id => {
                    let cause = RaceCause::Replaced { was: folder.id, is: meta.id() };
                    report_change(jail, &folder.path, cause);
                    Again::Changed
                }
                Ok((listing, _)) if fingerprint(&listing, root) != folder.held => {
                    report_change(jail, &folder.path, RaceCause::Changed);
                    Again::Changed
                }
                Ok(_) => Again::Same,
                Err(error) if error.report(jail, &folder.path) => Again::Changed,
                Err(error) => Again::Error(Box::new(error.into_tree(&folder.path))),
            };
        };
        let items = &self.items;
        each_beside(&mut self.folders, jobs, again, || meanwhile(items));
        let mut out = Vec::new();
        let mut changed = |path: &str| out.push(TreeProblem::new(path, TreeProblemKind::ChangedWhileRead));
        for folder in &mut self.folders {
            match core::mem::replace(&mut folder.again, Again::Same) {
                Again::Same => {}
                Again::Changed => changed(&folder.path),
                Again::Error(error) => return Err(*error),
            }
        }
        for item in &self.items {
            if let State::Link(target) = &item.state {
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
