//! The arguments of `plugward gate`.

use clap::{Args, Subcommand};

#[derive(Debug, Subcommand)]
pub(crate) enum GateVerb {
    /// Answer OpenClaw before it installs or updates a plugin
    ///
    /// Reads a request of `security.installPolicy` from standard input, and prints the decision as JSON. The exit code is
    /// 0 for every decision. What cannot be judged, or takes too long, is blocked.
    #[command(
        after_help = "Examples:\n  plugward gate openclaw --setup          # print the settings for OpenClaw\n  \
                      plugward gate openclaw < request.json   # answer one request, as OpenClaw asks"
    )]
    Openclaw(GateArgs),
}

#[derive(Debug, Args)]
pub(crate) struct GateArgs {
    /// Print the settings for OpenClaw, with the path of this program, instead of answering
    #[arg(long)]
    pub(crate) setup: bool,
    /// Seconds after which the answer is `block`; OpenClaw waits for 10
    #[arg(long, value_name = "SECONDS", default_value_t = GateArgs::TIMEOUT, value_parser = clap::value_parser!(u64).range(1..=600))]
    pub(crate) timeout: u64,
}

impl GateArgs {
    /// The default timeout, which leaves two seconds of the time that OpenClaw waits.
    pub(crate) const TIMEOUT: u64 = 8;
}
