//! The arguments of the verbs about command plugins.

use camino::Utf8PathBuf;
use clap::{Args, Subcommand};

use super::inspect::ListFormat;
use super::launch::AccessArgs;

#[derive(Debug, Args)]
pub(crate) struct WhichArgs {
    /// Name of a command, such as serve, or its first word
    #[arg(value_name = "NAME")]
    pub(crate) name: String,
    /// Further words of the name, and arguments
    #[arg(value_name = "ARGS")]
    pub(crate) args: Vec<String>,
    /// Directory whose project's settings apply [default: the working directory]
    #[arg(long, value_name = "DIR")]
    pub(crate) project: Option<Utf8PathBuf>,
    /// Output format
    #[arg(long, value_name = "FORMAT", default_value = "table")]
    pub(crate) format: ListFormat,
}

#[derive(Debug, Subcommand)]
pub(crate) enum CommandVerb {
    /// Run a command plugin from its checked bytes
    #[command(
        after_help = "The exit code is the plugin's. Before it starts: 3 if it needs your consent, 4 if its file is not \
                      the checked one, 5 if it is denied.\n\nExamples:\n  plugward command run serve web --port 3141   \
                      # options after the name are the plugin's\n  plugward command run --format json serve     # its \
                      output, as JSON lines"
    )]
    Run(CommandRunArgs),
    /// Start a command plugin to print what it says about itself
    #[command(
        after_help = "Examples:\n  plugward command describe serve web           # name, version, help\n  plugward \
                      command describe serve --format json # for a program"
    )]
    Describe(CommandDescribeArgs),
}

#[derive(Debug, Args)]
pub(crate) struct CommandRunArgs {
    /// Name of a command, such as serve, and the arguments of the plugin
    #[arg(value_name = "NAME", required = true, trailing_var_arg = true, allow_hyphen_values = true)]
    pub(crate) words: Vec<String>,
    /// Directory whose project's settings apply [default: the working directory]
    #[arg(long, value_name = "DIR")]
    pub(crate) project: Option<Utf8PathBuf>,
    /// Output format
    #[arg(long, value_name = "FORMAT", default_value = "table")]
    pub(crate) format: ListFormat,
    #[command(flatten)]
    pub(crate) access: AccessArgs,
}

#[derive(Debug, Args)]
pub(crate) struct CommandDescribeArgs {
    /// Name of a command; its words can be separate arguments
    #[arg(value_name = "NAME", required = true)]
    pub(crate) name: Vec<String>,
    /// Output format
    #[arg(long, value_name = "FORMAT", default_value = "table")]
    pub(crate) format: ListFormat,
}

#[derive(Debug, Args)]
pub(crate) struct CommandNameArgs {
    /// Command name or id; its words can be separate arguments
    #[arg(value_name = "NAME", required = true)]
    pub(crate) name: Vec<String>,
}

#[derive(Debug, Args)]
pub(crate) struct UpdateArgs {
    /// Command name or id; its words can be separate arguments [default: all]
    #[arg(value_name = "NAME")]
    pub(crate) name: Vec<String>,
    /// Install the updates instead of listing them
    #[arg(long)]
    pub(crate) apply: bool,
}

#[derive(Debug, Args)]
pub(crate) struct PinArgs {
    /// Command name or id
    #[arg(value_name = "NAME")]
    pub(crate) name: String,
    /// Digest that replaces the pinned one, as it was shown
    #[arg(long, value_name = "DIGEST")]
    pub(crate) update: Option<String>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum RegistryVerb {
    /// List the registry and the plugins on PATH
    #[command(after_help = "Examples:\n  plugward registry list\n  plugward registry list --format json")]
    List {
        /// Output format
        #[arg(long, value_name = "FORMAT", default_value = "table")]
        format: ListFormat,
    },
}
