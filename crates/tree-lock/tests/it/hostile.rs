//! Directories made to break a reader: each gets its codes, all of them, and nothing hangs or grows.

use std::fs::{self, File};
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::net::UnixListener;

use plugward_tree_lock::{Excludes, TreeLimits, TreeRefusal};

use crate::tree::{Tree, blames, excludes, pairs, refused};

const SMALL: TreeLimits = TreeLimits { entries: 20, bytes: 1000, file_bytes: 400, depth: 3, path_bytes: 60 };

fn small(tree: &Tree) -> TreeRefusal {
    refused(tree.check_with(&SMALL, &Excludes::none()))
}

#[test]
fn everything_that_is_wrong_is_said_at_once_and_in_order() {
    let tree = Tree::new();
    tree.file("ok", "")
        .file("A/x", "")
        .file("a/x", "")
        .fifo("pipe")
        .mode("suid", "", 0o4755)
        .mode("sgid", "", 0o2644);
    tree.mode("sticky", "", 0o1644)
        .file("new\nline", "")
        .file(b"bad\xff", "")
        .file("back\\slash", "")
        .link("abs", "/etc/passwd");
    tree.link("out", "../x")
        .link("gone", "missing")
        .link("self", "self")
        .link("ctl", "a\x1bb")
        .file("tab\there/f", "");
    let socket = UnixListener::bind(tree.path().join("socket")).unwrap();
    let expected = pairs(&[
        ("tree/collision", "a"),
        ("tree/link-absolute", "abs"),
        ("tree/name", "back\\\\slash"),
        ("tree/name", "bad\\xff"),
        ("tree/name", "ctl"),
        ("tree/name", "new\\nline"),
        ("tree/link-escapes", "out"),
        ("tree/special-file", "pipe"),
        ("tree/setuid", "sgid"),
        ("tree/special-file", "socket"),
        ("tree/setuid", "sticky"),
        ("tree/setuid", "suid"),
        ("tree/name", "tab\\there"),
    ]);
    // A directory that was not entered leaves links unsure, so nothing is said of broken ones here.
    assert_eq!(tree.refused(), expected);
    drop(socket);
    fs::remove_dir_all(tree.path().join("tab\there")).unwrap();
    let again = tree.refused();
    for broken in ["gone", "self"] {
        assert!(again.contains(&("tree/link-broken".to_owned(), broken.to_owned())), "{again:?}");
    }
}

#[test]
fn near_misses_are_read() {
    let tree = Tree::new();
    tree.mode("plain", "", 0o777)
        .mode("none", "", 0o000)
        .mode("group", "", 0o654)
        .file("a b", "")
        .file("\u{80}", "");
    tree.file("..a/...", "")
        .file("I", "")
        .file("\u{131}", "")
        .file("A/x", "")
        .file("b/A/x", "")
        .file("b/a2/x", "");
    tree.directory("setgid");
    fs::set_permissions(tree.path().join("setgid"), fs::Permissions::from_mode(0o2755)).unwrap();
    tree.link("in", "b/../A/./x")
        .link("updown", "b/A/../../b//A/x")
        .link("dir", "b/")
        .link("root", "b/A/../..");
    assert_eq!(tree.read().len(), 15);
}

#[test]
fn links_are_walked_and_not_read() {
    for (links, blamed) in [
        (&[("sub/up", ".."), ("sub/l", "up/../x")][..], &[("tree/link-escapes", "sub/l")][..]),
        (
            &[("a", "b"), ("b", "c"), ("c", "a"), ("d", "a")],
            &[
                ("tree/link-broken", "a"),
                ("tree/link-broken", "b"),
                ("tree/link-broken", "c"),
                ("tree/link-broken", "d"),
            ],
        ),
        (&[("a", "x/")], &[]),
        (&[("a", "x/.")], &[]),
        (&[("a", "x/..")], &[("tree/link-broken", "a")]),
        (&[("a", "x/y")], &[("tree/link-broken", "a")]),
        (&[("a", "..")], &[("tree/link-escapes", "a")]),
        (&[("a", ".")], &[]),
        (&[("a", "/")], &[("tree/link-absolute", "a")]),
        (&[("a", "b/f"), ("b", "/tmp")], &[("tree/link-escapes", "a"), ("tree/link-absolute", "b")]),
        (&[("a", "b/f"), ("b", "../..")], &[("tree/link-escapes", "a"), ("tree/link-escapes", "b")]),
        (&[("a", "missing/../x")], &[("tree/link-broken", "a")]),
        (&[("a", ".git/x")], &[("tree/link-into-excluded", "a")]),
        (
            &[("a", "b/x"), ("b", ".git")],
            &[("tree/link-into-excluded", "a"), ("tree/link-into-excluded", "b")],
        ),
        (&[("a", "sub/.git")], &[]),
        (&[("a", ".git/../x")], &[("tree/link-into-excluded", "a")]),
    ] {
        let tree = Tree::new();
        tree.file("x", "").file(".git/config", "").file("sub/.git/config", "");
        for (path, target) in links {
            tree.link(path, target);
        }
        let check = tree.check_with(&TreeLimits::standard(), &excludes(&[".git"]));
        let found = match check {
            plugward_tree_lock::TreeCheck::Read(_) => Vec::new(),
            plugward_tree_lock::TreeCheck::Refused(why) => blames(&why),
        };
        assert_eq!(found, pairs(blamed), "{links:?}");
    }
}

#[test]
fn forty_links_are_followed_and_forty_one_are_not() {
    let tree = Tree::new();
    tree.file("f", "");
    for index in 0..41 {
        let target = if index == 0 { "f".to_owned() } else { format!("l{:02}", index - 1) };
        tree.link(format!("l{index:02}"), target);
    }
    assert_eq!(tree.refused(), pairs(&[("tree/link-broken", "l40")]));
    // The kernel draws the line at the same place.
    assert!(fs::metadata(tree.path().join("l39")).is_ok() && fs::metadata(tree.path().join("l40")).is_err());
    fs::remove_file(tree.path().join("l40")).unwrap();
    assert_eq!(tree.read().file("l39").unwrap().path(), "f");
}

/// Every link through every other, each with the longest target: linear work, and no deep recursion.
#[test]
fn a_maze_of_links_ends() {
    let tree = Tree::new();
    tree.file("d/f", "");
    let detour = "../d/".repeat(800);
    for index in 0..600 {
        let before = if index % 30 == 0 { "f".to_owned() } else { format!("l{:03}", index - 1) };
        tree.link(format!("d/l{index:03}"), format!("{detour}{before}"));
    }
    assert_eq!(tree.read().len(), 601);
    // One chain of 5,000: all but the first forty are broken, and found so without recursion.
    let tree = Tree::new();
    tree.file("f", "");
    for index in 0..5000 {
        let target = if index == 4999 { "f".to_owned() } else { format!("l{:04}", index + 1) };
        tree.link(format!("l{index:04}"), target);
    }
    let why = refused(tree.check());
    assert_eq!((why.problems().len(), why.left_out()), (100, 5000 - 40 - 100));
}

#[test]
fn each_limit_is_named_with_its_setting() {
    let at = |tree: &Tree| {
        let why = small(tree);
        assert_eq!(why.problems().len(), 1, "{why}");
        let problem = &why.problems()[0];
        assert_eq!(problem.code(), "tree/limit");
        (problem.to_string(), problem.help())
    };
    let tree = Tree::new();
    for index in 0..21 {
        tree.file(format!("{index}"), "");
    }
    let (text, help) = at(&tree);
    assert_eq!(text, "more than 20 files, symlinks and directories");
    assert!(help.contains("`limits.tree_files`"), "{help}");
    fs::remove_file(tree.path().join("20")).unwrap();
    assert_eq!(crate::tree::read(tree.check_with(&SMALL, &Excludes::none())).len(), 20);

    let tree = Tree::new();
    tree.file("big", vec![0; 401]);
    assert_eq!(at(&tree).0, "big: more than 400 bytes in one file");
    tree.file("big", vec![0; 400]).file("two", vec![0; 400]).file("three", vec![0; 200]);
    assert_eq!(crate::tree::read(tree.check_with(&SMALL, &Excludes::none())).total_bytes(), 1000);
    tree.file("three", vec![0; 201]);
    let (text, help) = at(&tree);
    assert_eq!(text, "more than 1000 bytes in total");
    assert!(help.contains("`limits.tree_bytes`"), "{help}");

    let tree = Tree::new();
    tree.file("a/b/c", "");
    assert_eq!(crate::tree::read(tree.check_with(&SMALL, &Excludes::none())).len(), 1);
    tree.directory("a/b/d/e");
    tree.file("a/b/d/f", "");
    assert_eq!(blames(&small(&tree)), pairs(&[("tree/limit", "a/b/d/e"), ("tree/limit", "a/b/d/f")]));

    let tree = Tree::new();
    tree.file("x".repeat(60), "");
    assert_eq!(crate::tree::read(tree.check_with(&SMALL, &Excludes::none())).len(), 1);
    tree.file("x".repeat(61), "");
    assert!(at(&tree).0.ends_with("more than 60 bytes in a path"));
}

#[test]
fn what_is_excluded_counts_for_nothing() {
    let tree = Tree::new();
    for index in 0..50 {
        tree.file(format!(".git/objects/{index}"), vec![0; 500]);
    }
    tree.mode(".git/suid", "", 0o4755).fifo(".git/pipe").file(".git/new\nline", "").link(".git/out", "/");
    for index in 0..20 {
        tree.file(format!("{index:02}"), "");
    }
    assert_eq!(crate::tree::read(tree.check_with(&SMALL, &excludes(&[".git", ".hg"]))).len(), 20);
    tree.file("one-more", "");
    assert_eq!(
        blames(&refused(tree.check_with(&SMALL, &excludes(&[".git", ".hg"])))),
        pairs(&[("tree/limit", "")])
    );
}

/// `.GIT` is `.git` where case does not count: it must not slip past the list.
#[test]
fn a_second_spelling_of_an_excluded_name_collides_with_it() {
    let tree = Tree::new();
    tree.file(".GIT/config", "").file("plugins.lock", "");
    assert_eq!(tree.read().len(), 2);
    let check = tree.check_with(&TreeLimits::standard(), &excludes(&[".git", "PLUGINS.lock"]));
    assert_eq!(
        blames(&refused(check)),
        pairs(&[("tree/collision", ".GIT"), ("tree/collision", "plugins.lock")])
    );
}

#[test]
fn a_sparse_giant_is_refused_by_its_size() {
    let tree = Tree::new();
    tree.file("plugin.json", "{}");
    File::create(tree.path().join("giant")).unwrap().set_len(2 << 30).unwrap();
    assert_eq!(tree.refused(), pairs(&[("tree/limit", "giant")]));
    // Many below the limit of one file, above the limit of all: none of the later ones is read.
    let tree = Tree::new();
    for index in 0..40 {
        File::create(tree.path().join(format!("g{index:02}"))).unwrap().set_len(255 << 20).unwrap();
    }
    let limits = TreeLimits { bytes: 1 << 20, ..TreeLimits::standard() };
    assert_eq!(blames(&refused(tree.check_with(&limits, &Excludes::none()))), pairs(&[("tree/limit", "")]));
}

#[test]
fn a_path_of_more_than_4095_bytes_is_refused() {
    let tree = Tree::new();
    // Two branches of 3,000 bytes, then one is moved below the other.
    let branch = vec!["n".repeat(200); 15].join("/");
    tree.directory(format!("a/{branch}"));
    tree.file(format!("b/{branch}/f"), "");
    let text = |tree: &Tree| refused(tree.check()).to_string();
    fs::rename(tree.path().join("b"), tree.path().join(format!("a/{branch}/b"))).unwrap();
    assert!(text(&tree).contains("more than 4095 bytes in a path"));
}

#[test]
fn directories_count_and_depth_ends() {
    let tree = Tree::new();
    tree.directory(vec!["d"; 64].join("/"));
    assert_eq!(tree.read().len(), 0);
    tree.directory(vec!["d"; 65].join("/"));
    let why = refused(tree.check());
    assert_eq!(
        why.problems()[0].to_string(),
        format!("{}: more than 64 components in a path", vec!["d"; 65].join("/"))
    );
}
