//! The cost of a ledger: `cargo bench -p plugward-ledger`. Each figure is the best and the median of several
//! rounds.
#![expect(
    clippy::disallowed_methods,
    clippy::print_stdout,
    reason = "a benchmark reads the clock and prints"
)]
#![expect(clippy::unwrap_used, clippy::arithmetic_side_effects, reason = "a benchmark that fails may panic")]
#![expect(clippy::cast_precision_loss, clippy::missing_assert_message, reason = "figures for people")]

use std::num::NonZeroU32;
use std::time::{Duration, Instant, SystemTime};

use cap_std::ambient_authority;
use cap_std::fs::Dir;
use plugward_ledger::{
    ChainCheck, Durability, Folds, Ledger, LedgerDigest, LedgerEvent, LedgerFiles, LedgerId, LedgerTime,
    VerifyPlan,
};
use tempfile::TempDir;

const MANY: u64 = 300_000;

fn event(number: u64) -> LedgerEvent {
    LedgerEvent::CapabilityUsed {
        workflow: "wf-7".into(),
        plugin: "acme/npm".into(),
        kind: "npm-install".into(),
        serial: 2,
        op: "install".into(),
        detail: format!("left-pad@1.3.{number}"),
        units: 1,
    }
}

fn directory() -> (TempDir, Dir) {
    let directory = tempfile::tempdir().unwrap();
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        std::fs::set_permissions(directory.path(), std::fs::Permissions::from_mode(0o700)).unwrap();
    }
    let dir = Dir::open_ambient_dir(directory.path(), ambient_authority()).unwrap();
    (directory, dir)
}

fn open(dir: &Dir, durability: Durability) -> Ledger {
    let clock = || LedgerTime::from_system(SystemTime::now()).unwrap();
    Ledger::open(dir, LedgerId::from_bytes([1; 16]), Box::new(clock), durability, Folds::none())
        .unwrap()
        .ledger
}

fn timed<T>(f: impl FnOnce() -> T) -> (Duration, T) {
    let start = Instant::now();
    let value = f();
    (start.elapsed(), value)
}

fn rounds(count: usize, mut f: impl FnMut() -> Duration) -> (Duration, Duration) {
    let mut all: Vec<_> = (0..count).map(|_| f()).collect();
    all.sort();
    (all.first().copied().unwrap(), all.get(count / 2).copied().unwrap())
}

fn rate(what: &str, records: u64, (best, middle): (Duration, Duration)) {
    let per_second = |time: Duration| records as f64 / time.as_secs_f64();
    println!("{what:<58} {:>10.0}/s best {:>10.0}/s middle", per_second(best), per_second(middle));
}

fn append(ledger: &Ledger, count: u64) -> Duration {
    let one = |number| ledger.append(&[event(number)]).unwrap().first_seq();
    timed(|| (0..count).map(one).max()).0
}

fn main() {
    if !std::env::args().any(|argument| argument == "--bench") {
        return;
    }
    let cores = std::thread::available_parallelism().map_or(0, std::num::NonZero::get);
    println!("{cores} cores; one append a record, with hold, chain and tree");

    let best = rounds(5, || {
        let (_directory, dir) = directory();
        let ledger = open(&dir, Durability::Off);
        append(&ledger, 100);
        append(&ledger, 50_000)
    });
    rate("append, no sync, behind 100 records", 50_000, best);

    let (_many, dir) = directory();
    let ledger = open(&dir, Durability::Off);
    append(&ledger, MANY);
    let best = rounds(5, || append(&ledger, 50_000));
    rate("append, no sync, behind 300,000 records", 50_000, best);
    drop(ledger);

    let best = rounds(3, || {
        let (_directory, dir) = directory();
        append(&open(&dir, Durability::Group(NonZeroU32::new(64).unwrap())), 12_800)
    });
    rate("append, synced in groups of 64", 12_800, best);

    let best = rounds(3, || {
        let (_directory, dir) = directory();
        append(&open(&dir, Durability::Every), 200)
    });
    rate("append, synced each", 200, best);
    let best = rounds(3, || {
        let directory = tempfile::tempdir().unwrap();
        let mut file = std::fs::File::create(directory.path().join("bare")).unwrap();
        let write = |_| {
            std::io::Write::write_all(&mut file, &[b'x'; 290]).unwrap();
            file.sync_data().unwrap();
        };
        timed(|| (0..200).for_each(write)).0
    });
    rate("  bare write and fdatasync of as many bytes", 200, best);

    let (_directory, dir) = directory();
    append(&open(&dir, Durability::Off), MANY);
    let (best, middle) = rounds(51, || timed(|| open(&dir, Durability::Off)).0);
    println!("{:<58} {best:>12.1?} best {middle:>12.1?} middle", "open at 300,000 records");

    // The slowest open: a segment that is almost full, whose whole hash chain is followed.
    let (full, full_dir) = directory();
    let ledger = open(&full_dir, Durability::Off);
    let live = full.path().join("ledger.jsonl");
    while std::fs::metadata(&live).unwrap().len() < (4 << 20) - 300_000 {
        append(&ledger, 1_000);
    }
    drop(ledger);
    let (best, middle) = rounds(11, || timed(|| open(&full_dir, Durability::Off)).0);
    let size = std::fs::metadata(&live).unwrap().len() as f64 / f64::from(1 << 20);
    println!(
        "{:<58} {best:>12.1?} best {middle:>12.1?} middle",
        format!("open with a live segment of {size:.1} MiB")
    );

    let files = LedgerFiles::open(&dir).unwrap();
    let mut bytes = 0;
    let mut records = 0;
    let best = rounds(5, || {
        (bytes, records) = (0, 0);
        let (time, verified) = timed(|| {
            let mut each = |_: &_, line: &[u8]| {
                bytes += line.len();
                records += 1;
            };
            files.verify(VerifyPlan::new(), &mut each).unwrap()
        });
        assert!(matches!(verified.check, ChainCheck::Whole { .. }));
        time
    });
    rate("verify 300,000 records", records, best);
    println!("{:<58} {:>10.0} MB/s", "", bytes as f64 / best.0.as_secs_f64() / 1e6);
    let buffer = vec![b'x'; bytes];
    let (best, _) = rounds(3, || timed(|| LedgerDigest::of(&buffer)).0);
    println!(
        "{:<58} {:>10.0} MB/s",
        "  SHA-256 alone, once over as many bytes",
        bytes as f64 / best.as_secs_f64() / 1e6
    );
}
