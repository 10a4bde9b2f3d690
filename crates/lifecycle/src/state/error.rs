//! The error of a transition.

use core::fmt;

use plugward_types::Risk;
use thiserror::Error;

use super::{Plugin, PluginState};
use crate::codes::help;
use crate::config::ConfigError;

/// The result of a transition from `S` to `T`.
pub(crate) type Transition<T, S> = Result<Plugin<T>, TransitionError<Plugin<S>>>;

/// A transition that did not happen. It contains the unchanged plugin.
#[derive(Debug, PartialEq, Error)]
#[error("{kind}")]
pub struct TransitionError<P: fmt::Debug> {
    kind: TransitionErrorKind,
    plugin: Box<P>,
}

impl<P: fmt::Debug> TransitionError<P> {
    pub(crate) fn new(kind: TransitionErrorKind, plugin: P) -> Self {
        Self { kind, plugin: Box::new(plugin) }
    }

    /// Returns the reason.
    #[must_use]
    pub const fn kind(&self) -> &TransitionErrorKind {
        &self.kind
    }

    /// Returns the stable code.
    #[must_use]
    pub fn code(&self) -> &'static str {
        self.kind.code()
    }

    /// Returns the next step for the user.
    #[must_use]
    pub fn help(&self) -> &'static str {
        help(self.code())
    }

    /// Returns the unchanged plugin.
    #[must_use]
    pub fn into_plugin(self) -> P {
        *self.plugin
    }

    /// Returns the reason and the unchanged plugin.
    pub(crate) fn into_parts(self) -> (TransitionErrorKind, P) {
        (self.kind, *self.plugin)
    }
}

/// The reason why a transition did not happen.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum TransitionErrorKind {
    /// The state does not have this transition.
    #[error("cannot {to} a plugin that is {from}")]
    Order {
        /// The state of the plugin.
        from: PluginState,
        /// The transition.
        to: &'static str,
    },
    /// The audit, the approval or the clearance is of other contents.
    #[error("the contents of the plugin are not those that were checked")]
    OtherContents,
    /// The risk is above the threshold.
    #[error("the risk is {risk}, and the highest accepted risk is {max}")]
    Risk {
        /// The risk that the audit found.
        risk: Risk,
        /// The threshold.
        max: Risk,
    },
    /// The audit advises against the plugin.
    #[error("the audit advises against the plugin")]
    Rejected,
    /// The scan has danger findings.
    #[error("danger findings: {findings}")]
    Danger {
        /// Their number.
        findings: usize,
    },
    /// The values do not fit the schema.
    #[error("{0}")]
    Config(ConfigError),
    /// The list does not have the plugin.
    #[error("no such plugin")]
    UnknownPlugin,
}

impl TransitionErrorKind {
    /// Returns the stable code.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::Order { .. } => "lifecycle/order",
            Self::OtherContents => "lifecycle/other-bytes",
            Self::Risk { .. } => "lifecycle/risk",
            Self::Rejected => "lifecycle/rejected",
            Self::Danger { .. } => "lifecycle/danger",
            Self::Config(error) => error.code(),
            Self::UnknownPlugin => "lifecycle/unknown-plugin",
        }
    }

    /// Returns the next step for the user.
    #[must_use]
    pub fn help(&self) -> &'static str {
        help(self.code())
    }
}
