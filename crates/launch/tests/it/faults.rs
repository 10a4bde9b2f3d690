//! Systems that lack a call, or deny it.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::os::unix::process::ExitStatusExt as _;
use std::time::Duration;

use plugward_launch::{LaunchError, Program, SealCheck, SealedProgram};
use rustix::io::Errno;
use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter, SeccompRule,
    TargetArch, apply_filter,
};

use crate::common::{LONG, digest, line, output, shell, spec, start};

const MEMFD_CREATE: i64 = if cfg!(target_arch = "x86_64") { 319 } else { 279 };
const FACCESSAT: i64 = if cfg!(target_arch = "x86_64") { 269 } else { 48 };
const PIDFD_OPEN: i64 = 434;
/// `MFD_EXEC`, which Linux knows since 6.3.
const EXEC: u64 = 0x10;

/// Runs a piece of a test in a thread in which the system answers a call with an error.
fn without<T: Send>(call: i64, errno: Errno, rules: Vec<SeccompRule>, run: impl FnOnce() -> T + Send) -> T {
    let arch = TargetArch::try_from(std::env::consts::ARCH).unwrap();
    let answer = SeccompAction::Errno(errno.raw_os_error().unsigned_abs());
    let filter =
        SeccompFilter::new(BTreeMap::from([(call, rules)]), SeccompAction::Allow, answer, arch).unwrap();
    std::thread::scope(|scope| {
        let thread = scope.spawn(|| {
            apply_filter(&BpfProgram::try_from(filter).unwrap()).unwrap();
            run()
        });
        thread.join().unwrap()
    })
}

fn copy() -> Result<SealCheck, LaunchError> {
    let expected = digest(&fs::read("/bin/true").unwrap());
    SealedProgram::copy(&File::open("/bin/true").unwrap(), &expected)
}

#[test]
fn launch_denied_memory_files_are_not_executable() {
    // `vm.memfd_noexec` = 2 answers EACCES, a filter often EPERM, an old kernel ENOSYS.
    for errno in [Errno::ACCESS, Errno::PERM, Errno::NOSYS] {
        match without(MEMFD_CREATE, errno, vec![], copy).unwrap() {
            SealCheck::NotExecutable { why } => {
                assert!(why.starts_with("the system refuses memory files: "), "{why}");
            }
            other => panic!("{other:?}"),
        }
    }
    match without(FACCESSAT, Errno::ACCESS, vec![], copy).unwrap() {
        SealCheck::NotExecutable { why } => {
            assert!(why.starts_with("the system does not execute memory files: "), "{why}");
        }
        other => panic!("{other:?}"),
    }
    // A lack of descriptors passes, and is a failure.
    assert_eq!(without(MEMFD_CREATE, Errno::MFILE, vec![], copy).unwrap_err().code(), "launch/io");
}

#[test]
fn launch_a_system_without_the_flag_for_execution_seals() {
    let flag = SeccompCondition::new(1, SeccompCmpArgLen::Dword, SeccompCmpOp::MaskedEq(EXEC), EXEC).unwrap();
    let rules = vec![SeccompRule::new(vec![flag]).unwrap()];
    match without(MEMFD_CREATE, Errno::INVAL, rules, copy).unwrap() {
        SealCheck::Sealed(program) => {
            assert_eq!(output(&spec(Program::Sealed(&program), &["true"])).1, Some(0));
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn launch_a_system_without_process_handles_ends_programs() {
    without(PIDFD_OPEN, Errno::NOSYS, vec![], || {
        let ended = start(&shell("cat >/dev/null; exit 3")).end(LONG).unwrap();
        assert_eq!(ended.code(), Some(3));
        let mut running = start(&shell("trap '' TERM; echo ready; while :; do sleep 60; done"));
        assert_eq!(line(&mut running), "ready");
        assert_eq!(running.end(Duration::from_millis(50)).unwrap().signal(), Some(9));
    });
}
