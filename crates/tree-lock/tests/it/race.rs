//! Directories that change while they are read: first at chosen moments, then at any.

use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::num::NonZeroUsize;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use plugward_sandbox_path::{FilesystemRaceDetected, Jail, RaceObserver};
use plugward_tree_lock::{
    DigestCheck, DigestedTree, Excludes, ExecBits, ReadOptions, ReadProgress, Snapshot, TreeCheck, TreeError,
    TreeLimits, TreeProblemKind, TreeRefusal,
};
use plugward_types::Digest;
use rustix::fs::{CWD, RenameFlags, renameat_with};
use sha2::{Digest as _, Sha256};

use crate::tree::{Tree, blames, pairs, refused};

/// Records the races that a jail reports, as `path: cause`.
#[derive(Default)]
struct Witness(Mutex<Vec<String>>);

impl Witness {
    /// Returns the records since the last call, sorted.
    fn take(&self) -> Vec<String> {
        let mut records = std::mem::take(&mut *self.0.lock().unwrap());
        records.sort();
        records
    }
}

impl RaceObserver for Witness {
    fn race(&self, race: &FilesystemRaceDetected) {
        let path = race.relative().as_str().unwrap();
        self.0.lock().unwrap().push(format!("{path}: {}", race.cause()));
    }
}

/// Returns the paths that a refusal blames for a change.
fn changed_paths(why: &TreeRefusal) -> Vec<String> {
    let changed = |kind: &TreeProblemKind| *kind == TreeProblemKind::ChangedWhileRead;
    assert_eq!(why.left_out(), 0);
    why.problems()
        .iter()
        .filter(|problem| changed(problem.kind()))
        .map(|problem| problem.path().unwrap().to_owned())
        .collect()
}

/// Returns the paths of some records, in the order of a refusal's problems.
fn paths_of(records: &[String]) -> Vec<String> {
    let mut paths: Vec<_> =
        records.iter().map(|record| record.split_once(": ").unwrap().0.to_owned()).collect();
    paths.sort();
    paths
}

/// Hands out how to read with one thread, and to make a change right after the first file was read.
fn changing<T>(
    tree: &Tree,
    change: impl Fn(&Path) + Sync,
    read: impl Fn(&Jail, &ReadOptions<'_>) -> T,
) -> (T, Vec<String>) {
    let done = AtomicBool::new(false);
    let hook = |_: ReadProgress| {
        if !done.swap(true, Ordering::Relaxed) {
            change(tree.path());
        }
    };
    let (limits, exclude) = (TreeLimits::standard(), Excludes::none());
    let options = ReadOptions {
        limits: &limits,
        exclude: &exclude,
        exec: ExecBits::Modes,
        jobs: NonZeroUsize::MIN,
        progress: &hook,
    };
    let witness = Arc::new(Witness::default());
    let result = read(&tree.jail().with_observer(witness.clone()), &options);
    (result, witness.take())
}

fn read_changing(tree: &Tree, change: impl Fn(&Path) + Sync) -> Result<TreeCheck, TreeError> {
    let (check, records) = changing(tree, change, Snapshot::read_with);
    // Every path that is blamed was reported once, and no other.
    match &check {
        Ok(TreeCheck::Read(_)) => assert_eq!(records, Vec::<String>::new()),
        Ok(TreeCheck::Refused(why)) => assert_eq!(paths_of(&records), changed_paths(why)),
        Err(error) => panic!("{error}"),
    }
    check
}

/// `a` is read first; `z`, `d/f`, the links and the directories are known and not read yet.
fn sample() -> Tree {
    let tree = Tree::new();
    tree.file("a", "first")
        .file("d/f", "1")
        .file("e/f", "1")
        .link("l", "a")
        .file("z", "last")
        .directory("empty");
    tree
}

#[test]
fn every_change_after_the_listing_is_seen() {
    type Change = fn(&Path);
    let changes: [(&str, Change, &[&str]); 16] = [
        ("new file", |at| fs::write(at.join("new"), "").unwrap(), &[""]),
        ("new file in a directory that was read", |at| fs::write(at.join("d/new"), "").unwrap(), &["d"]),
        ("new empty directory", |at| fs::create_dir(at.join("d/new")).unwrap(), &["d"]),
        ("file gone that was read", |at| fs::remove_file(at.join("a")).unwrap(), &[""]),
        ("file gone that was not read", |at| fs::remove_file(at.join("z")).unwrap(), &["z"]),
        ("renamed", |at| fs::rename(at.join("z"), at.join("y")).unwrap(), &["z"]),
        (
            "link instead of a file",
            |at| {
                fs::remove_file(at.join("z")).unwrap();
                symlink("/etc/hostname", at.join("z")).unwrap();
            },
            &["z"],
        ),
        (
            "directory instead of a file",
            |at| {
                fs::remove_file(at.join("z")).unwrap();
                fs::create_dir(at.join("z")).unwrap();
            },
            &["z"],
        ),
        (
            "pipe instead of a file",
            |at| {
                fs::remove_file(at.join("z")).unwrap();
                fifo(&at.join("z"));
            },
            &["z"],
        ),
        (
            "link instead of a directory",
            |at| {
                fs::rename(at.join("e"), at.join("x")).unwrap();
                symlink("x", at.join("e")).unwrap();
            },
            &["e/f"],
        ),
        ("directory gone", |at| fs::remove_dir_all(at.join("e")).unwrap(), &["e/f"]),
        ("empty directory gone", |at| fs::remove_dir(at.join("empty")).unwrap(), &["", "empty"]),
        (
            "other directory, same names",
            |at| {
                fs::rename(at.join("d"), at.with_extension("old")).unwrap();
                fs::create_dir(at.join("d")).unwrap();
                fs::write(at.join("d/f"), "2").unwrap();
                fs::remove_dir_all(at.with_extension("old")).unwrap();
            },
            &["d"],
        ),
        (
            "file instead of an empty directory",
            |at| {
                fs::remove_dir(at.join("empty")).unwrap();
                fs::write(at.join("empty"), "").unwrap();
            },
            &["", "empty"],
        ),
        (
            "link leads elsewhere",
            |at| {
                fs::remove_file(at.join("l")).unwrap();
                symlink("z", at.join("l")).unwrap();
            },
            &["l"],
        ),
        (
            "file instead of a link",
            |at| {
                fs::remove_file(at.join("l")).unwrap();
                fs::write(at.join("l"), "a").unwrap();
            },
            &["", "l"],
        ),
    ];
    for (what, change, blamed) in changes {
        let tree = sample();
        let why = refused(read_changing(&tree, change).unwrap());
        let expected: Vec<_> = blamed.iter().map(|path| ("tree/changed-while-read", *path)).collect();
        assert_eq!(blames(&why), pairs(&expected), "{what}");
        assert!(why.is_only_change());
        // The same change, where nothing is kept.
        let (check, records) = changing(&sample(), change, DigestedTree::read_with);
        match check.unwrap() {
            DigestCheck::Refused(other) => {
                assert_eq!(other.problems(), why.problems(), "{what}");
                assert_eq!(paths_of(&records), changed_paths(&other), "{what}");
            }
            DigestCheck::Digested(digested) => panic!("{what}: {}", digested.digest()),
        }
        // Once it is quiet it is a tree, or refused for what it has become.
        match tree.check() {
            TreeCheck::Read(_) => {}
            TreeCheck::Refused(why) => assert!(!why.is_only_change(), "{what}: {why}"),
        }
    }
}

#[test]
fn each_change_is_reported_with_its_cause() {
    type Change = fn(&Path);
    let changes: [(Change, &[&str]); 9] = [
        (|at| fs::write(at.join("d/new"), "").unwrap(), &["d: changed while it was read"]),
        (|at| fs::remove_file(at.join("z")).unwrap(), &["z: no longer exists"]),
        (
            |at| {
                fs::remove_file(at.join("z")).unwrap();
                symlink("/etc/hostname", at.join("z")).unwrap();
            },
            &["z: now contains a symbolic link"],
        ),
        (
            |at| {
                fs::remove_file(at.join("z")).unwrap();
                fifo(&at.join("z"));
            },
            &["z: now leads to a named pipe"],
        ),
        (
            |at| {
                fs::rename(at.join("e"), at.join("x")).unwrap();
                fs::write(at.join("e"), "").unwrap();
            },
            &["e/f: now leads to another kind of object"],
        ),
        (
            |at| {
                fs::rename(at.join("d"), at.with_extension("old")).unwrap();
                fs::create_dir(at.join("d")).unwrap();
                fs::write(at.join("d/f"), "2").unwrap();
                fs::remove_dir_all(at.with_extension("old")).unwrap();
            },
            &["d: now leads to another object"],
        ),
        (
            |at| fs::remove_dir(at.join("empty")).unwrap(),
            &[": changed while it was read", "empty: no longer exists"],
        ),
        (
            |at| {
                fs::remove_file(at.join("l")).unwrap();
                symlink("z", at.join("l")).unwrap();
            },
            &["l: changed while it was read"],
        ),
        (
            |at| {
                fs::remove_file(at.join("l")).unwrap();
                fs::write(at.join("l"), "a").unwrap();
            },
            &[": changed while it was read", "l: now leads to a regular file"],
        ),
    ];
    for (change, expected) in changes {
        let (check, records) = changing(&sample(), change, Snapshot::read_with);
        assert_eq!(records, expected);
        assert_eq!(changed_paths(&refused(check.unwrap())), paths_of(&records));
    }
    // A tree that is refused for something else is not a race.
    let tree = sample();
    tree.link("broken", "nowhere");
    let (check, records) = changing(&tree, |_| (), Snapshot::read_with);
    assert_eq!((refused(check.unwrap()).problems().len(), records.len()), (1, 0));
}

fn fifo(path: &Path) {
    rustix::fs::mknodat(CWD, path, rustix::fs::FileType::Fifo, rustix::fs::Mode::from(0o644), 0).unwrap();
}

/// What is not part of a tree may change; and a file that was rewritten before its turn has its new bytes.
#[test]
fn near_misses_are_read() {
    let tree = sample();
    let snapshot =
        crate::tree::read(read_changing(&tree, |at| fs::write(at.join("z"), "other").unwrap()).unwrap());
    assert_eq!(snapshot.get("z").unwrap().bytes(), b"other");
    let tree = sample();
    let outside = Tree::new();
    let touch = |at: &Path| {
        fs::set_permissions(at.join("d"), fs::Permissions::from_mode(0o700)).unwrap();
        fs::write(at.join("new"), "").unwrap();
        fs::rename(at.join("new"), outside.path().join("new")).unwrap();
    };
    crate::tree::read(read_changing(&tree, touch).unwrap());
}

/// Bits and names of a file that was read are facts of the snapshot; a later change of its content is not.
#[test]
fn the_digest_is_of_the_bytes_held() {
    let tree = sample();
    let before = tree.digest();
    let snapshot =
        crate::tree::read(read_changing(&tree, |at| fs::write(at.join("a"), "FIRST").unwrap()).unwrap());
    assert_eq!(snapshot.digest().to_string(), before);
    assert_eq!(snapshot.get("a").unwrap().bytes(), b"first");
    assert_ne!(tree.digest(), before);
}

#[test]
fn a_file_that_grows_is_never_half_believed() {
    let tree = Tree::new();
    tree.file("log", vec![b'x'; 4 << 20]);
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let _stop = Stop(&stop);
        scope.spawn(|| {
            let mut log = OpenOptions::new().append(true).open(tree.path().join("log")).unwrap();
            while !stop.load(Ordering::Relaxed) {
                log.write_all(b"x").unwrap();
            }
        });
        let mut seen = 0;
        let witness = Arc::new(Witness::default());
        let jail = tree.jail().with_observer(witness.clone());
        for _ in 0..500 {
            let check = Snapshot::read(&jail, &TreeLimits::standard(), &Excludes::none(), NonZeroUsize::MIN);
            match check.unwrap() {
                TreeCheck::Read(snapshot) => {
                    assert_eq!(snapshot.len(), 1);
                    assert_eq!(witness.take(), Vec::<String>::new());
                }
                TreeCheck::Refused(why) => {
                    assert!(why.is_only_change(), "{why}");
                    assert_eq!(witness.take(), ["log: changed while it was read"]);
                    seen += 1;
                }
            }
            if seen == 5 {
                break;
            }
        }
        assert_eq!(seen, 5);
    });
}

/// Ends the other thread, also when an assertion ends this one.
struct Stop<'a>(&'a AtomicBool);

impl Drop for Stop<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

const SECRET: &[u8] = b"OUTSIDE";

/// Everything an attacker does to the directory, over and over. It never opens the name that may be a pipe.
fn attack(at: &Path, outside: &Path, stop: &AtomicBool, rounds: &AtomicU64) {
    let exchange = |one: &str, other: &Path| {
        // Fails where the other has just moved on; the next round comes.
        renameat_with(CWD, at.join(one), CWD, other, RenameFlags::EXCHANGE).is_ok()
    };
    fs::create_dir(outside.join("dir")).unwrap();
    fs::write(outside.join("dir/f"), SECRET).unwrap();
    symlink(outside.join("dir"), outside.join("dirlink")).unwrap();
    symlink(outside.join("dir/f"), outside.join("filelink")).unwrap();
    fifo(&outside.join("pipe"));
    let mut round = 0_usize;
    while !stop.load(Ordering::Relaxed) {
        round += 1;
        let name = format!("many/{:02}", round % 40);
        match round % 9 {
            0 => fs::write(at.join(&name), vec![b'a'; 5000]).unwrap(),
            1 => OpenOptions::new().append(true).open(at.join(&name)).unwrap().write_all(b"more").unwrap(),
            2 => drop(exchange("d/deep", &outside.join("dirlink"))),
            3 => drop(exchange("z", &outside.join("filelink"))),
            4 => drop(exchange("quiet", &outside.join("pipe"))),
            5 => fs::write(at.join("added"), "x").unwrap(),
            6 => fs::remove_file(at.join("added")).unwrap_or_default(),
            7 => fs::set_permissions(
                at.join(&name),
                fs::Permissions::from_mode(if round.is_multiple_of(2) { 0o755 } else { 0o644 }),
            )
            .unwrap(),
            _ => drop(exchange("one", &at.join("two"))),
        }
        rounds.fetch_add(1, Ordering::Relaxed);
    }
}

#[derive(Clone, Copy, PartialEq)]
enum Rebuild {
    Yes,
    No,
}

fn proves_itself(snapshot: &Snapshot, rebuild: Rebuild) {
    assert_eq!(snapshot.digest().as_bytes(), Sha256::digest(snapshot.preimage()).as_slice());
    for entry in snapshot.entries() {
        assert_eq!(entry.digest(), &Digest::from_bytes(Sha256::digest(entry.bytes()).into()));
        assert!(entry.target().is_some() || entry.bytes() != SECRET, "{}", entry.path());
    }
    if rebuild == Rebuild::No {
        return;
    }
    // A directory rebuilt from the snapshot, without an attacker, has the same digest.
    let again = Tree::new();
    for entry in snapshot.entries() {
        match entry.target() {
            Some(target) => again.link(entry.path(), target),
            None => {
                again.mode(entry.path(), entry.bytes(), if entry.is_executable() { 0o755 } else { 0o644 })
            }
        };
    }
    assert_eq!(again.read().digest(), snapshot.digest());
}

#[test]
fn under_attack_it_is_refused_or_proves_itself() {
    let rounds: usize = if cfg!(feature = "_test-race") { 20_000 } else { 100 };
    let (tree, outside) = (Tree::new(), Tree::new());
    tree.file("d/deep/f", "1")
        .file("z", "z")
        .file("one", "1")
        .file("two", "2")
        .file("quiet", "")
        .link("l", "d/deep");
    for index in 0..40 {
        tree.file(format!("many/{index:02}"), vec![b'a'; 5000]);
    }
    let (stop, attacks) = (AtomicBool::new(false), AtomicU64::new(0));
    let witness = Arc::new(Witness::default());
    let jail: Jail = tree.jail().with_observer(witness.clone());
    let (mut read, mut changed, mut other, mut reports) = (0, 0, 0, 0);
    std::thread::scope(|scope| {
        let _stop = Stop(&stop);
        scope.spawn(|| attack(tree.path(), outside.path(), &stop, &attacks));
        for round in 0..rounds {
            let jobs = NonZeroUsize::new(1 + round % 3).unwrap();
            let check = match Snapshot::read(&jail, &TreeLimits::standard(), &Excludes::none(), jobs) {
                Ok(check) => check,
                Err(error) => {
                    // The only failure that an attacker can cause: the kernel gave up on a path that kept changing.
                    let source = std::error::Error::source(&error).unwrap().to_string();
                    assert!(source.ends_with("kept changing"), "{source}");
                    witness.take();
                    continue;
                }
            };
            // On every thread, each path that is blamed for a change was reported once.
            let records = paths_of(&witness.take());
            reports += records.len();
            match &check {
                TreeCheck::Read(_) => assert_eq!(records, Vec::<String>::new()),
                TreeCheck::Refused(why) => assert_eq!(records, changed_paths(why)),
            }
            match check {
                TreeCheck::Read(snapshot) => {
                    read += 1;
                    proves_itself(&snapshot, if read % 20 == 1 { Rebuild::Yes } else { Rebuild::No });
                }
                TreeCheck::Refused(why) if why.is_only_change() => changed += 1,
                // The attacker's link or pipe was there when it was listed.
                TreeCheck::Refused(why) => {
                    let known = |code: &str| {
                        matches!(
                            code,
                            "tree/changed-while-read"
                                | "tree/link-absolute"
                                | "tree/special-file"
                                | "tree/link-escapes"
                                | "tree/link-broken"
                        )
                    };
                    assert!(why.problems().iter().all(|problem| known(problem.code())), "{why}");
                    other += 1;
                }
            }
        }
    });
    let attacks = attacks.load(Ordering::Relaxed);
    println!(
        "{rounds} reads under {attacks} changes: {read} read, {changed} changed, {other} refused for what was found, {reports} races reported"
    );
    assert!(attacks > 0 && changed > 0, "the attacker came too late to show anything");
}
