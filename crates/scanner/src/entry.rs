//! What the caller hands in: files as bytes, with what the host knows about them.

use plugward_types::{Digest, FileRole};

/// One entry of a plugin's tree.
#[derive(Debug, Clone, Copy)]
#[expect(
    clippy::exhaustive_structs,
    reason = "made by every caller; a fourth fact would change the question"
)]
pub struct Entry<'a> {
    /// The path relative to the plugin, with `/`.
    pub path: &'a str,
    /// The bytes, or why there are none.
    pub content: Content<'a>,
    /// What the host knows about the file's use.
    pub role: RoleHint,
}

/// What is behind an entry's name.
#[derive(Debug, Clone, Copy)]
#[expect(clippy::exhaustive_enums, reason = "a new kind of content must stop every caller from building")]
pub enum Content<'a> {
    /// A regular file.
    Bytes {
        /// The very bytes that were hashed.
        bytes: &'a [u8],
        /// Their digest.
        digest: Digest,
    },
    /// A symbolic link that stays inside the tree; its target is an entry of its own.
    Link,
    /// A FIFO, socket or device.
    Special,
    /// A file that could not be read.
    Unreadable {
        /// The reason, for people.
        why: &'a str,
    },
}

/// What a file is for. It moves severities only where the rules' page says so.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Role {
    /// Nothing special.
    Other,
    /// Read by people: README, CHANGELOG, LICENSE, `docs/`.
    Doc,
    /// A manifest or settings file of a host.
    Manifest,
    /// Runs while the plugin is built: `build.rs`, procedural macros.
    Build,
    /// Enters a model's context.
    Prompt,
}

impl Role {
    /// Gives the word that reports use.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Other => "other",
            Self::Doc => "doc",
            Self::Manifest => "manifest",
            Self::Build => "build",
            Self::Prompt => "prompt",
        }
    }

    pub(crate) const fn bit(self) -> u8 {
        match self {
            Self::Other => 1,
            Self::Doc => 2,
            Self::Manifest => 4,
            Self::Build => 8,
            Self::Prompt => 16,
        }
    }
}

/// The reader that takes a file's text apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Lens {
    /// JavaScript and TypeScript.
    Js,
    /// Python.
    Py,
    /// Shells, Makefile recipes, Dockerfiles.
    Sh,
    /// Rust.
    Rs,
    /// JSON, TOML, YAML.
    Data,
    /// Markdown and every other text.
    Prose,
}

impl Lens {
    /// Every lens, in the order of the rules' page.
    pub const ALL: [Self; 6] = [Self::Js, Self::Py, Self::Sh, Self::Rs, Self::Data, Self::Prose];

    /// Gives the word that rule files and reports use.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Js => "js",
            Self::Py => "py",
            Self::Sh => "sh",
            Self::Rs => "rs",
            Self::Data => "data",
            Self::Prose => "prose",
        }
    }

    /// Finds a lens by its word.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|lens| lens.as_str() == name)
    }

    /// Gives the lens as one bit of a set.
    pub(crate) const fn bit(self) -> u8 {
        match self {
            Self::Js => 1,
            Self::Py => 2,
            Self::Sh => 4,
            Self::Rs => 8,
            Self::Data => 16,
            Self::Prose => 32,
        }
    }
}

/// What the host knows about a file from the plugin's surface. It can raise attention, never lower it.
///
/// # Guarantees
/// A hint never takes a lens or a rule away: a lens that the file's own name, first line or content asks for is
/// applied besides the hinted one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct RoleHint {
    role: Option<Role>,
    lens: Option<Lens>,
    used: Option<FileRole>,
}

impl RoleHint {
    /// Knows nothing.
    pub const NONE: Self = Self { role: None, lens: None, used: None };

    /// Says what the file is for.
    #[must_use]
    pub const fn role(role: Role) -> Self {
        Self { role: Some(role), lens: None, used: None }
    }

    /// Says how the host reads the file: a hook script without an ending, say.
    #[must_use]
    pub const fn lens(lens: Lens) -> Self {
        Self { role: None, lens: Some(lens), used: None }
    }

    /// Adds how the host reads the file.
    #[must_use]
    pub const fn and_lens(self, lens: Lens) -> Self {
        Self { role: self.role, lens: Some(lens), used: self.used }
    }

    /// Raises the role to at least this one.
    pub(crate) fn raised(self, role: Role) -> Self {
        Self { role: self.role.max(Some(role)), ..self }
    }

    /// Adds what the file is for.
    #[must_use]
    pub const fn used_as(self, used: FileRole) -> Self {
        Self { role: self.role, lens: self.lens, used: Some(used) }
    }

    pub(crate) const fn hinted_use(self) -> Option<FileRole> {
        self.used
    }

    pub(crate) const fn hinted_role(self) -> Option<Role> {
        self.role
    }

    pub(crate) const fn hinted_lens(self) -> Option<Lens> {
        self.lens
    }
}
