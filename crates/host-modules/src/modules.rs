//! The modules of a guest.

use core::fmt;
use std::collections::BTreeMap;

use plugward_capability::{
    HostModuleCapability, ModuleOp, Trail, TrailError, UseCheck, UseOutcome, UseRefusal,
};
use plugward_types::escape;
use serde_json::Value;
use thiserror::Error;

use crate::codes;
use crate::module::{CallResult, FunctionName, HostModule};

/// The modules that a guest can load. They last as long as the value.
///
/// # Guarantees
/// Every module was registered with the capability of its plugin, which names it. Each call is recorded before it begins.
#[derive(Default)]
pub struct Modules<'c> {
    pub(crate) entries: BTreeMap<String, ModuleEntry<'c>>,
}

pub(crate) struct ModuleEntry<'c> {
    pub(crate) plugin: String,
    pub(crate) module: Box<dyn HostModule>,
    pub(crate) capability: &'c HostModuleCapability,
    pub(crate) trail: Trail,
}

impl fmt::Debug for Modules<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.entries.keys()).finish()
    }
}

impl Modules<'_> {
    /// Returns each module with its functions, by name.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &[FunctionName])> {
        self.entries.iter().map(|(name, entry)| (name.as_str(), entry.module.functions()))
    }

    /// Removes the modules of a plugin.
    pub fn disable(&mut self, plugin: &str) {
        self.entries.retain(|_, entry| entry.plugin != plugin);
    }

    /// Calls a function.
    ///
    /// # Errors
    /// `host-module/module` and `host-module/function` if the guest has no such function; `use/…` if the trail refuses the
    /// call; the code of a [`TrailError`] if it cannot be recorded.
    pub fn call(&mut self, module: &str, function: &str, args: &[Value]) -> Result<CallResult, CallRefusal> {
        let Some(entry) = self.entries.get_mut(module) else {
            return Err(CallRefusal::UnknownModule { module: shown(module) });
        };
        let ModuleEntry { module: code, capability, trail, .. } = entry;
        let Some(name) = code.functions().iter().find(|name| name.as_str() == function).cloned() else {
            let (module, function) = (module.to_owned(), shown(function));
            return Err(CallRefusal::UnknownFunction { module, function });
        };
        let guard = match trail.try_use(*capability, ModuleOp::Call { name: module, function })? {
            UseCheck::Granted(guard) => guard,
            UseCheck::Refused(refusal) => {
                let call = format!("{module}.{name}");
                return Err(CallRefusal::Refused { call, refusal });
            }
        };
        let result = code.call(&name, args);
        let outcome = match result {
            CallResult::Returned(_) => UseOutcome::Ok,
            CallResult::Thrown(_) => UseOutcome::Failed,
        };
        guard.end(outcome, None)?;
        Ok(result)
    }
}

/// A call that did not happen, or whose end could not be recorded. Names of the guest are escaped and shortened.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum CallRefusal {
    /// The guest does not have the module.
    #[error("no module `{module}` is enabled")]
    UnknownModule {
        /// The module.
        module: String,
    },
    /// The module does not have the function.
    #[error("module `{module}` does not have a function `{function}`")]
    UnknownFunction {
        /// The module.
        module: String,
        /// The function.
        function: String,
    },
    /// The trail refused the call, and recorded that.
    #[error("the call of `{call}` was refused: {}", .refusal.code())]
    Refused {
        /// The module and the function.
        call: String,
        /// The refusal.
        refusal: UseRefusal,
    },
    /// The call or its end could not be recorded.
    #[error("the call cannot be recorded")]
    NotRecorded(#[from] TrailError),
}

impl CallRefusal {
    /// Returns the stable code.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::UnknownModule { .. } => "host-module/module",
            Self::UnknownFunction { .. } => "host-module/function",
            Self::Refused { refusal, .. } => refusal.code(),
            Self::NotRecorded(error) => error.code(),
        }
    }

    /// Returns the next step for the user.
    #[must_use]
    pub fn help(&self) -> &'static str {
        match self {
            Self::Refused { refusal, .. } => refusal.help(),
            Self::NotRecorded(error) => error.help(),
            _ => codes::help(self.code()),
        }
    }
}

/// Returns a text of a guest or plugin for a message: at most 64 characters, escaped.
pub(crate) fn shown(text: &str) -> String {
    escape::line(&text.chars().take(64).collect::<String>()).into_owned()
}
