//! The end of a program and of its process group.

use std::os::unix::process::ExitStatusExt as _;
use std::process::ExitStatus;
use std::time::{Duration, Instant};

use crate::common::{LONG, is_alive, is_gone_soon, line, shell, start};

/// Ignores TERM and the end of its input. The shell waits for a child process, which ignores TERM too.
const STUBBORN: &str = "trap '' TERM; echo ready; while :; do sleep 60; done";
const GRACE: Duration = Duration::from_millis(400);
/// A grace that leaves a busy machine time to answer TERM.
const TERM_GRACE: Duration = Duration::from_secs(4);
/// A bound for what happens at once, on a busy machine.
const SOON: Duration = Duration::from_secs(15);
const KILL: i32 = 9;
const TERM: i32 = 15;

fn end(script: &str, grace: Duration) -> (ExitStatus, Duration) {
    let mut running = start(&shell(script));
    assert_eq!(line(&mut running), "ready");
    let before = Instant::now();
    let end = running.end(grace).unwrap();
    (end, before.elapsed())
}

#[test]
fn launch_sigkill_follows_the_grace() {
    let (killed, took) = end(STUBBORN, GRACE);
    assert_eq!((killed.code(), killed.signal()), (None, Some(KILL)));
    assert!(took >= GRACE && took < SOON, "{took:?}");
}

#[test]
fn launch_a_program_that_ends_in_time_is_not_killed() {
    // One that reads its input to the end.
    let (ended, took) = end("echo ready; cat >/dev/null; exit 3", LONG);
    assert_eq!((ended.code(), ended.signal()), (Some(3), None));
    assert!(took < LONG / 2);
    // One that ends on TERM, half of the grace later.
    let (ended, took) = end("trap 'exit 4' TERM; echo ready; while :; do sleep 0.01; done", TERM_GRACE);
    assert_eq!((ended.code(), ended.signal()), (Some(4), None));
    assert!(took >= TERM_GRACE / 2, "{took:?}");
    let (ended, _) = end("echo ready; exec sleep 60", TERM_GRACE);
    assert_eq!((ended.code(), ended.signal()), (None, Some(TERM)));
}

#[test]
fn launch_no_grace_kills_at_once() {
    let (killed, took) = end(STUBBORN, Duration::ZERO);
    assert_eq!(killed.signal(), Some(KILL));
    assert!(took < SOON, "{took:?}");
    // It gets no TERM: the trap would exit with 4.
    let (killed, _) = end("trap 'exit 4' TERM; echo ready; while :; do sleep 0.01; done", Duration::ZERO);
    assert_eq!(killed.signal(), Some(KILL));
    // One that has exited is not killed.
    let running = start(&shell("exit 5"));
    assert!(running.wait(LONG).unwrap());
    let ended = running.end(Duration::ZERO).unwrap();
    assert_eq!(ended.code(), Some(5));
}

#[test]
fn launch_children_in_the_group_end_with_the_program() {
    // The program is killed, ends on TERM, ends by itself, and is dropped.
    let child = "sleep 60 >/dev/null 2>&1 & echo $!";
    for (script, grace) in [
        (format!("trap '' TERM; {child}; while :; do sleep 60; done"), Duration::ZERO),
        (format!("{child}; wait"), GRACE),
        (format!("{child}; exit 0"), LONG),
    ] {
        let mut running = start(&shell(&script));
        let pid = line(&mut running);
        let _end = running.end(grace).unwrap();
        assert!(is_gone_soon(&pid), "{script}");
    }
    let mut running = start(&shell(&format!("{child}; echo $$ >&2; wait")));
    let pid = line(&mut running);
    assert!(is_alive(&pid));
    drop(running);
    assert!(is_gone_soon(&pid));
}

#[test]
fn launch_a_dropped_handle_kills_the_program() {
    let mut running = start(&shell("trap '' TERM; echo $$; while :; do sleep 60; done"));
    let pid = line(&mut running);
    assert!(is_alive(&pid));
    drop(running);
    // It is reaped, too: not even a zombie is left.
    assert!(!std::path::Path::new(&format!("/proc/{pid}")).exists());
}

#[test]
fn launch_processes_outside_the_group_are_not_signaled() {
    // A limit: a process that leaves the group goes on.
    let mut running = start(&shell("setsid sleep 60 >/dev/null 2>&1 & echo $!; cat >/dev/null"));
    let other = start(&shell("cat >/dev/null"));
    let pid = line(&mut running);
    // `setsid` keeps its id if it is not the leader of the group, and leaves the group before it executes `sleep`.
    while std::fs::read_to_string(format!("/proc/{pid}/comm")).unwrap_or_default() != "sleep\n" {
        std::thread::yield_now();
    }
    let _end = running.end(LONG).unwrap();
    assert!(is_alive(&pid));
    let target = rustix::process::Pid::from_raw(pid.parse().unwrap()).unwrap();
    rustix::process::kill_process(target, rustix::process::Signal::KILL).unwrap();
    assert!(!other.wait(Duration::ZERO).unwrap());
    assert_eq!(other.end(LONG).unwrap().code(), Some(0));
}

#[test]
fn launch_a_wait_has_a_limit() {
    let running = start(&shell("cat >/dev/null"));
    assert!(!running.wait(Duration::from_millis(20)).unwrap());
    assert_eq!(running.end(Duration::MAX).unwrap().code(), Some(0));
}
