//! `cargo xtask field`: the scanner's findings on public plugin repositories.
//!
//! The repositories are listed in `benches/field.tsv`. They are fetched when needed and never committed.
#![expect(clippy::disallowed_types, reason = "directories and files that the user names")]

mod fetch;
mod judge;
pub(crate) mod labels;
mod list;
mod program;
mod records;
mod report;
mod run;
mod sample;
mod show;
mod tables;
mod tally;
mod tier;

use std::path::PathBuf;

use anyhow::Result;
use clap::{Args, Subcommand};

use list::Split;
use tier::Tier;
use xtask::Outcome;

/// The tasks of the field test.
#[derive(Debug, Clone, Subcommand)]
pub(crate) enum Field {
    /// Fetch the listed repositories
    ///
    /// Each repository of benches/field.tsv is fetched at its commit and written to DIR/OWNER+NAME, without its
    /// history. A repository that is already in DIR at that commit is skipped. If a repository cannot be fetched, the
    /// task names it, fetches the others and exits with 1.
    #[command(after_help = "Examples:\n  \
        cargo xtask field fetch --into ../field\n  \
        cargo xtask field fetch --into ../field --mirrors ../mirrors  # without network access")]
    Fetch(FetchArgs),
    /// Check the fetched repositories and print what the scanner reports
    ///
    /// Runs `plugward check` once per repository, each time with an empty home directory and no pins. The figures of
    /// the scan gate count `scan/danger` as refused and `scan/suspicious` as asked. A plugin that another gate refuses
    /// is counted under "other" and keeps its scan result. The task exits with 1 if a repository is missing, is at
    /// another commit, or takes longer than the time limit.
    #[command(after_help = "Examples:\n  \
        cargo xtask field run --corpus ../field --split tune --out findings.jsonl\n  \
        cargo xtask field run --corpus ../field --repository obra/superpowers  # one repository\n  \
        cargo xtask field run --corpus ../field --markdown > tables.md")]
    Run(RunArgs),
    /// Print a sample of findings to label, or check the labels
    ///
    /// The sample takes the rules in turn, so that a rule with few findings is in it too. The same seed, findings and
    /// labels always give the same sample. Findings that crates/cli/data/field-labels.tsv has a label for are left out. Each
    /// entry ends with a line for that file: fill in the verdict (`attack`, `worth-asking` or `false`) and a reason.
    #[command(after_help = "Examples:\n  \
        cargo xtask field judge --findings findings.jsonl --corpus ../field --seed 1 --count 50\n  \
        cargo xtask field judge --check  # the precision of each rule, from the labels")]
    Judge(JudgeArgs),
}

/// Options of `field fetch`.
#[derive(Debug, Clone, Args)]
pub(crate) struct FetchArgs {
    /// Directory to write the repositories to; created if it does not exist
    #[arg(long, value_name = "DIR")]
    into: PathBuf,
    /// Directory with a local git directory per repository, OWNER+NAME, to read instead of github.com
    #[arg(long, value_name = "DIR")]
    mirrors: Option<PathBuf>,
}

/// Options of `field run`.
#[derive(Debug, Clone, Args)]
pub(crate) struct RunArgs {
    /// Directory that `field fetch` wrote
    #[arg(long, value_name = "DIR")]
    corpus: PathBuf,
    /// Program to run [default: a release build of this workspace]
    #[arg(long, value_name = "FILE")]
    plugward: Option<PathBuf>,
    /// Run the repositories of one split only
    #[arg(long, value_name = "SPLIT")]
    split: Option<Split>,
    /// Run one repository only
    #[arg(long, value_name = "OWNER/NAME")]
    repository: Option<String>,
    /// File to write all findings to, as one JSON object per line
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Print the tables as Markdown
    #[arg(long)]
    markdown: bool,
}

/// Options of `field judge`.
#[derive(Debug, Clone, Args)]
pub(crate) struct JudgeArgs {
    /// File that `field run --out` wrote
    #[arg(long, value_name = "FILE", required_unless_present = "check")]
    findings: Option<PathBuf>,
    /// Directory that `field fetch` wrote, to show the lines around each finding
    #[arg(long, value_name = "DIR", required_unless_present = "check")]
    corpus: Option<PathBuf>,
    /// Number that selects the sample
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// Number of findings in the sample
    #[arg(long, value_name = "N", default_value_t = 40)]
    count: usize,
    /// Sample findings of one rule only
    #[arg(long, value_name = "ID")]
    rule: Option<String>,
    /// Sample findings of one severity only
    #[arg(long, value_name = "SEVERITY")]
    severity: Option<Tier>,
    /// Sample findings of one split only
    #[arg(long, value_name = "SPLIT")]
    split: Option<Split>,
    /// Check crates/cli/data/field-labels.tsv and print the precision of each rule; with --findings, also name labels whose
    /// finding is gone
    #[arg(long, conflicts_with_all = ["corpus", "seed", "count", "rule", "severity", "split"])]
    check: bool,
}

/// Runs one task.
pub(crate) fn run(task: &Field) -> Result<Outcome> {
    match task {
        Field::Fetch(args) => fetch::run(args),
        Field::Run(args) => run::run(args),
        Field::Judge(args) if args.check => judge::check(args),
        Field::Judge(args) => judge::print_sample(args),
    }
}

/// Prints a result to standard output.
#[expect(clippy::print_stdout, reason = "a command's own output")]
fn print(text: &str) {
    print!("{text}");
}
