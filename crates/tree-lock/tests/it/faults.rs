//! What cannot be read is an error and neither a tree nor a refusal.

use std::fs::{self, File};
use std::num::NonZeroUsize;
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::process::CommandExt as _;
use std::process::Command;

use plugward_tree_lock::{Excludes, Snapshot, TreeCheck, TreeLimits};

use crate::tree::{Tree, jail};

const DIRECTORY: &str = "PLUGWARD_TEST_UNREADABLE";
const SAYS: &str = "it says: ";

fn ask(directory: &std::path::Path) -> String {
    match Snapshot::read(&jail(directory), &TreeLimits::standard(), &Excludes::none(), NonZeroUsize::MIN) {
        Ok(TreeCheck::Read(snapshot)) => snapshot.preimage().replace('\n', ";"),
        Ok(TreeCheck::Refused(why)) => why.to_string(),
        Err(error) => {
            assert!(std::error::Error::source(&error).is_some() && !error.help().is_empty());
            format!("{} {error}", error.code())
        }
    }
}

/// Reads the directory in the environment variable as another user. Does nothing without the variable.
#[test]
fn child() {
    match std::env::var_os(DIRECTORY) {
        None => println!("skipped: started by the test beside it"),
        Some(directory) => println!("{SAYS}{}", ask(directory.as_ref())),
    }
}

#[test]
fn an_entry_that_cannot_be_read_is_named() {
    let make = |build: &dyn Fn(&Tree)| {
        let tree = Tree::new();
        fs::set_permissions(tree.path(), fs::Permissions::from_mode(0o755)).unwrap();
        tree.file("a", "1").file("d/f", "1").file("z", "1");
        build(&tree);
        tree
    };
    let deny = |tree: &Tree, path: &str| {
        fs::set_permissions(tree.path().join(path), fs::Permissions::from_mode(0o000)).unwrap();
    };
    let probe = make(&|tree| deny(tree, "a"));
    // Root can read everything, so the test runs as another user.
    let everything = File::open(probe.path().join("a")).is_ok();
    let says = |tree: &Tree| {
        if !everything {
            return Some(ask(tree.path()));
        }
        let child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "faults::child", "--nocapture", "--test-threads=1"])
            .env(DIRECTORY, tree.path())
            .uid(65534)
            .gid(65534)
            .output();
        let Ok(child) = child else {
            println!("skipped: nobody else may start this test");
            return None;
        };
        let out = String::from_utf8_lossy(&child.stdout).into_owned();
        let said = out.lines().find_map(|line| line.split_once(SAYS));
        Some(said.unwrap_or_else(|| panic!("{out}{}", String::from_utf8_lossy(&child.stderr))).1.to_owned())
    };
    let both = make(&|tree| {
        deny(tree, "z");
        deny(tree, "a");
    });
    let directory = make(&|tree| deny(tree, "d"));
    let refused_too = make(&|tree| {
        deny(tree, "z");
        tree.fifo("pipe");
    });
    for (tree, expected) in [
        (&probe, "tree/io read a"),
        (&both, "tree/io read a"),
        (&directory, "tree/io read d"),
        // Both a no and a failure: we could not tell.
        (&refused_too, "tree/io read z"),
    ] {
        if let Some(said) = says(tree) {
            assert_eq!(said, expected);
        }
    }
    // What is left out need not be readable.
    let excluded = make(&|tree| {
        tree.file(".git/config", "");
        deny(tree, ".git");
    });
    if let Some(said) = says(&excluded) {
        assert_eq!(said, "tree/io read .git");
    }
    fs::set_permissions(directory.path().join("d"), fs::Permissions::from_mode(0o755)).unwrap();
    fs::set_permissions(excluded.path().join(".git"), fs::Permissions::from_mode(0o755)).unwrap();
}
