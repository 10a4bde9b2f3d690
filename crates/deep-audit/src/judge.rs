//! Turns a reply into an audit: the canary check, the floors of the risk, the verdict and the findings.

use std::collections::BTreeSet;

use plugward_redact::{Firewall, LlmAccess};
use plugward_types::{AuditKind, AuditVerdict, Part as _, Risk, Severity, Timestamp, escape};

use crate::canary::{PlantedText, Randomness, plant};
use crate::check::{check_canaries, real_injection};
use crate::error::{AuditError, AuditErrorKind};
use crate::merge::{danger_first, masked, merge, own_finding, scan_finding};
use crate::place::locate;
use crate::plan::{AuditPlan, PlannedFile};
use crate::record::{Audit, AuditInjection, AuditScope, CanaryCheck, Floor, VERSION};
use crate::reply::{EXCERPT, ParsedReply, ReplyFields, cut, parse_reply};
use crate::subject::{AuditSubject, AuditedFile};

/// The bytes of a reply that are kept for a person to read.
const KEPT_REPLY: usize = 8 << 10;
/// A masked place that is longer than most keys can contain code.
const LONG_MASK: usize = 64;

/// Asks a model about a plugin, once.
///
/// A plan without text asks no model and returns an audit of kind `static` that says so.
///
/// # Guarantees
/// The risk is at least that of the scan, and the findings of the scan are in the audit. The canary check is
/// [`CanaryCheck::Ok`] only if the reply reports both canaries.
///
/// # Errors
/// - `audit/no-randomness`, `audit/not-planted`: nothing was sent.
/// - `transport/*`: the model did not reply.
pub fn deep_audit(
    plan: &AuditPlan<'_>,
    model: &dyn LlmAccess,
    firewall: &Firewall,
    random: &mut dyn Randomness,
    now: Timestamp,
) -> Result<Audit, AuditError> {
    if plan.sent_files() == 0 {
        let mut audit = static_audit(plan.subject, now);
        audit.floors.extend(plan.files.iter().any(PlannedFile::is_partial).then_some(Floor::Partial));
        audit.risk = audit.risk.max(if audit.floors.is_empty() { Risk::Low } else { Risk::High });
        audit.reason = Some("the plugin has no text that a model could read".to_owned());
        audit.files = files(plan);
        return Ok(audit);
    }
    let planted = plant(plan, firewall, random)?;
    let reply = model.ask(planted.request()).map_err(AuditErrorKind::Transport)?;
    Ok(judge(plan, &planted, reply.as_str(), now))
}

/// Audits a plugin without a model: the findings of the scan, and the risk that they show.
#[must_use]
pub fn static_audit(subject: &AuditSubject<'_>, now: Timestamp) -> Audit {
    let is_danger = subject.findings.iter().any(|finding| finding.severity == Severity::Danger);
    Audit {
        version: VERSION,
        kind: AuditKind::Static,
        scope: AuditScope::Full,
        base: None,
        tree: subject.bytes.tree,
        shared: subject.bytes.shared.clone(),
        entry: subject.bytes.entry,
        rules: subject.rules,
        auditor: None,
        at: now,
        canary: None,
        risk: subject.static_risk(),
        model_risk: None,
        floors: BTreeSet::new(),
        verdict: if is_danger { AuditVerdict::Reject } else { AuditVerdict::ApproveWithConditions },
        reason: Some("no model read the plugin".to_owned()),
        summary: None,
        description_accurate: None,
        capabilities: Vec::new(),
        risk_reasons: Vec::new(),
        tokens: 0,
        reply: None,
        injections: Vec::new(),
        findings: danger_first(subject.findings).into_iter().map(scan_finding).collect(),
        files: Vec::new(),
    }
}

/// Turns a reply to a planted request into an audit.
#[must_use]
pub fn judge(plan: &AuditPlan<'_>, planted: &PlantedText, reply: &str, now: Timestamp) -> Audit {
    let parsed = parse_reply(reply);
    let check = check_canaries(planted, &parsed);
    let mut audit = Audit {
        kind: AuditKind::Deep,
        scope: plan.scope(),
        base: plan.base.as_ref().map(|base| base.digest),
        auditor: Some(plan.auditor.clone()),
        canary: Some(check),
        verdict: AuditVerdict::Approve,
        reason: None,
        tokens: u64::try_from(plan.tokens()).unwrap_or(u64::MAX),
        files: files(plan),
        ..static_audit(plan.subject, now)
    };
    add_partial(&mut audit, plan);
    match (check, &parsed) {
        // The plugin may have written the reply, so nothing of it is used.
        (CanaryCheck::Compromised, _) => raise(&mut audit, Floor::Compromised, Risk::Critical),
        (_, ParsedReply::Unparseable { risk }) => {
            add_masks(&mut audit, plan, planted);
            raise(&mut audit, Floor::Unparseable, *risk);
        }
        (_, ParsedReply::Object(fields)) => {
            add_masks(&mut audit, plan, planted);
            add_reply(&mut audit, plan, planted, fields);
            if !fields.is_complete {
                raise(&mut audit, Floor::Unparseable, Risk::High);
            }
            if check == CanaryCheck::Unreliable {
                raise(&mut audit, Floor::Unreliable, Risk::Medium);
            }
        }
    }
    for floor in [Floor::Compromised, Floor::Unparseable, Floor::Unreliable] {
        if audit.floors.contains(&floor) {
            audit.findings.push(own_finding(floor));
        }
    }
    // Findings of the model follow those of the audit itself.
    audit.findings.sort_by_key(|finding| finding.from);
    if !matches!(check, CanaryCheck::Ok | CanaryCheck::Unreliable) {
        let end = (0..=KEPT_REPLY.min(reply.len())).rev().find(|end| reply.is_char_boundary(*end));
        audit.reply = Some(reply.head(end.unwrap_or_default()).to_owned());
    }
    if plan.base_risk() > audit.risk {
        raise(&mut audit, Floor::Base, plan.base_risk());
    }
    decide(&mut audit);
    audit
}

fn raise(audit: &mut Audit, floor: Floor, risk: Risk) {
    audit.floors.insert(floor);
    audit.risk = audit.risk.max(risk);
}

fn files(plan: &AuditPlan<'_>) -> Vec<AuditedFile> {
    let files = plan.files.iter().map(|planned| AuditedFile {
        path: planned.file.path.to_owned(),
        digest: planned.file.digest,
        state: planned.state,
    });
    files.collect()
}

fn add_partial(audit: &mut Audit, plan: &AuditPlan<'_>) {
    if plan.files.iter().any(PlannedFile::is_partial) {
        raise(audit, Floor::Partial, Risk::High);
    }
}

/// Lists each masked place of a file that can run or reaches a prompt: code can look like a key.
fn add_masks(audit: &mut Audit, plan: &AuditPlan<'_>, planted: &PlantedText) {
    for (index, planned) in plan.sent().enumerate().filter(|(_, planned)| planned.matters) {
        let lines = planned.lines();
        let early =
            planned.masks.iter().map(|mask| (mask.raw.len(), &mask.kind, Some(lines.line(mask.raw.start))));
        let late = planted.masks.iter().filter(|mask| mask.file == index);
        for (bytes, kind, line) in early.chain(late.map(|mask| (mask.bytes, &mask.kind, None))) {
            raise(audit, Floor::Masked, if bytes > LONG_MASK { Risk::High } else { Risk::Medium });
            audit.findings.push(masked(planned.file.path, line, bytes, kind));
        }
    }
}

/// Adds the reply of a model that reported both canaries.
fn add_reply(audit: &mut Audit, plan: &AuditPlan<'_>, planted: &PlantedText, fields: &ReplyFields) {
    let line = |text: &String| escape::line(text).into_owned();
    audit.model_risk = Some(fields.risk);
    audit.risk = audit.risk.max(fields.risk);
    audit.verdict = fields.verdict;
    audit.reason = fields.reason.as_ref().map(line);
    audit.summary = fields.summary.as_ref().map(line);
    audit.description_accurate = Some(fields.description_accurate);
    audit.capabilities = fields.capabilities.iter().map(line).collect();
    audit.risk_reasons = fields.risk_reasons.iter().map(line).collect();
    if !fields.description_accurate {
        raise(audit, Floor::Description, Risk::Medium);
    }
    for entry in &fields.injections {
        let Some(excerpt) = real_injection(plan, planted, entry) else { continue };
        let place = locate(plan, "", &excerpt);
        audit.injections.push(AuditInjection {
            path: place.as_ref().map(|place| place.path.clone()),
            line: place.and_then(|place| place.line),
            excerpt: line(&cut(&excerpt, EXCERPT)),
            reason: line(&cut(&entry.reason, EXCERPT)),
        });
        raise(audit, Floor::Injection, Risk::High);
    }
    if fields.findings.iter().any(|finding| finding.severity == Severity::Danger) {
        raise(audit, Floor::ModelDanger, Risk::High);
    }
    fields.findings.iter().for_each(|finding| merge(&mut audit.findings, plan, finding));
}

/// Lowers the verdict to the best one that the risk, the scan and the canaries permit.
fn decide(audit: &mut Audit) {
    let is_danger = audit
        .findings
        .iter()
        .any(|finding| finding.from == crate::FindingAuthor::Scan && finding.severity == Severity::Danger);
    let (best, reason) = match audit.canary {
        Some(CanaryCheck::Compromised) => (AuditVerdict::Reject, "the model did not report both canaries"),
        Some(CanaryCheck::NotChecked) => {
            (AuditVerdict::Reject, "the reply of the model is not one JSON object")
        }
        _ if is_danger => (AuditVerdict::Reject, "the scan found a danger"),
        _ if audit.risk == Risk::Critical => (AuditVerdict::Reject, "the risk is CRITICAL"),
        _ if audit.risk == Risk::High => (AuditVerdict::ApproveWithConditions, "the risk is HIGH"),
        _ => return,
    };
    if audit.verdict < best {
        audit.verdict = best;
        audit.reason = Some(reason.to_owned());
    }
}
