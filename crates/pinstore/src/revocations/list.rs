//! Revocation lists.

use crate::error::{FormatError, FormatErrorKind};
use crate::format::reader::{self, Node};
use crate::revocations::entry::{Revocation, RevocationSubject};

const VERSION: i64 = 1;
// The limit of entries. Each plugin is compared with every entry.
const MAX_ENTRIES: usize = 100_000;
/// The size limit of a list.
const CAP: usize = 8 << 20;

/// A revocation list.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Revocations {
    serial: u64,
    entries: Vec<Revocation>,
}

/// Whether a plugin is revoked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use]
#[expect(clippy::exhaustive_enums, reason = "every host must handle a new answer")]
pub enum RevocationCheck<'a> {
    /// No entry matches.
    Clear,
    /// An entry matches: `policy/revoked`.
    Revoked(&'a Revocation),
}

impl Revocations {
    /// Reads a list.
    /// Reads a list.
    ///
    /// # Errors
    /// `store/format` with the place, the expected value and help. A list without a version or serial, an
    /// entry without conditions, versions without an id, and more than 8 MiB or 100,000 entries are errors
    /// too.
    pub fn parse(bytes: &[u8]) -> Result<Self, FormatError> {
        if bytes.len() > CAP {
            return Err(FormatError::anywhere(FormatErrorKind::TooLarge { cap: CAP }));
        }
        let text = reader::text_of(bytes)?;
        let lines = reader::lines_of(text);
        let table = reader::parse(text, &lines)?;
        let root = Node::root(&table, &lines);
        match root.integer("version")? {
            Some(VERSION) => {}
            Some(found) if found > VERSION => {
                return Err(FormatError::anywhere(FormatErrorKind::Version { found }));
            }
            Some(_) => return Err(root.wrong(&(0..0), "version", "1")),
            None => return Err(root.missing("version")),
        }
        // A word in the last line can be truncated and still be a word.
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
            entries.push(Revocation::read(&entry)?);
        }
        Ok(Self { serial, entries })
    }

    /// Creates a list of entries from elsewhere, such as the pins file.
    #[must_use]
    pub fn of(entries: &[Revocation]) -> Self {
        Self { serial: 0, entries: entries.to_vec() }
    }

    /// Returns the serial number. A list with a lower one is older.
    #[must_use]
    pub const fn serial(&self) -> u64 {
        self.serial
    }

    /// Returns the entries in their order.
    #[must_use]
    pub fn entries(&self) -> &[Revocation] {
        &self.entries
    }

    /// Returns the first entry that matches.
    pub fn check(&self, subject: &RevocationSubject<'_>) -> RevocationCheck<'_> {
        let found = self.entries.iter().find(|entry| entry.matches(subject));
        found.map_or(RevocationCheck::Clear, RevocationCheck::Revoked)
    }
}
