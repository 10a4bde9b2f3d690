//! What the kernel is asked, seen from outside the process.

use std::process::Command;

use plugward_sandbox_path::{MissingFile, Perm, Policy, RenameMode, SandboxedPath, WalkLimits};

use crate::child;
use crate::world::World;

/// Marks the start and the end of this crate's calls in the trace.
fn mark(text: &str) {
    drop(std::fs::metadata(format!("/mark/{text}")));
}

fn traced(argument: &str) -> Option<String> {
    if Command::new("strace").arg("-V").output().is_err() {
        println!("skipped: there is no strace here");
        return None;
    }
    let directory = tempfile::tempdir().unwrap();
    let trace = directory.path().join("trace");
    let strace = ["strace", "-f", "-qq", "-s", "4096", "-o", trace.to_str().unwrap()];
    child::passes(child::under(&strace, "flags::every_open_has_its_flags", argument));
    Some(std::fs::read_to_string(trace).unwrap())
}

/// Gives the calls between two marks, without the thread's number.
fn between<'a>(trace: &'a str, from: &str, to: &str) -> Vec<&'a str> {
    let calls = trace.lines().filter_map(|line| line.split_once(' ').map(|(_, call)| call.trim_start()));
    let mut rest = calls.skip_while(|call| !call.contains(&format!("/mark/{from}\"")));
    assert!(rest.next().is_some(), "no mark {from}");
    rest.take_while(|call| !call.contains(&format!("/mark/{to}\""))).collect()
}

#[test]
fn every_open_has_its_flags() {
    if let Some(tier) = child::argument() {
        return calls(&tier);
    }
    for tier in ["kernel", "walk"] {
        let Some(trace) = traced(tier) else { return };
        let ours = between(&trace, "start", "end");
        let opens: Vec<_> = ours.iter().filter(|call| call.starts_with("openat")).collect();
        assert!(opens.len() > 20, "{}", opens.len());
        for call in opens {
            let strict = call.contains("O_NOFOLLOW") || call.contains("RESOLVE_NO_SYMLINKS");
            // The jail's own directory is named `.`, and a look upwards has no name at all.
            let nameless = call.contains(", \"..\"") || call.contains(", \"../");
            assert!(call.contains("O_CLOEXEC") && (strict || nameless), "{call}");
            assert!(!call.contains("O_TRUNC"), "{call}");
            let content = !call.contains("O_PATH") && !call.contains("O_DIRECTORY");
            let waits = content && !call.contains("O_NONBLOCK") && !call.contains("O_EXCL");
            assert!(!waits && (!content || call.contains("O_NOCTTY")), "{call}");
            if tier == "kernel" && call.starts_with("openat2") {
                let all = ["RESOLVE_BENEATH", "RESOLVE_NO_MAGICLINKS", "RESOLVE_NO_SYMLINKS"];
                assert!(all.iter().all(|flag| call.contains(flag)), "{call}");
            }
        }
        assert!(!ours.iter().any(|call| call.contains("/proc/")), "nothing is opened through procfs");
        let refused = between(&trace, "end", "refused");
        let asked: Vec<_> = refused.iter().filter(|call| !allocates(call)).collect();
        assert!(asked.is_empty(), "a refusal of the string asks the kernel nothing: {asked:?}");
        if tier == "kernel" {
            for (from, to, expected) in [
                ("refused", "shallow", 3),
                ("shallow", "deep", 3),
                ("deep", "two-shallow", 6),
                ("two-shallow", "two", 6),
            ] {
                let calls = between(&trace, from, to);
                let made: Vec<_> = calls.iter().filter(|call| !allocates(call)).collect();
                assert_eq!(made.len(), expected, "{from} to {to}: {made:?}");
            }
        }
    }
}

fn allocates(call: &str) -> bool {
    // Where it is built with debug assertions, the standard library asks whether a descriptor is open before it closes it.
    call.contains("F_GETFD")
        || ["brk", "mmap", "munmap", "mremap", "madvise"].iter().any(|name| call.starts_with(name))
}

fn calls(tier: &str) {
    let world = World::new();
    let deep = "d/".repeat(15) + "f";
    world.file("a/b/f", "in").file(&deep, "in").link("a", "l").file("t/u/v", "").link("../outside", "t/out");
    let [kernel, walk] = world.jails(Policy::standard()).try_into().unwrap();
    let jail = if tier == "kernel" { kernel } else { walk };
    let file = Perm::PRIVATE_FILE;
    mark("start");
    jail.read("a/b/f", 9).unwrap();
    drop(SandboxedPath::create(&jail, "a/b/f").unwrap().open().unwrap());
    drop(jail.create_new("a/new", file).unwrap());
    drop(jail.append("a/new", MissingFile::Refuse).unwrap().0);
    drop(jail.append("a/newer", MissingFile::Create(file)).unwrap().0);
    assert!(jail.replace("a/new", b"text", file).is_ok());
    jail.create_dir("a/directory", Perm::PRIVATE_DIRECTORY).unwrap();
    jail.rename("a/directory", "a/other", RenameMode::Refuse).unwrap();
    assert_eq!(jail.list("a", 9).unwrap().entries().len(), 4);
    assert!(jail.walk(".", WalkLimits { entries: 99, depth: 99 }).unwrap().all(|item| item.is_ok()));
    jail.metadata("a").unwrap();
    jail.read_link("l").unwrap();
    jail.subjail("a/b").unwrap().read("f", 9).unwrap();
    assert!(jail.read("l/b/f", 9).is_err() && jail.read("a/x/f", 9).is_err());
    jail.remove_tree("t", WalkLimits { entries: 99, depth: 99 }).unwrap();
    jail.remove_file("a/newer").unwrap();
    mark("end");
    for path in ["", "a\0", "/a", "a/../b", "f/", &"a".repeat(256), &"a/".repeat(2500)] {
        assert!(jail.read(path, 9).is_err());
    }
    mark("refused");
    drop(jail.open_read("a/b/f").unwrap());
    mark("shallow");
    drop(jail.open_read(&deep).unwrap());
    mark("deep");
    drop(SandboxedPath::create(&jail, "a/b/f").unwrap().open().unwrap());
    mark("two-shallow");
    drop(SandboxedPath::create(&jail, &deep).unwrap().open().unwrap());
    mark("two");
}
