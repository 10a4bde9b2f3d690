//! Audits as text and as JSON.

use plugward_loader::deep_audit::{
    Audit, AuditFinding, AuditPlan, AuditScope, CanaryCheck, FileState, FindingAuthor, Floor,
};
use plugward_loader::escape::line;
use plugward_loader::pinstore::{AuditVerdict, ReviewedDigests, Risk};
use serde::Serialize;

use super::AuditCase;
use super::model::Auditor;
use crate::out::{STRONG, paint};
use crate::text::{bytes, command, count, wrapped};
use crate::verbs::shared::with_digests;

#[derive(Serialize)]
pub(super) struct AuditsView<'a> {
    pub(super) version: u32,
    pub(super) audits: Vec<AuditView<'a>>,
}

#[derive(Serialize)]
pub(super) struct AuditView<'a> {
    pub(super) id: &'a str,
    /// The digest of the record; `None` if nothing was stored.
    pub(super) record: Option<String>,
    pub(super) max_risk: &'static str,
    pub(super) plan: Option<PlanView<'a>>,
    pub(super) audit: Option<Audit>,
}

#[derive(Serialize)]
pub(super) struct PlanView<'a> {
    model: &'a str,
    host: &'a str,
    scope: AuditScope,
    files: usize,
    bytes: usize,
    tokens: usize,
    masked_secrets: usize,
    left_out: Vec<&'a str>,
}

impl<'a> PlanView<'a> {
    pub(super) fn of(plan: &'a AuditPlan<'_>, auditor: &'a Auditor) -> Self {
        Self {
            model: auditor.id.model(),
            host: &auditor.host,
            scope: plan.scope(),
            files: plan.sent_files(),
            bytes: plan.bytes(),
            tokens: plan.tokens(),
            masked_secrets: plan.masked_secrets(),
            left_out: plan.left_out().collect(),
        }
    }

    /// Returns what is about to be sent, in one line.
    pub(super) fn sentence(&self, shown: &str) -> String {
        let size = bytes(u64::try_from(self.bytes).unwrap_or(u64::MAX));
        let mut text = format!(
            "{}: {}, {size}, about {} tokens to {}",
            line(shown),
            count(self.files, "file"),
            thousands(self.tokens),
            line(self.host)
        );
        if self.scope == AuditScope::Update {
            text.push_str(", only the changes since the last full audit");
        }
        if self.masked_secrets > 0 {
            text.push_str(&format!(", {}", count(self.masked_secrets, "masked secret")));
        }
        if !self.left_out.is_empty() {
            text.push_str(&format!(", {} left out", count(self.left_out.len(), "file")));
        }
        text
    }
}

/// Returns a number with a comma before each group of three digits.
pub(super) fn thousands(number: usize) -> String {
    let digits = number.to_string();
    let mut out = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// An audit to be printed.
pub(super) struct Rendering<'a> {
    pub(super) case: &'a AuditCase,
    pub(super) audit: &'a Audit,
    /// The digest of the record; `None` if nothing was stored.
    pub(super) record: Option<&'a str>,
    /// The highest risk of all audits of these contents.
    pub(super) counted: Risk,
    pub(super) max: Risk,
    /// The options that change the digest.
    pub(super) typed: &'a str,
    pub(super) width: usize,
}

impl Rendering<'_> {
    pub(super) fn text(&self) -> String {
        let Self { case, audit, width, .. } = self;
        let version = case.plugin.version.as_deref().map(|version| format!(" {}", line(version)));
        let name = format!("{}{}", line(&case.shown), version.unwrap_or_default());
        let verdict = match audit.verdict {
            AuditVerdict::Approve => "approve",
            AuditVerdict::ApproveWithConditions => "approve with conditions",
            AuditVerdict::Reject => "reject",
        };
        let title = format!("{name}: risk {}, {verdict}", audit.risk.as_str());
        let mut out = wrapped("", "  ", &title, *width).replacen(&name, &paint(STRONG, &name), 1);
        let summary = audit.summary.as_deref().map(sentence).unwrap_or_default();
        out.push_str(&format!(
            "\n{}",
            wrapped("  ", "  ", &format!("{summary}{}", canaries(audit.canary)), *width)
        ));
        if let Some(reason) = audit.reason.as_deref().filter(|_| audit.verdict != AuditVerdict::Approve) {
            out.push_str(&wrapped("  ", "  ", &format!("Reason: {reason}"), *width));
        }
        self.list(&mut out, "WHY THE RISK IS NOT LOWER", &self.floors());
        self.list(&mut out, "WHAT IT CAN DO, ACCORDING TO THE MODEL", &audit.capabilities);
        let injections = audit
            .injections
            .iter()
            .map(|one| format!("{}  {}", place(one.path.as_deref(), one.line), one.excerpt));
        self.list(&mut out, "TEXTS THAT TRY TO INFLUENCE THE AUDIT", &injections.collect::<Vec<_>>());
        self.list(&mut out, "FINDINGS", &audit.findings.iter().map(finding).collect::<Vec<_>>());
        let unsent =
            audit.files.iter().filter(|file| matches!(file.state, FileState::LeftOut | FileState::Binary));
        self.list(
            &mut out,
            "NOT SENT",
            &unsent.map(|file| line(&file.path).into_owned()).collect::<Vec<_>>(),
        );
        out.push_str(&self.next());
        out
    }

    fn list(&self, out: &mut String, title: &str, rows: &[String]) {
        if !rows.is_empty() {
            out.push_str(&format!("\n{}\n", paint(STRONG, title)));
            out.extend(rows.iter().map(|row| wrapped("", "    ", row, self.width)));
        }
    }

    fn floors(&self) -> Vec<String> {
        let floors = self.audit.floors.iter().map(|floor| match floor {
            Floor::Base => "the audit that this update is compared with found this risk",
            Floor::Compromised => "the model did not report both canaries",
            Floor::Description => "the description does not match the code",
            Floor::Injection => "a text of the plugin tries to influence the audit",
            Floor::Masked => "the model did not see text that looks like a secret",
            Floor::ModelDanger => "the model reports a danger",
            Floor::Partial => "a file that runs or reaches a prompt was not sent",
            Floor::Unparseable => "the reply could not be read",
            Floor::Unreliable => "the model reported an identifier that is not in the request",
        });
        floors.map(str::to_owned).chain(self.audit.risk_reasons.iter().cloned()).collect()
    }

    /// Returns the next step: the command that approves the version, or the reason why none does.
    fn next(&self) -> String {
        let Self { case, audit, counted, max, typed, width, .. } = self;
        let selector = crate::verbs::shared::quoted(&case.shown);
        let mut out = String::from("\n");
        if *counted > audit.risk {
            let by = if *counted == case.static_risk() {
                "The scan"
            } else {
                "An earlier audit of the same contents"
            };
            let text = format!("{by} found risk {}, which counts.", counted.as_str());
            out.push_str(&wrapped("", "", &text, *width));
        }
        if audit.floors.contains(&Floor::Base) {
            out.push_str("To let the model read all files again:\n");
            out.push_str(&command("  ", &format!("plugward audit {selector}{typed} --full"), *width));
        }
        let forbidden = if case.has_danger() {
            "the scan found a danger".to_owned()
        } else if audit.verdict == AuditVerdict::Reject {
            "the audit advises against it".to_owned()
        } else if counted > max {
            format!("the risk is above plugins.max_risk, which is {}", max.as_str())
        } else {
            out.push_str("To approve this version:\n");
            let approve = match self.record {
                Some(record) => format!("plugward approve {selector}{typed} --audit {record}"),
                None => with_digests(
                    &format!("plugward approve {selector} --static{typed}"),
                    &ReviewedDigests::wanted(case.subject.facts(), None),
                ),
            };
            out.push_str(&command("  ", &approve, *width));
            return out;
        };
        out.push_str(&wrapped("", "  ", &format!("This version cannot be approved: {forbidden}."), *width));
        out
    }
}

fn finding(finding: &AuditFinding) -> String {
    let by = match finding.from {
        FindingAuthor::Model => "model",
        FindingAuthor::Scan | FindingAuthor::Audit => finding.rule.as_deref().unwrap_or_default(),
    };
    let place = place(finding.path.as_deref(), finding.line);
    let agrees = if finding.also_model { " (the model reports it too)" } else { "" };
    format!("{place}  {}  {}  {}{agrees}", finding.severity, line(by), finding.message)
}

fn place(path: Option<&str>, number: Option<u32>) -> String {
    match (path, number) {
        (Some(path), Some(number)) => format!("{}:{number}", line(path)),
        (Some(path), None) => line(path).into_owned(),
        (None, _) => "-".to_owned(),
    }
}

/// Returns a text of the model with a period and a space, so that a sentence can follow.
fn sentence(text: &str) -> String {
    let end = if text.ends_with(['.', '!', '?']) { "" } else { "." };
    format!("{text}{end} ")
}

const fn canaries(check: Option<CanaryCheck>) -> &'static str {
    match check {
        Some(CanaryCheck::Ok) => "Both canaries were reported.",
        Some(CanaryCheck::Unreliable) => "Both canaries were reported, and an identifier that is in no file.",
        Some(CanaryCheck::Compromised) => "The model did not report both canaries, so its reply is not used.",
        Some(CanaryCheck::NotChecked) => {
            "The reply is not one JSON object, so the canaries were not checked."
        }
        None => "No model read the plugin.",
    }
}
