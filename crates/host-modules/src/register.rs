//! Registration of the modules that a plugin offers.

use std::collections::BTreeMap;

use plugward_capability::{
    Capability as _, HostModuleCapability, ModuleOp, Trail, TrailError, UseCheck, UseOutcome, UseRefusal,
};
use plugward_lifecycle::{ModuleDecision, admit_modules};
use plugward_types::named;
use thiserror::Error;

use crate::codes;
use crate::module::{HostModule, ModuleName};
use crate::modules::{ModuleEntry, Modules, shown};

named! {
    /// Why a module was not registered.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    #[expect(clippy::exhaustive_enums, reason = "every host must handle a new reason")]
    pub enum RejectReason {
        /// The manifest of the plugin does not declare it.
        Undeclared = "undeclared",
        /// The plugin offered it before.
        Repeated = "repeated",
        /// Its name is not a [`ModuleName`].
        Name = "name",
        /// It has no functions. It can be a getter or a promise, which are not evaluated.
        Empty = "empty",
    }
}

/// A module that was not registered.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "the facts of a report's row")]
pub struct RejectedModule {
    /// The name, escaped and shortened.
    pub module: String,
    /// The reason.
    pub why: RejectReason,
}

impl RejectedModule {
    pub(crate) fn new(name: &str, why: RejectReason) -> Self {
        Self { module: shown(name), why }
    }
}

/// The result of a registration.
#[derive(Debug, Clone, PartialEq, Eq)]
#[must_use = "show the rejected modules"]
#[expect(clippy::exhaustive_structs, reason = "every offered module is in one of the lists")]
pub struct Registration {
    /// The registered modules.
    pub registered: Vec<ModuleName>,
    /// The others.
    pub rejected: Vec<RejectedModule>,
}

/// A plugin whose modules cannot be registered. None of them was.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum RegisterError {
    /// Another plugin has a module of that name.
    #[error("module `{module}` is already registered by plugin `{}`", shown(.plugin))]
    Collision {
        /// The module.
        module: String,
        /// The plugin that has it.
        plugin: String,
    },
    /// The trail refused a registration, and recorded that.
    #[error("the registration of `{module}` was refused: {}", .refusal.code())]
    Refused {
        /// The module.
        module: String,
        /// The refusal.
        refusal: UseRefusal,
    },
    /// A registration cannot be recorded.
    #[error("the registration cannot be recorded")]
    NotRecorded(#[from] TrailError),
}

impl RegisterError {
    /// Returns the stable code.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::Collision { .. } => "host-module/collision",
            Self::Refused { refusal, .. } => refusal.code(),
            Self::NotRecorded(error) => error.code(),
        }
    }

    /// Returns the next step for the user.
    #[must_use]
    pub fn help(&self) -> &'static str {
        match self {
            Self::Collision { .. } => codes::help(self.code()),
            Self::Refused { refusal, .. } => refusal.help(),
            Self::NotRecorded(error) => error.help(),
        }
    }
}

/// Registers the declared ones of the modules that a plugin offers. The result lists the others.
///
/// A plugin returns its modules and does not get `into`, so it can offer only what its manifest declares.
///
/// # Errors
/// `host-module/collision` if another plugin has one of them; `use/…` if the trail refuses a registration; the code of a
/// [`TrailError`] if one cannot be recorded. Nothing is registered then.
pub fn register<'c>(
    plugin: &str,
    declared: &'c HostModuleCapability,
    offered: Vec<Box<dyn HostModule>>,
    into: &mut Modules<'c>,
    trail: &Trail,
) -> Result<Registration, RegisterError> {
    let names: Vec<&str> = offered.iter().map(|module| module.name().as_str()).collect();
    let decisions = admit_modules(&declared.scope().names().collect::<Vec<_>>(), &names);
    let (mut admitted, mut rejected) = (BTreeMap::new(), Vec::new());
    for (decision, module) in decisions.into_iter().zip(offered) {
        match decision {
            ModuleDecision::Admitted(name) => {
                admitted.insert(name, module);
            }
            ModuleDecision::Undeclared(name) => {
                rejected.push(RejectedModule::new(&name, RejectReason::Undeclared));
            }
            ModuleDecision::Repeated(name) => {
                rejected.push(RejectedModule::new(&name, RejectReason::Repeated));
            }
        }
    }
    let taken = admitted.keys().find_map(|name| Some((name, into.entries.get(name)?)));
    if let Some((module, owner)) = taken {
        return Err(RegisterError::Collision { module: module.clone(), plugin: owner.plugin.clone() });
    }
    // All are recorded before the first one is inserted, so that a refusal leaves nothing behind.
    for module in admitted.keys() {
        match trail.try_use(declared, ModuleOp::Register { name: module })? {
            UseCheck::Granted(guard) => guard.end(UseOutcome::Ok, None)?,
            UseCheck::Refused(refusal) => {
                return Err(RegisterError::Refused { module: module.clone(), refusal });
            }
        }
    }
    let registered = admitted.values().map(|module| module.name().clone()).collect();
    into.entries.extend(admitted.into_iter().map(|(name, module)| {
        let (plugin, trail) = (plugin.to_owned(), trail.clone());
        (name, ModuleEntry { plugin, module, capability: declared, trail })
    }));
    Ok(Registration { registered, rejected })
}
