//! Processes that are killed during an append, that write concurrently, and that run out of disk space.
//!
//! The test starts itself again as the process that is killed, so it has its own `main`.
#![expect(
    clippy::disallowed_methods,
    reason = "the test starts and kills processes, and looks at their files"
)]
#![expect(clippy::unwrap_used, clippy::arithmetic_side_effects, reason = "a test fails by a panic")]
#![expect(clippy::print_stdout, clippy::indexing_slicing, reason = "the child says what it did")]

#[cfg(not(unix))]
fn main() {
    println!("skipped: on this system a ledger has no file form");
}

#[cfg(unix)]
fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    match arguments.get(1).map(String::as_str) {
        Some("--child") => unix::child(&arguments[2], &arguments[3]),
        _ => unix::parent(),
    }
}

#[cfg(unix)]
mod unix {
    use std::fs;
    use std::io::{BufRead as _, BufReader, Write as _};
    use std::os::unix::fs::PermissionsExt as _;
    use std::path::Path;
    use std::process::{Child, Command, Stdio};

    use cap_std::ambient_authority;
    use cap_std::fs::Dir;
    use plugward_ledger::{
        ChainCheck, Durability, Folds, Ledger, LedgerEvent, LedgerFiles, LedgerId, LedgerTime, OpenedLedger,
        VerifyPlan,
    };

    const KILLS: usize = 200;
    const WRITERS: usize = 4;
    const EACH: u64 = 10_000;

    fn open(directory: &Path) -> OpenedLedger {
        let dir = Dir::open_ambient_dir(directory, ambient_authority()).unwrap();
        let clock = || LedgerTime::from_system(std::time::SystemTime::now()).unwrap();
        Ledger::open(&dir, LedgerId::from_bytes([9; 16]), Box::new(clock), Durability::Off, Folds::none())
            .unwrap()
    }

    /// A record of about 10 KiB, so that one append is many pages and a kill can fall between two of them.
    fn large(number: u64) -> LedgerEvent {
        let kinds = (0..10).map(|part| format!("{number}-{part}-{}", "x".repeat(980))).collect();
        LedgerEvent::RawOutputLaundered { workflow: "w".into(), hook: "h".into(), tool: "t".into(), kinds }
    }

    fn small(number: u64) -> LedgerEvent {
        LedgerEvent::LaunchEnded { launch: number, exit: Some(0), signal: None }
    }

    pub(crate) fn child(mode: &str, directory: &str) {
        let ledger = open(Path::new(directory)).ledger;
        let mut out = std::io::stdout();
        match mode {
            // Until it is killed. Each line of output is the number of the last confirmed record.
            "endless" => {
                for number in 0.. {
                    let events: Vec<_> = (0..24).map(|part| large(number * 24 + part)).collect();
                    let first = ledger.append(&events).unwrap().first_seq();
                    writeln!(out, "{}", first + 23).unwrap();
                    out.flush().unwrap();
                }
            }
            "many" => (0..EACH).for_each(|number| assert!(ledger.append(&[small(number)]).is_ok())),
            // Until the file size limit that its parent set.
            _ => {
                let error =
                    (0..).find_map(|number| ledger.append(&[small(number), large(number)]).err()).unwrap();
                assert_eq!(error.code(), "ledger/append");
                // A small record still fits, and nothing is left of a large one.
                writeln!(out, "{}", ledger.append(&[small(7)]).is_ok()).unwrap();
            }
        }
    }

    fn start(mode: &str, directory: &Path) -> Child {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args(["--child", mode]).arg(directory).stdout(Stdio::piped()).spawn().unwrap()
    }

    fn records_of(directory: &Path) -> u64 {
        let dir = Dir::open_ambient_dir(directory, ambient_authority()).unwrap();
        let verified = LedgerFiles::open(&dir).unwrap().verify(VerifyPlan::new(), &mut |_, _| ()).unwrap();
        assert!(matches!(verified.check, ChainCheck::Whole { .. }), "{:?}", verified.check);
        verified.records
    }

    fn directory() -> tempfile::TempDir {
        let directory = tempfile::tempdir().unwrap();
        fs::set_permissions(directory.path(), fs::Permissions::from_mode(0o700)).unwrap();
        directory
    }

    /// A random number generator with the same sequence in each run.
    struct Dice(u64);

    impl Dice {
        fn roll(&mut self, below: u64) -> u64 {
            self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (self.0 >> 33) % below
        }
    }

    pub(crate) fn parent() {
        killed();
        many_writers();
        out_of_space();
    }

    fn killed() {
        let mut dice = Dice(7);
        let mut place = directory();
        let (mut torn, mut by_hand, mut answered) = (0, 0, 0);
        for round in 0..KILLS {
            if round % 25 == 24 {
                assert!(records_of(place.path()) > 0);
                place = directory();
            }
            let mut writer = start("endless", place.path());
            let mut answers = BufReader::new(writer.stdout.take().unwrap());
            let mut last = None;
            for _ in 0..dice.roll(4) {
                let mut line = String::new();
                answers.read_line(&mut line).unwrap();
                last = Some(line.trim().parse::<u64>().unwrap());
            }
            // Somewhere in the next append.
            (0..dice.roll(400_000)).for_each(|_| std::hint::spin_loop());
            writer.kill().unwrap();
            writer.wait().unwrap();
            // Every record that was confirmed before the kill is still there.
            for line in answers.lines() {
                last = line.unwrap().parse().ok().or(last);
            }
            answered += usize::from(last.is_some());
            let live = place.path().join("ledger.jsonl");
            let is_cut = round % 3 == 0 && live.exists() && cut(&live, &mut dice);
            let opened = open(place.path());
            if is_cut {
                let recovered = opened.recovered.unwrap();
                assert!(place.path().join(&recovered.saved_as).exists());
                by_hand += 1;
            } else if let Some(recovered) = opened.recovered {
                let saved = fs::metadata(place.path().join(&recovered.saved_as)).unwrap();
                assert_eq!(saved.len(), recovered.bytes);
                torn += 1;
            }
            let next = opened.ledger.append(&[small(1)]).unwrap().first_seq();
            assert!(
                is_cut || last.is_none_or(|last| next > last),
                "record {last:?} had an answer, and {next} is next"
            );
        }
        assert!(records_of(place.path()) > 0);
        println!(
            "{KILLS} kills: every open worked; {torn} torn tails by a kill and {by_hand} by hand were set aside"
        );
        assert!(by_hand > KILLS / 5);
        // A child that was killed before its first confirmation proves nothing.
        assert!(answered > KILLS / 4, "only {answered} children had an answer");
    }

    /// Removes a part of the last line, as a power cut might.
    fn cut(live: &Path, dice: &mut Dice) -> bool {
        let bytes = fs::read(live).unwrap();
        let Some(end) = bytes.iter().rposition(|byte| *byte == b'\n').filter(|end| *end + 1 == bytes.len())
        else {
            return false;
        };
        let start = bytes[..end].iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
        let keep = start as u64 + 1 + dice.roll((end - start) as u64);
        fs::OpenOptions::new().write(true).open(live).unwrap().set_len(keep).unwrap();
        true
    }

    fn many_writers() {
        let place = directory();
        let writers: Vec<_> = (0..WRITERS).map(|_| start("many", place.path())).collect();
        for mut writer in writers {
            assert!(writer.wait().unwrap().success());
        }
        let dir = Dir::open_ambient_dir(place.path(), ambient_authority()).unwrap();
        let mut count = 0;
        let mut each = |record: &plugward_ledger::LedgerRecord, _: &[u8]| {
            count += u64::from(record.type_name() == "launch_ended");
        };
        let verified = LedgerFiles::open(&dir).unwrap().verify(VerifyPlan::new(), &mut each).unwrap();
        assert!(matches!(verified.check, ChainCheck::Whole { .. }), "{:?}", verified.check);
        assert_eq!(count, WRITERS as u64 * EACH);
        println!("{WRITERS} processes appended {EACH} records each: the chain is whole");
    }

    fn out_of_space() {
        let place = directory();
        // At most 96 KiB per file. With the signal ignored, the write itself fails.
        let script = "trap '' XFSZ; ulimit -f 192; exec \"$0\" --child limited \"$1\"";
        let mut command = Command::new("sh");
        command.arg("-c").arg(script).arg(std::env::current_exe().unwrap()).arg(place.path());
        let output = command.output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        assert_eq!(String::from_utf8_lossy(&output.stdout).trim(), "true");
        let records = records_of(place.path());
        println!("out of space: {records} records, whole, no half of an append");
        assert!(open(place.path()).recovered.is_none());
    }
}
