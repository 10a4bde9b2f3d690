//! Programs to start, and what became of their processes.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufRead as _, BufReader, Read as _};
use std::os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _};
use std::path::Path;
use std::time::{Duration, Instant};

use plugward_launch::{
    Access, EnforceRule, LaunchCheck, LaunchError, LaunchReport, LaunchSpec, Program, RunningProgram,
    SealCheck, SealedProgram, launch,
};
use sha2::{Digest as _, Sha256};

/// A grace that no test reaches unless a program hangs.
pub(crate) const LONG: Duration = Duration::from_secs(60);

pub(crate) fn digest(bytes: &[u8]) -> [u8; 32] {
    Sha256::digest(bytes).into()
}

/// Copies a program of the system into sealed memory.
pub(crate) fn seal(path: &str) -> SealedProgram {
    let expected = digest(&fs::read(path).unwrap());
    match SealedProgram::copy(&File::open(path).unwrap(), &expected).unwrap() {
        SealCheck::Sealed(program) => program,
        other => panic!("{path}: {other:?}"),
    }
}

pub(crate) fn spec<'a>(program: Program<'a>, argv: &[&str]) -> LaunchSpec<'a> {
    let argv = argv.iter().map(|argument| (*argument).to_owned()).collect();
    LaunchSpec { program, argv, directory: "/".to_owned(), env: Vec::new() }
}

pub(crate) fn shell(script: &str) -> LaunchSpec<'static> {
    let mut spec = spec(Program::System { path: "/bin/sh" }, &["sh", "-c", script]);
    spec.env.push(("PATH".to_owned(), "/usr/bin:/bin".to_owned()));
    spec
}

pub(crate) fn try_start(spec: &LaunchSpec<'_>) -> Result<RunningProgram, LaunchError> {
    recorded(spec, &mut |_| Ok(()))
}

/// Starts a program with the access of the user.
pub(crate) fn recorded(
    spec: &LaunchSpec<'_>,
    record: &mut dyn FnMut(&LaunchReport) -> io::Result<()>,
) -> Result<RunningProgram, LaunchError> {
    match launch(spec, Access::User, EnforceRule::Require, record)? {
        LaunchCheck::Running(running) => Ok(running),
        LaunchCheck::Refused(refusal) => panic!("{refusal:?}"),
    }
}

pub(crate) fn start(spec: &LaunchSpec<'_>) -> RunningProgram {
    try_start(spec).unwrap()
}

/// Runs a program to its end and returns its output and exit code.
pub(crate) fn output(spec: &LaunchSpec<'_>) -> (String, Option<i32>) {
    let mut running = start(spec);
    let mut text = String::new();
    drop(running.take_stdin());
    running.take_stdout().unwrap().read_to_string(&mut text).unwrap();
    (text, running.end(LONG).unwrap().code())
}

/// Reads the first line of the output, which a script prints when it is ready.
pub(crate) fn line(running: &mut RunningProgram) -> String {
    let mut text = String::new();
    BufReader::new(running.take_stdout().unwrap()).read_line(&mut text).unwrap();
    text.trim().to_owned()
}

/// Writes an executable file.
pub(crate) fn executable(path: &Path, bytes: &[u8]) {
    let mut file = OpenOptions::new().write(true).create_new(true).mode(0o700).open(path).unwrap();
    io::Write::write_all(&mut file, bytes).unwrap();
    file.set_permissions(fs::Permissions::from_mode(0o700)).unwrap();
}

/// Returns `true` if a process exists and is not a zombie.
pub(crate) fn is_alive(pid: &str) -> bool {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    let state = stat.rsplit(')').next().and_then(|rest| rest.split_whitespace().next());
    !matches!(state, None | Some("Z" | "X"))
}

/// Returns `true` once a process is gone. A signal is delivered soon, but not before the call returns.
pub(crate) fn is_gone_soon(pid: &str) -> bool {
    assert!(pid.parse::<u32>().is_ok(), "not a process: {pid}");
    let deadline = Instant::now() + Duration::from_secs(10);
    while is_alive(pid) {
        if Instant::now() > deadline {
            return false;
        }
        std::thread::yield_now();
    }
    true
}
