//! Kernels and containers that deny a mechanism.

use std::fs;

use plugward_launch::{
    EnforceRule, LaunchCheck, LaunchSpec, ProbeResult, Program, SealCheck, SealedProgram, probe,
};

use crate::Case;
use crate::world::{World, check, finish, running, shell, without};

pub(crate) const CASES: &[Case] = &[
    ("faults::without_landlock", without_landlock),
    ("faults::without_namespaces", without_namespaces),
    ("faults::without_mounts", without_mounts),
    ("faults::without_memory_files", without_memory_files),
    ("faults::not_a_launcher", not_a_launcher),
    ("faults::probes", probes),
];

const LANDLOCK: i64 = libc::SYS_landlock_create_ruleset;

fn without_landlock() {
    let world = World::new();
    let access = world.access();
    let marker = world.at("write/marker");
    let touch = shell(&format!("echo x > {marker}; cat {}", world.at("outside/file")));
    without(&[LANDLOCK], || {
        let checked = check(&touch, &access, EnforceRule::Require, &mut |_| panic!("recorded"));
        let LaunchCheck::Refused(refusal) = checked.unwrap() else { panic!("it started") };
        let words: Vec<&str> = refusal.missing.iter().map(|missing| missing.word).collect();
        assert_eq!((refusal.code(), words), ("launch/enforcement", vec!["files", "processes"]));
        assert!(refusal.missing.iter().all(|missing| !missing.why.is_empty() && !missing.help.is_empty()));
        assert!(!refusal.help().is_empty() && !fs::exists(&marker).unwrap());
        // Best effort: it runs, and the report says what is missing.
        let started = running(check(&touch, &access, EnforceRule::BestEffort, &mut |_| Ok(())).unwrap());
        let words: Vec<&str> = started.report().missing.iter().map(|missing| missing.word).collect();
        assert_eq!(words, ["files", "processes"]);
        assert_eq!(started.report().held, ["network", "environment", "end"]);
        assert_eq!(finish(started), ("outside".to_owned(), Some(0)));
    });
    assert!(fs::exists(&marker).unwrap());
}

fn without_namespaces() {
    let world = World::new();
    let access = world.access();
    let read = shell(&format!("cat {}; exit 3", world.at("outside/file")));
    without(&[libc::SYS_unshare], || {
        let started = running(check(&read, &access, EnforceRule::Require, &mut |_| Ok(())).unwrap());
        let words: Vec<&str> = started.report().missing.iter().map(|missing| missing.word).collect();
        assert_eq!(words, ["end"]);
        let (text, code) = finish(started);
        assert!(text.contains("Permission denied") && code == Some(3), "{text}");
        assert_eq!(world.attempt(&access, &["descriptors"]), "0 1 2 3");
        // Without the namespace, other mechanisms deny other processes.
        let own = std::process::id().to_string();
        assert!(world.attempt(&access, &["signal", &own]).contains("not permitted"));
        assert!(
            world.attempt(&access, &["read", &format!("/proc/{own}/environ")]).contains("ermission denied")
        );
        assert_eq!(world.attempt(&access, &["signal-child"]), "ok");
        for (denied, script) in [
            (true, format!("renice -n 1 -p {own}")),
            (true, "renice -n 1 -u $(id -u)".to_owned()),
            (true, "ionice -c 3 -u $(id -u)".to_owned()),
            (true, format!("taskset -p 1 {own}")),
            (true, format!("chrt -i -p 0 {own}")),
            (true, "ipcmk -M 1".to_owned()),
            (true, "ipcmk -Q".to_owned()),
            (true, "ipcmk -S 1".to_owned()),
            (false, "nice -n 1 taskset 1 ionice -c 3 chrt -b 0 true".to_owned()),
        ] {
            let (text, code) = crate::world::output(&shell(&script), &access);
            assert_eq!(
                (text.contains("not permitted"), code == Some(0)),
                (denied, !denied),
                "{script}: {text}"
            );
        }
        assert_eq!(world.attempt(&access, &["capabilities"]), "0000000000000000 0000000000000000");
        // The group ends with the program, and TERM reaches it.
        let mut started = crate::world::start(
            &shell("trap 'exit 4' TERM; echo ready; while :; do sleep 0.01; done"),
            &access,
        );
        assert_eq!(crate::world::line(&mut started), "ready");
        assert_eq!(started.end(std::time::Duration::from_secs(4)).unwrap().code(), Some(4));
    });
}

fn without_mounts() {
    let world = World::new();
    without(&[libc::SYS_mount], || {
        let started = crate::world::start(&shell("exit 3"), &world.access());
        let missing = &started.report().missing;
        assert!(
            missing.len() == 1 && missing.iter().all(|missing| missing.why.starts_with("mount `/proc`: "))
        );
        assert_eq!(finish(started).1, Some(3));
    });
}

/// A program that cannot be sealed is copied, and confined in the same way.
fn without_memory_files() {
    let world = World::new();
    fs::copy("/bin/true", world.at("tree/true")).unwrap();
    without(&[libc::SYS_memfd_create], || {
        let file = fs::File::open("/bin/true").unwrap();
        let SealCheck::NotExecutable { why } = SealedProgram::copy(&file, &[0; 32]).unwrap() else {
            panic!("sealed")
        };
        let path = world.at("tree/true");
        let spec =
            LaunchSpec { program: Program::Copy { path: &path, reason: Some(&why) }, ..world.spec(&[]) };
        let started = crate::world::start(&spec, &world.access());
        assert_eq!(started.report().reason.as_deref(), Some(why.as_str()));
        assert_eq!(finish(started).1, Some(0));
    });
}

/// A launcher that a user starts by hand has no socket, and ends.
fn not_a_launcher() {
    for role in ["setup", "supervisor", "plain", "other"] {
        let mut command = std::process::Command::new(World::new().exe);
        command.args(["plugward-launcher", role]).stdin(std::process::Stdio::null());
        assert_eq!(command.status().unwrap().code(), Some(1), "{role}");
    }
}

/// Every mechanism works here, and each one that is denied is missing alone.
fn probes() {
    let missing = || {
        let rows = probe().rows.into_iter().filter(|row| row.result != ProbeResult::Ok);
        let rows = rows
            .inspect(|row| assert!(!row.detail.is_empty() && !row.help.is_empty() && row.holds.is_empty()));
        rows.map(|row| row.name).collect::<Vec<_>>()
    };
    for (call, name) in [
        (LANDLOCK, "landlock"),
        (libc::SYS_capset, "capabilities"),
        (libc::SYS_seccomp, "seccomp"),
        (libc::SYS_unshare, "pid-namespace"),
        (libc::SYS_memfd_create, "sealed-exec"),
        (libc::SYS_openat2, "openat2"),
    ] {
        let missing = without(&[call], missing);
        // The namespace needs `capset`, too.
        assert!(missing.contains(&name) && missing.len() <= 2, "{name}: {missing:?}");
    }
    let words =
        |calls: &[i64]| without(calls, || probe().missing.iter().map(|missing| missing.word).collect());
    let none: Vec<&str> = words(&[]);
    assert_eq!((none, words(&[LANDLOCK])), (vec![], vec!["files", "processes"]));
}
