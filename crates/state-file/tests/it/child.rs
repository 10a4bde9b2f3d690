//! The other processes: this very program, done by a variable what to do.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use crate::support::{LONG, file_in, open, put, record, us};

const TASK: &str = "PLUGWARD_TEST_TASK";
const PLACE: &str = "PLUGWARD_TEST_PLACE";

/// A command that runs one task in a directory, behind a wrapper such as `unshare`.
pub(crate) fn command(wrapper: &[&str], task: &str, place: &Path) -> Command {
    let program = std::env::current_exe().unwrap();
    let mut command = match wrapper {
        [] => Command::new(program),
        [first, rest @ ..] => {
            let mut command = Command::new(first);
            command.args(rest).arg(program);
            command
        }
    };
    command.args(["--exact", "child::run", "--nocapture", "--test-threads=1"]);
    command.env(TASK, task).env(PLACE, place).stdin(Stdio::null());
    command
}

/// Not a test of its own: does what the parent asks for, and nothing without one.
#[test]
fn run() {
    let (Ok(task), Ok(place)) = (std::env::var(TASK), std::env::var(PLACE)) else { return };
    let place = PathBuf::from(place);
    match task.as_str() {
        "write" => write_for_ever(&place),
        "once" => put(&place, b"once").unwrap(),
        "lock" => hold_for_ever(&place),
        "impatient" => wait_in_vain(&place),
        "full" => fill(&place),
        "read-only" => read_only(&place),
        "no-lock" => {
            let error = put(&place, b"never").unwrap_err();
            assert_eq!(error.code(), "state/no-lock", "{error:?}");
            say("no lock, no write");
        }
        other => panic!("no such task: {other}"),
    }
}

/// Says one line that the parent can wait for.
fn say(line: &str) {
    let mut out = std::io::stdout().lock();
    writeln!(out, "child: {line}").unwrap();
    out.flush().unwrap();
}

fn write_for_ever(place: &Path) {
    let file = file_in(place);
    let mut number = match file.read().unwrap() {
        Some(content) => crate::support::number_of(content.bytes()).unwrap(),
        None => 0,
    };
    loop {
        number += 1;
        file.lock(LONG).unwrap().replace(&record(number)).unwrap();
        say(&number.to_string());
    }
}

fn hold_for_ever(place: &Path) {
    let file = file_in(place);
    let _hold = file.lock(LONG).unwrap();
    say("held");
    // The parent ends us; should it be gone, its end of the pipe is closed and this ends too.
    while std::io::stdout().lock().write_all(b"\n").is_ok() {
        std::thread::yield_now();
    }
}

/// Gives up fifty times, counts what that left, and sees that the hold is to be had afterwards.
fn wait_in_vain(place: &Path) {
    let file = file_in(place);
    let hold = file.lock(LONG).unwrap();
    for _ in 0..50 {
        let error = file_in(place).lock(Duration::from_millis(1)).unwrap_err();
        assert_eq!(error.code(), "state/held");
    }
    let is_ours = |task: &Path| std::fs::read_to_string(task.join("comm")).is_ok_and(|name| name == "lock\n");
    let count = match std::fs::read_dir("/proc/self/task") {
        Ok(tasks) => tasks.filter(|task| is_ours(&task.as_ref().unwrap().path())).count(),
        Err(_) => 1,
    };
    drop(hold);
    // The thread that was left behind lets go of what it gets; another process has it then.
    let again = file.lock(LONG).unwrap();
    assert_eq!(file.lock(Duration::from_millis(1)).unwrap_err().code(), "state/held");
    drop(again);
    let mut other = command(&[], "once", place).stdout(Stdio::null()).spawn().unwrap();
    assert!(other.wait().unwrap().success());
    assert_eq!(file.read().unwrap().unwrap().bytes(), b"once");
    say(&format!("{count} thread after 50 waits; the hold is free again"));
}

/// Writes larger and larger files until the disk is full; the last that went in must stay.
fn fill(place: &Path) {
    let mut last: Option<Vec<u8>> = None;
    for size in (1..).map(|step| step * 1500) {
        let bytes = vec![b'x'; size];
        match put(place, &bytes) {
            Ok(()) => last = Some(bytes),
            Err(error) => {
                assert_eq!(error.code(), "state/full", "{error:?}");
                assert!(error.help().contains("disk space"), "{}", error.help());
                break;
            }
        }
    }
    let last = last.expect("a small one went in");
    let file = file_in(place);
    assert_eq!(file.read().unwrap().unwrap().bytes(), last, "the old file is kept");
    assert!(!open(place).exists(".pins.toml.tmp"), "no temporary file is left");
    put(place, b"small").unwrap();
    assert_eq!(file.read().unwrap().unwrap().bytes(), b"small", "there is room again");
    say(&format!("full after {} bytes", last.len()));
}

fn read_only(place: &Path) {
    let file = file_in(place);
    assert_eq!(file.read().unwrap().unwrap().bytes(), b"old", "reading goes on (as user {})", us());
    let error = put(place, b"new").unwrap_err();
    assert_eq!(error.code(), "state/read-only", "{error:?}");
    assert_eq!(file.read().unwrap().unwrap().bytes(), b"old");
    say("read-only");
}
