//! A process that changes the program between the check and the start.

use std::fs::{self, File};
use std::io::Read as _;
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::mpsc;

use plugward_launch::{Program, SealCheck, SealedProgram};
use tempfile::TempDir;

use crate::common::{LONG, digest, executable, spec, start};

/// The number of tries of each race.
const TRIES: u32 = 300;
/// The number of tries in which hashing a path and starting it must run other bytes once.
const PEER_TRIES: u32 = 20_000;
/// The longest pause of the attacker, about as long as a try.
const SPINS: u32 = 20_000;

/// One try, which returns the exit code of the program that ran.
type Try<'a> = &'a dyn Fn() -> Option<i32>;

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

    /// Tries both ways, each against one `attack` that another thread makes at a different moment of each try.
    fn run(&self, name: &str, restore: impl Fn(), attack: impl Fn() + Sync) {
        let (begin, begun) = mpsc::channel::<u32>();
        let (finish, finished) = mpsc::channel();
        std::thread::scope(|scope| {
            scope.spawn(|| {
                let finish = finish;
                for turn in begun {
                    (0..turn * 7919 % SPINS).for_each(|_| std::hint::spin_loop());
                    attack();
                    finish.send(()).unwrap();
                }
            });
            // The attacker stops when this side does, also if it fails.
            let begin = begin;
            let mut turn = 0;
            self.compare(name, |run| {
                restore();
                turn += 1;
                begin.send(turn).unwrap();
                let code = run();
                finished.recv().unwrap();
                code
            });
        });
    }

    fn compare(&self, name: &str, mut attacked: impl FnMut(Try<'_>) -> Option<i32>) {
        let (mut ran, mut differed) = (0, 0);
        for _ in 0..TRIES {
            match attacked(&|| self.sealed()) {
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
            let code = attacked(&|| hash_then_start(&self.path("program"), &self.checked));
            lost += u32::from(code == Some(1));
        }
        println!(
            "{name}: {ran} ran, {differed} differed, 0 ran other bytes; hash, then start: {lost} of {peer}"
        );
        assert!(ran > 0, "{name}: the program was never the checked one");
        assert!(lost > 0, "{name}: the attack changed nothing, so this test proved nothing");
    }

    /// Returns the exit code of the sealed program, or `None` if it has other bytes.
    fn sealed(&self) -> Option<i32> {
        let file = File::open(self.path("program")).unwrap();
        match SealedProgram::copy(&file, &digest(&self.checked)).unwrap() {
            SealCheck::Sealed(program) => {
                start(&spec(Program::Sealed(&program), &["true"])).end(LONG).unwrap().code()
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

/// Writes a program in place. This fails while it runs.
fn rewrite(path: &Path, bytes: &[u8]) {
    let Ok(file) = File::options().write(true).open(path) else { return };
    file.write_all_at(bytes, 0).unwrap();
    file.set_len(bytes.len() as u64).unwrap();
}

#[test]
fn launch_race_rename() {
    let race = Race::new();
    let (program, other, next) = (race.path("program"), race.path("other"), race.path("next"));
    let put = |from: &Path| {
        // A rename to another hard link of the same file leaves both names.
        let _left = fs::remove_file(&next);
        fs::hard_link(from, &next).unwrap();
        fs::rename(&next, race.path("program")).unwrap();
    };
    let checked = race.path("checked");
    fs::hard_link(&program, &checked).unwrap();
    race.run("rename", || put(&checked), || put(&other));
}

#[test]
fn launch_race_in_place() {
    let race = Race::new();
    let program = race.path("program");
    race.run("in place", || rewrite(&program, &race.checked), || rewrite(&program, &race.other));
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
        assert_eq!(start(&spec(Program::Sealed(&program), &["true"])).end(LONG).unwrap().code(), Some(0));
    }
}
