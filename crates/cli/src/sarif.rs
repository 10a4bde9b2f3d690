//! The report of a check as one SARIF 2.1.0 log: findings and refusals as results.

use std::collections::{BTreeMap, BTreeSet};

use plugward_loader::codes::{Code, all};
use plugward_loader::{Decision, Finding, PluginReport, Reason, Report, Severity, Weight, scanner, sha256};
use serde_json::{Map, Value, json};

/// Renders a report. Places are relative to the folder that was named; no absolute path and no time is in it.
pub(crate) fn render(report: &Report) -> String {
    let rules = rules(report);
    let indexes: BTreeMap<&str, usize> =
        rules.iter().enumerate().filter_map(|(at, rule)| Some((rule.get("id")?.as_str()?, at))).collect();
    let mut results = Vec::new();
    for plugin in &report.plugins {
        for reason in &plugin.reasons {
            results.push(refusal(plugin, reason, &indexes));
        }
        let mut seen = BTreeMap::new();
        for finding in &plugin.findings {
            results.push(found(plugin, finding, &indexes, &mut seen));
        }
    }
    let notices =
        report.plugins.iter().flat_map(|plugin| plugin.notices.iter().map(|one| (plugin.id.as_str(), one)));
    let notices = notices.chain(report.notices.iter().map(|one| ("", one)));
    let notifications: Vec<Value> = notices
        .map(|(id, notice)| {
            let text =
                if id.is_empty() { notice.message.clone() } else { format!("{id}: {}", notice.message) };
            json!({ "level": "note", "descriptor": { "id": notice.code }, "message": { "text": text } })
        })
        .collect();
    let log = json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": {
                "name": report.tool.name,
                "version": report.tool.version,
                "informationUri": "https://example.invalid/plugward",
                "rules": rules,
                "properties": { "rules": report.tool.rules, "trust": report.trust },
            } },
            "columnKind": "unicodeCodePoints",
            "newlineSequences": ["\r\n", "\n", "\r", "\u{2028}", "\u{2029}"],
            "invocations": [{
                "executionSuccessful": !matches!(report.exit, 1 | 2 | 7),
                "exitCode": report.exit,
                "toolExecutionNotifications": notifications,
            }],
            "results": results,
            "properties": { "plugward/behaviors": behaviors(report) },
        }],
    });
    format!("{log:#}\n")
}

/// The behaviors of each plugin that has one, with their places.
fn behaviors(report: &Report) -> Value {
    let mut plugins: BTreeMap<&str, BTreeMap<&str, Vec<Value>>> = BTreeMap::new();
    for plugin in &report.plugins {
        for one in &plugin.behaviors {
            let places = plugins.entry(&plugin.id).or_default().entry(one.behavior.as_str()).or_default();
            places.push(json!({
                "uri": uri(plugin, Some(&one.path)),
                "line": one.line,
                "role": one.role.as_str(),
                "snippet": one.snippet,
            }));
        }
    }
    json!(plugins)
}

/// Every rule and code that a result names, with its help, in the order of their ids.
fn rules(report: &Report) -> Vec<Value> {
    let findings = report.plugins.iter().flat_map(|plugin| &plugin.findings);
    let codes = report.plugins.iter().flat_map(|plugin| &plugin.reasons);
    let named: BTreeSet<&str> = findings
        .map(|finding| finding.rule.as_str())
        .chain(codes.clone().map(|reason| reason.code.as_str()))
        .collect();
    let known = all();
    named.into_iter().map(|id| rule(id, &known, codes.clone().find(|reason| reason.code == id))).collect()
}

fn rule(id: &str, known: &[Code], reason: Option<&Reason>) -> Value {
    if let Some(rule) = scanner::Rules::builtin().get(id) {
        return json!({
            "id": id,
            "shortDescription": { "text": rule.title() },
            "fullDescription": { "text": rule.why() },
            "help": { "text": format!("{} {}", rule.why(), rule.fix()).trim_end() },
            "properties": { "tags": rule.refs() },
        });
    }
    let help = known.iter().find(|code| code.code == id).map(|code| code.help.clone());
    let help = help.or_else(|| reason.map(|reason| reason.help.clone())).unwrap_or_default();
    json!({ "id": id, "shortDescription": { "text": id }, "help": { "text": help } })
}

/// A file of a plugin as a relative reference: from the project, so that a code host finds the file, else from the
/// directory that was named.
fn uri(plugin: &PluginReport, path: Option<&str>) -> String {
    let parts = [Some(plugin.path.as_str()), path].into_iter().flatten();
    let parts: Vec<&str> =
        parts.flat_map(|part| part.split('/')).filter(|part| !matches!(*part, "" | ".")).collect();
    let mut out = String::new();
    for byte in parts.join("/").bytes() {
        if byte.is_ascii_alphanumeric() || matches!(byte, b'/' | b'.' | b'-' | b'_' | b'~') {
            out.push(char::from(byte));
        } else {
            out.push_str(&format!("%{byte:02X}"));
        }
    }
    if out.is_empty() { ".".to_owned() } else { out }
}

fn refusal(plugin: &PluginReport, reason: &Reason, indexes: &BTreeMap<&str, usize>) -> Value {
    let level = match (plugin.decision, reason.weight) {
        (Decision::Ask, _) | (_, Weight::Undecided) => "warning",
        _ => "error",
    };
    json!({
        "ruleId": reason.code,
        "ruleIndex": indexes.get(reason.code.as_str()),
        "level": level,
        "message": { "text": format!("{}: {}; next: {}", plugin.id, reason.message, reason.help) },
        "locations": [{ "physicalLocation": { "artifactLocation": { "uri": uri(plugin, None) } } }],
        "properties": { "plugin": plugin.id, "gate": reason.gate.as_str(), "decision": plugin.decision.as_str() },
    })
}

fn found(
    plugin: &PluginReport,
    finding: &Finding,
    indexes: &BTreeMap<&str, usize>,
    seen: &mut BTreeMap<String, u64>,
) -> Value {
    let level = match finding.severity {
        Severity::Danger => "error",
        Severity::Warning => "warning",
        Severity::Info => "note",
    };
    let how: Vec<&str> = finding.how.iter().map(|how| how.as_str()).collect();
    // Lines may move: the text, and how many of the same came before.
    let folded: Vec<&str> = finding.snippet.split_whitespace().collect();
    let text = format!("{}\u{0}{}\u{0}{}\u{0}{}", plugin.id, finding.rule, finding.path, folded.join(" "));
    let turn = seen.entry(text.clone()).or_default();
    let print = sha256(format!("{text}\u{0}{turn}").as_bytes()).hex();
    *turn = turn.saturating_add(1);
    let mut map = Map::new();
    for (key, value) in [
        ("ruleId", json!(finding.rule.as_str())),
        ("ruleIndex", json!(indexes.get(finding.rule.as_str()))),
        ("level", json!(level)),
        ("message", json!({ "text": finding.message })),
        (
            "locations",
            json!([{ "physicalLocation": {
                "artifactLocation": { "uri": uri(plugin, Some(&finding.path)) },
                "region": {
                    "startLine": finding.line,
                    "startColumn": finding.column,
                    "byteOffset": finding.span.start,
                    "byteLength": finding.span.len(),
                    "snippet": { "text": finding.snippet },
                },
            } }]),
        ),
        ("partialFingerprints", json!({ "plugward/v1": print })),
        (
            "properties",
            json!({
                "plugin": plugin.id,
                "role": finding.role.as_str(),
                "hidden": finding.is_hidden(),
                "how": how,
            }),
        ),
    ] {
        map.insert(key.to_owned(), value);
    }
    if let Some(reason) = plugin.suppression(finding) {
        map.insert("suppressions".to_owned(), json!([{ "kind": "external", "justification": reason }]));
    }
    Value::Object(map)
}
