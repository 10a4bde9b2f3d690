//! Arguments of `session`.

use camino::Utf8PathBuf;
use clap::Args;

use super::inspect::DiscoveryOptions;

#[derive(Debug, Args)]
pub(crate) struct SessionArgs {
    /// Directory that contains plugins
    #[arg(value_name = "DIR")]
    pub(crate) dir: Utf8PathBuf,
    /// Confirm plugins whose audit found risk LOW
    #[arg(long)]
    pub(crate) yes: bool,
    /// Let a language model audit plugins without a stored audit
    #[arg(long)]
    pub(crate) send: bool,
    /// Use the static scan only, and no audits by a language model
    #[arg(long = "static", conflicts_with = "send")]
    pub(crate) after_scan: bool,
    #[command(flatten)]
    pub(crate) finding: DiscoveryOptions,
}
