//! Disks that are full, read-only, or cannot hold a file.

use std::path::Path;
use std::process::Output;

use crate::child::command;
use crate::support::{chmod, put, us};

/// Returns the output of a task, or panics with its error.
fn answer(output: &Output) -> Option<String> {
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let said = text.lines().find_map(|line| line.split_once("child: ")).map(|(_, said)| said.to_owned());
    let done = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() || said.is_none() && !text.contains("panicked"), "{text}\n{done}");
    if said.is_none() {
        assert!(!text.contains("running 1 test"), "the task ran and failed:\n{text}\n{done}");
        println!("skipped: this machine does not let us ({})", done.trim());
    }
    said
}

/// Runs a task in a mount namespace of its own, after a shell line that may mount something at the place.
fn mounted(line: &str, task: &str, place: &Path) -> Option<String> {
    let script = format!("set -e; {line}; exec \"$@\"");
    let wrapper = ["unshare", "--user", "--map-root-user", "--mount", "sh", "-c", &script, "sh"];
    match command(&wrapper, task, place).output() {
        Ok(output) => answer(&output),
        Err(error) => {
            println!("skipped: no unshare here ({error})");
            None
        }
    }
}

#[test]
fn a_full_disk_keeps_the_old_file() {
    let home = tempfile::tempdir().unwrap();
    let line = "mount -t tmpfs -o size=128k,mode=0700 none \"$PLUGWARD_TEST_PLACE\"";
    if let Some(said) = mounted(line, "full", home.path()) {
        assert!(said.starts_with("full after "), "{said}");
    }
}

#[test]
fn a_file_size_limit_keeps_the_old_file() {
    let home = tempfile::tempdir().unwrap();
    let script = "trap '' XFSZ; ulimit -f 64; exec \"$@\"";
    let output = command(&["sh", "-c", script, "sh"], "full", home.path()).output().unwrap();
    assert!(answer(&output).unwrap().starts_with("full after "));
}

#[test]
fn a_read_only_file_system_is_read_and_not_written() {
    let home = tempfile::tempdir().unwrap();
    let line = "mount -t tmpfs -o mode=0700 none \"$PLUGWARD_TEST_PLACE\"; \
                printf old > \"$PLUGWARD_TEST_PLACE/pins.toml\"; \
                chmod 0600 \"$PLUGWARD_TEST_PLACE/pins.toml\"; \
                mount -o remount,ro none \"$PLUGWARD_TEST_PLACE\"";
    if let Some(said) = mounted(line, "read-only", home.path()) {
        assert_eq!(said, "read-only");
    }
}

#[test]
fn a_read_only_directory_is_read_and_not_written() {
    let home = tempfile::tempdir().unwrap();
    put(home.path(), b"old").unwrap();
    chmod(home.path(), 0o500);
    // Root can write everywhere, so the test runs as the user `nobody`, who owns the directory.
    if us() == 0 {
        for entry in ["", "pins.toml", "pins.toml.lock", "pins.toml.last-good"] {
            std::os::unix::fs::chown(home.path().join(entry), Some(65534), None).unwrap();
        }
        let wrapper = ["setpriv", "--reuid=65534", "--clear-groups", "--"];
        match command(&wrapper, "read-only", home.path()).output() {
            Ok(output) => assert!(answer(&output).is_none_or(|said| said == "read-only")),
            Err(error) => println!("skipped: no setpriv here ({error})"),
        }
    } else {
        let output = command(&[], "read-only", home.path()).output().unwrap();
        assert_eq!(answer(&output).unwrap(), "read-only");
    }
    chmod(home.path(), 0o700);
}

#[test]
fn without_flock_nothing_is_written() {
    let home = tempfile::tempdir().unwrap();
    let wrapper = ["strace", "-f", "-qq", "-o", "/dev/null", "-e", "inject=flock:error=ENOLCK"];
    match command(&wrapper, "no-lock", home.path()).output() {
        Ok(output) => assert!(answer(&output).is_none_or(|said| said == "no lock, no write")),
        Err(error) => println!("skipped: no strace here ({error})"),
    }
    assert!(!home.path().join("pins.toml").exists());
}
