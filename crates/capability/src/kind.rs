//! The closed set of kinds, and what all capabilities, scopes and operations have in common.

use core::fmt;

use plugward_ledger::Value;

use crate::mint::{Grant, GrantKey};
use crate::name::{Name, WorkflowId};

/// The kinds of capabilities. A new one is a breaking change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[expect(clippy::exhaustive_enums, reason = "a new kind must stop every host from building")]
pub enum Kind {
    /// Installing packages from one npm registry.
    NpmInstall,
    /// Files below one place.
    FsReadWrite,
    /// Work in one git repository, without a remote.
    GitLocalOps,
    /// Connecting to one host and port.
    NetConnect,
    /// Starting one program with certain arguments.
    ProcessSpawn,
    /// Reading certain variables of the environment.
    EnvRead,
    /// Offering certain modules to a guest.
    HostModule,
    /// Seeing what tools printed, before secrets are taken out.
    HookRawOutput,
    /// Asking certain models.
    LlmAccess,
}

impl Kind {
    /// All kinds, in the order of the table in the documents.
    pub const ALL: [Self; 9] = [
        Self::NpmInstall,
        Self::FsReadWrite,
        Self::GitLocalOps,
        Self::NetConnect,
        Self::ProcessSpawn,
        Self::EnvRead,
        Self::HostModule,
        Self::HookRawOutput,
        Self::LlmAccess,
    ];

    /// Gives the word of the records.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::NpmInstall => "npm-install",
            Self::FsReadWrite => "fs-read-write",
            Self::GitLocalOps => "git-local-ops",
            Self::NetConnect => "net-connect",
            Self::ProcessSpawn => "process-spawn",
            Self::EnvRead => "env-read",
            Self::HostModule => "host-module",
            Self::HookRawOutput => "hook-raw-output",
            Self::LlmAccess => "llm-access",
        }
    }

    /// Finds the kind of a word of the records.
    #[must_use]
    pub fn of(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == word)
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

pub(crate) mod sealed {
    use super::{Grant, Value};

    /// Only this crate has capabilities, and each has a grant.
    #[expect(unnameable_types, reason = "sealed: only this crate may name it")]
    pub trait Granted {
        fn grant(&self) -> &Grant;
    }

    /// Only this crate has scopes, and only with a grant does one become a capability.
    #[expect(unnameable_types, reason = "sealed: only this crate may name it")]
    pub trait Build: Sized {
        type Made;
        fn build(self, grant: Grant) -> Self::Made;
        fn value(&self) -> Value;
    }

    /// Only this crate has operations.
    #[expect(unnameable_types, reason = "sealed: only this crate may name it")]
    pub trait Op {}
}

/// A permission as a value.
///
/// # Guarantees
/// It exists only after its `capability_minted` stood in the ledger: `Mint` is the only way to one. Nothing here stops code that goes around
/// the compiler; the fence reports the routes that it knows. Having one is not yet using it: see [`Trail::try_use`](crate::Trail::try_use).
pub trait Capability: sealed::Granted + Send + Sync {
    /// Its kind.
    const KIND: Kind;
    /// What can be done with it.
    type Op<'a>: Operation;
    /// What it is for.
    type Scope: Scope<Capability = Self>;

    /// Gives what it covers.
    fn scope(&self) -> &Self::Scope;

    /// Whether its scope names the operation.
    fn covers(&self, op: &Self::Op<'_>) -> bool;

    /// Names who has it.
    fn plugin(&self) -> &Name {
        self.grant().plugin()
    }

    /// Names the unit of work that it belongs to.
    fn workflow(&self) -> &WorkflowId {
        self.grant().workflow()
    }

    /// Gives what identifies it in the ledger.
    fn key(&self) -> GrantKey {
        self.grant().key()
    }
}

/// What a capability may be for; validated when it is built.
pub trait Scope: sealed::Build<Made = Self::Capability> + fmt::Debug + Send + Sync {
    /// The capability of this scope.
    type Capability: Capability;

    /// Gives the canonical form that the ledger records.
    fn to_value(&self) -> Value {
        self.value()
    }
}

/// Something that can be done with a capability, described without secrets.
pub trait Operation: sealed::Op {
    /// Gives the word of the record.
    fn name(&self) -> &'static str;

    /// Describes what it is about. It is scrubbed before it is recorded.
    fn detail(&self) -> String;

    /// Says how much of a budget it takes: 1, or what the operation itself counts.
    fn units(&self) -> u64 {
        1
    }
}

/// Writes what all nine have alike. The structs themselves stand in the open, for the fence and for readers.
macro_rules! common {
    ($capability:ident, $scope:ident, $op:ident, $kind:ident) => {
        impl $crate::kind::sealed::Granted for $capability {
            fn grant(&self) -> &$crate::mint::Grant {
                &self.grant
            }
        }

        impl $crate::kind::sealed::Op for $op<'_> {}

        impl $crate::Scope for $scope {
            type Capability = $capability;
        }

        impl $crate::Capability for $capability {
            const KIND: $crate::Kind = $crate::Kind::$kind;
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
                self.grant.describe(f, stringify!($capability), $crate::Kind::$kind, &self.scope)
            }
        }
    };
}

pub(crate) use common;
