//! The planted cases, which every run checks first.
//!
//! A rule that stops reporting its own case makes the run undecided, so a broken rule cannot pass for a clean
//! workspace.

mod cases;
mod plant;

use crate::config::FenceConfig;
use crate::report::{FenceReport, UndecidedReason};
use crate::rules::DisabledRules;

/// The result of one planted case.
#[derive(Debug, Clone)]
pub(crate) struct CaseResult {
    /// Rule and route, such as `F03/turbofish`, and the set of names.
    pub(crate) name: String,
    pub(crate) held: bool,
    /// The expected and the reported lines, if they differ.
    pub(crate) note: String,
}

/// Runs the planted cases with the names of the report's own inventory and with made-up ones, and records the
/// result in the report.
pub(crate) fn into(report: &mut FenceReport, config: &FenceConfig) -> Vec<CaseResult> {
    let answers = run(&report.summary.types, config, DisabledRules::default());
    let held = answers.iter().filter(|answer| answer.held).count();
    report.summary.self_test = (held, answers.len());
    for answer in answers.iter().filter(|answer| !answer.held) {
        let message = format!("self-test: {}: {}", answer.name, answer.note);
        report.undecided.push(UndecidedReason::new("fence/self-test", message));
    }
    report.sort();
    answers
}

/// Runs the planted cases.
pub(crate) fn run(types: &[String], config: &FenceConfig, off: DisabledRules) -> Vec<CaseResult> {
    let mut answers = Vec::new();
    for names in plant::names(types, config) {
        answers.extend(plant::answers(&names, config, off));
    }
    answers
}

#[cfg(test)]
mod tests {
    use super::run;
    use crate::rules::DisabledRules;
    use crate::{FenceConfig, LintRule};

    fn config() -> FenceConfig {
        FenceConfig::for_crates(&["caps"])
    }

    #[test]
    fn every_case_is_answered() {
        let answers = run(&["NetCapability".to_owned()], &config(), DisabledRules::default());
        let missed: Vec<String> = answers
            .iter()
            .filter(|answer| !answer.held)
            .map(|answer| format!("{}: {}", answer.name, answer.note))
            .collect();
        assert!(missed.is_empty(), "{}", missed.join("\n"));
        assert!(answers.len() > 100, "{}", answers.len());
    }

    #[test]
    fn a_rule_that_is_off_fails_its_own_cases_alone() {
        for rule in LintRule::ALL {
            let answers = run(&["NetCapability".to_owned()], &config(), DisabledRules::only(rule));
            let planted = format!("{rule}/");
            for answer in &answers {
                // The allow that fits covers a finding of F07.
                let covers = rule == LintRule::F07 && answer.name.starts_with("F13/near-fits");
                let own = answer.name.starts_with(&planted) && !answer.name.contains("near");
                assert_eq!(!answer.held, own || covers, "{rule} off: {} {}", answer.name, answer.note);
            }
            assert!(answers.iter().any(|answer| !answer.held), "{rule} has no case");
        }
    }
}
