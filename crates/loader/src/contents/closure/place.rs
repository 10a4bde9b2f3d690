//! Where a path leads: each component is looked up in the jail, and symlinks are followed inside it.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use plugward_sandbox_path::{ErrorClass, FileKind, Jail, Metadata};
use plugward_types::PlacePath;

use super::MOST_BYTES;
use crate::contents::hash::sha256;
use crate::discovery::discover::NAMES;
pub(crate) use crate::discovery::roots::normalized;

/// The most symlinks on the way to one file, as on Linux.
const MOST_HOPS: usize = 40;
/// The permission bits that let a group and other users write, and the bit that keeps others from replacing entries.
const GROUP_WRITES: u32 = 0o020;
const OTHERS_WRITE: u32 = 0o002;
const STICKY: u32 = 0o1000;
/// The permission bits with which a file can be started.
const EXECUTE: u32 = 0o111;
/// Directories of the system. If the caller is root, ownership does not tell them from the files of any program.
const SYSTEM: [&str; 9] = ["/bin", "/etc", "/lib", "/lib64", "/nix", "/sbin", "/usr", "/System", "/Library"];

/// The object that a path leads to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Landing {
    File {
        is_executable: bool,
        len: u64,
    },
    Directory,
    Absent,
    /// A pipe, socket or device.
    Special(String),
    /// Another error, such as missing permissions.
    Unreadable(String),
    /// The path leaves the jail, or its symlinks have no end.
    Elsewhere,
}

/// A path without symlinks, and what was seen on the way.
#[derive(Debug, Clone)]
pub(crate) struct Landed {
    /// The absolute path, as far as it could be resolved.
    pub(crate) path: String,
    pub(crate) landing: Landing,
    /// The symlinks on the way, with their targets.
    pub(crate) links: Vec<(String, String)>,
    /// Whether only root can change what the path leads to.
    pub(crate) is_roots: bool,
    /// The first directory on the way that another user can change, with the cause.
    pub(crate) exposed: Option<(String, &'static str)>,
}

/// What cannot be opened through the jail.
const UNREACHABLE: &str = "it is outside of what can be opened";

/// Why there is no metadata for a path.
#[derive(Debug, Clone)]
enum Obstacle {
    /// A symlink, with its target if that is text.
    Symlink(Option<String>),
    Other(Landing),
}

/// The files outside of plugins that a run has read, by absolute path. Several rows can reach one, and each judges the
/// same bytes.
#[derive(Debug, Default)]
pub(crate) struct OutsideFiles(RefCell<BTreeMap<String, Arc<[u8]>>>);

/// The files of the machine, as far as a jail reaches.
pub(crate) struct Places<'a> {
    jail: &'a Jail,
    top: &'a PlacePath,
    files: &'a OutsideFiles,
    /// The users whose directories are trusted besides root.
    owners: Vec<u32>,
    seen: RefCell<BTreeMap<String, Result<Metadata, Obstacle>>>,
    /// The results for paths. Most scripts of a directory name the same ones.
    landed: RefCell<BTreeMap<String, Landed>>,
    /// The names in directories.
    listed: RefCell<BTreeMap<String, Result<Vec<String>, String>>>,
    /// The files that were read.
    read: RefCell<BTreeSet<String>>,
}

/// What was looked up of a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Lookup {
    Metadata,
    Contents,
    Names,
}

impl<'a> Places<'a> {
    pub(crate) fn new(
        jail: &'a Jail,
        top: &'a PlacePath,
        files: &'a OutsideFiles,
        user: Option<u32>,
    ) -> Self {
        let owners = user.into_iter().collect();
        Self {
            jail,
            top,
            files,
            owners,
            seen: RefCell::default(),
            landed: RefCell::default(),
            listed: RefCell::default(),
            read: RefCell::default(),
        }
    }

    /// Trusts the owner of a directory, such as the top of a project.
    pub(crate) fn trust_owner_of(&mut self, directory: &str) {
        if let Ok(meta) = self.metadata(directory) {
            self.owners.push(meta.uid());
        }
    }

    /// Returns a path relative to the jail.
    pub(crate) fn relative<'p>(&self, path: &'p str) -> Option<&'p str> {
        let rest = inside(path, self.top.as_str())?;
        Some(if rest.is_empty() { "." } else { rest })
    }

    /// Returns the metadata of one object.
    fn metadata(&self, path: &str) -> Result<Metadata, Obstacle> {
        if let Some(known) = self.seen.borrow().get(path) {
            return known.clone();
        }
        let found = match self.relative(path) {
            None => Err(Obstacle::Other(Landing::Elsewhere)),
            Some(relative) => self.jail.metadata(relative).map_err(|error| match error.code() {
                "path/symlink" => {
                    let target = self.jail.read_link(relative).ok();
                    Obstacle::Symlink(target.and_then(|bytes| String::from_utf8(bytes).ok()))
                }
                "path/not-a-directory" => Obstacle::Other(Landing::Absent),
                _ if error.class() == ErrorClass::NotFound => Obstacle::Other(Landing::Absent),
                _ => Obstacle::Other(Landing::Unreadable(error.to_string())),
            }),
        };
        self.seen.borrow_mut().insert(path.to_owned(), found.clone());
        found
    }

    /// Follows an absolute path.
    pub(crate) fn land(&self, path: &str) -> Landed {
        if let Some(known) = self.landed.borrow().get(path) {
            return known.clone();
        }
        let landed = self.follow(path);
        self.landed.borrow_mut().insert(path.to_owned(), landed.clone());
        landed
    }

    fn follow(&self, path: &str) -> Landed {
        let mut rest: Vec<String> = path.split('/').rev().map(str::to_owned).collect();
        let mut at: Vec<String> = Vec::new();
        let mut landed = Landed {
            path: String::new(),
            landing: Landing::Directory,
            links: Vec::new(),
            is_roots: true,
            exposed: None,
        };
        while let Some(part) = rest.pop() {
            match part.as_str() {
                "" | "." => continue,
                ".." => {
                    at.pop();
                    landed.landing = Landing::Directory;
                    continue;
                }
                _ => at.push(part),
            }
            let here = format!("/{}", at.join("/"));
            // Above the jail there are only directories, since the path of its top is real.
            if inside(self.top.as_str(), &here).is_some() && here != self.top.as_str() {
                continue;
            }
            match self.metadata(&here) {
                Ok(meta) => {
                    landed.look(&here, &meta, &self.owners);
                    landed.landing = match meta.kind() {
                        FileKind::Directory => Landing::Directory,
                        FileKind::File => {
                            Landing::File { is_executable: meta.mode() & EXECUTE != 0, len: meta.len() }
                        }
                        kind => Landing::Special(kind.to_string()),
                    };
                    if landed.landing != Landing::Directory && !rest.is_empty() {
                        landed.landing = Landing::Absent;
                        break;
                    }
                }
                Err(Obstacle::Symlink(Some(target))) if landed.links.len() < MOST_HOPS => {
                    at.pop();
                    if target.starts_with('/') {
                        at.clear();
                    }
                    rest.extend(target.split('/').rev().map(str::to_owned));
                    landed.links.push((here, target));
                    landed.landing = Landing::Directory;
                }
                Err(Obstacle::Symlink(_)) => {
                    landed.landing = Landing::Elsewhere;
                    break;
                }
                Err(Obstacle::Other(landing)) => {
                    landed.landing = landing;
                    break;
                }
            }
        }
        let open = rest.iter().rev().filter(|part| !matches!(part.as_str(), "" | "."));
        landed.path = format!("/{}", at.iter().chain(open).cloned().collect::<Vec<_>>().join("/"));
        landed
    }

    /// Reads a file, at most once in a run.
    pub(crate) fn read(&self, path: &str, limit: u64) -> Result<Arc<[u8]>, String> {
        self.read.borrow_mut().insert(path.to_owned());
        let known = self.files.0.borrow().get(path).cloned();
        if let Some(bytes) = known.filter(|bytes| u64::try_from(bytes.len()).is_ok_and(|len| len <= limit)) {
            return Ok(bytes);
        }
        let relative = self.relative(path).ok_or(UNREACHABLE)?;
        let bytes: Arc<[u8]> = self.jail.read(relative, limit).map_err(|error| error.to_string())?.into();
        self.files.0.borrow_mut().insert(path.to_owned(), Arc::clone(&bytes));
        Ok(bytes)
    }

    /// Returns what was looked up so far, in the order of the paths.
    pub(super) fn lookups(&self) -> Vec<(Lookup, String)> {
        let looked = self.seen.borrow();
        let (read, listed) = (self.read.borrow(), self.listed.borrow());
        let all = looked.keys().map(|path| (Lookup::Metadata, path));
        let all = all.chain(read.iter().map(|path| (Lookup::Contents, path)));
        let all = all.chain(listed.keys().map(|path| (Lookup::Names, path)));
        all.map(|(kind, path)| (kind, path.clone())).collect()
    }

    /// Returns a text that is the same as long as a lookup has the same result, or `None` if it failed.
    pub(super) fn trace(&self, kind: Lookup, path: &str) -> Option<String> {
        Some(match kind {
            Lookup::Metadata => match self.metadata(path) {
                Ok(meta) => format!("{} {} {:o}", meta.kind(), meta.uid(), meta.mode()),
                Err(obstacle) => format!("{obstacle:?}"),
            },
            Lookup::Contents => sha256(&self.read(path, MOST_BYTES).ok()?).to_string(),
            Lookup::Names => sha256(self.names(path).ok()?.join("/").as_bytes()).hex(),
        })
    }

    /// Returns the names in a directory, sorted. A name that is not UTF-8 contains U+FFFD.
    ///
    /// The error says why there are none: the directory cannot be listed, or has too many names.
    pub(crate) fn names(&self, path: &str) -> Result<Vec<String>, String> {
        if let Some(known) = self.listed.borrow().get(path) {
            return known.clone();
        }
        let names = self.list(path);
        self.listed.borrow_mut().insert(path.to_owned(), names.clone());
        names
    }

    fn list(&self, path: &str) -> Result<Vec<String>, String> {
        let relative = self.relative(path).ok_or(UNREACHABLE)?;
        let listing = self.jail.list(relative, NAMES).map_err(|error| error.to_string())?;
        if listing.is_truncated() {
            return Err(format!("it has more than {NAMES} names"));
        }
        let name = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        Ok(listing.entries().iter().map(|entry| name(entry.name())).collect())
    }

    /// Returns `true` if a path leads to a regular file.
    pub(crate) fn is_file(&self, path: &str) -> bool {
        self.land(path).is_file()
    }

    /// Returns `true` if only the system's own programs can change what a path leads to.
    pub(crate) fn is_system(&self, landed: &Landed) -> bool {
        let is_root = self.owners.contains(&0);
        let system = SYSTEM.iter().any(|top| inside(&landed.path, top).is_some());
        landed.is_roots && (!is_root || system)
    }
}

impl Landed {
    /// Returns `true` for a regular file.
    pub(crate) const fn is_file(&self) -> bool {
        matches!(self.landing, Landing::File { .. })
    }

    /// Notes who can change one object on the way.
    fn look(&mut self, path: &str, meta: &Metadata, owners: &[u32]) {
        let mode = meta.mode();
        let others = mode & OTHERS_WRITE != 0 && mode & STICKY == 0;
        self.is_roots &= meta.uid() == 0 && mode & (GROUP_WRITES | OTHERS_WRITE) == 0;
        if self.exposed.is_none() && meta.kind() == FileKind::Directory {
            if others {
                self.exposed = Some((path.to_owned(), "every user can write"));
            } else if meta.uid() != 0 && !owners.is_empty() && !owners.contains(&meta.uid()) {
                self.exposed = Some((path.to_owned(), "another user owns"));
            }
        }
    }
}

/// Returns the part of an absolute path inside a directory; empty for the directory itself.
pub(crate) fn inside<'p>(path: &'p str, directory: &str) -> Option<&'p str> {
    let rest = path.strip_prefix(directory.trim_end_matches('/'))?;
    if rest.is_empty() { Some("") } else { rest.strip_prefix('/') }
}

/// Returns the directory of an absolute path.
pub(crate) fn directory(path: &str) -> &str {
    match path.rsplit_once('/') {
        Some(("", _)) | None => "/",
        Some((directory, _)) => directory,
    }
}
