//! `plugward scan PATH…`: the scanner alone.

use std::io::Read as _;
use std::num::NonZeroUsize;

use anyhow::{Context as _, anyhow};
use camino::Utf8Path;
use plugward_loader::sandbox_path::{FileKind, Jail, WalkLimits};
use plugward_loader::scanner::render::Render;
use plugward_loader::scanner::{
    Content, Entry, Lens, Profile, RoleHint, RuleFile, Rules, ScanDecision, ScanOptions, ScanReport, State,
    Suppression, gate, render, scan,
};
use plugward_loader::{Digest, Finding, Severity, sha256};

use crate::args::{FailOn, ProfileArg, ReportFormat, ScanArgs};
use crate::escape::line;
use crate::failure::{Failure, usage};
use crate::host::{self, Host};
use crate::json;
use crate::out::{Out, REFUSE, paint};
use crate::settings::Settings;

/// Most bytes of one file, as in a tree.
const FILE: u64 = 256 << 20;
/// Most entries below one folder, and levels.
const ENTRIES: u64 = 1_000_000;
const DEPTH: usize = 256;
/// Most bytes of a rule file.
const RULES: u64 = 1 << 20;

pub(crate) fn run(args: &ScanArgs, host: &Host, out: &mut Out) -> Result<u8, Failure> {
    let more = more_rules(args)?;
    let rules = more.as_ref().unwrap_or_else(|| Rules::builtin());
    if args.self_check {
        return self_check(rules, out);
    }
    let mut files = Vec::new();
    for path in &args.paths {
        collect(path, args, &mut files)?;
    }
    files.sort_by(|a, b| a.path.cmp(&b.path));
    files.dedup_by(|a, b| a.path == b.path);
    let entries: Vec<Entry<'_>> = files.iter().map(File::entry).collect();
    let mut options = ScanOptions::new(match args.profile {
        ProfileArg::StrictPlugin => Profile::StrictPlugin,
        ProfileArg::General => Profile::General,
    });
    options.jobs = args.jobs.unwrap_or(NonZeroUsize::MIN);
    let report = scan(rules, &options, &entries)
        .map_err(|error| anyhow!("scan: {error} ({})\n  next: {}", error.code(), error.help()))?;
    // An entry that names a plugin is for `check`, which knows whose file it is.
    let own = Settings::read(host)?.suppressions.into_iter().filter(|entry| entry.plugin.is_none());
    let own: Vec<Suppression> = own.map(|entry| entry.entry).collect();
    let decision = gate(&report, &own, host::today());
    let exit = exit(&report, &decision, args.fail_on);
    let view = Render { version: env!("CARGO_PKG_VERSION"), report: &report, decision: &decision, exit };
    let text = match args.format {
        ReportFormat::Table => render::table(&view),
        ReportFormat::Json => json::visible(&render::json(&view)),
        ReportFormat::Sarif => json::visible(&render::sarif(&view, rules)),
    };
    out.result(&text)?;
    Ok(exit)
}

/// 6 where a finding of the asked severity is there that nothing suppresses, or where a part was not looked at; 1 where
/// something could not be read at all, whatever was asked: what was not seen is no yes.
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
        _ if is(State::Unreadable) => 1,
        Some(_) if is(State::Partial) || is(State::Special) => 6,
        _ => 0,
    }
}

/// The built-in rules, and those of the files that were named.
fn more_rules(args: &ScanArgs) -> Result<Option<Rules>, Failure> {
    if args.rules.is_empty() {
        return Ok(None);
    }
    let mut texts = Vec::new();
    for path in &args.rules {
        let bytes = host::named_file(path, RULES).map_err(Failure::Usage)?;
        let text = String::from_utf8(bytes).map_err(|error| {
            usage(format!("read {path}: not UTF-8 at byte {}", error.utf8_error().valid_up_to()))
        })?;
        texts.push((path.to_string(), text));
    }
    let files: Vec<RuleFile<'_>> = texts.iter().map(|(name, text)| RuleFile { name, text }).collect();
    Rules::with(&files)
        .map(Some)
        .map_err(|error| usage(format!("load rules: {error} ({})\n  next: {}", error.code(), error.help())))
}

fn self_check(rules: &Rules, out: &mut Out) -> Result<u8, Failure> {
    match rules.self_check() {
        Ok(check) => {
            out.result(&format!("{} rules, {} cases, 0 failed\n", check.rules, check.cases))?;
            Ok(0)
        }
        Err(error) => {
            out.complain(&format!("{} {error} ({})", paint(REFUSE, "error:"), error.code()));
            Ok(2)
        }
    }
}

/// One file to be scanned.
struct File {
    path: String,
    what: What,
    hint: RoleHint,
}

enum What {
    Bytes(Vec<u8>, Digest),
    Link,
    Special,
    Unreadable(String),
}

impl File {
    fn bytes(path: String, bytes: Vec<u8>, hint: RoleHint) -> Self {
        let digest = sha256(&bytes);
        Self { path, what: What::Bytes(bytes, digest), hint }
    }

    fn entry(&self) -> Entry<'_> {
        let content = match &self.what {
            What::Bytes(bytes, digest) => Content::Bytes { bytes, digest: *digest },
            What::Link => Content::Link,
            What::Special => Content::Special,
            What::Unreadable(why) => Content::Unreadable { why },
        };
        Entry { path: &self.path, content, role: self.hint }
    }
}

fn collect(path: &str, args: &ScanArgs, files: &mut Vec<File>) -> Result<(), Failure> {
    let hint = match args.lang.as_deref() {
        None => RoleHint::NONE,
        Some(lang) => RoleHint::lens(lens(lang)?),
    };
    if path == "-" {
        let mut bytes = Vec::new();
        std::io::stdin().lock().take(FILE.saturating_add(1)).read_to_end(&mut bytes)?;
        if u64::try_from(bytes.len()).unwrap_or(u64::MAX) > FILE {
            return Err(Failure::Internal(anyhow!("read standard input: more than {FILE} bytes")));
        }
        files.push(File::bytes("-".to_owned(), bytes, hint));
        return Ok(());
    }
    let path = Utf8Path::new(path);
    let meta = std::fs::metadata(path).with_context(|| format!("find {path}"))?;
    if !meta.is_dir() {
        if !meta.is_file() {
            return Err(Failure::Internal(anyhow!("read {path}: not a regular file")));
        }
        files.push(File::bytes(shown(path), host::named_file(path, FILE)?, hint));
        return Ok(());
    }
    let jail = host::open(path)?;
    below(&jail, &shown(path), hint, files)
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
    lens.ok_or_else(|| usage(format!("read --lang: `{}` is none of {}", line(lang), known.join(", "))))
}

/// A path as the report shows it: never absolute.
fn shown(path: &Utf8Path) -> String {
    if path.is_absolute() {
        return path.file_name().unwrap_or("root").to_owned();
    }
    let parts: Vec<&str> = path.as_str().split('/').filter(|part| !part.is_empty() && *part != ".").collect();
    if parts.is_empty() { ".".to_owned() } else { parts.join("/") }
}

/// Every entry below a folder, in byte order; what cannot be read is an entry too.
fn below(jail: &Jail, label: &str, hint: RoleHint, files: &mut Vec<File>) -> Result<(), Failure> {
    let walk = jail
        .walk(".", WalkLimits { entries: ENTRIES, depth: DEPTH })
        .map_err(|error| anyhow!("list {label}: {error} ({})", error.code()))?;
    for entry in walk {
        let entry = match entry {
            Ok(entry) => entry,
            Err(error) => {
                let what = What::Unreadable(format!("{error} ({})", error.code()));
                // The error names the entry; the number keeps the paths apart.
                let path = format!("{label}/(unreadable {})", files.len());
                files.push(File { path, what, hint });
                continue;
            }
        };
        let path = format!("{label}/{}", String::from_utf8_lossy(entry.path().as_bytes()));
        let path = path.strip_prefix("./").map_or_else(|| path.clone(), str::to_owned);
        match entry.kind() {
            FileKind::Folder => {}
            FileKind::File => match jail.read(entry.path(), FILE) {
                Ok(bytes) => files.push(File::bytes(path, bytes, hint)),
                Err(error) => {
                    let what = What::Unreadable(format!("{error} ({})", error.code()));
                    files.push(File { path, what, hint });
                }
            },
            FileKind::Symlink => files.push(File { path, what: What::Link, hint }),
            _ => files.push(File { path, what: What::Special, hint }),
        }
    }
    Ok(())
}
