//! Roots of a check, and the part of the file system that counts for a plugin.

use std::cell::RefCell;
use std::collections::BTreeMap;

use plugward_commands::PathText;
use plugward_pinstore::DirectoryId;
use plugward_sandbox_path::{FileKind, Jail};
use plugward_types::PlacePath;

/// Directories and files that mark a project. A worktree has a `.git` file.
const PROJECT_MARKS: [&str; 4] = [".git", ".hg", ".jj", ".svn"];
/// The directory that marks a project for plugward alone.
const OWN_MARK: &str = ".plugward";
/// The permission bit that lets other users write. A directory with it could contain planted files.
const OTHERS_WRITE: u32 = 0o002;

/// A directory in which to look for plugins.
///
/// The directory only selects plugins. The lockfile, marketplace file and shared directories of a plugin
/// are found from the plugin's own place, upward as far as `jail` reaches.
#[derive(Debug, Clone)]
#[expect(clippy::exhaustive_structs, reason = "every caller must decide where a check can look")]
pub struct Root {
    /// The name of the directory in reports; not an absolute path.
    pub label: String,
    /// An open directory that is the searched one or contains it.
    pub jail: Jail,
    /// The real path of `jail`.
    pub top: PlacePath,
    /// The directory to search, relative to `jail`; `.` for the jail itself.
    pub dir: String,
    /// The absolute form of the path that the user typed, if it leads through symlinks. It finds a pinned
    /// directory that became a symlink.
    pub typed: Option<PlacePath>,
    /// Directories at which the upward search for a project stops, such as the home directory.
    pub stops: Vec<PlacePath>,
    /// The places of the root that are checked.
    pub search: RootSearch,
}

/// The places of a root that are checked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "every caller must decide where a check can look")]
pub enum RootSearch {
    /// All plugins inside the directory, and what hosts would load of it.
    Below,
    /// What hosts would load under this label; no directory is searched.
    Recorded,
    /// The directory or file itself, with or without a manifest.
    Only,
}

impl Root {
    /// Creates a root for one open directory, without anything above it. `path` is its real path, which
    /// becomes part of keys.
    #[must_use]
    pub fn placed(jail: Jail, path: PlacePath) -> Self {
        let label = if path.name().is_empty() { "root".to_owned() } else { path.name().to_owned() };
        Self {
            label,
            jail,
            top: path,
            dir: ".".to_owned(),
            typed: None,
            stops: Vec::new(),
            search: RootSearch::Below,
        }
    }

    /// Returns the real path of the searched directory.
    #[must_use]
    pub fn real(&self) -> PlacePath {
        self.top.join(&self.dir).unwrap_or_else(|_| self.top.clone())
    }

    /// Returns the path of a place relative to the jail, or `None` if it is outside.
    pub(crate) fn inside<'p>(&self, place: &'p PlacePath) -> Option<&'p str> {
        place.relative_to(&self.top)
    }
}

/// The directories around a plugin that count for it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Reach {
    /// The topmost directory, relative to the root's jail.
    pub(crate) top: String,
    /// Like `top`, but not limited by a project. A planted project mark must not hide what a directory
    /// further up says.
    pub(crate) outer: String,
    /// The project that is or contains the plugin, relative to the root's jail.
    pub(crate) project: Option<String>,
}

/// The directories that the upward search has read. Plugins of one project share them, so each is read
/// once.
#[derive(Debug, Default)]
pub(crate) struct Upward {
    seen: RefCell<BTreeMap<String, Level>>,
}

/// One directory above a plugin.
#[derive(Debug, Clone, Copy)]
struct Level {
    /// `None` if the search stops at this directory.
    device: Option<u64>,
    mark: Mark,
}

/// Whether a directory is marked as a project.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mark {
    Project,
    None,
}

impl Upward {
    /// Finds the project of a directory, and how far up lockfiles, marketplace files and shared directories count.
    ///
    /// A mark inside the directory itself counts only if there is no project above. Otherwise a plugin
    /// could cut itself off from the lockfile of the repository around it.
    pub(crate) fn reach(&self, root: &Root, dir: &str) -> Reach {
        let mut outer = dir.to_owned();
        let mut device = device_of(root, dir);
        let mut project = None;
        for above in ancestors(dir) {
            let level = self.level(root, above);
            if level.device.is_none() || level.device != device {
                break;
            }
            above.clone_into(&mut outer);
            device = level.device;
            if project.is_none() && level.mark == Mark::Project {
                project = Some(outer.clone());
            }
        }
        let top = project.clone().unwrap_or_else(|| outer.clone());
        let project = project.or_else(|| is_project(root, dir).then(|| dir.to_owned()));
        Reach { top, outer, project }
    }

    fn level(&self, root: &Root, dir: &str) -> Level {
        if let Some(level) = self.seen.borrow().get(dir) {
            return *level;
        }
        let device = searchable(root, dir);
        let mark = if device.is_some() && is_project(root, dir) { Mark::Project } else { Mark::None };
        let level = Level { device, mark };
        self.seen.borrow_mut().insert(dir.to_owned(), level);
        level
    }
}

/// Finds the reach of a single directory; see [`Upward::reach`].
pub(crate) fn reach(root: &Root, dir: &str) -> Reach {
    Upward::default().reach(root, dir)
}

/// Returns the real path of the project that is or contains a root's directory.
#[must_use]
pub fn project_of(root: &Root) -> Option<PlacePath> {
    let project = reach(root, &root.dir).project?;
    root.top.join(&project).ok()
}

/// Returns the device of a directory above a plugin, or `None` if the search stops there.
fn searchable(root: &Root, dir: &str) -> Option<u64> {
    let path = root.top.join(dir).ok()?;
    if path.as_str() == "/" || root.stops.contains(&path) {
        return None;
    }
    let meta = root.jail.metadata(dir).ok()?;
    (meta.mode() & OTHERS_WRITE == 0).then(|| meta.id().device())
}

/// Returns the device of a directory. `None` equals no device, so the search stops.
fn device_of(root: &Root, dir: &str) -> Option<u64> {
    root.jail.metadata(dir).ok().map(|meta| meta.id().device())
}

pub(crate) fn is_project(root: &Root, dir: &str) -> bool {
    // Five lookups in an open directory: below the root, each that finds nothing would look up the directory again.
    let Ok(directory) = root.jail.subjail(dir) else { return false };
    let kind = |name: &str| directory.metadata(name).map(|meta| meta.kind());
    PROJECT_MARKS.iter().any(|mark| matches!(kind(mark), Ok(FileKind::File | FileKind::Directory)))
        || matches!(kind(OWN_MARK), Ok(FileKind::Directory))
}

/// Lists the directories above one, the nearest first, ending with `.`.
pub(crate) fn ancestors(dir: &str) -> impl Iterator<Item = &str> {
    let mut rest = (dir != ".").then_some(dir);
    core::iter::from_fn(move || {
        let current = rest?;
        let above = current.rsplit_once('/').map_or(".", |(above, _)| above);
        rest = (above != ".").then_some(above);
        Some(above)
    })
}

/// Joins two relative paths, where `.` is the empty path.
pub(crate) fn join(dir: &str, name: &str) -> String {
    match (dir, name) {
        (dir, "." | "") => dir.to_owned(),
        (".", name) => name.to_owned(),
        (dir, name) => format!("{dir}/{name}"),
    }
}

/// Removes `.` of an absolute path, and each `..` with the component before it.
pub(crate) fn normalized(path: &str) -> String {
    PathText::new(&format!("/{path}")).normalized().to_string()
}

/// Returns the rest of a path inside a directory: `.` for the directory itself, `None` outside it.
pub(crate) fn inside<'p>(path: &'p str, dir: &str) -> Option<&'p str> {
    match path.strip_prefix(dir) {
        _ if dir == "." => Some(path),
        Some("") => Some("."),
        Some(rest) => rest.strip_prefix('/'),
        None => None,
    }
}

/// Returns the identity of an open directory, if its file system stores birth times.
pub(crate) fn directory_id(jail: &Jail) -> Option<DirectoryId> {
    let birth = jail.birth()?;
    let seconds = u64::try_from(birth.seconds()).ok()?;
    let nanoseconds = seconds.checked_mul(1_000_000_000)?.checked_add(u64::from(birth.nanos()))?;
    Some(DirectoryId::new(jail.id().inode(), nanoseconds))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_join_and_part_at_slashes() {
        assert_eq!(ancestors("a/b/c").collect::<Vec<_>>(), ["a/b", "a", "."]);
        assert_eq!(ancestors("a").collect::<Vec<_>>(), ["."]);
        assert_eq!(ancestors(".").count(), 0);
        assert_eq!(inside("a/b", "a"), Some("b"));
        assert_eq!(inside("a", "a"), Some("."));
        assert_eq!(inside("ab", "a"), None);
        assert_eq!(inside("a/b", "."), Some("a/b"));
        assert_eq!(join(".", "a"), "a");
        assert_eq!(join("a", "."), "a");
    }
}
