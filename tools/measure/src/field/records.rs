//! The findings file: one JSON object per line.
#![expect(clippy::disallowed_methods, reason = "a file that the user names")]

use std::path::Path;

use anyhow::{Context as _, Result};
use serde_json::{Value, json};

use super::list::Split;
use super::show::visible;
use super::tier::Tier;

/// One finding.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Record {
    pub(super) repository: String,
    pub(super) split: Split,
    /// The id of the plugin.
    pub(super) plugin: String,
    pub(super) rule: String,
    pub(super) tier: Tier,
    /// The file, relative to the repository.
    pub(super) path: String,
    pub(super) line: u64,
    pub(super) column: u64,
    pub(super) message: String,
    /// The line that the finding is in, shortened; empty if it is not known.
    pub(super) snippet: String,
    /// The use of the file; empty if the report does not say.
    pub(super) role: String,
}

/// The parts of a finding that a label names. Two plugins that share a file have the same finding.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct FindingKey {
    pub(super) repository: String,
    /// The path, with escapes for characters that a terminal does not show.
    pub(super) path: String,
    pub(super) line: u64,
    pub(super) rule: String,
}

impl Record {
    /// Returns the parts that a label names.
    pub(super) fn key(&self) -> FindingKey {
        FindingKey {
            repository: self.repository.clone(),
            path: visible(&self.path),
            line: self.line,
            rule: self.rule.clone(),
        }
    }

    /// Returns the line of the file, with its newline.
    pub(super) fn to_line(&self) -> String {
        let value = json!({
            "repository": self.repository,
            "split": self.split.as_str(),
            "plugin": self.plugin,
            "rule": self.rule,
            "severity": self.tier.as_str(),
            "path": self.path,
            "line": self.line,
            "column": self.column,
            "message": self.message,
            "snippet": self.snippet,
            "role": self.role,
        });
        format!("{value}\n")
    }

    fn parse(line: &str) -> Result<Self> {
        let value: Value = serde_json::from_str(line).context("not JSON")?;
        let text = |key: &str| value.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
        let number = |key: &str| value.get(key).and_then(Value::as_u64).unwrap_or_default();
        Ok(Self {
            repository: text("repository"),
            split: Split::from_word(&text("split")).context("no split")?,
            plugin: text("plugin"),
            rule: text("rule"),
            tier: Tier::from_word(&text("severity")).context("no severity")?,
            path: text("path"),
            line: number("line"),
            column: number("column"),
            message: text("message"),
            snippet: text("snippet"),
            role: text("role"),
        })
    }
}

/// Reads a findings file.
pub(super) fn read(file: &Path) -> Result<Vec<Record>> {
    let text = std::fs::read_to_string(file).with_context(|| format!("read {}", file.display()))?;
    let parse = |(number, line): (usize, &str)| {
        Record::parse(line).with_context(|| format!("{}:{}", file.display(), number.saturating_add(1)))
    };
    text.lines().enumerate().map(parse).collect()
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// Returns a finding of a rule in a line.
    pub(in crate::field) fn record(rule: &str, line: u64) -> Record {
        Record {
            repository: "a/b".to_owned(),
            split: Split::Tune,
            plugin: "a+b/p".to_owned(),
            rule: rule.to_owned(),
            tier: Tier::Danger,
            path: "p/x \u{202e}\t.sh".to_owned(),
            line,
            column: 3,
            message: "a \"message\"".to_owned(),
            snippet: "x\ny".to_owned(),
            role: String::new(),
        }
    }

    #[test]
    fn a_record_is_one_line_and_parses_back() {
        let record = record("a/b", 7);
        let line = record.to_line();
        assert_eq!(line.matches('\n').count(), 1);
        assert_eq!(Record::parse(line.trim_end()).unwrap(), record);
    }

    #[test]
    fn missing_optional_fields_are_empty() {
        let line =
            r#"{"repository":"a/b","split":"check","rule":"a/b","severity":"info","path":"p","line":1}"#;
        let record = Record::parse(line).unwrap();
        assert_eq!((record.role.as_str(), record.column, record.tier), ("", 0, Tier::Info));
        assert!(Record::parse("{}").is_err());
    }
}
