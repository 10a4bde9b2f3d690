//! What is known beside a command, and what a judgement gives.

use std::collections::BTreeSet;

use crate::coverage::Coverage;
use crate::dialect::{Dialect, Relative};
use crate::files::Files;

use super::shell::{Piece, Word};

/// What is known beside the text of a command.
#[derive(Clone, Copy)]
pub struct CommandContext<'a> {
    pub(super) roots: &'a [&'a str],
    pub(super) relative: Relative,
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
    /// Takes the root variables and the meaning of relative paths from a dialect.
    #[must_use]
    pub const fn new(dialect: Dialect) -> Self {
        let relative = dialect.relative();
        Self {
            roots: dialect.root_variables(),
            relative,
            bare_is_file: matches!(dialect, Dialect::Gnoma),
            files: None,
            excluded: &[],
        }
    }

    /// Adds the plugin's files: a script's first line and lock files are then looked at.
    #[must_use]
    pub const fn with_files(self, files: &'a dyn Files) -> Self {
        Self { files: Some(files), ..self }
    }

    /// Adds the root-level names that the digest leaves out: what lies there is not in the tree.
    #[must_use]
    pub const fn with_excluded(self, names: &'a [&'a str]) -> Self {
        Self { excluded: names, ..self }
    }

    /// Says that the command starts in the plugin's folder.
    #[must_use]
    pub const fn at_root(self) -> Self {
        Self { relative: Relative::Root, ..self }
    }

    /// Gives the path in the tree that a word stands for.
    pub(super) fn in_tree(&self, word: &Word) -> Option<String> {
        let (path, rooted) = match word.pieces.split_first()? {
            (Piece::Variable { name, .. }, rest) if self.roots.contains(&name.as_str()) => {
                let path = Word { pieces: rest.to_vec(), quoted: true }.literal()?;
                (if path.is_empty() { path } else { path.strip_prefix('/')?.to_owned() }, true)
            }
            _ => (word.literal()?, false),
        };
        // An address has slashes too and names no file.
        let relative = self.relative == Relative::Root && (path.contains('/') || path == ".");
        let relative = relative && !path.contains("://");
        if !rooted && (!relative || path.starts_with(['/', '~'])) {
            return None;
        }
        // A part that goes up may leave the tree; then nothing is claimed.
        if path.split('/').any(|part| part == "..") || path.contains(['\\', '*', '?', '[']) {
            return None;
        }
        let parts: Vec<&str> = path.split('/').filter(|part| !part.is_empty() && *part != ".").collect();
        if parts.first().is_some_and(|first| self.excluded.contains(first)) {
            return None;
        }
        Some(parts.join("/"))
    }

    /// As [`Self::in_tree`], for a word that a package launcher reads: `@scope/name`, `user/repo` and `host/image` are
    /// references to it, and only what begins with `.`, `/` or a root variable is a path.
    pub(super) fn local(&self, word: &Word) -> Option<String> {
        let is_path = word.literal().is_none_or(|text| text.starts_with(['.', '/']));
        self.in_tree(word).filter(|_| is_path)
    }

    /// Says whether a word names a file as it stands: one that a variable or `./` places in the tree, or one that is
    /// there. An argument with a slash in it is no file for that alone.
    pub(super) fn names_file(&self, word: &Word) -> Option<String> {
        let path = self.in_tree(word).filter(|path| !path.is_empty())?;
        let placed = word.literal().is_none_or(|text| text.starts_with("./"));
        let there = || self.files.is_none_or(|files| exists(files, &path));
        (placed || there()).then_some(path)
    }

    /// Says whether a word is a known path behind a root variable; where it is not in the tree, it is outside.
    pub(super) fn is_known(&self, word: &Word) -> bool {
        match word.pieces.split_first() {
            Some((Piece::Variable { name, .. }, rest)) if self.roots.contains(&name.as_str()) => {
                rest.iter().all(|piece| matches!(piece, Piece::Text(_)))
            }
            _ => false,
        }
    }

    /// As [`Self::in_tree`], for an argument: a bare name is a file too, where the tree has it.
    pub(super) fn script(&self, word: &Word) -> Option<String> {
        self.in_tree(word).or_else(|| {
            let name = word.literal().filter(|_| self.relative == Relative::Root)?;
            self.files?.get(&name).map(|_| name)
        })
    }

    pub(super) fn has_any(&self, folder: &str, names: &[&str]) -> bool {
        self.files.is_some_and(|files| {
            names.iter().any(|name| files.get(&crate::path::join(folder, name)).is_some())
        })
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
    /// Gives the words, variables as `${NAME}`.
    #[must_use]
    pub fn words(&self) -> &[String] {
        &self.words
    }

    /// Gives the label of this command alone.
    pub const fn coverage(&self) -> Coverage {
        self.coverage
    }

    /// Names what the label is about: the program, the script, the reference, the reason.
    #[must_use]
    pub fn why(&self) -> &str {
        &self.why
    }

    /// Gives the file of the tree that is started; absent where there is none.
    #[must_use]
    pub fn started(&self) -> Option<&str> {
        self.started.as_deref()
    }
}

/// What a command text comes to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommandView {
    pub(super) parts: Vec<CommandPart>,
    pub(super) coverage: Coverage,
    pub(super) reads_env: Vec<String>,
    pub(super) files: Vec<String>,
    pub(super) unquoted_root: bool,
}

impl CommandView {
    /// Gives the commands that are neither builtins nor keywords, those of substitutions among them.
    #[must_use]
    pub fn parts(&self) -> &[CommandPart] {
        &self.parts
    }

    /// Gives the label of the whole text.
    ///
    /// # Guarantees
    /// Never better than the worst label of the parts.
    pub const fn coverage(&self) -> Coverage {
        self.coverage
    }

    /// Gives the names of the variables in the text, sorted, the root variables left out.
    #[must_use]
    pub fn reads_env(&self) -> &[String] {
        &self.reads_env
    }

    /// Gives the files of the tree that the text names, sorted.
    #[must_use]
    pub fn files(&self) -> &[String] {
        &self.files
    }

    /// Says whether a root variable stands outside of quotes, which breaks where the folder's path has a blank.
    #[must_use]
    pub const fn has_unquoted_root(&self) -> bool {
        self.unquoted_root
    }

    /// Gives what the labels are about, one text a part.
    #[must_use]
    pub fn why(&self) -> String {
        let mut seen = BTreeSet::new();
        let whys: Vec<&str> =
            self.parts.iter().map(|part| part.why.as_str()).filter(|why| seen.insert(*why)).collect();
        whys.join("; ")
    }
}
