//! The findings of an audit: those of the scan, of the audit itself and of the model.

use core::cmp::Reverse;

use plugward_redact::SecretKind;
use plugward_types::{Finding, Severity, escape};

use crate::place::locate;
use crate::plan::AuditPlan;
use crate::record::{AuditFinding, FindingAuthor, Floor};
use crate::reply::ReplyFinding;

/// Returns findings of the scan, the severe ones first.
pub(crate) fn danger_first(findings: &[Finding]) -> Vec<&Finding> {
    let mut sorted: Vec<&Finding> = findings.iter().collect();
    sorted.sort_by_key(|finding| Reverse(finding.severity));
    sorted
}

pub(crate) fn scan_finding(finding: &Finding) -> AuditFinding {
    AuditFinding {
        from: FindingAuthor::Scan,
        rule: Some(finding.rule.to_string()),
        severity: finding.severity,
        path: Some(finding.path.clone()),
        line: Some(finding.line),
        message: finding.message.clone(),
        also_model: false,
    }
}

/// Returns the finding of the audit itself for a floor.
pub(crate) fn own_finding(floor: Floor) -> AuditFinding {
    let (rule, severity, message) = match floor {
        Floor::Compromised => (
            "audit/compromised",
            Severity::Danger,
            "the model did not report both canaries, so it did not read all of the plugin as data",
        ),
        Floor::Unreliable => (
            "audit/unreliable",
            Severity::Warning,
            "the model reported an identifier that is not in the request",
        ),
        _ => (
            "audit/unparseable",
            Severity::Warning,
            "the reply of the model is not one JSON object, or some of its findings cannot be read",
        ),
    };
    own(rule, severity, message.to_owned())
}

/// Returns the finding of a masked place.
pub(crate) fn masked(path: &str, line: Option<u32>, bytes: usize, kind: &SecretKind) -> AuditFinding {
    let message = format!("the model did not see {bytes} bytes that look like a secret ({kind})");
    AuditFinding { path: Some(path.to_owned()), line, ..own("audit/masked", Severity::Warning, message) }
}

fn own(rule: &str, severity: Severity, message: String) -> AuditFinding {
    AuditFinding {
        from: FindingAuthor::Audit,
        rule: Some(rule.to_owned()),
        severity,
        path: None,
        line: None,
        message,
        also_model: false,
    }
}

/// Adds a finding of the model. At the place of a scan finding that is at least as severe, it only confirms that one.
pub(crate) fn merge(findings: &mut Vec<AuditFinding>, plan: &AuditPlan<'_>, found: &ReplyFinding) {
    let place = locate(plan, &found.file, &found.quote);
    let (path, line) = place.map_or((None, None), |place| (Some(place.path), place.line));
    let is_same = |own: &&mut AuditFinding| {
        own.from == FindingAuthor::Scan
            && line.is_some()
            && own.line == line
            && own.path == path
            && own.severity >= found.severity
    };
    if let Some(own) = findings.iter_mut().find(is_same) {
        own.also_model = true;
        return;
    }
    findings.push(AuditFinding {
        from: FindingAuthor::Model,
        rule: None,
        severity: found.severity,
        path,
        line,
        message: escape::line(&found.message).into_owned(),
        also_model: false,
    });
}
