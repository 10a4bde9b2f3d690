//! Files, TCP ports and signals, which Landlock limits.

use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};

use landlock::{
    ABI, Access as _, AccessFs, AccessNet, BitFlags, LandlockStatus, NetPort, PathBeneath, Ruleset,
    RulesetAttr as _, RulesetCreated, RulesetCreatedAttr as _, RulesetError, Scope, make_bitflags,
};
use rustix::fs::{FileType, Mode, OFlags};

use super::start::Ports;
use crate::access::Rights;

/// The files that every program can use, separated by spaces. Those that do not exist are left out.
///
/// `/etc` is not read as a whole: it contains passwords and keys that root can read.
const BASE: [(Rights, &str); 3] = [
    (Rights::Execute, "/usr /bin /sbin /lib /lib32 /lib64 /libx32 /nix/store"),
    (
        Rights::Read,
        "/proc /dev/random /dev/urandom /etc/ca-certificates /etc/crypto-policies /etc/gai.conf /etc/host.conf \
         /etc/hosts /etc/ld.so.cache /etc/ld.so.conf /etc/ld.so.conf.d /etc/ld.so.preload /etc/localtime \
         /etc/nsswitch.conf /etc/pki/ca-trust /etc/pki/tls/cert.pem /etc/pki/tls/certs /etc/pki/tls/openssl.cnf \
         /etc/protocols /etc/resolv.conf /etc/services /etc/ssl/cert.pem /etc/ssl/certs /etc/ssl/openssl.cnf \
         /etc/timezone",
    ),
    // Scripts redirect output to `/dev/null`.
    (Rights::Write, "/dev/null /dev/zero"),
];
/// The port of name servers.
const DNS: u16 = 53;

/// Limits this process and its child processes. Returns the ABI that is enforced, 0 if the kernel has none.
pub(super) fn restrict(files: &[(OwnedFd, Rights)], ports: &Ports) -> Result<u32, RulesetError> {
    let mut rules = Ruleset::default()
        .handle_access(AccessFs::from_all(ABI::V5))?
        .handle_access(AccessNet::from_all(ABI::V4))?
        .scope(Scope::from_all(ABI::V6))?
        .create()?;
    for (rights, paths) in BASE {
        for path in paths.split(' ') {
            if let Ok(file) = rustix::fs::open(path, OFlags::PATH | OFlags::CLOEXEC, Mode::empty()) {
                rules = add(rules, file.as_fd(), rights)?;
            }
        }
    }
    for (file, rights) in files {
        rules = add(rules, file.as_fd(), *rights)?;
    }
    let dns = (!ports.connect.is_empty()).then_some(&DNS);
    for port in ports.connect.iter().chain(dns) {
        rules = rules.add_rule(NetPort::new(*port, AccessNet::ConnectTcp))?;
    }
    for port in &ports.listen {
        rules = rules.add_rule(NetPort::new(*port, AccessNet::BindTcp))?;
    }
    Ok(match rules.restrict_self()?.landlock {
        LandlockStatus::Available { effective_abi, .. } => effective_abi as u32,
        _ => 0,
    })
}

fn add(rules: RulesetCreated, file: BorrowedFd<'_>, rights: Rights) -> Result<RulesetCreated, RulesetError> {
    let read = make_bitflags!(AccessFs::{ReadFile | ReadDir});
    let execute = read | AccessFs::Execute;
    // Device files are not made: that needs a capability, too.
    let write = read
        | make_bitflags!(AccessFs::{
            WriteFile | RemoveDir | RemoveFile | MakeDir | MakeReg | MakeSock | MakeFifo | MakeSym | Refer | Truncate
        });
    let rights = match rights {
        Rights::Read => read,
        Rights::Write => write,
        Rights::Execute => execute,
        Rights::All => write | execute,
    };
    // The kernel refuses rights of directories for a file.
    let applicable = if is_directory(file) { BitFlags::all() } else { AccessFs::from_file(ABI::V5) };
    rules.add_rule(PathBeneath::new(file, rights & applicable))
}

fn is_directory(file: BorrowedFd<'_>) -> bool {
    rustix::fs::fstat(file).is_ok_and(|status| FileType::from_raw_mode(status.st_mode).is_dir())
}

/// Returns `true` if the rules are in effect: the root of the file system is never granted, so it cannot be listed.
pub(super) fn is_denied() -> bool {
    rustix::fs::open(c"/", OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty()).is_err()
}
