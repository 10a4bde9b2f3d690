//! The times of records, and the clock that a caller provides.

use core::fmt;
use core::str::FromStr;
use core::time::Duration;
use std::time::SystemTime;

use plugward_types::Timestamp;

use crate::error::{LedgerError, LedgerErrorKind};

/// The time of a record in UTC, always written with six decimals: `2026-11-21T21:48:03.123456Z`.
///
/// # Guarantees
///
/// `Display` and `FromStr` are inverse, so each time has one text in the canonical form. The range is 1970 to
/// 9999.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LedgerTime(Timestamp);

impl LedgerTime {
    /// Creates a time from microseconds since 1970. Returns `None` after the year 9999.
    #[must_use]
    pub const fn from_unix_micros(micros: u64) -> Option<Self> {
        match Timestamp::from_unix_micros(micros) {
            Some(time) => Some(Self(time)),
            None => None,
        }
    }

    /// Creates a time from a reading of the system clock.
    ///
    /// # Errors
    ///
    /// `ledger/text` for a time before 1970 or after 9999.
    pub fn from_system(time: SystemTime) -> Result<Self, LedgerError> {
        Timestamp::from_system(time).map(Self).ok_or_else(bad)
    }

    /// Returns the microseconds since 1970.
    #[must_use]
    pub const fn unix_micros(self) -> u64 {
        self.0.unix_micros()
    }

    /// Adds a duration. Returns `None` if the sum is out of range.
    #[must_use]
    pub fn checked_add(self, by: Duration) -> Option<Self> {
        self.0.checked_add(by).map(Self)
    }

    pub(crate) fn push(self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.0.micros_text());
    }

    pub(crate) fn parse(text: &str) -> Option<Self> {
        // Only the form with six decimals: a second text for a time would give a record a second digest.
        Timestamp::parse_micros(text).ok().map(Self)
    }
}

fn bad() -> LedgerError {
    LedgerError::new(LedgerErrorKind::Text {
        what: "timestamp",
        expected: "UTC from 1970 to 9999 with six decimals, as in 2026-11-21T21:48:03.123456Z",
    })
}

impl fmt::Display for LedgerTime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(core::str::from_utf8(&self.0.micros_text()).unwrap_or("?"))
    }
}

impl fmt::Debug for LedgerTime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl FromStr for LedgerTime {
    type Err = LedgerError;

    fn from_str(text: &str) -> Result<Self, LedgerError> {
        Self::parse(text).ok_or_else(bad)
    }
}

/// A source of the current time. The ledger reads it once per append, under the file lock.
///
/// Closures `Fn() -> LedgerTime` implement it.
pub trait Clock: Send + Sync {
    /// Returns the current time. It may run backwards, and the records then show that.
    fn now(&self) -> LedgerTime;
}

impl<F: Fn() -> LedgerTime + Send + Sync> Clock for F {
    fn now(&self) -> LedgerTime {
        self()
    }
}
