//! Scans directories and prints the speed for each file extension: `scan_bench [--findings] [--rounds N] DIR…`.
//!
//! With `--findings` it prints each finding instead, so that two versions can be compared.
#![expect(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    clippy::print_stdout,
    clippy::arithmetic_side_effects,
    clippy::cast_precision_loss,
    reason = "a program beside the crate: it reads files and prints"
)]

use std::collections::BTreeMap;
use std::error::Error;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use plugward_scanner::{Content, Entry, Profile, RoleHint, Rules, ScanOptions, ScanReport, scan};
use plugward_types::Digest;

type Outcome<T> = Result<T, Box<dyn Error>>;

/// One call of `scan` gets about this many bytes.
const BATCH: usize = 1 << 20;

type File = (PathBuf, Vec<u8>);

fn main() -> Outcome<()> {
    let (mut listed, mut rounds, mut dirs) = (false, 3, Vec::new());
    let mut args = std::env::args().skip(1);
    while let Some(arg) = args.next() {
        match arg.as_str() {
            "--findings" => listed = true,
            "--rounds" => rounds = args.next().ok_or("--rounds needs a number")?.parse()?,
            _ => dirs.push(arg),
        }
    }
    let mut paths = Vec::new();
    for dir in &dirs {
        add(Path::new(dir), &mut paths)?;
    }
    paths.sort();
    let start = Instant::now();
    let rules = Rules::builtin();
    println!("{:.1} ms to load the rules", millis(start.elapsed()));
    let mut kinds: BTreeMap<String, Vec<File>> = BTreeMap::new();
    for path in paths {
        let kind = path.extension().unwrap_or_default().to_string_lossy().into_owned();
        let bytes = std::fs::read(&path)?;
        kinds.entry(kind).or_default().push((path, bytes));
    }
    for (kind, files) in &kinds {
        if listed {
            each(rules, files, print)?;
        } else {
            speed(rules, kind, files, rounds)?;
        }
    }
    Ok(())
}

/// Prints the best speed of some rounds.
fn speed(rules: &Rules, kind: &str, files: &[File], rounds: usize) -> Outcome<()> {
    let bytes: usize = files.iter().map(|(_, bytes)| bytes.len()).sum();
    let (mut found, mut times) = (0, Vec::new());
    for _ in 0..rounds {
        found = 0;
        let start = Instant::now();
        each(rules, files, |report| found += report.findings().len())?;
        times.push(start.elapsed());
    }
    let best = times.iter().min().copied().unwrap_or_default();
    let first = times.first().copied().unwrap_or_default();
    let speed = bytes as f64 / 1e6 / best.as_secs_f64();
    let count = files.len();
    println!(
        "{kind:>8}: {speed:7.1} MB/s, first round {:.1} ms; {count} files, {bytes} bytes, {found} findings",
        millis(first)
    );
    Ok(())
}

/// Scans files in batches.
fn each(rules: &Rules, files: &[File], mut look: impl FnMut(&ScanReport)) -> Outcome<()> {
    let options = ScanOptions::new(Profile::General);
    let mut rest = files;
    while !rest.is_empty() {
        let mut bytes = 0;
        let full = |(_, text): &File| {
            bytes += text.len();
            bytes > BATCH
        };
        let count = rest.iter().position(full).unwrap_or(rest.len()).max(1);
        let (batch, others) = rest.split_at(count);
        rest = others;
        let entries: Vec<Entry<'_>> = batch.iter().map(entry).collect();
        look(&scan(rules, &options, &entries)?);
    }
    Ok(())
}

fn entry((path, bytes): &File) -> Entry<'_> {
    let content = Content::Bytes { bytes, digest: Digest::from_bytes([0; 32]) };
    Entry { path: path.to_str().unwrap_or_default(), content, role: RoleHint::NONE }
}

fn print(report: &ScanReport) {
    for finding in report.findings() {
        let place = (&finding.path, finding.line, finding.column);
        println!("{place:?} {:?} {} {:?} {}", finding.span, finding.rule, finding.how, finding.severity);
    }
}

fn add(path: &Path, paths: &mut Vec<PathBuf>) -> Outcome<()> {
    if !path.is_dir() {
        paths.push(path.to_owned());
        return Ok(());
    }
    for entry in std::fs::read_dir(path)? {
        let entry = entry?;
        let known = entry.file_type()?;
        if known.is_dir() || known.is_file() {
            add(&entry.path(), paths)?;
        }
    }
    Ok(())
}

fn millis(time: Duration) -> f64 {
    time.as_secs_f64() * 1000.0
}
