//! Checks of this repository: `layers`, `deny`, `docs`, `fence`, `package`, `sizes`, `threats` and `words`.
//!
//! Measurements are in `tools/measure`, which `cargo xtask` builds when one is started. It shares what this library exports.

mod attacks;
mod deny;
mod docs;
mod hosts;
mod layers;
mod metadata;
mod package;
mod sizes;
mod threats;
mod words;

use std::ffi::OsString;
use std::process::{Command, ExitCode};

use anyhow::Context as _;
use clap::{Parser, Subcommand};

pub use metadata::{root, target_directory, text};

/// Check and measure this repository
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
        arguments: Vec<OsString>,
    },
    /// Compare lines of source per crate with the budgets in Cargo.toml
    Sizes,
    /// Package the published crates, and build each from its package
    Package {
        /// Only crates that depend on no other crate of the workspace
        #[arg(long)]
        leaves: bool,
    },
    /// Check that each test in THREAT-MODEL.md exists
    Threats,
    /// Check the words of documents, comments, messages and rule texts
    ///
    /// The list is xtask/words.tsv. A use that has to stay, such as a quote, is listed in xtask/words-allow.tsv.
    Words,
    /// Measure a crate next to comparable programs
    #[command(disable_help_flag = true)]
    Bench(Forwarded),
    /// Fetch the packages of benches/corpus.lock and unpack their scripts
    #[command(disable_help_flag = true)]
    Corpus(Forwarded),
    /// Run the scanner on public plugin repositories and measure its findings
    #[command(disable_help_flag = true)]
    Field(Forwarded),
    /// Run other programs and print what they do with plugins
    #[command(disable_help_flag = true)]
    Peers(Forwarded),
    /// Draw the HTML report of the examples into docs/images, with headless Chromium
    #[command(disable_help_flag = true)]
    Screenshots(Forwarded),
}

/// Arguments that the program in `tools/measure` reads.
#[derive(Debug, Clone, clap::Args)]
struct Forwarded {
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    arguments: Vec<OsString>,
}

/// Runs the task that the command line names.
#[must_use]
pub fn main() -> ExitCode {
    let args = Args::parse();
    let outcome = match args.task {
        Task::Layers => layers::check(),
        Task::Deny => deny::check(),
        Task::Docs { check } => docs::run(if check { docs::Mode::Check } else { docs::Mode::Write }),
        Task::Fence { arguments } => return fence(arguments),
        Task::Sizes => sizes::check(),
        Task::Package { leaves: true } => package::run(package::Selection::Leaves),
        Task::Package { leaves: false } => package::run(package::Selection::All),
        Task::Threats => threats::check(),
        Task::Words => words::check(),
        Task::Bench(rest) => return finish(measure("bench", &rest)),
        Task::Corpus(rest) => return finish(measure("corpus", &rest)),
        Task::Field(rest) => return finish(measure("field", &rest)),
        Task::Peers(rest) => return finish(measure("peers", &rest)),
        Task::Screenshots(rest) => return finish(measure("screenshots", &rest)),
    };
    finish(outcome.map(Outcome::print))
}

/// Builds the program in `tools/measure` and runs one of its tasks.
fn measure(task: &str, rest: &Forwarded) -> anyhow::Result<ExitCode> {
    #[expect(clippy::disallowed_methods, reason = "the measurements are a separate program")]
    let mut cargo = Command::new("cargo");
    // The working directory stays that of the user, because the arguments may contain relative paths.
    cargo
        .args(["run", "--quiet", "--locked", "--manifest-path"])
        .arg(root().join("tools/measure/Cargo.toml"));
    let status = cargo.arg("--").arg(task).args(&rest.arguments).status().context("start cargo run")?;
    let code = status.code().and_then(|code| u8::try_from(code).ok());
    Ok(code.map_or(ExitCode::FAILURE, ExitCode::from))
}

/// Prints the error of a task that could not run, and returns the exit code.
#[must_use]
pub fn finish(outcome: anyhow::Result<ExitCode>) -> ExitCode {
    outcome.unwrap_or_else(|error| {
        say(&format!("error: {error:#}"));
        ExitCode::from(2)
    })
}

/// Runs the fence, which prints its own findings and returns its own exit code.
fn fence(arguments: Vec<OsString>) -> ExitCode {
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
#[derive(Debug)]
#[expect(clippy::exhaustive_structs, reason = "each check creates one")]
pub struct Outcome {
    /// The subject of the check with its counts, printed last.
    pub looked_at: String,
    /// The errors, one line each.
    pub wrong: Vec<String>,
}

impl Outcome {
    /// Prints the errors and a summary, and returns the exit code.
    #[must_use]
    pub fn print(self) -> ExitCode {
        for line in &self.wrong {
            say(&format!("error: {line}"));
        }
        let noun = if self.wrong.len() == 1 { "error" } else { "errors" };
        say(&format!("{}: {} {noun}", self.looked_at, self.wrong.len()));
        if self.wrong.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
    }
}

/// Prints a line to standard error.
#[expect(clippy::print_stderr, reason = "a command's own output")]
pub fn say(line: &str) {
    eprintln!("{line}");
}
