//! A thread in which the system denies calls, also to the programs that it starts.

use std::collections::BTreeMap;

use seccompiler::{BpfProgram, SeccompAction, SeccompFilter, TargetArch, apply_filter};

/// Runs a piece of a test in a thread in which the system answers calls with EPERM.
pub(crate) fn without<T: Send>(calls: &[i64], run: impl FnOnce() -> T + Send) -> T {
    let arch = TargetArch::try_from(std::env::consts::ARCH).unwrap();
    let answer = SeccompAction::Errno(libc::EPERM.unsigned_abs());
    let rules: BTreeMap<_, _> = calls.iter().map(|call| (*call, vec![])).collect();
    let filter = SeccompFilter::new(rules, SeccompAction::Allow, answer, arch).unwrap();
    std::thread::scope(|scope| {
        let thread = scope.spawn(|| {
            apply_filter(&BpfProgram::try_from(filter).unwrap()).unwrap();
            run()
        });
        thread.join().unwrap()
    })
}
