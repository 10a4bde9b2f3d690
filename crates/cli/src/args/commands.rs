//! The arguments of the verbs about command plugins.

use camino::Utf8PathBuf;
use clap::{Args, Subcommand};

use super::inspect::ListFormat;

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

#[derive(Debug, Args)]
pub(crate) struct CommandNameArgs {
    /// Command name or id
    #[arg(value_name = "NAME")]
    pub(crate) name: String,
}

#[derive(Debug, Args)]
pub(crate) struct UpdateArgs {
    /// Command name or id [default: all]
    #[arg(value_name = "NAME")]
    pub(crate) name: Option<String>,
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
