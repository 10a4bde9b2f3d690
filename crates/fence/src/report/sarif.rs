//! SARIF 2.1.0 output, with one rule object per rule.

use plugward_types::hex;
use serde_json::{Value, json};

use crate::LintRule;
use crate::report::{FenceReport, LintFinding};

/// Renders the report as one SARIF log.
pub(crate) fn render(report: &FenceReport) -> String {
    let rules: Vec<Value> = LintRule::ALL
        .iter()
        .map(|rule| {
            json!({
                "id": rule.code(),
                "name": rule.name(),
                "shortDescription": {"text": format!("{}: {}", rule.code(), rule.name())},
                "help": {"text": rule.help()},
                "defaultConfiguration": {"level": "error"},
            })
        })
        .collect();
    let results: Vec<Value> = report.findings().iter().map(result).collect();
    let notes: Vec<Value> = report
        .undecided()
        .iter()
        .map(|one| {
            json!({
                "level": "error",
                "descriptor": {"id": one.code},
                "message": {"text": one.message},
            })
        })
        .collect();
    let log = json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": {"driver": {
                "name": "plugward-fence",
                "semanticVersion": env!("CARGO_PKG_VERSION"),
                "rules": rules,
            }},
            "columnKind": "unicodeCodePoints",
            "originalUriBaseIds": {"ROOT": {"description": {"text": "The root of the workspace."}}},
            "invocations": [{
                "executionSuccessful": report.exit_code() != 2,
                "exitCode": report.exit_code(),
                "toolExecutionNotifications": notes,
            }],
            "results": results,
        }],
    });
    let mut text = format!("{log:#}");
    text.push('\n');
    text
}

fn result(finding: &LintFinding) -> Value {
    let index = LintRule::ALL.iter().position(|rule| *rule == finding.rule);
    json!({
        "ruleId": finding.rule.code(),
        "ruleIndex": index,
        "level": "error",
        "message": {"text": finding.message},
        "locations": [{
            "physicalLocation": {
                "artifactLocation": {"uri": hex::percent_encode(&finding.site.file), "uriBaseId": "ROOT"},
                "region": {
                    "startLine": finding.site.line,
                    "startColumn": finding.site.column,
                    "endLine": finding.end_line,
                    "endColumn": finding.end_column,
                },
            },
        }],
        "properties": {"route": finding.route, "type": finding.ty, "item": finding.item},
    })
}
