//! The most memory that a snapshot has allocated at a time, counted by an allocator.
//!
//! The allocator copies on every change of size, so a transient copy of a file shows here even where the system's
//! allocator would shrink in place. `tests/it/memory.rs` measures the same from outside, in pages.

#![expect(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "tests build directories by ordinary means, and stop at the first surprise"
)]

use std::num::NonZeroUsize;

use plugward_sandbox_path::{Jail, Policy};
use plugward_tree_lock::{Excludes, Snapshot, TreeCheck, TreeLimits};

/// What a read of `files` files of `size` bytes allocates.
struct Measured {
    /// Bytes of all files.
    tree: u64,
    /// The most bytes allocated at a time during the read.
    peak: u64,
    /// The bytes that the snapshot still has.
    after: u64,
}

fn measure(files: usize, size: usize) -> Measured {
    let directory = tempfile::tempdir().unwrap();
    for index in 0..files {
        std::fs::write(directory.path().join(format!("f{index:04}")), vec![b'x'; size]).unwrap();
    }
    let jail = Jail::open(directory.path(), Policy::standard()).unwrap();
    let mut read = None;
    let counts = allocation_counter::measure(|| {
        // One job, since the counts are those of the calling thread.
        let check = Snapshot::read(&jail, &TreeLimits::standard(), &Excludes::none(), NonZeroUsize::MIN);
        read = Some(check.unwrap());
    });
    let Some(TreeCheck::Read(tree)) = read else { panic!("refused") };
    assert_eq!(tree.len(), files);
    let measured = Measured {
        tree: tree.total_bytes(),
        peak: counts.bytes_max,
        after: u64::try_from(counts.bytes_current).unwrap(),
    };
    let Measured { tree, peak, after } = measured;
    println!("{files} files of {size} bytes: tree {tree}, peak {peak}, after {after}");
    measured
}

#[test]
fn ordinary_trees_take_a_tenth_more_than_their_bytes() {
    for (files, size) in [(200, 100_000), (1, 50_000_000), (50, 10_000)] {
        let Measured { tree, peak, after } = measure(files, size);
        assert!(after <= peak && peak <= tree + tree / 10, "{peak} of {tree}");
    }
}

/// Where files are small, their entries count: the path, the digest and the line of the list.
#[test]
fn small_files_take_their_bytes_and_an_entry_each() {
    let Measured { tree, peak, after } = measure(5000, 1000);
    assert!(after <= peak && peak <= tree + 5000 * 320, "{peak} of {tree}");
}
