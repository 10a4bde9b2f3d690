//! A process that changes the program between the check and the start.

use std::fs::{self, File};
use std::io::Read as _;
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};

use plugward_launch::{Program, SealCheck, SealedProgram};
use rustix::fs::{CWD, RenameFlags, renameat_with};
use tempfile::TempDir;

use crate::common::{LONG, digest, executable, spec, start};

/// The number of tries of each race.
const TRIES: u32 = 300;
/// The number of tries in which hashing a path and starting it must run other bytes once.
const PEER_TRIES: u32 = 20_000;

/// A directory with the checked program, which exits with 0, and another one, which exits with 1.
struct Race {
    home: TempDir,
    checked: Vec<u8>,
    other: Vec<u8>,
}

impl Race {
    fn new() -> Self {
        let [checked, other] = ["/bin/true", "/bin/false"].map(|path| fs::read(path).unwrap());
        let race = Self { home: tempfile::tempdir().unwrap(), checked, other };
        executable(&race.path("program"), &race.checked);
        executable(&race.path("other"), &race.other);
        race
    }

    fn path(&self, name: &str) -> PathBuf {
        self.home.path().join(name)
    }

    /// Runs both ways while another thread repeats `attack`.
    fn run(&self, name: &str, attack: impl Fn() + Sync) {
        let (stop, started) = (AtomicBool::new(false), AtomicBool::new(false));
        std::thread::scope(|scope| {
            scope.spawn(|| {
                while !stop.load(Ordering::Relaxed) {
                    attack();
                    started.store(true, Ordering::Relaxed);
                }
            });
            while !started.load(Ordering::Relaxed) {
                std::thread::yield_now();
            }
            // A failure must not leave the attacker running.
            let outcome = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| self.compare(name)));
            stop.store(true, Ordering::Relaxed);
            outcome.unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        });
    }

    fn compare(&self, name: &str) {
        let (mut ran, mut differed) = (0, 0);
        for _ in 0..TRIES {
            match self.sealed() {
                Some(code) => {
                    assert_eq!(code, 0, "{name}: other bytes ran");
                    ran += 1;
                }
                None => differed += 1,
            }
        }
        let (mut peer, mut lost) = (0, 0);
        while peer < TRIES || (lost == 0 && peer < PEER_TRIES) {
            peer += 1;
            lost += u32::from(hash_then_start(&self.path("program"), &self.checked) == Some(1));
        }
        println!("{name}: {ran} ran, {differed} differed, 0 ran other bytes; hash, then start: {lost} of {peer}");
        assert!(ran > 0, "{name}: the program was never the checked one");
        assert!(lost > 0, "{name}: the attack changed nothing, so this test proved nothing");
    }

    /// Returns the exit code of the sealed program, or `None` if it has other bytes.
    fn sealed(&self) -> Option<i32> {
        let file = File::open(self.path("program")).unwrap();
        match SealedProgram::copy(&file, &digest(&self.checked)).unwrap() {
            SealCheck::Sealed(program) => {
                start(&spec(Program::Sealed(&program), &["true"])).end(LONG).unwrap().code
            }
            // A file that is rewritten can be empty or incomplete.
            SealCheck::Differs { .. } | SealCheck::NotExecutable { .. } => None,
        }
    }
}

/// The peer: compares the digest of the file, and starts its path.
fn hash_then_start(path: &Path, checked: &[u8]) -> Option<i32> {
    let mut bytes = Vec::new();
    File::open(path).unwrap().read_to_end(&mut bytes).unwrap();
    if digest(&bytes) != digest(checked) {
        return None;
    }
    // The file can be open for writing at this moment, or a mix of both programs.
    Command::new(path).stdin(Stdio::null()).stderr(Stdio::null()).status().ok()?.code()
}

#[test]
fn launch_race_rename() {
    let race = Race::new();
    let (program, other) = (race.path("program"), race.path("other"));
    race.run("rename", || {
        renameat_with(CWD, &program, CWD, &other, RenameFlags::EXCHANGE).unwrap();
    });
}

#[test]
fn launch_race_in_place() {
    let race = Race::new();
    race.run("in place", || {
        for bytes in [&race.other, &race.checked] {
            // Fails while the program runs.
            let Ok(file) = File::options().write(true).open(race.path("program")) else { continue };
            file.write_all_at(bytes, 0).unwrap();
            file.set_len(bytes.len() as u64).unwrap();
        }
    });
}

#[test]
fn launch_race_held_writer() {
    // A process that keeps the file open for writing can rewrite it at any time.
    let race = Race::new();
    let writer = File::options().write(true).open(race.path("program")).unwrap();
    for _ in 0..TRIES {
        writer.write_all_at(&race.checked, 0).unwrap();
        let file = File::open(race.path("program")).unwrap();
        let SealCheck::Sealed(program) = SealedProgram::copy(&file, &digest(&race.checked)).unwrap() else {
            panic!("not sealed")
        };
        writer.write_all_at(&race.other, 0).unwrap();
        assert_eq!(start(&spec(Program::Sealed(&program), &["true"])).end(LONG).unwrap().code, Some(0));
    }
}
