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
    /// Use the static scan only; audits by a language model are not available
    #[arg(long = "static", required = true)]
    pub(crate) after_scan: bool,
    #[command(flatten)]
    pub(crate) finding: DiscoveryOptions,
}
