//! The words of the verbs that look.

use camino::Utf8PathBuf;
use clap::{Args, ValueEnum};

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
    /// Report version 2.
    Json,
    /// SARIF 2.1.0.
    Sarif,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum CheckFormat {
    /// For people.
    Table,
    /// Report version 2.
    Json,
    /// SARIF 2.1.0.
    Sarif,
    /// One page without outside references.
    Html,
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
    /// The version of the host, for plugins that name the one they need.
    #[arg(long, value_name = "VERSION")]
    pub(crate) host_version: Option<String>,
}

#[derive(Debug, Args)]
#[expect(clippy::struct_excessive_bools, reason = "flags of the command line")]
pub(crate) struct CheckArgs {
    /// Folders that hold plugins, or are one.
    #[arg(required = true, value_name = "DIR")]
    pub(crate) dirs: Vec<Utf8PathBuf>,
    /// What happens to a plugin that nobody has seen before [default: tofu].
    #[arg(long, value_name = "MODE")]
    pub(crate) trust: Option<TrustArg>,
    #[arg(long, default_value = "table")]
    pub(crate) format: CheckFormat,
    /// Check these plugins only (a name or an id); the others are skipped and counted.
    #[arg(long, value_name = "NAME")]
    pub(crate) enabled: Vec<String>,
    /// If one plugin is refused, refuse them all.
    #[arg(long)]
    pub(crate) all_or_nothing: bool,
    #[command(flatten)]
    pub(crate) finding: Finding,
    /// Neither read nor write the records of earlier scans (locked reads none in any case).
    #[arg(long)]
    pub(crate) no_cache: bool,
    /// The unit of work that the ledger's records of this run belong to [default: one of its own].
    #[arg(long, value_name = "ID")]
    pub(crate) workflow: Option<String>,
    /// Verdicts never change the exit code; 1, 2 and 7 still do.
    #[arg(long)]
    pub(crate) exit_zero: bool,
    /// Exit with 0 if there is no plugin to check.
    #[arg(long)]
    pub(crate) allow_empty: bool,
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
    /// Which severities the rules have [default: that of the settings, else general].
    #[arg(long)]
    pub(crate) profile: Option<ProfileArg>,
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
    /// Neither read nor write the records of earlier scans.
    #[arg(long)]
    pub(crate) no_cache: bool,
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
    /// The plugin: its directory, its recorded id, or its name.
    pub(crate) id: String,
    /// Directory to search, besides the pins and the project of the working directory; can be repeated.
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

#[derive(Debug, Args)]
pub(crate) struct DiffArgs {
    /// The plugin: its directory, its recorded id, or its name.
    pub(crate) id: String,

    /// Directory to search, besides the pins and the project of the working directory; can be repeated.
    #[arg(long = "in", value_name = "DIR")]
    pub(crate) dirs: Vec<Utf8PathBuf>,

    #[command(flatten)]
    pub(crate) finding: Finding,
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
    /// The rule or code to explain [default: list them all].
    #[arg(value_name = "CODE")]
    pub(crate) code: Option<String>,
    #[arg(long, default_value = "table")]
    pub(crate) format: ListFormat,
}
