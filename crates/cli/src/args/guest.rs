//! The arguments of `plugward guest`.

use camino::Utf8PathBuf;
use clap::{Args, Subcommand};

#[derive(Debug, Subcommand)]
pub(crate) enum GuestVerb {
    /// Run a script that can use only the enabled modules
    ///
    /// The script is the body of a function: `return` gives the result, which is printed as JSON. It loads a module with
    /// `require("host:NAME")`. It runs under node without files, connections and other access. It is ended after 5 seconds
    /// without a call, and has 256 MiB of memory.
    #[command(
        after_help = "The exit code is 0 for a result, and 1 if the script threw an exception or was ended.\n\nExamples:\n  \
                      plugward guest run sum.js                                      # a script without modules\n  \
                      plugward guest run s.js --enable builtin:fs-read baseDir=docs  # one that reads files of docs"
    )]
    Run(GuestRunArgs),
}

#[derive(Debug, Args)]
pub(crate) struct GuestRunArgs {
    /// File with the script
    #[arg(value_name = "SCRIPT")]
    pub(crate) script: Utf8PathBuf,
    /// Plugin whose modules the script can use, and its settings as KEY=VALUE
    #[arg(long, value_name = "ID", num_args = 1..)]
    pub(crate) enable: Vec<String>,
}
