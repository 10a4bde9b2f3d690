//! Processes that are killed at any moment, and two of them at once.

use std::io::{BufRead as _, BufReader};
use std::path::Path;

use crate::child::{command, operate, version};
use crate::support::Memory;

const KILLS: u64 = 50;

/// Starts a task, kills it at a moment that `seed` selects, and returns whether it had ended before.
fn kill_at(task: &str, place: &Path, seed: u64) -> bool {
    let mut child = command(task, place).spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    // The download has 16 pieces; `ready` is before it, and with more lines the kill is after the last piece: in the
    // verification, the sync, the receipt or the rename.
    let (wanted, spins) = ((seed >> 59) % 20, (seed >> 30) & 0x3_ffff);
    let mut told = 0;
    for line in lines.by_ref() {
        if line.unwrap().contains("child: ") {
            told += 1;
        }
        if told > wanted.min(16) {
            break;
        }
    }
    (0..spins).for_each(|spin| {
        std::hint::black_box(spin);
    });
    child.kill().unwrap();
    child.wait().unwrap();
    lines.any(|line| line.unwrap().contains("child: done"))
}

/// A directory in memory if there is one: a killed process loses nothing that it wrote, so the disk is not tested here.
fn scratch() -> tempfile::TempDir {
    tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).unwrap()
}

fn seeds() -> impl Iterator<Item = u64> {
    let mut seed = 0x9e37_79b9_7f4a_7c15_u64;
    (0..KILLS).map(move |_| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        seed
    })
}

#[test]
fn killed_at_random_moments() {
    let (mut left, mut placed) = (0, 0);
    for seed in seeds() {
        let home = scratch();
        kill_at("install", home.path(), seed);
        let file = home.path().join("plugward-hi");
        left += u32::from(home.path().join(".stage-hi").exists());
        if file.exists() {
            placed += 1;
            assert!(std::fs::read(&file).unwrap() == version(1), "a part of the file has the name");
            std::fs::remove_file(&file).unwrap();
        }
        // Whatever is left is no obstacle, and is gone afterwards.
        assert_eq!(operate("install", home.path(), &Memory::of(&version(1))), Ok(()));
        assert!(std::fs::read(&file).unwrap() == version(1));
        assert!(!home.path().join(".stage-hi").exists());
    }
    println!("{KILLS} kills: {left} left a part of the download, {placed} came after the rename");
    assert!(left > 0, "no kill hit the download");
}

#[test]
fn a_killed_update_leaves_a_version_that_works() {
    let (mut old, mut new) = (0, 0);
    for seed in seeds().take(20) {
        let home = scratch();
        operate("install", home.path(), &Memory::of(&version(1))).unwrap();
        kill_at("update", home.path(), seed);
        let there = std::fs::read(home.path().join("plugward-hi")).unwrap();
        assert!(there == version(1) || there == version(2), "neither version is complete");
        if there == version(1) {
            old += 1;
        } else {
            new += 1;
        }
        let store = plugward_registry::CommandStore::open(
            &crate::support::open(home.path()),
            crate::support::us(),
            std::time::Duration::from_secs(60),
        );
        let receipt = store.unwrap().receipts().unwrap().remove(0);
        let digest = crate::support::digest(&there).hex();
        assert!(receipt.sha256 == digest || receipt.next == Some(digest), "{receipt:?}");
        assert_eq!(operate("update", home.path(), &Memory::of(&version(2))), Ok(()));
        assert!(std::fs::read(home.path().join("plugward-hi")).unwrap() == version(2));
    }
    println!("20 kills: {old} left the old version, {new} the new one");
}

#[test]
fn two_installations_at_once() {
    for _ in 0..5 {
        let home = scratch();
        let mut children: Vec<_> = (0..2).map(|_| command("install", home.path()).spawn().unwrap()).collect();
        let mut ends: Vec<String> = children
            .iter_mut()
            .map(|child| {
                let lines = BufReader::new(child.stdout.take().unwrap()).lines();
                let end = lines
                    .map(Result::unwrap)
                    .filter_map(|line| line.rsplit_once("child: done ").map(|(_, code)| code.to_owned()));
                end.last().unwrap()
            })
            .collect();
        for child in &mut children {
            assert!(child.wait().unwrap().success());
        }
        ends.sort();
        assert_eq!(ends, ["ok", "registry/already-installed"]);
        assert!(std::fs::read(home.path().join("plugward-hi")).unwrap() == version(1));
    }
}

#[test]
fn a_full_disk_leaves_nothing() {
    let home = scratch();
    let plugins = home.path().join("plugins");
    std::fs::create_dir(&plugins).unwrap();
    // A process can limit its own files, and the kernel then refuses a write as on a full disk.
    let script = format!(
        "trap '' XFSZ; ulimit -f 256; exec {} --exact child::run --nocapture --test-threads=1",
        std::env::current_exe().unwrap().display()
    );
    let mut child = std::process::Command::new("sh");
    child.args(["-c", &script]);
    for (name, value) in command("install", &plugins).get_envs() {
        child.env(name, value.unwrap());
    }
    let output = child.output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.contains("child: done registry/disk"), "{text}");
    let entries = std::fs::read_dir(&plugins).unwrap().map(|entry| entry.unwrap().file_name());
    let names: Vec<_> = entries.filter(|name| !name.to_str().unwrap().starts_with("receipts.toml")).collect();
    assert!(names.is_empty(), "{names:?}");
    // With a directory in the place of the stage file, nothing can be written either.
    std::fs::create_dir(plugins.join(".stage-hi")).unwrap();
    let code = operate("install", &plugins, &Memory::of(&version(1)));
    assert_eq!(code, Err("registry/disk"));
}
