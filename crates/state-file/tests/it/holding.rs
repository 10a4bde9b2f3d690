//! One hold at a time.

use std::io::{BufRead as _, BufReader};
use std::process::Stdio;
use std::time::Duration;

use plugward_state_file::{StateErrorKind, TrustFault};

use crate::child::command;
use crate::support::{LONG, file_in, names_in, put};

#[test]
fn a_second_hold_is_refused_and_names_the_first() {
    let home = tempfile::tempdir().unwrap();
    let mut child = command(&[], "lock", home.path()).stdout(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    assert!(lines.any(|line| line.unwrap().contains("child: held")));
    let file = file_in(home.path());
    for wait in [Duration::ZERO, Duration::from_millis(20)] {
        let error = file.lock(wait).unwrap_err();
        assert_eq!(*error.kind(), StateErrorKind::Held { pid: Some(child.id()) });
        assert!(error.help().contains(&child.id().to_string()));
    }
    assert!(file.read().unwrap().is_none(), "a reader never waits");
    child.kill().unwrap();
    child.wait().unwrap();
    // The kernel has dropped it with the process.
    file.lock(LONG).unwrap().replace(b"ours").unwrap();
    assert_eq!(file.read().unwrap().unwrap().bytes(), b"ours");
}

#[test]
fn holds_of_one_process_exclude_each_other() {
    let home = tempfile::tempdir().unwrap();
    put(home.path(), b"0").unwrap();
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for _ in 0..10 {
                    let file = file_in(home.path());
                    let hold = file.lock(LONG).unwrap();
                    let text = String::from_utf8(hold.read().unwrap().unwrap().into_bytes()).unwrap();
                    let next = text.parse::<u32>().unwrap() + 1;
                    hold.replace(next.to_string().as_bytes()).unwrap();
                }
            });
        }
    });
    assert_eq!(file_in(home.path()).read().unwrap().unwrap().bytes(), b"40");
}

#[test]
fn a_lock_file_that_was_removed_and_made_anew_gives_no_second_hold() {
    let home = tempfile::tempdir().unwrap();
    let file = file_in(home.path());
    let hold = file.lock(LONG).unwrap();
    std::fs::remove_file(home.path().join("pins.toml.lock")).unwrap();
    drop(hold);
    // It is there again for the next one, and is held.
    let again = file.lock(LONG).unwrap();
    assert_eq!(file.lock(Duration::ZERO).unwrap_err().code(), "state/held");
    drop(again);
}

#[test]
fn a_lock_file_that_leads_elsewhere_is_not_written() {
    let home = tempfile::tempdir().unwrap();
    let precious = home.path().join("precious");
    let lock = home.path().join("pins.toml.lock");
    std::fs::write(&precious, "precious").unwrap();
    std::fs::hard_link(&precious, &lock).unwrap();
    let error = file_in(home.path()).lock(LONG).unwrap_err();
    assert_eq!(*error.kind(), StateErrorKind::NotTrusted(TrustFault::Links { count: 2 }));
    std::fs::remove_file(&lock).unwrap();
    std::os::unix::fs::symlink("precious", &lock).unwrap();
    let error = file_in(home.path()).lock(LONG).unwrap_err();
    assert_eq!(*error.kind(), StateErrorKind::NotTrusted(TrustFault::Link));
    assert_eq!(std::fs::read_to_string(&precious).unwrap(), "precious");
}

#[test]
fn what_is_too_large_touches_nothing() {
    let home = tempfile::tempdir().unwrap();
    put(home.path(), b"old").unwrap();
    let before = names_in(home.path());
    let error = put(home.path(), &vec![b'x'; 1 << 21]).unwrap_err();
    assert_eq!(error.code(), "state/too-large");
    assert_eq!(names_in(home.path()), before);
    assert_eq!(std::fs::read(home.path().join("pins.toml")).unwrap(), b"old");
}

#[test]
fn what_is_set_aside_is_never_written_over_and_the_oldest_go() {
    let home = tempfile::tempdir().unwrap();
    let file = file_in(home.path());
    let mut kept = Vec::new();
    for _ in 0..3 {
        put(home.path(), b"bad").unwrap();
        kept.push(file.lock(LONG).unwrap().set_aside("damaged-0").unwrap());
    }
    assert_eq!(kept, ["pins.toml.damaged-0", "pins.toml.damaged-0-2", "pins.toml.damaged-0-3"]);
    put(home.path(), b"bad").unwrap();
    let hold = file.lock(LONG).unwrap();
    assert_eq!(hold.set_aside("damaged-0").unwrap_err().code(), "state/io");
    assert_eq!(hold.set_aside("../x").unwrap_err().code(), "state/name");
    std::fs::create_dir(home.path().join("pins.toml.damaged-directory")).unwrap();
    hold.prune("damaged-", 1).unwrap();
    let left: Vec<String> =
        names_in(home.path()).into_iter().filter(|name| name.contains("damaged")).collect();
    assert_eq!(left, ["pins.toml.damaged-0-3", "pins.toml.damaged-directory"]);
}

#[test]
fn a_copy_is_kept_once() {
    let home = tempfile::tempdir().unwrap();
    let file = file_in(home.path());
    let hold = file.lock(LONG).unwrap();
    assert_eq!(hold.keep_copy("v1", b"one").unwrap(), "pins.toml.v1");
    assert_eq!(hold.keep_copy("v1", b"one").unwrap(), "pins.toml.v1");
    assert_eq!(hold.keep_copy("v1", b"two").unwrap_err().code(), "state/io");
    assert_eq!(std::fs::read(home.path().join("pins.toml.v1")).unwrap(), b"one");
}
