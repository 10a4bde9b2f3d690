//! The plugins of a host, by key.

mod companions;
mod messages;

use std::collections::{BTreeMap, BTreeSet};

use plugward_types::PluginKey;
use thiserror::Error;

pub use companions::{CompanionError, CompanionPlan};
pub use messages::Additions;

use crate::config::ConfigValues;
use crate::facts::{ApprovalFacts, Clearance, FoundPlugin};
use crate::state::{AnyPlugin, Drift, Enabled, Plugin, TransitionError, TransitionErrorKind};

/// The plugins of a host, with the flags for its next rebuild.
///
/// # Guarantees
/// Plugins are found by key, so a second directory with the same name does not inherit a state. A transition that fails
/// changes neither the plugin nor the flags.
#[derive(Debug, Default)]
pub struct Plugins {
    by_key: BTreeMap<PluginKey, AnyPlugin>,
    dirty: DirtyFlags,
}

/// What a host must rebuild before the next message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[expect(clippy::exhaustive_structs, reason = "a new flag must be handled by every host")]
pub struct DirtyFlags {
    /// Whether the functions changed.
    pub sandbox: bool,
    /// Whether the messages changed.
    pub session: bool,
}

/// A difference between the known plugins and the directories.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "every host must handle a new difference")]
pub enum Rediscovery {
    /// A new plugin.
    Added(PluginKey),
    /// Other contents: the plugin is discovered again, without audit, approval and configuration.
    Edited(PluginKey),
    /// The directory is gone, and the plugin was not enabled.
    Removed(PluginKey),
    /// The plugin is enabled, and its directory differs from now on.
    Drifted(PluginKey, Drift),
    /// The plugin is enabled, and its directory has the enabled contents again.
    Restored(PluginKey),
}

/// A plugin to enable, with everything that it needs.
#[derive(Debug)]
#[expect(clippy::exhaustive_structs, reason = "all parts are required")]
pub struct Enablement {
    /// The key of an audited, configured or disabled plugin.
    pub key: PluginKey,
    /// Its configuration.
    pub values: ConfigValues,
    /// The clearance of its contents.
    pub clearance: Clearance,
}

/// A plugin that cannot be enabled. None of its command was.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("cannot enable `{key}`")]
pub struct EnableError {
    key: PluginKey,
    #[source]
    kind: TransitionErrorKind,
    is_companion: bool,
}

impl EnableError {
    /// Returns the key of the refused plugin.
    #[must_use]
    pub const fn key(&self) -> &PluginKey {
        &self.key
    }

    /// Returns the reason.
    #[must_use]
    pub const fn kind(&self) -> &TransitionErrorKind {
        &self.kind
    }

    /// Returns the stable code: `lifecycle/companion` for a companion, else that of the reason.
    #[must_use]
    pub fn code(&self) -> &'static str {
        if self.is_companion { "lifecycle/companion" } else { self.kind.code() }
    }
}

impl Plugins {
    /// Creates an empty list.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Compares the known plugins with those that the directories have now.
    ///
    /// A host calls it before each command, so a plugin that was dropped into a directory needs no registration.
    pub fn rediscover(&mut self, found: impl IntoIterator<Item = FoundPlugin>) -> Vec<Rediscovery> {
        let mut differences = Vec::new();
        let mut present = BTreeSet::new();
        for found in found {
            let key = found.key.clone();
            present.insert(key.clone());
            let drift = |is_same: bool| if is_same { None } else { Some(Drift::Stale) };
            let difference = match self.by_key.get_mut(&key) {
                Some(AnyPlugin::Enabled(plugin)) => {
                    set_drift(plugin, drift(plugin.base.found.contents == found.contents))
                }
                Some(known) if known.found().contents == found.contents => None,
                Some(known) => {
                    *known = Plugin::discovered(found).into();
                    Some(Rediscovery::Edited(key))
                }
                None => {
                    self.by_key.insert(key.clone(), Plugin::discovered(found).into());
                    Some(Rediscovery::Added(key))
                }
            };
            differences.extend(difference);
        }
        self.by_key.retain(|key, plugin| {
            if present.contains(key) {
                return true;
            }
            if let AnyPlugin::Enabled(plugin) = plugin {
                differences.extend(set_drift(plugin, Some(Drift::Gone)));
                return true;
            }
            differences.push(Rediscovery::Removed(key.clone()));
            false
        });
        differences
    }

    /// Returns a plugin.
    #[must_use]
    pub fn get(&self, key: &PluginKey) -> Option<&AnyPlugin> {
        self.by_key.get(key)
    }

    /// Returns all plugins, sorted by key.
    pub fn iter(&self) -> impl Iterator<Item = &AnyPlugin> {
        self.by_key.values()
    }

    /// Returns the enabled plugins, sorted by key.
    pub fn enabled(&self) -> impl Iterator<Item = &Plugin<Enabled>> {
        self.by_key.values().filter_map(|plugin| match plugin {
            AnyPlugin::Enabled(plugin) => Some(plugin),
            _ => None,
        })
    }

    /// Inserts a plugin after a transition, and sets both flags if it or the one that it replaces is in use differently
    /// than before.
    pub fn insert(&mut self, plugin: impl Into<AnyPlugin>) {
        let mut plugin = plugin.into();
        let is_changed = core::mem::take(&mut plugin.base_mut().is_changed);
        let is_enabled = matches!(plugin, AnyPlugin::Enabled(_));
        let before = self.by_key.insert(plugin.key().clone(), plugin);
        // A plugin can be replaced by one that was discovered anew, without a transition.
        if is_changed || (!is_enabled && matches!(before, Some(AnyPlugin::Enabled(_)))) {
            self.dirty = DirtyFlags { sandbox: true, session: true };
        }
    }

    /// Changes a plugin with a transition. If the transition fails, the plugin stays as it is.
    ///
    /// # Errors
    /// The reason of the transition, and `lifecycle/unknown-plugin`.
    pub fn change(
        &mut self,
        key: &PluginKey,
        transition: impl FnOnce(AnyPlugin) -> Result<AnyPlugin, TransitionError<AnyPlugin>>,
    ) -> Result<(), TransitionErrorKind> {
        let plugin = self.by_key.remove(key).ok_or(TransitionErrorKind::UnknownPlugin)?;
        let (plugin, result) = match transition(plugin) {
            Ok(plugin) => (plugin, Ok(())),
            Err(error) => {
                let (kind, plugin) = error.into_parts();
                (plugin, Err(kind))
            }
        };
        self.insert(plugin);
        result
    }

    /// Enables plugins in order: companions first, and last the plugin that the user named. If one is refused, none is
    /// enabled.
    ///
    /// # Errors
    /// [`EnableError`] with the first plugin that is refused.
    pub fn enable(&mut self, steps: Vec<Enablement>) -> Result<(), EnableError> {
        let last = steps.len().saturating_sub(1);
        let dirty = self.dirty;
        let mut before: Vec<AnyPlugin> = Vec::new();
        for (index, Enablement { key, values, clearance }) in steps.into_iter().enumerate() {
            before.extend(self.by_key.get(&key).map(AnyPlugin::copy));
            let enable = |plugin: AnyPlugin| match plugin {
                AnyPlugin::Configured(_) => plugin.enable(clearance),
                _ => plugin.configure(values)?.enable(clearance),
            };
            if let Err(kind) = self.change(&key, enable) {
                // In reverse order, so that the oldest copy of a plugin is the one that stays.
                let copies = before.into_iter().rev().map(|plugin| (plugin.key().clone(), plugin));
                self.by_key.extend(copies);
                self.dirty = dirty;
                return Err(EnableError { key, kind, is_companion: index < last });
            }
        }
        Ok(())
    }

    /// Notes that the contents of a plugin were approved. Its state does not change.
    ///
    /// # Errors
    /// `lifecycle/other-bytes` if the approval is of other contents, and `lifecycle/unknown-plugin`.
    pub fn approve(&mut self, key: &PluginKey, approval: &ApprovalFacts) -> Result<(), TransitionErrorKind> {
        let plugin = self.by_key.get_mut(key).ok_or(TransitionErrorKind::UnknownPlugin)?;
        if plugin.found().contents != approval.contents {
            return Err(TransitionErrorKind::OtherContents);
        }
        plugin.base_mut().is_approved = true;
        Ok(())
    }

    /// Notes that a plugin is not approved any more. It stays enabled in this session if it is.
    ///
    /// # Errors
    /// `lifecycle/unknown-plugin`.
    pub fn unapprove(&mut self, key: &PluginKey) -> Result<(), TransitionErrorKind> {
        let plugin = self.by_key.get_mut(key).ok_or(TransitionErrorKind::UnknownPlugin)?;
        plugin.base_mut().is_approved = false;
        Ok(())
    }

    /// Returns both flags.
    #[must_use]
    pub const fn dirty(&self) -> DirtyFlags {
        self.dirty
    }

    /// Returns whether the functions changed, and clears the flag.
    pub const fn take_sandbox_dirty(&mut self) -> bool {
        core::mem::replace(&mut self.dirty.sandbox, false)
    }

    /// Returns whether the messages changed, and clears the flag.
    pub const fn take_session_dirty(&mut self) -> bool {
        core::mem::replace(&mut self.dirty.session, false)
    }
}

/// Sets the drift of an enabled plugin, and returns the difference if it is new.
fn set_drift(plugin: &mut Plugin<Enabled>, drift: Option<Drift>) -> Option<Rediscovery> {
    let before = core::mem::replace(&mut plugin.state.drift, drift);
    if before == drift {
        return None;
    }
    let key = plugin.key().clone();
    Some(
        drift.map_or_else(
            || Rediscovery::Restored(key.clone()),
            |drift| Rediscovery::Drifted(key.clone(), drift),
        ),
    )
}
