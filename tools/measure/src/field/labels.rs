//! The labels of findings, and the precision that they give each rule.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Context as _, Result, bail};

use super::records::FindingKey;
use super::tier::Tier;
use xtask::text;

/// The file of the labels.
pub(super) const FILE: &str = "crates/cli/data/field-labels.tsv";
const HEADER: &str = "repository\tpath\tline\trule\tseverity\tverdict\treason";

/// A person's judgment of a finding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Verdict {
    /// The plugin attacks its user.
    Attack,
    /// A user should see this once.
    WorthAsking,
    /// The finding is wrong, or of no use to a user.
    False,
}

impl Verdict {
    fn from_word(word: &str) -> Option<Self> {
        match word {
            "attack" => Some(Self::Attack),
            "worth-asking" => Some(Self::WorthAsking),
            "false" => Some(Self::False),
            _ => None,
        }
    }
}

/// One line of the file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Label {
    pub(super) key: FindingKey,
    /// The tier that the finding had when it was labeled.
    pub(super) tier: Tier,
    pub(super) verdict: Verdict,
}

/// The share of a rule's labels that are `attack` or `worth-asking`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Precision {
    /// Labels that are `attack` or `worth-asking`.
    pub(crate) right: usize,
    /// All labels.
    pub(crate) labeled: usize,
}

/// Returns the precision of each rule that has a label.
pub(crate) fn precision() -> Result<BTreeMap<String, Precision>> {
    Ok(precision_of(&read()?))
}

/// Returns the precision of each rule, by some labels.
fn precision_of(labels: &[Label]) -> BTreeMap<String, Precision> {
    let mut rules: BTreeMap<String, Precision> = BTreeMap::new();
    for label in labels {
        let rule = rules.entry(label.key.rule.clone()).or_default();
        rule.labeled = rule.labeled.saturating_add(1);
        if label.verdict != Verdict::False {
            rule.right = rule.right.saturating_add(1);
        }
    }
    rules
}

/// Reads the labels.
pub(super) fn read() -> Result<Vec<Label>> {
    parse(&text(FILE)?).context(FILE)
}

/// Parses a header and lines of seven fields. No two lines are about the same finding.
fn parse(text: &str) -> Result<Vec<Label>> {
    let mut lines = text.lines();
    if lines.next() != Some(HEADER) {
        bail!("the first line is not `{}`", HEADER.escape_default());
    }
    let mut seen = BTreeSet::new();
    let mut labels = Vec::new();
    for (number, line) in (2..).zip(lines) {
        let label = parse_line(line).with_context(|| format!("line {number}"))?;
        if !seen.insert(label.key.clone()) {
            bail!("line {number}: the finding already has a label");
        }
        labels.push(label);
    }
    Ok(labels)
}

fn parse_line(line: &str) -> Result<Label> {
    let [repository, path, number, rule, severity, verdict, reason] =
        line.split('\t').collect::<Vec<_>>()[..]
    else {
        bail!("expected seven fields, separated by tabs");
    };
    if path.is_empty() || path.starts_with('/') {
        bail!("`{path}` is not a path relative to the repository");
    }
    if !rule.contains('/') {
        bail!("`{rule}` is not a rule id");
    }
    if reason.trim().is_empty() {
        bail!("the reason is empty");
    }
    Ok(Label {
        key: FindingKey {
            repository: repository.to_owned(),
            path: path.to_owned(),
            line: number.parse().with_context(|| format!("`{number}` is not a line number"))?,
            rule: rule.to_owned(),
        },
        tier: Tier::from_word(severity).with_context(|| format!("`{severity}` is not a severity"))?,
        verdict: Verdict::from_word(verdict)
            .with_context(|| format!("`{verdict}` is not attack, worth-asking or false"))?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(lines: &str) -> Result<Vec<Label>> {
        parse(&format!("{HEADER}\n{lines}"))
    }

    #[test]
    fn precision_counts_attacks_and_what_is_worth_asking() {
        let labels = labels(
            "a/b\tx\t1\tr/one\tdanger\tattack\tsends keys\n\
             a/b\tx\t2\tr/one\twarning\tworth-asking\truns a download\n\
             a/b\tx\t3\tr/one\tdanger\tfalse\ta comment\n\
             a/b\tx\t1\tr/two\tinfo\tfalse\ta test\n",
        )
        .unwrap();
        let precision = precision_of(&labels);
        assert_eq!(precision["r/one"], Precision { right: 2, labeled: 3 });
        assert_eq!(precision["r/two"], Precision { right: 0, labeled: 1 });
    }

    #[test]
    fn bad_labels_are_refused() {
        for (lines, message) in [
            ("a/b\tx\t1\tr/one\tdanger\tattack\n", "seven fields"),
            ("a/b\tx\t1\tr/one\tdanger\tmaybe\twhy\n", "not attack, worth-asking or false"),
            ("a/b\tx\t1\tr/one\tcritical\tfalse\twhy\n", "not a severity"),
            ("a/b\tx\tone\tr/one\tdanger\tfalse\twhy\n", "not a line number"),
            ("a/b\t/x\t1\tr/one\tdanger\tfalse\twhy\n", "relative to the repository"),
            ("a/b\tx\t1\trule\tdanger\tfalse\twhy\n", "not a rule id"),
            ("a/b\tx\t1\tr/one\tdanger\tfalse\t \n", "reason is empty"),
            (
                "a/b\tx\t1\tr/o\tdanger\tfalse\twhy\na/b\tx\t1\tr/o\tinfo\tattack\twhy\n",
                "already has a label",
            ),
        ] {
            let error = format!("{:#}", labels(lines).unwrap_err());
            assert!(error.contains(message), "{error}");
        }
    }

    #[test]
    fn the_labels_of_this_repository_are_valid() {
        assert!(precision().is_ok());
    }
}
