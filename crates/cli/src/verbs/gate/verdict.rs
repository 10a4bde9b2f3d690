//! The decision about a checked directory, in the terms of the protocol.

use plugward_loader::{Decision, Finding, PluginKey, PluginReport, Reason, Report, Severity, Weight};

use super::answer::{GateAnswer, GateDecision, GateFinding, GateSeverity};
use super::request::RequestMode;
use crate::advice;
use crate::host;
use crate::text::count;
use crate::verbs::shared;

/// What to do about an update that the user may let through.
pub(super) const AFTER_UPDATE: &str = "it does not load after the update until you review and accept it";

/// A decision with everything that explains it.
pub(super) struct Verdict {
    pub(super) decision: GateDecision,
    /// The causes in a few words each.
    causes: Vec<String>,
    findings: Vec<GateFinding>,
}

impl Verdict {
    /// Creates the verdict about the plugins of a report, of which the worst decides.
    pub(super) fn of(report: &Report, mode: RequestMode) -> Self {
        let mut verdict = Self { decision: GateDecision::Allow, causes: Vec::new(), findings: Vec::new() };
        if report.plugins.is_empty() {
            let why = report.skipped.first().map_or("no manifest", |one| one.why.as_str());
            let message = format!("nothing was judged: {why}");
            verdict.add(Some(Self::one("gate/nothing", GateDecision::Block, &message, &message)));
        }
        for plugin in &report.plugins {
            let is_alone = report.plugins.len() == 1;
            let prefix = if is_alone { String::new() } else { format!("{}/", plugin.path) };
            verdict.add_plugin(plugin, mode, &prefix);
        }
        if report.exit != 0 && verdict.decision == GateDecision::Allow {
            let notice = report.notices.first();
            let (code, message) =
                notice.map_or(("gate/nothing", "the check failed"), |one| (&one.code, &one.message));
            verdict.add(Some(Self::one(code, GateDecision::Block, message, message)));
        }
        verdict
    }

    /// Creates a verdict with one finding.
    pub(super) fn one(code: &str, decision: GateDecision, cause: &str, message: &str) -> Self {
        let finding = GateFinding::new(code, severity_of(decision), message);
        Self { decision, causes: vec![cause.to_owned()], findings: vec![finding] }
    }

    /// Adds another verdict. The more severe decision counts.
    pub(super) fn add(&mut self, other: Option<Self>) {
        let Some(other) = other else { return };
        self.decision = self.decision.max(other.decision);
        self.causes.extend(other.causes);
        self.findings.extend(other.findings);
    }

    /// Adds the findings of a scan, which decide as they do in a check.
    pub(super) fn add_scan<'a>(&mut self, findings: impl Iterator<Item = &'a Finding>) {
        let mut danger = 0;
        for finding in findings {
            danger += usize::from(finding.severity == Severity::Danger);
            self.findings.push(of_scan(finding, ""));
        }
        if danger > 0 {
            self.decision = GateDecision::Block;
            self.causes.push(count(danger, "danger finding"));
        }
    }

    pub(super) fn into_answer(self) -> GateAnswer {
        let mut causes = self.causes;
        causes.dedup();
        let reason = if self.decision == GateDecision::Allow { String::new() } else { causes.join("; ") };
        GateAnswer::new(self.decision, &reason, self.findings)
    }

    fn add_plugin(&mut self, plugin: &PluginReport, mode: RequestMode, prefix: &str) {
        let decision = decision(plugin, mode);
        self.decision = self.decision.max(decision);
        for reason in advice::by_severity(plugin) {
            self.causes.push(advice::words(reason));
            // The findings of the scan follow one by one.
            if !reason.code.starts_with("scan/") || plugin.findings.is_empty() {
                self.findings.push(of_reason(plugin, reason, mode, decision, prefix));
            }
        }
        let open = plugin.findings.iter().filter(|finding| plugin.suppression(finding).is_none());
        self.findings.extend(open.map(|finding| of_scan(finding, prefix)));
        for notice in &plugin.notices {
            self.findings.push(GateFinding::new(&notice.code, GateSeverity::Info, &joined(&notice.message)));
        }
    }
}

/// Returns the decision about one plugin.
fn decision(plugin: &PluginReport, mode: RequestMode) -> GateDecision {
    // Under `locked`, nobody is asked.
    let is_locked = plugin.trust == "locked";
    match plugin.decision {
        Decision::Load => GateDecision::Allow,
        Decision::Ask if !is_locked => GateDecision::Warn,
        // An update is always a change. The user can take it, and `check` refuses it until it is accepted.
        Decision::Refuse if !is_locked && mode == RequestMode::Update && is_only_changed(plugin) => {
            GateDecision::Warn
        }
        Decision::Ask | Decision::Refuse => GateDecision::Block,
    }
}

fn is_only_changed(plugin: &PluginReport) -> bool {
    plugin.reasons.iter().all(|reason| reason.weight == Weight::Undecided || reason.code == "pin/changed")
}

fn of_reason(
    plugin: &PluginReport,
    reason: &Reason,
    mode: RequestMode,
    decision: GateDecision,
    prefix: &str,
) -> GateFinding {
    let severity = if decision == GateDecision::Warn || reason.weight == Weight::Undecided {
        GateSeverity::Warn
    } else {
        GateSeverity::Critical
    };
    let message = format!("{}; {}", joined(&reason.message), next(plugin, reason, mode));
    GateFinding {
        file: reason.place.as_ref().map(|place| format!("{prefix}{}", place.path)),
        line: reason.place.as_ref().map(|place| place.line),
        ..GateFinding::new(&reason.code, severity, &message)
    }
}

/// Returns what to do next. The checked directory is gone after the request, so commands name the key of what is installed.
fn next(plugin: &PluginReport, reason: &Reason, mode: RequestMode) -> String {
    if !matches!(plugin.key, PluginKey::Installed { .. }) {
        return reason.help.clone();
    }
    let selector = shared::quoted(&host::display(&plugin.key));
    match (reason.code.as_str(), mode) {
        ("pin/changed", RequestMode::Update) => format!("{AFTER_UPDATE}: plugward diff {selector}"),
        ("pin/changed" | "pin/rolled-back", _) => {
            format!("to treat it as new, delete the pin and install it again: plugward forget {selector}")
        }
        ("policy/denied", _) if reason.setting.is_none() => {
            let subject = reason.selector.as_deref().map_or(selector, shared::quoted);
            format!("to allow it: plugward undeny {subject}")
        }
        _ => reason.help.clone(),
    }
}

fn of_scan(finding: &Finding, prefix: &str) -> GateFinding {
    let severity = match finding.severity {
        Severity::Danger => GateSeverity::Critical,
        Severity::Warning => GateSeverity::Warn,
        Severity::Info => GateSeverity::Info,
    };
    GateFinding {
        file: Some(format!("{prefix}{}", finding.path)),
        line: Some(finding.line),
        evidence: Some(finding.snippet.clone()),
        ..GateFinding::new(finding.rule.as_str(), severity, &finding.message)
    }
}

const fn severity_of(decision: GateDecision) -> GateSeverity {
    match decision {
        GateDecision::Allow => GateSeverity::Info,
        GateDecision::Warn => GateSeverity::Warn,
        GateDecision::Block => GateSeverity::Critical,
    }
}

/// Joins the lines of a message.
fn joined(message: &str) -> String {
    message.lines().collect::<Vec<_>>().join("; ")
}
