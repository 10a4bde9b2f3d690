//! Hooks of plugins: adds them to a plan, writes their private copies, and records raw output
//! grants.

use std::collections::BTreeMap;
use std::io;
use std::sync::Arc;

use cap_std::fs::Dir;
use plugward_capability::{AnyCapability, Capability as _, HookRawOutputCapability, RawOp, Trail, UseCheck};
use plugward_hooks::{Hook, HookReport, LendCheck, Plan, PlanBuilder, PluginDirectories, RawGrants};
use plugward_ledger::{LedgerEvent, UseOutcome};
use plugward_types::PluginKey;

use crate::contents::seal::{SealError, SealedCopy};
use crate::record::RecordFailure;
use crate::report::{Decision, PluginReport};
use crate::run::check::LookReport;
use crate::run::result::{CheckResult, LoadedPlugin, Outcome};

/// Adds the hooks of plugins that would load to a plan for display, and lists the other plugins as
/// refused. Returns each plugin's id in the ids of its hooks.
pub fn add_looked(plan: &mut PlanBuilder, looked: &LookReport) -> BTreeMap<PluginKey, String> {
    let mut ids = BTreeMap::new();
    for row in &looked.report.plugins {
        match looked.surfaces.get(&row.key) {
            Some(items) => {
                let id = plan.plugin(&row.id, items.iter().map(|(dialect, item)| (*dialect, item)));
                ids.insert(row.key.clone(), id);
            }
            None => refuse(plan, row),
        }
    }
    ids
}

fn refuse(plan: &mut PlanBuilder, row: &PluginReport) {
    // A plugin whose surface is known and contains no hook is not listed.
    let may_have_hooks = row.surface.is_empty() || row.surface.iter().any(|item| item.kind == "hook");
    if row.decision != Decision::Load && may_have_hooks {
        plan.refuse(&row.id, row.reasons.first().map_or("", |reason| reason.code.as_str()));
    }
}

/// The plugins of a check that load, for their hooks.
#[derive(Debug)]
pub struct HookPlugins {
    /// Each plugin with its id in the ids of its hooks.
    loaded: Vec<(String, LoadedPlugin)>,
    /// The private copies, with the same ids.
    sealed: Vec<(String, SealedCopy)>,
}

/// The reason that a plugin's hooks cannot run.
#[derive(Debug, thiserror::Error)]
#[error("prepare the hooks of {plugin}: {source}")]
#[expect(clippy::exhaustive_structs, reason = "a plugin and a cause")]
pub struct HookSealError {
    /// The id of the plugin.
    pub plugin: String,
    /// The cause.
    pub source: SealError,
}

impl HookPlugins {
    /// Takes the plugins that load and adds their hooks to a plan. The other plugins are listed as
    /// refused.
    pub fn take(checked: CheckResult, plan: &mut PlanBuilder) -> Self {
        let mut loaded = Vec::new();
        for outcome in checked.into_outcomes() {
            match outcome {
                Outcome::Load(one) => {
                    let id = plan.plugin(&one.report().id, one.surface());
                    loaded.push((id, one));
                }
                Outcome::Ask { report } | Outcome::Refuse { report } => refuse(plan, &report),
            }
        }
        Self { loaded, sealed: Vec::new() }
    }

    /// Writes a private copy of each plugin whose commands are in the plan into `dir`, whose path
    /// is `path`.
    ///
    /// `data` returns the absolute path of the directory that a plugin can write. A plugin that
    /// could not be written is refused in the plan with `hook/seal`, and its error is returned next
    /// to the plan.
    #[must_use]
    pub fn seal(
        &mut self,
        plan: Plan,
        dir: &Dir,
        path: &str,
        mut data: impl FnMut(&PluginKey) -> io::Result<String>,
    ) -> (Plan, Vec<HookSealError>) {
        let (mut directories, mut errors) = (BTreeMap::new(), Vec::new());
        let wanted = plan.plugins_with_commands();
        for (id, one) in self.loaded.iter().filter(|(id, _)| wanted.contains(id.as_str())) {
            let id = id.clone();
            // The copy is written last, so that none is left if the data directory cannot be
            // created.
            let made = data(one.key()).map_err(SealError::Io);
            match made.and_then(|data| Ok((data, one.seal_into(dir)?))) {
                Ok((data, sealed)) => {
                    let root = format!("{path}/{}", sealed.path());
                    directories.insert(id.clone(), PluginDirectories { root, data });
                    self.sealed.push((id, sealed));
                }
                Err(source) => errors.push(HookSealError { plugin: id, source }),
            }
        }
        (plan.with_directories(&directories), errors)
    }

    /// Returns the plugins with private copies, and their ids in commands.
    pub fn copies(&self) -> impl Iterator<Item = (&str, &LoadedPlugin, &SealedCopy)> {
        self.sealed.iter().filter_map(|(id, sealed)| {
            let (_, plugin) = self.loaded.iter().find(|(known, _)| known == id)?;
            Some((id.as_str(), plugin, sealed))
        })
    }

    /// Takes the grants for raw output. Each use is recorded in `trail` before the hook sees any
    /// output.
    #[must_use]
    pub fn grants(&mut self, trail: &Trail, workflow: &str) -> Arc<dyn RawGrants> {
        let mut capabilities = Vec::new();
        for (id, one) in &mut self.loaded {
            let recorded = one.report().id.clone();
            for capability in one.take_granted() {
                if let AnyCapability::HookRawOutput(capability) = capability {
                    capabilities.push(RawGrant { id: id.clone(), recorded: recorded.clone(), capability });
                }
            }
        }
        Arc::new(RecordedGrants { trail: trail.clone(), workflow: workflow.to_owned(), capabilities })
    }

    /// Removes the private copies.
    ///
    /// # Errors
    /// The system error for the first copy that could not be removed. The other copies are removed
    /// even so.
    pub fn remove(self) -> io::Result<()> {
        let results: Vec<io::Result<()>> =
            self.sealed.into_iter().map(|(_, sealed)| sealed.remove()).collect();
        results.into_iter().collect()
    }
}

/// Grants nothing, and records what `hooks.raw = "all"` shows to hooks of a project.
#[must_use]
pub fn record_exposures(trail: &Trail, workflow: &str) -> Arc<dyn RawGrants> {
    Arc::new(RecordedGrants { trail: trail.clone(), workflow: workflow.to_owned(), capabilities: Vec::new() })
}

/// Raw output capabilities whose uses are recorded.
struct RecordedGrants {
    trail: Trail,
    workflow: String,
    capabilities: Vec<RawGrant>,
}

/// A capability of one plugin.
struct RawGrant {
    /// The plugin's id in the ids of its hooks.
    id: String,
    /// The plugin's id in the scope of the capability.
    recorded: String,
    capability: HookRawOutputCapability,
}

impl RawGrants for RecordedGrants {
    fn lend(&self, hook: &Hook, tool: &str, lend: &mut dyn FnMut()) -> LendCheck {
        let own = self.capabilities.iter().filter(|grant| hook.plugin() == Some(grant.id.as_str()));
        let named = own.filter_map(|grant| {
            let name = hook.id().strip_prefix(grant.id.as_str())?.strip_prefix(':')?;
            Some((format!("{}:{name}", grant.recorded), &grant.capability))
        });
        let covering = |(hook, capability): &(String, &HookRawOutputCapability)| {
            capability.covers(&RawOp::Expose { hook: hook.as_str(), tool })
        };
        let mut named = named;
        let Some((hook, capability)) = named.find(covering) else { return LendCheck::NotGranted };
        match self.trail.try_use(capability, RawOp::Expose { hook: hook.as_str(), tool }) {
            Ok(UseCheck::Granted(guard)) => {
                lend();
                // If the end cannot be recorded, the trail grants nothing more. The use itself is
                // recorded.
                let _recorded = guard.end(UseOutcome::Ok, None);
                LendCheck::Lent
            }
            Ok(UseCheck::Refused(_)) => LendCheck::NotGranted,
            Err(_) => LendCheck::Unrecorded,
        }
    }

    fn record_exposure(&self, hook: &Hook, tool: &str) -> bool {
        let event = LedgerEvent::RawOutputShown {
            workflow: self.workflow.clone(),
            hook: hook.id().to_owned(),
            tool: tool.to_owned(),
        };
        self.trail.ledger().append(&[event]).is_ok()
    }
}

/// Records the secrets that hooks printed in another encoding, one event per hook.
///
/// # Errors
/// [`RecordFailure`] if the ledger cannot be written. The secrets are removed from the output in
/// any case.
pub fn record_laundered(
    record: &crate::Record,
    workflow: &str,
    tool: &str,
    report: &HookReport,
) -> Result<(), RecordFailure> {
    let events = report.laundered.iter().map(|row| LedgerEvent::RawOutputLaundered {
        workflow: workflow.to_owned(),
        hook: row.hook.clone(),
        tool: tool.to_owned(),
        kinds: row.kinds.clone(),
    });
    record.note(&events.collect::<Vec<_>>())
}
