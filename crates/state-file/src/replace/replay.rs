//! Tests of the call sequence against every failure and every power failure.
//!
//! The model of the disk is worse than any real one: of the renames since the last sync of the directory, any subset
//! may be on the disk, and a file that was not synced may have any contents.

#![expect(clippy::arithmetic_side_effects, reason = "small counts")]

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::io;

use cap_std::ambient_authority;
use cap_std::fs::Dir;
use rustix::io::Errno;

use crate::directory::Directory;
use crate::names::Names;
use crate::owner::Backup;
use crate::replace::{Failure, Placed, Steps, Synced, replace};

const NAME: &str = "pins.toml";
const OLD: &[u8] = b"old old old\n";
const NEW: &[u8] = b"new new new new\n";

/// One recorded call.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Op {
    Remove(String),
    Create(String, usize),
    Write(usize, Vec<u8>),
    Sync(usize),
    Rename(String, String),
    SyncDirectory,
}

/// Records the calls without making them.
#[derive(Debug, Default)]
struct Recorder {
    ops: RefCell<Vec<Op>>,
    files: Cell<usize>,
}

impl Steps for Recorder {
    type File = usize;

    fn remove(&self, name: &str) -> io::Result<()> {
        self.ops.borrow_mut().push(Op::Remove(name.to_owned()));
        Ok(())
    }

    fn create(&self, name: &str) -> io::Result<usize> {
        self.files.set(self.files.get() + 1);
        self.ops.borrow_mut().push(Op::Create(name.to_owned(), self.files.get()));
        Ok(self.files.get())
    }

    fn write(&self, file: &mut usize, bytes: &[u8]) -> io::Result<()> {
        self.ops.borrow_mut().push(Op::Write(*file, bytes.to_vec()));
        Ok(())
    }

    fn sync(&self, file: &usize) -> io::Result<()> {
        self.ops.borrow_mut().push(Op::Sync(*file));
        Ok(())
    }

    fn sync_both(&self, first: &usize, second: &usize) -> Synced {
        Synced { first: self.sync(first), second: self.sync(second), directory: self.sync_directory() }
    }

    fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        self.ops.borrow_mut().push(Op::Rename(from.to_owned(), to.to_owned()));
        Ok(())
    }

    fn sync_directory(&self) -> io::Result<()> {
        self.ops.borrow_mut().push(Op::SyncDirectory);
        Ok(())
    }
}

/// A state of the disk after a power failure: contents by name.
type Disk = BTreeMap<String, Vec<u8>>;

/// Returns possible contents of a file that was not synced.
fn torn(bytes: &[u8]) -> Vec<Vec<u8>> {
    vec![Vec::new(), bytes[..bytes.len() / 2].to_vec(), vec![0; bytes.len()], bytes.to_vec()]
}

/// Returns every disk that a power failure can leave after some calls.
fn cuts(start: &Disk, ops: &[Op]) -> Vec<Disk> {
    // A name leads to a file of the start (by contents) or of the calls (by number).
    type File = Result<usize, Vec<u8>>;
    type Names = BTreeMap<String, File>;
    type Change = Vec<(String, Option<File>)>;
    let mut synced: Names = start.iter().map(|(name, bytes)| (name.clone(), Err(bytes.clone()))).collect();
    let mut live = synced.clone();
    // The changes of names since the last sync of the directory.
    let mut loose: Vec<Change> = Vec::new();
    let mut contents: BTreeMap<usize, (Vec<u8>, bool)> = BTreeMap::new();
    for op in ops {
        match op {
            Op::Remove(name) => {
                live.remove(name);
                loose.push(vec![(name.clone(), None)]);
            }
            Op::Create(name, file) => {
                live.insert(name.clone(), Ok(*file));
                contents.insert(*file, (Vec::new(), false));
                loose.push(vec![(name.clone(), Some(Ok(*file)))]);
            }
            Op::Write(file, bytes) => {
                contents.insert(*file, (bytes.clone(), false));
            }
            Op::Sync(file) => {
                if let Some(content) = contents.get_mut(file) {
                    content.1 = true;
                }
            }
            Op::Rename(from, to) => {
                let moved = live.remove(from).expect("renamed what is there");
                live.insert(to.clone(), moved.clone());
                loose.push(vec![(from.clone(), None), (to.clone(), Some(moved))]);
            }
            Op::SyncDirectory => {
                synced.clone_from(&live);
                loose.clear();
            }
        }
    }
    let mut disks = Vec::new();
    for subset in 0..1_u32 << loose.len() {
        let mut names = synced.clone();
        for (_, changes) in loose.iter().enumerate().filter(|(index, _)| subset & (1 << index) != 0) {
            for (name, to) in changes {
                match to {
                    Some(file) => names.insert(name.clone(), file.clone()),
                    None => names.remove(name),
                };
            }
        }
        let mut variants = vec![Disk::new()];
        for (name, file) in names {
            let held = match file {
                Err(bytes) => vec![bytes],
                Ok(file) => match &contents[&file] {
                    (bytes, true) => vec![bytes.clone()],
                    (bytes, false) => torn(bytes),
                },
            };
            variants = held
                .iter()
                .flat_map(|bytes| {
                    variants.iter().map(|disk| {
                        let mut disk = disk.clone();
                        disk.insert(name.clone(), bytes.clone());
                        disk
                    })
                })
                .collect();
        }
        disks.extend(variants);
    }
    disks
}

/// Returns the guarantee that a disk violates, if any.
fn broken(start: &Disk, disk: &Disk, keep: Backup) -> Option<String> {
    let names = Names::of(NAME).expect("a plain name");
    let old = start.get(NAME);
    let whole = |bytes: &Vec<u8>| bytes == NEW || Some(bytes) == old;
    match disk.get(&names.main) {
        Some(bytes) if !whole(bytes) => return Some(format!("the file is torn: {bytes:?}")),
        None if old.is_some() => return Some("the file is gone".to_owned()),
        _ => {}
    }
    if keep == Backup::None {
        return None;
    }
    let newer = disk.get(&names.main).is_some_and(|bytes| bytes == NEW);
    // A power failure between the two syncs of the directory leaves the backup under its temporary name.
    let beside = disk.get(&names.backup_temp).is_some_and(|bytes| bytes == NEW);
    match disk.get(&names.backup) {
        Some(bytes) if !whole(bytes) => Some(format!("the last good copy is torn: {bytes:?}")),
        Some(bytes) if newer && !beside && bytes != NEW => {
            Some("the last good copy is older than the file".to_owned())
        }
        None if newer && !beside || start.contains_key(&names.backup) => {
            Some("the last good copy is gone".to_owned())
        }
        _ => None,
    }
}

/// Returns the states of the directory at the start of a replacement.
fn starts() -> Vec<Disk> {
    let disk = |entries: &[(&str, &[u8])]| -> Disk {
        entries.iter().map(|(name, bytes)| ((*name).to_owned(), bytes.to_vec())).collect()
    };
    vec![
        disk(&[]),
        disk(&[(NAME, OLD)]),
        disk(&[(NAME, OLD), ("pins.toml.last-good", OLD)]),
        // Temporary files of a killed process.
        disk(&[(NAME, OLD), ("pins.toml.last-good", OLD), (".pins.toml.tmp", b"ha")]),
        disk(&[(NAME, OLD), ("pins.toml.last-good", NEW), (".pins.toml.last-good.tmp", b"")]),
    ]
}

fn recorded(keep: Backup) -> Vec<Op> {
    let recorder = Recorder::default();
    replace(&recorder, &Names::of(NAME).expect("a plain name"), NEW, keep).expect("a recorder does not fail");
    recorder.ops.into_inner()
}

#[test]
fn power_cut_leaves_old_or_new() {
    let mut looked_at = 0;
    for keep in [Backup::Keep, Backup::None] {
        let ops = recorded(keep);
        for start in starts() {
            for end in 0..=ops.len() {
                for disk in cuts(&start, &ops[..end]) {
                    assert_eq!(broken(&start, &disk, keep), None, "after {end} calls: {:?}", &ops[..end]);
                    looked_at += 1;
                }
            }
            for disk in cuts(&start, &ops) {
                assert_eq!(disk.get(NAME).map(Vec::as_slice), Some(NEW), "done means done");
                let copy = disk.get("pins.toml.last-good").map(Vec::as_slice);
                assert_eq!(
                    copy == Some(NEW),
                    keep == Backup::Keep || start.get("pins.toml.last-good").is_some_and(|old| old == NEW)
                );
                assert!(
                    disk.keys().all(|name| !name.starts_with('.') || keep == Backup::None),
                    "nothing is left over"
                );
            }
        }
    }
    assert!(looked_at > 1000, "the model looks at {looked_at} disks only");
}

#[test]
fn the_model_finds_what_others_forget() {
    let names = Names::of(NAME).expect("a plain name");
    let start: Disk = starts().swap_remove(2);
    let found = |ops: &[Op], keep| {
        (0..=ops.len())
            .any(|end| cuts(&start, &ops[..end]).iter().any(|disk| broken(&start, disk, keep).is_some()))
    };
    let without =
        |gone: &Op| -> Vec<Op> { recorded(Backup::Keep).into_iter().filter(|op| op != gone).collect() };
    assert!(!found(&recorded(Backup::Keep), Backup::Keep));
    // Temporary file, write and rename without a sync.
    let unsynced = [
        Op::Create(names.temp.clone(), 1),
        Op::Write(1, NEW.to_vec()),
        Op::Rename(names.temp.clone(), names.main.clone()),
    ];
    assert!(found(&unsynced, Backup::None));
    assert!(found(&without(&Op::Sync(1)), Backup::Keep), "without the sync of the file");
    assert!(found(&without(&Op::Sync(2)), Backup::Keep), "without the sync of the last good copy");
    assert!(found(&without(&Op::SyncDirectory), Backup::Keep), "without the sync of the directory");
    let mut late = recorded(Backup::Keep);
    late.remove(late.iter().position(|op| *op == Op::SyncDirectory).expect("there is one"));
    assert!(found(&late, Backup::Keep), "without the sync of the directory before the names move");
    let mut early = recorded(Backup::Keep);
    let renamed = |op: &Op| matches!(op, Op::Rename(_, to) if *to == names.main);
    let at = early.iter().position(renamed).expect("there is one");
    let first = early.iter().position(|op| *op == Op::Sync(2)).expect("there is one");
    early.swap(at, first);
    assert!(found(&early, Backup::Keep), "the file's name before the copy is on the disk");
    // Writing in place.
    assert!(found(&[Op::Create(names.main.clone(), 1), Op::Write(1, NEW.to_vec())], Backup::None));
}

/// Makes the calls on a real directory, but fails one of them, or all from one on.
#[derive(Debug)]
struct Faulty {
    directory: Directory,
    calls: Cell<usize>,
    fail_at: usize,
    errno: Errno,
    then: Then,
}

/// The effect of the failure on later calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Then {
    /// Later calls work.
    GoOn,
    /// The process was killed: no later call has an effect.
    Dead,
}

impl Faulty {
    fn call<T>(&self, half: impl FnOnce(), call: impl FnOnce() -> io::Result<T>) -> io::Result<T> {
        let number = self.calls.get();
        self.calls.set(number + 1);
        if number == self.fail_at {
            half();
            return Err(self.errno.into());
        }
        if number > self.fail_at && self.then == Then::Dead {
            return Err(self.errno.into());
        }
        call()
    }
}

impl Steps for Faulty {
    type File = std::fs::File;

    fn remove(&self, name: &str) -> io::Result<()> {
        self.call(|| {}, || self.directory.remove(name))
    }

    fn create(&self, name: &str) -> io::Result<Self::File> {
        self.call(|| {}, || self.directory.create(name))
    }

    fn write(&self, file: &mut Self::File, bytes: &[u8]) -> io::Result<()> {
        let mut same = file.try_clone()?;
        let half =
            || self.directory.write(&mut same, &bytes[..bytes.len() / 2]).expect("half of it is written");
        self.call(half, || self.directory.write(file, bytes))
    }

    fn sync(&self, file: &Self::File) -> io::Result<()> {
        self.call(|| {}, || self.directory.sync(file))
    }

    fn sync_both(&self, first: &Self::File, second: &Self::File) -> Synced {
        Synced { first: self.sync(first), second: self.sync(second), directory: self.sync_directory() }
    }

    fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        self.call(|| {}, || self.directory.rename(from, to))
    }

    fn sync_directory(&self) -> io::Result<()> {
        self.call(|| {}, || self.directory.sync_directory())
    }
}

fn names_in(dir: &Dir) -> Vec<String> {
    let entries = dir.entries().expect("a directory");
    let mut names: Vec<String> =
        entries.map(|entry| entry.expect("an entry").file_name().into_string().expect("UTF-8")).collect();
    names.sort();
    names
}

/// Runs one replacement of an old file, with a failure at one call.
fn with_failure(fail_at: usize, errno: Errno, then: Then) -> (Result<(), Failure>, Dir, tempfile::TempDir) {
    let home = tempfile::tempdir().expect("a directory");
    let dir = Dir::open_ambient_dir(home.path(), ambient_authority()).expect("a directory");
    for name in [NAME, "pins.toml.last-good"] {
        dir.write(name, OLD).expect("written");
    }
    let directory = Directory::open(&dir).expect("a directory");
    let steps = Faulty { directory, calls: Cell::new(0), fail_at, errno, then };
    let done = replace(&steps, &Names::of(NAME).expect("a plain name"), NEW, Backup::Keep);
    (done, dir, home)
}

#[test]
fn a_failure_at_any_call_leaves_the_old_file() {
    let calls = recorded(Backup::Keep).len();
    assert_eq!(calls, 12);
    for errno in [Errno::NOSPC, Errno::IO, Errno::ROFS, Errno::DQUOT] {
        for fail_at in 0..calls {
            let (done, dir, _home) = with_failure(fail_at, errno, Then::GoOn);
            let failure = done.expect_err("the call failed");
            assert_eq!(failure.source.raw_os_error(), Some(errno.raw_os_error()));
            let last = fail_at == calls - 1;
            assert_eq!(failure.placed, if last { Placed::Yes } else { Placed::No }, "{failure:?}");
            let expected = if last { NEW } else { OLD };
            assert_eq!(dir.read(NAME).expect("the file"), expected, "call {fail_at}");
            assert_eq!(names_in(&dir), [NAME, "pins.toml.last-good"], "call {fail_at} leaves nothing behind");
        }
    }
}

#[test]
fn a_death_at_any_call_leaves_old_or_new_and_the_next_hold_cleans_up() {
    let calls = recorded(Backup::Keep).len();
    for fail_at in 0..calls {
        let (done, dir, _home) = with_failure(fail_at, Errno::IO, Then::Dead);
        assert!(done.is_err());
        let (main, last) = (dir.read(NAME).expect("it"), dir.read("pins.toml.last-good").expect("it"));
        assert!(main == OLD || (main == NEW && last == NEW), "call {fail_at}");
        assert!(last == OLD || last == NEW, "call {fail_at}");
        let directory = Directory::open(&dir).expect("a directory");
        let third = b"the third\n";
        replace(&directory, &Names::of(NAME).expect("a plain name"), third, Backup::Keep)
            .expect("it is free");
        assert_eq!(dir.read(NAME).expect("it"), third);
        assert_eq!(dir.read("pins.toml.last-good").expect("it"), third);
        assert_eq!(names_in(&dir), [NAME, "pins.toml.last-good"]);
    }
}
