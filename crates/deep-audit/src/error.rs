//! The error of an audit, and every code that this crate emits.

use plugward_redact::TransportError;
use thiserror::Error;

/// Every code that this crate emits, with its help. Findings of audits have such codes in place of a rule.
pub const CODES: &[(&str, &str)] = &[
    (
        "audit/compromised",
        "do not approve the plugin on this audit: the model did not report both canaries, so its reply is not used; audit it again, or with another model",
    ),
    (
        "audit/damaged",
        "audit the plugin again; the record was changed or cut off, or a newer plugward wrote it, so it does not count",
    ),
    ("audit/masked", "read the file yourself: the model did not see the masked text"),
    ("audit/no-key", "set the variable that audit.api_key_env names to a key of printable ASCII characters"),
    ("audit/no-randomness", "try again; nothing was sent, because the system supplied no random bytes"),
    (
        "audit/not-planted",
        "read the plugin yourself; nothing was sent, because redaction removes every canary",
    ),
    (
        "audit/unparseable",
        "read the plugin yourself, or audit it with another model: the reply is not one JSON object, or some of its findings cannot be read",
    ),
    (
        "audit/unreliable",
        "audit the plugin with another model: it reported an identifier that is not in the request",
    ),
];

/// The error of an audit without a result. There is no record then.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error(transparent)]
pub struct AuditError {
    kind: AuditErrorKind,
}

/// The reason of an [`AuditError`].
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum AuditErrorKind {
    /// The random source failed, or supplied the same bytes twice.
    #[error("the system supplied no random bytes")]
    NoRandomness,
    /// Redaction removed a canary or a boundary at each attempt.
    #[error("redaction removes every canary from the request")]
    NotPlanted,
    /// The model did not reply.
    #[error(transparent)]
    Transport(TransportError),
}

impl From<AuditErrorKind> for AuditError {
    fn from(kind: AuditErrorKind) -> Self {
        Self { kind }
    }
}

impl AuditError {
    /// Returns the reason.
    #[must_use]
    pub const fn kind(&self) -> &AuditErrorKind {
        &self.kind
    }

    /// Returns the stable code.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match &self.kind {
            AuditErrorKind::NoRandomness => "audit/no-randomness",
            AuditErrorKind::NotPlanted => "audit/not-planted",
            AuditErrorKind::Transport(error) => error.code(),
        }
    }

    /// Returns the next step for the user.
    #[must_use]
    pub fn help(&self) -> &'static str {
        match &self.kind {
            AuditErrorKind::Transport(error) => error.help(),
            AuditErrorKind::NoRandomness | AuditErrorKind::NotPlanted => help(self.code()),
        }
    }
}

/// Returns the help of a code of this crate.
pub(crate) fn help(code: &str) -> &'static str {
    CODES.iter().find(|(listed, _)| *listed == code).map_or("", |(_, help)| help)
}
