//! Programs with granted access. This program is the host, its launcher, and the program that tries things.
#![cfg(target_os = "linux")]
#![expect(
    clippy::arithmetic_side_effects,
    clippy::disallowed_methods,
    clippy::panic,
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "tests write their own directories, start programs, print, and stop at the first surprise"
)]

mod attempts;
mod denied;
mod end;
mod faults;
mod start;
mod world;

use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::process::CommandExt as _;
use std::process::{Command, ExitCode};
use std::{env, fs, panic};

use plugward_launch::{ProbeResult, probe};

/// The ids of `nobody`.
const NOBODY: u32 = 65534;

type Case = (&'static str, fn());

fn cases() -> Vec<Case> {
    [denied::CASES, start::CASES, end::CASES, faults::CASES].concat()
}

fn main() -> ExitCode {
    plugward_launch::run_if_launcher();
    let arguments: Vec<String> = env::args().skip(1).collect();
    match arguments.split_first() {
        Some((first, rest)) if first == attempts::MARK => return attempts::run(rest),
        Some((first, rest)) if first == end::HOST => return end::host(rest),
        _ => {}
    }
    let filter = arguments.iter().find(|argument| !argument.starts_with('-')).cloned().unwrap_or_default();
    if arguments.iter().any(|argument| argument == "--list") {
        for (name, _) in cases() {
            println!("{name}: test");
        }
        return ExitCode::SUCCESS;
    }
    let missing = probe().rows.into_iter().filter(|row| row.result != ProbeResult::Ok);
    let missing: Vec<String> = missing.map(|row| format!("{}: {}", row.name, row.detail)).collect();
    if !missing.is_empty() {
        println!("skipped: this system lacks {missing:?}");
        let is_required = env::var_os("PLUGWARD_PEERS").is_some_and(|value| value == "require");
        return if is_required { ExitCode::FAILURE } else { ExitCode::SUCCESS };
    }
    let user = if rustix::process::geteuid().is_root() { "root" } else { "user" };
    let mut failed = false;
    for (name, case) in cases().into_iter().filter(|(name, _)| name.contains(&filter)) {
        let passed = panic::catch_unwind(case).is_ok();
        println!("test {name} ({user}) ... {}", if passed { "ok" } else { "FAILED" });
        failed |= !passed;
    }
    if user == "root" {
        failed |= !as_nobody(&arguments);
    }
    if failed { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}

/// Runs the same cases as an ordinary user, from a copy that this user can read.
fn as_nobody(arguments: &[String]) -> bool {
    let directory = tempfile::tempdir().unwrap();
    let copy = directory.path().join("confine");
    fs::copy(env::current_exe().unwrap(), &copy).unwrap();
    for path in [directory.path(), &copy] {
        fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
    }
    let mut command = Command::new(copy);
    command.args(arguments).env("TMPDIR", "/tmp").current_dir("/").gid(NOBODY).uid(NOBODY);
    command.status().unwrap().success()
}
