//! Audits and approvals of a session: kept audits, the model with `--send`, and the decisions of the user.

use plugward_loader::deep_audit::{Audit, AuditPlan, AuditedBytes, CanaryCheck, deep_audit};
use plugward_loader::pinstore::{ApproveOutcome, AuditKind, ReviewedDigests};
use plugward_loader::{
    ApprovalRequest, AuditRecords, ByteRetention, Finding, PluginKey, ReviewedAudit, Subject, audited_bytes,
    contents_of, unapprove,
};

use super::answer::Fault;
use super::catalog::{Catalog, CatalogEntry};
use crate::failure::Failure;
use crate::host;
use crate::out::Out;
use crate::stores;
use crate::verbs::audit::SystemRandom;
use crate::verbs::decide::not_stored;
use crate::verbs::shared;

/// The audit by a model of some contents that has the highest risk.
#[derive(Debug, Default)]
pub(super) struct KeptAudit {
    pub(super) audit: Option<Audit>,
}

impl KeptAudit {
    pub(super) fn of(records: &AuditRecords, bytes: &AuditedBytes) -> Result<Self, Failure> {
        let all = records.of_tree(&bytes.tree).map_err(|failure| shared::store_failure(&failure))?;
        Ok(Self { audit: all.deciding(bytes).cloned() })
    }

    /// Returns the client and model, and the fault of the canary check.
    pub(super) fn canaries(&self) -> Option<(String, Option<Fault>)> {
        let audit = self.audit.as_ref()?;
        let auditor = audit.auditor.as_ref().map(|id| format!("{} {}", id.client(), id.model()));
        let fault = match audit.canary {
            Some(CanaryCheck::Ok | CanaryCheck::Unreliable) => None,
            Some(CanaryCheck::Compromised) => {
                Some(Fault::new("audit/compromised", "the model did not report both canaries"))
            }
            Some(CanaryCheck::NotChecked) | None => {
                Some(Fault::new("audit/unparseable", "the reply of the model is not one JSON object"))
            }
        };
        Some((auditor.unwrap_or_default(), fault))
    }
}

impl Catalog<'_> {
    /// Lets the model read a plugin without an approval and a kept audit, if `--send` permits it.
    pub(super) fn ask_before(&mut self, key: &PluginKey, out: &Out) -> Result<Result<(), Fault>, Failure> {
        if self.entry(key).is_ok_and(CatalogEntry::is_approved) { Ok(Ok(())) } else { self.ask(key, out) }
    }

    /// Lets the model read a plugin without a kept audit, if `--send` permits it.
    pub(super) fn ask(&mut self, key: &PluginKey, out: &Out) -> Result<Result<(), Fault>, Failure> {
        let is_kept = self.entry(key).is_ok_and(|entry| entry.kept.audit.is_some());
        let Some(auditor) = self.auditor.as_ref().filter(|_| !is_kept) else { return Ok(Ok(())) };
        let looked = self.look(ByteRetention::Of(key.clone()), out)?;
        let Some(plugin) = looked.report.plugins.iter().find(|plugin| plugin.key == *key) else {
            return Ok(Err(Fault::new("session/plugin", "the directory of the plugin is gone")));
        };
        let findings: Vec<Finding> = plugin.open_findings().cloned().collect();
        let rules = self.settings.rules_digest()?;
        let subject = looked.subjects.get(&plugin.place);
        let Some((subject, audited)) =
            subject.and_then(|subject| Some((subject, subject.audit_subject(&findings, rules)?)))
        else {
            return Ok(Err(Fault::new("scan/error", "the plugin could not be scanned")));
        };
        let plan = AuditPlan::new(&audited, auditor.id.clone(), None, &auditor.limits, &auditor.firewall);
        let sent = self.sent_tokens.saturating_add(u64::try_from(plan.tokens()).unwrap_or(u64::MAX));
        if sent >= auditor.confirm_tokens && !self.args.yes {
            let message =
                format!("the audits of this session would send about {sent} tokens; start it with --yes");
            return Ok(Err(Fault::new("audit/too-costly", message)));
        }
        let record = stores::record(self.host, None)?;
        if let Some(failure) = record.failure() {
            return Err(not_stored(&plugward_loader::DecisionError::Record(failure.clone())));
        }
        let audit = deep_audit(&plan, &*auditor.model, &auditor.firewall, &mut SystemRandom, host::now()?);
        self.sent_tokens = sent;
        match audit {
            Ok(audit) if audit.kind == AuditKind::Deep => {
                let named = stores::approvals(self.host)?.named_audits();
                let stored =
                    stores::audits_to_write(self.host)?.store(subject.key(), &audit, &named, &record);
                stored.map_err(|error| not_stored(&error))?;
            }
            // Without text there is nothing to ask about.
            Ok(_) => return Ok(Ok(())),
            Err(error) => return Ok(Err(Fault::new(error.code(), error.to_string()))),
        }
        self.refresh(out)?;
        Ok(Ok(()))
    }

    /// Approves the contents that the audit with a digest is about. Only the audit that `audit` prints is accepted.
    pub(super) fn approve(
        &mut self,
        key: &PluginKey,
        digest: &str,
        out: &Out,
    ) -> Result<Result<(), Fault>, Failure> {
        let not_audited =
            || Fault::new("approval/not-audited", "the digest is not that of the present audit");
        let looked = self.look(ByteRetention::Nothing, out)?;
        let plugin = looked.report.plugins.iter().find(|plugin| plugin.key == *key);
        let Some((plugin, subject)) =
            plugin.and_then(|plugin| Some((plugin, looked.subjects.get(&plugin.place)?)))
        else {
            return Ok(Err(Fault::new("session/plugin", "the directory of the plugin is gone")));
        };
        let outcome = {
            let entry = match self.entry(key) {
                Ok(entry) => entry,
                Err(fault) => return Ok(Err(fault)),
            };
            if entry.digest.to_string() != digest
                || contents_of(plugin).as_ref() != Some(&entry.audit.contents)
            {
                return Ok(Err(not_audited()));
            }
            let wanted = ReviewedDigests::wanted(subject.facts(), None);
            let reviewed =
                entry.kept.audit.as_ref().map_or(ReviewedAudit::Static(&wanted), ReviewedAudit::Deep);
            let by = host::user();
            let request = ApprovalRequest {
                plugin,
                subject,
                reviewed,
                rules: self.settings.rules_digest()?,
                max: self.settings.max_risk,
                by: &by,
                now: host::now()?,
            };
            let mut approvals = stores::approvals_to_write(self.host)?;
            plugward_loader::approve(&request, &mut approvals, &stores::record(self.host, None)?)
                .map_err(|error| not_stored(&error))?
        };
        let dangers = self.entry(key).map_or(0, |entry| entry.audit.dangers);
        let fault = match outcome {
            ApproveOutcome::Stored => None,
            ApproveOutcome::NotAudited => Some(not_audited()),
            _ if dangers > 0 => Some(Fault::new("scan/danger", "the scan found a danger")),
            ApproveOutcome::Risk { risk, max } => {
                let message = format!("the risk is {}, above {}", risk.as_str(), max.as_str());
                Some(Fault::new("approval/risk", message))
            }
            ApproveOutcome::Rejected => {
                Some(Fault::new("approval/rejected", "the audit advises against the plugin"))
            }
        };
        self.refresh(out)?;
        Ok(fault.map_or(Ok(()), Err))
    }

    pub(super) fn unapprove(&mut self, key: &PluginKey, out: &Out) -> Result<(), Failure> {
        let called = self.entry(key).map(|entry| entry.report.called.clone()).unwrap_or_default();
        let mut approvals = stores::approvals_to_write(self.host)?;
        let outcome = unapprove(key, &called, &mut approvals, &stores::record(self.host, None)?);
        let _was_approved = outcome.map_err(|error| not_stored(&error))?;
        self.refresh(out)
    }
}

/// Returns the contents that audits of a plugin are about.
pub(super) fn bytes_of(subject: Option<&Subject>) -> Option<AuditedBytes> {
    subject.map(|subject| audited_bytes(subject.facts()))
}
