//! The result of a scan as text.

use std::collections::BTreeSet;

use plugward_loader::Finding;
use plugward_loader::Severity;
use plugward_loader::scanner::{Completeness, EntryState, Rules, ScanDecision, ScanReport};

use crate::diagnostic::{Diagnostic, Level, Location};
use crate::out::{ASK, FAINT, LOAD, REFUSE, STRONG, paint};
use crate::report::{Detail, lowered, tier};
use crate::table::grid;
use crate::text::{count, wrapped};
use plugward_loader::escape::line;

/// The result of a scan and the options of rendering it.
pub(super) struct View<'a> {
    pub(super) report: &'a ScanReport,
    pub(super) decision: &'a ScanDecision,
    pub(super) rules: &'a Rules,
    /// The command that prints the details, without the program's name.
    pub(super) again: &'a str,
    pub(super) detail: Detail,
    pub(super) width: usize,
}

impl View<'_> {
    fn suppressed(&self, finding: &Finding) -> Option<&str> {
        let covers = |item: &&plugward_loader::scanner::Suppressed| item.finding == *finding;
        self.decision.suppressed.iter().find(covers).map(|item| item.reason.as_str())
    }
}

/// Renders the summary, then the findings by file and line.
pub(super) fn render(view: &View<'_>) -> String {
    let mut out = summary(view);
    let open = view.report.findings();
    // Several patterns of one rule can match at one place. They are shown as one finding.
    let mut places = BTreeSet::new();
    let mut found: Vec<&Finding> = open
        .iter()
        .filter(|finding| places.insert((&finding.path, finding.line, finding.column, &finding.rule)))
        .collect();
    found.sort_by_key(|finding| (&finding.path, finding.line, finding.column));
    for group in found.chunk_by(|one, two| one.path == two.path) {
        out.push('\n');
        match view.detail {
            Detail::Brief => out.push_str(&rows(group, view)),
            Detail::Full => group.iter().for_each(|finding| out.push_str(&block(finding, view))),
        }
    }
    for notice in &view.decision.notices {
        let title = format!("{}: {}", notice.path, notice.message);
        out.push_str(&format!(
            "\n{}",
            Diagnostic::warning(title).code(notice.code).help(notice.help()).render(view.width)
        ));
    }
    if view.detail == Detail::Brief && !open.is_empty() {
        let text = format!("For source lines, reasons and fixes: plugward scan -v {}", view.again);
        out.push_str(&format!("\n{}", wrapped("", "  ", &text, view.width)));
    }
    out
}

fn summary(view: &View<'_>) -> String {
    let counts = view.report.summary();
    let files: BTreeSet<&str> = view.report.findings().iter().map(|finding| finding.path.as_str()).collect();
    let all = usize::try_from(counts.files).unwrap_or(usize::MAX);
    let total = counts.danger + counts.warning + counts.info;
    let mut text = if total == 0 {
        format!("No findings in {}.", count(all, "file"))
    } else {
        let tiers = [(counts.danger, "danger"), (counts.warning, "suspicious"), (counts.info, "note")];
        let tiers: Vec<String> = tiers
            .iter()
            .filter(|(number, _)| *number > 0)
            .map(|(number, word)| match *word {
                "note" if *number != 1 => format!("{number} notes"),
                word => format!("{number} {word}"),
            })
            .collect();
        let found = count(usize::try_from(total).unwrap_or(usize::MAX), "finding");
        format!("{found} in {} of {}: {}.", files.len(), count(all, "file"), tiers.join(", "))
    };
    let suppressed = view.decision.suppressed.len();
    if suppressed > 0 {
        text.push_str(&format!(" {suppressed} suppressed."));
    }
    let style = match (counts.danger, counts.warning) {
        (0, 0) => LOAD,
        (0, _) => ASK,
        _ => REFUSE,
    };
    let mut out = paint(style, &wrapped("", "", &text, view.width));
    if view.report.coverage() == Completeness::Partial {
        let unread = view.report.files().iter().filter(|file| {
            matches!(file.state, EntryState::Partial | EntryState::Unreadable | EntryState::Special)
        });
        let names: Vec<&str> = unread.map(|file| file.path.as_str()).collect();
        let title = format!("the scan is incomplete: {} not read in full", count(names.len(), "file"));
        let warning = names
            .iter()
            .take(5)
            .fold(Diagnostic::warning(title), |block, path| block.at(Location::path(*path)));
        out.push_str(&warning.render(view.width));
    }
    out
}

/// Returns the rows of one file: its path, then one row for each finding.
fn rows(group: &[&Finding], view: &View<'_>) -> String {
    let Some(first) = group.first() else { return String::new() };
    let cells: Vec<Vec<String>> = group
        .iter()
        .map(|finding| {
            let mut message = lowered(&finding.message);
            if let Some(reason) = view.suppressed(finding) {
                message = format!("suppressed: {reason}");
            }
            vec![
                format!("{:>4}:{}", finding.line, finding.column),
                tier(finding.severity).to_owned(),
                finding.rule.to_string(),
                line(&message).into_owned(),
            ]
        })
        .collect();
    let mut out = format!("{}\n", paint(STRONG, &line(&first.path)));
    for row in grid(&[], &cells, view.width.saturating_sub(2)).lines() {
        let word = ["danger", "suspicious", "note"]
            .into_iter()
            .find(|word| row.split_whitespace().nth(1) == Some(word));
        let painted = match word {
            Some("danger") => row.replacen("danger", &paint(REFUSE, "danger"), 1),
            Some("suspicious") => row.replacen("suspicious", &paint(ASK, "suspicious"), 1),
            Some(word) => row.replacen(word, &paint(FAINT, word), 1),
            None => row.to_owned(),
        };
        out.push_str(&format!("  {painted}\n"));
    }
    out
}

/// Returns one finding in full: source line, risk and fix.
fn block(finding: &Finding, view: &View<'_>) -> String {
    let level = match finding.severity {
        Severity::Danger => Level::Error,
        Severity::Warning => Level::Warning,
        Severity::Info => Level::Note,
    };
    let hidden: Vec<&str> = finding.how.iter().map(|how| how.as_str()).collect();
    let label = if hidden.is_empty() { String::new() } else { format!("hidden: {}", hidden.join(", ")) };
    let mut at = Location::path(&finding.path).at(finding.line, finding.column);
    if !finding.snippet.is_empty() {
        at = at.source(&finding.snippet, finding.caret.clone(), label);
    }
    let mut block = Diagnostic::new(level, lowered(&finding.message)).code(finding.rule.as_str()).at(at);
    if let Some(rule) = view.rules.get(finding.rule.as_str()) {
        block = block.note("why", lowered(rule.why())).help(&lowered(rule.fix()));
    }
    if let Some(reason) = view.suppressed(finding) {
        block = block.note("suppressed", reason);
    }
    format!("{}\n", block.render(view.width))
}
