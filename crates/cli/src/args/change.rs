//! Arguments of the verbs that change a store or a file, and of `ledger` and `redact`.

use camino::Utf8PathBuf;
use clap::{Args, Subcommand};

use super::inspect::{DiscoveryOptions, ListFormat};

/// A plugin, and where to look for it.
#[derive(Debug, Clone, Args)]
pub(crate) struct IdArgs {
    /// Plugin: its directory, its recorded id, or its name
    pub(crate) id: String,
    /// Directory to search, besides the pins and the project of the working directory (repeatable)
    #[arg(long = "in", value_name = "DIR")]
    pub(crate) dirs: Vec<Utf8PathBuf>,
}

/// A plugin, and how it is found and read.
#[derive(Debug, Clone, Args)]
pub(crate) struct FindArgs {
    #[command(flatten)]
    pub(crate) named: IdArgs,
    #[command(flatten)]
    pub(crate) finding: DiscoveryOptions,
}

impl FindArgs {
    /// Returns a plugin that is selected without a directory to search.
    pub(crate) const fn new(id: String, finding: DiscoveryOptions) -> Self {
        Self { named: IdArgs { id, dirs: Vec::new() }, finding }
    }
}

/// What the user reviewed.
#[derive(Debug, Args)]
pub(crate) struct ReviewedArgs {
    /// Tree digest that you reviewed [default: print it and exit with 3]
    #[arg(long, value_name = "DIGEST")]
    pub(crate) tree: Option<String>,
    /// Further digest that you reviewed: of what is outside the directory, or of the marketplace entry (repeatable)
    #[arg(long, value_name = "DIGEST", requires = "tree")]
    pub(crate) with: Vec<String>,
}

#[derive(Debug, Args)]
pub(crate) struct AcceptArgs {
    #[command(flatten)]
    pub(crate) reviewed: ReviewedArgs,
    #[command(flatten)]
    pub(crate) plugin: FindArgs,
}

#[derive(Debug, Args)]
pub(crate) struct ForgetArgs {
    /// Plugin: its directory, its recorded id, or its name
    #[arg(required_unless_present = "all", conflicts_with = "all")]
    pub(crate) id: Option<String>,
    /// Delete every pin and every accepted lockfile; starts over if the pins cannot be read
    #[arg(long)]
    pub(crate) all: bool,
    /// Do not ask for confirmation
    #[arg(long, requires = "all")]
    pub(crate) yes: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ApproveArgs {
    /// Audit that you read, as `plugward audit` printed it
    #[arg(long, value_name = "DIGEST", conflicts_with_all = ["after_scan", "tree", "with"])]
    pub(crate) audit: Option<String>,
    /// Approve after the static scan, without an audit by a language model
    #[arg(long = "static")]
    pub(crate) after_scan: bool,
    #[command(flatten)]
    pub(crate) reviewed: ReviewedArgs,
    #[command(flatten)]
    pub(crate) plugin: FindArgs,
}

#[derive(Debug, Args)]
pub(crate) struct SuppressArgs {
    #[command(flatten)]
    pub(crate) plugin: FindArgs,
    /// Rule of the finding, such as sh/pipe-to-shell
    pub(crate) rule: String,
    /// File of the finding, relative to the plugin [default: every file with such a finding]
    pub(crate) path: Option<String>,
    /// Why the finding is not a danger, for the next reader; at least 10 characters
    #[arg(long, value_name = "TEXT")]
    pub(crate) reason: String,
    /// Last day on which the entry applies, as YYYY-MM-DD
    #[arg(long, value_name = "DATE")]
    pub(crate) expires: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct UnsuppressArgs {
    /// Plugin: its directory, its key, or its name
    pub(crate) id: String,
    /// Rule of the entry
    pub(crate) rule: String,
    /// File of the entry [default: every file]
    pub(crate) path: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct UnrevokeArgs {
    /// Id or digest, as you revoked it
    #[arg(value_name = "ID|DIGEST")]
    pub(crate) what: String,
}

#[derive(Debug, Args)]
pub(crate) struct RevokeArgs {
    /// Plugin id, tree digest or manifest digest
    #[arg(value_name = "ID|DIGEST")]
    pub(crate) what: String,
    /// Reason, shown whenever the plugin is refused
    #[arg(long, value_name = "TEXT", value_parser = clap::builder::NonEmptyStringValueParser::new())]
    pub(crate) reason: String,
}

#[derive(Debug, Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of the command line")]
pub(crate) struct LockArgs {
    /// Directory that contains the plugins, or a plugin that is a project of its own
    #[arg(value_name = "DIR", default_value = ".")]
    pub(crate) dir: Utf8PathBuf,
    /// Compare the plugins with PLUGINS.lock and write nothing
    #[arg(long)]
    pub(crate) check: bool,
    /// Pin the plugins in this PLUGINS.lock without asking, until the file changes
    #[arg(long, conflicts_with = "check")]
    pub(crate) accept: bool,
    /// Replace the older JSON lockfile
    #[arg(long, conflicts_with_all = ["check", "accept"])]
    pub(crate) migrate: bool,
    /// Agree to the commands whose text does not determine what runs, without a question
    #[arg(long, conflicts_with_all = ["check", "accept"])]
    pub(crate) unresolved: bool,
    /// List the digest of each file, so that a review shows which of them changed
    #[arg(long, conflicts_with_all = ["check", "accept"])]
    pub(crate) files: bool,
    #[command(flatten)]
    pub(crate) finding: DiscoveryOptions,
}

#[derive(Debug, Args)]
pub(crate) struct RedactArgs {
    /// Print each line as soon as later input cannot change it
    #[arg(long)]
    pub(crate) stream: bool,
    /// Write the kinds and places of the secrets to FILE, as JSON Lines without the values
    #[arg(long, value_name = "FILE")]
    pub(crate) report: Option<Utf8PathBuf>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum LedgerVerb {
    /// Print records
    #[command(
        after_help = "Examples:\n  plugward ledger show --last 20\n  plugward ledger show --plugin path:/home/me/site/plugins/hookify --format json"
    )]
    Show(LedgerShowArgs),
    /// Verify the hash chain and recompute the counters
    #[command(
        after_help = "Examples:\n  plugward ledger verify\n  plugward ledger verify --checkpoint kept-elsewhere.txt"
    )]
    Verify(LedgerVerifyArgs),
    /// Recompute the budgets of a workflow from the records
    #[command(
        after_help = "Examples:\n  plugward ledger budget --workflow nightly\n  plugward ledger budget --workflow nightly --kind host-module"
    )]
    Budget(LedgerBudgetArgs),
    /// Append a checkpoint and print it, to detect truncation later
    #[command(
        after_help = "Examples:\n  plugward ledger checkpoint\n  plugward ledger checkpoint --output ledger.checkpoint.txt"
    )]
    Checkpoint,
}

#[derive(Debug, Args)]
pub(crate) struct LedgerShowArgs {
    /// Only this workflow
    #[arg(long, value_name = "ID")]
    pub(crate) workflow: Option<String>,
    /// Only this plugin, by its key
    #[arg(long, value_name = "ID")]
    pub(crate) plugin: Option<String>,
    /// Only this type, such as `capability_minted`
    #[arg(long = "type", value_name = "TYPE")]
    pub(crate) type_name: Option<String>,
    /// Only records since TIME in UTC, such as 2026-11-21 or 2026-11-21T21:48:03.000000Z
    #[arg(long, value_name = "TIME")]
    pub(crate) since: Option<String>,
    /// Only the last N records
    #[arg(long, value_name = "N")]
    pub(crate) last: Option<usize>,
    #[arg(long, default_value = "table")]
    pub(crate) format: ListFormat,
}

#[derive(Debug, Args)]
pub(crate) struct LedgerVerifyArgs {
    /// Checkpoint from an earlier `ledger checkpoint` (repeatable)
    #[arg(long, value_name = "FILE")]
    pub(crate) checkpoint: Vec<Utf8PathBuf>,
    /// Accept that the records before SEQ do not exist any more
    #[arg(long, value_name = "SEQ")]
    pub(crate) from: Option<u64>,
    #[arg(long, default_value = "table")]
    pub(crate) format: ListFormat,
}

#[derive(Debug, Args)]
pub(crate) struct LedgerBudgetArgs {
    /// Workflow; `ledger show --type workflow_opened` lists them
    #[arg(long, value_name = "ID")]
    pub(crate) workflow: String,
    /// Only this plugin
    #[arg(long, value_name = "ID")]
    pub(crate) plugin: Option<String>,
    /// Only this kind of capability
    #[arg(long, value_name = "KIND")]
    pub(crate) kind: Option<String>,
    #[arg(long, default_value = "table")]
    pub(crate) format: ListFormat,
}
