//! `cargo xtask bench`: measures a crate and comparable programs in one run.

mod check;
mod fence;
pub(crate) mod process;
mod redact;

use std::process::ExitCode;

use clap::Subcommand;

/// The measurements.
#[derive(Debug, Clone, Subcommand)]
pub(crate) enum Bench {
    /// Check unchanged plugins, next to a program that only reads and hashes
    Check(check::Args),
    /// Run the fence over 50 MB of Rust from the registry cache, next to ast-grep
    Fence(fence::Args),
    /// Redact 100 MB with planted secrets, next to kingfisher and betterleaks
    Redact(redact::Args),
}

pub(crate) fn run(bench: &Bench) -> anyhow::Result<ExitCode> {
    match bench {
        Bench::Check(args) => Ok(check::run(args)?.print()),
        Bench::Fence(args) => Ok(fence::run(args)?.print()),
        Bench::Redact(args) => redact::run(args),
    }
}
