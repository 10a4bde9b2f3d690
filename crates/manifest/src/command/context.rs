//! The context of a command, and the result of judging one.

use std::collections::BTreeSet;

use plugward_commands::CommandWord;

use crate::dialects::{Dialect, RelativeBase};
use crate::manifest::Files;
use crate::surface::Coverage;

use super::judge::Verdict;

/// The value of root variables, which no path of a plugin has.
pub(super) const ROOT: &str = "/\u{10fffc}";

/// The context of a command: the root variables, the base of relative paths, and the plugin's files.
#[derive(Clone, Copy)]
pub struct CommandContext<'a> {
    pub(super) roots: &'a [&'a str],
    pub(super) relative: RelativeBase,
    pub(super) bare_is_file: bool,
    pub(super) files: Option<&'a dyn Files>,
    excluded: &'a [&'a str],
}

impl core::fmt::Debug for CommandContext<'_> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("CommandContext")
            .field("roots", &self.roots)
            .field("relative", &self.relative)
            .finish_non_exhaustive()
    }
}

impl<'a> CommandContext<'a> {
    /// Creates a context with the root variables and relative paths of a dialect.
    #[must_use]
    pub const fn new(dialect: Dialect) -> Self {
        let relative = dialect.relative_base();
        Self {
            roots: dialect.root_variables(),
            relative,
            // gnoma resolves every program inside the plugin directory and never in PATH.
            bare_is_file: matches!(dialect, Dialect::Gnoma),
            files: None,
            excluded: &[],
        }
    }

    /// Sets the plugin's files, which provide the first lines of scripts, and the lockfiles of packages.
    #[must_use]
    pub const fn with_files(self, files: &'a dyn Files) -> Self {
        Self { files: Some(files), ..self }
    }

    /// Sets the top-level names that the digest excludes; files inside them do not count as files of the tree.
    #[must_use]
    pub const fn with_excluded(self, names: &'a [&'a str]) -> Self {
        Self { excluded: names, ..self }
    }

    /// Sets the plugin directory as the directory in which the command starts.
    #[must_use]
    pub const fn at_root(self) -> Self {
        Self { relative: RelativeBase::Root, ..self }
    }

    /// Returns a word as written, with variables as `${NAME}`.
    pub(super) fn shown(&self, word: &CommandWord) -> String {
        let root = self.roots.first().map(|name| format!("${{{name}}}"));
        root.map_or_else(|| word.shown().to_owned(), |root| word.shown().replace(ROOT, &root))
    }

    /// Returns the rest of a word after the root variable.
    pub(super) fn after_root<'w>(&self, word: &'w str) -> Option<&'w str> {
        let rest = word.strip_prefix("${")?;
        self.roots.iter().find_map(|root| rest.strip_prefix(root)?.strip_prefix('}'))
    }

    /// Returns the path in the tree that a word refers to.
    pub(super) fn in_tree(&self, word: &str) -> Option<String> {
        let (path, rooted) = match self.after_root(word) {
            Some("") => ("", true),
            Some(rest) => (rest.strip_prefix('/')?, true),
            None => (word, false),
        };
        // A URL also contains slashes.
        let relative = self.relative == RelativeBase::Root && (path.contains('/') || path == ".");
        let relative = relative && !path.contains("://");
        if path.contains('$') || (!rooted && (!relative || path.starts_with(['/', '~']))) {
            return None;
        }
        // A `..` can leave the tree, so the path is not claimed to be inside.
        if path.split('/').any(|part| part == "..") || path.contains(['\\', '*', '?', '[']) {
            return None;
        }
        let parts: Vec<&str> = path.split('/').filter(|part| !part.is_empty() && *part != ".").collect();
        if parts.first().is_some_and(|first| self.excluded.contains(first)) {
            return None;
        }
        Some(parts.join("/"))
    }

    /// Returns the file that a word names: with a root variable or `./` in front, or because it exists.
    ///
    /// A slash alone does not make an argument a file.
    pub(super) fn names_file(&self, word: &str) -> Option<String> {
        let path = self.in_tree(word).filter(|path| !path.is_empty())?;
        let placed = self.after_root(word).is_some() || word.starts_with("./");
        let there = || self.files.is_none_or(|files| exists(files, &path));
        (placed || there()).then_some(path)
    }

    /// Returns the path of a script argument. In the plugin directory, a bare name counts if the file exists.
    pub(super) fn script(&self, word: &str) -> Option<String> {
        self.in_tree(word).or_else(|| {
            let files = self.files.filter(|_| self.relative == RelativeBase::Root)?;
            files.get(word).map(|_| word.to_owned())
        })
    }

    /// Returns `true` if a directory of the tree has one of the files.
    pub(super) fn has_any(&self, directory: Option<&str>, names: &[&str]) -> bool {
        let Some((files, directory)) = self.files.zip(directory) else { return false };
        names.iter().any(|name| files.get(&crate::reader::path::join(directory, name)).is_some())
    }
}

fn exists(files: &dyn Files, path: &str) -> bool {
    files.get(path).is_some() || files.under(path).next().is_some()
}

/// One command of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommandPart {
    pub(super) words: Vec<String>,
    pub(super) coverage: Coverage,
    pub(super) why: String,
    pub(super) started: Option<String>,
}

impl CommandPart {
    pub(super) fn new(words: Vec<String>, verdict: Verdict) -> Self {
        Self { words, coverage: verdict.coverage, why: verdict.why, started: verdict.started }
    }

    /// Returns the words, with variables as `${NAME}`.
    #[must_use]
    pub fn words(&self) -> &[String] {
        &self.words
    }

    /// Returns the coverage of this command alone.
    pub const fn coverage(&self) -> Coverage {
        self.coverage
    }

    /// Returns the reason for the coverage: a program, script or reference, or an explanation.
    #[must_use]
    pub fn why(&self) -> &str {
        &self.why
    }

    /// Returns the file of the tree that the command starts.
    #[must_use]
    pub fn started(&self) -> Option<&str> {
        self.started.as_deref()
    }
}

/// The result of judging a command text or an argument list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommandAnalysis {
    pub(super) parts: Vec<CommandPart>,
    pub(super) coverage: Coverage,
    pub(super) reads_env: Vec<String>,
    pub(super) files: Vec<String>,
    pub(super) unquoted_root: bool,
    pub(super) is_plain: bool,
}

impl CommandAnalysis {
    /// Returns the commands, including those in substitutions. Builtins and keywords are not listed.
    #[must_use]
    pub fn parts(&self) -> &[CommandPart] {
        &self.parts
    }

    /// Returns the coverage of the whole text.
    ///
    /// # Guarantees
    /// The result is never better than the worst coverage of the parts.
    pub const fn coverage(&self) -> Coverage {
        self.coverage
    }

    /// Returns the names of the variables in the text, sorted, without the root variables.
    #[must_use]
    pub fn reads_env(&self) -> &[String] {
        &self.reads_env
    }

    /// Returns the files of the tree that the text names, sorted.
    #[must_use]
    pub fn files(&self) -> &[String] {
        &self.files
    }

    /// Returns `true` if a root variable is not quoted, which fails if the plugin's path contains a space.
    #[must_use]
    pub const fn has_unquoted_root(&self) -> bool {
        self.unquoted_root
    }

    /// Returns `true` if the text has words alone: no operators and no redirections.
    pub(crate) const fn is_plain(&self) -> bool {
        self.is_plain
    }

    /// Returns the reasons for the coverage of all parts, without duplicates.
    #[must_use]
    pub fn why(&self) -> String {
        let mut seen = BTreeSet::new();
        let whys: Vec<&str> =
            self.parts.iter().map(|part| part.why.as_str()).filter(|why| seen.insert(*why)).collect();
        whys.join("; ")
    }
}
