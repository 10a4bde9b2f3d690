//! Those who wait get the hold in the order in which they came, and leave nothing behind when they give up.

use std::io::{BufRead as _, BufReader};
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::process::Stdio;
use std::sync::Mutex;
use std::time::Duration;

use crate::child::command;
use crate::support::{LONG, NAME, file_in, put};

/// Returns how many processes wait for the lock or its queue, if the kernel shows that.
fn waiting(place: &Path) -> Option<usize> {
    let text = std::fs::read_to_string("/proc/locks").ok()?;
    let inodes: Vec<String> = ["lock", "queue"]
        .iter()
        .filter_map(|end| Some(format!(":{} ", place.join(format!("{NAME}.{end}")).metadata().ok()?.ino())))
        .collect();
    let ours = |line: &&str| line.contains("->") && inodes.iter().any(|inode| line.contains(inode));
    Some(text.lines().filter(ours).count())
}

/// Returns `true` if this machine shows waiting processes. A test that needs it prints that it was skipped.
fn is_shown() -> bool {
    let shown = Path::new("/proc/locks").exists();
    if !shown {
        println!("skipped: no /proc/locks here");
    }
    shown
}

/// Returns once so many wait; stops the program where that never comes, since a thread that waits cannot be ended.
fn until_waiting(place: &Path, count: usize) {
    let start = std::time::Instant::now();
    while waiting(place) != Some(count) {
        if start.elapsed() > LONG {
            eprintln!("{:?} wait instead of {count}", waiting(place));
            std::process::abort();
        }
        std::thread::yield_now();
    }
}

#[test]
fn who_came_first_is_served_first() {
    if !is_shown() {
        return;
    }
    let home = tempfile::tempdir().unwrap();
    let file = file_in(home.path());
    let first = file.lock(LONG).unwrap();
    let served = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for number in 0..12 {
            let (served, place) = (&served, home.path());
            scope.spawn(move || {
                let file = file_in(place);
                let hold = file.lock(LONG).unwrap();
                served.lock().unwrap().push(number);
                drop(hold);
            });
            until_waiting(home.path(), number + 1);
        }
        drop(first);
    });
    assert_eq!(served.into_inner().unwrap(), (0..12).collect::<Vec<_>>());
}

#[test]
fn one_that_comes_again_at_once_is_not_served_before_those_who_wait() {
    if !is_shown() {
        return;
    }
    let home = tempfile::tempdir().unwrap();
    put(home.path(), b"").unwrap();
    let file = file_in(home.path());
    for round in 0..20 {
        let hold = file.lock(LONG).unwrap();
        std::thread::scope(|scope| {
            let waiter = scope.spawn(|| {
                let file = file_in(home.path());
                let hold = file.lock(LONG).unwrap();
                hold.replace(b"the one who waited").unwrap();
            });
            until_waiting(home.path(), 1);
            drop(hold);
            let again = file.lock(LONG).unwrap();
            assert_eq!(again.read().unwrap().unwrap().bytes(), b"the one who waited", "round {round}");
            again.replace(b"").unwrap();
            drop(again);
            waiter.join().unwrap();
        });
    }
}

#[test]
fn a_wait_in_vain_takes_nothing_and_leaves_one_thread_at_most() {
    let home = tempfile::tempdir().unwrap();
    let mut child = command(&[], "impatient", home.path()).stdout(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let said = lines.find_map(|line| line.unwrap().split_once("child: ").map(|(_, said)| said.to_owned()));
    assert!(child.wait().unwrap().success());
    assert_eq!(said.as_deref(), Some("1 thread after 50 waits; the hold is free again"));
}

#[test]
fn a_hold_that_is_free_is_had_in_no_time() {
    let home = tempfile::tempdir().unwrap();
    let file = file_in(home.path());
    for _ in 0..50 {
        drop(file.lock(Duration::ZERO).unwrap());
    }
    assert!(!home.path().join("pins.toml.queue").exists(), "nobody had to wait");
}
