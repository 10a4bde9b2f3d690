//! The reply of a model: a text by an author that the plugin may have influenced.

use plugward_types::{AuditVerdict, Risk, Severity};
use serde_json::{Map, Value};

use crate::json;

/// The most bytes of a reply.
pub(crate) const MOST_BYTES: usize = 1 << 20;
/// The most characters of an excerpt that reports a canary. A longer one is an echo of the file.
pub(crate) const EXCERPT: usize = 400;

/// The most findings and attempts of an audit.
const FINDINGS: usize = 200;
const INJECTIONS: usize = 50;

/// A reply that was read.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "a reply is either understood or not")]
pub enum ParsedReply {
    /// The reply has no object with `riskLevel`, or several.
    Unparseable {
        /// The highest risk of the objects, at least `High`.
        risk: Risk,
    },
    /// The fields of the object.
    Object(Box<ReplyFields>),
}

/// The fields of a reply. Missing and invalid ones have the strict default.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ReplyFields {
    /// The risk, or `High`.
    pub risk: Risk,
    /// Whether the description matches the code, or `false`.
    pub description_accurate: bool,
    /// The summary.
    pub summary: Option<String>,
    /// The abilities of the code.
    pub capabilities: Vec<String>,
    /// The reasons of the risk.
    pub risk_reasons: Vec<String>,
    /// The recommendation, or `Reject`.
    pub verdict: AuditVerdict,
    /// The reason of the recommendation.
    pub reason: Option<String>,
    /// The findings, the severe ones first.
    pub findings: Vec<ReplyFinding>,
    /// The reported attempts to influence the audit.
    pub injections: Vec<ReplyInjection>,
    /// Whether all findings and attempts could be read. The unread part of a reply can be the severe one.
    pub is_complete: bool,
}

/// A finding of a model.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ReplyFinding {
    /// The severity, or `Warning`.
    pub severity: Severity,
    /// The message.
    pub message: String,
    /// The path, as the model wrote it.
    pub file: String,
    /// A text of the file.
    pub quote: String,
}

/// A text that, as the model reports, tries to influence the audit.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ReplyInjection {
    /// The text.
    pub excerpt: String,
    /// The reason of the model.
    pub reason: String,
}

/// Reads a reply.
///
/// # Guarantees
/// Text around the object, such as a code fence, changes nothing. The time is linear in the length. A reply of more than
/// 1 MiB is unparseable.
#[must_use]
pub fn parse_reply(reply: &str) -> ParsedReply {
    let found = if reply.len() <= MOST_BYTES { json::objects_with("riskLevel", reply) } else { None };
    match found.unwrap_or_default().as_slice() {
        [object] => ParsedReply::Object(Box::new(fields(object))),
        objects => {
            let risk = objects.iter().map(risk).max();
            ParsedReply::Unparseable { risk: risk.unwrap_or(Risk::High).max(Risk::High) }
        }
    }
}

fn risk(object: &Map<String, Value>) -> Risk {
    word(object.get("riskLevel"), str::to_ascii_uppercase).unwrap_or(Risk::High)
}

fn fields(object: &Map<String, Value>) -> ReplyFields {
    let recommendation = object.get("recommendation");
    let recommended = |key| recommendation.and_then(|recommendation| recommendation.get(key));
    let mut findings: Vec<ReplyFinding> = items(object, "findings").map(finding).collect();
    findings.sort_by_key(|finding| core::cmp::Reverse(finding.severity));
    findings.truncate(FINDINGS);
    let is_list = |key| object.get(key).is_none_or(Value::is_array);
    let is_complete = ["findings", "injectionAttempts"].into_iter().all(is_list)
        && items(object, "findings").all(|entry| severity(entry).is_some())
        && items(object, "injectionAttempts").all(is_readable)
        && items(object, "injectionAttempts").count() <= INJECTIONS;
    let injections = items(object, "injectionAttempts").map(injection);
    ReplyFields {
        risk: risk(object),
        description_accurate: object.get("descriptionAccurate").and_then(Value::as_bool).unwrap_or(false),
        summary: text(object.get("summary"), 300),
        capabilities: texts(object, "capabilities", 50, 200),
        risk_reasons: texts(object, "riskReasons", 20, 300),
        verdict: word(recommended("verdict"), str::to_ascii_lowercase).unwrap_or(AuditVerdict::Reject),
        reason: text(recommended("reason"), 500),
        findings,
        injections: injections
            .filter(|entry| !(entry.excerpt.is_empty() && entry.reason.is_empty()))
            .take(INJECTIONS)
            .collect(),
        is_complete,
    }
}

/// Reads a finding. A finding without a known severity, or in another form, still counts.
fn finding(entry: &Value) -> ReplyFinding {
    let part =
        |key, most| entry.get(key).and_then(Value::as_str).map(|text| cut(text, most)).unwrap_or_default();
    let other = || cut(&entry.as_str().map_or_else(|| entry.to_string(), str::to_owned), 500);
    let message = Some(part("message", 500)).filter(|message| !message.is_empty()).unwrap_or_else(other);
    ReplyFinding {
        severity: severity(entry).unwrap_or(Severity::Warning),
        message,
        file: part("file", 500),
        quote: part("quote", 200),
    }
}

fn severity(entry: &Value) -> Option<Severity> {
    word(entry.get("severity"), str::to_ascii_lowercase)
}

/// Returns `true` for an attempt with a text, and for an empty one.
fn is_readable(entry: &Value) -> bool {
    let is_text = |key: &str| entry.get(key).is_none_or(Value::is_string);
    let has_text =
        || entry.get("excerpt").or(entry.get("reason")).is_some() || *entry == Value::Object(Map::new());
    entry.is_string() || (is_text("excerpt") && is_text("reason") && has_text())
}

fn injection(entry: &Value) -> ReplyInjection {
    let part = |key| entry.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
    let excerpt = entry.as_str().map_or_else(|| part("excerpt"), str::to_owned);
    ReplyInjection { excerpt, reason: part("reason") }
}

fn items<'v>(object: &'v Map<String, Value>, key: &str) -> impl Iterator<Item = &'v Value> {
    object.get(key).and_then(Value::as_array).into_iter().flatten()
}

fn word<T: core::str::FromStr>(value: Option<&Value>, case: fn(&str) -> String) -> Option<T> {
    case(value?.as_str()?).parse().ok()
}

/// Returns a text of at most some characters; a longer one does not count.
fn text(value: Option<&Value>, most: usize) -> Option<String> {
    value?.as_str().filter(|text| text.chars().count() <= most && !text.is_empty()).map(str::to_owned)
}

fn texts(object: &Map<String, Value>, key: &str, count: usize, most: usize) -> Vec<String> {
    items(object, key).filter_map(|value| text(Some(value), most)).take(count).collect()
}

/// Returns the first characters of a text.
pub(crate) fn cut(text: &str, most: usize) -> String {
    text.chars().take(most).collect()
}
