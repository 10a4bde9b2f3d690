//! A directory that is renamed for a symlink while calls run.

use std::os::unix::fs::symlink;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::Files;

const CALLS: u32 = 100_000;
const MOST: Duration = Duration::from_secs(30);

/// Renames `d` and a symlink to `outside` in turn until told to stop.
fn swap(root: &std::path::Path, stop: &AtomicBool) {
    let at = |name: &str| root.join(name);
    while !stop.load(Ordering::Relaxed) {
        std::fs::rename(at("d"), at("real")).unwrap();
        std::fs::rename(at("link"), at("d")).unwrap();
        std::fs::rename(at("d"), at("link")).unwrap();
        std::fs::rename(at("real"), at("d")).unwrap();
    }
}

/// Runs calls during the renames, and returns how many there were, and how many were answered with success.
fn race(
    files: &mut Files,
    outside: &std::path::Path,
    mut call: impl FnMut(&mut Files) -> Value,
) -> (u32, u32) {
    let root = files.directory.path().to_owned();
    std::fs::create_dir(root.join("d")).unwrap();
    std::fs::write(root.join("d/a"), "inside").unwrap();
    symlink(outside, root.join("link")).unwrap();
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| swap(&root, &stop));
        let (start, mut calls, mut successes) = (Instant::now(), 0, 0);
        while calls < CALLS && start.elapsed() < MOST {
            let answer = call(files);
            assert!(!answer.to_string().contains("outside-text"), "escape: {answer}");
            successes += u32::from(answer.get("error").is_none());
            calls += 1;
        }
        stop.store(true, Ordering::Relaxed);
        (calls, successes)
    })
}

#[test]
fn no_read_leaves_the_directory() {
    let outside = tempfile::tempdir().unwrap();
    std::fs::write(outside.path().join("a"), "outside-text").unwrap();
    let mut files = Files::new();
    let (calls, inside) = race(&mut files, outside.path(), |files| files.call("readFile", json!(["d/a"])));
    println!("fs-read: 0 escapes in {calls} calls, {inside} of which read the file inside");
    assert!(inside > 0 && inside < calls, "the race happened: {inside} of {calls}");
}

#[test]
fn no_write_leaves_the_directory() {
    let outside = tempfile::tempdir().unwrap();
    std::fs::write(outside.path().join("a"), "outside-text").unwrap();
    let mut files = Files::new();
    let mut turn = 0_u32;
    let (calls, inside) = race(&mut files, outside.path(), |files| {
        turn += 1;
        // Replacing syncs the file, so most calls append.
        match turn % 100 {
            0 => files.call("writeFile", json!(["d/a", "w"])),
            1 => files.call("mkdir", json!(["d/new"])),
            _ => files.call("appendFile", json!(["d/a", "x"])),
        }
    });
    println!("fs-write: 0 escapes in {calls} calls, {inside} of which wrote inside");
    assert!(inside > 0 && inside < calls, "the race happened: {inside} of {calls}");
    assert_eq!(std::fs::read(outside.path().join("a")).unwrap(), b"outside-text");
    assert_eq!(std::fs::read_dir(outside.path()).unwrap().count(), 1);
}
