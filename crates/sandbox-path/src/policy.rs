//! The policy of a jail: named choices, without a default.

/// The handling of mounts inside the jail.
#[expect(clippy::exhaustive_enums, reason = "a new choice must be seen by every host that builds a policy")]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Mounts {
    /// Mounts inside the jail are entered.
    Allow,
    /// An entry on another mount than the jail is refused.
    Refuse,
}

/// The handling of files with several hard links.
#[expect(clippy::exhaustive_enums, reason = "a new choice must be seen by every host that builds a policy")]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum HardLinks {
    /// Any number of hard links is allowed.
    Allow,
    /// More than one hard link is refused.
    Refuse,
}

/// The handling of names that start with a dot.
#[expect(clippy::exhaustive_enums, reason = "a new choice must be seen by every host that builds a policy")]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Dotfiles {
    /// They are like other names.
    Allow,
    /// They are refused in every component. Listings leave them out and count them.
    Refuse,
}

/// The accepted names.
#[expect(clippy::exhaustive_enums, reason = "a new choice must be seen by every host that builds a policy")]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Names {
    /// All names of this platform.
    Native,
    /// Names with the same meaning on every platform: no device names, streams, trailing dots or 8.3 names.
    Portable,
}

/// The policy of a jail.
///
/// Under every policy, symlinks and `..` are refused. There is no default for the other choices: [`Policy::standard`]
/// and [`Policy::agent`] are starting points, and each `with_…` function changes one choice.
///
/// # Examples
/// ```
/// use plugward_sandbox_path::{HardLinks, Policy};
///
/// let policy = Policy::standard().with_hard_links_read(HardLinks::Refuse);
/// assert_eq!(policy.hard_links_read, HardLinks::Refuse);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
#[must_use = "pass the policy to `Jail::open`"]
pub struct Policy {
    /// Mounts inside the jail.
    pub mounts: Mounts,
    /// Files with several hard links, opened for reading.
    pub hard_links_read: HardLinks,
    /// Files with several hard links, opened for writing.
    pub hard_links_write: HardLinks,
    /// Names that start with a dot.
    pub dotfiles: Dotfiles,
    /// Names that are not portable.
    pub names: Names,
}

impl Policy {
    /// Returns the policy for reading a directory as it is.
    pub const fn standard() -> Self {
        Self {
            mounts: Mounts::Allow,
            hard_links_read: HardLinks::Allow,
            hard_links_write: HardLinks::Refuse,
            dotfiles: Dotfiles::Allow,
            names: Names::Native,
        }
    }

    /// Returns the policy for a directory that untrusted code uses.
    ///
    /// In addition to [`Policy::standard`] it refuses mounts, files with several hard links, and dotfiles.
    pub const fn agent() -> Self {
        Self {
            mounts: Mounts::Refuse,
            hard_links_read: HardLinks::Refuse,
            dotfiles: Dotfiles::Refuse,
            ..Self::standard()
        }
    }

    /// Sets the handling of mounts inside the jail.
    pub const fn with_mounts(self, mounts: Mounts) -> Self {
        Self { mounts, ..self }
    }

    /// Sets the handling of files with several hard links that are opened for reading.
    pub const fn with_hard_links_read(self, hard_links_read: HardLinks) -> Self {
        Self { hard_links_read, ..self }
    }

    /// Sets the handling of files with several hard links that are opened for writing.
    pub const fn with_hard_links_write(self, hard_links_write: HardLinks) -> Self {
        Self { hard_links_write, ..self }
    }

    /// Sets the handling of names that start with a dot.
    pub const fn with_dotfiles(self, dotfiles: Dotfiles) -> Self {
        Self { dotfiles, ..self }
    }

    /// Sets the accepted names.
    pub const fn with_names(self, names: Names) -> Self {
        Self { names, ..self }
    }
}
