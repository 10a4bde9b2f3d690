//! System calls that a program cannot use, which seccomp denies.

use std::collections::BTreeMap;
use std::io;

use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketType};
use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter, SeccompRule,
    TargetArch, apply_filter, sock_filter,
};

use super::start::Ports;

/// Calls that reach other processes, mounts, namespaces, or much code of the kernel.
const DENIED: [i64; 32] = [
    libc::SYS_ptrace,
    libc::SYS_process_vm_readv,
    libc::SYS_process_vm_writev,
    libc::SYS_process_madvise,
    libc::SYS_pidfd_getfd,
    libc::SYS_kcmp,
    libc::SYS_mount,
    libc::SYS_umount2,
    libc::SYS_pivot_root,
    libc::SYS_move_mount,
    libc::SYS_open_tree,
    libc::SYS_fsopen,
    libc::SYS_fsconfig,
    libc::SYS_fsmount,
    libc::SYS_fspick,
    libc::SYS_mount_setattr,
    libc::SYS_open_by_handle_at,
    libc::SYS_unshare,
    libc::SYS_setns,
    libc::SYS_io_uring_setup,
    libc::SYS_io_uring_enter,
    libc::SYS_io_uring_register,
    libc::SYS_bpf,
    libc::SYS_perf_event_open,
    libc::SYS_userfaultfd,
    libc::SYS_add_key,
    libc::SYS_request_key,
    libc::SYS_keyctl,
    libc::SYS_init_module,
    libc::SYS_finit_module,
    libc::SYS_delete_module,
    libc::SYS_kexec_load,
];
/// `clone3` has its flags in memory, which a filter cannot read.
const CLONE3: u32 = 435;
/// The bit of the numbers of another ABI of the same processor.
const X32: u32 = 0x4000_0000;
const TIOCSTI: u64 = 0x5412;
const TIOCLINUX: u64 = 0x541c;
/// The protocols of a TCP socket: the default and the number. Another one is MPTCP.
const TCP: [u64; 2] = [0, 6];
const TYPE_MASK: u64 = 0xf;

type Rules = BTreeMap<i64, Vec<SeccompRule>>;

/// Denies the calls for this process and its child processes.
pub(super) fn apply(ports: &Ports) -> io::Result<()> {
    let mut denied = DENIED.to_vec();
    if ports.is_empty() {
        denied.push(libc::SYS_socket);
    }
    if ports.listen.is_empty() {
        // A socket that was not bound listens on a port that Landlock does not compare.
        denied.push(libc::SYS_listen);
    }
    let rules = rules(ports).map_err(io::Error::other)?;
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
/// added. It ends a process that uses x32, and answers `clone3` as if the kernel did not have it, so that C libraries fall
/// back to `clone`.
fn numbers(denied: &[i64]) -> io::Result<BpfProgram> {
    const LOAD_NUMBER: u16 = 0x20;
    const JUMP_IF_EQUAL: u16 = 0x15;
    const JUMP_IF_NOT_BELOW: u16 = 0x35;
    const RETURN: u16 = 0x06;
    let mut jumps = vec![
        (JUMP_IF_NOT_BELOW, X32, SeccompAction::KillProcess),
        (JUMP_IF_EQUAL, CLONE3, answer(Errno::NOSYS)),
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

fn rules(ports: &Ports) -> Result<Rules, seccompiler::BackendError> {
    let mut rules = Rules::new();
    let mut deny = |call: i64, conditions: Vec<SeccompCondition>| {
        rules.entry(call).or_default().push(SeccompRule::new(conditions)?);
        Ok::<(), seccompiler::BackendError>(())
    };
    for flag in [
        libc::CLONE_NEWNS,
        libc::CLONE_NEWCGROUP,
        libc::CLONE_NEWUTS,
        libc::CLONE_NEWIPC,
        libc::CLONE_NEWUSER,
        libc::CLONE_NEWPID,
        libc::CLONE_NEWNET,
    ] {
        deny(
            libc::SYS_clone,
            vec![masked(0, u64::from(flag.unsigned_abs()), u64::from(flag.unsigned_abs()))?],
        )?;
    }
    // Requests that put text into the input of a terminal.
    for request in [TIOCSTI, TIOCLINUX] {
        deny(libc::SYS_ioctl, vec![is(1, request)?])?;
    }
    // A pair of datagram sockets can send to other sockets.
    for kind in [SocketType::DGRAM, SocketType::RAW] {
        deny(libc::SYS_socketpair, vec![masked(1, TYPE_MASK, u64::from(kind.as_raw()))?])?;
    }
    if ports.is_empty() {
        return Ok(rules);
    }
    // Only TCP remains: Landlock does not limit other protocols, nor the connection that Fast Open makes.
    let internet = [AddressFamily::INET, AddressFamily::INET6].map(|family| u64::from(family.as_raw()));
    deny(libc::SYS_socket, not_one_of(0, internet)?)?;
    for kind in (0..=TYPE_MASK).filter(|kind| *kind != u64::from(SocketType::STREAM.as_raw())) {
        deny(libc::SYS_socket, vec![masked(1, TYPE_MASK, kind)?])?;
    }
    deny(libc::SYS_socket, not_one_of(2, TCP)?)?;
    let fast_open = u64::from(libc::MSG_FASTOPEN.unsigned_abs());
    for (call, flags) in [(libc::SYS_sendto, 3), (libc::SYS_sendmsg, 2), (libc::SYS_sendmmsg, 3)] {
        deny(call, vec![masked(flags, fast_open, fast_open)?])?;
    }
    for option in [libc::TCP_FASTOPEN, libc::TCP_FASTOPEN_CONNECT] {
        let level = is(1, u64::from(libc::IPPROTO_TCP.unsigned_abs()))?;
        deny(libc::SYS_setsockopt, vec![level, is(2, u64::from(option.unsigned_abs()))?])?;
    }
    Ok(rules)
}

type Condition = Result<SeccompCondition, seccompiler::BackendError>;

/// The kernel reads these arguments as 32-bit numbers.
fn is(argument: u8, value: u64) -> Condition {
    SeccompCondition::new(argument, SeccompCmpArgLen::Dword, SeccompCmpOp::Eq, value)
}

fn masked(argument: u8, mask: u64, value: u64) -> Condition {
    SeccompCondition::new(argument, SeccompCmpArgLen::Dword, SeccompCmpOp::MaskedEq(mask), value)
}

fn not_one_of(argument: u8, values: [u64; 2]) -> Result<Vec<SeccompCondition>, seccompiler::BackendError> {
    let not = |value| SeccompCondition::new(argument, SeccompCmpArgLen::Dword, SeccompCmpOp::Ne, value);
    values.into_iter().map(not).collect()
}

/// Returns `true` if the filter is in effect.
pub(super) fn is_denied() -> bool {
    rustix::net::socket(AddressFamily::UNIX, SocketType::STREAM, None)
        .is_err_and(|error| error == Errno::PERM)
}
