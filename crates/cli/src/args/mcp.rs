//! The arguments of the verbs about MCP servers.

use camino::Utf8PathBuf;
use clap::{Args, Subcommand};

use super::inspect::ListFormat;

#[derive(Debug, Subcommand)]
pub(crate) enum McpVerb {
    /// Start a server behind a proxy that pins what it offers
    #[command(
        override_usage = "plugward mcp run --name <NAME> -- <COMMAND> [ARGS]...\n       plugward mcp run <ID>/<SERVER>",
        after_help = "Without an entry in `launch.grants`, the server has your access to files, connections and processes. The exit code is the server's. If its \
                      offer does not pass: 3 if it is new and you must decide, 4 if it changed, 6 if the scan found \
                      a danger.\n\nExamples:\n  plugward mcp run --name fs -- npx -y @modelcontextprotocol/server-filesystem .\n  \
                      plugward mcp run db@acme/db   # a server of a plugin, from a private copy"
    )]
    Run(McpRunArgs),
    /// Show what a server offers, next to what is pinned
    #[command(
        after_help = "Examples:\n  plugward mcp tools                   # list the servers; starts nothing\n  \
                            plugward mcp tools fs                # start the server and compare\n  \
                            plugward mcp tools fs --saved        # what it offered last; starts nothing"
    )]
    Tools(McpToolsArgs),
    /// Pin a reviewed offer of a server
    #[command(after_help = "`plugward mcp tools SERVER` prints the command with the digest.")]
    Accept(McpAcceptArgs),
    /// Delete the pins of a server
    #[command(after_help = "Examples:\n  plugward mcp forget fs\n  plugward mcp forget db@acme/db")]
    Forget(McpServerArgs),
    /// Print how to start the servers of your hosts through plugward; changes nothing
    #[command(after_help = "Examples:\n  plugward mcp wrap                 # the servers of all hosts\n  \
                            plugward mcp wrap --host claude   # those of Claude Code")]
    Wrap(McpWrapArgs),
}

#[derive(Debug, Args)]
pub(crate) struct McpRunArgs {
    /// Server of a plugin, such as db@acme/db
    #[arg(value_name = "ID/SERVER", required_unless_present = "name", conflicts_with = "name")]
    pub(crate) server: Option<String>,
    /// Name under which the offer is pinned
    #[arg(long, value_name = "NAME", requires = "command")]
    pub(crate) name: Option<String>,
    /// Command that starts the server
    #[arg(last = true, value_name = "COMMAND", conflicts_with = "server")]
    pub(crate) command: Vec<String>,
}

#[derive(Debug, Args)]
pub(crate) struct McpToolsArgs {
    /// Name of a server, or ID/SERVER [default: list all servers]
    #[arg(value_name = "SERVER")]
    pub(crate) server: Option<String>,
    /// Show the last stored offer, and start nothing
    #[arg(long, requires = "server")]
    pub(crate) saved: bool,
    /// Output format
    #[arg(long, value_name = "FORMAT", default_value = "table")]
    pub(crate) format: ListFormat,
}

#[derive(Debug, Args)]
pub(crate) struct McpAcceptArgs {
    /// Name of a server, or ID/SERVER
    #[arg(value_name = "SERVER")]
    pub(crate) server: String,
    /// Digest of the reviewed offer, as `mcp tools` prints it
    #[arg(long, value_name = "DIGEST")]
    pub(crate) set: String,
}

#[derive(Debug, Args)]
pub(crate) struct McpServerArgs {
    /// Name of a server, or ID/SERVER
    #[arg(value_name = "SERVER")]
    pub(crate) server: String,
}

#[derive(Debug, Args)]
pub(crate) struct McpWrapArgs {
    /// Only the servers of this host
    #[arg(long, value_name = "HOST")]
    pub(crate) host: Option<String>,
    /// Directory whose project's servers are included [default: the working directory]
    #[arg(long, value_name = "DIR")]
    pub(crate) project: Option<Utf8PathBuf>,
}
