//! `plugward audit`: a language model reads plugins, and canaries check that it did.

mod changed;
mod model;
mod render;

use plugward_loader::deep_audit::{
    Audit, AuditError, AuditPlan, AuditSubject, deep_audit, plant, static_audit,
};
use plugward_loader::pinstore::{AuditKind, Pin, Risk};
use plugward_loader::{
    ApprovalStore, AuditRecords, CheckMode, DecisionError, Finding, PinStore, PluginReport, Record, Severity,
    Subject, TreeAudits, Trust, audited_bytes, escape,
};

use crate::args::{AuditArgs, FindArgs, IdArgs, ListFormat};
use crate::failure::Failure;
use crate::host::{self, Host};
use crate::json;
use crate::out::Out;
use crate::prompt::confirm;
use crate::settings::Settings;
use crate::stores;
use crate::verbs::decide::not_stored;
use crate::verbs::shared::{self, PluginBytes, SelectedPlugin};
pub(crate) use model::{Auditor, SystemRandom};
use render::{AuditView, AuditsView, PlanView, Rendering, thousands};

/// The exit codes of several plugins: the first that occurs applies.
const EXITS: [u8; 7] = [7, 4, 6, 5, 2, 1, 3];

/// A plugin to audit.
struct AuditCase {
    /// Its name for a terminal.
    shown: String,
    plugin: PluginReport,
    subject: Subject,
    /// The findings that are not suppressed.
    findings: Vec<Finding>,
}

impl AuditCase {
    fn new(selected: SelectedPlugin) -> Result<Self, Failure> {
        let SelectedPlugin { shown, plugin, subject, .. } = selected;
        let subject = subject.ok_or_else(|| {
            let code = plugin.reasons.first().map_or("tree/problem", |reason| reason.code.as_str());
            Failure::refused(format!("{shown} cannot be digested, so there is nothing to audit"))
                .code(code)
                .help(format!("plugward explain {}", shared::quoted(&shown)))
        })?;
        let findings = plugin.open_findings().cloned().collect();
        Ok(Self { shown, plugin, subject, findings })
    }

    fn has_danger(&self) -> bool {
        self.findings.iter().any(|finding| finding.severity == Severity::Danger)
    }

    fn static_risk(&self) -> Risk {
        Risk::of_findings(&self.findings)
    }

    /// Returns the exit code for a risk.
    fn exit(&self, risk: Risk, max: Risk) -> u8 {
        match risk > max {
            _ if self.has_danger() => 6,
            true => 5,
            false => 0,
        }
    }
}

pub(crate) fn run(args: &AuditArgs, host: &Host, out: &mut Out) -> Result<u8, Failure> {
    let settings = Settings::read(host)?;
    // A missing model is reported before anything is read.
    let auditor = if args.after_scan { None } else { Some(Auditor::of(&settings)?) };
    let ids = if args.changed { changed::ids(args, host, out)? } else { args.ids.clone() };
    let (mut cases, mut exits) = (Vec::new(), Vec::new());
    for id in ids {
        let named = IdArgs { id, dirs: args.dirs.clone() };
        let plugin = FindArgs { named, finding: args.finding.clone() };
        match AuditCase::new(shared::find(&plugin, Some(Trust::Tofu), PluginBytes::Keep, host, out)?) {
            Ok(case) => cases.push(case),
            // The other plugins are audited all the same.
            Err(failure) => exits.push(complain(&failure, out)),
        }
    }
    let rules = settings.rules_digest()?;
    let mut subjects = Vec::new();
    for case in &cases {
        let subject = case.subject.audit_subject(&case.findings, rules);
        subjects.push((case, subject.ok_or_else(|| not_scanned(case))?));
    }
    let report = AuditReport { args, max: settings.max_risk, exits, views: Vec::new() };
    match &auditor {
        Some(auditor) => ask(auditor, &subjects, report, host, out),
        None => scan_only(&subjects, report, out),
    }
}

fn not_scanned(case: &AuditCase) -> Failure {
    Failure::internal(format!("{} could not be scanned, so it cannot be audited", case.shown))
        .code("scan/error")
        .help(format!("plugward explain {}", shared::quoted(&case.shown)))
}

/// Prints a failure and returns its exit code.
fn complain(failure: &Failure, out: &Out) -> u8 {
    out.complain(failure.render(out.width).trim_end());
    failure.exit()
}

/// The audits of a command so far.
struct AuditReport<'a> {
    args: &'a AuditArgs,
    max: Risk,
    exits: Vec<u8>,
    views: Vec<AuditView<'a>>,
}

impl<'a> AuditReport<'a> {
    fn add(
        &mut self,
        case: &'a AuditCase,
        plan: Option<PlanView<'a>>,
        found: FoundAudit,
        out: &mut Out,
    ) -> Result<(), Failure> {
        let FoundAudit { audit, record, counted } = found;
        self.exits.push(case.exit(counted, self.max));
        if self.args.format == ListFormat::Table {
            let typed = shared::as_typed(&self.args.finding);
            let rendering = Rendering {
                case,
                audit: &audit,
                record: record.as_deref(),
                counted,
                max: self.max,
                typed: &typed,
                width: out.width,
            };
            let before = if self.views.is_empty() { "" } else { "\n" };
            out.result(&format!("{before}{}", rendering.text()))?;
        }
        self.add_view(case, plan, record, Some(audit));
        Ok(())
    }

    fn add_view(
        &mut self,
        case: &'a AuditCase,
        plan: Option<PlanView<'a>>,
        record: Option<String>,
        audit: Option<Audit>,
    ) {
        self.views.push(AuditView { id: &case.shown, record, max_risk: self.max.as_str(), plan, audit });
    }

    /// Prints the JSON form, and returns the exit code.
    fn finish(self, out: &mut Out) -> Result<u8, Failure> {
        if self.args.format == ListFormat::Json {
            out.result(&json::render(&AuditsView { version: 1, audits: self.views })?)?;
        }
        Ok(EXITS.into_iter().find(|exit| self.exits.contains(exit)).unwrap_or(0))
    }
}

/// An audit with its record, and the highest risk of all audits of the same contents.
struct FoundAudit {
    audit: Audit,
    record: Option<String>,
    counted: Risk,
}

fn scan_only<'a>(
    cases: &'a [(&'a AuditCase, AuditSubject<'a>)],
    mut report: AuditReport<'a>,
    out: &mut Out,
) -> Result<u8, Failure> {
    let now = host::now()?;
    for (case, subject) in cases {
        let audit = static_audit(subject, now);
        let counted = audit.risk;
        report.add(case, None, FoundAudit { audit, record: None, counted }, out)?;
    }
    report.finish(out)
}

/// Asks the model about each plugin, or prints what would be asked.
fn ask<'a>(
    auditor: &'a Auditor,
    cases: &'a [(&'a AuditCase, AuditSubject<'a>)],
    report: AuditReport<'a>,
    host: &Host,
    out: &mut Out,
) -> Result<u8, Failure> {
    let args = report.args;
    let approvals = stores::approvals(host)?;
    let pins = stores::pins(host, CheckMode::LookOnly, out)?;
    let mut plans = Vec::new();
    for (case, subject) in cases {
        let stored = stored(approvals.audits(), subject)?;
        let stored = stored.as_ref().filter(|stored| {
            args.reuse && stored.intact().iter().any(|audit| audit.is_reusable(subject, &auditor.id))
        });
        let reused = stored.and_then(|stored| stored.deciding(&subject.bytes)).cloned();
        let base = if args.full { None } else { base(&case.subject, &approvals, &pins)? };
        let (limits, firewall) = (&auditor.limits, &auditor.firewall);
        let plan = AuditPlan::new(subject, auditor.id.clone(), base.as_ref(), limits, firewall);
        plans.push((*case, plan, reused));
    }
    if args.dry_run {
        return preview(auditor, &plans, report, out);
    }
    let tokens = plans.iter().filter(|(.., reused)| reused.is_none()).map(|(_, plan, _)| plan.tokens()).sum();
    if !args.yes && !may_send(tokens, auditor, host, out)? {
        out.say("Nothing was sent.");
        return Ok(3);
    }
    let to = AuditStores {
        records: stores::audits_to_write(host)?,
        record: stores::record(host, None)?,
        approvals: &approvals,
    };
    send(auditor, &plans, &to, report, out)
}

/// Sends the requests, and stores the audits.
fn send<'a>(
    auditor: &'a Auditor,
    plans: &'a [(&'a AuditCase, AuditPlan<'a>, Option<Audit>)],
    to: &AuditStores<'_>,
    mut report: AuditReport<'a>,
    out: &mut Out,
) -> Result<u8, Failure> {
    // A reply that cannot be recorded would be lost, so nothing is sent then.
    if let Some(failure) = to.record.failure() {
        return Err(not_stored(&DecisionError::Record(failure.clone())));
    }
    for (case, plan, reused) in plans {
        let view = PlanView::of(plan, auditor);
        if let Some(audit) = reused {
            report.add(case, Some(view), to.found(case, audit.clone())?, out)?;
            continue;
        }
        if plan.sent_files() > 0 {
            out.say(&view.sentence(&case.shown));
        }
        match deep_audit(plan, &*auditor.model, &auditor.firewall, &mut SystemRandom, host::now()?) {
            Ok(audit) => {
                to.store(case, &audit)?;
                report.add(case, Some(view), to.found(case, audit)?, out)?;
            }
            Err(error) => {
                report.exits.push(complain(&no_reply(case, &error), out));
                report.add_view(case, Some(view), None, None);
            }
        }
    }
    report.finish(out)
}

/// Prints what would be sent.
fn preview<'a>(
    auditor: &'a Auditor,
    plans: &'a [(&'a AuditCase, AuditPlan<'a>, Option<Audit>)],
    mut report: AuditReport<'a>,
    out: &mut Out,
) -> Result<u8, Failure> {
    for (case, plan, reused) in plans {
        let view = PlanView::of(plan, auditor);
        if report.args.format == ListFormat::Table {
            let kept = if reused.is_some() { " (a stored audit would be used)" } else { "" };
            out.result(&format!("{}{kept}\n", view.sentence(&case.shown)))?;
            plan.left_out()
                .try_for_each(|path| out.result(&format!("  left out: {}\n", escape::line(path))))?;
            if out.loudness > 0 && plan.sent_files() > 0 {
                let planted = plant(plan, &auditor.firewall, &mut SystemRandom)
                    .map_err(|error| no_reply(case, &error))?;
                let text = format!("{}\n{}", planted.instructions(), planted.text());
                out.result(&format!("\n{}\n", escape::block(&text)))?;
            }
        }
        report.add_view(case, Some(view), None, None);
    }
    report.finish(out)
}

fn no_reply(case: &AuditCase, error: &AuditError) -> Failure {
    Failure::internal(format!("{} was not audited: {error}", case.shown))
        .code(error.code())
        .help(error.help())
}

/// Returns `true` if the requests may be sent. Expensive ones need a confirmation.
fn may_send(tokens: usize, auditor: &Auditor, host: &Host, out: &Out) -> Result<bool, Failure> {
    if u64::try_from(tokens).unwrap_or(u64::MAX) < auditor.confirm_tokens {
        return Ok(true);
    }
    let what = format!("The audit sends about {} tokens to {}.", thousands(tokens), auditor.host);
    if !host.interactive {
        return Err(Failure::exiting(3, "the audit needs a confirmation, because it is expensive")
            .code("audit/too-costly")
            .note("note", what)
            .help("confirm it on the command line: --yes"));
    }
    confirm(&what, "Send it?", host, out)
}

/// The places for a new audit.
struct AuditStores<'a> {
    records: AuditRecords,
    record: Record,
    approvals: &'a ApprovalStore,
}

impl AuditStores<'_> {
    /// Stores an audit if a model replied.
    fn store(&self, case: &AuditCase, audit: &Audit) -> Result<(), Failure> {
        if audit.kind == AuditKind::Static {
            return Ok(());
        }
        let stored =
            self.records.store(case.subject.key(), audit, &self.approvals.named_audits(), &self.record);
        stored.map_err(|error| not_stored(&error))
    }

    /// Returns an audit with the risk that counts.
    fn found(&self, case: &AuditCase, audit: Audit) -> Result<FoundAudit, Failure> {
        if audit.kind == AuditKind::Static {
            return Ok(FoundAudit { counted: audit.risk, record: None, audit });
        }
        let bytes = audited_bytes(case.subject.facts());
        let all = self.records.of_tree(&bytes.tree).map_err(|failure| shared::store_failure(&failure))?;
        let counted = all.risk(&bytes).map_or(audit.risk, |counted| counted.max(audit.risk));
        // A suppression that was removed since a reused audit raises the risk.
        let counted = counted.max(case.static_risk());
        Ok(FoundAudit { counted, record: Some(audit.digest().to_string()), audit })
    }
}

fn stored(records: Option<&AuditRecords>, subject: &AuditSubject<'_>) -> Result<Option<TreeAudits>, Failure> {
    let stored = records.map(|records| records.of_tree(&subject.bytes.tree)).transpose();
    stored.map_err(|failure| shared::store_failure(&failure))
}

/// Returns the full audit that an update is compared with: the one that the audit of the approved or else of the pinned
/// version is, or names. So many small updates are all compared with the same audit.
fn base(subject: &Subject, approvals: &ApprovalStore, pins: &PinStore) -> Result<Option<Audit>, Failure> {
    let Some(records) = approvals.audits() else { return Ok(None) };
    let find = |digest| records.find(digest).map_err(|failure| shared::store_failure(&failure));
    let approval = approvals.approvals().and_then(|approvals| approvals.get(subject.key()));
    let mut audit = approval.map_or(Ok(None), |approval| find(&approval.audit))?;
    let pinned = pins.pins().and_then(|pins| pins.get(subject.key())).and_then(Pin::latest);
    if let (None, Some(pinned)) = (&audit, pinned) {
        let bytes = audited_bytes(&pinned.facts);
        let all = records.of_tree(&bytes.tree).map_err(|failure| shared::store_failure(&failure))?;
        audit = all.deciding(&bytes).cloned();
    }
    let base = match audit.as_ref().and_then(|audit| audit.base) {
        Some(base) => find(&base)?,
        None => audit,
    };
    let Some(base) = base else { return Ok(None) };
    // Asking again about the base can have found a higher risk.
    let all = records.of_tree(&base.tree).map_err(|failure| shared::store_failure(&failure))?;
    let counted = all.deciding(&base.bytes()).cloned();
    // If the record with the highest risk is lost, everything is sent.
    Ok(counted.filter(|counted| all.risk(&base.bytes()) == Some(counted.risk)))
}
