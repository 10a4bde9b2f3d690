//! Arguments of `review`.

use camino::Utf8PathBuf;
use clap::Args;

use super::inspect::{DiscoveryOptions, TrustArg};

#[derive(Debug, Args)]
pub(crate) struct ReviewArgs {
    /// Directories that contain plugins, or plugin directories [default: everything that is installed]
    #[arg(value_name = "DIR", conflicts_with_all = ["hosts", "project", "no_project"])]
    pub(crate) dirs: Vec<Utf8PathBuf>,
    #[command(flatten)]
    pub(crate) hosts: super::HostOptions,
    /// Trust mode, as for check [default: tofu]
    #[arg(long, value_name = "MODE")]
    pub(crate) trust: Option<TrustArg>,
    #[command(flatten)]
    pub(crate) finding: DiscoveryOptions,
}
