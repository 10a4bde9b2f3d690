//! Arguments of `audit`.

use camino::Utf8PathBuf;
use clap::Args;

use super::change::FindArgs;
use super::inspect::{DiscoveryOptions, ListFormat};

#[derive(Debug, Args)]
#[expect(clippy::struct_excessive_bools, reason = "one for each flag")]
pub(crate) struct AuditArgs {
    /// Plugins: their directories, recorded ids, or names
    #[arg(value_name = "ID", required_unless_present = "changed", conflicts_with = "changed")]
    pub(crate) ids: Vec<String>,
    /// Directory to search, besides the pins and the project of the working directory (repeatable)
    #[arg(long = "in", value_name = "DIR")]
    pub(crate) dirs: Vec<Utf8PathBuf>,
    /// Audit the plugins in --in that differ from their pins and from PLUGINS.lock
    #[arg(long, requires = "dirs")]
    pub(crate) changed: bool,
    /// Lockfile that alone decides which plugins are changed
    #[arg(long, value_name = "LOCKFILE", requires = "changed")]
    pub(crate) against: Option<Utf8PathBuf>,
    /// List findings and claims, and ask no model
    #[arg(long = "static", conflicts_with_all = ["full", "reuse", "dry_run"])]
    pub(crate) after_scan: bool,
    /// Send all files, also if only a few changed since the last full audit
    #[arg(long)]
    pub(crate) full: bool,
    /// Use a stored audit of the same contents by the same model
    #[arg(long)]
    pub(crate) reuse: bool,
    /// Print what would be sent, and send nothing; with -v, print the request
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Do not ask before an expensive audit
    #[arg(long)]
    pub(crate) yes: bool,
    #[arg(long, default_value = "table")]
    pub(crate) format: ListFormat,
    #[command(flatten)]
    pub(crate) finding: DiscoveryOptions,
}

impl AuditArgs {
    /// Returns the arguments for an audit of one plugin.
    pub(crate) fn of(plugin: FindArgs) -> Self {
        Self {
            ids: vec![plugin.named.id],
            dirs: plugin.named.dirs,
            changed: false,
            against: None,
            after_scan: false,
            full: false,
            reuse: false,
            dry_run: false,
            yes: false,
            format: ListFormat::Table,
            finding: plugin.finding,
        }
    }
}
