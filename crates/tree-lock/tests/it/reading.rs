//! What a snapshot holds, and what is looked up in it.

use std::collections::BTreeSet;
use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicU64, Ordering};

use plugward_sandbox_path::{Dotfiles, Jail, Policy};
use plugward_tree_lock::{
    EntryKind, Excludes, ExecBits, ExecSource, ListCheck, Progress, ReadOptions, ReadProgress, ResolvedEntry,
    Snapshot, TreeErrorKind, TreeLimits, TreeRefusal,
};

use crate::tree::{Tree, blames, excludes, pairs, read};

fn sample() -> Tree {
    let tree = Tree::new();
    tree.file("plugin.json", "{}\n")
        .exec("hooks/run.sh", "#!/bin/sh\n")
        .file("hooks/a-b", "")
        .file("hooks-x", "x");
    tree.file("v1/deep/f", "1").link("cur", "v1").link("l", "cur/deep/f").link("v1/deep/up", "../..");
    tree.directory("empty/below");
    tree
}

fn place(snapshot: &Snapshot, path: &str) -> String {
    match snapshot.resolve(path) {
        None => "none".into(),
        Some(ResolvedEntry::File(entry)) => format!("file {}", entry.path()),
        Some(ResolvedEntry::Directory(path)) => format!("directory {path}"),
    }
}

#[test]
fn entries_come_in_order_with_their_bytes() {
    let snapshot = sample().read();
    let shown: Vec<_> = snapshot
        .entries()
        .map(|e| format!("{} {} {}", e.kind().letter(), e.path(), e.bytes().len()))
        .collect();
    let expected = [
        "l cur 2",
        "f hooks-x 1",
        "f hooks/a-b 0",
        "x hooks/run.sh 10",
        "l l 10",
        "f plugin.json 3",
        "f v1/deep/f 1",
        "l v1/deep/up 5",
    ];
    assert_eq!(shown, expected);
}

#[test]
fn get_is_exact_and_resolve_follows() {
    let snapshot = sample().read();
    let entry = snapshot.get("hooks/run.sh").unwrap();
    assert_eq!(
        (entry.bytes(), entry.kind(), entry.is_executable()),
        (&b"#!/bin/sh\n"[..], EntryKind::Executable, true)
    );
    assert_eq!(entry.digest().hex(), "a8076d3d28d21e02012b20eaf7dbf75409a6277134439025f282e368e3305abf");
    assert_eq!(snapshot.get("l").unwrap().target(), Some("cur/deep/f"));
    for missing in
        ["", "hooks", "hooks/", "hooks/run.sh/", "./plugin.json", "cur/deep/f", "Plugin.json", "plugin.jso"]
    {
        assert!(snapshot.get(missing).is_none(), "{missing}");
    }
    for (path, leads) in [
        ("plugin.json", "file plugin.json"),
        ("./hooks//run.sh", "file hooks/run.sh"),
        ("hooks/../plugin.json", "file plugin.json"),
        ("l", "file v1/deep/f"),
        ("cur", "directory v1"),
        ("cur/deep/f", "file v1/deep/f"),
        ("cur/..", "directory "),
        ("v1/deep/up/plugin.json", "file plugin.json"),
        ("v1/deep/up/l", "file v1/deep/f"),
        ("", "directory "),
        ("empty/below", "directory empty/below"),
        ("empty", "directory empty"),
        ("..", "none"),
        ("v1/deep/up/..", "none"),
        ("/plugin.json", "none"),
        ("plugin.json/x", "none"),
        ("plugin.json/..", "none"),
        ("l/..", "none"),
        ("nothing", "none"),
        ("nothing/..", "none"),
        ("hooks/run", "none"),
    ] {
        assert_eq!(place(&snapshot, path), leads, "{path}");
    }
    assert!(snapshot.file("cur").is_none());
    assert_eq!(snapshot.file("l").unwrap().bytes(), b"1");
}

#[test]
fn under_a_directory_is_what_lies_in_it() {
    let snapshot = sample().read();
    let under = |directory: &str| snapshot.under(directory).map(|e| e.path().to_owned()).collect::<Vec<_>>();
    assert_eq!(under("hooks"), ["hooks/a-b", "hooks/run.sh"]);
    assert_eq!(under("v1"), ["v1/deep/f", "v1/deep/up"]);
    assert_eq!(under("").len(), snapshot.len());
    assert!(under("hook").is_empty() && under("cur").is_empty() && under("plugin.json").is_empty());
    assert_eq!(
        snapshot.directories().collect::<Vec<_>>(),
        ["empty", "empty/below", "hooks", "v1", "v1/deep"]
    );
    assert_eq!(snapshot.executables().collect::<Vec<_>>(), ["hooks/run.sh"]);
    assert_eq!(snapshot.total_bytes(), 3 + 10 + 1 + 2 + 10 + 1 + 5);
}

#[test]
fn a_longer_exclude_list_is_digested_from_the_same_bytes() {
    let tree = Tree::new();
    tree.file("plugin.json", "{}\n").file(".git/config", "[core]\n").file("PLUGINS.lock", "version = 1\n");
    let whole = tree.read();
    for list in [&[".git"][..], &[".git", "PLUGINS.lock"], &[".hg"], &[]] {
        let exclude = excludes(list);
        let narrow = read(tree.check_with(&TreeLimits::standard(), &exclude));
        match whole.list_under(&exclude).unwrap() {
            ListCheck::Listed(list) => assert_eq!(list.as_str(), narrow.preimage()),
            ListCheck::Refused(why) => panic!("{why}"),
        }
    }
    let narrow = read(tree.check_with(&TreeLimits::standard(), &excludes(&[".git"])));
    assert!(narrow.get(".git/config").is_none());
    let error = narrow.list_under(&Excludes::none()).unwrap_err();
    assert_eq!(
        (error.code(), error.to_string().as_str()),
        ("tree/not-read", "digest the directory: it was read without .git")
    );

    tree.link("l", ".git/config");
    let refused: TreeRefusal = match tree.read().list_under(&excludes(&[".git"])).unwrap() {
        ListCheck::Refused(why) => why,
        ListCheck::Listed(list) => panic!("{}", list.as_str()),
    };
    assert_eq!(blames(&refused), pairs(&[("tree/link-into-excluded", "l")]));
}

/// The answer is the one that reading with the longer list gives, refusals included.
#[test]
fn a_second_spelling_is_refused_under_the_longer_list_too() {
    let tree = Tree::new();
    tree.file("plugin.json", "{}\n").file(".GIT/config", "").directory("Plugins.Lock");
    let exclude = excludes(&[".git", "PLUGINS.lock"]);
    let read_with = crate::tree::refused(tree.check_with(&TreeLimits::standard(), &exclude));
    match tree.read().list_under(&exclude).unwrap() {
        ListCheck::Refused(why) => assert_eq!(why, read_with),
        ListCheck::Listed(list) => panic!("{}", list.as_str()),
    }
    assert_eq!(blames(&read_with), pairs(&[("tree/collision", ".GIT"), ("tree/collision", "Plugins.Lock")]));
}

#[test]
fn execute_bits_come_from_where_the_host_says() {
    let tree = sample();
    let recorded = BTreeSet::from(["hooks/run.sh".to_owned()]);
    let take = |exec: ExecBits<'_>| {
        let (limits, exclude) = (TreeLimits::standard(), Excludes::none());
        let options = ReadOptions {
            limits: &limits,
            exclude: &exclude,
            exec,
            jobs: NonZeroUsize::MIN,
            progress: &|_: ReadProgress| {},
        };
        read(Snapshot::read_with(&tree.jail(), &options).unwrap())
    };
    let modes = take(ExecBits::Modes);
    let list = take(ExecBits::Recorded(&recorded));
    let unknown = take(ExecBits::Unknown);
    assert_eq!(modes.digest(), list.digest());
    assert_ne!(modes.digest(), unknown.digest());
    assert_eq!(
        [modes.exec_source(), list.exec_source(), unknown.exec_source()],
        [ExecSource::Modes, ExecSource::Recorded, ExecSource::Unknown]
    );
    let codes = |snapshot: &Snapshot| {
        snapshot.warnings().iter().map(plugward_tree_lock::TreeWarning::code).collect::<Vec<_>>()
    };
    assert!(codes(&modes).is_empty());
    assert_eq!(codes(&list), ["tree/exec-bits-not-checked"]);
    assert_eq!(codes(&unknown), ["tree/exec-bits-not-checked"]);
}

#[test]
fn a_jail_that_hides_dotfiles_is_not_the_directory() {
    let tree = sample();
    for policy in [Policy::standard().with_dotfiles(Dotfiles::Refuse), Policy::agent()] {
        let jail = Jail::open(tree.path(), policy).unwrap();
        let error =
            Snapshot::read(&jail, &TreeLimits::standard(), &Excludes::none(), NonZeroUsize::MIN).unwrap_err();
        assert_eq!((error.kind(), error.code()), (&TreeErrorKind::Jail, "tree/jail"));
    }
}

#[test]
fn the_digest_is_the_same_on_both_tiers_and_any_number_of_threads() {
    let tree = sample();
    for index in 0..300 {
        tree.file(format!("many/{}/{index}", index % 7), vec![b'x'; index * 37]);
    }
    let expected = tree.digest();
    let walk = tree.jail().with_walk_tier().unwrap();
    for jobs in [1, 2, 3, 8, 100] {
        for jail in [&tree.jail(), &walk] {
            let jobs = NonZeroUsize::new(jobs).unwrap();
            let snapshot =
                read(Snapshot::read(jail, &TreeLimits::standard(), &Excludes::none(), jobs).unwrap());
            assert_eq!(snapshot.digest().to_string(), expected);
        }
    }
}

struct Count(AtomicU64, AtomicU64);

impl Progress for Count {
    fn step(&self, step: ReadProgress) {
        self.0.fetch_add(1, Ordering::Relaxed);
        self.1.fetch_max(step.bytes, Ordering::Relaxed);
        assert!(step.files <= step.of);
    }
}

#[test]
fn progress_hears_of_every_file() {
    let tree = sample();
    let count = Count(AtomicU64::new(0), AtomicU64::new(0));
    let (limits, exclude) = (TreeLimits::standard(), Excludes::none());
    let options = ReadOptions {
        limits: &limits,
        exclude: &exclude,
        exec: ExecBits::Modes,
        jobs: NonZeroUsize::MIN,
        progress: &count,
    };
    let snapshot = read(Snapshot::read_with(&tree.jail(), &options).unwrap());
    assert_eq!(count.0.load(Ordering::Relaxed), 5);
    assert_eq!(count.1.load(Ordering::Relaxed), snapshot.total_bytes());
}

#[test]
fn files_of_a_host_leave_no_trace_in_a_digest() {
    let with = sample();
    with.file(".in_use/77", "{}").file(".orphaned_at", "1700000000000");
    let excludes = Excludes::none().with_host_files();
    let read = |tree: &Tree, excludes: &Excludes| {
        let check = Snapshot::read(&tree.jail(), &TreeLimits::standard(), excludes, NonZeroUsize::MIN);
        let plugward_tree_lock::TreeCheck::Read(snapshot) = check.unwrap() else { panic!("refused") };
        snapshot
    };
    let cached = read(&with, &excludes);
    assert_eq!(cached.preimage(), sample().read().preimage());
    assert_eq!(*cached.exclude(), Excludes::none());
    // Without the option, the files count as all others.
    assert_ne!(read(&with, &Excludes::none()).digest(), cached.digest());
    // Only the names at the root are the host's.
    with.file("hooks/.in_use/77", "{}");
    assert!(read(&with, &excludes).get("hooks/.in_use/77").is_some());
}

#[test]
fn a_link_into_the_files_of_a_host_is_refused() {
    let tree = Tree::new();
    tree.file("plugin.json", "{}").file(".in_use/77", "{}").link("run", ".in_use/77");
    let excludes = Excludes::none().with_host_files();
    let check = Snapshot::read(&tree.jail(), &TreeLimits::standard(), &excludes, NonZeroUsize::MIN).unwrap();
    let plugward_tree_lock::TreeCheck::Refused(refusal) = check else { panic!("read") };
    assert_eq!(refusal.problems()[0].code(), "tree/link-into-excluded");
}

#[test]
fn files_in_memory_have_the_digest_of_the_same_directory() {
    let tree = Tree::new();
    tree.file("hooks.json", "{}").file("env.json", "[]");
    let made = Snapshot::of_files([("hooks.json", b"{}".to_vec()), ("env.json", b"[]".to_vec())]);
    assert_eq!(made.digest(), tree.read().digest());
    assert_eq!(made.file("env.json").map(plugward_tree_lock::SnapshotEntry::bytes), Some(&b"[]"[..]));
    assert!(made.warnings().is_empty());
}
