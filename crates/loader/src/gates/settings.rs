//! The policy gate for settings: the rule for running a plugin, and broken settings files.

use plugward_policy::{BundleRule, LayerKind, RunRule};

use crate::report::Gate;
use crate::run::examined::Examined;
use crate::run::options::{Answer, CheckMode, Person, Question};
use crate::run::outcome::{Reason, Weight};

/// The code of a plugin that a person has to agree to.
pub(crate) const ASK: &str = "policy/ask";

/// Whether the later gates run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum GateStep {
    Continue,
    Stop,
}

/// Refuses a plugin under a broken settings file: what the file tightens is unknown.
pub(crate) fn broken(one: &mut Examined) {
    let rules = std::sync::Arc::clone(&one.rules);
    for faults in &rules.broken {
        let lines: Vec<String> =
            faults.iter().map(|fault| format!("{}: {}", fault.origin, fault.message)).collect();
        let help = faults.first().map_or("fix the settings file", |fault| fault.help.as_str());
        one.gate(Gate::Policy).add("policy/settings", Weight::Settings, lines.join("\n"), help);
    }
}

/// Applies the rule for running a plugin by the names that are known so far.
pub(crate) fn gate(one: &mut Examined) -> GateStep {
    let rule = one.rules.policy.bundle_rule(&one.bundle_names());
    let setting = described(&rule);
    let outcome = one.gate(Gate::Policy);
    match rule.run {
        RunRule::Unattended => {}
        RunRule::Ask if outcome.reasons.iter().any(|reason| reason.code == ASK) => {}
        RunRule::Ask => {
            let help = "check where a person can answer, or set `run` for its key in your own settings";
            let message = format!("needs your consent: {setting}");
            let mut reason = Reason::new(ASK, Gate::Policy, Weight::Undecided, message, help);
            reason.setting = Some(rule.setting.to_string());
            outcome.reasons.push(reason);
        }
        RunRule::Deny => {
            let help = match rule.layer {
                LayerKind::Workspace | LayerKind::Local => {
                    "remove the entry from the repository, or set `run` for its key with --cfg"
                }
                _ => "change the entry in your settings",
            };
            outcome.reasons.retain(|reason| reason.code != ASK);
            let message = format!("denied by the settings: {setting}");
            let mut reason = Reason::new("policy/denied", Gate::Policy, Weight::Denied, message, help);
            reason.setting = Some(rule.setting.to_string());
            outcome.reasons.push(reason);
            return GateStep::Stop;
        }
    }
    GateStep::Continue
}

/// Asks a person to run a plugin whose settings say so. The answer is not stored.
pub(crate) fn ask(one: &mut Examined, person: &mut dyn Person) {
    if !asks(one) {
        return;
    }
    let rule = one.rules.policy.bundle_rule(&one.bundle_names());
    let report = one.report();
    let setting = described(&rule);
    let question = Question::Run { name: &report.id, setting: &setting, plugin: Some(&report) };
    let answer =
        if one.rules.options.writes == CheckMode::Commit { person.ask(&question) } else { Answer::Nobody };
    match answer {
        Answer::Yes => one.gate(Gate::Policy).reasons.retain(|reason| reason.code != ASK),
        Answer::No | Answer::Never | Answer::Nobody => one.is_run_declined = true,
    }
}

/// Returns `true` if [`ask`] will ask.
pub(crate) fn asks(one: &Examined) -> bool {
    let is_undecided = one.reasons().any(|reason| reason.code == ASK);
    is_undecided && one.is_on() && (one.passes_but_run() || super::pin::asks(one))
}

/// Returns the setting with its place.
fn described(rule: &BundleRule) -> String {
    let at = rule.origin.as_ref().map(|origin| format!(" in {origin}")).unwrap_or_default();
    format!("`{} = \"{}\"`{at}", rule.setting, rule.run.as_str())
}
