//! The planted cases, which every run checks first.
//!
//! A rule that stops reporting its own case makes the run undecided, so a broken rule cannot pass for a clean
//! workspace.

mod plant;

use crate::config::FenceConfig;
use crate::report::{FenceReport, UndecidedReason};

/// The result of one planted case.
#[derive(Debug)]
pub(crate) struct CaseResult {
    /// The rules that report the planted file, the file, and the set of names.
    pub(crate) name: String,
    pub(crate) held: bool,
    /// The expected and the reported lines, if they differ.
    pub(crate) note: String,
}

/// Runs the planted cases with the names of the report's own inventory and with made-up ones, and records the
/// result in the report.
pub(crate) fn into(report: &mut FenceReport, config: &FenceConfig) -> Vec<CaseResult> {
    let answers = plant::run(&report.summary.types, config);
    let held = answers.iter().filter(|answer| answer.held).count();
    report.summary.self_test = (held, answers.len());
    for answer in answers.iter().filter(|answer| !answer.held) {
        let message = format!("self-test: {}: {}", answer.name, answer.note);
        report.undecided.push(UndecidedReason::new("fence/self-test", message));
    }
    report.sort();
    answers
}

#[cfg(test)]
mod tests {
    use super::plant::run;
    use crate::{FenceConfig, LintRule};

    #[test]
    fn every_rule_has_its_cases_and_every_case_is_answered() {
        let answers = run(&["NetCapability".to_owned()], &FenceConfig::for_crates(&["caps"]));
        let missed: Vec<_> = answers.iter().filter(|answer| !answer.held).collect();
        assert!(missed.is_empty(), "{missed:#?}");
        for rule in LintRule::ALL {
            assert!(answers.iter().any(|answer| answer.name.starts_with(rule.code())), "{rule} has no case");
        }
    }
}
