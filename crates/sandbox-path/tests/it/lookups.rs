//! The cases of the kernel's tests of `openat2`, on a tree of the same shape, with the results of this crate.
//!
//! The tree has links that climb, links that are absolute and wish to be below, and links to links. The results are those that
//! the kernel's tests have for `NO_SYMLINKS`.

use plugward_sandbox_path::Policy;

use crate::world::World;

fn tree() -> World {
    let world = World::new();
    world.file("etc/passwd", "in").directory("root").directory("mnt");
    world.link("/proc/self/exe", "procexe").link("/proc/self/root", "procroot");
    world.link("../mnt/", "mnt/self").link("/mnt/", "mnt/absself");
    world.link("/newfile3", "creatlink").link("etc/", "reletc").link("etc/passwd", "relsym");
    world.link("/etc/", "absetc").link("/etc/passwd", "abssym").link("/cheeky", "abscheeky");
    world
        .link("/", "cheeky/absself")
        .link("../../jail/", "cheeky/self")
        .link("/../../jail/", "cheeky/garbageself");
    world.link("../cheeky/../etc/../etc/passwd", "cheeky/passwd");
    world.link("/../cheeky/../etc/../etc/passwd", "cheeky/abspasswd");
    world.link(format!("{}etc/passwd", "../".repeat(22)), "cheeky/dotdotlink");
    world.link(format!("/{}etc/passwd", "../".repeat(22)), "cheeky/garbagelink");
    world
}

/// Looks each name up on both tiers. A demand is `ok`, or a code without `path/`.
fn look_up(policy: Policy, cases: &[(&str, &str)]) {
    let world = tree();
    for jail in world.jails(policy) {
        for (name, demand) in cases {
            let is_directory =
                matches!(*name, "." | "root" | "root/" | "mnt/self" | "reletc" | "etc" | "./root/");
            let code = if is_directory {
                jail.list(name, 99).map_or_else(|error| error.code(), |_| "ok")
            } else {
                jail.read(name, 99).map_or_else(|error| error.code(), |_| "ok")
            };
            let code = code.strip_prefix("path/").unwrap_or(code);
            assert_eq!(code, *demand, "{name} on {:?}", jail.guarantee());
        }
    }
}

#[test]
fn what_the_kernel_opens_without_links() {
    look_up(
        Policy::standard(),
        &[
            (".", "ok"),
            ("etc", "ok"),
            ("root/", "ok"),
            ("etc/passwd", "ok"),
            // Links on the way.
            ("reletc/passwd", "symlink"),
            ("absetc/passwd", "symlink"),
            ("procroot/etc/passwd", "symlink"),
            ("cheeky/self/etc/passwd", "symlink"),
            ("abscheeky/absself/etc/passwd", "symlink"),
            // Links at the end, wherever they lead.
            ("relsym", "symlink"),
            ("abssym", "symlink"),
            ("procexe", "symlink"),
            ("creatlink", "symlink"),
            ("mnt/self", "symlink"),
            ("reletc", "symlink"),
            ("cheeky/garbagelink", "symlink"),
            ("abscheeky/garbagelink", "symlink"),
            ("cheeky/dotdotlink", "symlink"),
            ("../jail/relsym", "parent"),
        ],
    );
}
