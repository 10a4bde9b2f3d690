//! A private copy of the checked bytes, for programs that need a path.

use std::collections::BTreeSet;
use std::io::{self, Write as _};
use std::num::NonZeroUsize;

use cap_std::fs::{
    Dir, DirBuilder, DirBuilderExt as _, OpenOptions, OpenOptionsExt as _, Permissions, PermissionsExt as _,
};
use plugward_sandbox_path::{Jail, JailError, Policy};
use plugward_tree_lock::{DigestCheck, DigestedTree, EntryKind, Snapshot, TreeError, TreeLimits};
use plugward_types::TreeDigest;

use crate::contents::shared::{Content, SharedRoots};

/// The name of the plugin's directory inside the copy.
const PLUGIN: &str = "plugin";
/// The name of the directories above it, one per level that shared directories go up.
const UP: &str = "up";
/// The most copies of one plugin in a directory. A host that reaches it does not remove its copies.
const COPIES: u32 = 10_000;

/// A plugin's checked bytes in a private directory.
///
/// # Guarantees
/// When it was written, the directory was new, no other user could write it, and its digest was that of the
/// checked bytes. Files have mode 0400 or 0500, directories 0500. The owner, and anyone who can write the
/// parent directory, can change the copy later.
#[derive(Debug)]
#[must_use]
pub struct SealedCopy {
    parent: Dir,
    plugin: Dir,
    name: String,
    path: String,
    tree: TreeDigest,
}

/// The reason that a private copy could not be written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SealError {
    /// A system error.
    #[error("write a private copy of the plugin: {0}")]
    Io(#[from] io::Error),
    /// The copy cannot be opened as a jail.
    #[error("read the private copy of the plugin: {0}")]
    Jail(#[from] JailError),
    /// The copy cannot be read again.
    #[error("read the private copy of the plugin: {0}")]
    Tree(#[from] TreeError),
    /// The copy has a different digest: another process changed it, or the file system does not store
    /// permissions.
    #[error("the private copy has another digest: expected {expected}, found {found}")]
    Differs {
        /// The digest of the checked bytes.
        expected: String,
        /// The digest of the copy, or the reason that it has none.
        found: String,
    },
}

impl SealedCopy {
    pub(crate) fn write(snapshot: &Snapshot, shared: &SharedRoots, dir: &Dir) -> Result<Self, SealError> {
        let expected = *snapshot.digest();
        let parent = dir.try_clone()?;
        let name = new_directory(&parent, &expected.hex())?;
        // Shared directories are reached by relative paths, so the plugin's depth in the copy is the number
        // of levels they go up.
        let ups = shared.contents().map(|(name, _)| up(name)).max().unwrap_or(0);
        let (up, last) = (unused(UP, shared), unused(PLUGIN, shared));
        let mut above = vec![name.clone()];
        for _ in 1..ups {
            above.push(format!("{}/{up}", above.last().map_or("", String::as_str)));
        }
        let path = format!("{}/{last}", above.last().map_or("", String::as_str));
        let write = || -> Result<Dir, SealError> {
            for dir in above.iter().skip(1) {
                make(&parent, dir)?;
            }
            copy(&parent, &path, snapshot)?;
            for (relative, content) in shared.contents() {
                copy_shared(&parent, &path, relative, content)?;
            }
            close(&parent, &name)?;
            let plugin = parent.open_dir(&path)?;
            verify(&plugin, snapshot)?;
            for (relative, content) in shared.contents() {
                verify_shared(&parent, &beside(&path, relative), content)?;
            }
            Ok(plugin)
        };
        match write() {
            Ok(plugin) => Ok(Self { parent, plugin, name, path, tree: expected }),
            Err(error) => {
                // An incomplete copy is useless, and the first error is the one to report.
                drop(remove(&parent, &name));
                Err(error)
            }
        }
    }

    /// Returns the plugin's directory.
    #[must_use]
    pub const fn dir(&self) -> &Dir {
        &self.plugin
    }

    /// Returns the path of the plugin's directory, relative to the directory that contains the copy.
    #[must_use]
    pub fn path(&self) -> &str {
        &self.path
    }

    /// Returns the digest of the copy when it was written.
    #[must_use]
    pub const fn tree(&self) -> &TreeDigest {
        &self.tree
    }

    /// Removes the copy.
    ///
    /// # Errors
    /// The system error. A part of the copy can remain.
    pub fn remove(self) -> io::Result<()> {
        remove(&self.parent, &self.name)
    }
}

/// Returns a directory name that is in no path of a shared directory.
fn unused(stem: &str, shared: &SharedRoots) -> String {
    let mut name = stem.to_owned();
    while shared.contents().any(|(relative, _)| relative.split('/').any(|part| part == name)) {
        name.push('_');
    }
    name
}

/// Returns the number of leading `..` components.
fn up(name: &str) -> usize {
    name.split('/').take_while(|part| *part == "..").count()
}

/// Creates a directory with mode 0700, and returns its name, which starts with the digest.
pub(crate) fn new_directory(parent: &Dir, digest: &str) -> io::Result<String> {
    let stem: String = digest.chars().take(16).collect();
    for number in 0..COPIES {
        let name = format!("{stem}-{number}");
        match make(parent, &name) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            made => return made.map(|()| name),
        }
    }
    Err(io::ErrorKind::AlreadyExists.into())
}

/// Creates a directory with mode 0700. It fails if the name exists.
fn make(parent: &Dir, path: &str) -> io::Result<()> {
    parent.create_dir_with(path, DirBuilder::new().mode(0o700))
}

fn copy(parent: &Dir, path: &str, snapshot: &Snapshot) -> io::Result<()> {
    make(parent, path)?;
    let plugin = parent.open_dir(path)?;
    for directory in snapshot.directories() {
        make(&plugin, directory)?;
    }
    for entry in snapshot.entries() {
        match entry.kind() {
            EntryKind::Link => plugin.symlink_contents(entry.target().unwrap_or_default(), entry.path())?,
            EntryKind::File => file(&plugin, entry.path(), entry.bytes(), 0o400)?,
            EntryKind::Executable => file(&plugin, entry.path(), entry.bytes(), 0o500)?,
        }
    }
    Ok(())
}

/// Returns the path of a shared directory, resolved from the plugin's directory.
fn beside(plugin: &str, relative: &str) -> String {
    let mut at: Vec<&str> = plugin.split('/').collect();
    for part in relative.split('/') {
        if part == ".." {
            at.pop();
        } else {
            at.push(part);
        }
    }
    at.join("/")
}

fn copy_shared(parent: &Dir, plugin: &str, relative: &str, content: &Content) -> io::Result<()> {
    let path = beside(plugin, relative);
    match content {
        Content::Directory(snapshot) => copy(parent, &path, snapshot),
        Content::File { bytes, .. } => file(parent, &path, bytes, 0o400),
    }
}

fn file(dir: &Dir, path: &str, bytes: &[u8], mode: u32) -> io::Result<()> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true).mode(mode);
    let mut file = dir.open_with(path, &options)?;
    file.write_all(bytes)?;
    // The umask can have removed bits.
    file.set_permissions(Permissions::from_mode(mode))
}

/// Removes the write permission from all directories of a copy, innermost first.
fn close(parent: &Dir, name: &str) -> io::Result<()> {
    for path in directories(parent, name)?.iter().rev() {
        parent.set_permissions(path, Permissions::from_mode(0o500))?;
    }
    Ok(())
}

/// Removes a directory whose directories can be read-only.
pub(crate) fn remove(parent: &Dir, name: &str) -> io::Result<()> {
    for path in directories(parent, name)? {
        parent.set_permissions(&path, Permissions::from_mode(0o700))?;
    }
    parent.remove_dir_all(name)
}

/// Returns a directory and all directories inside it, parents first.
fn directories(parent: &Dir, name: &str) -> io::Result<BTreeSet<String>> {
    let mut all = BTreeSet::from([name.to_owned()]);
    let mut rest = vec![name.to_owned()];
    while let Some(path) = rest.pop() {
        for entry in parent.read_dir(&path)? {
            let entry = entry?;
            if entry.file_type()?.is_dir() {
                let inner = format!("{path}/{}", entry.file_name().to_string_lossy());
                all.insert(inner.clone());
                rest.push(inner);
            }
        }
    }
    Ok(all)
}

fn verify(plugin: &Dir, snapshot: &Snapshot) -> Result<(), SealError> {
    let jail = Jail::from_fd(plugin.try_clone()?.into_std_file().into(), Policy::standard())?;
    let (limits, jobs) = (TreeLimits::standard(), NonZeroUsize::MIN);
    let limits = TreeLimits { entries: limits.entries.max(snapshot.len().saturating_add(1)), ..limits };
    let bytes = snapshot.total_bytes().saturating_add(1);
    let limits =
        TreeLimits { bytes: limits.bytes.max(bytes), file_bytes: limits.file_bytes.max(bytes), ..limits };
    let found = match DigestedTree::read(&jail, &limits, snapshot.exclude(), jobs)? {
        DigestCheck::Digested(tree) if tree.digest() == snapshot.digest() => return Ok(()),
        DigestCheck::Digested(tree) => tree.digest().to_string(),
        DigestCheck::Refused(refusal) => refusal.to_string(),
    };
    Err(SealError::Differs { expected: snapshot.digest().to_string(), found })
}

fn verify_shared(parent: &Dir, path: &str, content: &Content) -> Result<(), SealError> {
    match content {
        Content::Directory(snapshot) => verify(&parent.open_dir(path)?, snapshot),
        Content::File { bytes, digest, .. } => {
            let found = parent.read(path)?;
            if found == *bytes {
                return Ok(());
            }
            let found = crate::contents::hash::sha256(&found).to_string();
            Err(SealError::Differs { expected: digest.to_string(), found })
        }
    }
}
