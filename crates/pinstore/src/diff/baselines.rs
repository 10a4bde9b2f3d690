//! The baselines: texts of trusted plugins, stored so that `diff` works offline.

use std::collections::BTreeSet;
use std::io::Write as _;
use std::time::Duration;

use cap_std::fs::{Dir, DirEntry, OpenOptions, OpenOptionsExt as _};
use plugward_state_file::{Backup, Owner, StateError, StateFile, make_directory};
use plugward_types::{Digest, Part, SurfaceDigest, TreeDigest};
use thiserror::Error;

use crate::diff::preimage;
use crate::format::hash::sha256;

// How long a write waits for another process.
const WAIT: Duration = Duration::from_secs(5);
/// The size limit of a file's text. Larger files are rarely source code, and are compared by digest.
const MAX_OBJECT: usize = 256 << 10;
/// The size limit of a preimage: 20,000 entries with paths of the longest allowed length.
const MAX_LIST: u64 = 96 << 20;
/// The size limit of all texts together.
const CAP: u64 = 256 << 20;
// The name of a file that is being written.
const TEMP: &str = ".new.tmp";

/// The stored texts of trusted plugins, by digest, in the user's state directory.
///
/// They explain a change and never decide about it. If a text is missing, a diff has less detail.
///
/// # Guarantees
/// A returned text has the requested digest.
#[derive(Debug)]
pub struct Baselines {
    trees: Dir,
    surfaces: Dir,
    objects: Dir,
    hold: StateFile,
    owner: Owner,
}

/// A text that could not be stored, read or deleted.
#[derive(Debug, Clone, Error)]
#[error("baselines: cannot {doing}")]
pub struct BaselineError {
    doing: &'static str,
    #[source]
    source: StateError,
}

impl BaselineError {
    /// Returns the stable code.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        self.source.code()
    }

    /// Returns what the user can do.
    #[must_use]
    pub fn help(&self) -> String {
        self.source.help()
    }
}

/// The result of looking up a text.
#[derive(Debug, Clone, PartialEq, Eq)]
#[must_use]
#[expect(clippy::exhaustive_enums, reason = "every host must handle a new answer")]
pub enum StoredText<T> {
    /// The text.
    Found(T),
    /// It was never stored, or was deleted to free space.
    Absent,
    /// Its digest did not match, and it was deleted: notice `baseline/damaged`.
    Damaged,
}

impl<T> StoredText<T> {
    /// Returns the text, if there is one.
    pub fn found(self) -> Option<T> {
        match self {
            Self::Found(text) => Some(text),
            Self::Absent | Self::Damaged => None,
        }
    }
}

/// The texts of one plugin to store before its pin is written.
#[derive(Debug, Clone, Copy)]
#[expect(clippy::exhaustive_structs, reason = "every host must handle a new text")]
pub struct NewBaseline<'a> {
    /// The preimages of its tree and of its shared directories.
    pub trees: &'a [&'a str],
    /// The text of its execution surface.
    pub surface: Option<&'a str>,
    /// The contents of its files. Binary files and files larger than 256 KiB are not stored.
    pub files: &'a [&'a [u8]],
}

/// The result of storing the texts of one plugin.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct PutReport {
    /// The number of written texts.
    pub written: usize,
    /// The number of texts that were stored already.
    pub there: usize,
    /// The number of files that were not stored. A diff shows them by digest.
    pub by_line: usize,
}

/// The digests in use, whose texts are deleted last.
#[derive(Debug, Clone, Default)]
#[expect(clippy::exhaustive_structs, reason = "every host must handle a new kind of reference")]
pub struct UsedDigests {
    /// The trees of all pins and approvals, including shared directories.
    pub trees: BTreeSet<TreeDigest>,
    /// The surfaces of all pins.
    pub surfaces: BTreeSet<SurfaceDigest>,
    /// The texts outside all trees: the marketplace entries of all pins.
    pub objects: BTreeSet<Digest>,
}

/// The result of freeing space.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct CleanupReport {
    /// The number of bytes before.
    pub before: u64,
    /// The number of bytes after.
    pub after: u64,
    /// The number of deleted texts.
    pub removed: usize,
}

fn io(doing: &'static str) -> impl Fn(std::io::Error) -> BaselineError {
    move |source| BaselineError { doing, source: StateError::of_io(doing, "baselines", source) }
}

fn state(doing: &'static str) -> impl Fn(StateError) -> BaselineError {
    move |source| BaselineError { doing, source }
}

impl Baselines {
    /// Opens the directories, and creates missing ones with owner-only permissions.
    ///
    /// # Errors
    /// Those of [`make_directory`].
    pub fn open(state_directory: &Dir, owner: Owner) -> Result<Self, BaselineError> {
        let failed = state("create the directories");
        let open = |name: &str| make_directory(state_directory, name).map_err(&failed);
        let top = open("baselines")?;
        let hold = StateFile::at(&top, "baselines", 0, owner, Backup::None).map_err(&failed)?;
        Ok(Self {
            trees: open("baselines/trees")?,
            surfaces: open("baselines/surfaces")?,
            objects: open("baselines/objects")?,
            hold,
            owner,
        })
    }

    /// Stores the texts of one plugin. Call it before the pin is written.
    ///
    /// # Errors
    /// Those of the state file: `state/held`, `state/full`, `state/read-only` and so on. The pin can be written
    /// nevertheless: its diff has less detail.
    pub fn put(&self, new: &NewBaseline<'_>) -> Result<PutReport, BaselineError> {
        let _hold = self.hold.lock(WAIT).map_err(state("take the file lock"))?;
        let mut report = PutReport::default();
        let mut put = |dir: &Dir, name: &str, bytes: &[u8]| -> Result<(), BaselineError> {
            if self.is_whole(dir, name, bytes) {
                report.there = report.there.saturating_add(1);
                return Ok(());
            }
            write(dir, name, bytes)?;
            report.written = report.written.saturating_add(1);
            Ok(())
        };
        let mut by_line = 0_usize;
        for bytes in new.files {
            let text =
                bytes.len() <= MAX_OBJECT && core::str::from_utf8(bytes).is_ok() && !bytes.contains(&0);
            if !text {
                by_line = by_line.saturating_add(1);
                continue;
            }
            let hex = sha256(bytes).hex();
            let (shard, name) = hex.parts_at(2);
            let dir = make_directory(&self.objects, shard).map_err(state("create the directories"))?;
            put(&dir, name, bytes)?;
        }
        if let Some(surface) = new.surface {
            put(&self.surfaces, &sha256(surface.as_bytes()).hex(), surface.as_bytes())?;
        }
        // The preimages are written last, so if one exists, its files were stored.
        for list in new.trees {
            put(&self.trees, &preimage::digest(list).hex(), list.as_bytes())?;
        }
        Ok(PutReport { by_line, ..report })
    }

    /// Returns the preimage of a tree.
    ///
    /// # Errors
    /// Those of reading a state file. An unreadable text is not a reason to refuse a plugin.
    pub fn tree(&self, digest: &TreeDigest) -> Result<StoredText<String>, BaselineError> {
        let wanted = Digest::from_bytes(*digest.as_bytes());
        self.text(&self.trees, &digest.hex(), &wanted, MAX_LIST)
    }

    /// Returns the text of a surface.
    ///
    /// # Errors
    /// As [`Baselines::tree`].
    pub fn surface(&self, digest: &SurfaceDigest) -> Result<StoredText<String>, BaselineError> {
        let wanted = Digest::from_bytes(*digest.as_bytes());
        self.text(&self.surfaces, &digest.hex(), &wanted, MAX_LIST)
    }

    /// Returns the text of a file.
    ///
    /// # Errors
    /// As [`Baselines::tree`].
    pub fn object(&self, digest: &Digest) -> Result<StoredText<String>, BaselineError> {
        let hex = digest.hex();
        let (shard, name) = hex.parts_at(2);
        match self.objects.open_dir(shard) {
            Ok(dir) => self.text(&dir, name, digest, u64::try_from(MAX_OBJECT).unwrap_or(u64::MAX)),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(StoredText::Absent),
            Err(error) => Err(io("open a directory")(error)),
        }
    }

    fn text(
        &self,
        dir: &Dir,
        name: &str,
        wanted: &Digest,
        cap: u64,
    ) -> Result<StoredText<String>, BaselineError> {
        let failed = state("read a text");
        let file = StateFile::at(dir, name, cap, self.owner, Backup::None).map_err(&failed)?;
        let content = match file.read() {
            Ok(Some(content)) => content,
            Ok(None) => return Ok(StoredText::Absent),
            // Larger than any stored text, so it must be damaged.
            Err(error) if error.code() == "state/too-large" => return drop_text(dir, name),
            Err(error) => return Err(failed(error)),
        };
        if sha256(content.bytes()) != *wanted {
            return drop_text(dir, name);
        }
        match String::from_utf8(content.into_bytes()) {
            Ok(text) => Ok(StoredText::Found(text)),
            Err(_not_text) => drop_text(dir, name),
        }
    }

    fn is_whole(&self, dir: &Dir, name: &str, bytes: &[u8]) -> bool {
        let cap = u64::try_from(bytes.len()).unwrap_or(u64::MAX);
        let file = StateFile::at(dir, name, cap, self.owner, Backup::None);
        // An unreadable text is written again.
        file.is_ok_and(|file| matches!(file.read(), Ok(Some(content)) if content.bytes() == bytes))
    }

    /// Frees space if the texts exceed 256 MiB. Unused texts are deleted first, oldest first, then the
    /// largest texts of files. Preimages of trees in use are never deleted.
    ///
    /// # Errors
    /// Those of the state file.
    pub fn collect(&self, in_use: &UsedDigests) -> Result<CleanupReport, BaselineError> {
        self.collect_to(in_use, CAP)
    }

    /// Frees space as [`Baselines::collect`], down to another number of bytes.
    ///
    /// # Errors
    /// Those of the state file.
    pub fn collect_to(&self, in_use: &UsedDigests, cap: u64) -> Result<CleanupReport, BaselineError> {
        let _hold = self.hold.lock(WAIT).map_err(state("take the file lock"))?;
        let mut found = self.list(in_use)?;
        let before: u64 = found.iter().map(|text| text.size).sum();
        let mut report = CleanupReport { before, after: before, removed: 0 };
        // Unused texts by age, then used ones by size. Preimages of trees in use are never deleted.
        found.retain(|text| !(text.used && text.shelf == Shelf::Trees));
        found.sort_by(|a, b| {
            let key = |text: &Text| if text.used { u64::MAX.saturating_sub(text.size) } else { text.age };
            (a.used, key(a), &a.shelf, &a.name).cmp(&(b.used, key(b), &b.shelf, &b.name))
        });
        for text in found {
            if report.after <= cap {
                break;
            }
            let dir = match &text.shelf {
                Shelf::Objects(shard) => &self.objects.open_dir(shard).map_err(io("open a directory"))?,
                Shelf::Surfaces => &self.surfaces,
                Shelf::Trees => &self.trees,
            };
            dir.remove_file(&text.name).map_err(io("remove a text"))?;
            report.after = report.after.saturating_sub(text.size);
            report.removed = report.removed.saturating_add(1);
        }
        Ok(report)
    }

    fn list(&self, in_use: &UsedDigests) -> Result<Vec<Text>, BaselineError> {
        let mut objects_in_use: BTreeSet<String> = in_use.objects.iter().map(Digest::hex).collect();
        for tree in &in_use.trees {
            if let StoredText::Found(list) = self.tree(tree)? {
                // Without its list, the files of a tree that is in use would be removed.
                let digests = preimage::entries(&list)
                    .ok_or_else(|| io("read the list of a tree")(std::io::ErrorKind::InvalidData.into()))?;
                objects_in_use.extend(digests.into_values().map(|entry| entry.digest.hex()));
            }
        }
        let trees: BTreeSet<String> = in_use.trees.iter().map(TreeDigest::hex).collect();
        let surfaces: BTreeSet<String> = in_use.surfaces.iter().map(SurfaceDigest::hex).collect();
        let mut found = Vec::new();
        for (name, age, size) in texts_in(&self.trees)? {
            let used = trees.contains(&name);
            found.push(Text { used, shelf: Shelf::Trees, age, size, name });
        }
        for (name, age, size) in texts_in(&self.surfaces)? {
            let used = surfaces.contains(&name);
            found.push(Text { used, shelf: Shelf::Surfaces, age, size, name });
        }
        for entry in self.objects.entries().map_err(io("list a directory"))? {
            let entry = entry.map_err(io("list a directory"))?;
            let Ok(shard) = entry.file_name().into_string() else { continue };
            if !entry.file_type().map_err(io("list a directory"))?.is_dir() {
                continue;
            }
            for (name, age, size) in texts_in(&entry.open_dir().map_err(io("open a directory"))?)? {
                let used = objects_in_use.contains(&format!("{shard}{name}"));
                found.push(Text { used, shelf: Shelf::Objects(shard.clone()), age, size, name });
            }
        }
        Ok(found)
    }
}

/// One stored text.
#[derive(Debug)]
struct Text {
    used: bool,
    shelf: Shelf,
    age: u64,
    size: u64,
    name: String,
}

/// The directory that contains a text.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Shelf {
    Trees,
    Surfaces,
    Objects(String),
}

/// Returns the name, modification time and size of each file in a directory.
fn texts_in(dir: &Dir) -> Result<Vec<(String, u64, u64)>, BaselineError> {
    let failed = io("list a directory");
    let mut found = Vec::new();
    for entry in dir.entries().map_err(&failed)? {
        let entry: DirEntry = entry.map_err(&failed)?;
        let Ok(name) = entry.file_name().into_string() else { continue };
        let meta = entry.metadata().map_err(&failed)?;
        if !meta.is_file() {
            continue;
        }
        let since = meta.modified().ok().map(cap_std::time::SystemTime::into_std);
        let age = since.and_then(|at| at.duration_since(std::time::UNIX_EPOCH).ok());
        let nanos = age.map_or(0, |age| u64::try_from(age.as_nanos()).unwrap_or(u64::MAX));
        found.push((name, nanos, meta.len()));
    }
    Ok(found)
}

fn drop_text<T>(dir: &Dir, name: &str) -> Result<StoredText<T>, BaselineError> {
    match dir.remove_file(name) {
        Ok(()) => Ok(StoredText::Damaged),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(StoredText::Damaged),
        Err(error) => Err(io("delete a damaged text")(error)),
    }
}

/// Writes a text under the file lock, without syncing it. A text that a power failure truncates no longer
/// matches its digest, and is deleted when it is read.
fn write(dir: &Dir, name: &str, bytes: &[u8]) -> Result<(), BaselineError> {
    let failed = io("write a text");
    match dir.remove_file(TEMP) {
        Ok(()) => {}
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
        Err(error) => return Err(failed(error)),
    }
    let mut options = OpenOptions::new();
    options.write(true).create_new(true).mode(0o600);
    let done = dir
        .open_with(TEMP, &options)
        .and_then(|mut file| file.write_all(bytes))
        .and_then(|()| dir.rename(TEMP, dir, name));
    if done.is_err() && dir.exists(TEMP) {
        // The disk can be full, so the partial file is deleted. The first error is reported.
        dir.remove_file(TEMP).map_err(&failed)?;
    }
    done.map_err(failed)
}
