#![doc = include_str!("../README.md")]

mod definitions;
mod error;
mod events;
mod execution;
mod replies;

pub use definitions::hook::{Hook, OnFailure, PluginDirectories, Scope, Step, View};
pub use definitions::plan::{HookNote, LocalStep, Plan, PlanBuilder, RefusedSource};
pub use error::{CODES, HookError, HookErrorKind, help};
pub use events::call::{FireContext, GateCall, Nesting, ToolCall};
pub use events::event::{Event, EventClass};
pub use events::payload::{HostSession, PayloadError, Payloads, read_payload, read_session};
pub use execution::dispatch::Dispatcher;
pub use execution::judge::AskUntilVerdict;
pub use execution::services::{
    AgentLoop, AgentRound, HookCommand, HookServices, JudgeHook, LendCheck, LocalHook, LocalReply,
    PermissionRule, RawGrants, Start, StartDirectly,
};
pub use plugward_manifest as manifest;
pub use plugward_redact as redact;
pub use plugward_types::RawOutput;
pub use replies::report::{
    Answer, Consent, GateReport, HookReport, Laundered, PermittedArgs, PostToolReport, ProposedArgs,
    StepReport, StepResult,
};
pub use serde_json;
