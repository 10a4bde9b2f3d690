//! The result of reading a command: what it starts, and which words decide that without a known value.

use crate::{CommandWord, PackageReference, PathText};

/// The programs that a command starts, including those in substitutions and nested texts.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct CommandLine {
    /// The programs in the order of the text. A program behind a wrapper follows the wrapper.
    pub programs: Vec<StartedProgram>,
    /// The words in executing positions whose value is not known.
    pub open_words: Vec<OpenWord>,
    /// The names of the variables that the text uses, sorted, also those with a known value.
    pub variables: Vec<String>,
    /// The names of those that are used without quotes.
    pub unquoted_variables: Vec<String>,
    /// The words of redirections, loops and tests, which are arguments of no program.
    pub other_words: Vec<CommandWord>,
    /// `true` if the text is more than one plain command: operators, keywords or substitutions.
    pub is_compound: bool,
    /// `true` if the text has operators, redirections or line ends, so that it is more than words.
    pub has_operators: bool,
}

impl CommandLine {
    /// Returns the targets of all programs.
    pub fn starts(&self) -> impl Iterator<Item = &StartTarget> {
        self.programs.iter().flat_map(|program| &program.starts)
    }
}

/// A program that a command starts. Builtins of the shell are programs here, too.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct StartedProgram {
    /// The program.
    pub name: CommandWord,
    /// Its arguments.
    pub arguments: Vec<CommandWord>,
    /// The files and texts that it runs. A program with a slash in its name is the first of them.
    pub starts: Vec<StartTarget>,
    /// The directory in which it starts.
    pub directory: PathText,
    /// The variables that the command sets for it.
    pub environment: Vec<(CommandWord, CommandWord)>,
    /// The number of wrappers, substitutions and nested texts around it.
    pub depth: usize,
    /// `true` if it is an argument of the program before it, and not of a nested text.
    pub is_wrapped: bool,
    pub(crate) role: ProgramRole,
}

impl StartedProgram {
    /// Returns the kind of the program.
    #[must_use]
    pub const fn role(&self) -> ProgramRole {
        self.role
    }

    /// Returns `true` if it runs the code of the project or packages, whose files no command names.
    #[must_use]
    pub const fn is_floating(&self) -> bool {
        matches!(self.role, ProgramRole::ProjectTool | ProgramRole::PackageRunner)
    }
}

/// The kind of a program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ProgramRole {
    /// A builtin of the shell, which starts no process.
    Builtin,
    /// Runs a text, file or module from its arguments.
    Interpreter,
    /// Starts the program in its arguments.
    Wrapper,
    /// Runs code of the project that no command names: `make`, `cargo`, `npm run`, `pytest`.
    ProjectTool,
    /// Downloads code and runs it.
    PackageRunner,
    /// Its arguments are data.
    Data,
    /// Any other program.
    Other,
}

/// A file, text, module, package or recipe that a program runs.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum StartTarget {
    /// A file. Interpreters try several names; see [`extensions`](crate::extensions).
    File(PathText),
    /// All files with a path that matches the pattern.
    Pattern(PathText),
    /// A file of variables, of which those that load code count.
    Environment(PathText),
    /// A bare program name, and the directories that the text adds to `PATH`.
    OnPath {
        /// The name.
        name: CommandWord,
        /// The directories, in the order of the search.
        directories: Vec<PathText>,
    },
    /// A text. Shell texts with a known value are also read, and their programs follow.
    Code {
        /// The language.
        language: CodeLanguage,
        /// The text.
        text: CommandWord,
    },
    /// A module, as in `python -m NAME`.
    Module(CommandWord),
    /// A package that a package runner downloads.
    Package(PackageReference),
    /// A named recipe of the project.
    Recipe {
        /// The tool.
        tool: RecipeTool,
        /// The name of the recipe; empty for the default one.
        name: CommandWord,
        /// The files with the recipes, if the command names any.
        files: Vec<PathText>,
        /// `true` if the command runs it in workspaces of the project.
        in_workspaces: bool,
        /// The variables that the command sets for make, just or task, as `NAME=VALUE`. `.INCLUDE_DIRS` has a directory in
        /// which make looks for included files.
        assignments: Vec<String>,
        /// The words after the name of a recipe of just.
        arguments: Vec<CommandWord>,
    },
}

/// The language of a text that runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum CodeLanguage {
    /// A POSIX shell, bash or zsh.
    Shell,
    /// JavaScript or TypeScript.
    JavaScript,
    /// Python.
    Python,
    /// Any other language.
    Other,
}

/// A tool that runs named recipes of a project.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum RecipeTool {
    /// `scripts` of package.json with npm.
    Npm,
    /// `scripts` of package.json with pnpm.
    Pnpm,
    /// `scripts` of package.json with Yarn.
    Yarn,
    /// `scripts` of package.json with Bun.
    Bun,
    /// `tasks` of deno.json.
    Deno,
    /// A Makefile.
    Make,
    /// A justfile.
    Just,
    /// A Taskfile.
    Task,
}

/// A word that decides what runs, and whose value is not known.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "a word and why it is open")]
pub struct OpenWord {
    /// The word.
    pub word: CommandWord,
    /// Why its value is not known.
    pub kind: OpenWordKind,
}

/// Why the value of a word is not known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum OpenWordKind {
    /// It contains a variable that neither the text nor the host sets.
    Variable,
    /// It contains the output of a command.
    Substitution,
    /// It is read or computed at run time.
    Dynamic,
    /// The text is not in the syntax of a POSIX shell.
    ForeignSyntax,
    /// The argument of an unknown program looks like a command.
    UnknownProgram,
}
