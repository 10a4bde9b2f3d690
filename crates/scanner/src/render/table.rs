//! The report for people.

use plugward_types::{Finding, Severity};

use super::{Render, shown};

/// Renders the report as lines: per file the findings, danger first, then a summary.
#[must_use]
pub fn table(render: &Render<'_>) -> String {
    let report = render.report;
    let mut lines: Vec<String> = Vec::new();
    // Findings and files are both in the order of paths.
    let mut rest = report.findings();
    for file in report.files() {
        let count = rest.partition_point(|finding| finding.path <= file.path);
        let (own, more) = rest.split_at(count);
        rest = more;
        let mut findings: Vec<&Finding> = own.iter().collect();
        if findings.is_empty() {
            continue;
        }
        findings.sort_by(|a, b| b.severity.cmp(&a.severity).then_with(|| a.cmp(b)));
        lines.push(shown(&file.path));
        for finding in findings {
            lines.extend(rows(render, finding));
        }
        lines.push(String::new());
    }
    for notice in &render.decision.notices {
        lines.push(format!("notice {}  {}: {}", notice.code, shown(&notice.path), notice.message));
        lines.push(format!("  next: {}", notice.help()));
    }
    lines.extend(summary(render));
    lines.join("\n")
}

fn rows(render: &Render<'_>, finding: &Finding) -> Vec<String> {
    let mut row = format!(
        "  {:<7} {}  {}:{}:{}",
        finding.severity.as_str(),
        finding.rule,
        shown(&finding.path),
        finding.line,
        finding.column
    );
    if finding.is_hidden() {
        let how: Vec<&str> = finding.how.iter().map(|how| how.as_str()).collect();
        row.extend(["  hidden: ", &how.join(" ")]);
    }
    row.extend(["  ", &finding.message]);
    let mut rows = vec![row, format!("          {}", finding.snippet)];
    if let Some(reason) = render.is_suppressed(finding) {
        let reason: String = reason.chars().map(crate::scan::snippet::escape).collect();
        rows.push(format!("          suppressed: {reason}"));
    }
    rows
}

fn summary(render: &Render<'_>) -> Vec<String> {
    let report = render.report;
    let mut states: std::collections::BTreeMap<&str, usize> = std::collections::BTreeMap::new();
    for file in report.files() {
        let count = states.entry(file.state.as_str()).or_default();
        *count = count.saturating_add(1);
    }
    let states: Vec<String> = states.iter().map(|(state, count)| format!("{count} {state}")).collect();
    let counts = report.summary();
    let of = |severity: Severity| match severity {
        Severity::Danger => counts.danger,
        Severity::Warning => counts.warning,
        Severity::Info => counts.info,
    };
    vec![
        format!("{} ({}), {}", count(counts.files, "file"), states.join(", "), count(counts.bytes, "byte")),
        format!(
            "{} danger, {} warning, {} info, {} suppressed; coverage: {}; gate: {}",
            of(Severity::Danger),
            of(Severity::Warning),
            of(Severity::Info),
            render.decision.suppressed.len(),
            report.coverage().as_str(),
            render.word()
        ),
        String::new(),
    ]
}

fn count(number: u64, noun: &str) -> String {
    if number == 1 { format!("1 {noun}") } else { format!("{number} {noun}s") }
}
