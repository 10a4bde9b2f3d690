#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

mod budget;
mod bundle;
mod error;
mod fold;
mod git;
mod kind;
mod kinds;
mod mint;
mod name;
mod report;
mod review;
mod scrub;
mod show;
mod trail;

pub use budget::{BudgetLimit, Budgets, LimitTarget};
pub use bundle::{AnyCapability, AnyScope, CapabilityBundle};
pub use error::{CODES, ScopeError, TrailError, TrailErrorKind};
pub use git::{GitCommand, GitOp};
pub use kind::{Capability, CapabilityKind, Operation, Scope};
pub use kinds::env::{EnvOp, EnvReadCapability, EnvScope};
pub use kinds::fs::{Access, FsOp, FsReadWriteCapability, FsScope, FsVerb, ScopeDirectory};
pub use kinds::git::{GitLocalOpsCapability, GitScope};
pub use kinds::llm::{LlmAccessCapability, LlmOp, LlmScope};
pub use kinds::module::{HostModuleCapability, ModuleOp, ModuleScope};
pub use kinds::net::{NetConnectCapability, NetOp, NetScope};
pub use kinds::npm::{NpmInstallCapability, NpmOp, NpmScope};
pub use kinds::raw::{HookRawOutputCapability, RawOp, RawScope};
pub use kinds::spawn::{ProcessSpawnCapability, ProgramRef, SpawnOp, SpawnScope};
#[cfg(feature = "test-util")]
pub use mint::for_tests;
pub use mint::{GrantKey, Lifetime, Mint, MintCheck, MintRefusal, MintRules, RawWithNetwork, Request};
pub use name::{PluginName, WorkflowId};
pub use plugward_ledger::{LedgerEvent, UseOutcome};
pub use report::{BudgetQuery, BudgetReport, BudgetRow, VerifyReport, budget_report, verify_report};
pub use review::{FINDINGS, NOTES, Review, ReviewItem, Reviewer, Tally, TallyKey, review};
pub use scrub::{NoScrub, Scrub};
pub use show::{ListedRecord, ShowQuery, show};
pub use trail::{RaceReport, Trail, TrailRules, UseCheck, UseGuard, UseRefusal, Workflow, folds};
