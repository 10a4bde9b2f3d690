//! Arguments of `check`, and of the verbs that change nothing.

use camino::Utf8PathBuf;
use clap::{Args, ValueEnum};

use super::FindArgs;

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum TrustArg {
    /// Pin new plugins on first use
    Tofu,
    /// Ask before a new plugin loads
    Prompt,
    /// Refuse new and changed plugins
    Locked,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ReportFormat {
    /// Text for a terminal
    Table,
    /// JSON, report version 2
    Json,
    /// SARIF 2.1.0
    Sarif,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum CheckFormat {
    /// Text for a terminal
    #[default]
    Table,
    /// JSON, report version 2
    Json,
    /// SARIF 2.1.0
    Sarif,
    /// One HTML page without external references
    Html,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ListFormat {
    /// Text for a terminal
    Table,
    /// JSON
    Json,
}

/// Options for finding and reading plugins.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct DiscoveryOptions {
    /// Read only the manifests of one dialect
    #[arg(long, value_name = "DIALECT")]
    pub(crate) dialect: Option<String>,
    /// Leave PATH out of each tree digest: .git, .hg, .jj, .svn, PLUGINS.lock or PLUGINS.lock.minisig
    #[arg(long, value_name = "PATH")]
    pub(crate) exclude: Vec<String>,
    /// Number of threads [default: 1]
    #[arg(short, long, value_name = "N")]
    pub(crate) jobs: Option<std::num::NonZeroUsize>,
    /// Version of the host, for plugins that require one
    #[arg(long, value_name = "VERSION")]
    pub(crate) host_version: Option<String>,
}

/// Options for what is installed on this machine.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct HostOptions {
    /// Check only what this host would load, such as claude (repeatable)
    #[arg(long = "host", value_name = "NAME")]
    pub(crate) hosts: Vec<String>,
    /// Project whose plugins and settings count [default: that of the working directory]
    #[arg(long, value_name = "DIR", conflicts_with = "no_project")]
    pub(crate) project: Option<Utf8PathBuf>,
    /// Check only what is installed for the user
    #[arg(long)]
    pub(crate) no_project: bool,
}

#[derive(Debug, Default, Args)]
#[expect(clippy::struct_excessive_bools, reason = "flags of the command line")]
pub(crate) struct CheckArgs {
    /// Directories that contain plugins, or plugin directories [default: everything that is installed]
    #[arg(value_name = "DIR", conflicts_with_all = ["hosts", "project", "no_project"])]
    pub(crate) dirs: Vec<Utf8PathBuf>,
    #[command(flatten)]
    pub(crate) hosts: HostOptions,
    /// Answer a hook of the host: nothing on standard output, exit code 0 or 2
    #[arg(long, requires = "hosts", conflicts_with_all = ["dirs", "exit_zero", "allow_empty"])]
    pub(crate) hook: bool,
    /// How to treat new plugins [default: tofu]
    #[arg(long, value_name = "MODE")]
    pub(crate) trust: Option<TrustArg>,
    /// Output format
    #[arg(long, value_name = "FORMAT", default_value = "table")]
    pub(crate) format: CheckFormat,
    /// Check only these plugins; others are skipped and counted (repeatable)
    #[arg(long, value_name = "NAME")]
    pub(crate) enabled: Vec<String>,
    /// Refuse every plugin if one is refused
    #[arg(long)]
    pub(crate) all_or_nothing: bool,
    #[command(flatten)]
    pub(crate) finding: DiscoveryOptions,
    /// Do not use the records of earlier scans (`locked` never does)
    #[arg(long)]
    pub(crate) no_cache: bool,
    /// Workflow of this run's ledger records [default: a new one]
    #[arg(long, value_name = "ID")]
    pub(crate) workflow: Option<String>,
    /// Exit with 0 even if plugins are refused; failures still exit with 1, 2 or 7
    #[arg(long)]
    pub(crate) exit_zero: bool,
    /// Exit with 0 if there is no plugin to check
    #[arg(long)]
    pub(crate) allow_empty: bool,
}

#[derive(Debug, Args)]
pub(crate) struct RunArgs {
    /// Start nothing if one plugin does not load
    #[arg(long)]
    pub(crate) all_or_nothing: bool,
    /// How to treat new plugins [default: tofu]
    #[arg(long, value_name = "MODE")]
    pub(crate) trust: Option<TrustArg>,
    /// Host and its arguments: claude, codex or gemini
    #[arg(last = true, required = true, value_name = "HOST")]
    pub(crate) command: Vec<std::ffi::OsString>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ProfileArg {
    /// For plugins that need almost no imports
    StrictPlugin,
    /// For all other plugins
    General,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum FailOn {
    /// Exit with 6 on a danger finding
    Danger,
    /// Exit with 6 on a suspicious finding or worse
    Warning,
    /// Exit with 6 on any finding
    Info,
    /// Findings never change the exit code
    Never,
}

#[derive(Debug, Args)]
pub(crate) struct ScanArgs {
    /// Files or directories; - is standard input
    #[arg(required_unless_present = "self_check", value_name = "PATH")]
    pub(crate) paths: Vec<String>,
    /// Severities of the rules [default: from the settings, else general]
    #[arg(long)]
    pub(crate) profile: Option<ProfileArg>,
    /// Language of standard input, such as js, ts, py or sh
    #[arg(long, value_name = "LANG")]
    pub(crate) lang: Option<String>,
    /// Rules file to add (repeatable)
    #[arg(long, value_name = "FILE")]
    pub(crate) rules: Vec<Utf8PathBuf>,
    /// Lowest severity that makes the exit code 6
    #[arg(long, value_name = "SEVERITY", default_value = "danger")]
    pub(crate) fail_on: FailOn,
    /// Number of threads [default: 1]
    #[arg(long, value_name = "N")]
    pub(crate) jobs: Option<std::num::NonZeroUsize>,
    /// Do not use the records of earlier scans
    #[arg(long)]
    pub(crate) no_cache: bool,
    /// Run the examples of every rule
    #[arg(long)]
    pub(crate) self_check: bool,
    /// Output format
    #[arg(long, value_name = "FORMAT", default_value = "table")]
    pub(crate) format: ReportFormat,
}

#[derive(Debug, Args)]
pub(crate) struct ListArgs {
    /// Directory [default: everything that is installed]
    #[arg(value_name = "DIR", conflicts_with_all = ["hosts", "project", "no_project"])]
    pub(crate) dir: Option<Utf8PathBuf>,
    #[command(flatten)]
    pub(crate) hosts: HostOptions,
    #[command(flatten)]
    pub(crate) finding: DiscoveryOptions,
    /// Output format
    #[arg(long, value_name = "FORMAT", default_value = "table")]
    pub(crate) format: ListFormat,
}

#[derive(Debug, Args)]
pub(crate) struct ExplainArgs {
    /// Trust mode, as for check [default: tofu]
    #[arg(long, value_name = "MODE")]
    pub(crate) trust: Option<TrustArg>,
    /// Output format
    #[arg(long, value_name = "FORMAT", default_value = "table")]
    pub(crate) format: ListFormat,
    #[command(flatten)]
    pub(crate) plugin: FindArgs,
}

#[derive(Debug, Args)]
pub(crate) struct DiffArgs {
    /// Compare with the plugin in this directory instead of the pin, such as another checkout
    #[arg(long, value_name = "DIR")]
    pub(crate) against: Option<Utf8PathBuf>,
    #[command(flatten)]
    pub(crate) plugin: FindArgs,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum SchemeArg {
    /// plugward's: kinds, execute bits, symlinks, contents
    Plugtree,
    /// Go's dirhash, for comparison
    H1,
    /// The digest of the older JSON lockfile, for comparison
    Codewizard,
}

#[derive(Debug, Args)]
pub(crate) struct DigestArgs {
    /// Directory
    #[arg(value_name = "DIR")]
    pub(crate) dir: Utf8PathBuf,
    /// Print the hashed text
    #[arg(long)]
    pub(crate) list: bool,
    /// Digest scheme
    #[arg(long, default_value = "plugtree")]
    pub(crate) scheme: SchemeArg,
    /// Leave PATH out: .git, .hg, .jj, .svn, PLUGINS.lock or PLUGINS.lock.minisig
    #[arg(long, value_name = "PATH")]
    pub(crate) exclude: Vec<String>,
}

#[derive(Debug, Args)]
pub(crate) struct CodesArgs {
    /// Rule or code to explain [default: list them all]
    #[arg(value_name = "CODE")]
    pub(crate) code: Option<String>,
    /// Output format
    #[arg(long, value_name = "FORMAT", default_value = "table")]
    pub(crate) format: ListFormat,
}
