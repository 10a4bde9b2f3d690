//! Tasks of this repository: checks (`layers`, `deny`, `docs`, `fence`, `threats`, `words`) and measurements (`sizes`, `corpus`, `bench`, `field`, `peers`).

mod attacks;
mod bench;
mod corpus;
mod deny;
mod docs;
mod field;
mod hosts;
mod layers;
mod metadata;
mod peers;
mod screenshots;
mod sizes;
mod threats;
mod words;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// Checks and measurements of this repository
///
/// A check prints a line for each error and a summary. It exits with 1 if there is an error, and with 2 if it cannot run.
#[derive(Debug, Parser)]
#[command(name = "xtask")]
struct Args {
    #[command(subcommand)]
    task: Task,
}

#[derive(Debug, Clone, Subcommand)]
enum Task {
    /// Compare the dependencies of each crate with the tables in Cargo.toml
    ///
    /// The tables are [workspace.metadata.layers] and [workspace.metadata.rows].
    Layers,
    /// Compare licenses, versions and sources of all dependencies with deny.toml
    Deny,
    /// Write docs/rules.md, docs/attacks.md and the table in docs/hosts.md
    Docs {
        /// Compare the files and write nothing
        #[arg(long)]
        check: bool,
    },
    /// Run the fence over this workspace
    Fence {
        /// Arguments of `cargo plugward-fence`, after `--`
        #[arg(last = true)]
        arguments: Vec<std::ffi::OsString>,
    },
    /// Print lines of source per crate next to the budgets in Cargo.toml
    Sizes,
    /// Draw the HTML report of the examples into docs/images, with headless Chromium
    Screenshots {
        /// Browser to start
        #[arg(long, default_value = "chromium")]
        browser: std::ffi::OsString,
    },
    /// Check that each test in THREAT-MODEL.md exists
    Threats,
    /// Check the words of documents, comments, messages and rule texts
    ///
    /// The list is xtask/words.tsv. A use that has to stay, such as a quote, is listed in xtask/words-allow.tsv.
    Words,
    /// Fetch the packages of benches/corpus.lock and unpack their scripts
    Corpus {
        /// Fetch only packages whose name or group contains this text
        #[arg(long)]
        only: Option<String>,
    },
    /// Measure a crate next to comparable programs
    Bench {
        #[command(subcommand)]
        task: bench::Bench,
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
}

fn main() -> ExitCode {
    let args = Args::parse();
    let outcome = match args.task {
        Task::Layers => layers::check(),
        Task::Deny => deny::check(),
        Task::Docs { check } => docs::run(if check { docs::Mode::Check } else { docs::Mode::Write }),
        Task::Fence { arguments } => return fence(arguments),
        Task::Sizes => sizes::print(),
        Task::Screenshots { browser } => screenshots::run(&browser),
        Task::Threats => threats::check(),
        Task::Words => words::check(),
        Task::Corpus { only } => corpus::fetch(only.as_deref()),
        Task::Field { task } => field::run(&task),
        Task::Peers { task } => peers::run(&task),
        Task::Bench { task } => return finish(bench::run(&task)),
    };
    finish(outcome.map(Outcome::print))
}

/// Prints the error of a task that could not run.
fn finish(outcome: anyhow::Result<ExitCode>) -> ExitCode {
    outcome.unwrap_or_else(|error| {
        say(&format!("error: {error:#}"));
        ExitCode::from(2)
    })
}

/// Runs the fence, which prints its own findings and returns its own exit code.
fn fence(arguments: Vec<std::ffi::OsString>) -> ExitCode {
    #[expect(clippy::disallowed_methods, reason = "exceptions of the fence have an expiry date")]
    let now = std::time::SystemTime::now();
    let seconds = now.duration_since(std::time::UNIX_EPOCH).map_or(0, |since| since.as_secs());
    let mut streams = plugward_fence::Streams {
        out: &mut std::io::stdout(),
        err: &mut std::io::stderr(),
        today: plugward_fence::day_of(seconds),
    };
    ExitCode::from(plugward_fence::command(arguments, &mut streams))
}

/// The result of a check.
struct Outcome {
    /// The subject of the check with its counts, printed last.
    looked_at: String,
    wrong: Vec<String>,
}

impl Outcome {
    fn print(self) -> ExitCode {
        for line in &self.wrong {
            say(&format!("error: {line}"));
        }
        let noun = if self.wrong.len() == 1 { "error" } else { "errors" };
        say(&format!("{}: {} {noun}", self.looked_at, self.wrong.len()));
        if self.wrong.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
    }
}

#[expect(clippy::print_stderr, reason = "a command's own output")]
fn say(line: &str) {
    eprintln!("{line}");
}
