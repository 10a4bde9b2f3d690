//! The arguments of `doctor` and `launch`, and those that grant access.

use camino::Utf8PathBuf;
use clap::{Args, ValueEnum};

use super::inspect::ListFormat;
use crate::access::{GrantKind, GrantList, GrantText};

#[derive(Debug, Args)]
pub(crate) struct DoctorArgs {
    /// Exit with 1 if granted access cannot be enforced
    #[arg(long)]
    pub(crate) require: bool,
    /// Output format
    #[arg(long, value_name = "FORMAT", default_value = "table")]
    pub(crate) format: ListFormat,
}

/// What one start can use, instead of the entry in `launch.grants`.
#[derive(Debug, Args)]
#[command(next_help_heading = "Access (replaces the entry in `launch.grants`)")]
pub(crate) struct AccessArgs {
    /// Directory that the program can read (repeatable)
    #[arg(long, value_name = "DIR")]
    read: Vec<String>,
    /// Directory that the program can read and write (repeatable)
    #[arg(long, value_name = "DIR")]
    write: Vec<String>,
    /// Host and port to which the program can connect (repeatable)
    #[arg(long, value_name = "HOST:PORT")]
    connect: Vec<String>,
    /// Port on which the program can listen (repeatable)
    #[arg(long, value_name = "PORT")]
    listen: Vec<String>,
    /// Environment variable that the program gets (repeatable)
    #[arg(long, value_name = "NAME")]
    env: Vec<String>,
    /// Program that the program can start (repeatable)
    #[arg(long, value_name = "PROGRAM")]
    run: Vec<String>,
    /// Reaction to a system that cannot enforce the access [default: `launch.enforce`]
    #[arg(long, value_name = "RULE")]
    pub(crate) enforce: Option<EnforceArg>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum EnforceArg {
    /// Start nothing.
    Require,
    /// Start the program, with a warning.
    BestEffort,
}

impl AccessArgs {
    /// Returns the grants, or `None` without a flag.
    pub(crate) fn grants(&self) -> Option<GrantList> {
        let Self { read, write, connect, listen, env, run, enforce: _ } = self;
        let lists = [read, write, connect, listen, env, run].into_iter().zip(GrantKind::ALL);
        let grants = lists.flat_map(|(texts, (_, kind))| {
            texts.iter().map(move |text| (kind, GrantText { text: text.clone(), location: None }))
        });
        let list = GrantList { grants: grants.collect(), directory: None };
        (!list.grants.is_empty()).then_some(list)
    }
}

#[derive(Debug, Args)]
pub(crate) struct LaunchArgs {
    /// Name, key or directory of a plugin
    #[arg(value_name = "ID")]
    pub(crate) id: String,
    /// File of the plugin that starts, such as bin/tool, and its arguments
    #[arg(value_name = "FILE", required = true, trailing_var_arg = true, allow_hyphen_values = true)]
    pub(crate) command: Vec<String>,
    /// Directory that contains the plugin (repeatable)
    #[arg(long = "in", value_name = "DIR")]
    pub(crate) dirs: Vec<Utf8PathBuf>,
    /// Write what is enforced, and the exit code, to FILE as JSON
    #[arg(long, value_name = "FILE")]
    pub(crate) report: Option<Utf8PathBuf>,
    #[command(flatten)]
    pub(crate) access: AccessArgs,
}
