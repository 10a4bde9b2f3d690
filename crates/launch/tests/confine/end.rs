//! The end of a program and of all its processes.

use std::fs;
use std::io::{self, BufRead as _, BufReader, Write as _};
use std::process::{Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

use crate::Case;
use crate::world::{LONG, World, are_gone_soon, line, processes, shell, start};

pub(crate) const CASES: &[Case] = &[
    ("end::no_process_is_left", no_process_is_left),
    ("end::a_host_that_is_killed_ends_the_program", killed_host),
    ("end::a_launcher_that_is_killed_ends_the_program", killed_launcher),
    ("end::term_is_passed_on", term_is_passed_on),
    ("end::a_child_that_is_handed_over_ends", handed_over),
];

/// The first argument of a host that is killed.
pub(crate) const HOST: &str = "host";

/// A number of seconds that only the processes of one case sleep.
fn unique() -> String {
    let nanos = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().subsec_nanos();
    format!("60.{}{nanos:09}", std::process::id())
}

/// Starts child processes that stay: a child, a grandchild, one in a session of its own, one that ignores TERM.
fn family(sleep: &str) -> String {
    format!(
        "sleep {sleep} & (sleep {sleep} & wait) & setsid sleep {sleep} & setsid sh -c \"trap '' TERM; sleep {sleep}\" & \
         while [ \"$(pgrep -fc '^sleep {sleep}$')\" != 4 ]; do :; done; echo ready; "
    )
}

fn no_process_is_left() {
    let access = World::new().access();
    for (rest, grace) in [
        ("exit 0", LONG),
        ("exec cat >/dev/null", LONG),
        ("trap '' TERM; while :; do wait; done", Duration::from_millis(200)),
        ("wait", Duration::ZERO),
    ] {
        let sleep = unique();
        let mut running = start(&shell(&(family(&sleep) + rest)), &access);
        assert_eq!(line(&mut running), "ready");
        assert!(rest == "exit 0" || processes(&sleep).len() >= 4, "{rest}");
        let _end = running.end(grace).unwrap();
        assert!(are_gone_soon(&sleep), "{rest}: {:?}", processes(&sleep));
    }
    // Dropped.
    let sleep = unique();
    let mut running = start(&shell(&(family(&sleep) + "wait")), &access);
    assert_eq!(line(&mut running), "ready");
    drop(running);
    assert!(are_gone_soon(&sleep));
}

/// A host that starts a program and waits.
pub(crate) fn host(arguments: &[String]) -> ExitCode {
    let world = World::new();
    let mut running = start(&shell(arguments.first().unwrap()), &world.access());
    println!("{}", line(&mut running));
    io::stdout().flush().unwrap();
    let _ended = running.wait(LONG);
    ExitCode::SUCCESS
}

fn killed_host() {
    let sleep = unique();
    let exe = fs::read_link("/proc/self/exe").unwrap();
    let mut host =
        Command::new(exe).args([HOST, &(family(&sleep) + "wait")]).stdout(Stdio::piped()).spawn().unwrap();
    let mut text = String::new();
    BufReader::new(host.stdout.take().unwrap()).read_line(&mut text).unwrap();
    assert_eq!(text.trim(), "ready");
    host.kill().unwrap();
    host.wait().unwrap();
    assert!(are_gone_soon(&sleep), "{:?}", processes(&sleep));
}

fn killed_launcher() {
    let access = World::new().access();
    for role in ["setup", "supervisor"] {
        let sleep = unique();
        let mut running = start(&shell(&(family(&sleep) + "wait")), &access);
        assert_eq!(line(&mut running), "ready");
        // The launchers of this test, not of another one: its first process is that of the group.
        let (child, life) = running.into_child();
        let setup = Pid::from_child(&child);
        let children = fs::read_to_string(format!("/proc/{0}/task/{0}/children", child.id())).unwrap();
        let supervisor = Pid::from_raw(children.trim().parse().unwrap()).unwrap();
        kill_process(if role == "setup" { setup } else { supervisor }, Signal::KILL).unwrap();
        let mut child = child;
        let status = child.wait().unwrap();
        assert!(!status.success(), "{role}: {status}");
        assert!(are_gone_soon(&sleep), "{role}: {:?}", processes(&sleep));
        drop(life);
    }
}

fn term_is_passed_on() {
    let access = World::new().access();
    let mut running = start(&shell("trap 'exit 4' TERM; echo ready; while :; do sleep 0.01; done"), &access);
    assert_eq!(line(&mut running), "ready");
    let before = Instant::now();
    assert_eq!(running.end(Duration::from_secs(4)).unwrap().code(), Some(4));
    assert!(before.elapsed() >= Duration::from_secs(2));
    // Near miss: one that ignores it.
    let mut running = start(&shell("trap '' TERM; echo ready; while :; do sleep 60; done"), &access);
    assert_eq!(line(&mut running), "ready");
    let end = running.end(Duration::from_millis(200)).unwrap();
    assert_eq!(std::os::unix::process::ExitStatusExt::signal(&end), Some(9));
}

fn handed_over() {
    let access = World::new().access();
    let (mut child, life) = start(&shell("cat; exit 5"), &access).into_child();
    drop(child.stdin.take());
    assert_eq!(child.wait().unwrap().code(), Some(5));
    drop(life);
    let (mut child, life) = start(&shell("exec sleep 60"), &access).into_child();
    drop(life);
    assert!(!child.wait().unwrap().success());
}
