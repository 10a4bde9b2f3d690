//! Help for reason codes: the commands of this program that resolve them.
//!
//! The libraries describe a problem and its fix in general. Only this module knows which command applies the fix.

use plugward_loader::{LockState, PinStatus, PluginKey, PluginReport, Reason, Severity, Weight};

use crate::verbs::shared;

/// The verb with which a help text sends the user to review a plugin.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ReviewVerb {
    Explain,
    /// For the output of `explain` itself, which must not recommend the command that was just run.
    Diff,
}

/// The way out if the pins cannot be read.
pub(crate) const START_OVER: &str = "to start over without pins and revocations: plugward forget --all";

/// Returns `true` for the codes of pins that cannot be read. [`START_OVER`] helps with no other file.
pub(crate) fn is_about_pins(code: &str) -> bool {
    matches!(code, "pin/lost" | "pin/store" | "pin/store-version")
}

/// The parts of commands for one plugin.
pub(crate) struct Commands {
    pub(crate) review: ReviewVerb,
    /// The plugin, quoted for a shell.
    pub(crate) selector: String,
    /// The options that change the digest, as they were typed, each after a space.
    pub(crate) typed: String,
    /// The directory whose PLUGINS.lock covers the plugin, or would, quoted for a shell.
    pub(crate) lock_dir: String,
}

impl Commands {
    pub(crate) fn diff(&self) -> String {
        format!("plugward diff {}{}", self.selector, self.typed)
    }

    pub(crate) fn explain(&self) -> String {
        format!("plugward explain {}{}", self.selector, self.typed)
    }

    fn review(&self) -> String {
        match self.review {
            ReviewVerb::Explain => self.explain(),
            ReviewVerb::Diff => self.diff(),
        }
    }

    pub(crate) fn lock(&self) -> String {
        format!("plugward lock {}", self.lock_dir)
    }

    fn deny(&self) -> String {
        format!("plugward deny {}", self.selector)
    }

    /// Returns the command that asks about a plugin. What hosts record is reviewed together.
    fn decide(&self, plugin: &PluginReport) -> String {
        let is_recorded = plugin.key.placed().is_none() || !plugin.hosts.is_empty();
        let directory = if is_recorded { String::new() } else { format!(" {}", self.selector) };
        format!("plugward review{directory}{}", self.typed)
    }

    /// Returns the command that removes a plugin, or else keeps it from loading.
    fn remove(&self, plugin: &PluginReport) -> String {
        uninstall(&plugin.key).map_or_else(
            || format!("to keep it out: {}", self.deny()),
            |command| format!("to uninstall it: {command}"),
        )
    }
}

/// Returns the command of a host that uninstalls a plugin, if the host has one.
fn uninstall(key: &PluginKey) -> Option<String> {
    let PluginKey::Installed { host, id } = key else { return None };
    let command = match host.as_str() {
        "claude" => "claude plugin uninstall",
        "codex" => "codex plugin remove",
        "copilot" => "copilot plugin uninstall",
        "gemini" => "gemini extensions uninstall",
        _ => return None,
    };
    Some(format!("{command} {id}"))
}

/// Returns the reason that says most about a plugin: what is denied or dangerous before what only changed.
pub(crate) fn worst(plugin: &PluginReport) -> Option<&Reason> {
    by_severity(plugin).into_iter().next()
}

/// Returns the codes of all reasons, the most severe first.
pub(crate) fn codes(plugin: &PluginReport) -> String {
    let mut codes: Vec<&str> = Vec::new();
    for reason in by_severity(plugin) {
        if !codes.contains(&reason.code.as_str()) {
            codes.push(&reason.code);
        }
    }
    codes.join(", ")
}

/// Returns the reasons, the most severe first.
pub(crate) fn by_severity(plugin: &PluginReport) -> Vec<&Reason> {
    let mut reasons: Vec<&Reason> = plugin.reasons.iter().collect();
    reasons.sort_by_key(|reason| match reason.weight {
        Weight::Store => 0,
        Weight::Denied => 1,
        Weight::Scan => 2,
        Weight::Integrity => 3,
        Weight::Settings | Weight::CouldNotTell => 4,
        Weight::Undecided => 5,
        Weight::Follows => 6,
    });
    reasons
}

/// Returns the help for a reason, one instruction per line.
pub(crate) fn help(plugin: &PluginReport, reason: &Reason, commands: &Commands) -> String {
    let Commands { selector, .. } = commands;
    let (diff, review, lock) = (commands.diff(), commands.review(), commands.lock());
    let subject = reason.selector.as_deref().map(shared::quoted);
    let subject = subject.as_ref().unwrap_or(selector);
    match (reason.code.as_str(), reason.weight) {
        ("pin/changed", _) if plugin.tree.is_none() || plugin.dialects.is_empty() => {
            format!("restore the plugin, or delete its pin: plugward forget {selector}")
        }
        // Python wrote a cache into the plugin. The library's help says how to prevent that.
        ("pin/changed", _) if reason.help.contains("__pycache__") => reason.help.clone(),
        ("pin/changed" | "pin/surface-changed" | "pin/signer-changed" | "pin/raced", _) => {
            format!("review the change: {diff}")
        }
        ("pin/rolled-back", _) => match &reason.accept {
            Some(digests) => {
                let accept = shared::accept_command(commands, digests);
                format!("see what differs: {diff}\nto load this version again: {accept}")
            }
            None => format!("see what differs: {diff}"),
        },
        ("pin/new" | "pin/replaced", Weight::Undecided) => format!("review it: {diff}"),
        ("scan/suspicious" | "surface/unresolved", _) => match commands.review {
            ReviewVerb::Explain => {
                format!("review it: {review}\nto accept or deny it: {}", commands.decide(plugin))
            }
            ReviewVerb::Diff => format!("review it: {review}"),
        },
        ("lock/missing", _) if plugin.lock.state == LockState::Missing => {
            format!("restore the plugin, or remove its entry: {lock}")
        }
        ("pin/new" | "lock/unlisted" | "lock/missing", _) => format!("review it, then add it: {lock}"),
        ("lock/mismatch", _) => format!("review the change: {diff}\nthen update the lockfile: {lock}"),
        ("lock/malformed", _) => format!("{}\nor remove it, then write it again: {lock}", reason.help),
        ("lock/weak-scheme", _) => format!("plugward lock --migrate {}", commands.lock_dir),
        ("policy/denied" | "policy/ask", _) if reason.setting.is_some() => {
            let key = shared::quoted(&format!("plugins.bundle.\"{}\".run", plugin.key));
            let once = shared::quoted(&format!("plugins.bundle.\"{}\".run=unattended", plugin.key));
            format!(
                "see which file decided: plugward config explain {key}\nto load it this once: add --cfg {once}"
            )
        }
        ("policy/denied", _) if plugin.pin.state == PinStatus::Unavailable => {
            "restore the pins or start over; it stays denied until `plugward undeny` then".to_owned()
        }
        ("policy/denied", _) => format!("to load it again: plugward undeny {subject}"),
        ("policy/revoked", _) if reason.selector.is_some() => {
            format!("use another version, or undo it: plugward unrevoke {subject}")
        }
        ("policy/namesake", _) => {
            format!("review it: {review}\nto block it too: {}", commands.deny())
        }
        // The help names the verb if the settings name a model.
        ("approval/none", _) if reason.help.contains("plugward audit") => {
            format!("audit it: plugward audit {selector}\nthen approve it: plugward approve {selector}")
        }
        ("approval/none", _) => {
            format!("review it: {review}\nthen approve it: plugward approve {selector} --static")
        }
        ("audit/risk", _) => match &reason.accept {
            Some(digests) if commands.review == ReviewVerb::Explain => {
                format!(
                    "read the audit: {review}\nto accept it: {}",
                    shared::accept_command(commands, digests)
                )
            }
            _ => reason.help.clone(),
        },
        ("approval/stale", _) => {
            format!("review the change: {diff}\nthen approve it: plugward approve {selector} --static")
        }
        (code, _) if is_about_pins(code) => {
            format!("{}\n{START_OVER}", reason.help)
        }
        ("scan/danger", _) => match suppress(plugin, commands) {
            // Each finding has its own help.
            Some(suppress) => {
                format!("{}\nto accept a finding that you reviewed: {suppress}", commands.remove(plugin))
            }
            None => format!("{}\n{}", reason.help, commands.remove(plugin)),
        },
        // What no host installed is fixed where it is.
        (_, Weight::Integrity | Weight::Scan | Weight::Denied) if uninstall(&plugin.key).is_some() => {
            format!("{}\n{}", reason.help, commands.remove(plugin))
        }
        _ => reason.help.clone(),
    }
}

/// Returns the command that suppresses the first danger finding.
pub(crate) fn suppress(plugin: &PluginReport, commands: &Commands) -> Option<String> {
    let mut open = plugin.findings.iter().filter(|finding| finding.severity == Severity::Danger);
    let first = open.find(|finding| plugin.suppression(finding).is_none())?;
    let path = shared::quoted(&first.path);
    Some(format!("plugward suppress {} {} {path} --reason TEXT", commands.selector, first.rule))
}

/// Returns a few words for a reason, for the row of its plugin.
pub(crate) fn words(reason: &Reason) -> String {
    let first = crate::text::first_line(&reason.message);
    match (reason.code.as_str(), reason.weight) {
        ("pin/changed", _) => "changed since it was pinned".to_owned(),
        ("pin/rolled-back", _) => "an older version that was replaced".to_owned(),
        ("pin/replaced", _) => "replaces a pinned plugin that is gone".to_owned(),
        ("pin/new", Weight::Undecided) => "new, needs a decision".to_owned(),
        ("pin/new", _) => "not pinned".to_owned(),
        ("lock/missing", _) if first.ends_with("does not exist") => "gone, but in PLUGINS.lock".to_owned(),
        ("lock/unlisted" | "lock/missing", _) => "not in PLUGINS.lock".to_owned(),
        ("lock/mismatch", _) => "differs from PLUGINS.lock".to_owned(),
        ("policy/denied", _) if reason.setting.is_some() => "denied by the settings".to_owned(),
        ("policy/denied", _) => "denied".to_owned(),
        ("policy/ask", _) => "needs your consent".to_owned(),
        ("policy/settings", _) => "a settings file is broken".to_owned(),
        ("policy/namesake", _) => "namesake of a denied plugin".to_owned(),
        ("approval/none", _) => "not approved".to_owned(),
        ("approval/stale", _) => "changed since it was approved".to_owned(),
        ("approval/risk", _) => "risk above plugins.max_risk".to_owned(),
        ("audit/risk", _) => first.split(',').next().unwrap_or(first).to_owned(),
        ("check/all-or-nothing", _) => "another plugin is refused".to_owned(),
        ("pin/lost", _) => "the pins are gone".to_owned(),
        ("pin/store" | "pin/store-version", _) => "the pins cannot be read".to_owned(),
        ("mint/no-record", _) => "no ledger to record it in".to_owned(),
        ("scan/danger" | "scan/suspicious", _) => {
            // "2 danger findings, first sh/… at …": a row only has room for the count.
            first.split(',').next().unwrap_or(first).to_owned()
        }
        ("surface/unresolved", _) => "its text does not determine what runs".to_owned(),
        ("manifest/syntax", _) => "invalid manifest".to_owned(),
        (code, _) if code.starts_with("manifest/") => format!("invalid manifest ({code})"),
        (code, _) if first.chars().count() > 48 => code.to_owned(),
        _ => first.to_owned(),
    }
}

/// Returns `true` if many plugins can share the cause of a reason, so that one block lists them all.
pub(crate) fn is_shared_cause(reason: &Reason) -> bool {
    reason.weight == Weight::Store
        || matches!(
            reason.code.as_str(),
            "lock/unlisted"
                | "lock/missing"
                | "pin/new"
                | "approval/none"
                | "check/all-or-nothing"
                | "policy/settings"
        )
        || reason.code.starts_with("mint/")
        || reason.code.starts_with("ledger/")
}
