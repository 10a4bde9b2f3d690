//! This repository's own checks: `cargo xtask layers`, `deny`, `docs`, `fence`, `threats`; and `sizes`, `corpus`, `bench` and `field`.

mod attacks;
mod bench;
mod corpus;
mod deny;
mod docs;
mod field;
mod layers;
mod metadata;
mod sizes;
mod threats;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// Checks of the repository. Each prints what it looked at, and exits 1 with a line for each thing that is wrong.
#[derive(Debug, Parser)]
#[command(name = "xtask")]
struct Args {
    #[command(subcommand)]
    task: Task,
}

#[derive(Debug, Clone, Subcommand)]
enum Task {
    /// Compares the dependencies of each crate with [workspace.metadata.layers] and [workspace.metadata.rows].
    Layers,
    /// Compares licences, versions, bans, sources and rust-versions of all dependencies with deny.toml.
    Deny,
    /// Writes docs/rules.md and docs/attacks.md.
    Docs {
        /// Compare only.
        #[arg(long)]
        check: bool,
    },
    /// Runs the fence over this workspace; arguments after `--` are its own.
    Fence {
        /// Arguments of `cargo plugward-fence`.
        #[arg(last = true)]
        arguments: Vec<std::ffi::OsString>,
    },
    /// Prints lines of source per crate next to the budgets in Cargo.toml; reports only.
    Sizes,
    /// Looks up each test that THREAT-MODEL.md names.
    Threats,
    /// Fetches the packages of benches/corpus.lock and unpacks their JavaScript and TypeScript files.
    Corpus {
        /// Only packages whose name or group holds this.
        #[arg(long)]
        only: Option<String>,
    },
    /// Measures a crate beside its peers.
    Bench {
        #[command(subcommand)]
        what: bench::Bench,
    },
    /// Runs the scanner on public plugin repositories and measures its findings.
    Field {
        #[command(subcommand)]
        task: field::Field,
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
        Task::Threats => threats::check(),
        Task::Corpus { only } => corpus::fetch(only.as_deref()),
        Task::Field { task } => field::run(&task),
        Task::Bench { what } => return done(bench::run(&what)),
    };
    done(outcome.map(Outcome::print))
}

/// Prints what kept a task from being done.
fn done(outcome: anyhow::Result<ExitCode>) -> ExitCode {
    outcome.unwrap_or_else(|error| {
        say(&format!("error: {error:#}"));
        ExitCode::from(2)
    })
}

/// The fence prints and decides by itself; its planted cases run first.
fn fence(arguments: Vec<std::ffi::OsString>) -> ExitCode {
    #[expect(clippy::disallowed_methods, reason = "exceptions of the fence expire by the day")]
    let now = std::time::SystemTime::now();
    let seconds = now.duration_since(std::time::UNIX_EPOCH).map_or(0, |since| since.as_secs());
    let mut streams = plugward_fence::Streams {
        out: &mut std::io::stdout(),
        err: &mut std::io::stderr(),
        today: plugward_fence::day_of(seconds),
    };
    ExitCode::from(plugward_fence::command(arguments, &mut streams))
}

/// What a check saw, and what is wrong.
struct Outcome {
    looked_at: String,
    wrong: Vec<String>,
}

impl Outcome {
    fn print(self) -> ExitCode {
        for line in &self.wrong {
            say(&format!("error: {line}"));
        }
        say(&format!("{}: {} wrong", self.looked_at, self.wrong.len()));
        if self.wrong.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
    }
}

#[expect(clippy::print_stderr, reason = "a command's own output")]
fn say(line: &str) {
    eprintln!("{line}");
}
