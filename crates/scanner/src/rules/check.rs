//! Every case of every rule, run as a scan.

use std::collections::BTreeSet;

use plugward_types::{Digest, Severity};
use sha2::{Digest as _, Sha256};

use super::{Case, Rule, Rules};
use crate::RuleError;
use crate::entry::{Content, Entry, RoleHint};
use crate::error::RuleErrorKind;
use crate::options::{Profile, ScanOptions};
use crate::scan::{scan, shown};

/// What a self check ran.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct SelfCheck {
    /// Rules whose cases ran.
    pub rules: usize,
    /// Cases, each in every profile where its rule is not off.
    pub cases: usize,
}

pub(super) fn self_check(rules: &Rules) -> Result<SelfCheck, RuleError> {
    let mut done = SelfCheck { rules: rules.table.len(), cases: 0 };
    let failures = failures(rules, &mut done);
    failures.into_iter().next().map_or(Ok(done), Err)
}

/// Runs every case and gives every one that fails.
fn failures(rules: &Rules, done: &mut SelfCheck) -> Vec<RuleError> {
    let mut failures = Vec::new();
    for rule in &rules.table {
        for profile in Profile::ALL {
            if rule.severity(profile).is_none() {
                continue;
            }
            for (case, number) in rule.bad.iter().zip(1_usize..) {
                failures.extend(bad(rules, rule, case, number, profile).err());
                done.cases = done.cases.saturating_add(1);
            }
            for (case, number) in rule.good.iter().zip(1_usize..) {
                failures.extend(good(rules, rule, case, number, profile).err());
                done.cases = done.cases.saturating_add(1);
            }
        }
    }
    failures
}

/// Gives the ids that a case shows, as `id` where it weighs as much as its rule or more.
fn run(rules: &Rules, rule: &Rule, case: &Case, profile: Profile) -> Result<BTreeSet<String>, RuleError> {
    let hint = case.role.map_or(RoleHint::NONE, RoleHint::role);
    let digests: Vec<Digest> =
        case.files.iter().map(|(_, bytes)| Digest::from_bytes(Sha256::digest(bytes).into())).collect();
    let entries: Vec<Entry<'_>> = case
        .files
        .iter()
        .zip(&digests)
        .map(|((path, bytes), digest)| Entry {
            path,
            content: Content::Bytes { bytes, digest: *digest },
            role: hint,
        })
        .collect();
    let report = scan(rules, &ScanOptions::new(profile), &entries).map_err(|error| {
        RuleError::new("case", Some(rule.id.as_str()), RuleErrorKind::Parse(error.to_string()))
    })?;
    Ok(shown(&report).into_iter().map(str::to_owned).collect())
}

fn bad(rules: &Rules, rule: &Rule, case: &Case, number: usize, profile: Profile) -> Result<(), RuleError> {
    let found = run(rules, rule, case, profile)?;
    // A rule of `with` that is off in this profile cannot show.
    let mut expected: BTreeSet<String> = case
        .with
        .iter()
        .filter(|id| rules.get(id).is_none_or(|known| known.severity(profile).is_some()))
        .cloned()
        .collect();
    expected.insert(rule.id.to_string());
    // What only informs in `strict-plugin` is no noise in a case.
    let exact = found
        .iter()
        .filter(|id| {
            expected.contains(*id)
                || rules.get(id).and_then(|known| known.severity(profile)) > Some(Severity::Info)
        })
        .cloned()
        .collect::<BTreeSet<_>>();
    if exact == expected {
        return Ok(());
    }
    let join = |ids: &BTreeSet<String>| ids.iter().map(String::as_str).collect::<Vec<_>>().join(" ");
    let kind = RuleErrorKind::Dead {
        case: number,
        profile: profile.as_str(),
        expected: join(&expected),
        found: join(&found),
    };
    Err(RuleError::new("cases", Some(rule.id.as_str()), kind))
}

fn good(rules: &Rules, rule: &Rule, case: &Case, number: usize, profile: Profile) -> Result<(), RuleError> {
    if run(rules, rule, case, profile)?.contains(rule.id.as_str()) {
        let kind = RuleErrorKind::Eager { case: number, profile: profile.as_str() };
        return Err(RuleError::new("cases", Some(rule.id.as_str()), kind));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_case_of_every_built_in_rule_holds() {
        let mut done = SelfCheck { rules: 0, cases: 0 };
        let failures = failures(Rules::builtin(), &mut done);
        let shown: Vec<String> = failures.iter().map(ToString::to_string).collect();
        assert!(failures.is_empty(), "{}", shown.join("\n"));
    }
}
