//! This repository's own checks: `cargo xtask layers`, `deny`, `docs`, `threats`.

mod deny;
mod docs;
mod layers;
mod metadata;
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

#[derive(Debug, Clone, Copy, Subcommand)]
enum Task {
    /// Compares the dependencies of each crate with [workspace.metadata.layers] and [workspace.metadata.rows].
    Layers,
    /// Compares licences, versions, bans, sources and rust-versions of all dependencies with deny.toml.
    Deny,
    /// Writes docs/rules.md.
    Docs {
        /// Compare only.
        #[arg(long)]
        check: bool,
    },
    /// Looks up each test that THREAT-MODEL.md names.
    Threats,
}

fn main() -> ExitCode {
    let args = Args::parse();
    let outcome = match args.task {
        Task::Layers => layers::check(),
        Task::Deny => deny::check(),
        Task::Docs { check } => docs::run(if check { docs::Mode::Check } else { docs::Mode::Write }),
        Task::Threats => threats::check(),
    };
    match outcome {
        Ok(outcome) => outcome.print(),
        Err(error) => {
            say(&format!("error: {error:#}"));
            ExitCode::from(2)
        }
    }
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
