//! Failures to read a directory.

use plugward_types::escape;
use thiserror::Error;

/// A failure to read a directory. There is neither a digest nor a refusal, so the plugin must not be loaded.
#[derive(Debug, Error)]
#[error("{kind}")]
pub struct TreeError {
    kind: TreeErrorKind,
    source: Option<Box<dyn std::error::Error + Send + Sync>>,
}

/// The kind of a [`TreeError`].
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum TreeErrorKind {
    /// An entry could not be listed or read.
    #[error("read {}", show(.path))]
    Io {
        /// The entry, relative to the directory; empty for the directory itself.
        path: String,
    },
    /// The jail's policy hides dotfiles, so it does not show the directory as it is.
    #[error("read the directory: the jail's policy hides dotfiles")]
    Jail,
    /// The requested digest needs files that this snapshot left out.
    #[error("digest the directory: it was read without {missing}")]
    NotRead {
        /// The names that were left out.
        missing: String,
    },
}

fn show(path: &str) -> String {
    if path.is_empty() { "the directory".into() } else { escape::name(path.as_bytes()) }
}

impl TreeError {
    pub(crate) fn io(path: &[u8], source: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        let path = String::from_utf8_lossy(path).into_owned();
        Self { kind: TreeErrorKind::Io { path }, source: Some(source.into()) }
    }

    pub(crate) const fn jail() -> Self {
        Self { kind: TreeErrorKind::Jail, source: None }
    }

    pub(crate) const fn not_read(missing: String) -> Self {
        Self { kind: TreeErrorKind::NotRead { missing }, source: None }
    }

    /// Returns the cause.
    #[must_use]
    pub const fn kind(&self) -> &TreeErrorKind {
        &self.kind
    }

    /// Returns the stable code.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self.kind {
            TreeErrorKind::Io { .. } => "tree/io",
            TreeErrorKind::Jail => "tree/jail",
            TreeErrorKind::NotRead { .. } => "tree/not-read",
        }
    }

    /// Returns the next step for the user.
    #[must_use]
    pub fn help(&self) -> String {
        match &self.kind {
            TreeErrorKind::Io { .. } => {
                "make the entry readable (chmod u+r; u+rx for a directory), then check again".into()
            }
            TreeErrorKind::Jail => "open the jail with `Policy::standard()`".into(),
            TreeErrorKind::NotRead { .. } => {
                "read the directory with the excludes that both lists share".into()
            }
        }
    }
}
