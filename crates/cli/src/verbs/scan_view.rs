//! The scanner's report for people and for machines.

use plugward_loader::scanner::{Profile, Rules, ScanDecision, ScanReport};
use plugward_loader::{Finding, Severity};
use serde::Serialize;

use crate::escape::line;
use crate::failure::Failure;
use crate::json;
use crate::out::{ASK, FAINT, REFUSE, STRONG, paint};
use crate::table::{bytes, wrapped};

#[derive(Serialize)]
struct Report<'a> {
    version: u32,
    tool: Tool,
    profile: &'static str,
    coverage: &'static str,
    files: Vec<File<'a>>,
    findings: Vec<Row<'a>>,
    suppressed: [(); 0],
    notices: [(); 0],
    summary: Sums,
    exit: u8,
}

#[derive(Serialize)]
struct Tool {
    name: &'static str,
    version: &'static str,
    rules: String,
}

#[derive(Serialize)]
struct File<'a> {
    path: &'a str,
    state: &'static str,
    lens: Option<&'static str>,
    role: &'static str,
    bytes: u64,
    digest: Option<String>,
}

#[derive(Serialize)]
struct Row<'a> {
    rule: &'a str,
    severity: &'static str,
    path: &'a str,
    line: u32,
    column: u32,
    span: [usize; 2],
    message: &'a str,
    hidden: bool,
    how: Vec<&'static str>,
    snippet: &'a str,
    digest: String,
}

#[derive(Serialize)]
struct Sums {
    danger: usize,
    warning: usize,
    info: usize,
    suppressed: usize,
    files: usize,
    bytes: u64,
}

fn sums(report: &ScanReport) -> Sums {
    let count = |severity| report.findings().iter().filter(|finding| finding.severity == severity).count();
    Sums {
        danger: count(Severity::Danger),
        warning: count(Severity::Warning),
        info: count(Severity::Info),
        suppressed: 0,
        files: report.files().len(),
        bytes: report.files().iter().map(|file| file.bytes).sum(),
    }
}

/// Renders the JSON report.
pub(crate) fn json(
    report: &ScanReport,
    rules: &Rules,
    profile: Profile,
    exit: u8,
) -> Result<String, Failure> {
    let files = report.files().iter().map(|file| File {
        path: &file.path,
        state: file.state.as_str(),
        lens: file.lens.map(plugward_loader::scanner::Lens::as_str),
        role: file.role.as_str(),
        bytes: file.bytes,
        digest: file.digest.map(|digest| digest.to_string()),
    });
    let view = Report {
        version: 1,
        tool: Tool {
            name: "plugward",
            version: env!("CARGO_PKG_VERSION"),
            rules: rules.digest().to_string(),
        },
        profile: profile.as_str(),
        coverage: report.coverage().as_str(),
        files: files.collect(),
        findings: report.findings().iter().map(row).collect(),
        suppressed: [],
        notices: [],
        summary: sums(report),
        exit,
    };
    Ok(json::render(&view)?)
}

fn row(finding: &Finding) -> Row<'_> {
    Row {
        rule: finding.rule.as_str(),
        severity: finding.severity.as_str(),
        path: &finding.path,
        line: finding.line,
        column: finding.column,
        span: [finding.span.start, finding.span.end],
        message: &finding.message,
        hidden: finding.is_hidden(),
        how: finding.how.iter().map(|how| how.as_str()).collect(),
        snippet: &finding.snippet,
        digest: finding.digest.to_string(),
    }
}

/// Renders the table.
pub(crate) fn table(report: &ScanReport, _decision: &ScanDecision, width: usize) -> String {
    let mut findings: Vec<&Finding> = report.findings().iter().collect();
    findings.sort_by(|a, b| b.severity.cmp(&a.severity).then_with(|| a.cmp(b)));
    let mut out = String::new();
    for finding in findings {
        let style = match finding.severity {
            Severity::Danger => REFUSE,
            Severity::Warning => ASK,
            Severity::Info => FAINT,
        };
        let how: Vec<&str> = finding.how.iter().map(|how| how.as_str()).collect();
        let hidden = if how.is_empty() { String::new() } else { format!("  hidden: {}", how.join(", ")) };
        let place = format!("{}:{}:{}", line(&finding.path), finding.line, finding.column);
        let severity = paint(style, finding.severity.as_str());
        out.push_str(&format!("{severity} {}  {}{hidden}\n", finding.rule, paint(STRONG, &place)));
        out.push_str(&wrapped("    ", "    ", &line(&finding.message), width));
        if !finding.snippet.is_empty() {
            let snippet: String = line(&finding.snippet).chars().take(width.saturating_sub(6)).collect();
            out.push_str(&format!("    {}\n", paint(FAINT, &format!("| {snippet}"))));
        }
    }
    let sums = sums(report);
    out.push_str(&format!(
        "{} danger, {} warning, {} info; {} files, {}; coverage: {}\n",
        sums.danger,
        sums.warning,
        sums.info,
        sums.files,
        bytes(sums.bytes),
        report.coverage().as_str()
    ));
    out
}
