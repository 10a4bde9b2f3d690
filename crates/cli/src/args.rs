//! The command line as `cli.md` fixes it.

use camino::Utf8PathBuf;
use clap::{Args, Parser, Subcommand, ValueEnum};

use crate::out::ColorWhen;

/// Says of every plugin what it is, whether it may load, and whether it changed since someone agreed to it.
#[derive(Debug, Parser)]
#[command(
    name = "plugward",
    version,
    propagate_version = true,
    subcommand_required = true,
    arg_required_else_help = true,
    max_term_width = 100,
    after_help = "Exit codes: 0 all load, 1 internal or I/O, 2 usage or settings, 3 a decision is needed, \
                  4 integrity refused, 5 denied or revoked, 6 scan gate, 7 a store is unreadable, 130 interrupted.\n\n\
                  Examples:\n  plugward check plugins\n  plugward explain hookify"
)]
pub(crate) struct Cli {
    #[command(flatten)]
    pub(crate) global: Global,
    #[command(subcommand)]
    pub(crate) verb: Verb,
}

/// Flags that every verb takes.
#[derive(Debug, Args)]
#[command(next_help_heading = "Everywhere")]
pub(crate) struct Global {
    /// Folder of settings, pins and approvals [env: `PLUGWARD_CONFIG_DIR`] [default: the platform's config folder + plugward].
    #[arg(long, global = true, value_name = "DIR")]
    pub(crate) config_dir: Option<Utf8PathBuf>,
    /// Folder of the ledger, baselines and caches [env: `PLUGWARD_STATE_DIR`] [default: the platform's state folder + plugward].
    #[arg(long, global = true, value_name = "DIR")]
    pub(crate) state_dir: Option<Utf8PathBuf>,
    /// One setting, above all files; may be repeated. Keys: trust, pins.on_store_error, plugins.approval and so on.
    #[arg(long, global = true, value_name = "KEY=VALUE")]
    pub(crate) cfg: Vec<String>,
    /// Never ask; also when standard input is no terminal or CI is set.
    #[arg(long, global = true)]
    pub(crate) no_input: bool,
    /// Colour.
    #[arg(long, global = true, value_name = "WHEN", default_value = "auto")]
    pub(crate) color: ColorWhen,
    /// Only errors on standard error.
    #[arg(short, long, global = true, conflicts_with = "verbose")]
    pub(crate) quiet: bool,
    /// Say more; may be repeated.
    #[arg(short, long, global = true, action = clap::ArgAction::Count)]
    pub(crate) verbose: u8,
    /// Write the result to FILE instead of standard output.
    #[arg(long, global = true, value_name = "FILE")]
    pub(crate) output: Option<Utf8PathBuf>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Verb {
    /// Walk the plugins below each DIR through all gates.
    #[command(
        after_help = "Examples:\n  plugward check plugins\n  plugward check --trust locked --format json plugins"
    )]
    Check(CheckArgs),
    /// Run the scanner alone over files or folders, or over standard input (-).
    #[command(
        after_help = "Examples:\n  plugward scan plugins/hookify\n  plugward scan --lang js - < hook.mjs"
    )]
    Scan(ScanArgs),
    /// List the plugins below DIR.
    #[command(
        visible_alias = "ls",
        after_help = "Examples:\n  plugward list plugins\n  plugward list --format json"
    )]
    List(ListArgs),
    /// Show why a plugin got its decision, gate by gate.
    #[command(
        after_help = "Examples:\n  plugward explain hookify\n  plugward explain claude:hookify@plugins --in plugins"
    )]
    Explain(ExplainArgs),
    /// Show one plugin in full.
    #[command(
        after_help = "Examples:\n  plugward info hookify\n  plugward info hookify --format json --in plugins"
    )]
    Info(ExplainArgs),
    /// Show what changed since a plugin was trusted, worst first.
    #[command(after_help = "Examples:\n  plugward diff hookify\n  plugward diff hookify --in plugins")]
    Diff(ExplainArgs),
    /// Pin what a plugin is now; names the tree digest that diff showed.
    #[command(after_help = "Examples:\n  plugward accept hookify --tree pt1:398c…54a4\n  \
                            plugward accept claude:hookify@plugins --tree pt1:398c…54a4 --in plugins")]
    Accept(AcceptArgs),
    /// Drop a plugin's pin, or all pins.
    #[command(after_help = "Examples:\n  plugward forget hookify\n  plugward forget --all")]
    Forget(ForgetArgs),
    /// Never load a plugin, whatever its bytes.
    #[command(after_help = "Examples:\n  plugward deny hookify\n  plugward deny claude:hookify@plugins")]
    Deny(IdArgs),
    /// Drop a denial; pins nothing.
    #[command(after_help = "Examples:\n  plugward allow hookify\n  plugward allow claude:hookify@plugins")]
    Allow(IdArgs),
    /// Put a plugin or a digest on the revocation list.
    #[command(
        after_help = "Examples:\n  plugward revoke claude:hookify@plugins --reason \"steals tokens\"\n  \
                            plugward revoke pt1:398c…54a4 --reason \"steals tokens\""
    )]
    Revoke(RevokeArgs),
    /// Write PLUGINS.lock, or verify it.
    #[command(after_help = "Examples:\n  plugward lock plugins\n  plugward lock --check plugins")]
    Lock(LockArgs),
    /// Print the tree digest of a folder.
    #[command(
        after_help = "Examples:\n  plugward digest plugins/hookify\n  plugward digest --list plugins/hookify"
    )]
    Digest(DigestArgs),
    /// Copy standard input to standard output with secrets taken out.
    #[command(after_help = "Examples:\n  plugward redact < build.log > clean.log\n  \
                            tail -f app.log | plugward redact --stream --report found.jsonl")]
    Redact(RedactArgs),
    /// The record of mints, uses and decisions.
    #[command(after_help = "Examples:\n  plugward ledger verify\n  plugward ledger show --last 20")]
    Ledger {
        #[command(subcommand)]
        what: LedgerVerb,
    },
    /// List every reason code and rule with its help.
    #[command(after_help = "Examples:\n  plugward codes\n  plugward codes --format json")]
    Codes(CodesArgs),
    /// Print completions for a shell.
    #[command(
        after_help = "Examples:\n  plugward completions bash > ~/.local/share/bash-completion/completions/plugward\n  \
                            plugward completions fish | source"
    )]
    Completions {
        /// The shell.
        shell: clap_complete::Shell,
    },
    /// Print the manual page.
    #[command(after_help = "Examples:\n  plugward man | man -l -\n  plugward man > plugward.1")]
    Man,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum TrustArg {
    /// Enroll what is new, say so, and load it.
    Tofu,
    /// Ask before something new loads.
    Prompt,
    /// Enroll nothing: new or different means refuse.
    Locked,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ReportFormat {
    /// For people.
    Table,
    /// Report version 1.
    Json,
    /// SARIF 2.1.0.
    Sarif,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ListFormat {
    /// For people.
    Table,
    /// For machines.
    Json,
}

/// How plugins are found; shared by the verbs that look at folders.
#[derive(Debug, Args)]
pub(crate) struct Finding {
    /// Look for one dialect only.
    #[arg(long, value_name = "D")]
    pub(crate) dialect: Option<String>,
    /// Leave PATH out of each tree digest; one of .git .hg .jj .svn PLUGINS.lock PLUGINS.lock.minisig.
    #[arg(long, value_name = "PATH")]
    pub(crate) exclude: Vec<String>,
    /// Threads that read and scan [default: 1].
    #[arg(long, value_name = "N")]
    pub(crate) jobs: Option<std::num::NonZeroUsize>,
}

#[derive(Debug, Args)]
pub(crate) struct CheckArgs {
    /// Folders that hold plugins, or are one.
    #[arg(required = true, value_name = "DIR")]
    pub(crate) dirs: Vec<Utf8PathBuf>,
    /// What happens to a plugin that nobody has seen before [default: tofu].
    #[arg(long, value_name = "MODE")]
    pub(crate) trust: Option<TrustArg>,
    #[arg(long, default_value = "table")]
    pub(crate) format: ReportFormat,
    /// Look at these plugins only (a name or an id); the others are skipped and counted.
    #[arg(long, value_name = "NAME")]
    pub(crate) enabled: Vec<String>,
    /// If one plugin is refused, refuse them all.
    #[arg(long)]
    pub(crate) all_or_nothing: bool,
    #[command(flatten)]
    pub(crate) finding: Finding,
    /// The unit of work that the ledger's records of this run belong to [default: one of its own].
    #[arg(long, value_name = "ID")]
    pub(crate) workflow: Option<String>,
    /// Verdicts never change the exit code; 1, 2 and 7 still do.
    #[arg(long)]
    pub(crate) exit_zero: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ProfileArg {
    /// For plugins that may import next to nothing.
    StrictPlugin,
    /// For everything else.
    General,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum FailOn {
    /// Exit 6 on a danger finding.
    Danger,
    /// Exit 6 on a warning or worse.
    Warning,
    /// Exit 6 on any finding.
    Info,
    /// Findings never change the exit code.
    Never,
}

#[derive(Debug, Args)]
pub(crate) struct ScanArgs {
    /// Files or folders; - is standard input.
    #[arg(required_unless_present = "self_check", value_name = "PATH")]
    pub(crate) paths: Vec<String>,
    /// Which severities the rules have.
    #[arg(long, default_value = "general")]
    pub(crate) profile: ProfileArg,
    /// The language of standard input: js, ts, py, sh and so on.
    #[arg(long, value_name = "LANG")]
    pub(crate) lang: Option<String>,
    /// Add the rules of FILE as local/ rules.
    #[arg(long, value_name = "FILE")]
    pub(crate) rules: Vec<Utf8PathBuf>,
    /// The least severity that makes the exit code 6.
    #[arg(long, value_name = "SEVERITY", default_value = "danger")]
    pub(crate) fail_on: FailOn,
    /// Threads that scan [default: 1].
    #[arg(long, value_name = "N")]
    pub(crate) jobs: Option<std::num::NonZeroUsize>,
    /// Run every rule's own cases and print the sums.
    #[arg(long)]
    pub(crate) self_check: bool,
    #[arg(long, default_value = "table")]
    pub(crate) format: ReportFormat,
}

#[derive(Debug, Args)]
pub(crate) struct ListArgs {
    /// The folder [default: the working folder].
    #[arg(value_name = "DIR", default_value = ".")]
    pub(crate) dir: Utf8PathBuf,
    #[command(flatten)]
    pub(crate) finding: Finding,
    #[arg(long, default_value = "table")]
    pub(crate) format: ListFormat,
}

#[derive(Debug, Args)]
pub(crate) struct ExplainArgs {
    /// The plugin: dialect:name@source, or its bare name.
    pub(crate) id: String,
    /// Folders to look in [default: those of the last check that saw it, then the working folder].
    #[arg(long = "in", value_name = "DIR")]
    pub(crate) dirs: Vec<Utf8PathBuf>,
    /// As for check [default: tofu].
    #[arg(long, value_name = "MODE")]
    pub(crate) trust: Option<TrustArg>,
    #[command(flatten)]
    pub(crate) finding: Finding,
    #[arg(long, default_value = "table")]
    pub(crate) format: ListFormat,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum SchemeArg {
    /// Ours: kinds, executable bits, links, bytes.
    Plugtree,
    /// Go's dirhash, for comparison.
    H1,
    /// codewizard's digest, for comparison.
    Codewizard,
}

#[derive(Debug, Args)]
pub(crate) struct DigestArgs {
    /// The folder.
    #[arg(value_name = "DIR")]
    pub(crate) dir: Utf8PathBuf,
    /// Print the text that is hashed.
    #[arg(long)]
    pub(crate) list: bool,
    /// How to digest.
    #[arg(long, default_value = "plugtree")]
    pub(crate) scheme: SchemeArg,
    /// Leave PATH out; one of .git .hg .jj .svn PLUGINS.lock PLUGINS.lock.minisig.
    #[arg(long, value_name = "PATH")]
    pub(crate) exclude: Vec<String>,
}

#[derive(Debug, Args)]
pub(crate) struct CodesArgs {
    #[arg(long, default_value = "table")]
    pub(crate) format: ListFormat,
}

#[derive(Debug, Args)]
pub(crate) struct IdArgs {
    /// The plugin: dialect:name@source, or its bare name.
    pub(crate) id: String,
    /// Folders to look in [default: those of the last check that saw it, then the working folder].
    #[arg(long = "in", value_name = "DIR")]
    pub(crate) dirs: Vec<Utf8PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct AcceptArgs {
    /// The plugin: dialect:name@source, or its bare name.
    pub(crate) id: String,
    /// The tree digest that was shown.
    #[arg(long, value_name = "DIGEST")]
    pub(crate) tree: String,
    /// Folders to look in [default: those of the last check that saw it, then the working folder].
    #[arg(long = "in", value_name = "DIR")]
    pub(crate) dirs: Vec<Utf8PathBuf>,
    #[command(flatten)]
    pub(crate) finding: Finding,
}

#[derive(Debug, Args)]
pub(crate) struct ForgetArgs {
    /// The plugin: dialect:name@source, or its bare name.
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
    #[arg(long, value_name = "TEXT")]
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
        after_help = "Examples:\n  plugward ledger show --last 20\n  plugward ledger show --plugin hookify --format json"
    )]
    Show(LedgerShowArgs),
    /// Verify the chain, recompute the counters, review mints and uses.
    #[command(
        after_help = "Examples:\n  plugward ledger verify\n  plugward ledger verify --checkpoint kept-elsewhere.txt"
    )]
    Verify(LedgerVerifyArgs),
    /// Recompute the budgets of a unit of work from the record alone.
    #[command(
        after_help = "Examples:\n  plugward ledger budget nightly\n  plugward ledger budget nightly --plugin hookify"
    )]
    Budget(LedgerBudgetArgs),
}

#[derive(Debug, Args)]
pub(crate) struct LedgerShowArgs {
    /// Of one unit of work.
    #[arg(long, value_name = "ID")]
    pub(crate) workflow: Option<String>,
    /// Of one plugin.
    #[arg(long, value_name = "ID")]
    pub(crate) plugin: Option<String>,
    /// Of one type, such as `capability_minted`.
    #[arg(long = "type", value_name = "TYPE")]
    pub(crate) type_name: Option<String>,
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
    /// The unit of work.
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
