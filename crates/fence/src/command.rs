//! The command line as a function, for the binary and for other programs.

use camino::{Utf8Path, Utf8PathBuf};
use lexopt::prelude::{Long, Short, Value};
use std::ffi::OsString;
use std::io::Write;

use crate::FenceError;
use crate::config::{FenceConfig, is_date};
use crate::input::disk;
use crate::input::workspace::{DiskWorkspace, relative};
use crate::report::FenceReport;
use crate::report::render::{Format, escape};
use crate::run::fence::Fence;
use crate::run::{self, RunOptions};

const HELP: &str = "\
Reports code that creates a capability outside its mint.

Usage: cargo plugward-fence [OPTIONS]

Options:
      --manifest-path <PATH>      Manifest or directory of the workspace [default: working directory]
      --config <FILE>             Read the config from FILE and not from the root manifest
      --capability-crate <NAME>   Package that defines capabilities; repeatable, replaces the config's list
      --race-crate <NAME>         Package that defines the race type; repeatable, replaces the config's list
      --assume-all-dependents     Treat every member as a dependent of the capability crates
      --format <FORMAT>           text, short, json, github or sarif [default: text]
      --relative-to <DIR>         Directory that paths are relative to [default: workspace root]
      --today <YYYY-MM-DD>        Day that expiry dates are compared with [default: current day]
      --self-test                 List the planted cases with their results, and exit
  -h, --help                      Print help
  -V, --version                   Print version

The config is [workspace.metadata.plugward-fence] in the root manifest.

Exit codes:
  0  no findings
  1  findings
  2  undecided: wrong arguments or config, an unreadable file, or a failed self-test

Examples:
  # Check the workspace in the working directory
  cargo plugward-fence
  # Upload findings to GitHub code scanning
  cargo plugward-fence --format sarif > fence.sarif
";

/// The output streams of a command, and the day on which it runs.
#[expect(clippy::exhaustive_structs, reason = "callers of the command construct it")]
pub struct Streams<'a> {
    /// Receives the findings.
    pub out: &'a mut dyn Write,
    /// Receives the summary and errors.
    pub err: &'a mut dyn Write,
    /// The current day as `YYYY-MM-DD`.
    pub today: String,
}

impl std::fmt::Debug for Streams<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Streams").field("today", &self.today).finish_non_exhaustive()
    }
}

#[derive(Default)]
struct Arguments {
    manifest: Option<Utf8PathBuf>,
    config: Option<Utf8PathBuf>,
    capability: Vec<String>,
    races: Vec<String>,
    assume_all: bool,
    format: Option<Format>,
    relative_to: Option<Utf8PathBuf>,
    today: Option<String>,
    self_test: bool,
    text: Option<&'static str>,
}

/// Runs the command and returns its exit code. The arguments do not include the program's name.
///
/// # Guarantees
/// The code is that of [`FenceReport::exit_code`], or 2 if an output cannot be written.
pub fn command(arguments: impl IntoIterator<Item = OsString>, streams: &mut Streams<'_>) -> u8 {
    let outcome = run_command(arguments, &streams.today).unwrap_or_else(|error| {
        let text: Vec<String> = error.to_string().lines().map(escape).collect();
        let err = format!(
            "error: failed to {}\n  code: {}\n  help: {}\n",
            text.join("\n"),
            error.code(),
            error.help()
        );
        Outcome { code: 2, out: String::new(), err }
    });
    let written = streams.out.write_all(outcome.out.as_bytes()).and_then(|()| streams.out.flush());
    // If stderr is closed, only the exit code can report the failure.
    let written = written.and(streams.err.write_all(outcome.err.as_bytes()));
    if written.is_err() { 2 } else { outcome.code }
}

/// The output of a command.
struct Outcome {
    code: u8,
    out: String,
    err: String,
}

fn run_command(arguments: impl IntoIterator<Item = OsString>, today: &str) -> Result<Outcome, FenceError> {
    let arguments = parse(arguments)?;
    if let Some(text) = arguments.text {
        return Ok(Outcome { code: 0, out: text.to_owned(), err: String::new() });
    }
    let found = Fence::find(arguments.manifest.as_deref().unwrap_or(".".into()))?;
    let config = config(&arguments, &found, today)?;
    let root = found.root.clone();
    let sources = found.sources(&config);
    let mut report = run::run(&sources, &config, RunOptions::default());
    let cases = crate::selftest::into(&mut report, &config);
    if arguments.self_test {
        return Ok(list_cases(&cases));
    }
    if let Some(base) = &arguments.relative_to {
        rebase(&mut report, &root, &disk::absolute(base)?);
    }
    let mut err = String::new();
    for undecided in report.undecided() {
        err.push_str(&format!("error: {}: {}\n", undecided.code, escape(&undecided.message)));
    }
    err.push_str(&format!("{}\n", report.summary_line()));
    let out = report.render(arguments.format.unwrap_or(Format::Text));
    Ok(Outcome { code: report.exit_code(), out, err })
}

fn config(arguments: &Arguments, found: &DiskWorkspace, today: &str) -> Result<FenceConfig, FenceError> {
    let mut config = match &arguments.config {
        Some(file) => {
            let text = disk::read_text(file)?;
            found.with_default_crate(FenceConfig::parse(&text, file.as_str())?)
        }
        None => found.config()?,
    };
    if !arguments.capability.is_empty() || !arguments.races.is_empty() {
        config.capability_crates.clone_from(&arguments.capability);
        match &mut config.race {
            Some(race) if !arguments.races.is_empty() => race.crates.clone_from(&arguments.races),
            Some(_) => config.race = None,
            None if !arguments.races.is_empty() => {
                let problem = "`--race-crate` requires `race` in the config, with the type and its methods";
                return Err(FenceError::usage(problem));
            }
            None => {}
        }
    }
    config.assume_all_dependents |= arguments.assume_all;
    config.today = Some(arguments.today.clone().unwrap_or_else(|| today.to_owned()));
    Ok(config)
}

fn parse(arguments: impl IntoIterator<Item = OsString>) -> Result<Arguments, FenceError> {
    let mut list: Vec<OsString> = arguments.into_iter().collect();
    // Cargo passes the name of the subcommand as the first argument.
    if list.first().is_some_and(|first| first == "plugward-fence") {
        list.remove(0);
    }
    let mut out = Arguments::default();
    let mut parser = lexopt::Parser::from_args(list);
    let usage = |error: lexopt::Error| FenceError::usage(error.to_string());
    while let Some(argument) = parser.next().map_err(usage)? {
        let name = match &argument {
            Long(name) => format!("--{name}"),
            Short(name) => format!("-{name}"),
            Value(value) => value.to_string_lossy().into_owned(),
        };
        match name.as_str() {
            "--manifest-path" => out.manifest = Some(text(&mut parser, &name)?.into()),
            "--config" => out.config = Some(text(&mut parser, &name)?.into()),
            "--capability-crate" => out.capability.push(text(&mut parser, &name)?),
            "--race-crate" => out.races.push(text(&mut parser, &name)?),
            "--assume-all-dependents" => out.assume_all = true,
            "--format" => {
                let wanted = text(&mut parser, &name)?;
                let known: Vec<&str> = Format::NAMES.iter().map(|(name, _)| *name).collect();
                out.format = Some(Format::from_name(&wanted).ok_or_else(|| {
                    FenceError::usage(format!("--format {wanted:?}: expected one of {}", known.join(", ")))
                })?);
            }
            "--relative-to" => out.relative_to = Some(text(&mut parser, &name)?.into()),
            "--today" => {
                let day = text(&mut parser, &name)?;
                if !is_date(&day) {
                    return Err(FenceError::usage(format!("--today {day:?}: expected YYYY-MM-DD")));
                }
                out.today = Some(day);
            }
            "--self-test" => out.self_test = true,
            "-h" | "--help" => out.text = Some(HELP),
            "-V" | "--version" => {
                out.text = Some(concat!("plugward-fence ", env!("CARGO_PKG_VERSION"), "\n"));
            }
            other => return Err(FenceError::usage(format!("unknown option {other:?}"))),
        }
    }
    Ok(out)
}

fn text(parser: &mut lexopt::Parser, name: &str) -> Result<String, FenceError> {
    let value = parser.value().map_err(|error| FenceError::usage(error.to_string()))?;
    value
        .into_string()
        .map_err(|value| FenceError::usage(format!("{name} is not UTF-8: {}", value.display())))
}

fn list_cases(cases: &[crate::selftest::CaseResult]) -> Outcome {
    let held = cases.iter().filter(|case| case.held).count();
    let line = |case: &crate::selftest::CaseResult| {
        if case.held {
            format!("ok     {}\n", case.name)
        } else {
            format!("MISSED {}: {}\n", case.name, case.note)
        }
    };
    let err = format!("plugward-fence: self-test {held}/{}\n", cases.len());
    Outcome { code: if held == cases.len() { 0 } else { 2 }, out: cases.iter().map(line).collect(), err }
}

/// Makes the report's paths relative to a directory other than the root.
fn rebase(report: &mut FenceReport, root: &Utf8Path, base: &Utf8Path) {
    let moved = |file: &str| relative(base, &root.join(file)).to_string();
    for finding in &mut report.findings {
        finding.site.file = moved(&finding.site.file);
    }
    let excerpts = std::mem::take(&mut report.excerpts);
    report.excerpts = excerpts.into_iter().map(|(file, lines)| (moved(&file), lines)).collect();
    report.sort();
}
