//! Listing one directory, and checking its names, kinds and limits.
#![expect(clippy::arithmetic_side_effects, reason = "offsets into a slice in memory cannot overflow")]

use std::collections::BTreeMap;

use plugward_sandbox_path::{FileKind, Jail, Listing};

use crate::problem::error::TreeError;
use crate::problem::{TreeProblem, TreeProblemKind, TreeWarning, TreeWarningKind};
use crate::read::item::{Item, ItemState, ListedDirectory, SecondListing, TreeListing};
use crate::read::listing::{fingerprint, list_directory};
use crate::read::race::report_error;
use crate::tree::exclude::Excludes;
use crate::tree::limits::{TreeLimit, TreeLimits};
use crate::tree::name;

/// The jail, limits and excludes that a listing applies.
#[derive(Clone, Copy)]
pub(crate) struct ListingRules<'a> {
    pub(crate) jail: &'a Jail,
    pub(crate) limits: &'a TreeLimits,
    pub(crate) exclude: &'a Excludes,
}

/// The part of the listing that one thread has collected.
#[derive(Debug, Default)]
pub(crate) struct PartialListing {
    listed: TreeListing,
    /// The failure with the first path, so that the reported one does not depend on the threads.
    error: Option<(Box<str>, TreeError)>,
}

impl PartialListing {
    /// Sorts items and directories by the bytes of their paths. It is fast if most of them are in order.
    pub(crate) fn sort(&mut self) {
        self.listed.items.sort_by(|one, two| one.path.cmp(&two.path));
        self.listed.directories.sort_by(|one, two| one.path.cmp(&two.path));
    }

    /// Appends the part that another thread has collected.
    pub(crate) fn append(&mut self, other: Self) {
        let TreeListing {
            mut items,
            mut directories,
            mut problems,
            mut warnings,
            link_bytes,
            is_partial,
            is_cut,
        } = other.listed;
        let listed = &mut self.listed;
        listed.items.append(&mut items);
        listed.directories.append(&mut directories);
        listed.problems.append(&mut problems);
        listed.warnings.append(&mut warnings);
        listed.link_bytes = listed.link_bytes.saturating_add(link_bytes);
        listed.is_partial |= is_partial;
        listed.is_cut |= is_cut;
        if let Some((path, error)) = other.error {
            self.fail(path, error);
        }
    }

    /// Returns the listing, or the first failure.
    pub(crate) fn into_listed(self) -> Result<TreeListing, TreeError> {
        if let Some((_, error)) = self.error {
            return Err(error);
        }
        let mut listed = self.listed;
        // The lists grew by doubling. Their spare room would stay allocated while the files are read.
        listed.items.shrink_to_fit();
        listed.directories.shrink_to_fit();
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

    fn limit(&mut self, path: &str, limit: TreeLimit, max: usize) {
        let max = u64::try_from(max).unwrap_or(u64::MAX);
        self.problem(path, TreeProblemKind::Limit { limit, max });
        self.listed.is_partial = true;
    }
}

impl ListingRules<'_> {
    /// Lists one directory and checks its entries. Returns their number without the excluded ones.
    pub(crate) fn visit(
        &self,
        path: Box<str>,
        room: usize,
        found: &mut PartialListing,
        directories: &mut Vec<Box<str>>,
    ) -> usize {
        // Excluded names occur only at the root and do not count. One entry more than the rest of the limit is
        // requested, so that exceeding the limit is detected.
        let at_root = path.is_empty().then_some(self.exclude);
        let max =
            room.saturating_add(at_root.map_or(0, |exclude| exclude.unread().count())).saturating_add(1);
        let (listing, meta) = match list_directory(self.jail, &path, max) {
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
            // The caller refuses the whole tree, so the entries need no checks.
            return count;
        }
        if cfg!(unix) && meta.mode() & 0o002 != 0 {
            found.listed.warnings.push(TreeWarning::new(&*path, TreeWarningKind::WritableByOthers));
        }
        self.collisions(&path, &listing, found);
        let depth = if path.is_empty() { 1 } else { path.split('/').count() + 1 };
        let mut below =
            EntryChecker { rules: self, directory: &path, depth, found: &mut *found, directories };
        for entry in listing.entries().iter().filter(|entry| !is_left_out(entry.name())) {
            below.entry(entry.name(), entry.kind());
        }
        let fingerprint = fingerprint(&listing, at_root);
        found.listed.directories.push(ListedDirectory {
            path,
            fingerprint,
            id: meta.id(),
            second: SecondListing::Same,
        });
        count
    }

    /// Reports the later of two names that are the same name on another system.
    ///
    /// Comparing siblings is sufficient: two paths have the same key only if all their components have. An empty
    /// directory is not part of the digest, but a file can be added to it later, so it is compared as well.
    fn collisions(&self, directory: &str, listing: &Listing, found: &mut PartialListing) {
        let names = || listing.entries().iter().filter_map(|entry| name::text(entry.name()));
        // If every name is its own key, the keys are distinct because the names are.
        if names().all(name::is_own_key) && (!directory.is_empty() || self.exclude.unread().next().is_none())
        {
            return;
        }
        let mut keys: BTreeMap<String, &str> = BTreeMap::new();
        if directory.is_empty() {
            // A name that another system treats as an excluded one would be part of the digest on this system only.
            keys.extend(self.exclude.unread().map(|name| (name::collision_key(name), name)));
        }
        for name in names() {
            let earlier = *keys.entry(name::collision_key(name)).or_insert(name);
            if earlier != name {
                let with =
                    if directory.is_empty() { earlier.to_owned() } else { format!("{directory}/{earlier}") };
                let path = if directory.is_empty() { name.to_owned() } else { format!("{directory}/{name}") };
                found.problem(path, TreeProblemKind::Collision { with });
            }
        }
    }
}

/// Checks the entries of one directory one by one.
struct EntryChecker<'a> {
    rules: &'a ListingRules<'a>,
    directory: &'a str,
    /// The number of components in the path of an entry.
    depth: usize,
    found: &'a mut PartialListing,
    directories: &'a mut Vec<Box<str>>,
}

impl EntryChecker<'_> {
    fn entry(&mut self, name: &[u8], kind: FileKind) {
        let Some(text) = name::text(name) else {
            self.found.listed.is_partial |= kind == FileKind::Directory;
            let path = joined(self.directory.as_bytes(), name);
            self.found.problem(path, TreeProblemKind::Name);
            return;
        };
        let path = if self.directory.is_empty() { text.to_owned() } else { path_below(self.directory, text) };
        let limits = self.rules.limits;
        if path.len() > limits.path_bytes {
            return self.found.limit(&path, TreeLimit::PathBytes, limits.path_bytes);
        }
        if self.depth > limits.depth {
            return self.found.limit(&path, TreeLimit::Depth, limits.depth);
        }
        if let Some(why) = name::not_portable(text) {
            self.found
                .listed
                .warnings
                .push(TreeWarning::new(path.as_str(), TreeWarningKind::NotPortable { why }));
        }
        if self.directory.is_empty() && matches!(text, ".git" | ".hg" | ".jj" | ".svn") {
            self.found.listed.warnings.push(TreeWarning::new(text, TreeWarningKind::VcsDirectory));
        }
        self.kind(path.into(), kind);
    }

    fn kind(&mut self, path: Box<str>, kind: FileKind) {
        let state = match kind {
            FileKind::File => ItemState::Listed,
            FileKind::Directory => {
                self.directories.push(path);
                return;
            }
            FileKind::Symlink => match self.rules.jail.read_link(&*path) {
                Ok(target) => {
                    let size = u64::try_from(target.len()).unwrap_or(u64::MAX);
                    let sum = &mut self.found.listed.link_bytes;
                    *sum = sum.saturating_add(size);
                    ItemState::Link(target.into())
                }
                Err(error) if report_error(self.rules.jail, &path, &error) => {
                    ItemState::Fault(TreeProblemKind::ChangedWhileRead)
                }
                Err(error) => {
                    let error = TreeError::io(path.as_bytes(), error);
                    return self.found.fail(path, error);
                }
            },
            other => ItemState::Fault(TreeProblemKind::SpecialFile { what: special(other) }),
        };
        self.found.listed.items.push(Item { path, state });
    }
}

fn joined(directory: &[u8], name: &[u8]) -> Vec<u8> {
    if directory.is_empty() { name.to_vec() } else { [directory, b"/", name].concat() }
}

/// Joins two parts in one allocation of the exact size, because every entry needs one.
fn path_below(directory: &str, name: &str) -> String {
    [directory, "/", name].concat()
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
