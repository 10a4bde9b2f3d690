//! Input of a scan: files as bytes, with the host's knowledge about them.

use std::collections::BTreeMap;

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
    /// The host's knowledge about the use of the file.
    pub role: RoleHint,
}

/// Returns the bytes of the regular files.
pub(super) fn bytes_by_path<'a>(entries: &[Entry<'a>]) -> BTreeMap<&'a str, &'a [u8]> {
    let bytes = entries.iter().filter_map(|entry| match entry.content {
        Content::Bytes { bytes, .. } => Some((entry.path, bytes)),
        _ => None,
    });
    bytes.collect()
}

/// The content of an entry.
#[derive(Debug, Clone, Copy)]
#[expect(clippy::exhaustive_enums, reason = "a new kind of content must stop every caller from building")]
pub enum Content<'a> {
    /// A regular file.
    Bytes {
        /// The bytes that were hashed.
        bytes: &'a [u8],
        /// Their digest.
        digest: Digest,
    },
    /// A symlink that stays inside the tree; its target is a separate entry.
    Link,
    /// A FIFO, socket or device.
    Special,
    /// A file that could not be read.
    Unreadable {
        /// The reason, for the report.
        why: &'a str,
    },
}

plugward_types::named! {
    /// The kind of a file. It changes severities only as docs/rules.md describes.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
    #[non_exhaustive]
    pub enum FileKind {
        /// Nothing special.
        Other = "other",
        /// Read by people: README, CHANGELOG, LICENSE, `docs/`.
        Doc = "doc",
        /// A manifest or settings file of a host.
        Manifest = "manifest",
        /// Runs while the plugin is built: `build.rs`, procedural macros.
        Build = "build",
        /// Enters a model's context.
        Prompt = "prompt",
    }
}

impl FileKind {
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

plugward_types::named! {
    /// The reader for one language.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
    #[non_exhaustive]
    pub enum Lens {
        /// JavaScript and TypeScript.
        Js = "js",
        /// Python.
        Py = "py",
        /// Shells, Makefile recipes, Dockerfiles.
        Sh = "sh",
        /// Rust.
        Rs = "rs",
        /// JSON, TOML, YAML.
        Data = "data",
        /// Markdown and every other text.
        Prose = "prose",
    }
}

impl Lens {
    /// Returns the lens as one bit of a set.
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

/// The host's knowledge about a file, from the plugin's execution surface. It can add checks and never removes any.
///
/// # Guarantees
///
/// A hint never disables a lens or a rule: a lens that the file's name, first line or content selects is applied in
/// addition to the hinted one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct RoleHint {
    role: Option<FileKind>,
    lens: Option<Lens>,
    used: Option<FileRole>,
}

impl RoleHint {
    /// No knowledge.
    pub const NONE: Self = Self { role: None, lens: None, used: None };

    /// Returns a hint with the kind of the file.
    #[must_use]
    pub const fn role(role: FileKind) -> Self {
        Self { role: Some(role), lens: None, used: None }
    }

    /// Returns a hint with the language in which the host reads the file, for a hook script without a file extension.
    #[must_use]
    pub const fn lens(lens: Lens) -> Self {
        Self { role: None, lens: Some(lens), used: None }
    }

    /// Adds the language in which the host reads the file.
    #[must_use]
    pub const fn and_lens(self, lens: Lens) -> Self {
        Self { role: self.role, lens: Some(lens), used: self.used }
    }

    /// Raises the kind to at least this one.
    pub(crate) fn raised(self, role: FileKind) -> Self {
        Self { role: self.role.max(Some(role)), ..self }
    }

    /// Adds the role of the file.
    #[must_use]
    pub const fn used_as(self, used: FileRole) -> Self {
        Self { role: self.role, lens: self.lens, used: Some(used) }
    }

    pub(crate) const fn hinted_use(self) -> Option<FileRole> {
        self.used
    }

    pub(crate) const fn hinted_role(self) -> Option<FileKind> {
        self.role
    }

    pub(crate) const fn hinted_lens(self) -> Option<Lens> {
        self.lens
    }
}
