//! The report of `scan --format json`, version 1.

use core::fmt::Write as _;

use plugward_types::Finding;

use super::Render;

fn text(value: &str) -> String {
    serde_json::Value::from(value).to_string()
}

/// Renders the report as one JSON object, with keys in the documented order and a final line feed.
///
/// Findings have the keys of `check`'s report, followed by `hidden`, `how`, `snippet` and `digest`.
#[must_use]
pub fn json(render: &Render<'_>) -> String {
    let report = render.report;
    let mut out = String::new();
    let (summary, coverage) = (report.summary(), report.coverage());
    let line = |out: &mut String, text: &str| {
        out.push_str(text);
        out.push('\n');
    };
    let head = format!(
        "{{\n  \"version\": 1,\n  \"tool\": {{ \"name\": \"plugward\", \"version\": {}, \"rules\": \"{}\" }},\n  \"profile\": \"{}\",\n  \"coverage\": \"{}\",",
        text(render.version),
        report.rules(),
        report.profile().as_str(),
        coverage.as_str()
    );
    line(&mut out, &head);
    let files: Vec<String> = report.files().iter().map(file).collect();
    list(&mut out, "files", &files);
    let open: Vec<String> = report
        .findings()
        .iter()
        .filter(|finding| render.is_suppressed(finding).is_none())
        .map(|finding| item(finding, None))
        .collect();
    list(&mut out, "findings", &open);
    let covered: Vec<String> =
        render.decision.suppressed.iter().map(|known| item(&known.finding, Some(&known.reason))).collect();
    list(&mut out, "suppressed", &covered);
    let notices: Vec<String> = render
        .decision
        .notices
        .iter()
        .map(|notice| {
            format!(
                "{{ \"code\": {}, \"path\": {}, \"message\": {} }}",
                text(notice.code),
                text(&notice.path),
                text(&notice.message)
            )
        })
        .collect();
    list(&mut out, "notices", &notices);
    let behaviors: Vec<String> = report
        .evidence()
        .iter()
        .map(|one| {
            format!(
                "{{ \"behavior\": \"{}\", \"path\": {}, \"line\": {}, \"role\": \"{}\", \"snippet\": {} }}",
                one.behavior,
                text(&one.path),
                one.line,
                one.role,
                text(&one.snippet)
            )
        })
        .collect();
    list(&mut out, "behaviors", &behaviors);
    let tail = format!(
        "  \"summary\": {{ \"danger\": {}, \"warning\": {}, \"info\": {}, \"suppressed\": {}, \"files\": {}, \"bytes\": {} }},\n  \"exit\": {}\n}}",
        summary.danger,
        summary.warning,
        summary.info,
        covered.len(),
        summary.files,
        summary.bytes,
        render.exit
    );
    line(&mut out, &tail);
    out
}

fn list(out: &mut String, key: &str, items: &[String]) {
    if items.is_empty() {
        out.extend(["  \"", key, "\": [],\n"]);
        return;
    }
    out.extend(["  \"", key, "\": [\n    ", &items.join(",\n    "), "\n  ],\n"]);
}

fn file(file: &crate::scan::report::FileState) -> String {
    let mut out = format!("{{ \"path\": {}, \"state\": \"{}\"", text(&file.path), file.state.as_str());
    let mut add = |part: String| out.push_str(&part);
    if let Some(lens) = file.lens {
        add(format!(", \"lens\": \"{}\"", lens.as_str()));
    }
    add(format!(", \"role\": \"{}\", \"bytes\": {}", file.role.as_str(), file.bytes));
    if let Some(digest) = file.digest {
        add(format!(", \"digest\": \"{digest}\""));
    }
    out.push_str(" }");
    out
}

fn item(finding: &Finding, reason: Option<&str>) -> String {
    let mut out = String::from("{ ");
    if let Some(reason) = reason {
        out.extend(["\"reason\": ", &text(reason), ", "]);
    }
    let how: Vec<String> = finding.how.iter().map(|how| format!("\"{}\"", how.as_str())).collect();
    let written = write!(
        out,
        "\"rule\": \"{}\", \"severity\": \"{}\", \"role\": \"{}\", \"path\": {}, \"line\": {}, \"column\": {}, \"span\": [{}, {}], \"message\": {}, \"hidden\": {}, \"how\": [{}], \"snippet\": {}, \"digest\": \"{}\" }}",
        finding.rule,
        finding.severity,
        finding.role,
        text(&finding.path),
        finding.line,
        finding.column,
        finding.span.start,
        finding.span.end,
        text(&finding.message),
        finding.is_hidden(),
        how.join(", "),
        text(&finding.snippet),
        finding.digest
    );
    debug_assert!(written.is_ok(), "a string takes all that is written to it");
    out
}
