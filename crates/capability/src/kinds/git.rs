//! Working in a git repository, without remotes.

use plugward_ledger::RecordValue;

use crate::error::{BRANCH, NAMESPACE, ScopeError};
use crate::kinds::MAX_TEXT;
use crate::kinds::fs::ScopeDirectory;
use crate::kinds::git_command::GitOp;
use crate::kinds::kind::{common, sealed};
use crate::mint::Grant;

/// A repository, and the branches with one prefix.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GitScope {
    repo: ScopeDirectory,
    namespace: String,
}

/// Permission to work in one repository on branches with one prefix.
///
/// # Guarantees
///
/// No value of [`GitOp`] means push, fetch, pull, clone, or a change of remotes, submodules or config. This
/// holds for commands started through [`GitLocalOpsCapability::command`]. Filter programs named by the
/// repository's config still run when files are added or checked out.
#[must_use]
pub struct GitLocalOpsCapability {
    scope: GitScope,
    grant: Grant,
}

common!(GitLocalOpsCapability, GitScope, GitOp, GitLocalOps);

impl sealed::Build for GitScope {
    type Made = GitLocalOpsCapability;

    fn build(self, grant: Grant) -> GitLocalOpsCapability {
        GitLocalOpsCapability { scope: self, grant }
    }

    fn value(&self) -> RecordValue {
        let [label, identity] = self.repo.value();
        RecordValue::object([label, identity, ("namespace", RecordValue::text(&self.namespace))])
    }
}

impl GitScope {
    /// Creates a scope.
    ///
    /// # Errors
    ///
    /// `scope/namespace` for a prefix that is empty, does not end in `/`, or cannot begin a branch name.
    pub fn new(repo: ScopeDirectory, namespace: &str) -> Result<Self, ScopeError> {
        let bad = |why| ScopeError::new(NAMESPACE, "git scope", namespace, why);
        let prefix = namespace.strip_suffix('/').ok_or_else(|| bad("it does not end in `/`"))?;
        if !is_ref(prefix) {
            return Err(bad("git does not allow branch names with this prefix"));
        }
        Ok(Self { repo, namespace: namespace.to_owned() })
    }

    /// Returns the repository.
    #[must_use]
    pub const fn repo(&self) -> &ScopeDirectory {
        &self.repo
    }

    /// Returns the branch prefix.
    #[must_use]
    pub fn namespace(&self) -> &str {
        &self.namespace
    }

    fn has_branch(&self, branch: &str) -> bool {
        branch.strip_prefix(&self.namespace).is_some_and(|rest| !rest.is_empty()) && is_ref(branch)
    }

    pub(crate) fn covers(&self, op: &GitOp<'_>) -> bool {
        match op.branch() {
            Some(branch) => self.has_branch(branch),
            None => true,
        }
    }
}

/// Returns `true` for a valid branch name, by the rules of `git check-ref-format --branch`.
pub(crate) fn is_ref(name: &str) -> bool {
    let part = |part: &str| {
        !part.is_empty() && !part.starts_with('.') && !part.to_ascii_lowercase().ends_with(".lock")
    };
    let bad = |c: char| c.is_control() || " ~^:?*[\\".contains(c);
    name.len() < MAX_TEXT
        && name != "@"
        && name != "HEAD"
        && !name.starts_with('-')
        && !name.ends_with('.')
        && !name.contains("..")
        && !name.contains("@{")
        && !name.contains(bad)
        && crate::name::is_printable(name)
        && name.split('/').all(part)
}

pub(crate) fn check_branch(name: &str) -> Result<(), ScopeError> {
    if is_ref(name) {
        Ok(())
    } else {
        Err(ScopeError::new(BRANCH, "git command", name, "it is not a valid branch name"))
    }
}
