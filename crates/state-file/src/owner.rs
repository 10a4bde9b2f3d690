//! The trusted owner of a file, and whether a backup is kept.

/// The user to whom a file must belong. Files of root are accepted as well, as OpenSSH does.
///
/// The caller supplies the user id, because this crate does not read it from the process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Owner(u32);

impl Owner {
    /// Creates an owner from the effective user id of the process.
    #[must_use]
    pub const fn uid(uid: u32) -> Self {
        Self(uid)
    }

    /// Returns `true` if files of this user id are trusted: those of the owner and of root.
    pub(crate) const fn trusts(self, uid: u32) -> bool {
        uid == self.0 || uid == 0
    }
}

/// Whether a backup is kept next to the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "a backup is kept or not")]
pub enum Backup {
    /// `NAME.last-good` gets the same bytes before the file does.
    Keep,
    /// No backup is kept.
    None,
}
