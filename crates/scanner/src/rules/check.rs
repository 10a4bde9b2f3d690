//! The self check, which scans every case of every rule.

use std::collections::BTreeSet;

use plugward_types::{Digest, Severity};
use sha2::{Digest as _, Sha256};

use super::{Case, Rule, Rules};
use crate::Profile;
use crate::RuleError;
use crate::scan::entry::{Content, Entry, RoleHint};
use crate::scan::error::RuleErrorKind;
use crate::scan::options::ScanOptions;
use crate::scan::{scan, shown};

/// The extent of a self check.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct SelfCheck {
    /// Rules whose cases ran.
    pub rules: usize,
    /// Cases, counted in every profile in which their rule is on.
    pub cases: usize,
}

pub(super) fn self_check(rules: &Rules) -> Result<SelfCheck, RuleError> {
    let mut done = SelfCheck { rules: rules.table.len(), cases: 0 };
    failures(rules, &mut done).into_iter().next().map_or(Ok(done), Err)
}

pub(super) fn failing_cases(rules: &Rules) -> Vec<RuleError> {
    failures(rules, &mut SelfCheck { rules: 0, cases: 0 })
}

/// Runs every case and returns those that fail.
fn failures(rules: &Rules, done: &mut SelfCheck) -> Vec<RuleError> {
    let mut failures = Vec::new();
    for (rule, cases) in rules.table.iter().zip(rules.cases()) {
        for profile in Profile::ALL {
            if rule.severity(profile).is_none() {
                continue;
            }
            for (case, number) in cases.bad.iter().zip(1_usize..) {
                failures.extend(bad(rules, rule, case, number, profile).err());
                done.cases = done.cases.saturating_add(1);
            }
            for (case, number) in cases.good.iter().zip(1_usize..) {
                failures.extend(good(rules, rule, case, number, profile).err());
                done.cases = done.cases.saturating_add(1);
            }
        }
    }
    failures
}

/// Returns the ids of the rules that match a case with at least the severity of the tested rule.
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
    // A rule of `with` that is off in this profile cannot match.
    let mut expected: BTreeSet<String> = case
        .with
        .iter()
        .filter(|id| rules.get(id).is_none_or(|known| known.severity(profile).is_some()))
        .cloned()
        .collect();
    expected.insert(rule.id.to_string());
    // Notes in `strict-plugin` do not count as extra findings of a case.
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
    use crate::engine::Compiled;
    use crate::rules::{Cases, load};

    #[test]
    fn every_case_of_every_built_in_rule_holds() {
        let mut done = SelfCheck { rules: 0, cases: 0 };
        let failures = failures(Rules::builtin(), &mut done);
        let shown: Vec<String> = failures.iter().map(ToString::to_string).collect();
        assert!(failures.is_empty(), "{}", shown.join("\n"));
    }

    #[test]
    fn every_built_in_pattern_compiles() {
        assert_eq!(load::load(&[], Compiled::ByLoader).unwrap().digest(), Rules::builtin().digest());
    }

    /// Returns the cases of a built-in rule.
    fn cases(rule: &Rule) -> &'static Cases {
        let all = Rules::builtin();
        let at = all.table.iter().position(|known| known.id == rule.id).unwrap();
        &all.cases()[at]
    }

    /// Counts the bad cases of a rule that fail with a reduced table.
    fn failing(rules: &Rules, rule: &Rule, profile: Profile) -> usize {
        let cases = cases(rule).bad.iter().zip(1_usize..);
        cases.filter(|(case, number)| bad(rules, rule, case, *number, profile).is_err()).count()
    }

    #[test]
    fn one_rule_taken_away_makes_its_cases_fail() {
        let whole = Rules::builtin();
        let mut less = load::load(&[], Compiled::ByTests).unwrap();
        let mut removed = 0_usize;
        for (index, rule) in whole.table.iter().enumerate() {
            let kept = core::mem::take(&mut less.table[index].severity);
            let behaviors = core::mem::take(&mut less.table[index].behaviors);
            for profile in Profile::ALL.into_iter().filter(|profile| rule.severity(*profile).is_some()) {
                // No other rule covers the operation of this one: each of its cases fails without it.
                assert_eq!(
                    failing(&less, rule, profile),
                    cases(rule).bad.len(),
                    "{} in {profile:?}",
                    rule.id
                );
                removed += 1;
            }
            less.table[index].severity = kept;
            less.table[index].behaviors = behaviors;
            assert!(
                Profile::ALL
                    .into_iter()
                    .all(|profile| failing(&less, rule, profile) == 0 || rule.severity(profile).is_none()),
                "{}",
                rule.id
            );
        }
        assert!(removed > whole.table.len());
    }

    /// Detectors without a bad case of their own in a rule file. One counts findings and has no matcher to remove; the
    /// other is for one profile, and a case must hold in both. Separate tests cover them.
    const APART: [&str; 2] = ["coverage-finding-cap", "js-child-process-value"];

    #[test]
    fn one_detector_taken_away_makes_a_case_fail() {
        let whole = Rules::builtin();
        let mut less = load::load(&[], Compiled::ByTests).unwrap();
        let mut idle = Vec::new();
        for (name, matchers) in whole.shapes.iter().filter(|(name, _)| !APART.contains(name)) {
            for at in matchers.iter().map(|matcher| usize::from(*matcher)) {
                let rule = &whole.table[usize::from(less.matchers[at].rule)];
                let kept = core::mem::replace(&mut less.matchers[at].langs, 0);
                let profiles = Profile::ALL.into_iter().filter(|profile| rule.severity(*profile).is_some());
                if profiles.map(|profile| failing(&less, rule, profile)).sum::<usize>() == 0 {
                    idle.push(format!("{} {name}", rule.id));
                }
                less.matchers[at].langs = kept;
            }
        }
        assert!(idle.is_empty(), "no case needs these detectors:\n{}", idle.join("\n"));
        assert!(whole.shapes.len() > 40);
    }

    /// Returns the matchers of a rule that hit in a case, whatever the severity.
    fn ways(rules: &Rules, rule: usize, case: &Case, profile: Profile) -> BTreeSet<u16> {
        let hint = case.role.map_or(RoleHint::NONE, RoleHint::role);
        let options = ScanOptions::new(profile);
        let mut ways = BTreeSet::new();
        let digest = Digest::from_bytes([0; 32]);
        let files = case.files.iter().map(|(path, bytes)| Entry {
            path,
            content: Content::Bytes { bytes, digest },
            role: hint,
        });
        for entry in &crate::inventory::crates::raised(&files.collect::<Vec<_>>()) {
            let record = crate::scan::file::scan(rules, &options, entry, crate::scan::file::Reading::Full);
            let own = record.hits.iter().map(|hit| hit.matcher).filter(|matcher| {
                let known = &rules.matchers[usize::from(*matcher)];
                usize::from(known.rule) == rule
                    && known.profiles & crate::scan::options::profile_bit(profile) != 0
            });
            ways.extend(own);
        }
        ways
    }

    /// Matchers that add positions to the hits of another matcher of the same rule: a module and its functions.
    const PLACES: [(&str, usize); 2] = [("exec/child-process", 2), ("exec/vm", 2)];

    #[test]
    fn every_single_way_to_match_is_needed_by_a_case() {
        let rules = Rules::builtin();
        let mut needed: BTreeSet<u16> = BTreeSet::new();
        for (index, rule) in rules.table.iter().enumerate() {
            for profile in Profile::ALL.into_iter().filter(|profile| rule.severity(*profile).is_some()) {
                for case in &cases(rule).bad {
                    let ways = ways(rules, index, case, profile);
                    // Without this matcher the case would fail.
                    needed.extend(ways.first().filter(|_| ways.len() == 1));
                }
            }
        }
        let mut idle = Vec::new();
        let mut ordinal = std::collections::BTreeMap::new();
        for (at, matcher) in rules.matchers.iter().enumerate() {
            let rule = &rules.table[usize::from(matcher.rule)];
            let number = ordinal.entry(matcher.rule).or_insert(0_usize);
            *number += 1;
            // A case must hold in both profiles; matchers of one profile have separate tests.
            let one = Profile::ALL
                .iter()
                .any(|profile| matcher.profiles & crate::scan::options::profile_bit(*profile) == 0);
            let apart = one || matches!(matcher.kind, crate::rules::MatcherKind::Shape);
            let place = PLACES.contains(&(rule.id.as_str(), *number));
            if !apart && !place && !needed.contains(&u16::try_from(at).unwrap()) {
                idle.push(format!("{} way {number}: {}", rule.id, short(&matcher.kind)));
            }
        }
        assert!(idle.is_empty(), "{} ways to match that no case needs:\n{}", idle.len(), idle.join("\n"));
        assert!(needed.len() > 400);
    }

    fn short(kind: &crate::rules::MatcherKind) -> String {
        format!("{kind:?}").chars().take(60).collect()
    }
}
