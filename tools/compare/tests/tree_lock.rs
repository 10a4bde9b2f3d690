//! For plain files, `merkle_hash` has to agree on "changed or not", for every change and for none.
#![expect(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    clippy::unwrap_used,
    reason = "a test builds directories, and stops if it cannot"
)]

use std::fs;
use std::num::NonZeroUsize;
use std::path::Path;

use merkle_hash::{Algorithm, MerkleTree};
use plugward_sandbox_path::{Jail, Policy};
use plugward_tree_lock::{Excludes, Snapshot, TreeCheck, TreeLimits};

fn plugin() -> tempfile::TempDir {
    let directory = tempfile::tempdir().unwrap();
    fs::create_dir(directory.path().join("hooks")).unwrap();
    for (path, text) in [
        ("plugin.json", "{\"hooks\": \"hooks/hooks.json\"}\n"),
        ("hooks/hooks.json", "{}\n"),
        ("api.py", "print('GOOD')\n"),
        ("copy.py", "print('GOOD')\n"),
        ("hooks/run.sh", "#!/bin/sh\n"),
    ] {
        fs::write(directory.path().join(path), text).unwrap();
    }
    directory
}

fn ours(path: &Path) -> String {
    let jail = Jail::open(path, Policy::standard()).unwrap();
    let check = Snapshot::read(&jail, &TreeLimits::standard(), &Excludes::none(), NonZeroUsize::MIN).unwrap();
    let TreeCheck::Read(tree) = check else { unreachable!("{check:?}") };
    tree.digest().to_string()
}

fn theirs(path: &Path) -> Vec<u8> {
    let tree = MerkleTree::builder(path.to_str().unwrap());
    tree.algorithm(Algorithm::Blake3).hash_names(true).build().unwrap().root.item.hash
}

#[test]
fn merkle_hash_agrees_on_changed_or_not() {
    type Change = fn(&Path) -> std::io::Result<()>;
    let changes: [(&str, Change, bool); 6] = [
        ("nothing", |_| Ok(()), false),
        ("touch", |dir| fs::write(dir.join("api.py"), "print('GOOD')\n"), false),
        ("byte", |dir| fs::write(dir.join("api.py"), "print('good')\n"), true),
        ("new", |dir| fs::write(dir.join("new"), ""), true),
        ("gone", |dir| fs::remove_file(dir.join("copy.py")), true),
        ("renamed", |dir| fs::rename(dir.join("copy.py"), dir.join("c.py")), true),
    ];
    for (name, change, changes) in changes {
        let plugin = plugin();
        let dir = plugin.path();
        // The other tool puts the directory's own name into its hash, so the directory stays the same.
        let before = (ours(dir), theirs(dir));
        change(dir).unwrap();
        assert_eq!((ours(dir) != before.0, theirs(dir) != before.1), (changes, changes), "{name}");
    }
}
