//! The danger gate, and the suppressions in a host's settings.

use core::fmt;
use core::str::FromStr;

use plugward_types::{Digest, Finding, RuleId, Severity};

use crate::Profile;
use crate::scan::error::help_of;
use crate::scan::report::ScanReport;

/// A day of the Gregorian calendar.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Date {
    year: u16,
    month: u8,
    day: u8,
}

impl Date {
    /// Returns a date; `None` for a day that does not exist.
    #[must_use]
    pub const fn new(year: u16, month: u8, day: u8) -> Option<Self> {
        let leap = year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
        let days = match month {
            1 | 3 | 5 | 7 | 8 | 10 | 12 => 31,
            4 | 6 | 9 | 11 => 30,
            2 if leap => 29,
            2 => 28,
            _ => return None,
        };
        if day == 0 || day > days || year == 0 || year > 9999 {
            None
        } else {
            Some(Self { year, month, day })
        }
    }
}

impl fmt::Display for Date {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:04}-{:02}-{:02}", self.year, self.month, self.day)
    }
}

/// A text that is not a date of the form `2026-12-31`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("read the date: expected a day as YYYY-MM-DD")]
#[non_exhaustive]
pub struct DateError;

impl FromStr for Date {
    type Err = DateError;

    fn from_str(text: &str) -> Result<Self, DateError> {
        let digits = |range: core::ops::Range<usize>| -> Option<u16> {
            let part = text.get(range)?;
            if part.bytes().all(|byte| byte.is_ascii_digit()) { part.parse().ok() } else { None }
        };
        let bytes = text.as_bytes();
        if bytes.len() != 10 || bytes.get(4) != Some(&b'-') || bytes.get(7) != Some(&b'-') {
            return Err(DateError);
        }
        let parts = (digits(0..4), digits(5..7), digits(8..10));
        let (Some(year), Some(month), Some(day)) = parts else { return Err(DateError) };
        let (Ok(month), Ok(day)) = (u8::try_from(month), u8::try_from(day)) else { return Err(DateError) };
        Self::new(year, month, day).ok_or(DateError)
    }
}

/// A suppression in the host's own settings: one rule in one file with one digest.
///
/// Settings can limit suppressions to a plugin. The caller selects those of the plugin at hand.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(
    clippy::exhaustive_structs,
    reason = "made from the host's settings; a new field must stop every host"
)]
pub struct Suppression {
    /// The id of one rule; patterns are not supported.
    pub rule: RuleId,
    /// The path of one file; patterns are not supported.
    pub path: String,
    /// The digest of the file with the findings. The suppression is void for other bytes.
    pub digest: Digest,
    /// The reason. With fewer than 10 characters the suppression is void.
    pub reason: String,
    /// The last day on which the suppression applies. It requires the caller's `today`.
    pub expires: Option<Date>,
}

/// A finding that a suppression covers. It stays in every output, marked.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Suppressed {
    /// The reason of the suppression.
    pub reason: String,
    /// The finding, unchanged.
    pub finding: Finding,
}

/// A remark about a suppression for the user.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct SuppressionWarning {
    /// `scan/suppression-void`, `scan/suppression-expired` or `scan/suppression-unused`.
    pub code: &'static str,
    /// The rule of the suppression, and the problem with it.
    pub message: String,
    /// The file of the suppression.
    pub path: String,
}

impl SuppressionWarning {
    /// Returns the next step for the user.
    #[must_use]
    pub fn help(&self) -> &'static str {
        help_of(self.code)
    }
}

/// The result of the scan gate.
#[derive(Debug, Clone, PartialEq, Eq)]
#[must_use]
#[expect(clippy::exhaustive_enums, reason = "a new answer must stop every host from building")]
pub enum ScanCheck {
    /// All findings are suppressed, or there are none.
    Clean,
    /// Only notes, which need no review.
    Listed,
    /// Suspicious findings and no danger: `scan/suspicious`. A person should review them once.
    Suspicious {
        /// The first of them in the order of reports.
        first: Box<Finding>,
        /// How many there are.
        count: usize,
    },
    /// At least one danger finding: `scan/danger`. Only a suppression of these bytes opens the gate.
    Danger {
        /// The first of them in the order of reports.
        first: Box<Finding>,
        /// How many are listed.
        count: usize,
    },
}

/// The result of the gate, with suppressed findings and remarks about suppressions.
#[derive(Debug, Clone, PartialEq, Eq)]
#[must_use]
#[non_exhaustive]
pub struct ScanDecision {
    /// The result.
    pub check: ScanCheck,
    /// Findings that a suppression covers.
    pub suppressed: Vec<Suppressed>,
    /// Remarks about void, expired and unused suppressions.
    pub notices: Vec<SuppressionWarning>,
}

/// Decides whether a report contains findings that are not suppressed.
///
/// # Guarantees
///
/// The result depends only on the arguments, and an approval is not one of them. A suppression with `expires` is void
/// without `today`, and a suppression never covers other bytes than those of its digest.
///
/// HyperAgent (see `docs/source-documents.md`) refuses to load a plugin with a danger finding, unless the plugin is
/// approved. This gate makes no exception for approved plugins.
pub fn gate(report: &ScanReport, suppressions: &[Suppression], today: Option<Date>) -> ScanDecision {
    let mut notices = Vec::new();
    let mut valid = Vec::new();
    for entry in suppressions {
        match judge(report, entry, today) {
            None => valid.push(entry),
            Some((code, why)) => notices.push(SuppressionWarning {
                code,
                message: format!("the entry for {}: {why}", entry.rule),
                path: entry.path.clone(),
            }),
        }
    }
    let mut suppressed = Vec::new();
    let mut left = Vec::new();
    for finding in &report.findings {
        match valid.iter().find(|entry| covers(entry, finding)) {
            Some(entry) => {
                suppressed.push(Suppressed { reason: entry.reason.clone(), finding: finding.clone() });
            }
            None => left.push(finding),
        }
    }
    let of = |severity: Severity| {
        let mut all = left.iter().filter(|finding| finding.severity == severity);
        all.next().map(|first| (Box::new((*first).clone()), all.count() + 1))
    };
    let check = match (of(Severity::Danger), of(Severity::Warning)) {
        (Some((first, count)), _) => ScanCheck::Danger { first, count },
        // For guest plugins of HyperAgent a warning is only listed, as in the reference manager.
        (None, Some((first, count))) if report.profile == Profile::General => {
            ScanCheck::Suspicious { first, count }
        }
        (None, None) if left.is_empty() => ScanCheck::Clean,
        (None, _) => ScanCheck::Listed,
    };
    notices.sort_by(|a, b| (a.code, &a.path, &a.message).cmp(&(b.code, &b.path, &b.message)));
    ScanDecision { check, suppressed, notices }
}

fn covers(entry: &Suppression, finding: &Finding) -> bool {
    entry.rule == finding.rule && entry.path == finding.path && entry.digest == finding.digest
}

/// Returns the problem with a suppression, if any.
fn judge(
    report: &ScanReport,
    entry: &Suppression,
    today: Option<Date>,
) -> Option<(&'static str, &'static str)> {
    if entry.reason.trim().chars().count() < 10 {
        return Some(("scan/suppression-void", "the reason has fewer than 10 characters"));
    }
    if let Some(last) = entry.expires {
        let Some(today) = today else {
            return Some(("scan/suppression-void", "it expires, and today's date is not known"));
        };
        if today > last {
            return Some(("scan/suppression-expired", "its last day is over"));
        }
    }
    let here = |finding: &&Finding| finding.rule == entry.rule && finding.path == entry.path;
    if report.findings.iter().any(|finding| covers(entry, finding)) {
        return None;
    }
    if report.findings.iter().any(|finding| here(&finding)) {
        return Some(("scan/suppression-void", "the file's bytes are not those of its digest"));
    }
    Some(("scan/suppression-unused", "no finding of that rule is in that file"))
}
