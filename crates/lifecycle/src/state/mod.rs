//! The states of a plugin. Each is a type, so that a wrong order does not compile.

mod any;
mod error;

use core::fmt::Debug;

use plugward_types::{AuditVerdict, PluginKey};

pub use any::{AnyPlugin, PluginState};
pub use error::{TransitionError, TransitionErrorKind};

use crate::config::ConfigValues;
use crate::facts::{ApprovalFacts, AuditFacts, Clearance, FoundPlugin};
use error::Transition;

/// A plugin in a state.
///
/// A transition consumes the plugin. It returns the next state, or an error that contains the unchanged plugin.
///
/// # Examples
/// ```compile_fail
/// use plugward_lifecycle::{Clearance, Discovered, Plugin};
///
/// fn enable(found: Plugin<Discovered>, clearance: Clearance) {
///     let _ = found.enable(clearance); // A plugin that nobody audited does not have this method.
/// }
/// ```
#[derive(Debug, PartialEq)]
pub struct Plugin<S> {
    pub(crate) base: Base,
    pub(crate) state: S,
}

/// What a plugin has in every state.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Base {
    pub(crate) found: FoundPlugin,
    pub(crate) is_approved: bool,
    /// Whether functions or messages changed since the plugin was last inserted into [`crate::Plugins`].
    pub(crate) is_changed: bool,
}

/// The plugin was found in a directory.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Discovered;

/// The contents were audited or approved.
#[derive(Debug, Clone, PartialEq)]
pub struct Audited {
    pub(crate) audit: AuditFacts,
}

/// The plugin also has a configuration.
#[derive(Debug, Clone, PartialEq)]
pub struct Configured {
    pub(crate) audit: AuditFacts,
    pub(crate) values: ConfigValues,
}

/// The host uses the plugin.
#[derive(Debug, Clone, PartialEq)]
pub struct Enabled {
    pub(crate) audit: AuditFacts,
    pub(crate) values: ConfigValues,
    pub(crate) drift: Option<Drift>,
}

/// The host used the plugin before.
#[derive(Debug, Clone, PartialEq)]
pub struct Disabled {
    pub(crate) audit: AuditFacts,
    pub(crate) values: ConfigValues,
    pub(crate) failure: Option<String>,
}

/// The difference between an enabled plugin and its directory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "every host must handle a new difference")]
pub enum Drift {
    /// The directory has other contents. The host keeps the checked ones.
    Stale,
    /// The directory does not exist any more.
    Gone,
}

impl Drift {
    /// Returns the name in reports.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Stale => "stale",
            Self::Gone => "gone",
        }
    }
}

impl<S: Debug> Plugin<S> {
    /// Returns the key.
    #[must_use]
    pub const fn key(&self) -> &PluginKey {
        &self.base.found.key
    }

    /// Returns the facts from the directory.
    #[must_use]
    pub const fn found(&self) -> &FoundPlugin {
        &self.base.found
    }

    /// Returns `true` if these contents have an approval.
    #[must_use]
    pub const fn is_approved(&self) -> bool {
        self.base.is_approved
    }

    fn refuse<T>(self, kind: TransitionErrorKind) -> Transition<T, S> {
        Err(TransitionError::new(kind, self))
    }

    fn become_state<T>(self, state: T) -> Plugin<T> {
        Plugin { base: self.base, state }
    }
}

impl Plugin<Discovered> {
    /// Creates a plugin from the facts of its directory.
    #[must_use]
    pub const fn discovered(found: FoundPlugin) -> Self {
        Self { base: Base { found, is_approved: false, is_changed: false }, state: Discovered }
    }

    /// Adds the result of an audit.
    ///
    /// # Errors
    /// `lifecycle/other-bytes` if the audit is of other contents.
    pub fn audited(self, audit: AuditFacts) -> Transition<Audited, Discovered> {
        if audit.contents != self.base.found.contents {
            return self.refuse(TransitionErrorKind::OtherContents);
        }
        Ok(self.become_state(Audited { audit }))
    }

    /// Adds a stored approval, which takes the place of an audit in this session.
    ///
    /// The threshold and the danger gate apply to approved plugins, too.
    ///
    /// # Errors
    /// `lifecycle/other-bytes` if the approval is of other contents.
    pub fn approved(self, approval: ApprovalFacts) -> Transition<Audited, Discovered> {
        let ApprovalFacts { contents, kind, risk, verdict } = approval;
        let mut plugin = self.audited(AuditFacts { contents, kind, risk, verdict, dangers: 0 })?;
        plugin.base.is_approved = true;
        Ok(plugin)
    }
}

impl Plugin<Audited> {
    /// Adds the configuration.
    ///
    /// # Errors
    /// A code of [`ConfigError`](crate::ConfigError) if the values do not fit the schema of this plugin.
    pub fn configure(self, values: ConfigValues) -> Transition<Configured, Audited> {
        let audit = self.state.audit.clone();
        self.with_values(audit, values)
    }
}

impl Plugin<Configured> {
    /// Enables the plugin.
    ///
    /// # Errors
    /// `lifecycle/other-bytes` if the clearance is of other contents; `lifecycle/risk`, `lifecycle/rejected` or
    /// `lifecycle/danger` if the audit does not permit it.
    ///
    /// # Examples
    /// ```compile_fail
    /// use plugward_lifecycle::{Configured, Plugin};
    ///
    /// fn enable(plugin: Plugin<Configured>) {
    ///     let _ = plugin.enable(); // Only the loader creates a clearance.
    /// }
    /// ```
    pub fn enable(self, clearance: Clearance) -> Transition<Enabled, Configured> {
        let Configured { audit, values } = self.state.clone();
        self.with_clearance(audit, values, clearance)
    }
}

impl Plugin<Enabled> {
    /// Replaces the configuration. The contents stay those of the clearance.
    ///
    /// # Errors
    /// As [`Plugin::<Audited>::configure`](Plugin::configure).
    pub fn reconfigure(mut self, values: ConfigValues) -> Transition<Enabled, Enabled> {
        match values.check(&self.base.found.schema) {
            Ok(()) => {
                self.state.values = values;
                Ok(self.changed())
            }
            Err(error) => self.refuse(TransitionErrorKind::Config(error)),
        }
    }

    /// Disables the plugin.
    #[must_use]
    pub fn disable(self) -> Plugin<Disabled> {
        let Enabled { audit, values, .. } = self.state.clone();
        self.become_state(Disabled { audit, values, failure: None }).changed()
    }

    /// Disables a plugin that the host could not load or run.
    #[must_use]
    pub fn failed(self, reason: String) -> Plugin<Disabled> {
        let mut plugin = self.disable();
        plugin.state.failure = Some(reason);
        plugin
    }

    /// Returns the configuration.
    #[must_use]
    pub const fn values(&self) -> &ConfigValues {
        &self.state.values
    }

    /// Returns how the directory differs from the enabled contents.
    #[must_use]
    pub const fn drift(&self) -> Option<Drift> {
        self.state.drift
    }
}

impl Plugin<Disabled> {
    /// Replaces the configuration.
    ///
    /// # Errors
    /// As [`Plugin::<Audited>::configure`](Plugin::configure).
    pub fn configure(self, values: ConfigValues) -> Transition<Configured, Disabled> {
        let audit = self.state.audit.clone();
        self.with_values(audit, values)
    }

    /// Enables the plugin again, with the configuration that it had.
    ///
    /// # Errors
    /// As [`Plugin::<Configured>::enable`](Plugin::enable).
    pub fn enable(self, clearance: Clearance) -> Transition<Enabled, Disabled> {
        let Disabled { audit, values, .. } = self.state.clone();
        self.with_clearance(audit, values, clearance)
    }

    /// Returns why the host could not load or run the plugin.
    #[must_use]
    pub fn failure(&self) -> Option<&str> {
        self.state.failure.as_deref()
    }
}

impl<S: Debug> Plugin<S> {
    fn changed(mut self) -> Self {
        self.base.is_changed = true;
        self
    }

    fn with_values(self, audit: AuditFacts, values: ConfigValues) -> Transition<Configured, S> {
        match values.check(&self.base.found.schema) {
            Ok(()) => Ok(self.become_state(Configured { audit, values })),
            Err(error) => self.refuse(TransitionErrorKind::Config(error)),
        }
    }

    #[expect(clippy::needless_pass_by_value, reason = "a clearance is used once")]
    fn with_clearance(
        self,
        audit: AuditFacts,
        values: ConfigValues,
        clearance: Clearance,
    ) -> Transition<Enabled, S> {
        match obstacle(&self.base.found, &audit, &clearance) {
            Some(kind) => self.refuse(kind),
            None => Ok(self.become_state(Enabled { audit, values, drift: None }).changed()),
        }
    }
}

/// Returns why a plugin cannot be enabled.
fn obstacle(found: &FoundPlugin, audit: &AuditFacts, clearance: &Clearance) -> Option<TransitionErrorKind> {
    let max = clearance.max_risk();
    if *clearance.contents() != found.contents {
        Some(TransitionErrorKind::OtherContents)
    } else if audit.dangers > 0 {
        Some(TransitionErrorKind::Danger { findings: audit.dangers })
    } else if audit.verdict == AuditVerdict::Reject {
        Some(TransitionErrorKind::Rejected)
    } else if audit.risk > max {
        Some(TransitionErrorKind::Risk { risk: audit.risk, max })
    } else {
        None
    }
}
