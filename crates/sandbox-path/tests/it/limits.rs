//! Sizes, lengths, bits and descriptors.

use std::fs;
use std::os::fd::AsFd as _;
use std::os::unix::fs::PermissionsExt as _;

use plugward_sandbox_path::{FileKind, Jail, Policy, SandboxedPath, WalkLimits};
use rustix::fs::{Mode, OFlags};
use rustix::process::{Resource, Rlimit, setrlimit};

use crate::child;
use crate::tiers::{TIERS, Tier, on};
use crate::world::World;

#[test]
fn the_longest_path_that_there_is() {
    let world = World::new();
    let mut at = rustix::fs::open(world.at(""), OFlags::PATH, Mode::empty()).unwrap();
    // 2,047 directories of one letter and a file: 4,095 bytes.
    for _ in 0..2047 {
        rustix::fs::mkdirat(&at, "d", Mode::RWXU).unwrap();
        at = rustix::fs::openat(&at, "d", OFlags::PATH, Mode::empty()).unwrap();
    }
    let new = OFlags::CREATE | OFlags::WRONLY;
    let file = rustix::fs::openat(at.as_fd(), "f", new, Mode::RWXU).unwrap();
    rustix::io::write(file, b"deep").unwrap();
    let path = "d/".repeat(2047) + "f";
    for tier in TIERS {
        on(tier, |open| {
            let jail = open(&world.at(""), Policy::standard());
            assert_eq!(jail.read(&path, 9).unwrap(), b"deep");
            assert_eq!(jail.read("./".to_owned() + &path, 9).unwrap_err().code(), "path/too-long");
            assert_eq!(jail.read(path[..4094].to_owned() + "g", 9).unwrap_err().component(), Some(2048));
            let seen = SandboxedPath::create(&jail, &path).unwrap();
            assert_eq!(seen.open().unwrap().opened().len(), 4);
            let all = WalkLimits { entries: 10_000, depth: 10_000 };
            assert_eq!(jail.remove_tree("d", all).unwrap_err().code(), "path/too-deep");
            // From the jail to each of 2,047 directories: two million steps on the walk, where once is enough.
            if tier != Tier::Kernel {
                return;
            }
            assert_eq!(jail.walk(".", all).unwrap().flatten().count(), 2048);
            // One level more has a name of its own, and no path from here.
            let deeper = jail.walk(".", WalkLimits { entries: 10_000, depth: 2000 }).unwrap();
            assert_eq!(deeper.last().unwrap().unwrap_err().code(), "path/too-deep");
        });
    }
}

#[test]
fn sizes_are_counted_and_not_believed() {
    let world = World::new();
    world.file("ten", "0123456789").file("empty", "");
    let sparse = fs::File::create(world.at("sparse")).unwrap();
    sparse.set_len(2 << 30).unwrap();
    for jail in world.jails(Policy::standard()) {
        assert_eq!(jail.read("ten", 10).unwrap().len(), 10);
        assert_eq!(jail.read("ten", 9).unwrap_err().code(), "path/too-large");
        assert_eq!(jail.read("ten", u64::MAX).unwrap().len(), 10);
        assert_eq!(jail.read("empty", 0).unwrap(), b"");
        assert_eq!(jail.read("sparse", 1 << 16).unwrap_err().code(), "path/too-large");
        let big = jail.read("sparse", 3 << 20).unwrap_err();
        assert_eq!(big.to_string(), "read sparse: the path contains more than the limit of 3145728");
        let file = jail.open_read("ten").unwrap();
        let chunk = |offset, max| {
            let chunk = file.read_chunk(offset, max).unwrap();
            (String::from_utf8(chunk.bytes).unwrap(), chunk.end)
        };
        assert_eq!(chunk(0, 4), ("0123".into(), false));
        assert_eq!(chunk(4, 6), ("456789".into(), true));
        assert_eq!(chunk(4, 60_000), ("456789".into(), true));
        assert_eq!(chunk(10, 4), (String::new(), true));
        assert_eq!(chunk(u64::MAX, 4), (String::new(), true));
        assert_eq!(chunk(3, 0), (String::new(), false));
    }
    // A file whose stated size is 0 goes on all the same.
    let jail = Jail::open_following("/proc/self", Policy::standard());
    if let Ok(jail) = jail {
        assert_eq!(jail.open_read("maps").unwrap().opened().len(), 0);
        assert!(!jail.read("maps", 1 << 24).unwrap().is_empty());
        assert_eq!(jail.read("maps", 20).unwrap_err().code(), "path/too-large");
    } else {
        println!("skipped in part: there is no procfs here");
    }
}

#[test]
fn bits_are_reported_and_not_judged() {
    let world = World::new();
    world.file("tool", "");
    fs::set_permissions(world.at("tool"), fs::Permissions::from_mode(0o6755)).unwrap();
    for jail in world.jails(Policy::agent()) {
        let meta = jail.metadata("tool").unwrap();
        assert_eq!((meta.mode(), meta.kind(), meta.links()), (0o6755, FileKind::File, 1));
        assert_eq!(jail.read("tool", 9).unwrap(), b"");
    }
}

#[test]
fn running_out_of_descriptors_is_said() {
    if child::argument().is_none() {
        let command = child::under(&["/usr/bin/env"], "limits::running_out_of_descriptors_is_said", "few");
        return child::passes(command);
    }
    let world = World::new();
    world.file("a/b/c/f", "in").directory("x/y");
    for jail in world.jails(Policy::standard()) {
        let open = || fs::read_dir("/proc/self/fd").unwrap().count();
        let before = open();
        let full = rustix::process::getrlimit(Resource::Nofile);
        let mut held = Vec::new();
        // One path holds one descriptor until it is let go.
        let tight = before as u64 + 2;
        setrlimit(Resource::Nofile, Rlimit { current: Some(tight), maximum: full.maximum }).unwrap();
        let error = loop {
            match SandboxedPath::create(&jail, "a/b/c/f") {
                Ok(seen) => held.push(seen),
                Err(error) => break error,
            }
        };
        assert_eq!((error.code(), held.is_empty()), ("path/exhausted", false));
        let mut last = Vec::new();
        while let Ok(file) = fs::File::open("/dev/null") {
            last.push(file);
        }
        let codes = [
            jail.read("a/b/c/f", 9).unwrap_err().code(),
            jail.list("a", 9).unwrap_err().code(),
            jail.metadata("a").unwrap_err().code(),
            jail.replace("a/n", b"", plugward_sandbox_path::Perm::PRIVATE_FILE).unwrap_err().code(),
            jail.remove_tree("x", WalkLimits { entries: 9, depth: 9 }).unwrap_err().code(),
            held[0].open().unwrap_err().code(),
        ];
        assert!(codes.iter().all(|code| *code == "path/exhausted"), "{codes:?}");
        // The walk holds no more than three at a time: with three free ones every depth is reached.
        held.clear();
        last.clear();
        setrlimit(Resource::Nofile, Rlimit { current: Some(before as u64 - 1 + 3), maximum: full.maximum })
            .unwrap();
        assert_eq!(jail.read("a/b/c/f", 9).unwrap(), b"in");
        setrlimit(Resource::Nofile, full).unwrap();
        let loose: Vec<_> =
            (0..50).map(|_| SandboxedPath::create(&jail, "a/b/c/f").unwrap().unpin()).collect();
        assert_eq!((open(), loose.len()), (before, 50), "nothing is left open");
    }
}
