//! The other processes: this very program, told by a variable what to do.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::support::{LONG, file_in, open, put, record, us};

const TASK: &str = "PLUGWARD_TEST_TASK";
const PLACE: &str = "PLUGWARD_TEST_PLACE";

/// A command that runs one task in a folder, behind a wrapper such as `unshare`.
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
        "hold" => hold_for_ever(&place),
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
        file.hold(LONG).unwrap().replace(&record(number)).unwrap();
        say(&number.to_string());
    }
}

fn hold_for_ever(place: &Path) {
    let file = file_in(place);
    let _hold = file.hold(LONG).unwrap();
    say("held");
    // The parent ends us; should it be gone, its end of the pipe is closed and this ends too.
    while std::io::stdout().lock().write_all(b"\n").is_ok() {
        std::thread::yield_now();
    }
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
                assert!(error.help().contains("room"), "{}", error.help());
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
