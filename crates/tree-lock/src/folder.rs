//! What one folder holds, judged by names, kinds and limits.

use std::collections::BTreeMap;

use plugward_sandbox_path::{FileKind, Jail, Listing};

use crate::error::TreeError;
use crate::exclude::Excludes;
use crate::item::{Again, FolderSeen, Item, Listed, State};
use crate::limits::{Limit, Limits};
use crate::look::{fingerprint, look};
use crate::name;
use crate::problem::{Notice, NoticeKind, TreeProblem, TreeProblemKind};
use crate::race::report_error;

/// What the names of a folder are judged by.
#[derive(Clone, Copy)]
pub(crate) struct Rules<'a> {
    pub(crate) jail: &'a Jail,
    pub(crate) limits: &'a Limits,
    pub(crate) exclude: &'a Excludes,
}

/// What one thread found.
#[derive(Debug, Default)]
pub(crate) struct Found {
    listed: Listed,
    /// What could not be looked at: of several the one with the first path is told.
    error: Option<(Box<str>, TreeError)>,
}

impl Found {
    /// Brings items and folders into bytewise order of their paths; cheap where most of them are.
    pub(crate) fn sort(&mut self) {
        self.listed.items.sort_by(|one, two| one.path.cmp(&two.path));
        self.listed.folders.sort_by(|one, two| one.path.cmp(&two.path));
    }

    /// Takes over what another thread found.
    pub(crate) fn append(&mut self, other: Self) {
        let Listed { mut items, mut folders, mut problems, mut notices, link_bytes, is_partial, is_cut } =
            other.listed;
        let listed = &mut self.listed;
        listed.items.append(&mut items);
        listed.folders.append(&mut folders);
        listed.problems.append(&mut problems);
        listed.notices.append(&mut notices);
        listed.link_bytes = listed.link_bytes.saturating_add(link_bytes);
        listed.is_partial |= is_partial;
        listed.is_cut |= is_cut;
        if let Some((path, error)) = other.error {
            self.fail(path, error);
        }
    }

    /// Returns what was listed, if all of it could be.
    pub(crate) fn into_listed(self) -> Result<Listed, TreeError> {
        if let Some((_, error)) = self.error {
            return Err(error);
        }
        let mut listed = self.listed;
        // The lists grew by doubling. Their spare room would stay allocated while the files are read.
        listed.items.shrink_to_fit();
        listed.folders.shrink_to_fit();
        Ok(listed)
    }

    fn fail(&mut self, path: Box<str>, error: TreeError) {
        if self.error.as_ref().is_none_or(|(first, _)| path < *first) {
            self.error = Some((path, error));
        }
    }

    fn problem(&mut self, path: impl Into<Vec<u8>>, kind: TreeProblemKind) {
        self.listed.problems.push(TreeProblem::new(path, kind));
    }

    fn limit(&mut self, path: &str, limit: Limit, max: usize) {
        let max = u64::try_from(max).unwrap_or(u64::MAX);
        self.problem(path, TreeProblemKind::Limit { limit, max });
        self.listed.is_partial = true;
    }
}

impl Rules<'_> {
    /// Lists one folder and judges what it holds; returns the number of entries, those left out not counted.
    pub(crate) fn visit(
        &self,
        path: Box<str>,
        room: usize,
        found: &mut Found,
        folders: &mut Vec<Box<str>>,
    ) -> usize {
        // What is excluded does not count, and stands at the root alone. One more than there is room for, so that the
        // limit is seen.
        let at_root = path.is_empty().then_some(self.exclude);
        let max = room.saturating_add(at_root.map_or(0, |exclude| exclude.iter().count())).saturating_add(1);
        let (listing, meta) = match look(self.jail, &path, max) {
            Ok(looked) => looked,
            Err(error) if error.report(self.jail, &path) && at_root.is_none() => {
                found.listed.is_partial = true;
                found.problem(path.as_bytes(), TreeProblemKind::ChangedWhileRead);
                return 0;
            }
            Err(error) => {
                let error = error.into_tree(&path);
                found.fail(path, error);
                return 0;
            }
        };
        let is_left_out = |name: &[u8]| at_root.is_some_and(|exclude| exclude.has(name));
        let count = listing.entries().iter().filter(|entry| !is_left_out(entry.name())).count();
        if count > room {
            // The whole is refused for that.
            return count;
        }
        if cfg!(unix) && meta.mode() & 0o002 != 0 {
            found.listed.notices.push(Notice::new(&*path, NoticeKind::WritableByOthers));
        }
        self.collisions(&path, &listing, found);
        let depth = if path.is_empty() { 1 } else { path.split('/').count().saturating_add(1) };
        let mut below = Below { rules: self, folder: &path, depth, found: &mut *found, folders };
        for entry in listing.entries().iter().filter(|entry| !is_left_out(entry.name())) {
            below.entry(entry.name(), entry.kind());
        }
        let held = fingerprint(&listing, at_root);
        found.listed.folders.push(FolderSeen { path, held, id: meta.id(), again: Again::Same });
        count
    }

    /// Blames the later one of two names that another system takes for one.
    ///
    /// Siblings suffice: two paths have one key only where all their parts have. An empty folder is no part of the
    /// tree, but may be of the next one, so it counts.
    fn collisions(&self, folder: &str, listing: &Listing, found: &mut Found) {
        let names = || listing.entries().iter().filter_map(|entry| name::text(entry.name()));
        // Names are distinct as they are, so there is nothing to find where each is its own key.
        if names().all(name::is_own_key) && (!folder.is_empty() || self.exclude.is_empty()) {
            return;
        }
        let mut keys: BTreeMap<String, &str> = BTreeMap::new();
        if folder.is_empty() {
            // A name that another system takes for an excluded one would be part of the digest on this one only.
            keys.extend(self.exclude.iter().map(|name| (name::collision_key(name), name)));
        }
        for name in names() {
            let earlier = *keys.entry(name::collision_key(name)).or_insert(name);
            if earlier != name {
                let with = if folder.is_empty() { earlier.to_owned() } else { format!("{folder}/{earlier}") };
                let path = if folder.is_empty() { name.to_owned() } else { format!("{folder}/{name}") };
                found.problem(path, TreeProblemKind::Collision { with });
            }
        }
    }
}

/// The entries of one folder, one by one.
struct Below<'a> {
    rules: &'a Rules<'a>,
    folder: &'a str,
    /// How many parts the path of an entry has.
    depth: usize,
    found: &'a mut Found,
    folders: &'a mut Vec<Box<str>>,
}

impl Below<'_> {
    fn entry(&mut self, name: &[u8], kind: FileKind) {
        let Some(text) = name::text(name) else {
            self.found.listed.is_partial |= kind == FileKind::Folder;
            let path = joined(self.folder.as_bytes(), name);
            self.found.problem(path, TreeProblemKind::Name);
            return;
        };
        let path = if self.folder.is_empty() { text.to_owned() } else { path_below(self.folder, text) };
        let limits = self.rules.limits;
        if path.len() > limits.path_bytes {
            return self.found.limit(&path, Limit::PathBytes, limits.path_bytes);
        }
        if self.depth > limits.depth {
            return self.found.limit(&path, Limit::Depth, limits.depth);
        }
        if let Some(why) = name::not_portable(text) {
            self.found.listed.notices.push(Notice::new(path.as_str(), NoticeKind::NotPortable { why }));
        }
        if self.folder.is_empty() && matches!(text, ".git" | ".hg" | ".jj" | ".svn") {
            self.found.listed.notices.push(Notice::new(text, NoticeKind::VcsFolder));
        }
        self.kind(path.into(), kind);
    }

    fn kind(&mut self, path: Box<str>, kind: FileKind) {
        let state = match kind {
            FileKind::File => State::Listed,
            FileKind::Folder => {
                self.folders.push(path);
                return;
            }
            FileKind::Symlink => match self.rules.jail.read_link(&*path) {
                Ok(target) => {
                    let size = u64::try_from(target.len()).unwrap_or(u64::MAX);
                    let sum = &mut self.found.listed.link_bytes;
                    *sum = sum.saturating_add(size);
                    State::Link(target.into())
                }
                Err(error) if report_error(self.rules.jail, &path, &error) => {
                    State::Fault(TreeProblemKind::ChangedWhileRead)
                }
                Err(error) => {
                    let error = TreeError::io(path.as_bytes(), error);
                    return self.found.fail(path, error);
                }
            },
            other => State::Fault(TreeProblemKind::SpecialFile { what: special(other) }),
        };
        self.found.listed.items.push(Item { path, state });
    }
}

fn joined(folder: &[u8], name: &[u8]) -> Vec<u8> {
    if folder.is_empty() { name.to_vec() } else { [folder, b"/", name].concat() }
}

/// Joins in one allocation of the exact size, since every entry needs one.
fn path_below(folder: &str, name: &str) -> String {
    [folder, "/", name].concat()
}

fn special(kind: FileKind) -> &'static str {
    match kind {
        FileKind::Fifo => "named pipe",
        FileKind::Socket => "socket",
        FileKind::CharDevice => "character device",
        FileKind::BlockDevice => "block device",
        _ => "special file of unknown kind",
    }
}
