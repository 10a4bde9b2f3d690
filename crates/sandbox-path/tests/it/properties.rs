//! What holds for any tree and any bytes.

use std::fs;
use std::io::Read as _;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use cap_std::ambient_authority;
use cap_std::fs::Dir;
use plugward_sandbox_path::{Policy, RelPath, SandboxedPath};
use proptest::prelude::*;

use crate::world::{OUTSIDE, World};

/// One thing to put into a tree; what does not fit is left out.
#[derive(Debug, Clone)]
enum Thing {
    Directory(String),
    File(String),
    Link(String, String),
}

fn name() -> impl Strategy<Value = String> {
    prop::sample::select(vec!["a", "b", "c", "a/b", "a/b/c", "b/a", "a/l", "l", "b/l", "a/b/l", "c/c"])
        .prop_map(str::to_owned)
}

fn target() -> impl Strategy<Value = String> {
    let targets = [
        "a",
        "b",
        "f",
        "a/b",
        "../a",
        "..",
        ".",
        "./",
        "b/",
        "../..",
        "../outside",
        "../../outside/f",
        "../outside/f",
        "l",
        "b/l",
        "../jail/a",
        "/",
        "/etc",
        "{jail}/a",
        "{jail}",
        "a/../b",
        "nothing",
        "../nothing/a",
        "a//b/.",
    ];
    prop::sample::select(targets.to_vec()).prop_map(str::to_owned)
}

fn things() -> impl Strategy<Value = Vec<Thing>> {
    let thing = prop_oneof![
        name().prop_map(Thing::Directory),
        name().prop_map(Thing::File),
        (name(), target()).prop_map(|(name, target)| Thing::Link(name, target)),
    ];
    prop::collection::vec(thing, 0..12)
}

fn path() -> impl Strategy<Value = String> {
    let parts = prop::sample::select(vec!["a", "b", "c", "l", "f", "..", ".", "", "outside", "jail", "a.b"]);
    prop::collection::vec(parts, 0..7).prop_map(|parts| parts.join("/"))
}

fn build(things: &[Thing]) -> World {
    let world = World::new();
    let jail = world.at("").to_str().unwrap().trim_end_matches('/').to_owned();
    for thing in things {
        match thing {
            Thing::Directory(name) => drop(fs::create_dir_all(world.at(name))),
            Thing::File(name) => drop(fs::write(world.at(name), "in")),
            Thing::Link(name, target) => {
                drop(std::os::unix::fs::symlink(target.replace("{jail}", &jail), world.at(name)));
            }
        }
    }
    world
}

fn policies() -> [Policy; 2] {
    [Policy::standard(), Policy::agent()]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 192, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_tree_and_no_path_lead_outside(things in things(), paths in prop::collection::vec(path(), 8)) {
        let world = build(&things);
        let oracle = Dir::open_ambient_dir(world.at(""), ambient_authority()).unwrap();
        for policy in policies() {
            let [kernel, walk] = world.jails(policy).try_into().unwrap();
            for path in &paths {
                let one = kernel.open_read(path);
                let other = walk.open_read(path);
                let code = |opened: &Result<_, plugward_sandbox_path::OpenError>| {
                    opened.as_ref().map_or_else(plugward_sandbox_path::OpenError::code, |_| "ok")
                };
                prop_assert_eq!(code(&one), code(&other), "{:?} {}", policy, path);
                let component = |opened: &Result<_, plugward_sandbox_path::OpenError>| {
                    opened.as_ref().err().and_then(plugward_sandbox_path::OpenError::component)
                };
                prop_assert_eq!(component(&one), component(&other), "{:?} {}", policy, path);
                let list = |jail: &plugward_sandbox_path::Jail| {
                    jail.list(path, 99).map(plugward_sandbox_path::Listing::into_entries).map_err(|e| e.code())
                };
                prop_assert_eq!(list(&kernel), list(&walk));
                let peer = oracle.open(path);
                if let Err(error) = &peer {
                    let escape = error.to_string().contains("outside of the filesystem");
                    prop_assert!(!escape || one.is_err(), "the oracle sees an escape in {}", path);
                }
                let Ok(mut file) = one else { continue };
                let mut text = String::new();
                file.read_to_string(&mut text).unwrap();
                prop_assert_ne!(text.as_str(), OUTSIDE);
                let peer = peer.unwrap().into_std().metadata().unwrap();
                prop_assert_eq!((peer.dev(), peer.ino()), (file.opened().id().device(), file.opened().id().inode()));
                let seen = SandboxedPath::create(&kernel, path).unwrap();
                prop_assert_eq!(seen.open().unwrap().opened().id(), file.opened().id());
            }
        }
    }

    #[test]
    fn no_bytes_lead_outside(bytes in prop::collection::vec(any::<u8>(), 0..40), dotted in "[a./\\\\\u{0}~]{0,12}") {
        let world = World::new();
        world.file("a/a", "in").link("../outside", "l");
        for policy in policies().into_iter().chain([Policy::agent()]) {
            for given in [&bytes[..], dotted.as_bytes()] {
                for jail in world.jails(policy) {
                    if let Ok(text) = jail.read(given, 99) {
                        prop_assert_eq!(text, b"in");
                        let real = fs::canonicalize(world.at("").join(std::ffi::OsStr::from_bytes(given))).unwrap();
                        let home = fs::canonicalize(world.at("")).unwrap();
                        prop_assert!(real.starts_with(home));
                    }
                }
            }
        }
    }

    #[test]
    fn the_gate_is_idempotent_and_leaves_plain_parts(
        parts in prop::collection::vec(prop_oneof!["[a-c.]{0,3}", "[^/]{0,4}"], 0..8),
        ending in prop::sample::select(vec!["", "/", "/."]),
    ) {
        let given = parts.join("/") + ending;
        for policy in policies() {
            if let Ok(rel) = RelPath::parse_directory(given.as_bytes(), &policy) {
                for part in rel.components() {
                    prop_assert!(!matches!(part, b"" | b"."));
                    prop_assert!(part != b"..");
                }
                prop_assert_eq!(rel.components().count(), rel.depth());
                if rel.is_jail() {
                    continue;
                }
                let again = RelPath::parse(rel.as_bytes(), &policy).unwrap();
                prop_assert_eq!(again.as_bytes(), rel.as_bytes());
                let rendered = Path::new(std::ffi::OsStr::from_bytes(rel.as_bytes()));
                prop_assert!(rendered.is_relative());
            }
            if let Ok(strict) = RelPath::parse(given.as_bytes(), &policy) {
                prop_assert_eq!(RelPath::parse_directory(given.as_bytes(), &policy).unwrap(), strict);
            }
        }
    }
}

/// A path displays the characters that every crate of the workspace escapes, and the backslash.
#[test]
fn a_displayed_path_has_no_hidden_characters() {
    for character in ('\u{1}'..=char::MAX).filter(|character| *character != '/') {
        let text = format!("a{character}b");
        let Ok(path) = RelPath::parse(text.as_bytes(), &Policy::standard()) else { continue };
        let escaped = path.to_string().starts_with("a\\");
        assert_eq!(
            escaped,
            character == '\\' || plugward_types::escape::is_hidden(character),
            "{character:?}"
        );
    }
}
