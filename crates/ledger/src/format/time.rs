//! Timestamps with six decimals, and the clock that a caller provides.

use core::fmt;
use core::str::FromStr;
use core::time::Duration;
use std::time::{SystemTime, UNIX_EPOCH};

use crate::error::{LedgerError, LedgerErrorKind};

/// The last microsecond of the year 9999, the last with four digits.
const LAST: u64 = 253_402_300_799_999_999;
const DAY: u64 = 86_400_000_000;
const LEN: usize = 27;

/// A time in UTC with exactly six decimals: `2026-11-21T21:48:03.123456Z`.
///
/// # Guarantees
///
/// `Display` and `FromStr` are inverse. The range is 1970 to 9999.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Timestamp(u64);

impl Timestamp {
    /// Creates a timestamp from microseconds since 1970. Returns `None` after the year 9999.
    #[must_use]
    pub const fn from_unix_micros(micros: u64) -> Option<Self> {
        if micros > LAST { None } else { Some(Self(micros)) }
    }

    /// Creates a timestamp from a system time.
    ///
    /// # Errors
    ///
    /// `ledger/text` for a time before 1970 or after 9999.
    pub fn from_system(time: SystemTime) -> Result<Self, LedgerError> {
        let micros =
            time.duration_since(UNIX_EPOCH).ok().and_then(|since| u64::try_from(since.as_micros()).ok());
        micros.and_then(Self::from_unix_micros).ok_or_else(bad)
    }

    /// Returns the microseconds since 1970.
    #[must_use]
    pub const fn unix_micros(self) -> u64 {
        self.0
    }

    /// Adds a duration. Returns `None` if the sum is out of range.
    #[must_use]
    pub fn checked_add(self, by: Duration) -> Option<Self> {
        let micros = u64::try_from(by.as_micros()).ok()?;
        Self::from_unix_micros(self.0.checked_add(micros)?)
    }

    #[expect(
        clippy::arithmetic_side_effects,
        reason = "calendar arithmetic on values that the range of the type bounds"
    )]
    fn render(self) -> [u8; LEN] {
        // Converts days to a civil date, with years that start in March so that the leap day is last.
        let (days, micros) = (self.0 / DAY, self.0 % DAY);
        let shifted = days + 719_468;
        let (era, day_of_era) = (shifted / 146_097, shifted % 146_097);
        let year_of_era =
            (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
        let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
        let month_from_march = (5 * day_of_year + 2) / 153;
        let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
        let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
        let year = year_of_era + era * 400 + u64::from(month <= 2);
        let seconds = micros / 1_000_000;
        let mut out = *b"0000-00-00T00:00:00.000000Z";
        put(&mut out, 0, 4, year);
        put(&mut out, 5, 2, month);
        put(&mut out, 8, 2, day);
        put(&mut out, 11, 2, seconds / 3_600);
        put(&mut out, 14, 2, seconds / 60 % 60);
        put(&mut out, 17, 2, seconds % 60);
        put(&mut out, 20, 6, micros % 1_000_000);
        out
    }

    pub(crate) fn push(self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.render());
    }

    #[expect(
        clippy::arithmetic_side_effects,
        reason = "every part has at most six digits and is checked against the calendar by rendering it again"
    )]
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let bytes: &[u8; LEN] = text.as_bytes().try_into().ok()?;
        let part = |from: usize, len: usize| -> Option<u64> {
            let digits = bytes.get(from..from + len)?;
            digits
                .iter()
                .try_fold(0, |sum, digit| digit.is_ascii_digit().then(|| sum * 10 + u64::from(digit - b'0')))
        };
        let (year, month, day) = (part(0, 4)?, part(5, 2)?, part(8, 2)?);
        if year < 1970 || !(1..=12).contains(&month) || day == 0 {
            return None;
        }
        let march_year = year - u64::from(month <= 2);
        let month_from_march = if month > 2 { month - 3 } else { month + 9 };
        let (era, year_of_era) = (march_year / 400, march_year % 400);
        let day_of_year = (153 * month_from_march + 2) / 5 + day - 1;
        let day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
        let days = (era * 146_097 + day_of_era).checked_sub(719_468)?;
        let seconds = part(11, 2)? * 3_600 + part(14, 2)? * 60 + part(17, 2)?;
        let moment = Self::from_unix_micros(days * DAY + seconds * 1_000_000 + part(20, 6)?)?;
        // An invalid date, such as February 31, renders as another text.
        (moment.render() == *bytes).then_some(moment)
    }
}

fn put(out: &mut [u8; LEN], from: usize, len: usize, mut value: u64) {
    for slot in out.iter_mut().skip(from).take(len).rev() {
        *slot = b'0'.wrapping_add(u8::try_from(value % 10).unwrap_or(0));
        value /= 10;
    }
}

fn bad() -> LedgerError {
    LedgerError::new(LedgerErrorKind::Text {
        what: "timestamp",
        expected: "UTC from 1970 to 9999 with six decimals, as in 2026-11-21T21:48:03.123456Z",
    })
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(core::str::from_utf8(&self.render()).unwrap_or("?"))
    }
}

impl fmt::Debug for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl FromStr for Timestamp {
    type Err = LedgerError;

    fn from_str(text: &str) -> Result<Self, LedgerError> {
        Self::parse(text).ok_or_else(bad)
    }
}

/// A source of the current time. The ledger reads it once per append, under the file lock.
///
/// Closures `Fn() -> Timestamp` implement it.
pub trait Clock: Send + Sync {
    /// Returns the current time. It may run backwards, and the records then show that.
    fn now(&self) -> Timestamp;
}

impl<F: Fn() -> Timestamp + Send + Sync> Clock for F {
    fn now(&self) -> Timestamp {
        self()
    }
}
