//! How much memory a read takes at its peak, seen from outside: the test starts itself again and asks the kernel.

use std::fs;
use std::process::Command;

use plugward_tree_lock::{DigestCheck, DigestedTree, Excludes, Snapshot, TreeCheck, TreeLimits};

use crate::tree::{Tree, jail};

const DIRECTORY: &str = "PLUGWARD_TEST_DIRECTORY";
const KEEP: &str = "PLUGWARD_TEST_KEEP";
const BYTES: &str = "peak bytes: ";

fn peak() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    line.trim().trim_end_matches(" kB").parse::<u64>().unwrap() * 1024
}

/// Reads the directory in the environment variable and prints the memory use. Does nothing without the variable.
#[test]
fn child() {
    let Some(directory) = std::env::var_os(DIRECTORY) else {
        println!("skipped: started by the tests beside it");
        return;
    };
    // Everything that is used once is used once before.
    let warm = Tree::new();
    warm.file("a", "a").link("b", "a");
    drop(warm.check_with(&TreeLimits::standard(), &Excludes::none()));
    let before = peak();
    if std::env::var_os(KEEP).is_some_and(|keep| keep == "nothing") {
        let read = DigestedTree::read(
            &jail(directory.as_ref()),
            &TreeLimits::standard(),
            &Excludes::none(),
            2.try_into().unwrap(),
        );
        match read.unwrap() {
            DigestCheck::Digested(tree) => {
                println!("{BYTES}{} {} {}", peak() - before, tree.total_bytes(), tree.digest());
            }
            DigestCheck::Refused(why) => println!("{BYTES}{} refused {why}", peak() - before),
        }
        return;
    }
    let check = Snapshot::read(
        &jail(directory.as_ref()),
        &TreeLimits::standard(),
        &Excludes::none(),
        2.try_into().unwrap(),
    )
    .unwrap();
    match check {
        TreeCheck::Read(tree) => println!("{BYTES}{} {} {}", peak() - before, tree.total_bytes(), tree.len()),
        TreeCheck::Refused(why) => println!("{BYTES}{} refused {why}", peak() - before),
    }
}

/// Gives the growth of the child's peak, and what it said.
fn grown(tree: &Tree, keep: &str) -> Option<(u64, String)> {
    if !fs::exists("/proc/self/status").unwrap() {
        println!("skipped: no /proc here");
        return None;
    }
    let child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "memory::child", "--nocapture", "--test-threads=1"])
        .env(DIRECTORY, tree.path())
        .env(KEEP, keep)
        .output()
        .unwrap();
    let out = String::from_utf8_lossy(&child.stdout);
    let line = out.lines().find_map(|line| line.split_once(BYTES)).unwrap_or_else(|| panic!("{out}")).1;
    let (bytes, rest) = line.split_once(' ').unwrap();
    println!("{bytes} bytes for {rest}");
    Some((bytes.parse().unwrap(), rest.to_owned()))
}

/// Paths of about 40 bytes, as real plugins have.
fn fill(tree: &Tree, files: usize, size: usize) {
    for index in 0..files {
        tree.file(
            format!("packages/module-{:02}/source/file-number-{index:05}", index % 50),
            vec![b'x'; size],
        );
    }
}

#[test]
fn a_tree_takes_its_bytes_and_little_more() {
    let tree = Tree::new();
    fill(&tree, 2000, 30_000);
    tree.file("large", vec![b'y'; 60 << 20]);
    if let Some((peak, rest)) = grown(&tree, "bytes") {
        let bytes: u64 = 2000 * 30_000 + (60 << 20);
        assert_eq!(rest, format!("{bytes} 2001"));
        assert!(peak <= bytes + bytes / 10 + 300 * 2055, "{peak}");
    }
    if let Some((peak, rest)) = grown(&tree, "nothing") {
        assert_eq!(rest, format!("122914560 {}", tree.digest()));
        // Two threads with a buffer and a stack each.
        assert!(peak <= (2 << 20) + 300 * 2055, "{peak}");
    }
}

/// The shapes of ordinary trees, read on two threads. `tests/allocations.rs` counts the same without pages.
#[test]
fn ordinary_trees_take_a_tenth_more_than_their_bytes() {
    for (files, size) in [(200, 100_000), (1, 50_000_000), (5000, 1000)] {
        let tree = Tree::new();
        for index in 0..files {
            tree.file(format!("f{index:04}"), vec![b'x'; size]);
        }
        let bytes = u64::try_from(files * size).unwrap();
        if let Some((peak, rest)) = grown(&tree, "bytes") {
            assert_eq!(rest, format!("{bytes} {files}"));
            // Where files are small, their entries count as well. The stack of the second thread is in the peak.
            let entries = u64::try_from(files).unwrap() * 300;
            assert!(peak <= bytes + bytes / 50 + entries + (1 << 19), "{peak}");
        }
    }
}

#[test]
fn an_entry_takes_at_most_three_hundred_bytes() {
    let tree = Tree::new();
    fill(&tree, 15_000, 1);
    if let Some((peak, rest)) = grown(&tree, "bytes") {
        assert_eq!(rest, "15000 15000");
        // The allocator's overhead does not count: one page per arena, 16 bytes per file.
        assert!(peak <= 300 * 15_100 + (1 << 20), "{peak}");
    }
}

#[test]
fn a_hundred_thousand_files_are_refused_in_little_memory() {
    let tree = Tree::new();
    tree.directory("d");
    for half in 0..2 {
        tree.file(format!("f{half}"), "x");
        for index in 0..50_000 {
            fs::hard_link(
                tree.path().join(format!("f{half}")),
                tree.path().join(format!("d/{half}-{index}")),
            )
            .unwrap();
        }
    }
    if let Some((peak, rest)) = grown(&tree, "bytes") {
        assert_eq!(rest, "refused tree/limit: more than 20000 files, symlinks and directories");
        assert!(peak < 16 << 20, "{peak}");
    }
}
