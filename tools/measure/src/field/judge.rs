//! A sample of findings for a person to label, and the check of the labels.

use std::collections::BTreeSet;

use anyhow::Result;

use super::records::{self, FindingKey, Record};
use super::show::{FileLines, visible};
use super::{JudgeArgs, labels, list, print, sample};
use xtask::Outcome;

/// Lines printed before and after a finding's line.
const AROUND: u64 = 4;

/// Prints a sample of the findings that have no label yet.
pub(super) fn print_sample(args: &JudgeArgs) -> Result<Outcome> {
    let (Some(findings), Some(corpus)) = (&args.findings, &args.corpus) else {
        anyhow::bail!("--findings and --corpus are needed for a sample");
    };
    let repositories = list::read()?;
    let labeled: BTreeSet<FindingKey> = labels::read()?.into_iter().map(|label| label.key).collect();
    let wanted = |record: &Record| {
        args.rule.as_ref().is_none_or(|rule| *rule == record.rule)
            && args.severity.is_none_or(|tier| tier == record.tier)
            && args.split.is_none_or(|split| split == record.split)
            && !labeled.contains(&record.key())
    };
    let all: Vec<Record> = records::read(findings)?.into_iter().filter(wanted).collect();
    let count = all.iter().map(Record::key).collect::<BTreeSet<_>>().len();
    let sample = sample::take(all, args.seed, args.count);
    for (number, record) in (1_usize..).zip(&sample) {
        let repository = repositories.iter().find(|one| one.name == record.repository);
        let context = repository.map_or_else(String::new, |repository| {
            let mut lines = FileLines::new(repository.path(corpus));
            lines.context(&record.path, record.line, record.column, AROUND)
        });
        print(&format!("{number}/{} {}\n", sample.len(), entry(record, &context)));
    }
    let looked_at = format!("field judge: {} of {count} findings without a label", sample.len());
    Ok(Outcome { looked_at, wrong: Vec::new() })
}

/// Returns a finding with its context and the line to fill in.
fn entry(record: &Record, context: &str) -> String {
    let Record { repository, plugin, rule, path, line, column, role, .. } = record;
    let tier = record.tier.as_str();
    let role = if role.is_empty() { String::new() } else { format!(", {role}") };
    let path = visible(path);
    let context = if context.is_empty() {
        format!("  > {line:>5} | {}\n", visible(&record.snippet))
    } else {
        context.to_owned()
    };
    format!(
        "{rule} {tier}{role}\n  {}\n  {repository} {path}:{line}:{column} in {}\n{context}{}\n",
        visible(&record.message),
        visible(plugin),
        ["", repository, &path, &line.to_string(), rule, tier, "VERDICT", "REASON"].join("\t").trim_start(),
    )
}

/// Checks the labels and prints the precision of each rule.
pub(super) fn check(args: &JudgeArgs) -> Result<Outcome> {
    let labels = labels::read()?;
    let repositories: BTreeSet<String> = list::read()?.into_iter().map(|one| one.name).collect();
    let findings: Option<BTreeSet<FindingKey>> = match &args.findings {
        Some(file) => Some(records::read(file)?.iter().map(Record::key).collect()),
        None => None,
    };
    let mut wrong = Vec::new();
    for label in &labels {
        let FindingKey { repository, path, line, rule } = &label.key;
        let gone = findings.as_ref().is_some_and(|findings| !findings.contains(&label.key));
        if !repositories.contains(repository) {
            wrong.push(format!("{}: {repository} is not in the list of repositories", labels::FILE));
        } else if gone {
            let tier = label.tier.as_str();
            let path = visible(path);
            wrong.push(format!("{repository} {path}:{line}: no finding of {rule} any more (it was {tier})"));
        }
    }
    let precision = labels::precision()?;
    for (rule, precision) in &precision {
        let percent = precision.right.saturating_mul(100).checked_div(precision.labeled).unwrap_or_default();
        print(&format!(
            "{rule:<40} {:>4} of {:>4} right {percent:>4} %\n",
            precision.right, precision.labeled
        ));
    }
    let looked_at = format!("field judge: {} labels of {} rules", labels.len(), precision.len());
    Ok(Outcome { looked_at, wrong })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::field::records::tests::record;

    #[test]
    fn an_entry_ends_with_a_line_for_the_labels() {
        let text = entry(&record("a/b", 7), "");
        assert!(
            text.starts_with("a/b danger\n  a \"message\"\n  a/b p/x \\u{202e}    .sh:7:3 in a+b/p\n"),
            "{text}"
        );
        assert!(text.contains("  >     7 | x\\u{a}y\n"), "{text}");
        let last = text.trim_end().rsplit('\n').next().unwrap();
        assert_eq!(last.split('\t').collect::<Vec<_>>()[2..], ["7", "a/b", "danger", "VERDICT", "REASON"]);
    }
}
