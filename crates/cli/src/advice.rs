//! Help for reason codes: the commands of this program that resolve them.
//!
//! The libraries describe a problem and its fix in general. Only this module knows which command applies the fix.

use plugward_loader::{PluginReport, Reason, Weight};

/// The verb with which a help text sends the user to review a plugin.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ReviewVerb {
    Explain,
    /// For the output of `explain` itself, which must not recommend the command that was just run.
    Diff,
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

    fn lock(&self) -> String {
        format!("plugward lock {}", self.lock_dir)
    }
}

/// Returns the help for a reason, one instruction per line.
pub(crate) fn help(plugin: &PluginReport, reason: &Reason, commands: &Commands) -> String {
    let Commands { selector, .. } = commands;
    let (diff, review, lock) = (commands.diff(), commands.review(), commands.lock());
    let subject = reason.selector.as_deref().map(crate::verbs::shared::quoted);
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
        ("pin/new", Weight::Undecided) => format!("review it: {diff}"),
        ("scan/suspicious" | "surface/unresolved", _) => format!("review it: {review}"),
        ("pin/new" | "lock/unlisted" | "lock/missing", _) => format!("review it, then add it: {lock}"),
        ("lock/mismatch", _) => format!("review the change: {diff}\nthen update the lockfile: {lock}"),
        ("lock/malformed", _) => format!("{}\nor write it again: {lock}", reason.help),
        ("lock/weak-scheme", _) => format!("plugward lock --migrate {}", commands.lock_dir),
        ("policy/denied" | "policy/ask", _) if reason.setting.is_some() => {
            let key = crate::verbs::shared::quoted(&format!("plugins.bundle.\"{}\".run", plugin.key));
            let once =
                crate::verbs::shared::quoted(&format!("plugins.bundle.\"{}\".run=unattended", plugin.key));
            format!(
                "see which file decided: plugward config explain {key}\nto load it this once: add --cfg {once}"
            )
        }
        ("policy/denied", _) => format!("to load it again: plugward undeny {subject}"),
        ("policy/revoked", _) if reason.selector.is_some() => {
            format!("use another version, or undo it: plugward unrevoke {subject}")
        }
        ("policy/namesake", _) => {
            format!("review it: {review}\nto block it too: plugward deny {selector}")
        }
        ("approval/none", _) => {
            format!("review it: {review}\nthen approve it: plugward approve {selector} --static")
        }
        ("approval/stale", _) => {
            format!("review the change: {diff}\nthen approve it: plugward approve {selector} --static")
        }
        ("pin/lost" | "pin/store" | "pin/store-version", _) => {
            format!(
                "{}\nor start over without pins, denials and revocations: plugward forget --all",
                reason.help
            )
        }
        // Each finding has its own help.
        ("scan/danger", _) if !plugin.findings.is_empty() => String::new(),
        _ => reason.help.clone(),
    }
}

/// Returns a few words for a reason, for the row of its plugin.
pub(crate) fn words(reason: &Reason) -> String {
    let first = reason.message.lines().next().unwrap_or_default();
    match (reason.code.as_str(), reason.weight) {
        ("pin/changed", _) => "changed since it was pinned".to_owned(),
        ("pin/new", Weight::Undecided) => "new, needs a decision".to_owned(),
        ("pin/new", _) => "not pinned".to_owned(),
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
