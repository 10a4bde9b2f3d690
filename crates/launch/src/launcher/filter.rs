//! System calls that a program cannot use, which seccomp denies.

use std::collections::BTreeMap;
use std::io;

use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketType};
use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter, SeccompRule,
    TargetArch, apply_filter, sock_filter,
};

use super::Role;
use super::calls::{ATTRIBUTES, DENIED, DENIED_WITHOUT_NAMESPACE, MODES, OPENAT, older};
use super::start::Ports;
use crate::access::Attributes;

/// `clone3` and `openat2` have their flags in memory, which a filter cannot read.
const CLONE3: u32 = 435;
const OPENAT2: u32 = 437;
/// The bit of the numbers of another ABI of the same processor.
const X32: u32 = 0x4000_0000;
const TIOCSTI: u64 = 0x5412;
const TIOCLINUX: u64 = 0x541c;
const PRIORITY_OF_USER: u64 = 2;
const IO_PRIORITY_OF_USER: u64 = 3;
/// The protocols of a TCP socket: the default and the number. Another one is MPTCP.
const TCP: [u64; 2] = [0, 6];
const TYPE_MASK: u64 = 0xf;

type Rules = BTreeMap<i64, Vec<SeccompRule>>;

/// Denies the calls for this process and its child processes.
pub(super) fn apply(ports: &Ports, attributes: Attributes, role: Role) -> io::Result<()> {
    let mut denied = [DENIED.as_slice(), older::DENIED].concat();
    if role == Role::Plain {
        denied.extend(DENIED_WITHOUT_NAMESPACE);
    }
    if attributes == Attributes::Fixed {
        denied.extend(ATTRIBUTES.iter().chain(older::ATTRIBUTES));
    }
    if ports.is_empty() {
        denied.push(libc::SYS_socket);
    }
    if ports.listen.is_empty() {
        // A socket that was not bound listens on a port that Landlock does not compare.
        denied.push(libc::SYS_listen);
    }
    let rules = rules(ports, role).map_err(io::Error::other)?;
    let arch = TargetArch::try_from(std::env::consts::ARCH).map_err(io::Error::other)?;
    // A call of another architecture ends the process.
    let filter = SeccompFilter::new(rules, SeccompAction::Allow, answer(Errno::PERM), arch);
    let program: BpfProgram = filter.and_then(TryInto::try_into).map_err(io::Error::other)?;
    apply_filter(&numbers(&denied)?).and_then(|()| apply_filter(&program)).map_err(io::Error::other)
}

fn answer(errno: Errno) -> SeccompAction {
    SeccompAction::Errno(errno.raw_os_error().unsigned_abs())
}

/// A filter that looks at numbers only, with one comparison for each: the kernel evaluates it for every number when it is
/// added. It ends a process that uses x32, and answers `clone3` and `openat2` as if the kernel did not have them, so that
/// programs fall back to `clone` and `openat`.
fn numbers(denied: &[i64]) -> io::Result<BpfProgram> {
    const LOAD_NUMBER: u16 = 0x20;
    const JUMP_IF_EQUAL: u16 = 0x15;
    const JUMP_IF_NOT_BELOW: u16 = 0x35;
    const RETURN: u16 = 0x06;
    let mut jumps = vec![
        (JUMP_IF_NOT_BELOW, X32, SeccompAction::KillProcess),
        (JUMP_IF_EQUAL, CLONE3, answer(Errno::NOSYS)),
        (JUMP_IF_EQUAL, OPENAT2, answer(Errno::NOSYS)),
    ];
    for call in denied {
        jumps.push((JUMP_IF_EQUAL, u32::try_from(*call).map_err(io::Error::other)?, answer(Errno::PERM)));
    }
    let statement = |code, k| sock_filter { code, jt: 0, jf: 0, k };
    let mut program = vec![statement(LOAD_NUMBER, 0)];
    for (code, k, action) in jumps {
        // The next statement is skipped unless the number matches.
        program.push(sock_filter { code, jt: 0, jf: 1, k });
        program.push(statement(RETURN, action.into()));
    }
    program.push(statement(RETURN, SeccompAction::Allow.into()));
    Ok(program)
}

/// Calls that are denied if all conditions are true.
type Denied = Vec<(i64, Vec<SeccompCondition>)>;

fn rules(ports: &Ports, role: Role) -> Result<Rules, seccompiler::BackendError> {
    let mut denied = [always()?, modes()?].concat();
    if role == Role::Plain {
        denied.extend(other_processes()?);
    }
    if !ports.is_empty() {
        denied.extend(all_but_tcp()?);
    }
    let mut rules = Rules::new();
    for (call, conditions) in denied {
        rules.entry(call).or_default().push(SeccompRule::new(conditions)?);
    }
    Ok(rules)
}

fn always() -> Result<Denied, seccompiler::BackendError> {
    let mut denied = Denied::new();
    for flag in [
        libc::CLONE_NEWNS,
        libc::CLONE_NEWCGROUP,
        libc::CLONE_NEWUTS,
        libc::CLONE_NEWIPC,
        libc::CLONE_NEWUSER,
        libc::CLONE_NEWPID,
        libc::CLONE_NEWNET,
    ] {
        let flag = u64::from(flag.unsigned_abs());
        denied.push((libc::SYS_clone, vec![masked(0, flag, flag)?]));
    }
    // Requests that put text into the input of a terminal.
    for request in [TIOCSTI, TIOCLINUX] {
        denied.push((libc::SYS_ioctl, vec![is(1, request)?]));
    }
    // A pair of datagram sockets can send to other sockets.
    for kind in [SocketType::DGRAM, SocketType::RAW, SocketType::RDM] {
        denied.push((libc::SYS_socketpair, vec![masked(1, TYPE_MASK, u64::from(kind.as_raw()))?]));
    }
    denied.push((libc::SYS_socketpair, vec![is_not(0, u64::from(AddressFamily::UNIX.as_raw()))?]));
    denied.push((libc::SYS_prlimit64, vec![is_not(0, 0)?]));
    Ok(denied)
}

/// Denies the modes that give the ids of a file to everyone who executes it.
fn modes() -> Result<Denied, seccompiler::BackendError> {
    let mut denied = Denied::new();
    for bit in [0o4000, 0o2000] {
        for (call, mode) in MODES.iter().chain(older::MODES) {
            denied.push((*call, vec![masked(*mode, bit, bit)?]));
        }
        for (call, flags, mode) in older::OPENS.iter().chain([&OPENAT]) {
            // The mode is not set if no file is created.
            for creates in [libc::O_CREAT, libc::O_TMPFILE & !libc::O_DIRECTORY] {
                let creates = u64::from(creates.unsigned_abs());
                denied.push((*call, vec![masked(*flags, creates, creates)?, masked(*mode, bit, bit)?]));
            }
        }
    }
    Ok(denied)
}

/// Denies changes of other processes, which a namespace does not show. The number 0 is that of the caller.
fn other_processes() -> Result<Denied, seccompiler::BackendError> {
    let mut denied = Denied::new();
    for call in [
        libc::SYS_sched_setaffinity,
        libc::SYS_sched_setattr,
        libc::SYS_sched_setparam,
        libc::SYS_sched_setscheduler,
    ] {
        denied.push((call, vec![is_not(0, 0)?]));
    }
    for (call, user) in
        [(libc::SYS_setpriority, PRIORITY_OF_USER), (libc::SYS_ioprio_set, IO_PRIORITY_OF_USER)]
    {
        denied.push((call, vec![is_not(1, 0)?]));
        denied.push((call, vec![is(0, user)?]));
    }
    Ok(denied)
}

/// Only TCP remains: Landlock does not limit other protocols, nor the connection that Fast Open makes.
fn all_but_tcp() -> Result<Denied, seccompiler::BackendError> {
    let internet = [AddressFamily::INET, AddressFamily::INET6].map(|family| u64::from(family.as_raw()));
    let mut denied =
        vec![(libc::SYS_socket, not_one_of(0, internet)?), (libc::SYS_socket, not_one_of(2, TCP)?)];
    for kind in (0..=TYPE_MASK).filter(|kind| *kind != u64::from(SocketType::STREAM.as_raw())) {
        denied.push((libc::SYS_socket, vec![masked(1, TYPE_MASK, kind)?]));
    }
    let fast_open = u64::from(libc::MSG_FASTOPEN.unsigned_abs());
    for (call, flags) in [(libc::SYS_sendto, 3), (libc::SYS_sendmsg, 2), (libc::SYS_sendmmsg, 3)] {
        denied.push((call, vec![masked(flags, fast_open, fast_open)?]));
    }
    // TCP_ULP loads other protocols of the kernel.
    for option in [libc::TCP_FASTOPEN, libc::TCP_FASTOPEN_CONNECT, libc::TCP_ULP] {
        let level = is(1, u64::from(libc::IPPROTO_TCP.unsigned_abs()))?;
        denied.push((libc::SYS_setsockopt, vec![level, is(2, u64::from(option.unsigned_abs()))?]));
    }
    Ok(denied)
}

type Condition = Result<SeccompCondition, seccompiler::BackendError>;

/// The kernel reads these arguments as 32-bit numbers.
fn is(argument: u8, value: u64) -> Condition {
    SeccompCondition::new(argument, SeccompCmpArgLen::Dword, SeccompCmpOp::Eq, value)
}

fn masked(argument: u8, mask: u64, value: u64) -> Condition {
    SeccompCondition::new(argument, SeccompCmpArgLen::Dword, SeccompCmpOp::MaskedEq(mask), value)
}

fn is_not(argument: u8, value: u64) -> Condition {
    SeccompCondition::new(argument, SeccompCmpArgLen::Dword, SeccompCmpOp::Ne, value)
}

fn not_one_of(argument: u8, values: [u64; 2]) -> Result<Vec<SeccompCondition>, seccompiler::BackendError> {
    values.into_iter().map(|value| is_not(argument, value)).collect()
}

/// Returns `true` if the filter is in effect.
pub(super) fn is_denied() -> bool {
    rustix::net::socket(AddressFamily::UNIX, SocketType::STREAM, None)
        .is_err_and(|error| error == Errno::PERM)
}
