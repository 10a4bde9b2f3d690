//! The command line as `cli.md` fixes it.

mod deeds;
mod hooks;
mod looks;

use camino::Utf8PathBuf;
use clap::{Args, Parser, Subcommand};

use crate::out::ColorWhen;

pub(crate) use deeds::{
    AcceptArgs, ForgetArgs, IdArgs, LedgerBudgetArgs, LedgerShowArgs, LedgerVerb, LedgerVerifyArgs, LockArgs,
    RedactArgs, RevokeArgs,
};
pub(crate) use hooks::{HookFireArgs, HookPlanArgs, HookSources, HookVerb, PermitArg};
pub(crate) use looks::{
    CheckArgs, CheckFormat, CodesArgs, DiffArgs, DigestArgs, ExplainArgs, FailOn, Finding, ListArgs,
    ListFormat, ProfileArg, ReportFormat, ScanArgs, SchemeArg, TrustArg,
};

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
    /// One setting, above all files, such as `plugins.approval=required`; may be repeated.
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
    #[command(after_help = "Examples:\n  plugward explain hookify\n  plugward explain plugins/hookify")]
    Explain(ExplainArgs),
    /// Show one plugin in full.
    #[command(
        after_help = "Examples:\n  plugward info hookify\n  plugward info plugins/hookify --format json"
    )]
    Info(ExplainArgs),
    /// Show what changed since a plugin was trusted, worst first.
    #[command(after_help = "Examples:\n  plugward diff hookify\n  plugward diff hookify --in plugins")]
    Diff(DiffArgs),
    /// Pin what a plugin is now; names the tree digest that diff showed.
    #[command(after_help = "Examples:\n  plugward accept hookify --tree pt1:398c…54a4\n  \
                            plugward accept plugins/hookify --tree pt1:398c…54a4")]
    Accept(AcceptArgs),
    /// Drop a plugin's pin, or all pins.
    #[command(after_help = "Examples:\n  plugward forget hookify\n  plugward forget --all")]
    Forget(ForgetArgs),
    /// Never load a plugin, whatever its bytes.
    #[command(after_help = "Examples:\n  plugward deny hookify\n  plugward deny plugins/hookify")]
    Deny(IdArgs),
    /// Drop a denial; pins nothing.
    #[command(after_help = "Examples:\n  plugward allow hookify\n  plugward allow plugins/hookify")]
    Allow(IdArgs),
    /// Put a plugin or a digest on the revocation list.
    #[command(after_help = "Examples:\n  plugward revoke claude:hookify --reason \"steals tokens\"\n  \
                            plugward revoke pt1:398c…54a4 --reason \"steals tokens\"")]
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
    /// Show the hooks of agent hosts in their order, or run those of one event.
    #[command(after_help = "Examples:\n  plugward hook plan --in plugins --hooks hooks.toml\n  \
                            plugward hook fire SessionStart --in plugins < payload.json")]
    Hook {
        #[command(subcommand)]
        verb: HookVerb,
    },
    /// List every reason code and rule, or explain one.
    #[command(after_help = "Examples:\n  plugward codes                    # list them with their help\n  \
                            plugward codes sh/pipe-to-shell   # explain a rule, with examples and precision")]
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
