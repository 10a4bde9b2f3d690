//! The companions of a plugin, in the order in which they are enabled.

use std::collections::BTreeSet;

use plugward_types::{PluginKey, escape};
use thiserror::Error;

use super::Plugins;
use crate::state::AnyPlugin;

/// The most companions of one plugin, which bounds the work of one command.
const MAX_COMPANIONS: usize = 32;

/// The plugins to enable before another one.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct CompanionPlan {
    /// The companions that are not enabled, each with the plugin that names it. The deepest is first.
    pub order: Vec<(PluginKey, PluginKey)>,
    /// The names that no plugin has.
    pub missing: Vec<String>,
    /// The required plugins of the hints that are neither enabled nor in `order`: `lifecycle/requires`.
    pub required: Vec<String>,
}

/// Companions that cannot be determined: `lifecycle/companion`.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum CompanionError {
    /// There are too many.
    #[error("more than {MAX_COMPANIONS} companions")]
    TooMany,
    /// Several plugins have the name of a companion.
    #[error("several plugins have the name `{}` of a companion", escape::line(name))]
    Ambiguous {
        /// The name.
        name: String,
    },
}

impl CompanionError {
    /// Returns the stable code.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        "lifecycle/companion"
    }
}

impl Plugins {
    /// Returns the companions of a plugin, depth first. A cycle ends the walk.
    ///
    /// A name is that of one plugin, or of the one next to the plugin that names it.
    ///
    /// # Errors
    /// `lifecycle/companion` if there are more than 32, or if a name is ambiguous.
    pub fn companions(&self, key: &PluginKey) -> Result<CompanionPlan, CompanionError> {
        let mut plan = CompanionPlan::default();
        self.walk(key, &mut BTreeSet::from([key.clone()]), &mut plan)?;
        let hints = self.get(key).and_then(|plugin| plugin.found().texts.hints.as_ref());
        for name in hints.map_or(&[][..], |hints| &hints.required_plugins) {
            let is_satisfied = |plugin: &AnyPlugin| {
                let is_planned = || plan.order.iter().any(|(planned, _)| planned == plugin.key());
                plugin.found().name == *name && (matches!(plugin, AnyPlugin::Enabled(_)) || is_planned())
            };
            if !self.iter().any(is_satisfied) {
                plan.required.push(name.clone());
            }
        }
        Ok(plan)
    }

    fn walk(
        &self,
        key: &PluginKey,
        seen: &mut BTreeSet<PluginKey>,
        plan: &mut CompanionPlan,
    ) -> Result<(), CompanionError> {
        let names = self.get(key).map_or(&[][..], |plugin| &plugin.found().companions);
        for name in names {
            let Some(companion) = self.named(name, key)? else {
                plan.missing.push(name.clone());
                continue;
            };
            if matches!(companion, AnyPlugin::Enabled(_)) || !seen.insert(companion.key().clone()) {
                continue;
            }
            // The plugin itself is in `seen`, too. The limit also bounds the depth of this walk.
            if seen.len() > MAX_COMPANIONS.saturating_add(1) {
                return Err(CompanionError::TooMany);
            }
            self.walk(companion.key(), seen, plan)?;
            plan.order.push((companion.key().clone(), key.clone()));
        }
        Ok(())
    }

    fn named(&self, name: &str, by: &PluginKey) -> Result<Option<&AnyPlugin>, CompanionError> {
        let directory = |key: &PluginKey| key.placed().and_then(plugward_types::PlacePath::parent);
        let mut all: Vec<_> = self.iter().filter(|plugin| plugin.found().name == name).collect();
        if all.len() > 1 {
            let own = directory(by);
            all.retain(|plugin| own.is_some() && directory(plugin.key()) == own);
            if all.len() != 1 {
                return Err(CompanionError::Ambiguous { name: name.to_owned() });
            }
        }
        Ok(all.first().copied())
    }
}
