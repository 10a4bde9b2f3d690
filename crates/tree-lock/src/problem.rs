//! Why a folder is refused, and what is worth a notice.

use core::fmt;

use crate::escape::escape;
use crate::limits::Limit;

/// The most problems or notices that are kept; the rest is counted.
pub(crate) const KEPT: usize = 100;

/// The kind of a [`TreeProblem`].
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum TreeProblemKind {
    /// A name or a link's target is not UTF-8, or holds a control character or `\`.
    Name,
    /// Two paths are one where names are compared without case or in another normal form.
    Collision {
        /// The other path.
        with: String,
    },
    /// Neither file, folder nor link.
    SpecialFile {
        /// What it is, in words.
        what: &'static str,
    },
    /// A file has the setuid, setgid or sticky bit.
    Setuid,
    /// A link's target starts with `/`.
    LinkAbsolute,
    /// A link leads out of the folder.
    LinkEscapes,
    /// A link leads to nothing.
    LinkBroken {
        /// How, in words.
        why: &'static str,
    },
    /// A link leads into what the digest leaves out.
    LinkIntoExcluded,
    /// The entry was changed while it was read.
    ChangedWhileRead,
    /// A limit was met.
    Limit {
        /// Which.
        limit: Limit,
        /// Its value.
        max: u64,
    },
    /// The folder itself is a link.
    RootLink,
}

/// One problem for which a directory is refused.
///
/// # Guarantees
/// Displays as `path: reason` on one line; nothing of a stranger's name steers the terminal.
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

    /// Returns the path, as it is, where it is UTF-8; escape it before you print it.
    #[must_use]
    pub fn path(&self) -> Option<&str> {
        core::str::from_utf8(&self.path).ok()
    }

    /// Returns the path fit to show; empty for the folder itself.
    #[must_use]
    pub fn shown_path(&self) -> String {
        escape(&self.path)
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
            TreeProblemKind::Name => "rename it: UTF-8 without control characters and backslash".into(),
            TreeProblemKind::Collision { .. } => "rename one of the two".into(),
            TreeProblemKind::SpecialFile { .. } => "remove it: a plugin is files, folders and links".into(),
            TreeProblemKind::Setuid => format!("chmod u-s,g-s,-t -- '{}'", self.shown_path()),
            TreeProblemKind::LinkAbsolute => "make the link relative, and inside the folder".into(),
            TreeProblemKind::LinkEscapes => "point the link inside the folder, or put a copy there".into(),
            TreeProblemKind::LinkBroken { .. } => "remove the link, or add what it leads to".into(),
            TreeProblemKind::LinkIntoExcluded => {
                "point the link elsewhere, or take the name off the exclude list".into()
            }
            TreeProblemKind::ChangedWhileRead => "stop whatever writes there, then run again".into(),
            TreeProblemKind::Limit { limit, .. } => match limit.setting() {
                Some(setting) => format!("take files out, or raise `{setting}` in your own settings"),
                None => "shorten the names of the folders above it".into(),
            },
            TreeProblemKind::RootLink => "name the folder that the link leads to".into(),
        }
    }
}

impl fmt::Display for TreeProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.path.is_empty() {
            write!(f, "{}: ", self.shown_path())?;
        }
        match &self.kind {
            TreeProblemKind::Name => {
                f.write_str("name or link target is not UTF-8, or holds a control character or backslash")
            }
            TreeProblemKind::Collision { with } => {
                write!(f, "is the same name as {} on other systems", escape(with.as_bytes()))
            }
            TreeProblemKind::SpecialFile { what } => write!(f, "is a {what}"),
            TreeProblemKind::Setuid => f.write_str("has the setuid, setgid or sticky bit"),
            TreeProblemKind::LinkAbsolute => f.write_str("is a link to an absolute path"),
            TreeProblemKind::LinkEscapes => f.write_str("is a link that leads out of the folder"),
            TreeProblemKind::LinkBroken { why } => write!(f, "is a link that leads to nothing: {why}"),
            TreeProblemKind::LinkIntoExcluded => f.write_str("is a link into what the digest leaves out"),
            TreeProblemKind::ChangedWhileRead => f.write_str("was changed while it was read"),
            TreeProblemKind::Limit { limit, max } => write!(f, "more than {max} {limit}"),
            TreeProblemKind::RootLink => f.write_str("the folder itself is a link"),
        }
    }
}

/// A directory that is refused. It has no digest.
///
/// # Guarantees
/// Holds at least one problem and at most 100, ordered by path bytes; the order does not depend on threads or on
/// the order in which the file system lists.
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
        let left_out = problems.len().saturating_sub(KEPT);
        problems.truncate(KEPT);
        Self { problems, left_out }
    }

    /// Returns the refusal for a folder that is itself a link, where a link was not asked for.
    ///
    /// A jail cannot be opened on a link, so a caller that found the folder (and did not get its name from a
    /// person) answers `jail/symlink` with this.
    pub fn root_link() -> Self {
        Self::new(vec![TreeProblem::new(Vec::new(), TreeProblemKind::RootLink)])
    }

    /// Returns the problems.
    #[must_use]
    pub fn problems(&self) -> &[TreeProblem] {
        &self.problems
    }

    /// Returns the number of further problems.
    #[must_use]
    pub const fn left_out(&self) -> usize {
        self.left_out
    }

    /// Returns whether the only trouble was a change during the read, so that reading once more may help.
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

/// The kind of a [`Notice`], which is reported and refuses nothing.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum NoticeKind {
    /// Another system cannot hold the name.
    NotPortable {
        /// Why, in words.
        why: &'static str,
    },
    /// Anybody on this machine may write it.
    WritableByOthers,
    /// The folder holds a version control folder that the digest covers.
    VcsFolder,
    /// The file system does not keep execute bits; they were taken from a list, or all taken as off.
    ExecBitsNotChecked,
}

/// One notice.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Notice {
    path: String,
    kind: NoticeKind,
}

impl Notice {
    pub(crate) fn new(path: impl Into<String>, kind: NoticeKind) -> Self {
        Self { path: path.into(), kind }
    }

    /// Returns the kind of the notice.
    #[must_use]
    pub const fn kind(&self) -> &NoticeKind {
        &self.kind
    }

    /// Returns the path as it is, empty for the folder itself; escape it before you print it.
    #[must_use]
    pub fn path(&self) -> &str {
        &self.path
    }

    /// Returns the stable code.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self.kind {
            NoticeKind::NotPortable { .. } => "tree/not-portable",
            NoticeKind::WritableByOthers => "tree/writable-by-others",
            NoticeKind::VcsFolder => "tree/vcs-folder",
            NoticeKind::ExecBitsNotChecked => "tree/exec-bits-not-checked",
        }
    }

    /// Returns the next step for the user.
    #[must_use]
    pub fn help(&self) -> String {
        match self.kind {
            NoticeKind::NotPortable { .. } => "rename it, if it has to work on every system".into(),
            NoticeKind::WritableByOthers => {
                let path = if self.path.is_empty() { ".".into() } else { escape(self.path.as_bytes()) };
                format!("chmod o-w -- '{path}'")
            }
            NoticeKind::VcsFolder => {
                format!("leave it out with `--exclude {}`, or `pins.exclude_vcs` in your settings", self.path)
            }
            NoticeKind::ExecBitsNotChecked => "enroll this plugin on a system that keeps execute bits".into(),
        }
    }
}

impl fmt::Display for Notice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.path.is_empty() {
            write!(f, "{}: ", escape(self.path.as_bytes()))?;
        }
        match self.kind {
            NoticeKind::NotPortable { why } => write!(f, "not every system can hold this name: {why}"),
            NoticeKind::WritableByOthers => f.write_str("anybody on this machine may write it"),
            NoticeKind::VcsFolder => f.write_str("is part of the digest, so a fetch or commit changes that"),
            NoticeKind::ExecBitsNotChecked => f.write_str("execute bits could not be read from the files"),
        }
    }
}
