//! `plugward scan PATH…`: scans files and directories without the other gates.

mod render;

use std::collections::{BTreeMap, BTreeSet};
use std::io::Read as _;
use std::num::NonZeroUsize;

use camino::{Utf8Path, Utf8PathBuf};
use plugward_loader::sandbox_path::{FileKind, Jail, WalkLimits};
use plugward_loader::scanner::render::{self as machine, Render};
use plugward_loader::scanner::{
    Content, Entry, EntryState, Lens, MatchCache, Profile, RoleHint, Rules, ScanDecision, ScanOptions,
    ScanReport, Suppression, gate, scan,
};
use plugward_loader::{Digest, FileRole, Finding, ScanPack, Severity, sha256};

use crate::args::{FailOn, ProfileArg, ReportFormat, ScanArgs};
use crate::diagnostic::Diagnostic;
use crate::failure::Failure;
use crate::host::{self, Host};
use crate::json;
use crate::out::Out;
use crate::report::Detail;
use crate::sarif;
use crate::settings::Settings;
use crate::stores;
use crate::verbs::shared::quoted;

/// The most bytes of one file, as in a tree.
const FILE: u64 = 256 << 20;
/// The most entries inside a directory. A scan without a limit could run forever on a mounted file system.
const ENTRIES: u64 = 1_000_000;
/// The most levels of directories.
const DEPTH: usize = 256;
/// The size below which scan records are not used: scanning so little is faster than reading them.
const SMALL: usize = 64 << 10;

pub(crate) fn run(args: &ScanArgs, host: &Host, out: &mut Out) -> Result<u8, Failure> {
    let settings = Settings::read(host)?;
    let more = settings.rules(&args.rules)?;
    let rules = more.as_ref().unwrap_or_else(|| Rules::builtin());
    if args.self_check {
        return self_check(rules, out);
    }
    let mut found = ScanInput::default();
    for path in &args.paths {
        collect(path, args, &mut found)?;
    }
    let mut files = found.files;
    // The order of the arguments must not change the report.
    files.sort_by(|a, b| a.path.cmp(&b.path));
    let entries: Vec<Entry<'_>> = files.iter().map(File::entry).collect();
    let asked = args.profile.map(|profile| match profile {
        ProfileArg::StrictPlugin => Profile::StrictPlugin,
        ProfileArg::General => Profile::General,
    });
    let mut options = ScanOptions::new(asked.or(settings.profile).unwrap_or(Profile::General));
    options.packages = &settings.packages;
    options.jobs = args.jobs.unwrap_or(NonZeroUsize::MIN);
    let records = records(args, &entries, host, out);
    options.cache = records.as_ref().map(|pack| pack as &dyn MatchCache);
    let report = scan(rules, &options, &entries).map_err(|error| {
        Failure::internal(format!("cannot scan: {error}")).code(error.code()).help(error.help())
    })?;
    if let Some(Err(error)) = records.as_ref().map(ScanPack::keep) {
        stores::unrecorded(out, error.into());
    }
    // Entries that name a plugin apply in `check` only. A scan does not know which plugin a file belongs to.
    let own = settings.suppressions.iter().filter(|entry| entry.plugin.is_none());
    let own: Vec<Suppression> = own.map(|entry| entry.entry.clone()).collect();
    let decision = gate(&report, &own, host::today());
    let exit = exit(&report, &decision, args.fail_on);
    let view = Render { version: env!("CARGO_PKG_VERSION"), report: &report, decision: &decision, exit };
    let text = match args.format {
        ReportFormat::Table => {
            let again: Vec<String> = args.paths.iter().map(|path| quoted(path)).collect();
            render::render(&render::View {
                report: &report,
                decision: &decision,
                rules,
                again: &again.join(" "),
                detail: if out.loudness > 0 { Detail::Full } else { Detail::Brief },
                width: out.width,
            })
        }
        ReportFormat::Json => json::visible(&machine::json(&view)),
        ReportFormat::Sarif => json::visible(&sarif::scan(&report, &decision, rules, &from_project(), exit)),
    };
    out.result(&text)?;
    Ok(exit)
}

/// Returns the path from the project to the working directory, at which relative paths start.
fn from_project() -> String {
    let root = host::root(Utf8Path::new(".")).ok();
    let inside = root.and_then(|root| {
        let project = plugward_loader::project_of(&root)?;
        root.real().relative_to(&project).map(str::to_owned)
    });
    inside.unwrap_or_default()
}

/// Opens the records of earlier scans of these paths, unless they would cost more time than they save.
fn records(args: &ScanArgs, entries: &[Entry<'_>], host: &Host, out: &Out) -> Option<ScanPack> {
    let size = |entry: &Entry<'_>| match entry.content {
        Content::Bytes { bytes, .. } => bytes.len(),
        _ => 0,
    };
    let bytes = entries.iter().fold(0_usize, |sum, entry| sum.saturating_add(size(entry)));
    if args.no_cache || bytes < SMALL {
        return None;
    }
    let paths = args.paths.iter().map(Utf8Path::new).filter(|path| *path != "-");
    stores::records(host, "scan", paths).map_err(|error| stores::unrecorded(out, error)).ok()
}

/// Returns 6 for an open finding of the severity of `--fail-on`, or if a part was not scanned, and 1 for an unreadable file.
///
/// An unreadable file counts even with `--fail-on never`, because a scan that saw nothing must not succeed.
fn exit(report: &ScanReport, decision: &ScanDecision, fail_on: FailOn) -> u8 {
    let least = match fail_on {
        FailOn::Danger => Some(Severity::Danger),
        FailOn::Warning => Some(Severity::Warning),
        FailOn::Info => Some(Severity::Info),
        FailOn::Never => None,
    };
    let passed = |finding: &Finding| decision.suppressed.iter().any(|one| one.finding == *finding);
    let bad = |least| report.findings().iter().any(|finding| finding.severity >= least && !passed(finding));
    let is = |state| report.files().iter().any(|file| file.state == state);
    match least {
        Some(least) if bad(least) => 6,
        _ if is(EntryState::Unreadable) => 1,
        Some(_) if is(EntryState::Partial) || is(EntryState::Special) => 6,
        _ => 0,
    }
}

fn self_check(rules: &Rules, out: &mut Out) -> Result<u8, Failure> {
    let start = host::moment();
    match rules.self_check() {
        Ok(check) => {
            let took = start.elapsed().as_millis();
            out.result(&format!("{} rules, {} cases, 0 failed, {took} ms\n", check.rules, check.cases))?;
            Ok(0)
        }
        Err(first) => {
            let mut all = rules.failing_cases();
            if all.is_empty() {
                all.push(first);
            }
            for error in &all {
                out.report(&Diagnostic::error(error.to_string()).code(error.code()));
            }
            out.complain(&format!("{} cases failed", all.len()));
            Ok(2)
        }
    }
}

/// One file to be scanned.
struct File {
    path: String,
    content: FileContent,
    hint: RoleHint,
}

enum FileContent {
    Bytes(Vec<u8>, Digest),
    Link,
    Special,
    Unreadable(String),
}

impl File {
    fn bytes(path: String, bytes: Vec<u8>, hint: RoleHint) -> Self {
        let digest = sha256(&bytes);
        Self { path, content: FileContent::Bytes(bytes, digest), hint }
    }

    fn entry(&self) -> Entry<'_> {
        let content = match &self.content {
            FileContent::Bytes(bytes, digest) => Content::Bytes { bytes, digest: *digest },
            FileContent::Link => Content::Link,
            FileContent::Special => Content::Special,
            FileContent::Unreadable(why) => Content::Unreadable { why },
        };
        Entry { path: &self.path, content, role: self.hint }
    }
}

/// The files to scan. A file that is named twice is in it once.
#[derive(Default)]
struct ScanInput {
    files: Vec<File>,
    /// The full paths of the files that are in it already.
    seen: BTreeSet<Vec<u8>>,
    /// The directory of each label, so that two directories with one name get different labels.
    labels: BTreeMap<String, Utf8PathBuf>,
}

impl ScanInput {
    /// Adds a file, unless it was named before.
    fn add(&mut self, at: Vec<u8>, file: File) {
        if self.seen.insert(at) {
            self.files.push(file);
        }
    }

    /// Returns the label of a path in the report.
    fn label(&mut self, path: &Utf8Path, real: &Utf8Path) -> String {
        let plain = shown(path);
        let mut label = plain.clone();
        let mut number = 1_u32;
        while self.labels.get(&label).is_some_and(|other| other != real) {
            number = number.saturating_add(1);
            // The number is in front, because the file name and extension decide the language and role.
            label = format!("({number})/{plain}");
        }
        self.labels.insert(label.clone(), real.to_owned());
        label
    }
}

fn collect(path: &str, args: &ScanArgs, found: &mut ScanInput) -> Result<(), Failure> {
    let hint = match args.lang.as_deref() {
        None => RoleHint::NONE,
        Some(lang) => RoleHint::lens(lens(lang)?),
    };
    if path == "-" {
        let mut bytes = Vec::new();
        std::io::stdin().lock().take(FILE.saturating_add(1)).read_to_end(&mut bytes)?;
        if u64::try_from(bytes.len()).unwrap_or(u64::MAX) > FILE {
            return Err(Failure::internal(format!("standard input has more than {FILE} bytes")));
        }
        if args.lang.is_none() {
            return Err(
                Failure::usage("the language of standard input is not known").help("name it: --lang sh")
            );
        }
        found.add(b"-".to_vec(), File::bytes("-".to_owned(), bytes, alone("-", hint)));
        return Ok(());
    }
    let path = Utf8Path::new(path);
    let meta = std::fs::metadata(path).map_err(|error| host::unreachable(path, &error))?;
    let real = host::real_path(path)?;
    if !meta.is_dir() {
        if !meta.is_file() {
            return Err(Failure::usage(format!("not a regular file: {path}")));
        }
        let label = found.label(path, &real);
        let hint = alone(&label, hint);
        found.add(real.into_string().into_bytes(), File::bytes(label, host::named_file(path, FILE)?, hint));
        return Ok(());
    }
    let jail = host::open(path)?;
    let label = found.label(path, &real);
    collect_inside(&jail, &label, &real, hint, found)
}

/// Returns the role of a single file: it is scanned as if a host ran it or a model read it.
fn alone(path: &str, hint: RoleHint) -> RoleHint {
    let prose = [".md", ".mdx", ".mdc", ".markdown", ".txt", ".rst", ".adoc"];
    let lower = path.to_ascii_lowercase();
    if prose.iter().any(|extension| lower.ends_with(extension)) {
        hint.used_as(FileRole::ModelRead)
    } else {
        hint.used_as(FileRole::Executed)
    }
}

fn lens(lang: &str) -> Result<Lens, Failure> {
    let lens = match lang {
        "ts" | "tsx" | "jsx" | "mjs" | "javascript" | "typescript" => Some(Lens::Js),
        "python" => Some(Lens::Py),
        "bash" | "shell" | "zsh" => Some(Lens::Sh),
        "rust" => Some(Lens::Rs),
        "json" | "toml" | "yaml" => Some(Lens::Data),
        "md" | "markdown" | "text" => Some(Lens::Prose),
        other => Lens::from_name(other),
    };
    let known: Vec<&str> = Lens::ALL.iter().map(|lens| lens.as_str()).collect();
    lens.ok_or_else(|| {
        Failure::usage(format!("unknown language: {lang}")).help(format!("use one of {}", known.join(", ")))
    })
}

/// Returns a path for the report, which contains no absolute paths.
fn shown(path: &Utf8Path) -> String {
    if path.is_absolute() {
        return path.file_name().unwrap_or("root").to_owned();
    }
    let parts: Vec<&str> = path.as_str().split('/').filter(|part| !part.is_empty() && *part != ".").collect();
    if parts.is_empty() { ".".to_owned() } else { parts.join("/") }
}

/// Returns a name inside a directory for the report. Invalid UTF-8 becomes `\xNN`, so that different names stay different.
fn spelled(name: &[u8]) -> String {
    let mut out = String::new();
    for chunk in name.utf8_chunks() {
        out.push_str(chunk.valid());
        out.extend(chunk.invalid().iter().map(|byte| format!("\\x{byte:02x}")));
    }
    out
}

/// Adds every entry inside a directory in byte order. An entry that cannot be read is added too, as unreadable.
fn collect_inside(
    jail: &Jail,
    label: &str,
    real: &Utf8Path,
    hint: RoleHint,
    found: &mut ScanInput,
) -> Result<(), Failure> {
    let walk = jail
        .walk(".", WalkLimits { entries: ENTRIES, depth: DEPTH })
        .map_err(|error| Failure::internal(format!("cannot list {label}: {error}")).code(error.code()))?;
    let at = |name: &[u8]| [real.as_str().as_bytes(), b"/", name].concat();
    for entry in walk {
        let entry = match entry {
            Ok(entry) => entry,
            Err(error) => {
                let content = FileContent::Unreadable(format!("{error} ({})", error.code()));
                // The error names the entry. The number makes the path unique.
                let path = format!("{label}/(unreadable {})", found.files.len());
                found.add(path.clone().into_bytes(), File { path, content, hint });
                continue;
            }
        };
        let name = entry.path().as_bytes();
        let path = format!("{label}/{}", spelled(name));
        let path = path.strip_prefix("./").map_or_else(|| path.clone(), str::to_owned);
        let content = match entry.kind() {
            FileKind::Directory => continue,
            FileKind::File => match jail.read(entry.path(), FILE) {
                Ok(bytes) => {
                    found.add(at(name), File::bytes(path, bytes, hint));
                    continue;
                }
                Err(error) => FileContent::Unreadable(format!("{error} ({})", error.code())),
            },
            FileKind::Symlink => {
                follow(jail, real, name, &path, hint, found);
                continue;
            }
            _ => FileContent::Special,
        };
        found.add(at(name), File { path, content, hint });
    }
    Ok(())
}

/// Adds what a symlink leads to. A directory inside the argument is scanned at its own place, and a file inside it also
/// under the name of the symlink, which can decide how it is used.
fn follow(jail: &Jail, real: &Utf8Path, name: &[u8], path: &str, hint: RoleHint, found: &mut ScanInput) {
    use std::os::unix::ffi::OsStrExt as _;
    let place = std::path::Path::new(real.as_str()).join(std::ffi::OsStr::from_bytes(name));
    #[expect(clippy::disallowed_methods, reason = "names the target; the file is read through the jail")]
    let inside = std::fs::canonicalize(place).map(|target| {
        let inside = target.strip_prefix(real.as_str()).map(|inside| inside.as_os_str().as_bytes().to_vec());
        (target.is_dir(), inside.ok())
    });
    let content = match inside {
        Ok((false, Some(target))) => {
            match core::str::from_utf8(&target).map(|target| jail.read(target, FILE)) {
                Ok(Ok(bytes)) => {
                    let file = File::bytes(path.to_owned(), bytes, hint);
                    return found.add([real.as_str().as_bytes(), b"/", name].concat(), file);
                }
                Ok(Err(error)) => FileContent::Unreadable(format!("{error} ({})", error.code())),
                Err(_) => FileContent::Unreadable("its symlink leads to a name that is not UTF-8".to_owned()),
            }
        }
        Ok((_, None)) => FileContent::Unreadable("a symlink to a place outside of the directory".to_owned()),
        // A directory, or nothing.
        Ok((true, Some(_))) | Err(_) => FileContent::Link,
    };
    found.add([real.as_str().as_bytes(), b"/", name].concat(), File { path: path.to_owned(), content, hint });
}
