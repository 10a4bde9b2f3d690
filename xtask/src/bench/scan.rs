//! The scanner beside its peers: the same 36 patterns, the same files, one run.
#![expect(clippy::disallowed_types, reason = "folders of the repository")]

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context as _, Result, bail};

use super::process::{Took, median, version};
use crate::metadata::root;
use crate::{Outcome, corpus, say};

const PATTERNS: &str = "benches/patterns.tsv";

/// How to measure.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct Args {
    /// Runs of each job, after one that is not counted; the median is printed.
    #[arg(long, default_value_t = 5)]
    runs: usize,
    /// Only packages whose name or group holds this.
    #[arg(long)]
    only: Option<String>,
    /// Jobs whose name holds this, besides those that they are compared with.
    #[arg(long)]
    job: Option<String>,
}

/// One line of the table.
struct Line {
    name: &'static str,
    took: Option<Took>,
    said: String,
}

/// A figure that is to be reached: `job` against `peer` in wall time, at least so many hundredths; 0 where the ratio is told
/// alone.
struct Target {
    job: &'static str,
    peer: &'static str,
    hundredths: u64,
}

/// The job that reads and does nothing else.
const READING: &str = "reading alone";

/// The most memory that all rules may take in one thread.
const MOST_KIB: u64 = 64 * 1024;

const TARGETS: &[Target] = &[
    Target { job: "36 patterns, grams", peer: "ripgrep", hundredths: 200 },
    Target { job: "36 patterns, grams", peer: "build_many", hundredths: 500 },
    Target { job: "36 patterns, grams", peer: "build_many, ASCII", hundredths: 0 },
    Target { job: "all rules", peer: "ripgrep", hundredths: 100 },
    Target { job: "all rules, 2 threads", peer: "all rules", hundredths: 170 },
];

/// Measures and prints the table.
pub(crate) fn run(args: &Args) -> Result<Outcome> {
    let folders = folders(args)?;
    let program = build()?;
    say(&format!("load: {}", load()));
    let mut wrong = Vec::new();
    let mut lines = Vec::new();
    for (name, task, jobs) in [
        (READING, "read", "1"),
        ("ripgrep", "", "1"),
        ("build_many", "many", "1"),
        // ASCII classes and word ends, as `rg --no-unicode` and the rules read them: told beside it, for the patterns give the same
        // matches either way.
        ("build_many, ASCII", "many-bytes", "1"),
        ("36 patterns, Aho-Corasick", "stage1", "1"),
        ("36 patterns, grams", "stage2", "1"),
        ("all rules", "rules", "1"),
        ("all rules, 2 threads", "rules", "2"),
    ] {
        if args
            .job
            .as_ref()
            .is_some_and(|job| !name.contains(job.as_str()) && !is_peer(name) && name != READING)
        {
            continue;
        }
        let line = if task.is_empty() {
            ripgrep(args, &folders)?
        } else {
            own(args, &program, &folders, (name, task, jobs))?
        };
        lines.push(line);
    }
    table(&lines, bytes_of(&lines));
    for target in TARGETS {
        if let Some(line) = judge(target, &lines) {
            wrong.push(line);
        }
    }
    peak(&lines, &mut wrong);
    small(&program, args, &mut wrong)?;
    say("yara-x: not measured (it is no dependency of this workspace)");
    say(&format!("load: {}", load()));
    Ok(Outcome { looked_at: format!("bench scan: {} jobs, median of {}", lines.len(), args.runs), wrong })
}

fn is_peer(name: &str) -> bool {
    TARGETS.iter().any(|target| target.peer == name)
}

fn folders(args: &Args) -> Result<Vec<PathBuf>> {
    let all = corpus::packages()?;
    let group = args.only.as_deref().unwrap_or("large");
    let wanted = all.iter().filter(|package| package.group == group || package.name.contains(group));
    let mut folders = Vec::new();
    for package in wanted {
        let folder = package.folder();
        if folder.is_dir() {
            folders.push(folder);
        } else {
            say(&format!("not measured: {} is not there; cargo xtask corpus", package.name));
        }
    }
    if folders.is_empty() {
        bail!("there is no corpus: cargo xtask corpus");
    }
    Ok(folders)
}

/// Builds the program that runs one job.
fn build() -> Result<PathBuf> {
    #[expect(clippy::disallowed_methods, reason = "this program starts cargo")]
    let (cargo, target) = (std::env::var("CARGO"), std::env::var_os("CARGO_TARGET_DIR"));
    let cargo = cargo.unwrap_or_else(|_| "cargo".to_owned());
    #[expect(clippy::disallowed_methods, reason = "this program starts cargo")]
    let status = Command::new(cargo)
        .args(["build", "--locked", "--profile", "bench", "-p", "plugward-scanner", "--features", "_oracle"])
        .args(["--example", "scan_bench"])
        .current_dir(root())
        .status()
        .context("start cargo")?;
    if !status.success() {
        bail!("scan_bench does not build");
    }
    let target = target.map_or_else(|| root().join("target"), PathBuf::from);
    Ok(target.join("release/examples/scan_bench"))
}

fn own(args: &Args, program: &Path, folders: &[PathBuf], job: (&'static str, &str, &str)) -> Result<Line> {
    let (name, task, jobs) = job;
    let (took, said) = median(args.runs, || {
        #[expect(clippy::disallowed_methods, reason = "a measured job is a process of its own")]
        let mut command = Command::new(program);
        command.arg(task).args(["--patterns", PATTERNS, "--jobs", jobs, "--"]).args(folders);
        command.current_dir(root());
        command
    })?;
    Ok(Line { name, took: Some(took), said })
}

fn ripgrep(args: &Args, folders: &[PathBuf]) -> Result<Line> {
    let name = "ripgrep";
    let Some(version) = version("rg") else {
        return Ok(Line { name, took: None, said: "not measured: no rg on the path".to_owned() });
    };
    let text = crate::metadata::text(PATTERNS)?;
    let patterns: Vec<&str> = text.lines().filter_map(|line| line.split_once('\t')).map(|(_, p)| p).collect();
    let joined = patterns.iter().map(|pattern| format!("(?:{pattern})")).collect::<Vec<_>>().join("|");
    let (took, said) = median(args.runs, || {
        #[expect(clippy::disallowed_methods, reason = "a peer is a process of its own")]
        let mut command = Command::new("rg");
        command.args(["-n", "-o", "-a", "-uu", "-j1", "--no-unicode", "--no-config", "-e", &joined, "--"]);
        command.args(folders);
        command
    })?;
    Ok(Line { name, took: Some(took), said: format!("{said}, {version}") })
}

/// The peak of memory, which our own jobs print.
fn peak(lines: &[Line], wrong: &mut Vec<String>) {
    let said = lines.iter().find(|line| line.name == "all rules").map_or("", |line| line.said.as_str());
    let kib = said.split(", ").find_map(|part| part.strip_suffix(" KiB at most")?.parse::<u64>().ok());
    let Some(kib) = kib else {
        say("peak of memory: not measured");
        return;
    };
    let line = format!("all rules take {kib} KiB at most, to reach {MOST_KIB}");
    say(&line);
    if kib > MOST_KIB {
        wrong.push(line);
    }
}

/// One small file as a whole process, rules compiled and all.
fn small(program: &Path, args: &Args, wrong: &mut Vec<String>) -> Result<()> {
    let folder = corpus::folder().join("small/ms-2.1.3");
    if !folder.is_dir() {
        say("one small file: not measured, the small corpus is not there");
        return Ok(());
    }
    let line = own(args, program, &[folder], ("one small package", "rules", "1"))?;
    let took = line.took.unwrap_or_default();
    say(&format!("one small package, whole process: {:.1} ms, target 10 ms ({})", millis(took), line.said));
    if took.wall.as_millis() >= 10 {
        wrong.push("one small package takes 10 ms or more".to_owned());
    }
    Ok(())
}

fn millis(took: Took) -> f64 {
    took.wall.as_secs_f64() * 1000.0
}

/// Finds the number of bytes that our own jobs print.
fn bytes_of(lines: &[Line]) -> u64 {
    let word = |line: &Line| line.said.split(' ').nth(2)?.parse::<u64>().ok();
    lines.iter().find_map(word).unwrap_or(0)
}

#[expect(clippy::cast_precision_loss, reason = "figures of a table")]
fn table(lines: &[Line], bytes: u64) {
    let peer = lines.iter().find(|line| line.name == "ripgrep").and_then(|line| line.took);
    let reading = reading_of(lines);
    say("matching s: wall without the time that reading alone takes");
    say(&format!(
        "{:<28} {:>9} {:>10} {:>9} {:>8} {:>9}",
        "job", "wall s", "matching s", "cpu s", "MB/s", "× ripgrep"
    ));
    for line in lines {
        let Some(took) = line.took else {
            say(&format!("{:<28} {}", line.name, line.said));
            continue;
        };
        let wall = took.wall.as_secs_f64();
        let speed = bytes as f64 / 1e6 / wall;
        let ratio = peer.map_or(0.0, |peer| peer.wall.as_secs_f64() / wall);
        let cpu = took.cpu.as_secs_f64();
        let matching = reading.map_or(0.0, |reading| took.wall.saturating_sub(reading).as_secs_f64());
        say(&format!(
            "{:<28} {wall:>9.3} {matching:>10.3} {cpu:>9.2} {speed:>8.0} {ratio:>9.2}  {}",
            line.name, line.said
        ));
    }
}

/// How long it takes to read the files and do nothing with them, in our program.
fn reading_of(lines: &[Line]) -> Option<Duration> {
    lines.iter().find(|line| line.name == READING)?.took.map(|took| took.wall)
}

/// The same without the time that reading alone takes. No engine is faster than that, from files.
fn without_reading(line: &str, job: Took, peer: Took, reading: Option<Duration>) -> String {
    let Some(reading) = reading else { return line.to_owned() };
    let (job, peer_matching) = (job.wall.saturating_sub(reading), peer.wall.saturating_sub(reading));
    if job.is_zero() || reading.is_zero() {
        return line.to_owned();
    }
    let ratio = peer_matching.as_secs_f64() / job.as_secs_f64();
    let most = peer.wall.as_secs_f64() / reading.as_secs_f64();
    format!("{line}; without reading {ratio:.2}; reading alone would be {most:.2}")
}

#[expect(clippy::cast_precision_loss, reason = "figures of a table")]
fn judge(target: &Target, lines: &[Line]) -> Option<String> {
    let find = |name: &str| lines.iter().find(|line| line.name == name)?.took;
    let (Some(job), Some(peer)) = (find(target.job), find(target.peer)) else {
        say(&format!("{} against {}: not measured", target.job, target.peer));
        return None;
    };
    let ratio = peer.wall.as_secs_f64() / job.wall.as_secs_f64();
    let wanted = target.hundredths as f64 / 100.0;
    let reach = if target.hundredths == 0 { String::new() } else { format!(", to reach {wanted:.2}") };
    let line = format!("{} is {ratio:.2} × {}{reach}", target.job, target.peer);
    // Between jobs on different numbers of threads it says nothing.
    let same = !target.job.contains(target.peer);
    let line = if same { without_reading(&line, job, peer, reading_of(lines)) } else { line };
    say(&line);
    (ratio < wanted).then_some(line)
}

fn load() -> String {
    crate::metadata::outside("/proc/loadavg").unwrap_or_else(|_| "unknown".to_owned())
}
