//! Making, replacing, moving and removing.

use std::fs;
use std::io::Write as _;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::os::unix::net::UnixListener;

use plugward_sandbox_path::{
    AppendOutcome, Dotfiles, FileKind, MissingFile, OpenError, Perm, Policy, RenameMode, ReplaceOutcome,
    WalkLimits,
};

use crate::world::World;

const LIMITS: WalkLimits = WalkLimits { entries: 1000, depth: 100 };

fn text(world: &World, name: &str) -> String {
    fs::read_to_string(world.at(name)).unwrap()
}

/// The names in the jail, without those of the test.
fn temporary(world: &World) -> usize {
    let names = fs::read_dir(world.at("")).unwrap();
    names.filter(|name| name.as_ref().unwrap().file_name().to_string_lossy().contains("plugward-tmp")).count()
}

#[test]
fn answers_say_what_was_made() {
    let world = World::new();
    for (round, jail) in world.jails(Policy::standard()).into_iter().enumerate() {
        let name = format!("f{round}");
        let missing = jail.append(&name, MissingFile::Refuse).map(drop).unwrap_err();
        assert_eq!(missing.code(), "path/not-found");
        for (bytes, expected) in [("one", AppendOutcome::Created), (" two", AppendOutcome::Existing)] {
            let (mut file, answer) = jail.append(&name, MissingFile::Create(Perm::PRIVATE_FILE)).unwrap();
            file.write_all(bytes.as_bytes()).unwrap();
            assert_eq!(answer, expected);
        }
        assert_eq!(text(&world, &name), "one two");
        assert_eq!(jail.replace(&name, b"three", Perm::PRIVATE_FILE).unwrap(), ReplaceOutcome::Overwrote);
        assert_eq!(text(&world, &name), "three");
        let other = format!("g{round}");
        assert_eq!(jail.replace(&other, b"", Perm::PRIVATE_FILE).unwrap(), ReplaceOutcome::Created);
        assert_eq!(jail.replace(&other, b"now", Perm::PRIVATE_FILE).unwrap(), ReplaceOutcome::Overwrote);
        assert_eq!((text(&world, &other), temporary(&world)), ("now".to_owned(), 0));
        assert_eq!(jail.metadata(&other).unwrap().mode(), 0o600);
    }
}

#[test]
fn replace_keeps_the_bits_of_the_old_file() {
    let world = World::new();
    world.file("f", "old");
    for jail in world.jails(Policy::standard()) {
        for bits in [0o640, 0o755, 0o400, 0o4711] {
            fs::set_permissions(world.at("f"), fs::Permissions::from_mode(bits)).unwrap();
            assert_eq!(jail.replace("f", b"new", Perm::PRIVATE_FILE).unwrap(), ReplaceOutcome::Overwrote);
            // Setuid is not passed on: other bytes run under it.
            assert_eq!(jail.metadata("f").unwrap().mode(), bits & 0o777);
        }
    }
}

#[test]
fn replace_leaves_other_names_alone() {
    let world = World::new();
    for jail in world.jails(Policy::standard()) {
        world.file("f", "old");
        fs::hard_link(world.at("f"), world.at("../outside/twin")).unwrap();
        let before = fs::metadata(world.at("../outside/twin")).unwrap();
        assert_eq!(jail.replace("f", b"new", Perm::PRIVATE_FILE).unwrap(), ReplaceOutcome::Overwrote);
        let after = fs::metadata(world.at("../outside/twin")).unwrap();
        assert_eq!((before.ino(), after.nlink()), (after.ino(), 1));
        assert_eq!((text(&world, "f"), text(&world, "../outside/twin")), ("new".into(), "old".into()));
        fs::remove_file(world.at("../outside/twin")).unwrap();
    }
}

#[test]
fn bits_above_0777_cannot_be_said() {
    assert_eq!(Perm::new(0o777).map(Perm::bits), Some(0o777));
    for bits in [0o1000, 0o2755, 0o4755, u16::MAX] {
        assert_eq!(Perm::new(bits), None);
    }
    // What a directory hands down is the kernel's rule.
    let world = World::new();
    world.directory("shared");
    fs::set_permissions(world.at("shared"), fs::Permissions::from_mode(0o2755)).unwrap();
    for (round, jail) in world.jails(Policy::standard()).into_iter().enumerate() {
        let name = format!("shared/{round}");
        jail.create_dir(&name, Perm::PRIVATE_DIRECTORY).unwrap();
        assert_eq!(jail.metadata(&name).unwrap().mode(), 0o2700);
    }
}

#[test]
fn a_listing_reports_and_follows_nothing() {
    let world = World::new();
    world.file("b", "").file(".hidden", "").link("/", "link").directory("d").file("B", "").file("\u{e9}", "");
    drop(UnixListener::bind(world.at("socket")).unwrap());
    for jail in world.jails(Policy::standard()) {
        let all = jail.list(".", 100).unwrap();
        let names: Vec<_> = all.entries().iter().map(|entry| entry.name_str().unwrap()).collect();
        assert_eq!(names, [".hidden", "B", "b", "d", "link", "socket", "\u{e9}"]);
        let kind = |name: &str| all.entries().iter().find(|e| e.name_str() == Some(name)).unwrap().kind();
        assert_eq!(
            [kind("b"), kind("d"), kind("link"), kind("socket")],
            [FileKind::File, FileKind::Directory, FileKind::Symlink, FileKind::Socket]
        );
        assert!(!all.is_truncated());
        let some = jail.list(".", 3).unwrap();
        let names: Vec<_> = some.entries().iter().map(|entry| entry.name_str().unwrap()).collect();
        assert_eq!((names, some.is_truncated()), (vec![".hidden", "B", "b"], true));
        assert!(jail.list(".", 0).unwrap().is_truncated());
    }
    for jail in world.jails(Policy::standard().with_dotfiles(Dotfiles::Refuse)) {
        let shown = jail.list(".", 100).unwrap();
        assert_eq!((shown.entries().len(), shown.hidden()), (6, 1));
        let mut walk = jail.walk(".", LIMITS).unwrap();
        assert_eq!((walk.by_ref().count(), walk.hidden()), (6, 1));
    }
}

#[test]
fn names_move_and_nothing_is_replaced_unasked() {
    let world = World::new();
    for jail in world.jails(Policy::standard()) {
        world.file("a/f", "f").file("a/g", "g").link("../../outside/f", "a/l").directory("e");
        let error = jail.rename("a/f", "a/g", RenameMode::Refuse).unwrap_err();
        assert_eq!((error.code(), text(&world, "a/g")), ("path/exists", "g".into()));
        assert_eq!(jail.rename("a/f", "a/l", RenameMode::Refuse).unwrap_err().code(), "path/exists");
        jail.rename("a/f", "e/h", RenameMode::Refuse).unwrap();
        jail.rename("e/h", "a/g", RenameMode::Replace).unwrap();
        assert_eq!(text(&world, "a/g"), "f");
        jail.rename("a/g", "a/l", RenameMode::Replace).unwrap();
        assert_eq!((text(&world, "a/l"), text(&world, "../outside/f")), ("f".into(), "outside".into()));
        assert_eq!(jail.rename("a/gone", "a/x", RenameMode::Refuse).unwrap_err().code(), "path/not-found");
        jail.rename("a", "e/a", RenameMode::Refuse).unwrap();
        assert_eq!(jail.remove_tree("e", LIMITS).unwrap(), 3);
    }
}

#[test]
fn a_tree_goes_with_its_links_and_without_their_targets() {
    let world = World::new();
    for jail in world.jails(Policy::agent()) {
        world.file("t/a/b/c", "").file("t/.hidden/x", "").link("../../outside", "t/out").link("..", "t/a/up");
        drop(UnixListener::bind(world.at("t/socket")).unwrap());
        let few = WalkLimits { entries: 3, ..LIMITS };
        assert_eq!(jail.remove_tree("t", few).unwrap_err().code(), "path/too-large");
        let flat = WalkLimits { depth: 1, ..LIMITS };
        assert_eq!(jail.remove_tree("t", flat).unwrap_err().code(), "path/too-deep");
        world.file("t/a/b/c", "").link("../../outside", "t/out2");
        jail.remove_tree("t", LIMITS).unwrap();
        assert!(!world.at("t").exists() && world.at("../outside/f").exists());
        assert_eq!(jail.remove_tree("t", LIMITS).unwrap_err().code(), "path/not-found");
    }
}

#[test]
fn a_tree_over_the_limit_loses_no_more_than_the_limit() {
    for tier in 0..2_usize {
        let world = World::new();
        let jail = &world.jails(Policy::standard())[tier];
        world.file("t/a", "").file("t/s/x", "").file("t/z", "");
        for (entries, removed) in [(0, 0), (3, 0), (4, 1), (5, 5)] {
            world.file("t/a", "").file("t/s/x", "").file("t/z", "");
            let answer = jail.remove_tree("t", WalkLimits { entries, depth: 9 });
            let left = if world.at("t").exists() {
                1 + jail.walk("t", LIMITS).unwrap().flatten().count()
            } else {
                0
            };
            assert_eq!(5 - left, removed, "limit of {entries} on tier {tier}");
            let code = answer.map_err(|error| error.code());
            assert_eq!(code, if entries == 5 { Ok(5) } else { Err("path/too-large") }, "{entries}");
        }
        fs::create_dir(world.at("t")).unwrap();
        let none = WalkLimits { entries: 0, depth: 9 };
        assert_eq!(jail.remove_tree("t", none).unwrap_err().code(), "path/too-large");
        assert!(world.at("t").exists());
    }
}

#[test]
fn an_error_of_a_rename_names_the_path_that_it_is_about() {
    let world = World::new();
    world.file("f", "").file("g", "").directory("d").link("d", "l");
    let said = |done: Result<(), OpenError>| done.unwrap_err().to_string();
    for jail in world.jails(Policy::standard()) {
        assert_eq!(
            said(jail.rename("f", "gone/x", RenameMode::Refuse)),
            "rename to gone/x: component 1 does not exist"
        );
        assert_eq!(
            said(jail.rename("f", "l/x", RenameMode::Refuse)),
            "rename to l/x: component 1 is a symbolic link"
        );
        assert_eq!(
            said(jail.rename("f", "g/x", RenameMode::Refuse)),
            "rename to g/x: component 1 is not a directory"
        );
        assert_eq!(
            said(jail.rename("f", "g", RenameMode::Refuse)),
            "rename to g: component 1 already exists"
        );
        assert_eq!(
            said(jail.rename("f", "d", RenameMode::Replace)),
            "rename to d: component 1 already exists"
        );
        assert_eq!(
            said(jail.rename("gone/f", "g", RenameMode::Replace)),
            "rename gone/f: component 1 does not exist"
        );
        assert_eq!(
            said(jail.rename("gone", "g", RenameMode::Replace)),
            "rename gone: component 1 does not exist"
        );
        assert_eq!(
            said(jail.rename("l", "g", RenameMode::Replace)),
            "rename l: component 1 is a symbolic link"
        );
    }
}

#[test]
fn appending_to_a_link_that_leads_nowhere_is_refused_by_name() {
    let world = World::new();
    world.link("nothing", "dangling").link("../outside/new", "out");
    for jail in world.jails(Policy::standard()) {
        let missing = MissingFile::Create(Perm::PRIVATE_FILE);
        let error = jail.append("dangling", missing).map(drop).unwrap_err();
        assert_eq!((error.code(), error.component()), ("path/symlink", Some(1)));
        assert_eq!(jail.append("out", missing).map(drop).unwrap_err().code(), "path/symlink");
        assert!(!world.at("nothing").exists() && !world.at("../outside/new").exists());
    }
}

#[test]
fn a_directory_that_may_not_be_changed_denies_a_rename() {
    use rustix::fs::IFlags;

    let world = World::new();
    world.file("d/f", "");
    let directory = fs::File::open(world.at("d")).unwrap();
    if let Err(errno) = rustix::fs::ioctl_setflags(&directory, IFlags::IMMUTABLE) {
        println!("skipped: no immutable directory can be made here ({errno})");
        return;
    }
    let codes: Vec<_> = world
        .jails(Policy::standard())
        .iter()
        .flat_map(|jail| {
            [RenameMode::Refuse, RenameMode::Replace].map(|over| jail.rename("d/f", "d/g", over))
        })
        .map(|done| done.map_err(|error| error.code()))
        .collect();
    rustix::fs::ioctl_setflags(&directory, IFlags::empty()).unwrap();
    assert_eq!(codes, [Err("path/denied"); 4]);
}
