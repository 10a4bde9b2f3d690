//! Who we are, and what we keep.

/// The user that a file must belong to (root's files are taken too).
///
/// It is an argument: this crate asks no environment who runs it.
///
/// # Source
/// OpenSSH checks its own files so; ADR-003 does not say.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Owner(u32);

impl Owner {
    /// Takes the effective user id of the process.
    #[must_use]
    pub const fn uid(uid: u32) -> Self {
        Self(uid)
    }

    /// Says whether what this user id owns may be believed: our own and root's.
    pub(crate) const fn trusts(self, uid: u32) -> bool {
        uid == self.0 || uid == 0
    }
}

/// Whether a second copy is kept beside the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "a copy is kept or not")]
pub enum LastGood {
    /// `NAME.last-good` gets the same bytes before the file does.
    Yes,
    /// One copy only.
    No,
}
