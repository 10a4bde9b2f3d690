//! The arguments of `plugward hook`.

use camino::Utf8PathBuf;
use clap::{Args, Subcommand, ValueEnum};

use super::inspect::{DiscoveryOptions, ListFormat, TrustArg};

#[derive(Debug, Subcommand)]
pub(crate) enum HookVerb {
    /// Show when each hook runs, what it sees, and what happens if it fails
    #[command(
        after_help = "Examples:\n  plugward hook plan pre_tool_use --in plugins --hooks hooks.toml\n  \
                            plugward hook plan --in plugins --format json"
    )]
    Plan(HookPlanArgs),
    /// Run the hooks of one event and print the answer as JSON
    ///
    /// The payload comes from standard input: {"tool": "Bash", "args": {…}} for a tool, with
    /// "result": {"output": …, "metadata": {…}, "failed": false} after its use, and {"data": {…}} for other events.
    /// The keys `session_id`, `transcript_path` and `permission_mode` next to "tool", or in the data, reach the hooks;
    /// only managed and user hooks get paths of transcripts. Everything printed is redacted. Exit codes: 0 allow or skip,
    /// 3 ask or defer, 5 deny, 2 bad input, 7 unreadable store, 1 internal error.
    #[command(after_help = "Examples:\n  echo '{\"tool\":\"Bash\",\"args\":{\"command\":\"ls\"}}' | \
                            plugward hook fire PreToolUse --hooks hooks.toml\n  \
                            plugward hook fire PostToolUse --in plugins --replies replies.jsonl < payload.json")]
    Fire(HookFireArgs),
}

/// The sources of hooks.
#[derive(Debug, Args)]
pub(crate) struct HookSources {
    /// Directory that contains plugins, or a plugin directory (repeatable)
    #[arg(long = "in", value_name = "DIR")]
    pub(crate) dirs: Vec<Utf8PathBuf>,
    /// Hooks file of the user: gnoma TOML, or Claude Code JSON (repeatable)
    #[arg(long, value_name = "FILE")]
    pub(crate) hooks: Vec<Utf8PathBuf>,
    /// Hooks file of a project, which sees redacted text only (repeatable)
    #[arg(long, value_name = "FILE")]
    pub(crate) project_hooks: Vec<Utf8PathBuf>,
    /// How to treat new plugins [default: tofu]
    #[arg(long, value_name = "MODE")]
    pub(crate) trust: Option<TrustArg>,
    #[command(flatten)]
    pub(crate) finding: DiscoveryOptions,
}

#[derive(Debug, Args)]
pub(crate) struct HookPlanArgs {
    /// Event, such as `pre_tool_use` or `PreToolUse` [default: all]
    #[arg(value_name = "EVENT")]
    pub(crate) event: Option<String>,
    #[command(flatten)]
    pub(crate) sources: HookSources,
    /// Output format
    #[arg(long, value_name = "FORMAT", default_value = "table")]
    pub(crate) format: ListFormat,
}

#[derive(Debug, Args)]
pub(crate) struct HookFireArgs {
    /// Event, such as `pre_tool_use` or `PreToolUse`
    #[arg(value_name = "EVENT")]
    pub(crate) event: String,
    #[command(flatten)]
    pub(crate) sources: HookSources,
    /// Output format
    #[arg(long, value_name = "FORMAT", default_value = "json")]
    pub(crate) format: FireFormat,
    /// Answer of the host's own permission rule
    #[arg(long, value_name = "ANSWER", default_value = "allow")]
    pub(crate) permit: PermitArg,
    /// Replies of the model for prompt and agent hooks, one JSON string per line
    #[arg(long, value_name = "FILE")]
    pub(crate) replies: Option<Utf8PathBuf>,
    /// Write what the model was asked to FILE, one request per line
    #[arg(long, value_name = "FILE")]
    pub(crate) record: Option<Utf8PathBuf>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum FireFormat {
    /// JSON, the only format
    Json,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum PermitArg {
    /// The host allows the event.
    Allow,
    /// The host would ask the user.
    Ask,
    /// The host denies the event.
    Deny,
}
