//! Audits and their stored form: canonical JSON, named by its digest.

use std::collections::{BTreeMap, BTreeSet};

use plugward_types::{AuditKind, AuditVerdict, Digest, Risk, Severity, Timestamp, TreeDigest};
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use thiserror::Error;

use crate::error;
use crate::subject::{AuditSubject, AuditedBytes, AuditedFile, AuditorId};
use crate::text;

/// The version of the format.
pub(crate) const VERSION: u32 = 1;
/// The most bytes of a record.
const MOST_BYTES: usize = 8 << 20;
/// The records of a tree that are kept besides approved ones and the one that counts.
pub const KEPT_AUDITS: usize = 8;

/// The part of a plugin that an audit saw.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[expect(clippy::exhaustive_enums, reason = "a new scope must be shown by every host")]
pub enum AuditScope {
    /// Everything.
    Full,
    /// The difference to the base.
    Update,
}

/// The result of the canary check.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[must_use]
#[expect(clippy::exhaustive_enums, reason = "a new result must be shown by every host")]
pub enum CanaryCheck {
    /// The reply reports both canaries.
    Ok,
    /// The reply does not report both canaries.
    Compromised,
    /// The reply reports both, and an identifier that is not in the request.
    Unreliable,
    /// The reply could not be read.
    NotChecked,
}

/// A rule that raised the risk of an audit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[expect(clippy::exhaustive_enums, reason = "a new floor must be shown by every host")]
pub enum Floor {
    /// Only the base of the update has this risk.
    Base,
    /// The model did not report both canaries.
    Compromised,
    /// The description does not match the code.
    Description,
    /// A text of the plugin tries to influence the audit.
    Injection,
    /// Redaction changed a file that runs or reaches a prompt.
    Masked,
    /// The model reports a danger.
    ModelDanger,
    /// A file that matters was not sent.
    Partial,
    /// The reply, or a part of its findings, could not be read.
    Unparseable,
    /// The reply has an invented identifier.
    Unreliable,
}

/// The author of a finding, in the order of a report.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[expect(clippy::exhaustive_enums, reason = "a new author must be shown by every host")]
pub enum FindingAuthor {
    /// A rule of the scanner.
    Scan,
    /// The audit itself.
    Audit,
    /// The model.
    Model,
}

/// A finding of an audit. The message is escaped; the path is not.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(clippy::exhaustive_structs, reason = "part of the stored format")]
pub struct AuditFinding {
    /// The author.
    pub from: FindingAuthor,
    /// The rule of the scan, or the code of the audit.
    pub rule: Option<String>,
    /// The severity.
    #[serde(with = "text")]
    pub severity: Severity,
    /// The file, if it is known.
    pub path: Option<String>,
    /// The line of the file, if it is known.
    pub line: Option<u32>,
    /// The risk, in one line.
    pub message: String,
    /// Whether the model reports the same place.
    pub also_model: bool,
}

/// A text that tries to influence the audit, as the model reports it. Excerpt and reason are escaped.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(clippy::exhaustive_structs, reason = "part of the stored format")]
pub struct AuditInjection {
    /// The file that contains the excerpt.
    pub path: Option<String>,
    /// The line of the file.
    pub line: Option<u32>,
    /// The text.
    pub excerpt: String,
    /// The reason of the model.
    pub reason: String,
}

/// The result of an audit. Texts of the model are escaped.
///
/// # Guarantees
/// [`Audit::to_json`] has one text per value, so that its digest names the audit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(missing_docs, reason = "the fields are those of the stored format, and named for their content")]
#[non_exhaustive]
pub struct Audit {
    pub version: u32,
    #[serde(with = "text")]
    pub kind: AuditKind,
    pub scope: AuditScope,
    #[serde(with = "text::optional")]
    pub base: Option<Digest>,
    #[serde(with = "text")]
    pub tree: TreeDigest,
    #[serde(with = "text::map")]
    pub shared: BTreeMap<String, TreeDigest>,
    #[serde(with = "text::optional")]
    pub entry: Option<Digest>,
    #[serde(with = "text")]
    pub rules: Digest,
    pub auditor: Option<AuditorId>,
    #[serde(with = "text")]
    pub at: Timestamp,
    pub canary: Option<CanaryCheck>,
    #[serde(with = "text")]
    pub risk: Risk,
    #[serde(with = "text::optional")]
    pub model_risk: Option<Risk>,
    pub floors: BTreeSet<Floor>,
    #[serde(with = "text")]
    pub verdict: AuditVerdict,
    pub reason: Option<String>,
    pub summary: Option<String>,
    pub description_accurate: Option<bool>,
    pub capabilities: Vec<String>,
    pub risk_reasons: Vec<String>,
    pub tokens: u64,
    pub reply: Option<String>,
    pub injections: Vec<AuditInjection>,
    pub findings: Vec<AuditFinding>,
    pub files: Vec<AuditedFile>,
}

/// The base of an update.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct AuditBase {
    pub(crate) digest: Digest,
    pub(crate) risk: Risk,
}

/// A record that does not count, because it is not one that [`Audit::to_json`] wrote.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[error("the record of the audit is damaged")]
#[non_exhaustive]
pub struct AuditRecordError;

impl AuditRecordError {
    /// Returns the stable code.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        "audit/damaged"
    }

    /// Returns the next step for the user.
    #[must_use]
    pub fn help(&self) -> &'static str {
        error::help(self.code())
    }
}

impl Audit {
    /// Returns the canonical JSON.
    #[must_use]
    pub fn to_json(&self) -> String {
        // Every value of the struct is representable, so writing to memory cannot fail.
        serde_json::to_string(self).unwrap_or_default()
    }

    /// Reads a record.
    ///
    /// # Errors
    /// `audit/damaged` if the record is not canonical, has another version, or has more than 8 MiB.
    pub fn parse(bytes: &[u8]) -> Result<Self, AuditRecordError> {
        let parsed =
            (bytes.len() <= MOST_BYTES).then(|| serde_json::from_slice::<Self>(bytes).ok()).flatten();
        let is_canonical = |audit: &Self| audit.version == VERSION && audit.to_json().as_bytes() == bytes;
        parsed.filter(is_canonical).ok_or(AuditRecordError)
    }

    /// Returns the SHA-256 digest of the canonical JSON, which names the audit.
    #[must_use]
    pub fn digest(&self) -> Digest {
        Digest::from_bytes(Sha256::digest(self.to_json()).into())
    }

    /// Returns the contents that the audit is about.
    #[must_use]
    pub fn bytes(&self) -> AuditedBytes {
        AuditedBytes { tree: self.tree, shared: self.shared.clone(), entry: self.entry }
    }

    /// Returns `true` if the audit is about these contents.
    #[must_use]
    pub fn is_about(&self, bytes: &AuditedBytes) -> bool {
        self.tree == bytes.tree && self.shared == bytes.shared && self.entry == bytes.entry
    }

    /// Returns `true` if asking the same model again would send the same request: a deep audit of the same contents, with
    /// the same rules, client, model and instructions.
    #[must_use]
    pub fn is_reusable(&self, subject: &AuditSubject<'_>, auditor: &AuditorId) -> bool {
        self.is_about(&subject.bytes) && self.has_terms(subject, auditor)
    }

    /// Returns `true` if an update can be compared with this audit.
    pub(crate) fn is_comparable(&self, subject: &AuditSubject<'_>, auditor: &AuditorId) -> bool {
        self.has_terms(subject, auditor)
            && self.scope == AuditScope::Full
            && self.canary == Some(CanaryCheck::Ok)
            && !self.floors.contains(&Floor::Partial)
    }

    fn has_terms(&self, subject: &AuditSubject<'_>, auditor: &AuditorId) -> bool {
        self.kind == AuditKind::Deep && self.rules == subject.rules && self.auditor.as_ref() == Some(auditor)
    }

    pub(crate) fn as_base(&self) -> AuditBase {
        AuditBase { digest: self.digest(), risk: self.risk }
    }
}

/// Returns the deep audit of some contents that counts: the one with the highest risk, and the newest of those.
///
/// Asking a model again can therefore not lower the risk.
#[must_use]
pub fn deciding_audit<'r>(
    audits: impl IntoIterator<Item = &'r Audit>,
    bytes: &AuditedBytes,
) -> Option<&'r Audit> {
    let of_bytes = audits.into_iter().filter(|audit| audit.kind == AuditKind::Deep && audit.is_about(bytes));
    of_bytes.max_by_key(|audit| (audit.risk, audit.at))
}

/// Returns the audits of one tree that can be deleted: all but the newest 8, the approved ones, and the deciding one of
/// each contents.
#[must_use]
pub fn superseded<'r>(audits: &'r [Audit], approved: &BTreeSet<Digest>) -> Vec<&'r Audit> {
    let mut newest: Vec<&Audit> = audits.iter().collect();
    newest.sort_by_key(|audit| core::cmp::Reverse(audit.at));
    let decides = |audit: &Audit| deciding_audit(audits, &audit.bytes()) == Some(audit);
    let is_kept = |audit: &Audit| approved.contains(&audit.digest()) || decides(audit);
    newest.into_iter().skip(KEPT_AUDITS).filter(|audit| !is_kept(audit)).collect()
}
