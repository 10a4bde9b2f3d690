//! A plugin in any state, for hosts that learn at run time what the user wants.

use core::fmt;

use plugward_types::PluginKey;

use super::{
    Audited, Base, Configured, Disabled, Discovered, Enabled, Plugin, TransitionError, TransitionErrorKind,
};
use crate::config::ConfigValues;
use crate::facts::{ApprovalFacts, AuditFacts, Clearance, FoundPlugin};

/// The result of a transition at run time.
type AnyTransition = Result<AnyPlugin, TransitionError<AnyPlugin>>;

macro_rules! states {
    ($($variant:ident = $word:literal, $doc:literal;)*) => {
        /// A plugin in any state.
        #[derive(Debug, PartialEq)]
        #[expect(clippy::exhaustive_enums, reason = "every host must handle a new state")]
        pub enum AnyPlugin { $(#[doc = $doc] $variant(Plugin<$variant>),)* }

        /// The name of a state.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        #[expect(clippy::exhaustive_enums, reason = "every host must handle a new state")]
        pub enum PluginState { $(#[doc = $doc] $variant,)* }

        impl PluginState {
            /// Returns the name in reports.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $word),* }
            }
        }

        impl AnyPlugin {
            /// Returns the state.
            #[must_use]
            pub const fn state(&self) -> PluginState {
                match self { $(Self::$variant(_) => PluginState::$variant),* }
            }

            pub(crate) const fn base(&self) -> &Base {
                match self { $(Self::$variant(plugin) => &plugin.base),* }
            }

            pub(crate) const fn base_mut(&mut self) -> &mut Base {
                match self { $(Self::$variant(plugin) => &mut plugin.base),* }
            }

            /// Returns a copy, with which a change of several plugins is undone.
            pub(crate) fn copy(&self) -> Self {
                match self {
                    $(Self::$variant(plugin) => {
                        Self::$variant(Plugin { base: plugin.base.clone(), state: plugin.state.clone() })
                    })*
                }
            }
        }

        $(impl From<Plugin<$variant>> for AnyPlugin {
            fn from(plugin: Plugin<$variant>) -> Self {
                Self::$variant(plugin)
            }
        })*
    };
}

states! {
    Discovered = "discovered", "Found in a directory.";
    Audited = "audited", "Audited or approved.";
    Configured = "configured", "Audited and configured.";
    Enabled = "enabled", "In use.";
    Disabled = "disabled", "Not in use any more.";
}

impl fmt::Display for PluginState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// Returns the typed result as one at run time.
fn any<T, S>(result: Result<Plugin<T>, TransitionError<Plugin<S>>>) -> AnyTransition
where
    S: fmt::Debug,
    AnyPlugin: From<Plugin<T>> + From<Plugin<S>>,
{
    result.map(AnyPlugin::from).map_err(|error| {
        let (kind, plugin) = error.into_parts();
        TransitionError::new(kind, plugin.into())
    })
}

impl AnyPlugin {
    /// Returns the key.
    #[must_use]
    pub const fn key(&self) -> &PluginKey {
        &self.base().found.key
    }

    /// Returns the facts from the directory.
    #[must_use]
    pub const fn found(&self) -> &FoundPlugin {
        &self.base().found
    }

    /// Returns `true` if these contents have an approval.
    #[must_use]
    pub const fn is_approved(&self) -> bool {
        self.base().is_approved
    }

    /// Returns the result of the audit, after one.
    #[must_use]
    pub const fn audit(&self) -> Option<&AuditFacts> {
        match self {
            Self::Discovered(_) => None,
            Self::Audited(plugin) => Some(&plugin.state.audit),
            Self::Configured(plugin) => Some(&plugin.state.audit),
            Self::Enabled(plugin) => Some(&plugin.state.audit),
            Self::Disabled(plugin) => Some(&plugin.state.audit),
        }
    }

    /// Returns the configuration, after there is one.
    #[must_use]
    pub const fn values(&self) -> Option<&ConfigValues> {
        match self {
            Self::Discovered(_) | Self::Audited(_) => None,
            Self::Configured(plugin) => Some(&plugin.state.values),
            Self::Enabled(plugin) => Some(&plugin.state.values),
            Self::Disabled(plugin) => Some(&plugin.state.values),
        }
    }
}

macro_rules! transitions {
    ($(#[doc = $doc:literal] $method:ident($argument:ident: $type:ty) from $($variant:ident)|+ as $verb:literal;)*) => {
        impl AnyPlugin {
            $(
                #[doc = $doc]
                ///
                /// # Errors
                /// `lifecycle/order` in another state, and the codes of the method of [`Plugin`] with this name.
                pub fn $method(self, $argument: $type) -> AnyTransition {
                    match self {
                        $(Self::$variant(plugin) => any(plugin.$method($argument)),)+
                        other => other.out_of_order($verb),
                    }
                }
            )*
        }
    };
}

transitions! {
    /// Adds the result of an audit.
    audited(audit: AuditFacts) from Discovered as "audit";
    /// Adds a stored approval.
    approved(approval: ApprovalFacts) from Discovered as "approve";
    /// Adds or replaces the configuration of a plugin that is not enabled.
    configure(values: ConfigValues) from Audited | Disabled as "configure";
    /// Enables the plugin.
    enable(clearance: Clearance) from Configured | Disabled as "enable";
    /// Replaces the configuration of an enabled plugin.
    reconfigure(values: ConfigValues) from Enabled as "reconfigure";
}

impl AnyPlugin {
    /// Disables an enabled plugin.
    ///
    /// # Errors
    /// `lifecycle/order` in another state.
    pub fn disable(self) -> AnyTransition {
        match self {
            Self::Enabled(plugin) => Ok(plugin.disable().into()),
            other => other.out_of_order("disable"),
        }
    }

    /// Disables an enabled plugin that the host could not load or run.
    ///
    /// # Errors
    /// `lifecycle/order` in another state.
    pub fn failed(self, reason: String) -> AnyTransition {
        match self {
            Self::Enabled(plugin) => Ok(plugin.failed(reason).into()),
            other => other.out_of_order("fail"),
        }
    }

    fn out_of_order(self, to: &'static str) -> AnyTransition {
        Err(TransitionError::new(TransitionErrorKind::Order { from: self.state(), to }, self))
    }
}
