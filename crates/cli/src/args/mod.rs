//! The arguments of the command line.

mod audit;
mod change;
mod commands;
mod config;
mod gate;
mod guest;
mod hooks;
mod inspect;
mod launch;
mod mcp;
mod module;
mod review;
mod session;
mod tips;

use camino::Utf8PathBuf;
use clap::{Args, Parser, Subcommand};

use crate::out::ColorWhen;

pub(crate) use audit::AuditArgs;
pub(crate) use change::{
    AcceptArgs, ApproveArgs, FindArgs, ForgetArgs, IdArgs, LedgerBudgetArgs, LedgerShowArgs, LedgerVerb,
    LedgerVerifyArgs, LockArgs, RedactArgs, ReviewedArgs, RevokeArgs, SuppressArgs, UnrevokeArgs,
    UnsuppressArgs,
};
pub(crate) use commands::{
    CommandDescribeArgs, CommandNameArgs, CommandRunArgs, CommandVerb, PinArgs, RegistryVerb, UpdateArgs,
    WhichArgs,
};
pub(crate) use config::{ConfigExplainArgs, ConfigShowArgs, ConfigVerb, SettingsFormat};
pub(crate) use gate::{GateArgs, GateVerb};
pub(crate) use guest::{GuestRunArgs, GuestVerb};
pub(crate) use hooks::{FireFormat, HookFireArgs, HookPlanArgs, HookSources, HookVerb, PermitArg};
pub(crate) use inspect::{
    CheckArgs, CheckFormat, CodesArgs, DiffArgs, DigestArgs, DiscoveryOptions, ExplainArgs, FailOn,
    HostOptions, ListArgs, ListFormat, ProfileArg, ReportFormat, RunArgs, ScanArgs, SchemeArg, TrustArg,
};
pub(crate) use launch::{DoctorArgs, EnforceArg, LaunchArgs};
pub(crate) use mcp::{McpAcceptArgs, McpRunArgs, McpServerArgs, McpToolsArgs, McpVerb, McpWrapArgs};
pub(crate) use module::{ModuleCallArgs, ModuleListArgs, ModuleVerb};
pub(crate) use review::ReviewArgs;
pub(crate) use session::SessionArgs;
pub(crate) use tips::add_tip;

/// Checks agent plugins before a host loads them
#[derive(Debug, Parser)]
#[command(
    name = "plugward",
    version,
    propagate_version = true,
    subcommand_required = true,
    arg_required_else_help = true,
    max_term_width = 80,
    after_help = "Exit codes: 0 all load, 1 internal or I/O, 2 usage or settings, 3 a decision is needed, \
                  4 integrity, 5 denied or revoked, 6 danger findings, 7 a store cannot be read, 130 interrupted.\n\n\
                  Examples:\n  plugward check plugins     # decide which plugins may load\n  \
                  plugward explain hookify   # why one of them does not"
)]
pub(crate) struct Cli {
    #[command(flatten)]
    pub(crate) global: Global,
    #[command(subcommand)]
    pub(crate) verb: Verb,
}

/// Options of every verb.
#[derive(Debug, Args)]
#[command(next_help_heading = "Global options")]
pub(crate) struct Global {
    /// Directory of settings, pins and approvals [env: `PLUGWARD_CONFIG_DIR`]
    #[arg(long, global = true, hide_short_help = true, value_name = "DIR")]
    pub(crate) config_dir: Option<Utf8PathBuf>,
    /// Directory of the ledger, baselines and caches [env: `PLUGWARD_STATE_DIR`]
    #[arg(long, global = true, hide_short_help = true, value_name = "DIR")]
    pub(crate) state_dir: Option<Utf8PathBuf>,
    /// Directory of command plugins [env: `PLUGWARD_DATA_DIR`]
    #[arg(long, global = true, hide_short_help = true, value_name = "DIR")]
    pub(crate) data_dir: Option<Utf8PathBuf>,
    /// Setting that overrides all files, such as plugins.approval=required (repeatable)
    #[arg(long, global = true, hide_short_help = true, value_name = "KEY=VALUE")]
    pub(crate) cfg: Vec<String>,
    /// Settings file to read after your own, such as one for CI
    #[arg(long, global = true, hide_short_help = true, value_name = "FILE")]
    pub(crate) policy: Option<Utf8PathBuf>,
    /// Ignore settings files in repositories, including what they tighten
    #[arg(long, global = true, hide_short_help = true)]
    pub(crate) no_repository_settings: bool,
    /// Never ask (also without a terminal, or if CI is set)
    #[arg(long, global = true, hide_short_help = true)]
    pub(crate) no_input: bool,
    /// When to use color
    #[arg(long, global = true, hide_short_help = true, value_name = "WHEN", default_value = "auto")]
    pub(crate) color: ColorWhen,
    /// Print only errors to standard error
    #[arg(short, long, global = true, hide_short_help = true, conflicts_with = "verbose")]
    pub(crate) quiet: bool,
    /// Print more details (repeatable)
    #[arg(short, long, global = true, hide_short_help = true, action = clap::ArgAction::Count)]
    pub(crate) verbose: u8,
    /// Write the result to FILE instead of standard output
    #[arg(long, global = true, hide_short_help = true, value_name = "FILE")]
    pub(crate) output: Option<Utf8PathBuf>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Verb {
    /// Check plugins and decide which may load
    #[command(
        after_help = "Examples:\n  plugward check plugins                  # pin new plugins, refuse changed ones\n  plugward check --trust locked plugins   # in CI: refuse what PLUGINS.lock does not list"
    )]
    Check(CheckArgs),
    /// Check a host's plugins, switch off what is refused, and start the host
    #[command(after_help = "Examples:\n  plugward run -- claude                    # instead of: claude\n  \
                      plugward run --all-or-nothing -- codex    # start nothing if one plugin is refused")]
    Run(RunArgs),
    /// Scan files or directories against the rules
    #[command(
        after_help = "Examples:\n  plugward scan -v plugins/hookify       # with source lines, reasons and fixes\n  plugward scan --lang js - < hook.mjs   # standard input"
    )]
    Scan(ScanArgs),
    /// List the plugins in a directory
    #[command(
        visible_alias = "ls",
        after_help = "Examples:\n  plugward list plugins         # names, versions, pins\n  plugward list --format json   # the same for a program"
    )]
    List(ListArgs),
    /// Explain the decision about a plugin, gate by gate
    #[command(
        after_help = "Examples:\n  plugward explain hookify           # by name\n  plugward explain plugins/hookify   # by directory"
    )]
    Explain(ExplainArgs),
    /// Show what a plugin is and can do
    #[command(
        after_help = "Examples:\n  plugward info hookify                         # by name\n  plugward info plugins/hookify --format json   # for a program"
    )]
    Info(ExplainArgs),
    /// Show what changed since a plugin was pinned, worst first
    #[command(
        after_help = "Examples:\n  plugward diff hookify                # a pinned plugin\n  plugward diff hookify --in plugins   # one that is not pinned yet"
    )]
    Diff(DiffArgs),
    /// Review the changed plugins one by one: accept, skip or deny
    #[command(
        after_help = "Without a terminal, the plugins are listed and the exit code is 3.\n\nExamples:\n  plugward review                          # everything that is installed\n  plugward review plugins --trust prompt   # also ask about new plugins"
    )]
    Review(ReviewArgs),
    /// Pin the reviewed version of a plugin
    #[command(after_help = "Examples:\n  plugward accept hookify --tree pt1:398c…54a4\n  \
                            plugward accept plugins/hookify --tree pt1:398c…54a4")]
    Accept(AcceptArgs),
    /// Delete the pin of a plugin, or all pins
    #[command(
        override_usage = "plugward forget <ID>\n       plugward forget --all [--yes]",
        after_help = "Examples:\n  plugward forget hookify\n  plugward forget --all --yes"
    )]
    Forget(ForgetArgs),
    /// Refuse a plugin from now on, whatever its contents
    #[command(after_help = "Examples:\n  plugward deny hookify\n  plugward deny plugins/hookify")]
    Deny(IdArgs),
    /// Delete the denial of a plugin; pins nothing
    #[command(
        visible_alias = "allow",
        after_help = "Examples:\n  plugward undeny hookify            # by name\n  \
                      plugward undeny plugins/hookify    # by directory"
    )]
    Undeny(IdArgs),
    /// Let a language model read plugins, and judge whether they do what they say
    #[command(
        after_help = "Exit codes: 0, 5 risk above plugins.max_risk, 6 danger findings, 1 no reply, 3 --yes is needed.\n\n\
                      Examples:\n  plugward audit plugins/hookify --dry-run  # what would be sent, and where\n  \
                      plugward audit hookify --static           # findings and claims, without a model"
    )]
    Audit(AuditArgs),
    /// Approve a plugin after an audit, or after its static scan
    #[command(
        after_help = "Examples:\n  plugward approve hookify                               # print the command\n  \
                            plugward approve hookify --audit sha256:398c…54a4      # after `plugward audit`\n  \
                            plugward approve hookify --static --tree pt1:398c…54a4 # after the scan alone"
    )]
    Approve(ApproveArgs),
    /// Delete the approval of a plugin
    #[command(after_help = "Examples:\n  plugward unapprove hookify            # by name\n  \
                            plugward unapprove plugins/hookify    # by directory, also if it is gone")]
    Unapprove(IdArgs),
    /// Suppress the findings of a rule while a file is unchanged
    #[command(
        after_help = "Examples:\n  plugward suppress hookify sh/pipe-to-shell --reason \"reviewed: our own mirror\"\n  \
                      plugward suppress hookify fs/danger hooks/run.sh --policy ci.toml --reason \"reviewed by ops\""
    )]
    Suppress(SuppressArgs),
    /// Delete entries that suppress findings
    #[command(after_help = "Examples:\n  plugward unsuppress hookify sh/pipe-to-shell\n  \
                            plugward unsuppress hookify fs/danger hooks/run.sh --policy ci.toml")]
    Unsuppress(UnsuppressArgs),
    /// Add a plugin or a digest to your revocation list
    #[command(after_help = "Examples:\n  plugward revoke claude:hookify --reason \"steals tokens\"\n  \
                            plugward revoke pt1:398c…54a4 --reason \"steals tokens\"")]
    Revoke(RevokeArgs),
    /// Delete an entry of your revocation list
    #[command(
        after_help = "Examples:\n  plugward unrevoke claude:hookify\n  plugward unrevoke pt1:398c…54a4"
    )]
    Unrevoke(UnrevokeArgs),
    /// Write PLUGINS.lock, or compare it with the plugins
    #[command(after_help = "Examples:\n  plugward lock plugins\n  plugward lock --check plugins")]
    Lock(LockArgs),
    /// Print the tree digest of a directory
    #[command(
        after_help = "Examples:\n  plugward digest plugins/hookify\n  plugward digest --list plugins/hookify"
    )]
    Digest(DigestArgs),
    /// Copy standard input to standard output without secrets
    #[command(after_help = "Examples:\n  plugward redact < build.log > clean.log\n  \
                            tail -f app.log | plugward redact --stream --report found.jsonl")]
    Redact(RedactArgs),
    /// Show and verify the log of grants and decisions
    #[command(after_help = "Examples:\n  plugward ledger verify\n  plugward ledger show --last 20")]
    Ledger {
        #[command(subcommand)]
        what: LedgerVerb,
    },
    /// Show the hooks of a host in order, or run those of an event
    #[command(after_help = "Examples:\n  plugward hook plan --in plugins --hooks hooks.toml\n  \
                            plugward hook fire SessionStart --in plugins < payload.json")]
    Hook {
        #[command(subcommand)]
        verb: HookVerb,
    },
    /// Answer a host that asks before it installs a plugin
    #[command(
        after_help = "Examples:\n  plugward gate openclaw --setup          # print the settings for OpenClaw\n  \
                            plugward gate openclaw < request.json   # answer one request, as OpenClaw asks"
    )]
    Gate {
        #[command(subcommand)]
        verb: GateVerb,
    },
    /// Run a command plugin, or print what it says about itself
    #[command(after_help = "Examples:\n  plugward command run serve web   # run the plugin\n  \
                            plugward command describe serve  # name, version, help")]
    Command {
        #[command(subcommand)]
        verb: CommandVerb,
    },
    /// Start an MCP server, and pin the tools that it offers
    #[command(
        after_help = "Examples:\n  plugward mcp wrap                           # how to start the servers of your hosts through plugward\n  \
                      plugward mcp run --name fs -- npx -y server # what a host starts instead of: npx -y server"
    )]
    Mcp {
        #[command(subcommand)]
        verb: McpVerb,
    },
    /// Start a file of a checked plugin with only the access that you grant
    #[command(
        after_help = "The exit code is the program's. Before it starts: 2 if a grant is not possible, 5 if this system does \
                      not enforce it, or that of the check.\n\nExamples:\n  plugward launch db@acme bin/export.sh          \
                      # no files of yours, no network\n  plugward launch --write out db@acme bin/export.sh out"
    )]
    Launch(LaunchArgs),
    /// List and call the modules that guest code can use
    #[command(
        after_help = "Examples:\n  plugward module list builtin:fs-read baseDir=docs   # modules and functions\n  \
                            plugward module call builtin:fs-read fs-read.listDir '[\".\"]' baseDir=docs   # one call"
    )]
    Module {
        #[command(subcommand)]
        verb: ModuleVerb,
    },
    /// Run a script that can use only modules of plugins
    #[command(
        after_help = "Examples:\n  plugward guest run sum.js                                      # a script without modules\n  \
                            plugward guest run s.js --enable builtin:fs-read baseDir=docs  # one that reads files of docs"
    )]
    Guest {
        #[command(subcommand)]
        verb: GuestVerb,
    },
    /// Show which file a command plugin is, and start nothing
    #[command(
        after_help = "Examples:\n  plugward which serve web           # the file, its origin and its rules\n  \
                            plugward which serve --format json # for a program"
    )]
    Which(WhichArgs),
    /// Install a command plugin from the registry
    #[command(after_help = "Examples:\n  plugward install serve\n  plugward install serve web")]
    Install(CommandNameArgs),
    /// List or install updates of command plugins
    #[command(after_help = "Examples:\n  plugward update                # list them\n  \
                            plugward update serve --apply  # install one")]
    Update(UpdateArgs),
    /// Remove an installed command plugin
    #[command(after_help = "Examples:\n  plugward remove serve\n  plugward remove serve web")]
    Remove(CommandNameArgs),
    /// Pin the digest of a command plugin in your settings
    #[command(after_help = "Examples:\n  plugward pin serve\n  plugward pin serve --update sha256:398c…54a4")]
    Pin(PinArgs),
    /// Show the registry of command plugins
    #[command(
        after_help = "Examples:\n  plugward registry list                 # what can be installed\n  plugward registry list --format json   # for a program"
    )]
    Registry {
        #[command(subcommand)]
        verb: RegistryVerb,
    },
    /// Enable plugins for a host that sends one command per line
    ///
    /// Commands: list, info ID, audit ID, approve ID DIGEST, unapprove ID, enable ID [KEY=VALUE…] [audit=DIGEST],
    /// disable ID, messages, dirty, register ID MODULE…, failed ID REASON. A plugin is disabled if its directory changes,
    /// a gate refuses it, or the host reports with `failed` that it cannot load it. Each command gets one line of JSON.
    /// Enabled plugins are forgotten at the end of the input.
    #[command(after_help = "Examples:\n  echo list | plugward session plugins --static\n  \
                      echo 'enable word-count maxLength=9' | plugward session plugins --static --yes")]
    Session(SessionArgs),
    /// Try what this machine can enforce for programs of plugins
    #[command(
        after_help = "Examples:\n  plugward doctor             # what works here, and what to do about the rest\n  \
                            plugward doctor --require   # in CI: fail if grants cannot be enforced"
    )]
    Doctor(DoctorArgs),
    /// Show the settings, and the file that decides about each
    #[command(
        after_help = "Examples:\n  plugward config show                       # all settings, with their origins\n  \
                            plugward config explain plugins.approval   # which layers set it"
    )]
    Config {
        #[command(subcommand)]
        verb: ConfigVerb,
    },
    /// List every code and rule, or explain one
    #[command(after_help = "Examples:\n  plugward codes                    # list them with their help\n  \
                            plugward codes sh/pipe-to-shell   # explain a rule, with examples and precision")]
    Codes(CodesArgs),
    /// Print completions for a shell
    #[command(
        after_help = "Examples:\n  plugward completions bash > ~/.local/share/bash-completion/completions/plugward\n  \
                            plugward completions fish | source"
    )]
    Completions {
        /// Shell
        shell: clap_complete::Shell,
    },
    /// Print the manual page
    #[command(after_help = "Examples:\n  plugward man | man -l -\n  plugward man > plugward.1")]
    Man,
}

impl Verb {
    /// Returns the value of `--enforce`.
    pub(crate) const fn enforce(&self) -> Option<EnforceArg> {
        match self {
            Self::Launch(LaunchArgs { access, .. })
            | Self::Command { verb: CommandVerb::Run(CommandRunArgs { access, .. }) } => access.enforce,
            _ => None,
        }
    }
}
