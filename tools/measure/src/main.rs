//! Measurements that `cargo xtask` starts: `bench`, `corpus`, `field`, `peers` and `screenshots`.

mod bench;
mod corpus;
mod field;
mod peers;
mod screenshots;

use std::process::ExitCode;

use clap::{Parser, Subcommand};
use xtask::{Outcome, finish};

/// Measure plugward and other programs
///
/// A task prints a line for each error and a summary. It exits with 1 if there is an error, and with 2 if it cannot run.
#[derive(Debug, Parser)]
#[command(name = "xtask", bin_name = "cargo xtask")]
struct Args {
    #[command(subcommand)]
    task: Task,
}

#[derive(Debug, Clone, Subcommand)]
enum Task {
    /// Measure a crate next to comparable programs
    Bench {
        #[command(subcommand)]
        task: bench::Bench,
    },
    /// Fetch the packages of benches/corpus.lock and unpack their scripts
    Corpus {
        /// Fetch only packages whose name or group contains this text
        #[arg(long)]
        only: Option<String>,
    },
    /// Run the scanner on public plugin repositories and measure its findings
    Field {
        #[command(subcommand)]
        task: field::Field,
    },
    /// Run other programs and print what they do with plugins
    Peers {
        #[command(subcommand)]
        task: peers::Peers,
    },
    /// Draw the HTML report of the examples into docs/images, with headless Chromium
    Screenshots {
        /// Browser to start
        #[arg(long, default_value = "chromium")]
        browser: std::ffi::OsString,
    },
}

fn main() -> ExitCode {
    let outcome = match Args::parse().task {
        Task::Bench { task } => return finish(bench::run(&task)),
        Task::Corpus { only } => corpus::fetch(only.as_deref()),
        Task::Field { task } => field::run(&task),
        Task::Peers { task } => peers::run(&task),
        Task::Screenshots { browser } => screenshots::run(&browser),
    };
    finish(outcome.map(Outcome::print))
}
