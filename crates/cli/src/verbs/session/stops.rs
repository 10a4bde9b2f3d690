//! The load gate: an enabled plugin that a host must not load again is disabled, with the reason.

use plugward_loader::lifecycle::{AnyPlugin, FoundPlugin};
use plugward_loader::pinstore::Risk;
use plugward_loader::{Decision, PluginKey, PluginReport};

use super::answer::Fault;
use super::catalog::{Catalog, DANGER};

/// The flag of a plugin whose directory is gone.
const GONE: &str = "gone";

/// Why a plugin was disabled without the command `disable`.
pub(super) struct Stop {
    /// The id that the plugin had while it was enabled.
    pub(super) id: String,
    /// The flag in answers: `stale`, `gone`, `refused` or `failed`.
    pub(super) flag: &'static str,
    pub(super) fault: Fault,
}

impl Catalog<'_> {
    /// Disables each enabled plugin whose directory differs from the enabled contents, or that a gate refuses now.
    ///
    /// A host reads the files of a plugin at each rebuild, so the contents that were enabled must still be there.
    pub(super) fn stop_changed(&mut self) {
        let enabled = self.plugins.enabled().map(plugward_loader::lifecycle::Plugin::found);
        let stops: Vec<_> =
            enabled.filter_map(|found| Some((found.key.clone(), self.stop_of(found)?))).collect();
        for (key, (flag, fault)) in stops {
            // Each of them is enabled, so none is out of order.
            let _is_disabled = self.stop(&key, flag, fault);
        }
    }

    /// Forgets the stops of plugins whose directories are back. They are as new ones.
    pub(super) fn forget_returned(&mut self) {
        let entries = &self.entries;
        self.stops.retain(|key, stop| stop.flag != GONE || !entries.contains_key(key));
    }

    /// Forgets the stop of a plugin that cannot be used any more. Returns `true` if there was one.
    pub(super) fn dismiss(&mut self, id: &str) -> bool {
        let before = self.stops.len();
        let plugins = &self.plugins;
        self.stops.retain(|key, stop| stop.id != id || plugins.get(key).is_some());
        self.stops.len() < before
    }

    /// Disables an enabled plugin, and keeps the reason until it is enabled or disabled by a command.
    fn stop(&mut self, key: &PluginKey, flag: &'static str, fault: Fault) -> Result<(), Fault> {
        let reason = fault.message.clone();
        let stopped = self.plugins.change(key, |plugin: AnyPlugin| plugin.failed(reason));
        stopped.map_err(|kind| Fault::new(kind.code(), kind.to_string()))?;
        self.stops.insert(key.clone(), Stop { id: self.id(key), flag, fault });
        Ok(())
    }

    /// Disables a plugin that the host could not load or run.
    pub(super) fn fail(&mut self, key: &PluginKey, reason: &[&str]) -> Result<(), Fault> {
        if reason.is_empty() {
            return Err(Fault::new("session/command", "expected the id of a plugin and the reason"));
        }
        self.stop(key, "failed", Fault::new("lifecycle/failed", reason.join(" ")))
    }

    /// Returns the flag and the reason if an enabled plugin must not be loaded again.
    fn stop_of(&self, enabled: &FoundPlugin) -> Option<(&'static str, Fault)> {
        let Ok(entry) = self.entry(&enabled.key) else {
            let unread = self.unlisted.iter().find(|one| one.key == enabled.key);
            let gone = || (GONE, Fault::new("lifecycle/other-bytes", "its directory is gone"));
            return Some(unread.map_or_else(gone, |one| ("stale", one.fault.clone())));
        };
        let refusal = refusal(&entry.report);
        if entry.audit.contents == enabled.contents {
            return refusal.or_else(|| self.above(entry.audit.risk)).map(|fault| ("refused", fault));
        }
        // The pin refuses the change, too. A danger says more.
        let changed = || Fault::new("lifecycle/other-bytes", "its contents changed after it was enabled");
        Some(("stale", refusal.filter(|fault| fault.code == DANGER).unwrap_or_else(changed)))
    }

    /// Returns the fault of a risk above the limit.
    pub(super) fn above(&self, risk: Risk) -> Option<Fault> {
        let max = self.settings.max_risk;
        let message = || format!("the risk is {}, above {}", risk.as_str(), max.as_str());
        (risk > max).then(|| Fault::new("lifecycle/risk", message()))
    }

    /// Returns one text for each plugin that was stopped.
    pub(super) fn stop_notes(&self) -> impl Iterator<Item = String> {
        self.stops
            .values()
            .map(|Stop { id, fault, .. }| format!("disabled `{id}`: {} ({})", fault.message, fault.code))
    }
}

/// Returns the reason why a plugin is refused now: a danger, or else the first one.
fn refusal(report: &PluginReport) -> Option<Fault> {
    let mut reasons = report.reasons.iter().filter(|_| report.decision == Decision::Refuse);
    let danger = reasons.clone().find(|reason| reason.code == DANGER);
    danger.or_else(|| reasons.next()).map(|reason| Fault::new(&reason.code, &*reason.message))
}
