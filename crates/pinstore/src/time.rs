//! Timestamps in UTC, to the second.

use core::fmt;
use core::str::FromStr;

use crate::error::{FormatError, FormatErrorKind};

const DAY: u64 = 86_400;
const EXPECTED: &str = "a UTC time to the second, such as 2026-11-21T21:48:03Z";
/// The first second of the year 10000, whose text form has one digit too many.
const END: u64 = 253_402_300_800;

/// A time in UTC, to the second, from 1970 to 9999; written `2026-11-21T21:48:03Z`.
///
/// The caller supplies it, because this crate does not read the clock. It does not order events; `serial` does.
///
/// # Guarantees
/// Each time has one text, which parses to the same time.
///
/// # Examples
/// ```
/// use plugward_pinstore::Timestamp;
/// let at: Timestamp = "2026-11-21T21:48:03Z".parse()?;
/// assert_eq!(Timestamp::from_unix(at.unix())?, at);
/// # Ok::<(), plugward_pinstore::FormatError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Timestamp(u64);

impl Timestamp {
    /// Converts seconds since 1970-01-01T00:00:00Z.
    ///
    /// # Errors
    /// `store/format` from the year 10000 on.
    pub fn from_unix(seconds: u64) -> Result<Self, FormatError> {
        if seconds < END { Ok(Self(seconds)) } else { Err(unexpected()) }
    }

    /// Returns the seconds since 1970-01-01T00:00:00Z.
    #[must_use]
    pub const fn unix(self) -> u64 {
        self.0
    }
}

fn unexpected() -> FormatError {
    FormatError::anywhere(FormatErrorKind::Expected { key: "time".to_owned(), expected: EXPECTED })
}

const fn is_leap(year: u64) -> bool {
    year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400))
}

const fn days_of(year: u64, month: u64) -> u64 {
    match month {
        2 if is_leap(year) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// Days from 1970-01-01 to the first day of a year.
const fn days_before(year: u64) -> u64 {
    // Years before this one, since the year 1, and the leap days among them.
    let past = year.saturating_sub(1);
    let leap_days = (past / 4).saturating_sub(past / 100).saturating_add(past / 400);
    past.saturating_mul(365).saturating_add(leap_days).saturating_sub(719_162)
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (mut days, rest) = (self.0 / DAY, self.0 % DAY);
        // The first guess is never too late, and at most one year too early.
        let mut year = (days / 366).saturating_add(1970);
        while days_before(year.saturating_add(1)) <= days {
            year = year.saturating_add(1);
        }
        days = days.saturating_sub(days_before(year));
        let mut month = 1;
        while days >= days_of(year, month) {
            days = days.saturating_sub(days_of(year, month));
            month = month.saturating_add(1);
        }
        let (hour, minute, second) = (rest / 3600, rest / 60 % 60, rest % 60);
        let day = days.saturating_add(1);
        write!(f, "{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z")
    }
}

impl FromStr for Timestamp {
    type Err = FormatError;

    fn from_str(text: &str) -> Result<Self, FormatError> {
        let number = |from: usize, to: usize| -> Option<u64> {
            let part = text.get(from..to)?;
            if part.bytes().all(|byte| byte.is_ascii_digit()) { part.parse().ok() } else { None }
        };
        let read = || -> Option<u64> {
            let marks = [(4, b'-'), (7, b'-'), (10, b'T'), (13, b':'), (16, b':'), (19, b'Z')];
            let right = |(at, mark): (usize, u8)| text.as_bytes().get(at) == Some(&mark);
            if text.len() != 20 || !marks.into_iter().all(right) {
                return None;
            }
            let (year, month, day) = (number(0, 4)?, number(5, 7)?, number(8, 10)?);
            let (hour, minute, second) = (number(11, 13)?, number(14, 16)?, number(17, 19)?);
            let in_year = (1970..=9999).contains(&year) && (1..=12).contains(&month);
            if !in_year || !(1..=days_of(year, month)).contains(&day) {
                return None;
            }
            if hour > 23 || minute > 59 || second > 59 {
                return None;
            }
            let months: u64 = (1..month).map(|past| days_of(year, past)).sum();
            let days = days_before(year).checked_add(months)?.checked_add(day)?.checked_sub(1)?;
            let seconds =
                hour.checked_mul(3600)?.checked_add(minute.checked_mul(60)?)?.checked_add(second)?;
            days.checked_mul(DAY)?.checked_add(seconds)
        };
        read().map(Self).ok_or_else(unexpected)
    }
}
