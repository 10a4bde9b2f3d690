//! The JSON report of a check, as far as the field test needs it. Absent fields are empty.

use std::collections::BTreeSet;
use std::path::Path;

use anyhow::{Context as _, Result};
use serde_json::Value;

use super::list::Repository;
use super::records::Record;
use super::show::FileLines;
use super::tier::Tier;

/// The result of the scan gate alone, whatever the other gates decided.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum ScanDecision {
    Refused,
    Asked,
    Loaded,
    /// The gate did not see the files, for example because a limit was reached before.
    NotScanned,
}

/// One plugin of a report.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct PluginResult {
    pub(super) id: String,
    pub(super) dialects: Vec<String>,
    pub(super) scan: ScanDecision,
    /// Codes of the reasons of other gates, and of the scan gate if it failed.
    pub(super) other: BTreeSet<String>,
}

/// The report of one repository.
#[derive(Debug, Clone, Default)]
pub(super) struct RepositoryResult {
    pub(super) plugins: Vec<PluginResult>,
    pub(super) findings: Vec<Record>,
}

/// Reads a report. Snippets that it does not contain are read from the corpus.
pub(super) fn read(report: &Value, repository: &Repository, corpus: &Path) -> Result<RepositoryResult> {
    let plugins = report.get("plugins").and_then(Value::as_array).context("the report lists no plugins")?;
    let mut result = RepositoryResult::default();
    let mut lines = FileLines::new(repository.path(corpus));
    for plugin in plugins {
        result.plugins.push(plugin_result(plugin));
        for finding in array(plugin, "findings") {
            let mut record = record(finding, plugin, repository)?;
            if record.snippet.is_empty() {
                record.snippet = lines.excerpt(&record.path, record.line, record.column).unwrap_or_default();
            }
            result.findings.push(record);
        }
    }
    Ok(result)
}

fn plugin_result(plugin: &Value) -> PluginResult {
    let codes: Vec<&str> = array(plugin, "reasons").iter().map(|reason| text(reason, "code")).collect();
    let failed = codes.contains(&"scan/error");
    // Without a digest of the tree there was nothing to scan.
    let unread = plugin.get("tree").is_some_and(Value::is_null);
    let scan = match () {
        () if codes.contains(&"scan/danger") => ScanDecision::Refused,
        () if failed || unread => ScanDecision::NotScanned,
        () if codes.contains(&"scan/suspicious") => ScanDecision::Asked,
        () => ScanDecision::Loaded,
    };
    let is_other = |code: &&str| !matches!(*code, "scan/danger" | "scan/suspicious");
    PluginResult {
        id: text(plugin, "id").to_owned(),
        dialects: array(plugin, "dialects").iter().filter_map(Value::as_str).map(str::to_owned).collect(),
        scan,
        other: codes.into_iter().filter(is_other).map(str::to_owned).collect(),
    }
}

fn record(finding: &Value, plugin: &Value, repository: &Repository) -> Result<Record> {
    let severity = text(finding, "severity");
    let number = |key: &str| finding.get(key).and_then(Value::as_u64).unwrap_or_default();
    let snippet = ["snippet", "excerpt"].into_iter().find_map(|key| finding.get(key)?.as_str());
    Ok(Record {
        repository: repository.name.clone(),
        split: repository.split,
        plugin: text(plugin, "id").to_owned(),
        rule: text(finding, "rule").to_owned(),
        tier: Tier::from_word(severity).with_context(|| format!("unknown severity `{severity}`"))?,
        path: path_in(&repository.directory(), text(plugin, "path"), text(finding, "path")),
        line: number("line"),
        column: number("column"),
        message: text(finding, "message").to_owned(),
        snippet: snippet.unwrap_or_default().to_owned(),
        role: text(finding, "role").to_owned(),
    })
}

/// Returns the path of a finding relative to the repository.
///
/// The path of the plugin starts with the directory of the repository, or with a project's that contains the corpus.
/// The path of the finding is relative to the plugin, and leaves it for shared directories.
fn path_in(directory: &str, plugin: &str, finding: &str) -> String {
    let outer: Vec<&str> = plugin.split('/').collect();
    let start = outer.iter().position(|part| *part == directory).map_or(0, |at| at.saturating_add(1));
    let mut parts: Vec<&str> = Vec::new();
    for part in outer.into_iter().skip(start).chain(finding.split('/')) {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()),
            part => parts.push(part),
        }
    }
    parts.join("/")
}

fn text<'a>(value: &'a Value, key: &str) -> &'a str {
    value.get(key).and_then(Value::as_str).unwrap_or_default()
}

fn array<'a>(value: &'a Value, key: &str) -> &'a [Value] {
    value.get(key).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::field::list::Split;

    fn repository() -> Repository {
        Repository { name: "a/b".to_owned(), commit: String::new(), split: Split::Tune }
    }

    #[test]
    fn the_scan_result_does_not_depend_on_other_gates() {
        let of = |codes: &[&str], tree: Value| {
            let reasons: Vec<Value> = codes.iter().map(|code| json!({ "code": code })).collect();
            plugin_result(&json!({ "tree": tree, "reasons": reasons }))
        };
        let tree = || json!("pt1:00");
        assert_eq!(of(&[], tree()).scan, ScanDecision::Loaded);
        assert_eq!(of(&["scan/suspicious"], tree()).scan, ScanDecision::Asked);
        assert_eq!(of(&["scan/suspicious", "scan/danger"], tree()).scan, ScanDecision::Refused);
        let refused = of(&["manifest/missing-key"], tree());
        assert_eq!((refused.scan, refused.other.len()), (ScanDecision::Loaded, 1));
        assert_eq!(of(&["tree/too-large"], Value::Null).scan, ScanDecision::NotScanned);
        assert_eq!(of(&["scan/error"], tree()).scan, ScanDecision::NotScanned);
        assert!(of(&["scan/danger"], tree()).other.is_empty());
    }

    #[test]
    fn fields_of_other_versions_are_tolerated() {
        let report = json!({ "plugins": [{ "id": "x", "path": "a+b/x", "new": 1, "behaviors": [], "findings": [
            { "rule": "a/b", "severity": "warning", "path": "y.sh", "line": 2, "role": "executed", "snippet": "z" },
            { "rule": "a/c", "severity": "info", "path": "z" },
        ] }] });
        let result = read(&report, &repository(), Path::new("/nonexistent")).unwrap();
        assert_eq!(result.findings.len(), 2);
        let first = &result.findings[0];
        assert_eq!(
            (first.path.as_str(), first.role.as_str(), first.snippet.as_str()),
            ("x/y.sh", "executed", "z")
        );
        assert!(read(&json!({}), &repository(), Path::new("/nonexistent")).is_err());
    }

    #[test]
    fn paths_are_relative_to_the_repository() {
        assert_eq!(path_in("a+b", "a+b/plugins/p", "hooks/x.sh"), "plugins/p/hooks/x.sh");
        assert_eq!(path_in("a+b", "benches/field/a+b", "x.sh"), "x.sh");
        assert_eq!(path_in("a+b", "a+b/plugins/p", "../shared/x.ts"), "plugins/shared/x.ts");
        assert_eq!(path_in("a+b", ".", "x.ts"), "x.ts");
    }
}
