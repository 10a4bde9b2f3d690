//! Warnings, which are reported and do not refuse a tree.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use crate::tree::Tree;

fn shown(tree: &Tree) -> Vec<String> {
    tree.read().warnings().iter().map(|notice| format!("{} {}", notice.code(), notice.path())).collect()
}

#[test]
fn each_notice_and_its_near_miss() {
    let tree = Tree::new();
    tree.file("plugin.json", "").file("sub/.git/config", "").mode("group", "", 0o664).file("console.log", "");
    assert_eq!(shown(&tree), Vec::<String>::new());
    tree.file(".git/config", "")
        .mode("open", "", 0o666)
        .file("aux.txt", "")
        .file("e\u{301}", "")
        .directory("wide");
    fs::set_permissions(tree.path().join("wide"), fs::Permissions::from_mode(0o1777)).unwrap();
    assert_eq!(
        shown(&tree),
        [
            "tree/vcs-folder .git",
            "tree/not-portable aux.txt",
            "tree/not-portable e\u{301}",
            "tree/writable-by-others open",
            "tree/writable-by-others wide",
        ]
    );
    for notice in tree.read().warnings() {
        assert!(!notice.help().is_empty() && !notice.to_string().contains('\n'));
    }
}

#[test]
fn no_more_than_a_hundred_are_kept() {
    let tree = Tree::new();
    for index in 0..130 {
        tree.mode(format!("{index:03}"), "", 0o666);
    }
    let snapshot = tree.read();
    assert_eq!((snapshot.warnings().len(), snapshot.warnings_left_out()), (100, 30));
}
