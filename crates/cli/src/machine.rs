//! The files of this machine that hosts read their plugins from.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::io::{ErrorKind, Read as _};

use camino::{Utf8Path, Utf8PathBuf};
use plugward_loader::installs::{EntryKind, HostEntry, HostFiles, HostTable, ReadFault};
use plugward_loader::{MachineFacts, PlacePath};

/// The most bytes of a record. Real ones have a few KiB.
const LIMIT: u64 = 64 << 20;
/// The most entries of a directory.
const ENTRIES: usize = 50_000;
/// The permission bit that lets other users write.
const OTHERS_WRITE: u32 = 0o002;

/// Access to the records and directories of hosts, with the rules for records: a file that another user can change says
/// nothing about what this user agreed to.
pub(crate) struct MachineFiles {
    home: Utf8PathBuf,
    /// The project with its owner. The files of a project can belong to the user who checked it out.
    project: Option<(PlacePath, u32)>,
    /// What is known about paths. Many hosts look for the same places, and most of these do not exist.
    known: RefCell<BTreeMap<String, Option<EntryKind>>>,
}

impl MachineFiles {
    pub(crate) fn new(home: &Utf8Path, project: Option<&PlacePath>) -> Self {
        let owner =
            |place: &PlacePath| Some((place.clone(), owner_of(&std::fs::metadata(place.as_str()).ok()?)));
        let home = home.canonicalize_utf8().unwrap_or_else(|_| home.to_owned());
        Self { home, project: project.and_then(owner), known: RefCell::default() }
    }

    /// Returns `true` if nothing is at a path, because one of its parents does not exist or is not a directory. Only what
    /// was not looked up before is.
    fn is_absent(&self, path: &str) -> bool {
        let parents = path.match_indices('/').skip(1).filter_map(|(at, _)| path.get(..at));
        // A path that cannot be looked up is there, so that the caller reports why.
        parents.chain([path]).any(|part| self.look_up(part).is_some_and(|kind| kind.is_none()))
    }

    /// Returns what is at a path, or `None` if it cannot be looked up.
    #[expect(clippy::option_option, reason = "nothing is there, and it cannot be looked up, are two answers")]
    fn look_up(&self, path: &str) -> Option<Option<EntryKind>> {
        if let Some(kind) = self.known.borrow().get(path) {
            return Some(*kind);
        }
        let kind = match std::fs::metadata(path) {
            Ok(meta) => Some(kind_of(meta.file_type())),
            Err(error) if is_absent(&error) => None,
            Err(_) => return None,
        };
        self.known.borrow_mut().insert(path.to_owned(), kind);
        Some(kind)
    }

    /// Returns a path with all symlinks resolved.
    pub(crate) fn real_of(path: &str) -> Option<PlacePath> {
        PlacePath::new(Utf8Path::new(path).canonicalize_utf8().ok()?.as_str()).ok()
    }

    /// Returns `true` if a file may belong to this owner.
    fn is_trusted_owner(&self, real: &Utf8Path, owner: u32) -> bool {
        let inside = |(place, of): &(PlacePath, u32)| real.starts_with(place.as_str()) && owner == *of;
        owner == 0 || owner == crate::host::user_id() || self.project.as_ref().is_some_and(inside)
    }

    fn open(&self, path: &Utf8Path) -> Result<Option<std::fs::File>, ReadFault> {
        let failed = |error: &std::io::Error| {
            ReadFault::new(format!("cannot be read: {error}"), "fix its permissions, or remove it")
        };
        let real = match path.canonicalize_utf8() {
            Ok(real) => real,
            Err(error) if is_absent(&error) => return Ok(None),
            Err(error) => return Err(failed(&error)),
        };
        // The file is opened without waiting for the writer of a pipe, and by its real path, so that a symlink that changes
        // meanwhile does not lead elsewhere.
        #[expect(
            clippy::disallowed_methods,
            reason = "a record of a host; its owner and type are checked below"
        )]
        let opened = {
            use std::os::unix::fs::OpenOptionsExt as _;
            let flags = rustix::fs::OFlags::NONBLOCK.union(rustix::fs::OFlags::NOFOLLOW);
            std::fs::OpenOptions::new().read(true).custom_flags(flags.bits().cast_signed()).open(&real)
        };
        let file = match opened {
            Ok(file) => file,
            Err(error) if is_absent(&error) => return Ok(None),
            Err(error) => return Err(failed(&error)),
        };
        let meta = file.metadata().map_err(|error| failed(&error))?;
        if !meta.is_file() {
            return Err(ReadFault::new("is not a regular file", "remove it, or replace it with the file"));
        }
        if meta.len() > LIMIT {
            let message = format!("has {} bytes, at most {LIMIT} are read", meta.len());
            return Err(ReadFault::new(message, "remove the file; its host writes a new one"));
        }
        let owner = owner_of(&meta);
        if !self.is_trusted_owner(&real, owner) {
            let message = format!("belongs to another user (uid {owner})");
            return Err(ReadFault::new(message, format!("chown it to yourself after a review: {path}")));
        }
        if mode_of(&meta) & OTHERS_WRITE != 0 {
            return Err(ReadFault::new("every user can write it", format!("chmod o-w {path}")));
        }
        let is_elsewhere = |top: &str| path.starts_with(top) && !real.starts_with(top);
        let project = self.project.as_ref().map(|(place, _)| place.as_str());
        // Package managers of a system put root's files behind such symlinks.
        if owner != 0 && (is_elsewhere(self.home.as_str()) || project.is_some_and(is_elsewhere)) {
            let message = format!("is a symlink to {real}, outside of the directory that it is in");
            return Err(ReadFault::new(message, "replace the symlink with the file"));
        }
        Ok(Some(file))
    }
}

impl HostFiles for MachineFiles {
    fn read(&self, path: &str) -> Result<Option<Vec<u8>>, ReadFault> {
        if self.is_absent(path) {
            return Ok(None);
        }
        let Some(file) = self.open(Utf8Path::new(path))? else { return Ok(None) };
        let mut bytes = Vec::new();
        // One byte more than the limit is enough to know that the file grew.
        match file.take(LIMIT + 1).read_to_end(&mut bytes) {
            Ok(_) if bytes.len() as u64 > LIMIT => {
                Err(ReadFault::new(format!("grew above {LIMIT} bytes"), "remove the file"))
            }
            Ok(_) => Ok(Some(bytes)),
            Err(error) => Err(ReadFault::new(format!("cannot be read: {error}"), "fix the file")),
        }
    }

    fn list(&self, path: &str) -> Result<Option<Vec<HostEntry>>, ReadFault> {
        let failed = |error: &std::io::Error| {
            ReadFault::new(format!("cannot be listed: {error}"), "fix its permissions")
        };
        if self.is_absent(path) {
            return Ok(None);
        }
        #[expect(
            clippy::disallowed_methods,
            reason = "names of a host's directory; nothing is opened by them"
        )]
        let entries = match std::fs::read_dir(path) {
            Ok(entries) => entries,
            Err(error) if is_absent(&error) => return Ok(None),
            Err(error) => return Err(failed(&error)),
        };
        let mut found = BTreeMap::new();
        for entry in entries {
            let entry = entry.map_err(|error| failed(&error))?;
            let kind = entry.file_type().map_err(|error| failed(&error))?;
            let name = entry.file_name().into_string().map_err(|name| {
                let message = format!("contains a name that is not UTF-8: {}", name.to_string_lossy());
                ReadFault::new(message, "rename or remove that entry")
            })?;
            found.insert(name, kind_of(kind));
            if found.len() > ENTRIES {
                let message = format!("has more than {ENTRIES} entries");
                return Err(ReadFault::new(message, "remove what does not belong there"));
            }
        }
        Ok(Some(found.into_iter().map(|(name, kind)| HostEntry { name, kind }).collect()))
    }

    fn real(&self, path: &str) -> Option<PlacePath> {
        if self.is_absent(path) { None } else { Self::real_of(path) }
    }

    fn kind(&self, path: &str) -> Option<EntryKind> {
        if self.is_absent(path) { None } else { self.look_up(path).flatten() }
    }
}

/// Returns what a check has to know about this machine.
pub(crate) fn facts() -> MachineFacts {
    let environment = crate::host::environment();
    let value = |name: &str| environment.get(name).map(String::as_str).unwrap_or_default();
    // A program can be named by the directory in `PATH`, or by the real path of that directory.
    let on_path = value("PATH").split(':').filter(|path| path.starts_with('/'));
    let program_directories =
        on_path.flat_map(|path| [PlacePath::new(path).ok(), MachineFiles::real_of(path)]);
    let mut program_directories: Vec<PlacePath> = program_directories.flatten().collect();
    program_directories.sort();
    program_directories.dedup();
    // The default directories are known, and others can move them.
    let rows = HostTable::compiled_rows();
    let homes = rows.iter().filter_map(|row| {
        let moved = value(row.home.variable.as_deref()?);
        let inside = row.home.join.as_ref().map(|rest| format!("/{rest}")).unwrap_or_default();
        (!moved.is_empty()).then(|| format!("{moved}{inside}"))
    });
    MachineFacts {
        home: crate::host::home_directory().and_then(|home| MachineFiles::real_of(home.as_str())),
        user: Some(crate::host::user_id()),
        program_directories,
        host_directories: homes.filter_map(|home| MachineFiles::real_of(&home)).collect(),
    }
}

fn is_absent(error: &std::io::Error) -> bool {
    matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory)
}

fn kind_of(kind: std::fs::FileType) -> EntryKind {
    if kind.is_symlink() {
        EntryKind::Symlink
    } else if kind.is_dir() {
        EntryKind::Directory
    } else if kind.is_file() {
        EntryKind::File
    } else {
        EntryKind::Special
    }
}

fn owner_of(meta: &std::fs::Metadata) -> u32 {
    use std::os::unix::fs::MetadataExt as _;
    meta.uid()
}

fn mode_of(meta: &std::fs::Metadata) -> u32 {
    use std::os::unix::fs::MetadataExt as _;
    meta.mode()
}
