//! Reading environment variables.

use std::collections::BTreeSet;

use plugward_ledger::RecordValue;

use crate::error::{ScopeError, VARIABLE};
use crate::kinds::kind::{Operation, common, sealed};
use crate::kinds::{names, texts};
use crate::mint::Grant;

/// Certain environment variables, by exact name; on Windows ASCII case is ignored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EnvScope {
    names: BTreeSet<String>,
}

/// A read of one variable. Its name is recorded, never its value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "the closed set of operations of this kind")]
pub enum EnvOp<'a> {
    /// Reads the variable.
    ReadVar {
        /// The name of the variable.
        name: &'a str,
    },
}

/// Permission to read certain environment variables.
#[must_use]
pub struct EnvReadCapability {
    scope: EnvScope,
    grant: Grant,
}

common!(EnvReadCapability, EnvScope, EnvOp, EnvRead);

impl sealed::Build for EnvScope {
    type Made = EnvReadCapability;

    fn build(self, grant: Grant) -> EnvReadCapability {
        EnvReadCapability { scope: self, grant }
    }

    fn value(&self) -> RecordValue {
        RecordValue::object([("names", texts(&self.names))])
    }
}

fn is_name(name: &str) -> bool {
    let start = name.bytes().next().is_some_and(|byte| byte.is_ascii_alphabetic() || byte == b'_');
    start && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

// Windows ignores the case of variable names, and a scope must not be narrower or wider than the system.
fn fold(name: &str) -> String {
    if cfg!(windows) { name.to_ascii_uppercase() } else { name.to_owned() }
}

impl EnvScope {
    /// Creates a scope for the variables.
    ///
    /// # Errors
    ///
    /// `scope/variable` for a name other than `[A-Za-z_][A-Za-z0-9_]*`; `scope/empty`, `scope/too-long`.
    pub fn new(variables: &[&str]) -> Result<Self, ScopeError> {
        let all = names("environment scope", variables, VARIABLE, "it is not a variable name", is_name)?;
        Ok(Self { names: all.iter().map(|name| fold(name)).collect() })
    }

    /// Returns the names of the variables, sorted.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.names.iter().map(String::as_str)
    }

    pub(crate) fn covers(&self, op: &EnvOp<'_>) -> bool {
        let EnvOp::ReadVar { name } = op;
        self.names.contains(&fold(name))
    }
}

impl Operation for EnvOp<'_> {
    fn name(&self) -> &'static str {
        "read-var"
    }

    fn detail(&self) -> String {
        let EnvOp::ReadVar { name } = self;
        (*name).to_owned()
    }
}
