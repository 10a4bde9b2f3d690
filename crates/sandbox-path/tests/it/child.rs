//! Parts of tests that need a process of their own: this program again, for one test.

use std::process::{Command, Stdio};

/// Says to the started program that it is the part that needs a process.
const MARK: &str = "PLUGWARD_TEST_CHILD";

/// Tells whether this is the started program, and with what it was started.
pub(crate) fn argument() -> Option<String> {
    std::env::var(MARK).ok()
}

/// Starts one test of this program under another program.
pub(crate) fn under(program: &[&str], test: &str, argument: &str) -> Command {
    let mut command = Command::new(program[0]);
    command.args(&program[1..]).arg(std::env::current_exe().unwrap());
    command.args([test, "--exact", "--nocapture", "--test-threads=1"]).env(MARK, argument);
    command.stdin(Stdio::null());
    command
}

/// Runs one test of this program under another program, and shows what it said where it failed.
pub(crate) fn passes(mut command: Command) {
    let output = command.output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(
        output.status.success() && text.contains("1 passed"),
        "{}\n{text}\n{}",
        output.status,
        String::from_utf8_lossy(&output.stderr)
    );
    for line in text.lines().filter(|line| line.contains("skipped")) {
        println!("{line}");
    }
}
