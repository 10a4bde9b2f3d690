//! The directories of a project, searched for those in which a host keeps files of its own.

use std::collections::{BTreeMap, BTreeSet};

use plugward_sandbox_path::{ErrorClass, FileKind, Jail, Listing, Metadata};

use crate::discovery::discover::CONTROL;
use crate::discovery::roots::join;
use crate::report::text::plain;

/// The directories that are searched. The limits bound the time that a planted tree can cost.
const DIRECTORIES: usize = 50_000;
/// The entries of one directory that are read.
const ENTRIES: usize = 200_000;
/// Directories of installed packages and build results, which hosts do not search.
pub(crate) const PASSED: [&str; 2] = ["node_modules", "target"];
/// The directories of hosts. Their contents are rows of their own, so nothing inside them is searched.
const HOSTS: [&str; 6] = [".agents", ".claude", ".codex", ".cursor", ".gemini", ".github"];
/// A directory that changed this long before the search can change again without a new time.
const FINE_CLOCK: u64 = 20_000_000;
/// The same on file systems that store whole seconds.
const COARSE_CLOCK: u64 = 2_000_000_000;

/// The directories of a project with their times, and those among them that contain a directory of a host.
///
/// It only says where to look and is never a grant: what is found is read and judged at each check.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ProjectDirectories {
    /// The searched directories, relative to the project, with a text that changes when the entries do. It is empty
    /// for a directory that has to be searched again.
    pub times: BTreeMap<String, String>,
    /// The directories of hosts, such as `packages/a/.claude`.
    pub hosts: BTreeSet<String>,
    /// The places that were not searched, with the reasons.
    pub unsearched: Vec<(String, String)>,
    /// The number of directories whose entries were read.
    pub read: usize,
}

impl ProjectDirectories {
    /// Searches a directory of a jail without following symlinks. Of a directory that is unchanged since `known` was
    /// made, only the time is read.
    ///
    /// `now` is the current time in nanoseconds since 1970.
    #[must_use]
    pub fn search(jail: &Jail, dir: &str, known: Option<&Self>, now: u64) -> Self {
        let known = known.map(Known::of);
        let mut found = Self::default();
        let mut waiting = vec![".".to_owned()];
        while let Some(path) = waiting.pop() {
            if found.times.len() >= DIRECTORIES {
                let why =
                    format!("more than {DIRECTORIES} directories, so this one and others were not searched");
                found.unsearched.push((path, why));
                break;
            }
            found.visit(jail, dir, path, known.as_ref(), now, &mut waiting);
        }
        found
    }

    fn visit(
        &mut self,
        jail: &Jail,
        dir: &str,
        path: String,
        known: Option<&Known<'_>>,
        now: u64,
        waiting: &mut Vec<String>,
    ) {
        let full = join(dir, &path);
        // The time is read before the entries: a change in between then has a later time.
        let meta = match jail.metadata(full.as_str()) {
            Ok(meta) if meta.kind() == FileKind::Directory => meta,
            // It was replaced meanwhile, and is not a directory any more.
            Ok(_) => return,
            Err(error) if error.class() == ErrorClass::NotFound => return,
            Err(error) => return self.unsearched.push((path, plain(&error.to_string()).into_owned())),
        };
        let time = time_of(&meta);
        if let Some(known) = known.filter(|known| known.is_unchanged(&path, &time)) {
            waiting.extend(known.children(&path).map(str::to_owned));
            self.hosts.extend(known.hosts(&path).map(str::to_owned));
            self.times.insert(path, time);
            return;
        }
        self.read = self.read.saturating_add(1);
        match jail.list(full.as_str(), ENTRIES) {
            Ok(listing) => self.enter(&path, &listing, waiting),
            // The host runs as the same user, and cannot read it either.
            Err(error) if matches!(error.code(), "path/denied" | "path/not-found") => {}
            Err(error) => return self.unsearched.push((path, plain(&error.to_string()).into_owned())),
        }
        self.times.insert(path, if is_settled(&meta, now) { time } else { String::new() });
    }

    fn enter(&mut self, path: &str, listing: &Listing, waiting: &mut Vec<String>) {
        if listing.is_truncated() {
            self.unsearched.push((path.to_owned(), format!("more than {ENTRIES} entries")));
        }
        let directories = listing.entries().iter().filter(|entry| entry.kind() == FileKind::Directory);
        for entry in directories {
            match entry.name_str() {
                Some(name) if CONTROL.contains(&name) || PASSED.contains(&name) => {}
                Some(name) if HOSTS.contains(&name) => _ = self.hosts.insert(join(path, name)),
                // A line break separates the paths of a stored list.
                Some(name) if !name.contains(['\n', '\r']) => waiting.push(join(path, name)),
                Some(_) | None => {
                    let shown = join(path, &plain(&entry.to_string()));
                    self.unsearched.push((shown, "its name is not plain text".to_owned()));
                }
            }
        }
    }
}

/// The directories of an earlier search, by the directory that contains them.
struct Known<'k> {
    times: &'k BTreeMap<String, String>,
    children: BTreeMap<&'k str, Vec<&'k str>>,
    hosts: BTreeMap<&'k str, Vec<&'k str>>,
}

impl<'k> Known<'k> {
    fn of(earlier: &'k ProjectDirectories) -> Self {
        let mut known = Self { times: &earlier.times, children: BTreeMap::new(), hosts: BTreeMap::new() };
        for path in earlier.times.keys().filter(|path| *path != ".") {
            known.children.entry(parent(path)).or_default().push(path);
        }
        for path in &earlier.hosts {
            known.hosts.entry(parent(path)).or_default().push(path);
        }
        known
    }

    fn is_unchanged(&self, path: &str, time: &str) -> bool {
        self.times.get(path).is_some_and(|known| known == time)
    }

    fn children(&self, path: &str) -> impl Iterator<Item = &'k str> {
        self.children.get(path).into_iter().flatten().copied()
    }

    fn hosts(&self, path: &str) -> impl Iterator<Item = &'k str> {
        self.hosts.get(path).into_iter().flatten().copied()
    }
}

fn parent(path: &str) -> &str {
    path.rsplit_once('/').map_or(".", |(above, _)| above)
}

/// Returns the identity of a directory and the time of its last change, which only the system sets.
fn time_of(meta: &Metadata) -> String {
    let (changed, id) = (meta.changed(), meta.id());
    format!("{}.{:09}-{}", changed.seconds(), changed.nanos(), id.inode())
}

/// Returns `true` if a later change of the directory has another time.
fn is_settled(meta: &Metadata, now: u64) -> bool {
    let changed = meta.changed();
    let seconds = u64::try_from(changed.seconds()).unwrap_or(u64::MAX);
    let at = seconds.saturating_mul(1_000_000_000).saturating_add(u64::from(changed.nanos()));
    let clock = if changed.nanos() == 0 { COARSE_CLOCK } else { FINE_CLOCK };
    at.saturating_add(clock) < now
}
