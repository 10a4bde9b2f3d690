//! Marks at the end of lines, which name the rules that have to report the line.

use std::collections::BTreeSet;

/// File, line, rule.
pub(crate) type Mark = (String, u32, String);

/// Returns the marks of a text: every code after the last `//~ ` of a line.
pub(crate) fn marks(file: &str, text: &str) -> BTreeSet<Mark> {
    let mut found = BTreeSet::new();
    for (index, line) in text.lines().enumerate() {
        if let Some((_, rules)) = line.rsplit_once("//~ ") {
            for rule in rules.split_whitespace() {
                found.insert((file.to_owned(), u32::try_from(index).unwrap() + 1, rule.to_owned()));
            }
        }
    }
    found
}

/// Returns the findings of a report in the same form.
pub(crate) fn reported(report: &plugward_fence::FenceReport) -> BTreeSet<Mark> {
    let all = report.findings().iter();
    all.map(|one| (one.site.file.clone(), one.site.line, one.rule.to_string())).collect()
}

/// Panics with the missed and the extra marks.
#[track_caller]
pub(crate) fn same(wanted: &BTreeSet<Mark>, found: &BTreeSet<Mark>) {
    let missed: Vec<&Mark> = wanted.difference(found).collect();
    let extra: Vec<&Mark> = found.difference(wanted).collect();
    assert!(missed.is_empty() && extra.is_empty(), "missed {missed:#?}\nextra {extra:#?}");
}
