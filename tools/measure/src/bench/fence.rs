//! Measures the fence on the sources of the local registry cache, next to ast-grep with one comparable rule.
#![expect(
    clippy::disallowed_types,
    clippy::disallowed_methods,
    reason = "a benchmark writes files, starts programs and measures time"
)]

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail};

use xtask::Outcome;
use xtask::root;

/// The size of the measured Rust sources.
const BYTES: u64 = 50_000_000;
/// The number of runs; each figure is their median.
const RUNS: usize = 5;
/// The goals. A fence slower than this would not be run before each commit.
const MOST_ALONE: Duration = Duration::from_millis(300);
const MOST_KILOBYTES: u64 = 100 * 1024;
const MOST_OF_PEER: f64 = 1.0;
/// The rule for ast-grep: a literal of a type whose name ends with `Capability`.
const RULE: &str = "id: made-by-literal\nlanguage: rust\nrule:\n  kind: struct_expression\n  has: { field: name, \
    regex: \"Capability$\" }\n";

/// Options of `bench fence`.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct Args {
    /// Directory of crate sources, one directory per crate [default: the registry cache of cargo]
    #[arg(long)]
    sources: Option<PathBuf>,
    /// The program ast-grep [default: found on PATH, or not measured]
    #[arg(long)]
    peer: Option<PathBuf>,
}

/// The resources that a run used.
#[derive(Debug, Clone, Copy)]
struct Resources {
    wall: Duration,
    cpu: Duration,
    kilobytes: u64,
}

/// Builds the fence, writes the corpus and measures.
pub(crate) fn run(args: &Args) -> Result<Outcome> {
    let fence = built()?;
    // In the target directory, so that no check of this workspace reads the corpus.
    let target = fence.ancestors().nth(2).context("a program in the target directory")?;
    let place = target.join("bench-fence");
    let corpus = Corpus::lay_out(&sources(args)?, &place)?;
    say(&format!(
        "{} cores, load {}; {} crates, {} files, {:.1} MB of Rust, medians of {RUNS} runs",
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
        wrong.push(format!(
            "{:?} if no crate sees the capability crate, the goal is {MOST_ALONE:?}",
            alone.wall
        ));
    }
    let all = middle(&mut || plain(&["--assume-all-dependents"]))?;
    line("every crate counts as one that sees it", all, &format!("at most {} MiB", MOST_KILOBYTES / 1024));
    if all.kilobytes > MOST_KILOBYTES {
        wrong.push(format!("{} kB of memory, the goal is {MOST_KILOBYTES} kB", all.kilobytes));
    }
    match peer(args) {
        None => say("ast-grep                                  not measured: not found"),
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
            say(&format!("processor time relative to ast-grep: {ratio:.2}, at most {MOST_OF_PEER:.2}"));
            if ratio > MOST_OF_PEER {
                wrong.push(format!("{ratio:.2} of the processor time of ast-grep"));
            }
        }
    }
    Ok(Outcome { looked_at: format!("bench fence: {} files", corpus.files), wrong })
}

fn line(label: &str, took: Resources, wanted: &str) {
    let (wall, cpu) = (took.wall.as_secs_f64(), took.cpu.as_secs_f64());
    let mebibytes = as_f64(took.kilobytes) / 1024.0;
    say(&format!("{label:<41} {wall:>7.2} s wall {cpu:>7.2} s processor {mebibytes:>7.1} MiB  {wanted}"));
}

#[expect(clippy::print_stdout, reason = "a command's own output")]
fn say(line: &str) {
    println!("{line}");
}

#[expect(clippy::cast_precision_loss, reason = "printed figures need no more digits")]
const fn as_f64(value: u64) -> f64 {
    value as f64
}

/// Files with their length.
type Files = Vec<(PathBuf, u64)>;

/// A workspace made of crate sources. Each crate gets a new manifest, so that no dependency is needed.
struct Corpus {
    crates: usize,
    files: usize,
    bytes: u64,
}

impl Corpus {
    fn lay_out(sources: &Path, place: &Path) -> Result<Self> {
        if place.exists() {
            std::fs::remove_dir_all(place).context("remove the corpus of an earlier run")?;
        }
        let mut crates: Vec<(u64, PathBuf, Files)> = Vec::new();
        for directory in entries(sources)? {
            let mut files = Files::new();
            rust_files(&directory, &mut files)?;
            files.sort();
            let bytes = files.iter().map(|(_, bytes)| *bytes).sum();
            if bytes > 0 {
                crates.push((bytes, directory, files));
            }
        }
        // Small crates first: a large workspace consists of many small crates.
        crates.sort();
        let mut corpus = Self { crates: 0, files: 0, bytes: 0 };
        for (bytes, directory, files) in &crates {
            if corpus.bytes.saturating_add(*bytes) > BYTES {
                continue;
            }
            let name = format!("crate-{:04}", corpus.crates);
            let own = place.join(&name);
            for (file, _) in files {
                let inside = file.strip_prefix(directory).context("a file of the crate")?;
                copy(file, &own.join(inside))?;
            }
            let usual = own.join("src/lib.rs").exists();
            let first = files.first().and_then(|(file, _)| file.strip_prefix(directory).ok());
            let lib = if usual { Path::new("src/lib.rs") } else { first.unwrap_or(Path::new("src/lib.rs")) };
            let manifest = format!("{}[lib]\npath = {:?}\n", package(&name), lib.to_string_lossy());
            write(&own.join("Cargo.toml"), &manifest)?;
            corpus.crates = corpus.crates.saturating_add(1);
            corpus.files = corpus.files.saturating_add(files.len());
            corpus.bytes = corpus.bytes.saturating_add(*bytes);
        }
        if corpus.bytes < BYTES / 2 {
            bail!("{} contains only {} bytes of Rust", sources.display(), corpus.bytes);
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

fn entries(directory: &Path) -> Result<Vec<PathBuf>> {
    let listed = std::fs::read_dir(directory).with_context(|| format!("list {}", directory.display()))?;
    let mut found = Vec::new();
    for entry in listed {
        found.push(entry.with_context(|| format!("list {}", directory.display()))?.path());
    }
    found.sort();
    Ok(found)
}

fn rust_files(directory: &Path, found: &mut Files) -> Result<()> {
    if !directory.is_dir() {
        return Ok(());
    }
    for path in entries(directory)? {
        if path.is_symlink() {
            continue;
        }
        if path.is_dir() {
            rust_files(&path, found)?;
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let bytes =
                path.metadata().with_context(|| format!("read the metadata of {}", path.display()))?.len();
            found.push((path, bytes));
        }
    }
    Ok(())
}

fn write(path: &Path, text: &str) -> Result<()> {
    if let Some(directory) = path.parent() {
        std::fs::create_dir_all(directory).with_context(|| format!("create {}", directory.display()))?;
    }
    std::fs::write(path, text).with_context(|| format!("write {}", path.display()))
}

fn copy(from: &Path, to: &Path) -> Result<()> {
    if let Some(directory) = to.parent() {
        std::fs::create_dir_all(directory).with_context(|| format!("create {}", directory.display()))?;
    }
    std::fs::copy(from, to).with_context(|| format!("copy {}", from.display()))?;
    Ok(())
}

/// Returns the directory of crate sources: the given one, or the largest in the registry cache.
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

/// Builds the fence in release mode and returns the path of the program.
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

/// Runs a command once to warm the page cache, then `RUNS` times. Returns the median of each figure.
fn middle(make: &mut dyn FnMut() -> Command) -> Result<Resources> {
    once(&mut make())?;
    let mut all = Vec::new();
    for _ in 0..RUNS {
        all.push(once(&mut make())?);
    }
    Ok(Resources {
        wall: middle_of(all.iter().map(|took| took.wall).collect()),
        cpu: middle_of(all.iter().map(|took| took.cpu).collect()),
        kilobytes: middle_of(all.iter().map(|took| took.kilobytes).collect()),
    })
}

fn middle_of<T: Ord + Copy + Default>(mut values: Vec<T>) -> T {
    values.sort();
    values.get(values.len() / 2).copied().unwrap_or_default()
}

fn once(command: &mut Command) -> Result<Resources> {
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
    // The fence and ast-grep exit with 1 if they have findings.
    if !matches!(status.code(), Some(0 | 1)) {
        bail!("{}: {status}", command.get_program().display());
    }
    Ok(Resources { wall, cpu: children()?.saturating_sub(before), kilobytes })
}

/// Returns the peak memory of a process so far; 0 if it has ended.
fn peak(id: u32) -> u64 {
    let text = std::fs::read_to_string(format!("/proc/{id}/status")).unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap_or_default();
    line.split_whitespace().next().and_then(|number| number.parse().ok()).unwrap_or(0)
}

/// Returns the processor time of the child processes that have ended. The kernel counts it in ticks of 10 ms.
fn children() -> Result<Duration> {
    let stat = std::fs::read_to_string("/proc/self/stat").context("read /proc/self/stat")?;
    let fields = stat.rsplit(')').next().unwrap_or_default();
    let ticks: u64 =
        fields.split_whitespace().skip(13).take(2).filter_map(|field| field.parse::<u64>().ok()).sum();
    Ok(Duration::from_millis(ticks.saturating_mul(10)))
}

/// Returns the load of the last minute, marked if it exceeds the number of cores.
fn load() -> String {
    let text = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    let load = text.split_whitespace().next().unwrap_or("unknown").to_owned();
    let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let contended = load.parse::<f64>().is_ok_and(|load| load > as_f64(u64::try_from(cores).unwrap_or(1)));
    if contended { format!("{load} (contended)") } else { load }
}
