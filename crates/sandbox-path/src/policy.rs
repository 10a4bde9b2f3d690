//! What a jail lets through: one struct of named choices, without a default.

/// What to do with symbolic links on the way or at the end of a path.
#[expect(clippy::exhaustive_enums, reason = "a new choice must be seen by every host that builds a policy")]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Symlinks {
    /// Any link in any component is a refusal.
    Refuse,
    /// Links are resolved by this crate, handle by handle, as long as they stay below the jail.
    FollowBeneath,
}

/// What to do with a `..` in a path.
#[expect(clippy::exhaustive_enums, reason = "a new choice must be seen by every host that builds a policy")]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Parents {
    /// Any `..` is a refusal, before any system call.
    Refuse,
    /// A `..` is the parent of where the path led so far; above the jail is a refusal.
    Resolve,
}

/// What to do with something mounted below the jail.
#[expect(clippy::exhaustive_enums, reason = "a new choice must be seen by every host that builds a policy")]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Mounts {
    /// Mounts below the jail are entered.
    Allow,
    /// A name that lies on another mount than the jail is a refusal.
    Refuse,
}

/// What to do with a file that has more than one name.
#[expect(clippy::exhaustive_enums, reason = "a new choice must be seen by every host that builds a policy")]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum HardLinks {
    /// The number of names does not matter.
    Allow,
    /// More than one name is a refusal.
    Refuse,
}

/// What to do with names that start with a dot.
#[expect(clippy::exhaustive_enums, reason = "a new choice must be seen by every host that builds a policy")]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Dotfiles {
    /// They are names like any other.
    Allow,
    /// They are refused in every component, and left out of listings (counted).
    Refuse,
}

/// Which names are accepted.
#[expect(clippy::exhaustive_enums, reason = "a new choice must be seen by every host that builds a policy")]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Names {
    /// What this platform accepts. On Windows this is the same as `Portable`.
    Native,
    /// Names that mean the same on every platform: no device names, streams, trailing dots or 8.3 forms.
    Portable,
}

/// The choices that a jail is opened with.
///
/// There is no default: [`Policy::standard`], [`Policy::agent`] and [`Policy::resolving`] are starting points, and
/// each `with_…` call changes one choice.
///
/// # Source
/// ADR-0011 (no links), and the options that plugin hosts were seen to need (dotfiles, mounts, hard links).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
#[must_use = "hand the policy to `Jail::open`"]
pub struct Policy {
    /// Symbolic links.
    pub symlinks: Symlinks,
    /// Components that are `..`.
    pub parents: Parents,
    /// Mounts below the jail.
    pub mounts: Mounts,
    /// Files with several names, opened for reading.
    pub hard_links_read: HardLinks,
    /// Files with several names, opened for writing.
    pub hard_links_write: HardLinks,
    /// Names that start with a dot.
    pub dotfiles: Dotfiles,
    /// Names that are not portable.
    pub names: Names,
}

impl Policy {
    /// Gives the policy for reading a folder as it is: no links, no `..`, everything else as the system has it.
    pub const fn standard() -> Self {
        Self {
            symlinks: Symlinks::Refuse,
            parents: Parents::Refuse,
            mounts: Mounts::Allow,
            hard_links_read: HardLinks::Allow,
            hard_links_write: HardLinks::Refuse,
            dotfiles: Dotfiles::Allow,
            names: Names::Native,
        }
    }

    /// Gives the policy for a folder that untrusted code works in: also no mounts, no second names, no dotfiles.
    pub const fn agent() -> Self {
        Self {
            mounts: Mounts::Refuse,
            hard_links_read: HardLinks::Refuse,
            dotfiles: Dotfiles::Refuse,
            ..Self::standard()
        }
    }

    /// Gives the policy that resolves links and `..` below the jail before it opens without following.
    pub const fn resolving() -> Self {
        Self { symlinks: Symlinks::FollowBeneath, parents: Parents::Resolve, ..Self::standard() }
    }

    /// Changes what happens with symbolic links.
    pub const fn with_symlinks(self, symlinks: Symlinks) -> Self {
        Self { symlinks, ..self }
    }

    /// Changes what happens with `..`.
    pub const fn with_parents(self, parents: Parents) -> Self {
        Self { parents, ..self }
    }

    /// Changes what happens with mounts below the jail.
    pub const fn with_mounts(self, mounts: Mounts) -> Self {
        Self { mounts, ..self }
    }

    /// Changes what happens when a file with several names is opened for reading.
    pub const fn with_hard_links_read(self, hard_links_read: HardLinks) -> Self {
        Self { hard_links_read, ..self }
    }

    /// Changes what happens when a file with several names is opened for writing.
    pub const fn with_hard_links_write(self, hard_links_write: HardLinks) -> Self {
        Self { hard_links_write, ..self }
    }

    /// Changes what happens with names that start with a dot.
    pub const fn with_dotfiles(self, dotfiles: Dotfiles) -> Self {
        Self { dotfiles, ..self }
    }

    /// Changes which names are accepted.
    pub const fn with_names(self, names: Names) -> Self {
        Self { names, ..self }
    }
}
