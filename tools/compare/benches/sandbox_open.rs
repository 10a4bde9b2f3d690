//! What an open costs, with every peer in the same run.
//!
//! `cargo bench -p plugward-compare --bench sandbox_open`; `-- --gate` fails where a target is missed.
#![expect(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    clippy::disallowed_types,
    clippy::print_stdout,
    clippy::arithmetic_side_effects,
    clippy::indexing_slicing,
    clippy::cast_precision_loss,
    reason = "a benchmark measures time, prints, and stops at the first surprise"
)]

#[cfg(target_os = "linux")]
mod common;

#[cfg(not(target_os = "linux"))]
fn main() {}

#[cfg(target_os = "linux")]
fn main() {
    linux::main();
}

#[cfg(target_os = "linux")]
mod linux {
    use std::collections::BTreeMap;
    use std::fs;
    use std::hint::black_box;
    use std::path::Path;
    use std::time::Instant;

    use cap_std::ambient_authority;
    use cap_std::fs::Dir;
    use plugward_sandbox_path::{Guarantee, Jail, Policy, SandboxedPath, WalkLimits};
    use seccompiler::{BpfProgram, SeccompAction, SeccompFilter, TargetArch};

    use super::common::{self, BOTH, CAP, FLOOR, GUARD, OPEN_READ, STD, TYPED, WALK};

    const ROUNDS: usize = 400;
    const CALLS: usize = 50;
    const AGAIN: &str = "ours: open after create";

    /// What a run found wrong with its targets.
    struct Gate(Vec<String>);

    impl Gate {
        fn at_most(&mut self, what: &str, ratio: f64, limit: f64) {
            let met = ratio <= limit;
            println!("  {} {what}: {ratio:.2} (to reach: {limit:.2})", if met { "met   " } else { "MISSED" });
            if !met {
                self.0.push(what.to_owned());
            }
        }

        fn at_least(&mut self, what: &str, ratio: f64, limit: f64) {
            let met = ratio >= limit;
            println!("  {} {what}: {ratio:.2} (to reach: {limit:.2})", if met { "met   " } else { "MISSED" });
            if !met {
                self.0.push(what.to_owned());
            }
        }
    }

    /// One thing to time.
    type Timed<'a> = (&'a str, Box<dyn FnMut() + 'a>);

    /// What was measured: p10 and median in nanoseconds a call, and each round's own time.
    type Times = BTreeMap<String, (f64, f64, Vec<f64>)>;

    /// Times each thing in turn, the start rotated each round.
    fn interleaved(things: &mut [Timed<'_>], rounds: usize, calls: usize) -> Times {
        let mut samples = vec![Vec::with_capacity(rounds); things.len()];
        for round in 0..rounds {
            for turn in 0..things.len() {
                let at = (round + turn) % things.len();
                let start = Instant::now();
                for _ in 0..calls {
                    (things[at].1)();
                }
                samples[at].push(start.elapsed().as_nanos() as f64 / calls as f64);
            }
        }
        let sorted = samples.into_iter().map(|rounds| {
            let mut times = rounds.clone();
            times.sort_by(f64::total_cmp);
            (times[times.len() / 10], times[times.len() / 2], rounds)
        });
        things.iter().map(|(name, _)| (*name).to_owned()).zip(sorted).collect()
    }

    /// How one compares with another: the median over the rounds of what both took in the same round.
    ///
    /// A clock that changes its speed in mid-run moves both times of a round, so that it cannot move their ratio.
    fn ratio(times: &Times, one: &str, other: &str) -> f64 {
        let mut ratios: Vec<_> =
            times[one].2.iter().zip(&times[other].2).map(|(one, other)| one / other).collect();
        ratios.sort_by(f64::total_cmp);
        ratios[ratios.len() / 2]
    }

    fn table(title: &str, times: &Times, floor: &str) {
        println!("\n{title}");
        println!("  {:<34} {:>10} {:>10} {:>7}", "", "p10", "median", "ratio");
        let mut rows: Vec<_> = times.iter().collect();
        rows.sort_by(|one, two| one.1.0.total_cmp(&two.1.0));
        for (name, (p10, median, _)) in rows {
            println!("  {name:<34} {p10:>8.0}ns {median:>8.0}ns {:>7.2}", ratio(times, name, floor));
        }
    }

    fn depth(directory: &Path, depth: usize, gate: &mut Gate) {
        let path = "d/".repeat(depth - 1) + "f";
        fs::create_dir_all(directory.join(&path).parent().unwrap()).unwrap();
        fs::write(directory.join(&path), "text").unwrap();
        let ways = common::ways(directory);
        let jail = Jail::open(directory, Policy::standard()).unwrap();
        let seen = SandboxedPath::create(&jail, &path).unwrap();
        let mut things: Vec<Timed<'_>> = Vec::new();
        for way in &ways {
            let path = &path;
            things.push((way.name, Box::new(move || drop(black_box((way.open)(path).unwrap())))));
        }
        things.push((AGAIN, Box::new(|| drop(black_box(seen.open().unwrap())))));
        let times = interleaved(&mut things, ROUNDS, CALLS);
        table(&format!("one open and close, depth {depth}"), &times, FLOOR);
        let ratio = |one: &str, other: &str| ratio(&times, one, other);
        gate.at_most(&format!("open_read, depth {depth}"), ratio(OPEN_READ, FLOOR), 1.35);
        gate.at_most(&format!("create + open, depth {depth}"), ratio(BOTH, FLOOR), 2.7);
        gate.at_most(&format!("open after create, depth {depth}"), ratio(AGAIN, FLOOR), 1.5);
        gate.at_most(&format!("open_read against std, depth {depth}"), ratio(OPEN_READ, STD), 1.1);
        gate.at_least(
            &format!("path_jail guard against open_read, depth {depth}"),
            ratio(GUARD, OPEN_READ),
            1.35,
        );
        println!("         (open_read against any typed open: {:.2})", ratio(OPEN_READ, TYPED));
        if depth == 4 {
            gate.at_most("walk tier, depth 4", ratio(WALK, FLOOR), 4.3);
        }
    }

    /// The walk and the fallback of cap-std, where a filter denies `openat2`.
    fn denied(directory: &Path, gate: &mut Gate) {
        let path = "d/".repeat(3) + "f";
        let times = std::thread::scope(|scope| {
            let thread = scope.spawn(|| {
                let arch = TargetArch::try_from(std::env::consts::ARCH).unwrap();
                let answer = SeccompAction::Errno(rustix::io::Errno::NOSYS.raw_os_error().unsigned_abs());
                let rules = BTreeMap::from([(437, vec![])]);
                let filter = SeccompFilter::new(rules, SeccompAction::Allow, answer, arch).unwrap();
                seccompiler::apply_filter(&BpfProgram::try_from(filter).unwrap()).unwrap();
                let jail = Jail::open(directory, Policy::standard()).unwrap();
                assert_eq!(jail.guarantee(), Guarantee::AtOpenWalk);
                let dir = Dir::open_ambient_dir(directory, ambient_authority()).unwrap();
                let mut things: Vec<Timed<'_>> = vec![
                    (WALK, Box::new(|| drop(black_box(jail.open_read(&path).unwrap())))),
                    (CAP, Box::new(|| drop(black_box(dir.open(&path).unwrap())))),
                ];
                interleaved(&mut things, ROUNDS, CALLS)
            });
            thread.join().unwrap()
        });
        table("where a filter denies openat2, depth 4", &times, WALK);
        gate.at_most("walk tier against cap-std's fallback", ratio(&times, WALK, CAP), 1.2);
    }

    /// Listing a tree of 10,410 entries, against walkdir with the same order.
    fn walk(directory: &Path, gate: &mut Gate) {
        for outer in 0..10 {
            for inner in 0..40 {
                let at = directory.join(format!("package-{outer}/directory-{inner}"));
                fs::create_dir_all(&at).unwrap();
                for file in 0..25 {
                    fs::write(at.join(format!("file-{file}.js")), "").unwrap();
                }
            }
        }
        let jail = Jail::open(directory, Policy::standard()).unwrap();
        let limits = WalkLimits { entries: 100_000, depth: 64 };
        let ours = || assert_eq!(jail.walk(".", limits).unwrap().map(Result::unwrap).count(), 10_410);
        let walkdir = || {
            let tree = walkdir::WalkDir::new(directory).min_depth(1).sort_by_file_name();
            assert_eq!(tree.into_iter().map(Result::unwrap).count(), 10_410);
        };
        let mut things: Vec<Timed<'_>> =
            vec![("ours: walk", Box::new(ours)), ("walkdir, sorted", Box::new(walkdir))];
        let times = interleaved(&mut things, 20, 1);
        table("walk of 10,410 entries", &times, "walkdir, sorted");
        gate.at_most("walk against walkdir", ratio(&times, "ours: walk", "walkdir, sorted"), 0.7);
    }

    /// Opening and reading 10,000 files of 2 KiB, against `std::fs::read`.
    fn read(directory: &Path, gate: &mut Gate) {
        let names: Vec<_> =
            (0..10_000).map(|number| format!("part-{}/file-{number}.js", number % 100)).collect();
        for (number, name) in names.iter().enumerate() {
            if number < 100 {
                fs::create_dir(directory.join(name).parent().unwrap()).unwrap();
            }
            fs::write(directory.join(name), vec![b'x'; 2048]).unwrap();
        }
        let jail = Jail::open(directory, Policy::standard()).unwrap();
        let dir = Dir::open_ambient_dir(directory, ambient_authority()).unwrap();
        let ours = || names.iter().for_each(|name| drop(black_box(jail.read(name, 1 << 20).unwrap())));
        let std = || names.iter().for_each(|name| drop(black_box(fs::read(directory.join(name)).unwrap())));
        let cap = || names.iter().for_each(|name| drop(black_box(dir.read(name).unwrap())));
        let mut things: Vec<Timed<'_>> = vec![
            ("ours: read", Box::new(ours)),
            ("std::fs::read", Box::new(std)),
            ("cap-std read", Box::new(cap)),
        ];
        let times = interleaved(&mut things, 20, 1);
        table("open and read 10,000 files of 2 KiB", &times, "std::fs::read");
        gate.at_most("read against std::fs::read", ratio(&times, "ours: read", "std::fs::read"), 1.0);
    }

    pub(super) fn main() {
        let mut gate = Gate(Vec::new());
        let home = tempfile::tempdir().unwrap();
        let directory = |name: &str| {
            let directory = home.path().join(name);
            fs::create_dir(&directory).unwrap();
            directory
        };
        for levels in [1, 4, 16] {
            depth(&directory(&format!("depth-{levels}")), levels, &mut gate);
        }
        denied(&home.path().join("depth-4"), &mut gate);
        walk(&directory("walk"), &mut gate);
        read(&directory("read"), &mut gate);
        println!("\n{} targets missed", gate.0.len());
        if common::flag("--gate") && !gate.0.is_empty() {
            std::process::exit(1);
        }
    }
}
