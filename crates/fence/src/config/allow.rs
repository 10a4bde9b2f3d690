//! F13: an allow covers exactly the counted findings, until its expiry date.

use crate::LintRule;
use crate::config::FenceConfig;
use crate::report::{LintFinding, Site};

/// The findings that remain after the allows are applied.
pub(crate) struct AllowOutcome {
    pub(crate) findings: Vec<LintFinding>,
    pub(crate) covered: usize,
}

/// Removes the findings that an allow covers, and reports allows that do not fit.
pub(crate) fn apply(mut findings: Vec<LintFinding>, config: &FenceConfig) -> AllowOutcome {
    let mut faults = Vec::new();
    let mut covered = 0_usize;
    for allow in &config.allow {
        let fits = |finding: &LintFinding| {
            finding.rule.code() == allow.rule
                && finding.site.file == allow.path
                && allow.item.as_ref().is_none_or(|item| *item == finding.item)
        };
        let found = findings.iter().filter(|finding| fits(finding)).count();
        let name = format!("the allow of {} in {}", allow.rule, allow.path);
        if config.today.as_deref().is_some_and(|today| today > allow.expires.as_str()) {
            faults.push(fault(config, allow.line, "expired", format!("{name} expired on {}", allow.expires)));
            continue;
        }
        if found != allow.count {
            let message = format!("{name} has the count {}, and {found} findings match", allow.count);
            faults.push(fault(config, allow.line, "count", message));
            continue;
        }
        covered = covered.saturating_add(found);
        findings.retain(|finding| !fits(finding));
    }
    findings.extend(faults);
    AllowOutcome { findings, covered }
}

fn fault(config: &FenceConfig, line: u32, route: &'static str, message: String) -> LintFinding {
    let site = Site { file: config.origin.clone(), line, column: 1 };
    LintFinding::on_line(LintRule::F13, route, site, 1, message)
}
