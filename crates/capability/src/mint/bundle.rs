//! Several capabilities that are granted together.

use plugward_ledger::RecordValue;

use crate::kinds::env::{EnvReadCapability, EnvScope};
use crate::kinds::fs::{FsReadWriteCapability, FsScope};
use crate::kinds::git::{GitLocalOpsCapability, GitScope};
use crate::kinds::kind::sealed::Build as _;
use crate::kinds::kind::{CapabilityKind, Scope as _};
use crate::kinds::llm::{LlmAccessCapability, LlmScope};
use crate::kinds::module::{HostModuleCapability, ModuleScope};
use crate::kinds::net::{NetConnectCapability, NetScope};
use crate::kinds::npm::{NpmInstallCapability, NpmScope};
use crate::kinds::raw::{HookRawOutputCapability, RawScope};
use crate::kinds::spawn::{ProcessSpawnCapability, SpawnScope};
use crate::mint::Grant;

macro_rules! any {
    ($($variant:ident $scope:ident $capability:ident $take:ident),* $(,)?) => {
        /// A scope of any kind.
        #[derive(Debug, Clone, PartialEq, Eq)]
        #[expect(clippy::exhaustive_enums, reason = "the closed set of kinds")]
        pub enum AnyScope {
            $(
                #[doc = concat!("A scope of the kind of [`", stringify!($capability), "`].")]
                $variant($scope)
            ),*
        }

        /// A capability of any kind.
        #[derive(Debug)]
        #[must_use]
        #[expect(clippy::exhaustive_enums, reason = "the closed set of kinds")]
        pub enum AnyCapability {
            $(
                #[doc = concat!("A [`", stringify!($capability), "`].")]
                $variant($capability)
            ),*
        }

        impl AnyScope {
            /// Returns the kind of the scope.
            #[must_use]
            pub const fn kind(&self) -> CapabilityKind {
                match self { $( Self::$variant(_) => CapabilityKind::$variant ),* }
            }

            pub(crate) fn to_value(&self) -> RecordValue {
                match self { $( Self::$variant(scope) => scope.to_value() ),* }
            }

            pub(crate) fn build(self, grant: Grant) -> AnyCapability {
                match self { $( Self::$variant(scope) => AnyCapability::$variant(scope.build(grant)) ),* }
            }
        }

        impl AnyCapability {
            /// Returns the kind of the capability.
            #[must_use]
            pub const fn kind(&self) -> CapabilityKind {
                match self { $( Self::$variant(_) => CapabilityKind::$variant ),* }
            }
        }

        impl CapabilityBundle {
            $(
                #[doc = concat!("Takes the first [`", stringify!($capability), "`] out of the bundle.")]
                pub fn $take(&mut self) -> Option<$capability> {
                    let at = self.members.iter().position(|member| matches!(member, AnyCapability::$variant(_)))?;
                    match self.members.remove(at) {
                        AnyCapability::$variant(capability) => Some(capability),
                        other => {
                            self.members.insert(at, other);
                            None
                        }
                    }
                }
            )*
        }
    };
}

any! {
    NpmInstall NpmScope NpmInstallCapability take_npm_install,
    FsReadWrite FsScope FsReadWriteCapability take_fs_read_write,
    GitLocalOps GitScope GitLocalOpsCapability take_git_local_ops,
    NetConnect NetScope NetConnectCapability take_net_connect,
    ProcessSpawn SpawnScope ProcessSpawnCapability take_process_spawn,
    EnvRead EnvScope EnvReadCapability take_env_read,
    HostModule ModuleScope HostModuleCapability take_host_module,
    HookRawOutput RawScope HookRawOutputCapability take_hook_raw_output,
    LlmAccess LlmScope LlmAccessCapability take_llm_access,
}

/// Capabilities of one plugin that were recorded in one write. The owner takes the members out.
#[derive(Debug)]
#[must_use]
pub struct CapabilityBundle {
    members: Vec<AnyCapability>,
}

impl CapabilityBundle {
    pub(crate) const fn of(members: Vec<AnyCapability>) -> Self {
        Self { members }
    }

    /// Returns the number of remaining members.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.members.len()
    }

    /// Returns `true` if no member is left.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.members.is_empty()
    }

    /// Returns the kinds of the members, in the order of the request.
    pub fn kinds(&self) -> impl Iterator<Item = CapabilityKind> {
        self.members.iter().map(AnyCapability::kind)
    }
}

impl IntoIterator for CapabilityBundle {
    type Item = AnyCapability;
    type IntoIter = std::vec::IntoIter<AnyCapability>;

    fn into_iter(self) -> Self::IntoIter {
        self.members.into_iter()
    }
}
