//! What a file does together with the files that it runs.

use std::collections::{BTreeMap, BTreeSet};

use super::file::FileRecord;
use super::findings::rules_of;
use crate::rules::{Rule, Rules};
use crate::scan::entry::Lens;

/// The rules about the network.
pub(super) const NETWORK: &[&str] = &["net/fetch", "net/module", "sh/network"];

/// The rule about files with secrets, which is weighed by the network.
pub(super) const SECRET_FILE: &str = "fs/sensitive-path";

/// Returns, for each file with a flow that has a condition, the rules of conditions that match in the code that it refers
/// to, directly or not, and in the code that refers to it.
pub(super) fn conditions<'r>(
    rules: &'r Rules,
    records: &[FileRecord],
    references: &BTreeMap<usize, Vec<usize>>,
) -> Vec<BTreeSet<&'r str>> {
    let is_code = |at: &usize| {
        let lens = records.get(*at).and_then(|record| record.lens);
        matches!(lens, Some(Lens::Js | Lens::Py | Lens::Sh))
    };
    let targets = |at: &usize| references.get(at).into_iter().flatten().copied().filter(is_code);
    let of = |at: usize| {
        let Some(record) = records.get(at).filter(|_| is_code(&at)) else { return BTreeSet::new() };
        if rules_of(rules, record).all(|rule| !is_conditional(rule) && rule.id.as_str() != SECRET_FILE) {
            return BTreeSet::new();
        }
        let importers = references.iter().filter(|(from, targets)| is_code(from) && targets.contains(&at));
        let mut reached: BTreeSet<usize> = BTreeSet::new();
        let mut open = vec![at];
        while let Some(next) = open.pop() {
            open.extend(targets(&next).filter(|target| reached.insert(*target)));
        }
        reached.extend(importers.map(|(from, _)| *from));
        let ids = reached.iter().filter_map(|at| records.get(*at));
        let ids = ids.flat_map(|record| rules_of(rules, record).map(|rule| rule.id.as_str()));
        ids.filter(|id| NETWORK.contains(id)).collect()
    };
    (0..records.len()).map(of).collect()
}

/// Returns `true` for a rule about a flow that needs a further rule, in this file or a connected one.
pub(super) fn is_conditional(rule: &Rule) -> bool {
    !rule.needs.is_empty() && rule.id.family() == "flow"
}
