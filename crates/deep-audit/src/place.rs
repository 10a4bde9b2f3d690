//! Finds the place of a text that a model quotes.

use crate::plan::{AuditPlan, PlannedFile};

/// A place in a plugin.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) path: String,
    pub(crate) line: Option<u32>,
}

/// Returns the place of a quote: in the named file, else in the first one that contains it. Without a match, returns the
/// named file, if there is one.
pub(crate) fn locate(plan: &AuditPlan<'_>, named: &str, quote: &str) -> Option<Place> {
    let is_named = |file: &&PlannedFile<'_>| file.file.path == named.trim_start_matches("./");
    // A canary in the middle of a quote of several lines is not in the file.
    let lines =
        [quote.trim(), quote.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default()];
    for quote in lines.into_iter().filter(|quote| !quote.is_empty()) {
        let mut files = plan.sent().filter(is_named).chain(plan.sent());
        let found = files.find_map(|file| Some((file, file.text.find(quote)?)));
        if let Some((file, at)) = found {
            return Some(Place { path: file.file.path.to_owned(), line: Some(file.line_of(at)) });
        }
    }
    let file = plan.files.iter().find(is_named)?;
    Some(Place { path: file.file.path.to_owned(), line: None })
}

/// Returns `true` if a sent file contains a text.
pub(crate) fn occurs(plan: &AuditPlan<'_>, text: &str) -> bool {
    plan.sent().any(|file| file.text.contains(text))
}
