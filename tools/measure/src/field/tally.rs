//! Counts over plugins and findings.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use super::program::Usage;
use super::report::{RepositoryResult, ScanDecision};
use super::tables::{Table, share};
use super::tier::Tier;

/// The results of one repository, one split or one dialect.
#[derive(Debug, Clone, Default)]
pub(super) struct Tally {
    scan: BTreeMap<ScanDecision, usize>,
    /// Plugins that another gate refuses or asks about.
    other: usize,
    tiers: BTreeMap<Tier, usize>,
    cpu: Duration,
    peak_kib: u64,
}

impl Tally {
    /// The names of the columns after the first.
    pub(super) const COLUMNS: [&str; 11] = [
        "plugins",
        "refused",
        "asked",
        "loaded",
        "not scanned",
        "other",
        "danger",
        "warning",
        "info",
        "CPU s",
        "MiB",
    ];

    /// Counts one repository.
    pub(super) fn of(result: &RepositoryResult, usage: Usage) -> Self {
        let mut tally = Self { cpu: usage.cpu, peak_kib: usage.peak_kib, ..Self::default() };
        for plugin in &result.plugins {
            add(&mut tally.scan, plugin.scan, 1);
            if !plugin.other.is_empty() {
                tally.other = tally.other.saturating_add(1);
            }
        }
        for finding in &result.findings {
            add(&mut tally.tiers, finding.tier, 1);
        }
        tally
    }

    /// Adds another tally. Processor time is added up, and the larger peak of memory is kept.
    pub(super) fn add(&mut self, other: &Self) {
        for (scan, count) in &other.scan {
            add(&mut self.scan, *scan, *count);
        }
        for (tier, count) in &other.tiers {
            add(&mut self.tiers, *tier, *count);
        }
        self.other = self.other.saturating_add(other.other);
        self.cpu = self.cpu.saturating_add(other.cpu);
        self.peak_kib = self.peak_kib.max(other.peak_kib);
    }

    /// Returns the number of plugins.
    pub(super) fn plugins(&self) -> usize {
        self.scan.values().sum()
    }

    /// Returns the cells of a row. The shares are of the scanned plugins.
    pub(super) fn row(&self, name: &str) -> Vec<String> {
        let count = |scan| self.scan.get(&scan).copied().unwrap_or_default();
        let scanned = self.plugins().saturating_sub(count(ScanDecision::NotScanned));
        let mut row = vec![name.to_owned(), self.plugins().to_string()];
        row.extend(
            [ScanDecision::Refused, ScanDecision::Asked, ScanDecision::Loaded]
                .map(|scan| share(count(scan), scanned)),
        );
        row.extend([count(ScanDecision::NotScanned).to_string(), self.other.to_string()]);
        row.extend(Tier::ALL.map(|tier| self.tiers.get(&tier).copied().unwrap_or_default().to_string()));
        row.extend([format!("{:.1}", self.cpu.as_secs_f64()), (self.peak_kib / 1024).to_string()]);
        row
    }
}

/// Counts by rule, dialect and code of one split.
#[derive(Debug, Clone, Default)]
pub(super) struct Details {
    rules: BTreeMap<String, RuleCount>,
    dialects: BTreeMap<String, BTreeMap<ScanDecision, usize>>,
    codes: BTreeMap<String, usize>,
}

/// Findings of one rule, and the plugins and repositories that have one.
#[derive(Debug, Clone, Default)]
struct RuleCount {
    tiers: BTreeMap<Tier, usize>,
    plugins: BTreeMap<Tier, BTreeSet<String>>,
    repositories: BTreeSet<String>,
}

impl Details {
    /// Counts one repository.
    pub(super) fn add(&mut self, result: &RepositoryResult) {
        for plugin in &result.plugins {
            for dialect in &plugin.dialects {
                add(self.dialects.entry(dialect.clone()).or_default(), plugin.scan, 1);
            }
            for code in &plugin.other {
                add(&mut self.codes, code.clone(), 1);
            }
        }
        for finding in &result.findings {
            let rule = self.rules.entry(finding.rule.clone()).or_default();
            add(&mut rule.tiers, finding.tier, 1);
            let plugin = format!("{} {}", finding.repository, finding.plugin);
            rule.plugins.entry(finding.tier).or_default().insert(plugin);
            rule.repositories.insert(finding.repository.clone());
        }
    }

    /// Returns the table of rules: findings per tier, and plugins with a finding at danger or warning.
    pub(super) fn rules(&self, title: &str) -> Table {
        let columns =
            ["rule", "danger", "warning", "info", "plugins (danger)", "plugins (warning)", "repositories"];
        let mut table = Table::new(title, &columns);
        let count = |rule: &RuleCount, tier| rule.tiers.get(&tier).copied().unwrap_or_default();
        let plugins = |rule: &RuleCount, tier| rule.plugins.get(&tier).map_or(0, BTreeSet::len);
        let mut rules: Vec<_> = self.rules.iter().collect();
        let weight = |rule: &RuleCount| Tier::ALL.map(|tier| (plugins(rule, tier), count(rule, tier)));
        rules.sort_by_key(|(_, rule)| core::cmp::Reverse(weight(rule)));
        for (name, rule) in rules {
            let mut row = vec![name.clone()];
            row.extend(Tier::ALL.map(|tier| count(rule, tier).to_string()));
            row.extend([Tier::Danger, Tier::Warning].map(|tier| plugins(rule, tier).to_string()));
            row.push(rule.repositories.len().to_string());
            table.row(row);
        }
        table
    }

    /// Returns the table of dialects. A plugin with several dialects is in several rows.
    pub(super) fn dialects(&self, title: &str) -> Table {
        let mut table = Table::new(title, &["dialect", "plugins", "refused", "asked", "loaded"]);
        for (dialect, scan) in &self.dialects {
            let count = |result| scan.get(&result).copied().unwrap_or_default();
            let results = [ScanDecision::Refused, ScanDecision::Asked, ScanDecision::Loaded];
            let scanned = results.iter().map(|result| count(*result)).sum();
            let mut row = vec![dialect.clone(), scan.values().sum::<usize>().to_string()];
            row.extend(results.map(|result| share(count(result), scanned)));
            table.row(row);
        }
        table
    }

    /// Returns the table of the other gates' codes.
    pub(super) fn codes(&self, title: &str) -> Table {
        let mut table = Table::new(title, &["code", "plugins"]);
        for (code, plugins) in &self.codes {
            table.row(vec![code.clone(), plugins.to_string()]);
        }
        table
    }
}

fn add<K: Ord>(counts: &mut BTreeMap<K, usize>, key: K, more: usize) {
    let count = counts.entry(key).or_default();
    *count = count.saturating_add(more);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::field::records::tests::record;
    use crate::field::report::PluginResult;
    use crate::field::tables::TableForm;

    fn plugin(scan: ScanDecision, code: Option<&str>) -> PluginResult {
        PluginResult {
            id: "p".to_owned(),
            dialects: vec!["claude".to_owned(), "codex".to_owned()],
            scan,
            other: code.into_iter().map(str::to_owned).collect(),
        }
    }

    fn result() -> RepositoryResult {
        let plugins = vec![
            plugin(ScanDecision::Refused, None),
            plugin(ScanDecision::Loaded, Some("pin/changed")),
            plugin(ScanDecision::Asked, None),
            plugin(ScanDecision::NotScanned, Some("tree/too-large")),
        ];
        RepositoryResult { plugins, findings: vec![record("r/a", 1), record("r/a", 2), record("r/b", 1)] }
    }

    #[test]
    fn shares_are_of_the_scanned_plugins() {
        let usage = Usage { cpu: Duration::from_millis(1500), peak_kib: 2048 };
        let mut tally = Tally::of(&result(), usage);
        let row = tally.row("x");
        assert_eq!(row[1..7], ["4", "1 (33.3 %)", "1 (33.3 %)", "1 (33.3 %)", "1", "2"]);
        assert_eq!(row[7..], ["3", "0", "0", "1.5", "2"]);
        assert_eq!(row.len(), Tally::COLUMNS.len() + 1);
        tally.add(&Tally::of(&result(), usage));
        let row = tally.row("x");
        assert_eq!((tally.plugins(), row[10].as_str(), row[11].as_str()), (8, "3.0", "2"));
    }

    #[test]
    fn rules_are_sorted_by_their_plugins_and_findings() {
        let mut details = Details::default();
        details.add(&result());
        let text = details.rules("t").render(TableForm::Markdown);
        assert!(
            text.ends_with("| r/a | 2 | 0 | 0 | 1 | 0 | 1 |\n| r/b | 1 | 0 | 0 | 1 | 0 | 1 |\n\n"),
            "{text}"
        );
        let text = details.codes("t").render(TableForm::Markdown);
        assert!(text.contains("| pin/changed | 1 |\n| tree/too-large | 1 |"), "{text}");
        let text = details.dialects("t").render(TableForm::Markdown);
        assert!(text.contains("| codex | 4 | 1 (33.3 %) |"), "{text}");
    }
}
