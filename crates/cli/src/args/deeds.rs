//! The words of the verbs that decide, write or read the record.

use camino::Utf8PathBuf;
use clap::{Args, Subcommand};

use super::looks::{Finding, ListFormat};

#[derive(Debug, Args)]
pub(crate) struct IdArgs {
    /// The plugin: its directory, its recorded id, or its name.
    pub(crate) id: String,
    /// Directory to search, besides the pins and the project of the working directory; can be repeated.
    #[arg(long = "in", value_name = "DIR")]
    pub(crate) dirs: Vec<Utf8PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct AcceptArgs {
    /// The plugin: its directory, its recorded id, or its name.
    pub(crate) id: String,
    /// The tree digest that was shown.
    #[arg(long, value_name = "DIGEST")]
    pub(crate) tree: String,
    /// A further digest that was shown: of a folder that it shares, or of its marketplace entry.
    #[arg(long, value_name = "DIGEST")]
    pub(crate) with: Vec<String>,
    /// Directory to search, besides the pins and the project of the working directory; can be repeated.
    #[arg(long = "in", value_name = "DIR")]
    pub(crate) dirs: Vec<Utf8PathBuf>,
    #[command(flatten)]
    pub(crate) finding: Finding,
}

#[derive(Debug, Args)]
pub(crate) struct ForgetArgs {
    /// The plugin: its directory, its recorded id, or its name.
    #[arg(required_unless_present = "all", conflicts_with = "all")]
    pub(crate) id: Option<String>,
    /// Every pin and every accepted lock; starts over where the store is damaged.
    #[arg(long)]
    pub(crate) all: bool,
}

#[derive(Debug, Args)]
pub(crate) struct RevokeArgs {
    /// A full id, or a tree or manifest digest.
    #[arg(value_name = "ID|DIGEST")]
    pub(crate) what: String,
    /// Why; shown wherever it is refused.
    #[arg(long, value_name = "TEXT", value_parser = clap::builder::NonEmptyStringValueParser::new())]
    pub(crate) reason: String,
}

#[derive(Debug, Args)]
pub(crate) struct LockArgs {
    /// The folder that holds the plugins, or is one.
    #[arg(value_name = "DIR", default_value = ".")]
    pub(crate) dir: Utf8PathBuf,
    /// Verify it and write nothing.
    #[arg(long)]
    pub(crate) check: bool,
    /// Let the plugins that this lock file names be enrolled without a question, until the file changes.
    #[arg(long, conflicts_with = "check")]
    pub(crate) accept: bool,
    /// Replace the older JSON lock.
    #[arg(long, conflicts_with_all = ["check", "accept"])]
    pub(crate) migrate: bool,
    #[command(flatten)]
    pub(crate) finding: Finding,
}

#[derive(Debug, Args)]
pub(crate) struct RedactArgs {
    /// Put each line out as soon as nothing that may follow can change it.
    #[arg(long)]
    pub(crate) stream: bool,
    /// Write what was found, one JSON object a line and never a value, to FILE.
    #[arg(long, value_name = "FILE")]
    pub(crate) report: Option<Utf8PathBuf>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum LedgerVerb {
    /// Print records.
    #[command(
        after_help = "Examples:\n  plugward ledger show --last 20\n  plugward ledger show --plugin path:/home/me/site/plugins/hookify --format json"
    )]
    Show(LedgerShowArgs),
    /// Verify the chain, recompute the counters, review mints and uses.
    #[command(
        after_help = "Examples:\n  plugward ledger verify\n  plugward ledger verify --checkpoint kept-elsewhere.txt"
    )]
    Verify(LedgerVerifyArgs),
    /// Recompute the budgets of a unit of work from the record alone.
    #[command(
        after_help = "Examples:\n  plugward ledger budget --workflow nightly\n  plugward ledger budget --workflow nightly --kind host-module"
    )]
    Budget(LedgerBudgetArgs),
    /// Append a checkpoint and print its three lines, to be kept elsewhere: against it a cut end shows.
    #[command(
        after_help = "Examples:\n  plugward ledger checkpoint\n  plugward ledger checkpoint --output ledger.checkpoint.txt"
    )]
    Checkpoint,
}

#[derive(Debug, Args)]
pub(crate) struct LedgerShowArgs {
    /// Of one unit of work.
    #[arg(long, value_name = "ID")]
    pub(crate) workflow: Option<String>,
    /// Of one plugin, by its key.
    #[arg(long, value_name = "ID")]
    pub(crate) plugin: Option<String>,
    /// Of one type, such as `capability_minted`.
    #[arg(long = "type", value_name = "TYPE")]
    pub(crate) type_name: Option<String>,
    /// Not before a moment, such as 2026-11-21T21:48:03.000000Z.
    #[arg(long, value_name = "TIME")]
    pub(crate) since: Option<String>,
    /// The last N records only.
    #[arg(long, value_name = "N")]
    pub(crate) last: Option<usize>,
    #[arg(long, default_value = "table")]
    pub(crate) format: ListFormat,
}

#[derive(Debug, Args)]
pub(crate) struct LedgerVerifyArgs {
    /// A checkpoint that was kept elsewhere; may be repeated.
    #[arg(long, value_name = "FILE")]
    pub(crate) checkpoint: Vec<Utf8PathBuf>,
    /// Accept that the records before SEQ are gone.
    #[arg(long, value_name = "SEQ")]
    pub(crate) from: Option<u64>,
    #[arg(long, default_value = "table")]
    pub(crate) format: ListFormat,
}

#[derive(Debug, Args)]
pub(crate) struct LedgerBudgetArgs {
    /// The unit of work; `ledger show --type workflow_opened` lists them.
    #[arg(long, value_name = "ID")]
    pub(crate) workflow: String,
    /// One plugin alone.
    #[arg(long, value_name = "ID")]
    pub(crate) plugin: Option<String>,
    /// One kind alone.
    #[arg(long, value_name = "KIND")]
    pub(crate) kind: Option<String>,
    #[arg(long, default_value = "table")]
    pub(crate) format: ListFormat,
}
