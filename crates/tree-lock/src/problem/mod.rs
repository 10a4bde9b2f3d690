//! The problems for which a directory is refused, and the warnings for which it is not.

pub(crate) mod codes;
pub(crate) mod error;

use core::fmt;

use plugward_types::escape;

use crate::tree::limits::TreeLimit;

/// The most problems or warnings that a result lists. A hostile tree could have millions; the rest is counted.
pub(crate) const MAX_LISTED: usize = 100;

/// The kind of a [`TreeProblem`].
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum TreeProblemKind {
    /// A name or symlink target is not UTF-8, or contains a control character or `\`.
    Name,
    /// Two paths are the same on a system that ignores case or normalizes names.
    Collision {
        /// The other path.
        with: String,
    },
    /// The entry is not a file, directory or symlink.
    SpecialFile {
        /// The kind of the object, as a noun.
        what: &'static str,
    },
    /// A file has the setuid, setgid or sticky bit.
    Setuid,
    /// A symlink target starts with `/`.
    LinkAbsolute,
    /// A symlink leads out of the directory.
    LinkEscapes,
    /// A symlink has no target.
    LinkBroken {
        /// The reason.
        why: &'static str,
    },
    /// A symlink leads to an excluded name.
    LinkIntoExcluded,
    /// The entry was changed while it was read.
    ChangedWhileRead,
    /// A limit is exceeded.
    Limit {
        /// The exceeded limit.
        limit: TreeLimit,
        /// Its value.
        max: u64,
    },
    /// The directory itself is a symlink.
    RootLink,
}

/// One problem for which a directory is refused.
///
/// # Guarantees
/// Displays as `path: reason` on one line, with the path escaped for a terminal.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct TreeProblem {
    path: Vec<u8>,
    kind: TreeProblemKind,
}

impl TreeProblem {
    pub(crate) fn new(path: impl Into<Vec<u8>>, kind: TreeProblemKind) -> Self {
        Self { path: path.into(), kind }
    }

    /// Returns the kind of the problem.
    #[must_use]
    pub const fn kind(&self) -> &TreeProblemKind {
        &self.kind
    }

    /// Returns the path if it is UTF-8. Escape it before you print it.
    #[must_use]
    pub fn path(&self) -> Option<&str> {
        core::str::from_utf8(&self.path).ok()
    }

    /// Returns the escaped path; empty for the directory itself.
    #[must_use]
    pub fn shown_path(&self) -> String {
        escape::name(&self.path)
    }

    /// Returns the stable code.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self.kind {
            TreeProblemKind::Name => "tree/name",
            TreeProblemKind::Collision { .. } => "tree/collision",
            TreeProblemKind::SpecialFile { .. } => "tree/special-file",
            TreeProblemKind::Setuid => "tree/setuid",
            TreeProblemKind::LinkAbsolute => "tree/link-absolute",
            TreeProblemKind::LinkEscapes => "tree/link-escapes",
            TreeProblemKind::LinkBroken { .. } => "tree/link-broken",
            TreeProblemKind::LinkIntoExcluded => "tree/link-into-excluded",
            TreeProblemKind::ChangedWhileRead => "tree/changed-while-read",
            TreeProblemKind::Limit { .. } => "tree/limit",
            TreeProblemKind::RootLink => "tree/root-link",
        }
    }

    /// Returns the next step for the user.
    #[must_use]
    pub fn help(&self) -> String {
        match &self.kind {
            TreeProblemKind::Name => "rename it: valid UTF-8, no control characters, no backslash".into(),
            TreeProblemKind::Collision { .. } => "rename one of the two entries".into(),
            TreeProblemKind::SpecialFile { .. } => {
                "remove it: a plugin may contain files, directories and symlinks".into()
            }
            TreeProblemKind::Setuid => format!("chmod u-s,g-s,-t -- '{}'", self.shown_path()),
            TreeProblemKind::LinkAbsolute => "use a relative symlink that stays inside the directory".into(),
            TreeProblemKind::LinkEscapes => {
                "point the symlink inside the directory, or replace it with a copy".into()
            }
            TreeProblemKind::LinkBroken { .. } => "remove the symlink, or add its target".into(),
            TreeProblemKind::LinkIntoExcluded => {
                "point the symlink elsewhere, or remove the name from the exclude list".into()
            }
            TreeProblemKind::ChangedWhileRead => {
                "stop the process that writes there, then check again".into()
            }
            TreeProblemKind::Limit { limit, .. } => match limit.setting() {
                Some(setting) => format!("remove files, or raise `{setting}` in your settings"),
                None => "shorten the names of its parent directories".into(),
            },
            TreeProblemKind::RootLink => "use the target of the symlink".into(),
        }
    }
}

impl fmt::Display for TreeProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.path.is_empty() {
            write!(f, "{}: ", self.shown_path())?;
        }
        match &self.kind {
            TreeProblemKind::Name => f.write_str(
                "the name or symlink target is not UTF-8, or contains a control character or backslash",
            ),
            TreeProblemKind::Collision { with } => {
                write!(f, "is the same name as {} on other systems", escape::name(with.as_bytes()))
            }
            TreeProblemKind::SpecialFile { what } => write!(f, "is a {what}"),
            TreeProblemKind::Setuid => f.write_str("has the setuid, setgid or sticky bit"),
            TreeProblemKind::LinkAbsolute => f.write_str("is a symlink to an absolute path"),
            TreeProblemKind::LinkEscapes => f.write_str("is a symlink that leads out of the directory"),
            TreeProblemKind::LinkBroken { why } => write!(f, "is a broken symlink: {why}"),
            TreeProblemKind::LinkIntoExcluded => f.write_str("is a symlink to an excluded name"),
            TreeProblemKind::ChangedWhileRead => f.write_str("was changed while it was read"),
            TreeProblemKind::Limit { limit, max } => write!(f, "more than {max} {limit}"),
            TreeProblemKind::RootLink => f.write_str("the directory itself is a symlink"),
        }
    }
}

/// A directory that is refused. It has no digest.
///
/// # Guarantees
/// Contains 1 to 100 problems, sorted by the bytes of their paths. The order does not depend on threads or on the
/// order in which the file system lists.
#[derive(Debug, Clone, PartialEq, Eq)]
#[must_use = "a refused tree must not be loaded"]
pub struct TreeRefusal {
    problems: Vec<TreeProblem>,
    left_out: usize,
}

impl TreeRefusal {
    pub(crate) fn new(mut problems: Vec<TreeProblem>) -> Self {
        problems.sort_unstable();
        problems.dedup();
        let left_out = problems.len().saturating_sub(MAX_LISTED);
        problems.truncate(MAX_LISTED);
        Self { problems, left_out }
    }

    /// Returns the refusal for a directory that is itself a symlink.
    ///
    /// A jail cannot be opened on a symlink. A caller that discovered the directory, rather than being given its path
    /// by the user, turns the error `jail/symlink` into this refusal.
    pub fn root_link() -> Self {
        Self::new(vec![TreeProblem::new(Vec::new(), TreeProblemKind::RootLink)])
    }

    /// Returns the problems, at most 100.
    #[must_use]
    pub fn problems(&self) -> &[TreeProblem] {
        &self.problems
    }

    /// Returns the number of problems above that limit.
    #[must_use]
    pub const fn left_out(&self) -> usize {
        self.left_out
    }

    /// Returns `true` if every problem is a change during the read, so that reading again may succeed.
    #[must_use]
    pub fn is_only_change(&self) -> bool {
        self.left_out == 0 && self.problems.iter().all(|p| p.kind == TreeProblemKind::ChangedWhileRead)
    }
}

impl fmt::Display for TreeRefusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, problem) in self.problems.iter().enumerate() {
            if index > 0 {
                f.write_str("; ")?;
            }
            write!(f, "{}: {problem}", problem.code())?;
        }
        if self.left_out > 0 {
            write!(f, "; and {} more", self.left_out)?;
        }
        Ok(())
    }
}

/// The kind of a [`TreeWarning`].
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum TreeWarningKind {
    /// Another system cannot store the name.
    NotPortable {
        /// The reason.
        why: &'static str,
    },
    /// Every user of this machine can write the entry.
    WritableByOthers,
    /// The digest covers a version control directory.
    VcsDirectory,
    /// The file system has no execute bits. They come from a recorded list, or all files count as not executable.
    ExecBitsNotChecked,
}

/// A remark about a tree that is reported but does not refuse it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct TreeWarning {
    path: String,
    kind: TreeWarningKind,
}

impl TreeWarning {
    pub(crate) fn new(path: impl Into<String>, kind: TreeWarningKind) -> Self {
        Self { path: path.into(), kind }
    }

    /// Returns the kind of the warning.
    #[must_use]
    pub const fn kind(&self) -> &TreeWarningKind {
        &self.kind
    }

    /// Returns the path; empty for the directory itself. Escape it before you print it.
    #[must_use]
    pub fn path(&self) -> &str {
        &self.path
    }

    /// Returns the stable code.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self.kind {
            TreeWarningKind::NotPortable { .. } => "tree/not-portable",
            TreeWarningKind::WritableByOthers => "tree/writable-by-others",
            TreeWarningKind::VcsDirectory => "tree/vcs-folder",
            TreeWarningKind::ExecBitsNotChecked => "tree/exec-bits-not-checked",
        }
    }

    /// Returns the next step for the user.
    #[must_use]
    pub fn help(&self) -> String {
        match self.kind {
            TreeWarningKind::NotPortable { .. } => "rename it if it must work on every system".into(),
            TreeWarningKind::WritableByOthers => {
                let path = if self.path.is_empty() { ".".into() } else { escape::name(self.path.as_bytes()) };
                format!("chmod o-w -- '{path}'")
            }
            TreeWarningKind::VcsDirectory => {
                format!(
                    "exclude it with `--exclude {}`, or with `pins.exclude_vcs` in your settings",
                    self.path
                )
            }
            TreeWarningKind::ExecBitsNotChecked => {
                "pin this plugin on a file system that keeps execute bits".into()
            }
        }
    }
}

impl fmt::Display for TreeWarning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.path.is_empty() {
            write!(f, "{}: ", escape::name(self.path.as_bytes()))?;
        }
        match self.kind {
            TreeWarningKind::NotPortable { why } => write!(f, "some systems cannot store this name: {why}"),
            TreeWarningKind::WritableByOthers => f.write_str("every user of this machine can write it"),
            TreeWarningKind::VcsDirectory => {
                f.write_str("is part of the digest, so a fetch or commit changes the digest")
            }
            TreeWarningKind::ExecBitsNotChecked => {
                f.write_str("execute bits could not be read from the files")
            }
        }
    }
}
