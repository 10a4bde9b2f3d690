//! The fence over the sources of the local registry cache, beside ast-grep with one comparable rule.
#![expect(
    clippy::disallowed_types,
    clippy::disallowed_methods,
    reason = "a bench lays files out, starts what it measures and takes the time"
)]

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail};

use crate::Outcome;
use crate::metadata::root;

/// How much Rust is looked at.
const BYTES: u64 = 50_000_000;
/// Each figure is the middle of so many runs.
const RUNS: usize = 5;
/// What is asked of the three figures.
const MOST_ALONE: Duration = Duration::from_millis(300);
const MOST_KILOBYTES: u64 = 100 * 1024;
const MOST_OF_PEER: f64 = 1.0;
/// The peer's rule: a literal of a type whose name ends as those of capabilities do.
const RULE: &str = "id: made-by-literal\nlanguage: rust\nrule:\n  kind: struct_expression\n  has: { field: name, \
    regex: \"Capability$\" }\n";

/// Where the parts come from.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct Args {
    /// A folder of crate sources, one folder a crate [the registry cache of this cargo]
    #[arg(long)]
    sources: Option<PathBuf>,
    /// The peer's program [ast-grep, if it is on the path]
    #[arg(long)]
    peer: Option<PathBuf>,
}

/// What one run took.
#[derive(Debug, Clone, Copy)]
struct Took {
    wall: Duration,
    cpu: Duration,
    kilobytes: u64,
}

/// Builds the fence, lays the corpus out and measures.
pub(crate) fn run(args: &Args) -> Result<Outcome> {
    let fence = built()?;
    // Beside the profile's folder, in cargo's own target directory: no check of this workspace looks there.
    let target = fence.ancestors().nth(2).context("a program in the target directory")?;
    let place = target.join("bench-fence");
    let corpus = Corpus::lay_out(&sources(args)?, &place)?;
    say(&format!(
        "{} cores, load {}; {} crates, {} files, {:.1} MB of Rust, each figure the middle of {RUNS}",
        std::thread::available_parallelism().map_or(0, std::num::NonZero::get),
        load(),
        corpus.crates,
        corpus.files,
        as_f64(corpus.bytes) / 1e6,
    ));
    let mut wrong = Vec::new();
    let plain = |more: &[&str]| {
        let mut command = Command::new(&fence);
        command.args(["plugward-fence", "--format", "short", "--manifest-path"]).arg(&place).args(more);
        command
    };
    let alone = middle(&mut || plain(&[]))?;
    line("no crate sees the capability crate", alone, &format!("at most {MOST_ALONE:?}"));
    if alone.wall > MOST_ALONE {
        wrong.push(format!("{:?} where no crate sees the capability crate", alone.wall));
    }
    let all = middle(&mut || plain(&["--assume-all-dependents"]))?;
    line("every crate counts as one that sees it", all, &format!("at most {} MiB", MOST_KILOBYTES / 1024));
    if all.kilobytes > MOST_KILOBYTES {
        wrong.push(format!("{} kB at the peak", all.kilobytes));
    }
    match peer(args) {
        None => say("ast-grep                                  not measured: it is not there"),
        Some((program, version)) => {
            let rule = place.join("rule.yml");
            write(&rule, RULE)?;
            let scan = middle(&mut || {
                let mut command = Command::new(&program);
                command.arg("scan").arg("--rule").arg(&rule).args(["--no-ignore", "hidden"]).arg(&place);
                command
            })?;
            let ratio = all.cpu.as_secs_f64() / scan.cpu.as_secs_f64().max(f64::MIN_POSITIVE);
            line(&format!("{version}, one rule"), scan, "");
            say(&format!("processor time over the peer's: {ratio:.2}, at most {MOST_OF_PEER:.2}"));
            if ratio > MOST_OF_PEER {
                wrong.push(format!("{ratio:.2} of the peer's processor time"));
            }
        }
    }
    Ok(Outcome { looked_at: format!("bench fence: {} files", corpus.files), wrong })
}

fn line(what: &str, took: Took, wanted: &str) {
    let (wall, cpu) = (took.wall.as_secs_f64(), took.cpu.as_secs_f64());
    let mebibytes = as_f64(took.kilobytes) / 1024.0;
    say(&format!("{what:<41} {wall:>7.2} s wall {cpu:>7.2} s processor {mebibytes:>7.1} MiB  {wanted}"));
}

#[expect(clippy::print_stdout, reason = "a command's own output")]
fn say(line: &str) {
    println!("{line}");
}

#[expect(clippy::cast_precision_loss, reason = "figures for people")]
const fn as_f64(value: u64) -> f64 {
    value as f64
}

/// Files with their length.
type Files = Vec<(PathBuf, u64)>;

/// The packages of a workspace that is made of crate sources: a manifest of its own for each, so that no
/// dependency has to be there.
struct Corpus {
    crates: usize,
    files: usize,
    bytes: u64,
}

impl Corpus {
    fn lay_out(sources: &Path, place: &Path) -> Result<Self> {
        if place.exists() {
            std::fs::remove_dir_all(place).context("empty the folder of the bench")?;
        }
        let mut crates: Vec<(u64, PathBuf, Files)> = Vec::new();
        for folder in entries(sources)? {
            let mut files = Files::new();
            rust_files(&folder, &mut files)?;
            files.sort();
            let bytes = files.iter().map(|(_, bytes)| *bytes).sum();
            if bytes > 0 {
                crates.push((bytes, folder, files));
            }
        }
        // The small ones first: many files of many crates, as a large workspace has them.
        crates.sort();
        let mut corpus = Self { crates: 0, files: 0, bytes: 0 };
        for (bytes, folder, files) in &crates {
            if corpus.bytes.saturating_add(*bytes) > BYTES {
                continue;
            }
            let name = format!("crate-{:04}", corpus.crates);
            let own = place.join(&name);
            for (file, _) in files {
                let inside = file.strip_prefix(folder).context("a file of the crate")?;
                copy(file, &own.join(inside))?;
            }
            let usual = own.join("src/lib.rs").exists();
            let first = files.first().and_then(|(file, _)| file.strip_prefix(folder).ok());
            let lib = if usual { Path::new("src/lib.rs") } else { first.unwrap_or(Path::new("src/lib.rs")) };
            let manifest = format!("{}[lib]\npath = {:?}\n", package(&name), lib.to_string_lossy());
            write(&own.join("Cargo.toml"), &manifest)?;
            corpus.crates = corpus.crates.saturating_add(1);
            corpus.files = corpus.files.saturating_add(files.len());
            corpus.bytes = corpus.bytes.saturating_add(*bytes);
        }
        if corpus.bytes < BYTES / 2 {
            bail!("{} holds only {} bytes of Rust", sources.display(), corpus.bytes);
        }
        write(&place.join("caps/Cargo.toml"), &package("caps"))?;
        let caps = "pub struct NetCapability { host: String }\nimpl NetCapability {\n    \
            pub fn mint(host: String) -> Self { Self { host } }\n}\n";
        write(&place.join("caps/src/lib.rs"), caps)?;
        let manifest = "[workspace]\nresolver = \"3\"\nmembers = [\"caps\", \"crate-*\"]\n\
            [workspace.metadata.plugward-fence]\ncapability-crates = [\"caps\"]\n";
        write(&place.join("Cargo.toml"), manifest)?;
        Ok(corpus)
    }
}

fn package(name: &str) -> String {
    format!("[package]\nname = {name:?}\nversion = \"0.1.0\"\nedition = \"2021\"\n")
}

fn entries(folder: &Path) -> Result<Vec<PathBuf>> {
    let listed = std::fs::read_dir(folder).with_context(|| format!("list {}", folder.display()))?;
    let mut found = Vec::new();
    for entry in listed {
        found.push(entry.with_context(|| format!("list {}", folder.display()))?.path());
    }
    found.sort();
    Ok(found)
}

fn rust_files(folder: &Path, found: &mut Files) -> Result<()> {
    if !folder.is_dir() {
        return Ok(());
    }
    for path in entries(folder)? {
        if path.is_symlink() {
            continue;
        }
        if path.is_dir() {
            rust_files(&path, found)?;
        } else if path.extension().is_some_and(|ending| ending == "rs") {
            let bytes = path.metadata().with_context(|| format!("look at {}", path.display()))?.len();
            found.push((path, bytes));
        }
    }
    Ok(())
}

fn write(path: &Path, text: &str) -> Result<()> {
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder).with_context(|| format!("make {}", folder.display()))?;
    }
    std::fs::write(path, text).with_context(|| format!("write {}", path.display()))
}

fn copy(from: &Path, to: &Path) -> Result<()> {
    if let Some(folder) = to.parent() {
        std::fs::create_dir_all(folder).with_context(|| format!("make {}", folder.display()))?;
    }
    std::fs::copy(from, to).with_context(|| format!("copy {}", from.display()))?;
    Ok(())
}

/// The folder of unpacked crates: the one that was given, or the largest of the registry cache.
fn sources(args: &Args) -> Result<PathBuf> {
    if let Some(given) = &args.sources {
        return Ok(given.clone());
    }
    let home = std::env::var_os("CARGO_HOME")
        .map(PathBuf::from)
        .or_else(|| std::env::var_os("HOME").map(|home| PathBuf::from(home).join(".cargo")));
    let cache = home.context("neither CARGO_HOME nor HOME is set")?.join("registry/src");
    let mut registries: Vec<(usize, PathBuf)> = Vec::new();
    for registry in entries(&cache)? {
        registries.push((entries(&registry)?.len(), registry));
    }
    let largest = registries.into_iter().max().context("the registry cache is empty")?;
    Ok(largest.1)
}

/// Builds the fence as it is given away, and gives its program.
fn built() -> Result<PathBuf> {
    let output = Command::new("cargo")
        .args(["build", "--release", "--quiet", "--locked", "-p", "plugward-fence", "--message-format=json"])
        .current_dir(root())
        .stderr(Stdio::inherit())
        .output()
        .context("start cargo build")?;
    if !output.status.success() {
        bail!("cargo build -p plugward-fence: {}", output.status);
    }
    let text = String::from_utf8_lossy(&output.stdout);
    let program = text
        .lines()
        .filter_map(|line| serde_json::from_str::<serde_json::Value>(line).ok())
        .filter_map(|message| message.get("executable")?.as_str().map(PathBuf::from))
        .next_back();
    program.context("cargo built no program")
}

fn peer(args: &Args) -> Option<(OsString, String)> {
    let program = args.peer.clone().map_or_else(|| OsString::from("ast-grep"), PathBuf::into_os_string);
    let output = Command::new(&program).arg("--version").output().ok()?;
    let text = String::from_utf8_lossy(&output.stdout).trim().to_owned();
    text.starts_with("ast-grep").then_some((program, text))
}

/// Runs a command once to warm the page cache, then some times, and gives the middle of each figure.
fn middle(make: &mut dyn FnMut() -> Command) -> Result<Took> {
    once(&mut make())?;
    let mut all = Vec::new();
    for _ in 0..RUNS {
        all.push(once(&mut make())?);
    }
    Ok(Took {
        wall: middle_of(all.iter().map(|took| took.wall).collect()),
        cpu: middle_of(all.iter().map(|took| took.cpu).collect()),
        kilobytes: middle_of(all.iter().map(|took| took.kilobytes).collect()),
    })
}

fn middle_of<T: Ord + Copy + Default>(mut values: Vec<T>) -> T {
    values.sort();
    values.get(values.len() / 2).copied().unwrap_or_default()
}

fn once(command: &mut Command) -> Result<Took> {
    let before = children()?;
    let start = Instant::now();
    let mut child = command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .with_context(|| format!("start {}", command.get_program().display()))?;
    let mut kilobytes = 0;
    let status = loop {
        kilobytes = kilobytes.max(peak(child.id()));
        if let Some(status) = child.try_wait().context("wait for a run")? {
            break status;
        }
        std::thread::sleep(Duration::from_millis(2));
    };
    let wall = start.elapsed();
    // 1: findings, of the fence and of the peer alike.
    if !matches!(status.code(), Some(0 | 1)) {
        bail!("{}: {status}", command.get_program().display());
    }
    Ok(Took { wall, cpu: children()?.saturating_sub(before), kilobytes })
}

/// The most memory that a process has held so far; 0 once it is gone.
fn peak(id: u32) -> u64 {
    let text = std::fs::read_to_string(format!("/proc/{id}/status")).unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap_or_default();
    line.split_whitespace().next().and_then(|number| number.parse().ok()).unwrap_or(0)
}

/// Processor time of the children that have ended, in ticks of 10 ms.
fn children() -> Result<Duration> {
    let stat = std::fs::read_to_string("/proc/self/stat").context("read /proc/self/stat")?;
    let fields = stat.rsplit(')').next().unwrap_or_default();
    let ticks: u64 =
        fields.split_whitespace().skip(13).take(2).filter_map(|field| field.parse::<u64>().ok()).sum();
    Ok(Duration::from_millis(ticks.saturating_mul(10)))
}

/// The load of the last minute, and a word where it is above the number of cores.
fn load() -> String {
    let text = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    let load = text.split_whitespace().next().unwrap_or("unknown").to_owned();
    let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let contended = load.parse::<f64>().is_ok_and(|load| load > as_f64(u64::try_from(cores).unwrap_or(1)));
    if contended { format!("{load} (contended)") } else { load }
}
