//! One measured job over a folder of files, as a process of its own: `cargo xtask bench scan` starts it.
//!
//! `scan_bench read|stage1|stage2|many|many-bytes|rules|findings [--patterns FILE] [--jobs N] -- FOLDER…` prints the files, the bytes, what
//! was found and the peak of memory.
#![expect(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    clippy::print_stdout,
    clippy::arithmetic_side_effects,
    reason = "a program beside the crate: it reads the corpus and prints"
)]

use std::collections::VecDeque;
use std::error::Error;
use std::io::Read as _;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

use plugward_scanner::{Content, Engine, Entry, Oracle, Profile, RoleHint, Rules, ScanOptions, scan};
use plugward_types::Digest;
use regex_automata::meta::Regex;
use regex_automata::util::syntax;

/// A batch for one call of `scan` ends at this many bytes: in one thread little is held at once; more threads get what a plugin
/// of some size holds, for each call ends with its slowest file.
const BATCH: usize = 1 << 20;
const BATCH_OF_THREADS: usize = 64 << 20;

/// A buffer is so much longer than the file that is read.
const MORE: usize = 64 << 10;

/// How a peer reads classes and word ends.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Alphabet {
    Unicode,
    Ascii,
}

/// What is printed of the findings.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Told {
    Counted,
    Listed,
}

/// What a job went over, and what it found.
#[derive(Default)]
struct Sum {
    files: usize,
    bytes: usize,
    found: usize,
}

type Outcome<T> = Result<T, Box<dyn Error>>;

fn main() -> Outcome<()> {
    let mut args: VecDeque<String> = std::env::args().skip(1).collect();
    let task = args.pop_front().ok_or("no job was named")?;
    let (mut patterns, mut jobs) = (None, NonZeroUsize::MIN);
    while let Some(name) = args.pop_front().filter(|name| name != "--") {
        let value = args.pop_front().ok_or("a flag without a value")?;
        match name.as_str() {
            "--patterns" => patterns = Some(value),
            "--jobs" => jobs = value.parse()?,
            other => return Err(format!("{other} is no flag").into()),
        }
    }
    let packages = packages(args.make_contiguous())?;
    let sources = patterns.map(|file| read_patterns(&file)).transpose()?.unwrap_or_default();
    let sum = match task.as_str() {
        "read" => each(&packages, |hay| usize::from(hay.first() == Some(&0)))?,
        "stage1" => with_engine(&packages, &sources, Engine::Stage1)?,
        "stage2" => with_engine(&packages, &sources, Engine::Stage2)?,
        "many" | "many-bytes" => {
            let alphabet = if task == "many" { Alphabet::Unicode } else { Alphabet::Ascii };
            let regex = build_many(&sources, alphabet)?;
            each(&packages, |hay| regex.find_iter(hay).count())?
        }
        "rules" => with_rules(&packages, jobs, Told::Counted)?,
        "findings" => with_rules(&packages, jobs, Told::Listed)?,
        other => return Err(format!("{other} is no job").into()),
    };
    let Sum { files, bytes, found } = sum;
    println!("{files} files, {bytes} bytes, {found} found, {} KiB at most", peak()?);
    Ok(())
}

/// The peak of this process's memory in KiB, as the kernel says.
fn peak() -> Outcome<String> {
    let status = std::fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap_or_default();
    Ok(line.split_whitespace().next().unwrap_or("?").to_owned())
}

/// What lies in the folders, each as one package: the paths of one alone are held at once.
fn packages(folders: &[String]) -> Outcome<Vec<PathBuf>> {
    let mut packages = Vec::new();
    for folder in folders {
        if Path::new(folder).is_file() {
            packages.push(PathBuf::from(folder));
            continue;
        }
        for entry in std::fs::read_dir(folder)? {
            packages.push(entry?.path());
        }
    }
    packages.sort();
    Ok(packages)
}

/// Gives the files of a package in the order of their paths.
fn list(package: &Path) -> Outcome<Vec<PathBuf>> {
    let mut files = Vec::new();
    add(package, &mut files)?;
    files.sort_by(|a, b| a.as_os_str().cmp(b.as_os_str()));
    Ok(files)
}

fn add(folder: &Path, files: &mut Vec<PathBuf>) -> Outcome<()> {
    if folder.is_file() {
        files.push(folder.to_owned());
        return Ok(());
    }
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            add(&entry.path(), files)?;
        } else {
            files.push(entry.path());
        }
    }
    Ok(())
}

fn read_patterns(file: &str) -> Outcome<Vec<String>> {
    let text = std::fs::read_to_string(file)?;
    Ok(text.lines().filter_map(|line| line.split_once('\t')).map(|(_, pattern)| pattern.to_owned()).collect())
}

/// Reads each file into the same buffer and hands it on.
fn each(packages: &[PathBuf], mut look: impl FnMut(&[u8]) -> usize) -> Outcome<Sum> {
    let mut sum = Sum::default();
    let mut hay = Vec::new();
    for package in packages {
        for file in list(package)? {
            let len = read(&file, &mut hay)?;
            let hay = hay.get(..len).unwrap_or_default();
            sum.files += 1;
            sum.bytes += hay.len();
            sum.found += look(hay);
        }
    }
    Ok(sum)
}

/// Reads a file into a buffer that only grows, so that nothing is cleared before it is read over; gives its length. One read
/// gives what the file's size says, the next one its end.
fn read(file: &Path, buffer: &mut Vec<u8>) -> Outcome<usize> {
    let mut file = std::fs::File::open(file)?;
    let size = usize::try_from(file.metadata()?.len())?;
    let mut len = 0;
    loop {
        if buffer.len() <= size.max(len) {
            buffer.resize(size.max(len) + MORE, 0);
        }
        match file.read(buffer.get_mut(len..).unwrap_or_default())? {
            0 => return Ok(len),
            more => len += more,
        }
    }
}

fn with_engine(packages: &[PathBuf], sources: &[String], engine: Engine) -> Outcome<Sum> {
    let sources: Vec<&str> = sources.iter().map(String::as_str).collect();
    let oracle = Oracle::new(&sources)?;
    each(packages, |hay| oracle.count(engine, hay))
}

/// All patterns as one, read as ripgrep reads them, or with classes and word ends of ASCII alone.
fn build_many(sources: &[String], alphabet: Alphabet) -> Outcome<Regex> {
    let config = syntax::Config::new().utf8(false).unicode(alphabet == Alphabet::Unicode).multi_line(true);
    let settings = Regex::config().utf8_empty(false);
    Ok(Regex::builder().syntax(config).configure(settings).build_many(sources)?)
}

/// Reads and scans in batches, so that what is held at once does not grow with the corpus.
fn with_rules(packages: &[PathBuf], jobs: NonZeroUsize, told: Told) -> Outcome<Sum> {
    let mut options = ScanOptions::new(Profile::General);
    options.jobs = jobs;
    let most = if jobs.get() > 1 { BATCH_OF_THREADS } else { BATCH };
    let (mut sum, mut batch) = (Sum::default(), Batch::default());
    for package in packages {
        for file in list(package)? {
            let buffer = std::fs::read(&file)?;
            batch.bytes += buffer.len();
            batch.files.push((file, buffer));
            if batch.bytes >= most {
                batch.scan(&options, told, &mut sum)?;
            }
        }
    }
    batch.scan(&options, told, &mut sum)?;
    Ok(sum)
}

/// Files that one call of `scan` gets.
#[derive(Default)]
struct Batch {
    files: Vec<(PathBuf, Vec<u8>)>,
    bytes: usize,
}

impl Batch {
    /// Scans what was read and forgets it.
    fn scan(&mut self, options: &ScanOptions<'_>, told: Told, sum: &mut Sum) -> Outcome<()> {
        fn entry((path, bytes): &(PathBuf, Vec<u8>)) -> Entry<'_> {
            Entry {
                path: path.to_str().unwrap_or_default(),
                content: Content::Bytes { bytes, digest: Digest::from_bytes([0; 32]) },
                role: RoleHint::NONE,
            }
        }
        let entries: Vec<Entry<'_>> = self.files.iter().map(entry).collect();
        let report = scan(Rules::builtin(), options, &entries)?;
        for finding in report.findings().iter().filter(|_| told == Told::Listed) {
            let place = (&finding.path, finding.line, finding.column);
            println!("{place:?} {:?} {} {:?} {}", finding.span, finding.rule, finding.how, finding.severity);
        }
        sum.files += self.files.len();
        sum.bytes += self.bytes;
        sum.found += report.findings().len();
        *self = Self::default();
        Ok(())
    }
}
