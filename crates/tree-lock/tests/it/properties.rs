//! Random trees, lists and locks against a second, slower way to say the same.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;

use plugward_tree_lock::{JsonLock, LockEntry, LockFile, LockSource, TreeCheck, TreeLimits, TreeList};
use plugward_types::{Digest, TreeDigest};
use proptest::prelude::*;
use sha2::{Digest as _, Sha256};

use crate::tree::{Tree, excludes};

/// A tree as data.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Node {
    File(Vec<u8>, bool),
    Link(String),
}

type Model = BTreeMap<String, Node>;

fn part() -> impl Strategy<Value = String> {
    prop::sample::select(vec!["a", "b", "c-d", "c", "e f", "\u{e9}", "\u{ff21}", "\u{1f600}", ".x", "z.sh"])
        .prop_map(str::to_owned)
}

/// Targets without a trailing separator: there the kernel asks for a directory, and the scheme drops it.
fn target() -> impl Strategy<Value = String> {
    let step = prop_oneof![3 => part(), 2 => Just("..".to_owned()), 1 => Just(".".to_owned()), 1 => Just(String::new())];
    (prop::collection::vec(step, 0..5), prop_oneof![4 => part(), 1 => Just("..".to_owned())])
        .prop_map(|(steps, last)| [steps, vec![last]].concat().join("/"))
        .prop_filter("absolute targets have their own test", |target| !target.starts_with('/'))
}

fn model() -> impl Strategy<Value = Model> {
    let node = prop_oneof![
        3 => (prop::collection::vec(any::<u8>(), 0..40), any::<bool>()).prop_map(|(bytes, exec)| Node::File(bytes, exec)),
        1 => target().prop_map(Node::Link),
    ];
    prop::collection::vec(
        (prop::collection::vec(part(), 1..4).prop_map(|parts| parts.join("/")), node),
        0..14,
    )
    .prop_map(|rows| {
        let mut model = Model::new();
        for (path, node) in rows {
            // No entry below a file or link, and no file where a directory is.
            let below = |one: &str, other: &str| {
                one.starts_with(other) && one.as_bytes().get(other.len()) == Some(&b'/')
            };
            if model.keys().all(|known: &String| !below(known, &path) && !below(&path, known)) {
                model.insert(path, node);
            }
        }
        model
    })
}

fn build(model: &Model, order: u64) -> Tree {
    let tree = Tree::new();
    let mut rows: Vec<_> = model.iter().collect();
    rows.sort_by_key(|(path, _)| Sha256::digest(format!("{order}{path}")).to_vec());
    for (path, node) in rows {
        match node {
            Node::File(bytes, exec) => tree.mode(path, bytes, if *exec { 0o755 } else { 0o644 }),
            Node::Link(target) => tree.link(path, target),
        };
    }
    tree
}

/// The preimage, written a second time.
fn text(model: &Model) -> String {
    let mut out = "plugtree-v1\n".to_owned();
    for (path, node) in model {
        let (kind, bytes) = match node {
            Node::File(bytes, false) => ('f', bytes.as_slice()),
            Node::File(bytes, true) => ('x', bytes.as_slice()),
            Node::Link(target) => ('l', target.as_bytes()),
        };
        write!(out, "{kind} ").unwrap();
        for byte in Sha256::digest(bytes) {
            write!(out, "{byte:02x}").unwrap();
        }
        writeln!(out, " {} {path}", bytes.len()).unwrap();
    }
    out
}

proptest! {
    #![proptest_config(ProptestConfig { cases: if cfg!(feature = "_test-race") { 4096 } else { 96 }, failure_persistence: None, ..ProptestConfig::default() })]

    /// The text follows the format, and symlinks are resolved as the kernel does.
    #[test]
    fn trees_are_as_the_format_says(model in model(), order in any::<u64>(), jobs in 1_usize..4) {
        let tree = build(&model, order);
        let root = fs::canonicalize(tree.path()).unwrap();
        let inside = |path: &String| fs::canonicalize(tree.path().join(path)).is_ok_and(|place| place.starts_with(&root));
        let links = model.iter().filter(|(_, node)| matches!(node, Node::Link(_))).map(|(path, _)| path);
        let bad: BTreeSet<String> = links.filter(|path| !inside(path)).cloned().collect();
        match tree.try_with(&TreeLimits::standard(), &excludes(&[]), jobs).unwrap() {
            TreeCheck::Read(snapshot) => {
                prop_assert!(bad.is_empty(), "{bad:?}");
                prop_assert_eq!(snapshot.preimage(), text(&model));
                for path in model.keys() {
                    let real = fs::canonicalize(tree.path().join(path)).unwrap();
                    let real = real.strip_prefix(&root).unwrap().to_str().unwrap();
                    let ours = match snapshot.resolve(path).unwrap() {
                        plugward_tree_lock::ResolvedEntry::File(entry) => entry.path(),
                        plugward_tree_lock::ResolvedEntry::Directory(directory) => directory,
                    };
                    prop_assert_eq!(ours, real);
                }
            }
            TreeCheck::Refused(why) => {
                let blamed: BTreeSet<String> = why.problems().iter().map(|problem| problem.path().unwrap().to_owned()).collect();
                prop_assert!(why.problems().iter().all(|problem| problem.code().starts_with("tree/link-")), "{why}");
                prop_assert_eq!(blamed, bad);
            }
        }
    }

    /// One byte, one bit, one name, one kind: another digest.
    #[test]
    fn any_change_changes_the_digest(model in model(), at in any::<prop::sample::Index>(), what in 0..5, byte in any::<prop::sample::Index>()) {
        let mut model = model;
        model.retain(|_, node| matches!(node, Node::File(..)));
        model.insert("one".into(), Node::File(b"1".to_vec(), false));
        let files: Vec<_> = model.iter().filter(|(_, node)| matches!(node, Node::File(..))).map(|(path, _)| path.clone()).collect();
        let path = at.get(&files).clone();
        let Some(Node::File(bytes, exec)) = model.get(&path).cloned() else { unreachable!() };
        let mut changed = model.clone();
        match what {
            0 if !bytes.is_empty() => {
                let mut other = bytes.clone();
                other[byte.index(bytes.len())] ^= 1 << byte.index(8);
                changed.insert(path, Node::File(other, exec));
            }
            1 => drop(changed.insert(path, Node::File(bytes, !exec))),
            2 => {
                changed.remove(&path);
                changed.insert(format!("{path}2"), Node::File(bytes, exec));
            }
            3 => {
                // A link to a copy of itself, which reads the same.
                changed.insert("copy".into(), Node::File(bytes.clone(), exec));
                let plain = build(&changed, 0).read();
                changed.insert(path.clone(), Node::Link(format!("{}copy", "../".repeat(path.matches('/').count()))));
                let link = build(&changed, 0).read();
                prop_assert_eq!(link.file(&path).unwrap().bytes(), plain.get(&path).unwrap().bytes());
                prop_assert_ne!(link.digest(), plain.digest());
            }
            _ => drop(changed.insert(path, Node::File([&bytes[..], b"\n"].concat(), exec))),
        }
        let (before, after) = (build(&model, 1).read(), build(&changed, 2).read());
        prop_assert_eq!(before.digest() == after.digest(), changed == model);
    }
}

fn line() -> impl Strategy<Value = String> {
    "[^\\p{Cc}]{1,20}".prop_filter("one line", |text| !text.chars().any(char::is_control))
}

fn digest() -> impl Strategy<Value = TreeDigest> {
    any::<[u8; 32]>().prop_map(TreeDigest::from_bytes)
}

fn path() -> impl Strategy<Value = String> {
    prop::collection::vec("[a-z\u{e9} \"'.=#-]{1,6}", 1..3)
        .prop_map(|parts| parts.join("/"))
        .prop_filter("no dots alone", |path| path.split('/').all(|part| part != "." && part != ".."))
}

/// Dialect names. Two dots in a row are not allowed.
fn dialect() -> impl Strategy<Value = String> {
    "[A-Za-z0-9][A-Za-z0-9_-]{0,4}(\\.[a-z]{1,2})?"
}

fn entry() -> impl Strategy<Value = LockEntry> {
    let source = ("[a-z-]{1,8}", prop::option::of("[a-z:/.]{1,20}"), prop::option::of(line()))
        .prop_filter_map("address", |(kind, url, rev)| {
            let url = url.filter(|url| {
                !url.starts_with('/')
                    && !url.to_lowercase().starts_with("file:")
                    && url.as_bytes().get(1) != Some(&b':')
            });
            Some(LockSource { kind, url, rev, path: None })
        });
    (
        prop::collection::btree_set(dialect(), 0..3),
        prop::option::of(source),
        prop::option::of(line()),
        prop::collection::btree_map(dialect(), any::<[u8; 32]>().prop_map(Digest::from_bytes), 0..3),
        prop::collection::btree_set(digest(), 1..4),
        prop::sample::subsequence(vec![".git", ".hg", ".jj", ".svn"], 0..4),
        prop::collection::btree_set(path(), 0..3),
        prop::collection::btree_map("\\.\\./[a-z\"\u{202e}]{1,4}", digest(), 0..3),
        prop::collection::btree_set(line(), 0..3),
    )
        .prop_map(
            |(dialects, source, version, manifest, tree, exclude, executable, shared, launchers)| LockEntry {
                dialects,
                source,
                version,
                manifest,
                tree,
                exclude: excludes(&exclude),
                executable,
                shared,
                launchers,
                ..LockEntry::new(TreeDigest::from_bytes([0; 32]))
            },
        )
}

/// An entry that can have the keys of version 3.
fn wide_entry() -> impl Strategy<Value = LockEntry> {
    let sha256 = || any::<[u8; 32]>().prop_map(Digest::from_bytes);
    let unresolved = prop::collection::btree_set(sha256(), 0..3);
    let files = prop::collection::btree_map(path(), sha256(), 0..3);
    (entry(), prop::option::of(digest()), unresolved, files)
        .prop_map(|(entry, closure, unresolved, files)| LockEntry { closure, unresolved, files, ..entry })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn what_a_lock_renders_it_reads(entries in prop::collection::btree_map(path(), wide_entry(), 0..4)) {
        let mut file = LockFile::new();
        for (path, entry) in entries {
            file.insert(&path, entry).unwrap();
        }
        let text = file.render();
        prop_assert_eq!(&LockFile::parse(text.as_bytes()).unwrap(), &file);
        let steers = text.chars().any(|c| c.is_control() && c != '\n' || c == '\u{202e}');
        prop_assert!(!steers);
    }

    /// An old file means what it meant: one plugin id for each entry, of which only the dialect remains.
    #[test]
    fn version_1_is_read_as_the_same_entries(entries in prop::collection::btree_map(path(), (dialect(), entry()), 0..4)) {
        let (mut file, mut old) = (LockFile::new(), "version = 1\n".to_owned());
        for (index, (path, (dialect, mut entry))) in entries.into_iter().enumerate() {
            entry.dialects = BTreeSet::from([dialect.clone()]);
            entry.manifest = entry.manifest.into_values().take(1).map(|digest| (dialect.clone(), digest)).collect();
            file.insert(&path, entry.clone()).unwrap();
            let mut one = LockFile::new();
            one.insert(&path, entry).unwrap();
            for line in one.render().lines().skip(2) {
                if let Some(key) = line.strip_prefix("[plugin.").and_then(|line| line.strip_suffix(']')) {
                    write!(old, "[plugin.\"{dialect}:p{index}@c\"]\npath = {key}\n").unwrap();
                } else if let Some(table) = line.strip_prefix("manifest = ") {
                    let (_, digest) = table.trim_end_matches(" }").rsplit_once(" = ").unwrap();
                    writeln!(old, "manifest = {digest}").unwrap();
                } else if !line.starts_with("dialects = ") {
                    writeln!(old, "{line}").unwrap();
                }
            }
        }
        let read = LockFile::parse(old.as_bytes()).unwrap();
        prop_assert_eq!((read.version(), file.version()), (1, 2));
        prop_assert_eq!(&read, &file);
        prop_assert_eq!(read.render(), file.render());
    }

    /// Cut or changed anywhere: read as something that renders and reads again, or refused; never a panic.
    #[test]
    fn damaged_locks_end_in_an_error_or_in_a_lock(entry in wide_entry(), cut in any::<prop::sample::Index>(), byte in any::<u8>(), keep in any::<bool>()) {
        let mut file = LockFile::new();
        file.insert("b", entry).unwrap();
        let mut bytes = file.render().into_bytes();
        let at = cut.index(bytes.len());
        if keep { bytes[at] = byte } else { bytes.truncate(at) }
        if let Ok(read) = LockFile::parse(&bytes) {
            prop_assert_eq!(LockFile::parse(read.render().as_bytes()).unwrap(), read);
        }
    }

    #[test]
    fn any_bytes_are_a_lock_or_an_error(bytes in prop::collection::vec(any::<u8>(), 0..200), text in "[\\[\\]{}\"'=.,#a-z0-9\n ]{0,80}") {
        for bytes in [&bytes[..], text.as_bytes(), format!("version = 1\n{text}").as_bytes(), format!("version = 2\n{text}").as_bytes(), format!("{{{text}").as_bytes()] {
            if let Ok(lock) = LockFile::parse(bytes) {
                prop_assert_eq!(LockFile::parse(lock.render().as_bytes()).unwrap(), lock);
            }
            if let Ok(lock) = JsonLock::parse(bytes) {
                // What is read is JSON to another reader too.
                let value: serde_json::Value = serde_json::from_slice(bytes).unwrap();
                prop_assert_eq!(value.as_object().unwrap().len(), lock.entries().len());
            }
        }
    }

    /// Every JSON object of names and digests, in any of its spellings.
    #[test]
    fn json_locks_are_read_as_json(names in prop::collection::btree_set("[a-z][a-z0-9]{0,5}--[a-z][a-z-]{0,3}x--[a-z]{1,3}", 0..5), pretty in any::<bool>(), byte in any::<u8>()) {
        let object: BTreeMap<&String, String> = names.iter().map(|name| (name, format!("{byte:02x}").repeat(32))).collect();
        let text = if pretty { serde_json::to_string_pretty(&object) } else { serde_json::to_string(&object) }.unwrap();
        let lock = JsonLock::parse(text.as_bytes()).unwrap();
        let read: BTreeMap<String, String> = lock.entries().map(|(name, digest)| (name.to_owned(), digest.to_string())).collect();
        prop_assert_eq!(read.iter().collect::<Vec<_>>(), object.iter().map(|(name, digest)| (*name, digest)).collect::<Vec<_>>());
    }

    #[test]
    fn lists_are_read_as_they_were_written(model in model(), exclude in prop::sample::subsequence(vec![".git", ".hg", "PLUGINS.lock"], 0..3), cut in any::<prop::sample::Index>(), byte in 0x20_u8..0x7f) {
        let mut text = text(&model);
        let head: String = exclude.iter().flat_map(|name| ["exclude ", name, "\n"]).collect();
        text.insert_str("plugtree-v1\n".len(), &head);
        let list = TreeList::parse(&text).unwrap();
        let hash: [u8; 32] = Sha256::digest(&text).into();
        prop_assert_eq!(list.digest().as_bytes(), &hash);
        prop_assert_eq!(list.exclude(), excludes(&exclude));
        let paths: Vec<_> = list.lines().map(|line| (line.path.to_owned(), line.size)).collect();
        let sizes = model.iter().map(|(path, node)| (path.clone(), match node { Node::File(bytes, _) => bytes.len(), Node::Link(target) => target.len() } as u64));
        prop_assert_eq!(paths, sizes.collect::<Vec<_>>());
        // Damaged: refused, or another list with another digest.
        let mut damaged = text.clone().into_bytes();
        let at = cut.index(damaged.len());
        damaged[at] = byte;
        let damaged = String::from_utf8_lossy(&damaged);
        if let Ok(other) = TreeList::parse(&damaged) {
            prop_assert_eq!(other.digest() == list.digest(), damaged == text);
        }
    }
}

#[test]
fn lists_are_refused_with_the_line() {
    let zero = "0".repeat(64);
    let f = |path: &str| format!("f {zero} 0 {path}\n");
    for (text, line) in [
        (String::new(), 1),
        ("plugtree-v1".into(), 1),
        ("plugtree-v2\n".into(), 1),
        (" plugtree-v1\n".into(), 1),
        ("plugtree-v1\nexclude .git\nexclude .git\n".into(), 3),
        ("plugtree-v1\nexclude .hg\nexclude .git\n".into(), 3),
        ("plugtree-v1\nexclude x\n".into(), 2),
        ("plugtree-v1\nexclude .git\nexclude x\n".into(), 3),
        (format!("plugtree-v1\n{}exclude .git\n", f("a")), 3),
        (format!("plugtree-v1\nexclude .git\n{}", f(".git/x")), 3),
        (format!("plugtree-v1\n{}{}", f("b"), f("a")), 3),
        (format!("plugtree-v1\n{}{}", f("a"), f("a")), 3),
        (format!("plugtree-v1\n{}{}{}", f("a"), f("a-"), f("a/b")), 4),
        (format!("plugtree-v1\nf {zero} 00 a\n"), 2),
        (format!("plugtree-v1\nf {zero} +1 a\n"), 2),
        (format!("plugtree-v1\nf {zero}  a\n"), 2),
        (format!("plugtree-v1\nf {zero} 99999999999999999999 a\n"), 2),
        (format!("plugtree-v1\nd {zero} 0 a\n"), 2),
        (format!("plugtree-v1\nf {} 0 a\n", "A".repeat(64)), 2),
        (format!("plugtree-v1\n{}", f("")), 2),
        (format!("plugtree-v1\n{}", f("/a")), 2),
        (format!("plugtree-v1\n{}", f("a/")), 2),
        (format!("plugtree-v1\n{}", f("a//b")), 2),
        (format!("plugtree-v1\n{}", f("a/../b")), 2),
        (format!("plugtree-v1\n{}", f("./a")), 2),
        (format!("plugtree-v1\n{}", f("a\\b")), 2),
        (format!("plugtree-v1\n{}", f("a\r")), 2),
        (format!("plugtree-v1\n{}\n", f("a")), 3),
    ] {
        let error = TreeList::parse(&text).unwrap_err();
        assert_eq!((error.line(), error.code()), (line, "tree/list"), "{text}");
        assert!(error.help().contains(&format!("line {line}")));
    }
}
