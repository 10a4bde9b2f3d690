//! `cargo xtask bench`: the measurements that a page of the design asks for, each against its peers in one run.

mod check;
mod fence;
pub(crate) mod process;
mod redact;

use std::process::ExitCode;

use clap::Subcommand;

/// What is measured.
#[derive(Debug, Clone, Subcommand)]
pub(crate) enum Bench {
    /// A check of unchanged plugins, beside a program that only reads and hashes the same bytes.
    Check(check::Args),
    /// The fence over 50 MB of Rust of the local registry cache, beside ast-grep.
    Fence(fence::Args),
    /// Redaction of 100 MB of tool output with planted secrets, beside kingfisher and betterleaks.
    Redact(redact::Args),
}

pub(crate) fn run(what: &Bench) -> anyhow::Result<ExitCode> {
    match what {
        Bench::Check(args) => Ok(check::run(args)?.print()),
        Bench::Fence(args) => Ok(fence::run(args)?.print()),
        Bench::Redact(args) => redact::run(args),
    }
}
