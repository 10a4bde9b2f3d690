//! Judges command texts and argument lists: how much of what they start a pin covers.

mod context;
mod judge;

pub use context::{CommandAnalysis, CommandContext, CommandPart};
pub use judge::{judge_argv, judge_command};
