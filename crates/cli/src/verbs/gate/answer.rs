//! The answer to OpenClaw, within the limits of its display.

use plugward_loader::escape::line;
use serde::Serialize;

use super::request::PROTOCOL;

/// The most UTF-16 units of one text, which is how OpenClaw counts.
const TEXT: usize = 1_000;
/// The most UTF-16 units of all texts. OpenClaw shows no review above 4,000, its own words included.
const ALL: usize = 3_000;
/// What OpenClaw adds around each finding.
const AROUND: usize = 48;
/// The most findings. OpenClaw refuses a warning with more than 100.
const FINDINGS: usize = 100;
/// What the number of findings that do not fit takes.
const REST: usize = 60;

/// A decision, from the mildest to the most severe.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
#[must_use]
pub(super) enum GateDecision {
    Allow,
    /// The user types the name of the target to go on.
    Warn,
    Block,
}

/// A severity, the worst first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum GateSeverity {
    Critical,
    Warn,
    Info,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct GateFinding {
    pub(super) rule_id: String,
    pub(super) severity: GateSeverity,
    pub(super) message: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) file: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) line: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) evidence: Option<String>,
}

/// The answer. Two requests for the same contents have the same answer: OpenClaw asks again once the user agreed.
#[derive(Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct GateAnswer {
    protocol_version: u64,
    pub(super) decision: GateDecision,
    #[serde(skip_serializing_if = "String::is_empty")]
    reason: String,
    findings: Vec<GateFinding>,
}

impl GateAnswer {
    /// Creates an answer. Findings that do not fit are counted in the reason, and the worst come first.
    pub(super) fn new(decision: GateDecision, reason: &str, mut findings: Vec<GateFinding>) -> Self {
        findings.sort_by_key(|finding| finding.severity);
        let mut reason = text(reason);
        let mut free = ALL.saturating_sub(units(&reason)).saturating_sub(REST);
        let all = findings.len();
        let mut fitting = Vec::new();
        for finding in findings.into_iter().take(FINDINGS).map(GateFinding::shortened) {
            let Some(rest) = free.checked_sub(finding.units()) else { break };
            free = rest;
            fitting.push(finding);
        }
        let more = all - fitting.len();
        // An allowed target has no reason to read on.
        if more > 0 && decision != GateDecision::Allow {
            let noun = if more == 1 { "finding" } else { "findings" };
            reason = format!("{}; {more} more {noun} not shown", cut(&reason, TEXT - REST));
        }
        Self { protocol_version: PROTOCOL, decision, reason, findings: fitting }
    }

    /// Creates the answer that blocks without a verdict.
    pub(super) fn block(reason: &str) -> Self {
        Self::new(GateDecision::Block, reason, Vec::new())
    }

    /// Renders the answer as one line.
    pub(super) fn render(&self) -> Result<String, serde_json::Error> {
        serde_json::to_string(self).map(|json| format!("{json}\n"))
    }
}

impl GateFinding {
    /// Creates a finding without a place.
    pub(super) fn new(rule_id: &str, severity: GateSeverity, message: &str) -> Self {
        let (rule_id, message) = (rule_id.to_owned(), message.to_owned());
        Self { rule_id, severity, message, file: None, line: None, evidence: None }
    }

    fn shortened(self) -> Self {
        Self {
            rule_id: text(&self.rule_id),
            message: text(&self.message),
            file: self.file.as_deref().map(text),
            evidence: self.evidence.as_deref().map(text).filter(|shown| !shown.trim().is_empty()),
            ..self
        }
    }

    fn units(&self) -> usize {
        let optional = |text: &Option<String>| text.as_deref().map_or(0, units);
        units(&self.rule_id)
            .saturating_add(units(&self.message))
            .saturating_add(optional(&self.file))
            .saturating_add(optional(&self.evidence))
            .saturating_add(AROUND)
    }
}

fn units(text: &str) -> usize {
    text.encode_utf16().count()
}

/// Returns a text without hidden characters, shortened to the limit of one text.
fn text(text: &str) -> String {
    cut(&line(text), TEXT)
}

fn cut(text: &str, limit: usize) -> String {
    if units(text) <= limit {
        return text.to_owned();
    }
    let mut left = limit - 1;
    let fits = |character: &char| {
        let rest = left.checked_sub(character.len_utf16());
        left = rest.unwrap_or(0);
        rest.is_some()
    };
    text.chars().take_while(fits).chain(['…']).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn finding(severity: GateSeverity, message: String) -> GateFinding {
        let evidence = Some("curl".to_owned());
        GateFinding {
            rule_id: "sh/x".to_owned(),
            severity,
            message,
            file: Some("a.sh".to_owned()),
            line: Some(3),
            evidence,
        }
    }

    #[test]
    fn an_answer_has_the_form_of_the_protocol() {
        let answer = GateAnswer::new(
            GateDecision::Warn,
            "a\u{1b}[2J\n",
            vec![
                finding(GateSeverity::Info, "i".to_owned()),
                finding(GateSeverity::Critical, "c".to_owned()),
            ],
        );
        assert_eq!(
            answer.render().unwrap(),
            "{\"protocolVersion\":1,\"decision\":\"warn\",\"reason\":\"a\\\\u{1b}[2J\\\\n\",\"findings\":[\
             {\"ruleId\":\"sh/x\",\"severity\":\"critical\",\"message\":\"c\",\"file\":\"a.sh\",\"line\":3,\"evidence\":\"curl\"},\
             {\"ruleId\":\"sh/x\",\"severity\":\"info\",\"message\":\"i\",\"file\":\"a.sh\",\"line\":3,\"evidence\":\"curl\"}]}\n"
        );
        assert_eq!(
            GateAnswer::new(GateDecision::Allow, "", Vec::new()).render().unwrap(),
            "{\"protocolVersion\":1,\"decision\":\"allow\",\"findings\":[]}\n"
        );
    }

    #[test]
    fn texts_and_findings_are_limited_and_the_worst_stay() {
        for character in ["a", "ü", "漢", "🎉", "\u{202e}"] {
            let long = character.repeat(5_000);
            let mut all = vec![finding(GateSeverity::Info, long.clone()); 300];
            all.push(finding(GateSeverity::Critical, long.clone()));
            let answer = GateAnswer::new(GateDecision::Block, &long, all);
            let findings = &answer.findings;
            let sum =
                findings.iter().map(GateFinding::units).fold(units(&answer.reason), |sum, one| sum + one);
            assert!(sum <= ALL && units(&answer.reason) <= TEXT, "{character}: {sum}");
            assert!(findings.iter().all(|one| units(&one.message) <= TEXT), "{character}");
            assert_eq!(findings.first().unwrap().severity, GateSeverity::Critical);
            assert!(answer.reason.ends_with("more findings not shown"), "{}", answer.reason);
        }
        let few =
            GateAnswer::new(GateDecision::Warn, "x", vec![finding(GateSeverity::Warn, String::new()); 300]);
        assert!(few.findings.len() <= FINDINGS);
    }
}
