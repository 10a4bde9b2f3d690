#![doc = include_str!("../README.md")]

mod call;
mod command;
mod define;
mod dispatch;
mod environment;
mod error;
mod event;
mod hook;
mod judge;
mod local;
mod matcher;
mod payload;
mod plan;
mod reply;
mod report;
mod rewrite;
mod services;
mod strict;

pub use call::{FireContext, GateCall, Nesting, ToolCall};
pub use dispatch::Dispatcher;
pub use error::{CODES, HookError, HookErrorKind, help};
pub use event::{Event, EventClass};
pub use hook::{Hook, OnFailure, PluginDirectories, Scope, Step, View};
pub use judge::AskUntilVerdict;
pub use payload::{PayloadError, Payloads, read_payload};
pub use plan::{HookNote, LocalStep, Plan, PlanBuilder, RawOutput, RefusedSource};
pub use report::{
    Answer, Consent, GateReport, HookReport, Laundered, PermittedArgs, PostToolReport, ProposedArgs,
    StepReport, StepResult,
};
pub use services::{
    AgentLoop, AgentRound, HookCommand, HookServices, JudgeHook, LendCheck, LocalHook, LocalReply,
    PermissionRule, RawGrants, Start, StartDirectly,
};
