//! The tiers: the kernel's lookup, the walk on request, and the walk because a filter denies `openat2`.

use std::collections::BTreeMap;
use std::path::Path;

use plugward_sandbox_path::{Guarantee, Jail, Policy};
use rustix::io::Errno;
use seccompiler::{BpfProgram, SeccompAction, SeccompFilter, TargetArch, apply_filter};

use crate::world::World;

/// The number of `openat2`, the same on every architecture of Linux.
const OPENAT2: i64 = 437;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Tier {
    Kernel,
    ForcedWalk,
    Denied(Errno),
}

/// Every tier that a test runs on, the strongest first.
pub(crate) const TIERS: [Tier; 4] =
    [Tier::Kernel, Tier::ForcedWalk, Tier::Denied(Errno::NOSYS), Tier::Denied(Errno::PERM)];

/// Makes `openat2` fail in this thread from here on.
pub(crate) fn deny(errno: Errno) {
    let arch = TargetArch::try_from(std::env::consts::ARCH).unwrap();
    let rules = BTreeMap::from([(OPENAT2, vec![])]);
    let answer = SeccompAction::Errno(errno.raw_os_error().unsigned_abs());
    let filter = SeccompFilter::new(rules, SeccompAction::Allow, answer, arch).unwrap();
    apply_filter(&BpfProgram::try_from(filter).unwrap()).unwrap();
}

/// Runs a piece of a test on one tier, in a thread of its own.
pub(crate) fn on<T: Send>(tier: Tier, run: impl FnOnce(&dyn Fn(&Path, Policy) -> Jail) -> T + Send) -> T {
    std::thread::scope(|scope| {
        let thread = scope.spawn(|| {
            if let Tier::Denied(errno) = tier {
                deny(errno);
            }
            run(&|path, policy| {
                let jail = Jail::open(path, policy).unwrap();
                let jail = if tier == Tier::ForcedWalk { jail.with_walk_tier().unwrap() } else { jail };
                let expected =
                    if tier == Tier::Kernel { Guarantee::AtOpenKernel } else { Guarantee::AtOpenWalk };
                assert_eq!(jail.guarantee(), expected);
                jail
            })
        });
        thread.join().unwrap()
    })
}

#[test]
fn a_tier_is_chosen_once() {
    let world = World::new();
    world.file("f", "in");
    let jail = Jail::open(world.at(""), Policy::standard()).unwrap();
    for (errno, code) in [(Errno::NOSYS, "path/backend-lost"), (Errno::PERM, "path/denied")] {
        let jail = jail.clone();
        let seen = std::thread::spawn(move || {
            deny(errno);
            let error = jail.read("f", 10).unwrap_err();
            (error.code(), jail.guarantee(), error.class())
        });
        // No walk is tried in the place of a kernel that stops answering.
        let answer = plugward_sandbox_path::ErrorClass::Failed;
        assert_eq!(seen.join().unwrap(), (code, Guarantee::AtOpenKernel, answer));
    }
    assert_eq!(jail.read("f", 10).unwrap(), b"in");
}

#[test]
fn a_weaker_tier_is_an_error_where_the_stronger_is_required() {
    let world = World::new();
    for tier in TIERS {
        let required = on(tier, |open| {
            open(&world.at(""), Policy::standard())
                .require(Guarantee::AtOpenKernel)
                .map(|_| ())
                .map_err(|e| e.code())
        });
        let expected = if tier == Tier::Kernel { Ok(()) } else { Err("jail/weaker-guarantee") };
        assert_eq!(required, expected);
        let enough =
            on(tier, |open| open(&world.at(""), Policy::standard()).require(Guarantee::AtOpenWalk).is_ok());
        assert!(enough);
    }
}
