//! Times in UTC, without reading a clock.
#![expect(
    clippy::arithmetic_side_effects,
    reason = "calendar arithmetic on values that the range of the type bounds"
)]

use core::fmt;
use core::str::FromStr;
use core::time::Duration;
use std::time::{SystemTime, UNIX_EPOCH};

use crate::{ParseError, ParseErrorKind, Part as _};

/// The last microsecond of the year 9999. A later year needs five digits, and the text forms have four.
const LAST: u64 = 253_402_300_799_999_999;
const SECOND: u64 = 1_000_000;
const DAY: u64 = 86_400;
/// Days from 0000-03-01 to 1970-01-01 in the proleptic Gregorian calendar.
const DAYS_TO_1970: u64 = 719_468;

const SECONDS_LEN: usize = 20;
const MICROS_LEN: usize = 27;
const SECONDS_SHAPE: &str = "a UTC time to the second, such as 2026-11-21T21:48:03Z";
const MICROS_SHAPE: &str = "a UTC time with six decimals, such as 2026-11-21T21:48:03.123456Z";
const SHAPE: &str = "a UTC time, such as 2026-11-21T21:48:03Z";

/// A time in UTC, to the microsecond, from 1970 to 9999.
///
/// The caller supplies it, because the library crates do not read the clock.
///
/// There are two text forms: `2026-11-21T21:48:03Z` and `2026-11-21T21:48:03.123456Z`. `Display` writes the second
/// form only if the time has a fraction of a second. `{:.0}` writes whole seconds, and any other precision, such as
/// `{:.6}`, writes six decimals. `FromStr` reads both forms.
///
/// # Guarantees
/// Each form of a time has one text, which parses to the same time.
///
/// # Examples
/// ```
/// use plugward_types::Timestamp;
///
/// let time: Timestamp = "2026-11-21T21:48:03Z".parse()?;
/// assert_eq!(time.unix_seconds(), 1_795_297_683);
/// assert_eq!(time.to_string(), "2026-11-21T21:48:03Z");
/// assert_eq!(format!("{time:.6}"), "2026-11-21T21:48:03.000000Z");
/// # Ok::<(), plugward_types::ParseError>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Timestamp(u64);

impl Timestamp {
    /// Converts seconds since 1970-01-01T00:00:00Z; `None` after the year 9999.
    #[must_use]
    pub const fn from_unix_seconds(seconds: u64) -> Option<Self> {
        match seconds.checked_mul(SECOND) {
            Some(micros) => Self::from_unix_micros(micros),
            None => None,
        }
    }

    /// Converts microseconds since 1970-01-01T00:00:00Z; `None` after the year 9999.
    #[must_use]
    pub const fn from_unix_micros(micros: u64) -> Option<Self> {
        if micros > LAST { None } else { Some(Self(micros)) }
    }

    /// Converts a reading of the system clock; `None` before 1970 and after 9999.
    #[must_use]
    pub fn from_system(time: SystemTime) -> Option<Self> {
        let since = time.duration_since(UNIX_EPOCH).ok()?;
        u64::try_from(since.as_micros()).ok().and_then(Self::from_unix_micros)
    }

    /// Returns the whole seconds since 1970-01-01T00:00:00Z.
    #[must_use]
    pub const fn unix_seconds(self) -> u64 {
        self.0 / SECOND
    }

    /// Returns the microseconds since 1970-01-01T00:00:00Z.
    #[must_use]
    pub const fn unix_micros(self) -> u64 {
        self.0
    }

    /// Drops the fraction of a second, which pins do not store.
    #[must_use]
    pub const fn truncated_to_second(self) -> Self {
        Self(self.0 - self.0 % SECOND)
    }

    /// Returns the date, such as `2026-11-21`.
    #[must_use]
    pub fn day(self) -> String {
        self.to_string().head("2026-11-21".len()).to_owned()
    }

    /// Adds a duration; `None` after the year 9999.
    #[must_use]
    pub fn checked_add(self, duration: Duration) -> Option<Self> {
        let micros = u64::try_from(duration.as_micros()).ok()?;
        Self::from_unix_micros(self.0.checked_add(micros)?)
    }

    /// Parses the form to the second, `2026-11-21T21:48:03Z`, and no other.
    ///
    /// # Errors
    /// `parse/shape` if the text has another form, is not a date of the calendar, or is before 1970.
    pub fn parse_seconds(text: &str) -> Result<Self, ParseError> {
        let time = if text.len() == SECONDS_LEN { parse(text.as_bytes()) } else { None };
        time.ok_or_else(|| unexpected(SECONDS_SHAPE))
    }

    /// Parses the form with six decimals, `2026-11-21T21:48:03.123456Z`, and no other.
    ///
    /// # Errors
    /// `parse/shape` if the text has another form, is not a date of the calendar, or is before 1970.
    pub fn parse_micros(text: &str) -> Result<Self, ParseError> {
        let time = if text.len() == MICROS_LEN { parse(text.as_bytes()) } else { None };
        time.ok_or_else(|| unexpected(MICROS_SHAPE))
    }

    /// Returns the ASCII text with six decimals, for writers of bytes.
    #[must_use]
    pub fn micros_text(self) -> [u8; MICROS_LEN] {
        // Days to a civil date, in years that start in March so that the leap day is the last day.
        let (seconds, micros) = (self.0 / SECOND, self.0 % SECOND);
        let (days, second_of_day) = (seconds / DAY, seconds % DAY);
        let shifted = days + DAYS_TO_1970;
        let (era, day_of_era) = (shifted / 146_097, shifted % 146_097);
        let year_of_era =
            (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
        let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
        let month_from_march = (5 * day_of_year + 2) / 153;
        let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
        let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
        let year = year_of_era + era * 400 + u64::from(month <= 2);
        let mut out = *b"0000-00-00T00:00:00.000000Z";
        put(&mut out, 0, 4, year);
        put(&mut out, 5, 2, month);
        put(&mut out, 8, 2, day);
        put(&mut out, 11, 2, second_of_day / 3_600);
        put(&mut out, 14, 2, second_of_day / 60 % 60);
        put(&mut out, 17, 2, second_of_day % 60);
        put(&mut out, 20, 6, micros);
        out
    }
}

/// Parses either form; the caller has checked the length.
fn parse(text: &[u8]) -> Option<Timestamp> {
    let part = |from: usize, len: usize| -> Option<u64> {
        let digits = text.get(from..from + len)?;
        digits
            .iter()
            .try_fold(0, |sum, digit| digit.is_ascii_digit().then(|| sum * 10 + u64::from(digit - b'0')))
    };
    let (year, month, day) = (part(0, 4)?, part(5, 2)?, part(8, 2)?);
    // These three would underflow below. All other impossible values are found by the comparison at the end.
    if year < 1970 || !(1..=12).contains(&month) || day == 0 {
        return None;
    }
    let march_year = year - u64::from(month <= 2);
    let month_from_march = if month > 2 { month - 3 } else { month + 9 };
    let (era, year_of_era) = (march_year / 400, march_year % 400);
    let day_of_year = (153 * month_from_march + 2) / 5 + day - 1;
    let day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    let days = (era * 146_097 + day_of_era).checked_sub(DAYS_TO_1970)?;
    let seconds = part(11, 2)? * 3_600 + part(14, 2)? * 60 + part(17, 2)?;
    let micros = if text.len() == MICROS_LEN { part(20, 6)? } else { 0 };
    let time = Timestamp::from_unix_micros((days * DAY + seconds) * SECOND + micros)?;
    // Comparing with the rendered text checks all separators at once, and refuses impossible dates and hours such
    // as the 31st of February, which render as another day.
    let rendered = time.micros_text();
    let same = if text.len() == MICROS_LEN { text == rendered } else { text == to_seconds(&rendered) };
    same.then_some(time)
}

/// Drops the decimals from a text with six of them.
fn to_seconds(text: &[u8; MICROS_LEN]) -> [u8; SECONDS_LEN] {
    let mut out = *b"0000-00-00T00:00:00Z";
    for (slot, byte) in out.iter_mut().zip(text).take(SECONDS_LEN - 1) {
        *slot = *byte;
    }
    out
}

fn put(out: &mut [u8; MICROS_LEN], from: usize, len: usize, mut value: u64) {
    for slot in out.iter_mut().skip(from).take(len).rev() {
        *slot = b"0123456789".get(usize::try_from(value % 10).unwrap_or(0)).copied().unwrap_or(b'0');
        value /= 10;
    }
}

const fn unexpected(expected: &'static str) -> ParseError {
    ParseError::new("time", ParseErrorKind::Shape { expected })
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = self.micros_text();
        let with_decimals = f.precision().map_or(!self.0.is_multiple_of(SECOND), |digits| digits > 0);
        let seconds = to_seconds(&text);
        let shown: &[u8] = if with_decimals { &text } else { &seconds };
        f.write_str(core::str::from_utf8(shown).unwrap_or("?"))
    }
}

impl fmt::Debug for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl FromStr for Timestamp {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Self, ParseError> {
        let known = matches!(text.len(), SECONDS_LEN | MICROS_LEN);
        let time = if known { parse(text.as_bytes()) } else { None };
        time.ok_or_else(|| unexpected(SHAPE))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_times_have_known_texts() {
        for (seconds, text) in [
            (0, "1970-01-01T00:00:00Z"),
            (951_782_400, "2000-02-29T00:00:00Z"),
            (1_795_297_683, "2026-11-21T21:48:03Z"),
            (4_107_542_399, "2100-02-28T23:59:59Z"),
            (4_107_542_400, "2100-03-01T00:00:00Z"),
            (253_402_300_799, "9999-12-31T23:59:59Z"),
        ] {
            let time = Timestamp::from_unix_seconds(seconds).unwrap();
            assert_eq!(time.to_string(), text);
            assert_eq!(Timestamp::parse_seconds(text), Ok(time));
            assert_eq!(format!("{time:?}"), text);
            assert_eq!(time.day(), text[..10]);
        }
        assert_eq!(Timestamp::from_unix_seconds(253_402_300_800), None);
        assert_eq!(Timestamp::from_unix_micros(253_402_300_800_000_000), None);
        assert_eq!(Timestamp::from_unix_seconds(u64::MAX), None);
    }

    #[test]
    fn the_precision_selects_the_form() {
        let time = Timestamp::from_unix_micros(1_795_297_683_000_456).unwrap();
        assert_eq!(time.to_string(), "2026-11-21T21:48:03.000456Z");
        assert_eq!(format!("{time:.0}"), "2026-11-21T21:48:03Z");
        assert_eq!(time.truncated_to_second().to_string(), "2026-11-21T21:48:03Z");
        assert_eq!(format!("{:.6}", time.truncated_to_second()), "2026-11-21T21:48:03.000000Z");
        assert_eq!(&time.micros_text(), b"2026-11-21T21:48:03.000456Z");
    }

    #[test]
    fn each_form_refuses_the_other() {
        let (short, long) = ("2026-11-21T21:48:03Z", "2026-11-21T21:48:03.123456Z");
        assert!(Timestamp::parse_seconds(short).is_ok() && Timestamp::parse_micros(long).is_ok());
        assert!(short.parse::<Timestamp>().is_ok() && long.parse::<Timestamp>().is_ok());
        assert_eq!(Timestamp::parse_seconds(long).unwrap_err().code(), "parse/shape");
        assert_eq!(Timestamp::parse_micros(short).unwrap_err().code(), "parse/shape");
    }

    #[test]
    fn other_texts_do_not_parse() {
        for text in [
            "",
            "1969-12-31T23:59:59Z",
            "2026-02-29T00:00:00Z",
            "2026-02-31T00:00:00Z",
            "2026-13-01T00:00:00Z",
            "2026-00-01T00:00:00Z",
            "2026-01-00T00:00:00Z",
            "2026-01-01T24:00:00Z",
            "2026-01-01T00:60:00Z",
            "2026-01-01T00:00:60Z",
            "2026-01-01 00:00:00Z",
            "2026-01-01T00:00:00z",
            "2026-01-01T00:00:00+",
            "+026-01-01T00:00:00Z",
            "2026-01-01T00:00:00.1Z",
            "2026-01-01T00:00:00,123456Z",
            "9999-12-31T24:00:00Z",
            "2026-01-01T00:00:0é",
        ] {
            assert!(text.parse::<Timestamp>().is_err(), "{text}");
        }
    }

    #[test]
    fn sums_and_clock_readings_stay_in_range() {
        let last = Timestamp::from_unix_micros(LAST).unwrap();
        assert_eq!(last.checked_add(Duration::from_micros(1)), None);
        assert_eq!(last.checked_add(Duration::MAX), None);
        let start = Timestamp::from_unix_seconds(0).unwrap();
        assert_eq!(start.checked_add(Duration::from_micros(LAST)), Some(last));
        assert_eq!(Timestamp::from_system(UNIX_EPOCH), Some(start));
        assert_eq!(Timestamp::from_system(UNIX_EPOCH - Duration::from_secs(1)), None);
    }
}
