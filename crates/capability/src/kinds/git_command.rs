//! Operations in a git repository, and the commands that perform them.

use crate::error::{MESSAGE, NOT_BEGUN, PATHS, REVISION, ScopeError};
use crate::kinds::fs::ScopeDirectory;
use crate::kinds::git::{GitLocalOpsCapability, check_branch};
use crate::kinds::kind::{Capability as _, Operation};
use crate::trail::UseGuard;

/// An operation in a git repository. There is no value for push, fetch, pull, clone, remote, submodule or
/// config.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "the closed set of operations of this kind")]
pub enum GitOp<'a> {
    /// Lists the changed files.
    Status,
    /// Shows changes in the working tree.
    Diff {
        /// Paths in the repository. An empty list means all.
        paths: &'a [&'a str],
    },
    /// Lists commits.
    Log {
        /// The maximum number of commits.
        count: u32,
    },
    /// Shows one commit.
    Show {
        /// A commit id, tag or branch.
        revision: &'a str,
    },
    /// Stages files.
    Add {
        /// Paths in the repository.
        paths: &'a [&'a str],
    },
    /// Reverts changes of files.
    Restore {
        /// Paths in the repository.
        paths: &'a [&'a str],
    },
    /// Creates a commit.
    Commit {
        /// The branch that is checked out, as the caller determined it.
        branch: &'a str,
        /// The commit message.
        message: &'a str,
    },
    /// Creates a branch at the current commit.
    CreateBranch {
        /// The name of the branch.
        name: &'a str,
    },
    /// Checks a branch out.
    Switch {
        /// The name of the branch.
        name: &'a str,
    },
    /// Deletes a branch.
    DeleteBranch {
        /// The name of the branch.
        name: &'a str,
    },
}

impl<'a> GitOp<'a> {
    /// Returns the branch that the operation changes or checks out.
    pub(crate) const fn branch(&self) -> Option<&'a str> {
        match self {
            Self::Commit { branch, .. } => Some(branch),
            Self::CreateBranch { name } | Self::Switch { name } | Self::DeleteBranch { name } => Some(name),
            Self::Status
            | Self::Diff { .. }
            | Self::Log { .. }
            | Self::Show { .. }
            | Self::Add { .. }
            | Self::Restore { .. } => None,
        }
    }

    fn arguments(&self) -> Result<Vec<String>, ScopeError> {
        let plain = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();
        let paths = |words: &[&str], paths: &[&str]| {
            let mut words = plain(words);
            words.push("--".to_owned());
            words.extend(paths.iter().map(|path| (*path).to_owned()));
            words
        };
        Ok(match self {
            Self::Status => plain(&["status", "--porcelain=v2", "--branch", "-z", "--"]),
            Self::Diff { paths: of } => {
                check_paths(of)?;
                paths(&["diff", "--no-ext-diff", "--no-textconv"], of)
            }
            Self::Log { count } => {
                plain(&["log", "--no-ext-diff", "--no-textconv", &format!("--max-count={count}"), "--"])
            }
            Self::Show { revision } => {
                check_revision(revision)?;
                plain(&["show", "--no-ext-diff", "--no-textconv", "--end-of-options", revision, "--"])
            }
            Self::Add { paths: of } => {
                check_some_paths(of)?;
                paths(&["add"], of)
            }
            Self::Restore { paths: of } => {
                check_some_paths(of)?;
                paths(&["restore"], of)
            }
            Self::Commit { branch, message } => {
                check_branch(branch)?;
                if message.trim().is_empty() || message.len() > 64 * 1024 || message.contains('\0') {
                    return Err(ScopeError::new(
                        MESSAGE,
                        "git command",
                        message,
                        "it is empty, too long or has a NUL",
                    ));
                }
                plain(&[
                    "commit",
                    "--no-verify",
                    "--no-gpg-sign",
                    "--cleanup=whitespace",
                    &format!("--message={message}"),
                    "--",
                ])
            }
            Self::CreateBranch { name } => {
                check_branch(name)?;
                plain(&["branch", "--no-track", "--", name])
            }
            Self::Switch { name } => {
                check_branch(name)?;
                plain(&["switch", "--no-guess", "--no-recurse-submodules", name])
            }
            Self::DeleteBranch { name } => {
                check_branch(name)?;
                plain(&["branch", "--delete", "--force", "--", name])
            }
        })
    }
}

fn check_some_paths(paths: &[&str]) -> Result<(), ScopeError> {
    if paths.is_empty() {
        return Err(ScopeError::new(PATHS, "git command", "", "no path is named"));
    }
    check_paths(paths)
}

fn check_paths(paths: &[&str]) -> Result<(), ScopeError> {
    let outside = |path: &&&str| {
        path.is_empty()
            || path.starts_with(['/', '\\'])
            || path.contains('\0')
            || path.split(['/', '\\']).any(|part| part == "..")
    };
    match paths.iter().find(outside) {
        Some(bad) => Err(ScopeError::new(PATHS, "git command", bad, "it is not a path in the repository")),
        None => Ok(()),
    }
}

fn check_revision(revision: &str) -> Result<(), ScopeError> {
    // Excludes file names (`:`), ranges (`..`), pathspec magic and options.
    let good = |c: char| c.is_alphanumeric() || "-_./@^~+#{}".contains(c);
    let bad = revision.is_empty()
        || revision.len() > 1_024
        || revision.starts_with('-')
        || revision.contains("..")
        || !revision.chars().all(good);
    if bad {
        Err(ScopeError::new(REVISION, "git command", revision, "it is not a commit id, tag or branch"))
    } else {
        Ok(())
    }
}

impl Operation for GitOp<'_> {
    fn name(&self) -> &'static str {
        match self {
            Self::Status => "status",
            Self::Diff { .. } => "diff",
            Self::Log { .. } => "log",
            Self::Show { .. } => "show",
            Self::Add { .. } => "add",
            Self::Restore { .. } => "restore",
            Self::Commit { .. } => "commit",
            Self::CreateBranch { .. } => "create-branch",
            Self::Switch { .. } => "switch",
            Self::DeleteBranch { .. } => "delete-branch",
        }
    }

    fn detail(&self) -> String {
        match self {
            Self::Status => String::new(),
            Self::Diff { paths } | Self::Add { paths } | Self::Restore { paths } => paths.join(" "),
            Self::Log { count } => count.to_string(),
            Self::Show { revision } => (*revision).to_owned(),
            // The message may come from a plugin, and it is stored in the repository anyway.
            Self::Commit { branch, .. } => (*branch).to_owned(),
            Self::CreateBranch { name } | Self::Switch { name } | Self::DeleteBranch { name } => {
                (*name).to_owned()
            }
        }
    }
}

/// Settings for each command, so that no program named by the repository runs and no transport is used.
const CONFIG: [&str; 11] = [
    "core.hooksPath=/dev/null",
    "core.fsmonitor=false",
    "core.editor=false",
    "commit.gpgSign=false",
    "log.showSignature=false",
    "protocol.allow=never",
    "submodule.recurse=false",
    "diff.ignoreSubmodules=all",
    "status.submoduleSummary=false",
    "gc.auto=0",
    "maintenance.auto=false",
];

/// A git command for a recorded use, to be started unchanged.
///
/// # Guarantees
///
/// Hooks, the file system monitor, the pager, external diffs and text conversions of the repository's config
/// do not run. Filter programs (`filter.*`) do run when files are added, restored or checked out.
#[derive(Debug, Clone, PartialEq, Eq)]
#[must_use]
pub struct GitCommand {
    argv: Vec<String>,
}

impl GitCommand {
    /// The variables that must be set for the command.
    pub const ENV: [(&'static str, &'static str); 6] = [
        ("GIT_CONFIG_NOSYSTEM", "1"),
        ("GIT_CONFIG_GLOBAL", "/dev/null"),
        ("GIT_TERMINAL_PROMPT", "0"),
        ("GIT_NO_LAZY_FETCH", "1"),
        ("GIT_EDITOR", "false"),
        ("GIT_OPTIONAL_LOCKS", "0"),
    ];

    /// The variables that must be unset, because they redirect the command or start programs.
    pub const ENV_REMOVED: [&'static str; 13] = [
        "GIT_DIR",
        "GIT_WORK_TREE",
        "GIT_INDEX_FILE",
        "GIT_OBJECT_DIRECTORY",
        "GIT_ALTERNATE_OBJECT_DIRECTORIES",
        "GIT_CONFIG_PARAMETERS",
        "GIT_CONFIG_COUNT",
        "GIT_CONFIG_SYSTEM",
        "GIT_EXTERNAL_DIFF",
        "GIT_PAGER",
        "GIT_EXEC_PATH",
        "GIT_TEMPLATE_DIR",
        "GIT_TRACE",
    ];

    /// Returns the program and its arguments.
    #[must_use]
    pub fn argv(&self) -> &[String] {
        &self.argv
    }
}

impl GitLocalOpsCapability {
    /// Returns the command for an operation whose use has begun.
    ///
    /// `place` and `path` are those of the directory that the caller has open.
    ///
    /// # Errors
    ///
    /// - `scope/not-begun`: the guard belongs to another capability or operation.
    /// - `scope/place`: the directory is not the repository of the scope.
    /// - `scope/branch`, `scope/paths`, `scope/revision`, `scope/message`: git would interpret an argument
    ///   differently.
    pub fn command(
        &self,
        op: &GitOp<'_>,
        begun: &UseGuard<'_>,
        place: &ScopeDirectory,
        path: &str,
    ) -> Result<GitCommand, ScopeError> {
        if !begun.is_for(&self.key(), op.name(), &op.detail()) || !self.covers(op) {
            return Err(ScopeError::new(NOT_BEGUN, "git command", op.name(), "its use has not begun"));
        }
        if !self.scope().repo().is(place) || path.is_empty() || path.contains('\0') {
            return Err(ScopeError::new(
                crate::error::PLACE,
                "git command",
                path,
                "it is not the repository of the scope",
            ));
        }
        // Literal pathspecs: a path with magic such as `:(top)` must not reach outside the scope.
        let mut argv: Vec<String> =
            ["git", "-C", path, "--no-pager", "--literal-pathspecs"].map(str::to_owned).to_vec();
        for setting in CONFIG {
            argv.extend(["-c".to_owned(), setting.to_owned()]);
        }
        argv.extend(op.arguments()?);
        Ok(GitCommand { argv })
    }
}
