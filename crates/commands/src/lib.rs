#![doc = include_str!("../README.md")]

mod error;
mod inner;
mod line;
mod package;
mod path;
mod read;
mod syntax;
mod table;
mod variables;
mod word;

pub use error::{CommandError, CommandLimits};
pub use inner::{InnerCommand, InnerPart, inner_command};
pub use line::{
    CodeLanguage, CommandLine, OpenWord, OpenWordKind, ProgramRole, RecipeTool, StartTarget, StartedProgram,
};
pub use package::{PackagePrecision, PackageReference, PackageRegistry, is_semver, precision};
pub use path::PathText;
pub use variables::{VariableEffect, VariableReading, loads_code, read_variable, takes_command};
pub use word::{CommandWord, WordPart};

/// The variable with which a caller gives the output of `git rev-parse --show-toplevel`.
pub const TOP_LEVEL: &str = "git rev-parse --show-toplevel";

/// What is known about the place of a command.
#[derive(Clone)]
#[expect(clippy::exhaustive_structs, reason = "all parts are required")]
pub struct CommandContext<'a> {
    /// Returns the value of a variable that the host sets, also of `HOME`, `PWD` and [`TOP_LEVEL`]. For a script, `0` and
    /// `BASH_SOURCE` are its own path.
    pub variables: &'a dyn Fn(&str) -> Option<String>,
    /// The directory in which the command starts.
    pub directory: PathText,
    /// The limits.
    pub limits: CommandLimits,
}

impl core::fmt::Debug for CommandContext<'_> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("CommandContext").field("directory", &self.directory).finish_non_exhaustive()
    }
}

/// Reads the text of a hook, an npm script or a recipe, which a POSIX shell runs.
///
/// # Errors
/// Returns [`CommandError`] if a limit is reached.
pub fn read_command(text: &str, context: &CommandContext<'_>) -> Result<CommandLine, CommandError> {
    let mut reader = read::Reader::new(context);
    reader.text(text)?;
    reader.handlers()?;
    Ok(reader.finish())
}

/// Reads a shell script. Every branch counts as run, and so does every function.
///
/// # Errors
/// Returns [`CommandError`] if a limit is reached.
pub fn read_script(text: &str, context: &CommandContext<'_>) -> Result<CommandLine, CommandError> {
    let mut reader = read::Reader::new(context);
    reader.text(text)?;
    reader.functions()?;
    Ok(reader.finish())
}

/// Reads an argument list, which a host starts without a shell. Variables such as `${NAME}` are expanded.
///
/// # Errors
/// Returns [`CommandError`] if a limit is reached.
pub fn read_argv(words: &[&str], context: &CommandContext<'_>) -> Result<CommandLine, CommandError> {
    let mut reader = read::Reader::new(context);
    reader.argv(words)?;
    Ok(reader.finish())
}

/// Returns the endings that an interpreter tries for a file, such as `.js` and `/index.js` for `node`.
#[must_use]
pub fn extensions(interpreter: &str) -> &'static [String] {
    table::interpreter(table::base_name(interpreter)).map_or(&[], |one| &one.extensions)
}

/// Returns the kind of a program.
#[must_use]
pub fn program_role(program: &str) -> ProgramRole {
    table::role(table::base_name(program))
}

/// Returns the language of the texts and files that an interpreter runs.
#[must_use]
pub fn language(interpreter: &str) -> Option<CodeLanguage> {
    let known = table::interpreter(table::base_name(interpreter))?;
    (known.operand != table::Operand::Data).then_some(known.language)
}

/// Returns `true` for the variables that hosts set to a plugin's directory.
#[must_use]
pub fn is_plugin_root(variable: &str) -> bool {
    table::has(&table::table().plugin_roots, variable)
}

/// Returns `true` if a program downloads text, so that its output is code from elsewhere.
#[must_use]
pub fn is_downloader(program: &str) -> bool {
    table::has(&table::table().downloaders, table::base_name(program))
}

/// Returns the last component of a program's path, without `.exe`, `.cmd` or `.bat`.
#[must_use]
pub fn base_name(name: &str) -> &str {
    table::base_name(name)
}
