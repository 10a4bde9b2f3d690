//! Reading, listing and walking on both tiers.

use std::ffi::OsStr;
use std::fs;
use std::io::Read as _;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::symlink;
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::process::Command;

use plugward_sandbox_path::{FileKind, Jail, Policy, RaceCause, RelPath, SandboxedPath, WalkLimits};

use crate::world::World;

const LIMIT: u64 = 1 << 20;
const WALK: WalkLimits = WalkLimits { entries: 100_000, depth: 64 };

#[test]
fn reads_what_is_there_and_names_what_is_not() {
    let world = World::new();
    world.file("a/b/f", "text").link("f", "a/b/l").link("b", "a/d").directory("e");
    for jail in world.jails(Policy::standard()) {
        assert_eq!(jail.read("a/b/f", LIMIT).unwrap(), b"text");
        assert_eq!(jail.read("./a//b/./f", 4).unwrap(), b"text");
        for (path, code, component) in [
            ("a/b/f", "path/too-large", None),
            ("a/b/l", "path/symlink", Some(3)),
            ("a/d/f", "path/symlink", Some(2)),
            ("a/x/f", "path/not-found", Some(2)),
            ("a/b/f/x", "path/not-a-directory", Some(3)),
            ("e", "path/not-regular", None),
            (".", "path/not-regular", None),
            ("../outside/f", "path/parent", Some(1)),
        ] {
            let error = jail.read(path, 3).unwrap_err();
            assert_eq!((error.code(), error.component()), (code, component), "{path} {:?}", jail.guarantee());
            assert!(!error.help().is_empty());
        }
    }
}

#[test]
fn names_that_are_not_utf8_come_through() {
    let world = World::new();
    let odd = OsStr::from_bytes(b"n\xff");
    fs::write(world.at("").join(odd), "odd").unwrap();
    symlink(OsStr::from_bytes(b"to\xfe"), world.at("link")).unwrap();
    for jail in world.jails(Policy::standard()) {
        let names: Vec<_> = jail.list(".", 10).unwrap().entries().iter().map(|e| e.name().to_vec()).collect();
        assert_eq!(names, [b"link".to_vec(), b"n\xff".to_vec()]);
        assert_eq!(jail.read(odd, LIMIT).unwrap(), b"odd");
        assert_eq!(jail.read(b"n\xff", LIMIT).unwrap(), b"odd");
        assert_eq!(jail.read_link("link").unwrap(), b"to\xfe");
        let walked: Vec<_> =
            jail.walk(".", WALK).unwrap().map(|e| e.unwrap().path().as_bytes().to_vec()).collect();
        assert_eq!(walked, [b"link".to_vec(), b"n\xff".to_vec()]);
        assert_eq!(
            jail.read(b"m\xff", LIMIT).unwrap_err().to_string(),
            "read m\\xff: component 1 does not exist"
        );
    }
}

#[test]
fn a_directory_lists_again_and_a_file_is_compared() {
    let world = World::new();
    world.file("d/one", "1");
    for jail in world.jails(Policy::standard()) {
        let mut directory = jail.open_directory("d").unwrap();
        let before = directory.list(100).unwrap();
        assert_eq!(before.entries().len(), 1);
        world.file("d/two", "22");
        let after = directory.list(100).unwrap();
        assert_ne!(before, after);
        assert_eq!(after.entries()[1].name_str(), Some("two"));
        fs::remove_file(world.at("d/two")).unwrap();

        let mut file = jail.open_read("d/one").unwrap();
        let mut text = String::new();
        file.read_to_string(&mut text).unwrap();
        assert_eq!(*file.opened(), file.meta().unwrap());
        assert_eq!(
            (file.opened().kind(), file.opened().len(), file.opened().links()),
            (FileKind::File, 1, 1)
        );
        fs::write(world.at("d/one"), "changed").unwrap();
        assert_ne!(*file.opened(), file.meta().unwrap());
        fs::write(world.at("d/one"), "1").unwrap();
    }
}

#[test]
fn a_walk_is_sorted_bounded_and_goes_round_what_it_cannot_open() {
    let world = World::new();
    world.file("a/x", "").file("a-b", "").file("b/c/d/e", "").link("a", "l").directory("empty");
    for jail in world.jails(Policy::standard()) {
        let walked: Vec<_> =
            jail.walk(".", WALK).unwrap().map(|entry| entry.unwrap().path().to_string()).collect();
        assert_eq!(walked, ["a", "a/x", "a-b", "b", "b/c", "b/c/d", "b/c/d/e", "empty", "l"]);

        let flat = WalkLimits { depth: 1, ..WALK };
        let items: Vec<_> = jail.walk(".", flat).unwrap().collect();
        let (good, bad): (Vec<_>, Vec<_>) = items.into_iter().partition(Result::is_ok);
        assert_eq!(good.len(), 5);
        assert!(bad.iter().all(|error| error.as_ref().unwrap_err().code() == "path/too-deep"));
        assert_eq!(bad.len(), 3);

        let few = WalkLimits { entries: 5, ..WALK };
        let last = jail.walk(".", few).unwrap().last().unwrap();
        assert_eq!(last.unwrap_err().code(), "path/too-large");
        assert_eq!(jail.walk("l", WALK).unwrap_err().code(), "path/symlink");
    }
}

#[test]
fn what_create_saw_is_what_open_gives() {
    let world = World::new();
    for jail in world.jails(Policy::standard()) {
        world.file("d/f", "first");
        let seen = SandboxedPath::create(&jail, "d/f").unwrap();
        let mut text = String::new();
        seen.open().unwrap().read_to_string(&mut text).unwrap();
        assert_eq!(text, "first");

        let cause = |seen: &SandboxedPath| seen.open().unwrap_err().race().unwrap().cause();
        fs::rename(world.at("d"), world.at("gone")).unwrap();
        assert_eq!(cause(&seen), RaceCause::Vanished);
        symlink("gone", world.at("d")).unwrap();
        assert_eq!(cause(&seen), RaceCause::SymlinkAppeared);
        assert_eq!(seen.open().unwrap_err().raw_os_error(), Some(rustix::io::Errno::LOOP.raw_os_error()));
        fs::remove_file(world.at("d")).unwrap();
        world.file("d", "a file");
        assert!(matches!(cause(&seen), RaceCause::KindChanged { .. }));
        fs::remove_file(world.at("d")).unwrap();
        world.file("d/f", "second");
        assert!(matches!(cause(&seen), RaceCause::Replaced { .. }));
        assert_eq!(seen.open_current().unwrap().opened().len(), 6);
        fs::remove_dir_all(world.at("d")).unwrap();
        fs::remove_dir_all(world.at("gone")).unwrap();
    }
}

#[test]
fn a_rel_path_shows_itself_escaped() {
    let policy = Policy::standard();
    let rel = RelPath::parse("a\n\u{202e}b".as_bytes(), &policy).unwrap();
    assert_eq!(rel.to_string(), "a\\u{a}\\u{202e}b");
    assert_eq!(RelPath::parse_directory(b"a/b/", &policy).unwrap().as_bytes(), b"a/b");
    assert_eq!(RelPath::parse(b"a/b/", &policy).unwrap_err().code(), "path/trailing-separator");
}

/// Returns directories that were not made for this test: the project's, and those next to it if they exist.
fn real_directories() -> Vec<PathBuf> {
    let project = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let shared = project.join("../shared/corpus");
    if !shared.is_dir() {
        println!("skipped in part: no shared corpus beside the project");
    }
    [project.join("crates"), project.join("fuzz"), shared]
        .into_iter()
        .filter(|directory| directory.is_dir())
        .collect()
}

#[test]
fn a_walk_of_real_directories_is_what_find_prints() {
    for directory in real_directories() {
        let found = Command::new("find")
            .args([".", "-mindepth", "1", "-print0"])
            .current_dir(&directory)
            .output()
            .unwrap();
        let mut found: Vec<_> =
            found.stdout.split(|byte| *byte == 0).filter_map(|name| name.strip_prefix(b"./")).collect();
        found.sort_unstable();
        let jail = Jail::open(&directory, Policy::standard()).unwrap();
        for jail in [jail.with_walk_tier().unwrap(), jail] {
            let entries: Vec<_> = jail.walk(".", WALK).unwrap().map(Result::unwrap).collect();
            let mut walked: Vec<_> = entries.iter().map(|entry| entry.path().as_bytes()).collect();
            walked.sort_unstable();
            assert_eq!(walked, found, "{}", directory.display());
            for entry in entries.iter().filter(|entry| entry.kind() == FileKind::File) {
                let on_host = directory.join(OsStr::from_bytes(entry.path().as_bytes()));
                assert_eq!(jail.read(entry.path(), 1 << 30).unwrap(), fs::read(on_host).unwrap());
            }
        }
    }
}

#[test]
fn text_is_given_where_the_bytes_are_text() {
    let policy = Policy::standard();
    assert_eq!(RelPath::parse("a/\u{e9}".as_bytes(), &policy).unwrap().to_str().unwrap(), "a/\u{e9}");
    let error = RelPath::parse(b"a/n\xff/b", &policy).unwrap().to_str().unwrap_err();
    assert_eq!((error.code(), error.component()), ("path/not-utf8", Some(2)));
    assert_eq!(error.to_string(), "read as text a/n\\xff/b: component 2 is not UTF-8");
}

#[test]
fn a_component_is_counted_in_the_path_that_was_given() {
    let world = World::new();
    world.directory("a/b").link("a/b/s", "l").file("f", "");
    drop(UnixListener::bind(world.at("a/b/s")).unwrap());
    for jail in world.jails(Policy::standard()) {
        let component = |path: &str| jail.open_read(path).unwrap_err().component();
        assert_eq!((component("l"), component("a//./b/s")), (Some(1), Some(3)));
        assert_eq!(jail.list("f", 1).unwrap_err().component(), Some(1));
        assert_eq!(jail.list("a/b/s", 1).unwrap_err().component(), Some(3));
    }
}
