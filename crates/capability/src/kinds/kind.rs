//! The closed set of kinds, and the traits of capabilities, scopes and operations.

use core::fmt;

use plugward_ledger::RecordValue;

use crate::mint::{Grant, GrantKey};
use crate::name::{PluginName, WorkflowId};

plugward_types::named! {
    /// A kind of capability. A new kind is a breaking change.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
    #[expect(clippy::exhaustive_enums, reason = "a new kind must stop every host from building")]
    pub enum CapabilityKind {
        /// Installing packages from one npm registry.
        NpmInstall = "npm-install",
        /// Use of the files in one directory.
        FsReadWrite = "fs-read-write",
        /// Work in one git repository, without remotes.
        GitLocalOps = "git-local-ops",
        /// Connections to one host and port.
        NetConnect = "net-connect",
        /// Starts of one program with certain arguments.
        ProcessSpawn = "process-spawn",
        /// Reads of certain environment variables.
        EnvRead = "env-read",
        /// Certain modules that are offered to a guest.
        HostModule = "host-module",
        /// Tool output before secrets are removed.
        HookRawOutput = "hook-raw-output",
        /// Requests to certain models.
        LlmAccess = "llm-access",
    }
}

pub(crate) mod sealed {
    use super::{Grant, RecordValue};

    /// Sealed: only this crate has capabilities, and each has a grant.
    #[expect(unnameable_types, reason = "sealed: only this crate may name it")]
    pub trait Granted {
        fn grant(&self) -> &Grant;
    }

    /// Sealed: only this crate has scopes, and a scope becomes a capability only with a grant.
    #[expect(unnameable_types, reason = "sealed: only this crate may name it")]
    pub trait Build: Sized {
        type Made;
        fn build(self, grant: Grant) -> Self::Made;
        fn value(&self) -> RecordValue;
    }

    /// Sealed: only this crate has operations.
    #[expect(unnameable_types, reason = "sealed: only this crate may name it")]
    pub trait Op {}
}

/// A permission as a value.
///
/// # Guarantees
///
/// A capability exists only after its `capability_minted` was appended to the ledger, since only
/// [`Mint`](crate::Mint) creates one. Code that bypasses the compiler is not stopped; the fence reports the
/// ways that it knows. Having a capability is not using it: see [`Trail::try_use`](crate::Trail::try_use).
pub trait Capability: sealed::Granted + Send + Sync {
    /// The kind.
    const KIND: CapabilityKind;
    /// The operations that are possible with it.
    type Op<'a>: Operation;
    /// The type of its scope.
    type Scope: Scope<Capability = Self>;

    /// Returns the scope.
    fn scope(&self) -> &Self::Scope;

    /// Returns `true` if the scope includes the operation.
    fn covers(&self, op: &Self::Op<'_>) -> bool;

    /// Returns the plugin that has the capability.
    fn plugin(&self) -> &PluginName {
        self.grant().plugin()
    }

    /// Returns the workflow that it belongs to.
    fn workflow(&self) -> &WorkflowId {
        self.grant().workflow()
    }

    /// Returns the key that identifies it in the ledger.
    fn key(&self) -> GrantKey {
        self.grant().key()
    }
}

/// The operations that a capability permits. Validated when it is created.
pub trait Scope: sealed::Build<Made = Self::Capability> + fmt::Debug + Send + Sync {
    /// The type of capability for this scope.
    type Capability: Capability;

    /// Returns the canonical form for the ledger.
    fn to_value(&self) -> RecordValue {
        self.value()
    }
}

/// An operation with a capability, described without secrets.
pub trait Operation: sealed::Op {
    /// Returns the identifier used in records.
    fn name(&self) -> &'static str;

    /// Returns the target of the operation. It is scrubbed before it is recorded.
    fn detail(&self) -> String;

    /// Returns the number of budget units: 1, unless the operation has its own count.
    fn units(&self) -> u64 {
        1
    }
}

/// Implements the traits that all nine capabilities share. The structs are not generated, so that the fence
/// and readers find them.
macro_rules! common {
    ($capability:ident, $scope:ident, $op:ident, $kind:ident) => {
        impl $crate::kinds::kind::sealed::Granted for $capability {
            fn grant(&self) -> &$crate::mint::Grant {
                &self.grant
            }
        }

        impl $crate::kinds::kind::sealed::Op for $op<'_> {}

        impl $crate::Scope for $scope {
            type Capability = $capability;
        }

        impl $crate::Capability for $capability {
            const KIND: $crate::CapabilityKind = $crate::CapabilityKind::$kind;
            type Op<'a> = $op<'a>;
            type Scope = $scope;

            fn scope(&self) -> &$scope {
                &self.scope
            }

            fn covers(&self, op: &$op<'_>) -> bool {
                self.scope.covers(op)
            }
        }

        impl core::fmt::Debug for $capability {
            fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                self.grant.describe(f, stringify!($capability), $crate::CapabilityKind::$kind, &self.scope)
            }
        }
    };
}

pub(crate) use common;
