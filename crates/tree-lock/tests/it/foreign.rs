//! Changes that other digest schemes do not detect, and that `plugtree-v1` must detect.

use std::fs;
use std::path::{Path, PathBuf};

use plugward_tree_lock::{CodewizardDigest, h1};

use crate::tree::Tree;

fn plugin() -> Tree {
    let tree = Tree::new();
    tree.file("plugin.json", "{\"hooks\": \"hooks/hooks.json\"}\n").file("hooks/hooks.json", "{}\n");
    tree.file("api.py", "print('GOOD')\n")
        .file("copy.py", "print('GOOD')\n")
        .file("hooks/run.sh", "#!/bin/sh\n");
    tree
}

/// Planted bytecode, an execute bit, a file turned into a link to its own copy.
#[test]
fn three_changes_that_codewizard_does_not_see() {
    let (ours, theirs) = (plugin().digest(), CodewizardDigest::of(&plugin().read()));
    let bytecode = plugin();
    bytecode.file("__pycache__/api.cpython-311.pyc", "\0evil").file("api.pyc", "evil");
    let bit = plugin();
    bit.exec("hooks/run.sh", "#!/bin/sh\n");
    let link = plugin();
    fs::remove_file(link.path().join("copy.py")).unwrap();
    link.link("copy.py", "api.py");
    let (mut ours_saw, mut theirs_saw) = (0, 0);
    for changed in [bytecode, bit, link] {
        ours_saw += u32::from(changed.digest() != ours);
        theirs_saw += u32::from(CodewizardDigest::of(&changed.read()) != theirs);
    }
    assert_eq!((ours_saw, theirs_saw), (3, 0));
}

#[test]
fn one_byte_in_a_file_that_a_hook_starts() {
    let before = plugin().read();
    for path in ["hooks/run.sh", "api.py", "hooks/hooks.json"] {
        let changed = plugin();
        changed.file(path, [before.get(path).unwrap().bytes(), b" "].concat());
        let after = changed.read();
        assert_ne!(after.digest(), before.digest());
        // A hash of the manifest alone sees none of them.
        assert_eq!(after.get("plugin.json").unwrap().digest(), before.get("plugin.json").unwrap().digest());
    }
}

#[test]
fn h1_reads_links_through_and_refuses_directories() {
    let copy = Tree::new();
    copy.file("a", "same").file("b", "same");
    let link = Tree::new();
    link.file("a", "same").link("b", "c").link("c", "./a").file("d/e", "");
    copy.file("c", "same").file("d/e", "");
    assert_eq!(h1(&copy.read()), h1(&link.read()));
    assert_ne!(copy.digest(), link.digest());
    link.link("f", "d");
    assert_eq!(h1(&link.read()), None);
    // An unexecutable file, an executable one: the same to Go.
    let bit = Tree::new();
    bit.exec("a", "same").file("b", "same").file("c", "same").file("d/e", "");
    assert_eq!(h1(&copy.read()), h1(&bit.read()));
}

/// Every plugin directory of the shared corpus is a tree, and the same on a second read.
#[test]
fn real_plugins_are_read_without_a_refusal() {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/corpus");
    let Ok(directories) = fs::read_dir(&corpus) else {
        println!("skipped: no shared corpus here");
        return;
    };
    let directories: Vec<PathBuf> =
        directories.map(|entry| entry.unwrap().path()).filter(|path| path.is_dir()).collect();
    assert!(!directories.is_empty());
    for directory in directories {
        let take = || {
            let check = plugward_tree_lock::Snapshot::read(
                &crate::tree::jail(&directory),
                &plugward_tree_lock::TreeLimits::standard(),
                &plugward_tree_lock::Excludes::none(),
                2.try_into().unwrap(),
            );
            crate::tree::read(check.unwrap())
        };
        let snapshot = take();
        assert_eq!(snapshot.digest(), take().digest());
        for entry in snapshot.entries().filter(|entry| entry.target().is_none()) {
            assert_eq!(fs::read(directory.join(entry.path())).unwrap(), entry.bytes());
        }
        println!("{} {} entries {} bytes", snapshot.digest(), snapshot.len(), snapshot.total_bytes());
    }
}
