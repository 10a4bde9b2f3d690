#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

mod error;
mod kinds;
mod mint;
mod name;
mod report;
mod trail;

pub use error::{CODES, ScopeError, TrailError, TrailErrorKind};
pub use kinds::env::{EnvOp, EnvReadCapability, EnvScope};
pub use kinds::fs::{Access, FsOp, FsReadWriteCapability, FsScope, FsVerb, ScopeDirectory};
pub use kinds::git::{GitLocalOpsCapability, GitScope};
pub use kinds::git_command::{GitCommand, GitOp};
pub use kinds::kind::{Capability, CapabilityKind, Operation, Scope};
pub use kinds::llm::{LlmAccessCapability, LlmOp, LlmScope};
pub use kinds::module::{HostModuleCapability, ModuleOp, ModuleScope};
pub use kinds::net::{NetConnectCapability, NetOp, NetScope};
pub use kinds::npm::{NpmInstallCapability, NpmOp, NpmScope};
pub use kinds::raw::{HookRawOutputCapability, RawOp, RawScope};
pub use kinds::spawn::{ProcessSpawnCapability, ProgramRef, SpawnOp, SpawnScope};
pub use mint::bundle::{AnyCapability, AnyScope, CapabilityBundle};
#[cfg(feature = "test-util")]
pub use mint::for_tests;
pub use mint::{GrantKey, Lifetime, Mint, MintCheck, MintRefusal, MintRules, RawWithNetwork, Request};
pub use name::{PluginName, WorkflowId};
pub use plugward_ledger as ledger;
pub use plugward_ledger::{LedgerEvent, UseOutcome};
pub use report::listing::{ListedRecord, ShowQuery, show};
pub use report::review::{FINDINGS, NOTES, Review, ReviewItem, Tally, TallyKey, review};
pub use report::{BudgetQuery, BudgetReport, BudgetRow, VerifyReport, budget_report, verify_report};
pub use trail::budget::{BudgetLimit, Budgets, LimitTarget};
pub use trail::scrub::{NoScrub, Scrub};
pub use trail::{RaceReport, Trail, TrailRules, UseCheck, UseGuard, UseRefusal, Workflow, folds};
