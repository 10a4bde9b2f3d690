//! Offering modules to a guest.

use std::collections::BTreeSet;

use plugward_ledger::RecordValue;

use crate::error::{MODULE, ScopeError};
use crate::kinds::kind::{Operation, common, sealed};
use crate::kinds::{names, texts};
use crate::mint::Grant;

/// Certain modules, as the manifest declares them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModuleScope {
    names: BTreeSet<String>,
}

/// The registration of a module, or a call into one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "the closed set of operations of this kind")]
pub enum ModuleOp<'a> {
    /// Offers the module to the guest.
    Register {
        /// The module.
        name: &'a str,
    },
    /// Lets the guest call into it.
    Call {
        /// The module.
        name: &'a str,
        /// The function.
        function: &'a str,
    },
}

/// Permission to offer certain modules to a guest.
#[must_use]
pub struct HostModuleCapability {
    scope: ModuleScope,
    grant: Grant,
}

common!(HostModuleCapability, ModuleScope, ModuleOp, HostModule);

impl sealed::Build for ModuleScope {
    type Made = HostModuleCapability;

    fn build(self, grant: Grant) -> HostModuleCapability {
        HostModuleCapability { scope: self, grant }
    }

    fn value(&self) -> RecordValue {
        RecordValue::object([("names", texts(&self.names))])
    }
}

fn is_module(name: &str) -> bool {
    let start = name.bytes().next().is_some_and(|byte| byte.is_ascii_lowercase());
    start
        && name.len() <= 64
        && name.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-')
}

impl ModuleScope {
    /// Creates a scope for the modules.
    ///
    /// # Errors
    ///
    /// `scope/module` for a name other than `[a-z][a-z0-9-]{0,63}`; `scope/empty`, `scope/too-long`.
    pub fn new(modules: &[&str]) -> Result<Self, ScopeError> {
        Ok(Self { names: names("module scope", modules, MODULE, "it is not a module name", is_module)? })
    }

    /// Returns the names of the modules, sorted.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.names.iter().map(String::as_str)
    }

    pub(crate) fn covers(&self, op: &ModuleOp<'_>) -> bool {
        let (ModuleOp::Register { name } | ModuleOp::Call { name, .. }) = op;
        self.names.contains(*name)
    }
}

impl Operation for ModuleOp<'_> {
    fn name(&self) -> &'static str {
        match self {
            Self::Register { .. } => "register",
            Self::Call { .. } => "call",
        }
    }

    fn detail(&self) -> String {
        match self {
            Self::Register { name } => (*name).to_owned(),
            Self::Call { name, function } => format!("{name}.{function}"),
        }
    }
}
