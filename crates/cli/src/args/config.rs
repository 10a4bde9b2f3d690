//! Arguments of `config`.

use camino::Utf8PathBuf;
use clap::{Args, Subcommand, ValueEnum};

use super::ListFormat;

#[derive(Debug, Subcommand)]
pub(crate) enum ConfigVerb {
    /// Print the resolved settings
    #[command(
        after_help = "Examples:\n  plugward config show\n  plugward config show --project site --format json"
    )]
    Show(ConfigShowArgs),
    /// Show which layers set a key, and which value is used
    #[command(after_help = "Examples:\n  plugward config explain trust\n  \
                            plugward config explain plugins.bundle.hookify.run --project site")]
    Explain(ConfigExplainArgs),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum SettingsFormat {
    /// TOML, with the origins in comments
    Toml,
    /// JSON
    Json,
}

#[derive(Debug, Args)]
pub(crate) struct ConfigShowArgs {
    /// Directory whose projects count [default: the working directory]
    #[arg(long, value_name = "DIR")]
    pub(crate) project: Option<Utf8PathBuf>,
    /// Output format
    #[arg(long, value_name = "FORMAT", default_value = "toml")]
    pub(crate) format: SettingsFormat,
}

#[derive(Debug, Args)]
pub(crate) struct ConfigExplainArgs {
    /// Key of the setting, such as plugins.approval
    #[arg(value_name = "KEY")]
    pub(crate) key: String,
    /// Directory whose projects count [default: the working directory]
    #[arg(long, value_name = "DIR")]
    pub(crate) project: Option<Utf8PathBuf>,
    /// Output format
    #[arg(long, value_name = "FORMAT", default_value = "table")]
    pub(crate) format: ListFormat,
}
