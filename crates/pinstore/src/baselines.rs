//! The text of what was trusted, so that a diff works offline.

use std::collections::BTreeSet;
use std::io::Write as _;
use std::time::Duration;

use cap_std::fs::{Dir, DirEntry, OpenOptions, OpenOptionsExt as _};
use plugward_state_file::{LastGood, Owner, StateError, StateFile, make_folder};
use plugward_types::{Digest, SurfaceDigest, TreeDigest};
use thiserror::Error;

use crate::hash::sha256;
use crate::preimage;

const WAIT: Duration = Duration::from_secs(5);
/// The largest text that is kept.
const MAX_OBJECT: usize = 256 << 10;
/// The largest list of a tree: 20,000 entries of the longest path.
const MAX_LIST: u64 = 96 << 20;
/// The most bytes that are kept in all.
const CAP: u64 = 256 << 20;
const TEMP: &str = ".new.tmp";

/// The kept texts of what was trusted, by their digests, below the user's state folder.
///
/// They explain a change and never decide: what is missing makes a diff coarser.
///
/// # Guarantees
/// What is given out has the digest that was asked for.
///
/// # Source
/// direnv/direnv#1259 asks for a diff to the text that was allowed last.
#[derive(Debug)]
pub struct Baselines {
    trees: Dir,
    surfaces: Dir,
    objects: Dir,
    hold: StateFile,
    owner: Owner,
}

/// A text that was not kept, not read, or not removed.
#[derive(Debug, Clone, Error)]
#[error("use baselines: {doing}")]
pub struct BaselineError {
    doing: &'static str,
    #[source]
    source: StateError,
}

impl BaselineError {
    /// Gives the stable code.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        self.source.code()
    }

    /// Says what a person types or does next.
    #[must_use]
    pub fn help(&self) -> String {
        self.source.help()
    }
}

/// What there is under a digest.
#[derive(Debug, Clone, PartialEq, Eq)]
#[must_use]
#[expect(clippy::exhaustive_enums, reason = "a new answer must stop every host from building")]
pub enum Kept<T> {
    /// The text.
    Found(T),
    /// It was never kept, or has gone to make room.
    Absent,
    /// It had another digest, and was dropped: notice `baseline/damaged`.
    Damaged,
}

impl<T> Kept<T> {
    /// Gives the text, where there is one.
    pub fn found(self) -> Option<T> {
        match self {
            Self::Found(text) => Some(text),
            Self::Absent | Self::Damaged => None,
        }
    }
}

/// What is to be kept of one plugin, before its pin is written.
#[derive(Debug, Clone, Copy)]
#[expect(clippy::exhaustive_structs, reason = "a new text must stop every host from building")]
pub struct NewBaseline<'a> {
    /// The lists of its tree and of the folders outside that it imports.
    pub trees: &'a [&'a str],
    /// The text of its surface.
    pub surface: Option<&'a str>,
    /// The files' bytes; those that are no text, or larger than 256 KiB, are left out.
    pub files: &'a [&'a [u8]],
}

/// What was kept of one plugin.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct PutReport {
    /// Texts that were written.
    pub written: usize,
    /// Texts that were there.
    pub there: usize,
    /// Files that are known by their line in the tree's list alone.
    pub by_line: usize,
}

/// What is in use, so that it goes last.
#[derive(Debug, Clone, Default)]
#[expect(clippy::exhaustive_structs, reason = "a new kind of reference must stop every host from building")]
pub struct InUse {
    /// The trees of all pins and approvals, with their shared and previous ones.
    pub trees: BTreeSet<TreeDigest>,
    /// The surfaces of all pins.
    pub surfaces: BTreeSet<SurfaceDigest>,
    /// Texts that stand in no tree: the marketplace entries of all pins.
    pub objects: BTreeSet<Digest>,
}

/// What went to make room.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Collected {
    /// The bytes that were there.
    pub before: u64,
    /// The bytes that are there.
    pub after: u64,
    /// The texts that have gone.
    pub removed: usize,
}

fn io(doing: &'static str) -> impl Fn(std::io::Error) -> BaselineError {
    move |source| BaselineError { doing, source: StateError::of_io(doing, "baselines", source) }
}

fn state(doing: &'static str) -> impl Fn(StateError) -> BaselineError {
    move |source| BaselineError { doing, source }
}

impl Baselines {
    /// Opens the folders, and makes those that are missing, for us alone.
    ///
    /// # Errors
    /// Those of [`make_folder`].
    pub fn open(state_folder: &Dir, owner: Owner) -> Result<Self, BaselineError> {
        let failed = state("make the folders");
        let open = |name: &str| make_folder(state_folder, name).map_err(&failed);
        let top = open("baselines")?;
        let hold = StateFile::at(&top, "baselines", 0, owner, LastGood::No).map_err(&failed)?;
        Ok(Self {
            trees: open("baselines/trees")?,
            surfaces: open("baselines/surfaces")?,
            objects: open("baselines/objects")?,
            hold,
            owner,
        })
    }

    /// Keeps the texts of one plugin; called before its pin is written.
    ///
    /// # Errors
    /// Those of the state file: `state/held`, `state/full`, `state/read-only` and so on. A pin may be written all the
    /// same: its diff will be coarser.
    pub fn put(&self, new: &NewBaseline<'_>) -> Result<PutReport, BaselineError> {
        let _hold = self.hold.hold(WAIT).map_err(state("hold"))?;
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
            let (shard, name) = hex.split_at_checked(2).unwrap_or_default();
            let dir = make_folder(&self.objects, shard).map_err(state("make the folders"))?;
            put(&dir, name, bytes)?;
        }
        if let Some(surface) = new.surface {
            put(&self.surfaces, &sha256(surface.as_bytes()).hex(), surface.as_bytes())?;
        }
        // The lists come last: where there is one, its files were kept.
        for list in new.trees {
            put(&self.trees, &preimage::digest(list).hex(), list.as_bytes())?;
        }
        Ok(PutReport { by_line, ..report })
    }

    /// Gives the list of a tree.
    ///
    /// # Errors
    /// Those of reading a state file. A text that cannot be had is no reason to refuse a plugin.
    pub fn tree(&self, digest: &TreeDigest) -> Result<Kept<String>, BaselineError> {
        let wanted = Digest::from_bytes(*digest.as_bytes());
        self.text(&self.trees, &digest.hex(), &wanted, MAX_LIST)
    }

    /// Gives the text of a surface.
    ///
    /// # Errors
    /// As [`Baselines::tree`].
    pub fn surface(&self, digest: &SurfaceDigest) -> Result<Kept<String>, BaselineError> {
        let wanted = Digest::from_bytes(*digest.as_bytes());
        self.text(&self.surfaces, &digest.hex(), &wanted, MAX_LIST)
    }

    /// Gives the text of a file.
    ///
    /// # Errors
    /// As [`Baselines::tree`].
    pub fn object(&self, digest: &Digest) -> Result<Kept<String>, BaselineError> {
        let hex = digest.hex();
        let (shard, name) = hex.split_at_checked(2).unwrap_or_default();
        match self.objects.open_dir(shard) {
            Ok(dir) => self.text(&dir, name, digest, u64::try_from(MAX_OBJECT).unwrap_or(u64::MAX)),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(Kept::Absent),
            Err(error) => Err(io("open a folder")(error)),
        }
    }

    fn text(&self, dir: &Dir, name: &str, wanted: &Digest, cap: u64) -> Result<Kept<String>, BaselineError> {
        let failed = state("read a text");
        let file = StateFile::at(dir, name, cap, self.owner, LastGood::No).map_err(&failed)?;
        let content = match file.read() {
            Ok(Some(content)) => content,
            Ok(None) => return Ok(Kept::Absent),
            // Too large to be what was kept: damaged as well.
            Err(error) if error.code() == "state/too-large" => return drop_text(dir, name),
            Err(error) => return Err(failed(error)),
        };
        if sha256(content.bytes()) != *wanted {
            return drop_text(dir, name);
        }
        match String::from_utf8(content.into_bytes()) {
            Ok(text) => Ok(Kept::Found(text)),
            Err(_not_text) => drop_text(dir, name),
        }
    }

    fn is_whole(&self, dir: &Dir, name: &str, bytes: &[u8]) -> bool {
        let cap = u64::try_from(bytes.len()).unwrap_or(u64::MAX);
        let file = StateFile::at(dir, name, cap, self.owner, LastGood::No);
        // What cannot be read is written anew.
        file.is_ok_and(|file| matches!(file.read(), Ok(Some(content)) if content.bytes() == bytes))
    }

    /// Makes room where more than 256 MiB are kept: first what is in no use, the oldest first; then the largest files'
    /// texts. The lists of trees in use stay.
    ///
    /// # Errors
    /// Those of the state file.
    pub fn collect(&self, in_use: &InUse) -> Result<Collected, BaselineError> {
        self.collect_to(in_use, CAP)
    }

    /// Makes room as [`Baselines::collect`], down to another number of bytes.
    ///
    /// # Errors
    /// Those of the state file.
    pub fn collect_to(&self, in_use: &InUse, cap: u64) -> Result<Collected, BaselineError> {
        let _hold = self.hold.hold(WAIT).map_err(state("hold"))?;
        let mut found = self.list(in_use)?;
        let before: u64 = found.iter().map(|text| text.size).sum();
        let mut report = Collected { before, after: before, removed: 0 };
        // Not in use by age, then in use by size; lists of trees in use are not up for it at all.
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
                Shelf::Objects(shard) => &self.objects.open_dir(shard).map_err(io("open a folder"))?,
                Shelf::Surfaces => &self.surfaces,
                Shelf::Trees => &self.trees,
            };
            dir.remove_file(&text.name).map_err(io("remove a text"))?;
            report.after = report.after.saturating_sub(text.size);
            report.removed = report.removed.saturating_add(1);
        }
        Ok(report)
    }

    fn list(&self, in_use: &InUse) -> Result<Vec<Text>, BaselineError> {
        let mut objects_in_use: BTreeSet<String> = in_use.objects.iter().map(Digest::hex).collect();
        for tree in &in_use.trees {
            if let Kept::Found(list) = self.tree(tree)? {
                let digests = preimage::entries(&list).unwrap_or_default();
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
        for entry in self.objects.entries().map_err(io("list a folder"))? {
            let entry = entry.map_err(io("list a folder"))?;
            let Ok(shard) = entry.file_name().into_string() else { continue };
            if !entry.file_type().map_err(io("list a folder"))?.is_dir() {
                continue;
            }
            for (name, age, size) in texts_in(&entry.open_dir().map_err(io("open a folder"))?)? {
                let used = objects_in_use.contains(&format!("{shard}{name}"));
                found.push(Text { used, shelf: Shelf::Objects(shard.clone()), age, size, name });
            }
        }
        Ok(found)
    }
}

/// One kept text, as the folder has it.
#[derive(Debug)]
struct Text {
    used: bool,
    shelf: Shelf,
    age: u64,
    size: u64,
    name: String,
}

/// Where a text is kept.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Shelf {
    Trees,
    Surfaces,
    Objects(String),
}

/// Gives name, time of writing and size of each file of a folder.
fn texts_in(dir: &Dir) -> Result<Vec<(String, u64, u64)>, BaselineError> {
    let failed = io("list a folder");
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

fn drop_text<T>(dir: &Dir, name: &str) -> Result<Kept<T>, BaselineError> {
    match dir.remove_file(name) {
        Ok(()) => Ok(Kept::Damaged),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(Kept::Damaged),
        Err(error) => Err(io("drop a damaged text")(error)),
    }
}

/// Writes a text under the hold. It is not synced: one that a power cut tore has another digest, and is dropped.
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
        // Room is what may be missing: what was begun goes, and the first failure is the one to tell.
        dir.remove_file(TEMP).map_err(&failed)?;
    }
    done.map_err(failed)
}
