//! The jail itself: what becomes one, where it stays, and what it tells.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;
use std::sync::{Arc, Mutex};

use plugward_sandbox_path::{
    CaseFolding, FilesystemRaceDetected, Jail, JailPlace, Perm, Policy, RaceCause, RaceObserver, RelPath,
    SandboxedPath,
};

use crate::world::World;

fn code(result: Result<Jail, plugward_sandbox_path::JailError>) -> &'static str {
    result.map_or_else(|error| error.code(), |_| "ok")
}

#[test]
fn a_link_is_no_jail_however_it_is_written() {
    let world = World::new();
    symlink("jail", world.at("../link")).unwrap();
    let link = world.at("../link").to_str().unwrap().to_owned();
    for end in ["", "/", "/.", "//", "/./.", "/.//"] {
        let path = format!("{link}{end}");
        assert_eq!(code(Jail::open(&path, Policy::standard())), "jail/symlink", "{path}");
        assert_eq!(code(Jail::open_following(&path, Policy::standard())), "ok", "{path}");
        assert_eq!(code(Jail::create(&path, Policy::standard())), "jail/symlink", "{path}");
    }
    let near = format!("{}/", world.at("").display());
    assert_eq!(code(Jail::open(near, Policy::standard())), "ok");
}

#[test]
fn what_is_no_directory_is_no_jail() {
    let world = World::new();
    world.file("f", "");
    let standard = Policy::standard();
    assert_eq!(code(Jail::open(world.at("missing"), standard)), "jail/not-found");
    assert!(!world.at("missing").exists(), "nothing was made");
    assert_eq!(code(Jail::open(world.at("f"), standard)), "jail/not-a-directory");
    assert_eq!(code(Jail::open("", standard)), "jail/not-found");
    for root in ["/", "//", "/.", "/..", "/proc/.."] {
        assert_eq!(code(Jail::open(root, standard)), "jail/is-root", "{root}");
        assert_eq!(code(Jail::open_root(root, standard)), "ok", "{root}");
    }
    assert_eq!(code(Jail::open_following("/proc/self/root", standard)), "jail/is-root");
    let file = fs::File::open(world.at("f")).unwrap();
    assert_eq!(code(Jail::from_fd(file.into(), standard)), "jail/not-a-directory");
}

#[test]
fn a_jail_lends_the_handle_of_its_directory() {
    let world = World::new();
    let jail = Jail::open(world.at(""), Policy::standard()).unwrap();
    fs::rename(world.at(""), world.at("../moved")).unwrap();
    let status = rustix::fs::fstat(&jail).unwrap();
    assert_eq!((status.st_dev, status.st_ino), (jail.id().device(), jail.id().inode()));
}

#[test]
fn a_jail_is_made_one_level_deep_and_private() {
    let world = World::new();
    let made = Jail::create(world.at("new"), Policy::standard()).unwrap();
    assert_eq!(fs::metadata(world.at("new")).unwrap().permissions().mode() & 0o777, 0o700);
    assert_eq!(made.place().unwrap(), JailPlace::Same);
    assert_eq!(Jail::create(world.at("new"), Policy::standard()).unwrap().id(), made.id());
    assert_eq!(code(Jail::create(world.at("x/y"), Policy::standard())), "jail/not-found");

    let unique =
        Jail::create_unique(world.at(""), "p-", [0, 1, 2, 3, 4, 5, 6, 255], Policy::agent()).unwrap();
    let path = world.at("p-00010203040506ff");
    assert_eq!(unique.host_path(), Some(path.as_path()));
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o700);
    let again = Jail::create_unique(world.at(""), "p-", [0, 1, 2, 3, 4, 5, 6, 255], Policy::agent());
    assert_eq!(code(again), "jail/exists");
    for prefix in ["../p-", "a/b", "p\0", &"p".repeat(240)] {
        assert_eq!(code(Jail::create_unique(world.at(""), prefix, [0; 8], Policy::agent())), "jail/io");
    }
}

#[test]
fn a_jail_stays_with_its_directory() {
    let world = World::new();
    world.file("j/f", "old");
    for walk in [false, true] {
        let jail = Jail::open(world.at("j"), Policy::standard()).unwrap();
        let jail = if walk { jail.with_walk_tier().unwrap() } else { jail };
        fs::rename(world.at("j"), world.at("moved")).unwrap();
        assert_eq!((jail.read("f", 9).unwrap(), jail.place().unwrap()), (b"old".to_vec(), JailPlace::Moved));
        world.file("j/f", "new");
        assert_eq!((jail.read("f", 9).unwrap(), jail.place().unwrap()), (b"old".to_vec(), JailPlace::Moved));
        fs::remove_dir_all(world.at("j")).unwrap();
        fs::rename(world.at("moved"), world.at("j")).unwrap();
        assert_eq!(jail.place().unwrap(), JailPlace::Same);
    }
}

#[test]
fn a_removed_jail_says_so() {
    let world = World::new();
    for walk in [false, true] {
        world.directory("j");
        let jail = Jail::open(world.at("j"), Policy::standard()).unwrap();
        let jail = if walk { jail.with_walk_tier().unwrap() } else { jail };
        assert_eq!(jail.read("f", 9).unwrap_err().code(), "path/not-found");
        fs::remove_dir(world.at("j")).unwrap();
        assert_eq!(jail.place().unwrap(), JailPlace::Gone);
        for error in [
            jail.read("f", 9).unwrap_err(),
            jail.read("a/f", 9).unwrap_err(),
            jail.create_new("f", Perm::PRIVATE_FILE).unwrap_err(),
            jail.replace("f", b"", Perm::PRIVATE_FILE).unwrap_err(),
            jail.create_dir("d", Perm::PRIVATE_DIRECTORY).unwrap_err(),
        ] {
            assert_eq!(error.code(), "path/jail-gone", "{error}");
        }
    }
}

#[test]
fn case_folding_is_told_by_looking() {
    let world = World::new();
    let jail = Jail::open(world.at(""), Policy::standard()).unwrap();
    assert_eq!(jail.case_folding(), CaseFolding::Unknown, "an empty directory shows nothing");
    world.file("Name", "");
    assert_eq!(jail.case_folding(), CaseFolding::Distinct);
    // Two names of one file would look like one name in two spellings.
    let twins = World::new();
    twins.file("a", "");
    fs::hard_link(twins.at("a"), twins.at("A")).unwrap();
    assert_eq!(Jail::open(twins.at(""), Policy::standard()).unwrap().case_folding(), CaseFolding::Unknown);
}

#[test]
fn a_subjail_and_a_stripped_name_lead_below() {
    let world = World::new();
    world.file("a/b/f", "in");
    for jail in world.jails(Policy::standard()) {
        let sub = jail.subjail("a/b").unwrap();
        assert_eq!((sub.read("f", 9).unwrap(), sub.guarantee()), (b"in".to_vec(), jail.guarantee()));
        assert_eq!(sub.read("../b/f", 9).unwrap_err().code(), "path/parent");
        let home = world.at("");
        let home = home.to_str().unwrap().trim_end_matches('/');
        assert_eq!(jail.strip(Path::new(&format!("{home}//a/./b/f"))).unwrap().as_bytes(), b"a/b/f");
        assert!(jail.strip(Path::new(home)).unwrap().is_jail());
        for (path, code) in [
            (format!("{home}-evil/f"), "path/outside"),
            (format!("{home}/../outside/f"), "path/parent"),
            ("a/b/f".to_owned(), "path/outside"),
            ("/".to_owned(), "path/outside"),
        ] {
            assert_eq!(jail.strip(Path::new(&path)).unwrap_err().code(), code, "{path}");
        }
    }
}

#[test]
fn a_number_given_to_the_next_file_is_told_by_the_pin() {
    let world = World::new();
    let (mut same_number, mut unpinned_missed) = (0, 0);
    for jail in world.jails(Policy::standard()) {
        for _ in 0..50 {
            world.file("f", "first");
            let seen = SandboxedPath::create(&jail, "f").unwrap();
            let loose = SandboxedPath::create(&jail, "f").unwrap().unpin();
            fs::remove_file(world.at("f")).unwrap();
            assert_eq!(seen.open().unwrap_err().race().unwrap().cause(), RaceCause::Vanished);
            world.file("f", "second");
            let cause = seen.open().unwrap_err().race().unwrap().cause();
            assert!(matches!(cause, RaceCause::Replaced { .. }), "{cause:?}");
            drop(seen);
            fs::remove_file(world.at("f")).unwrap();
            world.file("f", "third");
            let now = SandboxedPath::create(&jail, "f").unwrap();
            same_number += u32::from(now.id() == loose.id());
            unpinned_missed += u32::from(loose.open().is_ok());
            fs::remove_file(world.at("f")).unwrap();
        }
    }
    println!(
        "without a pin: {same_number} of 100 numbers came again, {unpinned_missed} were taken for the same file"
    );
}

#[derive(Default)]
struct Record(Mutex<Vec<FilesystemRaceDetected>>);

impl RaceObserver for Record {
    fn race(&self, race: &FilesystemRaceDetected) {
        self.0.lock().unwrap().push(race.clone());
    }
}

#[test]
fn an_observer_is_told_of_a_race_that_the_caller_swallows() {
    let world = World::new();
    world.file("a/f", "in");
    let record = Arc::new(Record::default());
    let jail = Jail::open(world.at(""), Policy::standard()).unwrap().with_observer(record.clone());
    let seen = SandboxedPath::create(&jail, "a/f").unwrap();
    drop(seen.open().unwrap());
    assert!(jail.read("a/missing", 9).is_err());
    assert!(record.0.lock().unwrap().is_empty(), "an absence is no race");
    fs::remove_file(world.at("a/f")).unwrap();
    drop(seen.open());
    let races = record.0.lock().unwrap();
    assert_eq!(races.len(), 1);
    assert_eq!((races[0].cause(), races[0].relative().as_bytes()), (RaceCause::Vanished, &b"a/f"[..]));
    assert_eq!(races[0].to_string(), "race on a/f: the path no longer exists");
}

#[test]
fn a_race_that_the_caller_detects_reaches_the_observer() {
    let world = World::new();
    world.file("a/f", "in");
    let record = Arc::new(Record::default());
    let plain = Jail::open(world.at(""), Policy::standard()).unwrap();
    let race = FilesystemRaceDetected::new(RelPath::jail(), RaceCause::Changed, None);
    // Without an observer a report has no effect.
    plain.report_race(&race);
    let jail = plain.with_observer(record.clone());
    for jail in [&jail, &jail.clone(), &jail.subjail("a").unwrap()] {
        jail.report_race(&race);
    }
    assert_eq!(*record.0.lock().unwrap(), [race.clone(), race.clone(), race.clone()]);
    assert_eq!(race.to_string(), "race on .: the path changed while it was read");
}

/// Every open that meets another object is reported once, whether or not the caller looks at the error.
#[test]
fn each_race_is_reported_once() {
    let world = World::new();
    let record = Arc::new(Record::default());
    let mut returned = 0;
    for jail in world.jails(Policy::standard()) {
        let jail = jail.with_observer(record.clone());
        for (cause, change) in changes() {
            world.file("d/f", "in");
            let seen = SandboxedPath::create(&jail, "d/f").unwrap();
            let unpinned = SandboxedPath::create(&jail, "d/f").unwrap().unpin();
            change(&world);
            let opens: [&dyn Fn() -> _; 2] = [&|| seen.open(), &|| unpinned.open()];
            for open in opens {
                let error = open().unwrap_err();
                returned += 1;
                let races = record.0.lock().unwrap();
                assert_eq!(races.len(), returned);
                assert_eq!(error.race(), races.last());
                assert!(races[returned - 1].cause().to_string().starts_with(cause), "{error}");
            }
            // The one-shot calls do not return races, and so report none.
            drop((jail.open_read("d/f"), jail.read("d/f", 9), jail.metadata("d/f"), jail.list("d", 9)));
            assert_eq!(record.0.lock().unwrap().len(), returned);
            fs::remove_dir_all(world.at("d")).or_else(|_| fs::remove_file(world.at("d"))).unwrap();
        }
    }
}

type Change = fn(&World);

fn changes() -> [(&'static str, Change); 5] {
    [
        ("no longer exists", |world| fs::remove_file(world.at("d/f")).unwrap()),
        ("now leads to another object", |world| {
            world.file("d/new", "in");
            fs::rename(world.at("d/new"), world.at("d/f")).unwrap();
        }),
        ("now contains a symbolic link", |world| {
            fs::remove_file(world.at("d/f")).unwrap();
            world.link("g", "d/f");
        }),
        ("now leads to a directory", |world| {
            fs::remove_file(world.at("d/f")).unwrap();
            fs::create_dir(world.at("d/f")).unwrap();
        }),
        ("now leads to another kind", |world| {
            fs::remove_dir_all(world.at("d")).unwrap();
            world.file("d", "");
        }),
    ]
}

#[test]
fn an_editor_that_renames_over_the_file_is_named_and_read() {
    let world = World::new();
    world.file("f", "one");
    for jail in world.jails(Policy::standard()) {
        let seen = SandboxedPath::create(&jail, "f").unwrap();
        // Writing to the file itself is no race.
        fs::write(world.at("f"), "one and more").unwrap();
        assert_eq!(seen.open().unwrap().opened().len(), 12);
        world.file("f~", "two");
        fs::rename(world.at("f~"), world.at("f")).unwrap();
        assert!(matches!(seen.open().unwrap_err().race().unwrap().cause(), RaceCause::Replaced { .. }));
        assert_eq!(seen.open_current().unwrap().read_chunk(0, 9).unwrap().bytes, b"two");
    }
}

#[test]
fn what_is_stripped_off_is_not_told() {
    let world = World::new();
    let jail = Jail::open(world.at(""), Policy::agent()).unwrap();
    for (tail, text) in [
        ("a/../x", "strip a/../x: component 2 is `..`"),
        (".git", "strip .git: component 1 starts with a dot"),
    ] {
        assert_eq!(jail.strip(&world.at(tail)).unwrap_err().to_string(), text);
    }
    let top = Jail::open_root("/", Policy::standard()).unwrap();
    assert_eq!(top.strip(Path::new("")).unwrap_err().code(), "path/outside");
    assert!(top.strip(Path::new("/")).unwrap().is_jail());
}
