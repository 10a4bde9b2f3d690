//! Starts the measurement that lives beside the generator of its corpus, in `crates/redact/examples/bench.rs`.

use std::process::{Command, ExitCode};

use anyhow::Context as _;

/// Peers, and the size of the corpus.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct Args {
    /// The program `kingfisher`; found on PATH where it is not given, else not measured.
    #[arg(long, value_name = "PROGRAM")]
    kingfisher: Option<String>,
    /// The program `betterleaks`; found on PATH where it is not given, else not measured.
    #[arg(long, value_name = "PROGRAM")]
    betterleaks: Option<String>,
    /// Megabytes of corpus.
    #[arg(long, value_name = "MB", default_value_t = 100)]
    size: u32,
    /// Exit 1 if a figure that the page asks for is missed.
    #[arg(long)]
    gate: bool,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    #[expect(clippy::disallowed_methods, reason = "the measurement is a program of its own")]
    let mut command = Command::new("cargo");
    command
        .args(["run", "--release", "--package", "plugward-redact", "--features", "_bench"])
        .args(["--example", "bench", "--", "--size", &args.size.to_string()])
        .args(["--kingfisher", args.kingfisher.as_deref().unwrap_or("kingfisher")])
        .args(["--betterleaks", args.betterleaks.as_deref().unwrap_or("betterleaks")]);
    if args.gate {
        command.arg("--gate");
    }
    let status = command.status().context("start cargo")?;
    Ok(if status.success() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
