//! A machine in memory.

use std::collections::{BTreeMap, BTreeSet};

use plugward_installs::{
    EntryKind, HostEntry, HostFiles, HostInventory, HostTable, Install, InstallContents, InstallProblem,
    InstallProblemKind, KnownHost, Machine, ReadFault, read_host,
};
use plugward_types::PlacePath;

pub(crate) const HOME: &str = "/home/u";
pub(crate) const SITE: &str = "/home/u/site";

/// The id of a row.
pub(crate) trait HostId: Copy {
    fn id(&self) -> &str;
}

impl HostId for KnownHost {
    fn id(&self) -> &str {
        self.as_str()
    }
}

impl HostId for &str {
    fn id(&self) -> &str {
        self
    }
}

/// A machine with files in memory. Directories exist if something is in them.
#[derive(Default, Clone)]
pub(crate) struct Home {
    files: BTreeMap<String, Vec<u8>>,
    links: BTreeMap<String, String>,
    directories: BTreeSet<String>,
    faults: BTreeSet<String>,
    environment: BTreeMap<String, String>,
    project: Option<String>,
    directory: Option<String>,
    nested: Vec<PlacePath>,
}

impl Home {
    pub(crate) fn new() -> Self {
        Self::default().directory(HOME)
    }

    pub(crate) fn file(mut self, path: &str, text: impl Into<Vec<u8>>) -> Self {
        self.files.insert(full(path), text.into());
        let parent = full(path).rsplit_once('/').map(|(parent, _)| parent.to_owned());
        self.directory(&parent.unwrap())
    }

    pub(crate) fn directory(mut self, path: &str) -> Self {
        let path = full(path);
        for (at, _) in path.match_indices('/').skip(1) {
            self.directories.insert(path[..at].to_owned());
        }
        self.directories.insert(path);
        self
    }

    pub(crate) fn link(self, path: &str, target: &str) -> Self {
        let parent = full(path).rsplit_once('/').unwrap().0.to_owned();
        let mut home = self.directory(&parent);
        home.links.insert(full(path), full(target));
        home
    }

    pub(crate) fn fault(mut self, path: &str) -> Self {
        self.faults.insert(full(path));
        self
    }

    pub(crate) fn variable(mut self, name: &str, value: &str) -> Self {
        self.environment.insert(name.to_owned(), value.to_owned());
        self
    }

    pub(crate) fn project(mut self, project: &str, directory: &str) -> Self {
        self.project = Some(full(project));
        self.directory = Some(full(directory));
        self.directory(project).directory(directory)
    }

    pub(crate) fn nested(mut self, path: &str) -> Self {
        self.nested.push(PlacePath::new(&full(path)).unwrap());
        self
    }

    pub(crate) fn try_read(&self, host: impl HostId) -> Option<HostInventory> {
        self.try_read_in(HostTable::compiled().unwrap(), host)
    }

    pub(crate) fn try_read_in(&self, table: &HostTable, host: impl HostId) -> Option<HostInventory> {
        let place = |path: &Option<String>| path.as_ref().map(|path| PlacePath::new(path).unwrap());
        let (project, directory) = (place(&self.project), place(&self.directory));
        let machine = Machine {
            home: HOME,
            environment: &self.environment,
            project: project.as_ref(),
            directory: directory.as_ref(),
            nested: &self.nested,
            unsearched: &[],
            files: self,
        };
        read_host(table.row(host.id()).expect("a row"), &machine)
    }

    pub(crate) fn read(&self, host: impl HostId) -> HostInventory {
        self.try_read(host).expect("the host is on this machine")
    }

    /// Follows symlinks in all parts of a path, at most 40.
    fn resolve(&self, path: &str) -> Option<String> {
        let mut waiting: Vec<String> = path.split('/').rev().map(ToOwned::to_owned).collect();
        let mut real = String::new();
        let mut followed = 0;
        while let Some(part) = waiting.pop() {
            match part.as_str() {
                "" | "." => continue,
                ".." => {
                    real.truncate(real.rfind('/').unwrap_or(0));
                    continue;
                }
                _ => {}
            }
            let next = format!("{real}/{part}");
            if let Some(target) = self.links.get(&next) {
                followed += 1;
                if followed > 40 {
                    return None;
                }
                real.clear();
                waiting.extend(target.split('/').rev().map(ToOwned::to_owned));
            } else if self.files.contains_key(&next) || self.directories.contains(&next) {
                real = next;
            } else {
                return None;
            }
        }
        Some(if real.is_empty() { "/".to_owned() } else { real })
    }
}

/// Returns a path with `~` replaced.
pub(crate) fn full(path: &str) -> String {
    path.strip_prefix('~').map_or_else(|| path.to_owned(), |rest| format!("{HOME}{rest}"))
}

impl HostFiles for Home {
    fn read(&self, path: &str) -> Result<Option<Vec<u8>>, ReadFault> {
        let Some(real) = self.resolve(path) else { return Ok(None) };
        if self.faults.contains(path) || self.faults.contains(&real) {
            return Err(ReadFault::new("others can write it", "run: chmod go-w FILE"));
        }
        match self.files.get(&real) {
            Some(bytes) => Ok(Some(bytes.clone())),
            None => Err(ReadFault::new("not a regular file", "remove it")),
        }
    }

    fn list(&self, path: &str) -> Result<Option<Vec<HostEntry>>, ReadFault> {
        let Some(real) = self.resolve(path).filter(|real| self.directories.contains(real)) else {
            return Ok(None);
        };
        if self.faults.contains(&real) {
            return Err(ReadFault::new("permission denied", "run: chmod u+rx DIRECTORY"));
        }
        let inside = |path: &str| {
            path.rsplit_once('/').filter(|(parent, _)| *parent == real).map(|(_, name)| name.to_owned())
        };
        let of = |name, kind| HostEntry { name, kind };
        let files = self.files.keys().filter_map(|path| inside(path)).map(|name| of(name, EntryKind::File));
        let links =
            self.links.keys().filter_map(|path| inside(path)).map(|name| of(name, EntryKind::Symlink));
        let directories = self
            .directories
            .iter()
            .filter_map(|path| inside(path))
            .map(|name| of(name, EntryKind::Directory));
        let mut all: Vec<HostEntry> = files.chain(links).chain(directories).collect();
        all.sort();
        Ok(Some(all))
    }

    fn real(&self, path: &str) -> Option<PlacePath> {
        PlacePath::new(&self.resolve(path)?).ok()
    }

    fn kind(&self, path: &str) -> Option<EntryKind> {
        let real = self.resolve(path)?;
        Some(if self.files.contains_key(&real) { EntryKind::File } else { EntryKind::Directory })
    }
}

/// Returns `KEY -> PLACE` for each install, with the home as `~`.
pub(crate) fn rows(inventory: &HostInventory) -> Vec<String> {
    inventory.installs.iter().map(row).collect()
}

pub(crate) fn row(install: &Install) -> String {
    let place = install.place.as_str().replace(HOME, "~");
    let key = install.key.to_string().replace(HOME, "~");
    if key == format!("path:{place}") { key } else { format!("{key} -> {place}") }
}

/// Returns `CODE POINTER` for each problem.
pub(crate) fn problems(inventory: &HostInventory) -> Vec<String> {
    let text = |problem: &InstallProblem| format!("{} {}", problem.kind.code(), problem.record.pointer);
    inventory.problems.iter().map(text).collect()
}

pub(crate) fn kinds(inventory: &HostInventory) -> Vec<InstallProblemKind> {
    inventory.problems.iter().map(|problem| problem.kind).collect()
}

/// Returns the install with a key, whose home is written as `~`.
pub(crate) fn find<'i>(inventory: &'i HostInventory, key: &str) -> &'i Install {
    let key = key.replace("path:~", &format!("path:{HOME}"));
    inventory.installs.iter().find(|install| install.key.to_string() == key).unwrap_or_else(|| {
        panic!("no {key} in {:#?}", rows(inventory));
    })
}

/// Returns the text of one part of a settings file.
pub(crate) fn part(install: &Install, name: &str) -> String {
    let InstallContents::Parts(parts) = &install.contents else { panic!("{install:?} has no parts") };
    let part = parts
        .current
        .iter()
        .find(|part| part.name == name)
        .unwrap_or_else(|| panic!("no {name} in {parts:?}"));
    String::from_utf8(part.bytes.clone()).unwrap()
}

pub(crate) fn part_names(install: &Install) -> Vec<&'static str> {
    let InstallContents::Parts(parts) = &install.contents else { panic!("{install:?} has no parts") };
    parts.current.iter().map(|part| part.name).collect()
}
