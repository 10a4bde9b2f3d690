//! Lists of what was revoked.

use crate::doc::{self, Lines, Node};
use crate::error::{FormatError, FormatErrorKind};
use crate::revoked::{Revoked, Subject};

const VERSION: i64 = 1;
const MAX_ENTRIES: usize = 100_000;
/// The most bytes of a list that are read.
const CAP: usize = 8 << 20;

/// A revocation list.
///
/// # Source
/// Pinstore page, 2.8; none of the seed systems has one.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Revocations {
    serial: u64,
    entries: Vec<Revoked>,
}

/// Whether a plugin is revoked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use]
#[expect(clippy::exhaustive_enums, reason = "a new answer must stop every host from building")]
pub enum RevocationCheck<'a> {
    /// No entry matches.
    Clear,
    /// An entry matches: `policy/revoked`.
    Revoked(&'a Revoked),
}

impl Revocations {
    /// Reads a list.
    ///
    /// # Errors
    /// `store/format` with place, what was expected and what to do: also for an entry that gives nothing to match,
    /// for versions without an id, for more than 8 MiB or 100,000 entries, and for a list without its version or
    /// serial.
    pub fn parse(bytes: &[u8]) -> Result<Self, FormatError> {
        if bytes.len() > CAP {
            return Err(FormatError::anywhere(FormatErrorKind::TooLarge { cap: CAP }));
        }
        let text = doc::text_of(bytes)?;
        let lines = Lines::of(text);
        let table = doc::parse(text, &lines)?;
        let root = Node::root(&table, &lines);
        match root.integer("version")? {
            Some(VERSION) => {}
            Some(found) if found > VERSION => {
                return Err(FormatError::anywhere(FormatErrorKind::Version { found }));
            }
            Some(_) => return Err(root.wrong(&(0..0), "version", "1")),
            None => return Err(root.missing("version")),
        }
        // Within its last line a word can be cut off and still be a word.
        if !text.ends_with('\n') {
            return Err(FormatError::anywhere(FormatErrorKind::CutOff {
                missing: "the end of its last line",
            }));
        }
        let serial = root.count("serial")?;
        let mut entries = Vec::new();
        for entry in root.list("revoked")? {
            if entries.len() == MAX_ENTRIES {
                return Err(FormatError::anywhere(FormatErrorKind::TooMany { most: MAX_ENTRIES }));
            }
            entries.push(Revoked::read(&entry)?);
        }
        Ok(Self { serial, entries })
    }

    /// Takes entries that come from elsewhere, such as those of the pins.
    #[must_use]
    pub fn of(entries: &[Revoked]) -> Self {
        Self { serial: 0, entries: entries.to_vec() }
    }

    /// Gives the list's number; a list with a lower one is older.
    #[must_use]
    pub const fn serial(&self) -> u64 {
        self.serial
    }

    /// Gives the entries, as they stand.
    #[must_use]
    pub fn entries(&self) -> &[Revoked] {
        &self.entries
    }

    /// Looks for the first entry that matches.
    pub fn check(&self, subject: &Subject<'_>) -> RevocationCheck<'_> {
        let found = self.entries.iter().find(|entry| entry.matches(subject));
        found.map_or(RevocationCheck::Clear, RevocationCheck::Revoked)
    }
}
