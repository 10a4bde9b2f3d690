//! Why we could not tell whether a folder is a tree.

use thiserror::Error;

use crate::escape::escape;

/// A directory that could not be read. There is neither a digest nor a refusal.
///
/// # Source
/// Rule 1 of the design: a failure is an error, and never a yes.
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
        /// The entry, relative to the folder; empty for the folder itself.
        path: String,
    },
    /// The jail's policy hides dotfiles or follows links, so what is read through it is not the folder.
    #[error("read a folder through a jail that hides dotfiles or follows links")]
    Jail,
    /// A digest was asked for that needs files which this snapshot left out.
    #[error("digest a folder that was read without {missing}")]
    NotRead {
        /// What was left out.
        missing: String,
    },
}

fn show(path: &str) -> String {
    if path.is_empty() { "the folder".into() } else { escape(path.as_bytes()) }
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

    /// Returns the kind of the error.
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
                "make the entry readable for you (chmod u+r; u+rx for a folder), then run again".into()
            }
            TreeErrorKind::Jail => "open the jail with `Policy::standard()`".into(),
            TreeErrorKind::NotRead { .. } => "read the folder with what both lists exclude".into(),
        }
    }
}
