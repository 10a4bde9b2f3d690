//! SARIF 2.1.0: the findings and refusals of a check, or the findings of a scan, as the results of one run.

use std::collections::{BTreeMap, BTreeSet};

use plugward_loader::codes::{Code, all};
use plugward_loader::scanner::{
    EntryState, FileState, Rule, Rules, ScanDecision, ScanReport, Suppressed, Taxonomy,
};
use plugward_loader::{
    BehaviorEvidence, Decision, Finding, PluginReport, Reason, Report, Severity, Weight, hex, sha256,
};
use serde_json::{Map, Value, json};

/// Renders the report of a check. Paths are relative to the project, and the log has no absolute path and no time.
pub(crate) fn render(report: &Report) -> String {
    let rules = rules(report);
    let indexes = indexes(&rules);
    let mut results = Vec::new();
    for plugin in &report.plugins {
        for reason in &plugin.reasons {
            results.push(refusal(plugin, reason, &indexes));
        }
        let mut seen = BTreeMap::new();
        for finding in &plugin.findings {
            let place = FindingPlace {
                uri: uri(&[&plugin.path, &finding.path]),
                end: None,
                name: &plugin.id,
                suppression: plugin.suppression(finding),
                plugin: Some(&plugin.id),
            };
            results.push(found(finding, &place, &indexes, &mut seen));
        }
    }
    let notices =
        report.plugins.iter().flat_map(|plugin| plugin.notices.iter().map(|one| (plugin.id.as_str(), one)));
    let notices = notices.chain(report.notices.iter().map(|one| ("", one)));
    let notifications: Vec<Value> = notices
        .map(|(id, notice)| {
            let text =
                if id.is_empty() { notice.message.clone() } else { format!("{id}: {}", notice.message) };
            notification("note", &notice.code, &text)
        })
        .collect();
    log(Run {
        rules,
        driver: json!({ "rules": report.tool.rules, "trust": report.trust }),
        artifacts: Vec::new(),
        results,
        notifications,
        exit: report.exit,
        behaviors: behaviors(report),
    })
}

/// Renders the report of a scan, with all loaded rules.
///
/// `prefix` is the path from the project to the directory that the paths of the report start from, so that `check` and
/// `scan` name a file alike.
pub(crate) fn scan(
    report: &ScanReport,
    decision: &ScanDecision,
    rules: &Rules,
    prefix: &str,
    exit: u8,
) -> String {
    let ids: Vec<Value> = rules.iter().map(rule_entry).collect();
    let indexes = indexes(&ids);
    let mut seen = BTreeMap::new();
    let results = report
        .placed()
        .map(|(finding, end)| {
            let covers = |item: &&Suppressed| item.finding == *finding;
            let place = FindingPlace {
                uri: uri(&[prefix, &finding.path]),
                end: Some(end),
                name: "",
                suppression: decision.suppressed.iter().find(covers).map(|item| item.reason.as_str()),
                plugin: None,
            };
            found(finding, &place, &indexes, &mut seen)
        })
        .collect();
    let artifacts = report.files().iter().map(|file| artifact(file, prefix)).collect();
    let unread = |state: EntryState| {
        matches!(state, EntryState::Partial | EntryState::Unreadable | EntryState::Special)
    };
    let unread = report.files().iter().filter(|file| unread(file.state)).map(|file| {
        let text = format!("{} is {}: not all of it was read", file.path, file.state.as_str());
        notification("warning", "scan/partial", &text)
    });
    let notices = decision
        .notices
        .iter()
        .map(|notice| notification("note", notice.code, &format!("{}: {}", notice.path, notice.message)));
    let mut places: BTreeMap<&str, Vec<Value>> = BTreeMap::new();
    for one in report.evidence() {
        places.entry(one.behavior.as_str()).or_default().push(evidence(one, &uri(&[prefix, &one.path])));
    }
    log(Run {
        driver: json!({ "rules": report.rules().to_string(), "profile": report.profile().as_str() }),
        artifacts,
        results,
        notifications: unread.chain(notices).collect(),
        exit,
        behaviors: json!(places),
        rules: ids,
    })
}

/// The parts of a log with one run.
struct Run {
    rules: Vec<Value>,
    driver: Value,
    artifacts: Vec<Value>,
    results: Vec<Value>,
    notifications: Vec<Value>,
    exit: u8,
    behaviors: Value,
}

fn log(run: Run) -> String {
    let taxonomies = taxonomies(&run.rules);
    let supported = Taxonomy::all().iter().enumerate();
    let supported = supported.map(|(at, list)| json!({ "name": list.name, "index": at }));
    let mut one = json!({
        "taxonomies": taxonomies,
        "tool": { "driver": {
            "name": "plugward",
            "version": env!("CARGO_PKG_VERSION"),
            "rules": run.rules,
            "supportedTaxonomies": supported.collect::<Vec<_>>(),
            "properties": run.driver,
        } },
        // Findings count columns in characters. The default of SARIF is UTF-16 units.
        "columnKind": "unicodeCodePoints",
        // The line terminators that the scanner counts. Viewers assume only the first two.
        "newlineSequences": ["\r\n", "\n", "\r", "\u{2028}", "\u{2029}"],
        "invocations": [{
            // A refusal is a successful run. These codes mean that the run itself failed.
            "executionSuccessful": !matches!(run.exit, 1 | 2 | 7),
            "exitCode": run.exit,
            "toolExecutionNotifications": run.notifications,
        }],
        "results": run.results,
        "properties": { "plugward/behaviors": run.behaviors },
    });
    if !run.artifacts.is_empty()
        && let Some(map) = one.as_object_mut()
    {
        map.insert("artifacts".to_owned(), Value::Array(run.artifacts));
    }
    let log = json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [one],
    });
    format!("{log:#}\n")
}

fn notification(level: &str, code: &str, text: &str) -> Value {
    json!({ "level": level, "descriptor": { "id": code }, "message": { "text": text } })
}

fn indexes(rules: &[Value]) -> BTreeMap<String, usize> {
    let id = |(at, rule): (usize, &Value)| Some((rule.get("id")?.as_str()?.to_owned(), at));
    rules.iter().enumerate().filter_map(id).collect()
}

fn artifact(file: &FileState, prefix: &str) -> Value {
    let mut map = Map::new();
    map.insert("location".to_owned(), json!({ "uri": uri(&[prefix, &file.path]) }));
    map.insert("length".to_owned(), json!(file.bytes));
    if let Some(digest) = file.digest {
        map.insert("hashes".to_owned(), json!({ "sha-256": digest.hex() }));
    }
    map.insert("properties".to_owned(), json!({ "state": file.state.as_str(), "role": file.role.as_str() }));
    Value::Object(map)
}

fn evidence(one: &BehaviorEvidence, uri: &str) -> Value {
    json!({ "uri": uri, "line": one.line, "role": one.role.as_str(), "snippet": one.snippet })
}

/// Returns the behaviors of each plugin that has one, with their places.
fn behaviors(report: &Report) -> Value {
    let mut plugins: BTreeMap<&str, BTreeMap<&str, Vec<Value>>> = BTreeMap::new();
    for plugin in &report.plugins {
        for one in &plugin.behaviors {
            let places = plugins.entry(&plugin.id).or_default().entry(one.behavior.as_str()).or_default();
            places.push(evidence(one, &uri(&[&plugin.path, &one.path])));
        }
    }
    json!(plugins)
}

/// Returns every rule and code that a result names, with its help, in the order of their ids.
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

/// Returns the entry of a built-in rule or a rule of a rules file.
fn rule_entry(rule: &Rule) -> Value {
    let help = format!("{} {}", rule.why(), rule.fix());
    json!({
        "id": rule.id().as_str(),
        "shortDescription": { "text": rule.title() },
        "fullDescription": { "text": rule.why() },
        "help": { "text": help.trim_end() },
        "relationships": relationships(rule),
        "properties": { "tags": rule.refs(), "languages": rule.langs() },
    })
}

/// Returns the entries of public lists that apply to a rule.
fn relationships(rule: &Rule) -> Vec<Value> {
    let relationship = |id: &String| {
        let (at, list) =
            Taxonomy::all().iter().enumerate().find(|(_, list)| list.entries.contains_key(id))?;
        let target = json!({ "id": id, "toolComponent": { "name": list.name, "index": at } });
        Some(json!({ "target": target, "kinds": ["relevant"] }))
    };
    rule.refs().iter().filter_map(relationship).collect()
}

/// Returns the public lists, each with the entries that the rules of a log refer to.
fn taxonomies(rules: &[Value]) -> Vec<Value> {
    let named = rules.iter().filter_map(|rule| rule.pointer("/properties/tags")?.as_array()).flatten();
    let named: BTreeSet<&str> = named.filter_map(Value::as_str).collect();
    let taxonomy = |list: &Taxonomy| {
        let entries = list.entries.iter().filter(|(id, _)| named.contains(id.as_str()));
        let taxa = entries.map(|(id, title)| json!({ "id": id, "shortDescription": { "text": title } }));
        json!({
            "name": list.name,
            "version": list.edition,
            "organization": list.organization,
            "informationUri": list.url,
            "shortDescription": { "text": list.title },
            "taxa": taxa.collect::<Vec<_>>(),
        })
    };
    Taxonomy::all().iter().map(taxonomy).collect()
}

fn rule(id: &str, known: &[Code], reason: Option<&Reason>) -> Value {
    if let Some(rule) = Rules::builtin().get(id) {
        return rule_entry(rule);
    }
    let help = known.iter().find(|code| code.code == id).map(|code| code.help.clone());
    let help = help.or_else(|| reason.map(|reason| reason.help.clone())).unwrap_or_default();
    json!({ "id": id, "shortDescription": { "text": id }, "help": { "text": help } })
}

/// Joins the parts of a path to a relative reference, with other bytes percent-encoded.
fn uri(parts: &[&str]) -> String {
    let parts: Vec<&str> =
        parts.iter().flat_map(|part| part.split('/')).filter(|part| !matches!(*part, "" | ".")).collect();
    if parts.is_empty() { ".".to_owned() } else { hex::percent_encode(&parts.join("/")) }
}

fn refusal(plugin: &PluginReport, reason: &Reason, indexes: &BTreeMap<String, usize>) -> Value {
    let level = match (plugin.decision, reason.weight) {
        (Decision::Ask, _) | (_, Weight::Undecided) => "warning",
        _ => "error",
    };
    let location = match &reason.place {
        Some(place) => json!({
            "artifactLocation": { "uri": uri(&[&plugin.path, &place.path]) },
            "region": {
                "startLine": place.line,
                "startColumn": place.column,
                "byteOffset": place.span.start,
                "byteLength": place.span.len(),
            },
        }),
        None => json!({ "artifactLocation": { "uri": uri(&[&plugin.path]) } }),
    };
    json!({
        "ruleId": reason.code,
        "ruleIndex": indexes.get(&reason.code),
        "level": level,
        "message": { "text": format!("{}: {}; help: {}", plugin.id, reason.message, reason.help) },
        "locations": [{ "physicalLocation": location }],
        "properties": { "plugin": plugin.id, "gate": reason.gate.as_str(), "decision": plugin.decision.as_str() },
    })
}

/// The context of a finding in a log: its file, plugin and suppression.
struct FindingPlace<'a> {
    uri: String,
    /// The line and column after the last character, if they are known.
    end: Option<(u32, u32)>,
    /// The plugin's id, which starts the fingerprint; empty for a scan.
    name: &'a str,
    suppression: Option<&'a str>,
    plugin: Option<&'a str>,
}

fn found(
    finding: &Finding,
    place: &FindingPlace<'_>,
    indexes: &BTreeMap<String, usize>,
    seen: &mut BTreeMap<String, u64>,
) -> Value {
    let level = match finding.severity {
        Severity::Danger => "error",
        Severity::Warning => "warning",
        Severity::Info => "note",
    };
    // Line numbers change with every edit above them, so the fingerprint has the text and a counter of equal texts.
    let folded: Vec<&str> = finding.snippet.split_whitespace().collect();
    let text = format!("{}\u{0}{}\u{0}{}\u{0}{}", place.name, finding.rule, finding.path, folded.join(" "));
    let turn = seen.entry(text.clone()).or_default();
    let print = sha256(format!("{text}\u{0}{turn}").as_bytes()).hex();
    *turn += 1;
    let mut region = json!({
        "startLine": finding.line,
        "startColumn": finding.column,
        "byteOffset": finding.span.start,
        "byteLength": finding.span.len(),
        "snippet": { "text": finding.snippet },
    });
    if let (Some((line, column)), Some(map)) = (place.end, region.as_object_mut()) {
        map.insert("endLine".to_owned(), json!(line));
        map.insert("endColumn".to_owned(), json!(column));
    }
    let how: Vec<&str> = finding.how.iter().map(|how| how.as_str()).collect();
    let mut properties = json!({ "role": finding.role.as_str(), "hidden": finding.is_hidden(), "how": how });
    if let (Some(plugin), Some(map)) = (place.plugin, properties.as_object_mut()) {
        map.insert("plugin".to_owned(), json!(plugin));
    }
    let mut result = json!({
        "ruleId": finding.rule.as_str(),
        "ruleIndex": indexes.get(finding.rule.as_str()),
        "level": level,
        "message": { "text": finding.message },
        "locations": [{ "physicalLocation": { "artifactLocation": { "uri": place.uri }, "region": region } }],
        "partialFingerprints": { "plugward/v1": print },
        "properties": properties,
    });
    if let (Some(reason), Some(map)) = (place.suppression, result.as_object_mut()) {
        // External, because the suppression is in the user's settings and not in the source.
        map.insert("suppressions".to_owned(), json!([{ "kind": "external", "justification": reason }]));
    }
    result
}
