//! Mounts of our own, in a user and mount namespace of our own.

use std::fs;
use std::path::Path;
use std::process::Command;

use plugward_sandbox_path::{Jail, Mounts, Policy, RaceCause, SandboxedPath};

use crate::child;
use crate::world::World;

/// Runs the test again in namespaces of its own. Tells whether this is that run.
fn inside(test: &str) -> bool {
    if child::argument().is_some() {
        return true;
    }
    let enter = ["unshare", "-Urmpf", "--mount-proc"];
    let can = Command::new("unshare").args(["-Urmpf", "--mount-proc", "true"]).output();
    if can.is_ok_and(|output| output.status.success()) {
        child::passes(child::under(&enter, test, "inside"));
    } else {
        println!("{test}: skipped, no user and mount namespace can be had here");
    }
    false
}

fn mount(arguments: &[&str], at: impl AsRef<Path>) -> bool {
    let output = Command::new("mount").args(arguments).arg(at.as_ref()).output().unwrap();
    if !output.status.success() {
        println!("mount {arguments:?}: skipped, {}", String::from_utf8_lossy(&output.stderr).trim());
    }
    output.status.success()
}

fn code<T>(result: Result<T, plugward_sandbox_path::OpenError>) -> &'static str {
    result.map_or_else(|error| error.code(), |_| "ok")
}

#[test]
fn mounts_are_refused_by_their_number() {
    if !inside("namespaces::mounts_are_refused_by_their_number") {
        return;
    }
    let world = World::new();
    world
        .file("f", "in")
        .directory("tmp")
        .directory("bind")
        .directory("proc")
        .file("a/f", "in")
        .file("single", "");
    assert!(mount(&["-t", "tmpfs", "none"], world.at("tmp")));
    fs::write(world.at("tmp/f"), "mounted").unwrap();
    let outside = world.at("../outside");
    assert!(mount(&["--bind", outside.to_str().unwrap()], world.at("bind")));
    assert!(mount(&["--bind", outside.join("f").to_str().unwrap()], world.at("single")));
    let proc = mount(&["-t", "proc", "proc"], world.at("proc"));
    let refuse = Policy::standard().with_mounts(Mounts::Refuse);
    for jail in world.jails(Policy::standard()) {
        for name in ["tmp/f", "bind/f", "single", "a/f"] {
            assert_eq!(code(jail.read(name, 99)), "ok", "{name}");
        }
    }
    for jail in world.jails(refuse) {
        for name in ["tmp/f", "bind/f"] {
            let error = jail.read(name, 99).unwrap_err();
            assert_eq!((error.code(), error.component()), ("path/mount", Some(1)), "{name}");
        }
        assert_eq!(code(jail.list("tmp", 9)), "path/mount");
        assert_eq!(code(jail.metadata("bind")), "path/mount");
        assert_eq!(code(jail.read("single", 99)), "path/mount");
        assert_eq!(
            code(jail.replace("single", b"", plugward_sandbox_path::Perm::PRIVATE_FILE)),
            "path/mount"
        );
        if proc {
            assert_eq!(code(jail.read("proc/version", 9999)), "path/mount");
        }
        assert_eq!(code(jail.read("a/f", 99)), "ok");
        let tree = jail.remove_tree("tmp", plugward_sandbox_path::WalkLimits { entries: 9, depth: 9 });
        assert_eq!(code(tree), "path/mount");
        assert!(world.at("tmp/f").exists());
        // A mount that appears between `create` and `open` is named.
        let seen = SandboxedPath::create(&jail, "a/f").unwrap();
        assert!(mount(&["-t", "tmpfs", "none"], world.at("a")));
        fs::write(world.at("a/f"), "mounted").unwrap();
        assert_eq!(seen.open().unwrap_err().race().unwrap().cause(), RaceCause::LeftJail);
        assert!(Command::new("umount").arg(world.at("a")).status().unwrap().success());
        assert_eq!(seen.open().unwrap().opened().len(), 2);
    }
}

#[test]
fn links_of_procfs_are_magic() {
    if !inside("namespaces::links_of_procfs_are_magic") {
        return;
    }
    let world = World::new();
    world.directory("proc");
    if !mount(&["-t", "proc", "proc"], world.at("proc")) {
        return;
    }
    for jail in world.jails(Policy::standard()) {
        for name in ["proc/self/root", "proc/self/exe", "proc/1/cwd", "proc/self/fd/0", "proc/mounts"] {
            assert_eq!(code(jail.read(name, 99)), "path/symlink", "{name}");
        }
    }
    // The jail on procfs itself.
    let jail = Jail::open("/proc", Policy::standard()).unwrap();
    assert_eq!(code(jail.read("self/status", 9999)), "path/symlink");
    assert_eq!(code(jail.read("version", 9999)), "ok");
}

#[test]
fn an_overmounted_proc_changes_nothing() {
    if !inside("namespaces::an_overmounted_proc_changes_nothing") {
        return;
    }
    let world = World::new();
    world.file("a/f", "in");
    let [kernel, walk] = world.jails(Policy::standard()).try_into().unwrap();
    let seen = SandboxedPath::create(&kernel, "a/f").unwrap();
    assert!(mount(&["-t", "tmpfs", "none"], "/proc"));
    for jail in [&kernel, &walk] {
        assert_eq!(code(jail.read("a/f", 9)), "ok");
    }
    assert_eq!(seen.open().unwrap().opened().len(), 2);
    // Another root for this process changes nothing either: the jail is a handle.
    let root = world.at("../outside");
    if rustix::process::chroot(&root).is_err() {
        println!("chroot: skipped");
        return;
    }
    for jail in [&kernel, &walk] {
        assert_eq!(code(jail.read("a/f", 9)), "ok");
        assert_eq!(code(jail.read("../outside/f", 9)), "path/parent");
    }
    assert_eq!(seen.open().unwrap().opened().len(), 2);
}

#[test]
fn a_file_that_is_copied_up_is_the_same() {
    if !inside("namespaces::a_file_that_is_copied_up_is_the_same") {
        return;
    }
    let world = World::new();
    let base = world.at("base");
    world.directory("base").directory("jail");
    assert!(mount(&["-t", "tmpfs", "none"], &base));
    for name in ["lower", "upper", "work"] {
        fs::create_dir(base.join(name)).unwrap();
    }
    fs::write(base.join("lower/f"), "below").unwrap();
    let options = format!("lowerdir={0}/lower,upperdir={0}/upper,workdir={0}/work,userxattr", base.display());
    if !mount(&["-t", "overlay", "-o", &options, "overlay"], world.at("jail")) {
        return;
    }
    let jail = Jail::open(world.at("jail"), Policy::standard()).unwrap();
    let seen = SandboxedPath::create(&jail, "f").unwrap();
    fs::write(world.at("jail/f"), "above").unwrap();
    assert!(base.join("upper/f").exists(), "it was copied up");
    let file = seen.open().unwrap();
    assert_eq!(file.read_chunk(0, 9).unwrap().bytes, b"above");
    // The near miss: a new file of the same name is another object.
    fs::write(world.at("jail/g"), "other").unwrap();
    fs::rename(world.at("jail/g"), world.at("jail/f")).unwrap();
    assert!(seen.open().unwrap_err().race().is_some());
}

#[test]
fn names_in_another_case_are_told() {
    if !inside("namespaces::names_in_another_case_are_told") {
        return;
    }
    let world = World::new();
    world.directory("folding");
    // Linux 6.13 and later, where it was built with the tables of Unicode; the line above says so where it was not.
    if !mount(&["-t", "tmpfs", "-o", "casefold", "none"], world.at("folding")) {
        return;
    }
    fs::create_dir(world.at("folding/d")).unwrap();
    let marked = Command::new("chattr").arg("+F").arg(world.at("folding/d")).status();
    if !marked.is_ok_and(|status| status.success()) {
        println!("skipped: a directory cannot be told to fold case here");
        return;
    }
    fs::write(world.at("folding/d/Name"), "in").unwrap();
    let jail = Jail::open(world.at("folding/d"), Policy::standard()).unwrap();
    assert_eq!(jail.case_folding(), plugward_sandbox_path::CaseFolding::Folded);
    assert_eq!(jail.read("nAME", 9).unwrap(), b"in");
}
