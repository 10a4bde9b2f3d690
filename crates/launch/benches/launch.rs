//! The time of a start and of a copy: `cargo bench -p plugward-launch`. Peers run by turns in the same run.
#![expect(
    clippy::disallowed_methods,
    clippy::print_stdout,
    clippy::unwrap_used,
    clippy::panic,
    reason = "a benchmark starts peers, reads the clock, prints, and panics if it fails"
)]

use std::fs::{self, File};
use std::io::{Read as _, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use plugward_launch::{
    Access, EnforceRule, GrantedAccess, LaunchCheck, LaunchSpec, Program, SealCheck, SealedProgram, launch,
};
use sha2::{Digest as _, Sha256};

const STARTS: usize = 200;
const COPIES: usize = 40;
const START_SIZE: usize = 1 << 20;
const COPY_SIZES: [usize; 3] = [1 << 20, 16 << 20, 64 << 20];
const LIMIT: Duration = Duration::from_secs(10);

/// Writes an ELF file of a size that exits with 0. Bytes after its last section have no effect.
fn program(path: &Path, size: usize) -> [u8; 32] {
    let mut bytes = fs::read("/bin/true").unwrap();
    bytes.resize(size, 0x5a);
    File::create(path).unwrap().write_all(&bytes).unwrap();
    fs::set_permissions(path, fs::Permissions::from_mode(0o700)).unwrap();
    Sha256::digest(&bytes).into()
}

fn seal(path: &Path, digest: &[u8; 32]) -> SealedProgram {
    match SealedProgram::copy(&File::open(path).unwrap(), digest).unwrap() {
        SealCheck::Sealed(program) => program,
        other => panic!("{other:?}"),
    }
}

/// The peer of `seal`, which reads in the same chunks.
fn hash(path: &Path) -> [u8; 32] {
    let mut file = File::open(path).unwrap();
    let (mut hasher, mut buffer) = (Sha256::new(), vec![0; 128 << 10]);
    loop {
        match file.read(&mut buffer).unwrap() {
            0 => return hasher.finalize().into(),
            count => hasher.update(buffer.get(..count).unwrap()),
        }
    }
}

fn start(spec: &LaunchSpec<'_>, access: Access<'_>) {
    let running = match launch(spec, access, EnforceRule::Require, &mut |_| Ok(())).unwrap() {
        LaunchCheck::Running(running) => running,
        LaunchCheck::Refused(refusal) => panic!("{refusal:?}"),
    };
    assert!(running.wait(LIMIT).unwrap());
    assert_eq!(running.end(Duration::ZERO).unwrap().code(), Some(0));
}

/// The peer of `start`: the same pipes, the standard library alone.
fn spawn(path: &Path) {
    let mut command = Command::new(path);
    command.env_clear().current_dir("/").stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    assert!(command.spawn().unwrap().wait().unwrap().success());
}

/// Returns bubblewrap, from PATH or `target/peers`.
fn bubblewrap() -> Option<String> {
    let peers = concat!(env!("CARGO_MANIFEST_DIR"), "/../../target/peers/usr/bin");
    let path = std::env::var("PATH").unwrap_or_default();
    let all = path.split(':').chain([peers]).map(|directory| format!("{directory}/bwrap"));
    all.into_iter().find(|path| Path::new(path).exists())
}

/// The peer of a start with granted access.
fn wrapped(bubblewrap: &str, path: &Path) {
    let mut command = Command::new(bubblewrap);
    command.args(["--unshare-all", "--ro-bind", "/", "/", "--proc", "/proc"]).arg(path);
    command.env_clear().current_dir("/").stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    assert!(command.spawn().unwrap().wait().unwrap().success());
}

/// Compares starts with granted access with those of bubblewrap, and with those of a host that has much memory.
fn confined(spec: &LaunchSpec<'_>, home: &Path, path: &Path) {
    let access = GrantedAccess::new(None, File::open(home).unwrap().into()).unwrap();
    let run = || start(spec, Access::Granted(&access));
    match bubblewrap() {
        Some(peer) => compare("confined start, bubblewrap", STARTS, run, || wrapped(&peer, path)),
        None => println!("confined start: skipped, because `bwrap` is not installed"),
    }
    compare("confined start, plain start", STARTS, run, || start(spec, Access::User));
    let alone = sorted(|| timed(run));
    let resident = vec![1_u8; 1 << 30];
    let large = sorted(|| timed(run));
    assert_eq!(resident.iter().step_by(4096).map(|byte| u64::from(*byte)).sum::<u64>(), 1 << 18);
    print("confined start, 1 GiB, none", &large, &alone);
}

fn sorted(mut run: impl FnMut() -> Duration) -> Vec<Duration> {
    let mut all: Vec<Duration> = (0..STARTS).map(|_| run()).collect();
    all.sort();
    all
}

fn timed(run: impl FnOnce()) -> Duration {
    let start = Instant::now();
    run();
    start.elapsed()
}

fn compare(name: &str, rounds: usize, mut run: impl FnMut(), mut peer: impl FnMut()) {
    let (mut runs, mut peers) = (Vec::new(), Vec::new());
    for _ in 0..rounds {
        runs.push(timed(&mut run));
        peers.push(timed(&mut peer));
    }
    runs.sort();
    peers.sort();
    print(name, &runs, &peers);
}

fn print(name: &str, runs: &[Duration], peers: &[Duration]) {
    // The fastest round is the one that other programs of the machine delayed the least.
    for (label, at) in [("median", runs.len() / 2), ("fastest", 0)] {
        let (run, peer) = (runs.get(at).copied().unwrap(), peers.get(at).copied().unwrap());
        let ratio = run.as_secs_f64() / peer.as_secs_f64();
        println!("{name:<36} {label:<8} {run:>10.2?}   peer {peer:>10.2?}   {ratio:.2}");
    }
}

fn main() {
    plugward_launch::run_if_launcher();
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("program");
    let digest = program(&path, START_SIZE);
    let sealed = seal(&path, &digest);
    let spec = LaunchSpec {
        program: Program::Sealed(&sealed),
        argv: vec!["program".to_owned()],
        directory: "/".to_owned(),
        env: Vec::new(),
    };
    compare("start of a sealed file, plain spawn", STARTS, || start(&spec, Access::User), || spawn(&path));
    confined(&spec, home.path(), &path);
    for size in COPY_SIZES {
        let path = home.path().join(size.to_string());
        let digest = program(&path, size);
        let name = format!("copy, seal, hash {} MiB, hash alone", size >> 20);
        compare(&name, COPIES, || drop(seal(&path, &digest)), || assert_eq!(hash(&path), digest));
    }
}
