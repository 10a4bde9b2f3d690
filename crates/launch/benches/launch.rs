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
    Access, EnforceRule, LaunchCheck, LaunchSpec, Program, SealCheck, SealedProgram, launch,
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
    // The fastest round is the one that other programs of the machine delayed the least.
    for (label, at) in [("median", rounds / 2), ("fastest", 0)] {
        let (run, peer) = (runs.get(at).copied().unwrap(), peers.get(at).copied().unwrap());
        let ratio = run.as_secs_f64() / peer.as_secs_f64();
        println!("{name:<36} {label:<8} {run:>10.2?}   peer {peer:>10.2?}   {ratio:.2}");
    }
}

fn main() {
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
    for size in COPY_SIZES {
        let path = home.path().join(size.to_string());
        let digest = program(&path, size);
        let name = format!("copy, seal, hash {} MiB, hash alone", size >> 20);
        compare(&name, COPIES, || drop(seal(&path, &digest)), || assert_eq!(hash(&path), digest));
    }
}
