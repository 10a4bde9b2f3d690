//! SARIF 2.1.0.

use std::collections::BTreeMap;

use plugward_types::{BehaviorEvidence, Digest, Finding, Severity};
use serde_json::{Map, Value, json};
use sha2::{Digest as _, Sha256};

use super::Render;
use crate::inventory::State;
use crate::rules::{Rule, Rules};

/// Renders the report as one SARIF 2.1.0 log.
///
/// It contains all loaded rules with their help, artifacts with SHA-256, regions with lines, columns and byte offsets,
/// fingerprints that survive moved lines, and suppressions with their reasons. The run's property `plugward/behaviors`
/// lists the places of each behavior.
///
/// # Guarantees
///
/// The log contains no absolute path and no time.
#[must_use]
pub fn sarif(render: &Render<'_>, rules: &Rules) -> String {
    let report = render.report;
    let indexes: BTreeMap<&str, usize> =
        rules.iter().enumerate().map(|(index, rule)| (rule.id().as_str(), index)).collect();
    let places: BTreeMap<&str, usize> =
        report.files().iter().enumerate().map(|(index, file)| (file.path.as_str(), index)).collect();
    let mut seen: BTreeMap<[u8; 32], u64> = BTreeMap::new();
    let results: Vec<Value> = report
        .placed()
        .map(|(finding, end)| result(render, (finding, end), &indexes, &places, &mut seen))
        .collect();
    let artifacts: Vec<Value> = report.files().iter().map(artifact).collect();
    let notifications = notifications(render, &places);
    let run = json!({
        "tool": { "driver": {
            "name": "plugward",
            "version": render.version,
            "informationUri": "https://example.invalid/plugward",
            "rules": rules.iter().map(rule).collect::<Vec<Value>>(),
            "properties": { "rules": report.rules().to_string(), "profile": report.profile().as_str() },
        } },
        "columnKind": "unicodeCodePoints",
        "newlineSequences": ["\r\n", "\n", "\r", "\u{2028}", "\u{2029}"],
        "artifacts": artifacts,
        "invocations": [{
            "executionSuccessful": true,
            "exitCode": render.exit,
            "toolExecutionNotifications": notifications,
        }],
        "results": results,
        "properties": { "plugward/behaviors": behaviors(report.evidence()) },
    });
    let log = json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [run],
    });
    format!("{log:#}\n")
}

const fn level(severity: Severity) -> &'static str {
    match severity {
        Severity::Danger => "error",
        Severity::Warning => "warning",
        Severity::Info => "note",
    }
}

fn rule(rule: &Rule) -> Value {
    let help =
        if rule.fix().is_empty() { rule.why().to_owned() } else { format!("{} {}", rule.why(), rule.fix()) };
    json!({
        "id": rule.id().as_str(),
        "shortDescription": { "text": rule.title() },
        "fullDescription": { "text": rule.why() },
        "help": { "text": help },
        "properties": { "tags": rule.refs(), "languages": rule.langs() },
    })
}

/// Returns a path as a relative URI reference, percent-encoded as needed.
fn uri(path: &str) -> String {
    let mut out = String::new();
    for byte in path.bytes() {
        if byte.is_ascii_alphanumeric() || matches!(byte, b'/' | b'.' | b'-' | b'_' | b'~') {
            out.push(char::from(byte));
        } else {
            let hex =
                |nibble: u8| char::from_digit(u32::from(nibble), 16).unwrap_or('0').to_ascii_uppercase();
            out.extend(['%', hex(byte >> 4), hex(byte & 15)]);
        }
    }
    out
}

fn artifact(file: &crate::scan::report::FileState) -> Value {
    let mut map = Map::new();
    map.insert("location".to_owned(), json!({ "uri": uri(&file.path) }));
    map.insert("length".to_owned(), json!(file.bytes));
    if let Some(digest) = file.digest {
        map.insert("hashes".to_owned(), json!({ "sha-256": digest.hex() }));
    }
    map.insert("properties".to_owned(), json!({ "state": file.state.as_str(), "role": file.role.as_str() }));
    Value::Object(map)
}

/// Returns a digest of rule, path, text and the number of equal earlier findings. It survives moved lines.
fn fingerprint(finding: &Finding, seen: &mut BTreeMap<[u8; 32], u64>) -> String {
    let mut hasher = Sha256::new();
    let folded: String = finding.snippet.split_whitespace().collect::<Vec<_>>().join(" ");
    for part in [finding.rule.as_str(), &finding.path, &folded] {
        hasher.update((part.len() as u64).to_le_bytes());
        hasher.update(part.as_bytes());
    }
    let base: [u8; 32] = hasher.finalize().into();
    let ordinal = seen.entry(base).or_default();
    let mut hasher = Sha256::new();
    hasher.update(base);
    hasher.update(ordinal.to_le_bytes());
    *ordinal = ordinal.saturating_add(1);
    Digest::from_bytes(hasher.finalize().into()).hex()
}

fn result(
    render: &Render<'_>,
    (finding, end): (&Finding, (u32, u32)),
    indexes: &BTreeMap<&str, usize>,
    places: &BTreeMap<&str, usize>,
    seen: &mut BTreeMap<[u8; 32], u64>,
) -> Value {
    let mut location = Map::new();
    location.insert("uri".to_owned(), json!(uri(&finding.path)));
    if let Some(index) = places.get(finding.path.as_str()) {
        location.insert("index".to_owned(), json!(index));
    }
    let mut map = Map::new();
    map.insert("ruleId".to_owned(), json!(finding.rule.as_str()));
    if let Some(index) = indexes.get(finding.rule.as_str()) {
        map.insert("ruleIndex".to_owned(), json!(index));
    }
    map.insert("level".to_owned(), json!(level(finding.severity)));
    map.insert("message".to_owned(), json!({ "text": finding.message }));
    map.insert(
        "locations".to_owned(),
        json!([{ "physicalLocation": {
            "artifactLocation": location,
            "region": {
                "startLine": finding.line,
                "startColumn": finding.column,
                "endLine": end.0,
                "endColumn": end.1,
                "byteOffset": finding.span.start,
                "byteLength": finding.span.len(),
                "snippet": { "text": finding.snippet },
            },
        } }]),
    );
    map.insert("partialFingerprints".to_owned(), json!({ "plugward/v1": fingerprint(finding, seen) }));
    if let Some(reason) = render.is_suppressed(finding) {
        map.insert("suppressions".to_owned(), json!([{ "kind": "external", "justification": reason }]));
    }
    let how: Vec<&str> = finding.how.iter().map(|how| how.as_str()).collect();
    map.insert(
        "properties".to_owned(),
        json!({ "role": finding.role.as_str(), "hidden": finding.is_hidden(), "how": how }),
    );
    Value::Object(map)
}

/// Returns the behaviors, each with its places.
fn behaviors(evidence: &[BehaviorEvidence]) -> Value {
    let mut places: BTreeMap<&str, Vec<Value>> = BTreeMap::new();
    for one in evidence {
        places.entry(one.behavior.as_str()).or_default().push(json!({
            "uri": uri(&one.path),
            "line": one.line,
            "role": one.role.as_str(),
            "snippet": one.snippet,
        }));
    }
    json!(places)
}

fn notifications(render: &Render<'_>, places: &BTreeMap<&str, usize>) -> Vec<Value> {
    let unread = |state: State| matches!(state, State::Partial | State::Unreadable | State::Special);
    let mut all: Vec<Value> = render
        .report
        .files()
        .iter()
        .filter(|file| unread(file.state))
        .map(|file| {
            json!({
                "level": "warning",
                "message": { "text": format!("the file is {}: not all of it was read", file.state.as_str()) },
                "locations": [{ "physicalLocation": { "artifactLocation": {
                    "uri": uri(&file.path), "index": places.get(file.path.as_str()).copied().unwrap_or_default() } } }],
            })
        })
        .collect();
    all.extend(render.decision.notices.iter().map(|notice| {
        json!({
            "level": "note",
            "descriptor": { "id": notice.code },
            "message": { "text": format!("{}: {}", notice.path, notice.message) },
        })
    }));
    all
}
