//! The arguments of `plugward module`.

use clap::{Args, Subcommand};

#[derive(Debug, Subcommand)]
pub(crate) enum ModuleVerb {
    /// List the modules of a plugin with their functions, as JSON
    #[command(
        after_help = "Examples:\n  plugward module list builtin:fs-read baseDir=docs   # functions that read files\n  \
                      plugward module list builtin:fs-write baseDir=out   # functions that write files"
    )]
    List(ModuleListArgs),
    /// Call a function of a module, and print its result as JSON
    #[command(
        after_help = "The exit code is 0 if the function returned, also an error as its result, and 1 if it threw an exception.\n\nExamples:\n  \
                      plugward module call builtin:fs-read fs-read.readFile '[\"a.txt\"]' baseDir=docs   # read \
                      docs/a.txt\n  plugward module call builtin:fs-read fs-read.listDir '[\".\"]' baseDir=docs        \
                      # list docs"
    )]
    Call(ModuleCallArgs),
}

#[derive(Debug, Args)]
pub(crate) struct ModuleListArgs {
    /// Plugin that declares modules, builtin:fs-read, builtin:fs-write or builtin:fetch
    #[arg(value_name = "ID")]
    pub(crate) id: String,
    /// Settings of the plugin
    #[arg(value_name = "KEY=VALUE")]
    pub(crate) settings: Vec<String>,
}

#[derive(Debug, Args)]
pub(crate) struct ModuleCallArgs {
    /// Plugin that declares modules, builtin:fs-read, builtin:fs-write or builtin:fetch
    #[arg(value_name = "ID")]
    pub(crate) id: String,
    /// Module and function, such as fs-read.readFile
    #[arg(value_name = "MODULE.FUNCTION")]
    pub(crate) function: String,
    /// Arguments of the function, as a JSON array
    #[arg(value_name = "JSON")]
    pub(crate) args: String,
    /// Settings of the plugin
    #[arg(value_name = "KEY=VALUE")]
    pub(crate) settings: Vec<String>,
}
