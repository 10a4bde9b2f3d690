//! Crashes, full disks, and permissions that end.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::process::ExitStatusExt as _;
use std::path::Path;
use std::process::{Command, Stdio};

use plugward_sandbox_path::{ErrorClass, Jail, Perm, Policy};

use crate::child;
use crate::world::World;

const OLD: u8 = b'a';
const SIZE: usize = 64 * 1024;
/// How often the writer is killed.
const KILLS: usize = if cfg!(feature = "_test-race") { 2000 } else { 200 };

#[test]
fn a_writer_that_is_killed_leaves_old_or_new_bytes() {
    if let Some(home) = child::argument() {
        let jail = Jail::open(home, Policy::standard()).unwrap();
        for round in 0..u8::MAX {
            let letter = OLD + round % 26;
            assert!(jail.replace("f", &vec![letter; SIZE], Perm::PRIVATE_FILE).is_ok());
            println!("wrote {round}");
        }
        return;
    }
    let world = World::new();
    world.file("f", vec![OLD; SIZE]);
    let home = world.at("").to_str().unwrap().to_owned();
    let (mut left, mut letters) = (0, std::collections::BTreeSet::new());
    for round in 0..KILLS {
        let test = "faults::a_writer_that_is_killed_leaves_old_or_new_bytes";
        let mut writer = child::under(&["/usr/bin/env"], test, &home).stdout(Stdio::piped()).spawn().unwrap();
        let mut lines = BufReader::new(writer.stdout.take().unwrap()).lines();
        // The process is killed during the write after the last reported one.
        for _ in 0..=round % 3 {
            while !lines.next().unwrap().unwrap().contains("wrote") {}
        }
        writer.kill().unwrap();
        assert_eq!(writer.wait().unwrap().signal(), Some(9));
        let bytes = fs::read(world.at("f")).unwrap();
        assert_eq!(bytes.len(), SIZE);
        assert!(bytes.iter().all(|byte| *byte == bytes[0]), "a mix of two writes");
        letters.insert(bytes[0]);
        for name in fs::read_dir(world.at("")).unwrap().map(|name| name.unwrap()) {
            if name.file_name() != "f" {
                assert!(name.file_name().to_string_lossy().starts_with(".plugward-tmp-"));
                fs::remove_file(name.path()).unwrap();
                left += 1;
            }
        }
    }
    println!("{KILLS} kills: {left} temporary files left, {} different contents seen", letters.len());
}

#[test]
fn a_full_disk_keeps_the_old_file() {
    if child::argument().is_none() {
        let script = "trap '' XFSZ; ulimit -f 1; exec \"$@\"";
        let shell = ["/bin/sh", "-c", script, "sh"];
        return child::passes(child::under(&shell, "faults::a_full_disk_keeps_the_old_file", "small"));
    }
    let world = World::new();
    world.file("f", "old");
    for jail in world.jails(Policy::standard()) {
        for name in ["f", "new"] {
            let error = jail.replace(name, &vec![b'x'; 1 << 16], Perm::PRIVATE_FILE).unwrap_err();
            assert_eq!((error.code(), error.class()), ("path/io", ErrorClass::Failed));
            assert_eq!(error.raw_os_error(), Some(rustix::io::Errno::FBIG.raw_os_error()));
        }
        assert_eq!(fs::read(world.at("f")).unwrap(), b"old");
        let left: Vec<_> =
            fs::read_dir(world.at("")).unwrap().map(|name| name.unwrap().file_name()).collect();
        assert_eq!(left, ["f"]);
        // The near miss fits.
        assert!(jail.replace("f", b"old", Perm::PRIVATE_FILE).is_ok());
    }
}

#[test]
fn a_denied_name_is_a_failure_and_no_race() {
    if !rustix::process::geteuid().is_root() {
        return denied();
    }
    // Root is never denied access, so the test runs as another user.
    if child::argument().is_some() {
        return denied();
    }
    let test = "faults::a_denied_name_is_a_failure_and_no_race";
    let exe = std::env::current_exe().unwrap();
    let reachable = exe
        .ancestors()
        .skip(1)
        .all(|directory| fs::metadata(directory).is_ok_and(|meta| meta.permissions().mode() & 0o001 != 0));
    let can = Command::new("setpriv").args(["--reuid=65534", "--clear-groups", "true"]).output();
    if !reachable || !can.is_ok_and(|output| output.status.success()) {
        println!("skipped: this runs as root, and cannot become somebody else here");
        return;
    }
    child::passes(child::under(&["setpriv", "--reuid=65534", "--clear-groups"], test, "nobody"));
}

fn denied() {
    let world = World::new();
    world.file("closed/f", "in").file("unreadable", "in").directory("unlisted").directory("gone");
    let bits =
        |name: &str, mode| fs::set_permissions(world.at(name), fs::Permissions::from_mode(mode)).unwrap();
    for jail in world.jails(Policy::standard()) {
        bits("closed", 0o700);
        bits("unreadable", 0o600);
        let seen = plugward_sandbox_path::SandboxedPath::create(&jail, "unreadable").unwrap();
        bits("unreadable", 0);
        bits("unlisted", 0o300);
        bits("closed", 0);
        // A pin needs no permission to read, and a denial at `open` is no race.
        let error = seen.open().unwrap_err();
        assert_eq!((error.code(), error.race().is_none()), ("path/denied", true));
        for error in [
            jail.read("closed/f", 9).unwrap_err(),
            jail.read("unreadable", 9).unwrap_err(),
            jail.list("unlisted", 9).unwrap_err(),
            jail.create_new("closed/new", Perm::PRIVATE_FILE).unwrap_err(),
        ] {
            assert_eq!((error.code(), error.class()), ("path/denied", ErrorClass::Failed), "{error}");
        }
        let limits = plugward_sandbox_path::WalkLimits { entries: 99, depth: 9 };
        let items: Vec<_> = jail.walk(".", limits).unwrap().collect();
        let denied: Vec<_> =
            items.iter().filter_map(|item| item.as_ref().err()).map(ToString::to_string).collect();
        let expected = |name| format!("walk {name}: component 1 was denied by the system");
        assert!(items.len() == 6 && denied.len() == 2, "{items:?}");
        assert!(
            denied.iter().all(|text| *text == expected("closed")
                || *text == expected("unlisted")
                || text.contains("the path was denied")),
            "{denied:?}"
        );
        bits("closed", 0o700);
    }
    assert_eq!(
        Jail::open(Path::new(&world.at("unlisted")), Policy::standard())
            .unwrap()
            .list(".", 1)
            .unwrap_err()
            .code(),
        "path/denied"
    );
}
