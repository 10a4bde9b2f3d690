//! Runs the bench of `redact`, which is next to the generator of its corpus.

use std::process::{Command, ExitCode};

use anyhow::Context as _;

/// Options of `bench redact`.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct Args {
    /// The program `kingfisher` [default: found on PATH, or not measured]
    #[arg(long, value_name = "PROGRAM")]
    kingfisher: Option<String>,
    /// The program `betterleaks` [default: found on PATH, or not measured]
    #[arg(long, value_name = "PROGRAM")]
    betterleaks: Option<String>,
    /// Size of the corpus in megabytes
    #[arg(long, value_name = "MB", default_value_t = 100)]
    size: u32,
    /// Exit with 1 if a goal is missed
    #[arg(long)]
    gate: bool,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    #[expect(clippy::disallowed_methods, reason = "the measurement is a separate program")]
    let mut command = Command::new("cargo");
    command
        .args(["bench", "--locked", "--package", "plugward-redact", "--", "--size", &args.size.to_string()])
        .args(["--kingfisher", args.kingfisher.as_deref().unwrap_or("kingfisher")])
        .args(["--betterleaks", args.betterleaks.as_deref().unwrap_or("betterleaks")]);
    if args.gate {
        command.arg("--gate");
    }
    let status = command.status().context("start cargo")?;
    Ok(if status.success() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
