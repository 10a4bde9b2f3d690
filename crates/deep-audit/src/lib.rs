#![doc = include_str!("../README.md")]

mod canary;
mod check;
mod error;
#[cfg(feature = "http")]
mod http;
mod json;
mod judge;
mod mentions;
mod merge;
mod place;
mod plan;
mod record;
mod reply;
mod request;
mod subject;
mod text;

pub use canary::{Canary, PlantedText, Randomness, plant};
pub use check::check_canaries;
pub use error::{AuditError, AuditErrorKind, CODES};
#[cfg(feature = "http")]
pub use http::{HttpModel, ModelClient, ModelClock, ModelServer, ModelServerError};
pub use judge::{deep_audit, judge, static_audit};
pub use plan::AuditPlan;
pub use plugward_redact as redact;
pub use plugward_types as types;
pub use record::{
    Audit, AuditFinding, AuditInjection, AuditRecordError, AuditScope, CanaryCheck, FindingAuthor, Floor,
    KEPT_AUDITS, deciding_audit, superseded,
};
pub use reply::{ParsedReply, ReplyFields, ReplyFinding, ReplyInjection, parse_reply};
pub use request::reply_schema;
pub use subject::{
    AuditClaim, AuditFile, AuditLimits, AuditSubject, AuditedBytes, AuditedFile, AuditorId, FileState,
};
