//! A deterministic sample of findings that takes the rules in turn.

use std::collections::{BTreeMap, BTreeSet};

use sha2::{Digest as _, Sha256};

use super::records::{FindingKey, Record};

/// Takes a sample.
///
/// Each finding has a position that depends on the seed and the finding alone. So the order of the file does not
/// matter, and a new finding does not move the others. Rules take turns until there are enough findings. The result is
/// sorted by rule, so that a reader judges the findings of one rule together.
pub(super) fn take(findings: Vec<Record>, seed: u64, count: usize) -> Vec<Record> {
    let mut known = BTreeSet::new();
    let mut rules: BTreeMap<String, Vec<(Position, Record)>> = BTreeMap::new();
    for finding in findings {
        let key = finding.key();
        if known.insert(key.clone()) {
            rules.entry(finding.rule.clone()).or_default().push((position(seed, &key), finding));
        }
    }
    let mut queues: Vec<_> = rules.into_values().collect();
    for queue in &mut queues {
        // Taken from the end.
        queue.sort_by(|(one, _), (other, _)| other.cmp(one));
    }
    // If there are more rules than places, the seed decides which rules come first.
    queues.sort_by_key(|queue| queue.last().map(|(position, _)| *position));
    let mut sample = Vec::new();
    while sample.len() < count && queues.iter().any(|queue| !queue.is_empty()) {
        let wanted = count.saturating_sub(sample.len());
        sample.extend(queues.iter_mut().filter_map(Vec::pop).take(wanted).map(|(_, record)| record));
    }
    sample.sort_by_key(|record| (record.rule.clone(), record.key()));
    sample
}

type Position = [u8; 32];

fn position(seed: u64, key: &FindingKey) -> Position {
    let mut digest = Sha256::new();
    digest.update(seed.to_le_bytes());
    digest.update(key.line.to_le_bytes());
    for part in [&key.repository, &key.path, &key.rule] {
        digest.update(part.as_bytes());
        digest.update([0]);
    }
    digest.finalize().into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::field::records::tests::record;

    fn findings() -> Vec<Record> {
        let common = (1..=100).map(|line| record("rule/common", line));
        common
            .chain((1..=2).map(|line| record("rule/rare", line)))
            .chain([record("rule/single", 1)])
            .collect()
    }

    fn count(sample: &[Record], rule: &str) -> usize {
        sample.iter().filter(|record| record.rule == rule).count()
    }

    #[test]
    fn rules_take_turns() {
        let sample = take(findings(), 1, 10);
        assert_eq!(sample.len(), 10);
        assert_eq!(
            (count(&sample, "rule/common"), count(&sample, "rule/rare"), count(&sample, "rule/single")),
            (7, 2, 1)
        );
        assert_eq!(take(findings(), 1, 2).len(), 2);
        assert_eq!(take(findings(), 1, 1000).len(), 103);
    }

    #[test]
    fn the_sample_depends_on_the_seed_and_not_on_the_order() {
        let mut reversed = findings();
        reversed.reverse();
        assert_eq!(take(findings(), 1, 10), take(reversed, 1, 10));
        assert_ne!(take(findings(), 1, 10), take(findings(), 2, 10));
    }

    #[test]
    fn a_shared_file_counts_once() {
        let other = Record { plugin: "a+b/q".to_owned(), ..record("rule/single", 1) };
        let sample = take(vec![record("rule/single", 1), other], 1, 10);
        assert_eq!(sample.len(), 1);
    }

    #[test]
    fn a_larger_sample_contains_the_smaller() {
        let large = take(findings(), 5, 30);
        assert!(take(findings(), 5, 10).iter().all(|record| large.contains(record)));
    }
}
